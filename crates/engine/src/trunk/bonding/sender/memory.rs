//! The memory of the sending side: packets of the longest flow give way.

use super::Sender;
use crate::trunk::bonding::coded::Coded;
use crate::trunk::bonding::memory::ENTRY;
use crate::trunk::bonding::service::DropReason;

impl<P: Coded> Sender<P> {
    /// What all that it keeps occupies \[byte\].
    pub fn occupied(&self) -> u64 {
        self.queue.occupied() + self.store.occupied()
    }

    /// Makes room for a packet that occupies so much, if there may be room: packets of the longest flow give way.
    pub(super) fn make_room(&mut self, footprint: u64) -> bool {
        let most = self.memory.saturating_sub(footprint + ENTRY);
        if self.occupied() <= most {
            return true;
        }
        // What was sent is not taken back. Where nothing is kept one packet is not too much.
        if self.store.occupied() > most {
            return self.occupied() == 0;
        }
        while self.occupied() > most {
            let Some(packet) = self.queue.shorten() else { break };
            self.drop(packet, DropReason::Memory);
        }
        true
    }
}
