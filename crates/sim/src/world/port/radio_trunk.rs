//! A port over several radios: a trunk with the papers' strategies, and interface selection among its members where a
//! scenario has that.

use super::super::account::Device;
use super::super::frame::{BeaconFrame, ControlFrame, FrameBody, Msdu, MsduKind, PacketRef};
use super::super::host::{Host, Work};
use super::super::id::{NodeId, PortId, RadioId, RadioTrunkEnd, Table};
use super::super::observe::{Level, Place};
use super::super::packet::DropReason;
use super::super::wakeups::MachineId;
use super::free_space::FreeSpace;
use super::radio::RadioPort;
use super::select::{Selection, Taken, Way, drop_reason as selection_drop_reason};
use airbraid_engine::converge::select;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::paper::{
    self, Fifo, Method, PaperInput, PaperOutput, PaperPolicy, PaperTrunk, TrunkHeader,
};
use airbraid_mac::{Address, Outcome};
use airbraid_units::SeqNum;

/// One end of a trunk over radios.
#[derive(Debug)]
pub struct RadioTrunkPort {
    end: RadioTrunkEnd,
    node: NodeId,
    trunk: PaperTrunk<PacketRef>,
    /// For each member the radio and its peer.
    members: Vec<(RadioId, Address)>,
    /// Length of its header \[byte\].
    overhead: u32,
    queue_limit: u32,
    /// Whether packets that a member gave up go by another.
    resends: bool,
    hold_times: Vec<f64>,
    selection: Option<Box<Selection>>,
}

impl RadioTrunkPort {
    pub fn new(
        (end, node): (RadioTrunkEnd, NodeId),
        (trunk, policy): (PaperTrunk<PacketRef>, &PaperPolicy),
        members: Vec<(RadioId, Address)>,
        overhead: u32,
        selection: Option<Box<Selection>>,
    ) -> Self {
        let resends = matches!(policy.resequencer.method, Method::Fifo(Fifo { resends: 1.., .. }));
        let queue_limit = policy.queue_limit;
        Self { end, node, trunk, members, overhead, queue_limit, resends, hold_times: Vec::new(), selection }
    }

    pub const fn node(&self) -> NodeId {
        self.node
    }
    pub const fn trunk(&self) -> &PaperTrunk<PacketRef> {
        &self.trunk
    }
    pub fn selection(&self) -> Option<&Selection> {
        self.selection.as_deref()
    }
    /// The radios of its members.
    pub fn radios(&self) -> impl Iterator<Item = RadioId> {
        self.members.iter().map(|(radio, _)| *radio)
    }
    /// Samples of the hold time \[s\].
    pub fn hold_times(&self) -> &[f64] {
        &self.hold_times
    }

    /// Selection begins with all members, as far as their radios are there; the trunk has those that it leaves in.
    pub fn begin(&mut self, host: &mut Host<'_>) {
        if self.selection.is_none() {
            return;
        }
        self.select(host, Selection::begin);
        for member in (0..self.members.len() as u8).map(Member) {
            self.select(host, |selection, host| selection.add(member, host));
            self.step(Some(PaperInput::Link { member, is_up: false }), host);
        }
    }

    /// Does something with the selection, where there is one.
    fn select<'h, 'a>(&mut self, host: &'h mut Host<'a>, act: impl FnOnce(&mut Selection, &'h mut Host<'a>)) {
        if let Some(selection) = &mut self.selection {
            act(selection, host);
        }
    }

    /// Sends a packet: where selection chooses, by the member that it says, otherwise over all.
    #[inline]
    pub fn send(&mut self, packet: PacketRef, host: &mut Host<'_>) {
        host.tell_passage(Place::RadioTrunk(self.end), false, packet);
        match &mut self.selection {
            None => self.drive(Some(PaperInput::Packet(packet)), host),
            Some(selection) => selection.send(packet, host),
        }
    }

    /// Drives the trunk: `None` is its timer.
    #[inline(never)]
    pub fn step(&mut self, input: Option<PaperInput<PacketRef>>, host: &mut Host<'_>) {
        self.drive(input, host);
    }

    /// The same in place: where the input is known beforehand, of the machine only what it means is left.
    #[inline(always)]
    fn drive(&mut self, input: Option<PaperInput<PacketRef>>, host: &mut Host<'_>) {
        let end = self.end;
        host.step(MachineId::RadioTrunk(end), &mut self.trunk, input, |output| Work::RadioTrunk(end, output));
        if host.observer.is_some() {
            self.tell_levels(host);
        }
    }

    /// Tells who listens its levels. Out of the way of runs without recordings.
    #[cold]
    #[inline(never)]
    fn tell_levels(&self, host: &mut Host<'_>) {
        host.tell_level(Level::TrunkQueue(self.end), || self.trunk.queue_len() as u64);
        host.tell_level(Level::Resequencer(self.end), || self.trunk.held_len() as u64);
    }

    /// Carries out what the trunk says; gives a packet that goes up.
    #[inline]
    pub fn on_output(
        &mut self,
        output: PaperOutput<PacketRef>,
        radios: &mut Table<RadioId, RadioPort>,
        host: &mut Host<'_>,
    ) -> Option<PacketRef> {
        match output {
            PaperOutput::Transmit { header, packet, kept } => {
                let (radio, neighbour) = self.members[usize::from(header.member.0)];
                if kept {
                    host.packets.retain(packet);
                }
                let msdu = Msdu { packet, overhead: self.overhead, kind: MsduKind::Trunk(header) };
                radios[radio].send(neighbour, msdu, host);
            }
            PaperOutput::Deliver(packet) => {
                host.tell_passage(Place::RadioTrunk(self.end), true, packet);
                return Some(packet);
            }
            PaperOutput::Control { member, acknowledged, control } => {
                let frame = ControlFrame { end: self.end, member, control };
                self.send_control(frame, acknowledged, radios, host);
            }
            PaperOutput::Release(packet) => host.packets.release(packet),
            PaperOutput::Drop(packet, reason) => {
                host.drop_packet(self.node, Device::RadioTrunk(self.end), packet, drop_reason(reason));
            }
        }
        None
    }

    /// Sends a control frame: a frame like any other to the MAC, but no packet.
    #[inline(never)]
    fn send_control(
        &self,
        frame: ControlFrame,
        acknowledged: bool,
        radios: &mut Table<RadioId, RadioPort>,
        host: &mut Host<'_>,
    ) {
        let (radio, neighbour) = self.members[usize::from(frame.member.0)];
        let to = if acknowledged { neighbour } else { Address::BROADCAST };
        let packet = host.packets.create_frame(host.now, FrameBody::Control(frame));
        radios[radio].send(to, Msdu::frame(packet, MsduKind::Control), host);
    }

    /// A packet of the trunk has come on a member.
    #[inline]
    pub fn on_frame(&mut self, member: Member, header: TrunkHeader, packet: PacketRef, host: &mut Host<'_>) {
        self.on_arrival(member, header.member_number, host);
        self.drive(Some(PaperInput::Frame { header, packet }), host);
    }

    /// A numbered frame has come on a member.
    #[inline]
    pub fn on_arrival(&mut self, member: Member, number: SeqNum, host: &mut Host<'_>) {
        self.select(host, |selection, host| selection.on_arrival(member, number, host));
    }

    /// A control frame of the other end has come.
    pub fn on_control(&mut self, frame: ControlFrame, host: &mut Host<'_>) {
        self.step(Some(PaperInput::Control { member: frame.member, control: frame.control }), host);
    }

    /// A beacon of the other end has come to the radio of its member.
    pub fn on_beacon(
        &mut self,
        frame: BeaconFrame,
        radio: RadioId,
        radios: &Table<RadioId, RadioPort>,
        host: &mut Host<'_>,
    ) {
        let heard = radios[radio].levels().map_or(0.0, |levels| levels.heard);
        let level = host.medium.signal_to_noise(radio, heard);
        self.select(host, |selection, host| selection.on_beacon(frame, level, host));
    }

    /// A member's MAC has finished with a packet; selection may take it back.
    pub fn on_finished(
        &mut self,
        member: Member,
        msdu: Msdu,
        (outcome, attempts): (Outcome, u32),
        radios: &Table<RadioId, RadioPort>,
        host: &mut Host<'_>,
    ) -> Taken {
        let Some(selection) = &mut self.selection else { return self.take_back(msdu, outcome, host) };
        let (radio, neighbour) = self.members[usize::from(member.0)];
        let rate = || radios[radio].mac().rate_towards(neighbour);
        selection.on_frame_finished(member, outcome, attempts, rate, host);
        if !matches!(msdu.kind, MsduKind::Selected(_)) {
            return self.take_back(msdu, outcome, host);
        }
        selection.on_packet_finished(member, msdu.packet, host);
        host.refill(PortId::RadioTrunk(self.end));
        selection.take_back(member, msdu.packet, outcome, host)
    }

    /// A packet of the trunk that its member has given up goes by another, where the policy says so.
    #[inline]
    fn take_back(&mut self, msdu: Msdu, outcome: Outcome, host: &mut Host<'_>) -> Taken {
        let is_given_up = self.resends && matches!(outcome, Outcome::RetryLimit | Outcome::Purged);
        let MsduKind::Trunk(header) = msdu.kind else { return Taken::No };
        if !is_given_up {
            return Taken::No;
        }
        self.step(Some(PaperInput::Returned { header, packet: msdu.packet }), host);
        host.refill(PortId::RadioTrunk(self.end));
        Taken::Back
    }

    /// The fate of a packet of the trunk on a member is certain: the next may follow. `number` is its number where the
    /// member does not settle packets in order.
    #[inline]
    pub fn on_settled(
        &mut self,
        (member, number): (Member, Option<SeqNum>),
        fate: paper::FrameFate,
        host: &mut Host<'_>,
    ) {
        match number {
            None => self.drive(Some(PaperInput::Finished(member, fate)), host),
            Some(number) => self.step(Some(PaperInput::Settled { member, number, fate }), host),
        }
        host.refill(PortId::RadioTrunk(self.end));
    }

    /// The same of a control frame.
    pub fn on_control_settled(&mut self, member: Member, fate: paper::FrameFate, host: &mut Host<'_>) {
        self.step(Some(PaperInput::ControlFinished(member, fate)), host);
        host.refill(PortId::RadioTrunk(self.end));
    }

    /// The radio of a member was switched on or off; gives whether its MAC is to give back what waits there.
    pub fn on_radio(&mut self, member: Member, is_up: bool, host: &mut Host<'_>) -> bool {
        let Some(selection) = &mut self.selection else { return false };
        if is_up {
            selection.add(member, host)
        } else {
            selection.remove(member, host)
        }
        !is_up
    }

    /// Carries out what selection says.
    pub fn on_selection_output(
        &mut self,
        output: select::Output<PacketRef>,
        radios: &mut Table<RadioId, RadioPort>,
        host: &mut Host<'_>,
    ) {
        let Some(selection) = &mut self.selection else { return };
        match output {
            select::Output::Transmit(_, port, packet) => {
                let (radio, neighbour) = self.members[usize::from(port.0)];
                let (kind, overhead) = selection.on_way(Member(port.0), packet, host);
                radios[radio].send(neighbour, Msdu { packet, overhead, kind }, host);
            }
            select::Output::Stripe(_, packet) => self.step(Some(PaperInput::Packet(packet)), host),
            select::Output::Ways(_, _, ways) => {
                for (member, is_up) in selection.leave_in(ways) {
                    self.step(Some(PaperInput::Link { member, is_up }), host);
                }
            }
            // A beacon goes to all that hear the member: nobody acknowledges it.
            select::Output::Beacon(_, port, beacon) => {
                let (radio, _) = self.members[usize::from(port.0)];
                let body = FrameBody::Beacon(BeaconFrame { end: self.end, port, beacon });
                let (packet, overhead) = (host.packets.create_frame(host.now, body), selection.overhead());
                let msdu = Msdu { packet, overhead, kind: MsduKind::Beacon };
                radios[radio].send(Address::BROADCAST, msdu, host);
            }
            select::Output::Drop(packet, reason) => {
                host.drop_packet(self.node, Device::RadioTrunk(self.end), packet, selection_drop_reason(reason));
            }
        }
    }

    /// The timer of selection.
    pub fn on_selection_timer(&mut self, host: &mut Host<'_>) {
        self.select(host, |selection, host| selection.step(None, host));
    }

    /// Free space of the first queue on a packet's way: where selection chooses a member, that of its radio.
    pub fn free_space(&self, radios: &Table<RadioId, RadioPort>, host: &Host<'_>) -> FreeSpace {
        match self.selection.as_ref().and_then(|selection| selection.way()) {
            None => self.own_queue(),
            Some(Way::Member(member)) => radios[self.members[usize::from(member.0)].0].interface_queue(host),
            Some(Way::Waits(count)) => FreeSpace::new(count, 1),
        }
    }

    /// Free space of the trunk's own queue.
    pub fn own_queue(&self) -> FreeSpace {
        FreeSpace::new(self.trunk.queue_len(), self.queue_limit)
    }

    /// Values of the series.
    pub fn sample(&mut self) {
        self.hold_times.push(self.trunk.hold_time().as_secs_f64());
        if let Some(selection) = &mut self.selection {
            selection.sample();
        }
    }
}

const fn drop_reason(reason: paper::PaperDropReason) -> DropReason {
    match reason {
        paper::PaperDropReason::QueueFull => DropReason::TrunkQueueFull,
        paper::PaperDropReason::FifoFull => DropReason::TrunkFifoFull,
        paper::PaperDropReason::Undelivered => DropReason::RetryLimit,
        paper::PaperDropReason::Late => DropReason::TrunkLate,
        paper::PaperDropReason::Duplicate | paper::PaperDropReason::Stale => DropReason::TrunkStale,
    }
}
