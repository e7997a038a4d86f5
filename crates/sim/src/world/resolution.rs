//! ARP at work: a machine on each node, between AODV and the MAC, where a scenario asks for it.
//!
//! Its messages stand in the table of packets like those of AODV, and go to the tail of the interface queue.

use super::frame::Unsent;
use super::host::{Host, Work};
use super::id::NodeId;
use airbraid_engine::step;
use airbraid_net::arp::{Arp, Input};

/// A node's ARP.
#[derive(Debug)]
pub struct Resolver {
    node: NodeId,
    machine: Arp<Unsent>,
}

impl Resolver {
    pub fn new(node: NodeId) -> Self {
        Self { node, machine: Arp::new(node.router()) }
    }

    /// Drives the machine, which has no timer.
    pub fn step(&mut self, input: Input<Unsent>, host: &mut Host<'_>) {
        let (node, now) = (self.node, host.now);
        step(&mut self.machine, now, Some(input), |output| host.pending.push_back(Work::Resolver(node, output)));
    }
}
