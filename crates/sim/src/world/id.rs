//! Indices into the tables of a world, a type for each kind: a radio is no node, and one end of a trunk is not the
//! other.

use airbraid_mac::Address;
use std::marker::PhantomData;
use std::ops;

/// A place in a [`Table`].
pub trait Id: Copy {
    /// The id of a place.
    fn from_index(index: usize) -> Self;
    /// The place.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The id of a place.
            #[inline]
            pub const fn new(index: usize) -> Self {
                Self(index as u32)
            }
            /// The place.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                Self::new(index)
            }
            #[inline]
            fn index(self) -> usize {
                Self::index(self)
            }
        }
    )+};
}

ids! {
    /// A host or router.
    NodeId,
    /// A radio, among those of all nodes.
    RadioId,
    /// A device with several links.
    DeviceId,
    /// An address of the network layer: a node's is its index, those of virtual stations are numbered behind the nodes.
    HostAddress,
    /// A transfer.
    FlowId,
    /// An end of stop-and-wait error control over a polled radio.
    StopAndWaitId,
    /// An end of a trunk over radios; each kind of trunk has its own numbers, both ends of a trunk next to each other.
    RadioTrunkEnd,
    /// An end of a trunk over links, likewise.
    LinkTrunkEnd,
    /// An end of a trunk of multi-link devices, likewise.
    MultiLinkEnd,
    /// A direction of a plain link, likewise.
    LinkDirection,
    /// A packet, or a frame that stands in the table of packets.
    PacketId,
    /// A frame on the air.
    TransmissionId,
    /// Bytes that the driver of a world keeps for a packet from outside.
    PayloadHandle,
    /// A change that the scenario dates.
    ChangeId,
    /// A machine of a flow.
    FlowMachine,
}

macro_rules! pairs {
    ($($name:ident)+) => {$(
        impl $name {
            /// The one at this side of the pair.
            pub const fn of(pair: usize, side: usize) -> Self {
                Self::new(2 * pair + side)
            }
            /// The other of the pair.
            #[inline]
            pub const fn peer(self) -> Self {
                Self(self.0 ^ 1)
            }
            /// Which of the pair it is, 0 or 1.
            pub const fn side(self) -> usize {
                self.index() % 2
            }
        }
    )+};
}

pairs! { RadioTrunkEnd LinkTrunkEnd MultiLinkEnd LinkDirection }

impl LinkDirection {
    /// The index of the link.
    pub const fn link(self) -> usize {
        self.index() / 2
    }
}

impl NodeId {
    /// The address that a node has of itself.
    #[inline]
    pub const fn address(self) -> HostAddress {
        HostAddress(self.0)
    }
    /// As AODV and ARP name it.
    pub const fn router(self) -> airbraid_net::aodv::Node {
        airbraid_net::aodv::Node(self.0)
    }
}

impl From<airbraid_net::aodv::Node> for NodeId {
    fn from(node: airbraid_net::aodv::Node) -> Self {
        Self(node.0)
    }
}

impl HostAddress {
    /// As AODV names who has it.
    pub const fn router(self) -> airbraid_net::aodv::Node {
        airbraid_net::aodv::Node(self.0)
    }
}

impl RadioId {
    /// The address of its MAC.
    #[inline]
    pub const fn address(self) -> Address {
        Address(self.0)
    }
    /// The radio with this address.
    #[inline]
    pub const fn of(address: Address) -> Self {
        Self(address.0)
    }
}

/// A port of a node, by which packets leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortId {
    /// A radio, to a neighbour.
    Radio {
        /// The radio.
        radio: RadioId,
        /// The neighbour's radio.
        neighbour: Address,
    },
    /// This end of a trunk over radios.
    RadioTrunk(RadioTrunkEnd),
    /// This end of a trunk over links.
    LinkTrunk(LinkTrunkEnd),
    /// This direction of a link.
    Link(LinkDirection),
}

impl PortId {
    /// The port, whoever the neighbour is.
    pub const fn key(self) -> PortKey {
        match self {
            Self::Radio { radio, .. } => PortKey::Radio(radio),
            Self::RadioTrunk(end) => PortKey::RadioTrunk(end),
            Self::LinkTrunk(end) => PortKey::LinkTrunk(end),
            Self::Link(direction) => PortKey::Link(direction),
        }
    }
}

/// A port without the neighbour to whom it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortKey {
    Radio(RadioId),
    RadioTrunk(RadioTrunkEnd),
    LinkTrunk(LinkTrunkEnd),
    Link(LinkDirection),
}

/// The machines of a flow, in the order in which those go that wake together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowPart {
    /// TCP's sender.
    Sender,
    /// TCP's receiver.
    Receiver,
    /// The application.
    Application,
}

impl FlowMachine {
    /// Number of machines of a flow.
    pub const PARTS: usize = 3;

    /// A flow's machine.
    pub const fn of(flow: FlowId, part: FlowPart) -> Self {
        Self::new(Self::PARTS * flow.index() + part as usize)
    }
    /// The flow.
    pub const fn flow(self) -> FlowId {
        FlowId::new(self.index() / Self::PARTS)
    }
    /// Which of its machines it is.
    pub const fn part(self) -> FlowPart {
        match self.index() % Self::PARTS {
            0 => FlowPart::Sender,
            1 => FlowPart::Receiver,
            _ => FlowPart::Application,
        }
    }
}

/// Rows by an id of their own.
#[derive(Debug)]
pub struct Table<I, T> {
    rows: Vec<T>,
    id: PhantomData<I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self { rows: Vec::new(), id: PhantomData }
    }
}

impl<I: Id, T> Table<I, T> {
    /// Adds a row behind the others.
    pub fn push(&mut self, row: T) -> I {
        self.rows.push(row);
        I::from_index(self.rows.len() - 1)
    }
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// The row of an id, if there is one.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.rows.get(id.index())
    }
    /// The same, to be changed.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.rows.get_mut(id.index())
    }
    /// All ids.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.rows.len()).map(I::from_index)
    }
    /// An empty table with space for this many rows.
    pub fn with_capacity(rows: usize) -> Self {
        Self { rows: Vec::with_capacity(rows), id: PhantomData }
    }
    /// All rows.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }
    /// All rows, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.rows.iter_mut()
    }
    /// All rows with their ids.
    pub fn pairs(&self) -> impl Iterator<Item = (I, &T)> {
        self.rows.iter().enumerate().map(|(index, row)| (I::from_index(index), row))
    }
    /// The rows without their ids.
    pub fn into_rows(self) -> impl Iterator<Item = T> {
        self.rows.into_iter()
    }
    /// Takes the rows at some places from another table of the same things.
    pub fn take_over(&mut self, other: Self, is_taken: impl Fn(usize) -> bool) {
        for (place, (own, row)) in self.rows.iter_mut().zip(other.rows).enumerate() {
            if is_taken(place) {
                *own = row;
            }
        }
    }
    /// Makes room for a row at `id`.
    pub fn reach(&mut self, id: I, empty: impl FnMut() -> T) {
        if id.index() >= self.rows.len() {
            self.rows.resize_with(id.index() + 1, empty);
        }
    }
}

impl<I: Id, T> ops::Index<I> for Table<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.rows[id.index()]
    }
}

impl<I: Id, T> ops::IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.rows[id.index()]
    }
}

impl<I, T> FromIterator<T> for Table<I, T> {
    fn from_iter<R: IntoIterator<Item = T>>(rows: R) -> Self {
        Self { rows: rows.into_iter().collect(), id: PhantomData }
    }
}
