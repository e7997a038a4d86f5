//! The routing table of one node: the neighbour that leads to each destination, its distance, its freshness.
//!
//! Every change goes through the few functions here, and each keeps the promise on which the freedom of loops rests:
//! the freshness of a node's knowledge of a destination (number, less one while the route is invalid; then hops)
//! never gets worse. Nothing is ever forgotten: an entry outlives its route with its number (RFC 3561 permits to delete
//! it after DELETE_PERIOD and does not ask for it).

use super::Node;
use super::config::Flavour;
use airbraid_units::{Instant, SeqNum};
use std::collections::{BTreeMap, BTreeSet};

/// The entry for one destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The destination's number, if it was ever heard.
    pub sequence: Option<SeqNum>,
    /// Hops to the destination; of an invalid route, the last value.
    pub hops: u8,
    /// Hops when the route was last lost; `None`: it never was.
    pub(super) hops_lost: Option<u8>,
    /// The neighbour on the way.
    pub next_hop: Node,
    /// End of the route's validity.
    pub expires: Instant,
    pub(super) state: State,
    /// Whether the number belongs to this route (flag "valid destination sequence number").
    pub(super) is_sequence_valid: bool,
    /// Neighbours that use this node on their way to the destination.
    pub(super) precursors: BTreeSet<Node>,
}

/// The state of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Valid,
    Invalid,
    /// ns-2 only, until the route's expiry: broken, but its number and hops still rule out others that are no better.
    UnderRepair,
}

/// A route on offer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub sequence: SeqNum,
    pub hops: u8,
    pub next_hop: Node,
    pub expires: Instant,
}

#[derive(Clone, Debug)]
pub(super) struct Table {
    flavour: Flavour,
    routes: BTreeMap<Node, Route>,
    /// Packets have gone along a route so recently that this node is part of it until then.
    in_use_until: Instant,
}

impl Table {
    pub(super) const fn new(flavour: Flavour) -> Self {
        Self { flavour, routes: BTreeMap::new(), in_use_until: Instant::ZERO }
    }

    /// The entry of `destination`, as it is at `now`: a route that has expired is invalid from that very instant, as if
    /// a timer had fired.
    pub(super) fn entry(&mut self, now: Instant, destination: Node) -> Option<&mut Route> {
        let route = self.routes.get_mut(&destination)?;
        route.settle(now);
        Some(route)
    }

    /// The valid route to `destination`.
    pub(super) fn valid(&mut self, now: Instant, destination: Node) -> Option<&mut Route> {
        self.entry(now, destination).filter(|route| route.state == State::Valid)
    }

    /// The result of [`Self::valid`], without settling anything.
    pub(super) fn peek(&self, now: Instant, destination: Node) -> Option<&Route> {
        self.routes.get(&destination).filter(|route| route.state == State::Valid && route.expires > now)
    }

    /// A packet goes along a route: this node is part of an active one until `until` at least (section 6.9).
    pub(super) fn note_use(&mut self, until: Instant) {
        self.in_use_until = self.in_use_until.max(until);
    }

    /// Whether this node is part of an active route at `at` by what is known now.
    pub(super) fn is_used_at(&self, at: Instant) -> bool {
        self.in_use_until > at
    }

    /// Whether any route is valid.
    pub(super) fn has_valid(&self, now: Instant) -> bool {
        self.routes.values().any(|route| route.state == State::Valid && route.expires > now)
    }

    /// Accepts a route if it is fresher, or as fresh and shorter or not needing to be (section 6.2); returns whether it
    /// did. A number older than the kept one never replaces it, whatever its flag says.
    pub(super) fn offer(&mut self, now: Instant, destination: Node, offer: Offer) -> bool {
        let flavour = self.flavour;
        let Some(route) = self.entry(now, destination) else {
            self.routes.insert(destination, Route::new(Some(offer.sequence), offer));
            return true;
        };
        let is_better = route.sequence.is_none_or(|sequence| {
            // A bare message has made the route, and this tells that the number kept belongs to it.
            let confirms = flavour == Flavour::Rfc3561 && !route.is_sequence_valid && offer.hops <= route.hops;
            let is_needed = route.state == State::Invalid || offer.hops < route.hops || confirms;
            offer.sequence.is_after(sequence) || (offer.sequence == sequence && is_needed)
        });
        if is_better {
            // The lifetime that was promised stands if it is longer.
            let expires = if route.state == State::Valid { route.expires.max(offer.expires) } else { offer.expires };
            let (precursors, hops_lost) = (std::mem::take(&mut route.precursors), route.hops_lost);
            *route = Route { expires, precursors, hops_lost, ..Route::new(Some(offer.sequence), offer) };
        }
        is_better
    }

    /// A message came straight from `neighbour`: there is a route of one hop, though of unknown number (section 6.2).
    /// The kept number stays, so this makes nothing older.
    pub(super) fn meet(&mut self, now: Instant, neighbour: Node, expires: Instant) {
        let offer = Offer { sequence: SeqNum(0), hops: 1, next_hop: neighbour, expires };
        match self.entry(now, neighbour) {
            None => {
                self.routes.insert(neighbour, Route { is_sequence_valid: false, ..Route::new(None, offer) });
            }
            Some(route) if route.state == State::Valid && route.hops == 1 => route.expires = route.expires.max(expires),
            Some(route) => {
                let (sequence, hops_lost) = (route.sequence, route.hops_lost);
                let precursors = std::mem::take(&mut route.precursors);
                let expires = if route.state == State::Valid { route.expires.max(expires) } else { expires };
                let met = Route::new(sequence, offer);
                *route = Route { is_sequence_valid: false, precursors, expires, hops_lost, ..met };
            }
        }
    }

    /// A valid route to `destination` lasts until `expires` at least.
    pub(super) fn prolong(&mut self, now: Instant, destination: Node, expires: Instant) {
        if let Some(route) = self.valid(now, destination) {
            route.expires = route.expires.max(expires);
        }
    }

    /// `precursor` goes to `destination` by way of this node.
    pub(super) fn add_precursor(&mut self, now: Instant, destination: Node, precursor: Node) {
        if let Some(route) = self.entry(now, destination) {
            route.precursors.insert(precursor);
        }
    }

    /// Makes all valid routes through `next_hop` invalid (section 6.11); returns the destinations.
    pub(super) fn break_link(&mut self, now: Instant, next_hop: Node) -> Vec<Node> {
        let mut broken = Vec::new();
        for (&destination, route) in &mut self.routes {
            route.settle(now);
            if route.state == State::Valid && route.next_hop == next_hop {
                route.invalidate();
                broken.push(destination);
            }
        }
        broken
    }

    /// Makes all routes invalid.
    pub(super) fn invalidate_all(&mut self, now: Instant) {
        self.in_use_until = Instant::ZERO;
        for route in self.routes.values_mut() {
            route.settle(now);
            if route.state != State::Invalid {
                route.invalidate();
            }
            route.precursors.clear();
        }
    }

    /// `from` reports that `destination` is unreachable through it, and that routes older than `sequence` are void.
    /// Returns the route if this is news: it leads there and is older. A route of equal number has been learned since,
    /// so that the report is stale; ns-2 believes it all the same.
    pub(super) fn hit_by_error(
        &mut self,
        now: Instant,
        from: Node,
        destination: Node,
        sequence: SeqNum,
    ) -> Option<&mut Route> {
        let flavour = self.flavour;
        let route = self.valid(now, destination).filter(|route| route.next_hop == from)?;
        let known = route.sequence?;
        let counts = sequence.is_after(known) || (flavour == Flavour::Ns2 && sequence == known);
        counts.then_some(route)
    }
}

impl Route {
    fn new(sequence: Option<SeqNum>, offer: Offer) -> Self {
        Self {
            sequence,
            hops: offer.hops,
            hops_lost: None,
            next_hop: offer.next_hop,
            expires: offer.expires,
            state: State::Valid,
            is_sequence_valid: true,
            precursors: BTreeSet::new(),
        }
    }

    fn settle(&mut self, now: Instant) {
        match self.state {
            _ if self.expires > now => {}
            State::Valid => self.invalidate(),
            State::UnderRepair => self.lose(),
            State::Invalid => {}
        }
    }

    /// Makes the route invalid and increases its number: a node that looks for a route now refuses those that led here.
    pub(super) fn invalidate(&mut self) {
        self.sequence = self.sequence.map(SeqNum::next);
        self.lose();
    }

    /// The route is invalid because its next hop reported it, with the number.
    pub(super) fn invalidate_with(&mut self, sequence: SeqNum) {
        self.sequence = Some(sequence);
        self.lose();
    }

    fn lose(&mut self) {
        self.state = State::Invalid;
        self.hops_lost = Some(self.hops);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEIGHBOUR: Node = Node(1);

    fn at(s: u64) -> Instant {
        Instant::from_nanos(s * 1_000_000_000)
    }
    fn table(hops: u8) -> Table {
        let mut table = Table::new(Flavour::Rfc3561);
        let offer = Offer { sequence: SeqNum(7), hops, next_hop: Node(u32::from(hops)), expires: at(5) };
        assert!(table.offer(at(0), NEIGHBOUR, offer));
        table.valid(at(0), NEIGHBOUR).unwrap().precursors.insert(Node(9));
        table
    }

    #[test]
    fn a_neighbour_that_was_never_heard_of_is_one_hop_away_and_its_number_unknown() {
        let mut table = Table::new(Flavour::Rfc3561);
        table.meet(at(0), NEIGHBOUR, at(3));
        let route = table.peek(at(2), NEIGHBOUR).unwrap();
        assert_eq!((route.hops, route.next_hop, route.sequence), (1, NEIGHBOUR, None));
        assert!(!route.is_sequence_valid && table.peek(at(3), NEIGHBOUR).is_none());
    }

    #[test]
    fn a_neighbour_that_is_met_again_keeps_its_number_and_lasts_longer() {
        for (met_until, lasts_until) in [(9, 9), (2, 5)] {
            let mut table = table(1);
            table.meet(at(1), NEIGHBOUR, at(met_until));
            let route = table.peek(at(1), NEIGHBOUR).unwrap();
            assert!(route.is_sequence_valid, "the number is still this route's");
            assert_eq!((route.sequence, route.expires), (Some(SeqNum(7)), at(lasts_until)));
        }
    }

    #[test]
    fn a_detour_to_a_neighbour_ends_when_it_is_met() {
        let mut table = table(3);
        table.meet(at(1), NEIGHBOUR, at(2));
        let route = table.peek(at(1), NEIGHBOUR).unwrap();
        assert_eq!((route.hops, route.next_hop, route.expires), (1, NEIGHBOUR, at(5)));
        assert_eq!((route.sequence, route.is_sequence_valid), (Some(SeqNum(7)), false), "as old as it was known to be");
        assert!(route.precursors.contains(&Node(9)), "those who use it still do");
    }

    const DESTINATION: Node = Node(1);
    const NEXT: Node = Node(2);

    fn offered(sequence: u32, hops: u8) -> Offer {
        Offer { sequence: SeqNum(sequence), hops, next_hop: NEXT, expires: at(100) }
    }
    /// A table with a route of three hops and the number 5, perhaps lost since: then the number is 6.
    fn of_three(flavour: Flavour, is_lost: bool) -> Table {
        let mut table = Table::new(flavour);
        assert!(table.offer(at(0), DESTINATION, offered(5, 3)));
        if is_lost {
            assert_eq!(table.break_link(at(1), NEXT), [DESTINATION]);
        }
        table
    }

    /// Section 6.2: a newer number, or the same with fewer hops, or the same where the route is lost.
    #[test]
    fn a_route_is_replaced_by_a_fresher_or_shorter_one() {
        for flavour in [Flavour::Rfc3561, Flavour::Ns2] {
            let takes =
                |is_lost, sequence, hops| of_three(flavour, is_lost).offer(at(2), DESTINATION, offered(sequence, hops));
            let valid = [(4, 1), (5, 2), (5, 3), (5, 4), (6, 9)].map(|(sequence, hops)| takes(false, sequence, hops));
            assert_eq!(valid, [false, true, false, false, true]);
            let lost = [(5, 1), (6, 3), (6, 9), (7, 9)].map(|(sequence, hops)| takes(true, sequence, hops));
            assert_eq!(lost, [false, true, true, true]);
        }
    }

    /// A message came straight from the destination, without its number: by the RFC a reply of the number that is kept
    /// tells that it belongs to this route, unless it is longer.
    #[test]
    fn a_reply_confirms_the_number_of_a_neighbour_that_was_met() {
        for (flavour, takes) in [(Flavour::Rfc3561, [true, false]), (Flavour::Ns2, [false, false])] {
            let met = |hops| {
                let mut table = of_three(flavour, false);
                table.meet(at(2), DESTINATION, at(50));
                let route = table.peek(at(2), DESTINATION).unwrap();
                assert_eq!((route.hops, route.next_hop, route.sequence), (1, DESTINATION, Some(SeqNum(5))));
                assert_eq!((route.is_sequence_valid, route.expires), (false, at(100)), "the longer promise stands");
                table.offer(at(2), DESTINATION, offered(5, hops))
            };
            assert_eq!([met(1), met(2)], takes);
        }
        // Of a neighbour that was never heard of no number is known: any is better.
        let mut table = Table::new(Flavour::Ns2);
        table.meet(at(2), DESTINATION, at(50));
        assert_eq!(table.peek(at(2), DESTINATION).map(|route| (route.sequence, route.expires)), Some((None, at(50))));
        assert!(table.offer(at(2), DESTINATION, offered(0, 9)));
    }

    #[test]
    fn a_route_ends_with_its_time_and_keeps_its_number() {
        let mut table = of_three(Flavour::Rfc3561, false);
        assert!(table.peek(at(99), DESTINATION).is_some() && table.has_valid(at(99)));
        assert!(table.peek(at(100), DESTINATION).is_none() && !table.has_valid(at(100)));
        table.prolong(at(50), DESTINATION, at(80));
        assert!(table.peek(at(99), DESTINATION).is_some(), "it is never shortened");
        table.prolong(at(50), DESTINATION, at(120));
        assert!(table.valid(at(119), DESTINATION).is_some() && table.valid(at(120), DESTINATION).is_none());
        let route = table.entry(at(120), DESTINATION).unwrap();
        assert_eq!((route.state, route.sequence, route.hops), (State::Invalid, Some(SeqNum(6)), 3));
        table.prolong(at(121), DESTINATION, at(200));
        assert!(table.valid(at(121), DESTINATION).is_none(), "what is lost is not prolonged");
    }

    /// Precursors are kept while a route is renewed, and go when a node has lost everything.
    #[test]
    fn precursors_are_those_who_use_the_route() {
        let mut table = of_three(Flavour::Rfc3561, false);
        [7, 8, 7].into_iter().for_each(|node| table.add_precursor(at(1), DESTINATION, Node(node)));
        table.add_precursor(at(1), Node(9), Node(7));
        assert!(table.entry(at(1), Node(9)).is_none(), "there is no such route");
        let of =
            |table: &mut Table| table.entry(at(2), DESTINATION).unwrap().precursors.iter().copied().collect::<Vec<_>>();
        assert_eq!(of(&mut table), [Node(7), Node(8)]);
        table.offer(at(2), DESTINATION, offered(6, 1));
        assert_eq!(of(&mut table), [Node(7), Node(8)]);
        table.note_use(at(9));
        assert!(table.is_used_at(at(8)) && !table.is_used_at(at(9)));
        table.note_use(at(5));
        assert!(table.is_used_at(at(8)), "the longest use counts");
        table.invalidate_all(at(2));
        assert!(of(&mut table).is_empty() && !table.has_valid(at(2)) && !table.is_used_at(at(2)));
    }

    /// A report of a newer number counts, where the route leads to who reports; in ns-2 of an equal one, too.
    #[test]
    fn a_report_counts_if_it_is_news() {
        for (flavour, counts) in [(Flavour::Rfc3561, [false, false, true]), (Flavour::Ns2, [false, true, true])] {
            let hit = |from, sequence| {
                of_three(flavour, false).hit_by_error(at(1), from, DESTINATION, SeqNum(sequence)).is_some()
            };
            assert_eq!([4, 5, 6].map(|sequence| hit(NEXT, sequence)), counts);
            assert!(!hit(Node(3), 9), "the route leads elsewhere");
        }
    }

    #[test]
    fn a_broken_link_ends_the_routes_over_it() {
        let mut table = of_three(Flavour::Rfc3561, false);
        table.offer(at(0), Node(5), Offer { next_hop: Node(3), ..offered(1, 2) });
        assert_eq!(table.break_link(at(1), NEXT), [DESTINATION]);
        assert_eq!(table.break_link(at(1), NEXT), [], "they are lost already");
        assert!(table.peek(at(1), Node(5)).is_some());
    }
}
