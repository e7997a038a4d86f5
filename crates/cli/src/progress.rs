//! A bar on standard error, when that is a terminal and the work takes longer than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Parts of a run that the bar distinguishes.
const PARTS: f64 = 1_000.0;

/// The progress of a campaign.
pub struct Progress {
    bar: ProgressBar,
    done: Vec<AtomicU64>,
    shown: AtomicBool,
}

impl Progress {
    /// A bar for `runs` runs, invisible for the first second.
    pub fn new(runs: usize) -> Self {
        let length = runs as u64 * PARTS as u64;
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        let template = "{bar:40} {percent:>3} %  {msg}  {elapsed} done, {eta} to go";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") });
        Self { bar, done: (0..runs).map(|_| AtomicU64::new(0)).collect(), shown: AtomicBool::new(false) }
    }
    /// Run number `run` has done this share of its work.
    pub fn report(&self, run: usize, share: f64) {
        let Some(done) = self.done.get(run) else { return };
        let now = (share.clamp(0.0, 1.0) * PARTS) as u64;
        let before = done.fetch_max(now, Ordering::Relaxed);
        self.bar.inc(now.saturating_sub(before));
        if self.bar.elapsed().as_secs() >= 1 && !self.shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
