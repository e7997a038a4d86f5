//! A capture with one frame of each kind, read back by the crate that wrote it and, where it is installed, by tshark.

#[path = "../../../../tests/src/skip.rs"]
mod skip;

use super::*;
use crate::record::{Bss, CapturedKind, CapturedPacket, CapturedTransport};
use airbraid_mac::phy::{HR_DSSS_RATES, OFDM_RATES};
use airbraid_units::Instant;
use pcap_file::pcapng::{Block, PcapNgReader};
use std::process::Command;

const SENDER: Station = Station { node: 0, radio: 0 };
const RECEIVER: Station = Station { node: 300, radio: 2 };
/// NOP, NOP, timestamps.
const OPTIONS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 5];

fn tcp(payload: u32) -> CapturedPacket<'static> {
    CapturedPacket {
        trunk_header: None,
        source: 0,
        destination: 300,
        ident: 4,
        ttl: 64,
        source_port: 49_152,
        destination_port: 49_153,
        transport: CapturedTransport::Tcp { seq: 1, ack: 1, flags: 0x10, window: 65_535, options: &OPTIONS },
        payload,
    }
}

/// RTS, CTS, data with TCP, ACK, a broken retransmitted data frame, UDP, a packet with a trunk header, a broadcast,
/// null frames among equals, to an access point (its sender is about to doze) and from one.
fn frames() -> Vec<CapturedFrame<'static>> {
    let data = |seq, retry, packet| CapturedKind::Data {
        bss: Bss::Independent,
        power_management: false,
        seq,
        retry,
        packet: Some(packet),
    };
    let null = |bss, power_management| CapturedKind::Data { bss, power_management, seq: 4, retry: false, packet: None };
    let udp = CapturedPacket { transport: CapturedTransport::Udp, payload: 1_024, ..tcp(0) };
    let trunk = CapturedPacket { trunk_header: Some(&[0, 0, 0, 7]), ..tcp(1_448) };
    let base = CapturedFrame {
        time: Instant::ZERO,
        channel: 9,
        rate: HR_DSSS_RATES[3],
        signal_dbm: Some(-61.6),
        fcs_ok: true,
        src: SENDER,
        dst: Some(RECEIVER),
        duration_us: 314,
        kind: CapturedKind::Rts,
    };
    let back = CapturedFrame { src: RECEIVER, dst: Some(SENDER), rate: HR_DSSS_RATES[0], ..base };
    let odd = CapturedPacket { payload: 1_447, ..tcp(0) };
    let mut frames = vec![
        base,
        CapturedFrame { kind: CapturedKind::Cts, ..back },
        CapturedFrame { kind: data(0, false, tcp(1_448)), signal_dbm: None, ..base },
        CapturedFrame { kind: CapturedKind::Ack, duration_us: 0, ..back },
        CapturedFrame { kind: data(1, false, odd), fcs_ok: false, ..base },
        CapturedFrame { kind: data(1, true, odd), ..base },
        CapturedFrame { kind: data(4_095, false, udp), rate: OFDM_RATES[7], ..base },
        CapturedFrame { kind: data(2, false, trunk), ..base },
        CapturedFrame { kind: data(3, false, tcp(0)), dst: None, rate: HR_DSSS_RATES[2], ..base },
        CapturedFrame { kind: null(Bss::Independent, false), ..base },
        CapturedFrame { kind: null(Bss::ToAccessPoint, true), ..base },
        CapturedFrame { kind: null(Bss::FromAccessPoint, false), ..base },
    ];
    for (frame, ms) in frames.iter_mut().zip(0..) {
        frame.time = Instant::from_nanos(12_345_678_901 + ms * 2_000_000);
    }
    frames
}

fn capture(snap_length: Option<usize>) -> Vec<u8> {
    let (standard, preamble) = (Standard::Dot11b, Preamble::Short);
    let interface = |name: &str, station| Interface { name: name.to_owned(), station, standard, preamble };
    let interfaces = vec![interface("sender/ch9", SENDER), interface("receiver/ch9", RECEIVER)];
    let mut names = vec!["relay"; 301];
    (names[0], names[300]) = ("sender", "receiver");
    let mut capture = Capture::new(Vec::new(), &names, interfaces, snap_length).unwrap();
    for frame in frames() {
        capture.write(usize::from(frame.signal_dbm.is_some()), &frame).unwrap();
    }
    assert!(capture.write(2, &frames()[0]).is_err());
    capture.into_inner()
}

/// Captured and original length, and time \[ns\], of each frame.
fn packets(bytes: &[u8]) -> Vec<(usize, u32, u128)> {
    let mut reader = PcapNgReader::new(bytes).unwrap();
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            packets.push((packet.data.len(), packet.original_len, packet.timestamp.as_nanos()));
        }
    }
    packets
}

#[test]
fn whole_frames_have_the_standards_lengths() {
    let packets = packets(&capture(None));
    let tap = 23;
    let lengths: Vec<usize> = packets.iter().map(|(length, ..)| *length).collect();
    // The sender's own frame carries no signal: a radiotap header one byte shorter.
    let ip = |n: usize| tap + 24 + 8 + n + 4;
    let expected = [tap + 20, tap + 14, ip(1_500) - 1, tap + 14, ip(1_499), ip(1_499), ip(1_052), ip(1_504), ip(52)];
    assert_eq!(lengths[..9], expected);
    assert_eq!(lengths[9..], [tap + 28; 3]);
    assert!(packets.iter().all(|(length, original, _)| *length == *original as usize));
    assert_eq!(packets[0].2, 12_345_678_901);
}

#[test]
fn a_cut_keeps_the_original_length() {
    let (cut, whole) = (packets(&capture(Some(128))), packets(&capture(None)));
    assert_eq!(cut.len(), whole.len());
    for ((cut, original, _), (whole, ..)) in cut.into_iter().zip(whole) {
        // 22 byte of radiotap, and one for the signal where there is one.
        assert!(cut == whole || (cut < whole && (cut == 22 + 128 || cut == 23 + 128)), "{cut} of {whole}");
        assert_eq!(original as usize, whole);
    }
}

/// The output of tshark for a capture; `None` where it is not installed.
fn tshark(name: &str, bytes: &[u8], arguments: &[&str]) -> Option<String> {
    let path = std::env::temp_dir().join(format!("airbraid-{}-{name}.pcapng", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    let output = Command::new("tshark")
        .args(["-r", path.to_str().unwrap(), "-o", "wlan.check_fcs:TRUE", "-o", "wlan.check_checksum:TRUE"])
        .args(["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"])
        .args(arguments)
        .output();
    std::fs::remove_file(&path).unwrap();
    match output {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(_) => {
            skip::skip(name, "tshark is not installed (Debian: apt-get install tshark)");
            None
        }
    }
}

#[test]
fn wireshark_finds_every_checksum_right_and_nothing_malformed() {
    let fields = "frame.number radiotap.channel.freq radiotap.datarate radiotap.dbm_antsignal wlan.fc.type_subtype \
                  wlan.ta wlan.seq wlan.fcs.status ip.checksum.status tcp.checksum.status udp.checksum.status ip.dst \
                  wlan.fc.ds wlan.fc.pwrmgt";
    let mut arguments = vec!["-T", "fields"];
    fields.split_whitespace().for_each(|field| arguments.extend(["-e", field]));
    let Some(table) = tshark("fields", &capture(None), &arguments) else { return };
    // Status 1 is good, 0 is bad: only frame 5, which was received with errors, has a bad FCS.
    let expected = "\
        1\t2452\t11\t-62\t0x001b\t02:00:00:00:00:00\t\t1\t\t\t\t\t0x00\t0\n\
        2\t2452\t1\t-62\t0x001c\t\t\t1\t\t\t\t\t0x00\t0\n\
        3\t2452\t11\t\t0x0020\t02:00:00:00:00:00\t0\t1\t1\t1\t\t10.0.1.45\t0x00\t0\n\
        4\t2452\t1\t-62\t0x001d\t\t\t1\t\t\t\t\t0x00\t0\n\
        5\t2452\t11\t-62\t0x0020\t02:00:00:00:00:00\t1\t0\t1\t1\t\t10.0.1.45\t0x00\t0\n\
        6\t2452\t11\t-62\t0x0020\t02:00:00:00:00:00\t1\t1\t1\t1\t\t10.0.1.45\t0x00\t0\n\
        7\t2452\t54\t-62\t0x0020\t02:00:00:00:00:00\t4095\t1\t1\t\t1\t10.0.1.45\t0x00\t0\n\
        8\t2452\t11\t-62\t0x0020\t02:00:00:00:00:00\t2\t1\t\t\t\t\t0x00\t0\n\
        9\t2452\t5.5\t-62\t0x0020\t02:00:00:00:00:00\t3\t1\t1\t1\t\t10.0.1.45\t0x00\t0\n\
        10\t2452\t11\t-62\t0x0024\t02:00:00:00:00:00\t4\t1\t\t\t\t\t0x00\t0\n\
        11\t2452\t11\t-62\t0x0024\t02:00:00:00:00:00\t4\t1\t\t\t\t\t0x01\t1\n\
        12\t2452\t11\t-62\t0x0024\t02:00:00:00:00:00\t4\t1\t\t\t\t\t0x02\t0\n";
    // Some versions print flags as words.
    let table = table.replace("False", "0").replace("True", "1");
    assert_eq!(table, expected);
}

#[test]
fn wireshark_finds_nothing_wrong_but_the_frame_that_was_received_with_errors() {
    // Which is an error of severity "error" in Wireshark, too, where its FCS has not been cut off.
    for (snap_length, expected) in [(None, "5\n"), (Some(128), "")] {
        let filter = "_ws.malformed || _ws.expert.severity >= 0x00600000";
        let wrong = tshark("wrong", &capture(snap_length), &["-Y", filter, "-T", "fields", "-e", "frame.number"]);
        assert!(wrong.is_none_or(|wrong| wrong == expected), "snap length {snap_length:?}");
    }
}
