//! A flow: its application, its transport at both ends, and what is counted of it.

use super::routing::NextHop;
use crate::record::delay::DelayStats;
use crate::record::series::Series;
use airbraid_engine::TrafficClass;
use airbraid_net::source::Application;
use airbraid_net::tcp::{Receiver, Sender, SenderStats};
use airbraid_units::{Duration, Instant};

/// One transfer.
#[derive(Debug)]
pub struct Flow {
    pub(super) from: u32,
    pub(super) to: u32,
    /// What its packets want of the links, both ways.
    pub(super) class: TrafficClass,
    pub(super) application: Application,
    pub(super) transport: Transport,
    pub(super) counts: Counts,
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
        /// The interface that its packets leave by.
        hop: Option<NextHop>,
        /// Bytes that the application has written and that no datagram carries yet; the largest number: without end.
        unsent: u64,
    },
}

/// A TCP connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub sender: Sender,
    pub receiver: Receiver,
    /// What the sender had counted when counting began.
    pub before: SenderStats,
}

/// What is counted of a flow, from the end of the warm-up on.
#[derive(Debug)]
pub struct Counts {
    pub(super) delivered_bytes: u64,
    pub(super) ip_bytes: u64,
    pub(super) sent_packets: u64,
    pub(super) received_packets: u64,
    pub(super) delay: DelayStats,
    /// A packet that comes later is late; and those that were not.
    pub(super) deadline: Option<Duration>,
    pub(super) on_time: u64,
    pub(super) goodput: Series,
    /// Where in TCP's stream the last segment sent ends, and the samples of it.
    pub(super) sequence: u64,
    pub(super) sequences: Vec<f64>,
    pub(super) started: Option<Instant>,
    pub(super) completed: Option<Instant>,
    /// When the application last got something, and the longest time between two such.
    pub(super) fed: Option<Instant>,
    pub(super) gap: Duration,
    /// The highest number of a datagram that came, and those that came after it.
    pub(super) highest: u64,
    pub(super) reordered: u64,
    pub(super) extent: u64,
}

impl Counts {
    /// The application gets something.
    pub(super) fn feed(&mut self, now: Instant) {
        let gap = self.fed.map_or(Duration::ZERO, |last| now.saturating_since(last));
        self.gap = self.gap.max(gap);
        self.fed = Some(now);
    }

    /// A datagram comes.
    pub(super) fn order(&mut self, number: u64) {
        if number < self.highest {
            self.reordered += 1;
            self.extent = self.extent.max(self.highest - number);
        }
        self.highest = self.highest.max(number);
    }
}
