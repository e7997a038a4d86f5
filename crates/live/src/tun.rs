//! A TUN device: IP packets that a namespace's kernel sends and receives, never blocking. One packet a call or, where
//! the kernel can, a run of segments with a header that says how to cut it.

use crate::vnet::{VNET_LEN, VnetHeader};
use nix::errno::Errno;
use nix::sys::uio::{readv, writev};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

mod call {
    nix::ioctl_write_int!(
        /// `TUNSETIFF`.
        tun_set_interface,
        b'T',
        202
    );
    nix::ioctl_write_int!(
        /// `TUNSETOFFLOAD`.
        tun_set_offload,
        b'T',
        208
    );
}

/// `IFF_TUN`: IP packets without a link layer's header; `IFF_NO_PI`: nothing before them.
const FLAGS: i16 = 0x0001 | 0x1000;
/// `IFF_VNET_HDR`: but a header of [`crate::vnet`].
const VNET_HEADER: i16 = 0x4000;
/// `TUN_F_CSUM`, `TUN_F_TSO4`, `TUN_F_TSO6`, `TUN_F_TSO_ECN`: checksums may be left to be completed, segments of TCP to
/// be cut.
const TCP_RUNS: libc::c_ulong = 0x01 | 0x02 | 0x04 | 0x08;
/// `TUN_F_USO4`, `TUN_F_USO6`: UDP datagrams, too (Linux 6.2).
const UDP_RUNS: libc::c_ulong = 0x20 | 0x40;
/// Length of an interface's name with its final zero \[byte\].
const NAME: usize = 16;

/// The device file of TUN.
pub const DEVICE: &str = "/dev/net/tun";

/// `struct ifreq`, as far as TUN reads it.
#[repr(C)]
struct Request {
    name: [u8; NAME],
    flags: i16,
    rest: [u8; 22],
}

/// The offloads of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offloads {
    /// Whether packets come and go with a header.
    pub has_header: bool,
    /// Whether segments of TCP come as runs.
    pub tcp_runs: bool,
    /// Whether UDP datagrams come as runs.
    pub udp_runs: bool,
}

/// A TUN device; it is gone when this is dropped.
#[derive(Debug)]
pub struct Tun {
    file: File,
    offloads: Offloads,
}

impl Tun {
    /// Makes a device of this name in the network namespace of the thread that calls: packets one by one.
    ///
    /// # Errors
    /// The kernel's error: no such device file, no permission, the name is taken.
    pub fn create(name: &str) -> io::Result<Self> {
        Self::with_flags(name, FLAGS)
    }

    /// The same with as many offloads as the kernel has.
    ///
    /// # Errors
    /// The kernel's error, as above; not that it has no offloads.
    pub fn create_offloaded(name: &str) -> io::Result<Self> {
        let mut tun = match Self::with_flags(name, FLAGS | VNET_HEADER) {
            // It knows no such flag.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return Self::create(name),
            made => made?,
        };
        let udp_runs = tun.offer(TCP_RUNS | UDP_RUNS);
        let tcp_runs = udp_runs || tun.offer(TCP_RUNS);
        tun.offloads = Offloads { has_header: true, tcp_runs, udp_runs };
        Ok(tun)
    }

    fn with_flags(name: &str, flags: i16) -> io::Result<Self> {
        let file = File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(DEVICE)?;
        let mut request = Request { name: [0; NAME], flags, rest: [0; 22] };
        for (place, byte) in request.name.iter_mut().take(NAME - 1).zip(name.bytes()) {
            *place = byte;
        }
        #[expect(unsafe_code, reason = "there is no safe call for TUNSETIFF")]
        // SAFETY: the descriptor is open, and `request` has the layout and size (40 byte) of `struct ifreq`.
        unsafe { call::tun_set_interface(file.as_raw_fd(), (&raw mut request) as libc::c_ulong) }?;
        Ok(Self { file, offloads: Offloads::default() })
    }

    /// Offers the kernel some offloads; returns whether it knows all of them.
    fn offer(&self, what: libc::c_ulong) -> bool {
        #[expect(unsafe_code, reason = "there is no safe call for TUNSETOFFLOAD")]
        // SAFETY: the descriptor is open, and the argument is a number.
        let done = unsafe { call::tun_set_offload(self.file.as_raw_fd(), what) };
        done.is_ok()
    }

    pub const fn offloads(&self) -> Offloads {
        self.offloads
    }

    /// The next packet of the kernel; `None` if there is none now. For a device without a header.
    ///
    /// # Errors
    /// The kernel's error: the device is gone.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The next packet or run with its header; `None` if there is none now.
    ///
    /// # Errors
    /// The kernel's error: the device is gone.
    pub fn receive_run(&mut self, buffer: &mut [u8]) -> io::Result<Option<(VnetHeader, usize)>> {
        if !self.offloads.has_header {
            return Ok(self.receive(buffer)?.map(|length| (VnetHeader::default(), length)));
        }
        let mut header = [0; VNET_LEN];
        let mut slices = [IoSliceMut::new(&mut header), IoSliceMut::new(buffer)];
        match readv(&self.file, &mut slices) {
            // What cannot be read is a packet of no length, which is nobody's.
            Ok(length) => Ok(Some(
                VnetHeader::parse(&header)
                    .map_or((VnetHeader::default(), 0), |said| (said, length.saturating_sub(VNET_LEN))),
            )),
            Err(Errno::EAGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the kernel a packet. For a device without a header.
    ///
    /// # Errors
    /// The kernel's error: no memory, the interface is down.
    pub fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.file.write(packet).map(|_| ())
    }

    /// Gives the kernel a packet or run in pieces, of which the first begins with its [`VnetHeader`]: that is left out
    /// where the device has none.
    ///
    /// # Errors
    /// The kernel's error: no memory, the interface is down.
    pub fn send_run(&mut self, slices: &[IoSlice<'_>]) -> io::Result<()> {
        if self.offloads.has_header {
            return Ok(writev(&self.file, slices).map(|_| ())?);
        }
        match slices {
            [_, packet] => self.send(packet),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
