//! The `policy` table of a trunk over radios.

use crate::trunk::LateMode;
use airbraid_units::Duration;

/// Distribution and resequencing of a trunk over radios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaperPolicy {
    /// The choice of a member for the next packet; surplus round robin and JKM restore the order in their own way.
    pub distributor: Distributor,
    /// The resequencing behind the other distributors.
    pub resequencer: Resequencer,
    /// Packets that the trunk's own queue holds while all members are occupied (Wang 2005: 50).
    pub queue_limit: u32,
    /// The moment at which a packet gets its number; round robin and earliest delivery with the adaptive resequencer.
    pub numbering: Numbering,
    /// Packets that a member holds at once, the one on the air included (Wang 2005: 1).
    pub member_limit: u32,
    /// The time in which a member delivers what it holds, which then limits it, too; round robin.
    pub member_time: Option<Duration>,
}

/// Chooses the member that takes the next packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distributor {
    /// The next free member in turn; the queue restarts at the member that became free (Wang 2005).
    #[default]
    RoundRobin,
    /// The member on which the packet is expected to arrive first, from backlog, rate and delay of each.
    EarliestDelivery,
    /// Surplus round robin with markers (Wang 2005, section 2.1).
    Srr(Srr),
    /// Selective-reject ARQ between the ends (Wang 2005, section 5, after Jacquet, Kauffmann and Misson).
    Jkm(Jkm),
}

impl Distributor {
    /// Default of the packets that a member holds at once.
    ///
    /// Wang 2005: 1. Earliest delivery works through the members' backlogs: the fastest must be able to hold what it
    /// carries while the slowest carries one, seven packets between 11 and 1 Mbit/s. Surplus round robin waits for the
    /// member whose turn it is: the others live on what they hold meanwhile (measured, `docs/measurements/trunk.md`).
    pub const fn member_limit(self) -> u32 {
        match self {
            Self::RoundRobin | Self::Jkm(_) => 1,
            Self::EarliestDelivery => 8,
            Self::Srr(_) => 32,
        }
    }
}

/// The moment at which a packet gets its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// When a member takes it: a packet that the full queue refuses leaves no gap.
    #[default]
    Dispatch,
    /// When it comes to the trunk: a packet that the full queue refuses leaves a gap, which the receiver cannot tell
    /// from a loss on a member.
    Arrival,
}

/// Surplus round robin (Wang 2005, section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Srr {
    /// Bytes of IP packets that a member may send in a round; at least the longest packet (Wang 2005: 3000).
    pub quantum: u32,
    /// The sending of markers.
    pub marker: Marking,
    /// Packets and markers that each member's FIFO at the receiver holds.
    pub fifo_limit: u32,
}

/// The sending of the markers of surplus round robin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marking {
    /// Without acknowledgement: cheap, and lost when it is lost.
    #[default]
    Broadcast,
    /// As data.
    Unicast,
}

/// Selective-reject ARQ (Wang 2005, section 5; the constants are ours, `docs/models/trunk.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jkm {
    /// Packets that may be sent and not acknowledged; the sender keeps each of them.
    pub window: u32,
    /// Least time between two requests of a hole.
    pub nak_interval: Duration,
    /// Time without an acknowledgement after which the oldest packet is retransmitted.
    pub sender_timeout: Duration,
    /// Frames to one acknowledgement, where none is missing; 1: each has its own (Wang 2005). An acknowledgement leaves
    /// after `nak_interval` at the latest.
    pub ack_every: u32,
}

/// The receiver's method to decide on the wait for a hole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// A timer that adapts to late packets (Wang 2005, section 3.3).
    #[default]
    Adaptive,
    /// Knowledge of each member's losses, because members keep order (`docs/decisions/0005-fifo-resequencer.md`).
    Fifo(Fifo),
}

/// The sender's part in the method [`Method::Fifo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fifo {
    /// Silence after which a member whose last frame has an unknown fate gets a marker, if others have gone on.
    pub silence: Duration,
    /// Losses in a row after which a member gets no more packets; 0: no limit.
    pub dead_after: u32,
    /// Interval of probes of a dead member, by markers.
    pub probe: Duration,
    /// Times that a packet which a member gave up, and gave back, goes by another; 0: it is lost.
    pub resends: u32,
}

/// The receiver's resequencer and its adaptive reordering timer (Wang 2005, section 3.3; the values that the paper
/// leaves open are argued for in `docs/models/trunk.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resequencer {
    /// The method that decides on the wait.
    pub method: Method,
    /// The treatment of late packets.
    pub mode: LateMode,
    /// The reordering timer at the start.
    pub initial: Duration,
    /// The timer is never shorter.
    pub minimum: Duration,
    /// The timer is never longer; with the method `fifo` no packet is held longer.
    pub maximum: Duration,
    /// Each late packet lengthens the timer by this.
    pub increment: Duration,
    /// Time after the last late packet after which the timer is halved.
    pub decay: Duration,
    /// Whether the halving repeats each `decay` without late packets down to the minimum, or happens once; `decay`
    /// must then be more than zero.
    pub repeat_halving: bool,
    /// Distance in numbers from which on a packet cannot be held: all held packets are delivered, and the order goes on
    /// from there. Clamped to 1 to 16,384, half of the memory of the duplicate filter.
    pub buffer_limit: u32,
}

impl Default for PaperPolicy {
    fn default() -> Self {
        Self {
            distributor: Distributor::default(),
            resequencer: Resequencer::default(),
            queue_limit: 50,
            numbering: Numbering::default(),
            member_limit: 1,
            member_time: None,
        }
    }
}

impl Default for Resequencer {
    fn default() -> Self {
        Self {
            method: Method::default(),
            mode: LateMode::default(),
            initial: Duration::from_millis(10),
            minimum: Duration::from_millis(1),
            maximum: Duration::from_secs(1),
            increment: Duration::from_millis(1),
            decay: Duration::from_secs(1),
            repeat_halving: false,
            buffer_limit: 2048,
        }
    }
}

impl Resequencer {
    /// The defaults of the method `fifo`. It holds no packet longer than 200 ms: more than the retries of a MAC take,
    /// and not more than the shortest retransmission timer that hosts have (Linux: 200 ms).
    pub fn fifo() -> Self {
        Self { method: Method::Fifo(Fifo::default()), maximum: Duration::from_millis(200), ..Self::default() }
    }
}

impl Default for Fifo {
    /// 10 ms: some frames' time, so that a busy member never gets a marker; three losses in a row on a link that loses
    /// one frame in ten at random happen once in a thousand; a probe every 100 ms costs a member of 802.11b one
    /// hundredth.
    fn default() -> Self {
        Self { silence: Duration::from_millis(10), dead_after: 3, probe: Duration::from_millis(100), resends: 0 }
    }
}

impl Default for Srr {
    fn default() -> Self {
        Self { quantum: 3_000, marker: Marking::default(), fifo_limit: 1_024 }
    }
}

impl Default for Jkm {
    fn default() -> Self {
        let (nak_interval, sender_timeout) = (Duration::from_millis(20), Duration::from_millis(200));
        Self { window: 256, nak_interval, sender_timeout, ack_every: 1 }
    }
}
