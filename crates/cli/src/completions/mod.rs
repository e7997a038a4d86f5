//! Completion of words in a shell: the scripts, and the words that only this command knows: keys of the scenario on the
//! line, papers, daemons, uplinks.
//!
//! A shell asks by running the command with [`VARIABLE`] set; nothing else is done then.

#[cfg(feature = "live")]
pub mod daemons;
#[cfg(feature = "simulator")]
pub mod scenarios;

use crate::print::{Ended, out};
use clap_complete::engine::PathCompleter;
use clap_complete::env::{CompleteEnv, Shells};
use std::path::Path;

pub const EXAMPLES: &str = "\
The script asks this command for the words: keys of the scenario on the line
for --set, papers, daemons that run, their uplinks.

Examples:
  source <(airbraid completions bash)
      in ~/.bashrc; for all users:

  airbraid completions bash > /etc/bash_completion.d/airbraid

  airbraid completions zsh > ~/.zfunc/_airbraid
      in a folder of fpath

  airbraid completions fish > ~/.config/fish/completions/airbraid.fish";

/// Variable of the environment by which a script asks for words.
const VARIABLE: &str = "AIRBRAID_COMPLETE";

/// Scripts of ours: those of the library write a blank behind `radio.` and `radio.rate=`.
const BASH: &str = include_str!("airbraid.bash");
const ZSH: &str = include_str!("airbraid.zsh");

/// Answers a shell that asks for words of `command`, and ends the process; otherwise it does nothing.
pub fn answer(command: impl Fn() -> clap::Command) {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// Prints the script of a shell.
pub fn print(shell: clap_complete::Shell) -> Result<(), Ended> {
    match shell {
        clap_complete::Shell::Bash => out(BASH),
        clap_complete::Shell::Zsh => out(ZSH),
        other => {
            let failed = |why: &dyn std::fmt::Display| Ended::Failed(format!("{other}: {why}"));
            let name = other.to_string();
            let shells = Shells::builtins();
            let Some(completer) = shells.completer(&name) else { return Err(failed(&"there is no script")) };
            let mut script = Vec::new();
            completer
                .write_registration(VARIABLE, "airbraid", "airbraid", "airbraid", &mut script)
                .map_err(|e| failed(&e))?;
            out(&String::from_utf8_lossy(&script))
        }
    }
}

/// TOML files, and the folders on the way to them.
pub fn files() -> PathCompleter {
    PathCompleter::any().filter(|path: &Path| path.is_dir() || path.extension().is_some_and(|end| end == "toml"))
}

/// The words of the line that is completed, behind `--`.
#[cfg(feature = "simulator")]
fn words() -> impl Iterator<Item = std::ffi::OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(1)
}
