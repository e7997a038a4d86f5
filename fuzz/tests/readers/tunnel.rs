//! A tunnel with an arbitrary peer: with real packets and the real erasure code, as in the daemon. It never panics,
//! delivers only packets, and stays within its memory.

use airbraid_engine::step;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{
    Bond, BondConfig, BondInput, BondOutput, BondPolicy, Frame, MemberConfig, ReceivedFrame,
};
use airbraid_engine::wire::{TUNNEL_VERSION, TunnelFrame, parse_tunnel};
use airbraid_fuzz::feedback;
use airbraid_live::daemon::offload::{IpPacket, Pool, summary};
use airbraid_units::{Bytes, Duration, Instant};

/// Memory limit of the tunnel \[byte\]: some packets in buffers of 2 KiB.
const MEMORY: u64 = 1 << 15;
/// A frame as a peer may make it: kind, member, numbers, contents, and the time since the frame before \[us\].
type Sent = (u8, u8, [u8; 12], Vec<u8>, u16);

fn packet(pool: &Pool, rest: &[u8]) -> Option<IpPacket> {
    let head = [0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    pool.packet(&[&head[..], rest].concat(), |bytes| summary(bytes))
}

/// The daemon's reading of a frame's bytes.
fn frame(pool: &Pool, plain: &[u8]) -> Option<Frame<IpPacket>> {
    Some(match parse_tunnel(plain).ok()? {
        TunnelFrame::Data(header, rest) => Frame::Data { header, packet: packet(pool, rest)? },
        TunnelFrame::Repair(header, symbol) => {
            let symbol = pool.filled(symbol.len(), |room| room.copy_from_slice(symbol));
            Frame::Repair { header, symbol }
        }
        TunnelFrame::Probe(probe) => Frame::Probe(probe),
        TunnelFrame::Feedback(feedback) => Frame::Feedback(feedback),
        TunnelFrame::PathChallenge(token) => Frame::PathChallenge(token),
        TunnelFrame::PathResponse(token) => Frame::PathResponse(token),
    })
}

#[test]
fn any_frames() {
    bolero::check!().with_type::<(bool, [Option<Sent>; 12])>().for_each(|(is_near, sent)| {
        let pool = Pool::default();
        let mut tunnel = Bond::<IpPacket>::new(BondConfig {
            policy: BondPolicy { queue_limit: 50, ..BondPolicy::default() },
            epoch: 7,
        });
        tunnel.set_memory(Bytes::new(MEMORY));
        let mut now = Instant::ZERO + Duration::from_secs(1);
        let mut drive = |now, input| {
            step(&mut tunnel, now, Some(input), |output| {
                if let BondOutput::Deliver(packet) = output {
                    assert!(summary(packet.bytes()).is_some());
                }
            });
        };
        for member in [0, 1] {
            drive(now, BondInput::MemberAdded { member: Member(member), config: MemberConfig::default() });
        }
        for seed in 0..4 {
            drive(now, BondInput::Packet(packet(&pool, &[seed; 100]).expect("a packet")));
        }
        for (kind, member, numbers, rest, wait) in sent.iter().flatten() {
            let mut bytes = vec![(TUNNEL_VERSION << 4) | (kind % 8)];
            match kind % 8 {
                2 => bytes.extend([&numbers[..8], &vec![0; rest.len()]].concat()),
                3 if *is_near => bytes.extend(feedback(7, rest)),
                _ => bytes.extend([&numbers[..], rest].concat()),
            }
            if *is_near && kind % 8 != 3 {
                // Numbers and places near those in use: what is behind the first byte has zeros for high bytes.
                let zeros: &[usize] = if kind % 8 == 4 { &[1] } else { &[1, 2, 3, 5, 7] };
                zeros.iter().for_each(|&at| bytes[at] = 0);
            }
            if *is_near && kind % 8 == 4 {
                // A symbol of a few packets, the first of them.
                (bytes[3], bytes[4]) = (bytes[3] % 8 + 1, bytes[4] % 4);
            }
            now += Duration::from_micros(u64::from(*wait));
            let Some(frame) = frame(&pool, &bytes) else { continue };
            let length = Bytes::new(bytes.len() as u64 + 56);
            drive(
                now,
                BondInput::Frames(vec![ReceivedFrame {
                    member: Member(member % 3),
                    frame,
                    length,
                    at: now,
                    is_elsewhere: kind & 0x80 != 0,
                }]),
            );
        }
        assert!(tunnel.occupied().as_u64() <= MEMORY);
        let status = tunnel.status();
        assert!(status.held_len <= 8_192 && status.kept < 20_000);
    });
}
