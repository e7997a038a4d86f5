//! `link_layer`: local error control above a polled radio, or over a plain link.

use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View, quantity};
use crate::scenario::tree::{Data, Value};
use airbraid_engine::link::Cost;
use airbraid_engine::link::{Adaptation, ClassConfig, Config, Persistence, Shape, WindowConfig};
use airbraid_engine::wire::WINDOW_HEADER_LEN;
use airbraid_mac::polled::PolledConfig;
use airbraid_net::link::LinkConfig;
use airbraid_units::{Bytes, Duration};

const ECKHARDT: &str = "Eckhardt 1998";
/// Largest window: an acknowledgement distinguishes no more.
const WINDOW_MAX: u32 = 64;
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

/// Over a polled radio; `None`: it is not there, and frames are sent once.
pub(super) fn of_radio(radio: &View<'_>, access: &PolledConfig) -> Option<Config> {
    let view = given(radio, "none: each frame is sent once", "stop_and_wait")?;
    let cost = Cost { overhead: access.overhead, per_byte: access.per_byte };
    let config = read(&view, cost, ("goodput", Adaptation::GOODPUT));
    view.finish();
    Some(config)
}

/// Over a plain link, by selective repeat; `None`: it is not there, and losses stay.
pub(super) fn of_link(link: &View<'_>, directions: &[LinkConfig; 2]) -> Option<(Config, WindowConfig)> {
    let view = given(link, "none: what is lost is lost", "selective_repeat")?;
    let config = read(&view, cost(&directions[0]), ("whole", Adaptation::WHOLE));
    let message = || "on a plain link nobody knows what will happen".to_owned();
    let is_told = matches!(config.adaptation, Adaptation::Oracle(_));
    view.require(!is_told, "policy", message, "write \"goodput\", or use polled radios and a packet killer");
    let window = window(&view, directions);
    view.finish();
    Some((config, window))
}

/// `None`, if it is not there or `"none"`; the word `on` stands for an empty table.
fn given<'a>(outer: &View<'a>, why: &str, on: &'static str) -> Option<View<'a>> {
    let Some(found) = outer.find("link_layer") else {
        outer.note("link_layer", "-", None, why);
        return None;
    };
    match &found.value.data {
        Data::Text(word) if word == "none" => {
            outer.note("link_layer", "none", Some(found), "");
            None
        }
        Data::Text(word) if word == on => {
            outer.note("link_layer", on, Some(found), "");
            Some(View::new(outer.cx, outer.path_of("link_layer"), found.value.place, None))
        }
        Data::Text(word) => {
            let message = format!("`{word}` is no local error control");
            outer.complain("link_layer", Complaint::new(message, format!("write \"none\", \"{on}\" or a table")));
            None
        }
        _ => Some(outer.sub("link_layer")),
    }
}

/// Cost of a frame on a link: the header, and its bytes. Without a rate no frame costs more than another.
fn cost(link: &LinkConfig) -> Cost {
    let time = |bytes| link.rate.map_or(Duration::from_nanos(1), |rate| rate.time_for(Bytes::new(bytes)));
    Cost { overhead: time(WINDOW_HEADER_LEN as u64), per_byte: time(1) }
}

fn window(view: &View<'_>, directions: &[LinkConfig; 2]) -> WindowConfig {
    let default = WindowConfig { window: WINDOW_MAX, ..WindowConfig::default() };
    let window = view.count("window", default.window, "frames on their way: as many as an acknowledgement tells apart");
    let possible = (1..=WINDOW_MAX).contains(&window);
    view.require(possible, "window", || format!("a window of {window} frames"), "1 to 64 are possible");
    let ack_delay = view.quantity("ack_delay", default.ack_delay, "or with data, or after two frames");
    let timeout = default.timeout.max(patience(directions, window, ack_delay));
    let timeout = view.quantity("timeout", timeout, "twice the round trip of a full window");
    view.require(!timeout.is_zero(), "timeout", || "nothing comes at once".to_owned(), "more than the round trip");
    let reordering = view.count("reordering", default.reordering, "the link keeps the order");
    let message = || "a frame cannot be overtaken by none".to_owned();
    view.require(reordering > 0, "reordering", message, "write 1, or more where jitter may reorder");
    WindowConfig { window, timeout, reordering, ack_delay }
}

/// Timeout: twice the travel time of a window of 1500-byte packets and its acknowledgement.
fn patience(directions: &[LinkConfig; 2], window: u32, ack_delay: Duration) -> Duration {
    let bytes = Bytes::new(1_500 * u64::from(window));
    let way =
        |link: &LinkConfig| link.delay + link.jitter + link.rate.map_or(Duration::ZERO, |rate| rate.time_for(bytes));
    let trip = way(&directions[0]) + way(&directions[1]) + ack_delay;
    trip + trip
}

fn read(view: &View<'_>, cost: Cost, default_policy: (&'static str, Adaptation)) -> Config {
    let adaptation = policy(view, default_policy);
    let default = ClassConfig::default();
    let bulk = class(view, &default);
    // Real-time packets are treated as bulk ones unless something else is said of them.
    let own = view.sub("real_time");
    let real_time = if own.is_present() { class(&own, &bulk) } else { bulk };
    own.finish();
    Config { adaptation, cost, bulk, real_time }
}

fn policy(view: &View<'_>, default: (&'static str, Adaptation)) -> Adaptation {
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
