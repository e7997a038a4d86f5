//! Listens to a run and writes what was asked for: readable lines, captures, frames for a page, a trace.
//!
//! Each recording is an [`Observer`] of its own, which translates what the world knows into what [`crate::record`]
//! formats, and writes it to a [`Sink`] as the run goes on. [`Recorder`] passes everything on to all of them. One more
//! recording is a file here and a line in [`Recorder::new`].

mod captures;
mod frames;
mod keys;
mod levels;
mod lines;
mod perfetto;
mod stations;

pub use captures::{CAPTURE, Payloads};

use crate::record::sink::{Failure, RecordError, Sink, Sinks};
use crate::scenario::spec::Spec;
use crate::world::{DropReason, FrameEvent, Level, Loss, NodeId, Observer, Passage, RadioId, Record};
use airbraid_mac::{Access, Address, Outcome};
use airbraid_units::Instant;
use captures::Captures;
use frames::Frames;
use lines::Lines;
use perfetto::Perfetto;
use stations::Stations;

/// The file of the readable timeline.
pub const TIMELINE: &str = "timeline.txt";
/// The file of the frames that a page draws ([`crate::record::frames`]).
pub const FRAMES: &str = "timeline.bin";
/// The file of the trace for Perfetto.
pub const PERFETTO: &str = "run.pftrace";

/// The recordings of a run, besides those that its scenario asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recordings {
    /// Frames of every radio and link as pcapng; otherwise of the radios that the scenario names.
    pub pcap: bool,
    /// The readable timeline; otherwise if the scenario asks for it.
    pub timeline: bool,
    /// The frames as a page draws them.
    pub frames: bool,
    /// The trace for Perfetto; otherwise if the scenario asks for it.
    pub perfetto: bool,
}

impl Recordings {
    /// Whether anything is recorded of a run of `spec`.
    pub fn are_needed(self, spec: &Spec) -> bool {
        let Self { pcap, timeline, frames, perfetto } = self;
        pcap || timeline || frames || perfetto || spec.record.is_any()
    }
}

/// The recordings of one run, each an observer with sinks of its own.
#[derive(Debug)]
pub struct Recorder<'a> {
    parts: Vec<Box<dyn Observer + 'a>>,
    failure: Failure,
}

impl<'a> Recorder<'a> {
    /// A recorder of what `spec` and `wanted` ask for. `payloads` has the bytes of packets from outside.
    pub fn new(
        (spec, seed): (&'a Spec, u64),
        wanted: Recordings,
        payloads: Option<&'a Payloads>,
        sinks: &mut dyn Sinks,
    ) -> Self {
        let failure = Failure::default();
        let stations = Stations::new(spec);
        let mut parts: Vec<Box<dyn Observer + 'a>> = Vec::new();
        if wanted.timeline || spec.record.timeline {
            parts.push(Box::new(Lines::new(&stations, Sink::create(sinks, TIMELINE, &failure))));
        }
        if wanted.frames {
            parts.push(Box::new(Frames::new(stations.clone(), seed, Sink::create(sinks, FRAMES, &failure))));
        }
        if wanted.perfetto || spec.record.perfetto {
            parts.push(Box::new(Perfetto::new(&stations, Sink::create(sinks, PERFETTO, &failure))));
        }
        if wanted.pcap || spec.record.pcap.is_any() {
            let mut create = |name: &str| Sink::create(sinks, name, &failure);
            parts.push(Box::new(Captures::new(stations, wanted.pcap, payloads, &mut create)));
        }
        Self { parts, failure }
    }

    /// The failure to write, if there has been one, for whoever drives the run.
    pub fn failure(&self) -> Failure {
        Failure::clone(&self.failure)
    }

    /// Ends every file.
    ///
    /// # Errors
    /// The first failure of any of them.
    pub fn finish(mut self, now: Instant) -> Result<(), RecordError> {
        self.parts.iter_mut().for_each(|part| part.on_end(now));
        self.failure.get().cloned().map_or(Ok(()), Err)
    }
}

impl Observer for &mut Recorder<'_> {
    fn on_transmission(&mut self, now: Instant, event: &FrameEvent<'_>, access: Access) {
        self.parts.iter_mut().for_each(|part| part.on_transmission(now, event, access));
    }
    fn on_reception(&mut self, now: Instant, event: &FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>) {
        self.parts.iter_mut().for_each(|part| part.on_reception(now, event, signal_dbm, result));
    }
    fn on_passage(&mut self, now: Instant, passage: Passage<'_>) {
        self.parts.iter_mut().for_each(|part| part.on_passage(now, passage));
    }
    fn on_drop(&mut self, now: Instant, node: NodeId, packet: &Record, reason: DropReason) {
        self.parts.iter_mut().for_each(|part| part.on_drop(now, node, packet, reason));
    }
    fn on_delivery(&mut self, now: Instant, node: NodeId, packet: &Record) {
        self.parts.iter_mut().for_each(|part| part.on_delivery(now, node, packet));
    }
    fn on_queued(&mut self, now: Instant, radio: RadioId, to: Address, packet: Option<&Record>) {
        self.parts.iter_mut().for_each(|part| part.on_queued(now, radio, to, packet));
    }
    fn on_finished(&mut self, now: Instant, radio: RadioId, packet: Option<&Record>, outcome: Outcome, attempts: u32) {
        self.parts.iter_mut().for_each(|part| part.on_finished(now, radio, packet, outcome, attempts));
    }
    fn on_level(&mut self, now: Instant, level: Level, value: u64) {
        self.parts.iter_mut().for_each(|part| part.on_level(now, level, value));
    }
}

#[cfg(test)]
mod tests;
