//! BBR as Linux has it by default (version 1; Cardwell, Cheng, Gunn, Yeganeh and Jacobson 2016, and the kernel's
//! documented behaviour, retold): a pacing rate and a window, both from the greatest delivery rate of ten round trips
//! and the least round trip of ten seconds. A loss is no reason to slow down.
//!
//! Rates are segments a microsecond in units of 2^-24, gains in units of 1/256. The detection of policers is left out.
//! It never sends.

use super::Phase;
use super::delivery::Sample;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// Fixed-point shift of a rate: 1 is 2^24.
const RATE_UNIT: u32 = 24;
/// Fixed-point unit of a gain: 1 is 256.
const UNIT: u64 = 256;
/// Round trips for which a rate counts: a cycle of gains, and two.
const RATE_ROUNDS: u64 = 10;
/// Time for which the least round trip counts.
const LEAST_SPAN: Duration = Duration::from_secs(10);
/// Time for which it is then measured with almost nothing in the network.
const LOOK_SPAN: Duration = Duration::from_millis(200);
/// Fewest segments in flight.
const WINDOW_MIN: u64 = 4;
/// 2 / ln 2: doubles the rate in a round trip.
const GAIN_START: u64 = UNIT * 2_885 / 1_000 + 1;
/// The inverse: drains in a round trip the queue that [`GAIN_START`] has built.
const GAIN_DRAIN: u64 = UNIT * 1_000 / 2_885;
/// Gain of the window otherwise: space for delayed acknowledgements.
const GAIN_WINDOW: u64 = 2 * UNIT;
/// The gains of a cycle: a quarter more, a quarter less, and then 1.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// Growth of the rate below which the pipe counts as full: a quarter.
const FULL_GROWTH: u64 = UNIT * 5 / 4;
/// Round trips without that growth after which the pipe is full.
const FULL_ROUNDS: u32 = 3;
/// Distance of the pace below the rate \[%\].
const MARGIN_PERCENT: u64 = 1;
/// Round trips for which arrivals above the rate (ACK aggregation) count, twice at most.
const EXCESS_ROUNDS: u32 = 5;
/// Segments after which they are counted again from zero, and the largest count.
const EXCESS_RESET: u64 = 1 << 20;
const EXCESS_COUNT_MAX: u64 = 0xf_ffff;
/// Longest time whose arrivals they add to the window \[us\].
const EXCESS_SPAN_US: u64 = 100_000;
/// IP and TCP headers with timestamps \[byte\], which the pace counts.
pub(super) const HEADERS: u64 = 52;
/// Below this rate \[byte/s\], one segment leaves at once; above it, the data of 1/1024 s, two segments at least.
const ONE_AT_ONCE: u64 = 1_200_000 / 8;
/// Largest number of segments that leave at once.
const BURST_MAX: u64 = 127;

/// The mode of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Searches for the rate.
    Startup,
    /// Drains the queue that the search has built.
    Drain,
    /// Keeps the rate, and probes for more.
    Bandwidth,
    /// Measures the least round trip.
    RoundTrip,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub now: Instant,
    /// Segments delivered so far, with it.
    pub delivered: u64,
    pub acked: u64,
    /// Segments that it shows to be lost.
    pub lost: u64,
    /// Its sample of the rate, and the round trip of the latest segment that it acknowledges.
    pub sample: Option<Sample>,
    pub rtt: Option<Duration>,
    /// Segments in the network, before it and with it.
    pub prior_pipe: u64,
    pub pipe: u64,
    /// The time until which the last burst is paced.
    pub busy_until: Instant,
    pub phase: Phase,
}

/// The model of the path.
#[derive(Clone, Debug)]
pub(super) struct Bbr {
    mss: u64,
    initial: u64,
    mode: Mode,
    /// The rates of the last rounds that may still be the greatest: later ones are smaller.
    rates: VecDeque<(u64, u64)>,
    round: u64,
    /// The round ends when a segment that left after this many deliveries has arrived.
    round_end: u64,
    is_round_start: bool,
    least: Option<Duration>,
    least_at: Instant,
    look_until: Option<Instant>,
    has_looked: bool,
    full_rate: u64,
    full_rounds: u32,
    is_full: bool,
    cycle: usize,
    cycle_at: Instant,
    pacing_gain: u64,
    window_gain: u64,
    /// \[byte/s, with headers\]
    pacing_rate: u64,
    has_round_trip: bool,
    /// The window before a recovery or a measurement of the round trip.
    prior_window: u64,
    phase: Phase,
    conserves: bool,
    is_restarting: bool,
    excess: [u64; 2],
    excess_index: usize,
    excess_rounds: u32,
    epoch_at: Instant,
    epoch_acked: u64,
}

impl Bbr {
    /// A model without any sample; `initial` is the first window \[segments\].
    pub fn new(mss: u64, initial: u64) -> Self {
        Self {
            mss,
            initial,
            mode: Mode::Startup,
            rates: VecDeque::new(),
            round: 0,
            round_end: 0,
            is_round_start: false,
            least: None,
            least_at: Instant::ZERO,
            look_until: None,
            has_looked: false,
            full_rate: 0,
            full_rounds: 0,
            is_full: false,
            cycle: 0,
            cycle_at: Instant::ZERO,
            pacing_gain: GAIN_START,
            window_gain: GAIN_START,
            pacing_rate: u64::MAX,
            has_round_trip: false,
            prior_window: 0,
            phase: Phase::Open,
            conserves: false,
            is_restarting: false,
            excess: [0; 2],
            excess_index: 0,
            excess_rounds: 0,
            epoch_at: Instant::ZERO,
            epoch_acked: 0,
        }
    }

    /// The connection is open; the handshake may have given a round trip.
    pub fn begin(&mut self, now: Instant, window: u64, least: Option<Duration>, srtt: Option<Duration>) {
        (self.least, self.least_at) = (least, now);
        (self.cycle_at, self.epoch_at) = (now, now);
        self.set_first_pace(window, srtt);
    }

    /// The pacing rate \[byte/s, with [`HEADERS`]\].
    pub const fn pacing_rate(&self) -> u64 {
        self.pacing_rate
    }
    /// Segments that leave at once.
    pub fn burst(&self) -> u64 {
        let least = if self.pacing_rate < ONE_AT_ONCE { 1 } else { 2 };
        (self.pacing_rate / 1_024 / self.mss).clamp(least, BURST_MAX)
    }
    /// Whether it holds the sender back on purpose, so that deliveries say nothing of the rate.
    pub fn is_looking(&self) -> bool {
        self.mode == Mode::RoundTrip
    }

    /// Takes in an acknowledgement; returns the window \[segments\].
    pub fn on_ack(&mut self, window: u64, ack: &Ack) -> u64 {
        self.learn_rate(ack);
        self.learn_excess(window, ack);
        self.go_round(ack);
        self.check_full(ack);
        self.check_drained(ack);
        let window = self.learn_round_trip(window, ack);
        self.set_gains();
        self.set_pace(window);
        self.next_window(window, ack)
    }

    /// The greatest rate of the last rounds.
    fn rate(&self) -> u64 {
        self.rates.front().map_or(0, |&(_, rate)| rate)
    }

    /// Segments that arrive at that rate in `us` microseconds.
    fn delivers(&self, us: u64) -> u64 {
        ((u128::from(self.rate()) * u128::from(us)) >> RATE_UNIT) as u64
    }

    fn learn_rate(&mut self, ack: &Ack) {
        self.is_round_start = false;
        let Some((sample, interval)) = ack.sample.and_then(|sample| Some((sample, sample.interval?))) else { return };
        if sample.prior >= self.round_end {
            self.round_end = ack.delivered;
            self.round += 1;
            self.is_round_start = true;
            self.conserves = false;
        }
        let rate = ((u128::from(sample.delivered) * 1_000) << RATE_UNIT) / u128::from(interval.as_nanos());
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        if !sample.is_limited || rate >= self.rate() {
            while self.rates.back().is_some_and(|&(_, other)| other <= rate) {
                self.rates.pop_back();
            }
            self.rates.push_back((self.round, rate));
        }
        // The last one stays, however old: there is no other.
        while self.rates.len() > 1 && self.rates[0].0 + RATE_ROUNDS < self.round {
            self.rates.pop_front();
        }
    }

    /// Learns the arrivals above the rate: acknowledgements that were held and released together.
    fn learn_excess(&mut self, window: u64, ack: &Ack) {
        if ack.acked == 0 || ack.sample.is_none_or(|sample| sample.interval.is_none()) {
            return;
        }
        if self.is_round_start {
            self.excess_rounds += 1;
            if self.excess_rounds >= EXCESS_ROUNDS {
                self.excess_rounds = 0;
                self.excess_index ^= 1;
                self.excess[self.excess_index] = 0;
            }
        }
        let since_us = ack.now.saturating_since(self.epoch_at).as_nanos() / 1_000;
        let mut expected = self.delivers(since_us);
        if self.epoch_acked <= expected || self.epoch_acked + ack.acked >= EXCESS_RESET {
            (self.epoch_acked, self.epoch_at, expected) = (0, ack.now, 0);
        }
        self.epoch_acked = (self.epoch_acked + ack.acked).min(EXCESS_COUNT_MAX);
        let excess = self.epoch_acked.saturating_sub(expected).min(window);
        let most = &mut self.excess[self.excess_index];
        *most = excess.max(*most);
    }

    /// Segments on the path at `gain`: the bandwidth-delay product.
    fn product(&self, gain: u64) -> u64 {
        let Some(least) = self.least else { return self.initial };
        let held = u128::from(self.rate()) * u128::from(least.as_nanos() / 1_000);
        (held * u128::from(gain) / u128::from(UNIT)).div_ceil(1 << RATE_UNIT) as u64
    }
    /// The same, with the segments that bursts and acknowledgements of every second segment need.
    fn in_network(&self, gain: u64) -> u64 {
        self.with_bursts(self.product(gain))
    }
    fn with_bursts(&self, window: u64) -> u64 {
        let even = (window + 3 * self.burst()).next_multiple_of(2);
        even + if self.mode == Mode::Bandwidth && self.cycle == 0 { 2 } else { 0 }
    }
    /// Segments that will be in the network when the last burst has been paced.
    fn pipe_later(&self, pipe: u64, ack: &Ack) -> u64 {
        let until_us = ack.busy_until.saturating_since(ack.now).as_nanos() / 1_000;
        let arrives = self.delivers(until_us);
        let rises = if self.pacing_gain > UNIT { self.burst() } else { 0 };
        (pipe + rises).saturating_sub(arrives)
    }

    /// Moves to the next gain of the cycle, when the present one has had its effect.
    fn go_round(&mut self, ack: &Ack) {
        if self.mode != Mode::Bandwidth {
            return;
        }
        let is_full_length = ack.now.saturating_since(self.cycle_at) > self.least.unwrap_or_default();
        let pipe = self.pipe_later(ack.prior_pipe, ack);
        let is_over = match self.pacing_gain {
            UNIT => is_full_length,
            gain if gain > UNIT => is_full_length && (ack.lost > 0 || pipe >= self.in_network(gain)),
            _ => is_full_length || pipe <= self.in_network(UNIT),
        };
        if is_over {
            self.cycle = (self.cycle + 1) % CYCLE.len();
            self.cycle_at = ack.now;
        }
    }

    fn check_full(&mut self, ack: &Ack) {
        if self.is_full || !self.is_round_start || ack.sample.is_some_and(|sample| sample.is_limited) {
            return;
        }
        if u128::from(self.rate()) * u128::from(UNIT) >= u128::from(self.full_rate) * u128::from(FULL_GROWTH) {
            (self.full_rate, self.full_rounds) = (self.rate(), 0);
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    fn check_drained(&mut self, ack: &Ack) {
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.pipe_later(ack.pipe, ack) <= self.in_network(UNIT) {
            self.cruise(ack.now);
        }
    }

    /// Begins the cycle, anywhere but at the gain below one: connections that began together are not to speed up
    /// together. The time serves as the random number, so that equal runs are equal.
    fn cruise(&mut self, now: Instant) {
        self.mode = Mode::Bandwidth;
        let chance = (now.as_nanos() / 1_000 % 7) as usize;
        self.cycle = (CYCLE.len() - chance) % CYCLE.len();
        self.cycle_at = now;
    }
    fn go_on(&mut self, now: Instant) {
        if self.is_full { self.cruise(now) } else { self.mode = Mode::Startup }
    }

    /// Learns the least round trip, and measures it again when it is old; returns the window.
    fn learn_round_trip(&mut self, mut window: u64, ack: &Ack) -> u64 {
        let is_old = ack.now > self.least_at.saturating_add(LEAST_SPAN);
        if let Some(rtt) = ack.rtt.filter(|rtt| is_old || self.least.is_none_or(|least| *rtt < least)) {
            (self.least, self.least_at) = (Some(rtt), ack.now);
        }
        if is_old && !self.is_restarting && self.mode != Mode::RoundTrip {
            self.save_window(window);
            self.mode = Mode::RoundTrip;
            self.look_until = None;
        }
        if self.mode == Mode::RoundTrip {
            match self.look_until {
                None if ack.pipe <= WINDOW_MIN => {
                    self.look_until = Some(ack.now.saturating_add(LOOK_SPAN));
                    self.has_looked = false;
                    self.round_end = ack.delivered;
                }
                None => {}
                Some(_) => {
                    self.has_looked |= self.is_round_start;
                    if self.has_looked {
                        window = self.check_looked(window, ack.now);
                    }
                }
            }
        }
        self.is_restarting &= ack.sample.is_none_or(|sample| sample.delivered == 0);
        window
    }

    /// Ends the measurement of the round trip when it has lasted long enough.
    fn check_looked(&mut self, window: u64, now: Instant) -> u64 {
        if self.look_until.is_none_or(|until| now <= until) {
            return window;
        }
        self.least_at = now;
        self.go_on(now);
        window.max(self.prior_window)
    }

    fn set_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (GAIN_START, GAIN_START),
            Mode::Drain => (GAIN_DRAIN, GAIN_START),
            Mode::Bandwidth => (CYCLE[self.cycle], GAIN_WINDOW),
            Mode::RoundTrip => (UNIT, UNIT),
        };
    }

    /// `rate`, paced at a gain \[byte/s\].
    fn paced(&self, rate: u64, gain: u64) -> u64 {
        let bytes = u128::from(rate) * u128::from(self.mss + HEADERS) * u128::from(gain) / u128::from(UNIT);
        let bytes = (bytes * u128::from(1_000_000 / 100 * (100 - MARGIN_PERCENT))) >> RATE_UNIT;
        u64::try_from(bytes).unwrap_or(u64::MAX).max(1)
    }
    /// Before there is a rate: the window in a round trip, or in a millisecond.
    fn set_first_pace(&mut self, window: u64, srtt: Option<Duration>) {
        self.has_round_trip = srtt.is_some();
        let us = srtt.map_or(1_000, |srtt| srtt.as_nanos() / 1_000).max(1);
        self.pacing_rate = self.paced((window << RATE_UNIT) / us, GAIN_START);
    }
    fn set_pace(&mut self, window: u64) {
        if !self.has_round_trip && self.least.is_some() {
            self.set_first_pace(window, self.least);
        }
        let rate = self.paced(self.rate(), self.pacing_gain);
        if self.is_full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn next_window(&mut self, mut window: u64, ack: &Ack) -> u64 {
        if ack.acked > 0 {
            let kept = self.recover(&mut window, ack);
            if !kept {
                let target = self.with_bursts(self.product(self.window_gain) + self.excess_allowed());
                if self.is_full {
                    window = (window + ack.acked).min(target);
                } else if window < target || ack.delivered < self.initial {
                    window += ack.acked;
                }
                window = window.max(WINDOW_MIN);
            }
        }
        if self.mode == Mode::RoundTrip { window.min(WINDOW_MIN) } else { window }
    }

    fn excess_allowed(&self) -> u64 {
        if !self.is_full {
            return 0;
        }
        self.excess[0].max(self.excess[1]).min(self.delivers(EXCESS_SPAN_US))
    }

    /// In the first round trip of a recovery, as many segments leave as arrive; returns whether that is so.
    fn recover(&mut self, window: &mut u64, ack: &Ack) -> bool {
        if ack.lost > 0 {
            *window = window.saturating_sub(ack.lost).max(1);
        }
        let before = std::mem::replace(&mut self.phase, ack.phase);
        if ack.phase == Phase::Recovery && before != Phase::Recovery {
            self.conserves = true;
            self.round_end = ack.delivered;
            *window = ack.pipe + ack.acked;
        } else if before >= Phase::Recovery && ack.phase < Phase::Recovery {
            *window = (*window).max(self.prior_window);
            self.conserves = false;
        }
        if self.conserves {
            *window = (*window).max(ack.pipe + ack.acked);
        }
        self.conserves
    }

    /// A recovery begins: saves the window, which is to come back.
    pub fn save_window(&mut self, window: u64) {
        let is_calm = self.phase < Phase::Recovery && self.mode != Mode::RoundTrip;
        self.prior_window = if is_calm { window } else { self.prior_window.max(window) };
    }
    /// The timer expired: the pipe may not be full after all.
    pub fn on_timeout(&mut self) {
        self.phase = Phase::Loss;
        self.full_rate = 0;
        self.is_round_start = true;
    }
    /// A loss proved to be none.
    pub fn on_undo(&mut self) {
        (self.full_rate, self.full_rounds) = (0, 0);
    }
    /// Data are to be sent after the application had nothing; returns the window.
    pub fn on_restart(&mut self, now: Instant, window: u64) -> u64 {
        self.is_restarting = true;
        (self.epoch_at, self.epoch_acked) = (now, 0);
        match self.mode {
            Mode::Bandwidth => self.pacing_rate = self.paced(self.rate(), UNIT),
            Mode::RoundTrip => return self.check_looked(window, now),
            Mode::Startup | Mode::Drain => {}
        }
        window
    }
}

#[cfg(test)]
mod tests;
