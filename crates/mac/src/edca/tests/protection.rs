//! Cells in 2.4 GHz with stations of 802.11b: what goes before OFDM, and data to stations without QoS.

use super::super::{AccessCategory::BestEffort, AccessCategory::Voice, Edca, EdcaConfig, Kind, Kinds, Vector};
use super::air::{Air, Payload, at};
use super::emlsr;
use crate::erp::{NonErp, Protection};
use crate::frame::{Address, Frame, FrameKind};
use crate::phy::{HR_DSSS_RATES, OFDM_RATES, Rate};
use crate::ppdu::{Band, Choice, Format, Mode};
use crate::service::{MacInput, MacOutput, Msdu, Outcome};
use airbraid_engine::{Machine, Stream, step};
use airbraid_units::{Duration, Instant};

/// 802.11n in 2.4 GHz at 65 Mbit/s beside 802.11b: slots of 20 us.
fn beside(protection: Option<Protection>) -> EdcaConfig {
    let choice = Choice { mcs: 7, band: Band::Ghz2_4, ..Choice::new(Format::Ht) };
    let mut config = EdcaConfig::new(Vector::Mode(Mode::new(choice).unwrap()), Band::Ghz2_4);
    config.phy.slot = Duration::from_micros(20);
    config.non_erp = Some(NonErp { basic_rates: 0b0011, protection });
    config
}

/// The frames that a station sends for one packet to a neighbour of this kind; a frame is answered as it wants.
fn frames(config: EdcaConfig, peer: Kind, priority: u8) -> Vec<(FrameKind, Rate, u64, u64, u64)> {
    let mut station = Edca::new(config, Address(0), ["a", "b", "c", "d"].map(|purpose| Stream::new(3, 0, purpose)));
    station.meet(&Kinds::new([(Address(1), peer)].into_iter()));
    let msdu = Msdu { to: Address(1), packet: Payload { id: 1, size: 1_500, priority } };
    let mut sent = Vec::new();
    let mut now = at(1_000);
    let mut input = Some(MacInput::Enqueue(msdu));
    for _ in 0..6 {
        let mut answer = None;
        let wake = step(&mut station, now, input.take(), |output| {
            let (frame, airtime, begins) = match output {
                MacOutput::Transmit { frame, at, airtime, .. } => (frame.header(), airtime, at),
                MacOutput::TransmitPpdu { ppdu, at, airtime, .. } => (ppdu.header, airtime, at),
                MacOutput::Status { outcome, .. } => return assert_eq!(outcome, Outcome::Acknowledged),
                _ => return,
            };
            sent.push((frame.kind, frame.rate, frame.size.as_u64(), frame.nav.as_micros(), airtime.as_micros()));
            let kind = match frame.kind {
                FrameKind::Rts => FrameKind::Cts,
                FrameKind::Data => FrameKind::Ack,
                _ => return,
            };
            answer = Some((begins + airtime + Duration::from_micros(30), kind, frame));
        });
        if let Some((when, kind, frame)) = answer {
            now = when;
            let answer = Frame { kind, from: Address(1), to: Address(0), ..frame.without_payload() };
            input = Some(MacInput::Received { frame: answer, idle: true });
        } else if let Some(wake) = wake {
            now = wake.at;
        }
    }
    assert_eq!(station.queue_len(), 0, "{sent:?}");
    sent
}

fn kind(data: Vector, has_qos: bool) -> Kind {
    Kind { data, window: 0, has_qos }
}

/// 1538 byte in 234 us, its ACK at 24 Mbit/s in 34 us, CTS at the highest basic rate, 2 Mbit/s, in 248 us.
#[test]
fn a_cts_to_the_station_itself_reserves_the_medium_for_data_and_answer() {
    let config = beside(Some(Protection::CtsToSelf));
    let sent = frames(config, kind(config.data, true), 0);
    let (cts, data) = ((FrameKind::Cts, HR_DSSS_RATES[1], 14), (FrameKind::Data, config.data.rate(), 1_538));
    assert_eq!(sent, [(cts.0, cts.1, cts.2, 10 + 234 + 10 + 34, 248), (data.0, data.1, data.2, 44, 234)]);
}

#[test]
fn rts_and_cts_do_so_at_a_rate_that_all_read() {
    let config = beside(Some(Protection::RtsCts));
    let sent = frames(config, kind(config.data, true), 0);
    let rts = (FrameKind::Rts, HR_DSSS_RATES[1], 20, 10 + 248 + 10 + 234 + 10 + 34, 192 + 80);
    assert_eq!(sent, [rts, (FrameKind::Data, config.data.rate(), 1_538, 44, 234)]);
    // Above the threshold there is one RTS, whatever the protection.
    let long = EdcaConfig { rts_threshold: airbraid_units::Bytes::ZERO, ..beside(Some(Protection::CtsToSelf)) };
    assert_eq!(frames(long, kind(long.data, true), 0), sent);
}

#[test]
fn without_protection_ofdm_goes_at_once() {
    let config = beside(None);
    assert_eq!(frames(config, kind(config.data, true), 0).len(), 1);
}

/// A station of 802.11b gets frames without QoS Control, at its rate; its ACK comes at 2 Mbit/s.
#[test]
fn data_for_a_station_of_802_11b_are_dsss_and_need_no_protection() {
    let config = beside(Some(Protection::CtsToSelf));
    let sent = frames(config, kind(Vector::NonHt(HR_DSSS_RATES[3]), false), 6);
    assert_eq!(sent, [(FrameKind::Data, HR_DSSS_RATES[3], 1_536, 10 + 248, 192 + 1_117)]);
}

/// A station of 802.11a under DCF gets such frames at the rate of like modulation.
#[test]
fn data_for_a_station_without_qos_have_no_qos_control() {
    let config = EdcaConfig::new(beside(None).data, Band::Ghz5);
    let sent = frames(config, kind(Vector::NonHt(OFDM_RATES[2]), false), 0);
    assert_eq!(sent, [(FrameKind::Data, OFDM_RATES[7], 1_536, 16 + 28, 248)]);
    let with_qos = frames(config, kind(Vector::NonHt(OFDM_RATES[2]), true), 0);
    assert_eq!(with_qos[0].2, 1_538);
}

/// All that goes to a station without QoS is of best effort, in one queue and one sequence of numbers.
#[test]
fn every_category_has_one_queue_for_a_station_without_qos() {
    let config = EdcaConfig::new(beside(None).data, Band::Ghz5);
    let mut station = Edca::new(config, Address(0), ["a", "b", "c", "d"].map(|purpose| Stream::new(3, 0, purpose)));
    station.meet(&Kinds::new([(Address(1), kind(Vector::NonHt(OFDM_RATES[2]), false))].into_iter()));
    station.handle_input(Instant::ZERO, MacInput::Busy);
    for (id, priority) in [(1, 6), (2, 1), (3, 0), (4, 5)] {
        let msdu = Msdu { to: Address(1), packet: Payload { id, size: 100, priority } };
        let input = if id == 4 { MacInput::EnqueueFirst(msdu) } else { MacInput::Enqueue(msdu) };
        station.handle_input(at(10), input);
    }
    assert_eq!((station.category_len(BestEffort), station.category_len(Voice)), (4, 0));
    assert_eq!((station.waiting_with(Address(1), 6), station.waiting_with(Address(2), 6)), (4, 0));
    station.handle_input(at(20), MacInput::Purge(Address(1)));
    let mut purged = Vec::new();
    while let Some(output) = station.poll_output() {
        let MacOutput::Status { msdu, outcome: Outcome::Purged, .. } = output else { panic!("{output:?}") };
        purged.push(msdu.packet.id);
    }
    assert_eq!((purged, station.queue_len()), (vec![4, 1, 2, 3], 0));
}

/// The CTS of a TXOP reserves all of it, for those who hear nothing more; what does not fit has one of its own.
#[test]
fn a_txop_has_one_cts_for_what_waits_at_its_beginning() {
    let mut config = beside(Some(Protection::CtsToSelf));
    config.aggregation.ampdu = None;
    config.functions[BestEffort.index()].txop = Duration::from_micros(4_096);
    let mut air = Air::new(config, 2, 1);
    for id in 0..4 {
        air.send(at(10), 0, 1, id, BestEffort);
    }
    air.run(at(9_000));
    air.reads(
        "
        20.0 A CTS to A for 248 us, nav 1152
        278.0 A DATA 0 to B for 234 us, nav 332
        522.0 B ACK to A for 34 us, nav 288
        512.0 B has 0 from A
        556.0 A is done with 0
        566.0 A DATA 1 to B for 234 us, nav 332
        810.0 B ACK to A for 34 us, nav 288
        800.0 B has 1 from A
        844.0 A is done with 1
        854.0 A DATA 2 to B for 234 us, nav 332
        1098.0 B ACK to A for 34 us, nav 288
        1088.0 B has 2 from A
        1132.0 A is done with 2
        1142.0 A DATA 3 to B for 234 us, nav 44
        1386.0 B ACK to A for 34 us, nav 0
        1376.0 B has 3 from A
        1420.0 A is done with 3
        ",
    );
    // One more comes when the medium is reserved: it has a CTS of its own, in the same TXOP.
    let mut air = Air::new(config, 2, 1);
    air.send(at(10), 0, 1, 0, BestEffort);
    air.send(at(300), 0, 1, 1, BestEffort);
    air.run(at(9_000));
    air.reads(
        "
        20.0 A CTS to A for 248 us, nav 288
        278.0 A DATA 0 to B for 234 us, nav 44
        522.0 B ACK to A for 34 us, nav 0
        512.0 B has 0 from A
        556.0 A is done with 0
        566.0 A CTS to A for 248 us, nav 288
        824.0 A DATA 1 to B for 234 us, nav 44
        1068.0 B ACK to A for 34 us, nav 0
        1058.0 B has 1 from A
        1102.0 A is done with 1
        ",
    );
}

/// Stations of 802.11b hear no initial control frame: a CTS to itself a SIFS before it reserves the medium for all.
#[test]
fn an_initial_control_frame_is_protected() {
    for (protection, is_protected) in
        [(None, false), (Some(Protection::CtsToSelf), true), (Some(Protection::RtsCts), true)]
    {
        let mut air = Air::of_modes(beside(protection), &[None, Some(emlsr(32, 128, 5_484))], 2, Default::default(), 1);
        air.send(at(10), 0, 1, 0, BestEffort);
        air.run(at(9_000));
        let lines: Vec<&str> = air.timeline.lines().map(str::trim).collect();
        let kinds: Vec<&str> = lines.iter().take(4).filter_map(|line| line.split(' ').nth(2)).collect();
        assert_eq!(kinds[usize::from(is_protected)..][..3], ["MU-RTS", "CTS", "DATA"], "{}", air.timeline);
        if is_protected {
            // 248 us at 2 Mbit/s; MU-RTS, CTS, data and ACK follow, each behind a SIFS of 10 us.
            assert!(lines[0].contains(" A1 CTS to A1 for 248 us"), "{}", air.timeline);
            let number = |line: &str, word: &str| -> f64 {
                let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
                let place = words.iter().position(|other| *other == word).unwrap();
                words[place + 1].parse().unwrap()
            };
            let begins = |line: &str| -> f64 { line.split(' ').next().unwrap().parse().unwrap() };
            let reserved = begins(lines[0]) + 248.0 + number(lines[0], "nav");
            let ack = lines.iter().find(|line| line.contains("B1 ACK")).unwrap();
            assert_eq!(begins(lines[1]), begins(lines[0]) + 258.0, "{}", air.timeline);
            let end = begins(ack) + number(ack, "for");
            assert!((0.0..=2.0).contains(&(reserved - end)), "{reserved} beside {end}\n{}", air.timeline);
        }
    }
}
