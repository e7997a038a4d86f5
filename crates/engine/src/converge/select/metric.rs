//! The cost of a packet on a way: five metrics behind one trait.

use super::config::{Measure, Policy};
use super::loss::LossShare;
use super::port::PortConfig;
use super::table::Way;
use crate::packet::TrafficClass;
use airbraid_units::{BitRate, Bytes, Instant};

/// The inputs of a metric.
#[derive(Clone, Copy, Debug)]
pub struct Cost<'a> {
    pub now: Instant,
    pub port: &'a PortConfig,
    /// The state of the neighbour there.
    pub way: &'a Way,
    /// Bytes in the port's own queue.
    pub backlog: Bytes,
    pub policy: &'a Policy,
}

/// The cost of a packet on a usable way.
pub trait Metric {
    /// The cost, the less the better; `None` if the way should be used only where there is no other.
    fn cost(&self, of: &Cost<'_>, class: TrafficClass, len: Bytes) -> Option<u64>;
    /// Whether the present choice should stay unless another is better by the policy's margin.
    fn has_margin(&self) -> bool {
        true
    }
}

/// The preferred one of those whose SNR is above their threshold (the paper).
#[derive(Clone, Copy, Debug)]
pub struct SnrThreshold;

/// Transmissions until a frame is acknowledged (ETX; De Couto, Aguayo, Bicket and Morris 2003) \[thousandths\].
#[derive(Clone, Copy, Debug)]
pub struct ExpectedTransmissions;

/// Time on the air until a frame is acknowledged (ETT; Draves, Padhye and Zill 2004) \[ns\]. It knows rates and needs
/// no threshold.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedTime;

/// Time until a frame is acknowledged, with those that wait before it \[ns\].
#[derive(Clone, Copy, Debug)]
pub struct Load;

/// Time in which a TCP delivers a packet \[ns\]: that on the air, again for losses behind the MAC, and the packet's
/// share of the timeouts that gaps cause, after the throughput equation of TCP (RFC 5348, section 3.1). The term of
/// that equation with the round trip is left out: on a short way the window is large enough, and the length of the
/// whole path is not known here.
#[derive(Clone, Copy, Debug)]
pub struct Goodput;

/// One, in the unit of shares.
const MILLION: u64 = 1_000_000;

/// Timeouts for each packet \[millionths\]: min(1, (2 + B) / w) e (1 + 32 p^2), w = sqrt(8 / 3 e) (Padhye, Firoiu,
/// Towsley and Kurose 1998, equations 13, 25 and 30, an acknowledgement a packet) at a share p of losses, in gaps of B
/// on average, e of them a packet. Theirs is B = 1: a window w of which less than three are left to tell of the gap
/// ends with a timeout.
fn timeouts(LossShare { missing, gaps }: LossShare) -> u64 {
    if gaps == 0 {
        return 0;
    }
    let of_window = (3 * gaps * MILLION / 8).isqrt();
    let is_timeout = (of_window * (2 * gaps + missing) / gaps).min(MILLION);
    let backed_off = MILLION + 32 * missing * missing / MILLION;
    is_timeout * gaps / MILLION * backed_off / MILLION
}

impl Cost<'_> {
    /// The rate that the port reports, or else the one that the SNR allows.
    fn rate(&self) -> Option<BitRate> {
        let by_snr = || self.way.snr().and_then(|snr| self.port.rate_at(snr));
        let slowest = || self.port.rates.first().map(|step| step.rate);
        self.way.rate(self.now, self.policy).or_else(by_snr).or_else(slowest)
    }

    /// Time on the air of `len`, retransmissions included \[ns\].
    fn time(&self, len: Bytes) -> Option<u64> {
        let transmissions = self.way.expected_transmissions(self.now, self.policy)?;
        let once = self.port.overhead + self.rate()?.time_for(len);
        Some(once.as_nanos().saturating_mul(transmissions) / 1_000)
    }
}

impl Metric for SnrThreshold {
    fn cost(&self, of: &Cost<'_>, class: TrafficClass, _: Bytes) -> Option<u64> {
        let is_good = of.port.threshold(class).is_none() || of.way.is_good(class);
        is_good.then_some(u64::from(of.port.rank))
    }
    // The hysteresis is in the way's being good.
    fn has_margin(&self) -> bool {
        false
    }
}

impl Metric for ExpectedTransmissions {
    fn cost(&self, of: &Cost<'_>, _: TrafficClass, _: Bytes) -> Option<u64> {
        of.way.expected_transmissions(of.now, of.policy)
    }
}

impl Metric for ExpectedTime {
    fn cost(&self, of: &Cost<'_>, _: TrafficClass, len: Bytes) -> Option<u64> {
        of.time(len)
    }
}

impl Metric for Goodput {
    fn cost(&self, of: &Cost<'_>, class: TrafficClass, len: Bytes) -> Option<u64> {
        let loss = of.way.loss();
        let come = MILLION.checked_sub(loss.missing).filter(|come| *come > 0)?;
        let time = (u128::from(of.time(len)?) * u128::from(MILLION) / u128::from(come)) as u64;
        // Nobody waits for what real-time traffic has lost.
        let waits = if class == TrafficClass::Bulk { timeouts(loss) } else { 0 };
        Some(time.saturating_add(of.policy.rto.as_nanos().saturating_mul(waits) / MILLION))
    }
}

impl Metric for Load {
    fn cost(&self, of: &Cost<'_>, _: TrafficClass, len: Bytes) -> Option<u64> {
        // What waits are packets of about this length, each with its overhead.
        let ahead = of.backlog.as_u64().div_ceil(len.as_u64().max(1));
        Some(of.time(len)?.saturating_mul(ahead + 1))
    }
}

impl Measure {
    pub const fn metric(self) -> &'static dyn Metric {
        match self {
            Self::SnrThreshold => &SnrThreshold,
            Self::ExpectedTransmissions => &ExpectedTransmissions,
            Self::ExpectedTime => &ExpectedTime,
            Self::Load => &Load,
            Self::Goodput => &Goodput,
        }
    }
    /// Whether it uses losses behind the MAC, so that frames must be numbered.
    pub const fn needs_numbers(self) -> bool {
        matches!(self, Self::Goodput)
    }
}

#[cfg(test)]
mod tests {
    use super::super::arrivals::Tally;
    use super::super::port::{MilliDb, RateStep};
    use super::super::service::Beacon;
    use super::*;
    use airbraid_units::{Duration, SeqNum};

    #[test]
    fn timeouts_are_those_of_the_equation() {
        // min(1, 3 sqrt(3p/8)) p (1 + 32 p^2), reckoned apart \[millionths\].
        for (p, theirs) in
            [(0, 0), (100, 2), (10_900, 2_099), (44_200, 18_139), (300_000, 1_164_000), (1_000_000, 33_000_000)]
        {
            let ours = timeouts(LossShare { missing: p, gaps: p });
            assert!(ours.abs_diff(theirs) <= theirs / 1_000 + 3, "{p}: {ours}, {theirs}");
        }
        // As many losses in pairs: half as many gaps, each of which is rather a timeout; worse than single ones as
        // rare, better than single losses as many.
        let pairs = timeouts(LossShare { missing: 40_000, gaps: 20_000 });
        let [rare, many] = [20_000, 40_000].map(|p| timeouts(LossShare { missing: p, gaps: p }));
        assert!(rare < pairs && pairs < many, "{rare} {pairs} {many}");
    }

    /// Frames that were lost behind the MAC are worth nothing: such a way has no cost, and is used only where there is
    /// no other.
    #[test]
    fn a_way_behind_which_everything_is_lost_has_no_cost() {
        let policy = Policy::default();
        let rates = vec![RateStep { from: MilliDb(0), rate: BitRate::from_bps(11_000_000) }];
        let port = PortConfig { rank: 0, thresholds: None, rates, overhead: Duration::ZERO };
        let mut way = Way::default();
        let cost = |way: &Way| {
            let of = Cost { now: Instant::ZERO, port: &port, way, backlog: Bytes::ZERO, policy: &policy };
            Goodput.cost(&of, TrafficClass::RealTime, Bytes::new(1_375))
        };
        way.on_heard(Instant::ZERO, Some(MilliDb(30_000)), None, &policy);
        assert_eq!(cost(&way), Some(1_000_000));
        for (number, missing) in [(1, 0), (2, 64)] {
            let tally = Tally { arrived: 0, missing, gaps: missing.min(1) };
            way.on_beacon(Beacon { number: SeqNum(number), newest: SeqNum(0), heard: 0, tally });
        }
        assert_eq!(way.loss().missing, MILLION);
        assert_eq!(cost(&way), None);
    }

    /// Only thresholds have their own hysteresis, and only the goodput needs numbers.
    #[test]
    fn measures_differ_in_margin_and_numbers() {
        use Measure::{ExpectedTime, ExpectedTransmissions, Goodput, Load, SnrThreshold};
        let all = [SnrThreshold, ExpectedTransmissions, ExpectedTime, Load, Goodput];
        assert_eq!(all.map(|measure| measure.metric().has_margin()), [false, true, true, true, true]);
        assert_eq!(all.map(Measure::needs_numbers), [false, false, false, false, true]);
    }

    /// A port of 11 Mbit/s and 1 ms a frame, whose way has not lost anything: 1375 byte are 1 ms.
    #[test]
    fn costs_are_ranks_transmissions_and_times() {
        let policy = Policy::default();
        let rates = vec![RateStep { from: MilliDb(0), rate: BitRate::from_bps(11_000_000) }];
        let port = PortConfig { rank: 3, thresholds: None, rates, overhead: Duration::from_millis(1) };
        let mut way = Way::default();
        way.on_heard(Instant::ZERO, Some(MilliDb(30_000)), None, &policy);
        let cost = |measure: Measure, backlog: u64| {
            let of = Cost { now: Instant::ZERO, port: &port, way: &way, backlog: Bytes::new(backlog), policy: &policy };
            measure.metric().cost(&of, TrafficClass::Bulk, Bytes::new(1_375))
        };
        assert_eq!((cost(Measure::SnrThreshold, 0), cost(Measure::ExpectedTransmissions, 0)), (Some(3), Some(1_000)));
        assert_eq!((cost(Measure::ExpectedTime, 9_999), cost(Measure::Goodput, 0)), (Some(2_000_000), Some(2_000_000)));
        // Two and a half wait before it, so three.
        assert_eq!(
            [0, 3_437, 4_125, 4_126].map(|backlog| cost(Measure::Load, backlog)),
            [Some(2_000_000), Some(8_000_000), Some(8_000_000), Some(10_000_000)]
        );
    }
}
