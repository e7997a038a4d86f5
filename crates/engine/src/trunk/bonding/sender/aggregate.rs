//! Gives a slower member the first packet of a flow whose acknowledgements are to be aggregated.

use super::BondSender;
use super::distribute::{Candidates, ahead};
use crate::trunk::bonding::aggregation::Lead;
use crate::trunk::bonding::coded::Coded;
use airbraid_units::Instant;

/// Number of times in a round trip that flows are examined.
const LOOKS: u64 = 8;
/// A slower member that adds less than this part of the faster ones' rate is not worth the cost of aggregation, which
/// may be about as large.
const ADDS: u64 = 3;

impl<P: Coded> BondSender<P> {
    /// Gives a slower member a flow's first packet, if the flow's arrivals are to be aggregated or its delay equalised.
    /// Returns whether it did.
    pub(super) fn send_to_aggregate(&mut self, now: Instant, candidates: &Candidates) -> bool {
        if (now < self.aggregate_at && !self.queue.has_equalised())
            || self.targets.round_trip.is_zero()
            || self.queue.is_empty()
        {
            return false;
        }
        self.aggregate_at = now + self.targets.round_trip / LOOKS;
        for place in 1..candidates.len() {
            let (faster, one) = (&candidates[..place], candidates[place]);
            let rate = faster.iter().map(|other| other.rate).sum();
            let end = &self.members[one.index];
            let adds_much = one.rate * ADDS >= rate || !end.path.is_measured();
            if !adds_much || end.free_at() > now {
                continue;
            }
            let lead = Lead { bytes: ahead(&one, faster), rate, adds: one.rate, round_trip: self.targets.round_trip };
            if let Some(waiting) = self.queue.take_to_aggregate(now, lead, &self.targets) {
                self.send_waiting(now, one.index, waiting, candidates);
                return true;
            }
        }
        false
    }
}
