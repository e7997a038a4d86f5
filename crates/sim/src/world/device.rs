//! The upper part of multi-link devices: what the radios of a device share. A radio that acts borrows it from the
//! [`Host`](super::host::Host), and the others are told when they have something to send again.

use super::frame::Msdu;
use super::id::RadioId;
use airbraid_mac::Address;
use airbraid_mac::edca::MultiLink;

/// A device with several links.
#[derive(Debug)]
pub struct MultiLinkDevice {
    pub shared: MultiLink<Msdu>,
    /// Its links, by their places.
    pub links: Vec<RadioId>,
    pub peers: Vec<Peer>,
}

/// A multi-link peer of a device.
#[derive(Debug)]
pub struct Peer {
    /// Its addresses on the links that lead to it; the first stands for the device.
    pub addresses: Vec<Address>,
    /// The radio at which packets for it come in.
    pub entrance: RadioId,
}

impl MultiLinkDevice {
    /// The radio at which packets for a peer come in, by any of its addresses; `None`: it has one link only.
    pub fn entrance(&self, peer: Address) -> Option<RadioId> {
        self.peers.iter().find(|known| known.addresses.contains(&peer)).map(|known| known.entrance)
    }

    /// The links, but for one, that have something to send again.
    pub fn woken(&self, by: u8) -> impl Iterator<Item = RadioId> {
        let others = (0..self.links.len() as u8).filter(move |place| *place != by);
        others.filter(|place| self.shared.wakes(*place)).map(|place| self.links[usize::from(place)])
    }
}
