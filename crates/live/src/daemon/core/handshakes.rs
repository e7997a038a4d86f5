//! Link security's machine on a thread of its own: a handshake takes as long as sealing hundreds of packets, and
//! packets do not wait for it.
//!
//! This end's own inputs are never lost and go first. Of strangers' datagrams, the [`Gate`]
//! refuses what is not worth a step, and so much may wait; the rest is dropped and counted. What the machine asks for
//! is carried out by the daemon's own thread, which has the keys; a bell in its poll says that there is something.

use super::Daemon;
use crate::clock::Clock;
use crate::daemon::keys::Random;
use crate::error::LabError;
use airbraid_engine::converge::session::{
    Address, Caller, Callers, Gate, Input, Output, PublicKey, Refusal, Sessions, Stats,
};
use airbraid_engine::try_step;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Largest number of strangers' datagrams that wait: those of 80 ms at 50,000 a second, 600 kB.
const WAITING: usize = 4_096;
/// Number of them that are processed before this end's own requests are taken again: 16 handshakes, some milliseconds.
const AT_A_TIME: usize = 16;
/// Number of waiting outputs above which strangers wait.
const OUTPUTS: usize = 1_024;
/// Longest wait for the machine to process its inputs.
const PATIENCE: Duration = Duration::from_secs(1);
/// Interval of timer calls if one of the machine's timers is wrong.
const AFTER_FAULT: Duration = Duration::from_secs(1);

/// The state that the two threads share.
#[derive(Debug, Default)]
struct SharedQueues {
    own: VecDeque<Input>,
    strangers: VecDeque<(Address, Vec<u8>)>,
    outputs: Vec<Output>,
    stats: Stats,
    /// Callers that the machine has refused.
    callers: Vec<Caller>,
    /// Own requests: given, being processed, and done.
    told: u64,
    taken: u64,
    finished: u64,
    is_closed: bool,
}

#[derive(Debug, Default)]
struct Shared {
    desk: Mutex<SharedQueues>,
    /// There is something to do.
    given: Condvar,
    /// Something was done.
    done: Condvar,
}

impl Shared {
    fn desk(&self) -> MutexGuard<'_, SharedQueues> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The machine of the handshakes, as the daemon's own thread sees it.
#[derive(Debug)]
pub struct Handshakes {
    public: PublicKey,
    gate: Gate,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// The other end rings when there is an output.
    bell: UnixStream,
    /// Datagrams that have passed the gate since the last call of [`Self::hand_over`].
    passed: Vec<(Address, Vec<u8>)>,
    /// Datagrams dropped because too many waited.
    dropped: Stats,
    /// Callers with another key than ours, whom the gate refuses.
    mistaken: Callers,
}

impl Handshakes {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system refuses a socket or a thread.
    pub fn start(sessions: Sessions<Random>, clock: Clock) -> std::io::Result<Self> {
        let (bell, ringer) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        ringer.set_nonblocking(true)?;
        let (public, shared) = (sessions.public(), Arc::new(Shared::default()));
        let work = {
            let shared = Arc::clone(&shared);
            move || work(sessions, clock, &shared, ringer)
        };
        let thread = Some(std::thread::Builder::new().name("handshakes".to_owned()).spawn(work)?);
        let (gate, passed) = (Gate::new(&public), Vec::new());
        Ok(Self { public, gate, shared, thread, bell, passed, dropped: Stats::default(), mistaken: Callers::default() })
    }

    /// The public key of this end.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// Handshake messages: accepted, sent and refused, here and by the machine.
    pub fn stats(&self) -> Stats {
        self.shared.desk().stats.and(self.gate.stats()).and(&self.dropped)
    }

    /// Gives the machine an input of this end.
    pub fn tell(&mut self, input: Input) {
        let mut desk = self.shared.desk();
        // A peer can send as many of these as it likes, and repeats what has no answer.
        if matches!(input, Input::Control(..)) && desk.own.len() >= WAITING {
            self.dropped.refuse(Refusal::Overload);
            return;
        }
        desk.own.push_back(input);
        desk.told += 1;
        drop(desk);
        self.shared.given.notify_one();
    }

    /// The last callers that were refused, with reasons.
    pub fn callers(&self) -> Vec<Caller> {
        let known = self.shared.desk().callers.clone();
        known.into_iter().chain(self.mistaken.iter().copied()).collect()
    }

    /// Takes a datagram that is no frame, if the gate lets it pass.
    pub fn take(&mut self, now: Instant, from: Address, bytes: &[u8]) {
        match self.gate.check(bytes) {
            Ok(()) => self.passed.push((from, bytes.to_vec())),
            Err(Refusal::Stranger) => self.mistaken.note(now, from, Refusal::Stranger, None),
            Err(_) => {}
        }
    }

    /// Gives the machine the datagrams that were taken.
    pub fn hand_over(&mut self) {
        if self.passed.is_empty() {
            return;
        }
        let mut desk = self.shared.desk();
        let room = WAITING.saturating_sub(desk.strangers.len()).min(self.passed.len());
        desk.strangers.extend(self.passed.drain(..room));
        drop(desk);
        self.shared.given.notify_one();
        self.passed.drain(..).for_each(|_| self.dropped.refuse(Refusal::Overload));
    }

    /// This end sends a message of the machine's.
    pub fn sent(&mut self, now: Instant, bytes: &[u8]) {
        self.gate.sent(now, bytes);
    }

    /// Takes the machine's outputs.
    ///
    /// # Errors
    /// The thread has ended.
    fn asked(&mut self) -> Result<Vec<Output>, LabError> {
        let mut room = [0; 64];
        let is_over = loop {
            match self.bell.read(&mut room) {
                Ok(0) => break true,
                Ok(length) if length == room.len() => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => break false,
            }
        };
        let outputs = std::mem::take(&mut self.shared.desk().outputs);
        self.shared.given.notify_one();
        if is_over && outputs.is_empty() {
            return Err(LabError::Failed(
                "the thread of the handshakes has ended: this is a fault in airbraid".to_owned(),
            ));
        }
        Ok(outputs)
    }

    /// Waits until the machine has processed all inputs of this end.
    fn settle(&mut self) {
        let patience = std::time::Duration::from_nanos(PATIENCE.as_nanos());
        let desk = self.shared.desk();
        let told = desk.told;
        drop(self.shared.done.wait_timeout_while(desk, patience, |desk| desk.finished < told));
    }
}

impl AsFd for Handshakes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Drop for Handshakes {
    fn drop(&mut self) {
        self.shared.desk().is_closed = true;
        self.shared.given.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The life of the thread.
fn work(mut sessions: Sessions<Random>, clock: Clock, shared: &Shared, mut ringer: UnixStream) {
    let (mut wake, mut outputs) = (None, Vec::new());
    let mut inputs = VecDeque::new();
    while wait(shared, clock, wake, &mut inputs) {
        // Without an input it is time.
        let mut next = inputs.pop_front();
        loop {
            let now = clock.now();
            wake = match try_step(&mut sessions, now, next, |output| outputs.push(output)) {
                Ok(wake) => wake.map(|wake| wake.at),
                Err(spin) => {
                    debug_assert!(false, "{spin}");
                    tracing::error!(%spin, "a timer of the handshakes is wrong");
                    Some(now + AFTER_FAULT)
                }
            };
            next = inputs.pop_front();
            if next.is_none() {
                break;
            }
        }
        let mut desk = shared.desk();
        let is_quiet = desk.outputs.is_empty() && !outputs.is_empty();
        desk.outputs.append(&mut outputs);
        desk.stats.clone_from(sessions.stats());
        desk.callers.clear();
        desk.callers.extend(sessions.callers());
        desk.finished = desk.taken;
        drop(desk);
        shared.done.notify_all();
        if is_quiet {
            // If it is full, it rings.
            let _ = ringer.write(&[1]);
        }
    }
}

/// Sleeps until there is work: takes it, or nothing if a timer is due. Returns false when the thread is to end.
fn wait(shared: &Shared, clock: Clock, wake: Option<Instant>, inputs: &mut VecDeque<Input>) -> bool {
    let mut desk = shared.desk();
    loop {
        if desk.is_closed {
            return false;
        }
        let sleep = wake.map(|wake| wake.saturating_since(clock.now()));
        if !desk.own.is_empty() {
            std::mem::swap(&mut desk.own, inputs);
            desk.taken = desk.told;
        } else if desk.outputs.len() < OUTPUTS && !desk.strangers.is_empty() {
            let some = AT_A_TIME.min(desk.strangers.len());
            inputs.extend(desk.strangers.drain(..some).map(|(from, bytes)| Input::Datagram { from, bytes }));
        } else if sleep.is_none_or(|sleep| !sleep.is_zero()) {
            let longest = sleep.map_or(u64::MAX, Duration::as_nanos);
            let slept = shared.given.wait_timeout(desk, std::time::Duration::from_nanos(longest));
            desk = slept.unwrap_or_else(PoisonError::into_inner).0;
            continue;
        }
        return true;
    }
}

impl Daemon {
    /// Gives link security an input. Its outputs are carried out when it has processed it.
    pub(super) fn drive_sessions(&mut self, input: Option<Input>) {
        if let Some(input) = input {
            self.sessions.tell(input);
        }
    }

    /// Carries out the outputs of link security.
    ///
    /// # Errors
    /// Its thread has ended.
    pub(super) fn on_handshakes(&mut self) -> Result<(), LabError> {
        let now = self.time;
        for output in self.sessions.asked()? {
            self.carry_out(now, output);
        }
        Ok(())
    }

    /// Waits until link security has processed all its inputs, and carries out its outputs: for a step that must not
    /// come before them.
    pub(super) fn settle_sessions(&mut self) {
        self.sessions.settle();
        if let Err(error) = self.on_handshakes() {
            tracing::error!(%error, "handshakes");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_engine::Stream;
    use airbraid_engine::converge::session::{Config, PeerConfig, PeerId, Secret, Suite, Timing, public_key};

    fn secret(end: u8) -> Secret {
        Secret::new([end + 1; 32])
    }

    fn place(end: u8) -> Address {
        Address([end; Address::LEN])
    }

    fn end(end: u8, other: u8) -> Handshakes {
        let peer =
            PeerConfig { public: public_key(&secret(other)), psk: Secret::new([0; 32]), addresses: vec![place(other)] };
        let config = Config {
            identity: secret(end),
            peers: vec![peer],
            suites: Suite::ALL.to_vec(),
            epoch_ns: 1,
            timing: Timing::default(),
        };
        let sessions = Sessions::new(config, Random::new(), Stream::new(1, u64::from(end), "session"));
        Handshakes::start(sessions, Clock::start()).unwrap()
    }

    /// Returns its next outputs.
    fn asked(end: &mut Handshakes) -> Vec<Output> {
        let mut fds = [nix::poll::PollFd::new(end.as_fd(), nix::poll::PollFlags::POLLIN)];
        nix::poll::poll(&mut fds, nix::poll::PollTimeout::NONE).unwrap();
        end.asked().unwrap()
    }

    fn message(end: &mut Handshakes) -> Vec<u8> {
        loop {
            let message = asked(end).into_iter().find_map(|output| match output {
                Output::Transmit { bytes, .. } => Some(bytes),
                _ => None,
            });
            if let Some(message) = message {
                return message;
            }
        }
    }

    #[test]
    fn two_ends_shake_hands_and_the_bell_rings() {
        let (mut first, mut second) = (end(0, 1), end(1, 0));
        first.tell(Input::Connect(PeerId(0)));
        let initiation = message(&mut first);
        first.sent(Instant::ZERO, &initiation);
        second.take(Instant::ZERO, place(0), &initiation);
        second.hand_over();
        let response = message(&mut second);
        first.take(Instant::ZERO, place(1), &response);
        first.hand_over();
        first.settle();
        while !asked(&mut first).contains(&Output::Up(PeerId(0))) {}
        assert_eq!((first.stats().accepted, first.stats().refused_total()), (1, 0));
    }

    #[test]
    fn strangers_wait_in_a_bounded_room_and_own_wishes_go_first() {
        let (mut first, mut second) = (end(0, 1), end(1, 0));
        first.tell(Input::Connect(PeerId(0)));
        let initiation = message(&mut first);
        // Nothing is taken while so much is to be carried out.
        second.shared.desk().outputs.extend(vec![Output::Failed(PeerId(0)); OUTPUTS]);
        for _ in 0..WAITING + 10 {
            second.take(Instant::ZERO, place(0), &initiation);
        }
        second.hand_over();
        assert_eq!(second.stats().refused(Refusal::Overload), 10);
        second.tell(Input::Connect(PeerId(0)));
        second.settle();
        assert_eq!(second.shared.desk().strangers.len(), WAITING);
        let asked = second.asked().unwrap();
        assert!(matches!(asked[OUTPUTS..], [Output::Transmit { .. }]), "{:?}", &asked[OUTPUTS..]);
        // The room is emptied when there is time for it; garbage never gets there.
        for _ in 0..100 {
            second.take(Instant::ZERO, place(0), &[0x11; 144]);
        }
        assert!(second.passed.is_empty());
        assert_eq!(second.stats().refused(Refusal::Stranger), 100);
        while second.stats().accepted + second.stats().refused_total() < (WAITING + 10 + 100) as u64 {
            let _ = asked_now(&mut second);
        }
    }

    fn asked_now(end: &mut Handshakes) -> Vec<Output> {
        std::thread::yield_now();
        end.asked().unwrap()
    }

    #[test]
    fn an_end_that_is_dropped_leaves_no_thread() {
        let end = end(0, 1);
        let shared = Arc::downgrade(&end.shared);
        drop(end);
        assert!(shared.upgrade().is_none());
    }
}
