//! Multi-link devices: several EDCA stations, each a link with its own channel, under one upper part (802.11be-2024,
//! 35.3).
//!
//! ```text
//!               MultiLink: packets, numbers, windows, order      one for the device
//!                /            |            \
//!             Edca          Edca          Edca                   functions, exchange, answers: one for each link
//! ```
//!
//! Whoever drives a link lends it the upper part for the time of the call; between calls the device has it. So an MPDU
//! is given to a link when that has won its TXOP, and one that was lost goes again on whichever link is next.

use super::Edca;
use super::category::AccessCategory;
use super::config::EdcaConfig;
use super::emlsr::{Emlsr, OneRadio};
use super::kinds::Kinds;
use super::link::LinkId;
use super::peer::PeerTraits;
use super::single::OneAwake;
use super::traffic::Traffic;
use crate::frame::Address;
use crate::service::Msdu;
use airbraid_engine::Packet;
use airbraid_units::{Duration, Instant};

/// The upper part of a multi-link device, which its links share.
#[derive(Clone, Debug)]
pub struct MultiLink<P>(Box<Traffic<P>>);

impl<P: Packet + Copy> MultiLink<P> {
    /// The upper part of a device whose queue, window and agreements are those of `config`, among stations of `kinds`.
    pub fn new(config: &EdcaConfig, kinds: &Kinds) -> Self {
        let mut traffic = Traffic::new(config);
        traffic.meet(kinds);
        Self(Box::new(traffic))
    }

    /// Its links share one radio, with these delays.
    pub fn share_radio(&mut self, delays: Emlsr) {
        self.0.radio = Some(OneRadio::new(delays));
    }

    /// One of its links is awake at a time, at first that which is added first; its radio moves in this time.
    pub fn keep_one_awake(&mut self, switch_delay: Duration) {
        self.0.awake = Some(Box::new(OneAwake::new(switch_delay)));
    }
    /// A link begins to watch its peer, where one is awake at a time.
    pub fn begin(&mut self, station: &mut Edca<P>) {
        self.exchange(station);
        station.watch(Instant::ZERO);
        station.settle(Instant::ZERO);
        self.exchange(station);
    }

    /// Two of its links disturb each other. A link that was blind does not trust what it hears for `medium_sync`.
    pub fn couple(&mut self, pair: [u8; 2], medium_sync: Duration) {
        self.0.couple(None, pair.map(LinkId)).medium_sync = medium_sync;
    }
    /// Two links of a peer, which is known, disturb each other; by their places here.
    pub fn couple_peer(&mut self, device: Address, pair: [u8; 2]) {
        self.0.couple(Some(device), pair.map(LinkId));
    }
    /// Whether links of this device or of a peer disturb each other, or have one radio, so that a link is to be told of
    /// what begins to arrive ([`Edca::on_incoming`]).
    #[inline]
    pub fn wants_beginnings(&self) -> bool {
        self.0.coupling.is_some() || self.0.radio.is_some()
    }

    /// A station becomes the link of the device at this place, below 15.
    pub fn join(&mut self, station: &mut Edca<P>, place: u8) {
        let id = LinkId(place);
        station.planner.link.join(id);
        AccessCategory::ALL.into_iter().for_each(|category| self.0.set_idle(id, category, true));
    }

    /// A link leads to this address of a multi-link peer, which has the address `device` for the layer above, and
    /// carries these TIDs to it, a bit each.
    pub fn add_way(&mut self, station: &mut Edca<P>, [address, device]: [Address; 2], tids: u8, traits: PeerTraits) {
        station.planner.link.add_peer(address, device);
        self.0.share(device, (station.planner.link.id, tids), traits);
    }

    /// Lends the upper part to a link, or takes it back from it.
    #[inline]
    pub fn exchange(&mut self, station: &mut Edca<P>) {
        std::mem::swap(&mut self.0, &mut station.traffic);
    }

    /// Takes a packet that comes to a link while all links are at work on its category: no link need be driven for it.
    ///
    /// # Errors
    /// Hands it back where something may follow from it, and the link must be driven.
    #[inline]
    pub fn push_at_work(&mut self, station: &Edca<P>, now: Instant, msdu: Msdu<P>) -> Result<(), Msdu<P>> {
        if station.alarm.due(now).is_some() {
            return Err(msdu);
        }
        self.0.push_at_work(msdu, station.planner.link.id)
    }

    /// Whether any link may have to be told: [`MultiLink::wakes`] says which. Most of the time all are at work.
    #[inline]
    pub fn may_wake(&self) -> bool {
        self.0.may_wake()
    }
    /// Whether the link at this place must be told ([`MacInput::Renew`](crate::MacInput::Renew)) that it has something
    /// to send again, or has become blind, or can hear again.
    #[inline]
    pub fn wakes(&self, place: u8) -> bool {
        self.0.wakes(LinkId(place))
    }

    /// MSDUs of a category that wait or are not acknowledged yet.
    pub fn category_len(&self, category: AccessCategory) -> usize {
        self.0.count(category)
    }
    /// The same of the category in which a packet of this user priority for a neighbour waits.
    pub fn waiting_with(&self, neighbour: Address, priority: u8) -> usize {
        self.0.count(self.0.category(neighbour, priority))
    }
    /// The same of all categories.
    pub fn queue_len(&self) -> usize {
        self.0.len()
    }
    /// MPDUs that have come and wait for others before them.
    pub fn holding(&self) -> u32 {
        self.0.holding()
    }
    /// The same of one peer.
    pub fn holding_of(&self, peer: Address) -> u32 {
        self.0.holding_of(peer)
    }
    /// Whether the link at this place contends or holds the medium.
    #[inline]
    pub fn is_busy(&self, place: u8) -> bool {
        self.0.is_busy(LinkId(place))
    }
    /// Whether any link has nothing to send in a category that has packets.
    #[inline]
    pub fn may_stall(&self) -> bool {
        self.0.may_stand_still()
    }
    /// Whether packets for a peer wait for its full window while the link at this place has nothing to send.
    #[inline]
    pub fn is_stalled(&self, place: u8, peer: Address) -> bool {
        self.0.stands_still(LinkId(place), peer)
    }
}
