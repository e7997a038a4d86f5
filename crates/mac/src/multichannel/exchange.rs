//! The data phase of an exchange, away from the control channel: frames follow each other at SIFS, and each
//! acknowledges the one before it.
//!
//! ```text
//!  initiator   DATA 1        DATA 2, acknowledges        ACK
//!  responder          DATA, acknowledges         DATA        (with a batch of two; of one: without DATA 2 and what
//!  follows)
//! ```

use super::{Multichannel, State};
use crate::dcf::ACK_SIZE;
use crate::frame::{Address, Channel, Frame, FrameKind, Reservation, whole_microseconds};
use crate::service::{Access, MacInput, MacOutput, Outcome};
use airbraid_engine::Packet;
use airbraid_units::{Duration, Instant};

/// A station's side of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It sent the RTS.
    Initiator,
    /// It sent the CTS.
    Responder,
}

/// Progress of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The CTS was sent; the CRN must begin in time for this deadline.
    Granted(Instant),
    /// The deadline has passed while a reception was under way: its end decides.
    GrantOverdue,
    /// The CRN lasts until then.
    Reserving(Instant),
    /// A frame of the other must begin in time for this deadline.
    Awaiting(Instant),
    /// The deadline has passed while a reception was under way: its end decides.
    Overdue,
    /// The last frame of the exchange, the station's own, lasts until then.
    Closing(Instant),
    /// The radio is back on the control channel from this time.
    Returning(Instant),
}

/// An exchange that a station takes part in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub peer: Address,
    pub channel: Channel,
    pub role: Role,
    pub step: Step,
    /// Whether the station has left the control channel.
    pub is_away: bool,
    /// When the reservation ends.
    pub ends: Instant,
    /// Number of data frames that the station may still send.
    pub frames_left: u8,
    /// Airtime left for them: MSDUs that came first into the queue since the grant may not fit.
    pub budget: Duration,
    /// Whether a data frame of the station waits for its acknowledgement.
    pub is_owed: bool,
    /// Number of the station's data frames that were acknowledged.
    pub acknowledged: u8,
    /// Whether an awaited frame did not come.
    pub has_failed: bool,
}

impl Exchange {
    /// An exchange that has just been agreed on until `ends`, without frames of the station's own.
    pub(super) const fn new(peer: Address, channel: Channel, role: Role, step: Step, ends: Instant) -> Self {
        Self {
            peer,
            channel,
            role,
            step,
            is_away: false,
            ends,
            frames_left: 0,
            budget: Duration::ZERO,
            is_owed: false,
            acknowledged: 0,
            has_failed: false,
        }
    }
}

impl<P: Packet + Copy> Multichannel<P> {
    /// The CRN has ended: the radio goes to the data channel, and the initiator sends.
    pub(super) fn leave(&mut self, now: Instant) {
        let Some(exchange) = self.exchange.as_mut() else { return };
        exchange.is_away = true;
        let (channel, role) = (exchange.channel, exchange.role);
        // The counter stops as if the control channel were busy: what happens there is not heard.
        if self.station.contention.busy_since().is_none() {
            self.on_busy(now);
        }
        self.data_busy_since = None;
        let ready = now + self.times.switching;
        self.station.outputs.push_back(MacOutput::Tune { channel, ready });
        match role {
            Role::Initiator => self.send_data(ready),
            Role::Responder => self.expect(ready),
        }
    }

    fn set_step(&mut self, step: Step) {
        if let Some(exchange) = self.exchange.as_mut() {
            exchange.step = step;
        }
    }

    /// The other's frame must follow what ends at `end`.
    fn expect(&mut self, end: Instant) {
        self.set_step(Step::Awaiting(end + self.config.dcf.response_timeout()));
    }

    /// Sends the next data frame to the peer, SIFS after `after`.
    fn send_data(&mut self, after: Instant) {
        let Some(mut exchange) = self.exchange else { return };
        let rate = self.config.dcf.data_rate;
        let at = after + self.times.sifs;
        let Some(outgoing) = self.first_for(exchange.peer) else { return self.give_up_exchange(after) };
        outgoing.attempts += 1;
        let (airtime, is_retry) = (outgoing.airtime, outgoing.attempts > 1);
        exchange.frames_left = exchange.frames_left.saturating_sub(1);
        exchange.budget = exchange.budget.saturating_sub(airtime);
        exchange.is_owed = true;
        let (sequence, size, payload) = (outgoing.sequence, outgoing.size, Some(outgoing.msdu.packet));
        let frame = Frame {
            retry: is_retry,
            sequence,
            nav: whole_microseconds(exchange.ends.saturating_since(at + airtime)),
            reservation: Reservation { frames: exchange.frames_left, ..Reservation::default() },
            payload,
            ..self.station.frame(FrameKind::Data, exchange.peer, size, rate)
        };
        self.exchange = Some(exchange);
        self.station.stats.data_frames += 1;
        self.station.stats.retries += u64::from(is_retry);
        self.counts.reverse_frames += u64::from(exchange.role == Role::Responder);
        let end = self.station.transmit_elsewhere(frame, at, airtime, Access::Response);
        self.expect(end);
    }

    /// Acknowledges the frame that ends now; `more`: another of the peer follows.
    fn send_ack(&mut self, now: Instant, more: bool) {
        let Some(exchange) = self.exchange else { return };
        let at = now + self.times.sifs;
        let nav = whole_microseconds(exchange.ends.saturating_since(at + self.times.ack));
        let frame = self.station.frame(FrameKind::Ack, exchange.peer, ACK_SIZE, self.config.dcf.control_rate);
        let frame = Frame { nav, ..frame };
        let end = self.station.transmit_elsewhere(frame, at, self.times.ack, Access::Response);
        if more { self.expect(end) } else { self.set_step(Step::Closing(end)) }
    }

    /// Handles a report of the radio about the data channel.
    pub(super) fn on_data_channel(&mut self, now: Instant, input: MacInput<P>) {
        match input {
            MacInput::Busy => self.data_busy_since = Some(now),
            MacInput::Idle => {
                self.data_busy_since = None;
                if self.step() == Some(Step::Overdue) {
                    self.give_up_exchange(now);
                }
            }
            MacInput::Received { frame, idle } => self.on_data_reception(now, Some(&frame), idle),
            MacInput::Overheard { idle, .. }
            | MacInput::ReceptionError { idle }
            | MacInput::Damaged { idle, .. }
            | MacInput::ReceivedPpdu { idle, .. } => self.on_data_reception(now, None, idle),
            MacInput::Enqueue(msdu) => self.enqueue(now, msdu),
            MacInput::EnqueueFirst(msdu) => self.enqueue_first(now, msdu),
            MacInput::Purge(neighbour) => self.purge(now, neighbour),
            // It has a queue of its own and never asks, and on a data channel there is no NAV.
            MacInput::Ignored(_)
            | MacInput::Supply(_)
            | MacInput::Associate(_)
            | MacInput::Disassociate(_)
            | MacInput::MpdusEnd { .. }
            | MacInput::Renew => {}
        }
    }

    fn on_data_reception(&mut self, now: Instant, frame: Option<&Frame<P>>, idle: bool) {
        if idle {
            self.data_busy_since = None;
        }
        let is_awaited = matches!(self.step(), Some(Step::Awaiting(_) | Step::Overdue));
        if self.station.transmitting_until > now || !is_awaited {
            return;
        }
        let peer = self.exchange.map(|exchange| exchange.peer);
        match frame.filter(|frame| Some(frame.from) == peer) {
            Some(frame) => self.on_peer_frame(now, frame),
            // As under DCF, anything else that ends meanwhile is a failure.
            None => self.give_up_exchange(now),
        }
    }

    /// The peer's frame acknowledges the station's last one, whatever else it carries.
    fn on_peer_frame(&mut self, now: Instant, frame: &Frame<P>) {
        self.settle_owed(frame.from);
        let Some(exchange) = self.exchange else { return };
        let is_data = frame.kind == FrameKind::Data;
        if is_data {
            self.station.deliver(frame);
        }
        let more = frame.reservation.frames > 0;
        match exchange.role {
            Role::Initiator if self.has_frame_left(&exchange) => self.send_data(now),
            Role::Responder if is_data && self.has_frame_left(&exchange) => self.send_data(now),
            Role::Initiator if is_data => self.send_ack(now, false),
            Role::Responder if is_data => self.send_ack(now, more),
            Role::Initiator | Role::Responder => self.go_back(now),
        }
    }

    /// Whether the station has a data frame for the peer that fits into the rest of the grant.
    fn has_frame_left(&mut self, exchange: &Exchange) -> bool {
        exchange.frames_left > 0
            && self.first_for(exchange.peer).is_some_and(|outgoing| outgoing.airtime <= exchange.budget)
    }

    /// The data frame that waits for its acknowledgement has got it.
    fn settle_owed(&mut self, peer: Address) {
        let Some(exchange) = self.exchange.as_mut().filter(|exchange| exchange.is_owed) else { return };
        exchange.is_owed = false;
        exchange.acknowledged += 1;
        self.settle(peer, Outcome::Acknowledged);
    }

    /// CTSTimeout and ACKTimeout of the exchange: a failure, unless a reception that may be the frame has begun.
    pub(super) fn on_frame_missing(&mut self, now: Instant) {
        let begun = self.data_busy_since.is_some_and(|since| since + self.config.dcf.phy.rx_start_delay <= now);
        if begun {
            self.set_step(Step::Overdue);
        } else {
            self.give_up_exchange(now);
        }
    }

    fn give_up_exchange(&mut self, now: Instant) {
        if let Some(exchange) = self.exchange.as_mut() {
            exchange.has_failed = true;
        }
        self.go_back(now);
    }

    /// The radio returns to the control channel.
    pub(super) fn go_back(&mut self, now: Instant) {
        let ready = now + self.times.switching;
        self.station.outputs.push_back(MacOutput::Tune { channel: Channel::CONTROL, ready });
        self.set_step(Step::Returning(ready));
        if ready <= now {
            self.come_back(now);
        }
    }

    /// Returns to the control channel, and tells contention and queue the result of the exchange.
    pub(super) fn come_back(&mut self, now: Instant) {
        let Some(exchange) = self.exchange.take() else { return };
        self.station.contention.on_success();
        self.station.contention.on_idle(now);
        self.quiet_until = now + self.config.listening_time;
        if !exchange.has_failed {
            self.reservations.on_success(exchange.channel);
        }
        match exchange.role {
            Role::Initiator => self.conclude_as_initiator(now, &exchange),
            Role::Responder => self.conclude_as_responder(now, &exchange),
        }
    }

    fn conclude_as_initiator(&mut self, now: Instant, exchange: &Exchange) {
        if exchange.acknowledged > 0 {
            self.station.contention.reset_window();
        }
        if exchange.has_failed {
            // A data frame was not acknowledged, or all were and the peer's own was lost: the peer sends that again.
            if exchange.is_owed {
                return self.fail(now, true);
            }
        }
        self.station.contention.draw(now);
        self.serve_on(now);
    }

    /// Concludes as the responder. Its own data frames did not contend, so its window stays as it is, unless they are
    /// all that it had to send.
    fn conclude_as_responder(&mut self, now: Instant, exchange: &Exchange) {
        if exchange.is_owed && self.is_spent(exchange.peer) {
            self.station.stats.retry_limit_drops += 1;
            self.settle(exchange.peer, Outcome::RetryLimit);
        }
        if self.state == State::Contend && self.service.is_empty() {
            self.station.contention.reset_window();
            self.station.contention.draw(now);
            self.serve_on(now);
        } else {
            self.renew_hold(now);
        }
    }

    pub(super) fn step(&self) -> Option<Step> {
        self.exchange.as_ref().map(|exchange| exchange.step)
    }
}
