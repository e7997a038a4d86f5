//! Local error control over a plain link: an end of selective repeat at either side, between the network layer and the
//! link.
//!
//! A frame stands in the table of packets as long as it is on the link, and refers to the packet of which it carries a
//! segment. A plain link loses frames and does not damage them.

use super::super::account::Device;
use super::super::frame::{FrameBody, PacketRef, WindowFrame};
use super::super::host::{Host, Work};
use super::super::id::{LinkDirection, NodeId, PortId};
use super::super::wakeups::MachineId;
use super::error_control::drop_reason;
use super::free_space::FreeSpace;
use airbraid_engine::TrafficClass;
use airbraid_engine::link::{Frame, Output, Payload, Reception, SelectiveRepeat, Stats, WindowHeader, WindowInput};

/// One end of a plain link with local error control.
#[derive(Debug)]
pub struct SelectiveRepeatEnd {
    end: SelectiveRepeat<PacketRef>,
    node: NodeId,
    /// The direction of the link on which it sends.
    direction: LinkDirection,
    queue_limit: u32,
}

/// The work that an output leaves.
#[derive(Debug)]
pub enum Upward {
    Nothing,
    /// A packet goes up at a node.
    Deliver(NodeId, PacketRef),
    /// A frame goes on the link.
    Transmit(PacketRef),
}

impl SelectiveRepeatEnd {
    pub const fn new(
        end: SelectiveRepeat<PacketRef>,
        node: NodeId,
        direction: LinkDirection,
        queue_limit: u32,
    ) -> Self {
        Self { end, node, direction, queue_limit }
    }

    /// The node at which it stands.
    pub const fn node(&self) -> NodeId {
        self.node
    }

    pub fn stats(&self) -> &Stats {
        self.end.stats()
    }

    /// Sends a packet.
    pub fn send(&mut self, packet: PacketRef, host: &mut Host<'_>) {
        self.step(Some(WindowInput::Packet(packet)), host);
    }

    /// Drives the end: `None` is its timer.
    pub fn step(&mut self, input: Option<WindowInput<PacketRef>>, host: &mut Host<'_>) {
        let direction = self.direction;
        host.step(MachineId::SelectiveRepeat(direction), &mut self.end, input, |output| {
            Work::SelectiveRepeat(direction, Box::new(output))
        });
        host.refill(PortId::Link(direction));
    }

    /// Carries out what the end says.
    pub fn on_output(&mut self, output: Output<WindowHeader, PacketRef>, host: &mut Host<'_>) -> Upward {
        match output {
            Output::Transmit(frame) => return Upward::Transmit(transmit(frame, host)),
            Output::Deliver { packet, .. } => return Upward::Deliver(self.node, packet),
            Output::Piece { packet, .. } | Output::Release(packet) => host.packets.release(packet),
            Output::Abandon { .. } => {}
            Output::Drop(packet, reason) => {
                host.drop_packet(self.node, Device::Link(self.direction), packet, drop_reason(reason))
            }
        }
        Upward::Nothing
    }

    /// A frame has come over the link.
    pub fn on_frame(&mut self, frame: PacketRef, host: &mut Host<'_>) {
        if let Some(&FrameBody::Window(WindowFrame { header, packet })) = host.packets.frame(frame) {
            let payload = match packet {
                Some(packet) => {
                    host.packets.retain(packet);
                    Payload::Intact { packet, worst: 0 }
                }
                None => Payload::None,
            };
            self.step(Some(WindowInput::Received(Reception { header: Some(header), payload })), host);
        }
        host.packets.release(frame);
    }

    /// Free space of its queue.
    pub fn free_space(&self) -> FreeSpace {
        let waiting = self.end.queue_len(TrafficClass::Bulk) + self.end.queue_len(TrafficClass::RealTime);
        FreeSpace::new(waiting, self.queue_limit)
    }
}

/// The frame as it goes on the link: one more reference to the packet that it carries.
fn transmit(frame: Frame<WindowHeader, PacketRef>, host: &mut Host<'_>) -> PacketRef {
    if let Some(packet) = frame.packet {
        host.packets.retain(packet);
    }
    let body = WindowFrame { header: frame.header, packet: frame.packet };
    host.packets.create_frame(host.now, FrameBody::Window(body))
}
