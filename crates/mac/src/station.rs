//! The part of a station that every MAC with contention has: its address, its queue, its access to the medium, and its
//! reports to the layer above.
//!
//! It decides nothing about the exchange of frames: that is what the MACs differ in.

use crate::contention::Contention;
use crate::dcf::DcfConfig;
use crate::duplicate::DuplicateFilter;
use crate::frame::{Address, Frame, FrameKind, Reservation};
use crate::phy::Rate;
use crate::queue::InterfaceQueue;
use crate::service::{Access, MacOutput, MacStats, Msdu, Outcome};
use airbraid_engine::{Packet, Stream};
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Station<P> {
    pub address: Address,
    pub contention: Contention,
    pub queue: InterfaceQueue<P>,
    /// The station answers or transmits until then.
    pub transmitting_until: Instant,
    pub outputs: VecDeque<MacOutput<P>>,
    pub stats: MacStats,
    duplicates: DuplicateFilter,
    next_sequence: u16,
}

impl<P: Packet + Copy> Station<P> {
    /// A station with this address; `random` gives its backoffs.
    pub fn new(config: &DcfConfig, address: Address, random: Stream) -> Self {
        Self {
            address,
            contention: Contention::new(config.contention(), random),
            queue: InterfaceQueue::new(config.queue_limit),
            transmitting_until: Instant::ZERO,
            outputs: VecDeque::new(),
            stats: MacStats::default(),
            duplicates: DuplicateFilter::default(),
            next_sequence: 0,
        }
    }

    /// Returns the sequence number of one more MSDU.
    pub fn number(&mut self) -> u16 {
        let number = self.next_sequence;
        self.next_sequence = (number + 1) % 4096;
        number
    }

    /// Hands back an MSDU with its outcome.
    pub fn report(&mut self, msdu: Msdu<P>, outcome: Outcome, attempts: u32) {
        self.outputs.push_back(MacOutput::Status { msdu, outcome, attempts });
    }

    /// Hands back an MSDU for which the queue has no space.
    pub fn refuse(&mut self, msdu: Msdu<P>) {
        self.stats.queue_drops += 1;
        self.report(msdu, Outcome::QueueFull, 0);
    }

    /// Hands back everything in the queue for a neighbour.
    pub fn purge(&mut self, neighbour: Address) {
        while let Some(msdu) = self.queue.pop_for(neighbour) {
            self.report(msdu, Outcome::Purged, 0);
        }
    }

    /// A frame of this station that carries and reserves nothing yet.
    #[inline]
    pub fn frame(&self, kind: FrameKind, to: Address, size: Bytes, rate: Rate) -> Frame<P> {
        Frame {
            kind,
            retry: false,
            power_management: false,
            sequence: 0,
            from: self.address,
            to,
            size,
            rate,
            nav: Duration::ZERO,
            reservation: Reservation::default(),
            payload: None,
        }
    }

    /// Commits to a transmission on the channel for which the station contends; returns its end.
    #[inline]
    pub fn transmit(&mut self, frame: Frame<P>, at: Instant, airtime: Duration, access: Access) -> Instant {
        let end = self.transmit_elsewhere(frame, at, airtime, access);
        self.contention.on_own_transmission(end);
        end
    }

    /// Commits to a transmission on another channel; returns its end.
    #[inline]
    pub fn transmit_elsewhere(&mut self, frame: Frame<P>, at: Instant, airtime: Duration, access: Access) -> Instant {
        let end = at + airtime;
        self.stats.airtime += airtime;
        self.transmitting_until = end;
        self.outputs.push_back(MacOutput::Transmit { frame, at, airtime, access });
        end
    }

    /// A reception ends; returns whether the station could hear it: half duplex, it hears nothing of what ends while it
    /// transmits, or turns round to.
    #[inline]
    pub fn end_reception(&mut self, now: Instant, idle: bool) -> bool {
        if idle {
            self.contention.on_idle(now);
        }
        self.transmitting_until <= now
    }

    /// Hands up the packet of a data frame, unless it has come before. A null frame has no packet, and no sequence
    /// number.
    pub fn deliver(&mut self, frame: &Frame<P>) {
        let Some(packet) = frame.payload else { return };
        if self.duplicates.is_new(frame.from, frame.sequence, frame.retry) {
            self.outputs.push_back(MacOutput::Deliver { from: frame.from, packet });
        } else {
            self.stats.duplicates += 1;
        }
    }

    /// Hands up the packet of a broadcast frame, which is never sent twice.
    pub fn deliver_broadcast(&mut self, frame: &Frame<P>) {
        if let (FrameKind::Data, Some(packet)) = (frame.kind, frame.payload) {
            self.outputs.push_back(MacOutput::Deliver { from: frame.from, packet });
        }
    }
}
