//! The beacons of an access point (802.11-2020, 11.1.3.2): one is due each beacon interval, and goes before everything
//! else a PIFS after the medium is idle. Nobody answers it.
//!
//! Beacons say nothing here: stations know their access point from the beginning. They take their time on the air.

use super::exchange::State;
use super::{Edca, Timer};
use crate::alarm::Alarm;
use crate::contention::{Backoff, BackoffConfig, CarrierSense, Grant};
use crate::frame::{Address, Frame, FrameKind};
use crate::phy::Phy;
use airbraid_engine::{Packet, Stream};
use airbraid_units::{Bytes, Duration, Instant};

/// The beacon interval \[TU\]: what access points are shipped with.
pub const BEACON_INTERVAL_TU: u16 = 100;
/// The same; a TU has 1024 us.
const INTERVAL_US: u64 = 1_024 * BEACON_INTERVAL_TU as u64;
const INTERVAL: Duration = Duration::from_micros(INTERVAL_US);
/// An access point of 802.11ax with WPA2: header 24, timestamp, interval and capabilities 12, SSID 10, rates 10,
/// channel 3, TIM 6, country 8, RSN 22, HT 28 + 24, VHT 14 + 7, HE 31 + 9, EDCA parameters 26, FCS 4 byte.
const SIZE: Bytes = Bytes::new(238);

/// The beacons of one station.
#[derive(Clone, Debug)]
pub(super) struct Beacons {
    /// The next target beacon transmission time.
    next: Instant,
    /// Whether one waits for the medium.
    is_due: bool,
    access: Backoff<true>,
}

impl Beacons {
    /// The first is due at a drawn time, so that access points beside each other do not send at once. There is no
    /// backoff: the window is 0.
    pub fn new(phy: &Phy, mut random: Stream) -> Self {
        let (slot, turnaround) = (phy.slot, phy.turnaround);
        let config = BackoffConfig { gap: phy.sifs + slot, slot, turnaround, cw_min: 0, cw_max: 0 };
        Self {
            next: Instant::ZERO + Duration::from_micros(u64::from(random.up_to(INTERVAL_US as u32 - 1))),
            is_due: false,
            access: Backoff::new(config, random),
        }
    }

    /// Energy arrives, or this station transmits.
    pub fn freeze(&mut self, sense: &CarrierSense, now: Instant) {
        self.access.freeze(sense, now);
    }

    /// When the medium is its own, or when to look again.
    pub fn grant(&mut self, sense: &CarrierSense, now: Instant) -> Result<Instant, Alarm<Timer>> {
        if !self.is_due {
            if now < self.next {
                return Err(Alarm::of(self.next, Timer::Beacon));
            }
            self.is_due = true;
            while self.next <= now {
                self.next += INTERVAL;
            }
            self.access.request(sense, now, sense.is_taken(now));
        }
        match self.access.grant(sense, now) {
            Grant::Now(at) => Ok(at),
            Grant::Later(alarm) => Err(alarm.map(Timer::Contention)),
        }
    }
}

impl<P: Packet + Copy> Edca<P> {
    /// The time of the next beacon's access, if it may begin now; otherwise its alarm is set.
    pub(super) fn beacon_at(&mut self, now: Instant) -> Option<Instant> {
        match self.beacons.as_mut()?.grant(&self.sense, now) {
            Ok(at) => Some(at),
            Err(alarm) => {
                self.alarm = self.alarm.earlier(alarm);
                None
            }
        }
    }

    pub(super) fn send_beacon(&mut self, at: Instant) {
        let Some(beacons) = &mut self.beacons else { return };
        beacons.is_due = false;
        let access = beacons.access.spend();
        self.stop_counters(at);
        let config = &self.planner.config;
        let (rate, airtime) = (config.broadcast_rate, config.answer_time(config.broadcast_rate, SIZE));
        let frame = self.planner.frame(FrameKind::Beacon, Address::BROADCAST, SIZE, rate);
        let sequence = self.number();
        self.counts.beacons += 1;
        let end = self.transmit(Frame { sequence, ..frame }, at, airtime, access);
        self.state = State::Unanswered(end);
    }
}
