//! The meaning of an acknowledgement for a sender: progress, loss, or the end of a recovery.
//!
//! RFC 5681 section 3.2 (Reno), RFC 6582 section 3.2 (NewReno, impatient), RFC 6675 section 5 (SACK). It never
//! computes a window itself: that is the congestion control's.

use super::super::config::Variant;
use super::super::scoreboard::DUP_THRESH;
use super::super::segment::Segment;
use super::{Recovery, Rfc};
use airbraid_units::{Duration, Instant};

impl Rfc {
    /// Takes in an acknowledgement and sends what it lets go.
    pub(super) fn on_ack(&mut self, now: Instant, segment: &Segment) {
        // What was never sent cannot be acknowledged; what is older than the last one tells nothing.
        if segment.ack > self.max || segment.ack < self.tcp.una {
            return;
        }
        let same_window = u64::from(segment.window) == self.tcp.rwnd;
        self.tcp.note_window(segment);
        let has_sack = self.tcp.config.variant.has_sack();
        let news = has_sack && !segment.sack.is_empty() && self.board.update(segment, segment.ack, self.max) > 0;
        // RFC 6675 counts what brings news of other segments, RFC 5681 what brings nothing at all.
        let bare = segment.len == 0 && !segment.flags.fin && same_window;
        let repeats = segment.ack == self.tcp.una && self.tcp.nxt > self.tcp.una;
        let duplicate = if has_sack { news } else { repeats && bare };
        if segment.ack > self.tcp.una {
            self.on_progress(now, segment);
        }
        if duplicate {
            self.on_duplicate(now);
        }
        self.transmit(now);
    }

    /// The cumulative acknowledgement moved.
    fn on_progress(&mut self, now: Instant, segment: &Segment) {
        let acked = segment.ack - self.tcp.una;
        // Full, if it would not have taken another segment: then the window was the limit, not the application.
        let full = self.outstanding() + self.tcp.mss > self.window.cwnd();
        self.tcp.una = segment.ack;
        self.tcp.nxt = self.tcp.nxt.max(self.tcp.una);
        self.board.advance(self.tcp.una);
        self.take_sample(now, segment);
        self.dup_acks = 0;
        self.limited = 0;
        self.probes = 0;
        let mut restart = true;
        match self.recovery {
            Recovery::Open => self.grow(now, acked, full),
            Recovery::Timeout => {
                self.grow(now, acked, true);
                if self.tcp.una >= self.recover {
                    self.recovery = Recovery::Open;
                }
            }
            Recovery::Fast => restart = self.on_progress_in_recovery(now, acked),
        }
        let is_over = self.tcp.finish();
        if is_over || self.tcp.nxt == self.tcp.una {
            self.timer = None;
        } else if restart {
            self.restart_timer(now);
        }
    }

    fn grow(&mut self, now: Instant, acked: u64, full: bool) {
        if full {
            self.window.on_ack(now, acked, self.rto.srtt().unwrap_or(Duration::ZERO));
        } else {
            self.window.on_unused(now);
        }
    }

    /// Progress in fast recovery; returns whether the timer restarts.
    fn on_progress_in_recovery(&mut self, now: Instant, acked: u64) -> bool {
        let complete = self.tcp.una >= self.recover;
        match self.tcp.config.variant {
            Variant::Reno => self.end_fast_recovery(u64::MAX),
            // RFC 6582, step 3.1, the first choice: no burst if little is out.
            Variant::NewReno if complete => {
                let flight = (self.tcp.nxt - self.tcp.una).max(self.tcp.mss);
                self.end_fast_recovery(flight + self.tcp.mss);
            }
            Variant::NewReno => {
                let end = self.tcp.cut(self.tcp.una, self.tcp.nxt);
                self.send(now, self.tcp.una, end);
                self.window.deflate(acked);
                // Impatient: only the first partial acknowledgement restarts the timer.
                return !std::mem::replace(&mut self.partial, true);
            }
            Variant::Sack | Variant::Cubic | Variant::Bbr if complete => self.end_fast_recovery(u64::MAX),
            Variant::Sack | Variant::Cubic | Variant::Bbr => {}
        }
        true
    }

    fn end_fast_recovery(&mut self, limit: u64) {
        self.window.end_recovery(limit);
        self.recovery = Recovery::Open;
    }

    /// An acknowledgement reports the arrival of a segment that was not the next.
    fn on_duplicate(&mut self, now: Instant) {
        self.tcp.stats.dup_acks += 1;
        let has_sack = self.tcp.config.variant.has_sack();
        match self.recovery {
            Recovery::Fast if has_sack => {}
            Recovery::Fast => self.window.inflate(self.tcp.mss),
            Recovery::Open | Recovery::Timeout => {
                self.dup_acks += 1;
                let lost = self.dup_acks >= DUP_THRESH || has_sack && self.board.first_is_lost(self.tcp.mss);
                if lost && self.may_enter_recovery() {
                    self.enter_fast_recovery(now);
                }
            }
        }
    }

    /// Whether duplicates mean a new loss, and not segments that a recovery sent needlessly.
    fn may_enter_recovery(&self) -> bool {
        match self.tcp.config.variant {
            // Only the third: it must not begin again with the fourth.
            Variant::Reno => self.dup_acks == DUP_THRESH,
            // RFC 6582, step 2: more than the last recovery's end must be acknowledged.
            Variant::NewReno => self.dup_acks == DUP_THRESH && self.tcp.una > self.recover,
            // RFC 6675, section 5.1: at least that; the scoreboard tells needless segments apart.
            Variant::Sack | Variant::Cubic | Variant::Bbr => self.recovery == Recovery::Open,
        }
    }

    /// Fast retransmit, and the window for what follows.
    fn enter_fast_recovery(&mut self, now: Instant) {
        self.tcp.stats.fast_retransmits += 1;
        self.recovery = Recovery::Fast;
        self.recover = self.max;
        self.partial = false;
        self.rescued = false;
        // RFC 5681, section 3.2, step 2: what limited transmit added does not count.
        self.window.on_loss(self.tcp.nxt - self.tcp.una - self.limited);
        let (start, limit) = if self.tcp.config.variant.has_sack() {
            self.board.gap_from(self.tcp.una)
        } else {
            (self.tcp.una, u64::MAX)
        };
        let end = self.tcp.cut(start, limit.min(self.tcp.nxt));
        self.send(now, start, end);
        if self.tcp.config.variant.has_sack() {
            self.board.begin_recovery(self.tcp.una);
            self.board.retransmitted(end);
        } else {
            self.window.inflate(u64::from(DUP_THRESH) * self.tcp.mss);
        }
        self.restart_timer(now);
    }
}
