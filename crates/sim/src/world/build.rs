//! Makes a world from a resolved scenario.

use super::access::Access;
use super::alarms::{Alarms, Census, Sleeper};
use super::flow::{Connection, Counts, Flow, Transport};
use super::kill::Killers;
use super::link_layer::LinkLayer;
use super::medium::Medium;
use super::multihomed::Multihomed;
use super::observe::Observer;
use super::on_demand::OnDemand;
use super::packet::Packets;
use super::routing::{Edge, NextHop, Routes, trunk_hop};
use super::select::{Selection, SnrSamples};
use super::slotted::address;
use super::window::WindowEnd;
use super::{Event, LinkEnd, LossBehind, Station, TrunkEnd, World};
use crate::phy::wear::WearProcess;
use crate::queue::{EventQueue, Phase};
use crate::record::delay::DelayStats;
use crate::record::series::Series;
use crate::scenario::spec::{self, DeliveryLoss, Interface, Mac, Routing, Spec};
use airbraid_engine::Stream;
use airbraid_engine::link::{Header, SelectiveRepeat, StopAndWait};
use airbraid_engine::trunk::paper as trunk;
use airbraid_mac::Address;
use airbraid_mac::polled::Role;
use airbraid_net::link::Link;
use airbraid_net::loss::LossProcess;
use airbraid_net::refusal::Refusal;
use airbraid_net::source::{Application, Source};
use airbraid_net::tcp::{Receiver, Sender, SenderStats};
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::{BTreeMap, VecDeque};

/// For each node the index of its first radio among all radios.
pub(super) fn first_radios(spec: &Spec) -> Vec<u32> {
    let mut next = 0;
    let place = |node: &spec::Node| {
        let first = next;
        next += node.radios.len() as u32;
        first
    };
    spec.nodes.iter().map(place).collect()
}

impl<'a> World<'a> {
    /// The world of `spec` at its beginning, with the random streams of `seed`.
    ///
    /// # Errors
    /// What a model refuses: the scenario was not checked.
    pub fn new(spec: &'a Spec, seed: u64, observer: Option<Box<dyn Observer + 'a>>) -> Result<Self, Refusal> {
        let first = first_radios(spec);
        let radio_count = spec.nodes.iter().map(|node| node.radios.len()).sum();
        let mut world = Self {
            spec,
            seed,
            now: Instant::ZERO,
            end: Instant::ZERO + spec.duration,
            warm_up: Instant::ZERO + spec.warm_up,
            queue: EventQueue::new(),
            alarms: Alarms::new(Census::default()),
            pending: VecDeque::new(),
            medium: Medium::new(spec, seed),
            stations: stations(spec, &first, seed)?,
            link_layers: Vec::new(),
            window_ends: Vec::new(),
            killers: (!spec.killers.is_empty()).then(|| Box::new(Killers::new(spec, &first, seed))),
            trunks: Vec::new(),
            tunnels: Vec::new(),
            links: links(spec, seed)?,
            routes: Routes::default(),
            on_demand: None,
            multihomed: None,
            flows: Vec::new(),
            greedy_flows: Vec::new(),
            greedy_turn: 0,
            packets: Packets::default(),
            observer,
            outbox: super::external::Outbox::default(),
            events: 0,
        };
        world.add_link_layers()?;
        world.add_window_ends()?;
        if let Routing::Aodv(settings) = spec.routing {
            world.on_demand = Some(Box::new(OnDemand::new(settings, &first, seed)?));
        }
        if !spec.slots.is_empty() {
            world.multihomed = Some(Box::new(Multihomed::new(spec, &first)?));
        }
        world.alarms = Alarms::new(Census {
            stations: radio_count,
            link_layers: world.link_layers.len(),
            window_ends: world.window_ends.len(),
            trunk_ends: 2 * spec.radio_trunks().count(),
            tunnel_ends: 2 * spec.link_trunks().count(),
            links: 2 * spec.links.len(),
            routers: if world.on_demand.is_some() { spec.nodes.len() } else { 0 },
            flows: spec.flows.len(),
        });
        world.add_trunks(&first);
        world.add_tunnels();
        let edges = world.edges(&first);
        world.routes = Routes::new(spec, &edges);
        for (index, flow) in spec.flows.iter().enumerate() {
            let state = world.flow(flow)?;
            if matches!(state.transport, Transport::Udp { .. }) && !matches!(flow.source, Source::Constant { .. }) {
                world.greedy_flows.push(index as u32);
                if let Transport::Udp { hop: Some(NextHop::Link(direction)), .. } = state.transport {
                    world.links[direction as usize].link.watch_queue();
                }
            }
            world.flows.push(state);
        }
        world.schedule();
        Ok(world)
    }

    fn add_trunks(&mut self, first: &[u32]) {
        for spec in self.spec.radio_trunks() {
            for side in [0, 1] {
                let end = self.trunks.len() as u32;
                let (node, peer) = (spec.between[side], spec.between[1 - side]);
                let mut members = Vec::new();
                for (index, pair) in spec.members.iter().enumerate() {
                    let radio = first[node] + pair[side] as u32;
                    let neighbour = Address(first[peer] + pair[1 - side] as u32);
                    members.push((radio, neighbour));
                    self.stations[radio as usize].members.push((neighbour, end, index as u8));
                }
                self.trunks.push(TrunkEnd {
                    spec,
                    trunk: trunk::Trunk::new(spec.policy, members.len() as u8, 1),
                    node: node as u32,
                    members,
                    overhead: spec.header.as_u64() as u32,
                    queue_limit: spec.policy.queue_limit,
                    hold_times: Vec::new(),
                    select: spec.select.as_ref().map(|select| Box::new(Selection::new(select, self.seed, end))),
                });
            }
        }
    }

    /// A link layer at either end of each pair of master and slave that hear each other.
    fn add_link_layers(&mut self) -> Result<(), Refusal> {
        let radios: Vec<&spec::Radio> = self.spec.nodes.iter().flat_map(|node| &node.radios).collect();
        for (master, here) in radios.iter().enumerate() {
            for (slave, there) in radios.iter().enumerate() {
                let configs = here.link_layer.as_ref().zip(there.link_layer.as_ref());
                let Some((own, other)) = configs.filter(|_| polls(&here.mac, &there.mac)) else { continue };
                if !self.medium.reaches(master, slave) {
                    continue;
                }
                let refused = |_| Refusal { parameter: "link_layer", must: "be a configuration that can be" };
                let ends = [
                    (StopAndWait::master(own).map_err(refused)?, master, slave, own.bulk.queue_limit),
                    (StopAndWait::slave(other).map_err(refused)?, slave, master, other.bulk.queue_limit),
                ];
                for (end, radio, peer, queue_limit) in ends {
                    let peer = Address(peer as u32);
                    let index = self.link_layers.len() as u32;
                    self.stations[radio].link_layers.push((peer, index));
                    self.link_layers.push(LinkLayer {
                        end,
                        node: self.stations[radio].node,
                        radio: radio as u32,
                        peer,
                        is_master: radio == master,
                        queue_limit,
                        own: Vec::new(),
                        parity: 0,
                        heard: Header::default(),
                    });
                }
            }
        }
        Ok(())
    }

    /// A link layer at either end of each plain link that has local error control.
    fn add_window_ends(&mut self) -> Result<(), Refusal> {
        for (index, spec) in self.spec.links.iter().enumerate() {
            let Some((config, window)) = spec.link_layer else { continue };
            for side in [0, 1] {
                let refused = |_| Refusal { parameter: "link_layer", must: "be a configuration that can be" };
                let end = SelectiveRepeat::new(&config, window).map_err(refused)?;
                let (node, direction) = (spec.between[side] as u32, (2 * index + side) as u32);
                self.links[direction as usize].window_end = Some(self.window_ends.len() as u32);
                self.window_ends.push(WindowEnd { end, node, direction, queue_limit: config.bulk.queue_limit });
            }
        }
        Ok(())
    }

    /// For each node its ways to neighbours: trunks, then radios where no trunk of theirs leads, then tunnels, then
    /// links that are in none.
    fn edges(&mut self, first: &[u32]) -> Vec<Vec<Edge>> {
        let radios: Vec<&spec::Radio> = self.spec.nodes.iter().flat_map(|node| &node.radios).collect();
        let mut edges = vec![Vec::new(); self.spec.nodes.len()];
        self.add_trunk_edges(&mut edges, |trunk| trunk.radios().is_some());
        for from in 0..self.stations.len() {
            for to in 0..self.stations.len() {
                let (here, there) = (&self.stations[from], &self.stations[to]);
                let (node, neighbour) = (here.node, there.node);
                let in_trunk = here.member_towards(Address(to as u32)).is_some();
                let speaks = may_speak(radios[from], radios[to]) || is_associated(self.spec, first, from, to);
                if node != neighbour && !in_trunk && speaks && self.medium.reaches(from, to) {
                    let hop = NextHop::Radio { radio: from as u32, neighbour: Address(to as u32) };
                    let interface = Interface::Radio(from - first[node as usize] as usize);
                    edges[node as usize].push(Edge { to: neighbour, interface, hop });
                }
            }
        }
        self.add_trunk_edges(&mut edges, |trunk| trunk.links().is_some());
        for (index, spec) in self.spec.links.iter().enumerate() {
            if self.links[2 * index].tunnel.is_some() {
                continue;
            }
            for side in [0, 1] {
                let hop = NextHop::Link((2 * index + side) as u32);
                let to = spec.between[1 - side] as u32;
                edges[spec.between[side]].push(Edge { to, interface: Interface::Link(index), hop });
            }
        }
        edges
    }

    fn add_trunk_edges(&self, edges: &mut [Vec<Edge>], is_of_kind: impl Fn(&spec::Trunk) -> bool) {
        for (index, spec) in self.spec.trunks.iter().enumerate().filter(|(_, trunk)| is_of_kind(trunk)) {
            for side in [0, 1] {
                let hop = trunk_hop(self.spec, index, side);
                let to = spec.between()[1 - side] as u32;
                edges[spec.between()[side]].push(Edge { to, interface: Interface::Trunk(index), hop });
            }
        }
    }

    fn flow(&self, spec: &spec::Flow) -> Result<Flow, Refusal> {
        let (from, to) = (spec.from as u32, spec.to as u32);
        let (transport, chunk) = match spec.transport {
            spec::Transport::Tcp(config) => {
                let connection = Connection {
                    sender: Sender::new(config)?,
                    receiver: Receiver::new(config)?,
                    before: SenderStats::default(),
                };
                (Transport::Tcp(Box::new(connection)), config.mss)
            }
            spec::Transport::Udp { payload, header } => {
                let transport = Transport::Udp {
                    payload: payload.as_u64() as u32,
                    len: (payload + header).as_u64() as u32,
                    number: 0,
                    hop: self.routes.next_hop(from, to).or_else(|| self.on_demand_hop(spec.from)),
                    unsent: 0,
                };
                (transport, payload)
            }
        };
        let counts = Counts {
            delivered_bytes: 0,
            ip_bytes: 0,
            sent_packets: 0,
            received_packets: 0,
            delay: DelayStats::new(),
            deadline: spec.deadline,
            on_time: 0,
            goodput: Series::new(self.spec.record.interval),
            sequence: 0,
            sequences: Vec::new(),
            last_sent: None,
            idle_longest: Duration::ZERO,
            highest: 0,
            repeats: BTreeMap::new(),
            repeats_most: 0,
            arrived: 0,
            out_of_order: 0,
            started: None,
            completed: None,
            fed: None,
            gap: Duration::ZERO,
            highest_datagram: 0,
            reordered: 0,
            extent: 0,
        };
        let application = Application::new(spec.source, chunk.max(Bytes::new(1)))?;
        Ok(Flow { from, to, addresses: [from, to], class: spec.class, application, transport, counts })
    }

    /// The interface by which packets leave a node whose routes are found on demand.
    fn on_demand_hop(&self, node: usize) -> Option<NextHop> {
        self.on_demand.as_ref()?;
        let radio = first_radios(self.spec)[node];
        Some(NextHop::Radio { radio, neighbour: Address::BROADCAST })
    }

    /// Puts everything that the scenario dates into the queue.
    fn schedule(&mut self) {
        if let Some(on_demand) = &self.on_demand {
            for node in 0..self.spec.nodes.len() as u32 {
                self.alarms.arm(self.now, Sleeper::Router(node), on_demand.wake(node));
            }
        }
        // A polling master and a station with slots begin by themselves.
        for (radio, station) in self.stations.iter().enumerate() {
            if station.mac.begins_by_itself() {
                self.alarms.arm(self.now, Sleeper::Mac(radio as u32), station.mac.wake());
            }
        }
        self.begin_selection();
        for (index, flow) in self.spec.flows.iter().enumerate() {
            self.queue.push(flow.start, Phase::Timer, Event::Start(index as u32));
            if let Some(stop) = flow.stop {
                self.queue.push(stop, Phase::Timer, Event::Stop(index as u32));
            }
        }
        for (index, change) in self.spec.changes.iter().enumerate() {
            self.queue.push(change.at, Phase::Timer, Event::Change(index as u32));
        }
        if self.warm_up > Instant::ZERO {
            self.queue.push(self.warm_up, Phase::Timer, Event::WarmUpEnds);
        }
        if !self.trunks.is_empty() || self.spec.record.sequence {
            self.queue.push(Instant::ZERO + self.spec.record.interval, Phase::Statistics, Event::Sample);
        }
    }
}

/// Whether the one polls the other.
fn polls(master: &Mac, slave: &Mac) -> bool {
    match (master, slave) {
        (Mac::Polled(here), Mac::Polled(there)) => here.role == Role::Master && there.role == Role::Slave,
        _ => false,
    }
}

/// Whether a radio's MAC sends to the other's: of polled ones masters and slaves to each other.
fn may_speak(from: &spec::Radio, to: &spec::Radio) -> bool {
    match (&from.mac, &to.mac) {
        (Mac::Multichannel(_), Mac::Multichannel(_)) => true,
        // Among channels where stations come and go, hearing is a matter of the moment.
        (Mac::Dcf(_), Mac::Dcf(_) | Mac::AccessPoint(_)) | (Mac::AccessPoint(_), Mac::Dcf(_)) => {
            from.channel == to.channel
        }
        (a, b) => polls(a, b) || polls(b, a),
    }
}

/// Whether one of two radios has a virtual station at the other.
fn is_associated(spec: &Spec, first: &[u32], from: usize, to: usize) -> bool {
    let at = |radio: usize| Address(radio as u32);
    spec.slots.iter().any(|slots| {
        let station = address(first, slots.radio);
        let serves = |other| slots.access_points.iter().any(|ap| address(first, *ap) == other);
        (station == at(from) && serves(at(to))) || (station == at(to) && serves(at(from)))
    })
}

fn stations(spec: &Spec, first: &[u32], seed: u64) -> Result<Vec<Station>, Refusal> {
    let (snr, interval) = (spec.record.snr, spec.record.interval);
    let mut stations = Vec::new();
    for (node, host) in spec.nodes.iter().enumerate() {
        for (place, radio) in host.radios.iter().enumerate() {
            let index = stations.len() as u32;
            stations.push(Station {
                mac: Access::new(spec, first, (node, place), seed)?,
                node: node as u32,
                link_layers: Vec::new(),
                members: Vec::new(),
                queue_limit: radio.mac.queue_limit(),
                delivery_loss: delivery_loss(&radio.delivery_loss, seed, index),
                collisions: 0,
                channel_errors: 0,
                heard: 0.0,
                snr: snr.then(|| Box::new(SnrSamples::new(interval))),
            });
        }
    }
    Ok(stations)
}

fn delivery_loss(loss: &DeliveryLoss, seed: u64, radio: u32) -> Option<LossBehind> {
    let random = Stream::new(seed, u64::from(radio), "radio.delivery_loss");
    match loss {
        DeliveryLoss::None => None,
        DeliveryLoss::Link(loss) => Some(LossBehind::Link(LossProcess::new(loss, random))),
        DeliveryLoss::Wear(wear) => Some(LossBehind::Wear(Box::new(WearProcess::new(**wear, random)))),
    }
}

fn links(spec: &Spec, seed: u64) -> Result<Vec<LinkEnd>, Refusal> {
    let mut links = Vec::new();
    for link in &spec.links {
        for side in [0, 1] {
            let config = link.directions[side].clone();
            let queue_limit = config.queue_limit;
            links.push(LinkEnd {
                link: Link::new(config, seed, links.len() as u64)?,
                to: link.between[1 - side] as u32,
                queue_limit,
                window_end: None,
                tunnel: None,
            });
        }
    }
    Ok(links)
}
