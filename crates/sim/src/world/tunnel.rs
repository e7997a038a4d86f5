//! Tunnels at work: what an end sends goes over its links as frames, and comes to the other end.
//!
//! A frame stands in the table of packets as long as it is anywhere, with its length on the wire, and holds a place of the
//! packet that it carries. Sealing and addresses are the daemon's; here they are bytes.

use super::alarms::Sleeper;
use super::packet::{Carried, DropReason, PacketRef, TunnelFrame};
use super::routing::NextHop;
use super::{Work, World};
use crate::scenario::spec::LinkTrunk;
use airbraid_engine::step;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{self as tunnel, Config, Frame, Input, Output, Tunnel};
use airbraid_net::link::LinkInput;
use airbraid_units::Bytes;

/// One end of a tunnel.
#[derive(Debug)]
pub(super) struct TunnelEnd<'a> {
    pub spec: &'a LinkTrunk,
    pub tunnel: Tunnel<PacketRef>,
    pub node: u32,
    /// For each member the direction of its link that leads to the other end, and what is around each frame there.
    pub members: Vec<(u32, Bytes)>,
    pub queue_limit: u32,
}

impl World<'_> {
    /// Both ends of each tunnel; their links bring nothing but frames.
    pub(super) fn add_tunnels(&mut self) {
        for (index, spec) in self.spec.link_trunks().enumerate() {
            for side in [0, 1] {
                let end = (2 * index + side) as u32;
                let direction = |link: usize, way: usize| {
                    // A link between the same nodes may be written the other way round.
                    let is_same = self.spec.links[link].between == spec.between;
                    (2 * link + if is_same { way } else { 1 - way }) as u32
                };
                let ways = spec.members.iter().map(|member| (direction(member.link, side), member.config.overhead));
                let members: Vec<(u32, Bytes)> = ways.collect();
                for member in &spec.members {
                    let inward = direction(member.link, 1 - side);
                    self.links[inward as usize].tunnel = Some(end);
                }
                let config = Config { policy: spec.policy, epoch: 1 };
                self.tunnels.push(TunnelEnd {
                    spec,
                    tunnel: Tunnel::new(config),
                    node: spec.between[side] as u32,
                    members,
                    queue_limit: spec.policy.queue_limit,
                });
            }
        }
        for (index, spec) in self.spec.link_trunks().enumerate() {
            for side in [0, 1] {
                for (member, config) in spec.members.iter().enumerate() {
                    let input = Input::MemberAdded { member: Member(member as u8), config: config.config };
                    self.step_tunnel((2 * index + side) as u32, Some(input));
                }
            }
        }
    }

    /// Drives an end: `None` is its timer.
    pub(super) fn step_tunnel(&mut self, end: u32, input: Option<Input<PacketRef>>) {
        let Self { tunnels, alarms, pending, now, .. } = self;
        let state = &mut tunnels[end as usize];
        let wake =
            step(&mut state.tunnel, *now, input, |output| pending.push_back(Work::Tunnel(end, Box::new(output))));
        alarms.arm(*now, Sleeper::Tunnel(end), wake);
        self.refill(NextHop::Tunnel(end));
    }

    pub(super) fn on_tunnel_output(&mut self, end: u32, output: Output<PacketRef>) {
        let node = self.tunnels[end as usize].node;
        match output {
            Output::Transmit { member, frame, .. } => self.send_tunnel_frame(end, member, frame),
            Output::Deliver(packet) => self.receive(node, None, packet),
            Output::Release(packet) => self.packets.release(packet),
            // Nobody here hears what ICMP says, and hosts have no MTU by peer.
            Output::PathMtu { .. } | Output::HintWanted { .. } => {}
            Output::Spent(symbol) => self.packets.release_symbol(&symbol),
            // No member moves here.
            Output::Validated(_) | Output::NotValidated(_) => {}
            Output::Dropped { packet, reason } => {
                let reason = match reason {
                    tunnel::DropReason::QueueFull | tunnel::DropReason::Memory => DropReason::TrunkQueueFull,
                    tunnel::DropReason::Managed => DropReason::Managed,
                    tunnel::DropReason::Expired => DropReason::Expired,
                    tunnel::DropReason::Late => DropReason::TrunkLate,
                    tunnel::DropReason::TooLong => DropReason::TooLong,
                    tunnel::DropReason::Duplicate | tunnel::DropReason::Stale => DropReason::TrunkStale,
                };
                self.drop_packet(node, packet, reason);
            }
        }
    }

    fn send_tunnel_frame(&mut self, end: u32, member: Member, frame: Frame<PacketRef>) {
        let (direction, overhead) = self.tunnels[end as usize].members[usize::from(member.0)];
        match &frame {
            Frame::Data { packet, .. } => self.packets.retain(*packet),
            Frame::Repair { symbol, .. } => {
                symbol.iter().filter_map(|(_, packet)| *packet).for_each(|packet| self.packets.retain(packet));
            }
            Frame::Feedback(_) | Frame::Probe(_) | Frame::PathChallenge(_) | Frame::PathResponse(_) => {}
        }
        let len = (frame.len() + overhead).as_u64() as u32;
        let packet = self.packets.create_carried(self.now, Carried::Tunnel(TunnelFrame { member, frame, len }));
        self.step_link(direction, Some(LinkInput::Packet(packet)));
    }

    /// A link has brought something to an end.
    pub(super) fn on_tunnel_frame(&mut self, end: u32, packet: PacketRef) {
        let Some(TunnelFrame { member, frame, len }) = self.packets.take_tunnel_frame(packet) else {
            self.packets.release(packet);
            return;
        };
        self.step_tunnel(end, Some(Input::Frame { member, frame, length: Bytes::new(u64::from(len)) }));
    }
}
