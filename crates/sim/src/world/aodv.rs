//! AODV: a machine on each node, above its radio and below its transports.
//!
//! Packets without a written route go through it. Its messages stand in the table of packets like the frames of trunks:
//! they take their time on the air, and are in no account of packets. ARP, where it is asked for, stands between this
//! and the MAC: in [`super::resolution`].

use super::account::Device;
use super::frame::{FrameBody, Msdu, MsduKind, PacketRef, RoutingMessage, Unsent};
use super::host::{Host, Work};
use super::id::{HostAddress, NodeId, PortId, RadioId, Table};
use super::packet::DropReason;
use super::port::radio::RadioPort;
use super::radio_map::RadioMap;
use super::resolution::Resolver;
use super::share::Things;
use super::wakeups::MachineId;
use crate::metric::{Flat, Metrics};
use crate::result::RoutingResult;
use crate::scenario::spec::AodvRouting;
use airbraid_engine::{Machine, Stream, Wake};
use airbraid_mac::{Address, MacInput, Outcome};
use airbraid_net::Refusal;
use airbraid_net::aodv::{self, Aodv, AodvStats, Datagram, Input, Message, Node, Output};
use airbraid_net::arp;
use airbraid_units::Instant;

/// The machines of all nodes.
#[derive(Debug)]
pub struct AodvRouters {
    nodes: Table<NodeId, Router>,
    settings: AodvRouting,
    /// Messages after which the next hops from their receiver formed a circle.
    loops: u64,
    /// Messages that the MAC or its queue gave up.
    lost: u64,
}

/// A node's machine, and the radio that it uses.
#[derive(Debug)]
struct Router {
    machine: Aodv<PacketRef>,
    resolver: Option<Resolver>,
    radio: RadioId,
}

impl AodvRouters {
    /// A machine for each of `count` nodes, on its first radio.
    pub fn new(settings: AodvRouting, count: usize, radios: &RadioMap, seed: u64) -> Result<Self, Refusal> {
        let router = |node: NodeId| {
            let jitter = Stream::new(seed, node.index() as u64, "aodv.jitter");
            let machine = Aodv::new(settings.config, node.router(), jitter)?;
            let resolver = settings.resolves.then(|| Resolver::new(node));
            Ok(Router { machine, resolver, radio: radios.first(node) })
        };
        let nodes = (0..count).map(NodeId::new).map(router).collect::<Result<_, Refusal>>()?;
        Ok(Self { nodes, settings, loops: 0, lost: 0 })
    }

    /// The address of a node's radio.
    fn address(&self, node: Node) -> Address {
        self.nodes[NodeId::from(node)].radio.address()
    }

    /// The port by which all packets of a node leave.
    pub fn port(&self, node: NodeId) -> PortId {
        PortId::Radio { radio: self.nodes[node].radio, neighbour: Address::BROADCAST }
    }

    /// The port by which packets for a destination leave a node now, if it has a route.
    pub fn port_towards(&self, now: Instant, node: NodeId, destination: HostAddress) -> Option<PortId> {
        let route = self.nodes[node].machine.route(now, destination.router())?;
        Some(PortId::Radio { radio: self.nodes[node].radio, neighbour: self.address(route.next_hop) })
    }

    /// The nodes that have a machine, and when each wants to be woken.
    pub fn wakes(&self) -> impl Iterator<Item = (NodeId, Option<Wake>)> {
        self.nodes.pairs().map(|(node, router)| (node, router.machine.poll_timeout()))
    }

    /// Packets that wait at a node for routes.
    pub fn buffered(&self, node: NodeId) -> usize {
        self.nodes[node].machine.buffered()
    }

    /// Sum of the counters of all nodes.
    pub fn result(&self) -> RoutingResult {
        let counts = AodvStats::total(self.nodes.iter().map(|node| node.machine.stats()));
        RoutingResult { counts: Flat(counts), messages_lost: self.lost, loops: self.loops }
    }

    /// Takes over the machines of other nodes, and what was counted of them.
    pub fn take_over(&mut self, other: Self, things: &Things) {
        self.nodes.take_over(other.nodes, |node| things.nodes.has(NodeId::new(node)));
        (self.loops, self.lost) = (self.loops + other.loops, self.lost + other.lost);
    }

    /// Whether the next hops for `destination` lead from `node` back to it.
    fn is_in_circle(&self, now: Instant, node: Node, destination: Node) -> bool {
        let mut at = node;
        for _ in 0..self.nodes.len() {
            let Some(route) = self.nodes[NodeId::from(at)].machine.route(now, destination) else { return false };
            at = route.next_hop;
            if at == destination {
                return false;
            }
            if at == node {
                return true;
            }
        }
        false
    }
}

/// Sets the hops of a packet's record to those of one of its copies.
pub fn restore_hops(msdu: Msdu, host: &mut Host<'_>) {
    if let MsduKind::Routed { ttl, hops } = msdu.kind {
        let record = host.packets.get_mut(msdu.packet);
        (record.ttl, record.hops) = (ttl, hops);
    }
}

/// The packet, as the machines see it.
fn datagram(packet: PacketRef, host: &Host<'_>) -> Datagram<PacketRef> {
    let record = host.packets.get(packet);
    let (source, destination) = (record.from.router(), record.to.router());
    Datagram { packet, source, destination, ttl: record.ttl, hops: record.hops }
}

/// Packets.
impl AodvRouters {
    /// Drives a node's machine: `None` is its timer.
    pub fn step(&mut self, node: NodeId, input: Option<Input<PacketRef>>, host: &mut Host<'_>) {
        let machine = &mut self.nodes[node].machine;
        host.step(MachineId::Router(node), machine, input, |output| Work::Router(node, output));
    }

    /// A packet sets out from a node, and no written route leads to its destination.
    pub fn originate(&mut self, node: NodeId, packet: PacketRef, host: &mut Host<'_>) {
        host.packets.get_mut(packet).ttl = self.settings.config.net_diameter;
        let datagram = datagram(packet, host);
        self.step(node, Some(Input::Originate(datagram)), host);
    }

    /// A packet for another node has come from a neighbour.
    pub fn forward(&mut self, node: NodeId, from: NodeId, packet: PacketRef, host: &mut Host<'_>) {
        let datagram = datagram(packet, host);
        self.step(node, Some(Input::Forward { from: from.router(), datagram }), host);
    }

    /// A MAC has finished with a packet; gives whether AODV has taken it back, because the neighbour does not answer.
    pub fn on_finished(
        &mut self,
        radio: RadioId,
        to: Address,
        msdu: Msdu,
        outcome: Outcome,
        radios: &Table<RadioId, RadioPort>,
        host: &mut Host<'_>,
    ) -> bool {
        let (node, neighbour) = (radios[radio].node(), || radios[RadioId::of(to)].node());
        match outcome {
            Outcome::RetryLimit => {
                restore_hops(msdu, host);
                let datagram = Some(datagram(msdu.packet, host));
                self.step(node, Some(Input::LinkFailed { next_hop: neighbour().router(), datagram }), host);
                host.refill(PortId::Radio { radio, neighbour: to });
                return true;
            }
            Outcome::Acknowledged => self.on_sign_of_life(node, neighbour(), Input::Acknowledged, host),
            _ => {}
        }
        false
    }

    /// A neighbour has acknowledged a packet, or sent one that is for this node.
    pub fn on_sign_of_life(
        &mut self,
        node: NodeId,
        neighbour: NodeId,
        input: fn(Node) -> Input<PacketRef>,
        host: &mut Host<'_>,
    ) {
        if self.nodes[node].machine.awaits(host.now, neighbour.router()) {
            self.step(node, Some(input(neighbour.router())), host);
        }
    }

    /// Carries out what a node's machine says.
    pub fn on_output(
        &mut self,
        node: NodeId,
        output: Output<PacketRef>,
        radios: &mut Table<RadioId, RadioPort>,
        host: &mut Host<'_>,
    ) {
        match output {
            Output::Send { next_hop, datagram, again } => {
                let Datagram { packet, ttl, hops, .. } = datagram;
                let msdu = Msdu { packet, overhead: 0, kind: MsduKind::Routed { ttl, hops } };
                restore_hops(msdu, host);
                let unsent = Unsent { msdu, overtakes: again };
                self.send_to_neighbour(node, next_hop, unsent, radios, host);
            }
            Output::Control { to, ttl, message } => {
                let body = FrameBody::Routing(RoutingMessage { ttl, message });
                let msdu = Msdu::frame(host.packets.create_frame(host.now, body), MsduKind::Routing);
                let unsent = Unsent { msdu, overtakes: self.settings.overtakes };
                match to {
                    Some(to) => self.send_to_neighbour(node, to, unsent, radios, host),
                    None => radios[self.nodes[node].radio].send_unsent(Address::BROADCAST, unsent, host),
                }
            }
            Output::Drop { datagram, reason } => {
                host.drop_packet(node, Device::Node(node), datagram.packet, drop_reason(reason));
                host.refill(self.port(node));
            }
            Output::LinkBroken(neighbour) => {
                let neighbour = self.address(neighbour);
                if self.settings.purges {
                    radios[self.nodes[node].radio].step(Some(MacInput::Purge(neighbour)), host);
                }
            }
        }
    }

    /// Sends to a neighbour what AODV has for it, as soon as its address is known.
    fn send_to_neighbour(
        &mut self,
        node: NodeId,
        to: Node,
        unsent: Unsent,
        radios: &mut Table<RadioId, RadioPort>,
        host: &mut Host<'_>,
    ) {
        let address = self.address(to);
        let router = &mut self.nodes[node];
        match &mut router.resolver {
            Some(resolver) => resolver.step(arp::Input::Send { to, packet: unsent }, host),
            None => radios[router.radio].send_unsent(address, unsent, host),
        }
    }
}

/// Messages of AODV and ARP.
impl AodvRouters {
    /// A message has come from a neighbour.
    pub fn on_message(
        &mut self,
        radio: RadioId,
        from: Address,
        msdu: Msdu,
        radios: &Table<RadioId, RadioPort>,
        host: &mut Host<'_>,
    ) {
        let (node, from) = (radios[radio].node(), radios[RadioId::of(from)].node());
        let body = host.packets.frame(msdu.packet).cloned();
        host.packets.release(msdu.packet);
        match body {
            Some(FrameBody::Resolution(message)) => {
                if let Some(resolver) = &mut self.nodes[node].resolver {
                    resolver.step(arp::Input::Heard(message), host);
                }
            }
            Some(FrameBody::Routing(sent)) => self.on_routing_message(node, from, sent, host),
            _ => {}
        }
    }

    fn on_routing_message(&mut self, node: NodeId, from: NodeId, sent: RoutingMessage, host: &mut Host<'_>) {
        let RoutingMessage { ttl, message } = sent;
        let about = match &message {
            Message::Rreq(rreq) => Some(rreq.originator),
            Message::Rrep(rrep) => Some(rrep.destination),
            Message::Rerr(_) => None,
        };
        self.step(node, Some(Input::Control { from: from.router(), ttl, message }), host);
        if let Some(about) = about
            && about != node.router()
            && self.is_in_circle(host.now, node.router(), about)
        {
            self.loops += 1;
        }
    }

    /// A MAC has finished with a message.
    pub fn on_message_finished(
        &mut self,
        radio: RadioId,
        to: Address,
        msdu: Msdu,
        outcome: Outcome,
        radios: &Table<RadioId, RadioPort>,
        host: &mut Host<'_>,
    ) {
        let is_resolution = matches!(host.packets.frame(msdu.packet), Some(FrameBody::Resolution(_)));
        host.packets.release(msdu.packet);
        if is_resolution {
            return;
        }
        self.lost += u64::from(matches!(outcome, Outcome::RetryLimit | Outcome::QueueFull | Outcome::Purged));
        if outcome == Outcome::RetryLimit {
            let next_hop = radios[RadioId::of(to)].node().router();
            let input = Input::LinkFailed { next_hop, datagram: None };
            self.step(radios[radio].node(), Some(input), host);
        }
    }

    /// Carries out an output of a node's ARP; returns the packet for an unreachable neighbour, as if the MAC had tried,
    /// with its radio and the neighbour's address.
    pub fn on_resolver_output(
        &mut self,
        node: NodeId,
        output: arp::Output<Unsent>,
        radios: &mut Table<RadioId, RadioPort>,
        host: &mut Host<'_>,
    ) -> Option<(RadioId, Address, Msdu)> {
        let radio = self.nodes[node].radio;
        match output {
            arp::Output::Send { to, packet } => radios[radio].send_unsent(self.address(to), packet, host),
            arp::Output::Message { to, message } => {
                let address = to.map_or(Address::BROADCAST, |to| self.address(to));
                let packet = host.packets.create_frame(host.now, FrameBody::Resolution(message));
                let unsent = Unsent { msdu: Msdu::frame(packet, MsduKind::Routing), overtakes: false };
                radios[radio].send_unsent(address, unsent, host);
            }
            arp::Output::Drop(Unsent { msdu, .. }) if msdu.kind == MsduKind::Routing => {
                self.lost += 1;
                host.packets.release(msdu.packet);
            }
            arp::Output::Drop(Unsent { msdu, .. }) => {
                host.drop_packet(node, Device::Node(node), msdu.packet, DropReason::AddressUnknown);
                host.refill(self.port(node));
            }
            arp::Output::Unreachable { to, packet } => return Some((radio, self.address(to), packet.msdu)),
        }
        None
    }
}

fn drop_reason(reason: aodv::DropReason) -> DropReason {
    match reason {
        aodv::DropReason::NoRoute => DropReason::NoRoute,
        aodv::DropReason::BufferFull => DropReason::RouteBufferFull,
        aodv::DropReason::Expired => DropReason::RouteTimeout,
        aodv::DropReason::TtlExpired => DropReason::HopLimit,
        aodv::DropReason::Circled => DropReason::Circled,
        // The MAC has tried as often as it may.
        aodv::DropReason::LinkFailed => DropReason::RetryLimit,
        aodv::DropReason::Rebooted => DropReason::Down,
    }
}
