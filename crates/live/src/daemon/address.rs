//! Addresses in link security's form: the peer's IPv6 or mapped IPv4 address and its port; the uplink; and the one of
//! our addresses that the peer has used. An answer leaves from that one: a host may have several, and a translator or a
//! firewall before the peer admits only packets from the address that it has contacted.

use airbraid_engine::converge::session::Address;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Offset of each part of a place \[byte\].
const PORT: usize = 16;
const UPLINK: usize = 18;
const SOURCE: usize = 20;

const fn octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    }
}

fn ip(bytes: &[u8], at: usize) -> IpAddr {
    let mut octets = [0; 16];
    octets.copy_from_slice(&bytes[at..at + 16]);
    Ipv6Addr::from(octets).to_canonical()
}

/// The place of datagrams from `at` over an uplink, to our address `source`; `None` where the kernel is to choose.
pub fn place(uplink: usize, at: SocketAddr, source: Option<IpAddr>) -> Address {
    let mut bytes = [0; Address::LEN];
    bytes[..PORT].copy_from_slice(&octets(at.ip()));
    bytes[PORT..UPLINK].copy_from_slice(&at.port().to_be_bytes());
    bytes[UPLINK..SOURCE].copy_from_slice(&(uplink as u16).to_be_bytes());
    if let Some(source) = source {
        bytes[SOURCE..].copy_from_slice(&octets(source));
    }
    Address(bytes)
}

/// Uplink, address and our own address of a place.
pub fn unplace(Address(bytes): &Address) -> (usize, SocketAddr, Option<IpAddr>) {
    let half = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let source = (bytes[SOURCE..] != [0; 16]).then(|| ip(bytes, SOURCE));
    (usize::from(half(UPLINK)), SocketAddr::new(ip(bytes, 0), half(PORT)), source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_back() {
        let sources = [None, Some("198.51.100.7"), Some("2001:db8::7")];
        for (text, source) in ["10.0.0.1:5182", "[2001:db8::1]:9", "0.0.0.0:0"].into_iter().zip(sources) {
            let at: SocketAddr = text.parse().unwrap();
            let source = source.map(|source| source.parse().unwrap());
            assert_eq!(unplace(&place(3, at, source)), (3, at, source));
        }
    }
}
