//! The data path: packets from the interface into tunnels, frames from tunnels through link security onto uplinks, and
//! back. The machines decide; it carries bytes.

pub(super) mod care;
mod control;
mod follow;
pub(super) mod handshakes;
pub(super) mod history;
mod introductions;
pub(super) mod jumps;
mod links;
mod memory;
pub(super) mod mtu;
pub(super) mod names;
mod places;
mod presence;
pub(super) mod reload;
mod status;
pub(super) mod turn;

use crate::clock::Clock;
use crate::daemon::address::{place, unplace};
use crate::daemon::coalesce::{Coalescer, Parcel};
use crate::daemon::coded::WORD;
use crate::daemon::history::History;
use crate::daemon::inner;
use crate::daemon::lane::{LateSpan, Written};
use crate::daemon::packet::{BEGINNING, IpPacket, Pool, READ_MAX, Run};
use crate::daemon::peer::{AGAIN, SILENCE};
use crate::daemon::peers::Peers;
use crate::daemon::routing::Routing;
use crate::daemon::segment::finish;
use crate::daemon::service::classify;
use crate::daemon::site::Site;
use crate::daemon::socket::{Body, Received, Refused, Room};
use crate::daemon::status::DaemonCounts;
use crate::daemon::table::Table;
use crate::daemon::tag::{Refusal, Tag};
use crate::daemon::uplink::UplinkState;
use crate::netlink::{FoundInterface, Netlink};
use crate::tun::Tun;
use crate::vnet::VnetHeader;
use airbraid_engine::converge::session::{
    self, Aead, FRAME_HEADER_LEN, FRAME_OVERHEAD, Keyring, Opened, Role, TAG_LEN,
};
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{BondDropReason, BondInput, BondOutput, Frame, MemberConfig, ReceivedFrame};
use airbraid_engine::wire::{
    SessionMessage, TunnelFrame, emit_tunnel_feedback, emit_tunnel_header, emit_tunnel_path, emit_tunnel_probe,
    emit_tunnel_repair, parse_session, parse_tunnel,
};
use airbraid_engine::{Spin, try_step};
use airbraid_units::{Bytes, Duration, Instant};
use care::Care;
use handshakes::Handshakes;
use jumps::Jumps;
use mtu::Later;
use names::Names;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// Packets, or runs, that are read from the interface in one turn.
const READS: usize = 64;
/// Bytes read in one turn: a millisecond or two, so that the time is never far from the clock's.
const READ_BYTES: usize = 1 << 19;
/// Length of sealed data at which it is sent, while it is in the processor's cache \[byte\].
const FLUSH: usize = 1 << 17;
/// Time after which a thread's refusals are collected, if nothing else happens.
const TOLD: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub struct Daemon {
    /// First, so that it stops before the interface goes: it would try to mend that.
    pub(super) routing: Routing,
    pub(super) site: Site,
    pub(super) clock: Clock,
    /// The time at which machines are driven: the clock's, at the last reading.
    pub(super) time: Instant,
    pub(super) tun: Tun,
    pub(super) tun_index: u32,
    pub(super) mtu: u32,
    pub(super) netlink: Netlink,
    /// The interfaces of this host, as of the last reading.
    pub(super) interfaces: Vec<FoundInterface>,
    pub(super) sessions: Handshakes,
    pub(super) ring: Keyring<Aead>,
    pub(super) jumps: Jumps,
    /// The time at which interfaces are read again without news of them.
    pub(super) interfaces_at: Option<Instant>,
    pub(super) uplinks: Vec<UplinkState>,
    pub(super) peers: Peers,
    /// Peers with datagrams whose lateness is not known yet.
    pub(super) sent_to: Vec<usize>,
    pub(super) table: Table,
    /// Pairs of peers that were introduced to each other, with the times.
    pub(super) introduced: BTreeMap<(usize, usize), Instant>,
    /// The time at which sockets were last polled.
    pub(super) seen: Instant,
    /// Configuration of tunnels.
    pub(super) tunnel: airbraid_engine::trunk::bonding::BondConfig,
    pub(super) counts: DaemonCounts,
    pub(super) names: Names,
    pub(super) care: Care,
    pub(super) pool: Pool,
    pub(super) room: Room,
    pub(super) refused: Vec<Refusal>,
    pub(super) outputs: Vec<BondOutput<IpPacket>>,
    /// Requests of a tunnel that are carried out behind its other outputs.
    pub(super) later: Vec<Later>,
    /// The number of the last IPv6 packet that was cut.
    pub(super) fragment_number: u32,
    /// The buffer for the next read.
    pub(super) reading: Option<Rc<Run>>,
    /// Memory of all peers together when their tunnels were driven last \[byte\].
    pub(super) occupied: u64,
    /// The longest packet that any interface of this host carries \[byte\].
    pub(super) longest: usize,
    /// Packets for programs, and their number.
    pub(super) coalescer: Coalescer,
    pub(super) handed_out: u64,
    /// The recent past.
    pub(super) history: History,
}

impl Daemon {
    pub(super) fn look(&mut self) -> Instant {
        self.time = self.clock.now();
        self.time
    }

    /// Reads packets of programs; returns whether there may be more.
    pub(super) fn read_interface(&mut self) -> std::io::Result<bool> {
        let mut read = 0;
        for _ in 0..READS {
            if read >= READ_BYTES {
                break;
            }
            let mut run = self.reading.take().unwrap_or_else(|| self.pool.take(READ_MAX));
            let Some(room) = Rc::get_mut(&mut run).map(Run::room) else { continue };
            let Some((header, length)) = self.tun.receive_run(room)? else {
                self.reading = Some(run);
                return Ok(false);
            };
            self.on_packet(&header, run, length);
            read += length;
            if self.uplinks.iter().any(|uplink| uplink.waiting() >= FLUSH) {
                self.flush();
            }
        }
        Ok(true)
    }

    /// A packet from a program, or a run of them.
    fn on_packet(&mut self, header: &VnetHeader, mut run: Rc<Run>, length: usize) {
        let Some(packet) = Rc::get_mut(&mut run).map(|run| &mut run.room()[..length]) else { return };
        let found = inner::summary(packet).and_then(|found| Some((found, self.table.find(found.destination)?)));
        let Some((mut summary, owner)) = found else {
            self.counts.unroutable_packets += 1;
            return;
        };
        classify(&self.site.services, &self.peers[owner].config.name, packet, &mut summary);
        let peer = self.way(owner);
        let Ok(cut) = finish(header, packet) else {
            self.counts.malformed_runs += 1;
            return;
        };
        let longest = cut.map_or(length, |cut| cut.segment_len(0));
        let mtu = self.mtu_of(peer);
        if longest > mtu as usize && self.on_too_long(peer, packet, cut.as_ref(), &summary) {
            return;
        }
        inner::clamp_mss(packet, mtu);
        let mut packet = self.pool.fit(run, length, &summary, cut);
        packet.charge(&self.peers[peer].account);
        if let Some(again) = &mut self.peers[peer].again {
            *again = self.time;
        }
        let counts = &mut self.peers[peer].counts;
        counts.sent_packets += cut.map_or(1, |cut| cut.count() as u64);
        counts.sent_bytes += length as u64;
        self.drive(peer, Some(BondInput::Packet(packet)));
    }

    /// Drives a peer's tunnel by one step, and carries out its outputs.
    pub(super) fn drive(&mut self, peer: usize, input: Option<BondInput<IpPacket>>) {
        let now = self.time;
        let mut outputs = std::mem::take(&mut self.outputs);
        self.set_memory(peer);
        let state = &mut self.peers[peer];
        let stepped = try_step(&mut state.tunnel, now, input, |output| outputs.push(output));
        state.wake = stepped.ok().flatten().map(|wake| wake.at);
        for output in outputs.drain(..) {
            match output {
                BondOutput::Transmit { member, frame, mark } => self.transmit(now, peer, member, &frame, mark),
                BondOutput::Deliver(packet) => self.deliver(peer, packet),
                BondOutput::PathMtu { member, mtu } => self.on_path_mtu(peer, member, mtu),
                BondOutput::HintWanted { member } => self.later.push(Later::Hint(peer, member)),
                BondOutput::Dropped { packet, reason: BondDropReason::TooLong } => {
                    self.later.push(Later::TooLong(peer, packet));
                }
                BondOutput::Validated(member) => self.on_validated(now, peer, member),
                BondOutput::NotValidated(member) => self.later.push(Later::GoBack(peer, member)),
                BondOutput::Dropped { .. } | BondOutput::Release(_) | BondOutput::Spent(_) => {}
            }
        }
        self.outputs = outputs;
        self.note_memory(peer);
        if let Err(spin) = stepped {
            self.begin_again(now, peer, spin);
        }
        self.do_what_waits();
    }

    /// A peer's tunnel has a wrong timer, and would spin: it begins a new life, and the others go on.
    fn begin_again(&mut self, now: Instant, peer: usize, spin: Spin) {
        debug_assert!(false, "{spin}");
        let state = &mut self.peers[peer];
        tracing::error!(peer = state.config.name, %spin, "a timer of this peer's tunnel is wrong: it begins again");
        state.begin_again(self.tunnel);
        state.again = Some(now + AGAIN);
    }

    /// Puts a frame with those that wait for its member's uplink.
    fn transmit(&mut self, now: Instant, peer: usize, member: Member, frame: &Frame<IpPacket>, mark: bool) {
        let (tos, number) = match frame {
            Frame::Data { header, packet } => (packet.summary().map_or(0, |summary| summary.tos), Some(header.number)),
            Frame::Repair { header, .. } => (0, Some(header.number)),
            Frame::Probe(probe) => (0, Some(probe.number)),
            Frame::Feedback(_) | Frame::PathChallenge(_) | Frame::PathResponse(_) => (0, None),
        };
        if number.is_some() {
            self.peers[peer].unanswered.get_or_insert(now);
        }
        if !std::mem::replace(&mut self.peers[peer].has_sent, true) {
            self.sent_to.push(peer);
        }
        let is_probe = matches!(frame, Frame::Probe(probe) if probe.padding > 0);
        let tag = Tag { peer, frame: number.map(|number| (member, number)), is_probe };
        self.send(now, peer, member, inner::outer_tos(tos), tag, |out| match frame {
            Frame::Data { header, packet } => {
                out.extend(emit_tunnel_header(header));
                let start = out.len();
                packet.write(out);
                if mark {
                    // What cannot be marked goes as it is: the queue has other means.
                    inner::carry_mark(&mut out[start..], 3);
                }
            }
            Frame::Repair { header, symbol } => {
                out.extend(emit_tunnel_repair(header));
                out.extend_from_slice(symbol.bytes());
            }
            Frame::Feedback(feedback) => emit_tunnel_feedback(feedback, out),
            Frame::Probe(probe) => emit_tunnel_probe(probe, out),
            Frame::PathChallenge(token) => emit_tunnel_path(*token, false, out),
            Frame::PathResponse(token) => emit_tunnel_path(*token, true, out),
        });
    }

    /// Appends, by `write`, a datagram for a member to the batch of its uplink, where it is sealed.
    pub(super) fn send(
        &mut self,
        now: Instant,
        peer: usize,
        member: Member,
        tos: u8,
        tag: Tag,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let Self { uplinks, ring, peers, .. } = self;
        let state = &mut peers[peer];
        let Some(path) = state.paths.get(&member) else { return };
        let Some(uplink) = uplinks.get_mut(path.uplink) else { return };
        let (id, mut is_spent) = (state.id, false);
        let counts = &mut state.counts;
        uplink.push(now, path.remote, path.source, tos, tag, |out| {
            let start = out.len();
            out.extend([0; FRAME_HEADER_LEN]);
            write(out);
            out.extend([0; TAG_LEN]);
            let Ok(reserved) = ring.reserve(now, id, member, Bytes::new((out.len() - start) as u64)) else {
                counts.unsealed_frames += 1;
                return Written::Nothing;
            };
            is_spent = reserved.is_spent;
            Written::Unsealed(reserved)
        });
        if is_spent {
            self.drive_sessions(Some(session::Input::Spent(id)));
        }
    }

    /// Gives programs a packet from a peer, if its source is behind that peer.
    fn deliver(&mut self, peer: usize, packet: IpPacket) {
        let is_own = packet.summary().is_some_and(|summary| self.may_bring(peer, summary.source));
        let counts = &mut self.peers[peer].counts;
        if !is_own {
            counts.foreign_packets += 1;
            return;
        }
        counts.received_packets += 1;
        counts.received_bytes += packet.bytes().len() as u64;
        if !inner::is_opening(packet.bytes()) {
            self.write_to_tun(packet);
            return;
        }
        let (mtu, summary) = (self.mtu_of(peer), packet.summary().copied());
        let clamped = self.pool.packet(packet.bytes(), |copy| {
            inner::clamp_mss(copy, mtu);
            summary
        });
        if let Some(clamped) = clamped {
            self.write_to_tun(clamped);
        }
    }

    /// Adds a packet to those that are joined for the interface.
    pub(super) fn write_to_tun(&mut self, packet: IpPacket) {
        self.handed_out = self.handed_out.wrapping_add(1);
        let Self { coalescer, tun, counts, .. } = self;
        if tun.offloads().has_header {
            coalescer.add(packet, |parcel| put(tun, counts, &parcel));
        } else if tun.send(packet.bytes()).is_err() {
            counts.undelivered_packets += 1;
        }
    }

    /// Gives the interface all packets that wait to be joined with more.
    pub(super) fn flush_to_tun(&mut self) {
        let Self { coalescer, tun, counts, .. } = self;
        coalescer.flush(|parcel| put(tun, counts, &parcel));
    }

    /// Receives on a port of an uplink; returns whether there may be more.
    pub(super) fn receive(&mut self, uplink: usize, port: usize) -> bool {
        let Some(port) = self.uplinks[uplink].ports.get_mut(port) else { return false };
        let mut room = std::mem::take(&mut self.room);
        let is_more = port.socket.receive(&mut room).unwrap_or(false);
        self.seen = self.clock.now();
        for received in room.datagrams() {
            self.on_datagram(uplink, received);
        }
        self.room = room;
        self.sessions.hand_over();
        is_more
    }

    /// Gives the tunnels the frames that have arrived: all up to the reading of the clock, and later ones. Returns
    /// whether programs got anything.
    pub(super) fn deliver_to_tunnels(&mut self) -> bool {
        let before = self.handed_out;
        let with_frames = self.peers.with_frames();
        let newest = with_frames.iter().flat_map(|peer| &self.peers[*peer].frames).map(|came| came.at).max();
        self.time = newest.map_or(self.time, |newest| newest.max(self.time));
        for peer in with_frames {
            let frames = std::mem::take(&mut self.peers[peer].frames);
            self.drive(peer, Some(BondInput::Frames(frames)));
        }
        self.flush_to_tun();
        self.handed_out != before
    }

    fn on_datagram(&mut self, uplink: usize, received: Received<'_>) {
        let Received { from, to, tos, age, mut body } = received;
        let bytes = body.bytes();
        let counts = &mut self.uplinks[uplink].counts;
        counts.received_datagrams += 1;
        counts.received_bytes += bytes.len() as u64;
        let now = self.time;
        if let Ok(SessionMessage::Frame(_)) = parse_session(bytes) {
            let Ok(opened) = self.ring.open(now, bytes) else { return };
            self.on_opened(now, opened, (uplink, from, to), (tos, age), body);
        } else {
            self.sessions.take(now, place(uplink, from, to), bytes);
        }
    }

    fn on_opened(
        &mut self,
        now: Instant,
        opened: Opened,
        way: (usize, SocketAddr, Option<IpAddr>),
        (tos, age): (u8, Duration),
        mut body: Body<'_>,
    ) {
        let peer = opened.peer.index();
        let Some(state) = self.peers.get_mut(peer) else { return };
        state.unanswered = None;
        state.presence.heard = Some(now);
        if opened.is_newest {
            state.heard = Some(way);
        }
        if opened.is_first {
            self.ring.use_shown(opened.peer, opened.header.key);
            self.drive_sessions(Some(session::Input::Confirmed(opened.peer, opened.header.key)));
        }
        if let Some(control) = opened.control {
            self.drive_sessions(Some(session::Input::Control(opened.peer, opened.header.key, control)));
            return;
        }
        let bytes = body.bytes();
        let (length, end) = (bytes.len(), bytes.len() - TAG_LEN);
        let plain = &bytes[FRAME_HEADER_LEN..end];
        let member = opened.header.member;
        if self.on_said(now, peer, member, way, plain) {
            return;
        }
        let Some(is_elsewhere) = self.follow(now, peer, member, way, opened.is_newest) else { return };
        let longest = self.longest.max(self.mtu as usize);
        let state = &mut self.peers[peer];
        let frame = match parse_tunnel(plain) {
            Ok(TunnelFrame::Data(_, packet) | TunnelFrame::Repair(_, packet)) if packet.len() > longest + WORD => {
                state.counts.too_long += 1;
                return;
            }
            Ok(TunnelFrame::Data(header, packet)) => {
                let (counts, range) = (&mut state.counts, end - packet.len()..end);
                let sent = packet.first_chunk::<BEGINNING>().copied();
                let packet = body.into_packet(range, |packet| {
                    if !inner::carry_mark(packet, tos) {
                        counts.unmarked += 1;
                        return None;
                    }
                    let summary = inner::summary(packet);
                    counts.malformed += u64::from(summary.is_none());
                    summary
                });
                let Some(mut packet) = packet else { return };
                if let Some(sent) = sent {
                    packet.remember(sent);
                }
                packet.charge(&state.account);
                Frame::Data { header, packet }
            }
            Ok(TunnelFrame::Repair(header, symbol)) => {
                let mut symbol = self.pool.filled(symbol.len(), |room| room.copy_from_slice(symbol));
                symbol.charge(&state.account);
                Frame::Repair { header, symbol }
            }
            Ok(TunnelFrame::Probe(probe)) => {
                state.on_life(now, opened.header.key, probe.epoch);
                Frame::Probe(probe)
            }
            Ok(TunnelFrame::Feedback(feedback)) => Frame::Feedback(feedback),
            Ok(TunnelFrame::PathChallenge(token)) => Frame::PathChallenge(token),
            Ok(TunnelFrame::PathResponse(token)) => Frame::PathResponse(token),
            Err(_) => {
                state.counts.malformed += 1;
                return;
            }
        };
        let around = if way.1.is_ipv4() { MemberConfig::OVERHEAD_IPV4 } else { MemberConfig::OVERHEAD_IPV6 };
        let length = Bytes::new(length as u64 - FRAME_OVERHEAD as u64) + around;
        state.frames.push(ReceivedFrame { member, frame, length, at: self.seen.saturating_sub(age), is_elsewhere });
    }

    /// Carries out an output of link security.
    pub(super) fn carry_out(&mut self, now: Instant, output: session::Output) {
        use session::Output as Asked;
        match output {
            Asked::Transmit { to, bytes } => {
                self.sessions.sent(now, &bytes);
                let (uplink, to, source) = unplace(&to);
                let tag = Tag { peer: usize::MAX, frame: None, is_probe: false };
                if let Some(uplink) = self.uplinks.get_mut(uplink) {
                    uplink.push(now, to, source, 0, tag, |out| {
                        out.extend_from_slice(&bytes);
                        Written::Whole
                    });
                }
            }
            Asked::Install(keys) => {
                let peer = self.peers.get_mut(keys.peer.index()).filter(|_| keys.role == Role::Responder);
                if let Some(state) = peer {
                    state.calls.not_confirmed.get_or_insert(now);
                }
                self.ring.install(&keys);
            }
            Asked::Use(peer, key) => {
                self.ring.use_key(peer, key);
                let state = &mut self.peers[peer.index()];
                state.presence.on_key(key);
                state.calls.not_confirmed = None;
            }
            Asked::Forget(_, key) => self.ring.forget(key),
            Asked::Control(peer, key, control) => self.send_control(now, peer, key, control),
            Asked::Answered(peer, place) => {
                let (uplink, at, _) = unplace(&place);
                self.on_answered(now, peer.index(), uplink, at);
            }
            Asked::Unopened(peer) => self.peers[peer.index()].calls.is_unopened = true,
            Asked::Up(peer) => self.on_up(now, peer.index()),
            Asked::Down(peer) => self.on_down(now, peer.index()),
            Asked::Left(peer) => self.on_left(now, peer.index()),
            Asked::SetBack { peer, whose, by } => self.on_set_back(now, peer, whose, by),
            Asked::Shared(peer) => self.on_shared(now, peer),
            Asked::Failed(peer) => {
                let state = &mut self.peers[peer.index()];
                tracing::warn!(peer = state.config.name, "no answer");
                state.again = Some(now + AGAIN);
            }
        }
    }

    /// Sends all that waits on all uplinks. Refusals are reported to the tunnels, whose answers go with the next flush.
    pub(super) fn flush(&mut self) {
        self.flush_to_tun();
        let (mut refused, mut late) = (std::mem::take(&mut self.refused), LateSpan::default());
        for uplink in &mut self.uplinks {
            uplink.flush(self.clock, &mut refused, &mut late);
        }
        if let LateSpan(Some((since, until))) = late {
            self.counts.late_sends += 1;
            self.counts.late_worst = self.counts.late_worst.max(until.saturating_since(since));
            self.time = self.time.max(until);
            let mut sent_to = self.sent_to.clone();
            sent_to.sort_unstable();
            for peer in sent_to {
                self.drive(peer, Some(BondInput::Late { since, until }));
            }
        }
        if !self.uplinks.iter().any(|uplink| uplink.is_busy() || uplink.waiting() > 0) {
            self.sent_to.drain(..).for_each(|peer| self.peers[peer].has_sent = false);
        }
        for (datagram, why) in refused.drain(..) {
            let Tag { peer, frame: Some((member, number)), .. } = datagram.tag else { continue };
            let input = match why {
                Refused::TooLong => BondInput::TooLong { member, number },
                Refused::Busy | Refused::Unreachable => BondInput::Refused { member, number },
            };
            self.drive(peer, Some(input));
        }
        self.refused = refused;
    }

    /// Does the work that is due at `now`.
    pub(super) fn on_time(&mut self, now: Instant) {
        self.care(now);
        if self.interfaces_at.is_some_and(|at| at <= now) {
            self.on_interfaces();
        }
        for peer in self.peers.due(now) {
            if self.peers[peer].wake.is_some_and(|at| at <= now) {
                self.drive(peer, None);
            }
            if self.peers[peer].again.is_some_and(|at| at <= now) {
                self.peers[peer].again = None;
                self.connect(peer);
                self.offer_members(now, peer);
            }
            if self.peers[peer].unanswered.is_some_and(|since| now.saturating_since(since) >= SILENCE) {
                self.peers[peer].unanswered = None;
                self.reconnect(peer);
            }
            self.watch_silence(now, peer);
            self.send_notices(now, peer);
        }
    }

    /// The time of the next due work.
    pub(super) fn next_wake(&mut self) -> Option<Instant> {
        let told = self.uplinks.iter().any(UplinkState::is_busy).then(|| self.time + TOLD);
        let care = Some(self.care.wake());
        let known = [self.peers.next(), self.interfaces_at, self.names.wake(), told, care];
        known.into_iter().flatten().min()
    }
}

fn put(tun: &mut Tun, counts: &mut DaemonCounts, parcel: &Parcel<'_>) {
    if tun.send_run(parcel.slices).is_err() {
        counts.undelivered_packets += parcel.packets;
    }
}
