//! Places as link security knows them: an IPv6 address, or a mapped IPv4 one, a port, and the uplink.

use airbraid_engine::converge::session::Address;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The place that datagrams from `at` over an uplink come from.
pub fn place(uplink: usize, at: SocketAddr) -> Address {
    let mut bytes = [0; 20];
    let ip = match at.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    bytes[..16].copy_from_slice(&ip.octets());
    bytes[16..18].copy_from_slice(&at.port().to_be_bytes());
    bytes[18..].copy_from_slice(&(uplink as u16).to_be_bytes());
    Address(bytes)
}

/// Uplink and address of a place.
pub fn unplace(Address(bytes): &Address) -> (usize, SocketAddr) {
    let mut ip = [0; 16];
    ip.copy_from_slice(&bytes[..16]);
    let ip = Ipv6Addr::from(ip).to_canonical();
    let half = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    (usize::from(half(18)), SocketAddr::new(ip, half(16)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_back() {
        for text in ["10.0.0.1:5182", "[2001:db8::1]:9", "0.0.0.0:0"] {
            let at: SocketAddr = text.parse().unwrap();
            assert_eq!(unplace(&place(3, at)), (3, at));
        }
    }
}
