//! Questions to the daemon: by a line on its socket in `/run/airbraid`, and for its metrics by HTTP.
//!
//! One question a connection, answered and closed. Nothing here blocks; who is slow, or says too much, is hung up on.

use super::journal;
use crate::error::LabError;
use airbraid_units::{Duration, Instant};
use nix::poll::{PollFd, PollFlags};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};

/// Questions that are open at once.
const OPEN_MAX: usize = 32;
/// A question is not longer \[byte\].
const QUESTION_MAX: usize = 4_096;
/// A connection is not open for longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long [`ask`] waits for an answer.
const ANSWER: std::time::Duration = std::time::Duration::from_secs(15);

/// What can be asked of a daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// What it does now.
    Status,
    /// Switch an uplink on or off.
    Link(String, bool),
    /// Read the file again.
    Reload,
    /// End.
    Down,
    /// The metrics.
    Metrics,
}

impl Question {
    /// As a line.
    pub fn line(&self) -> String {
        match self {
            Self::Status => "status".to_owned(),
            Self::Link(name, is_on) => format!("link {} {name}", if *is_on { "on" } else { "off" }),
            Self::Reload => "reload".to_owned(),
            Self::Down => "down".to_owned(),
            Self::Metrics => "metrics".to_owned(),
        }
    }

    /// From a line.
    pub fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, rest.split_once(' ')) {
            ("status", None) if rest.is_empty() => Some(Self::Status),
            ("reload", None) if rest.is_empty() => Some(Self::Reload),
            ("down", None) if rest.is_empty() => Some(Self::Down),
            ("metrics", None) if rest.is_empty() => Some(Self::Metrics),
            ("link", Some(("on", name))) => Some(Self::Link(name.to_owned(), true)),
            ("link", Some(("off", name))) => Some(Self::Link(name.to_owned(), false)),
            _ => None,
        }
    }
}

/// Asks the daemon called `name`; gives its answer.
///
/// # Errors
/// There is none, it does not answer, or says no.
pub fn ask(name: &str, question: &Question) -> Result<String, LabError> {
    let path = journal::socket(name);
    let missing = |error: io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => LabError::Input(format!("{name} is not up")),
        _ => LabError::Failed(format!("{}: {error}", path.display())),
    };
    let mut stream = UnixStream::connect(&path).map_err(missing)?;
    let failed = || LabError::io(path.display());
    stream.set_read_timeout(Some(ANSWER)).map_err(failed())?;
    stream.write_all(format!("{}\n", question.line()).as_bytes()).map_err(failed())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(failed())?;
    match answer.split_once('\n') {
        Some(("ok", answer)) => Ok(answer.to_owned()),
        Some(("no", why)) => Err(LabError::Input(why.trim_end().to_owned())),
        _ => Err(LabError::Failed(format!("{name} did not answer"))),
    }
}

#[derive(Debug)]
enum Stream {
    Control(UnixStream),
    Http(TcpStream),
}

impl Stream {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Control(stream) => stream.read(room),
            Self::Http(stream) => stream.read(room),
        }
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Control(stream) => stream.write(bytes),
            Self::Http(stream) => stream.write(bytes),
        }
    }
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Control(stream) => stream.as_fd(),
            Self::Http(stream) => stream.as_fd(),
        }
    }
}

#[derive(Debug)]
struct Connection {
    stream: Stream,
    since: Instant,
    asked: Vec<u8>,
    /// What is left of the answer, once there is one.
    answer: Option<Vec<u8>>,
    is_over: bool,
}

/// Where questions come in.
#[derive(Debug)]
pub struct Server {
    control: UnixListener,
    metrics: Option<TcpListener>,
    connections: Vec<Connection>,
}

impl Server {
    /// Listens for the daemon called `name`, and for those who want its metrics.
    ///
    /// # Errors
    /// The system refuses.
    pub fn open(name: &str, metrics: Option<SocketAddr>) -> Result<Self, LabError> {
        let path = journal::socket(name);
        let failed = || LabError::io(path.display());
        let control = UnixListener::bind(&path).map_err(failed())?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(failed())?;
        control.set_nonblocking(true).map_err(failed())?;
        Ok(Self { control, metrics: metrics.map(listen).transpose()?, connections: Vec::new() })
    }

    /// What to poll.
    pub fn polled(&self) -> Vec<PollFd<'_>> {
        let mut polled = vec![PollFd::new(self.control.as_fd(), PollFlags::POLLIN)];
        polled.extend(self.metrics.iter().map(|metrics| PollFd::new(metrics.as_fd(), PollFlags::POLLIN)));
        polled.extend(self.connections.iter().map(|connection| {
            let flags = if connection.answer.is_some() { PollFlags::POLLOUT } else { PollFlags::POLLIN };
            PollFd::new(connection.stream.fd(), flags)
        }));
        polled
    }

    /// Takes what has come and sends what can be sent; gives the questions that are complete, by connection.
    pub fn serve(&mut self, now: Instant) -> Vec<(usize, Question)> {
        self.connections.retain(|one| !one.is_over && now.saturating_since(one.since) < PATIENCE);
        while let Some(stream) = self.accept() {
            let answer = None;
            self.connections.push(Connection { stream, since: now, asked: Vec::new(), answer, is_over: false });
        }
        let mut questions = Vec::new();
        for (index, connection) in self.connections.iter_mut().enumerate() {
            connection.send();
            if connection.answer.is_none() && !connection.is_over {
                questions.extend(connection.listen().map(|question| (index, question)));
            }
        }
        questions
    }

    fn accept(&self) -> Option<Stream> {
        if self.connections.len() >= OPEN_MAX {
            return None;
        }
        if let Ok((stream, _)) = self.control.accept() {
            return stream.set_nonblocking(true).is_ok().then_some(Stream::Control(stream));
        }
        let (stream, _) = self.metrics.as_ref()?.accept().ok()?;
        stream.set_nonblocking(true).is_ok().then_some(Stream::Http(stream))
    }

    /// Answers a question of this turn.
    pub fn answer(&mut self, connection: usize, answer: Result<String, String>) {
        let Some(connection) = self.connections.get_mut(connection) else { return };
        let text = match (&connection.stream, answer) {
            (Stream::Control(_), Ok(answer)) => format!("ok\n{answer}"),
            (Stream::Control(_), Err(why)) => format!("no\n{why}\n"),
            (Stream::Http(_), Ok(page)) => http("200 OK", "text/plain; version=0.0.4", &page),
            (Stream::Http(_), Err(why)) => http("404 Not Found", "text/plain", &why),
        };
        connection.answer = Some(text.into_bytes());
        connection.send();
    }

    /// Whether an answer is not sent yet.
    pub fn is_busy(&self) -> bool {
        self.connections.iter().any(|connection| connection.answer.is_some() && !connection.is_over)
    }
}

fn listen(at: SocketAddr) -> Result<TcpListener, LabError> {
    let failed = || LabError::io(format!("metrics at {at}"));
    let listener = TcpListener::bind(at).map_err(failed())?;
    listener.set_nonblocking(true).map_err(failed())?;
    Ok(listener)
}

fn http(status: &str, kind: &str, page: &str) -> String {
    let length = page.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{page}")
}

impl Connection {
    fn send(&mut self) {
        let Some(answer) = &mut self.answer else { return };
        while !answer.is_empty() {
            match self.stream.write(answer) {
                Ok(0) => break,
                Ok(sent) => drop(answer.drain(..sent)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.is_over = true;
    }

    fn listen(&mut self) -> Option<Question> {
        let mut room = [0; 1_024];
        loop {
            match self.stream.read(&mut room) {
                Ok(0) => {
                    self.is_over = true;
                    return None;
                }
                Ok(length) => self.asked.extend(&room[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.is_over = true,
            }
            if self.asked.len() > QUESTION_MAX || self.is_over {
                self.is_over = true;
                return None;
            }
        }
        let text = String::from_utf8_lossy(&self.asked);
        let is_http = matches!(self.stream, Stream::Http(_));
        let is_whole = if is_http { text.contains("\r\n\r\n") } else { text.contains('\n') };
        let line = text.lines().next().filter(|_| is_whole)?;
        let question = match line.split(' ').collect::<Vec<_>>()[..] {
            ["GET", "/metrics", _] if is_http => Some(Question::Metrics),
            _ if is_http => None,
            _ => Question::parse(line),
        };
        if question.is_none() {
            let why = if is_http {
                http("404 Not Found", "text/plain", "/metrics is all there is\n")
            } else {
                "no\nthis is no question\n".to_owned()
            };
            self.answer = Some(why.into_bytes());
            self.send();
        }
        question
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_read_back() {
        let link = |is_on| Question::Link("my dsl".to_owned(), is_on);
        for question in [Question::Status, Question::Reload, Question::Down, Question::Metrics, link(true), link(false)]
        {
            assert_eq!(Question::parse(&question.line()), Some(question));
        }
        for wrong in ["", "statu", "status x", "link on", "link maybe dsl"] {
            assert_eq!(Question::parse(wrong), None, "{wrong}");
        }
    }
}
