//! Loss behind a MAC that has acknowledged what it received.

use super::super::id::RadioId;
use super::super::medium::Medium;
use crate::phy::wear::WearProcess;
use crate::scenario::spec;
use airbraid_engine::Stream;
use airbraid_mac::Address;
use airbraid_net::loss::LossProcess;

/// Loses some of what a MAC hands up.
#[derive(Debug)]
pub enum DeliveryLoss {
    /// As a link does.
    Link(LossProcess),
    /// By the distance of the sender.
    Wear(Box<WearProcess>),
}

impl DeliveryLoss {
    /// That of a radio; most radios lose nothing.
    pub fn new(spec: &spec::DeliveryLoss, seed: u64, radio: RadioId) -> Option<Self> {
        let random = Stream::new(seed, radio.index() as u64, "radio.delivery_loss");
        match spec {
            spec::DeliveryLoss::None => None,
            spec::DeliveryLoss::Link(loss) => Some(Self::Link(LossProcess::new(loss, random))),
            spec::DeliveryLoss::Wear(wear) => Some(Self::Wear(Box::new(WearProcess::new(**wear, random)))),
        }
    }

    /// Whether the next packet is lost, which came to `radio` from a neighbour.
    pub fn is_lost(&mut self, radio: RadioId, from: Address, medium: &Medium) -> bool {
        match self {
            Self::Link(process) => process.is_lost(),
            Self::Wear(process) => process.is_lost(medium.distance(radio, RadioId::of(from))),
        }
    }
}
