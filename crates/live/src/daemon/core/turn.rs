//! The daemon's loop: one thread that sleeps until something arrives or is due, and handles it.
//!
//! There are some ten descriptors, so `ppoll` serves as well as `epoll`, and its time-out counts nanoseconds
//! (`docs/decisions/0008-daemon-loop.md`).

use super::Daemon;
use super::history::time_of_day;
use super::jumps::Copies;
use crate::daemon::history::Span;
use crate::daemon::manager::Manager;
use crate::daemon::metrics;
use crate::daemon::question::Question;
use crate::daemon::serve::Server;
use crate::error::LabError;
use crate::netlink::Watch;
use airbraid_units::{Duration, Instant};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::{TimeSpec, TimeValLike};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// Longest sleep.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// Time for which a page of metrics is reused, as a multiple of the time that it took: at a hub with thousands of peers
/// that is some 50 ms.
const PAGE_SHARE: u64 = 50;
/// Receive calls on each socket before the interface has its turn.
const ROUNDS: usize = 4;

/// Index of the kernel's messages among the polled descriptors, if they are open.
const COPIES: usize = 6;

/// A text with the end of its reuse.
pub type ReusedPage = Option<(Instant, String)>;

/// The inputs of the loop beside the interface and the uplinks.
#[derive(Debug)]
pub struct LoopInputs {
    /// Questions.
    pub server: Server,
    /// The last page of metrics.
    pub page: ReusedPage,
    /// The last history of each span.
    pub history: [ReusedPage; Span::COUNT],
    /// The service manager that watches the loop.
    pub manager: Manager,
    /// News of interfaces.
    pub watch: Watch,
    /// News that this machine is a copy.
    pub copies: Copies,
    /// Readable when the daemon is to end.
    pub end: UnixStream,
    /// Readable when the file is to be read again.
    pub reload: UnixStream,
}

/// The ready descriptors of a poll.
#[derive(Debug, Default)]
struct Ready {
    interface: bool,
    watch: bool,
    end: bool,
    reload: bool,
    names: bool,
    handshakes: bool,
    copies: bool,
    /// Uplink and port.
    ports: Vec<(usize, usize)>,
    questions: bool,
}

impl Daemon {
    /// Works until it is told to end.
    ///
    /// # Errors
    /// The interface is gone, or the system refuses to wait.
    pub fn run(&mut self, inputs: &mut LoopInputs) -> Result<(), LabError> {
        self.look();
        loop {
            let now = self.time;
            self.on_time(now);
            // What was refused may have been answered: that goes at once, too.
            self.flush();
            self.flush();
            let wakes = self.next_wake().into_iter().chain(inputs.server.wake()).chain(inputs.manager.beat(now));
            let until = wakes.fold(Instant::MAX, Instant::min);
            let ready = self.wait(inputs, until).map_err(LabError::failed("waiting"))?;
            self.look();
            if ready.copies && inputs.copies.were_made() {
                self.renew_keys("the kernel says that this machine is another generation of it");
            }
            self.look_for_jumps();
            if ready.handshakes {
                self.on_handshakes()?;
            }
            let mut busy = ready.ports;
            for _ in 0..ROUNDS {
                // In turn, so that none is far ahead of the others.
                busy.retain(|&(uplink, port)| self.receive(uplink, port));
            }
            // A program may have answered already what it was given: that goes out with what the tunnels have to say.
            let is_given = self.deliver_to_tunnels();
            if ready.interface || is_given {
                let name = &self.site.interface.name;
                let failed = LabError::io(format!("the interface {name}"));
                self.read_interface().map_err(failed)?;
            }
            if ready.watch && inputs.watch.has_news() {
                self.on_interfaces();
            }
            if ready.reload {
                drain(&mut inputs.reload);
                match self.reload() {
                    Ok(said) => tracing::info!("reloaded: {said}"),
                    Err(why) => tracing::error!("not reloaded: {why}"),
                }
            }
            if ready.names || self.names.wake().is_some_and(|at| at <= self.time) {
                self.on_names(self.time);
            }
            let is_told = self.serve(inputs, ready.questions);
            if is_told || ready.end {
                self.depart();
                return Ok(());
            }
        }
    }

    /// Answers questions; returns whether the daemon is to end.
    fn serve(&mut self, inputs: &mut LoopInputs, is_asked: bool) -> bool {
        let now = self.time;
        if !is_asked && inputs.server.wake().is_none_or(|at| now < at) {
            return false;
        }
        let mut ends = false;
        for (asker, question) in inputs.server.serve(now) {
            let answer = match question {
                Question::Status => serde_json::to_string(&self.status()).map_err(|error| error.to_string()),
                Question::Metrics => Ok(self.metrics(inputs)),
                Question::History(span) => Ok(self.history(inputs, span)),
                Question::Link(name, is_on) => self.switch(&name, is_on).map(|()| String::new()),
                Question::Reload => self.reload(),
                Question::Down => {
                    ends = true;
                    Ok(String::new())
                }
            };
            inputs.server.answer(now, asker, answer);
        }
        ends
    }

    /// The metrics.
    fn metrics(&self, inputs: &mut LoopInputs) -> String {
        self.reused(&mut inputs.page, || metrics::text(self.status(), self.site.interface.metrics_names))
    }

    /// The recent past over a span, as JSON.
    fn history(&self, inputs: &mut LoopInputs, span: Span) -> String {
        // What is made of numbers and texts alone is written without a failure.
        let make = || serde_json::to_string(&self.history_report(span)).unwrap_or_default();
        self.reused(&mut inputs.history[span as usize], make)
    }

    /// A page that is reused for a while, so that a client that asks all the time takes no more than one part in
    /// [`PAGE_SHARE`] of the thread.
    fn reused(&self, place: &mut ReusedPage, make: impl FnOnce() -> String) -> String {
        let now = self.clock.now();
        let page = place.take().filter(|(until, _)| now < *until);
        let (_, text) = place.insert(page.unwrap_or_else(|| {
            let text = make();
            let made = self.clock.now();
            (made + made.saturating_since(now).saturating_mul(PAGE_SHARE), text)
        }));
        text.clone()
    }

    fn wait(&self, inputs: &LoopInputs, until: Instant) -> nix::Result<Ready> {
        let sleep = until.saturating_since(self.clock.now()).min(SLEEP_MAX);
        let mut polled = vec![
            PollFd::new(self.tun.as_fd(), PollFlags::POLLIN),
            PollFd::new(inputs.watch.as_fd(), PollFlags::POLLIN),
            PollFd::new(inputs.end.as_fd(), PollFlags::POLLIN),
            PollFd::new(inputs.reload.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.names.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.sessions.as_fd(), PollFlags::POLLIN),
        ];
        polled.extend(inputs.copies.as_fd().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        let fixed = polled.len();
        let mut places = Vec::new();
        for (index, uplink) in self.uplinks.iter().enumerate() {
            for (place, port) in uplink.ports.iter().enumerate() {
                polled.push(PollFd::new(port.socket.as_fd(), PollFlags::POLLIN));
                places.push((index, place));
            }
        }
        polled.extend(inputs.server.polled(self.time));
        let timeout = TimeSpec::nanoseconds(i64::try_from(sleep.as_nanos()).unwrap_or(i64::MAX));
        match ppoll(&mut polled, Some(timeout), None) {
            Ok(0) => return Ok(Ready::default()),
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(Ready::default()),
            Err(error) => return Err(error),
        }
        let is_ready = |fd: &PollFd<'_>| fd.any().unwrap_or(true);
        let ports = polled[fixed..].iter().zip(places).filter(|(fd, _)| is_ready(fd)).map(|(_, place)| place);
        let ports: Vec<(usize, usize)> = ports.collect();
        let sockets = self.uplinks.iter().map(|uplink| uplink.ports.len()).sum::<usize>();
        Ok(Ready {
            interface: is_ready(&polled[0]),
            watch: is_ready(&polled[1]),
            end: is_ready(&polled[2]),
            reload: is_ready(&polled[3]),
            names: is_ready(&polled[4]),
            handshakes: is_ready(&polled[5]),
            copies: fixed > COPIES && is_ready(&polled[COPIES]),
            questions: polled[fixed + sockets..].iter().any(is_ready),
            ports,
        })
    }

    /// Says farewell to the peers, and closes everything.
    fn depart(&mut self) {
        self.look_at_budgets(None);
        self.say_farewells();
        for uplink in 0..self.uplinks.len() {
            if self.uplinks[uplink].is_open() {
                self.close(uplink);
            }
        }
        self.history.end(time_of_day());
    }
}

fn drain(stream: &mut UnixStream) {
    let mut room = [0; 64];
    while stream.read(&mut room).is_ok_and(|length| length == room.len()) {}
}
