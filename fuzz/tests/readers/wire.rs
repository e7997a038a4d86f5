//! The headers of links, beacons, and the frames of a tunnel: any bytes are answered, and accepted ones equal
//! those that would be emitted.

use airbraid_engine::link::fec::crc32;
use airbraid_engine::wire::{
    BEACON_LEN, LINK_HEADER_LEN, TUNNEL_VERSION, TunnelFrame, WINDOW_HEADER_LEN, emit_beacon, emit_link_header,
    emit_tunnel_feedback, emit_tunnel_header, emit_tunnel_path, emit_tunnel_probe, emit_tunnel_repair,
    emit_window_header, parse_beacon, parse_link_header, parse_tunnel, parse_window_header,
};

/// The same bytes with a check that holds: a fuzzer does not find that by itself.
fn with_check(bytes: &[u8], len: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= len {
        let check = crc32(&bytes[..len - 4]);
        bytes[len - 4..len].copy_from_slice(&check.to_be_bytes());
    }
    bytes
}

#[test]
fn any_link_header() {
    bolero::check!().with_type::<(bool, Vec<u8>)>().for_each(|(fix, bytes)| {
        let bytes = if *fix { with_check(bytes, LINK_HEADER_LEN) } else { bytes.clone() };
        if let Ok((header, _)) = parse_link_header(&bytes) {
            assert_eq!(emit_link_header(&header)[..], bytes[..LINK_HEADER_LEN]);
        }
    });
}

#[test]
fn any_window_header() {
    bolero::check!().with_type::<(bool, Vec<u8>)>().for_each(|(fix, bytes)| {
        let bytes = if *fix { with_check(bytes, WINDOW_HEADER_LEN) } else { bytes.clone() };
        if let Ok((header, _)) = parse_window_header(&bytes) {
            assert_eq!(emit_window_header(&header)[..], bytes[..WINDOW_HEADER_LEN]);
        }
    });
}

#[test]
fn any_beacon() {
    bolero::check!().with_type::<(bool, Vec<u8>)>().for_each(|(is_aimed, bytes)| {
        let mut bytes = bytes.clone();
        if *is_aimed {
            bytes.resize(BEACON_LEN, 0);
            bytes[..4].copy_from_slice(&[1, 1, 0, 0]);
        }
        if let Ok(beacon) = parse_beacon(&bytes) {
            assert_eq!(emit_beacon(&beacon)[..], bytes);
        }
    });
}

#[test]
fn any_tunnel_frame() {
    // A feedback is up to some hundred bytes long.
    bolero::check!().with_type::<(bool, u8, [Vec<u8>; 4])>().for_each(|(is_aimed, kind, bytes)| {
        let mut bytes = bytes.concat();
        match kind % 8 {
            2 if *is_aimed => bytes.iter_mut().skip(8).for_each(|byte| *byte = 0),
            3 if *is_aimed => bytes = airbraid_fuzz::feedback(u32::from(*kind), &bytes),
            _ => {}
        }
        let bytes = [&[(TUNNEL_VERSION << 4) | (kind % 8)], &bytes[..]].concat();
        let mut again = Vec::new();
        match parse_tunnel(&bytes) {
            Ok(TunnelFrame::Data(header, rest)) => {
                again.extend(emit_tunnel_header(&header));
                again.extend(rest);
            }
            Ok(TunnelFrame::Repair(header, symbol)) => {
                again.extend(emit_tunnel_repair(&header));
                again.extend(symbol);
            }
            Ok(TunnelFrame::Probe(probe)) => emit_tunnel_probe(&probe, &mut again),
            Ok(TunnelFrame::Feedback(feedback)) => emit_tunnel_feedback(&feedback, &mut again),
            Ok(TunnelFrame::PathChallenge(token)) => emit_tunnel_path(token, false, &mut again),
            Ok(TunnelFrame::PathResponse(token)) => emit_tunnel_path(token, true, &mut again),
            Err(_) => return,
        }
        assert_eq!(again, bytes);
    });
}
