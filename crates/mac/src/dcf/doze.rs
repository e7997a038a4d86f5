//! Support of DCF for power management: null frames, MSDUs that are set aside for them and come back unchanged, and a
//! pause (802.11-2020, 11.2.3). The machines of [`crate::power_save`] decide; a station alone never dozes.
//!
//! An MSDU that was on the air keeps its sequence number and its Retry bit wherever it waits meanwhile, so that a
//! receiver whose acknowledgement was lost knows it again.

use super::{Dcf, InService, State};
use crate::frame::Address;
use crate::phy::Rate;
use crate::retry::{Retries, RetryLimits};
use crate::service::{Msdu, Outcome};
use airbraid_engine::Packet;
use airbraid_units::Instant;
use std::collections::VecDeque;

/// An MSDU that waits outside the interface queue, with its transmission history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Held<P> {
    pub msdu: Msdu<P>,
    /// Its sequence number, if it was on the air.
    pub sequence: Option<u16>,
    /// Number of its transmissions.
    pub attempts: u32,
}

impl<P> Held<P> {
    /// One that was never sent.
    pub const fn new(msdu: Msdu<P>) -> Self {
        Self { msdu, sequence: None, attempts: 0 }
    }
}

impl<P: Copy> InService<P> {
    /// The frame as it waits; a null frame does not.
    fn held(&self) -> Option<Held<P>> {
        let msdu = Msdu { to: self.to, packet: self.packet? };
        let sequence = (self.attempts > 0).then_some(self.sequence);
        Some(Held { msdu, sequence, attempts: self.attempts })
    }
}

/// A null frame to be sent: it says whether the station dozes from now on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Null {
    pub to: Address,
    pub dozes: bool,
    pub rate: Rate,
    /// Largest number of transmissions.
    pub attempts: u32,
}

/// The outcome of a null frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NullDone {
    pub dozes: bool,
    pub is_acknowledged: bool,
    /// When it began to contend.
    pub since: Instant,
    /// Whether an MSDU in service was set aside for it.
    pub has_displaced: bool,
}

impl<P: Packet + Copy> Dcf<P> {
    /// Sends a null frame before everything else. An MSDU that waits for the medium is set aside at once; one that is
    /// on the air is set aside when its exchange has failed. A null frame that still waits is replaced.
    ///
    /// Once it is acknowledged, or given up, the station is paused if it said that it dozes; a station that said it
    /// does not goes on, if somebody has heard it.
    pub(crate) fn send_null(&mut self, now: Instant, null: Null) {
        self.null = Some(null);
        match self.state {
            State::Idle => self.serve_next(now),
            State::Contend => self.yield_to_null(now),
            _ => {}
        }
        self.settle(now);
    }

    /// Returns the outcome of the last null frame, once.
    pub(crate) fn take_null_done(&mut self) -> Option<NullDone> {
        self.null_done.take()
    }

    /// Sends nothing until a null frame says that the station is awake.
    pub(crate) fn pause(&mut self) {
        self.is_paused = true;
    }

    /// The radio works from now on, on this station's channel.
    pub(crate) fn arrive(&mut self, now: Instant) {
        self.station.contention.start_again(now);
        self.settle(now);
    }

    /// End of the transmission under way or committed to.
    pub(crate) fn transmitting_until(&self) -> Instant {
        self.station.transmitting_until
    }

    /// Whether the queue takes one more MSDU.
    pub(crate) fn has_room(&self) -> bool {
        self.is_free() || self.station.queue.len() < self.config.queue_limit as usize
    }

    /// Takes back everything that waits for a neighbour, in its order, with the MSDU in service unless that is on the
    /// air at this moment. The exchange that this ends has failed: a backoff follows.
    pub(crate) fn withdraw(&mut self, now: Instant, neighbour: Address) -> VecDeque<Held<P>> {
        let mut held = VecDeque::new();
        let is_theirs = |service: &InService<P>| service.to == neighbour && service.packet.is_some();
        if self.station.transmitting_until <= now
            && let Some(service) = self.service.take_if(|service| is_theirs(service))
        {
            held.extend(service.held());
            if self.state != State::Contend {
                self.station.contention.draw(now);
            }
            self.station.contention.reset_window();
            self.state = State::Idle;
        }
        let (theirs, others) = self.returned.drain(..).partition(|held| held.msdu.to == neighbour);
        held.extend::<VecDeque<_>>(theirs);
        self.returned = others;
        while let Some(msdu) = self.station.queue.pop_for(neighbour) {
            held.push_back(Held::new(msdu));
        }
        if self.service.is_none() {
            self.serve_next(now);
        }
        self.settle(now);
        held
    }

    /// Takes an MSDU again that was withdrawn, if the queue has free space.
    pub(crate) fn restore(&mut self, now: Instant, held: Held<P>) {
        if self.is_free() {
            self.serve(now, held);
        } else if held.sequence.is_some() {
            self.returned.push_back(held);
        } else {
            self.enqueue(now, held.msdu);
        }
        self.settle(now);
    }

    pub(super) fn serve_null(&mut self, now: Instant, null: Null) {
        let limit = Some(null.attempts);
        let size = self.config.data_header;
        let service = InService {
            to: null.to,
            packet: None,
            power_management: null.dozes,
            sequence: 0,
            size,
            rate: null.rate,
            airtime: self.config.phy.frame_time(null.rate, size),
            limits: RetryLimits { short: limit, long: limit },
            retries: Retries::default(),
            attempts: 0,
            since: now,
        };
        self.contend_for(now, service);
    }

    /// Sets aside the MSDU that waits for the medium, for the null frame.
    pub(super) fn yield_to_null(&mut self, now: Instant) {
        if let Some(held) = self.service.take().and_then(|service| service.held()) {
            self.returned.push_front(held);
            self.has_yielded = true;
        }
        self.serve_next(now);
    }

    /// Ends a null frame: it said whether the station `dozes`, and contended since `since`.
    pub(super) fn end_null(&mut self, dozes: bool, since: Instant, outcome: Outcome) {
        let is_acknowledged = outcome == Outcome::Acknowledged;
        self.is_paused = dozes || (self.is_paused && !is_acknowledged);
        let has_displaced = std::mem::take(&mut self.has_yielded);
        self.null_done = Some(NullDone { dozes, is_acknowledged, since, has_displaced });
    }
}
