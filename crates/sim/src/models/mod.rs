//! Closed models that need no run: what round-trip time a timetable of slots gives TCP, and what throughput follows.
//!
//! Giustiniano et al. 2013, sections 4.2 and 5; Mathis et al. 1997. Nothing here is a packet: what the models leave out
//! is in `docs/models/slots.md`.

pub mod mathis;
pub mod measured;
pub mod planner;
pub mod rtt;
pub mod tcp;

/// What the handshakes of the contending MACs cost, by arithmetic (Kuang and Williamson 2004, appendix A).
pub mod efficiency {
    pub use airbraid_mac::dcf::DcfConfig;
    pub use airbraid_mac::efficiency::{Protocol, Transfer};
    pub use airbraid_mac::multichannel::MultichannelConfig;
    pub use airbraid_mac::phy::{Preamble, Standard};
}

/// The random streams that samples are drawn from.
pub use airbraid_engine::Stream;
/// The slot planner, for those above who do not know the engine.
pub use airbraid_engine::slots;
