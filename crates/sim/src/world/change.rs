//! The scheduled events of a scenario: starts of flows, changes, and samples for the series.

use super::World;
use super::host::Event;
use super::id::{ChangeId, FlowId, LinkDirection, RadioId};
use super::network::Forwarding;
use super::port::link_trunk::LinkTrunkPort;
use crate::phy::ErrorModel;
use crate::queue::Phase;
use crate::scenario::spec::{Change, ChangeKind};
use airbraid_mac::MacInput;
use airbraid_net::link::{LinkConfig, LinkInput};

/// A link after these changes.
fn changed(before: &LinkConfig, own: usize, changes: &[Change]) -> LinkConfig {
    let mut config = before.clone();
    for change in changes {
        match &change.what {
            ChangeKind::LinkRate { link, rate } if *link == own => config.rate = Some(*rate),
            ChangeKind::LinkLoss { link, loss } if *link == own => config.loss = loss.clone(),
            ChangeKind::LinkMtu { link, mtu } if *link == own => config.mtu = Some(*mtu),
            _ => {}
        }
    }
    config
}

impl World<'_> {
    /// Counting begins.
    pub(super) fn begin_counting(&mut self) {
        self.flows.begin_counting();
        if let Some(account) = &mut self.host.account {
            account.begin_counting(self.host.now);
            self.host.devices.iter_mut().for_each(|device| device.begin_counting(self.host.now));
            self.flows.table.ids().for_each(|flow| self.close_interval(flow));
        }
    }

    /// A flow begins.
    pub(super) fn start_flow(&mut self, flow: FlowId) {
        self.place_flow(flow);
        self.flows.start(flow, &mut self.host);
        if self.host.account.is_some() {
            self.close_interval(flow);
        }
    }

    /// A host with several access points gives a flow that begins to one.
    fn place_flow(&mut self, flow: FlowId) {
        let Forwarding::Multihomed(hosts) = &mut self.network.forwarding else { return };
        for (other, state) in self.flows.table.pairs().filter(|(_, state)| state.counts.completed.is_some()) {
            if state.addresses != [state.from.address(), state.to.address()] {
                hosts.close(other);
            }
        }
        let via = self.spec.flows[flow.index()].via.map(|at| self.radio_map.id(at));
        let state = &mut self.flows.table[flow];
        state.addresses = [state.from, state.to].map(|node| hosts.open(node, flow, via));
        let [source, destination] = state.addresses;
        let port = hosts.next_hop(&self.network.routes, state.from, source, destination);
        self.flows.move_to(flow, port);
    }

    /// A change of the scenario takes effect.
    pub(super) fn change(&mut self, change: ChangeId) {
        let spec = self.spec;
        match &spec.changes[change.index()].what {
            ChangeKind::RadioUp { node, radio, up } => {
                let radio = self.radio_map.id((*node, *radio));
                self.ports.radios[radio].catch_up(&mut self.host);
                // A reception under way has no end: what waits for it goes on.
                if self.host.medium.set_up(radio, *up) {
                    let input = if *up { MacInput::Busy } else { MacInput::Idle };
                    self.ports.radios[radio].step(Some(input), &mut self.host);
                }
                self.on_radio(radio, *up);
            }
            ChangeKind::RadioBer { node, radio, ber } => {
                self.host.medium.set_errors(self.radio_map.id((*node, *radio)), ErrorModel::Ber(*ber));
            }
            ChangeKind::LinkUp { link, up } => self.step_link(*link, |_| LinkInput::SetUp(*up)),
            ChangeKind::LinkRate { link, .. }
            | ChangeKind::LinkLoss { link, .. }
            | ChangeKind::LinkMtu { link, .. } => {
                let (link, changes) = (*link, &spec.changes[..=change.index()]);
                self.step_link(link, |side| {
                    LinkInput::SetConfig(changed(&spec.links[link].directions[side], link, changes))
                });
            }
        }
    }

    /// Tells both directions of a link something.
    fn step_link(&mut self, link: usize, input: impl Fn(usize) -> LinkInput<super::frame::PacketRef>) {
        for side in [0, 1] {
            let port = &mut self.ports.links[LinkDirection::of(link, side)];
            port.step(Some(input(side)), &mut self.host);
        }
    }

    /// A radio was switched on or off: members of trunks come or go. Packets in its MAC for a lost member come back.
    fn on_radio(&mut self, radio: RadioId, is_up: bool) {
        let Self { ports, host, .. } = self;
        for (peer, end, member) in ports.radios[radio].members().to_vec() {
            if ports.radio_trunks[end].on_radio(member, is_up, host) {
                ports.radios[radio].step(Some(MacInput::Purge(peer)), host);
            }
        }
    }

    /// Values are sampled for the series, and the next sample is dated.
    pub(super) fn sample(&mut self) {
        for trunk in self.ports.radio_trunks.iter_mut() {
            trunk.sample();
        }
        if self.spec.record.members {
            self.ports.link_trunks.iter_mut().for_each(LinkTrunkPort::sample);
        }
        if self.spec.record.sequence {
            self.flows.sample_sequences();
        }
        let next = self.host.now + self.spec.record.interval;
        self.host.queue.push(next, Phase::Statistics, Event::Sample);
    }
}
