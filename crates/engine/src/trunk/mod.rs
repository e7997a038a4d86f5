//! The trunk: one link made of several, each packet on whichever member is free, the order restored behind them
//! (Wang, Hwang and Chou 2005).
//!
//! A [`Trunk`] is one end: it numbers and distributes what goes out ([`sender`]) and resequences what comes in
//! ([`resequencer`]). It never acknowledges and never retransmits: that is its members' business.

mod header;
mod policy;
mod resequencer;
mod sender;
mod window;

pub use header::Header;
pub use policy::{Distributor, LateMode, Policy, Resequencer};
pub use resequencer::{Receiver, ReceiverStats};
pub use sender::{Sender, SenderStats};

use crate::machine::{Machine, Wake};
use crate::packet::Packet;
use airbraid_units::Instant;
use std::collections::VecDeque;

/// The index of a member link of a trunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member(pub u8);

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
    /// A member has finished with a packet that was given to it, whatever became of it.
    Finished(Member),
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
    },
    /// A packet for the layer above.
    Deliver(P),
    /// A packet that goes no further.
    Drop(P, DropReason),
}

/// Why a trunk dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The trunk's own queue was full.
    QueueFull,
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
    sender: Sender<P>,
    receiver: Receiver<P>,
    outputs: VecDeque<Output<P>>,
}

impl<P: Packet> Trunk<P> {
    /// An end with `members` member links; `epoch` must grow whenever the sender starts anew.
    pub fn new(policy: Policy, members: u8, epoch: u16) -> Self {
        Self {
            sender: Sender::new(policy, members, epoch),
            receiver: Receiver::new(policy.resequencer),
            outputs: VecDeque::with_capacity(8),
        }
    }
    /// What the sending side has counted.
    pub fn sender_stats(&self) -> &SenderStats {
        self.sender.stats()
    }
    /// What the receiving side has counted.
    pub fn receiver_stats(&self) -> &ReceiverStats {
        self.receiver.stats()
    }
    /// The receiving side, for its timer's course.
    pub fn receiver(&self) -> &Receiver<P> {
        &self.receiver
    }
    /// Packets that wait in the trunk's own queue.
    pub fn queue_len(&self) -> usize {
        self.sender.queue_len()
    }
}

impl<P: Packet> Machine for Trunk<P> {
    type Input = Input<P>;
    type Output = Output<P>;

    fn handle_input(&mut self, now: Instant, input: Input<P>) {
        let outputs = &mut self.outputs;
        match input {
            Input::Packet(packet) => self.sender.on_packet(packet, outputs),
            Input::Finished(member) => self.sender.on_finished(member, outputs),
            Input::Frame { header, packet } => self.receiver.on_frame(now, header, packet, outputs),
        }
        // A timer may be due at this very instant; a frame that fills its hole comes in time.
        self.receiver.on_timeout(now, &mut self.outputs);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.receiver.on_timeout(now, &mut self.outputs);
    }

    fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        self.receiver.wake()
    }
}
