//! Configuration of a radio: power, thresholds, and the models of path loss, error and capture.

use super::curve::Curve;
use super::shadowing::Shadowing;
use airbraid_units::{Db, Dbm, Metres, Probability};

/// The power that remains after a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathLoss {
    /// Free space (Friis).
    Friis,
    /// Free space up to the crossover distance, two-ray ground reflection beyond.
    TwoRay,
    /// A reference loss and a slope for each decade of distance: `L = loss + 10 n lg(d / reference)`.
    LogDistance {
        /// n of the formula.
        exponent: f64,
        /// The distance at which `loss` was measured.
        reference: Metres,
        /// Loss at the reference distance.
        loss: Db,
    },
    /// Measured at some distances \[dB\]: linear between them, constant beyond the last. It rises.
    Measured(Curve),
}

/// A threshold of the receiver, as a power or as the distance at which a frame of the same power arrives with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// Received power.
    Power(Dbm),
    /// Distance by the path-loss model, between antennas as this radio's.
    Range(Metres),
}

/// The errors in frames that arrive alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorModel {
    /// None: every frame above the reception threshold is received.
    None,
    /// Each bit of the MPDU is wrong with this probability, independently.
    Ber(Probability),
    /// By the signal-to-interference-and-noise ratio: DSSS and CCK exactly, OFDM by NIST (`docs/models/radio.md`).
    Sinr,
}

/// A receiver's rule for a frame that begins while another is on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// It listens to the first frame that it can decode. Energy that it cannot decode interferes and does not hold it:
    /// without a PHY header there is no reception (802.11-2020, 15.2.7, 16.2.6).
    Standard {
        /// Whether a frame stronger than the one being received by `capture` (or 10 dB) takes it over.
        recapture: bool,
    },
    /// As in ns-2 (2.26 to 2.35, `mac/mac-802_11.cc`): what begins first above carrier sense holds it to its end,
    /// decodable or not, while it transmits too. A later frame that is weaker by `capture` is ignored, any other lost
    /// together with the first, however strong it is.
    Ns2,
}

/// The radio side of one interface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioConfig {
    /// Transmit power.
    pub power: Dbm,
    /// Antenna gain, for transmission and for reception.
    pub gain: Db,
    /// Antenna height above the ground (two-ray model).
    pub height: Metres,
    /// Carrier frequency \[Hz\].
    pub frequency_hz: f64,
    /// Path loss of this radio's transmissions.
    pub path_loss: PathLoss,
    /// Variation of the path loss; `None`: none.
    pub shadowing: Option<Shadowing>,
    /// Below this power a frame cannot be received.
    pub reception: Threshold,
    /// Below this power energy does not make the medium busy.
    pub carrier_sense: Threshold,
    /// Below this power energy does not exist, not even as interference.
    pub interference: Threshold,
    /// Thermal noise and noise figure in the channel.
    pub noise: Dbm,
    /// Implementation loss, subtracted from every SINR.
    pub implementation_loss: Db,
    /// A frame survives interference that is weaker than itself by at least this over the whole frame;
    /// `None`: no threshold, the error model alone decides.
    pub capture: Option<Db>,
    /// Ratio to everything else in its first microseconds from which on a receiver notices that a frame begins;
    /// `None`: it always does.
    pub preamble_detection: Option<Db>,
    /// Rule for a frame that begins while another is on the air.
    pub receiver: Receiver,
    /// Errors beside collisions.
    pub error: ErrorModel,
}
