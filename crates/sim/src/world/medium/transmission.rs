//! A frame on the air: what is sent, when, and how far it has come.

use super::super::frame::Msdu;
use super::super::id::{RadioId, TransmissionId};
use crate::queue::Turn;
use airbraid_mac::edca::{Ppdu, Vector};
use airbraid_mac::ppdu::Width;
use airbraid_mac::{Channel, Frame};
use airbraid_units::Instant;
use std::sync::Arc;

/// A frame on the air.
#[derive(Clone, Debug)]
pub struct Transmission {
    /// The frame.
    pub frame: Frame<Msdu>,
    /// All of it, where it is more than a frame: that is its header then.
    pub ppdu: Option<Arc<Ppdu<Msdu>>>,
    /// The radio that sends it.
    pub from: RadioId,
    /// On which of the channels of a station that has several.
    pub channel: Channel,
    /// The part of the sender's channel that it fills; `None`: all.
    pub narrowed: Option<Width>,
    /// When its preamble begins at the antenna.
    pub start: Instant,
    /// When its last bit leaves.
    pub end: Instant,
    pub commitment: Commitment,
    pub stage: Stage,
    /// Number of hearers that the beginning, and the end, have reached.
    pub begun: usize,
    /// The same for the end.
    pub ended: usize,
}

impl Transmission {
    /// Whether it is a non-HT PPDU, or a duplicate of one in each 20 MHz.
    pub fn is_non_ht(&self) -> bool {
        self.ppdu.as_ref().is_none_or(|ppdu| matches!(ppdu.vector, Vector::NonHt(_)))
    }
}

/// A station's commitment to a frame: when it was, and the turns of the frame's beginning and end among simultaneous
/// events.
#[derive(Clone, Copy, Debug)]
pub struct Commitment {
    pub at: Instant,
    pub beginning: Turn,
    pub end: Turn,
}

/// Progress of a frame, with the events of it that are in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its beginning is not dated, or all its hearers have put it off: its end, then.
    PutOff,
    /// It is about to begin: its beginning.
    Announced,
    /// It is about to begin, though all its hearers had put that off: both.
    Recalled,
    /// It has begun at its first hearer: its end, and the beginning at others.
    Begun,
}

/// A frame on the air as it begins at its hearers.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    pub id: TransmissionId,
    pub channel: Channel,
    /// When its last bit leaves.
    pub end: Instant,
    /// Whether it fills its sender's channel.
    pub is_wide: bool,
}
