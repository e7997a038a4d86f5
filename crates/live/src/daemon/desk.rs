//! A listener and its connections, of which there are never more than a few, none for long.
//!
//! Nothing here blocks, and nothing here keeps the loop awake: a listener that cannot be served is not polled, and a
//! connection is closed when it has been silent, or slow, for too long.

use super::page::{self, PageRequest, ParsedRequest, Refusal, Resource};
use super::question::{ParsedQuestion, Question, control, http};
use airbraid_units::{Duration, Instant};
use nix::poll::{PollFd, PollFlags};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};

/// Largest number of connections of a desk: scripts and a person, and some scrapers at the same time.
const PLACES: usize = 16;
/// Longest question \[byte\]: a program's request has some hundred.
const QUESTION_MAX: usize = 4_096;
/// Longest request for the page \[byte\]: a browser sends the cookies of every server that this host has on any port.
const REQUEST_MAX: usize = 16_384;
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

/// The language of a desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    Lines,
    Metrics,
    Page,
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
    speaks: Speaks,
    /// Whether the head of the answer is all that was asked for.
    is_head: bool,
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
    speaks: Speaks,
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
        Self::new(Listener::Control(listener), Speaks::Lines)
    }

    /// A desk for anyone who reaches the port: the connection that has been silent for longest makes way.
    pub fn metrics(listener: TcpListener) -> Self {
        Self::new(Listener::Http(listener), Speaks::Metrics)
    }

    /// The same for browsers.
    pub fn page(listener: TcpListener) -> Self {
        Self::new(Listener::Http(listener), Speaks::Page)
    }

    fn new(listener: Listener, speaks: Speaks) -> Self {
        let accepted = (Instant::ZERO, 0);
        let gives_way = speaks != Speaks::Lines;
        Self { listener, speaks, connections: Vec::new(), gives_way, accepted, rests_until: Instant::ZERO }
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
                    self.seat(Connection::new(stream, self.speaks, now), now);
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
        let text = match (connection.speaks, answer) {
            (Speaks::Lines, Ok(answer)) => format!("ok\n{answer}"),
            (Speaks::Lines, Err(why)) => format!("no\n{why}\n"),
            (Speaks::Metrics, Ok(page)) => response("200 OK", "text/plain; version=0.0.4", &page),
            (Speaks::Metrics, Err(why)) => response("404 Not Found", "text/plain", &why),
            (Speaks::Page, Ok(json)) => page::numbers(&json, connection.is_head),
            (Speaks::Page, Err(_)) => page::refuse(Refusal::Unknown, connection.is_head),
        };
        connection.reply(now, text);
    }
}

fn response(status: &str, kind: &str, page: &str) -> String {
    let length = page.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{page}")
}

impl Connection {
    fn new(stream: Stream, speaks: Speaks, now: Instant) -> Self {
        let until = now + QUESTION_PATIENCE;
        Self { stream, speaks, is_head: false, until, asked: Vec::new(), question: None, answer: None, is_over: false }
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
            let longest = if self.speaks == Speaks::Page { REQUEST_MAX } else { QUESTION_MAX };
            if self.asked.len() > longest && self.speaks == Speaks::Page {
                self.reply(now, page::refuse(Refusal::Long, false));
                return;
            }
            if self.asked.len() > longest || self.is_over {
                self.is_over = true;
                return;
            }
        }
        self.read_question(now);
    }

    /// Takes the question out of the bytes so far, or answers at once where the daemon is not needed for it.
    fn read_question(&mut self, now: Instant) {
        let (asked, refusal) = match self.speaks {
            Speaks::Lines => (control(&self.asked), "no\nthis is no question\n".to_owned()),
            Speaks::Metrics => {
                (http(&self.asked), response("404 Not Found", "text/plain", "/metrics is all there is\n"))
            }
            Speaks::Page => return self.read_request(now),
        };
        match asked {
            ParsedQuestion::NotYet => {}
            ParsedQuestion::Nothing => self.reply(now, refusal),
            ParsedQuestion::For(question) => self.question = Some(question),
        }
    }

    fn read_request(&mut self, now: Instant) {
        match page::parse(&self.asked) {
            ParsedRequest::NotYet => {}
            ParsedRequest::Refused(refusal, is_head) => self.reply(now, page::refuse(refusal, is_head)),
            ParsedRequest::For(PageRequest { resource: Resource::History(span), is_head }) => {
                self.is_head = is_head;
                self.question = Some(Question::History(span));
            }
            ParsedRequest::For(request) => {
                if let Some(answer) = page::file(request) {
                    self.reply(now, answer);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::history::Span;
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
    fn a_browser_gets_the_page_without_the_daemon_and_its_numbers_from_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let place = listener.local_addr().unwrap();
        let mut desk = Desk::page(listener);
        let mut ask = |request: &str, answer: &str| {
            let mut browser = TcpStream::connect(place).unwrap();
            browser.write_all(request.as_bytes()).unwrap();
            let mut questions = Vec::new();
            for (place, question) in desk.serve(at(0)) {
                questions.push(question);
                desk.answer(at(0), place, Ok(answer.to_owned()));
            }
            desk.serve(at(1));
            let mut said = String::new();
            browser.read_to_string(&mut said).unwrap();
            (questions, said)
        };
        let get = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: {place}\r\n\r\n");
        let (questions, said) = ask(&get("/page.css"), "");
        assert!(questions.is_empty() && said.starts_with("HTTP/1.1 200 OK\r\n"), "{said}");
        let (questions, said) = ask(&get("/history?span=hour"), "{}");
        assert_eq!(questions, [Question::History(Span::Hour)]);
        assert!(said.ends_with("\r\n\r\n{}"), "{said}");
        let (questions, said) = ask(&get("/history?span=hour").replace("GET", "HEAD"), "{}");
        assert_eq!(questions.len(), 1);
        assert!(said.ends_with("\r\n\r\n") && said.contains("Content-Length: 2\r\n"), "{said}");
        for (request, status) in [
            (get("/metrics"), "404"),
            (get("/").replace("GET", "POST"), "405"),
            (get("/").replace("127.0.0.1", "evil.example"), "421"),
            (format!("GET / HTTP/1.1\r\nCookie: {}", "a".repeat(REQUEST_MAX)), "431"),
            ("status\n\r\n\r\n".to_owned(), "400"),
        ] {
            let (questions, said) = ask(&request, "");
            assert!(questions.is_empty() && said.starts_with(&format!("HTTP/1.1 {status} ")), "{said}");
        }
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
