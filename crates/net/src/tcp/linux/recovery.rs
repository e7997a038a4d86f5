//! Loss recovery: its beginning, its end, and its undoing when nothing had been lost.
//!
//! RFC 6675's frame with RFC 8985 for detection, RFC 5682 after a timeout, and RFC 3522's timestamps or RFC 2883's
//! reports to detect needless retransmissions. It never sends: it says whether to retransmit what is lost.

use super::news::{AckNews, FollowUp};
use super::rack::Order;
use super::{Linux, Phase, Prr, REORDERING, Timer, Undo};
use airbraid_units::{Duration, Instant};

impl Linux {
    /// Handles an acknowledgement that is not plain progress; returns what to send once the window has followed.
    pub(super) fn alert(&mut self, now: Instant, news: &mut AckNews) -> FollowUp {
        if self.phase == Phase::Open {
            self.undo.since = None;
        } else if self.tcp.una >= self.high && self.phase == Phase::Recovery {
            self.undo_or_end(news.echo);
            self.window_after_recovery();
        }
        match self.phase {
            Phase::Recovery => self.in_recovery(now, news),
            Phase::Loss => self.in_loss(now, news),
            Phase::Open | Phase::Disorder => {
                self.undo_by_reports();
                self.look_for_losses(now, news);
                self.recover_if_lost();
                FollowUp::Repeat
            }
        }
    }

    fn in_recovery(&mut self, now: Instant, news: &mut AckNews) -> FollowUp {
        if news.advanced && self.undo.marker.is_some() && self.is_delayed(news.echo) {
            // The gap was filled by a late segment, not by its retransmission.
            self.note_reordering(news.una, self.flight.highest_sacked(self.tcp.una));
            if self.flight.again() > 0 {
                // No more retransmissions until those that are out have been answered.
                return FollowUp::Nothing;
            }
            self.take_back(true);
            self.keep_open();
        }
        if self.undo_by_reports() {
            self.keep_open();
        }
        self.look_for_losses(now, news);
        if self.phase != Phase::Recovery {
            self.recover_if_lost();
        }
        FollowUp::Repeat
    }

    fn in_loss(&mut self, now: Instant, news: &mut AckNews) -> FollowUp {
        let follow = self.after_timeout(news);
        self.look_for_losses(now, news);
        if self.phase == Phase::Open || news.repetition_lost {
            // The reduction was taken back, or the retransmission of the timeout is lost as well.
            self.recover_if_lost();
            return FollowUp::Repeat;
        }
        follow
    }

    /// RFC 5682, section 3.1, with SACK: were the segments late rather than lost?
    fn after_timeout(&mut self, news: &AckNews) -> FollowUp {
        let recovered = self.tcp.una >= self.high;
        if news.advanced && self.undo_loss(news.echo, false) {
            return FollowUp::Nothing;
        }
        if self.frto {
            if news.original && self.undo_loss(news.echo, true) {
                return FollowUp::Nothing;
            }
            if self.tcp.nxt > self.high {
                // Step 3.a: what was sent after it arrived, the rest did not.
                self.frto &= !news.sacked;
            } else if news.advanced && !recovered {
                // Step 2.b: send new data and see.
                self.high = self.tcp.nxt;
                if self.tcp.sendable(u64::MAX).is_some() {
                    return FollowUp::SendNew;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.undo_or_end(news.echo);
            return FollowUp::Nothing;
        }
        FollowUp::Repeat
    }

    /// Runs RACK; the timer for doubtful segments replaces the others.
    fn look_for_losses(&mut self, now: Instant, news: &mut AckNews) {
        if !self.rack.advanced || self.flight.is_empty() {
            return;
        }
        let again = self.flight.again();
        let window = self.rack.window(self.order());
        let (lost, wait) = self.rack.detect(now, &mut self.flight, window);
        news.lost |= lost > 0;
        news.losses += lost;
        news.repetition_lost |= self.flight.again() < again;
        if let Some(wait) = wait {
            news.restart = false;
            self.start_timer(now, Timer::Reorder, wait + super::probe::TIMEOUT_MIN);
        }
    }

    pub(super) fn order(&self) -> Order {
        Order {
            seen: self.reordered,
            recovering: self.phase >= Phase::Recovery,
            evident: self.flight.sacked() >= self.reordering,
            min_rtt: self.rtt.least(),
            srtt: self.smoothed(),
        }
    }

    fn recover_if_lost(&mut self) {
        if self.flight.lost() == 0 {
            self.try_to_open();
        } else {
            self.enter_recovery();
        }
    }

    /// Reduces the window as the congestion control has it; `remember`: it may come back. BBR's does not change.
    pub(super) fn reduce(&mut self, remember: bool) {
        match &mut self.bbr {
            Some(bbr) => bbr.save_window(self.window.cwnd),
            None => self.window.reduce(remember),
        }
    }

    pub(super) fn enter_recovery(&mut self) {
        self.tcp.stats.fast_retransmits += 1;
        self.begin_undo();
        self.high = self.tcp.nxt;
        self.probe = None;
        self.prr = Prr::new(self.window.cwnd);
        self.reduce(true);
        self.phase = Phase::Recovery;
    }

    /// The timer expired while segments are out: all but the fresh ones are lost.
    pub(super) fn enter_loss(&mut self, now: Instant) {
        let fresh = self.phase < Phase::Recovery;
        for place in 0..self.flight.len() as usize {
            let patience = self.rack.patience(now, self.flight.get(place), Duration::ZERO);
            if place == 0 || patience.is_zero() {
                self.flight.lose(place);
            }
        }
        if fresh || self.tcp.una >= self.high || self.phase == Phase::Loss && self.expiries == 0 {
            self.reduce(true);
            self.begin_undo();
        }
        self.window.on_timeout(now, self.flight.pipe(), self.tcp.nxt);
        if let Some(bbr) = &mut self.bbr {
            bbr.on_timeout();
        }
        if fresh && self.flight.sacked() >= REORDERING {
            // So much arrived and yet a timeout was needed: reordering was overestimated.
            self.reordering = self.reordering.min(REORDERING);
        }
        self.frto = fresh || self.expiries > 0;
        self.phase = Phase::Loss;
        self.high = self.tcp.nxt;
        self.probe = None;
    }

    // --- taking back -----------------------------------------------------------------------------------------------

    fn begin_undo(&mut self) {
        let probes = u64::from(self.probe.is_some_and(|probe| probe.repeats));
        let open = self.flight.again() + probes;
        self.undo = Undo { marker: Some(self.tcp.una), open: (open > 0).then_some(open), since: self.undo.since };
    }
    /// The acknowledgement echoes a time before the first retransmission, or there was none.
    fn is_delayed(&self, echo: Option<Instant>) -> bool {
        self.undo.since.is_none_or(|since| echo.is_some_and(|echo| echo < since))
    }
    fn may_undo(&self, echo: Option<Instant>) -> bool {
        self.undo.marker.is_some() && (self.undo.open == Some(0) || self.is_delayed(echo))
    }
    fn take_back(&mut self, forget_losses: bool) {
        if forget_losses {
            self.flight.forget_losses();
        }
        self.window.undo();
        if let Some(bbr) = &mut self.bbr {
            bbr.on_undo();
        }
        self.undo.marker = None;
        self.rack.advanced = true;
        self.tcp.stats.undone += 1;
    }
    /// Every retransmission was reported as needless.
    fn undo_by_reports(&mut self) -> bool {
        let all = self.undo.marker.is_some() && self.undo.open == Some(0);
        if all {
            self.rack.on_recovery_end(false);
            self.take_back(false);
        }
        all
    }
    fn undo_loss(&mut self, echo: Option<Instant>, spurious: bool) -> bool {
        let undo = spurious || self.may_undo(echo);
        if undo {
            self.take_back(true);
            self.expiries = 0;
            self.phase = Phase::Open;
        }
        undo
    }
    /// Everything up to the end of the recovery is acknowledged.
    fn undo_or_end(&mut self, echo: Option<Instant>) {
        if self.may_undo(echo) {
            self.take_back(false);
        } else {
            self.rack.on_recovery_end(true);
        }
        self.phase = Phase::Open;
    }
    fn window_after_recovery(&mut self) {
        if self.undo.marker.is_some() {
            self.window.end_reduction();
        }
    }

    fn try_to_open(&mut self) {
        if !self.any_repeated() {
            self.undo.since = None;
        }
        self.keep_open();
    }
    /// The phase if nothing is lost.
    pub(super) fn keep_open(&mut self) {
        let disorder = self.flight.sacked() + self.flight.lost() > 0 || self.any_repeated();
        let phase = if disorder { Phase::Disorder } else { Phase::Open };
        if self.phase != phase {
            self.phase = phase;
            self.high = self.tcp.nxt;
        }
    }
    fn any_repeated(&self) -> bool {
        self.flight.again() > 0 || self.flight.first().is_some_and(|first| first.repeated)
    }
}
