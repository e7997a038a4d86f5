//! Asks the network why a place does not answer: by an empty datagram, which no daemon reads, from a socket of its own,
//! to which the kernel then reports an error. The sockets that carry frames are not affected.

use super::socket;
use crate::netlink::Netlink;
use airbraid_units::{Duration, Instant};
use nix::errno::Errno;
use nix::sys::socket::{getsockopt, sockopt};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

/// Longest wait for a report: the kernel looks three seconds for a neighbour (`mcast_solicit`, `retrans_time_ms`).
const PATIENCE: Duration = Duration::from_secs(4);
/// Time before a place is asked again; then it doubles, up to [`LONGEST`].
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);
/// Time after which a place without further questions is forgotten.
const KEPT: Duration = Duration::from_secs(60);
/// Largest number of places at once: more have to wait.
const PLACES: usize = 64;

/// The network's report about a place that does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This host has no route to it.
    NoRoute,
    /// It reports a closed port.
    PortClosed,
    /// This host, or a router, reports that it cannot be reached.
    Unreachable,
    /// There is no report.
    Silent,
}

/// An uplink and a place on it.
type UplinkAddress = (usize, SocketAddr);

#[derive(Debug)]
struct Knock {
    /// Open while an answer may come.
    socket: Option<OwnedFd>,
    since: Instant,
    again: Instant,
    pause: Duration,
    wanted: Instant,
    verdict: Option<Verdict>,
}

/// All places that were asked.
#[derive(Debug, Default)]
pub struct Knocks(BTreeMap<UplinkAddress, Knock>);

impl Knocks {
    /// Asks about a place, if it is time: as a socket with this interface and this mark does; the interface's index is
    /// given.
    pub fn want(
        &mut self,
        now: Instant,
        place: UplinkAddress,
        binding: (Option<&str>, u32),
        index: Option<u32>,
        netlink: &mut Netlink,
    ) {
        if !self.0.contains_key(&place) && self.0.len() >= PLACES {
            return;
        }
        let knock = self.0.entry(place).or_insert(Knock {
            socket: None,
            since: now,
            again: now,
            pause: FIRST,
            wanted: now,
            verdict: None,
        });
        knock.wanted = now;
        if knock.socket.is_some() || knock.again > now {
            return;
        }
        knock.since = now;
        // Over an interface the kernel takes what it has no route to for a neighbour: only the routes themselves tell.
        let routes = index.map(|index| netlink.look_up(place.1.ip(), None, Some(index), Some(binding.1)));
        if routes.is_some_and(|routes| routes.is_ok_and(|routes| routes.is_empty())) {
            knock.known(now, Verdict::NoRoute);
            return;
        }
        match socket::knock(binding, place.1) {
            Ok(socket) => knock.socket = Some(socket),
            Err(Errno::ENETUNREACH) => knock.known(now, Verdict::NoRoute),
            Err(_) => knock.known(now, Verdict::Unreachable),
        }
    }

    /// Collects the reports.
    pub fn look(&mut self, now: Instant) {
        self.0.retain(|_, knock| now.saturating_since(knock.wanted) < KEPT);
        for knock in self.0.values_mut() {
            let Some(socket) = &knock.socket else { continue };
            let error = getsockopt(socket, sockopt::SocketError).map_or(Errno::UnknownErrno, Errno::from_raw);
            match error {
                Errno::ECONNREFUSED => knock.known(now, Verdict::PortClosed),
                Errno::EHOSTUNREACH | Errno::ENETUNREACH | Errno::EHOSTDOWN | Errno::EACCES => {
                    knock.known(now, Verdict::Unreachable);
                }
                _ if now.saturating_since(knock.since) >= PATIENCE => knock.known(now, Verdict::Silent),
                _ => {}
            }
        }
    }

    /// Returns the report about a place.
    pub fn verdict(&self, place: UplinkAddress) -> Option<Verdict> {
        self.0.get(&place)?.verdict
    }
}

impl Knock {
    fn known(&mut self, now: Instant, verdict: Verdict) {
        self.socket = None;
        self.verdict = Some(verdict);
        self.again = now + self.pause;
        self.pause = LONGEST.min(self.pause * 2);
    }
}
