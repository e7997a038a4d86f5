//! Makes a world from a resolved scenario.

use super::World;
use super::aodv::AodvRouters;
use super::beginnings::Beginnings;
use super::flow::Flow;
use super::flows::Flows;
use super::host::{Event, Host};
use super::id::{ChangeId, FlowId, FlowMachine, NodeId, PortId, Table};
use super::killers::Killers;
use super::medium::Medium;
use super::multihomed::Multihomed;
use super::network::{Forwarding, Network};
use super::observe::{Observer, PowerMemo};
use super::packet::Packets;
use super::port::Ports;
use super::port::multi_link::devices;
use super::port::radio::RadioPort;
use super::radio_map::RadioMap;
use super::routing::Routes;
use super::share::Share;
use super::wakeups::{MachineCounts, MachineId, MachineKind, Wakeups};
use crate::queue::{EventQueue, Phase};
use crate::scenario::spec::{self, Routing, Spec};
use airbraid_engine::Stream;
use airbraid_net::refusal::Refusal;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

impl<'a> World<'a> {
    /// The world of `spec` at its beginning, with the random streams of `seed`.
    ///
    /// # Errors
    /// If a model refuses its parameters: the scenario was not checked.
    pub fn new(spec: &'a Spec, seed: u64, observer: Option<Box<dyn Observer + 'a>>) -> Result<Self, Refusal> {
        Self::of_share(spec, seed, observer, Share::ALL)
    }

    /// The same of a share of the scenario: nothing ever happens at other nodes.
    ///
    /// # Errors
    /// The same.
    pub fn of_share(
        spec: &'a Spec,
        seed: u64,
        observer: Option<Box<dyn Observer + 'a>>,
        share: Share,
    ) -> Result<Self, Refusal> {
        let radio_map = RadioMap::new(spec);
        let mut medium = Medium::new(spec, seed);
        let mut ports = Ports::new(spec, &radio_map, &mut medium, seed)?;
        let devices = devices(spec, &radio_map, &mut ports.radios);
        let forwarding = forwarding(spec, &radio_map, seed)?;
        let mut host = Host {
            now: Instant::ZERO,
            early: Duration::ZERO,
            queue: EventQueue::new(),
            wakeups: Wakeups::new(machines(spec, &ports, &forwarding)),
            pending: VecDeque::new(),
            committed: Vec::new(),
            starts_at: Instant::MAX,
            beginnings: Beginnings::default(),
            killers: (!spec.killers.is_empty()).then(|| Box::new(Killers::new(spec, &radio_map, seed))),
            medium,
            packets: Packets::default(),
            devices,
            observer,
            powers: PowerMemo::default(),
            account: None,
            has_greedy_flows: false,
        };
        ports.begin_link_trunks(spec, &share, &mut host);
        let edges = ports.edges(spec, &radio_map, &mut host.medium);
        let routes = Routes::new(spec, &edges, &journeys(spec));
        let network = Network { routes, forwarding };
        let flows = flows(spec, &network, &mut ports, seed)?;
        host.has_greedy_flows = flows.has_greedy();
        let end = Instant::ZERO + spec.duration;
        let deliveries = Vec::new();
        let (events, events_of_all) = (0, 0);
        let mut world =
            Self { spec, seed, end, radio_map, host, ports, network, flows, deliveries, share, events, events_of_all };
        world.schedule();
        Ok(world)
    }

    /// Puts everything that the scenario dates into the queue.
    fn schedule(&mut self) {
        let spec = self.spec;
        let Self { host, ports, network, share, .. } = self;
        let wakes = network.routers().into_iter().flat_map(AodvRouters::wakes);
        for (node, wake) in wakes.filter(|(node, _)| share.has(*node)) {
            host.wakeups.arm(host.now, MachineId::Router(node), wake);
        }
        // A polling master, a station with slots and an access point with beacons begin by themselves.
        let begins = |port: &RadioPort| port.mac().begins_by_itself() && share.has(port.node());
        for (radio, port) in ports.radios.pairs().filter(|(_, port)| begins(port)) {
            host.wakeups.arm(host.now, MachineId::Mac(radio), port.mac().wake());
        }
        for trunk in ports.radio_trunks.iter_mut().filter(|trunk| share.has(trunk.node())) {
            trunk.begin(host);
        }
        self.work_off();
        let Self { host, ports, flows, share, .. } = self;
        let own = |(_, flow): &(usize, &spec::Flow)| share.has(NodeId::new(flow.from));
        for (index, flow) in spec.flows.iter().enumerate().filter(own) {
            host.queue.push(flow.start, Phase::Timer, Event::Start(FlowId::new(index)));
            if let Some(stop) = flow.stop {
                host.queue.push(stop, Phase::Timer, Event::Stop(FlowId::new(index)));
            }
        }
        let own = |(_, change): &(usize, &spec::Change)| share.has(NodeId::new(change.what.node(spec)));
        for (index, change) in spec.changes.iter().enumerate().filter(own) {
            host.queue.push(change.at, Phase::Timer, Event::Change(ChangeId::new(index)));
        }
        if flows.warm_up > Instant::ZERO {
            host.queue.push(flows.warm_up, Phase::Timer, Event::WarmUpEnds);
        }
        if !ports.radio_trunks.is_empty() || spec.record.sequence || spec.record.members {
            host.queue.push(Instant::ZERO + spec.record.interval, Phase::Statistics, Event::Sample);
        }
    }
}

/// The ends of the flows, each to the other. Hosts with several access points reach each other by those: where there
/// are any, all nodes to all.
fn journeys(spec: &Spec) -> Vec<[NodeId; 2]> {
    if !spec.slots.is_empty() {
        return all_journeys(spec);
    }
    let ends = spec.flows.iter().map(|flow| [flow.from, flow.to].map(NodeId::new));
    ends.flat_map(|[from, to]| [[from, to], [to, from]]).collect()
}

/// All nodes to all.
pub(super) fn all_journeys(spec: &Spec) -> Vec<[NodeId; 2]> {
    let nodes = || (0..spec.nodes.len()).map(NodeId::new);
    nodes().flat_map(|from| nodes().map(move |to| [from, to])).collect()
}

/// The routing beside the static routes. A scenario has at most one kind: AODV knows no access points.
fn forwarding(spec: &Spec, radios: &RadioMap, seed: u64) -> Result<Forwarding, Refusal> {
    Ok(match spec.routing {
        Routing::Aodv(settings) => {
            Forwarding::OnDemand(Box::new(AodvRouters::new(settings, spec.nodes.len(), radios, seed)?))
        }
        Routing::Static if spec.slots.is_empty() => Forwarding::Static,
        Routing::Static => Forwarding::Multihomed(Box::new(Multihomed::new(spec, radios)?)),
    })
}

/// Number of machines of each kind.
fn machines(spec: &Spec, ports: &Ports, forwarding: &Forwarding) -> MachineCounts {
    let repairs = spec.links.iter().any(|link| link.link_layer.is_some());
    let has_routers = matches!(forwarding, Forwarding::OnDemand(_));
    MachineCounts::default()
        .with(MachineKind::Mac, ports.radios.len())
        .with(MachineKind::StopAndWait, ports.stop_and_wait.len())
        .with(MachineKind::SelectiveRepeat, if repairs { ports.links.len() } else { 0 })
        .with(MachineKind::RadioTrunk, ports.radio_trunks.len())
        .with(MachineKind::Selector, ports.radio_trunks.len())
        .with(MachineKind::LinkTrunk, ports.link_trunks.len())
        .with(MachineKind::Link, ports.links.len())
        .with(MachineKind::Router, if has_routers { spec.nodes.len() } else { 0 })
        .with(MachineKind::Flow, FlowMachine::PARTS * spec.flows.len())
}

fn flows(spec: &Spec, network: &Network, ports: &mut Ports, seed: u64) -> Result<Flows, Refusal> {
    let mut table: Table<FlowId, Flow> = Table::with_capacity(spec.flows.len());
    for (index, flow) in spec.flows.iter().enumerate() {
        let [from, to] = [flow.from, flow.to].map(NodeId::new);
        let port = network.first_port(from, from.address(), to.address());
        let gaps = Stream::new(seed, index as u64, "source.gaps");
        let state = Flow::new(flow, spec.record.interval, port, gaps)?;
        if let (true, Some(PortId::Link(direction))) = (state.is_greedy, port) {
            ports.links[direction].watch_queue();
        }
        table.push(state);
    }
    Ok(Flows::new(table, Instant::ZERO + spec.warm_up))
}
