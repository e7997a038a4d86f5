//! The inputs and outputs of one end of a bond.

use super::coded::Coded;
use super::config::MemberConfig;
use super::frame::{Frame, PathToken};
use crate::trunk::Member;
use airbraid_units::{Bytes, Instant, SeqNum, named_enum};

/// Everything the world tells a tunnel.
#[derive(Debug)]
pub enum Input<P: Coded> {
    /// A packet to carry to the far end, or a run of segments of one flow: each is queued, sent and lost by itself.
    Packet(P),
    /// A frame from the far end.
    Frame {
        /// The member on which it came.
        member: Member,
        /// The frame.
        frame: Frame<P>,
        /// Its length on the wire, with everything around it.
        length: Bytes,
    },
    /// All frames that have come on all members since the host looked last: nothing is said of them before all are taken in, so
    /// that none that has come is missed.
    Frames(Vec<Came<P>>),
    /// There is a member, or its configuration is another.
    MemberAdded {
        /// Its number, below [`MEMBERS_MAX`]; both ends call it the same.
        member: Member,
        /// What it is like.
        config: MemberConfig,
    },
    /// A member is gone.
    MemberRemoved {
        /// Its number.
        member: Member,
    },
    /// The newest frame of a member came from another place than those before it, or the first of all from a place that nobody has
    /// confirmed; the member's frames go there from now on.
    MemberMoved {
        /// Its number.
        member: Member,
        /// What is known of the place.
        moved: Moved,
    },
    /// The host could not send a frame: its socket is full. The frame is taken for lost, and the member gets no more for a
    /// moment.
    Refused {
        /// The member.
        member: Member,
        /// The frame's number on it.
        number: SeqNum,
    },
    /// The host could not send a frame: it is longer than its own link takes.
    TooLong {
        /// The member.
        member: Member,
        /// The frame's number on it.
        number: SeqNum,
    },
    /// The network says (by ICMP) that this is the longest that a member's path takes. It is no more than a hint: a probe of that length
    /// leaves sooner, if lengths are being looked for.
    MtuHint {
        /// The member.
        member: Member,
        /// The longest IP packet, as it is said.
        mtu: Bytes,
    },
    /// A member's path is another from now on: nothing that was found of its lengths holds.
    PathChanged {
        /// The member.
        member: Member,
    },
    /// The host was not awake: what it was told to send since `since` may have left as late as `until`, so that nothing that becomes
    /// of it says anything of a link.
    Late {
        /// When the first of it was to leave.
        since: Instant,
        /// When the last of it had left.
        until: Instant,
    },
}

/// What is known of the place where a member is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// Nothing: it has to be validated.
    Unknown {
        /// What nobody can guess, and what comes back from there; another for each place.
        token: PathToken,
        /// Whether only the port is another: an address translator has chosen a new one, and the path behind it is the same.
        is_rebinding: bool,
    },
    /// It was validated of late.
    Known,
}

/// A frame that has come.
#[derive(Debug)]
pub struct Came<P: Coded> {
    /// The member on which it came.
    pub member: Member,
    /// The frame.
    pub frame: Frame<P>,
    /// Its length on the wire, with everything around it.
    pub length: Bytes,
    /// When it came: now, or earlier, where the host was not awake. A late host is no slow link.
    pub at: Instant,
    /// Whether it came from another place than the one where the member is.
    pub is_elsewhere: bool,
}

/// Everything a tunnel asks of the world.
#[derive(Debug)]
pub enum Output<P: Coded> {
    /// Send this.
    Transmit {
        /// On this member.
        member: Member,
        /// The frame.
        frame: Frame<P>,
        /// Whether the packet is to say that it met congestion (ECN); only for packets that can.
        mark: bool,
    },
    /// A packet for the host.
    Deliver(P),
    /// A packet that goes no further.
    Dropped {
        /// The packet.
        packet: P,
        /// Why.
        reason: DropReason,
    },
    /// What a member's path carries was found, and is another than before. Only of members that have an MTU.
    PathMtu {
        /// The member.
        member: Member,
        /// The longest IP packet.
        mtu: Bytes,
    },
    /// It would help to know what the network says of a member's path ([`Input::MtuHint`]).
    HintWanted {
        /// The member.
        member: Member,
    },
    /// A handle that was kept until the far end had the packet.
    Release(P),
    /// A repair symbol that has come and is of no more use.
    Spent(P::Symbol),
    /// The place of a member is validated: a secret that was sent there has come back from it.
    Validated(Member),
    /// It is not, after several challenges: the host takes the member back to where it was validated last, if it knows
    /// ([`Moved::Known`]); until then the member is suspected.
    NotValidated(Member),
}

named_enum! {
    /// Why a tunnel dropped a packet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum DropReason {
        /// The queue was full.
        QueueFull = "queue_full",
        /// Its flow is told to slow down.
        Managed = "managed",
        /// It was too old to be sent, or to be sent again.
        Expired = "expired",
        /// It had come before.
        Duplicate = "duplicate",
        /// It came after its place was given up, and the order must hold.
        Late = "late",
        /// It lies so far ahead or behind that it belongs to another life of the sender.
        Stale = "stale",
        /// It is longer than any member's path carries.
        TooLong = "too_long",
        /// All that is kept would occupy too much.
        Memory = "memory",
    }
}
