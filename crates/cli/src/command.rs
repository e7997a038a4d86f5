//! The command line: the commands of this build.

use airbraid_campaign::store::RELEASE;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Many unreliable radio channels as one good link: simulate it, and see why.
#[derive(Debug, Parser)]
#[command(name = "airbraid", version = RELEASE, propagate_version = true, arg_required_else_help = true)]
pub struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a commented file to begin with: a scenario that runs, or a daemon's two ends
    #[command(after_help = crate::new::arguments::EXAMPLES)]
    New(crate::new::arguments::New),
    #[cfg(feature = "simulator")]
    #[command(flatten)]
    Simulator(crate::arguments::Command),
    #[cfg(feature = "live")]
    #[command(flatten)]
    Live(crate::live::arguments::Command),
    /// Print a script that completes this command's words in a shell
    #[command(after_help = crate::completions::EXAMPLES)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands into a folder, for `man`
    #[command(after_help = crate::manual::EXAMPLES)]
    Man {
        /// The folder, which is made if it is not there
        folder: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Examples that a terminal of 80 columns breaks cannot be copied.
    #[test]
    fn help_after_the_options_fits_80_columns() {
        let mut open = vec![Arguments::command()];
        let mut looked_at = 0;
        while let Some(command) = open.pop() {
            open.extend(command.get_subcommands().cloned());
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            looked_at += usize::from(!help.is_empty());
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
        }
        assert!(looked_at >= 7, "{looked_at}");
    }
}
