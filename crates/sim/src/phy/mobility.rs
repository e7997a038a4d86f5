//! The position of a node at a time: a pure function of its start, its way of moving and the time.
//!
//! Nothing is stepped: two questions in any order get the same two answers, and nobody pays for a node that nobody
//! asks about. The plane has no borders.

use crate::scenario::spec::{Mobility, Position};
use airbraid_units::{Instant, Metres};

/// The position at `now` of a node that was at `start` at time zero.
///
/// A node with waypoints goes in a straight line from `start` to the first, from each to the next, and stays at the
/// last; two waypoints of one time are a jump.
pub fn position_at(start: Position, mobility: &Mobility, now: Instant) -> Position {
    match mobility {
        Mobility::Static => start,
        Mobility::Velocity { x, y } => {
            let seconds = now.as_secs_f64();
            Position { x: Metres(start.x.0 + x.0 * seconds), y: Metres(start.y.0 + y.0 * seconds) }
        }
        Mobility::Waypoints(points) => along(start, points, now),
    }
}

/// The position at `now` on the way through `points`.
fn along(start: Position, points: &[(Instant, Position)], now: Instant) -> Position {
    let reached = points.partition_point(|(at, _)| *at <= now);
    let (left_at, from) = match reached.checked_sub(1) {
        Some(last) => points[last],
        None => (Instant::ZERO, start),
    };
    let Some(&(due, to)) = points.get(reached) else {
        return from;
    };
    let share = (now - left_at).as_secs_f64() / (due - left_at).as_secs_f64();
    let between = |a: Metres, b: Metres| Metres(a.0 + (b.0 - a.0) * share);
    Position { x: between(from.x, to.x), y: between(from.y, to.y) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::{Duration, Speed};
    use proptest::prelude::*;

    fn at(x: f64, y: f64) -> Position {
        Position { x: Metres(x), y: Metres(y) }
    }
    fn s(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn velocity_is_straight_on() {
        let away = Mobility::Velocity { x: Speed(0.7), y: Speed(-1.0) };
        assert_eq!(position_at(at(100.0, 0.0), &away, s(0)), at(100.0, 0.0));
        assert_eq!(position_at(at(100.0, 0.0), &away, s(250)), at(275.0, -250.0));
    }

    #[test]
    fn waypoints_are_joined_by_straight_lines() {
        let way = Mobility::Waypoints(vec![(s(10), at(10.0, 0.0)), (s(20), at(10.0, 40.0)), (s(20), at(0.0, 0.0))]);
        let where_at = |t| position_at(at(0.0, 0.0), &way, s(t));
        assert_eq!(where_at(0), at(0.0, 0.0));
        assert_eq!(where_at(5), at(5.0, 0.0));
        assert_eq!(where_at(10), at(10.0, 0.0));
        assert_eq!(where_at(15), at(10.0, 20.0));
        // Two waypoints at 20 s: a jump to the second.
        assert_eq!(where_at(20), at(0.0, 0.0));
        assert_eq!(where_at(1_000), at(0.0, 0.0));
        assert_eq!(position_at(at(1.0, 2.0), &Mobility::Waypoints(vec![]), s(3)), at(1.0, 2.0));
        // A waypoint at time zero replaces the start.
        let from_zero = Mobility::Waypoints(vec![(s(0), at(7.0, 7.0))]);
        assert_eq!(position_at(at(1.0, 2.0), &from_zero, s(0)), at(7.0, 7.0));
    }

    proptest! {
        #[test]
        fn a_node_never_jumps_between_waypoints_of_different_times(
            steps in prop::collection::vec((1u64..100, -50.0f64..50.0), 1..8),
            now in 0u64..900,
        ) {
            let mut time = 0;
            let points: Vec<(Instant, Position)> =
                steps.iter().map(|(dt, x)| { time += dt; (s(time), at(*x, 0.0)) }).collect();
            let way = Mobility::Waypoints(points);
            let here = position_at(at(0.0, 0.0), &way, s(now));
            let soon = position_at(at(0.0, 0.0), &way, s(now) + Duration::from_millis(1));
            // At most 100 m in at least 1 s, so 0.1 m in 1 ms.
            prop_assert!((here.x.0 - soon.x.0).abs() <= 0.1 + 1e-9);
        }
    }
}
