//! What a sender sends, and when it may: the windows, the order of new and repeated data, the timer they need.
//!
//! RFC 5681 (windows, idle restart), RFC 3042 (limited transmit), RFC 6675 section 5 (SACK recovery), RFC 9293 section
//! 3.8.6.2 (silly window avoidance). It never changes the congestion window but for the idle restart.

use super::super::scoreboard::{DUP_THRESH, Next};
use super::super::segment::{Flags, Segment};
use super::{Recovery, Rfc, SenderOutput, State};
use airbraid_units::Instant;

impl Rfc {
    /// The end of the segment that begins at `start` and stays below `limit`; a FIN that follows the data is included.
    pub(super) fn cut(&self, start: u64, limit: u64) -> u64 {
        let end = self.written.min(start + self.mss).min(limit);
        let fin = self.closing && end == self.written;
        end + u64::from(fin)
    }

    /// Sends the stretch `start..end`, FIN included where the stream ends.
    pub(super) fn send(&mut self, now: Instant, start: u64, end: u64) {
        self.stats.sent_segments += 1;
        if start < self.max {
            self.stats.retransmits += 1;
            // Karn: which of the two is acknowledged would not be known.
            self.timed = None;
        } else if self.timed.is_none() {
            self.timed = Some((end, now));
        }
        self.max = self.max.max(end);
        self.last_sent = now;
        let segment = Segment {
            seq: start,
            ack: self.peer_next,
            len: (end.min(self.written) - start) as u32,
            flags: Flags { ack: true, fin: end > self.written, ..Flags::default() },
            timestamp: self.timestamp(now),
            window: self.own_window(),
            ..Segment::default()
        };
        self.outputs.push_back(SenderOutput::Segment(segment));
    }

    /// Sent, not acknowledged and not known to have arrived.
    pub(super) fn outstanding(&self) -> u64 {
        let flight = self.nxt - self.una;
        if self.board.is_empty() { flight } else { flight - self.board.sacked_below(self.nxt) }
    }

    /// Sends what the windows let through, and sees that the right timer runs.
    pub(super) fn transmit(&mut self, now: Instant) {
        if self.state != State::Established {
            return;
        }
        if self.recovery == Recovery::Fast && self.config.variant.has_sack() {
            self.transmit_by_scoreboard(now);
        } else {
            self.transmit_in_order(now);
        }
        self.settle_timer(now);
    }

    /// New data, or after a timeout everything from the first hole on.
    fn transmit_in_order(&mut self, now: Instant) {
        if self.nxt == self.una && now.saturating_since(self.last_sent) > self.rto.timeout() {
            // RFC 5681, section 4.1: what the path held a timeout ago says nothing.
            self.window.restart(self.config.initial_cwnd());
        }
        let mut outstanding = self.outstanding();
        let allowance = self.window.cwnd() + self.limited_transmit();
        loop {
            let limit = if self.board.is_empty() {
                u64::MAX
            } else {
                // What arrived meanwhile is not sent again.
                let gap = self.board.gap_from(self.nxt);
                self.nxt = gap.0;
                gap.1
            };
            let Some(end) = self.sendable(limit) else { return };
            let data = end.min(self.written) - self.nxt;
            if outstanding + data > allowance {
                return;
            }
            // Beyond the window, seen from the last cumulative acknowledgement: only duplicates let it go.
            if self.recovery == Recovery::Open && self.nxt + data > self.una + self.window.cwnd() {
                self.limited += data;
                self.stats.limited_transmits += 1;
            }
            self.send(now, self.nxt, end);
            self.nxt = end;
            outstanding += data;
        }
    }

    /// What the first two duplicate acknowledgements add to the window (RFC 3042). With SACK they need nothing: what
    /// they report has left the pipe.
    fn limited_transmit(&self) -> u64 {
        let wanted = self.config.limited_transmit && !self.config.variant.has_sack();
        let applies = self.recovery == Recovery::Open && wanted;
        if applies { u64::from(self.dup_acks.min(DUP_THRESH - 1)) * self.mss } else { 0 }
    }

    /// The end of the next segment at `nxt`, if the application, its buffer and the offered window let one through.
    fn sendable(&self, limit: u64) -> Option<u64> {
        let end = self.cut(self.nxt, limit);
        let data_end = end.min(self.written);
        if end == self.nxt {
            return None;
        }
        if data_end == self.nxt {
            // A FIN alone takes no room.
            return Some(end);
        }
        // The buffer holds whole segments, not what is left of one.
        if data_end > self.una + self.config.send_buffer.as_u64() {
            return None;
        }
        let offered = self.una + self.rwnd;
        if data_end <= offered {
            return Some(end);
        }
        // Silly window avoidance: less than was asked for goes only if it is half of the largest window.
        let cut = offered.saturating_sub(self.nxt);
        (cut > 0 && 2 * cut >= self.max_rwnd).then_some(offered)
    }

    /// RFC 6675, section 5, step C: holes and new data while the pipe has room.
    fn transmit_by_scoreboard(&mut self, now: Instant) {
        let mut pipe = self.board.pipe(self.una, self.nxt, self.mss);
        while pipe + self.mss <= self.window.cwnd() {
            let hole = match self.board.next(self.una, self.mss) {
                Next::Lost(hole) => Some(hole),
                Next::NewOr(hole) => {
                    if let Some(end) = self.sendable(u64::MAX) {
                        pipe += end - self.nxt;
                        self.send(now, self.nxt, end);
                        self.nxt = end;
                        continue;
                    }
                    hole
                }
            };
            if let Some((start, limit)) = hole {
                let end = self.cut(start, limit);
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

    /// `NextSeg`, rule 4, once a recovery: the tail, whose loss no duplicate acknowledgement would tell. Not a tail
    /// that this recovery sent itself: it has had no time to be acknowledged.
    fn rescue(&mut self) -> Option<(u64, u64)> {
        if self.rescued || self.nxt > self.recover {
            return None;
        }
        let (start, limit) = self.board.rescue(self.una, self.nxt.min(self.written), self.mss)?;
        self.rescued = true;
        Some((start, self.cut(start, limit)))
    }

    /// Starts the timer that is needed if it does not run (RFC 6298, rules 5.1 and 5.2; RFC 9293, section 3.8.6.1).
    fn settle_timer(&mut self, now: Instant) {
        use super::Timer::{Persist, Retransmit};
        let waiting = self.nxt < self.written;
        match self.timer {
            _ if self.nxt > self.una => {
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
