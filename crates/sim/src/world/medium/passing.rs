//! A frame that is alone at a radio from its beginning to its end: it leaves the radio as it was.
//!
//! Such a frame needs no more than a look when it has ended. Whether it was alone is known then: nobody touches the
//! radio meanwhile without carrying out the beginning first (`world/belated.rs`).

use super::super::id::TransmissionId;
use super::receiver::{Lock, RadioState};
use super::{Begun, Ending, Hearer, Medium, Transmission};
use airbraid_units::Instant;

/// The beginning of a frame at a radio that has not been told of it.
#[derive(Clone, Copy, Debug)]
pub struct Coming {
    pub begun: Begun,
    pub hearer: Hearer,
    /// When it begins there.
    pub at: Instant,
}

impl Coming {
    /// When it ends there.
    #[inline]
    pub fn until(&self) -> Instant {
        self.begun.end + self.hearer.delay()
    }
}

impl Medium {
    /// Whether the radio would sense a frame, if it is one that may pass unseen; `None`: it is not.
    #[inline]
    pub fn may_pass(&self, coming: &Coming) -> Option<bool> {
        let radio = &self.radios[coming.hearer.radio];
        let may_pass = radio.is_plain() && coming.hearer.is_whole() && radio.is_silent(coming);
        may_pass.then(|| coming.hearer.power() >= radio.limits.carrier_sense)
    }

    /// From now on all radios are told of beginnings in time, as those are that keep an account.
    #[cfg(test)]
    pub fn tell_in_time(&mut self) {
        self.radios.iter_mut().for_each(|radio| radio.settles = true);
    }

    /// The place of the first hearer at which a transmission does not begin before `start`, when it begins there, and
    /// whether it has begun at others since a time before.
    pub fn next_beginning(&self, id: TransmissionId, since: Instant, start: Instant) -> Option<(usize, Instant, bool)> {
        let transmission = self.transmission(id)?;
        let row = &self.rows[transmission.from].hearers;
        let begins_at = |hearer: &Hearer| transmission.start + hearer.delay();
        let place = row.iter().position(|hearer| begins_at(hearer) >= start)?;
        let has_begun = row[..place].iter().any(|hearer| begins_at(hearer) >= since);
        Some((place, begins_at(&row[place]), has_begun))
    }

    /// A transmission ends at a radio that has not been told of its beginning. `None`: it was not alone there.
    #[inline]
    pub fn on_passed(&mut self, coming: &Coming, ended: &Transmission) -> Option<Ending> {
        let radio = &mut self.radios[coming.hearer.radio];
        if !radio.is_silent(coming) {
            return None;
        }
        let Some(lock) = radio.lone(coming) else { return Some(Ending::Nothing) };
        if ended.frame.to == coming.hearer.radio.address() {
            radio.wide.answers_in = None;
        }
        Some(Ending::Reception { result: radio.judge(&lock, &ended.frame), idle: true })
    }
}

impl RadioState {
    /// Whether nothing else is at the radio, and it listens, when a frame begins.
    #[inline]
    fn is_silent(&self, coming: &Coming) -> bool {
        self.arrivals.is_empty()
            && self.is_up
            && self.tuned == coming.begun.channel
            && self.transmitting_until <= coming.at
    }

    /// The account of a frame with nothing beside it, if the radio takes it for a frame.
    #[inline]
    fn lone(&self, coming: &Coming) -> Option<Lock> {
        let power = coming.hearer.power();
        (power >= self.limits.carrier_sense).then(|| Lock {
            transmission: coming.begun.id,
            power,
            decodable: power >= self.limits.reception,
            missed: false,
            since: coming.at,
            until: coming.until(),
            interference: 0.0,
            success: 1.0,
            bits: 0,
            settled: coming.at,
        })
    }
}
