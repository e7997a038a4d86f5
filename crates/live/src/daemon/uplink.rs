//! One uplink: its sockets while its interface is there, and their batches.

use super::budget::Budget;
use super::cause::Cause;
use super::lane::{self, Lane, LateSpan, SendLoad, Written};
use super::site::Uplink;
use super::socket::{Outgoing, Socket};
use super::tag::{Refusal, Tag};
use crate::clock::Clock;
use crate::netlink::FoundInterface;
use airbraid_units::{Duration, Instant, metrics};
use nix::errno::Errno;
use std::net::{IpAddr, SocketAddr};

/// Time after which a socket that could not be opened is tried again; then it doubles, up to [`RETRY_MOST`].
const RETRY: Duration = Duration::from_secs(1);
const RETRY_MOST: Duration = Duration::from_secs(30);

/// Headers of IPv4 and UDP, and of IPv6 and UDP \[byte\].
const HEADERS_IPV4: u64 = 20 + 8;
const HEADERS_IPV6: u64 = 40 + 8;

metrics! {
    /// Counts of an uplink since the daemon began.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct UplinkCounts {
        /// Datagrams sent.
        pub sent_datagrams: u64 = sum,
        /// Bytes of these datagrams, without IP and UDP headers.
        pub sent_bytes: u64 = sum,
        /// Datagrams received.
        pub received_datagrams: u64 = sum,
        /// Bytes of these datagrams, without IP and UDP headers.
        pub received_bytes: u64 = sum,
        /// Datagrams that the kernel refused.
        pub refused_datagrams: u64 = sum,
    }
}

/// A socket that could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    pub error: Errno,
    /// The time of the next attempt.
    pub again: Instant,
    pause: Duration,
}

/// A socket with its batch.
#[derive(Debug)]
pub struct Port {
    pub socket: Socket,
    load: SendLoad,
    /// The thread that seals and sends, if there is one.
    lane: Option<Lane>,
}

#[derive(Debug)]
pub struct UplinkState {
    /// Its entry in the file.
    pub config: Uplink,
    /// Whether it is to be used.
    pub is_on: bool,
    /// Its use in this month, and whether it rests.
    pub budget: Budget,
    /// The mark of its sockets' packets, for the host's rules.
    mark: u32,
    /// Its interface, as of the last reading; `None` for an uplink without one, and for one that is not there.
    pub found: Option<FoundInterface>,
    /// The reason why it is not there.
    pub absence: Option<Cause>,
    /// Whether it reaches no IPv4 host: it has addresses, and none of that family.
    pub lacks_v4: bool,
    /// A socket that could not be opened.
    pub failed: Option<Failed>,
    /// One for each family that it has an address of.
    pub ports: Vec<Port>,
    pub counts: UplinkCounts,
}

impl UplinkState {
    /// An uplink that is not open yet.
    pub fn new(config: Uplink, mark: u32) -> Self {
        let is_on = config.is_on;
        Self {
            config,
            is_on,
            budget: Budget::default(),
            mark,
            found: None,
            absence: None,
            lacks_v4: false,
            failed: None,
            ports: Vec::new(),
            counts: UplinkCounts::default(),
        }
    }

    /// Whether it needs a socket of a family: it has an address of it. One without an interface follows the system.
    fn wants(&self, is_v4: bool) -> bool {
        let addresses = self.found.as_ref().map(|found| &found.addresses);
        addresses.is_none_or(|all| all.iter().any(|address| address.is_ipv4() == is_v4))
    }

    fn has(&self, is_v4: bool) -> bool {
        self.ports.iter().any(|port| port.socket.is_v4() == is_v4)
    }

    /// Whether it has all the sockets that it needs.
    pub fn is_complete(&self) -> bool {
        self.failed.is_none()
            && self.is_open()
            && [true, false].into_iter().all(|is_v4| self.has(is_v4) == self.wants(is_v4))
    }

    /// Whether anything can be sent.
    pub fn is_open(&self) -> bool {
        !self.ports.is_empty()
    }

    /// Closes it; queued datagrams are lost.
    pub fn close(&mut self) {
        self.ports.clear();
    }

    /// Opens the missing sockets that it needs, on `port`, and closes those that it no longer needs. With `threads`
    /// each gets one that seals and sends. Returns whether any was opened; a failure is in [`Self::failed`].
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
                        let load = if lane.is_some() { SendLoad::deferred() } else { SendLoad::default() };
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

    /// Bytes that it has carried, both ways, with the headers of IP and UDP: as a provider counts.
    pub fn carried(&self) -> u64 {
        let headers = if self.lacks_v4 { HEADERS_IPV6 } else { HEADERS_IPV4 };
        let UplinkCounts { sent_datagrams, sent_bytes, received_datagrams, received_bytes, .. } = self.counts;
        sent_bytes + received_bytes + headers * (sent_datagrams + received_datagrams)
    }

    /// Whether it can reach an address: it has a socket of its family.
    pub fn reaches(&self, to: SocketAddr) -> bool {
        self.ports.iter().any(|port| port.socket.is_v4() == to.is_ipv4())
    }

    /// Opens the translator behind it for a place, before an answer is to come from there.
    pub fn open_translator(&self, to: SocketAddr) {
        let port = self.ports.iter().find(|port| port.socket.is_v4() == to.is_ipv4());
        if let Some(port) = port {
            port.socket.open_translator(to);
        }
    }

    /// The device that its sockets are bound to, and their mark.
    pub fn binding(&self) -> (Option<&str>, u32) {
        (self.config.device.as_deref(), self.mark)
    }

    /// The longest packet of its interface \[byte\].
    pub fn mtu(&self) -> Option<u32> {
        self.found.as_ref().map(|found| found.mtu)
    }

    /// Appends a datagram that is to leave now, which `write` writes. Returns false if there is no socket for it, or
    /// `write` fails.
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

    /// Bytes of its batches.
    pub fn waiting(&self) -> usize {
        self.ports.iter().map(|port| port.load.len().1).sum()
    }

    /// Sends its batches, or has them sent; refusals and lateness are reported, by a thread later.
    pub fn flush(&mut self, clock: Clock, refused: &mut Vec<Refusal>, late: &mut LateSpan) {
        let Self { ports, counts, .. } = self;
        let before = refused.len();
        for Port { socket, load, lane } in ports.iter_mut() {
            if let Some(lane) = lane {
                lane.collect(refused, late);
            }
            let (datagrams, bytes) = load.len();
            if datagrams == 0 {
                continue;
            }
            counts.sent_datagrams += datagrams as u64;
            counts.sent_bytes += bytes as u64;
            if !lane.as_mut().is_some_and(|lane| lane.take(load)) {
                lane::send(load, socket, clock, refused, late);
            }
        }
        counts.refused_datagrams += (refused.len() - before) as u64;
    }

    /// Whether a thread has not reported its refusals yet.
    pub fn is_busy(&self) -> bool {
        self.ports.iter().filter_map(|port| port.lane.as_ref()).any(Lane::is_busy)
    }
}
