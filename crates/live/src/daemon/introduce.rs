//! The messages by which a peer that both reach introduces two ends behind address translators to each other. They are
//! sealed as the frames of a tunnel.
//!
//! ```text
//!  0      1       2                    34
//!  | 0x1e | count | public key, 32 byte | count times: address, 16 byte | port, 2 byte |
//! ```
//!
//! Without a place it is the question where the peer with this key is; with places it is the answer, which both ends
//! get. IPv4 addresses are mapped (RFC 4291, section 2.5.5.2). The first byte is a version and a kind that the tunnel
//! does not use.

use airbraid_engine::converge::session::PublicKey;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Largest number of places in an answer: an end has eight uplinks.
pub const PLACES_MAX: usize = 8;
const FIRST: u8 = 0x1e;
const KEY_LEN: usize = 32;
/// Address and port of a place \[byte\].
const PLACE_LEN: usize = 18;

/// A question, or an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Introduction {
    /// The peer with this key is wanted.
    Wanted(PublicKey),
    /// It is seen at these places: one to eight.
    Seen(PublicKey, Vec<SocketAddr>),
}

/// Whether a peer can be at a place: not this host itself, not many hosts at once, and no unusable address.
pub fn is_possible(place: &SocketAddr) -> bool {
    let ip = place.ip();
    let is_one = match ip {
        IpAddr::V4(ip) => !ip.is_broadcast() && !ip.is_link_local(),
        // Without its interface such an address is none.
        IpAddr::V6(ip) => !ip.is_unicast_link_local(),
    };
    is_one && !ip.is_unspecified() && !ip.is_loopback() && !ip.is_multicast() && place.port() != 0
}

impl Introduction {
    /// Writes it as bytes. Places beyond the eighth are left out.
    pub fn emit(&self) -> Vec<u8> {
        let (key, places) = match self {
            Self::Wanted(key) => (key, &[][..]),
            Self::Seen(key, places) => (key, &places[..places.len().min(PLACES_MAX)]),
        };
        let mut bytes = Vec::with_capacity(2 + KEY_LEN + places.len() * PLACE_LEN);
        bytes.extend([FIRST, places.len() as u8]);
        bytes.extend(key.0);
        for place in places {
            let ip = match place.ip() {
                IpAddr::V4(ip) => ip.to_ipv6_mapped(),
                IpAddr::V6(ip) => ip,
            };
            bytes.extend(ip.octets());
            bytes.extend(place.port().to_be_bytes());
        }
        bytes
    }

    /// Reads it from all of `bytes`; `None` if they are something else, or name a place where no peer can be.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let &[FIRST, count, ref rest @ ..] = bytes else { return None };
        let (key, rest) = rest.split_first_chunk::<KEY_LEN>()?;
        let count = usize::from(count);
        if count > PLACES_MAX || rest.len() != count * PLACE_LEN {
            return None;
        }
        let key = PublicKey(*key);
        if count == 0 {
            return Some(Self::Wanted(key));
        }
        let places = rest.chunks_exact(PLACE_LEN).map(place).collect::<Option<Vec<_>>>()?;
        Some(Self::Seen(key, places))
    }
}

fn place(bytes: &[u8]) -> Option<SocketAddr> {
    let (ip, port) = bytes.split_first_chunk::<16>()?;
    let port = u16::from_be_bytes(port.try_into().ok()?);
    Some(SocketAddr::new(Ipv6Addr::from(*ip).to_canonical(), port)).filter(is_possible)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn places_where_no_peer_can_be_are_refused() {
        let seen = |text: &str| Introduction::Seen(PublicKey([7; 32]), vec![text.parse().unwrap()]);
        for fine in ["192.0.2.1:5182", "10.0.0.1:1", "[2001:db8::1]:65535"] {
            assert_eq!(Introduction::parse(&seen(fine).emit()), Some(seen(fine)));
        }
        for wrong in [
            "192.0.2.1:0",
            "127.0.0.1:9",
            "255.255.255.255:9",
            "224.0.0.1:9",
            "0.0.0.0:9",
            "169.254.1.1:9",
            "[::1]:9",
            "[::]:9",
            "[ff02::1]:9",
            "[fe80::1]:9",
        ] {
            assert_eq!(Introduction::parse(&seen(wrong).emit()), None, "{wrong}");
        }
        assert_eq!(Introduction::parse(&seen("192.0.2.1:5182").emit()[..51]), None);
    }

    proptest! {
        #[test]
        fn what_is_emitted_is_parsed(
            key in any::<[u8; 32]>(),
            places in prop::collection::vec(any::<SocketAddr>(), 0..8),
        ) {
            // Neither flow nor scope is said.
            let places: Vec<SocketAddr> =
                places.iter().map(|at| SocketAddr::new(at.ip().to_canonical(), at.port())).collect();
            let key = PublicKey(key);
            let said =
                if places.is_empty() { Introduction::Wanted(key) } else { Introduction::Seen(key, places.clone()) };
            let parsed = Introduction::parse(&said.emit());
            prop_assert_eq!(parsed, places.iter().all(is_possible).then_some(said));
        }

        #[test]
        fn what_is_parsed_is_what_would_be_emitted(
            count in 0u8..10,
            mut bytes in prop::collection::vec(any::<u8>(), 0..220),
            is_fit in any::<bool>(),
        ) {
            if is_fit {
                bytes.resize(2 + KEY_LEN + usize::from(count) * PLACE_LEN, 9);
                (bytes[0], bytes[1]) = (FIRST, count);
            }
            if let Some(said) = Introduction::parse(&bytes) {
                prop_assert_eq!(said.emit(), bytes);
            }
        }
    }
}
