//! Packet trains: the rate of a member that carries too little to show it.
//!
//! Frames that leave at once arrive spread over the time that the path's narrowest link takes for them. A span that is
//! short against the timestamps of hosts and the ticks of radios tells nothing, not even a small rate: the next train
//! is longer, until the span is long enough.

use super::path::{Arrival, RateMark};
use airbraid_units::{Duration, Instant, SeqNum};

/// Frames of the first train: three gaps between frames, and 0.8 s of a link of 50 kbit/s.
const FIRST: u32 = 4;
/// Growth from one train to the next: five of them reach 2 Gbit/s, and none is longer than 8 ms of its link.
const GROWTH: u32 = 4;
/// Frames of the longest train: 2 ms of 2.5 Gbit/s.
const LONGEST: u32 = 512;
/// Shortest span that tells a rate \[us\]: interrupts are gathered for some 100 us.
const SPAN_US: u32 = 2_000;
/// The same of a train whose end is lost: the link's queue is shorter than the train, and no longer one tells more.
const BEGIN_US: u32 = 500;
/// Trains without an answer, after which the member waits for its next turn.
const TRIES: u8 = 3;
/// Time without a measurement after which a member is measured again: what was measured may have been a passing state;
const GAP_FIRST: Duration = Duration::from_secs(1);
/// it doubles up to this, the life of minimums. Trains of 8 ms are 0.1 % of the capacity.
const GAP_LAST: Duration = Duration::from_secs(10);

/// A train on its way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    /// Numbers of its first frame and of the question behind it.
    first: SeqNum,
    last: SeqNum,
    /// Longest silence until it is repeated.
    patience: Duration,
    begin: Option<RateMark>,
    /// Bytes behind the first frame that came, and their span \[us\].
    shown: Option<(u64, u32)>,
}

/// News of the rate by a train \[bit/s\].
#[derive(Clone, Copy, Debug)]
pub enum Shown {
    Rate(u64),
    /// Its frames came too close together to tell more.
    AtLeast(u64),
}

/// The trains of one member.
#[derive(Clone, Debug)]
pub struct Trains {
    frames: u32,
    due_at: Option<Instant>,
    under_way: Option<UnderWay>,
    tries: u8,
    gap: Duration,
    /// Time at which the last one left.
    sent_at: Instant,
}

impl Trains {
    /// No train is due.
    pub const fn new() -> Self {
        Self { frames: FIRST, due_at: None, under_way: None, tries: 0, gap: GAP_FIRST, sent_at: Instant::ZERO }
    }

    /// A rate is wanted at once, and nothing is known of it.
    pub const fn begin(&mut self, now: Instant) {
        *self = Self { due_at: Some(now), ..Self::new() };
    }

    /// The rate was last measured at `looked_at`: a train leaves if that is long ago, and the last train, too.
    pub fn doubt(&mut self, now: Instant, looked_at: Instant) {
        if self.due_at.is_none() && now.saturating_since(looked_at.max(self.sent_at)) >= self.gap {
            self.gap = (self.gap * 2).min(GAP_LAST);
            self.tries = 0;
            self.due_at = Some(now);
        }
    }

    /// Time of the next train.
    pub const fn due_at(&self) -> Option<Instant> {
        self.due_at
    }

    /// A train leaves, with `first` as its first number: returns its frames, behind which a question follows. It is
    /// repeated after `patience` without news of it. `None` after too many tries.
    pub fn on_sent(&mut self, now: Instant, first: SeqNum, patience: Duration) -> Option<u32> {
        if self.tries >= TRIES {
            (self.due_at, self.under_way) = (None, None);
            return None;
        }
        self.tries += 1;
        self.sent_at = now;
        self.due_at = Some(now.saturating_add(patience));
        let last = first.plus(self.frames);
        self.under_way = Some(UnderWay { first, last, patience, begin: None, shown: None });
        Some(self.frames)
    }

    /// Feedback tells of a newer frame: returns what the train has shown.
    pub fn on_arrival(&mut self, now: Instant, arrival: &Arrival) -> Option<Shown> {
        let train = self.under_way.as_mut()?;
        if arrival.newest.number.is_before(train.first) {
            return None;
        }
        if !arrival.newest.number.is_after(train.last) {
            let begin = *train.begin.get_or_insert(arrival.first_since(train.first));
            let span_us = arrival.newest.received_us.wrapping_sub(begin.received_us);
            train.shown = Some((arrival.newest.came.saturating_sub(begin.came), span_us));
            self.due_at = Some(now.saturating_add(train.patience));
        }
        if arrival.newest.number.is_before(train.last) {
            return None;
        }
        let shown = train.shown;
        self.under_way = None;
        let Some((bytes, span_us)) = shown.filter(|(bytes, _)| *bytes > 0) else {
            // What came behind it hides its end: the same again.
            self.due_at = Some(now);
            return None;
        };
        if span_us < SPAN_US && self.frames < LONGEST {
            self.frames = (self.frames * GROWTH).min(LONGEST);
            self.tries = 0;
            self.due_at = Some(now);
            return Some(Shown::AtLeast(rate(bytes, SPAN_US)));
        }
        // The next one takes about as long, if the rate is the same.
        let frames = u64::from(self.frames) * u64::from(SPAN_US) / u64::from(span_us.max(1));
        self.frames = (frames as u32 + 1).clamp(FIRST, LONGEST);
        self.due_at = None;
        Some(Shown::Rate(rate(bytes, span_us)))
    }

    /// Nothing is heard of a train's end: returns the rate that its begin has shown \[bit/s\], if that is long enough,
    /// or if no train's end has come. A queue in the link may be shorter than the train.
    pub fn without_end(&mut self) -> Option<u64> {
        let (bytes, span_us) = self.under_way?.shown.filter(|(bytes, _)| *bytes > 0)?;
        if span_us < BEGIN_US && self.tries < TRIES {
            return None;
        }
        (self.due_at, self.under_way) = (None, None);
        Some(rate(bytes, span_us))
    }
}

/// The rate of bytes that came in a span \[bit/s\].
fn rate(bytes: u64, span_us: u32) -> u64 {
    bytes * 8_000_000 / u64::from(span_us.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length of each frame of a train \[byte\].
    const LEN: u64 = 1_200;
    /// Interval of the far end's feedback \[us\].
    const INTERVAL_US: u64 = 5_000;

    /// An ideal link: no jitter, and nothing else on it but what the test says.
    #[derive(Clone, Copy)]
    struct Link {
        rate: u64,
        delay_us: u64,
        /// Frames that it takes of a train.
        most: u32,
        /// Full frames that leave behind a train at once.
        behind: u32,
        /// Every second feedback comes after the next one.
        is_disordered: bool,
    }

    struct Found {
        rate: Option<u64>,
        bytes: u64,
        took: Duration,
    }

    fn mark(number: u32, us: u64, came: u64) -> RateMark {
        let (number, received_us) = (SeqNum(number), us as u32);
        RateMark { number, received_us, sent_at: Instant::ZERO, total: came, came, idles: 0 }
    }

    /// Measures a link by trains.
    fn measure(link: Link) -> Found {
        let mut trains = Trains::new();
        trains.begin(Instant::ZERO);
        let (mut next, mut bytes, mut total) = (1u32, 0, 0);
        while let Some(at) = trains.due_at() {
            let found = |rate| Found { rate, bytes, took: at - Instant::ZERO };
            if let Some(rate) = trains.without_end() {
                return found(Some(rate));
            }
            let patience = Duration::from_micros(2 * link.delay_us + 500_000);
            let Some(frames) = trains.on_sent(at, SeqNum(next), patience) else { return found(None) };
            bytes += u64::from(frames) * LEN;
            // Arrivals: the train, the question, and what is behind.
            let mut arrivals: Vec<RateMark> = vec![];
            let us = at.as_nanos() / 1_000 + link.delay_us;
            let mut ns = 0;
            for index in 0..frames + 1 + link.behind {
                let len = if index == frames { 100 } else { LEN };
                let is_lost = index <= frames && index >= link.most;
                ns += if is_lost { 0 } else { len * 8_000_000_000 / link.rate };
                total += len;
                if !is_lost {
                    arrivals.push(mark(next + index, us + ns / 1_000, total));
                }
            }
            let question = next + frames;
            next = question + 1 + link.behind;
            let mut reports: Vec<Arrival> = vec![];
            let mut pending: Option<RateMark> = None;
            let mut leaves_us = us;
            for (index, arrival) in arrivals.iter().enumerate() {
                let first = *pending.get_or_insert(*arrival);
                // The question is answered at once.
                let is_last = index + 1 == arrivals.len() || arrival.number == SeqNum(question);
                if is_last || u64::from(arrivals[index + 1].received_us) > leaves_us + INTERVAL_US {
                    leaves_us = arrival.received_us.into();
                    let first = Some(first).filter(|first| first.number != arrival.number);
                    reports.push(Arrival {
                        newest: *arrival,
                        first,
                        age_us: Some(0),
                        offset_us: 0,
                        waited_since: Instant::ZERO,
                    });
                    pending = None;
                }
            }
            if link.is_disordered {
                // Of two reports the older one comes behind the newer: it is no news and is not told.
                reports = reports.chunks(2).map(|pair| pair[pair.len() - 1]).collect();
            }
            for report in reports {
                let now = Instant::ZERO + Duration::from_micros(u64::from(report.newest.received_us) + link.delay_us);
                if let Some(Shown::Rate(rate)) = trains.on_arrival(now, &report) {
                    return Found { rate: Some(rate), bytes, took: now - Instant::ZERO };
                }
            }
        }
        Found { rate: None, bytes, took: Duration::ZERO }
    }

    const IDEAL: Link = Link { rate: 0, delay_us: 0, most: u32::MAX, behind: 0, is_disordered: false };
    const RATES: [u64; 8] =
        [50_000, 300_000, 2_000_000, 10_000_000, 50_000_000, 200_000_000, 1_000_000_000, 2_000_000_000];

    fn check(link: Link) -> Found {
        let found = measure(link);
        let rate = found.rate.unwrap_or(0);
        let is_near = rate.abs_diff(link.rate) <= link.rate / 5;
        assert!(is_near, "{} bit/s, {} us: {rate} found", link.rate, link.delay_us);
        found
    }

    #[test]
    fn each_rate_is_found_at_each_delay() {
        for delay_us in [1_000, 150_000, 300_000] {
            for rate in RATES {
                let Found { bytes, took, .. } = check(Link { rate, delay_us, ..IDEAL });
                // At most 300 kB, or 20 ms of the link; five round trips, and the time of a train on the slowest link.
                assert!(bytes <= (rate / 8 / 50).max(300_000), "{rate} bit/s: {bytes} byte");
                let most = Duration::from_micros(10 * delay_us + 1_000_000);
                assert!(took <= most, "{rate} bit/s, {delay_us} us: after {took}");
            }
        }
    }

    #[test]
    fn a_train_without_its_end_does() {
        for rate in RATES {
            check(Link { rate, delay_us: 10_000, most: 50, ..IDEAL });
        }
        // A queue of three frames tells a small rate, and at once.
        assert!(check(Link { rate: 1_000_000, delay_us: 10_000, most: 3, ..IDEAL }).bytes <= 4 * LEN);
    }

    #[test]
    fn what_comes_behind_a_train_does_not_hide_it() {
        for rate in [50_000, 10_000_000, 200_000_000] {
            check(Link { rate, delay_us: 10_000, behind: 3, ..IDEAL });
        }
    }

    #[test]
    fn feedback_that_is_overtaken_does_no_harm() {
        for rate in RATES {
            check(Link { rate, delay_us: 10_000, is_disordered: true, ..IDEAL });
        }
    }

    #[test]
    fn what_answers_no_train_is_left_alone_for_a_while() {
        let (mut trains, mut now, mut sent) = (Trains::new(), Instant::ZERO, 0);
        let second = Duration::from_secs(1);
        while now < Instant::ZERO + second * 60 {
            trains.doubt(now, Instant::ZERO);
            if trains.due_at().is_some_and(|at| at <= now) {
                sent += u32::from(trains.on_sent(now, SeqNum(sent * 8), second / 10).is_some());
            }
            now += second / 10;
        }
        // At 1, 3, 7, 15, ... 55 s, three each.
        assert!((18..=24).contains(&sent), "{sent} trains in a minute");
    }

    /// A train of four frames whose last number that came is `newest`, `span_us` after the first one.
    fn shown(newest: u32, span_us: u64) -> (Trains, Option<Shown>) {
        let mut trains = Trains::new();
        trains.begin(Instant::ZERO);
        assert_eq!(trains.on_sent(Instant::ZERO, SeqNum(1), Duration::from_millis(100)), Some(FIRST));
        let arrival = Arrival {
            newest: mark(newest, span_us, 1_200 * u64::from(newest)),
            first: Some(mark(1, 0, 1_200)),
            age_us: Some(0),
            offset_us: 0,
            waited_since: Instant::ZERO,
        };
        let shown = trains.on_arrival(Instant::ZERO, &arrival);
        (trains, shown)
    }

    #[test]
    fn a_span_of_two_milliseconds_tells_a_rate_and_a_shorter_one_a_bound() {
        // Four lengths of 1200 byte behind the first frame, with the question.
        let (trains, rate) = shown(5, 2_000);
        assert!(matches!(rate, Some(Shown::Rate(19_200_000))), "{rate:?}");
        assert_eq!((trains.due_at(), trains.frames), (None, 5));
        let (trains, bound) = shown(5, 1_999);
        assert!(matches!(bound, Some(Shown::AtLeast(19_200_000))), "{bound:?}");
        assert_eq!((trains.due_at(), trains.frames), (Some(Instant::ZERO), 16), "four times as many at once");
    }

    #[test]
    fn the_begin_of_a_train_tells_from_half_a_millisecond_on_or_after_three_tries() {
        assert_eq!(shown(4, 500).0.without_end(), Some(57_600_000));
        let (mut trains, _) = shown(4, 499);
        assert_eq!(trains.without_end(), None);
        for number in [10, 20] {
            trains.on_sent(Instant::ZERO, SeqNum(number), Duration::ZERO);
        }
        assert_eq!(trains.without_end(), None, "nothing of the third has come");
        trains.under_way = shown(4, 499).0.under_way;
        assert_eq!(trains.without_end(), Some(57_715_430));
        assert_eq!((trains.due_at(), trains.on_sent(Instant::ZERO, SeqNum(30), Duration::ZERO)), (None, None));
    }
}
