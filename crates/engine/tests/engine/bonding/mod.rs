//! The tunnel's data plane against a naive model: two ends, links that lose, delay, fill up and die, and a host that
//! counts.

mod answers;
mod buckets;
mod coding;
mod equaliser;
mod hostile;
mod idle;
mod memory;
mod path_mtu;
mod policy;
mod properties;
mod recovery;
mod sent_again;
mod services;
mod soak;
mod transcripts;
mod validation;
mod world;
