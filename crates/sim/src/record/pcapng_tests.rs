//! A capture with one frame of each kind, read back by another's reader and, where it is installed, by tshark.

#[path = "../../../../tests/src/skip.rs"]
mod skip;

use super::*;
use crate::record::dot11::{Bss, EtherType, MacHeader, MacKind, Station, append_header, fcs, llc};
use crate::record::ip::{CapturedPacket, CapturedTransport, IpHeader, append, append_datagram, ip_address};
use crate::record::radiotap::{ChannelField, Radiotap};
use airbraid_mac::phy::{HR_DSSS_RATES, OFDM_RATES, Phy, Preamble, Rate, Standard};
use pcap_file::pcapng::{Block, PcapNgReader};
use std::process::Command;

const SENDER: Station = Station { node: 0, radio: 0 };
const RECEIVER: Station = Station { node: 300, radio: 2 };
const IP: IpHeader = IpHeader { source: ip_address(0), destination: ip_address(300), ident: 4, ttl: 64 };
/// NOP, NOP, timestamps.
const OPTIONS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 5];

fn tcp(payload: u32) -> CapturedPacket<'static> {
    CapturedPacket {
        ip: IP,
        source_port: 49_152,
        destination_port: 49_153,
        transport: CapturedTransport::Tcp { seq: 1, ack: 1, flags: 0x10, window: 65_535, options: &OPTIONS },
        payload,
    }
}

/// LLC, SNAP and a packet.
fn body(packet: &CapturedPacket<'_>) -> Vec<u8> {
    let mut bytes = llc(EtherType::Ipv4).to_vec();
    let zeros = append(&mut bytes, packet);
    bytes.resize(bytes.len() + zeros, 0);
    bytes
}

/// A frame: rate, the power with which it arrived, whether it arrived whole, its header and body.
struct Heard(Rate, Option<f64>, bool, MacHeader, Vec<u8>);

/// RTS, CTS, data with TCP, ACK, a broken retransmitted data frame, UDP, a message of AODV to all, null frames among
/// equals, to an access point (its sender is about to doze) and from one.
fn frames() -> Vec<Heard> {
    let [slow, _, middle, fast] = HR_DSSS_RATES;
    let data = |seq, retry, has_body| MacKind::Data {
        bss: Bss::Independent,
        power_management: false,
        seq,
        retry,
        has_body,
        qos: None,
    };
    let null = |bss, power_management| MacKind::Data {
        bss,
        power_management,
        seq: 4,
        retry: false,
        has_body: false,
        qos: None,
    };
    let there = |kind| MacHeader { kind, src: SENDER, dst: Some(RECEIVER), duration_us: 314 };
    let back = |kind| MacHeader { kind, src: RECEIVER, dst: Some(SENDER), duration_us: 0 };
    let to_all = |kind| MacHeader { dst: None, ..there(kind) };
    let udp = CapturedPacket { transport: CapturedTransport::Udp, payload: 1_024, ..tcp(0) };
    let mut aodv = llc(EtherType::Ipv4).to_vec();
    let reply = [2, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 9, 10, 0, 0, 1, 0, 0, 7, 208];
    append_datagram(&mut aodv, &IpHeader { ttl: 1, ..IP }, 654, &reply);
    let heard = Some(-61.6);
    let odd = body(&tcp(1_447));
    vec![
        Heard(fast, heard, true, there(MacKind::Rts), Vec::new()),
        Heard(slow, heard, true, back(MacKind::Cts), Vec::new()),
        Heard(fast, None, true, there(data(0, false, true)), body(&tcp(1_448))),
        Heard(slow, heard, true, back(MacKind::Ack), Vec::new()),
        Heard(fast, heard, false, there(data(1, false, true)), odd.clone()),
        Heard(fast, heard, true, there(data(1, true, true)), odd),
        Heard(OFDM_RATES[7], heard, true, there(data(4_095, false, true)), body(&udp)),
        Heard(middle, heard, true, to_all(data(3, false, true)), aodv),
        Heard(fast, heard, true, there(data(4, false, false)), Vec::new()),
        Heard(fast, heard, true, there(null(Bss::ToAccessPoint, true)), Vec::new()),
        Heard(fast, heard, true, there(null(Bss::FromAccessPoint, false)), Vec::new()),
    ]
}

/// The capture, with at most `most` bytes of each frame.
fn capture(most: usize) -> Vec<u8> {
    let interface = |name: &str, station: Station| Interface {
        name: name.to_owned(),
        description: "a radio".to_owned(),
        link_type: LinkType::Radiotap,
        mac_address: Some(station.mac_address()),
    };
    let names = [(ip_address(0), "sender".to_owned()), (ip_address(300), "receiver".to_owned())];
    let interfaces = [interface("sender/ch9", SENDER), interface("receiver/ch9", RECEIVER)];
    let mut capture = Capture::new(Vec::new(), &names, &interfaces, "A test");
    let phy = Phy::new(Standard::Dot11b, Preamble::Short);
    for (Heard(rate, signal, is_whole, header, body), number) in frames().into_iter().zip(0..) {
        let mut bytes = Vec::new();
        append_header(&mut bytes, &header);
        bytes.extend(body);
        let check = fcs(&bytes);
        bytes.extend(if is_whole { check } else { check.map(|byte| !byte) });
        let time = Instant::from_nanos(12_345_678_901 + number * 2_000_000);
        let mut tap = Radiotap::new(&phy, rate);
        let tap = tap.bytes(time, ChannelField::new(Standard::Dot11b, 9), signal, is_whole);
        let original = tap.len() + bytes.len();
        bytes.truncate(most);
        let (interface, direction) = if signal.is_some() { (1, Direction::Inbound) } else { (0, Direction::Outbound) };
        capture.write(&Captured { interface, time, direction, pieces: [tap, &bytes, &[]], original });
    }
    capture.finish()
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
    let packets = packets(&capture(usize::MAX));
    let tap = 23;
    let lengths: Vec<usize> = packets.iter().map(|(length, ..)| *length).collect();
    // The sender's own frame carries no signal: a radiotap header one byte shorter.
    let ip = |n: usize| tap + 24 + 8 + n + 4;
    let expected = [tap + 20, tap + 14, ip(1_500) - 1, tap + 14, ip(1_499), ip(1_499), ip(1_052), ip(48)];
    assert_eq!(lengths[..8], expected);
    assert_eq!(lengths[8..], [tap + 28; 3]);
    assert!(packets.iter().all(|(length, original, _)| *length == *original as usize));
    assert_eq!(packets[0].2, 12_345_678_901);
}

#[test]
fn a_cut_keeps_the_original_length() {
    let (cut, whole) = (packets(&capture(128)), packets(&capture(usize::MAX)));
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
fn wireshark_finds_every_checksum_right_and_every_field_as_it_was() {
    let fields = "frame.number radiotap.channel.freq radiotap.datarate radiotap.dbm_antsignal wlan.fc.type_subtype \
                  wlan.ta wlan.seq wlan.fcs.status ip.checksum.status tcp.checksum.status udp.checksum.status ip.dst \
                  wlan.fc.ds wlan.fc.pwrmgt aodv.type frame.packet_flags_direction";
    let mut arguments = vec!["-T", "fields"];
    fields.split_whitespace().for_each(|field| arguments.extend(["-e", field]));
    let Some(table) = tshark("fields", &capture(usize::MAX), &arguments) else { return };
    // Status 1 is good, 0 is bad: only frame 5, which was received with errors, has a bad FCS.
    let expected = "\
        1\t2452\t11\t-62\t0x001b\t02:00:00:00:00:00\t\t1\t\t\t\t\t0x00\t0\t\t1\n\
        2\t2452\t1\t-62\t0x001c\t\t\t1\t\t\t\t\t0x00\t0\t\t1\n\
        3\t2452\t11\t\t0x0020\t02:00:00:00:00:00\t0\t1\t1\t1\t\t10.0.1.45\t0x00\t0\t\t2\n\
        4\t2452\t1\t-62\t0x001d\t\t\t1\t\t\t\t\t0x00\t0\t\t1\n\
        5\t2452\t11\t-62\t0x0020\t02:00:00:00:00:00\t1\t0\t1\t1\t\t10.0.1.45\t0x00\t0\t\t1\n\
        6\t2452\t11\t-62\t0x0020\t02:00:00:00:00:00\t1\t1\t1\t1\t\t10.0.1.45\t0x00\t0\t\t1\n\
        7\t2452\t54\t-62\t0x0020\t02:00:00:00:00:00\t4095\t1\t1\t\t1\t10.0.1.45\t0x00\t0\t\t1\n\
        8\t2452\t5.5\t-62\t0x0020\t02:00:00:00:00:00\t3\t1\t1\t\t1\t10.0.1.45\t0x00\t0\t2\t1\n\
        9\t2452\t11\t-62\t0x0024\t02:00:00:00:00:00\t4\t1\t\t\t\t\t0x00\t0\t\t1\n\
        10\t2452\t11\t-62\t0x0024\t02:00:00:00:00:00\t4\t1\t\t\t\t\t0x01\t1\t\t1\n\
        11\t2452\t11\t-62\t0x0024\t02:00:00:00:00:00\t4\t1\t\t\t\t\t0x02\t0\t\t1\n";
    // Some versions print flags as words, and directions as hexadecimal numbers.
    let table = table.replace("False", "0").replace("True", "1").replace("\t0x00000001\n", "\t1\n");
    assert_eq!(table.replace("\t0x00000002\n", "\t2\n"), expected);
}

#[test]
fn wireshark_finds_nothing_wrong_but_the_frame_that_was_received_with_errors() {
    // Which is an error of severity "error" in Wireshark, too, where its FCS has not been cut off.
    for (most, expected) in [(usize::MAX, "5\n"), (128, "")] {
        let filter = "_ws.malformed || _ws.expert.severity >= 0x00600000";
        let wrong = tshark("wrong", &capture(most), &["-Y", filter, "-T", "fields", "-e", "frame.number"]);
        assert!(wrong.is_none_or(|wrong| wrong == expected), "at most {most} byte");
    }
}
