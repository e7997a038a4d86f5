//! The send buffer: packets that wait for a route, of all destinations together, with a limit and a time limit.

use super::{Datagram, Node};
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// Packets that wait for routes, oldest first.
#[derive(Clone, Debug)]
pub(super) struct SendBuffer<P> {
    waiting: VecDeque<(Instant, Datagram<P>)>,
    limit: usize,
    timeout: Duration,
}

impl<P> SendBuffer<P> {
    pub(super) fn new(limit: u32, timeout: Duration) -> Self {
        Self { waiting: VecDeque::new(), limit: limit as usize, timeout }
    }

    /// Adds a packet; returns the packet that must go for it: the oldest, for TCP retransmits its successors anyway.
    pub(super) fn push(&mut self, now: Instant, datagram: Datagram<P>) -> Option<Datagram<P>> {
        if self.limit == 0 {
            return Some(datagram);
        }
        let oldest = if self.waiting.len() < self.limit { None } else { self.waiting.pop_front() };
        self.waiting.push_back((now + self.timeout, datagram));
        oldest.map(|(_, datagram)| datagram)
    }

    /// Takes the oldest packet for `destination`.
    pub(super) fn take(&mut self, destination: Node) -> Option<Datagram<P>> {
        let place = self.waiting.iter().position(|(_, datagram)| datagram.destination == destination)?;
        self.waiting.remove(place).map(|(_, datagram)| datagram)
    }

    /// Takes the oldest packet for `destination` that `node` did not send itself.
    pub(super) fn take_foreign(&mut self, destination: Node, node: Node) -> Option<Datagram<P>> {
        let is_meant = |datagram: &Datagram<P>| datagram.destination == destination && datagram.source != node;
        let place = self.waiting.iter().position(|(_, datagram)| is_meant(datagram))?;
        self.waiting.remove(place).map(|(_, datagram)| datagram)
    }

    /// Takes the oldest packet if its time is over.
    pub(super) fn take_expired(&mut self, now: Instant) -> Option<Datagram<P>> {
        self.waiting.pop_front_if(|(expires, _)| *expires <= now).map(|(_, datagram)| datagram)
    }

    /// Takes the oldest packet.
    pub(super) fn pop(&mut self) -> Option<Datagram<P>> {
        self.waiting.pop_front().map(|(_, datagram)| datagram)
    }

    /// The time at which the oldest packet's time limit is over.
    pub(super) fn next_expiry(&self) -> Option<Instant> {
        self.waiting.front().map(|(expires, _)| *expires)
    }

    pub(super) fn has(&self, destination: Node) -> bool {
        self.waiting.iter().any(|(_, datagram)| datagram.destination == destination)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}
