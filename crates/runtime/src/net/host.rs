//! The host of a URL, and the one meaning of loopback.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::error::UrlError;

/// The host of a URL or of a `Host` header: a name, or an IP address.
///
/// Names are compared without case. A final dot belongs to the name, because `localhost.` is not
/// in the hosts file of a system. `Display` writes lower case, an IPv6 address in brackets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Host<'a>(Kind<'a>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Kind<'a> {
    // Lower case, because names are compared without case.
    Name(Cow<'a, str>),
    Address(IpAddr),
}

impl<'a> Host<'a> {
    /// Parses a host without a port. An IPv6 address stands in brackets.
    ///
    /// A name consists of letters, digits, `-`, `_` and dots. A text that ends in a number and is
    /// not an IPv4 address is rejected, because some readers take it for an address.
    ///
    /// # Errors
    ///
    /// [`UrlError::InvalidHost`].
    pub fn parse(text: &'a str) -> Result<Self, UrlError> {
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or(UrlError::InvalidHost)?;
            let address: Ipv6Addr = inner.parse().map_err(|_| UrlError::InvalidHost)?;
            return Ok(IpAddr::from(address).into());
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(IpAddr::from(address).into());
        }
        match is_name(text) {
            true => Ok(Self(Kind::Name(lower_case(text)))),
            false => Err(UrlError::InvalidHost),
        }
    }

    /// Copies the name, so that the host does not borrow from a text.
    pub fn into_owned(self) -> Host<'static> {
        Host(match self.0 {
            Kind::Name(name) => Kind::Name(name.into_owned().into()),
            Kind::Address(address) => Kind::Address(address),
        })
    }

    /// The address, if the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        match &self.0 {
            Kind::Name(_) => None,
            Kind::Address(address) => Some(*address),
        }
    }

    /// The name in lower case, without a final dot, if the host is not an address.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Name(name) => Some(name.strip_suffix('.').unwrap_or(name)),
            Kind::Address(_) => None,
        }
    }

    /// Returns true for `localhost` and for loopback addresses, also those mapped to IPv6.
    ///
    /// This narrow set decides about permissions: plain HTTP for tokens and users, and the default
    /// allow-list of hosts. `*.localhost` and `localhost.` are not in it, because some resolvers
    /// ask the network for them. `0.0.0.0` and `::` are not in it either.
    pub fn is_loopback(&self) -> bool {
        match &self.0 {
            Kind::Name(name) => name == LOCALHOST,
            Kind::Address(address) => address.to_canonical().is_loopback(),
        }
    }

    /// Returns true for loopback hosts, `localhost.`, and names that end in `.localhost`.
    ///
    /// This wide set decides about refusals: a public server cannot send a client there, and a
    /// proxy does not receive requests for it.
    pub fn is_local(&self) -> bool {
        let is_local_name = |name: &str| {
            name.strip_suffix(LOCALHOST)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        self.is_loopback() || self.name().is_some_and(is_local_name)
    }
}

impl From<IpAddr> for Host<'_> {
    fn from(address: IpAddr) -> Self {
        Self(Kind::Address(address))
    }
}

impl fmt::Display for Host<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Name(name) => f.write_str(name),
            Kind::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Kind::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

const LOCALHOST: &str = "localhost";

fn lower_case(text: &str) -> Cow<'_, str> {
    match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => text.to_ascii_lowercase().into(),
        false => text.into(),
    }
}

fn is_name(text: &str) -> bool {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let labels = text.strip_suffix('.').unwrap_or(text);
    let has_empty_label = labels.split('.').any(str::is_empty);
    let last = labels.rsplit('.').next().unwrap_or_default();
    text.bytes().all(is_name_byte) && !has_empty_label && !is_number(last)
}

/// Spec: WHATWG URL, 3.5, the ends-in-a-number checker.
fn is_number(label: &str) -> bool {
    let hex = label
        .strip_prefix("0x")
        .or_else(|| label.strip_prefix("0X"));
    match hex {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Host<'_> {
        Host::parse(text).expect(text)
    }

    #[test]
    fn loopback_has_one_meaning() {
        const YES: bool = true;
        const NO: bool = false;
        // The columns: is it loopback (narrow), and is it local (wide)?
        for (text, is_loopback, is_local) in [
            ("localhost", YES, YES),
            ("LocalHost", YES, YES),
            ("127.0.0.1", YES, YES),
            ("127.0.0.2", YES, YES),
            ("127.255.255.255", YES, YES),
            ("[::1]", YES, YES),
            ("[0:0:0:0:0:0:0:1]", YES, YES),
            ("[::ffff:127.0.0.1]", YES, YES),
            ("[::ffff:7f00:2]", YES, YES),
            ("localhost.", NO, YES),
            ("app.localhost", NO, YES),
            ("a.b.LOCALHOST", NO, YES),
            ("app.localhost.", NO, YES),
            ("0.0.0.0", NO, NO),
            ("[::]", NO, NO),
            ("[::ffff:0.0.0.0]", NO, NO),
            ("[::127.0.0.1]", NO, NO),
            ("[::ffff:10.0.0.1]", NO, NO),
            ("[::2]", NO, NO),
            ("10.0.0.1", NO, NO),
            ("128.0.0.1", NO, NO),
            ("evillocalhost", NO, NO),
            ("localhost.evil.example", NO, NO),
            ("127.0.0.1.evil.example", NO, NO),
            ("localhost.localdomain", NO, NO),
        ] {
            assert_eq!(host(text).is_loopback(), is_loopback, "{text}");
            assert_eq!(host(text).is_local(), is_local, "{text}");
        }
    }

    #[test]
    fn a_host_is_written_in_one_form() {
        for (text, written) in [
            ("A.Example", "a.example"),
            ("a.example.", "a.example."),
            ("under_score.example", "under_score.example"),
            ("192.168.0.1", "192.168.0.1"),
            ("[2001:DB8:0:0::1]", "[2001:db8::1]"),
            ("[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]"),
        ] {
            assert_eq!(host(text).to_string(), written);
            assert_eq!(host(text), host(written), "{text}");
        }
        assert_ne!(host("a.example."), host("a.example"));
        assert_ne!(host("[::ffff:127.0.0.1]"), host("127.0.0.1"));
    }

    #[test]
    fn a_host_is_a_name_or_an_address() {
        let address: IpAddr = "::1".parse().expect("an address");
        assert_eq!(host("[::1]").address(), Some(address));
        assert_eq!(host("[::1]").name(), None);
        assert_eq!(host("Metadata.Internal.").name(), Some("metadata.internal"));
        assert_eq!(host("a.example").address(), None);
        assert_eq!(Host::from(address), host("[::1]").into_owned());
    }

    // hardening: H-29
    #[test]
    fn a_host_with_two_meanings_is_rejected() {
        for text in [
            "",
            ".",
            "..",
            "a..b",
            ".a",
            "a..",
            "127.1",
            "2130706433",
            "0x7f.1",
            "0x7f000001",
            "0X7F000001",
            "0x",
            "0177.0.0.1",
            "1.2.3.4.5",
            "1.2.3.4.",
            "a.1",
            "a%2eexample",
            "a b",
            "a:1",
            "[::1",
            "::1",
            "[]",
            "[::1]x",
            "[fe80::1%eth0]",
            "[127.0.0.1]",
            "b\u{fc}cher",
            "a@b",
            "a/b",
            "a\\b",
        ] {
            assert_eq!(Host::parse(text), Err(UrlError::InvalidHost), "{text}");
        }
    }
}
