//! Transmission: the congestion window, the order of new and retransmitted data, the timer they need.
//!
//! RFC 5681 (windows, idle restart), RFC 3042 (limited transmit), RFC 6675 section 5 (SACK recovery), RFC 9293 section
//! 3.8.6.2 (silly window avoidance). It never changes the congestion window but for the idle restart.

use super::super::scoreboard::{DUP_THRESH, Next};
use super::{Recovery, Rfc, State};
use airbraid_units::Instant;

impl Rfc {
    /// Sends the stretch `start..end`, FIN included where the stream ends.
    pub(super) fn send(&mut self, now: Instant, start: u64, end: u64) {
        if start < self.max {
            self.tcp.stats.retransmits += 1;
            // Karn: which of the two is acknowledged would not be known.
            self.timed = None;
        } else if self.timed.is_none() {
            self.timed = Some((end, now));
        }
        self.max = self.max.max(end);
        self.tcp.send(now, start, end);
    }

    /// Bytes sent, not acknowledged and not known to have arrived.
    pub(super) fn outstanding(&self) -> u64 {
        let flight = self.tcp.nxt - self.tcp.una;
        if self.board.is_empty() { flight } else { flight - self.board.sacked_below(self.tcp.nxt) }
    }

    /// Sends as much as the windows allow, and starts the right timer.
    pub(super) fn transmit(&mut self, now: Instant) {
        if self.tcp.state != State::Established {
            return;
        }
        if self.recovery == Recovery::Fast && self.tcp.config.variant.has_sack() {
            self.transmit_by_scoreboard(now);
        } else {
            self.transmit_in_order(now);
        }
        self.settle_timer(now);
    }

    /// Sends new data, or after a timeout everything from the first gap on.
    fn transmit_in_order(&mut self, now: Instant) {
        if self.tcp.nxt == self.tcp.una && now.saturating_since(self.tcp.last_sent) > self.rto.timeout() {
            // RFC 5681, section 4.1: what the path held a timeout ago says nothing.
            self.window.restart(self.tcp.config.initial_cwnd());
        }
        let mut outstanding = self.outstanding();
        let allowance = self.window.cwnd() + self.limited_transmit();
        loop {
            let limit = if self.board.is_empty() {
                u64::MAX
            } else {
                // What arrived meanwhile is not sent again.
                let gap = self.board.gap_from(self.tcp.nxt);
                self.tcp.nxt = gap.0;
                gap.1
            };
            let Some(end) = self.tcp.sendable(limit) else { return };
            let data = end.min(self.tcp.written) - self.tcp.nxt;
            if outstanding + data > allowance {
                return;
            }
            // Beyond the window, seen from the last cumulative acknowledgement: only duplicates let it go.
            if self.recovery == Recovery::Open && self.tcp.nxt + data > self.tcp.una + self.window.cwnd() {
                self.limited += data;
                self.tcp.stats.limited_transmits += 1;
            }
            self.send(now, self.tcp.nxt, end);
            self.tcp.nxt = end;
            outstanding += data;
        }
    }

    /// Bytes that the first two duplicate acknowledgements add to the window (RFC 3042). With SACK they need nothing:
    /// the reported segments have left the pipe.
    fn limited_transmit(&self) -> u64 {
        let wanted = self.tcp.config.limited_transmit && !self.tcp.config.variant.has_sack();
        let applies = self.recovery == Recovery::Open && wanted;
        if applies { u64::from(self.dup_acks.min(DUP_THRESH - 1)) * self.tcp.mss } else { 0 }
    }

    /// RFC 6675, section 5, step C: gaps and new data while the pipe has space.
    fn transmit_by_scoreboard(&mut self, now: Instant) {
        let mut pipe = self.board.pipe(self.tcp.una, self.tcp.nxt, self.tcp.mss);
        while pipe + self.tcp.mss <= self.window.cwnd() {
            let hole = match self.board.next(self.tcp.una, self.tcp.mss) {
                Next::Lost(hole) => Some(hole),
                Next::NewOr(hole) => {
                    if let Some(end) = self.tcp.sendable(u64::MAX) {
                        pipe += end - self.tcp.nxt;
                        self.send(now, self.tcp.nxt, end);
                        self.tcp.nxt = end;
                        continue;
                    }
                    hole
                }
            };
            if let Some((start, limit)) = hole {
                let end = self.tcp.cut(start, limit);
                self.send(now, start, end);
                self.board.retransmitted(end);
                pipe += end - start;
            } else if let Some((start, end)) = self.rescue() {
                self.send(now, start, end);
                pipe += end - start;
            } else {
                return;
            }
        }
    }

    /// `NextSeg`, rule 4, once a recovery: the tail, whose loss no duplicate acknowledgement would reveal. Not a tail
    /// that this recovery sent itself: it has had no time to be acknowledged.
    fn rescue(&mut self) -> Option<(u64, u64)> {
        if self.rescued || self.tcp.nxt > self.recover {
            return None;
        }
        let (start, limit) = self.board.rescue(self.tcp.una, self.tcp.nxt.min(self.tcp.written), self.tcp.mss)?;
        self.rescued = true;
        Some((start, self.tcp.cut(start, limit)))
    }

    /// Starts the timer that is needed if it does not run (RFC 6298, rules 5.1 and 5.2; RFC 9293, section 3.8.6.1).
    fn settle_timer(&mut self, now: Instant) {
        use super::Timer::{Persist, Retransmit};
        let waiting = self.tcp.nxt < self.tcp.written;
        match self.timer {
            _ if self.tcp.nxt > self.tcp.una => {
                if !matches!(self.timer, Some((Retransmit, _))) {
                    self.restart_timer(now);
                }
                self.probes = 0;
            }
            // Nothing is out and yet something waits: only the offered window can hold it back.
            Some((Persist, _)) if waiting => {}
            _ if waiting => self.start_persist(now),
            _ => self.timer = None,
        }
    }
}
