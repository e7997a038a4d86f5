//! Ad hoc on-demand distance vector routing (RFC 3561) as a pure machine, one a node, over any link layer.
//!
//! It finds routes when a packet needs one, keeps packets while it looks, tells those concerned when a route is gone,
//! and never looks into a packet. It does not send by itself: what it gives out, its host hands to a MAC, and it is
//! told of the MAC's failures.
//!
//! The text of RFC 3561 admits readings that form loops (van Glabbeek, Höfner, Tan, Portmann 2013, "Sequence numbers
//! do not guarantee loop freedom"). [`Flavour::Rfc3561`] is this one, which has none at any instant:
//!
//! 1. A number never gets smaller: an older one does not replace a newer one, whatever its flag says; a bare message
//!    from a neighbour makes a route of one hop and leaves the number alone (section 6.2).
//! 2. A route of equal number is taken over only if the old one is invalid or longer (section 6.2), also when it leads
//!    back to an originator (section 6.5).
//! 3. Whenever a route becomes invalid its number grows by one, by a broken link, by expiry and before a local repair
//!    alike. Expiry counts from its instant on, not from when somebody notices.
//! 4. A route error makes a route invalid only if it comes from its next hop and its number is newer; that number is
//!    taken over (section 6.11).
//! 5. No node has a route to itself; a node's own number is kept apart from the table, and a destination answers with
//!    the larger of it and the one asked for (section 6.1).
//! 6. Entries are never deleted, and numbers survive a reboot; routes do not. (The RFC forgets numbers after
//!    DELETE_PERIOD, which is safe only if nobody else remembers for longer.)
//! 7. An intermediate node answers only with a valid route and a number that belongs to it, at least the one asked for.
//!
//! Why that suffices: call (number, less one while invalid; then fewer hops) a node's freshness for a destination. No
//! rule makes it worse, what a node announces is its own freshness with one hop more, and who takes that over ends up
//! strictly less fresh than the announcer, then and ever after. Along next hops freshness grows strictly, so no way
//! closes.

mod buffer;
mod config;
mod discovery;
mod failure;
mod forward;
mod hello;
mod limit;
pub mod message;
mod reply;
mod request;
mod table;
#[cfg(test)]
mod tests;
pub mod wire;

pub use config::{AodvConfig, Doubt, Flavour, Hello, Repair, RepairWait, RepairWhen};
pub use message::Message;
use message::RreqId;
pub use table::Route;

use crate::Refusal;
use airbraid_engine::{Machine, Stream, Wake};
use airbraid_units::{Duration, Instant, SeqNum, metrics};
use buffer::SendBuffer;
use discovery::{AnswerTimes, Discovery};
use limit::RateLimit;
use std::collections::{BTreeMap, VecDeque};
use table::Table;

/// The address of a node, the same on all its interfaces; in captures an IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u32);

/// A packet under way, with the fields that the network layer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<P> {
    pub packet: P,
    /// The node that created it.
    pub source: Node,
    /// The node that it is for.
    pub destination: Node,
    /// Hops that it may still go: the TTL of its header.
    pub ttl: u8,
    /// Hops that it has come.
    pub hops: u8,
}

/// Everything that the host tells a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Input<P> {
    /// A packet of this node's own, for another.
    Originate(Datagram<P>),
    /// A packet from a neighbour for another node, as it arrived: its TTL is counted down here.
    Forward { from: Node, datagram: Datagram<P> },
    /// A message from a neighbour.
    Control {
        from: Node,
        /// The TTL with which it arrived.
        ttl: u8,
        message: Message,
    },
    /// The link layer has given up sending something to a neighbour.
    LinkFailed {
        next_hop: Node,
        /// The packet, handed back; `None`: it was a message.
        datagram: Option<Datagram<P>>,
    },
    /// A neighbour has acknowledged a packet. The host need report it only where [`Aodv::awaits`] says so.
    Acknowledged(Node),
    /// A packet for this node came from a neighbour. The host need report it only where [`Aodv::awaits`] says so.
    Heard(Node),
    /// The node restarts: routes, searches and waiting packets are gone, sequence numbers are not.
    Reboot,
}

/// Everything that a node tells its host.
#[derive(Clone, Debug, PartialEq)]
pub enum Output<P> {
    /// Send a packet to a neighbour.
    Send {
        next_hop: Node,
        datagram: Datagram<P>,
        /// Whether the link layer has just handed it back: it goes before what waits, so that the order holds.
        again: bool,
    },
    /// Send a message, in one UDP datagram of [`Message::packet_len`] with the header.
    Control {
        /// Receiver; `None`: all neighbours.
        to: Option<Node>,
        ttl: u8,
        message: Message,
    },
    /// The packet goes no further.
    Drop { datagram: Datagram<P>, reason: DropReason },
    /// The link to a neighbour, or the routes through it, are taken for broken: packets that wait for it below will
    /// hardly arrive. (ns-2 discards them.)
    LinkBroken(Node),
}

/// The reason why a packet goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// No route is known, or a forwarding node has none.
    NoRoute,
    /// The send buffer was full and it was the oldest.
    BufferFull,
    /// It had waited for a route for too long.
    Expired,
    /// It has gone as many hops as it may.
    TtlExpired,
    /// It came back to its source.
    Circled,
    /// The link layer gave it up.
    LinkFailed,
    Rebooted,
}

metrics! {
    /// The counters of a node.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct AodvStats {
        /// Searches begun, repairs among them.
        pub searches: u64 = sum,
        /// Searches that found nothing.
        pub searches_failed: u64 = sum,
        /// Repairs begun.
        pub repairs: u64 = sum,
        /// RREQs sent, forwarded ones included.
        pub rreq_sent: u64 = sum,
        /// RREPs sent, forwarded ones and hello messages included.
        pub rrep_sent: u64 = sum,
        pub rerr_sent: u64 = sum,
        /// RERRs held back by the limit.
        pub rerr_suppressed: u64,
        /// Links taken for broken while a route used them.
        pub links_broken: u64 = sum,
        /// Packets dropped.
        pub dropped: u64,
    }
}

/// A node that speaks AODV.
#[derive(Clone, Debug)]
pub struct Aodv<P> {
    config: AodvConfig,
    me: Node,
    /// The node's own number.
    sequence: SeqNum,
    next_rreq_id: RreqId,
    table: Table,
    buffer: SendBuffer<P>,
    searches: BTreeMap<Node, Discovery>,
    answer_times: BTreeMap<Node, AnswerTimes>,
    /// RREQs seen, with the instant at which they are forgotten; oldest first beside it.
    seen: BTreeMap<(Node, RreqId), Instant>,
    seen_order: VecDeque<(Instant, (Node, RreqId))>,
    /// Messages that wait for their jitter to pass, by instant and number.
    delayed: BTreeMap<(Instant, u64), (u8, Message)>,
    delayed_count: u64,
    /// Neighbours that send hello messages, with the end of their allowed silence.
    greeters: BTreeMap<Node, Instant>,
    /// Packets in a row that the link layer gave up, by neighbour, and whether it was heard since the first of them.
    failures: BTreeMap<Node, (u8, bool)>,
    next_hello: Option<Instant>,
    /// Time of the last decision whether to send a hello message.
    last_beat: Instant,
    last_broadcast: Option<Instant>,
    rreq_limit: RateLimit,
    rerr_limit: RateLimit,
    jitter: Stream,
    outputs: VecDeque<Output<P>>,
    stats: AodvStats,
}

impl<P> Aodv<P> {
    /// A node without routes; `jitter` gives its delays.
    ///
    /// # Errors
    /// If [`AodvConfig::check`] refuses the configuration.
    pub fn new(config: AodvConfig, me: Node, mut jitter: Stream) -> Result<Self, Refusal> {
        config.check()?;
        // Nodes that start together do not greet together: the first greeting is anywhere in the first interval.
        let mut phase = |hello: Hello| {
            if hello.jitter.is_zero() { hello.interval } else { random_up_to(&mut jitter, hello.interval) }
        };
        let next_hello = config.hello.map(|hello| Instant::ZERO + phase(hello));
        Ok(Self {
            me,
            sequence: SeqNum(0),
            next_rreq_id: RreqId(0),
            table: Table::new(config.flavour),
            buffer: SendBuffer::new(config.buffer_limit, config.buffer_timeout),
            searches: BTreeMap::new(),
            answer_times: BTreeMap::new(),
            seen: BTreeMap::new(),
            seen_order: VecDeque::new(),
            delayed: BTreeMap::new(),
            delayed_count: 0,
            greeters: BTreeMap::new(),
            failures: BTreeMap::new(),
            next_hello,
            last_beat: Instant::ZERO,
            last_broadcast: None,
            rreq_limit: RateLimit::new(config.rreq_ratelimit),
            rerr_limit: RateLimit::new(config.rerr_ratelimit),
            jitter,
            outputs: VecDeque::new(),
            stats: AodvStats::default(),
            config,
        })
    }

    pub const fn stats(&self) -> &AodvStats {
        &self.stats
    }

    /// The valid route to `destination`, if there is one at `now`.
    pub fn route(&self, now: Instant, destination: Node) -> Option<&Route> {
        self.table.peek(now, destination)
    }

    /// Whether this node needs to know of each sign of life of `neighbour`: its link is in doubt, it has long been
    /// silent, or this node would soon greet no more.
    pub fn awaits(&self, now: Instant, neighbour: Node) -> bool {
        self.failures.contains_key(&neighbour) || self.is_long_silent(now, neighbour) || self.is_hardly_in_use(now)
    }

    /// Packets in the send buffer.
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }

    fn is_ns2(&self) -> bool {
        self.config.flavour == Flavour::Ns2
    }

    /// A new number of the node's own. ns-2 counts in twos: odd numbers are those of broken routes (as in early
    /// drafts).
    fn advance_sequence(&mut self) {
        self.sequence = self.sequence.plus(if self.is_ns2() { 2 } else { 1 });
    }

    fn send_control(&mut self, now: Instant, to: Option<Node>, ttl: u8, message: Message) {
        match message {
            Message::Rreq(_) => self.stats.rreq_sent += 1,
            Message::Rrep(_) => self.stats.rrep_sent += 1,
            Message::Rerr(_) => self.stats.rerr_sent += 1,
        }
        if to.is_none() {
            self.last_broadcast = Some(now);
        }
        self.outputs.push_back(Output::Control { to, ttl, message });
    }

    /// Returns a span drawn uniformly from zero to `longest`, in whole microseconds (at most 2^32 of them, or over an
    /// hour).
    fn random_up_to(&mut self, longest: Duration) -> Duration {
        random_up_to(&mut self.jitter, longest)
    }

    /// Broadcasts after a random delay: other nodes that answer the same message would otherwise send at the same
    /// instant.
    fn broadcast_jittered(&mut self, now: Instant, ttl: u8, message: Message) {
        let delay = self.random_up_to(self.config.jitter);
        if delay.is_zero() {
            self.send_control(now, None, ttl, message);
        } else {
            self.delayed_count += 1;
            self.delayed.insert((now + delay, self.delayed_count), (ttl, message));
        }
    }

    fn drop_datagram(&mut self, datagram: Datagram<P>, reason: DropReason) {
        self.stats.dropped += 1;
        self.outputs.push_back(Output::Drop { datagram, reason });
    }

    fn on_control(&mut self, now: Instant, from: Node, ttl: u8, message: Message) {
        if from == self.me {
            return;
        }
        self.on_sign_of_life(now, from);
        if !self.is_ns2() {
            self.table.meet(now, from, now + self.config.active_route_timeout);
            self.flush(now, from);
        }
        match message {
            Message::Rreq(rreq) => self.on_rreq(now, from, ttl, rreq),
            Message::Rrep(rrep) if rrep.originator == rrep.destination => self.on_hello(now, from, &rrep),
            Message::Rrep(rrep) => self.on_rrep(now, from, rrep),
            Message::Rerr(rerr) => self.on_rerr(now, from, &rerr),
        }
    }

    /// Ends searches and drops waiting packets. The numbers stay, and with them the promise to the nodes that remember
    /// them.
    fn reboot(&mut self, now: Instant) {
        self.table.invalidate_all(now);
        self.searches.clear();
        self.delayed.clear();
        self.greeters.clear();
        self.failures.clear();
        while let Some(datagram) = self.buffer.pop() {
            self.drop_datagram(datagram, DropReason::Rebooted);
        }
    }

    fn send_delayed(&mut self, now: Instant) {
        while let Some(first) = self.delayed.first_entry().filter(|first| first.key().0 <= now) {
            let (ttl, message) = first.remove();
            self.send_control(now, None, ttl, message);
        }
    }

    fn expire_buffer(&mut self, now: Instant) {
        while let Some(datagram) = self.buffer.take_expired(now) {
            self.drop_datagram(datagram, DropReason::Expired);
        }
    }
}

fn random_up_to(stream: &mut Stream, longest: Duration) -> Duration {
    let span = u32::try_from(longest.as_micros()).unwrap_or(u32::MAX);
    Duration::from_micros(u64::from(stream.up_to(span)))
}

impl<P> Machine for Aodv<P> {
    type Input = Input<P>;
    type Output = Output<P>;

    fn handle_input(&mut self, now: Instant, input: Input<P>) {
        self.handle_timeout(now);
        match input {
            Input::Originate(datagram) => self.originate(now, datagram),
            Input::Forward { from, datagram } => self.forward(now, from, datagram),
            Input::Control { from, ttl, message } => self.on_control(now, from, ttl, message),
            Input::LinkFailed { next_hop, datagram } => self.on_link_failed(now, next_hop, datagram),
            Input::Acknowledged(neighbour) => self.on_acknowledged(now, neighbour),
            Input::Heard(neighbour) => self.on_packet_for_me(now, neighbour),
            Input::Reboot => self.reboot(now),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.expire_buffer(now);
        self.send_delayed(now);
        self.check_greeters(now);
        self.say_hello(now);
        self.continue_searches(now);
    }

    fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        let search = self.searches.values().map(|search| search.deadline).min();
        let timers = [
            (search, "aodv.search"),
            (self.delayed.keys().next().map(|&(at, _)| at), "aodv.jitter"),
            (self.buffer.next_expiry(), "aodv.buffer"),
            (self.greeters.values().min().copied(), "aodv.silence"),
            (self.next_hello, "aodv.hello"),
        ];
        let first = timers.into_iter().filter_map(|(at, why)| Some(Wake { at: at?, why }));
        first.min_by_key(|wake| wake.at)
    }
}
