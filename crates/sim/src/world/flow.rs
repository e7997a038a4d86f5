//! A flow: its application, its transport at both ends, and what is counted of it.

use super::id::{HostAddress, NodeId, PortId};
use crate::record::delay::DelayStats;
use crate::record::series::Series;
use crate::result::{ArrivalCounts, FlowCounts, SegmentCounts};
use crate::scenario::spec;
use airbraid_engine::{Stream, TrafficClass};
use airbraid_net::refusal::Refusal;
use airbraid_net::source::Application;
use airbraid_net::tcp::{Receiver, Sender, SenderStats};
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::BTreeMap;

/// One transfer.
#[derive(Debug)]
pub struct Flow {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    /// The addresses that its packets bear: those of the nodes, or of virtual stations there.
    pub(super) addresses: [HostAddress; 2],
    /// The class of its packets, both ways.
    pub(super) class: TrafficClass,
    /// Their user priority.
    pub(super) priority: u8,
    /// Whether it sends datagrams as fast as its port takes them.
    pub(super) is_greedy: bool,
    /// The highest number that its receiver has acknowledged.
    pub(super) acknowledged: u64,
    pub(super) application: Application,
    pub(super) transport: Transport,
    pub(super) counts: Counts,
}

impl Flow {
    /// A flow of `spec` at its beginning; its datagrams leave by `port`, a Poisson process draws from `gaps`.
    pub(super) fn new(
        spec: &spec::Flow,
        interval: Duration,
        port: Option<PortId>,
        gaps: Stream,
    ) -> Result<Self, Refusal> {
        let (from, to) = (NodeId::new(spec.from), NodeId::new(spec.to));
        let (transport, chunk) = match spec.transport {
            spec::Transport::Tcp(config) => {
                let (sender, receiver) = (Sender::new(config)?, Receiver::new(config)?);
                let connection = Connection { sender, receiver, before: SenderStats::default() };
                (Transport::Tcp(Box::new(connection)), config.mss)
            }
            spec::Transport::Udp { payload, header } => {
                let (size, len) = (payload.as_u64() as u32, (payload + header).as_u64() as u32);
                (Transport::Udp { payload: size, len, number: 0, port, unsent: 0 }, payload)
            }
        };
        let application = Application::new(spec.source, chunk.max(Bytes::new(1)), gaps)?;
        let addresses = [from.address(), to.address()];
        let counts = Counts::new(spec.deadline, interval);
        let is_greedy = matches!(transport, Transport::Udp { .. }) && spec.source.rate().is_none();
        let (class, priority) = (spec.class, spec.priority);
        let acknowledged = 0;
        Ok(Self { from, to, addresses, class, priority, is_greedy, acknowledged, application, transport, counts })
    }
}

/// A transport's state at both ends.
#[derive(Debug)]
pub(super) enum Transport {
    /// One TCP connection.
    Tcp(Box<Connection>),
    /// UDP datagrams.
    Udp {
        /// Payload of a datagram \[byte\].
        payload: u32,
        /// Length of its IP packet \[byte\].
        len: u32,
        /// Number of the next datagram.
        number: u64,
        /// The port that its packets leave by.
        port: Option<PortId>,
        /// Bytes that the application has written and that no datagram carries yet; the largest number: without end.
        unsent: u64,
    },
}

/// A TCP connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub sender: Sender,
    pub receiver: Receiver,
    /// Sender statistics at the end of the warm-up.
    pub before: SenderStats,
}

/// Everything that is counted and measured of a flow.
#[derive(Debug)]
pub struct Counts {
    pub(super) packets: FlowCounts,
    pub(super) segments: SegmentCounts,
    pub(super) arrivals: ArrivalCounts,
    pub(super) delay: DelayStats,
    /// A packet that comes later is late.
    pub(super) deadline: Option<Duration>,
    pub(super) goodput: Series,
    /// Where in TCP's stream the last segment sent ends, and the samples of it.
    pub(super) sequence: u64,
    pub(super) sequences: Vec<f64>,
    /// When the last data packet was sent, and the longest time between two.
    pub(super) last_sent: Option<Instant>,
    pub(super) idle_longest: Duration,
    /// Of TCP: the end of what was sent, and how often each segment was sent again.
    pub(super) highest: u64,
    pub(super) repeats: BTreeMap<u64, u32>,
    /// Of TCP: the end of what has come.
    pub(super) arrived: u64,
    pub(super) started: Option<Instant>,
    pub(super) completed: Option<Instant>,
    /// When the application last got something.
    pub(super) fed: Option<Instant>,
    /// The highest number of a datagram that came.
    pub(super) highest_datagram: u64,
}

impl Counts {
    pub(super) fn new(deadline: Option<Duration>, interval: Duration) -> Self {
        Self {
            packets: FlowCounts::default(),
            segments: SegmentCounts::default(),
            arrivals: ArrivalCounts::default(),
            delay: DelayStats::new(),
            deadline,
            goodput: Series::new(interval),
            sequence: 0,
            sequences: Vec::new(),
            last_sent: None,
            idle_longest: Duration::ZERO,
            highest: 0,
            repeats: BTreeMap::new(),
            arrived: 0,
            started: None,
            completed: None,
            fed: None,
            highest_datagram: 0,
        }
    }

    /// The application gets something.
    pub(super) fn feed(&mut self, now: Instant) {
        let gap = self.fed.map_or(Duration::ZERO, |last| now.saturating_since(last));
        self.arrivals.gap_longest = self.arrivals.gap_longest.max(gap);
        self.fed = Some(now);
    }

    /// A datagram comes.
    pub(super) fn order(&mut self, number: u64) {
        if number < self.highest_datagram {
            let extent = self.highest_datagram - number;
            self.arrivals.reordered += 1;
            self.arrivals.reordering_extent = self.arrivals.reordering_extent.max(extent);
        }
        self.highest_datagram = self.highest_datagram.max(number);
    }
}

impl Counts {
    /// A data packet is sent.
    pub(super) fn on_sent(&mut self, now: Instant) {
        self.packets.sent_packets += 1;
        if let Some(before) = self.last_sent.replace(now) {
            self.idle_longest = self.idle_longest.max(now.saturating_since(before));
        }
    }

    /// A segment of TCP is sent; what was sent before is sent again.
    pub(super) fn on_segment(&mut self, seq: u64, len: u32) {
        let end = seq + u64::from(len);
        if len > 0 && end <= self.highest {
            let times = self.repeats.entry(seq).or_default();
            *times += 1;
            self.segments.retransmits_most = self.segments.retransmits_most.max(*times);
        }
        // Nothing before what has come in order is sent again.
        if self.repeats.len() > REPEATS_MAX {
            self.repeats.pop_first();
        }
        (self.sequence, self.highest) = (end, self.highest.max(end));
    }

    /// A segment of TCP has come.
    pub(super) fn on_arrival(&mut self, seq: u64, len: u32, is_new: bool) {
        self.segments.out_of_order += u64::from(len > 0 && is_new && seq < self.arrived);
        self.arrived = self.arrived.max(seq + u64::from(len));
    }
}

/// Number of retransmitted segments that are remembered: more than any window holds.
const REPEATS_MAX: usize = 4_096;
