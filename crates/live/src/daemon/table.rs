//! The routing table of prefixes and their peers. Outgoing packets take the longest prefix; a packet from a peer must
//! come from one of its own.

use super::site::Prefix;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Prefixes by length, the longest first, and by network.
#[derive(Clone, Debug, Default)]
pub struct Table {
    by_length: BTreeMap<std::cmp::Reverse<u8>, BTreeMap<IpAddr, usize>>,
}

impl Table {
    /// All prefixes of all peers, by index.
    pub fn new<'a>(peers: impl Iterator<Item = (usize, &'a [Prefix])>) -> Self {
        let mut table = Self::default();
        for (peer, prefixes) in peers {
            for prefix in prefixes {
                let of_length = table.by_length.entry(std::cmp::Reverse(prefix.length)).or_default();
                of_length.insert(prefix.network().address, peer);
            }
        }
        table
    }

    /// The peer that an address is behind.
    pub fn find(&self, address: IpAddr) -> Option<usize> {
        self.by_length.iter().find_map(|(length, networks)| {
            let most = if address.is_ipv4() { 32 } else { 128 };
            let network = (length.0 <= most).then(|| Prefix { address, length: length.0 }.network())?;
            networks.get(&network.address).copied()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_counts() {
        let prefixes = |texts: &[&str]| texts.iter().map(|text| Prefix::parse(text).unwrap()).collect::<Vec<_>>();
        let peers = [
            prefixes(&["0.0.0.0/0", "fd00::/16"]),
            prefixes(&["10.1.0.0/16", "fd00:1::/32"]),
            prefixes(&["10.1.2.3/32"]),
        ];
        let table = Table::new(peers.iter().enumerate().map(|(peer, prefixes)| (peer, &prefixes[..])));
        let find = |text: &str| table.find(text.parse().unwrap());
        assert_eq!(find("9.9.9.9"), Some(0));
        assert_eq!(find("10.1.9.9"), Some(1));
        assert_eq!(find("10.1.2.3"), Some(2));
        assert_eq!(find("fd00:1::5"), Some(1));
        assert_eq!(find("fd00:2::5"), Some(0));
        assert_eq!(find("2001:db8::1"), None);
    }
}
