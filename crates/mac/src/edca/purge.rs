//! Packets for a neighbour that is hardly reachable go back to the layer above, as far as they were never numbered.

use super::Edca;
use super::category::{AccessCategory, TIDS};
use super::traffic::Traffic;
use crate::frame::Address;
use crate::service::{MacOutput, Msdu, Outcome};
use airbraid_engine::Packet;
use airbraid_units::Instant;
use std::collections::VecDeque;

impl<P: Packet + Copy> Edca<P> {
    #[cold]
    pub(super) fn purge(&mut self, now: Instant, neighbour: Address) {
        self.traffic.purge(neighbour, &mut self.outputs);
        for category in AccessCategory::ALL {
            self.functions[category.index()].contends &= self.traffic.can_send(category, self.planner.link.id);
            self.renew(now, category);
        }
    }
}

impl<P: Packet + Copy> Traffic<P> {
    /// Hands back everything for a peer that was never numbered.
    pub fn purge(&mut self, neighbour: Address, outputs: &mut VecDeque<MacOutput<P>>) {
        for tid in 0..TIDS as u8 {
            let Some(id) = self.find(neighbour, tid) else { continue };
            let queue = self.queue_mut(id);
            let (waiting, tid) = (std::mem::take(&mut queue.waiting), queue.tid);
            self.leave(tid, waiting.len() as u32);
            for (packet, _) in waiting {
                let msdu = Msdu { to: neighbour, packet };
                outputs.push_back(MacOutput::Status { msdu, outcome: Outcome::Purged, attempts: 0 });
            }
        }
    }
}
