//! The network scope that is necessary to reach an address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where clouds keep the credentials of a machine, outside of the addresses of the link.
const CLOUD: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];
const CLOUD_SIX: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

/// Which addresses may be connected to, once a name is resolved.
///
/// Closed. Addresses of the link, where clouds keep the credentials of a machine, are never
/// reached, and neither are multicast and unspecified ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkScope {
    /// Addresses of the public network only.
    Public,
    /// Those, this machine and private networks.
    Private,
}

impl NetworkScope {
    /// Returns the scope that is necessary to reach an address; `None` if it must never be reached.
    pub fn of(address: IpAddr) -> Option<Self> {
        reach_of(address)
    }

    /// Whether an address may be connected to.
    pub fn allows(self, address: IpAddr) -> bool {
        match Self::of(address) {
            None => false,
            Some(Self::Public) => true,
            Some(Self::Private) => self == Self::Private,
        }
    }
}

/// Returns the scope that is necessary to reach an address; `None` if it must never be reached.
fn reach_of(address: IpAddr) -> Option<NetworkScope> {
    match address.to_canonical() {
        IpAddr::V4(four) => reach_of_four(four),
        IpAddr::V6(six) => reach_of_six(six),
    }
}

fn reach_of_four(address: Ipv4Addr) -> Option<NetworkScope> {
    let [first, second, third, _] = address.octets();
    if address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || first == 0
        || CLOUD.contains(&address)
    {
        return None;
    }
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_special = (first, second) == (198, 18)
        || (first, second) == (198, 19)
        || (first, second, third) == (192, 0, 0)
        || first >= 240;
    match address.is_loopback() || address.is_private() || is_shared || is_special {
        true => Some(NetworkScope::Private),
        false => Some(NetworkScope::Public),
    }
}

fn reach_of_six(address: Ipv6Addr) -> Option<NetworkScope> {
    let segments = address.segments();
    if address.is_unspecified()
        || address.is_multicast()
        || segments[0] & 0xffc0 == 0xfe80
        || CLOUD_SIX.contains(&address)
    {
        return None;
    }
    match translated(&segments) {
        Some(Translated::Globally(four)) => reach_of_four(four),
        // The network itself translates: nothing outside of it is reached by such an address.
        Some(Translated::Locally(four)) => reach_of_four(four).map(|_| NetworkScope::Private),
        None if is_global(&segments) => Some(NetworkScope::Public),
        None => Some(NetworkScope::Private),
    }
}

/// Whether an address is one of the public network: all of these are in `2000::/3`. `2001::/23` is
/// left out, because protocols use it, among them one that tunnels to other addresses (Teredo).
///
/// Spec: RFC 4291, 2.4; the IANA registry of special-purpose addresses.
fn is_global(segments: &[u16; 8]) -> bool {
    let is_of_protocols = segments[0] == 0x2001 && segments[1] < 0x200;
    segments[0] & 0xe000 == 0x2000 && !is_of_protocols
}

/// An address of the older protocol inside.
enum Translated {
    /// Wherever the packet goes: NAT64, 6to4, and the compatible form.
    Globally(Ipv4Addr),
    /// By translators of one network: NAT64 for local use, and the translated form.
    Locally(Ipv4Addr),
}

/// Spec: RFC 6052, 2; RFC 8215; RFC 3056, 2; RFC 2765, 2.1.
fn translated(segments: &[u16; 8]) -> Option<Translated> {
    use Translated::{Globally, Locally};
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match segments {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(Globally(join(*high, *low))),
        [0x64, 0xff9b, 1, .., high, low] => Some(Locally(join(*high, *low))),
        [0x2002, high, low, ..] => Some(Globally(join(*high, *low))),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(Locally(join(*high, *low))),
        [0, 0, 0, 0, 0, 0, high, low] if *high != 0 => Some(Globally(join(*high, *low))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // hardening: H-29
    #[test]
    fn an_address_of_a_private_network_needs_the_private_scope() {
        use NetworkScope::{Private, Public};
        for (address, expected) in [
            ("8.8.8.8", Some(Public)),
            ("2606:4700::1", Some(Public)),
            ("127.0.0.1", Some(Private)),
            ("10.0.0.1", Some(Private)),
            ("::ffff:10.0.0.1", Some(Private)),
            ("64:ff9b::a00:1", Some(Private)),
            ("fc00::1", Some(Private)),
            ("169.254.169.254", None),
            ("::ffff:169.254.169.254", None),
            ("64:ff9b::a9fe:a9fe", None),
            ("fe80::1", None),
            ("0.0.0.0", None),
            // Networks that translate for themselves: RFC 8215 and RFC 2765.
            ("64:ff9b:1::808:808", Some(Private)),
            ("64:ff9b:1:2:3:4:a00:1", Some(Private)),
            ("64:ff9b:1::a9fe:a9fe", None),
            ("::ffff:0:8.8.8.8", Some(Private)),
            ("::ffff:0:10.0.0.1", Some(Private)),
            ("::ffff:0:169.254.169.254", None),
            ("::ffff:8.8.8.8", Some(Public)),
            ("64:ff9b::808:808", Some(Public)),
            // Addresses outside of the global range.
            ("2001::1", Some(Private)),
            ("2001:200::1", Some(Public)),
            ("100::1", Some(Private)),
            ("5f00::1", Some(Private)),
            ("::1", Some(Private)),
            ("fec0::1", Some(Private)),
            // Clouds.
            ("168.63.129.16", None),
            ("192.0.0.192", None),
            ("100.100.100.200", None),
            ("fd20:ce::254", None),
            ("fd00:42::42", None),
            ("64:ff9b::a83f:8110", None),
        ] {
            let address: IpAddr = address.parse().expect("an address");
            assert_eq!(NetworkScope::of(address), expected, "{address}");
            assert_eq!(
                Public.allows(address),
                expected == Some(Public),
                "{address}"
            );
            assert_eq!(Private.allows(address), expected.is_some(), "{address}");
        }
    }
}
