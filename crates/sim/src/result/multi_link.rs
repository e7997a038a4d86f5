//! Results of trunks of multi-link devices.

use crate::metric::Flat;
use airbraid_units::{Bytes, Duration, metrics};
use serde::Serialize;

metrics! {
    /// Counters of the MPDUs that one end of a trunk sends to the other on one link, or on all.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MultiLinkCounts {
        /// MPDUs with data sent, retries included.
        pub mpdus: u64 = sum,
        /// Those of them that had been sent before, on whichever link.
        pub retries: u64 = sum,
        /// Bytes of the MPDUs with data sent.
        pub sent: Bytes = sum "sent_bytes",
        /// Block acknowledgement requests sent.
        pub block_ack_requests: u64 = sum,
        /// Times that a link stood still: packets waited for the full window of the device, and the link had nothing to
        /// send.
        pub window_stalls: u64 = sum,
        /// Time in which a link stood still so; that of several links is added.
        pub stalled: Duration = sum "stalled_s",
    }
}

impl MultiLinkCounts {
    /// The sums of these.
    pub fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        all.fold(Self::default(), |a, b| Self {
            mpdus: a.mpdus + b.mpdus,
            retries: a.retries + b.retries,
            sent: a.sent + b.sent,
            block_ack_requests: a.block_ack_requests + b.block_ack_requests,
            window_stalls: a.window_stalls + b.window_stalls,
            stalled: a.stalled + b.stalled,
        })
    }
}

metrics! {
    /// One direction of a trunk of multi-link devices.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct MultiLinkTrunkResult {
        /// Its name.
        pub name: String,
        /// The sending end.
        pub from: String,
        /// The receiving end.
        pub to: String,
        /// Counts of all links together.
        #[serde(flatten)]
        pub counts: Flat<MultiLinkCounts> = part,
        /// Share of the MPDUs sent that had been sent before.
        pub retried: f64 = gauge,
        /// MPDUs handed up by the receiving end, in order.
        pub delivered: u64 = sum,
        /// Most MPDUs that waited at the receiving end for those before them.
        pub held_most: u32 = gauge,
        /// Mean time that a delivered MPDU waited for its turn.
        pub resequencing_delay_mean_s: f64 = gauge,
        /// Its links, in the order of the trunk's members.
        pub members: Vec<MultiLinkMemberResult>,
    }
}

metrics! {
    /// One link of a direction of a trunk of multi-link devices.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct MultiLinkMemberResult {
        /// The sending radio, by its name within the node.
        pub link: String,
        /// Share of the bytes that the end has sent on all its links.
        pub share: f64 = gauge,
        /// Counts of the link.
        #[serde(flatten)]
        pub counts: Flat<MultiLinkCounts> = part,
        /// Share of the MPDUs sent that had been sent before.
        pub retried: f64 = gauge,
        /// Share of the time in which the end transmitted to the other on this link; answers are of the other end.
        pub airtime: f64 = gauge,
    }
}
