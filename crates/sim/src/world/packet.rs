//! Packets as descriptors in one table, and the account of what became of each.
//!
//! A packet may exist in several places at once (the sender's MAC keeps it until it is acknowledged), so its entry
//! counts them; its fate is decided when the last is gone. What was offered is then delivered, dropped for a reason,
//! or in flight: [`Packets::account`] checks it.

use crate::result::PacketAccount;
use airbraid_engine::converge::select::{Beacon, Port};
use airbraid_engine::trunk::{bonding as tunnel, paper as trunk};
use airbraid_engine::wire::BEACON_LEN;
use airbraid_engine::wire::WINDOW_HEADER_LEN;
use airbraid_engine::{Packet, Share, TrafficClass, link};
use airbraid_net::aodv::Message;
use airbraid_net::arp;
use airbraid_net::tcp::Segment;
use airbraid_units::{Bytes, Instant, SeqNum, named_enum};
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

/// What a packet carries.
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
        handle: u32,
        /// Whether it only acknowledges.
        is_acknowledgement: bool,
    },
}

impl Body {
    /// Whether it is a segment without data that opens and ends nothing.
    fn is_acknowledgement(&self) -> bool {
        match self {
            Self::Data(segment) | Self::Ack(segment) => segment.end() == segment.seq,
            Self::External { is_acknowledgement, .. } => *is_acknowledgement,
            Self::Datagram { .. } => false,
        }
    }
}

/// What the table knows of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// The flow that it belongs to; of a packet from outside its bucket.
    pub flow: u32,
    /// The address that sent it: a node's, or that of a virtual station.
    pub from: u32,
    /// The address that it is for.
    pub to: u32,
    /// Length of the IP packet.
    pub len: u32,
    /// When the network layer got it.
    pub created: Instant,
    /// How often it has been forwarded.
    pub hops: u8,
    /// How many hops it may still go, under AODV.
    pub ttl: u8,
    /// What it carries.
    pub body: Body,
    places: u32,
    /// It stands for a frame of a trunk or link layer: no packet, and in no account of packets.
    is_carried: bool,
    delivered: bool,
    reason: Option<DropReason>,
}

/// A packet as the machines see it: small, and by value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketRef {
    /// Its place in the table.
    pub id: u32,
    /// Length of the IP packet.
    pub len: u32,
    /// The flow's bucket.
    pub bucket: u16,
    /// What its flow wants of the link.
    pub class: TrafficClass,
    /// Whether it only acknowledges.
    pub is_acknowledgement: bool,
}

impl Packet for PacketRef {
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.len))
    }
    fn class(&self) -> TrafficClass {
        self.class
    }
    fn flow_bucket(&self) -> u16 {
        self.bucket
    }
    fn is_acknowledgement(&self) -> bool {
        self.is_acknowledgement
    }
}

impl Share for PacketRef {
    /// The world counts the places: it is told of each handle that a machine keeps.
    fn share(&self) -> Self {
        *self
    }
}

impl tunnel::Coded for PacketRef {
    /// The packets of which the symbol is the sum: each has a place in it until it is taken out.
    type Symbol = Box<[(tunnel::Place, Option<PacketRef>)]>;
    /// Nothing: any symbol has them all.
    type Kept = ();

    fn keep(&self, _: tunnel::Place) {}
    fn repair(sources: &[tunnel::Source<'_, Self>], _: u8) -> Self::Symbol {
        sources.iter().map(|source| (source.place, Some(*source.packet))).collect()
    }
    fn symbol_len(symbol: &Self::Symbol) -> Bytes {
        let longest = symbol.iter().filter_map(|(_, packet)| packet.map(|packet| packet.len)).max();
        Bytes::new(4 + u64::from(longest.unwrap_or(0)))
    }
    fn restore(sources: &[Option<&()>], symbols: &mut [(u8, Self::Symbol)]) -> Vec<(tunnel::Place, Self)> {
        let lost = sources.iter().enumerate().filter(|(_, kept)| kept.is_none());
        let Some((_, symbol)) = symbols.first_mut() else { return Vec::new() };
        lost.filter_map(|(index, _)| symbol.get_mut(index).and_then(|(place, packet)| Some((*place, packet.take()?))))
            .collect()
    }
}

/// What a MAC carries: a packet, or a frame of a trunk or link layer, which stands in the same table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Msdu {
    /// The packet, or what stands for the frame.
    pub packet: PacketRef,
    /// What the trunk's header adds to a packet.
    pub overhead: u32,
    /// What a trunk has to do with it.
    pub part: Part,
}

/// What a trunk or link layer has to do with an MSDU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// Nothing.
    None,
    /// It carries the packet, behind its number on a way that selection chose.
    Numbered(SeqNum),
    /// It carries the packet, behind this header.
    Packet(trunk::Header),
    /// It is a control frame of a trunk: [`Packets::control`] has it.
    Control,
    /// It is a frame of a link layer: [`Packets::segment`] has it.
    Segment,
    /// It is a message of AODV or ARP: [`Packets::routing`] or [`Packets::resolution`] has it.
    Routing,
    /// It is a beacon of interface selection: [`Packets::beacon`] has it.
    Beacon,
}

impl Msdu {
    /// The packet, if it is one.
    pub fn packet(&self) -> Option<PacketRef> {
        matches!(self.part, Part::None | Part::Numbered(_) | Part::Packet(_)).then_some(self.packet)
    }
    /// The trunk's header, if there is one.
    pub fn trunk(&self) -> Option<trunk::Header> {
        match self.part {
            Part::Packet(header) => Some(header),
            Part::None | Part::Numbered(_) | Part::Control | Part::Segment | Part::Routing | Part::Beacon => None,
        }
    }
}

impl Packet for Msdu {
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.packet.len + self.overhead))
    }
    fn class(&self) -> TrafficClass {
        self.packet.class
    }
    fn flow_bucket(&self) -> u16 {
        self.packet.bucket
    }
}

impl Share for Msdu {
    /// As with [`PacketRef`].
    fn share(&self) -> Self {
        *self
    }
}

/// A control frame of a trunk, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlFrame {
    /// The trunk end that sends it.
    pub end: u32,
    /// The member that carries it.
    pub member: trunk::Member,
    /// What it says.
    pub control: trunk::Control,
}

/// A frame of a link layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkFrame {
    /// Its header.
    pub header: link::Header,
    /// The packet of which it carries a segment; the frame is one more place of it.
    pub packet: Option<Msdu>,
    /// Parity of each of its blocks \[byte\].
    pub parity: u8,
}

/// A frame of selective repeat on a plain link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowFrame {
    /// Its header.
    pub header: link::WindowHeader,
    /// The packet of which it carries a segment; the frame is one more place of it.
    pub packet: Option<PacketRef>,
}

/// A message of AODV on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutingMessage {
    /// The TTL of its IP header.
    pub ttl: u8,
    /// What it says.
    pub message: Message,
}

/// A beacon of interface selection, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeaconFrame {
    /// The trunk end that sends it.
    pub end: u32,
    /// The member that carries it.
    pub port: Port,
    /// What it says.
    pub beacon: Beacon,
}

/// A frame of a tunnel on its way over a link.
#[derive(Clone, Debug, PartialEq)]
pub struct TunnelFrame {
    /// The member that carries it.
    pub member: trunk::Member,
    /// What it says; of a packet it is one more place.
    pub frame: tunnel::Frame<PacketRef>,
    /// Its length, with what is around it \[byte\].
    pub len: u32,
}

/// What stands in the table and is no packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Carried {
    /// A control frame of a trunk.
    Control(ControlFrame),
    /// A frame of a link layer.
    Segment(LinkFrame),
    /// A frame of selective repeat.
    Window(WindowFrame),
    /// A message of AODV.
    Routing(RoutingMessage),
    /// A message of ARP.
    Resolution(arp::Message),
    /// A beacon of interface selection.
    Beacon(BeaconFrame),
    /// A frame of a tunnel.
    Tunnel(TunnelFrame),
}

impl Carried {
    /// Its length as the MAC's payload \[byte\]; the header of stop-and-wait counts as the MAC's, a plain link has none.
    fn len(&self) -> u32 {
        match self {
            Self::Control(frame) => frame.control.len().as_u64() as u32,
            Self::Segment(frame) => frame.header.segment.map_or(0, |segment| segment.coded_len()),
            Self::Window(frame) => {
                WINDOW_HEADER_LEN as u32 + frame.header.segment.map_or(0, |segment| segment.coded_len())
            }
            Self::Routing(sent) => sent.message.packet_len().as_u64() as u32,
            Self::Resolution(_) => arp::MESSAGE_LEN.as_u64() as u32,
            Self::Beacon(_) => BEACON_LEN as u32,
            Self::Tunnel(sent) => sent.len,
        }
    }
}

/// A packet as it is made.
#[derive(Clone, Copy, Debug)]
pub struct NewPacket {
    /// The flow that it belongs to; of a packet from outside its bucket.
    pub flow: u32,
    /// The node that sends it.
    pub from: u32,
    /// The node that it is for.
    pub to: u32,
    /// Length of the IP packet.
    pub len: u32,
    /// What its flow wants of the link.
    pub class: TrafficClass,
    /// Now.
    pub created: Instant,
    /// What it carries.
    pub body: Body,
}

/// The table of packets.
#[derive(Debug, Default)]
pub struct Packets {
    records: Vec<Record>,
    /// What is no packet among them, by its place; as long as such were needed.
    carried: Vec<Option<Box<Carried>>>,
    free: Vec<u32>,
    /// Handles of packets from outside that are gone.
    released: Vec<u32>,
    offered: u64,
    delivered: u64,
    dropped: [u64; DropReason::COUNT],
}

impl Packets {
    /// A new packet, in one place.
    pub fn create(&mut self, packet: NewPacket) -> PacketRef {
        let NewPacket { flow, from, to, len, class, created, body } = packet;
        self.offered += 1;
        let (hops, ttl, places, is_carried, delivered, reason) = (0, 0, 1, false, false, None);
        let record = Record { flow, from, to, len, created, hops, ttl, body, places, is_carried, delivered, reason };
        PacketRef {
            id: self.add(record),
            len,
            bucket: flow as u16,
            class,
            is_acknowledgement: body.is_acknowledgement(),
        }
    }

    /// What stands for a frame of a trunk or link layer, in one place.
    #[inline(never)]
    pub fn create_carried(&mut self, created: Instant, carried: Carried) -> PacketRef {
        let len = carried.len();
        let body = Body::Datagram { payload: 0, number: 0 };
        let (flow, from, to, hops, ttl, places) = (u32::MAX, u32::MAX, u32::MAX, 0, 0, 1);
        let (is_carried, delivered, reason) = (true, false, None);
        let record = Record { flow, from, to, len, created, hops, ttl, body, places, is_carried, delivered, reason };
        let id = self.add(record);
        self.carry(id, Box::new(carried));
        PacketRef { id, len, bucket: 0, class: TrafficClass::Bulk, is_acknowledgement: false }
    }

    fn carry(&mut self, id: u32, carried: Box<Carried>) {
        let place = id as usize;
        if place >= self.carried.len() {
            self.carried.resize_with(place + 1, || None);
        }
        self.carried[place] = Some(carried);
    }

    /// What an entry stands for.
    fn carried(&self, packet: PacketRef) -> Option<&Carried> {
        self.carried.get(packet.id as usize)?.as_deref()
    }

    /// The control frame for which an entry stands.
    pub fn control(&self, packet: PacketRef) -> Option<ControlFrame> {
        match self.carried(packet) {
            Some(Carried::Control(frame)) => Some(*frame),
            _ => None,
        }
    }

    /// The frame of a link layer for which an entry stands.
    pub fn segment(&self, packet: PacketRef) -> Option<LinkFrame> {
        match self.carried(packet) {
            Some(Carried::Segment(frame)) => Some(*frame),
            _ => None,
        }
    }

    /// The frame of selective repeat for which an entry stands.
    pub fn window_frame(&self, packet: PacketRef) -> Option<WindowFrame> {
        match self.carried(packet) {
            Some(Carried::Window(frame)) => Some(*frame),
            _ => None,
        }
    }

    /// The message of AODV for which an entry stands.
    pub fn routing(&self, packet: PacketRef) -> Option<&RoutingMessage> {
        match self.carried(packet) {
            Some(Carried::Routing(sent)) => Some(sent),
            _ => None,
        }
    }

    /// The message of ARP for which an entry stands.
    pub fn resolution(&self, packet: PacketRef) -> Option<arp::Message> {
        match self.carried(packet) {
            Some(Carried::Resolution(message)) => Some(*message),
            _ => None,
        }
    }

    /// The beacon for which an entry stands.
    pub fn beacon(&self, packet: PacketRef) -> Option<BeaconFrame> {
        match self.carried(packet) {
            Some(Carried::Beacon(frame)) => Some(*frame),
            _ => None,
        }
    }

    /// Takes the frame of a tunnel for which an entry stands, with the place of the packet that it carries; the entry's
    /// own place is given up.
    pub fn take_tunnel_frame(&mut self, packet: PacketRef) -> Option<TunnelFrame> {
        if !self.records[packet.id as usize].is_carried {
            return None;
        }
        let place = self.carried.get_mut(packet.id as usize)?;
        let taken = place.take_if(|carried| matches!(**carried, Carried::Tunnel(_)));
        let Carried::Tunnel(frame) = *taken? else { return None };
        self.release(packet);
        Some(frame)
    }

    /// A frame is gone, and with it the place of the packet that it carried.
    #[cold]
    fn forget_carried(&mut self, id: u32) {
        let carried = self.carried.get_mut(id as usize).and_then(Option::take);
        match carried.map(|carried| *carried) {
            Some(Carried::Segment(LinkFrame { packet: Some(msdu), .. })) => self.release(msdu.packet),
            Some(Carried::Window(WindowFrame { packet: Some(packet), .. })) => self.release(packet),
            Some(Carried::Tunnel(TunnelFrame { frame: tunnel::Frame::Data { packet, .. }, .. })) => {
                self.release(packet);
            }
            Some(Carried::Tunnel(TunnelFrame { frame: tunnel::Frame::Repair { symbol, .. }, .. })) => {
                self.release_symbol(&symbol);
            }
            _ => {}
        }
    }

    /// A repair symbol is gone, and with it the places of the packets that are still in it.
    pub fn release_symbol(&mut self, symbol: &<PacketRef as tunnel::Coded>::Symbol) {
        symbol.iter().filter_map(|(_, packet)| *packet).for_each(|packet| self.release(packet));
    }

    #[inline]
    fn add(&mut self, record: Record) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.records[id as usize] = record;
                id
            }
            None => {
                self.records.push(record);
                (self.records.len() - 1) as u32
            }
        }
    }

    /// What the table knows of a packet.
    pub fn get(&self, packet: PacketRef) -> &Record {
        &self.records[packet.id as usize]
    }
    /// The same, to be changed.
    pub fn get_mut(&mut self, packet: PacketRef) -> &mut Record {
        &mut self.records[packet.id as usize]
    }

    /// The packet is now in one place more.
    pub fn retain(&mut self, packet: PacketRef) {
        self.records[packet.id as usize].places += 1;
    }

    /// The packet has reached its transport; its place here is given up.
    pub fn deliver(&mut self, packet: PacketRef) {
        self.records[packet.id as usize].delivered = true;
        self.release(packet);
    }

    /// The packet goes no further from here.
    pub fn drop_for(&mut self, packet: PacketRef, reason: DropReason) {
        self.records[packet.id as usize].reason = Some(reason);
        self.release(packet);
    }

    /// The packet is in one place less.
    #[inline]
    pub fn release(&mut self, packet: PacketRef) {
        let record = &mut self.records[packet.id as usize];
        record.places -= 1;
        if record.places > 0 {
            return;
        }
        if let Body::External { handle, .. } = record.body {
            self.released.push(handle);
        }
        if record.is_carried {
            self.forget_carried(packet.id);
        } else if record.delivered {
            self.delivered += 1;
        } else {
            self.dropped[record.reason.unwrap_or(DropReason::Unheard) as usize] += 1;
        }
        self.free.push(packet.id);
    }

    /// Moves the handles of packets from outside that are gone to the end of `handles`.
    pub fn take_released(&mut self, handles: &mut Vec<u32>) {
        handles.append(&mut self.released);
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
        let in_flight = self.records.iter().filter(|record| record.places > 0 && !record.is_carried).count() as u64;
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
