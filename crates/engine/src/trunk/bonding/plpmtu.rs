//! The path MTU of a member, found by probes (DPLPMTUD, RFC 8899). One direction of one member.
//!
//! ```text
//!          the base or more came            nothing is left to probe
//!   Base ----------------------> Searching ----------------------------> SearchComplete
//!    ^ \                            ^  PMTU_RAISE_TIMER                     |       |
//!    |  +--- base lost, 3 times --> Error (searches below the base)        |       |
//!    +---- silence, another path, or a size that died (black hole) --------+-------+
//! ```
//!
//! Only an acknowledged probe of that length confirms a size: ICMP only chooses the size that is probed next. Each
//! probe leaves with a short one behind it, so that its loss shows within a round trip and is due to its length. A size
//! is given up after [`MAX_PROBES`] losses, but the search goes on below it after the first, and comes back to it at
//! the end.
//!
//! Lengths are those of IP packets on the wire \[byte\].

use airbraid_units::{Duration, Instant};
use arrayvec::ArrayVec;

/// BASE_PLPMTU (RFC 8899, section 5.1.2) \[byte\].
pub const BASE: u32 = 1_200;
/// MIN_PLPMTU: assumed without a probe, because every host of IPv4 takes it (RFC 791, section 3.2) \[byte\].
pub const MIN: u32 = 576;
/// MAX_PROBES (RFC 8899, section 5.1.2): a size whose probe was lost this many times in a row is too long.
const MAX_PROBES: u8 = 3;
/// PMTU_RAISE_TIMER (RFC 8899, section 5.1.1): a longer size is searched again after this;
const PMTU_RAISE_TIMER: Duration = Duration::from_secs(600);
/// at first after this, and then after twice as long: a link whose queue was full drops long frames before short ones,
/// and three losses in a few round trips may have been that.
const RAISE_FIRST: Duration = Duration::from_secs(10);
/// A size whose probe was lost is probed again after this: a burst of losses is over by then.
const SPACING: Duration = Duration::from_millis(50);
/// The search ends at this difference: 0.3 % of a full frame \[byte\].
const RESOLUTION: u32 = 4;
/// Frames that are lost one after the other, with nothing as long coming meanwhile, put a size in doubt,
const DOUBTED_RUN: u8 = 3;
/// if they are lost for this long: bursts of losses are shorter.
const DOUBTED_TIME: Duration = Duration::from_millis(100);
/// Largest number of flights of probes before anything was heard of the far end.
const FLIGHTS_UNHEARD: u8 = 3;
/// Sizes that paths have \[byte\]: IPv6's least, mobile networks, IPsec and other tunnels, WireGuard, IP in IP, PPPoE,
/// Ethernet, jumbo frames.
const COMMON: [u32; 14] =
    [1_280, 1_300, 1_340, 1_358, 1_400, 1_420, 1_430, 1_440, 1_460, 1_472, 1_480, 1_492, 1_500, 9_000];
/// Sizes that were lost and are remembered: each halves what is left, or nearly.
const FAILED_MAX: usize = 20;

/// Largest number of sizes that are probed at once.
pub type Sizes = ArrayVec<u32, 2>;

/// The state of the search (RFC 8899, section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It asks whether the path carries the base, and the longest at once.
    Base,
    /// It looks for more than is confirmed.
    Searching,
    /// It has found what the path carries.
    SearchComplete,
    /// The path does not carry the base.
    Error,
}

/// The search on one member.
#[derive(Clone, Debug)]
pub struct Plpmtu {
    /// MAX_PLPMTU: the longest that the host can send; none: nothing is known to be too long, and nothing is probed.
    max: Option<u32>,
    state: State,
    /// PLPMTU: what is confirmed.
    size: u32,
    /// Whether nothing is left to probe   .
    is_settled: bool,
    /// The size that was confirmed before the path fell silent: it is probed first.
    before: Option<u32>,
    /// Sizes that were lost, the shortest first, and how often.
    failed: ArrayVec<(u32, u8), FAILED_MAX>,
    /// PROBED_SIZE: probes on the way.
    probed: Sizes,
    /// Frames that were sent earlier say nothing about the path as it is now.
    since: Instant,
    /// When the next probe leaves, if none is on the way.
    probe_at: Instant,
    /// PMTU_RAISE_TIMER: when a longer path is looked for, and how long after the search after that the next one
    /// begins.
    raise_at: Instant,
    raise: Duration,
    /// Whether the longest size is probed before any other.
    is_raising: bool,
    /// A size that the network has reported to the host: it is probed next.
    hint: Option<u32>,
    wants_hint: bool,
    flights: u8,
    /// Long frames lost one after the other: how many, the shortest of them, since when.
    run: u8,
    run_from: u32,
    run_since: Instant,
    /// Losses of probes of the confirmed size, while it is in doubt.
    doubted: Option<u8>,
    /// The size that the host knows.
    told: Option<u32>,
    /// Confirmed sizes that died.
    black_holes: u64,
}

impl Plpmtu {
    /// Nothing is known.
    pub fn new(now: Instant, max: Option<u32>) -> Self {
        Self {
            max,
            state: State::Base,
            size: MIN,
            is_settled: false,
            before: None,
            failed: ArrayVec::new(),
            probed: Sizes::new(),
            since: now,
            probe_at: now,
            raise_at: Instant::MAX,
            raise: RAISE_FIRST,
            is_raising: false,
            hint: None,
            wants_hint: false,
            flights: 0,
            run: 0,
            run_from: 0,
            run_since: now,
            doubted: None,
            told: None,
            black_holes: 0,
        }
    }

    /// Whether nothing is probed.
    pub const fn is_off(&self) -> bool {
        self.max.is_none()
    }
    /// The longest frame that may be sent \[byte\].
    pub fn size(&self) -> u64 {
        self.max.map_or(u64::MAX, |max| u64::from(self.size.min(max)))
    }
    /// The longest that may still be found to be carried \[byte\].
    pub fn possible(&self) -> u64 {
        let limit = match self.failed.first() {
            Some(&(size, losses)) if losses >= MAX_PROBES => size - 1,
            _ => u32::MAX,
        };
        if self.is_settled { self.size() } else { self.max.map_or(u64::MAX, |max| u64::from(max.min(limit))) }
    }
    /// The size that was found \[byte\]; `None` before the first.
    pub fn found(&self) -> Option<u64> {
        self.told.map(u64::from)
    }
    /// Confirmed sizes that died.
    pub const fn black_holes(&self) -> u64 {
        self.black_holes
    }
    /// Returns the size that was found, if the host does not know it yet.
    pub fn take_news(&mut self) -> Option<u64> {
        let is_news = self.is_settled && self.told != Some(self.size);
        if !is_news {
            return None;
        }
        self.black_holes += u64::from(self.told.is_some_and(|told| self.size < told));
        self.told = Some(self.size);
        self.found()
    }
    /// Whether what the host has heard from the network would help now; says so once.
    pub fn take_wish(&mut self) -> bool {
        std::mem::take(&mut self.wants_hint)
    }

    /// When something is to be sent.
    pub fn wake(&self) -> Instant {
        if self.max.is_none() || !self.probed.is_empty() { Instant::MAX } else { self.probe_at }
    }

    /// The least that a path should carry, as far as the host's own link does.
    fn base(&self) -> u32 {
        self.max.map_or(BASE, |max| max.min(BASE))
    }

    /// The sizes of which a probe leaves now. Before anything was `heard` there are few.
    pub fn take_due(&mut self, now: Instant, is_heard: bool) -> Sizes {
        let Some(max) = self.max.filter(|_| self.wake() <= now) else { return Sizes::new() };
        if !is_heard {
            if self.flights >= FLIGHTS_UNHEARD {
                return Sizes::new();
            }
            self.flights += 1;
        }
        if self.is_settled && self.doubted.is_none() {
            self.raise();
        }
        self.probed = if self.doubted.is_some() {
            Sizes::from_iter([self.size])
        } else if self.state == State::Base {
            let top = self.before.unwrap_or(max).min(max);
            let is_open = top > self.base() && u64::from(top) <= self.possible();
            is_open.then_some(top).into_iter().chain([self.base()]).collect()
        } else {
            self.candidate().into_iter().collect()
        };
        if self.probed.is_empty() {
            self.settle(now);
        }
        self.probed.clone()
    }

    /// PMTU_RAISE_TIMER has run out: probes the longest size, and the last one that was too long.
    fn raise(&mut self) {
        self.failed.truncate(1);
        self.failed.iter_mut().for_each(|(_, losses)| *losses = MAX_PROBES - 1);
        self.is_raising = true;
        self.is_settled = false;
    }

    fn losses(&self, size: u32) -> u8 {
        self.failed.iter().find(|(failed, _)| *failed == size).map_or(0, |(_, losses)| *losses)
    }

    /// The size to be probed next; `None` if none is left.
    fn candidate(&self) -> Option<u32> {
        let max = self.max?;
        let &(above, losses) = match self.failed.first() {
            Some(first) if !self.is_raising => first,
            _ => return (self.size < max).then_some(max),
        };
        let is_between = |size: &u32| *size > self.size && *size < above;
        if above - self.size <= RESOLUTION {
            return COMMON.into_iter().find(is_between).or((losses < MAX_PROBES).then_some(above));
        }
        if let Some(hint) = self.hint.filter(is_between) {
            return Some(hint);
        }
        // What was hinted at may be all.
        if self.hint == Some(self.size) {
            return Some((self.size + RESOLUTION).min(above));
        }
        let (middle, quarter) = (self.size.midpoint(above), (above - self.size) / 4);
        let near = COMMON.into_iter().filter(|size| size.abs_diff(middle) <= quarter).filter(is_between);
        Some(near.min_by_key(|size| size.abs_diff(middle)).unwrap_or(middle))
    }

    /// A probe of this size, sent then, has come.
    pub fn on_came(&mut self, now: Instant, sent_at: Instant, size: u32) {
        self.probed.retain(|probed| *probed != size);
        if sent_at < self.since || self.max.is_none_or(|max| size > max) {
            return;
        }
        if size >= self.size {
            self.size = size;
            self.run = 0;
            self.doubted = None;
            self.failed.retain(|(failed, _)| *failed > size);
        }
        self.go_on(now);
    }

    /// A probe of this size is lost, where shorter frames are not.
    pub fn on_lost(&mut self, now: Instant, size: u32) {
        let before = self.probed.len();
        self.probed.retain(|probed| *probed != size);
        if self.probed.len() == before || self.max.is_none() {
            return;
        }
        if let Some(losses) = self.doubted.filter(|_| size == self.size) {
            self.doubted = Some(losses + 1);
            self.probe_at = now.saturating_add(SPACING);
            if losses + 1 >= MAX_PROBES {
                self.on_death(now);
            }
            return;
        }
        if size > self.size {
            self.wants_hint |= self.state == State::Base && size > self.base();
            self.is_raising &= self.max != Some(size);
            self.fail(size, 1);
        }
        self.go_on(now);
    }

    fn fail(&mut self, size: u32, times: u8) {
        let place = self.failed.partition_point(|(failed, _)| *failed < size);
        match self.failed.get_mut(place).filter(|(failed, _)| *failed == size) {
            Some((_, losses)) => *losses = losses.saturating_add(times),
            None => {
                if self.failed.is_full() {
                    self.failed.pop();
                }
                self.failed.insert(place.min(self.failed.len()), (size, times));
            }
        }
    }

    /// The confirmed size is lost, and shorter frames come: a black hole.
    fn on_death(&mut self, now: Instant) {
        let died = self.size;
        self.restart(now);
        // It is probed once more with the base: all of its probes may have been lost by chance.
        self.failed.clear();
        self.fail(died, MAX_PROBES - 1);
        self.raise = RAISE_FIRST;
        self.hint = None;
        self.wants_hint = true;
    }

    /// Acts on the fate of a probe.
    fn go_on(&mut self, now: Instant) {
        if !self.probed.is_empty() {
            return;
        }
        self.probe_at = now;
        if self.state == State::Base && self.size < self.base() {
            if self.losses(self.base()) < MAX_PROBES {
                self.probe_at = now.saturating_add(SPACING);
                return;
            }
            self.state = State::Error;
        } else if self.size >= self.base() {
            self.state = State::Searching;
        }
        if self.is_settled && self.failed.first().is_some_and(|(above, _)| *above - self.size <= RESOLUTION) {
            // What was in doubt has come.
            self.probe_at = self.raise_at;
            return;
        }
        self.is_settled = false;
        match self.candidate() {
            Some(next) if self.losses(next) > 0 && !self.is_raising => self.probe_at = now.saturating_add(SPACING),
            Some(_) => {}
            None => self.settle(now),
        }
    }

    fn settle(&mut self, now: Instant) {
        self.is_settled = true;
        self.is_raising = false;
        self.before = None;
        self.hint = None;
        if self.state == State::Searching {
            self.state = State::SearchComplete;
        }
        if self.max.is_some_and(|max| self.size >= max) {
            self.raise_at = Instant::MAX;
            self.raise = RAISE_FIRST;
        } else {
            self.raise_at = now.saturating_add(self.raise);
            self.raise = (self.raise * 2).min(PMTU_RAISE_TIMER);
        }
        self.probe_at = self.raise_at;
    }

    /// The fate of another frame of this length is known.
    pub fn on_frame(&mut self, now: Instant, bytes: u32, is_lost: bool) {
        if !is_lost {
            if self.run > 0 && bytes >= self.run_from {
                self.run = 0;
            }
            return;
        }
        if self.max.is_none() || bytes <= MIN {
            return;
        }
        if self.run == 0 {
            (self.run_since, self.run_from) = (now, bytes);
        }
        self.run_from = self.run_from.min(bytes);
        self.run = self.run.saturating_add(1);
        let is_long = now.saturating_since(self.run_since) >= DOUBTED_TIME;
        if self.run >= DOUBTED_RUN && is_long && self.is_settled && self.doubted.is_none() {
            self.doubted = Some(0);
            self.probe_at = now;
        }
    }

    /// Probes on the way will tell nothing: the host has not sent them, or nothing at all comes from the far end.
    pub fn put_back(&mut self, now: Instant) {
        self.probed.clear();
        if self.probe_at <= now {
            self.probe_at = now.saturating_add(SPACING);
        }
    }

    /// The host's own link does not take a frame of this length.
    pub fn on_too_long(&mut self, now: Instant, size: u32) {
        if size <= self.size {
            self.restart(now);
            self.before = None;
        }
        let before = self.probed.len();
        self.probed.retain(|probed| *probed != size);
        self.fail(size, MAX_PROBES);
        if self.probed.len() < before {
            self.go_on(now);
        }
    }

    /// The network reports this as the longest size: it is probed next.
    pub fn on_hint(&mut self, size: u32) {
        self.hint = Some(size);
    }

    /// The path has been silent, and may be another: what was confirmed has to be confirmed again.
    pub fn restart(&mut self, now: Instant) {
        if self.size > self.base() {
            self.before = Some(self.size);
        }
        self.size = MIN;
        self.state = State::Base;
        self.is_settled = false;
        self.is_raising = false;
        self.doubted = None;
        self.run = 0;
        self.flights = 0;
        self.probed.clear();
        (self.since, self.probe_at) = (now, now);
    }

    /// The path is another: nothing is known of it.
    pub fn begin(&mut self, now: Instant) {
        self.restart(now);
        self.before = None;
        self.hint = None;
        self.failed.clear();
        self.raise = RAISE_FIRST;
    }

    /// The host's own link takes longer or shorter frames than before.
    pub fn set_max(&mut self, now: Instant, max: Option<u32>) {
        if max == self.max {
            return;
        }
        let was_limited = self.max.is_some();
        self.max = max;
        let Some(max) = max.filter(|_| was_limited) else {
            self.begin(now);
            return;
        };
        self.failed.retain(|(failed, _)| *failed <= max);
        self.size = self.size.min(max);
        self.probed.clear();
        self.is_settled = false;
        self.doubted = None;
        self.go_on(now);
    }
}

#[cfg(test)]
mod tests;
