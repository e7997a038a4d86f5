//! The data plane of a tunnel over several links: one peer, one side (the daemon's, and the simulator's trunk over links).
//!
//! A [`Tunnel`] distributes packets over member links by measured rate and delay, sends again what is lost, on whichever
//! member has it there first, and restores the order of each flow behind them. It never sees bytes, addresses or keys:
//!
//! 1. The host adds members, in any order and at any time ([`Input::MemberAdded`]); probes go out on them, and no packet does
//!    before one was answered.
//! 2. It gives packets ([`Input::Packet`]), each of one segment, and sends each frame that it is told to
//!    ([`Output::Transmit`]): header by [`crate::wire`], the packet's bytes, sealed for that member.
//! 3. What comes from the far end goes in as [`Input::Frame`]; what is for the host comes out by [`Output::Deliver`].
//!
//! Each packet that is given in ends here in exactly one way: [`Output::Release`] when the far end has it,
//! [`Output::Dropped`] otherwise. Each [`Output::Transmit`] of a packet carries another handle to it ([`Share`]).
//!
//! Equations, states and constants: `docs/models/tunnel.md`.

mod config;
mod frame;
mod status;

pub use config::{Config, MemberConfig, Settings};
pub use frame::{BUCKETS, Feedback, Frame, Header, MEMBERS_MAX, PLACE_BITS, Place, Probe, RUNS_MAX, Report, Run};
pub use status::{Counts, MemberState, MemberStatus, Status};

use crate::machine::{Machine, Wake};
use crate::packet::Share;
use crate::trunk::Member;
use airbraid_units::{Bytes, Instant, SeqNum};
use std::collections::VecDeque;

/// Everything the world tells a tunnel.
#[derive(Debug)]
pub enum Input<P> {
    /// A packet to carry to the far end: one segment, not a run.
    Packet(P),
    /// A frame from the far end.
    Frame {
        /// The member on which it came.
        member: Member,
        /// The frame.
        frame: Frame<P>,
        /// Its length on the wire, with everything around it.
        length: Bytes,
    },
    /// There is a member, or its configuration is another.
    MemberAdded {
        /// Its number, below [`MEMBERS_MAX`]; both ends call it the same.
        member: Member,
        /// What it is like.
        config: MemberConfig,
    },
    /// A member is gone.
    MemberRemoved {
        /// Its number.
        member: Member,
    },
    /// The host could not send a frame: its socket is full. The frame is taken for lost, and the member gets no more for a
    /// moment.
    Refused {
        /// The member.
        member: Member,
        /// The frame's number on it.
        number: SeqNum,
    },
}

/// Everything a tunnel asks of the world.
#[derive(Debug)]
pub enum Output<P> {
    /// Send this.
    Transmit {
        /// On this member.
        member: Member,
        /// The frame.
        frame: Frame<P>,
        /// Whether the packet is to say that it met congestion (ECN); only for packets that can.
        mark: bool,
    },
    /// A packet for the host.
    Deliver(P),
    /// A packet that goes no further.
    Dropped {
        /// The packet.
        packet: P,
        /// Why.
        reason: DropReason,
    },
    /// A handle that was kept until the far end had the packet.
    Release(P),
}

/// Why a tunnel dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// Its flow is told to slow down.
    Managed,
    /// It was too old to be sent, or to be sent again.
    Expired,
    /// It had come before.
    Duplicate,
    /// It came after its place was given up, and the order must hold.
    Late,
    /// It lies so far ahead or behind that it belongs to another life of the sender.
    Stale,
}

impl DropReason {
    /// How many there are.
    pub const COUNT: usize = 6;
    /// All of them, with the names that results use.
    pub const ALL: [(Self, &'static str); Self::COUNT] = [
        (Self::QueueFull, "queue_full"),
        (Self::Managed, "managed"),
        (Self::Expired, "expired"),
        (Self::Duplicate, "duplicate"),
        (Self::Late, "late"),
        (Self::Stale, "stale"),
    ];
}

/// One end of a tunnel.
#[derive(Debug)]
pub struct Tunnel<P> {
    config: Config,
    members: Vec<(Member, MemberConfig, SeqNum)>,
    turn: usize,
    places: Vec<u32>,
    counts: Counts,
    outputs: VecDeque<Output<P>>,
}

impl<P: Share> Tunnel<P> {
    /// An end without members.
    pub fn new(config: Config) -> Self {
        let places = vec![0; 2 * usize::from(BUCKETS)];
        Self { config, members: vec![], turn: 0, places, counts: Counts::default(), outputs: VecDeque::new() }
    }

    /// What it does now.
    pub fn status(&self) -> Status {
        let one = |&(member, ..): &(Member, MemberConfig, SeqNum)| MemberStatus {
            member,
            state: MemberState::Active,
            ..MemberStatus::default()
        };
        Status { members: self.members.iter().map(one).collect(), counts: self.counts, ..Status::default() }
    }

    fn on_packet(&mut self, packet: P) {
        self.counts.offered += 1;
        let count = self.members.len();
        if count == 0 {
            self.counts.dropped[DropReason::QueueFull as usize] += 1;
            self.outputs.push_back(Output::Dropped { packet, reason: DropReason::QueueFull });
            return;
        }
        self.turn = (self.turn + 1) % count;
        let bucket = Place::bucket_of(packet.class(), packet.flow_bucket());
        let place = &mut self.places[usize::from(bucket)];
        let number = *place;
        *place = Place::plus(number, 1);
        let (member, _, next) = &mut self.members[self.turn];
        let header = Header { number: *next, place: Place { bucket, number } };
        *next = next.next();
        let frame = Frame::Data { header, packet: packet.share() };
        self.outputs.push_back(Output::Transmit { member: *member, frame, mark: false });
        self.outputs.push_back(Output::Release(packet));
    }
}

impl<P: Share> Machine for Tunnel<P> {
    type Input = Input<P>;
    type Output = Output<P>;

    fn handle_input(&mut self, _: Instant, input: Input<P>) {
        match input {
            Input::Packet(packet) => self.on_packet(packet),
            Input::Frame { frame: Frame::Data { packet, .. }, .. } => {
                self.counts.delivered += 1;
                self.outputs.push_back(Output::Deliver(packet));
            }
            Input::Frame { .. } | Input::Refused { .. } => {}
            Input::MemberAdded { member, config } => {
                self.members.retain(|(other, ..)| *other != member);
                self.members.push((member, config, SeqNum(self.config.epoch)));
            }
            Input::MemberRemoved { member } => self.members.retain(|(other, ..)| *other != member),
        }
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        None
    }
}
