//! The time that a flow's packets may wait in the queue before the flow is told to slow down.
//!
//! A slower member `j` serves a flow of which enough waits that the faster members, of rate `R`, carry until a packet
//! arrives by `j`. That costs the flow a delay `D_j` once, and gains it the rate `r_j`. A flow that has sent `n` byte
//! will send about as much again, as sizes of transfers are heavy-tailed; so the delay is worth it from
//! `n / R - n / (R + r_j) = D_j` on. Then the flow may wait for `D_j`.

use super::frame::MEMBERS_MAX;
use airbraid_units::Duration;
use arrayvec::ArrayVec;

/// A member that serves a flow.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// Arrival of a packet by it \[us\], by a clock that all members share.
    pub arrival_us: i64,
    /// Its rate \[bit/s\].
    pub rate: u64,
    /// Its round trip, with the blocking of its losses \[us\].
    pub rtt_us: u64,
}

/// The terms of a flow that has sent so much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// Bytes from which on they hold.
    pub from: u64,
    /// Time that a packet may wait before the flow is told to slow down.
    pub target: Duration,
    /// Time by which the slowest member that is worth its delay is later than the fastest.
    pub later: Duration,
    /// Rate of the members that are faster \[bit/s\].
    pub faster: u64,
}

/// The terms of flows, by what they have sent.
#[derive(Clone, Debug)]
pub struct Targets {
    /// In order of bytes and of targets.
    steps: ArrayVec<Step, MEMBERS_MAX>,
}

impl Targets {
    /// Members are unknown: each flow may wait for `base`.
    pub fn new(base: Duration) -> Self {
        let mut steps = ArrayVec::new();
        steps.push(Step { target: base, ..Step::default() });
        Self { steps }
    }

    /// The terms of a flow that has sent `sent` byte since its last pause.
    pub fn of(&self, sent: u64) -> &Step {
        let reached = self.steps.partition_point(|step| step.from <= sent);
        &self.steps[reached.max(1) - 1]
    }

    /// The longest target.
    pub fn longest(&self) -> Duration {
        self.steps.last().map_or(Duration::ZERO, |step| step.target)
    }

    /// Members have changed.
    pub fn set(&mut self, base: Duration, servers: &mut ArrayVec<Server, MEMBERS_MAX>) {
        servers.sort_unstable_by_key(|server| (server.arrival_us, server.rate));
        let Some(first) = servers.first().copied() else { return *self = Self::new(base) };
        let mut faster = 0u64;
        let mut steps: ArrayVec<Step, MEMBERS_MAX> = ArrayVec::new();
        for server in servers.iter() {
            let later_us = (server.arrival_us - first.arrival_us) as u64;
            let rate = server.rate.max(1);
            let from =
                u128::from(later_us) * u128::from(faster) / 8_000_000 * u128::from(faster + rate) / u128::from(rate);
            // CUBIC goes back to 0.7 of its window (RFC 9438), and the links must then still be busy: half a round
            // trip more, which leads over this member and comes back over the fastest.
            let wait_us = later_us + u64::midpoint(first.rtt_us, server.rtt_us) / 2;
            steps.push(Step {
                from: u64::try_from(from).unwrap_or(u64::MAX),
                target: base + Duration::from_micros(wait_us),
                later: Duration::from_micros(later_us),
                faster,
            });
            faster += rate;
        }
        steps.sort_unstable();
        self.steps.clear();
        for step in steps {
            if self.steps.is_empty() || step.target > self.longest() {
                self.steps.push(step);
            }
        }
    }
}
