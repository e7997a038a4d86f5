//! The receiving side: acknowledges every frame, or several at once, requests every hole until it is filled, and
//! delivers in order only.

use crate::machine::Wake;
use crate::packet::Packet;
use crate::trunk::paper::control::{Control, Missing};
use crate::trunk::paper::counts::PaperCounts;
use crate::trunk::paper::header::TrunkHeader;
use crate::trunk::paper::policy::Jkm;
use crate::trunk::paper::sequence::FIRST;
use crate::trunk::paper::{Member, PaperDropReason, PaperOutput};
use airbraid_units::{Duration, Instant, SeqNum};
use std::collections::VecDeque;

/// A packet that waits for those before it.
#[derive(Debug)]
struct Held<P> {
    packet: P,
    since: Instant,
}

/// A place from `next` on: a packet, or a hole.
#[derive(Debug)]
enum Place<P> {
    Held(Held<P>),
    Hole {
        /// Time at which it is requested next.
        ask_at: Instant,
        /// Time of the last request.
        asked: Option<Instant>,
        times: u32,
    },
}

#[derive(Debug)]
pub struct Receiver<P> {
    config: Jkm,
    members: u8,
    epoch: Option<u16>,
    /// The number that is to be delivered next.
    next: SeqNum,
    /// From `next` to the newest number that came.
    places: VecDeque<Place<P>>,
    held: usize,
    /// The earliest time at which a hole is requested; `None` without a hole.
    ask_at: Option<Instant>,
    /// Number of frames without an answer, and the latest time for one.
    unanswered: u32,
    answer_at: Option<Instant>,
    /// Smoothed time from a request to the arrival.
    round_trip: Option<Duration>,
    /// The member on which the last frame came.
    last_member: Member,
    counts: PaperCounts,
}

impl<P: Packet> Receiver<P> {
    /// A receiver that expects the first number of whatever epoch comes first.
    pub fn new(config: Jkm, members: u8) -> Self {
        Self {
            config,
            members: members.max(1),
            epoch: None,
            next: FIRST,
            places: VecDeque::new(),
            held: 0,
            ask_at: None,
            unanswered: 0,
            answer_at: None,
            round_trip: None,
            last_member: Member(0),
            counts: PaperCounts::default(),
        }
    }

    pub fn counts(&self) -> &PaperCounts {
        &self.counts
    }
    /// Number of packets that wait for their turn.
    pub fn held_len(&self) -> usize {
        self.held
    }

    /// A frame has come.
    pub fn on_frame(&mut self, now: Instant, header: TrunkHeader, packet: P, outputs: &mut VecDeque<PaperOutput<P>>) {
        let TrunkHeader { epoch, number, member, .. } = header;
        let ahead = number.distance_from(self.accept_epoch(epoch, outputs).unwrap_or(number));
        // The sender never has more than its window unacknowledged.
        if self.epoch != Some(epoch) || ahead >= self.config.window as i32 {
            self.counts.duplicates += 1;
            outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::Stale));
            return;
        }
        self.last_member = member;
        match usize::try_from(ahead) {
            Ok(index) if !matches!(self.places.get(index), Some(Place::Held(_))) => {
                self.put(now, index, packet);
                self.drain(now, outputs);
            }
            _ => {
                self.counts.duplicates += 1;
                outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::Duplicate));
            }
        }
        self.acknowledge(now, outputs);
    }

    /// Repeats requests that were not fulfilled.
    #[inline(never)]
    pub fn on_timeout(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        // On another member than the last answer: that one's way back may be what is broken.
        if self.answer_at.is_some_and(|at| at <= now) {
            self.answer(Missing::default(), outputs);
        }
        while self.ask_at.is_some_and(|at| at <= now) {
            self.last_member = Member((self.last_member.0 + 1) % self.members);
            let missing = self.take_due(now);
            self.answer(missing, outputs);
        }
    }

    #[inline(never)]
    pub fn wake(&self) -> Option<Wake> {
        let ask = self.ask_at.map(|at| Wake { at, why: "trunk.nak" });
        let answer = self.answer_at.map(|at| Wake { at, why: "trunk.ack" });
        ask.into_iter().chain(answer).min_by_key(|wake| wake.at)
    }

    /// The number that is due in the life `epoch` of the sender, which begins if it is newer; none if it is over.
    fn accept_epoch(&mut self, epoch: u16, outputs: &mut VecDeque<PaperOutput<P>>) -> Option<SeqNum> {
        match self.epoch {
            Some(current) if current == epoch => return Some(self.next),
            Some(current) if (epoch.wrapping_sub(current) as i16) < 0 => return None,
            Some(_) => self.counts.resyncs += 1,
            None => {}
        }
        // What is held lies behind holes that nobody can fill any more.
        for place in self.places.drain(..) {
            if let Place::Held(held) = place {
                self.counts.duplicates += 1;
                outputs.push_back(PaperOutput::Drop(held.packet, PaperDropReason::Stale));
            }
        }
        self.held = 0;
        (self.ask_at, self.answer_at, self.unanswered) = (None, None, 0);
        self.epoch = Some(epoch);
        self.next = FIRST;
        Some(FIRST)
    }

    fn put(&mut self, now: Instant, index: usize, packet: P) {
        while self.places.len() <= index {
            self.places.push_back(Place::Hole { ask_at: now, asked: None, times: 0 });
        }
        let place = std::mem::replace(&mut self.places[index], Place::Held(Held { packet, since: now }));
        self.held += 1;
        // A hole that was requested more than once does not show which request was answered (Karn).
        if let Place::Hole { asked: Some(asked), times: 1, .. } = place {
            let sample = now - asked;
            let smoothed = self.round_trip.map_or(sample, |smoothed| smoothed - smoothed / 8 + sample / 8);
            self.round_trip = Some(smoothed);
        }
    }

    fn drain(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        while matches!(self.places.front(), Some(Place::Held(_))) {
            if let Some(Place::Held(Held { packet, since })) = self.places.pop_front() {
                self.next = self.next.next();
                self.held -= 1;
                self.counts.delivered += 1;
                self.counts.waited += now - since;
                outputs.push_back(PaperOutput::Deliver(packet));
            }
        }
    }

    /// Answers a frame: everything before `next` has come, and the holes that are due are requested.
    fn acknowledge(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        let missing = self.take_due(now);
        self.unanswered += 1;
        if missing.is_empty() && self.unanswered < self.config.ack_every {
            self.answer_at = self.answer_at.or(Some(now + self.config.nak_interval));
            return;
        }
        self.answer(missing, outputs);
        while self.ask_at.is_some_and(|at| at <= now) {
            let missing = self.take_due(now);
            self.answer(missing, outputs);
        }
    }

    fn answer(&mut self, missing: Missing, outputs: &mut VecDeque<PaperOutput<P>>) {
        let Some(epoch) = self.epoch else { return };
        (self.unanswered, self.answer_at) = (0, None);
        self.counts.acks += 1;
        self.counts.naks += missing.len() as u64;
        let control = Control::Acknowledgement { epoch, next: self.next, missing };
        outputs.push_back(PaperOutput::Control { member: self.last_member, acknowledged: true, control });
    }

    /// Takes the holes that are due, as many as one answer names; and notes when the next is.
    fn take_due(&mut self, now: Instant) -> Missing {
        let mut missing = Missing::default();
        let again = self.config.nak_interval.max(self.round_trip.unwrap_or(Duration::ZERO) * 2);
        let mut next_at = None;
        for (number, place) in self.places.iter_mut().enumerate() {
            let Place::Hole { ask_at, asked, times } = place else { continue };
            if *ask_at <= now && missing.push(self.next.plus(number as u32)) {
                *times += 1;
                *asked = Some(now);
                *ask_at = now + again;
            }
            next_at = Some(next_at.map_or(*ask_at, |at: Instant| at.min(*ask_at)));
        }
        self.ask_at = next_at;
        missing
    }
}
