//! The parts of a radio's channel, where it is wide: which of them are idle, and in which it transmits.

use super::arrival::Arrival;
use super::spectrum::Spectrum;
use crate::phy::spectrum::OperatingChannel;
use airbraid_mac::FrameKind;
use airbraid_mac::edca::Vector;
use airbraid_mac::phy::Rate;
use airbraid_mac::ppdu::Width;

/// Energy in a secondary 20 MHz from which on it is busy: -62 dBm; 3 dB more for each doubling (802.11-2020,
/// 21.3.18.5.4) \[mW\].
const SECONDARY_ENERGY: f64 = 6.309_573e-7;
/// Power of a PPDU in a secondary channel from which on it is busy: -72 dBm (21.3.18.5.4, 27.3.20.6.4) \[mW\].
const SECONDARY_PPDU: f64 = 6.309_573e-8;

/// The channel of a radio by its 20-MHz parts.
#[derive(Debug)]
pub(super) struct WideChannel {
    /// The channel, if it has frequencies.
    channel: Option<OperatingChannel>,
    /// Number of 20-MHz channels in it, and the place of the primary one.
    pub units: usize,
    pub primary: usize,
    /// The widest primary channel that is idle beyond the primary 20 MHz.
    idle: Width,
    /// The part in which the radio answers: that of the PPDU that came last; `None`: all.
    pub answers_in: Option<Width>,
    /// The part in which it announces and requests; `None`: all.
    pub announces_in: Option<Width>,
}

impl WideChannel {
    pub fn new(channel: Option<OperatingChannel>) -> Self {
        Self {
            units: channel.map_or(1, |channel| channel.units()),
            primary: channel.map_or(0, |channel| channel.primary()),
            channel,
            idle: Width::Mhz320,
            answers_in: None,
            announces_in: None,
        }
    }

    /// The widest primary channel that is idle beyond the primary 20 MHz, if that has changed. What fills the whole
    /// channel is not among the arrivals: then the primary is busy.
    pub fn change<'a>(
        &mut self,
        arrivals: impl Iterator<Item = &'a Arrival> + Clone,
        spectrum: &Spectrum,
    ) -> Option<Width> {
        let channel = self.channel.filter(|channel| channel.units() > 1)?;
        let is_busy = |width: &&Width| self.is_secondary_busy(&channel, **width, arrivals.clone(), spectrum);
        // What lies beyond a width is busy: that is the widest.
        let idle = Width::ALL.iter().find(is_busy).copied().unwrap_or(Width::Mhz320);
        (std::mem::replace(&mut self.idle, idle) != idle).then_some(idle)
    }

    /// Whether the channel that doubles the primary channel of `width` is busy: by a PPDU that is mainly there, or by
    /// energy.
    fn is_secondary_busy<'a>(
        &self,
        channel: &OperatingChannel,
        width: Width,
        arrivals: impl Iterator<Item = &'a Arrival> + Clone,
        spectrum: &Spectrum,
    ) -> bool {
        let Some(double) = Width::ALL.get(width as usize + 1).filter(|double| **double <= channel.width()) else {
            return false;
        };
        let (inner, outer) = (channel.places_of_primary(width), channel.places_of_primary(*double));
        let in_it = |arrival: &Arrival| -> f64 {
            let places = outer.clone().filter(|place| !inner.contains(place));
            places.map(|place| arrival.part(place, self.units, spectrum)).sum()
        };
        let energy: f64 = arrivals.clone().map(in_it).sum();
        let limit = SECONDARY_ENERGY * f64::from(width.mhz() / Width::Mhz20.mhz());
        let is_ppdu = |power: f64, arrival: &Arrival| 2.0 * power > arrival.power(spectrum) && power >= SECONDARY_PPDU;
        energy >= limit || arrivals.clone().any(|arrival| is_ppdu(in_it(arrival), arrival))
    }

    /// The width of the channel.
    pub fn width(&self) -> Option<Width> {
        self.channel.map(|channel| channel.width())
    }

    /// The part of the channel that a PPDU of this radio fills; `None`: all.
    pub fn narrowed(&self, kind: FrameKind, rate: Rate, vector: Option<&Vector>) -> Option<Width> {
        let channel = self.channel.filter(|channel| channel.units() > 1)?;
        let part = match vector {
            // DSSS and CCK have no duplicates.
            _ if !rate.modulation.is_ofdm() => Some(Width::Mhz20),
            Some(Vector::Mode(mode)) => Some(mode.choice().width),
            // Data for a station that has no wider channel.
            Some(Vector::NonHt(_)) if kind == FrameKind::Data => Some(Width::Mhz20),
            _ if matches!(kind, FrameKind::Ack | FrameKind::BlockAck | FrameKind::Cts) => self.answers_in,
            _ if matches!(kind, FrameKind::Rts | FrameKind::MuRts | FrameKind::BlockAckRequest) => self.announces_in,
            _ => None,
        };
        part.filter(|width| *width < channel.width())
    }
}
