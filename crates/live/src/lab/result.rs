//! The result of a lab: the results of the commands, the counts of interfaces and models, and the lateness against the
//! clock.

use airbraid_sim::result::{FlowResult, LinkResult, MacResult, PacketAccount, TrunkResult};
use airbraid_units::{Duration, Instant};
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;

/// The result of a lab.
#[derive(Clone, Debug, Serialize)]
pub struct LabResult {
    pub title: String,
    pub scenario: String,
    /// The seed of losses, errors and backoffs.
    pub seed: u64,
    pub duration_s: f64,
    /// Whether events were late by no more than the limit, 99.9 times of 100.
    pub trusted: bool,
    /// Lateness of events.
    pub lateness_s: Lateness,
    /// Events that the kernel processed.
    pub events: u64,
    /// Results of the commands.
    pub commands: Vec<CommandResult>,
    /// Counts of the interfaces.
    pub interfaces: Vec<InterfaceResult>,
    /// Results of the simulated flows: those with a simulated end.
    pub flows: Vec<FlowResult>,
    /// Results of the trunks, each direction that carried something.
    pub trunks: Vec<TrunkResult>,
    /// Results of the radios.
    pub macs: Vec<MacResult>,
    /// Results of the links, each direction.
    pub links: Vec<LinkResult>,
    /// Packets dropped, by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets: offered = delivered + dropped + in flight.
    pub packets: PacketAccount,
    /// Values by interval.
    pub series: LabSeries,
    /// Its origin, which the caller knows: version, scenario, settings.
    pub made: serde_json::Value,
}

/// Lateness of events against the clock \[s\].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Lateness {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile, which the limit is for.
    pub p999: f64,
    /// Largest.
    pub max: f64,
    /// Limit above which a lab is not trusted.
    pub limit: f64,
}

impl Lateness {
    /// From nanoseconds.
    pub fn new(histogram: &Histogram<u64>, limit: Duration) -> Self {
        let at = |quantile| histogram.value_at_quantile(quantile) as f64 / 1e9;
        Self { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1.0), limit: limit.as_secs_f64() }
    }
}

/// The result of a command.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CommandResult {
    pub node: String,
    pub command: String,
    /// Start; null: it was not started.
    pub start_s: Option<f64>,
    /// End; null: it was never started.
    pub end_s: Option<f64>,
    /// Exit status.
    pub exit: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Whether the lab stopped it at its end.
    pub stopped: bool,
    /// Its output, the first megabyte.
    pub stdout: String,
    /// Its standard error, the first megabyte.
    pub stderr: String,
}

impl CommandResult {
    /// Whether it succeeded: it ended by itself and well, or the lab stopped it.
    pub fn is_fine(&self) -> bool {
        self.stopped || self.exit == Some(0)
    }
}

/// Counts of an interface.
#[derive(Clone, Debug, Serialize)]
pub struct InterfaceResult {
    pub node: String,
    pub namespace: String,
    pub name: String,
    pub address: String,
    /// Packets that the host sent.
    pub sent_packets: u64,
    pub sent_bytes: u64,
    /// Packets that the host got.
    pub received_packets: u64,
    pub received_bytes: u64,
    /// Packets that were lost before the lab read them: the host's device was full.
    pub device_drops: u64,
    /// Packets that were not IPv4 or not for a host of the lab.
    pub ignored: u64,
    /// Packets that the host's kernel did not take.
    pub refused: u64,
    /// Mean one-way delay of received packets, from the sender's device through the scenario's queues to here; null
    /// without any.
    pub delay_mean_s: Option<f64>,
    /// Largest.
    pub delay_max_s: Option<f64>,
}

/// Values by interval: one list an interface, one a radio.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LabSeries {
    /// End of each interval.
    pub end_s: Vec<f64>,
    /// Of each interface, in their order.
    pub interfaces: Vec<InterfaceSeries>,
    /// Of each radio, in their order.
    pub macs: Vec<MacSeries>,
}

/// An interface by interval.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InterfaceSeries {
    /// IP bits that the host sent, a second.
    pub sent_bps: Vec<f64>,
    /// IP bits that the host got, a second.
    pub received_bps: Vec<f64>,
    /// Mean one-way delay; null without packets.
    pub delay_mean_s: Vec<Option<f64>>,
}

/// A radio by interval.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MacSeries {
    /// Data frames sent, retries included.
    pub data_frames: Vec<u64>,
    /// Data frames retransmitted.
    pub retries: Vec<u64>,
    /// Frames for it lost by overlap.
    pub collisions: Vec<u64>,
    /// Frames for it lost by the channel's errors.
    pub channel_errors: Vec<u64>,
}

/// Counts of an interface in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortSample {
    /// Packets from the host.
    pub sent_packets: u64,
    pub sent_bytes: u64,
    /// Packets to the host.
    pub received_packets: u64,
    pub received_bytes: u64,
    /// Not for us.
    pub ignored: u64,
    /// Not taken by the host.
    pub refused: u64,
    /// Sum of the delays \[ns\].
    pub delay_ns: u64,
    /// Largest \[ns\].
    pub delay_max_ns: u64,
}

impl PortSample {
    /// A packet has come from the host.
    pub fn count_departure(&mut self, bytes: u64) {
        self.sent_packets += 1;
        self.sent_bytes += bytes;
    }
    /// A packet has gone to the host.
    pub fn count_arrival(&mut self, bytes: u64, delay: Duration) {
        self.received_packets += 1;
        self.received_bytes += bytes;
        self.delay_ns += delay.as_nanos();
        self.delay_max_ns = self.delay_max_ns.max(delay.as_nanos());
    }
    pub fn add(&mut self, other: &Self) {
        self.sent_packets += other.sent_packets;
        self.sent_bytes += other.sent_bytes;
        self.received_packets += other.received_packets;
        self.received_bytes += other.received_bytes;
        self.ignored += other.ignored;
        self.refused += other.refused;
        self.delay_ns += other.delay_ns;
        self.delay_max_ns = self.delay_max_ns.max(other.delay_max_ns);
    }
    pub fn delay_mean_s(&self) -> Option<f64> {
        (self.received_packets > 0).then(|| self.delay_ns as f64 / self.received_packets as f64 / 1e9)
    }
}

/// Counts of an interval, and the radios' counts until its end.
#[derive(Clone, Debug)]
pub struct Sample {
    pub at: Instant,
    /// By interface.
    pub ports: Vec<PortSample>,
    /// By radio.
    pub macs: Vec<MacResult>,
}

impl LabSeries {
    /// Builds the series from samples in the order of time.
    pub fn new(samples: &[Sample]) -> Self {
        let Some(first) = samples.first() else { return Self::default() };
        let mut series = Self {
            end_s: Vec::new(),
            interfaces: vec![InterfaceSeries::default(); first.ports.len()],
            macs: vec![MacSeries::default(); first.macs.len()],
        };
        let mut before: Option<&Sample> = None;
        for sample in samples {
            let began = before.map_or(Instant::ZERO, |before| before.at);
            let seconds = sample.at.saturating_since(began).as_secs_f64();
            if seconds > 0.0 {
                series.add(sample, before, seconds);
                before = Some(sample);
            }
        }
        series
    }

    fn add(&mut self, sample: &Sample, before: Option<&Sample>, seconds: f64) {
        self.end_s.push(sample.at.as_secs_f64());
        for (series, port) in self.interfaces.iter_mut().zip(&sample.ports) {
            series.sent_bps.push(port.sent_bytes as f64 * 8.0 / seconds);
            series.received_bps.push(port.received_bytes as f64 * 8.0 / seconds);
            series.delay_mean_s.push(port.delay_mean_s());
        }
        for (index, (series, mac)) in self.macs.iter_mut().zip(&sample.macs).enumerate() {
            let old = before.map(|before| &before.macs[index]);
            let since = |now: u64, field: fn(&MacResult) -> u64| now - old.map_or(0, field);
            series.data_frames.push(since(mac.counts.data_frames, |mac| mac.counts.data_frames));
            series.retries.push(since(mac.counts.retries, |mac| mac.counts.retries));
            series.collisions.push(since(mac.counts.collisions, |mac| mac.counts.collisions));
            series.channel_errors.push(since(mac.counts.channel_errors, |mac| mac.counts.channel_errors));
        }
    }
}
