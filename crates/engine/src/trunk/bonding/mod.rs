//! Bonding: a trunk over links that lose, delay and report nothing. It is the data plane of the daemon towards one
//! peer, and the simulator's trunk over links.
//!
//! A [`Bond`] is one end. It distributes packets over member links by measured rate and delay, retransmits lost
//! packets on the member by which they arrive first, and restores the order of each flow. It never sees bytes,
//! addresses or keys:
//!
//! 1. The host adds members, in any order and at any time ([`BondInput::MemberAdded`]). A member gets probes, and
//!    packets once one was answered.
//! 2. The host gives packets, or runs of segments ([`BondInput::Packet`]), and sends each frame of
//!    [`BondOutput::Transmit`]: header by [`crate::wire`], the packet's bytes, sealed for that member.
//! 3. Frames from the far end go in as [`BondInput::Frame`]; packets for the host come out by [`BondOutput::Deliver`].
//!
//! Each packet of the host ends in exactly one way: [`BondOutput::Release`] when the far end has it,
//! [`BondOutput::Dropped`] otherwise. Each [`BondOutput::Transmit`] of a packet carries another handle to it
//! ([`crate::packet::Share`]). Each repair symbol that comes in ends in [`BondOutput::Spent`].
//!
//! Equations, states and constants: `docs/models/tunnel.md`.

mod ack_pacer;
mod code;
mod coded;
mod config;
mod cost;
mod delay;
mod delay_control;
mod equaliser;
mod filter;
mod flow_seq;
pub(crate) mod frame;
mod group;
mod member;
mod memory;
mod order;
mod path;
mod plpmtu;
mod policing;
mod queue;
mod receive_report;
mod receiver;
mod restore;
mod sender;
mod sent_frames;
mod service;
mod services;
mod status;
mod store;
mod targets;
mod train;
mod validation;

pub use coded::{Coded, Source};
pub use config::{BondConfig, BondPolicy, BondResequencer, Coding, MemberConfig};
pub use flow_seq::{BUCKETS, FlowSeq, PLACE_BITS};
pub use frame::{AckRange, BondHeader, Feedback, Frame, MEMBERS_MAX, PathToken, Probe, RUNS_MAX, RepairHeader, Report};
pub use plpmtu::BASE as BASE_PLPMTU;
pub use service::{BondDropReason, BondInput, BondOutput, Moved, ReceivedFrame};
pub use services::{SERVICES_MAX, Services};
pub use status::{BondCounts, BondStatus, MemberState, MemberStatus};
pub use validation::AMPLIFICATION;

use crate::machine::{Machine, Wake};
use crate::trunk::Member;
use ack_pacer::AckPacer;
use airbraid_units::{Bytes, Instant};
use member::MemberEnd;
use order::Ordered;
use receiver::BondReceiver;
use restore::RestoreOutcome;
use sender::BondSender;
use std::collections::VecDeque;

/// One end of a bond.
#[derive(Debug)]
pub struct Bond<P: Coded> {
    now: Instant,
    /// Limit of its memory \[byte\].
    memory: u64,
    sender: BondSender<P>,
    receiver: BondReceiver<P>,
    ack_pacer: AckPacer<P>,
}

impl<P: Coded> Bond<P> {
    /// An end without members.
    pub fn new(config: BondConfig) -> Self {
        let receiver = BondReceiver::new(config.policy.resequencer);
        Self {
            now: Instant::ZERO,
            memory: u64::MAX,
            sender: BondSender::new(config),
            receiver,
            ack_pacer: AckPacer::new(),
        }
    }

    /// A snapshot of its state.
    pub fn status(&self) -> BondStatus {
        BondStatus {
            members: self.sender.members.iter().map(MemberEnd::status).collect(),
            counts: self.sender.counts,
            queue_len: self.sender.queue.len(),
            queue_bytes: Bytes::new(self.sender.queue.bytes()),
            outstanding: self.sender.store.unsettled(),
            kept: self.sender.kept() + self.receiver.order.kept() + self.receiver.kept() + self.ack_pacer.len(),
            occupied: self.occupied(),
            held_len: self.receiver.order.held_len(),
            hold_time: self.receiver.order.hold_time(),
        }
    }

    /// Packets that wait to be sent.
    pub fn queue_len(&self) -> usize {
        self.sender.queue.len()
    }

    fn on_frame(&mut self, now: Instant, came: ReceivedFrame<P>) {
        let ReceivedFrame { member, frame, length, at, is_elsewhere } = came;
        let came = at.min(now);
        let Some(index) = self.sender.index_of(member) else {
            self.sender.counts.strange += 1;
            self.refuse(frame);
            return;
        };
        let end = &mut self.sender.members[index];
        end.counted.received_bytes += length;
        end.check_quota();
        if !is_elsewhere {
            end.validation.on_came(length.as_u64());
        }
        match frame {
            Frame::PathChallenge(token) => self.sender.send_control(index, Frame::PathResponse(token)),
            Frame::PathResponse(token) if !is_elsewhere => self.sender.on_path_response(now, index, token),
            Frame::PathResponse(_) => self.sender.counts.strange += 1,
            Frame::Feedback(feedback) => {
                self.sender.on_feedback(now, &feedback);
                // Paths are assumed to be as long in both directions.
                self.receiver.order.set_repair(self.sender.longest_repair());
            }
            Frame::Probe(probe) => {
                if self.receiver.on_probe(now, came, member, &probe) {
                    self.on_far_restart(now);
                }
            }
            frame if !self.receiver.is_introduced() => {
                self.sender.counts.strange += 1;
                self.refuse(frame);
            }
            Frame::Repair { header, symbol } => {
                let is_short = self.occupied().as_u64() > self.memory / 2;
                let outcome = self.receiver.on_symbol(now, came, member, header, symbol, is_short);
                self.on_outcome(now, outcome);
                self.give_way();
            }
            Frame::Data { header, packet } => {
                self.receiver.on_number(now, came, member, header.number);
                let outcome = self.receiver.on_packet(now, member, header, &packet);
                self.put_in_order(now, header.place, packet);
                self.on_outcome(now, outcome);
                self.give_way();
            }
        }
    }

    /// A packet of the far end has come; acknowledgements are never behind others here.
    fn put_in_order(&mut self, now: Instant, place: FlowSeq, packet: P) {
        let BondSender { counts, outputs, queue, .. } = &mut self.sender;
        self.receiver.order.on_packet(now, place, packet, counts, |ordered| match ordered {
            Ordered::Deliver(packet) if packet.is_acknowledgement() => {
                let pace = queue.ack_pace(queue.bucket(now, &packet));
                self.ack_pacer.on_ack(now, (place, packet), pace, |ordered| hand_up(outputs, ordered));
            }
            ordered => hand_up(outputs, ordered),
        });
    }

    /// Ends a frame that is ignored.
    fn refuse(&mut self, frame: Frame<P>) {
        match frame {
            Frame::Data { packet, .. } => self.sender.drop(packet, BondDropReason::Stale),
            Frame::Repair { symbol, .. } => self.sender.outputs.push_back(BondOutput::Spent(symbol)),
            Frame::Probe(_) | Frame::Feedback(_) | Frame::PathChallenge(_) | Frame::PathResponse(_) => {}
        }
    }

    /// Handles restored packets as if they had come now.
    fn on_outcome(&mut self, now: Instant, outcome: RestoreOutcome<P>) {
        self.sender.counts.strange += outcome.failed;
        self.sender.counts.restored += outcome.restored.len() as u64;
        for (place, packet) in outcome.restored {
            self.put_in_order(now, place, packet);
        }
        self.sender.outputs.extend(outcome.spent.into_iter().map(BondOutput::Spent));
    }

    fn on_far_restart(&mut self, now: Instant) {
        let BondSender { counts, outputs, .. } = &mut self.sender;
        self.receiver.order.restart(counts, |ordered| hand_up(outputs, ordered));
        outputs.extend(self.receiver.restart().into_iter().map(BondOutput::Spent));
        self.sender.on_far_restart(now);
    }

    /// Sends what is due.
    fn go_on(&mut self, now: Instant) {
        self.now = now;
        let BondSender { counts, outputs, .. } = &mut self.sender;
        self.receiver.order.on_timeout(now, counts, |ordered| hand_up(outputs, ordered));
        self.ack_pacer.pass_due(now, |ordered| hand_up(outputs, ordered));
        self.sender.validate_due(now);
        self.sender.end_trains(now);
        self.sender.ask_due(now);
        self.sender.fit(now);
        self.sender.send_trains(now);
        if self.receiver.feedback_at().is_some_and(|at| at <= now) {
            self.send_feedback(now);
        }
        self.sender.pump(now);
        self.sender.doubt_rates(now);
    }
}

impl<P: Coded> Bond<P> {
    /// The host has a frame of its own for a member, of this length before sealing: returns whether it may be sent, and
    /// counts it. It may not where the path is not validated and too little has come from there.
    pub fn charge(&mut self, member: Member, length: Bytes) -> bool {
        let Some(index) = self.sender.index_of(member) else { return false };
        let end = &mut self.sender.members[index];
        let bytes = end.on_wire(length);
        let is_allowed = end.validation.allows(bytes);
        if is_allowed {
            end.validation.on_sent(bytes);
        }
        is_allowed
    }

    /// A frame of the host's own has come from a member's place, of this length before sealing.
    pub fn credit(&mut self, member: Member, length: Bytes) {
        if let Some(index) = self.sender.index_of(member) {
            let end = &mut self.sender.members[index];
            let bytes = end.on_wire(length);
            end.validation.on_came(bytes);
        }
    }

    fn send_feedback(&mut self, now: Instant) {
        let best = self.sender.feedback_carrier(now);
        let Some((member, feedback)) = self.receiver.take_feedback(now, best) else { return };
        if let Some(index) = self.sender.index_of(member) {
            self.sender.members[index].on_feedback_sent(now, Bytes::new(feedback.len() as u64));
            self.sender.send_control(index, Frame::Feedback(feedback));
        }
    }
}

impl<P: Coded> Bond<P> {
    /// Sets the limit of its memory \[byte\]; there is none before.
    pub const fn set_memory(&mut self, memory: Bytes) {
        self.memory = memory.as_u64();
    }

    /// Its memory: within the limit after each step, unless the limit was lowered.
    pub fn occupied(&self) -> Bytes {
        Bytes::new(self.sender.occupied() + self.received())
    }

    /// Memory of what has come \[byte\].
    fn received(&self) -> u64 {
        self.receiver.occupied() + self.ack_pacer.occupied()
    }

    /// Gives the sender the memory that what has come leaves.
    fn share_out(&mut self) {
        self.sender.memory = self.memory.saturating_sub(self.received());
    }

    /// Gives up received packets while the limit is exceeded.
    fn give_way(&mut self) {
        while self.occupied().as_u64() > self.memory {
            let Self { sender, receiver, ack_pacer, .. } = self;
            if ack_pacer.pass_first(self.now, |ordered| hand_up(&mut sender.outputs, ordered)) {
                continue;
            }
            if let Some(symbols) = receiver.forget_restorer() {
                sender.counts.forgotten += 1;
                sender.outputs.extend(symbols.into_iter().map(BondOutput::Spent));
            } else if !receiver.order.give_up(&mut sender.counts, |ordered| hand_up(&mut sender.outputs, ordered)) {
                return;
            }
        }
    }
}

/// Turns a decision on order into an output.
fn hand_up<P: Coded>(outputs: &mut VecDeque<BondOutput<P>>, ordered: Ordered<P>) {
    outputs.push_back(match ordered {
        Ordered::Deliver(packet) => BondOutput::Deliver(packet),
        Ordered::Drop(packet, reason) => BondOutput::Dropped { packet, reason },
    });
}

impl<P: Coded> Machine for Bond<P> {
    type Input = BondInput<P>;
    type Output = BondOutput<P>;

    fn handle_input(&mut self, now: Instant, input: BondInput<P>) {
        self.share_out();
        match input {
            BondInput::Packet(packet) => self.sender.on_packets(now, packet),
            BondInput::Frame { member, frame, length } => {
                self.on_frame(now, ReceivedFrame { member, frame, length, at: now, is_elsewhere: false });
            }
            BondInput::Frames(frames) => frames.into_iter().for_each(|came| self.on_frame(now, came)),
            BondInput::MemberAdded { member, config } => self.sender.add_member(now, member, config),
            BondInput::MemberRemoved { member } => self.sender.remove_member(now, member),
            BondInput::MemberMoved { member, moved } => self.sender.on_moved(now, member, moved),
            BondInput::Refused { member, number } => self.sender.on_refused(now, member, number),
            BondInput::TooLong { member, number } => self.sender.on_too_long(now, member, number),
            BondInput::MtuHint { member, mtu } => self.sender.on_mtu_hint(member, mtu),
            BondInput::PathChanged { member } => self.sender.on_path_changed(now, member),
            BondInput::Late { since, until } => self.sender.on_late(since, until),
        }
        self.go_on(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.go_on(now);
    }

    fn poll_output(&mut self) -> Option<BondOutput<P>> {
        self.sender.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        [self.sender.wake(self.now), self.receiver.wake(), self.ack_pacer.wake()]
            .into_iter()
            .flatten()
            .min_by_key(|wake| wake.at)
    }
}
