//! What local error control can be told, and what it refuses.

use super::policy::Adaptation;
use airbraid_units::Duration;
use std::fmt;

/// One end of a link with local error control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How segment size and code follow the channel; at the slave of a polled link it is the master's that counts.
    pub adaptation: Adaptation,
    /// What a frame costs, for policies that reckon with it.
    pub cost: Cost,
    /// For packets that want every byte.
    pub bulk: ClassConfig,
    /// For packets that want to be there soon or not at all.
    pub real_time: ClassConfig,
}

/// The queue of one traffic class and how long its packets are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassConfig {
    /// Packets that wait; what finds the queue full is dropped. The one on its way is not among them.
    pub queue_limit: u32,
    /// When a packet is given up.
    pub persistence: Persistence,
}

/// When a packet is given up; by default never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Persistence {
    /// A segment is sent again so often at most: of independent losses p the share p^(n + 1) stays. None: perpetually.
    pub retransmissions: Option<u32>,
    /// So long after it was queued a packet is worth nothing, wherever it is. None: it does not age.
    pub lifetime: Option<Duration>,
}

/// The time that one frame takes: `overhead + per_byte * coded bytes`, whatever becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// What does not depend on its length.
    pub overhead: Duration,
    /// For each coded byte of its segment.
    pub per_byte: Duration,
}

/// What selective repeat needs to know beside this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Frames with a segment that may be on their way at once, 1 to 64: what an acknowledgement can tell apart.
    pub window: u32,
    /// A frame of which nothing was heard for so long counts as lost; more than the round trip, queues included.
    pub timeout: Duration,
    /// A frame counts as lost when one that was sent so many later has come; 1 on a link that keeps order.
    pub reordering: u32,
    /// What came is acknowledged at the latest after so long; sooner if a segment goes out, or two have come.
    pub ack_delay: Duration,
}

/// Why a configuration is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Parity comes in pairs: two bytes repair one.
    OddParity(u8),
    /// Parity and check leave no byte for data.
    NoRoom {
        /// Of the segment on the air.
        bytes: u16,
        /// Of each block.
        parity: u8,
    },
    /// A queue that holds nothing, or a packet that is worth nothing from the beginning.
    Zero(&'static str),
    /// The window is not 1 to 64 frames.
    Window(u32),
    /// The smallest is larger than the largest.
    Bounds(&'static str),
    /// What is remembered is not 2^1 to 2^16 segments.
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
    /// The paper's testbed, from its throughputs with and without coding: 3.1 ms and 8.6 us a byte (2-Mbit/s WaveLAN on a
    /// 486 of 25 MHz; `docs/models/local-error-control.md`).
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
    /// Whether an end can be made of it.
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
    /// Whether a window can be made of it.
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
