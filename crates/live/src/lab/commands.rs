//! Programs in the namespaces of a lab: started in the order that they need each other, listened to, ended.
//!
//! A command that names another node waits until the commands of that node listen; those that others wait for are
//! servers, and are stopped when nobody is left who could ask them.

use super::result::CommandResult;
use crate::error::LabError;
use crate::namespace;
use airbraid_units::{Duration, Instant};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread::Scope;

/// Longest output that is kept \[byte\].
const OUTPUT_MAX: usize = 1_000_000;
/// Longest time for which a command's dependants wait for it to listen on some port, and on the port that it names.
const SETTLES_IN: Duration = Duration::from_secs(3);
const READY_IN: Duration = Duration::from_secs(10);
/// Time for which servers may go on when no command needs them, and after they were asked to end.
const LINGERS: Duration = Duration::from_millis(1_000);
const ENDS_IN: Duration = Duration::from_millis(1_000);

/// Hears a line of a command: the node's name, the line.
pub type Echo<'a> = &'a (dyn Fn(&str, &str) + Sync);

/// A command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabCommand {
    /// Index of the node.
    pub node: usize,
    /// The command for its shell.
    pub command: String,
    /// Earliest start.
    pub start: Duration,
    /// The port that it listens on when it is ready.
    pub ready: Option<u16>,
}

/// An event of a command or of the lab.
#[derive(Debug)]
pub(super) enum CommandEvent {
    /// It runs, as this process.
    Started(usize, i32),
    /// It ended, after writing this.
    Ended(usize, ExitStatus, [String; 2]),
    /// It could not be started.
    Failed(usize, String),
    /// The lab is to end.
    ToEnd,
    /// The driver has ended.
    DriverEnded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Starting(Instant),
    Running { pid: i32, since: Instant },
    Ended,
}

/// All commands of a lab.
pub(super) struct Commands<'a> {
    wanted: &'a [LabCommand],
    states: Vec<State>,
    /// For each command, the indices of those that it waits for.
    needs: Vec<Vec<usize>>,
    pub results: Vec<CommandResult>,
    stopping: Option<Instant>,
    killed: bool,
    idle_since: Option<Instant>,
}

impl<'a> Commands<'a> {
    /// Commands on nodes of these names.
    pub fn new(wanted: &'a [LabCommand], nodes: &[String]) -> Self {
        let result = |wanted: &LabCommand| CommandResult {
            node: nodes[wanted.node].clone(),
            command: wanted.command.clone(),
            ..CommandResult::default()
        };
        Self {
            wanted,
            states: vec![State::Waiting; wanted.len()],
            needs: needs(wanted, nodes),
            results: wanted.iter().map(result).collect(),
            stopping: None,
            killed: false,
            idle_since: None,
        }
    }

    /// Returns the commands that may start now.
    pub fn due(&mut self, now: Instant) -> Vec<usize> {
        if self.stopping.is_some() {
            return Vec::new();
        }
        let is_due = |&index: &usize| {
            self.states[index] == State::Waiting
                && now >= Instant::ZERO + self.wanted[index].start
                && self.needs[index].iter().all(|&other| self.is_settled(other, now))
        };
        let due: Vec<usize> = (0..self.wanted.len()).filter(is_due).collect();
        for &index in &due {
            self.states[index] = State::Starting(now);
        }
        due
    }

    /// Whether the dependants of a command may start.
    fn is_settled(&self, index: usize, now: Instant) -> bool {
        match self.states[index] {
            State::Waiting | State::Starting(_) => false,
            State::Ended => true,
            State::Running { pid, since } => {
                let patience = if self.wanted[index].ready.is_some() { READY_IN } else { SETTLES_IN };
                now.saturating_since(since) >= patience || listens(pid, self.wanted[index].ready)
            }
        }
    }

    /// Handles an event.
    pub fn on_news(&mut self, now: Instant, news: CommandEvent) {
        let seconds = now.as_secs_f64();
        match news {
            CommandEvent::Started(index, pid) => {
                self.states[index] = State::Running { pid, since: now };
                self.results[index].start_s = Some(seconds);
                if self.stopping.is_some() {
                    signal(pid, Signal::SIGTERM);
                }
            }
            CommandEvent::Ended(index, status, [stdout, stderr]) => {
                self.states[index] = State::Ended;
                let result = &mut self.results[index];
                result.end_s = Some(seconds);
                result.exit = status.code();
                result.signal = status.signal();
                result.stopped = self.stopping.is_some();
                (result.stdout, result.stderr) = (stdout, stderr);
            }
            CommandEvent::Failed(index, message) => {
                self.states[index] = State::Ended;
                self.results[index].stderr = message;
            }
            CommandEvent::ToEnd | CommandEvent::DriverEnded => {}
        }
    }

    /// Whether every command has ended; servers are asked to end when only they are left.
    pub fn is_over(&mut self, now: Instant) -> bool {
        let has_ended = |index: usize| self.states[index] == State::Ended;
        if (0..self.states.len()).all(has_ended) {
            return true;
        }
        let is_needed = |index: usize| self.needs.iter().any(|needs| needs.contains(&index));
        let clients_left = (0..self.states.len()).any(|index| !has_ended(index) && !is_needed(index));
        if clients_left {
            self.idle_since = None;
        } else {
            let since = *self.idle_since.get_or_insert(now);
            if now.saturating_since(since) >= LINGERS {
                self.stop(now);
            }
        }
        false
    }

    /// Asks every command to end; those that do not are ended.
    pub fn stop(&mut self, now: Instant) {
        let since = match self.stopping {
            None => {
                self.stopping = Some(now);
                self.signal_all(Signal::SIGTERM);
                for state in self.states.iter_mut().filter(|state| **state == State::Waiting) {
                    *state = State::Ended;
                }
                now
            }
            Some(since) => since,
        };
        if now.saturating_since(since) >= ENDS_IN && !self.killed {
            self.killed = true;
            self.signal_all(Signal::SIGKILL);
        }
    }

    fn signal_all(&self, what: Signal) {
        for state in &self.states {
            if let State::Running { pid, .. } = state {
                signal(*pid, what);
            }
        }
    }
}

/// A command's process leads a group of its own.
fn signal(pid: i32, what: Signal) {
    // It may have ended by itself.
    let _ = killpg(Pid::from_raw(pid), what);
}

/// For each command those on nodes that it names; of two that name each other the later waits for the earlier.
fn needs(wanted: &[LabCommand], nodes: &[String]) -> Vec<Vec<usize>> {
    let names = |text: &str, name: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        text.split(|c| !is_part(c)).any(|word| word == name)
    };
    let names_node = |a: &LabCommand, b: &LabCommand| a.node != b.node && names(&a.command, &nodes[b.node]);
    let mut needs: Vec<Vec<usize>> = Vec::with_capacity(wanted.len());
    for (index, own) in wanted.iter().enumerate() {
        let mut own_needs = Vec::new();
        for (other_index, other) in wanted.iter().enumerate() {
            let mutual = names_node(other, own);
            if names_node(own, other) && (!mutual || other_index < index) {
                own_needs.push(other_index);
            }
        }
        needs.push(own_needs);
    }
    needs
}

/// Whether some socket in the namespace of a process listens, or one on `port`.
fn listens(pid: i32, port: Option<u16>) -> bool {
    let tables = [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")];
    tables.iter().any(|(table, state)| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        text.lines().skip(1).any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let local = fields.next().and_then(|local| local.rsplit(':').next()).unwrap_or_default();
            let is_open = fields.nth(1) == Some(state);
            is_open && port.is_none_or(|port| u16::from_str_radix(local, 16) == Ok(port))
        })
    })
}

/// Reports an error of a command before anything is made: its first word is no program.
pub(super) fn check(wanted: &LabCommand, node: &str) -> Result<(), LabError> {
    let is_setting = |word: &&str| word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
    let Some(word) = wanted.command.split_whitespace().find(|word| !is_setting(word)) else { return Ok(()) };
    if !word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./+".contains(c)) {
        return Ok(());
    }
    let found = Command::new("/bin/sh").args(["-c", "command -v -- \"$1\"", "sh", word]).stdout(Stdio::null()).status();
    match found {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => {
            let what = format!("the command of `{node}` does not exist: {word}");
            Err(LabError::Input(format!("{what}: install it, or give its path")))
        }
        Err(error) => Err(LabError::Failed(format!("/bin/sh: {error}"))),
    }
}

/// Runs a command in a namespace, on threads of its own.
pub(super) fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    index: usize,
    wanted: &'env LabCommand,
    [namespace, node]: [&'env str; 2],
    tell: Sender<CommandEvent>,
    echo: Option<Echo<'env>>,
) {
    scope.spawn(move || {
        let news = match run(index, wanted, namespace, &tell, &|line: &str| {
            if let Some(echo) = echo {
                echo(node, line);
            }
        }) {
            Ok((status, output)) => CommandEvent::Ended(index, status, output),
            Err(error) => CommandEvent::Failed(index, error.to_string()),
        };
        // Nobody listens any more: the lab is over.
        let _ = tell.send(news);
    });
}

fn run(
    index: usize,
    wanted: &LabCommand,
    namespace: &str,
    tell: &Sender<CommandEvent>,
    echo: &(dyn Fn(&str) + Sync),
) -> Result<(ExitStatus, [String; 2]), LabError> {
    namespace::enter_with_files(namespace)?;
    let failed = LabError::io("/bin/sh");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &wanted.command]).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let _ = tell.send(CommandEvent::Started(index, child.id().cast_signed()));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let output = std::thread::scope(|scope| {
        let out = scope.spawn(|| stdout.map(|pipe| read(pipe, echo)).unwrap_or_default());
        let err = stderr.map(|pipe| read(pipe, echo)).unwrap_or_default();
        [out.join().unwrap_or_default(), err]
    });
    Ok((child.wait().map_err(LabError::io("/bin/sh"))?, output))
}

/// Reads an output to its end, and keeps its beginning.
fn read(pipe: impl Read, echo: &(dyn Fn(&str) + Sync)) -> String {
    let mut kept = String::new();
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    while reader.by_ref().take(OUTPUT_MAX as u64).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        let text = String::from_utf8_lossy(&line);
        echo(text.trim_end_matches('\n'));
        if kept.len() + text.len() <= OUTPUT_MAX {
            kept.push_str(&text);
        }
        line.clear();
    }
    kept
}

/// Runs a shell for a person in the namespace of `node`, and waits for its end. It says first where the person is, and
/// the addresses of all: `hosts` is their hosts file.
pub(super) fn shell(namespace: &str, node: &str, hosts: &str) -> Result<(), LabError> {
    let shell = std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    let others = hosts.lines().filter(|line| !line.starts_with("127.") && !line.starts_with(':') && !line.is_empty());
    let others: Vec<String> = others.map(|line| format!("  {}", line.trim())).collect();
    let greeting = format!("this shell is on host {node}; the lab ends with it. Hosts:\n{}\n", others.join("\n"));
    // Nobody may be there to read it.
    let _ = std::io::stderr().write_all(greeting.as_bytes());
    std::thread::scope(|scope| {
        let run = || {
            namespace::enter_with_files(namespace)?;
            // A shell whose start-up file sets a prompt has that one.
            Command::new(&shell)
                .env("PS1", format!("{node}# "))
                .env("AIRBRAID_NODE", node)
                .status()
                .map_err(LabError::io(&shell))
                .map(|_| ())
        };
        scope
            .spawn(run)
            .join()
            .unwrap_or_else(|_| Err(LabError::Failed(format!("{shell}: it could not be waited for"))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_wait_for_servers_in_whatever_order_they_stand() {
        let nodes = ["sender", "receiver", "third"].map(str::to_owned);
        let wanted =
            |node, command: &str| LabCommand { node, command: command.to_owned(), start: Duration::ZERO, ready: None };
        let all = [wanted(0, "iperf3 -c receiver -t 20"), wanted(1, "iperf3 -s -1"), wanted(2, "ping receiver-x")];
        assert_eq!(needs(&all, &nodes), [vec![1], vec![], vec![]]);
        let mutual = [wanted(0, "ping receiver"), wanted(1, "ping http://sender:80/")];
        assert_eq!(needs(&mutual, &nodes), [vec![], vec![0]]);
    }
}
