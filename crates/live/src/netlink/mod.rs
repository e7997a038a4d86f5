//! The parts of rtnetlink that set up an interface: up, MTU, length of its queue, addresses. [`list`] reads the
//! interfaces and news of their changes, [`routes`] routes and rules, [`devices`] a device's ARP settings and source
//! checks, [`wireless`] the signals of radios. Formats: Linux `rtnetlink(7)`, `netlink(7)`.
//!
//! All of it happens in the network namespace of the thread that calls. The kernel answers at once; an answer that is
//! lost (`ENOBUFS`: there was no room for it) is asked for again, and no call waits for ever.

mod ask;
pub mod devices;
mod filters;
mod list;
mod message;
pub mod routes;
pub mod wireless;

pub use ask::Netlink;
pub use list::{FoundInterface, Watch, WatchTopic, read_all};

use std::net::IpAddr;

const NLM_F_REPLACE: u16 = 0x100;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_CREATE: u16 = 0x400;
const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const RTM_DELADDR: u16 = 21;
const IFF_UP: u32 = 1;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// The metric of the route to an address's network (Linux 4.18).
const IFA_RT_PRIORITY: u16 = 9;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
/// Neither duplicates are looked for nor is it waited: on a point-to-point interface no other host answers.
const IFA_F_NODAD: u8 = 2;
/// Length of a message's header \[byte\].
const HEADER: usize = 16;

impl Netlink {
    /// Switches an interface on.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn set_up(&mut self, index: u32) -> nix::Result<()> {
        self.request(RTM_NEWLINK, 0, &link(index, &[]))
    }

    /// Switches an interface on, with its MTU \[byte\] and the length of its queue \[packet\].
    ///
    /// # Errors
    /// The kernel's error.
    pub fn configure(&mut self, index: u32, mtu: u32, queue: u32) -> nix::Result<()> {
        let attributes = [(IFLA_MTU, mtu.to_ne_bytes()), (IFLA_TXQLEN, queue.to_ne_bytes())];
        self.request(RTM_NEWLINK, 0, &link(index, &attributes))
    }

    /// Gives an interface an IPv4 address, and with it the route to its network.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_address(&mut self, index: u32, address: [u8; 4], prefix: u8) -> nix::Result<()> {
        self.request(RTM_NEWADDR, NLM_F_CREATE, &self::address(index, address.into(), prefix))
    }

    /// Gives an interface an address, and with it a route of this metric to its network; an address that is there
    /// already is no error.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn put_address(&mut self, index: u32, address: IpAddr, prefix: u8, metric: u32) -> nix::Result<()> {
        let mut body = self::address(index, address, prefix);
        attribute(&mut body, IFA_RT_PRIORITY, metric.to_ne_bytes());
        self.request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, &body)
    }

    /// Takes an address from an interface.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn remove_address(&mut self, index: u32, address: IpAddr, prefix: u8) -> nix::Result<()> {
        self.request(RTM_DELADDR, 0, &self::address(index, address, prefix))
    }
}

/// `struct ifinfomsg` that switches an interface on, and attributes.
fn link(index: u32, attributes: &[(u16, [u8; 4])]) -> Vec<u8> {
    // Family, padding, type: unspecified.
    let mut body = vec![0; 4];
    body.extend(index.to_ne_bytes());
    body.extend(IFF_UP.to_ne_bytes());
    body.extend(IFF_UP.to_ne_bytes());
    for (kind, value) in attributes {
        attribute(&mut body, *kind, *value);
    }
    body
}

/// `struct ifaddrmsg`: family, prefix length, flags, scope, index; and its attributes.
fn address(index: u32, address: IpAddr, prefix: u8) -> Vec<u8> {
    let (family, flags) = if address.is_ipv4() { (AF_INET, 0) } else { (AF_INET6, IFA_F_NODAD) };
    let mut body = vec![family, prefix, flags, 0];
    body.extend(index.to_ne_bytes());
    attribute_of(&mut body, IFA_LOCAL, address);
    attribute_of(&mut body, IFA_ADDRESS, address);
    body
}

fn attribute_of(body: &mut Vec<u8>, kind: u16, address: IpAddr) {
    match address {
        IpAddr::V4(address) => attribute(body, kind, address.octets()),
        IpAddr::V6(address) => attribute(body, kind, address.octets()),
    }
}

/// An attribute, filled up to a multiple of four byte.
fn attribute<const N: usize>(body: &mut Vec<u8>, kind: u16, value: [u8; N]) {
    body.extend((4 + N as u16).to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// An attribute that `write` fills with attributes.
fn nested(body: &mut Vec<u8>, kind: u16, write: impl FnOnce(&mut Vec<u8>)) {
    let start = body.len();
    attribute(body, kind, []);
    write(body);
    let length = (body.len() - start) as u16;
    body[start..start + 2].copy_from_slice(&length.to_ne_bytes());
}

/// The address in an attribute.
fn ip_in(value: &[u8]) -> Option<IpAddr> {
    match value.len() {
        4 => <[u8; 4]>::try_from(value).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(value).ok().map(IpAddr::from),
        _ => None,
    }
}
