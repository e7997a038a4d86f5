//! Energy that arrives at a radio: a frame of its channel, or a part of one of another.

use super::super::id::TransmissionId;
use super::spectrum::{CouplingId, Spectrum};
use super::{Hearer, Transmission};
use airbraid_mac::Channel;

/// Energy at a radio.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub transmission: TransmissionId,
    pub channel: Channel,
    /// Power in the radio's channel \[mW\].
    pub power: f64,
    /// Power at all frequencies together \[mW\], and where they are; [`CouplingId::WHOLE`]: evenly in the channel.
    full: f64,
    coupling: CouplingId,
    /// Power in the radio's primary 20 MHz, where it is not even \[mW\].
    pub primary: f64,
    /// Whether it is a frame for this receiver to find, and not only energy.
    pub is_own: bool,
    /// Whether the receiver can decode all of it: it lies in its channel, or is a duplicate in each 20 MHz.
    pub is_readable: bool,
}

impl Arrival {
    /// A frame that fills the radio's channel.
    pub const fn whole(transmission: TransmissionId, channel: Channel, power: f64) -> Self {
        let (coupling, is_own, is_readable) = (CouplingId::WHOLE, true, true);
        Self { transmission, channel, power, full: power, coupling, primary: power, is_own, is_readable }
    }

    /// One that does not: of another channel, or of another width.
    pub fn in_part(
        transmission: TransmissionId,
        sent: &Transmission,
        hearer: Hearer,
        primary: usize,
        spectrum: &Spectrum,
    ) -> Self {
        let (place, coupling) = spectrum.coupling(hearer.coupling, sent.narrowed);
        let full = hearer.power;
        Self {
            transmission,
            channel: sent.channel,
            power: full * coupling.in_band,
            full,
            coupling: place,
            primary: full * coupling.parts.get(primary).copied().unwrap_or(0.0),
            is_own: coupling.decodable.is_some() || coupling.has_preamble,
            is_readable: coupling.decodable.is_some() || (coupling.has_preamble && sent.is_non_ht()),
        }
    }

    /// The same for a receiver that does not know its modulation.
    pub fn as_energy(self) -> Self {
        Self { is_own: false, is_readable: false, ..self }
    }

    /// Whether it does not fill the radio's channel evenly, or is no frame for it.
    pub fn is_in_part(&self) -> bool {
        self.coupling != CouplingId::WHOLE || !self.is_own
    }

    /// The 20-MHz channels of the radio, of which there are `count`, that it fills if the radio can decode it.
    pub fn filled(&self, count: usize, spectrum: &Spectrum) -> Option<core::ops::Range<usize>> {
        if self.coupling == CouplingId::WHOLE { Some(0..count) } else { spectrum.get(self.coupling).decodable.clone() }
    }

    /// Power in 20 MHz of a channel that has `count` of them.
    pub fn part(&self, place: usize, count: usize, spectrum: &Spectrum) -> f64 {
        if self.coupling != CouplingId::WHOLE {
            self.full * spectrum.get(self.coupling).parts.get(place).copied().unwrap_or(0.0)
        } else {
            self.power / count as f64
        }
    }
}
