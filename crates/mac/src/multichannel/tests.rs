//! Transcripts of multi-channel stations, their throughput beside the closed form, and properties that always hold.
//!
//! Everything at 1 Mbit/s with the long preamble, as in the paper: RTS, CTS and CRN last 360 us, an ACK 304, a packet
//! of 1024 byte 8608, one of 40 byte 736; SIFS 10, DIFS 50, slot 20 us.

use super::{ChannelChoice, Multichannel, MultichannelConfig, Scheduling};
use crate::dcf::DcfConfig;
use crate::frame::{Address, Channel, ChannelSet, Frame, FrameKind, Reservation};
use crate::medium::{Medium, Payload, Signal, at, stream_drawing};
use crate::phy::{Preamble, Standard};
use crate::service::{MacInput, Msdu, Outcome};
use airbraid_engine::{Machine, Stream};
use airbraid_units::{Bytes, Duration, Instant};
use proptest::prelude::*;

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
const TO_A: Address = Address(0);
const TO_B: Address = Address(1);
const TO_C: Address = Address(2);
const TO_D: Address = Address(3);
/// An address that no station has.
const TO_Z: Address = Address(25);

type Stations = Medium<Multichannel<Payload>>;

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// The parameters of the paper.
fn config(is_bidirectional: bool) -> MultichannelConfig {
    let mut dcf = DcfConfig::new(Standard::Dot11b, Preamble::Long);
    dcf.data_rate = dcf.control_rate;
    dcf.llc_header = Bytes::ZERO;
    dcf.nav_reset = false;
    MultichannelConfig::new(dcf, is_bidirectional)
}

fn with(is_bidirectional: bool, change: impl FnOnce(&mut MultichannelConfig)) -> MultichannelConfig {
    let mut config = config(is_bidirectional);
    change(&mut config);
    config
}

/// Stations that all hear each other at once; each draws as its list says first.
fn stations(config: MultichannelConfig, draws: &[&[u32]]) -> Stations {
    let station = |(i, draws): (usize, &&[u32])| {
        Multichannel::new(config, Address(i as u32), stream_drawing(draws), Stream::new(7, i as u64, "choice"))
    };
    Medium::of(draws.iter().enumerate().map(station).collect(), us(0))
}

/// A frame from Z, which no other station hears.
fn foreign(kind: FrameKind, to: Address, nav: u64, channel: u8) -> Signal {
    let channels = if channel == 0 { ChannelSet::EMPTY } else { ChannelSet::only(Channel(channel)) };
    Signal::Frame(Frame {
        kind,
        retry: false,
        power_management: false,
        sequence: 0,
        from: TO_Z,
        to,
        size: Bytes::new(21),
        rate: config(false).dcf.control_rate,
        nav: us(nav),
        reservation: Reservation { channels, frames: u8::from(kind == FrameKind::Rts) },
        payload: None,
    })
}

#[test]
fn mcmac_agrees_on_the_control_channel_and_exchanges_on_another() {
    let mut medium = stations(config(false), &[&[9], &[5]]);
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.send(at(120), B, TO_A, 2, 40);
    medium.run(at(11_000));
    // B's five slots count from DIFS after the return, at 10132.
    medium.reads(
        "
        100.000 A RTS to B for 360.000, nav 9672, channel 1, channel 2, channel 3
        470.000 B CTS to A for 360.000, nav 9302, channel 1
        840.000 A CRN to B for 360.000, nav 8932, channel 1
        1200.000 B goes to channel 1
        1200.000 A goes to channel 1
        1210.000 A DATA 1 to B for 8608.000, nav 314
        9818.000 B has 1 from A
        9828.000 B ACK to A for 304.000, nav 0
        10132.000 A is done with 1: Acknowledged, 1 sent
        10132.000 A goes to channel 0
        10132.000 B goes to channel 0
        10282.000 B RTS to A for 360.000, nav 1800, channel 1, channel 2, channel 3, 5 of 31
        10652.000 A CTS to B for 360.000, nav 1430, channel 1
    ",
    );
}

#[test]
fn bi_mcmac_lets_the_receiver_answer_with_data() {
    let mut medium = stations(config(true), &[&[9], &[5]]);
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.send(at(120), B, TO_A, 2, 40);
    medium.run(at(11_300));
    // DIFS before it: 50 + 10778 = 10828 us, the joint cycle of appendix A.
    medium.reads(
        "
        100.000 A RTS to B for 360.000, nav 9672, channel 1, channel 2, channel 3
        470.000 B CTS to A for 360.000, nav 10048, channel 1
        840.000 A CRN to B for 360.000, nav 9678, channel 1
        1200.000 B goes to channel 1
        1200.000 A goes to channel 1
        1210.000 A DATA 1 to B for 8608.000, nav 1060
        9818.000 B has 1 from A
        9828.000 B DATA 2 to A for 736.000, nav 314
        10564.000 A is done with 1: Acknowledged, 1 sent
        10564.000 A has 2 from B
        10574.000 A ACK to B for 304.000, nav 0
        10878.000 B is done with 2: Acknowledged, 1 sent
        10878.000 B goes to channel 0
        10878.000 A goes to channel 0
    ",
    );
}

#[test]
fn others_may_contend_after_the_crn_and_use_another_channel() {
    let mut medium = stations(config(false), &[&[], &[], &[3], &[]]);
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.send(at(120), C, TO_D, 2, 1_024);
    medium.run(at(3_000));
    medium.reads(
        "
        100.000 A RTS to B for 360.000, nav 9672, channel 1, channel 2, channel 3
        470.000 B CTS to A for 360.000, nav 9302, channel 1
        840.000 A CRN to B for 360.000, nav 8932, channel 1
        1200.000 B goes to channel 1
        1200.000 A goes to channel 1
        1210.000 A DATA 1 to B for 8608.000, nav 314
        1310.000 C RTS to D for 360.000, nav 9672, channel 2, channel 3, 3 of 31
        1680.000 D CTS to C for 360.000, nav 9302, channel 2
        2050.000 C CRN to D for 360.000, nav 8932, channel 2
        2410.000 D goes to channel 2
        2410.000 C goes to channel 2
        2420.000 C DATA 2 to D for 8608.000, nav 314
    ",
    );
}

#[test]
fn who_is_away_is_not_addressed_and_a_free_neighbour_may_go_first() {
    for (scheduling, first) in [(Scheduling::Fifo, (10_132 + 50 + 60, TO_B)), (Scheduling::SkipBusy, (1_310, TO_D))] {
        let mut medium = stations(with(false, |c| c.scheduling = scheduling), &[&[], &[], &[3], &[]]);
        medium.send(at(100), A, TO_B, 1, 1_024);
        medium.send(at(120), C, TO_B, 2, 1_024);
        medium.send(at(130), C, TO_D, 3, 1_024);
        medium.run(at(11_000));
        let rts = medium.transmissions.iter().find(|sent| sent.station == C).unwrap();
        assert_eq!((rts.at, rts.frame.to), (at(first.0), first.1), "{}", medium.timeline);
    }
}

#[test]
fn without_a_free_channel_everybody_waits_for_the_first() {
    let mut medium = stations(with(false, |c| c.data_channels = 1), &[&[], &[], &[3], &[]]);
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.send(at(120), C, TO_D, 2, 1_024);
    medium.run(at(11_000));
    let rts = medium.transmissions.iter().find(|sent| sent.station == C).unwrap();
    assert_eq!(rts.at, at(10_132 + 50 + 60), "{}", medium.timeline);
}

#[test]
fn whoever_hears_the_rts_alone_keeps_silent_for_the_whole_exchange() {
    // The RTS of Z ends at 360 and announces 9672 us.
    for (crn_at, access) in [(None, 360 + 9_672), (Some(1_100), 1_460)] {
        let mut medium = stations(config(false), &[&[3], &[]]);
        medium.hear(A, at(0), us(360), foreign(FrameKind::Rts, TO_C, 9_672, 1));
        medium.send(at(500), A, TO_B, 1, 1_024);
        if let Some(crn_at) = crn_at {
            medium.hear(A, at(crn_at), us(360), foreign(FrameKind::Crn, TO_C, 8_932, 1));
        }
        medium.run(at(11_000));
        assert_eq!(medium.transmissions[0].at, at(access + 50 + 60), "{}", medium.timeline);
        let free = medium.transmissions[0].frame.reservation.channels;
        assert_eq!(free.contains(Channel(1)), crn_at.is_none());
    }
}

#[test]
fn an_rts_is_answered_only_with_a_channel_that_is_free_on_both_sides() {
    for (reserved, offered, answer) in [(2, 1, Some(1)), (1, 1, None), (1, 3, Some(3))] {
        let mut medium = stations(config(false), &[&[]]);
        medium.hear(A, at(0), us(360), foreign(FrameKind::Cts, TO_C, 5_000, reserved));
        medium.hear(A, at(1_000), us(360), foreign(FrameKind::Rts, TO_A, 9_672, offered));
        medium.run(at(3_000));
        let granted = medium.transmissions.first().and_then(|sent| sent.frame.reservation.channels.lowest());
        assert_eq!(granted, answer.map(Channel), "{}", medium.timeline);
        assert_eq!(medium.stations[A].counts().refused_without_channel, u64::from(answer.is_none()));
        // No CRN follows: the grant is void, and the station has not left.
        assert_eq!(medium.stations[A].counts().void_grants, u64::from(answer.is_some()));
        assert!(medium.tunes.is_empty());
    }
}

#[test]
fn a_station_whose_nav_is_set_does_not_answer() {
    let mut medium = stations(config(false), &[&[]]);
    medium.hear(A, at(0), us(360), foreign(FrameKind::Rts, TO_C, 5_000, 1));
    medium.hear(A, at(1_000), us(360), foreign(FrameKind::Rts, TO_A, 9_672, 1));
    medium.run(at(3_000));
    assert!(medium.transmissions.is_empty());
    assert_eq!(medium.stations[A].counts().refused_by_nav, 1);
}

#[test]
fn a_lost_final_ack_is_cured_by_the_duplicate_filter() {
    let mut medium = stations(config(true), &[&[9], &[5]]);
    medium.destroy = vec![(FrameKind::Ack, 1)];
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.send(at(120), B, TO_A, 2, 40);
    medium.run(at(14_000));
    medium.reads(
        "
        100.000 A RTS to B for 360.000, nav 9672, channel 1, channel 2, channel 3
        470.000 B CTS to A for 360.000, nav 10048, channel 1
        840.000 A CRN to B for 360.000, nav 9678, channel 1
        1200.000 B goes to channel 1
        1200.000 A goes to channel 1
        1210.000 A DATA 1 to B for 8608.000, nav 1060
        9818.000 B has 1 from A
        9828.000 B DATA 2 to A for 736.000, nav 314
        10564.000 A is done with 1: Acknowledged, 1 sent
        10564.000 A has 2 from B
        10574.000 A ACK to B for 304.000, nav 0
        10878.000 B goes to channel 0
        10878.000 A goes to channel 0
        11028.000 B RTS to A for 360.000, nav 1800, channel 1, channel 2, channel 3, 5 of 31
        11398.000 A CTS to B for 360.000, nav 1430, channel 1
        11768.000 B CRN to A for 360.000, nav 1060, channel 1
        12128.000 A goes to channel 1
        12128.000 B goes to channel 1
        12138.000 B DATA 2 again to A for 736.000, nav 314
        12884.000 A ACK to B for 304.000, nav 0
        13188.000 B is done with 2: Acknowledged, 2 sent
        13188.000 B goes to channel 0
        13188.000 A goes to channel 0
    ",
    );
    assert_eq!(medium.stations[A].stats().duplicates, 1);
}

#[test]
fn a_lost_data_frame_is_announced_again() {
    let mut medium = stations(config(false), &[&[], &[]]);
    medium.destroy = vec![(FrameKind::Data, 1)];
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.run(at(30_000));
    // No ACK has begun 222 us after the end of the data frame: back at 10040, DIFS, and the backoff.
    let again = medium.transmissions.iter().filter(|sent| sent.frame.kind == FrameKind::Rts).nth(1).unwrap();
    let (window, drawn) = again.backoff.unwrap();
    assert_eq!(window, 63);
    assert_eq!(again.at, at(10_040 + 50 + 20 * u64::from(drawn)), "{}", medium.timeline);
    assert_eq!(medium.outcomes, [(A, 1, Outcome::Acknowledged)]);
    assert!(medium.timeline.contains("A DATA 1 again to B"));
}

#[test]
fn retry_limits_give_up_and_hand_back() {
    let mut medium = stations(config(false), &[&[], &[]]);
    medium.send(at(100), A, TO_Z, 1, 1_024);
    medium.run(at(1_000_000));
    assert!(medium.timeline.ends_with("A is done with 1: RetryLimit, 0 sent\n"), "{}", medium.timeline);
    assert_eq!(medium.stations[A].stats().rts_frames, 7);
    medium.destroy = (1..=4).map(|nth| (FrameKind::Data, nth)).collect();
    medium.send(at(1_000_000), A, TO_B, 2, 1_024);
    medium.run(at(2_000_000));
    assert!(medium.timeline.ends_with("A is done with 2: RetryLimit, 4 sent\n"), "{}", medium.timeline);
    assert_eq!(medium.stations[A].stats().retry_limit_drops, 2);
}

/// Data frames of both directions count, and those that are sent again.
#[test]
fn frames_sent_are_counted_by_direction() {
    let mut medium = stations(config(true), &[&[9], &[5]]);
    medium.destroy = vec![(FrameKind::Ack, 1)];
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.send(at(120), B, TO_A, 2, 40);
    medium.run(at(14_000));
    // A once; B in answer to it, and again on its own.
    let counts = |place: usize| {
        let station = &medium.stations[place];
        let (stats, counts) = (station.stats(), station.counts());
        [stats.data_frames, stats.retries, stats.rts_frames, counts.reverse_frames]
    };
    assert_eq!([counts(A), counts(B)], [[1, 0, 1, 0], [2, 1, 1, 1]]);
}

#[test]
fn what_goes_first_into_the_queue_after_the_grant_is_sent_only_if_it_fits() {
    // B has granted itself 736 us for 40 byte; 48 do not fit, 20 do. Or nothing is left to send: B acknowledges all the
    // same.
    for (size, answers) in [(Some(48), false), (Some(20), true), (None, false)] {
        let mut medium = stations(config(true), &[&[9], &[5]]);
        medium.send(at(100), A, TO_B, 1, 1_024);
        // Of B only what waits can answer: in service is a packet for Z.
        medium.send(at(120), B, TO_Z, 9, 40);
        medium.send(at(120), B, TO_A, 2, 40);
        let first = |size| MacInput::EnqueueFirst(Msdu { to: TO_A, packet: Payload { id: 3, size } });
        medium.tell(at(3_000), B, size.map_or(MacInput::Purge(TO_A), first));
        medium.run(at(11_000));
        assert_eq!(medium.delivered.contains(&(A, 3)), answers, "{}", medium.timeline);
        assert!(medium.outcomes.contains(&(A, 1, Outcome::Acknowledged)), "{}", medium.timeline);
        let returned = if answers { 9_828 + 576 + 10 + 304 } else { 9_828 + 304 };
        assert_eq!(medium.tunes.last().unwrap().1, at(returned), "{}", medium.timeline);
    }
}

#[test]
fn a_batch_is_exchanged_after_one_handshake() {
    let mut medium = stations(with(true, |c| c.batch = 3), &[&[9], &[5]]);
    for id in 1..=4 {
        medium.send(at(100), A, TO_B, id, 1_024);
    }
    for id in 11..=12 {
        medium.send(at(120), B, TO_A, id, 40);
    }
    medium.run(at(30_500));
    medium.reads(
        "
        100.000 A RTS to B for 360.000, nav 9672, channel 1, channel 2, channel 3
        470.000 B CTS to A for 360.000, nav 10048, channel 1
        840.000 A CRN to B for 360.000, nav 9678, channel 1
        1200.000 B goes to channel 1
        1200.000 A goes to channel 1
        1210.000 A DATA 1 to B for 8608.000, nav 1060
        9818.000 B has 1 from A
        9828.000 B DATA 11 to A for 736.000, nav 314
        10564.000 A is done with 1: Acknowledged, 1 sent
        10564.000 A has 11 from B
        10574.000 A ACK to B for 304.000, nav 0
        10878.000 B is done with 11: Acknowledged, 1 sent
        10878.000 B goes to channel 0
        10878.000 A goes to channel 0
        11108.000 A RTS to B for 360.000, nav 27536, channel 1, channel 2, channel 3, 9 of 31
        11478.000 B CTS to A for 360.000, nav 27598, channel 1
        11848.000 A CRN to B for 360.000, nav 27228, channel 1
        12208.000 B goes to channel 1
        12208.000 A goes to channel 1
        12218.000 A DATA 2 to B for 8608.000, nav 18610
        20826.000 B has 2 from A
        20836.000 B DATA 12 to A for 736.000, nav 17864
        21572.000 A is done with 2: Acknowledged, 1 sent
        21572.000 A has 12 from B
        21582.000 A DATA 3 to B for 8608.000, nav 9246
        30190.000 B is done with 12: Acknowledged, 1 sent
        30190.000 B has 3 from A
        30200.000 B ACK to A for 304.000, nav 8932
    ",
    );
}

#[test]
fn retuning_takes_its_time_twice() {
    let mut medium = stations(with(false, |c| c.switching_time = us(80)), &[&[9], &[]]);
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.run(at(10_500));
    medium.reads(
        "
        100.000 A RTS to B for 360.000, nav 9832, channel 1, channel 2, channel 3
        470.000 B CTS to A for 360.000, nav 9462, channel 1
        840.000 A CRN to B for 360.000, nav 9092, channel 1
        1200.000 B goes to channel 1
        1200.000 A goes to channel 1
        1290.000 A DATA 1 to B for 8608.000, nav 394
        9898.000 B has 1 from A
        9908.000 B ACK to A for 304.000, nav 80
        10212.000 A is done with 1: Acknowledged, 1 sent
        10212.000 A goes to channel 0
        10212.000 B goes to channel 0
    ",
    );
}

#[test]
fn who_comes_back_may_listen_first() {
    let mut medium = stations(with(false, |c| c.listening_time = us(2_000)), &[&[9], &[]]);
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.send(at(100), A, TO_B, 2, 1_024);
    medium.run(at(13_000));
    let second = medium.transmissions.iter().filter(|sent| sent.frame.kind == FrameKind::Rts).nth(1).unwrap();
    assert_eq!(second.at, at(10_132 + 2_000 + 50 + 9 * 20), "{}", medium.timeline);
}

#[test]
fn a_broadcast_goes_out_once_on_the_control_channel() {
    let mut medium = stations(config(true), &[&[9], &[], &[]]);
    medium.send(at(100), A, Address::BROADCAST, 1, 64);
    medium.run(at(3_000));
    medium.reads(
        "
        100.000 A DATA 1 to all for 928.000, nav 0
        1028.000 B has 1 from A
        1028.000 C has 1 from A
        1028.000 A is done with 1: Broadcast, 1 sent
    ",
    );
}

#[test]
fn energy_on_the_control_channel_is_found_on_the_return() {
    let mut medium = stations(config(false), &[&[3], &[]]);
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.send(at(100), A, TO_B, 2, 1_024);
    medium.noise(at(5_000), at(12_000));
    medium.run(at(13_000));
    let second = medium.transmissions.iter().filter(|sent| sent.frame.kind == FrameKind::Rts).nth(1).unwrap();
    assert_eq!(second.at, at(12_000 + 50 + 60), "{}", medium.timeline);
}

/// Throughput of A to B \[kbit/s\] over a minute, of 1024 byte a packet; B sends a packet of `answer` byte for every
/// second one that it gets, as TCP with delayed acknowledgements does.
fn two_node_throughput(is_bidirectional: bool, answer: Option<u64>) -> f64 {
    const SECONDS: u64 = 60;
    let config = with(is_bidirectional, |c| c.dcf.queue_limit = 1_000_000);
    let mut medium = stations(config, &[&[], &[]]);
    for id in 0..6_000 {
        medium.send(at(0), A, TO_B, id, 1_024);
    }
    let (mut seen, mut received) = (0, 0);
    // Looked at often enough that the answer is in the queue before the exchange that caused it is over.
    for step in 1..=SECONDS * 5_000 {
        medium.run(at(step * 200));
        while let Some(&(station, _)) = medium.delivered.get(seen) {
            seen += 1;
            received += u64::from(station == B);
            if let Some(size) = answer.filter(|_| station == B && received % 2 == 0) {
                medium.send(medium.now, B, TO_A, 100_000 + seen as u32, size);
            }
        }
    }
    (received * 8_192) as f64 / SECONDS as f64 / 1_000.0
}

#[test]
fn a_saturated_sender_reaches_the_closed_form() {
    // Appendix A: 10082 us a cycle, and 31/2 slots of backoff; the deviation of the mean over 5800 cycles is 0.03 %.
    let expected = 8_192_000.0 / (10_082.0 + 15.5 * 20.0);
    for is_bidirectional in [false, true] {
        let measured = two_node_throughput(is_bidirectional, None);
        assert!((measured / expected - 1.0).abs() < 0.002, "{measured} and not {expected}");
    }
}

#[test]
fn two_nodes_reach_what_the_paper_simulated() {
    // Section 5.2.2: 710.5 and 765.4 kbit/s.
    for (is_bidirectional, paper) in [(false, 710.5), (true, 765.4)] {
        let measured = two_node_throughput(is_bidirectional, Some(40));
        assert!((measured / paper - 1.0).abs() < 0.01, "{measured} and not {paper}");
    }
}

/// Random stations, traffic and losses.
#[derive(Clone, Debug)]
struct Case {
    config: MultichannelConfig,
    delays: Vec<Option<u64>>,
    packets: Vec<(u64, usize, u32, u64)>,
    /// Whether the packet of the same index goes before all that wait.
    first: Vec<bool>,
    purges: Vec<(u64, usize, u32)>,
    destroyed: Vec<(usize, u32)>,
}

fn case() -> impl Strategy<Value = Case> {
    let choices = [ChannelChoice::Hysteresis, ChannelChoice::Lowest, ChannelChoice::LeastUsed, ChannelChoice::Random];
    let settings = (
        any::<[bool; 4]>(),
        1u8..4,
        1u8..4,
        prop::sample::select(choices.to_vec()),
        prop::sample::select(vec![0u64, 1, 80]),
        prop::sample::select(vec![0u64, 1_500]),
        2u32..6,
    );
    let config = settings.prop_map(|(flags, data_channels, batch, choice, switching, listening, queue_limit)| {
        with(flags[0], |c| {
            c.scheduling = if flags[1] { Scheduling::Fifo } else { Scheduling::SkipBusy };
            (c.dcf.eifs, c.dcf.nav_reset, c.dcf.queue_limit) = (flags[2], flags[3], queue_limit);
            (c.data_channels, c.batch, c.choice) = (data_channels, batch, choice);
            (c.switching_time, c.listening_time) = (us(switching), us(listening));
        })
    });
    let delay = prop_oneof![1 => Just(None), 4 => (0u64..3_000).prop_map(Some)];
    let delays = prop::collection::vec(delay, 36);
    let packets = prop::collection::vec((0u64..40_000, 0usize..6, 0u32..7, 0u64..1_500), 1..40);
    let first = prop::collection::vec(prop::bool::weighted(0.2), 40);
    let purges = prop::collection::vec((0u64..60_000, 0usize..6, 0u32..6), 0..6);
    let destroyed = prop::collection::vec((0usize..5, 1u32..30), 0..40);
    (config, delays, packets, first, purges, destroyed).prop_map(
        |(config, delays, packets, first, purges, destroyed)| Case {
            config,
            delays,
            packets,
            first,
            purges,
            destroyed,
        },
    )
}

fn play(case: &Case, n: usize) -> (Stations, usize) {
    let mut medium = stations(case.config, &vec![&[] as &[u32]; n]);
    let kinds = [FrameKind::Data, FrameKind::Ack, FrameKind::Rts, FrameKind::Cts, FrameKind::Crn];
    medium.destroy = case.destroyed.iter().map(|&(kind, nth)| (kinds[kind], nth)).collect();
    for i in 0..n {
        for j in 0..i {
            medium.delay[i][j] = case.delays[i * 6 + j].map(Duration::from_nanos);
            medium.delay[j][i] = medium.delay[i][j];
        }
    }
    let mut sent = 0;
    for (id, &(at_us, from, to, size)) in case.packets.iter().enumerate() {
        let (from, to) = (from % n, if to == 6 { Address::BROADCAST } else { Address(to) });
        if to != Address(from as u32) {
            let msdu = Msdu { to, packet: Payload { id: id as u32, size } };
            let is_first = case.first[id];
            medium.tell(at(at_us), from, if is_first { MacInput::EnqueueFirst(msdu) } else { MacInput::Enqueue(msdu) });
            sent += 1;
        }
    }
    for &(at_us, station, neighbour) in &case.purges {
        medium.tell(at(at_us), station % n, MacInput::Purge(Address(neighbour)));
    }
    medium.run(at(60_000_000));
    (medium, sent)
}

/// A radio does one thing at a time: no transmission overlaps another or a change of channel.
fn uses_one_transceiver(medium: &Stations, station: usize) -> bool {
    let own = medium.transmissions.iter().filter(|sent| sent.station == station);
    let sent = own.map(|sent| (sent.at, sent.at + sent.airtime));
    let tuned = medium.tunes.iter().filter(|tune| tune.0 == station).map(|&(_, from, to)| (from, to));
    let mut uses: Vec<(Instant, Instant)> = sent.chain(tuned).collect();
    uses.sort_unstable();
    uses.windows(2).all(|pair| pair[0].1 <= pair[1].0)
}

/// Whether the receiver of a data frame has granted the channel for its time: by its CTS, or by its CRN for the data
/// that answer. An ACK lies within the grant as well. The ends of Duration fields may differ by the propagation delays.
fn is_granted(medium: &Stations, place: usize) -> bool {
    let data = &medium.transmissions[place];
    medium.transmissions[..place].iter().any(|sent| {
        let frame = &sent.frame;
        let end = sent.at + sent.airtime;
        matches!(frame.kind, FrameKind::Cts | FrameKind::Crn)
            && (frame.from, frame.to) == (data.frame.to, data.frame.from)
            && frame.reservation.channels == ChannelSet::only(data.channel)
            && end <= data.at
            && data.at + data.airtime <= end + frame.nav + us(20)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Stations at random distances, some out of each other's range, random settings, traffic and losses.
    #[test]
    fn whatever_happens_on_the_channels_every_promise_is_kept(case in case(), n in 2usize..7) {
        let (medium, sent) = play(&case, n);
        // Each packet is reported once, and none waits any more.
        let mut reported: Vec<_> = medium.outcomes.iter().map(|&(_, id, _)| id).collect();
        reported.sort_unstable();
        reported.dedup();
        prop_assert_eq!((reported.len(), medium.outcomes.len()), (sent, sent), "{}", medium.timeline);
        prop_assert!(
            medium.stations.iter().all(|station| station.queue_len() == 0 && station.poll_timeout().is_none())
        );
        // An acknowledged one was delivered, and a unicast one never twice.
        for &(_, id, outcome) in &medium.outcomes {
            let times = medium.delivered.iter().filter(|&&(_, delivered)| delivered == id).count();
            let is_broadcast = case.packets[id as usize].2 == 6;
            prop_assert!(is_broadcast || times <= 1, "{}\n{}", id, medium.timeline);
            prop_assert!(outcome != Outcome::Acknowledged || times == 1, "{}\n{}", id, medium.timeline);
            prop_assert!(outcome != Outcome::QueueFull || times == 0, "{}\n{}", id, medium.timeline);
        }
        for station in 0..n {
            prop_assert!(uses_one_transceiver(&medium, station), "{}", medium.timeline);
        }
        for (place, one) in medium.transmissions.iter().enumerate() {
            let is_unicast_data = one.frame.kind == FrameKind::Data && one.frame.to != Address::BROADCAST;
            let is_exchange = is_unicast_data || one.frame.kind == FrameKind::Ack;
            prop_assert_eq!(one.channel != Channel::CONTROL, is_exchange, "{}", medium.timeline);
            prop_assert!(!is_exchange || is_granted(&medium, place), "{}", medium.timeline);
        }
    }
}

/// A neighbour is gone: what waits for it is given up, and an exchange with it that has begun is finished.
#[test]
fn what_waits_for_a_neighbour_that_is_gone_is_given_up_and_an_exchange_is_not() {
    let outcomes = |station: usize, neighbour: Address, purged_at: u64| {
        let mut medium = stations(config(true), &[&[9], &[5]]);
        medium.noise(at(0), at(90));
        medium.send(at(95), A, TO_B, 1, 1_024);
        medium.send(at(95), A, TO_B, 3, 1_024);
        medium.send(at(120), B, TO_A, 2, 40);
        medium.tell(at(purged_at), station, MacInput::Purge(neighbour));
        medium.run(at(40_000));
        let mut outcomes = medium.outcomes.clone();
        outcomes.sort_unstable_by_key(|outcome| outcome.1);
        outcomes.into_iter().map(|(_, _, outcome)| outcome).collect::<Vec<_>>()
    };
    let (sent, purged) = (Outcome::Acknowledged, Outcome::Purged);
    assert_eq!(outcomes(A, TO_B, 100), [purged, sent, purged], "before the RTS");
    for (purged_at, why) in [(300, "during the RTS"), (600, "during the CTS"), (2_000, "on the data channel")] {
        assert_eq!(outcomes(A, TO_B, purged_at), [sent, sent, purged], "{why}");
    }
    // B answers with its packet for A, which waited for the medium when the RTS came.
    assert_eq!(outcomes(B, TO_A, 3_000), [sent, sent, sent], "it has a part in the exchange");
}
