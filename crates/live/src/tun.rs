//! A TUN device: IP packets that a namespace's kernel sends and receives. One packet a call, never blocking.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

mod call {
    nix::ioctl_write_int!(
        /// `TUNSETIFF`.
        tun_set_interface,
        b'T',
        202
    );
}

/// `IFF_TUN`: IP packets without a link layer's header; `IFF_NO_PI`: nothing before them.
const FLAGS: i16 = 0x0001 | 0x1000;
/// Length of an interface's name with its final zero \[byte\].
const NAME: usize = 16;

/// Where the kernel gives out TUN devices.
pub const DEVICE: &str = "/dev/net/tun";

/// `struct ifreq`, as far as TUN reads it.
#[repr(C)]
struct Request {
    name: [u8; NAME],
    flags: i16,
    rest: [u8; 22],
}

/// A TUN device; it is gone when this is dropped.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Makes a device of this name in the network namespace of the thread that calls.
    ///
    /// # Errors
    /// What the kernel says: no such device file, no permission, the name is taken.
    pub fn create(name: &str) -> io::Result<Self> {
        let file = File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(DEVICE)?;
        let mut request = Request { name: [0; NAME], flags: FLAGS, rest: [0; 22] };
        for (place, byte) in request.name.iter_mut().take(NAME - 1).zip(name.bytes()) {
            *place = byte;
        }
        #[expect(unsafe_code, reason = "there is no safe call for TUNSETIFF")]
        // SAFETY: the descriptor is open, and `request` has the layout and size (40 byte) of `struct ifreq`.
        unsafe { call::tun_set_interface(file.as_raw_fd(), (&raw mut request) as libc::c_ulong) }?;
        Ok(Self { file })
    }

    /// The next packet that the kernel sends; `None` if there is none now.
    ///
    /// # Errors
    /// What the kernel says: the device is gone.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gives the kernel a packet.
    ///
    /// # Errors
    /// What the kernel says: no memory, the interface is down.
    pub fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.file.write(packet).map(|_| ())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
