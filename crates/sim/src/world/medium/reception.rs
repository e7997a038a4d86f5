//! The frame that a radio receives: the account of what lies over it, and whether it survives.
//!
//! A frame is one piece. Of a PPDU the PHY header is one, and each MPDU is judged by what lay over itself.

use super::super::frame::Msdu;
use super::judged::Stretch;
use super::receiver::{Errors, Lock, RadioState};
use super::spectrum::Spectrum;
use super::{Loss, Transmission};
use crate::phy::{CodedRate, ErrorRates, PlainBer};
use airbraid_mac::Frame;
use airbraid_mac::edca::{Mpdu, MpduSet, Ppdu, Vector};
use airbraid_mac::phy::Modulation;
use airbraid_mac::ppdu::Coding;
use airbraid_units::{Bytes, Duration, Instant};

/// Bits of the PHY header of 802.11n and later that are sent as MCS 0: L-SIG, and HT-SIG, VHT-SIG-A, HE-SIG-A or U-SIG,
/// of 48 to 52 bits.
const HEADER_BITS: u64 = 24 + 52;
/// The same of a non-HT PPDU: SIGNAL.
const SIGNAL_BITS: u64 = 24;
/// Time before the first data symbol of a non-HT PPDU (17.4.3).
const NON_HT_PREAMBLE: Duration = Duration::from_micros(20);
/// SERVICE, before the PSDU in the first data symbol.
const SERVICE_BITS: u64 = 16;
/// The most robust modulation, which PHY headers have.
const ROBUST: CodedRate = CodedRate { mcs: 0, coding: Coding::Bcc };

impl RadioState {
    /// Brings the account of the locked frame up to `now`, before what is on the air changes.
    pub fn settle_lock<'t>(
        &mut self,
        now: Instant,
        on_air: impl FnOnce(super::TransmissionId) -> Option<&'t Transmission>,
        (rates, spectrum): (Option<&ErrorRates>, &Spectrum),
    ) {
        let Some(lock) = self.lock.filter(|lock| lock.settled < now) else { return };
        let Some(transmission) = on_air(lock.transmission) else { return };
        let data = transmission.ppdu.as_deref().filter(|ppdu| ppdu.data().is_some());
        let rates = rates.filter(|_| matches!(self.errors, Errors::Sinr));
        if data.is_none() && rates.is_none() {
            return;
        }
        let interference = self.over(lock.transmission, self.energy - lock.power, spectrum).max(0.0);
        let modulation = transmission.frame.rate.modulation;
        let by_part = match rates {
            Some(rates) if self.uneven > 0 && self.wide.units > 1 => self.sinr_by_part(modulation, rates, spectrum),
            _ => None,
        };
        let sinr =
            by_part.unwrap_or(lock.power / ((self.limits.noise + interference) * self.limits.implementation_loss));
        let span = now.saturating_since(lock.since);
        match (data, rates) {
            (Some(ppdu), _) => self.settle_ppdu((ppdu, transmission), span, (sinr, interference), rates),
            (None, Some(rates)) => self.settle_frame(transmission, span, sinr, rates),
            (None, None) => {}
        }
        if let Some(lock) = &mut self.lock {
            lock.settled = now;
        }
    }

    /// A frame without MPDUs of its own.
    fn settle_frame(&mut self, sent: &Transmission, span: Duration, sinr: f64, rates: &ErrorRates) {
        let Some(lock) = self.lock.as_mut() else { return };
        let bits = psdu_bits_after(sent, span);
        let chunk = bits.saturating_sub(lock.bits);
        lock.bits = bits;
        let modulation = sent.frame.rate.modulation;
        lock.success *= match CodedRate::of_non_ht(modulation).filter(|_| self.is_newer) {
            Some(curve) => rates.coded_success(curve, sent.frame.size, sinr, chunk),
            None => rates.success(modulation, sinr, chunk),
        };
    }

    /// A PPDU with data: its PHY header at once, its MPDUs when it has ended.
    fn settle_ppdu(
        &mut self,
        (ppdu, sent): (&Ppdu<Msdu>, &Transmission),
        span: Duration,
        (sinr, interference): (f64, f64),
        rates: Option<&ErrorRates>,
    ) {
        let Some(lock) = self.lock.as_mut() else { return };
        let (header, until) = ppdu_bits_after(ppdu, sent, span);
        let chunk = header.saturating_sub(lock.bits);
        lock.bits = header;
        if chunk > 0 {
            let is_buried = self.limits.capture.is_some_and(|ratio| lock.power < interference * ratio);
            let success = rates.map_or(1.0, |rates| rates.coded_success(ROBUST, Bytes::ZERO, sinr, chunk));
            lock.success *= if is_buried { 0.0 } else { success };
        }
        // An MPDU that has ended has cut a stretch in two.
        let is_cut = self.ppdu.early.as_ref().is_some_and(|early| early.has_any());
        match self.ppdu.stretches.last_mut() {
            Some(last) if last.until >= until => {}
            Some(last) if is_cut && last.is_like(sinr, interference) => last.until = until,
            _ => self.ppdu.stretches.push(Stretch { until, sinr, interference }),
        }
    }

    /// The SINR that stands for those in each 20 MHz of the frame to which it listens.
    fn sinr_by_part(&self, modulation: Modulation, rates: &ErrorRates, spectrum: &Spectrum) -> Option<f64> {
        let lock = self.lock.as_ref()?;
        let own = self.arrivals.iter().find(|arrival| arrival.transmission == lock.transmission)?;
        let filled = self.listened(own, spectrum)?;
        let noise = self.limits.noise / self.wide.units as f64;
        let sinr = |place: usize| {
            let all: f64 = self.arrivals.iter().map(|arrival| arrival.part(place, self.wide.units, spectrum)).sum();
            let signal = own.part(place, self.wide.units, spectrum);
            signal / ((noise + (all - signal).max(0.0)) * self.limits.implementation_loss)
        };
        Some(match modulation {
            Modulation::Ofdm { bits, .. } => rates.information(bits).effective(filled.map(sinr)),
            // DSSS and CCK fill one of them.
            _ => sinr(filled.start),
        })
    }

    /// Whether the frame that has ended came through.
    #[inline]
    pub fn judge(&mut self, lock: &Lock, frame: &Frame<Msdu>) -> Result<(), Loss> {
        if !self.is_up || !lock.decodable {
            return Err(Loss::Channel);
        }
        if self.limits.capture.is_some_and(|ratio| lock.power < lock.interference * ratio) {
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
        Err(self.loss(lock))
    }

    /// The cause of a loss.
    pub(super) fn loss(&self, lock: &Lock) -> Loss {
        if lock.interference > self.limits.noise { Loss::Collision } else { Loss::Channel }
    }

    /// Which MPDUs of the PPDU that has ended came through; `None`: all. A radio that it is not for needs only one of
    /// them, for its header.
    ///
    /// # Errors
    /// None did.
    pub fn judge_mpdus(
        &mut self,
        lock: &Lock,
        (ended, ppdu): (&Transmission, &Ppdu<Msdu>),
        is_receiver: bool,
        rates: Option<&ErrorRates>,
    ) -> Result<Option<Box<MpduSet>>, Loss> {
        let Some(data) = ppdu.data().filter(|_| !self.ppdu.stretches.is_empty()) else {
            return self.judge(lock, &ended.frame).map(|()| None);
        };
        if !self.is_up || !lock.decodable {
            return Err(Loss::Channel);
        }
        if is_receiver && self.ppdu.early.as_ref().is_some_and(|early| early.has_any()) {
            return self.judge_rest(lock, ppdu, rates);
        }
        if !self.has_header(lock) {
            return Err(self.loss(lock));
        }
        let stretches = std::mem::take(&mut self.ppdu.stretches);
        let judge = self.judge_of(lock, ppdu, &stretches, rates);
        let result = if judge.all_survive(data.mpdus()) {
            Ok(None)
        } else {
            self.draw_mpdus(&judge, data.mpdus(), is_receiver).ok_or_else(|| self.loss(lock))
        };
        self.ppdu.stretches = stretches;
        result
    }

    /// The same, MPDU by MPDU; `None` if none survives.
    #[expect(clippy::option_option, reason = "none, all, or these")]
    fn draw_mpdus(&mut self, judge: &Judge<'_>, mpdus: &[Mpdu], is_receiver: bool) -> Option<Option<Box<MpduSet>>> {
        let (mut intact, mut known) = (MpduSet::default(), None);
        let mut count = 0;
        for (place, mpdu) in mpdus.iter().enumerate() {
            let success = judge.success(mpdu, &mut known);
            if success >= 1.0 || self.uniform() < success {
                intact.insert(place);
                count += 1;
                if !is_receiver {
                    break;
                }
            }
        }
        match count {
            0 => None,
            all if all == mpdus.len() => Some(None),
            _ => Some(Some(Box::new(intact))),
        }
    }

    /// Whether the PHY header of a PPDU has come through.
    pub(super) fn has_header(&mut self, lock: &Lock) -> bool {
        lock.success >= 1.0 || self.uniform() < lock.success
    }

    /// The judge of the MPDUs of a PPDU, over which these stretches lay.
    pub(super) fn judge_of<'a>(
        &self,
        lock: &Lock,
        ppdu: &Ppdu<Msdu>,
        stretches: &'a [Stretch],
        rates: Option<&'a ErrorRates>,
    ) -> Judge<'a> {
        Judge { stretches, law: self.law(ppdu, rates), power: lock.power, capture: self.limits.capture }
    }

    fn law<'r>(&self, ppdu: &Ppdu<Msdu>, rates: Option<&'r ErrorRates>) -> Law<'r> {
        match (&self.errors, rates) {
            (Errors::Ber(ber), _) => Law::Ber(*ber),
            (Errors::Sinr, Some(rates)) => match &ppdu.vector {
                Vector::Mode(mode) => Law::Coded(rates, CodedRate { mcs: mode.choice().mcs, coding: mode.coding() }),
                Vector::NonHt(rate) => Law::NonHt(rates, rate.modulation),
            },
            (Errors::None | Errors::Sinr, _) => Law::None,
        }
    }
}

/// The errors of an MPDU.
#[derive(Clone, Copy, Debug)]
enum Law<'r> {
    None,
    Ber(PlainBer),
    Coded(&'r ErrorRates, CodedRate),
    NonHt(&'r ErrorRates, Modulation),
}

/// The judge of the MPDUs of one PPDU.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    stretches: &'a [Stretch],
    law: Law<'a>,
    /// Received power \[mW\].
    power: f64,
    capture: Option<f64>,
}

impl Judge<'_> {
    /// Whether all survive for certain, without looking at each: nothing changed meanwhile, and the longest does.
    fn all_survive(&self, mpdus: &[Mpdu]) -> bool {
        let longest = mpdus.iter().max_by_key(|mpdu| mpdu.size);
        self.stretches.len() == 1 && longest.is_none_or(|longest| self.success(longest, &mut None) >= 1.0)
    }

    /// Probability that an MPDU survives; `known` holds that of the last, which the next of its length has, too, if
    /// nothing changed meanwhile.
    pub(super) fn success(&self, mpdu: &Mpdu, known: &mut Option<(u32, f64)>) -> f64 {
        if let (1, Some((size, success))) = (self.stretches.len(), *known)
            && size == mpdu.size
        {
            return success;
        }
        let (first, size) = (u64::from(mpdu.offset) * 8, Bytes::new(u64::from(mpdu.size)));
        let end = first + size.bits();
        let (mut at, mut success) = (first, 1.0);
        for (place, stretch) in self.stretches.iter().enumerate() {
            let is_last = place + 1 == self.stretches.len();
            let until = if is_last { end } else { stretch.until.min(end) };
            if until > at {
                success *= self.survives(stretch, size, until - at);
                at = until;
            }
        }
        *known = Some((mpdu.size, success));
        success
    }

    /// Probability that `bits` bits of an MPDU survive a stretch.
    fn survives(&self, stretch: &Stretch, mpdu: Bytes, bits: u64) -> f64 {
        if self.capture.is_some_and(|ratio| self.power < stretch.interference * ratio) {
            return 0.0;
        }
        match self.law {
            Law::None => 1.0,
            Law::Ber(ber) => ber.success(bits),
            Law::Coded(rates, curve) => rates.coded_success(curve, mpdu, stretch.sinr, bits),
            Law::NonHt(rates, modulation) => rates.success(modulation, stretch.sinr, bits),
        }
    }
}

/// Bits of the PHY header and of the PSDU that have come `span` after the first energy.
fn ppdu_bits_after(ppdu: &Ppdu<Msdu>, sent: &Transmission, span: Duration) -> (u64, u64) {
    let Vector::Mode(mode) = &ppdu.vector else {
        return (share(SIGNAL_BITS, span, NON_HT_PREAMBLE), psdu_bits_after(sent, span));
    };
    let all = sent.frame.size.bits();
    let header = share(HEADER_BITS, span, mode.preamble());
    if span >= sent.end - sent.start {
        return (header, all);
    }
    let data = span.saturating_sub(mode.preamble()).as_nanos();
    let bits = u128::from(data) * u128::from(mode.bits_per_symbol()) / u128::from(mode.symbol().as_nanos());
    (header, (bits as u64).saturating_sub(SERVICE_BITS).min(all))
}

/// The part of `bits` that has come `span` into a time of `whole`, evenly.
fn share(bits: u64, span: Duration, whole: Duration) -> u64 {
    let passed = span.as_nanos().min(whole.as_nanos());
    (u128::from(bits) * u128::from(passed) / u128::from(whole.as_nanos().max(1))) as u64
}

/// Number of bits of the PSDU that have arrived `span` after the first energy: it fills the end of the frame, evenly.
fn psdu_bits_after(transmission: &Transmission, span: Duration) -> u64 {
    let bits = transmission.frame.size.bits();
    let airtime = transmission.end - transmission.start;
    let psdu = transmission.frame.rate.bit_rate.time_for(transmission.frame.size).as_nanos().max(1);
    let passed = span.as_nanos().saturating_sub(airtime.as_nanos().saturating_sub(psdu)).min(psdu);
    (u128::from(bits) * u128::from(passed) / u128::from(psdu)) as u64
}
