//! What the two sides of a trunk end count, whatever the policy.

use airbraid_units::Duration;

/// What the sending side counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Packets given to members, repetitions not among them.
    pub sent: u64,
    /// Packets given to each member, repetitions among them.
    pub sent_by_member: Vec<u64>,
    /// Packets refused by the full queue.
    pub queue_drops: u64,
    /// The longest that the queue has been \[packets\].
    pub queue_max: usize,
    /// Markers sent: of surplus round robin, or of the method `fifo`, its probes among them.
    pub markers: u64,
    /// Packets sent again (JKM).
    pub resends: u64,
    /// Times a member was given up because it lost frame after frame (method `fifo`).
    pub deaths: u64,
}

impl SenderStats {
    pub(super) fn new(members: usize) -> Self {
        Self { sent_by_member: vec![0; members], ..Self::default() }
    }
}

/// What the receiving side counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Packets delivered.
    pub delivered: u64,
    /// Packets that came after their place had been given up.
    pub late: u64,
    /// Packets that had come before.
    pub duplicates: u64,
    /// Packets of an earlier life of the sender, or too old to tell.
    pub stale: u64,
    /// Expiries of the reordering timer, or of the longest hold.
    pub timer_expiries: u64,
    /// New beginnings behind a sender that has restarted or leapt.
    pub resyncs: u64,
    /// Holes that were given up without waiting because their packets were known to be lost (method `fifo`).
    pub known_lost: u64,
    /// Packets and markers that a full FIFO refused (surplus round robin).
    pub fifo_drops: u64,
    /// Acknowledgements sent (JKM).
    pub acks: u64,
    /// Numbers asked for, repetitions among them (JKM).
    pub naks: u64,
    /// Time that delivered packets have waited for their turn, all together.
    pub waited: Duration,
    /// Time in which packets waited because the member whose turn it was had none, without the present such time
    /// (surplus round robin).
    pub blocked: Duration,
    /// The longest such time between two deliveries.
    pub blocked_longest: Duration,
}
