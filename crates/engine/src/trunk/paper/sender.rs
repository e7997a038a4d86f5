//! The sending side: numbers packets and gives each to the next free member, in turn (Wang 2005, section 3.2), or to
//! the one by which it is expected to arrive first.
//!
//! Numbers follow the order of arrival. A packet is numbered when a member takes it: one that the full queue refuses
//! takes no number, and the receiver never waits for it. Numbered when it comes ([`Numbering::Arrival`]), it does.

use super::allowance::Allowance;
use super::control::Control;
use super::counts::PaperCounts;
use super::forecast::{Choice, Forecast};
use super::header::{TrunkHeader, UNSETTLED};
use super::loss_notifier::{Due, LossNotifier};
use super::policy::{Distributor, Method, Numbering, PaperPolicy};
use super::{FrameFate, Member, PaperDropReason, PaperOutput};
use crate::machine::Wake;
use crate::packet::Packet;
use airbraid_units::{Duration, Instant, SeqNum};
use std::collections::VecDeque;

/// Flow buckets that are numbered apart; a packet's bucket is taken modulo this.
const BUCKETS: usize = 1024;

/// A member as its sender sees it.
#[derive(Clone, Copy, Debug, Default)]
struct MemberState {
    /// Packets that it holds, and may hold.
    held: u32,
    allowance: Allowance,
    /// Packets that it can take: none while it is closed.
    room: u32,
    /// The host has reported that it cannot be used.
    is_down: bool,
    /// It gets nothing: it is down, or has lost frame after frame.
    is_closed: bool,
    next_number: SeqNum,
    /// Trunk number of the last frame given to it.
    previous: Option<SeqNum>,
    /// Length of the longest segment given to it, as far as a marker can be that long \[byte\].
    longest: u16,
}

impl MemberState {
    fn new(policy: &PaperPolicy) -> Self {
        let allowance = Allowance::new(policy.member_limit, policy.member_time);
        Self { room: allowance.limit, allowance, ..Self::default() }
    }

    /// It takes a packet.
    #[inline]
    fn take(&mut self, now: Instant, is_timed: bool) {
        if is_timed {
            self.allowance.on_given(now);
        }
        self.held += 1;
        self.room = self.room.saturating_sub(1);
        self.next_number = self.next_number.next();
    }

    /// Renews the space for packets.
    fn renew(&mut self) {
        self.room = if self.is_closed { 0 } else { self.allowance.limit.saturating_sub(self.held) };
    }
}

/// The numbers of a packet.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    /// On the trunk.
    number: SeqNum,
    bucket: u16,
    /// Within the flow bucket.
    bucket_number: SeqNum,
}

/// A packet that waits for a member.
#[derive(Debug)]
struct Waiting<P> {
    /// Where it has them already.
    numbers: Option<Numbers>,
    /// The member that gave it back.
    from: Option<usize>,
    packet: P,
}

/// The sending side of a trunk.
#[derive(Debug)]
pub struct PaperSender<P> {
    policy: PaperPolicy,
    epoch: u16,
    members: Vec<MemberState>,
    /// Where the round robin goes on.
    turn: usize,
    next_number: SeqNum,
    bucket_numbers: Vec<SeqNum>,
    /// Packets that wait for a member; those that were given back are first, in order.
    queue: VecDeque<Waiting<P>>,
    /// Estimates of the members' speed, where packets go by it.
    forecast: Option<Forecast>,
    /// Time at which a free member may be better than the one that is waited for.
    look_at: Option<Instant>,
    /// Knowledge of the frames' fates, where the receiver needs it.
    notifier: Option<LossNotifier>,
    counts: PaperCounts,
}

impl<P: Packet> PaperSender<P> {
    /// A sender over `members` free members. Numbers begin at 1.
    pub fn new(policy: PaperPolicy, members: u8, epoch: u16) -> Self {
        let members = usize::from(members);
        let by_forecast = policy.distributor == Distributor::EarliestDelivery;
        let notifier = match policy.resequencer.method {
            Method::Fifo(config) => Some(LossNotifier::new(config, members)),
            Method::Adaptive => None,
        };
        Self {
            policy,
            epoch,
            members: vec![MemberState::new(&policy); members],
            turn: 0,
            next_number: SeqNum(1),
            bucket_numbers: vec![SeqNum(0); BUCKETS],
            queue: VecDeque::new(),
            forecast: by_forecast.then(|| Forecast::new(members, policy.member_limit)),
            look_at: None,
            notifier,
            counts: PaperCounts::of_sender(members),
        }
    }

    pub fn counts(&self) -> &PaperCounts {
        &self.counts
    }

    pub fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// Takes a packet from above: to a member with space for it, or into the queue.
    pub fn on_packet(&mut self, now: Instant, packet: P, outputs: &mut VecDeque<PaperOutput<P>>) {
        let numbers = (self.policy.numbering == Numbering::Arrival).then(|| self.number(&packet));
        let member = if self.queue.is_empty() { self.member_for(now, packet.len().as_u64(), self.turn) } else { None };
        match member {
            Some(member) => self.give(now, member, numbers, packet, outputs),
            None if self.queue.len() < self.policy.queue_limit as usize => {
                self.queue.push_back(Waiting { numbers, from: None, packet });
                self.counts.queue_max = self.counts.queue_max.max(self.queue.len());
            }
            None => {
                self.counts.queue_drops += 1;
                outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::QueueFull));
            }
        }
    }

    /// A member has finished with the packet of that number, or with its oldest: the queue moves on, starting at that
    /// member.
    pub fn on_finished(
        &mut self,
        now: Instant,
        (member, number): (Member, Option<SeqNum>),
        outcome: FrameFate,
        outputs: &mut VecDeque<PaperOutput<P>>,
    ) {
        let index = usize::from(member.0);
        self.make_room(now, index);
        if self.has_timers() {
            self.learn_fate(now, (member, number), outcome);
        }
        self.pump(now, index, outputs);
        if self.notifier.is_some() {
            self.tell(now, outputs);
        }
    }

    /// A member holds one packet less.
    #[inline]
    fn make_room(&mut self, now: Instant, index: usize) {
        let Some(state) = self.members.get_mut(index) else { return };
        state.held = state.held.saturating_sub(1);
        if let Some(time) = self.policy.member_time {
            state.allowance.on_finished(now, state.held, (self.policy.member_limit, time));
        }
        state.renew();
    }

    /// A member gives up the packet with this header, and gives it back: it goes by another, before all that wait.
    #[inline(never)]
    pub fn on_returned(
        &mut self,
        now: Instant,
        header: TrunkHeader,
        packet: P,
        outputs: &mut VecDeque<PaperOutput<P>>,
    ) {
        let index = usize::from(header.member.0);
        self.make_room(now, index);
        if let Some(forecast) = &mut self.forecast {
            forecast.on_finished(now, header.member);
        }
        let told = self.notifier.as_mut().map(|notifier| notifier.on_returned(now, header.member, header.number));
        let (goes_on, has_died) = told.unwrap_or((false, false));
        self.counts.deaths += u64::from(has_died);
        self.review(index);
        if goes_on {
            let TrunkHeader { number, bucket, bucket_number, .. } = header;
            let is_before = |waiting: &&Waiting<P>| waiting.numbers.is_some_and(|n| n.number.is_before(number));
            let place = self.queue.iter().take_while(is_before).count();
            let numbers = Some(Numbers { number, bucket, bucket_number });
            self.queue.insert(place, Waiting { numbers, from: Some(index), packet });
            self.counts.queue_max = self.counts.queue_max.max(self.queue.len());
        } else {
            outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::Undelivered));
        }
        self.pump(now, index, outputs);
        self.tell(now, outputs);
    }

    /// Tells the methods beyond the paper's about a frame's fate.
    #[inline(never)]
    fn learn_fate(&mut self, now: Instant, (member, number): (Member, Option<SeqNum>), outcome: FrameFate) {
        if let Some(forecast) = &mut self.forecast {
            forecast.on_finished(now, member);
        }
        if let Some(notifier) = &mut self.notifier {
            let has_died = notifier.on_finished(now, (member, number), outcome);
            self.counts.deaths += u64::from(has_died);
            self.review(usize::from(member.0));
        }
    }

    /// A control frame has left a member.
    pub fn on_control_finished(
        &mut self,
        now: Instant,
        member: Member,
        outcome: FrameFate,
        outputs: &mut VecDeque<PaperOutput<P>>,
    ) {
        if let Some(notifier) = &mut self.notifier {
            notifier.on_marker_finished(now, member, outcome);
            self.review(usize::from(member.0));
            self.pump(now, self.turn, outputs);
            self.tell(now, outputs);
        }
    }

    /// The host reports whether a member can be used.
    pub fn on_link(&mut self, now: Instant, member: Member, is_up: bool, outputs: &mut VecDeque<PaperOutput<P>>) {
        if let Some(state) = self.members.get_mut(usize::from(member.0)) {
            state.is_down = !is_up;
        }
        self.review(usize::from(member.0));
        self.pump(now, self.turn, outputs);
    }

    /// The host has measured the delay of a member's path.
    pub fn on_delay(&mut self, member: Member, delay: Duration) {
        if let Some(forecast) = &mut self.forecast {
            forecast.set_delay(member, delay);
        }
    }

    /// Fires what is due.
    pub fn on_timeout(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        if self.look_at.is_some_and(|at| at <= now) {
            self.pump(now, self.turn, outputs);
        }
        self.tell(now, outputs);
    }

    /// Whether it ever waits for a time: not by the paper's method.
    #[inline]
    pub fn has_timers(&self) -> bool {
        self.forecast.is_some() || self.notifier.is_some()
    }

    pub fn wake(&self) -> Option<Wake> {
        let look = self.look_at.map(|at| Wake { at, why: "trunk.look" });
        let tell = self.notifier.as_ref().and_then(LossNotifier::wake_at).map(|at| Wake { at, why: "trunk.marker" });
        [look, tell].into_iter().flatten().min_by_key(|wake| wake.at)
    }

    /// Gives members packets from the queue, looking for a free one from `start` on.
    fn pump(&mut self, now: Instant, start: usize, outputs: &mut VecDeque<PaperOutput<P>>) {
        self.look_at = None;
        while let Some(Waiting { from, packet, .. }) = self.queue.front() {
            let (from, len) = (*from, packet.len().as_u64());
            let free = match from {
                None => self.member_for(now, len, start),
                Some(from) => self.another(from),
            };
            let Some(index) = free else { return };
            let Some(Waiting { numbers, packet, .. }) = self.queue.pop_front() else { return };
            match (from, numbers) {
                (Some(_), Some(numbers)) => self.give_again(now, index, numbers, packet, outputs),
                _ => self.give(now, index, numbers, packet, outputs),
            }
        }
    }

    /// A free member other than `from`, which gave a packet back; that one if no other gets packets at all.
    fn another(&self, from: usize) -> Option<usize> {
        let order = (from + 1..self.members.len()).chain(0..from);
        let mut others = order.filter(|&index| !self.members[index].is_closed).peekable();
        if others.peek().is_none() {
            return (self.members[from].room > 0).then_some(from);
        }
        others.find(|&index| self.members[index].room > 0)
    }

    /// Gives a packet that another gave back to a member. Nothing can be said of the order of what that carries.
    fn give_again(
        &mut self,
        now: Instant,
        index: usize,
        Numbers { number, bucket, bucket_number }: Numbers,
        packet: P,
        outputs: &mut VecDeque<PaperOutput<P>>,
    ) {
        let unsettled = self.notifier.as_ref().map_or(UNSETTLED, |notifier| notifier.unsettled(number));
        if let Some(forecast) = &mut self.forecast {
            forecast.on_given(now, index, packet.len().as_u64());
        }
        let (epoch, member) = (self.epoch, Member(index as u8));
        let state = &mut self.members[index];
        let (member_number, member_previous) = (state.next_number, number);
        state.take(now, self.policy.member_time.is_some());
        self.counts.resends += 1;
        self.counts.sent_by_member[index] += 1;
        let header =
            TrunkHeader { epoch, member, number, member_number, member_previous, bucket, bucket_number, unsettled };
        outputs.push_back(PaperOutput::Transmit { header, packet, kept: false });
    }

    /// Updates whether a member gets packets.
    fn review(&mut self, index: usize) {
        if let Some(state) = self.members.get_mut(index) {
            let is_dead = self.notifier.as_ref().is_some_and(|notifier| !notifier.is_alive(index));
            state.is_closed = state.is_down || is_dead;
            state.renew();
        }
    }

    /// The member that is to take a packet of `len` byte now, if any.
    #[inline]
    fn member_for(&mut self, now: Instant, len: u64, start: usize) -> Option<usize> {
        if self.forecast.is_some() {
            return self.earliest(now, len);
        }
        (start..self.members.len()).chain(0..start).find(|&index| self.members[index].room > 0)
    }

    /// The member on which a packet of `len` byte is expected first, unless that is full.
    #[inline(never)]
    fn earliest(&mut self, now: Instant, len: u64) -> Option<usize> {
        match self.forecast.as_ref()?.choose(now, len, |index| !self.members[index].is_closed) {
            Choice::Take(index) => Some(index),
            Choice::Wait(until) => {
                self.look_at = until;
                None
            }
        }
    }

    /// Takes the next numbers for a packet.
    fn number(&mut self, packet: &P) -> Numbers {
        let number = self.next_number;
        self.next_number = number.plus(packet.segments());
        let bucket = packet.flow_bucket() % BUCKETS as u16;
        let bucket_number = self.bucket_numbers[usize::from(bucket)];
        self.bucket_numbers[usize::from(bucket)] = bucket_number.plus(packet.segments());
        Numbers { number, bucket, bucket_number }
    }

    /// Gives a packet to a member, numbered now unless it has its numbers.
    fn give(
        &mut self,
        now: Instant,
        index: usize,
        numbers: Option<Numbers>,
        packet: P,
        outputs: &mut VecDeque<PaperOutput<P>>,
    ) {
        self.turn = (index + 1) % self.members.len();
        let Numbers { number, bucket, bucket_number } = numbers.unwrap_or_else(|| self.number(&packet));
        let unsettled = if self.has_timers() { self.note_given(now, index, number, &packet) } else { UNSETTLED };
        let state = &mut self.members[index];
        let header = TrunkHeader {
            epoch: self.epoch,
            member: Member(index as u8),
            number,
            member_number: state.next_number,
            member_previous: state.previous.unwrap_or(number),
            bucket,
            bucket_number,
            unsettled,
        };
        state.take(now, self.policy.member_time.is_some());
        state.previous = Some(number);
        self.counts.sent += 1;
        self.counts.sent_by_member[index] += 1;
        outputs.push_back(PaperOutput::Transmit { header, packet, kept: false });
    }

    /// Tells the methods beyond the paper's about a packet that a member takes; returns the distance to the oldest
    /// unsettled number, for its header.
    #[inline(never)]
    fn note_given(&mut self, now: Instant, index: usize, number: SeqNum, packet: &P) -> u16 {
        if let Some(forecast) = &mut self.forecast {
            forecast.on_given(now, index, packet.len().as_u64());
        }
        let Some(notifier) = &mut self.notifier else { return UNSETTLED };
        let unsettled = notifier.unsettled(number);
        notifier.on_given(now, index, number, unsettled);
        let len = u16::try_from(packet.segment_len().as_u64()).unwrap_or(u16::MAX);
        self.members[index].longest = self.members[index].longest.max(len);
        unsettled
    }

    /// Sends the markers that are due.
    #[inline(never)]
    fn tell(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        let Some(notifier) = &mut self.notifier else { return };
        let number = self.next_number;
        while let Some(due) = notifier.due(now, number, |index| !self.members[index].is_down) {
            let (Due::Tell(index) | Due::Remind(index) | Due::Probe(index)) = due;
            let (member, state) = (Member(index as u8), &self.members[index]);
            let marker = |padding| Control::Marker {
                epoch: self.epoch,
                member,
                previous: state.previous.unwrap_or(number),
                number,
                unsettled: notifier.unsettled(number),
                padding,
            };
            // A short frame may get through where packets do not, and would bring the member back in vain.
            let short = u16::try_from(marker(0).len().as_u64()).unwrap_or(u16::MAX);
            let is_probe = matches!(due, Due::Probe(_));
            let control = marker(if is_probe { state.longest.saturating_sub(short) } else { 0 });
            self.counts.markers += 1;
            outputs.push_back(PaperOutput::Control { member, acknowledged: true, control });
        }
    }
}
