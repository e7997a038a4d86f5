//! Frames as descriptors: what a receiver reads from a header, without the bytes (802.11-2020, 9.3).

use crate::phy::Rate;
use airbraid_units::{Bytes, Duration};

/// The address of a station's radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u32);

impl Address {
    /// All stations.
    pub const BROADCAST: Self = Self(u32::MAX);
}

/// The frames that the MACs exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A data frame with an MSDU.
    Data,
    /// The acknowledgement of a data frame.
    Ack,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// The master gives a slave the word, with data for it if there are any.
    PollData,
    /// A slave's answer, with data of its own if it has any.
    DataAck {
        /// Whether the poll that it answers came without damage.
        intact: bool,
    },
    /// The master asks stations that it does not poll yet to join.
    Invite,
    /// A station asks to be polled.
    Join,
}

/// An MPDU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<P> {
    /// What it is.
    pub kind: FrameKind,
    /// Whether it has been sent before.
    pub retry: bool,
    /// Sequence number of the MSDU, modulo 4096; zero where the frame has none.
    pub sequence: u16,
    /// Who sends it.
    pub from: Address,
    /// For whom it is.
    pub to: Address,
    /// Its length with header and FCS.
    pub size: Bytes,
    /// At which rate it is sent.
    pub rate: Rate,
    /// The Duration field: how long the exchange lasts beyond the end of this frame, in whole microseconds.
    pub nav: Duration,
    /// The MSDU of a data frame.
    pub payload: Option<P>,
}

impl<P> Frame<P> {
    /// The frame without its MSDU: what a station reads that merely overhears it.
    pub fn header(&self) -> Frame<()> {
        Frame {
            kind: self.kind,
            retry: self.retry,
            sequence: self.sequence,
            from: self.from,
            to: self.to,
            size: self.size,
            rate: self.rate,
            nav: self.nav,
            payload: None,
        }
    }
}

/// The value of a Duration field: microseconds, rounded up (9.2.5.1).
pub fn duration_field(span: Duration) -> Duration {
    Duration::from_micros(span.as_nanos().div_ceil(1_000))
}
