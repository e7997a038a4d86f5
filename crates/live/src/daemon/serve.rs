//! Questions to the daemon: by a line on its socket in `/run/airbraid`, and for its metrics by HTTP.
//!
//! One question a connection, answered and closed. The socket and the metrics port have places of their own
//! ([`super::desk`]), so that strangers who reach the port take none from the owner of the daemon.

use super::desk::{Asked, Desk};
use super::journal;
use crate::error::LabError;
use airbraid_units::Instant;
use nix::poll::PollFd;
use nix::sys::stat::{Mode, umask};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::{UnixListener, UnixStream};

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

/// Where questions come in.
#[derive(Debug)]
pub struct Server {
    desks: Vec<Desk>,
}

/// Which connection has asked: its desk, and its place there. It holds until [`Server::serve`] is called again.
pub type Asker = (usize, usize);

impl Server {
    /// Listens for the daemon called `name`, and for those who want its metrics.
    ///
    /// # Errors
    /// The system refuses.
    pub fn open(name: &str, metrics: Option<SocketAddr>) -> Result<Self, LabError> {
        let path = journal::socket(name);
        let failed = || LabError::io(path.display());
        let control = private(|| UnixListener::bind(&path)).map_err(failed())?;
        control.set_nonblocking(true).map_err(failed())?;
        let mut desks = vec![Desk::control(control)];
        if let Some(at) = metrics {
            desks.push(Desk::metrics(listen(at)?));
        }
        Ok(Self { desks })
    }

    /// What to poll: what can be served now. A listener whose places are taken is left out.
    pub fn polled(&self, now: Instant) -> Vec<PollFd<'_>> {
        self.desks.iter().flat_map(|desk| desk.polled(now)).collect()
    }

    /// When somebody has been silent for too long, or a listener that rests is listened to again.
    pub fn wake(&self) -> Option<Instant> {
        self.desks.iter().filter_map(Desk::wake).min()
    }

    /// Takes what has come and sends what can be sent; gives the questions that are complete.
    pub fn serve(&mut self, now: Instant) -> Vec<(Asker, Question)> {
        let mut questions = Vec::new();
        for (at, desk) in self.desks.iter_mut().enumerate() {
            questions.extend(desk.serve(now).into_iter().map(|(place, question)| ((at, place), question)));
        }
        questions
    }

    /// Answers a question of this turn.
    pub fn answer(&mut self, now: Instant, (desk, place): Asker, answer: Result<String, String>) {
        if let Some(desk) = self.desks.get_mut(desk) {
            desk.answer(now, place, answer);
        }
    }
}

/// Reads what has come on the control socket.
pub fn control(bytes: &[u8]) -> Asked {
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return Asked::NotYet };
    let line = String::from_utf8_lossy(&bytes[..end]);
    Question::parse(line.trim_end_matches('\r')).map_or(Asked::Nothing, Asked::For)
}

/// Reads what has come on the metrics port: the head of an HTTP request (RFC 9112, section 2.1), of which the first
/// line counts.
pub fn http(bytes: &[u8]) -> Asked {
    if !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
        return Asked::NotYet;
    }
    let line = bytes.split(|&byte| byte == b'\r').next().unwrap_or_default();
    match line.split(|&byte| byte == b' ').collect::<Vec<_>>()[..] {
        [b"GET", b"/metrics", _] => Asked::For(Question::Metrics),
        _ => Asked::Nothing,
    }
}

/// Makes a file that only its owner can use, from its first moment on. Other threads would make theirs so, too: there
/// is none yet.
fn private<T>(make: impl FnOnce() -> T) -> T {
    let before = umask(Mode::from_bits_truncate(0o177));
    let made = make();
    umask(before);
    made
}

fn listen(at: SocketAddr) -> Result<TcpListener, LabError> {
    let failed = || LabError::io(format!("metrics at {at}"));
    let listener = TcpListener::bind(at).map_err(failed())?;
    listener.set_nonblocking(true).map_err(failed())?;
    Ok(listener)
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

    #[test]
    fn a_line_and_a_request_are_read_when_they_are_whole() {
        assert_eq!(control(b"status"), Asked::NotYet);
        assert_eq!(control(b"status\n"), Asked::For(Question::Status));
        assert_eq!(control(b"stat\xff\n"), Asked::Nothing);
        assert_eq!(http(b"GET /metrics HTTP/1.1\r\nHost: a\r\n"), Asked::NotYet);
        assert_eq!(http(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), Asked::For(Question::Metrics));
        for wrong in ["GET / HTTP/1.1\r\n\r\n", "POST /metrics HTTP/1.1\r\n\r\n", "down\n\r\n\r\n", "\r\n\r\n"] {
            assert_eq!(http(wrong.as_bytes()), Asked::Nothing, "{wrong}");
        }
    }
}
