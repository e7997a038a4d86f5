//! Services in the sender: the lanes of the queue take turns, and packets that no working member may carry wait apart,
//! until one may or they are too old.

use super::BondSender;
use crate::trunk::bonding::coded::Coded;
use crate::trunk::bonding::frame::MEMBERS_MAX;
use crate::trunk::bonding::member::MemberEnd;
use crate::trunk::bonding::queue::Waiting;
use crate::trunk::bonding::service::BondDropReason;
use crate::trunk::bonding::store::PacketId;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// Interval at which packets that wait apart are examined: the accuracy of hosts' timers.
const EXAMINED: Duration = Duration::from_millis(10);

/// The state of the services.
#[derive(Debug, Default)]
pub struct ServiceState {
    /// Packets for retransmission whose service no member carries now.
    barred: VecDeque<PacketId>,
    /// The time before which they are not examined again.
    not_before: Instant,
    /// The lane that each member served last, by its number.
    served: [u8; MEMBERS_MAX],
}

impl ServiceState {
    /// Number of packets that wait apart.
    pub fn len(&self) -> usize {
        self.barred.len()
    }
}

impl<P: Coded> BondSender<P> {
    /// The members that work and may carry a service.
    fn carriers(&self, service: u8) -> impl Iterator<Item = &MemberEnd> {
        self.members.iter().filter(move |end| end.is_active() && end.config.services.has(service))
    }

    /// Whether a service has to wait for a member that may carry it.
    pub(super) fn is_barred(&self, service: u8) -> bool {
        service != 0 && self.carriers(service).next().is_none()
    }

    /// The longest packet of a service that one of its members carries, and that probes may still find \[byte\]. While
    /// none works, nothing is known.
    pub(super) fn longest_of(&self, service: u8) -> (u64, u64) {
        if service == 0 {
            return (self.longest.on_one, self.longest.possible);
        }
        let lengths = self.carriers(service).map(|end| match end.plpmtu.is_off() {
            true => (u64::MAX, u64::MAX),
            false => (end.longest_packet(), end.longest_possible()),
        });
        lengths.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1))).unwrap_or((u64::MAX, u64::MAX))
    }

    /// Sends a packet of a lane, first on members for which it is that lane's turn. Returns whether to go on.
    pub(super) fn send_next(&mut self, now: Instant) -> bool {
        let lanes = self.queue.lanes();
        let in_turn = lanes > 1 && (0..lanes).any(|service| self.send_next_of(now, service, true));
        in_turn || (0..lanes).any(|service| self.send_next_of(now, service, false))
    }

    /// Whether packets of other lanes wait for a member, too.
    pub(super) fn is_shared(&self, index: usize, service: u8) -> bool {
        let carried = self.members[index].config.services;
        (0..self.queue.lanes()).any(|other| other != service && carried.has(other) && self.queue.has(other))
    }

    /// Whether a member has served this lane last, while others wait.
    pub(super) fn had_its_turn(&self, index: usize, service: u8) -> bool {
        let served = self.services.served[usize::from(self.members[index].id.0)];
        served == service && self.is_shared(index, service)
    }

    /// A member serves a lane.
    pub(super) fn note_lane(&mut self, index: usize, service: u8) {
        self.services.served[usize::from(self.members[index].id.0)] = service;
    }

    /// Keeps a packet that waits for retransmission apart.
    pub(super) fn bar(&mut self, id: PacketId) {
        self.services.barred.push_back(id);
    }

    /// Returns the packets that a member may carry again, and gives up those that are too old.
    pub(super) fn examine_barred(&mut self, now: Instant) {
        let has_any = self.services.len() > 0 || self.queue.lanes() > 1;
        if !has_any || now < self.services.not_before {
            return;
        }
        self.services.not_before = now.saturating_add(EXAMINED);
        for _ in 0..self.services.len() {
            let Some(id) = self.services.barred.pop_front() else { break };
            let entry = self.store.get(id);
            match &entry.packet {
                Some(packet) if entry.since.saturating_add(self.persistence(packet.class())) >= now => {
                    let is_barred = self.is_barred(packet.service());
                    if is_barred { &mut self.services.barred } else { &mut self.resend }.push_back(id);
                    continue;
                }
                Some(_) => self.settle(id, Some(BondDropReason::Expired)),
                None => {}
            }
            self.unqueue(id);
        }
        let policy = self.config.policy;
        let persistence = |packet: &P| policy.persistence_of(packet.class());
        let is_old = |waiting: &Waiting<P>| waiting.since.saturating_add(persistence(&waiting.packet)) < now;
        for service in 1..self.queue.lanes() {
            if !self.is_barred(service) {
                continue;
            }
            while let Some(packet) = self.queue.take_old(service, is_old) {
                self.drop(packet, BondDropReason::Expired);
            }
        }
    }
}
