//! A trunk from outside: transcripts that a person can read, and the naive reference that it must agree with.

mod fifo;
mod forecast;
mod jkm;
mod model;
mod network;
mod properties;
mod resends;
mod srr;
mod transcripts;

use airbraid_units::Bytes;

impl airbraid_engine::Packet for model::Packet {
    fn len(&self) -> Bytes {
        Bytes::new(self.len) * u64::from(self.segments)
    }
    fn flow_bucket(&self) -> u16 {
        self.bucket
    }
    fn segments(&self) -> u32 {
        self.segments
    }
}

impl airbraid_engine::Share for model::Packet {
    fn share(&self) -> Self {
        *self
    }
}
