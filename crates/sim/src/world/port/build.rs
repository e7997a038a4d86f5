//! Makes the ports of all nodes from a resolved scenario, and finds out which of them lead where.

use super::super::host::Host;
use super::super::id::{LinkDirection, LinkTrunkEnd, NodeId, PortId, RadioId, RadioTrunkEnd, Table};
use super::super::medium::Medium;
use super::super::radio_map::RadioMap;
use super::super::routing::{Edge, trunk_port};
use super::super::share::Share;
use super::Ports;
use super::delivery_loss::DeliveryLoss;
use super::error_control::StopAndWaitEnd;
use super::link::{Carries, LinkPort};
use super::link_trunk::LinkTrunkPort;
use super::mac::RadioMac;
use super::radio::RadioPort;
use super::radio_trunk::RadioTrunkPort;
use super::select::Selection;
use super::selective_repeat::SelectiveRepeatEnd;
use super::snr::SnrSamples;
use crate::scenario::spec::{self, Interface, LinkMember, LinkTrunk, Mac, Spec, Trunk as TrunkSpec};
use airbraid_engine::link::{SelectiveRepeat, StopAndWait};
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{Bond, BondConfig};
use airbraid_engine::trunk::paper::PaperTrunk;
use airbraid_mac::edca::{Kind, Kinds};
use airbraid_mac::phy::Standard;
use airbraid_mac::polled::Role;
use airbraid_mac::ppdu::Format;
use airbraid_net::link::Link;
use airbraid_net::refusal::Refusal;

/// Takes an edge: from and to, the interface, and the port that leads there.
type AddEdge<'a> = dyn FnMut([usize; 2], Interface, PortId) + 'a;

impl Ports {
    /// The ports of `spec`.
    ///
    /// # Errors
    /// If a model refuses its parameters: the scenario was not checked.
    pub fn new(spec: &Spec, radio_map: &RadioMap, medium: &mut Medium, seed: u64) -> Result<Self, Refusal> {
        let mut ports = Self { radios: radios(spec, radio_map, seed)?, links: links(spec, seed)?, ..Self::default() };
        ports.add_stop_and_wait(spec, medium)?;
        ports.add_radio_trunks(spec, radio_map, seed);
        ports.add_link_trunks(spec);
        Ok(ports)
    }

    /// Local error control at either end of each pair of master and slave that hear each other.
    fn add_stop_and_wait(&mut self, spec: &Spec, medium: &mut Medium) -> Result<(), Refusal> {
        let radios: Table<RadioId, &spec::Radio> = spec.radios().collect();
        for (master, here) in radios.pairs() {
            for (slave, there) in radios.pairs() {
                let configs = here.link_layer.as_ref().zip(there.link_layer.as_ref());
                let Some((own, other)) = configs.filter(|_| polls(&here.mac, &there.mac)) else { continue };
                if !medium.reaches(master, slave) {
                    continue;
                }
                let ends = [
                    (StopAndWait::master(own).map_err(refused)?, [master, slave], own.bulk.queue_limit),
                    (StopAndWait::slave(other).map_err(refused)?, [slave, master], other.bulk.queue_limit),
                ];
                for (end, [radio, peer], queue_limit) in ends {
                    let id = self.stop_and_wait.push(radio);
                    let end = StopAndWaitEnd::new(id, end, [radio, peer], radio == master, queue_limit);
                    self.radios[radio].add_error_control(end);
                }
            }
        }
        Ok(())
    }

    fn add_radio_trunks(&mut self, spec: &Spec, radio_map: &RadioMap, seed: u64) {
        for (index, trunk) in spec.radio_trunks().enumerate() {
            for side in [0, 1] {
                let end = RadioTrunkEnd::of(index, side);
                let (node, peer) = (trunk.between[side], trunk.between[1 - side]);
                let mut members = Vec::new();
                for (member, pair) in trunk.members.iter().enumerate() {
                    let radio = radio_map.id((node, pair[side]));
                    let neighbour = radio_map.id((peer, pair[1 - side])).address();
                    members.push((radio, neighbour));
                    self.radios[radio].add_member(neighbour, end, Member(member as u8));
                    if trunk.select.is_some() {
                        self.radios[radio].watch_levels(None);
                    }
                }
                let machine = PaperTrunk::new(trunk.policy, members.len() as u8, 1);
                let selection = Selection::new(spec, trunk, end, seed).map(Box::new);
                let overhead = trunk.header.as_u64() as u32;
                let (at, machine) = ((end, NodeId::new(node)), (machine, &trunk.policy));
                self.radio_trunks.push(RadioTrunkPort::new(at, machine, members, overhead, selection));
            }
        }
    }

    fn add_link_trunks(&mut self, spec: &Spec) {
        for (index, trunk) in spec.link_trunks().enumerate() {
            for side in [0, 1] {
                let way = |member: &LinkMember| (direction(spec, trunk, member.link, side), member.config.overhead);
                let members = trunk.members.iter().map(way).collect();
                let machine = Bond::new(BondConfig { policy: trunk.policy, epoch: 1 });
                let (end, node) = (LinkTrunkEnd::of(index, side), NodeId::new(trunk.between[side]));
                self.link_trunks.push(LinkTrunkPort::new(end, node, machine, members, trunk.policy.queue_limit));
            }
        }
    }

    /// Trunks over links hear of their members.
    pub fn begin_link_trunks(&mut self, spec: &Spec, share: &Share, host: &mut Host<'_>) {
        let both_ends = spec.link_trunks().flat_map(|trunk| [trunk, trunk]);
        for (port, trunk) in self.link_trunks.iter_mut().zip(both_ends).filter(|(port, _)| share.has(port.node())) {
            for (member, config) in trunk.members.iter().enumerate() {
                port.add_member(Member(member as u8), config.config, host);
            }
        }
    }

    /// For each node its ways to neighbours: trunks over radios, then radios where no trunk of theirs leads, then
    /// trunks over links, then links that are in none.
    pub fn edges(&self, spec: &Spec, radio_map: &RadioMap, medium: &mut Medium) -> Vec<Vec<Edge>> {
        let mut edges = vec![Vec::new(); spec.nodes.len()];
        self.each_edge(spec, radio_map, medium, &mut |[from, to], interface, port| {
            edges[from].push(Edge { to: NodeId::new(to), interface, port });
        });
        edges
    }

    /// For each node its neighbours, in the order of the edges.
    pub fn neighbours(&self, spec: &Spec, radio_map: &RadioMap, medium: &mut Medium) -> Vec<Vec<NodeId>> {
        let mut neighbours = vec![Vec::new(); spec.nodes.len()];
        self.each_edge(spec, radio_map, medium, &mut |[from, to], _, _| neighbours[from].push(NodeId::new(to)));
        neighbours
    }

    fn each_edge(&self, spec: &Spec, radio_map: &RadioMap, medium: &mut Medium, add: &mut AddEdge<'_>) {
        let sides = |between: [usize; 2]| [(0, between), (1, [between[1], between[0]])];
        let trunks = |is_of_kind: fn(&TrunkSpec) -> bool| {
            spec.trunks.iter().enumerate().filter(move |(_, trunk)| is_of_kind(trunk)).flat_map(
                move |(index, trunk)| {
                    sides(trunk.between())
                        .map(|(side, way)| (way, Interface::Trunk(index), trunk_port(spec, radio_map, index, side)))
                },
            )
        };
        trunks(|trunk| trunk.links().is_none()).for_each(|(way, interface, port)| add(way, interface, port));
        let radios: Table<RadioId, &spec::Radio> = spec.radios().collect();
        for (from, here) in self.radios.pairs() {
            for to in medium.reached_by(from) {
                let (there, neighbour) = (&self.radios[to], to.address());
                let in_trunk = here.member_towards(neighbour).is_some() || is_link(spec, radio_map, [from, to]);
                let speaks = may_speak(radios[from], radios[to]) || is_associated(spec, radio_map, [from, to]);
                if here.node() != there.node() && !in_trunk && speaks {
                    let interface = Interface::Radio(radio_map.place(here.node(), from));
                    let port = PortId::Radio { radio: from, neighbour };
                    add([here.node().index(), there.node().index()], interface, port);
                }
            }
        }
        trunks(|trunk| trunk.links().is_some()).for_each(|(way, interface, port)| add(way, interface, port));
        for (index, link) in spec.links.iter().enumerate() {
            for (side, way) in sides(link.between) {
                let direction = LinkDirection::of(index, side);
                if !self.links[direction].is_in_trunk() {
                    add(way, Interface::Link(index), PortId::Link(direction));
                }
            }
        }
    }
}

/// The kinds of the stations under EDCA and DCF, as they learn of each other when they associate.
pub(super) fn kinds(spec: &Spec, radio_map: &RadioMap) -> Kinds {
    let all = (0..spec.nodes.len()).flat_map(|node| (0..spec.nodes[node].radios.len()).map(move |radio| (node, radio)));
    let kind = |at: (usize, usize)| match &spec.nodes[at.0].radios[at.1].mac {
        Mac::Edca(config) => Some((radio_map.id(at).address(), Kind::of(config))),
        Mac::Dcf(config) => Some((radio_map.id(at).address(), Kind::of_dcf(config))),
        _ => None,
    };
    Kinds::new(all.filter_map(kind))
}

/// The newest format that a receiver of OFDM knows.
fn newest_format(mac: &Mac) -> Option<Format> {
    let standard = match mac {
        Mac::Edca(config) if config.data.format().is_some() => return config.data.format(),
        Mac::Edca(config) => config.phy.standard,
        Mac::Dcf(config) => config.phy.standard,
        _ => return Some(Format::Eht),
    };
    if matches!(standard, Standard::Dot11a | Standard::Dot11g) { None } else { Some(Format::Eht) }
}

fn radios(spec: &Spec, radio_map: &RadioMap, seed: u64) -> Result<Table<RadioId, RadioPort>, Refusal> {
    let mut radios = Table::with_capacity(spec.radios().count());
    let kinds = kinds(spec, radio_map);
    for (node, host) in spec.nodes.iter().enumerate() {
        for (place, radio) in host.radios.iter().enumerate() {
            let id = radio_map.id((node, place));
            let mac = RadioMac::new(spec, radio_map, (node, place), &kinds, seed)?;
            let loss = DeliveryLoss::new(&radio.delivery_loss, seed, id);
            let mut port =
                RadioPort::new(id, NodeId::new(node), mac, radio.mac.queue_limit(), newest_format(&radio.mac), loss);
            if spec.record.snr {
                port.watch_levels(Some(SnrSamples::new(spec.record.interval)));
            }
            radios.push(port);
        }
    }
    Ok(radios)
}

fn links(spec: &Spec, seed: u64) -> Result<Table<LinkDirection, LinkPort>, Refusal> {
    let mut links = Table::default();
    for (index, link) in spec.links.iter().enumerate() {
        for side in [0, 1] {
            let direction = LinkDirection::of(index, side);
            let config = link.directions[side].clone();
            let limit = config.queue_limit;
            let machine = Link::new(config, seed, direction.index() as u64)?;
            let carries = carries(spec, direction)?;
            links.push(LinkPort::new(direction, machine, NodeId::new(link.between[1 - side]), limit, carries));
        }
    }
    Ok(links)
}

/// The load of a direction of a link.
fn carries(spec: &Spec, own: LinkDirection) -> Result<Carries, Refusal> {
    let link = &spec.links[own.link()];
    if let Some((config, window)) = link.link_layer {
        let machine = SelectiveRepeat::new(&config, window).map_err(refused)?;
        let node = NodeId::new(link.between[own.side()]);
        let end = SelectiveRepeatEnd::new(machine, node, own, config.bulk.queue_limit);
        return Ok(Carries::SelectiveRepeat(Box::new(end)));
    }
    for (index, trunk) in spec.link_trunks().enumerate() {
        if trunk.members.iter().any(|member| member.link == own.link()) {
            // It leads from one end to the other.
            let side = usize::from(direction(spec, trunk, own.link(), 0) == own);
            return Ok(Carries::LinkTrunk(LinkTrunkEnd::of(index, side)));
        }
    }
    Ok(Carries::Packets)
}

/// The direction of a trunk's link that leads away from this side of the trunk.
fn direction(spec: &Spec, trunk: &LinkTrunk, link: usize, side: usize) -> LinkDirection {
    // A link between the same nodes may be written the other way round.
    let is_same = spec.links[link].between == trunk.between;
    LinkDirection::of(link, if is_same { side } else { 1 - side })
}

fn refused<E>(_: E) -> Refusal {
    Refusal { parameter: "link_layer", must: "be a configuration that can be" }
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
        (Mac::Edca(_), Mac::Edca(_)) => from.shares_channel(to),
        // Frequency hopping is for itself.
        (Mac::Edca(_), Mac::Dcf(dcf)) | (Mac::Dcf(dcf), Mac::Edca(_)) => {
            dcf.phy.standard != Standard::Fhss && from.shares_channel(to)
        }
        // Among channels where stations come and go, hearing is a matter of the moment.
        (Mac::Dcf(_), Mac::Dcf(_) | Mac::AccessPoint(_)) | (Mac::AccessPoint(_), Mac::Dcf(_)) => {
            from.channel == to.channel
        }
        (a, b) => polls(a, b) || polls(b, a),
    }
}

/// Whether two radios are the ends of a link of two devices.
fn is_link(spec: &Spec, radio_map: &RadioMap, [from, to]: [RadioId; 2]) -> bool {
    spec.multi_link_trunks().any(|trunk| {
        let ends = |member: &[usize; 2]| [0, 1].map(|side| radio_map.id((trunk.between[side], member[side])));
        trunk.members.iter().map(ends).any(|ends| ends == [from, to] || ends == [to, from])
    })
}

/// Whether one of two radios has a virtual station at the other.
fn is_associated(spec: &Spec, radio_map: &RadioMap, [from, to]: [RadioId; 2]) -> bool {
    spec.slots.iter().any(|slots| {
        let station = radio_map.id(slots.radio);
        let serves = |other| slots.access_points.iter().any(|ap| radio_map.id(*ap) == other);
        (station == from && serves(to)) || (station == to && serves(from))
    })
}
