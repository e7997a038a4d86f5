//! A station's backlog: the MSDUs in service, those begun and not finished, the queue; and the choice of the next.

use super::config::Scheduling;
use super::{Multichannel, State};
use crate::frame::Address;
use crate::retry::Retries;
use crate::service::{Msdu, Outcome};
use airbraid_engine::Packet;
use airbraid_units::{Bytes, Duration, Instant};

/// An MSDU with a sequence number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing<P> {
    pub msdu: Msdu<P>,
    pub sequence: u16,
    pub size: Bytes,
    pub airtime: Duration,
    pub retries: Retries,
    pub attempts: u32,
}

impl<P: Packet + Copy> Multichannel<P> {
    pub(super) fn enqueue(&mut self, now: Instant, msdu: Msdu<P>) {
        if self.state == State::Idle {
            let outgoing = self.number(msdu);
            self.service.push_back(outgoing);
            self.serve_on(now);
            return;
        }
        // What was begun and waits to be sent again still waits.
        let is_full = self.queue_len() >= self.config.dcf.queue_limit as usize;
        let refused = if is_full { Some(msdu) } else { self.station.queue.push(msdu).err() };
        match refused {
            Some(msdu) => self.station.refuse(msdu),
            None => self.reconsider(now),
        }
    }

    pub(super) fn enqueue_first(&mut self, now: Instant, msdu: Msdu<P>) {
        if self.state == State::Idle {
            return self.enqueue(now, msdu);
        }
        if let Some(msdu) = self.station.queue.push_first(msdu) {
            self.station.refuse(msdu);
        }
        self.reconsider(now);
    }

    /// Gives up all MSDUs that wait for a neighbour, and those in service if nothing of them was ever on the air.
    pub(super) fn purge(&mut self, now: Instant, neighbour: Address) {
        self.station.purge(neighbour);
        let is_fresh = |first: &Outgoing<P>| first.attempts == 0 && first.retries == Retries::default();
        let untried = |first: &Outgoing<P>| first.msdu.to == neighbour && is_fresh(first);
        let is_free = self.state == State::Contend && self.exchange.is_none();
        if is_free && self.service.len() == 1 && self.service.front().is_some_and(untried) {
            self.settle(neighbour, Outcome::Purged);
            self.serve_on(now);
        }
    }

    /// Gives an MSDU its sequence number.
    fn number(&mut self, msdu: Msdu<P>) -> Outgoing<P> {
        let dcf = &self.config.dcf;
        let size = self.size_of(&msdu);
        let rate = if msdu.to == Address::BROADCAST { dcf.broadcast_rate } else { dcf.data_rate };
        let airtime = dcf.phy.frame_time(rate, size);
        let sequence = self.station.number();
        Outgoing { msdu, sequence, size, airtime, retries: Retries::default(), attempts: 0 }
    }

    fn size_of(&self, msdu: &Msdu<P>) -> Bytes {
        self.config.dcf.data_size(msdu.packet.len())
    }

    /// Asks for the medium for the MSDU in service, or for the next one.
    pub(super) fn serve_on(&mut self, now: Instant) {
        if self.service.is_empty() {
            match self.take_next(now) {
                Some(outgoing) => self.service.push_back(outgoing),
                None => {
                    self.state = State::Idle;
                    return;
                }
            }
        }
        self.state = State::Contend;
        self.renew_hold(now);
        self.station.contention.request(now);
    }

    /// The next MSDU: one that was begun before those of the queue, and by [`Scheduling::SkipBusy`] one whose neighbour
    /// is there before all others.
    fn take_next(&mut self, now: Instant) -> Option<Outgoing<P>> {
        if self.config.scheduling == Scheduling::SkipBusy {
            let present = self.first_present(now);
            if let Some(peer) = present {
                return self.take_for(peer);
            }
        }
        match self.begun.pop_front() {
            Some(outgoing) => Some(outgoing),
            None => self.station.queue.pop().map(|msdu| self.number(msdu)),
        }
    }

    /// Neighbour of the first waiting MSDU whose neighbour is not away.
    fn first_present(&self, now: Instant) -> Option<Address> {
        let waiting =
            self.begun.iter().map(|outgoing| outgoing.msdu.to).chain(self.station.queue.iter().map(|msdu| msdu.to));
        let mut waiting = waiting.filter(|&to| to == Address::BROADCAST || self.reservations.away_until(to) <= now);
        waiting.next()
    }

    /// Takes the first waiting MSDU for `peer`.
    fn take_for(&mut self, peer: Address) -> Option<Outgoing<P>> {
        if let Some(place) = self.begun.iter().position(|outgoing| outgoing.msdu.to == peer) {
            return self.begun.remove(place);
        }
        self.station.queue.pop_for(peer).map(|msdu| self.number(msdu))
    }

    /// Checks, after a change, whether the MSDU in service is still the right one.
    pub(super) fn reconsider(&mut self, now: Instant) {
        if self.config.scheduling == Scheduling::Fifo || self.state != State::Contend || self.exchange.is_some() {
            return;
        }
        let Some(peer) = self.service.front().map(|outgoing| outgoing.msdu.to) else { return };
        let is_held = peer != Address::BROADCAST && self.reservations.away_until(peer) > now;
        if is_held && let Some(other) = self.first_present(now) {
            let next = self.take_for(other);
            while let Some(outgoing) = self.service.pop_back() {
                self.begun.push_front(outgoing);
            }
            self.service.extend(next);
            self.renew_hold(now);
        }
    }

    /// Holds the MSDU in service while its neighbour is away or no data channel is free.
    pub(super) fn renew_hold(&mut self, now: Instant) {
        let Some(peer) = self.service.front().map(|outgoing| outgoing.msdu.to) else { return };
        let mut until = self.quiet_until;
        if peer != Address::BROADCAST {
            until = until.max(self.reservations.away_until(peer)).max(self.reservations.first_free_at());
        }
        self.station.contention.hold_until(now, until);
        if until > now && self.state == State::Contend {
            self.station.contention.draw_if_none(now);
        }
    }

    /// Fills up the batch with more for the neighbour in service.
    pub(super) fn top_up(&mut self) {
        let Some(peer) = self.service.front().map(|outgoing| outgoing.msdu.to) else { return };
        while self.service.len() < usize::from(self.config.batch()) {
            match self.take_for(peer) {
                Some(outgoing) => self.service.push_back(outgoing),
                None => break,
            }
        }
    }

    /// Airtimes of the first MSDUs for `peer`, at most `limit` of them.
    pub(super) fn airtimes_for(&self, peer: Address, limit: u8) -> Vec<Duration> {
        let dcf = &self.config.dcf;
        let begun = self.service.iter().chain(&self.begun).filter(|outgoing| outgoing.msdu.to == peer);
        let begun = begun.map(|outgoing| outgoing.airtime);
        let queued = self.station.queue.iter().filter(|msdu| msdu.to == peer);
        let queued = queued.map(|msdu| dcf.phy.frame_time(dcf.data_rate, self.size_of(msdu)));
        begun.chain(queued).take(usize::from(limit)).collect()
    }

    /// The first MSDU for `peer`; one that still waits in the queue is begun thereby.
    pub(super) fn first_for(&mut self, peer: Address) -> Option<&mut Outgoing<P>> {
        let is_for_peer = |outgoing: &Outgoing<P>| outgoing.msdu.to == peer;
        if self.service.front().is_some_and(is_for_peer) {
            return self.service.front_mut();
        }
        if !self.begun.iter().any(is_for_peer) {
            let msdu = self.station.queue.pop_for(peer)?;
            let outgoing = self.number(msdu);
            self.begun.push_back(outgoing);
        }
        self.begun.iter_mut().find(|outgoing| is_for_peer(outgoing))
    }

    /// The first MSDU for `peer` leaves with this outcome.
    pub(super) fn settle(&mut self, peer: Address, outcome: Outcome) {
        let is_for_peer = |outgoing: &Outgoing<P>| outgoing.msdu.to == peer;
        let outgoing = if self.service.front().is_some_and(is_for_peer) {
            self.service.pop_front()
        } else {
            let place = self.begun.iter().position(is_for_peer);
            place.and_then(|place| self.begun.remove(place))
        };
        if let Some(Outgoing { msdu, attempts, .. }) = outgoing {
            self.station.report(msdu, outcome, attempts);
        }
    }

    /// The data frame to `peer` was not acknowledged; returns whether that was its last attempt.
    pub(super) fn is_spent(&mut self, peer: Address) -> bool {
        let limits = self.config.dcf.retry_limits();
        self.first_for(peer).is_some_and(|outgoing| outgoing.retries.is_spent(true, limits))
    }
}
