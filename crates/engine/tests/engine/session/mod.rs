//! Link security from outside: handshakes over a bad channel, frames, and those who are up to no good.

mod farewell;
mod frames;
mod handshake;
mod hostile;
mod load;
mod places;
mod stamps;
mod transcripts;
mod vectors;
mod wiping;
mod world;
