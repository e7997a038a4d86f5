//! A station with one radio at several access points: a virtual station each, one awake at a time (Giustiniano et al.
//! 2013, section 3.1; 802.11-2020, 11.2.3.2).
//!
//! A virtual station is a [`Dcf`] with address, queue, rate and duplicate filter of its own, paused unless the plan
//! gives it the radio. There is one MSDU at most beyond the queues, as in hardware with one place: the one in service.
//!
//! ```text
//!           slot ends         acknowledged        end of own answer       radio ready
//!  Serving ----------> Leaving ----------> Finishing ----------> Tuning ----------> Waking
//!     ^                  (null, PS=1)           \  nobody's slot               (null, PS=0) |
//!     |                                          `----> Dozing                              |
//!     `------------------------------------- acknowledged ---------------------------------'
//! ```
//!
//! Where paper and standard leave a choice:
//!
//! - An exchange that has begun when the slot ends is finished. An MSDU that waits for the medium, also to be sent
//!   again, goes back to the head of its queue; it keeps its sequence number if it was on the air.
//! - The null frame takes over the backoff that is under way and the contention window as it is.
//! - A null frame is given up after `null_attempts`. The station leaves all the same, unannounced; one that wants to
//!   stay says so again.
//! - The station senses the new channel for DIFS and does not wait for a NAVSyncDelay, for which the paper's 1.2 ms
//!   have no room.
//! - The rest of a backoff on the channel that it left is void: it has been away for longer.
//! - Another virtual station on the same channel needs no retuning time.
//! - A virtual station hears its access point alone, also where several share an address and a channel.

use super::plan::SlotPlan;
use crate::dcf::{Dcf, DcfConfig, Null, NullDone};
use crate::frame::{Address, Channel};
use crate::service::{MacInput, MacOutput, MacStats};
use airbraid_engine::{Machine, Packet, Stream, Wake};
use airbraid_units::{Duration, Instant, metrics};
use std::collections::VecDeque;

/// Retuning time of the paper's hardware: "in the order of 800 us" (section 3.1); other chips 200 to 500 us.
pub const RETUNING_TIME: Duration = Duration::from_micros(800);

/// The station's configuration at one of its access points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VirtualStation {
    /// Its DCF: its queue, and the rate that suits its access point. Null frames go at the rate of control frames.
    pub dcf: DcfConfig,
    /// Address; several virtual stations may share one.
    pub address: Address,
    pub access_point: Address,
    /// Channel of the access point.
    pub channel: Channel,
}

/// Parameters of the station.
#[derive(Clone, Debug, PartialEq)]
pub struct SlottedConfig {
    /// Its virtual stations, at least one.
    pub stations: Vec<VirtualStation>,
    /// The slots of the virtual stations.
    pub plan: SlotPlan,
    /// Time for which the radio is deaf when it changes its channel.
    pub retuning: Duration,
    /// Largest number of transmissions of a null frame; at least 1.
    pub null_attempts: u32,
}

metrics! {
    /// Counters of the switches between access points beside [`MacStats`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SwitchStats {
        /// Number of times that an access point has acknowledged that the station is awake.
        pub switches: u64,
        /// Total time of the switches: from the first contention of the null frame with PS=1 to the acknowledgement of
        /// the one with PS=0. Idle slots do not count, nor does an exchange that was under way at a slot's end.
        pub switch_time: Duration,
        /// Null frames that were given up.
        pub failed_nulls: u64 = sum,
        /// Departures without the access point's acknowledgement.
        pub unannounced: u64 = sum,
        /// MSDUs that were set aside at the end of a slot.
        pub returned: u64 = sum,
        /// Slots that were over before the access point had acknowledged that the station is awake.
        pub missed_slots: u64 = sum,
    }
}

/// Activity of the station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// DCF serves the slot's access point.
    Serving,
    /// The null frame with PS=1 is under way.
    Leaving,
    /// The null frame with PS=1 is done; an answer of the station lasts until then.
    Finishing(Instant),
    /// The radio is being retuned until then.
    Tuning(Instant),
    /// The null frame with PS=0 is under way.
    Waking,
    /// The slot belongs to no virtual station.
    Dozing,
}

/// A station with one radio and several access points.
#[derive(Clone, Debug)]
pub struct SlottedStation<P> {
    stations: Vec<(VirtualStation, Dcf<P>)>,
    plan: SlotPlan,
    retuning: Duration,
    null_attempts: u32,
    step: Step,
    /// The virtual station whose slot it is.
    owner: Option<usize>,
    /// The virtual station on whose channel the radio is, or is about to be.
    current: Option<usize>,
    /// Beginning of the time in which nothing can be sent or received, during a switch.
    switching_since: Option<Instant>,
    outputs: VecDeque<MacOutput<P>>,
    wake: Option<Wake>,
    counts: SwitchStats,
}

/// Name of the wake-up at a slot's beginning.
const SLOT: &str = "power_save.slot";
/// Name of the wake-up of a radio that is ready, or free to be retuned.
const RADIO: &str = "power_save.radio";

impl<P: Packet + Copy> SlottedStation<P> {
    /// A station that dozes until its first slot; a stream gives each virtual station its backoffs. Returns `None` if
    /// the numbers of streams and virtual stations differ, if there is none, or if the plan names one that does not
    /// exist.
    pub fn new(config: SlottedConfig, backoffs: Vec<Stream>) -> Option<Self> {
        let count = config.stations.len();
        let is_possible =
            count > 0 && backoffs.len() == count && config.plan.last_station().is_none_or(|last| last < count);
        let virtual_station = |(station, backoff): (VirtualStation, Stream)| {
            let mut dcf = Dcf::new(station.dcf, station.address, backoff);
            dcf.pause();
            (station, dcf)
        };
        is_possible.then(|| Self {
            wake: Some(Wake { at: config.plan.boundary(), why: SLOT }),
            stations: config.stations.into_iter().zip(backoffs).map(virtual_station).collect(),
            plan: config.plan,
            retuning: config.retuning,
            null_attempts: config.null_attempts,
            step: Step::Dozing,
            owner: None,
            current: None,
            switching_since: None,
            outputs: VecDeque::with_capacity(4),
            counts: SwitchStats::default(),
        })
    }

    /// Returns the sum of its virtual stations' counters.
    pub fn stats(&self) -> MacStats {
        let mut sum = MacStats::default();
        self.stations.iter().for_each(|(_, dcf)| sum.add(dcf.stats()));
        sum
    }

    /// Returns the counters of its switches.
    pub const fn counts(&self) -> &SwitchStats {
        &self.counts
    }

    /// Number of MSDUs that wait at all its virtual stations.
    pub fn queue_len(&self) -> usize {
        self.stations.iter().map(|(_, dcf)| dcf.queue_len()).sum()
    }

    /// Whether the queue of the neighbour's virtual station takes one more MSDU.
    pub fn has_room(&self, neighbour: Address) -> bool {
        self.stations[self.station_for(neighbour)].1.has_room()
    }

    /// The virtual station of this access point; the first for any other neighbour.
    fn station_for(&self, neighbour: Address) -> usize {
        self.stations.iter().position(|(station, _)| station.access_point == neighbour).unwrap_or(0)
    }

    /// Gives a virtual station an input, and passes on its outputs.
    fn tell(&mut self, now: Instant, station: usize, input: MacInput<P>) {
        self.stations[station].1.handle_input(now, input);
        self.drain(station);
    }

    fn drain(&mut self, station: usize) {
        while let Some(output) = self.stations[station].1.poll_output() {
            self.outputs.push_back(output);
        }
    }

    /// Handles an event on the radio's channel.
    fn hear(&mut self, now: Instant, input: MacInput<P>) {
        let Some(current) = self.current.filter(|_| !matches!(self.step, Step::Tuning(_))) else { return };
        let own = self.stations[current].0;
        let is_own = |from, to| from == own.access_point && (to == own.address || to == Address::BROADCAST);
        let input = match input {
            // It is for another of the virtual stations, which is not here, or nothing of its BSS.
            MacInput::Received { frame, idle } if !is_own(frame.from, frame.to) => {
                MacInput::Overheard { frame: frame.header(), idle }
            }
            input => input,
        };
        self.tell(now, current, input);
    }

    /// Goes on as far as it can at this instant.
    fn advance(&mut self, now: Instant) {
        loop {
            if let Some(done) = self.current.and_then(|current| self.stations[current].1.take_null_done()) {
                self.on_null_done(now, done);
                continue;
            }
            let is_elsewhere = self.current != self.owner;
            match (self.step, self.current) {
                (Step::Serving | Step::Waking, Some(current)) if is_elsewhere => self.leave(now, current),
                (Step::Finishing(at), _) if at <= now => self.depart(now),
                (Step::Tuning(ready), Some(current)) if ready <= now => self.arrive(now, current),
                (Step::Dozing, current) if self.owner.is_some() => {
                    // An access point that was left unannounced may just have been answered.
                    let answered = current.map_or(now, |current| self.stations[current].1.transmitting_until());
                    self.step = Step::Finishing(answered.max(now));
                }
                _ => return,
            }
        }
    }

    fn send_null(&mut self, now: Instant, current: usize, dozes: bool) {
        let (station, dcf) = &mut self.stations[current];
        let (to, rate) = (station.access_point, station.dcf.control_rate);
        dcf.send_null(now, Null { to, dozes, rate, attempts: self.null_attempts });
        self.drain(current);
    }

    /// The slot is over.
    fn leave(&mut self, now: Instant, current: usize) {
        self.counts.missed_slots += u64::from(self.step == Step::Waking);
        self.step = Step::Leaving;
        self.send_null(now, current, true);
    }

    fn on_null_done(&mut self, now: Instant, done: NullDone) {
        self.counts.failed_nulls += u64::from(!done.is_acknowledged);
        self.counts.returned += u64::from(done.has_displaced);
        let Some(current) = self.current else { return };
        match (self.step, done.dozes) {
            (Step::Leaving, true) => {
                self.counts.unannounced += u64::from(!done.is_acknowledged);
                self.switching_since.get_or_insert(done.since);
                self.step = Step::Finishing(self.stations[current].1.transmitting_until().max(now));
            }
            (Step::Waking, false) if done.is_acknowledged => {
                self.step = Step::Serving;
                self.counts.switches += 1;
                self.end_switch(now);
            }
            (Step::Waking, false) if self.owner == self.current => self.send_null(now, current, false),
            // The slot has ended meanwhile, and the other null frame is on its way.
            _ => {}
        }
    }

    fn end_switch(&mut self, now: Instant) {
        if let Some(since) = self.switching_since.take() {
            self.counts.switch_time += now - since;
        }
    }

    /// Tunes the radio, which is free, to the owner of the slot.
    fn depart(&mut self, now: Instant) {
        let Some(owner) = self.owner else {
            self.end_switch(now);
            self.step = Step::Dozing;
            return;
        };
        self.switching_since.get_or_insert(now);
        let here = self.current.map(|current| self.stations[current].0.channel);
        let channel = self.stations[owner].0.channel;
        let ready = if here == Some(channel) { now } else { now + self.retuning };
        self.current = Some(owner);
        self.step = Step::Tuning(ready);
        self.outputs.push_back(MacOutput::Tune { channel, ready });
    }

    /// The radio works on the channel of its present virtual station.
    fn arrive(&mut self, now: Instant, current: usize) {
        self.stations[current].1.arrive(now);
        if self.owner == Some(current) {
            self.step = Step::Waking;
            self.send_null(now, current, false);
        } else {
            self.counts.missed_slots += 1;
            self.depart(now);
        }
    }

    /// The earliest of slot, radio and DCF.
    fn next_wake(&self) -> Option<Wake> {
        let slot = Wake { at: self.plan.boundary(), why: SLOT };
        let other = match (self.step, self.current) {
            (Step::Finishing(at) | Step::Tuning(at), _) => Some(Wake { at, why: RADIO }),
            (_, Some(current)) => self.stations[current].1.next_timer(),
            (_, None) => None,
        };
        Some(other.filter(|wake| wake.at <= slot.at).unwrap_or(slot))
    }
}

impl<P: Packet + Copy> Machine for SlottedStation<P> {
    type Input = MacInput<P>;
    type Output = MacOutput<P>;

    fn handle_input(&mut self, now: Instant, input: MacInput<P>) {
        // What is due at this very instant comes first, as in DCF.
        self.handle_timeout(now);
        match input {
            MacInput::Enqueue(msdu) | MacInput::EnqueueFirst(msdu) => {
                let station = self.station_for(msdu.to);
                self.tell(now, station, input);
            }
            MacInput::Purge(neighbour) => self.tell(now, self.station_for(neighbour), input),
            input => self.hear(now, input),
        }
        self.advance(now);
        self.wake = self.next_wake();
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.wake.is_none_or(|wake| wake.at > now) {
            return;
        }
        if let Some(current) = self.current
            && !matches!(self.step, Step::Tuning(_))
        {
            self.stations[current].1.handle_timeout(now);
            self.drain(current);
        }
        self.advance(now);
        if let Some(slot) = self.plan.advance(now) {
            self.owner = slot.station;
            self.advance(now);
        }
        self.wake = self.next_wake();
    }

    fn poll_output(&mut self) -> Option<MacOutput<P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        self.wake
    }
}
