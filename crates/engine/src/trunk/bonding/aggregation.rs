//! Makes what a flow delivers come in bunches now and then, where its sender would otherwise never use a slower member.
//!
//! A slower member serves a flow of which so much waits as the faster ones carry meanwhile. A sender that keeps about two of the shortest
//! round trips under way, paced by what is delivered (BBR), fills the faster members and never has that waiting. But it keeps so much more under
//! way as acknowledgements have lately brought at once: Wi-Fi and cable gather frames, and it has learnt to live with them. So of a flow that
//! fills the faster members, and has not had its whole share waiting for two round trips, the slower member takes the first packet.
//! What comes behind waits for that one at the far end, and is then delivered at once. Order is kept, nothing is lost, and the flow pays with the
//! difference of the two delays, once in two round trips, until it has enough under way.
//!
//! Such a sender falls silent now and then, to see the shortest round trip, and takes its window from what it finds: that of the fastest member
//! alone, of which it never sees anything when it uses all. So what a flow that was bunched has after a silence is levelled: each member takes the
//! first packet when it is free, and each packet has the delay of the slowest. Then it has the window that all members need, and keeps it.
//!
//! A sender that fills its window until something is lost has its share waiting soon, and is left alone. So is a flow that does not fill
//! the faster members: what its packets are waited for is not the tunnel's to waste. Measured, `docs/models/tunnel.md`.

use airbraid_units::{Duration, Instant};

/// What a flow carries is counted over so long: some tens of packets at a megabit a second, and longer than slow start takes.
const SPAN: Duration = Duration::from_millis(500);
/// A flow fills members with so many eighths of their rate, which counts what the tunnel adds to a packet: 5 % of a full one.
const FULL_EIGHTHS: u64 = 7;
/// It still does for so long: when BBR looks for the shortest round trip, every ten seconds, it sends next to nothing for 200 ms.
const LASTS: Duration = Duration::from_secs(2);
/// Round trips from one bunch to the next. BBR remembers the greatest of five to ten; with one and a half to four it gains about the same.
const EVERY: u64 = 2;
/// A flow of which nothing comes for this part of a round trip is silent. One that waits for a bunch is for less: it has more to send than what
/// is bunched.
const SILENT: u64 = 2;
/// What is known of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bunching {
    /// Since when what it carries is counted, and how much that is.
    since: Instant,
    bytes: u64,
    /// When it was last seen to fill the members.
    full_at: Option<Instant>,
    /// And half of the slower one, too.
    more_at: Option<Instant>,
    /// When its share was last waiting, or its arrivals were bunched.
    enough_at: Instant,
    /// When a packet came last.
    added_at: Instant,
    /// Its round trip by all members, once its arrivals were bunched.
    round_trip: Option<Duration>,
    is_level: bool,
}

/// What the members that are faster than a slower one have before it.
#[derive(Clone, Copy, Debug)]
pub struct Lead {
    /// What they carry until the slower one has a packet there \[byte\].
    pub bytes: u64,
    /// How fast \[bit/s\].
    pub rate: u64,
    /// How fast the slower one is \[bit/s\].
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

impl Bunching {
    /// A packet of the flow leaves.
    pub const fn on_taken(&mut self, len: u64) {
        self.bytes += len;
    }

    /// A packet of the flow comes, before which others wait or not.
    pub fn on_added(&mut self, now: Instant, is_first: bool) {
        let silence = now.saturating_since(self.added_at);
        self.added_at = now;
        let is_long = self.round_trip.is_some_and(|round_trip| silence * SILENT >= round_trip);
        if is_first && is_long && is_lately(now, self.more_at) {
            self.is_level = true;
        }
    }

    /// Whether the flow is levelled.
    pub const fn is_level(&self) -> bool {
        self.is_level
    }

    /// Whether the slower member takes the flow's first packet; `waiting` byte of it wait.
    pub fn is_due(&mut self, now: Instant, part: Lead, waiting: u64) -> bool {
        self.count(now, part);
        let is_full = is_lately(now, self.full_at);
        if !is_full {
            (self.round_trip, self.is_level) = (None, false);
        }
        let has_share = waiting > part.bytes;
        let is_time = self.is_level || now.saturating_since(self.enough_at) >= part.round_trip * EVERY;
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

    /// When a flow \[ms\] is bunched in three seconds that carries `kbps` of 10 Mbit/s and has its share waiting from `share_ms` on.
    fn bunched(kbps: u64, share_ms: u64) -> Vec<u64> {
        let mut bunching = Bunching::default();
        let is_due = |&ms: &u64| {
            bunching.on_taken(kbps / 8);
            bunching.is_due(at(ms), PART, if ms < share_ms { 3_000 } else { 90_000 })
        };
        (0..3_000).filter(is_due).collect()
    }

    #[test]
    fn a_flow_that_fills_faster_members_and_has_too_little_waiting_is_bunched() {
        assert_eq!(bunched(9_400, u64::MAX), (0..13).map(|time| 500 + 200 * time).collect::<Vec<_>>());
    }

    #[test]
    fn one_that_has_its_share_waiting_is_left_alone() {
        assert_eq!(bunched(9_400, 0), []);
        assert_eq!(bunched(9_400, 800), [500, 700]);
    }

    #[test]
    fn one_that_does_not_fill_them_is_left_alone() {
        assert_eq!(bunched(8_000, u64::MAX), []);
    }

    /// Whether a flow of 10 Mbit/s, bunched, and then of `kbps`, is levelled after `silence` ms.
    fn is_level_after(kbps: u64, silence: u64) -> bool {
        let mut bunching = Bunching::default();
        let mut come = |ms: u64, kbps: u64| {
            bunching.on_added(at(ms), true);
            bunching.on_taken(kbps / 8);
            bunching.is_due(at(ms), PART, if ms < 1_000 { 3_000 } else { 90_000 });
        };
        (0..1_000).for_each(|ms| come(ms, 9_400));
        (1_000..2_000).for_each(|ms| come(ms, kbps));
        bunching.on_added(at(2_000 + silence), true);
        bunching.is_level()
    }

    #[test]
    fn one_that_was_bunched_and_has_used_both_is_levelled_after_a_silence() {
        assert!(is_level_after(12_000, 60));
        assert!(!is_level_after(12_000, 40), "it waits for what is bunched");
        assert!(!is_level_after(10_000, 60), "it has not used the slower one");
        assert!(!is_level_after(12_000, 2_000), "that was long ago");
    }

    #[test]
    fn a_levelled_flow_has_all_go_in_turn_while_it_fills_the_faster_ones() {
        let mut bunching = Bunching::default();
        (bunching.is_level, bunching.full_at, bunching.since) = (true, Some(at(0)), at(0));
        let mut is_due = |ms: u64| bunching.is_due(at(ms), PART, 0);
        assert!((1..1_999).all(&mut is_due));
        assert!(!is_due(2_001), "it has carried nothing since");
        bunching.full_at = Some(at(2_001));
        assert!(!bunching.is_level());
    }

    #[test]
    fn it_is_not_begun_anew_when_the_sender_pauses_for_a_moment() {
        let mut bunching = Bunching::default();
        let mut is_due = |ms: u64, len: u64| {
            bunching.on_taken(len);
            bunching.is_due(at(ms), PART, 0)
        };
        assert!(!is_due(0, 0));
        assert!(is_due(500, 600_000));
        assert!(is_due(1_000, 0), "it has carried nothing for half a second");
        assert!(is_due(2_400, 0));
        assert!(!is_due(2_600, 0), "nor for two");
    }
}
