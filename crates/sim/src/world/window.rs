//! Selective repeat at work: an end at either side of a plain link that has local error control, between the network
//! layer and the link.
//!
//! A frame stands in the table of packets as long as it is on the link, and holds a place of the packet of which it carries
//! a segment. A plain link loses frames and does not damage them.

use super::alarms::Sleeper;
use super::packet::{Carried, DropReason, PacketRef, WindowFrame};
use super::routing::NextHop;
use super::{Work, World};
use airbraid_engine::link::{
    DropReason as LinkDrop, Frame, Output, Payload, Reception, SelectiveRepeat, Stats, WindowHeader, WindowInput,
};
use airbraid_engine::{TrafficClass, step};
use airbraid_net::link::LinkInput;

/// One end of a plain link with local error control.
#[derive(Debug)]
pub(super) struct WindowEnd {
    pub end: SelectiveRepeat<PacketRef>,
    pub node: u32,
    /// The direction of the link on which it sends.
    pub direction: u32,
    pub queue_limit: u32,
}

impl WindowEnd {
    /// Packets of all classes that wait.
    pub fn queue_len(&self) -> usize {
        self.end.queue_len(TrafficClass::Bulk) + self.end.queue_len(TrafficClass::RealTime)
    }
    pub fn stats(&self) -> &Stats {
        self.end.stats()
    }
}

impl World<'_> {
    /// Gives a packet to a link, or to the link layer above it.
    pub(super) fn hand_to_link(&mut self, direction: u32, packet: PacketRef) {
        match self.links[direction as usize].window_end {
            Some(end) => self.step_window_end(end, Some(WindowInput::Packet(packet))),
            None => self.step_link(direction, Some(LinkInput::Packet(packet))),
        }
    }

    /// How many packets wait for a direction of a link, and how many may.
    pub(super) fn link_queue(&self, direction: u32) -> (usize, u32) {
        let state = &self.links[direction as usize];
        match state.window_end.map(|end| &self.window_ends[end as usize]) {
            Some(end) => (end.queue_len(), end.queue_limit),
            None => (state.link.queue_len(), state.queue_limit),
        }
    }

    /// Drives an end: `None` is its timer.
    pub(super) fn step_window_end(&mut self, end: u32, input: Option<WindowInput<PacketRef>>) {
        let Self { window_ends, alarms, pending, now, .. } = self;
        let state = &mut window_ends[end as usize];
        let wake =
            step(&mut state.end, *now, input, |output| pending.push_back(Work::WindowEnd(end, Box::new(output))));
        alarms.arm(*now, Sleeper::WindowEnd(end), wake);
        let direction = state.direction;
        self.refill(NextHop::Link(direction));
    }

    pub(super) fn on_window_output(&mut self, end: u32, output: Output<WindowHeader, PacketRef>) {
        let WindowEnd { node, direction, .. } = self.window_ends[end as usize];
        match output {
            Output::Transmit(frame) => self.transmit_on_link(direction, frame),
            Output::Piece { packet, .. } | Output::Release(packet) => self.packets.release(packet),
            Output::Deliver { packet, .. } => self.receive(node, None, packet),
            Output::Abandon { .. } => {}
            Output::Drop(packet, reason) => {
                let reason = match reason {
                    LinkDrop::QueueFull => DropReason::LinkLayerQueueFull,
                    LinkDrop::Expired => DropReason::Expired,
                    LinkDrop::Retransmissions => DropReason::RetransmissionLimit,
                    LinkDrop::TooLong => DropReason::TooLong,
                };
                self.drop_packet(node, packet, reason);
            }
        }
    }

    fn transmit_on_link(&mut self, direction: u32, frame: Frame<WindowHeader, PacketRef>) {
        if let Some(packet) = frame.packet {
            self.packets.retain(packet);
        }
        let carried = WindowFrame { header: frame.header, packet: frame.packet };
        let packet = self.packets.create_carried(self.now, Carried::Window(carried));
        self.step_link(direction, Some(LinkInput::Packet(packet)));
    }

    /// A frame has come over a direction of a link: to the end that sends on the other one.
    pub(super) fn on_window_frame(&mut self, direction: u32, packet: PacketRef) {
        let frame = self.packets.window_frame(packet);
        if let (Some(frame), Some(end)) = (frame, self.links[direction as usize ^ 1].window_end) {
            let payload = match frame.packet {
                Some(packet) => {
                    self.packets.retain(packet);
                    Payload::Intact { packet, worst: 0 }
                }
                None => Payload::None,
            };
            let reception = Reception { header: Some(frame.header), payload };
            self.step_window_end(end, Some(WindowInput::Received(reception)));
        }
        self.packets.release(packet);
    }
}
