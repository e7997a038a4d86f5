//! The interfaces with their addresses, and news that they have changed.
//!
//! News says only that there is some: whoever hears it asks for the list again. So nothing is lost when the kernel's
//! buffer for news overflows, and there is no state that could disagree with the kernel's.

use super::message::{attributes, messages, word};
use super::{IFA_ADDRESS, IFA_LOCAL, IFF_UP, IFLA_MTU, Netlink, RTM_NEWADDR, RTM_NEWLINK, ip_in};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket};
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// `struct rtgenmsg`, padded.
pub(super) const ANY_FAMILY: [u8; 4] = [0; 4];
pub(super) const RTM_GETLINK: u16 = 18;
pub(super) const RTM_GETADDR: u16 = 22;
pub(super) const IFLA_IFNAME: u16 = 3;
/// The driver has a carrier and the interface is up (RFC 2863: ifOperStatus).
pub(super) const IFF_RUNNING: u32 = 0x40;
const RTMGRP_LINK: u32 = 1;
const RTMGRP_IPV4_IFADDR: u32 = 0x10;
const RTMGRP_IPV6_IFADDR: u32 = 0x100;
const RTMGRP_IPV4_ROUTE: u32 = 0x40;
const RTMGRP_IPV4_RULE: u32 = 0x80;
const RTMGRP_IPV6_ROUTE: u32 = 0x400;
/// `RTNLGRP_IPV6_RULE`, the 19th.
const RTMGRP_IPV6_RULE: u32 = 1 << 18;

/// An interface that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundInterface {
    /// Its index: another one when it has come back.
    pub index: u32,
    pub name: String,
    /// Whether it is up and has a carrier.
    pub is_up: bool,
    /// The longest packet \[byte\].
    pub mtu: u32,
    /// Its addresses, but those of the link alone.
    pub addresses: Vec<IpAddr>,
}

impl Netlink {
    /// All interfaces of this thread's network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn interfaces(&mut self) -> nix::Result<Vec<FoundInterface>> {
        let mut found = self.dump(RTM_GETLINK, RTM_NEWLINK, &ANY_FAMILY, interface)?;
        for (index, address) in self.dump(RTM_GETADDR, RTM_NEWADDR, &ANY_FAMILY, address)? {
            let owner = found.iter_mut().find(|interface| interface.index == index);
            owner.into_iter().for_each(|owner| owner.addresses.push(address));
        }
        Ok(found)
    }
}

/// All interfaces, and all addresses with the indices of theirs, in a kernel's answer, whatever its messages' types.
/// For tests with arbitrary bytes.
pub fn read_all(datagram: &[u8]) -> (Vec<FoundInterface>, Vec<(u32, IpAddr)>) {
    let bodies = || messages(datagram).map(|(_, _, _, body)| body);
    (bodies().filter_map(interface).collect(), bodies().filter_map(address).collect())
}

/// `struct ifinfomsg`: family, type, index, flags, change.
fn interface(body: &[u8]) -> Option<FoundInterface> {
    let (index, flags) = (word(body, 4)?, word(body, 8)?);
    let both = IFF_UP | IFF_RUNNING;
    let mut found =
        FoundInterface { index, name: String::new(), is_up: flags & both == both, mtu: 0, addresses: Vec::new() };
    for (kind, value) in attributes(body.get(16..)?) {
        match kind {
            IFLA_IFNAME => found.name = String::from_utf8_lossy(value).trim_end_matches('\0').to_owned(),
            IFLA_MTU => found.mtu = word(value, 0)?,
            _ => {}
        }
    }
    Some(found)
}

/// `struct ifaddrmsg`: family, prefix length, flags, scope, index. Of a point-to-point link the local end counts.
fn address(body: &[u8]) -> Option<(u32, IpAddr)> {
    let index = word(body, 4)?;
    let mut found = None;
    for (kind, value) in attributes(body.get(8..)?) {
        let address = ip_in(value);
        match kind {
            IFA_LOCAL => found = address,
            IFA_ADDRESS if found.is_none() => found = address,
            _ => {}
        }
    }
    let is_usable = |address: &IpAddr| match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => !address.is_unicast_link_local(),
    };
    found.filter(is_usable).map(|address| (index, address))
}

/// The subject of a [`Watch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchTopic {
    /// Interfaces and their addresses.
    Interfaces,
    /// Interfaces, addresses, routes and rules.
    Routing,
}

/// Receives news that interfaces or their addresses, or routes, have changed.
#[derive(Debug)]
pub struct Watch {
    socket: OwnedFd,
}

impl Watch {
    /// Listens from now on.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open(news: WatchTopic) -> nix::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?;
        let interfaces = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
        let routing = RTMGRP_IPV4_ROUTE | RTMGRP_IPV4_RULE | RTMGRP_IPV6_ROUTE | RTMGRP_IPV6_RULE;
        let groups = interfaces | if news == WatchTopic::Routing { routing } else { 0 };
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, groups))?;
        Ok(Self { socket })
    }

    /// Whether there was news since the last call; an overflow is news.
    pub fn has_news(&self) -> bool {
        let (mut room, mut heard) = ([0; 8_192], false);
        loop {
            match recv(self.socket.as_raw_fd(), &mut room, MsgFlags::empty()) {
                Err(Errno::EAGAIN) => return heard,
                Err(Errno::EINTR) => {}
                Ok(_) | Err(Errno::ENOBUFS) => heard = true,
                Err(_) => return true,
            }
        }
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_found_by_its_name() {
        let mut netlink = Netlink::open().unwrap();
        let found = netlink.interfaces().unwrap();
        let lo = found.iter().find(|interface| interface.name == "lo").unwrap();
        assert_eq!(lo.index, 1);
        assert!(lo.mtu >= 1_280);
        assert!(!lo.is_up || lo.addresses.contains(&IpAddr::from([127, 0, 0, 1])));
    }

    #[test]
    fn whatever_the_kernel_says_is_read_without_a_panic() {
        for length in 0..64usize {
            for fill in [0u8, 1, 4, 8, 16, 17, 40, 255] {
                let bytes = vec![fill; length];
                for (_, _, _, body) in messages(&bytes) {
                    let _ = (interface(body), address(body));
                }
                let _ = (interface(&bytes), address(&bytes));
            }
        }
    }
}
