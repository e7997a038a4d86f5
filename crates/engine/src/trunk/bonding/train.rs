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

/// The trains of one member.
#[derive(Clone, Debug)]
pub struct Trains {
    frames: u32,
    due_at: Option<Instant>,
    under_way: Option<UnderWay>,
    tries: u8,
    gap: Duration,
}

impl Trains {
    /// No train is due.
    pub const fn new() -> Self {
        Self { frames: FIRST, due_at: None, under_way: None, tries: 0, gap: GAP_FIRST }
    }

    /// A rate is wanted at once, and nothing is known of it.
    pub const fn begin(&mut self, now: Instant) {
        *self = Self { due_at: Some(now), ..Self::new() };
    }

    /// The rate was last measured at `looked_at`: a train leaves if that is long ago.
    pub fn doubt(&mut self, now: Instant, looked_at: Instant) {
        if self.due_at.is_none() && now.saturating_since(looked_at) >= self.gap {
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
        self.due_at = Some(now.saturating_add(patience));
        let last = first.plus(self.frames);
        self.under_way = Some(UnderWay { first, last, patience, begin: None, shown: None });
        Some(self.frames)
    }

    /// Feedback tells of a newer frame: returns the rate that the train has shown \[bit/s\].
    pub fn on_arrival(&mut self, now: Instant, arrival: &Arrival) -> Option<u64> {
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
        // What came behind it hides its end: the same again.
        let (bytes, span_us) = shown.filter(|(bytes, _)| *bytes > 0)?;
        if span_us < SPAN_US && self.frames < LONGEST {
            self.frames = (self.frames * GROWTH).min(LONGEST);
            self.tries = 0;
            self.due_at = Some(now);
            return None;
        }
        // The next one takes about as long, if the rate is the same.
        let frames = u64::from(self.frames) * u64::from(SPAN_US) / u64::from(span_us.max(1));
        self.frames = (frames as u32 + 1).clamp(FIRST, LONGEST);
        self.due_at = None;
        Some(rate(bytes, span_us))
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

/// The rate at which so many bytes came in a span \[bit/s\].
fn rate(bytes: u64, span_us: u32) -> u64 {
    bytes * 8_000_000 / u64::from(span_us.max(1))
}
