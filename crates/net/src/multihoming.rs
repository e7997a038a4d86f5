//! A host with an address at each of several access points, and applications that know one only (Giustiniano et al.
//! 2013, section 3.2): the choice of a connection for a new flow, and the addresses of its packets.
//!
//! It never moves a flow: a TCP connection would break if its source address changed. It never looks at load, of which
//! nothing is known when a flow begins. Shares are whole numbers of whatever unit, say nanoseconds of a period.

use std::collections::BTreeMap;

/// Gives new flows to connections, so that their numbers come as near to given shares as they can: each to the
/// connection whose share of the flows is furthest below its target (the rule of FatVAP, Kandula et al. 2008, by
/// flows).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowBalancer {
    /// Share and flows of each connection.
    connections: Vec<(u64, u64)>,
}

impl FlowBalancer {
    /// Connections with these shares, without a flow; `None` if no share is more than zero.
    pub fn new(shares: &[u64]) -> Option<Self> {
        let is_possible = shares.iter().any(|&share| share > 0);
        is_possible.then(|| Self { connections: shares.iter().map(|&share| (share, 0)).collect() })
    }
    /// Number of flows of each connection.
    pub fn flows(&self) -> impl Iterator<Item = u64> {
        self.connections.iter().map(|&(_, flows)| flows)
    }
    /// Returns the connection of a new flow; of several that are as far below their targets, the first. One without a
    /// share gets none.
    pub fn assign(&mut self) -> usize {
        let whole: i128 = self.connections.iter().map(|&(share, _)| i128::from(share)).sum();
        let all: i128 = self.flows().map(i128::from).sum();
        // share / whole - flows / all, times both denominators.
        let lack = |(share, flows): (u64, u64)| match all {
            0 => i128::from(share),
            all => i128::from(share) * all - i128::from(flows) * whole,
        };
        let candidates = self.connections.iter().enumerate().rev().filter(|(_, (share, _))| *share > 0);
        let chosen = candidates.max_by_key(|&(_, &connection)| lack(connection)).map_or(0, |(index, _)| index);
        self.connections[chosen].1 += 1;
        chosen
    }
    /// Counts a new flow on this connection, whatever the shares say.
    pub fn assign_to(&mut self, connection: usize) {
        if let Some((_, flows)) = self.connections.get_mut(connection) {
            *flows += 1;
        }
    }
    /// A flow of this connection has ended.
    pub fn release(&mut self, connection: usize) {
        if let Some((_, flows)) = self.connections.get_mut(connection) {
            *flows = flows.saturating_sub(1);
        }
    }
}

/// Reverse network address translation. Packets leave with the address of the connection of their flow, and reach the
/// host with the one address that it knows. Ports stay, since no two flows of a host are alike.
///
/// `A` is an address, `F` what tells flows apart.
#[derive(Clone, Debug)]
pub struct ReverseNat<A, F> {
    host: A,
    addresses: Vec<A>,
    balancer: FlowBalancer,
    flows: BTreeMap<F, usize>,
}

impl<A: Copy + PartialEq, F: Copy + Ord> ReverseNat<A, F> {
    /// A host with the address `host` towards its applications and, on each connection, an address and a share of the
    /// flows; `None` if no share is more than zero.
    pub fn new(host: A, connections: &[(A, u64)]) -> Option<Self> {
        let shares: Vec<_> = connections.iter().map(|&(_, share)| share).collect();
        let addresses = connections.iter().map(|&(address, _)| address).collect();
        FlowBalancer::new(&shares).map(|balancer| Self { host, addresses, balancer, flows: BTreeMap::new() })
    }
    /// Returns the connection and the source address of a packet of this flow that leaves. A new flow gets a
    /// connection.
    pub fn outward(&mut self, flow: F) -> (usize, A) {
        let balancer = &mut self.balancer;
        let connection = *self.flows.entry(flow).or_insert_with(|| balancer.assign());
        (connection, self.addresses[connection])
    }
    /// Binds a new flow to this connection, whatever the balancer would choose; a known flow stays.
    pub fn bind(&mut self, flow: F, connection: usize) {
        if connection < self.addresses.len() && !self.flows.contains_key(&flow) {
            self.flows.insert(flow, connection);
            self.balancer.assign_to(connection);
        }
    }
    /// Number of flows of each connection.
    pub fn flows(&self) -> impl Iterator<Item = u64> {
        self.balancer.flows()
    }
    /// A packet for `destination` comes over a connection: the address that the host knows, or `None` if it is not the
    /// address of that connection.
    pub fn inward(&self, connection: usize, destination: A) -> Option<A> {
        (self.addresses.get(connection) == Some(&destination)).then_some(self.host)
    }
    /// Ends a flow: its connection is free for others.
    pub fn end(&mut self, flow: F) {
        if let Some(connection) = self.flows.remove(&flow) {
            self.balancer.release(connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn flows_follow_the_shares() {
        // Case 2 of the paper: 0.5, 0.125, 0.375.
        let mut balancer = FlowBalancer::new(&[4, 1, 3]).unwrap();
        let chosen: Vec<_> = (0..8).map(|_| balancer.assign()).collect();
        assert_eq!(chosen, [0, 2, 1, 0, 2, 0, 2, 0]);
        assert_eq!(balancer.flows().collect::<Vec<_>>(), [4, 1, 3]);
        balancer.release(2);
        assert_eq!(balancer.assign(), 2);
    }

    #[test]
    fn shares_of_nothing_are_refused() {
        assert_eq!(FlowBalancer::new(&[]), None);
        assert_eq!(FlowBalancer::new(&[0, 0]), None);
        assert!(ReverseNat::<u8, u8>::new(0, &[(1, 0)]).is_none());
    }

    #[test]
    fn a_flow_keeps_its_address_and_the_host_knows_one_only() {
        let mut nat = ReverseNat::new("host", &[("first", 1), ("second", 1)]).unwrap();
        assert_eq!((nat.outward(7), nat.outward(8), nat.outward(7)), ((0, "first"), (1, "second"), (0, "first")));
        assert_eq!(
            (nat.inward(1, "second"), nat.inward(0, "second"), nat.inward(2, "host")),
            (Some("host"), None, None)
        );
        nat.end(7);
        nat.end(7);
        nat.bind(11, 1);
        nat.bind(11, 0);
        nat.bind(12, 2);
        assert_eq!((nat.outward(11), nat.flows().collect::<Vec<_>>()), ((1, "second"), vec![0, 2]));
        assert_eq!((nat.outward(9), nat.outward(10)), ((0, "first"), (0, "first")));
    }

    proptest! {
        #[test]
        fn a_new_flow_goes_where_most_is_lacking(
            shares in prop::collection::vec(0u64..50, 1..6),
            ends in prop::collection::vec(prop::option::of(0usize..6), 1..60),
        ) {
            let Some(mut balancer) = FlowBalancer::new(&shares) else { return Ok(()) };
            let whole: u64 = shares.iter().sum();
            for end in ends {
                if let Some(connection) = end {
                    balancer.release(connection);
                }
                let flows: Vec<_> = balancer.flows().collect();
                let all = flows.iter().sum::<u64>().max(1) as f64;
                let lack = |i: usize| shares[i] as f64 / whole as f64 - flows[i] as f64 / all;
                let chosen = balancer.assign();
                prop_assert!(shares[chosen] > 0);
                for other in (0..shares.len()).filter(|&other| shares[other] > 0) {
                    prop_assert!(lack(chosen) > lack(other) - 1e-9, "{chosen}, not {other}: {flows:?} of {shares:?}");
                }
            }
        }

        #[test]
        fn no_connection_is_ever_a_flow_above_its_share(
            shares in prop::collection::vec(0u64..50, 1..6),
            count in 1u64..200,
        ) {
            let Some(mut balancer) = FlowBalancer::new(&shares) else { return Ok(()) };
            let whole: u64 = shares.iter().sum();
            for _ in 0..count {
                balancer.assign();
            }
            for (share, flows) in shares.iter().zip(balancer.flows()) {
                prop_assert!(flows * whole <= count * share + whole);
            }
        }
    }

    #[test]
    fn a_flow_is_bound_to_a_connection_that_is_there_or_to_none() {
        let mut nat = ReverseNat::new(1, &[(10, 1), (20, 1)]).unwrap();
        nat.bind('a', 1);
        nat.bind('b', 2);
        assert_eq!(nat.flows().collect::<Vec<_>>(), [0, 1]);
        nat.bind('a', 0);
        assert_eq!(nat.outward('a'), (1, 20), "a known flow stays");
        assert_eq!(nat.outward('b'), (0, 10), "the balancer chooses for one that nobody has bound");
    }
}
