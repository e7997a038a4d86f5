//! The estimates of "earliest_delivery" for each member: service times and backlog.
//!
//! A member serves its packets one after the other, so the time between two completions, or from the handing over to an
//! idle member, is the packet's service time, with medium access and retries. It is smoothed for small and for large
//! packets apart, and a straight line through the two gives the time for any length: a rate and a cost for each packet.
//! No rate is ever configured. Integers only.

use super::Member;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// Packets up to this length are small \[byte\]: acknowledgements and voice are below, full packets far above.
const SMALL: u64 = 512;
/// Inverse weight of a sample in the average: RFC 6298's gain for a round trip, for the same reason.
const GAIN: u64 = 8;
/// Time without a sample after which an estimate is halved, so that a slow member is tried again.
const AGING: Duration = Duration::from_secs(1);
/// Largest number of halvings.
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

#[derive(Clone, Debug, Default)]
struct Track {
    small: Option<Point>,
    large: Option<Point>,
    /// Length and time of handing over of its packets, in order.
    held: VecDeque<(u64, Instant)>,
    last_finish: Instant,
    /// Delay beside its service, as the host has measured it.
    delay: Duration,
}

impl Track {
    /// Service time of a packet of `len` byte; `None` if it has never carried any.
    fn service(&self, now: Instant, len: u64) -> Option<Duration> {
        let time_ns = match (self.small, self.large) {
            (None, None) => return None,
            (Some(one), None) | (None, Some(one)) => {
                // One kind alone gives no slope: longer packets take longer in proportion, shorter ones as long.
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

    /// Begin and expected time of its first packet's service.
    fn in_service(&self, now: Instant) -> Option<(Instant, Duration)> {
        let &(len, given) = self.held.front()?;
        Some((given.max(self.last_finish), self.service(now, len)?))
    }

    /// Service time of the packets behind the one in service.
    fn backlog(&self, now: Instant) -> Duration {
        let times = self.held.iter().skip(1).filter_map(|&(len, _)| self.service(now, len));
        times.fold(Duration::ZERO, |sum, time| sum + time)
    }

    /// Time from now until it has served all of its packets.
    fn occupied(&self, now: Instant) -> Duration {
        let remaining = self.in_service(now).map_or(Duration::ZERO, |(since, expected)| {
            let elapsed = now.saturating_since(since);
            // An overdue packet is expected to take as long again as it is overdue: a retry is followed by longer ones.
            if elapsed < expected { expected - elapsed } else { elapsed - expected }
        });
        remaining + self.backlog(now)
    }

    /// The prospects of a packet of `len` byte; `None` if nothing is known and the member is busy.
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

/// The prospects of a packet on a member.
#[derive(Clone, Copy, Debug, Default)]
struct Prospect {
    /// Time until its turn.
    occupied: Duration,
    service: Duration,
    /// Time until it arrives.
    arrival: Duration,
}

/// The choice of a member for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Take(usize),
    /// None now: by a full member it will still arrive first. To be repeated at this time.
    Wait(Option<Instant>),
}

/// The estimates of all members.
#[derive(Debug)]
pub struct Forecast {
    tracks: Vec<Track>,
    member_limit: usize,
}

impl Forecast {
    /// No estimates.
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

    /// The host has measured the delay of a member's path.
    pub fn set_delay(&mut self, member: Member, delay: Duration) {
        if let Some(track) = self.tracks.get_mut(usize::from(member.0)) {
            track.delay = delay;
        }
    }

    /// The member by which a packet of `len` byte arrives first, full members counted: if one of them is first, it
    /// waits.
    ///
    /// A member is full when it holds its limit, and when it is busy for as long as the slowest takes for one packet:
    /// that is enough to keep all of them busy, and packets that wait in the trunk can still go elsewhere.
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

    /// Time at which the full member `index`, which is now `lead` ahead of a free one, is no longer ahead: its lead
    /// grows with time until its packet is due, and shrinks from then on.
    fn overtaken_at(&self, now: Instant, index: usize, lead: Duration) -> Option<Instant> {
        let (since, expected) = self.tracks[index].in_service(now)?;
        let due = since.saturating_add(expected);
        let lead = lead + due.saturating_since(now);
        let at = due.max(now).saturating_add(lead);
        Some(at.max(now.saturating_add(Duration::from_nanos(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    const fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Two members that have served a full packet in 10 ms.
    fn known() -> Forecast {
        let mut forecast = Forecast::new(2, 4);
        for index in 0..2 {
            forecast.on_given(at(0), index, 1_500);
            forecast.on_finished(at(10), Member(index as u8));
        }
        forecast
    }

    #[test]
    fn an_overdue_packet_takes_as_long_again_as_it_is_overdue() {
        let mut forecast = known();
        forecast.on_given(at(10), 0, 1_500);
        let occupied = |forecast: &Forecast, ms: u64| forecast.tracks[0].occupied(at(ms));
        assert_eq!([10, 17, 20, 24].map(|ms| occupied(&forecast, ms)), [MS * 10, MS * 3, Duration::ZERO, MS * 4]);
        forecast.on_given(at(17), 0, 1_500);
        assert_eq!([17, 24].map(|ms| occupied(&forecast, ms)), [MS * 13, MS * 14], "with the one behind it");
    }

    #[test]
    fn one_kind_of_packet_tells_of_longer_ones_in_proportion_and_two_by_a_line() {
        let mut forecast = known();
        let service = |forecast: &Forecast, len| forecast.tracks[0].service(at(10), len);
        assert_eq!([40, 1_500, 3_000].map(|len| service(&forecast, len)), [MS * 10, MS * 10, MS * 20].map(Some));
        // A small one takes 2 ms.
        forecast.on_given(at(10), 0, 100);
        forecast.on_finished(at(12), Member(0));
        let line = [40, 100, 800, 1_500].map(|len| forecast.tracks[0].service(at(12), len));
        assert_eq!(line, [MS * 2, MS * 2, MS * 6, MS * 10].map(Some));
    }

    #[test]
    fn a_packet_waits_for_a_full_member_until_that_is_overtaken() {
        let mut forecast = known();
        forecast.set_delay(Member(1), MS * 25);
        // 10 ms by the first one, 35 ms by the other.
        assert_eq!(forecast.choose(at(10), 1_500, |_| true), Choice::Take(0));
        assert_eq!(forecast.choose(at(10), 1_500, |index| index == 1), Choice::Take(1));
        forecast.on_given(at(10), 0, 1_500);
        // It is busy for as long as a packet takes: full, and 15 ms ahead. When it is overdue by as much, it is not.
        assert_eq!(forecast.choose(at(10), 1_500, |_| true), Choice::Wait(Some(at(20 + 15 + 10))));
        assert_eq!(forecast.choose(at(11), 1_500, |_| true), Choice::Take(0), "its turn is in 9 ms");
    }
}
