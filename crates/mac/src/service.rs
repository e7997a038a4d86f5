//! The interface between a MAC and its surroundings, the same for every MAC.
//!
//! Downwards it commits to transmissions and hears of energy and frames; upwards it takes MSDUs and reports what
//! became of each, with the packet itself, so that trunk, routing or link layer can send it elsewhere.

use crate::edca::{MpduSet, Ppdu};
use crate::frame::{Address, Channel, Frame};
use crate::ppdu::Width;
use airbraid_units::{Bytes, Duration, Instant, metrics};
use std::ops::Range;
use std::sync::Arc;

/// A packet to be sent to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Msdu<P> {
    /// The neighbour, or all.
    pub to: Address,
    pub packet: P,
}

/// Everything that the host tells a MAC.
#[derive(Clone, Debug, PartialEq)]
pub enum MacInput<P> {
    /// A packet to send; it waits in the interface queue for its turn.
    Enqueue(Msdu<P>),
    /// A packet to send before all that wait: a message of a routing protocol. A full queue gives up its last for it.
    EnqueueFirst(Msdu<P>),
    /// Gives up all MSDUs for this neighbour that were never sent, as it is hardly reachable: each comes back as
    /// [`Outcome::Purged`].
    Purge(Address),
    /// To an access point: this station is associated from now on, and dozes until it says otherwise.
    Associate(Address),
    /// To an access point: this station is gone. Its MSDUs come back as [`Outcome::Purged`].
    Disassociate(Address),
    /// Energy above the carrier-sense threshold arrives on the idle medium (PHY-CCA.indication busy).
    Busy,
    /// The medium falls idle without a frame having ended here (PHY-CCA.indication idle).
    Idle,
    /// A frame for this station, or for all, ends without an error (PHY-RXEND.indication).
    Received {
        frame: Frame<P>,
        /// Whether the medium is now idle.
        idle: bool,
    },
    /// A frame for another station ends without an error; its payload does not matter here.
    Overheard {
        frame: Frame<()>,
        /// Whether the medium is now idle.
        idle: bool,
    },
    /// A frame ends with an error.
    ReceptionError {
        /// Whether the medium is now idle.
        idle: bool,
    },
    /// A frame of this airtime begins, and the receiver ignores it for a stronger one. Only ns-2's receiver says so.
    Ignored(Duration),
    /// A frame for this station ends; its header can be read, its payload is damaged.
    Damaged {
        /// The frame, as it was sent.
        frame: Frame<P>,
        /// The damage to its payload.
        damage: Damage,
        /// Whether the medium is now idle.
        idle: bool,
    },
    /// Consecutive MPDUs of a PPDU for this station are complete and intact, and more of the PPDU is to come. Only a
    /// station that has other ways to send on hears of them so early. The MAC takes over a reference to each packet in
    /// them.
    MpdusEnd {
        ppdu: Arc<Ppdu<P>>,
        places: Range<u32>,
        /// Time until the PPDU ends.
        left: Duration,
    },
    /// A PPDU for this station ends, and at least one of its MPDUs is intact. The MAC takes over a reference to each
    /// packet in those, and gives it back by [`MacOutput::DeliverRun`] or [`MacOutput::Discard`].
    ReceivedPpdu {
        ppdu: Arc<Ppdu<P>>,
        /// The intact MPDUs; `None`: all.
        intact: Option<Box<MpduSet>>,
        /// Number of MPDUs that have had their [`MacInput::MpdusEnd`], or were lost, before.
        ended: u32,
        /// Whether the medium is now idle.
        idle: bool,
    },
    /// Another link of the multi-link device has changed what waits, or what this one hears: this one may have
    /// something to send again, or has become blind, or can hear again.
    Renew,
    /// The answer to [`MacOutput::Pull`]: the MSDU for this neighbour, if there is one.
    Supply(Option<Msdu<P>>),
}

/// Damage to a received payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The payload ends after this many bytes.
    Truncated(Bytes),
    /// Number of wrong bytes in its worst block.
    Corrupted(u32),
}

/// Everything that a MAC tells its host.
#[derive(Clone, Debug, PartialEq)]
pub enum MacOutput<P> {
    /// Retune the radio now. It receives nothing more of the frames on the air, and nothing at all until `ready`.
    /// Energy on the channel that it leaves no longer matters. Energy on the new channel is then reported as
    /// [`MacInput::Busy`]; silence is not reported. Transmissions from now on go out there.
    Tune {
        channel: Channel,
        /// End of the retuning.
        ready: Instant,
    },
    /// Whether the radio listens from now on. One that does not receives nothing more of the frames on the air, and
    /// hears of no energy. When it listens again, energy that is there is reported as [`MacInput::Busy`]; silence is
    /// not reported.
    Listen(bool),
    /// RTS, MU-RTS and requests fill this part of a wide channel from now on, as the data that follow them.
    Announce(Width),
    /// The station is committed to this transmission: nothing stops it any more.
    Transmit {
        frame: Frame<P>,
        /// Beginning of its preamble, now or at most a turnaround or a SIFS later.
        at: Instant,
        /// Time on the air.
        airtime: Duration,
        /// The station's access to the medium, for the timeline.
        access: Access,
    },
    /// The same with a PPDU of several MPDUs, or of any kind that a [`Frame`] cannot say.
    TransmitPpdu { ppdu: Arc<Ppdu<P>>, at: Instant, airtime: Duration, access: Access },
    /// Packets for the layer above, in order: those of consecutive MPDUs of a PPDU that has come.
    DeliverRun { ppdu: Arc<Ppdu<P>>, mpdus: Range<u32>, complete: Complete },
    /// A packet of a PPDU that has come goes no further.
    Discard {
        packet: P,
        /// Whether it has come before; otherwise its place was given up.
        is_duplicate: bool,
    },
    /// The MSDUs of consecutive MPDUs of a PPDU that was sent have left the MAC: they are acknowledged.
    AcknowledgedRun { ppdu: Arc<Ppdu<P>>, mpdus: Range<u32> },
    /// A packet from a neighbour, for the layer above.
    Deliver { from: Address, packet: P },
    /// A packet from a neighbour, as it was sent, with the damage that it took on the way.
    DeliverDamaged { from: Address, packet: P, damage: Damage },
    /// The next transmission goes to this neighbour, at once: answer with [`MacInput::Supply`].
    Pull(Address),
    /// An MSDU has left the MAC, with this outcome.
    Status {
        /// The MSDU, returned to the host.
        msdu: Msdu<P>,
        outcome: Outcome,
        /// Number of transmissions of its data frame.
        attempts: u32,
    },
}

/// When MPDUs were complete, with all before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complete {
    /// This time ago.
    Before(Duration),
    /// Each where it ends in its PPDU, which goes on for this time.
    AtItsEnd { left: Duration },
}

impl Complete {
    /// Time since an MPDU was complete that ends `behind` before its PPDU.
    pub fn ago(self, behind: Duration) -> Duration {
        match self {
            Self::Before(ago) => ago,
            Self::AtItsEnd { left } => behind.saturating_sub(left),
        }
    }
}

/// The way in which a station gains access to the medium.
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
        /// The backoff drawn from it \[slots\].
        drawn: u32,
    },
}

/// The outcome of an MSDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver has acknowledged it.
    Acknowledged,
    /// It was broadcast; broadcasts are not acknowledged.
    Broadcast,
    /// The retry limit was reached.
    RetryLimit,
    /// The interface queue, or the buffer for a dozing station, was full; it was never sent.
    QueueFull,
    /// It was taken out of the queue on request; it was never sent.
    Purged,
    /// It arrived damaged, and the receiver has said so.
    Damaged,
    /// It was sent once, without a report whether it arrived.
    Unknown,
}

metrics! {
    /// The counters of a MAC.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MacStats {
        /// Data frames sent, retries included.
        pub data_frames: u64 = sum,
        /// Null frames sent, retries included.
        pub null_frames: u64,
        /// RTS frames sent.
        pub rts_frames: u64 = sum,
        /// Data frames retransmitted.
        pub retries: u64 = sum,
        /// MSDUs given up at the retry limit.
        pub retry_limit_drops: u64 = sum,
        /// MSDUs refused by the full interface queue.
        pub queue_drops: u64 = sum,
        /// Frames for this radio that were lost by overlap with another; counted by the host, which has the channel.
        pub collisions: u64 = sum,
        /// Frames for this radio that the channel's errors destroyed; likewise.
        pub channel_errors: u64 = sum,
        /// Data frames received again and discarded.
        pub duplicates: u64 = sum,
        /// Polls without an answer in time (polling MAC).
        pub unanswered: u64 = sum,
        pub airtime: Duration,
    }
}

impl MacStats {
    /// Adds the counters of another station.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_two_stations_add_up() {
        let counted = |n: u64| MacStats {
            data_frames: n,
            null_frames: 2 * n,
            rts_frames: 3 * n,
            retries: 4 * n,
            retry_limit_drops: 5 * n,
            queue_drops: 6 * n,
            duplicates: 7 * n,
            unanswered: 8 * n,
            airtime: Duration::from_micros(9 * n),
            // The host counts these, once for a radio.
            collisions: 0,
            channel_errors: 0,
        };
        let mut sum = counted(10);
        sum.add(&counted(7));
        assert_eq!(sum, counted(17));
    }
}
