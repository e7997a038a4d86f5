//! The links of a multi-link device: their places, and what a link knows of its device and of its peers'.

use crate::frame::Address;

/// A link of a device, by its place. A station that is no part of a device has the link 0 alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LinkId(pub u8);

/// Some links of a device, of which there are at most 15: a link ID of 802.11be has four bits, and one value is
/// reserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Links(u16);

impl Links {
    pub fn of(link: LinkId) -> Self {
        Self(1 << link.0)
    }
    /// Those that are in both.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    /// Those that are not among others.
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
    pub fn iter(self) -> impl Iterator<Item = LinkId> {
        (0..u16::BITS as u8).map(LinkId).filter(move |link| self.contains(*link))
    }
    /// Whether all of them are among others.
    pub fn is_within(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }
    /// The one behind this link, and behind the last the first.
    pub fn after(self, link: LinkId) -> LinkId {
        let places = (1..=u16::BITS as u8).map(|step| LinkId((link.0 + step) % u16::BITS as u8));
        places.into_iter().find(|other| self.contains(*other)).unwrap_or(link)
    }
    pub fn contains(self, link: LinkId) -> bool {
        self.0 >> link.0 & 1 == 1
    }
    pub fn insert(&mut self, link: LinkId) {
        self.0 |= 1 << link.0;
    }
    pub fn remove(&mut self, link: LinkId) {
        self.0 &= !(1 << link.0);
    }
}

/// A station's place in its device, and the addresses of multi-link peers.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub id: LinkId,
    /// Whether it is a link of a device.
    pub is_shared: bool,
    /// For each multi-link peer its address on this link, and that of its device.
    peers: Vec<(Address, Address)>,
}

impl Link {
    /// It becomes a link of a device.
    pub fn join(&mut self, id: LinkId) {
        *self = Self { id, is_shared: true, peers: Vec::new() };
    }
    /// A multi-link peer has this address on this link.
    pub fn add_peer(&mut self, address: Address, device: Address) {
        self.peers.push((address, device));
    }

    /// The address of a peer on this link.
    #[inline]
    pub fn address(&self, device: Address) -> Address {
        self.peers.iter().find(|peer| peer.1 == device).map_or(device, |peer| peer.0)
    }
    /// The device of an address on this link.
    #[inline]
    pub fn device(&self, address: Address) -> Address {
        self.peers.iter().find(|peer| peer.0 == address).map_or(address, |peer| peer.1)
    }
}
