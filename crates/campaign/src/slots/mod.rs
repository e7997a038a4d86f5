//! Plans of slots for one radio and several access points: every policy side by side, as a report, a picture in the
//! terminal and an SVG.
//!
//! It plans with the engine and weighs with the models of the simulator; nothing here is a packet.

pub mod options;
mod schedule;
mod svg;
mod text;

pub use airbraid_sim::models::planner::{Policy, Proof};
pub use airbraid_sim::models::rtt::Connection;
pub use options::PlanOptions;
pub use schedule::{PeriodRow, Scheduler, periods, schedule, sweep};
pub use svg::svg;
pub use text::text;

use crate::reproduce::reference::short;
use airbraid_sim::models::Stream;
use airbraid_sim::models::planner::arrange;
use airbraid_sim::models::rtt::Sample;
use airbraid_sim::models::slots::{
    Arrangement, Fraction, Layout, Length, Refused, Runs, Slot, Station, Timetable, random,
};
use airbraid_sim::models::tcp::{Route, Tcp, got};
use airbraid_units::Duration;
use serde::Serialize;

/// Number of periods of random slots that are evaluated.
pub const RANDOM_PERIODS: usize = 64;
/// Round-trip times drawn for each access point: the paper's number.
pub const SAMPLES: usize = 10_000;

#[derive(Clone, Debug)]
pub struct Request {
    /// The names of the access points.
    pub names: Vec<String>,
    pub duties: Vec<Fraction>,
    /// Slot time or period.
    pub length: Length,
    /// The routes through them.
    pub routes: Vec<Route>,
    /// Whether the delays of the routes are known; otherwise no policy uses them.
    pub delays_known: bool,
    pub tcp: Tcp,
    /// The policy to follow; `None`: `measured` where delays are known, otherwise `min-max`.
    pub policy: Option<Policy>,
    /// Seed of samples and random slots.
    pub seed: u64,
}

/// A plan, beside those of the other policies.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub period_ns: u64,
    /// Idle time of the period, at its end \[ns\].
    pub idle_ns: u64,
    /// Slots in a period.
    pub slots: usize,
    /// Number of arrangements, exactly up to 2^53; null beyond 2^128.
    pub arrangements: Option<f64>,
    pub access_points: Vec<AccessPoint>,
    /// Whether the delays were given; otherwise they are assumed.
    pub delays_known: bool,
    /// Air time lost at each switch \[s\].
    pub switch_s: f64,
    pub policy: Policy,
    pub map: Vec<MapSlot>,
    /// Every policy.
    pub plans: Vec<Plan>,
}

/// An access point and its part.
#[derive(Clone, Debug, Serialize)]
pub struct AccessPoint {
    pub name: String,
    /// Its duty cycle, exactly.
    pub duty: String,
    /// Slots in a period.
    pub slots: u32,
    /// The size of one \[ns\]; the first ones may be longer by 1 ns.
    pub slot_ns: u64,
    /// Its time in a period \[ns\].
    pub share_ns: u64,
    /// Wired round trip \[s\].
    pub delay_s: f64,
    pub flows: u32,
    /// Known limit of its flows \[bit/s\].
    pub limit_bps: Option<u64>,
}

/// A slot of the map.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MapSlot {
    /// Its access point, counted from 1.
    pub access_point: usize,
    /// Beginning \[ns\].
    pub start_ns: u64,
    /// Length \[ns\].
    pub length_ns: u64,
}

/// The plan of one policy.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    pub policy: Policy,
    /// Changes of access point in a period.
    pub switches: f64,
    /// Runs by the paper's count, if it counts any.
    pub runs: Option<PlanRuns>,
    pub proof: Option<Proof>,
    /// Sum of the throughputs \[bit/s\]; null without a limit.
    pub aggregate_bps: f64,
    /// The same by access point.
    pub access_points: Vec<Seen>,
    #[serde(skip)]
    pub timetable: Timetable,
    /// The round-trip times by access point.
    #[serde(skip)]
    pub samples: Vec<Option<Sample>>,
}

/// Run counters of MinMax.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PlanRuns {
    /// By the search that the paper describes; null beyond 2^128.
    pub search: Option<f64>,
    /// Slots minus access points plus one.
    pub line: u64,
}

/// An access point's share of a plan.
#[derive(Clone, Debug, Serialize)]
pub struct Seen {
    /// Its slots, counted from 1; empty for random slots.
    pub positions: Vec<usize>,
    /// Its longest disconnection \[ns\].
    pub disconnection_ns: u64,
    /// Round-trip times; null for one that is never connected.
    pub rtt_s: Option<Rtt>,
    /// Throughput of its flows \[bit/s\]; null without a limit.
    pub throughput_bps: f64,
}

/// A distribution of round-trip times \[s\].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rtt {
    /// Mean of the closed form.
    pub mean: f64,
    /// Standard deviation of the samples.
    pub std: f64,
    /// Least.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

/// The reason why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPlan {
    /// The duty cycles and the slot time have no layout.
    #[error(transparent)]
    Layout(#[from] Refused),
    /// A switch takes all of a slot.
    #[error(
        "a switch of {switch} leaves nothing of the slots of access point {access_point}, which last {slot}: lengthen slots or period"
    )]
    Switch {
        switch: Duration,
        /// The access point of the slots, counted from 1.
        access_point: usize,
        slot: Duration,
    },
}

/// Plans by every policy.
///
/// # Errors
/// Says why there is no plan.
pub fn plan(request: &Request) -> Result<Report, NoPlan> {
    let layout = Layout::new(&request.duties, request.length)?;
    let switch = request.tcp.switch;
    let short = |station: &Station| layout.stations().len() > 1 && station.size_ns <= switch.as_nanos();
    if let Some(i) = layout.stations().iter().position(short) {
        let slot = Duration::from_nanos(layout.stations()[i].size_ns);
        return Err(NoPlan::Switch { switch, access_point: i + 1, slot });
    }
    let known = |policy: &Policy| request.delays_known || !policy.needs_delays();
    let mut arrangements = Vec::new();
    let plans: Vec<Plan> =
        Policy::ALL.into_iter().filter(known).map(|policy| one(&layout, policy, request, &mut arrangements)).collect();
    let default = if request.delays_known { Policy::Measured } else { Policy::MinMax };
    let policy = request.policy.filter(known).unwrap_or(default);
    let followed = plans.iter().find(|plan| plan.policy == policy);
    let slot =
        |slot: &Slot| MapSlot { access_point: slot.station + 1, start_ns: slot.start_ns, length_ns: slot.length_ns };
    Ok(Report {
        period_ns: layout.period().as_nanos(),
        idle_ns: layout.idle().as_nanos(),
        slots: layout.slots(),
        arrangements: layout.arrangements().map(|n| n as f64),
        access_points: access_points(&layout, request),
        delays_known: request.delays_known,
        switch_s: request.tcp.switch.as_secs_f64(),
        policy,
        map: followed.map(|plan| plan.timetable.slots().iter().map(slot).collect()).unwrap_or_default(),
        plans,
    })
}

fn access_points(layout: &Layout, request: &Request) -> Vec<AccessPoint> {
    let one = |((station, name), route): ((&Station, &String), &Route)| AccessPoint {
        name: name.clone(),
        duty: station.duty.to_string(),
        slots: station.count,
        slot_ns: station.size_ns,
        share_ns: station.share_ns,
        delay_s: route.path.delay.as_secs_f64(),
        flows: route.path.flows,
        limit_bps: route.limit.map(|limit| limit.as_bps()),
    };
    layout.stations().iter().zip(&request.names).zip(&request.routes).map(one).collect()
}

/// The plan of a policy; `known` are the arrangements of the policies before it.
fn one(layout: &Layout, policy: Policy, request: &Request, known: &mut Vec<Arrangement>) -> Plan {
    let Some((arrangement, proof)) = arrange(layout, policy, &request.routes, &request.tcp, known) else {
        let mut stream = Stream::new(request.seed, 0, "slots.random");
        let owners = random(layout, RANDOM_PERIODS, &mut stream);
        return weigh(Timetable::of_owners(layout, &owners), None, policy, request);
    };
    let runs = (policy == Policy::MinMax).then(|| {
        let runs = Runs::new(layout);
        PlanRuns { search: runs.search.map(|n| n as f64), line: runs.line }
    });
    let timetable = Timetable::new(layout, &arrangement);
    let plan = Plan { runs, proof, ..weigh(timetable, Some(&arrangement), policy, request) };
    known.push(arrangement);
    plan
}

/// The models' results for a timetable.
fn weigh(timetable: Timetable, arrangement: Option<&Arrangement>, policy: Policy, request: &Request) -> Plan {
    let got = got(&timetable, &request.routes, &request.tcp);
    let mut samples = Vec::with_capacity(got.len());
    let mut access_points = Vec::with_capacity(got.len());
    for (station, got) in got.iter().enumerate() {
        let connection = Connection::new(&timetable, station, request.tcp.switch);
        // One stream an access point, whatever the policy: policies are compared on the same draws.
        let mut stream = Stream::new(request.seed, station as u64, "slots.rtt");
        let delay = request.routes[station].path.delay;
        let sample = connection.sample(delay, request.tcp.theta, SAMPLES, &mut stream);
        access_points.push(Seen {
            positions: arrangement.map(|a| a.positions(station)).unwrap_or_default(),
            disconnection_ns: timetable.worst_ns(station),
            rtt_s: sample.as_ref().map(|sample| rtt(got.rtt_s, sample)),
            throughput_bps: got.throughput_bps,
        });
        samples.push(sample);
    }
    let periods = if policy == Policy::Random { RANDOM_PERIODS } else { 1 };
    Plan {
        policy,
        switches: timetable.switches() as f64 / periods as f64,
        runs: None,
        proof: None,
        aggregate_bps: got.iter().map(|got| got.throughput_bps).sum(),
        access_points,
        timetable,
        samples,
    }
}

fn rtt(mean: f64, sample: &Sample) -> Rtt {
    let quantile = |share| sample.quantile_s(share);
    Rtt {
        mean,
        std: sample.std_s(),
        min: quantile(0.0),
        p50: quantile(0.5),
        p90: quantile(0.9),
        p99: quantile(0.99),
        max: quantile(1.0),
    }
}

impl Report {
    /// The plan of a policy.
    pub fn of(&self, policy: Policy) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.policy == policy)
    }
}

/// A time in milliseconds as people write it, four significant digits at most.
fn ms(seconds: f64) -> String {
    format!("{} ms", short(seconds * 1e3))
}

/// A throughput as people write it.
fn rate(bps: f64) -> String {
    match bps {
        x if !x.is_finite() => "unlimited".to_owned(),
        x if x >= 1e6 => format!("{} Mbit/s", short(x / 1e6)),
        x => format!("{} kbit/s", short(x / 1e3)),
    }
}
