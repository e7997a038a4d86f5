//! The `policy` table of a trunk over radios.
//!
//! The tables of all distributors are read whichever is chosen, so that a sweep over distributors needs one file.

use super::{BOND_KEYS, MODES, above_zero, buffer};
use crate::scenario::reader::{Foreign, View, quantity};
use airbraid_engine::trunk::paper::{
    Distributor, Fifo, Jkm, Marking, Method, Numbering, PaperPolicy, Resequencer, Srr,
};
use airbraid_units::{Bytes, Duration};

/// The largest window of numbers that are told apart: far below half of them, and a bound on memory.
const WINDOW_MAX: u32 = 65_536;
/// Packets of a member whose limit is a time: the queue of a radio with A-MPDUs.
const MEMBER_QUEUE_BY_TIME: u32 = 1_000;
/// A quantum below the longest packet would pass members over.
const QUANTUM_MIN: u32 = 1_500;
const WANG: &str = "Wang 2005";
const OURS: &str = "docs/models/trunk.md";

/// Keys that only a trunk over links has.
static FOREIGN: Foreign =
    Foreign { keys: BOND_KEYS, owner: "a trunk over links (`over = \"links\"`)", own: "a trunk over radios" };

/// The names of distributors.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    RoundRobin,
    EarliestDelivery,
    Srr,
    Jkm,
}

const KINDS: [(&str, Kind); 4] = [
    ("round_robin", Kind::RoundRobin),
    ("earliest_delivery", Kind::EarliestDelivery),
    ("srr", Kind::Srr),
    ("jkm", Kind::Jkm),
];

const NUMBERINGS: [(&str, Numbering); 2] = [("dispatch", Numbering::Dispatch), ("arrival", Numbering::Arrival)];

pub(in crate::scenario::schema) fn read(view: View<'_>) -> PaperPolicy {
    let kind = view.choice("distributor", &KINDS, Kind::RoundRobin, WANG);
    view.apply(kind == Kind::Srr);
    let srr = srr(view.sub("srr"));
    view.apply(kind == Kind::Jkm);
    let jkm = jkm(view.sub("jkm"));
    view.apply(true);
    let distributor = match kind {
        Kind::RoundRobin => Distributor::RoundRobin,
        Kind::EarliestDelivery => Distributor::EarliestDelivery,
        Kind::Srr => Distributor::Srr(srr),
        Kind::Jkm => Distributor::Jkm(jkm),
    };
    let member_time = member_time(&view, distributor == Distributor::RoundRobin);
    let most = if member_time.is_some() { MEMBER_QUEUE_BY_TIME } else { distributor.member_limit() };
    let why = if most == 1 { "packets; Wang 2005" } else { "packets; docs/models/trunk.md" };
    let policy = PaperPolicy {
        distributor,
        numbering: view.choice("numbering", &NUMBERINGS, Numbering::default(), OURS),
        queue_limit: view.count("queue", PaperPolicy::default().queue_limit, "packets; Wang 2005"),
        member_limit: view.count("member_queue", most, why),
        member_time,
        resequencer: PaperPolicy::default().resequencer,
    };
    let own_order = matches!(distributor, Distributor::Srr(_) | Distributor::Jkm(_));
    view.apply(!own_order);
    let policy = PaperPolicy { resequencer: resequencer(view.sub("resequencer")), ..policy };
    view.apply(true);
    let some = policy.member_limit > 0;
    view.require(some, "member_queue", || "a member holds at least one packet".to_owned(), "write 1 or more");
    let fits = !own_order || policy.resequencer.method == Method::Adaptive;
    let message = || "`srr` and `jkm` restore the order in their own way, without the resequencer".to_owned();
    view.require(fits, "resequencer", message, "leave `method` out, or take `round_robin` or `earliest_delivery`");
    let numbers =
        policy.numbering == Numbering::Dispatch || (!own_order && policy.resequencer.method == Method::Adaptive);
    let message = || "a number that no member carries is a gap that only a timer ends".to_owned();
    view.require(
        numbers,
        "numbering",
        message,
        "with `arrival` leave the resequencer's `method` out, and `srr` and `jkm`",
    );
    view.beside(&FOREIGN);
    view.finish();
    policy
}

/// The time that limits what members hold.
fn member_time(view: &View<'_>, is_round_robin: bool) -> Option<Duration> {
    let time = view.optional("member_time", "no limit: the members hold `member_queue` packets", quantity);
    let message = || "only `round_robin` limits members by time".to_owned();
    view.require(time.is_none() || is_round_robin, "member_time", message, "write `member_queue`, or leave it out");
    let positive = time.is_none_or(|time: Duration| !time.is_zero());
    view.require(positive, "member_time", || "no packet takes no time".to_owned(), "write for example \"8 ms\"");
    time
}

/// The default header of a trunk before each packet, with its reason.
pub(in crate::scenario::schema) fn header(policy: &PaperPolicy) -> (Bytes, &'static str) {
    match (policy.distributor, policy.resequencer.method) {
        (Distributor::Srr(_), _) => (Bytes::ZERO, "surplus round robin does not number packets"),
        (Distributor::Jkm(_), _) | (_, Method::Adaptive) => (Bytes::new(4), "a 32-bit number before each packet"),
        (_, Method::Fifo(_)) => (Bytes::new(8), "a 32-bit number, and two 16-bit distances to earlier ones"),
    }
}

fn srr(view: View<'_>) -> Srr {
    let default = Srr::default();
    let markings = [("broadcast", Marking::Broadcast), ("unicast", Marking::Unicast)];
    let quantum = view.quantity("quantum", Bytes::new(u64::from(default.quantum)), WANG);
    let srr = Srr {
        quantum: u32::try_from(quantum.as_u64()).unwrap_or(u32::MAX),
        marker: view.choice("marker", &markings, default.marker, OURS),
        fifo_limit: view.count("fifo", default.fifo_limit, "packets and markers; docs/models/trunk.md"),
    };
    let enough = srr.quantum >= QUANTUM_MIN && srr.quantum <= i32::MAX as u32;
    let message = || format!("a quantum of {quantum} cannot be used");
    view.require(enough, "quantum", message, "at least the longest packet, 1500 byte, and below 2 GiB");
    view.require(srr.fifo_limit > 0, "fifo", || "a FIFO of nothing takes nothing".to_owned(), "write 1 or more");
    view.finish();
    srr
}

fn jkm(view: View<'_>) -> Jkm {
    let default = Jkm::default();
    let jkm = Jkm {
        window: view.count("window", default.window, "packets; docs/models/trunk.md"),
        nak_interval: view.quantity("nak_interval", default.nak_interval, OURS),
        sender_timeout: view.quantity("sender_timeout", default.sender_timeout, OURS),
        ack_every: view.count("ack_every", default.ack_every, "frames; docs/models/trunk.md").max(1),
    };
    let fits = (1..=WINDOW_MAX).contains(&jkm.window);
    view.require(fits, "window", || format!("a window of {} packets cannot be had", jkm.window), "1 to 65536");
    above_zero(&view, &[("nak_interval", jkm.nak_interval), ("sender_timeout", jkm.sender_timeout)]);
    view.finish();
    jkm
}

fn resequencer(view: View<'_>) -> Resequencer {
    let own = Fifo::default();
    let methods = [("adaptive", false), ("fifo", true)];
    let is_fifo = view.choice("method", &methods, false, WANG);
    let default = if is_fifo { Resequencer::fifo() } else { Resequencer::default() };
    let span = |key: &'static str, value: Duration, why: &str| view.quantity(key, value, why);
    let applies = view.applies();
    view.apply(applies && is_fifo);
    let fifo = Fifo {
        silence: span("silence", own.silence, OURS),
        dead_after: view.count("dead_after", own.dead_after, "losses in a row; docs/models/trunk.md"),
        probe: span("probe", own.probe, OURS),
        resends: view.count("resends", own.resends, "what a member gave up is lost; docs/models/trunk.md"),
    };
    view.apply(applies);
    let read = Resequencer {
        method: if is_fifo { Method::Fifo(fifo) } else { Method::Adaptive },
        mode: view.choice("mode", &MODES, default.mode, WANG),
        maximum: span("maximum", default.maximum, OURS),
        buffer_limit: view.count("buffer", default.buffer_limit, "packets"),
        ..default
    };
    // The hold time that adapts: the FIFOs know when to wait no longer.
    view.apply(applies && !is_fifo);
    view.choice("timer", &[("adaptive", ())], (), WANG);
    let read = Resequencer {
        initial: span("initial", default.initial, OURS),
        minimum: span("minimum", default.minimum, OURS),
        increment: span("increment", default.increment, WANG),
        decay: span("decay", default.decay, WANG),
        repeat_halving: view.flag("repeat_halving", default.repeat_halving, "Wang 2005, as its figure shows"),
        ..read
    };
    view.apply(applies);
    let within = is_fifo || (read.minimum <= read.initial && read.initial <= read.maximum);
    let message = || format!("{} <= {} <= {} does not hold", read.minimum, read.initial, read.maximum);
    view.require(within, "initial", message, "the timer begins between its minimum and its maximum");
    let spans = [("minimum", read.minimum), ("decay", read.decay), ("maximum", read.maximum)];
    above_zero(&view, &spans);
    above_zero(&view, &[("silence", fifo.silence), ("probe", fifo.probe)]);
    buffer(&view, read.buffer_limit, 16_384, "half of what the duplicate filter remembers");
    view.finish();
    read
}
