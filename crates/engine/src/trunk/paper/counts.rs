//! Counters of a trunk, of any method.

use airbraid_units::{Duration, metrics};

metrics! {
    /// Counters of one direction of a trunk.
    ///
    /// The sending end counts some and the receiving end the others: the direction's are the sums of both.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PaperCounts {
        /// Packets given to members, without retransmissions.
        pub sent: u64,
        /// Packets given to each member, with retransmissions; empty at the receiving end.
        pub sent_by_member: Vec<u64>,
        /// Packets refused by the full queue.
        pub queue_drops: u64,
        /// Largest length of the queue \[packets\].
        pub queue_max: usize,
        /// Packets delivered by the resequencer.
        pub delivered: u64 = sum,
        /// Packets that came after their place had been given up.
        pub late: u64 = sum,
        /// Packets discarded as duplicates, those of an earlier life of the sender among them.
        pub duplicates: u64 = sum,
        /// Expiries of the reordering timer.
        pub timer_expiries: u64 = sum,
        /// Times the receiver began again behind a restarted sender.
        pub resyncs: u64 = sum,
        /// Holes given up without waiting, their packets known to be lost (resequencer `fifo`).
        pub known_lost: u64 = sum,
        /// Markers sent: of surplus round robin, or of the resequencer `fifo`, its probes among them.
        pub markers: u64 = sum,
        /// Acknowledgements sent by the receiving end (JKM).
        pub acks: u64 = sum,
        /// Numbers asked for again by the receiving end, retransmissions included (JKM).
        pub naks: u64 = sum,
        /// Packets sent again (JKM; `resends` of the resequencer `fifo`).
        pub resends: u64 = sum,
        /// Times a member was given up by the sending end (resequencer `fifo`).
        pub deaths: u64 = sum,
        /// Packets and markers that a full FIFO refused (surplus round robin).
        pub fifo_drops: u64 = sum,
        /// Total time that delivered packets have waited for their turn.
        pub waited: Duration,
        /// Time in which packets waited because the member whose turn it was had none, without the present such time
        /// (surplus round robin).
        pub blocked: Duration,
        /// The longest such time between two deliveries.
        pub blocked_longest: Duration,
    }
}

impl PaperCounts {
    pub(super) fn of_sender(members: usize) -> Self {
        Self { sent_by_member: vec![0; members], ..Self::default() }
    }
}
