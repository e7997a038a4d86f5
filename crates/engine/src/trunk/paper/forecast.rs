//! What "earliest_delivery" knows of each member: how long it takes for a packet, and what it still has to do.
//!
//! A member serves its packets one after the other, so the time between two completions, or from the handing over to an idle
//! member, is what the packet between them took: medium access, retries and all. That time is smoothed for small
//! packets and for large ones apart, and a straight line through the two gives the time for any length: a member is a rate and a cost for each packet.
//! No rate is ever configured. Integers only.

use super::Member;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// Packets up to this length are small \[byte\]: acknowledgements and voice are below, full packets far above.
const SMALL: u64 = 512;
/// A sample moves the average by one part in so many: RFC 6298's gain for a round trip, for the same reason.
const GAIN: u64 = 8;
/// An estimate that nothing has confirmed for so long is halved, so that a member that was slow is tried again.
const AGING: Duration = Duration::from_secs(1);
/// It is halved so often at most.
const HALVINGS: u64 = 16;

/// Smoothed length and time of one kind of packet.
#[derive(Clone, Copy, Debug)]
struct Point {
    len: u64,
    time_ns: u64,
}

impl Point {
    fn learn(point: &mut Option<Self>, len: u64, time_ns: u64) {
        let smooth = |old: u64, new: u64| old - old / GAIN + new / GAIN;
        *point = Some(match *point {
            None => Self { len, time_ns },
            Some(old) => Self { len: smooth(old.len, len), time_ns: smooth(old.time_ns, time_ns) },
        });
    }
}

/// One member.
#[derive(Clone, Debug, Default)]
struct Track {
    small: Option<Point>,
    large: Option<Point>,
    /// Length and time of handing over of what it holds, in order.
    held: VecDeque<(u64, Instant)>,
    last_finish: Instant,
    /// What comes on top of its service, as the host has measured it.
    delay: Duration,
}

impl Track {
    /// How long it takes for a packet of `len` byte; none if it has never carried any.
    fn service(&self, now: Instant, len: u64) -> Option<Duration> {
        let time_ns = match (self.small, self.large) {
            (None, None) => return None,
            (Some(one), None) | (None, Some(one)) => {
                // One kind alone tells no slope: longer ones take longer in proportion, shorter ones as long.
                let len = len.max(one.len.max(1));
                (u128::from(one.time_ns) * u128::from(len) / u128::from(one.len.max(1))) as u64
            }
            (Some(small), Some(large)) => {
                // Never falling: where small ones took longer, by chance, all take the same.
                let span = large.len.saturating_sub(small.len).max(1);
                let rise = large.time_ns.saturating_sub(small.time_ns);
                let beyond = len.saturating_sub(small.len);
                small.time_ns + (u128::from(rise) * u128::from(beyond) / u128::from(span)) as u64
            }
        };
        let idle = if self.held.is_empty() { now.saturating_since(self.last_finish) } else { Duration::ZERO };
        Some(Duration::from_nanos(time_ns >> idle.div_floor(AGING).min(HALVINGS)))
    }

    /// When its first packet began to be served, and how long that should take.
    fn in_service(&self, now: Instant) -> Option<(Instant, Duration)> {
        let &(len, given) = self.held.front()?;
        Some((given.max(self.last_finish), self.service(now, len)?))
    }

    /// How long the packets behind the one in service take.
    fn backlog(&self, now: Instant) -> Duration {
        let times = self.held.iter().skip(1).filter_map(|&(len, _)| self.service(now, len));
        times.fold(Duration::ZERO, |sum, time| sum + time)
    }

    /// How long from now until it has done what it holds.
    fn occupied(&self, now: Instant) -> Duration {
        let remaining = self.in_service(now).map_or(Duration::ZERO, |(since, expected)| {
            let elapsed = now.saturating_since(since);
            // What is overdue is expected to need as long again as it is overdue: a retry is followed by longer ones.
            if elapsed < expected { expected - elapsed } else { elapsed - expected }
        });
        remaining + self.backlog(now)
    }

    /// What a packet of `len` byte would find; none if nothing is known and it is occupied.
    fn prospect(&self, now: Instant, len: u64) -> Option<Prospect> {
        match self.service(now, len) {
            Some(service) => {
                let occupied = self.occupied(now);
                Some(Prospect { occupied, service, arrival: occupied + service + self.delay })
            }
            // Never tried: tried at once, with one packet.
            None => self.held.is_empty().then(Prospect::default),
        }
    }
}

/// What a packet would find on a member.
#[derive(Clone, Copy, Debug, Default)]
struct Prospect {
    /// How long until its turn comes.
    occupied: Duration,
    /// How long it then takes.
    service: Duration,
    /// How long until it arrives.
    arrival: Duration,
}

/// Which member a packet should take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This one.
    Take(usize),
    /// None now: a member that is full will still have it there first. Look again then, whatever happens before.
    Wait(Option<Instant>),
}

/// What is known of all members.
#[derive(Debug)]
pub struct Forecast {
    tracks: Vec<Track>,
    member_limit: usize,
}

impl Forecast {
    /// Nothing is known.
    pub fn new(members: usize, member_limit: u32) -> Self {
        Self { tracks: vec![Track::default(); members], member_limit: member_limit as usize }
    }

    /// A member takes a packet.
    pub fn on_given(&mut self, now: Instant, index: usize, len: u64) {
        self.tracks[index].held.push_back((len, now));
    }

    /// A member has finished with its first packet.
    pub fn on_finished(&mut self, now: Instant, member: Member) {
        let Some(track) = self.tracks.get_mut(usize::from(member.0)) else { return };
        let Some((len, given)) = track.held.pop_front() else { return };
        let time_ns = now.saturating_since(given.max(track.last_finish)).as_nanos();
        let point = if len <= SMALL { &mut track.small } else { &mut track.large };
        Point::learn(point, len, time_ns);
        track.last_finish = now;
    }

    /// The host has measured what a member's path adds to its service.
    pub fn set_delay(&mut self, member: Member, delay: Duration) {
        if let Some(track) = self.tracks.get_mut(usize::from(member.0)) {
            track.delay = delay;
        }
    }

    /// The member by which a packet of `len` byte arrives first, full members counted: if one of them is first, it waits.
    ///
    /// A member is full when it holds its limit, and when it is occupied for as long as the slowest takes for one packet: more is
    /// not needed to keep all of them at work, and what waits in the trunk can still go elsewhere.
    pub fn choose(&self, now: Instant, len: u64, is_up: impl Fn(usize) -> bool) -> Choice {
        let tracks = self.tracks.iter().enumerate().filter(|&(index, _)| is_up(index));
        let known = tracks.filter_map(|(index, track)| Some((index, track, track.prospect(now, len)?)));
        let horizon = known.clone().map(|(.., prospect)| prospect.service).max().unwrap_or(Duration::ZERO);
        let mut first: Option<(Duration, usize)> = None;
        let mut free: Option<(Duration, usize)> = None;
        for (index, track, Prospect { occupied, arrival: time, .. }) in known {
            let may_wait = track.held.is_empty() || occupied < horizon;
            let has_room = track.held.len() < self.member_limit && may_wait;
            if first.is_none_or(|first| time < first.0) {
                first = Some((time, index));
            }
            if has_room && free.is_none_or(|free| time < free.0) {
                free = Some((time, index));
            }
        }
        match (first, free) {
            // As early by a free one is as good.
            (Some(first), Some(free)) if free.0 <= first.0 => Choice::Take(free.1),
            (Some(first), Some(free)) => Choice::Wait(self.overtaken_at(now, first.1, free.0 - first.0)),
            _ => Choice::Wait(None),
        }
    }

    /// When the full member `index`, which is now `lead` ahead of a free one, is no longer: its lead grows with time until
    /// its packet is due, and shrinks with time from then on.
    fn overtaken_at(&self, now: Instant, index: usize, lead: Duration) -> Option<Instant> {
        let (since, expected) = self.tracks[index].in_service(now)?;
        let due = since.saturating_add(expected);
        let lead = lead + due.saturating_since(now);
        let at = due.max(now).saturating_add(lead);
        Some(at.max(now.saturating_add(Duration::from_nanos(1))))
    }
}
