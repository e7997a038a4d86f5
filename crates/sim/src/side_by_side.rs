//! A run on several threads: shares of a scenario that have nothing to do with each other, side by side.
//!
//! The result is that of one thread to the byte. A run has no threads of its own: its caller lends them.

use crate::failure::RunError;
use crate::result::RunResult;
use crate::scenario::spec::Spec;
use crate::world::{self, Interrupted, Played, Share, World};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};

/// A part of the work of a run.
pub type Task<'t> = Box<dyn FnOnce() + Send + 't>;

/// A way to carry out tasks beside the caller's own, which is the second argument. It returns when all are done.
pub type CarryOut<'a> = dyn Fn(Vec<Task<'_>>, &mut dyn FnMut()) + 'a;

/// Threads that a run may use.
#[derive(Clone, Copy)]
pub struct Threads<'a> {
    /// The largest number of tasks at a time, the caller's own included.
    pub count: usize,
    pub carry_out: &'a CarryOut<'a>,
}

/// The shares of a scenario, one for each thread at most; `None` if it is one whole.
pub fn shares(spec: &Spec, seed: u64, threads: Threads<'_>) -> Option<Vec<Share>> {
    let shares = world::shares(spec, &world::parts(spec, seed), threads.count);
    (shares.len() > 1).then_some(shares)
}

/// Plays all shares, the last on this thread.
///
/// # Errors
/// Those of a run.
pub fn play(
    (spec, seed): (&Spec, u64),
    mut shares: Vec<Share>,
    limits: bool,
    threads: Threads<'_>,
    on_progress: &mut dyn FnMut(f64) -> bool,
) -> Result<RunResult, RunError> {
    let own = shares.pop().unwrap_or_default();
    let mut world = of_share((spec, seed), own, limits)?;
    let mut others: Vec<Result<Played, RunError>> = Vec::new();
    others.resize_with(shares.len(), || Err(Interrupted.into()));
    let (reports, heard) = channel();
    let stop = AtomicBool::new(false);
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for (index, (share, place)) in shares.into_iter().zip(&mut others).enumerate() {
        let (reports, stop) = (reports.clone(), &stop);
        tasks.push(Box::new(move || {
            let mut go_on = |done| reports.send((index, done)).is_ok() && !stop.load(Ordering::Relaxed);
            *place = play_share((spec, seed), share, limits, &mut go_on);
        }));
    }
    drop(reports);
    let mut progress = Progress { done: vec![0.0; tasks.len() + 1], heard, stop: &stop, on_progress };
    let mut played = Ok(());
    (threads.carry_out)(tasks, &mut || {
        played = world.play_all(&mut |done| progress.goes_on(done));
        progress.finish(played.is_ok());
    });
    played?;
    for other in others {
        world.take_over(other?);
    }
    world.close();
    Ok(world.result())
}

fn of_share<'a>((spec, seed): (&'a Spec, u64), share: Share, limits: bool) -> Result<World<'a>, RunError> {
    let mut world = World::of_share(spec, seed, None, share).map_err(RunError::Refused)?;
    if limits {
        world.keep_account();
    }
    Ok(world)
}

fn play_share(
    scenario: (&Spec, u64),
    share: Share,
    limits: bool,
    go_on: &mut dyn FnMut(f64) -> bool,
) -> Result<Played, RunError> {
    let mut world = of_share(scenario, share, limits)?;
    world.play_all(go_on)?;
    Ok(world.into_played())
}

/// The progress of a run: that of its slowest share.
struct Progress<'p> {
    /// Of each share, the caller's last.
    done: Vec<f64>,
    heard: Receiver<(usize, f64)>,
    stop: &'p AtomicBool,
    on_progress: &'p mut dyn FnMut(f64) -> bool,
}

impl Progress<'_> {
    /// Tells how much is done; returns whether to go on.
    fn goes_on(&mut self, own: f64) -> bool {
        for (share, done) in self.heard.try_iter() {
            self.done[share] = done;
        }
        if let Some(last) = self.done.last_mut() {
            *last = own;
        }
        self.tell()
    }

    /// Listens to the others until they have ended too.
    fn finish(&mut self, goes_on: bool) {
        self.stop.fetch_or(!goes_on, Ordering::Relaxed);
        if let Some(last) = self.done.last_mut() {
            *last = 1.0;
        }
        while let Ok((share, done)) = self.heard.recv() {
            self.done[share] = done;
            self.tell();
        }
    }

    fn tell(&mut self) -> bool {
        let slowest = self.done.iter().copied().fold(1.0, f64::min);
        let goes_on = (self.on_progress)(slowest);
        self.stop.fetch_or(!goes_on, Ordering::Relaxed);
        !self.stop.load(Ordering::Relaxed)
    }
}
