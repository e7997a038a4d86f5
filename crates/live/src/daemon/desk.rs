//! A listener and its connections, of which there are never more than a few, none for long.
//!
//! Nothing here blocks, and nothing here keeps the loop awake: a listener that cannot be served is not polled, and a
//! connection is closed when it has been silent, or slow, for too long.

use super::question::{ParsedQuestion, Question, control, http};
use airbraid_units::{Duration, Instant};
use nix::poll::{PollFd, PollFlags};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};

/// Largest number of connections of a desk: scripts and a person, and some scrapers at the same time.
const PLACES: usize = 16;
/// Longest question \[byte\]: a browser's request has some hundred.
const QUESTION_MAX: usize = 4_096;
/// Longest wait for a complete question. It is sent in one piece with the connection.
const QUESTION_PATIENCE: Duration = Duration::from_secs(2);
/// Longest wait until an answer is taken: the page of a hub with thousands of peers takes a slow line some seconds.
const ANSWER_PATIENCE: Duration = Duration::from_secs(10);
/// Largest number of connections accepted in a [`SPAN`]; then the listener rests until it is over. A connection costs
/// some 20 us: these are some thousandths of a processor, whatever the number of callers.
const ACCEPTED_MAX: usize = 32;
const SPAN: Duration = Duration::from_millis(200);
/// Rest of the listener after a refusal by the system (no descriptor is left): it would be ready all the time.
const REFUSED: Duration = Duration::from_secs(1);

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
enum Listener {
    Control(UnixListener),
    Http(TcpListener),
}

impl Listener {
    fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Control(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true).map(|()| Stream::Control(stream))
            }
            Self::Http(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true).map(|()| Stream::Http(stream))
            }
        }
    }
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Control(listener) => listener.as_fd(),
            Self::Http(listener) => listener.as_fd(),
        }
    }
}

#[derive(Debug)]
struct Connection {
    stream: Stream,
    /// The time at which it is closed.
    until: Instant,
    asked: Vec<u8>,
    /// A complete question that was not yet taken.
    question: Option<Question>,
    /// The rest of the answer, once there is one.
    answer: Option<Vec<u8>>,
    is_over: bool,
}

/// A listener and its connections.
#[derive(Debug)]
pub struct Desk {
    listener: Listener,
    connections: Vec<Connection>,
    /// Whether a silent connection makes way for a new one.
    gives_way: bool,
    /// Beginning of the span of [`ACCEPTED_MAX`], and its count.
    accepted: (Instant, usize),
    /// The listener rests until then.
    rests_until: Instant,
}

impl Desk {
    /// A desk for the daemon's owner. No connection makes way: only the owner can have taken all places.
    pub fn control(listener: UnixListener) -> Self {
        Self::new(Listener::Control(listener), false)
    }

    /// A desk for anyone who reaches the port: the connection that has been silent for longest makes way.
    pub fn metrics(listener: TcpListener) -> Self {
        Self::new(Listener::Http(listener), true)
    }

    fn new(listener: Listener, gives_way: bool) -> Self {
        let accepted = (Instant::ZERO, 0);
        Self { listener, connections: Vec::new(), gives_way, accepted, rests_until: Instant::ZERO }
    }

    /// The descriptors to poll: only those that can be served now.
    pub fn polled(&self, now: Instant) -> Vec<PollFd<'_>> {
        let mut polled = Vec::with_capacity(1 + self.connections.len());
        if self.has_room() && self.rests_until <= now {
            polled.push(PollFd::new(self.listener.fd(), PollFlags::POLLIN));
        }
        polled.extend(self.connections.iter().map(|connection| {
            let flags = if connection.answer.is_some() { PollFlags::POLLOUT } else { PollFlags::POLLIN };
            PollFd::new(connection.stream.fd(), flags)
        }));
        polled
    }

    /// The time at which it must be served though nothing has arrived.
    pub fn wake(&self) -> Option<Instant> {
        let rest = (self.rests_until > Instant::ZERO).then_some(self.rests_until);
        self.connections.iter().map(|connection| connection.until).chain(rest).min()
    }

    fn has_room(&self) -> bool {
        self.connections.len() < PLACES || self.silent().is_some()
    }

    /// The connection that has been without a complete question for longest, if such a one makes way.
    fn silent(&self) -> Option<usize> {
        // They are in the order in which they came.
        self.connections.iter().position(Connection::is_silent).filter(|_| self.gives_way)
    }

    /// Reads and sends as far as possible; returns the complete questions, by place.
    pub fn serve(&mut self, now: Instant) -> Vec<(usize, Question)> {
        if self.rests_until <= now {
            self.rests_until = Instant::ZERO;
        }
        // Those that are here first: who has spoken is not the one that makes room.
        self.connections.iter_mut().for_each(|connection| connection.serve(now));
        self.connections.retain(|connection| !connection.is_over);
        self.accept(now);
        let places = self.connections.iter_mut().enumerate();
        places.filter_map(|(place, connection)| Some((place, connection.question.take()?))).collect()
    }

    fn accept(&mut self, now: Instant) {
        while self.has_room() && self.rests_until <= now {
            if now.saturating_since(self.accepted.0) >= SPAN {
                self.accepted = (now, 0);
            }
            if self.accepted.1 >= ACCEPTED_MAX {
                self.rests_until = self.accepted.0 + SPAN;
                return;
            }
            match self.listener.accept() {
                Ok(stream) => {
                    self.accepted.1 += 1;
                    self.seat(Connection::new(stream, now), now);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // It has gone again.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                Err(_) => self.rests_until = now + REFUSED,
            }
        }
    }

    fn seat(&mut self, mut connection: Connection, now: Instant) {
        connection.serve(now);
        if connection.is_over {
            return;
        }
        if self.connections.len() >= PLACES {
            match self.silent() {
                Some(place) => drop(self.connections.remove(place)),
                None => return,
            }
        }
        self.connections.push(connection);
    }

    /// Answers a question of this turn.
    pub fn answer(&mut self, now: Instant, place: usize, answer: Result<String, String>) {
        let Some(connection) = self.connections.get_mut(place) else { return };
        let text = match (&connection.stream, answer) {
            (Stream::Control(_), Ok(answer)) => format!("ok\n{answer}"),
            (Stream::Control(_), Err(why)) => format!("no\n{why}\n"),
            (Stream::Http(_), Ok(page)) => response("200 OK", "text/plain; version=0.0.4", &page),
            (Stream::Http(_), Err(why)) => response("404 Not Found", "text/plain", &why),
        };
        connection.reply(now, text);
    }
}

fn response(status: &str, kind: &str, page: &str) -> String {
    let length = page.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{page}")
}

impl Connection {
    fn new(stream: Stream, now: Instant) -> Self {
        let until = now + QUESTION_PATIENCE;
        Self { stream, until, asked: Vec::new(), question: None, answer: None, is_over: false }
    }

    /// Whether it has sent no complete question yet.
    fn is_silent(&self) -> bool {
        self.question.is_none() && self.answer.is_none()
    }

    fn serve(&mut self, now: Instant) {
        if self.until <= now {
            self.is_over = true;
        } else if self.answer.is_some() {
            self.send();
        } else {
            self.listen(now);
        }
    }

    fn reply(&mut self, now: Instant, text: String) {
        self.answer = Some(text.into_bytes());
        self.until = now + ANSWER_PATIENCE;
        self.send();
    }

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

    fn listen(&mut self, now: Instant) {
        let mut room = [0; 1_024];
        loop {
            match self.stream.read(&mut room) {
                Ok(0) => self.is_over = true,
                Ok(length) => self.asked.extend(&room[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.is_over = true,
            }
            if self.asked.len() > QUESTION_MAX || self.is_over {
                self.is_over = true;
                return;
            }
        }
        let (asked, refusal) = match &self.stream {
            Stream::Control(_) => (control(&self.asked), "no\nthis is no question\n".to_owned()),
            Stream::Http(_) => {
                (http(&self.asked), response("404 Not Found", "text/plain", "/metrics is all there is\n"))
            }
        };
        match asked {
            ParsedQuestion::NotYet => {}
            ParsedQuestion::Nothing => self.reply(now, refusal),
            ParsedQuestion::For(question) => self.question = Some(question),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    const REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\n\r\n";

    fn desk() -> (Desk, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let at = listener.local_addr().unwrap();
        (Desk::metrics(listener), at)
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(1_000 + ms)
    }

    /// Whether a poll comes back at once.
    fn is_ready(desk: &Desk, now: Instant) -> bool {
        nix::poll::poll(&mut desk.polled(now), 0u8).unwrap() > 0
    }

    /// Serves until nothing is ready any more; returns the number of rounds, and of questions.
    fn drain(desk: &mut Desk, now: Instant) -> (usize, usize) {
        let (mut turns, mut answered) = (0, 0);
        while turns < 1_000 && is_ready(desk, now) {
            for (place, _) in desk.serve(now) {
                desk.answer(now, place, Ok("page".to_owned()));
                answered += 1;
            }
            turns += 1;
        }
        (turns, answered)
    }

    #[test]
    fn a_hundred_silent_connections_leave_the_loop_asleep_and_room_for_one_that_asks() {
        let (mut desk, place) = desk();
        let crowd: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(place).unwrap()).collect();
        let mut now = at(0);
        for span in 0..10 {
            now = at(200 * span);
            let (turns, _) = drain(&mut desk, now);
            assert!(turns < 10, "{turns} turns in one moment");
            assert!(desk.connections.len() <= PLACES);
        }
        let mut asks = TcpStream::connect(place).unwrap();
        asks.write_all(REQUEST).unwrap();
        // It comes behind a hundred, of which some are accepted in each span.
        let answered = (1..10).any(|span| drain(&mut desk, now + Duration::from_millis(200 * span)).1 == 1);
        assert!(answered);
        let mut said = String::new();
        asks.read_to_string(&mut said).unwrap();
        assert!(said.ends_with("page"), "{said}");
        // Those that have said nothing are closed, and nothing is left to wake up for.
        desk.serve(now + Duration::from_secs(20));
        assert_eq!((desk.connections.len(), desk.wake()), (0, None));
        drop(crowd);
    }

    #[test]
    fn who_has_asked_keeps_the_place_until_the_answer_is_taken() {
        let (mut desk, place) = desk();
        let mut slow = TcpStream::connect(place).unwrap();
        slow.write_all(REQUEST).unwrap();
        let crowd: Vec<TcpStream> = (0..PLACES + 8).map(|_| TcpStream::connect(place).unwrap()).collect();
        let asked = desk.serve(at(0));
        assert_eq!(asked.len(), 1);
        // More than the kernel takes at once.
        desk.answer(at(0), asked[0].0, Ok("x".repeat(50_000_000)));
        drop(crowd);
        drain(&mut desk, at(1));
        assert_eq!(desk.connections.len(), 1);
        assert_eq!(desk.wake(), Some(at(0) + ANSWER_PATIENCE));
        desk.serve(at(0) + ANSWER_PATIENCE);
        assert_eq!(desk.connections.len(), 0);
    }

    #[test]
    fn who_says_too_much_is_hung_up_on() {
        let (mut desk, place) = desk();
        let mut long = TcpStream::connect(place).unwrap();
        long.write_all(&[b'a'; QUESTION_MAX + 1]).unwrap();
        drain(&mut desk, at(0));
        assert_eq!(desk.connections.len(), 0);
    }
}
