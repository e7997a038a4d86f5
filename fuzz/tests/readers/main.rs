//! Every reader of bytes from outside, as one program: thirteen took four times as long to compile.

mod aodv;
mod code;
mod daemon;
mod fraction;
mod inner;
mod netlink;
mod offload;
mod quantity;
mod scenario;
mod session;
mod trace;
mod tunnel;
mod wire;
