//! The best that this machine gives a tunnel: a TUN device with its header, AES-256-GCM, UDP cut by the kernel, and
//! back. No session, no order, no feedback, no second link: `benches/datapath.py` measures the daemon beside it, and
//! the difference is the daemon's.
//!
//! `datapath-probe NAME OWN:PORT OTHER:PORT` makes the interface NAME and works until it is killed. Its key is known to
//! everybody: it carries nothing that matters.

use airbraid_live::daemon::offload::{Cut, finish};
use airbraid_live::tun::Tun;
use airbraid_live::vnet::{Gso, VNET_LEN, VnetHeader};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    ControlMessage, MsgFlags, MultiHeaders, SetSockOpt, SockaddrStorage, recvmmsg, sendmsg, setsockopt, sockopt,
};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};

/// A frame's number \[byte\].
const HEAD: usize = 8;
/// Datagrams of a call, and the length of each buffer, a cache line beside a power of two \[byte\].
const BATCH: usize = 32;
const ROOM: usize = 2_048 + 64;
/// The longest read \[byte\], and the largest number of datagrams that the kernel cuts it into.
const READ_MAX: usize = 65_536;
const RUN_SEGMENTS: usize = 64;
const RUN_BYTES: usize = 65_535 - 48;
/// IPv4 and TCP without options \[byte\].
const IP: usize = 20;
const TCP: usize = 20;
/// Socket buffers in the kernel \[byte\].
const BUFFER: usize = 4 << 20;

/// The sum that a kernel completes: addresses, protocol and length of an IPv4 packet's TCP.
fn pseudo(packet: &[u8], length: usize) -> u16 {
    let words = packet[12..20].chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let total = words.sum::<u32>() + 6 + length as u32;
    let total = (total & 0xffff) + (total >> 16);
    ((total & 0xffff) + (total >> 16)) as u16
}

/// The sequence number and the length of all headers, of a segment of IPv4 that others may follow.
fn segment(packet: &[u8]) -> Option<(u32, usize)> {
    let is_tcp = packet.len() > IP + TCP && packet[0] == 0x45 && packet[9] == 6 && packet[IP + 13] & !8 == 0x10;
    let headers = IP + usize::from(packet.get(IP + 12)? >> 4) * 4;
    let number = packet.get(IP + 4..IP + 8)?.try_into().ok().map(u32::from_be_bytes)?;
    (is_tcp && headers < packet.len()).then_some((number, headers))
}

struct Probe {
    tun: Tun,
    socket: UdpSocket,
    key: LessSafeKey,
    /// Both ends use one key: theirs differ by it.
    side: u8,
    other: SockaddrStorage,
    number: u64,
    read: Vec<u8>,
    batch: Vec<u8>,
    room: Vec<u8>,
    headers: MultiHeaders<SockaddrStorage>,
}

fn nonce(side: u8, number: [u8; HEAD]) -> Nonce {
    let mut nonce = [0; 12];
    nonce[0] = side;
    nonce[4..].copy_from_slice(&number);
    Nonce::assume_unique_for_key(nonce)
}

impl Probe {
    fn new(name: &str, own: SocketAddr, other: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(own)?;
        socket.set_nonblocking(true)?;
        sockopt::RcvBufForce.set(&socket, &BUFFER)?;
        setsockopt(&socket, sockopt::SndBufForce, &BUFFER)?;
        let Ok(key) = UnboundKey::new(&AES_256_GCM, &[7; 32]) else { return Err(io::ErrorKind::Unsupported.into()) };
        Ok(Self {
            tun: Tun::create_offloaded(name)?,
            socket,
            key: LessSafeKey::new(key),
            side: u8::from(own < other),
            other: other.into(),
            number: 0,
            read: vec![0; READ_MAX],
            batch: Vec::new(),
            room: vec![0; BATCH * ROOM],
            headers: MultiHeaders::preallocate(BATCH, None),
        })
    }

    /// Reads packets of programs, a run at most, seals and sends them; returns whether there was anything.
    fn send(&mut self) -> io::Result<bool> {
        let Some((header, length)) = self.tun.receive_run(&mut self.read)? else { return Ok(false) };
        let Ok(cut) = finish(&header, &mut self.read[..length]) else { return Ok(true) };
        self.batch.clear();
        let count = cut.as_ref().map_or(1, Cut::count);
        let mut longest = 0;
        for index in 0..count {
            let start = self.batch.len();
            let number = self.number.to_be_bytes();
            self.number += 1;
            self.batch.extend(number);
            match &cut {
                Some(cut) => cut.write(&self.read[..length], index, &mut self.batch),
                None => self.batch.extend(&self.read[..length]),
            }
            let plain = &mut self.batch[start + HEAD..];
            let sealed = self.key.seal_in_place_separate_tag(nonce(self.side, number), Aad::empty(), plain);
            self.batch.extend(sealed.map_err(|_| io::ErrorKind::InvalidData)?.as_ref());
            longest = longest.max(self.batch.len() - start);
        }
        // All but the last are of one length.
        let at_once = (RUN_BYTES / longest).clamp(1, RUN_SEGMENTS) * longest;
        for run in self.batch.chunks(at_once) {
            let length = longest as u16;
            let said = [ControlMessage::UdpGsoSegments(&length)];
            let said = if run.len() > longest { &said[..] } else { &[] };
            match sendmsg(
                self.socket.as_raw_fd(),
                &[IoSlice::new(run)],
                said,
                MsgFlags::MSG_DONTWAIT,
                Some(&self.other),
            ) {
                Ok(_) | Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::ECONNREFUSED) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Takes a call's worth of datagrams, opens them and writes them, segments of one flow joined; returns whether
    /// there may be more.
    fn receive(&mut self) -> io::Result<bool> {
        let mut slices: Vec<_> =
            self.room.chunks_exact_mut(ROOM).map(|room| [IoSliceMut::new(&mut room[..])]).collect();
        let (fd, flags) = (self.socket.as_raw_fd(), MsgFlags::MSG_DONTWAIT);
        let lengths: Vec<usize> = match recvmmsg(fd, &mut self.headers, slices.iter_mut(), flags, None) {
            Ok(messages) => messages.map(|message| message.bytes).collect(),
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNREFUSED) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let mut packets: Vec<&[u8]> = Vec::with_capacity(BATCH);
        for (room, length) in self.room.chunks_exact_mut(ROOM).zip(&lengths) {
            let Some((number, sealed)) = room[..*length].split_first_chunk_mut::<HEAD>() else { continue };
            if let Ok(plain) = self.key.open_in_place(nonce(1 - self.side, *number), Aad::empty(), sealed) {
                packets.push(plain);
            }
        }
        let mut rest = &packets[..];
        while !rest.is_empty() {
            let count = joined(rest);
            write(&mut self.tun, &rest[..count]);
            rest = &rest[count..];
        }
        Ok(lengths.len() == BATCH)
    }
}

/// Number of packets at the front that follow each other in one flow.
fn joined(packets: &[&[u8]]) -> usize {
    let first = packets[0];
    let Some((number, headers)) = segment(first) else { return 1 };
    let (carried, mut next, mut count) = (first.len() - headers, number, 1);
    next = next.wrapping_add(carried as u32);
    while let Some(packet) = packets.get(count) {
        let is_next = segment(packet) == Some((next, headers)) && packet[12..IP + 4] == first[12..IP + 4];
        if !is_next || packet.len() > first.len() || (count + 1) * carried + headers > RUN_BYTES {
            break;
        }
        count += 1;
        next = next.wrapping_add(carried as u32);
        if packet.len() < first.len() {
            break;
        }
    }
    count
}

/// Gives the interface packets as one; refused ones are lost.
fn write(tun: &mut Tun, packets: &[&[u8]]) {
    let first = packets[0];
    let Some((_, headers)) = segment(first).filter(|_| packets.len() > 1) else {
        let header = VnetHeader::default().emit();
        let _ = tun.send_run(&[IoSlice::new(&header), IoSlice::new(first)]);
        return;
    };
    let header = VnetHeader {
        needs_checksum: true,
        gso: Gso::Tcp4,
        header_len: headers as u16,
        segment_len: (first.len() - headers) as u16,
        checksum_start: IP as u16,
        checksum_offset: 16,
        ..VnetHeader::default()
    };
    let mut head = header.emit().to_vec();
    head.extend(&first[..headers]);
    let length = headers + packets.iter().map(|packet| packet.len() - headers).sum::<usize>();
    let packet = &mut head[VNET_LEN..];
    let old = u16::from_be_bytes([packet[2], packet[3]]);
    packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    // RFC 1624, equation 3.
    let sum = u32::from(!u16::from_be_bytes([packet[10], packet[11]])) + u32::from(!old) + length as u32;
    let sum = (sum & 0xffff) + (sum >> 16);
    packet[10..12].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
    let sum = pseudo(packet, length - IP);
    packet[IP + 16..IP + 18].copy_from_slice(&sum.to_be_bytes());
    let mut slices = Vec::with_capacity(1 + packets.len());
    slices.push(IoSlice::new(&head));
    slices.extend(packets.iter().map(|packet| IoSlice::new(&packet[headers..])));
    let _ = tun.send_run(&slices);
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let [_, name, own, other] = &words[..] else {
        eprintln!("usage: datapath-probe NAME OWN:PORT OTHER:PORT");
        std::process::exit(2);
    };
    let address = |text: &String| text.parse().map_err(|_| io::Error::other(format!("no address: {text}")));
    let mut probe = Probe::new(name, address(own)?, address(other)?)?;
    loop {
        let mut polled =
            [PollFd::new(probe.socket.as_fd(), PollFlags::POLLIN), PollFd::new(probe.tun.as_fd(), PollFlags::POLLIN)];
        poll(&mut polled, PollTimeout::NONE)?;
        let [socket, interface] = polled.map(|fd| fd.any().unwrap_or(true));
        if socket {
            while probe.receive()? {}
        }
        if interface || socket {
            let mut left = 8;
            while left > 0 && probe.send()? {
                left -= 1;
            }
        }
    }
}
