//! The scenario that a command is given: a file, standard input, or the directory of a result, and the options over it.

use crate::arguments::Over;
use crate::print::Ended;
use airbraid_campaign::Earlier;
use airbraid_sim::scenario::{Errors, FILE_BYTES_MAX, Scenario};
use std::io::Read;
use std::path::Path;

/// The input of a command that runs a scenario.
pub struct Input {
    /// The scenario with the options' overrides.
    pub scenario: Scenario,
    /// The result that it comes from, if it was not named itself.
    pub earlier: Option<Earlier>,
}

/// Reads a scenario, from standard input if it is called `-`, or from the directory of a result.
pub fn input(file: &Path, over: &Over) -> Result<Input, Ended> {
    let wrong = |why: String| Ended::Argument(format!("{}: {why}", file.display()));
    let earlier = if file.is_dir() { Earlier::read(file).map_err(wrong)? } else { None };
    let mut scenario = match &earlier {
        Some(earlier) => earlier.again()?,
        None if file == Path::new("-") => {
            let mut text = String::new();
            let read = std::io::stdin().lock().take(FILE_BYTES_MAX).read_to_string(&mut text);
            read.map_err(|e| Ended::Argument(format!("standard input: {e}")))?;
            Scenario::parse("standard input", &text)?
        }
        None => Scenario::read(file)?,
    };
    override_by(&mut scenario, over)?;
    Ok(Input { scenario, earlier })
}

/// Reads the scenario of a file and applies the options' overrides.
pub fn scenario(file: &Path, over: &Over) -> Result<Scenario, Errors> {
    let mut scenario = Scenario::read(file)?;
    override_by(&mut scenario, over)?;
    Ok(scenario)
}

fn override_by(scenario: &mut Scenario, over: &Over) -> Result<(), Errors> {
    for said in &over.set {
        scenario.set("--set", said)?;
    }
    let options = [("seed", &over.seed), ("replications", &over.replications), ("duration", &over.duration)];
    for (key, value) in options {
        if let Some(value) = value {
            scenario.set(&format!("--{key}"), &format!("run.{key}={value}"))?;
        }
    }
    Ok(())
}
