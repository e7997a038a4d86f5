//! Carries out runs: on several threads, each once, kept in a run store, within a budget of time.

use crate::scene::{Path, Scene};
use airbraid_campaign::execute::{Job, Recorded, once, simulate};
use airbraid_campaign::store::{Build, Found, Key, Store};
use airbraid_sim::facts::Facts;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The reason why a row has no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    Stopped,
    Failed(String),
}

/// Measures a row: a value for each column.
pub type Measure<'a> = Box<dyn Fn(&Bench) -> Result<Vec<f64>, Halt> + Sync + 'a>;

/// A row to measure.
pub struct Task<'a> {
    /// Its name among the rows of its table: `--only` takes it.
    pub key: String,
    /// Its parameters, for whoever reads the table.
    pub about: String,
    /// The groups of rows that it is summed up in.
    pub groups: Vec<String>,
    /// Packets that its runs carry, about: its cost.
    pub packets: f64,
    pub measure: Measure<'a>,
}

/// A row that was measured, with a value for each column of its table; a value that there is none of is not a number.
#[derive(Clone, Debug)]
pub struct Row {
    pub key: String,
    pub about: String,
    pub groups: Vec<String>,
    pub values: Vec<f64>,
}

/// Sums over the runs of this call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    pub runs: u64,
    /// Of these: found in the store.
    pub stored: u64,
    /// Packets that links could carry in those that were done.
    pub packets: f64,
    /// Processor time \[s\].
    pub cpu_s: f64,
}

impl Spent {
    /// Processor time for a packet \[us\]; before the first one as measured on a processor of 2024.
    pub fn packet_us(&self) -> f64 {
        if self.packets > 1e6 { self.cpu_s * 1e6 / self.packets } else { 4.0 }
    }
}

struct State {
    /// Runs with a bond.
    bonds: Store,
    /// Runs without, which another data plane leaves as they are.
    plain: Store,
    /// Runs that another thread does now.
    open: BTreeSet<Key>,
    spent: Spent,
}

impl State {
    const fn store(&mut self, scene: &Scene) -> &mut Store {
        match scene.path {
            Path::Bond(_) => &mut self.bonds,
            Path::Plain(_) => &mut self.plain,
        }
    }
}

/// Where runs are carried out.
pub struct Bench {
    state: Mutex<State>,
    closed: Condvar,
    stop: &'static AtomicBool,
    jobs: usize,
    /// Whether the best member alone, the oracle and ideal links are measured, too.
    pub has_standards: bool,
    /// Time after which no row begins; one that would take longer is left out.
    until: Option<Instant>,
}

/// The wall clock.
#[expect(clippy::disallowed_methods, reason = "the budget is the user's time, nothing that a run sees")]
fn now() -> Instant {
    Instant::now()
}

impl Bench {
    /// # Errors
    /// The store cannot be opened.
    pub fn open(dir: &std::path::Path, stop: &'static AtomicBool, jobs: usize) -> Result<Self, String> {
        let open = |build| {
            let (store, notice) = Store::open(dir, build).map_err(|error| error.to_string())?;
            notice.into_iter().for_each(|notice| eprintln!("{notice}"));
            Ok::<_, String>(store)
        };
        let (bonds, plain) = (open(Build::this())?, open(Build::without_bond())?);
        let state = State { bonds, plain, open: BTreeSet::new(), spent: Spent::default() };
        Ok(Self {
            state: Mutex::new(state),
            closed: Condvar::new(),
            stop,
            jobs: jobs.max(1),
            has_standards: true,
            until: None,
        })
    }

    /// From now on rows begin for this time.
    pub fn begin_budget(&mut self, budget: Option<Duration>) {
        self.until = budget.map(|budget| now() + budget);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn spent(&self) -> Spent {
        self.lock().spent
    }

    /// The facts of a run, from the store if it was done before.
    ///
    /// # Errors
    /// The run fails, or all is to stop.
    pub fn run(&self, scene: &Scene, seed: u64) -> Result<Facts, Halt> {
        let spec = scene.spec().map_err(Halt::Failed)?;
        let key = Key::without_limits(&spec, seed);
        let mut state = self.lock();
        while state.open.contains(&key) {
            state = self.closed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.spent.runs += 1;
        if let Found::Facts(facts) = state.store(scene).get(&key).map_err(|error| Halt::Failed(error.to_string()))? {
            state.spent.stored += 1;
            return Ok(facts);
        }
        state.open.insert(key.clone());
        drop(state);
        let job = Job { spec: &spec, seed, recorded: Recorded::default(), threads: 1 };
        let mut go_on = |_| !self.stop.load(Ordering::Relaxed);
        let outcome = once(&job, &simulate, &mut go_on);
        let mut state = self.lock();
        state.open.remove(&key);
        self.closed.notify_all();
        let output = match outcome {
            Ok(output) => output,
            Err(_) if self.stop.load(Ordering::Relaxed) => return Err(Halt::Stopped),
            Err(message) => return Err(Halt::Failed(format!("{message}\nseed {seed}\n{}", scene.text()))),
        };
        let facts = Facts::of(&output.result);
        state.store(scene).put(&[(key, facts.clone())]).map_err(|error| Halt::Failed(error.to_string()))?;
        state.spent.packets += scene.packets();
        state.spent.cpu_s += output.result.cpu_s;
        Ok(facts)
    }

    /// Processor time for a number of packets \[s\], as measured so far.
    fn seconds(&self, packets: f64) -> f64 {
        packets * self.lock().spent.packet_us() / 1e6
    }

    /// Whether a row of this cost fits into what is left of the budget.
    fn is_affordable(&self, packets: f64) -> bool {
        let Some(until) = self.until else { return true };
        let left = until.saturating_duration_since(now()).as_secs_f64();
        // Wide and long paths cost half as much more a packet than those before them.
        left > 0.0 && 1.5 * self.seconds(packets) <= left
    }

    /// Measures the rows, cheap ones first. Returns them in that order, and the number of those that were left out.
    ///
    /// # Errors
    /// The first message of a run that failed.
    pub fn measure(&self, mut tasks: Vec<Task<'_>>) -> Result<(Vec<Row>, usize), String> {
        tasks.sort_by(|a, b| a.packets.total_cmp(&b.packets));
        let all = tasks.iter().map(|task| task.packets).sum();
        eprintln!("{} rows, some {:.0} s of processor time if none is stored", tasks.len(), self.seconds(all));
        let next = AtomicUsize::new(0);
        let done = Mutex::new((Vec::new(), None));
        let work = || {
            while !self.stop.load(Ordering::Relaxed) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(task) = tasks.get(index).filter(|task| self.is_affordable(task.packets)) else { break };
                eprint!("\r{}/{} {}          ", index + 1, tasks.len(), task.key);
                let outcome = (task.measure)(self);
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                match outcome {
                    Ok(values) => done.0.push((index, values)),
                    Err(Halt::Stopped) => break,
                    Err(Halt::Failed(message)) => {
                        done.1.get_or_insert(message);
                        self.stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (1..self.jobs).map(|_| scope.spawn(work)).collect();
            work();
            threads.into_iter().for_each(|thread| drop(thread.join()));
        });
        eprintln!();
        let (mut values, failure) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(message) = failure {
            return Err(message);
        }
        values.sort_by_key(|(index, _)| *index);
        let left = tasks.len() - values.len();
        let row = |(index, values): (usize, Vec<f64>)| {
            let Task { key, about, groups, .. } = &tasks[index];
            Row { key: key.clone(), about: about.clone(), groups: groups.clone(), values }
        };
        Ok((values.into_iter().map(row).collect(), left))
    }
}
