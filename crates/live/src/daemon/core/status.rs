//! Fills in the status.

use super::Daemon;
use super::care::cause_of_caller;
use crate::daemon::address::unplace;
use crate::daemon::cause::Cause;
use crate::daemon::keys;
use crate::daemon::peer::PeerState;
use crate::daemon::routing::Report;
use crate::daemon::status::{CallerReport, MemberReport, PeerReport, SetBack, Status, UplinkReport};
use crate::daemon::uplink::UplinkState;
use crate::netlink::wireless::Wireless;
use airbraid_engine::converge::session::{Caller, Refusal, Stats, Whose};
use airbraid_engine::trunk::bonding::{self, BondDropReason, MemberStatus};
use airbraid_sim::metric::Flat;
use airbraid_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

impl Daemon {
    /// Returns the daemon's status.
    pub fn status(&self) -> Status {
        self.status_of(usize::MAX)
    }

    /// Returns the status with the first `most` peers of the file.
    pub(super) fn status_of(&self, most: usize) -> Status {
        let now = self.clock.now();
        let routing = self.routing.report();
        Status {
            name: self.site.name.clone(),
            pid: std::process::id(),
            uptime_s: now.as_secs_f64(),
            interface: self.site.interface.name.clone(),
            mtu_bytes: self.mtu,
            offloads: self.offloads().into_iter().map(|(what, works)| (what.to_owned(), works)).collect(),
            public_key: keys::encode(&self.sessions.public()),
            route_conflicts: routing.conflicts.clone(),
            counts: Flat(self.counts),
            refused_handshakes: refusals(&self.sessions.stats()),
            refused_frames: refusals(self.ring.stats()),
            refused_callers: self.callers(now),
            // A kernel that does not say what its radios hear has none.
            uplinks: self.uplinks(&routing, Wireless::open().ok().flatten()),
            peers: self.peers.iter().filter(|peer| !peer.is_gone).take(most).map(|peer| self.peer(now, peer)).collect(),
        }
    }

    /// The reports of the uplinks, with the signals of those that are radios where `wireless` is given.
    pub(super) fn uplinks(&self, routing: &Report, mut wireless: Option<Wireless>) -> Vec<UplinkReport> {
        let mut signal = |uplink: &UplinkState| wireless.as_mut()?.signal_dbm(uplink.found.as_ref()?.index).ok()?;
        let port = self.site.interface.listen;
        let cause = |place| routing.causes.iter().find(|(of, _)| *of == place).map(|(_, why)| why.clone());
        let report = |(place, uplink)| self::uplink(uplink, port, cause(place), signal(uplink));
        self.uplinks.iter().enumerate().map(report).collect()
    }

    /// The kernel's offloads, with whether each is on.
    pub(in crate::daemon) fn offloads(&self) -> [(&'static str, bool); 4] {
        let tun = self.tun.offloads();
        let runs = self.uplinks.iter().flat_map(|uplink| &uplink.ports).map(|port| port.socket.runs());
        let (sends, receives) = runs.fold((true, true), |all, one| (all.0 && one.0, all.1 && one.1));
        [("tun_tcp", tun.tcp_runs), ("tun_udp", tun.udp_runs), ("udp_segment", sends), ("udp_gro", receives)]
    }

    fn callers(&self, now: Instant) -> Vec<CallerReport> {
        let own = self.sessions.public();
        let report = |caller: &Caller| {
            let cause = cause_of_caller(caller, &own)?;
            Some(CallerReport {
                from: unplace(&caller.from).1.to_string(),
                public_key: caller.key.as_ref().map(keys::encode),
                times: caller.times,
                silent_s: now.saturating_since(caller.last).as_secs_f64(),
                cause: cause.word.to_owned(),
                remedy: cause.remedy,
            })
        };
        self.sessions.callers().iter().filter_map(report).collect()
    }

    /// The report of a peer.
    pub(super) fn peer(&self, now: Instant, peer: &PeerState) -> PeerReport {
        let mut trunk = peer.tunnel.status();
        trunk.counts.strange += peer.counts.malformed;
        let drops = BondDropReason::ALL.into_iter().zip(trunk.counts.dropped).filter(|(_, count)| *count > 0);
        let mut drops: BTreeMap<String, u64> = drops.map(|(reason, count)| (reason.name().to_owned(), count)).collect();
        if peer.counts.unmarked > 0 {
            drops.insert("unmarkable".to_owned(), peer.counts.unmarked);
        }
        let silent = peer.presence.silent(now).filter(|_| peer.is_up);
        let is_up = peer.is_up && silent.is_none();
        let set_back = peer.presence.set_back(now);
        if peer.counts.too_long > 0 {
            drops.insert("oversized".to_owned(), peer.counts.too_long);
        }
        let (cause, remedy) = told(self.cause_of_peer(peer));
        PeerReport {
            cause,
            remedy,
            through: self.through(peer),
            called: peer.config.via.is_none() && !peer.config.endpoints.is_empty(),
            answered_s: peer.calls.answer.map(|(_, took)| took.as_secs_f64()),
            name: peer.config.name.clone(),
            public_key: keys::encode(&peer.config.public),
            up: is_up,
            left_s: peer.presence.left.map(|left| now.saturating_since(left).as_secs_f64()),
            silent_s: silent.map(Duration::as_secs_f64),
            clock_set_back: set_back.map(|(of, by)| SetBack { whose: whose(of), by_s: by.as_secs_f64() }),
            shared_key: peer.presence.shared(now).map(whose),
            mtu_bytes: self.longest_for(peer),
            waits_for: (!is_up).then(|| self.waits_for(peer)),
            counts: Flat(peer.counts),
            memory_bytes: peer.occupied,
            drops,
            members: trunk.members.iter().filter_map(|member| self.member(now, peer, member)).collect(),
            trunk: Flat(bonding::BondStatus { members: Vec::new(), ..trunk }),
        }
    }

    fn through(&self, peer: &PeerState) -> Option<String> {
        let via = peer.introduced.via.filter(|_| !peer.introduced.is_direct)?;
        Some(self.peers[via].config.name.clone())
    }

    fn waits_for(&self, peer: &PeerState) -> String {
        if peer.is_up {
            return "an answer: nothing comes any more".to_owned();
        }
        let mut endpoints = peer.config.endpoints.iter().map(|(_, endpoint)| endpoint);
        if let Some(via) = peer.config.via.as_ref().filter(|_| endpoints.len() == 0) {
            return format!("an introduction by {via}");
        }
        if endpoints.len() == 0 {
            let first = if peer.presence.left.is_some() { "its return" } else { "its first message" };
            return format!("{first}: it comes to us");
        }
        let reached = (0..self.uplinks.len()).filter_map(|uplink| self.endpoint(peer.id.index(), uplink));
        let reached: BTreeSet<String> = reached.map(|at| at.to_string()).collect();
        if !reached.is_empty() {
            return format!("an answer of {}", reached.into_iter().collect::<Vec<_>>().join(", "));
        }
        match endpoints.find_map(|endpoint| Some((&endpoint.text, self.names.failure(&endpoint.text)?))) {
            Some((name, why)) => format!("the address of {name}: {why}"),
            None => "an uplink from which it can be reached".to_owned(),
        }
    }

    fn member(&self, now: Instant, peer: &PeerState, status: &MemberStatus) -> Option<MemberReport> {
        let path = peer.paths.get(&status.member)?;
        let own = self.uplinks[path.uplink].config.name.as_str();
        let theirs = peer.said.get(&status.member).and_then(|said| said.name.text());
        let name = theirs.filter(|_| !peer.is_ours(status.member)).unwrap_or(own);
        let (cause, remedy) = told(self.cause_of_member(peer, status.member));
        Some(MemberReport {
            cause,
            remedy,
            name: name.to_owned(),
            member: status.member.0,
            uplink: own.to_owned(),
            remote: path.remote.to_string(),
            state: status.state.name().to_owned(),
            silent_s: path.heard.map(|heard| now.saturating_since(heard).as_secs_f64()),
            quota_bytes: self.uplinks[path.uplink].config.quota.map(|quota| quota.as_u64()),
            counts: Flat(*status),
        })
    }
}

fn uplink(uplink: &UplinkState, port: u16, routing: Option<String>, signal_dbm: Option<i8>) -> UplinkReport {
    let refused = uplink.failed.map(|failed| Cause::socket(failed.error, port));
    let absence = uplink.absence.clone().filter(|_| uplink.is_on);
    let (cause, remedy) = told(absence.or(refused).or(routing.map(Cause::routing)));
    let state = match (uplink.is_open(), uplink.is_on) {
        (true, _) => "open",
        (false, false) => "off",
        (false, true) => "away",
    };
    let addresses = uplink.found.iter().flat_map(|found| &found.addresses);
    UplinkReport {
        name: uplink.config.name.clone(),
        device: uplink.config.device.clone(),
        state: state.to_owned(),
        cause,
        remedy,
        addresses: addresses.map(ToString::to_string).collect(),
        quota_bytes: uplink.config.quota.map(|quota| quota.as_u64()),
        month_bytes: uplink.config.quota.map(|_| uplink.budget.used()),
        counts: Flat(uplink.counts),
        signal_dbm,
    }
}

fn whose(whose: Whose) -> String {
    match whose {
        Whose::Ours => "ours",
        Whose::Theirs => "theirs",
    }
    .to_owned()
}

/// A cause as it is told: its word, and its sentence.
fn told(cause: Option<Cause>) -> (Option<String>, Option<String>) {
    cause.map(|cause| (cause.word.to_owned(), cause.remedy)).unzip()
}

fn refusals(stats: &Stats) -> BTreeMap<String, u64> {
    let counts = Refusal::ALL.into_iter().map(|refusal| (refusal, stats.refused(refusal)));
    let counts = counts.filter(|(_, count)| *count > 0);
    counts.map(|(refusal, count)| (refusal.name().to_owned(), count)).collect()
}
