//! Counters beside what the medium has seen of a station.

use super::super::{AccessCategory, AgreementFrame, Content, Edca};
use super::air::{Air, Payload, at};
use super::{config, of_window};
use crate::frame::{Address, FrameKind};
use crate::service::{MacInput, MacOutput, Outcome};
use airbraid_units::{Bytes, Duration};
use proptest::prelude::*;

use AccessCategory::{Background, BestEffort, Video, Voice};

/// The doings of a station, as the medium sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    data_frames: u64,
    rts_frames: u64,
    retries: u64,
    mpdus: u64,
    ampdus: u64,
    requests: u64,
    addba: [u64; 2],
    beacons: u64,
    block_acks: u64,
    dropped: u64,
    refused: u64,
    airtime: Duration,
    /// Time of data, requests and setup frames, by category.
    of_category: [Duration; AccessCategory::COUNT],
    /// Time of frames that announce one.
    announcing: Duration,
}

impl Tally {
    /// The station is told something.
    pub fn on_input(&mut self, input: &MacInput<Payload>) {
        if let MacInput::ReceivedPpdu { ppdu, .. } = input {
            self.block_acks += u64::from(ppdu.header.kind == FrameKind::BlockAck);
        }
    }

    /// It does something.
    pub fn on_output(&mut self, output: &MacOutput<Payload>) {
        match output {
            MacOutput::Transmit { frame, airtime, .. } => {
                self.airtime += *airtime;
                match frame.kind {
                    FrameKind::Rts | FrameKind::MuRts => {
                        self.rts_frames += 1;
                        self.announcing += *airtime;
                    }
                    FrameKind::Beacon => self.beacons += 1,
                    FrameKind::Data => {
                        let category =
                            frame.payload.map_or(BestEffort, |packet| AccessCategory::of_priority(packet.priority));
                        self.of_category[category.index()] += *airtime;
                        self.data_frames += u64::from(frame.payload.is_some());
                    }
                    _ => {}
                }
            }
            MacOutput::TransmitPpdu { ppdu, airtime, .. } => {
                self.airtime += *airtime;
                let category = match &ppdu.content {
                    Content::BlockAck(_) => return,
                    Content::Agreement(_) => Voice,
                    _ => AccessCategory::of_priority(ppdu.tid),
                };
                self.of_category[category.index()] += *airtime;
                match &ppdu.content {
                    Content::Data(data) => {
                        let mpdus = data.mpdus();
                        self.data_frames += 1;
                        self.mpdus += mpdus.len() as u64;
                        self.ampdus += u64::from(mpdus.len() > 1);
                        self.retries += mpdus.iter().filter(|mpdu| mpdu.attempts > 1).count() as u64;
                    }
                    Content::BlockAckRequest { .. } => self.requests += 1,
                    Content::Agreement(AgreementFrame::Request { .. }) => self.addba[0] += 1,
                    Content::Agreement(AgreementFrame::Response { .. }) => self.addba[1] += 1,
                    Content::BlockAck(_) => {}
                }
            }
            MacOutput::Status { outcome, .. } => {
                self.dropped += u64::from(*outcome == Outcome::RetryLimit);
                self.refused += u64::from(*outcome == Outcome::QueueFull);
            }
            _ => {}
        }
    }

    /// The counters of the station say the same.
    pub fn check(&self, station: &Edca<Payload>) -> Result<(), TestCaseError> {
        let (stats, counts) = (station.stats(), station.counts());
        let seen = [self.data_frames, self.rts_frames, self.retries, self.refused];
        prop_assert_eq!([stats.data_frames, stats.rts_frames, stats.retries, stats.queue_drops], seen);
        let seen = [self.mpdus, self.ampdus, self.requests, self.beacons];
        prop_assert_eq!([counts.mpdus, counts.ampdus, counts.block_ack_requests, counts.beacons], seen);
        prop_assert_eq!([counts.setup.addba_requests, counts.setup.addba_responses], self.addba);
        // An A-MSDU that is given up counts once. A block acknowledgement may come when it is awaited no more.
        prop_assert!(stats.retry_limit_drops <= self.dropped && (stats.retry_limit_drops > 0) == (self.dropped > 0));
        prop_assert!(counts.block_acks <= self.block_acks);
        prop_assert_eq!(stats.airtime, self.airtime);
        let airtimes = [counts.airtime_bk, counts.airtime_be, counts.airtime_vi, counts.airtime_vo];
        let mut announcing = Duration::ZERO;
        for (airtime, own) in airtimes.into_iter().zip(self.of_category) {
            prop_assert!(airtime >= own, "{} {}", airtime, own);
            announcing += airtime - own;
        }
        prop_assert_eq!(announcing, self.announcing);
        Ok(())
    }
}

/// One A-MPDU of four of which one is lost, its retransmission, and a request after a lost block acknowledgement.
#[test]
fn each_counter_counts_what_it_is_named_for() {
    let mut config = config();
    config.rts_threshold = Bytes::new(2_000);
    let mut air = Air::new(config, 2, 1);
    air.fate = Box::new(|_, kind, nth, place| match kind {
        FrameKind::Data => nth == 1 && place == 1,
        FrameKind::BlockAck => nth == 2,
        _ => false,
    });
    (0..4).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    (4..7).for_each(|id| air.send(at(10_000), 0, 1, id, Video));
    air.send(at(30_000), 0, 1, 7, Background);
    air.send(at(40_000), 0, 1, 8, Voice);
    air.run(at(60_000));
    let (stats, counts) = (air.stations[0].stats(), air.stations[0].counts());
    // Two packets of best effort go alone: the first, and the one that was lost. Those of one instant go together.
    assert_eq!(air.delivered.len(), 9, "{}", air.timeline);
    let count = |what: &str| air.timeline.lines().filter(|line| line.contains(what)).count() as u64;
    assert_eq!([stats.data_frames, count("A DATA")], [5, 5], "{}", air.timeline);
    assert_eq!([stats.retries, counts.mpdus, counts.ampdus], [1, 4 + 1 + 3 + 1 + 1, 2]);
    assert_eq!([stats.rts_frames, count("A RTS")], [2, 2], "before what is longer than 2000 byte");
    assert_eq!([counts.block_acks, counts.block_ack_requests, count("A BAR")], [2, 1, 1]);
    assert!(air.tallies[0].check(&air.stations[0]).is_ok());
    assert_eq!(air.tallies[0].block_acks, 2);
}

/// Each category has the time of its own PPDUs: single ones of 192.8 us here.
#[test]
fn each_category_has_the_time_of_its_own() {
    let mut air = Air::new(config(), 2, 1);
    for (id, (category, packets)) in [(Background, 1), (BestEffort, 2), (Video, 3), (Voice, 4)].into_iter().enumerate()
    {
        for packet in 0..packets {
            let number = 10 * id as u64 + packet;
            air.send(at(10 + 1_000 * number), 0, 1, number as u32, category);
        }
    }
    air.run(at(60_000));
    let counts = air.stations[0].counts();
    let single = Duration::from_nanos(192_800);
    let of = [counts.airtime_bk, counts.airtime_be, counts.airtime_vi, counts.airtime_vo];
    assert_eq!(of, [1, 2, 3, 4].map(|packets| single * packets));
    assert_eq!(air.stations[0].stats().airtime, single * 10);
}

/// A window of four: whenever a TXOP ends and more packets wait than the window has place for, that is a stall, unless
/// something was lost or must be asked for.
#[test]
fn a_window_that_is_full_is_a_stall() {
    let stalls = |packets: u32, window: u16, lost: bool| {
        let mut air = Air::new(of_window(window), 2, 1);
        air.fate = Box::new(move |_, kind, nth, _| lost && kind == FrameKind::BlockAck && nth == 1);
        (0..packets).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
        air.run(at(20_000));
        assert_eq!(air.delivered.len(), packets as usize);
        air.stations[0].counts().window_stalls
    };
    // A station alone knows what became of its window when a TXOP ends.
    assert_eq!([stalls(8, 4, false), stalls(8, 4, true)], [0, 0]);
    // Two links: while one holds the whole window in an exchange, the other stalls if more waits.
    let mut air = Air::of_devices(of_window(2), 2, 2, super::RequestLink::OfData, 1);
    (0..2).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(20_000));
    assert_eq!(air.stations.iter().map(|station| station.counts().window_stalls).sum::<u64>(), 0);
}

#[test]
fn what_waits_is_counted_by_category_and_in_all() {
    let mut air = Air::new(of_window(4), 3, 1);
    for (id, category) in [(0, BestEffort), (1, BestEffort), (2, Voice), (3, Background)] {
        air.send(at(10), 0, 1 + id % 2, id, category);
    }
    air.run(at(10));
    let station = &air.stations[0];
    assert_eq!(station.queue_len(), 4);
    assert_eq!(AccessCategory::ALL.map(|category| station.category_len(category)), [1, 2, 0, 1]);
    air.run(at(20_000));
    let station = &air.stations[0];
    assert_eq!((station.queue_len(), AccessCategory::ALL.map(|category| station.category_len(category))), (0, [0; 4]));
}

/// The receiver holds what came behind a lost one, of one peer and TID apart from those of others.
#[test]
fn what_is_held_for_order_is_counted() {
    let mut air = Air::new(config(), 3, 1);
    air.fate = Box::new(|_, kind, nth, place| kind == FrameKind::Data && nth == 1 && place == 1);
    (0..4).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(700));
    assert_eq!((air.stations[1].holding(), air.stations[0].holding()), (2, 0), "{}", air.timeline);
    air.run(at(5_000));
    assert_eq!(air.stations[1].holding(), 0);
    let mut air = Air::of_devices(config(), 3, 2, super::RequestLink::OfData, 1);
    air.fate = Box::new(|_, kind, nth, place| kind == FrameKind::Data && nth == 1 && place == 1);
    (0..4).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(705));
    let holding = |peer| air.devices[1].holding_of(Address(peer));
    assert_eq!((air.devices[1].holding(), holding(0), holding(4)), (2, 2, 0), "{}", air.timeline);
    assert_eq!(air.devices[0].queue_len(), 1, "the others are acknowledged");
}

/// A queue of three in each category: the fourth is refused, and told of.
#[test]
fn a_full_queue_refuses() {
    let mut config = config();
    config.queue_limit = 3;
    let mut air = Air::new(config, 2, 1);
    (0..5).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    (5..7).for_each(|id| air.send(at(10), 0, 1, id, Voice));
    air.run(at(10));
    let refused: Vec<u32> =
        air.outcomes.iter().filter(|(.., told)| *told == Outcome::QueueFull).map(|told| told.1).collect();
    assert_eq!((refused, air.stations[0].stats().queue_drops), (vec![3, 4], 2));
    assert_eq!(air.stations[0].queue_len(), 5);
}
