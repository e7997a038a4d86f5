//! The engine from outside, as one program: five took twice as long to compile.

mod bonding;
mod link;
mod paper;
mod select;
mod session;
