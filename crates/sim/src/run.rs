//! One run: a resolved scenario and a seed in, facts and recordings out.

use crate::failure::RunError;
use crate::record::Courses;
use crate::record::sink::{Memory, Named, RecordedFile, Sinks};
use crate::recorder::{Recorder, Recordings};
use crate::result::RunResult;
use crate::scenario::spec::Spec;
use crate::side_by_side::{self, Threads};
use crate::world::{Interrupted, Observer, World, drawn};

/// Recordings besides the facts.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// The recordings, besides those that the scenario asks for.
    pub recordings: Recordings,
    /// Makes the files of recordings; `None`: they stay in memory.
    pub sinks: Option<&'a mut dyn Sinks>,
    /// The account of what limited each flow.
    pub limits: bool,
    /// Samples of delay, windows and queues.
    pub courses: bool,
    /// Hears now and then how much is done, between 0 and 1; answers whether to go on.
    pub on_progress: Option<&'a mut dyn FnMut(f64) -> bool>,
    /// Threads for parts of the scenario that have nothing to do with each other; `None`: the caller's.
    pub threads: Option<Threads<'a>>,
}

/// The result of a run.
#[derive(Debug)]
pub struct RunOutput {
    pub result: RunResult,
    /// The files of recordings in the order in which they were begun.
    pub files: Vec<RecordedFile>,
    /// Samples of delay, windows and queues, if asked for.
    pub courses: Option<Courses>,
}

impl RunOutput {
    /// The bytes of a recording that was kept in memory.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.iter().find(|file| file.name == name)?.bytes.as_deref()
    }
}

/// Plays `spec` once with the random streams of `seed`.
///
/// # Errors
/// [`RunError`] if it was interrupted, a model refuses its parameters, or a recording cannot be written.
pub fn run(spec: &Spec, seed: u64, options: RunOptions<'_>) -> Result<RunOutput, RunError> {
    let spec = &*drawn(spec, seed);
    let mut go_on = |_| true;
    let RunOptions { recordings, sinks, limits, courses, on_progress, threads } = options;
    let besides = Besides { limits, courses };
    let on_progress = on_progress.unwrap_or(&mut go_on);
    if !recordings.are_needed(spec) {
        if let Some(threads) = threads.filter(|threads| threads.count > 1 && !courses)
            && let Some(shares) = side_by_side::shares(spec, seed, threads)
        {
            let result = side_by_side::play((spec, seed), shares, limits, threads, on_progress)?;
            return Ok(RunOutput { result, files: Vec::new(), courses: None });
        }
        let world = World::new(spec, seed, None).map_err(RunError::Refused)?;
        let (result, courses) = play(world, besides, on_progress)?;
        return Ok(RunOutput { result, files: Vec::new(), courses });
    }
    let mut memory = Memory::default();
    let in_memory = sinks.is_none();
    let mut named = Named { sinks: sinks.unwrap_or(&mut memory), names: Vec::new() };
    let (result, courses) = record(spec, seed, recordings, &mut named, besides, on_progress)?;
    let elsewhere = named.names.into_iter().map(|name| RecordedFile { name, bytes: None }).collect();
    Ok(RunOutput { result, files: if in_memory { memory.into_files() } else { elsewhere }, courses })
}

/// The parts of a run's options that are no recordings.
#[derive(Clone, Copy, Debug)]
struct Besides {
    limits: bool,
    courses: bool,
}

/// A run with recordings: a failure to write ends it.
fn record(
    spec: &Spec,
    seed: u64,
    recordings: Recordings,
    sinks: &mut dyn Sinks,
    besides: Besides,
    on_progress: &mut dyn FnMut(f64) -> bool,
) -> Result<(RunResult, Option<Courses>), RunError> {
    let mut recorder = Recorder::new((spec, seed), recordings, None, sinks);
    let failure = recorder.failure();
    let observer = Some(Box::new(&mut recorder) as Box<dyn Observer + '_>);
    let world = World::new(spec, seed, observer).map_err(RunError::Refused)?;
    let played = play(world, besides, &mut |share| failure.get().is_none() && on_progress(share));
    if let Some(failure) = failure.get() {
        return Err(failure.clone().into());
    }
    let result = played?;
    recorder.finish(airbraid_units::Instant::ZERO + spec.duration)?;
    Ok(result)
}

fn play(
    mut world: World<'_>,
    besides: Besides,
    on_progress: &mut dyn FnMut(f64) -> bool,
) -> Result<(RunResult, Option<Courses>), Interrupted> {
    if besides.limits {
        world.keep_account();
    }
    let courses = if besides.courses {
        Some(world.run_sampled(on_progress)?)
    } else {
        world.run(on_progress)?;
        None
    };
    Ok((world.result(), courses))
}
