//! The log of refused requests: one line each, but a bounded number of lines.

use std::time::{Duration, Instant};

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderName};
use pintle_runtime::sync::Mutex;
use tracing::Level;
use tracing::field::debug;

use crate::rules::cause::{self, Cause};
use crate::rules::classify::HttpRejection;

/// Lines that are logged in one [`WINDOW`]; more are counted, and the next line contains the count.
const MAX_LINES: u32 = 10;
const WINDOW: Duration = Duration::from_secs(1);
/// Characters of a value of the peer in a line.
const MAX_VALUE_CHARS: usize = 100;

/// The log of one endpoint.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    began: Option<Instant>,
    lines: u32,
    skipped: u64,
}

impl Refusals {
    /// Logs a refusal by its cause. Names of hosts are a matter of configuration, so they are a warning.
    pub(super) fn log(&self, cause: &'static Cause, parts: Option<&Parts>) {
        let is_of_names = *cause == cause::FOREIGN_HOST || *cause == cause::FOREIGN_ORIGIN;
        let Some(skipped) = self.admit_line(is_of_names) else {
            return;
        };
        let headers = parts.map(|parts| &parts.headers);
        let (host, origin) = (shown(headers, &HOST), shown(headers, &ORIGIN));
        let (host, origin) = (host.as_deref().map(debug), origin.as_deref().map(debug));
        let (status, reason, setting) = (cause.status.as_u16(), cause.text, cause.setting);
        if is_of_names {
            tracing::warn!(
                status,
                reason,
                setting,
                host,
                origin,
                skipped,
                "a request was refused"
            );
        } else {
            tracing::debug!(
                status,
                reason,
                setting,
                host,
                origin,
                skipped,
                "a request was refused"
            );
        }
    }

    /// Logs a refusal before it is answered.
    pub(super) fn log_rejection(&self, rejection: &HttpRejection, parts: Option<&Parts>) {
        if let Some(cause) = rejection.cause {
            return self.log(cause, parts);
        }
        let Some(skipped) = self.admit_line(false) else {
            return;
        };
        let status = rejection.status.as_u16();
        let error = rejection.error.as_deref();
        let code = error.map(|error| error.code.0);
        let reason = error.map(|error| clip(&error.message));
        let reason = reason.as_deref().map(debug);
        tracing::debug!(status, code, reason, skipped, "a request was refused");
    }

    /// How many lines were skipped before this one, if this one may be written.
    fn admit_line(&self, is_warning: bool) -> Option<u64> {
        let is_read = if is_warning {
            tracing::enabled!(Level::WARN)
        } else {
            tracing::enabled!(Level::DEBUG)
        };
        is_read.then(|| self.admit_at(Instant::now()))?
    }

    fn admit_at(&self, now: Instant) -> Option<u64> {
        let mut window = self.0.lock();
        if window
            .began
            .is_none_or(|began| now.duration_since(began) >= WINDOW)
        {
            (window.began, window.lines) = (Some(now), 0);
        }
        if window.lines == MAX_LINES {
            window.skipped += 1;
            return None;
        }
        window.lines += 1;
        Some(std::mem::take(&mut window.skipped))
    }
}

/// A header as it may stand in a log, once it is escaped.
fn shown(headers: Option<&HeaderMap>, name: &HeaderName) -> Option<String> {
    let value = headers?.get(name)?;
    Some(clip(&String::from_utf8_lossy(value.as_bytes())))
}

fn clip(text: &str) -> String {
    text.chars().take(MAX_VALUE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refusals_is_ten_lines_a_second_and_a_count() {
        let refusals = Refusals::default();
        let now = Instant::now();
        let admitted = |after| refusals.admit_at(now + Duration::from_millis(after));
        assert!((0..10).all(|_| admitted(0) == Some(0)));
        assert!((0..90).all(|_| admitted(999).is_none()));
        assert_eq!(admitted(1_000), Some(90));
        assert_eq!(admitted(1_000), Some(0));
    }

    #[test]
    fn a_value_of_the_peer_is_cut_before_it_is_logged() {
        let long = "x".repeat(60_000);
        let headers = HeaderMap::from_iter([(HOST, long.parse().expect("a value"))]);
        assert_eq!(
            shown(Some(&headers), &HOST).map(|host| host.len()),
            Some(100)
        );
    }
}
