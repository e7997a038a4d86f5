//! Questions to the kernel, and its answers: with a time-out, and asked again where an answer was lost.

use super::HEADER;
use super::message::{messages, word};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, connect, recv, send, setsockopt, socket,
    sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};
use std::os::fd::{AsRawFd, OwnedFd};

const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_DUMP: u16 = 0x300;
/// Something changed while a list was written: an entry may be missing, or be there twice.
const NLM_F_DUMP_INTR: u16 = 0x10;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// The kernel fills up to this much at once \[byte\].
const ROOM: usize = 65_536;
/// Time for a late answer \[ms\]: the kernel has answered when `send` returns (Linux `af_netlink.c`), so an answer that
/// is not there then was lost.
const PATIENCE: i64 = 200;
/// Largest number of requests for an answer that was lost.
const ATTEMPTS: usize = 3;

/// A conversation with the kernel's routing.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// One message of the kernel's: type, flags, body.
type Message<'a> = (u16, u16, &'a [u8]);

impl Netlink {
    /// Opens one in this thread's network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open() -> nix::Result<Self> {
        Self::of(SockProtocol::NetlinkRoute)
    }

    pub(super) fn of(protocol: SockProtocol) -> nix::Result<Self> {
        let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
        // The kernel is number 0; nobody else is heard.
        connect(socket.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
        Self::over(socket)
    }

    /// One over a socket that is connected.
    fn over(socket: OwnedFd) -> nix::Result<Self> {
        setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::milliseconds(PATIENCE))?;
        setsockopt(&socket, sockopt::SendTimeout, &TimeVal::milliseconds(PATIENCE))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Makes a request of the kernel, and waits for its acknowledgement.
    pub(super) fn request(&mut self, kind: u16, flags: u16, body: &[u8]) -> nix::Result<()> {
        for attempt in 1..=ATTEMPTS {
            let done = self.send(kind, NLM_F_ACK | flags, body).and_then(|()| self.acknowledgement());
            match done {
                Err(error) if is_lost(error) && attempt < ATTEMPTS => {}
                // It was done, and only the answer was lost.
                Err(Errno::EEXIST | Errno::ESRCH | Errno::ENOENT | Errno::EADDRNOTAVAIL) if attempt > 1 => {
                    return Ok(());
                }
                done => return done,
            }
        }
        Err(Errno::ETIMEDOUT)
    }

    /// Asks for one thing, and returns the body of the answer.
    pub(super) fn question(&mut self, kind: u16, body: &[u8]) -> nix::Result<Vec<u8>> {
        for _ in 0..ATTEMPTS {
            let mut answer = Vec::new();
            let done = self.send(kind, 0, body).and_then(|()| {
                self.listen(|(kind, _, body)| {
                    if kind != NLMSG_ERROR {
                        answer = body.to_vec();
                    }
                    Some(error_in(kind, body))
                })
            });
            match done {
                Err(error) if is_lost(error) => {}
                done => return done.map(|()| answer),
            }
        }
        Err(Errno::ETIMEDOUT)
    }

    /// Asks for all entries of a kind, and reads the body of each message of the type `answer`. A list that changed
    /// while it was written is requested again; the last attempt is taken as it is, as news of the change comes anyway.
    pub(super) fn dump<T>(
        &mut self,
        request: u16,
        answer: u16,
        body: &[u8],
        mut read: impl FnMut(&[u8]) -> Option<T>,
    ) -> nix::Result<Vec<T>> {
        let mut found = Vec::new();
        for attempt in 1..=ATTEMPTS {
            found.clear();
            let mut is_torn = false;
            let done = self.send(request, NLM_F_DUMP, body).and_then(|()| {
                self.listen(|(kind, flags, body)| {
                    is_torn |= flags & NLM_F_DUMP_INTR != 0;
                    match kind {
                        NLMSG_DONE => return Some(Ok(())),
                        NLMSG_ERROR => return Some(error_in(kind, body)),
                        _ if kind == answer => found.extend(read(body)),
                        _ => {}
                    }
                    None
                })
            });
            match done {
                Err(error) if is_lost(error) && attempt < ATTEMPTS => {}
                Ok(()) if is_torn && attempt < ATTEMPTS => {}
                done => return done.map(|()| found),
            }
        }
        Err(Errno::ETIMEDOUT)
    }

    /// Makes a request that is only heard between two messages, and waits for its acknowledgement.
    pub(super) fn request_between(&mut self, around: &[(u16, Vec<u8>); 2], kind: u16, body: &[u8]) -> nix::Result<()> {
        let [(begin, before), (end, after)] = around;
        let mut all = self.message(*begin, 0, before);
        all.extend(self.message(*end, 0, after));
        let ends_at = HEADER + before.len();
        // Last, so that its number is the one that is listened for.
        let request = self.message(kind, NLM_F_ACK, body);
        all.splice(ends_at..ends_at, request);
        send(self.socket.as_raw_fd(), &all, MsgFlags::empty())?;
        self.acknowledgement()
    }

    fn send(&mut self, kind: u16, flags: u16, body: &[u8]) -> nix::Result<()> {
        let message = self.message(kind, flags, body);
        send(self.socket.as_raw_fd(), &message, MsgFlags::empty()).map(|_| ())
    }

    /// The bytes of the next message.
    fn message(&mut self, kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut message = Vec::with_capacity(HEADER + body.len());
        message.extend(((HEADER + body.len()) as u32).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend((NLM_F_REQUEST | flags).to_ne_bytes());
        message.extend(self.sequence.to_ne_bytes());
        message.extend(0u32.to_ne_bytes());
        message.extend(body);
        message
    }

    /// The kernel answers each request with an error message whose error is zero where there is none.
    fn acknowledgement(&mut self) -> nix::Result<()> {
        self.listen(|(kind, _, body)| (kind == NLMSG_ERROR).then(|| error_in(kind, body)))
    }

    /// Gives `hear` the messages that answer the last question, until it needs no more.
    fn listen(&mut self, mut hear: impl FnMut(Message<'_>) -> Option<nix::Result<()>>) -> nix::Result<()> {
        let mut room = vec![0; ROOM];
        loop {
            let length = match recv(self.socket.as_raw_fd(), &mut room, MsgFlags::empty()) {
                Ok(0) => return Err(Errno::ECONNRESET),
                Ok(length) => length,
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error),
            };
            for (kind, flags, sequence, body) in messages(&room[..length]) {
                // The answer to a question that was given up comes late.
                if sequence == self.sequence
                    && let Some(done) = hear((kind, flags, body))
                {
                    return done;
                }
            }
        }
    }
}

/// Whether this error means that an answer did not come, that it did not fit, or that the rest of an abandoned one is
/// still being written.
fn is_lost(error: Errno) -> bool {
    matches!(error, Errno::EAGAIN | Errno::ENOBUFS | Errno::EBUSY)
}

/// The error in a message that tells one.
fn error_in(kind: u16, body: &[u8]) -> nix::Result<()> {
    match word(body, 0).map(u32::cast_signed) {
        _ if kind != NLMSG_ERROR => Ok(()),
        Some(0) => Ok(()),
        Some(code) => Err(Errno::from_raw(code.wrapping_neg())),
        None => Err(Errno::EIO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::thread::{Builder, JoinHandle};

    /// A message: type, flags, number of the question, body.
    fn message(kind: u16, flags: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = (16 + body.len() as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(sequence.to_ne_bytes());
        bytes.extend(0u32.to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    /// A kernel that answers the n-th question by what `answer` makes of its number.
    fn kernel(count: usize, answer: impl Fn(usize, u32) -> Vec<u8> + Send + 'static) -> (Netlink, JoinHandle<()>) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let life = move || {
            for number in 0..count {
                let mut question = [0; 20];
                theirs.read_exact(&mut question).unwrap();
                let sequence = u32::from_ne_bytes(question[8..12].try_into().unwrap());
                theirs.write_all(&answer(number, sequence)).unwrap();
            }
        };
        (Netlink::over(ours.into()).unwrap(), Builder::new().spawn(life).unwrap())
    }

    #[test]
    fn an_answer_that_is_lost_is_asked_for_again() {
        let (mut netlink, kernel) = kernel(2, |number, sequence| match number {
            // An answer to a question that nobody has asked, and none to the one that was.
            0 => message(NLMSG_ERROR, 0, sequence + 7, &0u32.to_ne_bytes()),
            _ => message(NLMSG_ERROR, 0, sequence, &0u32.to_ne_bytes()),
        });
        assert_eq!(netlink.request(16, 0, &[0; 4]), Ok(()));
        kernel.join().unwrap();
    }

    #[test]
    fn what_was_done_although_its_answer_was_lost_is_no_error() {
        let exists = (-libc::EEXIST).to_ne_bytes();
        let (mut netlink, first) = kernel(1, move |_, sequence| message(NLMSG_ERROR, 0, sequence, &exists));
        assert_eq!(netlink.request(24, 0, &[0; 4]), Err(Errno::EEXIST));
        first.join().unwrap();
        let (mut netlink, second) = kernel(2, move |number, sequence| match number {
            0 => Vec::new(),
            _ => message(NLMSG_ERROR, 0, sequence, &exists),
        });
        assert_eq!(netlink.request(24, 0, &[0; 4]), Ok(()));
        second.join().unwrap();
    }

    #[test]
    fn a_kernel_that_never_answers_is_given_up() {
        let (mut netlink, kernel) = kernel(ATTEMPTS, |_, _| Vec::new());
        assert!(netlink.dump(18, 16, &[0; 4], |_| Some(())).is_err());
        kernel.join().unwrap();
    }

    #[test]
    fn a_list_that_changed_meanwhile_is_read_again() {
        let (mut netlink, kernel) = kernel(2, |number, sequence| {
            let flags = if number == 0 { NLM_F_DUMP_INTR } else { 0 };
            let entry = |value: u32| message(16, 2, sequence, &value.to_ne_bytes());
            let entries = if number == 0 { vec![entry(1)] } else { vec![entry(2), entry(3)] };
            [entries.concat(), message(NLMSG_DONE, flags, sequence, &[0; 4])].concat()
        });
        assert_eq!(netlink.dump(18, 16, &[0; 4], |body| word(body, 0)), Ok(vec![2, 3]));
        kernel.join().unwrap();
    }
}
