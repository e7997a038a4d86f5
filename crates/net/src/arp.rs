//! Address resolution (RFC 826) as ns-2 does it (`mac/arp.cc`, 2.26 to 2.35), one machine a node: the known hardware
//! addresses of neighbours, and the packets that wait for unknown ones.
//!
//! It keeps one packet a neighbour, asks again only with the next packet, gives up after three requests without an
//! answer, and never forgets. Whoever hears a request learns who has asked.

use crate::aodv::Node;
use airbraid_engine::{Machine, Wake};
use airbraid_units::{Bytes, Instant};
use std::collections::{BTreeMap, VecDeque};

/// A request or reply for Ethernet and IPv4 (RFC 826), and ns-2's ARP_HDR_LEN.
pub const MESSAGE_LEN: Bytes = Bytes::new(28);

/// Requests after which the next packet fails instead (ns-2: ARP_MAX_REQUEST_COUNT).
const REQUESTS_MAX: u8 = 3;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Requests the target's address.
    Request,
    /// The sender has it.
    Reply,
}

/// A message of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub operation: Operation,
    pub sender: Node,
    /// The node that it asks, or answers.
    pub target: Node,
}

/// Everything that the host tells a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Input<P> {
    /// A packet for a neighbour.
    Send { to: Node, packet: P },
    /// A message has come.
    Heard(Message),
}

/// Everything that a node tells its host.
#[derive(Clone, Debug, PartialEq)]
pub enum Output<P> {
    /// The neighbour's address is known: send the packet.
    Send { to: Node, packet: P },
    /// Send a message.
    Message {
        /// Receiver; `None`: all neighbours.
        to: Option<Node>,
        message: Message,
    },
    /// The packet was replaced by a later one for the same neighbour.
    Drop(P),
    /// The neighbour has not answered: the link to it counts as broken.
    Unreachable { to: Node, packet: P },
}

/// The state of one neighbour.
#[derive(Clone, Debug)]
struct Neighbour<P> {
    is_known: bool,
    /// Requests without an answer.
    requests: u8,
    held: Option<P>,
}

/// A node that resolves addresses.
#[derive(Clone, Debug)]
pub struct Arp<P> {
    me: Node,
    neighbours: BTreeMap<Node, Neighbour<P>>,
    outputs: VecDeque<Output<P>>,
}

impl<P> Arp<P> {
    /// A node without known neighbours.
    pub const fn new(me: Node) -> Self {
        Self { me, neighbours: BTreeMap::new(), outputs: VecDeque::new() }
    }

    /// Packets that wait for an answer.
    pub fn held(&self) -> usize {
        self.neighbours.values().filter(|neighbour| neighbour.held.is_some()).count()
    }

    fn send(&mut self, to: Node, packet: P) {
        let stranger = Neighbour { is_known: false, requests: 0, held: None };
        let neighbour = self.neighbours.entry(to).or_insert(stranger);
        if neighbour.is_known {
            self.outputs.push_back(Output::Send { to, packet });
        } else if neighbour.requests >= REQUESTS_MAX {
            neighbour.requests = 0;
            let failed = neighbour.held.take().into_iter().chain([packet]);
            self.outputs.extend(failed.map(|packet| Output::Unreachable { to, packet }));
        } else {
            neighbour.requests += 1;
            let dropped = neighbour.held.replace(packet);
            self.outputs.extend(dropped.map(Output::Drop));
            let message = Message { operation: Operation::Request, sender: self.me, target: to };
            self.outputs.push_back(Output::Message { to: None, message });
        }
    }

    fn on_message(&mut self, message: Message) {
        let to = message.sender;
        if to == self.me {
            return;
        }
        let acquaintance = Neighbour { is_known: true, requests: 0, held: None };
        let known = self.neighbours.insert(to, acquaintance);
        let held = known.and_then(|neighbour| neighbour.held);
        self.outputs.extend(held.map(|packet| Output::Send { to, packet }));
        if message.operation == Operation::Request && message.target == self.me {
            let message = Message { operation: Operation::Reply, sender: self.me, target: to };
            self.outputs.push_back(Output::Message { to: Some(to), message });
        }
    }
}

impl<P> Machine for Arp<P> {
    type Input = Input<P>;
    type Output = Output<P>;

    fn handle_input(&mut self, _now: Instant, input: Input<P>) {
        match input {
            Input::Send { to, packet } => self.send(to, packet),
            Input::Heard(message) => self.on_message(message),
        }
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_engine::step;
    use proptest::prelude::*;

    const ME: Node = Node(0);
    const B: Node = Node(1);

    fn tell(arp: &mut Arp<u32>, input: Input<u32>) -> Vec<Output<u32>> {
        let mut outputs = vec![];
        assert_eq!(step(arp, Instant::ZERO, Some(input), |output| outputs.push(output)), None);
        outputs
    }

    fn request(sender: Node, target: Node) -> Message {
        Message { operation: Operation::Request, sender, target }
    }

    #[test]
    fn it_asks_keeps_one_packet_and_sends_it_with_the_answer() {
        let mut arp = Arp::new(ME);
        let ask = Output::Message { to: None, message: request(ME, B) };
        assert_eq!(tell(&mut arp, Input::Send { to: B, packet: 1 }), std::slice::from_ref(&ask));
        assert_eq!(tell(&mut arp, Input::Send { to: B, packet: 2 }), [Output::Drop(1), ask]);
        let reply = Message { operation: Operation::Reply, sender: B, target: ME };
        assert_eq!(tell(&mut arp, Input::Heard(reply)), [Output::Send { to: B, packet: 2 }]);
        assert_eq!(tell(&mut arp, Input::Send { to: B, packet: 3 }), [Output::Send { to: B, packet: 3 }]);
        assert_eq!(arp.held(), 0);
    }

    #[test]
    fn who_asks_is_known_to_all_who_hear_it_and_only_who_is_asked_answers() {
        for (target, answers) in [(ME, true), (Node(7), false)] {
            let mut arp = Arp::new(ME);
            let message = Message { operation: Operation::Reply, sender: ME, target: B };
            let answer = Output::Message { to: Some(B), message };
            assert_eq!(tell(&mut arp, Input::Heard(request(B, target))), if answers { vec![answer] } else { vec![] });
            assert_eq!(tell(&mut arp, Input::Send { to: B, packet: 1 }), [Output::Send { to: B, packet: 1 }]);
        }
    }

    #[test]
    fn after_three_requests_the_link_counts_as_broken_and_it_asks_again() {
        let mut arp = Arp::new(ME);
        for packet in 1..=3 {
            tell(&mut arp, Input::Send { to: B, packet });
        }
        let failed = [3, 4].map(|packet| Output::Unreachable { to: B, packet });
        assert_eq!(tell(&mut arp, Input::Send { to: B, packet: 4 }), failed);
        let ask = Output::Message { to: None, message: request(ME, B) };
        assert_eq!(tell(&mut arp, Input::Send { to: B, packet: 5 }), [ask]);
    }

    proptest! {
        /// Every packet leaves once, or is the one that waits.
        #[test]
        fn no_packet_is_lost_or_doubled(moves in prop::collection::vec((0u32..4, 0u32..4, any::<bool>()), 1..60)) {
            let mut arp = Arp::new(ME);
            let (mut sent, mut left) = (0, vec![]);
            for (node, target, is_message) in moves {
                let input = if is_message {
                    Input::Heard(request(Node(node), Node(target)))
                } else {
                    sent += 1;
                    Input::Send { to: Node(node), packet: sent }
                };
                for output in tell(&mut arp, input) {
                    match output {
                        Output::Send { packet, .. } | Output::Drop(packet) | Output::Unreachable { packet, .. } => {
                            left.push(packet);
                        }
                        Output::Message { .. } => {}
                    }
                }
            }
            left.sort_unstable();
            left.dedup();
            prop_assert_eq!(left.len() + arp.held(), sent as usize);
        }
    }
}
