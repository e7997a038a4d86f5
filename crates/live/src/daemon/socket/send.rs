//! Sending: datagrams of one length to one place go out as one that the kernel cuts up, the others many a call.

use super::{BATCH, Batch, Outgoing, Refused};
use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg, sendmsg};
use std::io::IoSlice;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Largest number of datagrams that the kernel cuts one into (`UDP_MAX_SEGMENTS` before Linux 6.9).
const RUN_SEGMENTS: usize = 64;
/// Their longest sum: IP's length has 16 bits, and counts headers.
const RUN_BYTES: usize = 65_535 - 48;
const FLAGS: MsgFlags = MsgFlags::MSG_DONTWAIT.union(MsgFlags::MSG_NOSIGNAL);

impl<T> Outgoing<T> {
    const fn len(&self) -> usize {
        self.range.1 - self.range.0
    }

    /// Whether their control messages are the same.
    fn is_like(&self, other: &Self) -> bool {
        (self.tos, self.source) == (other.tos, other.source)
    }
}

/// Number of datagrams at the front that can go out as one: all to one place and of one length, but that the last may
/// be shorter.
fn alike<T>(datagrams: &[Outgoing<T>]) -> usize {
    let Some(first) = datagrams.first() else { return 0 };
    let most = (RUN_BYTES / first.len().max(1)).clamp(1, RUN_SEGMENTS);
    let mut count = 1;
    while let Some(next) = datagrams[..datagrams.len().min(most)].get(count) {
        if !next.is_like(first) || next.to != first.to || next.len() > first.len() || next.len() == 0 {
            break;
        }
        count += 1;
        if next.len() < first.len() {
            // A probe goes with others of its length alone.
            count -= usize::from(first.is_probe || next.is_probe);
            break;
        }
    }
    count
}

fn reason(error: Errno) -> Refused {
    match error {
        Errno::EAGAIN | Errno::ENOBUFS | Errno::ENOMEM => Refused::Busy,
        Errno::EMSGSIZE => Refused::TooLong,
        _ => Refused::Unreachable,
    }
}

/// The part of a socket that its senders share: all of them see alike whether datagrams of one length go out as one.
#[derive(Clone, Debug)]
pub struct End {
    pub(super) fd: Arc<OwnedFd>,
    pub(super) is_v4: bool,
    pub(super) sends_runs: Arc<AtomicBool>,
}

/// A socket as one thread sends on it.
#[derive(Debug)]
pub struct Outlet {
    end: End,
    /// `None` while they are in use.
    outgoing: Option<MultiHeaders<SockaddrStorage>>,
}

impl Outlet {
    /// Sends on this socket.
    pub fn new(end: End) -> Self {
        let outgoing = Some(outgoing(end.is_v4));
        Self { end, outgoing }
    }

    pub(super) fn sends_runs(&self) -> bool {
        self.end.sends_runs.load(Ordering::Relaxed)
    }

    /// Sends a batch, and empties it; `refused` gets each datagram that was not sent.
    pub fn send<T: Copy>(&mut self, batch: &mut Batch<T>, mut refused: impl FnMut(Outgoing<T>, Refused)) {
        let mut rest = &batch.datagrams[..];
        while let Some(first) = rest.first() {
            let run = if self.sends_runs() { alike(rest) } else { 1 };
            let count = if run > 1 {
                if !self.send_alike(&batch.bytes, &rest[..run], &mut refused) {
                    self.send_each(&batch.bytes, &rest[..run], &mut refused);
                }
                run
            } else {
                let is_single = |place: &usize| !self.sends_runs() || alike(&rest[*place..]) == 1;
                let singles = (0..rest.len().min(BATCH)).take_while(is_single);
                let count = singles.take_while(|place| rest[*place].is_like(first)).count();
                self.send_each(&batch.bytes, &rest[..count], &mut refused);
                count
            };
            rest = &rest[count..];
        }
        batch.datagrams.clear();
        batch.bytes.clear();
    }

    /// Sends datagrams of one length as one. Returns false if they must go one by one.
    fn send_alike<T: Copy>(
        &mut self,
        bytes: &[u8],
        run: &[Outgoing<T>],
        refused: &mut impl FnMut(Outgoing<T>, Refused),
    ) -> bool {
        let (first, last) = (&run[0], &run[run.len() - 1]);
        let slices = [IoSlice::new(&bytes[first.range.0..last.range.1])];
        let (to, length) = (SockaddrStorage::from(first.to), first.len() as u16);
        let sent = self.beside(first, |fd, said| {
            let [tos, info] = said;
            let said = [tos, info, ControlMessage::UdpGsoSegments(&length)];
            sendmsg(fd.as_raw_fd(), &slices, &said, FLAGS, Some(&to))
        });
        match sent {
            Ok(_) => true,
            Err(Errno::EINTR) => false,
            Err(error) if reason(error) == Refused::Busy => {
                run.iter().for_each(|datagram| refused(*datagram, Refused::Busy));
                true
            }
            Err(error) => {
                // They are too long for the path, and one by one it shows; or the interface cannot do it.
                if error == Errno::EIO {
                    tracing::warn!(
                        "an uplink's interface does not cut datagrams (UDP_SEGMENT): each is sent by itself"
                    );
                    self.end.sends_runs.store(false, Ordering::Relaxed);
                }
                false
            }
        }
    }

    /// Sends datagrams with the same control messages.
    fn send_each<T: Copy>(
        &mut self,
        bytes: &[u8],
        mut run: &[Outgoing<T>],
        refused: &mut impl FnMut(Outgoing<T>, Refused),
    ) {
        while let Some(first) = run.first() {
            let count = match self.send_some(bytes, run) {
                Ok(sent) => sent.max(1),
                Err(Errno::EINTR) => 0,
                Err(error) => {
                    // The first of them was not sent; the next one may be.
                    refused(*first, reason(error));
                    1
                }
            };
            run = &run[count..];
        }
    }

    /// Sends up to [`BATCH`] datagrams by one call; returns their number.
    fn send_some<T>(&mut self, bytes: &[u8], run: &[Outgoing<T>]) -> nix::Result<usize> {
        let run = &run[..run.len().min(BATCH)];
        let Some(first) = run.first() else { return Ok(0) };
        let slices: Vec<[IoSlice<'_>; 1]> =
            run.iter().map(|datagram| [IoSlice::new(&bytes[datagram.range.0..datagram.range.1])]).collect();
        let addresses: Vec<Option<SockaddrStorage>> =
            run.iter().map(|datagram| Some(SockaddrStorage::from(datagram.to))).collect();
        let mut headers = self.outgoing.take().unwrap_or_else(|| outgoing(self.end.is_v4));
        let sent = self.beside(first, |fd, said| {
            sendmmsg(fd.as_raw_fd(), &mut headers, &slices, &addresses, said, FLAGS).map(Iterator::count)
        });
        self.outgoing = Some(headers);
        sent
    }

    /// Adds the control messages of a datagram: the TOS and the local address.
    fn beside<T, R>(&self, first: &Outgoing<T>, send: impl FnOnce(&OwnedFd, [ControlMessage<'_>; 2]) -> R) -> R {
        if self.end.is_v4 {
            let source = match first.source {
                Some(IpAddr::V4(source)) => u32::from_ne_bytes(source.octets()),
                _ => 0,
            };
            let info = libc::in_pktinfo {
                ipi_ifindex: 0,
                ipi_spec_dst: libc::in_addr { s_addr: source },
                ipi_addr: libc::in_addr { s_addr: 0 },
            };
            send(&self.end.fd, [ControlMessage::Ipv4Tos(&first.tos), ControlMessage::Ipv4PacketInfo(&info)])
        } else {
            let source = match first.source {
                Some(IpAddr::V6(source)) => source.octets(),
                _ => [0; 16],
            };
            let info = libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: source }, ipi6_ifindex: 0 };
            let class = libc::c_int::from(first.tos);
            send(&self.end.fd, [ControlMessage::Ipv6TClass(&class), ControlMessage::Ipv6PacketInfo(&info)])
        }
    }
}

/// Space for the control messages of sent datagrams: exactly these.
fn outgoing(is_v4: bool) -> MultiHeaders<SockaddrStorage> {
    let space =
        if is_v4 { nix::cmsg_space!(u8, libc::in_pktinfo) } else { nix::cmsg_space!(libc::c_int, libc::in6_pktinfo) };
    MultiHeaders::preallocate(BATCH, Some(space))
}
