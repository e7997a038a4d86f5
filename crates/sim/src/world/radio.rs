//! Radios at work: MACs' transmissions go on the medium, what arrives goes to the MACs.

use super::alarms::Sleeper;
use super::kill::{Killers, NOBODY, has_data, leaves};
use super::medium::{Beginning, Ending, Hearer, Loss, Medium, Transmission};
use super::observe::{FrameEvent, Observer};
use super::packet::{ControlFrame, DropReason, Msdu, Packets, Part};
use super::routing::NextHop;
use super::{Event, LossBehind, Work, World};
use crate::queue::{EventQueue, Phase};
use airbraid_engine::trunk::paper as trunk;
use airbraid_mac::{Address, Damage, Frame, MacInput, MacOutput, Outcome, service};
use airbraid_net::aodv;
use airbraid_units::{Duration, Instant, Milliwatt};
use std::collections::VecDeque;

/// What a MAC's outputs act on.
struct Surroundings<'x, 'a> {
    now: Instant,
    radio: u32,
    medium: &'x mut Medium,
    queue: &'x mut EventQueue<Event>,
    pending: &'x mut VecDeque<Work>,
    packets: &'x mut Packets,
    observer: Option<&'x mut (dyn Observer + 'a)>,
    killers: &'x mut Option<Box<Killers>>,
}

impl Surroundings<'_, '_> {
    /// Carries out what the MAC asks for.
    #[inline(never)]
    fn carry_out(self, output: MacOutput<Msdu>) {
        let radio = self.radio;
        match output {
            MacOutput::Transmit { frame, at, airtime, access } => self.transmit(frame, at, airtime, access),
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
    fn transmit(self, mut frame: Frame<Msdu>, at: Instant, airtime: Duration, access: service::Access) {
        let Self { now, radio, medium, queue, packets, .. } = self;
        if let Some(killers) = self.killers
            && killers.on_output(now, radio, &frame, has_data(frame.payload, packets))
        {
            frame.to = NOBODY;
        }
        if let Some(observer) = self.observer {
            let packet = frame.payload.and_then(|msdu| msdu.packet()).map(|packet| packets.get(packet));
            observer.on_transmission(now, FrameEvent { radio, frame: &frame, packet, start: at }, access);
        }
        let payload = frame.payload;
        if let Some((id, delay)) = medium.begin(radio, &frame, at, at + airtime) {
            // The frame on the air is one more place where its packet is.
            if let Some(msdu) = payload {
                packets.retain(msdu.packet);
            }
            queue.push(at + delay, Phase::ReceptionStart, Event::Beginning(id));
            queue.push(at + airtime + delay, Phase::ReceptionEnd, Event::Ending(id));
        }
    }
}

impl World<'_> {
    /// Drives a MAC: `None` is its timer.
    #[inline(never)]
    pub(super) fn step_mac(&mut self, radio: u32, input: Option<MacInput<Msdu>>) {
        self.drive_mac(radio, input);
    }

    /// The same in place: where the input is known beforehand, of the machine only what it means is left.
    #[inline(always)]
    fn drive_mac(&mut self, radio: u32, input: Option<MacInput<Msdu>>) {
        let now = self.now;
        let Self { stations, medium, queue, alarms, pending, packets, observer, killers, .. } = self;
        let wake = stations[radio as usize].mac.step(now, input, |output| {
            let (medium, observer) = (&mut *medium, observer.as_deref_mut());
            let (queue, pending, packets) = (&mut *queue, &mut *pending, &mut *packets);
            Surroundings { now, radio, medium, queue, pending, packets, observer, killers }.carry_out(output);
        });
        alarms.arm(now, Sleeper::Mac(radio), wake);
    }

    /// A radio has changed its channel.
    pub(super) fn on_tuned(&mut self, radio: u32) {
        if self.medium.on_tuned(radio) {
            self.step_mac(radio, Some(MacInput::Busy));
        }
    }

    /// A transmission reaches its next hearers.
    pub(super) fn on_beginning(&mut self, id: u32) {
        let Some(transmission) = self.medium.transmission(id) else { return };
        let (from, start, begun) = (transmission.from, transmission.start, transmission.begun as usize);
        let channel = transmission.channel;
        let row = self.medium.take_row(from);
        for (place, &hearer) in row.iter().enumerate().skip(begun) {
            let at = start + Duration::from_nanos(u64::from(hearer.delay_ns));
            if at > self.now && !self.advance_to(at) {
                self.medium.set_begun(id, place);
                self.queue.push(at, Phase::ReceptionStart, Event::Beginning(id));
                break;
            }
            if self.medium.on_beginning(self.now, id, channel, hearer) == Beginning::Busy {
                self.drive_mac(hearer.radio, Some(MacInput::Busy));
            }
        }
        self.medium.put_row(from, row);
    }

    /// A transmission ends at its next hearers.
    pub(super) fn on_ending(&mut self, id: u32) {
        let Some(mut transmission) = self.medium.take_transmission(id) else { return };
        let (from, end) = (transmission.from, transmission.end);
        let row = self.medium.take_row(from);
        let mut reached = row.len();
        for (place, &hearer) in row.iter().enumerate().skip(transmission.ended as usize) {
            let at = end + Duration::from_nanos(u64::from(hearer.delay_ns));
            if at > self.now && !self.advance_to(at) {
                self.queue.push(at, Phase::ReceptionEnd, Event::Ending(id));
                reached = place;
                break;
            }
            match self.medium.on_ending(self.now, id, &transmission, hearer) {
                Ending::Nothing => {}
                Ending::Idle => self.drive_mac(hearer.radio, Some(MacInput::Idle)),
                Ending::Reception { result, idle } => self.end_reception(hearer, &transmission, result, idle),
            }
        }
        let is_over = reached == row.len();
        transmission.ended = reached as u32;
        let payload = transmission.frame.payload;
        self.medium.put_row(from, row);
        self.medium.put_transmission(id, transmission);
        if is_over {
            self.medium.finish(id, from);
            if let Some(msdu) = payload {
                self.packets.release(msdu.packet);
            }
        }
    }

    /// Goes on to `at` without the queue, if nothing comes before: the hearers of one frame lie nanoseconds apart.
    fn advance_to(&mut self, at: Instant) -> bool {
        let is_next = self.pending.is_empty()
            && at <= self.end
            && at < self.alarms.next_at()
            && self.queue.next_at().is_none_or(|next| at < next);
        if is_next {
            self.now = at;
            self.events += 1;
        }
        is_next
    }

    fn end_reception(&mut self, hearer: Hearer, transmission: &Transmission, result: Result<(), Loss>, idle: bool) {
        let frame = &transmission.frame;
        if let Err(loss) = result
            && frame.to == Address(hearer.radio)
        {
            let station = &mut self.stations[hearer.radio as usize];
            match loss {
                Loss::Collision => station.collisions += 1,
                Loss::Channel => station.channel_errors += 1,
            }
        }
        if let Some(observer) = self.observer.as_deref_mut() {
            let packet = frame.payload.and_then(|msdu| msdu.packet()).map(|packet| self.packets.get(packet));
            let start = self.now.saturating_sub(transmission.end - transmission.start);
            let event = FrameEvent { radio: hearer.radio, frame, packet, start };
            observer.on_reception(self.now, event, Milliwatt(hearer.power()).to_dbm().0, result);
        }
        if result.is_ok() {
            self.sample_snr(hearer);
        }
        match result {
            Err(_) => self.drive_mac(hearer.radio, Some(MacInput::ReceptionError { idle })),
            Ok(()) if frame.to == Address(hearer.radio) || frame.to == Address::BROADCAST => {
                let input = self.received(hearer.radio, frame, idle);
                self.step_mac(hearer.radio, Some(input));
            }
            Ok(()) => self.drive_mac(hearer.radio, Some(MacInput::Overheard { frame: frame.header(), idle })),
        }
    }

    /// What a radio that has received a frame whole gives to its MAC: a packet killer may stand between.
    #[inline]
    fn received(&mut self, radio: u32, frame: &Frame<Msdu>, idle: bool) -> MacInput<Msdu> {
        let Some(killers) = &mut self.killers else { return MacInput::Received { frame: *frame, idle } };
        let event = killers.on_input(self.now, radio, frame, has_data(frame.payload, &self.packets));
        match leaves(event, frame.payload) {
            Err(()) => {
                self.stations[radio as usize].channel_errors += 1;
                MacInput::ReceptionError { idle }
            }
            Ok(None) => MacInput::Received { frame: *frame, idle },
            Ok(Some(damage)) => MacInput::Damaged { frame: *frame, damage, idle },
        }
    }

    /// A MAC hands something up: a frame to its link layer, a packet further.
    pub(super) fn on_mac_delivery(&mut self, radio: u32, from: Address, msdu: Msdu) {
        if msdu.part == Part::Segment {
            self.on_frame(radio, from, msdu, None);
        } else {
            self.take_up(radio, from, msdu);
        }
    }

    /// A MAC hands up what has come damaged: without a link layer it is lost.
    pub(super) fn on_damaged_delivery(&mut self, radio: u32, from: Address, msdu: Msdu, damage: Damage) {
        match msdu.part {
            Part::Segment => self.on_frame(radio, from, msdu, Some(damage)),
            Part::Control | Part::Routing | Part::Beacon => self.packets.release(msdu.packet),
            Part::None | Part::Numbered(_) | Part::Packet(_) => {
                let node = self.stations[radio as usize].node;
                self.drop_packet(node, msdu.packet, DropReason::Damaged);
            }
        }
    }

    /// A packet goes up: to the trunk that the radio serves, or to the network layer.
    pub(super) fn take_up(&mut self, radio: u32, from: Address, msdu: Msdu) {
        let station = &mut self.stations[radio as usize];
        let is_lost = match &mut station.delivery_loss {
            None => false,
            Some(LossBehind::Link(process)) => process.is_lost(),
            Some(LossBehind::Wear(process)) => process.is_lost(self.medium.distance(radio, from.0)),
        };
        if is_lost {
            let node = station.node;
            match msdu.part {
                Part::Control | Part::Routing | Part::Beacon => self.packets.release(msdu.packet),
                _ => self.drop_packet(node, msdu.packet, DropReason::DeliveryLoss),
            }
            return;
        }
        let (node, towards) = (station.node, station.member_towards(from));
        match (msdu.part, towards) {
            (Part::Packet(header), Some((end, port))) => {
                self.tell_arrival(end, port, header.member_number);
                self.step_trunk(end, Some(trunk::Input::Frame { header, packet: msdu.packet }));
            }
            (Part::Numbered(number), Some((end, port))) => {
                self.tell_arrival(end, port, number);
                self.receive(node, Some(from), msdu.packet);
            }
            (Part::Control, towards) => self.on_control_delivery(msdu, towards),
            (Part::Routing, _) => self.on_routing_message(node, from, msdu),
            (Part::Beacon, towards) => self.on_beacon(radio, msdu, towards),
            _ => self.receive(node, Some(from), msdu.packet),
        }
    }

    /// A control frame is for the other end of its trunk, on the same member; a broadcast is heard by everybody.
    #[inline(never)]
    fn on_control_delivery(&mut self, msdu: Msdu, towards: Option<(u32, u8)>) {
        if let Some(ControlFrame { end, member, control }) = self.packets.control(msdu.packet)
            && towards == Some((other_end(end), member.0))
        {
            self.step_trunk(other_end(end), Some(trunk::Input::Control { member, control }));
        }
        self.packets.release(msdu.packet);
    }

    /// A MAC has finished with a control frame.
    #[inline(never)]
    fn on_control_finished(&mut self, msdu: Msdu, fate: trunk::Outcome) {
        let frame = self.packets.control(msdu.packet);
        self.packets.release(msdu.packet);
        if let Some(ControlFrame { end, member, .. }) = frame {
            self.step_trunk(end, Some(trunk::Input::ControlFinished(member, fate)));
            self.refill(NextHop::Trunk(end));
        }
    }

    /// A MAC has finished with a frame or packet.
    pub(super) fn on_mac_finished(&mut self, radio: u32, to: Address, msdu: Msdu, outcome: Outcome, attempts: u32) {
        let node = self.stations[radio as usize].node;
        let Some(msdu) = self.tell_selection(radio, to, msdu, outcome, attempts) else { return };
        match msdu.part {
            Part::Segment => return self.on_frame_finished(radio, to, msdu, outcome),
            Part::Routing => return self.on_routing_finished(node, to, msdu, outcome),
            Part::None if outcome == Outcome::RetryLimit && self.on_demand.is_some() => {
                self.on_link_failure(node, to, msdu.packet);
                return self.refill(NextHop::Radio { radio, neighbour: to });
            }
            Part::None if outcome == Outcome::Acknowledged && self.on_demand.is_some() => {
                self.on_sign_of_life(node, to, aodv::Input::Acknowledged);
            }
            Part::Beacon => return self.packets.release(msdu.packet),
            Part::None | Part::Numbered(_) | Part::Packet(_) | Part::Control => {}
        }
        let (kept, fate) = match outcome {
            Outcome::Acknowledged => (Ok(()), trunk::Outcome::Delivered),
            Outcome::Broadcast | Outcome::Unknown => (Ok(()), trunk::Outcome::Unknown),
            Outcome::RetryLimit => (Err(DropReason::RetryLimit), trunk::Outcome::Lost),
            Outcome::Damaged => (Err(DropReason::Damaged), trunk::Outcome::Lost),
            Outcome::QueueFull => (Err(DropReason::InterfaceQueueFull), trunk::Outcome::Lost),
            Outcome::Purged => (Err(DropReason::LinkBroken), trunk::Outcome::Lost),
        };
        self.settle(node, radio, to, msdu, kept, fate);
    }

    /// What is below the network layer has finished with a packet: the trunk or the source may send the next.
    pub(super) fn settle(
        &mut self,
        node: u32,
        radio: u32,
        to: Address,
        msdu: Msdu,
        kept: Result<(), DropReason>,
        fate: trunk::Outcome,
    ) {
        if msdu.part == Part::Control {
            self.on_control_finished(msdu, fate);
            return;
        }
        match kept {
            Ok(()) => self.packets.release(msdu.packet),
            Err(reason) => self.drop_packet(node, msdu.packet, reason),
        }
        match self.stations[radio as usize].member_towards(to) {
            Some((end, member)) if matches!(msdu.part, Part::Packet(_)) => {
                self.step_trunk(end, Some(trunk::Input::Finished(trunk::Member(member), fate)));
                self.refill(NextHop::Trunk(end));
            }
            _ => self.refill(NextHop::Radio { radio, neighbour: Address(radio) }),
        }
    }
}

/// The other end of the trunk: both ends of each trunk stand next to each other.
const fn other_end(end: u32) -> u32 {
    end ^ 1
}
