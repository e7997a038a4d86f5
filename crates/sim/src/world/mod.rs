//! The world of one run: all machines, the medium between them, and the loop that drives them in virtual time.
//!
//! A run is a value: it has no global state, no thread, no clock but its own. Every machine is driven by
//! [`airbraid_engine::step`], through the port or protocol that owns it; what a machine asks of another goes through a
//! queue of pending work and is done when the first has been drained, at the same instant. What is dated waits in the
//! event queue, machines' wake-ups in a tree of timers.
//!
//! A packet's walk is in `walk.rs`, from top to bottom; what it passes is in `port/`.

mod account;
mod air;
mod aodv;
mod beginnings;
mod belated;
mod build;
mod change;
mod course;
mod device;
mod draw;
mod external;
mod flow;
mod flows;
mod frame;
mod greedy;
mod host;
mod id;
mod killers;
mod medium;
mod multihomed;
mod network;
mod observe;
mod packet;
mod parts;
mod port;
mod radio_map;
mod resolution;
mod results;
mod routing;
mod share;
mod slotted;
mod take_over;
mod together;
mod wakeups;
mod walk;

pub use draw::drawn;
pub use external::{Delivery, External};
pub use frame::{FrameBody, LinkFrame, Msdu, MsduKind, PacketRef};
pub use id::{
    FlowId, HostAddress, LinkDirection, LinkTrunkEnd, NodeId, PacketId, PayloadHandle, RadioId, RadioTrunkEnd,
};
pub use medium::Loss;
pub use observe::{FrameEvent, Level, Observer, Passage, Place};
pub use packet::{Body, DropReason, Packets, Record};
pub use parts::{parts, shares};
pub use share::Share;
pub use take_over::Played;

use crate::queue::Phase;
use crate::scenario::spec::Spec;
use airbraid_mac::MacInput;
use airbraid_units::Instant;
use flows::Flows;
use host::{Event, Host, Work};
use id::FlowPart;
use network::Network;
use port::Ports;
use radio_map::RadioMap;
use wakeups::MachineId;

/// Everything there is in one run.
#[derive(Debug)]
pub struct World<'a> {
    spec: &'a Spec,
    seed: u64,
    end: Instant,
    radio_map: RadioMap,
    host: Host<'a>,
    ports: Ports,
    network: Network,
    flows: Flows,
    /// Packets that have arrived for an outside driver.
    deliveries: Vec<Delivery>,
    /// The nodes that it plays.
    share: Share,
    events: u64,
    /// Those among them that every share of the scenario has.
    events_of_all: u64,
}

impl World<'_> {
    /// Runs to the end of the scenario; `on_progress` hears now and then how much is done, between 0 and 1, and
    /// answers whether to go on.
    ///
    /// # Errors
    /// `Interrupted` if it was told to stop.
    pub fn run(&mut self, on_progress: &mut dyn FnMut(f64) -> bool) -> Result<(), Interrupted> {
        self.play_all(on_progress)?;
        self.close();
        Ok(())
    }

    /// The same, but for what is done at the end of all its shares.
    ///
    /// # Errors
    /// `Interrupted` if it was told to stop.
    pub fn play_all(&mut self, on_progress: &mut dyn FnMut(f64) -> bool) -> Result<(), Interrupted> {
        self.play(self.end, on_progress)
    }

    /// Ends the run.
    pub fn close(&mut self) {
        self.host.now = self.end;
        self.close_accounts();
    }

    /// Carries out every event up to `until`.
    fn play(&mut self, until: Instant, on_progress: &mut dyn FnMut(f64) -> bool) -> Result<(), Interrupted> {
        // Some milliseconds of work between two reports.
        const REPORT_EVERY: u64 = 1 << 16;
        while let Some(at) = self.process_next(until) {
            if self.events.is_multiple_of(REPORT_EVERY)
                && !on_progress(at.as_secs_f64() / self.end.as_secs_f64().max(f64::MIN_POSITIVE))
            {
                return Err(Interrupted);
            }
        }
        Ok(())
    }

    /// Carries out the next event if it is not after `until`, and says when it was.
    #[inline]
    fn process_next(&mut self, until: Instant) -> Option<Instant> {
        self.date_started();
        // Among simultaneous events the machines' timers come last in their phase, after what the scenario dates.
        let wakes_at = self.host.wakeups.next_at();
        let machine_first = self.host.queue.next_is_after(wakes_at, Phase::Timer);
        let at = if machine_first { wakes_at } else { self.host.queue.next_at() };
        if at > until || at == Instant::MAX {
            return None;
        }
        // An event that was carried out ahead of the driver's time may have moved the world a little beyond this one.
        self.host.now = self.host.now.max(at);
        self.events += 1;
        if machine_first {
            if let Some(machine) = self.host.wakeups.ring(self.host.now) {
                self.wake(machine);
            }
        } else if let Some(event) = self.host.queue.pop() {
            self.dispatch(event);
        }
        self.work_off();
        Some(at)
    }

    /// Carries out what machines have asked of each other.
    #[inline]
    fn work_off(&mut self) {
        while let Some(work) = self.host.pending.pop_front() {
            self.carry_out(work);
        }
    }

    fn wake(&mut self, machine: MachineId) {
        let Self { ports, network, flows, host, .. } = self;
        match machine {
            MachineId::Mac(radio) => ports.radios[radio].drive(|| None, host),
            MachineId::StopAndWait(id) => {
                if let Some(end) = ports.radios[ports.stop_and_wait[id]].error_control(id) {
                    end.step(None, host);
                }
            }
            MachineId::SelectiveRepeat(direction) => ports.links[direction].on_error_control_timer(host),
            MachineId::RadioTrunk(end) => ports.radio_trunks[end].step(None, host),
            MachineId::Selector(end) => ports.radio_trunks[end].on_selection_timer(host),
            MachineId::LinkTrunk(end) => ports.link_trunks[end].step(None, host),
            MachineId::Link(direction) => ports.links[direction].step(None, host),
            MachineId::Router(node) => network.on_router_timer(node, host),
            MachineId::Flow(machine) => match machine.part() {
                FlowPart::Sender => flows.step_sender(machine.flow(), None, host),
                FlowPart::Receiver => flows.step_receiver(machine.flow(), None, host),
                FlowPart::Application => flows.step_application(machine.flow(), None, host),
            },
        }
    }

    #[inline(always)]
    fn dispatch(&mut self, event: Event) {
        match event {
            Event::Beginning(transmission) => self.on_beginning(transmission),
            Event::Ending(transmission) => self.on_ending(transmission),
            Event::MpdusEnd(radio) => self.on_mpdus_end(radio),
            Event::Start(flow) => self.start_flow(flow),
            Event::Stop(flow) => self.flows.stop(flow, &mut self.host),
            Event::Change(change) => self.change(change),
            Event::Tuned(radio) => self.on_tuned(radio),
            Event::WarmUpEnds => {
                self.events_of_all += 1;
                self.begin_counting();
            }
            Event::Sample => {
                self.events_of_all += 1;
                self.sample();
            }
        }
    }

    fn carry_out(&mut self, work: Work) {
        match work {
            Work::MacDelivers { radio, from, msdu } => self.on_mac_delivery(radio, from, msdu),
            Work::MacDeliversRun { radio, ppdu, mpdus, complete } => {
                self.on_mac_deliveries(radio, &ppdu, (&mpdus, complete));
            }
            Work::MacFinishedRun { radio, ppdu, mpdus } => self.on_mac_acknowledged(radio, &ppdu, &mpdus),
            Work::MacDeliversDamaged { radio, from, msdu, damage } => {
                self.ports.radios[radio].on_damaged(from, msdu, damage, &mut self.host);
            }
            Work::Listens(radio) => self.on_tuned(radio),
            Work::FoundBusy(radio) => self.ports.radios[radio].step(Some(MacInput::Busy), &mut self.host),
            Work::Renew(radio) => self.ports.radios[radio].step(Some(MacInput::Renew), &mut self.host),
            Work::MacPulls { radio, neighbour } => self.ports.radios[radio].on_pull(neighbour, &mut self.host),
            Work::MacFinished { radio, to, msdu, outcome, attempts } => {
                self.on_mac_finished(radio, to, msdu, outcome, attempts);
            }
            Work::StopAndWait(id, output) => self.on_stop_and_wait_output(id, *output),
            Work::SelectiveRepeat(direction, output) => self.on_selective_repeat_output(direction, *output),
            Work::RadioTrunk(end, output) => self.on_radio_trunk_output(end, output),
            Work::Selector(end, output) => {
                let Self { ports, host, .. } = self;
                ports.radio_trunks[end].on_selection_output(*output, &mut ports.radios, host);
            }
            Work::LinkTrunk(end, output) => self.on_link_trunk_output(end, *output),
            Work::Link(direction, output) => self.on_link_output(direction, output),
            Work::Router(node, output) => self.network.on_router_output(node, output, &mut self.ports, &mut self.host),
            Work::Resolver(node, output) => self.on_resolver_output(node, output),
            Work::SendData(flow, segment) => {
                let (node, packet) = self.flows.data(flow, segment, &mut self.host);
                self.originate(node, packet);
            }
            Work::SendAck(flow, segment) => {
                let (node, packet) = self.flows.acknowledgement(flow, segment, &mut self.host);
                self.originate(node, packet);
            }
            Work::SendDatagram(flow) => self.send_datagram(flow),
            Work::Refill(port) => self.refill(port),
            Work::CloseInterval(flow) => self.close_interval(flow),
        }
    }
}

/// A run was told to stop before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was interrupted")]
pub struct Interrupted;
