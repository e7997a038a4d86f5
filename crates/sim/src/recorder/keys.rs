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

/// Something of each radio's last transmissions.
#[derive(Debug)]
pub struct FlightMap<T> {
    by_radio: Vec<Flight<T>>,
}

#[derive(Debug)]
struct Flight<T> {
    sent: [(Instant, T); IN_FLIGHT],
    /// The place of the last one; before it is the one before it, all round.
    last: usize,
}

impl<T: Default> FlightMap<T> {
    pub fn new(radios: usize) -> Self {
        let nothing = || Flight { sent: std::array::from_fn(|_| (Instant::MAX, T::default())), last: 0 };
        Self { by_radio: std::iter::repeat_with(nothing).take(radios).collect() }
    }

    /// A radio is committed to a transmission from `start` on: gives the place of what belongs to it, where that of the
    /// oldest is still.
    pub fn begin(&mut self, radio: RadioId, start: Instant) -> &mut T {
        let flight = &mut self.by_radio[radio.index()];
        flight.last = (flight.last + 1) % IN_FLIGHT;
        let (at, of) = &mut flight.sent[flight.last];
        *at = start;
        of
    }

    /// That of the transmission of a radio that begins at `start` at a hearer.
    #[inline]
    pub fn find(&self, radio: RadioId, start: Instant) -> Option<&T> {
        let Flight { sent, last } = &self.by_radio[radio.index()];
        let newest_first = (0..IN_FLIGHT).map(|age| &sent[(last + IN_FLIGHT - age) % IN_FLIGHT]);
        newest_first.into_iter().find(|(at, _)| *at <= start).map(|(_, of)| of)
    }
}
