//! Commands that need Linux: the lab and the daemon. A build without the feature `live` has none of them.

mod answers;
pub mod arguments;
mod daemon;
#[cfg(feature = "simulator")]
mod lab;
mod log;
mod pair;
mod status;
mod top;

use crate::print::Ended;
use airbraid_live::LabError;
use arguments::Command;

/// Carries out a command of the lab or the daemon.
pub fn run(command: &Command) -> Result<(), Ended> {
    match command {
        #[cfg(feature = "simulator")]
        Command::Lab(arguments) => lab::lab(arguments),
        Command::Up(arguments) => daemon::up(arguments),
        Command::Down(arguments) => daemon::down(arguments),
        Command::Status(arguments) => status::status(arguments),
        Command::Top(arguments) => top::top(arguments),
        Command::Link(arguments) => daemon::link(arguments),
        Command::Reload(arguments) => daemon::reload(arguments),
        Command::Uci(arguments) => daemon::uci(arguments),
        Command::Pair(arguments) => pair::pair(arguments),
        Command::Unpair(arguments) => pair::unpair(arguments),
        Command::Commands => airbraid_live::daemon::run_commands().map_err(ended),
        Command::Genkey | Command::Genpsk => daemon::genkey(),
        Command::Pubkey => daemon::pubkey(),
    }
}

/// An error of the lab or the daemon as an end of the command.
fn ended(error: LabError) -> Ended {
    match error {
        LabError::Input(message) => Ended::Argument(privileged(&message)),
        LabError::Failed(message) => Ended::Failed(privileged(&message)),
    }
}

/// A message with the remedy for what the system forbids a user.
fn privileged(message: &str) -> String {
    const FORBIDDEN: [&str; 2] = ["Permission denied (os error 13)", "Operation not permitted (os error 1)"];
    let said = FORBIDDEN.iter().find(|words| message.contains(**words)).filter(|_| !nix::unistd::geteuid().is_root());
    said.map_or_else(|| message.to_owned(), |words| message.replace(words, "only root may do that: run it by sudo"))
}
