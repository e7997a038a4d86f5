//! Stop-and-wait with the acknowledgement piggybacked on the other direction's data (sections 3.2 and 6.2 of the
//! paper).
//!
//! One segment at a time is on its way in each direction. The master, and it alone, repeats: it polls, and the slave
//! answers what came. It decides size and code for both directions, from what it sees of the answers and what these
//! report of its polls.

use super::config::Config;
use super::fate::Fate;
use super::header::{Header, Report, Segment};
use super::outgoing::{BY_URGENCY, Outgoing};
use super::policy::{AnyPolicy, Observation, Policy, Task};
use super::reassembly::Reassembly;
use super::refusal::Refusal;
use super::service::{Frame, Input, Output, Payload, Reception};
use super::shape::{Shape, coded_len};
use super::stats::Stats;
use crate::machine::{Machine, Wake};
use crate::packet::{Share, TrafficClass};
use airbraid_units::Instant;
use std::collections::VecDeque;

/// One end of a link: of the master towards one slave, or of a slave.
#[derive(Debug)]
pub struct StopAndWait<P> {
    /// By class, as everything in pairs but the policies.
    outgoing: [Outgoing<P>; 2],
    incoming: [Reassembly; 2],
    /// None in a slave.
    master: Option<Box<Master>>,
    stats: Stats,
    outputs: VecDeque<Output<Header, P>>,
}

/// Additional state of a master.
#[derive(Debug)]
struct Master {
    /// The policy for its own segments; for both directions if `up` is `None`.
    down: AnyPolicy,
    /// The policy for the slave's segments.
    up: Option<AnyPolicy>,
    /// The poll without an answer so far.
    poll: Option<Poll>,
    /// Whether the slave's last answer had data.
    has_data_up: bool,
    /// Its estimate of the slave's next data, from the answers.
    ahead: Ahead,
}

/// An estimate of the slave's next data, which are not announced; the next packet is taken to be as long as the longest
/// recent one.
#[derive(Clone, Copy, Debug, Default)]
struct Ahead {
    /// Length of the longest recent packet \[byte\]: an eighth shorter with each packet, or as long as that.
    longest: u16,
    /// The last segment was not the end of its packet.
    is_cut: bool,
}

impl Ahead {
    fn observe(&mut self, segment: &Segment) {
        self.is_cut = !segment.is_last;
        if segment.is_last {
            self.longest = (self.longest - self.longest / 8).max(segment.end() as u16);
        }
    }
    /// `None`: more than fits.
    fn left(self) -> Option<u16> {
        (!self.is_cut).then_some(self.longest)
    }
}

#[derive(Clone, Copy, Debug)]
struct Poll {
    segment: Option<Segment>,
    invite: Option<Shape>,
}

impl<P: Share> StopAndWait<P> {
    /// The end that polls.
    ///
    /// # Errors
    /// [`Refusal`] if the configuration cannot be.
    pub fn master(config: &Config) -> Result<Self, Refusal> {
        let policy = || config.adaptation.build(config.cost);
        let up = (!config.adaptation.is_joint()).then(policy);
        let master = Master { down: policy(), up, poll: None, has_data_up: false, ahead: Ahead::default() };
        Self::new(config, Some(Box::new(master)))
    }

    /// The end that answers; of the configuration it uses the queues and the persistence.
    ///
    /// # Errors
    /// [`Refusal`] if the configuration cannot be.
    pub fn slave(config: &Config) -> Result<Self, Refusal> {
        Self::new(config, None)
    }

    fn new(config: &Config, master: Option<Box<Master>>) -> Result<Self, Refusal> {
        config.check()?;
        Ok(Self {
            outgoing: [TrafficClass::Bulk, TrafficClass::RealTime].map(|class| Outgoing::new(class, config)),
            incoming: [Reassembly::default(); 2],
            master,
            stats: Stats::default(),
            outputs: VecDeque::with_capacity(4),
        })
    }

    pub fn stats(&self) -> &Stats {
        &self.stats
    }
    /// Packets that wait, of one class.
    pub fn queue_len(&self, class: TrafficClass) -> usize {
        self.outgoing[class as usize].queue_len()
    }
    /// The master's decision for the next segment to the slave.
    pub fn shape(&self) -> Option<Shape> {
        self.master.as_ref().map(|master| master.down.shape())
    }

    /// The most urgent segment, if there is one to send.
    fn next_segment(&mut self, shape: Shape) -> Option<(Segment, P)> {
        let next = BY_URGENCY.iter().find_map(|&class| {
            let outgoing = &mut self.outgoing[class as usize];
            outgoing.transmit(shape, &mut self.stats)
        });
        if let Some((segment, _)) = &next {
            self.stats.segments += 1;
            self.stats.data_bytes += u64::from(segment.count);
            self.stats.coded_bytes += u64::from(segment.coded_len());
        }
        next
    }

    fn transmit(&mut self, shape: Option<Shape>, report: Report, invite: Option<Shape>) -> Option<Segment> {
        let (segment, packet) = shape.and_then(|shape| self.next_segment(shape)).unzip();
        let acks = self.incoming.map(|class| class.ack());
        let header = Header { segment, acks, report, invite };
        self.outputs.push_back(Output::Transmit(Frame { header, packet }));
        segment
    }

    fn on_poll(&mut self, invite: bool) {
        let Some(master) = &self.master else { return };
        let left = BY_URGENCY.iter().find_map(|&class| self.outgoing[class as usize].left());
        let down = master.down.shape_for(Task { left, ..Task::default() });
        let invite = invite.then(|| master.invite(down, left));
        let segment = self.transmit(Some(down), Report::None, invite);
        if let Some(master) = &mut self.master {
            master.poll = Some(Poll { segment, invite });
        }
    }

    /// Nothing sent is on the air any more: it has arrived, or will not.
    fn settle(&mut self) {
        self.outgoing.iter_mut().for_each(Outgoing::settle);
    }

    fn on_received(&mut self, now: Instant, reception: Reception<Header, P>) {
        self.settle();
        let Reception { header, payload } = reception;
        if let Some(header) = &header {
            for (outgoing, ack) in self.outgoing.iter_mut().zip(header.acks) {
                outgoing.acknowledge(ack, &mut self.stats, &mut self.outputs);
            }
        }
        // What is acknowledged has come in time; what is not is looked at before it is sent again.
        self.handle_timeout(now);
        let report = payload.report();
        self.stats.count(report);
        match (header.as_ref().and_then(|header| header.segment), payload) {
            (Some(segment), Payload::Intact { packet, .. }) => {
                let incoming = &mut self.incoming[segment.class as usize];
                incoming.receive(segment, packet, &mut self.stats, &mut self.outputs);
            }
            // Nobody can tell what it is.
            (None, Payload::Intact { packet, .. }) => self.outputs.push_back(Output::Release(packet)),
            _ => {}
        }
        match &mut self.master {
            Some(master) => master.on_answer(header.as_ref(), report),
            None => {
                let invite = header.and_then(|header| header.invite);
                self.transmit(invite, report, None);
            }
        }
    }

    fn on_no_answer(&mut self) {
        self.settle();
        if let Some(master) = &mut self.master {
            self.stats.lost += u64::from(master.poll.is_some());
            master.on_no_answer();
        }
    }
}

impl Master {
    /// The shape for the slave: its answer is lost if the poll is not acknowledged, and the poll is if the answer does
    /// not arrive.
    fn invite(&self, down: Shape, left: Option<u16>) -> Shape {
        let Some(up) = &self.up else { return down };
        let rides = left.map_or(0, |left| left.min(down.capacity()));
        let beside = if rides > 0 { coded_len(rides, down.parity()) as u16 } else { 0 };
        up.shape_for(Task { left: self.ahead.left(), rides, beside })
    }

    fn on_answer(&mut self, header: Option<&Header>, report: Report) {
        let Some(poll) = self.poll.take() else { return };
        let down = header
            .zip(poll.segment)
            .and_then(|(header, segment)| header.report.fate().map(|fate| Observation::of(&segment, fate)));
        let segment = header.and_then(|header| header.segment);
        // Where the header is gone the length is not known: at most what was allowed.
        let up = report.fate().and_then(|fate| match (segment, poll.invite) {
            (Some(segment), _) => Some(Observation::of(&segment, fate)),
            (None, invite) => invite.map(|shape| Observation::within(shape, fate)),
        });
        if header.is_some() {
            self.has_data_up = segment.is_some();
            segment.iter().for_each(|segment| self.ahead.observe(segment));
        }
        self.observe(down, up);
    }

    fn on_no_answer(&mut self) {
        let Some(poll) = self.poll.take() else { return };
        let down = poll.segment.map(|segment| Observation::of(&segment, Fate::Lost));
        let invite = poll.invite.filter(|_| self.has_data_up);
        let up = invite.map(|shape| Observation::within(shape, Fate::Lost));
        self.observe(down, up);
    }

    /// A policy for both directions sees one observation a transaction, the worse of the two.
    fn observe(&mut self, down: Option<Observation>, up: Option<Observation>) {
        match &mut self.up {
            Some(policy) => {
                down.into_iter().for_each(|observation| self.down.observe(observation));
                up.into_iter().for_each(|observation| policy.observe(observation));
            }
            None => {
                let worse = down.into_iter().chain(up).max_by_key(|observation| severity(observation.fate));
                worse.into_iter().for_each(|observation| self.down.observe(observation));
            }
        }
    }

    fn on_foretold(&mut self, down: Fate, up: Fate) {
        self.down.foretell(down);
        if let Some(policy) = &mut self.up {
            policy.foretell(up);
        }
    }
}

/// The order of two fates in one transaction: truncation, the shorter the worse, before a failed decoding.
fn severity(fate: Fate) -> u32 {
    match fate {
        Fate::Lost => 0,
        Fate::Delivered { worst } => 1 + u32::from(worst),
        Fate::Undecodable => 1_000,
        Fate::Truncated { at } => 100_000 - u32::from(at),
    }
}

impl<P: Share> Machine for StopAndWait<P> {
    type Input = Input<P>;
    type Output = Output<Header, P>;

    fn handle_input(&mut self, now: Instant, input: Input<P>) {
        match input {
            Input::Packet(packet) => {
                let class = packet.class() as usize;
                self.handle_timeout(now);
                self.outgoing[class].push(now, packet, &mut self.stats, &mut self.outputs);
            }
            Input::Poll { invite } => {
                self.settle();
                self.handle_timeout(now);
                self.on_poll(invite);
            }
            Input::Received(reception) => self.on_received(now, reception),
            Input::Timeout => {
                self.on_no_answer();
                self.handle_timeout(now);
            }
            Input::Foretold { down, up } => {
                if let Some(master) = &mut self.master {
                    master.on_foretold(down, up);
                }
            }
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        for outgoing in &mut self.outgoing {
            outgoing.give_up(now, &mut self.stats, &mut self.outputs);
        }
    }

    fn poll_output(&mut self) -> Option<Output<Header, P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        let at = self.outgoing.iter().filter_map(Outgoing::wake).min()?;
        Some(Wake { at, why: "link.expiry" })
    }
}
