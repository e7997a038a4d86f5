//! One run: a resolved scenario and a seed in, facts and recordings out.

use crate::record::Courses;
use crate::recorder::{Recorder, Recording};
use crate::result::RunResult;
use crate::scenario::spec::Spec;
use crate::world::{Interrupted, Observer, World, drawn};
use airbraid_net::Refusal;
use std::cell::RefCell;

/// Recordings besides the facts.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Frames of every radio as pcapng; otherwise of those that the scenario names.
    pub pcap: bool,
    /// The frame timeline; otherwise if the scenario asks for it.
    pub timeline: bool,
    /// The account of what limited each flow.
    pub limits: bool,
    /// Samples of delay, windows and queues.
    pub courses: bool,
    /// Hears now and then how much is done, between 0 and 1; answers whether to go on.
    pub on_progress: Option<&'a mut dyn FnMut(f64) -> bool>,
}

/// The result of a run.
#[derive(Debug)]
pub struct RunOutput {
    pub result: RunResult,
    /// The frame timeline, if asked for.
    pub timeline: Option<String>,
    /// Captures by file name, if asked for.
    pub pcaps: Vec<(String, Vec<u8>)>,
    /// Samples of delay, windows and queues, if asked for.
    pub courses: Option<Courses>,
}

/// Why a run gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// It was told to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// A model refuses a parameter that the scenario's checks let through.
    #[error("{} must {}", .0.parameter, .0.must)]
    Refused(Refusal),
}

/// Plays `spec` once with the random streams of `seed`.
///
/// # Errors
/// [`RunError`] if it was interrupted, or a model refuses its parameters.
pub fn run(spec: &Spec, seed: u64, options: RunOptions<'_>) -> Result<RunOutput, RunError> {
    let spec = &*drawn(spec, seed);
    let recording = RefCell::new(Recording::default());
    let (result, courses) = {
        let recorder = Recorder::is_needed(spec, options.pcap, options.timeline)
            .then(|| Recorder::new(spec, options.pcap, options.timeline, &recording));
        let observer = recorder.map(|recorder| Box::new(recorder) as Box<dyn Observer>);
        let mut world = World::new(spec, seed, observer).map_err(RunError::Refused)?;
        if options.limits {
            world.keep_account();
        }
        let mut go_on = |_| true;
        let on_progress = options.on_progress.unwrap_or(&mut go_on);
        let courses = if options.courses {
            Some(world.run_sampled(on_progress)?)
        } else {
            world.run(on_progress)?;
            None
        };
        (world.result(), courses)
    };
    let (timeline, pcaps) = recording.into_inner().into_parts(spec);
    Ok(RunOutput { result, timeline, pcaps, courses })
}
