//! The receive record of one way: how many of the other end's numbered frames arrived, and how many are missing between
//! them.
//!
//! A MAC that has an acknowledgement has a frame's reception, not its delivery: what drivers and buffers lose behind it
//! only the receiver sees. It never looks at a frame, and never asks for one again.

use airbraid_units::SeqNum;

/// Distance from the newest number at which a number is not part of a gap: the sender has restarted.
const FAR: i32 = 1 << 15;

/// Counts since the way came up. Each wraps around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Frames received.
    pub arrived: u32,
    /// Frames missing, though later ones were received.
    pub missing: u32,
    /// Runs of missing frames, each of which a transport takes for one loss.
    pub gaps: u32,
}

impl Tally {
    /// The counts since `before`; `None` if the other end has restarted since.
    pub(super) fn since(self, before: Self) -> Option<Self> {
        let ahead = |now: u32, then: u32| now.wrapping_sub(then) as i32;
        let arrived = u32::try_from(ahead(self.arrived, before.arrived)).ok()?;
        // What comes late is not missing any more.
        let missing = ahead(self.missing, before.missing).max(0).unsigned_abs();
        let gaps = u32::try_from(ahead(self.gaps, before.gaps)).ok()?;
        Some(Self { arrived, missing, gaps })
    }
}

/// The receive record of one way.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    newest: Option<SeqNum>,
    tally: Tally,
}

impl Arrivals {
    pub(super) fn tally(&self) -> Tally {
        self.tally
    }

    /// A frame with this number was received.
    pub(super) fn on_arrived(&mut self, number: SeqNum) {
        let Tally { arrived, missing, gaps } = &mut self.tally;
        *arrived = arrived.wrapping_add(1);
        let ahead = self.newest.map_or(FAR, |newest| number.distance_from(newest));
        match ahead {
            1..FAR => {
                *missing = missing.wrapping_add(ahead.unsigned_abs() - 1);
                *gaps = gaps.wrapping_add(u32::from(ahead > 1));
            }
            _ if ahead.unsigned_abs() >= FAR.unsigned_abs() => {}
            // It was overtaken.
            _ => {
                *missing = missing.wrapping_sub(1);
                return;
            }
        }
        self.newest = Some(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tally(numbers: impl IntoIterator<Item = u32>) -> Tally {
        let mut arrivals = Arrivals::default();
        numbers.into_iter().for_each(|number| arrivals.on_arrived(SeqNum(number)));
        arrivals.tally()
    }

    #[test]
    fn gaps_late_frames_and_a_sender_that_begins_again() {
        assert_eq!(tally([7, 8, 9]), Tally { arrived: 3, missing: 0, gaps: 0 });
        assert_eq!(tally([u32::MAX, 2, 5]), Tally { arrived: 3, missing: 4, gaps: 2 });
        assert_eq!(tally([1, 3, 2, 4]), Tally { arrived: 4, missing: 0, gaps: 1 });
        assert_eq!(tally([500_000, 1, 2]), Tally { arrived: 3, missing: 0, gaps: 0 });
    }

    proptest! {
        /// Of any frames sent in order of which some are lost, the record is that of a naive count.
        #[test]
        fn it_is_a_naive_count(first in any::<u32>(), come in prop::collection::vec(any::<bool>(), 0..200)) {
            let at = |place: usize| first.wrapping_add(place as u32);
            let here: Vec<usize> = (0..come.len()).filter(|place| come[*place]).collect();
            let holes = here.windows(2).map(|pair| (pair[1] - pair[0] - 1) as u32).filter(|hole| *hole > 0);
            let (gaps, missing) = holes.fold((0, 0), |(gaps, missing), hole| (gaps + 1, missing + hole));
            prop_assert_eq!(
                tally(here.iter().map(|place| at(*place))),
                Tally { arrived: here.len() as u32, missing, gaps }
            );
        }
    }
}
