//! The planners by name: who decides whose slot comes when.
//!
//! `airbraid plan`, the model of reproductions and scenarios with a slotted station choose here, so that a name means one
//! thing. It weighs nothing but what a planner weighs itself.

use super::measured::measured;
use super::tcp::{Route, Tcp};
use airbraid_engine::slots::{
    Arrangement, Budget, Layout, Objective, Path, Proven, branch_and_bound, min_max, no_policy,
};
use serde::Serialize;

/// Who decides whose slot comes when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// One block each.
    NoPolicy,
    /// By lot.
    Random,
    /// MinMax of the paper.
    MinMax,
    /// Alg. 1 of the paper, equation 6: best without delays, by branch and bound.
    Blind,
    /// Equation 5: best with delays, each round trip as long as it can be.
    WorstCase,
    /// Best with delays by the model of round-trip times.
    Measured,
}

impl Policy {
    /// All, in the order of a table.
    pub const ALL: [Self; 6] =
        [Self::NoPolicy, Self::Random, Self::MinMax, Self::Blind, Self::WorstCase, Self::Measured];
    /// Whether it plans with delays.
    pub fn needs_delays(self) -> bool {
        matches!(self, Self::WorstCase | Self::Measured)
    }
    /// Its name, as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoPolicy => "no-policy",
            Self::Random => "random",
            Self::MinMax => "min-max",
            Self::Blind => "blind",
            Self::WorstCase => "worst-case",
            Self::Measured => "measured",
        }
    }
}

/// What is proven of a plan.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Proof {
    /// No plan is better by its measure.
    pub best: bool,
    /// By how much another can be better at most, as a share; null where that is not known.
    pub gap: Option<f64>,
    /// Steps of the search, or plans that were looked at.
    pub steps: u64,
}

/// The arrangement of a policy, and what it has proven of it; `None` for slots by lot, which are no arrangement.
///
/// `routes` are those of the stations of `layout`; policies that need no delays do not look at them. `known` are
/// arrangements of other policies, which `Measured` begins with where it cannot try all.
pub fn arrange(
    layout: &Layout,
    policy: Policy,
    routes: &[Route],
    tcp: &Tcp,
    known: &[Arrangement],
) -> Option<(Arrangement, Option<Proof>)> {
    let proven = |objective: Objective| {
        let found = branch_and_bound(layout, &objective, Budget::default());
        let proof = proof(&found);
        (found.arrangement, Some(proof))
    };
    match policy {
        Policy::Random => None,
        Policy::NoPolicy => Some((no_policy(layout), None)),
        Policy::MinMax => Some((min_max(layout), None)),
        Policy::Blind => Some(proven(Objective::blind(layout.stations().len()))),
        Policy::WorstCase => {
            let paths: Vec<Path> = routes.iter().map(|route| route.path).collect();
            Some(proven(Objective::with_delays(&paths)))
        }
        Policy::Measured => {
            let found = measured(layout, routes, tcp, known);
            let proof = Proof { best: found.all, gap: found.all.then_some(0.0), steps: found.runs };
            Some((found.arrangement, Some(proof)))
        }
    }
}

fn proof(found: &Proven) -> Proof {
    Proof { best: found.exact(), gap: Some(found.gap_ppm() as f64 / 1e6), steps: found.nodes }
}
