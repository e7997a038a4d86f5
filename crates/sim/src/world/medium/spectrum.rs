//! Radios by their frequencies: who shares them, and the part of a transmission that falls into another's channel.
//!
//! Everything is worked out once for each pair of unlike channels, so a hearer costs a comparison. Radios without
//! frequencies (`overlap = "ignored"`, or a number that has none) share a channel if they have its number, and nothing
//! else.

use super::super::slotted::Place;
use crate::phy::spectrum::{OperatingChannel, Shape};
use crate::scenario::spec::Radio;
use airbraid_mac::phy::Standard;
use airbraid_mac::ppdu::Width;

/// Power below this part of a transmission does not exist: -90 dB, below the noise of any hearer that a transmitter of
/// 1 W has beyond a metre.
const NOTHING: f64 = 1e-9;

/// The frequencies of a radio, one of a few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TuningId(u16);

/// A coupling of two tunings for one width of the PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CouplingId(u16);

impl CouplingId {
    /// Two radios on one channel that has no frequencies: everything arrives.
    pub const WHOLE: Self = Self(0);
}

/// The way in which one radio hears another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub coupling: CouplingId,
    /// Whether a PPDU over the sender's whole channel fills the hearer's, and both have the same modulations.
    pub is_whole: bool,
}

/// The part of a PPDU that arrives in a channel.
#[derive(Clone, Debug)]
pub(super) struct Coupling {
    /// Part of its power in the whole channel.
    pub in_band: f64,
    /// The same for each 20 MHz of it, from the lowest (DSSS: one of 22 MHz).
    pub parts: Box<[f64]>,
    /// The parts that the PPDU fills, if the receiver can decode it: its primary is the PPDU's, and all of the PPDU is
    /// in its channel.
    pub decodable: Option<core::ops::Range<usize>>,
    /// Whether the receiver finds the preamble, and reads non-HT duplicates: the PPDU fills its primary 20 MHz.
    pub has_preamble: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Tuning {
    band: Option<u32>,
    /// Its modulations.
    standard: Option<Standard>,
    occupied: Option<(OperatingChannel, Shape)>,
}

/// Couplings of all tunings with each other.
#[derive(Debug)]
pub(super) struct Spectrum {
    tunings: Vec<Tuning>,
    /// By sender and hearer.
    links: Vec<Option<Link>>,
    /// For each link that has frequencies one for each width, the narrowest first.
    couplings: Vec<Coupling>,
}

impl Spectrum {
    /// The tunings of radios in their order, and their couplings.
    pub fn new<'a>(radios: impl Iterator<Item = (&'a Radio, Place)>) -> (Self, Vec<TuningId>) {
        let mut spectrum = Self { tunings: Vec::new(), links: Vec::new(), couplings: vec![Coupling::all()] };
        let mut ids = Vec::new();
        for (radio, place) in radios {
            let occupied = radio.spectrum.filter(|_| place.band.is_some()).map(|s| (s.channel, s.shape));
            let standard = radio.mac.phy().map(|phy| phy.standard);
            let tuning = Tuning { band: place.band, standard, occupied };
            let known = spectrum.tunings.iter().position(|other| *other == tuning);
            let index = known.unwrap_or_else(|| {
                spectrum.tunings.push(tuning);
                spectrum.tunings.len() - 1
            });
            ids.push(TuningId(index as u16));
        }
        for from in spectrum.tunings.clone() {
            for to in spectrum.tunings.clone() {
                let link = spectrum.link_of(from, to);
                spectrum.links.push(link);
            }
        }
        (spectrum, ids)
    }

    /// The way in which a radio on `to` hears one on `from`; `None`: not at all.
    #[inline]
    pub fn link(&self, from: TuningId, to: TuningId) -> Option<Link> {
        self.links[usize::from(from.0) * self.tunings.len() + usize::from(to.0)]
    }

    /// The coupling for PPDUs over the whole channel of the sender, or over a part of it.
    pub fn coupling(&self, of: CouplingId, width: Option<Width>) -> (CouplingId, &Coupling) {
        let place = match width {
            Some(width) if of != CouplingId::WHOLE => usize::from(of.0) + width as usize,
            _ if of == CouplingId::WHOLE => 0,
            _ => usize::from(of.0) + Width::ALL.len() - 1,
        };
        (CouplingId(place as u16), &self.couplings[place])
    }

    /// The largest part of a transmission that arrives, whatever its width.
    pub fn strongest(&self, of: CouplingId) -> f64 {
        let all = self.couplings.iter().skip(usize::from(of.0)).take(Width::ALL.len());
        all.map(|coupling| coupling.in_band).fold(0.0, f64::max)
    }

    /// The coupling of an arrival.
    pub fn get(&self, of: CouplingId) -> &Coupling {
        &self.couplings[usize::from(of.0)]
    }

    fn link_of(&mut self, from: Tuning, to: Tuning) -> Option<Link> {
        let is_alike = from.standard == to.standard;
        let (Some(sender), Some(hearer)) = (from.occupied, to.occupied) else {
            return (from.band == to.band).then_some(Link { coupling: CouplingId::WHOLE, is_whole: is_alike });
        };
        let coupling = CouplingId(self.couplings.len() as u16);
        let mut all: Vec<Coupling> = Vec::with_capacity(Width::ALL.len());
        for (place, width) in Width::ALL.into_iter().enumerate() {
            // A PPDU is no wider than its channel.
            let before = place.checked_sub(1).map(|before| (before, sender.0.narrowed(Width::ALL[before])));
            all.push(match before {
                Some((before, sent)) if sent == sender.0.narrowed(width) => all[before].clone(),
                _ => Coupling::new(sender, width, hearer),
            });
        }
        let strongest = all.iter().map(|coupling| coupling.in_band).fold(0.0, f64::max);
        if strongest < NOTHING {
            return None;
        }
        self.couplings.extend(all);
        let place = |channel: OperatingChannel| (channel.low_mhz(), channel.width(), channel.primary());
        Some(Link { coupling, is_whole: is_alike && place(sender.0) == place(hearer.0) })
    }
}

impl Coupling {
    /// Everything arrives.
    fn all() -> Self {
        Self { in_band: 1.0, parts: Box::new([1.0]), decodable: Some(0..1), has_preamble: true }
    }

    /// The coupling of a PPDU of at most `width` on a channel of `sender` with the channel of `hearer`.
    fn new(sender: (OperatingChannel, Shape), width: Width, hearer: (OperatingChannel, Shape)) -> Self {
        let (channel, own) = hearer;
        let sent = sender.0.narrowed(width);
        let shape = match sender.1 {
            Shape::Dsss => Shape::Dsss,
            Shape::Ofdm(_) => Shape::Ofdm(sent.width()),
            Shape::Dense(_) => Shape::Dense(sent.width()),
        };
        let offset = f64::from(channel.centre_mhz()) - f64::from(sent.centre_mhz());
        let (half, count) = (own.half_band_mhz(), channel.units());
        let step = 2.0 * half / count as f64;
        let edge = |place: usize| offset - half + step * place as f64;
        let parts: Box<[f64]> = (0..count).map(|place| shape.part(edge(place), edge(place + 1))).collect();
        let primary = channel.primary_centre_mhz();
        let is_inside = sent.low_mhz() >= channel.low_mhz()
            && sent.low_mhz() + sent.width().mhz() <= channel.low_mhz() + channel.width().mhz();
        let first = (sent.low_mhz().saturating_sub(channel.low_mhz()) / Width::Mhz20.mhz()) as usize;
        let is_own = is_inside && sent.primary_centre_mhz() == primary;
        // A duplicate in each 20 MHz of the PPDU, one of which is this primary.
        let fills = (0..sent.units() as u32).any(|unit| sent.low_mhz() + 20 * unit + 10 == primary);
        Self {
            in_band: parts.iter().sum(),
            parts,
            decodable: is_own.then(|| first..first + sent.units()),
            has_preamble: fills,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::spectrum::Ask;
    use airbraid_mac::ppdu::Band;

    fn channel(width: Width, number: u32) -> (OperatingChannel, Shape) {
        let ask = Ask { band: Band::Ghz5, width, number, primary: None, secondary: None };
        (OperatingChannel::new(ask).unwrap(), Shape::Dense(width))
    }
    fn db(part: f64) -> f64 {
        10.0 * libm::log10(part)
    }

    #[test]
    fn a_station_of_20_mhz_is_heard_whole_in_one_quarter_of_80_mhz_that_has_its_primary() {
        let (wide, narrow) = (channel(Width::Mhz80, 36), channel(Width::Mhz20, 36));
        let up = Coupling::new(narrow, Width::Mhz20, wide);
        assert_eq!((up.decodable.clone(), up.has_preamble, up.parts.len()), (Some(0..1), true, 4));
        assert!(db(up.in_band) > -0.1 && db(up.parts[1]) < -20.0, "{up:?}");
        // The other way round a quarter of the power is there: it finds the preamble and reads duplicates alone.
        let down = Coupling::new(wide, Width::Mhz80, narrow);
        assert_eq!((down.decodable.clone(), down.has_preamble), (None, true));
        assert!((db(down.in_band) + 6.0).abs() < 0.2, "{down:?}");
        // What is sent in the primary 20 MHz alone it decodes.
        assert_eq!(Coupling::new(wide, Width::Mhz20, narrow).decodable, Some(0..1));
    }

    #[test]
    fn a_secondary_channel_gets_energy_and_a_neighbour_leakage() {
        let wide = channel(Width::Mhz80, 36);
        let secondary = Coupling::new(channel(Width::Mhz20, 44), Width::Mhz20, wide);
        assert_eq!((secondary.decodable.clone(), secondary.has_preamble), (None, false));
        assert!(db(secondary.parts[2]) > -0.2 && db(secondary.parts[0]) < -20.0, "{secondary:?}");
        let beside = Coupling::new(channel(Width::Mhz20, 52), Width::Mhz20, wide);
        assert!((-26.0..-20.0).contains(&db(beside.in_band)), "{beside:?}");
        assert!(Coupling::new(channel(Width::Mhz20, 149), Width::Mhz20, wide).in_band == 0.0);
    }
}
