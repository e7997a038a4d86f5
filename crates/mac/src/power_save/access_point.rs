//! An access point: DCF, and a buffer for each associated station that dozes (802.11-2020, 11.2.3.6).
//!
//! It goes by the Power Management subfield of data and null frames alone. Where the standard leaves a choice:
//!
//! - A station changes its state when the frame that says so has come, not when its acknowledgement has: the access
//!   point cannot know whether that one was heard.
//! - MSDUs in the interface queue for a station that dozes go back to its buffer, and so does the frame in service,
//!   even if it was on the air and was not acknowledged: it keeps its sequence number and its Retry bit and gets a full
//!   set of attempts when the station is back. The standard has an MSDU for a dozing station buffered and says of one
//!   whose attempts had begun neither that it may be given up nor that it may not.
//! - A station that is silent is not one that dozes: without a word from it a frame is given up at the retry limit, as
//!   ever.
//! - A station dozes from its association until it says otherwise.
//! - Broadcasts are sent at once: without beacons there is no DTIM to wait for.

use crate::dcf::{Dcf, DcfConfig, Held};
use crate::frame::{Address, Frame, FrameKind};
use crate::service::{MacInput, MacOutput, MacStats, Msdu, Outcome};
use airbraid_engine::{Machine, Packet, Stream, Wake};
use airbraid_units::{Instant, metrics};
use std::collections::VecDeque;

/// Parameters of an access point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessPointConfig {
    pub dcf: DcfConfig,
    /// Largest number of MSDUs in the buffer of a dozing station.
    pub buffer_limit: u32,
}

metrics! {
    /// Counters of an access point beside [`MacStats`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct BufferStats {
        /// MSDUs that were held: they came for a station that dozed, or while its buffer was not yet empty.
        pub held: u64 = sum,
        /// MSDUs taken back because their station had said that it dozes.
        pub returned: u64 = sum,
        /// Those of them that had been on the air.
        pub returned_after_attempt: u64,
        /// MSDUs given up because the buffer was full.
        pub buffer_drops: u64 = sum,
    }
}

#[derive(Clone, Debug)]
struct Associated<P> {
    address: Address,
    dozes: bool,
    /// MSDUs that wait for the station, in order. They go before all that arrive later.
    buffer: VecDeque<Held<P>>,
}

#[derive(Clone, Debug)]
pub struct AccessPoint<P> {
    dcf: Dcf<P>,
    buffer_limit: usize,
    stations: Vec<Associated<P>>,
    outputs: VecDeque<MacOutput<P>>,
    counts: BufferStats,
}

impl<P: Packet + Copy> AccessPoint<P> {
    /// An access point with this address and these stations, all of which doze; `random` gives its backoffs.
    pub fn new(config: AccessPointConfig, address: Address, stations: &[Address], random: Stream) -> Self {
        let mut access_point = Self {
            dcf: Dcf::new(config.dcf, address, random),
            buffer_limit: config.buffer_limit as usize,
            stations: Vec::new(),
            outputs: VecDeque::with_capacity(4),
            counts: BufferStats::default(),
        };
        stations.iter().for_each(|&station| access_point.associate(station));
        access_point
    }

    /// Returns the counters that every MAC has.
    pub fn stats(&self) -> &MacStats {
        self.dcf.stats()
    }

    /// Returns the counters of the buffers.
    pub const fn counts(&self) -> &BufferStats {
        &self.counts
    }

    /// Number of MSDUs in the interface queue, without those in buffers.
    pub fn queue_len(&self) -> usize {
        self.dcf.queue_len()
    }

    /// MSDUs in the buffer of a station.
    #[cfg(test)]
    pub(super) fn buffer_len(&self, station: Address) -> usize {
        self.find(station).map_or(0, |index| self.stations[index].buffer.len())
    }

    /// Whether the buffer or the interface queue takes one more MSDU for this neighbour.
    pub fn has_room(&self, neighbour: Address) -> bool {
        match self.held_for(neighbour) {
            Some(index) => self.stations[index].buffer.len() < self.buffer_limit,
            None => self.dcf.has_room(),
        }
    }

    /// Whether the station is associated and has said that it dozes, or has never spoken.
    pub fn dozes(&self, station: Address) -> bool {
        self.find(station).is_some_and(|index| self.stations[index].dozes)
    }

    fn find(&self, station: Address) -> Option<usize> {
        self.stations.iter().position(|associated| associated.address == station)
    }

    fn associate(&mut self, station: Address) {
        if self.find(station).is_none() {
            self.stations.push(Associated { address: station, dozes: true, buffer: VecDeque::new() });
        }
    }

    /// Removes a station, and gives up all MSDUs that wait for it, unless they are on the air.
    fn disassociate(&mut self, now: Instant, station: Address) {
        let Some(index) = self.find(station) else { return };
        let waiting = self.dcf.withdraw(now, station);
        let buffer = self.stations.remove(index).buffer;
        self.give_up(waiting.into_iter().chain(buffer), Outcome::Purged);
    }

    fn give_up(&mut self, all: impl IntoIterator<Item = Held<P>>, outcome: Outcome) {
        let status = |Held { msdu, attempts, .. }| MacOutput::Status { msdu, outcome, attempts };
        self.outputs.extend(all.into_iter().map(status));
    }

    /// The station for which an MSDU cannot go to the interface queue.
    fn held_for(&self, to: Address) -> Option<usize> {
        let index = self.find(to)?;
        let station = &self.stations[index];
        (station.dozes || !station.buffer.is_empty()).then_some(index)
    }

    /// Puts an MSDU into a buffer, at the end or before all that were never sent; the last is given up if the buffer is
    /// full.
    fn hold(&mut self, index: usize, msdu: Msdu<P>, first: bool) {
        self.counts.held += 1;
        let buffer = &mut self.stations[index].buffer;
        let begun = buffer.iter().take_while(|held| held.sequence.is_some()).count();
        let place = if first { begun } else { buffer.len() };
        buffer.insert(place, Held::new(msdu));
        self.cut(index);
    }

    /// Gives up what exceeds the limit of a buffer, latest first.
    fn cut(&mut self, index: usize) {
        while self.stations[index].buffer.len() > self.buffer_limit {
            let last = self.stations[index].buffer.pop_back();
            self.counts.buffer_drops += 1;
            self.give_up(last, Outcome::QueueFull);
        }
    }

    fn purge(&mut self, now: Instant, neighbour: Address) {
        if let Some(index) = self.find(neighbour) {
            let buffer = std::mem::take(&mut self.stations[index].buffer);
            self.give_up(buffer, Outcome::Purged);
        }
        self.dcf.handle_input(now, MacInput::Purge(neighbour));
    }

    /// A frame ends that is for the access point, or for all.
    fn on_received(&mut self, now: Instant, frame: Frame<P>, idle: bool) {
        // Half duplex: who transmits, or is committed to, does not hear.
        let is_heard = self.dcf.transmitting_until() <= now && frame.kind == FrameKind::Data;
        let station = if is_heard { self.find(frame.from) } else { None };
        if let Some(index) = station
            && frame.power_management
        {
            self.on_doze(now, index);
        }
        self.dcf.handle_input(now, MacInput::Received { frame, idle });
        if let Some(index) = station {
            self.stations[index].dozes = frame.power_management;
            self.release(now);
        }
    }

    /// A station dozes from now on: its MSDUs go to its buffer, before those already there.
    fn on_doze(&mut self, now: Instant, index: usize) {
        let station = &mut self.stations[index];
        station.dozes = true;
        let mut returned = self.dcf.withdraw(now, station.address);
        self.counts.returned += returned.len() as u64;
        self.counts.returned_after_attempt += returned.iter().filter(|held| held.attempts > 0).count() as u64;
        returned.append(&mut station.buffer);
        station.buffer = returned;
        self.cut(index);
    }

    /// Sends held MSDUs to stations that are awake: one each in turn, until the interface queue is full.
    fn release(&mut self, now: Instant) {
        let mut has_more = true;
        while has_more {
            has_more = false;
            for station in self.stations.iter_mut().filter(|station| !station.dozes) {
                if self.dcf.has_room()
                    && let Some(held) = station.buffer.pop_front()
                {
                    self.dcf.restore(now, held);
                    has_more = true;
                }
            }
        }
    }

    /// Passes on the outputs of DCF; where a frame has left, others may follow.
    fn drain(&mut self, now: Instant) {
        while let Some(output) = self.dcf.poll_output() {
            let has_left = matches!(output, MacOutput::Status { .. });
            self.outputs.push_back(output);
            if has_left {
                self.release(now);
            }
        }
    }
}

impl<P: Packet + Copy> Machine for AccessPoint<P> {
    type Input = MacInput<P>;
    type Output = MacOutput<P>;

    fn handle_input(&mut self, now: Instant, input: MacInput<P>) {
        // What is due at this very instant comes first, as in DCF.
        self.handle_timeout(now);
        match input {
            MacInput::Enqueue(msdu) if let Some(index) = self.held_for(msdu.to) => self.hold(index, msdu, false),
            MacInput::EnqueueFirst(msdu) if let Some(index) = self.held_for(msdu.to) => self.hold(index, msdu, true),
            MacInput::Purge(neighbour) => self.purge(now, neighbour),
            MacInput::Associate(station) => self.associate(station),
            MacInput::Disassociate(station) => self.disassociate(now, station),
            MacInput::Received { frame, idle } => self.on_received(now, frame, idle),
            input => self.dcf.handle_input(now, input),
        }
        self.drain(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.dcf.handle_timeout(now);
        self.drain(now);
    }

    fn poll_output(&mut self) -> Option<MacOutput<P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        self.dcf.next_timer()
    }
}
