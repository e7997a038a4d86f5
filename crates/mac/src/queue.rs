//! The interface queue: first in, first out, with a limit.

use crate::frame::Address;
use crate::service::Msdu;
use std::collections::VecDeque;

/// MSDUs that wait for their turn; the one in service is not among them.
#[derive(Clone, Debug)]
pub struct InterfaceQueue<P> {
    waiting: VecDeque<Msdu<P>>,
    limit: u32,
}

impl<P> InterfaceQueue<P> {
    /// An empty queue for at most `limit` MSDUs.
    pub fn new(limit: u32) -> Self {
        Self { waiting: VecDeque::new(), limit }
    }
    /// Adds an MSDU at the tail.
    ///
    /// # Errors
    /// Hands it back if the queue is full.
    pub fn push(&mut self, msdu: Msdu<P>) -> Result<(), Msdu<P>> {
        if self.waiting.len() >= self.limit as usize {
            return Err(msdu);
        }
        self.waiting.push_back(msdu);
        Ok(())
    }
    /// Adds an MSDU at the head; returns the last one if the queue was full.
    pub fn push_first(&mut self, msdu: Msdu<P>) -> Option<Msdu<P>> {
        self.waiting.push_front(msdu);
        if self.waiting.len() > self.limit as usize { self.waiting.pop_back() } else { None }
    }
    /// Takes the MSDU at the head.
    pub fn pop(&mut self) -> Option<Msdu<P>> {
        self.waiting.pop_front()
    }
    /// Takes the first MSDU for `neighbour`.
    pub fn pop_for(&mut self, neighbour: Address) -> Option<Msdu<P>> {
        let place = self.waiting.iter().position(|msdu| msdu.to == neighbour)?;
        self.waiting.remove(place)
    }
    /// Those that wait, first the head.
    pub fn iter(&self) -> impl Iterator<Item = &Msdu<P>> {
        self.waiting.iter()
    }
    pub fn len(&self) -> usize {
        self.waiting.len()
    }
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn msdu(to: u32, packet: u32) -> Msdu<u32> {
        Msdu { to: Address(to), packet }
    }

    #[test]
    fn a_queue_keeps_order_and_limit() {
        let mut queue = InterfaceQueue::new(3);
        assert!(queue.is_empty() && queue.pop().is_none());
        for packet in 0..3 {
            assert_eq!(queue.push(msdu(1 + packet % 2, packet)), Ok(()));
        }
        assert_eq!((queue.push(msdu(1, 3)), queue.len(), queue.is_empty()), (Err(msdu(1, 3)), 3, false));
        assert_eq!(queue.push_first(msdu(2, 4)), Some(msdu(1, 2)), "the last makes room");
        assert_eq!(queue.iter().map(|msdu| msdu.packet).collect::<Vec<_>>(), [4, 0, 1]);
        assert_eq!((queue.pop_for(Address(1)), queue.pop_for(Address(1))), (Some(msdu(1, 0)), None));
        assert_eq!((queue.push_first(msdu(1, 5)), queue.pop(), queue.len()), (None, Some(msdu(1, 5)), 2));
    }
}
