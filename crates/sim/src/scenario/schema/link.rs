//! `[[link]]`: plain links, the same both ways or with `forward` and `backward` of their own.

use super::{between, link_layer};
use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View, probability, quantity};
use crate::scenario::spec::Link;
use crate::scenario::tree::{Data, Table, Value};
use airbraid_net::link::LinkConfig;
use airbraid_net::loss::Loss;
use airbraid_units::{BitRate, Bytes, Duration, Probability};

/// The MTU of every IPv4 link (RFC 791, section 3.2).
const MTU_LEAST: Bytes = Bytes::new(68);

pub(super) fn read(views: &[View<'_>], nodes: &[String]) -> Vec<Link> {
    views.iter().map(|view| one(view, nodes)).collect()
}

fn one(view: &View<'_>, nodes: &[String]) -> Link {
    let name = view.name();
    let between = between(view, nodes).unwrap_or_default();
    let both = config(view);
    let directions = ["forward", "backward"].map(|side| match view.find(side).map(|f| &f.value.data) {
        Some(Data::Table(own)) => direction(view, side, own),
        _ => {
            view.sub(side);
            both.clone()
        }
    });
    let link_layer = link_layer::of_link(view, &directions);
    Link { name, between, directions, link_layer }
}

/// One direction with keys of its own over those of the link.
fn direction<'a>(view: &View<'a>, side: &'static str, own: &'a Table) -> LinkConfig {
    let inner = View::new(view.cx, view.path_of(side), view.place_of(side), Some(own))
        .over(view.own_table(), "the link")
        .own_only();
    let config = config(&inner);
    inner.finish();
    config
}

fn config(view: &View<'_>) -> LinkConfig {
    LinkConfig {
        rate: view.optional("rate", "no limit", rate),
        delay: view.quantity("delay", Duration::ZERO, "none"),
        jitter: view.quantity("jitter", Duration::ZERO, "none"),
        reorder: view.flag("reorder", false, "jitter keeps the order"),
        queue_limit: view.count("queue", 50, "packets, as on the radios"),
        mtu: view.optional("mtu", "packets of any length pass", mtu),
        loss: view.optional("loss", "none", |value| loss(view, "loss", value)).unwrap_or_default(),
    }
}

/// The rate of serialisation.
pub(super) fn rate(value: &Value) -> Result<BitRate, Complaint> {
    let rate: BitRate = quantity(value)?;
    if rate.as_bps() == 0 {
        return Err(Complaint::new("a rate is above zero", "leave it out for a link without limit"));
    }
    Ok(rate)
}

/// The longest packet that passes.
pub(super) fn mtu(value: &Value) -> Result<Bytes, Complaint> {
    let mtu: Bytes = quantity(value)?;
    if mtu < MTU_LEAST {
        return Err(Complaint::new("no path of IPv4 is so narrow", "write at least \"68 byte\" (RFC 791)"));
    }
    Ok(mtu)
}

/// Reads the losses of `key`: `"1 %"`, `0.01`, two states, or a trace.
pub(super) fn loss(view: &View<'_>, key: &str, value: &Value) -> Result<Loss, Complaint> {
    let Data::Table(table) = &value.data else {
        if matches!(&value.data, Data::Text(word) if word == "none") {
            return Ok(Loss::None);
        }
        let p = probability(value)?;
        return Ok(if p == Probability::NEVER { Loss::None } else { Loss::Bernoulli(p) });
    };
    let inner = View::new(view.cx, view.path_of(key), value.place, Some(table));
    let loss = if table.get("trace").is_some() {
        inner.required("trace", "[0, 1]", trace).map_or(Loss::None, Loss::Trace)
    } else if table.get("mean_loss").is_some() || table.get("mean_burst").is_some() {
        by_means(&inner)
    } else {
        by_transitions(&inner)
    };
    inner.finish();
    Ok(loss)
}

fn trace(value: &Value) -> Result<Vec<bool>, Complaint> {
    let items = reader::list(value)?;
    if items.is_empty() {
        return Err(Complaint::new("a trace has at least one packet", "write [0, 0, 1]: 1 is lost"));
    }
    let one = |item: &Value| match item.data {
        Data::Flag(lost) => Ok(lost),
        Data::Integer(0) => Ok(false),
        Data::Integer(1) => Ok(true),
        _ => Err(Complaint::new("a packet of a trace is lost or not", "write 1 or true for lost, 0 or false for not")),
    };
    items.iter().map(one).collect()
}

/// Mean loss and mean length of a burst of a chain that loses everything in its bad state and nothing in its good one:
/// p = r L / (1 - L), r = 1 / burst (systems.md 0.2 solved for the transitions).
fn by_means(view: &View<'_>) -> Loss {
    let mean = view.required("mean_loss", "\"1 %\"", probability).unwrap_or_default().get();
    let burst = view.number("mean_burst", 1.0, "single losses");
    view.require(
        burst >= 1.0,
        "mean_burst",
        || "a burst has at least one packet".to_owned(),
        "write 1 or more, in packets",
    );
    let bad_to_good = 1.0 / burst.max(1.0);
    let good_to_bad = if mean < 1.0 { bad_to_good * mean / (1.0 - mean) } else { 2.0 };
    let (Some(p), Some(r)) = (Probability::new(good_to_bad), Probability::new(bad_to_good)) else {
        let message = format!("bursts of {burst} packets cannot make a mean loss of {mean}");
        view.complain("mean_loss", Complaint::new(message, "lose less, or in longer bursts"));
        return Loss::None;
    };
    Loss::GilbertElliott {
        good_to_bad: p,
        bad_to_good: r,
        loss_good: Probability::NEVER,
        loss_bad: Probability::ALWAYS,
    }
}

fn by_transitions(view: &View<'_>) -> Loss {
    let needed = |key, example| view.required(key, example, probability).unwrap_or_default();
    let share = |key: &'static str, default: Probability| view.read(key, default, "Gilbert 1960", probability);
    Loss::GilbertElliott {
        good_to_bad: needed("good_to_bad", "0.01"),
        bad_to_good: needed("bad_to_good", "0.25"),
        loss_good: share("loss_good", Probability::NEVER),
        loss_bad: share("loss_bad", Probability::ALWAYS),
    }
}
