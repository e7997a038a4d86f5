//! Helpers of the tests across crates: from scenario text to results; the command.

pub mod bianchi;
pub mod causes;
pub mod house;

use airbraid_sim::result::RunResult;
use airbraid_sim::scenario::Scenario;
use airbraid_sim::scenario::spec::Spec;
use airbraid_sim::{RunOptions, RunOutput};
use std::path::PathBuf;
use std::process::{Command, Output};

/// The root of the workspace.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}

/// The command: the one that AIRBRAID names, or that of this profile.
///
/// # Panics
/// If it cannot be built.
pub fn binary() -> PathBuf {
    std::env::var_os("AIRBRAID").map_or_else(|| built("airbraid"), PathBuf::from)
}

/// Runs the command in the root of the workspace.
///
/// # Panics
/// If it cannot be built or started.
pub fn airbraid(arguments: &[&str]) -> Output {
    let binary = binary();
    match Command::new(&binary).args(arguments).current_dir(root()).output() {
        Ok(output) => output,
        Err(error) => panic!("{}: {error}", binary.display()),
    }
}

/// A binary of the profile that this test was built in, built now if it is not there.
fn built(name: &str) -> PathBuf {
    let mut folder = std::env::current_exe().unwrap_or_default();
    folder.pop();
    folder.pop();
    let binary = folder.join(name);
    if !binary.exists() {
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(profile) => profile,
        };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "airbraid-cli", "--profile", profile]).current_dir(root());
        assert!(cargo.status().is_ok_and(|status| status.success()), "{name} cannot be built");
    }
    binary
}

/// The first cell of a scenario text.
///
/// # Panics
/// If the text is not a scenario; the message says why.
pub fn spec(text: &str) -> Spec {
    let plan = Scenario::parse("test", text).and_then(|scenario| scenario.plan());
    match plan {
        Ok(plan) => plan.cells[0].spec.clone(),
        Err(errors) => panic!("{errors}\n{text}"),
    }
}

/// The first cell of a scenario file under `scenarios/`, overridden by `key=value`.
///
/// # Panics
/// If it is not a scenario; the message says why.
pub fn spec_of_file(path: &str, set: &[&str]) -> Spec {
    let read = || {
        let mut scenario = Scenario::read(&root().join("scenarios").join(path))?;
        for argument in set {
            scenario.set("--set", argument)?;
        }
        scenario.plan()
    };
    match read() {
        Ok(plan) => plan.cells[0].spec.clone(),
        Err(errors) => panic!("{errors}"),
    }
}

/// Runs a scenario with its own seed and its own recordings.
///
/// # Panics
/// If the run fails.
pub fn run(spec: &Spec) -> RunOutput {
    match airbraid_sim::run(spec, spec.seed, RunOptions::default()) {
        Ok(output) => output,
        Err(error) => panic!("{error}"),
    }
}

/// The goodput of a flow \[Mbit/s\].
///
/// # Panics
/// If there is no such flow.
pub fn goodput(result: &RunResult, flow: &str) -> f64 {
    match result.flows.iter().find(|candidate| candidate.name == flow) {
        Some(flow) => flow.goodput_bps / 1e6,
        None => panic!("no flow {flow}"),
    }
}

/// One line of a table of measured against expected values; returns the deviation as a share.
pub fn row(what: &str, expected: f64, measured: f64, tolerance: f64) -> f64 {
    let deviation = measured / expected - 1.0;
    let verdict = if deviation.abs() <= tolerance { "within" } else { "OFF" };
    println!(
        "| {what} | {expected:.4} | {measured:.4} | {:+.2} % | {:.1} % | {verdict} |",
        deviation * 100.0,
        tolerance * 100.0
    );
    deviation
}
