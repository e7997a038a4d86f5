//! The search beside a naive path: whatever it carries is found, and nothing longer is ever confirmed.

use super::*;
use crate::Stream;
use proptest::prelude::*;

const ROUND_TRIP: Duration = Duration::from_millis(20);
const STEP: Duration = Duration::from_millis(5);

/// A path that carries what is not longer than it says, but for random losses, and full frames on it every 5 ms.
struct Naive {
    now: Instant,
    machine: Plpmtu,
    mtu: u32,
    loss: u32,
    chance: Stream,
    /// Probes and other frames on the way: when their fate is known, when they left, how long they are.
    probes: Vec<(Instant, Instant, u32, bool)>,
    frames: Vec<(Instant, u32, bool)>,
    sent: u32,
    has_traffic: bool,
}

impl Naive {
    fn new(max: u32, mtu: u32, loss: u32, seed: u64) -> Self {
        let machine = Plpmtu::new(Instant::ZERO, Some(max));
        let chance = Stream::new(seed, 0, "plpmtu");
        let (probes, frames) = (vec![], vec![]);
        Self { now: Instant::ZERO, machine, mtu, loss, chance, probes, frames, sent: 0, has_traffic: true }
    }

    fn passes(&mut self, size: u32) -> bool {
        size <= self.mtu && self.chance.up_to(999) >= self.loss
    }

    fn run(&mut self, span: Duration) {
        let until = self.now + span;
        while self.now < until {
            self.now += STEP;
            for (at, sent_at, size, came) in std::mem::take(&mut self.probes) {
                match (at <= self.now, came) {
                    (false, _) => self.probes.push((at, sent_at, size, came)),
                    (true, true) => self.machine.on_came(self.now, sent_at, size),
                    (true, false) => self.machine.on_lost(self.now, size),
                }
            }
            for (at, size, came) in std::mem::take(&mut self.frames) {
                if at > self.now {
                    self.frames.push((at, size, came));
                } else {
                    self.machine.on_frame(self.now, size, !came);
                }
            }
            self.machine.take_news();
            for size in self.machine.take_due(self.now, true) {
                self.sent += 1;
                let came = self.passes(size);
                self.probes.push((self.now + ROUND_TRIP, self.now, size, came));
            }
            if self.has_traffic {
                let size = self.machine.size() as u32;
                let came = self.passes(size);
                self.frames.push((self.now + ROUND_TRIP, size, came));
            }
            assert!(self.machine.size() <= u64::from(self.machine.max.unwrap()));
        }
    }

    /// Whether what was found is what the path carries, or so little less that it is not looked for.
    fn is_right(&self) -> bool {
        let least = self.mtu.min(self.machine.max.unwrap());
        let found = self.machine.size() as u32;
        self.machine.is_settled && found <= least && least - found < RESOLUTION
    }
}

proptest! {
    #[test]
    fn what_any_path_carries_is_found_by_few_probes(max in 576u32..10_000, part in 0u32..=1_000) {
        let mtu = MIN + (max - MIN) * part / 1_000;
        let mut path = Naive::new(max, mtu, 0, 1);
        path.run(Duration::from_secs(4));
        prop_assert!(path.is_right(), "{} of {mtu} {:?}", path.machine.size(), path.machine);
        prop_assert!(path.sent <= 32, "{} probes", path.sent);
        let state = if mtu >= path.machine.base() { State::SearchComplete } else { State::Error };
        prop_assert_eq!(path.machine.state, state);
        prop_assert_eq!(path.machine.black_holes, 0);
    }

    #[test]
    fn losses_that_have_nothing_to_do_with_lengths_delay_it_only(mtu in BASE..=1_500, loss in 0u32..250, seed: u64) {
        let mut path = Naive::new(1_500, mtu, loss, seed);
        // Each look for more is another chance.
        path.run(Duration::from_secs(200));
        prop_assert!(path.machine.size() <= u64::from(mtu));
        for _ in 0..400 {
            if path.is_right() {
                break;
            }
            path.run(Duration::from_secs(1));
        }
        prop_assert!(path.is_right(), "{} of {mtu} {:?}", path.machine.size(), path.machine);
    }

    #[test]
    fn a_size_that_dies_is_found_in_seconds_and_one_that_comes_back_later(
        before in 1_290u32..=1_500, less in 20u32..700, back in 0u32..500
    ) {
        let (after, later) = (before.max(less + MIN) - less, 1_000 + back);
        let mut path = Naive::new(1_500, before, 0, 1);
        path.run(Duration::from_secs(3));
        prop_assert!(path.is_right());
        path.mtu = after;
        path.run(Duration::from_secs(2));
        prop_assert!(path.is_right(), "{} of {after} {:?}", path.machine.size(), path.machine);
        prop_assert_eq!(path.machine.black_holes, 1);
        let sent = path.sent;
        path.run(Duration::from_secs(100));
        prop_assert!(path.sent - sent <= 16, "{} probes for nothing", path.sent - sent);
        path.mtu = later.max(after);
        path.run(PMTU_RAISE_TIMER);
        prop_assert!(path.is_right(), "{} of {later} {:?}", path.machine.size(), path.machine);
    }

    #[test]
    fn hints_change_nothing_but_the_order(mtu in BASE..=1_500, hints in prop::collection::vec(0u32..2_000, 1..8)) {
        let mut path = Naive::new(1_500, mtu, 0, 1);
        for hint in hints {
            path.machine.on_hint(hint);
            path.run(Duration::from_millis(100));
        }
        path.run(Duration::from_secs(4));
        prop_assert!(path.is_right(), "{} of {mtu} {:?}", path.machine.size(), path.machine);
        prop_assert!(path.sent <= 40, "{} probes", path.sent);
    }
}

#[test]
fn a_path_that_carries_all_costs_one_flight_and_nothing_later() {
    let mut path = Naive::new(1_500, 1_500, 0, 1);
    path.run(ROUND_TRIP + STEP * 2);
    assert!(path.is_right());
    path.run(Duration::from_secs(3_600));
    assert_eq!((path.sent, path.machine.wake()), (2, Instant::MAX));
}

#[test]
fn an_idle_path_is_asked_for_more_every_ten_minutes_at_last() {
    let mut path = Naive::new(1_500, 1_300, 0, 1);
    path.has_traffic = false;
    path.run(Duration::from_secs(1_300));
    let sent = path.sent;
    path.run(Duration::from_secs(6_000));
    // The longest, and what was too long at last, once each.
    assert_eq!(path.sent - sent, 20);
}

#[test]
fn what_the_network_says_is_tried_at_once() {
    let mut path = Naive::new(1_500, 1_317, 0, 1);
    path.run(ROUND_TRIP + STEP);
    assert!(path.machine.take_wish() && !path.machine.take_wish());
    path.machine.on_hint(1_317);
    path.run(ROUND_TRIP * 2 + STEP);
    assert_eq!(path.machine.size(), 1_317);
}

#[test]
fn a_silent_path_has_to_confirm_its_size_again() {
    let mut path = Naive::new(1_500, 1_400, 0, 1);
    path.run(Duration::from_secs(3));
    path.machine.restart(path.now);
    path.probes.clear();
    assert_eq!(path.machine.size(), u64::from(MIN));
    let sent = path.sent;
    path.run(ROUND_TRIP * 2);
    assert!(path.is_right());
    assert_eq!((path.sent - sent, path.machine.black_holes), (2, 0));
}

#[test]
fn what_was_sent_before_a_silence_tells_nothing() {
    let mut machine = Plpmtu::new(Instant::ZERO, Some(1_500));
    machine.take_due(Instant::ZERO, true);
    machine.restart(Instant::from_nanos(5));
    machine.on_came(Instant::from_nanos(9), Instant::ZERO, 1_500);
    assert_eq!(machine.size(), u64::from(MIN));
}

#[test]
fn before_anything_is_heard_there_are_few_probes() {
    let mut machine = Plpmtu::new(Instant::ZERO, Some(1_500));
    let mut flights = 0;
    for second in 0..100 {
        let now = Instant::ZERO + Duration::from_secs(second);
        machine.put_back(now);
        flights += usize::from(!machine.take_due(now + SPACING, false).is_empty());
    }
    assert_eq!(flights, 3);
}

#[test]
fn another_device_is_followed() {
    let mut path = Naive::new(1_500, 9_000, 0, 1);
    path.run(Duration::from_secs(1));
    for max in [1_400, 9_000, 1_280] {
        path.machine.set_max(path.now, Some(max));
        path.probes.clear();
        path.run(Duration::from_secs(1));
        assert!(path.is_right(), "{max}: {:?}", path.machine);
    }
    path.machine.on_too_long(path.now, 1_280);
    path.run(Duration::from_secs(1));
    assert!((1_276..1_280).contains(&path.machine.size()), "{:?}", path.machine);
}

#[test]
fn a_length_that_was_lost_once_is_not_probed_again_at_once() {
    for mtu in [1_210, 1_320, 1_433, 1_499] {
        let mut path = Naive::new(1_500, mtu, 0, 1);
        let mut sent: Vec<(Instant, u32)> = vec![];
        while path.now < Instant::ZERO + Duration::from_secs(4) {
            path.run(STEP);
            let now = path.now;
            sent.extend(path.probes.iter().filter(|probe| probe.1 == now).map(|&(_, at, size, _)| (at, size)));
        }
        for (n, &(at, size)) in sent.iter().enumerate() {
            if let Some((before, _)) = sent[..n].iter().rfind(|(_, other)| *other == size) {
                assert!(at.saturating_since(*before) >= SPACING, "{mtu}: {sent:?}");
            }
        }
        assert!(sent.iter().any(|(_, size)| *size > mtu), "{mtu}: {sent:?}");
    }
}

#[test]
fn a_refusal_of_what_was_not_probed_begins_no_search() {
    let mut path = Naive::new(1_500, 1_400, 0, 1);
    path.run(Duration::from_secs(4));
    assert!(path.is_right());
    let (size, sent) = (path.machine.size(), path.sent);
    path.machine.on_too_long(path.now, 1_450);
    path.run(Duration::from_secs(1));
    assert_eq!((path.machine.size(), path.sent, path.machine.is_settled), (size, sent, true));
}

#[test]
fn where_the_hosts_link_takes_less_than_was_found_the_base_is_probed_at_once() {
    let mut path = Naive::new(1_500, 1_400, 0, 1);
    path.run(Duration::from_secs(4));
    assert!(path.is_right());
    path.machine.on_too_long(path.now, 1_300);
    assert_eq!(path.machine.size(), u64::from(MIN));
    let due = path.machine.take_due(path.now, true);
    assert!(due.contains(&BASE) && due.iter().all(|size| *size < 1_300), "{due:?}");
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A machine that has found 1400 of 1500 byte at about 400 ms.
fn settled() -> Plpmtu {
    let mut path = Naive::new(1_500, 1_400, 0, 1);
    path.has_traffic = false;
    path.run(Duration::from_secs(5));
    assert_eq!((path.machine.size(), path.machine.found()), (1_400, Some(1_400)));
    path.machine
}

/// The base and the longest at once; the longest is given up only with its third loss, and what lies between is
/// searched before that.
#[test]
fn a_size_is_given_up_with_its_third_loss() {
    let mut machine = Plpmtu::new(ms(0), Some(1_500));
    assert_eq!((&machine.take_due(ms(0), true)[..], machine.possible()), (&[1_500, BASE][..], 1_500));
    assert_eq!(machine.wake(), Instant::MAX, "probes are on the way");
    machine.on_lost(ms(20), 1_400);
    assert_eq!(machine.wake(), Instant::MAX, "no such probe is");
    machine.on_lost(ms(20), 1_500);
    assert!(machine.take_wish() && !machine.take_wish(), "the host is asked once");
    machine.on_came(ms(20), ms(0), BASE);
    assert_eq!((machine.size(), machine.possible(), machine.wake()), (u64::from(BASE), 1_500, ms(20)));
    // 1350 is the middle; of the sizes that paths have 1358 is the next.
    assert_eq!(machine.take_due(ms(20), true)[..], [1_358]);
    machine.on_lost(ms(40), 1_358);
    assert_eq!(machine.possible(), 1_500, "1358 was lost once");
    let mut now = 40;
    // Whatever is probed above the base is lost.
    while machine.possible() > u64::from(BASE) {
        now = now.max(machine.wake().as_nanos() / 1_000_000) + 1;
        assert!(now < 5_000);
        for size in machine.take_due(ms(now), true) {
            machine.on_lost(ms(now), size);
        }
    }
    assert_eq!(machine.take_news(), Some(u64::from(BASE)));
    assert_eq!((machine.take_news(), machine.found()), (None, Some(u64::from(BASE))));
}

/// A probe that was lost goes again 50 ms later, and three of the base make it search below.
#[test]
fn where_the_base_is_lost_three_times_it_searches_below() {
    let mut machine = Plpmtu::new(ms(0), Some(1_500));
    for (time, next) in [(0, 70), (70, 140)] {
        let sizes = machine.take_due(ms(time), true);
        assert_eq!(sizes.last(), Some(&BASE));
        sizes.into_iter().for_each(|size| machine.on_lost(ms(time + 20), size));
        assert_eq!((machine.wake(), machine.state), (ms(next), State::Base));
        assert!(machine.take_due(ms(next - 1), true).is_empty());
    }
    machine.take_due(ms(140), true).into_iter().for_each(|size| machine.on_lost(ms(160), size));
    assert_eq!((machine.state, machine.size()), (State::Error, u64::from(MIN)));
    let next = machine.take_due(machine.wake(), true);
    assert!(next.iter().all(|size| (MIN + 1..BASE).contains(size)) && next.len() == 1, "{next:?}");
}

/// Three long frames in a row, over 100 ms, put the size in doubt: it is probed, and dies with its third loss.
#[test]
fn a_size_in_doubt_is_probed_and_dies_with_its_third_loss() {
    let lost = |machine: &mut Plpmtu, times: &[u64]| times.iter().for_each(|at| machine.on_frame(ms(*at), 1_400, true));
    let doubts = |machine: &Plpmtu, at: u64| machine.wake() == ms(at);
    for (times, is_doubted) in
        [(&[9_000, 9_050, 9_100][..], true), (&[9_000, 9_050, 9_099], false), (&[9_000, 9_100], false)]
    {
        let mut machine = settled();
        lost(&mut machine, times);
        assert_eq!(doubts(&machine, *times.last().unwrap()), is_doubted, "{times:?}");
    }
    // One as long that comes ends the run, a shorter one does not; short ones do not count.
    for (bytes, is_doubted) in [(1_400, false), (1_399, true)] {
        let mut machine = settled();
        lost(&mut machine, &[9_000, 9_050]);
        machine.on_frame(ms(9_060), bytes, false);
        lost(&mut machine, &[9_100]);
        assert_eq!(doubts(&machine, 9_100), is_doubted, "{bytes}");
    }
    let mut machine = settled();
    [9_000, 9_050, 9_100].into_iter().for_each(|at| machine.on_frame(ms(at), MIN, true));
    assert!(!doubts(&machine, 9_100));
    let mut machine = settled();
    lost(&mut machine, &[9_000, 9_050, 9_100]);
    for (at, size) in [(9_100, 1_400), (9_170, 1_400)] {
        assert_eq!(machine.take_due(ms(at), true)[..], [1_400]);
        machine.on_lost(ms(at + 20), size);
        assert_eq!((machine.size(), machine.wake()), (1_400, ms(at + 70)), "once is no proof");
    }
    machine.take_due(ms(9_240), true);
    machine.on_lost(ms(9_260), 1_400);
    assert_eq!((machine.size(), machine.state), (u64::from(MIN), State::Base));
    assert!(machine.take_wish());
    // It is probed once more with the base, and a shorter size that is found is a black hole.
    assert_eq!(machine.take_due(ms(9_260), true)[..], [1_400, BASE]);
    assert_eq!(machine.black_holes(), 0);
}

/// Probes that never left are sent again 50 ms later; what is due later stays so.
#[test]
fn probes_that_did_not_leave_go_later() {
    let mut machine = Plpmtu::new(ms(0), Some(1_500));
    machine.take_due(ms(0), true);
    machine.put_back(ms(10));
    assert_eq!(machine.wake(), ms(60));
    machine.put_back(ms(20));
    assert_eq!(machine.wake(), ms(60), "it was not due yet");
    machine.put_back(ms(60));
    assert_eq!(machine.wake(), ms(110));
}

/// The host's link refuses a size: three losses at once. What was confirmed and is refused begins the search again.
#[test]
fn what_the_hosts_link_refuses_is_too_long() {
    let mut machine = Plpmtu::new(ms(0), Some(1_500));
    machine.take_due(ms(0), true);
    machine.on_too_long(ms(1), 1_500);
    assert_eq!((machine.possible(), machine.size()), (1_499, u64::from(MIN)));
    machine.on_came(ms(20), ms(0), BASE);
    assert_eq!(machine.state, State::Searching);
    let mut machine = settled();
    machine.on_too_long(ms(9_000), 1_401);
    assert_eq!((machine.size(), machine.state), (1_400, State::SearchComplete), "it is not more than was found");
    machine.on_too_long(ms(9_000), 1_400);
    assert_eq!((machine.size(), machine.state, machine.wake()), (u64::from(MIN), State::Base, ms(9_000)));
    assert_eq!(machine.take_due(ms(9_000), true)[..], [BASE], "and not the size that it was");
}

/// Another path: nothing of the last one counts, and what left before says nothing.
#[test]
fn on_another_path_nothing_is_known() {
    let mut machine = settled();
    machine.on_hint(1_350);
    machine.begin(ms(9_000));
    assert_eq!((machine.size(), machine.possible(), machine.wake()), (u64::from(MIN), 1_500, ms(9_000)));
    assert_eq!(machine.take_due(ms(9_000), true)[..], [1_500, BASE]);
    machine.on_came(ms(9_010), ms(8_999), 1_500);
    assert_eq!(machine.size(), u64::from(MIN));
    // A silence keeps the size in mind; it is probed in place of the longest.
    let mut machine = settled();
    machine.restart(ms(9_000));
    assert_eq!(machine.take_due(ms(9_000), true)[..], [1_400, BASE]);
    machine.on_came(ms(9_020), ms(9_000), 1_400);
    machine.on_came(ms(9_020), ms(9_000), BASE);
    assert_eq!(machine.size(), 1_400);
}
