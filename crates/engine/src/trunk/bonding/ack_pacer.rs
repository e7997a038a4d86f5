//! Paces the acknowledgements of a flow whose packets wait here.
//!
//! An acknowledgement lets its sender send more. Of a flow with packets in the queue that would only wait, too. So its
//! acknowledgements pass at intervals, and each tells what those before it told.
//!
//! The delay of such a flow grows because a slower member needs packets that wait, which is no congestion. HyStart
//! (`tcp_cubic.c`) takes it for that, and ends slow start, if it has more than eight samples of a round trip.

use super::flow_seq::{BUCKETS, FlowSeq};
use super::memory::ENTRY;
use super::order::Ordered;
use super::service::BondDropReason;
use crate::machine::Wake;
use crate::packet::Packet;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// The newest acknowledgement of a flow, which waits.
#[derive(Debug)]
struct Held<P> {
    place: FlowSeq,
    packet: P,
    until: Instant,
}

/// When the next acknowledgement of a flow has to pass: at the earlier of both times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckPace {
    /// Time since the one before.
    pub interval: Duration,
    /// Time for which what waits keeps the near members busy, as far as a sender's timer allows.
    pub busy: Duration,
}

#[derive(Debug)]
pub struct AckPacer<P> {
    /// Time at which the last acknowledgement of each bucket passed.
    passed_at: Vec<Instant>,
    /// At most one of a bucket.
    held: VecDeque<Held<P>>,
}

impl<P: Packet> AckPacer<P> {
    /// Nothing has come.
    pub fn new() -> Self {
        Self { passed_at: vec![Instant::ZERO; 2 * usize::from(BUCKETS)], held: VecDeque::new() }
    }

    /// An acknowledgement has come, whose flow needs them at this pace.
    pub fn on_ack(
        &mut self,
        now: Instant,
        (place, packet): (FlowSeq, P),
        pace: AckPace,
        mut give: impl FnMut(Ordered<P>),
    ) {
        let Some(passed_at) = self.passed_at.get_mut(usize::from(place.bucket)) else {
            return give(Ordered::Deliver(packet));
        };
        let until = passed_at.saturating_add(pace.interval).min(now.saturating_add(pace.busy));
        if self.held.is_empty() && until <= now {
            *passed_at = now;
            return give(Ordered::Deliver(packet));
        }
        match self.held.iter().position(|held| held.place.bucket == place.bucket) {
            None => self.held.push_back(Held { place, packet, until }),
            Some(index) => {
                let held = &mut self.held[index];
                if FlowSeq::distance(place.number, held.place.number) > 0 && packet.supersedes(&held.packet) {
                    (held.place, held.until) = (place, held.until.min(until));
                    let older = std::mem::replace(&mut held.packet, packet);
                    give(Ordered::Drop(older, BondDropReason::Superseded));
                } else {
                    // Each tells something that the other does not.
                    self.pass(now, index, &mut give);
                    self.held.push_back(Held { place, packet, until: now });
                }
            }
        }
        self.pass_due(now, give);
    }

    /// Passes the one at a place among those that wait.
    fn pass(&mut self, now: Instant, index: usize, give: &mut impl FnMut(Ordered<P>)) -> bool {
        let Some(held) = self.held.remove(index) else { return false };
        self.passed_at[usize::from(held.place.bucket)] = now;
        give(Ordered::Deliver(held.packet));
        true
    }

    /// Passes those that have waited long enough.
    pub fn pass_due(&mut self, now: Instant, mut give: impl FnMut(Ordered<P>)) {
        while let Some(index) = self.held.iter().position(|held| held.until <= now) {
            self.pass(now, index, &mut give);
        }
    }

    /// Passes the one that has waited longest. Returns whether one has waited.
    pub fn pass_first(&mut self, now: Instant, mut give: impl FnMut(Ordered<P>)) -> bool {
        self.pass(now, 0, &mut give)
    }

    /// When the next one may pass.
    pub fn wake(&self) -> Option<Wake> {
        let at = self.held.iter().map(|held| held.until).min()?;
        Some(Wake { at, why: "tunnel.acknowledgement" })
    }

    /// Number of those that wait.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Memory of those that wait \[byte\].
    pub fn occupied(&self) -> u64 {
        self.held.iter().map(|held| held.packet.footprint() + ENTRY).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Bytes;

    const MS: Duration = Duration::from_millis(1);

    /// An acknowledgement of so much, perhaps with gaps.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Ack(u32, bool);

    impl Packet for Ack {
        fn len(&self) -> Bytes {
            Bytes::new(52)
        }
        fn flow_bucket(&self) -> u16 {
            0
        }
        fn supersedes(&self, older: &Self) -> bool {
            self.0 > older.0 && !self.1 && !older.1
        }
    }

    /// A pacer, and what came of each acknowledgement: its number, and whether it was delivered.
    struct Pacer(AckPacer<Ack>, Vec<(u32, bool)>);

    impl Pacer {
        fn new() -> Self {
            Self(AckPacer::new(), vec![])
        }
        fn at(ms: u64) -> Instant {
            Instant::ZERO + Duration::from_secs(1) + MS * ms
        }
        fn ack(&mut self, ms: u64, place: (u16, u32), ack: Ack, interval: u64) {
            self.ack_while_busy(ms, place, ack, (interval, 1_000));
        }
        /// The same where what waits keeps the near members busy for `busy` milliseconds.
        fn ack_while_busy(&mut self, ms: u64, place: (u16, u32), ack: Ack, (interval, busy): (u64, u64)) {
            let (given, (bucket, number)) = (&mut self.1, place);
            let pace = AckPace { interval: MS * interval, busy: MS * busy };
            self.0.on_ack(Self::at(ms), (FlowSeq { bucket, number }, ack), pace, |ordered| note(given, ordered));
        }
        fn pass_due(&mut self, ms: u64) {
            let given = &mut self.1;
            self.0.pass_due(Self::at(ms), |ordered| note(given, ordered));
        }
        fn given(&mut self) -> Vec<(u32, bool)> {
            std::mem::take(&mut self.1)
        }
    }

    fn note(given: &mut Vec<(u32, bool)>, ordered: Ordered<Ack>) {
        given.push(match ordered {
            Ordered::Deliver(ack) => (ack.0, true),
            Ordered::Drop(ack, reason) => {
                assert_eq!(reason, BondDropReason::Superseded);
                (ack.0, false)
            }
        });
    }

    #[test]
    fn one_passes_in_an_interval_and_it_is_the_newest() {
        let mut pacer = Pacer::new();
        (0..4).for_each(|n| pacer.ack(n.into(), (1, n), Ack(n, false), 10));
        assert_eq!(pacer.given(), [(0, true), (1, false), (2, false)]);
        assert_eq!((pacer.0.wake().map(|wake| wake.at), pacer.0.len()), (Some(Pacer::at(10)), 1));
        pacer.pass_due(9);
        assert_eq!((pacer.given(), pacer.0.occupied()), (vec![], 52 + ENTRY));
        pacer.pass_due(10);
        assert_eq!((pacer.given(), pacer.0.occupied(), pacer.0.wake()), (vec![(3, true)], 0, None));
        pacer.ack(19, (1, 4), Ack(4, false), 10);
        assert_eq!(pacer.given(), []);
        pacer.ack(20, (1, 5), Ack(5, false), 10);
        assert_eq!(pacer.given(), [(4, false), (5, true)]);
    }

    #[test]
    fn one_passes_before_the_near_members_are_idle() {
        let mut pacer = Pacer::new();
        pacer.ack_while_busy(0, (1, 0), Ack(0, false), (10, 3));
        pacer.ack_while_busy(1, (1, 1), Ack(1, false), (10, 3));
        assert_eq!(pacer.0.wake().map(|wake| wake.at), Some(Pacer::at(4)));
        // That more waits meanwhile changes nothing, and that less does is known.
        pacer.ack_while_busy(2, (1, 2), Ack(2, false), (10, 8));
        assert_eq!(pacer.0.wake().map(|wake| wake.at), Some(Pacer::at(4)));
        pacer.ack_while_busy(3, (1, 3), Ack(3, false), (10, 0));
        assert_eq!(pacer.given(), [(0, true), (1, false), (2, false), (3, true)]);
    }

    #[test]
    fn without_an_interval_each_passes_and_so_does_the_one_that_waited() {
        let mut pacer = Pacer::new();
        (0..3).for_each(|n| pacer.ack(0, (1, n), Ack(n, false), 0));
        assert_eq!(pacer.given(), [(0, true), (1, true), (2, true)]);
        pacer.ack(1, (1, 3), Ack(3, false), 10);
        pacer.ack(2, (1, 4), Ack(4, false), 0);
        assert_eq!(pacer.given(), [(3, false), (4, true)]);
    }

    #[test]
    fn one_that_tells_something_else_passes_with_the_one_that_waits_and_none_is_lost() {
        // With gaps, of as much, and one that was overtaken.
        for (number, ack) in [(2, Ack(2, true)), (2, Ack(1, false)), (0, Ack(0, false))] {
            let mut pacer = Pacer::new();
            pacer.ack(0, (1, 0), Ack(0, false), 10);
            pacer.ack(1, (1, 1), Ack(1, false), 10);
            pacer.ack(2, (1, number), ack, 10);
            assert_eq!(pacer.given(), [(0, true), (1, true), (ack.0, true)], "{ack:?}");
        }
    }

    #[test]
    fn flows_have_intervals_of_their_own() {
        let mut pacer = Pacer::new();
        pacer.ack(0, (1, 0), Ack(10, false), 10);
        pacer.ack(0, (2, 0), Ack(20, false), 10);
        pacer.ack(1, (1, 1), Ack(11, false), 10);
        pacer.ack(2, (2, 1), Ack(21, false), 4);
        pacer.ack(3, (3, 0), Ack(30, false), 10);
        assert_eq!(pacer.given(), [(10, true), (20, true), (30, true)]);
        pacer.pass_due(4);
        assert_eq!(pacer.given(), [(21, true)]);
    }

    #[test]
    fn for_want_of_memory_the_first_passes() {
        let mut pacer = Pacer::new();
        [(1, 0), (2, 0), (2, 1), (1, 1)].into_iter().for_each(|place| {
            pacer.ack(0, place, Ack(u32::from(place.0), false), if place.1 == 0 { 0 } else { 10 });
        });
        pacer.given();
        let mut given = vec![];
        while pacer.0.pass_first(Pacer::at(1), |ordered| note(&mut given, ordered)) {}
        assert_eq!((given, pacer.0.len()), (vec![(2, true), (1, true)], 0));
    }
}
