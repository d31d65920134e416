//! URLs of the web: parsed, and stored as they were written.

use std::fmt;

use super::error::{MAX_BYTES, UrlError};
use super::host::Host;

/// An absolute `http` or `https` URL.
///
/// The text stays as it was received, because documents repeat it and compare it byte by byte. A
/// URL is rejected if readers disagree about its host: with blanks, backslashes, user information
/// or a number that is not an address. `Debug` and `Display` omit the query and the fragment.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WebUrl {
    text: Box<str>,
    host: Host<'static>,
    port: u16,
    /// The start and the end of the path.
    path: (usize, usize),
}

impl WebUrl {
    /// Parses a URL that a document names: RFC 3986 applies, without a fragment, up to 8 KiB.
    ///
    /// # Errors
    ///
    /// [`UrlError`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.len() > MAX_BYTES {
            return Err(UrlError::TooLong);
        }
        if text.contains('#') {
            return Err(UrlError::UnexpectedFragment);
        }
        if !text.bytes().all(is_url_byte) || !has_whole_escapes(text) {
            return Err(UrlError::InvalidCharacter);
        }
        Self::parse_lenient(text)
    }

    /// Parses a URL that a person or a peer wrote for a browser or for a connection.
    ///
    /// As [`parse`](Self::parse), but accepts a fragment, any length, incomplete `%` escapes, and
    /// the characters `"<>^{|}` and the backtick. The rules for the host and the port are the same.
    ///
    /// # Errors
    ///
    /// [`UrlError`].
    pub fn parse_lenient(text: &str) -> Result<Self, UrlError> {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
        if !text.bytes().all(is_plain) {
            return Err(UrlError::InvalidCharacter);
        }
        let (scheme, rest) = text.split_once("://").ok_or(UrlError::UnsupportedScheme)?;
        let default_port = default_port(scheme).ok_or(UrlError::UnsupportedScheme)?;
        let start = text.len() - rest.len();
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, port) = authority(&rest[..end], default_port)?;
        let path_end = text.find(['?', '#']).unwrap_or(text.len());
        Ok(Self {
            text: text.into(),
            host: host.into_owned(),
            port,
            path: (start + end, path_end),
        })
    }

    /// The URL as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The path as it was written. It may be empty.
    pub fn path(&self) -> &str {
        &self.text[self.path.0..self.path.1]
    }

    /// The text between `?` and a fragment.
    pub fn query(&self) -> Option<&str> {
        let rest = self.text[self.path.1..].strip_prefix('?')?;
        Some(rest.split('#').next().unwrap_or_default())
    }

    /// The scheme, the host and the port as they were written: all in front of the path.
    pub fn front(&self) -> &str {
        &self.text[..self.path.0]
    }

    /// The host, in lower case.
    pub fn host(&self) -> &Host<'static> {
        &self.host
    }

    /// The host as it was written, without the brackets of an IPv6 address.
    pub fn host_as_written(&self) -> &str {
        let authority = self.front().split_once("://").map_or("", |(_, rest)| rest);
        match authority.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        }
    }

    /// The port, or that of the scheme if none was written.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether the scheme is `https`.
    pub fn is_secure(&self) -> bool {
        self.text.as_bytes()[4].eq_ignore_ascii_case(&b's')
    }

    /// Returns true for `https`, and for `http` to a [loopback host](Host::is_loopback).
    ///
    /// Tokens and users are sent only to such URLs, unless the developer allows a host.
    pub fn is_secure_or_loopback(&self) -> bool {
        self.is_secure() || self.host.is_loopback()
    }

    /// Whether the scheme, the host and the port are the same.
    pub fn has_origin_of(&self, other: &Self) -> bool {
        self.is_secure() == other.is_secure() && self.host == other.host && self.port == other.port
    }

    /// Another path at the same origin.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.front())
    }

    /// The form that names a server to others: the scheme and the host in lower case, without the
    /// default port, a path that is only a slash, or a fragment.
    ///
    /// Spec: [2025-11-25, Authorization, Canonical server URI][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#canonical-server-uri
    pub fn canonical(&self) -> String {
        let (scheme, default_port) = match self.is_secure() {
            true => ("https", 443),
            false => ("http", 80),
        };
        let port = match self.port {
            port if port == default_port => String::new(),
            port => format!(":{port}"),
        };
        let path = if self.path() == "/" { "" } else { self.path() };
        let query = self
            .query()
            .map_or(String::new(), |query| format!("?{query}"));
        format!("{scheme}://{}{port}{path}{query}", self.host)
    }
}

/// Omits the query, because users put keys there.
impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text[..self.path.1])
    }
}

impl fmt::Debug for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebUrl({self})")
    }
}

impl std::str::FromStr for WebUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::parse(text)
    }
}

fn is_url_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte)
}

fn has_whole_escapes(text: &str) -> bool {
    let is_hex = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    let behind = |start: usize| &text.as_bytes()[start + 1..];
    text.match_indices('%')
        .map(|(start, _)| behind(start))
        .all(|rest| is_hex(rest.first()) && is_hex(rest.get(1)))
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        _ if scheme.eq_ignore_ascii_case("https") => Some(443),
        _ if scheme.eq_ignore_ascii_case("http") => Some(80),
        _ => None,
    }
}

fn authority(text: &str, default_port: u16) -> Result<(Host<'_>, u16), UrlError> {
    if text.contains('@') {
        return Err(UrlError::UserInformation);
    }
    // The colons of an IPv6 address stand in front of the bracket.
    let start = text.rfind(']').unwrap_or(0);
    let colon = text[start..].find(':').map(|colon| start + colon);
    let host = Host::parse(&text[..colon.unwrap_or(text.len())])?;
    match colon {
        Some(colon) => Ok((host, port(&text[colon + 1..])?)),
        None => Ok((host, default_port)),
    }
}

fn port(digits: &str) -> Result<u16, UrlError> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = is_number.then(|| digits.parse().ok()).flatten();
    port.filter(|port| *port > 0).ok_or(UrlError::InvalidPort)
}

#[cfg(test)]
mod tests;
