//! A tunnel's status: a plain snapshot, for `airbraid status`, metrics and tests.

use super::service::DropReason;
use crate::trunk::Member;
use airbraid_units::{BitRate, Bytes, Duration, named_enum};

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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberStatus {
    /// Which.
    pub member: Member,
    /// The state of the member.
    pub state: MemberState,
    /// The measured rate; before it has had to carry that much, the rate found by a train of frames, which may be less;
    /// zero before that.
    pub rate: BitRate,
    /// The shortest recent round trip.
    pub rtt_min: Duration,
    /// Smoothed round trip.
    pub rtt: Duration,
    /// Delay of its own queue: the one-way delay above its shortest.
    pub queue_delay: Duration,
    /// Share of its frames that were lost of late \[millionths\].
    pub loss_ppm: u32,
    /// Frames on the way.
    pub in_flight: u32,
    /// Packets sent, copies and retransmissions among them.
    pub sent: u64,
    /// Bytes of all frames sent, with what is around them.
    pub sent_bytes: Bytes,
    /// The same of frames with packets sent for the first time.
    pub data_bytes: Bytes,
    /// Bytes of retransmissions and copies among them.
    pub repeated_bytes: Bytes,
    /// The same of repair symbols.
    pub repair_bytes: Bytes,
    /// The same of feedback and probes.
    pub control_bytes: Bytes,
    /// Bytes of all frames received, with what is around them.
    pub received_bytes: Bytes,
    /// Frames held to be lost.
    pub lost: u64,
    /// Frames held to be lost that had come.
    pub spurious: u64,
    /// Times it was suspected.
    pub suspicions: u64,
    /// The longest IP packet that its path carries, as probes have found; none before they have, and where nothing is
    /// probed.
    pub path_mtu: Option<Bytes>,
    /// Black holes: lengths that the path had carried, and then swallowed.
    pub black_holes: u64,
}

/// The counters of both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that the host gave.
    pub offered: u64,
    /// Of these the far end has acknowledged.
    pub settled: u64,
    /// Packets sent again after a loss.
    pub retransmissions: u64,
    /// Packets sent on two members at once.
    pub duplicated: u64,
    /// Packets that a repair symbol restored, of those that came.
    pub restored: u64,
    /// Packets marked by the queue's management.
    pub marked: u64,
    /// Packets given to the host.
    pub delivered: u64,
    /// Of these, out of order, behind a hole that had been given up.
    pub late: u64,
    /// Packets that had come before.
    pub duplicates: u64,
    /// Holes that were given up.
    pub holes: u64,
    /// Times that what packets are restored from was given up because it occupied too much.
    pub forgotten: u64,
    /// Frames that made no sense: of a member that there is not, or beyond any number in use.
    pub strange: u64,
    /// Dropped packets by [`super::DropReason`].
    pub dropped: [u64; DropReason::COUNT],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Its members, by number.
    pub members: Vec<MemberStatus>,
    /// The counters.
    pub counts: Counts,
    /// Packets that wait to be sent.
    pub queue_len: usize,
    pub queue_bytes: Bytes,
    /// Packets sent and neither acknowledged nor given up.
    pub outstanding: usize,
    /// Entries in all its tables: what it keeps in memory, bounded whatever comes.
    pub kept: usize,
    /// Memory of all that, as it was counted.
    pub occupied: Bytes,
    /// Packets that wait for their turn to be delivered.
    pub held_len: usize,
    /// Longest time for which a packet is held for those before it, as measured.
    pub hold_time: Duration,
}
