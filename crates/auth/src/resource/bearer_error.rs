//! Rejection of requests without a valid access token, and the challenges for their clients.
//!
//! Spec: RFC 6750, section 3; RFC 9449, section 7.1; RFC 9728, section 5.1.

use std::borrow::Cow;

use http::header::{CACHE_CONTROL, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Response, StatusCode};

use super::algorithm::Algorithm;
use super::dpop::{Dpop, NONCE};
use crate::Challenge;

/// Reason why a request is rejected. The list is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BearerError {
    /// The request has no credentials of an accepted scheme.
    Missing,
    /// The credentials of the request are malformed.
    Malformed(&'static str),
    /// The access token is invalid.
    Invalid(Cow<'static, str>),
    /// The DPoP proof is invalid.
    Proof(&'static str),
    /// The DPoP proof must contain this nonce.
    Nonce(String),
    /// The token lacks scopes; holds all required scopes, separated by spaces.
    Scopes(String),
    /// The access token cannot be verified now.
    Unavailable,
}

/// Configuration from which each challenge is written.
#[derive(Debug)]
pub(crate) struct Challenges {
    /// URL of the protected-resource metadata, which names the authorization servers.
    pub(crate) metadata: String,
    /// Scopes that every request requires, separated by spaces.
    pub(crate) scope: String,
    pub(crate) dpop: Dpop,
    pub(crate) algorithms: Vec<Algorithm>,
}

impl BearerError {
    /// Returns the error code, description and scopes of the challenge.
    fn parameters<'a>(&'a self, all: &'a Challenges) -> (Option<&'static str>, &'a str, &'a str) {
        match self {
            Self::Malformed(reason) => (Some("invalid_request"), reason, ""),
            Self::Invalid(reason) => (Some("invalid_token"), reason, &all.scope),
            Self::Proof(reason) => (Some("invalid_dpop_proof"), reason, ""),
            Self::Nonce(_) => (Some("use_dpop_nonce"), "the proof needs a nonce", ""),
            Self::Scopes(scopes) => (
                Some("insufficient_scope"),
                "the token does not have the required scopes",
                scopes,
            ),
            // RFC 6750, 3.1: a request without credentials receives no error code.
            Self::Missing | Self::Unavailable => (None, "", &all.scope),
        }
    }

    /// Returns the body of the response.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Missing => "a bearer token is required",
            Self::Malformed(reason) | Self::Proof(reason) => reason,
            Self::Invalid(reason) => reason,
            Self::Nonce(_) => "the proof needs a nonce",
            Self::Scopes(_) => "the token does not have the required scopes",
            Self::Unavailable => "the token cannot be verified at the moment",
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::Scopes(_) => StatusCode::FORBIDDEN,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Missing | Self::Invalid(_) | Self::Proof(_) | Self::Nonce(_) => {
                StatusCode::UNAUTHORIZED
            }
        }
    }

    /// Writes the rejection into an HTTP response.
    pub(crate) fn write<B>(&self, all: &Challenges, answer: &mut Response<B>) {
        *answer.status_mut() = self.status();
        let headers = answer.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.remove(WWW_AUTHENTICATE);
        if *self == Self::Unavailable {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("10"));
            return;
        }
        if let Self::Nonce(nonce) = self
            && let Ok(nonce) = HeaderValue::from_str(nonce)
        {
            headers.insert(HeaderName::from_static(NONCE), nonce);
        }
        for challenge in self.challenges(all) {
            if let Ok(line) = HeaderValue::from_str(&challenge.to_string()) {
                headers.append(WWW_AUTHENTICATE, line);
            }
        }
    }

    /// Returns one challenge for each accepted scheme; an error of a proof has only `DPoP`.
    fn challenges(&self, all: &Challenges) -> Vec<Challenge> {
        let is_about_proof = matches!(self, Self::Proof(_) | Self::Nonce(_));
        let bearer = all.dpop != Dpop::Required && !is_about_proof;
        let dpop = all.dpop != Dpop::Off;
        let schemes = [("Bearer", bearer), ("DPoP", dpop)];
        let offered = schemes.into_iter().filter(|(_, is_offered)| *is_offered);
        offered
            .filter_map(|(scheme, _)| self.challenge(scheme, all))
            .collect()
    }

    fn challenge(&self, scheme: &str, all: &Challenges) -> Option<Challenge> {
        let (code, description, scope) = self.parameters(all);
        let algorithms: Vec<_> = all.algorithms.iter().map(|one| one.name()).collect();
        let algorithms = match scheme {
            "DPoP" => algorithms.join(" "),
            _ => String::new(),
        };
        let parameters = [
            ("error", code.unwrap_or_default()),
            ("error_description", description),
            ("scope", scope),
            ("algs", &algorithms),
            ("resource_metadata", &all.metadata),
        ];
        let present = parameters
            .into_iter()
            .filter(|(_, value)| !value.is_empty());
        // A value that a header cannot contain is left out; the metadata URL is still useful.
        present.fold(Challenge::new(scheme).ok(), |challenge, (name, value)| {
            let challenge = challenge?;
            Some(challenge.clone().with(name, value).unwrap_or(challenge))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(refusal: &BearerError, dpop: Dpop) -> (u16, Vec<String>) {
        let all = Challenges {
            metadata: "https://a.example/m".into(),
            scope: "mcp".into(),
            dpop,
            algorithms: vec![Algorithm::Es256, Algorithm::EdDsa],
        };
        let mut answer = Response::new(());
        refusal.write(&all, &mut answer);
        let lines = answer.headers().get_all(WWW_AUTHENTICATE).iter();
        let lines = lines.map(|line| line.to_str().expect("text").to_owned());
        (answer.status().as_u16(), lines.collect())
    }

    // spec: 2025-11-25 AUTH-18, AUTH-62, AUTH-63, AUTH-67, AUTH-68, AUTH-69, AUTH-71, AUTH-RFC-05
    // spec: 2026-07-28 N-AUTH-36, N-AUTH-39, N-AUTH-47
    #[test]
    fn each_rejection_has_its_status_and_challenge() {
        let at = r#"resource_metadata="https://a.example/m""#;
        let rows = [
            (
                BearerError::Missing,
                401,
                format!(r#"Bearer scope="mcp", {at}"#),
            ),
            (
                BearerError::Malformed("odd"),
                400,
                format!(r#"Bearer error="invalid_request", error_description="odd", {at}"#),
            ),
            (
                BearerError::Invalid("old".into()),
                401,
                format!(
                    r#"Bearer error="invalid_token", error_description="old", scope="mcp", {at}"#
                ),
            ),
            (
                BearerError::Scopes("a b".into()),
                403,
                format!(
                    r#"Bearer error="insufficient_scope", error_description="the token does not have the required scopes", scope="a b", {at}"#
                ),
            ),
        ];
        for (refusal, status, line) in rows {
            assert_eq!(lines(&refusal, Dpop::Off), (status, vec![line]));
        }
        assert_eq!(
            lines(&BearerError::Unavailable, Dpop::Off),
            (503, Vec::new())
        );
    }

    // spec: 2026-07-28 X-DPOP-02
    #[test]
    fn each_accepted_scheme_has_a_challenge() {
        let (status, both) = lines(&BearerError::Missing, Dpop::Accepted);
        assert_eq!((status, both.len()), (401, 2));
        assert!(both[1].starts_with(r#"DPoP scope="mcp", algs="ES256 EdDSA", "#));
        let (_, only) = lines(&BearerError::Missing, Dpop::Required);
        assert!(only.len() == 1 && only[0].starts_with("DPoP "));
        let (status, proof) = lines(&BearerError::Proof("stale"), Dpop::Accepted);
        assert_eq!((status, proof.len()), (401, 1));
        assert!(proof[0].starts_with(r#"DPoP error="invalid_dpop_proof""#));
        let (status, nonce) = lines(&BearerError::Nonce("n".into()), Dpop::Accepted);
        assert!(status == 401 && nonce[0].starts_with(r#"DPoP error="use_dpop_nonce""#));
    }

    // The reason of a verifier must not add a line to the headers.
    #[test]
    fn a_description_that_a_header_cannot_hold_is_omitted() {
        let (_, lines) = lines(&BearerError::Invalid("a\r\nb".into()), Dpop::Off);
        assert!(!lines[0].contains("error_description"), "{lines:?}");
        assert!(lines[0].contains("invalid_token") && lines[0].contains("resource_metadata"));
    }
}
