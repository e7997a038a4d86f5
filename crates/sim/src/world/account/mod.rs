//! The account of each flow's time: the state of its sender, and how busy the devices on its way were meanwhile.
//!
//! Time is added up where a sender takes a step, never for an event as such. It is divided into intervals of a round
//! trip or more, and at the end of each the time is given to causes (`attribute.rs`): a device on the way (`way.rs`)
//! that was busy throughout, or else what the sender waited for. It changes nothing in a run.
//! Equations and what is left out: `docs/models/limits.md`.

mod attribute;
mod flow;
mod gap;
mod result;
mod way;

use super::World;
use super::id::{FlowId, Id, LinkDirection, LinkTrunkEnd, MultiLinkEnd, NodeId, RadioId, RadioTrunkEnd, Table};
use super::packet::{Body, DropReason, Record};
use super::share::Things;
use crate::limits::Cause;
use airbraid_net::tcp::SenderLimit;
use airbraid_units::{Duration, Instant};
pub use flow::FlowAccount;

/// A place where a flow's packets wait, are sent or are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Device {
    Node(NodeId),
    Radio(RadioId),
    RadioTrunk(RadioTrunkEnd),
    LinkTrunk(LinkTrunkEnd),
    Link(LinkDirection),
    /// This end of a trunk of multi-link devices.
    MultiLink(MultiLinkEnd),
}

/// Time in which something waits at a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    waiting: u32,
    since: Instant,
    total: Duration,
}

impl Load {
    /// A packet more waits, or one fewer.
    fn change(&mut self, now: Instant, is_more: bool) {
        let waiting = if is_more { self.waiting + 1 } else { self.waiting.saturating_sub(1) };
        match (self.waiting, waiting) {
            (0, 1) => self.since = now,
            (1, 0) => self.total += now.saturating_since(self.since),
            _ => {}
        }
        self.waiting = waiting;
    }

    fn busy(&self, now: Instant) -> Duration {
        let open = if self.waiting > 0 { now.saturating_since(self.since) } else { Duration::ZERO };
        self.total + open
    }
}

/// Use of a device by each flow: airtime \[ns\] of a radio, bytes of a link.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// The first of the flows that have used it: most devices serve a few with numbers near to each other.
    first: usize,
    by_flow: Vec<u64>,
    all: u64,
}

impl Usage {
    #[inline]
    fn add(&mut self, flow: u16, amount: u64) {
        let place = self.place_for(usize::from(flow));
        self.by_flow[place] += amount;
        self.all += amount;
    }

    #[inline]
    fn place_for(&mut self, flow: usize) -> usize {
        match flow.checked_sub(self.first) {
            Some(place) if place < self.by_flow.len() => place,
            _ => self.widen(flow),
        }
    }

    #[cold]
    fn widen(&mut self, flow: usize) -> usize {
        if self.by_flow.is_empty() {
            self.first = flow;
        } else if flow < self.first {
            self.by_flow.splice(0..0, std::iter::repeat_n(0, self.first - flow));
            self.first = flow;
        }
        let place = flow - self.first;
        self.by_flow.resize(self.by_flow.len().max(place + 1), 0);
        place
    }

    fn of(&self, flow: FlowId) -> u64 {
        let place = flow.index().checked_sub(self.first);
        place.and_then(|place| self.by_flow.get(place)).copied().unwrap_or(0)
    }

    fn others(&self, flow: FlowId) -> u64 {
        self.all - self.of(flow)
    }
}

/// The account of a run.
#[derive(Debug, Default)]
pub struct Account {
    flows: Table<FlowId, FlowAccount>,
    /// Radios whose MAC does not count its idle time itself.
    radios: Table<RadioId, Load>,
    airtimes: Table<RadioId, Usage>,
    links: Table<LinkDirection, Usage>,
    bonds: Table<LinkTrunkEnd, Usage>,
    /// Whether several flows share the devices.
    is_shared: bool,
    /// An interval is never shorter.
    shortest: Duration,
}

/// An interval is never shorter: some ten packets at a megabit a second.
const SHORTEST: Duration = Duration::from_millis(100);

/// A run has at most this many intervals, so that their ends cost little next to its packets.
const INTERVALS_MAX: u64 = 1_000;

impl Account {
    /// The account of a run with this many flows that lasts for `duration`.
    pub fn new(flows: usize, duration: Duration) -> Self {
        let shortest = SHORTEST.max(duration / INTERVALS_MAX);
        let mut account = Self { is_shared: flows > 1, shortest, ..Self::default() };
        (0..flows).for_each(|_| {
            account.flows.push(FlowAccount::default());
        });
        account
    }

    /// Takes over the accounts of other nodes.
    pub fn take_over(&mut self, other: Self, things: &Things) {
        self.flows.take_over(other.flows, |flow| things.flows[flow]);
        take_devices(&mut self.radios, other.radios, &things.radios);
        take_devices(&mut self.airtimes, other.airtimes, &things.radios);
        take_devices(&mut self.links, other.links, &things.links);
        take_devices(&mut self.bonds, other.bonds, &things.link_trunks);
    }

    /// A sender has taken a step; tells whether its interval is over.
    #[inline]
    pub fn on_step(&mut self, now: Instant, flow: FlowId, limit: SenderLimit, by_timer: bool) -> bool {
        self.flows[flow].on_step(now, limit, by_timer)
    }

    /// Counting begins: what was before does not count.
    pub fn begin_counting(&mut self, now: Instant) {
        self.flows.iter_mut().for_each(|flow| flow.begin(now));
        let usages = self.airtimes.iter_mut().chain(self.links.iter_mut()).chain(self.bonds.iter_mut());
        usages.for_each(|usage| *usage = Usage::default());
    }

    /// A packet of a flow goes no further.
    #[cold]
    pub fn on_drop(&mut self, at: Device, packet: &Record, reason: DropReason) {
        // What an acknowledgement that was superseded told has come.
        let lost = self.flows.get_mut(packet.flow).filter(|_| reason != DropReason::Superseded);
        if let Some(flow) = lost {
            flow.on_drop(at, reason, !matches!(packet.body, Body::Ack(_)));
        }
    }

    /// A MAC has this many packets more, or fewer.
    pub fn on_radio(&mut self, now: Instant, radio: RadioId, is_more: bool) {
        self.radios.reach(radio, Load::default);
        self.radios[radio].change(now, is_more);
    }

    /// A frame with a packet of a flow goes on the air.
    #[inline]
    pub fn on_air(&mut self, radio: RadioId, flow: u16, airtime: Duration) {
        if self.is_shared {
            use_device(&mut self.airtimes, radio, flow, airtime.as_nanos());
        }
    }

    /// A packet of a flow goes to a trunk over links.
    #[inline]
    pub fn on_bond(&mut self, end: LinkTrunkEnd, flow: u16, len: u32) {
        if self.is_shared {
            use_device(&mut self.bonds, end, flow, u64::from(len));
        }
    }

    /// A packet of a flow goes to a link.
    #[inline]
    pub fn on_link(&mut self, link: LinkDirection, flow: u16, len: u32) {
        if self.is_shared {
            use_device(&mut self.links, link, flow, u64::from(len));
        }
    }
}

/// Takes rows of a table that is as long as the last device that was used.
fn take_devices<I: Id, T: Default>(own: &mut Table<I, T>, other: Table<I, T>, is_taken: &[bool]) {
    if let Some(last) = other.len().checked_sub(1) {
        own.reach(I::from_index(last), T::default);
    }
    own.take_over(other, |place| is_taken[place]);
}

fn use_device<I: Id>(table: &mut Table<I, Usage>, device: I, flow: u16, amount: u64) {
    table.reach(device, Usage::default);
    table[device].add(flow, amount);
}

impl World<'_> {
    /// From now on the run keeps an account of what limits each flow.
    pub fn keep_account(&mut self) {
        self.host.account = Some(Box::new(Account::new(self.flows.table.len(), self.spec.duration)));
    }
}

impl Cause {
    /// The cause that the loss of a packet is.
    fn of_drop(reason: DropReason) -> Self {
        match reason {
            DropReason::InterfaceQueueFull
            | DropReason::TrunkQueueFull
            | DropReason::SelectionQueueFull
            | DropReason::LinkQueueFull
            | DropReason::TrunkFifoFull
            | DropReason::LinkLayerQueueFull
            | DropReason::Managed
            | DropReason::Expired => Self::Queue,
            DropReason::RetryLimit
            | DropReason::DeliveryLoss
            | DropReason::Unheard
            | DropReason::LinkLoss
            | DropReason::RetransmissionLimit
            | DropReason::TooLong
            | DropReason::Damaged => Self::Losses,
            DropReason::TrunkLate | DropReason::TrunkStale | DropReason::Superseded => Self::Reordering,
            DropReason::NoRoute
            | DropReason::HopLimit
            | DropReason::Circled
            | DropReason::LinkBroken
            | DropReason::RouteBufferFull
            | DropReason::RouteTimeout
            | DropReason::AddressUnknown => Self::Route,
            DropReason::Down => Self::Down,
        }
    }
}
