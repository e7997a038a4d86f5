//! Names of peers' endpoints, looked up while the daemon works: when it begins, reloads or finds another network, and
//! less and less often while a name has no address or its peer does not answer.
//!
//! A resolver that cannot be reached says so after half a minute: it is asked on a thread of its own, and packets do
//! not wait.

use super::Daemon;
use crate::daemon::nat64::{Prefix64, WELL_KNOWN, prefixes};
use crate::daemon::outside::Outside;
use crate::daemon::peer::SILENCE;
use crate::daemon::places::in_turn;
use crate::daemon::site::{Endpoint, Peer};
use airbraid_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Interval of the first two questions for a name; then it doubles, up to [`LONGEST`].
const FIRST: Duration = Duration::from_secs(1);
/// Time for which most resolvers keep a negative answer (RFC 2308, section 5, lets them keep it much longer).
const LONGEST: Duration = Duration::from_secs(60);

/// The addresses of a name, or the reason why there are none.
type Meaning = Result<Vec<SocketAddr>, String>;
type Answer = (String, Meaning);

/// The names that were looked up.
#[derive(Debug)]
pub struct Names {
    known: BTreeMap<String, Name>,
    /// To the resolver thread, once there is a question.
    questions: Option<Sender<String>>,
    answers: (Sender<Answer>, Receiver<Answer>),
    /// The other end rings when there is an answer.
    bell: UnixStream,
    ringer: UnixStream,
    outside: Arc<Outside>,
}

#[derive(Debug, Default)]
struct Name {
    addresses: Vec<SocketAddr>,
    /// Earliest time of the next question.
    not_before: Instant,
    pause: Duration,
    is_being_asked: bool,
    /// The last failure, if the name was not found.
    failure: Option<String>,
}

impl Names {
    /// An empty list.
    ///
    /// # Errors
    /// The system refuses a socket.
    pub fn new(outside: Outside) -> std::io::Result<Self> {
        let (bell, ringer) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        ringer.set_nonblocking(true)?;
        Ok(Self {
            known: BTreeMap::new(),
            questions: None,
            answers: channel(),
            bell,
            ringer,
            outside: Arc::new(outside),
        })
    }

    /// Whether the system's resolver might ask through the tunnel, which has to be up for that.
    pub fn need_outside(&self, is_needed: bool) {
        self.outside.need(is_needed);
    }

    /// Looks up a name: now, or later if that was done only just.
    pub fn want(&mut self, now: Instant, text: &str) {
        let name = self.known.entry(text.to_owned()).or_default();
        if name.is_being_asked || now < name.not_before {
            return;
        }
        // What was not wanted for long is not in trouble.
        let is_new = now.saturating_since(name.not_before) > LONGEST;
        name.pause = if is_new { FIRST } else { name.pause.saturating_mul(2).clamp(FIRST, LONGEST) };
        name.not_before = now + name.pause;
        name.is_being_asked = self.questions.as_ref().is_some_and(|asked| asked.send(text.to_owned()).is_ok());
        if !name.is_being_asked {
            self.begin(text);
        }
    }

    /// Starts the resolver thread, with a first question.
    fn begin(&mut self, text: &str) {
        let (questions, asked) = channel();
        let (answers, outside) = (self.answers.0.clone(), Arc::clone(&self.outside));
        let started = self.ringer.try_clone().and_then(|ringer| {
            let thread = std::thread::Builder::new().name("names".to_owned());
            thread.spawn(move || ask(&asked, &answers, ringer, &outside))
        });
        if let Err(error) = started {
            tracing::error!(%error, "names of peers cannot be looked up");
            return;
        }
        let name = self.known.entry(text.to_owned()).or_default();
        name.is_being_asked = questions.send(text.to_owned()).is_ok();
        self.questions = Some(questions);
    }

    /// Looks up names without an address again when their time has come.
    fn retry(&mut self, now: Instant) {
        let due = |name: &Name| name.failure.is_some() && name.addresses.is_empty() && name.not_before <= now;
        let due: Vec<String> = self.known.iter().filter(|(_, name)| due(name)).map(|(text, _)| text.clone()).collect();
        for text in due {
            self.want(now, &text);
        }
    }

    /// The time of the next question.
    pub fn wake(&self) -> Option<Instant> {
        let waits = |name: &&Name| name.failure.is_some() && name.addresses.is_empty() && !name.is_being_asked;
        self.known.values().filter(waits).map(|name| name.not_before).min()
    }

    /// The network or the file has changed: all names may be looked up at once.
    fn hurry(&mut self) {
        for name in self.known.values_mut() {
            (name.not_before, name.pause) = (Instant::ZERO, Duration::ZERO);
        }
    }

    /// Returns the answers since the last call. Failures are logged once for each name, until it is found.
    fn found(&mut self) -> Vec<(String, Vec<SocketAddr>)> {
        let mut room = [0; 64];
        while self.bell.read(&mut room).is_ok_and(|length| length == room.len()) {}
        let mut found = Vec::new();
        while let Ok((text, meaning)) = self.answers.1.try_recv() {
            let Some(name) = self.known.get_mut(&text) else { continue };
            name.is_being_asked = false;
            match meaning {
                Ok(addresses) => {
                    if name.failure.is_some() || name.addresses != addresses {
                        tracing::info!(name = text, ?addresses, "found");
                    }
                    name.failure = None;
                    name.addresses.clone_from(&addresses);
                    found.push((text, addresses));
                }
                Err(why) => {
                    // That a network translates nothing is no failure.
                    if name.failure.is_none() && text != WELL_KNOWN {
                        tracing::warn!(name = text, why, "cannot be looked up; it is tried again and again");
                    }
                    name.failure = Some(why);
                }
            }
        }
        found
    }

    /// The prefixes behind which IPv4 addresses are reached here.
    pub fn prefixes(&self) -> Vec<Prefix64> {
        let known = self.known.get(WELL_KNOWN);
        known.map_or_else(Vec::new, |name| prefixes(name.addresses.iter().map(SocketAddr::ip)))
    }

    /// The reason why a name was not found, if so.
    pub fn failure(&self, text: &str) -> Option<&str> {
        self.known.get(text)?.failure.as_deref()
    }

    /// Fills in the known addresses of the names in a new file.
    pub fn fill(&self, peers: &mut [Peer]) {
        for (_, endpoint) in peers.iter_mut().flat_map(|peer| &mut peer.endpoints) {
            if let Some(name) = self.known.get(&endpoint.text) {
                endpoint.addresses.clone_from(&name.addresses);
            }
        }
    }
}

impl AsFd for Names {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

/// The life of the thread: one name after the other, until all senders are gone.
fn ask(questions: &Receiver<String>, answers: &Sender<Answer>, mut ringer: UnixStream, outside: &Outside) {
    while let Ok(text) = questions.recv() {
        let meaning = outside.look_up(&text).map_or_else(|| look_up(&text), in_order);
        if answers.send((text, meaning)).is_err() {
            return;
        }
        // If it is full, it rings.
        let _ = ringer.write(&[1]);
    }
}

/// The addresses behind `host:port`, of both families in turn.
///
/// # Errors
/// Why there is none.
pub fn look_up(text: &str) -> Meaning {
    in_order(text.to_socket_addrs().map_err(|error| error.to_string())?.collect())
}

fn in_order(found: Vec<SocketAddr>) -> Meaning {
    let found = in_turn(found);
    if found.is_empty() { Err("it has no address".to_owned()) } else { Ok(found) }
}

impl Daemon {
    /// Looks up the names of a peer's endpoints, if it was not done only just.
    pub(super) fn want_names(&mut self, peer: usize) {
        let now = self.time;
        let Self { peers, names, .. } = self;
        let endpoints = peers[peer].config.endpoints.iter().map(|(_, endpoint)| endpoint);
        endpoints.filter(|endpoint| endpoint.is_name()).for_each(|endpoint| names.want(now, &endpoint.text));
        self.want_translator(peer);
    }

    /// Looks up the names of all peers at once: another network, or another file, may have other addresses.
    pub(super) fn renew_names(&mut self) {
        self.names.hurry();
        for peer in 0..self.peers.len() {
            self.want_names(peer);
        }
    }

    /// Asks for names that are due, and uses the answers.
    pub(super) fn on_names(&mut self, now: Instant) {
        self.names.retry(now);
        let found = self.names.found();
        for (text, addresses) in &found {
            for peer in 0..self.peers.len() {
                self.on_found(now, peer, text, addresses);
            }
        }
        if !found.is_empty() {
            self.routing.want(self.wanted());
        }
    }

    fn on_found(&mut self, now: Instant, peer: usize, text: &str, addresses: &[SocketAddr]) {
        let endpoints = self.peers[peer].config.endpoints.iter_mut().map(|(_, endpoint)| endpoint);
        let others: Vec<&mut Endpoint> = endpoints.filter(|e| e.text == text && e.addresses != addresses).collect();
        // With a translator's prefix there are places that nobody knew before.
        if others.is_empty() && text != WELL_KNOWN {
            return;
        }
        for endpoint in others {
            endpoint.addresses = addresses.to_vec();
        }
        self.want_translator(peer);
        let has_moved = self.move_silent(now, peer);
        self.offer_members(now, peer);
        if has_moved || !self.peers[peer].is_up {
            self.reconnect(peer);
        }
    }

    /// Moves silent members whose address is no longer the peer's to its present address. A working member stays: the
    /// source of its frames counts, whatever names resolve to. Returns whether one was moved.
    fn move_silent(&mut self, now: Instant, peer: usize) -> bool {
        let mut has_moved = false;
        for uplink in 0..self.uplinks.len() {
            let member = self.peers[peer].member_of(uplink);
            let Some(before) = self.peers[peer].paths.get(&member).copied() else { continue };
            let places = self.places(peer, uplink);
            let is_silent = before.heard.is_none_or(|heard| now.saturating_since(heard) >= SILENCE);
            let Some(remote) = places.first().filter(|_| is_silent && !places.contains(&before.remote)) else {
                continue;
            };
            self.send_member_to(now, peer, uplink, *remote);
            has_moved = true;
        }
        has_moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(names: &mut Names) -> Vec<(String, Vec<SocketAddr>)> {
        let is_asked = |names: &Names| names.known.values().any(|name| name.is_being_asked);
        let mut found = Vec::new();
        while is_asked(names) {
            let mut fds = [nix::poll::PollFd::new(names.as_fd(), nix::poll::PollFlags::POLLIN)];
            nix::poll::poll(&mut fds, nix::poll::PollTimeout::NONE).unwrap();
            found.extend(names.found());
        }
        found
    }

    #[test]
    fn a_name_that_is_not_found_is_looked_up_less_and_less_often() {
        let mut names = Names::new(Outside::new(&[], 0)).unwrap();
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        // With an empty label it is refused before any server is asked.
        let missing = "nobody..invalid:5182";
        names.want(at(100), missing);
        assert_eq!(names.wake(), None, "nothing is due while it is asked for");
        assert!(answered(&mut names).is_empty());
        let mut asked = Vec::new();
        while asked.len() < 9 {
            let due = names.wake().unwrap();
            asked.push(due.saturating_since(at(100)).as_secs_f64());
            names.retry(due);
            assert!(answered(&mut names).is_empty());
        }
        assert_eq!(asked, [1.0, 3.0, 7.0, 15.0, 31.0, 63.0, 123.0, 183.0, 243.0]);
        names.hurry();
        assert_eq!(names.wake(), Some(Instant::ZERO), "another network may know it");
    }

    #[test]
    fn what_is_found_stays_known_and_is_not_asked_for_all_the_time() {
        let mut names = Names::new(Outside::new(&[], 0)).unwrap();
        let now = Instant::ZERO + Duration::from_secs(100);
        let local = "127.0.0.1:5182";
        names.want(now, local);
        assert_eq!(answered(&mut names), [(local.to_owned(), vec![local.parse().unwrap()])]);
        assert_eq!(names.wake(), None);
        names.want(now + Duration::from_millis(999), local);
        assert!(!names.known[local].is_being_asked);
        names.want(now + Duration::from_secs(1), local);
        assert!(names.known[local].is_being_asked);
    }
}
