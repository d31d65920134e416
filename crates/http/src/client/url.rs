//! The address of an endpoint, and of what it refers to.
//!
//! The text stays as it was given: other documents repeat it, and are compared with it byte by
//! byte. Nothing here normalizes a path or adds a slash.

use std::fmt;

use http::Uri;
use http::uri::Authority;

/// The address of an MCP endpoint: `http` or `https`, a host, a path.
///
/// `Debug` and `Display` leave the query out: people put keys there.
#[derive(Clone, PartialEq, Eq)]
pub struct EndpointUrl {
    text: Box<str>,
    uri: Uri,
}

/// Why a text is no address of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidUrl {
    /// It is no URL, or one with characters that have to be encoded.
    #[error("{0:?} is no URL")]
    Syntax(Box<str>),
    /// Something other than `http` and `https`.
    #[error("the scheme {0:?} is not http or https")]
    Scheme(Box<str>),
    /// No host.
    #[error("{0:?} names no host")]
    Host(Box<str>),
    /// A name or a password in front of the host; they would end up in logs.
    #[error("the URL has user information; send an Authorization header instead")]
    UserInformation,
}

/// Whom an address belongs to: what may be told to one must not be told to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UrlOrigin {
    pub(crate) is_tls: bool,
    /// Lower case, without the brackets of an IPv6 address.
    pub(crate) host: Box<str>,
    pub(crate) port: u16,
}

impl EndpointUrl {
    /// Checks an address.
    ///
    /// # Errors
    ///
    /// [`InvalidUrl`]; its message holds no query.
    pub fn parse(text: &str) -> Result<Self, InvalidUrl> {
        let syntax = || InvalidUrl::Syntax(without_query(text).into());
        let is_whole = text.is_ascii() && !text.bytes().any(|byte| byte <= b' ' || byte == 0x7f);
        let uri: Uri = is_whole
            .then(|| text.parse().ok())
            .flatten()
            .ok_or_else(syntax)?;
        match uri.scheme_str() {
            Some("http" | "https") => {}
            Some(other) => return Err(InvalidUrl::Scheme(other.into())),
            None => return Err(syntax()),
        }
        let authority = uri.authority().ok_or_else(syntax)?;
        check_authority(authority)?;
        Ok(Self {
            text: text.into(),
            uri,
        })
    }

    /// The address as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whom it belongs to.
    pub fn origin(&self) -> UrlOrigin {
        UrlOrigin::of(&self.uri)
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// What a reference found at this address means, as RFC 3986 (5.2) says.
    ///
    /// # Errors
    ///
    /// [`InvalidUrl`] as for [`parse`](Self::parse).
    pub(crate) fn resolve(&self, reference: &str) -> Result<Self, InvalidUrl> {
        let reference = reference.split('#').next().unwrap_or_default();
        if has_scheme(reference) {
            return Self::parse(reference);
        }
        let scheme = self.uri.scheme_str().unwrap_or_default();
        if reference.starts_with("//") {
            return Self::parse(&format!("{scheme}:{reference}"));
        }
        let authority = self.uri.authority().map_or("", Authority::as_str);
        let path = self.path_of(reference);
        Self::parse(&format!("{scheme}://{authority}{path}"))
    }

    fn path_of(&self, reference: &str) -> String {
        let own = self.uri.path();
        let (path, query) = match reference.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (reference, None),
        };
        let query = match (path, query) {
            ("", None) => self.uri.query(),
            (_, query) => query,
        };
        let merged = match path {
            "" => own.to_owned(),
            path if path.starts_with('/') => without_dots(path),
            path => without_dots(&format!("{}{path}", folder_of(own))),
        };
        match query {
            Some(query) => format!("{merged}?{query}"),
            None => merged,
        }
    }
}

impl UrlOrigin {
    pub(crate) fn of(uri: &Uri) -> Self {
        let is_tls = uri.scheme_str() == Some("https");
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Self {
            is_tls,
            host: host.to_ascii_lowercase().into(),
            port: uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
        }
    }

    /// Whether it is this machine, by name or by address.
    pub(crate) fn is_loopback(&self) -> bool {
        let address = self.host.parse::<std::net::IpAddr>();
        &*self.host == "localhost"
            || self.host.ends_with(".localhost")
            || address.is_ok_and(|address| address.to_canonical().is_loopback())
    }

    /// The host and the port, with brackets around an IPv6 address.
    pub(crate) fn authority(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') {
            return format!("[{host}]:{port}");
        }
        format!("{host}:{port}")
    }
}

impl fmt::Display for UrlOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}

impl fmt::Display for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(without_query(&self.text))
    }
}

impl fmt::Debug for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EndpointUrl({self})")
    }
}

impl std::str::FromStr for EndpointUrl {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        Self::parse(text)
    }
}

fn check_authority(authority: &Authority) -> Result<(), InvalidUrl> {
    let text = authority.as_str();
    if text.contains('@') {
        return Err(InvalidUrl::UserInformation);
    }
    let after_host = text.rfind(']').map_or(text, |end| &text[end..]);
    let has_odd_port =
        after_host.contains(':') && authority.port_u16().is_none_or(|port| port == 0);
    if authority.host().is_empty() || has_odd_port {
        return Err(InvalidUrl::Host(text.into()));
    }
    Ok(())
}

fn without_query(text: &str) -> &str {
    // What stands in front of an `@` may be a password, wherever the URL breaks a rule.
    let text = text.rsplit_once('@').map_or(text, |(_, rest)| rest);
    text.split(['?', '#']).next().unwrap_or_default()
}

fn has_scheme(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else {
        return false;
    };
    let mut letters = scheme.bytes();
    letters
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic())
        && letters.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Everything up to the last slash.
fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("/", |end| &path[..=end])
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            ".." => {
                kept.pop();
            }
            "." => {}
            segment => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> EndpointUrl {
        EndpointUrl::parse(text).expect("a URL")
    }

    #[test]
    fn the_text_is_kept_as_it_was_given() {
        for text in [
            "http://localhost:8080",
            "https://A.example/mcp?k=v",
            "http://[::1]:1/",
        ] {
            assert_eq!(url(text).as_str(), text);
        }
    }

    // hardening: H-38
    #[test]
    fn what_is_no_address_of_an_endpoint_is_refused() {
        let rows = [
            ("", InvalidUrl::Syntax("".into())),
            ("/mcp", InvalidUrl::Syntax("/mcp".into())),
            ("localhost:80", InvalidUrl::Syntax("localhost:80".into())),
            ("http://a b/", InvalidUrl::Syntax("http://a b/".into())),
            (
                "http://bücher.example/",
                InvalidUrl::Syntax("http://bücher.example/".into()),
            ),
            ("ftp://a/", InvalidUrl::Scheme("ftp".into())),
            ("http://u:p@a/", InvalidUrl::UserInformation),
            (
                "http://a:99999/",
                InvalidUrl::Syntax("http://a:99999/".into()),
            ),
            ("http://a:0/", InvalidUrl::Host("a:0".into())),
        ];
        for (text, expected) in rows {
            let found = EndpointUrl::parse(text).expect_err(text);
            assert!(
                found == expected
                    || matches!(found, InvalidUrl::Host(_) | InvalidUrl::Syntax(_))
                        && text.contains("99999"),
                "{text}: {found:?}"
            );
        }
    }

    // hardening: H-46
    #[test]
    fn keys_in_an_address_are_not_shown() {
        let url = url("https://a.example/mcp?key=secret");
        assert!(!format!("{url} {url:?}").contains("secret"));
        let refused = EndpointUrl::parse("ftp://u:secret@a/?key=secret").expect_err("no endpoint");
        assert!(!format!("{refused} {refused:?}").contains("secret"));
        let refused = EndpointUrl::parse("://u:secret@a b/?key=secret").expect_err("no endpoint");
        assert!(!format!("{refused} {refused:?}").contains("secret"));
    }

    #[test]
    fn origins_are_compared_by_their_parts() {
        let same = [
            ("http://a.example", "HTTP://A.EXAMPLE:80/x"),
            ("https://a.example/", "https://a.example:443/?q"),
            ("http://[::1]:80/", "http://[::1]/"),
        ];
        let other = [
            ("http://a.example", "https://a.example"),
            ("http://a.example", "http://a.example:81"),
            ("http://a.example", "http://a.example.evil.example"),
            ("http://a.example", "http://b.example"),
        ];
        for (left, right) in same {
            assert_eq!(url(left).origin(), url(right).origin(), "{left} {right}");
        }
        for (left, right) in other {
            assert_ne!(url(left).origin(), url(right).origin(), "{left} {right}");
        }
    }

    #[test]
    fn this_machine_is_known_by_name_and_by_address() {
        for text in [
            "http://localhost",
            "http://127.8.0.1",
            "http://[::1]",
            "http://[::ffff:127.0.0.1]",
        ] {
            assert!(url(text).origin().is_loopback(), "{text}");
        }
        for text in [
            "http://localhost.evil.example",
            "http://10.0.0.1",
            "http://[::2]",
        ] {
            assert!(!url(text).origin().is_loopback(), "{text}");
        }
    }

    #[test]
    fn references_are_resolved_as_the_standard_says() {
        let base = url("http://a.example/b/c/d?q");
        let rows = [
            (
                "/messages?sessionId=1",
                "http://a.example/messages?sessionId=1",
            ),
            ("g", "http://a.example/b/c/g"),
            ("./g", "http://a.example/b/c/g"),
            ("g/", "http://a.example/b/c/g/"),
            ("..", "http://a.example/b/"),
            ("../g", "http://a.example/b/g"),
            ("../../../g", "http://a.example/g"),
            ("/./g", "http://a.example/g"),
            ("?y", "http://a.example/b/c/d?y"),
            ("", "http://a.example/b/c/d?q"),
            ("#s", "http://a.example/b/c/d?q"),
            ("g?y/../x", "http://a.example/b/c/g?y/../x"),
            ("//g.example/x", "http://g.example/x"),
            ("https://g.example:1/x", "https://g.example:1/x"),
        ];
        for (reference, expected) in rows {
            let found = base.resolve(reference).expect(reference);
            assert_eq!(found.as_str(), expected, "{reference:?}");
        }
        assert_eq!(
            url("http://a.example")
                .resolve("g")
                .expect("a URL")
                .as_str(),
            "http://a.example/g"
        );
        assert!(base.resolve("javascript:alert(1)").is_err());
        assert!(base.resolve("file:///etc/passwd").is_err());
        assert!(base.resolve("//u@evil.example/").is_err());
    }
}
