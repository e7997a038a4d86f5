//! The network layer: forwarding by static routes over radios, trunks and links.

use super::alarms::Sleeper;
use super::packet::{Carried, ControlFrame, DropReason, Msdu, PacketRef, Part};
use super::routing::NextHop;
use super::{LinkEnd, Work, World};
use airbraid_engine::step;
use airbraid_engine::trunk::{bonding as tunnel, paper as trunk};
use airbraid_mac::Address;
use airbraid_net::aodv;
use airbraid_net::link::{self, LinkInput, LinkOutput};

/// A packet that was forwarded so often runs in a circle: the initial TTL of most hosts.
const HOP_LIMIT: u8 = 64;

impl World<'_> {
    /// Sends a packet from a node on its way.
    pub(super) fn send(&mut self, node: u32, packet: PacketRef) {
        let record = self.packets.get(packet);
        let hop = match &self.multihomed {
            None => self.routes.next_hop(node, record.to),
            Some(multihomed) => multihomed.next_hop(&self.routes, node, record.from, record.to),
        };
        match hop {
            None => match &self.on_demand {
                Some(on_demand) => self.originate(node, on_demand.ttl(), packet),
                None => self.drop_packet(node, packet, DropReason::NoRoute),
            },
            Some(NextHop::Radio { radio, neighbour }) => {
                let msdu = Msdu { packet, overhead: 0, part: Part::None };
                self.hand_down(radio, neighbour, msdu);
            }
            Some(NextHop::Trunk(end)) if self.trunks[end as usize].select.is_some() => self.select_for(end, packet),
            Some(NextHop::Trunk(end)) => self.step_trunk(end, Some(trunk::Input::Packet(packet))),
            Some(NextHop::Link(direction)) => self.hand_to_link(direction, packet),
            Some(NextHop::Tunnel(end)) => self.step_tunnel(end, Some(tunnel::Input::Packet(packet))),
        }
    }

    /// A packet has come to a node, perhaps from a neighbour's radio: to its transport, or on its way.
    #[inline]
    pub(super) fn receive(&mut self, node: u32, from: Option<Address>, packet: PacketRef) {
        let record = self.packets.get_mut(packet);
        if record.to == node {
            if let (Some(_), Some(from)) = (&self.on_demand, from) {
                self.on_sign_of_life(node, from, aodv::Input::Heard);
            }
            self.deliver(node, packet);
            return;
        }
        if self.multihomed.is_some() && self.translate_inward(node, from, packet) {
            return;
        }
        let record = self.packets.get_mut(packet);
        if let (Some(_), Some(from)) = (&self.on_demand, from)
            && self.routes.next_hop(node, record.to).is_none()
        {
            let from = self.stations[from.0 as usize].node;
            self.forward(node, from, packet);
            return;
        }
        record.hops = record.hops.saturating_add(1);
        if record.hops >= HOP_LIMIT {
            self.drop_packet(node, packet, DropReason::HopLimit);
        } else {
            self.send(node, packet);
        }
    }

    /// Drives a trunk end: `None` is its timer.
    pub(super) fn step_trunk(&mut self, end: u32, input: Option<trunk::Input<PacketRef>>) {
        let Self { trunks, alarms, pending, now, .. } = self;
        let state = &mut trunks[end as usize];
        let wake = step(&mut state.trunk, *now, input, |output| pending.push_back(Work::Trunk(end, output)));
        alarms.arm(*now, Sleeper::Trunk(end), wake);
    }

    pub(super) fn on_trunk_output(&mut self, end: u32, output: trunk::Output<PacketRef>) {
        let state = &self.trunks[end as usize];
        match output {
            trunk::Output::Transmit { header, packet, kept } => {
                let (radio, neighbour) = state.members[usize::from(header.member.0)];
                let msdu = Msdu { packet, overhead: state.overhead, part: Part::Packet(header) };
                if kept {
                    self.packets.retain(packet);
                }
                self.hand_down(radio, neighbour, msdu);
            }
            trunk::Output::Control { member, acknowledged, control } => {
                self.send_control(ControlFrame { end, member, control }, acknowledged);
            }
            trunk::Output::Release(packet) => self.packets.release(packet),
            trunk::Output::Deliver(packet) => self.receive(state.node, None, packet),
            trunk::Output::Drop(packet, reason) => {
                let reason = match reason {
                    trunk::DropReason::QueueFull => DropReason::TrunkQueueFull,
                    trunk::DropReason::FifoFull => DropReason::TrunkFifoFull,
                    trunk::DropReason::Late => DropReason::TrunkLate,
                    trunk::DropReason::Duplicate | trunk::DropReason::Stale => DropReason::TrunkStale,
                };
                self.drop_packet(state.node, packet, reason);
            }
        }
    }

    /// Sends a control frame of a trunk: a frame like any other to the MAC, but no packet.
    #[inline(never)]
    fn send_control(&mut self, frame: ControlFrame, acknowledged: bool) {
        let (radio, neighbour) = self.trunks[frame.end as usize].members[usize::from(frame.member.0)];
        let to = if acknowledged { neighbour } else { Address::BROADCAST };
        let packet = self.packets.create_carried(self.now, Carried::Control(frame));
        let msdu = Msdu { packet, overhead: 0, part: Part::Control };
        self.hand_down(radio, to, msdu);
    }

    /// Drives one direction of a link: `None` is its timer.
    pub(super) fn step_link(&mut self, direction: u32, input: Option<LinkInput<PacketRef>>) {
        let Self { links, alarms, pending, now, .. } = self;
        let state = &mut links[direction as usize];
        let wake = step(&mut state.link, *now, input, |output| pending.push_back(Work::Link(direction, output)));
        alarms.arm(*now, Sleeper::Link(direction), wake);
        self.refill(NextHop::Link(direction));
    }

    pub(super) fn on_link_output(&mut self, direction: u32, output: LinkOutput<PacketRef>) {
        let LinkEnd { to, window_end, .. } = self.links[direction as usize];
        match output {
            LinkOutput::Deliver(packet) if window_end.is_some() => self.on_window_frame(direction, packet),
            // A frame: what it carried is still with its link layer.
            LinkOutput::Dropped(packet, _) if window_end.is_some() => self.packets.release(packet),
            LinkOutput::Deliver(packet) => match self.links[direction as usize].tunnel {
                Some(end) => self.on_tunnel_frame(end, packet),
                None => self.receive(to, None, packet),
            },
            LinkOutput::Dropped(packet, _) if self.links[direction as usize].tunnel.is_some() => {
                self.packets.release(packet);
            }
            LinkOutput::Dropped(packet, reason) => {
                let reason = match reason {
                    link::DropReason::QueueFull => DropReason::LinkQueueFull,
                    link::DropReason::Loss => DropReason::LinkLoss,
                    link::DropReason::LinkDown => DropReason::Down,
                    link::DropReason::TooLong => DropReason::TooLong,
                };
                self.drop_packet(to, packet, reason);
            }
        }
    }
}
