//! The daemon's status, for `airbraid status --json`, the metrics and the history.

use super::peer::PeerCounts;
use super::uplink::UplinkCounts;
use airbraid_engine::trunk::bonding::{self, MemberStatus};
use airbraid_sim::metric::Flat;
use airbraid_units::{Duration, metrics};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

metrics! {
    /// The counts beside those of peers and uplinks.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct DaemonCounts {
        /// Packets of programs that are no IP packets, or for which there is no peer.
        pub unroutable_packets: u64 = sum,
        /// Packets that the interface refused.
        pub undelivered_packets: u64 = sum,
        /// Runs from programs that could not be cut.
        pub malformed_runs: u64 = sum,
        /// Packets whose sender was told that they are too long.
        pub too_big_packets: u64 = sum,
        /// Packets that were fragmented, as they were too long and may be cut.
        pub fragmented_packets: u64 = sum,
        /// Times that the host was stopped for more than 5 ms between what it was to send and its sending: nothing is
        /// learnt from that of a link.
        pub late_sends: u64 = sum,
        /// Longest such delay.
        pub late_worst: Duration = gauge "late_worst_s",
    }
}

metrics! {
    /// The daemon.
    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    pub struct Status {
        /// Name.
        pub name: String,
        /// The process.
        pub pid: u32,
        /// Since it began.
        pub uptime_s: f64 = gauge,
        /// Its interface.
        pub interface: String,
        /// The longest packet of its interface.
        pub mtu_bytes: u32,
        /// Whether the kernel takes and gives many packets at once: segments of TCP (`tun_tcp`) and UDP datagrams
        /// (`tun_udp`) at the interface, datagrams that are sent (`udp_segment`) and received (`udp_gro`) on all
        /// uplinks.
        pub offloads: BTreeMap<String, bool>,
        /// The public key of this end.
        pub public_key: String,
        /// Where the peers' prefixes and this end's addresses meet the host's own, which stay as they are.
        pub route_conflicts: Vec<String>,
        /// Counts of the daemon.
        #[serde(flatten)]
        pub counts: Flat<DaemonCounts> = part,
        /// Handshake messages that were refused, by reason.
        pub refused_handshakes: BTreeMap<String, u64>,
        /// Frames that were refused, by reason.
        pub refused_frames: BTreeMap<String, u64>,
        /// The last callers that were refused, at most sixteen.
        pub refused_callers: Vec<CallerReport>,
        /// The interfaces that it uses.
        pub uplinks: Vec<UplinkReport>,
        /// The peers.
        pub peers: Vec<PeerReport>,
    }
}

/// Somebody who was not let in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallerReport {
    /// Where it called from last.
    pub from: String,
    /// Its public key, if it has shown one.
    pub public_key: Option<String>,
    /// Number of its calls.
    pub times: u64,
    /// Since it did last.
    pub silent_s: f64,
    /// Why it was not let in, as a word: `unknown-key`, `calls-another-key`.
    pub cause: String,
    /// The same as a sentence, and what to do.
    pub remedy: String,
}

metrics! {
    /// An uplink.
    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    pub struct UplinkReport {
        /// Name.
        pub name: String,
        /// Its interface, if it has one.
        pub device: Option<String>,
        /// `open`, `off` (switched off), `away` (no such interface, down, or without an address).
        pub state: String,
        /// Why it is not open, or not wholly, or cannot work, as a word.
        pub cause: Option<String>,
        /// The same as a sentence, and what to do.
        pub remedy: Option<String>,
        /// Its addresses.
        pub addresses: Vec<String>,
        /// The most bytes that it carries in a month, both ways, if there is a limit.
        pub quota_bytes: Option<u64> = gauge,
        /// Bytes of this month, with IP and UDP headers, where there is such a limit.
        pub month_bytes: Option<u64> = gauge,
        /// Counts of the uplink.
        #[serde(flatten)]
        pub counts: Flat<UplinkCounts> = part,
        /// Signal of the access point at its radio, if it is one.
        pub signal_dbm: Option<i8> = gauge,
    }
}

metrics! {
    /// A peer.
    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    pub struct PeerReport {
        /// Name.
        pub name: String,
        /// Its public key.
        pub public_key: String,
        /// Whether there is a session in which something has come within 30 s.
        pub up: bool = gauge,
        /// Since it has said that it goes, if that was the last that it said.
        pub left_s: Option<f64> = gauge,
        /// Since something came from it in this session, if that is 30 s or more.
        pub silent_s: Option<f64> = gauge,
        /// A clock that was set back within ten minutes, this host's or the peer's, and by how much: the session came
        /// up all the same.
        pub clock_set_back: Option<SetBack>,
        /// Whether another host was seen within ten minutes that uses the private key of this one (`ours`), or the
        /// peer's (`theirs`).
        pub shared_key: Option<String>,
        /// The longest packet for it.
        pub mtu_bytes: u32 = gauge,
        /// The condition that a session waits for, if there is none.
        pub waits_for: Option<String>,
        /// Why there is none, as a word, as far as this end knows.
        pub cause: Option<String>,
        /// The same as a sentence, and what to do.
        pub remedy: Option<String>,
        /// Through which peer its packets go meanwhile, if it is one that has to be introduced and was not met.
        pub through: Option<String>,
        /// Whether we go to it: it has an endpoint.
        pub called: bool,
        /// Time that its last first answer took.
        pub answered_s: Option<f64> = gauge,
        /// Counts of the peer.
        #[serde(flatten)]
        pub counts: Flat<PeerCounts> = part,
        /// Counts and present values of the trunk to it.
        #[serde(flatten)]
        pub trunk: Flat<bonding::BondStatus> = part,
        /// Memory of its packets.
        pub memory_bytes: u64 = gauge,
        /// Dropped packets, by reason.
        pub drops: BTreeMap<String, u64>,
        /// The member links.
        pub members: Vec<MemberReport>,
    }
}

/// A clock that was set back between two starts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SetBack {
    /// `ours` or `theirs`.
    pub whose: String,
    /// By how much.
    pub by_s: f64,
}

metrics! {
    /// A member link.
    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    pub struct MemberReport {
        /// Its number.
        pub member: u8,
        /// Our uplink.
        pub uplink: String,
        /// Name of the member's uplink at its own end: ours, or the peer's.
        pub name: String,
        /// Where the peer is on it.
        pub remote: String,
        /// `probing`, `active`, `suspected`, `exhausted`.
        pub state: String,
        /// Why nothing comes on it, as a word, as far as this end knows.
        pub cause: Option<String>,
        /// The same as a sentence, and what to do.
        pub remedy: Option<String>,
        /// Since something came on it.
        pub silent_s: Option<f64> = gauge,
        /// The most bytes that its uplink carries in a month, both ways, if there is a limit.
        pub quota_bytes: Option<u64> = gauge,
        /// Counts and estimates of the member.
        #[serde(flatten)]
        pub counts: Flat<MemberStatus> = part,
    }
}
