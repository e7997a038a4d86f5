//! The `select` table of a trunk: interface selection, which chooses the members that are worth using.

use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View, quantity};
use crate::scenario::spec::{Mac, Node, Select};
use crate::scenario::tree::Data;
use airbraid_engine::converge::select::{Measure, MilliDb, Policy, PortSet, Spread};
use airbraid_units::{Bytes, Db, Duration, Probability};

const MEASURES: [(&str, Measure); 5] = [
    ("snr", Measure::SnrThreshold),
    ("etx", Measure::ExpectedTransmissions),
    ("ett", Measure::ExpectedTime),
    ("load", Measure::Load),
    ("goodput", Measure::Goodput),
];
const PAPER: &str = "Sanchez 2006";
const OURS: &str = "docs/models/convergence.md";
/// Header and tag of a sealed frame (`docs/models/convergence.md`).
const SEALED: Bytes = Bytes::new(12 + 16);

/// Reads the table, if there is one.
pub(super) fn read(trunk: &View<'_>, members: &[[usize; 2]], ends: [usize; 2], nodes: &[Node]) -> Option<Select> {
    trunk.find("select")?;
    let view = trunk.sub("select");
    let few = members.len() <= usize::from(PortSet::PORTS);
    view.require(few, "", || "too many members to choose among".to_owned(), "at most 32");
    let mut radios = members.iter().flat_map(|pair| [(ends[0], pair[0]), (ends[1], pair[1])]);
    let mac = |(node, radio): (usize, usize)| &nodes[node].radios[radio].mac;
    let tells = radios.clone().all(|at| matches!(mac(at), Mac::Dcf(_) | Mac::Edca(_)));
    let message = || "it is told by DCF or EDCA what became of each frame".to_owned();
    view.require(tells, "", message, "take away `mac` from the radios, or `select` from the trunk");
    let threshold = db(&view, "threshold", MilliDb(25_000), PAPER);
    let thresholds = [threshold, db(&view, "threshold_real_time", threshold, "that of all other traffic")];
    let select = Select {
        policy: policy(&view),
        thresholds,
        is_failing_over: view.flag("fail_over", true, OURS),
        overhead: if view.flag("seal", false, "in the clear") { SEALED } else { Bytes::ZERO },
    };
    if let Some((node, radio)) = radios.find(|at| mac(*at).keeps_mpdus()).filter(|_| select.is_failing_over) {
        let (node, radio) = (&nodes[node].name, &nodes[node].radios[radio].name);
        let message =
            format!("radio `{node}/{radio}` never gives back a packet: it sends MPDUs of A-MPDUs again without limit");
        let help = "give it a `block_ack_retry_limit`, such as 20, or write fail_over = false";
        view.complain("fail_over", Complaint::new(message, help));
    }
    view.finish();
    Some(select)
}

fn policy(view: &View<'_>) -> Policy {
    let default = Policy::default();
    let span = |key: &'static str, value: Duration, why: &str| {
        let read = view.quantity(key, value, why);
        view.require(!read.is_zero(), key, || format!("`{key}` must be above zero"), "leave it out for the default");
        read
    };
    let share = |key: &'static str, value: u32, why: &str| {
        let read = view.read(
            key,
            Probability::new(f64::from(value) / 1_000.0).unwrap_or(Probability::NEVER),
            why,
            reader::probability,
        );
        libm::round(read.get() * 1_000.0) as u32
    };
    let policy = Policy {
        measure: view.choice("measure", &MEASURES, default.measure, PAPER),
        spread: spread(view),
        weight: share("weight", default.weight, OURS),
        hysteresis: db(view, "hysteresis", default.hysteresis, "the paper describes none"),
        margin: share("margin", default.margin, OURS),
        rto: span("rto", default.rto, "least timeout of Linux"),
        silence: span("silence", default.silence, OURS),
        beacon: span("beacon", default.beacon, OURS),
        failures: view.count("failures", default.failures, OURS).max(1),
        queue: view.count("queue", default.queue as u32, OURS) as usize,
    };
    let message = || "a signal that has no weight is never learned".to_owned();
    view.require(policy.weight > 0, "weight", message, "0.1 % at least; 100 % does not smooth");
    let Policy { beacon, silence, .. } = policy;
    let message = || {
        format!("a beacon each {beacon}, and a member without any for {silence} is dead: all would be most of the time")
    };
    view.require(
        beacon < silence,
        "silence",
        message,
        "make `silence` longer than `beacon`: ten of them are the default",
    );
    policy
}

/// `"choose"`, or `{ within = 2.5 }`: all whose cost is at most this multiple of the best one's.
fn spread(view: &View<'_>) -> Spread {
    let mut spread = Spread::Choose;
    view.read("spread", "choose".to_owned(), PAPER, |value| {
        let Data::Table(table) = &value.data else {
            spread = reader::choose(value, &[("choose", Spread::Choose), ("all", Spread::Stripe { within: u32::MAX })])
                .map_err(|c| Complaint::new(c.message, "allowed: \"choose\", \"all\", { within = 2.5 }"))?;
            return Ok(value.show());
        };
        let inner = View::new(view.cx, view.path_of("spread"), value.place, Some(table));
        let within = inner.required("within", "2.5", reader::number).unwrap_or(1.0);
        let fits = (1.0..=1e6).contains(&within);
        inner.require(fits, "within", || format!("{within} times the best is none"), "1 or more");
        inner.finish();
        spread = Spread::Stripe { within: (within.clamp(1.0, 1e6) * 1_000.0) as u32 };
        Ok(value.show())
    });
    spread
}

fn db(view: &View<'_>, key: &'static str, default: MilliDb, why: &str) -> MilliDb {
    let level = view.read(key, Db(f64::from(default.0) / 1_000.0), why, quantity::<Db>);
    view.require(level.0.abs() <= 300.0, key, || format!("{level} is beyond physics"), "write a value within 300 dB");
    MilliDb(libm::round(level.0.clamp(-300.0, 300.0) * 1_000.0) as i32)
}
