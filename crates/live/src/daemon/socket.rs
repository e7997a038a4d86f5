//! The UDP sockets of an uplink: bound to its interface, many datagrams a system call, with the TOS, the local address
//! and the age of each. Where the kernel can, datagrams of one length go out as one, which it cuts up last of all
//! (`UDP_SEGMENT`), and come in as one (`UDP_GRO`).
//!
//! A socket is of one family: what the kernel tells beside a datagram then always has one length, which `recvmmsg`'s
//! reused headers need; where it has not, new ones are made. Fragmentation is off, and only what is too long for the
//! interface is refused: what ICMP says of a path, which anybody may have sent, is no order (`IP_PMTUDISC_PROBE`), and
//! can be asked for.

mod knock;
mod room;
mod send;

pub use knock::knock;
pub use room::{Body, Received, Room};
pub use send::{End, Outlet};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, MultiHeaders, SetSockOpt, SockFlag, SockType, SockaddrStorage, bind,
    connect, getsockname, getsockopt, recvmmsg, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use room::{BATCH, Beside, Head};
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Number of datagrams received at once by a quiet socket: preparing for many costs a ping 10 us where nothing is in
/// the processor's cache.
const QUIET: usize = 2;
/// Socket buffers in the kernel, each way \[byte\]: 30 ms of a gigabit. The queue that matters is the daemon's; this
/// one is for the time that it is not awake.
const BUFFER: usize = 4 << 20;

/// `IP_MTU_DISCOVER`: with `IP_PMTUDISC_PROBE` nothing is fragmented on its way, and the kernel's path MTU does not
/// count.
#[derive(Clone, Copy)]
struct MtuDiscover;
nix::setsockopt_impl!(
    MtuDiscover,
    libc::IPPROTO_IP,
    libc::IP_MTU_DISCOVER,
    libc::c_int,
    sockopt::SetStruct<'_, libc::c_int>
);

/// The same for IPv6.
#[derive(Clone, Copy)]
struct MtuDiscover6;
nix::setsockopt_impl!(
    MtuDiscover6,
    libc::IPPROTO_IPV6,
    libc::IPV6_MTU_DISCOVER,
    libc::c_int,
    sockopt::SetStruct<'_, libc::c_int>
);

/// `IPV6_MTU`.
#[derive(Clone, Copy)]
struct Mtu6;
nix::getsockopt_impl!(Mtu6, libc::IPPROTO_IPV6, libc::IPV6_MTU, libc::c_int, sockopt::GetStruct<libc::c_int>);

/// A datagram to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<T> {
    /// Destination.
    pub to: SocketAddr,
    /// Source, one of our addresses; `None` for the kernel's choice.
    pub source: Option<IpAddr>,
    /// Its TOS, or traffic class.
    pub tos: u8,
    /// Its bytes in the batch's.
    pub range: (usize, usize),
    /// Whether it probes whether the path takes its length: with a shorter one behind it the kernel would join both,
    /// and a virtual link that does not cut them up would lose both.
    pub is_probe: bool,
    /// The owner's tag: returned if it is refused.
    pub tag: T,
}

/// Datagrams to be sent by one socket, in order.
#[derive(Debug)]
pub struct Batch<T> {
    /// The bytes of all, one behind the other.
    pub bytes: Vec<u8>,
    pub datagrams: Vec<Outgoing<T>>,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self { bytes: Vec::new(), datagrams: Vec::new() }
    }
}

/// The reason why a datagram was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The kernel's queue is full.
    Busy,
    /// It is longer than the interface's MTU.
    TooLong,
    /// It cannot be sent at all: no route, no interface.
    Unreachable,
}

#[derive(Debug)]
pub struct Socket {
    end: End,
    outlet: Outlet,
    /// Whether datagrams of one length may come in as one.
    receives_runs: bool,
    /// Structures for few datagrams and for many, and whether the last call brought more than few.
    incoming: [MultiHeaders<SockaddrStorage>; 2],
    is_busy: bool,
}

impl Socket {
    /// A socket of one family on `port` (0 for any), bound to an interface, with a mark (0 for none); with offloads as
    /// far as the kernel has them, if they are wanted.
    ///
    /// # Errors
    /// The kernel's error: there is no such interface, the port is taken.
    pub fn open(binding: (Option<&str>, u32), is_v4: bool, port: u16, offload: bool) -> nix::Result<Self> {
        let fd = prepare(binding, is_v4)?;
        if is_v4 {
            setsockopt(&fd, sockopt::IpRecvTos, &true)?;
            setsockopt(&fd, sockopt::Ipv4PacketInfo, &true)?;
        } else {
            setsockopt(&fd, sockopt::Ipv6RecvTClass, &true)?;
            setsockopt(&fd, sockopt::Ipv6RecvPacketInfo, &true)?;
        }
        for (force, plain) in [(true, false), (false, true)] {
            // Beyond the system's limit where that is allowed.
            let receive = if force { setsockopt(&fd, sockopt::RcvBufForce, &BUFFER) } else { Ok(()) };
            let send = if force { setsockopt(&fd, sockopt::SndBufForce, &BUFFER) } else { Ok(()) };
            if receive.is_ok() && send.is_ok() && !plain {
                break;
            }
            let _ = (setsockopt(&fd, sockopt::RcvBuf, &BUFFER), setsockopt(&fd, sockopt::SndBuf, &BUFFER));
        }
        let any: IpAddr = if is_v4 { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        bind(fd.as_raw_fd(), &SockaddrStorage::from(SocketAddr::new(any, port)))?;
        // Without it a datagram is as old as the look at it.
        let _ = setsockopt(&fd, sockopt::ReceiveTimestampns, &true);
        let receives_runs = offload && setsockopt(&fd, sockopt::UdpGroSegment, &true).is_ok();
        // Zero changes nothing but tells whether the kernel knows the word.
        let sends_runs = offload && setsockopt(&fd, sockopt::UdpGsoSegment, &0).is_ok();
        let incoming = [QUIET, BATCH].map(|count| incoming(is_v4, count));
        let end = End { fd: Arc::new(fd), is_v4, sends_runs: Arc::new(AtomicBool::new(sends_runs)) };
        Ok(Self { outlet: Outlet::new(end.clone()), end, receives_runs, incoming, is_busy: false })
    }

    /// Whether datagrams of one length go out as one, and whether they come in as one.
    pub fn runs(&self) -> (bool, bool) {
        (self.outlet.sends_runs(), self.receives_runs)
    }

    /// Whether it speaks IPv4, and not IPv6.
    pub fn is_v4(&self) -> bool {
        self.end.is_v4
    }

    /// The part that another thread needs to send on it.
    pub fn end(&self) -> End {
        self.end.clone()
    }

    /// The outlet of this thread.
    pub fn outlet(&mut self) -> &mut Outlet {
        &mut self.outlet
    }

    #[cfg(test)]
    pub fn port(&self) -> Option<u16> {
        let bound = getsockname::<SockaddrStorage>(self.end.fd.as_raw_fd()).ok()?;
        std_address(&bound).map(|at| at.port())
    }

    /// Receives at most one system call's worth; returns whether there may be more.
    ///
    /// # Errors
    /// The kernel's error, if it is more than that nothing has come.
    pub fn receive(&mut self, room: &mut Room) -> nix::Result<bool> {
        let mut heads = std::mem::take(&mut room.heads);
        heads.clear();
        let taken = self.take(room, &mut heads);
        room.heads = heads;
        room.seen_at = clock_gettime(ClockId::CLOCK_REALTIME).ok();
        taken
    }

    fn take(&mut self, room: &mut Room, heads: &mut Vec<Head>) -> nix::Result<bool> {
        let count = if self.is_busy { BATCH } else { QUIET };
        let headers = &mut self.incoming[usize::from(self.is_busy)];
        let mut slices = room.slices(count);
        let flags = MsgFlags::MSG_DONTWAIT;
        let messages = match recvmmsg(self.end.fd.as_raw_fd(), headers, slices.iter_mut(), flags, None) {
            Ok(messages) => messages,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(false),
            Err(error) => return Err(error),
        };
        let mut is_uneven = false;
        for message in messages {
            let from = message.address.and_then(|address| std_address(&address));
            let beside = message.cmsgs().map(|said| beside(said.into_iter())).unwrap_or_default();
            is_uneven |= self.receives_runs && beside.segment.is_none();
            // A datagram without a sender is none that could be answered; it keeps its place.
            let from = from.unwrap_or(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0));
            heads.push(Head { length: message.bytes, from, beside });
        }
        if is_uneven {
            // What was told of a single datagram is shorter, and so is then the room that is left for the next.
            *headers = incoming(self.end.is_v4, count);
        }
        self.is_busy = heads.len() >= QUIET;
        Ok(heads.len() == count)
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.fd.as_fd()
    }
}

/// A socket without fragmentation, bound to an interface and to no address, with a mark for the host's rules.
fn prepare((device, mark): (Option<&str>, u32), is_v4: bool) -> nix::Result<OwnedFd> {
    let family = if is_v4 { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let fd = socket(family, SockType::Datagram, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, None)?;
    if let Some(device) = device {
        setsockopt(&fd, sockopt::BindToDevice, &OsString::from(device))?;
    }
    if mark != 0 {
        setsockopt(&fd, sockopt::Mark, &mark)?;
    }
    if is_v4 {
        MtuDiscover.set(&fd, &libc::IP_PMTUDISC_PROBE)?;
    } else {
        setsockopt(&fd, sockopt::Ipv6V6Only, &true)?;
        MtuDiscover6.set(&fd, &libc::IPV6_PMTUDISC_PROBE)?;
    }
    Ok(fd)
}

/// Our address from which a packet to an address leaves, where the kernel chooses.
///
/// # Errors
/// The kernel's error: there is no route.
pub fn source_of(binding: (Option<&str>, u32), to: SocketAddr) -> nix::Result<IpAddr> {
    let fd = prepare(binding, to.is_ipv4())?;
    connect(fd.as_raw_fd(), &SockaddrStorage::from(to))?;
    let own: SockaddrStorage = getsockname(fd.as_raw_fd())?;
    std_address(&own).map(|own| own.ip()).ok_or(Errno::EADDRNOTAVAIL)
}

/// The kernel's path MTU to an address \[byte, with IP header\].
///
/// # Errors
/// The kernel's error: there is no route.
pub fn path_mtu(binding: (Option<&str>, u32), to: SocketAddr) -> nix::Result<u32> {
    let fd = prepare(binding, to.is_ipv4())?;
    connect(fd.as_raw_fd(), &SockaddrStorage::from(to))?;
    let mtu = if to.is_ipv4() { getsockopt(&fd, sockopt::IpMtu)? } else { getsockopt(&fd, Mtu6)? };
    Ok(mtu.unsigned_abs())
}

fn std_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|at| SocketAddr::new(at.ip().into(), at.port()));
    v4.or_else(|| address.as_sockaddr_in6().map(|at| SocketAddr::new(at.ip().into(), at.port())))
}

/// Reads the control messages of a datagram.
fn beside(said: impl Iterator<Item = ControlMessageOwned>) -> Beside {
    let mut beside = Beside::default();
    for message in said {
        match message {
            ControlMessageOwned::Ipv4Tos(byte) => beside.tos = byte,
            ControlMessageOwned::Ipv6TClass(class) => beside.tos = class as u8,
            ControlMessageOwned::Ipv4PacketInfo(info) => {
                beside.to = Some(IpAddr::from(info.ipi_spec_dst.s_addr.to_ne_bytes()));
            }
            ControlMessageOwned::Ipv6PacketInfo(info) => beside.to = Some(IpAddr::from(info.ipi6_addr.s6_addr)),
            ControlMessageOwned::ScmTimestampns(stamp) => beside.stamp = Some(stamp),
            ControlMessageOwned::UdpGroSegments(length) => {
                beside.segment = usize::try_from(length).ok().filter(|length| *length > 0);
            }
            _ => {}
        }
    }
    beside
}

/// Space for the control messages of `count` datagrams.
fn incoming(is_v4: bool, count: usize) -> MultiHeaders<SockaddrStorage> {
    let space = if is_v4 {
        nix::cmsg_space!(u8, libc::in_pktinfo, TimeSpec, libc::c_int)
    } else {
        nix::cmsg_space!(libc::c_int, libc::in6_pktinfo, TimeSpec, libc::c_int)
    };
    MultiHeaders::preallocate(count, Some(space))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::packet::Pool;

    fn talk(is_v4: bool, offload: bool) {
        let mut here = Socket::open((None, 0), is_v4, 0, offload).unwrap();
        let mut there = Socket::open((None, 0), is_v4, 0, offload).unwrap();
        let lo: IpAddr = if is_v4 { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
        let mut batch = Batch::default();
        let tos = |number: u8| [0u8, 0, 0xb8, 2][usize::from(number / 10)];
        // Three of one length, one that is shorter: what goes as one, or does not.
        let length = |number: u8| if number % 4 == 3 { 1 } else { 3 };
        for (number, tos) in (0..40u8).zip((0..40u8).map(tos)) {
            let start = batch.bytes.len();
            batch.bytes.extend([number; 3].iter().take(length(number)));
            let range = (start, batch.bytes.len());
            let source = (number < 20).then_some(lo);
            batch.datagrams.push(Outgoing {
                to: SocketAddr::new(lo, there.port().unwrap()),
                source,
                tos,
                range,
                is_probe: false,
                tag: number,
            });
        }
        // Longer than a datagram can be.
        let range = (0, batch.bytes.len() + 65_530);
        batch.bytes.resize(range.1, 0);
        batch.datagrams.push(Outgoing {
            to: SocketAddr::new(lo, 9),
            source: Some(lo),
            tos: 0,
            range,
            is_probe: false,
            tag: 99,
        });
        let mut refused = Vec::new();
        here.outlet().send(&mut batch, |datagram, why| refused.push((datagram.tag, why)));
        assert!(batch.datagrams.is_empty() && batch.bytes.is_empty());
        assert_eq!(refused, [(99, Refused::TooLong)]);
        let (mut room, mut seen) = (Room::new(&Pool::default()), Vec::new());
        while seen.len() < 40 {
            there.receive(&mut room).unwrap();
            for mut came in room.datagrams() {
                assert_eq!(came.from, SocketAddr::new(lo, here.port().unwrap()));
                assert_eq!(came.to, Some(lo));
                seen.push((came.body.bytes().to_vec(), came.tos));
            }
        }
        let expected = |number: u8| (vec![number; length(number)], tos(number));
        assert_eq!(seen, (0..40).map(expected).collect::<Vec<_>>());
    }

    #[test]
    fn datagrams_arrive_with_their_tos_and_the_address_that_they_were_sent_to() {
        talk(true, false);
        talk(true, true);
    }

    #[test]
    fn over_ipv6_too() {
        talk(false, false);
        talk(false, true);
    }

    #[test]
    fn the_mtu_of_a_path_can_be_asked_for() {
        let lo = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 9);
        assert_eq!(path_mtu((Some("lo"), 0), lo).unwrap(), 65_535);
        assert!(path_mtu((Some("no-such-device"), 0), lo).is_err());
    }
}
