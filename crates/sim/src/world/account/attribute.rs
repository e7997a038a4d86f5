//! The end of an interval: its time is given to causes.

use super::super::World;
use super::super::flow::Transport;
use super::super::id::FlowId;
use super::Device;
use super::flow::{Blame, FlowAccount, most_frequent};
use super::way::Reading;
use crate::limits::Cause;
use crate::result::FlowCounts;
use airbraid_net::tcp::{SenderLimit, SenderStats};
use airbraid_units::{Duration, Instant};

/// A device that is busy for at least this share of an interval is the limit: it leaves less idle time than a window
/// or a source of twice the size could use.
const SATURATED: f64 = 0.9;

/// Datagrams of a constant rate exceed a device from this share of drops at full queues on; fewer are bursts.
const OVERLOAD: f64 = 0.01;

impl World<'_> {
    /// An interval of a flow is over: its time is given to causes, and the next begins.
    pub(in super::super) fn close_interval(&mut self, flow: FlowId) {
        let now = self.host.now;
        let readings = self.readings(flow);
        let state = &self.flows.table[flow];
        let Some(account) = self.host.account.as_deref_mut().map(|account| &mut account.flows[flow]) else { return };
        if let Transport::Tcp(connection) = &state.transport {
            let stats = connection.sender.stats();
            account.settle(now);
            account.note_reductions(stats, &readings);
            let limit = account.saturated(&readings, now);
            account.attribute(limit);
            account.open(now, connection.sender.srtt().unwrap_or_default());
        } else {
            account.open(now, Duration::ZERO);
        }
        account.readings = readings;
    }

    /// The devices on a flow's way now, with their readings.
    fn readings(&self, flow: FlowId) -> Vec<(Device, Reading)> {
        let state = &self.flows.table[flow];
        let way = self.way(state.from, state.to, state.addresses);
        way.into_iter().map(|device| (device, self.reading(device))).collect()
    }

    /// The run is over: the last intervals end.
    pub(in super::super) fn close_accounts(&mut self) {
        for flow in self.flows.table.ids() {
            let state = &self.flows.table[flow];
            let (is_tcp, counts) = (matches!(state.transport, Transport::Tcp(_)), state.counts.packets);
            if is_tcp {
                self.close_interval(flow);
                continue;
            }
            let spec = &self.spec.flows[flow.index()];
            let from = spec.start.max(self.flows.warm_up);
            let until = state.counts.completed.or(spec.stop).unwrap_or(self.end).min(self.end);
            let fills = !matches!(spec.source, airbraid_net::source::Source::Constant { .. });
            let (readings, now) = (self.readings(flow), self.host.now);
            let Some(account) = self.host.account.as_deref_mut() else { return };
            account.flows[flow].attribute_datagrams(&readings, (from, until, now), counts, fills);
        }
    }
}

impl FlowAccount {
    /// Remembers the reason for the last reduction of the window.
    fn note_reductions(&mut self, stats: &SenderStats, readings: &[(Device, Reading)]) {
        let reductions = stats.fast_retransmits + stats.timeouts;
        if reductions == self.reductions {
            return;
        }
        self.reductions = reductions;
        let trunk = readings.iter().map(|(device, _)| *device).find(|device| matches!(device, Device::LinkTrunk(_)));
        self.reduced_by = match most_frequent(&self.news) {
            Some(lost) => {
                Some(Blame { cause: Cause::of_drop(lost.reason), at: Some(lost.at), reason: Some(lost.reason) })
            }
            None => Some(Blame { cause: Cause::Reordering, at: trunk, reason: None }),
        };
        self.news.clear();
    }

    /// Adds up how busy the devices were, and gives the busiest if it was so throughout.
    fn saturated(&mut self, readings: &[(Device, Reading)], now: Instant) -> Option<Device> {
        let span = now.saturating_since(self.opened);
        let mut limit = None;
        let mut most = span.as_secs_f64() * SATURATED;
        for (device, reading) in readings {
            let Some((_, before)) = self.readings.iter().find(|(other, _)| other == device) else { continue };
            let busy = reading.since(*before, span);
            self.add_busy(*device, [span, busy]);
            if busy.as_secs_f64() > most {
                most = busy.as_secs_f64();
                limit = Some(*device);
            }
        }
        limit
    }

    fn add_busy(&mut self, device: Device, [span, busy]: [Duration; 2]) {
        match self.busy.iter_mut().find(|(other, _)| *other == device) {
            Some((_, [spans, sum])) => {
                *spans += span;
                *sum += busy;
            }
            None => self.busy.push((device, [span, busy])),
        }
    }

    /// Gives the time in each state of the sender to a cause.
    fn attribute(&mut self, saturated: Option<Device>) {
        const STATES: [SenderLimit; SenderLimit::COUNT - 1] = [
            SenderLimit::Handshake,
            SenderLimit::Application,
            SenderLimit::ReceiveWindow,
            SenderLimit::SendBuffer,
            SenderLimit::SlowStart,
            SenderLimit::CongestionWindow,
            SenderLimit::Recovery,
            SenderLimit::Timeout,
        ];
        for state in STATES {
            let time = self.times[state as usize];
            if time.is_zero() {
                continue;
            }
            let device = saturated.filter(|_| state != SenderLimit::Application);
            let blame = match device {
                Some(_) => Blame { cause: Cause::Busy, at: device, reason: None },
                None => self.blame_of(state),
            };
            self.blame(blame, time);
        }
    }

    /// The cause of a state where no device was saturated.
    fn blame_of(&self, state: SenderLimit) -> Blame {
        let reduced_by = || self.reduced_by.unwrap_or(Blame::of(Cause::CongestionWindow));
        match state {
            SenderLimit::Idle | SenderLimit::Application => Blame::of(Cause::Application),
            SenderLimit::ReceiveWindow => Blame::of(Cause::ReceiveWindow),
            SenderLimit::SendBuffer => Blame::of(Cause::SendBuffer),
            SenderLimit::SlowStart => Blame::of(Cause::SlowStart),
            SenderLimit::CongestionWindow | SenderLimit::Recovery | SenderLimit::Timeout => reduced_by(),
            SenderLimit::Handshake => self.reduced_by.unwrap_or(Blame::of(Cause::Handshake)),
        }
    }

    /// Gives the time of a flow of datagrams to causes, by the fates of its packets; `fills`: its source fills the
    /// queue that it meets first.
    fn attribute_datagrams(
        &mut self,
        readings: &[(Device, Reading)],
        (from, until, now): (Instant, Instant, Instant),
        counts: FlowCounts,
        fills: bool,
    ) {
        if self.readings.is_empty() {
            self.readings = readings.iter().map(|(device, _)| (*device, Reading::default())).collect();
        }
        let saturated = self.saturated(readings, now);
        let busiest = self.busy.iter().max_by_key(|(_, [_, busy])| *busy).map(|(device, _)| *device);
        let time = until.saturating_since(from);
        let sent = (counts.sent_packets as f64).max(1.0);
        let losses = std::mem::take(&mut self.losses);
        let share = |is: fn(Cause) -> bool| {
            let lost = losses.iter().filter(|lost| is(Cause::of_drop(lost.reason))).map(|lost| lost.count).sum::<u64>();
            (lost as f64 / sent).min(1.0)
        };
        let overflow = share(|cause| cause == Cause::Queue);
        let at = if fills { saturated.or(busiest) } else { saturated.filter(|_| overflow > OVERLOAD) };
        // Drops at the queue of a saturated device are not a cause of their own.
        for lost in losses.iter().filter(|lost| at.is_none() || Cause::of_drop(lost.reason) != Cause::Queue) {
            let blame = Blame { cause: Cause::of_drop(lost.reason), at: Some(lost.at), reason: Some(lost.reason) };
            self.blame(blame, part(time, lost.count as f64 / sent));
        }
        let lost = if at.is_none() { share(|_| true) } else { share(|cause| cause != Cause::Queue) };
        let cause = if at.is_some() { Cause::Busy } else { Cause::Application };
        self.blame(Blame { cause, at, reason: None }, part(time, 1.0 - lost));
        self.losses = losses;
    }
}

fn part(time: Duration, share: f64) -> Duration {
    Duration::from_nanos((time.as_nanos() as f64 * share.clamp(0.0, 1.0)) as u64)
}
