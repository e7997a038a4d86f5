//! Local error control at work: an end for each polled neighbour, between the network layer or a trunk and the MAC.
//!
//! The MAC of a master asks for the next frame, the end answers with one; a slave's end answers each poll that comes.
//! A frame stands in the table of packets as long as it is anywhere, and holds a place of the packet of which it
//! carries a part.

use super::alarms::Sleeper;
use super::packet::{Carried, DropReason, LinkFrame, Msdu, Part};
use super::routing::NextHop;
use super::{Work, World};
use crate::killer::Event;
use airbraid_engine::link::{
    DropReason as LinkDrop, Fate, Frame, Header, Input, Output, Payload, Reception, StopAndWait,
};
use airbraid_engine::trunk::paper as trunk;
use airbraid_engine::{TrafficClass, step};
use airbraid_mac::{Address, Damage, MacInput, Outcome, service};

/// One end of a link with local error control.
#[derive(Debug)]
pub(super) struct LinkLayer {
    pub end: StopAndWait<Msdu>,
    pub node: u32,
    pub radio: u32,
    pub peer: Address,
    pub is_master: bool,
    pub queue_limit: u32,
    /// Packets that it has taken and not given back.
    pub own: Vec<u32>,
    /// Parity of each block that the master asks for: what has no segment is coded so, too.
    pub parity: u8,
    /// A slave's: what the last poll said that it could read. One that it cannot read gives it the word all the same,
    /// and it sends in the size and code that it was told before.
    pub heard: Header,
}

impl LinkLayer {
    /// Packets of all classes that wait.
    pub fn queue_len(&self) -> usize {
        self.end.queue_len(TrafficClass::Bulk) + self.end.queue_len(TrafficClass::RealTime)
    }

    /// A slave remembers what it could read of a poll, and takes it for what it cannot read of the next.
    fn remember(&mut self, reception: &mut Reception<Header, Msdu>) {
        if self.is_master {
            return;
        }
        match reception.header {
            Some(header) => {
                self.heard = Header { segment: None, ..header };
                self.parity = header.invite.map_or(self.parity, |shape| shape.parity());
            }
            None => reception.header = Some(self.heard),
        }
    }

    /// Whether bulk packets find room.
    pub fn has_room(&self) -> bool {
        self.end.queue_len(TrafficClass::Bulk) < self.queue_limit as usize
    }
}

impl World<'_> {
    /// Gives an MSDU to the link layer towards a neighbour, or to the MAC where there is none.
    #[inline]
    pub(super) fn hand_down(&mut self, radio: u32, to: Address, msdu: Msdu) {
        match self.stations[radio as usize].link_layer_towards(to) {
            Some(end) => {
                self.link_layers[end as usize].own.push(msdu.packet.id);
                self.step_link_layer(end, Some(Input::Packet(msdu)));
            }
            None => self.step_mac(radio, Some(MacInput::Enqueue(service::Msdu { to, packet: msdu }))),
        }
    }

    /// Drives an end: `None` is its timer.
    pub(super) fn step_link_layer(&mut self, end: u32, input: Option<Input<Msdu>>) {
        let Self { link_layers, alarms, pending, now, .. } = self;
        let state = &mut link_layers[end as usize];
        let wake =
            step(&mut state.end, *now, input, |output| pending.push_back(Work::LinkLayer(end, Box::new(output))));
        alarms.arm(*now, Sleeper::LinkLayer(end), wake);
    }

    /// A MAC has a transmission for this neighbour. The slave's end has answered the poll already.
    pub(super) fn on_pull(&mut self, radio: u32, neighbour: Address) {
        let Some(end) = self.stations[radio as usize].link_layer_towards(neighbour) else {
            self.step_mac(radio, Some(MacInput::Supply(None)));
            return;
        };
        if !self.link_layers[end as usize].is_master {
            return;
        }
        if let Some(killers) = &self.killers {
            let down = fate(killers.foretell(radio, neighbour.0));
            let up = fate(killers.foretell(neighbour.0, radio));
            self.step_link_layer(end, Some(Input::Foretold { down, up }));
        }
        self.step_link_layer(end, Some(Input::Poll { invite: true }));
    }

    pub(super) fn on_link_layer_output(&mut self, end: u32, output: Output<Header, Msdu>) {
        let state = &self.link_layers[end as usize];
        let (node, radio, peer) = (state.node, state.radio, state.peer);
        match output {
            Output::Transmit(frame) => self.transmit_frame(end, frame),
            Output::Piece { packet, .. } => self.packets.release(packet.packet),
            Output::Deliver { packet, .. } => self.take_up(radio, peer, packet),
            Output::Abandon { .. } => {}
            Output::Drop(msdu, reason) => {
                self.forget(end, msdu);
                let reason = match reason {
                    LinkDrop::QueueFull => DropReason::LinkLayerQueueFull,
                    LinkDrop::Expired => DropReason::Expired,
                    LinkDrop::Retransmissions => DropReason::RetransmissionLimit,
                    LinkDrop::TooLong => DropReason::TooLong,
                };
                self.settle(node, radio, peer, msdu, Err(reason), trunk::Outcome::Lost);
            }
            Output::Release(msdu) => {
                if self.forget(end, msdu) {
                    self.settle(node, radio, peer, msdu, Ok(()), trunk::Outcome::Delivered);
                } else {
                    self.packets.release(msdu.packet);
                }
            }
        }
    }

    /// Whether a packet that comes back is one that this end had taken; it is not any more.
    fn forget(&mut self, end: u32, msdu: Msdu) -> bool {
        let own = &mut self.link_layers[end as usize].own;
        let place = own.iter().position(|id| *id == msdu.packet.id);
        place.map(|place| own.swap_remove(place)).is_some()
    }

    fn transmit_frame(&mut self, end: u32, frame: Frame<Header, Msdu>) {
        let state = &mut self.link_layers[end as usize];
        let (radio, to) = (state.radio, state.peer);
        if let Some(shape) = frame.header.invite {
            state.parity = shape.parity();
        }
        let parity = frame.header.segment.map_or(state.parity, |segment| segment.parity);
        if let Some(packet) = frame.packet {
            self.packets.retain(packet.packet);
        }
        let carried = LinkFrame { header: frame.header, packet: frame.packet, parity };
        let packet = self.packets.create_carried(self.now, Carried::Segment(carried));
        let msdu = Msdu { packet, overhead: 0, part: Part::Segment };
        self.step_mac(radio, Some(MacInput::Supply(Some(service::Msdu { to, packet: msdu }))));
        self.refill(NextHop::Radio { radio, neighbour: to });
    }

    /// The MAC hands up a frame of the neighbour's link layer, perhaps damaged.
    pub(super) fn on_frame(&mut self, radio: u32, from: Address, msdu: Msdu, damage: Option<Damage>) {
        let frame = self.packets.segment(msdu.packet);
        if let (Some(frame), Some(end)) = (frame, self.stations[radio as usize].link_layer_towards(from)) {
            let mut reception = reception(&frame, damage);
            self.link_layers[end as usize].remember(&mut reception);
            if let Payload::Intact { packet, .. } = &reception.payload {
                self.packets.retain(packet.packet);
            }
            self.step_link_layer(end, Some(Input::Received(reception)));
        }
        self.packets.release(msdu.packet);
    }

    /// The MAC has finished with a frame of this radio's link layer.
    pub(super) fn on_frame_finished(&mut self, radio: u32, to: Address, msdu: Msdu, outcome: Outcome) {
        self.packets.release(msdu.packet);
        if outcome == Outcome::RetryLimit
            && let Some(end) = self.stations[radio as usize].link_layer_towards(to)
        {
            self.step_link_layer(end, Some(Input::Timeout));
        }
    }
}

/// What has come of a frame. Its code repairs so many bytes of a block as it has pairs of parity; what has no segment
/// is coded as the master asks for. Of what is damaged nothing can be read but how: the killer's flag says that.
fn reception(frame: &LinkFrame, damage: Option<Damage>) -> Reception<Header, Msdu> {
    let strength = u32::from(frame.parity / 2);
    let header = Some(frame.header);
    let worst = match damage {
        Some(Damage::Corrupted(symbols)) => symbols,
        None | Some(Damage::Truncated(_)) => 0,
    };
    match (frame.packet, damage) {
        (None, _) if worst > strength => Reception { header: None, payload: Payload::Undecodable },
        (None, _) => Reception { header, payload: Payload::None },
        (Some(_), Some(Damage::Truncated(at))) => {
            Reception { header: None, payload: Payload::Truncated { at: at.as_u64() as u16 } }
        }
        (Some(_), _) if worst > strength => Reception { header: None, payload: Payload::Undecodable },
        (Some(packet), _) => Reception { header, payload: Payload::Intact { packet, worst: worst as u8 } },
    }
}

fn fate(event: Event) -> Fate {
    match event {
        Event::Fine => Fate::Delivered { worst: 0 },
        Event::Lost => Fate::Lost,
        Event::Truncated { at, .. } => Fate::Truncated { at },
        Event::Corrupted { symbols, .. } => Fate::Delivered { worst: symbols.min(255) as u8 },
    }
}
