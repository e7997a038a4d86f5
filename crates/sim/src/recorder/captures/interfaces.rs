//! The interfaces of a capture, with the names that they have in scenarios.

use crate::record::ip::link_address;
use crate::record::ip_address;
use crate::record::pcapng::{Interface, LinkType};
use crate::recorder::stations::Stations;
use crate::scenario::spec::Spec;
use crate::world::{LinkDirection, Place};

/// The interfaces of a run, and the place of each.
#[derive(Debug, Default)]
pub struct Interfaces {
    pub all: Vec<Interface>,
    /// By radio; `None`: it is not captured.
    pub radios: Vec<Option<usize>>,
    /// Where those of trunks over radios, of trunks over links and of links begin; `None`: they are not captured.
    starts: Option<[usize; 3]>,
}

impl Interfaces {
    /// The radios that the scenario names; with `everything` all of them, the ends of trunks and links.
    pub fn new(stations: &Stations<'_>, everything: bool) -> Self {
        let mut interfaces = Self::default();
        let wanted = &stations.spec.record.pcap;
        for (station, name) in stations.stations.iter().zip(stations.radio_names()) {
            let (node, radio) = (station.node as usize, station.radio as usize);
            let is_wanted = everything || wanted.contains(node, radio);
            interfaces.radios.push(is_wanted.then_some(interfaces.all.len()));
            if is_wanted {
                let is_dot11 = stations.radio(*station).mac.phy().is_some();
                interfaces.all.push(Interface {
                    name,
                    description: format!("node {node}, radio {radio}"),
                    link_type: if is_dot11 { LinkType::Radiotap } else { LinkType::Own },
                    mac_address: Some(station.mac_address()),
                });
            }
        }
        if everything {
            interfaces.add_ends(stations.spec);
        }
        interfaces
    }

    fn add_ends(&mut self, spec: &Spec) {
        let start = self.all.len();
        for trunk in spec.trunks.iter().filter_map(|trunk| trunk.radios()) {
            self.add(spec, &trunk.name, trunk.between, "trunk", LinkType::Ip);
        }
        let tunnels = self.all.len();
        for trunk in spec.trunks.iter().filter_map(|trunk| trunk.links()) {
            self.add(spec, &trunk.name, trunk.between, "tunnel", LinkType::Ip);
        }
        self.starts = Some([start, tunnels, self.all.len()]);
        for link in &spec.links {
            let link_type = if link.link_layer.is_some() { LinkType::Own } else { LinkType::Ip };
            self.add(spec, &link.name, link.between, "link", link_type);
        }
    }

    fn add(&mut self, spec: &Spec, name: &str, between: [usize; 2], what: &str, link_type: LinkType) {
        for node in between {
            let name = format!("{}/{name}", spec.nodes[node].name);
            let description = format!("node {node}, {what}");
            self.all.push(Interface { name, description, link_type, mac_address: None });
        }
    }

    /// The interface at a place. A host has a file of its own.
    pub fn at(&self, place: Place, is_arrival: bool) -> Option<usize> {
        let [trunks, tunnels, links] = self.starts?;
        match place {
            Place::Host(_) => None,
            Place::RadioTrunk(end) => Some(trunks + end.index()),
            Place::LinkTrunk(end) => Some(tunnels + end.index()),
            Place::Link(direction) => {
                let end = if is_arrival { direction.peer() } else { direction };
                Some(links + end.index())
            }
        }
    }
}

/// The addresses of nodes and of the ends of links that carry tunnels, with their names.
pub fn names(spec: &Spec) -> Vec<([u8; 4], String)> {
    let nodes = spec.nodes.iter().zip(0..).map(|(node, index)| (ip_address(index), node.name.clone()));
    let members = spec.trunks.iter().filter_map(|trunk| trunk.links()).flat_map(|trunk| &trunk.members);
    let ends = members.flat_map(|member| [0, 1].map(|side| (member.link, side)));
    let end = |(link, side): (usize, usize)| {
        let node = &spec.nodes[spec.links[link].between[side]].name;
        let address = link_address(LinkDirection::of(link, side).index() as u32);
        (address, format!("{node}.{}", spec.links[link].name))
    };
    nodes.chain(ends.map(end)).collect()
}
