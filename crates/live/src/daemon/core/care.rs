//! Checks once a second, beside the data path: sockets that could not be opened, members whose address does not answer,
//! and the causes of failures, each of which is logged once.

use super::Daemon;
use crate::daemon::budget::{Months, time_here};
use crate::daemon::cause::Cause;
use crate::daemon::knock::{Knocks, Verdict};
use crate::daemon::peer::{Path, PeerState};
use crate::daemon::uplink::UplinkState;
use airbraid_engine::converge::session::{Address, Caller, PublicKey, Refusal};
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::MemberState;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;
use std::net::IpAddr;

/// Interval of the checks.
const PAUSE: Duration = Duration::from_secs(1);
/// Silence after which the network is asked: longer than two round trips over a slow mobile uplink.
const QUIET: Duration = Duration::from_secs(1);
/// Interval at which a refused caller is logged.
const AGAIN: Duration = Duration::from_secs(600);
/// Number of callers for which that is remembered.
const CALLERS: usize = 64;
/// Largest number of lines about callers in a minute: a caller with many addresses fills no log.
const LINES: u32 = 10;
const MINUTE: Duration = Duration::from_secs(60);
/// Largest number of a peer's places about which the network is asked.
const PLACES: usize = 16;

/// The state between two checks.
#[derive(Debug, Default)]
pub struct Care {
    next: Instant,
    /// The network's answers about places that do not answer.
    knocks: Knocks,
    /// Callers that were logged, with the times.
    callers: VecDeque<((IpAddr, Option<PublicKey>), Instant)>,
    /// The uplinks' months on disk.
    pub months: Months,
    /// Beginning of the count of lines about them, and the count.
    lines: (Instant, u32),
}

impl Care {
    /// Before the first check.
    pub fn new(months: Months) -> Self {
        Self { months, ..Self::default() }
    }

    /// The time of the next check.
    pub const fn wake(&self) -> Instant {
        self.next
    }
}

impl Daemon {
    /// Checks everything, if it is time.
    pub(super) fn care(&mut self, now: Instant) {
        if now < self.care.next {
            return;
        }
        self.care.next = now + PAUSE;
        self.reopen(now);
        self.end_guests();
        self.look_at_budgets(Some(now));
        for peer in 0..self.peers.len() {
            if !self.peers[peer].is_gone {
                self.look_for(now, peer);
                self.leave_theirs(now, peer);
                self.try_elsewhere(now, peer);
                self.note_quiet(now, peer);
                self.knock(now, peer);
            }
        }
        self.care.knocks.look(now);
        self.tell_causes(now);
        self.tell_callers(now);
        self.record(now);
    }

    /// Looks at the uplinks' quotas and hours, and writes the months; at the end there is no other time (`now` is
    /// none).
    pub(super) fn look_at_budgets(&mut self, now: Option<Instant>) {
        let has_limit = |uplink: &UplinkState| uplink.config.quota.is_some() || !uplink.config.hours.is_empty();
        if !self.uplinks.iter().any(has_limit) {
            return;
        }
        let (time, mut has_changed) = (time_here(), false);
        for uplink in &mut self.uplinks {
            let carried = uplink.carried();
            has_changed |= uplink.budget.look(&uplink.config, carried, time);
        }
        let Self { care, uplinks, .. } = self;
        care.months.write(now, uplinks.iter().map(|uplink| (&uplink.config, &uplink.budget)));
        if has_changed && now.is_some() {
            (0..self.uplinks.len()).for_each(|uplink| self.renew_members(uplink));
            self.on_interfaces();
        }
    }

    /// Opens uplinks again that could not be opened.
    fn reopen(&mut self, now: Instant) {
        for uplink in 0..self.uplinks.len() {
            let state = &self.uplinks[uplink];
            let is_due = state.failed.as_ref().is_some_and(|failed| failed.again <= now);
            if state.is_on && is_due && (state.config.device.is_none() || state.found.is_some()) {
                self.refresh(uplink, true);
            }
        }
    }

    /// Notes our silent members, and since when they are silent.
    fn note_quiet(&mut self, now: Instant, peer: usize) {
        if self.peers[peer].config.endpoints.is_empty() {
            return;
        }
        let state = &mut self.peers[peer];
        if !state.is_up {
            state.calls.quiet.clear();
            return;
        }
        let status = state.tunnel.status();
        let is_quiet = |(member, path): &(&Member, &Path)| {
            let of = status.members.iter().find(|status| status.member == **member);
            let waits = of.is_some_and(|of| matches!(of.state, MemberState::Probing | MemberState::Suspected));
            waits && path.heard.is_none_or(|heard| now.saturating_since(heard) >= QUIET)
        };
        let ours = state.paths.iter().filter(|(member, _)| state.is_ours(**member));
        let quiet: Vec<Member> = ours.filter(is_quiet).map(|(member, _)| *member).collect();
        state.calls.quiet.retain(|member, _| quiet.contains(member));
        for member in quiet {
            state.calls.quiet.entry(member).or_insert((now, None));
        }
    }

    /// Asks the network about places that do not answer.
    fn knock(&mut self, now: Instant, peer: usize) {
        let state = &self.peers[peer];
        if state.introduced.via.is_some() {
            // What a translator says of another socket says nothing of ours.
            return;
        }
        let is_long = |since: Instant| now.saturating_since(since) >= QUIET;
        let places = if state.is_up {
            let quiet = state.calls.quiet.iter().filter(|(_, (since, _))| is_long(*since));
            quiet.filter_map(|(member, _)| state.paths.get(member).map(|path| (path.uplink, path.remote))).collect()
        } else if state.calls.since.is_some_and(is_long) {
            self.everywhere(peer)
        } else {
            Vec::new()
        };
        let Self { care, uplinks, netlink, .. } = self;
        for (uplink, at) in places.into_iter().take(PLACES) {
            let of = &uplinks[uplink];
            let index = of.found.as_ref().map(|found| found.index);
            care.knocks.want(now, (uplink, at), of.binding(), index, netlink);
        }
    }

    /// The reason why there is no session with a peer, as far as it is known.
    pub(in crate::daemon) fn cause_of_peer(&self, state: &PeerState) -> Option<Cause> {
        if state.is_up {
            return None;
        }
        if let Some(via) = state.introduced.via {
            let via = &self.peers[via];
            let is_unopened = state.calls.is_unopened;
            return Some(if is_unopened {
                Cause::preshared_key()
            } else {
                Cause::not_met(&via.config.name, via.is_up)
            });
        }
        let endpoints = &state.config.endpoints;
        if endpoints.is_empty() {
            let is_late = |since: Instant| self.time.saturating_since(since) >= QUIET;
            return Some(if state.calls.not_confirmed.is_some_and(is_late) {
                Cause::not_confirmed()
            } else {
                Cause::waits()
            });
        }
        if state.calls.is_unopened {
            return Some(Cause::preshared_key());
        }
        let places = self.everywhere(state.id.index());
        if places.is_empty() {
            let failed = endpoints.iter().find_map(|(_, endpoint)| {
                let text = &endpoint.text;
                self.names.failure(text).map(|why| Cause::name_not_found(text, why))
            });
            let is_known = endpoints.iter().any(|(_, endpoint)| !endpoint.addresses.is_empty());
            // Without an uplink nobody is asked for a name.
            let is_alone = !endpoints.iter().any(|(uplink, _)| self.uplinks[*uplink].is_open());
            return failed.or_else(|| (is_known || is_alone).then(Cause::no_uplink));
        }
        let known = places.iter().filter_map(|place| Some((*place, self.care.knocks.verdict(*place)?)));
        // What somebody says explains more than that nobody does; that one uplink has no route says little of the
        // others.
        let (place, verdict) = known.min_by_key(|(_, verdict)| match verdict {
            Verdict::PortClosed => 0,
            Verdict::Silent => 1,
            Verdict::Unreachable => 2,
            Verdict::NoRoute => 3,
        })?;
        Some(self.silence(place, verdict))
    }

    /// The reason why a member of ours is silent, as far as it is known.
    pub(in crate::daemon) fn cause_of_member(&self, state: &PeerState, member: Member) -> Option<Cause> {
        state.calls.quiet.get(&member)?;
        let path = state.paths.get(&member)?;
        let place = (path.uplink, path.remote);
        Some(self.silence(place, self.care.knocks.verdict(place)?))
    }

    fn silence(&self, (uplink, at): (usize, std::net::SocketAddr), verdict: Verdict) -> Cause {
        let uplink = &self.uplinks[uplink].config;
        Cause::silent(verdict, at, &uplink.name, uplink.device.as_deref(), &self.sessions.public())
    }

    /// Logs causes that have changed. Names that are not found are logged where they are looked up.
    fn tell_causes(&mut self, now: Instant) {
        for peer in 0..self.peers.len() {
            let state = &self.peers[peer];
            let is_late = state.calls.since.is_some_and(|since| now.saturating_since(since) >= QUIET);
            if state.is_gone || !(is_late || state.is_up || state.calls.not_confirmed.is_some()) {
                continue;
            }
            let cause = self.cause_of_peer(state).filter(|cause| cause.word != "name-not-found");
            let quiet: Vec<Member> = state.calls.quiet.keys().copied().collect();
            let members: Vec<(Member, Cause)> =
                quiet.into_iter().filter_map(|member| Some((member, self.cause_of_member(state, member)?))).collect();
            if cause.is_none() && members.is_empty() {
                continue;
            }
            let Self { peers, uplinks, .. } = self;
            let state = &mut peers[peer];
            if let Some(cause) = cause.filter(|cause| state.calls.told != Some(cause.word)) {
                tracing::info!(peer = state.config.name, cause = cause.word, "not connected: {}", cause.remedy);
                state.calls.told = Some(cause.word);
            }
            for (member, cause) in members {
                let uplink = state.paths.get(&member).map_or("", |path| uplinks[path.uplink].config.name.as_str());
                let Some((_, told)) = state.calls.quiet.get_mut(&member) else { continue };
                if *told != Some(cause.word) {
                    *told = Some(cause.word);
                    tracing::info!(
                        peer = state.config.name,
                        uplink,
                        cause = cause.word,
                        "a link is silent: {}",
                        cause.remedy
                    );
                }
            }
        }
    }

    /// Logs callers that were refused.
    fn tell_callers(&mut self, now: Instant) {
        let own = self.sessions.public();
        let Self { care, sessions, .. } = self;
        care.callers.retain(|(_, told)| now.saturating_since(*told) < AGAIN);
        if now.saturating_since(care.lines.0) >= MINUTE {
            care.lines = (now, 0);
        }
        for caller in sessions.callers() {
            let who = (ip(&caller.from), caller.key);
            let is_old = now.saturating_since(caller.last) > PAUSE + PAUSE;
            if is_old || care.lines.1 >= LINES || care.callers.iter().any(|(known, _)| *known == who) {
                continue;
            }
            let Some(cause) = cause_of_caller(&caller, &own) else { continue };
            tracing::info!(cause = cause.word, "{}", cause.remedy);
            care.lines.1 += 1;
            care.callers.truncate(CALLERS - 1);
            care.callers.push_front((who, now));
        }
    }
}

/// Whether a member of a peer's works.
pub(super) fn is_active(state: &PeerState, member: Member) -> bool {
    state.state_of(member) == Some(MemberState::Active)
}

/// The cause for which a caller was refused.
pub(in crate::daemon) fn cause_of_caller(caller: &Caller, own: &PublicKey) -> Option<Cause> {
    let from = ip(&caller.from);
    match (caller.refusal, &caller.key) {
        (Refusal::UnknownPeer, Some(key)) => Some(Cause::unknown_key(key, from)),
        (Refusal::Stranger, _) => Some(Cause::other_key(own, from)),
        _ => None,
    }
}

fn ip(from: &Address) -> IpAddr {
    crate::daemon::address::unplace(from).1.ip()
}
