//! The interface between a MAC and its surroundings, the same for every MAC.
//!
//! Downwards it commits to transmissions and hears of energy and frames; upwards it takes MSDUs and reports what
//! became of each, with the packet itself, so that trunk, routing or link layer can send it elsewhere.

use crate::frame::{Address, Channel, Frame};
use airbraid_units::{Bytes, Duration, Instant};

/// A packet to be sent to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Msdu<P> {
    /// The neighbour, or all.
    pub to: Address,
    /// The packet.
    pub packet: P,
}

/// Everything the world tells a MAC.
#[derive(Clone, Debug, PartialEq)]
pub enum MacInput<P> {
    /// A packet to send; it waits in the interface queue for its turn.
    Enqueue(Msdu<P>),
    /// The same, before all that wait: a message of a routing protocol. A full queue gives up its last for it.
    EnqueueFirst(Msdu<P>),
    /// What waits for this neighbour and was never sent will hardly get there: each comes back as [`Outcome::Purged`].
    Purge(Address),
    /// To an access point: this station belongs to it from now on, and dozes until it says otherwise.
    Associate(Address),
    /// To an access point: this station is gone. What waits for it comes back as [`Outcome::Purged`].
    Disassociate(Address),
    /// Energy above the carrier-sense threshold arrives on the idle medium (PHY-CCA.indication busy).
    Busy,
    /// The medium falls idle without a frame having ended here (PHY-CCA.indication idle).
    Idle,
    /// A frame for this station, or for all, ends without an error (PHY-RXEND.indication).
    Received {
        /// The frame.
        frame: Frame<P>,
        /// Whether the medium is now idle.
        idle: bool,
    },
    /// A frame for another station ends without an error; its payload is nobody's business here.
    Overheard {
        /// The frame's header.
        frame: Frame<()>,
        /// Whether the medium is now idle.
        idle: bool,
    },
    /// A frame ends with an error.
    ReceptionError {
        /// Whether the medium is now idle.
        idle: bool,
    },
    /// A frame for this station ends; its header can be read, its payload is damaged.
    Damaged {
        /// The frame, as it was sent.
        frame: Frame<P>,
        /// What is wrong with its payload.
        damage: Damage,
        /// Whether the medium is now idle.
        idle: bool,
    },
    /// The answer to [`MacOutput::Pull`]: what is to be sent to this neighbour now, if anything.
    Supply(Option<Msdu<P>>),
}

/// What is wrong with a payload that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It ends after so many bytes.
    Truncated(Bytes),
    /// So many bytes of its worst block are wrong.
    Corrupted(u32),
}

/// Everything a MAC asks of the world.
#[derive(Clone, Debug, PartialEq)]
pub enum MacOutput<P> {
    /// Retune the radio now. It receives nothing more of what is on the air, and nothing at all until `ready`; energy
    /// on the channel that it leaves is of no interest any more. Energy that it finds on the new channel then is
    /// reported as [`MacInput::Busy`]; of silence it need not be told. What is transmitted from now on goes out there.
    Tune {
        /// To this channel.
        channel: Channel,
        /// When the radio works again.
        ready: Instant,
    },
    /// The station is committed to this transmission: nothing stops it any more.
    Transmit {
        /// The frame.
        frame: Frame<P>,
        /// When its preamble begins, now or at most a turnaround or a SIFS later.
        at: Instant,
        /// How long it lasts on the air.
        airtime: Duration,
        /// How the station came by the medium, for the timeline.
        access: Access,
    },
    /// A packet from a neighbour, for the layer above.
    Deliver {
        /// The neighbour.
        from: Address,
        /// The packet.
        packet: P,
    },
    /// A packet from a neighbour, as it was sent; it has come damaged, and this is what is wrong with it.
    DeliverDamaged {
        /// The neighbour.
        from: Address,
        /// The packet.
        packet: P,
        /// What is wrong with it.
        damage: Damage,
    },
    /// The next transmission goes to this neighbour, at once: answer with [`MacInput::Supply`].
    Pull(Address),
    /// An MSDU has left the MAC, and this is what became of it.
    Status {
        /// The MSDU, handed back.
        msdu: Msdu<P>,
        /// What became of it.
        outcome: Outcome,
        /// How often its data frame was sent.
        attempts: u32,
    },
}

/// How a station comes by the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It answers, or goes on after an answer: SIFS after the other's frame.
    Response,
    /// The medium had been idle for long enough.
    Immediate,
    /// After a backoff.
    Backoff {
        /// The contention window \[slots\].
        window: u32,
        /// What was drawn from it \[slots\].
        drawn: u32,
    },
}

/// What became of an MSDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver has acknowledged it.
    Acknowledged,
    /// It was sent to all; nobody acknowledges that.
    Broadcast,
    /// The retry limit was reached.
    RetryLimit,
    /// The interface queue, or the buffer for a dozing station, was full; it was never sent.
    QueueFull,
    /// It was taken out of the queue on request; it was never sent.
    Purged,
    /// It came with damage, and the receiver has said so.
    Damaged,
    /// It was sent once; nobody says whether it came.
    Unknown,
}

/// What a MAC counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacStats {
    /// Data frames sent, retries included.
    pub data_frames: u64,
    /// Null frames sent, retries included.
    pub null_frames: u64,
    /// RTS frames sent.
    pub rts_frames: u64,
    /// Data frames sent again.
    pub retries: u64,
    /// MSDUs given up at the retry limit.
    pub retry_limit_drops: u64,
    /// MSDUs refused by the full interface queue.
    pub queue_drops: u64,
    /// Data frames received again and discarded.
    pub duplicates: u64,
    /// Polls that nobody answered in time (polling MAC).
    pub unanswered: u64,
    /// Time spent transmitting.
    pub airtime: Duration,
}

impl MacStats {
    /// Adds what another station has counted.
    pub fn add(&mut self, other: &Self) {
        self.data_frames += other.data_frames;
        self.null_frames += other.null_frames;
        self.rts_frames += other.rts_frames;
        self.retries += other.retries;
        self.retry_limit_drops += other.retry_limit_drops;
        self.queue_drops += other.queue_drops;
        self.duplicates += other.duplicates;
        self.unanswered += other.unanswered;
        self.airtime += other.airtime;
    }
}
