//! What the daemon's file asks of the host's routing.

use crate::daemon::site::{Interface, Peer, Prefix, Uplink};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address that stands for any where there is no route but the default one (RFC 5737, RFC 3849).
pub const ANYWHERE: [IpAddr; 2] =
    [IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))];
/// More addresses of peers are not looked at for an uplink: they hardly ever have routes of their own.
const PLACES_MAX: usize = 8;
/// Tables and marks of a daemon: one of its own, and one for each uplink. Marks are told apart by this.
pub const RANGE: u32 = 16;
/// Where tables and marks are chosen from, in steps of [`RANGE`]: numbers that nobody takes by chance, wg-quick's
/// (51820 and a few more) least of all. A multiple of [`RANGE`].
const NUMBERS: u32 = 51_820_000;
/// How many daemons there can be before two of them must have the same.
const CHOICES: u32 = 4_096;

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The interface's name.
    pub interface: String,
    /// Its index; 0 while there is none.
    pub index: u32,
    /// Its addresses.
    pub addresses: Vec<Prefix>,
    /// Prefixes that are routed through it, with the names of the peers that are behind.
    pub behind: Vec<(Prefix, String)>,
    /// The uplinks, by place.
    pub uplinks: Vec<Line>,
    /// Its tables, from this on.
    pub table: u32,
    /// Its sockets' marks, from this on.
    pub mark: u32,
}

/// An uplink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// What its sockets are bound to.
    pub device: Option<String>,
    /// Whether it is used.
    pub is_on: bool,
    /// Its routers, if the file says.
    pub gateways: Vec<IpAddr>,
    /// Where its peers are.
    pub places: Vec<IpAddr>,
}

impl Wanted {
    /// What a file asks for. Uplinks come with whether they are used; peers' endpoints name uplinks by place.
    pub fn new<'a>(
        interface: &Interface,
        index: u32,
        uplinks: impl Iterator<Item = (&'a Uplink, bool)>,
        peers: impl Iterator<Item = &'a Peer> + Clone,
    ) -> Self {
        let behind = peers.clone().flat_map(|peer| peer.allowed.iter().map(|prefix| (*prefix, peer.name.clone())));
        let line = |(place, (uplink, is_on)): (usize, (&Uplink, bool))| Line {
            name: uplink.name.clone(),
            device: uplink.device.clone(),
            is_on,
            gateways: uplink.gateways.clone(),
            places: places(place, interface.listen != 0, peers.clone()),
        };
        let (table, mark) = numbers(interface);
        Self {
            interface: interface.name.clone(),
            index,
            addresses: interface.addresses.clone(),
            behind: if interface.routes { behind.collect() } else { Vec::new() },
            uplinks: uplinks.enumerate().map(line).collect(),
            table,
            mark,
        }
    }

    /// The prefixes that are routed through the interface: each once, and none that comes with an address.
    pub fn prefixes(&self) -> Vec<Prefix> {
        let mut prefixes: Vec<Prefix> = self.behind.iter().map(|(prefix, _)| *prefix).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let networks: Vec<Prefix> = self.addresses.iter().map(Prefix::network).collect();
        prefixes.retain(|prefix| !networks.contains(prefix));
        prefixes
    }

    /// Whether the daemon's own datagrams would go into its own interface by a route to this prefix: then it is in a
    /// table that they pass over. A socket that is bound to a device leaves by that device, but for the default route:
    /// all else of the host's is nearer than that.
    pub fn is_around_us(&self, prefix: &Prefix) -> bool {
        let unbound = self.uplinks.iter().filter(|line| line.device.is_none());
        prefix.length == 0 || unbound.flat_map(|line| &line.places).any(|place| prefix.contains(*place))
    }

    /// Whether there are routes of a family in the table of its own.
    pub fn has_own_table(&self, is_v4: bool) -> bool {
        let of_family = |prefix: &&Prefix| prefix.address.is_ipv4() == is_v4;
        self.prefixes().iter().filter(of_family).any(|prefix| self.is_around_us(prefix))
    }

    /// Whether the system's resolver may ask through the tunnel: because everything goes there, or because its servers
    /// are there.
    pub fn hides_name_servers(&self, servers: &[IpAddr]) -> bool {
        !servers.is_empty() || [true, false].into_iter().any(|is_v4| self.has_own_table(is_v4))
    }

    /// The mark of an uplink's sockets.
    pub fn mark_of(&self, place: usize) -> u32 {
        mark_of(self.mark, place)
    }

    /// The table of an uplink.
    pub fn table_of(&self, place: usize) -> u32 {
        self.table + 1 + place as u32
    }
}

/// The first table and the first mark of a daemon.
pub fn numbers(interface: &Interface) -> (u32, u32) {
    // FNV-1a: the same for a name for ever.
    let hash =
        interface.name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let chosen = NUMBERS + RANGE * (hash % CHOICES);
    (interface.table.unwrap_or(chosen), interface.mark.unwrap_or(chosen))
}

/// The mark of an uplink's sockets, by the first one.
pub const fn mark_of(first: u32, place: usize) -> u32 {
    first | (1 + place as u32)
}

/// Where the peers are that an uplink goes to; where it goes to none and waits, anywhere.
fn places<'a>(uplink: usize, waits: bool, peers: impl Iterator<Item = &'a Peer> + Clone) -> Vec<IpAddr> {
    let endpoints = || peers.clone().flat_map(|peer| &peer.endpoints).filter(|(of, _)| *of == uplink);
    if endpoints().next().is_none() {
        return if waits { ANYWHERE.to_vec() } else { Vec::new() };
    }
    let mut places: Vec<IpAddr> = endpoints().flat_map(|(_, endpoint)| &endpoint.addresses).map(|at| at.ip()).collect();
    places.sort_unstable();
    places.dedup();
    places.truncate(PLACES_MAX);
    places
}
