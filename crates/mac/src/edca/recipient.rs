//! The receiving end of a block acknowledgement agreement: the scoreboard that answers are made from (802.11-2020,
//! 10.25.6.4, full state) and the buffer that restores the order (10.25.6.6).
//!
//! ```text
//!   scoreboard  |x|x|x|_|x|_|_|_|     from WinStart_R, as long as the window; moves with the newest MPDU
//!   buffer            |_|x|           from WinStart_B: the oldest number that has not been handed up
//! ```

use super::frames::{BlockAck, DataMpdus, Mpdu, MpduSet, Ppdu, SEQUENCES, WINDOW_MAX, after, ahead};
use crate::service::{Complete, MacOutput};
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// A number this far ahead is an old one (10.25.6.6.1).
const HALF: u16 = SEQUENCES / 2;

/// An MPDU that waits for those before it: its place in the PPDU that brought it, and when it was complete.
type Held<P> = Option<(Arc<Ppdu<P>>, u32, Instant)>;

/// A PPDU that comes, and the data in it.
type Came<'a, P> = (&'a Arc<Ppdu<P>>, &'a DataMpdus<P>);

/// The receiving end of an agreement.
#[derive(Clone, Debug)]
pub(super) struct Recipient<P> {
    window: u16,
    /// WinStart_R.
    scored_from: u16,
    /// A bit for each number of the scoreboard, by the number modulo [`WINDOW_MAX`].
    scores: MpduSet,
    /// WinStart_B.
    start: u16,
    /// MPDUs from WinStart_B on; the first is always missing.
    held: VecDeque<Held<P>>,
    /// Number of those that are there.
    holding: u32,
    /// When all that was handed up was complete: a PPDU of another link may end sooner than one that brought MPDUs
    /// before.
    complete: Instant,
}

impl<P: Copy> Recipient<P> {
    /// An agreement of `window` from the number `start` on.
    pub fn new(window: u16, start: u16) -> Self {
        let (scores, held) = (MpduSet::default(), VecDeque::new());
        Self { window, scored_from: start, scores, start, held, holding: 0, complete: Instant::ZERO }
    }

    /// Its peer has no longer window than this: it sends in an older format.
    #[inline]
    pub fn narrow(&mut self, window: u16) {
        self.window = self.window.min(window);
    }

    /// MPDUs that wait for others.
    pub fn holding(&self) -> u32 {
        self.holding
    }

    /// The MPDUs of a PPDU that ends now have come: those that are intact, `None` being all, but for the first ones,
    /// which have ended before.
    pub fn on_ppdu(
        &mut self,
        now: Instant,
        ppdu: Came<'_, P>,
        (intact, ended): (Option<&MpduSet>, u32),
        outputs: &mut VecDeque<MacOutput<P>>,
    ) {
        let places = ended..ppdu.1.mpdus().len() as u32;
        let came = places.filter(|place| intact.is_none_or(|intact| intact.contains(*place as usize)));
        self.on_mpdus((now, Duration::ZERO), ppdu, came, outputs);
    }

    /// Some of a PPDU have come that has `left` to go.
    pub fn on_mpdus(
        &mut self,
        (now, left): (Instant, Duration),
        ppdu: Came<'_, P>,
        places: impl Iterator<Item = u32>,
        outputs: &mut VecDeque<MacOutput<P>>,
    ) {
        let (mpdus, end) = (ppdu.1.mpdus(), now + left);
        let ended_at = |place: u32| end.saturating_sub(mpdus[place as usize].behind);
        let (mut first_end, mut last) = (None, None);
        for place in places {
            let first_end = *first_end.get_or_insert_with(|| ended_at(place));
            // What comes in order goes up as one, unless something of another link was complete later.
            if self.complete <= first_end && self.takes_next(&mpdus[place as usize]) {
                hand_up(ppdu.0, place, Complete::AtItsEnd { left }, outputs);
                last = Some(place);
                if matches!(self.held.front(), Some(Some(_))) {
                    self.complete = ended_at(place);
                    self.release_in_order(now, outputs);
                }
            } else {
                self.take((now, end), ppdu, place, outputs);
            }
        }
        self.complete = self.complete.max(last.map_or(Instant::ZERO, ended_at));
    }

    /// Takes in an MPDU if it is the next in order.
    #[inline]
    fn takes_next(&mut self, mpdu: &Mpdu) -> bool {
        if mpdu.sequence != self.start {
            return false;
        }
        self.score(mpdu.sequence);
        self.start = after(self.start, 1);
        self.held.pop_front();
        true
    }

    #[inline]
    fn take(
        &mut self,
        (now, end): (Instant, Instant),
        ppdu: Came<'_, P>,
        place: u32,
        outputs: &mut VecDeque<MacOutput<P>>,
    ) {
        let Some(mpdu) = ppdu.1.mpdus().get(place as usize) else { return };
        self.score(mpdu.sequence);
        self.accept((now, end), ppdu, (place, mpdu), outputs);
    }

    #[inline]
    fn score(&mut self, sequence: u16) {
        let distance = ahead(self.scored_from, sequence);
        if distance >= HALF {
            return;
        }
        if distance >= self.window {
            self.score_from(after(sequence, SEQUENCES + 1 - self.window));
        }
        self.scores.insert(usize::from(sequence % WINDOW_MAX));
    }

    /// Moves the scoreboard on; numbers that enter it have not come.
    fn score_from(&mut self, from: u16) {
        let distance = ahead(self.scored_from, from);
        for step in 0..distance.min(self.window) {
            let entered = self.scored_from + self.window + step;
            self.scores.remove(usize::from(entered % WINDOW_MAX));
        }
        if distance > self.window {
            self.scores = MpduSet::default();
        }
        self.scored_from = from;
    }

    /// Takes in an MPDU at its place in a PPDU that ends at `end`.
    #[inline]
    fn accept(
        &mut self,
        (now, end): (Instant, Instant),
        (ppdu, data): Came<'_, P>,
        (place, mpdu): (u32, &Mpdu),
        outputs: &mut VecDeque<MacOutput<P>>,
    ) {
        let ended = || end.saturating_sub(mpdu.behind);
        let distance = ahead(self.start, mpdu.sequence);
        if distance >= HALF {
            return discard(data, mpdu, outputs);
        }
        if distance >= self.window {
            let start = after(mpdu.sequence, SEQUENCES + 1 - self.window);
            self.release_before(now, start, ended(), outputs);
        }
        let distance = usize::from(ahead(self.start, mpdu.sequence));
        if distance == 0 {
            self.start = after(self.start, 1);
            self.held.pop_front();
            self.complete = self.complete.max(ended());
            hand_up(ppdu, place, Complete::Before(now.saturating_since(self.complete)), outputs);
            if self.holding > 0 {
                self.release_in_order(now, outputs);
            }
            return;
        }
        if self.held.len() <= distance {
            self.held.resize_with(distance + 1, || None);
        }
        match &mut self.held[distance] {
            Some(_) => discard(data, mpdu, outputs),
            free => {
                *free = Some((ppdu.clone(), place, ended()));
                self.holding += 1;
            }
        }
    }

    /// Hands up what follows without a gap.
    #[inline]
    fn release_in_order(&mut self, now: Instant, outputs: &mut VecDeque<MacOutput<P>>) {
        while self.holding > 0
            && let Some(held) = self.held.front_mut().and_then(Option::take)
        {
            self.held.pop_front();
            self.holding -= 1;
            self.start = after(self.start, 1);
            self.hand_up_held(now, held, outputs);
        }
    }

    /// Hands up everything before `start`, with its gaps, and then what follows without one; what has asked for it was
    /// complete at `since`.
    fn release_before(&mut self, now: Instant, start: u16, since: Instant, outputs: &mut VecDeque<MacOutput<P>>) {
        self.complete = self.complete.max(since);
        for _ in 0..usize::from(ahead(self.start, start)).min(self.held.len()) {
            if let Some(Some(held)) = self.held.pop_front() {
                self.holding -= 1;
                self.hand_up_held(now, held, outputs);
            }
        }
        self.start = start;
        self.release_in_order(now, outputs);
    }

    /// Hands up an MPDU that has waited for those before it.
    #[inline]
    fn hand_up_held(
        &mut self,
        now: Instant,
        (ppdu, place, ended): (Arc<Ppdu<P>>, u32, Instant),
        outputs: &mut VecDeque<MacOutput<P>>,
    ) {
        self.complete = self.complete.max(ended);
        hand_up(&ppdu, place, Complete::Before(now.saturating_since(self.complete)), outputs);
    }

    /// A new agreement takes the place of this one: everything goes up, with its gaps.
    pub fn finish(mut self, now: Instant, outputs: &mut VecDeque<MacOutput<P>>) {
        let end = after(self.start, self.held.len() as u16);
        self.release_before(now, end, now, outputs);
    }

    /// A request: the sender has given up everything before `start` (10.25.6.6.3).
    pub fn on_request(&mut self, now: Instant, start: u16, outputs: &mut VecDeque<MacOutput<P>>) {
        let distance = ahead(self.scored_from, start);
        if distance > 0 && distance < HALF {
            self.score_from(start);
        }
        let distance = ahead(self.start, start);
        if distance > 0 && distance < HALF {
            self.release_before(now, start, now, outputs);
        }
    }

    /// The answer to a PPDU or a request.
    pub fn answer(&self) -> BlockAck {
        let received = self.scores.turned(usize::from(self.scored_from % WINDOW_MAX), usize::from(self.window));
        BlockAck { start: self.scored_from, window: self.window, received }
    }
}

/// Hands up an MPDU, in one output with those before it in its PPDU.
#[inline]
fn hand_up<P: Copy>(ppdu: &Arc<Ppdu<P>>, place: u32, complete: Complete, outputs: &mut VecDeque<MacOutput<P>>) {
    if let Some(MacOutput::DeliverRun { ppdu: last, mpdus, complete: before }) = outputs.back_mut()
        && (mpdus.end, *before) == (place, complete)
        && Arc::ptr_eq(last, ppdu)
    {
        mpdus.end += 1;
        return;
    }
    outputs.push_back(MacOutput::DeliverRun { ppdu: ppdu.clone(), mpdus: place..place + 1, complete });
}

/// An MPDU that has come before, or whose place was given up.
fn discard<P: Copy>(data: &DataMpdus<P>, mpdu: &Mpdu, outputs: &mut VecDeque<MacOutput<P>>) {
    for packet in data.msdus_of(mpdu) {
        outputs.push_back(MacOutput::Discard { packet: *packet, is_duplicate: true });
    }
}
