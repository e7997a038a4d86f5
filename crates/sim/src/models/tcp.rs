//! TCP over a timetable: round-trip time and throughput of each access point, and their sum.

use super::mathis;
use super::rtt::{Connection, THETA};
use airbraid_engine::slots::{Path, Timetable};
use airbraid_units::{BitRate, Bytes, Duration};

/// The parameters of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tcp {
    /// Maximum segment size: a path of 1500 byte leaves 1448 beside timestamps.
    pub mss: Bytes,
    /// `C` of the Mathis formula.
    pub constant: f64,
    /// Mean start time in a block, in lengths of the block; above 0.
    pub theta: f64,
    /// Air time lost at the beginning of each slot after another station's. The paper's model has none.
    pub switch: Duration,
}

impl Default for Tcp {
    fn default() -> Self {
        Self { mss: Bytes::new(1_448), constant: mathis::DELAYED_ACK, theta: THETA, switch: Duration::ZERO }
    }
}

/// The way through one access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Delay, loss and flows.
    pub path: Path,
    /// Known limit of its throughput: its backhaul, or its part of the air.
    pub limit: Option<BitRate>,
}

/// The result for the flows over one access point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowEstimate {
    /// Mean round-trip time \[s\]; infinite without connection.
    pub rtt_s: f64,
    /// Throughput of all its flows \[bit/s\]; infinite where nothing limits it.
    pub throughput_bps: f64,
}

/// Returns the result for each access point.
pub fn got(timetable: &Timetable, routes: &[Route], tcp: &Tcp) -> Vec<FlowEstimate> {
    let one = |(station, route): (usize, &Route)| {
        let rtt_s = Connection::new(timetable, station, tcp.switch).mean_s(route.path.delay, tcp.theta);
        let loss = route.path.loss.numerator() as f64 / route.path.loss.denominator() as f64;
        let flow = mathis::throughput_bps(tcp.mss, rtt_s, loss, tcp.constant);
        let all = flow * f64::from(route.path.flows);
        let limit = route.limit.map_or(f64::INFINITY, |limit| limit.as_bps() as f64);
        FlowEstimate { rtt_s, throughput_bps: all.min(limit) }
    };
    routes.iter().enumerate().map(one).collect()
}

/// The sum over all access points \[bit/s\].
pub fn aggregate_bps(timetable: &Timetable, routes: &[Route], tcp: &Tcp) -> f64 {
    got(timetable, routes, tcp).iter().map(|got| got.throughput_bps).sum()
}
