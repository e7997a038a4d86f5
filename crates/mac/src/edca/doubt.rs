//! Requests for block acknowledgements: of PPDUs whose block acknowledgement was lost, and because the window has
//! passed what was given up (802.11-2020, 10.25.6.7).
//!
//! ```text
//!   several links   A-MPDU (no BA)  BAR (no BA)   the MPDUs again, on any link; here behind RTS and CTS
//!   one link        A-MPDU (no BA)  BAR (no BA) ... BAR (no BA)   the MPDUs again
//! ```
//!
//! Where a block acknowledgement is lost the originator may ask for it or send the data again. It asks, for a request
//! is short. A block acknowledgement that does not come in answer to a request is lost as well, and the choice is there
//! again. Where another link can carry the MPDUs the window need not wait for the one that is silent: they go again.
//! Where there is no other the request is the shortest thing to try, up to the limit of frames without an agreement.
//! A silent link asks for nothing more before its peer has answered there.

use super::config::RequestLink;
use super::frames::{Ppdu, SEQUENCES, after, ahead};
use super::link::{LinkId, Links};
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
}

impl<P> Doubts<P> {
    pub fn new(request_link: RequestLink) -> Self {
        Self { ppdus: Vec::new(), gap: None, request_link, unanswered: 0, silent: Links::default() }
    }

    /// Whether the peer must be asked or told on a link before more data are sent there, where a window of this length
    /// begins with `start`; `has_data` tells whether there are any.
    #[inline]
    pub fn is_due(&self, link: LinkId, (start, window): (u16, u16), has_data: impl Fn() -> bool) -> bool {
        let is_later = |gap: Gap| !self.is_asked(link) && is_within_reach(gap.first, start, window) && has_data();
        self.gap.is_some_and(|gap| is_at_or_behind(start, gap.end) && !is_later(gap))
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
    /// Whether a link is silent and another of these is not: it begins by RTS, lest a PPDU be lost again.
    pub fn is_doubtful(&self, link: LinkId, links: Links) -> bool {
        self.silent.contains(link) && !links.is_within(self.silent)
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

    /// The peer has answered on a link.
    #[inline]
    pub fn on_heard(&mut self, link: LinkId) {
        self.unanswered = 0;
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
        self.silent.insert(link);
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

/// Whether a recipient that may still wait for `first` takes every number of a window that begins with `start` for a
/// new one. Its scoreboard begins as far before `first` as the window is long.
fn is_within_reach(first: u16, start: u16, window: u16) -> bool {
    ahead(first, start) + 2 * window <= HALF
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

    /// Until then a recipient would take 2048 numbers on for old ones.
    #[test]
    fn a_gap_is_left_for_later_while_the_recipient_would_follow() {
        assert!([0, 1_920].map(|start| is_within_reach(0, start, 64)) == [true; 2] && !is_within_reach(0, 1_921, 64));
        assert!(is_within_reach(4_000, 1_824, 64) && !is_within_reach(4_000, 1_825, 64), "numbers go round");
        assert!(is_within_reach(9, 9, 1_024) && !is_within_reach(9, 10, 1_024), "the longest window");
        let mut doubts = doubts();
        doubts.add_gap(7);
        doubts.add_gap(3);
        let due = |doubts: &Doubts<()>, start| doubts.is_due(A, (start, 64), || true);
        assert!(due(&doubts, 8) && !due(&doubts, 7));
        assert!(doubts.on_failure(A, Links::of(A), Some(1)).is_empty());
        assert!(!due(&doubts, 8) && !due(&doubts, 1_923) && due(&doubts, 1_924));
        assert!(doubts.is_due(A, (8, 64), || false), "there is nothing better to send");
        doubts.on_heard(A);
        assert!(due(&doubts, 8), "the peer is there again, and is told");
        doubts.on_answer(A, Some(8));
        assert!(!due(&doubts, 8));
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
