//! A packet's walk, from top to bottom and up again: a transport gives it to the network layer, that to a port, a port
//! perhaps to others below; an arrival goes up through the same ports.
//!
//! Everything that sends enters at [`World::send`] or, with a port of its own choice, at [`World::send_by`]: packets
//! from inside and from outside alike.

use super::World;
use super::account::Device;
use super::aodv::restore_hops;
use super::external::Delivery;
use super::frame::{BeaconFrame, ControlFrame, FrameBody, Msdu, MsduKind, PacketRef, Unsent};
use super::host::Host;
use super::id::{FlowId, LinkDirection, LinkTrunkEnd, NodeId, PortId, RadioId, RadioTrunkEnd, StopAndWaitId};
use super::network::{Forwarding, Network};
use super::observe::{Passage, Place};
use super::packet::{Body, DropReason};
use super::port::error_control::Next;
use super::port::link::Arrival;
use super::port::select::Taken;
use super::port::{FreeSpace, Ports};
use airbraid_engine::link;
use airbraid_engine::trunk::{Member, bonding, paper};
use airbraid_mac::edca::Ppdu;
use airbraid_mac::{Address, Complete, Outcome};
use airbraid_net::link::LinkOutput;
use airbraid_net::{aodv, arp};
use airbraid_units::Duration;
use std::ops::Range;

/// Number of hops after which a packet runs in a loop: the initial TTL of most hosts.
const HOP_LIMIT: u8 = 64;

/// Down: from a transport to a port.
impl World<'_> {
    /// Sends a packet from a node on its way.
    pub(super) fn send(&mut self, node: NodeId, packet: PacketRef) {
        let record = self.host.packets.get(packet);
        match self.network.next_hop(node, record.from, record.to) {
            Some(port) => self.send_by(port, packet),
            None => self.send_without_route(node, packet),
        }
    }

    /// Sends a packet by a port.
    #[inline]
    pub(super) fn send_by(&mut self, port: PortId, packet: PacketRef) {
        self.ports.send(port, packet, &mut self.host);
    }

    fn send_without_route(&mut self, node: NodeId, packet: PacketRef) {
        match &mut self.network.forwarding {
            Forwarding::OnDemand(routers) => routers.originate(node, packet, &mut self.host),
            Forwarding::Static | Forwarding::Multihomed(_) => {
                self.host.drop_packet(node, Device::Node(node), packet, DropReason::NoRoute);
            }
        }
    }

    /// Sends one datagram of the next greedy flow that leaves by a port with free space, and looks again when what has
    /// followed from it is done.
    pub(super) fn refill(&mut self, port: PortId) {
        while let Some(flow) = self.next_greedy(port) {
            self.send_datagram(flow);
            if !self.host.pending.is_empty() {
                return self.host.refill(port);
            }
        }
    }

    fn next_greedy(&mut self, port: PortId) -> Option<FlowId> {
        let Self { flows, ports, network, host, .. } = self;
        flows.take_turn(port, |port, priority| free_space((port, priority), ports, network, host).is_there())
    }

    pub(super) fn send_datagram(&mut self, flow: FlowId) {
        if let Some((node, packet)) = self.flows.datagram(flow, &mut self.host) {
            self.originate(node, packet);
        }
    }

    /// A transport of a node gives a packet to its network layer.
    #[inline]
    pub(super) fn originate(&mut self, node: NodeId, packet: PacketRef) {
        self.host.tell_passage(Place::Host(node), false, packet);
        self.send(node, packet);
    }
}

/// Free space of the first queue of a packet of a user priority that leaves by a port.
fn free_space((port, priority): (PortId, u8), ports: &Ports, network: &Network, host: &Host<'_>) -> FreeSpace {
    let mut space = ports.free_space(port, priority, host);
    if let (Forwarding::OnDemand(routers), PortId::Radio { radio, .. }) = (&network.forwarding, port) {
        space.waiting += routers.buffered(ports.radios[radio].node()) as u32;
    }
    space
}

/// Down: what the machine of a port says, and up from it.
impl World<'_> {
    pub(super) fn on_radio_trunk_output(&mut self, end: RadioTrunkEnd, output: paper::PaperOutput<PacketRef>) {
        let trunk = &mut self.ports.radio_trunks[end];
        if let Some(packet) = trunk.on_output(output, &mut self.ports.radios, &mut self.host) {
            let node = trunk.node();
            self.receive(node, None, packet);
        }
    }

    pub(super) fn on_link_trunk_output(&mut self, end: LinkTrunkEnd, output: bonding::BondOutput<PacketRef>) {
        let arrived = self.ports.link_trunks[end].on_output(output, &mut self.ports.links, &mut self.host);
        if let Some((node, packet)) = arrived {
            self.receive(node, None, packet);
        }
    }

    pub(super) fn on_link_output(&mut self, direction: LinkDirection, output: LinkOutput<PacketRef>) {
        let Self { ports, host, .. } = self;
        match ports.links[direction].on_output(output, host) {
            Some(Arrival::Packet(node, packet)) => self.receive(node, None, packet),
            Some(Arrival::LinkTrunk(end, frame)) => ports.link_trunks[end].on_frame(frame, host),
            Some(Arrival::SelectiveRepeat(frame)) => ports.links[direction.peer()].on_frame(frame, host),
            None => {}
        }
    }

    pub(super) fn on_selective_repeat_output(
        &mut self,
        direction: LinkDirection,
        output: link::Output<link::WindowHeader, PacketRef>,
    ) {
        let arrived = self.ports.links[direction].on_error_control_output(output, &mut self.host);
        if let Some((node, packet)) = arrived {
            self.receive(node, None, packet);
        }
    }

    pub(super) fn on_stop_and_wait_output(&mut self, id: StopAndWaitId, output: link::Output<link::Header, Msdu>) {
        let radio = self.ports.stop_and_wait[id];
        match self.ports.radios[radio].on_error_control_output(id, output, &mut self.host) {
            Some((peer, Next::Deliver(msdu))) => self.take_up(radio, peer, msdu),
            Some((peer, Next::Settle(msdu, kept))) => {
                self.ports.radios[radio].count(false, &mut self.host);
                let fate = if kept.is_ok() { paper::FrameFate::Delivered } else { paper::FrameFate::Lost };
                self.settle(radio, peer, msdu, kept, fate);
            }
            Some((_, Next::Nothing | Next::Supply(_))) | None => {}
        }
    }

    pub(super) fn on_resolver_output(&mut self, node: NodeId, output: arp::Output<Unsent>) {
        let Some(routers) = self.network.routers_mut() else { return };
        let unreachable = routers.on_resolver_output(node, output, &mut self.ports.radios, &mut self.host);
        if let Some((radio, neighbour, msdu)) = unreachable {
            self.on_mac_finished(radio, neighbour, msdu, Outcome::RetryLimit, 0);
        }
    }
}

/// The end of a MAC's work on a frame.
impl World<'_> {
    pub(super) fn on_mac_finished(&mut self, radio: RadioId, to: Address, msdu: Msdu, outcome: Outcome, attempts: u32) {
        let radio = self.ports.radios[radio].entrance(to, &self.host);
        self.on_finished(radio, to, msdu, outcome, attempts);
    }

    /// The MAC has finished with what came in at a radio: with a packet for a multi-link peer perhaps on another link.
    #[inline(always)]
    fn on_finished(&mut self, radio: RadioId, to: Address, msdu: Msdu, outcome: Outcome, attempts: u32) {
        let Self { ports, network, host, .. } = self;
        if msdu.kind != MsduKind::Segment {
            ports.radios[radio].count(false, host);
            host.tell_finished(radio, msdu, outcome, attempts);
        }
        match msdu.kind {
            MsduKind::Plain | MsduKind::Routed { .. } => {
                if let Forwarding::OnDemand(routers) = &mut network.forwarding
                    && routers.on_finished(radio, to, msdu, outcome, &ports.radios, host)
                {
                    return;
                }
            }
            MsduKind::Selected(_) | MsduKind::Trunk(_) => {
                if let Some((end, member)) = ports.radios[radio].member_towards(to)
                    && ports.radio_trunks[end].on_finished(member, msdu, (outcome, attempts), &ports.radios, host)
                        == Taken::Back
                {
                    return;
                }
            }
            MsduKind::Control => {}
            MsduKind::Segment => return ports.radios[radio].on_segment_finished(to, msdu, outcome, host),
            MsduKind::Routing => {
                if let Some(routers) = network.routers_mut() {
                    routers.on_message_finished(radio, to, msdu, outcome, &ports.radios, host);
                }
                return;
            }
            MsduKind::Beacon => return host.packets.release(msdu.packet),
        }
        let (kept, fate) = match outcome {
            Outcome::Acknowledged => (Ok(()), paper::FrameFate::Delivered),
            Outcome::Broadcast | Outcome::Unknown => (Ok(()), paper::FrameFate::Unknown),
            Outcome::RetryLimit => (Err(DropReason::RetryLimit), paper::FrameFate::Lost),
            Outcome::Damaged => (Err(DropReason::Damaged), paper::FrameFate::Lost),
            Outcome::QueueFull => (Err(DropReason::InterfaceQueueFull), paper::FrameFate::Lost),
            Outcome::Purged => (Err(DropReason::LinkBroken), paper::FrameFate::Lost),
        };
        self.settle(radio, to, msdu, kept, fate);
    }

    /// The MSDUs of consecutive MPDUs are acknowledged.
    pub(super) fn on_mac_acknowledged(&mut self, radio: RadioId, ppdu: &Ppdu<Msdu>, mpdus: &Range<u32>) {
        let Some(data) = ppdu.data() else { return };
        let to = ppdu.header.to;
        let radio = self.ports.radios[radio].entrance(to, &self.host);
        for mpdu in &data.mpdus()[mpdus.start as usize..mpdus.end as usize] {
            for msdu in data.msdus_of(mpdu) {
                self.on_finished(radio, to, *msdu, Outcome::Acknowledged, u32::from(mpdu.attempts));
            }
        }
    }

    /// The layer below has finished with a packet or control frame: the trunk or the source may send the next.
    fn settle(
        &mut self,
        radio: RadioId,
        to: Address,
        msdu: Msdu,
        kept: Result<(), DropReason>,
        fate: paper::FrameFate,
    ) {
        let Self { ports, host, .. } = self;
        if msdu.kind == MsduKind::Control {
            let frame = control(msdu, host);
            host.packets.release(msdu.packet);
            if let Some(ControlFrame { end, member, .. }) = frame {
                ports.radio_trunks[end].on_control_settled(member, fate, host);
            }
            return;
        }
        let port = &ports.radios[radio];
        match kept {
            Ok(()) => host.packets.release(msdu.packet),
            Err(reason) => host.drop_packet(port.node(), port.place(to, host), msdu.packet, reason),
        }
        match (msdu.kind, port.member_towards(to)) {
            (MsduKind::Trunk(header), Some((end, member))) => {
                let number = port.has_block_acks().then_some(header.number);
                ports.radio_trunks[end].on_settled((member, number), fate, host);
            }
            _ => host.refill(PortId::Radio { radio, neighbour: radio.address() }),
        }
    }
}

/// Up: from a radio to the trunk that it serves or the network layer, and to a transport.
impl World<'_> {
    /// A MAC hands something up: a frame of error control to its end, a packet further.
    pub(super) fn on_mac_delivery(&mut self, radio: RadioId, from: Address, msdu: Msdu) {
        if msdu.kind == MsduKind::Segment {
            self.ports.radios[radio].on_segment(from, msdu, None, &mut self.host);
        } else {
            self.take_up(radio, from, msdu);
        }
    }

    /// A MAC hands up the packets of consecutive MPDUs, each complete where its MPDU ends in the PPDU, or all as
    /// `complete` says. Where they come with the end of the PPDU nothing could have followed from one before; only the
    /// time that its delay is taken at is its own.
    pub(super) fn on_mac_deliveries(
        &mut self,
        radio: RadioId,
        ppdu: &Ppdu<Msdu>,
        (mpdus, complete): (&Range<u32>, Complete),
    ) {
        let Some(data) = ppdu.data() else { return };
        for mpdu in &data.mpdus()[mpdus.start as usize..mpdus.end as usize] {
            self.host.early = complete.ago(mpdu.behind);
            for msdu in data.msdus_of(mpdu) {
                self.on_mac_delivery(radio, ppdu.header.from, *msdu);
            }
        }
        self.host.early = Duration::ZERO;
    }

    /// A packet goes up from a radio.
    fn take_up(&mut self, radio: RadioId, from: Address, msdu: Msdu) {
        let Self { ports, host, .. } = self;
        let port = &mut ports.radios[radio];
        if port.loses(from, msdu, host) {
            return;
        }
        let node = port.node();
        match msdu.kind {
            MsduKind::Routed { .. } => restore_hops(msdu, host),
            MsduKind::Plain | MsduKind::Segment => {}
            MsduKind::Trunk(header) => {
                if let Some((end, member)) = port.member_towards(from) {
                    return ports.radio_trunks[end].on_frame(member, header, msdu.packet, host);
                }
            }
            MsduKind::Selected(number) => {
                if let Some((end, member)) = port.member_towards(from) {
                    if let Some(number) = number {
                        ports.radio_trunks[end].on_arrival(member, number, host);
                    }
                    host.tell_passage(Place::RadioTrunk(end), true, msdu.packet);
                }
            }
            MsduKind::Control => return self.on_control(radio, from, msdu),
            MsduKind::Routing => return self.on_routing_message(radio, from, msdu),
            MsduKind::Beacon => return self.on_beacon(radio, from, msdu),
        }
        self.receive(node, Some(from), msdu.packet);
    }

    /// A control frame is for the other end of its trunk, on the same member; a broadcast is heard by everybody.
    #[inline(never)]
    fn on_control(&mut self, radio: RadioId, from: Address, msdu: Msdu) {
        let Self { ports, host, .. } = self;
        if let Some(frame) = control(msdu, host)
            && ports.radios[radio].member_towards(from) == Some((frame.end.peer(), frame.member))
        {
            ports.radio_trunks[frame.end.peer()].on_control(frame, host);
        }
        host.packets.release(msdu.packet);
    }

    /// A beacon is for the other end of its trunk, on the same member; it tells how well that is heard here.
    #[inline(never)]
    fn on_beacon(&mut self, radio: RadioId, from: Address, msdu: Msdu) {
        let Self { ports, host, .. } = self;
        if let Some(&FrameBody::Beacon(frame @ BeaconFrame { end, port, .. })) = host.packets.frame(msdu.packet)
            && ports.radios[radio].member_towards(from) == Some((end.peer(), Member(port.0)))
        {
            ports.radio_trunks[end.peer()].on_beacon(frame, radio, &ports.radios, host);
        }
        host.packets.release(msdu.packet);
    }

    /// A message of AODV or ARP has come from a neighbour.
    #[inline(never)]
    fn on_routing_message(&mut self, radio: RadioId, from: Address, msdu: Msdu) {
        let Self { ports, network, host, .. } = self;
        match network.routers_mut() {
            Some(routers) => routers.on_message(radio, from, msdu, &ports.radios, host),
            None => host.packets.release(msdu.packet),
        }
    }

    /// A packet has come to a node, perhaps from a neighbour's radio: to its transport, or on its way.
    #[inline]
    fn receive(&mut self, node: NodeId, from: Option<Address>, packet: PacketRef) {
        let is_here = self.host.packets.get(packet).to == node.address();
        match &mut self.network.forwarding {
            Forwarding::OnDemand(routers) => {
                if let Some(from) = from {
                    let neighbour = self.ports.radios[RadioId::of(from)].node();
                    if is_here {
                        routers.on_sign_of_life(node, neighbour, aodv::Input::Heard, &mut self.host);
                    } else if self.network.routes.next_hop(node, self.host.packets.get(packet).to).is_none() {
                        return routers.forward(node, neighbour, packet, &mut self.host);
                    }
                }
            }
            Forwarding::Multihomed(hosts) if !is_here => {
                let to = self.host.packets.get(packet).to;
                match hosts.inward(node, from, to) {
                    None => {}
                    Some(Ok(host)) => {
                        self.host.packets.get_mut(packet).to = host;
                        return self.deliver(node, packet);
                    }
                    Some(Err(())) => {
                        return self.host.drop_packet(node, Device::Node(node), packet, DropReason::NoRoute);
                    }
                }
            }
            Forwarding::Static | Forwarding::Multihomed(_) => {}
        }
        if is_here { self.deliver(node, packet) } else { self.pass_on(node, packet) }
    }

    /// A packet for another node goes on.
    fn pass_on(&mut self, node: NodeId, packet: PacketRef) {
        let record = self.host.packets.get_mut(packet);
        record.hops = record.hops.saturating_add(1);
        if record.hops >= HOP_LIMIT {
            self.host.drop_packet(node, Device::Node(node), packet, DropReason::HopLimit);
        } else {
            self.send(node, packet);
        }
    }

    /// A packet has reached the node that it is for.
    fn deliver(&mut self, node: NodeId, packet: PacketRef) {
        let Self { flows, host, deliveries, .. } = self;
        let record = *host.packets.get(packet);
        if let Some(observer) = host.observer.as_deref_mut() {
            let (place, packets) = (Place::Host(node), &host.packets);
            observer.on_passage(host.now, Passage { place, is_arrival: true, packet, packets });
            observer.on_delivery(host.now, node, &record);
        }
        host.packets.deliver(packet);
        match record.body {
            Body::External { handle, .. } => deliveries.push(Delivery { handle, node, at: host.now }),
            _ => flows.on_delivery(&record, host),
        }
    }
}

/// The control frame that an MSDU is.
fn control(msdu: Msdu, host: &Host<'_>) -> Option<ControlFrame> {
    match host.packets.frame(msdu.packet) {
        Some(FrameBody::Control(frame)) => Some(*frame),
        _ => None,
    }
}
