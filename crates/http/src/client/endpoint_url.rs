//! The URL of an endpoint, and relative references to other URLs.
//!
//! The text is never normalized, because other documents repeat it and are compared with it byte by
//! byte.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http::Uri;
use pintle_runtime::{Host, WebUrl};

pub use pintle_runtime::UrlError;

/// The URL of an MCP endpoint: `http` or `https`, a host, a path.
///
/// `Debug` and `Display` omit the query, because it may contain keys.
#[derive(Clone, PartialEq, Eq)]
pub struct EndpointUrl {
    // Shared, because each request has a copy.
    url: Arc<WebUrl>,
    // The same text for connections, parsed once.
    uri: Uri,
}

/// The origin of a URL: scheme, host and port. Secrets of one origin must not be sent to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UrlOrigin {
    pub(crate) is_tls: bool,
    /// Lower case, without the brackets of an IPv6 address.
    pub(crate) host: Box<str>,
    pub(crate) port: u16,
}

impl EndpointUrl {
    /// Parses a URL.
    ///
    /// # Errors
    ///
    /// [`UrlError`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        // The crate `http` does not accept a longer text.
        if text.len() >= usize::from(u16::MAX) {
            return Err(UrlError::TooLong);
        }
        let url = Arc::new(WebUrl::parse_lenient(text)?);
        let uri = text.parse().map_err(|_| UrlError::InvalidCharacter)?;
        Ok(Self { url, uri })
    }

    /// Returns the unchanged text of the URL.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the origin.
    pub fn origin(&self) -> UrlOrigin {
        UrlOrigin::of(&self.uri)
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Resolves a reference against this URL, as RFC 3986, section 5.2, defines.
    ///
    /// # Errors
    ///
    /// [`UrlError`] as for [`parse`](Self::parse).
    pub(crate) fn resolve(&self, reference: &str) -> Result<Self, UrlError> {
        let reference = reference.split('#').next().unwrap_or_default();
        if has_scheme(reference) {
            return Self::parse(reference);
        }
        if reference.starts_with("//") {
            let scheme = self.uri.scheme_str().unwrap_or_default();
            return Self::parse(&format!("{scheme}:{reference}"));
        }
        Self::parse(&self.url.at(&self.path_of(reference)))
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
            port: uri.port_u16().unwrap_or(default_port(is_tls)),
        }
    }

    /// Returns true if a URL has this origin, without a copy of its host.
    pub(crate) fn is_of(&self, uri: &Uri) -> bool {
        let Some(authority) = uri.authority() else {
            return false;
        };
        let (host, port) = split_authority(authority.as_str());
        let is_tls = uri.scheme_str() == Some("https");
        is_tls == self.is_tls
            && port.unwrap_or(default_port(is_tls)) == self.port
            && host.eq_ignore_ascii_case(&self.host)
    }

    /// Returns true for hosts that no proxy serves: loopback addresses, and names that may lead to them.
    pub(crate) fn is_local(&self) -> bool {
        let host = match self.host.parse::<IpAddr>() {
            Ok(address) => Ok(Host::from(address)),
            Err(_) => Host::parse(&self.host),
        };
        host.is_ok_and(|host| host.is_local())
    }

    /// Returns the host and the port, with brackets around an IPv6 address.
    pub(crate) fn authority(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') {
            return format!("[{host}]:{port}");
        }
        format!("{host}:{port}")
    }
}

fn default_port(is_tls: bool) -> u16 {
    if is_tls { 443 } else { 80 }
}

/// Returns the host, without a user and without brackets, and the port.
fn split_authority(authority: &str) -> (&str, Option<u16>) {
    let place = authority
        .rsplit_once('@')
        .map_or(authority, |(_, place)| place);
    let (host, port) = match place.rsplit_once(':') {
        // Another colon is part of an IPv6 address.
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (place, None),
    };
    (host.trim_start_matches('[').trim_end_matches(']'), port)
}

impl fmt::Display for UrlOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}

impl fmt::Display for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.url)
    }
}

impl fmt::Debug for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EndpointUrl({self})")
    }
}

impl std::str::FromStr for EndpointUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::parse(text)
    }
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

/// Returns the part of a path up to the last slash.
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
    fn an_invalid_endpoint_url_is_rejected() {
        let rows = [
            ("", UrlError::UnsupportedScheme),
            ("/mcp", UrlError::UnsupportedScheme),
            ("localhost:80", UrlError::UnsupportedScheme),
            ("http://a b/", UrlError::InvalidCharacter),
            ("http://bücher.example/", UrlError::InvalidCharacter),
            ("http://a/<", UrlError::InvalidCharacter),
            ("ftp://a/", UrlError::UnsupportedScheme),
            ("http://u:p@a/", UrlError::UserInformation),
            ("http://a:99999/", UrlError::InvalidPort),
            ("http://a:0/", UrlError::InvalidPort),
            ("http://127.1/", UrlError::InvalidHost),
        ];
        for (text, expected) in rows {
            assert_eq!(EndpointUrl::parse(text), Err(expected), "{text}");
        }
        let long = format!("http://a/{}", "x".repeat(1 << 16));
        assert_eq!(EndpointUrl::parse(&long), Err(UrlError::TooLong));
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
        let texts = same.iter().flat_map(|(one, other)| [*one, *other]);
        let texts = texts.chain([
            "http://b.example",
            "http://a.example:8080",
            "http://[::2]:80",
        ]);
        let urls: Vec<EndpointUrl> = texts.map(url).collect();
        for (one, other) in urls
            .iter()
            .flat_map(|one| urls.iter().map(move |other| (one, other)))
        {
            let expected = one.origin() == other.origin();
            assert_eq!(one.origin().is_of(other.uri()), expected, "{one} {other}");
        }
    }

    #[test]
    fn this_machine_is_known_by_name_and_by_address() {
        for text in [
            "http://localhost",
            "http://127.8.0.1",
            "http://[::1]",
            "http://[::ffff:127.0.0.1]",
            "http://app.localhost",
            "http://localhost.",
        ] {
            assert!(url(text).origin().is_local(), "{text}");
        }
        for text in [
            "http://localhost.evil.example",
            "http://10.0.0.1",
            "http://[::2]",
        ] {
            assert!(!url(text).origin().is_local(), "{text}");
        }
    }

    #[test]
    fn references_are_resolved_as_rfc_3986_defines() {
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
