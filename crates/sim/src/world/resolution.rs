//! ARP at work: a machine on each node, between AODV and the MAC, where a scenario asks for it.
//!
//! Its messages stand in the table of packets like those of AODV, and go to the tail of the interface queue.

use super::packet::{Carried, DropReason, Msdu, Part};
use super::routing::NextHop;
use super::{Work, World};
use airbraid_engine::step;
use airbraid_mac::{Address, MacInput, Outcome, service};
use airbraid_net::aodv::Node;
use airbraid_net::arp;

/// What waits for a neighbour's address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unsent {
    /// A packet, or a message of AODV.
    pub msdu: Msdu,
    /// Whether it goes to the head of the interface queue.
    pub overtakes: bool,
}

impl World<'_> {
    /// Sends to a neighbour what AODV has for it, as soon as its address is known.
    pub(super) fn send_to_neighbour(&mut self, node: u32, to: Node, unsent: Unsent) {
        let Some(on_demand) = &self.on_demand else { return };
        let router = &on_demand.nodes[node as usize];
        let (radio, address) = (router.radio, on_demand.address(to));
        if router.resolver.is_some() {
            self.step_resolver(node, arp::Input::Send { to, packet: unsent });
        } else {
            self.enqueue(radio, address, unsent);
        }
    }

    /// Hands a packet or message to the MAC, or to the link layer above it.
    pub(super) fn enqueue(&mut self, radio: u32, to: Address, unsent: Unsent) {
        let Unsent { msdu, overtakes } = unsent;
        match msdu.part {
            Part::Routing if overtakes => {
                self.step_mac(radio, Some(MacInput::EnqueueFirst(service::Msdu { to, packet: msdu })));
            }
            Part::Routing => self.step_mac(radio, Some(MacInput::Enqueue(service::Msdu { to, packet: msdu }))),
            _ => self.hand_down(radio, to, msdu),
        }
    }

    /// Drives a node's ARP, which has no timer.
    pub(super) fn step_resolver(&mut self, node: u32, input: arp::Input<Unsent>) {
        let Self { on_demand: Some(on_demand), pending, now, .. } = self else { return };
        if let Some(resolver) = &mut on_demand.nodes[node as usize].resolver {
            step(resolver, *now, Some(input), |output| pending.push_back(Work::Resolver(node, output)));
        }
    }

    pub(super) fn on_resolver_output(&mut self, node: u32, output: arp::Output<Unsent>) {
        let Some(on_demand) = &mut self.on_demand else { return };
        let radio = on_demand.nodes[node as usize].radio;
        match output {
            arp::Output::Send { to, packet } => {
                let address = on_demand.address(to);
                self.enqueue(radio, address, packet);
            }
            arp::Output::Message { to, message } => {
                let address = to.map_or(Address::BROADCAST, |to| on_demand.address(to));
                let packet = self.packets.create_carried(self.now, Carried::Resolution(message));
                let msdu = Msdu { packet, overhead: 0, part: Part::Routing };
                self.enqueue(radio, address, Unsent { msdu, overtakes: false });
            }
            arp::Output::Drop(Unsent { msdu, .. }) if msdu.part == Part::Routing => {
                on_demand.lost += 1;
                self.packets.release(msdu.packet);
            }
            arp::Output::Drop(Unsent { msdu, .. }) => {
                self.drop_packet(node, msdu.packet, DropReason::AddressUnknown);
                self.refill(NextHop::Radio { radio, neighbour: Address::BROADCAST });
            }
            arp::Output::Unreachable { to, packet: Unsent { msdu, .. } } => {
                let address = on_demand.address(to);
                self.on_mac_finished(radio, address, msdu, Outcome::RetryLimit, 0);
            }
        }
    }
}
