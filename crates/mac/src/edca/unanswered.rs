//! The end of requests that nobody answers, about what was given up ([`doubt`](super::doubt)).
//!
//! ```text
//!   data that may be sent           they go, and are given up as ever; the peer is told when it is there again
//!   packets that have no number     one is given up for every `retry_limit` requests: they have stood for it
//!   nothing waits                   as many requests after pauses that double, up to 12.8 s
//! ```
//!
//! The recipient waits for what was given up. It takes a number for an old one that is 2048 ahead of a scoreboard which
//! begins up to a window before: as long as it has not been told, no number beyond is given.

use super::category::AccessCategory;
use super::traffic::{QueueId, Traffic};
use super::{Edca, Timer};
use crate::alarm::Alarm;
use crate::service::{MacOutput, Msdu, Outcome};
use airbraid_engine::Packet;
use airbraid_units::Instant;

impl<P: Packet + Copy> Edca<P> {
    /// Nobody has answered a request of a queue: what follows if it was the last one for now.
    pub(super) fn end_requests(&mut self, now: Instant, id: QueueId) {
        let limit = self.planner.config.retry_limit;
        let queue = self.traffic.queue_mut(id);
        if !queue.doubts.is_at_end(limit) || queue.originator.len() > 0 {
            return;
        }
        let to = queue.to;
        let Some((packet, _)) = queue.waiting.pop_front() else {
            let until = queue.doubts.rest(now, limit);
            self.traffic.rests_until = Some(self.traffic.rests_until.map_or(until, |other| other.min(until)));
            return;
        };
        let (outcome, attempts) = (Outcome::RetryLimit, limit.unwrap_or(0));
        self.outputs.push_back(MacOutput::Status { msdu: Msdu { to, packet }, outcome, attempts });
        self.stats.retry_limit_drops += 1;
        let tid = self.traffic.queue(id).tid;
        self.traffic.leave(tid, 1);
    }

    /// Pauses that are over.
    pub(super) fn ask_again(&mut self, now: Instant) {
        if self.traffic.rests_until.is_some_and(|until| until <= now) {
            self.traffic.resume(now);
            AccessCategory::ALL.into_iter().for_each(|category| self.renew(now, category));
        }
    }
    /// The alarm of the first pause.
    pub(super) fn rest_alarm(&self) -> Alarm<Timer> {
        self.traffic.rests_until.map_or(Alarm::NEVER, |until| Alarm::of(until, Timer::Agreement))
    }
}

impl<P: Packet + Copy> Traffic<P> {
    /// Ends the pauses that are over.
    fn resume(&mut self, now: Instant) {
        let ids: Vec<QueueId> = self.by_category.iter().flatten().copied().collect();
        for id in &ids {
            self.queue_mut(*id).doubts.resume(now);
        }
        self.rests_until = ids.iter().filter_map(|id| self.queue(*id).doubts.rests_until()).min();
    }
}
