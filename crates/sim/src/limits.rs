//! The limits of a flow: which causes its time is divided among, and the line that says so.
//!
//! `docs/models/limits.md` says how the time is divided.

use airbraid_units::{metrics, named_enum};
use serde::Serialize;

named_enum! {
    /// A cause that limits a flow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Cause {
        /// The source had nothing to send.
        Application = "application",
        /// The receiver offered no more.
        ReceiveWindow = "receive_window",
        /// The send buffer held no more.
        SendBuffer = "send_buffer",
        /// The congestion window had not grown yet.
        SlowStart = "slow_start",
        /// The congestion window, by TCP's own rules.
        CongestionWindow = "congestion_window",
        /// The connection was not open.
        Handshake = "handshake",
        /// A link or trunk was busy with the flow's own packets.
        Rate = "rate",
        /// A radio's medium was busy with the flow's own frames.
        Airtime = "airtime",
        /// A device was busy with the packets of other flows.
        OtherFlows = "other_flows",
        /// A radio was busy with frames that it sent again.
        Retries = "retries",
        /// A link of a multi-link device had nothing to send, for the window of the device was full.
        BlockAckWindow = "block_ack_window",
        /// The radio was away from its access point.
        Slots = "slots",
        /// Packets were dropped at a full queue whose device fell idle later.
        Queue = "queue",
        /// Packets were lost.
        Losses = "losses",
        /// Packets out of order were taken for lost.
        Reordering = "reordering",
        /// There was no route.
        Route = "route",
        /// A link or radio was switched off.
        Down = "down",
        /// A device was busy; the result divides this among the others.
        Busy = "busy",
    }
}

impl Cause {
    /// The cause of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.name() == name)
    }
}

metrics! {
    /// Shares of the time by what limited a flow; their sum is 1 where anything did.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
    pub struct LimitShares {
        /// Share of the time in which the flow had nothing to send.
        pub limited_by_application: f64 = gauge,
        /// Share of the time in which TCP's receiver offered no more window, while no device on the way was busy
        /// throughout.
        pub limited_by_receive_window: f64 = gauge,
        /// Share of the time in which TCP's send buffer was full, likewise.
        pub limited_by_send_buffer: f64 = gauge,
        /// Share of the time in which the congestion window was full and had never been reduced, likewise.
        pub limited_by_slow_start: f64 = gauge,
        /// Share of the time in which the congestion window was full by TCP's own rules, likewise.
        pub limited_by_congestion_window: f64 = gauge,
        /// Share of the time before the connection was open.
        pub limited_by_handshake: f64 = gauge,
        /// Share of the time in which a link or trunk on the way was busy throughout, with the flow's own packets.
        pub limited_by_rate: f64 = gauge,
        /// Share of the time in which a radio on the way was busy throughout, with the flow's own frames and the gaps
        /// between them.
        pub limited_by_airtime: f64 = gauge,
        /// Share of the time in which such a link, trunk or radio was busy with other flows.
        pub limited_by_other_flows: f64 = gauge,
        /// Share of the time in which such a radio was busy with the flow's retransmitted frames.
        pub limited_by_retries: f64 = gauge,
        /// Share of the time in which links of a multi-link device on the way stood still, for the device's window was
        /// full; a link counts by its rate. Absent where no such device is on the way.
        pub limited_by_block_ack_window: Option<f64> = gauge,
        /// Share of the time in which the radio was away from the access point that the flow uses.
        pub limited_by_slots: f64 = gauge,
        /// Share of the time in which the congestion window was small after drops at a queue whose device did not stay
        /// busy; of datagrams the share dropped there.
        pub limited_by_queue: f64 = gauge,
        /// Share of the time in which the congestion window was small, or a timer ran, after losses on a link or
        /// radio; of datagrams the share lost so.
        pub limited_by_losses: f64 = gauge,
        /// The same after packets that came out of order and were not lost.
        pub limited_by_reordering: f64 = gauge,
        /// The same after packets for which there was no route.
        pub limited_by_route: f64 = gauge,
        /// The same after packets lost at a link or radio that was switched off.
        pub limited_by_down: f64 = gauge,
    }
}

impl LimitShares {
    /// The share of a cause.
    pub fn of(&mut self, cause: Cause) -> &mut f64 {
        match cause {
            Cause::Application => &mut self.limited_by_application,
            Cause::ReceiveWindow => &mut self.limited_by_receive_window,
            Cause::SendBuffer => &mut self.limited_by_send_buffer,
            Cause::SlowStart => &mut self.limited_by_slow_start,
            Cause::CongestionWindow => &mut self.limited_by_congestion_window,
            Cause::Handshake => &mut self.limited_by_handshake,
            Cause::Rate | Cause::Busy => &mut self.limited_by_rate,
            Cause::Airtime => &mut self.limited_by_airtime,
            Cause::OtherFlows => &mut self.limited_by_other_flows,
            Cause::Retries => &mut self.limited_by_retries,
            Cause::BlockAckWindow => self.limited_by_block_ack_window.get_or_insert(0.0),
            Cause::Slots => &mut self.limited_by_slots,
            Cause::Queue => &mut self.limited_by_queue,
            Cause::Losses => &mut self.limited_by_losses,
            Cause::Reordering => &mut self.limited_by_reordering,
            Cause::Route => &mut self.limited_by_route,
            Cause::Down => &mut self.limited_by_down,
        }
    }
}

/// One limit of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limit {
    /// The cause's name.
    pub cause: &'static str,
    /// The place: `link wan, a to b`; empty for what is in the end host.
    pub place: String,
    /// Share of the counted time.
    pub share: f64,
    /// The part of this share in which the busiest device on the way was idle: no remedy gives back more.
    pub idle: f64,
    /// Further facts: the reason of losses, the window, the distance.
    pub detail: String,
}

/// A device on a flow's way.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OnTheWay {
    pub place: String,
    /// Share of the counted time in which it was busy.
    pub busy: f64,
}

/// The limits of a flow, with places.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowLimits {
    /// The line of this run.
    pub text: String,
    /// The largest first.
    pub causes: Vec<Limit>,
    /// Devices on the way, in its order, there and back.
    pub way: Vec<OnTheWay>,
}

/// Limits below this share are left out of a line that has others.
const SHOWN: f64 = 0.05;

/// The most that a line names.
const NAMED: usize = 3;

/// The limits of one flow over its runs, in words; empty where nothing is known.
pub fn line(runs: &[&FlowLimits]) -> String {
    let limits = by_gain(joined(means(runs)));
    let shown = limits.iter().enumerate().filter(|(place, limit)| *place == 0 || limit.share >= SHOWN).take(NAMED);
    shown.map(|(_, limit)| words(limit)).collect::<Vec<_>>().join("; ")
}

/// The limit that a flow's line names first.
pub fn first(runs: &[&FlowLimits]) -> Option<Limit> {
    by_gain(joined(means(runs))).into_iter().next()
}

/// All limits of one flow over its runs, the largest first: for each the share and the words.
pub fn rows(runs: &[&FlowLimits]) -> Vec<[String; 2]> {
    means(runs).iter().map(|limit| [percent(limit.share), with_detail(named(limit), limit)]).collect()
}

/// The devices on a flow's way over its runs: for each how busy it was, and its name.
pub fn way(runs: &[&FlowLimits]) -> Vec<[String; 2]> {
    let mut all: Vec<(&str, f64, f64)> = Vec::new();
    for device in runs.iter().flat_map(|limits| &limits.way) {
        match all.iter_mut().find(|(place, ..)| *place == device.place) {
            Some((_, busy, count)) => (*busy, *count) = (*busy + device.busy, *count + 1.0),
            None => all.push((&device.place, device.busy, 1.0)),
        }
    }
    all.iter().map(|(place, busy, count)| [percent(busy / count), (*place).to_owned()]).collect()
}

/// Each limit of one flow with the means over its runs, the largest share first.
pub fn means(runs: &[&FlowLimits]) -> Vec<Limit> {
    let mut all: Vec<Limit> = Vec::new();
    for limit in runs.iter().flat_map(|limits| &limits.causes) {
        match all.iter_mut().find(|other| (other.cause, &other.place) == (limit.cause, &limit.place)) {
            Some(other) => (other.share, other.idle) = (other.share + limit.share, other.idle + limit.idle),
            None => all.push(limit.clone()),
        }
    }
    let count = runs.len().max(1) as f64;
    all.iter_mut().for_each(|limit| (limit.share, limit.idle) = (limit.share / count, limit.idle / count));
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    all
}

/// The same with one for all radios of a way: along a chain they share one medium, and take turns at being the busiest.
fn joined(limits: Vec<Limit>) -> Vec<Limit> {
    let mut all: Vec<(Limit, usize)> = Vec::new();
    for limit in limits {
        let cause = Cause::of_name(limit.cause);
        let of_medium =
            matches!(cause, Some(Cause::Airtime | Cause::OtherFlows | Cause::Retries | Cause::BlockAckWindow));
        let is_radio = of_medium && limit.place.contains("radio");
        let same =
            |(other, _): &&mut (Limit, usize)| is_radio && other.cause == limit.cause && other.place.contains("radio");
        match all.iter_mut().find(same) {
            Some((other, count)) => {
                (other.share, other.idle, *count) = (other.share + limit.share, other.idle + limit.idle, *count + 1);
            }
            None => all.push((limit, 1)),
        }
    }
    let named = |(mut limit, count): (Limit, usize)| {
        if count > 1 {
            limit.place = format!("{} and {} more", limit.place, count - 1);
        }
        limit
    };
    all.into_iter().map(named).collect()
}

/// The same, the one first whose remedy is expected to gain most.
fn by_gain(all: Vec<Limit>) -> Vec<Limit> {
    let gains: Vec<f64> = all.iter().map(|limit| gain(limit, &all)).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| gains[*b].total_cmp(&gains[*a]));
    order.into_iter().map(|place| all[place].clone()).collect()
}

/// The part of a doubled rate that is of use. On a radio preambles, gaps and acknowledgements stay: 0.6 at 11 Mbit/s to
/// 0.9 at 1 or 2 Mbit/s (1500 byte, 802.11b). On a link TCP leaves up to a quarter unused as the queue gets short
/// next to twice the product of rate and delay.
const USED: f64 = 0.8;

/// The share of the time that a remedy is expected to give back: half where it doubles something (a window, a source, a
/// rate, which all that a device carries gains from), the whole where it takes something away; but no more than the
/// busiest device on the way was idle.
fn gain(limit: &Limit, all: &[Limit]) -> f64 {
    let Some(cause) = Cause::of_name(limit.cause) else { return limit.share };
    match cause {
        Cause::Rate | Cause::Airtime | Cause::Busy => {
            let is_radio = cause == Cause::Airtime;
            let served = [Cause::Rate, Cause::Airtime, Cause::OtherFlows, Cause::Retries];
            let is_served = |other: &&Limit| {
                let is_here = other.place == limit.place || is_radio && other.place.contains("radio");
                is_here && Cause::of_name(other.cause).is_some_and(|cause| served.contains(&cause))
            };
            all.iter().filter(is_served).map(|other| other.share).sum::<f64>() * USED / 2.0
        }
        Cause::Application => limit.share / 2.0,
        Cause::ReceiveWindow | Cause::SendBuffer | Cause::CongestionWindow => limit.idle.min(limit.share / 2.0),
        Cause::SlowStart | Cause::Queue | Cause::Losses | Cause::Reordering => limit.idle,
        Cause::Handshake
        | Cause::OtherFlows
        | Cause::Retries
        | Cause::BlockAckWindow
        | Cause::Slots
        | Cause::Route
        | Cause::Down => limit.share,
    }
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        share if share > 0.0 && share < 1.0 => "< 1 %".to_owned(),
        share => format!("{share:.0} %"),
    }
}

/// `the receive window 93 % (65535 byte)`.
fn words(limit: &Limit) -> String {
    with_detail(format!("{} {}", named(limit), percent(limit.share)), limit)
}

fn with_detail(text: String, limit: &Limit) -> String {
    if limit.detail.is_empty() { text } else { format!("{text} ({})", limit.detail) }
}

fn named(limit: &Limit) -> String {
    let Limit { cause, place, .. } = limit;
    match Cause::of_name(cause) {
        Some(Cause::Application) => "its application".to_owned(),
        Some(Cause::ReceiveWindow) => "the receive window".to_owned(),
        Some(Cause::SendBuffer) => "the send buffer".to_owned(),
        Some(Cause::SlowStart) => "slow start".to_owned(),
        Some(Cause::CongestionWindow) => "the congestion window".to_owned(),
        Some(Cause::Handshake) => "the handshake".to_owned(),
        Some(Cause::Rate | Cause::Busy) | None => format!("the rate of {place}"),
        Some(Cause::Airtime) => format!("the medium of {place}"),
        Some(Cause::OtherFlows) => format!("other flows at {place}"),
        Some(Cause::Retries) => format!("retries at {place}"),
        Some(Cause::BlockAckWindow) => format!("the full block acknowledgement window at {place}"),
        Some(Cause::Slots) => format!("slots away from {place}"),
        Some(Cause::Queue) => format!("the queue of {place}"),
        Some(Cause::Losses) => format!("losses at {place}"),
        Some(Cause::Reordering) if place.is_empty() => "reordering".to_owned(),
        Some(Cause::Reordering) => format!("reordering at {place}"),
        Some(Cause::Route) => "no route".to_owned(),
        Some(Cause::Down) => format!("{place}, which was down,"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Cause, FlowLimits, Limit, first, line, rows};

    fn limits(causes: &[(Cause, &str, f64, f64)]) -> FlowLimits {
        let limit = |(cause, place, share, idle): &(Cause, &str, f64, f64)| Limit {
            cause: cause.name(),
            place: (*place).to_owned(),
            share: *share,
            idle: *idle,
            detail: String::new(),
        };
        FlowLimits { causes: causes.iter().map(limit).collect(), ..FlowLimits::default() }
    }

    #[test]
    fn a_line_has_means_over_the_runs_and_leaves_out_what_is_small() {
        let one = limits(&[(Cause::ReceiveWindow, "", 0.9, 0.5), (Cause::SlowStart, "", 0.1, 0.1)]);
        let other = limits(&[(Cause::ReceiveWindow, "", 1.0, 0.5)]);
        assert_eq!(line(&[&one, &other]), "the receive window 95 %; slow start 5 %");
        assert_eq!(line(&[&other]), "the receive window 100 %");
        assert_eq!(rows(&[&one])[1], ["10 %".to_owned(), "slow start".to_owned()]);
        assert_eq!(line(&[]), "");
    }

    #[test]
    fn the_first_named_is_the_one_whose_removal_gains_most() {
        // Without the others the link's time is all the flow's; a link of twice the rate would give back half.
        let shared = limits(&[(Cause::Rate, "link a", 0.45, 0.0), (Cause::OtherFlows, "link a", 0.55, 0.0)]);
        assert_eq!(first(&[&shared]).unwrap().cause, "other_flows");
        // Losses that keep the window small cost nothing where the link is busy all the same.
        let lossy = limits(&[(Cause::Losses, "link a", 0.6, 0.1), (Cause::Rate, "link a", 0.4, 0.0)]);
        assert_eq!(first(&[&lossy]).unwrap().cause, "rate");
    }

    #[test]
    fn the_radios_of_a_chain_stand_together() {
        let chain = limits(&[
            (Cause::Airtime, "b's radio", 0.3, 0.0),
            (Cause::ReceiveWindow, "", 0.4, 0.3),
            (Cause::Airtime, "a's radio", 0.3, 0.0),
        ]);
        assert_eq!(line(&[&chain]), "the medium of b's radio and 1 more 60 %; the receive window 40 %");
    }
}
