//! Stations that have packets at times: access delay and end-to-end delay by load, in closed form (L. Dai and X. Sun,
//! "A unified analysis of IEEE 802.11 DCF networks: stability, throughput, and delay", IEEE TMC 12(8), 2013).
//!
//! Time is in slots. A packet at the head of its queue draws a backoff in any case, also where the medium is idle, and
//! counts it down while the medium is idle. It then succeeds with probability `p`, or collides and draws from a window
//! twice as long. The stations of several links (802.11be, STR) have a queue for each, and share their load evenly.

use super::exchange::Access;

/// The cell, times in whole slots with the interframe space behind them.
#[derive(Clone, Copy, Debug)]
pub struct LoadedCell {
    pub stations: u32,
    pub access: Access,
    /// A success with its answer, and a collision.
    pub success: f64,
    pub collision: f64,
}

/// Delays of a packet, in slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadedDelay {
    /// Probability that a transmission succeeds.
    pub success: f64,
    /// From the head of the queue to the answer.
    pub access: f64,
    /// The same with the time behind others of its queue.
    pub end_to_end: f64,
}

/// Halvings of the interval of a root: more than a double has digits.
const BISECTIONS: u32 = 100;

impl LoadedCell {
    /// Share of time in which the medium is idle.
    fn idle(&self, p: f64) -> f64 {
        let Self { success, collision, .. } = self;
        1.0 / (1.0 + collision - collision * p - (success - collision) * p * libm::log(p))
    }

    /// Packets a slot that the link carries at `p`.
    fn carried(&self, p: f64) -> f64 {
        -p * libm::log(p) * self.idle(p)
    }

    /// The windows by stage; the last is repeated.
    fn windows(&self) -> Vec<f64> {
        let window = |failures| self.access.window(failures);
        let last = (0..).find(|failures| window(*failures) >= self.access.cw_max).unwrap_or(0);
        (0..=last).map(|failures| f64::from(window(failures) + 1)).collect()
    }

    /// Mean number of backoff slots of a packet, half of each window that it comes to.
    fn mean_backoff(&self, p: f64) -> f64 {
        let windows = self.windows();
        let (mut sum, mut reached) = (0.0, 1.0);
        for (stage, window) in windows.iter().enumerate() {
            let times = if stage + 1 == windows.len() { reached / p } else { reached };
            sum += times * window / 2.0;
            reached *= 1.0 - p;
        }
        sum
    }

    /// A root of `f`, which is positive at `low` and negative at `high`.
    fn root(f: impl Fn(f64) -> f64, (mut low, mut high): (f64, f64)) -> f64 {
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if f(middle) > 0.0 { low = middle } else { high = middle }
        }
        low
    }

    /// The probability of success where all queues are full: each station sends once in its mean window.
    fn saturated(&self) -> f64 {
        let rate = |p: f64| 1.0 / (p * self.mean_backoff(p));
        Self::root(|p| libm::exp(-f64::from(self.stations) * rate(p)) - p, (1e-6, 1.0 - 1e-12))
    }

    /// The delays at a load of `rate` packets a slot of all stations together; `None`: all queues are full.
    pub fn delays(&self, rate: Option<f64>) -> LoadedDelay {
        let full = self.saturated();
        // Beyond the load at which the link carries most it is saturated; below, the larger root is the stable one.
        let stable = rate.filter(|rate| *rate < self.carried(full));
        let Some(rate) = stable else {
            let access = f64::from(self.stations) / self.carried(full);
            return LoadedDelay { success: full, access, end_to_end: f64::INFINITY };
        };
        let p = Self::root(|p| self.carried(p) - rate, (full, 1.0 - 1e-15));
        let [access, squared] = self.moments(p);
        // Geo/G/1: arrivals by Bernoulli, one server.
        let own = rate / f64::from(self.stations);
        let waiting = own * (squared - access) / (2.0 * (1.0 - own * access));
        LoadedDelay { success: p, access, end_to_end: access + waiting }
    }

    /// First and second moment of the access delay: from the last stage, which may repeat itself, to the first.
    fn moments(&self, p: f64) -> [f64; 2] {
        let (idle, q) = (self.idle(p), 1.0 - p);
        // A backoff of 1 to `window` slots that are idle, each after a geometric number of slots.
        let backoff = |window: f64| {
            let slots = f64::midpoint(1.0, window);
            let mean = slots / idle;
            let variance = (window * window - 1.0) / 12.0 / (idle * idle) + slots * (1.0 - idle) / (idle * idle);
            [mean, variance + mean * mean]
        };
        let Self { success, collision, .. } = *self;
        let mut stages = self.windows();
        let [mean, square] = backoff(stages.pop().unwrap_or(1.0));
        let mut first = (mean + p * success + q * collision) / p;
        let mut second = (square
            + 2.0 * mean * (p * success + q * (collision + first))
            + p * success * success
            + q * (collision * collision + 2.0 * collision * first))
            / p;
        for window in stages.into_iter().rev() {
            let [mean, square] = backoff(window);
            let behind = p * success + q * (collision + first);
            let behind_squared = p * success * success + q * (collision * collision + 2.0 * collision * first + second);
            (first, second) = (mean + behind, square + 2.0 * mean * behind + behind_squared);
        }
        [first, second]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCESS: Access = Access { aifsn: 3, cw_min: 15, cw_max: 1_023, reset_at: None };

    /// 20 stations, 33 and 28 slots of 9 us: what the course EE595 of the University of Washington prints for two links
    /// [ms].
    #[test]
    fn the_printed_delays_of_two_links() {
        let cell = LoadedCell { stations: 20, access: ACCESS, success: 33.0, collision: 28.0 };
        let is_near = |ours: f64, printed: f64, allowed: f64| {
            assert!((ours * 0.009 / printed - 1.0).abs() < allowed, "{} ms beside {printed}", ours * 0.009);
        };
        for (load, access, end_to_end) in [
            (0.012, 0.395_784_034_698_124, 0.398_366_346_888_162),
            (0.036, 0.523_143_724_055_856, 0.538_742_878_805_426),
        ] {
            let delays = cell.delays(Some(load / 2.0));
            is_near(delays.access, access, 1e-12);
            // Their waiting time is 3 to 4 % less than that of Geo/G/1, and a hundredth of the whole.
            is_near(delays.end_to_end, end_to_end, 2e-3);
        }
        let full = cell.delays(None);
        is_near(full.access, 8.595_436_383_860_98, 1e-12);
        assert_eq!(cell.delays(Some(0.9)), full, "more than the link carries");
    }

    /// One station that is alone never collides: a backoff, and its frame.
    #[test]
    fn a_light_load_waits_for_its_backoff_alone() {
        let cell = LoadedCell { stations: 1, access: ACCESS, success: 33.0, collision: 28.0 };
        let delays = cell.delays(Some(1e-9));
        assert!((delays.access - (33.0 + 8.5)).abs() < 1e-4 && (delays.end_to_end - delays.access).abs() < 1e-4);
    }

    /// The mean of both moments by drawing.
    #[test]
    fn moments_are_those_of_draws() {
        let cell = LoadedCell { stations: 20, access: ACCESS, success: 33.0, collision: 28.0 };
        let p = 0.95;
        let mut random = airbraid_engine::Stream::new(1, 0, "test");
        let mut uniform = || (random.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0;
        let (idle, count) = (cell.idle(p), 200_000);
        let mut sums = [0.0, 0.0];
        for _ in 0..count {
            let (mut time, mut failures) = (0.0, 0);
            loop {
                let window = f64::from(ACCESS.window(failures) + 1);
                let slots = 1.0 + libm::floor(uniform() * window);
                for _ in 0..slots as u32 {
                    time += 1.0 + libm::floor(libm::log(uniform()) / libm::log(1.0 - idle));
                }
                if uniform() < p {
                    time += cell.success;
                    break;
                }
                time += cell.collision;
                failures += 1;
            }
            sums = [sums[0] + time, sums[1] + time * time];
        }
        let [first, second] = cell.moments(p);
        assert!((sums[0] / f64::from(count) / first - 1.0).abs() < 0.01);
        assert!((sums[1] / f64::from(count) / second - 1.0).abs() < 0.03);
    }
}
