//! Local error control over a polled radio: an end of stop-and-wait for each neighbour, between the network layer or a
//! trunk and the MAC.
//!
//! The MAC of a master pulls the next frame, the end answers with one; a slave's end answers each poll that comes.
//! A frame stands in the table of packets as long as it is anywhere, and refers to the packet of which it carries a
//! part.

use super::super::frame::{FrameBody, LinkFrame, Msdu, MsduKind};
use super::super::host::{Host, Work};
use super::super::id::{PacketId, RadioId, StopAndWaitId};
use super::super::packet::DropReason;
use super::super::wakeups::MachineId;
use super::free_space::FreeSpace;
use crate::killer::Event;
use airbraid_engine::TrafficClass;
use airbraid_engine::link::{
    DropReason as LinkDrop, Fate, Frame, Header, Input, Output, Payload, Reception, Stats, StopAndWait,
};
use airbraid_mac::{Address, Damage};

/// One end of a link with local error control.
#[derive(Debug)]
pub struct StopAndWaitEnd {
    pub id: StopAndWaitId,
    /// The neighbour's radio.
    pub peer: Address,
    radio: RadioId,
    end: StopAndWait<Msdu>,
    is_master: bool,
    queue_limit: u32,
    /// Packets that it has taken and not given back.
    own: Vec<PacketId>,
    /// Parity of each block that the master wants: what has no segment is coded so, too.
    parity: u8,
    /// A slave's: what the last poll said that it could read. One that it cannot read gives it the word all the same,
    /// and it sends in the size and code that it was told before.
    heard: Header,
}

/// The work that an output leaves.
#[derive(Debug)]
pub enum Next {
    Nothing,
    /// The MAC gets a frame for the neighbour.
    Supply(Msdu),
    /// A packet goes up.
    Deliver(Msdu),
    /// The end has finished with a packet that it had taken.
    Settle(Msdu, Result<(), DropReason>),
}

impl StopAndWaitEnd {
    /// An end at `radio` towards the radio of `peer`.
    pub fn new(
        id: StopAndWaitId,
        end: StopAndWait<Msdu>,
        [radio, peer]: [RadioId; 2],
        is_master: bool,
        queue_limit: u32,
    ) -> Self {
        let (own, heard) = (Vec::new(), Header::default());
        Self { id, peer: peer.address(), radio, end, is_master, queue_limit, own, parity: 0, heard }
    }

    pub fn stats(&self) -> &Stats {
        self.end.stats()
    }

    /// Sends a packet, or a control frame of a trunk.
    pub fn send(&mut self, msdu: Msdu, host: &mut Host<'_>) {
        self.own.push(msdu.packet.id);
        self.step(Some(Input::Packet(msdu)), host);
    }

    /// Drives the end: `None` is its timer.
    pub fn step(&mut self, input: Option<Input<Msdu>>, host: &mut Host<'_>) {
        let id = self.id;
        host.step(MachineId::StopAndWait(id), &mut self.end, input, |output| Work::StopAndWait(id, Box::new(output)));
    }

    /// The MAC has a transmission for the neighbour. A slave's end has answered the poll already.
    pub fn on_pull(&mut self, host: &mut Host<'_>) {
        if !self.is_master {
            return;
        }
        if let Some(killers) = &host.killers {
            let down = fate(killers.foretell(self.radio, RadioId::of(self.peer)));
            let up = fate(killers.foretell(RadioId::of(self.peer), self.radio));
            self.step(Some(Input::Foretold { down, up }), host);
        }
        self.step(Some(Input::Poll { invite: true }), host);
    }

    /// Carries out what the end says.
    pub fn on_output(&mut self, output: Output<Header, Msdu>, host: &mut Host<'_>) -> Next {
        match output {
            Output::Transmit(frame) => return Next::Supply(self.transmit(frame, host)),
            Output::Deliver { packet, .. } => return Next::Deliver(packet),
            Output::Piece { packet, .. } => host.packets.release(packet.packet),
            Output::Abandon { .. } => {}
            Output::Drop(msdu, reason) => {
                self.forget(msdu);
                return Next::Settle(msdu, Err(drop_reason(reason)));
            }
            Output::Release(msdu) => {
                if self.forget(msdu) {
                    return Next::Settle(msdu, Ok(()));
                }
                host.packets.release(msdu.packet);
            }
        }
        Next::Nothing
    }

    /// Whether a packet that comes back is one that this end had taken; it is not any more.
    fn forget(&mut self, msdu: Msdu) -> bool {
        let place = self.own.iter().position(|id| *id == msdu.packet.id);
        place.map(|place| self.own.swap_remove(place)).is_some()
    }

    /// The frame as the MAC gets it: one more reference to the packet that it carries.
    fn transmit(&mut self, frame: Frame<Header, Msdu>, host: &mut Host<'_>) -> Msdu {
        if let Some(shape) = frame.header.invite {
            self.parity = shape.parity();
        }
        let parity = frame.header.segment.map_or(self.parity, |segment| segment.parity);
        if let Some(packet) = frame.packet {
            host.packets.retain(packet.packet);
        }
        let body = LinkFrame { header: frame.header, packet: frame.packet, parity };
        Msdu::frame(host.packets.create_frame(host.now, FrameBody::Segment(body)), MsduKind::Segment)
    }

    /// The MAC hands up a frame of the neighbour's end, perhaps damaged.
    pub fn on_frame(&mut self, msdu: Msdu, damage: Option<Damage>, host: &mut Host<'_>) {
        if let Some(FrameBody::Segment(frame)) = host.packets.frame(msdu.packet) {
            let mut reception = reception(frame, damage);
            self.remember(&mut reception);
            if let Payload::Intact { packet, .. } = &reception.payload {
                host.packets.retain(packet.packet);
            }
            self.step(Some(Input::Received(reception)), host);
        }
        host.packets.release(msdu.packet);
    }

    /// The MAC could not send a frame.
    pub fn on_lost(&mut self, host: &mut Host<'_>) {
        self.step(Some(Input::Timeout), host);
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

    /// Free space of its queue of bulk packets.
    pub fn free_space(&self) -> FreeSpace {
        FreeSpace::new(self.end.queue_len(TrafficClass::Bulk), self.queue_limit)
    }
}

pub(super) const fn drop_reason(reason: LinkDrop) -> DropReason {
    match reason {
        LinkDrop::QueueFull => DropReason::LinkLayerQueueFull,
        LinkDrop::Expired => DropReason::Expired,
        LinkDrop::Retransmissions => DropReason::RetransmissionLimit,
        LinkDrop::TooLong => DropReason::TooLong,
    }
}

/// The received part of a frame. Its code repairs one wrong byte of a block for each pair of parity; a frame without a
/// segment is coded as the master asks for. Of a damaged frame only its code can be read: the killer's flag says that.
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
