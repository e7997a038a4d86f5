//! Which link of a multi-link device a packet is put to before that link has the medium.
//!
//! The standard's own way is none of these: MPDUs wait in one queue until a link has won its TXOP. What is put to a
//! link has its number already, so that the receiver can restore the order, and waits for that link, unless it is lost
//! there: then it goes again on whichever link is next.

use super::link::{LinkId, Links};
use airbraid_units::{Duration, Instant};

/// The way in which packets are put to links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocation {
    /// Not at all: the link that has the medium takes what waits longest.
    #[default]
    Shared,
    /// A flow goes to the link that was least occupied when it began (SLCI: single link, less congested interface).
    LeastOccupied,
    /// A flow is spread by the time that each link had free when it began (MCAA: multi-link congestion-aware).
    ByFreeTime,
    /// Each packet goes to the link after that of the last.
    RoundRobin,
    /// Not at all: the link that has the medium takes what waits longest, and leaves to others what they are expected
    /// to deliver before.
    Expected,
}

/// Time over which occupancy is measured: a beacon interval of 100 TU (9.4.2.27, channel utilisation).
const OCCUPANCY_INTERVAL: Duration = Duration::from_micros(102_400);
/// A flow that has sent nothing for this time begins again.
const FLOW_PAUSE: Duration = OCCUPANCY_INTERVAL;
/// The time in which a link is taken, by this station or others.
#[derive(Clone, Copy, Debug, Default)]
struct Occupancy {
    /// Begin of the interval, and the time taken in it.
    begun: Instant,
    taken: Duration,
    /// Since when it is taken, if it is.
    since: Option<Instant>,
    /// Time taken in the last whole interval.
    last: Duration,
}

impl Occupancy {
    fn follow(&mut self, now: Instant) {
        while now - self.begun >= OCCUPANCY_INTERVAL {
            let end = self.begun + OCCUPANCY_INTERVAL;
            if let Some(since) = &mut self.since {
                self.taken += end - *since;
                *since = end;
            }
            self.last = std::mem::take(&mut self.taken);
            self.begun = end;
        }
    }

    fn set(&mut self, now: Instant, is_taken: bool) {
        self.follow(now);
        match (self.since, is_taken) {
            (None, true) => self.since = Some(now),
            (Some(since), false) => {
                self.taken += now - since;
                self.since = None;
            }
            _ => {}
        }
    }

    /// The station itself has taken it for this time.
    fn add(&mut self, now: Instant, airtime: Duration) {
        self.follow(now);
        self.taken += airtime;
    }

    /// Time taken in an interval.
    fn taken(&mut self, now: Instant) -> Duration {
        self.follow(now);
        self.last
    }
}

/// The knowledge of a link.
#[derive(Clone, Copy, Debug)]
struct Load {
    link: LinkId,
    occupancy: Occupancy,
}

/// A flow, by its number.
#[derive(Clone, Debug)]
struct Flow {
    number: u16,
    last: Instant,
    /// For each link its share and what it has been given of it: the largest rest is next.
    shares: Vec<(u64, i64)>,
}

/// Puts packets for one peer to links.
#[derive(Clone, Debug)]
pub(super) struct Allocator {
    way: Allocation,
    links: Vec<Load>,
    flows: Vec<Flow>,
    turn: usize,
}

impl Allocator {
    /// The part that puts packets to links in this way; `None`: nothing does.
    pub fn of(way: Allocation) -> Option<Box<Self>> {
        let is_put = !matches!(way, Allocation::Shared | Allocation::Expected);
        is_put.then(|| Box::new(Self { way, links: Vec::new(), flows: Vec::new(), turn: 0 }))
    }
    pub fn add_link(&mut self, link: LinkId) {
        self.links.push(Load { link, occupancy: Occupancy::default() });
    }
    fn load(&mut self, link: LinkId) -> Option<&mut Load> {
        self.links.iter_mut().find(|load| load.link == link)
    }

    /// A link becomes taken, or free.
    pub fn on_medium(&mut self, now: Instant, link: LinkId, is_taken: bool) {
        if let Some(load) = self.load(link) {
            load.occupancy.set(now, is_taken);
        }
    }

    /// This station sends on a link for this time.
    pub fn on_own_transmission(&mut self, now: Instant, link: LinkId, airtime: Duration) {
        if let Some(load) = self.load(link) {
            load.occupancy.add(now, airtime);
        }
    }

    /// The link, one of these, for the next packet of a flow.
    pub fn put(&mut self, now: Instant, flow: u16, links: Links) -> LinkId {
        let place = match self.way {
            // Where packets are shared there is no allocator.
            Allocation::Shared | Allocation::Expected | Allocation::RoundRobin => self.next_in_turn(links),
            Allocation::LeastOccupied | Allocation::ByFreeTime => self.by_occupancy(now, flow, links),
        };
        self.links[place].link
    }

    fn next_in_turn(&mut self, links: Links) -> usize {
        let count = self.links.len();
        let mut places = (1..=count).map(|step| (self.turn + step) % count);
        self.turn = places.find(|place| links.contains(self.links[*place].link)).unwrap_or(0);
        self.turn
    }

    fn by_occupancy(&mut self, now: Instant, number: u16, links: Links) -> usize {
        self.flows.retain(|flow| now - flow.last <= FLOW_PAUSE);
        let place = self.flows.iter().position(|flow| flow.number == number).unwrap_or_else(|| {
            let shares = self.shares(now, links);
            self.flows.push(Flow { number, last: now, shares });
            self.flows.len() - 1
        });
        let flow = &mut self.flows[place];
        flow.last = now;
        next_by_share(&mut flow.shares)
    }

    /// The shares of a flow that begins now: free time of each link in an interval \[ns\].
    fn shares(&mut self, now: Instant, links: Links) -> Vec<(u64, i64)> {
        let free = |load: &mut Load| {
            let free = OCCUPANCY_INTERVAL.saturating_sub(load.occupancy.taken(now)).as_nanos();
            // One that is taken all the time has a little, so that there is a link in any case.
            if links.contains(load.link) { free.max(1) } else { 0 }
        };
        let mut free: Vec<u64> = self.links.iter_mut().map(free).collect();
        if self.way == Allocation::LeastOccupied {
            let most = (0..free.len()).rev().max_by_key(|place| free[*place]).unwrap_or(0);
            free.iter_mut().enumerate().for_each(|(place, free)| *free = u64::from(place == most));
        }
        free.into_iter().map(|free| (free, 0)).collect()
    }
}

/// The link whose share is furthest ahead of what it has been given; smooth weighted round robin.
fn next_by_share(shares: &mut [(u64, i64)]) -> usize {
    let total: u64 = shares.iter().map(|(share, _)| share).sum();
    shares.iter_mut().for_each(|(share, rest)| *rest += *share as i64);
    let next = (0..shares.len()).rev().max_by_key(|place| shares[*place].1).unwrap_or(0);
    if let Some((_, rest)) = shares.get_mut(next) {
        *rest -= total as i64;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(way: Allocation, links: u8) -> Box<Allocator> {
        let mut allocator = Allocator::of(way).unwrap();
        (0..links).for_each(|link| allocator.add_link(LinkId(link)));
        allocator
    }
    fn all() -> Links {
        let mut all = Links::default();
        (0..3).for_each(|link| all.insert(LinkId(link)));
        all
    }
    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }
    fn put(allocator: &mut Allocator, now: Instant, flow: u16, count: usize) -> Vec<u8> {
        (0..count).map(|_| allocator.put(now, flow, all()).0).collect()
    }

    #[test]
    fn each_in_turn() {
        assert_eq!(put(&mut of(Allocation::RoundRobin, 3), ms(0), 0, 5), [1, 2, 0, 1, 2]);
    }

    #[test]
    fn a_link_that_does_not_carry_the_tid_is_left_out() {
        let two = Links::of(LinkId(2));
        for way in [Allocation::RoundRobin, Allocation::LeastOccupied, Allocation::ByFreeTime] {
            let mut allocator = of(way, 3);
            assert!((0..4).all(|_| allocator.put(ms(0), 0, two) == LinkId(2)), "{way:?}");
        }
    }

    /// The first link is taken for half of the interval, the second for a quarter.
    fn with_occupancy(way: Allocation) -> Box<Allocator> {
        let mut allocator = of(way, 2);
        let us = |us: u64| Instant::ZERO + Duration::from_micros(us);
        for (link, at, is_taken) in [(0, 0, true), (1, 10_000, true), (1, 35_600, false), (0, 51_200, false)] {
            allocator.on_medium(us(at), LinkId(link), is_taken);
        }
        allocator
    }

    #[test]
    fn a_flow_stays_on_the_link_that_was_least_occupied() {
        let mut allocator = with_occupancy(Allocation::LeastOccupied);
        assert_eq!(put(&mut allocator, ms(110), 7, 3), [1, 1, 1]);
        // The second link is taken from now on; the flow stays, a new one goes to the first.
        allocator.on_medium(ms(110), LinkId(1), true);
        (1..4).for_each(|n| assert_eq!(put(&mut allocator, ms(110 + 100 * n), 7, 1), [1]));
        assert_eq!(put(&mut allocator, ms(410), 8, 1), [0]);
        // It begins again after a pause.
        assert_eq!(put(&mut allocator, ms(600), 7, 1), [0]);
    }

    #[test]
    fn a_flow_is_spread_by_free_time() {
        // Half and three quarters are free: two of five, three of five.
        let places = put(&mut with_occupancy(Allocation::ByFreeTime), ms(110), 7, 10);
        assert_eq!(places.iter().filter(|place| **place == 0).count(), 4, "{places:?}");
    }
}
