//! The delay control of a flow in the queue (RFC 8289): when its sender is told to slow down, by a drop or a mark.
//!
//! The queue never gives up a packet that has a place in its flow. So a decision on the delay of the first packet hits
//! the flow's next one, and its sender hears of it when all that waits has left.

use super::targets::Step;
use airbraid_units::{Duration, Instant};

/// Bytes of one full packet: where no more waits there is no queue (RFC 8289, section 5.6).
pub const PACKET: u64 = 1_514;
/// Shortest time that a delay must last before it is acted on (RFC 8289, section 4.2: a worst round trip).
const INTERVAL: Duration = Duration::from_millis(100);
/// Multiple of the target from which on a delay is acted on at once, chosen: slow start would double it again.
const MUCH: u64 = 3;

/// The delays that a flow may have.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// It is told to slow down when it has waited longer for an interval, and at once when it has waited for `much`.
    pub target: Duration,
    much: Duration,
    interval: Duration,
}

impl Patience {
    /// That of a flow with these terms. One that was never told may wait for any member: what it will send is unknown,
    /// and its sender grows as fast again only long after it was told. Its window has doubled when it hears of it.
    pub fn of(step: &Step, longest: Duration, was_told: bool) -> Self {
        let interval = step.rtt.max(INTERVAL);
        if was_told {
            Self { target: step.target, much: step.target * MUCH, interval }
        } else {
            Self { target: longest, much: longest, interval }
        }
    }
}

/// The delay control of one flow (RFC 8289, section 5).
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    /// Time at which the delay will have been too long for an interval.
    above_at: Option<Instant>,
    /// Whether the flow is being told to slow down.
    pub is_telling: bool,
    /// Time of the next drop or mark.
    next_at: Instant,
    /// Drops or marks of this row.
    count: u32,
    /// Number of packets to drop or mark.
    pub due: u32,
}

impl Control {
    /// The flow's first packet leaves after `waited`; `bytes` wait behind it.
    pub fn on_taken(&mut self, now: Instant, waited: Duration, patience: Patience, bytes: u64) {
        if waited < patience.target || bytes <= PACKET {
            (self.above_at, self.is_telling, self.due) = (None, false, 0);
            return;
        }
        let interval = patience.interval;
        let above_at = *self.above_at.get_or_insert(now.saturating_add(interval));
        match self.is_telling {
            // A flow that has just begun doubles its window each round trip: it is told at once.
            false if now >= above_at || waited > patience.much => self.begin(now, waited, interval),
            true if now >= self.next_at => {
                self.count = self.count.saturating_add(1);
                self.suffer(self.next_at, waited, interval);
            }
            _ => {}
        }
    }

    /// The delay has been too long for too long. What the sender was told last in the row before may have had no effect
    /// yet; to be told twice of one queue would cost it half of its window.
    fn begin(&mut self, now: Instant, waited: Duration, interval: Duration) {
        if now < self.next_at {
            return;
        }
        self.is_telling = true;
        self.count = 1;
        self.suffer(now, waited, interval);
    }

    /// One packet is dropped or marked, and the next one in `interval / sqrt(count)` after it can have an effect. It is
    /// the last that waits, so that the receiver misses it as late as the others have left; and a packet that comes
    /// when the sender knows tells how long it has waited when it leaves.
    fn suffer(&mut self, from: Instant, waited: Duration, interval: Duration) {
        self.due = 1;
        let root = (u64::from(self.count) << 16).isqrt().max(1);
        let spacing = Duration::from_nanos((interval.as_nanos() << 8) / root);
        self.next_at = from.saturating_add(spacing).saturating_add(waited * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const TARGET: Duration = Duration::from_millis(30);

    const fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// That of a flow that was told before.
    fn patience(step: &Step) -> Patience {
        Patience::of(step, Duration::ZERO, true)
    }

    #[test]
    fn a_flow_is_told_after_an_interval_of_delay_and_then_at_shorter_ones() {
        // RFC 8289, section 4: 100 ms, and that by the root of the number.
        let patience = patience(&Step { target: TARGET, ..Step::default() });
        let mut control = Control::default();
        let mut due = |us: u64, waited: Duration, bytes: u64| {
            control.due = 0;
            control.on_taken(Instant::from_nanos(us * 1_000), waited, patience, bytes);
            control.due
        };
        assert_eq!([0, 99_999, 100_000].map(|us| due(us, TARGET, 10_000)), [0, 0, 1]);
        // The next after what waits has left twice, 30 ms each, and the interval.
        assert_eq!([259_999, 260_000].map(|us| due(us, TARGET, 10_000)), [0, 1]);
        assert_eq!([390_700, 390_720].map(|us| due(us, TARGET, 10_000)), [0, 1], "70.7 ms later");
        assert_eq!([508_400, 508_600].map(|us| due(us, TARGET, 10_000)), [0, 1], "57.7 ms later");
        // It ends with the delay, or where no more than one packet waits. The next row begins as the first, but not
        // before the last drop of the other can have had an effect: 110 ms after 508.6.
        assert_eq!(due(509_000, TARGET - Duration::from_micros(1), 10_000), 0);
        assert_eq!([509_001, 609_001, 618_300].map(|us| due(us, TARGET, 10_000)), [0, 0, 0]);
        assert_eq!([618_700, 778_699, 778_700].map(|us| due(us, TARGET, 10_000)), [1, 0, 1], "100 ms later");
        assert_eq!([900_000, 920_000, 999_999].map(|us| due(us, TARGET, 1_514)), [0, 0, 0]);
    }

    #[test]
    fn a_flow_whose_delay_is_three_times_the_target_is_told_at_once() {
        let step = Step { target: TARGET, ..Step::default() };
        let told = |waited: Duration| {
            let mut control = Control::default();
            control.on_taken(at(0), waited, patience(&step), 10_000);
            control.due
        };
        assert_eq!([MS * 90, MS * 91].map(told), [0, 1]);
        // The same while the interval runs, which is the longest round trip.
        let step = Step { rtt: MS * 200, ..step };
        let mut control = Control::default();
        for (ms, waited, due) in [(0, 40, 0), (199, 40, 0), (199, 91, 1)] {
            control.on_taken(at(ms), MS * waited, patience(&step), 10_000);
            assert_eq!(control.due, due, "{ms} ms");
        }
        assert_eq!(control.next_at, at(581));
    }
}
