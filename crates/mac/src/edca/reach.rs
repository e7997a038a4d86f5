//! Over which links multi-link peers ([`peer`](super::peer)) are reached now: what links ask before they send, and how
//! queues follow when a peer listens on others.

use super::category::TIDS;
use super::emlsr::Emlsr;
use super::link::{LinkId, Links};
use super::peer::Peer;
use super::traffic::Traffic;
use crate::frame::Address;
use airbraid_engine::Packet;

impl<P: Packet + Copy> Traffic<P> {
    /// The delays of a peer in EMLSR mode.
    pub fn emlsr(&self, device: Address) -> Option<Emlsr> {
        self.peers.get(device).and_then(|peer| peer.traits.emlsr)
    }
    /// Whether a peer hears a link now, whatever the TIDs that the link carries.
    pub fn is_heard(&self, to: Address, tid: u8, link: LinkId) -> bool {
        let of_queue = || self.find(to, tid).is_some_and(|id| self.queue(id).leads_over(link));
        self.peers.get(to).map_or_else(of_queue, |peer| peer.listens_on(link))
    }
    /// Whether a peer has one link awake at a time.
    pub fn has_one_awake(&self, device: Address) -> bool {
        self.peers.get(device).is_some_and(|peer| peer.traits.is_single)
    }
    /// The first multi-link peer.
    pub fn first_peer(&self) -> Option<Address> {
        self.peers.iter().next().map(|peer| peer.device)
    }
    /// The peers that were called to a link, with their delays.
    pub fn called_to(&self, link: LinkId) -> Vec<(Address, Emlsr)> {
        let there = self.peers.iter().filter(|peer| peer.is_called_to(link));
        there.filter_map(|peer| Some((peer.device, peer.traits.emlsr?))).collect()
    }
    /// Whether a packet for a device can follow in a TXOP on a link without an initial control frame.
    pub fn can_follow(&self, device: Address, link: LinkId) -> bool {
        self.peers.get(device).is_none_or(|peer| peer.traits.emlsr.is_none() || peer.is_called_to(link))
    }
    /// Changes the links on which a peer listens, and with them those of its queues.
    pub fn set_open<R>(&mut self, device: Address, set: impl FnOnce(&mut Peer) -> R) -> Option<R> {
        let peer = self.peers.get_mut(device)?;
        let result = set(peer);
        let reached: [Links; TIDS] = std::array::from_fn(|tid| peer.reached_by(tid as u8));
        let is_single = peer.traits.is_single;
        for (tid, links) in (0..).zip(reached) {
            if let Some(id) = self.find(device, tid) {
                self.queue_mut(id).lead_over(links, is_single);
            }
        }
        Some(result)
    }
}
