//! Route requests that arrive: the route back, the answer, or the next nodes to ask (RFC 3561, sections 6.5, 6.6).

use super::message::{Rrep, Rreq, RreqId};
use super::table::Offer;
use super::{Aodv, Message, Node};
use airbraid_units::{Instant, SeqNum};

impl<P> Aodv<P> {
    pub(super) fn on_rreq(&mut self, now: Instant, from: Node, ttl: u8, mut rreq: Rreq) {
        if rreq.originator == self.me || !self.is_first_sight(now, (rreq.originator, rreq.id)) {
            return;
        }
        rreq.hop_count = rreq.hop_count.saturating_add(1);
        self.learn_way_back(now, from, &rreq);
        if rreq.destination == self.me {
            self.answer_as_destination(now, &rreq);
        } else if !self.answer_as_intermediate(now, from, &rreq) && ttl > 1 {
            // Who knows a newer number asks for it (section 6.5).
            let known = self.table.entry(now, rreq.destination).and_then(|route| route.sequence);
            rreq.destination_sequence = newer(rreq.destination_sequence, known);
            self.broadcast_jittered(now, ttl - 1, Message::Rreq(rreq));
        }
    }

    /// Whether this RREQ was not seen during the last PATH_DISCOVERY_TIME.
    fn is_first_sight(&mut self, now: Instant, rreq: (Node, RreqId)) -> bool {
        while let Some((expires, old)) = self.seen_order.pop_front_if(|(expires, _)| *expires <= now) {
            if self.seen.get(&old) == Some(&expires) {
                self.seen.remove(&old);
            }
        }
        if self.seen.contains_key(&rreq) {
            return false;
        }
        let expires = now + self.config.path_discovery_time;
        self.seen.insert(rreq, expires);
        self.seen_order.push_back((expires, rreq));
        true
    }

    fn learn_way_back(&mut self, now: Instant, from: Node, rreq: &Rreq) {
        let expires = now + self.config.reverse_life(rreq.hop_count);
        let offer = Offer { sequence: rreq.originator_sequence, hops: rreq.hop_count, next_hop: from, expires };
        if !self.table.offer(now, rreq.originator, offer) {
            self.table.prolong(now, rreq.originator, expires);
        }
        self.flush(now, rreq.originator);
    }

    /// Section 6.6.1. A destination's number is the larger of its own and the requested one: another node may have
    /// increased it when a route broke. ns-2 takes the next even number.
    fn answer_as_destination(&mut self, now: Instant, rreq: &Rreq) {
        if let Some(asked) = rreq.destination_sequence
            && asked.is_after(self.sequence)
        {
            self.sequence = asked;
        }
        if self.is_ns2() {
            let next = self.sequence.next();
            self.sequence = next.plus(next.0 % 2);
        }
        let rrep = Rrep {
            hop_count: 0,
            destination: self.me,
            destination_sequence: self.sequence,
            originator: rreq.originator,
            lifetime: self.config.my_route_timeout,
        };
        self.reply(now, rrep);
    }

    /// Section 6.6.2: answers from the table if its route is as fresh as requested; returns whether it did.
    fn answer_as_intermediate(&mut self, now: Instant, from: Node, rreq: &Rreq) -> bool {
        if rreq.destination_only {
            return false;
        }
        let Some(route) = self.table.valid(now, rreq.destination).filter(|route| route.is_sequence_valid) else {
            return false;
        };
        let Some(sequence) = route.sequence else { return false };
        if rreq.destination_sequence.is_some_and(|asked| asked.is_after(sequence)) {
            return false;
        }
        route.precursors.insert(from);
        let next_hop = route.next_hop;
        let rrep = Rrep {
            hop_count: route.hops,
            destination: rreq.destination,
            destination_sequence: sequence,
            originator: rreq.originator,
            lifetime: route.expires - now,
        };
        self.table.add_precursor(now, rreq.originator, next_hop);
        self.reply(now, rrep);
        if rreq.gratuitous {
            self.tell_destination(now, next_hop, rreq);
        }
        true
    }

    /// Section 6.6.3: the destination has not heard the request, and learns the route back here. Number and hops are
    /// those of this node's own route.
    fn tell_destination(&mut self, now: Instant, next_hop: Node, rreq: &Rreq) {
        let Some(back) = self.table.valid(now, rreq.originator) else { return };
        let Some(sequence) = back.sequence else { return };
        let rrep = Rrep {
            hop_count: back.hops,
            destination: rreq.originator,
            destination_sequence: sequence,
            originator: rreq.destination,
            lifetime: back.expires - now,
        };
        self.send_control(now, Some(next_hop), self.config.net_diameter, Message::Rrep(rrep));
    }

    /// Sends a reply on its way back to the originator, if there is a route back.
    fn reply(&mut self, now: Instant, rrep: Rrep) {
        if let Some(back) = self.table.valid(now, rrep.originator) {
            let next_hop = back.next_hop;
            self.send_control(now, Some(next_hop), self.config.net_diameter, Message::Rrep(rrep));
        }
    }
}

/// The newer of two numbers, one of which may be unknown.
fn newer(a: Option<SeqNum>, b: Option<SeqNum>) -> Option<SeqNum> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.is_after(a) { b } else { a }),
        (a, b) => a.or(b),
    }
}
