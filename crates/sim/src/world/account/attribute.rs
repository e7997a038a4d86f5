//! The end of an interval: its time is given to causes.

use super::super::World;
use super::super::flow::{Flow, Transport};
use super::super::id::FlowId;
use super::super::packet::DropReason;
use super::Device;
use super::flow::{Blame, FlowAccount, Lost, most_frequent, part};
use super::way::Reading;
use crate::limits::Cause;
use crate::result::FlowCounts;
use airbraid_net::tcp::{SenderLimit, SenderStats};
use airbraid_units::{Duration, Instant};

/// A device that is busy for at least this share of the time is the limit of datagrams: a source of twice the rate
/// would get less than a ninth more.
const SATURATED: f64 = 0.9;

/// The share of an interval from which on a busy device limits a window lies between these two. The lower one: a
/// sawtooth of Reno leaves three quarters of a link without a queue. The upper one: delayed acknowledgements leave gaps
/// at any link.
const THRESHOLDS: [f64; 2] = [0.8, 0.98];

/// Datagrams of a constant rate exceed a device from this share of drops at full queues on; fewer are bursts.
const OVERLOAD: f64 = 0.01;

/// The part of what a source has written that counts as all: the rest is on its way.
const ALL: f64 = 0.98;

impl World<'_> {
    /// An interval of a flow is over: its time is given to causes, and the next begins.
    pub(in super::super) fn close_interval(&mut self, flow: FlowId) {
        let now = self.host.now;
        let readings = self.readings(flow);
        let state = &self.flows.table[flow];
        let Some(whole) = self.host.account.as_deref_mut() else { return };
        let (account, shortest) = (&mut whole.flows[flow], whole.shortest);
        if let Transport::Tcp(connection) = &state.transport {
            let stats = connection.sender.stats();
            account.settle(now);
            account.note_reductions(stats, &readings);
            let waiting = account.waiting(stats);
            let busiest = account.busiest(&readings, now);
            let offered = connection.sender.offered().as_u64().max(1) as f64;
            let window = (connection.sender.cwnd().as_u64() as f64 / offered).min(1.0);
            account.attribute(busiest, (1.0 - waiting / 2.0).clamp(THRESHOLDS[0], THRESHOLDS[1]), window);
            account.open(now, connection.sender.srtt().map(|round_trip| round_trip.max(shortest)));
        } else {
            account.open(now, None);
        }
        account.readings = readings;
    }

    /// The devices on a flow's way now, with their readings.
    fn readings(&self, flow: FlowId) -> Vec<(Device, Reading)> {
        let state = &self.flows.table[flow];
        let way = self.way(state.from, state.to, state.addresses);
        way.iter().map(|device| (*device, self.reading(*device, &way))).collect()
    }

    /// The run is over: the last intervals end.
    pub(in super::super) fn close_accounts(&mut self) {
        if self.host.account.is_none() {
            return;
        }
        self.find_gaps();
        for flow in self.flows.table.ids() {
            if let Transport::Tcp(_) = self.flows.table[flow].transport {
                self.close_interval(flow);
                if self.is_all_delivered(flow)
                    && let Some(account) = &mut self.host.account
                {
                    account.flows[flow].blame_application();
                }
                continue;
            }
            let (readings, now) = (self.readings(flow), self.host.now);
            let run = self.datagrams(flow, &readings);
            let Some(account) = self.host.account.as_deref_mut() else { return };
            account.flows[flow].attribute_datagrams(&readings, now, &run);
        }
    }

    /// Says of flows of which nothing has arrived whether any way leads to their ends, as all stand now.
    fn find_gaps(&mut self) {
        let flows = self.flows.table.pairs();
        let of_none = |(id, flow): (FlowId, &Flow)| (flow.counts.packets.delivered_bytes == 0).then_some(id);
        let silent: Vec<FlowId> = flows.filter_map(of_none).collect();
        if silent.is_empty() {
            return;
        }
        let neighbours = self.ports.neighbours(self.spec, &self.radio_map, &mut self.host.medium);
        for flow in silent {
            let gap = self.gap(flow, &neighbours);
            if let Some(account) = &mut self.host.account {
                account.flows[flow].gap = gap;
            }
        }
    }

    /// Whether all that a source with a rate has written has arrived: then nothing but the source is the limit,
    /// whatever TCP waited for between two writes.
    fn is_all_delivered(&self, flow: FlowId) -> bool {
        let (spec, counts) = (&self.spec.flows[flow.index()], &self.flows.table[flow].counts);
        let Some(rate) = spec.source.rate() else { return false };
        let until = counts.completed.or(spec.stop).unwrap_or(self.end).min(self.end);
        let time = until.saturating_since(spec.start.max(self.flows.warm_up));
        let written = rate.as_bps() as f64 / 8.0 * time.as_secs_f64();
        counts.packets.delivered_bytes as f64 >= ALL * written
    }

    fn datagrams(&self, flow: FlowId, readings: &[(Device, Reading)]) -> Datagrams {
        let (spec, counts) = (&self.spec.flows[flow.index()], &self.flows.table[flow].counts);
        let until = counts.completed.or(spec.stop).unwrap_or(self.end).min(self.end);
        let own = readings.iter().map(|(device, _)| (*device, 1.0 - self.part_of_others(flow, *device)));
        Datagrams {
            time: until.saturating_since(spec.start.max(self.flows.warm_up)),
            counts: counts.packets,
            fills: spec.source.rate().is_none(),
            own: own.collect(),
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
        let is_trunk = |device: &Device| matches!(device, Device::LinkTrunk(_) | Device::RadioTrunk(_));
        let trunk = readings.iter().map(|(device, _)| *device).find(is_trunk);
        self.reduced_by = match most_frequent(&self.news) {
            // A trunk drops so that a flow slows down: its members carry no more.
            Some(Lost { at, reason: DropReason::Managed, .. }) => Some(Blame::busy(Some((*at, 1.0)))),
            Some(lost) => {
                Some(Blame { cause: Cause::of_drop(lost.reason), at: Some(lost.at), reason: Some(lost.reason) })
            }
            None => Some(Blame { cause: Cause::Reordering, at: trunk, reason: None }),
        };
        self.news.clear();
    }

    /// The share of its round trips that a packet waited in queues or was serialised, as far as the shortest round trip
    /// tells: that of the handshake, in most cases.
    ///
    /// A window of twice the size would gain the idle time of the device, a device of twice the rate half of this
    /// share: they are equal where the device is busy for all but half of this share.
    fn waiting(&mut self, stats: &SenderStats) -> f64 {
        let samples = stats.rtt_samples - self.round_trips.0;
        let sum = stats.rtt_sum - self.round_trips.1;
        self.round_trips = (stats.rtt_samples, stats.rtt_sum);
        if samples > 0 {
            self.round_trip = sum / samples;
            self.shortest = if self.shortest.is_zero() { self.round_trip } else { self.shortest.min(self.round_trip) };
        }
        if self.round_trip.is_zero() {
            return 0.0;
        }
        1.0 - self.shortest.as_secs_f64() / self.round_trip.as_secs_f64()
    }

    /// Adds up how busy the devices were, and gives the busiest with its share.
    fn busiest(&mut self, readings: &[(Device, Reading)], now: Instant) -> Option<(Device, f64)> {
        let span = now.saturating_since(self.opened);
        let mut busiest: Option<(Device, f64)> = None;
        for (device, reading) in readings {
            let Some((_, before)) = self.readings.iter().find(|(other, _)| other == device) else { continue };
            let busy = reading.since(*before, span);
            self.add_busy(*device, [span, busy]);
            let share = busy.as_secs_f64() / span.as_secs_f64().max(f64::MIN_POSITIVE);
            // A trunk whose members are all busy stands for them: it comes before them on the way.
            let stands_for = matches!(
                busiest,
                Some((Device::RadioTrunk(_) | Device::MultiLink(_), most)) if most >= THRESHOLDS[0]
            );
            if busiest.is_none_or(|(_, most)| share > most && !(stands_for && matches!(device, Device::Radio(_)))) {
                busiest = Some((*device, share));
            }
        }
        busiest
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

    /// Gives the time in each state of the sender to a cause; `window`: the congestion window as a part of the offered
    /// one, beyond which it would gain nothing.
    fn attribute(&mut self, busiest: Option<(Device, f64)>, threshold: f64, window: f64) {
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
        let busy = busiest.map_or(0.0, |(_, busy)| busy);
        for state in STATES {
            let time = self.times[state as usize];
            if time.is_zero() {
                continue;
            }
            if busy >= threshold && state != SenderLimit::Application {
                self.blame(Blame::busy(busiest), time, 1.0 - busy);
                continue;
            }
            let blame = self.blame_of(state);
            let is_offered = !matches!(
                state,
                SenderLimit::SlowStart | SenderLimit::CongestionWindow | SenderLimit::Recovery | SenderLimit::Timeout
            );
            let idle = if is_offered { 1.0 - busy } else { 1.0 - busy.max(window) };
            // A longer queue would fill the time in which its device was idle, and no more.
            if blame.cause == Cause::Queue && blame.at == busiest.map(|(device, _)| device) {
                self.blame(Blame::busy(busiest), part(time, busy), 0.0);
                self.blame(blame, part(time, 1.0 - busy), idle / (1.0 - busy).max(f64::MIN_POSITIVE));
            } else {
                self.blame(blame, time, idle);
            }
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

    /// Gives the time of a flow of datagrams to causes, by the fates of its packets.
    fn attribute_datagrams(&mut self, readings: &[(Device, Reading)], now: Instant, run: &Datagrams) {
        if self.readings.is_empty() {
            self.readings = readings.iter().map(|(device, _)| (*device, Reading::default())).collect();
        }
        let busiest = self.busiest(readings, now);
        let (device, busy) = busiest.unzip();
        let (busy, idle) = (busy.unwrap_or(0.0), 1.0 - busy.unwrap_or(0.0));
        let sent = (run.counts.sent_packets as f64).max(1.0);
        let losses = std::mem::take(&mut self.losses);
        let lost = |is_overflow: bool| {
            let of_kind = losses.iter().filter(|lost| (Cause::of_drop(lost.reason) == Cause::Queue) == is_overflow);
            (of_kind.map(|lost| lost.count).sum::<u64>() as f64 / sent).min(1.0)
        };
        let overflow = lost(true);
        let at = device.filter(|_| run.fills || (busy >= SATURATED && overflow > OVERLOAD));
        // Drops at the queue of a saturated device are not a cause of their own.
        for lost in losses.iter().filter(|lost| at.is_none() || Cause::of_drop(lost.reason) != Cause::Queue) {
            let blame = Blame { cause: Cause::of_drop(lost.reason), at: Some(lost.at), reason: Some(lost.reason) };
            self.blame(blame, part(run.time, lost.count as f64 / sent), 1.0);
        }
        let arrived = 1.0 - lost(false);
        let of_device = at.map_or(0.0, |at| {
            // Nobody gets more of a device than there is. Who uses little of a link gets more by sending more; a
            // station does not, for the medium is shared by stations and not by packets.
            let own = run.own.iter().find(|(device, _)| *device == at).map_or(1.0, |(_, own)| *own);
            if run.fills || matches!(at, Device::Radio(_) | Device::MultiLink(_)) { 1.0 } else { overflow.max(own) }
        });
        let of_source = if at.is_some() { arrived * (1.0 - of_device) } else { arrived - overflow };
        self.blame(Blame::busy(busiest), part(run.time, arrived * of_device), idle);
        self.blame(Blame::of(Cause::Application), part(run.time, of_source), idle);
        self.losses = losses;
    }
}

/// A flow of datagrams over the whole run.
struct Datagrams {
    /// Counted time.
    time: Duration,
    counts: FlowCounts,
    /// Whether the source fills the queue that it meets first.
    fills: bool,
    /// The flow's part in the use of each device.
    own: Vec<(Device, f64)>,
}
