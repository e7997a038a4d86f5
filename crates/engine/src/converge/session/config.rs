//! Configuration of [`super::Sessions`].

use super::address::Address;
use super::material::{PublicKey, Secret};
use super::message::Suite;
use airbraid_units::Duration;

#[derive(Clone, Debug)]
pub struct Config {
    pub identity: Secret,
    /// The known peers; [`super::PeerId`] is the index in this list.
    pub peers: Vec<PeerConfig>,
    /// The usable suites, the best first. Where the responder's and the initiator's order differ, the responder
    /// decides.
    pub suites: Vec<Suite>,
    /// Wall-clock time at the machine's [`airbraid_units::Instant::ZERO`] \[ns since 1970\]. Time stamps that grow from
    /// life to life save a round trip: a peer that has seen newer ones reports it.
    pub epoch_ns: u64,
    pub timing: Timing,
}

#[derive(Clone, Debug)]
pub struct PeerConfig {
    pub public: PublicKey,
    /// A pre-shared secret; zeros if there is none. It protects today's traffic from an attacker who breaks X25519
    /// later.
    pub psk: Secret,
    /// Its possible addresses: initiations go to all, shortly after each other. Empty if only the peer can begin.
    pub addresses: Vec<Address>,
}

/// Intervals and limits. The default is WireGuard's where it has the same timer (Donenfeld 2017, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Time to the first retransmission of an initiation; it doubles each time, with up to a third more, at random.
    pub retry: Duration,
    /// Longest time to a retransmission.
    pub retry_most: Duration,
    /// Duration of an attempt before it is given up.
    pub give_up: Duration,
    /// Age of a key at which the initiator makes a new one; the responder, if that has not happened, half as long
    /// again.
    pub rekey: Duration,
    /// Age at which a key is forgotten.
    pub expire: Duration,
    /// Lifetime of a cookie's secret; the cookie of the secret before it is good, too.
    pub cookie: Duration,
    /// First messages admitted without a cookie, a second.
    pub load: u32,
    /// First messages admitted with a cookie, a second.
    pub load_most: u32,
    /// As many more from addresses of peers with a session, a second.
    pub load_home: u32,
    /// Shortest interval between two answers to first messages of one peer.
    pub apart: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            // Twice a round trip over a slow mobile uplink; sixteen attempts are open at a time, for longer ones.
            retry: Duration::from_millis(250),
            retry_most: Duration::from_secs(5),
            give_up: Duration::from_secs(90),
            rekey: Duration::from_secs(120),
            // A minute more than WireGuard's: a radio may be away for one in the middle of a rekeying.
            expire: Duration::from_secs(240),
            cookie: Duration::from_secs(120),
            // One takes the responder about 0.5 ms (`make bench`): 5 % of a core, and 25 %.
            load: 100,
            load_most: 500,
            // 4,096 sessions make new keys 34 times a second.
            load_home: 100,
            apart: Duration::from_millis(20),
        }
    }
}
