//! The receiving side by the method `fifo`: members keep order, so what a member delivers tells what it will not.
//!
//! Beyond the paper. A hole is given up as soon as its packet is known to be lost, and not before, up to a longest hold:
//!
//! - a header names the number that its member carried before it: if that did not come, it was lost;
//! - every member that works has delivered something younger: nobody carries the hole's packet;
//! - the sender says that everything before a number has come or is lost.
//!
//! So it neither waits for a lost frame nor flushes while a member still tries. `docs/decisions/0005-fifo-resequencer.md` argues for it.

use super::header::{Header, UNSETTLED};
use super::policy::{LateMode, Resequencer};
use super::stats::ReceiverStats;
use super::window::{ReceivedWindow, WINDOW};
use super::{DropReason, Member, Output};
use crate::machine::Wake;
use crate::packet::Packet;
use airbraid_units::{Duration, Instant, SeqNum};
use std::collections::VecDeque;

/// A packet, or run, that waits for its turn.
#[derive(Debug)]
struct Held<P> {
    number: SeqNum,
    packet: P,
    since: Instant,
}

/// What a member has told.
#[derive(Clone, Copy, Debug)]
struct Track {
    /// The last frame that is known to have been given to it.
    last: Option<SeqNum>,
    /// It will deliver nothing before this any more.
    told: SeqNum,
    is_up: bool,
}

/// The receiving side.
#[derive(Debug)]
pub struct FifoReceiver<P> {
    config: Resequencer,
    epoch: Option<u16>,
    /// The number that is to be delivered next: that of the first hole.
    next: SeqNum,
    /// What came early, in order of its numbers.
    held: VecDeque<Held<P>>,
    /// When what is held came, in order of time; what was delivered since is passed over.
    arrivals: VecDeque<(Instant, SeqNum)>,
    /// Numbers from `next` on that are known to be lost, in order.
    lost: VecDeque<SeqNum>,
    tracks: Vec<Track>,
    /// The sender has said that everything before this has come or is lost.
    settled: SeqNum,
    received: ReceivedWindow,
    stats: ReceiverStats,
}

/// The first number of each epoch.
const FIRST: SeqNum = SeqNum(1);

impl<P: Packet> FifoReceiver<P> {
    /// A receiver over `members` members that expects the first number of whatever epoch comes first.
    pub fn new(config: Resequencer, members: u8) -> Self {
        let buffer_limit = config.buffer_limit.clamp(1, WINDOW / 2);
        let track = Track { last: None, told: FIRST, is_up: true };
        Self {
            config: Resequencer { buffer_limit, ..config },
            epoch: None,
            next: FIRST,
            held: VecDeque::new(),
            arrivals: VecDeque::new(),
            lost: VecDeque::new(),
            tracks: vec![track; usize::from(members)],
            settled: FIRST,
            received: ReceivedWindow::new(FIRST.prev()),
            stats: ReceiverStats::default(),
        }
    }

    /// What it has counted.
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }
    /// How long a packet is held at most.
    pub fn hold_time(&self) -> Duration {
        self.config.maximum
    }
    /// How many packets wait for their turn.
    pub fn held_len(&self) -> usize {
        self.held.len()
    }

    /// A frame has come.
    #[inline(never)]
    pub fn on_frame(&mut self, now: Instant, header: Header, packet: P, outputs: &mut VecDeque<Output<P>>) {
        let Header { epoch, number, .. } = header;
        if !self.accept_epoch(now, epoch, number, outputs) || self.received.is_forgotten(number) {
            self.stats.stale += 1;
            outputs.push_back(Output::Drop(packet, DropReason::Stale));
            return;
        }
        if number.distance_from(self.next) >= self.config.buffer_limit as i32 {
            self.leap(now, number, outputs);
        }
        let after = number.plus(packet.segments());
        let is_new = self.received.insert_run(number, packet.segments());
        self.learn(&header, after);
        if !is_new {
            self.stats.duplicates += 1;
            outputs.push_back(Output::Drop(packet, DropReason::Duplicate));
        } else {
            match number.distance_from(self.next) {
                ..0 => self.on_late(packet, outputs),
                0 => {
                    self.next = after;
                    self.deliver(Duration::ZERO, packet, outputs);
                }
                1.. => self.hold(now, number, packet),
            }
        }
        self.resolve(now, outputs);
    }

    /// A marker has come on `carrier`: what a header would say, without a packet.
    #[inline(never)]
    pub fn on_marker(&mut self, now: Instant, marker: &Header, carrier: Member, outputs: &mut VecDeque<Output<P>>) {
        if !self.accept_epoch(now, marker.epoch, marker.number, outputs) {
            return;
        }
        // One that goes far beyond what can be held does not move the numbers; a frame will.
        if marker.number.distance_from(self.next) >= self.config.buffer_limit as i32 {
            return;
        }
        self.learn_settled(marker);
        if carrier == marker.member {
            self.learn_order(marker.member, marker.member_previous, marker.number);
        }
        self.resolve(now, outputs);
    }

    /// The host says whether a member can be used: what is missing is not waited for on one that cannot.
    #[inline(never)]
    pub fn on_link(&mut self, now: Instant, member: Member, is_up: bool, outputs: &mut VecDeque<Output<P>>) {
        if let Some(track) = self.tracks.get_mut(usize::from(member.0)) {
            track.is_up = is_up;
        }
        self.resolve(now, outputs);
    }

    /// Gives up what has been waited for long enough.
    #[inline(never)]
    pub fn on_timeout(&mut self, now: Instant, outputs: &mut VecDeque<Output<P>>) {
        let mut last = None;
        while let Some(&(_, number)) = self.arrivals.front().filter(|&&(since, _)| since + self.config.maximum <= now) {
            self.arrivals.pop_front();
            if !number.is_before(self.next) && last.is_none_or(|last: SeqNum| last.is_before(number)) {
                last = Some(number);
            }
        }
        let Some(last) = last else { return };
        self.stats.timer_expiries += 1;
        // Everything up to the packet whose time is over; holes before it are given up.
        while self.held.front().is_some_and(|held| !held.number.is_after(last)) {
            self.deliver_front(now, outputs);
        }
        self.resolve(now, outputs);
    }

    /// The earliest timer.
    pub fn wake(&self) -> Option<Wake> {
        let since = self.arrivals.front()?.0;
        Some(Wake { at: since + self.config.maximum, why: "trunk.hold" })
    }

    /// Whether a frame of `epoch` belongs to the present life of the sender; a newer one begins a new life.
    fn accept_epoch(&mut self, now: Instant, epoch: u16, number: SeqNum, outputs: &mut VecDeque<Output<P>>) -> bool {
        match self.epoch {
            Some(current) if current == epoch => return true,
            Some(current) if (epoch.wrapping_sub(current) as i16) < 0 => return false,
            Some(_) => {
                self.flush(now, outputs);
                self.stats.resyncs += 1;
            }
            None => {}
        }
        self.epoch = Some(epoch);
        self.received = ReceivedWindow::new(FIRST.prev());
        self.restart(FIRST);
        if number.is_before(FIRST) {
            // A receiver that joins more than 2^31 numbers into the sender's life.
            self.leap(now, number, outputs);
        }
        true
    }

    /// The numbers leap further than can be held: go on behind the leap.
    fn leap(&mut self, now: Instant, number: SeqNum, outputs: &mut VecDeque<Output<P>>) {
        self.flush(now, outputs);
        self.restart(number);
        self.received.leap(number.prev());
        self.stats.resyncs += 1;
    }

    /// Nothing is known but the number that is to be delivered next.
    fn restart(&mut self, next: SeqNum) {
        self.next = next;
        self.settled = next;
        self.lost.clear();
        for track in &mut self.tracks {
            *track = Track { last: None, told: next, ..*track };
        }
    }

    /// Takes from a header what it tells of the frames before it.
    fn learn(&mut self, header: &Header, after: SeqNum) {
        self.learn_settled(header);
        self.learn_order(header.member, header.member_previous, header.number);
        let Some(track) = self.tracks.get_mut(usize::from(header.member.0)) else { return };
        if track.last.is_none_or(|last| last.is_before(header.number)) {
            track.last = Some(header.number);
        }
        if track.told.is_before(after) {
            track.told = after;
        }
    }

    /// Everything before a number has come or is lost.
    fn learn_settled(&mut self, header: &Header) {
        let settled = SeqNum(header.number.0.wrapping_sub(u32::from(header.unsettled)));
        if header.unsettled != UNSETTLED && self.settled.is_before(settled) {
            self.settled = settled;
        }
    }

    /// `member` was given `previous`, and after it nothing before `number`.
    fn learn_order(&mut self, member: Member, previous: SeqNum, number: SeqNum) {
        let Some(track) = self.tracks.get_mut(usize::from(member.0)) else { return };
        // What it carried before the last frame that came was told then.
        let is_news = track.last.is_none_or(|last| last.is_before(previous)) && previous != number;
        if is_news {
            track.last = Some(previous);
        }
        if track.told.is_before(number) {
            track.told = number;
        }
        // Only what lies between what is delivered and what came can be a hole.
        let may_be_hole = !previous.is_before(self.next) && previous.is_before(number);
        if is_news && may_be_hole && !self.received.contains(previous) {
            let behind = self.lost.iter().rev().take_while(|lost| previous.is_before(**lost)).count();
            self.lost.insert(self.lost.len() - behind, previous);
        }
    }

    /// Delivers what no hole holds up any more, and passes over holes whose packets are known to be lost.
    fn resolve(&mut self, now: Instant, outputs: &mut VecDeque<Output<P>>) {
        let told = self.tracks.iter().filter(|track| track.is_up).map(|track| track.told);
        let told = told.reduce(|least, told| if told.is_before(least) { told } else { least });
        // With no member up nobody will deliver anything; the longest hold is left to decide, as one may come back.
        let told = told.unwrap_or(self.settled);
        let certain = if self.settled.is_before(told) { told } else { self.settled };
        loop {
            while self.held.front().is_some_and(|held| held.number == self.next) {
                self.deliver_front(now, outputs);
            }
            while self.lost.front().is_some_and(|lost| lost.is_before(self.next)) {
                self.lost.pop_front();
            }
            let is_named = self.lost.front() == Some(&self.next);
            if is_named {
                self.next = self.next.next();
            } else if self.next.is_before(certain) {
                let held = self.held.front().map_or(certain, |held| held.number);
                self.next = if held.is_before(certain) { held } else { certain };
            } else {
                break;
            }
            self.stats.known_lost += 1;
        }
        while self.arrivals.front().is_some_and(|&(_, number)| number.is_before(self.next)) {
            self.arrivals.pop_front();
        }
    }

    fn hold(&mut self, now: Instant, number: SeqNum, packet: P) {
        // Most come in order: look from the back.
        let behind = self.held.iter().rev().take_while(|held| number.is_before(held.number)).count();
        self.held.insert(self.held.len() - behind, Held { number, packet, since: now });
        self.arrivals.push_back((now, number));
    }

    fn on_late(&mut self, packet: P, outputs: &mut VecDeque<Output<P>>) {
        self.stats.late += 1;
        match self.config.mode {
            LateMode::Tcp => self.deliver(Duration::ZERO, packet, outputs),
            LateMode::Strict => outputs.push_back(Output::Drop(packet, DropReason::Late)),
        }
    }

    fn deliver(&mut self, waited: Duration, packet: P, outputs: &mut VecDeque<Output<P>>) {
        self.stats.delivered += 1;
        self.stats.waited += waited;
        outputs.push_back(Output::Deliver(packet));
    }

    fn deliver_front(&mut self, now: Instant, outputs: &mut VecDeque<Output<P>>) {
        if let Some(held) = self.held.pop_front() {
            self.next = held.number.plus(held.packet.segments());
            self.deliver(now - held.since, held.packet, outputs);
        }
    }

    /// Gives up all holes: delivers everything held, in order.
    fn flush(&mut self, now: Instant, outputs: &mut VecDeque<Output<P>>) {
        while !self.held.is_empty() {
            self.deliver_front(now, outputs);
        }
        self.arrivals.clear();
    }
}
