//! Block acknowledgement agreements that are set up by frames (802.11-2020, 10.25.2 and 11.5.2): the originator's
//! knowledge of each that it does not have yet, and the frames that wait to be sent.
//!
//! ```text
//!           data, or what may be missed          request acknowledged           response
//!   Apart -----------------------------> Asks --------------------> Awaits ----------------> agreed, or Declined
//!     ^  MPDUs go one by one              |   nothing more is numbered |
//!     `----- request given up, later -----'--- no response in a second -'
//! ```
//!
//! It knows of no medium: one agreement belongs to a peer and a TID, whatever the links between them.

use super::category::AccessCategory;
use super::frames::AgreementFrame;
use crate::duplicate::DuplicateFilter;
use crate::frame::Address;
use airbraid_units::{Duration, Instant, metrics};

/// The category of management frames to stations with QoS (802.11-2020, 10.2.3.2).
pub(super) const CATEGORY: AccessCategory = AccessCategory::Voice;

/// dot11ADDBAResponseTimeout: 1 s, its default (802.11-2020, annex C), which Linux takes, too.
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(1_000);
/// Time after a failure before the next request, which the standard leaves open: ns-3's default.
pub(super) const PAUSE: Duration = Duration::from_millis(200);
/// Doublings of that pause where no data wait: up to 13 s, as long as Linux pauses (15 s), so that a peer that is gone
/// costs nothing that counts.
pub(super) const DOUBLINGS_MAX: u32 = 6;
/// Single MPDUs in a row that are given up, behind which nothing is sent before there is an agreement. A recipient that
/// has made one, and whose response was lost, takes a number for an old one that is 2048 ahead of its window
/// (10.25.6.6.1), and the longest window has 1024.
const LOST_MAX: u16 = 1_024;

metrics! {
    /// Counters of the setup of agreements by frames.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct AgreementStats {
        /// Requests for agreements sent (ADDBA Request), retries included.
        pub addba_requests: u64 = sum,
        /// Responses to such requests sent (ADDBA Response), retries included.
        pub addba_responses: u64 = sum,
        /// Agreements made, as the originator of the data.
        pub agreements: u64 = sum,
        /// Requests for agreements in vain: given up at the retry limit, without a response in time, or declined.
        pub agreement_failures: u64 = sum,
        /// Time for which packets of a peer and TID waited for an agreement, whatever came of it.
        pub agreement_wait: Duration = sum "agreement_wait_s",
    }
}

impl AgreementStats {
    /// A request has come to its end.
    pub(super) fn on_end(&mut self, now: Instant, wanted: &Wanted, is_accepted: bool) {
        self.agreements += u64::from(is_accepted);
        self.agreement_failures += u64::from(!is_accepted);
        self.agreement_wait += now.saturating_since(wanted.since);
    }
}

/// The state of an agreement that there is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It may be asked for from this time on.
    Apart(Instant),
    /// The request with this token is to be sent.
    Asks(u8),
    /// It has come. The response must come by then.
    Awaits(u8, Instant),
    /// The peer has no agreements.
    Declined,
}

/// An agreement that its originator wants and does not have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub to: Address,
    pub tid: u8,
    step: Step,
    /// When it was asked for last, and how often that was in vain.
    since: Instant,
    failures: u32,
    /// MPDUs in a row that were given up.
    lost: u16,
    /// Whether one was given up for which the recipient may wait: if a request has come and its response has not, it
    /// has an agreement and restores the order. The next request ends that.
    may_wait: bool,
}

impl Wanted {
    /// The window of its originator: one MPDU, or none while it is being set up.
    pub const fn window(&self) -> u16 {
        let is_open = matches!(self.step, Step::Apart(_) | Step::Declined) && self.lost < LOST_MAX;
        if is_open { 1 } else { 0 }
    }
    /// The state after a failure.
    fn fail(&mut self, now: Instant) -> Self {
        (self.step, self.failures) = (Step::Apart(now + PAUSE), self.failures + 1);
        *self
    }
    /// When it is to be asked for, by whether there are data.
    fn due(&self, has_data: bool) -> Option<Instant> {
        let doublings = self.failures.saturating_sub(1).min(DOUBLINGS_MAX);
        match self.step {
            Step::Apart(from) if has_data => Some(from),
            Step::Apart(from) if self.may_wait => Some(from + PAUSE * ((1 << doublings) - 1)),
            _ => None,
        }
    }
}

/// A frame that waits to be sent, or is on the air.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetupFrame {
    pub to: Address,
    pub tid: u8,
    pub content: AgreementFrame,
    /// Its sequence number, which it has from its first transmission on.
    pub sequence: Option<u16>,
    /// Number of its transmissions.
    pub attempts: u32,
    /// Whether a link has taken it.
    pub is_taken: bool,
}

/// The setup of a device's agreements.
#[derive(Clone, Debug, Default)]
pub(super) struct Setups {
    /// The agreements that it wants as originator.
    wanted: Vec<Wanted>,
    /// The oldest first.
    frames: Vec<SetupFrame>,
    /// The token of the last request of each peer and TID.
    answered: Vec<(Address, u8, u8)>,
    /// The token of its own last request.
    token: u8,
    /// Sequence number of the next frame of a multi-link device.
    sequence: u16,
    /// The filter of MPDUs without an agreement, by sender and TID.
    pub singles: DuplicateFilter,
}

impl Setups {
    /// A peer is to be asked, unless it is already.
    pub fn want(&mut self, now: Instant, to: Address, tid: u8) {
        if self.find(to, tid).is_none() {
            self.wanted.push(Wanted {
                to,
                tid,
                step: Step::Apart(now),
                since: now,
                failures: 0,
                lost: 0,
                may_wait: false,
            });
        }
    }

    fn find(&mut self, to: Address, tid: u8) -> Option<&mut Wanted> {
        self.wanted.iter_mut().find(|wanted| (wanted.to, wanted.tid) == (to, tid))
    }

    /// An agreement that is to be asked for now; `has_data` tells for which there are data.
    pub fn due(&self, now: Instant, has_data: impl Fn(&Wanted) -> bool) -> Option<Wanted> {
        let is_due = |wanted: &&Wanted| wanted.due(has_data(wanted)).is_some_and(|from| from <= now);
        self.wanted.iter().find(is_due).copied()
    }
    /// The earliest time at which one is to be asked for, or its response is overdue.
    pub fn alarm(&self, has_data: impl Fn(&Wanted) -> bool) -> Option<Instant> {
        let at = |wanted: &Wanted| match wanted.step {
            Step::Awaits(_, until) => Some(until),
            _ => wanted.due(has_data(wanted)),
        };
        self.wanted.iter().filter_map(at).min()
    }

    /// Begins to ask for an agreement of this window.
    pub fn ask(&mut self, now: Instant, to: Address, tid: u8, window: u16) {
        // 0 is no token.
        let token = self.token % u8::MAX + 1;
        self.token = token;
        if let Some(wanted) = self.find(to, tid) {
            (wanted.step, wanted.since) = (Step::Asks(token), now);
        }
        self.add(to, tid, AgreementFrame::Request { token, start: 0, window });
    }

    fn add(&mut self, to: Address, tid: u8, content: AgreementFrame) {
        self.frames.push(SetupFrame { to, tid, content, sequence: None, attempts: 0, is_taken: false });
    }
    fn drop_frame(&mut self, to: Address, tid: u8, is_request: bool) {
        let is_it = |frame: &SetupFrame| (frame.to, frame.tid, frame.content.is_request()) == (to, tid, is_request);
        self.frames.retain(|frame| !is_it(frame));
    }

    /// The frames that no link has taken, the oldest first.
    pub fn free(&self) -> impl Iterator<Item = &SetupFrame> {
        self.frames.iter().filter(|frame| !frame.is_taken)
    }
    /// A frame that is not settled yet, by its peer and TID and by what its PPDU says.
    pub fn frame(&mut self, to: Address, tid: u8, content: AgreementFrame) -> Option<&mut SetupFrame> {
        let key = |content: AgreementFrame| (content.is_request(), content.token());
        let is_it = |frame: &&mut SetupFrame| (frame.to, frame.tid) == (to, tid) && key(frame.content) == key(content);
        self.frames.iter_mut().find(is_it)
    }
    /// A sequence number of the device.
    pub fn number(&mut self, sequences: u16) -> u16 {
        let number = self.sequence;
        self.sequence = (number + 1) % sequences;
        number
    }

    /// A frame is acknowledged.
    pub fn on_acknowledged(&mut self, now: Instant, to: Address, tid: u8, content: AgreementFrame) {
        if self.frame(to, tid, content).is_none() {
            return;
        }
        self.drop_frame(to, tid, content.is_request());
        if let Some(wanted) = self.find(to, tid).filter(|_| content.is_request()) {
            wanted.step = Step::Awaits(content.token(), now + RESPONSE_TIMEOUT);
        }
    }

    /// A frame is given up; returns the agreement that was asked for in vain.
    pub fn give_up(&mut self, now: Instant, to: Address, tid: u8, is_request: bool) -> Option<Wanted> {
        self.drop_frame(to, tid, is_request);
        Some(self.find(to, tid).filter(|_| is_request)?.fail(now))
    }

    /// An agreement whose response is overdue.
    pub fn overdue(&mut self, now: Instant) -> Option<Wanted> {
        let is_late = |wanted: &&mut Wanted| matches!(wanted.step, Step::Awaits(_, until) if until <= now);
        Some(self.wanted.iter_mut().find(is_late)?.fail(now))
    }

    /// A response has come; returns the agreement, if it belongs to what was asked last.
    pub fn on_response(&mut self, from: Address, tid: u8, token: u8, is_accepted: bool) -> Option<Wanted> {
        let wanted = self.find(from, tid)?;
        if !matches!(wanted.step, Step::Asks(asked) | Step::Awaits(asked, _) if asked == token) {
            return None;
        }
        (wanted.step, wanted.may_wait, wanted.lost) = (Step::Declined, false, 0);
        let wanted = *wanted;
        self.drop_frame(from, tid, true);
        if is_accepted {
            self.wanted.retain(|wanted| (wanted.to, wanted.tid) != (from, tid));
        }
        Some(wanted)
    }

    /// A request has come; returns whether it is new.
    pub fn on_request(&mut self, from: Address, tid: u8, token: u8, is_retry: bool) -> bool {
        let before = self.answered.iter_mut().find(|(peer, other, _)| (*peer, *other) == (from, tid));
        let last = before.map(|(_, _, last)| std::mem::replace(last, token));
        if last.is_none() {
            self.answered.push((from, tid, token));
        }
        !is_retry || last != Some(token)
    }
    /// It is to be answered so.
    pub fn answer(&mut self, to: Address, tid: u8, content: AgreementFrame) {
        self.drop_frame(to, tid, false);
        self.add(to, tid, content);
    }

    /// An MPDU without an agreement is acknowledged, or given up; returns the agreement that it lacks.
    pub fn on_single(&mut self, to: Address, tid: u8, is_given_up: bool) -> Option<Wanted> {
        let wanted = self.find(to, tid).filter(|wanted| wanted.step != Step::Declined)?;
        wanted.lost = if is_given_up { wanted.lost.saturating_add(1) } else { 0 };
        wanted.may_wait |= is_given_up;
        Some(*wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: Address = Address(7);

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }
    fn asking() -> Setups {
        let mut setups = Setups::default();
        setups.want(ms(0), PEER, 0);
        setups.ask(ms(0), PEER, 0, 64);
        setups
    }
    fn request(setups: &Setups) -> AgreementFrame {
        setups.free().next().unwrap().content
    }

    #[test]
    fn a_response_counts_with_the_token_of_the_last_request() {
        let mut setups = asking();
        assert!(setups.on_response(PEER, 0, 9, true).is_none() && setups.on_response(PEER, 1, 1, true).is_none());
        assert!(setups.on_response(PEER, 0, 1, true).is_some() && setups.free().next().is_none());
        assert!(setups.on_response(PEER, 0, 1, true).is_none(), "there is nothing to be agreed any more");
    }

    #[test]
    fn a_second_without_response_is_a_failure_and_a_pause_follows() {
        let mut setups = asking();
        let asked = request(&setups);
        setups.on_acknowledged(ms(3), PEER, 0, asked);
        assert_eq!(setups.alarm(|_| true), Some(ms(1_003)));
        assert!(setups.overdue(ms(1_002)).is_none());
        assert_eq!(setups.overdue(ms(1_003)).map(|wanted| wanted.window()), Some(1));
        assert_eq!((setups.alarm(|_| true), setups.alarm(|_| false)), (Some(ms(1_203)), None));
        assert!(setups.on_response(PEER, 0, 1, true).is_none(), "it is too late");
    }

    #[test]
    fn who_may_wait_for_what_was_given_up_is_asked_even_without_data() {
        let mut setups = asking();
        let wanted = setups.give_up(ms(5), PEER, 0, true).unwrap();
        assert_eq!((wanted.window(), setups.alarm(|_| false)), (1, None));
        setups.on_single(PEER, 0, true);
        assert_eq!(setups.alarm(|_| false), Some(ms(205)));
        setups.on_single(PEER, 0, false);
        assert!(setups.due(ms(205), |_| false).is_some(), "what comes behind does not mend it");
    }

    #[test]
    fn without_data_the_pause_doubles() {
        let mut setups = asking();
        setups.on_single(PEER, 0, true);
        let pauses = (0..9).map(|_| {
            setups.give_up(ms(0), PEER, 0, true);
            assert_eq!(setups.alarm(|_| true), Some(ms(200)), "with data");
            setups.ask(ms(0), PEER, 0, 64);
            setups.give_up(ms(0), PEER, 0, true);
            setups.alarm(|_| false).unwrap()
        });
        let pauses: Vec<Instant> = pauses.collect();
        assert_eq!(pauses[..3], [400, 1_600, 6_400].map(ms));
        assert_eq!(pauses[3..], [ms(12_800); 6]);
    }

    #[test]
    fn behind_a_thousand_losses_in_a_row_nothing_is_sent() {
        let mut setups = asking();
        setups.give_up(ms(5), PEER, 0, true);
        let windows = (0..2 * LOST_MAX).filter_map(|_| setups.on_single(PEER, 0, true)).map(|wanted| wanted.window());
        assert_eq!(windows.take_while(|window| *window == 1).count(), usize::from(LOST_MAX) - 1);
    }

    #[test]
    fn a_request_that_is_sent_again_is_answered_once() {
        let mut setups = Setups::default();
        assert!(setups.on_request(PEER, 0, 5, false) && !setups.on_request(PEER, 0, 5, true));
        assert!(setups.on_request(PEER, 1, 5, true), "the first that has come of another TID");
        assert!(setups.on_request(PEER, 0, 6, true) && setups.on_request(PEER, 0, 6, false));
    }

    #[test]
    fn tokens_are_never_zero() {
        let mut setups = asking();
        for _ in 0..600 {
            setups.give_up(ms(0), PEER, 0, true);
            setups.ask(ms(0), PEER, 0, 64);
            assert_ne!(request(&setups).token(), 0);
        }
    }

    #[test]
    fn numbers_and_tokens_go_round() {
        let mut setups = Setups::default();
        assert_eq!([(); 5].map(|()| setups.number(3)), [0, 1, 2, 0, 1]);
        let tokens = [(); 257].map(|()| {
            setups.ask(ms(0), PEER, 0, 64);
            let token = request(&setups).token();
            setups.drop_frame(PEER, 0, true);
            token
        });
        assert_eq!((tokens[0], tokens[254], tokens[255], tokens[256]), (1, 255, 1, 2), "0 is no token");
    }

    /// Each peer and TID is asked for itself; the earliest is next.
    #[test]
    fn agreements_of_peers_and_tids_are_apart() {
        let mut setups = Setups::default();
        let other = Address(8);
        setups.want(ms(5), PEER, 0);
        setups.want(ms(3), PEER, 1);
        setups.want(ms(4), other, 0);
        setups.want(ms(1), PEER, 0);
        assert_eq!(setups.wanted.len(), 3, "it is wanted already");
        assert_eq!((setups.alarm(|_| true), setups.alarm(|wanted| wanted.tid == 0)), (Some(ms(3)), Some(ms(4))));
        assert!(setups.due(ms(2), |_| true).is_none());
        assert_eq!(setups.due(ms(4), |wanted| wanted.tid == 0).map(|wanted| wanted.to), Some(other));
        setups.ask(ms(4), other, 0, 64);
        setups.ask(ms(5), PEER, 0, 64);
        assert!(setups.give_up(ms(6), PEER, 1, true).is_some() && setups.free().count() == 2);
        assert!(setups.on_response(other, 0, 1, true).is_some());
        assert_eq!((setups.wanted.len(), setups.free().map(|frame| frame.to).collect::<Vec<_>>()), (2, vec![PEER]));
        // What is answered is answered with the last response.
        let response = |token| AgreementFrame::Response { token, is_accepted: true, window: 64 };
        setups.answer(PEER, 0, response(1));
        setups.answer(PEER, 1, response(2));
        setups.answer(PEER, 0, response(3));
        let tokens: Vec<u8> = setups.free().map(|frame| frame.content.token()).collect();
        assert_eq!(tokens, [2, 2, 3], "its own request of the token 2, and two responses");
    }
}
