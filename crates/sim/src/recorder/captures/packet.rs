//! Packets of the world as IP packets.

use super::Payloads;
use crate::record::ip::{CapturedPacket, CapturedTransport, INITIAL_TTL, IpHeader, append};
use crate::record::ip_address;
use crate::scenario::spec::{Spec, Transport};
use crate::world::{Body, Record};
use airbraid_net::tcp::Segment;
use arrayvec::ArrayVec;

/// TCP and UDP ports: a flow's receiver listens on the port of iperf 2, plus the flow's number; its sender takes the
/// first dynamic port (RFC 6335), plus the flow's number.
const LISTENING_PORT: u16 = 5001;
const DYNAMIC_PORT: u16 = 49_152;
/// A TCP segment's options, a SYN's with its padding \[byte\].
type Options = ArrayVec<u8, 60>;

/// The settings of a flow that its segments show.
#[derive(Clone, Copy, Debug)]
struct FlowFields {
    /// Maximum segment size \[byte\]; `None`: no TCP.
    mss: Option<u64>,
    /// The smallest shift with which the receive buffer can be offered.
    window_shift: u8,
}

/// Writes packets.
#[derive(Debug)]
pub struct PacketWriter<'a> {
    flows: Vec<FlowFields>,
    /// The bytes of packets from outside, by handle.
    payloads: Option<&'a Payloads>,
}

impl<'a> PacketWriter<'a> {
    pub fn new(spec: &Spec, payloads: Option<&'a Payloads>) -> Self {
        let fields = |transport: &Transport| {
            let Transport::Tcp(config) = transport else { return FlowFields { mss: None, window_shift: 0 } };
            let fits = |shift: &u8| config.receive_buffer.as_u64() >> shift <= u64::from(u16::MAX);
            let window_shift = if config.window_scaling { (0..14).find(fits).unwrap_or(14) } else { 0 };
            FlowFields { mss: Some(config.mss.as_u64()), window_shift }
        };
        Self { flows: spec.flows.iter().map(|flow| fields(&flow.transport)).collect(), payloads }
    }

    /// Appends a packet to `out`; returns the number of zeros that are its payload. Under AODV it has a `ttl`.
    pub fn append(&self, out: &mut Vec<u8>, packet: &Record, ttl: Option<u8>) -> usize {
        let flow = packet.flow.index() as u16;
        let (client, server) = (DYNAMIC_PORT.wrapping_add(flow), LISTENING_PORT.wrapping_add(flow));
        let options;
        let (source_port, destination_port, transport, payload) = match &packet.body {
            Body::Data(segment) => {
                options = self.options(packet, segment);
                (client, server, self.tcp(packet, segment, &options), segment.len)
            }
            Body::Ack(segment) => {
                options = self.options(packet, segment);
                (server, client, self.tcp(packet, segment, &options), segment.len)
            }
            Body::Datagram { payload, .. } => (client, server, CapturedTransport::Udp, *payload),
            Body::External { handle, .. } => {
                let payloads = self.payloads.map(|payloads| payloads.borrow());
                if let Some(bytes) = payloads.as_ref().and_then(|all| all.get(handle.index())) {
                    out.extend_from_slice(bytes);
                }
                return 0;
            }
        };
        // RFC 6864: an atomic datagram's identification means nothing.
        let ip = IpHeader {
            source: ip_address(packet.from.index() as u32),
            destination: ip_address(packet.to.index() as u32),
            ident: 0,
            ttl: ttl.unwrap_or(INITIAL_TTL.saturating_sub(packet.hops)),
        };
        append(out, &CapturedPacket { ip, source_port, destination_port, transport, payload })
    }

    fn fields(&self, packet: &Record) -> FlowFields {
        self.flows[packet.flow.index()]
    }

    fn tcp<'b>(&self, packet: &Record, segment: &Segment, options: &'b [u8]) -> CapturedTransport<'b> {
        let flags = segment.flags;
        let push = self.ends_a_write(packet, segment);
        let bits = u8::from(flags.fin) | u8::from(flags.syn) << 1 | u8::from(push) << 3 | u8::from(flags.ack) << 4;
        // The window of a SYN is never scaled (RFC 7323, 2.2).
        let shift = if flags.syn { 0 } else { self.fields(packet).window_shift };
        CapturedTransport::Tcp {
            seq: segment.seq as u32,
            ack: segment.ack as u32,
            flags: bits,
            window: u16::try_from(segment.window >> shift).unwrap_or(u16::MAX),
            options,
        }
    }

    /// Whether a segment is the last of what its application wrote, and has PSH (RFC 9293, 3.9.1.2): one with FIN, or
    /// one that is not full. A greedy source writes without end.
    fn ends_a_write(&self, packet: &Record, segment: &Segment) -> bool {
        let Some(mss) = self.fields(packet).mss else { return false };
        segment.len > 0 && (segment.flags.fin || !u64::from(segment.len).is_multiple_of(mss.max(1)))
    }

    fn options(&self, packet: &Record, segment: &Segment) -> Options {
        let mut bytes = ArrayVec::new();
        let mut put = |option: &[u8]| {
            // There is space for all that a segment may have.
            let _ = bytes.try_extend_from_slice(option);
        };
        if segment.flags.syn {
            let FlowFields { mss, window_shift } = self.fields(packet);
            if let Some(mss) = mss {
                let [high, low] = (mss as u16).to_be_bytes();
                put(&[2, 4, high, low]);
            }
            if segment.flags.window_scale {
                put(&[1, 3, 3, window_shift]);
            }
            if segment.flags.sack_permitted && segment.timestamp.is_none() {
                put(&[1, 1, 4, 2]);
            }
        }
        if let Some((value, echo)) = segment.timestamp {
            let with_sack = segment.flags.syn && segment.flags.sack_permitted;
            put(if with_sack { &[4, 2, 8, 10] } else { &[1, 1, 8, 10] });
            // The timestamp clock of most hosts ticks in milliseconds.
            for at in [value, echo] {
                put(&((at.as_nanos() / 1_000_000) as u32).to_be_bytes());
            }
        }
        if !segment.sack.is_empty() {
            put(&[1, 1, 5, 2 + 8 * segment.sack.len() as u8]);
            for (start, end) in segment.sack_blocks() {
                put(&(start as u32).to_be_bytes());
                put(&(end as u32).to_be_bytes());
            }
        }
        bytes
    }
}
