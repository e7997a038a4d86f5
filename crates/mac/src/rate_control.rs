//! Rate control: the rate of a station towards each neighbour, chosen by the outcomes of earlier frames.
//!
//! ARF after Kamerman and Monteban 1997 ("WaveLAN-II: a high-performance wireless LAN for the unlicensed band"): one
//! rate up after some successes in a row, one down after some failures in a row, and at once down again if the first
//! frame at a new rate fails. `Periodic` counts over a period, with the limits and the growing patience of AMRR
//! (Lacage, Manshaei and Turletti 2004), as the drivers of the first Atheros cards did; within a period the rate stays,
//! whatever happens.
//!
//! It reckons in integers, has no timer of its own, and never looks at a signal: what it knows, it knows from
//! acknowledgements.

pub mod ideal;
pub mod minstrel;

use crate::frame::Address;
use crate::phy::Rate;
use airbraid_units::{Duration, Instant};
use std::collections::BTreeMap;

/// The way in which a station finds its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateControl {
    #[default]
    Fixed,
    /// By successes and failures in a row.
    Arf {
        /// Successes in a row that raise the rate by one step.
        up: u32,
        /// Failures in a row that lower the rate by one step.
        down: u32,
    },
    /// By the share of retransmissions within each period (AMRR).
    Periodic {
        /// Shortest time at one rate.
        period: Duration,
    },
    /// By expected throughput, with probes: [`minstrel`].
    Minstrel,
    /// By the signal that is heard: [`ideal`].
    Ideal,
}

impl RateControl {
    /// ARF with the numbers of its paper.
    pub const ARF: Self = Self::Arf { up: 10, down: 2 };
    /// One decision a second, as the drivers of the time took it.
    pub const PERIODIC: Self = Self::Periodic { period: Duration::from_secs(1) };
}

/// AMRR: the fewest frames of a period that count \[frames\].
const ENOUGH: u32 = 10;
/// AMRR: the most good periods that a rise may take.
const PATIENCE_MAX: u32 = 10;

/// The state of one neighbour.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    /// Index of the rate.
    rate: usize,
    /// ARF: successes in a row, since the last change.
    successes: u32,
    failures: u32,
    /// Whether the rate has just risen: the next verdict tells whether it was right.
    is_on_trial: bool,
    /// AMRR: end of this period.
    until: Instant,
    sent: u32,
    failed: u32,
    /// Good periods in a row, and the number that a rise takes.
    good: u32,
    patience: u32,
}

/// The rates of a station towards its neighbours.
#[derive(Clone, Debug)]
pub struct RateSelection {
    control: RateControl,
    /// The rates, slowest first; the last is the one where it begins and that it never exceeds.
    rates: &'static [Rate],
    neighbours: BTreeMap<Address, Neighbour>,
    /// Neighbours towards which it has others.
    unlike: BTreeMap<Address, &'static [Rate]>,
}

impl RateSelection {
    /// A station that has `rates`, the slowest first, and begins with the last.
    pub fn new(control: RateControl, rates: &'static [Rate]) -> Self {
        Self { control, rates, neighbours: BTreeMap::new(), unlike: BTreeMap::new() }
    }

    /// Towards this neighbour it has `rates`, the slowest first, and begins with the last of them.
    pub fn set_rates(&mut self, to: Address, rates: &'static [Rate]) {
        self.unlike.insert(to, rates);
    }

    /// Whether there is only one rate.
    pub fn is_fixed(&self) -> bool {
        self.control == RateControl::Fixed && self.unlike.is_empty()
    }

    fn rates_towards(&self, to: Address) -> &'static [Rate] {
        self.unlike.get(&to).copied().unwrap_or(self.rates)
    }

    /// The rate of the next frame to a neighbour; none if there are no rates.
    pub fn rate(&self, to: Address) -> Option<Rate> {
        let rates = self.rates_towards(to);
        let highest = rates.len().saturating_sub(1);
        rates.get(self.neighbours.get(&to).map_or(highest, |of| of.rate)).copied()
    }

    /// A frame to a neighbour was acknowledged, or was not.
    pub fn on_attempt(&mut self, now: Instant, to: Address, is_acknowledged: bool) {
        let (highest, control) = (self.rates_towards(to).len().saturating_sub(1), self.control);
        let of = self.neighbours.entry(to).or_insert_with(|| Neighbour::new(now, highest));
        match control {
            // Those two are of stations with aggregation; see `edca::rates`.
            RateControl::Fixed | RateControl::Minstrel | RateControl::Ideal => {}
            RateControl::Arf { up, down } => of.count_in_a_row(is_acknowledged, up, down, highest),
            RateControl::Periodic { period } => of.count_in_period(now, is_acknowledged, period, highest),
        }
    }
}

impl Neighbour {
    const fn new(now: Instant, rate: usize) -> Self {
        let (successes, failures, sent, failed, good) = (0, 0, 0, 0, 0);
        Self { rate, successes, failures, is_on_trial: false, until: now, sent, failed, good, patience: 1 }
    }

    fn count_in_a_row(&mut self, is_acknowledged: bool, up: u32, down: u32, highest: usize) {
        let was_on_trial = std::mem::take(&mut self.is_on_trial);
        if is_acknowledged {
            (self.successes, self.failures) = (self.successes + 1, 0);
            if self.successes >= up && self.rate < highest {
                (self.rate, self.successes, self.is_on_trial) = (self.rate + 1, 0, true);
            }
            return;
        }
        (self.successes, self.failures) = (0, self.failures + 1);
        if self.failures >= down || was_on_trial {
            (self.rate, self.failures) = (self.rate.saturating_sub(1), 0);
        }
    }

    fn count_in_period(&mut self, now: Instant, is_acknowledged: bool, period: Duration, highest: usize) {
        if now >= self.until {
            // The first frame of all opens the first period.
            self.judge(highest);
            self.until = now + period;
            (self.sent, self.failed) = (0, 0);
        }
        self.sent += 1;
        self.failed += u32::from(!is_acknowledged);
    }

    /// A period is over: more than a third failed, down; fewer than a tenth, and often enough in a row, up.
    fn judge(&mut self, highest: usize) {
        let was_on_trial = self.is_on_trial;
        if self.failed * 3 > self.sent {
            self.patience = if was_on_trial { (self.patience * 2).min(PATIENCE_MAX) } else { 1 };
            (self.rate, self.good, self.is_on_trial) = (self.rate.saturating_sub(1), 0, false);
        } else if self.sent >= ENOUGH && self.failed * 10 < self.sent {
            self.good += 1;
            self.is_on_trial = false;
            if self.good >= self.patience && self.rate < highest {
                (self.rate, self.good, self.is_on_trial) = (self.rate + 1, 0, true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{HR_DSSS_RATES, OFDM_RATES};
    use proptest::prelude::*;

    const TO: Address = Address(1);

    fn mbps(rates: &RateSelection) -> u64 {
        rates.rate(TO).unwrap().bit_rate.as_bps() / 1_000_000
    }

    #[test]
    fn arf_falls_after_two_failures_and_rises_after_ten_successes() {
        let mut rates = RateSelection::new(RateControl::ARF, &OFDM_RATES);
        let mut tell = |times: u32, is_acknowledged| {
            (0..times).for_each(|_| rates.on_attempt(Instant::ZERO, TO, is_acknowledged));
            mbps(&rates)
        };
        assert_eq!((tell(1, false), tell(1, true), tell(1, false)), (54, 54, 54));
        assert_eq!((tell(1, false), tell(9, true), tell(1, true)), (48, 48, 54));
        // The first frame after a rise fails: down at once.
        assert_eq!((tell(2, false), tell(10, true), tell(1, false)), (48, 54, 48));
        assert_eq!(tell(100, false), 6);
    }

    #[test]
    fn a_period_keeps_its_rate_and_a_rise_that_fails_is_tried_less_often() {
        let mut rates = RateSelection::new(RateControl::PERIODIC, &OFDM_RATES);
        let mut at = Instant::ZERO;
        // Twenty frames a second for a second, at a rate that only 48 and below carry.
        let mut second = |best: u64| {
            let began = mbps(&rates);
            for _ in 0..20 {
                rates.on_attempt(at, TO, mbps(&rates) <= best);
                at += Duration::from_millis(50);
            }
            began
        };
        let seen: Vec<u64> = (0..12).map(|_| second(48)).collect();
        // The verdict falls with the first frame of the next second.
        assert_eq!(seen, [54, 54, 48, 54, 48, 48, 54, 48, 48, 48, 48, 54]);
    }

    #[test]
    fn neighbours_have_rates_of_their_own_and_a_fixed_rate_stays() {
        let mut rates = RateSelection::new(RateControl::ARF, &OFDM_RATES);
        rates.on_attempt(Instant::ZERO, Address(2), false);
        rates.on_attempt(Instant::ZERO, Address(2), false);
        assert_eq!((mbps(&rates), rates.rate(Address(2)).unwrap()), (54, OFDM_RATES[6]));
        let mut fixed = RateSelection::new(RateControl::Fixed, &OFDM_RATES[..3]);
        (0..9).for_each(|_| fixed.on_attempt(Instant::ZERO, TO, false));
        assert_eq!(mbps(&fixed), 12);
    }

    #[test]
    fn a_neighbour_may_have_rates_that_others_do_not_have() {
        let mut rates = RateSelection::new(RateControl::ARF, &OFDM_RATES);
        rates.set_rates(Address(2), &HR_DSSS_RATES[..3]);
        let kbps = |rates: &RateSelection| rates.rate(Address(2)).unwrap().bit_rate.as_bps() / 1_000;
        assert_eq!((mbps(&rates), kbps(&rates)), (54, 5_500));
        (0..2).for_each(|_| rates.on_attempt(Instant::ZERO, Address(2), false));
        assert_eq!((mbps(&rates), kbps(&rates)), (54, 2_000));
        let mut fixed = RateSelection::new(RateControl::Fixed, &OFDM_RATES);
        assert!(fixed.is_fixed());
        fixed.set_rates(Address(2), &HR_DSSS_RATES[..1]);
        assert!(!fixed.is_fixed(), "it depends on the neighbour");
        assert_eq!((mbps(&fixed), kbps(&fixed)), (54, 1_000));
    }

    proptest! {
        /// Against the rule in one sentence: the last ten successes or two failures decide the rate.
        #[test]
        fn arf_is_its_rule(attempts in proptest::collection::vec(any::<bool>(), 0..400)) {
            let mut rates = RateSelection::new(RateControl::ARF, &OFDM_RATES);
            let (mut rate, mut row, mut is_new) = (7usize, Vec::new(), false);
            for ok in attempts {
                rates.on_attempt(Instant::ZERO, TO, ok);
                if row.last() != Some(&ok) {
                    row.clear();
                }
                row.push(ok);
                let (fresh, before) = (std::mem::take(&mut is_new), rate);
                if ok && row.len() >= 10 && rate < 7 {
                    (rate, is_new) = (rate + 1, true);
                    row.clear();
                } else if !ok && (row.len() == 2 || fresh) {
                    rate = rate.saturating_sub(1);
                    row.clear();
                }
                prop_assert_eq!(rates.rate(TO).unwrap(), OFDM_RATES[rate], "after {:?} at {}", row, before);
            }
        }
    }
}
