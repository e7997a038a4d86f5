//! Identities of packets and transmissions, and kinds of frames, as recordings have them.

use crate::record::frames::{PacketKey, Role};
use crate::world::{Body, FrameEvent, RadioId, Record};
use airbraid_mac::FrameKind;
use airbraid_units::Instant;

/// The identity of a packet.
pub fn packet_key(packet: &Record) -> PacketKey {
    let (role, number) = match packet.body {
        Body::Data(segment) => (Role::Data, segment.seq),
        Body::Ack(segment) => (Role::Ack, segment.ack),
        Body::Datagram { number, .. } => (Role::Datagram, number),
        Body::External { handle, .. } => (Role::External, handle.index() as u64),
    };
    PacketKey { flow: packet.flow.index(), role, number, created: packet.created }
}

/// The kind of a frame as a number.
pub fn kind_number(event: &FrameEvent<'_>) -> u8 {
    match event.frame.kind {
        FrameKind::Data if event.frame.payload.is_some() || event.ppdu.is_some() => 0,
        FrameKind::Data => 1,
        FrameKind::Ack => 2,
        FrameKind::Rts => 3,
        FrameKind::Cts => 4,
        FrameKind::PollData => 5,
        FrameKind::DataAck { .. } => 6,
        FrameKind::Invite => 7,
        FrameKind::Join => 8,
        FrameKind::Crn => 9,
        FrameKind::BlockAck => 10,
        FrameKind::BlockAckRequest => 11,
        FrameKind::Beacon => 12,
        FrameKind::MuRts => 13,
        FrameKind::AddbaRequest => 14,
        FrameKind::AddbaResponse => 15,
    }
}

/// Number of kinds of frames.
pub const KINDS: usize = 16;

/// The name of that number.
pub const fn kind_name(number: u8) -> &'static str {
    const NAMES: [&str; KINDS] = [
        "DATA",
        "NULL",
        "ACK",
        "RTS",
        "CTS",
        "POLL",
        "ANSWER",
        "INVITE",
        "JOIN",
        "CRN",
        "BA",
        "BAR",
        "BEACON",
        "MU-RTS",
        "ADDBA-REQ",
        "ADDBA-RESP",
    ];
    NAMES[number as usize]
}

/// Transmissions that may still arrive somewhere. A radio commits to its next before its last has reached the farthest
/// hearer, but not to the one after.
const IN_FLIGHT: usize = 4;

/// The number of each radio's last transmissions.
#[derive(Debug)]
pub struct FlightMap {
    by_radio: Vec<[(Instant, u64); IN_FLIGHT]>,
}

impl FlightMap {
    pub fn new(radios: usize) -> Self {
        Self { by_radio: vec![[(Instant::MAX, 0); IN_FLIGHT]; radios] }
    }

    /// A radio is committed to a transmission from `start` on.
    pub fn begin(&mut self, radio: RadioId, start: Instant, number: u64) {
        let last = &mut self.by_radio[radio.index()];
        last.rotate_right(1);
        last[0] = (start, number);
    }

    /// The transmission of a radio that begins at `start` at a hearer.
    pub fn find(&self, radio: RadioId, start: Instant) -> Option<u64> {
        self.by_radio[radio.index()].iter().find(|(sent, _)| *sent <= start).map(|(_, number)| *number)
    }
}
