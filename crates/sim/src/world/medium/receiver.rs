//! A radio as the frames on the air find it: what it senses, and which frame it listens to.

use super::super::id::TransmissionId;
use super::super::slotted::Place;
use super::Beginning;
use super::arrival::Arrival;
use super::judged::PpduAccount;
use super::spectrum::Spectrum;
use super::wide::WideChannel;
use crate::phy::path_loss::threshold_power;
use crate::phy::{ErrorModel, PlainBer, Receiver};
use crate::scenario::spec::{Mac, Radio};
use airbraid_engine::Stream;
use airbraid_mac::Channel;
use airbraid_mac::edca::Vector;
use airbraid_mac::phy::{Rate, Standard};
use airbraid_mac::ppdu::Width;
use airbraid_units::{Duration, Instant};
use std::ops::Range;

/// The frame to which a radio listens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lock {
    pub transmission: TransmissionId,
    pub power: f64,
    /// Whether it is strong enough to be decoded; if not, it ends as an error.
    pub decodable: bool,
    /// Whether the radio itself transmitted meanwhile: it holds a receiver of ns-2, and nobody hears of its end.
    pub missed: bool,
    /// When its preamble came.
    pub(super) since: Instant,
    /// When its last bit will have come.
    pub(super) until: Instant,
    /// The strongest interference so far, together.
    pub(super) interference: f64,
    /// Probability that all bits so far were right, and how many those are (SINR model); of a PPDU those of its PHY
    /// header.
    pub(super) success: f64,
    pub(super) bits: u64,
    /// The receiver's account of the frame so far ends here.
    pub(super) settled: Instant,
}

/// A decodable frame that is lost as another begins.
pub(super) type Lost = Option<TransmissionId>;

/// A radio's decision about errors.
#[derive(Clone, Copy, Debug)]
pub(super) enum Errors {
    None,
    Ber(PlainBer),
    Sinr,
}

/// Thresholds and noise of a radio \[mW\], ratios as factors, and the modulations that it knows.
#[derive(Debug)]
pub(super) struct Limits {
    pub reception: f64,
    pub carrier_sense: f64,
    /// Above this power energy of any kind makes the medium busy.
    energy_detect: f64,
    pub noise: f64,
    pub implementation_loss: f64,
    pub capture: Option<f64>,
    recapture: Option<f64>,
    /// The ratio from which on a frame that begins is noticed as one.
    preamble: Option<f64>,
    /// The ratio by which a later frame must be weaker to be ignored, where the receiver is ns-2's.
    ns2: Option<f64>,
    /// Whether it knows OFDM, and DSSS and CCK: the OFDM PHYs of 2.4 GHz know both.
    knows_ofdm: bool,
    knows_dsss: bool,
}

/// A radio as the frames on the medium find it.
#[derive(Debug)]
pub(super) struct RadioState {
    pub limits: Limits,
    pub errors: Errors,
    /// Whether it keeps an account of the frame that it receives: MPDUs, or SINRs.
    pub settles: bool,
    /// Whether it is of 802.11n or later, whose non-HT frames have the curves of its other frames.
    pub(super) is_newer: bool,
    pub(super) ppdu: PpduAccount,
    pub is_up: bool,
    /// Where a station that has several channels listens; [`DEAF`] while it changes.
    pub tuned: Channel,
    /// Where it will listen then.
    pub next_channel: Channel,
    /// Frames for this radio that it did not even begin to receive because another lay on them.
    pub missed: u64,
    pub transmitting_until: Instant,
    pub arrivals: Vec<Arrival>,
    /// The place of the arrival that probably ends next: what begins together ends together, in the same order.
    next: usize,
    /// All energy in its channel \[mW\], if it is summed up.
    pub energy: f64,
    /// Whether that is the sum of what is on the air now.
    is_summed: bool,
    /// The part of it that no receiver takes for a frame: of channels that overlap with this one.
    pub foreign: f64,
    /// Number of arrivals that do not fill the channel evenly.
    pub uneven: u32,
    pub wide: WideChannel,
    pub is_busy: bool,
    pub lock: Option<Lock>,
    random: Stream,
}

/// Ratio at which a stronger frame takes a receiver over where the scenario sets none: the capture threshold of ns-2
/// and of many chips, 10 dB.
const RECAPTURE_RATIO: f64 = 10.0;
/// Time in which a receiver looks for a preamble: half of L-STF (ns-3, `WifiPhy::GetPreambleDetectionDuration`).
const PREAMBLE_DETECTION: Duration = Duration::from_micros(4);

impl Errors {
    pub fn new(model: ErrorModel) -> Self {
        match model {
            ErrorModel::None => Self::None,
            ErrorModel::Ber(ber) => Self::Ber(PlainBer::new(ber)),
            ErrorModel::Sinr => Self::Sinr,
        }
    }
}

impl Limits {
    fn new(spec: &Radio) -> Self {
        let config = &spec.radio;
        let capture = config.capture.map(|ratio| ratio.to_linear());
        let ratio = capture.unwrap_or(RECAPTURE_RATIO);
        let standard = spec.mac.phy().map(|phy| phy.standard);
        let energy_detect = spec.spectrum.and_then(|spectrum| spectrum.energy_detect);
        Self {
            reception: threshold_power(config, config.reception).0,
            carrier_sense: threshold_power(config, config.carrier_sense).0,
            energy_detect: energy_detect.map_or(f64::INFINITY, |level| level.to_milliwatt().0),
            noise: config.noise.to_milliwatt().0,
            implementation_loss: config.implementation_loss.to_linear(),
            capture,
            recapture: (config.receiver == Receiver::Standard { recapture: true }).then_some(ratio),
            preamble: config.preamble_detection.map(|ratio| ratio.to_linear()),
            ns2: (config.receiver == Receiver::Ns2).then_some(ratio),
            knows_ofdm: !matches!(standard, Some(Standard::Dot11b | Standard::Fhss)),
            knows_dsss: standard != Some(Standard::Dot11a),
        }
    }
}

impl RadioState {
    /// A radio that hears nothing yet; `acts_early` says whether its MAC hears of MPDUs as they end.
    pub fn new(spec: &Radio, place: &Place, acts_early: bool, random: Stream) -> Self {
        let config = &spec.radio;
        let has_mpdus = matches!(spec.mac, Mac::Edca(_));
        Self {
            limits: Limits::new(spec),
            settles: config.error == ErrorModel::Sinr || has_mpdus,
            is_newer: matches!(&spec.mac, Mac::Edca(config) if matches!(config.data, Vector::Mode(_))),
            ppdu: PpduAccount::new(acts_early && has_mpdus),
            errors: Errors::new(config.error),
            is_up: true,
            tuned: place.channel,
            next_channel: place.channel,
            missed: 0,
            transmitting_until: Instant::ZERO,
            arrivals: Vec::new(),
            next: 0,
            energy: 0.0,
            is_summed: true,
            foreign: 0.0,
            uneven: 0,
            wide: WideChannel::new(spec.spectrum.map(|spectrum| spectrum.channel)),
            is_busy: false,
            lock: None,
            random,
        }
    }

    /// Whether a frame with nothing beside it needs no account: it is sensed, found and read by its power alone.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !self.settles && self.limits.preamble.is_none()
    }

    /// Whether it knows the modulation of a frame: if not, that is energy.
    #[inline]
    pub fn knows(&self, rate: Rate) -> bool {
        if rate.modulation.is_ofdm() { self.limits.knows_ofdm } else { self.limits.knows_dsss }
    }

    /// Energy has gone. The sum is taken again, so that no rounding error stays behind: at once where an account is
    /// kept of it, else when somebody asks.
    #[inline]
    pub fn remove(&mut self, id: TransmissionId, spectrum: &Spectrum) {
        if let [only] = self.arrivals[..]
            && only.transmission == id
        {
            self.arrivals.clear();
            (self.energy, self.foreign, self.uneven, self.is_summed) = (0.0, 0.0, 0, true);
            return;
        }
        if let Some(place) = self.place_of(id) {
            self.arrivals.swap_remove(place);
            self.next = place + 1;
        }
        if self.settles || self.uneven > 0 {
            self.add_up(spectrum);
        } else {
            self.is_summed = false;
        }
    }

    fn place_of(&self, id: TransmissionId) -> Option<usize> {
        let is_it = |arrival: &Arrival| arrival.transmission == id;
        let last = self.next.min(self.arrivals.len());
        let behind = self.arrivals[last..].first().is_some_and(is_it).then_some(last);
        // Near the place where one was found before: what begins together ends in the same order, and of what is left
        // the first half lies the other way round.
        let before = || self.arrivals[..last].iter().rposition(is_it);
        behind.or_else(before).or_else(|| self.arrivals[last..].iter().position(is_it).map(|place| last + place))
    }

    /// Sums up the energy if some has gone since.
    #[inline]
    pub fn sum_up(&mut self, spectrum: &Spectrum) {
        if !self.is_summed {
            self.add_up(spectrum);
        }
    }

    /// Sums up the energy on the channel to which it is tuned.
    pub fn add_up(&mut self, spectrum: &Spectrum) {
        self.is_summed = true;
        let there = || self.arrivals.iter().filter(|arrival| arrival.channel == self.tuned);
        self.energy = there().map(|arrival| arrival.power(spectrum)).sum();
        if self.uneven > 0 {
            self.foreign = there().filter(|arrival| !arrival.is_own()).map(|arrival| arrival.power(spectrum)).sum();
            self.uneven = there().filter(|arrival| arrival.is_in_part()).count() as u32;
        }
    }

    /// Whether the medium is busy for it: a frame of its channel above carrier sense, or any energy above the
    /// threshold for that.
    #[inline]
    pub fn senses(&self, spectrum: &Spectrum) -> bool {
        self.energy - self.foreign >= self.limits.carrier_sense
            || (self.limits.preamble.is_some() && self.lock.is_some())
            || (self.uneven > 0 && self.energy_on_primary(spectrum) >= self.limits.energy_detect)
    }

    /// The same after some has gone: one frame that is loud enough needs no sum, and nothing at all is not sensed.
    #[inline]
    pub fn still_senses(&mut self, spectrum: &Spectrum) -> bool {
        !self.arrivals.is_empty() && self.senses_rest(spectrum)
    }

    #[inline(never)]
    fn senses_rest(&mut self, spectrum: &Spectrum) -> bool {
        let is_loud = |last: &Arrival| last.channel == self.tuned && last.power(spectrum) >= self.limits.carrier_sense;
        if !self.is_summed && self.arrivals.last().is_some_and(is_loud) {
            return true;
        }
        self.sum_up(spectrum);
        self.senses(spectrum)
    }

    /// Energy in its primary 20 MHz.
    fn energy_on_primary(&self, spectrum: &Spectrum) -> f64 {
        let (primary, units) = (self.wide.primary, self.wide.units);
        let there = self.arrivals.iter().filter(|arrival| arrival.channel == self.tuned);
        there.map(|arrival| arrival.on_primary(primary, units, spectrum)).sum()
    }

    /// The widest primary channel that is idle beyond the primary 20 MHz, if that has changed with what is on the air.
    #[cold]
    pub fn secondary_change(&mut self, spectrum: &Spectrum) -> Option<Width> {
        let here = self.arrivals.iter().filter(|arrival| arrival.channel == self.tuned);
        self.wide.change(here.filter(|arrival| arrival.is_in_part()), spectrum)
    }

    /// The 20-MHz channels in which it listens to a frame: those that the frame fills, or of a duplicate the primary.
    pub(super) fn listened(&self, own: &Arrival, spectrum: &Spectrum) -> Option<Range<usize>> {
        let primary = self.wide.primary;
        own.filled(self.wide.units, spectrum).or_else(|| own.is_readable().then_some(primary..primary + 1))
    }

    /// Power that lies over a frame, of which `others` is what is in the whole channel beside it: of what does not fill
    /// that only the part in the frame's own 20-MHz channels.
    #[inline]
    pub(super) fn over(&self, id: TransmissionId, others: f64, spectrum: &Spectrum) -> f64 {
        let is_even = self.uneven == 0 || self.wide.units == 1;
        if is_even { others } else { self.over_parts(id, spectrum).map_or(others, |(over, _)| over) }
    }

    /// The same, and the number of these channels.
    #[cold]
    fn over_parts(&self, id: TransmissionId, spectrum: &Spectrum) -> Option<(f64, usize)> {
        let own = self.arrivals.iter().find(|arrival| arrival.transmission == id)?;
        let places = self.listened(own, spectrum)?;
        let is_other = |arrival: &&Arrival| arrival.transmission != id && arrival.channel == self.tuned;
        let of =
            |arrival: &Arrival| places.clone().map(|place| arrival.part(place, self.wide.units, spectrum)).sum::<f64>();
        Some((self.arrivals.iter().filter(is_other).map(of).sum(), places.len()))
    }

    /// Notes the power that lies over the frame to which it listens, which has changed.
    fn note_interference(&mut self, spectrum: &Spectrum) {
        let Some(lock) = self.lock else { return };
        let over = self.over(lock.transmission, self.energy - lock.power, spectrum);
        if let Some(lock) = &mut self.lock {
            lock.interference = lock.interference.max(over);
        }
    }

    /// Energy begins that is no frame for this receiver.
    pub fn on_foreign(&mut self, now: Instant, power: f64, spectrum: &Spectrum) -> Beginning {
        self.foreign += power;
        self.note_interference(spectrum);
        self.lose_preamble(now, spectrum);
        self.notice(spectrum)
    }

    /// Energy has come: tells whether the medium has changed for the MAC.
    #[inline]
    pub fn notice(&mut self, spectrum: &Spectrum) -> Beginning {
        let senses = self.senses(spectrum);
        let was_busy = std::mem::replace(&mut self.is_busy, senses);
        match (was_busy, self.is_busy) {
            _ if !self.is_up => Beginning::Nothing,
            (false, true) => Beginning::Busy,
            (true, false) => Beginning::Idle,
            _ => Beginning::Nothing,
        }
    }

    /// Whether a frame that begins is ignored for the one being received: ns-2's receiver alone tells its MAC.
    pub fn ignores(&self, power: f64) -> bool {
        self.limits.ns2.is_some_and(|ratio| self.lock.is_some_and(|lock| lock.power >= power * ratio))
    }

    /// Another frame begins, until `until`, while energy `before` is on the medium. Returns the decodable frame that is
    /// lost by this.
    #[inline(always)]
    pub fn on_frame(
        &mut self,
        now: Instant,
        (arrival, power): (Arrival, f64),
        until: Instant,
        before: f64,
        spectrum: &Spectrum,
    ) -> (Lost, Lost) {
        let transmission = arrival.transmission;
        let decodable = arrival.is_readable() && power >= self.limits.reception;
        let missed = self.transmitting_until > now;
        if !decodable && power < self.limits.carrier_sense && self.limits.preamble.is_none() {
            // No receiver takes it for a frame: it only lies over what is listened to.
            if self.is_up && !missed && self.limits.ns2.is_none() {
                self.note_interference(spectrum);
            }
            return (None, None);
        }
        let next = Lock {
            transmission,
            power,
            decodable: decodable && !missed,
            missed,
            since: now,
            until,
            interference: self.over(transmission, before, spectrum),
            success: 1.0,
            bits: 0,
            settled: now,
        };
        match self.limits.ns2 {
            _ if !self.is_up => (None, None),
            Some(ratio) => (self.hold(next, ratio), None),
            None if missed => (None, None),
            None => match self.limits.preamble {
                Some(_) => self.detect(now, next, spectrum),
                None => (self.consider_lock(next, spectrum), None),
            },
        }
    }

    /// Looks for the preamble of a frame that begins: of those that begin together the strongest, if it stands out.
    /// Otherwise the receiver finds no frame, and there is only energy.
    fn detect(&mut self, now: Instant, next: Lock, spectrum: &Spectrum) -> (Lost, Lost) {
        if self.stands_out(&next, spectrum) {
            if let (Some(lock), None) = (self.lock, self.limits.recapture)
                && now < lock.since + PREAMBLE_DETECTION
                && next.decodable
            {
                self.begin_lock(next);
                return (lock.decodable.then_some(lock.transmission), None);
            }
            return (self.consider_lock(next, spectrum), None);
        }
        let lost = next.decodable.then_some(next.transmission);
        let first = self.lose_preamble(now, spectrum);
        self.note_interference(spectrum);
        (first, lost)
    }

    /// Gives up a frame that has just begun, if it does not stand out any more. Returns it if it was decodable.
    fn lose_preamble(&mut self, now: Instant, spectrum: &Spectrum) -> Lost {
        let lock = self.lock.filter(|lock| self.limits.preamble.is_some() && now < lock.since + PREAMBLE_DETECTION)?;
        if self.stands_out(&lock, spectrum) {
            return None;
        }
        self.lock = None;
        lock.decodable.then_some(lock.transmission)
    }

    /// Whether a frame is noticed in all that is on the air now.
    fn stands_out(&self, frame: &Lock, spectrum: &Spectrum) -> bool {
        let (power, units) = (frame.power, self.wide.units);
        let parts = if self.uneven == 0 || units == 1 { None } else { self.over_parts(frame.transmission, spectrum) };
        let others = match parts {
            None => self.limits.noise + (self.energy - power).max(0.0),
            Some((over, count)) => self.limits.noise * count as f64 / units as f64 + over,
        };
        self.limits.preamble.is_none_or(|ratio| power >= others * ratio)
    }

    fn begin_lock(&mut self, lock: Lock) {
        self.ppdu.begin();
        self.lock = Some(lock);
    }

    /// Locks on a frame that begins, or counts it as interference. Returns the decodable frame that is lost by this.
    fn consider_lock(&mut self, next: Lock, spectrum: &Spectrum) -> Option<TransmissionId> {
        let Lock { power, decodable, .. } = next;
        let mut lost = None;
        let over = self.lock.map_or(0.0, |lock| self.over(lock.transmission, self.energy - lock.power, spectrum));
        let takes = match &mut self.lock {
            None => power >= self.limits.carrier_sense,
            // What cannot be decoded gives way to what can; a decodable frame gives way to a much stronger one only
            // where the radio is told to.
            Some(lock) => {
                let stronger = self.limits.recapture.is_some_and(|ratio| power >= lock.power * ratio);
                let takes = decodable && (!lock.decodable || stronger);
                if !takes {
                    lock.interference = lock.interference.max(over);
                }
                lost = match (takes, lock.decodable) {
                    (true, true) => Some(lock.transmission),
                    (false, _) if decodable => Some(next.transmission),
                    _ => None,
                };
                takes
            }
        };
        if takes {
            self.begin_lock(next);
        }
        lost
    }

    /// The same as ns-2 does it: the receiver is held by what begins first. A later frame is ignored if it is weaker by
    /// `ratio`; otherwise both are lost, and the receiver is held until the later end.
    fn hold(&mut self, next: Lock, ratio: f64) -> Option<TransmissionId> {
        let next = Lock { interference: 0.0, ..next };
        let Some(lock) = &mut self.lock else {
            self.lock = (next.power >= self.limits.carrier_sense).then_some(next);
            return None;
        };
        if next.power < self.limits.carrier_sense || lock.power >= next.power * ratio {
            return None;
        }
        let lost = if next.until > lock.until {
            let first = (lock.decodable).then_some(lock.transmission);
            *lock = next;
            first
        } else {
            next.decodable.then_some(next.transmission)
        };
        lock.interference = f64::INFINITY;
        lost
    }

    /// The frame to which it listens has ended, if it is this one; `None`: nobody hears of that.
    #[inline]
    pub fn unlock(&mut self, id: TransmissionId) -> Option<Lock> {
        match self.lock {
            Some(lock) if lock.transmission == id => {
                self.lock = None;
                if lock.missed { None } else { Some(lock) }
            }
            _ => None,
        }
    }

    /// The radio itself begins to transmit: it listens to nothing. A receiver of ns-2 stays held to the end of what it
    /// misses.
    pub fn turn_deaf(&mut self) {
        match &mut self.lock {
            Some(lock) if self.limits.ns2.is_some() => (lock.decodable, lock.missed) = (false, true),
            lock => *lock = None,
        }
    }

    /// Uniform in \[0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        // 53 random bits, as many as a double holds.
        (self.random.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }
}
