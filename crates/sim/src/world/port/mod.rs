//! The ports of all nodes: what packets leave a node by and come in through.
//!
//! A node is a stack of ports. Each owns its machines, its queue's limit and its options, and has the same few methods:
//! `send` takes a packet, `on_output` carries out what its machine says, `on_frame` hears what has come, `step` is its
//! timer, `free_space` says how full its queue is. A port that stands on others gets their table with the call, all get
//! the [`Host`]; what goes up is returned, and `walk.rs` takes it further.

mod build;
pub(super) mod delivery_loss;
pub(super) mod error_control;
mod free_space;
pub(super) mod link;
pub(super) mod link_trunk;
pub(super) mod mac;
pub(super) mod multi_link;
pub(super) mod radio;
pub(super) mod radio_trunk;
mod rate_steps;
pub(super) mod select;
pub(super) mod selective_repeat;
pub(super) mod snr;

pub use free_space::FreeSpace;

use super::frame::{Msdu, PacketRef};
use super::host::Host;
use super::id::{LinkDirection, LinkTrunkEnd, PortId, RadioId, RadioTrunkEnd, StopAndWaitId, Table};
use super::share::Things;
use link::LinkPort;
use link_trunk::LinkTrunkPort;
use radio::RadioPort;
use radio_trunk::RadioTrunkPort;

/// The ports of all nodes, by kind.
#[derive(Debug, Default)]
pub struct Ports {
    pub radios: Table<RadioId, RadioPort>,
    pub radio_trunks: Table<RadioTrunkEnd, RadioTrunkPort>,
    pub link_trunks: Table<LinkTrunkEnd, LinkTrunkPort>,
    pub links: Table<LinkDirection, LinkPort>,
    /// The radio of each end of stop-and-wait error control.
    pub stop_and_wait: Table<StopAndWaitId, RadioId>,
}

impl Ports {
    /// A packet leaves by a port.
    #[inline]
    pub fn send(&mut self, port: PortId, packet: PacketRef, host: &mut Host<'_>) {
        match port {
            PortId::Radio { radio, neighbour } => self.radios[radio].send(neighbour, Msdu::plain(packet), host),
            PortId::RadioTrunk(end) => self.radio_trunks[end].send(packet, host),
            PortId::LinkTrunk(end) => self.link_trunks[end].send(packet, host),
            PortId::Link(direction) => self.links[direction].send(packet, host),
        }
    }

    /// Takes over the ports of other nodes.
    pub fn take_over(&mut self, other: Self, things: &Things) {
        self.radios.take_over(other.radios, |radio| things.radios[radio]);
        self.links.take_over(other.links, |link| things.links[link]);
        self.link_trunks.take_over(other.link_trunks, |end| things.link_trunks[end]);
        self.radio_trunks.take_over(other.radio_trunks, |end| things.radio_trunks[end]);
    }

    /// Free space of the queue of a port for packets of this user priority.
    pub fn free_space(&self, port: PortId, priority: u8, host: &Host<'_>) -> FreeSpace {
        match port {
            PortId::Radio { radio, neighbour } => self.radios[radio].free_space(neighbour, priority, host),
            PortId::RadioTrunk(end) => self.radio_trunks[end].free_space(&self.radios, host),
            PortId::LinkTrunk(end) => self.link_trunks[end].free_space(),
            PortId::Link(direction) => self.links[direction].free_space(),
        }
    }
}

#[cfg(test)]
mod tests;
