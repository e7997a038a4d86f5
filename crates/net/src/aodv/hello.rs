//! Hello messages: neighbours that fall silent are gone (RFC 3561, sections 6.9, 6.10). Off where the link layer
//! reports broken links.

use super::message::Rrep;
use super::table::Offer;
use super::{Aodv, Message, Node};
use airbraid_units::{Duration, Instant};

impl<P> Aodv<P> {
    /// Longest silence of a neighbour with hello messages that does not break its link.
    fn allowed_silence(&self) -> Option<Duration> {
        self.config.hello.map(|hello| hello.interval * u64::from(hello.allowed_loss))
    }

    pub(super) fn on_hello(&mut self, now: Instant, from: Node, hello: &Rrep) {
        if hello.destination != from || hello.lifetime.is_zero() {
            return;
        }
        let expires = now + hello.lifetime;
        let offer = Offer { sequence: hello.destination_sequence, hops: 1, next_hop: from, expires };
        self.table.offer(now, from, offer);
        self.flush(now, from);
        if let Some(silence) = self.allowed_silence() {
            self.greeters.insert(from, now + silence);
        }
    }

    /// A sign of life of a neighbour; with hello messages, its allowed silence begins again.
    pub(super) fn on_sign_of_life(&mut self, now: Instant, from: Node) {
        if let Some((_, was_heard)) = self.failures.get_mut(&from) {
            *was_heard = true;
        }
        if let Some(silence) = self.allowed_silence()
            && let Some(until) = self.greeters.get_mut(&from)
        {
            *until = now + silence;
        }
    }

    /// A packet for this node: the end of an active route is part of it.
    pub(super) fn on_packet_for_me(&mut self, now: Instant, from: Node) {
        self.table.note_use(now + self.config.active_route_timeout);
        self.on_sign_of_life(now, from);
    }

    /// Whether this node stops greeting, unless it hears of a use of its routes during the next half of
    /// ACTIVE_ROUTE_TIMEOUT.
    pub(super) fn is_hardly_in_use(&self, now: Instant) -> bool {
        self.config.hello.is_some() && !self.table.is_used_at(now + self.config.active_route_timeout / 2)
    }

    /// Whether half of the allowed silence of a neighbour that says hello has passed.
    pub(super) fn is_long_silent(&self, now: Instant, neighbour: Node) -> bool {
        let until = self.greeters.get(&neighbour);
        until.zip(self.allowed_silence()).is_some_and(|(until, silence)| until.saturating_since(now) < silence / 2)
    }

    /// Removes neighbours that have been silent for too long.
    pub(super) fn check_greeters(&mut self, now: Instant) {
        let is_silent = |until: &Instant| *until <= now;
        let silent: Vec<_> =
            self.greeters.iter().filter(|(_, until)| is_silent(until)).map(|(&neighbour, _)| neighbour).collect();
        for neighbour in silent {
            self.greeters.remove(&neighbour);
            self.break_link(now, neighbour, None);
        }
    }

    /// Once an interval, a node sends a hello message that is part of an active route and has been silent. Routes to
    /// neighbours that greet do not count: nodes that nobody needs would keep each other greeting.
    pub(super) fn say_hello(&mut self, now: Instant) {
        let (Some(hello), Some(next)) = (self.config.hello, self.next_hello) else { return };
        if next > now {
            return;
        }
        // Missed beats are not made up for.
        self.next_hello = Some(now + hello.interval.saturating_sub(self.random_up_to(hello.jitter)));
        // A broadcast since the last beat says as much as a greeting.
        let was_heard = self.last_broadcast.is_some_and(|at| at > self.last_beat);
        self.last_beat = now;
        if was_heard || !self.table.is_used_at(now) || !self.table.has_valid(now) {
            return;
        }
        let rrep = Rrep {
            hop_count: 0,
            destination: self.me,
            destination_sequence: self.sequence,
            originator: self.me,
            lifetime: hello.interval * u64::from(hello.allowed_loss),
        };
        self.send_control(now, None, 1, Message::Rrep(rrep));
    }
}
