//! The receiving side of the method `fifo`: members keep order, so a member's deliveries reveal its losses.
//!
//! Beyond the paper. A hole is given up as soon as its packet is known to be lost, or after the longest hold:
//!
//! - a header names the number that its member carried before it: if that did not come, it was lost;
//! - every member that works has delivered something younger: nobody carries the hole's packet;
//! - the sender reports that everything before a number has come or is lost.
//!
//! So it neither waits for a lost frame nor flushes while a member still tries. Where packets that a member gave up go
//! by another (`resends`), what a member has lost may still come, and only the sender's reports count.
//! `docs/decisions/0005-fifo-resequencer.md` argues for it.

use super::counts::PaperCounts;
use super::header::{TrunkHeader, UNSETTLED};
use super::policy::{Fifo, Method, Resequencer};
use super::sequence::{FIRST, Place, Sequence, Standing};
use super::{Member, PaperOutput};
use crate::machine::Wake;
use crate::packet::Packet;
use airbraid_units::{Duration, Instant, SeqNum};
use std::collections::VecDeque;

/// The state of a member, as its frames report it.
#[derive(Clone, Copy, Debug)]
struct Track {
    /// The last frame that is known to have been given to it.
    last: Option<SeqNum>,
    /// It will deliver nothing before this any more.
    told: SeqNum,
    is_up: bool,
}

#[derive(Debug)]
pub struct FifoReceiver<P> {
    longest: Duration,
    sequence: Sequence<P>,
    /// Arrival times of held packets, in order; delivered ones are skipped.
    arrivals: VecDeque<(Instant, SeqNum)>,
    /// Numbers from `next` on that are known to be lost, in order.
    lost: VecDeque<SeqNum>,
    tracks: Vec<Track>,
    /// The sender has reported that everything before this has come or is lost.
    settled: SeqNum,
    /// Whether what one member has lost may come by another.
    has_resends: bool,
}

impl<P: Packet> FifoReceiver<P> {
    /// A receiver over `members` members that expects the first number of whatever epoch comes first.
    pub fn new(config: Resequencer, members: u8) -> Self {
        let track = Track { last: None, told: FIRST, is_up: true };
        Self {
            longest: config.maximum,
            sequence: Sequence::new(&config),
            arrivals: VecDeque::new(),
            lost: VecDeque::new(),
            tracks: vec![track; usize::from(members)],
            settled: FIRST,
            has_resends: matches!(config.method, Method::Fifo(Fifo { resends: 1.., .. })),
        }
    }

    pub fn counts(&self) -> &PaperCounts {
        &self.sequence.counts
    }
    /// The longest hold of a packet.
    pub fn hold_time(&self) -> Duration {
        self.longest
    }
    /// Number of packets that wait for their turn.
    pub fn held_len(&self) -> usize {
        self.sequence.held_len()
    }

    /// A frame has come.
    #[inline(never)]
    pub fn on_frame(&mut self, now: Instant, header: TrunkHeader, packet: P, outputs: &mut VecDeque<PaperOutput<P>>) {
        match self.sequence.admit(now, &header, outputs) {
            Standing::Stale => return self.sequence.refuse(packet, outputs),
            Standing::Anew => self.forget(),
            Standing::Present => {}
        }
        let after = header.number.plus(packet.segments());
        if self.sequence.place(now, header.number, packet, outputs) == Place::Held {
            self.arrivals.push_back((now, header.number));
        }
        self.learn(&header, after);
        self.resolve(now, outputs);
    }

    /// A marker has come on `carrier`: the content of a header, without a packet.
    #[inline(never)]
    pub fn on_marker(
        &mut self,
        now: Instant,
        marker: &TrunkHeader,
        carrier: Member,
        outputs: &mut VecDeque<PaperOutput<P>>,
    ) {
        match self.sequence.enter(now, marker, outputs) {
            Standing::Stale => return,
            Standing::Anew => self.forget(),
            Standing::Present => {}
        }
        // A marker far beyond the buffer does not move the numbers; a frame will.
        if self.sequence.is_beyond(marker.number) {
            return;
        }
        self.learn_settled(marker);
        if carrier == marker.member && !self.has_resends {
            self.learn_order(marker.member, marker.member_previous, marker.number);
        }
        self.resolve(now, outputs);
    }

    /// The host reports whether a member can be used: nothing is expected of one that cannot.
    #[inline(never)]
    pub fn on_link(&mut self, now: Instant, member: Member, is_up: bool, outputs: &mut VecDeque<PaperOutput<P>>) {
        if let Some(track) = self.tracks.get_mut(usize::from(member.0)) {
            track.is_up = is_up;
        }
        self.resolve(now, outputs);
    }

    /// Gives up holes that have lasted long enough.
    #[inline(never)]
    pub fn on_timeout(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        let mut last = None;
        while let Some(&(_, number)) = self.arrivals.front().filter(|&&(since, _)| since + self.longest <= now) {
            self.arrivals.pop_front();
            if !number.is_before(self.sequence.next()) && last.is_none_or(|last: SeqNum| last.is_before(number)) {
                last = Some(number);
            }
        }
        let Some(last) = last else { return };
        self.sequence.counts.timer_expiries += 1;
        // Everything up to the packet whose time is over; holes before it are given up.
        self.sequence.flush_through(now, last, outputs);
        self.resolve(now, outputs);
    }

    pub fn wake(&self) -> Option<Wake> {
        let since = self.arrivals.front()?.0;
        Some(Wake { at: since + self.longest, why: "trunk.hold" })
    }

    /// The numbers begin again: only the next one to deliver is known.
    fn forget(&mut self) {
        let next = self.sequence.next();
        self.settled = next;
        self.arrivals.clear();
        self.lost.clear();
        for track in &mut self.tracks {
            *track = Track { last: None, told: next, ..*track };
        }
    }

    /// Learns from a header about the frames before it.
    fn learn(&mut self, header: &TrunkHeader, after: SeqNum) {
        self.learn_settled(header);
        if self.has_resends {
            return;
        }
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
    fn learn_settled(&mut self, header: &TrunkHeader) {
        let settled = SeqNum(header.number.0.wrapping_sub(u32::from(header.unsettled)));
        if header.unsettled != UNSETTLED && self.settled.is_before(settled) {
            self.settled = settled;
        }
    }

    /// `member` was given `previous`, and after it nothing before `number`.
    fn learn_order(&mut self, member: Member, previous: SeqNum, number: SeqNum) {
        let Some(track) = self.tracks.get_mut(usize::from(member.0)) else { return };
        // The frames before its last arrival are known already.
        let is_news = track.last.is_none_or(|last| last.is_before(previous)) && previous != number;
        if is_news {
            track.last = Some(previous);
        }
        if track.told.is_before(number) {
            track.told = number;
        }
        // Only numbers between the delivered ones and the newest can be holes.
        let may_be_hole = !previous.is_before(self.sequence.next()) && previous.is_before(number);
        if is_news && may_be_hole && !self.sequence.has(previous) {
            let behind = self.lost.iter().rev().take_while(|lost| previous.is_before(**lost)).count();
            self.lost.insert(self.lost.len() - behind, previous);
        }
    }

    /// Delivers packets that no hole blocks, and skips holes whose packets are known to be lost.
    fn resolve(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        let told = self.tracks.iter().filter(|track| track.is_up).map(|track| track.told);
        let told = told.reduce(|least, told| if told.is_before(least) { told } else { least });
        // With no member up nothing will arrive; the longest hold decides, as a member may come back.
        let told = told.unwrap_or(self.settled);
        let certain = if self.settled.is_before(told) { told } else { self.settled };
        loop {
            self.sequence.drain(now, outputs);
            let next = self.sequence.next();
            while self.lost.front().is_some_and(|lost| lost.is_before(next)) {
                self.lost.pop_front();
            }
            let is_named = self.lost.front() == Some(&next);
            if is_named {
                self.sequence.pass_over(next.next());
            } else if next.is_before(certain) {
                let held = self.sequence.first_held().unwrap_or(certain);
                self.sequence.pass_over(if held.is_before(certain) { held } else { certain });
            } else {
                break;
            }
            self.sequence.counts.known_lost += 1;
        }
        while self.arrivals.front().is_some_and(|&(_, number)| number.is_before(self.sequence.next())) {
            self.arrivals.pop_front();
        }
    }
}
