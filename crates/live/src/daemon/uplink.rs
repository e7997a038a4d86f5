//! One uplink at work: its sockets while its interface is there, and what waits to be sent on them.

use super::cause::Cause;
use super::lane::{self, Lane, Late, Load, Written};
use super::site::Uplink;
use super::socket::{Outgoing, Refused, Socket};
use crate::clock::Clock;
use crate::netlink::Found;
use airbraid_engine::trunk::Member;
use airbraid_units::{Duration, Instant, SeqNum};
use nix::errno::Errno;
use std::net::{IpAddr, SocketAddr};

/// What could not be opened is tried again after this; then after twice as long, up to [`RETRY_MOST`].
const RETRY: Duration = Duration::from_secs(1);
const RETRY_MOST: Duration = Duration::from_secs(30);

/// Whose datagram it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The peer.
    pub peer: usize,
    /// The member and the number of the frame, if it is a tunnel's.
    pub frame: Option<(Member, SeqNum)>,
    /// Whether it is a probe of a length.
    pub is_probe: bool,
}

/// What an uplink has refused, and why.
pub type Refusal = (Outgoing<Tag>, Refused);

/// What was seen of an uplink since the daemon began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Datagrams and bytes sent, without IP and UDP headers.
    pub sent: [u64; 2],
    /// Datagrams and bytes received.
    pub received: [u64; 2],
    /// Datagrams that the kernel would not take.
    pub refused: u64,
}

/// A socket that could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// What the kernel says.
    pub error: Errno,
    /// When it is tried again.
    pub again: Instant,
    pause: Duration,
}

/// A socket and what waits to be sent on it.
#[derive(Debug)]
pub struct Port {
    /// The socket.
    pub socket: Socket,
    load: Load,
    /// What seals and sends beside the daemon's own thread.
    lane: Option<Lane>,
}

/// An uplink.
#[derive(Debug)]
pub struct UplinkState {
    /// What the file says.
    pub config: Uplink,
    /// Whether it is to be used.
    pub is_on: bool,
    /// What its sockets' packets are marked with: rules know them by it.
    mark: u32,
    /// Its interface, as it was found last; none for an uplink without one, and for one that is not there.
    pub found: Option<Found>,
    /// Why it is not there, if it is not.
    pub absence: Option<Cause>,
    /// Whether no IPv4 host can be reached from it: it has addresses, and none of that family.
    pub lacks_v4: bool,
    /// What could not be opened.
    pub failed: Option<Failed>,
    /// One for each family that it has an address of.
    pub ports: Vec<Port>,
    /// What was seen of it.
    pub traffic: Traffic,
}

impl UplinkState {
    /// An uplink that is not open yet.
    pub fn new(config: Uplink, mark: u32) -> Self {
        let is_on = config.is_on;
        Self {
            config,
            is_on,
            mark,
            found: None,
            absence: None,
            lacks_v4: false,
            failed: None,
            ports: Vec::new(),
            traffic: Traffic::default(),
        }
    }

    /// Whether it is to have a socket of a family: it has an address of it. One without an interface has whatever the
    /// system has.
    fn wants(&self, is_v4: bool) -> bool {
        let addresses = self.found.as_ref().map(|found| &found.addresses);
        addresses.is_none_or(|all| all.iter().any(|address| address.is_ipv4() == is_v4))
    }

    fn has(&self, is_v4: bool) -> bool {
        self.ports.iter().any(|port| port.socket.is_v4() == is_v4)
    }

    /// Whether it has the sockets that it is to have.
    pub fn is_complete(&self) -> bool {
        self.failed.is_none()
            && self.is_open()
            && [true, false].into_iter().all(|is_v4| self.has(is_v4) == self.wants(is_v4))
    }

    /// Whether anything can be sent.
    pub fn is_open(&self) -> bool {
        !self.ports.is_empty()
    }

    /// Closes it; what waits there is lost.
    pub fn close(&mut self) {
        self.ports.clear();
    }

    /// Opens what is missing of the sockets that it is to have, on `port`, and closes what it is not to have any more.
    /// With `threads` each gets one that seals and sends. Gives whether any was opened; what could not be is
    /// [`Self::failed`].
    pub fn open(&mut self, now: Instant, port: u16, offload: bool, threads: Option<Clock>) -> bool {
        let (mut is_any, mut failed) = (false, None);
        for is_v4 in [true, false] {
            if !self.wants(is_v4) {
                self.ports.retain(|port| port.socket.is_v4() != is_v4);
            } else if !self.has(is_v4) {
                match Socket::open(self.binding(), is_v4, port, offload) {
                    Ok(socket) => {
                        // What has no thread of its own goes by the daemon's.
                        let lane = threads.and_then(|clock| Lane::new(&socket, clock).ok());
                        let load = if lane.is_some() { Load::deferred() } else { Load::default() };
                        self.ports.push(Port { socket, load, lane });
                        is_any = true;
                    }
                    // The system does not have this family: the other is enough.
                    Err(Errno::EAFNOSUPPORT) if self.config.device.is_none() => {}
                    Err(error) => failed = Some(error),
                }
            }
        }
        let before = self.failed.take();
        self.failed = failed.map(|error| {
            let same = before.filter(|before| before.error == error);
            let pause = same.map_or(RETRY, |before| RETRY_MOST.min(before.pause * 2));
            Failed { error, again: now + pause, pause }
        });
        is_any
    }

    /// Whether it can reach an address: it has a socket of its family.
    pub fn reaches(&self, to: SocketAddr) -> bool {
        self.ports.iter().any(|port| port.socket.is_v4() == to.is_ipv4())
    }

    /// Lets the translator behind it know a place, before anything is to come from there.
    pub fn open_translator(&self, to: SocketAddr) {
        let port = self.ports.iter().find(|port| port.socket.is_v4() == to.is_ipv4());
        if let Some(port) = port {
            port.socket.open_translator(to);
        }
    }

    /// What its sockets are bound to, and their mark.
    pub fn binding(&self) -> (Option<&str>, u32) {
        (self.config.device.as_deref(), self.mark)
    }

    /// The longest packet of its interface \[byte\].
    pub fn mtu(&self) -> Option<u32> {
        self.found.as_ref().map(|found| found.mtu)
    }

    /// Puts a datagram that is to leave now, and which `write` appends to what it is given, with those that wait. Gives
    /// false if there is no socket for it, or `write` fails.
    pub fn push(
        &mut self,
        now: Instant,
        to: SocketAddr,
        source: Option<IpAddr>,
        tos: u8,
        tag: Tag,
        write: impl FnOnce(&mut Vec<u8>) -> Written,
    ) -> bool {
        let Some(port) = self.ports.iter_mut().find(|port| port.socket.is_v4() == to.is_ipv4()) else { return false };
        port.load.add(now, write, |range| Outgoing { to, source, tos, range, is_probe: tag.is_probe, tag })
    }

    /// Bytes that wait.
    pub fn waiting(&self) -> usize {
        self.ports.iter().map(|port| port.load.len().1).sum()
    }

    /// Sends what waits, or has it sent; what was refused, or has left late, is told, by a thread later.
    pub fn flush(&mut self, clock: Clock, refused: &mut Vec<Refusal>, late: &mut Late) {
        let Self { ports, traffic, .. } = self;
        let before = refused.len();
        for Port { socket, load, lane } in ports.iter_mut() {
            if let Some(lane) = lane {
                lane.collect(refused, late);
            }
            let (datagrams, bytes) = load.len();
            if datagrams == 0 {
                continue;
            }
            traffic.sent[0] += datagrams as u64;
            traffic.sent[1] += bytes as u64;
            if !lane.as_mut().is_some_and(|lane| lane.take(load)) {
                lane::send(load, socket, clock, refused, late);
            }
        }
        traffic.refused += (refused.len() - before) as u64;
    }

    /// Whether a thread has not told yet what it has refused.
    pub fn is_busy(&self) -> bool {
        self.ports.iter().filter_map(|port| port.lane.as_ref()).any(Lane::is_busy)
    }
}
