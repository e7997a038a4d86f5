//! Standard output, standard error, and the ends of a command.

use airbraid_sim::scenario::{Errors, Report};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

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
    #[cfg(feature = "simulator")]
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
            #[cfg(feature = "simulator")]
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

/// Bytes of JSON that are written at a time.
#[cfg(feature = "simulator")]
const PIECE: usize = 1 << 16;

/// One JSON object on standard output.
#[cfg(feature = "simulator")]
pub fn json(value: &impl serde::Serialize) -> Result<(), Ended> {
    // Written as it is made: that of a large run has tens of megabytes.
    let mut stdout = std::io::BufWriter::with_capacity(PIECE, std::io::stdout().lock());
    let written = serde_json::to_writer(&mut stdout, value).map_err(std::io::Error::from);
    match written.and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Ended::Failed(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}
