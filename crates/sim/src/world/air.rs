//! The air at work: a transmission runs over its hearers as it begins and as it ends, and their MACs hear of it.

use super::World;
use super::frame::{Msdu, MsduKind};
use super::host::{Event, Host};
use super::id::{NodeId, RadioId, TransmissionId};
use super::killers::leaves;
use super::medium::{Begun, Ended, Ending, Hearer, Loss, Stage, Transmission};
use super::observe::FrameEvent;
use super::packet::Body;
use super::port::radio::RadioPort;
use crate::queue::Phase;
use airbraid_mac::edca::Ppdu;
use airbraid_mac::{Address, Damage, Frame, MacInput};
use airbraid_units::Instant;
use std::sync::Arc;

impl World<'_> {
    /// A radio has changed its channel.
    pub(super) fn on_tuned(&mut self, radio: RadioId) {
        let is_busy = self.host.medium.on_tuned(radio);
        if let Some(idle) = self.host.medium.take_secondary() {
            self.ports.radios[radio].on_secondary(self.host.now, idle);
        }
        if is_busy {
            self.ports.radios[radio].step(Some(MacInput::Busy), &mut self.host);
        }
    }

    /// A transmission reaches its next hearers.
    #[inline(never)]
    pub(super) fn on_beginning(&mut self, id: TransmissionId) {
        let Some(transmission) = self.host.medium.transmission_mut(id) else { return };
        let stage = std::mem::replace(&mut transmission.stage, Stage::Begun);
        let (from, start, begun) = (transmission.from, transmission.start, transmission.begun);
        let (channel, end, turn) = (transmission.channel, transmission.end, transmission.commitment.end);
        let (airtime, is_wide) = (end - start, transmission.narrowed.is_none());
        let at_hearers = Begun { id, channel, end, is_wide };
        let row = self.host.medium.take_row(from);
        // Its end comes into the queue when it has begun, which is shorter by that.
        if let (Stage::Announced, Some(first)) = (stage, row.first()) {
            self.host.queue.push_at(turn, end + first.delay(), Phase::ReceptionEnd, Event::Ending(id));
        }
        for (place, &hearer) in row.iter().enumerate().skip(begun) {
            let at = start + hearer.delay();
            if at > self.host.now && !self.advance_to(at) {
                self.host.medium.set_begun(id, place);
                self.host.queue.push(at, Phase::ReceptionStart, Event::Beginning(id));
                break;
            }
            if self.host.beginnings.have_waited {
                let port = &mut self.ports.radios[hearer.radio];
                if port.coming.is_some_and(|coming| coming.begun.id == id) {
                    continue;
                }
                port.catch_up(&mut self.host);
            }
            let beginning = self.host.medium.on_beginning(self.host.now, at_hearers, hearer);
            if self.host.medium.has_news() {
                self.pass_on_news(id, hearer.radio);
            }
            let until = end + hearer.delay();
            self.ports.radios[hearer.radio].on_beginning(beginning, (until, airtime), &mut self.host);
        }
        self.host.medium.put_row(from, row);
    }

    /// A part of a wide channel has changed at a radio, or a PPDU has begun of which its MAC is to hear MPDU by MPDU.
    #[inline(never)]
    fn pass_on_news(&mut self, id: TransmissionId, radio: RadioId) {
        if let Some(idle) = self.host.medium.take_secondary() {
            self.ports.radios[radio].on_secondary(self.host.now, idle);
        }
        if let Some(at) = self.host.medium.take_first_mpdu() {
            if self.host.may_act_on(id, self.ports.radios[radio].node()) {
                self.host.queue.push(at, Phase::ReceptionEnd, Event::MpdusEnd(radio));
            } else {
                self.host.medium.defer_mpdus(radio);
            }
        }
    }

    /// MPDUs end at a radio, and more of their PPDU is to come.
    pub(super) fn on_mpdus_end(&mut self, radio: RadioId) {
        let Some(ended) = self.host.medium.on_mpdus_end(self.host.now, radio) else { return };
        if let Some(next) = ended.next {
            self.host.queue.push(next, Phase::ReceptionEnd, Event::MpdusEnd(radio));
        }
        self.take_mpdus(radio, &ended);
    }

    /// A link of a device is about to answer: what has come on the others is in its block acknowledgement.
    fn take_deferred(&mut self, radio: RadioId) {
        let Some(device) = self.ports.radios[radio].device() else { return };
        for place in 0..self.host.devices[device].links.len() {
            let other = self.host.devices[device].links[place];
            if other != radio
                && let Some(ended) = self.host.medium.on_answer(self.host.now, other)
            {
                self.take_mpdus(other, &ended);
            }
        }
    }

    /// The MAC of a radio gets those of some MPDUs that are intact.
    fn take_mpdus(&mut self, radio: RadioId, ended: &Ended) {
        let Ended { ppdu, places, left, .. } = ended;
        let mut from = places.start;
        while from < places.end {
            let medium = &self.host.medium;
            let until = (from..places.end).find(|place| !medium.has_come(radio, *place)).unwrap_or(places.end);
            if until > from {
                (from..until).for_each(|place| retain(ppdu, place, &mut self.host));
                let input = MacInput::MpdusEnd { ppdu: Arc::clone(ppdu), places: from..until, left: *left };
                self.ports.radios[radio].step(Some(input), &mut self.host);
            }
            from = until + 1;
        }
    }

    /// A transmission ends at its next hearers.
    #[inline(never)]
    pub(super) fn on_ending(&mut self, id: TransmissionId) {
        let Some(mut transmission) = self.host.medium.take_transmission(id) else { return };
        let (from, end) = (transmission.from, transmission.end);
        let row = self.host.medium.take_row(from);
        let mut reached = row.len();
        for (place, &hearer) in row.iter().enumerate().skip(transmission.ended) {
            let at = end + hearer.delay();
            if at > self.host.now && !self.advance_to(at) {
                self.host.queue.push(at, Phase::ReceptionEnd, Event::Ending(id));
                reached = place;
                break;
            }
            let ending = self.end_at(id, &transmission, hearer);
            if self.host.medium.has_news() {
                self.pass_on_news(id, hearer.radio);
            }
            match ending {
                Ending::Nothing => {}
                Ending::Idle => self.ports.radios[hearer.radio].hear(|| Some(MacInput::Idle), &mut self.host),
                Ending::Reception { result, idle } => {
                    let is_own = transmission.ppdu.is_some() && transmission.frame.to == hearer.radio.address();
                    if result.is_ok() && is_own {
                        self.take_deferred(hearer.radio);
                    }
                    end_reception(
                        &mut self.ports.radios[hearer.radio],
                        hearer,
                        &transmission,
                        (result, idle),
                        &mut self.host,
                    );
                }
            }
        }
        let is_over = reached == row.len();
        transmission.ended = reached;
        self.host.medium.put_row(from, row);
        if is_over {
            if let Some(msdu) = transmission.frame.payload {
                self.host.packets.release(msdu.packet);
            }
            if let Some(ppdu) = transmission.ppdu.take() {
                self.host.release_ppdu(&ppdu);
            }
            self.host.medium.finish(id, from);
        }
        self.host.medium.put_transmission(id, transmission);
    }

    /// Goes on to `at` without the queue, if nothing comes before: the hearers of one frame lie nanoseconds apart.
    fn advance_to(&mut self, at: Instant) -> bool {
        let Self { host, end, events, .. } = self;
        let is_next = host.pending.is_empty() && at <= *end && at < host.next_at().min(host.starts_at);
        if is_next {
            host.now = at;
            *events += 1;
        }
        is_next
    }
}

impl Host<'_> {
    /// A PPDU is no longer on the air: one reference less to each of its packets.
    #[inline(never)]
    fn release_ppdu(&mut self, ppdu: &Ppdu<Msdu>) {
        for msdu in ppdu.msdus() {
            self.packets.release(msdu.packet);
        }
    }

    /// Whether something may follow from an MPDU of a PPDU, at the node that it is for, before the PPDU ends: nothing
    /// does from datagrams that have reached their destination.
    fn may_act_on(&self, id: TransmissionId, node: NodeId) -> bool {
        let ppdu = self.medium.transmission(id).and_then(|transmission| transmission.ppdu.as_deref());
        let is_final = |msdu: &Msdu| {
            msdu.kind == MsduKind::Plain && {
                let record = self.packets.get(msdu.packet);
                record.to == node.address() && matches!(record.body, Body::Datagram { .. })
            }
        };
        !ppdu.is_some_and(|ppdu| ppdu.msdus().iter().all(is_final))
    }
}

fn end_reception(
    port: &mut RadioPort,
    hearer: Hearer,
    transmission: &Transmission,
    (result, idle): (Result<(), Loss>, bool),
    host: &mut Host<'_>,
) {
    let frame = &transmission.frame;
    let own = hearer.radio.address();
    let is_readable = transmission.ppdu.as_ref().is_none_or(|ppdu| port.reads(&ppdu.vector));
    let result = if is_readable { result } else { Err(Loss::Channel) };
    if host.observer.is_some() {
        tell_reception(hearer, transmission, result, host);
    }
    match result {
        Err(loss) => {
            if frame.to == own {
                port.count_loss(loss);
            }
            port.hear(|| Some(MacInput::ReceptionError { idle }), host);
        }
        Ok(()) => {
            port.note_level(frame.from, hearer.power(), host);
            if let Some(ppdu) = transmission.ppdu.as_ref().filter(|_| frame.to == own) {
                let input = received_ppdu(ppdu, idle, host);
                port.step(Some(input), host);
            } else if frame.to == own || frame.to == Address::BROADCAST {
                match received(port, hearer.radio, frame, host) {
                    Heard::Whole => port.receive(frame, idle, host),
                    Heard::Damaged(damage) => port.step(Some(MacInput::Damaged { frame: *frame, damage, idle }), host),
                    Heard::Nothing => port.step(Some(MacInput::ReceptionError { idle }), host),
                }
            } else {
                port.hear(|| Some(MacInput::Overheard { frame: frame.header(), idle }), host);
            }
        }
    }
}

/// Tells who listens of the end of a reception. Out of the way of runs without recordings.
#[cold]
#[inline(never)]
fn tell_reception(hearer: Hearer, transmission: &Transmission, result: Result<(), Loss>, host: &mut Host<'_>) {
    let Some(observer) = host.observer.as_deref_mut() else { return };
    let (frame, ppdu) = (&transmission.frame, transmission.ppdu.as_deref());
    let msdu = ppdu.map_or(frame.payload, |ppdu| ppdu.msdus().first().copied());
    let packet = msdu.and_then(|msdu| msdu.packet()).map(|packet| host.packets.get(packet));
    let intact = host.medium.intact().filter(|_| ppdu.is_some());
    let start = host.now.saturating_sub(transmission.end - transmission.start);
    let packets = &host.packets;
    let event = FrameEvent { radio: hearer.radio, frame, ppdu, intact, packet, packets, start, end: host.now };
    observer.on_reception(host.now, &event, host.powers.dbm(hearer.power()), result);
}

/// The input of a radio that has received a PPDU, or a part of it, for its MAC: it gets a reference to each packet.
fn received_ppdu(ppdu: &Arc<Ppdu<Msdu>>, idle: bool, host: &mut Host<'_>) -> MacInput<Msdu> {
    let (intact, ended) = host.medium.take_intact();
    if intact.is_none() && ended == 0 {
        for msdu in ppdu.msdus() {
            host.packets.retain(msdu.packet);
        }
    } else {
        let count = ppdu.data().map_or(0, |data| data.mpdus().len() as u32);
        let came = |place: &u32| intact.as_ref().is_none_or(|intact| intact.contains(*place as usize));
        (ended..count).filter(came).for_each(|place| retain(ppdu, place, host));
    }
    MacInput::ReceivedPpdu { ppdu: Arc::clone(ppdu), intact, ended, idle }
}

/// One more reference to the packets of the MPDU at a place.
fn retain(ppdu: &Ppdu<Msdu>, place: u32, host: &mut Host<'_>) {
    let mpdu = ppdu.data().and_then(|data| Some((data, data.mpdus().get(place as usize)?)));
    for msdu in mpdu.iter().flat_map(|(data, mpdu)| data.msdus_of(mpdu)) {
        host.packets.retain(msdu.packet);
    }
}

/// The part of a frame that a packet killer lets through.
enum Heard {
    Whole,
    Damaged(Damage),
    Nothing,
}

/// Returns the part that a MAC hears of a frame that its radio has received whole: a packet killer may stand between.
#[inline]
fn received(port: &mut RadioPort, radio: RadioId, frame: &Frame<Msdu>, host: &mut Host<'_>) -> Heard {
    let Some(killers) = &mut host.killers else { return Heard::Whole };
    let event = killers.on_input(host.now, radio, frame, &host.packets);
    match leaves(event, frame.payload) {
        Err(()) => {
            port.count_loss(Loss::Channel);
            Heard::Nothing
        }
        Ok(None) => Heard::Whole,
        Ok(Some(damage)) => Heard::Damaged(damage),
    }
}
