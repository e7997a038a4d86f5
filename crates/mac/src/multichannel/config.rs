//! Configuration of a multi-channel station, and the durations of its exchanges.

use crate::dcf::{ACK_SIZE, DcfConfig};
use crate::frame::Channel;
use airbraid_units::{Bytes, Duration};

/// RTS, CTS and CRN: 21 byte each (Kuang and Williamson 2004, appendix A: 45 byte with the 24 that ns-2 counts for
/// preamble and PHY header; one more than an RTS of 802.11).
pub const HANDSHAKE_SIZE: Bytes = Bytes::new(21);

/// The receiver's choice among the data channels that are free on both sides of an RTS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelChoice {
    /// The channel of its last successful exchange, if it is free, or else the lowest (section 3.2 of the paper).
    Hysteresis,
    Lowest,
    /// The channel with the fewest reservations heard.
    LeastUsed,
    /// A random channel, with equal probability.
    Random,
}

/// The choice of an MSDU while the neighbour of the first exchanges data with another station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// The first: it waits, and all behind it.
    Fifo,
    /// The first whose neighbour is believed to be on the control channel (appendix B.2).
    SkipBusy,
}

/// Parameters of a station under MCMAC or Bi-MCMAC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultichannelConfig {
    /// The configuration that it shares with a station of one channel. The RTS threshold does not apply: every unicast
    /// frame is announced.
    pub dcf: DcfConfig,
    /// Number of data channels beside the control channel, from 1 to 15.
    pub data_channels: u8,
    /// Bi-MCMAC: whether the receiver may answer with data of its own.
    pub is_bidirectional: bool,
    /// Data frames in either direction for each handshake; the paper has one and asks for the best (appendix B.2).
    pub batch: u8,
    /// The receiver's choice of a channel.
    pub choice: ChannelChoice,
    /// The sender's choice of a frame.
    pub scheduling: Scheduling,
    /// Time that the radio takes to change the channel; it hears nothing meanwhile. The paper has zero.
    pub switching_time: Duration,
    /// Time that a station listens after its return to the control channel before it contends: it has missed
    /// reservations. The paper has zero.
    pub listening_time: Duration,
}

impl MultichannelConfig {
    /// The protocol of the paper over a station like `dcf`: three data channels, one frame a handshake.
    pub const fn new(dcf: DcfConfig, is_bidirectional: bool) -> Self {
        Self {
            dcf,
            data_channels: 3,
            is_bidirectional,
            batch: 1,
            choice: ChannelChoice::Hysteresis,
            scheduling: Scheduling::Fifo,
            switching_time: Duration::ZERO,
            listening_time: Duration::ZERO,
        }
    }

    /// RTS, CTS and CRN, SIFS apart.
    pub fn handshake_time(&self) -> Duration {
        let times = Times::new(self);
        times.handshake_frame + times.rest_of_handshake()
    }

    /// Duration of the data phase from the end of the CRN, if the initiator sends a number of `frames` of one airtime
    /// and the responder `answers` of its own, not more.
    pub fn data_phase_time(&self, frames: (u8, Duration), answers: (u8, Duration)) -> Duration {
        let times = Times::new(self);
        let every = |(count, airtime): (u8, Duration)| std::iter::repeat_n(airtime, usize::from(count));
        times.data_phase(every(frames)) + times.growth(every(answers), answers.0 > 0 && answers.0 == frames.0)
    }

    /// The number of data channels and of frames a handshake that is really used: at least one, and of channels as many
    /// as there can be.
    pub(super) fn data_channels(&self) -> u8 {
        self.data_channels.clamp(1, Channel::MAX as u8 - 1)
    }
    pub(crate) fn batch(&self) -> u8 {
        self.batch.max(1)
    }
}

/// Times on the air, computed once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub sifs: Duration,
    pub handshake_frame: Duration,
    pub ack: Duration,
    pub switching: Duration,
}

impl Times {
    pub(super) fn new(config: &MultichannelConfig) -> Self {
        let (phy, rate) = (&config.dcf.phy, config.dcf.control_rate);
        Self {
            sifs: phy.sifs,
            handshake_frame: phy.frame_time(rate, HANDSHAKE_SIZE),
            ack: phy.frame_time(rate, ACK_SIZE),
            switching: config.switching_time,
        }
    }

    /// From the end of an RTS to the end of the CRN.
    pub(super) fn rest_of_handshake(&self) -> Duration {
        (self.sifs + self.handshake_frame) * 2
    }

    /// A data phase in one direction, from the end of the CRN: both retune, and each data frame is acknowledged.
    pub(super) fn data_phase(&self, frames: impl Iterator<Item = Duration>) -> Duration {
        frames.fold(self.switching * 2, |sum, airtime| sum + self.sifs + airtime + self.sifs + self.ack)
    }

    /// By how much the data phase grows if the receiver sends frames of its own in place of its first acknowledgements;
    /// all of them: then the last is still to be acknowledged.
    pub(super) fn growth(&self, frames: impl Iterator<Item = Duration>, is_all: bool) -> Duration {
        let last = if is_all { self.sifs + self.ack } else { Duration::ZERO };
        frames.fold(last, |sum, airtime| sum + airtime.saturating_sub(self.ack))
    }
}
