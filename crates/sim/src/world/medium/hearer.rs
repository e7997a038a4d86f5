//! A radio that hears another: how loud, and when.

use super::super::id::RadioId;
use airbraid_units::Duration;

/// A radio that hears another. In a cell of n stations there are n^2: 16 byte each. What is the same for all radios on
/// two channels is in [`super::spectrum::Spectrum`].
#[derive(Clone, Copy, Debug)]
pub struct Hearer {
    /// The radio.
    pub radio: RadioId,
    /// Propagation delay \[ns\], and above it [`Hearer::PARTLY`].
    delay: u32,
    /// Received power \[mW\], at all frequencies together.
    power: f64,
}

impl Hearer {
    /// Bit of a hearer whose channel is not what the sender's fills, or that does not know the same modulations. Delays
    /// are below: 2^31 ns are 644,000 km.
    const PARTLY: u32 = 1 << 31;

    pub(super) const fn new(radio: RadioId, delay: Duration, power: f64, is_whole: bool) -> Self {
        let mark = if is_whole { 0 } else { Self::PARTLY };
        Self { radio, delay: delay.as_nanos() as u32 & !Self::PARTLY | mark, power }
    }

    /// Whether what fills the sender's channel fills this radio's, and both know the same modulations.
    #[inline]
    pub(super) const fn is_whole(self) -> bool {
        self.delay & Self::PARTLY == 0
    }

    /// Received power \[mW\], at all frequencies together.
    pub fn power(self) -> f64 {
        self.power
    }
    /// Propagation delay.
    #[inline]
    pub fn delay(self) -> Duration {
        Duration::from_nanos(u64::from(self.delay & !Self::PARTLY))
    }
}
