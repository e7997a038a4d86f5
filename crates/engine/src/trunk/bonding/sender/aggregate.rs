//! Gives a slower member the first packet of a flow whose acknowledgements are to be aggregated.

use super::Sender;
use super::distribute::{Candidates, ahead};
use crate::trunk::bonding::aggregation::Lead;
use crate::trunk::bonding::coded::Coded;
use airbraid_units::Instant;

/// What flows do is looked at so often in a round trip.
const LOOKS: u64 = 8;
/// A slower member that adds less than this part to what the faster ones carry is not worth what bunching costs, which may be about so much.
const ADDS: u64 = 3;

impl<P: Coded> Sender<P> {
    /// Gives a slower member what it is not given otherwise, if a flow's arrivals are to be bunched or levelled. Says whether it did.
    pub(super) fn send_to_bunch(&mut self, now: Instant, candidates: &Candidates) -> bool {
        if (now < self.bunch_at && !self.queue.has_level()) || self.round_trip.is_zero() || self.queue.is_empty() {
            return false;
        }
        self.bunch_at = now + self.round_trip / LOOKS;
        for place in 1..candidates.len() {
            let (faster, one) = (&candidates[..place], candidates[place]);
            let rate = faster.iter().map(|other| other.rate).sum();
            let end = &self.members[one.index];
            let adds_much = one.rate * ADDS >= rate || !end.path.is_measured();
            if !adds_much || end.free_at() > now {
                continue;
            }
            let lead = Lead { bytes: ahead(&one, faster), rate, adds: one.rate, round_trip: self.round_trip };
            if let Some(waiting) = self.queue.take_to_bunch(now, lead, self.target) {
                self.send_waiting(now, one.index, waiting, candidates);
                return true;
            }
        }
        false
    }
}
