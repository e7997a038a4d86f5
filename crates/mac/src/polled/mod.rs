//! Polling: a master polls its slaves in turn, and no station speaks without a poll.
//!
//! The medium access of Eckhardt and Steenkiste 1998, section 3.1: INVITE and JOIN add slaves, POLL-DATA carries the
//! master's data and gives the word, DATA-ACK answers it with data of the slave's. One attempt a frame, no backoff, no
//! carrier sense; the master polls without pause. It never repeats anything: that is for the link layer, which it asks
//! for the next frame when it can be sent ([`MacOutput::Pull`]), so that the latest acknowledgement travels with it.
//!
//! ```text
//!              Pull           Supply                 DATA-ACK, or nothing in time
//!   turn comes ----> Pulling --------> AwaitAnswer ------------------------------> next turn
//! ```
//!
//! A transaction takes `overhead + per_byte * payload`, both frames together; so does one whose poll is lost. The time
//! of a frame is that of the slow hosts behind it: the medium counts as taken while they copy.

mod config;
#[cfg(test)]
mod tests;

pub use config::{PolledConfig, Role, WAVELAN_RATE};

use crate::frame::{Address, Frame, FrameKind, Reservation};
use crate::service::{Access, Damage, MacInput, MacOutput, MacStats, Msdu, Outcome};
use airbraid_engine::{Machine, Packet, Stream, Wake};
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::VecDeque;

/// Largest number of invitations that a station leaves out after a JOIN without success, as an exponent: at most 2^6 -
/// 1.
const JOIN_BACKOFF_MAX: u32 = 6;

/// State of a station.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State<P> {
    Listening,
    /// Waits for the host's MSDU for this neighbour.
    Pulling(Address),
    /// The master's next turn comes at this time.
    Pause(Instant),
    /// The master has sent; an answer must begin by then.
    AwaitAnswer {
        turn: Turn<P>,
        deadline: Instant,
    },
    /// The deadline has passed while the medium was busy: what comes then decides.
    Overdue(Turn<P>),
}

/// The addressee of a poll, with the MSDU that the poll carried.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn<P> {
    /// Any station that wants to join.
    Invitation,
    Slave(Address, Option<Msdu<P>>),
}

/// A station under the polling access.
#[derive(Clone, Debug)]
pub struct Polled<P> {
    config: PolledConfig,
    address: Address,
    random: Stream,
    state: State<P>,
    /// The master's slaves, in the order in which they joined; whose turn is next.
    slaves: Vec<Address>,
    next_slave: usize,
    polls_since_invitation: u32,
    /// The master that has polled this slave, the JOINs sent before, and the invitations still to be left out.
    master: Option<Address>,
    joins: u32,
    skip: u32,
    /// Whether the poll that is being answered arrived undamaged.
    intact: bool,
    waiting: VecDeque<Msdu<P>>,
    next_sequence: u16,
    /// End of the station's own transmission: half duplex, it does not receive a frame that ends before.
    transmitting_until: Instant,
    is_busy: bool,
    outputs: VecDeque<MacOutput<P>>,
    stats: MacStats,
}

impl<P: Packet + Copy> Polled<P> {
    /// A station with this address; `random` draws the invitations that it leaves out after a collision.
    pub fn new(config: PolledConfig, address: Address, random: Stream) -> Self {
        let state = match config.role {
            Role::Master => State::Pause(Instant::ZERO),
            Role::Slave => State::Listening,
        };
        Self {
            config,
            address,
            random,
            state,
            slaves: Vec::new(),
            next_slave: 0,
            polls_since_invitation: 0,
            master: None,
            joins: 0,
            skip: 0,
            intact: true,
            waiting: VecDeque::new(),
            next_sequence: 0,
            transmitting_until: Instant::ZERO,
            is_busy: false,
            outputs: VecDeque::with_capacity(4),
            stats: MacStats::default(),
        }
    }

    pub fn stats(&self) -> &MacStats {
        &self.stats
    }

    /// Number of MSDUs in the queue.
    pub fn queue_len(&self) -> usize {
        self.waiting.len()
    }

    fn enqueue(&mut self, msdu: Msdu<P>) {
        if self.waiting.len() < self.config.queue_limit as usize {
            self.waiting.push_back(msdu);
        } else {
            self.stats.queue_drops += 1;
            self.outputs.push_back(MacOutput::Status { msdu, outcome: Outcome::QueueFull, attempts: 0 });
        }
    }

    fn purge(&mut self, neighbour: Address) {
        while let Some(msdu) = self.take(|msdu| msdu.to == neighbour) {
            self.outputs.push_back(MacOutput::Status { msdu, outcome: Outcome::Purged, attempts: 0 });
        }
    }

    /// Takes the first MSDU that `fits`.
    fn take(&mut self, fits: impl Fn(&Msdu<P>) -> bool) -> Option<Msdu<P>> {
        let place = self.waiting.iter().position(fits)?;
        self.waiting.remove(place)
    }

    // --- the master ------------------------------------------------------------------------------------------------

    /// Begins the next turn: all stations for a broadcast, newcomers now and then, otherwise a slave.
    fn take_turn(&mut self, now: Instant) {
        if let Some(msdu) = self.take(|msdu| msdu.to == Address::BROADCAST) {
            let end = self.send(now, FrameKind::Data, Address::BROADCAST, Some(msdu.packet));
            self.outputs.push_back(MacOutput::Status { msdu, outcome: Outcome::Broadcast, attempts: 1 });
            self.state = State::Pause(end);
        } else if self.slaves.is_empty() || self.polls_since_invitation >= self.config.invite_every {
            self.polls_since_invitation = 0;
            let end = self.send(now, FrameKind::Invite, Address::BROADCAST, None);
            self.await_answer(Turn::Invitation, end);
        } else {
            let slave = self.slaves[self.next_slave];
            self.next_slave = (self.next_slave + 1) % self.slaves.len();
            self.polls_since_invitation += 1;
            match self.take(|msdu| msdu.to == slave) {
                Some(msdu) => self.poll(now, slave, Some(msdu)),
                None => self.pull(slave),
            }
        }
    }

    fn pull(&mut self, neighbour: Address) {
        self.state = State::Pulling(neighbour);
        self.outputs.push_back(MacOutput::Pull(neighbour));
    }

    fn poll(&mut self, now: Instant, slave: Address, msdu: Option<Msdu<P>>) {
        let end = self.send(now, FrameKind::PollData, slave, msdu.map(|msdu| msdu.packet));
        self.await_answer(Turn::Slave(slave, msdu), end);
    }

    /// An answer without data would have come by the deadline; one with data has begun.
    fn await_answer(&mut self, turn: Turn<P>, end: Instant) {
        let deadline = end + self.config.frame_time(Bytes::ZERO) + self.config.response_slack;
        self.state = State::AwaitAnswer { turn, deadline };
    }

    /// Ends the turn, with this outcome for the MSDU of the poll.
    fn conclude(&mut self, now: Instant, outcome: Outcome) {
        let turn = match self.state {
            State::AwaitAnswer { turn, .. } | State::Overdue(turn) => turn,
            State::Listening | State::Pulling(_) | State::Pause(_) => return,
        };
        if let Turn::Slave(_, msdu) = turn {
            self.stats.unanswered += u64::from(outcome == Outcome::RetryLimit);
            if let Some(msdu) = msdu {
                self.outputs.push_back(MacOutput::Status { msdu, outcome, attempts: 1 });
            }
        }
        self.take_turn(now);
    }

    /// Whether the master waits for this frame.
    fn is_awaited(&self, from: Address, kind: FrameKind) -> bool {
        match (self.state, kind) {
            (State::AwaitAnswer { turn, .. } | State::Overdue(turn), FrameKind::DataAck { .. }) => {
                matches!(turn, Turn::Slave(slave, _) if slave == from)
            }
            (State::AwaitAnswer { turn, .. } | State::Overdue(turn), FrameKind::Join) => {
                matches!(turn, Turn::Invitation)
            }
            _ => false,
        }
    }

    fn on_answer(&mut self, now: Instant, from: Address, kind: FrameKind) {
        if !self.is_awaited(from, kind) {
            return;
        }
        match kind {
            FrameKind::DataAck { intact: false } => self.conclude(now, Outcome::Damaged),
            FrameKind::Join => {
                if !self.slaves.contains(&from) {
                    self.slaves.push(from);
                }
                self.conclude(now, Outcome::Acknowledged);
            }
            _ => self.conclude(now, Outcome::Acknowledged),
        }
    }

    // --- the slave -------------------------------------------------------------------------------------------------

    /// The master polls this slave.
    fn on_poll(&mut self, now: Instant, from: Address, intact: bool) {
        if self.config.role == Role::Master {
            return;
        }
        (self.master, self.joins, self.skip) = (Some(from), 0, 0);
        match self.take(|_| true) {
            Some(msdu) => self.answer(now, from, Some(msdu), intact),
            None => {
                self.intact = intact;
                self.pull(from);
            }
        }
    }

    fn answer(&mut self, now: Instant, master: Address, msdu: Option<Msdu<P>>, intact: bool) {
        let to = msdu.map_or(master, |msdu| msdu.to);
        self.send(now, FrameKind::DataAck { intact }, to, msdu.map(|msdu| msdu.packet));
        if let Some(msdu) = msdu {
            self.outputs.push_back(MacOutput::Status { msdu, outcome: Outcome::Unknown, attempts: 1 });
        }
        self.state = State::Listening;
    }

    /// Answers at once the first time. After a JOIN without success, other stations may have answered too: each then
    /// leaves out a random number of invitations, from a range that doubles.
    fn on_invitation(&mut self, now: Instant, from: Address) {
        if self.config.role == Role::Master || self.master.is_some() {
            return;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        self.joins += 1;
        self.skip = self.random.up_to((1 << self.joins.min(JOIN_BACKOFF_MAX)) - 1);
        self.send(now, FrameKind::Join, from, None);
    }

    // --- both ------------------------------------------------------------------------------------------------------

    /// Commits to a transmission; returns its end.
    fn send(&mut self, now: Instant, kind: FrameKind, to: Address, payload: Option<P>) -> Instant {
        let size = payload.map_or(Bytes::ZERO, |packet| packet.len());
        let airtime = self.config.frame_time(size);
        let frame = Frame {
            kind,
            retry: false,
            power_management: false,
            sequence: self.next_sequence,
            from: self.address,
            to,
            size: size + self.config.header,
            rate: WAVELAN_RATE,
            nav: Duration::ZERO,
            reservation: Reservation::default(),
            payload,
        };
        self.next_sequence = (self.next_sequence + 1) % 4096;
        self.stats.data_frames += u64::from(payload.is_some());
        self.stats.airtime += airtime;
        self.transmitting_until = now + airtime;
        let access = if kind == FrameKind::Join || matches!(kind, FrameKind::DataAck { .. }) {
            Access::Response
        } else {
            Access::Immediate
        };
        self.outputs.push_back(MacOutput::Transmit { frame, at: now, airtime, access });
        self.transmitting_until
    }

    fn on_supply(&mut self, now: Instant, msdu: Option<Msdu<P>>) {
        let State::Pulling(neighbour) = self.state else { return };
        match self.config.role {
            Role::Master => self.poll(now, neighbour, msdu),
            Role::Slave => self.answer(now, neighbour, msdu, self.intact),
        }
    }

    /// A frame for this station, or for all, has come, perhaps damaged.
    fn on_received(&mut self, now: Instant, frame: &Frame<P>, damage: Option<Damage>) {
        if self.transmitting_until > now {
            return;
        }
        if let Some(packet) = frame.payload {
            let from = frame.from;
            self.outputs.push_back(match damage {
                None => MacOutput::Deliver { from, packet },
                Some(damage) => MacOutput::DeliverDamaged { from, packet, damage },
            });
        }
        match frame.kind {
            FrameKind::PollData => self.on_poll(now, frame.from, damage.is_none()),
            FrameKind::Invite => self.on_invitation(now, frame.from),
            kind => self.on_answer(now, frame.from, kind),
        }
    }

    /// Silence: an answer that had to begin by now is not on the air any more.
    fn on_silence(&mut self, now: Instant) {
        if matches!(self.state, State::Overdue(_)) && !self.is_busy {
            self.conclude(now, Outcome::RetryLimit);
        }
    }
}

impl<P: Packet + Copy> Machine for Polled<P> {
    type Input = MacInput<P>;
    type Output = MacOutput<P>;

    fn handle_input(&mut self, now: Instant, input: MacInput<P>) {
        match input {
            // Nothing is urgent to a station that waits for its turn.
            MacInput::Enqueue(msdu) | MacInput::EnqueueFirst(msdu) => self.enqueue(msdu),
            MacInput::Purge(neighbour) => self.purge(neighbour),
            MacInput::Supply(msdu) => self.on_supply(now, msdu),
            // Who belongs to it, it asks itself; it has no NAV.
            MacInput::Associate(_) | MacInput::Disassociate(_) | MacInput::Ignored(_) => {}
            // It has no A-MPDUs, and no other links.
            MacInput::MpdusEnd { .. } | MacInput::Renew => {}
            MacInput::Busy => self.is_busy = true,
            MacInput::Idle => self.is_busy = false,
            MacInput::Received { frame, idle } => {
                self.is_busy = !idle;
                self.on_received(now, &frame, None);
            }
            MacInput::Damaged { frame, damage, idle } => {
                self.is_busy = !idle;
                self.on_received(now, &frame, Some(damage));
            }
            MacInput::Overheard { frame, idle } => {
                self.is_busy = !idle;
                self.on_answer(now, frame.from, frame.kind);
            }
            MacInput::ReceptionError { idle } | MacInput::ReceivedPpdu { idle, .. } => self.is_busy = !idle,
        }
        self.on_silence(now);
        // A deadline at this very instant has had its chance to be met.
        self.handle_timeout(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self.state {
            State::Pause(at) if at <= now => self.take_turn(now),
            State::AwaitAnswer { turn, deadline } if deadline <= now => {
                self.state = State::Overdue(turn);
                self.on_silence(now);
            }
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<MacOutput<P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        match self.state {
            State::Pause(at) => Some(Wake { at, why: "polled.turn" }),
            State::AwaitAnswer { deadline, .. } => Some(Wake { at: deadline, why: "polled.answer_timeout" }),
            State::Listening | State::Pulling(_) | State::Overdue(_) => None,
        }
    }
}
