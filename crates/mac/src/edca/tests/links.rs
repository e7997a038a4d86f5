//! Links of a device that disturb each other, that do not trust what they hear, or of which one is awake: what each
//! knows of the others, step by step.

use super::super::coupling::{Coupling, OnLink, Room};
use super::super::link::{LinkId, Links};
use super::super::{AccessCategory, Edca, Emlsr, Kinds, MultiLink, PeerTraits, Repair};
use super::air::{Air, Kind, Payload, at};
use super::{config, of_window};
use crate::frame::{Address, FrameKind};
use crate::service::Msdu;
use airbraid_engine::Stream;
use airbraid_units::{Duration, Instant};

use AccessCategory::{BestEffort, Voice};

const A: LinkId = LinkId(0);
const B: LinkId = LinkId(1);
/// The device of the peer, which has the addresses 10 and 11 on the two links.
const PEER: Address = Address(10);

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// A device with two links to a peer.
fn device(traits: PeerTraits) -> (MultiLink<Payload>, [Edca<Payload>; 2]) {
    let mut shared = MultiLink::new(&config(), &Kinds::default());
    let stations = [0, 1].map(|link| {
        let random = ["bk", "be", "vi", "vo"].map(|purpose| Stream::new(1, u64::from(link), purpose));
        let mut station = Edca::new(config(), Address(u32::from(link)), random);
        shared.join(&mut station, link);
        shared.add_way(&mut station, [Address(10 + u32::from(link)), PEER], u8::MAX, traits);
        station
    });
    (shared, stations)
}

/// A device whose links disturb each other; the first link has the upper part.
fn coupled() -> [Edca<Payload>; 2] {
    let (mut shared, mut stations) = device(PeerTraits::default());
    assert!(!shared.wants_beginnings());
    shared.couple([0, 1], us(5_484));
    assert!(shared.wants_beginnings());
    shared.exchange(&mut stations[0]);
    stations
}
fn pairs(station: &mut Edca<Payload>) -> &mut Coupling {
    station.traffic.coupling.as_deref_mut().unwrap()
}
fn room(station: &Edca<Payload>, at: Instant) -> Room {
    station.traffic.room_towards(PEER, B, at)
}
fn own(until: u64) -> OnLink {
    OnLink { with: PEER, is_own: true, begun: at(50), is_announced: false, data_end: None, until: at(until) }
}

/// A PPDU for a link ends with an answer of 44 us at most behind a SIFS, and a slot: the other link waits.
#[test]
fn what_begins_to_arrive_keeps_the_other_link_from_sending() {
    let [mut station, _] = coupled();
    assert_eq!(room(&station, at(100)), Room::Free);
    station.on_incoming(Address(10), FrameKind::Data, at(300));
    assert_eq!(room(&station, at(100)), Room::Wait(at(300 + 16 + 44 + 9)));
    assert_eq!(room(&station, at(369)), Room::Free);
    let exchange = *pairs(&mut station).exchange_mut(A).unwrap();
    assert_eq!((exchange.with, exchange.is_own, exchange.data_end), (PEER, false, None));
    // What the link itself has begun is not overwritten by an answer.
    pairs(&mut station).set_exchange(A, Some(own(800)));
    station.on_incoming(Address(10), FrameKind::Data, at(300));
    assert_eq!(room(&station, at(100)), Room::Wait(at(800)));
    // A slow answer: a block acknowledgement of 56 byte at 6 Mbit/s lasts 100 us.
    station.planner.config.data = super::super::Vector::NonHt(crate::phy::OFDM_RATES[0]);
    pairs(&mut station).set_exchange(A, None);
    station.on_incoming(Address(10), FrameKind::Data, at(300));
    assert_eq!(room(&station, at(100)), Room::Wait(at(300 + 16 + 100 + 9)));
}

/// An answer that this device sends prolongs the exchange of a peer; what it sends in its own TXOP does not.
#[test]
fn an_answer_prolongs_the_exchange_of_a_peer() {
    let [mut station, _] = coupled();
    station.on_incoming(Address(10), FrameKind::Data, at(300));
    station.on_sending(at(316), at(400), Duration::ZERO);
    assert_eq!(room(&station, at(350)), Room::Wait(at(409)));
    assert_eq!(station.listening.changes.len(), 2);
    // Between the two times this link sends, and the other one is blind.
    station.settle_listening(at(315));
    assert!(!station.traffic.must_tell(B));
    station.settle_listening(at(316));
    assert!(station.traffic.must_tell(B) && pairs(&mut station).blinds(B) && !pairs(&mut station).blinds(A));
    station.settle_listening(at(400));
    assert!(!pairs(&mut station).blinds(B) && station.listening.changes.is_empty());
    // After a CTS the data of the peer begin within a SIFS; a silence is 16 + 9 + 20 us.
    station.on_incoming(Address(10), FrameKind::Rts, at(420));
    station.on_sending(at(436), at(464), Duration::from_micros(700));
    assert_eq!(room(&station, at(480)), Room::Wait(at(464 + 45)));
    station.on_incoming(Address(10), FrameKind::Data, at(900));
    assert_eq!(room(&station, at(510)), Room::Wait(at(900 + 16 + 44 + 9)));
    station.settle_listening(at(464));
    pairs(&mut station).set_exchange(A, Some(own(800)));
    station.on_sending(at(500), at(700), Duration::ZERO);
    assert_eq!(room(&station, at(600)), Room::Wait(at(800)));
    // A device without pairs notes nothing.
    let (mut shared, mut stations) = device(PeerTraits::default());
    shared.exchange(&mut stations[0]);
    stations[0].on_sending(at(316), at(400), Duration::ZERO);
    assert!(stations[0].listening.changes.is_empty());
}

/// A link begins by RTS while it, or one that disturbs it, was blind for long and has decoded nothing since.
#[test]
fn a_link_is_unsure_where_it_or_its_partner_was_blind() {
    let [mut station, _] = coupled();
    assert!(!station.has_unsure_link(at(0)));
    pairs(&mut station).set_unsure(B, Some(at(500)));
    assert!(station.has_unsure_link(at(499)) && !station.has_unsure_link(at(500)));
    pairs(&mut station).set_unsure(B, None);
    station.listening.medium_sync.lose(at(1_000));
    station.listening.medium_sync.recover(at(1_100), us(400));
    assert!(station.has_unsure_link(at(1_499)) && !station.has_unsure_link(at(1_500)));
    station.on_decoded();
    assert!(!station.has_unsure_link(at(1_100)));
    // Links that do not disturb each other do not count.
    let (mut shared, mut stations) = device(PeerTraits::default());
    shared.couple_peer(PEER, [0, 1]);
    shared.exchange(&mut stations[0]);
    pairs(&mut stations[0]).set_unsure(B, Some(at(500)));
    assert!(!stations[0].has_unsure_link(at(100)));
}

/// While another link sends there is room for a PPDU that ends with it, and none for an exchange that would follow.
#[test]
fn another_exchange_follows_only_where_all_is_free() {
    let [mut station, _] = coupled();
    let packet = Payload { id: 0, size: 1_500, priority: 0 };
    let (_, id) = station.traffic.push(Msdu { to: PEER, packet }, A).unwrap();
    assert!(station.has_room(id, at(100)));
    pairs(&mut station).set_exchange(B, Some(OnLink { data_end: Some(at(400)), ..own(500) }));
    assert_eq!((station.room(id, at(100)), station.has_room(id, at(100))), (Room::EndAt(at(400)), false));
    assert_eq!((station.room(id, at(450)), station.has_room(id, at(450))), (Room::Wait(at(500)), false));
    assert!(station.has_room(id, at(500)));
}

/// The category that would begin waits for a partner whose backoff ends within cwmin slots of best effort: 135 us.
#[test]
fn a_link_waits_for_its_partner_as_long_as_its_smallest_window() {
    for (partner, waits) in [(100, false), (101, true), (235, true), (236, false)] {
        let [mut station, _] = coupled();
        pairs(&mut station).set_access(B, Some(at(partner)));
        assert_eq!(station.waits_for_partner(at(100), BestEffort), waits, "{partner}");
        assert_eq!(station.alarm.is_due(at(partner)), waits);
        // The partner learns that this link would begin, too.
        let told = pairs(&mut station).partner(B, at(99), us(50));
        assert_eq!(told, waits.then_some(at(100)));
    }
}

/// Ends that are 8 us apart at most are one, which lies between them; begins are so up to 4 us.
#[test]
fn ends_that_are_close_are_one() {
    let [mut station, _] = coupled();
    let coupling = pairs(&mut station);
    coupling.pairs.add(LinkId(2), A);
    coupling.pairs.add(LinkId(2), B);
    let sends = |end| OnLink { data_end: Some(at(end)), ..own(end + 60) };
    let third = |coupling: &Coupling, now| coupling.room(LinkId(2), PEER, &Default::default(), at(now));
    for (other, room) in [(408, Room::EndAt(at(404))), (392, Room::EndAt(at(396))), (409, Room::Wait(at(409)))] {
        coupling.set_exchange(A, Some(sends(400)));
        coupling.set_exchange(B, Some(sends(other)));
        assert_eq!(third(coupling, 100), room, "{other}");
    }
    // Where one only receives the other's end does not count.
    coupling.set_exchange(B, Some(own(700)));
    assert_eq!(third(coupling, 100), Room::Wait(at(700)));
    coupling.set_exchange(B, None);
    coupling.set_exchange(A, Some(OnLink { is_announced: true, ..sends(400) }));
    let joins = [45, 46, 54, 55].map(|now| third(coupling, now));
    assert_eq!(joins, [Room::Wait(at(460)), Room::Join(at(400)), Room::Join(at(400)), Room::Wait(at(460))]);
    coupling.set_exchange(B, Some(OnLink { is_announced: true, ..sends(404) }));
    assert_eq!(third(coupling, 50), Room::Join(at(402)));
    // To end with a link that sends and to join one that begins is too much.
    coupling.set_exchange(B, Some(sends(400)));
    assert_eq!(third(coupling, 50), Room::Wait(at(400)));
}

/// A PPDU ends with its answer, and a slot later all is over, also for the other link.
#[test]
fn an_exchange_lasts_until_its_answer_has_come() {
    let [mut station, _] = coupled();
    let packet = Payload { id: 0, size: 1_500, priority: 0 };
    let (_, id) = station.traffic.push(Msdu { to: PEER, packet }, A).unwrap();
    let queue = station.traffic.queue_mut(id);
    let planned = station.planner.plan(id, queue, None, true, Default::default()).unwrap();
    assert_eq!(planned.airtime, Duration::from_nanos(192_800));
    pairs(&mut station).set_access(A, Some(at(100)));
    station.on_own_exchange(at(100), &planned, us(88));
    let exchange = *pairs(&mut station).exchange_mut(A).unwrap();
    let data_end = at(188) + planned.airtime;
    assert_eq!((exchange.begun, exchange.data_end, exchange.until), (at(100), Some(data_end), data_end + us(44 + 9)));
    assert!(exchange.is_own && exchange.is_announced && exchange.with == PEER);
    assert_eq!(pairs(&mut station).partner(B, at(50), us(100)), None, "it has begun");
    station.on_own_exchange(at(100), &planned, Duration::ZERO);
    assert!(!pairs(&mut station).exchange_mut(A).unwrap().is_announced);
    station.end_shared_txop(at(600), true);
    assert!(pairs(&mut station).exchange_mut(A).is_none());
}

#[test]
fn links_are_counted_round() {
    let mut links = Links::default();
    [4, 0, 14].into_iter().for_each(|link| links.insert(LinkId(link)));
    assert_eq!([0, 1, 4, 13, 14].map(|link| links.after(LinkId(link)).0), [4, 4, 14, 14, 0]);
    assert_eq!(Links::of(LinkId(3)).after(LinkId(3)), LinkId(3), "it is alone");
    assert_eq!(Links::default().after(LinkId(5)), LinkId(5));
    links.remove(LinkId(4));
    assert!(!links.contains(LinkId(4)) && links.contains(LinkId(14)) && !links.contains(LinkId(1)));
    assert_eq!(links.and(Links::of(LinkId(14))), Links::of(LinkId(14)));
    assert_eq!(links.and(Links::of(LinkId(4))), Links::default());
}

/// Addresses of a peer on each link, and of stations that are no peers.
#[test]
fn a_peer_has_an_address_on_each_link() {
    let (_, stations) = device(PeerTraits::default());
    for (station, address) in stations.iter().zip([10, 11]) {
        assert_eq!(station.planner.link.address(PEER), Address(address));
        assert_eq!(station.planner.link.device(Address(address)), PEER);
        assert_eq!(
            (station.planner.link.address(Address(5)), station.planner.link.device(Address(5))),
            (Address(5), Address(5))
        );
    }
}

/// Packets are counted by the device; a link that contends or sends is busy.
#[test]
fn a_device_knows_what_waits_and_which_links_are_at_work() {
    let mut air = Air::of_devices(of_window(2), 2, 2, super::RequestLink::OfData, 1);
    (0..2).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.send(at(10), 0, 1, 2, Voice);
    air.run(at(10));
    let shared = &air.devices[0];
    assert_eq!((shared.queue_len(), shared.category_len(BestEffort), shared.category_len(Voice)), (3, 2, 1));
    assert!(shared.is_busy(0));
    air.run(at(20_000));
    let shared = &air.devices[0];
    assert_eq!((shared.queue_len(), shared.category_len(BestEffort), shared.category_len(Voice)), (0, 0, 0));
    assert_eq!([0, 1].map(|link| shared.is_busy(link)), [false; 2]);
    assert!(!shared.may_stall() && ![0, 1].into_iter().any(|link| shared.is_stalled(link, Address(2))));
}

/// While the first link has the whole window in a PPDU, the second stands still if more waits.
#[test]
fn a_link_is_stalled_while_the_other_holds_the_window() {
    for (packets, is_stalled) in [(2, false), (3, true)] {
        let mut air = Air::of_devices(of_window(2), 2, 2, super::RequestLink::OfData, 1);
        (0..2).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
        (2..packets).for_each(|id| air.send(at(50), 0, 1, id, BestEffort));
        air.run(at(200));
        let shared = &air.devices[0];
        assert_eq!((shared.is_stalled(1, Address(2)), shared.may_stall()), (is_stalled, true), "{}", air.timeline);
        assert!(!shared.is_stalled(0, Address(2)), "it sends");
    }
}

/// A change that is set again comes at its new time alone.
#[test]
fn a_change_comes_once() {
    use super::super::listening::{Change, Listening};
    let mut listening = Listening::default();
    listening.set(Change::Silence, at(100));
    listening.set(Change::Departs, at(150));
    listening.set(Change::Silence, at(200));
    assert_eq!(listening.changes, [(at(150), Change::Departs), (at(200), Change::Silence)]);
}

/// Each packet of a device with one radio: called by a frame with padding, on one link at a time, and free again after
/// SIFS, slot, the begin of a frame (45 us) and its transition. Without a transition it listens at once.
#[test]
fn a_device_listens_again_after_its_transition() {
    for transition in [0, 64, 256] {
        let delays = Emlsr { padding: us(0), transition: us(transition), medium_sync: us(0) };
        let mut air = Air::of_devices_in(config(), &[Kind::Str, Kind::Emlsr(delays)], 2, Default::default(), 1);
        air.send(at(0), 0, 1, 0, BestEffort);
        air.send(at(200), 0, 1, 1, BestEffort);
        air.run(at(3_000));
        let begins: Vec<u64> = air
            .timeline
            .lines()
            .filter(|line| line.contains("MU-RTS"))
            .map(|line| line.trim().split('.').next().unwrap().parse().unwrap())
            .collect();
        assert_eq!((begins.len(), air.delivered.len()), (2, 2), "{}", air.timeline);
        // The first exchange: MU-RTS 36, CTS 44, DATA 192.8, ACK 28, and three SIFS.
        let listens = 36 + 44 + 193 + 28 + 48 + 45 + transition;
        assert!((listens - 2..listens + 16 * 9 + 43).contains(&begins[1]), "{transition}: {}", air.timeline);
    }
}

/// On a link that is gone a device says seven times that it sleeps, and then once on the other that it is awake.
#[test]
fn what_a_device_says_again_is_marked_so() {
    let modes = [Kind::Str, Kind::Single(us(800))];
    let mut air = Air::of_devices_in(config(), &modes, 2, (super::RequestLink::Any, Default::default()), 1);
    air.outage = Some((0, at(0)..at(1_000_000)));
    air.send(at(10), 1, 0, 0, BestEffort);
    air.run(at(100_000));
    assert_eq!(air.nulls, [false, true, true, true, true, true, true, false]);
}

/// A link that was silent is asked again when it opens: nothing else would tell what became of the other's packets.
#[test]
fn what_is_in_doubt_on_a_link_that_sleeps_is_asked_for_on_the_one_that_is_awake() {
    let (modes, ways) = ([Kind::Str, Kind::Single(us(800))], (super::RequestLink::Any, Default::default()));
    let mut config = config();
    (config.aggregation.repair, config.aggregation.retry_limit) = (Repair::Request, None);
    let mut air = Air::of_devices_in(config, &modes, 2, ways, 1);
    // The first link: seven requests have no answer, though the peer is heard. Then the peer is gone.
    (0..2).for_each(|id| air.send(at(10), 1, 0, id, BestEffort));
    (0..40).for_each(|id| air.send(at(500 * u64::from(id)), 0, 1, 10 + id, Voice));
    // The second link: the answers to what it sends last are lost until it is left.
    (2..5).for_each(|id| air.send(at(70_000), 1, 0, id, BestEffort));
    air.outage = Some((0, at(20_000)..at(60_000)));
    let is_lossy = |now| now < at(20_000) || (at(70_000)..at(100_000)).contains(&now);
    air.fate = Box::new(move |now, kind, _, _| kind == FrameKind::BlockAck && is_lossy(now));
    air.run(at(1_000_000));
    let told = air.outcomes.iter().filter(|(station, ..)| *station == 1).count();
    assert_eq!(told, 5, "{}", air.timeline);
}
