//! The packets that a member may hold: a number, or what it delivers in a time.
//!
//! A member that sends one frame at a time needs one packet; one that sends A-MPDUs can only aggregate what it holds,
//! and a packet that waits in a slow member is waited for at the other end. Both ask for the same measure: not
//! packets but the time in which a member delivers them. The kernel's queues for Wi-Fi are limited so, by airtime.

use airbraid_units::{Duration, Instant};

/// Packets of a member whose rate is not known yet.
const FIRST: u32 = 4;
/// A rate is measured over at least this part of the time that a member may hold.
const PART: u64 = 2;

/// The packets that one member may hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowance {
    /// Packets that it may hold now.
    pub limit: u32,
    /// Beginning of the measurement, moved on by the time in which the member held nothing.
    since: Instant,
    /// Packets that it has finished since.
    finished: u32,
    /// Instant at which it ran empty, if it holds nothing.
    empty_since: Option<Instant>,
}

impl Allowance {
    /// At most `most` packets; with a time for which a member may hold packets, few at first.
    pub fn new(most: u32, time: Option<Duration>) -> Self {
        let limit = if time.is_some() { FIRST.min(most) } else { most };
        Self { limit, empty_since: Some(Instant::ZERO), ..Self::default() }
    }

    /// The member takes a packet.
    pub fn on_given(&mut self, now: Instant) {
        if let Some(empty) = self.empty_since.take() {
            self.since = self.since.saturating_add(now.saturating_since(empty));
        }
    }

    /// The member has finished with a packet and holds `held` still; it may hold what it delivers in `time`, and
    /// `most`.
    pub fn on_finished(&mut self, now: Instant, held: u32, (most, time): (u32, Duration)) {
        // Packets that are finished at one instant belong to the time before it.
        let span = now.saturating_since(self.since);
        if self.finished > 0 && span.saturating_mul(PART) >= time {
            let carried = u128::from(self.finished) * u128::from(time.as_nanos()) / u128::from(span.as_nanos().max(1));
            self.limit = u32::try_from(carried).unwrap_or(most).clamp(1, most);
            (self.since, self.finished) = (now, 0);
        }
        self.finished += 1;
        if held == 0 {
            self.empty_since = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_millis(8);

    /// A member that sends what it holds at once, `most` at a time, each burst `fixed` and `each` for a packet \[us\];
    /// returns its limit after 100 bursts.
    fn settles_at(most: u32, fixed: u64, each: u64) -> u32 {
        let (mut allowance, mut now) = (Allowance::new(4_096, Some(TIME)), Instant::ZERO);
        for _ in 0..100 {
            allowance.on_given(now);
            let burst = allowance.limit.min(most);
            now = now.saturating_add(Duration::from_micros(fixed + each * u64::from(burst)));
            let left = allowance.limit - burst;
            for _ in 0..burst {
                allowance.on_finished(now, left + 1, (4_096, TIME));
            }
        }
        allowance.limit
    }

    #[test]
    fn a_member_holds_what_it_delivers_in_the_time() {
        // About 802.11ax, 80 MHz: 256 MPDUs of 20 us and 170 us an access are 48.4 packets a millisecond.
        assert!((383..=391).contains(&settles_at(256, 170, 20)), "{}", settles_at(256, 170, 20));
        // 20 MHz: 37 MPDUs in 5.4 ms.
        assert!((50..=56).contains(&settles_at(37, 170, 143)), "{}", settles_at(37, 170, 143));
        // One frame at a time, of 1.5 ms.
        assert!((4..=6).contains(&settles_at(1, 0, 1_500)), "{}", settles_at(1, 0, 1_500));
    }

    #[test]
    fn time_without_packets_does_not_count() {
        let mut allowance = Allowance::new(100, Some(TIME));
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        for ms in 0..200 {
            // A packet each 10 ms, of 1 ms.
            allowance.on_given(at(10 * ms));
            allowance.on_finished(at(10 * ms + 1), 0, (100, TIME));
        }
        assert!((7..=9).contains(&allowance.limit), "{}", allowance.limit);
    }

    #[test]
    fn a_number_stays_as_it_is() {
        assert_eq!((Allowance::new(7, None).limit, Allowance::new(2, Some(TIME)).limit), (7, 2));
    }

    /// 8 ms: what was finished in a span of 4 ms at least, times the part of the time. The first packet that is
    /// finished measures nothing.
    #[test]
    fn a_measurement_takes_half_of_the_time_and_a_packet_before() {
        let at = |us: u64| Instant::from_nanos(us * 1_000);
        let after = |finished: &[u64]| {
            let mut allowance = Allowance::new(100, Some(TIME));
            allowance.on_given(at(0));
            finished.iter().for_each(|us| allowance.on_finished(at(*us), 1, (100, TIME)));
            allowance.limit
        };
        assert_eq!(after(&[9_000]), FIRST, "one packet");
        assert_eq!((after(&[1_000, 3_999]), after(&[1_000, 4_000])), (FIRST, 2), "one in 4 ms are two in 8");
        assert_eq!(after(&[1_000, 2_000, 3_000, 4_000]), 6, "three in 4 ms");
        assert_eq!(after(&[1_000, 40_000]), 1, "one at least");
        let many: Vec<u64> = (0..300).map(|n| 10 * n).chain([4_000]).collect();
        assert_eq!(after(&many), 100, "and no more than the most");
    }
}
