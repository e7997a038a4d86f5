//! Trunks: one link made of several member links, with the order of packets restored behind them.
//!
//! There are two strategies, for two kinds of members:
//!
//! - [`paper`]: members are radios, whose MACs keep order and report what became of each frame (Wang, Hwang and Chou
//!   2005, and the schemes that the paper compares with). In scenarios `over = "radios"`.
//! - [`bonding`]: members are links that lose, delay and say nothing; the trunk measures them, retransmits and codes.
//!   The daemon's, and in scenarios `over = "links"`.

pub mod bonding;
mod delivery;
mod member;
pub mod paper;

pub use delivery::LateMode;
pub use member::Member;
