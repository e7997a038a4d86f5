//! Flows of datagrams that keep the queue of their port full: those of one port in turn.

use super::id::{FlowId, PortId, PortKey};
use std::collections::BTreeMap;

/// Greedy flows by the port that they leave by.
#[derive(Debug, Default)]
pub struct GreedyFlows {
    by_port: BTreeMap<PortKey, Sharers>,
}

/// The flows of one port.
#[derive(Debug, Default)]
struct Sharers {
    /// In the order of their numbers.
    flows: Vec<FlowId>,
    /// The next turn is that of this flow, or of the next one behind it.
    turn: FlowId,
}

impl GreedyFlows {
    /// A flow leaves by a port.
    pub fn add(&mut self, port: PortId, flow: FlowId) {
        let flows = &mut self.by_port.entry(port.key()).or_default().flows;
        if let Err(place) = flows.binary_search(&flow) {
            flows.insert(place, flow);
        }
    }

    /// A flow does not leave by a port any more.
    pub fn remove(&mut self, port: PortId, flow: FlowId) {
        if let Some(sharers) = self.by_port.get_mut(&port.key()) {
            sharers.flows.retain(|other| *other != flow);
        }
    }

    /// Gives the turn to the next flow of a port that has something to send, by `is_ready`.
    pub fn take_turn(&mut self, port: PortId, mut is_ready: impl FnMut(FlowId) -> bool) -> Option<FlowId> {
        let Sharers { flows, turn } = self.by_port.get_mut(&port.key())?;
        let (before, from) = flows.split_at(flows.partition_point(|flow| *flow < *turn));
        let next = from.iter().chain(before).copied().find(|flow| is_ready(*flow))?;
        *turn = FlowId::new(next.index() + 1);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::super::id::{LinkDirection, RadioId};
    use super::*;

    #[test]
    fn flows_of_a_port_take_turns_whatever_leaves_by_others() {
        let radio =
            |neighbour: usize| PortId::Radio { radio: RadioId::new(7), neighbour: RadioId::new(neighbour).address() };
        let link = PortId::Link(LinkDirection::new(7));
        let ids = [0, 1, 2].map(FlowId::new);
        let mut greedy = GreedyFlows::default();
        // Whoever the neighbour is: it is one queue.
        greedy.add(radio(1), ids[2]);
        greedy.add(radio(2), ids[0]);
        greedy.add(link, ids[1]);
        let ports = [radio(5), link, radio(5), link, radio(5), radio(5), link];
        let turns = ports.map(|port| greedy.take_turn(port, |_| true).map(FlowId::index));
        assert_eq!(turns, [0, 1, 2, 1, 0, 2, 1].map(Some));
        // A flow with nothing to send is passed over, and loses nothing else by it.
        assert_eq!(greedy.take_turn(radio(0), |flow| flow == ids[2]), Some(ids[2]));
        assert_eq!(greedy.take_turn(radio(0), |_| false), None);
        assert_eq!(greedy.take_turn(radio(0), |_| true), Some(ids[0]));
        greedy.remove(radio(1), ids[2]);
        assert_eq!(greedy.take_turn(radio(0), |_| true), Some(ids[0]));
    }
}
