//! Packet killers at work: what becomes of a frame between a radio and its driver.

use super::frame::{FrameBody, Msdu, MsduKind};
use super::id::RadioId;
use super::packet::Packets;
use super::radio_map::RadioMap;
use crate::killer::environment::PACKET_BYTES;
use crate::killer::trace::Summary;
use crate::killer::{Acts, Cursor, Event};
use crate::metric::Flat;
use crate::result::{KillerCounts, KillerResult};
use crate::scenario::spec::{self, Spec};
use airbraid_engine::{Packet, Stream};
use airbraid_mac::{Address, Damage, Frame};
use airbraid_units::{Bytes, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// To whom a frame goes that is lost on output: it takes its time on the air, and is for nobody.
pub const NOBODY: Address = Address(u32::MAX - 1);

/// The killers of a run.
#[derive(Debug)]
pub struct Killers(Vec<Killer>);

#[derive(Debug)]
struct Killer {
    /// Radios, from the one to the other.
    ends: [RadioId; 2],
    data_only: bool,
    start: Instant,
    /// By direction.
    output: [Cursor; 2],
    input: [Cursor; 2],
    /// Frames on the air that are damaged since they left, by their sequence numbers.
    damaged: [VecDeque<(u16, Event)>; 2],
    counts: KillerCounts,
}

impl Killer {
    fn count(&mut self, event: Event) {
        match event {
            Event::Fine => {}
            Event::Lost => self.counts.lost += 1,
            Event::Truncated { .. } => self.counts.truncated += 1,
            Event::Corrupted { .. } => self.counts.corrupted += 1,
        }
    }

    /// Whether a frame takes an event.
    fn takes_event(&self, now: Instant, has_data: bool) -> bool {
        now >= self.start && (has_data || !self.data_only)
    }

    /// The damage with which a frame left. What left before it and has not come was lost.
    fn since_it_left(&mut self, direction: usize, sequence: u16) -> Event {
        let damaged = &mut self.damaged[direction];
        while let Some((number, event)) = damaged.pop_front() {
            if number == sequence {
                return event;
            }
            // Half of the numbers are behind, half ahead.
            if sequence.wrapping_sub(number) & 4095 >= 2048 {
                damaged.push_front((number, event));
                break;
            }
        }
        Event::Fine
    }
}

impl Killers {
    /// The killers of `spec`, which has some; each cursor begins where `seed` says, or with the first event.
    pub fn new(spec: &Spec, radios: &RadioMap, seed: u64) -> Self {
        let killer = |(index, killer): (usize, &spec::Killer)| {
            let ends = killer.ends.map(|at| radios.id(at));
            let mut random = Stream::new(seed, index as u64, "killer.start");
            let mut cursor = |acts: Acts| {
                let last = (killer.events.len() as u32).saturating_sub(1);
                let drawn = random.up_to(last) as usize;
                Cursor::new(Arc::clone(&killer.events), if killer.random_phase { drawn } else { 0 }, acts)
            };
            let output = killer.output.map(&mut cursor);
            let input = killer.input.map(cursor);
            let (damaged, counts) = Default::default();
            Killer { ends, data_only: killer.data_only, start: killer.start, output, input, damaged, counts }
        };
        Self(spec.killers.iter().enumerate().map(killer).collect())
    }

    /// Whether a frame that leaves a radio is lost there.
    pub fn on_output(&mut self, now: Instant, radio: RadioId, frame: &Frame<Msdu>, packets: &Packets) -> bool {
        let has_data = has_data(frame.payload, packets);
        let mut is_lost = false;
        for killer in self.0.iter_mut().filter(|killer| killer.takes_event(now, has_data)) {
            if let Some(direction) = killer.ends.iter().position(|end| *end == radio) {
                let event = killer.output[direction].take();
                killer.counts.frames += 1;
                killer.count(event);
                match event {
                    Event::Fine => {}
                    Event::Lost => is_lost = true,
                    Event::Truncated { .. } | Event::Corrupted { .. } => {
                        killer.damaged[direction].push_back((frame.sequence, event));
                    }
                }
            }
        }
        is_lost
    }

    /// The event for a frame as it arrives at `to`.
    pub fn on_input(&mut self, now: Instant, to: RadioId, frame: &Frame<Msdu>, packets: &Packets) -> Event {
        let (from, has_data) = (RadioId::of(frame.from), has_data(frame.payload, packets));
        let mut worst = Event::Fine;
        for killer in self.0.iter_mut().filter(|killer| killer.takes_event(now, has_data)) {
            if let Some(direction) = direction(killer.ends, from, to) {
                let event = killer.input[direction].take();
                killer.count(event);
                worst = worse(worse(worst, event), killer.since_it_left(direction, frame.sequence));
            }
        }
        worst
    }

    /// The event for the next frame with data.
    pub fn foretell(&self, from: RadioId, to: RadioId) -> Event {
        let meets = |killer: &Killer| {
            let direction = direction(killer.ends, from, to)?;
            Some(worse(killer.output[direction].peek(), killer.input[direction].peek()))
        };
        self.0.iter().filter_map(meets).fold(Event::Fine, worse)
    }

    /// The results of each killer.
    pub fn results(&self, spec: &Spec) -> Vec<KillerResult> {
        let result = |(killer, spec): (&Killer, &spec::Killer)| KillerResult {
            name: spec.name.clone(),
            counts: Flat(killer.counts),
            list: Flat(Summary::of(&spec.events, PACKET_BYTES)),
        };
        self.0.iter().zip(&spec.killers).map(result).collect()
    }
}

fn direction(ends: [RadioId; 2], from: RadioId, to: RadioId) -> Option<usize> {
    if ends == [from, to] {
        Some(0)
    } else if ends == [to, from] {
        Some(1)
    } else {
        None
    }
}

/// The one that leaves less of a frame.
fn worse(a: Event, b: Event) -> Event {
    let severity = |event: Event| match event {
        Event::Fine => 0,
        Event::Corrupted { symbols, .. } => 1 + u32::from(symbols),
        Event::Truncated { at, .. } => 200_000 - u32::from(at),
        Event::Lost => u32::MAX,
    };
    if severity(b) > severity(a) { b } else { a }
}

/// Whether a frame carries data, and not only what MAC and error control have to say.
fn has_data(payload: Option<Msdu>, packets: &Packets) -> bool {
    payload.is_some_and(|msdu| match msdu.kind {
        MsduKind::Segment => {
            matches!(packets.frame(msdu.packet), Some(FrameBody::Segment(frame)) if frame.packet.is_some())
        }
        _ => true,
    })
}

/// The effect of `event` on a frame's payload: `Err` if the frame is lost, otherwise the damage if there is any.
pub fn leaves(event: Event, payload: Option<Msdu>) -> Result<Option<Damage>, ()> {
    match (event, payload) {
        (Event::Lost, _) => Err(()),
        // A frame of the MAC alone is short and has no code.
        (Event::Corrupted { .. }, None) => Err(()),
        (Event::Corrupted { symbols, .. }, Some(_)) => Ok(Some(Damage::Corrupted(u32::from(symbols)))),
        (Event::Truncated { at, .. }, Some(msdu)) if msdu.len() > Bytes::new(u64::from(at)) => {
            Ok(Some(Damage::Truncated(Bytes::new(u64::from(at)))))
        }
        (Event::Fine | Event::Truncated { .. }, _) => Ok(None),
    }
}
