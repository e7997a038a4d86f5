//! Empty datagrams: one to get the network's report, and one to open a translator.

use super::{Socket, prepare};
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, connect, send, sendmsg, setsockopt, sockopt};
use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

/// Number of hops of such a datagram: the first router is usually the translator, and sends it on; the second drops it.
const HOPS: libc::c_int = 2;
const FLAGS: MsgFlags = MsgFlags::MSG_DONTWAIT.union(MsgFlags::MSG_NOSIGNAL);

impl Socket {
    /// Opens this end's translator for a place, without reaching it: sends an empty datagram that is dropped on its
    /// way. A translator at the other end that got one before it knows us would answer it, and then keep the port that
    /// we go to for itself.
    pub fn open_translator(&self, to: SocketAddr) {
        let hops = if to.is_ipv4() { ControlMessage::Ipv4Ttl(&HOPS) } else { ControlMessage::Ipv6HopLimit(&HOPS) };
        let to = SockaddrStorage::from(to);
        // Without a route, say, nothing comes of the handshake that follows either.
        let _ = sendmsg(self.end.fd.as_raw_fd(), &[IoSlice::new(&[])], &[hops], FLAGS, Some(&to));
    }
}

/// Sends an empty datagram from a socket of its own; the network's report is that socket's error (`SO_ERROR`).
///
/// # Errors
/// The kernel's error: there is no route.
pub fn knock(binding: (Option<&str>, u32), to: SocketAddr) -> nix::Result<OwnedFd> {
    let fd = prepare(binding, to.is_ipv4())?;
    // All that comes, not only what ends a connection: that a network cannot be reached, say.
    if to.is_ipv4() {
        setsockopt(&fd, sockopt::Ipv4RecvErr, &true)?;
    } else {
        setsockopt(&fd, sockopt::Ipv6RecvErr, &true)?;
    }
    connect(fd.as_raw_fd(), &SockaddrStorage::from(to))?;
    send(fd.as_raw_fd(), &[], FLAGS)?;
    Ok(fd)
}
