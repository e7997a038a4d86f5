//! Searches: rings of growing radius around the node, then the whole network (RFC 3561, sections 6.3, 6.4).

use super::message::{Rreq, RreqId};
use super::{Aodv, DropReason, Flavour, Message, Node};
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// The purpose of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// For waiting packets of this node; in ns-2 also for those of others, while a route is repaired.
    Own,
    /// A route broke here, and others' packets wait (section 6.12).
    Repair,
    /// The search has failed; nothing is sent until it may begin again.
    Rest,
}

/// A search under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Discovery {
    pub purpose: Purpose,
    /// The radius of the last ring.
    pub ttl: u8,
    /// Number of searches of the whole network.
    pub wide: u8,
    /// The time at which the answer is overdue.
    pub due: Instant,
    /// The time at which the search goes on by itself.
    pub deadline: Instant,
    /// Hops of the route that is being repaired.
    pub broken_hops: u8,
    /// The time of the last RREQ.
    pub asked: Instant,
}

/// The times of the last answers from a destination, for each hop of the route that they reported.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerTimes(VecDeque<Duration>);

impl AnswerTimes {
    fn note(&mut self, time: Duration, limit: u8) {
        self.0.push_back(time);
        if self.0.len() > usize::from(limit) {
            self.0.pop_front();
        }
    }

    fn mean(&self) -> Option<Duration> {
        let sum = self.0.iter().fold(Duration::ZERO, |sum, &time| sum + time);
        (!self.0.is_empty()).then(|| sum / self.0.len() as u64)
    }
}

impl<P> Aodv<P> {
    /// Looks for `destination` unless a search is under way.
    pub(super) fn seek(&mut self, now: Instant, destination: Node) {
        match self.searches.get(&destination) {
            Some(search) if search.due > now || search.purpose == Purpose::Repair => return,
            Some(_) => {}
            None => {
                let ttl = self.last_distance(now, destination);
                let (purpose, wide, broken_hops) = (Purpose::Own, 0, 0);
                let search = Discovery { purpose, ttl, wide, due: now, deadline: now, broken_hops, asked: now };
                self.searches.insert(destination, search);
                self.stats.searches += 1;
            }
        }
        self.search_on(now, destination);
    }

    /// Hops at which `destination` was last heard of: the first ring reaches a little farther. By the RFC 0 if it never
    /// was (section 6.4). In ns-2 the distance of a route that was never lost is infinite, that of one under repair
    /// too, so that the whole network is searched at once.
    fn last_distance(&mut self, now: Instant, destination: Node) -> u8 {
        let flavour = self.config.flavour;
        let route = self.table.entry(now, destination);
        match flavour {
            Flavour::Rfc3561 => route.map_or(0, |route| route.hops),
            Flavour::Ns2 => route.and_then(|route| route.hops_lost.map(|lost| lost.max(route.hops))).unwrap_or(u8::MAX),
        }
    }

    /// Continues all searches whose time for an answer is over.
    pub(super) fn continue_searches(&mut self, now: Instant) {
        let is_due = |search: &Discovery| search.deadline <= now;
        let due: Vec<_> = self.searches.iter().filter(|(_, search)| is_due(search)).map(|(&node, _)| node).collect();
        for destination in due {
            let is_repair = self.searches.get(&destination).is_some_and(|search| search.purpose == Purpose::Repair);
            if is_repair {
                self.fail_repair(now, destination);
            }
            self.search_on(now, destination);
        }
    }

    /// Sends the next ring, or ends the search: silently if no packet waits for it any more.
    fn search_on(&mut self, now: Instant, destination: Node) {
        let Some(mut search) = self.searches.get(&destination).copied() else { return };
        if !self.buffer.has(destination) {
            self.searches.remove(&destination);
            return;
        }
        if search.purpose == Purpose::Rest {
            (search.purpose, search.wide) = (Purpose::Own, 0);
            self.stats.searches += 1;
        }
        let ttl = self.next_ttl(search.ttl);
        let is_wide = ttl == self.config.net_diameter;
        if is_wide && search.wide >= self.wide_attempts() {
            return self.give_up(now, destination, search);
        }
        match self.rreq_limit.try_one(now) {
            Err(allowed) => (search.due, search.deadline) = (allowed, allowed),
            Ok(()) => {
                search.ttl = ttl;
                search.wide += u8::from(is_wide);
                search.asked = now;
                search.due = now + self.patience(destination, ttl, search.wide);
                search.deadline = self.on_tick(search.due);
                self.send_rreq(now, destination, ttl);
            }
        }
        self.searches.insert(destination, search);
    }

    /// The radius after `last` (0: none yet).
    fn next_ttl(&self, last: u8) -> u8 {
        let config = &self.config;
        let ttl = match last {
            0 => config.ttl_start,
            last if last < config.ttl_threshold => last.saturating_add(config.ttl_increment),
            _ => config.net_diameter,
        };
        ttl.min(config.net_diameter)
    }

    /// Number of searches of the whole network: RREQ_RETRIES by the RFC (section 6.3), once more by ns-2.
    fn wide_attempts(&self) -> u8 {
        match self.config.flavour {
            Flavour::Rfc3561 => self.config.rreq_retries.max(1),
            Flavour::Ns2 => self.config.rreq_retries.saturating_add(1),
        }
    }

    /// Time to wait for an answer after a search of radius `ttl`, the `wide`-th of the whole network. The RFC doubles
    /// the time with each of these (section 6.3). ns-2 multiplies it, limits it to the time of rest, and takes the time
    /// of a hop from former answers of the destination.
    fn patience(&self, destination: Node, ttl: u8, wide: u8) -> Duration {
        let config = &self.config;
        match (config.flavour, wide) {
            (Flavour::Rfc3561, 0) => config.ring_traversal_time(ttl),
            (Flavour::Rfc3561, wide) => config.net_traversal_time().saturating_mul(1 << u32::from(wide - 1).min(16)),
            (Flavour::Ns2, wide) => {
                let longest = config.rest.unwrap_or(Duration::MAX);
                let former = self.answer_times.get(&destination).and_then(AnswerTimes::mean);
                let hop = former.unwrap_or(config.node_traversal_time);
                let hops = u64::from(ttl) + u64::from(config.timeout_buffer);
                (hop * 2).saturating_mul(hops).saturating_mul(u64::from(wide.max(1))).min(longest)
            }
        }
    }

    /// `destination` has answered with a route of `hops`.
    pub(super) fn note_answer(&mut self, now: Instant, destination: Node, hops: u8) {
        let limit = self.config.answers_averaged;
        if let Some(search) = self.searches.get(&destination).filter(|_| limit > 0) {
            let time = now.saturating_since(search.asked) / u64::from(hops.max(1));
            // Over a link without delay no time passes, but a search must have some.
            let time = time.max(Duration::from_nanos(1));
            self.answer_times.entry(destination).or_default().note(time, limit);
        }
    }

    /// The first tick at `due` or after it.
    fn on_tick(&self, due: Instant) -> Instant {
        match self.config.tick {
            None => due,
            Some(tick) => Instant::from_nanos(due.as_nanos().next_multiple_of(tick.as_nanos())),
        }
    }

    fn give_up(&mut self, now: Instant, destination: Node, mut search: Discovery) {
        self.stats.searches_failed += 1;
        while let Some(datagram) = self.buffer.take(destination) {
            self.drop_datagram(datagram, DropReason::NoRoute);
        }
        match self.config.rest {
            None => {
                self.searches.remove(&destination);
            }
            Some(rest) => {
                search.purpose = Purpose::Rest;
                search.due = now + rest;
                search.deadline = self.on_tick(search.due);
                self.searches.insert(destination, search);
            }
        }
    }

    /// Broadcasts a RREQ for `destination`. Before that the node's own number grows, so that the routes back to it
    /// replace older ones everywhere (section 6.1).
    pub(super) fn send_rreq(&mut self, now: Instant, destination: Node, ttl: u8) {
        self.advance_sequence();
        let destination_sequence = self.table.entry(now, destination).and_then(|route| route.sequence);
        let rreq = Rreq {
            hop_count: 0,
            id: self.next_rreq_id,
            destination,
            destination_sequence,
            originator: self.me,
            originator_sequence: self.sequence,
            gratuitous: self.config.gratuitous,
            destination_only: false,
        };
        self.next_rreq_id = RreqId(self.next_rreq_id.0.wrapping_add(1));
        self.send_control(now, None, ttl, Message::Rreq(rreq));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the last three.
    #[test]
    fn the_mean_is_that_of_the_last_answers() {
        let mut times = AnswerTimes::default();
        assert_eq!(times.mean(), None);
        let means = [1, 3, 5, 10, 30].map(|ms| {
            times.note(Duration::from_millis(ms), 3);
            times.mean().unwrap().as_micros()
        });
        assert_eq!(means, [1_000, 2_000, 3_000, 6_000, 15_000]);
    }
}
