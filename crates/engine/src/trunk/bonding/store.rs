//! Packets that were sent and are not settled: one entry each, with any number of copies under way.
//!
//! An entry is referenced by the members' sent frames and by the queue of retransmissions. It is free when no reference
//! is left.

use super::flow_seq::FlowSeq;
use super::memory::ENTRY;
use super::service::BondDropReason;
use crate::packet::Packet;
use airbraid_units::Instant;

/// The name of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId(u32);

/// A packet that was sent.
#[derive(Debug)]
pub struct Outstanding<P> {
    /// `None` once it is settled.
    pub packet: Option<P>,
    /// Its place in its flow.
    pub place: FlowSeq,
    /// Time at which the host gave it.
    pub since: Instant,
    /// Whether it is marked for congestion.
    pub mark: bool,
    /// Whether it waits for retransmission.
    pub is_queued: bool,
    /// Whether it was ever sent.
    pub was_sent: bool,
    /// Copies under way that were not declared lost.
    pub copies: u16,
    /// Number of its groups whose symbols have not left.
    pub covered: u16,
    /// The packet once it is settled, while it is covered, and the reason if it was dropped.
    pub spare: Option<(P, Option<BondDropReason>)>,
    /// Number of references to it.
    names: u16,
}

#[derive(Debug)]
pub struct Store<P> {
    entries: Vec<Outstanding<P>>,
    free: Vec<u32>,
    unsettled: usize,
    /// Memory of its packets and entries \[byte\].
    occupied: u64,
}

impl<P: Packet> Store<P> {
    pub const fn new() -> Self {
        Self { entries: Vec::new(), free: Vec::new(), unsettled: 0, occupied: 0 }
    }

    /// Packets that are not settled.
    pub const fn unsettled(&self) -> usize {
        self.unsettled
    }

    /// Memory of its packets and entries \[byte\].
    pub const fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Entries in use.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Adds a packet that is about to be sent for the first time, without a reference.
    pub fn add(&mut self, packet: P, place: FlowSeq, since: Instant, mark: bool) -> PacketId {
        self.unsettled += 1;
        self.occupied += packet.footprint() + ENTRY;
        let entry = Outstanding {
            packet: Some(packet),
            place,
            since,
            mark,
            is_queued: false,
            was_sent: false,
            copies: 0,
            covered: 0,
            spare: None,
            names: 0,
        };
        if let Some(id) = self.free.pop() {
            self.entries[id as usize] = entry;
            return PacketId(id);
        }
        self.entries.push(entry);
        PacketId((self.entries.len() - 1) as u32)
    }

    pub fn get(&self, id: PacketId) -> &Outstanding<P> {
        &self.entries[id.0 as usize]
    }
    pub fn get_mut(&mut self, id: PacketId) -> &mut Outstanding<P> {
        &mut self.entries[id.0 as usize]
    }

    pub fn name(&mut self, id: PacketId) {
        self.entries[id.0 as usize].names += 1;
    }

    /// Removes a reference; the entry is free when it was the last.
    pub fn unname(&mut self, id: PacketId) {
        let entry = &mut self.entries[id.0 as usize];
        entry.names -= 1;
        if entry.names == 0 {
            debug_assert!(entry.packet.is_none(), "an entry that nobody names is settled");
            self.occupied -= ENTRY;
            self.free.push(id.0);
        }
    }

    /// Settles an entry: the far end has the packet, or it is given up. Returns the packet, once.
    pub fn settle(&mut self, id: PacketId) -> Option<P> {
        let packet = self.entries[id.0 as usize].packet.take();
        self.unsettled -= usize::from(packet.is_some());
        self.occupied -= packet.as_ref().map_or(0, Packet::footprint);
        packet
    }

    /// Keeps a settled packet while symbols need it.
    pub fn keep_spare(&mut self, id: PacketId, packet: P, reason: Option<BondDropReason>) {
        self.occupied += packet.footprint();
        self.entries[id.0 as usize].spare = Some((packet, reason));
    }

    /// Takes a kept packet that no symbol needs any more.
    pub fn take_spare(&mut self, id: PacketId) -> Option<(P, Option<BondDropReason>)> {
        let spare = self.entries[id.0 as usize].spare.take();
        self.occupied -= spare.as_ref().map_or(0, |(packet, _)| packet.footprint());
        spare
    }
}
