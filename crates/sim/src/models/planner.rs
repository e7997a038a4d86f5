//! The planners by name: who decides whose slot comes when.
//!
//! `airbraid plan`, the model of reproductions and scenarios with a slotted station choose here, so that a name means
//! one thing. It weighs nothing but what a planner weighs itself.

use super::measured::measured;
use super::tcp::{Route, Tcp};
use airbraid_engine::slots::{
    Arrangement, Budget, Layout, Objective, Path, Proven, branch_and_bound, min_max, no_policy,
};
use airbraid_units::named_enum;
use serde::{Serialize, Serializer};

named_enum! {
    /// The rule that decides the order of the slots, in the order of a table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Policy {
        NoPolicy = "no-policy",
        /// Random draws.
        Random = "random",
        /// MinMax of the paper.
        MinMax = "min-max",
        /// Alg. 1 of the paper, equation 6: best without delays, by branch and bound.
        Blind = "blind",
        /// Equation 5: best with delays, each round trip as long as it can be.
        WorstCase = "worst-case",
        /// Best with delays by the model of round-trip times.
        Measured = "measured",
    }
}

impl Policy {
    /// Whether it plans with delays.
    pub fn needs_delays(self) -> bool {
        matches!(self, Self::WorstCase | Self::Measured)
    }
}

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The proven properties of a plan.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Proof {
    /// No plan is better by its measure.
    pub best: bool,
    /// By how much another can be better at most, as a share; null where that is not known.
    pub gap: Option<f64>,
    /// Steps of the search, or plans that were looked at.
    pub steps: u64,
}

/// Returns the arrangement of a policy with its proof; `None` for random slots, which are no arrangement.
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
