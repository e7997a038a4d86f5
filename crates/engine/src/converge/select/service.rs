//! The interface between a [`super::Selector`] and its host.

use super::arrivals::Tally;
use super::config::{MilliDb, PortConfig};
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
    /// How many ports there can be.
    pub const PORTS: u8 = 32;

    /// Puts a port in.
    pub fn insert(&mut self, port: Port) {
        self.0 |= 1u32.checked_shl(u32::from(port.0)).unwrap_or(0);
    }
    /// Whether a port is in.
    pub fn contains(self, port: Port) -> bool {
        self.0 & 1u32.checked_shl(u32::from(port.0)).unwrap_or(0) != 0
    }
    /// Those that are in, the lowest first.
    pub fn iter(self) -> impl Iterator<Item = Port> {
        (0..Self::PORTS).map(Port).filter(move |port| self.contains(*port))
    }
    /// Whether none is in.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// What one end tells the other on a way each interval: which of these it has heard, and what of the numbered frames. Its bytes
/// are in [`crate::wire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beacon {
    /// Its number on this way, from 1.
    pub number: SeqNum,
    /// The newest of the other end's that has come; 0 if none has.
    pub newest: SeqNum,
    /// Which of the 32 up to the newest have come; the newest is the lowest bit.
    pub heard: u32,
    /// What has come of the other end's frames.
    pub tally: Tally,
}

/// Everything the world tells a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<P> {
    /// An interface can be used.
    PortAdded(Port, PortConfig),
    /// An interface is gone. What was given to it and is not delivered comes back as [`Self::Returned`].
    PortRemoved(Port),
    /// There is a neighbour; it may be heard on any port.
    NeighbourAdded(Neighbour),
    /// There is no such neighbour any more.
    NeighbourRemoved(Neighbour),
    /// A frame of a neighbour was heard.
    Heard {
        /// Whose.
        neighbour: Neighbour,
        /// On what.
        port: Port,
        /// How strong, if the port can tell.
        snr: Option<MilliDb>,
    },
    /// A neighbour's beacon; it was heard, too.
    Beacon(Neighbour, Port, Beacon),
    /// A frame of a neighbour has come whose number on this way is one more than that of the one before; a sealed frame's counter
    /// is such a number.
    Arrived(Neighbour, Port, SeqNum),
    /// What the port's own rate control uses towards a neighbour; it is believed more than the SNR, for as long as a way
    /// may be silent.
    Rate(Neighbour, Port, BitRate),
    /// How much waits in a port's own queue.
    Backlog(Port, Bytes),
    /// A packet for a neighbour.
    Packet(Neighbour, P),
    /// A port has finished with a frame.
    Finished {
        /// For whom it was.
        neighbour: Neighbour,
        /// Whose frame.
        port: Port,
        /// Transmissions of it.
        attempts: u32,
        /// Whether it was acknowledged.
        is_delivered: bool,
    },
    /// A packet that a port could not deliver.
    Returned(Neighbour, Port, P),
}

/// Everything it asks of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<P> {
    /// Send this on this port.
    Transmit(Neighbour, Port, P),
    /// Give this to the trunk, whose members are those of [`Self::Ways`].
    Stripe(Neighbour, P),
    /// The ports that packets of this class take from now on; only bulk where the policy stripes.
    Ways(Neighbour, TrafficClass, PortSet),
    /// Send this beacon, to all that hear the port if it is not known where the neighbour is.
    Beacon(Neighbour, Port, Beacon),
    /// A packet that goes no further.
    Drop(P, DropReason),
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// There is no such neighbour.
    NoNeighbour,
    /// Its port could not deliver it, and there was no other.
    Undelivered,
    /// There is no way to it, and as many packets as may wait are waiting.
    QueueFull,
}
