//! Frames as descriptors: the header that a receiver reads, without the bytes (802.11-2020, 9.3).

use crate::phy::Rate;
use airbraid_units::{Bytes, Duration};

/// The address of a station's radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u32);

impl Address {
    pub const BROADCAST: Self = Self(u32::MAX);
}

/// The frames that the MACs exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A data frame with an MSDU; without one it is a null frame, whose header says all (9.2.4.1.3).
    Data,
    /// The acknowledgement of a data frame.
    Ack,
    /// Request to send.
    Rts,
    /// The trigger frame MU-RTS (9.3.1.22.4): a request to send that is also the initial control frame of EMLSR.
    MuRts,
    /// Clear to send.
    Cts,
    /// The master polls a slave, with data for it if there are any.
    PollData,
    /// A slave's answer, with data of its own if it has any.
    DataAck {
        /// Whether the poll that it answers arrived undamaged.
        intact: bool,
    },
    /// The master asks stations that it does not poll yet to join.
    Invite,
    /// A station asks to be polled.
    Join,
    /// Channel reservation notification of the multi-channel MACs: it tells the initiator's neighbours which channel
    /// the CTS reserved.
    Crn,
    /// A block acknowledgement: what has come of a window of data frames (9.3.1.8).
    BlockAck,
    /// A request for one (9.3.1.7).
    BlockAckRequest,
    /// A beacon of an access point (9.3.3.2).
    Beacon,
    /// ADDBA Request: the originator wants a block acknowledgement agreement (9.6.4.2).
    AddbaRequest,
    /// ADDBA Response: the answer of its recipient (9.6.4.3).
    AddbaResponse,
}

impl FrameKind {
    /// Whether its frames have sequence numbers of their own.
    pub const fn has_sequence(self) -> bool {
        matches!(
            self,
            Self::Data
                | Self::Beacon
                | Self::AddbaRequest
                | Self::AddbaResponse
                | Self::PollData
                | Self::DataAck { .. }
        )
    }
}

/// A channel of a station that has several, by its place among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(pub u8);

impl Channel {
    /// The control channel: the only channel of a MAC that knows one.
    pub const CONTROL: Self = Self(0);
    /// Largest number of channels of a station.
    pub const MAX: usize = 16;
}

/// A set of channels: a bit each, in bytes, so that [`Frame`] has room for one byte more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChannelSet([u8; 2]);

impl ChannelSet {
    /// No channel.
    pub const EMPTY: Self = Self::of_bits(0);

    const fn of_bits(bits: u16) -> Self {
        Self(bits.to_le_bytes())
    }
    const fn bits(self) -> u16 {
        u16::from_le_bytes(self.0)
    }
    /// The set of one channel, which is below [`Channel::MAX`].
    pub const fn only(channel: Channel) -> Self {
        Self::of_bits(1 << channel.0)
    }
    /// This set and one channel more.
    #[must_use]
    pub const fn with(self, channel: Channel) -> Self {
        Self::of_bits(self.bits() | 1 << channel.0)
    }
    /// Intersection of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self::of_bits(self.bits() & other.bits())
    }
    /// Whether the channel is in the set.
    pub const fn contains(self, channel: Channel) -> bool {
        self.bits() >> channel.0 & 1 == 1
    }
    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.bits() == 0
    }
    pub const fn len(self) -> u32 {
        self.bits().count_ones()
    }
    /// The channel of the lowest place.
    pub const fn lowest(self) -> Option<Channel> {
        if self.is_empty() { None } else { Some(Channel(self.bits().trailing_zeros() as u8)) }
    }
    /// The channels, lowest place first.
    pub fn iter(self) -> impl Iterator<Item = Channel> {
        (0..Self::BITS).map(Channel).filter(move |&channel| self.contains(channel))
    }
    const BITS: u8 = Channel::MAX as u8;
}

/// The fields of a multi-channel MAC's frames beside Duration. They fit where [`Frame`] would be padded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reservation {
    /// RTS: the data channels that are free for its sender; CTS and CRN: the one that is reserved; otherwise none.
    pub channels: ChannelSet,
    /// RTS: number of data frames that its sender has; data: number that follow after this one; otherwise 0.
    pub frames: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<P> {
    pub kind: FrameKind,
    /// Whether it has been sent before.
    pub retry: bool,
    /// The Power Management subfield: whether its sender dozes once this exchange is over (9.2.4.1.7).
    pub power_management: bool,
    /// Sequence number of the MSDU, modulo 4096; zero where the frame has none.
    pub sequence: u16,
    /// Transmitter.
    pub from: Address,
    /// Receiver, or all stations.
    pub to: Address,
    /// Length with header and FCS.
    pub size: Bytes,
    pub rate: Rate,
    /// The Duration field: remaining time of the exchange after the end of this frame, in whole microseconds.
    pub nav: Duration,
    /// Fields of a multi-channel MAC; the default in all others.
    pub reservation: Reservation,
    /// The MSDU of a data frame.
    pub payload: Option<P>,
}

impl<P> Frame<P> {
    /// Returns the frame without its MSDU: the part that a station reads which merely overhears it.
    pub fn header(&self) -> Frame<()> {
        Frame {
            kind: self.kind,
            retry: self.retry,
            power_management: self.power_management,
            sequence: self.sequence,
            from: self.from,
            to: self.to,
            size: self.size,
            rate: self.rate,
            nav: self.nav,
            reservation: self.reservation,
            payload: None,
        }
    }
}

impl Frame<()> {
    /// Returns the frame for surroundings whose frames carry other MSDUs; it carries none.
    pub fn without_payload<P>(&self) -> Frame<P> {
        Frame {
            kind: self.kind,
            retry: self.retry,
            power_management: self.power_management,
            sequence: self.sequence,
            from: self.from,
            to: self.to,
            size: self.size,
            rate: self.rate,
            nav: self.nav,
            reservation: self.reservation,
            payload: None,
        }
    }
}

/// The largest value of a Duration field: what is above has another meaning (9.2.4.2).
pub const DURATION_MAX: Duration = Duration::from_micros(32_767);

/// The value of a Duration field: microseconds, rounded up (9.2.5.1). A reservation that is longer ends where the field
/// does; the next frame of the exchange goes on with it.
pub fn duration_field(span: Duration) -> Duration {
    whole_microseconds(span.min(DURATION_MAX))
}

/// The next whole number of microseconds.
pub(crate) fn whole_microseconds(span: Duration) -> Duration {
    Duration::from_micros(span.as_nanos().div_ceil(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_field_has_whole_microseconds_and_fifteen_bits() {
        let field = |ns| duration_field(Duration::from_nanos(ns)).as_nanos();
        assert_eq!([0, 1, 1_000, 1_001].map(field), [0, 1_000, 1_000, 2_000]);
        assert_eq!([32_766_001, 32_767_000, 32_767_001, u64::MAX].map(field), [32_767_000; 4]);
    }

    #[test]
    fn reservations_and_power_management_cost_no_byte() {
        // Kind, retry, power management, sequence and reservation, two addresses, size, rate of 16 byte, NAV.
        assert_eq!(size_of::<Frame<()>>(), 16 + 8 + 16 + 8 + 8);
        assert_eq!(size_of::<Frame<u64>>(), 16 + 8 + 16 + 8 + 16);
    }

    #[test]
    fn sets_of_channels() {
        let set = ChannelSet::EMPTY.with(Channel(3)).with(Channel(15)).with(Channel(1));
        assert_eq!(set.iter().collect::<Vec<_>>(), [Channel(1), Channel(3), Channel(15)]);
        assert_eq!((set.len(), set.lowest()), (3, Some(Channel(1))));
        assert_eq!(set.and(ChannelSet::only(Channel(3))), ChannelSet::only(Channel(3)));
        assert!(set.and(ChannelSet::only(Channel(2))).is_empty() && ChannelSet::EMPTY.lowest().is_none());
    }
}
