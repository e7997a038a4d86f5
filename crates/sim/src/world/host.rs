//! The state that all ports of a run share: the time, scheduled events, wake-ups, the air, packets, and pending work.
//!
//! A port gets it with each call. What a machine asks of another port is put behind what is pending already, and done
//! when the machine has been drained, at the same instant.

use super::account::{Account, Device};
use super::beginnings::Beginnings;
use super::device::MultiLinkDevice;
use super::frame::{FrameBody, Msdu, PacketRef, Unsent};
use super::id::{
    ChangeId, DeviceId, FlowId, LinkDirection, LinkTrunkEnd, NodeId, PortId, RadioId, RadioTrunkEnd, StopAndWaitId,
    Table, TransmissionId,
};
use super::killers::{Killers, NOBODY};
use super::medium::{Commitment, Medium};
use super::observe::{FrameEvent, Level, Observer, Passage, Place, PowerMemo};
use super::packet::{DropReason, Packets, Record};
use super::wakeups::{MachineId, Wakeups};
use crate::queue::{EventQueue, Phase};
use airbraid_engine::trunk::{bonding, paper};
use airbraid_engine::{Machine, converge, link, step};
use airbraid_mac::edca::Ppdu;
use airbraid_mac::{Address, Complete, Damage, Frame, MacOutput, Outcome, service};
use airbraid_net::link::LinkOutput;
use airbraid_net::tcp::Segment;
use airbraid_net::{aodv, arp};
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// An event at an instant.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A transmission begins to arrive at its next hearers.
    Beginning(TransmissionId),
    /// A transmission ends at its next hearers.
    Ending(TransmissionId),
    /// MPDUs end that a radio receives, and more of their PPDU is to come.
    MpdusEnd(RadioId),
    /// A flow's application starts.
    Start(FlowId),
    /// A flow's application stops.
    Stop(FlowId),
    /// A change of the scenario takes effect.
    Change(ChangeId),
    /// A radio has changed its channel.
    Tuned(RadioId),
    /// Counting begins.
    WarmUpEnds,
    /// Values are sampled for the series.
    Sample,
}

/// Work for another machine that an output asks for, done when the machine has been drained. Large work is boxed, so
/// that it does not make all work larger.
#[derive(Debug)]
pub enum Work {
    /// A MAC hands a packet up.
    MacDelivers { radio: RadioId, from: Address, msdu: Msdu },
    /// A MAC hands up the packets of consecutive MPDUs of a PPDU.
    MacDeliversRun { radio: RadioId, ppdu: Arc<Ppdu<Msdu>>, mpdus: Range<u32>, complete: Complete },
    /// A MAC has finished with consecutive MPDUs of a PPDU, which are acknowledged.
    MacFinishedRun { radio: RadioId, ppdu: Arc<Ppdu<Msdu>>, mpdus: Range<u32> },
    /// A MAC hands up what has come damaged.
    MacDeliversDamaged { radio: RadioId, from: Address, msdu: Msdu, damage: Damage },
    /// A radio finds energy on the channel to which it has changed.
    FoundBusy(RadioId),
    /// A radio that did not listen does so again.
    Listens(RadioId),
    /// Another link of a radio's device has changed what waits.
    Renew(RadioId),
    /// A MAC pulls what it is to send to a neighbour.
    MacPulls { radio: RadioId, neighbour: Address },
    /// A MAC has finished with a packet.
    MacFinished { radio: RadioId, to: Address, msdu: Msdu, outcome: Outcome, attempts: u32 },
    /// The output of error control over a polled radio.
    StopAndWait(StopAndWaitId, Box<link::Output<link::Header, Msdu>>),
    /// The output of error control over a plain link.
    SelectiveRepeat(LinkDirection, Box<link::Output<link::WindowHeader, PacketRef>>),
    /// The output of an end of a trunk over radios.
    RadioTrunk(RadioTrunkEnd, paper::PaperOutput<PacketRef>),
    /// The output of the selector of a trunk end's members.
    Selector(RadioTrunkEnd, Box<converge::select::Output<PacketRef>>),
    /// The output of an end of a trunk over links.
    LinkTrunk(LinkTrunkEnd, Box<bonding::BondOutput<PacketRef>>),
    /// A link direction's output.
    Link(LinkDirection, LinkOutput<PacketRef>),
    /// The output of a node's AODV.
    Router(NodeId, aodv::Output<PacketRef>),
    /// The output of a node's ARP.
    Resolver(NodeId, arp::Output<Unsent>),
    /// A flow's TCP sender sends a segment.
    SendData(FlowId, Segment),
    /// A flow's TCP receiver sends a segment.
    SendAck(FlowId, Segment),
    /// A flow's application writes a datagram.
    SendDatagram(FlowId),
    /// Greedy flows look whether a port has free space.
    Refill(PortId),
    /// An interval of the account of a flow is over.
    CloseInterval(FlowId),
}

/// The state that all ports of a run share.
#[derive(Debug)]
pub struct Host<'a> {
    pub now: Instant,
    /// Time by which the packet that a MAC hands up was complete before now: an MPDU of an A-MPDU ends before the
    /// others.
    pub early: Duration,
    pub queue: EventQueue<Event>,
    pub wakeups: Wakeups,
    pub pending: VecDeque<Work>,
    /// Frames to which stations have committed themselves, and which are to be dated when they start.
    pub committed: Vec<(Instant, TransmissionId)>,
    /// When the first of them starts; [`Instant::MAX`] if there is none.
    pub starts_at: Instant,
    pub beginnings: Beginnings,
    pub medium: Medium,
    /// Most scenarios have none.
    pub killers: Option<Box<Killers>>,
    pub packets: Packets,
    /// The upper parts of multi-link devices.
    pub devices: Table<DeviceId, MultiLinkDevice>,
    pub observer: Option<Box<dyn Observer + 'a>>,
    /// For the observer.
    pub powers: PowerMemo,
    /// The account of each flow's time, where it is asked for.
    pub account: Option<Box<Account>>,
    /// Whether there are greedy flows, which look for free space.
    pub has_greedy_flows: bool,
}

impl Host<'_> {
    /// When the next event or wake-up is; [`Instant::MAX`] if there is none. Frames that are not dated are not among
    /// them.
    #[inline]
    pub fn next_at(&self) -> Instant {
        self.queue.next_at().min(self.wakeups.next_at())
    }

    /// Drives a machine: `None` is its timer. Its outputs become pending work.
    #[inline(always)]
    pub fn step<M: Machine>(
        &mut self,
        id: MachineId,
        machine: &mut M,
        input: Option<M::Input>,
        work: impl Fn(M::Output) -> Work,
    ) {
        let Self { now, pending, wakeups, .. } = self;
        let wake = step(machine, *now, input, |output| pending.push_back(work(output)));
        wakeups.arm(*now, id, wake);
    }

    /// Gives up a packet at a device of a node, with the reason.
    pub fn drop_packet(&mut self, node: NodeId, at: Device, packet: PacketRef, reason: DropReason) {
        if let Some(account) = &mut self.account {
            account.on_drop(at, self.packets.get(packet), reason);
        }
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.on_drop(self.now, node, self.packets.get(packet), reason);
        }
        self.packets.drop_for(packet, reason);
    }

    /// A frame of a trunk is lost at a device: the packet in it is lost to its flow until it is sent again.
    #[cold]
    pub fn lose_frame(&mut self, at: Device, frame: PacketRef, reason: DropReason) {
        let Some(account) = &mut self.account else { return };
        if let Some(packet) = self.packets.frame(frame).and_then(FrameBody::packet) {
            account.on_drop(at, self.packets.get(packet), reason);
        }
    }

    /// Tells who listens that a radio's MAC gets one more.
    #[inline]
    pub fn tell_queued(&mut self, radio: RadioId, to: Address, msdu: Msdu) {
        if self.observer.is_some() {
            self.tell(msdu, |observer, now, packet| observer.on_queued(now, radio, to, packet));
        }
    }

    /// Tells who listens that a radio's MAC has finished with one.
    #[inline]
    pub fn tell_finished(&mut self, radio: RadioId, msdu: Msdu, outcome: Outcome, attempts: u32) {
        if self.observer.is_some() {
            self.tell(msdu, |observer, now, packet| observer.on_finished(now, radio, packet, outcome, attempts));
        }
    }

    /// Tells who listens of a packet. Out of the way of runs without recordings.
    #[cold]
    #[inline(never)]
    fn tell(&mut self, msdu: Msdu, event: impl FnOnce(&mut dyn Observer, Instant, Option<&Record>)) {
        if let Some(observer) = self.observer.as_deref_mut() {
            event(observer, self.now, msdu.packet().map(|packet| self.packets.get(packet)));
        }
    }

    /// Tells who listens what a level is now.
    #[inline]
    pub fn tell_level(&mut self, level: Level, value: impl FnOnce() -> u64) {
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.on_level(self.now, level, value());
        }
    }

    /// Tells who listens that a packet, or a frame of a trunk or link layer, goes down or comes up at a place.
    #[inline]
    pub fn tell_passage(&mut self, place: Place, is_arrival: bool, packet: PacketRef) {
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.on_passage(self.now, Passage { place, is_arrival, packet, packets: &self.packets });
        }
    }

    /// A port may have free space again: greedy flows that leave by it fill it, in turn, until its queue is full. Once
    /// is enough for all packets that have left together.
    #[inline]
    pub fn refill(&mut self, port: PortId) {
        if self.has_greedy_flows && !matches!(self.pending.back(), Some(Work::Refill(other)) if *other == port) {
            self.pending.push_back(Work::Refill(port));
        }
    }

    /// Carries out what a radio's MAC says.
    #[inline(never)]
    pub fn on_mac_output(&mut self, radio: RadioId, mut output: MacOutput<Msdu>) {
        // Where it stands: a frame is long.
        if let MacOutput::Transmit { frame, at, airtime, access } = &mut output {
            return self.transmit(radio, frame, (*at, *airtime), *access);
        }
        match output {
            MacOutput::Transmit { .. } => {}
            MacOutput::TransmitPpdu { ppdu, at, airtime, access } => {
                self.transmit_ppdu(radio, ppdu, at, airtime, access);
            }
            MacOutput::DeliverRun { ppdu, mpdus, complete } => {
                self.pending.push_back(Work::MacDeliversRun { radio, ppdu, mpdus, complete });
            }
            MacOutput::AcknowledgedRun { ppdu, mpdus } => {
                self.pending.push_back(Work::MacFinishedRun { radio, ppdu, mpdus });
            }
            // The reference came with the PPDU; whoever sent it knows what became of it.
            MacOutput::Discard { packet, .. } => self.packets.release(packet.packet),
            MacOutput::Listen(true) => self.pending.push_back(Work::Listens(radio)),
            MacOutput::Listen(false) => self.medium.turn_away(radio),
            MacOutput::Announce(part) => self.medium.announce_in(radio, part),
            MacOutput::Tune { channel, ready } => {
                if self.medium.tune(self.now, radio, channel, ready) {
                    self.pending.push_back(Work::FoundBusy(radio));
                }
                if ready > self.now {
                    self.queue.push(ready, Phase::ReceptionStart, Event::Tuned(radio));
                }
            }
            MacOutput::Deliver { from, packet } => {
                self.packets.retain(packet.packet);
                self.pending.push_back(Work::MacDelivers { radio, from, msdu: packet });
            }
            MacOutput::DeliverDamaged { from, packet, damage } => {
                self.packets.retain(packet.packet);
                self.pending.push_back(Work::MacDeliversDamaged { radio, from, msdu: packet, damage });
            }
            MacOutput::Pull(neighbour) => self.pending.push_back(Work::MacPulls { radio, neighbour }),
            MacOutput::Status { msdu, outcome, attempts } => {
                let (to, msdu) = (msdu.to, msdu.packet);
                self.pending.push_back(Work::MacFinished { radio, to, msdu, outcome, attempts });
            }
        }
    }

    /// A frame goes on the medium, past the packet killers.
    #[inline]
    fn transmit(
        &mut self,
        radio: RadioId,
        frame: &mut Frame<Msdu>,
        (at, airtime): (Instant, Duration),
        access: service::Access,
    ) {
        if let Some(killers) = &mut self.killers
            && killers.on_output(self.now, radio, frame, &self.packets)
        {
            frame.to = NOBODY;
        }
        if let Some(observer) = self.observer.as_deref_mut() {
            let packet = frame.payload.and_then(|msdu| msdu.packet()).map(|packet| self.packets.get(packet));
            observer.on_transmission(
                self.now,
                &FrameEvent {
                    radio,
                    frame,
                    ppdu: None,
                    intact: None,
                    packet,
                    packets: &self.packets,
                    start: at,
                    end: at + airtime,
                },
                access,
            );
        }
        if let (Some(account), Some(msdu)) = (&mut self.account, &frame.payload)
            && msdu.kind.is_packet()
        {
            account.on_air(radio, msdu.packet.bucket, airtime);
        }
        let commitment = self.commitment();
        if let Some(id) = self.medium.begin(radio, frame, None, (at, at + airtime), commitment) {
            // The frame on the air is one more reference to its packet.
            if let Some(msdu) = frame.payload {
                self.packets.retain(msdu.packet);
            }
            self.commit(id, at);
        }
    }

    /// A station commits itself to a frame now.
    #[inline]
    fn commitment(&mut self) -> Commitment {
        Commitment { at: self.now, end: self.queue.reserve(), beginning: self.queue.reserve() }
    }

    /// A frame starts at `at`. It is dated then, by what is known of its hearers.
    #[inline]
    fn commit(&mut self, id: TransmissionId, at: Instant) {
        self.committed.push((at, id));
        self.starts_at = self.starts_at.min(at);
    }

    /// A PPDU goes on the medium.
    fn transmit_ppdu(
        &mut self,
        radio: RadioId,
        ppdu: Arc<Ppdu<Msdu>>,
        at: Instant,
        airtime: Duration,
        access: service::Access,
    ) {
        let frame: Frame<Msdu> = ppdu.header.without_payload();
        if let Some(observer) = self.observer.as_deref_mut() {
            let first = ppdu.msdus().first().and_then(Msdu::packet);
            let event = FrameEvent {
                radio,
                frame: &frame,
                ppdu: Some(&ppdu),
                intact: None,
                packet: first.map(|packet| self.packets.get(packet)),
                packets: &self.packets,
                start: at,
                end: at + airtime,
            };
            observer.on_transmission(self.now, &event, access);
        }
        if let (Some(account), Some(data)) = (&mut self.account, ppdu.data()) {
            // Each packet has its part of the time, by its length.
            let whole = frame.size.as_u64().max(1);
            for mpdu in data.mpdus() {
                for msdu in data.msdus_of(mpdu).iter().filter(|msdu| msdu.kind.is_packet()) {
                    let part = airtime.as_nanos() * u64::from(mpdu.size) / whole;
                    account.on_air(radio, msdu.packet.bucket, Duration::from_nanos(part));
                }
            }
        }
        let commitment = self.commitment();
        if let Some(id) = self.medium.begin(radio, &frame, Some(&ppdu), (at, at + airtime), commitment) {
            for msdu in ppdu.msdus() {
                self.packets.retain(msdu.packet);
            }
            self.commit(id, at);
        }
    }
}
