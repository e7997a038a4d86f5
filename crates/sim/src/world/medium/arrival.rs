//! Energy that arrives at a radio: a frame of its channel, or a part of one of another.

use super::super::id::TransmissionId;
use super::spectrum::{CouplingId, Spectrum};
use super::{Hearer, Transmission};
use airbraid_mac::Channel;

/// Energy at a radio. Of a crowded channel a radio holds hundreds: 16 byte each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Power at all frequencies together \[mW\].
    full: f64,
    pub transmission: TransmissionId,
    /// Where it is; [`CouplingId::WHOLE`]: evenly in the radio's channel.
    coupling: CouplingId,
    pub channel: Channel,
    grasp: Grasp,
}

/// The use of an arrival to a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grasp {
    /// Energy.
    Energy,
    /// A frame for it to find, of which it reads no more than the header.
    Preamble,
    /// A frame that it can decode: it lies in its channel, or is a duplicate in each 20 MHz.
    Frame,
}

impl Arrival {
    /// A frame that fills the radio's channel.
    pub const fn whole(transmission: TransmissionId, channel: Channel, power: f64) -> Self {
        Self { full: power, transmission, coupling: CouplingId::WHOLE, channel, grasp: Grasp::Frame }
    }

    /// One that does not: of another channel, or of another width.
    pub fn in_part(
        transmission: TransmissionId,
        sent: &Transmission,
        (hearer, link): (Hearer, CouplingId),
        spectrum: &Spectrum,
    ) -> Self {
        let (place, coupling) = spectrum.coupling(link, sent.narrowed);
        let is_readable = coupling.decodable.is_some() || (coupling.has_preamble && sent.is_non_ht());
        let grasp = match is_readable {
            true => Grasp::Frame,
            false if coupling.has_preamble => Grasp::Preamble,
            false => Grasp::Energy,
        };
        Self { full: hearer.power(), transmission, coupling: place, channel: sent.channel, grasp }
    }

    /// The same for a receiver that does not know its modulation.
    pub fn as_energy(self) -> Self {
        Self { grasp: Grasp::Energy, ..self }
    }

    /// Whether it is a frame for this receiver to find, and not only energy.
    #[inline]
    pub fn is_own(&self) -> bool {
        self.grasp != Grasp::Energy
    }

    /// Whether the receiver can decode all of it.
    #[inline]
    pub fn is_readable(&self) -> bool {
        self.grasp == Grasp::Frame
    }

    /// Whether it does not fill the radio's channel evenly, or is no frame for it.
    #[inline]
    pub fn is_in_part(&self) -> bool {
        self.coupling != CouplingId::WHOLE || !self.is_own()
    }

    /// Power in the radio's channel \[mW\].
    #[inline]
    pub fn power(&self, spectrum: &Spectrum) -> f64 {
        if self.coupling == CouplingId::WHOLE { self.full } else { self.full * spectrum.get(self.coupling).in_band }
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
            self.full / count as f64
        }
    }

    /// Power in the primary 20 MHz of a channel that has `count` of them.
    pub fn on_primary(&self, place: usize, count: usize, spectrum: &Spectrum) -> f64 {
        if self.is_in_part() {
            self.full * spectrum.get(self.coupling).parts.get(place).copied().unwrap_or(0.0)
        } else {
            self.full * (1.0 / count as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_and_a_hearer_have_16_byte() {
        assert_eq!((size_of::<Arrival>(), size_of::<Hearer>()), (16, 16));
    }
}
