//! Transcripts: what is heard, and where packets go then.

use crate::select::world::{Numbered, fast, packet, slow};
use airbraid_engine::converge::select::{
    Beacon, Input, Measure, MilliDb, Neighbour, Output, Policy, Port, Selector, Spread, Tally,
};
use airbraid_engine::packet::TrafficClass;
use airbraid_engine::{Machine, Stream, step};
use airbraid_units::{BitRate, Duration, Instant, SeqNum};
use std::fmt::Write;

const PEER: Neighbour = Neighbour(0);

struct Scene {
    selector: Selector<Numbered>,
    now: Instant,
    text: String,
    next: u32,
}

impl Scene {
    fn new(policy: Policy) -> Self {
        let selector = Selector::new(policy, Stream::new(1, 0, "select"));
        let mut scene = Self { selector, now: Instant::ZERO, text: String::new(), next: 1 };
        for input in [Input::PortAdded(Port(0), fast()), Input::PortAdded(Port(1), slow()), Input::NeighbourAdded(PEER)]
        {
            step(&mut scene.selector, scene.now, Some(input), |_| {});
        }
        scene
    }

    /// Time passes until `ms`, and the timers with it; beacons are not written down.
    fn at(&mut self, ms: u64) -> &mut Self {
        let end = Instant::ZERO + Duration::from_millis(ms);
        while let Some(wake) = self.selector.poll_timeout().filter(|wake| wake.at <= end) {
            self.now = wake.at;
            self.drive(wake.why, None);
        }
        self.now = end;
        self
    }

    fn heard(&mut self, port: u8, db: i32) -> &mut Self {
        let input = Input::Heard { neighbour: PEER, port: Port(port), snr: Some(MilliDb(db * 1_000)) };
        self.drive(&format!("heard on {port} at {db} dB"), Some(input));
        self
    }

    fn packet(&mut self) -> &mut Self {
        let packet = packet(self.next);
        self.next += 1;
        self.drive(&format!("packet {}", packet.id), Some(Input::Packet(PEER, packet)));
        self
    }

    fn voice(&mut self) -> &mut Self {
        let packet = Numbered { class: TrafficClass::RealTime, ..packet(self.next) };
        self.next += 1;
        self.drive(&format!("voice {}", packet.id), Some(Input::Packet(PEER, packet)));
        self
    }

    fn input(&mut self, what: &str, input: Input<Numbered>) -> &mut Self {
        self.drive(what, Some(input));
        self
    }

    fn drive(&mut self, what: &str, input: Option<Input<Numbered>>) {
        let is_asked = input.is_some();
        let mut done = vec![];
        step(&mut self.selector, self.now, input, |output| match output {
            Output::Transmit(_, port, packet) => done.push(format!("port {} sends {}", port.0, packet.id)),
            Output::Stripe(_, packet) => done.push(format!("trunk sends {}", packet.id)),
            Output::Ways(_, class, set) => {
                let ports: Vec<u8> = set.iter().map(|port| port.0).collect();
                done.push(format!("{class:?} by {ports:?}"));
            }
            Output::Beacon(..) => {}
            Output::Drop(packet, reason) => done.push(format!("drop {} ({reason:?})", packet.id)),
        });
        if is_asked || !done.is_empty() {
            let done = if done.is_empty() { "-".to_owned() } else { done.join(", ") };
            writeln!(self.text, "{:>5} {what}: {done}", self.now.as_nanos() / 1_000_000).unwrap();
        }
    }

    #[track_caller]
    fn reads(&self, expected: &str) {
        let trim =
            |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        let (ours, expected) = (trim(&self.text), trim(expected));
        assert!(ours == expected, "reads\n{ours}\n\nand not\n{expected}");
    }
}

#[test]
fn the_papers_threshold() {
    let mut scene = Scene::new(Policy { weight: 1_000, ..Policy::default() });
    scene.at(1).packet().heard(1, 30).at(2).heard(0, 26).packet().voice();
    scene.at(3).heard(0, 25).packet().heard(0, 24).packet().at(4).heard(0, 29).packet().voice();
    scene.reads(
        "
        1 packet 1: -
        1 heard on 1 at 30 dB: Bulk by [1], RealTime by [1], port 1 sends 1
        2 heard on 0 at 26 dB: Bulk by [0]
        2 packet 2: port 0 sends 2
        2 voice 3: port 1 sends 3
        3 heard on 0 at 25 dB: -
        3 packet 4: port 0 sends 4
        3 heard on 0 at 24 dB: Bulk by [1]
        3 packet 5: port 1 sends 5
        4 heard on 0 at 29 dB: Bulk by [0], RealTime by [0]
        4 packet 6: port 0 sends 6
        4 voice 7: port 0 sends 7
        ",
    );
}

#[test]
fn hysteresis_and_smoothing() {
    let mut scene = Scene::new(Policy { weight: 500, hysteresis: MilliDb(2_000), ..Policy::default() });
    scene.heard(1, 30).heard(0, 25).heard(0, 27).heard(0, 23).heard(0, 23).heard(0, 28).heard(0, 28);
    scene.reads(
        "
        0 heard on 1 at 30 dB: Bulk by [1], RealTime by [1]
        0 heard on 0 at 25 dB: -
        0 heard on 0 at 27 dB: Bulk by [0]
        0 heard on 0 at 23 dB: -
        0 heard on 0 at 23 dB: Bulk by [1]
        0 heard on 0 at 28 dB: -
        0 heard on 0 at 28 dB: Bulk by [0]
        ",
    );
}

#[test]
fn a_port_is_gone_and_comes_back() {
    let mut scene = Scene::new(Policy { weight: 1_000, ..Policy::default() });
    scene.heard(0, 30).heard(1, 30).packet().packet();
    scene.at(5).input("port 0 is gone", Input::PortRemoved(Port(0)));
    scene.input("back comes 1", Input::Returned(PEER, Port(0), packet(1)));
    scene.input("back comes 2", Input::Returned(PEER, Port(0), packet(2)));
    scene.packet().at(6).input("port 1 is gone", Input::PortRemoved(Port(1)));
    scene.input("back comes 3", Input::Returned(PEER, Port(1), packet(3))).packet();
    scene.at(7).input("port 0 is back", Input::PortAdded(Port(0), fast())).at(9).heard(0, 10);
    scene.reads(
        "
        0 heard on 0 at 30 dB: Bulk by [0], RealTime by [0]
        0 heard on 1 at 30 dB: -
        0 packet 1: port 0 sends 1
        0 packet 2: port 0 sends 2
        5 port 0 is gone: Bulk by [1], RealTime by [1]
        5 back comes 1: port 1 sends 1
        5 back comes 2: port 1 sends 2
        5 packet 3: port 1 sends 3
        6 port 1 is gone: Bulk by [], RealTime by []
        6 back comes 3: -
        6 packet 4: -
        7 port 0 is back: -
        9 heard on 0 at 10 dB: Bulk by [0], RealTime by [0], port 0 sends 3, port 0 sends 4
        ",
    );
}

#[test]
fn silence_and_failures() {
    let mut scene = Scene::new(Policy { weight: 1_000, ..Policy::default() });
    let failed = || Input::Finished { neighbour: PEER, port: Port(0), attempts: 7, is_delivered: false };
    scene.heard(0, 30).at(600).heard(1, 20).packet().at(1_100).packet().at(1_200).heard(0, 30);
    // Those of one instant are of one A-MPDU.
    scene.input("lost", failed()).input("lost", failed()).at(1_201).input("lost", failed());
    scene.at(1_202).input("lost", failed());
    scene.input("back comes 2", Input::Returned(PEER, Port(0), packet(2))).at(1_300).heard(0, 30).at(4_000).packet();
    scene.reads(
        "
        0 heard on 0 at 30 dB: Bulk by [0], RealTime by [0]
        600 heard on 1 at 20 dB: -
        600 packet 1: port 0 sends 1
        1000 select.silence: Bulk by [1], RealTime by [1]
        1100 packet 2: port 1 sends 2
        1200 heard on 0 at 30 dB: Bulk by [0], RealTime by [0]
        1200 lost: -
        1200 lost: -
        1201 lost: -
        1202 lost: Bulk by [1], RealTime by [1]
        1202 back comes 2: port 1 sends 2
        1300 heard on 0 at 30 dB: Bulk by [0], RealTime by [0]
        2300 select.silence: Bulk by [], RealTime by []
        4000 packet 3: -
        ",
    );
}

/// It follows the rates down, well below the threshold, until the slower radio is faster.
#[test]
fn expected_time_needs_no_threshold() {
    let measure = Measure::ExpectedTime;
    let mut scene = Scene::new(Policy { weight: 1_000, measure, ..Policy::default() });
    scene.heard(1, 20).heard(0, 26).heard(0, 19).heard(0, 12).heard(0, 6).heard(1, 9).heard(0, 5);
    scene.input("the fast one sends at 24 Mbit/s", Input::Rate(PEER, Port(0), BitRate::from_kbps(24_000)));
    for _ in 0..3 {
        let finished = Input::Finished { neighbour: PEER, port: Port(0), attempts: 4, is_delivered: true };
        scene.input("four attempts", finished);
    }
    scene.packet().heard(1, 20).packet();
    scene.reads(
        "
        0 heard on 1 at 20 dB: Bulk by [1], RealTime by [1]
        0 heard on 0 at 26 dB: Bulk by [0], RealTime by [0]
        0 heard on 0 at 19 dB: -
        0 heard on 0 at 12 dB: -
        0 heard on 0 at 6 dB: -
        0 heard on 1 at 9 dB: -
        0 heard on 0 at 5 dB: -
        0 the fast one sends at 24 Mbit/s: -
        0 four attempts: -
        0 four attempts: -
        0 four attempts: -
        0 packet 1: port 0 sends 1
        0 heard on 1 at 20 dB: Bulk by [1], RealTime by [1]
        0 packet 2: port 1 sends 2
        ",
    );
}

/// The signal is good and every frame is acknowledged; that a tenth does not come only the other end knows. Real-time
/// traffic, which waits for nothing, stays. At a better signal the way is tried again, at the same one it is
/// remembered.
#[test]
fn goodput_sees_what_is_lost_behind_the_mac() {
    let mut scene = Scene::new(Policy { weight: 1_000, measure: Measure::Goodput, ..Policy::default() });
    let tells = |number: u32, [arrived, missing, gaps]: [u32; 3]| {
        let tally = Tally { arrived, missing, gaps };
        Input::Beacon(PEER, Port(0), Beacon { number: SeqNum(number), newest: SeqNum(0), heard: 0, tally })
    };
    scene.heard(1, 30).heard(0, 28).input("300 have come", tells(1, [300, 0, 0])).packet();
    scene.input("900 and 100 holes", tells(2, [1_200, 100, 100])).packet().voice();
    scene.heard(0, 32).packet().heard(0, 28).packet();
    scene.reads(
        "
        0 heard on 1 at 30 dB: Bulk by [1], RealTime by [1]
        0 heard on 0 at 28 dB: Bulk by [0], RealTime by [0]
        0 300 have come: -
        0 packet 1: port 0 sends 1
        0 900 and 100 holes: Bulk by [1]
        0 packet 2: port 1 sends 2
        0 voice 3: port 0 sends 3
        0 heard on 0 at 32 dB: Bulk by [0]
        0 packet 4: port 0 sends 4
        0 heard on 0 at 28 dB: Bulk by [1]
        0 packet 5: port 1 sends 5
        ",
    );
}

#[test]
fn load_sends_where_less_waits() {
    let mut scene = Scene::new(Policy { weight: 1_000, measure: Measure::Load, ..Policy::default() });
    let backlog = |packets: u64| Input::Backlog(Port(0), airbraid_units::Bytes::new(packets * 1_500));
    scene.heard(0, 30).heard(1, 30).packet();
    scene.input("3 wait on 0", backlog(3)).packet().input("8 wait on 0", backlog(8)).packet();
    scene.input("2 wait on 0", backlog(2)).packet();
    scene.reads(
        "
        0 heard on 0 at 30 dB: Bulk by [0], RealTime by [0]
        0 heard on 1 at 30 dB: -
        0 packet 1: port 0 sends 1
        0 3 wait on 0: -
        0 packet 2: port 0 sends 2
        0 8 wait on 0: Bulk by [1], RealTime by [1]
        0 packet 3: port 1 sends 3
        0 2 wait on 0: Bulk by [0], RealTime by [0]
        0 packet 4: port 0 sends 4
        ",
    );
}

/// The trunk uses what the selection leaves in: all that can be used, or all that are worth it.
#[test]
fn striping_uses_what_is_left_in() {
    let spread = |within| Spread::Stripe { within };
    let measure = Measure::ExpectedTime;
    let mut all = Scene::new(Policy { weight: 1_000, measure, spread: spread(u32::MAX), ..Policy::default() });
    all.packet().heard(1, 30).heard(0, 30).packet().at(500).heard(0, 12).at(1_100).packet();
    all.reads(
        "
        0 packet 1: -
        0 heard on 1 at 30 dB: Bulk by [1], trunk sends 1
        0 heard on 0 at 30 dB: Bulk by [0, 1]
        0 packet 2: trunk sends 2
        500 heard on 0 at 12 dB: -
        1000 select.silence: Bulk by [0]
        1100 packet 3: trunk sends 3
        ",
    );
    let mut worth = Scene::new(Policy { weight: 1_000, measure, spread: spread(3_000), ..Policy::default() });
    worth.heard(1, 30).heard(0, 30).heard(0, 12).heard(1, 3);
    worth.reads(
        "
        0 heard on 1 at 30 dB: Bulk by [1]
        0 heard on 0 at 30 dB: Bulk by [0]
        0 heard on 0 at 12 dB: Bulk by [0, 1]
        0 heard on 1 at 3 dB: Bulk by [0]
        ",
    );
}

#[test]
fn what_has_no_way_waits_up_to_a_limit() {
    let mut scene = Scene::new(Policy { queue: 2, ..Policy::default() });
    scene.packet().packet().packet().heard(1, 9);
    let unknown = Input::Packet(Neighbour(7), packet(9));
    scene.input("for a stranger", unknown);
    scene.input("undelivered", Input::Returned(PEER, Port(1), packet(1)));
    scene.input("neighbour gone", Input::NeighbourRemoved(PEER)).packet();
    scene.reads(
        "
        0 packet 1: -
        0 packet 2: -
        0 packet 3: drop 3 (QueueFull)
        0 heard on 1 at 9 dB: Bulk by [1], RealTime by [1], port 1 sends 1, port 1 sends 2
        0 for a stranger: drop 9 (NoNeighbour)
        0 undelivered: drop 1 (Undelivered)
        0 neighbour gone: -
        0 packet 4: drop 4 (NoNeighbour)
        ",
    );
    assert_eq!((scene.selector.stats().sent, scene.selector.stats().dropped), (2, 4));
}
