//! Models of what surrounds the protocols: TCP, UDP, traffic sources and plain links.
pub mod link;
pub mod source;
pub mod tcp;
