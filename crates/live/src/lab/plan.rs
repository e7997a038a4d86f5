//! The interfaces of a lab and their addresses: worked out before anything is made.
//!
//! Addresses are those of the simulator's captures, 10.0.0.1 for the first node and so on. Where a node has an
//! interface for each radio and link, that of network g (channels by number and band, then links) has 10.g. in front.

use crate::error::LabError;
use airbraid_sim::record::ip_address;
use airbraid_sim::scenario::spec::{Host, Interface, Radio, Spec, Trunk};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// Longest name of an interface, of a namespace (it is a file), and the largest number of networks that the addresses
/// distinguish.
const INTERFACE_NAME_MAX: usize = 15;
const NAMESPACE_NAME_MAX: usize = 200;
const NETWORKS_MAX: usize = 254;
/// Least queue of an interface, Linux's own for Ethernet: the lab reads packets at once, so that the scenario's queues
/// count.
const DEVICE_QUEUE_MIN: u32 = 1000;
/// MTU of every interface \[byte\].
pub const MTU: u32 = 1500;

/// An interface of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Index of the node.
    pub node: usize,
    /// The interface by which its packets leave; `None`: by the route.
    pub via: Option<Interface>,
    /// Its name in the namespace.
    pub name: String,
    pub address: [u8; 4],
    /// Length of its network's prefix.
    pub prefix: u8,
    /// Packets that the device holds until the lab reads them: a burst that the scenario's queue takes fits.
    pub queue: u32,
}

/// A lab, worked out.
#[derive(Clone, Debug)]
pub struct Layout {
    pub name: String,
    /// For each node the name of its namespace, if it has one.
    pub namespaces: Vec<Option<String>>,
    pub ports: Vec<Port>,
    /// The interface that has an address at the beginning.
    by_address: BTreeMap<[u8; 4], usize>,
    /// The hosts file of all namespaces.
    pub hosts: String,
}

/// The name of a scenario's lab: its file without folder and extension, and without characters that a file name cannot
/// have.
pub fn lab_name(file: &str) -> String {
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    stem.chars().map(plain).take(NAMESPACE_NAME_MAX / 2).collect()
}

/// Checks a name that a person gives a lab.
///
/// # Errors
/// Namespaces cannot be called so.
pub fn check_name(name: &str) -> Result<(), String> {
    let most = NAMESPACE_NAME_MAX / 2;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if (1..=most).contains(&name.len()) && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(format!("a lab is called by 1 to {most} of A-Z, a-z, 0-9, _ and -"))
}

impl Layout {
    /// Works out the lab called `name`.
    ///
    /// # Errors
    /// The scenario has no namespace, or one that cannot be attached as it says.
    pub fn new(name: &str, spec: &Spec) -> Result<Self, LabError> {
        let networks = networks(spec)?;
        let namespace = |node: &str| format!("airbraid-{name}-{node}");
        let is_real = |host| host != Host::Simulated;
        let namespaces = spec.nodes.iter().map(|node| is_real(node.host).then(|| namespace(&node.name)));
        let mut layout = Self {
            name: name.to_owned(),
            namespaces: namespaces.collect(),
            ports: Vec::new(),
            by_address: BTreeMap::new(),
            hosts: String::from("127.0.0.1 localhost\n::1 localhost ip6-localhost\n"),
        };
        for (index, node) in spec.nodes.iter().enumerate() {
            match node.host {
                Host::Simulated => {}
                Host::Trunk => layout.add_one(spec, index),
                Host::Radios => layout.add_each(spec, index, &networks)?,
            }
        }
        if layout.ports.is_empty() {
            return Err(LabError::Input(
                "no node of the scenario is a real host: add host = \"namespace\" to at least two [[node]]s".to_owned(),
            ));
        }
        let addresses = layout.ports.iter().enumerate().map(|(index, port)| (port.address, index));
        layout.by_address = addresses.collect();
        Ok(layout)
    }

    /// The interface for a packet to `address` that leaves by the interface `from`: that of the address's owner in the
    /// lab. A packet that leaves by a link otherwise goes to the link's other end, whose host may have chosen another
    /// address.
    pub fn bound_for(&self, from: usize, address: [u8; 4]) -> Option<usize> {
        let other_end = || {
            let via = self.ports[from].via.filter(|via| matches!(via, Interface::Link(_)))?;
            (0..self.ports.len()).find(|&port| port != from && self.ports[port].via == Some(via))
        };
        self.by_address.get(&address).copied().or_else(other_end)
    }

    fn add_one(&mut self, spec: &Spec, node: usize) {
        let state = &spec.nodes[node];
        let radios = state.radios.iter().map(|radio| queue_of(radio));
        let trunks = spec.radio_trunks().filter(|trunk| trunk.between.contains(&node));
        let queues = radios.chain(trunks.map(|trunk| trunk.policy.queue_limit));
        let queue = queues.max().unwrap_or_default().max(DEVICE_QUEUE_MIN);
        let address = ip_address(node as u32);
        let port = Port { node, via: None, name: "air0".to_owned(), address, prefix: 8, queue };
        let _ = writeln!(self.hosts, "{} {}", dotted(address), state.name);
        self.ports.push(port);
    }

    fn add_each(&mut self, spec: &Spec, node: usize, networks: &[Network]) -> Result<(), LabError> {
        let state = &spec.nodes[node];
        let is_over_radios = |trunk: &&Trunk| trunk.links().is_none() && trunk.between().contains(&node);
        if let Some(trunk) = spec.trunks.iter().find(is_over_radios) {
            return Err(LabError::Input(format!(
                "node `{}` is attached by its radios, and trunk `{}` ends there: leave the trunk out, or say attach = \
                 \"trunk\", with which the trunk is one interface",
                state.name,
                trunk.name()
            )));
        }
        let links = spec.links.iter().enumerate().filter(|(_, link)| link.between.contains(&node));
        let radios = state
            .radios
            .iter()
            .enumerate()
            .map(|(index, radio)| (Interface::Radio(index), channel_of(radio), &radio.name, queue_of(radio)));
        let links = links.map(|(index, link)| (Interface::Link(index), Network::Link(index), &link.name, 0));
        let mut taken = BTreeSet::new();
        for (place, (via, network, name, queue)) in radios.chain(links).enumerate() {
            let group = networks.iter().position(|other| *other == network).unwrap_or(0) + 1;
            let mut address = ip_address(node as u32);
            address[1] = group as u8;
            let fits = name.len() <= INTERFACE_NAME_MAX && name != "lo" && taken.insert(name.clone());
            let interface = if fits { name.clone() } else { format!("air{place}") };
            // The first leads to everything that no other does.
            let prefix = if place == 0 { 8 } else { 16 };
            let plain = if place == 0 { state.name.as_str() } else { "" };
            let _ = writeln!(self.hosts, "{} {}-{interface} {plain}", dotted(address), state.name);
            self.ports.push(Port {
                node,
                via: Some(via),
                name: interface,
                address,
                prefix,
                queue: queue.max(DEVICE_QUEUE_MIN),
            });
        }
        Ok(())
    }
}

/// Packets that wait before a radio at most.
fn queue_of(radio: &Radio) -> u32 {
    radio.link_layer.map_or(radio.mac.queue_limit(), |link| link.bulk.queue_limit)
}

/// A network that interfaces share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Network {
    /// A channel: its number, and its band in GHz, 0 where channels have no frequencies.
    Channel(u32, u32),
    Link(usize),
}

/// The network of a radio: numbers of channels mean another channel in each band.
fn channel_of(radio: &Radio) -> Network {
    let band = radio.spectrum.map_or(0, |spectrum| match spectrum.channel.low_mhz() {
        ..3_000 => 2,
        3_000..5_920 => 5,
        _ => 6,
    });
    Network::Channel(radio.channel, band)
}

fn networks(spec: &Spec) -> Result<Vec<Network>, LabError> {
    let radios = spec.nodes.iter().flat_map(|node| &node.radios);
    let channels: BTreeSet<Network> = radios.map(|radio| channel_of(radio)).collect();
    let links = (0..spec.links.len()).map(Network::Link);
    let all: Vec<Network> = channels.into_iter().chain(links).collect();
    let is_needed = spec.nodes.iter().any(|node| node.host == Host::Radios);
    if is_needed && all.len() > NETWORKS_MAX {
        let message = format!("{} channels and links are more than attach = \"radios\" has addresses for", all.len());
        return Err(LabError::Input(format!("{message}: at most {NETWORKS_MAX}")));
    }
    Ok(all)
}

/// An address in dotted form.
pub fn dotted(address: [u8; 4]) -> String {
    let [a, b, c, d] = address;
    format!("{a}.{b}.{c}.{d}")
}
