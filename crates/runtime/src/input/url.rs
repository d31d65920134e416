//! Which URLs a user may be sent to.

/// Whether careful clients let their user go to `url`: it is absolute, `https`, or `http` to the
/// loopback, says plainly whose host it names, and holds nobody's credentials.
///
/// Spec: 2025-11-25, Elicitation, Safe URL handling.
pub(super) fn is_fit_for_users(url: &str) -> bool {
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic());
    let Some((scheme, rest)) = url.split_once("://") else {
        return false;
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let Some(authority) = rest.get(..end) else {
        return false;
    };
    let is_known = scheme.eq_ignore_ascii_case("https")
        || (scheme.eq_ignore_ascii_case("http") && is_loopback(authority));
    is_plain && is_known && !host_of(authority).is_empty() && !authority.contains(['@', '\\'])
}

fn is_loopback(authority: &str) -> bool {
    let host = host_of(authority);
    host.eq_ignore_ascii_case("localhost")
        || host == "[::1]"
        || host
            .parse::<std::net::Ipv4Addr>()
            .is_ok_and(|address| address.is_loopback())
}

fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
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
