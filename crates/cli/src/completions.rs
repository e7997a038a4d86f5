//! `airbraid completions`: what a shell knows of the command.

use crate::arguments::Arguments;
use crate::print::{Ended, out};
use clap::CommandFactory;

/// Prints the completion script of a shell.
pub fn print(shell: clap_complete::Shell) -> Result<(), Ended> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "airbraid", &mut text);
    let more = if shell == clap_complete::Shell::Fish { crate::new::fish() } else { String::new() };
    out(&(String::from_utf8_lossy(&text).into_owned() + &more))
}
