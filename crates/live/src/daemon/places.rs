//! The possible places of a peer on an uplink: all addresses of its name, of both families, and the translated form of
//! an IPv4 address (NAT64). A handshake tries one after the other (RFC 8305); a member without an answer goes from one
//! to the next.

use airbraid_units::Instant;
use std::net::SocketAddr;

/// The state of a peer's addresses on one uplink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The address that answered last.
    pub(super) worked: Option<SocketAddr>,
    /// The address under trial, since when, and the number of addresses before it without an answer.
    pub(super) trial: Option<(SocketAddr, Instant)>,
    pub(super) tries: u32,
}

impl Reached {
    /// Whether address after address gives no answer: the link is dead rather than an address, and further ones are not
    /// logged.
    pub const fn is_lost(&self) -> bool {
        self.tries > 4
    }
}

/// Addresses in the order of RFC 8305, section 4: the families in turn, IPv6 first. Within a family they are sorted, as
/// some resolvers rotate theirs at each answer.
pub fn in_turn(mut addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    addresses.sort_unstable();
    addresses.dedup();
    let (four, six): (Vec<SocketAddr>, Vec<SocketAddr>) = addresses.into_iter().partition(SocketAddr::is_ipv4);
    let longer = four.len().max(six.len());
    (0..longer).flat_map(|at| six.get(at).into_iter().chain(four.get(at))).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let four = ["192.0.2.2:1", "192.0.2.1:1", "192.0.2.3:1"].map(at);
        let six = ["[2001:db8::9]:1"].map(at);
        let sorted = in_turn([&four[..], &six, &four].concat());
        assert_eq!(sorted, [six[0], four[1], four[0], four[2]]);
    }
}
