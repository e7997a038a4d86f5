//! A trunk from outside: transcripts that a person can read, and the naive reference that it must agree with.

mod model;
mod properties;
mod transcripts;

use airbraid_units::Bytes;

impl airbraid_engine::Packet for model::Packet {
    fn len(&self) -> Bytes {
        Bytes::new(1_500) * u64::from(self.segments)
    }
    fn flow_bucket(&self) -> u16 {
        self.bucket
    }
    fn segments(&self) -> u32 {
        self.segments
    }
}
