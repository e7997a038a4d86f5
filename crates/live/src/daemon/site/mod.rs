//! The daemon's file: this end's name and address, the interfaces that it uses, and its peers.
//!
//! It is resolved here and never changed; a reload reads a new one. Keys are in files of their own, named by path.

mod device;
mod gateway;
mod read;
mod service;

use super::hours::Hours;
use airbraid_engine::converge::session::{PublicKey, Secret};
use airbraid_engine::trunk::bonding::{BondPolicy, MEMBERS_MAX};
use airbraid_units::{BitRate, Bytes, Duration};
use jiff::Timestamp;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

pub use gateway::{Gateway, GatewayIpv6};
pub use read::{parse, read};
pub use service::{Protocol, Service};

/// Largest number of uplinks: half of a tunnel's members are for the other end's.
pub const UPLINKS_MAX: usize = MEMBERS_MAX / 2;
/// Largest number of peers.
pub const PEERS_MAX: usize = 4_096;
/// The default port of an end that others go to.
pub const PORT: u16 = 5182;

/// Below the time for which most NATs keep a UDP mapping (RFC 4787, REQ-5: two minutes at the least, and many keep half
/// a minute).
const KEEPALIVE: Duration = Duration::from_secs(20);

/// The daemon's file, resolved.
#[derive(Clone, Debug)]
pub struct Site {
    /// The daemon's name: the file's stem.
    pub name: String,
    /// Path of the file.
    pub file: PathBuf,
    /// Paths of its keys.
    pub keys: Vec<PathBuf>,
    /// The interface that it makes.
    pub interface: Interface,
    /// The policy of all peers' tunnels.
    pub policy: BondPolicy,
    /// The interfaces that it uses.
    pub uplinks: Vec<Uplink>,
    /// Whether and how this host forwards for others.
    pub gateway: Option<Gateway>,
    /// Kinds of traffic that only some uplinks carry.
    pub services: Vec<Service>,
    pub peers: Vec<Peer>,
}

#[derive(Clone, Debug)]
pub struct Interface {
    pub name: String,
    /// Its addresses with the lengths of their networks' prefixes.
    pub addresses: Vec<Prefix>,
    /// Its MTU; `None` where it follows from the uplinks'.
    pub mtu: Option<u32>,
    /// The key of this end.
    pub identity: Secret,
    /// The UDP port of every uplink's sockets; 0 for any.
    pub listen: u16,
    /// Whether the peers' prefixes become routes.
    pub routes: bool,
    /// The first of its routing tables; `None` where it follows from its name.
    pub table: Option<u32>,
    /// The first of its sockets' marks; `None` where it follows from its name.
    pub mark: Option<u32>,
    /// Name servers.
    pub dns: Vec<IpAddr>,
    /// Whether packets go through the kernel as runs of segments where it can.
    pub offload: bool,
    /// Whether each uplink seals and sends on a thread of its own.
    pub threads: bool,
    /// Memory of all peers' packets together.
    pub memory: Bytes,
    /// Memory of one peer's packets.
    pub peer_memory: Bytes,
    /// Address of the metrics.
    pub metrics: Option<SocketAddr>,
    /// Address of the page, on the loopback.
    pub page: Option<SocketAddr>,
    /// Whether the metrics contain the peers' names.
    pub metrics_names: bool,
    /// Commands that are run when all is there.
    pub post_up: Vec<String>,
    /// Commands that are run before all goes.
    pub pre_down: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uplink {
    pub name: String,
    /// The interface that its sockets are bound to; `None` for unbound sockets.
    pub device: Option<String>,
    /// Whether it is used from the beginning.
    pub is_on: bool,
    /// Its routers, where the host does not know them.
    pub gateways: Vec<IpAddr>,
    /// Higher tiers are used when the lower ones do not suffice.
    pub tier: u8,
    /// Whether it is used only when no other works.
    pub is_backup: bool,
    /// Bytes that it may carry in a month, both ways.
    pub quota: Option<Bytes>,
    /// The day on which a month begins, 1 to 28.
    pub quota_day: i8,
    /// Whether what it carries costs: services may say that they never use it.
    pub is_metered: bool,
    /// The hours in which it is used; none for always.
    pub hours: Vec<Hours>,
    /// Largest rate at which it sends.
    pub rate: Option<BitRate>,
    /// Interval of keepalives on an idle path.
    pub keepalive: Duration,
}

#[derive(Clone, Debug)]
pub struct Peer {
    pub name: String,
    pub public: PublicKey,
    /// A pre-shared secret; zeros if there is none.
    pub psk: Secret,
    /// The peer that introduces it; `None` where it is reached without.
    pub via: Option<String>,
    /// The peers that this end introduces to it, and it to them.
    pub introduces: Vec<String>,
    /// Its endpoints, by index of the uplink; empty where it must come to us, or is introduced.
    pub endpoints: Vec<(usize, Endpoint)>,
    /// The addresses behind it.
    pub allowed: Vec<Prefix>,
    /// Parts of these that are not routed to it, but as the host would without the daemon.
    pub except: Vec<Prefix>,
    /// The time after which it is no peer any more.
    pub until: Option<Timestamp>,
}

/// The endpoint of a peer: an address, or a name that is looked up while the daemon works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The text of the file: `host:port`.
    pub text: String,
    /// Its addresses, as far as they are known.
    pub addresses: Vec<SocketAddr>,
}

impl Uplink {
    /// One for all interfaces, without limits.
    pub fn any() -> Self {
        Self {
            name: "any".to_owned(),
            device: None,
            is_on: true,
            gateways: Vec::new(),
            tier: 0,
            is_backup: false,
            quota: None,
            quota_day: 1,
            is_metered: false,
            hours: Vec::new(),
            rate: None,
            keepalive: KEEPALIVE,
        }
    }
}

impl Endpoint {
    /// Whether it has to be looked up.
    pub fn is_name(&self) -> bool {
        self.text.parse::<SocketAddr>().is_err()
    }
}

/// An address and the number of bits that name the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix {
    /// The address, host bits and all.
    pub address: IpAddr,
    pub length: u8,
}

impl Site {
    /// Endpoints that have to be looked up, with their peers.
    pub fn names(&self) -> Vec<(&str, &str)> {
        let mut names = Vec::new();
        for peer in &self.peers {
            let endpoints = peer.endpoints.iter().map(|(_, endpoint)| endpoint);
            names.extend(endpoints.filter(|e| e.is_name()).map(|e| (e.text.as_str(), peer.name.as_str())));
        }
        names.dedup();
        names
    }
}

impl Prefix {
    /// The network: host bits are zero.
    pub fn network(&self) -> Self {
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.length)).unwrap_or(0);
                IpAddr::V4((u32::from(address) & mask).into())
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0);
                IpAddr::V6((u128::from(address) & mask).into())
            }
        };
        Self { address, length: self.length }
    }

    /// Whether an address is in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        let is_same_family = self.address.is_ipv4() == address.is_ipv4();
        is_same_family && Self { address, length: self.length }.network().address == self.network().address
    }

    /// Reads `10.0.0.1/24`; without a length it is one address.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| format!("`{address}` is no address"))?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = match length {
            None => most,
            Some(text) => match text.trim().parse::<u8>() {
                Ok(length) if length <= most => length,
                _ => return Err(format!("`/{text}` is no length of a prefix: 0 to {most}")),
            },
        };
        Ok(Self { address, length })
    }
}

impl std::fmt::Display for Prefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_hold_their_addresses() {
        let prefix = |text| Prefix::parse(text).unwrap();
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(prefix("10.1.2.3/8").contains(ip("10.9.9.9")));
        assert!(!prefix("10.1.2.3/16").contains(ip("10.2.0.0")));
        assert!(prefix("0.0.0.0/0").contains(ip("255.1.1.1")) && !prefix("0.0.0.0/0").contains(ip("::1")));
        assert!(prefix("fd00::1/64").contains(ip("fd00::ffff")) && !prefix("fd00::/64").contains(ip("fd00:0:0:1::")));
        assert_eq!(prefix("10.1.2.3").to_string(), "10.1.2.3/32");
        assert_eq!(prefix("fd00::1:2/112").network().to_string(), "fd00::1:0/112");
        for wrong in ["", "10.0.0/8", "10.0.0.1/33", "::/129", "::/-1", "a/8"] {
            assert!(Prefix::parse(wrong).is_err(), "{wrong}");
        }
    }
}
