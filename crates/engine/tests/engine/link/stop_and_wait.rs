//! Stop-and-wait: transcripts, the formula of the residual loss, and random faults in both directions on real bytes.

use crate::link::world::{Account, Assembly, Buffer, Fault, buffer, fault, on_air, payload};
use airbraid_engine::link::fec::BlockCodec;
use airbraid_engine::link::{
    Adaptation, Config, DropReason, Frame, Header, Input, Output, Payload, Persistence, Reception, Refusal, Shape,
    StopAndWait,
};
use airbraid_engine::link::{ClassConfig, Cost};
use airbraid_engine::packet::TrafficClass;
use airbraid_engine::wire::{emit_link_header, parse_link_header};
use airbraid_engine::{Stream, step};
use airbraid_units::{Duration, Instant};
use proptest::prelude::*;
use std::fmt::Write;

/// A master (end 0), its slave (end 1), and the channel between them.
struct Link {
    now: Instant,
    ends: [StopAndWait<Buffer>; 2],
    codec: BlockCodec,
    /// By receiving end.
    assemblies: [Assembly; 2],
    /// By sending end.
    accounts: [Account; 2],
    next_id: u32,
    /// Segments that were handed in, and those that came back by an output.
    handed: (u64, u64),
    text: String,
}

impl Link {
    fn new(config: &Config) -> Self {
        Self {
            now: Instant::ZERO,
            ends: [StopAndWait::master(config).unwrap(), StopAndWait::slave(config).unwrap()],
            codec: BlockCodec::default(),
            assemblies: Default::default(),
            accounts: Default::default(),
            next_id: 1,
            handed: (0, 0),
            text: String::new(),
        }
    }

    /// Drives an end; gives what it transmits.
    fn drive(&mut self, end: usize, input: Option<Input<Buffer>>) -> Option<Frame<Header, Buffer>> {
        let mut outputs = vec![];
        step(&mut self.ends[end], self.now, input, |output| outputs.push(output));
        let mut frame = None;
        let name = ["master", "slave"][end];
        for output in outputs {
            match output {
                Output::Transmit(transmitted) => {
                    assert!(frame.replace(transmitted).is_none(), "one frame an opportunity");
                }
                Output::Piece { class, seq, offset, packet } => {
                    self.handed.1 += 1;
                    self.assemblies[end].put(class, seq, offset, &packet);
                }
                Output::Deliver { class, seq, offset, packet } => {
                    self.handed.1 += 1;
                    self.assemblies[end].put(class, seq, offset, &packet);
                    let bytes = self.assemblies[end].take(class, seq).unwrap();
                    self.accounts[1 - end].deliver(class, &bytes);
                    writeln!(self.text, "  {name} delivers {seq}, {} byte", bytes.len()).unwrap();
                }
                Output::Abandon { class, seq } => assert!(self.assemblies[end].take(class, seq).is_some()),
                Output::Release(packet) if packet.id == 0 => self.handed.1 += 1,
                Output::Release(packet) => self.accounts[end].give_back(packet.id),
                Output::Drop(packet, reason) => {
                    self.accounts[end].give_back(packet.id);
                    writeln!(self.text, "  {name} drops packet {}: {reason:?}", packet.id).unwrap();
                    match reason {
                        DropReason::QueueFull => self.accounts[end].refused.push(packet.id),
                        _ => self.accounts[end].given_up.push(packet.id),
                    }
                }
            }
        }
        frame
    }

    fn packet(&mut self, end: usize, class: TrafficClass, len: u16) {
        let packet = buffer(self.next_id, class, len);
        self.next_id += 1;
        self.accounts[end].offered.push(packet.clone());
        let frame = self.drive(end, Some(Input::Packet(packet)));
        assert!(frame.is_none(), "a link that is pulled does not push");
    }

    /// Carries a frame; gives what its receiver makes of it.
    fn carry(&mut self, frame: Frame<Header, Buffer>, fault: Fault) -> Option<Reception<Header, Buffer>> {
        let Frame { header, packet } = frame;
        write!(self.text, "{}", show(&header)).unwrap();
        let sent = on_air(&mut self.codec, &emit_link_header(&header), header.segment, packet);
        let came = fault.apply(sent)?;
        let reception = match parse_link_header(&came) {
            Ok((said, rest)) => {
                assert_eq!(said, header, "a damaged header passes its check");
                Reception { header: Some(said), payload: payload(&mut self.codec, said.segment, rest) }
            }
            Err(_) => Reception { header: None, payload: Payload::Undecodable },
        };
        self.handed.0 += u64::from(matches!(reception.payload, Payload::Intact { .. }));
        let outcome = match (&reception.header, &reception.payload) {
            (None, _) => "header damaged",
            (_, Payload::None) => "no data",
            (_, Payload::Intact { worst: 0, .. }) => "intact",
            (_, Payload::Intact { .. }) => "repaired",
            (_, Payload::Truncated { .. }) => "truncated",
            (_, Payload::Undecodable) => "undecodable",
        };
        writeln!(self.text, ": {outcome}").unwrap();
        Some(reception)
    }

    fn transact(&mut self, invite: bool, down: Fault, up: Fault) {
        self.now += Duration::from_millis(10);
        let poll = self.drive(0, Some(Input::Poll { invite })).unwrap();
        self.text += "poll   ";
        let answer = match self.carry(poll, down) {
            Some(reception) => {
                let answer = self.drive(1, Some(Input::Received(reception))).unwrap();
                self.text += "answer ";
                self.carry(answer, up)
            }
            None => None,
        };
        let input = answer.map_or(Input::Timeout, Input::Received);
        if input == Input::Timeout {
            self.text += ": lost\n";
        }
        assert!(self.drive(0, Some(input)).is_none());
    }

    fn check(&self) {
        assert_eq!(self.handed.0, self.handed.1, "a segment was kept, or given back twice");
        for account in &self.accounts {
            assert!(account.returned.values().all(|&times| times == 1), "a handle came back twice");
        }
    }
}

fn show(header: &Header) -> String {
    let mut text = match header.segment {
        Some(segment) => {
            let class = ["", "voice "][segment.class as usize];
            let last = if segment.is_last { "." } else { "" };
            let (seq, parity) = (segment.seq, segment.parity);
            format!("{class}{seq} [{}..{}{last}) parity {parity}", segment.offset, segment.end())
        }
        None => "-".to_owned(),
    };
    let [bulk, _] = header.acks;
    write!(text, ", expects {} from {}", bulk.next, bulk.good).unwrap();
    text
}

const BULK: TrafficClass = TrafficClass::Bulk;
const VOICE: TrafficClass = TrafficClass::RealTime;

fn fixed(bytes: u16, parity: u8) -> Config {
    Config { adaptation: Adaptation::Fixed(Shape::new(bytes, parity).unwrap()), ..Config::default() }
}

#[test]
fn a_packet_in_segments_with_faults() {
    let mut link = Link::new(&fixed(255, 12));
    link.packet(0, BULK, 600);
    link.packet(1, BULK, 100);
    link.transact(true, Fault::None, Fault::None);
    link.transact(true, Fault::Lost, Fault::None);
    link.transact(true, Fault::Wrong(45, 6, 30), Fault::Lost);
    link.transact(true, Fault::Wrong(45, 7, 30), Fault::None);
    link.transact(true, Fault::Cut(500), Fault::None);
    link.transact(true, Fault::Wrong(3, 1, 1), Fault::None);
    link.transact(true, Fault::None, Fault::None);
    link.transact(true, Fault::None, Fault::None);
    assert_eq!(
        link.text,
        "\
poll   1 [0..239) parity 12, expects 1 from 0: intact
answer 1 [0..100.) parity 12, expects 1 from 239: intact
  master delivers 1, 100 byte
poll   1 [239..478) parity 12, expects 2 from 0: lost
poll   1 [239..478) parity 12, expects 2 from 0: repaired
answer -, expects 1 from 478: lost
poll   1 [239..478) parity 12, expects 2 from 0: undecodable
answer -, expects 1 from 478: no data
poll   1 [478..600.) parity 12, expects 2 from 0: truncated
answer -, expects 1 from 478: no data
poll   1 [478..600.) parity 12, expects 2 from 0: header damaged
answer -, expects 1 from 478: no data
poll   1 [478..600.) parity 12, expects 2 from 0: intact
  slave delivers 1, 600 byte
answer -, expects 2 from 0: no data
poll   -, expects 2 from 0: no data
answer -, expects 2 from 0: no data
"
    );
    assert!(link.accounts.iter().all(Account::is_closed));
}

/// A segment of another size follows inside the packet, also where the one before came without its sender's knowing.
#[test]
fn sizes_change_inside_a_packet() {
    let mut link = Link::new(&Config { adaptation: Adaptation::BI_SIZE, ..Config::default() });
    link.packet(0, BULK, 3_000);
    for fault in [Fault::Cut(300), Fault::Cut(300), Fault::None] {
        link.transact(false, fault, Fault::None);
    }
    // The answers to two are lost.
    link.transact(false, Fault::None, Fault::Lost);
    (0..4).for_each(|_| link.transact(false, Fault::None, Fault::None));
    assert_eq!(
        link.text,
        "\
poll   1 [0..1271) parity 0, expects 1 from 0: truncated
answer -, expects 1 from 0: no data
poll   1 [0..1271) parity 0, expects 1 from 0: truncated
answer -, expects 1 from 0: no data
poll   1 [0..251) parity 0, expects 1 from 0: intact
answer -, expects 1 from 251: no data
poll   1 [251..502) parity 0, expects 1 from 0: intact
answer -, expects 1 from 502: lost
poll   1 [251..502) parity 0, expects 1 from 0: intact
answer -, expects 1 from 502: no data
poll   1 [502..753) parity 0, expects 1 from 0: intact
answer -, expects 1 from 753: no data
poll   1 [753..2024) parity 0, expects 1 from 0: intact
answer -, expects 1 from 2024: no data
poll   1 [2024..3000.) parity 0, expects 1 from 0: intact
  slave delivers 1, 3000 byte
answer -, expects 2 from 0: no data
"
    );
}

/// The slave sends as the master says, and reports what it saw: two damaged segments, one each way, and both change.
#[test]
fn the_master_decides_for_both_directions() {
    let mut link = Link::new(&Config { adaptation: Adaptation::BIMODAL, ..Config::default() });
    link.packet(0, BULK, 1_500);
    link.packet(1, BULK, 1_500);
    link.transact(true, Fault::Cut(600), Fault::None);
    link.transact(true, Fault::None, Fault::Cut(600));
    link.transact(true, Fault::None, Fault::None);
    assert_eq!(
        link.text,
        "\
poll   1 [0..1271) parity 0, expects 1 from 0: truncated
answer 1 [0..1271) parity 0, expects 1 from 0: intact
poll   1 [0..1271) parity 0, expects 1 from 1271: intact
answer 1 [1271..1500.) parity 0, expects 1 from 1271: truncated
poll   1 [1271..1438) parity 84, expects 1 from 1271: intact
answer 1 [1271..1438) parity 84, expects 1 from 1438: intact
"
    );
}

/// Ours has a policy for each direction: what befalls the one leaves the other as it was.
#[test]
fn directions_that_differ() {
    let mut link = Link::new(&Config { adaptation: Adaptation::GOODPUT, ..Config::default() });
    for _ in 0..60 {
        link.packet(0, BULK, 1_271);
        link.packet(1, BULK, 1_271);
        link.transact(true, Fault::None, Fault::Wrong(60, 4, 1));
        link.transact(true, Fault::None, Fault::Wrong(60, 4, 1));
    }
    link.text.clear();
    link.packet(0, BULK, 1_271);
    link.packet(1, BULK, 1_271);
    link.transact(true, Fault::None, Fault::None);
    let parity = |line: &str| line.split("parity ").nth(1).and_then(|rest| rest.split(',').next()).map(str::to_owned);
    let parities: Vec<Option<String>> = link.text.lines().filter(|line| line.contains("parity")).map(parity).collect();
    assert_eq!(parities, [Some("0".to_owned()), Some("8".to_owned())]);
}

/// Voice goes first and expires, in the queue and on its way; bulk persists and is not lost.
#[test]
fn persistence_by_class() {
    let lifetime = Some(Duration::from_millis(25));
    let real_time =
        ClassConfig { persistence: Persistence { lifetime, ..Persistence::default() }, ..Default::default() };
    let mut link = Link::new(&Config { real_time, ..fixed(255, 0) });
    link.packet(0, BULK, 400);
    link.transact(false, Fault::Lost, Fault::None);
    link.packet(0, VOICE, 160);
    link.packet(0, VOICE, 161);
    for fault in [Fault::Lost, Fault::Lost, Fault::Lost, Fault::None] {
        link.transact(false, fault, Fault::None);
    }
    link.packet(0, VOICE, 162);
    (0..2).for_each(|_| link.transact(false, Fault::None, Fault::None));
    assert_eq!(
        link.text,
        "\
poll   1 [0..251) parity 0, expects 1 from 0: lost
poll   voice 1 [0..160.) parity 0, expects 1 from 0: lost
poll   voice 1 [0..160.) parity 0, expects 1 from 0: lost
  master drops packet 2: Expired
  master drops packet 3: Expired
poll   1 [0..251) parity 0, expects 1 from 0: lost
poll   1 [0..251) parity 0, expects 1 from 0: intact
answer -, expects 1 from 251: no data
poll   voice 2 [0..162.) parity 0, expects 1 from 0: intact
  slave delivers 2, 162 byte
answer -, expects 1 from 251: no data
poll   1 [251..400.) parity 0, expects 1 from 0: intact
  slave delivers 1, 400 byte
answer -, expects 2 from 0: no data
"
    );
}

/// Of independent losses p the share p^(n + 1) stays after n retransmissions (section 5.3 of the paper).
#[test]
fn residual_loss() {
    const PACKETS: u32 = 20_000;
    for (percent, retransmissions) in [(10u32, 1u32), (30, 2), (50, 4), (50, 0)] {
        let persistence = Persistence { retransmissions: Some(retransmissions), lifetime: None };
        let bulk = ClassConfig { persistence, ..ClassConfig::default() };
        let mut link = Link::new(&Config { bulk, ..fixed(255, 0) });
        let mut stream = Stream::new(1, u64::from(percent), "test.residual");
        while link.next_id <= PACKETS || !link.accounts[0].is_closed() {
            if link.next_id <= PACKETS && link.ends[0].queue_len(BULK) == 0 {
                link.packet(0, BULK, 20);
            }
            let is_lost = stream.up_to(99) < percent;
            link.transact(false, if is_lost { Fault::Lost } else { Fault::None }, Fault::None);
            link.text.clear();
        }
        let lost = link.accounts[0].given_up.len() as f64;
        let expected = (0..=retransmissions).fold(f64::from(PACKETS), |left, _| left * f64::from(percent) / 100.0);
        // Five standard deviations of a binomial number.
        assert!((lost - expected).abs() < 5.0 * expected.sqrt(), "{percent} %, {retransmissions}: {lost}, {expected}");
        assert_eq!(link.accounts[0].delivered.len() + lost as usize, PACKETS as usize);
    }
}

#[test]
fn a_full_queue_refuses() {
    let bulk = ClassConfig { queue_limit: 2, ..ClassConfig::default() };
    let mut link = Link::new(&Config { bulk, ..fixed(255, 0) });
    (0..3).for_each(|_| link.packet(0, BULK, 10));
    assert_eq!(link.accounts[0].refused, [3]);
    link.transact(false, Fault::None, Fault::None);
    link.packet(0, BULK, 10);
    assert_eq!((link.accounts[0].refused.len(), link.ends[0].stats().queue_drops), (1, [1, 0]));
}

#[test]
fn bytes_are_counted_with_each_transmission() {
    let mut link = Link::new(&fixed(255, 10));
    link.packet(0, BULK, 1_000);
    for fault in [Fault::None, Fault::Lost, Fault::None, Fault::None, Fault::None, Fault::None] {
        link.transact(false, fault, Fault::None);
    }
    let stats = link.ends[0].stats();
    assert_eq!((stats.accepted, stats.settled, link.accounts[0].delivered.len()), ([1, 0], [1, 0], 1));
    let shape = Shape::new(255, 10).unwrap();
    let each = u64::from(shape.capacity());
    assert_eq!(stats.data_bytes, 1_000 + each, "the lost segment was a full one");
    assert!(stats.coded_bytes > stats.data_bytes + 10 * stats.segments, "{stats:?}");
}

/// Offsets and lengths have 16 bits: a longer packet is refused, whichever of them it is.
#[test]
fn a_packet_that_no_header_can_describe_is_refused() {
    for (len, is_refused) in [(65_535, false), (65_536, true), (70_000, true)] {
        let mut end = StopAndWait::<Buffer>::master(&fixed(255, 0)).unwrap();
        let packet = Buffer { id: 1, class: BULK, bytes: vec![7; len].into() };
        let mut dropped = vec![];
        step(&mut end, Instant::ZERO, Some(Input::Packet(packet)), |output| {
            if let Output::Drop(packet, reason) = output {
                dropped.push((packet.bytes.len(), reason));
            }
        });
        let expected = if is_refused { vec![(len, DropReason::TooLong)] } else { vec![] };
        assert_eq!((dropped, end.stats().queue_drops[0]), (expected, u64::from(is_refused)), "{len}");
    }
}

#[test]
fn impossible_configurations_are_refused() {
    let refusal = |config: Config| StopAndWait::<Buffer>::master(&config).unwrap_err();
    let bulk = ClassConfig { queue_limit: 0, ..ClassConfig::default() };
    assert_eq!(refusal(Config { bulk, ..Config::default() }), Refusal::Zero("queue_limit"));
    let persistence = Persistence { lifetime: Some(Duration::ZERO), ..Persistence::default() };
    let real_time = ClassConfig { persistence, ..ClassConfig::default() };
    assert_eq!(refusal(Config { real_time, ..Config::default() }), Refusal::Zero("lifetime"));
    assert_eq!(Refusal::OddParity(13).to_string(), "13 byte of parity: it must be an even number");
}

#[derive(Clone, Copy, Debug)]
enum Transition {
    Packet(usize, TrafficClass, u16),
    Transaction { invite: bool, down: Fault, up: Fault },
    Wait(u64),
}

fn transition() -> impl Strategy<Value = Transition> {
    let class = prop_oneof![Just(BULK), Just(VOICE)];
    let len = prop_oneof![2u16..300, 300u16..3_000];
    prop_oneof![
        2 => (0usize..2, class, len).prop_map(|(end, class, len)| Transition::Packet(end, class, len)),
        6 => (any::<bool>(), fault(), fault())
            .prop_map(|(invite, down, up)| Transition::Transaction { invite, down, up }),
        1 => (0u64..60).prop_map(Transition::Wait),
    ]
}

fn adaptation() -> impl Strategy<Value = Adaptation> {
    prop_oneof![
        Just(Adaptation::LIGHT),
        Just(Adaptation::BIMODAL),
        Just(Adaptation::FLEX),
        Just(Adaptation::GOODPUT),
        Just(Adaptation::ORACLE),
        (20u16..600).prop_map(|bytes| Adaptation::Fixed(Shape::new(bytes, 0).unwrap())),
    ]
}

fn run(link: &mut Link, transitions: &[Transition]) {
    for &transition in transitions {
        match transition {
            Transition::Packet(end, class, len) => link.packet(end, class, len),
            Transition::Transaction { invite, down, up } => link.transact(invite, down, up),
            Transition::Wait(ms) => {
                link.now += Duration::from_millis(ms);
                (0..2).for_each(|end| assert!(link.drive(end, None).is_none()));
            }
        }
        link.check();
    }
}

/// Transactions without a fault until both sides have nothing left.
fn heal(link: &mut Link) {
    for _ in 0..20_000 {
        link.transact(true, Fault::None, Fault::None);
        if link.accounts.iter().all(Account::is_closed) {
            return;
        }
    }
    panic!("not done in bounded time");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Nothing is delivered twice, out of order or damaged (the account sees to that), and what is retransmitted
    /// perpetually is all delivered once the channel heals.
    #[test]
    fn all_is_delivered_once_the_channel_heals(
        adaptation in adaptation(), transitions in prop::collection::vec(transition(), 1..120)
    ) {
        let mut link = Link::new(&Config { adaptation, ..Config::default() });
        run(&mut link, &transitions);
        heal(&mut link);
        for account in &link.accounts {
            prop_assert_eq!(account.delivered.len() + account.refused.len(), account.offered.len());
            prop_assert!(account.given_up.is_empty());
        }
        prop_assert!(link.assemblies.iter().all(|assembly| assembly.len() == 0));
    }

    /// With limits each packet is delivered, refused or given up, or the last two and the first.
    #[test]
    fn with_limits_all_is_settled(
        adaptation in adaptation(),
        retransmissions in prop::option::of(0u32..4),
        lifetime in prop::option::of(1u64..80),
        transitions in prop::collection::vec(transition(), 1..120),
    ) {
        let persistence = Persistence { retransmissions, lifetime: lifetime.map(Duration::from_millis) };
        let class = ClassConfig { queue_limit: 5, persistence };
        let cost = Cost::default();
        let mut link = Link::new(&Config { adaptation, cost, bulk: class, real_time: class });
        run(&mut link, &transitions);
        heal(&mut link);
        for account in &link.accounts {
            let known = [&account.delivered, &account.refused, &account.given_up];
            let is_known = |packet: &Buffer| known.iter().any(|ids| ids.contains(&packet.id));
            prop_assert!(account.offered.iter().all(is_known));
            prop_assert!(account.refused.iter().all(|id| !account.delivered.contains(id)));
        }
    }
}
