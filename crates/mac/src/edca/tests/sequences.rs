//! Sequences of a station that a person can read: TXOPs, announcements, beacons, answers, what a channel's width does,
//! and the setup of agreements in numbers.

use super::air::{Air, Payload, at};
use super::{config, of_window};
use crate::edca::AccessCategory::{BestEffort, Voice};
use crate::edca::{AgreementSetup, Bandwidth, Edca, EdcaConfig, Vector};
use crate::frame::{Address, Frame, FrameKind, Reservation};
use crate::phy::OFDM_RATES;
use crate::ppdu::{Band, Choice, Format, Mode, Width};
use crate::service::{MacInput, MacOutput, Msdu, Outcome};
use airbraid_engine::{Machine, Stream};
use airbraid_units::{Bytes, Duration, Instant};

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}
fn station(config: EdcaConfig) -> Edca<Payload> {
    Edca::new(config, Address(0), ["bk", "be", "vi", "vo"].map(|purpose| Stream::new(1, 0, purpose)))
}
/// Times of the lines with a word \[us\].
fn times(air: &Air, word: &str) -> Vec<u64> {
    let lines = air.timeline.lines().filter(|line| line.contains(word));
    lines.map(|line| line.trim().split('.').next().unwrap().parse().unwrap()).collect()
}

/// A TXOP takes what waits for any peer; a frame to all has one of its own.
#[test]
fn a_txop_goes_on_with_other_peers_but_not_with_frames_to_all() {
    let mut config = config();
    config.functions[BestEffort.index()].txop = us(4_000);
    let mut air = Air::new(config, 3, 1);
    air.send(at(10), 0, 1, 0, BestEffort);
    air.send(at(10), 0, 2, 1, BestEffort);
    air.send_to_all(at(10), 0, 2, BestEffort);
    air.send(at(10), 0, 1, 3, BestEffort);
    air.run(at(5_000));
    air.reads(
        "
        18.0 A DATA 0..=1 to B for 342.4 us, nav 56
        360.4 B has 0, 3 from A
        376.4 B BA from 0: 0..=1 to A for 40 us, nav 0
        416.4 A is done with 0, 3
        432.4 A DATA 0 to C for 192.8 us, nav 44
        641.2 C ACK to A for 28 us, nav 0
        625.2 C has 1 from A
        669.2 A is done with 1
        757.2 A DATA 2 to all for 2.072 ms, nav 0
        2829.2 A is done with 2: Broadcast, 1 sent
        2829.2 B has 2 from A
        2829.2 C has 2 from A
        ",
    );
    assert!(air.stations[0].stats().data_frames == 3 && air.tallies[0].check(&air.stations[0]).is_ok());
}

/// The limit of a TXOP counts from its RTS on to the last answer (10.23.2.9).
#[test]
fn a_txop_with_its_rts_is_no_longer_than_its_limit() {
    let last_end = |threshold: u64| {
        let mut config = config();
        config.functions[BestEffort.index()].txop = us(2_048);
        config.rts_threshold = Bytes::new(threshold);
        let mut air = Air::new(config, 2, 1);
        (0..64).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
        air.run(at(2_100));
        let answer = air.timeline.lines().rfind(|line| line.contains(" B BA from")).unwrap();
        let number = |word: &str| word.parse::<f64>().unwrap();
        let words: Vec<&str> = answer.split_whitespace().collect();
        let lasts = words.iter().position(|word| *word == "for").map(|place| number(words[place + 1]));
        let begins = air.timeline.lines().find(|line| line.contains(" A ")).unwrap();
        number(words[0]) + lasts.unwrap() - number(begins.split_whitespace().next().unwrap())
    };
    let [plain, announced] = [u64::MAX, 0].map(last_end);
    assert!((1_900.0..=2_048.0).contains(&plain), "{plain} us");
    assert!((1_900.0..=2_048.0).contains(&announced), "{announced} us with RTS and CTS");
}

/// Without a TXOP limit each exchange is a TXOP.
#[test]
fn a_psdu_that_is_longer_than_the_threshold_is_announced() {
    for (threshold, is_announced) in [(1_541, true), (1_542, false)] {
        let mut config = config();
        config.rts_threshold = Bytes::new(threshold);
        let mut air = Air::new(config, 2, 1);
        air.send(at(10), 0, 1, 0, BestEffort);
        air.run(at(2_000));
        assert_eq!(air.timeline.contains("RTS"), is_announced, "{}", air.timeline);
        assert_eq!(air.delivered.len(), 1);
    }
}

/// A station that does not hear the CTS sends nothing, and asks again after a backoff: MPDUs are not counted as sent.
#[test]
fn without_a_cts_nothing_is_lost() {
    let mut config = config();
    config.rts_threshold = Bytes::ZERO;
    config.aggregation.retry_limit = Some(1);
    let mut air = Air::new(config, 2, 1);
    air.fate = Box::new(|_, kind, nth, _| kind == FrameKind::Cts && nth <= 3);
    (0..2).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(5_000));
    assert_eq!((air.delivered.len(), times(&air, "A RTS").len(), times(&air, "A DATA").len()), (2, 4, 1));
    assert_eq!((air.stations[0].stats().retries, air.stations[0].stats().rts_frames), (0, 4));
}

/// On an idle medium a beacon goes when it is due, every 102.4 ms; the next slot boundary is 9 us away at most.
#[test]
fn beacons_go_once_an_interval() {
    let mut air = Air::new(config(), 2, 1);
    air.stations[0].send_beacons(Stream::new(1, 0, "beacons"));
    air.send(at(10), 0, 1, 0, BestEffort);
    air.run(at(1_024_000));
    let sent = times(&air, "BEACON");
    assert_eq!((sent.len(), air.stations[0].counts().beacons), (10, 10));
    // Each within a slot of its due time, the first of which lies in the first interval.
    let past: Vec<u64> = (0..).zip(&sent).map(|(number, time)| time - 102_400 * number).collect();
    assert!(past.iter().max().unwrap() - past.iter().min().unwrap() < 9 && sent[0] < 102_410, "{sent:?}");
    // Each has a sequence number of its own, as all frames to all have.
    air.send_to_all(at(1_024_010), 0, 1, BestEffort);
    air.run(at(1_030_000));
    assert_eq!(air.last_to_all, Some(10));
}

/// 11.1.3.2: what is not sent within its interval is not made up for.
#[test]
fn a_beacon_that_is_overtaken_by_the_next_is_sent_once() {
    let mut station = station(config());
    station.send_beacons(Stream::new(1, 0, "beacons"));
    let due = station.poll_timeout().unwrap();
    assert!(due.at < at(102_400) && due.why == "edca.beacon", "{due:?}");
    station.handle_input(at(1), MacInput::Busy);
    let later = due.at + us(250_000);
    station.handle_input(later, MacInput::Idle);
    let mut beacons = vec![];
    while let Some(wake) = station.poll_timeout().filter(|wake| wake.at < due.at + us(409_600)) {
        station.handle_timeout(wake.at);
        while let Some(output) = station.poll_output() {
            if let MacOutput::Transmit { frame, at, .. } = output {
                assert_eq!(frame.kind, FrameKind::Beacon);
                beacons.push(at - due.at);
            }
        }
    }
    // At the end of the energy and a PIFS, then at the fourth due time.
    assert_eq!((beacons.len(), beacons[0]), (2, us(250_025)), "{beacons:?}");
    assert!(beacons[1] >= us(307_200) && beacons[1] < us(307_210), "{beacons:?}");
}

/// A frame of this kind from a station.
fn frame(kind: FrameKind, from: u32) -> Frame<Payload> {
    Frame {
        kind,
        retry: false,
        power_management: false,
        sequence: 0,
        from: Address(from),
        to: Address(0),
        size: Bytes::new(14),
        rate: OFDM_RATES[4],
        nav: Duration::ZERO,
        reservation: Reservation::default(),
        payload: None,
    }
}

/// A station that has sent a PPDU to the station 1, until this PPDU ends.
fn after_data(config: EdcaConfig, packets: u32) -> (Edca<Payload>, Instant) {
    let mut station = station(config);
    for id in 0..packets {
        let packet = Payload { id, size: 1_500, priority: 0 };
        station.handle_input(at(10), MacInput::Enqueue(Msdu { to: Address(1), packet }));
    }
    let end = loop {
        match station.poll_output() {
            Some(MacOutput::TransmitPpdu { at, airtime, .. }) => break at + airtime,
            Some(MacOutput::Transmit { at, airtime, .. }) => break at + airtime,
            Some(_) => {}
            None => {
                let wake = station.poll_timeout().unwrap();
                station.handle_timeout(wake.at);
            }
        }
    };
    (station, end)
}
fn told(station: &mut Edca<Payload>) -> Vec<u32> {
    let mut told = vec![];
    while let Some(output) = station.poll_output() {
        if let MacOutput::AcknowledgedRun { ppdu, mpdus } = output {
            told.extend(super::air::msdus_of_run(&ppdu, mpdus).iter().map(|packet| packet.id));
        }
    }
    told
}

/// The awaited answer comes from the peer and is of the awaited kind; anything else ends the exchange.
#[test]
fn an_exchange_goes_on_with_its_own_answer_alone() {
    let (mut right, end) = after_data(config(), 1);
    right.handle_input(end + us(16), MacInput::Busy);
    right.handle_input(end + us(44), MacInput::Received { frame: frame(FrameKind::Ack, 1), idle: true });
    assert_eq!((told(&mut right), right.queue_len()), (vec![0], 0));
    for (kind, from) in [(FrameKind::Ack, 2), (FrameKind::Cts, 1), (FrameKind::Rts, 1), (FrameKind::Beacon, 1)] {
        let (mut station, end) = after_data(config(), 1);
        station.handle_input(end + us(16), MacInput::Busy);
        station.handle_input(end + us(44), MacInput::Received { frame: frame(kind, from), idle: true });
        assert_eq!((told(&mut station), station.queue_len()), (vec![], 1), "{kind:?} from {from}");
        assert!(!station.is_in_exchange(), "it contends again");
        // An answer that comes now is for nothing.
        station.handle_input(end + us(90), MacInput::Busy);
        station.handle_input(end + us(120), MacInput::Received { frame: frame(FrameKind::Ack, 1), idle: true });
        assert_eq!(told(&mut station), []);
    }
}

/// Deadline: SIFS, slot and the begin of a frame behind the PPDU. A reception that has begun by then may be the answer.
#[test]
fn an_answer_must_begin_in_time() {
    let config = config();
    let deadline = us(16 + 9) + config.phy.rx_start_delay;
    let (mut station, end) = after_data(config, 1);
    let wake = station.poll_timeout().unwrap();
    assert_eq!((wake.at, wake.why), (end + deadline, "edca.response_timeout"));
    station.handle_timeout(wake.at);
    assert!(!station.is_in_exchange());
    // Noticed at the very deadline: its end decides.
    let (mut station, end) = after_data(config, 1);
    station.handle_input(end + us(25), MacInput::Busy);
    station.handle_timeout(end + deadline);
    assert!(station.is_in_exchange() && station.poll_timeout().is_none());
    station.handle_input(end + us(60), MacInput::Received { frame: frame(FrameKind::Ack, 1), idle: true });
    assert_eq!((told(&mut station), station.is_in_exchange()), (vec![0], false));
    // Energy that goes as it came is no answer.
    let (mut station, end) = after_data(config, 1);
    station.handle_input(end + us(25), MacInput::Busy);
    station.handle_timeout(end + deadline);
    station.handle_input(end + us(60), MacInput::Idle);
    assert_eq!((told(&mut station), station.is_in_exchange(), station.queue_len()), (vec![], false, 1));
    // A frame that begins a nanosecond too late is none either.
    let (mut station, end) = after_data(config, 1);
    station.handle_input(end + us(25) + Duration::from_nanos(1), MacInput::Busy);
    station.handle_timeout(end + deadline);
    assert!(!station.is_in_exchange());
}

/// While a frame is on the air nothing that ends is heard, and at its end everything is.
#[test]
fn who_transmits_hears_nothing() {
    for (early, hears) in [(Duration::from_nanos(1), false), (Duration::ZERO, true)] {
        let (mut station, end) = after_data(config(), 1);
        let mut rts = frame(FrameKind::Rts, 2);
        rts.nav = us(300);
        station.handle_input(end - early, MacInput::Received { frame: rts, idle: true });
        let mut answers = 0;
        while let Some(output) = station.poll_output() {
            answers += u32::from(matches!(output, MacOutput::Transmit { frame, .. } if frame.kind == FrameKind::Cts));
        }
        assert_eq!(answers, u32::from(hears));
    }
}

/// 10.3.2.9: an RTS is answered unless the NAV is set.
#[test]
fn an_rts_is_not_answered_while_the_medium_is_reserved() {
    for (nav, answers) in [(100, false), (99, true), (0, true)] {
        let mut station = station(config());
        let mut other = frame(FrameKind::Data, 2).header();
        (other.to, other.nav) = (Address(3), us(nav));
        station.handle_input(at(100), MacInput::Overheard { frame: other, idle: true });
        let mut rts = frame(FrameKind::Rts, 2);
        rts.nav = us(500);
        station.handle_input(at(199), MacInput::Received { frame: rts, idle: true });
        let cts = station.poll_output();
        assert_eq!(cts.is_some(), answers);
        let Some(MacOutput::Transmit { frame, at: start, airtime, .. }) = cts else { continue };
        // What is reserved ends where the RTS says: 500 less SIFS and CTS.
        assert_eq!((frame.kind, start, airtime, frame.nav), (FrameKind::Cts, at(215), us(28), us(456)));
    }
}

/// A plain frame to the station is acknowledged and goes up once; one to all goes up each time.
#[test]
fn plain_frames_go_up_once() {
    let mut station = station(config());
    let mut go = |now: u64, to: Address, sequence: u16, retry: bool| {
        let packet = Payload { id: 7, size: 100, priority: 0 };
        let plain = Frame { to, sequence, retry, payload: Some(packet), nav: us(60), ..frame(FrameKind::Data, 2) };
        station.handle_input(at(now), MacInput::Received { frame: plain, idle: true });
        let mut seen = (0, 0);
        while let Some(output) = station.poll_output() {
            match output {
                MacOutput::Deliver { from, packet } => {
                    assert_eq!((from, packet.id), (Address(2), 7));
                    seen.0 += 1;
                }
                MacOutput::Transmit { frame, .. } => {
                    assert_eq!((frame.kind, frame.nav), (FrameKind::Ack, us(16)));
                    seen.1 += 1;
                }
                _ => {}
            }
        }
        (seen, station.stats().duplicates)
    };
    let (own, all) = (Address(0), Address::BROADCAST);
    assert_eq!(go(1_000, own, 5, false), ((1, 1), 0));
    assert_eq!(go(2_000, own, 5, true), ((0, 1), 1));
    assert_eq!(go(3_000, own, 6, true), ((1, 1), 1));
    assert_eq!(go(4_000, all, 6, true), ((1, 0), 1));
    assert_eq!(go(5_000, all, 6, true), ((1, 0), 1));
}

/// A station without agreements: an MPDU that comes again is acknowledged, and goes up once.
#[test]
fn a_single_mpdu_that_comes_again_is_a_duplicate() {
    let mut config = config();
    config.aggregation.ampdu = None;
    let mut air = Air::new(config, 2, 1);
    air.fate = Box::new(|_, kind, nth, _| kind == FrameKind::Ack && nth <= 2);
    (0..2).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(10_000));
    assert_eq!((air.delivered.len(), air.stations[1].stats().duplicates, air.stations[0].stats().retries), (2, 2, 2));
}

/// 40 MHz of which the secondary half is busy until 1000 us.
fn of_half_a_channel(bandwidth: Bandwidth) -> Air {
    let choice = Choice { mcs: 7, width: Width::Mhz40, ..Choice::new(Format::He) };
    let mut config = EdcaConfig::new(Vector::Mode(Mode::new(choice).unwrap()), Band::Ghz5);
    config.bandwidth = bandwidth;
    let mut air = Air::new(config, 2, 1);
    air.stations[0].on_secondary(at(1), Width::Mhz20);
    air.send(at(10), 0, 1, 0, BestEffort);
    air.run(at(1_000));
    air.stations[0].on_secondary(at(1_000), Width::Mhz40);
    air.send(at(1_500), 0, 1, 1, BestEffort);
    air.run(at(3_000));
    air
}

#[test]
fn a_channel_of_which_a_part_is_busy_is_used_as_far_as_it_is_idle() {
    let air = of_half_a_channel(Bandwidth::Dynamic);
    let sent: Vec<&str> = air.timeline.lines().filter(|line| line.contains("DATA")).map(str::trim).collect();
    // 1542 byte at MCS 7: 20 MHz 86 Mbit/s, 40 MHz 172 Mbit/s.
    assert_eq!(sent.len(), 2, "{}", air.timeline);
    assert!(sent[0].starts_with("18.0") && sent[0].contains("192.8 us"), "{sent:?}");
    assert!(sent[1].starts_with("15") && sent[1].contains("124.8 us"), "{sent:?}");
}

/// It draws backoffs until the whole channel has been idle for a PIFS.
#[test]
fn a_channel_of_which_a_part_is_busy_is_not_used_where_all_must_be_idle() {
    let air = of_half_a_channel(Bandwidth::Static);
    let sent = times(&air, "A DATA");
    assert_eq!(air.delivered.len(), 2, "{}", air.timeline);
    assert!(sent[0] >= 1_025 && sent[0] < 1_025 + 16 * 9 + 43, "{}", air.timeline);
    assert!(air.timeline.lines().filter(|line| line.contains("DATA")).all(|line| line.contains("124.8 us")));
}

/// A packet that goes first is served before all that wait, also of another peer.
#[test]
fn a_packet_that_goes_first_is_sent_first() {
    let mut station = station(of_window(1));
    let msdu = |id, to| Msdu { to: Address(to), packet: Payload { id, size: 1_500, priority: 0 } };
    station.handle_input(at(0), MacInput::Busy);
    (0..3).for_each(|id| station.handle_input(at(10), MacInput::Enqueue(msdu(id, 1))));
    station.handle_input(at(20), MacInput::EnqueueFirst(msdu(3, 2)));
    assert_eq!(station.queue_len(), 4);
    station.handle_input(at(30), MacInput::Idle);
    let sent = loop {
        match station.poll_output() {
            Some(MacOutput::TransmitPpdu { ppdu, .. }) => break ppdu.msdus()[0].id,
            Some(other) => panic!("{other:?}"),
            None => {
                let wake = station.poll_timeout().unwrap();
                station.handle_timeout(wake.at);
            }
        }
    };
    assert_eq!(sent, 3);
    station.handle_input(at(2_000), MacInput::Purge(Address(1)));
    let mut purged = vec![];
    while let Some(output) = station.poll_output() {
        if let MacOutput::Status { msdu, outcome: Outcome::Purged, .. } = output {
            purged.push(msdu.packet.id);
        }
    }
    assert_eq!((purged, station.queue_len()), (vec![0, 1, 2], 1));
}

/// A packet that goes first asks for an agreement as any other does.
#[test]
fn a_packet_that_goes_first_asks_for_an_agreement() {
    let mut config = config();
    config.aggregation.setup = AgreementSetup::Frames;
    for priority in [0, 5] {
        let mut station = station(config);
        let packet = Payload { id: 0, size: 1_500, priority };
        station.handle_input(at(10), MacInput::EnqueueFirst(Msdu { to: Address(1), packet }));
        let sent = loop {
            match station.poll_output() {
                Some(MacOutput::TransmitPpdu { ppdu, .. }) => break (ppdu.header.kind, ppdu.tid),
                Some(other) => panic!("{other:?}"),
                None => {
                    let wake = station.poll_timeout().unwrap();
                    station.handle_timeout(wake.at);
                }
            }
        };
        assert_eq!(sent, (FrameKind::AddbaRequest, priority));
    }
}

/// Requests sent, responses sent by the peer, agreements, failures, and the time for which packets waited \[us\].
fn setup_counts(fate: super::air::Fate, second: Option<EdcaConfig>, end: u64) -> [u64; 5] {
    let mut config = config();
    config.aggregation.setup = AgreementSetup::Frames;
    let mut air = Air::new(config, 2, 1);
    assert!(Edca::<Payload>::agreement_counts(&station(super::config())).is_none(), "there is no setup");
    if let Some(second) = second {
        let random = ["bk", "be", "vi", "vo"].map(|purpose| Stream::new(1, 1, purpose));
        air.stations[1] = Edca::new(second, Address(1), random);
    }
    air.fate = fate;
    (0..2).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(end));
    let [own, peer] = [0, 1].map(|place| air.stations[place].counts().setup);
    assert_eq!((own.addba_responses, peer.addba_requests, peer.agreements, peer.agreement_failures), (0, 0, 0, 0));
    let waited = own.agreement_wait.as_nanos() / 1_000;
    [own.addba_requests, peer.addba_responses, own.agreements, own.agreement_failures, waited]
}

/// Asked at 10 us. The times are those of the transcripts in `agreements.rs`.
#[test]
fn the_setup_of_an_agreement_is_counted_and_timed() {
    assert_eq!(setup_counts(Box::new(|_, _, _, _| false), None, 5_000), [1, 1, 1, 0, 273 - 10]);
    let mut single = config();
    single.aggregation.ampdu = None;
    assert_eq!(setup_counts(Box::new(|_, _, _, _| false), Some(single), 5_000), [1, 1, 0, 1, 273 - 10], "declined");
    // Seven requests, the last of which ends at 1267 us; its acknowledgement is awaited for 45 us.
    let lost = |kind: FrameKind| -> super::air::Fate { Box::new(move |_, lost, _, _| lost == kind) };
    assert_eq!(setup_counts(lost(FrameKind::AddbaRequest), None, 150_000), [7, 0, 0, 1, 1_267 + 45 - 10]);
    // A second from the acknowledgement at 154 us on.
    assert_eq!(setup_counts(lost(FrameKind::AddbaResponse), None, 1_100_000), [1, 7, 0, 1, 1_000_154 - 10]);
}

/// Voice goes before best effort, and has its frames as a TXOP of its own.
#[test]
fn a_packet_of_another_category_does_not_go_in_a_txop() {
    let mut config = config();
    config.functions.iter_mut().for_each(|function| function.txop = us(4_000));
    let mut air = Air::new(config, 2, 1);
    (0..3).for_each(|id| air.send(at(10), 0, 1, id, Voice));
    (3..5).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(5_000));
    let starts = times(&air, "A DATA");
    assert_eq!(air.delivered.len(), 5, "{}", air.timeline);
    // Between the two categories there is more than a SIFS: AIFS of best effort is 43 us.
    let ends = times(&air, "A is done");
    assert!(starts.last().unwrap() - ends[ends.len() - 2] >= 43, "{}", air.timeline);
}
