//! Commands of the file, `post_up` and `pre_down`: run by a process of their own, which begins before the daemon gives
//! up its privileges, and has nothing to do with the network ([decision
//! 15](../../../../docs/decisions/0015-privileges.md)).
//!
//! It is told all commands at once, before a datagram has come; after that it hears two words, and runs what it was
//! told. So whoever takes the daemon over can have nothing run that is not in the file. When the daemon is gone, by
//! whatever end, `pre_down` is run.

use super::site::Site;
use crate::clock::Clock;
use crate::error::LabError;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Longest time for one command: `down` and systemd wait longer (20 s, 90 s), so that one can be told of.
const PATIENCE: Duration = Duration::from_secs(15);
/// Interval of looks at a command.
const PAUSE: Duration = Duration::from_millis(10);

/// The commands of a file, with what they are told of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Orders {
    name: String,
    interface: String,
    post_up: Vec<String>,
    pre_down: Vec<String>,
}

/// The process that runs the commands.
#[derive(Debug)]
pub struct Commands {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Commands {
    /// Begins it, if the file has commands.
    ///
    /// # Errors
    /// The system refuses.
    pub fn begin(site: &Site) -> Result<Option<Self>, LabError> {
        let interface = &site.interface;
        if interface.post_up.is_empty() && interface.pre_down.is_empty() {
            return Ok(None);
        }
        let failed = || LabError::io("the process for post_up and pre_down");
        let orders = Orders {
            name: site.name.clone(),
            interface: interface.name.clone(),
            post_up: interface.post_up.clone(),
            pre_down: interface.pre_down.clone(),
        };
        let mut command = Command::new(std::env::current_exe().map_err(failed())?);
        // Of a group of its own: Ctrl-C is for the daemon.
        command.arg("commands").stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(failed())?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(LabError::Failed("the process for post_up and pre_down has no pipes".to_owned()));
        };
        let text = serde_json::to_string(&orders).map_err(|error| LabError::Failed(error.to_string()))?;
        writeln!(stdin, "{text}").map_err(failed())?;
        Ok(Some(Self { child, orders: Some(stdin), answers: BufReader::new(stdout) }))
    }

    /// Runs `post_up`: everything is there.
    ///
    /// # Errors
    /// A command fails, or takes too long.
    pub fn post_up(&mut self) -> Result<(), LabError> {
        match self.have("up") {
            Ok(said) if said == "fine" => Ok(()),
            Ok(said) => Err(LabError::Failed(said)),
            Err(error) => Err(LabError::io("the process for post_up")(error)),
        }
    }

    /// Runs `pre_down`, while everything is still there.
    pub fn pre_down(&mut self) {
        match self.have("down") {
            Ok(said) if said == "fine" => {}
            Ok(said) => tracing::warn!("{said}"),
            Err(error) => tracing::warn!(%error, "the process for pre_down"),
        }
    }

    fn have(&mut self, word: &str) -> io::Result<String> {
        let Some(orders) = &mut self.orders else { return Err(io::ErrorKind::BrokenPipe.into()) };
        writeln!(orders, "{word}")?;
        let mut said = String::new();
        self.answers.read_line(&mut said)?;
        Ok(said.trim_end().to_owned())
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // What has not been run is run at this.
        self.orders.take();
        let _ = self.child.wait();
    }
}

/// The life of that process: orders from standard input, answers to standard output.
///
/// # Errors
/// The first line is no orders.
pub fn run() -> Result<(), LabError> {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        // It ends with the daemon, which these are for.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).map_err(LabError::io("signals"))?;
    }
    let mut lines = io::stdin().lock().lines();
    let first = lines.next().and_then(Result::ok).unwrap_or_default();
    let orders: Orders = serde_json::from_str(&first)
        .map_err(|_| LabError::Input("this is for the daemon: it runs the commands of its file".to_owned()))?;
    let mut is_up = false;
    while let Some(Ok(word)) = lines.next() {
        let said = match word.as_str() {
            "up" => {
                is_up = true;
                all(&orders, "post_up", &orders.post_up)
            }
            "down" if is_up => {
                is_up = false;
                all(&orders, "pre_down", &orders.pre_down)
            }
            _ => Ok(()),
        };
        let answer = said.err().unwrap_or_else(|| "fine".to_owned());
        if writeln!(io::stdout(), "{answer}").is_err() {
            break;
        }
    }
    // Killed: the interface has gone already, and what the commands have made may be there still.
    if is_up && let Err(why) = all(&orders, "pre_down", &orders.pre_down) {
        let _ = writeln!(io::stderr(), "{why}");
    }
    Ok(())
}

/// Runs commands, one after the other, up to the first that fails.
fn all(orders: &Orders, what: &str, commands: &[String]) -> Result<(), String> {
    commands.iter().try_for_each(|command| one(orders, command).map_err(|why| format!("{what} `{command}`: {why}")))
}

fn one(orders: &Orders, command: &str) -> Result<(), String> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).env("AIRBRAID_NAME", &orders.name).env("AIRBRAID_INTERFACE", &orders.interface);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    let mut child = shell.spawn().map_err(|error| error.to_string())?;
    let begun = Clock::start();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if begun.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it has not ended after {} s, and was stopped", PATIENCE.as_secs()));
            }
            None => std::thread::sleep(PAUSE),
        }
    };
    if status.success() { Ok(()) } else { Err(format!("{status}; its words are in the log")) }
}
