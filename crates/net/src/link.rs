//! A plain point-to-point link.

use airbraid_units::{BitRate, Duration, Probability};

/// One direction of a plain link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Serialisation rate; `None`: no time at all.
    pub rate: Option<BitRate>,
    /// Propagation delay.
    pub delay: Duration,
    /// Uniform extra delay between zero and this; packets are not reordered by it unless `reorder`.
    pub jitter: Duration,
    /// Whether jitter may reorder.
    pub reorder: bool,
    /// Packets that may wait besides the one being sent.
    pub queue_limit: u32,
    /// What is lost on the way.
    pub loss: Loss,
}

/// Which packets are lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Loss {
    /// None.
    #[default]
    None,
    /// Each with this probability, independently.
    Bernoulli(Probability),
    /// Two states with their own loss, changing from packet to packet (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Good to bad, a packet.
        good_to_bad: Probability,
        /// Bad to good, a packet.
        bad_to_good: Probability,
        /// Lost in the good state.
        loss_good: Probability,
        /// Lost in the bad state.
        loss_bad: Probability,
    },
    /// This pattern of packets, over and over: `true` is lost.
    Trace(Vec<bool>),
}
