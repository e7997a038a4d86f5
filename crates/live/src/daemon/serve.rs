//! Questions to the daemon: a line on its socket in `/run/airbraid`, and HTTP for its metrics and its page.
//!
//! One question a connection, answered and closed. The socket and the metrics port have places of their own
//! ([`super::desk`]), so that strangers who reach the port take none from the owner of the daemon.

use super::desk::Desk;
use super::note_files;
use super::question::Question;
use crate::error::LabError;
use airbraid_units::Instant;
use nix::poll::PollFd;
use nix::sys::stat::{Mode, umask};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::{UnixListener, UnixStream};

/// Longest time that [`ask`] waits for an answer.
const ANSWER: std::time::Duration = std::time::Duration::from_secs(15);

/// Asks the daemon called `name`; returns its answer.
///
/// # Errors
/// There is none, it does not answer, or says no.
pub fn ask(name: &str, question: &Question) -> Result<String, LabError> {
    let path = note_files::socket(name);
    let missing = |error: io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => LabError::Input(format!("{name} is not up")),
        ErrorKind::PermissionDenied => LabError::Failed(format!("only root may ask {name}: run it by sudo")),
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

/// The listeners for questions.
#[derive(Debug)]
pub struct Server {
    desks: Vec<Desk>,
}

/// The connection of a question: its desk, and its place there. It is valid until [`Server::serve`] is called again.
pub type Asker = (usize, usize);

impl Server {
    /// Listens for questions to the daemon called `name`, for its metrics, and for its page.
    ///
    /// # Errors
    /// The system refuses.
    pub fn open(name: &str, metrics: Option<SocketAddr>, page: Option<SocketAddr>) -> Result<Self, LabError> {
        let path = note_files::socket(name);
        let failed = || LabError::io(path.display());
        let control = private(|| UnixListener::bind(&path)).map_err(failed())?;
        control.set_nonblocking(true).map_err(failed())?;
        let mut desks = vec![Desk::control(control)];
        if let Some(at) = metrics {
            desks.push(Desk::metrics(listen("metrics", at)?));
        }
        if let Some(at) = page {
            desks.push(Desk::page(listen("the page", at)?));
        }
        Ok(Self { desks })
    }

    /// The descriptors to poll: only those that can be served now. A listener whose places are taken is left out.
    pub fn polled(&self, now: Instant) -> Vec<PollFd<'_>> {
        self.desks.iter().flat_map(|desk| desk.polled(now)).collect()
    }

    /// The time at which a connection times out, or a resting listener begins again.
    pub fn wake(&self) -> Option<Instant> {
        self.desks.iter().filter_map(Desk::wake).min()
    }

    /// Reads and sends as far as possible; returns the complete questions.
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

/// Makes a file that only its owner can use, from its first moment on. Files of other threads would be the same: there
/// is none yet.
fn private<T>(make: impl FnOnce() -> T) -> T {
    let before = umask(Mode::from_bits_truncate(0o177));
    let made = make();
    umask(before);
    made
}

fn listen(what: &str, at: SocketAddr) -> Result<TcpListener, LabError> {
    let failed = || LabError::io(format!("{what} at {at}"));
    let listener = TcpListener::bind(at).map_err(failed())?;
    listener.set_nonblocking(true).map_err(failed())?;
    Ok(listener)
}
