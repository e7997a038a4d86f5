//! The inputs and outputs of one end of a bond.

use super::coded::Coded;
use super::config::MemberConfig;
use super::frame::{Frame, PathToken};
use crate::trunk::Member;
use airbraid_units::{Bytes, Instant, SeqNum, named_enum};

/// Inputs of a bond.
#[derive(Debug)]
pub enum BondInput<P: Coded> {
    /// A packet to carry to the far end, or a run of segments of one flow: each segment is queued, sent and lost by
    /// itself.
    Packet(P),
    /// A frame from the far end.
    Frame {
        /// The member on which it came.
        member: Member,
        frame: Frame<P>,
        /// Its length on the wire, headers around it included.
        length: Bytes,
    },
    /// All frames that have come on all members since the host's last call. Feedback waits until all are handled, so
    /// that it misses none.
    Frames(Vec<ReceivedFrame<P>>),
    /// Adds a member, or changes its configuration.
    MemberAdded {
        /// Its number, below [`super::MEMBERS_MAX`]; the same at both ends.
        member: Member,
        config: MemberConfig,
    },
    MemberRemoved {
        member: Member,
    },
    /// The newest frame of a member came from another place than those before it, or its first frame from an
    /// unconfirmed place; the member's frames go there from now on.
    MemberMoved {
        member: Member,
        /// The host's knowledge of the place.
        moved: Moved,
    },
    /// The host could not send a frame: its socket is full. The frame counts as lost, and the member pauses for a
    /// moment.
    Refused {
        member: Member,
        /// The frame's number on it.
        number: SeqNum,
    },
    /// The host could not send a frame: it is longer than its own link takes.
    TooLong {
        member: Member,
        /// The frame's number on it.
        number: SeqNum,
    },
    /// The network reports (by ICMP) the longest packet of a member's path. It is only a hint: a probe of that length
    /// leaves sooner, if lengths are being probed.
    MtuHint {
        member: Member,
        /// The longest IP packet, as reported.
        mtu: Bytes,
    },
    /// A member's path has changed: its lengths are unknown again.
    PathChanged {
        member: Member,
    },
    /// The host was not awake: frames that it was to send since `since` may have left as late as `until`, so their fate
    /// says nothing about a link.
    Late {
        /// Time at which the first of them was to leave.
        since: Instant,
        /// Time by which the last of them had left.
        until: Instant,
    },
}

/// The host's knowledge of the place where a member is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// The place is unknown: it has to be validated.
    Unknown {
        /// A secret that must come back from there; another for each place.
        token: PathToken,
        /// Whether only the port has changed: an address translator has chosen a new one, and the path behind it is the
        /// same.
        is_rebinding: bool,
    },
    /// The place was validated recently.
    Known,
}

/// A frame that has come.
#[derive(Debug)]
pub struct ReceivedFrame<P: Coded> {
    /// The member on which it came.
    pub member: Member,
    pub frame: Frame<P>,
    /// Its length on the wire, headers around it included.
    pub length: Bytes,
    /// Time of its arrival: now, or earlier if the host was not awake. A late host is no slow link.
    pub at: Instant,
    /// Whether it came from another place than the member's.
    pub is_elsewhere: bool,
}

/// Outputs of a bond.
#[derive(Debug)]
pub enum BondOutput<P: Coded> {
    /// Send this frame.
    Transmit {
        /// The member to send it on.
        member: Member,
        frame: Frame<P>,
        /// Whether to mark the packet for congestion (ECN); only for packets that can be marked.
        mark: bool,
    },
    /// A packet for the host.
    Deliver(P),
    /// A packet that goes no further.
    Dropped { packet: P, reason: BondDropReason },
    /// The path MTU of a member was found, and differs from the last. Only for members that have an MTU.
    PathMtu {
        member: Member,
        /// The longest IP packet.
        mtu: Bytes,
    },
    /// A report of the network on a member's path would help ([`BondInput::MtuHint`]).
    HintWanted { member: Member },
    /// A handle that was kept until the far end had its packet.
    Release(P),
    /// A received repair symbol that is used up.
    Spent(P::Symbol),
    /// The place of a member is validated: the secret has come back from it.
    Validated(Member),
    /// The place of a member is not validated after several challenges: the host returns the member to the last
    /// validated place, if it knows one ([`Moved::Known`]); until then the member is suspected.
    NotValidated(Member),
}

named_enum! {
    /// The reason why a bond dropped a packet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum BondDropReason {
        /// The queue was full.
        QueueFull = "queue_full",
        /// Delay control told its flow to slow down.
        Managed = "managed",
        /// It was too old to be sent, or retransmitted.
        Expired = "expired",
        /// It is a duplicate.
        Duplicate = "duplicate",
        /// It came after its place was given up, and the order must hold.
        Late = "late",
        /// Its number belongs to another life of the sender.
        Stale = "stale",
        /// It is longer than any member's path carries.
        TooLong = "too_long",
        /// The limit of memory is reached.
        Memory = "memory",
        /// A newer acknowledgement tells what it told.
        Superseded = "superseded",
    }
}
