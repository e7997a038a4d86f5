//! Recorders: events as numbers by interval, a distribution, a text for people or a capture for Wireshark.
//!
//! A recorder takes facts and never asks the simulation anything, draws no random number and opens no file, so that a
//! run with every recorder on goes through the same events as one with none. Accumulators ([`delay`], [`series`]) are
//! made for the hot path; writers ([`pcapng`], [`timeline`]) format, and are called only where a scenario asks.

pub(crate) mod agreement;
mod buckets;
pub mod courses;
pub mod delay;
pub(crate) mod dot11;
pub mod frames;
pub(crate) mod ip;
pub(crate) mod multi_link;
pub mod pcapng;
pub mod perfetto;
pub(crate) mod radiotap;
pub mod series;
pub mod sink;
pub(crate) mod text;
pub mod timeline;

pub use courses::{Courses, FlowCourse, QueueCourse};
pub use delay::DelayStats;
pub use dot11::Station;
pub use ip::ip_address;
pub use series::{Gauge, Series};
pub use sink::{RecordError, RecordedFile, Sinks};
pub use timeline::{Event, FrameColumns, FrameText, PacketLine, Timeline};
