//! Queues for peers: order, limits, what a link may send, and what becomes of it.

use super::super::category::AccessCategory;
use super::super::coupling::Room;
use super::super::emlsr::Emlsr;
use super::super::expectation::SentPpdu;
use super::super::frames::BlockAck;
use super::super::link::LinkId;
use super::super::peer::PeerTraits;
use super::super::rates::Pick;
use super::super::share::Sent;
use super::super::traffic::{QueueId, Traffic};
use super::super::{Allocation, MpduSet, RequestLink};
use super::air::{Payload, at};
use super::{config, of_window};
use crate::frame::Address;
use crate::service::{MacOutput, Msdu, Outcome};
use airbraid_units::{BitRate, Bytes, Duration, Instant};
use std::collections::VecDeque;

use AccessCategory::{BestEffort, Voice};

const PEER: Address = Address(1);
const OTHER: Address = Address(2);
const LINKS: [LinkId; 2] = [LinkId(0), LinkId(1)];
const ALL_TIDS: u8 = u8::MAX;

fn msdu(to: Address, id: u32, priority: u8) -> Msdu<Payload> {
    Msdu { to, packet: Payload { id, size: 1_500, priority } }
}
fn push(traffic: &mut Traffic<Payload>, to: Address, ids: std::ops::Range<u32>) -> QueueId {
    ids.clone().for_each(|id| assert!(traffic.push(msdu(to, id, 0), LINKS[0]).is_ok()));
    traffic.find(to, 0).unwrap()
}
/// Numbers packets of a queue.
fn number(traffic: &mut Traffic<Payload>, id: QueueId, count: usize) {
    let queue = traffic.queue_mut(id);
    for _ in 0..count {
        let (packet, arrival) = queue.waiting.pop_front().unwrap();
        queue.originator.push(packet, None, 1_538, arrival);
    }
}
fn waiting(traffic: &Traffic<Payload>, id: QueueId) -> Vec<u32> {
    traffic.queue(id).waiting.iter().map(|(packet, _)| packet.id).collect()
}
/// A device with two links to a peer, and packets for it.
fn of_device(window: u16, traits: PeerTraits, packets: u32) -> (Traffic<Payload>, QueueId) {
    let mut traffic = Traffic::new(&of_window(window));
    LINKS.into_iter().for_each(|link| traffic.share(PEER, (link, ALL_TIDS), traits));
    AccessCategory::ALL
        .into_iter()
        .for_each(|category| LINKS.into_iter().for_each(|link| traffic.set_idle(link, category, true)));
    let id = push(&mut traffic, PEER, 0..packets);
    (traffic, id)
}

#[test]
fn who_has_waited_longest_is_next() {
    let mut traffic = Traffic::new(&config());
    let first = push(&mut traffic, PEER, 0..1);
    let second = push(&mut traffic, OTHER, 1..2);
    push(&mut traffic, PEER, 2..3);
    let next = |traffic: &Traffic<Payload>| traffic.next(BestEffort, LINKS[0], at(0));
    assert_eq!(next(&traffic), Some(first));
    number(&mut traffic, first, 1);
    // What is under way has its place still: the same peer comes first until it has its fate.
    assert_eq!(next(&traffic), Some(first));
    traffic.queue_mut(first).originator.acknowledge(0);
    traffic.queue_mut(first).originator.advance();
    assert_eq!(next(&traffic), Some(second));
    number(&mut traffic, second, 1);
    traffic.queue_mut(second).originator.lose(0, None);
    assert_eq!(next(&traffic), Some(second), "what was lost is older");
    assert_eq!((traffic.next(Voice, LINKS[0], at(0)), traffic.next(BestEffort, LINKS[1], at(0))), (None, None));
}

#[test]
fn a_category_takes_as_many_as_its_limit() {
    let mut config = config();
    config.queue_limit = 2;
    let mut traffic = Traffic::new(&config);
    push(&mut traffic, PEER, 0..1);
    push(&mut traffic, OTHER, 1..2);
    assert_eq!(traffic.push(msdu(PEER, 2, 3), LINKS[0]).unwrap_err().packet.id, 2, "priority 3 is best effort, too");
    assert!(traffic.push(msdu(PEER, 3, 6), LINKS[0]).is_ok_and(|(category, _)| category == Voice));
    assert_eq!((traffic.len(), traffic.count(BestEffort), traffic.count(Voice)), (3, 2, 1));
    traffic.leave(0, 1);
    assert!(traffic.push(msdu(PEER, 4, 3), LINKS[0]).is_ok());
    assert_eq!((traffic.len(), traffic.count(BestEffort)), (3, 2));
}

#[test]
fn a_packet_that_goes_first_takes_the_place_of_the_last() {
    let mut config = config();
    config.queue_limit = 3;
    let mut traffic = Traffic::new(&config);
    let id = push(&mut traffic, PEER, 0..2);
    let (category, refused) = traffic.push_first(msdu(PEER, 2, 0), LINKS[0]);
    assert_eq!((category, refused, waiting(&traffic, id), traffic.len()), (BestEffort, None, vec![2, 0, 1], 3));
    let (_, refused) = traffic.push_first(msdu(PEER, 3, 0), LINKS[0]);
    assert_eq!((refused, waiting(&traffic, id), traffic.len()), (Some(msdu(PEER, 1, 0)), vec![3, 2, 0], 3));
    // Where all are numbered there is none to give up but itself.
    number(&mut traffic, id, 3);
    assert_eq!(traffic.push_first(msdu(PEER, 4, 0), LINKS[0]).1, Some(msdu(PEER, 4, 0)));
    assert_eq!((waiting(&traffic, id), traffic.len()), (vec![], 3));
    // It is served before the other peers, whoever came before.
    let mut traffic = Traffic::new(&super::config());
    push(&mut traffic, OTHER, 0..1);
    traffic.push_first(msdu(PEER, 1, 0), LINKS[0]);
    assert_eq!(traffic.next(BestEffort, LINKS[0], at(0)), traffic.find(PEER, 0));
}

#[test]
fn what_was_never_numbered_is_handed_back_when_a_peer_goes() {
    let mut traffic = Traffic::new(&config());
    let id = push(&mut traffic, PEER, 0..3);
    push(&mut traffic, OTHER, 3..4);
    assert!(traffic.push(msdu(PEER, 4, 7), LINKS[0]).is_ok());
    number(&mut traffic, id, 1);
    let mut outputs = VecDeque::new();
    traffic.purge(PEER, &mut outputs);
    let told: Vec<(u32, Outcome, u32)> = outputs
        .iter()
        .map(|output| match output {
            MacOutput::Status { msdu, outcome, attempts } if msdu.to == PEER => (msdu.packet.id, *outcome, *attempts),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, [1, 2, 4].map(|id| (id, Outcome::Purged, 0)));
    assert_eq!((traffic.len(), traffic.count(BestEffort), traffic.count(Voice)), (2, 2, 0));
}

/// A window of two, at each step: what may be sent, and whether the rest waits for the window alone.
#[test]
fn packets_wait_for_a_window_that_is_full() {
    let mut traffic = Traffic::new(&of_window(2));
    let id = push(&mut traffic, PEER, 0..2);
    let state = |traffic: &Traffic<Payload>| {
        (
            traffic.can_send(BestEffort, LINKS[0]),
            traffic.is_stalled(BestEffort, LINKS[0]),
            traffic.has_lost(BestEffort, LINKS[0]),
        )
    };
    assert_eq!(state(&traffic), (true, false, false));
    number(&mut traffic, id, 2);
    assert_eq!(state(&traffic), (false, false, false), "nothing waits behind it");
    push(&mut traffic, PEER, 2..3);
    assert_eq!(state(&traffic), (false, true, false));
    assert!(!traffic.is_stalled(Voice, LINKS[0]));
    traffic.queue_mut(id).originator.lose(1, None);
    assert_eq!(state(&traffic), (true, false, true), "one is to be sent again");
    traffic.queue_mut(id).originator.take(1);
    assert_eq!(state(&traffic), (false, true, false));
    // Given up behind the first: not told before the window has passed it.
    traffic.queue_mut(id).originator.lose(1, Some(0));
    traffic.queue_mut(id).doubts.add_gap(1);
    assert_eq!(state(&traffic), (false, true, false));
    traffic.queue_mut(id).originator.acknowledge(0);
    traffic.queue_mut(id).originator.advance();
    assert!(traffic.queue(id).needs_request(LINKS[0]));
    assert_eq!(state(&traffic), (true, false, false));
    traffic.queue_mut(id).originator.set_window(0);
    traffic.queue_mut(id).doubts.on_answer(LINKS[0], Some(2));
    assert_eq!(state(&traffic), (false, false, false), "a window that is closed is not full");
}

/// The gap ends behind the newest that was given up, and numbers go round at 4096.
#[test]
fn a_gap_is_told_until_a_request_has_passed_it() {
    for start in [0u16, 100, 4_090, 4_095] {
        let after = |distance: u16| (start + distance) % 4_096;
        let mut traffic = Traffic::new(&of_window(64));
        let id = push(&mut traffic, PEER, 0..1);
        let queue = traffic.queue_mut(id);
        let (packet, arrival) = queue.waiting.pop_front().unwrap();
        let pass = |queue: &mut super::super::traffic::TrafficQueue<Payload>, count: u16| {
            for _ in 0..count {
                let next = queue.originator.next();
                queue.originator.push(packet, None, 1_538, arrival);
                queue.originator.acknowledge(next);
                queue.originator.advance();
            }
        };
        pass(queue, start);
        assert_eq!(queue.originator.start(), start);
        queue.doubts.add_gap(after(5));
        queue.doubts.add_gap(after(3));
        assert!(!queue.needs_request(LINKS[0]), "the window begins before it");
        pass(queue, 5);
        assert!(!queue.needs_request(LINKS[0]), "the sixth is not passed");
        pass(queue, 1);
        assert!(queue.needs_request(LINKS[0]) && queue.can_send(LINKS[0]));
        queue.doubts.on_answer(LINKS[0], None);
        queue.doubts.on_answer(LINKS[0], Some(after(5)));
        assert!(queue.needs_request(LINKS[0]), "an answer to data, or to a request from before it, is none");
        queue.doubts.on_answer(LINKS[0], Some(after(6)));
        assert!(!queue.needs_request(LINKS[0]));
        queue.doubts.add_gap(after(3));
        queue.doubts.add_gap(after(5));
        queue.doubts.on_answer(LINKS[0], Some(after(4)));
        assert!(queue.needs_request(LINKS[0]), "the newest counts");
    }
}

/// An answer tells of what its own link has sent, or of every link's where the peer has one scoreboard.
#[test]
fn an_answer_tells_of_the_links_of_its_scoreboard() {
    for requests in [RequestLink::OfData, RequestLink::Any] {
        let (mut traffic, id) = of_device(64, PeerTraits { requests, ..PeerTraits::default() }, 2);
        let planner = super::super::plan::Planner::new(config(), Address(0));
        let planned = planner.plan(id, traffic.queue_mut(id), None, true, Pick::default()).unwrap();
        let queue = traffic.queue_mut(id);
        queue.doubts.add(LINKS[0], planned.ppdu.clone());
        queue.doubts.add(LINKS[1], planned.ppdu);
        assert!(LINKS.into_iter().all(|link| queue.needs_request(link)));
        let is_any = requests == RequestLink::Any;
        assert_eq!(queue.doubts.on_answer(LINKS[1], None).len(), if is_any { 2 } else { 1 });
        assert_eq!(LINKS.map(|link| queue.needs_request(link)), [!is_any, false]);
        assert!(queue.doubts.on_answer(LINKS[1], None).is_empty());
    }
}

/// Nobody answers a request: its MPDUs are lost, or are asked for on another link where that one tells of them, too.
#[test]
fn a_request_without_an_answer_ends_a_doubt_that_no_other_link_ends() {
    for requests in [RequestLink::OfData, RequestLink::Any] {
        let (mut traffic, id) = of_device(64, PeerTraits { requests, ..PeerTraits::default() }, 2);
        let planner = super::super::plan::Planner::new(config(), Address(0));
        let planned = planner.plan(id, traffic.queue_mut(id), None, true, Pick::default()).unwrap();
        let queue = traffic.queue_mut(id);
        queue.doubts.add(LINKS[0], planned.ppdu);
        let is_any = requests == RequestLink::Any;
        assert_eq!(queue.on_unanswered_request(LINKS[0], Some(7)).len(), usize::from(!is_any));
        assert_eq!(LINKS.map(|link| queue.needs_request(link)), [false, is_any]);
        assert_eq!(queue.on_unanswered_request(LINKS[1], Some(7)).len(), usize::from(is_any), "every link is silent");
        assert!(LINKS.into_iter().all(|link| !queue.needs_request(link)));
    }
}

/// A link is woken when it was idle and has something to send.
#[test]
fn a_link_that_was_idle_is_woken_for_packets() {
    let (mut traffic, id) = of_device(2, PeerTraits::default(), 1);
    assert!(LINKS.into_iter().all(|link| traffic.wakes(link)) && traffic.may_wake());
    assert!(!traffic.is_at_work(BestEffort) && !traffic.is_busy(LINKS[0]));
    traffic.set_idle(LINKS[0], BestEffort, false);
    assert_eq!(LINKS.map(|link| (traffic.wakes(link), traffic.is_busy(link))), [(false, true), (true, false)]);
    assert!(traffic.may_wake() && !traffic.is_at_work(BestEffort));
    traffic.set_idle(LINKS[1], BestEffort, false);
    assert!(traffic.is_at_work(BestEffort) && !traffic.is_at_work(Voice));
    assert!(!traffic.may_wake(), "voice is idle, and has no queue");
    assert!(traffic.push_at_work(msdu(PEER, 1, 0), LINKS[0]).is_ok());
    assert_eq!(traffic.push_at_work(msdu(PEER, 2, 6), LINKS[0]).unwrap_err().packet.id, 2);
    assert_eq!((waiting(&traffic, id), traffic.len()), (vec![0, 1], 2));
    assert!(traffic.may_wake(), "voice has a queue now, and is idle");
}

/// A link stands still if it has nothing to send while packets wait for a window that other links have filled.
#[test]
fn a_link_stands_still_while_others_have_the_window() {
    let (mut traffic, id) = of_device(2, PeerTraits::default(), 2);
    let state =
        |traffic: &Traffic<Payload>| (traffic.may_stand_still(), LINKS.map(|link| traffic.stands_still(link, PEER)));
    assert_eq!(state(&traffic), (true, [false, false]), "it may send");
    number(&mut traffic, id, 2);
    assert_eq!(state(&traffic), (true, [false, false]), "nothing waits");
    push(&mut traffic, PEER, 2..3);
    assert_eq!(state(&traffic), (true, [true, true]));
    assert!(!traffic.stands_still(LINKS[0], OTHER) && !traffic.stands_still(LinkId(2), PEER));
    traffic.set_idle(LINKS[0], BestEffort, false);
    assert_eq!(state(&traffic), (true, [false, true]));
    traffic.set_idle(LINKS[1], BestEffort, false);
    assert_eq!(state(&traffic), (false, [false, false]), "voice is idle, and has no packets");
    traffic.set_idle(LINKS[1], BestEffort, true);
    traffic.queue_mut(id).originator.lose(0, None);
    assert_eq!(state(&traffic), (true, [false, false]), "one goes again");
    traffic.leave(0, 3);
    assert!(!traffic.may_stand_still());
}

/// Packets go to links in turn as far as the window goes, and each waits for its own.
#[test]
fn packets_are_put_to_links_as_far_as_the_window_goes() {
    let traits = PeerTraits { allocation: Allocation::RoundRobin, ..PeerTraits::default() };
    let (mut traffic, id) = of_device(3, traits, 5);
    assert!(!traffic.can_send(BestEffort, LINKS[0]), "nothing is put yet, and nothing is shared");
    traffic.put_to_links(at(0), id, |length| length.as_u64() as u32 + 38);
    assert_eq!(waiting(&traffic, id), [3, 4]);
    let queue = traffic.queue(id);
    let put: Vec<_> = queue.originator.iter().map(|(number, slot)| (number, slot.link, slot.size)).collect();
    assert_eq!(put, [(0, Some(LINKS[1]), 1_538), (1, Some(LINKS[0]), 1_538), (2, Some(LINKS[1]), 1_538)]);
    assert_eq!(LINKS.map(|link| traffic.can_send(BestEffort, link)), [true; 2]);
    traffic.queue_mut(id).originator.take(1);
    assert_eq!(LINKS.map(|link| traffic.can_send(BestEffort, link)), [false, true]);
    assert!(!traffic.has_lost(BestEffort, LINKS[0]));
    traffic.queue_mut(id).originator.lose(1, None);
    assert_eq!(LINKS.map(|link| traffic.can_send(BestEffort, link)), [true; 2], "what was lost goes on any link");
    assert_eq!(LINKS.map(|link| traffic.has_lost(BestEffort, link)), [true; 2]);
    assert!(traffic.push_at_work(msdu(PEER, 9, 0), LINKS[0]).is_err(), "it has to be put to a link");
}

/// A flow goes to the link that was taken less in the last 102.4 ms, by others or by the station itself.
#[test]
fn a_flow_goes_to_the_link_that_was_taken_less() {
    let ms = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
    for busy in LINKS {
        for is_own in [false, true] {
            let traits = PeerTraits { allocation: Allocation::LeastOccupied, ..PeerTraits::default() };
            let (mut traffic, id) = of_device(3, traits, 1);
            if is_own {
                traffic.on_own_transmission(ms(10), busy, Duration::from_millis(1));
            } else {
                traffic.on_medium(ms(10), busy, true);
                traffic.on_medium(ms(11), busy, false);
            }
            traffic.put_to_links(ms(103), id, |_| 1_538);
            let link = traffic.queue(id).originator.get(0).unwrap().link;
            assert_eq!(link, LINKS.into_iter().find(|link| *link != busy), "{busy:?}");
        }
    }
}

#[test]
fn a_device_in_emlsr_mode_is_called_to_one_link() {
    let us = Duration::from_micros;
    let delays = Emlsr { padding: us(32), transition: us(128), medium_sync: us(5_484) };
    let (mut traffic, _) = of_device(64, PeerTraits { emlsr: Some(delays), ..PeerTraits::default() }, 1);
    assert_eq!((traffic.emlsr(PEER), traffic.emlsr(OTHER)), (Some(delays), None));
    assert_eq!((traffic.first_peer(), traffic.has_one_awake(PEER)), (Some(PEER), false));
    assert!(!traffic.can_follow(PEER, LINKS[0]) && traffic.can_follow(OTHER, LINKS[0]));
    assert!(LINKS.into_iter().all(|link| traffic.called_to(link).is_empty()));
    traffic.set_open(PEER, |peer| peer.open_only(LINKS[1]));
    assert_eq!(LINKS.map(|link| traffic.called_to(link)), [vec![], vec![(PEER, delays)]]);
    assert_eq!(LINKS.map(|link| traffic.can_follow(PEER, link)), [false, true]);
    assert_eq!(LINKS.map(|link| traffic.can_send(BestEffort, link)), [false, true]);
    assert_eq!(LINKS.map(|link| traffic.is_heard(PEER, 0, link)), [false, true]);
    // Away until then, and not before.
    assert_eq!(traffic.set_open(PEER, |peer| peer.close_until(at(500))), Some(at(500)));
    assert_eq!(traffic.set_open(PEER, |peer| peer.close_until(at(400))), Some(at(500)), "the later counts");
    traffic.set_open(PEER, |peer| peer.reopen(at(499)));
    assert_eq!(LINKS.map(|link| traffic.can_send(BestEffort, link)), [false; 2]);
    traffic.set_open(PEER, |peer| peer.reopen(at(500)));
    assert_eq!(LINKS.map(|link| traffic.can_send(BestEffort, link)), [true; 2]);
    traffic.set_open(PEER, |peer| peer.open_only(LINKS[0]));
    traffic.set_open(PEER, |peer| peer.reopen(at(900)));
    assert_eq!(LINKS.map(|link| traffic.can_send(BestEffort, link)), [true, false], "it is at a link");
    assert_eq!(traffic.set_open(OTHER, |_| ()), None);
}

/// A peer of one link is heard where its queue is.
#[test]
fn a_peer_of_one_link_is_heard_on_the_link_of_its_queue() {
    let mut traffic: Traffic<Payload> = Traffic::new(&config());
    assert!(!traffic.is_heard(PEER, 0, LINKS[1]));
    traffic.reach(PEER, 0, LINKS[1]);
    assert_eq!(LINKS.map(|link| traffic.is_heard(PEER, 0, link)), [false, true]);
    assert!(!traffic.is_heard(PEER, 1, LINKS[1]));
}

/// Each link of a peer may carry some TIDs only.
#[test]
fn a_tid_goes_over_the_links_that_carry_it() {
    let mut traffic: Traffic<Payload> = Traffic::new(&config());
    traffic.share(PEER, (LINKS[0], 0b0100_0001), PeerTraits::default());
    traffic.share(PEER, (LINKS[1], 0b0000_0001), PeerTraits::default());
    assert!(traffic.push(msdu(PEER, 0, 6), LINKS[1]).is_ok() && traffic.push(msdu(PEER, 1, 0), LINKS[1]).is_ok());
    assert_eq!(LINKS.map(|link| traffic.can_send(Voice, link)), [true, false]);
    assert_eq!(LINKS.map(|link| traffic.can_send(BestEffort, link)), [true; 2]);
}

/// Frames to all have a queue for each link.
#[test]
fn frames_to_all_go_on_the_link_to_which_they_came() {
    let mut traffic: Traffic<Payload> = Traffic::new(&config());
    let [a, b] = LINKS.map(|link| traffic.push(msdu(Address::BROADCAST, 0, 0), link).unwrap().1);
    assert_ne!(a, b);
    assert!(traffic.queue(a).is_broadcast() && !traffic.queue(a).is_agreed);
    assert_eq!(LINKS.map(|link| traffic.queue(a).can_send(link)), [true, false]);
    assert_eq!(LINKS.map(|link| traffic.queue(b).can_send(link)), [false, true]);
    assert_eq!(traffic.find(Address::BROADCAST, 0), None);
}

/// Nobody answers an RTS on the link that packets were put to: another link may send them.
#[test]
fn what_was_put_to_a_link_that_is_silent_goes_by_any() {
    let mut originator = super::super::originator::Originator::new(10);
    let packet = |id| Payload { id, size: 1_500, priority: 0 };
    (0..3).for_each(|id| originator.put(packet(id), 1_538, u64::from(id), LINKS[0]));
    originator.take(0);
    originator.release(0);
    assert_eq!(LINKS.map(|link| originator.has_waiting_on(link)), [true, true]);
    originator.release(1);
    assert_eq!(originator.get(1).unwrap().link, Some(LINKS[0]), "it was in no PPDU");
    originator.take(0);
    assert_eq!(LINKS.map(|link| originator.has_waiting_on(link)), [true, false]);
}

/// A PPDU that one link sends makes its share of the window smaller where another one sends, too.
#[test]
fn links_that_send_have_shares() {
    let (mut traffic, id) =
        of_device(100, PeerTraits { allocation: Allocation::Expected, ..PeerTraits::default() }, 100);
    let ms = Duration::from_millis(1);
    let rate = |mbps: u64| BitRate::from_bps(mbps * 1_000_000);
    let send = |traffic: &mut Traffic<_>, link, mbps: u64| {
        let sent = Sent { link, rate: rate(mbps), mpdu: Bytes::new(1_250), time: ms, demand: Duration::ZERO };
        traffic.note_use(id, &sent);
        let (until, cost) = (at(0), Duration::ZERO);
        traffic.note_delivery(at(0), id, &SentPpdu { link, rate: rate(mbps), until, cost });
    };
    assert_eq!((traffic.share_of(at(0), id, LINKS[0]), traffic.first_here(at(0), id, LINKS[0])), (None, None));
    send(&mut traffic, LINKS[0], 300);
    assert_eq!(traffic.share_of(at(0), id, LINKS[0]), None, "it is alone");
    send(&mut traffic, LINKS[1], 100);
    assert_eq!(LINKS.map(|link| traffic.share_of(at(0), id, link).unwrap().of(100)), [75, 25]);
    let [fast, slow] = LINKS.map(|link| traffic.first_here(at(0), id, link).unwrap());
    assert!((74..=75).contains(&fast) && (24..=25).contains(&slow), "whole packets: {fast}, {slow}");
    // Demand counts from when a link has something to send, as far as it lasts.
    traffic.note_demand(at(100), LINKS[1], true);
    assert_eq!(LINKS.map(|link| traffic.demand(at(300), link)), [Duration::ZERO, Duration::from_micros(200)]);
    traffic.note_demand(at(400), LINKS[1], false);
    traffic.note_demand(at(600), LINKS[1], true);
    assert_eq!(traffic.demand(at(700), LINKS[1]), Duration::from_micros(400));
}

/// A device with a link of 500 Mbit/s and one of 20, as far as both are known, and packets for its peer.
fn of_unlike_links(packets: u32) -> (Traffic<Payload>, QueueId) {
    let traits = PeerTraits { allocation: Allocation::Expected, ..PeerTraits::default() };
    let (mut traffic, id) = of_device(100, traits, packets);
    for (link, mbps) in LINKS.into_iter().zip([500, 20]) {
        let (rate, until, cost) = (BitRate::from_bps(mbps * 1_000_000), at(0), Duration::from_micros(50));
        traffic.note_delivery(at(0), id, &SentPpdu { link, rate, until, cost });
    }
    (traffic, id)
}

/// One packet goes by the fast link, which is ready at once; the slow one contends on, and has nothing for this queue.
#[test]
fn a_link_leaves_what_another_one_delivers_before() {
    let (mut traffic, id) = of_unlike_links(1);
    let next = |traffic: &Traffic<_>, us, link| traffic.next(BestEffort, link, at(us));
    assert_eq!(LINKS.map(|link| next(&traffic, 0, link)), [Some(id), None]);
    assert!(LINKS.iter().all(|link| traffic.can_send(BestEffort, *link)));
    // The fast one waits for the medium for longer than the slow one takes.
    traffic.note_work(at(0), LINKS[0], BestEffort, true);
    assert_eq!(LINKS.map(|link| next(&traffic, 5_000, link)), [Some(id), Some(id)]);
}

/// The slow link leaves what was lost to the fast one, as it does what is new.
#[test]
fn what_was_lost_is_left_to_others_as_well() {
    let (mut traffic, id) = of_unlike_links(3);
    number(&mut traffic, id, 2);
    assert_eq!(traffic.queue(id).originator.lost(), (0, 0), "they are in a PPDU");
    traffic.queue_mut(id).originator.lose(0, None);
    assert_eq!(traffic.queue(id).originator.lost(), (1, 8 * 1_538));
    let next = |traffic: &Traffic<_>, link| traffic.next(BestEffort, link, at(0));
    assert_eq!(LINKS.map(|link| next(&traffic, link)), [Some(id), None]);
    assert_eq!(traffic.first_here(at(0), id, LINKS[0]), Some(1), "the new one behind it");
    // Nothing new waits.
    number(&mut traffic, id, 1);
    assert_eq!(LINKS.map(|link| next(&traffic, link)), [Some(id), None]);
}

/// The most that is new: what waits here first where all has place, or else the share of what is behind the oldest
/// that goes again.
#[test]
fn new_ones_go_as_far_as_the_share_goes() {
    let (mut traffic, id) = of_device(60, PeerTraits::default(), 61);
    let pick = |share, first_here| Pick { share, first_here, ..Pick::default() };
    let ms = Duration::from_millis(1);
    for link in LINKS {
        let rate = BitRate::from_bps(100_000_000);
        let sent = Sent { link, rate, mpdu: Bytes::new(1_250), time: ms, demand: Duration::ZERO };
        traffic.note_use(id, &sent);
    }
    let share = traffic.share_of(at(0), id, LINKS[0]);
    let queue = traffic.queue(id);
    assert_eq!(queue.most_new(pick(share, Some(7)), None), 30, "half of the window");
    assert_eq!(queue.most_new(pick(None, Some(7)), None), u32::MAX);
    number(&mut traffic, id, 1);
    assert_eq!(traffic.queue(id).most_new(pick(share, Some(7)), None), 30, "60 wait for 59 places");
    // The PPDU that carries the oldest again holds the window from there on.
    traffic.queue_mut(id).originator.lose(0, None);
    let planner = super::super::plan::Planner::new(of_window(60), Address(0));
    let planned = planner.plan(id, traffic.queue_mut(id), None, true, pick(share, None)).unwrap();
    let numbers: Vec<u16> = planned.ppdu.data().unwrap().mpdus().iter().map(|mpdu| mpdu.sequence).collect();
    assert_eq!(numbers, (0..29).collect::<Vec<_>>(), "of 59 behind the lost one, half");
    let mut small = Traffic::new(&of_window(60));
    let id = push(&mut small, PEER, 0..60);
    assert_eq!(small.queue(id).most_new(pick(share, Some(7)), None), 7, "all that waits has place");
    assert_eq!(small.queue(id).most_new(pick(share, None), None), u32::MAX);
}

/// Acknowledged without being in the PPDU that is answered: what was sent before and is in the bitmap.
#[test]
fn an_answer_tells_of_what_was_sent_before() {
    let mut traffic = Traffic::new(&of_window(64));
    let id = push(&mut traffic, PEER, 0..6);
    number(&mut traffic, id, 6);
    let originator = &mut traffic.queue_mut(id).originator;
    (0..5).for_each(|number| originator.on_sent(number));
    originator.acknowledge(1);
    originator.lose(2, None);
    let mut received = MpduSet::default();
    (0..6).filter(|place| *place != 3).for_each(|place| received.insert(place));
    let answer = BlockAck { start: 0, window: 64, received };
    assert_eq!(originator.acknowledged_otherwise(&answer), [0, 2, 4], "1 is known, 3 has not come, 5 was never sent");
}

/// Where links disturb each other a queue has the room that they leave.
#[test]
fn the_room_for_a_queue_is_what_other_links_leave() {
    use super::super::coupling::OnLink;
    let (mut traffic, id) = of_device(64, PeerTraits::default(), 2);
    assert_eq!(traffic.room(id, LINKS[1], at(50)), Room::Free);
    let exchange = OnLink {
        with: PEER,
        is_own: true,
        begun: at(10),
        is_announced: false,
        data_end: Some(at(100)),
        until: at(150),
    };
    traffic.couple(None, LINKS).set_exchange(LINKS[0], Some(exchange));
    assert_eq!(traffic.room(id, LINKS[1], at(50)), Room::EndAt(at(100)));
    assert_eq!(traffic.next(BestEffort, LINKS[1], at(50)), Some(id));
    assert_eq!(traffic.room_from(BestEffort, LINKS[1], at(50)), None);
    // The answer is under way: nothing until then.
    assert_eq!(traffic.room(id, LINKS[1], at(100)), Room::Wait(at(150)));
    assert_eq!(traffic.next(BestEffort, LINKS[1], at(100)), None);
    assert_eq!(traffic.room_from(BestEffort, LINKS[1], at(100)), Some(at(150)));
    assert_eq!(traffic.room_from(Voice, LINKS[1], at(100)), None);
    // No request goes beside data.
    let planner = super::super::plan::Planner::new(config(), Address(0));
    let planned = planner.plan(id, traffic.queue_mut(id), None, true, Pick::default()).unwrap();
    traffic.queue_mut(id).doubts.add(LINKS[1], planned.ppdu);
    assert_eq!(traffic.room(id, LINKS[1], at(50)), Room::Wait(at(100)));
    let all = traffic.push(msdu(Address::BROADCAST, 5, 0), LINKS[1]).unwrap().1;
    assert_eq!(traffic.room(all, LINKS[1], at(50)), Room::Wait(at(100)));
    // Pairs of a peer count towards that peer.
    let (mut traffic, id) = of_device(64, PeerTraits::default(), 2);
    traffic.couple(Some(PEER), LINKS).set_exchange(LINKS[0], Some(exchange));
    assert_eq!(traffic.room(id, LINKS[1], at(50)), Room::EndAt(at(100)));
    let elsewhere = push(&mut traffic, OTHER, 5..6);
    assert_eq!(traffic.room(elsewhere, LINKS[1], at(50)), Room::Free);
}
