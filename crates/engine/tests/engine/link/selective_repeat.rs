//! Selective repeat: a transcript, and random faults and delays in both directions on real bytes.

use crate::link::world::{Account, Assembly, Buffer, Fault, buffer, fault, on_air, payload};
use airbraid_engine::link::fec::BlockCodec;
use airbraid_engine::link::{
    Adaptation, Config, DropReason, Frame, Output, Payload, Persistence, Reception, Refusal, SelectiveRepeat, Shape,
    WindowConfig, WindowHeader, WindowInput,
};
use airbraid_engine::link::{ClassConfig, Cost};
use airbraid_engine::packet::TrafficClass;
use airbraid_engine::wire::{emit_window_header, parse_window_header};
use airbraid_engine::{Wake, step};
use airbraid_units::{Duration, Instant};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::fmt::Write;

const BULK: TrafficClass = TrafficClass::Bulk;
const VOICE: TrafficClass = TrafficClass::RealTime;

/// Two ends, and what is on its way between them, as bytes.
struct Link {
    now: Instant,
    ends: [SelectiveRepeat<Buffer>; 2],
    wakes: [Option<Wake>; 2],
    codec: BlockCodec,
    /// By sending end.
    pipes: [VecDeque<(WindowHeader, Vec<u8>)>; 2],
    assemblies: [Assembly; 2],
    accounts: [Account; 2],
    next_id: u32,
    text: String,
}

impl Link {
    fn new(config: &Config, window: WindowConfig) -> Self {
        Self {
            now: Instant::ZERO,
            ends: [(); 2].map(|()| SelectiveRepeat::new(config, window).unwrap()),
            wakes: [None; 2],
            codec: BlockCodec::default(),
            pipes: Default::default(),
            assemblies: Default::default(),
            accounts: Default::default(),
            next_id: 1,
            text: String::new(),
        }
    }

    fn drive(&mut self, end: usize, input: Option<WindowInput<Buffer>>) {
        let mut outputs = vec![];
        self.wakes[end] = step(&mut self.ends[end], self.now, input, |output| outputs.push(output));
        for output in outputs {
            self.carry_out(end, output);
        }
    }

    fn carry_out(&mut self, end: usize, output: Output<WindowHeader, Buffer>) {
        match output {
            Output::Transmit(Frame { header, packet }) => {
                writeln!(self.text, "{end} sends {}", show(&header)).unwrap();
                let bytes = on_air(&mut self.codec, &emit_window_header(&header), header.segment, packet);
                self.pipes[end].push_back((header, bytes));
            }
            Output::Piece { class, seq, offset, packet } => self.assemblies[end].put(class, seq, offset, &packet),
            Output::Deliver { class, seq, offset, packet } => {
                self.assemblies[end].put(class, seq, offset, &packet);
                let bytes = self.assemblies[end].take(class, seq).unwrap();
                self.accounts[1 - end].deliver(class, &bytes);
                writeln!(self.text, "  {end} delivers {seq}").unwrap();
            }
            Output::Abandon { class, seq } => {
                assert!(self.assemblies[end].take(class, seq).is_some());
                writeln!(self.text, "  {end} abandons {seq}").unwrap();
            }
            Output::Release(packet) if packet.id == 0 => {}
            Output::Release(packet) => self.accounts[end].give_back(packet.id),
            Output::Drop(packet, reason) => {
                self.accounts[end].give_back(packet.id);
                writeln!(self.text, "  {end} drops packet {}: {reason:?}", packet.id).unwrap();
                let account = &mut self.accounts[end];
                let ids = if reason == DropReason::QueueFull { &mut account.refused } else { &mut account.given_up };
                ids.push(packet.id);
            }
        }
    }

    fn packet(&mut self, end: usize, class: TrafficClass, len: u16) {
        let packet = buffer(self.next_id, class, len);
        self.next_id += 1;
        self.accounts[end].offered.push(packet.clone());
        self.drive(end, Some(WindowInput::Packet(packet)));
    }

    /// A frame arrives, or what the fault leaves of it; the oldest on its way, or the one behind it.
    fn arrive(&mut self, end: usize, overtakes: usize, fault: Fault) {
        let index = overtakes.min(self.pipes[end].len().saturating_sub(1));
        let Some((header, bytes)) = self.pipes[end].remove(index) else { return };
        let Some(came) = fault.apply(bytes) else {
            writeln!(self.text, "{} is lost", show(&header)).unwrap();
            return;
        };
        let reception = match parse_window_header(&came) {
            Ok((said, rest)) => {
                assert_eq!(said, header, "a damaged header passes its check");
                Reception { header: Some(said), payload: payload(&mut self.codec, said.segment, rest) }
            }
            Err(_) => Reception { header: None, payload: Payload::Undecodable },
        };
        self.drive(1 - end, Some(WindowInput::Received(reception)));
    }

    fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some((end, wake)) =
            (0..2).filter_map(|end| Some((end, self.wakes[end]?))).min_by_key(|(_, wake)| wake.at)
        {
            if wake.at > until {
                break;
            }
            self.now = wake.at;
            writeln!(self.text, "{end} {}", wake.why).unwrap();
            self.drive(end, None);
        }
        self.now = until;
    }

    /// All frames arrive, and time passes, until both sides have nothing left.
    fn heal(&mut self) {
        for _ in 0..2_000 {
            while let Some(end) = (0..2).find(|&end| !self.pipes[end].is_empty()) {
                self.arrive(end, 0, Fault::None);
            }
            if self.accounts.iter().all(Account::is_closed) && self.wakes == [None; 2] {
                return;
            }
            self.wait(Duration::from_millis(50));
        }
        panic!("not done in bounded time");
    }
}

fn show(header: &WindowHeader) -> String {
    let mut text = match header.segment {
        Some(segment) => {
            let class = ["", "voice "][segment.class as usize];
            let last = if segment.is_last { "." } else { "" };
            format!("frame {}: {class}{} [{}..{}{last})", header.number, segment.seq, segment.offset, segment.end())
        }
        None if header.asks => "a question".to_owned(),
        None => "no data".to_owned(),
    };
    let (received, [next, voice]) = (header.received, header.nexts);
    if received.newest.0 > 0 {
        write!(text, ", got {} and {:b} before, expects {next}/{voice}", received.newest, received.before).unwrap();
    }
    text
}

fn fixed(bytes: u16) -> Config {
    Config { adaptation: Adaptation::Fixed(Shape::new(bytes, 0).unwrap()), ..Config::default() }
}

/// A hole is repeated as soon as something behind it is acknowledged, and all of it once an acknowledgement stays away.
#[test]
fn transcript() {
    let mut link = Link::new(&fixed(1_275), WindowConfig { window: 3, ..WindowConfig::default() });
    (0..4).for_each(|_| link.packet(0, BULK, 1_000));
    link.arrive(0, 0, Fault::Lost);
    link.arrive(0, 0, Fault::None);
    link.arrive(0, 0, Fault::None);
    link.arrive(1, 0, Fault::None);
    link.arrive(0, 0, Fault::None);
    link.wait(Duration::from_millis(5));
    link.arrive(1, 0, Fault::Lost);
    link.wait(Duration::from_millis(200));
    link.heal();
    assert_eq!(
        link.text,
        "\
0 sends frame 1: 1 [0..1000.)
0 sends frame 2: 2 [0..1000.)
0 sends frame 3: 3 [0..1000.)
frame 1: 1 [0..1000.) is lost
1 sends no data, got 3 and 101 before, expects 1/1
0 sends frame 4: 1 [0..1000.)
0 sends frame 5: 4 [0..1000.)
  1 delivers 1
  1 delivers 2
  1 delivers 3
1 link.ack
1 sends no data, got 4 and 1011 before, expects 4/1
no data, got 4 and 1011 before, expects 4/1 is lost
0 link.timeout
0 sends frame 6: 1 [0..1000.)
0 sends frame 7: 4 [0..1000.)
  1 delivers 4
1 sends no data, got 6 and 101111 before, expects 5/1
1 link.ack
1 sends no data, got 7 and 1011111 before, expects 5/1
"
    );
}

/// A frame whose header came and whose segment could not be decoded is sent again with the next acknowledgement, not
/// only when later frames have come or a timeout says so.
#[test]
fn what_came_undecodable_is_sent_again_at_once() {
    let mut link = Link::new(&fixed(1_275), WindowConfig { window: 1, ..WindowConfig::default() });
    link.packet(0, BULK, 1_000);
    link.arrive(0, 0, Fault::Wrong(70, 60, 13));
    link.wait(Duration::from_millis(20));
    assert_eq!(link.ends[1].stats().undecodable, 1, "{}", link.text);
    link.arrive(1, 0, Fault::None);
    assert!(link.text.ends_with("0 sends frame 2: 1 [0..1000.)\n"), "{}", link.text);
}

/// A packet that is too old is given up at its time, though nothing comes and nothing more is sent.
#[test]
fn a_packet_that_waits_behind_a_full_window_expires_in_time() {
    let persistence = Persistence { retransmissions: None, lifetime: Some(Duration::from_millis(30)) };
    let bulk = ClassConfig { persistence, ..ClassConfig::default() };
    let window = WindowConfig { window: 1, timeout: Duration::from_secs(1), ..WindowConfig::default() };
    let mut link = Link::new(&Config { bulk, ..fixed(1_275) }, window);
    link.packet(0, BULK, 1_000);
    link.wait(Duration::from_millis(5));
    link.packet(0, BULK, 1_000);
    link.wait(Duration::from_millis(29));
    assert_eq!(link.ends[0].stats().expired, [0, 0]);
    link.wait(Duration::from_millis(2));
    assert_eq!(link.ends[0].stats().expired, [1, 0], "the first is on the air, the second is 31 ms old");
}

/// Each packet is counted by its class: accepted, then waiting, on the air or settled.
#[test]
fn packets_are_counted_by_class_until_they_are_settled() {
    let mut link = Link::new(&fixed(1_275), WindowConfig { window: 2, ..WindowConfig::default() });
    (0..5).for_each(|_| link.packet(0, BULK, 1_000));
    (0..3).for_each(|_| link.packet(0, VOICE, 200));
    let counts = |link: &Link| {
        let (end, stats) = (&link.ends[0], link.ends[0].stats());
        (stats.accepted, [BULK, VOICE].map(|class| end.queue_len(class)), stats.settled)
    };
    assert_eq!(counts(&link), ([5, 3], [3, 3], [0, 0]));
    link.heal();
    assert_eq!(counts(&link), ([5, 3], [0, 0], [5, 3]));
}

#[test]
fn impossible_windows_are_refused() {
    let refusal = |window: WindowConfig| SelectiveRepeat::<Buffer>::new(&Config::default(), window).unwrap_err();
    let window = WindowConfig::default();
    assert_eq!(refusal(WindowConfig { window: 0, ..window }), Refusal::Window(0));
    assert_eq!(refusal(WindowConfig { window: 65, ..window }), Refusal::Window(65));
    assert_eq!(refusal(WindowConfig { timeout: Duration::ZERO, ..window }), Refusal::Zero("timeout"));
    assert_eq!(refusal(WindowConfig { reordering: 0, ..window }), Refusal::Zero("reordering"));
}

#[derive(Clone, Copy, Debug)]
enum Transition {
    Packet(usize, TrafficClass, u16),
    Arrive { end: usize, overtakes: usize, fault: Fault },
    Wait(u64),
}

fn transition() -> impl Strategy<Value = Transition> {
    let class = prop_oneof![Just(BULK), Just(VOICE)];
    let len = prop_oneof![2u16..300, 300u16..3_000];
    let overtakes = prop_oneof![4 => Just(0usize), 1 => 0usize..4];
    prop_oneof![
        3 => (0usize..2, class, len).prop_map(|(end, class, len)| Transition::Packet(end, class, len)),
        10 => (0usize..2, overtakes, fault())
            .prop_map(|(end, overtakes, fault)| Transition::Arrive { end, overtakes, fault }),
        1 => (0u64..250).prop_map(Transition::Wait),
    ]
}

fn run(link: &mut Link, transitions: &[Transition]) {
    for &transition in transitions {
        match transition {
            Transition::Packet(end, class, len) => link.packet(end, class, len),
            Transition::Arrive { end, overtakes, fault } => link.arrive(end, overtakes, fault),
            Transition::Wait(ms) => link.wait(Duration::from_millis(ms)),
        }
        for account in &link.accounts {
            assert!(account.returned.values().all(|&times| times == 1), "a handle came back twice");
        }
    }
}

fn window() -> impl Strategy<Value = WindowConfig> {
    (1u32..=64, 1u32..4).prop_map(|(window, reordering)| WindowConfig { window, reordering, ..WindowConfig::default() })
}

fn adaptation() -> impl Strategy<Value = Adaptation> {
    prop_oneof![
        Just(Adaptation::LIGHT),
        Just(Adaptation::FLEX),
        Just(Adaptation::GOODPUT),
        (20u16..600).prop_map(|bytes| Adaptation::Fixed(Shape::new(bytes, 0).unwrap())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn all_is_delivered_once_the_channel_heals(
        adaptation in adaptation(), window in window(), transitions in prop::collection::vec(transition(), 1..200)
    ) {
        let mut link = Link::new(&Config { adaptation, ..Config::default() }, window);
        run(&mut link, &transitions);
        link.heal();
        for account in &link.accounts {
            prop_assert_eq!(account.delivered.len() + account.refused.len(), account.offered.len());
            prop_assert!(account.given_up.is_empty());
        }
        prop_assert!(link.assemblies.iter().all(|assembly| assembly.len() == 0));
    }

    #[test]
    fn with_limits_all_is_settled(
        adaptation in adaptation(),
        window in window(),
        retransmissions in prop::option::of(0u32..4),
        lifetime in prop::option::of(1u64..400),
        transitions in prop::collection::vec(transition(), 1..200),
    ) {
        let persistence = Persistence { retransmissions, lifetime: lifetime.map(Duration::from_millis) };
        let class = ClassConfig { queue_limit: 5, persistence };
        let cost = Cost::default();
        let mut link = Link::new(&Config { adaptation, cost, bulk: class, real_time: class }, window);
        run(&mut link, &transitions);
        link.heal();
        for account in &link.accounts {
            let known = [&account.delivered, &account.refused, &account.given_up];
            let is_known = |packet: &Buffer| known.iter().any(|ids| ids.contains(&packet.id));
            prop_assert!(account.offered.iter().all(is_known));
            prop_assert!(account.refused.iter().all(|id| !account.delivered.contains(id)));
        }
        prop_assert!(link.ends.iter().all(|end| end.held_len(BULK) + end.held_len(VOICE) == 0));
    }
}

/// Packets that were given up are not waited for, even if no later frame would say so.
#[test]
fn the_other_side_is_told_what_was_given_up() {
    let persistence = Persistence { retransmissions: Some(0), lifetime: None };
    let real_time = ClassConfig { persistence, ..ClassConfig::default() };
    let mut link = Link::new(&Config { real_time, ..fixed(1_275) }, WindowConfig::default());
    (0..2).for_each(|_| link.packet(0, VOICE, 2_000));
    link.arrive(0, 0, Fault::None);
    link.arrive(0, 0, Fault::Lost);
    link.arrive(0, 0, Fault::None);
    link.arrive(0, 0, Fault::None);
    link.arrive(1, 0, Fault::None);
    link.arrive(0, 0, Fault::Lost);
    link.heal();
    assert_eq!(
        link.text,
        "\
0 sends frame 1: voice 1 [0..1271)
0 sends frame 2: voice 1 [1271..2000.)
0 sends frame 3: voice 2 [0..1271)
0 sends frame 4: voice 2 [1271..2000.)
frame 2: voice 1 [1271..2000.) is lost
1 sends no data, got 3 and 110 before, expects 1/1
  0 drops packet 1: Retransmissions
1 link.ack
1 sends no data, got 4 and 1101 before, expects 1/1
0 sends a question
  1 abandons 1
  1 delivers 2
1 sends no data, got 4 and 1101 before, expects 1/3
"
    );
}

/// Found by the properties when a question that brought no news was not answered: the two would have gone on forever.
#[test]
fn a_question_is_answered_as_often_as_it_is_asked() {
    let persistence = Persistence { retransmissions: Some(0), lifetime: None };
    let bulk = ClassConfig { persistence, ..ClassConfig::default() };
    let mut link = Link::new(&Config { bulk, ..fixed(1_275) }, WindowConfig::default());
    link.packet(0, BULK, 100);
    link.arrive(0, 0, Fault::Lost);
    link.wait(Duration::from_millis(250));
    link.arrive(0, 0, Fault::None);
    link.arrive(1, 0, Fault::Lost);
    link.heal();
    assert_eq!(
        link.text,
        "\
0 sends frame 1: 1 [0..100.)
frame 1: 1 [0..100.) is lost
0 link.timeout
  0 drops packet 1: Retransmissions
0 sends a question
1 sends no data
no data is lost
0 link.floor
0 sends a question
1 sends no data
"
    );
}
