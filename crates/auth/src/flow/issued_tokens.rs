//! Tokens that an issuer issued to a client, with the values that renew them.
//!
//! Spec: RFC 6749, 5.1; OAuth 2.1 (draft 13), 3.2.3; RFC 9449, 5.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::client::ClientRegistration;
use crate::error::AuthError;
use crate::key::SigningKey;
use crate::scope::Scopes;
use crate::secret::Secret;

/// How long before its end a token is no longer used: clocks differ, and requests take time. One that
/// lives for less than two minutes is used for three quarters of its life.
const SKEW: Duration = Duration::from_secs(30);
const PARTS: u32 = 4;
/// Size of one token, in bytes: no server takes a larger header, and each token is stored.
const MAX_TOKEN_BYTES: usize = 64 << 10;

/// Result of a sign-in: tokens, their resource, and the endpoint that renews them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IssuedTokens {
    /// Issuer identifier of the authorization server.
    pub issuer: String,
    /// For which resource, as it was named to the issuer.
    pub resource: String,
    /// Where tokens come from.
    pub token_endpoint: String,
    /// The client it was issued to.
    pub client: ClientRegistration,
    /// Scopes that the client requested.
    pub requested: Scopes,
    /// The key it is bound to.
    pub dpop: Option<DpopKey>,
    /// Tokens that the server issued.
    pub tokens: TokenResponse,
}

/// Tokens of a token response.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TokenResponse {
    /// Access token for requests.
    pub access: Secret,
    /// Refresh token, if the server issued one.
    pub refresh: Option<Secret>,
    /// Granted scopes, if the server sent them.
    pub scopes: Option<Scopes>,
    /// Expiry time, if the server sent a lifetime.
    pub expires: Option<SystemTime>,
    /// Lifetime at the time of issue, if the server sent one.
    pub expires_in: Option<Duration>,
    /// Whether requests with the access token need a DPoP proof.
    pub is_bound: bool,
}

impl TokenResponse {
    /// Reads a token response.
    ///
    /// # Errors
    ///
    /// A reason that quotes nothing of the response.
    pub(crate) fn read(
        answer: Value,
        is_proven: bool,
        now: SystemTime,
    ) -> Result<Self, &'static str> {
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        let access = text("access_token").ok_or("it has no \"access_token\"")?;
        let is_token = |byte: u8| byte.is_ascii_graphic();
        if access.is_empty() || !access.bytes().all(is_token) {
            return Err("its \"access_token\" is none that a header can hold");
        }
        let refresh = text("refresh_token").filter(|text| !text.is_empty());
        if access.len().max(refresh.map_or(0, str::len)) > MAX_TOKEN_BYTES {
            return Err("it has a token of more than 64 KiB");
        }
        let kind = text("token_type").ok_or("it has no \"token_type\"")?;
        let is_bound = kind.eq_ignore_ascii_case("dpop");
        if !(is_bound && is_proven || kind.eq_ignore_ascii_case("bearer")) {
            return Err("its \"token_type\" is none that was asked for");
        }
        let scopes = text("scope").map(Scopes::parse).transpose();
        let lifetime = expires_in(answer.get("expires_in"));
        Ok(Self {
            access: access.into(),
            refresh: refresh.map(Secret::from),
            scopes: scopes.map_err(|_| "its \"scope\" is not a list of scopes")?,
            expires: lifetime.map(|time| now + time),
            expires_in: lifetime,
            is_bound,
        })
    }

    /// Returns true if the access token has expired or expires soon.
    pub fn is_stale(&self, now: SystemTime) -> bool {
        let early = self.expires_in.map_or(SKEW, |life| SKEW.min(life / PARTS));
        self.expires.is_some_and(|end| now + early >= end)
    }
}

/// A lifetime in seconds; some servers write it as text. More than a year is a year.
fn expires_in(value: Option<&Value>) -> Option<Duration> {
    const MOST: f64 = 365.0 * 24.0 * 3600.0;
    let seconds = match value? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    (seconds.is_finite() && seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(MOST)))
}

/// DPoP key to which tokens are bound, with its form for the store.
#[derive(Debug, Clone)]
pub struct DpopKey {
    pub(crate) key: Arc<SigningKey>,
    pub(crate) kept: Secret<Vec<u8>>,
}

impl DpopKey {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// [`AuthError::Key`].
    pub fn generate() -> Result<Self, AuthError> {
        let (key, kept) = SigningKey::generate()?;
        Ok(Self {
            key: Arc::new(key),
            kept,
        })
    }

    pub(crate) fn restore(kept: Secret<Vec<u8>>) -> Result<Self, AuthError> {
        let key = SigningKey::from_pkcs8(&kept, crate::key::Algorithm::Es256)?;
        Ok(Self {
            key: Arc::new(key),
            kept,
        })
    }
}
