//! Configuration of local error control, and its refusals.

use super::policy::Adaptation;
use airbraid_units::Duration;
use std::fmt;

/// One end of a link with local error control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Adaptation of segment size and code to the channel; at the slave of a polled link the master's counts.
    pub adaptation: Adaptation,
    /// Cost of a frame, for policies that use it.
    pub cost: Cost,
    /// For packets that need every byte.
    pub bulk: ClassConfig,
    /// For packets that are useless when late.
    pub real_time: ClassConfig,
}

/// The queue of one traffic class, and the persistence of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassConfig {
    /// Largest number of waiting packets; the one under way is not among them. A packet that finds the queue full is
    /// dropped.
    pub queue_limit: u32,
    /// Limits on the attempts for a packet.
    pub persistence: Persistence,
}

/// Limits on the attempts for a packet; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Persistence {
    /// Largest number of retransmissions of a segment: of independent losses p the share p^(n + 1) stays. `None`: no
    /// limit.
    pub retransmissions: Option<u32>,
    /// Lifetime of a packet after it was queued, wherever it is. `None`: no limit.
    pub lifetime: Option<Duration>,
}

/// The time that one frame takes: `overhead + per_byte * coded bytes`, whatever becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The part that does not depend on its length.
    pub overhead: Duration,
    /// The part of each coded byte of its segment.
    pub per_byte: Duration,
}

/// Additional configuration of selective repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Largest number of frames with a segment under way, 1 to 64: an acknowledgement distinguishes no more.
    pub window: u32,
    /// Time without a report after which a frame counts as lost; more than the round trip, queues included.
    pub timeout: Duration,
    /// Number of later frames whose arrival makes a frame lost; 1 on a link that keeps order.
    pub reordering: u32,
    /// Longest delay of an acknowledgement; it goes sooner with a segment, or after two arrivals.
    pub ack_delay: Duration,
}

/// The reason why a configuration is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Parity comes in pairs: two bytes repair one.
    OddParity(u8),
    /// Parity and check leave no byte for data.
    NoRoom {
        /// Length of the segment on the air \[byte\].
        bytes: u16,
        /// Parity of each block \[byte\].
        parity: u8,
    },
    /// A queue of length zero, or a lifetime of zero.
    Zero(&'static str),
    /// The window is not 1 to 64 frames.
    Window(u32),
    /// The lower bound is above the upper one.
    Bounds(&'static str),
    /// The memory is not 2^1 to 2^16 segments.
    Fade(u32),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OddParity(parity) => write!(f, "{parity} byte of parity: it must be an even number"),
            Self::NoRoom { bytes, parity } => {
                write!(f, "a segment of {bytes} byte with {parity} of parity in each block has no room for data")
            }
            Self::Zero(what) => write!(f, "{what} must be more than zero"),
            Self::Window(window) => write!(f, "a window of {window} frames: 1 to 64 are possible"),
            Self::Bounds(what) => write!(f, "{what}: the smallest is larger than the largest"),
            Self::Fade(fade) => write!(f, "a memory of 2^{fade} segments: 2^1 to 2^16 are possible"),
        }
    }
}

impl std::error::Error for Refusal {}

impl Default for Config {
    /// The paper's outer queue of 50 packets (as far as it says), perpetual retransmission of both classes.
    fn default() -> Self {
        Self {
            adaptation: Adaptation::default(),
            cost: Cost::default(),
            bulk: ClassConfig::default(),
            real_time: ClassConfig::default(),
        }
    }
}

impl Default for ClassConfig {
    fn default() -> Self {
        Self { queue_limit: 50, persistence: Persistence::default() }
    }
}

impl Default for Cost {
    /// The paper's testbed, from its throughputs with and without coding: 3.1 ms and 8.6 us a byte (2-Mbit/s WaveLAN on
    /// a 486 of 25 MHz; `docs/models/local-error-control.md`).
    fn default() -> Self {
        Self { overhead: Duration::from_micros(3_100), per_byte: Duration::from_nanos(8_600) }
    }
}

impl Default for WindowConfig {
    /// For a link of some milliseconds that keeps order.
    fn default() -> Self {
        Self { window: 32, timeout: Duration::from_millis(200), reordering: 1, ack_delay: Duration::from_millis(2) }
    }
}

impl ClassConfig {
    fn check(&self) -> Result<(), Refusal> {
        if self.queue_limit == 0 {
            return Err(Refusal::Zero("queue_limit"));
        }
        if self.persistence.lifetime.is_some_and(Duration::is_zero) {
            return Err(Refusal::Zero("lifetime"));
        }
        Ok(())
    }
}

impl Config {
    /// Checks that an end can be made of it.
    ///
    /// # Errors
    /// [`Refusal`] says why not.
    pub fn check(&self) -> Result<(), Refusal> {
        self.bulk.check()?;
        self.real_time.check()?;
        self.adaptation.check()
    }
}

impl WindowConfig {
    /// Checks that a window can be made of it.
    ///
    /// # Errors
    /// [`Refusal`] says why not.
    pub fn check(&self) -> Result<(), Refusal> {
        if !(1..=64).contains(&self.window) {
            return Err(Refusal::Window(self.window));
        }
        if self.timeout.is_zero() {
            return Err(Refusal::Zero("timeout"));
        }
        if self.reordering == 0 {
            return Err(Refusal::Zero("reordering"));
        }
        Ok(())
    }
}
