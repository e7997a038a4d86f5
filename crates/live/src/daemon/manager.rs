//! Reports the daemon's state to a service manager (`sd_notify(3)`, `sd_watchdog_enabled(3)`), if there is one.

use airbraid_units::{Duration, Instant};
use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

#[derive(Debug, Default)]
pub struct Manager {
    /// The socket to it, if there is one.
    socket: Option<(UnixDatagram, SocketAddr)>,
    every: Option<Duration>,
    next: Instant,
}

impl Manager {
    /// The one that has started this process.
    pub fn of_environment() -> Self {
        let path = std::env::var_os("NOTIFY_SOCKET").filter(|path| !path.is_empty());
        let socket = path.and_then(|path| Some((UnixDatagram::unbound().ok()?, address(&path).ok()?)));
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        let is_meant = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        // Twice as often as it must, as the manual says.
        let every = number("WATCHDOG_USEC").filter(|_| is_meant && socket.is_some());
        Self { socket, every: every.map(|us| Duration::from_micros(us / 2)), next: Instant::ZERO }
    }

    /// Sends a state.
    pub fn tell(&self, state: &str) {
        // That nobody listens is no reason to stop.
        let _ = self.socket.as_ref().map(|(socket, to)| socket.send_to_addr(state.as_bytes(), to));
    }

    /// The loop has turned: reports it, if it is time. Returns the time by which it must turn again.
    pub fn beat(&mut self, now: Instant) -> Option<Instant> {
        let every = self.every?;
        if self.next <= now {
            self.tell("WATCHDOG=1");
            self.next = now + every;
        }
        Some(self.next)
    }
}

/// A path, or a name without a file, which begins with `@`.
fn address(path: &OsStr) -> io::Result<SocketAddr> {
    match path.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_hears_as_often_as_it_wants_to_and_no_more() {
        let at = SocketAddr::from_abstract_name(format!("airbraid-manager-{}", std::process::id())).unwrap();
        let hears = UnixDatagram::bind_addr(&at).unwrap();
        hears.set_nonblocking(true).unwrap();
        let heard = || {
            let mut room = [0; 64];
            hears.recv(&mut room).ok().map(|length| String::from_utf8_lossy(&room[..length]).into_owned())
        };
        let socket = Some((UnixDatagram::unbound().unwrap(), at));
        let mut manager = Manager { socket, every: Some(Duration::from_secs(15)), next: Instant::ZERO };
        let second = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        assert_eq!(manager.beat(second(1)), Some(second(16)));
        assert_eq!(manager.beat(second(15)), Some(second(16)));
        assert_eq!(heard().as_deref(), Some("WATCHDOG=1"));
        assert_eq!(heard(), None);
        assert_eq!(manager.beat(second(20)), Some(second(35)));
        assert_eq!(heard().as_deref(), Some("WATCHDOG=1"));
        assert_eq!(Manager::default().beat(second(1)), None);
    }
}
