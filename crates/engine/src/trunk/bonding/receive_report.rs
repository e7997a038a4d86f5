//! The arrivals on one member, and the report of them.

use super::frame::{AckRange, RUNS_MAX, Report};
use crate::trunk::Member;
use airbraid_units::{Duration, Instant, SeqNum};
use arrayvec::ArrayVec;

/// Steps of time for which an arrival is reported: feedback may be lost, or overtaken on a faster member.
const REPEATS: usize = 8;
/// Length of a step: 400 ms in all, more than most paths differ by.
const STEP: Duration = Duration::from_millis(50);

/// A run of numbers that came.
#[derive(Clone, Copy, Debug)]
struct ReceivedFrame {
    first: SeqNum,
    last: SeqNum,
}

/// The receiving side of one member.
#[derive(Clone, Debug, Default)]
pub struct ReceiveReport {
    runs: ArrayVec<ReceivedFrame, RUNS_MAX>,
    newest_at: Instant,
    /// The first frame that came since the last report, and its arrival.
    first: Option<(SeqNum, Instant)>,
    /// Whether the last frame was padded: of a train, perhaps.
    was_padded: bool,
    /// The newest number at the end of each of the last steps, the oldest first, and the last step.
    reported: ArrayVec<SeqNum, REPEATS>,
    floor: Option<SeqNum>,
    step_at: Instant,
    /// Number of gaps that there were not when the last feedback left.
    pub new_holes: usize,
}

impl ReceiveReport {
    /// Whether any frame has come.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
    /// The newest number that has come.
    pub fn newest(&self) -> Option<SeqNum> {
        self.runs.last().map(|run| run.last)
    }
    /// Arrival of the newest number.
    pub const fn newest_at(&self) -> Instant {
        self.newest_at
    }

    /// Notes a frame. The session has already discarded duplicates. What came before the first padded one does not
    /// count for the span: it would hide the begin of a train.
    pub fn on_number(&mut self, now: Instant, number: SeqNum, is_padded: bool) {
        if is_padded && !self.was_padded {
            self.first = None;
        }
        self.was_padded = is_padded;
        self.first.get_or_insert((number, now));
        let Some(newest) = self.runs.last_mut() else {
            self.runs.push(ReceivedFrame { first: number, last: number });
            self.newest_at = now;
            return;
        };
        match number.distance_from(newest.last) {
            1 => {
                newest.last = number;
                self.newest_at = now;
            }
            2.. => {
                self.new_holes += 1;
                self.newest_at = now;
                self.insert(self.runs.len(), number);
            }
            _ => self.fill(number),
        }
    }

    /// Notes a number that is older than the newest.
    fn fill(&mut self, number: SeqNum) {
        let Some(index) = self.runs.iter().rposition(|run| !number.is_before(run.first)) else {
            // Before the remembered ones: it counts only if it joins the oldest.
            if let Some(oldest) = self.runs.first_mut()
                && oldest.first.prev() == number
            {
                oldest.first = number;
            } else if !self.runs.is_full() {
                self.insert(0, number);
            }
            return;
        };
        let above = self.runs.get(index + 1).copied();
        let run = &mut self.runs[index];
        if !number.is_after(run.last) {
            return;
        }
        let joins_below = run.last.next() == number;
        let joins_above = above.is_some_and(|above| above.first == number.next());
        match (joins_below, joins_above) {
            (true, true) => {
                run.last = above.map_or(number, |above| above.last);
                self.runs.remove(index + 1);
            }
            (true, false) => run.last = number,
            (false, true) => self.runs[index + 1].first = number,
            (false, false) => self.insert(index + 1, number),
        }
    }

    /// Inserts a run of one number; the oldest is forgotten if there is no space.
    fn insert(&mut self, mut index: usize, number: SeqNum) {
        if self.runs.is_full() {
            self.runs.remove(0);
            index = index.saturating_sub(1);
        }
        self.runs.insert(index, ReceivedFrame { first: number, last: number });
    }

    /// The report that is due now; it counts as sent.
    pub fn report(&mut self, now: Instant, member: Member) -> Option<Report> {
        let newest = self.runs.last()?.last;
        // Every number above the newest one of [`STEPS`] steps ago.
        if now >= self.step_at {
            self.step_at = now.saturating_add(STEP);
            if self.reported.is_full() {
                self.floor = Some(self.reported.remove(0));
            }
            self.reported.push(newest);
        }
        let floor = self.floor.unwrap_or(self.runs[0].first.prev());
        self.new_holes = 0;
        let mut report = Report { member, newest, ..Report::default() };
        let is_earlier = |(first, at): &(SeqNum, Instant)| first.is_before(newest) && *at <= self.newest_at;
        if let Some((first, at)) = self.first.take().filter(is_earlier) {
            report.span = newest.0.wrapping_sub(first.0);
            report.span_us = u32::try_from(self.newest_at.saturating_since(at).as_micros()).unwrap_or(u32::MAX);
        }
        let mut above: Option<SeqNum> = None;
        for run in self.runs.iter().rev() {
            if !run.last.is_after(floor) && above.is_some() {
                break;
            }
            // Without news the newest number alone.
            let first = match (run.first.is_after(floor), run.last.is_after(floor)) {
                (true, _) => run.first,
                (false, true) => floor.next(),
                (false, false) => run.last,
            };
            let gap = above.map_or(0, |above| above.0.wrapping_sub(run.last.0).wrapping_sub(1));
            report.runs.push(AckRange { gap, len: run.last.0.wrapping_sub(first.0).wrapping_add(1).max(1) });
            above = Some(first);
        }
        let age = now.saturating_since(self.newest_at).as_micros();
        report.age_us = u32::try_from(age).unwrap_or(u32::MAX).min((1 << 24) - 1);
        Some(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn numbers(report: &Report) -> BTreeSet<u32> {
        let mut numbers = BTreeSet::new();
        let mut next = report.newest;
        for run in &report.runs {
            next = SeqNum(next.0.wrapping_sub(run.gap));
            for _ in 0..run.len {
                numbers.insert(next.0);
                next = next.prev();
            }
        }
        numbers
    }

    proptest! {
        #[test]
        fn a_report_says_what_has_come_and_nothing_else(
            spread in prop_oneof![Just(24u32), Just(400)],
            batches in prop::collection::vec(prop::collection::vec(any::<u32>(), 1..20), 1..6),
        ) {
            let mut report = ReceiveReport::default();
            let mut came = BTreeSet::new();
            for batch in batches {
                for number in batch.into_iter().map(|number| number % spread) {
                    // Numbers are used once.
                    if came.insert(number) {
                        report.on_number(Instant::ZERO, SeqNum(number), false);
                    }
                }
                let report = report.report(Instant::ZERO, Member(0)).expect("something has come");
                let said = numbers(&report);
                prop_assert!(said.is_subset(&came), "{said:?} of {came:?}");
                prop_assert_eq!(Some(&report.newest.0), came.last());
                // 24 numbers make 12 runs at most: nothing is left out for lack of space, nor, in five reports, for
                // age.
                if spread < 2 * RUNS_MAX as u32 {
                    prop_assert_eq!(said, came.clone());
                }
            }
        }
    }

    #[test]
    fn what_was_said_often_enough_is_left_out() {
        let mut report = ReceiveReport::default();
        for number in 0..100 {
            let now = Instant::ZERO + STEP * u64::from(number);
            report.on_number(now, SeqNum(number), false);
            let report = report.report(now, Member(0)).unwrap();
            assert!(report.runs[0].len <= 9, "{report:?}");
        }
    }

    /// Reports arrivals of one number each 10 us; returns the span in numbers and in time.
    fn span(report: &mut ReceiveReport, from: u64, numbers: &[(u32, bool)]) -> (u32, u32) {
        for (index, (number, is_padded)) in numbers.iter().enumerate() {
            let at = Instant::ZERO + Duration::from_micros(from + 10 * index as u64);
            report.on_number(at, SeqNum(*number), *is_padded);
        }
        let report = report.report(Instant::ZERO + Duration::from_micros(from + 1_000), Member(0)).unwrap();
        (report.span, report.span_us)
    }

    #[test]
    fn a_report_tells_the_time_from_its_first_frame_to_its_newest() {
        let plain = |numbers: &[u32]| numbers.iter().map(|number| (*number, false)).collect::<Vec<_>>();
        let mut report = ReceiveReport::default();
        assert_eq!(span(&mut report, 0, &plain(&[1, 2, 3, 4])), (3, 30));
        assert_eq!(span(&mut report, 5_000, &plain(&[5])), (0, 0), "one frame has no span");
        assert_eq!(span(&mut report, 10_000, &plain(&[6, 9, 7, 8])), (3, 10), "what is overtaken ends no span");
        assert_eq!(span(&mut report, 15_000, &plain(&[11, 10])), (0, 0), "nor begins one that the newest is before");
        assert_eq!(span(&mut report, 20_000, &plain(&[14, 13, 16])), (2, 20));
        assert_eq!(span(&mut report, 25_000, &plain(&[15])), (0, 0), "nothing new");
    }

    #[test]
    fn a_train_begins_its_own_span() {
        let mut report = ReceiveReport::default();
        let frames = [(1, false), (2, false), (3, true), (4, true), (5, true), (6, false), (7, false)];
        assert_eq!(span(&mut report, 0, &frames), (4, 40));
        let rest = [(8, false), (9, true), (10, true)];
        assert_eq!(span(&mut report, 5_000, &rest), (1, 10));
    }
}
