//! Commands that need Linux: the lab and the daemon. A build without the feature `live` has none of them.

mod answers;
pub mod arguments;
mod daemon;
mod lab;
mod log;
mod status;

use crate::print::Ended;
use airbraid_live::LabError;
use arguments::Command;

/// Carries out a command of the lab or the daemon.
pub fn run(command: &Command) -> Result<(), Ended> {
    match command {
        Command::Lab(arguments) => lab::lab(arguments),
        Command::Up(arguments) => daemon::up(arguments),
        Command::Down(arguments) => daemon::down(arguments),
        Command::Status(arguments) => status::status(arguments),
        Command::Link(arguments) => daemon::link(arguments),
        Command::Reload(arguments) => daemon::reload(arguments),
        Command::Genkey => daemon::genkey(),
        Command::Pubkey => daemon::pubkey(),
    }
}

/// An error of the lab or the daemon as an end of the command.
fn ended(error: LabError) -> Ended {
    match error {
        LabError::Input(message) => Ended::Argument(message),
        LabError::Failed(message) => Ended::Failed(message),
    }
}
