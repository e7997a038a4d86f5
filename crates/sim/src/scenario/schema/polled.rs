//! A polled radio: master or slave, what a transaction costs, and the local error control above it.

use super::small;
use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View, quantity};
use crate::scenario::tree::{Data, Value};
use airbraid_engine::link::config::Cost;
use airbraid_engine::link::{Adaptation, ClassConfig, Config, Persistence, Shape};
use airbraid_mac::polled::{PolledConfig, Role};
use airbraid_units::{Bytes, Duration};

const ROLES: [(&str, Role); 2] = [("master", Role::Master), ("slave", Role::Slave)];
const ECKHARDT: &str = "Eckhardt 1998";
const POLICIES: [(&str, Adaptation); 10] = [
    ("whole", Adaptation::WHOLE),
    ("bold", Adaptation::BOLD),
    ("light", Adaptation::LIGHT),
    ("robust", Adaptation::ROBUST),
    ("bimodal", Adaptation::BIMODAL),
    ("bi_code", Adaptation::BI_CODE),
    ("bi_size", Adaptation::BI_SIZE),
    ("flex", Adaptation::FLEX),
    ("goodput", Adaptation::GOODPUT),
    ("oracle", Adaptation::ORACLE),
];

/// Reads the access of a polled radio.
pub(super) fn read(view: &View<'_>) -> PolledConfig {
    let role = view.choice("role", &ROLES, Role::Slave, "it speaks when it is polled");
    let default = PolledConfig::new(role);
    let config = PolledConfig {
        role,
        overhead: view.quantity("overhead", default.overhead, ECKHARDT),
        per_byte: view.quantity("per_byte", default.per_byte, ECKHARDT),
        response_slack: view.quantity(
            "response_slack",
            default.response_slack,
            "a lost poll costs what an answered one does",
        ),
        invite_every: view.count("invite_every", default.invite_every, "polls"),
        queue_limit: view.count("queue", default.queue_limit, "packets, where no link layer holds them"),
        header: view.quantity("header", default.header, ECKHARDT),
    };
    let message = || "a transaction takes time even without data".to_owned();
    view.require(config.overhead.as_nanos() >= 2, "overhead", message, "write for example \"3.1 ms\"");
    small(view, "header", config.header);
    config
}

/// Reads `link_layer`; `None`: it is not there, and frames are sent once.
pub(super) fn link_layer(radio: &View<'_>, access: &PolledConfig) -> Option<Config> {
    let Some(found) = radio.find("link_layer") else {
        radio.note("link_layer", "-", None, "none: each frame is sent once");
        return None;
    };
    if matches!(&found.value.data, Data::Text(word) if word == "none") {
        radio.note("link_layer", "none", Some(found), "");
        return None;
    }
    let view = radio.sub("link_layer");
    let adaptation = policy(&view);
    let default = ClassConfig::default();
    let config = Config {
        adaptation,
        cost: Cost { overhead: access.overhead, per_byte: access.per_byte },
        bulk: class(&view, &default),
        real_time: ClassConfig { ..default },
    };
    // Real-time packets are treated as bulk ones unless something else is said of them.
    let own = view.sub("real_time");
    let real_time = if own.is_present() { class(&own, &config.bulk) } else { config.bulk };
    own.finish();
    view.finish();
    Some(Config { real_time, ..config })
}

fn policy(view: &View<'_>) -> Adaptation {
    let default = ("goodput", Adaptation::GOODPUT);
    let mut chosen = default.1;
    view.read("policy", default.0.to_owned(), "docs/models/local-error-control.md", |value| {
        chosen = match &value.data {
            Data::Table(table) => Adaptation::Fixed(shape(
                view,
                value,
                &View::new(view.cx, view.path_of("policy"), value.place, Some(table)),
            )?),
            _ => reader::choose(value, &POLICIES)?,
        };
        Ok(value.show())
    });
    chosen
}

/// `{ bytes = "1275 byte", parity = "12 byte" }`: always the same.
fn shape(outer: &View<'_>, value: &Value, view: &View<'_>) -> Result<Shape, Complaint> {
    let bytes = view.quantity("bytes", Bytes::new(1_275), "five blocks");
    let parity = view.quantity("parity", Bytes::ZERO, "none");
    view.check_keys();
    let wrong = |what: String| Complaint::new(what, "parity is even, and leaves room for data in the last block too");
    let (Ok(bytes), Ok(parity)) = (u16::try_from(bytes.as_u64()), u8::try_from(parity.as_u64())) else {
        let message = format!("`{}` = {} is out of range", outer.path_of("policy"), value.show());
        return Err(wrong(message));
    };
    Shape::new(bytes, parity).map_err(|refusal| wrong(refusal.to_string()))
}

fn class(view: &View<'_>, default: &ClassConfig) -> ClassConfig {
    let queue_limit = view.count("queue", default.queue_limit, ECKHARDT);
    view.require(queue_limit > 0, "queue", || "a queue holds at least one packet".to_owned(), "write 1 or more");
    let lifetime = lifetime(view, default.persistence.lifetime);
    let persistence = Persistence { retransmissions: retransmissions(view, default.persistence), lifetime };
    ClassConfig { queue_limit, persistence }
}

/// `"unlimited"` or a number.
fn retransmissions(view: &View<'_>, default: Persistence) -> Option<u32> {
    let show = |limit: Option<u32>| limit.map_or_else(|| "unlimited".to_owned(), |n| n.to_string());
    let mut limit = default.retransmissions;
    view.read("retransmissions", show(limit), ECKHARDT, |value| {
        limit = match &value.data {
            Data::Text(word) if word == "unlimited" => None,
            Data::Text(_) => return Err(Complaint::new("this is no limit", "write a number or \"unlimited\"")),
            _ => Some(reader::count(value)?),
        };
        Ok(show(limit))
    });
    limit
}

/// `"none"` or a time.
fn lifetime(view: &View<'_>, default: Option<Duration>) -> Option<Duration> {
    let show = |limit: Option<Duration>| limit.map_or_else(|| "none".to_owned(), |span| span.to_string());
    let mut limit = default;
    view.read("lifetime", show(limit), "packets do not age", |value| {
        limit = match &value.data {
            Data::Text(word) if word == "none" => None,
            _ => Some(quantity(value)?),
        };
        Ok(show(limit))
    });
    let lasts = limit.is_none_or(|span| !span.is_zero());
    view.require(
        lasts,
        "lifetime",
        || "a packet is worth something at first".to_owned(),
        "write \"100 ms\" or \"none\"",
    );
    limit
}
