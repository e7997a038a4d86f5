//! A world driven from outside: real packets enter at a node's network layer and leave at another's, in somebody
//! else's time.
//!
//! The lab drives it by the monotonic clock; nothing here knows of a clock, and nothing looks at a packet's bytes: the
//! driver keeps them under a handle, and hears when the packet has arrived and when its last copy is gone.

use super::World;
use super::build::all_journeys;
use super::id::{FlowId, LinkDirection, NodeId, PayloadHandle, PortId, RadioId};
use super::observe::Place;
use super::packet::{Body, NewPacket};
use super::routing::{Routes, trunk_port};
use crate::result::MacResult;
use crate::scenario::mark::Mark;
use crate::scenario::spec::Interface;
use airbraid_units::Instant;

/// A packet from outside, as its driver describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct External {
    /// Under which the driver keeps its bytes, until [`World::take_released`] gives it back.
    pub handle: PayloadHandle,
    /// The node that it enters at.
    pub from: NodeId,
    /// The node that it is for.
    pub to: NodeId,
    /// The interface of that node that it leaves by; `None`: the one that the route names.
    pub via: Option<Interface>,
    /// Length of the IP packet \[byte\].
    pub len: u32,
    /// The bucket of its flow.
    pub bucket: u16,
    /// The class that links know, and the user priority.
    pub mark: Mark,
    /// Whether it is a TCP segment that only acknowledges.
    pub is_acknowledgement: bool,
}

/// A packet from outside has reached its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The packet's handle.
    pub handle: PayloadHandle,
    /// The node.
    pub node: NodeId,
    /// When.
    pub at: Instant,
}

impl World<'_> {
    /// Finds the routes of all nodes to all, before the first event: an outside driver may send between any two.
    pub fn open_to_outside(&mut self) {
        let edges = self.ports.edges(self.spec, &self.radio_map, &mut self.host.medium);
        self.network.routes = Routes::new(self.spec, &edges, &all_journeys(self.spec));
    }

    /// Carries out every event up to `until`, which is then the world's time; `on_event` hears the time of each.
    pub fn run_until(&mut self, until: Instant, on_event: &mut dyn FnMut(Instant)) {
        while let Some(at) = self.process_next(until) {
            on_event(at);
        }
        self.host.now = self.host.now.max(until);
    }

    /// The world's time.
    pub fn now(&self) -> Instant {
        self.host.now
    }

    /// When the next event is; [`Instant::MAX`] if there is none.
    pub fn next_event_at(&self) -> Instant {
        self.host.next_at().min(self.host.starts_at)
    }

    /// The counters of each radio's MAC so far.
    pub fn macs(&self) -> Vec<MacResult> {
        self.mac_results()
    }

    /// Ends the run now: results are of the time up to here.
    pub fn finish(&mut self) {
        self.end = self.host.now;
    }

    /// A packet enters at the network layer of its first node, now.
    pub fn inject(&mut self, external: &External) {
        let External { handle, from, to, len, bucket, mark: (class, priority), is_acknowledgement, .. } = *external;
        let port = self.named_port(external);
        let body = Body::External { handle, is_acknowledgement };
        let (flow, created) = (FlowId::new(usize::from(bucket)), self.host.now);
        let (source, destination) = (from.address(), to.address());
        let new = NewPacket { flow, from: source, to: destination, len, class, priority, created, body };
        let packet = self.host.packets.create(new);
        match port {
            Some(port) => {
                self.host.tell_passage(Place::Host(from), false, packet);
                self.send_by(port, packet);
            }
            None => self.originate(from, packet),
        }
        self.work_off();
    }

    /// Moves what has arrived since the last call to the end of `deliveries`, in the order of arrival.
    pub fn take_deliveries(&mut self, deliveries: &mut Vec<Delivery>) {
        deliveries.append(&mut self.deliveries);
    }

    /// Moves the handles of packets that are gone, delivered or not, to the end of `handles`.
    pub fn take_released(&mut self, handles: &mut Vec<PayloadHandle>) {
        self.host.packets.take_released(handles);
    }

    /// The port by which a packet leaves that names one, if that leads there.
    fn named_port(&mut self, packet: &External) -> Option<PortId> {
        let External { from, to, via, .. } = *packet;
        let routed = self.network.next_hop(from, from.address(), to.address());
        let side = |between: [usize; 2]| between.iter().position(|end| *end == from.index());
        match via? {
            Interface::Radio(radio) => {
                let radio = self.radio_map.id((from.index(), radio));
                let direct = self.neighbour(radio, to).map(|other| PortId::Radio { radio, neighbour: other.address() });
                let leaves_here = |port: &PortId| matches!(port, PortId::Radio { radio: other, .. } if *other == radio);
                direct.or(routed.filter(leaves_here))
            }
            Interface::Link(link) => {
                let between = self.spec.links[link].between;
                let side = side(between)?;
                let port = PortId::Link(LinkDirection::of(link, side));
                (between[1 - side] == to.index() || routed == Some(port)).then_some(port)
            }
            Interface::Trunk(trunk) => {
                let side = side(self.spec.trunks[trunk].between())?;
                Some(trunk_port(self.spec, &self.radio_map, trunk, side))
            }
        }
    }

    /// The radio of a node that hears this radio, the first if there are several.
    fn neighbour(&mut self, radio: RadioId, node: NodeId) -> Option<RadioId> {
        let Self { ports, host, .. } = self;
        let mut of_node = ports.radios.pairs().filter(|(_, port)| port.node() == node).take(64);
        of_node.find(|(other, _)| host.medium.reaches(radio, *other)).map(|(other, _)| other)
    }
}
