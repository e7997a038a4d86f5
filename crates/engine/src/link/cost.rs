//! The time that a frame takes, as policies see it.

use airbraid_units::Duration;

/// The time that one frame takes: `overhead + per_byte * coded bytes`, whatever becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The part that does not depend on its length.
    pub overhead: Duration,
    /// The part of each coded byte of its segment.
    pub per_byte: Duration,
}

impl Default for Cost {
    /// The paper's testbed, from its throughputs with and without coding: 3.1 ms and 8.6 us a byte (2-Mbit/s WaveLAN on
    /// a 486 of 25 MHz; `docs/models/local-error-control.md`).
    fn default() -> Self {
        Self { overhead: Duration::from_micros(3_100), per_byte: Duration::from_nanos(8_600) }
    }
}
