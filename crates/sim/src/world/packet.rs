//! Packets as descriptors in one table, and the account of the fate of each.
//!
//! A packet may exist in several places at once (the sender's MAC keeps it until it is acknowledged), so its entry
//! counts the references; its fate is decided when the last is gone. What was offered is then delivered, dropped for a
//! reason, or in flight: [`Packets::account`] checks it.

use super::frame::{BondFrame, FrameBody, LinkFrame, Marks, PacketRef, WindowFrame};
use super::id::{FlowId, HostAddress, PacketId, PayloadHandle, Table};
use crate::result::PacketAccount;
use airbraid_engine::TrafficClass;
use airbraid_engine::trunk::bonding;
use airbraid_net::tcp::Segment;
use airbraid_units::{Instant, named_enum};
use std::collections::BTreeMap;

named_enum! {
    /// Why a packet went no further, with the name that results use.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[repr(u8)]
    pub enum DropReason {
        /// The queue of an interface was full.
        InterfaceQueueFull = "interface_queue_full",
        /// The trunk's own queue was full.
        TrunkQueueFull = "trunk_queue_full",
        /// Too many packets waited for an interface that would do.
        SelectionQueueFull = "selection_queue_full",
        /// A link's queue was full.
        LinkQueueFull = "link_queue_full",
        /// The MAC reached its retry limit.
        RetryLimit = "retry_limit",
        /// The radio lost it after its MAC had acknowledged it.
        DeliveryLoss = "delivery_loss",
        /// Nobody heard the broadcast.
        Unheard = "unheard",
        /// A link lost it.
        LinkLoss = "link_loss",
        /// The link or radio was switched off.
        Down = "down",
        /// It came to the resequencer after its place was given up, in strict mode.
        TrunkLate = "trunk_late",
        /// It came to the resequencer twice, or from an earlier life of the sender.
        TrunkStale = "trunk_stale",
        /// It was an acknowledgement, and a newer one that told the same came out of a tunnel in its place.
        Superseded = "superseded",
        /// The FIFO of its member at the receiving end of the trunk was full.
        TrunkFifoFull = "trunk_fifo_full",
        /// The queue of a link layer was full.
        LinkLayerQueueFull = "link_layer_queue_full",
        /// It waited longer than its class may, below the network layer.
        Expired = "expired",
        /// A link layer sent it as often as its class may be.
        RetransmissionLimit = "retransmission_limit",
        /// It is longer than a link's MTU, than any member of a tunnel carries, or than a link layer's numbers reach.
        TooLong = "too_long",
        /// A frame without local error control came damaged.
        Damaged = "damaged",
        /// No route leads to its destination.
        NoRoute = "no_route",
        /// It was forwarded too often: its routes form a loop.
        HopLimit = "hop_limit",
        /// It came back to the node that sent it.
        Circled = "circled",
        /// It waited for a neighbour when the link to it was held to be broken.
        LinkBroken = "link_broken",
        /// Too many packets of its node waited for routes.
        RouteBufferFull = "route_buffer_full",
        /// It waited for a route for too long.
        RouteTimeout = "route_timeout",
        /// It waited for a neighbour's hardware address, and another took its place.
        AddressUnknown = "address_unknown",
        /// Its flow was told to slow down by a tunnel's queue.
        Managed = "managed",
    }
}

/// The load of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A segment from the flow's sender.
    Data(Segment),
    /// A segment from the flow's receiver.
    Ack(Segment),
    /// A datagram with so much payload, and its number.
    Datagram {
        /// Payload.
        payload: u32,
        /// Number within the flow.
        number: u64,
    },
    /// A packet from outside, whose bytes its driver keeps under this handle.
    External {
        /// The handle.
        handle: PayloadHandle,
        /// Whether it only acknowledges.
        is_acknowledgement: bool,
    },
}

impl Body {
    /// Whether it bears bytes of its flow: a SYN, a FIN or an acknowledgement alone bears none.
    pub fn has_payload(&self) -> bool {
        match self {
            Self::Data(segment) | Self::Ack(segment) => segment.len > 0,
            Self::External { is_acknowledgement, .. } => !is_acknowledgement,
            Self::Datagram { .. } => true,
        }
    }
    /// Whether it is a segment without data that opens and ends nothing.
    fn is_acknowledgement(&self) -> bool {
        match self {
            Self::Data(segment) | Self::Ack(segment) => segment.end() == segment.seq,
            Self::External { is_acknowledgement, .. } => *is_acknowledgement,
            Self::Datagram { .. } => false,
        }
    }
}

/// The table's entry of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// The flow that it belongs to; of a packet from outside its bucket.
    pub flow: FlowId,
    /// The address that sent it: a node's, or that of a virtual station.
    pub from: HostAddress,
    /// The address that it is for.
    pub to: HostAddress,
    /// Length of the IP packet.
    pub len: u32,
    /// When the network layer got it.
    pub created: Instant,
    /// Number of hops so far.
    pub hops: u8,
    /// Number of hops that remain, under AODV.
    pub ttl: u8,
    pub body: Body,
    references: u32,
    /// It stands for a frame: no packet, and in no account of packets.
    is_frame: bool,
    delivered: bool,
    reason: Option<DropReason>,
}

impl Record {
    /// Whether it is a packet that is still somewhere.
    const fn is_in_flight(&self) -> bool {
        self.references > 0 && !self.is_frame
    }
}

/// A packet as it is made.
#[derive(Clone, Copy, Debug)]
pub struct NewPacket {
    /// The flow that it belongs to; of a packet from outside its bucket.
    pub flow: FlowId,
    /// The node that sends it.
    pub from: HostAddress,
    /// The node that it is for.
    pub to: HostAddress,
    /// Length of the IP packet.
    pub len: u32,
    /// The class of its flow.
    pub class: TrafficClass,
    /// The user priority of its flow.
    pub priority: u8,
    /// Now.
    pub created: Instant,
    pub body: Body,
}

/// The table of packets.
#[derive(Debug, Default)]
pub struct Packets {
    records: Table<PacketId, Record>,
    /// The bodies of frames among them; only as long as there were frames.
    bodies: Table<PacketId, Option<Box<FrameBody>>>,
    free: Vec<PacketId>,
    /// Handles of packets from outside that are gone.
    released: Vec<PayloadHandle>,
    offered: u64,
    delivered: u64,
    dropped: [u64; DropReason::COUNT],
}

impl Packets {
    /// A new packet, with one reference to it.
    #[inline]
    pub fn create(&mut self, packet: NewPacket) -> PacketRef {
        let NewPacket { flow, from, to, len, class, priority, created, body } = packet;
        self.offered += 1;
        let (hops, ttl, references, is_frame, delivered, reason) = (0, 0, 1, false, false, None);
        let record = Record { flow, from, to, len, created, hops, ttl, body, references, is_frame, delivered, reason };
        let (bucket, marks) = (flow.index() as u16, Marks::new(priority, body.is_acknowledgement()));
        PacketRef { id: self.add(record), len, bucket, class, marks }
    }

    /// The entry of a frame, with one reference to it.
    #[inline(never)]
    pub fn create_frame(&mut self, created: Instant, frame: FrameBody) -> PacketRef {
        const NOBODY: HostAddress = HostAddress::new(u32::MAX as usize);
        let len = frame.len();
        let body = Body::Datagram { payload: 0, number: 0 };
        let (flow, from, to, hops, ttl, references) = (FlowId::new(u32::MAX as usize), NOBODY, NOBODY, 0, 0, 1);
        let (is_frame, delivered, reason) = (true, false, None);
        let record = Record { flow, from, to, len, created, hops, ttl, body, references, is_frame, delivered, reason };
        let id = self.add(record);
        self.bodies.reach(id, || None);
        self.bodies[id] = Some(Box::new(frame));
        PacketRef { id, len, bucket: 0, class: TrafficClass::Bulk, marks: Marks::default() }
    }

    /// The body of a frame; none of a packet.
    pub fn frame(&self, packet: PacketRef) -> Option<&FrameBody> {
        self.bodies.get(packet.id)?.as_deref()
    }

    /// Takes the frame of a trunk over links out of its entry, with the reference to its packet; the reference to the
    /// entry is given up.
    pub fn take_bond_frame(&mut self, packet: PacketRef) -> Option<BondFrame> {
        if !self.records[packet.id].is_frame {
            return None;
        }
        let body = self.bodies.get_mut(packet.id)?;
        let taken = body.take_if(|body| matches!(**body, FrameBody::Bond(_)));
        let FrameBody::Bond(frame) = *taken? else { return None };
        self.release(packet);
        Some(frame)
    }

    /// A frame is gone, and with it the reference to the packet that it carried.
    #[cold]
    fn forget_frame(&mut self, id: PacketId) {
        let body = self.bodies.get_mut(id).and_then(Option::take);
        match body.map(|body| *body) {
            Some(FrameBody::Segment(LinkFrame { packet: Some(msdu), .. })) => self.release(msdu.packet),
            Some(FrameBody::Window(WindowFrame { packet: Some(packet), .. })) => self.release(packet),
            Some(FrameBody::Bond(BondFrame { frame: bonding::Frame::Data { packet, .. }, .. })) => {
                self.release(packet);
            }
            Some(FrameBody::Bond(BondFrame { frame: bonding::Frame::Repair { symbol, .. }, .. })) => {
                self.release_symbol(&symbol);
            }
            _ => {}
        }
    }

    /// A repair symbol is gone, and with it the references to the packets that are still in it.
    pub fn release_symbol(&mut self, symbol: &<PacketRef as bonding::Coded>::Symbol) {
        symbol.iter().filter_map(|(_, packet)| *packet).for_each(|packet| self.release(packet));
    }

    #[inline]
    fn add(&mut self, record: Record) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                self.records[id] = record;
                id
            }
            None => self.records.push(record),
        }
    }

    /// The entry of a packet.
    pub fn get(&self, packet: PacketRef) -> &Record {
        &self.records[packet.id]
    }
    /// The same, to be changed.
    pub fn get_mut(&mut self, packet: PacketRef) -> &mut Record {
        &mut self.records[packet.id]
    }

    /// There is one reference more to the packet.
    pub fn retain(&mut self, packet: PacketRef) {
        self.records[packet.id].references += 1;
    }

    /// The packet has reached its transport; the reference to it is given up.
    pub fn deliver(&mut self, packet: PacketRef) {
        self.records[packet.id].delivered = true;
        self.release(packet);
    }

    /// The packet goes no further from here.
    pub fn drop_for(&mut self, packet: PacketRef, reason: DropReason) {
        self.records[packet.id].reason = Some(reason);
        self.release(packet);
    }

    /// There is one reference less to the packet.
    #[inline]
    pub fn release(&mut self, packet: PacketRef) {
        let record = &mut self.records[packet.id];
        record.references -= 1;
        if record.references > 0 {
            return;
        }
        if let Body::External { handle, .. } = record.body {
            self.released.push(handle);
        }
        if record.is_frame {
            self.forget_frame(packet.id);
        } else if record.delivered {
            self.delivered += 1;
        } else {
            self.dropped[record.reason.unwrap_or(DropReason::Unheard) as usize] += 1;
        }
        self.free.push(packet.id);
    }

    /// Moves the handles of packets from outside that are gone to the end of `handles`.
    pub fn take_released(&mut self, handles: &mut Vec<PayloadHandle>) {
        handles.append(&mut self.released);
    }

    /// Takes over the account of other packets. Those that are still somewhere stay counted, and are nothing more: what
    /// waits for them holds numbers of their own table.
    pub fn take_over(&mut self, other: Self) {
        other.records.into_rows().filter(Record::is_in_flight).for_each(|record| {
            self.records.push(record);
        });
        (self.offered, self.delivered) = (self.offered + other.offered, self.delivered + other.delivered);
        self.dropped.iter_mut().zip(other.dropped).for_each(|(own, other)| *own += other);
    }

    /// Dropped packets by reason; reasons that did not occur are left out.
    pub fn drops(&self) -> BTreeMap<&'static str, u64> {
        DropReason::ALL.map(DropReason::name).into_iter().zip(self.dropped).filter(|(_, count)| *count > 0).collect()
    }

    /// The account of all packets.
    ///
    /// # Panics
    /// If it does not balance: a packet was lost without a reason, or counted twice.
    pub fn account(&self) -> PacketAccount {
        let in_flight = self.records.iter().filter(|record| record.is_in_flight()).count() as u64;
        let dropped = self.dropped.iter().sum();
        let account = PacketAccount { offered: self.offered, delivered: self.delivered, dropped, in_flight };
        assert_eq!(
            account.offered,
            account.delivered + account.dropped + account.in_flight,
            "packets do not balance: {account:?}"
        );
        account
    }
}
