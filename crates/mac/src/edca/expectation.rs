//! The expectation of a device of its links, where a link leaves to others what they deliver before
//! ([`delivery`](super::delivery)): the time of an access, the part that comes through, and how late the rest comes.
//!
//! ```text
//!   contends .... access |== PPDU ==|  |BA|  . . . . . |= lost MPDUs, on any link =|
//!   |------- wait -------|             until |------------------ late -------------------|
//! ```
//!
//! An access is that of a link and category of the device, whatever it was for. What is lost is that of a queue, since
//! its window waits for it. A link of which TXOPs fail begins them by RTS where a PPDU would lose more.

use super::category::AccessCategory;
use super::delivery::{Backlog, Part, Way, first_here};
use super::frames::{SEQUENCES, ahead};
use super::link::LinkId;
use airbraid_units::{BitRate, Duration, Instant};

/// Weight of a new value: the eighth of RFC 6298's smoothed round trip.
const NEW_WEIGHT: u64 = 8;

/// A mean that begins with its first value.
#[derive(Clone, Copy, Debug, Default)]
struct Mean(Option<Duration>);

impl Mean {
    fn add(&mut self, new: Duration) {
        self.0 = Some(self.0.map_or(new, |mean| (mean * (NEW_WEIGHT - 1) + new) / NEW_WEIGHT));
    }
    /// A time that was cut off: it belongs to the sum, and not to the number. So the mean is that of the maximum
    /// likelihood for exponential times, and not that of the short ones alone.
    fn lengthen(&mut self, cut_off: Duration) {
        self.0 = Some(self.0.map_or(cut_off, |mean| mean + cut_off / NEW_WEIGHT));
    }
    fn get(self) -> Duration {
        self.0.unwrap_or(Duration::ZERO)
    }
}

/// The accesses of a category on a link.
#[derive(Clone, Copy, Debug, Default)]
struct Access {
    /// Since when it has had something to send, and has sent nothing: at the earliest from the end of its last PPDU.
    since: Option<Instant>,
    /// Mean time until it could send.
    wait: Mean,
}

/// The accesses of a link.
#[derive(Clone, Copy, Debug, Default)]
struct LinkAccesses {
    of: [Access; AccessCategory::COUNT],
    /// End of its last PPDU, with the answer.
    until: Instant,
    /// Mean share of its TXOPs of which the first frame had no answer, of [`ALL`].
    unanswered: u64,
}

/// The accesses of a device.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses(Vec<LinkAccesses>);

impl Accesses {
    fn reach(&mut self, link: LinkId) -> &mut LinkAccesses {
        let place = usize::from(link.0);
        if place >= self.0.len() {
            self.0.resize(place + 1, LinkAccesses::default());
        }
        &mut self.0[place]
    }

    /// A link has something to send in a category from now on, or nothing: another one may have sent it.
    pub fn set(&mut self, now: Instant, link: LinkId, category: AccessCategory, has_work: bool) {
        let known = self.reach(link);
        let until = known.until;
        let access = &mut known.of[category.index()];
        if has_work {
            access.since.get_or_insert(now.max(until));
        } else if let Some(since) = access.since.take() {
            access.wait.lengthen(now.saturating_since(since));
        }
    }

    fn on_access(&mut self, at: Instant, link: LinkId, category: AccessCategory) {
        let access = &mut self.reach(link).of[category.index()];
        if let Some(since) = access.since.take() {
            access.wait.add(at.saturating_since(since));
        }
    }
    /// A link sends data at `at`, and is taken until then.
    pub fn on_sent(&mut self, at: Instant, link: LinkId, category: AccessCategory, until: Instant) {
        self.on_access(at, link, category);
        self.reach(link).until = until;
    }
    /// A link could send, and leaves it to others.
    pub fn on_left(&mut self, at: Instant, link: LinkId, category: AccessCategory) {
        self.on_access(at, link, category);
        self.set(at, link, category, true);
    }

    /// The first frame of a TXOP was answered, or was not.
    pub fn on_first_answer(&mut self, link: LinkId, has_come: bool) {
        let unanswered = &mut self.reach(link).unanswered;
        *unanswered = (*unanswered * (NEW_WEIGHT - 1) + if has_come { 0 } else { ALL }) / NEW_WEIGHT;
    }
    /// Expected part of this time that is lost, for the first frame has no answer.
    pub fn risk(&self, link: LinkId, time: Duration) -> Duration {
        self.0.get(usize::from(link.0)).map_or(Duration::ZERO, |known| time * known.unanswered / ALL)
    }

    /// Time until a link can send. The wait under way counts as soon as it is longer than usual.
    fn ready(&self, now: Instant, link: LinkId, category: AccessCategory) -> Duration {
        let Some(known) = self.0.get(usize::from(link.0)) else { return Duration::ZERO };
        let access = &known.of[category.index()];
        let under_way = access.since.map_or(Duration::ZERO, |since| now.saturating_since(since));
        known.until.saturating_since(now) + access.wait.get().max(under_way)
    }
}

/// All MPDUs of a PPDU are acknowledged.
const ALL: u64 = 1024;

/// Lost MPDUs of a link for which the window waits.
#[derive(Clone, Copy, Debug)]
struct Owed {
    /// End of the PPDU in which they were, with its answer.
    until: Instant,
    /// The number behind the newest of them.
    end: u16,
}

/// The use of a link by a queue.
#[derive(Clone, Copy, Debug)]
struct LinkUse {
    link: LinkId,
    /// The rate of the last PPDU, or of its highest format, and the end of that PPDU with the answer.
    rate: BitRate,
    until: Instant,
    /// Mean share of its MPDUs that are acknowledged, of [`ALL`].
    success: u64,
    /// Mean time by which all MPDUs of a PPDU have come later than with its answer.
    late: Mean,
    owed: Option<Owed>,
    /// Time of the last exchange without its data; `None`: it has sent nothing yet.
    cost: Option<Duration>,
    /// When others should have delivered all that this link left to them, if nothing was sent since.
    left_until: Option<Instant>,
}

impl LinkUse {
    /// A link that has sent nothing: all of that is expected to come.
    fn new(link: LinkId, rate: BitRate) -> Self {
        let (until, late) = (Instant::ZERO, Mean::default());
        Self { link, rate, until, success: ALL, late, owed: None, cost: None, left_until: None }
    }
    /// Bits a second that come through while it sends.
    fn speed(&self) -> u64 {
        (self.rate.as_bps() * self.success / ALL).max(1)
    }
    /// Time by which what it takes is late. What is owed counts as soon as that is longer than usual.
    fn late(&self, now: Instant) -> Duration {
        let owed = self.owed.map_or(Duration::ZERO, |owed| now.saturating_since(owed.until));
        self.late.get().max(owed)
    }
}

/// A PPDU of a queue on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentPpdu {
    pub link: LinkId,
    pub rate: BitRate,
    /// Its end, with the answer.
    pub until: Instant,
    /// Time of its exchange without its data.
    pub cost: Duration,
}

/// The expectation of a queue of each link.
#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    links: Vec<LinkUse>,
}

impl Deliveries {
    /// A link sends a PPDU.
    pub fn on_sent(&mut self, sent: &SentPpdu) {
        let SentPpdu { link, rate, until, cost } = *sent;
        self.expect(link, || rate);
        if let Some(known) = self.links.iter_mut().find(|known| known.link == link) {
            (known.rate, known.until, known.cost) = (rate, until, Some(cost));
        }
        self.links.iter_mut().for_each(|known| known.left_until = None);
    }

    /// A link may send, with this rate as far as is known.
    pub fn expect(&mut self, link: LinkId, rate: impl Fn() -> BitRate) {
        if self.links.iter().all(|known| known.link != link) {
            self.links.push(LinkUse::new(link, rate()));
        }
    }

    /// Of the `sent` MPDUs of the last PPDU of a link this number is acknowledged; `lost` is the last of the others.
    pub fn on_answer(&mut self, link: LinkId, (acknowledged, sent): (u32, u32), lost: Option<u16>) {
        let Some(known) = self.links.iter_mut().find(|known| known.link == link) else { return };
        let success = ALL * u64::from(acknowledged) / u64::from(sent.max(1));
        known.success = (known.success * (NEW_WEIGHT - 1) + success) / NEW_WEIGHT;
        match (lost, &mut known.owed) {
            (None, None) => known.late.add(Duration::ZERO),
            (None, Some(_)) => {}
            (Some(lost), Some(owed)) => owed.end = (lost + 1) % SEQUENCES,
            (Some(lost), owed) => *owed = Some(Owed { until: known.until, end: (lost + 1) % SEQUENCES }),
        }
    }

    /// The window begins with this number now.
    pub fn on_moved(&mut self, now: Instant, start: u16) {
        for known in &mut self.links {
            if let Some(owed) = known.owed.filter(|owed| ahead(owed.end, start) < SEQUENCES / 2) {
                known.late.add(now.saturating_since(owed.until));
                known.owed = None;
            }
        }
    }

    /// A link leaves all that waits to others, which should have delivered it then.
    pub fn on_left(&mut self, link: LinkId, until: Instant) {
        if let Some(known) = self.links.iter_mut().find(|known| known.link == link) {
            known.left_until.get_or_insert(until);
        }
    }

    /// The part of what waits that a link delivers before the others could; `None`: none has sent anything yet. What
    /// was left to others in vain goes here: no link waits for another for longer than it expects.
    pub fn first_here(
        &self,
        now: Instant,
        link: LinkId,
        waiting: Backlog,
        (accesses, category): (&Accesses, AccessCategory),
    ) -> Option<Part> {
        let own = self.links.iter().find(|known| known.link == link)?;
        // An exchange costs about as much on any link.
        let cost = own.cost.or_else(|| self.links.iter().find_map(|known| known.cost))?;
        // What is lost already waits no longer for this link's losses.
        let late = if waiting.lost > 0 { Duration::ZERO } else { own.late(now) };
        let way = Way { ready: late, speed: own.speed() };
        let others = self.links.iter().filter(|known| known.link != link);
        let others = others.map(|known| {
            let ready = accesses.ready(now, known.link, category) + known.late(now);
            Way { ready, speed: known.speed() }
        });
        let part = first_here(way, cost, others.collect(), waiting);
        let is_vain = own.left_until.is_some_and(|until| until <= now);
        Some(Part { here: part.here.max(if is_vain { waiting.one } else { 0 }), ..part })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: LinkId = LinkId(0);
    const B: LinkId = LinkId(1);
    const BE: AccessCategory = AccessCategory::BestEffort;

    fn at(us: u64) -> Instant {
        Instant::ZERO + us_of(us)
    }
    fn us_of(us: u64) -> Duration {
        Duration::from_micros(us)
    }
    fn send(deliveries: &mut Deliveries, link: LinkId, until: u64) {
        let rate = BitRate::from_bps(100_000_000);
        deliveries.on_sent(&SentPpdu { link, rate, until: at(until), cost: Duration::ZERO });
    }
    /// Packets of 10 us of 90 that a link takes at a time.
    fn takes(deliveries: &Deliveries, accesses: &Accesses, us: u64, link: LinkId) -> Option<u64> {
        let waiting = Backlog { all: 90_000, one: 1_000, lost: 0 };
        deliveries.first_here(at(us), link, waiting, (accesses, BE)).map(|part| part.here / 1_000)
    }

    /// It is expected to send, and to cost as much as another does, as soon as it contends.
    #[test]
    fn a_link_that_has_sent_nothing_is_known_when_it_contends() {
        let (mut deliveries, accesses) = (Deliveries::default(), Accesses::default());
        let rate = || BitRate::from_bps(200_000_000);
        deliveries.expect(B, rate);
        assert_eq!([A, B].map(|link| takes(&deliveries, &accesses, 0, link)), [None; 2], "nothing was sent");
        send(&mut deliveries, A, 0);
        assert_eq!([A, B].map(|link| takes(&deliveries, &accesses, 0, link)), [Some(30), Some(60)]);
        deliveries.expect(A, rate);
        assert_eq!(takes(&deliveries, &accesses, 0, A), Some(30), "what is known stays");
    }

    #[test]
    fn a_wait_is_from_the_first_work_until_data_are_sent() {
        let mut accesses = Accesses::default();
        for us in [100, 110] {
            accesses.set(at(us), A, BE, true);
        }
        assert_eq!(accesses.ready(at(130), A, BE), us_of(30), "under way");
        accesses.on_sent(at(180), A, BE, at(200));
        assert_eq!([180, 200, 900].map(|us| accesses.ready(at(us), A, BE)), [100, 80, 80].map(us_of));
        assert_eq!(accesses.ready(at(200), A, AccessCategory::Voice), Duration::ZERO);
        // An eighth of the news.
        accesses.set(at(400), A, BE, true);
        accesses.on_left(at(400), A, BE);
        assert_eq!(accesses.ready(at(400), A, BE), us_of(70));
        assert_eq!(accesses.ready(at(500), A, BE), us_of(100), "it still has work");
    }

    /// Otherwise only short waits would count: those that end before another link has sent everything.
    #[test]
    fn a_wait_that_another_link_ends_counts_by_its_time() {
        let mut accesses = Accesses::default();
        accesses.set(at(0), A, BE, true);
        accesses.set(at(40), A, BE, false);
        assert_eq!(accesses.ready(at(40), A, BE), us_of(40), "it is at least that long");
        accesses.set(at(100), A, BE, true);
        accesses.set(at(140), A, BE, false);
        assert_eq!(accesses.ready(at(140), A, BE), us_of(45), "an eighth more");
        accesses.set(at(200), A, BE, false);
        assert_eq!(accesses.ready(at(200), A, BE), us_of(45), "there was nothing to send");
    }

    /// Packets that come while a link sends wait for its access from the end of the PPDU.
    #[test]
    fn a_wait_begins_behind_the_ppdu_of_its_link() {
        let mut accesses = Accesses::default();
        accesses.set(at(0), A, BE, true);
        accesses.on_sent(at(0), A, BE, at(200));
        accesses.set(at(50), A, BE, true);
        assert_eq!([100, 200, 230].map(|us| accesses.ready(at(us), A, BE)), [100, 0, 30].map(us_of));
        accesses.on_sent(at(280), A, BE, at(300));
        assert_eq!(accesses.ready(at(300), A, BE), us_of(10), "an eighth of 80");
    }

    #[test]
    fn a_link_whose_mpdus_are_lost_takes_less() {
        let (mut deliveries, accesses) = (Deliveries::default(), Accesses::default());
        for _ in 0..60 {
            for (link, came) in [(A, 10), (B, 5)] {
                send(&mut deliveries, link, 0);
                deliveries.on_answer(link, (came, 10), (came < 10).then_some(9));
            }
            deliveries.on_moved(at(0), 10);
        }
        assert_eq!([A, B].map(|link| takes(&deliveries, &accesses, 0, link)), [Some(60), Some(30)]);
    }

    #[test]
    fn what_is_lost_is_late_until_the_window_has_passed_it() {
        let (mut deliveries, accesses) = (Deliveries::default(), Accesses::default());
        send(&mut deliveries, A, 100);
        send(&mut deliveries, B, 100);
        deliveries.on_answer(A, (9, 10), Some(4_095));
        deliveries.on_moved(at(200), 4_095);
        assert!(takes(&deliveries, &accesses, 700, A) < takes(&deliveries, &accesses, 300, A), "it is owed");
        deliveries.on_moved(at(900), 3);
        let late = |deliveries: &Deliveries| deliveries.links[0].late(at(5_000));
        assert_eq!(late(&deliveries), us_of(800), "the first value");
        deliveries.on_answer(A, (10, 10), None);
        assert_eq!(late(&deliveries), us_of(700), "and an eighth of the second, zero");
    }

    /// Its lateness is no reason to leave what was lost to a link that is not ready.
    #[test]
    fn what_was_lost_does_not_wait_for_the_lateness_of_its_link() {
        let (mut deliveries, mut accesses) = (Deliveries::default(), Accesses::default());
        send(&mut deliveries, A, 0);
        send(&mut deliveries, B, 0);
        deliveries.on_answer(A, (9, 10), Some(9));
        deliveries.on_moved(at(5_000), 10);
        accesses.set(at(3_000), B, BE, true);
        let takes = |lost| {
            let waiting = Backlog { all: 1_000, one: 1_000, lost };
            deliveries.first_here(at(5_000), A, waiting, (&accesses, BE)).map(|part| part.here)
        };
        assert_eq!([0, 1_000].map(takes), [Some(0), Some(1_000)]);
    }

    /// The other link is expected to deliver 90 packets in 900 us.
    #[test]
    fn what_was_left_in_vain_goes_here() {
        let (mut deliveries, accesses) = (Deliveries::default(), Accesses::default());
        send(&mut deliveries, A, 100);
        send(&mut deliveries, B, 100);
        deliveries.on_answer(A, (0, 10), Some(9));
        deliveries.on_moved(at(100_000), 10);
        assert_eq!(takes(&deliveries, &accesses, 100_000, A), Some(0));
        deliveries.on_left(A, at(100_900));
        deliveries.on_left(A, at(101_000));
        assert_eq!([100_899, 100_900].map(|us| takes(&deliveries, &accesses, us, A)), [Some(0), Some(1)]);
        send(&mut deliveries, B, 101_000);
        assert_eq!(takes(&deliveries, &accesses, 102_000, A), Some(0), "something was sent");
    }

    #[test]
    fn what_is_at_risk_is_the_part_of_txops_that_fail() {
        let mut accesses = Accesses::default();
        assert_eq!(accesses.risk(A, us_of(800)), Duration::ZERO);
        accesses.on_first_answer(A, false);
        assert_eq!([A, B].map(|link| accesses.risk(link, us_of(800))), [100, 0].map(us_of));
        accesses.on_first_answer(A, true);
        assert_eq!(accesses.risk(A, us_of(1_024)), us_of(112));
    }
}
