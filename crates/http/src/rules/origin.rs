//! Allow-lists of hosts and origins, for protection from DNS rebinding.
//!
//! A web page can make a browser post to a local port, and can resolve its own name to that port (DNS
//! rebinding). `Origin` shows the first, `Host` the second. Both are parsed and compared by their
//! parts, never by prefix or suffix.
//!
//! Spec: [2025-11-25, Transports, Security warning][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning

use std::borrow::Cow;
use std::net::Ipv6Addr;
use std::sync::OnceLock;

use http::header::HOST;
use http::request::Parts;

use crate::rules::cause::{self, Cause};
use crate::rules::headers::single;
use crate::rules::request_headers::{Known, RequestHeaders};

/// The allowed values of `Host` and `Origin`.
///
/// The default allows loopback: `localhost` and all loopback addresses, on any port; not `*.localhost`. A
/// request without an `Origin` does not come from a web page and passes that check.
#[derive(Debug, Clone, Default)]
pub struct HostPolicy {
    hosts: Hosts,
    origins: Vec<Origin<'static>>,
    /// The first `Host` that was allowed. Most requests repeat it, and need not be parsed.
    allowed: OnceLock<Box<str>>,
}

/// The allowed hosts. Closed: three rules exist.
#[derive(Debug, Clone, Default)]
enum Hosts {
    #[default]
    Loopback,
    Listed(Vec<Host<'static>>),
    Any,
}

/// The reason why a request is rejected before its body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostError {
    /// The host is missing, repeated or invalid.
    Malformed,
    /// The host is not allowed.
    Host,
    /// The origin is not allowed, or is repeated.
    Origin,
}

impl HostError {
    /// Returns the response status and its reason.
    pub(crate) fn cause(self) -> &'static Cause {
        match self {
            Self::Malformed => &cause::INVALID_HOST,
            Self::Host => &cause::FOREIGN_HOST,
            Self::Origin => &cause::FOREIGN_ORIGIN,
        }
    }
}

impl HostPolicy {
    /// Allows loopback hosts only. This is the default.
    pub fn loopback() -> Self {
        Self::default()
    }

    /// Allows these hosts, and pages of these hosts, instead of loopback.
    ///
    /// An entry without a port stands for every port.
    ///
    /// # Errors
    ///
    /// [`HostPatternError`] for an entry that is not `host` or `host:port`.
    pub fn hosts<'a>(hosts: impl IntoIterator<Item = &'a str>) -> Result<Self, HostPatternError> {
        let owned = |text| {
            Host::parse(text)
                .map(Host::into_owned)
                .ok_or_else(|| HostPatternError::new(text))
        };
        let hosts = hosts.into_iter().map(owned).collect::<Result<_, _>>()?;
        Ok(Self {
            hosts: Hosts::Listed(hosts),
            ..Self::default()
        })
    }

    /// Allows every host, because a proxy in front of this endpoint checks it.
    pub fn any_host() -> Self {
        Self {
            hosts: Hosts::Any,
            ..Self::default()
        }
    }

    /// Also allows pages of this origin, such as `https://app.example`.
    ///
    /// # Errors
    ///
    /// [`HostPatternError`] for anything that is not `scheme://host` with an optional port, or `null`.
    pub fn with_origin(mut self, origin: &str) -> Result<Self, HostPatternError> {
        let parsed = Origin::parse(origin).ok_or_else(|| HostPatternError::new(origin))?;
        self.origins.push(parsed.into_owned());
        Ok(self)
    }

    /// Returns true if the policy lists hosts.
    pub(crate) fn is_configured(&self) -> bool {
        matches!(self.hosts, Hosts::Listed(_))
    }

    /// Returns true if only loopback hosts are allowed.
    pub(crate) fn names_loopback_only(&self) -> bool {
        matches!(self.hosts, Hosts::Loopback)
    }

    /// Checks the head of a request.
    ///
    /// # Errors
    ///
    /// [`HostError`], before any other check.
    pub(crate) fn check(
        &self,
        parts: &Parts,
        headers: &RequestHeaders<'_>,
    ) -> Result<(), HostError> {
        if !headers.has(Known::Origin) && self.is_repeated(parts, headers) {
            return Ok(());
        }
        let header = headers.single(Known::Host);
        let header = header.map_err(|_| HostError::Malformed)?;
        let host = self.admitted_host(parts, header)?;
        let origin = headers.single(Known::Origin);
        match origin.map_err(|_| HostError::Origin)? {
            None => Ok(()),
            Some(origin) if self.admits_origin(origin, &host) => Ok(()),
            Some(_) => Err(HostError::Origin),
        }
    }

    /// Whether a request without a host in its line repeats the first host that was allowed.
    fn is_repeated(&self, parts: &Parts, headers: &RequestHeaders<'_>) -> bool {
        let first = self.allowed.get();
        first.is_some_and(|first| headers.is_exactly(Known::Host, first))
            && parts.uri.authority().is_none()
    }

    /// Checks only the host, for requests that a layer may answer.
    ///
    /// # Errors
    ///
    /// [`HostError`].
    pub(crate) fn check_host(&self, parts: &Parts) -> Result<(), HostError> {
        let header = single(&parts.headers, &HOST);
        let header = header.map_err(|_| HostError::Malformed)?;
        self.admitted_host(parts, header).map(drop)
    }

    fn admitted_host<'p>(
        &self,
        parts: &'p Parts,
        header: Option<&'p str>,
    ) -> Result<Host<'p>, HostError> {
        let host = requested_host(parts, header)?;
        if !self.admits_host(&host) {
            return Err(HostError::Host);
        }
        if let (None, Some(text)) = (parts.uri.authority(), header) {
            self.allowed.get_or_init(|| text.into());
        }
        Ok(host)
    }

    fn admits_host(&self, host: &Host<'_>) -> bool {
        match &self.hosts {
            Hosts::Loopback => host.stays_here(),
            Hosts::Listed(listed) => listed.iter().any(|entry| entry.covers(host)),
            Hosts::Any => true,
        }
    }

    fn admits_origin(&self, origin: &str, host: &Host<'_>) -> bool {
        Origin::parse(origin)
            .is_some_and(|origin| self.origins.contains(&origin) || self.is_own(&origin, host))
    }

    fn is_own(&self, origin: &Origin<'_>, host: &Host<'_>) -> bool {
        match &self.hosts {
            Hosts::Loopback => origin.is_plain_loopback(),
            Hosts::Listed(_) => origin.is_of(host),
            // The host is unchecked, so an origin that agrees with it proves nothing.
            Hosts::Any => false,
        }
    }
}

/// Returns the host of a request. A host in the request line must agree with the header.
fn requested_host<'p>(parts: &'p Parts, header: Option<&'p str>) -> Result<Host<'p>, HostError> {
    let line = parts.uri.authority().map(http::uri::Authority::as_str);
    let host = line
        .or(header)
        .and_then(Host::parse)
        .ok_or(HostError::Malformed)?;
    let agrees = match (line, header) {
        (Some(_), Some(header)) => Host::parse(header).is_some_and(|header| header == host),
        _ => true,
    };
    agrees.then_some(host).ok_or(HostError::Malformed)
}

/// A text that cannot be on an allow-list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPatternError {
    text: Box<str>,
}

impl HostPatternError {
    fn new(text: &str) -> Self {
        Self { text: text.into() }
    }
}

impl std::fmt::Display for HostPatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "invalid host or origin {:?}; use `host`, `host:port` or `scheme://host:port`",
            self.text
        )
    }
}

impl std::error::Error for HostPatternError {}

/// A host and its explicit port.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Host<'a> {
    /// Lower case; an IPv6 address in its shortest form, in brackets.
    name: Cow<'a, str>,
    port: Option<u16>,
}

impl<'a> Host<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (name, rest) = match text.strip_prefix('[') {
            Some(inner) => {
                let (address, rest) = inner.split_once(']')?;
                let address = address.parse::<Ipv6Addr>().ok()?;
                (format!("[{address}]").into(), rest)
            }
            None => {
                let (name, rest) = text.split_at(text.find(':').unwrap_or(text.len()));
                (lower(name), rest)
            }
        };
        let port = match rest.strip_prefix(':') {
            Some(port) => Some(parse_port(port)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        is_name(&name).then_some(Self { name, port })
    }

    fn into_owned(self) -> Host<'static> {
        Host {
            name: self.name.into_owned().into(),
            port: self.port,
        }
    }

    /// Returns true for loopback hosts, which no web page can own.
    fn stays_here(&self) -> bool {
        pintle_runtime::Host::parse(&self.name).is_ok_and(|host| host.is_loopback())
    }

    fn covers(&self, other: &Host<'_>) -> bool {
        self.name == other.name && (self.port.is_none() || self.port == other.port)
    }
}

/// Returns the text in lower case, borrowed if it is already, because every request needs it.
fn lower(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return text.to_ascii_lowercase().into();
    }
    text.into()
}

fn parse_port(text: &str) -> Option<u16> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    !name.is_empty() && name.bytes().all(is_allowed)
}

/// The origin of a page: a scheme, a host, and a port, which is always known for `http` and `https`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin<'a> {
    Null,
    Site {
        scheme: Cow<'a, str>,
        host: Host<'a>,
    },
}

impl<'a> Origin<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        if text == "null" {
            return Some(Self::Null);
        }
        let (scheme, host) = text.split_once("://")?;
        let (scheme, mut host) = (lower(scheme), Host::parse(host)?);
        host.port = host.port.or(match &*scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let is_scheme = !scheme.is_empty() && scheme.bytes().all(is_allowed);
        is_scheme.then_some(Self::Site { scheme, host })
    }

    fn into_owned(self) -> Origin<'static> {
        match self {
            Self::Null => Origin::Null,
            Self::Site { scheme, host } => Origin::Site {
                scheme: scheme.into_owned().into(),
                host: host.into_owned(),
            },
        }
    }

    fn is_plain_loopback(&self) -> bool {
        matches!(self, Self::Site { scheme, host } if scheme == "http" && host.stays_here())
    }

    /// Returns true if the page has the requested host. A host without a port matches https.
    fn is_of(&self, host: &Host<'_>) -> bool {
        let port = host.port.unwrap_or(443);
        matches!(self, Self::Site { host: own, .. } if own.name == host.name && own.port == Some(port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(access: &HostPolicy, host: &str, origin: Option<&str>) -> Result<(), HostError> {
        let mut request = http::Request::post("/mcp").header(HOST, host);
        if let Some(origin) = origin {
            request = request.header(http::header::ORIGIN, origin);
        }
        check_head(access, request.body(()).expect("a request"))
    }

    fn check_head(access: &HostPolicy, request: http::Request<()>) -> Result<(), HostError> {
        let (parts, ()) = request.into_parts();
        access.check(&parts, &RequestHeaders::of(&parts.headers))
    }

    // spec: 2025-11-25 TRANS-HTTP-02, TRANS-HTTP-03
    // spec: 2026-07-28 N-HTTP-02, N-HTTP-03
    // hardening: H-1, H-2, H-5
    #[test]
    fn a_loopback_endpoint_serves_pages_of_loopback_only() {
        let own = [
            "http://localhost:8000",
            "http://127.0.0.1",
            "http://[::1]:8000",
            "HTTP://LocalHost:1",
        ];
        let foreign = [
            "http://evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1:8000.evil.example",
            "http://evil@localhost",
            "http://localhost#evil",
            "http://localhost/",
            "http://localhost:99999",
            "https://localhost:8000",
            "ftp://localhost",
            "//localhost",
            "null",
            "",
        ];
        let access = HostPolicy::loopback();
        for origin in own {
            assert_eq!(
                check(&access, "localhost:8000", Some(origin)),
                Ok(()),
                "{origin}"
            );
        }
        for origin in foreign {
            assert_eq!(
                check(&access, "localhost:8000", Some(origin)),
                Err(HostError::Origin),
                "{origin}"
            );
        }
    }

    // hardening: H-3, H-4, H-5
    #[test]
    fn a_loopback_endpoint_answers_to_loopback_names_only() {
        let rows = [
            ("localhost", Ok(())),
            ("LOCALHOST:8000", Ok(())),
            ("127.0.0.1:8000", Ok(())),
            ("[::1]:8000", Ok(())),
            ("[0:0::1]", Ok(())),
            ("evil.example", Err(HostError::Host)),
            ("evil.example:8000", Err(HostError::Host)),
            ("127.0.0.2", Ok(())),
            ("[::ffff:127.0.0.1]:8000", Ok(())),
            ("0.0.0.0", Err(HostError::Host)),
            ("app.localhost", Err(HostError::Host)),
            ("localhost.", Err(HostError::Host)),
            ("evil.example:1@localhost", Err(HostError::Malformed)),
            ("localhost:x", Err(HostError::Malformed)),
            ("[::1", Err(HostError::Malformed)),
            ("[::1]8000", Err(HostError::Malformed)),
            ("", Err(HostError::Malformed)),
        ];
        for (host, expected) in rows {
            assert_eq!(
                check(&HostPolicy::loopback(), host, None),
                expected,
                "{host}"
            );
        }
        let pair = check(
            &HostPolicy::loopback(),
            "evil.example",
            Some("http://evil.example"),
        );
        assert_eq!(pair, Err(HostError::Host));
    }

    // hardening: H-11
    // spec: 2026-07-28 A-36
    #[test]
    fn listed_names_compare_by_their_parts() {
        let access = HostPolicy::hosts(["A.example", "[::1]:8080"]).expect("hosts");
        let access = access.with_origin("https://b:443").expect("an origin");
        let access = access.with_origin("HTTP://C").expect("an origin");
        let rows = [
            ("a.EXAMPLE:9", None, true),
            ("a.example", Some("https://a.example"), true),
            ("a.example", Some("https://A.example:443"), true),
            ("a.example:8000", Some("http://a.example:8000"), true),
            ("a.example", Some("http://a.example"), false),
            ("a.example", Some("https://b"), true),
            ("a.example", Some("http://c:80"), true),
            ("a.example", Some("https://c"), false),
            ("a.example", Some("null"), false),
            ("[::1]:8080", Some("http://[::1]:8080"), true),
            ("[::1]:8081", None, false),
            ("localhost", None, false),
        ];
        for (host, origin, expected) in rows {
            assert_eq!(
                check(&access, host, origin).is_ok(),
                expected,
                "{host} {origin:?}"
            );
        }
    }

    #[test]
    fn an_unchecked_name_does_not_vouch_for_a_page() {
        let access = HostPolicy::any_host();
        assert_eq!(check(&access, "evil.example", None), Ok(()));
        assert_eq!(
            check(&access, "evil.example", Some("https://evil.example")),
            Err(HostError::Origin)
        );
    }

    #[test]
    fn a_null_origin_passes_only_when_listed() {
        let access = HostPolicy::loopback()
            .with_origin("null")
            .expect("an origin");
        assert_eq!(check(&access, "localhost", Some("null")), Ok(()));
    }

    // hardening: H-62
    #[test]
    fn one_host_must_be_named_and_only_one() {
        let none = http::Request::post("/mcp").body(()).expect("a request");
        assert_eq!(
            check_head(&HostPolicy::loopback(), none),
            Err(HostError::Malformed)
        );
        let two = http::Request::post("/mcp")
            .header(HOST, "localhost")
            .header(HOST, "localhost");
        let two = two.body(()).expect("a request");
        assert_eq!(
            check_head(&HostPolicy::loopback(), two),
            Err(HostError::Malformed)
        );
        let disagreeing = http::Request::post("http://localhost/mcp").header(HOST, "evil.example");
        let disagreeing = disagreeing.body(()).expect("a request");
        assert_eq!(
            check_head(&HostPolicy::loopback(), disagreeing),
            Err(HostError::Malformed)
        );
    }

    #[test]
    fn a_host_that_was_allowed_before_lets_nothing_else_pass() {
        let access = HostPolicy::hosts(["harbour.example"]).expect("hosts");
        let repeated = "harbour.example:8000";
        for _ in 0..2 {
            assert_eq!(check(&access, repeated, None), Ok(()));
            let foreign = Some("https://evil.example");
            assert_eq!(check(&access, repeated, foreign), Err(HostError::Origin));
            for other in ["evil.example", "harbour.example:80000", "harbour.exampl"] {
                assert!(check(&access, other, None).is_err(), "{other}");
            }
            let line = http::Request::post("http://evil.example/mcp").header(HOST, repeated);
            let line = line.body(()).expect("a request");
            assert_eq!(check_head(&access, line), Err(HostError::Malformed));
        }
    }
}
