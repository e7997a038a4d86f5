//! The `airbraid` command: arguments and printing. It computes nothing itself.
//!
//! Exit 0: fine; 1: a run failed or an expectation does not hold; 2: the input is wrong; 130: interrupted.

mod arguments;
mod check;
mod columns;
mod completions;
mod explain;
mod interrupt;
#[cfg(feature = "live")]
mod live;
mod new;
mod paint;
mod plan;
mod print;
mod progress;
mod report;
mod reproduce;
mod run;
mod table;
mod trace;
mod why;
mod wireshark;

use arguments::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::New(arguments) => new::new(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(&arguments),
        Command::Plan(arguments) => plan::plan(&arguments),
        Command::Trace(arguments) => trace::trace(&arguments),
        Command::Wireshark(arguments) => wireshark::wireshark(&arguments),
        #[cfg(feature = "live")]
        Command::Live(command) => live::run(&command),
        Command::Completions { shell } => completions::print(shell),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(ended) => ended.report(),
    }
}
