//! MPDUs that go up as they end: a station that has other ways to send on acts on them before their PPDU has ended.
//!
//! Datagrams that have reached their destination are deferred: nothing follows from them but in the block
//! acknowledgement of another link, which is when they are looked at, or the end of their PPDU.
//!
//! An acknowledgement of TCP leaves by another link of a multi-link device while the A-MPDU that it acknowledges is
//! still on the air. Where a station has but one radio nothing can follow from an MPDU before the end of its PPDU, for
//! the medium is taken until then: it hears of all at once, which is cheaper.

use super::super::frame::Msdu;
use super::super::id::{RadioId, TransmissionId};
use super::receiver::{Lock, RadioState};
use super::{Hearer, Loss, Medium, Transmission};
use crate::phy::ErrorRates;
use crate::scenario::spec::Spec;
use airbraid_mac::edca::{DataMpdus, MpduSet, Ppdu};
use airbraid_units::{Duration, Instant};
use std::ops::Range;
use std::sync::Arc;

/// MPDUs that have just ended.
#[derive(Debug)]
pub struct Ended {
    /// The PPDU that brings them.
    pub ppdu: Arc<Ppdu<Msdu>>,
    /// Their places in it.
    pub places: Range<u32>,
    /// When the next one ends, before the end of the PPDU.
    pub next: Option<Instant>,
    /// Time until the PPDU ends.
    pub left: Duration,
}

impl Medium {
    /// When the first MPDU ends of the PPDU to which the radio of the last event has begun to listen, if its MAC is to
    /// hear of that.
    #[inline]
    pub fn take_first_mpdu(&mut self) -> Option<Instant> {
        self.first_mpdu.take()
    }

    /// The intact MPDUs of the PPDU whose reception has just ended well; `None`: all.
    pub fn intact(&self) -> Option<&MpduSet> {
        self.intact.as_deref()
    }

    /// The same, to be kept, and the number of its MPDUs that were judged as they ended.
    pub fn take_intact(&mut self) -> (Option<Box<MpduSet>>, u32) {
        (self.intact.take(), self.ended_early)
    }

    /// Nothing follows from the MPDUs of the PPDU to which a radio has begun to listen, before it ends or another link
    /// answers.
    pub fn defer_mpdus(&mut self, radio: RadioId) {
        if let Some(early) = &mut self.radios[radio].ppdu.early {
            early.is_deferred = true;
        }
    }

    /// Judges the MPDUs that have ended at a radio and were deferred, if there are any.
    pub fn on_answer(&mut self, now: Instant, radio: RadioId) -> Option<Ended> {
        let early = self.radios[radio].ppdu.early.as_ref()?;
        if early.is_deferred && early.next.is_some_and(|next| next <= now) {
            self.judge_ended(now, radio)
        } else {
            None
        }
    }

    /// Judges the MPDUs that have ended at a radio; `None` if it does not listen to them any more.
    pub fn on_mpdus_end(&mut self, now: Instant, radio: RadioId) -> Option<Ended> {
        let early = self.radios[radio].ppdu.early.as_ref()?;
        if early.next == Some(now) { self.judge_ended(now, radio) } else { None }
    }

    fn judge_ended(&mut self, now: Instant, radio: RadioId) -> Option<Ended> {
        let Self { radios, transmissions, error_rates, spectrum, .. } = self;
        let (radio, rates) = (&mut radios[radio], error_rates.as_deref());
        let lock = radio.lock.filter(|lock| !lock.missed && lock.decodable && radio.is_up)?;
        let sent = transmissions[lock.transmission].as_deref()?;
        let ppdu = sent.ppdu.as_ref()?;
        radio.settle_lock(now, |_| Some(sent), (rates, spectrum));
        let data = ppdu.data()?;
        let from = radio.ended_early();
        let left = lock.until.saturating_since(now);
        let is_over = |place: &u32| data.mpdus()[*place as usize].behind >= left;
        let until = (from..data.mpdus().len() as u32).take_while(is_over).last().map_or(from, |last| last + 1);
        radio.judge_until(until, ppdu, data, rates);
        let next = end_of(data, until, lock.until);
        radio.ppdu.early.as_mut()?.next = next;
        Some(Ended { ppdu: Arc::clone(ppdu), places: from..until, next, left })
    }

    /// Whether the MPDU at a place of the PPDU to which a radio listens has ended, and is intact.
    pub fn has_come(&self, radio: RadioId, place: u32) -> bool {
        self.radios[radio].ppdu.early.as_ref().is_some_and(|early| early.intact.contains(place as usize))
    }
}

impl RadioState {
    /// Number of MPDUs that were judged as they ended.
    pub(super) fn ended_early(&self) -> u32 {
        self.ppdu.early.as_ref().map_or(0, |early| early.count)
    }

    /// When the first MPDU ends of a PPDU that has just begun, if it is for this radio, which listens to it.
    pub(super) fn expect_mpdus(
        &mut self,
        id: TransmissionId,
        sent: Option<&Transmission>,
        hearer: Hearer,
    ) -> Option<Instant> {
        let lock = self.lock.filter(|lock| lock.transmission == id && lock.decodable)?;
        let sent = sent.filter(|sent| sent.frame.to == hearer.radio.address())?;
        let ppdu = sent.ppdu.as_deref()?;
        let data = ppdu.data().filter(|data| data.mpdus().len() > 1)?;
        let first = end_of(data, 0, lock.until);
        self.ppdu.early.as_mut()?.next = first;
        first
    }

    /// Judges the MPDUs before the place `until`, which have ended.
    fn judge_until(&mut self, until: u32, ppdu: &Ppdu<Msdu>, data: &DataMpdus<Msdu>, rates: Option<&ErrorRates>) {
        let (Some(lock), Some(mut early)) = (self.lock, self.ppdu.early.take()) else { return };
        if !early.has_any() {
            early.is_headless = !self.has_header(&lock);
        }
        let stretches = std::mem::take(&mut self.ppdu.stretches);
        let judge = self.judge_of(&lock, ppdu, &stretches, rates);
        for place in early.count..until {
            let success = judge.success(&data.mpdus()[place as usize], &mut early.known);
            if !early.is_headless && (success >= 1.0 || self.uniform() < success) {
                early.intact.insert(place as usize);
            }
        }
        early.count = until;
        self.ppdu.stretches = stretches;
        self.ppdu.early = Some(early);
    }

    /// Judges what is left of a PPDU that has ended, some of whose MPDUs were judged before; see
    /// [`RadioState::judge_mpdus`].
    pub(super) fn judge_rest(
        &mut self,
        lock: &Lock,
        ppdu: &Ppdu<Msdu>,
        rates: Option<&ErrorRates>,
    ) -> Result<Option<Box<MpduSet>>, Loss> {
        let Some(data) = ppdu.data() else { return Ok(None) };
        self.lock = Some(*lock);
        self.judge_until(data.mpdus().len() as u32, ppdu, data, rates);
        self.lock = None;
        let count = data.mpdus().len();
        let intact = self.ppdu.early.as_ref().map(|early| early.intact).unwrap_or_default();
        match (0..count).filter(|place| intact.contains(*place)).count() {
            0 => Err(self.loss(lock)),
            all if all == count => Ok(None),
            _ => Ok(Some(Box::new(intact))),
        }
    }
}

/// Whether a node may act on an MPDU before the PPDU ends that brings it: it has more than the one radio, whose medium
/// is taken till then.
pub(super) fn acts_early(spec: &Spec, node: usize) -> bool {
    spec.nodes[node].radios.len() > 1 || spec.links.iter().any(|link| link.between.contains(&node))
}

/// When the MPDU at a place ends, of a PPDU that ends at `until`; `None` if it ends with it.
fn end_of(data: &DataMpdus<Msdu>, place: u32, until: Instant) -> Option<Instant> {
    let behind = data.mpdus().get(place as usize)?.behind;
    (!behind.is_zero()).then(|| until - behind)
}
