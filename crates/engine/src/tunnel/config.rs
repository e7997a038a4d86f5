//! What a host tells a tunnel: how it treats packets, and what its members are like.

use crate::trunk::Policy;
use airbraid_units::{BitRate, Bytes, Duration};

/// One end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The `policy` table. Of it a tunnel uses the queue's limit, the resequencer's longest hold, its buffer and what it
    /// does with late packets, and [`Settings`].
    pub policy: Policy,
    /// Another in each life of this end, drawn by chance: two lives may begin within one second.
    pub epoch: u32,
}

/// What a tunnel's `policy` table says beside what all trunks have: `[trunk.policy.tunnel]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// For how long a packet of bulk class is sent again, from when it came on.
    pub persistence: Duration,
    /// The same for real-time class: what comes later is of no use.
    pub persistence_real_time: Duration,
    /// Packets of real-time class up to this length go on two members; zero: none.
    pub duplicate: Bytes,
    /// How long a bulk packet may wait in the queue before its flow is told to slow down, beside what uneven members and
    /// their round trips need.
    pub target: Duration,
    /// Whether repair symbols are sent on members where they cost less than losses.
    pub coding: Coding,
}

/// When repair symbols are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coding {
    /// On no member.
    Off,
    /// On members where they cost less than to send again what is lost.
    #[default]
    Adaptive,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            // Far beyond what a TCP waits; what comes after that was sent again from end to end long ago.
            persistence: Duration::from_secs(5),
            // ITU-T G.114: conversations suffer from 150 ms of one-way delay on.
            persistence_real_time: Duration::from_millis(150),
            // Voice and games are below, video is not.
            duplicate: Bytes::new(300),
            // Measured, docs/models/tunnel.md: shorter loses TCP throughput on short paths, longer only adds delay.
            target: Duration::from_millis(30),
            coding: Coding::Adaptive,
        }
    }
}

/// One member link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberConfig {
    /// Members of a higher tier get only what those of lower ones leave waiting.
    pub tier: u8,
    /// It gets packets only while no other member works.
    pub is_backup: bool,
    /// It gets no packets after it has carried so much, both ways, until it is added anew.
    pub quota: Option<Bytes>,
    /// It is never sent more than this, whatever it could carry.
    pub rate_cap: Option<BitRate>,
    /// What is around each frame on the wire: outer IP and UDP headers, and what sealing adds \[byte\].
    pub overhead: Bytes,
    /// MAX_PLPMTU (RFC 8899): the longest IP packet that the host's own link takes. What the path takes is found by probes; none: it takes
    /// whatever it is given, and is not probed.
    pub mtu: Option<Bytes>,
}

impl MemberConfig {
    /// IPv4 and UDP headers, and a sealed frame's header and tag.
    pub const OVERHEAD_IPV4: Bytes = Bytes::new(20 + 8 + 12 + 16);
    /// The same with IPv6.
    pub const OVERHEAD_IPV6: Bytes = Bytes::new(40 + 8 + 12 + 16);
}

impl Default for MemberConfig {
    fn default() -> Self {
        Self { tier: 0, is_backup: false, quota: None, rate_cap: None, overhead: Self::OVERHEAD_IPV4, mtu: None }
    }
}
