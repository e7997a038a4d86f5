//! Requests for block acknowledgements: of PPDUs whose block acknowledgement was lost, and because the window has
//! passed what was given up (802.11-2020, 10.25.6.7).
//!
//! ```text
//!   several links   A-MPDU (no BA)   the MPDUs again, on any link; here behind RTS and CTS
//!   one link        A-MPDU (no BA)   BAR (no BA) ... BAR (no BA)   the MPDUs again
//! ```
//!
//! Where a block acknowledgement is lost the originator may ask for it or send the data again. A request takes an
//! access as data do. Over several links the MPDUs go again, for the window must not wait for one link, unless
//! [`RequestLink`] says where to ask. Where there is no other link the request is the shortest thing to try, up to the
//! limit of frames without an agreement. A block acknowledgement that does not come in answer to a request is lost as
//! well, and the choice is there again. A link of which MPDUs go again is silent: before its peer has answered there it
//! asks for nothing, and begins by RTS while another is not silent.

use super::agreement::{DOUBLINGS_MAX, PAUSE};
use super::config::RequestLink;
use super::frames::{Ppdu, SEQUENCES, after, ahead};
use super::link::{LinkId, Links};
use airbraid_units::Instant;
use std::sync::Arc;

/// A number this far ahead is an old one (10.25.6.6.1).
const HALF: u16 = SEQUENCES / 2;

/// Whether a number is another or comes behind it: the one that is ahead by less than half of all numbers.
fn is_at_or_behind(number: u16, other: u16) -> bool {
    ahead(other, number) < HALF
}

/// A PPDU whose block acknowledgement was lost, and its link.
type Doubt<P> = (LinkId, Arc<Ppdu<P>>);

/// Numbers that were given up, and of which the peer has not been told: it waits for what will never come.
#[derive(Clone, Copy, Debug)]
struct Gap {
    first: u16,
    /// The number behind the newest: when the window has passed it, the peer must be told.
    end: u16,
}

/// The questions of an originator.
#[derive(Clone, Debug)]
pub(super) struct Doubts<P> {
    /// At most one of each link: the answer to a request will tell of it.
    ppdus: Vec<Doubt<P>>,
    gap: Option<Gap>,
    request_link: RequestLink,
    /// Requests in a row that nobody has answered.
    unanswered: u32,
    /// The links on which nobody answers requests.
    silent: Links,
    /// The end of a pause in telling the peer of what was given up, while there are no data.
    rests_until: Option<Instant>,
}

/// The work of a link beside requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// There is nothing to send.
    None,
    /// Data may be sent.
    Data,
    /// Packets wait, and the recipient might take their numbers for old ones.
    Barred,
}

impl<P> Doubts<P> {
    pub fn new(request_link: RequestLink) -> Self {
        let (ppdus, silent) = (Vec::new(), Links::default());
        Self { ppdus, gap: None, request_link, unanswered: 0, silent, rests_until: None }
    }

    /// Whether the peer must be asked or told on a link before more data are sent there, where the window begins with
    /// `start`; `work` tells what there is to send.
    #[inline]
    pub fn is_due(&self, link: LinkId, start: u16, work: impl Fn() -> Work) -> bool {
        let is_now = || match work() {
            Work::Data => false,
            Work::None => self.rests_until.is_none(),
            Work::Barred => true,
        };
        self.gap.is_some_and(|gap| is_at_or_behind(start, gap.end) && (self.is_asked(link) || is_now()))
            || (self.is_asked(link) && self.ppdus.iter().any(|(other, _)| self.is_told_on(link, *other)))
    }
    /// Whether an answer on a link tells of what another link has sent.
    fn is_told_on(&self, link: LinkId, other: LinkId) -> bool {
        self.request_link == RequestLink::Any || link == other
    }
    /// Whether the peer is asked on a link, for block acknowledgements that were lost there.
    pub fn is_asked(&self, link: LinkId) -> bool {
        !self.silent.contains(link)
    }
    /// Whether a block acknowledgement that was lost on a link is asked for, where these links lead to the peer.
    pub fn asks(&self, link: LinkId, links: Links) -> bool {
        self.request_link != RequestLink::None || links.is_within(Links::of(link))
    }
    /// Whether a link is silent and another of these is not: it begins by RTS, lest a PPDU be lost again.
    pub fn is_doubtful(&self, link: LinkId, links: Links) -> bool {
        self.silent.contains(link) && !links.is_within(self.silent)
    }

    /// The number from which on the recipient may take new MPDUs for old ones, where its window has this length, as
    /// long as it has not been told of what was given up. It may still wait for the first of that, and its scoreboard
    /// begins as far before as the window is long.
    pub fn limit(&self, window: u16) -> Option<u16> {
        self.gap.map(|gap| after(gap.first, HALF - window))
    }
    /// Whether requests in vain have come to an end again: as many as a frame without an agreement is sent.
    pub fn is_at_end(&self, limit: Option<u32>) -> bool {
        let is_end = |limit: u32| self.unanswered >= limit && self.unanswered.is_multiple_of(limit.max(1));
        self.gap.is_some() && limit.is_some_and(is_end)
    }
    /// The peer is told of what was given up after a pause, or with data: returns the time.
    pub fn rest(&mut self, now: Instant, limit: Option<u32>) -> Instant {
        let ends = self.unanswered / limit.unwrap_or(1).max(1);
        let until = now + PAUSE * (1 << ends.saturating_sub(1).min(DOUBLINGS_MAX));
        *self.rests_until.insert(until)
    }
    /// Its pause may be over.
    pub fn resume(&mut self, now: Instant) {
        self.rests_until = self.rests_until.filter(|until| *until > now);
    }
    /// The end of its pause.
    pub fn rests_until(&self) -> Option<Instant> {
        self.rests_until
    }

    /// An MPDU is given up.
    pub fn add_gap(&mut self, sequence: u16) {
        let end = after(sequence, 1);
        let gap = self.gap.get_or_insert(Gap { first: sequence, end });
        if !is_at_or_behind(gap.end, end) {
            gap.end = end;
        }
        if !is_at_or_behind(sequence, gap.first) {
            gap.first = sequence;
        }
    }
    /// The block acknowledgement of this PPDU was lost on a link.
    pub fn add(&mut self, link: LinkId, ppdu: Arc<Ppdu<P>>) {
        self.ppdus.push((link, ppdu));
    }

    /// Nobody has answered what was sent on a link, and it goes again.
    pub fn on_silence(&mut self, link: LinkId) {
        self.silent.insert(link);
    }
    /// The peer has answered on a link.
    #[inline]
    pub fn on_heard(&mut self, link: LinkId) {
        (self.unanswered, self.rests_until) = (0, None);
        self.silent.remove(link);
    }

    /// The peer has answered on a link, perhaps to a request with this start; returns the PPDUs that were in doubt and
    /// of which the answer tells.
    pub fn on_answer(&mut self, link: LinkId, request: Option<u16>) -> Vec<Arc<Ppdu<P>>> {
        self.on_heard(link);
        self.gap = self.gap.filter(|gap| !request.is_some_and(|start| is_at_or_behind(start, gap.end)));
        self.take(link)
    }

    /// Nobody has answered a request on one of the links that lead to the peer; returns the PPDUs that are taken for
    /// lost. A link that is the only one asks as often as this limit says.
    pub fn on_failure(&mut self, link: LinkId, links: Links, limit: Option<u32>) -> Vec<Arc<Ppdu<P>>> {
        self.unanswered += 1;
        let is_only = links.is_within(Links::of(link));
        if is_only && limit.is_none_or(|limit| self.unanswered < limit) {
            return Vec::new();
        }
        self.on_silence(link);
        let is_another_asked = self.request_link == RequestLink::Any && !links.is_within(self.silent);
        if is_another_asked { Vec::new() } else { self.take(link) }
    }

    /// The PPDUs of which an answer on a link would tell are in doubt no longer.
    fn take(&mut self, link: LinkId) -> Vec<Arc<Ppdu<P>>> {
        let ppdus = std::mem::take(&mut self.ppdus).into_iter();
        let (told, left): (Vec<_>, Vec<_>) = ppdus.partition(|(other, _)| self.is_told_on(link, *other));
        self.ppdus = left;
        told.into_iter().map(|(_, ppdu)| ppdu).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: LinkId = LinkId(0);
    const B: LinkId = LinkId(1);

    /// Both links.
    fn both() -> Links {
        let mut links = Links::of(A);
        links.insert(B);
        links
    }
    fn doubts() -> Doubts<()> {
        Doubts::new(RequestLink::OfData)
    }

    #[test]
    fn numbers_are_ahead_by_less_than_half_of_all() {
        assert!(is_at_or_behind(5, 5) && is_at_or_behind(6, 5) && !is_at_or_behind(5, 6));
        assert!(is_at_or_behind(3, 4_090) && !is_at_or_behind(4_090, 3));
    }

    /// The recipient is told later as long as there are data that it takes for new ones; without data, after a pause.
    #[test]
    fn a_gap_is_left_for_later_while_there_are_data() {
        let mut doubts = doubts();
        doubts.add_gap(7);
        doubts.add_gap(3);
        let due = |doubts: &Doubts<()>, start, work| doubts.is_due(A, start, || work);
        assert!(due(&doubts, 8, Work::Data) && !due(&doubts, 7, Work::None));
        assert!(doubts.on_failure(A, Links::of(A), Some(1)).is_empty());
        let all = |doubts: &Doubts<()>| [Work::None, Work::Data, Work::Barred].map(|work| due(doubts, 8, work));
        assert_eq!(all(&doubts), [true, false, true]);
        assert!(doubts.is_at_end(Some(1)) && !doubts.is_at_end(Some(2)) && !doubts.is_at_end(None));
        assert_eq!(doubts.rest(Instant::ZERO, Some(1)), Instant::ZERO + PAUSE);
        assert_eq!(all(&doubts), [false, false, true]);
        doubts.resume(Instant::ZERO + PAUSE);
        assert_eq!(all(&doubts), [true, false, true]);
        doubts.on_failure(A, Links::of(A), Some(1));
        assert_eq!(doubts.rest(Instant::ZERO, Some(1)), Instant::ZERO + PAUSE * 2);
        doubts.on_heard(A);
        assert_eq!(all(&doubts), [true; 3], "the peer is there again, and is told");
        doubts.on_answer(A, Some(8));
        assert_eq!(all(&doubts), [false; 3]);
    }

    /// A scoreboard of 64 that begins with 4_060 takes 4_060 + 2_047 for new, one of 1024 that of 3_100 up to 1_051.
    #[test]
    fn numbers_end_where_the_recipient_would_take_them_for_old() {
        let limit = |first, window| {
            let mut doubts = doubts();
            doubts.add_gap(first);
            doubts.limit(window)
        };
        assert_eq!([limit(28, 64), limit(28, 1_024)], [Some(2_012), Some(1_052)]);
        assert_eq!(limit(4_000, 1_024), Some(928), "numbers go round");
        assert_eq!(doubts().limit(64), None);
    }

    #[test]
    fn a_link_that_is_the_only_one_asks_up_to_its_limit() {
        let mut doubts = doubts();
        let silence = |doubts: &mut Doubts<()>| {
            let ends = |_: &u32| {
                doubts.on_failure(A, Links::of(A), Some(7));
                !doubts.is_asked(A)
            };
            (1..20).find(ends)
        };
        assert_eq!(silence(&mut doubts), Some(7));
        assert!(!doubts.is_doubtful(A, Links::of(A)), "there is no other");
        doubts.on_heard(A);
        assert_eq!(silence(&mut doubts), Some(7), "counted from the last answer on");
        doubts.on_heard(A);
        (0..99).for_each(|_| assert!(doubts.on_failure(A, Links::of(A), None).is_empty() && doubts.is_asked(A)));
    }

    #[test]
    fn of_several_links_one_is_silent_after_a_request() {
        let mut doubts = doubts();
        let state = |doubts: &Doubts<()>| [A, B].map(|link| (doubts.is_asked(link), doubts.is_doubtful(link, both())));
        doubts.on_failure(A, both(), None);
        assert_eq!(state(&doubts), [(false, true), (true, false)]);
        doubts.on_failure(B, both(), Some(7));
        assert_eq!(state(&doubts), [(false, false); 2], "neither is better");
        doubts.on_answer(B, None);
        assert_eq!(state(&doubts), [(false, true), (true, false)]);
    }
}
