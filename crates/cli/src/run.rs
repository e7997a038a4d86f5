//! `airbraid run`.

use crate::arguments::Run;
use crate::interrupt;
use crate::print::{self, Ended, json, note, out};
use crate::progress::Progress;
use crate::table;
use airbraid_campaign::execute::run_count;
use airbraid_campaign::{Failure, Made, Recorded, Results, Settings, execute, judge, output, simulate};
use airbraid_sim::RunOutput;
use airbraid_sim::scenario::Plan;

/// Runs a scenario and prints the result.
pub fn run(arguments: &Run) -> Result<(), Ended> {
    let input = print::input(&arguments.file, &arguments.over)?;
    let plan = input.scenario.plan()?;
    if let Some(dir) = &arguments.out {
        output::check_target(dir).map_err(|e| Ended::Argument(format!("--out {}: {e}", dir.display())))?;
    }
    let scenario = arguments.out.is_some();
    let before = input.earlier.as_ref().filter(|_| scenario).map(|earlier| &earlier.made);
    let recorded = Recorded {
        pcap: arguments.pcap || before.is_some_and(|made| made.pcap),
        timeline: arguments.timeline || before.is_some_and(|made| made.timeline),
        scenario,
    };
    let outcomes = campaign(&plan, arguments.jobs, recorded).map_err(|failure| match failure {
        Failure::Stopped => Ended::Interrupted,
        other => Ended::Failed(other.to_string()),
    })?;
    let mut results = Results::new(&plan, &outcomes);
    let Recorded { pcap, timeline, .. } = recorded;
    results.made = Some(Made { pcap, timeline, ..Made::of("airbraid run", &input.scenario, &plan) });
    if let Some(earlier) = &input.earlier {
        note(&format!("{}: {}", arguments.file.display(), earlier.compare(&results)));
    }
    if let Some(dir) = &arguments.out {
        let failed = |e| Ended::Failed(format!("--out {}: {e}", dir.display()));
        output::write(dir, &results, &outcomes).map_err(failed)?;
        note(&format!("written: {}", dir.display()));
    }
    if arguments.json {
        return json(&results);
    }
    out(&table::results(&plan, &results, &judge(&plan, &results)))
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
