//! Device authorization responses and the state between polls of the token endpoint.
//!
//! Spec: RFC 8628, 3.2 to 3.5.

use std::time::Duration;

use serde_json::Value;

use crate::error::{AuthError, DeviceSignInError, is_shown};
use crate::fetch_policy::FetchPolicy;
use crate::flow::token::Exchange;
use crate::metadata::check;
use crate::secret::Secret;

/// Grant type of a device code.
pub(crate) const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Maximum size of a device code, in bytes.
const MAX_CODE_BYTES: usize = 8 << 10;
/// Maximum length of a user code, in characters, because a user types it.
const MAX_USER_CODE_CHARS: usize = 64;
/// Maximum size of a verification URI, in bytes.
const MAX_URL_BYTES: usize = 2 << 10;
/// Longest lifetime of a code. A longer one counts as this.
const MAX_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// Pause between polls if the response has none: RFC 8628, 3.2.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(5);
/// Shortest pause between polls. A shorter one counts as this.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// Longest pause between polls.
const MAX_INTERVAL: Duration = Duration::from_secs(10 * 60);
/// Increase of the pause after `slow_down`: RFC 8628, 3.5.
const SLOW_DOWN: Duration = Duration::from_secs(5);

/// The code that a user enters at a page of the authorization server, on any device. `Debug` shows
/// the server only.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserCode {
    /// The code: at most 64 characters, without control characters.
    pub code: String,
    /// URL of the page, which a user can type.
    pub url: String,
    /// URL of the page with the code in it, for a QR code or a link, if the server sent one.
    pub complete_url: Option<String>,
    /// Issuer identifier of the authorization server.
    pub issuer: String,
    /// Lifetime of the code; at most an hour.
    pub expires_in: Duration,
}

impl std::fmt::Debug for UserCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UserCode({})", self.issuer)
    }
}

/// Device authorization response within its limits.
#[derive(Debug)]
pub(crate) struct DeviceAuthorization {
    pub(crate) device_code: Secret,
    pub(crate) user_code: UserCode,
    pub(crate) interval: Duration,
}

impl DeviceAuthorization {
    /// Reads a response. The URLs must be within `fetch_policy`.
    ///
    /// # Errors
    ///
    /// A reason that quotes nothing of the response.
    pub(crate) fn read(
        answer: &Value,
        issuer: &str,
        fetch_policy: &FetchPolicy,
    ) -> Result<Self, &'static str> {
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        let is_url = |url: &&str| {
            url.len() <= MAX_URL_BYTES
                && url.chars().all(|letter| is_shown(&letter))
                && check("verification_uri", url, fetch_policy).is_ok()
        };
        let device_code = text("device_code").ok_or("it has no \"device_code\"")?;
        if device_code.is_empty() || device_code.len() > MAX_CODE_BYTES {
            return Err("its \"device_code\" is empty or larger than 8 KiB");
        }
        let code = text("user_code").ok_or("it has no \"user_code\"")?;
        let is_typed = code.chars().all(|letter| is_shown(&letter)) && !code.trim().is_empty();
        if !is_typed || code.chars().count() > MAX_USER_CODE_CHARS {
            return Err("its \"user_code\" is not a code that a user can type");
        }
        // Some servers still have the name of an early draft.
        let url = text("verification_uri").or_else(|| text("verification_url"));
        let url = url.ok_or("it has no \"verification_uri\"")?;
        let url = Some(url)
            .filter(is_url)
            .ok_or("its \"verification_uri\" is not an allowed URL")?;
        let expires_in = seconds(answer.get("expires_in"));
        let expires_in = expires_in.ok_or("it has no valid \"expires_in\"")?;
        let interval = match answer.get("interval") {
            None | Some(Value::Null) => DEFAULT_INTERVAL,
            own => seconds(own).ok_or("its \"interval\" is not a number of seconds")?,
        };
        if interval > MAX_INTERVAL {
            return Err("its \"interval\" is longer than 10 minutes");
        }
        Ok(Self {
            device_code: device_code.into(),
            user_code: UserCode {
                code: code.to_owned(),
                url: url.to_owned(),
                complete_url: text("verification_uri_complete")
                    .filter(is_url)
                    .map(str::to_owned),
                issuer: issuer.to_owned(),
                expires_in: expires_in.min(MAX_LIFETIME),
            },
            interval: interval.max(MIN_INTERVAL),
        })
    }
}

/// A number of seconds; some servers write it as text.
fn seconds(value: Option<&Value>) -> Option<Duration> {
    let seconds = match value? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// State between polls of the token endpoint.
#[derive(Debug)]
pub(crate) struct DevicePoll {
    pub(crate) exchange: Exchange,
    interval: Duration,
    // The sum of the pauses counts, because a clock may jump during a sign-in.
    left: Duration,
}

impl DevicePoll {
    pub(crate) fn new(exchange: Exchange, interval: Duration, expires_in: Duration) -> Self {
        Self {
            exchange,
            interval,
            left: expires_in,
        }
    }

    /// Returns the pause before the next poll.
    ///
    /// # Errors
    ///
    /// [`DeviceSignInError::Expired`] if the code expires before it.
    pub(crate) fn pause(&mut self) -> Result<Duration, DeviceSignInError> {
        let left = self.left.checked_sub(self.interval);
        self.left = left.ok_or(DeviceSignInError::Expired)?;
        Ok(self.interval)
    }

    /// Sets the next pause after a poll without tokens.
    ///
    /// # Errors
    ///
    /// `error` itself, or its cause, if polling must end.
    pub(crate) fn take_error(&mut self, error: AuthError) -> Result<(), AuthError> {
        let code = match &error {
            AuthError::Refused { refusal, .. } => refusal.code.as_deref(),
            _ => None,
        };
        let fault = match code {
            Some("authorization_pending") => return Ok(()),
            Some("slow_down") => {
                self.interval += SLOW_DOWN;
                return Ok(());
            }
            Some("access_denied") => DeviceSignInError::Denied,
            Some("expired_token") => DeviceSignInError::Expired,
            // RFC 8628, 3.5: after a timeout of the connection, the client polls less often.
            _ if error.is_retryable() => {
                self.interval = (self.interval * 2).min(MAX_INTERVAL.max(self.interval));
                return Ok(());
            }
            _ => return Err(error),
        };
        Err(self.error(fault))
    }

    pub(crate) fn error(&self, fault: DeviceSignInError) -> AuthError {
        AuthError::DeviceSignIn {
            issuer: self.exchange.issuer.as_str().into(),
            fault,
        }
    }
}

#[cfg(test)]
mod tests {
    use pintle_runtime::WebUrl;
    use serde_json::json;

    use super::*;

    fn read(change: impl FnOnce(&mut Value)) -> Result<DeviceAuthorization, &'static str> {
        let mut answer = json!({
            "device_code": "d3v1ce", "user_code": "WDJB-MJHT",
            "verification_uri": "https://as.example/device", "expires_in": 900, "interval": 7,
        });
        change(&mut answer);
        let policy = FetchPolicy::of(&WebUrl::parse("https://mcp.example").expect("a URL"));
        DeviceAuthorization::read(&answer, "https://as.example", &policy)
    }

    #[test]
    fn a_response_is_read_within_its_limits() {
        let found = read(|_| {}).expect("a response");
        assert_eq!(found.user_code.code, "WDJB-MJHT");
        assert_eq!(found.user_code.url, "https://as.example/device");
        assert_eq!(found.user_code.expires_in, Duration::from_secs(900));
        assert_eq!(found.interval, Duration::from_secs(7));
        assert!(!format!("{found:?}").contains("WDJB"));
        assert!(!format!("{found:?}").contains("d3v1ce"));
        for (interval, expected) in [
            (Value::Null, 5.0),
            (json!(0), 1.0),
            (json!("30"), 30.0),
            (json!(2.5), 2.5),
            (json!(600), 600.0),
        ] {
            let found = read(|all| all["interval"] = interval.clone()).expect("a response");
            assert_eq!(found.interval.as_secs_f64(), expected, "{interval}");
        }
        let found = read(|all| all["expires_in"] = json!(1e30)).expect_err("too large a number");
        assert!(found.contains("expires_in"), "{found}");
        let found = read(|all| all["expires_in"] = json!(3_601)).expect("a response");
        assert_eq!(found.user_code.expires_in, MAX_LIFETIME);
    }

    #[test]
    fn the_name_of_an_early_draft_is_accepted() {
        let found = read(|all| {
            all.as_object_mut()
                .expect("members")
                .remove("verification_uri");
            all["verification_url"] = json!("https://as.example/old");
        });
        assert_eq!(
            found.expect("a response").user_code.url,
            "https://as.example/old"
        );
    }

    #[test]
    fn a_link_with_the_code_is_dropped_if_it_is_not_allowed() {
        for (link, expected) in [
            ("https://as.example/device?code=WDJB-MJHT", true),
            ("http://as.example/device", false),
            ("javascript:alert(1)", false),
            ("https://as.example/\u{1b}[2J", false),
        ] {
            let found = read(|all| all["verification_uri_complete"] = json!(link));
            let found = found.expect("a response").user_code;
            assert_eq!(found.complete_url.is_some(), expected, "{link}");
        }
    }

    #[test]
    fn values_outside_of_the_limits_are_rejected() {
        let long = "x".repeat(MAX_CODE_BYTES + 1);
        let long_url = format!("https://as.example/{}", "x".repeat(MAX_URL_BYTES));
        for (member, value) in [
            ("device_code", json!("")),
            ("device_code", json!(long)),
            ("device_code", json!(7)),
            ("user_code", json!(" ")),
            ("user_code", json!("A\u{1b}[2JB")),
            ("user_code", json!("A\u{202e}B")),
            ("user_code", json!("x".repeat(MAX_USER_CODE_CHARS + 1))),
            ("verification_uri", json!("http://as.example/device")),
            ("verification_uri", json!("javascript:alert(1)")),
            ("verification_uri", json!(long_url)),
            ("expires_in", Value::Null),
            ("expires_in", json!(-1)),
            ("interval", json!(-1)),
            ("interval", json!([5])),
            ("interval", json!(601)),
        ] {
            let found = read(|all| all[member] = value.clone());
            let fault = found.expect_err(member);
            assert!(fault.contains(member), "{member}: {fault}");
        }
    }
}
