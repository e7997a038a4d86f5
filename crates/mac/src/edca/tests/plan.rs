//! The content of the next PPDU, and the time that it reserves: each limit on both sides of where it is met.
//!
//! 802.11n, 20 MHz, MCS 7: 36 us of preamble and symbols of 4 us with 260 bits, of which 22 are service and tail. An
//! MPDU with 1500 byte has 1538, and 1544 with its delimiter and padding. Answers go at 24 Mbit/s: a block
//! acknowledgement lasts 32 us, an ACK 28 us.

use super::super::config::{AgreementSetup, EdcaConfig};
use super::super::frames::{Content, Vector};
use super::super::link::LinkId;
use super::super::plan::{Answer, Planned, Planner};
use super::super::rates::Pick;
use super::super::traffic::{QueueId, Traffic};
use super::air::Payload;
use crate::frame::{Address, FrameKind};
use crate::phy::OFDM_RATES;
use crate::ppdu::{Band, Choice, Format, Mode, Width};
use crate::rate_control::RateControl;
use crate::service::Msdu;
use airbraid_units::{Bytes, Duration};
use proptest::prelude::*;

const PEER: Address = Address(1);
/// SIFS and a block acknowledgement, SIFS and an ACK.
const BLOCK_ACK: u64 = 16 + 32;
const ACK: u64 = 16 + 28;

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}
const fn ns(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}

fn of_format(format: Format) -> EdcaConfig {
    let choice = Choice { mcs: 7, width: Width::Mhz20, ..Choice::new(format) };
    EdcaConfig::new(Vector::Mode(Mode::new(choice).unwrap()), Band::Ghz5)
}
fn ht() -> EdcaConfig {
    of_format(Format::Ht)
}
fn without_agreements() -> EdcaConfig {
    let mut config = ht();
    config.aggregation.ampdu = None;
    config
}

/// Time of a PPDU of 802.11n with this PSDU.
fn airtime(psdu: u64) -> Duration {
    us(36 + 4 * (22 + 8 * psdu).div_ceil(260))
}
/// PSDU of this number of MPDUs with 1500 byte.
const fn psdu_of(mpdus: u64) -> u64 {
    1_544 * mpdus - 2
}

/// A planner, and a queue with packets of these sizes.
struct Bench {
    planner: Planner,
    traffic: Traffic<Payload>,
    id: QueueId,
}

impl Bench {
    fn new(config: EdcaConfig, sizes: &[u64]) -> Self {
        let mut traffic = Traffic::new(&config);
        let id = traffic.reach(PEER, 0, LinkId(0));
        let mut bench = Self { planner: Planner::new(config, Address(0)), traffic, id };
        (0..).zip(sizes).for_each(|(id, size)| bench.push(id, *size));
        bench
    }
    fn push(&mut self, id: u32, size: u64) {
        let packet = Payload { id, size, priority: 0 };
        assert!(self.traffic.push(Msdu { to: PEER, packet }, LinkId(0)).is_ok());
    }
    fn plan_as(&mut self, span: Option<Duration>, is_first: bool, pick: Pick) -> Option<Planned<Payload>> {
        self.planner.plan(self.id, self.traffic.queue_mut(self.id), span, is_first, pick)
    }
    fn plan(&mut self, span: Option<Duration>) -> Option<Planned<Payload>> {
        self.plan_as(span, true, Pick::default())
    }
    /// The first numbers are acknowledged or lost, by turns of what the list says.
    fn settle(&mut self, came: &[bool]) {
        let originator = &mut self.traffic.queue_mut(self.id).originator;
        for (number, came) in (0..).zip(came) {
            originator.on_sent(number);
            if *came {
                originator.acknowledge(number);
            } else {
                originator.lose(number, None);
            }
        }
        originator.advance();
    }
    fn waiting(&mut self) -> usize {
        self.traffic.queue_mut(self.id).waiting.len()
    }
}

fn numbers(planned: &Planned<Payload>) -> Vec<u16> {
    planned.ppdu.data().unwrap().mpdus().iter().map(|mpdu| mpdu.sequence).collect()
}
fn count(planned: &Planned<Payload>) -> usize {
    planned.ppdu.data().unwrap().mpdus().len()
}
/// The time that it reserves behind its end \[us\].
fn nav(planned: Option<Planned<Payload>>) -> u64 {
    planned.unwrap().ppdu.header.nav.as_nanos() / 1_000
}

#[test]
fn an_aggregate_ends_at_the_first_limit() {
    let many = [1_500; 9];
    let length = |config, span| {
        let planned = Bench::new(config, &many).plan(span).unwrap();
        assert_eq!(planned.ppdu.header.size, Bytes::new(psdu_of(count(&planned) as u64)));
        assert_eq!((planned.airtime, planned.answer), (airtime(psdu_of(count(&planned) as u64)), Answer::BlockAck));
        count(&planned)
    };
    assert_eq!(length(ht(), None), 9);
    for mpdus in [2, 3, 8] {
        let with = |change: &dyn Fn(&mut EdcaConfig)| {
            let mut config = ht();
            change(&mut config);
            config
        };
        let bytes = |bytes| with(&|config| config.aggregation.ampdu = Some(Bytes::new(bytes)));
        assert_eq!(length(bytes(psdu_of(mpdus)), None), mpdus as usize);
        assert_eq!(length(bytes(psdu_of(mpdus + 1) - 1), None), mpdus as usize);
        assert_eq!(length(with(&|config| config.aggregation.ampdu_frames = mpdus as u32), None), mpdus as usize);
        assert_eq!(length(with(&|config| config.aggregation.window = mpdus as u16), None), mpdus as usize);
        // The end of the TXOP: the answer counts.
        let span = airtime(psdu_of(mpdus)) + us(BLOCK_ACK);
        assert_eq!(length(ht(), Some(span)), mpdus as usize);
        let (before, ppdu) = (span - ns(1), airtime(psdu_of(mpdus)) - us(4));
        let fits = (1..=mpdus).rev().find(|fewer| airtime(psdu_of(*fewer)) <= ppdu).unwrap();
        let planned = Bench::new(ht(), &many).plan(Some(before)).unwrap();
        assert_eq!(count(&planned) as u64, fits);
    }
}

/// Limits of the format: aPSDUMaxLength of 802.11n, aPPDUMaxTime of a slow 802.11ax.
#[test]
fn an_aggregate_ends_where_its_format_does() {
    let mut config = ht();
    config.aggregation.ampdu = Some(Bytes::new(1_000_000));
    let fast = Mode::new(Choice { mcs: 7, streams: 4, width: Width::Mhz40, ..Choice::new(Format::Ht) }).unwrap();
    config.data = Vector::Mode(fast);
    // 42 x 1544 - 2 = 64846; 43 would have 66390 of 65535 byte.
    assert_eq!(count(&Bench::new(config, &[1_500; 60]).plan(None).unwrap()), 42);
    let slow = Mode::new(Choice::new(Format::He)).unwrap();
    let config = EdcaConfig::new(Vector::Mode(slow), Band::Ghz5);
    for span in [None, Some(us(20_000))] {
        let planned = Bench::new(config, &[1_500; 60]).plan(span).unwrap();
        let longer = slow.airtime(Bytes::new(psdu_of(count(&planned) as u64 + 1)));
        assert!(planned.airtime <= us(5_484) && longer > us(5_484), "{} then {longer}", planned.airtime);
    }
}

#[test]
fn the_first_of_a_txop_goes_however_long_it_lasts() {
    let single = airtime(1_538);
    for config in [ht(), without_agreements()] {
        let spans = [(single + us(ACK), true), (single + us(ACK) - ns(1), false), (us(1), false)];
        for (span, fits) in spans {
            let planned = Bench::new(config, &[1_500]).plan(Some(span)).unwrap();
            assert_eq!((planned.airtime, planned.answer, nav(Some(planned))), (single, Answer::Ack, ACK));
            let mut bench = Bench::new(config, &[1_500, 1_500]);
            let later = bench.plan_as(Some(span), false, Pick::default());
            assert_eq!(later.is_some(), fits, "{span}");
            if !fits {
                // It is put back, and goes as the first of the next TXOP with the same number.
                let queue = bench.traffic.queue_mut(bench.id);
                assert!(queue.originator.has_waiting() && queue.originator.len() == 1);
                assert_eq!(numbers(&bench.plan(None).unwrap())[0], 0);
            }
        }
    }
}

/// Without agreement one MPDU at a time, whatever waits.
#[test]
fn without_an_agreement_each_mpdu_goes_alone() {
    let mut bench = Bench::new(without_agreements(), &[1_500; 3]);
    let planned = bench.plan(None).unwrap();
    assert_eq!((numbers(&planned), planned.ppdu.header.size.as_u64()), (vec![0], 1_538));
    assert!(bench.plan(None).is_none(), "the window is one MPDU");
    bench.settle(&[true]);
    assert_eq!(numbers(&bench.plan(None).unwrap()), [1]);
}

/// The exchange that follows in the TXOP is reserved with the first, as far as it will go (9.2.5.2).
#[test]
fn an_exchange_reserves_the_medium_for_the_next_one() {
    let mut pairs = ht();
    pairs.aggregation.ampdu_frames = 2;
    let first = airtime(psdu_of(2)) + us(BLOCK_ACK);
    let reserved = |config, left: Duration| nav(Bench::new(config, &[1_500; 5]).plan(Some(first + left)));
    // Three MPDUs of 1544 byte are 143 symbols: 16 + 608 + 48 us.
    assert_eq!(airtime(3 * 1_544), us(608));
    assert_eq!(reserved(pairs, us(672)), BLOCK_ACK + 672);
    assert_eq!(reserved(pairs, us(5_000)), BLOCK_ACK + 672);
    assert_eq!(reserved(pairs, us(671)), BLOCK_ACK + 668, "a symbol less");
    // A single MPDU takes 48 symbols: 16 + 228 + 48 us.
    assert_eq!(airtime(1_538), us(228));
    assert_eq!((reserved(pairs, us(292)), reserved(pairs, us(291))), (BLOCK_ACK + 292, BLOCK_ACK));
    // The longest A-MPDU: 2000 byte are 62 symbols.
    pairs.aggregation.ampdu = Some(Bytes::new(3_200));
    assert_eq!(airtime(3_200), us(432));
    assert_eq!(reserved(pairs, us(2_000)), BLOCK_ACK + 16 + 432 + BLOCK_ACK);
}

#[test]
fn the_last_mpdu_reserves_the_medium_for_an_ack() {
    let mut pairs = ht();
    pairs.aggregation.ampdu_frames = 2;
    let first = airtime(psdu_of(2)) + us(BLOCK_ACK);
    let reserved = |left: u64| nav(Bench::new(pairs, &[1_500; 3]).plan(Some(first + us(left))));
    // 16 + 228 + 44 us.
    assert_eq!((reserved(288), reserved(287), reserved(5_000)), (BLOCK_ACK + 288, BLOCK_ACK, BLOCK_ACK + 288));
    // The same of MPDUs without agreement, which ask for an ACK each.
    let first = airtime(1_538) + us(ACK);
    let reserved = |left: u64| nav(Bench::new(without_agreements(), &[1_500; 3]).plan(Some(first + us(left))));
    assert_eq!((reserved(288), reserved(287), reserved(5_000)), (ACK + 288, ACK, ACK + 288));
}

#[test]
fn nothing_is_reserved_for_an_exchange_that_cannot_follow() {
    let long = Some(us(20_000));
    assert_eq!(nav(Bench::new(ht(), &[1_500; 5]).plan(long)), BLOCK_ACK, "everything is in the first");
    let mut full = ht();
    full.aggregation.window = 2;
    assert_eq!(nav(Bench::new(full, &[1_500; 5]).plan(long)), BLOCK_ACK, "the window is full");
    let mut pairs = ht();
    pairs.aggregation.ampdu_frames = 2;
    assert_eq!(nav(Bench::new(pairs, &[1_500; 5]).plan(None)), BLOCK_ACK, "there is no TXOP but this exchange");
}

/// An agreement by frames has the window that both ends agreed on, and its answers their length: 32 byte up to 64
/// MPDUs, 56 byte up to 256.
#[test]
fn the_answer_is_as_long_as_the_window_that_was_agreed_on() {
    let mut config = of_format(Format::He);
    config.aggregation.setup = AgreementSetup::Frames;
    for (window, time) in [(64, 32), (65, 40), (256, 40)] {
        let mut bench = Bench::new(config, &[1_500; 3]);
        let queue = bench.traffic.queue_mut(bench.id);
        queue.is_agreed = true;
        queue.originator.set_window(window);
        assert_eq!(nav(bench.plan(None)), 16 + time);
    }
}

#[test]
fn what_was_lost_goes_first_and_new_ones_behind_it() {
    let mut config = ht();
    config.aggregation.ampdu_frames = 4;
    let mut bench = Bench::new(config, &[1_500; 7]);
    assert_eq!(numbers(&bench.plan(None).unwrap()), [0, 1, 2, 3]);
    bench.settle(&[true, false, true, false]);
    let again = bench.plan(None).unwrap();
    assert_eq!(numbers(&again), [1, 3, 4, 5]);
    let attempts: Vec<u16> = again.ppdu.data().unwrap().mpdus().iter().map(|mpdu| mpdu.attempts).collect();
    assert_eq!((attempts, again.ppdu.header.retry, again.ppdu.header.sequence), (vec![2, 2, 1, 1], true, 1));
    // Where those that were lost fill the PPDU nothing new is numbered.
    for (frames, bytes, expected) in [(2, 65_535, 2), (4, psdu_of(2), 2), (4, psdu_of(2) - 1, 1), (1, 65_535, 1)] {
        let mut bench = Bench::new(config, &[1_500; 7]);
        bench.plan(None).unwrap();
        bench.settle(&[true, false, true, false]);
        let mut shorter = config;
        (shorter.aggregation.ampdu_frames, shorter.aggregation.ampdu) = (frames, Some(Bytes::new(bytes)));
        bench.planner = Planner::new(shorter, Address(0));
        let again = bench.plan(None).unwrap();
        assert_eq!(numbers(&again), [1, 3][..expected]);
        assert_eq!(bench.waiting(), 3, "none of the new ones is taken");
        let queue = bench.traffic.queue_mut(bench.id);
        assert_eq!(queue.originator.has_waiting(), expected < 2, "one that finds no room waits on");
        assert_eq!(queue.originator.next(), 4);
    }
}

/// An MPDU that was put to a link goes there alone.
#[test]
fn a_link_sends_what_was_put_to_it() {
    let mut bench = Bench::new(ht(), &[]);
    let originator = &mut bench.traffic.queue_mut(bench.id).originator;
    for (id, link) in [(0, 0), (1, 1), (2, 0), (3, 1)] {
        originator.put(Payload { id, size: 1_500, priority: 0 }, 1_538, 1, LinkId(link));
    }
    assert_eq!(numbers(&bench.plan(None).unwrap()), [0, 2]);
    assert!(bench.plan(None).is_none());
    bench.planner.link.id = LinkId(1);
    assert_eq!(numbers(&bench.plan(None).unwrap()), [1, 3]);
}

#[test]
fn a_probe_is_one_mpdu() {
    let probe = Pick { is_probe: true, ..Pick::default() };
    assert_eq!(count(&Bench::new(ht(), &[1_500; 5]).plan_as(None, true, probe).unwrap()), 1);
}

/// A link takes what it delivers before others could, and where the window is short its share.
#[test]
fn a_link_takes_its_part() {
    let part = |first_here| Pick { first_here, ..Pick::default() };
    assert_eq!(count(&Bench::new(ht(), &[1_500; 5]).plan_as(None, true, part(Some(3))).unwrap()), 3);
    assert_eq!(count(&Bench::new(ht(), &[1_500; 5]).plan_as(None, true, part(Some(9))).unwrap()), 5);
    assert_eq!(count(&Bench::new(ht(), &[1_500; 5]).plan_as(None, true, part(None)).unwrap()), 5);
    // With more than the window holds it is no limit.
    let mut short = ht();
    short.aggregation.window = 16;
    assert_eq!(count(&Bench::new(short, &[1_500; 17]).plan_as(None, true, part(Some(3))).unwrap()), 16);
    assert_eq!(count(&Bench::new(short, &[1_500; 16]).plan_as(None, true, part(Some(3))).unwrap()), 3);
}

/// An A-MSDU: each subframe has 14 + 8 byte of header, and all but the last are padded to 4 byte: 1522 and 1524.
#[test]
fn packets_are_joined_as_far_as_the_a_msdu_goes() {
    let joined = |format, limit: u64, sizes: &[u64]| {
        let mut config = of_format(format);
        config.aggregation.amsdu = Some(Bytes::new(limit));
        let planned = Bench::new(config, sizes).plan(None).unwrap();
        let data = planned.ppdu.data().unwrap();
        let of = |mpdu| data.msdus_of(mpdu).iter().map(|packet| packet.id).collect::<Vec<_>>();
        data.mpdus().iter().map(|mpdu| (mpdu.size, of(mpdu))).collect::<Vec<_>>()
    };
    // Two are 1524 + 1522 byte, in an MPDU with 30 byte more.
    assert_eq!(joined(Format::He, 3_046, &[1_500; 3]), [(3_076, vec![0, 1]), (1_538, vec![2])]);
    assert_eq!(joined(Format::He, 3_045, &[1_500; 2]), [(1_538, vec![0]), (1_538, vec![1])], "none is joined");
    assert_eq!(joined(Format::He, 100, &[1_500; 2]), [(1_538, vec![0]), (1_538, vec![1])]);
    // 62 + 2 of padding + 122 + 2 + 63.
    assert_eq!(joined(Format::He, 251, &[40, 100, 41]), [(281, vec![0, 1, 2])]);
    assert_eq!(joined(Format::He, 250, &[40, 100, 41]), [(216, vec![0, 1]), (79, vec![2])]);
    // 12 bits for the length of an MPDU of an A-MPDU of 802.11n: 4095 - 30 byte. From 802.11ac on 11454.
    let parts =
        |format, sizes: &[u64]| joined(format, 20_000, sizes).iter().map(|mpdu| mpdu.1.len()).collect::<Vec<_>>();
    assert_eq!(parts(Format::Ht, &[2_019, 1_999]), [2], "2044 + 2021");
    assert_eq!(parts(Format::Ht, &[2_019, 2_000]), [1, 1]);
    assert_eq!(parts(Format::Vht, &[5_678, 5_702]), [2], "5700 + 5724");
    assert_eq!(parts(Format::Vht, &[5_678, 5_703]), [1, 1]);
}

#[test]
fn the_longest_a_msdu_is_what_is_left_of_an_mpdu() {
    let most = |mut config: EdcaConfig, limit: Option<u64>| {
        config.aggregation.amsdu = limit.map(Bytes::new);
        config.amsdu_max(&config.data)
    };
    let long = Some(20_000);
    assert_eq!((most(ht(), long), most(of_format(Format::Vht), long)), (Some(4_065), Some(11_424)));
    assert_eq!(most(without_agreements(), long), Some(11_424), "no A-MPDU");
    assert_eq!((most(ht(), Some(3_839)), most(ht(), None)), (Some(3_839), None));
    let mut wide = ht();
    wide.data_header = Bytes::new(5_000);
    assert_eq!(most(wide, long), Some(0));
    assert_eq!(ht().amsdu_max(&Vector::NonHt(OFDM_RATES[7])), None, "802.11a has none");
}

/// From 802.11ac on a single MPDU stands behind a delimiter; before, it is bare (9.7.1).
#[test]
fn a_single_mpdu_has_the_form_of_its_format() {
    let form = |config| {
        let planned = Bench::new(config, &[1_500]).plan(None).unwrap();
        let data = planned.ppdu.data().unwrap();
        (planned.ppdu.header.size.as_u64(), data.mpdus()[0].offset, data.is_aggregate)
    };
    let legacy = EdcaConfig::new(Vector::NonHt(OFDM_RATES[7]), Band::Ghz5);
    assert_eq!([form(legacy), form(ht())], [(1_538, 0, false); 2]);
    assert_eq!([Format::Vht, Format::He, Format::Eht].map(|format| form(of_format(format))), [(1_542, 4, true); 3]);
}

/// A request has 24 byte at 24 Mbit/s: 32 us. Its answer follows.
#[test]
fn a_request_is_sent_where_it_has_time() {
    let request = |span, is_first| {
        let mut bench = Bench::new(ht(), &[1_500; 2]);
        bench.plan(None).unwrap();
        let queue = bench.traffic.queue_mut(bench.id);
        (0..2).for_each(|number| {
            queue.originator.lose(number, Some(0));
        });
        queue.originator.advance();
        queue.doubts.add_gap(1);
        bench.plan_as(span, is_first, Pick::default())
    };
    for planned in [(None, true), (Some(us(80)), false), (Some(us(1)), true)].map(|(span, first)| request(span, first))
    {
        let planned = planned.unwrap();
        assert_eq!((planned.airtime, planned.answer), (us(32), Answer::BlockAck));
        let header = planned.ppdu.header;
        assert_eq!((header.kind, header.to, header.size), (FrameKind::BlockAckRequest, PEER, Bytes::new(24)));
        assert_eq!((header.nav, &planned.ppdu.content), (us(BLOCK_ACK), &Content::BlockAckRequest { start: 2 }));
    }
    assert!(request(Some(us(80) - ns(1)), false).is_none());
}

/// Rate control does not hear of requests: where only the lowest format comes through they must come through, too.
/// At 6 Mbit/s a request lasts 56 us, and a block acknowledgement of 32 byte 68 us.
#[test]
fn with_rate_control_a_request_goes_at_the_rate_of_the_lowest_format() {
    for control in [RateControl::Minstrel, RateControl::Ideal] {
        let mut bench = Bench::new(EdcaConfig { rate_control: control, ..ht() }, &[1_500; 2]);
        bench.plan_as(None, true, Pick { grade: 7, ..Pick::default() }).unwrap();
        let queue = bench.traffic.queue_mut(bench.id);
        (0..2).for_each(|number| {
            queue.originator.lose(number, Some(0));
        });
        queue.originator.advance();
        queue.doubts.add_gap(1);
        let planned = bench.plan_as(None, true, Pick { grade: 7, ..Pick::default() }).unwrap();
        assert_eq!((planned.airtime, planned.ppdu.header.rate), (us(56), OFDM_RATES[0]));
        assert_eq!(planned.ppdu.header.nav, us(16 + 68));
    }
}

/// With rate control in 80 MHz: the formats of 80, then 40, then 20 MHz.
#[test]
fn formats_of_narrower_channels_follow_those_of_the_whole() {
    let choice = Choice { mcs: 3, width: Width::Mhz80, ..Choice::new(Format::He) };
    let mut config = EdcaConfig::new(Vector::Mode(Mode::new(choice).unwrap()), Band::Ghz5);
    config.rate_control = RateControl::Minstrel;
    let planner = Planner::new(config, Address(0));
    assert_eq!(planner.formats.families().map(<[_]>::len).collect::<Vec<_>>(), [4]);
    for (halvings, width) in [(0, Width::Mhz80), (1, Width::Mhz40), (2, Width::Mhz20)] {
        for mcs in 0..4 {
            let place = planner.formats.place(PEER, mcs, halvings);
            assert_eq!(planner.formats.in_whole(PEER, place), mcs);
            let mut bench = Bench::new(config, &[1_500]);
            let pick = Pick { grade: place, ..Pick::default() };
            let vector = bench.plan_as(None, true, pick).unwrap().ppdu.vector;
            let Vector::Mode(mode) = vector else { panic!("{vector:?}") };
            assert_eq!((mode.choice().width, usize::from(mode.choice().mcs)), (width, mcs));
        }
    }
    let beyond = Bench::new(config, &[1_500]).plan_as(None, true, Pick { grade: 12, ..Pick::default() }).unwrap();
    let Vector::Mode(last) = beyond.ppdu.vector else { panic!("no mode") };
    assert_eq!((last.choice().width, last.choice().mcs), (Width::Mhz20, 3), "beyond the last is the last");
}

/// Beside another link a PPDU ends where that one does, to half a symbol, however little it has to send.
#[test]
fn a_ppdu_beside_another_ends_with_it() {
    let config = of_format(Format::He);
    let symbol = ns(13_600);
    for left in (300..3_000).step_by(7).map(us) {
        let mut bench = Bench::new(config, &[1_500; 3]);
        let queue = bench.traffic.queue_mut(bench.id);
        let planned = bench.planner.plan_beside(bench.id, queue, left, Pick::default()).unwrap();
        let apart = planned.airtime.max(left) - planned.airtime.min(left);
        assert!(apart <= symbol / 2 + ns(1), "{} for {left}", planned.airtime);
        let data = planned.ppdu.data().unwrap();
        let end = data.mpdus().last().map(|mpdu| u64::from(mpdu.offset + mpdu.size)).unwrap();
        assert!(end <= planned.ppdu.header.size.as_u64());
        assert_eq!(planned.ppdu.header.nav, planned.ppdu.header.nav.max(us(44)));
    }
}

#[test]
fn what_does_not_fit_beside_another_link_waits() {
    let beside = |config, left, pick| {
        let mut bench = Bench::new(config, &[1_500; 3]);
        let queue = bench.traffic.queue_mut(bench.id);
        let planned = bench.planner.plan_beside(bench.id, queue, left, pick);
        let originator = &bench.traffic.queue_mut(bench.id).originator;
        // What was taken for it waits, with its number.
        assert!(planned.is_some() || originator.len() == usize::from(originator.has_waiting()));
        planned.map(|planned| count(&planned))
    };
    let he = of_format(Format::He);
    assert_eq!(beside(he, us(186), Pick::default()), Some(1), "192.8 us and half of 13.6 us");
    assert_eq!(beside(he, us(185), Pick::default()), None);
    assert_eq!(beside(he, us(3_000), Pick { is_probe: true, ..Pick::default() }), Some(1));
    let mut single = he;
    single.aggregation.ampdu = None;
    assert_eq!(beside(single, us(3_000), Pick::default()), None, "no A-MPDU, no padding");
    assert_eq!(beside(ht(), us(3_000), Pick { is_probe: true, ..Pick::default() }), None, "a bare MPDU has none");
    assert_eq!(beside(ht(), us(3_000), Pick::default()), Some(3));
    let legacy = EdcaConfig::new(Vector::NonHt(OFDM_RATES[7]), Band::Ghz5);
    assert_eq!(beside(legacy, us(3_000), Pick::default()), None);
}

proptest! {
    /// However long the TXOP and whatever waits: what is planned ends with its answer within it, is what a longest
    /// choice would be, and reserves no more than what is left.
    #[test]
    fn a_ppdu_keeps_within_its_txop(
        span in 100u64..6_000,
        sizes in prop::collection::vec(1u64..2_000, 1..40),
        frames in 1u32..20,
        is_first: bool,
        joins in prop_oneof![Just(None), (500u64..5_000).prop_map(Some)],
    ) {
        let mut config = ht();
        config.aggregation.ampdu_frames = frames;
        config.aggregation.amsdu = joins.map(Bytes::new);
        let mut bench = Bench::new(config, &sizes);
        let planned = bench.plan_as(Some(us(span)), is_first, Pick::default());
        prop_assert!(planned.is_some() || !is_first);
        let Some(planned) = planned else { return Ok(()) };
        let data = planned.ppdu.data().unwrap();
        prop_assert!(data.mpdus().len() <= frames as usize);
        prop_assert_eq!(data.mpdus().len() > 1, planned.answer == Answer::BlockAck);
        // Each stands on a multiple of 4 byte behind a delimiter, and all sizes add up.
        let mut end = 0u64;
        for mpdu in data.mpdus() {
            let delimiter = if data.mpdus().len() > 1 { 4 } else { 0 };
            prop_assert_eq!(u64::from(mpdu.offset), end.next_multiple_of(4) + delimiter);
            end = u64::from(mpdu.offset + mpdu.size);
        }
        prop_assert_eq!((planned.ppdu.header.size.as_u64(), planned.airtime), (end, airtime(end)));
        let answer = us(if planned.answer == Answer::BlockAck { BLOCK_ACK } else { ACK });
        let fits = planned.airtime + answer <= us(span);
        prop_assert!(fits || is_first && data.mpdus().len() == 1);
        let most = us(span).saturating_sub(planned.airtime).max(answer);
        prop_assert!(answer <= planned.ppdu.header.nav && planned.ppdu.header.nav <= most + us(1));
    }
}
