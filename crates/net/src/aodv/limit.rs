//! Limits on the messages that a node sends in a second (RREQ_RATELIMIT, RERR_RATELIMIT of RFC 3561, section 10).

use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// The span over which the limits count.
const SPAN: Duration = Duration::from_secs(1);

/// A limit on events in any second.
#[derive(Clone, Debug)]
pub(super) struct RateLimit {
    limit: Option<u32>,
    recent: VecDeque<Instant>,
}

impl RateLimit {
    pub(super) const fn new(limit: Option<u32>) -> Self {
        Self { limit, recent: VecDeque::new() }
    }

    /// Counts one more at `now`.
    ///
    /// # Errors
    /// When the next is allowed, if this one is not.
    pub(super) fn try_one(&mut self, now: Instant) -> Result<(), Instant> {
        let Some(limit) = self.limit else { return Ok(()) };
        while self.recent.pop_front_if(|at| *at + SPAN <= now).is_some() {}
        match self.recent.front() {
            Some(&oldest) if self.recent.len() >= limit as usize => Err(oldest + SPAN),
            _ => {
                self.recent.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_second_has_more_than_allowed() {
        let mut limit = RateLimit::new(Some(2));
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        assert_eq!(limit.try_one(at(0)), Ok(()));
        assert_eq!(limit.try_one(at(400)), Ok(()));
        assert_eq!(limit.try_one(at(999)), Err(at(1_000)));
        assert_eq!(limit.try_one(at(1_000)), Ok(()));
        assert_eq!(limit.try_one(at(1_100)), Err(at(1_400)));
        assert_eq!(RateLimit::new(None).try_one(at(0)), Ok(()));
    }
}
