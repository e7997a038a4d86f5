//! A radio as the frames on the air find it: what it senses, which frame it listens to, and whether that survives.

use super::super::frame::Msdu;
use super::super::id::TransmissionId;
use super::super::slotted::Place;
use super::{Loss, Transmission};
use crate::phy::path_loss::threshold_power;
use crate::phy::{ErrorModel, ErrorRates, PlainBer, Receiver};
use crate::scenario::spec::Radio;
use airbraid_engine::Stream;
use airbraid_mac::edca::{MpduSet, Ppdu};
use airbraid_mac::{Channel, Frame};
use airbraid_units::{Duration, Instant};

/// Energy at a radio.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub transmission: TransmissionId,
    pub channel: Channel,
    pub power: f64,
}

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
    since: Instant,
    /// When its last bit will have come.
    until: Instant,
    /// The strongest interference so far, together.
    interference: f64,
    /// Probability that all bits so far were right, and how many those are (SINR model).
    success: f64,
    bits: u64,
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

/// A radio as the frames on the medium find it.
#[derive(Debug)]
pub(super) struct RadioState {
    /// Thresholds, noise \[mW\], ratios as factors.
    pub reception: f64,
    pub carrier_sense: f64,
    pub noise: f64,
    implementation_loss: f64,
    capture: Option<f64>,
    recapture: Option<f64>,
    /// The ratio from which on a frame that begins is noticed as one.
    preamble: Option<f64>,
    /// The ratio by which a later frame must be weaker to be ignored, where the receiver is ns-2's.
    ns2: Option<f64>,
    pub errors: Errors,
    pub is_up: bool,
    /// Where a station that has several channels listens; [`DEAF`] while it changes.
    pub tuned: Channel,
    /// Where it will listen then.
    pub next_channel: Channel,
    /// Frames for this radio that it did not even begin to receive because another lay on them.
    pub missed: u64,
    pub transmitting_until: Instant,
    pub arrivals: Vec<Arrival>,
    pub energy: f64,
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

impl RadioState {
    pub fn new(spec: &Radio, place: &Place, random: Stream) -> Self {
        let config = &spec.radio;
        let capture = config.capture.map(|ratio| ratio.to_linear());
        let ratio = capture.unwrap_or(RECAPTURE_RATIO);
        Self {
            reception: threshold_power(config, config.reception).0,
            carrier_sense: threshold_power(config, config.carrier_sense).0,
            noise: config.noise.to_milliwatt().0,
            implementation_loss: config.implementation_loss.to_linear(),
            capture,
            recapture: (config.receiver == Receiver::Standard { recapture: true }).then_some(ratio),
            preamble: config.preamble_detection.map(|ratio| ratio.to_linear()),
            ns2: (config.receiver == Receiver::Ns2).then_some(ratio),
            errors: Errors::new(config.error),
            is_up: true,
            tuned: place.channel,
            next_channel: place.channel,
            missed: 0,
            transmitting_until: Instant::ZERO,
            arrivals: Vec::with_capacity(4),
            energy: 0.0,
            is_busy: false,
            lock: None,
            random,
        }
    }

    /// Energy has gone. The sum is taken again, so that no rounding error stays behind.
    pub fn remove(&mut self, id: TransmissionId) {
        if let [only] = self.arrivals[..]
            && only.transmission == id
        {
            self.arrivals.clear();
            self.energy = 0.0;
            return;
        }
        if let Some(place) = self.arrivals.iter().position(|arrival| arrival.transmission == id) {
            self.arrivals.swap_remove(place);
        }
        self.energy = self.energy_there();
    }

    /// All energy on the channel to which it is tuned.
    pub fn energy_there(&self) -> f64 {
        let there = self.arrivals.iter().filter(|arrival| arrival.channel == self.tuned);
        there.map(|arrival| arrival.power).sum()
    }

    /// Whether a frame that begins is ignored for the one being received: ns-2's receiver alone tells its MAC.
    pub fn ignores(&self, power: f64) -> bool {
        self.ns2.is_some_and(|ratio| self.lock.is_some_and(|lock| lock.power >= power * ratio))
    }

    /// Another frame begins, until `until`, while energy `before` is on the medium. Returns the decodable frame that is
    /// lost by this.
    pub fn on_frame(&mut self, now: Instant, arrival: Arrival, until: Instant, before: f64) -> [Lost; 2] {
        let Arrival { transmission, power, .. } = arrival;
        let decodable = power >= self.reception;
        let missed = self.transmitting_until > now;
        let next = Lock {
            transmission,
            power,
            decodable: decodable && !missed,
            missed,
            since: now,
            until,
            interference: before,
            success: 1.0,
            bits: 0,
        };
        match self.ns2 {
            _ if !self.is_up => [None; 2],
            Some(ratio) => [self.hold(next, ratio), None],
            None if missed => [None; 2],
            None => match self.preamble {
                Some(ratio) => self.detect(now, next, ratio),
                None => [self.consider_lock(next), None],
            },
        }
    }

    /// Looks for the preamble of a frame that begins: of those that begin together the strongest, if it stands out.
    /// Otherwise the receiver finds no frame, and there is only energy.
    fn detect(&mut self, now: Instant, next: Lock, ratio: f64) -> [Lost; 2] {
        let together = self.lock.filter(|lock| now < lock.since + PREAMBLE_DETECTION);
        let others = next.interference;
        if next.power >= others * ratio {
            if let (Some(lock), None) = (self.lock, self.recapture)
                && together.is_some()
                && next.decodable
            {
                self.lock = Some(next);
                return [lock.decodable.then_some(lock.transmission), None];
            }
            return [self.consider_lock(next), None];
        }
        let lost = next.decodable.then_some(next.transmission);
        let Some(lock) = &mut self.lock else { return [lost, None] };
        let interference = others + next.power - lock.power;
        if together.is_some() && lock.power < interference * ratio {
            let first = lock.decodable.then_some(lock.transmission);
            self.lock = None;
            return [first, lost];
        }
        lock.interference = lock.interference.max(interference);
        [lost, None]
    }

    /// Locks on a frame that begins, or counts it as interference. Returns the decodable frame that is lost by this.
    fn consider_lock(&mut self, next: Lock) -> Option<TransmissionId> {
        let Lock { power, decodable, interference: before, .. } = next;
        let mut lost = None;
        let takes = match &mut self.lock {
            None => power >= self.carrier_sense,
            // What cannot be decoded gives way to what can; a decodable frame gives way to a much stronger one only
            // where the radio is told to.
            Some(lock) => {
                let stronger = self.recapture.is_some_and(|ratio| power >= lock.power * ratio);
                let takes = decodable && (!lock.decodable || stronger);
                if !takes {
                    lock.interference = lock.interference.max(before + power - lock.power);
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
            self.lock = Some(next);
        }
        lost
    }

    /// The same as ns-2 does it: the receiver is held by what begins first. A later frame is ignored if it is weaker by
    /// `ratio`; otherwise both are lost, and the receiver is held until the later end.
    fn hold(&mut self, next: Lock, ratio: f64) -> Option<TransmissionId> {
        let next = Lock { interference: 0.0, ..next };
        let Some(lock) = &mut self.lock else {
            self.lock = (next.power >= self.carrier_sense).then_some(next);
            return None;
        };
        if next.power < self.carrier_sense || lock.power >= next.power * ratio {
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

    /// The radio itself begins to transmit: it listens to nothing. A receiver of ns-2 stays held to the end of what it
    /// misses.
    pub fn turn_deaf(&mut self) {
        match &mut self.lock {
            Some(lock) if self.ns2.is_some() => (lock.decodable, lock.missed) = (false, true),
            lock => *lock = None,
        }
    }

    /// Brings the SINR model's account of the locked frame up to `now`, before the interference changes.
    pub fn settle_lock<'t>(
        &mut self,
        now: Instant,
        on_air: impl FnOnce(TransmissionId) -> Option<&'t Transmission>,
        rates: &ErrorRates,
    ) {
        if !matches!(self.errors, Errors::Sinr) {
            return;
        }
        let energy = self.energy;
        let Some(lock) = self.lock.as_mut() else { return };
        let Some(transmission) = on_air(lock.transmission) else { return };
        let bits = psdu_bits_after(transmission, now.saturating_since(lock.since));
        let chunk = bits.saturating_sub(lock.bits);
        lock.bits = bits;
        let noise = self.noise + (energy - lock.power).max(0.0);
        let sinr = lock.power / (noise * self.implementation_loss);
        lock.success *= rates.success(transmission.frame.rate.modulation, sinr, chunk);
    }

    /// Whether the frame that has ended came through.
    pub fn judge(&mut self, lock: &Lock, frame: &Frame<Msdu>) -> Result<(), Loss> {
        if !self.is_up || !lock.decodable {
            return Err(Loss::Channel);
        }
        if self.capture.is_some_and(|ratio| lock.power < lock.interference * ratio) {
            return Err(Loss::Collision);
        }
        let success = match &self.errors {
            Errors::None => 1.0,
            Errors::Ber(ber) => ber.success(frame.size.bits()),
            Errors::Sinr => lock.success,
        };
        if success >= 1.0 || self.uniform() < success {
            return Ok(());
        }
        Err(if lock.interference > self.noise { Loss::Collision } else { Loss::Channel })
    }

    /// Which MPDUs of the PPDU that has ended came through; `None`: all.
    ///
    /// # Errors
    /// None did.
    pub fn judge_mpdus(
        &mut self,
        lock: &Lock,
        ended: &Transmission,
        ppdu: &Ppdu<Msdu>,
    ) -> Result<Option<Box<MpduSet>>, Loss> {
        let (Errors::Ber(ber), Some(data)) = (self.errors, ppdu.data()) else {
            return self.judge(lock, &ended.frame).map(|()| None);
        };
        if !self.is_up || !lock.decodable {
            return Err(Loss::Channel);
        }
        if self.capture.is_some_and(|ratio| lock.power < lock.interference * ratio) {
            return Err(Loss::Collision);
        }
        let mut intact = MpduSet::default();
        let mut count = 0;
        for (place, mpdu) in data.mpdus().iter().enumerate() {
            let success = ber.success(u64::from(mpdu.size) * 8);
            if success >= 1.0 || self.uniform() < success {
                intact.insert(place);
                count += 1;
            }
        }
        match count {
            0 => Err(Loss::Channel),
            all if all == data.mpdus().len() => Ok(None),
            _ => Ok(Some(Box::new(intact))),
        }
    }

    /// Uniform in \[0, 1).
    fn uniform(&mut self) -> f64 {
        // 53 random bits, as many as a double holds.
        (self.random.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

/// Number of bits of the PSDU that have arrived `span` after the first energy: it fills the end of the frame, evenly.
fn psdu_bits_after(transmission: &Transmission, span: Duration) -> u64 {
    let bits = transmission.frame.size.bits();
    let airtime = transmission.end - transmission.start;
    let psdu = transmission.frame.rate.bit_rate.time_for(transmission.frame.size).as_nanos().max(1);
    let passed = span.as_nanos().saturating_sub(airtime.as_nanos().saturating_sub(psdu)).min(psdu);
    (u128::from(bits) * u128::from(passed) / u128::from(psdu)) as u64
}
