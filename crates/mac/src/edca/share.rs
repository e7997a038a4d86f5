//! The share of the common window that a PPDU of one link may take.
//!
//! ```text
//!   window  |o...............|=== n new ===|  given by other links meanwhile  |
//!            oldest that waits              next number                        W behind the oldest
//! ```
//!
//! A PPDU that carries the oldest MPDU that waits, `d` numbers before the next new one, holds the window until its
//! answer. Meanwhile the other links go on: where this link sends at the rate `r` and each other one at `s`, `n` new
//! MPDUs go with `n s / r` on each other link. None of them stalls if `d + n (1 + sum(s) / r) <= W`, thus
//! `n <= (W - d) r / (r + sum(s))`.
//!
//! So a loss makes the PPDUs behind it shorter until it is repaired, and without one the window is divided by the rates
//! of the links. What was lost goes again in any case, whatever the share.
//!
//! A link that waits for others on its channel will not begin while a short PPDU lasts, and leaves the window to the
//! rest: in the time `T` in which all links would use up the window, one that waits `A` for the medium has the part
//! `T / (T + A)` of its speed.

use super::link::LinkId;
use airbraid_units::{BitRate, Bytes, Duration, Instant};

/// Weight of a new value: the eighth of RFC 6298's smoothed round trip.
const NEW_WEIGHT: u64 = 8;

/// The time in which a link had something to send: it contended, or held the medium.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    before: Duration,
    since: Option<Instant>,
}

impl Demand {
    /// The link has something to send from now on, or nothing.
    #[inline]
    pub fn set(&mut self, now: Instant, has_work: bool) {
        match (self.since, has_work) {
            (None, true) => self.since = Some(now),
            (Some(since), false) => (self.before, self.since) = (self.before + (now - since), None),
            _ => {}
        }
    }
    /// The whole time until then.
    pub fn until(&self, now: Instant) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| now.saturating_since(since))
    }
}

/// A PPDU of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub link: LinkId,
    pub rate: BitRate,
    /// Mean length of its MPDUs.
    pub mpdu: Bytes,
    /// Time that it takes with access and answer, if nobody else is there.
    pub time: Duration,
    /// Time for which the link has had something to send, of any queue.
    pub demand: Duration,
}

/// The use of a link by a queue.
#[derive(Clone, Copy, Debug)]
struct Use {
    link: LinkId,
    /// The rate of the last PPDU.
    rate: BitRate,
    /// Mean time for which a PPDU waits for others on the channel.
    wait: Duration,
    /// Time of demand at the last PPDU.
    seen: Duration,
}

impl Use {
    fn new(sent: &Sent) -> Self {
        Self { link: sent.link, rate: sent.rate, wait: Duration::ZERO, seen: sent.demand }
    }

    fn add(&mut self, sent: &Sent) {
        let wait = sent.demand.saturating_sub(self.seen + sent.time);
        self.wait = (self.wait * (NEW_WEIGHT - 1) + wait) / NEW_WEIGHT;
        (self.rate, self.seen) = (sent.rate, sent.demand);
    }

    /// Bits a second beside others, in PPDUs of this length. The wait under way counts as soon as it is longer than
    /// usual.
    fn speed(&self, length: Duration, demand: Duration) -> u64 {
        let cycle = length + self.wait.max(demand.saturating_sub(self.seen));
        let speed = u128::from(self.rate.as_bps()) * u128::from(length.as_nanos());
        (speed / u128::from(cycle.as_nanos().max(1))) as u64
    }
}

/// The use that a queue makes of each link.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    links: Vec<Use>,
    /// Mean length of the MPDUs of its last PPDU.
    mpdu: Bytes,
}

impl Uses {
    /// A link begins to send a PPDU.
    pub fn on_sent(&mut self, sent: &Sent) {
        self.mpdu = sent.mpdu;
        let place = self.links.iter().position(|known| known.link == sent.link).unwrap_or_else(|| {
            self.links.push(Use::new(sent));
            self.links.len() - 1
        });
        self.links[place].add(sent);
    }

    /// A link could send, and leaves it to others: the time until then is no wait.
    pub fn on_left(&mut self, link: LinkId, demand: Duration) {
        if let Some(known) = self.links.iter_mut().find(|known| known.link == link) {
            known.seen = demand;
        }
    }

    /// The share of a link in a window; `None`: no other link takes any. `demand` tells for how long a link has had
    /// something to send.
    pub fn share(&self, link: LinkId, window: u16, demand: impl Fn(LinkId) -> Duration) -> Option<Share> {
        let own = self.links.iter().find(|known| known.link == link)?.rate.as_bps();
        let all = BitRate::from_bps(self.links.iter().map(|known| known.rate.as_bps()).sum());
        let length = all.time_for(self.mpdu * u64::from(window));
        let others = self.links.iter().filter(|known| known.link != link);
        let others: u64 = others.map(|known| known.speed(length, demand(known.link))).sum();
        (others > 0).then_some(Share { own, all: own + others })
    }
}

/// A share of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    own: u64,
    all: u64,
}

impl Share {
    /// The share of these numbers, one or more.
    pub fn of(self, numbers: u32) -> u32 {
        (u64::from(numbers) * self.own / self.all.max(1)).max(1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Each link sends at a rate \[Mbit/s\] a PPDU every `cycle` ms that takes 1 ms by itself; 1000 MPDUs are 1 Mbit.
    fn uses(links: &[(u64, u64)]) -> (Uses, Vec<Duration>) {
        let (mut uses, mut demands) = (Uses::default(), vec![Duration::ZERO; links.len()]);
        for _ in 0..200 {
            for ((place, (rate, cycle)), demand) in links.iter().enumerate().zip(&mut demands) {
                *demand += MS * *cycle;
                let (link, rate) = (LinkId(place as u8), BitRate::from_bps(rate * 1_000_000));
                uses.on_sent(&Sent { link, rate, mpdu: Bytes::new(125), time: MS, demand: *demand });
            }
        }
        (uses, demands)
    }
    fn shares(links: &[(u64, u64)], numbers: u32) -> Vec<u32> {
        let (uses, demands) = uses(links);
        let of = |place: usize| uses.share(LinkId(place as u8), 1_000, |link| demands[usize::from(link.0)]);
        (0..links.len()).map(|place| of(place).map_or(numbers, |share| share.of(numbers))).collect()
    }

    #[test]
    fn demand_is_the_time_with_something_to_send() {
        let at = |ms: u64| Instant::ZERO + MS * ms;
        let mut demand = Demand::default();
        for (ms, has_work) in [(2, true), (3, true), (5, false), (7, false), (9, true)] {
            demand.set(at(ms), has_work);
        }
        assert_eq!([4, 9, 12].map(|ms| demand.until(at(ms))), [3, 3, 6].map(|ms| MS * ms));
    }

    #[test]
    fn a_link_alone_has_the_whole_window() {
        assert_eq!(shares(&[(100, 1)], 1_024), [1_024]);
        assert_eq!(Uses::default().share(LinkId(0), 1_024, |_| MS), None);
    }

    #[test]
    fn links_share_by_their_speeds() {
        assert_eq!(shares(&[(300, 1), (100, 1)], 1_000), [750, 250]);
        assert_eq!(shares(&[(300, 1), (100, 1)], 1), [1, 1], "one MPDU goes in any case");
    }

    #[test]
    fn a_link_that_waits_for_others_leaves_its_share_to_the_rest() {
        // 1000 numbers last 5 ms; the second link waits for 5 ms before each PPDU.
        assert_eq!(shares(&[(100, 1), (100, 6)], 1_000), [666, 500]);
    }

    #[test]
    fn a_link_that_waits_longer_than_ever_counts_less_and_less() {
        let (uses, demands) = uses(&[(100, 1), (100, 1)]);
        let waits = |ms: u64| uses.share(LinkId(0), 1_000, |link| demands[usize::from(link.0)] + MS * ms);
        assert_eq!([0, 5, 45].map(|ms| waits(ms).map_or(0, |share| share.of(1_000))), [500, 666, 909]);
    }

    /// An eighth of the news: 8 ms of wait count for 1 ms. The window of 1000 lasts 5 ms.
    #[test]
    fn a_wait_counts_for_an_eighth_unless_the_link_has_left_what_there_was() {
        let sent = |place: u8, demand: Duration| {
            let rate = BitRate::from_bps(100_000_000);
            Sent { link: LinkId(place), rate, mpdu: Bytes::new(125), time: MS, demand }
        };
        let share = |leaves: bool| {
            let mut uses = Uses::default();
            [0, 1].into_iter().for_each(|place| uses.on_sent(&sent(place, MS)));
            if leaves {
                uses.on_left(LinkId(1), MS * 9);
            }
            uses.on_sent(&sent(1, MS * 10));
            uses.share(LinkId(0), 1_000, |_| MS * 10).unwrap().of(1_000)
        };
        assert_eq!([false, true].map(share), [545, 500], "1 / (1 + 5/6), and half");
    }
}
