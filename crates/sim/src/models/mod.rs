//! Closed models that need no run: the round-trip time that a timetable of slots gives TCP, and the throughput that
//! follows.
//!
//! Giustiniano et al. 2013, sections 4.2 and 5; Mathis et al. 1997. Nothing here is a packet: what the models leave out
//! is in `docs/models/slots.md`.

pub mod mathis;
pub mod measured;
pub mod planner;
pub mod rtt;
pub mod tcp;
pub mod wifi;

/// Handshake costs of the contending MACs, by arithmetic (Kuang and Williamson 2004, appendix A).
pub mod efficiency {
    pub use airbraid_mac::dcf::DcfConfig;
    pub use airbraid_mac::efficiency::{Protocol, Transfer};
    pub use airbraid_mac::multichannel::MultichannelConfig;
    pub use airbraid_mac::phy::{Preamble, Standard};
}

/// Airtimes of frames, by arithmetic.
pub mod airtime {
    pub use airbraid_mac::phy::{Phy, Preamble, Rate, Standard};
    pub use airbraid_mac::ppdu::{
        Airtime, Band, Choice, Coding, Format, GuardInterval, Ltf, Mode, Padding, Rules, Width,
    };
}

/// The random streams that samples are drawn from.
pub use airbraid_engine::Stream;
/// The slot planner, for crates above that do not name the engine.
pub use airbraid_engine::slots;
