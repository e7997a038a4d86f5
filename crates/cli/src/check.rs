//! `airbraid check`.

use crate::arguments::{Check, Over};
use crate::interrupt;
use crate::print::{Ended, json, note, out, scenario, wrong};
use crate::run::campaign;
use crate::table;
use airbraid_campaign::{Recorded, Results, Verdict, judge, report};
use airbraid_sim::scenario::Errors;
use std::path::Path;
use std::sync::atomic::Ordering;

/// The result of one file.
enum Checked {
    /// It ran.
    Judged(Vec<Verdict>),
    /// A run of it failed.
    Failed(String),
    /// Its text is wrong.
    Wrong(Errors),
}

/// Runs scenarios and prints whether their expectations hold.
pub fn check(arguments: &Check) -> Result<(), Ended> {
    let files = report::scenario_files(&arguments.paths).map_err(Ended::Argument)?;
    let mut status = 0;
    let mut printed = Vec::new();
    for file in files {
        let checked = one(&file, arguments.jobs);
        if interrupt::flag().load(Ordering::Relaxed) {
            return Err(Ended::Interrupted);
        }
        status = status.max(match &checked {
            Checked::Judged(verdicts) if verdicts.iter().all(|v| v.holds) => 0,
            Checked::Judged(_) | Checked::Failed(_) => 1,
            Checked::Wrong(_) => 2,
        });
        if arguments.json {
            printed.push(as_json(&file, &checked));
        } else {
            show(&file, &checked)?;
        }
    }
    if arguments.json {
        json(&serde_json::json!({ "files": printed }))?;
    }
    if status == 0 { Ok(()) } else { Err(Ended::Silent(status)) }
}

fn one(file: &Path, jobs: Option<u16>) -> Checked {
    let plan = match scenario(file, &Over::default()).and_then(|s| s.plan()) {
        Ok(plan) => plan,
        Err(errors) => return Checked::Wrong(errors),
    };
    match campaign(&plan, jobs, Recorded::default()) {
        Ok(outcomes) => Checked::Judged(judge(&plan, &Results::new(&plan, &outcomes))),
        Err(failure) => Checked::Failed(failure.to_string()),
    }
}

fn show(file: &Path, checked: &Checked) -> Result<(), Ended> {
    match checked {
        Checked::Judged(verdicts) => out(&table::verdicts(&file.display().to_string(), verdicts)),
        Checked::Failed(message) => {
            note(&format!("error: {message}"));
            out(&format!("{}: failed\n", file.display()))
        }
        Checked::Wrong(errors) => {
            wrong(errors);
            out(&format!("{}: wrong\n", file.display()))
        }
    }
}

fn as_json(file: &Path, checked: &Checked) -> serde_json::Value {
    let scenario = file.display().to_string();
    match checked {
        Checked::Judged(verdicts) => {
            serde_json::json!({ "scenario": scenario, "holds": verdicts.iter().all(|v| v.holds), "verdicts": verdicts })
        }
        Checked::Failed(message) => serde_json::json!({ "scenario": scenario, "holds": false, "error": message }),
        Checked::Wrong(errors) => {
            wrong(errors);
            serde_json::json!({ "scenario": scenario, "holds": false, "error": errors.to_string() })
        }
    }
}
