//! Looks once a second at uplinks, peers and links, for the history.

use super::Daemon;
use crate::daemon::history::{HistoryReport, PEERS_LOOKED, Span};
use airbraid_units::Instant;
use nix::time::{ClockId, clock_gettime};

impl Daemon {
    /// Looks at everything that the history has. Of many peers the first ones are looked at each time, the others in
    /// turn, so that a look takes no longer.
    pub(super) fn record(&mut self, now: Instant) {
        let (begin, time_s) = (self.clock.now(), time_of_day());
        let uplinks = self.uplinks(&self.routing.report(), None);
        let present: Vec<usize> = (0..self.peers.len()).filter(|peer| !self.peers[*peer].is_gone).collect();
        let (first, others) = present.split_at(present.len().min(PEERS_LOOKED));
        let turn = self.history.turn.min(others.len());
        let in_turn = &others[turn..others.len().min(turn + PEERS_LOOKED)];
        let looked: Vec<_> = first.iter().chain(in_turn).map(|peer| self.peer(now, &self.peers[*peer])).collect();
        let next = turn + in_turn.len();
        self.history.turn = if next < others.len() { next } else { 0 };
        self.history.look_at_uplinks(time_s, &uplinks);
        for (place, report) in looked.iter().enumerate() {
            self.history.look_at_peer(now, time_s, report, place < first.len());
        }
        self.history.write(now);
        let took = self.clock.now().saturating_since(begin);
        tracing::trace!(peers = looked.len(), took_us = took.as_micros(), "looked for the history");
    }

    /// The recent past, with the state of the first peers.
    pub(super) fn history_report(&self, span: Span) -> HistoryReport {
        self.history.report(time_of_day(), span, self.status_of(PEERS_LOOKED))
    }
}

/// The time of day \[s since 1970\]; 0 before that.
pub(in crate::daemon) fn time_of_day() -> u32 {
    clock_gettime(ClockId::CLOCK_REALTIME).map_or(0, |time| u32::try_from(time.tv_sec()).unwrap_or(0))
}
