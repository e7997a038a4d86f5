//! Jumps of this host's time: it has slept, or was stopped, copied or restored as a virtual machine.
//!
//! Three clocks are compared. One that counts sleep (`CLOCK_BOOTTIME`) runs ahead of one that does not
//! (`CLOCK_MONOTONIC`) by how long the host has slept. The time of day is set right after a machine was put back to
//! what it was an hour ago: it jumps against both. A kernel with the driver `vmgenid` says at once that its machine is
//! a copy (`NEW_VMGENID=1`, Linux 6.10).
//!
//! A copy that runs at the same time, under a hypervisor that tells its guests nothing, cannot be noticed from in here.

use super::Daemon;
use airbraid_engine::converge::session::Input;
use airbraid_units::Duration;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recvfrom, socket};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Shortest sleep that counts: clocks are not read at one instant \[ns\].
const SLEEP: u64 = 1_000_000_000;
/// Largest difference of the time of day that is no jump: leap seconds and steps of time daemons stay below \[ns\].
const JUMP: u64 = 2_000_000_000;
/// The group of the kernel's own messages (`udev(7)` sends to another).
const KERNEL: u32 = 1;
/// The longest message: the kernel's buffer for them is 2 KiB.
const MESSAGE: usize = 4_096;

/// The readings of three clocks \[ns\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    pub monotonic: u64,
    /// `CLOCK_BOOTTIME`.
    pub boot: u64,
    /// `CLOCK_REALTIME`.
    pub day: u64,
}

impl Clocks {
    pub fn now() -> Self {
        let read = |clock| clock_gettime(clock).map_or(0, |time| time.num_nanoseconds().unsigned_abs());
        Self {
            monotonic: read(ClockId::CLOCK_MONOTONIC),
            boot: read(ClockId::CLOCK_BOOTTIME),
            day: read(ClockId::CLOCK_REALTIME),
        }
    }
}

/// A jump of the host's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    /// It has slept for this time.
    Slept(Duration),
    /// The time of day is another: the machine may have been restored, or copied.
    Displaced,
}

/// Compares the progress of clocks.
#[derive(Debug)]
pub struct Jumps(Clocks);

impl Jumps {
    /// Begins with these readings.
    pub fn since(clocks: Clocks) -> Self {
        Self(clocks)
    }

    /// Returns the jump since the last call. Slow drift is none: the calls are at most some seconds apart.
    pub fn look(&mut self, now: Clocks) -> Option<Jump> {
        let before = std::mem::replace(&mut self.0, now);
        let awake = now.monotonic.saturating_sub(before.monotonic);
        let passed = now.boot.saturating_sub(before.boot);
        if now.day.abs_diff(before.day.saturating_add(passed)) > JUMP {
            return Some(Jump::Displaced);
        }
        let slept = passed.saturating_sub(awake);
        (slept > SLEEP).then(|| Jump::Slept(Duration::from_nanos(slept)))
    }
}

/// Receives the kernel's report that its machine is a copy.
#[derive(Debug)]
pub struct Copies(Option<OwnedFd>);

impl Copies {
    /// Opens it; where the kernel sends no reports, nothing is received.
    pub fn open() -> Self {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let kind = (SockType::Datagram, SockProtocol::NetlinkKObjectUEvent);
        let heard = socket(AddressFamily::Netlink, kind.0, flags, kind.1)
            .and_then(|fd| bind(fd.as_raw_fd(), &NetlinkAddr::new(0, KERNEL)).map(|()| fd));
        if let Err(error) = &heard {
            tracing::info!(%error, "the kernel's messages cannot be heard: that this machine is a copy shows by its clock only");
        }
        Self(heard.ok())
    }

    /// The descriptor to poll.
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.0.as_ref().map(AsFd::as_fd)
    }

    /// Whether a copy was reported.
    pub fn were_made(&mut self) -> bool {
        let mut is_said = false;
        let were_lost = self.hear(|message| is_said |= says_copy(message));
        // It may have been among them.
        is_said || were_lost
    }

    /// Gives the kernel's messages to `each`; returns whether some were lost.
    fn hear(&mut self, mut each: impl FnMut(&[u8])) -> bool {
        let Some(fd) = &self.0 else { return false };
        let (mut room, mut were_lost) = ([0; MESSAGE], false);
        loop {
            match recvfrom::<NetlinkAddr>(fd.as_raw_fd(), &mut room) {
                // Anybody may send to a socket of this family; the kernel has no port.
                Ok((length, from)) if from.is_some_and(|from| from.pid() == 0) => each(&room[..length]),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(Errno::ENOBUFS) => were_lost = true,
                Err(_) => return were_lost,
            }
        }
    }
}

/// Whether a message is that of the kernel's driver for generations of virtual machines.
fn says_copy(message: &[u8]) -> bool {
    message.split(|byte| *byte == 0).any(|word| word == b"NEW_VMGENID=1")
}

impl Daemon {
    pub(super) fn look_for_jumps(&mut self) {
        match self.jumps.look(Clocks::now()) {
            Some(Jump::Slept(span)) => {
                tracing::info!(seconds = span.as_secs_f64(), "this host has slept: new keys are made");
                self.ring.age(span);
                self.drive_sessions(Some(Input::StoodStill(span)));
            }
            Some(Jump::Displaced) => self.renew_keys("the time of day has jumped"),
            None => {}
        }
    }

    /// Forgets every key, and has new ones made: another host may seal with the same.
    pub(super) fn renew_keys(&mut self, why: &str) {
        tracing::warn!("{why}: this host may be a copy, all sessions get new keys");
        self.ring.forget_all();
        self.drive_sessions(Some(Input::Renew));
        // What was made before that is installed no more.
        self.settle_sessions();
    }
}

#[cfg(test)]
#[path = "../../../../../tests/src/skip.rs"]
mod skip;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn clocks(monotonic: u64, boot: u64, day: u64) -> Clocks {
        Clocks { monotonic: monotonic * SECOND, boot: boot * SECOND, day: day * SECOND }
    }

    #[test]
    fn sleep_is_noticed_and_so_is_another_time_of_day() {
        let mut jumps = Jumps::since(clocks(10, 10, 1_000));
        assert_eq!(jumps.look(clocks(15, 15, 1_005)), None);
        assert_eq!(jumps.look(clocks(16, 3_616, 4_606)), Some(Jump::Slept(Duration::from_secs(3_600))));
        assert_eq!(jumps.look(clocks(17, 3_617, 4_607)), None, "once");
        assert_eq!(jumps.look(clocks(18, 3_618, 9_000)), Some(Jump::Displaced), "set right after it was put back");
        assert_eq!(jumps.look(clocks(19, 3_619, 8_000)), Some(Jump::Displaced));
        assert_eq!(jumps.look(clocks(20, 3_620, 8_000)), None, "a leap second");
    }

    #[test]
    fn a_clock_that_is_slewed_has_not_jumped() {
        let mut jumps = Jumps::since(clocks(0, 0, 1_000));
        for step in 1..100 {
            // 500 ppm, looked at every five seconds.
            let now = Clocks { day: (1_000 + step * 5) * SECOND + step * 2_500_000, ..clocks(step * 5, step * 5, 0) };
            assert_eq!(jumps.look(now), None);
        }
    }

    #[test]
    fn the_clocks_of_a_host_that_works_go_alike() {
        let mut jumps = Jumps::since(Clocks::now());
        for _ in 0..10_000 {
            assert_eq!(jumps.look(Clocks::now()), None);
        }
    }

    #[test]
    fn the_kernels_word_for_a_copy_is_known() {
        let message =
            b"change@/devices/platform/QEMUVGID:00\0ACTION=change\0SUBSYSTEM=platform\0NEW_VMGENID=1\0SEQNUM=900\0";
        assert!(says_copy(message));
        for other in [&b"add@/devices/x\0ACTION=add\0"[..], b"", b"SYNTH_ARG_NEW_VMGENID=1\0", b"NEW_VMGENID=10\0"] {
            assert!(!says_copy(other));
        }
    }

    #[test]
    fn the_kernel_is_heard() {
        let mut copies = Copies::open();
        // It says something of a device when root asks for it; what others do may be heard, too.
        if std::fs::write("/sys/class/mem/null/uevent", "change").is_err() {
            skip::skip("the_kernel_is_heard", "it needs root");
            return;
        }
        let mut heard = Vec::new();
        copies.hear(|message| heard.extend_from_slice(message));
        let heard = String::from_utf8_lossy(&heard);
        assert!(heard.contains("null") && heard.contains("ACTION=change"), "{heard:?}");
    }
}
