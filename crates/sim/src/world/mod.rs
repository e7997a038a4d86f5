//! The world of one run: all machines, the medium between them, and the loop that drives them in virtual time.
//!
//! A run is a value: it has no global state, no thread, no clock but its own. Every machine is driven by
//! [`airbraid_engine::step`]; what a machine asks of another goes through a queue of pending work and is done when the
//! first has been drained, at the same instant. What is dated waits in the event queue, machines' wake-ups in a tree of
//! timers.

mod access;
mod alarms;
mod build;
mod change;
mod draw;
mod external;
mod flow;
mod kill;
mod link_layer;
mod medium;
mod multihomed;
mod network;
mod observe;
mod on_demand;
mod packet;
mod radio;
mod resolution;
mod results;
mod routing;
mod select;
mod slotted;
mod transport;
mod tunnel;
mod window;

pub use draw::drawn;
pub use external::{Delivery, External, Room};
pub use medium::Loss;
pub use observe::{FrameEvent, Observer};
pub use packet::{Body, DropReason, Msdu, PacketRef, Packets, Record};

use crate::phy::wear::WearProcess;
use crate::queue::{EventQueue, Phase};
use crate::scenario::spec::{RadioTrunk, Spec};
use access::Access;
use airbraid_engine::trunk::{bonding as engine_tunnel, paper as trunk};
use airbraid_engine::{converge, link};
use airbraid_mac::{Address, Damage, MacInput, Outcome};
use airbraid_net::aodv;
use airbraid_net::arp;
use airbraid_net::link::{Link, LinkOutput};
use airbraid_net::loss::LossProcess;
use airbraid_net::tcp::Segment;
use airbraid_units::Instant;
use alarms::{Alarms, Sleeper};
use flow::Flow;
use kill::Killers;
use link_layer::LinkLayer;
use medium::Medium;
use multihomed::Multihomed;
use on_demand::OnDemand;
use resolution::Unsent;
use routing::{NextHop, Routes};
use select::{Selection, SnrSamples};
use std::collections::VecDeque;
use window::WindowEnd;

/// What happens at an instant; numbers are indices into the tables of [`World`].
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A transmission begins to arrive at its next hearers.
    Beginning(u32),
    /// A transmission ends at its next hearers.
    Ending(u32),
    /// A flow's application starts.
    Start(u32),
    /// A flow's application stops.
    Stop(u32),
    /// A change of the scenario takes effect.
    Change(u32),
    /// A radio has changed its channel.
    Tuned(u32),
    /// Counting begins.
    WarmUpEnds,
    /// Values are sampled for the series.
    Sample,
}

/// Work that a machine's output asks for, done when that machine has been drained.
#[derive(Debug)]
enum Work {
    /// A MAC hands a packet up.
    MacDelivers { radio: u32, from: Address, msdu: Msdu },
    /// A MAC hands up what has come damaged.
    MacDeliversDamaged { radio: u32, from: Address, msdu: Msdu, damage: Damage },
    /// A radio finds energy on the channel to which it has changed.
    FoundBusy(u32),
    /// A MAC asks what to send to a neighbour.
    MacPulls { radio: u32, neighbour: Address },
    /// A MAC has finished with a packet.
    MacFinished { radio: u32, to: Address, msdu: Msdu, outcome: Outcome, attempts: u32 },
    /// A link layer's output; boxed, so that it does not make all work larger.
    LinkLayer(u32, Box<link::Output<link::Header, Msdu>>),
    /// The output of a plain link's link layer, boxed as well.
    WindowEnd(u32, Box<link::Output<link::WindowHeader, PacketRef>>),
    /// A trunk end's output.
    Trunk(u32, trunk::Output<PacketRef>),
    /// The output of what chooses among the members of a trunk end.
    Select(u32, Box<converge::select::Output<PacketRef>>),
    /// A tunnel end's output; boxed, so that it does not make all work larger.
    Tunnel(u32, Box<engine_tunnel::Output<PacketRef>>),
    /// A link direction's output.
    Link(u32, LinkOutput<PacketRef>),
    /// The output of a node's AODV.
    Router(u32, aodv::Output<PacketRef>),
    /// The output of a node's ARP.
    Resolver(u32, arp::Output<Unsent>),
    /// A flow's TCP sender sends a segment.
    SendData(u32, Segment),
    /// A flow's TCP receiver sends a segment.
    SendAck(u32, Segment),
    /// A flow's application writes a datagram.
    SendDatagram(u32),
    /// Greedy flows look whether an interface has room.
    Refill(NextHop),
}

/// What loses packets behind a MAC that has acknowledged them.
#[derive(Debug)]
enum LossBehind {
    /// As a link does.
    Link(LossProcess),
    /// By the distance of the sender.
    Wear(Box<WearProcess>),
}

/// A radio's MAC, and where it belongs.
#[derive(Debug)]
struct Station {
    mac: Access,
    node: u32,
    /// The link layers above it, by the peer's radio.
    link_layers: Vec<(Address, u32)>,
    /// The trunk ends and members that it serves, by the peer's radio.
    members: Vec<(Address, u32, u8)>,
    queue_limit: u32,
    /// Loses some of what the MAC hands up; most radios lose none.
    delivery_loss: Option<LossBehind>,
    collisions: u64,
    channel_errors: u64,
    /// With how much power the last frame came \[mW\].
    heard: f64,
    /// What is kept of SNR, where it is sampled.
    snr: Option<Box<SnrSamples>>,
}

impl Station {
    /// The link layer that leads to a peer's radio.
    #[inline]
    fn link_layer_towards(&self, peer: Address) -> Option<u32> {
        self.link_layers.iter().find(|(other, _)| *other == peer).map(|(_, end)| *end)
    }

    /// The trunk end and member that lead to a peer's radio.
    fn member_towards(&self, peer: Address) -> Option<(u32, u8)> {
        self.members.iter().find(|member| member.0 == peer).map(|member| (member.1, member.2))
    }
}

/// One end of a trunk.
#[derive(Debug)]
struct TrunkEnd<'a> {
    spec: &'a RadioTrunk,
    trunk: trunk::Trunk<PacketRef>,
    node: u32,
    /// For each member the radio and its peer.
    members: Vec<(u32, Address)>,
    overhead: u32,
    queue_limit: u32,
    hold_times: Vec<f64>,
    select: Option<Box<Selection>>,
}

/// One direction of a link.
#[derive(Debug)]
struct LinkEnd {
    link: Link<PacketRef>,
    to: u32,
    queue_limit: u32,
    /// The link layer that sends on it.
    window_end: Option<u32>,
    /// The tunnel end whose member it brings frames to.
    tunnel: Option<u32>,
}

/// Everything there is in one run.
#[derive(Debug)]
pub struct World<'a> {
    spec: &'a Spec,
    seed: u64,
    now: Instant,
    end: Instant,
    warm_up: Instant,
    queue: EventQueue<Event>,
    alarms: Alarms,
    pending: VecDeque<Work>,
    medium: Medium,
    stations: Vec<Station>,
    link_layers: Vec<LinkLayer>,
    window_ends: Vec<WindowEnd>,
    killers: Option<Box<Killers>>,
    trunks: Vec<TrunkEnd<'a>>,
    tunnels: Vec<tunnel::TunnelEnd<'a>>,
    links: Vec<LinkEnd>,
    routes: Routes,
    on_demand: Option<Box<OnDemand>>,
    /// Hosts with several access points; most scenarios have none.
    multihomed: Option<Box<Multihomed>>,
    flows: Vec<Flow>,
    /// Flows of datagrams that keep their interface's queue full.
    greedy_flows: Vec<u32>,
    /// Which of them is next.
    greedy_turn: usize,
    packets: Packets,
    observer: Option<Box<dyn Observer + 'a>>,
    /// What waits for an outside driver.
    outbox: external::Outbox,
    events: u64,
}

impl<'a> World<'a> {
    /// Runs to the end of the scenario; `on_progress` hears now and then how much is done, between 0 and 1, and
    /// answers whether to go on.
    ///
    /// # Errors
    /// `Interrupted` if it was told to stop.
    pub fn run(&mut self, on_progress: &mut dyn FnMut(f64) -> bool) -> Result<(), Interrupted> {
        // Some milliseconds of work between two reports.
        const REPORT_EVERY: u64 = 1 << 16;
        while let Some(at) = self.process_next(self.end) {
            if self.events.is_multiple_of(REPORT_EVERY)
                && !on_progress(at.as_secs_f64() / self.end.as_secs_f64().max(f64::MIN_POSITIVE))
            {
                return Err(Interrupted);
            }
        }
        self.now = self.end;
        Ok(())
    }

    /// Carries out the next event if it is not after `until`, and says when it was.
    fn process_next(&mut self, until: Instant) -> Option<Instant> {
        // Among simultaneous events the machines' timers come last in their phase, after what the scenario dates.
        let wakes_at = self.alarms.next_at();
        let sleeper_first = self.queue.next_is_after(wakes_at, Phase::Timer);
        let at = if sleeper_first { wakes_at } else { self.queue.next_at().unwrap_or(Instant::MAX) };
        if at > until || at == Instant::MAX {
            return None;
        }
        // An event that was carried out ahead of the driver's time may have moved the world a little beyond this one.
        self.now = self.now.max(at);
        self.events += 1;
        if sleeper_first {
            if let Some(sleeper) = self.alarms.ring(self.now) {
                self.wake(sleeper);
            }
        } else if let Some((_, event)) = self.queue.pop() {
            self.dispatch(event);
        }
        self.work_off();
        Some(at)
    }

    /// Carries out what machines have asked of each other.
    fn work_off(&mut self) {
        while let Some(work) = self.pending.pop_front() {
            self.carry_out(work);
        }
    }

    fn wake(&mut self, sleeper: Sleeper) {
        match sleeper {
            Sleeper::Mac(radio) => self.step_mac(radio, None),
            Sleeper::LinkLayer(end) => self.step_link_layer(end, None),
            Sleeper::WindowEnd(end) => self.step_window_end(end, None),
            Sleeper::Trunk(end) => self.step_trunk(end, None),
            Sleeper::Select(end) => self.step_select(end, None),
            Sleeper::Tunnel(end) => self.step_tunnel(end, None),
            Sleeper::Link(direction) => self.step_link(direction, None),
            Sleeper::Router(node) => self.step_router(node, None),
            Sleeper::Sender(flow) => self.step_sender(flow, None),
            Sleeper::Receiver(flow) => self.step_receiver(flow, None),
            Sleeper::Application(flow) => self.step_application(flow, None),
        }
    }

    fn dispatch(&mut self, event: Event) {
        match event {
            Event::Beginning(transmission) => self.on_beginning(transmission),
            Event::Ending(transmission) => self.on_ending(transmission),
            Event::Start(flow) => self.start_flow(flow),
            Event::Stop(flow) => self.stop_flow(flow),
            Event::Change(index) => self.change(index),
            Event::Tuned(radio) => self.on_tuned(radio),
            Event::WarmUpEnds => self.begin_counting(),
            Event::Sample => self.sample(),
        }
    }

    fn carry_out(&mut self, work: Work) {
        match work {
            Work::MacDelivers { radio, from, msdu } => self.on_mac_delivery(radio, from, msdu),
            Work::MacDeliversDamaged { radio, from, msdu, damage } => {
                self.on_damaged_delivery(radio, from, msdu, damage);
            }
            Work::FoundBusy(radio) => self.step_mac(radio, Some(MacInput::Busy)),
            Work::MacPulls { radio, neighbour } => self.on_pull(radio, neighbour),
            Work::MacFinished { radio, to, msdu, outcome, attempts } => {
                self.on_mac_finished(radio, to, msdu, outcome, attempts);
            }
            Work::LinkLayer(end, output) => self.on_link_layer_output(end, *output),
            Work::WindowEnd(end, output) => self.on_window_output(end, *output),
            Work::Trunk(end, output) => self.on_trunk_output(end, output),
            Work::Select(end, output) => self.on_select_output(end, *output),
            Work::Tunnel(end, output) => self.on_tunnel_output(end, *output),
            Work::Link(direction, output) => self.on_link_output(direction, output),
            Work::Router(node, output) => self.on_router_output(node, output),
            Work::Resolver(node, output) => self.on_resolver_output(node, output),
            Work::SendData(flow, segment) => self.send_data(flow, segment),
            Work::SendAck(flow, segment) => self.send_ack(flow, segment),
            Work::SendDatagram(flow) => self.send_datagram(flow),
            Work::Refill(interface) => self.refill_one(interface),
        }
    }

    /// Gives up a packet, with the reason.
    fn drop_packet(&mut self, node: u32, packet: PacketRef, reason: DropReason) {
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.on_drop(self.now, node, self.packets.get(packet), reason);
        }
        self.packets.drop_for(packet, reason);
    }
}

/// A run was told to stop before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was interrupted")]
pub struct Interrupted;
