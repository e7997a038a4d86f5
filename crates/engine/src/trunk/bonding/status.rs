//! The state and the counts of a trunk over links: a plain snapshot, for `airbraid status`, results and tests.

use super::service::BondDropReason;
use crate::trunk::Member;
use airbraid_units::metric::Millionths;
use airbraid_units::{BitRate, Bytes, Duration, metrics, named_enum};

named_enum! {
    /// The state of a member.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum MemberState {
        /// It has not answered yet.
        #[default]
        Probing = "probing",
        /// It carries packets, or could.
        Active = "active",
        /// It has fallen silent with frames on the way: it gets probes only.
        Suspected = "suspected",
        /// It has carried its quota.
        Exhausted = "exhausted",
    }
}

metrics! {
    /// One member.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MemberStatus {
        /// Its number.
        pub member: Member,
        /// Its state.
        pub state: MemberState,
        /// Rate that the link carries, as measured. Before it has had to carry that much, the rate that a train of
        /// frames found, which may be less; zero before that.
        pub rate: BitRate = gauge "rate_bps",
        /// Shortest round trip, recently.
        pub rtt_min: Duration = gauge "rtt_min_s",
        /// Smoothed round trip.
        pub rtt: Duration = gauge "rtt_s",
        /// Delay of the link's own queue: the one-way delay above its shortest.
        pub queue_delay: Duration = gauge "queue_delay_s",
        /// Share of the frames sent that were lost recently.
        pub loss: Millionths = gauge,
        /// Frames on the way.
        pub in_flight: u32 = gauge "in_flight_frames",
        /// Packets sent, copies and retransmissions among them.
        pub sent: u64 = sum "sent_packets",
        /// Bytes of all frames sent, with their headers.
        pub sent_bytes: Bytes = sum,
        /// Bytes of the frames sent with packets that were sent for the first time.
        pub data_bytes: Bytes = sum,
        /// Bytes of the frames sent with retransmissions and copies.
        pub repeated_bytes: Bytes = sum,
        /// Bytes of the frames sent with repair symbols.
        pub repair_bytes: Bytes = sum,
        /// Bytes of the frames sent with feedback and probes.
        pub control_bytes: Bytes = sum,
        /// Bytes of all frames received, with their headers.
        pub received_bytes: Bytes = sum,
        /// Frames taken to be lost.
        pub lost: u64 = sum "lost_frames",
        /// Frames taken to be lost that had arrived.
        pub spurious: u64 = sum "spurious_losses",
        /// Times the member was suspected to be dead.
        pub suspicions: u64 = sum,
        /// Longest IP packet that the path carries, as probes found; none before they have, and where nothing is
        /// probed.
        pub path_mtu: Option<Bytes> = gauge "path_mtu_bytes",
        /// Black holes: lengths that the path had carried, and then swallowed.
        pub black_holes: u64 = sum,
    }
}

metrics! {
    /// Counts of both directions.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct BondCounts {
        /// Packets that the host gave.
        pub offered: u64 = sum,
        /// Packets that the far end has acknowledged.
        pub settled: u64 = sum,
        /// Packets sent again after a loss.
        pub retransmissions: u64 = sum,
        /// Packets sent on two members at once.
        pub duplicated: u64 = sum,
        /// Packets from the far end that repair symbols restored.
        pub restored: u64 = sum,
        /// Packets marked by the queue's management, for congestion.
        pub marked: u64 = sum,
        /// Packets given to the host.
        pub delivered: u64 = sum,
        /// Packets delivered out of order, behind a hole that had been given up.
        pub late: u64 = sum,
        /// Packets that had arrived before.
        pub duplicates: u64 = sum,
        /// Holes that were given up.
        pub holes: u64 = sum,
        /// Times that what packets are restored from was given up because it occupied too much.
        pub forgotten: u64 = sum,
        /// Frames that made no sense: of a member that does not exist, or beyond any number in use.
        pub strange: u64 = sum "strange_frames",
        /// Dropped packets by [`BondDropReason`].
        pub dropped: [u64; BondDropReason::COUNT],
    }
}

metrics! {
    /// One end of a trunk.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct BondStatus {
        /// Its members, by number.
        pub members: Vec<MemberStatus>,
        /// Packets that wait to be sent.
        pub queue_len: usize = gauge "queue_packets",
        /// Bytes of these packets.
        pub queue_bytes: Bytes = gauge,
        /// Packets sent and neither acknowledged nor given up.
        pub outstanding: usize = gauge "outstanding_packets",
        /// Entries in all its tables, bounded whatever arrives.
        pub kept: usize,
        /// Memory that all its tables occupy, as reckoned.
        pub occupied: Bytes,
        /// Packets that wait for those before them.
        pub held_len: usize = gauge "held_packets",
        /// Longest time that a packet is held for those before it, as measured.
        pub hold_time: Duration = gauge "hold_time_s",
        /// Its counts.
        pub counts: BondCounts = part,
    }
}
