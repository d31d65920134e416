//! Addresses in metadata: taken apart, and kept as they were written.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How long an address may be, in bytes.
const MOST_BYTES: usize = 8 << 10;

/// An absolute `http` or `https` address.
///
/// The text stays as it was received: documents repeat it, and are compared with it byte by byte.
/// What browsers and parsers read in different ways is refused: blanks, backslashes, quotes, user
/// information, numbers that stand for an address without being one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WebUrl {
    text: Box<str>,
    host: Host,
    port: u16,
    /// Where the path begins, and where it ends.
    path: (usize, usize),
}

/// Whom an address names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Host {
    /// Lower case.
    Name(Box<str>),
    Address(IpAddr),
}

/// Why a text is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidUrl {
    /// A character that has to be encoded, or one that readers take in different ways.
    #[error("it has a character that no URL has")]
    Character,
    /// Something other than `http` and `https`.
    #[error("its scheme is not https")]
    Scheme,
    /// No host, or none that means one thing only.
    #[error("its host is none")]
    Host,
    /// A name or a password in front of the host.
    #[error("it has user information")]
    UserInformation,
    /// A part behind `#`.
    #[error("it has a fragment")]
    Fragment,
    /// Too long.
    #[error("it is longer than {MOST_BYTES} bytes")]
    TooLong,
}

impl WebUrl {
    /// Checks an address.
    ///
    /// # Errors
    ///
    /// [`InvalidUrl`].
    pub fn parse(text: &str) -> Result<Self, InvalidUrl> {
        if text.len() > MOST_BYTES {
            return Err(InvalidUrl::TooLong);
        }
        if text.contains('#') {
            return Err(InvalidUrl::Fragment);
        }
        if !text.bytes().all(is_url_byte) || !has_whole_escapes(text) {
            return Err(InvalidUrl::Character);
        }
        let (scheme, rest) = text.split_once("://").ok_or(InvalidUrl::Scheme)?;
        let port = match scheme.to_ascii_lowercase().as_str() {
            "https" => 443,
            "http" => 80,
            _ => return Err(InvalidUrl::Scheme),
        };
        let start = text.len() - rest.len();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, port) = authority(&rest[..end], port)?;
        let path_end = text.find('?').unwrap_or(text.len());
        Ok(Self {
            text: text.into(),
            host,
            port,
            path: (start + end, path_end),
        })
    }

    /// The address as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The path as it was written; empty when there is none.
    pub fn path(&self) -> &str {
        &self.text[self.path.0..self.path.1]
    }

    /// What is behind the `?`.
    pub fn query(&self) -> Option<&str> {
        self.text[self.path.1..].strip_prefix('?')
    }

    /// The scheme, the host and the port as they were written: all in front of the path.
    pub fn front(&self) -> &str {
        &self.text[..self.path.0]
    }

    /// Whether it is `https`.
    pub fn is_secure(&self) -> bool {
        self.text.as_bytes()[4].eq_ignore_ascii_case(&b's')
    }

    /// Whether the scheme, the host and the port are the same.
    pub fn has_origin_of(&self, other: &Self) -> bool {
        self.is_secure() == other.is_secure() && self.host == other.host && self.port == other.port
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// Another path at the same origin.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.front())
    }

    /// The form in which a server is named to others: the scheme and the host in lower case, no
    /// port that goes without saying, no path that is only a slash.
    ///
    /// Spec: [2025-11-25, Authorization, Canonical server URI][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#canonical-server-uri
    pub fn canonical(&self) -> String {
        let (scheme, own) = match self.is_secure() {
            true => ("https", 443),
            false => ("http", 80),
        };
        let port = match self.port {
            port if port == own => String::new(),
            port => format!(":{port}"),
        };
        let path = if self.path() == "/" { "" } else { self.path() };
        let query = self
            .query()
            .map_or(String::new(), |query| format!("?{query}"));
        format!("{scheme}://{}{port}{path}{query}", self.host)
    }
}

/// Without the query: people put keys there.
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

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
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

fn authority(text: &str, own: u16) -> Result<(Host, u16), InvalidUrl> {
    if text.contains('@') {
        return Err(InvalidUrl::UserInformation);
    }
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, behind) = rest.split_once(']').ok_or(InvalidUrl::Host)?;
            let address: Ipv6Addr = host.parse().map_err(|_| InvalidUrl::Host)?;
            (
                Host::Address(address.into()),
                behind.strip_prefix(':').map_or(
                    if behind.is_empty() {
                        Ok(None)
                    } else {
                        Err(InvalidUrl::Host)
                    },
                    |port| Ok(Some(port)),
                )?,
            )
        }
        None => match text.split_once(':') {
            Some((host, port)) => (named(host)?, Some(port)),
            None => (named(text)?, None),
        },
    };
    let port = match port {
        None => own,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or(InvalidUrl::Host)?,
        Some(_) => return Err(InvalidUrl::Host),
    };
    Ok((host, port))
}

/// A name, or four numbers. What ends in a number and is no such address is one to some readers
/// and a name to others.
fn named(host: &str) -> Result<Host, InvalidUrl> {
    let host = host.to_ascii_lowercase();
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return Ok(Host::Address(address.into()));
    }
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let whole = host.strip_suffix('.').unwrap_or(&host);
    let last = whole.rsplit('.').next().unwrap_or_default();
    let digits = last.strip_prefix("0x").unwrap_or(last);
    let is_number = match last.starts_with("0x") {
        true => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        false => digits.bytes().all(|byte| byte.is_ascii_digit()),
    };
    let has_gap = whole.split('.').any(str::is_empty);
    if !host.bytes().all(is_name_byte) || is_number || has_gap {
        return Err(InvalidUrl::Host);
    }
    Ok(Host::Name(whole.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).expect(text)
    }

    #[test]
    fn an_address_is_taken_apart_and_kept_as_it_is() {
        let it = url("HTTPS://A.Example:8443/x/%7Ey?z=1");
        assert_eq!((it.path(), it.query()), ("/x/%7Ey", Some("z=1")));
        assert_eq!(it.front(), "HTTPS://A.Example:8443");
        assert_eq!(it.as_str(), "HTTPS://A.Example:8443/x/%7Ey?z=1");
        assert_eq!(it.to_string(), "HTTPS://A.Example:8443/x/%7Ey");
        assert!(it.is_secure() && it.has_origin_of(&url("https://a.example:8443")));
        assert!(!it.has_origin_of(&url("https://a.example")));
        assert_eq!(
            (url("http://a").path(), url("http://a?x").query()),
            ("", Some("x"))
        );
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
    fn what_two_readers_take_for_two_things_is_refused() {
        for (text, fault) in [
            ("javascript:alert(1)", InvalidUrl::Scheme),
            ("file:///etc/passwd", InvalidUrl::Scheme),
            ("data:text/html,x", InvalidUrl::Scheme),
            ("vbscript://a/x", InvalidUrl::Scheme),
            ("ftp://a.example/", InvalidUrl::Scheme),
            ("//a.example/", InvalidUrl::Scheme),
            ("\\\\a\\share", InvalidUrl::Character),
            ("https://a.example\\@b.example/", InvalidUrl::Character),
            ("https://a.example/ x", InvalidUrl::Character),
            ("https://a.example/`id`", InvalidUrl::Character),
            ("https://a.example/%PATH%", InvalidUrl::Character),
            ("https://a.example/\nx", InvalidUrl::Character),
            ("https://a.example/#x", InvalidUrl::Fragment),
            ("https://u:p@a.example/", InvalidUrl::UserInformation),
            ("https://", InvalidUrl::Host),
            ("https:///x", InvalidUrl::Host),
            ("https://a..example/", InvalidUrl::Host),
            ("https://0x7f.1/", InvalidUrl::Host),
            ("https://2130706433/", InvalidUrl::Host),
            ("https://127.1/", InvalidUrl::Host),
            ("https://0x7f000001/", InvalidUrl::Host),
            ("https://0177.0.0.1/", InvalidUrl::Host),
            ("https://[::1/", InvalidUrl::Host),
            ("https://a.example:0/", InvalidUrl::Host),
            ("https://a.example:+1/", InvalidUrl::Host),
            ("https://a.example:/", InvalidUrl::Host),
            ("https://a%2eexample/", InvalidUrl::Host),
        ] {
            assert_eq!(WebUrl::parse(text), Err(fault), "{text}");
        }
        let long = |bytes: usize| format!("https://a/{}", "x".repeat(bytes - 10));
        assert!(WebUrl::parse(&long(MOST_BYTES)).is_ok());
        assert_eq!(
            WebUrl::parse(&long(MOST_BYTES + 1)),
            Err(InvalidUrl::TooLong)
        );
    }
}
