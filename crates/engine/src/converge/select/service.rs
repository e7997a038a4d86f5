//! The interface between a [`super::Selector`] and its host.

use super::arrivals::Tally;
use super::port::{MilliDb, PortConfig};
use crate::packet::TrafficClass;
use airbraid_units::{BitRate, Bytes, SeqNum};

/// The index of an interface of this end; also the member link, where a trunk uses it. Below 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Port(pub u8);

/// The index of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Neighbour(pub u16);

/// Some of the ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortSet(u32);

impl PortSet {
    /// Largest number of ports.
    pub const PORTS: u8 = 32;

    /// Puts a port in.
    pub fn insert(&mut self, port: Port) {
        self.0 |= 1u32.checked_shl(u32::from(port.0)).unwrap_or(0);
    }
    /// Whether a port is in.
    pub fn contains(self, port: Port) -> bool {
        self.0 & 1u32.checked_shl(u32::from(port.0)).unwrap_or(0) != 0
    }
    /// Ports in the set, the lowest first.
    pub fn iter(self) -> impl Iterator<Item = Port> {
        (0..Self::PORTS).map(Port).filter(move |port| self.contains(*port))
    }
    /// Whether none is in.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The report of one end on a way, each interval: which of the other's beacons it has heard, and the counts of numbered
/// frames. Its bytes are in [`crate::wire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beacon {
    /// Its number on this way, from 1.
    pub number: SeqNum,
    /// The newest of the other end's that has arrived; 0 if none has.
    pub newest: SeqNum,
    /// The last 32 beacons up to the newest, a bit each, set if received; the newest is the lowest bit.
    pub heard: u32,
    /// The counts of the other end's frames.
    pub tally: Tally,
}

/// Everything that the host tells a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<P> {
    /// An interface can be used.
    PortAdded(Port, PortConfig),
    /// An interface is gone. Packets that it has not delivered come back as [`Self::Returned`].
    PortRemoved(Port),
    /// There is a neighbour; it may be heard on any port.
    NeighbourAdded(Neighbour),
    /// There is no such neighbour any more.
    NeighbourRemoved(Neighbour),
    /// A frame of a neighbour was heard.
    Heard {
        neighbour: Neighbour,
        port: Port,
        /// Signal-to-noise ratio, if the port knows it.
        snr: Option<MilliDb>,
    },
    /// A neighbour's beacon, which was also heard.
    Beacon(Neighbour, Port, Beacon),
    /// A numbered frame of a neighbour has arrived; numbers on this way grow by one. A sealed frame's counter is such a
    /// number.
    Arrived(Neighbour, Port, SeqNum),
    /// The rate of the port's own rate control towards a neighbour. It is preferred to the SNR, for as long as a way
    /// may be silent.
    Rate(Neighbour, Port, BitRate),
    /// Bytes in a port's own queue.
    Backlog(Port, Bytes),
    /// A packet for a neighbour.
    Packet(Neighbour, P),
    /// A port has finished with a frame.
    Finished {
        neighbour: Neighbour,
        port: Port,
        attempts: u32,
        /// Whether it was acknowledged.
        is_delivered: bool,
    },
    /// A packet that a port could not deliver.
    Returned(Neighbour, Port, P),
}

/// Everything that a selector tells its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<P> {
    /// Send this packet on this port.
    Transmit(Neighbour, Port, P),
    /// Give this packet to the trunk, whose members are those of [`Self::Ways`].
    Stripe(Neighbour, P),
    /// The ports that packets of this class take from now on; only bulk where the policy stripes.
    Ways(Neighbour, TrafficClass, PortSet),
    /// Send this beacon, to all that hear the port if the neighbour's place is not known.
    Beacon(Neighbour, Port, Beacon),
    /// A packet that goes no further.
    Drop(P, DropReason),
}

/// The reason why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// There is no such neighbour.
    NoNeighbour,
    /// Its port could not deliver it, and there was no other.
    Undelivered,
    /// There is no way to it, and the queue is full.
    QueueFull,
}
