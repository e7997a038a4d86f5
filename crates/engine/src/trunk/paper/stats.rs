//! Counters of the two sides of a trunk end, of any policy.

use airbraid_units::Duration;

/// Counters of the sending side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Packets given to members, without retransmissions.
    pub sent: u64,
    /// Packets given to each member, with retransmissions.
    pub sent_by_member: Vec<u64>,
    /// Packets refused by the full queue.
    pub queue_drops: u64,
    /// Largest length of the queue \[packets\].
    pub queue_max: usize,
    /// Markers sent: of surplus round robin, or of the method `fifo`, its probes among them.
    pub markers: u64,
    pub resends: u64,
    /// Times a member was given up because it lost frame after frame (method `fifo`).
    pub deaths: u64,
}

impl SenderStats {
    pub(super) fn new(members: usize) -> Self {
        Self { sent_by_member: vec![0; members], ..Self::default() }
    }
}

/// Counters of the receiving side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    pub delivered: u64,
    /// Packets that came after their place had been given up.
    pub late: u64,
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
    /// Numbers requested, with repeated requests (JKM).
    pub naks: u64,
    /// Total time that delivered packets have waited for their turn.
    pub waited: Duration,
    /// Time in which packets waited because the member whose turn it was had none, without the present such time
    /// (surplus round robin).
    pub blocked: Duration,
    /// The longest such time between two deliveries.
    pub blocked_longest: Duration,
}
