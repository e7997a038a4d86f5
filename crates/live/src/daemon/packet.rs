//! The packets that the daemon carries: bytes in pooled buffers, which machines pass around by handle and never look into.

use airbraid_engine::{Packet, Share, TrafficClass};
use airbraid_units::Bytes;
use std::cell::RefCell;
use std::rc::Rc;

/// Buffers that are kept for later, at most.
const KEPT: usize = 4_096;

/// Where buffers come from and go back to.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    free: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl Pool {
    /// A buffer with these bytes.
    pub fn take(&self, bytes: &[u8]) -> Vec<u8> {
        let mut buffer = self.free.borrow_mut().pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(bytes);
        buffer
    }

    /// A packet with these bytes.
    pub fn packet(&self, bytes: &[u8], bucket: u16, class: TrafficClass) -> IpPacket {
        let buffer = Buffer { bytes: self.take(bytes), pool: self.clone() };
        IpPacket { buffer: Rc::new(buffer), bucket, class }
    }
}

#[derive(Debug)]
struct Buffer {
    bytes: Vec<u8>,
    pool: Pool,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut free = self.pool.free.borrow_mut();
        if free.len() < KEPT {
            free.push(std::mem::take(&mut self.bytes));
        }
    }
}

/// An IP packet: a handle to its bytes.
#[derive(Clone, Debug)]
pub struct IpPacket {
    buffer: Rc<Buffer>,
    bucket: u16,
    class: TrafficClass,
}

impl IpPacket {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer.bytes
    }
}

impl Packet for IpPacket {
    fn len(&self) -> Bytes {
        Bytes::new(self.buffer.bytes.len() as u64)
    }
    fn class(&self) -> TrafficClass {
        self.class
    }
    fn flow_bucket(&self) -> u16 {
        self.bucket
    }
}

impl Share for IpPacket {
    fn share(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_go_back_when_the_last_handle_is_gone() {
        let pool = Pool::default();
        let packet = pool.packet(&[1, 2, 3], 7, TrafficClass::Bulk);
        let other = packet.share();
        drop(packet);
        assert_eq!((other.bytes(), pool.free.borrow().len()), (&[1u8, 2, 3][..], 0));
        drop(other);
        assert_eq!(pool.free.borrow().len(), 1);
        assert_eq!(pool.packet(&[9], 0, TrafficClass::Bulk).bytes(), [9]);
        assert_eq!(pool.free.borrow().len(), 1);
    }
}
