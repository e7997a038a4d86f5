//! Multi-link peers, as a device knows them: the links that lead to each, and on which of them it listens.

use super::allocation::{Allocation, Allocator};
use super::category::TIDS;
use super::config::RequestLink;
use super::coupling::Pairs;
use super::emlsr::Emlsr;
use super::link::{LinkId, Links};
use crate::frame::Address;
use airbraid_units::Instant;

/// The traits of a multi-link peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerTraits {
    /// The link on which it is asked for a block acknowledgement that did not come.
    pub requests: RequestLink,
    /// Its delays, if it is in EMLSR mode.
    pub emlsr: Option<Emlsr>,
    /// The way in which packets for it are put to links.
    pub allocation: Allocation,
    /// Whether one link at a time between it and this device is awake.
    pub is_single: bool,
}

/// A multi-link peer.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub device: Address,
    pub traits: PeerTraits,
    /// Its pairs of links that disturb each other.
    pub pairs: Pairs,
    /// The part that puts packets for it to links, unless they wait for whichever link has the medium.
    pub allocator: Option<Box<Allocator>>,
    /// The links that lead to it, and those that carry each TID.
    links: Links,
    by_tid: [Links; TIDS],
    /// The links on which it listens: all, or that of the exchange under way, or none.
    open: Links,
    /// When it listens on all again, if it does not.
    away_until: Instant,
}

impl Peer {
    fn new(device: Address, traits: PeerTraits) -> Self {
        Self {
            device,
            traits,
            pairs: Pairs::default(),
            allocator: Allocator::of(traits.allocation),
            links: Links::default(),
            by_tid: [Links::default(); TIDS],
            open: Links::default(),
            away_until: Instant::ZERO,
        }
    }

    /// A link more leads to it, which carries these TIDs, a bit each.
    pub fn add_link(&mut self, link: LinkId, tids: u8) {
        self.links.insert(link);
        if !self.traits.is_single || self.open == Links::default() {
            self.open = if self.traits.is_single { Links::of(link) } else { self.links };
        }
        for (_, links) in self.by_tid.iter_mut().enumerate().filter(|(tid, _)| tids >> tid & 1 == 1) {
            links.insert(link);
        }
        if let Some(allocator) = &mut self.allocator {
            allocator.add_link(link);
        }
    }

    /// The links that carry a TID to it.
    pub fn carrying(&self, tid: u8) -> Links {
        self.by_tid[usize::from(tid) % TIDS]
    }
    /// Those on which it listens.
    pub fn reached_by(&self, tid: u8) -> Links {
        self.open.and(self.carrying(tid))
    }

    /// Whether it listens on a link.
    pub fn listens_on(&self, link: LinkId) -> bool {
        self.open.contains(link)
    }

    /// Whether it can receive on several links at once.
    pub fn receives_on_several(&self) -> bool {
        self.traits.emlsr.is_none() && !self.traits.is_single
    }
    /// It listens on this link alone, if on any.
    pub fn open_at_most(&mut self, link: Option<LinkId>) {
        self.open = link.map_or(Links::default(), Links::of);
    }
    /// It does not listen on this link.
    pub fn close(&mut self, link: LinkId) {
        self.open.remove(link);
    }
    /// It listens on this link alone.
    pub fn open_only(&mut self, link: LinkId) {
        self.open = Links::of(link);
    }
    /// It listens nowhere until then; returns when it listens again, by all that is known.
    pub fn close_until(&mut self, until: Instant) -> Instant {
        self.open = Links::default();
        self.away_until = self.away_until.max(until);
        self.away_until
    }
    /// If it was away until now, it listens on all links.
    pub fn reopen(&mut self, now: Instant) {
        if self.open == Links::default() && self.away_until <= now {
            self.open = self.links;
        }
    }
    /// Whether it has been called to a link, by an initial control frame.
    pub fn is_called_to(&self, link: LinkId) -> bool {
        self.traits.emlsr.is_some() && self.open == Links::of(link)
    }
}

/// The multi-link peers of a device; a plain station has none.
#[derive(Clone, Debug, Default)]
pub(super) struct Peers(Vec<Peer>);

impl Peers {
    /// The peer with this address, which is added if it is new.
    pub fn reach(&mut self, device: Address, traits: PeerTraits) -> &mut Peer {
        let place = self.0.iter().position(|peer| peer.device == device).unwrap_or_else(|| {
            self.0.push(Peer::new(device, traits));
            self.0.len() - 1
        });
        &mut self.0[place]
    }

    pub fn get(&self, device: Address) -> Option<&Peer> {
        self.0.iter().find(|peer| peer.device == device)
    }
    pub fn get_mut(&mut self, device: Address) -> Option<&mut Peer> {
        self.0.iter_mut().find(|peer| peer.device == device)
    }
    pub fn iter(&self) -> impl Iterator<Item = &Peer> {
        self.0.iter()
    }
    /// The parts that put packets to links, of all peers that have one.
    pub fn allocators(&mut self) -> impl Iterator<Item = &mut Allocator> {
        self.0.iter_mut().filter_map(|peer| peer.allocator.as_deref_mut())
    }
}
