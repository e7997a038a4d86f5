//! A world driven from outside: real packets enter at a node's network layer and leave at another's, in somebody
//! else's time.
//!
//! The lab drives it by the monotonic clock; nothing here knows of a clock, and nothing looks at a packet's bytes: the
//! driver keeps them under a handle, and hears when the packet has arrived and when its last copy is gone.

use super::packet::{Body, Msdu, NewPacket, PacketRef, Part};
use super::routing::{NextHop, trunk_hop};
use super::{Observer, World};
use crate::recorder::{Payloads, Recorder, Recording};
use crate::result::MacResult;
use crate::run::RunError;
use crate::scenario::spec::{Interface, Spec};
use airbraid_engine::TrafficClass;
use airbraid_engine::trunk::{bonding as tunnel, paper as trunk};
use airbraid_mac::Address;
use airbraid_units::Instant;
use std::cell::RefCell;

/// A packet from outside, as its driver describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct External {
    /// Under which the driver keeps its bytes, until [`World::take_released`] gives it back.
    pub handle: u32,
    /// Index of the node that it enters at.
    pub from: u32,
    /// Index of the node that it is for.
    pub to: u32,
    /// The interface of that node that it leaves by; `None`: the one that the route names.
    pub via: Option<Interface>,
    /// Length of the IP packet \[byte\].
    pub len: u32,
    /// What its flow is told apart by.
    pub bucket: u16,
    /// Whether it is a TCP segment that only acknowledges.
    pub is_acknowledgement: bool,
}

/// A packet from outside has reached its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The packet's handle.
    pub handle: u32,
    /// Index of the node.
    pub node: u32,
    /// When.
    pub at: Instant,
}

/// How full the first queue on a packet's way is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Packets that wait.
    pub waiting: u32,
    /// Packets that may.
    pub limit: u32,
    /// Whether a driver may wait for room: the queue of a radio or trunk is its host's own, that of a link is not.
    pub is_device: bool,
}

/// What waits for the driver.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    deliveries: Vec<Delivery>,
}

impl<'a> World<'a> {
    /// A world for an outside driver. With `recording`, the frames of every radio are captured there, packets from
    /// outside with their bytes in `payloads`, by handle.
    ///
    /// # Errors
    /// What a model refuses: the scenario was not checked.
    pub fn external(
        spec: &'a Spec,
        seed: u64,
        recording: Option<(&'a RefCell<Recording>, &'a Payloads)>,
    ) -> Result<Self, RunError> {
        let observer = recording.map(|(recording, payloads)| {
            let recorder = Recorder::new(spec, true, false, recording).with_payloads(payloads);
            Box::new(recorder) as Box<dyn Observer>
        });
        Self::new(spec, seed, observer).map_err(RunError::Refused)
    }

    /// Carries out every event up to `until`, which is then the world's time; `on_event` hears the time of each.
    pub fn run_until(&mut self, until: Instant, on_event: &mut dyn FnMut(Instant)) {
        while let Some(at) = self.process_next(until) {
            on_event(at);
        }
        self.now = self.now.max(until);
    }

    /// The world's time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// When the next event is; [`Instant::MAX`] if there is none.
    pub fn next_event_at(&self) -> Instant {
        self.queue.next_at().map_or(self.alarms.next_at(), |at| at.min(self.alarms.next_at()))
    }

    /// What each radio's MAC has counted so far.
    pub fn macs(&self) -> Vec<MacResult> {
        self.mac_results()
    }

    /// Ends the run now: results are of the time up to here.
    pub fn finish(&mut self) {
        self.end = self.now;
    }

    /// How full the first queue on the way is; `None` if no way leads there.
    pub fn room(&mut self, packet: &External) -> Option<Room> {
        let room = |waiting: usize, limit, is_device| Room { waiting: waiting as u32, limit, is_device };
        Some(match self.first_hop(packet)? {
            NextHop::Radio { radio, neighbour } => {
                let station = &self.stations[radio as usize];
                match station.link_layer_towards(neighbour) {
                    Some(end) => {
                        let state = &self.link_layers[end as usize];
                        room(state.queue_len(), state.queue_limit, true)
                    }
                    None => room(station.mac.queue_len(), station.queue_limit, true),
                }
            }
            NextHop::Trunk(end) => {
                let state = &self.trunks[end as usize];
                room(state.trunk.queue_len(), state.queue_limit, true)
            }
            NextHop::Tunnel(end) => {
                let state = &self.tunnels[end as usize];
                room(state.tunnel.queue_len(), state.queue_limit, true)
            }
            NextHop::Link(direction) => {
                let (waiting, limit) = self.link_queue(direction);
                room(waiting, limit, false)
            }
        })
    }

    /// A packet enters at the network layer of its first node, now.
    pub fn inject(&mut self, external: &External) {
        let External { handle, from, to, len, bucket, is_acknowledgement, .. } = *external;
        let hop = self.first_hop(external);
        let body = Body::External { handle, is_acknowledgement };
        let (flow, class) = (u32::from(bucket), TrafficClass::Bulk);
        let packet = self.packets.create(NewPacket { flow, from, to, len, class, created: self.now, body });
        match hop {
            None => self.send(from, packet),
            Some(NextHop::Radio { radio, neighbour }) => {
                let msdu = Msdu { packet, overhead: 0, part: Part::None };
                self.hand_down(radio, neighbour, msdu);
            }
            Some(NextHop::Trunk(end)) => self.step_trunk(end, Some(trunk::Input::Packet(packet))),
            Some(NextHop::Link(direction)) => self.hand_to_link(direction, packet),
            Some(NextHop::Tunnel(end)) => self.step_tunnel(end, Some(tunnel::Input::Packet(packet))),
        }
        self.work_off();
    }

    /// Moves what has arrived since the last call to the end of `deliveries`, in the order of arrival.
    pub fn take_deliveries(&mut self, deliveries: &mut Vec<Delivery>) {
        deliveries.append(&mut self.outbox.deliveries);
    }

    /// Moves the handles of packets that are gone, delivered or not, to the end of `handles`.
    pub fn take_released(&mut self, handles: &mut Vec<u32>) {
        self.packets.take_released(handles);
    }

    /// Hands a packet to the driver.
    pub(super) fn deliver_external(&mut self, node: u32, packet: PacketRef, handle: u32) {
        self.outbox.deliveries.push(Delivery { handle, node, at: self.now });
        self.packets.deliver(packet);
    }

    fn first_hop(&mut self, packet: &External) -> Option<NextHop> {
        let External { from, to, via, .. } = *packet;
        let routed = self.routes.next_hop(from, to);
        match via {
            None => routed,
            Some(Interface::Radio(radio)) => {
                let radio = super::build::first_radios(self.spec)[from as usize] + radio as u32;
                let direct = self.neighbour(radio, to).map(|neighbour| NextHop::Radio { radio, neighbour });
                let leaves_here = |hop: &NextHop| matches!(hop, NextHop::Radio { radio: other, .. } if *other == radio);
                direct.or(routed.filter(leaves_here))
            }
            Some(Interface::Link(link)) => {
                let side = self.spec.links[link].between.iter().position(|end| *end == from as usize)?;
                let hop = NextHop::Link((2 * link + side) as u32);
                let is_direct = self.spec.links[link].between[1 - side] == to as usize;
                (is_direct || routed == Some(hop)).then_some(hop)
            }
            Some(Interface::Trunk(trunk)) => {
                let side = self.spec.trunks[trunk].between().iter().position(|end| *end == from as usize)?;
                Some(trunk_hop(self.spec, trunk, side))
            }
        }
    }

    /// The radio of a node that hears this radio, the first if there are several.
    fn neighbour(&mut self, radio: u32, node: u32) -> Option<Address> {
        let of_node = (0..self.stations.len()).filter(|&other| self.stations[other].node == node);
        let others: arrayvec::ArrayVec<usize, 64> = of_node.take(64).collect();
        others.into_iter().find(|&to| self.medium.reaches(radio as usize, to)).map(|to| Address(to as u32))
    }
}
