//! An empty datagram, and what the network says of it.

use super::prepare;
use nix::sys::socket::{MsgFlags, SockaddrStorage, connect, send, setsockopt, sockopt};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

/// Sends an empty datagram from a socket of its own; what the network says of it is that socket's error (`SO_ERROR`).
///
/// # Errors
/// What the kernel says: there is no route.
pub fn knock(binding: (Option<&str>, u32), to: SocketAddr) -> nix::Result<OwnedFd> {
    let fd = prepare(binding, to.is_ipv4())?;
    // All that comes, not only what ends a connection: that a network cannot be reached, say.
    if to.is_ipv4() {
        setsockopt(&fd, sockopt::Ipv4RecvErr, &true)?;
    } else {
        setsockopt(&fd, sockopt::Ipv6RecvErr, &true)?;
    }
    connect(fd.as_raw_fd(), &SockaddrStorage::from(to))?;
    send(fd.as_raw_fd(), &[], MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL)?;
    Ok(fd)
}
