//! Interface selection from outside: transcripts, ports that come and go under traffic, two ends with beacons.

mod ends;
mod properties;
mod transcripts;
mod world;
