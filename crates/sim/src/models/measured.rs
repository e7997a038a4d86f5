//! A planner that knows the delays: it returns the arrangement that is best by the model of TCP.
//!
//! Where all arrangements can be tried it is the paper's upper bound. Beyond that it takes the best of what others
//! plan and exchanges slots as long as that helps. MinMax is always among what it chooses from, so by the model it is
//! never worse. The paper says that its upper bound cannot be had in practice because delays are not known; here they
//! are, where somebody has measured them.

use super::tcp::{Route, Tcp, aggregate_bps};
use airbraid_engine::slots::{Arrangement, Layout, Timetable, each_class, min_max, no_policy};

/// Largest number of arrangements that are tried one by one.
const TRY_ALL: u128 = 5_000;
/// Largest number of arrangements tried in exchanges.
const EXCHANGES: usize = 100_000;

/// The best arrangement by the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub arrangement: Arrangement,
    /// Sum of the throughputs of all access points \[bit/s\].
    pub aggregate_bps: f64,
    /// Number of arrangements tried.
    pub runs: u64,
    /// Whether all arrangements were tried.
    pub all: bool,
}

/// Plans for the stations of `layout` with their routes. `known` are arrangements of other planners: where not all
/// arrangements can be tried, the search begins with these.
pub fn measured(layout: &Layout, routes: &[Route], tcp: &Tcp, known: &[Arrangement]) -> Measured {
    let worth = |arrangement: &Arrangement| aggregate_bps(&Timetable::new(layout, arrangement), routes, tcp);
    let start = min_max(layout);
    let mut best = Measured { aggregate_bps: worth(&start), arrangement: start, runs: 1, all: true };
    let mut consider = |best: &mut Measured, arrangement: &Arrangement| {
        best.runs += 1;
        let now = worth(arrangement);
        let better = now > best.aggregate_bps;
        if better {
            (best.aggregate_bps, best.arrangement) = (now, arrangement.clone());
        }
        better
    };
    if each_class(layout, TRY_ALL, |arrangement| _ = consider(&mut best, arrangement)).is_ok() {
        return best;
    }
    best.all = false;
    for arrangement in known {
        consider(&mut best, arrangement);
    }
    consider(&mut best, &no_policy(layout));
    exchange(layout, &mut best, &mut consider);
    best
}

/// Exchanges pairs of slots while one of them makes it better.
fn exchange(layout: &Layout, best: &mut Measured, consider: &mut impl FnMut(&mut Measured, &Arrangement) -> bool) {
    let slots = layout.slots();
    let mut left = EXCHANGES / slots;
    loop {
        let mut better = false;
        for (a, b) in (0..slots).flat_map(|a| (a + 1..slots).map(move |b| (a, b))) {
            let mut owners = best.arrangement.owners().to_vec();
            if owners[a] == owners[b] {
                continue;
            }
            if left == 0 {
                return;
            }
            left -= 1;
            owners.swap(a, b);
            if let Some(arrangement) = Arrangement::new(layout, owners) {
                better |= consider(best, &arrangement);
            }
        }
        if !better {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_engine::slots::{Fraction, Length, Path};
    use airbraid_units::Duration;
    use proptest::prelude::*;

    fn routes(delays_ms: &[u64]) -> Vec<Route> {
        let route = |ms: &u64| {
            let path = Path { delay: Duration::from_millis(*ms), loss: Fraction::new(32, 10_000).unwrap(), flows: 1 };
            Route { path, limit: None }
        };
        delays_ms.iter().map(route).collect()
    }
    fn layout(parts: &[u64]) -> Layout {
        let whole = parts.iter().sum();
        let duties: Vec<Fraction> = parts.iter().map(|part| Fraction::new(*part, whole).unwrap()).collect();
        Layout::new(&duties, Length::Slot(Duration::from_millis(10))).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn it_is_never_worse_than_min_max(
            stations in proptest::collection::vec((1u64..5, 1u64..200), 2..6),
        ) {
            let (parts, delays): (Vec<u64>, Vec<u64>) = stations.into_iter().unzip();
            let (layout, routes, tcp) = (layout(&parts), routes(&delays), Tcp::default());
            let found = measured(&layout, &routes, &tcp, &[]);
            let worth = |arrangement: &Arrangement| aggregate_bps(&Timetable::new(&layout, arrangement), &routes, &tcp);
            prop_assert!(found.aggregate_bps >= worth(&min_max(&layout)));
            prop_assert!(found.aggregate_bps >= worth(&no_policy(&layout)));
            prop_assert_eq!(worth(&found.arrangement), found.aggregate_bps);
        }
    }

    #[test]
    fn where_not_all_can_be_tried_it_says_so() {
        let layout = layout(&[7, 5, 4, 1]);
        let found = measured(&layout, &routes(&[20, 40, 60, 80]), &Tcp::default(), &[]);
        assert!(!found.all);
        let worth =
            aggregate_bps(&Timetable::new(&layout, &min_max(&layout)), &routes(&[20, 40, 60, 80]), &Tcp::default());
        assert!(found.aggregate_bps >= worth);
    }
}
