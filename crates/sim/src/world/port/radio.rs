//! A port on the air: a radio with its MAC, and what a scenario puts above it.

use super::super::account::Device;
use super::super::device::{MultiLinkDevice, Peer};
use super::super::frame::{Msdu, MsduKind, Unsent};
use super::super::host::{Host, Work};
use super::super::id::{DeviceId, NodeId, PortId, RadioId, RadioTrunkEnd, StopAndWaitId};
use super::super::medium::{Beginning, Coming, Loss};
use super::super::packet::DropReason;
use super::super::wakeups::MachineId;
use super::delivery_loss::DeliveryLoss;
use super::error_control::{Next, StopAndWaitEnd};
use super::free_space::FreeSpace;
use super::mac::RadioMac;
use super::snr::{Levels, SnrSamples};
use airbraid_engine::link::{Header, Output};
use airbraid_engine::step;
use airbraid_engine::trunk::Member;
use airbraid_mac::edca::{MultiLink, Vector};
use airbraid_mac::ppdu::{Format, Width};
use airbraid_mac::{Address, Damage, Frame, MacInput, Outcome, service};
use airbraid_units::{Duration, Instant};

/// A radio's MAC, and where it belongs.
#[derive(Debug)]
pub struct RadioPort {
    radio: RadioId,
    node: NodeId,
    mac: RadioMac,
    queue_limit: u32,
    /// The newest format that its receiver knows; `None`: that of 802.11a and g.
    newest: Option<Format>,
    /// The multi-link device that it is a link of, and its place there.
    device: Option<(DeviceId, u8)>,
    /// The trunk ends and members that it serves, by the peer's radio.
    members: Vec<(Address, RadioTrunkEnd, Member)>,
    delivery_loss: Option<DeliveryLoss>,
    /// Levels of what it receives, where anything looks at them.
    levels: Option<Box<Levels>>,
    /// The frame of whose beginning it has not been told.
    pub coming: Option<Coming>,
    /// When the last of the frames has begun of whose beginnings it is told in time.
    pub begins_until: Instant,
    collisions: u64,
    channel_errors: u64,
}

impl RadioPort {
    pub const fn new(
        radio: RadioId,
        node: NodeId,
        mac: RadioMac,
        queue_limit: u32,
        newest: Option<Format>,
        delivery_loss: Option<DeliveryLoss>,
    ) -> Self {
        let members = Vec::new();
        Self {
            radio,
            node,
            mac,
            queue_limit,
            newest,
            device: None,
            members,
            delivery_loss,
            levels: None,
            coming: None,
            begins_until: Instant::ZERO,
            collisions: 0,
            channel_errors: 0,
        }
    }

    /// It serves a member of a trunk, towards this neighbour.
    pub fn add_member(&mut self, neighbour: Address, end: RadioTrunkEnd, member: Member) {
        self.members.push((neighbour, end, member));
    }

    /// It is a link of a device, at this place; none but one with EDCA can be.
    pub fn join(&mut self, shared: &mut MultiLink<Msdu>, device: (DeviceId, u8)) {
        if let RadioMac::Edca(mac) = &mut self.mac {
            shared.join(mac, device.1);
            self.device = Some(device);
        }
    }

    /// Error control stands above its MAC; none but a polled one can.
    pub fn add_error_control(&mut self, end: StopAndWaitEnd) {
        if let RadioMac::Polled(polled) = &mut self.mac {
            polled.ends.push(end);
        }
    }

    /// Levels of what it receives are remembered, and sampled where `samples` are given.
    pub fn watch_levels(&mut self, samples: Option<SnrSamples>) {
        let levels = self.levels.get_or_insert_default();
        levels.samples = levels.samples.take().or(samples);
    }

    pub const fn node(&self) -> NodeId {
        self.node
    }
    pub const fn mac(&self) -> &RadioMac {
        &self.mac
    }
    pub const fn mac_mut(&mut self) -> &mut RadioMac {
        &mut self.mac
    }
    /// The radio at which packets for this peer come in: another one only where both are multi-link devices.
    #[inline]
    pub fn entrance(&self, peer: Address, host: &Host<'_>) -> RadioId {
        let shared = self.device.and_then(|(device, _)| host.devices[device].entrance(peer));
        shared.unwrap_or(self.radio)
    }
    /// The device that it is a link of and the peer with this address, if both are multi-link devices.
    pub fn peer<'a>(&self, address: Address, host: &'a Host<'_>) -> Option<(&'a MultiLinkDevice, &'a Peer)> {
        let device = &host.devices[self.device?.0];
        device.peer(address).map(|peer| (device, peer))
    }
    /// The place at which a packet to this neighbour is lost.
    pub fn place(&self, neighbour: Address, host: &Host<'_>) -> Device {
        self.peer(neighbour, host).map_or(Device::Radio(self.radio), |(_, peer)| Device::MultiLink(peer.end))
    }
    /// Whether packets can be settled in another order than that in which they were sent.
    #[inline]
    pub const fn has_block_acks(&self) -> bool {
        matches!(self.mac, RadioMac::Edca(_))
    }
    pub fn levels(&self) -> Option<&Levels> {
        self.levels.as_deref()
    }
    /// Frames for it that were lost to others, and to the channel.
    pub const fn losses(&self) -> [u64; 2] {
        [self.collisions, self.channel_errors]
    }
    pub fn members(&self) -> &[(Address, RadioTrunkEnd, Member)] {
        &self.members
    }

    /// The trunk end and member that lead to a peer's radio.
    #[inline]
    pub fn member_towards(&self, peer: Address) -> Option<(RadioTrunkEnd, Member)> {
        self.members.iter().find(|member| member.0 == peer).map(|member| (member.1, member.2))
    }

    /// Whether it reads the headers of what is sent in this format. Of a newer one it knows by L-SIG how long it lasts,
    /// and then waits for EIFS (802.11-2020, 10.3.2.3.7).
    #[inline]
    pub fn reads(&self, vector: &Vector) -> bool {
        vector.format() <= self.newest
    }

    /// Sends to a neighbour: through error control, where it stands above the MAC.
    #[inline]
    pub fn send(&mut self, to: Address, msdu: Msdu, host: &mut Host<'_>) {
        if let RadioMac::Polled(polled) = &mut self.mac
            && let Some(end) = polled.end_towards_mut(to)
        {
            end.send(msdu, host);
            return self.count(true, host);
        }
        self.count(true, host);
        host.tell_queued(self.radio, to, msdu);
        let msdu = service::Msdu { to, packet: msdu };
        if let Err(msdu) = self.push_at_work(msdu, host) {
            self.drive(|| Some(MacInput::Enqueue(msdu)), host);
        }
    }

    /// Gives a packet to an EDCA station, or a device of several, that is at work on its category and need not be
    /// driven for it; hands it back otherwise.
    #[inline]
    fn push_at_work(&mut self, msdu: service::Msdu<Msdu>, host: &mut Host<'_>) -> Result<(), service::Msdu<Msdu>> {
        match (&mut self.mac, self.device) {
            (RadioMac::Edca(mac), None) => mac.push_at_work(host.now, msdu),
            (RadioMac::Edca(mac), Some((device, _))) => host.devices[device].shared.push_at_work(mac, host.now, msdu),
            _ => Err(msdu),
        }
    }

    /// A MAC that does not count its idle time itself has a packet more, or one fewer.
    #[inline]
    pub fn count(&self, is_more: bool, host: &mut Host<'_>) {
        if !matches!(self.mac, RadioMac::Dcf(_))
            && let Some(account) = &mut host.account
        {
            account.on_radio(host.now, self.radio, is_more);
        }
    }

    /// Sends to a neighbour what AODV or ARP has for it.
    pub fn send_unsent(&mut self, to: Address, unsent: Unsent, host: &mut Host<'_>) {
        let Unsent { msdu, overtakes } = unsent;
        if msdu.kind == MsduKind::Routing && overtakes {
            host.tell_queued(self.radio, to, msdu);
            self.step(Some(MacInput::EnqueueFirst(service::Msdu { to, packet: msdu })), host);
        } else {
            self.send(to, msdu, host);
        }
    }

    /// Drives the MAC: `None` is its timer.
    #[inline(never)]
    pub fn step(&mut self, input: Option<MacInput<Msdu>>, host: &mut Host<'_>) {
        self.catch_up(host);
        if let Some(device) = self.device {
            return self.drive_link(device, input, host);
        }
        let (radio, now) = (self.radio, host.now);
        let wake = self.mac.step(now, input, |output| host.on_mac_output(radio, output));
        host.wakeups.arm(now, MachineId::Mac(radio), wake);
    }

    /// The same, for DCF in place.
    #[inline(always)]
    pub fn drive(&mut self, input: impl FnOnce() -> Option<MacInput<Msdu>>, host: &mut Host<'_>) {
        self.catch_up(host);
        self.hear(input, host);
    }

    /// The same with what comes from the air, which has carried out what was put off: where the input is known
    /// beforehand, of the machine only what it means is left. It is made apart for each kind of MAC, because what any
    /// of them gets by reference is stored for all.
    #[inline(always)]
    pub fn hear(&mut self, input: impl FnOnce() -> Option<MacInput<Msdu>>, host: &mut Host<'_>) {
        let RadioMac::Dcf(mac) = &mut self.mac else { return self.step(input(), host) };
        let (radio, now) = (self.radio, host.now);
        let wake = step(mac, now, input(), |output| host.on_mac_output(radio, output));
        host.wakeups.arm(now, MachineId::Mac(radio), wake);
    }

    /// A frame of `airtime` begins, which ends at `until`.
    #[inline(always)]
    pub fn on_beginning(&mut self, beginning: Beginning, (until, airtime): (Instant, Duration), host: &mut Host<'_>) {
        match beginning {
            Beginning::Nothing => {}
            Beginning::Busy => self.find_busy(until, host),
            Beginning::Idle => self.step(Some(MacInput::Idle), host),
            Beginning::Ignored => self.step(Some(MacInput::Ignored(airtime)), host),
        }
    }

    /// Energy arrives that stays until `until`: an alarm before that would ring in vain.
    #[inline(always)]
    fn find_busy(&mut self, until: Instant, host: &mut Host<'_>) {
        let RadioMac::Dcf(mac) = &mut self.mac else { return self.step(Some(MacInput::Busy), host) };
        let (radio, now) = (self.radio, host.now);
        let wake = step(mac, now, Some(MacInput::Busy), |output| host.on_mac_output(radio, output));
        host.wakeups.arm_beyond(until, now, MachineId::Mac(radio), wake);
    }

    /// A frame for this radio has come whole: apart from the way of the many that only overhear one.
    #[inline(never)]
    pub fn receive(&mut self, frame: &Frame<Msdu>, idle: bool, host: &mut Host<'_>) {
        self.hear(|| Some(MacInput::Received { frame: *frame, idle }), host);
    }

    /// Drives a link of a device, with what that lends it.
    #[inline(never)]
    fn drive_link(&mut self, (device, place): (DeviceId, u8), input: Option<MacInput<Msdu>>, host: &mut Host<'_>) {
        let (radio, now) = (self.radio, host.now);
        let incoming = match input {
            Some(MacInput::Busy) if host.devices[device].shared.wants_beginnings() => host.medium.incoming(radio),
            _ => None,
        };
        let from = match &input {
            Some(MacInput::ReceivedPpdu { ppdu, .. }) => Some(ppdu.header.from),
            _ => None,
        };
        self.borrow(device, host);
        if let (Some((from, kind, end)), RadioMac::Edca(mac)) = (incoming, &mut self.mac) {
            mac.on_incoming(from.address(), kind, end);
        }
        let wake = self.mac.step(now, input, |output| {
            host.devices[device].count_output(place, &output);
            host.on_mac_output(radio, output);
        });
        self.borrow(device, host);
        host.wakeups.arm(now, MachineId::Mac(radio), wake);
        let Host { devices, pending, .. } = host;
        devices[device].note(now, place, from);
        if devices[device].shared.may_wake() {
            pending.extend(devices[device].woken(place).map(Work::Renew));
        }
    }

    /// The device of which it is a link.
    pub fn device(&self) -> Option<DeviceId> {
        self.device.map(|(device, _)| device)
    }

    /// Borrows what the links of a device share, or gives it back.
    fn borrow(&mut self, device: DeviceId, host: &mut Host<'_>) {
        if let RadioMac::Edca(mac) = &mut self.mac {
            host.devices[device].shared.exchange(mac);
        }
    }

    /// A frame for it was lost.
    pub const fn count_loss(&mut self, loss: Loss) {
        match loss {
            Loss::Collision => self.collisions += 1,
            Loss::Channel => self.channel_errors += 1,
        }
    }

    /// Parts of the channel have become busy or idle.
    pub fn on_secondary(&mut self, now: Instant, idle: Width) {
        self.mac.on_secondary(now, idle);
    }

    /// A frame has come without an error.
    #[inline]
    pub fn note_level(&mut self, from: Address, power: f64, host: &Host<'_>) {
        let (radio, sender) = (self.radio, RadioId::of(from));
        if let Some(mac) = self.mac.signal_controlled() {
            let snr = host.medium.signal_to_noise_of(radio, sender, power);
            mac.on_signal(from, (snr.0 * 100.0) as i32);
        }
        if let Some(levels) = &mut self.levels {
            levels.note(host.now, power, |power| host.medium.signal_to_noise_of(radio, sender, power));
        }
    }

    /// Whether a packet that the MAC hands up is lost on its way: it is given up then.
    #[inline]
    pub fn loses(&mut self, from: Address, msdu: Msdu, host: &mut Host<'_>) -> bool {
        let Some(loss) = &mut self.delivery_loss else { return false };
        let is_lost = loss.is_lost(self.radio, from, &host.medium);
        if is_lost {
            self.give_up(msdu, DropReason::DeliveryLoss, host);
        }
        is_lost
    }

    /// Gives up what the MAC has handed up.
    fn give_up(&self, msdu: Msdu, reason: DropReason, host: &mut Host<'_>) {
        if msdu.kind.is_packet() {
            host.drop_packet(self.node, Device::Radio(self.radio), msdu.packet, reason);
        } else {
            host.packets.release(msdu.packet);
        }
    }

    /// The MAC hands up what has come damaged: without error control it is lost.
    pub fn on_damaged(&mut self, from: Address, msdu: Msdu, damage: Damage, host: &mut Host<'_>) {
        match msdu.kind {
            MsduKind::Segment => self.on_segment(from, msdu, Some(damage), host),
            _ => self.give_up(msdu, DropReason::Damaged, host),
        }
    }

    /// The MAC hands up a frame of a neighbour's error control, perhaps damaged.
    pub fn on_segment(&mut self, from: Address, msdu: Msdu, damage: Option<Damage>, host: &mut Host<'_>) {
        if let RadioMac::Polled(polled) = &mut self.mac
            && let Some(end) = polled.end_towards_mut(from)
        {
            return end.on_frame(msdu, damage, host);
        }
        host.packets.release(msdu.packet);
    }

    /// The MAC has finished with a frame of error control.
    pub fn on_segment_finished(&mut self, to: Address, msdu: Msdu, outcome: Outcome, host: &mut Host<'_>) {
        host.packets.release(msdu.packet);
        if outcome == Outcome::RetryLimit
            && let RadioMac::Polled(polled) = &mut self.mac
            && let Some(end) = polled.end_towards_mut(to)
        {
            end.on_lost(host);
        }
    }

    /// The MAC pulls what it is to send to a neighbour now.
    pub fn on_pull(&mut self, neighbour: Address, host: &mut Host<'_>) {
        if let RadioMac::Polled(polled) = &mut self.mac
            && let Some(end) = polled.end_towards_mut(neighbour)
        {
            return end.on_pull(host);
        }
        self.step(Some(MacInput::Supply(None)), host);
    }

    /// The end of error control with this id.
    pub fn error_control(&mut self, id: StopAndWaitId) -> Option<&mut StopAndWaitEnd> {
        match &mut self.mac {
            RadioMac::Polled(polled) => polled.ends.iter_mut().find(|end| end.id == id),
            _ => None,
        }
    }

    /// Carries out what error control says; gives the neighbour, and what is left to be done above.
    pub fn on_error_control_output(
        &mut self,
        id: StopAndWaitId,
        output: Output<Header, Msdu>,
        host: &mut Host<'_>,
    ) -> Option<(Address, Next)> {
        let end = self.error_control(id)?;
        let peer = end.peer;
        match end.on_output(output, host) {
            Next::Supply(frame) => {
                self.step(Some(MacInput::Supply(Some(service::Msdu { to: peer, packet: frame }))), host);
                host.refill(PortId::Radio { radio: self.radio, neighbour: peer });
                None
            }
            next => Some((peer, next)),
        }
    }

    /// Free space of the queue in which a packet of this user priority would wait for this neighbour.
    pub fn free_space(&self, neighbour: Address, priority: u8, host: &Host<'_>) -> FreeSpace {
        match self.device {
            None => self.mac.free_space(neighbour, priority, self.queue_limit),
            Some((device, _)) => {
                let waiting = host.devices[device].shared.waiting_with(neighbour, priority);
                FreeSpace::new(waiting, self.queue_limit)
            }
        }
    }

    /// Whether it is a link of a multi-link device.
    pub const fn is_link(&self) -> bool {
        self.device.is_some()
    }
    /// Whether its queue is its own, or that of a device of which it is the first link.
    pub fn has_own_queue(&self, host: &Host<'_>) -> bool {
        self.device.is_none_or(|(device, _)| host.devices[device].links.first() == Some(&self.radio))
    }

    /// Free space of the interface queue, for any neighbour.
    pub fn interface_queue(&self, host: &Host<'_>) -> FreeSpace {
        let shared = self.device.map(|(device, _)| host.devices[device].shared.queue_len());
        FreeSpace::new(shared.unwrap_or_else(|| self.mac.queue_len()), self.queue_limit)
    }
}
