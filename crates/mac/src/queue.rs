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
