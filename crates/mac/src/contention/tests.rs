//! The arithmetic of the backoff against a station that looks at the medium microsecond by microsecond.

use super::{Contention, ContentionConfig, Grant};
use airbraid_engine::Stream;
use airbraid_units::{Duration, Instant};
use proptest::prelude::*;

const SLOT: u64 = 20;
const DIFS: u64 = 50;
const EIFS: u64 = 364;
const TURNAROUND: u64 = 5;

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

fn contention(seed: u64) -> Contention {
    let config = ContentionConfig {
        slot: us(SLOT),
        difs: us(DIFS),
        eifs: Some(us(EIFS)),
        eifs_is_nav: false,
        turnaround: us(TURNAROUND),
        rx_start_delay: us(192),
        cw_min: 31,
        cw_max: 1_023,
    };
    Contention::new(config, Stream::new(seed, 0, "test"))
}

/// The way in which a busy period ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// Energy without a frame.
    Energy,
    /// A frame with an error.
    Error,
    /// A frame for another station whose NAV lasts this long \[us\].
    Overheard(u64),
    /// A frame that this station answers: after 10 us it transmits for this time \[us\].
    Answered(u64),
}

/// An idle time, then a busy time \[us\].
#[derive(Clone, Copy, Debug)]
struct Phase {
    idle: u64,
    busy: u64,
    end: End,
}

fn phase() -> impl Strategy<Value = Phase> {
    let end = prop_oneof![
        2 => Just(End::Energy),
        2 => Just(End::Error),
        2 => (0u64..600).prop_map(End::Overheard),
        1 => (1u64..400).prop_map(End::Answered),
    ];
    let idle = prop_oneof![2 => 1u64..60, 3 => 50u64..300, 1 => 300u64..900];
    (idle, 1u64..500, end).prop_map(|(idle, busy, end)| Phase { idle, busy, end })
}

/// Counts the slots one by one. Returns the time of the transmission if it comes before the phases are over.
fn count_slots(mut slots: u32, phases: &[Phase]) -> Option<u64> {
    let mut now = 0;
    // Since when the station has been silent itself, how long it must still wait for EIFS, until when the NAV is set.
    let (mut answering_until, mut eifs_until, mut nav_until) = (0, 0, 0);
    for phase in phases {
        // Time that the medium must still be idle before the next boundary, of which the first ends DIFS.
        let mut left = DIFS;
        let mut is_first = true;
        let idle_from = now;
        // A boundary may be decided on in the very microsecond in which energy arrives.
        for tick in idle_from..=idle_from + phase.idle {
            if tick < answering_until || tick < nav_until {
                // Taken by the station itself or reserved by others: DIFS is still to come.
                continue;
            }
            if is_first && tick + left < eifs_until {
                left = eifs_until - tick;
            }
            if left == TURNAROUND {
                // The boundary is decided on.
                if !is_first {
                    slots -= 1;
                }
                if slots == 0 {
                    return Some(tick + TURNAROUND);
                }
            }
            left -= 1;
            if left == 0 {
                (left, is_first) = (SLOT, false);
            }
        }
        now += phase.idle + phase.busy;
        match phase.end {
            End::Energy => {}
            End::Error => eifs_until = now + EIFS,
            End::Overheard(nav) => (eifs_until, nav_until) = (0, nav_until.max(now + nav)),
            End::Answered(airtime) => (eifs_until, answering_until) = (0, answering_until.max(now + 10 + airtime)),
        }
    }
    None
}

/// The same with the product's arithmetic.
fn compute(contention: &mut Contention, phases: &[Phase]) -> Option<u64> {
    let mut now = 0;
    for phase in phases {
        now += phase.idle;
        // Commitment comes before energy that arrives at the same instant.
        if let Grant::Now(_) = contention.grant(at(now)) {
            return contention.access_at().map(|at| at.as_nanos() / 1_000);
        }
        contention.on_busy(at(now));
        assert_eq!(contention.access_at(), None);
        now += phase.busy;
        contention.on_idle(at(now));
        match phase.end {
            End::Energy => {}
            End::Error => contention.on_error(at(now)),
            End::Overheard(nav) => {
                contention.on_success();
                contention.nav_mut().update(at(now), us(nav), None);
            }
            End::Answered(airtime) => {
                contention.on_success();
                contention.on_own_transmission(at(now + 10 + airtime));
            }
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn slots_that_are_computed_are_those_that_are_counted(
        seed: u64,
        phases in prop::collection::vec(phase(), 1..20),
    ) {
        let mut contention = contention(seed);
        // The medium has just fallen idle, and a backoff is drawn.
        contention.on_busy(Instant::ZERO);
        contention.request(Instant::ZERO);
        contention.on_idle(Instant::ZERO);
        let (window, drawn) = contention.last_draw();
        prop_assert!(drawn <= window);
        prop_assert_eq!(compute(&mut contention, &phases), count_slots(drawn, &phases));
    }

    /// With and without a backoff pending, whatever else there is: never while the medium is busy, never before DIFS.
    #[test]
    fn a_request_is_never_granted_before_difs(seed: u64, phases in prop::collection::vec(phase(), 1..10), ask: u64) {
        let mut contention = contention(seed);
        let mut idle_since = 0;
        let mut now = 0;
        for phase in phases {
            now += phase.idle;
            contention.on_busy(at(now));
            now += phase.busy;
            contention.on_idle(at(now));
            idle_since = now;
        }
        let asked = now + ask % 2_000;
        contention.request(at(asked));
        let access = contention.access_at().unwrap();
        prop_assert!(access >= at(idle_since + DIFS) && access >= at(asked));
    }
}

#[test]
fn the_window_runs_from_its_minimum_to_its_maximum() {
    let mut contention = contention(1);
    let mut windows = vec![];
    for _ in 0..7 {
        windows.push(contention.last_draw().0);
        contention.widen();
    }
    assert_eq!(windows, [31, 63, 127, 255, 511, 1023, 1023]);
    contention.reset_window();
    assert_eq!(contention.last_draw().0, 31);
}

#[test]
fn slots_after_a_nav_reset_are_counted_though_nobody_looked_at_its_time() {
    let mut contention = contention(1);
    contention.on_busy(at(0));
    contention.request(at(0));
    contention.on_idle(at(100));
    let drawn = u64::from(contention.last_draw().1);
    assert!(drawn > 2, "the seed draws enough slots");
    // Reserved until 5100 by an RTS, reset at 300; energy after two slots from 350 on.
    contention.nav_mut().update(at(100), us(5_000), Some(us(200)));
    contention.on_busy(at(390));
    contention.on_idle(at(500));
    assert_eq!(contention.access_at(), Some(at(500 + DIFS + SLOT * (drawn - 2))));
}

/// A backoff that has run out is gone when energy arrives: who asks then draws another one.
#[test]
fn a_counter_that_has_run_out_is_drawn_anew() {
    let mut contention = contention(1);
    contention.on_busy(at(0));
    contention.on_idle(at(0));
    contention.draw(at(0));
    let (_, first) = contention.last_draw();
    let end = DIFS + SLOT * u64::from(first);
    for (energy, is_over) in [(end - TURNAROUND, true), (end - TURNAROUND - 1, false)] {
        let mut contention = contention.clone();
        contention.on_busy(at(energy));
        contention.request(at(energy + 1));
        contention.on_idle(at(2_000));
        let (_, drawn) = contention.last_draw();
        assert_eq!(drawn != first, is_over, "the seed draws two different backoffs");
        let left = if is_over { drawn } else { 1 };
        assert_eq!(contention.access_at(), Some(at(2_000 + DIFS + SLOT * u64::from(left))));
    }
}

/// A hold stops the counter, which goes on a DIFS behind it; one that is over stops nothing.
#[test]
fn slots_before_a_hold_stay_counted() {
    let mut contention = contention(1);
    contention.on_busy(at(0));
    contention.on_idle(at(0));
    contention.draw(at(0));
    let (_, slots) = contention.last_draw();
    assert!(slots > 2);
    let access = |contention: &Contention| contention.access_at().unwrap();
    let end = DIFS + SLOT * u64::from(slots);
    let mut held = contention.clone();
    held.hold_until(at(DIFS + 2 * SLOT), at(5_000));
    assert_eq!(access(&held), at(5_000 + DIFS + SLOT * u64::from(slots - 2)));
    held.hold_until(at(DIFS + 2 * SLOT), at(0));
    assert_eq!(access(&held), at(2 * DIFS + SLOT * u64::from(slots)), "it is lifted");
    for past in [0, DIFS + 2 * SLOT] {
        let mut held = contention.clone();
        held.hold_until(at(DIFS + 2 * SLOT), at(past));
        assert_eq!(access(&held), at(end), "a time that is past");
    }
}
