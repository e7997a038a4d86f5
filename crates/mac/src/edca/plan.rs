//! The next PPDU of an access category: which peer it is for, and how much goes into it.
//!
//! An A-MPDU is as long as all its limits allow: bytes, MPDUs, the window of the agreement, aPPDUMaxTime, and what is
//! left of the TXOP. MPDUs that are sent again come first, the oldest before the others. On a link of a device new ones
//! go with them as far as its [share](super::share) of the window goes.

use super::config::{AgreementSetup, EdcaConfig, REQUEST_SIZE};
use super::formats::Formats;
use super::frames::{BlockAck, Content, DataMpdus, Ppdu, Vector};
use super::kinds::Kinds;
use super::link::Link;
use super::originator::MpduState;
use super::rates::{Grade, Pick};
use super::traffic::{QueueId, TrafficQueue};
use crate::frame::{Address, Frame, FrameKind, Reservation, duration_field};
use crate::ppdu::{Format, PPDU_TIME_MAX};
use airbraid_engine::Packet;
use airbraid_units::{Bytes, Duration};
use std::sync::Arc;

/// The delimiter before each MPDU of an A-MPDU (9.7.1).
const DELIMITER: u64 = 4;
/// The header of a subframe of an A-MSDU: two addresses and a length (9.3.2.2.2).
const AMSDU_HEADER: u64 = 14;

/// The frame that a PPDU asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Cts,
    Ack,
    BlockAck,
}

/// A PPDU that is ready to be sent.
#[derive(Clone, Debug)]
pub(super) struct Planned<P> {
    pub queue: QueueId,
    /// Place of its format among the station's.
    pub grade: usize,
    pub ppdu: Arc<Ppdu<P>>,
    pub airtime: Duration,
    pub answer: Answer,
}

/// The fixed part of planning: the station's own address, its configuration, and what follows from it.
#[derive(Clone, Debug)]
pub(super) struct Planner {
    pub config: EdcaConfig,
    address: Address,
    pub link: Link,
    /// The formats of data, by peer.
    pub formats: Formats,
}

impl Planner {
    pub fn new(config: EdcaConfig, address: Address) -> Self {
        Self { formats: Formats::new(&config), config, address, link: Link::default() }
    }

    /// It learns of the stations around it.
    pub fn meet(&mut self, kinds: &Kinds) {
        self.formats.meet(&self.config, kinds);
    }

    /// A frame of this station that reserves nothing yet.
    #[inline]
    pub fn frame<Q>(&self, kind: FrameKind, to: Address, size: Bytes, rate: crate::phy::Rate) -> Frame<Q> {
        Frame {
            kind,
            retry: false,
            power_management: false,
            sequence: 0,
            from: self.address,
            to,
            size,
            rate,
            nav: Duration::ZERO,
            reservation: Reservation::default(),
            payload: None,
        }
    }

    /// A frame that is only to be heard.
    pub fn frame_to_self<Q>(&self, kind: FrameKind, size: Bytes, rate: crate::phy::Rate) -> Frame<Q> {
        self.frame(kind, self.address, size, rate)
    }

    /// Time of the SIFS and answer after a data PPDU.
    fn answer_span<P: Copy>(&self, queue: &TrafficQueue<P>, grade: usize, answer: Answer) -> Duration {
        let time = match answer {
            Answer::BlockAck if self.config.aggregation.setup == AgreementSetup::Frames => {
                // The window that both ends have agreed on.
                let rate = self.config.answer_rate(&self.formats.grade(grade).vector);
                self.config.answer_time(rate, BlockAck::size(queue.originator.window()))
            }
            answer => self.time_of(grade, answer),
        };
        self.config.phy.sifs + time
    }

    /// Time of a data PPDU with its answer.
    pub fn lasts<P: Packet + Copy>(&self, queue: &TrafficQueue<P>, planned: &Planned<P>) -> Duration {
        planned.airtime + self.answer_span(queue, planned.grade, planned.answer)
    }

    /// Time of the block acknowledgement of a PPDU in this format.
    pub fn block_ack_time(&self, grade: usize) -> Duration {
        self.formats.grade(grade).block_ack_time
    }

    fn time_of(&self, grade: usize, answer: Answer) -> Duration {
        match answer {
            Answer::Cts | Answer::Ack => self.formats.grade(grade).ack_time,
            Answer::BlockAck => self.block_ack_time(grade),
        }
    }

    /// The next PPDU of a queue, if it has one for which `span` is enough; with no span there is no such limit. The
    /// first of a TXOP that is too short for any is one MPDU all the same (10.23.2.9).
    pub fn plan<P: Packet + Copy>(
        &self,
        id: QueueId,
        queue: &mut TrafficQueue<P>,
        span: Option<Duration>,
        is_first: bool,
        pick: Pick,
    ) -> Option<Planned<P>> {
        if queue.needs_request(self.link.id) {
            return self.request(id, queue, span.filter(|_| !is_first));
        }
        let Pick { grade, is_probe, .. } = pick;
        let Grade { vector, psdu_max, .. } = *self.formats.grade(grade);
        let most = if is_probe { 1 } else { self.config.aggregation.ampdu_frames };
        let (frames, bytes) = match (queue.is_agreed, span) {
            (false, _) => (1, u64::from(u32::MAX)),
            (true, None) => (most, psdu_max),
            (true, Some(span)) => {
                let ppdu = span.saturating_sub(self.answer_span(queue, grade, Answer::BlockAck)).min(PPDU_TIME_MAX);
                (most, self.config.longest_psdu(&vector, ppdu).min(psdu_max))
            }
        };
        let (data, psdu) = self.gather(queue, pick, frames, bytes)?;
        let answer = answer_to(&data);
        let airtime = self.config.data_time(&vector, Bytes::new(psdu));
        let fits = span.is_none_or(|span| airtime + self.answer_span(queue, grade, answer) <= span);
        if !fits && !is_first {
            put_back(queue, &data);
            return None;
        }
        let left = span.map(|span| span.saturating_sub(airtime + self.answer_span(queue, grade, answer)));
        let next = left.map_or(Duration::ZERO, |left| self.next_exchange(queue, grade, left, 0).0);
        self.data(id, queue, (grade, Bytes::new(psdu), airtime), data, next)
    }

    /// A PPDU of a queue with these MPDUs, in a PSDU of this length; it reserves the medium for its answer and `next`.
    fn data<P: Packet + Copy>(
        &self,
        id: QueueId,
        queue: &TrafficQueue<P>,
        (grade, psdu, airtime): (usize, Bytes, Duration),
        mut data: DataMpdus<P>,
        next: Duration,
    ) -> Option<Planned<P>> {
        let vector = self.formats.grade(grade).vector;
        data.time(psdu, vector.rate().bit_rate);
        let (first, answer) = (data.mpdus().first()?, answer_to(&data));
        let header = Frame {
            retry: first.attempts > 1,
            sequence: first.sequence,
            nav: duration_field(self.answer_span(queue, grade, answer) + next),
            ..self.frame(FrameKind::Data, self.link.address(queue.to), psdu, vector.rate())
        };
        let ppdu = Ppdu { header, vector, tid: queue.tid, content: Content::Data(data) };
        Some(Planned { queue: id, grade, ppdu: Arc::new(ppdu), airtime, answer })
    }

    /// The next PPDU of a queue that lasts as long as is left beside another link, with padding behind its last MPDU;
    /// if it has data for which that is enough.
    pub fn plan_beside<P: Packet + Copy>(
        &self,
        id: QueueId,
        queue: &mut TrafficQueue<P>,
        left: Duration,
        pick: Pick,
    ) -> Option<Planned<P>> {
        let Pick { grade, is_probe, .. } = pick;
        let Grade { vector, psdu_max, .. } = *self.formats.grade(grade);
        let most = if is_probe || !queue.is_agreed { 1 } else { self.config.aggregation.ampdu_frames };
        let Vector::Mode(mode) = &vector else { return None };
        // The ends are half a symbol apart at most, which is no more than the 8 us that are allowed (35.3.16.5).
        let longest = self.config.longest_psdu(&vector, left + mode.symbol() / 2).min(psdu_max);
        let (data, psdu) = self.gather(queue, pick, most, longest)?;
        if psdu > longest || !data.is_aggregate {
            put_back(queue, &data);
            return None;
        }
        let longest = Bytes::new(longest);
        self.data(id, queue, (grade, longest, self.config.data_time(&vector, longest)), data, Duration::ZERO)
    }

    /// Time behind a PPDU of a TXOP for its answer and for all exchanges in the same format that will follow while
    /// `left` remains (9.2.5.2, multiple protection).
    pub fn rest<P: Packet + Copy>(&self, queue: &TrafficQueue<P>, planned: &Planned<P>, left: Duration) -> Duration {
        let mut time = self.answer_span(queue, planned.grade, planned.answer);
        let mut passed = 0;
        loop {
            let (next, mpdus) = self.next_exchange(queue, planned.grade, left.saturating_sub(time), passed);
            if next.is_zero() {
                return time;
            }
            time += next;
            passed += mpdus;
        }
    }

    /// Time of the SIFS and the exchange that will follow in the same TXOP and format behind `passed` MPDUs, while
    /// `left` remains, and number of its MPDUs; zero if none will.
    /// Each exchange reserves the medium for the next one (9.2.5.2), so that nobody comes between who hears one end
    /// only.
    fn next_exchange<P: Packet + Copy>(
        &self,
        queue: &TrafficQueue<P>,
        grade: usize,
        left: Duration,
        passed: usize,
    ) -> (Duration, usize) {
        let count = queue.waiting.len().saturating_sub(passed) as u64;
        if !queue.is_shared() {
            return (Duration::ZERO, 0);
        }
        let Some((packet, _)) = queue.waiting.get(passed).filter(|_| queue.originator.has_space() || !queue.is_agreed)
        else {
            return (Duration::ZERO, 0);
        };
        let (sifs, single) = (self.config.phy.sifs, (queue.overhead + packet.len()).as_u64());
        let Grade { vector, psdu_max, .. } = self.formats.grade(grade);
        let subframe = end_of_padding(single) + DELIMITER;
        let (answer, psdu) = if queue.is_agreed && count > 1 {
            let span = left.saturating_sub(sifs + self.answer_span(queue, grade, Answer::BlockAck)).min(PPDU_TIME_MAX);
            let longest = self.config.longest_psdu(vector, span).min(*psdu_max);
            (Answer::BlockAck, longest.min(count * subframe))
        } else {
            (Answer::Ack, single)
        };
        let time = sifs + self.config.data_time(vector, Bytes::new(psdu)) + self.answer_span(queue, grade, answer);
        let fits = psdu >= single && time <= left;
        if fits { (time, (psdu / subframe).max(1) as usize) } else { (Duration::ZERO, 0) }
    }

    /// The MPDUs of the next PPDU, and the length of the PSDU.
    fn gather<P: Packet + Copy>(
        &self,
        queue: &mut TrafficQueue<P>,
        pick: Pick,
        frames: u32,
        bytes: u64,
    ) -> Option<(DataMpdus<P>, u64)> {
        let Grade { vector, amsdu_max, .. } = self.formats.grade(pick.grade);
        let expected = (queue.originator.len() + queue.waiting.len()).min(frames as usize);
        let mut data = DataMpdus::with_capacity(expected);
        let mut end = 0;
        let mut add = |data: &mut DataMpdus<P>, sequence, attempts: u16, size: u32, packet, more: &[P]| {
            // Each subframe but the last is padded to a multiple of 4 byte (9.7.1).
            let offset = end_of_padding(end) + DELIMITER;
            let next = offset + u64::from(size);
            let fits = data.mpdus().is_empty() || next <= bytes;
            if fits {
                data.push(sequence, attempts + 1, offset as u32, size, packet, more);
                end = next;
            }
            fits
        };
        let mut is_full = frames == 0;
        if queue.originator.has_waiting_on(self.link.id) {
            for (sequence, slot) in queue.originator.iter() {
                if is_full || data.mpdus().len() >= frames as usize {
                    is_full = true;
                    break;
                }
                if slot.state == MpduState::Waiting && slot.link.is_none_or(|link| link == self.link.id) {
                    let more = slot.more.as_deref().unwrap_or(&[]);
                    is_full = !add(&mut data, sequence, slot.attempts, slot.size, slot.packet, more);
                }
            }
        }
        data.mpdus().iter().for_each(|mpdu| queue.originator.take(mpdu.sequence));
        let frames = frames.min(queue.most_new(pick, data.mpdus().first()));
        while !is_full && queue.is_shared() && data.mpdus().len() < frames as usize && queue.originator.has_space() {
            let Some(&(packet, arrival)) = queue.waiting.front() else { break };
            let (size, count) = self.next_mpdu(queue, *amsdu_max);
            let more = queue.joined_to_first(count);
            is_full = !add(&mut data, queue.originator.next(), 0, size, packet, more.as_deref().unwrap_or(&[]));
            if !is_full {
                queue.waiting.drain(..count);
                queue.originator.push(packet, more, size, arrival);
            }
        }
        let last = data.mpdus().last()?;
        let mut psdu = u64::from(last.offset + last.size);
        if data.mpdus().len() == 1 && !has_single_aggregates(vector) {
            data.make_bare();
            psdu -= DELIMITER;
        }
        Some((data, psdu))
    }

    /// Length of the next new MPDU, and number of packets in it: more than one in an A-MSDU (9.3.2.2).
    #[inline]
    fn next_mpdu<P: Packet>(&self, queue: &TrafficQueue<P>, amsdu_max: Option<u64>) -> (u32, usize) {
        let first = queue.waiting.front().map_or(Bytes::ZERO, |(packet, _)| packet.len());
        let single = (queue.overhead + first).as_u64() as u32;
        let Some(limit) = amsdu_max else { return (single, 1) };
        let subframe = |packet: &P| AMSDU_HEADER + self.config.llc_header.as_u64() + packet.len().as_u64();
        let (mut end, mut count) = (0, 0);
        for (packet, _) in &queue.waiting {
            // Each subframe but the last is padded to a multiple of 4 byte.
            let next = end_of_padding(end) + subframe(packet);
            if next > limit {
                break;
            }
            (end, count) = (next, count + 1);
        }
        if count > 1 { ((self.config.data_header.as_u64() + end) as u32, count) } else { (single, 1) }
    }

    /// A block acknowledgement request.
    fn request<P: Packet + Copy>(
        &self,
        id: QueueId,
        queue: &TrafficQueue<P>,
        span: Option<Duration>,
    ) -> Option<Planned<P>> {
        let to = self.link.address(queue.to);
        // It and its answer go at the rate of the answers to data in the lowest format: rate control does not hear of
        // them, and at a rate that is too high they would be sent for ever. mac80211 does the same.
        let grade = self.formats.lowest(to);
        let rate = self.config.answer_rate(&self.formats.grade(grade).vector);
        let airtime = self.config.answer_time(rate, REQUEST_SIZE);
        let answer = Answer::BlockAck;
        if span.is_some_and(|span| airtime + self.answer_span(queue, grade, answer) > span) {
            return None;
        }
        let nav = duration_field(self.answer_span(queue, grade, answer));
        let header = Frame { nav, ..self.frame(FrameKind::BlockAckRequest, to, REQUEST_SIZE, rate) };
        let content = Content::BlockAckRequest { start: queue.originator.start() };
        let ppdu = Ppdu { header, vector: Vector::NonHt(rate), tid: queue.tid, content };
        Some(Planned { queue: id, grade, ppdu: Arc::new(ppdu), airtime, answer })
    }
}

/// Whether even a single MPDU has the form of an A-MPDU: from VHT on (9.7.1, S-MPDU).
fn has_single_aggregates(vector: &Vector) -> bool {
    matches!(vector, Vector::Mode(mode) if mode.choice().format != Format::Ht)
}

/// The frame that MPDUs ask for.
fn answer_to<P: Copy>(data: &DataMpdus<P>) -> Answer {
    if data.mpdus().len() > 1 { Answer::BlockAck } else { Answer::Ack }
}

/// A PPDU with these MPDUs is not sent.
pub(super) fn put_back<P: Packet + Copy>(queue: &mut TrafficQueue<P>, data: &DataMpdus<P>) {
    data.mpdus().iter().for_each(|mpdu| queue.originator.put_back(mpdu.sequence));
}

/// The end of a subframe with its padding.
const fn end_of_padding(end: u64) -> u64 {
    end.div_ceil(4) * 4
}
