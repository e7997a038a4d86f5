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

/// The times for flows that have sent so much.
#[derive(Clone, Debug)]
pub struct Targets {
    /// Bytes from which on a target holds, and the target, both growing.
    steps: ArrayVec<(u64, Duration), MEMBERS_MAX>,
    base: Duration,
    /// Round trip of a flow that uses all members that have a target.
    pub round_trip: Duration,
}

impl Targets {
    /// Members are unknown: each flow may wait for `base`.
    pub fn new(base: Duration) -> Self {
        Self { steps: ArrayVec::new(), base, round_trip: Duration::ZERO }
    }

    /// The target of a flow that has sent `sent` byte since its last pause.
    pub fn of(&self, sent: u64) -> Duration {
        self.steps.iter().rev().find(|(from, _)| *from <= sent).map_or(self.base, |(_, target)| *target)
    }

    /// The longest of them.
    pub fn longest(&self) -> Duration {
        self.steps.last().map_or(self.base, |(_, target)| *target)
    }

    /// Members have changed.
    pub fn set(&mut self, base: Duration, servers: &mut ArrayVec<Server, MEMBERS_MAX>) {
        servers.sort_unstable_by_key(|server| (server.arrival_us, server.rate));
        self.base = base;
        self.steps.clear();
        let Some(first) = servers.first().copied() else { return };
        let mut faster = 0u64;
        let mut steps: ArrayVec<(u64, Duration), MEMBERS_MAX> = ArrayVec::new();
        for server in servers.iter() {
            let later_us = (server.arrival_us - first.arrival_us) as u64;
            let rate = server.rate.max(1);
            let from = u128::from(later_us) * u128::from(faster) / 8_000_000 * u128::from(faster + rate)
                / u128::from(rate);
            // CUBIC goes back to 0.7 of its window (RFC 9438), and the links must then still be busy: half a round
            // trip more, which leads over this member and comes back over the fastest.
            let wait_us = later_us + u64::midpoint(first.rtt_us, server.rtt_us) / 2;
            steps.push((from.min(u128::from(u64::MAX)) as u64, base + Duration::from_micros(wait_us)));
            faster += rate;
        }
        steps.sort_unstable();
        for (from, target) in steps {
            if target > self.longest() || self.steps.is_empty() {
                self.steps.push((from, target));
            }
        }
        let rtt_us = servers.iter().map(|server| server.rtt_us).max().unwrap_or(0);
        self.round_trip = Duration::from_micros(rtt_us);
    }
}
