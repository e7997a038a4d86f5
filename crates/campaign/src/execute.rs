//! Runs every cell with every seed on a pool of its own and puts the results into the order of the plan.
//!
//! The order in which runs finish, and on how many threads, changes nothing but the measured times.

use crate::scratch::{Files, Place};
use airbraid_sim::record::Sinks;
use airbraid_sim::scenario::Plan;
use airbraid_sim::scenario::spec::{Pcap, Spec};
use airbraid_sim::{Recordings, RunOptions, RunOutput, Task, Threads};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The recordings of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded<'a> {
    /// The frames of every radio as pcapng.
    pub pcap: bool,
    /// Frames as readable lines, and as a page where files are written.
    pub timeline: bool,
    /// A trace for Perfetto.
    pub perfetto: bool,
    /// The recordings of the scenario's `[record]`.
    pub scenario: bool,
    /// Samples of delay, windows and queues, for the report.
    pub courses: bool,
    /// The account of what limits each flow; of every replication.
    pub limits: bool,
    /// Where they are written while the run goes on; `None`: they stay in memory.
    pub place: Option<Place<'a>>,
}

impl Recorded<'_> {
    /// The account of what limits each flow, and nothing else.
    pub const LIMITS: Recorded<'static> = Recorded {
        pcap: false,
        timeline: false,
        perfetto: false,
        scenario: false,
        courses: false,
        limits: true,
        place: None,
    };

    /// The part that every replication has.
    const fn of_all(self) -> Recorded<'static> {
        Recorded { limits: self.limits, ..Recorded::LIMITS }
    }

    /// The same for one of the cells of a campaign.
    fn of_cell(self, index: usize, cells: usize) -> Self {
        let cell = (cells > 1).then_some(index);
        Self { place: self.place.map(|place| Place { cell, ..place }), ..self }
    }
}

/// One run to do: a cell with a seed.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    pub spec: &'a Spec,
    /// The seed of this replication.
    pub seed: u64,
    pub recorded: Recorded<'a>,
    /// Threads that the run may use: more than one where there are fewer runs than threads.
    pub threads: usize,
}

/// Does one run. It reports its progress at times as a share between 0 and 1, and is told whether to go on.
pub type Runner<'a> = dyn Fn(&Job<'_>, &mut dyn FnMut(f64) -> bool) -> Result<RunOutput, String> + Sync + 'a;

/// The runner that simulates.
///
/// # Errors
/// The run's message.
pub fn simulate(job: &Job<'_>, go_on: &mut dyn FnMut(f64) -> bool) -> Result<RunOutput, String> {
    let Recorded { pcap, timeline, perfetto, scenario, courses, limits, place } = job.recorded;
    let asks = job.spec.record.is_any();
    // A page is for people who look at files.
    let frames = place.is_some() && (timeline || scenario && job.spec.record.timeline);
    let recordings = Recordings { pcap, timeline, frames, perfetto };
    let spec = if asks && !scenario { Cow::Owned(unrecorded(job.spec)) } else { Cow::Borrowed(job.spec) };
    let mut files = place.map(Files::new);
    let sinks = files.as_mut().map(|files| files as &mut dyn Sinks);
    let elsewhere = AtomicU64::new(0);
    let carry_out = |tasks: Vec<Task<'_>>, own: &mut dyn FnMut()| side_by_side(tasks, own, &elsewhere);
    let threads = Some(Threads { count: job.threads, carry_out: &carry_out });
    let options = RunOptions { recordings, sinks, limits, courses, on_progress: Some(go_on), threads };
    let mut outcome = airbraid_sim::run(&spec, job.seed, options).map_err(|e| e.to_string());
    if let Ok(output) = &mut outcome {
        output.result.cpu_s = elsewhere.into_inner() as f64 / 1e9;
    }
    if let (Err(_), Some(files)) = (&outcome, files) {
        files.remove();
    }
    outcome
}

/// Carries out parts of a run on threads of their own, beside one on this thread; `elsewhere` gets the processor time
/// of the others \[ns\].
fn side_by_side(tasks: Vec<Task<'_>>, own: &mut dyn FnMut(), elsewhere: &AtomicU64) {
    std::thread::scope(|scope| {
        for task in tasks {
            scope.spawn(|| {
                task();
                elsewhere.fetch_add((thread_cpu_s().unwrap_or(0.0) * 1e9) as u64, Ordering::Relaxed);
            });
        }
        own();
    });
}

/// The settings of a campaign.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Threads; 0: as many as cores.
    pub jobs: usize,
    /// The recordings, in the first replication of each cell only: captures of all would fill the disk.
    pub recorded: Recorded<'a>,
    /// Set to stop at the next report of progress.
    pub stop: &'a AtomicBool,
}

impl Settings<'_> {
    /// The number of threads.
    fn threads(&self) -> usize {
        match self.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        }
    }
}

/// The reason why a campaign gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("the run with seed {seed}{} failed: {message}", in_cell(.cell))]
    Run {
        /// The cell's label, empty where nothing is swept.
        cell: String,
        /// The seed, to run it again alone.
        seed: u64,
        message: String,
    },
    /// A signal or the user asked to stop.
    #[error("stopped")]
    Stopped,
    /// No threads could be started.
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
    let done = execute_until_stopped(plan, settings, runner, progress)?;
    if done.left > 0 { Err(Failure::Stopped) } else { Ok(done.cells) }
}

/// The runs of a campaign when it ends or is stopped.
#[derive(Debug)]
pub struct Done {
    /// The finished runs of each cell in the order of their seeds.
    pub cells: Vec<Vec<RunOutput>>,
    /// Number of runs that were not finished.
    pub left: usize,
}

/// The same as [`execute`], but that a stop is no failure.
///
/// # Errors
/// The first failure by the order of the plan.
pub fn execute_until_stopped(
    plan: &Plan,
    settings: &Settings<'_>,
    runner: &Runner<'_>,
    progress: &(dyn Fn(usize, f64) + Sync),
) -> Result<Done, Failure> {
    let (cell_of, mut jobs): (Vec<usize>, Vec<Job<'_>>) = jobs(plan, settings.recorded).into_iter().unzip();
    let threads = settings.threads() / jobs.len().max(1);
    jobs.iter_mut().for_each(|job| job.threads = threads.max(1));
    let keep = |_, outcome: Result<RunOutput, String>| {
        // What a failed campaign would still compute is of no use; runs that this stops are not to blame.
        outcome.map_err(|message| if settings.stop.swap(true, Ordering::Relaxed) { None } else { Some(message) })
    };
    let results = each(&jobs, settings, runner, progress, &keep)?;
    let mut cells: Vec<Vec<RunOutput>> = plan.cells.iter().map(|_| Vec::new()).collect();
    let mut left = 0;
    for ((cell, job), outcome) in cell_of.into_iter().zip(&jobs).zip(results) {
        match outcome {
            Some(Ok(output)) => cells[cell].push(output),
            Some(Err(Some(message))) => {
                return Err(Failure::Run { cell: plan.cells[cell].label.clone(), seed: job.seed, message });
            }
            Some(Err(None)) | None => left += 1,
        }
    }
    Ok(Done { cells, left })
}

/// Does `jobs` in their order, as many at a time as `settings` allow, and returns the value of `keep` for each outcome,
/// in the order of the jobs; `None` for one that was not begun before a stop.
///
/// `keep` is called from any thread, with the index of the job.
///
/// # Errors
/// There are no threads to be had.
pub fn each<T: Send>(
    jobs: &[Job<'_>],
    settings: &Settings<'_>,
    runner: &Runner<'_>,
    progress: &(dyn Fn(usize, f64) + Sync),
    keep: &(dyn Fn(usize, Result<RunOutput, String>) -> T + Sync),
) -> Result<Vec<Option<T>>, Failure> {
    let next = AtomicUsize::new(0);
    // Each thread takes the next job: whoever sorts the long ones to the front wastes no core at the end.
    let work = || {
        let mut done = Vec::new();
        while !settings.stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(index) else { break };
            let mut go_on = |share: f64| {
                progress(index, share);
                !settings.stop.load(Ordering::Relaxed)
            };
            let outcome = once(job, runner, &mut go_on);
            done.push((index, keep(index, outcome)));
            progress(index, 1.0);
        }
        done
    };
    let mut results: Vec<Option<T>> = jobs.iter().map(|_| None).collect();
    for (index, value) in on_threads(settings.threads().min(jobs.len()), &work)?.into_iter().flatten() {
        results[index] = Some(value);
    }
    Ok(results)
}

/// Calls `work` on this many threads at a time. One is the caller's: it starts at once, and finds the memory that was
/// used before.
fn on_threads<T: Send>(threads: usize, work: &(dyn Fn() -> T + Sync)) -> Result<Vec<T>, Failure> {
    if threads <= 1 {
        return Ok(vec![work()]);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Failure::Threads(e.to_string()))?;
    Ok(pool.broadcast(|_| work()))
}

/// The runs of a plan: replication k of each cell on seed + k.
fn jobs<'a>(plan: &'a Plan, recorded: Recorded<'a>) -> Vec<(usize, Job<'a>)> {
    let of_cell =
        |(index, cell): (usize, &'_ airbraid_sim::scenario::Cell)| (index, cell.spec.replications, cell.spec.seed);
    let cells = plan.cells.iter().enumerate().map(of_cell);
    cells
        .flat_map(|(index, replications, seed)| {
            let spec = &plan.cells[index].spec;
            (0..replications).map(move |k| {
                let recorded = if k == 0 { recorded.of_cell(index, plan.cells.len()) } else { recorded.of_all() };
                (index, Job { spec, seed: seed.wrapping_add(u64::from(k)), recorded, threads: 1 })
            })
        })
        .collect()
}

/// The same run without its recordings.
fn unrecorded(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    (spec.record.pcap, spec.record.timeline, spec.record.perfetto) = (Pcap::default(), false, false);
    spec
}

/// Number of runs of a plan.
pub fn run_count(plan: &Plan) -> usize {
    plan.cells.iter().map(|cell| cell.spec.replications as usize).sum()
}

/// Does one run on this thread, catches a panic of it, and fills in its duration.
///
/// # Errors
/// The run's message, or the broken assertion.
#[expect(clippy::disallowed_methods, reason = "the time that a run took is measured around it, never used within")]
pub fn once(job: &Job<'_>, runner: &Runner<'_>, go_on: &mut dyn FnMut(f64) -> bool) -> Result<RunOutput, String> {
    let (wall, cpu) = (std::time::Instant::now(), thread_cpu_s());
    let caught = catch_unwind(AssertUnwindSafe(|| runner(job, go_on)));
    let mut outcome = caught.map_err(|panic| panic_text(&*panic))??;
    outcome.result.wall_s = wall.elapsed().as_secs_f64();
    // What the runner has put there is the time of other threads.
    outcome.result.cpu_s += match (cpu, thread_cpu_s()) {
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
