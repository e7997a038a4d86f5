//! Aggregates acknowledgements of a flow now and then, where its sender would otherwise never use a slower member.
//!
//! A slower member serves a flow whose queue holds as much as the faster members carry until the slower one delivers.
//! BBR keeps about two of the shortest round trips under way, paced by deliveries: it fills the faster members, and its
//! queue never holds that much. But BBR adds to its window the bytes that acknowledgements recently brought at once,
//! because Wi-Fi and cable aggregate frames. So the slower member takes the first packet of a flow that fills the
//! faster members and whose share has not waited for two round trips. The packets behind it wait at the far end and are
//! then delivered at once. Order is kept and nothing is lost; the flow pays the difference of the two delays, once in
//! two round trips, until it has enough under way.
//!
//! BBR falls silent now and then to measure the shortest round trip, and derives its window from it: that of the
//! fastest member alone. So the delay of such a flow is equalised after a silence: each member takes the first packet
//! when it is free, and each packet has the delay of the slowest. The flow then gets the window that all members need,
//! and keeps it.
//!
//! A sender that fills its window until a loss has its share waiting soon, and is left alone. So is a flow that does
//! not fill the faster members: the bond must not add delay to its packets. Measured, `docs/measurements/tunnel.md`.

use airbraid_units::{Duration, Instant};

/// Time over which a flow's rate is counted: some tens of packets at a megabit a second, and longer than slow start.
const SPAN: Duration = Duration::from_millis(500);
/// Eighths of the members' rate from which on a flow fills them: the bond's own header is 5 % of a full packet.
const FULL_EIGHTHS: u64 = 7;
/// Time for which a flow still counts as filling: BBR sends next to nothing for 200 ms every ten seconds, to measure
/// the shortest round trip.
const LASTS: Duration = Duration::from_secs(2);
/// Round trips from one aggregate to the next. BBR remembers the greatest of five to ten; one and a half to four give
/// about the same gain.
const EVERY: u64 = 2;
/// A flow without a packet for this part of a round trip is silent. One that waits for an aggregate is silent for less:
/// it has more to send than is aggregated.
const SILENT: u64 = 2;
/// The state of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aggregation {
    /// Begin of the present count, and its bytes.
    since: Instant,
    bytes: u64,
    /// Last time at which it filled the faster members.
    full_at: Option<Instant>,
    /// Last time at which it filled half of the slower one, too.
    more_at: Option<Instant>,
    /// Last time at which its share waited, or its acknowledgements were aggregated.
    enough_at: Instant,
    /// Time of its last packet.
    added_at: Instant,
    /// Its round trip by all members, once its acknowledgements were aggregated.
    round_trip: Option<Duration>,
    is_equalised: bool,
}

/// The lead of the faster members over a slower one.
#[derive(Clone, Copy, Debug)]
pub struct Lead {
    /// Bytes that they carry until a packet arrives by the slower one.
    pub bytes: u64,
    /// Their rate \[bit/s\].
    pub rate: u64,
    /// Rate of the slower one \[bit/s\].
    pub adds: u64,
    /// The round trip of a flow that uses all of them.
    pub round_trip: Duration,
}

impl Lead {
    /// Each flow's part.
    pub const fn of(self, flows: u64) -> Self {
        Self { bytes: self.bytes / flows, rate: self.rate / flows, adds: self.adds / flows, ..self }
    }
}

impl Aggregation {
    /// Counts a packet of the flow that leaves.
    pub const fn on_taken(&mut self, len: u64) {
        self.bytes += len;
    }

    /// Notes a new packet of the flow; `is_first` if none waits before it.
    pub fn on_added(&mut self, now: Instant, is_first: bool) {
        let silence = now.saturating_since(self.added_at);
        self.added_at = now;
        let is_long = self.round_trip.is_some_and(|round_trip| silence * SILENT >= round_trip);
        if is_first && is_long && is_lately(now, self.more_at) {
            self.is_equalised = true;
        }
    }

    /// Whether the flow's delay is equalised.
    pub const fn is_equalised(&self) -> bool {
        self.is_equalised
    }

    /// Whether the slower member takes the flow's first packet; `waiting` byte of it wait.
    pub fn is_due(&mut self, now: Instant, part: Lead, waiting: u64) -> bool {
        self.count(now, part);
        let is_full = is_lately(now, self.full_at);
        if !is_full {
            (self.round_trip, self.is_equalised) = (None, false);
        }
        let has_share = waiting > part.bytes;
        let is_time = self.is_equalised || now.saturating_since(self.enough_at) >= part.round_trip * EVERY;
        let is_due = is_full && !has_share && is_time;
        if is_due {
            self.round_trip = Some(part.round_trip);
        }
        if is_due || has_share {
            self.enough_at = now;
        }
        is_due
    }

    fn count(&mut self, now: Instant, part: Lead) {
        let span = now.saturating_since(self.since);
        if span < SPAN {
            return;
        }
        let carried = u128::from(self.bytes) * 8_000_000 * 8;
        let fills = |rate: u64| carried >= u128::from(rate) * u128::from(span.as_micros()) * u128::from(FULL_EIGHTHS);
        if fills(part.rate) {
            self.full_at = Some(now);
        }
        if fills(part.rate + part.adds / 2) {
            self.more_at = Some(now);
        }
        (self.since, self.bytes) = (now, 0);
    }
}

fn is_lately(now: Instant, at: Option<Instant>) -> bool {
    at.is_some_and(|at| now.saturating_since(at) < LASTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Lead =
        Lead { bytes: 60_000, rate: 10_000_000, adds: 5_000_000, round_trip: Duration::from_millis(100) };

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(10) + Duration::from_millis(ms)
    }

    /// Times in three seconds \[ms\] at which a flow is aggregated that carries `kbps` of 10 Mbit/s and has its share
    /// waiting from `share_ms` on.
    fn aggregated(kbps: u64, share_ms: u64) -> Vec<u64> {
        let mut aggregation = Aggregation::default();
        let is_due = |&ms: &u64| {
            aggregation.on_taken(kbps / 8);
            aggregation.is_due(at(ms), PART, if ms < share_ms { 3_000 } else { 90_000 })
        };
        (0..3_000).filter(is_due).collect()
    }

    #[test]
    fn a_flow_that_fills_faster_members_and_has_too_little_waiting_is_aggregated() {
        assert_eq!(aggregated(9_400, u64::MAX), (0..13).map(|time| 500 + 200 * time).collect::<Vec<_>>());
    }

    #[test]
    fn one_that_has_its_share_waiting_is_left_alone() {
        assert_eq!(aggregated(9_400, 0), []);
        assert_eq!(aggregated(9_400, 800), [500, 700]);
    }

    #[test]
    fn one_that_does_not_fill_them_is_left_alone() {
        assert_eq!(aggregated(8_000, u64::MAX), []);
    }

    /// Whether the delay of a flow of 10 Mbit/s, aggregated, and then of `kbps`, is equalised after `silence` ms.
    fn is_equalised_after(kbps: u64, silence: u64) -> bool {
        let mut aggregation = Aggregation::default();
        let mut come = |ms: u64, kbps: u64| {
            aggregation.on_added(at(ms), true);
            aggregation.on_taken(kbps / 8);
            aggregation.is_due(at(ms), PART, if ms < 1_000 { 3_000 } else { 90_000 });
        };
        (0..1_000).for_each(|ms| come(ms, 9_400));
        (1_000..2_000).for_each(|ms| come(ms, kbps));
        aggregation.on_added(at(2_000 + silence), true);
        aggregation.is_equalised()
    }

    #[test]
    fn one_that_was_aggregated_and_has_used_both_is_equalised_after_a_silence() {
        assert!(is_equalised_after(12_000, 60));
        assert!(!is_equalised_after(12_000, 40), "it waits for its aggregate");
        assert!(!is_equalised_after(10_000, 60), "it has not used the slower one");
        assert!(!is_equalised_after(12_000, 2_000), "that was long ago");
    }

    #[test]
    fn an_equalised_flow_has_all_go_in_turn_while_it_fills_the_faster_ones() {
        let mut aggregation = Aggregation::default();
        (aggregation.is_equalised, aggregation.full_at, aggregation.since) = (true, Some(at(0)), at(0));
        let mut is_due = |ms: u64| aggregation.is_due(at(ms), PART, 0);
        assert!((1..1_999).all(&mut is_due));
        assert!(!is_due(2_001), "it has carried nothing since");
        aggregation.full_at = Some(at(2_001));
        assert!(!aggregation.is_equalised());
    }

    #[test]
    fn it_does_not_begin_again_when_the_sender_pauses_for_a_moment() {
        let mut aggregation = Aggregation::default();
        let mut is_due = |ms: u64, len: u64| {
            aggregation.on_taken(len);
            aggregation.is_due(at(ms), PART, 0)
        };
        assert!(!is_due(0, 0));
        assert!(is_due(500, 600_000));
        assert!(is_due(1_000, 0), "it has carried nothing for half a second");
        assert!(is_due(2_400, 0));
        assert!(!is_due(2_600, 0), "nor for two");
    }
}
