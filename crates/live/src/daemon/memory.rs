//! Memory of packets: for each peer by the buffers that are kept for it, and for all together.
//!
//! The engine keeps what it has below what it is told ([`airbraid_engine::trunk::bonding::Bond::set_memory`]); here
//! is reckoned how much that is. A peer may occupy what the file gives to each, and no more than is left for all
//! (Choudhury and Hahne 1998, "Dynamic queue length thresholds"): one that takes all that it can leaves half, two leave
//! a third, and whoever needs little always has room.

use crate::netlink::FoundInterface;
use std::cell::Cell;
use std::rc::Rc;

/// An Ethernet's longest packet, where interfaces carry less \[byte\].
pub const LONGEST_LEAST: usize = 1_500;

/// The buffers that are kept for a peer.
#[derive(Clone, Debug, Default)]
pub struct Account(Rc<Cell<u64>>);

impl Account {
    /// Counts a buffer of `bytes`.
    pub fn take(&self, bytes: usize) {
        self.0.set(self.0.get() + bytes as u64);
    }
    /// Stops counting it.
    pub fn give_back(&self, bytes: usize) {
        self.0.set(self.0.get().saturating_sub(bytes as u64));
    }
    /// Their memory \[byte\].
    pub fn bytes(&self) -> u64 {
        self.0.get()
    }
}

/// The longest packet that an interface of this host carries, the loopback aside: nothing longer comes in one piece
/// \[byte\].
pub fn longest(interfaces: &[FoundInterface]) -> usize {
    let of_network = interfaces.iter().filter(|interface| interface.name != "lo");
    of_network.map(|interface| interface.mtu as usize).max().unwrap_or(0).max(LONGEST_LEAST)
}

/// The limit of a peer's memory, by its own use and that of all \[byte\].
pub(super) const fn allowed(own: u64, all: u64, of_one: u64, of_all: u64) -> u64 {
    let others = all.saturating_sub(own);
    // Its own part is at most what it leaves.
    let half = of_all.saturating_sub(others) / 2;
    if half < of_one { half } else { of_one }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_takes_all_leaves_as_much_as_it_has() {
        let (of_one, of_all) = (u64::MAX, 1_200);
        // Each takes what it may, in turn, until nothing changes.
        let settle = |peers: usize| {
            let mut own = vec![0; peers];
            for _ in 0..200 {
                for peer in 0..peers {
                    let all = own.iter().sum();
                    own[peer] = allowed(own[peer], all, of_one, of_all);
                }
            }
            own
        };
        assert_eq!(settle(1), [600]);
        assert!(settle(2).iter().all(|own| (395..=405).contains(own)), "{:?}", settle(2));
        assert!(settle(5).iter().all(|own| (195..=205).contains(own)), "{:?}", settle(5));
        // One that is limited by itself leaves the rest.
        assert_eq!(allowed(100, 100, 100, 1_200), 100);
    }

    #[test]
    fn a_buffer_is_kept_until_its_last_handle_is_gone() {
        use super::super::inner;
        use super::super::packet::Pool;
        use airbraid_engine::{Packet, Share};
        let (pool, account) = (Pool::default(), Account::default());
        let mut bytes = vec![0; 3_000];
        bytes[..20].copy_from_slice(&[0x45, 0, 11, 184, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let mut packet = pool.packet(&bytes, |copy| inner::summary(copy)).unwrap();
        packet.charge(&account);
        packet.charge(&account);
        // A packet of 3,000 byte lies in a buffer of 16 KiB.
        assert_eq!((account.bytes(), packet.footprint()), (16_384, 16_384));
        let other = packet.share();
        drop(packet);
        assert_eq!(account.bytes(), 16_384);
        drop(other);
        assert_eq!(account.bytes(), 0);
    }
}
