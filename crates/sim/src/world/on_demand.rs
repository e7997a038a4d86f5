//! AODV at work: a machine on each node, above its radio and below its transports.
//!
//! What no written route leads to goes through it. Its messages stand in the table of packets like the frames of trunks:
//! they take their time on the air, and are in no account of packets. ARP, where it is asked for, stands between this and the
//! MAC: in [`super::resolution`].

use super::alarms::Sleeper;
use super::packet::{Carried, DropReason, Msdu, PacketRef, Part, RoutingMessage};
use super::resolution::Unsent;
use super::routing::NextHop;
use super::{Work, World};
use crate::result::RoutingResult;
use crate::scenario::spec::AodvRouting;
use airbraid_engine::{Machine, Stream, Wake, step};
use airbraid_mac::{Address, MacInput, Outcome};
use airbraid_net::Refusal;
use airbraid_net::aodv::{self, Aodv, AodvStats, Datagram, Input, Message, Node, Output};
use airbraid_net::arp::{self, Arp};
use airbraid_units::Instant;

/// The machines of all nodes.
#[derive(Debug)]
pub(super) struct OnDemand {
    pub nodes: Vec<Router>,
    settings: AodvRouting,
    /// Messages after which the next hops from their receiver formed a circle.
    loops: u64,
    /// Messages that the MAC or its queue gave up.
    pub lost: u64,
}

/// A node's machine, and the radio that it uses.
#[derive(Debug)]
pub(super) struct Router {
    machine: Aodv<PacketRef>,
    pub resolver: Option<Arp<Unsent>>,
    pub radio: u32,
}

impl OnDemand {
    /// A machine for each node; `radios`: the first of each.
    pub fn new(settings: AodvRouting, radios: &[u32], seed: u64) -> Result<Self, Refusal> {
        let router = |(node, &radio): (usize, &u32)| {
            let jitter = Stream::new(seed, node as u64, "aodv.jitter");
            let machine = Aodv::new(settings.config, Node(node as u32), jitter)?;
            let resolver = settings.resolves.then(|| Arp::new(Node(node as u32)));
            Ok(Router { machine, resolver, radio })
        };
        let nodes = radios.iter().enumerate().map(router).collect::<Result<_, Refusal>>()?;
        Ok(Self { nodes, settings, loops: 0, lost: 0 })
    }

    /// The address of a node's radio.
    pub fn address(&self, node: Node) -> Address {
        Address(self.nodes[node.0 as usize].radio)
    }

    /// When a node's machine wants to be woken.
    pub fn wake(&self, node: u32) -> Option<Wake> {
        self.nodes[node as usize].machine.poll_timeout()
    }

    /// Packets that wait at a node for routes.
    pub fn buffered(&self, node: u32) -> usize {
        self.nodes[node as usize].machine.buffered()
    }

    /// The TTL with which a packet sets out.
    pub const fn ttl(&self) -> u8 {
        self.settings.config.net_diameter
    }

    /// What all nodes have counted together.
    pub fn result(&self) -> RoutingResult {
        let sum = |of: fn(&AodvStats) -> u64| self.nodes.iter().map(|node| of(node.machine.stats())).sum();
        RoutingResult {
            searches: sum(|stats| stats.searches),
            searches_failed: sum(|stats| stats.searches_failed),
            repairs: sum(|stats| stats.repairs),
            rreq_sent: sum(|stats| stats.rreq_sent),
            rrep_sent: sum(|stats| stats.rrep_sent),
            rerr_sent: sum(|stats| stats.rerr_sent),
            links_broken: sum(|stats| stats.links_broken),
            messages_lost: self.lost,
            loops: self.loops,
        }
    }

    /// Whether the next hops for `destination` lead from `node` back to it.
    fn is_in_circle(&self, now: Instant, node: Node, destination: Node) -> bool {
        let mut at = node;
        for _ in 0..self.nodes.len() {
            let Some(route) = self.nodes[at.0 as usize].machine.route(now, destination) else { return false };
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

impl World<'_> {
    /// Drives a node's machine: `None` is its timer.
    pub(super) fn step_router(&mut self, node: u32, input: Option<Input<PacketRef>>) {
        let Self { on_demand: Some(on_demand), alarms, pending, now, .. } = self else { return };
        let machine = &mut on_demand.nodes[node as usize].machine;
        let wake = step(machine, *now, input, |output| pending.push_back(Work::Router(node, output)));
        alarms.arm(*now, Sleeper::Router(node), wake);
    }

    /// A packet, as the machines see it.
    fn datagram(&self, packet: PacketRef) -> Datagram<PacketRef> {
        let record = self.packets.get(packet);
        let (source, destination) = (Node(record.from), Node(record.to));
        Datagram { packet, source, destination, ttl: record.ttl, hops: record.hops }
    }

    /// A packet sets out from a node, and no written route leads to its destination.
    pub(super) fn originate(&mut self, node: u32, ttl: u8, packet: PacketRef) {
        self.packets.get_mut(packet).ttl = ttl;
        let datagram = self.datagram(packet);
        self.step_router(node, Some(Input::Originate(datagram)));
    }

    /// A packet for another node has come from a neighbour.
    pub(super) fn forward(&mut self, node: u32, from: u32, packet: PacketRef) {
        let datagram = self.datagram(packet);
        self.step_router(node, Some(Input::Forward { from: Node(from), datagram }));
    }

    /// A MAC has given up sending a packet to a neighbour.
    pub(super) fn on_link_failure(&mut self, node: u32, to: Address, packet: PacketRef) {
        let next_hop = Node(self.stations[to.0 as usize].node);
        let datagram = Some(self.datagram(packet));
        self.step_router(node, Some(Input::LinkFailed { next_hop, datagram }));
    }

    /// A neighbour has acknowledged a packet, or sent one that is for this node.
    pub(super) fn on_sign_of_life(&mut self, node: u32, of: Address, input: fn(Node) -> Input<PacketRef>) {
        let Some(on_demand) = &self.on_demand else { return };
        let neighbour = Node(self.stations[of.0 as usize].node);
        if on_demand.nodes[node as usize].machine.awaits(self.now, neighbour) {
            self.step_router(node, Some(input(neighbour)));
        }
    }

    pub(super) fn on_router_output(&mut self, node: u32, output: Output<PacketRef>) {
        let Some(on_demand) = &self.on_demand else { return };
        let radio = on_demand.nodes[node as usize].radio;
        match output {
            Output::Send { next_hop, datagram, again } => {
                let record = self.packets.get_mut(datagram.packet);
                (record.ttl, record.hops) = (datagram.ttl, datagram.hops);
                let msdu = Msdu { packet: datagram.packet, overhead: 0, part: Part::None };
                self.send_to_neighbour(node, next_hop, Unsent { msdu, overtakes: again });
            }
            Output::Control { to, ttl, message } => {
                let overtakes = on_demand.settings.overtakes;
                let packet = self.packets.create_carried(self.now, Carried::Routing(RoutingMessage { ttl, message }));
                let unsent = Unsent { msdu: Msdu { packet, overhead: 0, part: Part::Routing }, overtakes };
                match to {
                    Some(to) => self.send_to_neighbour(node, to, unsent),
                    None => self.enqueue(radio, Address::BROADCAST, unsent),
                }
            }
            Output::Drop { datagram, reason } => {
                self.drop_packet(node, datagram.packet, drop_reason(reason));
                self.refill(NextHop::Radio { radio, neighbour: Address::BROADCAST });
            }
            Output::LinkBroken(neighbour) => {
                let neighbour = on_demand.address(neighbour);
                if on_demand.settings.purges {
                    self.step_mac(radio, Some(MacInput::Purge(neighbour)));
                }
            }
        }
    }

    /// A message has come from a neighbour.
    pub(super) fn on_routing_message(&mut self, node: u32, from: Address, msdu: Msdu) {
        if let Some(message) = self.packets.resolution(msdu.packet) {
            self.packets.release(msdu.packet);
            return self.step_resolver(node, arp::Input::Heard(message));
        }
        let from = Node(self.stations[from.0 as usize].node);
        let sent = self.packets.routing(msdu.packet).cloned();
        self.packets.release(msdu.packet);
        let Some(RoutingMessage { ttl, message }) = sent else { return };
        let about = match &message {
            Message::Rreq(rreq) => Some(rreq.originator),
            Message::Rrep(rrep) => Some(rrep.destination),
            Message::Rerr(_) => None,
        };
        self.step_router(node, Some(Input::Control { from, ttl, message }));
        let now = self.now;
        if let (Some(on_demand), Some(about)) = (&mut self.on_demand, about)
            && about != Node(node)
            && on_demand.is_in_circle(now, Node(node), about)
        {
            on_demand.loops += 1;
        }
    }

    /// A MAC has finished with a message.
    pub(super) fn on_routing_finished(&mut self, node: u32, to: Address, msdu: Msdu, outcome: Outcome) {
        let is_resolution = self.packets.resolution(msdu.packet).is_some();
        self.packets.release(msdu.packet);
        if is_resolution {
            return;
        }
        let is_lost = matches!(outcome, Outcome::RetryLimit | Outcome::QueueFull | Outcome::Purged);
        if let Some(on_demand) = &mut self.on_demand {
            on_demand.lost += u64::from(is_lost);
        }
        if outcome == Outcome::RetryLimit {
            let next_hop = Node(self.stations[to.0 as usize].node);
            self.step_router(node, Some(Input::LinkFailed { next_hop, datagram: None }));
        }
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
