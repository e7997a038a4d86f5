//! ARP at work: a machine on each node, between AODV and the MAC, where a scenario asks for it.
//!
//! Its messages stand in the table of packets like those of AODV, and go to the tail of the interface queue.

use super::frame::{Msdu, MsduKind};
use super::host::{Host, Work};
use super::id::NodeId;
use super::port::radio::RadioPort;
use airbraid_engine::step;
use airbraid_mac::{Address, MacInput, service};
use airbraid_net::arp::{Arp, Input};

/// A packet or message that AODV has for a neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsent {
    pub msdu: Msdu,
    /// Whether it goes to the head of the interface queue.
    pub overtakes: bool,
}

impl Unsent {
    /// It goes to the MAC.
    pub fn enqueue(self, port: &mut RadioPort, to: Address, host: &mut Host<'_>) {
        let Self { msdu, overtakes } = self;
        if msdu.kind == MsduKind::Routing && overtakes {
            port.step(Some(MacInput::EnqueueFirst(service::Msdu { to, packet: msdu })), host);
        } else {
            port.send(to, msdu, host);
        }
    }
}

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
