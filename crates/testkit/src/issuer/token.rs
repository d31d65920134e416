//! A builder of tokens, valid and invalid.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::keys::Signature;
use super::{Issuer, random_name};

/// A token to be signed: valid for five minutes, unless the builder changes it.
#[derive(Clone)]
#[must_use = "it is not a token before `sign`"]
pub struct Token {
    issuer: Issuer,
    header: Map<String, Value>,
    claims: Map<String, Value>,
    signature: Signature,
    /// Whether the header names the key.
    names_key: bool,
}

impl Token {
    pub(super) fn new(issuer: &Issuer, audience: &str) -> Self {
        let token = Self {
            issuer: issuer.clone(),
            header: Map::new(),
            claims: Map::new(),
            signature: Signature::default(),
            names_key: true,
        };
        token
            .header("typ", json!("at+jwt"))
            .claim("iss", json!(issuer.url()))
            .claim("aud", json!(audience))
            .claim("sub", json!("ada"))
            .claim("client_id", json!("app"))
            .claim("jti", json!(random_name()))
            .claim("iat", json!(now()))
            .expires(300)
    }

    /// Replaces a claim.
    pub fn claim(mut self, name: &str, value: Value) -> Self {
        self.claims.insert(name.to_owned(), value);
        self
    }

    /// Removes a claim.
    pub fn without(mut self, name: &str) -> Self {
        self.claims.remove(name);
        self
    }

    /// Replaces a member of the header.
    pub fn header(mut self, name: &str, value: Value) -> Self {
        self.header.insert(name.to_owned(), value);
        self
    }

    /// Sets the subject, `sub`.
    pub fn subject(self, subject: &str) -> Self {
        self.claim("sub", json!(subject))
    }

    /// Sets the scopes, separated by spaces.
    pub fn scopes(self, scopes: &str) -> Self {
        self.claim("scope", json!(scopes))
    }

    /// Sets the expiry in seconds from now; a negative number is in the past.
    pub fn expires(self, seconds: i64) -> Self {
        self.claim("exp", json!(now().saturating_add_signed(seconds)))
    }

    /// Binds the token to a key, by its thumbprint.
    pub fn bound_to(self, thumbprint: &str) -> Self {
        self.claim("cnf", json!({ "jkt": thumbprint }))
    }

    /// Sets the way in which the token is signed.
    pub fn signed(mut self, signature: Signature) -> Self {
        self.signature = signature;
        self
    }

    /// Leaves `kid` out of the header.
    pub fn nameless(mut self) -> Self {
        self.names_key = false;
        self
    }

    /// Signs the token and returns it as a compact JWT.
    pub fn sign(&self) -> String {
        let mut state = self.issuer.lock();
        let keys = state.keys.newest();
        let mut header = Map::new();
        header.insert("alg".into(), json!(self.signature.name()));
        if self.names_key {
            header.insert("kid".into(), json!(keys.id(self.signature)));
        }
        header.extend(self.header.clone());
        let text = text(&header, &self.claims);
        let signed = keys.sign(self.signature, &text);
        let token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(signed));
        state.issued.insert(token.clone());
        token
    }
}

/// The signed text: header and claims, encoded and joined by a dot.
pub(super) fn text(header: &Map<String, Value>, claims: &Map<String, Value>) -> String {
    let part = |members: &Map<String, Value>| {
        let text = serde_json::to_vec(members).expect("members are JSON");
        URL_SAFE_NO_PAD.encode(text)
    };
    format!("{}.{}", part(header), part(claims))
}

/// The claims of a token of this issuer.
pub(super) fn claims(token: &str) -> Option<Map<String, Value>> {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&payload).ok()
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or(Duration::ZERO).as_secs()
}
