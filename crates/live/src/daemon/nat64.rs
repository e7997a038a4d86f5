//! IPv4 addresses behind a network with IPv6 alone: inside addresses with a prefix of its own (RFC 6052), which is
//! found by the name of a well-known IPv4 host (RFC 7050).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The name that is looked up: it has IPv4 addresses only, so that an IPv6 address of it was made by the network. The
/// port has no meaning.
pub const WELL_KNOWN: &str = "ipv4only.arpa:9";
/// Its addresses (RFC 7050, section 2.2).
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(192, 0, 0, 170), Ipv4Addr::new(192, 0, 0, 171)];
/// Possible lengths of a prefix (RFC 6052, section 2.2), the most usual first.
const LENGTHS: [u8; 6] = [96, 64, 56, 48, 40, 32];
/// Bits 64 to 71 are zero (RFC 6052, section 2.2): an address never goes over them.
const ZERO: usize = 8;

/// A prefix in front of IPv4 addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix64 {
    bytes: [u8; 16],
    length: u8,
}

impl Prefix64 {
    /// Indices of the four bytes of an IPv4 address.
    fn places(length: u8) -> [usize; 4] {
        let first = usize::from(length / 8);
        [0, 1, 2, 3].map(|at| {
            let place = first + at;
            place + usize::from(first <= ZERO && place >= ZERO)
        })
    }

    /// The address behind which an IPv4 host is reached.
    pub fn address(self, host: Ipv4Addr) -> Ipv6Addr {
        let mut bytes = self.bytes;
        for (place, byte) in Self::places(self.length).into_iter().zip(host.octets()) {
            bytes[place] = byte;
        }
        Ipv6Addr::from(bytes)
    }

    /// The prefix of this length with which an address contains an IPv4 host.
    fn of(address: Ipv6Addr, length: u8, host: Ipv4Addr) -> Option<Self> {
        let mut bytes = [0; 16];
        let prefix = usize::from(length / 8);
        bytes[..prefix].copy_from_slice(&address.octets()[..prefix]);
        let found = Self { bytes, length };
        (found.address(host) == address).then_some(found)
    }
}

/// The prefixes that these addresses of [`WELL_KNOWN`] show. One that both IPv4 addresses show is certain; where none
/// is, what one of them shows counts, if it can be read in one way only (RFC 7050, section 3).
pub fn prefixes(addresses: impl Iterator<Item = IpAddr>) -> Vec<Prefix64> {
    let six = addresses.filter_map(|address| match address {
        IpAddr::V6(address) => Some(address),
        IpAddr::V4(_) => None,
    });
    let six: Vec<Ipv6Addr> = six.collect();
    let shown = |host: Ipv4Addr| {
        let readings = move |address: &Ipv6Addr| {
            let address = *address;
            LENGTHS.into_iter().filter_map(move |length| Prefix64::of(address, length, host))
        };
        six.iter().map(|address| readings(address).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let [first, second] = ADDRESSES.map(shown);
    let mut found: Vec<Prefix64> = Vec::new();
    let certain = first.iter().flatten().filter(|prefix| second.iter().flatten().any(|other| other == *prefix));
    let single = first.iter().chain(&second).filter(|readings| readings.len() == 1).flatten();
    let is_certain = certain.clone().next().is_some();
    for prefix in certain.chain(single.filter(|_| !is_certain)) {
        if !found.contains(prefix) {
            found.push(*prefix);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 6052, section 2.4.
    #[test]
    fn the_standards_examples() {
        let host = Ipv4Addr::new(192, 0, 2, 33);
        for (prefix, length, address) in [
            ("2001:db8::", 32, "2001:db8:c000:221::"),
            ("2001:db8:100::", 40, "2001:db8:1c0:2:21::"),
            ("2001:db8:122::", 48, "2001:db8:122:c000:2:2100::"),
            ("2001:db8:122:300::", 56, "2001:db8:122:3c0:0:221::"),
            ("2001:db8:122:344::", 64, "2001:db8:122:344:c0:2:2100::"),
            ("2001:db8:122:344::", 96, "2001:db8:122:344::192.0.2.33"),
            ("64:ff9b::", 96, "64:ff9b::192.0.2.33"),
        ] {
            let prefix = Prefix64 { bytes: prefix.parse::<Ipv6Addr>().unwrap().octets(), length };
            assert_eq!(prefix.address(host), address.parse::<Ipv6Addr>().unwrap(), "{length}");
        }
    }

    proptest! {
        /// Whatever the prefix, it is found from a network's answer for the well-known name.
        #[test]
        fn a_prefix_is_found(
            bytes: [u8; 8],
            length in prop::sample::select(LENGTHS.to_vec()),
            both: bool,
            host: [u8; 4],
        ) {
            let mut prefix = [0; 16];
            let own = usize::from(length / 8).min(8);
            prefix[..own].copy_from_slice(&bytes[..own]);
            let prefix = Prefix64 { bytes: prefix, length };
            let addresses = ADDRESSES.into_iter().take(1 + usize::from(both)).map(|host| prefix.address(host).into());
            let found = prefixes(addresses);
            // One that has the host's own bytes in it, too, can be read in two ways.
            prop_assert!(found.contains(&prefix) || !both && bytes.windows(2).any(|pair| pair == [192, 0]), "{found:?}");
            prop_assert!(found.iter().all(|found| found.address(host.into()) == prefix.address(host.into())));
        }
    }

    #[test]
    fn what_shows_none_shows_none() {
        let none = ["2001:db8::1", "192.0.0.170", "64:ff9b::192.0.0.169"].map(|text| text.parse().unwrap());
        assert_eq!(prefixes(none.into_iter()), []);
    }
}
