//! Route replies that arrive: the route is learned, and the reply passed on to the node that asked (RFC 3561, section
//! 6.7).

use super::discovery::Purpose;
use super::message::Rrep;
use super::table::Offer;
use super::{Aodv, Message, Node};
use airbraid_units::Instant;

impl<P> Aodv<P> {
    pub(super) fn on_rrep(&mut self, now: Instant, from: Node, mut rrep: Rrep) {
        if rrep.destination == self.me {
            return;
        }
        rrep.hop_count = rrep.hop_count.saturating_add(1);
        let expires = now + rrep.lifetime;
        let offer = Offer { sequence: rrep.destination_sequence, hops: rrep.hop_count, next_hop: from, expires };
        let is_news = expires > now && self.table.offer(now, rrep.destination, offer);
        if is_news {
            self.conclude_repair(now, &rrep);
            if rrep.originator == self.me {
                self.note_answer(now, rrep.destination, rrep.hop_count);
            }
        }
        self.flush(now, rrep.destination);
        // The RFC's letter passes on only news. Then an originator that has lost its route, behind a node that still
        // has as good a one, searches in vain: each answer ends at that node. ns-2 keeps to the letter.
        if rrep.originator != self.me && (is_news || !self.is_ns2()) {
            self.tell_on(now, rrep);
        }
    }

    /// Passes a reply on towards the originator, and notes the nodes that will use the route.
    fn tell_on(&mut self, now: Instant, mut rrep: Rrep) {
        let used_until = now + self.config.active_route_timeout;
        let is_ns2 = self.is_ns2();
        let Some(back) = self.table.valid(now, rrep.originator) else { return };
        let towards_originator = back.next_hop;
        if !is_ns2 {
            back.expires = back.expires.max(used_until);
        }
        let Some(route) = self.table.valid(now, rrep.destination) else { return };
        // A node announces its own route: with another's number or length, routes could form a circle.
        rrep.hop_count = route.hops;
        let next_hop = route.next_hop;
        if !is_ns2 {
            let (Some(sequence), true) = (route.sequence, route.is_sequence_valid) else { return };
            (rrep.destination_sequence, rrep.lifetime) = (sequence, route.expires - now);
        }
        route.precursors.insert(towards_originator);
        self.table.add_precursor(now, next_hop, towards_originator);
        self.send_control(now, Some(towards_originator), self.config.net_diameter, Message::Rrep(rrep));
    }

    /// Tells the users of a repaired route that it is longer than before (section 6.12).
    fn conclude_repair(&mut self, now: Instant, rrep: &Rrep) {
        let search = self.searches.get(&rrep.destination).copied();
        if let Some(search) = search.filter(|search| search.purpose == Purpose::Repair)
            && rrep.hop_count > search.broken_hops
        {
            self.report_detour(now, rrep.destination);
        }
    }
}
