//! The address of a client behind reverse proxies, which an operator names.
//!
//! A proxy appends the address of its own peer to a header. So the last address that belongs to no trusted
//! proxy is the client. All before it may be forged.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::sync::Arc;

use http::header::FORWARDED;
use http::{HeaderMap, HeaderName};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// An address of a proxy is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid address of a proxy: {0}; write an IP address or a network, such as 10.0.0.0/8")]
pub struct TrustedProxyError(Box<str>);

/// The reverse proxies whose header names the client; none by default.
///
/// Limits for each address count the clients behind such a proxy one by one. Without it, all clients
/// behind a proxy share its address. Name only proxies that append to the header or replace it.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies {
    networks: Arc<[Network]>,
    is_forwarded: bool,
}

impl TrustedProxies {
    /// Trusts the header `X-Forwarded-For` of these addresses and networks, such as `127.0.0.1` and
    /// `10.0.0.0/8`.
    ///
    /// # Errors
    ///
    /// [`TrustedProxyError`] for a text that is neither.
    pub fn x_forwarded_for(
        proxies: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, TrustedProxyError> {
        Self::new(proxies, false)
    }

    /// Trusts the header `Forwarded` (RFC 7239) of these addresses and networks.
    ///
    /// # Errors
    ///
    /// [`TrustedProxyError`] for a text that is neither.
    pub fn forwarded(
        proxies: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, TrustedProxyError> {
        Self::new(proxies, true)
    }

    fn new(
        proxies: impl IntoIterator<Item = impl AsRef<str>>,
        is_forwarded: bool,
    ) -> Result<Self, TrustedProxyError> {
        let networks = proxies.into_iter().map(|proxy| proxy.as_ref().parse());
        Ok(Self {
            networks: networks.collect::<Result<_, _>>()?,
            is_forwarded,
        })
    }

    /// Returns true if the address is that of a trusted proxy.
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.networks
            .iter()
            .any(|network| network.contains(address))
    }

    /// Finds the client of a request whose connection comes from `peer`.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.trusts(peer) {
            return peer;
        }
        let mut client = peer;
        for address in self.hops(headers) {
            // An address that is hidden or invalid counts as the proxy that wrote it.
            let Some(address) = address else {
                return client;
            };
            client = address;
            if !self.trusts(client) {
                return client;
            }
        }
        client
    }

    /// The addresses in the header, the last one first.
    fn hops<'h>(&self, headers: &'h HeaderMap) -> impl Iterator<Item = Option<IpAddr>> + 'h {
        let is_forwarded = self.is_forwarded;
        let name = if is_forwarded {
            FORWARDED
        } else {
            X_FORWARDED_FOR
        };
        let values: Vec<_> = headers.get_all(name).iter().collect();
        let values = values.into_iter().rev();
        let texts = values.map(|value| value.to_str().unwrap_or_default());
        let elements = texts.flat_map(|text| text.rsplit(unquoted(',')));
        elements.map(move |element| {
            if is_forwarded {
                element
                    .split(unquoted(';'))
                    .find_map(node)
                    .and_then(address)
            } else {
                address(element)
            }
        })
    }
}

/// Finds a separator that is not in quotes.
fn unquoted(separator: char) -> impl FnMut(char) -> bool {
    let mut is_quoted = false;
    move |found| {
        is_quoted ^= found == '"';
        found == separator && !is_quoted
    }
}

/// The value of the parameter `for`.
fn node(pair: &str) -> Option<&str> {
    let (name, value) = pair.trim().split_once('=')?;
    name.eq_ignore_ascii_case("for").then_some(value)
}

/// Reads an address, perhaps in quotes or brackets, perhaps with a port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split_once(']')?.0.parse().ok();
    }
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    text.rsplit_once(':')?.0.parse().ok()
}

/// Returns the unit of the limits for each address: an IPv4 address, or the first 64 bits of IPv6.
pub(crate) fn block_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// The addresses with the same first bits.
#[derive(Debug, Clone, Copy)]
struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differing = own.to_bits() ^ other.to_bits();
                differing.leading_zeros() >= self.bits
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differing = own.to_bits() ^ other.to_bits();
                differing.leading_zeros() >= self.bits
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = TrustedProxyError;

    fn from_str(text: &str) -> Result<Self, TrustedProxyError> {
        let invalid = || TrustedProxyError(text.into());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), str::parse).map_err(|_| invalid())?;
        if bits > most {
            return Err(invalid());
        }
        Ok(Self { address, bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(proxies: &TrustedProxies, peer: &str, headers: &[(&str, &str)]) -> String {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::try_from(*name).expect("a name");
            map.append(name, value.parse().expect("a value"));
        }
        let peer = peer.parse().expect("an address");
        proxies.client(peer, &map).to_string()
    }

    #[test]
    fn the_last_address_that_is_not_of_a_proxy_is_the_client() {
        let name = "x-forwarded-for";
        let proxies = TrustedProxies::x_forwarded_for(["10.0.0.0/8", "::1"]).expect("valid");
        for (peer, headers, expected) in [
            ("192.0.2.7", vec![(name, "192.0.2.1")], "192.0.2.7"),
            ("10.1.2.3", vec![], "10.1.2.3"),
            ("10.1.2.3", vec![(name, "192.0.2.1")], "192.0.2.1"),
            (
                "::ffff:10.1.2.3",
                vec![(name, "203.0.113.9, 192.0.2.1")],
                "192.0.2.1",
            ),
            (
                "::1",
                vec![(name, "203.0.113.9, 192.0.2.1 , 10.9.9.9")],
                "192.0.2.1",
            ),
            (
                "::1",
                vec![(name, "203.0.113.9"), (name, "192.0.2.1")],
                "192.0.2.1",
            ),
            ("::1", vec![(name, "192.0.2.1, unknown")], "::1"),
            (
                "::1",
                vec![(name, "192.0.2.1, unknown, 10.9.9.9")],
                "10.9.9.9",
            ),
            ("::1", vec![(name, "192.0.2.1:4711")], "192.0.2.1"),
            ("::1", vec![(name, "[2001:db8::1]:4711")], "2001:db8::1"),
            ("::1", vec![("forwarded", "for=192.0.2.1")], "::1"),
        ] {
            assert_eq!(client(&proxies, peer, &headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn forwarded_is_read_with_its_quotes() {
        let proxies = TrustedProxies::forwarded(["127.0.0.1"]).expect("valid");
        for (value, expected) in [
            ("for=192.0.2.1;proto=https;by=10.0.0.1", "192.0.2.1"),
            ("proto=https; For=\"[2001:db8::1]:4711\"", "2001:db8::1"),
            (
                "for=203.0.113.9, for=192.0.2.1;host=\"a, for=b\"",
                "192.0.2.1",
            ),
            // A quote that a client opens does not swallow the element of the proxy.
            ("for=\"203.0.113.9, for=192.0.2.1", "192.0.2.1"),
            ("for=_hidden", "127.0.0.1"),
            ("for=203.0.113.9, proto=https", "127.0.0.1"),
        ] {
            let headers = [("forwarded", value)];
            let client = client(&proxies, "127.0.0.1", &headers);
            assert_eq!(client, expected, "{value}");
        }
    }

    #[test]
    fn an_invalid_address_of_a_proxy_is_an_error() {
        for text in ["", "proxy", "10.0.0.0/33", "10.0.0.0/", "::/129", "10.0.0"] {
            assert!(TrustedProxies::forwarded([text]).is_err(), "{text}");
        }
        for text in ["10.0.0.0/0", "10.0.0.1/32", "::/0", "fd00::/8"] {
            assert!(TrustedProxies::forwarded([text]).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_block_of_ipv6_counts_as_one_address() {
        for (text, expected) in [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:3::1", "2001:db8:1:3::"),
        ] {
            let address = text.parse().expect("an address");
            assert_eq!(block_of(address).to_string(), expected);
        }
    }
}
