//! Each port alone, with a small host: what it sends, refuses, hands up, does when its timer rings, and why it drops.

use super::super::beginnings::Beginnings;
use super::super::frame::{BeaconFrame, FrameBody, Msdu, MsduKind, PacketRef};
use super::super::host::{Host, Work};
use super::super::id::{FlowId, LinkDirection, LinkTrunkEnd, NodeId, RadioId, RadioTrunkEnd, StopAndWaitId};
use super::super::medium::Medium;
use super::super::packet::{Body, NewPacket, Packets};
use super::super::radio_map::RadioMap;
use super::super::wakeups::{MachineCounts, MachineId, MachineKind, Wakeups};
use super::Ports;
use super::error_control::Next;
use super::link::Arrival;
use super::select::Taken;
use crate::queue::EventQueue;
use crate::scenario::Scenario;
use airbraid_engine::TrafficClass;
use airbraid_engine::converge::select;
use airbraid_engine::trunk::{Member, paper};
use airbraid_mac::{Damage, Outcome};
use airbraid_net::arp;
use airbraid_net::link::LinkInput;
use airbraid_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};

/// The ports of two nodes, `a` and `b`, 10 m apart, with what `text` says besides, and a host for them.
fn ports(radios: &str, text: &str) -> (Ports, Host<'static>) {
    ports_of([radios, radios], text)
}

/// The same with radios that differ.
fn ports_of(radios: [&str; 2], text: &str) -> (Ports, Host<'static>) {
    let node = |name, east, radios| {
        format!("[[node]]\nname = \"{name}\"\nposition = [\"{east} m\", \"0 m\"]\nradios = {radios}\n")
    };
    let head = "schema = 1\ntitle = \"ports\"\nquestion = \"?\"\n[run]\nduration = \"10 s\"\n";
    let text = format!("{head}{}{}{text}", node("a", 0, radios[0]), node("b", 10, radios[1]));
    let plan = Scenario::parse("ports", &text).and_then(|scenario| scenario.plan());
    let spec = plan.unwrap_or_else(|errors| panic!("{errors}\n{text}")).cells[0].spec.clone();
    let mut medium = Medium::new(&spec, 1);
    let ports = Ports::new(&spec, &RadioMap::new(&spec), &mut medium, 1).unwrap();
    use MachineKind::{Link, LinkTrunk, Mac, RadioTrunk, SelectiveRepeat, Selector, StopAndWait};
    let kinds = [Mac, StopAndWait, SelectiveRepeat, RadioTrunk, Selector, LinkTrunk, Link];
    let counts = kinds.iter().fold(MachineCounts::default(), |counts, kind| counts.with(*kind, 8));
    let host = Host {
        now: Instant::ZERO,
        early: Duration::ZERO,
        queue: EventQueue::new(),
        wakeups: Wakeups::new(counts),
        pending: VecDeque::new(),
        committed: Vec::new(),
        starts_at: Instant::MAX,
        beginnings: Beginnings::default(),
        medium,
        killers: None,
        packets: Packets::default(),
        devices: Default::default(),
        observer: None,
        powers: Default::default(),
        account: None,
        has_greedy_flows: false,
    };
    (ports, host)
}

/// A new packet from `a` to `b`.
fn packet(host: &mut Host<'_>, len: u32) -> PacketRef {
    let [from, to] = [0, 1].map(|node| NodeId::new(node).address());
    let body = Body::Datagram { payload: len, number: 0 };
    let (flow, class) = (FlowId::new(0), TrafficClass::Bulk);
    host.packets.create(NewPacket { flow, from, to, len, class, priority: 0, created: host.now, body })
}

/// Takes out the pending work.
fn work(host: &mut Host<'_>) -> Vec<Work> {
    host.pending.drain(..).collect()
}

/// Goes on to the next wake-up: whose it is.
fn sleep(host: &mut Host<'_>) -> Option<MachineId> {
    host.now = host.wakeups.next_at();
    host.wakeups.ring(host.now)
}

fn drops(host: &Host<'_>) -> BTreeMap<&'static str, u64> {
    host.packets.account();
    host.packets.drops()
}

const LINK: LinkDirection = LinkDirection::of(0, 0);

mod link {
    use super::*;

    const TEXT: &str =
        "[[link]]\nname = \"wan\"\nbetween = [\"a\", \"b\"]\nrate = \"8 Mbit/s\"\ndelay = \"5 ms\"\nqueue = 2\n";

    #[test]
    fn a_packet_arrives_when_it_has_been_sent_and_has_travelled() {
        let (mut ports, mut host) = ports("[]", TEXT);
        let sent = packet(&mut host, 1_000);
        ports.links[LINK].send(sent, &mut host);
        while host.pending.is_empty() {
            assert_eq!(sleep(&mut host), Some(MachineId::Link(LINK)));
            ports.links[LINK].step(None, &mut host);
        }
        assert_eq!(host.now, Instant::ZERO + Duration::from_millis(6));
        let Some(Work::Link(LINK, output)) = work(&mut host).pop() else { panic!("the link is silent") };
        let Some(Arrival::Packet(node, came)) = ports.links[LINK].on_output(output, &mut host) else {
            panic!("nothing has arrived")
        };
        assert_eq!((node, came), (NodeId::new(1), sent));
    }

    #[test]
    fn a_full_queue_takes_no_more_and_says_so() {
        let (mut ports, mut host) = ports("[]", TEXT);
        for waiting in [0, 0, 1, 2] {
            let space = ports.links[LINK].free_space();
            assert_eq!((space.waiting, space.is_there()), (waiting, waiting < 2));
            let sent = packet(&mut host, 1_000);
            ports.links[LINK].send(sent, &mut host);
        }
        for item in work(&mut host) {
            let Work::Link(LINK, output) = item else { panic!("{item:?}") };
            assert!(ports.links[LINK].on_output(output, &mut host).is_none());
        }
        assert_eq!(drops(&host), BTreeMap::from([("link_queue_full", 1)]));
    }

    #[test]
    fn what_is_on_a_link_that_goes_down_is_dropped_for_that() {
        let (mut ports, mut host) = ports("[]", TEXT);
        let sent = packet(&mut host, 1_000);
        ports.links[LINK].step(Some(LinkInput::SetUp(false)), &mut host);
        ports.links[LINK].send(sent, &mut host);
        for item in work(&mut host) {
            let Work::Link(_, output) = item else { panic!("{item:?}") };
            ports.links[LINK].on_output(output, &mut host);
        }
        assert_eq!(drops(&host), BTreeMap::from([("down", 1)]));
    }

    #[test]
    fn error_control_sends_a_lost_frame_again_until_the_packet_is_there() {
        let text = format!("{TEXT}loss = {{ trace = [1, 0] }}\nlink_layer = {{ policy = \"whole\" }}\n");
        let (mut ports, mut host) = ports("[]", &text);
        let sent = packet(&mut host, 1_000);
        ports.links[LINK].send(sent, &mut host);
        let (mut frames, mut came) = (0, 0);
        while came == 0 && host.now < Instant::ZERO + Duration::from_secs(5) {
            for item in work(&mut host) {
                match item {
                    Work::SelectiveRepeat(direction, output) => {
                        frames += u32::from(matches!(*output, airbraid_engine::link::Output::Transmit(_)));
                        let up = ports.links[direction].on_error_control_output(*output, &mut host);
                        came += usize::from(up == Some((NodeId::new(1), sent)));
                    }
                    Work::Link(direction, output) => match ports.links[direction].on_output(output, &mut host) {
                        Some(Arrival::SelectiveRepeat(frame)) => {
                            ports.links[direction.peer()].on_frame(frame, &mut host);
                        }
                        other => assert!(other.is_none(), "{other:?}"),
                    },
                    other => panic!("{other:?}"),
                }
            }
            if host.pending.is_empty() {
                match sleep(&mut host) {
                    Some(MachineId::Link(direction)) => ports.links[direction].step(None, &mut host),
                    Some(MachineId::SelectiveRepeat(direction)) => {
                        ports.links[direction].on_error_control_timer(&mut host);
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert_eq!(came, 1);
        assert!(frames > 1, "the first was lost");
        assert!(drops(&host).is_empty());
    }
}

mod radio {
    use super::*;

    const OWN: RadioId = RadioId::new(0);
    const PEER: RadioId = RadioId::new(1);

    #[test]
    fn a_packet_goes_on_the_air_when_its_mac_has_waited() {
        let (mut ports, mut host) = ports("[1]", "");
        let sent = packet(&mut host, 1_000);
        ports.radios[OWN].send(PEER.address(), Msdu::plain(sent), &mut host);
        while host.committed.is_empty() {
            assert_eq!(sleep(&mut host), Some(MachineId::Mac(OWN)));
            ports.radios[OWN].step(None, &mut host);
        }
        assert!(host.starts_at >= host.now, "{} is past, it is {}", host.starts_at, host.now);
        assert!(host.queue.pop().is_none(), "it is dated when it starts");
    }

    #[test]
    fn a_full_interface_queue_gives_the_packet_back() {
        let (mut ports, mut host) = ports("[{ name = \"x\", channel = 1, queue = 1 }]", "");
        let mut sent = 0;
        while ports.radios[OWN].free_space(PEER.address(), 0, &host).is_there() {
            let next = packet(&mut host, 1_000);
            ports.radios[OWN].send(PEER.address(), Msdu::plain(next), &mut host);
            sent += 1;
        }
        assert!((1..=2).contains(&sent), "{sent}");
        assert!(work(&mut host).is_empty());
        let one_more = packet(&mut host, 1_000);
        ports.radios[OWN].send(PEER.address(), Msdu::plain(one_more), &mut host);
        let [Work::MacFinished { msdu, outcome, .. }] = work(&mut host)[..] else { panic!("not given back") };
        assert_eq!((msdu.packet, outcome), (one_more, Outcome::QueueFull));
    }

    #[test]
    fn what_is_lost_behind_the_mac_or_came_damaged_is_dropped_for_that() {
        let (mut ports, mut host) = ports("[{ name = \"x\", channel = 1, delivery_loss = \"100 %\" }]", "");
        let (first, second) = (packet(&mut host, 100), packet(&mut host, 100));
        assert!(ports.radios[PEER].loses(OWN.address(), Msdu::plain(first), &mut host));
        ports.radios[PEER].on_damaged(OWN.address(), Msdu::plain(second), Damage::Corrupted(3), &mut host);
        assert_eq!(drops(&host), BTreeMap::from([("damaged", 1), ("delivery_loss", 1)]));
    }

    #[test]
    fn a_frame_that_carries_no_packet_is_in_no_account() {
        let (mut ports, mut host) = ports("[1]", "");
        let [sender, target] = [0, 1].map(|node| NodeId::new(node).router());
        let message = arp::Message { operation: arp::Operation::Request, sender, target };
        let frame = host.packets.create_frame(host.now, FrameBody::Resolution(message));
        let msdu = Msdu::frame(frame, MsduKind::Routing);
        ports.radios[PEER].on_damaged(OWN.address(), msdu, Damage::Corrupted(3), &mut host);
        assert!(drops(&host).is_empty());
    }
}

mod radio_trunk {
    use super::*;

    const END: RadioTrunkEnd = RadioTrunkEnd::of(0, 0);

    /// Lets the trunk of `a` do what is pending: the radios that got frames.
    fn carry_out(ports: &mut Ports, host: &mut Host<'_>) -> Vec<paper::TrunkHeader> {
        let mut headers = Vec::new();
        while let Some(item) = host.pending.pop_front() {
            match item {
                Work::RadioTrunk(end, output) => {
                    if let paper::PaperOutput::Transmit { header, .. } = &output {
                        headers.push(*header);
                    }
                    ports.radio_trunks[end].on_output(output, &mut ports.radios, host);
                }
                // Beacons are heard at once, and well.
                Work::Selector(end, output) if let select::Output::Beacon(_, port, beacon) = *output => {
                    let there = RadioId::new(2 * end.peer().side() + usize::from(port.0));
                    ports.radios[there].note_level(RadioId::new(0).address(), 1e-6, host);
                    let frame = BeaconFrame { end, port, beacon };
                    ports.radio_trunks[end.peer()].on_beacon(frame, there, &ports.radios, host);
                }
                Work::Selector(end, output) => {
                    ports.radio_trunks[end].on_selection_output(*output, &mut ports.radios, host);
                }
                Work::MacFinished { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        headers
    }

    #[test]
    fn packets_go_over_all_members_and_come_up_in_order() {
        let (mut ports, mut host) = ports("[1, 6]", "[[trunk]]\nname = \"air\"\nbetween = [\"a\", \"b\"]\n");
        let sent = [packet(&mut host, 500), packet(&mut host, 500)];
        for packet in sent {
            ports.radio_trunks[END].send(packet, &mut host);
        }
        let headers = carry_out(&mut ports, &mut host);
        assert_eq!(headers.iter().map(|header| header.member).collect::<Vec<_>>(), [Member(0), Member(1)]);
        // The second comes first: it waits for the other.
        for index in [1, 0] {
            let header = headers[index];
            ports.radio_trunks[END.peer()].on_frame(header.member, header, sent[index], &mut host);
        }
        let up = work(&mut host).into_iter().filter_map(|item| match item {
            Work::RadioTrunk(end, output) => ports.radio_trunks[end].on_output(output, &mut ports.radios, &mut host),
            _ => None,
        });
        assert_eq!(up.collect::<Vec<_>>(), sent);
    }

    #[test]
    fn a_full_trunk_drops_for_that() {
        let text = "[[trunk]]\nname = \"air\"\nbetween = [\"a\", \"b\"]\npolicy = { queue = 3, member_queue = 1 }\n";
        let (mut ports, mut host) = ports("[1]", text);
        let mut sent = 0;
        while ports.radio_trunks[END].free_space(&ports.radios, &host).is_there() {
            let next = packet(&mut host, 500);
            ports.radio_trunks[END].send(next, &mut host);
            carry_out(&mut ports, &mut host);
            sent += 1;
        }
        assert!(sent >= 3, "{sent}");
        assert!(drops(&host).is_empty());
        let one_more = packet(&mut host, 500);
        ports.radio_trunks[END].send(one_more, &mut host);
        carry_out(&mut ports, &mut host);
        assert_eq!(drops(&host), BTreeMap::from([("trunk_queue_full", 1)]));
    }

    #[test]
    fn selection_takes_the_other_member_when_a_radio_is_gone() {
        let text = "[[trunk]]\nname = \"air\"\nbetween = [\"a\", \"b\"]\n[trunk.select]\nthreshold = \"-100 dB\"\n";
        let (mut ports, mut host) = ports("[1, 6]", text);
        for end in [END, END.peer()] {
            ports.radio_trunks[end].begin(&mut host);
        }
        carry_out(&mut ports, &mut host);
        while host.now < Instant::ZERO + Duration::from_secs(1) {
            let Some(MachineId::Selector(end)) = sleep(&mut host) else { continue };
            ports.radio_trunks[end].on_selection_timer(&mut host);
            carry_out(&mut ports, &mut host);
        }
        let first = packet(&mut host, 500);
        ports.radio_trunks[END].send(first, &mut host);
        carry_out(&mut ports, &mut host);
        let sent = |ports: &Ports| ports.radio_trunks[END].selection().unwrap().sent().to_vec();
        assert_eq!(sent(&ports), [1, 0]);
        // The first member's radio goes: its MAC is to give back what waits, which takes the other way.
        assert!(ports.radio_trunks[END].on_radio(Member(0), false, &mut host));
        let msdu = Msdu { packet: first, overhead: 0, kind: MsduKind::Selected(None) };
        let end = &mut ports.radio_trunks[END];
        assert_eq!(end.on_finished(Member(0), msdu, (Outcome::Purged, 0), &ports.radios, &mut host), Taken::Back);
        carry_out(&mut ports, &mut host);
        assert_eq!(sent(&ports), [1, 1]);
        assert!(drops(&host).is_empty());
    }
}

mod link_trunk {
    use super::*;

    const END: LinkTrunkEnd = LinkTrunkEnd::of(0, 0);
    const TEXT: &str = "[[link]]\nname = \"wan\"\nbetween = [\"a\", \"b\"]\nrate = \"8 Mbit/s\"\ndelay = \"5 ms\"\n\
        [[trunk]]\nname = \"bond\"\nbetween = [\"a\", \"b\"]\nover = \"links\"\nmembers = [\"wan\"]\n";

    #[test]
    fn a_packet_goes_as_a_frame_and_comes_up_at_the_other_end() {
        let (mut ports, mut host) = ports("[]", TEXT);
        let config = airbraid_engine::trunk::bonding::MemberConfig::default();
        for end in [END, END.peer()] {
            ports.link_trunks[end].add_member(Member(0), config, &mut host);
        }
        let sent = packet(&mut host, 500);
        ports.link_trunks[END].send(sent, &mut host);
        let mut came = None;
        while came.is_none() && host.now < Instant::ZERO + Duration::from_secs(1) {
            for item in work(&mut host) {
                match item {
                    Work::LinkTrunk(end, output) => {
                        let up = ports.link_trunks[end].on_output(*output, &mut ports.links, &mut host);
                        came = came.or(up);
                    }
                    Work::Link(direction, output) => match ports.links[direction].on_output(output, &mut host) {
                        Some(Arrival::LinkTrunk(end, frame)) => ports.link_trunks[end].on_frame(frame, &mut host),
                        other => assert!(other.is_none(), "{other:?}"),
                    },
                    other => panic!("{other:?}"),
                }
            }
            if host.pending.is_empty() {
                match sleep(&mut host) {
                    Some(MachineId::Link(direction)) => ports.links[direction].step(None, &mut host),
                    Some(MachineId::LinkTrunk(end)) => ports.link_trunks[end].step(None, &mut host),
                    other => panic!("{other:?}"),
                }
            }
        }
        assert_eq!(came, Some((NodeId::new(1), sent)));
        assert!(drops(&host).is_empty());
    }
}

mod error_control {
    use super::*;

    const MASTER: &str = "[{ channel = 1, role = \"master\" }]";
    const TEXT: &str = "[radio]\nmac = \"polled\"\nlink_layer = { policy = \"light\", queue = 2 }\n";

    #[test]
    fn a_master_answers_each_pull_and_drops_what_its_queue_does_not_take() {
        let (mut ports, mut host) = ports_of([MASTER, "[1]"], TEXT);
        let Some(id) = ports.stop_and_wait.ids().next() else { panic!("no error control") };
        let radio = ports.stop_and_wait[id];
        let peer = RadioId::new(1 - radio.index()).address();
        for _ in 0..4 {
            let next = packet(&mut host, 500);
            ports.radios[radio].send(peer, Msdu::plain(next), &mut host);
        }
        assert!(!ports.radios[radio].free_space(peer, 0, &host).is_there());
        let settled = outputs(&mut ports, id, &mut host);
        let full = settled.iter().filter(|next| matches!(next, Next::Settle(_, Err(_)))).count();
        assert!((1..=2).contains(&full), "{settled:?}");
        ports.radios[radio].on_pull(peer, &mut host);
        // The frame goes to the MAC with the poll's output.
        assert!(outputs(&mut ports, id, &mut host).is_empty());
    }

    fn outputs(ports: &mut Ports, id: StopAndWaitId, host: &mut Host<'_>) -> Vec<Next> {
        let radio = ports.stop_and_wait[id];
        let all = work(host).into_iter().filter_map(|item| match item {
            Work::StopAndWait(id, output) => ports.radios[radio].on_error_control_output(id, *output, host),
            _ => None,
        });
        all.map(|(_, next)| next).collect()
    }
}
