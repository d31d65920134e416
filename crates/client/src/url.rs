//! Which URLs a user is sent to.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A URL that a user may be sent to, taken apart as far as that takes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Url<'a> {
    pub(crate) host: &'a str,
}

impl<'a> Url<'a> {
    /// Takes `https`, and `http` on this machine; without credentials.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn check(url: &'a str) -> Result<Self, String> {
        let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic()) && !url.contains('\\');
        if !is_plain {
            return Err("the URL has characters that no URL has".to_owned());
        }
        let (scheme, rest) = url.split_once("://").ok_or("the URL names no host")?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err("the URL carries credentials".to_owned());
        }
        let host = host_of(authority).ok_or("the URL names no host")?;
        match scheme.to_ascii_lowercase().as_str() {
            "https" => Ok(Self { host }),
            "http" if is_here(host) => Ok(Self { host }),
            _ => Err("the URL is not https".to_owned()),
        }
    }

    /// Whether the host is written in Punycode: it may look like another one.
    pub(crate) fn is_suspicious(&self) -> bool {
        self.host.split('.').any(|label| {
            label
                .get(..4)
                .is_some_and(|start| start.eq_ignore_ascii_case("xn--"))
        })
    }
}

fn host_of(authority: &str) -> Option<&str> {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0,
        None => authority.split(':').next()?,
    };
    (!host.is_empty()).then_some(host)
}

fn is_here(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
        || host.parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback())
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
        ] {
            assert_eq!(Url::check(url).map(|url| url.host), Ok(host), "{url}");
        }
        for url in [
            "http://example.org/",
            "http://localhost.example.org/",
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
