//! The few words of rtnetlink that set up an interface: up, MTU, length of its queue, addresses, routes through it; in
//! [`list`] what interfaces there are, and that something about them has changed; in [`wireless`] what radios hear. Formats:
//! Linux `rtnetlink(7)`, `netlink(7)`.
//!
//! All of it happens in the network namespace of the thread that calls.

mod list;
pub mod wireless;

pub use list::{Found, Watch, read_all};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_REPLACE: u16 = 0x100;
const NLM_F_CREATE: u16 = 0x400;
const NLMSG_ERROR: u16 = 2;
const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const RTM_DELADDR: u16 = 21;
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
const IFF_UP: u32 = 1;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
/// Neither duplicates are looked for nor is it waited: on a point-to-point interface nobody else answers.
const IFA_F_NODAD: u8 = 2;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_UNIVERSE: u8 = 0;
const RT_SCOPE_LINK: u8 = 253;
const RTN_UNICAST: u8 = 1;
/// Length of a message's header \[byte\].
const HEADER: usize = 16;

/// A conversation with the kernel's routing.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// Opens one in this thread's network namespace.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open() -> nix::Result<Self> {
        Self::of(SockProtocol::NetlinkRoute)
    }

    fn of(protocol: SockProtocol) -> nix::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, protocol)?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Switches an interface on.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_up(&mut self, index: u32) -> nix::Result<()> {
        self.request(RTM_NEWLINK, 0, &link(index, &[]))
    }

    /// Switches an interface on, with its MTU \[byte\] and the length of its queue \[packet\].
    ///
    /// # Errors
    /// What the kernel says.
    pub fn configure(&mut self, index: u32, mtu: u32, queue: u32) -> nix::Result<()> {
        let attributes = [(IFLA_MTU, mtu.to_ne_bytes()), (IFLA_TXQLEN, queue.to_ne_bytes())];
        self.request(RTM_NEWLINK, 0, &link(index, &attributes))
    }

    /// Gives an interface an IPv4 address, and with it the route to its network.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn add_address(&mut self, index: u32, address: [u8; 4], prefix: u8) -> nix::Result<()> {
        self.request(RTM_NEWADDR, NLM_F_CREATE, &self::address(index, address.into(), prefix))
    }

    /// Gives an interface an address, and with it the route to its network; that it has it is no error.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn put_address(&mut self, index: u32, address: IpAddr, prefix: u8) -> nix::Result<()> {
        self.request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, &self::address(index, address, prefix))
    }

    /// Takes an address from an interface.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn remove_address(&mut self, index: u32, address: IpAddr, prefix: u8) -> nix::Result<()> {
        self.request(RTM_DELADDR, 0, &self::address(index, address, prefix))
    }

    /// Sends what goes to a network through an interface; that it does is no error. The route is gone with the interface.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn put_route(&mut self, index: u32, network: IpAddr, prefix: u8) -> nix::Result<()> {
        self.request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &route(index, network, prefix))
    }

    /// Removes a route.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn remove_route(&mut self, index: u32, network: IpAddr, prefix: u8) -> nix::Result<()> {
        self.request(RTM_DELROUTE, 0, &route(index, network, prefix))
    }

    fn request(&mut self, kind: u16, flags: u16, body: &[u8]) -> nix::Result<()> {
        self.ask(kind, NLM_F_ACK | flags, body)?;
        self.acknowledgement()
    }

    fn ask(&mut self, kind: u16, flags: u16, body: &[u8]) -> nix::Result<()> {
        self.sequence += 1;
        let mut message = Vec::with_capacity(HEADER + body.len());
        message.extend(((HEADER + body.len()) as u32).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend((NLM_F_REQUEST | flags).to_ne_bytes());
        message.extend(self.sequence.to_ne_bytes());
        message.extend(0u32.to_ne_bytes());
        message.extend(body);
        sendto(self.socket.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty()).map(|_| ())
    }

    /// The kernel answers each request with an error message whose error is zero where there is none.
    fn acknowledgement(&mut self) -> nix::Result<()> {
        let mut answer = [0; 4096];
        loop {
            let length = recv(self.socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
            let word = |at: usize| [answer[at], answer[at + 1], answer[at + 2], answer[at + 3]];
            if length < HEADER + 4 || u32::from_ne_bytes(word(8)) != self.sequence {
                continue;
            }
            if u16::from_ne_bytes([answer[4], answer[5]]) == NLMSG_ERROR {
                let error = i32::from_ne_bytes(word(HEADER));
                return if error == 0 { Ok(()) } else { Err(Errno::from_raw(-error)) };
            }
        }
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

/// `struct rtmsg`: family, lengths of the prefixes of destination and source, TOS, table, protocol, scope, type, flags;
/// and its attributes.
fn route(index: u32, network: IpAddr, prefix: u8) -> Vec<u8> {
    let (family, scope) = if network.is_ipv4() { (AF_INET, RT_SCOPE_LINK) } else { (AF_INET6, RT_SCOPE_UNIVERSE) };
    let mut body = vec![family, prefix, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, scope, RTN_UNICAST];
    body.extend(0u32.to_ne_bytes());
    attribute_of(&mut body, RTA_DST, network);
    attribute(&mut body, RTA_OIF, index.to_ne_bytes());
    body
}

fn attribute_of(body: &mut Vec<u8>, kind: u16, address: IpAddr) {
    match address {
        IpAddr::V4(address) => attribute(body, kind, address.octets()),
        IpAddr::V6(address) => attribute(body, kind, address.octets()),
    }
}

/// An attribute whose length is a multiple of four: nothing has to be filled up.
fn attribute<const N: usize>(body: &mut Vec<u8>, kind: u16, value: [u8; N]) {
    body.extend((4 + N as u16).to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
}
