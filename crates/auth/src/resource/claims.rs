//! Claims of a token.
//!
//! Spec: RFC 7519, RFC 9068, RFC 7800.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::dpop::Confirmation;
use super::verified_token::{TokenError, VerifiedToken};
use crate::Scopes;

/// Scopes, audiences and other lists of one: how many are read.
const MOST: usize = 64;
/// Claims with a field of their own. All others are available to handlers.
const OWN: [&str; 10] = [
    "iss",
    "sub",
    "aud",
    "exp",
    "nbf",
    "client_id",
    "azp",
    "scope",
    "scp",
    "cnf",
];

/// The claims that decide. A member that is there twice makes a token none.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Claims {
    #[serde(default)]
    pub(crate) iss: Option<String>,
    #[serde(default)]
    sub: Option<String>,
    #[serde(default)]
    aud: Option<OneOrMore>,
    #[serde(default)]
    exp: Option<f64>,
    #[serde(default)]
    nbf: Option<f64>,
    #[serde(default)]
    client_id: Option<String>,
    #[serde(default)]
    azp: Option<String>,
    #[serde(default)]
    scope: Option<OneOrMore>,
    #[serde(default)]
    scp: Option<OneOrMore>,
    #[serde(default)]
    cnf: Option<Map<String, Value>>,
    /// Only an introspection response has this member.
    #[serde(default)]
    pub(crate) active: Option<bool>,
}

/// A text, or a list of them.
#[derive(Debug)]
struct OneOrMore(Vec<String>);

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let no_text = || serde::de::Error::custom("neither a text nor a list of texts");
        let text = |value: Value| match value {
            Value::String(text) => Ok(text),
            _ => Err(no_text()),
        };
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(vec![text])),
            Value::Array(all) if all.len() <= MOST => all
                .into_iter()
                .map(text)
                .collect::<Result<_, _>>()
                .map(Self),
            _ => Err(no_text()),
        }
    }
}

/// Whether a token must have an expiry time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expiry {
    Required,
    Optional,
}

impl Claims {
    pub(crate) fn read(payload: &[u8]) -> Result<(Self, Map<String, Value>), TokenError> {
        let bad = |_| TokenError::invalid("the claims of the token cannot be read");
        let claims = serde_json::from_slice(payload).map_err(bad)?;
        let mut rest: Map<String, Value> = serde_json::from_slice(payload).map_err(bad)?;
        rest.retain(|name, _| !OWN.contains(&name.as_str()));
        Ok((claims, rest))
    }

    /// Checks that the token is valid now.
    pub(crate) fn check_time(
        &self,
        now: SystemTime,
        skew: Duration,
        expiry: Expiry,
    ) -> Result<(), TokenError> {
        let now = seconds(now);
        let skew = skew.as_secs_f64();
        match self.exp {
            Some(end) if end.is_finite() && now < end + skew => {}
            Some(_) => return Err(TokenError::invalid("the token has expired (`exp`)")),
            None if expiry == Expiry::Optional => {}
            None => {
                return Err(TokenError::invalid("the token has no expiry (`exp`)"));
            }
        }
        match self.nbf {
            Some(begin) if !(begin.is_finite() && begin <= now + skew) => {
                Err(TokenError::invalid("the token is not valid yet (`nbf`)"))
            }
            _ => Ok(()),
        }
    }

    /// Converts the claims without any check.
    pub(crate) fn into_verified_token(
        self,
        issuer: &str,
        rest: Map<String, Value>,
    ) -> Result<VerifiedToken, TokenError> {
        let client = self.client_id.or(self.azp);
        let subject = self.sub.or_else(|| client.clone());
        let subject = subject.filter(|subject| !subject.is_empty());
        let subject = subject.ok_or(TokenError::invalid("the token has no subject (`sub`)"))?;
        let mut verified = VerifiedToken::new(issuer, &subject);
        verified.client = client.map(Into::into);
        verified.audiences = texts(self.aud).map(Into::into).collect();
        verified.scopes = scopes(self.scope.or(self.scp))?;
        verified.expires = self.exp.and_then(time_of);
        verified.confirmation = self.cnf.as_ref().map(Confirmation::read);
        verified.claims = rest;
        Ok(verified)
    }
}

fn texts(list: Option<OneOrMore>) -> impl Iterator<Item = String> {
    list.into_iter().flat_map(|OneOrMore(all)| all)
}

fn scopes(list: Option<OneOrMore>) -> Result<Scopes, TokenError> {
    let all: Vec<String> = texts(list).collect();
    Scopes::parse(&all.join(" "))
        .map_err(|_| TokenError::invalid("invalid scopes of the token (`scope`)"))
}

fn seconds(time: SystemTime) -> f64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64()
}

fn time_of(seconds: f64) -> Option<SystemTime> {
    let since = Duration::try_from_secs_f64(seconds).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(text: &str) -> Claims {
        Claims::read(text.as_bytes()).expect("claims").0
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    // hardening: H-68
    #[test]
    fn a_token_is_of_its_time_give_or_take_the_skew() {
        let skew = Duration::from_secs(60);
        let is_good = |text: &str, now| {
            let verdict = claims(text).check_time(at(now), skew, Expiry::Required);
            verdict.is_ok()
        };
        let token = r#"{"exp":1000,"nbf":500}"#;
        assert!(is_good(token, 1059) && !is_good(token, 1060));
        assert!(is_good(token, 440) && !is_good(token, 439));
        assert!(is_good(r#"{"exp":1000.5}"#, 1060));
        for endless in ["{}", r#"{"exp":null}"#, r#"{"exp":-1}"#] {
            assert!(!is_good(endless, 100), "{endless}");
        }
        assert!(!is_good(r#"{"exp":1000,"nbf":1e300}"#, 100));
        let optional = claims("{}").check_time(at(1), skew, Expiry::Optional);
        assert!(optional.is_ok());
    }

    #[test]
    fn claims_of_the_wrong_kind_make_a_token_none() {
        for bad in [
            "",
            "[]",
            r#"{"exp":"1000"}"#,
            r#"{"exp":1,"exp":2}"#,
            r#"{"aud":7}"#,
            r#"{"aud":["a",7]}"#,
            r#"{"iss":["a"]}"#,
            r#"{"sub":7}"#,
            r#"{"cnf":"x"}"#,
        ] {
            assert!(Claims::read(bad.as_bytes()).is_err(), "{bad}");
        }
        let many = vec!["\"a\""; MOST + 1].join(",");
        assert!(Claims::read(format!(r#"{{"aud":[{many}]}}"#).as_bytes()).is_err());
        let fine = vec!["\"a\""; MOST].join(",");
        assert!(Claims::read(format!(r#"{{"aud":[{fine}]}}"#).as_bytes()).is_ok());
    }

    #[test]
    fn scopes_and_clients_are_read_as_issuers_write_them() {
        let verified = |text: &str| {
            let (claims, rest) = Claims::read(text.as_bytes()).expect("claims");
            claims.into_verified_token("https://i.example", rest)
        };
        for text in [
            r#"{"sub":"ada","scope":"a b","client_id":"app"}"#,
            r#"{"sub":"ada","scp":["a","b"],"azp":"app"}"#,
            r#"{"sub":"ada","scp":"a b","client_id":"app","azp":"other"}"#,
        ] {
            let verified = verified(text).expect("a token");
            assert_eq!(verified.scopes.to_string(), "a b", "{text}");
            assert_eq!(verified.client.as_deref(), Some("app"), "{text}");
        }
        let machine = verified(r#"{"client_id":"job","team":"blue","iss":"x"}"#).expect("a token");
        assert_eq!(&*machine.subject, "job");
        assert_eq!(machine.claims.keys().collect::<Vec<_>>(), ["team"]);
        assert!(verified("{}").is_err() && verified(r#"{"sub":""}"#).is_err());
        assert!(verified(r#"{"sub":"a","scope":"a\nb"}"#).is_err());
    }
}
