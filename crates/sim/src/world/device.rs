//! The upper part of multi-link devices: what the radios of a device share. A radio that acts borrows it from the
//! [`Host`](super::host::Host), and the others are told when they have something to send again.

mod count;

use super::frame::Msdu;
use super::id::{MultiLinkEnd, RadioId};
use airbraid_mac::edca::MultiLink;
use airbraid_mac::{Address, FrameKind, MacOutput};
use airbraid_units::{Duration, Instant};
use count::{HeldCount, LinkCount, Span};

/// A device with several links.
#[derive(Debug)]
pub struct MultiLinkDevice {
    pub shared: MultiLink<Msdu>,
    /// Its links, by their places.
    pub links: Vec<RadioId>,
    /// For each the time in which it contends or holds the medium.
    busy: Vec<Span>,
    pub peers: Vec<Peer>,
    /// Whether a link stands still for any peer.
    has_stalled: bool,
}

/// A multi-link peer of a device.
#[derive(Debug)]
pub struct Peer {
    /// The trunk that leads to it.
    pub end: MultiLinkEnd,
    /// The links that lead to it, in the order of the trunk's members. The address on the first stands for the device.
    pub ways: Vec<Way>,
    /// The radio at which packets for it come in.
    pub entrance: RadioId,
    /// Its MPDUs that have come.
    pub held: HeldCount,
}

/// A link that leads to a peer.
#[derive(Debug)]
pub struct Way {
    /// The peer's address.
    pub address: Address,
    /// Place of the own link.
    pub place: u8,
    pub count: LinkCount,
}

impl Way {
    /// A link that nothing was sent on yet.
    pub fn new(address: Address, place: u8) -> Self {
        Self { address, place, count: LinkCount::default() }
    }
}

impl Peer {
    fn has(&self, address: Address) -> bool {
        self.ways.iter().any(|way| way.address == address)
    }
    /// The address that the layer above knows.
    fn device(&self) -> Option<Address> {
        self.ways.first().map(|way| way.address)
    }
}

impl MultiLinkDevice {
    /// A device that has no peer yet.
    pub fn new(shared: MultiLink<Msdu>, links: Vec<RadioId>) -> Self {
        let busy = vec![Span::default(); links.len()];
        Self { shared, links, busy, peers: Vec::new(), has_stalled: false }
    }

    /// The peer with this address on any of its links.
    pub fn peer(&self, address: Address) -> Option<&Peer> {
        self.peers.iter().find(|peer| peer.has(address))
    }
    fn peer_mut(&mut self, address: Address) -> Option<&mut Peer> {
        self.peers.iter_mut().find(|peer| peer.has(address))
    }

    /// The links that lead to a peer, in the order of its ways.
    pub fn links_to(&self, peer: &Peer) -> impl Iterator<Item = RadioId> {
        peer.ways.iter().map(|way| self.links[usize::from(way.place)])
    }

    /// The radio at which packets for a peer come in, by any of its addresses; `None`: it has one link only.
    pub fn entrance(&self, peer: Address) -> Option<RadioId> {
        self.peer(peer).map(|peer| peer.entrance)
    }

    /// The links, but for one, that have something to send again.
    pub fn woken(&self, by: u8) -> impl Iterator<Item = RadioId> {
        let others = (0..self.links.len() as u8).filter(move |place| *place != by);
        others.filter(|place| self.shared.wakes(*place)).map(|place| self.links[usize::from(place)])
    }

    /// A link says something: what it sends to a multi-link peer is counted, and what it hands up of one.
    pub fn count_output(&mut self, place: u8, output: &MacOutput<Msdu>) {
        let on_way = |peer: &mut Peer, count: &mut dyn FnMut(&mut LinkCount)| {
            peer.ways.iter_mut().filter(|way| way.place == place).for_each(|way| count(&mut way.count));
        };
        match output {
            MacOutput::TransmitPpdu { ppdu, airtime, .. } => {
                if let Some(peer) = self.peer_mut(ppdu.header.to) {
                    on_way(peer, &mut |count| count.on_ppdu(ppdu, *airtime));
                }
            }
            MacOutput::Transmit { frame, airtime, .. } if matches!(frame.kind, FrameKind::Rts | FrameKind::MuRts) => {
                if let Some(peer) = self.peer_mut(frame.to) {
                    on_way(peer, &mut |count| count.on_rts(*airtime));
                }
            }
            MacOutput::DeliverRun { ppdu, mpdus, .. } => {
                if let Some(peer) = self.peer_mut(ppdu.header.from) {
                    peer.held.on_delivered(mpdus.end - mpdus.start);
                }
            }
            _ => {}
        }
    }

    /// Counting of what limits flows begins.
    pub fn begin_counting(&mut self, now: Instant) {
        self.peers.iter_mut().flat_map(|peer| &mut peer.ways).for_each(|way| way.count.begin_counting(now));
    }

    /// Time in which a link has contended or held the medium up to now, if the radio is one.
    pub fn busy(&self, link: RadioId, now: Instant) -> Option<Duration> {
        let place = self.links.iter().position(|other| *other == link)?;
        Some(self.busy[place].until(now))
    }

    /// A link has acted, perhaps on what has come from an address: notes what waits there, and which links stand still.
    pub fn note(&mut self, now: Instant, place: u8, from: Option<Address>) {
        let Self { shared, peers, busy, .. } = self;
        busy[usize::from(place)].set(now, shared.is_busy(place));
        if let Some(peer) = from.and_then(|from| peers.iter_mut().find(|peer| peer.has(from)))
            && let Some(device) = peer.device()
        {
            peer.held.set_held(now, shared.holding_of(device));
        }
        // Most of the time every link with packets is at work.
        if !shared.may_stall() && !self.has_stalled {
            return;
        }
        self.has_stalled = false;
        for peer in peers {
            let Some(device) = peer.device() else { continue };
            for way in &mut peer.ways {
                let is_stalled = shared.is_stalled(way.place, device);
                way.count.set_stalled(now, is_stalled);
                self.has_stalled |= is_stalled;
            }
        }
    }
}
