//! `[[at]]`: changes during a run.

use super::{link, node::find_radio, position};
use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View, probability, quantity};
use crate::scenario::spec::{Change, ChangeKind, Link, Node};
use airbraid_units::{Duration, Instant};

/// The keys of a change of a link, besides `state`.
const LINK_KEYS: [&str; 3] = ["rate", "loss", "mtu"];

/// Reads all changes, in the order of their times.
pub(super) fn read(views: &[View<'_>], nodes: &[Node], links: &[Link]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for view in views {
        let time = view.required("time", "\"10 s\"", quantity::<Duration>).unwrap_or_default();
        let at = Instant::ZERO.saturating_add(time);
        let before = changes.len();
        changes.extend(kinds(view, nodes, links).into_iter().map(|what| Change { at, what }));
        if changes.len() == before && !view.cx.has_problems() {
            let help = "add state = \"down\", or ber to a radio, or rate, loss or mtu to a link";
            view.cx.complain(view.place, Complaint::new("nothing changes here", help));
        }
        view.check_keys();
    }
    changes.sort_by_key(|c| c.at);
    changes
}

fn kinds(view: &View<'_>, nodes: &[Node], links: &[Link]) -> Vec<ChangeKind> {
    let states = [("up", true), ("down", false)];
    let up = view.optional("state", "as it is", |value| reader::choose(value, &states));
    match (view.find("radio"), view.find("link")) {
        (Some(found), None) => {
            view.know("ber");
            let Some((node, radio)) = find_radio(view.cx, found.value, nodes) else { return Vec::new() };
            let ber = view.optional("ber", "as it is", probability);
            let up = up.map(|up| ChangeKind::RadioUp { node, radio, up });
            up.into_iter().chain(ber.map(|ber| ChangeKind::RadioBer { node, radio, ber })).collect()
        }
        (None, Some(found)) => {
            LINK_KEYS.into_iter().for_each(|key| view.know(key));
            let names: Vec<String> = links.iter().map(|l| l.name.clone()).collect();
            let index = reader::text(found.value).and_then(|given| position(&given, "link", &names));
            let link = match index {
                Ok(link) => link,
                Err(complaint) => {
                    view.cx.complain(found.value.place, complaint);
                    return Vec::new();
                }
            };
            let rate = view.optional("rate", "as it is", link::rate);
            let loss = view.optional("loss", "as it is", |value| link::loss(view, "loss", value));
            let mtu = view.optional("mtu", "as it is", link::mtu);
            let is_limited = links[link].directions.iter().all(|direction| direction.mtu.is_some());
            let help = "give the [[link]] the mtu that it has at first";
            view.require(mtu.is_none() || is_limited, "mtu", || "this link has no mtu".to_owned(), help);
            let changes = [
                up.map(|up| ChangeKind::LinkUp { link, up }),
                rate.map(|rate| ChangeKind::LinkRate { link, rate }),
                loss.map(|loss| ChangeKind::LinkLoss { link, loss }),
                mtu.map(|mtu| ChangeKind::LinkMtu { link, mtu }),
            ];
            changes.into_iter().flatten().collect()
        }
        (radio, _) => {
            view.know("ber");
            LINK_KEYS.into_iter().for_each(|key| view.know(key));
            let message = if radio.is_some() { "one thing changes at a time" } else { "it is not said what changes" };
            let help = "name it: radio = \"node/ch1\" or link = \"wan\"";
            view.cx.complain(view.place, Complaint::new(message, help));
            Vec::new()
        }
    }
}
