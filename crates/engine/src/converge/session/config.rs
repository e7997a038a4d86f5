//! What a host tells [`super::Sessions`] when it begins.

use super::material::{PublicKey, Secret};
use super::message::Suite;
use super::service::Address;
use airbraid_units::Duration;

/// One end.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its static key.
    pub identity: Secret,
    /// Whom it knows; [`super::PeerId`] is the place in this list.
    pub peers: Vec<PeerConfig>,
    /// The suites that it can use, the best first. Where the responder's and the initiator's differ, the responder decides.
    pub suites: Vec<Suite>,
    /// The time of the world at the machine's [`airbraid_units::Instant::ZERO`] \[ns since 1970\]. Time stamps that grow from life to
    /// life spare a round trip: a peer that has seen newer ones says so.
    pub epoch_ns: u64,
    /// When things are done.
    pub timing: Timing,
}

/// One peer.
#[derive(Clone, Debug)]
pub struct PeerConfig {
    /// Its static key.
    pub public: PublicKey,
    /// A secret that both know beside; zeros if there is none. It protects what is sent today from whoever breaks
    /// X25519 tomorrow.
    pub psk: Secret,
    /// Where it may be: initiations go to all, shortly after each other. None if it must come to us.
    pub addresses: Vec<Address>,
}

/// When things are done. The default is WireGuard's where it has the same thing (Donenfeld 2017, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The initiation is repeated after this, then after twice as long, and so on; up to a third more, at random.
    pub retry: Duration,
    /// The longest before a repetition.
    pub retry_most: Duration,
    /// An attempt is given up after this.
    pub give_up: Duration,
    /// The initiator makes a new key when the old is so old; the responder, if that has not happened, half as long
    /// again.
    pub rekey: Duration,
    /// A key is forgotten when it is so old.
    pub expire: Duration,
    /// A cookie is good for so long, and for as long again.
    pub cookie: Duration,
    /// First messages that are looked into without a cookie, in one second.
    pub load: u32,
    /// First messages that are looked into with one, in one second.
    pub load_most: u32,
    /// As many more from where a peer is with whom there is a session.
    pub load_home: u32,
    /// First messages of one peer are answered so far apart.
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
