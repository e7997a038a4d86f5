//! The `policy` table of a trunk over links: the same keys, and the same type, in a scenario and in the daemon's file.

use super::{MODES, PAPER_KEYS, PAPER_RESEQUENCER_KEYS, above_zero, buffer};
use crate::scenario::error::Complaint;
use crate::scenario::reader::{Foreign, View, text};
use airbraid_engine::trunk::bonding::{BondPolicy, BondResequencer, Coding};

/// The source of defaults.
const TUNNEL: &str = "docs/models/tunnel.md";
/// Keys that only a trunk over radios has.
static FOREIGN: Foreign = Foreign { keys: PAPER_KEYS, owner: "a trunk over radios", own: "a trunk over links" };
/// Keys that only the resequencer of such a trunk has.
static FOREIGN_RESEQUENCER: Foreign = Foreign {
    keys: PAPER_RESEQUENCER_KEYS,
    owner: "the resequencer of a trunk over radios",
    own: "that of a trunk over links, which measures how long to wait,",
};

/// When repair symbols are sent.
const CODINGS: [(&str, Coding); 2] = [("adaptive", Coding::Adaptive), ("off", Coding::Off)];
/// The only distributor of a trunk over links, which need not be named.
const DISTRIBUTOR: &str = "earliest_delivery";

pub(crate) fn read(view: View<'_>) -> BondPolicy {
    let default = BondPolicy::default();
    view.read("distributor", DISTRIBUTOR.to_owned(), TUNNEL, |value| {
        let name = text(value)?;
        let help = format!("write \"{DISTRIBUTOR}\", or leave it out");
        let wrong = || Complaint::new("over links each packet goes where it arrives first", help);
        if name == DISTRIBUTOR { Ok(name) } else { Err(wrong()) }
    });
    let queue_limit = view.count("queue", default.queue_limit, "packets; docs/models/tunnel.md");
    let resequencer = resequencer(view.sub("resequencer"), default.resequencer);
    let tunnel = view.sub("tunnel");
    let policy = BondPolicy {
        queue_limit,
        resequencer,
        persistence: tunnel.quantity("persistence", default.persistence, TUNNEL),
        persistence_real_time: tunnel.quantity("persistence_real_time", default.persistence_real_time, TUNNEL),
        duplicate: tunnel.quantity("duplicate", default.duplicate, TUNNEL),
        target: tunnel.quantity("target", default.target, TUNNEL),
        coding: tunnel.choice("coding", &CODINGS, default.coding, TUNNEL),
    };
    above_zero(&tunnel, &[("target", policy.target)]);
    tunnel.finish();
    view.beside(&FOREIGN);
    view.finish();
    policy
}

fn resequencer(view: View<'_>, default: BondResequencer) -> BondResequencer {
    let read = BondResequencer {
        mode: view.choice("mode", &MODES, default.mode, TUNNEL),
        minimum: view.quantity("minimum", default.minimum, TUNNEL),
        maximum: view.quantity("maximum", default.maximum, TUNNEL),
        buffer_limit: view.count("buffer", default.buffer_limit, "packets"),
    };
    let message = || format!("{} <= {} does not hold", read.minimum, read.maximum);
    view.require(read.minimum <= read.maximum, "minimum", message, "the longest wait is not below the shortest");
    above_zero(&view, &[("minimum", read.minimum), ("maximum", read.maximum)]);
    buffer(&view, read.buffer_limit, BondResequencer::BUFFER_MAX, "an eighth of the numbers of a flow");
    view.beside(&FOREIGN_RESEQUENCER);
    view.finish();
    read
}
