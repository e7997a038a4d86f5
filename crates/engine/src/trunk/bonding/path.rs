//! Measures one member's path: its rate, its delay, and the length of its own queue.
//!
//! In the manner of BBR (Cardwell, Cheng, Gunn, Yeganeh and Jacobson 2016): frames leave at the rate at which they
//! arrived, a little faster now and then to find out whether there is more, a little slower afterwards. There are two
//! differences. The far end stamps what it receives, so that a rate is bytes between two receptions over the time
//! between them, which no delay of an acknowledgement disturbs, and a queue shows in the one-way delay. And a filter
//! counts frames, not round trips: 5 Mbit/s at 4 ms is less than two packets. Losses say nothing here: a link that
//! loses at random is not full.
//!
//! It never decides what is sent. Equations: `docs/models/tunnel.md`.

use super::cost::{Losses, blocking};
use super::delay::PathDelay;
use super::frame::FULL;
use super::policing::SelfInducedLoss;
use airbraid_units::{Duration, Instant, SeqNum};

/// Fewest frames of a rate measurement: a microsecond's rounding and a frame more or less are then small.
const SAMPLE_FRAMES: u32 = 8;
/// Shortest time of a rate measurement \[us\]: a burst of the medium below is not taken for its rate.
const SAMPLE_TIME_US: u32 = 10_000;
/// Longest span of a rate measurement \[us\]: eight full frames at 96 kbit/s. Trains measure slower members.
const PAUSE_US: u32 = 1_000_000;
/// Largest growth of a searched rate in one measurement: twice that of its pace.
const GROWTH: u64 = 4;
/// Frames that may leave at once before anything is known: RFC 6928's initial window.
const TRAIN: u64 = 10;
/// A queue shorter than this, and a frame and a half, counts as empty.
const QUEUE_LOW: Duration = Duration::from_millis(2);
/// A queue longer than this, and three frames, is drained. Added to an idle path's delay it is the worst that a ping
/// sees.
const QUEUE_HIGH: Duration = Duration::from_millis(15);
/// Time that may be under way beyond rate times round trip: feedback comes every 5 to 15 ms.
const SLACK: Duration = Duration::from_millis(20);
/// Lateness that a host may catch up with: a tick of its clock at 1000 Hz.
const BURST: Duration = Duration::from_millis(1);
/// The same where it had something to send all the time and was woken late: still less than a queue that is drained.
const CATCH_UP: Duration = Duration::from_millis(8);
/// Least plausible rate \[bit/s\]: a third of the slowest link that is served, of 50 kbit/s.
const RATE_MIN: u64 = 16_000;
/// Greatest plausible rate \[bit/s\]: 100 Gbit/s Ethernet, far beyond what a host seals.
const RATE_MAX: u64 = 100_000_000_000;

/// The phase of the rate's cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Searches the rate: paces at twice the measured one.
    Startup,
    /// Probes for more.
    Up,
    /// Compensates for it.
    Down,
    /// Keeps the rate.
    Cruise,
    /// Empties the link's queue.
    Drain,
    /// Empties it faster: it is still there, or the rate is less than was measured, or the path has become longer.
    DrainMore,
}

/// A frame that has come: the begin of a rate measurement.
#[derive(Clone, Copy, Debug)]
pub struct RateMark {
    pub number: SeqNum,
    /// Time of its arrival, by the far end's clock \[us\].
    pub received_us: u32,
    /// Time at which it was sent.
    pub sent_at: Instant,
    /// Bytes sent on the member up to it.
    pub total: u64,
    /// Bytes that are known to have come on the member with it.
    pub came: u64,
    /// Number of times that the member had had nothing to send before it.
    pub idles: u32,
}

/// The news of a feedback frame.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The newest frame that has come.
    pub newest: RateMark,
    /// The first frame of those that the feedback tells of, if it is another.
    pub first: Option<RateMark>,
    /// Age of the newest arrival when the feedback left \[us\]; `None` if too long to express.
    pub age_us: Option<u32>,
    /// Advance of the far end's clock over ours, with an unknown constant delay \[us\], modulo 2^32.
    pub offset_us: u32,
    /// Departure of the first frame of which nothing had been heard.
    pub waited_since: Instant,
}

impl Arrival {
    /// The first frame that came, if it is none before `number`, or else the newest.
    pub fn first_since(&self, number: SeqNum) -> RateMark {
        self.first.filter(|first| !first.number.is_before(number)).unwrap_or(self.newest)
    }
}

#[derive(Clone, Debug)]
pub struct Path {
    cap: u64,
    rate: u64,
    phase: Phase,
    phase_until: Instant,
    /// Time at which the rate was first known.
    measured_at: Instant,
    /// The last rates measured while the link could not keep up.
    stretched: [u64; 3],
    delay: PathDelay,
    /// The least one-way delay when the present drain began.
    drained_least: i64,
    release: Instant,
    /// Time at which the link has sent all frames, as far as known.
    served: Instant,
    /// Departure of the last frame, and the bytes that left with it.
    last: (Instant, u64),
    total: u64,
    mark: Option<RateMark>,
    self_induced: SelfInducedLoss,
    /// The same when a newer frame last came.
    heard: SelfInducedLoss,
    /// Frames before this one say nothing about the rate.
    telling: Option<SeqNum>,
    /// Frames before this one say nothing about delays either.
    on_time: Option<SeqNum>,
    /// Time of the last measurement or search of the rate.
    looked_at: Instant,
}

impl Path {
    /// A path without any measurement; it never exceeds the rate `cap` \[bit/s\].
    pub fn new(cap: Option<u64>) -> Self {
        Self {
            cap: cap.unwrap_or(RATE_MAX).max(RATE_MIN),
            rate: 0,
            phase: Phase::Startup,
            phase_until: Instant::ZERO,
            measured_at: Instant::ZERO,
            stretched: [0; 3],
            delay: PathDelay::new(),
            drained_least: i64::MAX,
            release: Instant::ZERO,
            served: Instant::ZERO,
            last: (Instant::ZERO, 0),
            total: 0,
            mark: None,
            self_induced: SelfInducedLoss::new(),
            heard: SelfInducedLoss::new(),
            telling: None,
            on_time: None,
            looked_at: Instant::ZERO,
        }
    }

    /// Share of its recent frames that were lost \[millionths\].
    pub const fn loss_ppm(&self) -> u32 {
        self.self_induced.mean()
    }

    /// Notes the fate of a frame that was sent at `sent_at`.
    pub fn on_fate(&mut self, number: SeqNum, sent_at: Instant, is_lost: bool) {
        let is_known = self.is_measured() && sent_at > self.measured_at;
        self.self_induced.on_fate(number, is_lost, is_known);
    }

    /// The fates that feedback tells are all noted.
    pub fn on_fates(&mut self, now: Instant) {
        let rtt = self.repair();
        if !self.self_induced.count(now, rtt) {
            return;
        }
        // Before a rate was measured there is none to slow down: the lost frames are a train that overflowed a queue.
        if self.rate == 0 {
            return;
        }
        if let Some(rate) = self.self_induced.judge(now, self.rate(), rtt) {
            self.rate = rate.clamp(RATE_MIN, RATE_MAX);
            self.stretched = [self.rate; 3];
            if self.phase == Phase::Startup {
                self.measured_at = now;
                self.phase = Phase::Cruise;
                self.phase_until = now.saturating_add(self.interval());
            }
        }
    }

    /// The member has fallen silent: what has not come since the last arrival says nothing about the link's losses.
    pub const fn forget_silence(&mut self) {
        self.self_induced = self.heard;
    }

    pub fn set_cap(&mut self, cap: Option<u64>) {
        self.cap = cap.unwrap_or(RATE_MAX).max(RATE_MIN);
    }

    /// The rate \[bit/s\]; before any was measured, ten frames a round trip.
    pub fn rate(&self) -> u64 {
        let guess = || TRAIN * FULL * 8 * 1_000_000_000 / self.delay.rtt_least_ns().max(10_000_000);
        let rate = if self.rate == 0 { guess() } else { self.rate };
        rate.clamp(RATE_MIN, self.cap)
    }
    /// Whether its rate is known, not only bounded from below.
    pub fn is_measured(&self) -> bool {
        self.phase != Phase::Startup
    }
    /// Time of the last measurement or search of the rate.
    pub const fn looked_at(&self) -> Instant {
        self.looked_at
    }
    /// Frames before `next` tell nothing of the rate: they are a packet train, which is measured by itself, or left
    /// late.
    pub const fn skip_rates(&mut self, next: SeqNum) {
        self.mark = None;
        self.telling = Some(next);
    }
    /// A packet train has shown that the rate is at least this \[bit/s\].
    pub fn on_bound(&mut self, rate: u64) {
        if self.phase == Phase::Startup {
            self.rate = self.rate.max(rate).min(RATE_MAX);
        }
    }
    /// A packet train has shown this rate \[bit/s\].
    pub fn on_train(&mut self, now: Instant, rate: u64) {
        self.rate = rate.clamp(RATE_MIN, RATE_MAX);
        self.stretched = [self.rate; 3];
        self.looked_at = now;
        // The train was reckoned at the rate before: at one much too small, seconds.
        self.release = self.release.min(now);
        if self.phase == Phase::Startup {
            self.measured_at = now;
            self.phase = Phase::Cruise;
            self.phase_until = now.saturating_add(self.interval());
        }
    }
    /// Whether there is an estimate of the rate, by packets or by trains.
    pub const fn has_estimate(&self) -> bool {
        self.rate > 0
    }
    /// Its round trip and one-way delay.
    pub const fn delay(&self) -> &PathDelay {
        &self.delay
    }

    /// The time that `bytes` take at `rate`.
    fn time_at(rate: u64, bytes: u64) -> Duration {
        // Division of 128 bits takes ten times as long, and this runs many times for each frame.
        let nanos = match bytes.checked_mul(8_000_000_000) {
            Some(product) => product / rate.max(1),
            None => (u128::from(bytes) * 8_000_000_000 / u128::from(rate.max(1))) as u64,
        };
        Duration::from_nanos(nanos)
    }
    /// The time that `bytes` take.
    pub fn time_for(&self, bytes: u64) -> Duration {
        Self::time_at(self.rate(), bytes)
    }
    fn queue_low(&self) -> Duration {
        QUEUE_LOW + self.time_for(FULL + FULL / 2)
    }
    fn queue_high(&self) -> Duration {
        QUEUE_HIGH + self.time_for(3 * FULL)
    }
    /// Length of one step of the cycle: one measurement.
    fn interval(&self) -> Duration {
        self.time_for(u64::from(SAMPLE_FRAMES) * FULL).max(Duration::from_micros(u64::from(SAMPLE_TIME_US)))
    }

    /// Time that a frame may be without an answer, the link's own queue aside: feedback does not always take the
    /// fastest member, so the least round trip alone would hold a long path back.
    fn answer(&self) -> Duration {
        let usual = self
            .delay
            .rtt()
            .map_or(0, |(rtt, var)| (rtt + var * 4).as_nanos().saturating_sub(self.delay.queue().as_nanos()));
        Duration::from_nanos(usual.max(self.delay.rtt_least_ns())) + SLACK
    }

    /// Bytes that may be under way.
    pub fn window(&self) -> u64 {
        let span = self.answer();
        let bytes = match self.rate().checked_mul(span.as_nanos()) {
            Some(product) => product / 8_000_000_000,
            None => (u128::from(self.rate()) * u128::from(span.as_nanos()) / 8_000_000_000) as u64,
        };
        match self.phase {
            // An unknown link may be a slow one with a short queue.
            Phase::Startup if self.rate == 0 => 2 * TRAIN * FULL,
            Phase::Startup => 2 * bytes + TRAIN * FULL,
            _ => bytes + 3 * FULL,
        }
    }

    /// Time at which the next frame may leave.
    pub const fn release(&self) -> Instant {
        self.release
    }

    /// Arrival of a frame of `bytes` that the member gets now, by a clock that all members share \[us\]; `None` before
    /// any delay was measured.
    pub fn arrival_us(&self, now: Instant, bytes: u64) -> Option<i64> {
        let wait = self.release.max(self.served).saturating_since(now) + self.time_for(bytes);
        // A lost frame comes a round trip later, or two.
        let loss = u64::from(self.loss_ppm().min(900_000));
        let again_us = self.delay.rtt_least_ns() / 1_000 * loss / (1_000_000 - loss);
        Some(wait.as_micros() as i64 + self.delay.least_us()? + again_us as i64)
    }

    /// Mean head-of-line blocking of an ordered flow by losses here: a loss is known after a round trip, and the
    /// retransmission takes the way once more.
    pub fn blocking(&self) -> Duration {
        blocking(self.self_induced.begun(), self.rate(), self.repair())
    }

    /// Its losses, once its rate is known.
    pub fn losses(&self) -> Option<Losses> {
        let (lost_ppm, begun_ppm) = self.self_induced.of_link()?;
        Some(Losses {
            lost_ppm,
            begun_ppm,
            rate: self.rate(),
            rtt: Duration::from_nanos(self.delay.rtt_least_ns()),
            repair: self.repair(),
        })
    }

    /// Mean number of frames of its loss bursts, by what was known when a newer frame last came.
    pub fn burst(&self) -> u32 {
        self.heard.of_link().map_or(0, |(lost, begun)| lost / begun.max(1))
    }

    /// Time until a loss is known and repaired: a round trip, and half of the least one.
    pub fn repair(&self) -> Duration {
        let usual = self.delay.rtt().map_or(0, |(rtt, _)| rtt.as_nanos().saturating_sub(self.delay.queue().as_nanos()));
        Duration::from_nanos(usual.max(self.delay.rtt_least_ns()) + self.delay.rtt_least_ns() / 2)
    }

    /// The present pace, as a fraction of the rate.
    fn gain(&self) -> (u64, u64) {
        match self.phase {
            Phase::Startup => (2, 1),
            Phase::Up => (5, 4),
            Phase::Down | Phase::Drain => (3, 4),
            Phase::DrainMore => (1, 2),
            // A queue that is a little too long goes away slowly.
            Phase::Cruise if self.delay.queue() > self.queue_low() => (31, 32),
            Phase::Cruise => (1, 1),
        }
    }

    /// Notes a frame of `bytes` that leaves, `late` after it could have because the host was not awake. Returns the
    /// expected time until it is sent, behind those before it \[us\].
    pub fn on_sent(&mut self, now: Instant, bytes: u64, late: Duration) -> u32 {
        self.go_on(now);
        let (numerator, denominator) = self.gain();
        let pace = (self.rate() * numerator / denominator).min(self.cap).max(RATE_MIN);
        let burst = match self.phase {
            Phase::Startup => Self::time_at(pace, TRAIN * FULL).max(late.min(CATCH_UP)),
            _ => BURST.max(late.min(CATCH_UP)),
        };
        self.release = self.release.max(now.saturating_sub(burst)).saturating_add(Self::time_at(pace, bytes));
        self.served = self.served.max(now).saturating_add(self.time_for(bytes));
        self.last = (now, bytes);
        self.total += bytes;
        u32::try_from(self.served.saturating_since(now).as_micros()).unwrap_or(u32::MAX)
    }

    /// Takes the next step of the cycle when it is due.
    fn go_on(&mut self, now: Instant) {
        if now < self.phase_until || self.phase == Phase::Startup {
            return;
        }
        let interval = self.interval();
        let rtt = Duration::from_nanos(self.delay.rtt_least_ns());
        let (phase, span) = match self.phase {
            Phase::Cruise => (Phase::Up, interval),
            Phase::Up => (Phase::Down, interval),
            Phase::Drain if self.is_not_empty() => {
                self.drained_least = i64::MAX;
                // Half of the rate is left to empty it, and it shows a round trip later.
                (Phase::DrainMore, self.delay.queue() * 5 / 2 + rtt * 2 + interval)
            }
            Phase::DrainMore if self.is_not_empty() => {
                self.delay.restart(now, self.drained_least);
                (Phase::Cruise, interval * 2)
            }
            Phase::Drain | Phase::DrainMore | Phase::Down | Phase::Startup => (Phase::Cruise, interval * 2),
        };
        self.phase = phase;
        self.phase_until = now.saturating_add(span);
    }

    /// Whether frames that were sent while it was emptied have still found the link's queue.
    fn is_not_empty(&self) -> bool {
        self.delay.queue() > self.queue_low() && self.drained_least != i64::MAX
    }

    /// Begins to empty the link's queue.
    fn drain(&mut self, now: Instant) {
        self.phase = Phase::Drain;
        self.drained_least = i64::MAX;
        let rtt = Duration::from_nanos(self.delay.rtt_least_ns());
        // A quarter of the rate is left to empty it, and it shows a round trip later.
        self.phase_until = now.saturating_add(self.delay.queue() * 5 + rtt * 2 + self.interval());
    }

    /// The frames before `next` that were to leave since `since` have left by `until`.
    pub fn on_late(&mut self, since: Instant, until: Instant, next: SeqNum) {
        self.skip_rates(next);
        self.on_time = Some(next);
        self.served = self.served.max(since).saturating_add(until.saturating_since(since));
        self.last.0 = self.last.0.max(until);
    }

    /// Feedback tells of a newer frame than before.
    pub fn on_arrival(&mut self, now: Instant, arrival: &Arrival) {
        self.heard = self.self_induced;
        if self.on_time.is_some_and(|first| arrival.newest.number.is_before(first)) {
            return;
        }
        self.on_time = None;
        self.learn_delay(now, arrival);
        self.measure(now, arrival);
        if self.phase == Phase::Startup {
            return;
        }
        match self.phase {
            Phase::Drain | Phase::DrainMore => {
                let delay = self.delay.least_us().unwrap_or(0) + self.delay.queue_us();
                self.drained_least = self.drained_least.min(delay);
                if self.delay.queue() < self.queue_low() {
                    self.phase = Phase::Cruise;
                    self.phase_until = now.saturating_add(self.interval() * 2);
                }
            }
            _ if self.delay.queue() > self.queue_high() => self.drain(now),
            _ => {}
        }
    }

    fn learn_delay(&mut self, now: Instant, arrival: &Arrival) {
        let RateMark { sent_at, received_us, total, .. } = arrival.newest;
        if let Some(age_us) = arrival.age_us {
            self.delay.learn_rtt(now, sent_at, age_us, arrival.waited_since);
        }
        let sent_us = (sent_at.as_nanos() / 1_000) as u32;
        let delay = i64::from(received_us.wrapping_sub(sent_us).wrapping_sub(arrival.offset_us) as i32);
        self.delay.learn_one_way(now, delay);
        // The frame found the link occupied for this time; later frames come on top.
        let since = self.total.saturating_sub(total);
        let found = sent_at.saturating_add(self.delay.queue()).saturating_add(self.time_for(since));
        self.served = found.max(self.last.0.saturating_add(self.time_for(self.last.1)));
    }

    /// A rate, if enough has come since the last.
    fn measure(&mut self, now: Instant, arrival: &Arrival) {
        let mark = arrival.newest;
        let RateMark { number, received_us, sent_at, total, came, idles } = mark;
        if self.telling.is_some_and(|first| number.is_before(first)) {
            return;
        }
        self.telling = None;
        let Some(last) = self.mark else {
            self.mark = Some(mark);
            return;
        };
        let frames = number.distance_from(last.number);
        let span_us = received_us.wrapping_sub(last.received_us);
        if span_us > PAUSE_US || frames <= 0 {
            self.mark = Some(mark);
            return;
        }
        if (frames as u32) < SAMPLE_FRAMES || span_us < SAMPLE_TIME_US {
            return;
        }
        self.mark = Some(mark);
        self.looked_at = now;
        let bytes = (total - last.total).min(came.saturating_sub(last.came));
        let sample = bytes * 8_000_000 / u64::from(span_us.max(1));
        let sent_us = sent_at.saturating_since(last.sent_at).as_micros();
        let is_idle = idles != last.idles;
        if self.phase == Phase::Startup {
            self.start_up(now, sample, sent_us, span_us, is_idle);
        } else {
            self.adapt(sample, sent_us, span_us, is_idle);
        }
    }

    /// A measurement while the rate is looked for.
    fn start_up(&mut self, now: Instant, sample: u64, sent_us: u64, span_us: u32, is_idle: bool) {
        let most = self.rate() * GROWTH;
        let is_full = u64::from(span_us) > sent_us + sent_us / 4 && span_us >= SAMPLE_TIME_US && !is_idle;
        if is_full || self.delay.queue() > self.queue_high() {
            self.rate = if is_idle { self.rate.max(sample) } else { sample }.clamp(RATE_MIN, RATE_MAX);
            self.stretched = [self.rate; 3];
            self.measured_at = now;
            self.phase = Phase::Cruise;
            self.drain(now);
        } else {
            // What came slowly because little was sent tells nothing.
            let found = sample.min(most);
            if found > self.rate() {
                self.rate = found;
            }
        }
    }

    /// A measurement while the rate is followed.
    fn adapt(&mut self, sample: u64, sent_us: u64, span_us: u32, is_idle: bool) {
        let is_stretched = u64::from(span_us) > sent_us + sent_us / 32 + 200;
        // What came closer together than it was sent had waited somewhere: it was carried no faster than it was sent.
        let found = if sent_us > u64::from(span_us) { sample * u64::from(span_us) / sent_us } else { sample };
        if is_stretched && !is_idle {
            self.stretched = [self.stretched[1], self.stretched[2], sample];
            let found = self.stretched.iter().copied().max().unwrap_or(sample);
            self.rate = found.clamp(RATE_MIN, RATE_MAX);
        } else if found > self.rate {
            self.rate = found.min(RATE_MAX);
            self.stretched = [self.rate; 3];
        }
    }

    /// The member is used again after a silence: what was measured before may be wrong, and its queue is empty.
    pub fn resume(&mut self, now: Instant) {
        self.mark = None;
        self.release = now;
        self.served = now;
        if self.phase != Phase::Startup {
            self.phase = Phase::Cruise;
            self.phase_until = now.saturating_add(self.interval());
        }
    }

    /// Only frames from `next` on go this way: what is heard of those before tells nothing of it.
    pub const fn begin_with(&mut self, next: SeqNum) {
        self.telling = Some(next);
        self.on_time = Some(next);
    }

    /// The far end's clock is another: forgets all delays.
    pub fn forget_delays(&mut self) {
        self.delay.forget_one_way();
        self.mark = None;
    }
}

#[cfg(test)]
mod tests;
