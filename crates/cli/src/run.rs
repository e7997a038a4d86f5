//! `airbraid run`.

use crate::arguments::Run;
use crate::interrupt;
use crate::print::{self, Ended, json, note, out};
use crate::progress::Progress;
use crate::{table, why};
use airbraid_campaign::execute::run_count;
use airbraid_campaign::{Failure, Recorded, Results, Settings, execute, judge, output, simulate};
use airbraid_sim::RunOutput;
use airbraid_sim::scenario::Plan;

/// Runs a scenario and prints the result.
pub fn run(arguments: &Run) -> Result<(), Ended> {
    let plan = print::scenario(&arguments.file, &arguments.over)?.plan()?;
    if let Some(dir) = &arguments.out {
        output::check_target(dir).map_err(|e| Ended::Argument(format!("--out {}: {e}", dir.display())))?;
    }
    let scenario = arguments.out.is_some();
    let recorded = Recorded { pcap: arguments.pcap, timeline: arguments.timeline, scenario };
    let outcomes = campaign(&plan, arguments.jobs, recorded).map_err(|failure| match failure {
        Failure::Stopped => Ended::Interrupted,
        other => Ended::Failed(other.to_string()),
    })?;
    let results = Results::new(&plan, &outcomes);
    if let Some(dir) = &arguments.out {
        let failed = |e| Ended::Failed(format!("--out {}: {e}", dir.display()));
        output::write(dir, &results, &outcomes).map_err(failed)?;
        note(&format!("written: {}", dir.display()));
    }
    if arguments.json {
        return json(&results);
    }
    out(&table::results(&plan, &results, &judge(&plan, &results), &|cell| why::details(cell, arguments)))
}

/// Executes a plan under a progress bar.
pub fn campaign(plan: &Plan, jobs: Option<u16>, recorded: Recorded) -> Result<Vec<Vec<RunOutput>>, Failure> {
    let progress = Progress::new(run_count(plan));
    let stop = interrupt::flag();
    let settings = Settings { jobs: jobs.map_or(0, usize::from), recorded, stop: &stop };
    let outcomes = execute(plan, &settings, &simulate, &|run, share| progress.report(run, share));
    progress.finish();
    outcomes
}
