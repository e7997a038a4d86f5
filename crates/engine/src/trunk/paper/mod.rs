//! The trunk: one link made of several, each packet on whichever member is free, the order restored behind them
//! (Wang, Hwang and Chou 2005).
//!
//! A [`Trunk`] is one end: it distributes what goes out and puts in order what comes in. By the paper's own method
//! ([`sender`], [`resequencer`]) it never acknowledges and never retransmits: that is its members' business. The schemes that the paper
//! compares itself with ([`srr`], [`jkm`]) and what goes beyond it ([`forecast`], [`herald`], [`fifo`]) are chosen by the [`Policy`].

mod control;
mod fifo;
mod forecast;
mod header;
mod herald;
mod jkm;
mod policy;
mod resequencer;
mod sender;
mod sequence;
mod srr;
mod stats;
mod window;

pub use control::{Control, Missing};
pub use forecast::{Choice, Forecast};
pub use header::{Header, UNSETTLED};
pub use policy::{Distributor, Fifo, Jkm, Marking, Method, Policy, Resequencer, Srr};
pub use stats::{ReceiverStats, SenderStats};

use crate::machine::{Machine, Wake};
use crate::packet::Share;
pub use crate::trunk::Member;
use airbraid_units::{Duration, Instant};
use fifo::FifoReceiver;
use resequencer::Receiver;
use sender::Sender;
use std::collections::VecDeque;

/// Everything the world tells a trunk.
#[derive(Debug)]
pub enum Input<P> {
    /// A packet to carry to the other end.
    Packet(P),
    /// A frame from the other end.
    Frame {
        /// What its header says.
        header: Header,
        /// The packet.
        packet: P,
    },
    /// A control frame from the other end.
    Control {
        /// The member on which it came.
        member: Member,
        /// The frame.
        control: Control,
    },
    /// A member has finished with the oldest packet that it was given.
    Finished(Member, Outcome),
    /// A member has finished with the oldest control frame that it was given.
    ControlFinished(Member, Outcome),
    /// A member can be used, or can no longer. All can to begin with.
    Link {
        /// The member.
        member: Member,
        /// Whether it can be used.
        is_up: bool,
    },
    /// What a member's path adds to the time in which the member itself finishes with a packet.
    Delay {
        /// The member.
        member: Member,
        /// As measured by the host.
        delay: Duration,
    },
}

/// What became of a frame, as far as its member knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has come: a MAC was given its acknowledgement.
    Delivered,
    /// It will not come any more, if it has not come before: a MAC has reached its retry limit.
    Lost,
    /// It may still be on its way, or lost: a socket has taken it, a broadcast was sent.
    Unknown,
}

/// Everything a trunk asks of the world.
#[derive(Debug)]
pub enum Output<P> {
    /// Send this on the member that its header names.
    Transmit {
        /// The header to send with it.
        header: Header,
        /// The packet.
        packet: P,
        /// Whether the trunk keeps another handle to the packet, to be given back by [`Output::Release`].
        kept: bool,
    },
    /// Send this on a member, behind what it was given before.
    Control {
        /// The member.
        member: Member,
        /// Whether the member is to see to it that it arrives, if it can.
        acknowledged: bool,
        /// The frame.
        control: Control,
    },
    /// A packet for the layer above.
    Deliver(P),
    /// A packet that goes no further.
    Drop(P, DropReason),
    /// A handle that the trunk kept and needs no longer.
    Release(P),
}

/// Why a trunk dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The trunk's own queue was full.
    QueueFull,
    /// The FIFO of its member at the receiver was full (surplus round robin).
    FifoFull,
    /// It had come before.
    Duplicate,
    /// It came after its place was given up, and the order must hold.
    Late,
    /// It was sent before the sender restarted, or so long ago that nobody can tell whether it had come before.
    Stale,
}

/// One end of a trunk.
#[derive(Debug)]
pub struct Trunk<P> {
    ends: Ends<P>,
    outputs: VecDeque<Output<P>>,
}

/// The sending and the receiving side, by policy.
#[derive(Debug)]
enum Ends<P> {
    Striping(Box<(Sender<P>, Collector<P>)>),
    Srr(Box<(srr::Sender<P>, srr::Receiver<P>)>),
    Jkm(Box<(jkm::Sender<P>, jkm::Receiver<P>)>),
}

/// The receiving side behind a distributor that leaves the order to it, by method.
#[derive(Debug)]
enum Collector<P> {
    Adaptive(Receiver<P>),
    Fifo(FifoReceiver<P>),
}

impl<P: Share> Trunk<P> {
    /// An end with `members` member links; `epoch` must grow whenever the sender starts anew.
    pub fn new(policy: Policy, members: u8, epoch: u16) -> Self {
        let ends = match (policy.distributor, policy.resequencer.method) {
            (Distributor::Srr(config), _) => Ends::Srr(Box::new((
                srr::Sender::new(policy, config, members, epoch),
                srr::Receiver::new(config, members),
            ))),
            (Distributor::Jkm(config), _) => Ends::Jkm(Box::new((
                jkm::Sender::new(policy, config, members, epoch),
                jkm::Receiver::new(config, members),
            ))),
            (_, method) => {
                let receiver = match method {
                    Method::Adaptive => Collector::Adaptive(Receiver::new(policy.resequencer)),
                    Method::Fifo(_) => Collector::Fifo(FifoReceiver::new(policy.resequencer, members)),
                };
                Ends::Striping(Box::new((Sender::new(policy, members, epoch), receiver)))
            }
        };
        Self { ends, outputs: VecDeque::with_capacity(8) }
    }

    /// What the sending side has counted.
    pub fn sender_stats(&self) -> &SenderStats {
        match &self.ends {
            Ends::Striping(ends) => ends.0.stats(),
            Ends::Srr(ends) => ends.0.stats(),
            Ends::Jkm(ends) => ends.0.stats(),
        }
    }
    /// What the receiving side has counted.
    pub fn receiver_stats(&self) -> &ReceiverStats {
        match &self.ends {
            Ends::Striping(ends) => match &ends.1 {
                Collector::Adaptive(receiver) => receiver.stats(),
                Collector::Fifo(receiver) => receiver.stats(),
            },
            Ends::Srr(ends) => ends.1.stats(),
            Ends::Jkm(ends) => ends.1.stats(),
        }
    }
    /// How long a packet is held for those before it: the timer's present length by the method of the paper, the longest
    /// hold by `fifo`, zero where there is no such limit.
    pub fn hold_time(&self) -> Duration {
        match &self.ends {
            Ends::Striping(ends) => match &ends.1 {
                Collector::Adaptive(receiver) => receiver.hold_time(),
                Collector::Fifo(receiver) => receiver.hold_time(),
            },
            Ends::Srr(_) | Ends::Jkm(_) => Duration::ZERO,
        }
    }
    /// For how long the receiving side has been blocked until now, all together and longest (surplus round robin).
    pub fn blocked(&self, now: Instant) -> (Duration, Duration) {
        match &self.ends {
            Ends::Srr(ends) => ends.1.blocked(now),
            _ => (Duration::ZERO, Duration::ZERO),
        }
    }
    /// How many packets the receiving side holds.
    pub fn held_len(&self) -> usize {
        match &self.ends {
            Ends::Striping(ends) => match &ends.1 {
                Collector::Adaptive(receiver) => receiver.held_len(),
                Collector::Fifo(receiver) => receiver.held_len(),
            },
            Ends::Srr(ends) => ends.1.held_len(),
            Ends::Jkm(ends) => ends.1.held_len(),
        }
    }
    /// The member whose packet surplus round robin waits for, the round, and what the member may still send \[byte\].
    pub fn expects(&self) -> Option<(Member, u32, i64)> {
        match &self.ends {
            Ends::Srr(ends) => Some(ends.1.expects()),
            _ => None,
        }
    }
    /// Packets that wait in the trunk's own queue.
    pub fn queue_len(&self) -> usize {
        match &self.ends {
            Ends::Striping(ends) => ends.0.queue_len(),
            Ends::Srr(ends) => ends.0.queue_len(),
            Ends::Jkm(ends) => ends.0.queue_len(),
        }
    }
}

fn striping_input<P: Share>(
    ends: &mut (Sender<P>, Collector<P>),
    now: Instant,
    input: Input<P>,
    outputs: &mut VecDeque<Output<P>>,
) {
    let (sender, receiver) = ends;
    match (input, receiver) {
        (Input::Packet(packet), _) => sender.on_packet(now, packet, outputs),
        (Input::Finished(member, outcome), _) => sender.on_finished(now, member, outcome, outputs),
        (Input::Frame { header, packet }, Collector::Adaptive(receiver)) => {
            receiver.on_frame(now, header, packet, outputs);
        }
        (Input::Frame { header, packet }, Collector::Fifo(receiver)) => {
            receiver.on_frame(now, header, packet, outputs);
        }
        (Input::Control { member, control }, Collector::Fifo(receiver)) => {
            if let Some(header) = control.as_header() {
                receiver.on_marker(now, &header, member, outputs);
            }
        }
        (Input::Control { .. }, _) => {}
        (Input::ControlFinished(member, outcome), _) => sender.on_control_finished(now, member, outcome, outputs),
        (Input::Delay { member, delay }, _) => sender.on_delay(member, delay),
        (Input::Link { member, is_up }, receiver) => {
            sender.on_link(now, member, is_up, outputs);
            if let Collector::Fifo(receiver) = receiver {
                receiver.on_link(now, member, is_up, outputs);
            }
        }
    }
}

// Kept out of the paper's own path, as everything of the other policies is: what it does not call it does not pay for.
#[inline(never)]
fn srr_input<P: Share>(
    ends: &mut (srr::Sender<P>, srr::Receiver<P>),
    now: Instant,
    input: Input<P>,
    outputs: &mut VecDeque<Output<P>>,
) {
    let (sender, receiver) = ends;
    match input {
        Input::Packet(packet) => sender.on_packet(packet, outputs),
        Input::Finished(member, _) => sender.on_finished(member, outputs),
        Input::Frame { header, packet } => receiver.on_frame(now, header.member, packet, outputs),
        Input::Control { member, control: Control::Surplus { round, counter } } => {
            receiver.on_marker(now, member, (round, counter), outputs);
        }
        // It waits for a member that cannot be used as for one that is slow.
        Input::Control { .. } | Input::ControlFinished(..) | Input::Link { .. } | Input::Delay { .. } => {}
    }
}

#[inline(never)]
fn jkm_input<P: Share>(
    ends: &mut (jkm::Sender<P>, jkm::Receiver<P>),
    now: Instant,
    input: Input<P>,
    outputs: &mut VecDeque<Output<P>>,
) {
    let (sender, receiver) = ends;
    match input {
        Input::Packet(packet) => sender.on_packet(now, packet, outputs),
        Input::Finished(member, _) => sender.on_finished(now, member, outputs),
        Input::Frame { header, packet } => receiver.on_frame(now, header, packet, outputs),
        Input::Control { control: Control::Acknowledgement { epoch, next, missing }, .. } => {
            sender.on_ack(now, epoch, next, missing, outputs);
        }
        Input::Link { member, is_up } => sender.on_link(now, member, is_up, outputs),
        Input::Control { .. } | Input::ControlFinished(..) | Input::Delay { .. } => {}
    }
}

/// The earlier of two wake-ups, the first at one instant.
fn earlier(first: Option<Wake>, second: Option<Wake>) -> Option<Wake> {
    match (first, second) {
        (Some(a), Some(b)) => Some(if b.at < a.at { b } else { a }),
        (a, b) => a.or(b),
    }
}

impl<P: Share> Machine for Trunk<P> {
    type Input = Input<P>;
    type Output = Output<P>;

    fn handle_input(&mut self, now: Instant, input: Input<P>) {
        let outputs = &mut self.outputs;
        match &mut self.ends {
            Ends::Striping(ends) => striping_input(ends, now, input, outputs),
            Ends::Srr(ends) => srr_input(ends, now, input, outputs),
            Ends::Jkm(ends) => jkm_input(ends, now, input, outputs),
        }
        // A timer may be due at this very instant; a frame that fills its hole comes in time.
        self.handle_timeout(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        let outputs = &mut self.outputs;
        match &mut self.ends {
            Ends::Striping(ends) => {
                if ends.0.has_timers() {
                    ends.0.on_timeout(now, outputs);
                }
                match &mut ends.1 {
                    Collector::Adaptive(receiver) => receiver.on_timeout(now, outputs),
                    Collector::Fifo(receiver) => receiver.on_timeout(now, outputs),
                }
            }
            Ends::Jkm(ends) => {
                ends.0.on_timeout(now, outputs);
                ends.1.on_timeout(now, outputs);
            }
            Ends::Srr(_) => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        match &self.ends {
            Ends::Striping(ends) => {
                let receiver = match &ends.1 {
                    Collector::Adaptive(receiver) => receiver.wake(),
                    Collector::Fifo(receiver) => receiver.wake(),
                };
                if ends.0.has_timers() { earlier(receiver, ends.0.wake()) } else { receiver }
            }
            Ends::Jkm(ends) => earlier(ends.1.wake(), ends.0.wake()),
            Ends::Srr(_) => None,
        }
    }
}
