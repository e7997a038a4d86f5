//! A port on a plain link: one direction of it, and local error control where the link has it.

use super::super::account::Device;
use super::super::frame::PacketRef;
use super::super::host::{Host, Work};
use super::super::id::{LinkDirection, LinkTrunkEnd, NodeId, PortId};
use super::super::observe::{Level, Place};
use super::super::packet::DropReason;
use super::super::wakeups::MachineId;
use super::free_space::FreeSpace;
use super::selective_repeat::{SelectiveRepeatEnd, Upward};
use airbraid_engine::link::{Output, WindowHeader};
use airbraid_net::link::{self, Link, LinkInput, LinkOutput};

/// The load of a link.
#[derive(Debug)]
pub enum Carries {
    /// Packets of the network layer.
    Packets,
    /// Frames of a trunk, which they bring to this end.
    LinkTrunk(LinkTrunkEnd),
    /// Frames of selective repeat: the end that sends in this direction.
    SelectiveRepeat(Box<SelectiveRepeatEnd>),
}

/// A port on a link, with the direction that leads away from its node.
#[derive(Debug)]
pub struct LinkPort {
    direction: LinkDirection,
    link: Link<PacketRef>,
    /// The node to which the direction leads.
    to: NodeId,
    queue_limit: u32,
    carries: Carries,
}

/// An arrival at the far end of a link.
#[derive(Debug)]
pub enum Arrival {
    /// A packet for the network layer of a node.
    Packet(NodeId, PacketRef),
    /// A frame of a trunk, for this end.
    LinkTrunk(LinkTrunkEnd, PacketRef),
    /// A frame for the end of selective repeat that sends in the other direction.
    SelectiveRepeat(PacketRef),
}

impl LinkPort {
    pub const fn new(
        direction: LinkDirection,
        link: Link<PacketRef>,
        to: NodeId,
        queue_limit: u32,
        carries: Carries,
    ) -> Self {
        Self { direction, link, to, queue_limit, carries }
    }

    /// The node to which the direction leads.
    pub const fn to(&self) -> NodeId {
        self.to
    }

    /// The machine of the link itself.
    pub const fn link(&self) -> &Link<PacketRef> {
        &self.link
    }

    /// The end of error control that sends in this direction.
    pub const fn error_control(&self) -> Option<&SelectiveRepeatEnd> {
        match &self.carries {
            Carries::SelectiveRepeat(end) => Some(end),
            Carries::Packets | Carries::LinkTrunk(_) => None,
        }
    }

    /// Whether its packets are frames of a trunk: then no route leads over it.
    pub const fn is_in_trunk(&self) -> bool {
        matches!(self.carries, Carries::LinkTrunk(_))
    }

    /// The link wakes as its queue gets shorter, for greedy flows.
    pub fn watch_queue(&mut self) {
        self.link.watch_queue();
    }

    /// Sends a packet.
    #[inline]
    pub fn send(&mut self, packet: PacketRef, host: &mut Host<'_>) {
        if let Some(account) = &mut host.account {
            account.on_link(self.direction, packet.bucket, packet.len);
        }
        match &mut self.carries {
            Carries::SelectiveRepeat(end) => end.send(packet, host),
            Carries::Packets | Carries::LinkTrunk(_) => self.step(Some(LinkInput::Packet(packet)), host),
        }
    }

    /// Drives the link: `None` is its timer.
    pub fn step(&mut self, input: Option<LinkInput<PacketRef>>, host: &mut Host<'_>) {
        let direction = self.direction;
        if host.observer.is_some()
            && let Some(LinkInput::Packet(packet)) = &input
        {
            host.tell_passage(Place::Link(direction), false, *packet);
        }
        host.step(MachineId::Link(direction), &mut self.link, input, |output| Work::Link(direction, output));
        host.refill(PortId::Link(direction));
        host.tell_level(Level::LinkQueue(direction), || self.link.queue_len() as u64);
    }

    /// Carries out what the link says; gives what has arrived.
    #[inline]
    pub fn on_output(&mut self, output: LinkOutput<PacketRef>, host: &mut Host<'_>) -> Option<Arrival> {
        if host.observer.is_some()
            && let LinkOutput::Deliver(packet) = &output
        {
            host.tell_passage(Place::Link(self.direction), true, *packet);
        }
        match (output, &self.carries) {
            (LinkOutput::Deliver(packet), Carries::Packets) => Some(Arrival::Packet(self.to, packet)),
            (LinkOutput::Deliver(packet), Carries::LinkTrunk(end)) => Some(Arrival::LinkTrunk(*end, packet)),
            (LinkOutput::Deliver(packet), Carries::SelectiveRepeat(_)) => Some(Arrival::SelectiveRepeat(packet)),
            (LinkOutput::Dropped(packet, reason), Carries::Packets) => {
                host.drop_packet(self.to, Device::Link(self.direction), packet, drop_reason(reason));
                None
            }
            // A frame: what it carried is still with the end that sent it.
            (LinkOutput::Dropped(packet, reason), _) => {
                host.lose_frame(Device::Link(self.direction), packet, drop_reason(reason));
                host.packets.release(packet);
                None
            }
        }
    }

    /// The timer of error control.
    pub fn on_error_control_timer(&mut self, host: &mut Host<'_>) {
        if let Carries::SelectiveRepeat(end) = &mut self.carries {
            end.step(None, host);
        }
    }

    /// A frame for error control has come over the other direction.
    pub fn on_frame(&mut self, frame: PacketRef, host: &mut Host<'_>) {
        match &mut self.carries {
            Carries::SelectiveRepeat(end) => end.on_frame(frame, host),
            Carries::Packets | Carries::LinkTrunk(_) => host.packets.release(frame),
        }
    }

    /// Carries out what error control says; gives a packet that goes up, with the node where it does.
    pub fn on_error_control_output(
        &mut self,
        output: Output<WindowHeader, PacketRef>,
        host: &mut Host<'_>,
    ) -> Option<(NodeId, PacketRef)> {
        let Carries::SelectiveRepeat(end) = &mut self.carries else { return None };
        match end.on_output(output, host) {
            Upward::Nothing => None,
            Upward::Deliver(node, packet) => Some((node, packet)),
            Upward::Transmit(frame) => {
                self.step(Some(LinkInput::Packet(frame)), host);
                None
            }
        }
    }

    /// Free space of its queue: that of error control, where there is any.
    pub fn free_space(&self) -> FreeSpace {
        match &self.carries {
            Carries::SelectiveRepeat(end) => end.free_space(),
            Carries::Packets | Carries::LinkTrunk(_) => FreeSpace::new(self.link.queue_len(), self.queue_limit),
        }
    }
}

const fn drop_reason(reason: link::DropReason) -> DropReason {
    match reason {
        link::DropReason::QueueFull => DropReason::LinkQueueFull,
        link::DropReason::Loss => DropReason::LinkLoss,
        link::DropReason::LinkDown => DropReason::Down,
        link::DropReason::TooLong => DropReason::TooLong,
    }
}
