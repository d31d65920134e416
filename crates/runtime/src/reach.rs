//! What it takes to reach an address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Which addresses may be connected to, once a name is resolved.
///
/// Closed. Addresses of the link, where clouds keep the credentials of a machine, are never
/// reached, and neither are multicast and unspecified ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Addresses of the public network only.
    Public,
    /// Those, this machine and private networks.
    Private,
}

impl Reach {
    /// What it takes to reach an address; none when it is never reached.
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

/// What it takes to reach an address; none when it is never reached.
fn reach_of(address: IpAddr) -> Option<Reach> {
    match address.to_canonical() {
        IpAddr::V4(four) => reach_of_four(four),
        IpAddr::V6(six) => reach_of_six(six),
    }
}

fn reach_of_four(address: Ipv4Addr) -> Option<Reach> {
    let [first, second, third, _] = address.octets();
    if address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || first == 0
        || address == Ipv4Addr::new(100, 100, 100, 200)
    {
        return None;
    }
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_special = (first, second) == (198, 18)
        || (first, second) == (198, 19)
        || (first, second, third) == (192, 0, 0)
        || first >= 240;
    match address.is_loopback() || address.is_private() || is_shared || is_special {
        true => Some(Reach::Private),
        false => Some(Reach::Public),
    }
}

fn reach_of_six(address: Ipv6Addr) -> Option<Reach> {
    const CLOUD: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    let segments = address.segments();
    if address.is_unspecified()
        || address.is_multicast()
        || segments[0] & 0xffc0 == 0xfe80
        || address == CLOUD
    {
        return None;
    }
    // What is translated to an address of the older protocol is as private as that one.
    if let Some(four) = translated(&segments) {
        return reach_of_four(four);
    }
    let is_local = segments[0] & 0xfe00 == 0xfc00 || segments[0] & 0xffc0 == 0xfec0;
    match address.is_loopback() || is_local {
        true => Some(Reach::Private),
        false => Some(Reach::Public),
    }
}

/// The older address inside: NAT64, 6to4, and the compatible form.
fn translated(segments: &[u16; 8]) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match segments {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(join(*high, *low)),
        [0x2002, high, low, ..] => Some(join(*high, *low)),
        [0, 0, 0, 0, 0, 0, high, low] if *high != 0 => Some(join(*high, *low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // hardening: H-29
    #[test]
    fn what_leads_into_a_private_network_takes_more_to_reach() {
        use Reach::{Private, Public};
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
        ] {
            let address: IpAddr = address.parse().expect("an address");
            assert_eq!(Reach::of(address), expected, "{address}");
            assert_eq!(
                Public.allows(address),
                expected == Some(Public),
                "{address}"
            );
            assert_eq!(Private.allows(address), expected.is_some(), "{address}");
        }
    }
}
