//! One peer: its tunnel, and the path of each member link.

use super::calls::Calls;
use super::follow::Trust;
use super::introductions::Introduced;
use super::memory::Account;
use super::notice::Notice;
use super::packet::IpPacket;
use super::places::Reached;
use super::presence::{self, Presence};
use super::site::Peer;
use airbraid_engine::converge::session::{KeyId, PeerId, PublicKey};
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{Bond, BondConfig, MEMBERS_MAX, MemberConfig, MemberState, ReceivedFrame};
use airbraid_units::{Duration, Instant, metrics};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// Time after which a session that failed, or that the peer has ended, is tried again, unless there is something to
/// send.
pub(super) const AGAIN: Duration = Duration::from_secs(5);
/// Silence after which a peer may have restarted and lost its keys: a handshake finds out. Longer than the time in
/// which a dead member is found, and its packets go elsewhere.
pub(super) const SILENCE: Duration = Duration::from_secs(2);

/// Number of members of each end: the lower ones belong to the end with the smaller key.
const OF_EACH: u8 = (MEMBERS_MAX / 2) as u8;
/// Intervals at which a new member is announced again: the first notice may be lost.
const SOON: [Duration; 3] = [Duration::from_millis(100), Duration::from_millis(400), Duration::from_secs(2)];

/// Time since the last arrival for which a member counts as working: idle ones are asked more often.
const WORKS: Duration = Duration::from_secs(30);

/// The path of a member link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Our uplink.
    pub uplink: usize,
    /// The peer's address on it.
    pub remote: SocketAddr,
    /// The one of our addresses that it knows; `None` where the kernel chooses.
    pub source: Option<IpAddr>,
    /// Time of the last authentic arrival.
    pub heard: Option<Instant>,
    /// The time of the next notice, and the number of notices so far.
    pub notice: Option<(Instant, usize)>,
    /// The longest IP packet that our own interface takes there.
    pub device_mtu: u32,
    /// The path MTU found by probes; `None` before that.
    pub mtu: Option<u32>,
    /// The places that are known to be the peer's.
    pub trust: Trust,
}

impl Path {
    /// A path in its initial state.
    pub const fn new(uplink: usize, remote: SocketAddr, source: Option<IpAddr>) -> Self {
        Self { uplink, remote, source, heard: None, notice: None, device_mtu: 0, mtu: None, trust: Trust::NONE }
    }

    /// Length of all headers around a packet in a sealed frame on it.
    pub fn overhead(&self) -> airbraid_units::Bytes {
        if self.remote.is_ipv4() { MemberConfig::OVERHEAD_IPV4 } else { MemberConfig::OVERHEAD_IPV6 }
    }

    /// Something authentic has come on it. What was said of it before the first arrival may have been lost, so it is
    /// said again at once.
    pub fn hear(&mut self, now: Instant) {
        if self.heard.replace(now).is_none() && self.notice.is_some() {
            self.notice = Some((now, 0));
        }
    }

    /// Notes that the peer was told of it, and schedules the next notice.
    pub fn noticed(&mut self, now: Instant, keepalive: Duration) {
        if let Some((_, times)) = self.notice {
            let pause = SOON.get(times).copied().unwrap_or(keepalive);
            self.notice = Some((now + pause, times + 1));
        }
    }
}

metrics! {
    /// Counts of packets for and from a peer, beside its tunnel's.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PeerCounts {
        /// Packets that programs sent to the peer.
        pub sent_packets: u64 = sum,
        /// Bytes of these packets.
        pub sent_bytes: u64 = sum,
        /// Packets from the peer that programs got.
        pub received_packets: u64 = sum,
        /// Bytes of these packets.
        pub received_bytes: u64 = sum,
        /// Packets from it whose source is not behind it.
        pub foreign_packets: u64 = sum,
        /// Frames without a key to seal them.
        pub unsealed_frames: u64 = sum,
        /// Number of moves of its members.
        pub moves: u64 = sum,
        /// Number of unanswered path challenges.
        pub unvalidated: u64 = sum,
        /// Packets from it, and repair symbols, that are longer than it may send.
        pub too_long: u64,
        /// Frames that could not be parsed.
        pub malformed: u64,
        /// Packets dropped because they could not be marked (RFC 6040).
        pub unmarked: u64,
    }
}

#[derive(Debug)]
pub struct PeerState {
    /// Its entry in the file.
    pub config: Peer,
    /// Its name in link security.
    pub id: PeerId,
    pub tunnel: Bond<IpPacket>,
    /// Whether it was removed from the file; its index stays.
    pub is_gone: bool,
    /// Whether there is a session.
    pub is_up: bool,
    pub paths: BTreeMap<Member, Path>,
    /// The longest packet for it; `None` before any path was found to carry anything.
    pub mtu: Option<u32>,
    /// Its last notices of its members.
    pub said: BTreeMap<Member, Notice>,
    /// Place of its last arrival: uplink, its address, ours.
    pub heard: Option<(usize, SocketAddr, Option<IpAddr>)>,
    /// Its answering addresses, by our uplink.
    pub reached: BTreeMap<usize, Reached>,
    /// The history of the attempts to reach it.
    pub calls: Calls,
    pub presence: Presence,
    /// The state of its introduction.
    pub introduced: Introduced,
    /// The time since which frames that want an answer have got none.
    pub unanswered: Option<Instant>,
    /// The time of the next attempt at a session.
    pub again: Option<Instant>,
    /// Arrived frames for its tunnel.
    pub frames: Vec<ReceivedFrame<IpPacket>>,
    /// Whether something was sent to it whose lateness is not known yet.
    pub has_sent: bool,
    /// The next wake-up of its tunnel.
    pub wake: Option<Instant>,
    /// The buffers that are kept for it.
    pub account: Account,
    /// Its memory when its tunnel was driven last \[byte\].
    pub occupied: u64,
    pub counts: PeerCounts,
    /// Number of lives of its tunnel.
    lives: u32,
    /// The time at which a member's move was logged last.
    pub logged: Option<Instant>,
    /// The first member of ours, and of the peer's.
    first: [u8; 2],
}

impl PeerState {
    /// A peer that is not reached yet.
    pub fn new(config: Peer, id: PeerId, own: &PublicKey, tunnel: BondConfig) -> Self {
        let first = if own < &config.public { [0, OF_EACH] } else { [OF_EACH, 0] };
        Self {
            config,
            id,
            tunnel: Bond::new(tunnel),
            is_gone: false,
            is_up: false,
            paths: BTreeMap::new(),
            mtu: None,
            said: BTreeMap::new(),
            heard: None,
            reached: BTreeMap::new(),
            calls: Calls::default(),
            presence: Presence::default(),
            introduced: Introduced::default(),
            unanswered: None,
            again: None,
            frames: Vec::new(),
            has_sent: false,
            wake: None,
            account: Account::default(),
            occupied: 0,
            counts: PeerCounts::default(),
            lives: 0,
            logged: None,
            first,
        }
    }

    /// Replaces its tunnel by a new one, of another life for the far end, without members: they are offered again, or
    /// come again.
    pub fn begin_again(&mut self, tunnel: BondConfig) {
        self.lives += 1;
        self.tunnel = Bond::new(BondConfig { epoch: tunnel.epoch.wrapping_add(self.lives), ..tunnel });
        self.wake = None;
        self.unanswered = None;
        self.paths.clear();
        self.said.clear();
        self.frames.clear();
    }

    /// The time of its next due work.
    pub fn due(&self) -> Option<Instant> {
        let notices = self.paths.values().filter_map(|path| path.notice.map(|(at, _)| at));
        let silent = self.unanswered.map(|since| since + SILENCE);
        notices.chain(self.wake).chain(self.again).chain(silent).chain(self.presence.due(self.is_up)).min()
    }

    /// The member number of an uplink of ours.
    pub fn member_of(&self, uplink: usize) -> Member {
        Member(self.first[0] + uplink as u8)
    }

    /// The state of a member in its tunnel.
    pub fn state_of(&self, member: Member) -> Option<MemberState> {
        self.tunnel.status().members.iter().find(|status| status.member == member).map(|status| status.state)
    }

    /// Bytes that a member has carried in its tunnel, both ways.
    pub fn carried_by(&self, member: Member) -> u64 {
        let status = self.tunnel.status();
        let found = status.members.iter().find(|status| status.member == member);
        found.map_or(0, |found| found.sent_bytes.as_u64() + found.received_bytes.as_u64())
    }

    /// Whether this member is an uplink of ours.
    pub fn is_ours(&self, member: Member) -> bool {
        (self.first[0]..self.first[0] + OF_EACH).contains(&member.0)
    }

    /// Whether this member can be an uplink of the peer's.
    pub fn is_theirs(&self, member: Member) -> bool {
        (self.first[1]..self.first[1] + OF_EACH).contains(&member.0)
    }

    /// Whether both go to each other, this end prevails, and its members work: the other's own are then not wanted, and
    /// late frames of them change nothing.
    pub fn prevails(&self, now: Instant) -> bool {
        let works = |path: &Path| path.heard.is_some_and(|heard| now.saturating_since(heard) < WORKS);
        self.first[0] == 0 && self.paths.iter().any(|(member, path)| self.is_ours(*member) && works(path))
    }

    /// Whether both go to each other and the other end prevails: that with the smaller key does.
    pub fn gives_way(&self) -> bool {
        self.first[0] > 0 && self.paths.keys().any(|member| self.is_theirs(*member))
    }

    /// The peer has named its life, by this key.
    pub(super) fn on_life(&mut self, now: Instant, key: KeyId, life: u32) {
        if self.presence.on_life(key, life) && presence::note(&mut self.presence.theirs, now) {
            let (name, remote) = (&self.config.name, self.heard.map(|(_, remote, _)| remote));
            tracing::warn!(
                peer = name,
                ?remote,
                "two hosts use the key of this peer, and take the session from each other"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_engine::converge::session::Secret;
    use airbraid_engine::trunk::bonding::BondPolicy;

    #[test]
    fn a_tunnel_that_begins_again_is_another_life_without_members() {
        let config = Peer {
            name: "peer".to_owned(),
            public: PublicKey([1; 32]),
            psk: Secret::new([0; 32]),
            via: None,
            introduces: Vec::new(),
            endpoints: Vec::new(),
            allowed: Vec::new(),
            except: Vec::new(),
            until: None,
        };
        let tunnel = BondConfig { policy: BondPolicy::default(), epoch: 7 };
        let mut peer = PeerState::new(config, PeerId(0), &PublicKey([2; 32]), tunnel);
        let remote = "10.0.0.1:1".parse().unwrap();
        let notice = Some((Instant::ZERO, 0));
        peer.paths.insert(Member(0), Path { notice, ..Path::new(0, remote, None) });
        (peer.is_up, peer.wake, peer.unanswered) = (true, Some(Instant::ZERO), Some(Instant::ZERO));
        peer.begin_again(tunnel);
        assert_eq!((peer.due(), peer.paths.len(), peer.is_up), (None, 0, true));
        peer.again = Some(Instant::MAX);
        assert_eq!(peer.due(), Some(Instant::MAX));
        peer.begin_again(tunnel);
        assert_eq!(peer.lives, 2);
    }
}
