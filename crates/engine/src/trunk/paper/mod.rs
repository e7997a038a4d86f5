//! A trunk over radios: each packet goes on the next free member, and the order is restored behind them (Wang, Hwang
//! and Chou 2005).
//!
//! A [`PaperTrunk`] is one end: it distributes outgoing packets and orders incoming ones. The paper's own method
//! ([`sender`], [`resequencer`]) never acknowledges and never retransmits: its members do. The [`PaperPolicy`] chooses
//! among it, the schemes that the paper compares with ([`srr`], [`jkm`]), and extensions ([`forecast`],
//! [`loss_notifier`], [`fifo`]).

mod allowance;
mod control;
mod counts;
mod fifo;
mod forecast;
mod header;
mod jkm;
mod loss_notifier;
mod policy;
mod resequencer;
mod sender;
mod sequence;
mod srr;
mod window;

pub use control::{Control, Missing};
pub use counts::PaperCounts;
pub use forecast::{Choice, Forecast};
pub use header::{TrunkHeader, UNSETTLED};
pub use policy::{Distributor, Fifo, Jkm, Marking, Method, Numbering, PaperPolicy, Resequencer, Srr};

use crate::machine::{Machine, Wake};
use crate::packet::Share;
pub use crate::trunk::Member;
use airbraid_units::{Duration, Instant, SeqNum};
use fifo::FifoReceiver;
use resequencer::Receiver;
use sender::PaperSender;
use std::collections::VecDeque;

/// Inputs of a trunk over radios.
#[derive(Debug)]
pub enum PaperInput<P> {
    /// A packet to carry to the other end.
    Packet(P),
    /// A frame from the other end.
    Frame { header: TrunkHeader, packet: P },
    /// A control frame from the other end.
    Control {
        /// The member on which it came.
        member: Member,
        control: Control,
    },
    /// A member has finished with the oldest packet that it was given.
    Finished(Member, FrameFate),
    /// A member has finished with the packet of this number, which need not be its oldest: with block acknowledgements
    /// later frames are settled while one is sent again.
    Settled { member: Member, number: SeqNum, fate: FrameFate },
    /// A member gives up the packet with this header, and gives it back: it goes by another member or is dropped. Only
    /// where the policy's `resends` says so.
    Returned { header: TrunkHeader, packet: P },
    /// A member has finished with the oldest control frame that it was given.
    ControlFinished(Member, FrameFate),
    /// A member can be used from now on, or no longer. All can be used at first.
    Link {
        member: Member,
        /// Whether it can be used.
        is_up: bool,
    },
    /// Delay of a member's path, beside the time in which the member itself finishes with a packet.
    Delay {
        member: Member,
        /// As measured by the host.
        delay: Duration,
    },
}

/// The fate of a frame, as far as its member knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFate {
    /// It has arrived: a MAC has received its acknowledgement.
    Delivered,
    /// It will not arrive any more: a MAC has reached its retry limit. It may have arrived before.
    Lost,
    /// It may be under way or lost: a socket has taken it, or a broadcast was sent.
    Unknown,
}

/// Outputs of a trunk over radios.
#[derive(Debug)]
pub enum PaperOutput<P> {
    /// Send this frame on the member that its header names.
    Transmit {
        /// The header to send with it.
        header: TrunkHeader,
        packet: P,
        /// Whether the trunk keeps another handle to the packet, returned later by [`Self::Release`].
        kept: bool,
    },
    /// Send this control frame on a member, behind its earlier frames.
    Control {
        member: Member,
        /// Whether the member is to acknowledge and retransmit it, if it can.
        acknowledged: bool,
        control: Control,
    },
    /// A packet for the layer above.
    Deliver(P),
    /// A packet that goes no further.
    Drop(P, PaperDropReason),
    /// A kept handle that the trunk needs no longer.
    Release(P),
}

/// The reason why a trunk over radios dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaperDropReason {
    /// The trunk's own queue was full.
    QueueFull,
    /// The FIFO of its member at the receiver was full (surplus round robin).
    FifoFull,
    /// Its members gave it up, one after another.
    Undelivered,
    /// It is a duplicate.
    Duplicate,
    /// It came after its place was given up, and the order must hold.
    Late,
    /// It was sent before the sender restarted, or its number is too old to tell whether it is a duplicate.
    Stale,
}

/// One end of a trunk over radios.
#[derive(Debug)]
pub struct PaperTrunk<P> {
    ends: Ends<P>,
    outputs: VecDeque<PaperOutput<P>>,
}

/// The sending and the receiving side, by policy.
#[derive(Debug)]
enum Ends<P> {
    Striping(Box<(PaperSender<P>, Collector<P>)>),
    Srr(Box<(srr::Sender<P>, srr::Receiver<P>)>),
    Jkm(Box<(jkm::Sender<P>, jkm::Receiver<P>)>),
}

/// The receiving side behind a distributor that leaves the order to it, by method.
#[derive(Debug)]
enum Collector<P> {
    Adaptive(Receiver<P>),
    Fifo(FifoReceiver<P>),
}

impl<P: Share> PaperTrunk<P> {
    /// An end with `members` member links; `epoch` must grow with each start of the sender.
    pub fn new(policy: PaperPolicy, members: u8, epoch: u16) -> Self {
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
                Ends::Striping(Box::new((PaperSender::new(policy, members, epoch), receiver)))
            }
        };
        Self { ends, outputs: VecDeque::with_capacity(8) }
    }

    /// Counters of the sending side.
    pub fn sender_counts(&self) -> &PaperCounts {
        match &self.ends {
            Ends::Striping(ends) => ends.0.counts(),
            Ends::Srr(ends) => ends.0.counts(),
            Ends::Jkm(ends) => ends.0.counts(),
        }
    }
    /// Counters of the receiving side.
    pub fn receiver_counts(&self) -> &PaperCounts {
        match &self.ends {
            Ends::Striping(ends) => match &ends.1 {
                Collector::Adaptive(receiver) => receiver.counts(),
                Collector::Fifo(receiver) => receiver.counts(),
            },
            Ends::Srr(ends) => ends.1.counts(),
            Ends::Jkm(ends) => ends.1.counts(),
        }
    }
    /// Time for which a packet is held for those before it: the timer's present length with the paper's method, the
    /// longest hold with `fifo`, zero without such a limit.
    pub fn hold_time(&self) -> Duration {
        match &self.ends {
            Ends::Striping(ends) => match &ends.1 {
                Collector::Adaptive(receiver) => receiver.hold_time(),
                Collector::Fifo(receiver) => receiver.hold_time(),
            },
            Ends::Srr(_) | Ends::Jkm(_) => Duration::ZERO,
        }
    }
    /// Total and longest time for which the receiving side has been blocked until now (surplus round robin).
    pub fn blocked(&self, now: Instant) -> (Duration, Duration) {
        match &self.ends {
            Ends::Srr(ends) => ends.1.blocked(now),
            _ => (Duration::ZERO, Duration::ZERO),
        }
    }
    /// Number of packets that the receiving side holds.
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
    /// The member whose packet surplus round robin waits for, the round, and the rest that the member may send
    /// \[byte\].
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

#[inline(always)]
fn striping_input<P: Share>(
    ends: &mut (PaperSender<P>, Collector<P>),
    now: Instant,
    input: PaperInput<P>,
    outputs: &mut VecDeque<PaperOutput<P>>,
) {
    let (sender, receiver) = ends;
    match (input, receiver) {
        (PaperInput::Packet(packet), _) => sender.on_packet(now, packet, outputs),
        (PaperInput::Finished(member, outcome), _) => sender.on_finished(now, (member, None), outcome, outputs),
        (PaperInput::Settled { member, number, fate }, _) => {
            sender.on_finished(now, (member, Some(number)), fate, outputs);
        }
        (PaperInput::Returned { header, packet }, _) => sender.on_returned(now, header, packet, outputs),
        (PaperInput::Frame { header, packet }, Collector::Adaptive(receiver)) => {
            receiver.on_frame(now, header, packet, outputs);
        }
        (PaperInput::Frame { header, packet }, Collector::Fifo(receiver)) => {
            receiver.on_frame(now, header, packet, outputs);
        }
        (PaperInput::Control { member, control }, Collector::Fifo(receiver)) => {
            if let Some(header) = control.as_header() {
                receiver.on_marker(now, &header, member, outputs);
            }
        }
        (PaperInput::Control { .. }, _) => {}
        (PaperInput::ControlFinished(member, outcome), _) => sender.on_control_finished(now, member, outcome, outputs),
        (PaperInput::Delay { member, delay }, _) => sender.on_delay(member, delay),
        (PaperInput::Link { member, is_up }, receiver) => {
            sender.on_link(now, member, is_up, outputs);
            if let Collector::Fifo(receiver) = receiver {
                receiver.on_link(now, member, is_up, outputs);
            }
        }
    }
}

// Kept out of the paper's own path, like everything of the other policies, so that it costs nothing there.
#[inline(never)]
fn srr_input<P: Share>(
    ends: &mut (srr::Sender<P>, srr::Receiver<P>),
    now: Instant,
    input: PaperInput<P>,
    outputs: &mut VecDeque<PaperOutput<P>>,
) {
    let (sender, receiver) = ends;
    match input {
        PaperInput::Packet(packet) => sender.on_packet(packet, outputs),
        PaperInput::Finished(member, _) | PaperInput::Settled { member, .. } => sender.on_finished(member, outputs),
        PaperInput::Returned { header, packet } => {
            sender.on_finished(header.member, outputs);
            outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::Undelivered));
        }
        PaperInput::Frame { header, packet } => receiver.on_frame(now, header.member, packet, outputs),
        PaperInput::Control { member, control: Control::Surplus { round, counter } } => {
            receiver.on_marker(now, member, (round, counter), outputs);
        }
        // It waits for an unusable member as for a slow one.
        PaperInput::Control { .. }
        | PaperInput::ControlFinished(..)
        | PaperInput::Link { .. }
        | PaperInput::Delay { .. } => {}
    }
}

#[inline(never)]
fn jkm_input<P: Share>(
    ends: &mut (jkm::Sender<P>, jkm::Receiver<P>),
    now: Instant,
    input: PaperInput<P>,
    outputs: &mut VecDeque<PaperOutput<P>>,
) {
    let (sender, receiver) = ends;
    match input {
        PaperInput::Packet(packet) => sender.on_packet(now, packet, outputs),
        PaperInput::Finished(member, _) | PaperInput::Settled { member, .. } => {
            sender.on_finished(now, member, outputs);
        }
        PaperInput::Returned { header, packet } => {
            sender.on_finished(now, header.member, outputs);
            outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::Undelivered));
        }
        PaperInput::Frame { header, packet } => receiver.on_frame(now, header, packet, outputs),
        PaperInput::Control { control: Control::Acknowledgement { epoch, next, missing }, .. } => {
            sender.on_ack(now, epoch, next, missing, outputs);
        }
        PaperInput::Link { member, is_up } => sender.on_link(now, member, is_up, outputs),
        PaperInput::Control { .. } | PaperInput::ControlFinished(..) | PaperInput::Delay { .. } => {}
    }
}

/// The earlier of two wake-ups, the first at one instant.
fn earlier(first: Option<Wake>, second: Option<Wake>) -> Option<Wake> {
    match (first, second) {
        (Some(a), Some(b)) => Some(if b.at < a.at { b } else { a }),
        (a, b) => a.or(b),
    }
}

impl<P: Share> Machine for PaperTrunk<P> {
    type Input = PaperInput<P>;
    type Output = PaperOutput<P>;

    #[inline(always)]
    fn handle_input(&mut self, now: Instant, input: PaperInput<P>) {
        let outputs = &mut self.outputs;
        match &mut self.ends {
            Ends::Striping(ends) => striping_input(ends, now, input, outputs),
            Ends::Srr(ends) => srr_input(ends, now, input, outputs),
            Ends::Jkm(ends) => jkm_input(ends, now, input, outputs),
        }
        // A timer may be due at this very instant; a frame that fills its hole comes in time.
        self.handle_timeout(now);
    }

    #[inline(always)]
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

    #[inline]
    fn poll_output(&mut self) -> Option<PaperOutput<P>> {
        self.outputs.pop_front()
    }

    #[inline(always)]
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
