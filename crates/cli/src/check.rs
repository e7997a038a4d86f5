//! `airbraid check`.

use crate::arguments::{Check, Over};
use crate::input::scenario;
use crate::interrupt;
use crate::paint;
use crate::print::{Ended, json, note, out, wrong};
use crate::run::campaign;
use crate::table;
use airbraid_campaign::{Results, Verdict, judge, report};
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
    let mut sum = Sum::default();
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
        sum.add(&checked);
        if arguments.json {
            printed.push(as_json(&file, &checked));
        } else {
            show(&file, &checked)?;
        }
    }
    if arguments.json {
        json(&serde_json::json!({ "files": printed }))?;
    } else {
        out(&sum.show())?;
    }
    if status == 0 { Ok(()) } else { Err(Ended::Silent(status)) }
}

/// The sum over all files.
#[derive(Default)]
struct Sum {
    files: usize,
    hold: usize,
    broken: usize,
    failed: usize,
    wrong: usize,
}

impl Sum {
    fn add(&mut self, checked: &Checked) {
        self.files += 1;
        match checked {
            Checked::Judged(verdicts) => {
                let hold = verdicts.iter().filter(|v| v.holds).count();
                self.hold += hold;
                self.broken += verdicts.len() - hold;
            }
            Checked::Failed(_) => self.failed += 1,
            Checked::Wrong(_) => self.wrong += 1,
        }
    }

    /// `6 files: 23 hold, 1 BROKEN`.
    fn show(&self) -> String {
        let files = if self.files == 1 { "1 file".to_owned() } else { format!("{} files", self.files) };
        let mut parts = vec![format!("{} {}", self.hold, if self.hold == 1 { "holds" } else { "hold" })];
        for (n, word) in [(self.broken, "BROKEN"), (self.failed, "failed"), (self.wrong, "wrong")] {
            if n > 0 {
                parts.push(format!("{n} {}", paint::verdict(word)));
            }
        }
        format!("{files}: {}\n", parts.join(", "))
    }
}

fn one(file: &Path, jobs: Option<u16>) -> Checked {
    let plan = match scenario(file, &Over::default()).and_then(|s| s.plan()) {
        Ok(plan) => plan.of_expected_cells(),
        Err(errors) => return Checked::Wrong(errors),
    };
    match campaign(&plan, jobs) {
        Ok(mut outcomes) => Checked::Judged(judge(&plan, &Results::new(&plan, &mut outcomes))),
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
