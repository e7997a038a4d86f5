//! Configuration of an AODV node: the constants of RFC 3561, section 10, those that ns-2 was compiled with, and the
//! choice between the two texts where they differ.

use crate::Refusal;
use airbraid_units::Duration;

/// The rules that hold where RFC 3561 and ns-2 (2.26 to 2.35, `aodv/aodv.cc`) differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// RFC 3561 in the reading of [`super`]: free of loops at every instant.
    Rfc3561,
    /// The rules of ns-2: a route error of an equal sequence number counts, a repair begins with the old number, a bare
    /// message makes no route to its sender, a node's own number steps by two. They admit loops.
    Ns2,
}

/// Parameters of an AODV node; the names are those of RFC 3561, section 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AodvConfig {
    pub flavour: Flavour,
    /// Time for which a route stays valid after its last use.
    pub active_route_timeout: Duration,
    /// Lifetime that a destination promises in its own replies.
    pub my_route_timeout: Duration,
    /// Lifetime of the route back to the originator of a RREQ; `None`: 2 NET_TRAVERSAL_TIME - 2 hops
    /// NODE_TRAVERSAL_TIME (section 6.5).
    pub reverse_route_life: Option<Duration>,
    /// Time for which a RREQ is recognised by its identity.
    pub path_discovery_time: Duration,
    /// A conservative estimate of the time that one hop takes.
    pub node_traversal_time: Duration,
    /// The largest number of hops between two nodes.
    pub net_diameter: u8,
    /// Number of times that a search is repeated over the whole network.
    pub rreq_retries: u8,
    /// The first ring's radius \[hops\].
    pub ttl_start: u8,
    /// Growth of the radius from ring to ring \[hops\].
    pub ttl_increment: u8,
    /// Beyond this radius the whole network is searched.
    pub ttl_threshold: u8,
    /// Hops added to the radius when the time for an answer is computed.
    pub timeout_buffer: u8,
    /// Number of a destination's former answers whose mean time a hop replaces NODE_TRAVERSAL_TIME in the time for its
    /// next answer (ns-2: MAX_HISTORY); 0: none.
    pub answers_averaged: u8,
    /// RREQs that a node originates in a second at most; `None`: no limit.
    pub rreq_ratelimit: Option<u32>,
    /// RERRs that a node sends in a second at most; `None`: no limit. A RERR above the limit is not sent.
    pub rerr_ratelimit: Option<u32>,
    /// Hello messages; `None`: the link layer reports broken links.
    pub hello: Option<Hello>,
    /// The meaning of the MAC's reports of failure for a link.
    pub doubt: Doubt,
    /// Whether forwarding nodes repair broken routes, and how.
    pub repair: Option<Repair>,
    /// Whether an intermediate node that answers tells the destination too (flag G of the RREQ).
    pub gratuitous: bool,
    /// Broadcasts that answer broadcasts wait uniformly between zero and this, so that neighbours do not answer as one.
    pub jitter: Duration,
    /// Time after which a search that has failed begins again; `None`: with the next packet (ns-2: MAX_RREQ_TIMEOUT).
    pub rest: Option<Duration>,
    /// A search goes on when the time for its answer is over and at a whole multiple of this; `None`: at once. (ns-2
    /// looks at its send buffer every 500 ms.)
    pub tick: Option<Duration>,
    /// Packets that wait for routes, of all destinations together.
    pub buffer_limit: u32,
    /// Longest time that a packet waits for a route.
    pub buffer_timeout: Duration,
}

/// The number of packets given up by a MAC that makes a link a broken one. Section 6.10 leaves it open: on a crowded
/// medium a MAC gives up packets to neighbours that have not moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Packets in a row, if nothing came from the neighbour meanwhile.
    pub silent: u8,
    /// Packets in a row whatever came from it: the link works in one direction only.
    pub heard: u8,
}

/// Hello messages (section 6.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    pub interval: Duration,
    /// Each interval is shorter by a random span up to this: neighbours that greet at the same instant collide each
    /// time. RFC 5148, section 5.4, allows a quarter of the interval. Zero: none, and the first greeting is after one
    /// interval.
    pub jitter: Duration,
    /// ALLOWED_HELLO_LOSS: intervals of silence after which the link is broken.
    pub allowed_loss: u8,
}

/// Local repair (section 6.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The broken routes that are repaired where they broke.
    pub when: RepairWhen,
    /// LOCAL_ADD_TTL: added to the radius of the search.
    pub add_ttl: u8,
    /// Time allowed for the repair.
    pub wait: RepairWait,
}

/// Time allowed for a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairWait {
    /// RING_TRAVERSAL_TIME of its search (section 6.12: the discovery period).
    Ring,
    /// This long. (150 ms is the LOCAL_REPAIR_WAIT_TIME of ns-2's `aodv.h`, which its code uses nowhere.)
    For(Duration),
    /// As long as the simulation has lasted when the answer is due: ns-2 gives its timer that instant for a span. In
    /// practice: until the destination itself answers with a newer number.
    SinceStart,
}

/// The broken routes that a forwarding node repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairWhen {
    /// Those whose destination is no farther than this \[hops\]: MAX_REPAIR_TTL.
    Within(u8),
    /// Those whose destination is nearer than the source of the packet.
    NearerThanSource,
}

impl AodvConfig {
    /// RFC 3561, section 10, with hello messages, local repair and gratuitous replies.
    pub const fn rfc3561() -> Self {
        let second = Duration::from_secs(1);
        Self {
            flavour: Flavour::Rfc3561,
            active_route_timeout: Duration::from_secs(3),
            my_route_timeout: Duration::from_secs(6),
            reverse_route_life: None,
            // 2 NET_TRAVERSAL_TIME.
            path_discovery_time: Duration::from_millis(5_600),
            node_traversal_time: Duration::from_millis(40),
            net_diameter: 35,
            rreq_retries: 2,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            timeout_buffer: 2,
            answers_averaged: 0,
            rreq_ratelimit: Some(10),
            rerr_ratelimit: Some(10),
            hello: Some(Hello { interval: second, jitter: Duration::from_millis(250), allowed_loss: 2 }),
            doubt: Doubt { silent: 4, heard: 16 },
            // MAX_REPAIR_TTL = 0.3 NET_DIAMETER.
            repair: Some(Repair { when: RepairWhen::Within(10), add_ttl: 2, wait: RepairWait::Ring }),
            gratuitous: true,
            // The RFC asks for jitter (section 6.5 by reference to broadcasts) without a number: the one of ns-2.
            jitter: Duration::from_millis(10),
            rest: None,
            tick: None,
            buffer_limit: 64,
            buffer_timeout: Duration::from_secs(30),
        }
    }

    /// The values that ns-2 was compiled with (2.26 to 2.35, `aodv/aodv.h`, `aodv_rqueue.h`): the link layer reports
    /// broken links.
    pub const fn ns2() -> Self {
        Self {
            flavour: Flavour::Ns2,
            active_route_timeout: Duration::from_secs(10),
            my_route_timeout: Duration::from_secs(10),
            reverse_route_life: Some(Duration::from_secs(6)),
            path_discovery_time: Duration::from_secs(6),
            node_traversal_time: Duration::from_millis(30),
            net_diameter: 30,
            rreq_retries: 3,
            ttl_start: 5,
            ttl_increment: 2,
            ttl_threshold: 7,
            timeout_buffer: 0,
            answers_averaged: 3,
            rreq_ratelimit: None,
            rerr_ratelimit: None,
            hello: None,
            doubt: Doubt { silent: 1, heard: 1 },
            repair: Some(Repair { when: RepairWhen::NearerThanSource, add_ttl: 2, wait: RepairWait::SinceStart }),
            gratuitous: false,
            jitter: Duration::from_millis(10),
            rest: Some(Duration::from_secs(10)),
            tick: Some(Duration::from_millis(500)),
            buffer_limit: 64,
            buffer_timeout: Duration::from_secs(30),
        }
    }

    /// NET_TRAVERSAL_TIME: 2 NODE_TRAVERSAL_TIME NET_DIAMETER.
    pub fn net_traversal_time(&self) -> Duration {
        self.node_traversal_time * 2 * u64::from(self.net_diameter)
    }

    /// RING_TRAVERSAL_TIME: 2 NODE_TRAVERSAL_TIME (TTL + TIMEOUT_BUFFER).
    pub fn ring_traversal_time(&self, ttl: u8) -> Duration {
        self.node_traversal_time * 2 * (u64::from(ttl) + u64::from(self.timeout_buffer))
    }

    /// Shortest lifetime of a route back to an originator `hops` away (section 6.5).
    pub(super) fn reverse_life(&self, hops: u8) -> Duration {
        let by_distance = (self.net_traversal_time() * 2)
            .saturating_sub(self.node_traversal_time.saturating_mul(2 * u64::from(hops)));
        self.reverse_route_life.unwrap_or(by_distance)
    }

    /// Refuses values that no node can work with.
    ///
    /// # Errors
    /// The first parameter out of its range, and what is asked of it.
    pub fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(!self.node_traversal_time.is_zero(), "node_traversal_time", "be more than zero")?;
        Refusal::unless(self.net_diameter > 0, "net_diameter", "be at least 1")?;
        Refusal::unless(self.ttl_start > 0, "ttl_start", "be at least 1")?;
        Refusal::unless(self.ttl_increment > 0, "ttl_increment", "be at least 1")?;
        Refusal::unless(self.rreq_ratelimit != Some(0), "rreq_ratelimit", "be at least 1")?;
        Refusal::unless(self.tick.is_none_or(|tick| !tick.is_zero()), "tick", "be more than zero")?;
        Refusal::unless(self.rest.is_none_or(|rest| !rest.is_zero()), "rest", "be more than zero")?;
        Refusal::unless(self.doubt.silent > 0, "doubt.silent", "be at least 1")?;
        Refusal::unless(self.doubt.heard >= self.doubt.silent, "doubt.heard", "be at least doubt.silent")?;
        Refusal::unless(!self.buffer_timeout.is_zero(), "buffer_timeout", "be more than zero")?;
        let has_no_time = self.repair.is_some_and(|repair| repair.wait == RepairWait::For(Duration::ZERO));
        Refusal::unless(!has_no_time, "repair.wait", "be more than zero")?;
        match self.hello {
            None => Ok(()),
            Some(hello) => {
                Refusal::unless(!hello.interval.is_zero(), "hello.interval", "be more than zero")?;
                Refusal::unless(hello.allowed_loss > 0, "hello.allowed_loss", "be at least 1")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3561, section 10: 40 ms a hop, 35 hops, a buffer of two.
    #[test]
    fn times_follow_from_those_of_a_hop() {
        let ms = Duration::from_millis;
        let config = AodvConfig::rfc3561();
        assert_eq!((config.net_traversal_time(), config.ring_traversal_time(1)), (ms(2_800), ms(240)));
        assert_eq!(config.ring_traversal_time(7), ms(720));
        // Twice the net's time, less the way back and forth.
        assert_eq!([0, 3, 70, 71].map(|hops| config.reverse_life(hops)), [5_600, 5_360, 0, 0].map(ms));
        let fixed = AodvConfig { reverse_route_life: Some(ms(6)), ..config };
        assert_eq!(fixed.reverse_life(3), ms(6));
    }
}
