//! Which URLs a user may be sent to.

use crate::net::WebUrl;

/// Returns true if careful clients open `url` for their user: `https`, or `http` to a loopback host.
///
/// Spec: 2025-11-25, Elicitation, Safe URL handling.
pub(super) fn is_fit_for_users(url: &str) -> bool {
    WebUrl::parse_lenient(url).is_ok_and(|url| url.is_secure_or_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2025-11-25 ELIC-23, ELIC-57
    // spec: 2026-07-28 N-ELIC-07
    #[test]
    fn users_are_sent_to_https_or_to_the_loopback() {
        for good in [
            "https://example.com",
            "HTTPS://example.com:8443/in?a=b#c",
            "https://[2001:db8::1]/in",
            "http://localhost:8000/in",
            "http://127.0.0.1/in",
            "http://[::1]:3000/",
            "http://127.0.0.2/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert!(is_fit_for_users(good), "{good}");
        }
        for bad in [
            "",
            "example.com/in",
            "https://",
            "https:///in",
            "https://:443/in",
            "http://example.com/in",
            "http://localhost.example.com/in",
            "http://app.localhost/",
            "http://localhost./",
            "http://0.0.0.0/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "https://ada:secret@example.com/",
            "https://example.com/a b",
            "https://example.com/\n",
            "https://ex\u{e4}mple.com/",
            "https://example.com\\@evil.example/",
        ] {
            assert!(!is_fit_for_users(bad), "{bad}");
        }
    }
}
