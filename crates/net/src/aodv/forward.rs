//! The fate of packets: sent on, kept until there is a route, or dropped with a reason.

use super::discovery::Purpose;
use super::message::Unreachable;
use super::table::State;
use super::{Aodv, Datagram, DropReason, Node, Output};
use airbraid_units::Instant;

impl<P> Aodv<P> {
    /// A packet of this node's own.
    pub(super) fn originate(&mut self, now: Instant, datagram: Datagram<P>) {
        let destination = datagram.destination;
        if destination == self.me {
            self.drop_datagram(datagram, DropReason::NoRoute);
        } else if self.table.valid(now, destination).is_some() {
            self.send(now, None, datagram);
        } else {
            self.keep(now, datagram);
            self.seek(now, destination);
        }
    }

    /// A packet from a neighbour for another node.
    pub(super) fn forward(&mut self, now: Instant, from: Node, mut datagram: Datagram<P>) {
        self.on_sign_of_life(now, from);
        if datagram.source == self.me {
            return self.drop_datagram(datagram, DropReason::Circled);
        }
        if datagram.ttl <= 1 {
            return self.drop_datagram(datagram, DropReason::TtlExpired);
        }
        datagram.ttl -= 1;
        datagram.hops = datagram.hops.saturating_add(1);
        let destination = datagram.destination;
        if self.table.valid(now, destination).is_some() {
            self.send(now, Some(from), datagram);
        } else if self.is_repairing(now, destination) {
            self.keep(now, datagram);
        } else {
            self.report_no_route(now, from, destination);
            self.drop_datagram(datagram, DropReason::NoRoute);
        }
    }

    /// Sends a packet along its valid route and notes that the route is used (section 6.2).
    fn send(&mut self, now: Instant, from: Option<Node>, datagram: Datagram<P>) {
        let until = now + self.config.active_route_timeout;
        let (source, destination) = (datagram.source, datagram.destination);
        let Some(route) = self.table.valid(now, destination) else { return };
        let next_hop = route.next_hop;
        route.expires = route.expires.max(until);
        self.table.note_use(until);
        // ns-2 prolongs the route of the destination alone.
        if !self.is_ns2() {
            self.table.prolong(now, next_hop, until);
            if let Some(from) = from {
                self.table.prolong(now, source, until);
                self.table.prolong(now, from, until);
            }
        }
        self.outputs.push_back(Output::Send { next_hop, datagram, again: false });
    }

    /// Whether the route to `destination` is being repaired here.
    pub(super) fn is_repairing(&mut self, now: Instant, destination: Node) -> bool {
        self.searches.get(&destination).is_some_and(|search| search.purpose == Purpose::Repair)
            || self.table.entry(now, destination).is_some_and(|route| route.state == State::UnderRepair)
    }

    pub(super) fn keep(&mut self, now: Instant, datagram: Datagram<P>) {
        if let Some(datagram) = self.buffer.push(now, datagram) {
            self.drop_datagram(datagram, DropReason::BufferFull);
        }
    }

    /// Sends the packets that wait for `destination` if there is a route by now; the search for it is then over.
    pub(super) fn flush(&mut self, now: Instant, destination: Node) {
        if self.table.valid(now, destination).is_none() {
            return;
        }
        self.searches.remove(&destination);
        while let Some(datagram) = self.buffer.take(destination) {
            self.send(now, None, datagram);
        }
    }

    /// A packet came without a route for it: its last sender must stop (section 6.11, case ii). A node that never knew
    /// the destination's number has never offered a route either.
    fn report_no_route(&mut self, now: Instant, from: Node, destination: Node) {
        let sequence = self.table.entry(now, destination).and_then(|route| route.sequence);
        if let Some(sequence) = sequence {
            let unreachable = vec![Unreachable { destination, sequence }];
            self.send_rerr(now, false, unreachable, [from].into(), false);
        }
    }
}
