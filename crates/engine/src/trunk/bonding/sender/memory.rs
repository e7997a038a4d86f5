//! The memory of the sending side: packets of the longest flow give way.

use super::BondSender;
use crate::trunk::bonding::coded::Coded;
use crate::trunk::bonding::memory::ENTRY;
use crate::trunk::bonding::service::BondDropReason;

impl<P: Coded> BondSender<P> {
    /// Memory of the queue and of the packets under way \[byte\].
    pub fn occupied(&self) -> u64 {
        self.queue.occupied() + self.store.occupied()
    }

    /// Makes space for a packet with this footprint, if the limit allows it: packets of the longest flow are dropped.
    /// Returns whether there is space.
    pub(super) fn make_room(&mut self, footprint: u64) -> bool {
        let most = self.memory.saturating_sub(footprint + ENTRY);
        if self.occupied() <= most {
            return true;
        }
        // Packets under way are not taken back. Where nothing is kept, one packet is not too much.
        if self.store.occupied() > most {
            return self.occupied() == 0;
        }
        while self.occupied() > most {
            let Some(packet) = self.queue.shorten() else { break };
            self.drop(packet, BondDropReason::Memory);
        }
        true
    }
}
