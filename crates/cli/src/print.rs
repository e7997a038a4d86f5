//! Standard output, standard error, and the ends of a command.

use airbraid_campaign::Earlier;
use airbraid_sim::scenario::{Errors, FILE_BYTES_MAX, Report, Scenario};
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::arguments::Over;

/// Exit status of a process that was interrupted: 128 and the number of the signal.
pub const INTERRUPTED: u8 = 130;

/// The reason why a command did not end well.
#[derive(Debug)]
pub enum Ended {
    /// A scenario is wrong.
    Wrong(Errors),
    /// Another argument is wrong.
    Argument(String),
    Failed(String),
    /// A signal asked to stop.
    Interrupted,
    /// The reason was printed already.
    Silent(u8),
}

impl From<Errors> for Ended {
    fn from(errors: Errors) -> Self {
        Self::Wrong(errors)
    }
}

impl Ended {
    /// Prints the reason on standard error and returns the exit status.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Wrong(errors) => {
                wrong(&errors);
                ExitCode::from(2)
            }
            Self::Argument(message) => {
                note(&format!("error: {message}"));
                ExitCode::from(2)
            }
            Self::Failed(message) => {
                note(&format!("error: {message}"));
                ExitCode::from(1)
            }
            Self::Interrupted => {
                note("stopped; nothing was written");
                ExitCode::from(INTERRUPTED)
            }
            Self::Silent(status) => ExitCode::from(status),
        }
    }
}

/// The errors of a scenario: drawn for a terminal, one line each for anything else.
pub fn wrong(errors: &Errors) {
    let terminal = std::io::stderr().is_terminal();
    for error in &errors.0 {
        if terminal {
            note(&format!("{:?}", miette::Report::new(Report::from(error.clone()))));
        } else {
            note(&format!("error: {error}"));
        }
    }
}

/// Prints a line on standard error; a closed pipe is no error.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Prints text on standard output. A closed pipe is no error: its reader has seen enough.
pub fn out(text: &str) -> Result<(), Ended> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Ended::Failed(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

/// One JSON object on standard output.
pub fn json(value: &impl serde::Serialize) -> Result<(), Ended> {
    let text = serde_json::to_string(value).map_err(|e| Ended::Failed(format!("JSON: {e}")))?;
    out(&(text + "\n"))
}

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
