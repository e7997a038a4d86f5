//! The routing that the daemon's file wants of the host.

use crate::daemon::site::{Interface, Peer, Prefix, Uplink};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address that stands for any destination without a route but the default one (RFC 5737, RFC 3849).
pub const ANYWHERE: [IpAddr; 2] =
    [IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))];
/// Largest number of peers' addresses that are checked for an uplink: they hardly ever have routes of their own.
const PLACES_MAX: usize = 8;
/// Number of a daemon's tables and marks: one of its own, and one for each uplink. Marks are distinguished by this
/// mask.
pub const RANGE: u32 = 16;
/// First number of tables and marks, chosen in steps of [`RANGE`]: unlikely to be taken by chance, and not wg-quick's
/// (51820 and a few more). A multiple of [`RANGE`].
const NUMBERS: u32 = 51_820_000;
/// Number of daemons before two of them must have the same numbers.
const CHOICES: u32 = 4_096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedRouting {
    pub interface: String,
    /// Its index; 0 while there is none.
    pub index: u32,
    pub addresses: Vec<Prefix>,
    /// Prefixes that are routed through it, with the names of the peers behind.
    pub behind: Vec<(Prefix, String)>,
    /// Parts of these that are routed as without the daemon.
    pub except: Vec<Prefix>,
    /// The uplinks, by index.
    pub uplinks: Vec<WantedUplink>,
    /// The first of its tables.
    pub table: u32,
    /// The first of its sockets' marks.
    pub mark: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedUplink {
    pub name: String,
    /// The device that its sockets are bound to.
    pub device: Option<String>,
    /// Whether it is used.
    pub is_on: bool,
    /// Its routers, if the file names them.
    pub gateways: Vec<IpAddr>,
    /// The addresses of its peers.
    pub places: Vec<IpAddr>,
}

impl WantedRouting {
    /// The wanted routing of a file. Uplinks come with whether they are used; peers' endpoints name uplinks by index.
    pub fn new<'a>(
        interface: &Interface,
        index: u32,
        uplinks: impl Iterator<Item = (&'a Uplink, bool)>,
        peers: impl Iterator<Item = &'a Peer> + Clone,
    ) -> Self {
        let behind = peers.clone().flat_map(|peer| peer.allowed.iter().map(|prefix| (*prefix, peer.name.clone())));
        let line = |(place, (uplink, is_on)): (usize, (&Uplink, bool))| WantedUplink {
            name: uplink.name.clone(),
            device: uplink.device.clone(),
            is_on,
            gateways: uplink.gateways.clone(),
            places: places(place, interface.listen != 0, peers.clone()),
        };
        let (table, mark) = numbers(interface);
        let except = peers.clone().flat_map(|peer| peer.except.iter().copied());
        Self {
            interface: interface.name.clone(),
            index,
            addresses: interface.addresses.clone(),
            behind: if interface.routes { behind.collect() } else { Vec::new() },
            except: if interface.routes { except.collect() } else { Vec::new() },
            uplinks: uplinks.enumerate().map(line).collect(),
            table,
            mark,
        }
    }

    /// The prefixes that are routed through the interface: each once, and none that an address implies.
    pub fn prefixes(&self) -> Vec<Prefix> {
        let mut prefixes: Vec<Prefix> = self.behind.iter().map(|(prefix, _)| *prefix).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let networks: Vec<Prefix> = self.addresses.iter().map(Prefix::network).collect();
        prefixes.retain(|prefix| !networks.contains(prefix));
        prefixes
    }

    /// Whether a route to this prefix is in the table that the daemon's own datagrams skip: as it has an exception, or
    /// as they would go into its own interface. A socket that is bound to a device leaves by that device, but
    /// for the default route: every other route of the host is nearer.
    pub fn is_around_us(&self, prefix: &Prefix) -> bool {
        let unbound = self.uplinks.iter().filter(|line| line.device.is_none());
        let is_whole = |part: &Prefix| prefix.length < part.length && prefix.contains(part.address);
        prefix.length == 0
            || self.except.iter().any(is_whole)
            || unbound.flat_map(|line| &line.places).any(|place| prefix.contains(*place))
    }

    /// Whether the own table has routes of a family.
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

/// The addresses of the peers that an uplink goes to; for one that only waits, any address.
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
