//! A port over several links: one end of the daemon's bond, whose frames its links carry to the other end.
//!
//! A frame stands in the table of packets as long as it is anywhere, with its length on the wire, and refers to the
//! packet that it carries. Sealing and addresses are the daemon's; here they are bytes.

use super::super::account::Device;
use super::super::frame::{BondFrame, FrameBody, PacketRef};
use super::super::host::{Host, Work};
use super::super::id::{LinkDirection, LinkTrunkEnd, NodeId, PortId, Table};
use super::super::observe::{Level, Place};
use super::super::packet::DropReason;
use super::super::wakeups::MachineId;
use super::free_space::FreeSpace;
use super::link::LinkPort;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{self, Bond, BondInput, BondOutput, Frame, MemberConfig};
use airbraid_net::link::LinkInput;
use airbraid_units::{BitRate, Bytes};

/// One end of a trunk over links.
#[derive(Debug)]
pub struct LinkTrunkPort {
    end: LinkTrunkEnd,
    node: NodeId,
    tunnel: Bond<PacketRef>,
    /// For each member the direction of its link that leads to the other end, and what is around each frame there.
    members: Vec<(LinkDirection, Bytes)>,
    queue_limit: u32,
    /// Samples of each member.
    samples: Vec<MemberSamples>,
}

/// Samples of a member, one for each interval.
#[derive(Clone, Debug, Default)]
pub struct MemberSamples {
    /// Measured rate.
    pub rates: Vec<BitRate>,
    /// Bytes of feedback and probes so far.
    pub control: Vec<Bytes>,
}

impl LinkTrunkPort {
    pub const fn new(
        end: LinkTrunkEnd,
        node: NodeId,
        tunnel: Bond<PacketRef>,
        members: Vec<(LinkDirection, Bytes)>,
        queue_limit: u32,
    ) -> Self {
        Self { end, node, tunnel, members, queue_limit, samples: Vec::new() }
    }

    /// Samples its members.
    pub fn sample(&mut self) {
        let status = self.tunnel.status();
        self.samples.resize_with(status.members.len(), MemberSamples::default);
        for (samples, member) in self.samples.iter_mut().zip(&status.members) {
            samples.rates.push(member.rate);
            samples.control.push(member.control_bytes);
        }
    }

    /// The samples of a member, if there are any.
    pub fn samples(&self, member: Member) -> Option<&MemberSamples> {
        self.samples.get(usize::from(member.0))
    }

    pub const fn tunnel(&self) -> &Bond<PacketRef> {
        &self.tunnel
    }

    /// The directions of its links that lead to the other end.
    pub fn links(&self) -> impl Iterator<Item = LinkDirection> {
        self.members.iter().map(|(direction, _)| *direction)
    }

    pub const fn node(&self) -> NodeId {
        self.node
    }

    /// A member may be used from now on.
    pub fn add_member(&mut self, member: Member, config: MemberConfig, host: &mut Host<'_>) {
        self.step(Some(BondInput::MemberAdded { member, config }), host);
    }

    /// Sends a packet.
    pub fn send(&mut self, packet: PacketRef, host: &mut Host<'_>) {
        if let Some(account) = &mut host.account {
            account.on_bond(self.end, packet.bucket, packet.len);
        }
        host.tell_passage(Place::LinkTrunk(self.end), false, packet);
        self.step(Some(BondInput::Packet(packet)), host);
    }

    /// Drives the tunnel: `None` is its timer.
    pub fn step(&mut self, input: Option<BondInput<PacketRef>>, host: &mut Host<'_>) {
        let end = self.end;
        host.step(MachineId::LinkTrunk(end), &mut self.tunnel, input, |output| Work::LinkTrunk(end, Box::new(output)));
        host.refill(PortId::LinkTrunk(end));
        host.tell_level(Level::TunnelQueue(end), || self.tunnel.queue_len() as u64);
    }

    /// Carries out what the tunnel says; gives a packet that goes up.
    pub fn on_output(
        &mut self,
        output: BondOutput<PacketRef>,
        links: &mut Table<LinkDirection, LinkPort>,
        host: &mut Host<'_>,
    ) -> Option<(NodeId, PacketRef)> {
        match output {
            BondOutput::Transmit { member, frame, .. } => self.transmit(member, frame, links, host),
            BondOutput::Deliver(packet) => {
                host.tell_passage(Place::LinkTrunk(self.end), true, packet);
                return Some((self.node, packet));
            }
            BondOutput::Release(packet) => host.packets.release(packet),
            // Nobody here hears what ICMP says, and hosts have no MTU by peer.
            BondOutput::PathMtu { .. } | BondOutput::HintWanted { .. } => {}
            BondOutput::Spent(symbol) => host.packets.release_symbol(&symbol),
            // No member moves here.
            BondOutput::Validated(_) | BondOutput::NotValidated(_) => {}
            BondOutput::Dropped { packet, reason } => {
                host.drop_packet(self.node, Device::LinkTrunk(self.end), packet, drop_reason(reason));
            }
        }
        None
    }

    fn transmit(
        &self,
        member: Member,
        frame: Frame<PacketRef>,
        links: &mut Table<LinkDirection, LinkPort>,
        host: &mut Host<'_>,
    ) {
        let (direction, overhead) = self.members[usize::from(member.0)];
        match &frame {
            Frame::Data { packet, .. } => host.packets.retain(*packet),
            Frame::Repair { symbol, .. } => {
                symbol.iter().filter_map(|(_, packet)| *packet).for_each(|packet| host.packets.retain(packet));
            }
            Frame::Feedback(_) | Frame::Probe(_) | Frame::PathChallenge(_) | Frame::PathResponse(_) => {}
        }
        let len = (frame.len() + overhead).as_u64() as u32;
        let packet = host.packets.create_frame(host.now, FrameBody::Bond(BondFrame { member, frame, len }));
        links[direction].step(Some(LinkInput::Packet(packet)), host);
    }

    /// A link has brought a frame.
    pub fn on_frame(&mut self, frame: PacketRef, host: &mut Host<'_>) {
        let Some(BondFrame { member, frame, len }) = host.packets.take_bond_frame(frame) else {
            return host.packets.release(frame);
        };
        self.step(Some(BondInput::Frame { member, frame, length: Bytes::new(u64::from(len)) }), host);
    }

    /// Free space of its queue.
    pub fn free_space(&self) -> FreeSpace {
        FreeSpace::new(self.tunnel.queue_len(), self.queue_limit)
    }
}

const fn drop_reason(reason: bonding::BondDropReason) -> DropReason {
    match reason {
        bonding::BondDropReason::QueueFull | bonding::BondDropReason::Memory => DropReason::TrunkQueueFull,
        bonding::BondDropReason::Managed => DropReason::Managed,
        bonding::BondDropReason::Expired => DropReason::Expired,
        bonding::BondDropReason::Late => DropReason::TrunkLate,
        bonding::BondDropReason::TooLong => DropReason::TooLong,
        bonding::BondDropReason::Duplicate | bonding::BondDropReason::Stale => DropReason::TrunkStale,
        bonding::BondDropReason::Superseded => DropReason::Superseded,
    }
}
