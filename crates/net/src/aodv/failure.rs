//! Broken links: routes become invalid, the nodes that use them are told, and a route may be repaired where it broke
//! (RFC 3561, sections 6.11, 6.12).

use super::discovery::{Discovery, Purpose};
use super::message::{Rerr, UNREACHABLE_MAX, Unreachable};
use super::table::State;
use super::{Aodv, Datagram, DropReason, Message, Node, Output, RepairWait, RepairWhen};
use airbraid_units::Instant;
use std::collections::BTreeSet;

impl<P> Aodv<P> {
    /// Handles a failure of the link layer. Each attempt costs a packet one of its hops: with a link layer that fails
    /// for ever it would be sent for ever.
    pub(super) fn on_link_failed(&mut self, now: Instant, next_hop: Node, datagram: Option<Datagram<P>>) {
        if self.is_tolerated(next_hop) {
            return self.try_again(now, next_hop, datagram);
        }
        let charge = |datagram: Datagram<P>| Datagram { ttl: datagram.ttl.saturating_sub(1), ..datagram };
        match datagram.map(charge) {
            // ns-2 does not care for messages that were lost.
            None if self.is_ns2() => {}
            None => self.break_link(now, next_hop, None),
            Some(datagram) if self.is_ns2() => self.on_packet_failed_in_ns2(now, next_hop, datagram),
            Some(datagram) => self.on_packet_failed(now, next_hop, datagram),
        }
    }

    /// Counts a failure of the link layer; returns whether there were too few in a row to doubt the link.
    fn is_tolerated(&mut self, neighbour: Node) -> bool {
        let doubt = self.config.doubt;
        let (count, was_heard) = self.failures.entry(neighbour).or_insert((0, false));
        *count += 1;
        let is_tolerated = *count < if *was_heard { doubt.heard } else { doubt.silent };
        if !is_tolerated {
            self.failures.remove(&neighbour);
        }
        is_tolerated
    }

    /// Sends a packet again that the link layer handed back, by the present route. A lost message is not retransmitted:
    /// the node that misses it asks again.
    fn try_again(&mut self, now: Instant, next_hop: Node, datagram: Option<Datagram<P>>) {
        let Some(datagram) = datagram else { return };
        let is_still = self.table.valid(now, datagram.destination).is_some_and(|route| route.next_hop == next_hop);
        if is_still {
            self.outputs.push_back(Output::Send { next_hop, datagram, again: true });
        } else {
            self.lose(now, datagram);
        }
    }

    /// The link works in both directions.
    pub(super) fn on_acknowledged(&mut self, now: Instant, neighbour: Node) {
        self.failures.remove(&neighbour);
        self.on_sign_of_life(now, neighbour);
    }

    fn on_packet_failed(&mut self, now: Instant, next_hop: Node, datagram: Datagram<P>) {
        let destination = datagram.destination;
        let route = self.table.valid(now, destination).filter(|route| route.next_hop == next_hop);
        let hops = route.map(|route| route.hops);
        match hops.filter(|&hops| self.is_worth_repair(&datagram, hops)) {
            Some(hops) => {
                self.break_link(now, next_hop, Some(destination));
                self.repair(now, datagram, hops);
            }
            None => {
                self.break_link(now, next_hop, None);
                self.lose(now, datagram);
            }
        }
    }

    /// Repairs a route again that is under repair already; otherwise gives up all packets that wait for the neighbour.
    fn on_packet_failed_in_ns2(&mut self, now: Instant, next_hop: Node, datagram: Datagram<P>) {
        let route = self.table.entry(now, datagram.destination).filter(|route| route.state != State::Invalid);
        let hops = route.map(|route| route.hops);
        if hops.is_some_and(|hops| self.is_worth_repair(&datagram, hops)) {
            return self.repair_in_place(now, datagram);
        }
        self.drop_datagram(datagram, DropReason::LinkFailed);
        self.outputs.push_back(Output::LinkBroken(next_hop));
        self.break_link(now, next_hop, None);
    }

    fn is_worth_repair(&self, datagram: &Datagram<P>, hops: u8) -> bool {
        let Some(repair) = self.config.repair else { return false };
        datagram.source != self.me
            && datagram.ttl > 0
            && match repair.when {
                RepairWhen::Within(limit) => hops <= limit,
                RepairWhen::NearerThanSource => datagram.hops > hops,
            }
    }

    /// A packet that the link layer handed back and whose route is not repaired: the source looks for another route;
    /// other nodes drop it unless their search for a route is under way already.
    fn lose(&mut self, now: Instant, datagram: Datagram<P>) {
        if datagram.ttl == 0 {
            self.drop_datagram(datagram, DropReason::TtlExpired);
        } else if datagram.source == self.me {
            self.originate(now, datagram);
        } else if self.is_repairing(now, datagram.destination) {
            self.keep(now, datagram);
        } else {
            self.drop_datagram(datagram, DropReason::LinkFailed);
        }
    }

    /// Makes all routes through `next_hop` invalid, and tells the nodes that use them, except `spared`.
    pub(super) fn break_link(&mut self, now: Instant, next_hop: Node, spared: Option<Node>) {
        let broken = self.table.break_link(now, next_hop);
        self.greeters.remove(&next_hop);
        self.failures.remove(&next_hop);
        if broken.is_empty() {
            return;
        }
        self.stats.links_broken += 1;
        if !self.is_ns2() {
            self.outputs.push_back(Output::LinkBroken(next_hop));
        }
        let told: Vec<_> = broken.into_iter().filter(|&destination| Some(destination) != spared).collect();
        self.report(now, &told, false);
    }

    /// Tells the neighbours that reach `destinations` through this node that there is no route any more.
    fn report(&mut self, now: Instant, destinations: &[Node], is_answer: bool) {
        let tell_all = self.is_ns2() && !is_answer;
        let (mut unreachable, mut receivers) = (Vec::new(), BTreeSet::new());
        for &destination in destinations {
            let Some(route) = self.table.entry(now, destination) else { continue };
            let precursors = std::mem::take(&mut route.precursors);
            if let Some(sequence) = route.sequence
                && (tell_all || !precursors.is_empty())
            {
                unreachable.push(Unreachable { destination, sequence });
                receivers.extend(precursors);
            }
        }
        self.send_rerr(now, false, unreachable, receivers, is_answer);
    }

    /// A repaired route has become longer: the nodes that use it may look for a better one, and need not (flag N).
    pub(super) fn report_detour(&mut self, now: Instant, destination: Node) {
        let Some(route) = self.table.valid(now, destination) else { return };
        let Some(sequence) = route.sequence else { return };
        let receivers = route.precursors.clone();
        self.send_rerr(now, true, vec![Unreachable { destination, sequence }], receivers, false);
    }

    /// Sends a RERR: to the only node concerned, or to all if there are several (section 6.11); ns-2 always to all.
    pub(super) fn send_rerr(
        &mut self,
        now: Instant,
        keep: bool,
        unreachable: Vec<Unreachable>,
        receivers: BTreeSet<Node>,
        is_answer: bool,
    ) {
        if unreachable.is_empty() || (receivers.is_empty() && !self.is_ns2()) {
            return;
        }
        let only = if receivers.len() == 1 && !self.is_ns2() { receivers.first().copied() } else { None };
        for part in unreachable.chunks(UNREACHABLE_MAX) {
            if self.rerr_limit.try_one(now).is_err() {
                self.stats.rerr_suppressed += 1;
                continue;
            }
            let message = Message::Rerr(Rerr { keep, unreachable: part.to_vec() });
            // What answers a broadcast, neighbours may answer at the same instant.
            if only.is_none() && is_answer {
                self.broadcast_jittered(now, 1, message);
            } else {
                self.send_control(now, only, 1, message);
            }
        }
    }

    /// A neighbour has lost its routes to some destinations.
    pub(super) fn on_rerr(&mut self, now: Instant, from: Node, rerr: &Rerr) {
        let mut lost = Vec::new();
        for &Unreachable { destination, sequence } in &rerr.unreachable {
            if rerr.keep {
                self.pass_detour_on(now, from, destination);
            } else if let Some(route) = self.table.hit_by_error(now, from, destination, sequence) {
                route.invalidate_with(sequence);
                lost.push(destination);
            }
        }
        if self.is_ns2() && !lost.is_empty() {
            self.outputs.push_back(Output::LinkBroken(from));
        }
        self.report(now, &lost, true);
    }

    /// Passes on the report of a detour. A route with a detour is still a route: only the nodes farther back need to
    /// know.
    fn pass_detour_on(&mut self, now: Instant, from: Node, destination: Node) {
        if self.table.valid(now, destination).is_some_and(|route| route.next_hop == from) {
            self.report_detour(now, destination);
        }
    }

    /// Looks for the destination from here, with its next number; packets wait meanwhile.
    fn repair(&mut self, now: Instant, datagram: Datagram<P>, hops: u8) {
        let destination = datagram.destination;
        // MIN_REPAIR_TTL is the last known number of hops to the destination, the other those to the source.
        let radius = hops.max(datagram.hops / 2);
        self.keep(now, datagram);
        let Some(repair) = self.config.repair else { return };
        let ttl = radius.saturating_add(repair.add_ttl).clamp(1, self.config.net_diameter);
        if self.rreq_limit.try_one(now).is_err() {
            return self.abandon_repair(now, destination);
        }
        let due = match repair.wait {
            RepairWait::For(span) => now + span,
            RepairWait::Ring | RepairWait::SinceStart => now + self.config.ring_traversal_time(ttl),
        };
        let (purpose, wide, deadline) = (Purpose::Repair, 0, due);
        self.searches
            .insert(destination, Discovery { purpose, ttl, wide, due, deadline, broken_hops: hops, asked: now });
        self.stats.searches += 1;
        self.stats.repairs += 1;
        self.send_rreq(now, destination, ttl);
    }

    /// Repairs as ns-2 does: the other routes through the neighbour are left alone, the number is not increased, and
    /// the search is one like any other. A neighbour that answers with a route of that number and no fewer hops is not
    /// believed. So the route mostly comes back when the destination answers, or when the repair is given up.
    fn repair_in_place(&mut self, now: Instant, datagram: Datagram<P>) {
        let destination = datagram.destination;
        self.keep(now, datagram);
        self.stats.repairs += 1;
        // Nobody looks for what is valid: the state changes first.
        if let Some(route) = self.table.entry(now, destination) {
            (route.state, route.expires) = (State::UnderRepair, Instant::MAX);
        }
        self.seek(now, destination);
        let due = self.searches.get(&destination).map_or(now, |search| search.due);
        let ends = match self.config.repair.map(|repair| repair.wait) {
            Some(RepairWait::For(span)) => now + span,
            Some(RepairWait::SinceStart) => now.saturating_add(due.saturating_since(Instant::ZERO)),
            Some(RepairWait::Ring) | None => due,
        };
        if let Some(route) = self.table.entry(now, destination).filter(|route| route.state == State::UnderRepair) {
            route.expires = ends;
        }
    }

    /// A repair got no answer: the search goes on for the node's own packets, if any wait.
    pub(super) fn fail_repair(&mut self, now: Instant, destination: Node) {
        self.stats.searches_failed += 1;
        if let Some(search) = self.searches.get_mut(&destination) {
            search.purpose = Purpose::Own;
        }
        self.abandon_repair(now, destination);
    }

    /// A repair has failed or may not even begin: tells the nodes that use the route, and drops their packets.
    fn abandon_repair(&mut self, now: Instant, destination: Node) {
        self.report(now, &[destination], false);
        while let Some(datagram) = self.buffer.take_foreign(destination, self.me) {
            self.drop_datagram(datagram, DropReason::NoRoute);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{AodvConfig, Repair, RepairWhen};
    use super::*;
    use airbraid_engine::Stream;

    /// Near destinations are repaired for others, as long as the packet may go on.
    #[test]
    fn a_route_is_repaired_for_packets_of_others_that_are_nearly_there() {
        let worth = |when: Option<RepairWhen>, source: u32, ttl: u8, come: u8, hops: u8| {
            let mut config = AodvConfig::rfc3561();
            config.repair = config.repair.and_then(|repair| when.map(|when| Repair { when, ..repair }));
            let node: Aodv<()> = Aodv::new(config, Node(1), Stream::new(1, 0, "jitter")).unwrap();
            let datagram = Datagram { packet: (), source: Node(source), destination: Node(9), ttl, hops: come };
            node.is_worth_repair(&datagram, hops)
        };
        let within = Some(RepairWhen::Within(3));
        assert_eq!([2, 3, 4].map(|hops| worth(within, 2, 5, 1, hops)), [true, true, false]);
        assert_eq!([1, 2].map(|source| worth(within, source, 5, 1, 1)), [false, true], "its own source looks itself");
        assert_eq!([0, 1].map(|ttl| worth(within, 2, ttl, 1, 1)), [false, true]);
        let nearer = Some(RepairWhen::NearerThanSource);
        assert_eq!([3, 4, 5].map(|hops| worth(nearer, 2, 5, 4, hops)), [true, false, false]);
        assert!(!worth(None, 2, 5, 1, 1));
    }

    /// Two intervals of a second are allowed: half of that has passed when less than a second is left.
    #[test]
    fn a_neighbour_is_long_silent_behind_half_of_what_is_allowed() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut node: Aodv<()> = Aodv::new(AodvConfig::rfc3561(), Node(1), Stream::new(1, 0, "jitter")).unwrap();
        assert!(!node.is_long_silent(at(0), Node(2)), "it never greeted");
        node.greeters.insert(Node(2), at(5_000));
        assert_eq!(
            [3_999, 4_000, 4_001, 6_000].map(|ms| node.is_long_silent(at(ms), Node(2))),
            [false, false, true, true]
        );
    }
}
