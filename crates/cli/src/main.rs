//! The `airbraid` command: arguments and printing. It computes nothing itself.
//!
//! Exit 0: fine; 1: a run failed or an expectation does not hold; 2: the input is wrong; 130: interrupted.

#[cfg(feature = "simulator")]
mod arguments;
#[cfg(feature = "simulator")]
mod check;
mod columns;
mod command;
mod completions;
#[cfg(feature = "simulator")]
mod explain;
#[cfg(feature = "simulator")]
mod input;
mod interrupt;
#[cfg(feature = "live")]
mod live;
mod manual;
mod new;
#[cfg(feature = "simulator")]
mod paint;
#[cfg(feature = "simulator")]
mod plan;
mod print;
#[cfg(feature = "simulator")]
mod progress;
#[cfg(feature = "simulator")]
mod report;
#[cfg(feature = "simulator")]
mod reproduce;
#[cfg(feature = "simulator")]
mod run;
#[cfg(feature = "simulator")]
mod table;
#[cfg(feature = "simulator")]
mod trace;
#[cfg(feature = "simulator")]
mod why;
#[cfg(feature = "simulator")]
mod wireshark;

use clap::{CommandFactory, Parser};
use command::{Arguments, Command};
use std::process::ExitCode;

fn main() -> ExitCode {
    completions::answer(Arguments::command);
    let done = match Arguments::parse().command {
        Command::New(arguments) => new::new(&arguments),
        #[cfg(feature = "simulator")]
        Command::Simulator(command) => simulate(&command),
        #[cfg(feature = "live")]
        Command::Live(command) => live::run(&command),
        Command::Completions { shell } => completions::print(shell),
        Command::Man { folder } => manual::write(&folder),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(ended) => ended.report(),
    }
}

/// Carries out a command of the simulator.
#[cfg(feature = "simulator")]
fn simulate(command: &arguments::Command) -> Result<(), print::Ended> {
    use arguments::Command;
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Report(arguments) => report::report(arguments),
        Command::Check(arguments) => check::check(arguments),
        Command::Explain(arguments) => explain::explain(arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(arguments),
        Command::Plan(arguments) => plan::plan(arguments),
        Command::Trace(arguments) => trace::trace(arguments),
        Command::Wireshark(arguments) => wireshark::wireshark(arguments),
    }
}
