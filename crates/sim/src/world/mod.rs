//! The world of one run: all machines, the medium between them, and the loop that drives them in virtual time.
//!
//! A run is a value: it has no global state, no thread, no clock but its own. Every machine is driven by
//! [`airbraid_engine::step`]; what a machine asks of another goes through a queue of pending work and is done when the
//! first has been drained, at the same instant. A machine's wake-up is armed lazily: an event that comes too early, the
//! timer having been moved meanwhile, only arms the next one.

mod build;
mod change;
mod flow;
mod medium;
mod network;
mod observe;
mod packet;
mod radio;
mod results;
mod routing;
mod transport;

pub use medium::Loss;
pub use observe::{FrameEvent, Observer};
pub use packet::{Body, DropReason, Msdu, PacketRef, Packets, Record};

use crate::queue::{EventQueue, Phase};
use crate::scenario::spec::Spec;
use airbraid_engine::{Wake, trunk};
use airbraid_mac::dcf::Dcf;
use airbraid_mac::{Address, Outcome};
use airbraid_net::link::{Link, LinkOutput};
use airbraid_net::tcp::Segment;
use airbraid_units::Instant;
use flow::Flow;
use medium::Medium;
use routing::{NextHop, Routes};
use std::collections::VecDeque;

/// What happens at an instant; numbers are indices into the tables of [`World`].
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A transmission begins to arrive at its next hearers.
    Beginning(u32),
    /// A transmission ends at its next hearers.
    Ending(u32),
    /// A MAC's timer.
    Mac(u32),
    /// A trunk end's timer.
    Trunk(u32),
    /// A link direction's timer.
    Link(u32),
    /// The timer of a flow's TCP sender.
    Sender(u32),
    /// The timer of a flow's TCP receiver.
    Receiver(u32),
    /// The timer of a flow's application.
    Application(u32),
    /// A flow's application starts.
    Start(u32),
    /// A flow's application stops.
    Stop(u32),
    /// A change of the scenario takes effect.
    Change(u32),
    /// Counting begins.
    WarmUpEnds,
    /// Values are sampled for the series.
    Sample,
}

/// Work that a machine's output asks for, done when that machine has been drained.
#[derive(Debug)]
enum Work {
    /// A MAC hands a packet up.
    MacDelivers { radio: u32, msdu: Msdu },
    /// A MAC has finished with a packet.
    MacFinished { radio: u32, msdu: Msdu, outcome: Outcome },
    /// A trunk end's output.
    Trunk(u32, trunk::Output<PacketRef>),
    /// A link direction's output.
    Link(u32, LinkOutput<PacketRef>),
    /// A flow's TCP sender sends a segment.
    SendData(u32, Segment),
    /// A flow's TCP receiver sends a segment.
    SendAck(u32, Segment),
    /// A flow's application writes a datagram.
    SendDatagram(u32),
    /// Greedy flows look whether an interface has room.
    Refill(NextHop),
}

/// The event that will wake a machine, if one is armed.
#[derive(Clone, Copy, Debug)]
struct Alarm(Instant);

impl Alarm {
    const OFF: Self = Self(Instant::MAX);

    /// Arms `event` for a machine's wake-up, unless an earlier one is armed already.
    fn arm(&mut self, queue: &mut EventQueue<Event>, wake: Option<Wake>, event: Event) {
        if let Some(wake) = wake
            && wake.at < self.0
        {
            self.0 = wake.at;
            queue.push(wake.at, Phase::Timer, event);
        }
    }

    /// An armed event has come; gives whether it is the earliest, not one that was overtaken.
    fn rings(&mut self, now: Instant) -> bool {
        let rings = self.0 == now;
        if rings {
            *self = Self::OFF;
        }
        rings
    }
}

/// A radio's MAC, and where it belongs.
#[derive(Debug)]
struct Station {
    mac: Dcf<Msdu>,
    alarm: Alarm,
    node: u32,
    /// The trunk end and member that it serves.
    member: Option<(u32, u8)>,
    queue_limit: u32,
    collisions: u64,
    channel_errors: u64,
}

/// One end of a trunk.
#[derive(Debug)]
struct TrunkEnd {
    trunk: trunk::Trunk<PacketRef>,
    alarm: Alarm,
    node: u32,
    /// For each member the radio and its peer.
    members: Vec<(u32, Address)>,
    overhead: u32,
    queue_limit: u32,
    hold_times: Vec<f64>,
}

/// One direction of a link.
#[derive(Debug)]
struct LinkEnd {
    link: Link<PacketRef>,
    alarm: Alarm,
    to: u32,
    queue_limit: u32,
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
    pending: VecDeque<Work>,
    medium: Medium,
    stations: Vec<Station>,
    trunks: Vec<TrunkEnd>,
    links: Vec<LinkEnd>,
    routes: Routes,
    flows: Vec<Flow>,
    /// Flows of datagrams that keep their interface's queue full.
    greedy_flows: Vec<u32>,
    /// Which of them is next.
    greedy_turn: usize,
    packets: Packets,
    observer: Option<Box<dyn Observer + 'a>>,
    events: u64,
}

impl<'a> World<'a> {
    /// Runs to the end of the scenario; `on_progress` hears now and then how much is done, between 0 and 1, and
    /// answers whether to go on.
    ///
    /// # Errors
    /// [`Interrupted`] if it was told to stop.
    pub fn run(&mut self, on_progress: &mut dyn FnMut(f64) -> bool) -> Result<(), Interrupted> {
        // Some milliseconds of work between two reports.
        const REPORT_EVERY: u64 = 1 << 16;
        while let Some(at) = self.queue.next_at() {
            if at > self.end {
                break;
            }
            let Some((at, event)) = self.queue.pop() else { break };
            self.now = at;
            self.events += 1;
            if self.events.is_multiple_of(REPORT_EVERY)
                && !on_progress(at.as_secs_f64() / self.end.as_secs_f64().max(f64::MIN_POSITIVE))
            {
                return Err(Interrupted);
            }
            self.dispatch(event);
            while let Some(work) = self.pending.pop_front() {
                self.carry_out(work);
            }
        }
        self.now = self.end;
        Ok(())
    }

    fn dispatch(&mut self, event: Event) {
        match event {
            Event::Beginning(transmission) => self.on_beginning(transmission),
            Event::Ending(transmission) => self.on_ending(transmission),
            Event::Mac(radio) => self.on_mac_timer(radio),
            Event::Trunk(end) => self.on_trunk_timer(end),
            Event::Link(direction) => self.on_link_timer(direction),
            Event::Sender(flow) => self.on_sender_timer(flow),
            Event::Receiver(flow) => self.on_receiver_timer(flow),
            Event::Application(flow) => self.on_application_timer(flow),
            Event::Start(flow) => self.start_flow(flow),
            Event::Stop(flow) => self.stop_flow(flow),
            Event::Change(index) => self.change(index),
            Event::WarmUpEnds => self.begin_counting(),
            Event::Sample => self.sample(),
        }
    }

    fn carry_out(&mut self, work: Work) {
        match work {
            Work::MacDelivers { radio, msdu } => self.on_mac_delivery(radio, msdu),
            Work::MacFinished { radio, msdu, outcome } => self.on_mac_finished(radio, msdu, outcome),
            Work::Trunk(end, output) => self.on_trunk_output(end, output),
            Work::Link(direction, output) => self.on_link_output(direction, output),
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
