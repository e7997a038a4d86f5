//! A result of before, which `airbraid run DIR` makes again from its origin.

use crate::made::Made;
use crate::output::{ROWS, SUMMARY};
use crate::report::Results;
use crate::store::hex;
use airbraid_sim::scenario::{Errors, Scenario};
use sha2::{Digest, Sha256};
use std::path::Path;

/// A result that is to be made again.
#[derive(Clone, Debug)]
pub struct Earlier {
    pub made: Made,
    /// The scenario's file, as it was given.
    pub scenario: String,
    /// Its cells, as `--json` has them, without what measures the machine.
    pub cells: serde_json::Value,
}

impl Earlier {
    /// Reads the result in `dir`; nothing if there is none.
    ///
    /// # Errors
    /// A result is there that cannot be made again: by which command, or why.
    pub fn read(dir: &Path) -> Result<Option<Self>, String> {
        let text = match std::fs::read_to_string(dir.join(SUMMARY)) {
            Ok(text) => text,
            Err(_) if dir.join(ROWS).is_file() => {
                return Err(format!("this is the reproduction of a paper; {ROWS} says the command that repeats it"));
            }
            Err(_) => return Ok(None),
        };
        let damaged = |why: &dyn std::fmt::Display| format!("{SUMMARY} cannot be read: {why}");
        let mut all: serde_json::Value = serde_json::from_str(&text).map_err(|e| damaged(&e))?;
        let Some(made) = all.get_mut("made").map(serde_json::Value::take) else {
            return Err(format!("{SUMMARY} does not say how it was made: name the scenario itself"));
        };
        let made: Made = serde_json::from_value(made).map_err(|e| damaged(&e))?;
        if made.sha256 != hex(&Sha256::digest(made.text.as_bytes())) {
            return Err(format!("the scenario in {SUMMARY} is not the one that the result is from: its hash differs"));
        }
        let scenario = all["scenario"].as_str().unwrap_or("scenario").to_owned();
        Ok(Some(Self { made, scenario, cells: without_times(all["cells"].take()) }))
    }

    /// The scenario with its settings.
    ///
    /// # Errors
    /// Another version does not understand it.
    pub fn again(&self) -> Result<Scenario, Errors> {
        let mut scenario = Scenario::parse(&self.scenario, &self.made.text)?;
        for said in &self.made.settings {
            scenario.set("--set", said)?;
        }
        Ok(scenario)
    }

    /// One line that says whether `results` are this result again.
    pub fn compare(&self, results: &Results) -> String {
        let now = results.made.clone().unwrap_or_default();
        if now.by != self.made.by {
            return format!("the earlier result is that of `{}`, in real time", self.made.by);
        }
        if now.left + self.made.left > 0 {
            return "one of both results was stopped and has not all runs".to_owned();
        }
        if now.settings != self.made.settings {
            return "with other settings than the earlier result".to_owned();
        }
        let cells = serde_json::to_value(&results.cells).map(without_times).unwrap_or_default();
        if cells == self.cells {
            return "the same as the earlier result, number for number".to_owned();
        }
        if now.cells != self.made.cells {
            return "not the same as the earlier result: its scenario means something else now, \
                    by other defaults or another trace file"
                .to_owned();
        }
        format!(
            "not the same as the earlier result, which commit {} made of sources {}; this is {} of {}",
            self.made.commit, self.made.sources, now.commit, now.sources
        )
    }
}

/// Cells without the times that runs took.
fn without_times(mut cells: serde_json::Value) -> serde_json::Value {
    let runs = cells.as_array_mut().into_iter().flatten().filter_map(|cell| cell.get_mut("runs")?.as_array_mut());
    for run in runs.flatten().filter_map(serde_json::Value::as_object_mut) {
        run.remove("wall_s");
        run.remove("cpu_s");
    }
    cells
}
