//! The URLs to which a user may be sent.

use pintle_runtime::WebUrl;

/// A URL to which a user may be sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Url(WebUrl);

impl Url {
    /// Accepts `https`, and `http` to a loopback host; without credentials.
    ///
    /// # Errors
    ///
    /// The reason, as a text for the server.
    pub(crate) fn check(url: &str) -> Result<Self, String> {
        let url = WebUrl::parse_lenient(url).map_err(|error| error.to_string())?;
        match url.is_secure_or_loopback() {
            true => Ok(Self(url)),
            false => Err("the URL is not https".to_owned()),
        }
    }

    /// The host as it was written, without the brackets of an IPv6 address.
    pub(crate) fn host(&self) -> &str {
        self.0.host_as_written()
    }

    /// Returns true if the host is written in Punycode: it may look like another one.
    pub(crate) fn is_suspicious(&self) -> bool {
        self.host().split('.').any(|label| {
            label
                .get(..4)
                .is_some_and(|start| start.eq_ignore_ascii_case("xn--"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2025-11-25 ELIC-62, ELIC-64, SEC-31 (addresses to visit)
    // spec: 2026-07-28 N-ELIC-16, N-SEC-10 (addresses to visit)
    // hardening: H-78
    #[test]
    fn users_are_sent_to_https_and_to_this_machine_only() {
        for (url, host) in [
            ("https://example.org/a?b#c", "example.org"),
            ("HTTPS://Example.org", "Example.org"),
            ("https://example.org:8443/", "example.org"),
            ("http://localhost:3000/x", "localhost"),
            ("http://127.0.0.1/x", "127.0.0.1"),
            ("http://[::1]:8/", "::1"),
            ("https://example.org/@x", "example.org"),
            ("http://127.0.0.2/x", "127.0.0.2"),
            ("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1"),
        ] {
            assert_eq!(
                Url::check(url).map(|url| url.host().to_owned()),
                Ok(host.to_owned()),
                "{url}"
            );
        }
        for url in [
            "http://example.org/",
            "http://localhost.example.org/",
            "http://app.localhost/",
            "http://localhost./",
            "https://127.1/",
            "https://example.org:0/",
            "http://127.0.0.1.example.org/",
            "javascript:alert(1)",
            "javascript://example.org/%0aalert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "https://user:secret@example.org/",
            "https://example.org\\@evil.example/",
            "https://",
            "https:///x",
            "https://exa mple.org",
            "https://example.org/\u{202e}",
            "",
        ] {
            assert!(Url::check(url).is_err(), "{url}");
        }
    }

    // spec: 2025-11-25 ELIC-64
    #[test]
    fn a_host_that_may_look_like_another_is_suspicious() {
        let is_suspicious = |url| Url::check(url).expect("a URL").is_suspicious();
        assert!(is_suspicious("https://www.XN--pple-43d.com/"));
        assert!(!is_suspicious("https://example.org/xn--"));
    }
}
