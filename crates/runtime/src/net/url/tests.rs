use super::*;

fn url(text: &str) -> WebUrl {
    WebUrl::parse_lenient(text).expect(text)
}

#[test]
fn a_url_is_parsed_and_its_text_is_unchanged() {
    let it = url("HTTPS://A.Example:8443/x/%7Ey?z=1");
    assert_eq!((it.path(), it.query()), ("/x/%7Ey", Some("z=1")));
    assert_eq!(it.front(), "HTTPS://A.Example:8443");
    assert_eq!(it.as_str(), "HTTPS://A.Example:8443/x/%7Ey?z=1");
    assert_eq!(it.to_string(), "HTTPS://A.Example:8443/x/%7Ey");
    assert_eq!((it.port(), it.host_as_written()), (8443, "A.Example"));
    assert!(it.is_secure() && it.has_origin_of(&url("https://a.example:8443")));
    assert!(!it.has_origin_of(&url("https://a.example")));
    assert_eq!(
        (url("http://a").path(), url("http://a?x").query()),
        ("", Some("x"))
    );
    assert_eq!(url("http://[::1]:8/").host_as_written(), "::1");
    assert_eq!(it.at("/other"), "HTTPS://A.Example:8443/other");
}

#[test]
fn a_fragment_is_not_a_part_of_the_path_or_the_query() {
    let it = url("https://a.example/x?y#z?/");
    assert_eq!((it.path(), it.query()), ("/x", Some("y")));
    assert_eq!(url("https://a.example#z?/").query(), None);
    assert_eq!(url("https://a.example#z?/").path(), "");
    assert_eq!(format!("{it} {it:?}").matches('z').count(), 0);
    assert_eq!(it.canonical(), "https://a.example/x?y");
}

// spec: 2025-11-25 AUTH-51, AUTH-53, AUTH-54, AMB-105
// spec: 2026-07-28 N-AUTH-27
// hardening: H-47
#[test]
fn a_server_has_one_name() {
    for (text, canonical) in [
        ("https://A.example/MCP", "https://a.example/MCP"),
        ("HTTPS://a.example:443/", "https://a.example"),
        ("http://a.example:443/x/", "http://a.example:443/x/"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("https://a.example?x=Y", "https://a.example?x=Y"),
    ] {
        assert_eq!(url(text).canonical(), canonical);
    }
}

// spec: 2025-11-25 SEC-24, SEC-25, SEC-26, SEC-31 (authorization)
// spec: 2026-07-28 N-SEC-05, N-SEC-10 (authorization)
// hardening: H-29, H-38, H-39
#[test]
fn a_url_with_two_meanings_is_rejected() {
    use UrlError::{
        InvalidCharacter, InvalidHost, InvalidPort, UnexpectedFragment, UnsupportedScheme,
        UserInformation,
    };
    // The columns: the text, the result of `parse`, and whether `parse_lenient` accepts it.
    for (text, expected, is_lenient) in [
        ("", UnsupportedScheme, false),
        ("/mcp", UnsupportedScheme, false),
        ("localhost:80", UnsupportedScheme, false),
        ("javascript:alert(1)", UnsupportedScheme, false),
        (
            "javascript://a.example/%0aalert(1)",
            UnsupportedScheme,
            false,
        ),
        ("file:///etc/passwd", UnsupportedScheme, false),
        ("data:text/html,x", UnsupportedScheme, false),
        ("vbscript://a/x", UnsupportedScheme, false),
        ("ftp://a.example/", UnsupportedScheme, false),
        ("ftp://u:secret@a/?key=secret", UnsupportedScheme, false),
        ("//a.example/", UnsupportedScheme, false),
        ("http:/a.example/", UnsupportedScheme, false),
        ("\\\\a\\share", InvalidCharacter, false),
        ("https://a.example\\@b.example/", InvalidCharacter, false),
        ("https://a.example/\\b", InvalidCharacter, false),
        ("https://a.example/ x", InvalidCharacter, false),
        ("https://a b.example", InvalidCharacter, false),
        ("https://a.example/\nx", InvalidCharacter, false),
        ("https://a.example/\u{7f}", InvalidCharacter, false),
        ("https://b\u{fc}cher.example/", InvalidCharacter, false),
        ("https://a.example/\u{202e}", InvalidCharacter, false),
        ("https://a.example/`id`", InvalidCharacter, true),
        ("https://a.example/{x}|y", InvalidCharacter, true),
        ("https://a.example/%PATH%", InvalidCharacter, true),
        ("https://a.example/#x", UnexpectedFragment, true),
        ("https://u:p@a.example/", UserInformation, false),
        ("https://u@a.example", UserInformation, false),
        ("https://a.example:80@b.example", UserInformation, false),
        ("https://", InvalidHost, false),
        ("https:///x", InvalidHost, false),
        ("https://?x", InvalidHost, false),
        ("https://:443/in", InvalidHost, false),
        ("https://a..example/", InvalidHost, false),
        ("https://0x7f.1/", InvalidHost, false),
        ("https://2130706433/", InvalidHost, false),
        ("https://127.1/", InvalidHost, false),
        ("https://0x7f000001/", InvalidHost, false),
        ("https://0177.0.0.1/", InvalidHost, false),
        ("https://[::1/", InvalidHost, false),
        ("https://[::1]x/", InvalidHost, false),
        ("https://[::1]x:1/", InvalidHost, false),
        ("https://::1/", InvalidHost, false),
        ("https://a%2eexample/", InvalidHost, false),
        ("https://a.example:0/", InvalidPort, false),
        ("https://a.example:+1/", InvalidPort, false),
        ("https://a.example:/", InvalidPort, false),
        ("https://a.example:99999/", InvalidPort, false),
        ("https://a.example:1:2/", InvalidPort, false),
        ("https://[::1]:x/", InvalidPort, false),
    ] {
        assert_eq!(WebUrl::parse(text), Err(expected), "{text}");
        let lenient = WebUrl::parse_lenient(text);
        let expected = if is_lenient { None } else { Some(expected) };
        assert_eq!(lenient.err(), expected, "{text}");
    }
}

#[test]
fn the_url_of_a_document_has_a_maximum_size() {
    let long = |bytes: usize| format!("https://a/{}", "x".repeat(bytes - 10));
    assert!(WebUrl::parse(&long(MAX_BYTES)).is_ok());
    assert_eq!(WebUrl::parse(&long(MAX_BYTES + 1)), Err(UrlError::TooLong));
    assert!(WebUrl::parse_lenient(&long(MAX_BYTES + 1)).is_ok());
}

// hardening: H-46
#[test]
fn keys_in_a_url_are_not_shown() {
    let it = url("https://a.example/mcp?key=secret#secret");
    assert!(!format!("{it} {it:?}").contains("secret"));
}

#[test]
fn origins_are_compared_by_their_parts() {
    for (left, right) in [
        ("http://a.example", "HTTP://A.EXAMPLE:80/x"),
        ("https://a.example/", "https://a.example:443/?q"),
        ("http://[::1]:80/", "http://[0:0::1]/"),
    ] {
        assert!(url(left).has_origin_of(&url(right)), "{left} {right}");
    }
    for (left, right) in [
        ("http://a.example", "https://a.example"),
        ("http://a.example", "http://a.example:81"),
        ("http://a.example", "http://a.example.evil.example"),
        ("http://a.example", "http://a.example."),
        ("http://a.example", "http://b.example"),
    ] {
        assert!(!url(left).has_origin_of(&url(right)), "{left} {right}");
    }
}

#[test]
fn plain_http_needs_a_loopback_host() {
    for text in [
        "https://a.example/",
        "http://localhost:3000/x",
        "http://127.0.0.2/",
        "http://[::ffff:127.0.0.1]/",
    ] {
        assert!(url(text).is_secure_or_loopback(), "{text}");
    }
    for text in [
        "http://a.example/",
        "http://app.localhost/",
        "http://localhost./",
        "http://0.0.0.0/",
        "http://[::]/",
        "http://10.0.0.1/",
    ] {
        assert!(!url(text).is_secure_or_loopback(), "{text}");
    }
}
