//! The runs of a paper: resolved, looked up in the store, done, and kept.
//!
//! Runs that resolve to one scenario and seed are done once, whatever they are called. Of each run only what some row
//! or figure asks for stays in memory. A run that cannot be had makes its rows missing and no others.

use super::evaluate::Source;
use super::formula::Needs;
use super::library::Library;
use super::models::Model;
use super::paper::{Paper, Run};
use crate::execute::{Failure, Job, Recorded, Runner, Settings, each};
use crate::store::{Found, Key, Store, StoreError};
use airbraid_sim::facts::Facts;
use airbraid_sim::scenario::Scenario;
use airbraid_sim::scenario::spec::Spec;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;

/// The needed runs, with their state.
#[derive(Debug)]
pub struct Runs {
    /// One for each run of the paper, in its order.
    runs: Vec<Member>,
    jobs: Vec<Planned>,
    models: Vec<Modelled>,
    /// Whether a figure needs to know what limits a flow: the account is not kept for nothing.
    needs_limits: bool,
}

/// A model, or one cell of it, that is needed.
#[derive(Debug)]
struct Modelled {
    model: Model,
    needed: BTreeSet<String>,
    facts: Result<Vec<Arc<Facts>>, String>,
}

/// A run of the paper.
#[derive(Clone, Debug)]
pub struct Member {
    /// As the paper's folder has it.
    pub run: Run,
    /// All its overrides of the scenario.
    pub said: Vec<String>,
    /// Its jobs, one for each replication; or the reason why it cannot be run. `None`: it is not needed.
    state: Option<Result<Vec<usize>, String>>,
    /// Its facts, when all jobs are done.
    facts: Vec<Arc<Facts>>,
}

/// One run to do.
#[derive(Debug)]
struct Planned {
    spec: Arc<Spec>,
    key: Key,
    metrics: BTreeSet<String>,
    series: BTreeSet<String>,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Waiting,
    Done { facts: Arc<Facts>, cpu_s: Option<f64> },
    Failed(String),
}

/// The result of a lookup in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHits {
    /// Runs that were done before.
    pub found: usize,
    /// Rows that were damaged and were removed.
    pub damaged: usize,
}

/// The result of a campaign of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkSummary {
    /// Runs that are done now.
    pub done: usize,
    /// Runs that failed.
    pub failed: usize,
    /// Runs that were not begun or not ended, because of a stop.
    pub left: usize,
    /// The store's error, if it refused to keep a result.
    pub unkept: Option<String>,
}

impl Runs {
    /// Resolves the runs in `needs`.
    ///
    /// # Errors
    /// A scenario is wrong in a way that no setting of the figure explains: its file is missing or is no TOML. Or a
    /// model is told what it does not understand.
    pub fn resolve(paper: &Paper, library: &Library, needs: &Needs, quick: bool) -> Result<Self, String> {
        let mut runs = Vec::with_capacity(paper.runs.len());
        for run in &paper.runs {
            // The last word counts: a run may say something else than all, and in the short version it has no say.
            let said = match (quick, run.whole) {
                (false, _) => [&paper.seed[..], &paper.full, &run.set].concat(),
                (true, false) => [&paper.seed[..], &run.set, &paper.quick].concat(),
                (true, true) => [&paper.seed[..], &run.set, &paper.quick_whole].concat(),
            };
            runs.push(Member { run: run.clone(), said, state: None, facts: Vec::new() });
        }
        let needs_limits = needs.metrics.iter().any(|(_, name)| name.contains(".limited_by_"));
        let mut all = Self { runs, jobs: Vec::new(), models: models(paper, needs)?, needs_limits };
        let mut index: BTreeMap<Key, usize> = BTreeMap::new();
        let wanted = |pairs: &BTreeSet<(String, String)>| -> Vec<(usize, String)> {
            pairs.iter().flat_map(|(run, name)| paper.expand(run).into_iter().map(|i| (i, name.clone()))).collect()
        };
        let (metrics, series) = (wanted(&needs.metrics), wanted(&needs.series));
        let members: BTreeSet<usize> = metrics.iter().chain(&series).map(|(i, _)| *i).collect();
        for member in members {
            let (text, file) = library.read(&paper.name, &all.runs[member].run.scenario)?;
            let names = |pairs: &[(usize, String)]| -> BTreeSet<String> {
                pairs.iter().filter(|(i, _)| *i == member).map(|(_, name)| name.clone()).collect()
            };
            let wanted = (names(&metrics), names(&series));
            let state = match one_cell(&file, &text, &all.runs[member].said) {
                Ok(spec) => Ok(all.plan(&Arc::new(spec), &wanted, &mut index)),
                Err(message) => Err(message),
            };
            all.runs[member].state = Some(state);
        }
        Ok(all)
    }

    /// The jobs of a spec's replications, made where none needed them before.
    fn plan(
        &mut self,
        spec: &Arc<Spec>,
        (metrics, series): &(BTreeSet<String>, BTreeSet<String>),
        index: &mut BTreeMap<Key, usize>,
    ) -> Vec<usize> {
        let key_of = if self.needs_limits { Key::new } else { Key::without_limits };
        let scenario = key_of(spec, 0).scenario;
        let mut jobs = Vec::with_capacity(spec.replications as usize);
        for k in 0..spec.replications {
            let key = Key { scenario, seed: spec.seed.wrapping_add(u64::from(k)) };
            let at = *index.entry(key.clone()).or_insert(self.jobs.len());
            if at == self.jobs.len() {
                let (metrics, series) = (BTreeSet::new(), BTreeSet::new());
                self.jobs.push(Planned { spec: Arc::clone(spec), key, metrics, series, state: State::Waiting });
            }
            self.jobs[at].metrics.extend(metrics.iter().cloned());
            self.jobs[at].series.extend(series.iter().cloned());
            jobs.push(at);
        }
        jobs
    }

    /// Takes earlier results from the store.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn recall(&mut self, store: &Store) -> Result<CacheHits, StoreError> {
        let mut recalled = CacheHits::default();
        for job in &mut self.jobs {
            match store.get(&job.key)? {
                Found::Facts(facts) => {
                    let facts = Arc::new(facts.only(&job.metrics, &job.series));
                    (job.state, recalled.found) = (State::Done { facts, cpu_s: None }, recalled.found + 1);
                }
                Found::Damaged => recalled.damaged += 1,
                Found::Nothing => {}
            }
        }
        Ok(recalled)
    }

    /// Number of needed runs.
    pub fn total(&self) -> usize {
        self.jobs.len()
    }

    /// Number of runs still to be done.
    pub fn waiting(&self) -> usize {
        self.jobs.iter().filter(|job| matches!(job.state, State::Waiting)).count()
    }

    /// Does the waiting runs, the longest first, and keeps each in the store when it is done. `progress` gets the
    /// number of a waiting run and its share done.
    ///
    /// # Errors
    /// There are no threads to be had. That a run failed is no error here.
    pub fn work(
        &mut self,
        settings: &Settings<'_>,
        store: Option<&mut Store>,
        runner: &Runner<'_>,
        progress: &(dyn Fn(usize, f64) + Sync),
    ) -> Result<WorkSummary, Failure> {
        let order = self.order();
        let planned: Vec<&Planned> = order.iter().map(|i| &self.jobs[*i]).collect();
        let recorded = if self.needs_limits { Recorded::LIMITS } else { Recorded::default() };
        let jobs: Vec<Job<'_>> =
            planned.iter().map(|job| Job { spec: &job.spec, seed: job.key.seed, recorded, threads: 1 }).collect();
        let (outcomes, unkept) = std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let writer = store.map(|store| scope.spawn(move || write(store, &receiver)));
            let keeping = writer.is_some();
            let keep = |index: usize, outcome: Result<airbraid_sim::RunOutput, String>| {
                let job: &Planned = planned[index];
                let result = outcome?.result;
                let facts = Facts::of(&result);
                if keeping {
                    // A writer that gave up says so at the end.
                    let _ = sender.send((job.key.clone(), facts.clone()));
                }
                Ok((Arc::new(facts.only(&job.metrics, &job.series)), result.cpu_s))
            };
            let outcomes = each(&jobs, settings, runner, progress, &keep);
            drop(sender);
            let unkept =
                writer.and_then(|writer| writer.join().unwrap_or_else(|_| Some("its thread broke".to_owned())));
            (outcomes, unkept)
        });
        let mut came = WorkSummary { unkept, ..WorkSummary::default() };
        for (at, outcome) in order.into_iter().zip(outcomes?) {
            match outcome {
                Some(Ok((facts, cpu_s))) => {
                    came.done += 1;
                    self.jobs[at].state = State::Done { facts, cpu_s: Some(cpu_s) };
                }
                Some(Err(message)) if !settings.stop.load(Ordering::Relaxed) => {
                    came.failed += 1;
                    self.jobs[at].state = State::Failed(message);
                }
                Some(Err(_)) | None => came.left += 1,
            }
        }
        Ok(came)
    }

    /// The jobs that wait, by their expected cost, the dearest first: no core waits for the last one alone.
    fn order(&self) -> Vec<usize> {
        let cost = |job: &Planned| {
            let radios: usize = job.spec.nodes.iter().map(|node| node.radios.len()).sum();
            job.spec.duration.as_secs_f64() * (radios + job.spec.links.len()) as f64
        };
        let mut order: Vec<(f64, usize)> = (self.jobs.iter().enumerate())
            .filter(|(_, job)| matches!(job.state, State::Waiting))
            .map(|(i, job)| (cost(job), i))
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        order.into_iter().map(|(_, i)| i).collect()
    }

    /// Gathers the facts by run, when the work is done, and computes the models.
    pub fn gather(&mut self) {
        self.models.par_iter_mut().for_each(|one| {
            let facts = one.model.facts(&one.needed);
            one.facts = facts.map(|all| all.into_iter().map(Arc::new).collect());
        });
        for member in &mut self.runs {
            let Some(Ok(jobs)) = &member.state else { continue };
            let mut facts = Vec::with_capacity(jobs.len());
            let mut failed = None;
            for job in jobs.iter().map(|i| &self.jobs[*i]) {
                match &job.state {
                    State::Done { facts: of_job, .. } => facts.push(Arc::clone(of_job)),
                    State::Failed(message) => failed = Some(format!("seed {}: {message}", job.key.seed)),
                    State::Waiting => failed = Some("it was not done".to_owned()),
                }
            }
            match failed {
                Some(message) => member.state = Some(Err(message)),
                None => member.facts = facts,
            }
        }
    }

    /// The page's information about each needed run.
    pub fn said(&self) -> Vec<RunRecord> {
        let said = |member: &Member| {
            let jobs = match member.state.as_ref()? {
                Ok(jobs) => jobs.iter().map(|i| &self.jobs[*i]).collect(),
                Err(_) => Vec::new(),
            };
            let first: Option<&&Planned> = jobs.first();
            let cpu_s: Vec<f64> = jobs
                .iter()
                .filter_map(|job| if let State::Done { cpu_s, .. } = &job.state { *cpu_s } else { None })
                .collect();
            Some(RunRecord {
                name: member.run.name.clone(),
                scenario: member.run.scenario.clone(),
                set: member.said.clone(),
                hash: first.map(|job| job.key.short()).unwrap_or_default(),
                duration_s: first.map_or(0.0, |job| job.spec.duration.as_secs_f64()),
                seeds: jobs.iter().map(|job| job.key.seed).collect(),
                recalled: jobs.len() - cpu_s.len(),
                cpu_s: cpu_s.iter().sum(),
                wrong: member.state.as_ref().and_then(|s| s.as_ref().err().cloned()),
            })
        };
        self.runs.iter().filter_map(said).collect()
    }
}

/// The page's information about a run.
#[derive(Clone, Debug)]
pub struct RunRecord {
    pub name: String,
    pub scenario: String,
    pub set: Vec<String>,
    /// The first digits of the resolved scenario's hash.
    pub hash: String,
    /// Simulated time.
    pub duration_s: f64,
    pub seeds: Vec<u64>,
    /// Number of them that came from the store.
    pub recalled: usize,
    /// Processor time of the others.
    pub cpu_s: f64,
    /// The reason why it gave nothing.
    pub wrong: Option<String>,
}

impl Source for Runs {
    fn facts(&self, run: &str) -> Result<&[Arc<Facts>], String> {
        if let Some(one) = self.models.iter().find(|one| one.model.name == run) {
            return one.facts.as_deref().map_err(|message| format!("the model {run} gave nothing: {message}"));
        }
        let member = self.runs.iter().find(|member| member.run.name == run);
        let member = member.ok_or_else(|| format!("there is no run {run}"))?;
        match &member.state {
            Some(Ok(_)) => Ok(&member.facts),
            Some(Err(message)) => Err(format!("the run {run} gave nothing: {message}")),
            None => Err(format!("the run {run} was not asked for")),
        }
    }
    fn cells(&self, group: &str) -> Result<Vec<String>, String> {
        let within = |name: &str| name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'));
        let runs = self.runs.iter().map(|member| member.run.name.clone());
        let models = self.models.iter().map(|one| one.model.name.clone());
        Ok(runs.chain(models).filter(|name| within(name)).collect())
    }
    fn is_constant(&self, run: &str) -> bool {
        self.models.iter().any(|one| one.model.name == run && one.model.replications == 1)
    }
}

/// The needed models, each with its requested metrics.
fn models(paper: &Paper, needs: &Needs) -> Result<Vec<Modelled>, String> {
    let mut all = Vec::new();
    for entry in &paper.models {
        for model in entry.expand()? {
            let group = format!("{}.*", entry.name);
            let of_this = |run: &String| *run == model.name || (entry.each.is_some() && *run == group);
            let asked = needs.metrics.iter().chain(&needs.series).filter(|(run, _)| of_this(run));
            let needed: BTreeSet<String> = asked.map(|(_, name)| name.clone()).collect();
            if !needed.is_empty() {
                all.push(Modelled { model, needed, facts: Err("it was not computed".to_owned()) });
            }
        }
    }
    Ok(all)
}

/// Resolves a scenario with its overrides, to one cell.
fn one_cell(file: &str, text: &str, said: &[String]) -> Result<Spec, String> {
    let first = |e: airbraid_sim::scenario::Errors| e.0.first().map_or_else(String::new, ToString::to_string);
    let mut scenario = Scenario::parse(file, text).map_err(first)?;
    for set in said {
        scenario.set("--set", set).map_err(first)?;
    }
    let mut plan = scenario.plan().map_err(first)?;
    match (plan.cells.pop(), plan.cells.len()) {
        (Some(cell), 0) => Ok(cell.spec),
        (_, more) => Err(format!("{file} has {} cells here: set every swept key", more + 1)),
    }
}

/// Writes results until all senders are gone; waiting ones go into one transaction. Gives up at the first error.
fn write(store: &mut Store, receiver: &mpsc::Receiver<(Key, Facts)>) -> Option<String> {
    while let Ok(first) = receiver.recv() {
        let batch: Vec<(Key, Facts)> = std::iter::once(first).chain(receiver.try_iter()).collect();
        if let Err(e) = store.put(&batch) {
            return Some(e.to_string());
        }
    }
    None
}
