//! The sending side of a bond: the queue, the members, and the packets under way.
//!
//! Knowledge is in the modules beside this one (a member's path, losses, validation, MTU, coding plan). The modules
//! below decide and act: [`distribute`] chooses a member for each packet, [`feedback`] settles and detects losses,
//! [`repair`] sends repair symbols, [`fit`] minds lengths, [`validate`] minds paths, [`memory`] minds the limit,
//! [`services`] minds who may carry what.

mod distribute;
mod feedback;
mod fit;
mod memory;
mod repair;
mod services;
mod validate;

use crate::machine::Wake;
use crate::packet::{Share, TrafficClass};
use crate::trunk::Member;
use crate::trunk::bonding::coded::Coded;
use crate::trunk::bonding::config::{BondConfig, MemberConfig};
use crate::trunk::bonding::filter::Least;
use crate::trunk::bonding::frame::{BondHeader, Frame, HEADER_LEN, MEMBERS_MAX, Probe};
use crate::trunk::bonding::group::News;
use crate::trunk::bonding::member::{MemberEnd, TRAIN_BYTES, mtu_of};
use crate::trunk::bonding::queue::{Queue, Refused};
use crate::trunk::bonding::sent_frames::{Content, SentFate};
use crate::trunk::bonding::service::{BondDropReason, BondOutput};
use crate::trunk::bonding::status::{BondCounts, MemberState};
use crate::trunk::bonding::store::{PacketId, Store};
use airbraid_units::{Bytes, Duration, Instant, SeqNum};
use fit::Longest;
use services::ServiceState;
use std::collections::VecDeque;

/// The first number on each member: none is before it.
const FIRST: SeqNum = SeqNum(1);
/// A host that is woken for each frame at a high rate does nothing else: frames that are due within this wait for it.
/// At 60 Mbit/s a full frame takes as much.
const COALESCE: Duration = Duration::from_micros(200);
/// Time for which the members' best rate counts: half of a slow swing of a radio link, which takes 20 s.
const SWING: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct BondSender<P: Coded> {
    config: BondConfig,
    pub(super) members: Vec<MemberEnd>,
    /// The next number of members that are gone: numbers are used once.
    numbers: [SeqNum; MEMBERS_MAX],
    pub(super) queue: Queue<P>,
    pub(super) store: Store<P>,
    /// Packets that wait for retransmission.
    resend: VecDeque<PacketId>,
    /// Packets that are too long for every member now, while paths are probed.
    parked: VecDeque<PacketId>,
    /// Lanes that take turns, and packets that no member may carry now.
    services: ServiceState,
    /// The longest packets for the members.
    longest: Longest,
    /// Whether any member has ever had a limit.
    has_limits: bool,
    /// The far end's clock less ours, with an unknown constant delay \[us\].
    offset_us: Option<u32>,
    /// Time at which a member that has to wait may send.
    pace_at: Option<Instant>,
    /// Lateness of the call after that.
    late: Duration,
    /// The greatest sum of the members' rates within 10 to 20 s, negated \[bit/s\].
    pub(super) best_rate: Least,
    /// Limit of its memory \[byte\].
    pub(super) memory: u64,
    /// The longest frame with a packet.
    longest_frame: Bytes,
    pub(super) counts: BondCounts,
    pub(super) outputs: VecDeque<BondOutput<P>>,
}

impl<P: Coded> BondSender<P> {
    pub fn new(config: BondConfig) -> Self {
        Self {
            config,
            members: Vec::new(),
            numbers: [FIRST; MEMBERS_MAX],
            queue: Queue::new(config.policy.queue_limit as usize, config.policy.target),
            store: Store::new(),
            resend: VecDeque::new(),
            parked: VecDeque::new(),
            services: ServiceState::default(),
            longest: Longest::NONE,
            has_limits: false,
            offset_us: None,
            pace_at: None,
            late: Duration::ZERO,
            best_rate: Least::new(SWING),
            memory: u64::MAX,
            longest_frame: Bytes::ZERO,
            counts: BondCounts::default(),
            outputs: VecDeque::with_capacity(8),
        }
    }

    /// Number of entries in all tables.
    pub fn kept(&self) -> usize {
        let frames: usize = self.members.iter().map(|end| end.sent_frames.len() + end.groups.kept()).sum();
        let waiting = self.resend.len() + self.parked.len() + self.services.len();
        frames + self.store.len() + self.queue.len() + waiting
    }

    /// Index of a member in the list.
    pub(super) fn index_of(&self, member: Member) -> Option<usize> {
        self.members.iter().position(|end| end.id == member)
    }

    /// Adds a member, or changes its configuration.
    pub fn add_member(&mut self, now: Instant, member: Member, config: MemberConfig) {
        let number = usize::from(member.0);
        if number >= MEMBERS_MAX {
            self.counts.strange += 1;
            return;
        }
        self.has_limits |= config.mtu.is_some();
        if let Some(index) = self.index_of(member) {
            let end = &mut self.members[index];
            end.config = config;
            end.path.set_cap(config.rate_cap.map(|rate| rate.as_bps()));
            end.plpmtu.set_max(now, mtu_of(&config));
            if end.state == MemberState::Exhausted {
                end.state = MemberState::Probing;
            }
            return;
        }
        let mut end = MemberEnd::new(now, member, config, self.numbers[number]);
        end.longest_frame = self.longest_frame;
        self.members.push(end);
        self.members.sort_by_key(|end| end.id);
    }

    /// Removes a member: packets under way on it are retransmitted elsewhere.
    pub fn remove_member(&mut self, now: Instant, member: Member) {
        let Some(index) = self.index_of(member) else { return };
        self.lose_all(now, index);
        let mut end = self.members.remove(index);
        self.numbers[usize::from(member.0)] = end.sent_frames.next();
        while let Some(sent) = end.sent_frames.pop_decided(Instant::MAX) {
            if let Content::Packet(id) = sent.content {
                self.store.unname(id);
            }
        }
    }

    /// Queues a packet, or the segments of a run one by one.
    pub fn on_packets(&mut self, now: Instant, packet: P) {
        match packet.segments() {
            0 | 1 => self.on_packet(now, packet),
            count => (0..count).for_each(|index| self.on_packet(now, packet.segment(index))),
        }
    }

    fn on_packet(&mut self, now: Instant, packet: P) {
        self.counts.offered += 1;
        self.note_length(packet.len());
        if !self.make_room(packet.footprint()) {
            self.drop(packet, BondDropReason::Memory);
            return;
        }
        let (refused, mark) = self.queue.add(now, packet);
        self.counts.marked += u64::from(mark);
        if let Some((packet, why)) = refused {
            let reason = match why {
                Refused::Full => BondDropReason::QueueFull,
                Refused::Managed => BondDropReason::Managed,
                Refused::Superseded => BondDropReason::Superseded,
            };
            self.drop(packet, reason);
        }
    }

    /// Notes the longest frame: a path that is not validated gets no packet before the longest may be sent there,
    /// because a packet that is taken from the queue must leave.
    fn note_length(&mut self, length: Bytes) {
        let frame = Bytes::new(HEADER_LEN as u64) + length;
        if frame > self.longest_frame {
            self.longest_frame = frame;
            self.members.iter_mut().for_each(|end| end.longest_frame = frame);
        }
    }

    /// The host could not send a frame.
    pub fn on_refused(&mut self, now: Instant, member: Member, number: SeqNum) {
        let Some(index) = self.index_of(member) else { return };
        self.members[index].on_refused(now);
        self.members[index].plpmtu.put_back(now);
        self.lose(now, index, number);
    }

    /// The host was late: frames that were to leave since `since` have left by `until`.
    pub fn on_late(&mut self, since: Instant, until: Instant) {
        self.members.iter_mut().for_each(|end| end.on_late(since, until));
    }

    /// The far end has begun a new life: it knows no frame under way, and its clock is another.
    pub fn on_far_restart(&mut self, now: Instant) {
        self.offset_us = None;
        for index in 0..self.members.len() {
            self.members[index].path.forget_delays();
            self.lose_all(now, index);
            self.members[index].begin(now);
        }
    }

    pub(super) fn drop(&mut self, packet: P, reason: BondDropReason) {
        self.counts.dropped[reason as usize] += 1;
        self.outputs.push_back(BondOutput::Dropped { packet, reason });
    }

    /// Time for which a packet of a class is worth sending.
    pub(super) fn persistence(&self, class: TrafficClass) -> Duration {
        self.config.policy.persistence_of(class)
    }

    /// Declares a frame lost; its packet is retransmitted unless it may be restored.
    pub(super) fn lose(&mut self, now: Instant, index: usize, number: SeqNum) {
        let end = &mut self.members[index];
        if let Some(sent) = end.sent_frames.get(number).filter(|sent| sent.fate == SentFate::OnTheWay) {
            let (bytes, at, content) = (sent.bytes, sent.at, sent.content);
            if content != Content::Size {
                end.plpmtu.on_frame(now, bytes, true);
                end.path.on_fate(number, at, true);
            }
            self.give_up(now, index, number);
        }
    }

    /// The same for a frame of which nothing is known: its member's losses are not counted by it.
    fn give_up(&mut self, now: Instant, index: usize, number: SeqNum) {
        let end = &mut self.members[index];
        let Some(sent) = end.sent_frames.decide(number, SentFate::Lost(now)) else { return };
        if sent.content == Content::Size {
            end.plpmtu.on_lost(now, sent.bytes);
        } else {
            end.counted.lost += 1;
        }
        let id = match sent.content {
            Content::Packet(id) => Some(id),
            Content::Repair | Content::Probe | Content::Size => None,
        };
        self.on_news(now, index, number, &sent, News::Lost(id));
    }

    /// A frame with a packet is lost: retransmits the packet.
    pub(super) fn repeat(&mut self, id: PacketId) {
        self.store.get_mut(id).copies -= 1;
        self.queue_again(id);
    }

    /// Lets a packet wait for retransmission.
    fn queue_again(&mut self, id: PacketId) {
        let entry = self.store.get_mut(id);
        if entry.packet.is_some() && !entry.is_queued {
            entry.is_queued = true;
            self.store.name(id);
            self.resend.push_back(id);
        }
    }

    /// Retransmits, by the members that answer, what is on the way on one that does not, once.
    fn repeat_unanswered(&mut self, now: Instant, index: usize) {
        let end = &self.members[index];
        if !end.is_silent() {
            return;
        }
        let sent = end.sent_frames.undecided().filter(|(_, sent)| sent.fate == SentFate::OnTheWay);
        let ids: Vec<PacketId> = sent
            .filter_map(|(_, sent)| match sent.content {
                Content::Packet(id) => Some(id),
                Content::Repair | Content::Probe | Content::Size => None,
            })
            .collect();
        for id in ids {
            let entry = self.store.get(id);
            let is_once = entry.copies == 1 && !entry.is_queued;
            let Some(packet) = entry.packet.as_ref().filter(|_| is_once) else { continue };
            let candidates = self.answering(now, packet.service(), packet.len().as_u64());
            if candidates.iter().any(|one| !self.members[one.index].is_silent()) {
                self.queue_again(id);
            }
        }
    }

    /// Gives every frame on a member up.
    pub(super) fn lose_all(&mut self, now: Instant, index: usize) {
        self.abandon_groups(index);
        let numbers: Vec<SeqNum> = self.members[index]
            .sent_frames
            .numbers()
            .filter(|(_, sent)| sent.fate == SentFate::OnTheWay)
            .map(|(number, _)| number)
            .collect();
        for number in numbers {
            self.give_up(now, index, number);
        }
    }

    /// Suspects a member of being dead.
    pub(super) fn suspect(&mut self, now: Instant, index: usize) {
        self.members[index].suspect(now);
        self.lose_all(now, index);
    }

    /// Sends a packet of the store on a member.
    pub(super) fn transmit(&mut self, now: Instant, index: usize, id: PacketId, is_first: bool) {
        let entry = self.store.get_mut(id);
        let Some(packet) = entry.packet.as_ref().map(Share::share) else { return };
        entry.copies += 1;
        entry.was_sent = true;
        let (place, mark) = (entry.place, entry.mark);
        self.store.name(id);
        let end = &mut self.members[index];
        let header = BondHeader { number: end.sent_frames.next(), place };
        let frame = Frame::Data { header, packet };
        let bytes = Bytes::new(end.on_wire(frame.len()));
        end.on_numbered(now, bytes, self.late, Content::Packet(id));
        end.counted.sent += 1;
        *(if is_first { &mut end.counted.data_bytes } else { &mut end.counted.repeated_bytes }) += bytes;
        self.outputs.push_back(BondOutput::Transmit { member: end.id, frame, mark });
        self.join_group(now, index, header.number, id);
    }

    /// Measures members again whose rates are old, if packets wait that no member takes now: none waits for a train.
    pub fn doubt_rates(&mut self, now: Instant) {
        if !self.queue.is_empty() {
            let Self { members, queue, .. } = self;
            let is_waited_for = |end: &MemberEnd| queue.has(0) || queue.has_any(end.config.services);
            let waited_for = members.iter_mut().filter(|end| end.is_active() && is_waited_for(end));
            waited_for.for_each(|end| end.doubt(now));
            self.send_trains(now);
        }
    }

    /// Takes what is known of trains whose end is lost. Rates change how long an answer may take.
    pub fn end_trains(&mut self, now: Instant) {
        let is_due = |end: &&mut MemberEnd| end.train_at().is_some_and(|at| at <= now);
        self.members.iter_mut().filter(is_due).for_each(|end| end.end_train(now));
    }

    /// Sends the packet trains that are due: the spacing of their arrivals tells a member's rate before anything
    /// depends on it.
    pub fn send_trains(&mut self, now: Instant) {
        for index in 0..self.members.len() {
            let end = &mut self.members[index];
            if end.train_at().is_none_or(|at| at > now) {
                continue;
            }
            let (frames, bytes) = (end.on_train(now), TRAIN_BYTES.min(end.plpmtu.size()));
            for _ in 0..frames {
                self.ask(now, index, bytes, Content::Probe);
            }
            if frames > 0 {
                self.ask(now, index, 0, Content::Probe);
            }
        }
    }

    /// Sends a probe on a member, of `bytes` on the wire or a little more.
    pub(super) fn ask(&mut self, now: Instant, index: usize, bytes: u64, content: Content) {
        let end = &mut self.members[index];
        let around = end.on_wire(Frame::<P>::Probe(Probe::default()).len());
        let padding = bytes.saturating_sub(around) as u16;
        let probe = Probe { epoch: self.config.epoch, padding, ..Probe::default() };
        let frame: Frame<P> = Frame::Probe(probe);
        let bytes = end.on_wire(frame.len());
        if !end.validation.allows(bytes) {
            // It counts as sent: the next probe has its own time.
            end.sent_at = now;
            return;
        }
        let due_us = end.path.on_sent(now, bytes, self.late);
        let number = end.sent_frames.push(now, bytes as u32, due_us, end.idles, content);
        end.sent_at = now;
        self.send_control(index, Frame::Probe(Probe { number, ..probe }));
    }

    /// Sends a frame that carries no packet, if it may go there.
    pub(super) fn send_control(&mut self, index: usize, frame: Frame<P>) {
        let end = &mut self.members[index];
        let bytes = Bytes::new(end.on_wire(frame.len()));
        if !end.validation.allows(bytes.as_u64()) {
            return;
        }
        end.validation.on_sent(bytes.as_u64());
        end.counted.control_bytes += bytes;
        end.counted.sent_bytes += bytes;
        self.outputs.push_back(BondOutput::Transmit { member: end.id, frame, mark: false });
    }

    /// Asks what is due to be asked; members that do not answer are suspected.
    pub fn ask_due(&mut self, now: Instant) {
        for index in 0..self.members.len() {
            let end = &mut self.members[index];
            if end.question_at().is_none_or(|(at, _)| at > now) {
                continue;
            }
            if !end.is_active() {
                // For a member that does not answer, only the probes of a round trip are kept.
                self.lose_old(now, index);
                self.ask_sizes(now, index);
            }
            if self.members[index].on_question(now) {
                self.suspect(now, index);
                self.members[index].on_question(now);
            }
            self.repeat_unanswered(now, index);
            self.ask(now, index, 0, Content::Probe);
        }
    }

    /// Declares old frames of a silent member lost, and forgets decided ones.
    fn lose_old(&mut self, now: Instant, index: usize) {
        self.members[index].plpmtu.put_back(now);
        let until = now.saturating_sub(self.members[index].memory());
        let old: Vec<SeqNum> = self.members[index]
            .sent_frames
            .numbers()
            .filter(|(_, sent)| sent.fate == SentFate::OnTheWay && sent.at < until)
            .map(|(number, _)| number)
            .collect();
        for number in old {
            self.lose(now, index, number);
        }
        self.forget(now, index);
    }

    /// Forgets frames whose fate is known.
    pub(super) fn forget(&mut self, now: Instant, index: usize) {
        let until = now.saturating_sub(self.members[index].memory());
        while let Some(sent) = self.members[index].sent_frames.pop_decided(until) {
            if let Content::Packet(id) = sent.content {
                self.store.unname(id);
            }
        }
    }

    pub fn wake(&self, now: Instant) -> Option<Wake> {
        let pace = self.pace_at.map(|at| Wake { at: at.max(now.saturating_add(COALESCE)), why: "tunnel.pace" });
        let questions = self.members.iter().filter_map(MemberEnd::question_at);
        let paths = self.members.iter().filter_map(MemberEnd::validation_at).map(|at| (at, "tunnel.path"));
        let trains = self.members.iter().filter_map(MemberEnd::train_at).map(|at| (at, "tunnel.train"));
        let groups = self.members.iter().filter_map(|end| end.groups.close_at()).map(|at| (at, "tunnel.group"));
        let first = questions
            .chain(trains)
            .chain(groups)
            .chain(paths)
            .map(|(at, why)| Wake { at, why })
            .chain(pace)
            .min_by_key(|wake| wake.at);
        let at = self.longest.changes_at;
        let sizes = (at < Instant::MAX).then_some(Wake { at, why: "tunnel.plpmtu" });
        first.filter(|first| first.at <= at).or(sizes)
    }
}
