//! Runs every cell with every seed on a pool of its own and puts the results into the order of the plan.
//!
//! The order in which runs finish, and on how many threads, changes nothing but the measured times.

use airbraid_sim::scenario::Plan;
use airbraid_sim::scenario::spec::Spec;
use airbraid_sim::{RunOptions, RunOutput};
use rayon::prelude::*;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is recorded in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The frames of every radio as pcapng.
    pub pcap: bool,
    /// Frames as readable lines.
    pub timeline: bool,
    /// What the scenario's `[record]` names.
    pub scenario: bool,
}

/// One run to do: a cell with a seed.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// What is run.
    pub spec: &'a Spec,
    /// The seed of this replication.
    pub seed: u64,
    /// What is recorded.
    pub recorded: Recorded,
}

/// Does one run. It tells its progress now and then as a share between 0 and 1, and hears whether to go on.
pub type Runner<'a> = dyn Fn(&Job<'_>, &mut dyn FnMut(f64) -> bool) -> Result<RunOutput, String> + Sync + 'a;

/// The runner that simulates.
///
/// # Errors
/// What the run says.
pub fn simulate(job: &Job<'_>, go_on: &mut dyn FnMut(f64) -> bool) -> Result<RunOutput, String> {
    let Recorded { pcap, timeline, scenario } = job.recorded;
    let options = RunOptions { pcap, timeline, on_progress: Some(go_on) };
    let asks = job.spec.record.timeline || !job.spec.record.pcap.is_empty();
    let spec = if asks && !scenario { Cow::Owned(unrecorded(job.spec)) } else { Cow::Borrowed(job.spec) };
    airbraid_sim::run(&spec, job.seed, options).map_err(|e| e.to_string())
}

/// How a campaign is run.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Threads; 0: as many as cores.
    pub jobs: usize,
    /// What is recorded, in the first replication of each cell only: captures of all would fill the memory.
    pub recorded: Recorded,
    /// Set it to stop at the next report of progress.
    pub stop: &'a AtomicBool,
}

/// Why a campaign gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A run failed.
    #[error("the run with seed {seed}{} failed: {message}", in_cell(.cell))]
    Run {
        /// The cell's label, empty where nothing is swept.
        cell: String,
        /// The seed, to run it again alone.
        seed: u64,
        /// What it said.
        message: String,
    },
    /// Somebody asked to stop.
    #[error("stopped")]
    Stopped,
    /// There are no threads to be had.
    #[error("no threads: {0}")]
    Threads(String),
}

fn in_cell(label: &str) -> String {
    if label.is_empty() { String::new() } else { format!(" in the cell {label}") }
}

/// Runs all cells of `plan`; the result has the runs of each cell in the order of their seeds.
///
/// `progress` is called with (index of the run, its share done) from any thread.
///
/// # Errors
/// The first failure by the order of the plan.
pub fn execute(
    plan: &Plan,
    settings: &Settings<'_>,
    runner: &Runner<'_>,
    progress: &(dyn Fn(usize, f64) + Sync),
) -> Result<Vec<Vec<RunOutput>>, Failure> {
    let jobs: Vec<(usize, Job<'_>)> = jobs(plan, settings.recorded);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.jobs).build();
    let pool = pool.map_err(|e| Failure::Threads(e.to_string()))?;
    let one = |(index, (cell, job)): (usize, &(usize, Job<'_>))| {
        if settings.stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        let mut go_on = |share: f64| {
            progress(index, share);
            !settings.stop.load(Ordering::Relaxed)
        };
        let outcome = measured(job, runner, &mut go_on).map_err(|message| {
            // What a failed campaign would still compute is of no use; runs that this stops are not to blame.
            if settings.stop.swap(true, Ordering::Relaxed) {
                return Failure::Stopped;
            }
            Failure::Run { cell: plan.cells[*cell].label.clone(), seed: job.seed, message }
        });
        progress(index, 1.0);
        outcome
    };
    let results: Vec<Result<RunOutput, Failure>> = pool.install(|| jobs.par_iter().enumerate().map(one).collect());
    let failed = results.iter().filter_map(|r| r.as_ref().err());
    if let Some(failure) = failed.clone().find(|f| **f != Failure::Stopped).or(failed.clone().next()) {
        return Err(failure.clone());
    }
    let mut cells: Vec<Vec<RunOutput>> = plan.cells.iter().map(|_| Vec::new()).collect();
    for ((cell, _), outcome) in jobs.iter().zip(results) {
        cells[*cell].extend(outcome.ok());
    }
    Ok(cells)
}

/// The runs of a plan: replication k of each cell on seed + k.
fn jobs(plan: &Plan, recorded: Recorded) -> Vec<(usize, Job<'_>)> {
    let of_cell =
        |(index, cell): (usize, &'_ airbraid_sim::scenario::Cell)| (index, cell.spec.replications, cell.spec.seed);
    let cells = plan.cells.iter().enumerate().map(of_cell);
    cells
        .flat_map(|(index, replications, seed)| {
            let spec = &plan.cells[index].spec;
            (0..replications).map(move |k| {
                let recorded = if k == 0 { recorded } else { Recorded::default() };
                (index, Job { spec, seed: seed.wrapping_add(u64::from(k)), recorded })
            })
        })
        .collect()
}

/// The same run without its recordings.
fn unrecorded(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    (spec.record.pcap, spec.record.timeline) = (Vec::new(), false);
    spec
}

/// How many runs a plan has.
pub fn run_count(plan: &Plan) -> usize {
    plan.cells.iter().map(|cell| cell.spec.replications as usize).sum()
}

/// Does one run, catches a panic of it, and fills in how long it took.
#[expect(clippy::disallowed_methods, reason = "the time that a run took is measured around it, never used within")]
fn measured(job: &Job<'_>, runner: &Runner<'_>, go_on: &mut dyn FnMut(f64) -> bool) -> Result<RunOutput, String> {
    let (wall, cpu) = (std::time::Instant::now(), thread_cpu_s());
    let caught = catch_unwind(AssertUnwindSafe(|| runner(job, go_on)));
    let mut outcome = caught.map_err(|panic| panic_text(&*panic))??;
    outcome.result.wall_s = wall.elapsed().as_secs_f64();
    outcome.result.cpu_s = match (cpu, thread_cpu_s()) {
        (Some(before), Some(after)) => after - before,
        _ => outcome.result.wall_s,
    };
    Ok(outcome)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("an assertion broke: {}", text.unwrap_or("no message"))
}

/// Processor time of this thread so far; Linux only (the first number is in nanoseconds).
fn thread_cpu_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|ns| ns / 1e9)
}
