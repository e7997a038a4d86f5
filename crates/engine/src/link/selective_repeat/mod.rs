//! Selective repeat with a window, for links with a long round trip.
//!
//! Each transmission has a number of its own, and what the other side tells is which numbers have come: so a
//! retransmission may be cut to another size, and it is never in doubt which of two transmissions was acknowledged (as
//! in QUIC, RFC 9002). A frame is lost when a later one has come, or nothing was heard for `timeout`.

mod receiver;
mod sender;

use super::config::{Config, WindowConfig};
use super::fate::Fate;
use super::header::{Received, Report, Segment, WindowHeader};
use super::outgoing::BY_URGENCY;
use super::policy::{AnyPolicy, Observation, Policy};
use super::refusal::Refusal;
use super::service::{Frame, Output, Payload, Reception, WindowInput};
use super::shape::Shape;
use super::stats::Stats;
use crate::machine::{Machine, Wake};
use crate::packet::{Share, TrafficClass};
use airbraid_units::{Instant, SeqNum};
use receiver::ClassReceiver;
use sender::{ClassSender, Run};
use std::collections::VecDeque;

/// Received frames with a segment after which an acknowledgement goes at once, without waiting for data to go with it.
const ACK_EVERY: u32 = 2;

/// A frame with a segment whose fate is unknown.
#[derive(Clone, Copy, Debug)]
struct OnAir {
    number: SeqNum,
    segment: Segment,
    run: Run,
    sent: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// The oldest frame on the air counts as lost.
    Timeout,
    /// The other side still waits for packets that were given up: it is told again.
    Floor,
    /// Received frames are acknowledged.
    Ack,
    Expiry,
}

/// One end of a link.
#[derive(Debug)]
pub struct SelectiveRepeat<P> {
    config: WindowConfig,
    policy: AnyPolicy,
    /// By class, as everything in pairs.
    senders: [ClassSender<P>; 2],
    receivers: [ClassReceiver<P>; 2],
    /// In the order in which they were sent.
    on_air: VecDeque<OnAir>,
    /// Number of the last frame with a segment.
    number: SeqNum,
    /// The time at which the other side was last told the floors by a frame without a segment.
    told: Option<Instant>,
    received: Received,
    report: (SeqNum, Report),
    /// Frames that arrived and are not acknowledged, and the time by which they must be.
    unacknowledged: u32,
    ack_due: Option<Instant>,
    stats: Stats,
    outputs: VecDeque<Output<WindowHeader, P>>,
}

impl<P: Share> SelectiveRepeat<P> {
    /// # Errors
    /// [`Refusal`] if the configuration cannot be.
    pub fn new(config: &Config, window: WindowConfig) -> Result<Self, Refusal> {
        config.check()?;
        window.check()?;
        let classes = [TrafficClass::Bulk, TrafficClass::RealTime];
        Ok(Self {
            config: window,
            policy: config.adaptation.build(config.cost),
            senders: classes.map(|class| ClassSender::new(class, config)),
            receivers: classes.map(ClassReceiver::new),
            on_air: VecDeque::new(),
            number: SeqNum(0),
            told: None,
            received: Received::default(),
            report: (SeqNum(0), Report::None),
            unacknowledged: 0,
            ack_due: None,
            stats: Stats::default(),
            outputs: VecDeque::with_capacity(8),
        })
    }

    pub fn stats(&self) -> &Stats {
        &self.stats
    }
    /// Packets that wait, of one class.
    pub fn queue_len(&self, class: TrafficClass) -> usize {
        self.senders[class as usize].queue_len()
    }
    /// Packets of one class that are complete here and wait for those before them.
    pub fn held_len(&self, class: TrafficClass) -> usize {
        self.receivers[class as usize].held_len()
    }
    /// The policy's decision for the next segment.
    pub fn shape(&self) -> Shape {
        self.policy.shape()
    }

    fn header(&self, segment: Option<Segment>) -> WindowHeader {
        WindowHeader {
            number: self.number,
            segment,
            asks: false,
            floors: [self.senders[0].floor(), self.senders[1].floor()],
            nexts: [self.receivers[0].next(), self.receivers[1].next()],
            received: self.received,
            report: self.report,
        }
    }

    fn send(&mut self, header: WindowHeader, packet: Option<P>) {
        (self.unacknowledged, self.ack_due) = (0, None);
        self.outputs.push_back(Output::Transmit(Frame { header, packet }));
    }

    fn transmit(&mut self, now: Instant) {
        while self.on_air.len() < self.config.window as usize {
            let shape = self.policy.shape();
            let next = BY_URGENCY.iter().find_map(|&class| {
                let sender = &mut self.senders[class as usize];
                sender.transmit(shape, &mut self.stats)
            });
            let Some((segment, run, packet)) = next else { break };
            self.number = self.number.next();
            self.on_air.push_back(OnAir { number: self.number, segment, run, sent: now });
            self.stats.segments += 1;
            self.stats.data_bytes += u64::from(segment.count);
            self.stats.coded_bytes += u64::from(segment.coded_len());
            self.send(self.header(Some(segment)), Some(packet));
        }
    }

    /// Takes in the other side's report on the frames on the air.
    fn on_news(&mut self, header: &WindowHeader) {
        for (sender, &next) in self.senders.iter_mut().zip(&header.nexts) {
            sender.on_next(next, &mut self.stats, &mut self.outputs);
        }
        // It cannot have received what was never sent.
        if header.received.newest.is_after(self.number) {
            return;
        }
        let limit = SeqNum(header.received.newest.0.wrapping_sub(self.config.reordering));
        for _ in 0..self.on_air.len() {
            let Some(frame) = self.on_air.pop_front() else { break };
            let report = if header.report.0 == frame.number { header.report.1 } else { Report::None };
            let fate = match report {
                _ if header.received.has(frame.number) => {
                    Some(Fate::Delivered { worst: if let Report::Intact { worst } = report { worst } else { 0 } })
                }
                Report::Truncated { at } => Some(Fate::Truncated { at }),
                Report::Undecodable => Some(Fate::Undecodable),
                _ => (!frame.number.is_after(limit)).then_some(Fate::Lost),
            };
            match fate {
                Some(fate) => self.on_fate(frame, fate),
                None => self.on_air.push_back(frame),
            }
        }
    }

    fn on_fate(&mut self, frame: OnAir, fate: Fate) {
        let segment = frame.segment;
        let sender = &mut self.senders[segment.class as usize];
        match fate {
            Fate::Delivered { .. } => sender.on_come(segment.seq, &mut self.stats, &mut self.outputs),
            _ => sender.on_lost(segment.seq, frame.run),
        }
        self.stats.lost += u64::from(fate == Fate::Lost);
        self.policy.observe(Observation::of(&segment, fate));
    }

    fn on_received(&mut self, now: Instant, reception: Reception<WindowHeader, P>) {
        let Reception { header, payload } = reception;
        let report = payload.report();
        self.stats.count(report);
        let Some(header) = header else {
            // Nobody can tell what it is.
            if let Payload::Intact { packet, .. } = payload {
                self.outputs.push_back(Output::Release(packet));
            }
            return;
        };
        self.on_news(&header);
        if let Payload::Intact { packet, .. } = payload {
            match header.segment {
                Some(segment) => {
                    self.received.note(header.number);
                    let receiver = &mut self.receivers[segment.class as usize];
                    receiver.receive(segment, packet, &mut self.stats, &mut self.outputs);
                }
                None => self.outputs.push_back(Output::Release(packet)),
            }
        }
        for (receiver, floor) in self.receivers.iter_mut().zip(header.floors) {
            receiver.skip(floor, &mut self.stats, &mut self.outputs);
        }
        if header.segment.is_some() {
            self.owe_ack(now, header.number, report);
        } else if header.asks {
            self.ack_due = Some(now);
        }
    }

    /// Damage is reported at once: the other side learns from it, and retransmits.
    fn owe_ack(&mut self, now: Instant, number: SeqNum, report: Report) {
        self.unacknowledged += 1;
        let is_urgent = !matches!(report, Report::None | Report::Intact { worst: 0 });
        if is_urgent {
            self.report = (number, report);
        }
        let due =
            if is_urgent || self.unacknowledged >= ACK_EVERY { now } else { now.saturating_add(self.config.ack_delay) };
        self.ack_due = Some(self.ack_due.map_or(due, |before| before.min(due)));
    }

    /// Whether the other side waits for packets that were given up, and nothing on the air will tell it.
    fn must_tell(&self) -> bool {
        self.on_air.is_empty() && self.senders.iter().any(ClassSender::is_behind)
    }

    fn wakes(&self) -> [Option<(Instant, Timer)>; 4] {
        let timeout = self.on_air.front().map(|oldest| oldest.sent.saturating_add(self.config.timeout));
        let told = self.told.filter(|_| self.must_tell()).map(|told| told.saturating_add(self.config.timeout));
        let expiry = self.senders.iter().filter_map(ClassSender::wake).min();
        [
            timeout.map(|at| (at, Timer::Timeout)),
            told.map(|at| (at, Timer::Floor)),
            self.ack_due.map(|at| (at, Timer::Ack)),
            expiry.map(|at| (at, Timer::Expiry)),
        ]
    }
}

impl<P: Share> Machine for SelectiveRepeat<P> {
    type Input = WindowInput<P>;
    type Output = Output<WindowHeader, P>;

    fn handle_input(&mut self, now: Instant, input: WindowInput<P>) {
        match input {
            WindowInput::Packet(packet) => {
                let sender = &mut self.senders[packet.class() as usize];
                // Who has expired makes room.
                sender.give_up(now, &mut self.stats, &mut self.outputs);
                sender.push(now, packet, &mut self.stats, &mut self.outputs);
            }
            WindowInput::Received(reception) => self.on_received(now, reception),
        }
        self.handle_timeout(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        while let Some(oldest) =
            self.on_air.pop_front_if(|oldest| oldest.sent.saturating_add(self.config.timeout) <= now)
        {
            self.on_fate(oldest, Fate::Lost);
        }
        for sender in &mut self.senders {
            sender.give_up(now, &mut self.stats, &mut self.outputs);
        }
        self.transmit(now);
        if !self.must_tell() {
            self.told = None;
        } else if self.told.is_none_or(|told| told.saturating_add(self.config.timeout) <= now) {
            self.told = Some(now);
            self.send(WindowHeader { asks: true, ..self.header(None) }, None);
        }
        if self.ack_due.is_some_and(|at| at <= now) {
            self.send(self.header(None), None);
        }
    }

    fn poll_output(&mut self) -> Option<Output<WindowHeader, P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        let (at, timer) = self.wakes().into_iter().flatten().min()?;
        let why = match timer {
            Timer::Timeout => "link.timeout",
            Timer::Floor => "link.floor",
            Timer::Ack => "link.ack",
            Timer::Expiry => "link.expiry",
        };
        Some(Wake { at, why })
    }
}
