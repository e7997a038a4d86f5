//! `airbraid run`.

use crate::arguments::Run;
use crate::input::{self, Input};
use crate::interrupt;
use crate::print::{Ended, INTERRUPTED, json, note, out};
use crate::progress::Progress;
use crate::{table, why};
use airbraid_campaign::execute::run_count;
use airbraid_campaign::plot::{self, Picture};
use airbraid_campaign::scratch::{Place, Scratch};
use airbraid_campaign::{
    Done, Failure, Made, Recorded, Results, Settings, execute_until_stopped, judge, output, simulate,
};
use airbraid_sim::RunOutput;
use airbraid_sim::scenario::Plan;
use std::io::Error;
use std::path::Path;

/// Runs a scenario and prints the result.
pub fn run(arguments: &Run) -> Result<(), Ended> {
    let input = input::input(&arguments.file, &arguments.over)?;
    let mut plan = input.scenario.plan()?;
    if let Some(dir) = &arguments.out {
        output::check_target(dir).map_err(|e| Ended::Argument(format!("--out {}: {e}", dir.display())))?;
    }
    let wanted = Wanted::of(arguments, &input, &plan)?;
    let failed = |dir: &Path, error: Error| Ended::Failed(format!("--out {}: {error}", dir.display()));
    let scratch = arguments.out.as_deref().map(|dir| Scratch::new(dir).map_err(|e| failed(dir, e))).transpose()?;
    if let Some(scratch) = &scratch {
        interrupt::remove_at_exit(scratch.path());
    }
    let place = scratch.as_ref().map(|scratch| Place { scratch, cell: None });
    let recorded = Recorded { place, ..wanted.recorded };
    let mut done = execute(&plan, arguments.jobs, recorded).map_err(|failure| Ended::Failed(failure.to_string()))?;
    let total = run_count(&plan);
    if done.left == total || (done.left > 0 && !arguments.keep) {
        return Err(Ended::Interrupted);
    }
    if done.left > 0 {
        plan.unjudged = Some(format!("{} of {total} runs are missing", done.left));
    }
    let mut results = Results::new(&plan, &mut done.cells);
    results.made = Some(wanted.made(&input, &plan, done.left));
    if let Some(earlier) = &input.earlier {
        note(&format!("{}: {}", arguments.file.display(), earlier.compare(&results)));
    }
    if let (Some(dir), Some(scratch)) = (&arguments.out, scratch) {
        let pictures = plot::files(&plan, &results, &wanted.pictures);
        output::write_into(scratch, &results, &done.cells, &pictures).map_err(|e| failed(dir, e))?;
        note(&format!("written: {}", dir.display()));
    }
    if arguments.json {
        json(&results)?;
    } else {
        out(&table::results(&plan, &results, &judge(&plan, &results), &|cell| why::details(cell, arguments)))?;
    }
    if done.left == 0 {
        return Ok(());
    }
    note(&format!("stopped: {} of {total} runs are kept", total - done.left));
    Err(Ended::Silent(INTERRUPTED))
}

/// The recordings and pictures: those of the options, or else those of an earlier result.
struct Wanted {
    recorded: Recorded<'static>,
    plots: Vec<String>,
    pictures: Vec<Picture>,
}

impl Wanted {
    fn of(arguments: &Run, input: &Input, plan: &Plan) -> Result<Self, Ended> {
        let scenario = arguments.out.is_some();
        let before = input.earlier.as_ref().filter(|_| scenario).map(|earlier| &earlier.made);
        let plots = before.filter(|_| arguments.plot.is_empty()).map_or(&arguments.plot, |made| &made.plots).clone();
        let read = |text: &String| {
            Picture::read(text, plan).map_err(|why| Ended::Argument(format!("--plot \"{text}\": {why}")))
        };
        let pictures: Vec<Picture> = plots.iter().map(read).collect::<Result<_, _>>()?;
        let recorded = Recorded {
            pcap: arguments.pcap || before.is_some_and(|made| made.pcap),
            timeline: arguments.timeline || before.is_some_and(|made| made.timeline),
            perfetto: arguments.perfetto || before.is_some_and(|made| made.perfetto),
            scenario,
            place: None,
            courses: scenario,
            limits: true,
        };
        Ok(Self { recorded, plots, pictures })
    }

    fn made(&self, input: &Input, plan: &Plan, left: usize) -> Made {
        let Recorded { pcap, timeline, perfetto, .. } = self.recorded;
        Made {
            pcap,
            timeline,
            perfetto,
            left,
            plots: self.plots.clone(),
            ..Made::of("airbraid run", &input.scenario, plan)
        }
    }
}

/// Executes a plan under a progress bar until it is done or stopped.
fn execute(plan: &Plan, jobs: Option<u16>, recorded: Recorded<'_>) -> Result<Done, Failure> {
    let progress = Progress::new(run_count(plan));
    let stop = interrupt::flag();
    let settings = Settings { jobs: jobs.map_or(0, usize::from), recorded, stop: &stop };
    let done = execute_until_stopped(plan, &settings, &simulate, &|run, share| progress.report(run, share));
    progress.finish();
    done
}

/// Executes a plan under a progress bar.
pub fn campaign(plan: &Plan, jobs: Option<u16>) -> Result<Vec<Vec<RunOutput>>, Failure> {
    let done = execute(plan, jobs, Recorded::LIMITS)?;
    if done.left > 0 { Err(Failure::Stopped) } else { Ok(done.cells) }
}
