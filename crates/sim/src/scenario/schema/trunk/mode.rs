//! The modes of multi-link devices: which radios each has for its links.

use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View};
use crate::scenario::schema::position;
use crate::scenario::spec::{Mac, Node};
use crate::scenario::tree::{Data, Table, Value};
use airbraid_mac::edca::{Allocation, Emlsr};
use airbraid_mac::power_save::RETUNING_TIME;
use airbraid_units::Duration;

/// The mode of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// A radio for each link.
    #[default]
    Str,
    /// The same, but links that disturb each other.
    Nstr,
    /// One radio, which listens on all links.
    Emlsr,
    /// One radio, which is at one link at a time.
    Single,
}

const MODES: [(&str, Mode); 4] =
    [("str", Mode::Str), ("nstr", Mode::Nstr), ("emlsr", Mode::Emlsr), ("single", Mode::Single)];

/// The modes of both ends of a trunk.
#[derive(Clone, Debug)]
pub(super) struct Modes {
    /// The delays of an end in EMLSR mode.
    pub emlsr: [Option<Emlsr>; 2],
    /// The switch delay of an end of which one link is awake at a time.
    pub single: [Option<Duration>; 2],
    /// Pairs of members that disturb each other at an end.
    pub pairs: [Vec<[usize; 2]>; 2],
    pub medium_sync: Duration,
}

/// The defaults of the delays: those for which ns-3's values are known.
const PADDING: Duration = Duration::from_micros(32);
const TRANSITION: Duration = Duration::from_micros(128);
/// MediumSyncDelay: aPPDUMaxTime (802.11be-2024, 35.3.16.8).
const MEDIUM_SYNC: Duration = Duration::from_micros(5_484);
/// The longest EMLSR Padding Delay and EMLSR Transition Delay (802.11be-2024, 9.4.2.312.2.3).
const EMLSR_DELAY_MAX: Duration = Duration::from_micros(256);
/// The longest time for which one radio moves to another link: an exchange has no longer frame.
const MOVE_MAX: Duration = Duration::from_micros(5_484);
/// The longest Medium Synchronization Duration: eight bits that count 32 us (9.4.2.312.2.3).
const MEDIUM_SYNC_MAX: Duration = Duration::from_micros(255 * 32);

/// Reads the modes of the ends of a trunk. `trunks` is the number of trunks of devices at each node.
pub(super) fn read(
    view: &View<'_>,
    between: [usize; 2],
    (nodes, members): (&[Node], &[[usize; 2]]),
    trunks: &[usize],
) -> Modes {
    let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
    let station = station(between, nodes, trunks);
    let mut modes = [Mode::Str; 2];
    let show = |modes: [Mode; 2]| {
        let word = |mode: Mode| MODES.iter().find(|(_, known)| *known == mode).map_or("?", |(word, _)| word);
        let name = |side: usize| names.get(between[side]).map_or("?", String::as_str);
        [0, 1].map(|side| format!("{} {}", name(side), word(modes[side]))).join(", ")
    };
    view.read("mode", show(modes), "a radio for each link", |value| {
        match &value.data {
            Data::Table(table) => modes = by_end(table, between, &names)?,
            _ => modes[station] = reader::choose(value, &MODES)?,
        }
        Ok(show(modes))
    });
    let both = || "neither end has a radio for each link that hears beside the others".to_owned();
    view.require(modes.contains(&Mode::Str), "mode", both, "an access point has: leave it str");
    for side in (0..2).filter(|side| modes[*side] != Mode::Str) {
        let message = || format!("`{}` is an access point", names[between[side]]);
        let is_access_point = nodes.get(between[side]).is_some_and(is_access_point);
        view.require(!is_access_point, "mode", message, "it has a radio for each link that hears: leave it str");
    }
    let delays = delays(view, modes);
    let pairs = pairs(view, between[0], (nodes, members), modes.contains(&Mode::Nstr));
    Modes {
        emlsr: modes.map(|mode| (mode == Mode::Emlsr).then_some(delays)),
        single: modes.map(|mode| (mode == Mode::Single).then_some(delays.transition)),
        pairs: modes.map(|mode| if mode == Mode::Nstr { pairs.clone() } else { Vec::new() }),
        medium_sync: delays.medium_sync,
    }
}

/// The pairs of members that disturb each other: all, unless the file names them by the radios of the first end.
fn pairs(view: &View<'_>, node: usize, (nodes, members): (&[Node], &[[usize; 2]]), applies: bool) -> Vec<[usize; 2]> {
    view.apply(applies);
    let radio = |member: &[usize; 2]| nodes.get(node).map_or(String::new(), |node| node.radios[member[0]].name.clone());
    let names: Vec<String> = members.iter().map(radio).collect();
    let given = view.optional("nstr_pairs", "all pairs of links", |value| {
        let pair = |item: &Value| {
            let [a, b] = reader::list(item)? else {
                return Err(Complaint::new("a pair of links is needed", "write [[\"ch36\", \"six\"]]"));
            };
            let pair = [position(&reader::text(a)?, "member", &names)?, position(&reader::text(b)?, "member", &names)?];
            if pair[0] == pair[1] { Err(Complaint::new("a link is no pair", "name two links")) } else { Ok(pair) }
        };
        let pairs = reader::list(value)?.iter().map(pair).collect::<Result<Vec<_>, _>>()?;
        if pairs.is_empty() && applies {
            return Err(Complaint::new(
                "links of which no two disturb each other are not nstr",
                "write mode = \"str\"",
            ));
        }
        Ok(pairs)
    });
    view.apply(true);
    given.unwrap_or_else(|| (0..members.len()).flat_map(|a| (0..a).map(move |b| [b, a])).collect())
}

fn delays(view: &View<'_>, modes: [Mode; 2]) -> Emlsr {
    view.apply(modes.contains(&Mode::Emlsr));
    let padding = view.quantity("padding_delay", PADDING, "EMLSR Padding Delay");
    let is_single = modes.contains(&Mode::Single);
    view.apply(modes.contains(&Mode::Emlsr) || is_single);
    let (usual, why) =
        if is_single { (RETUNING_TIME, "measured hardware") } else { (TRANSITION, "EMLSR Transition Delay") };
    let transition = view.quantity("switch_delay", usual, why);
    view.apply(modes.iter().any(|mode| matches!(mode, Mode::Nstr | Mode::Emlsr)));
    let medium_sync = view.quantity("medium_sync_delay", MEDIUM_SYNC, "the longest PPDU");
    let delays = Emlsr { padding, transition, medium_sync };
    let longest_move = if is_single { MOVE_MAX } else { EMLSR_DELAY_MAX };
    let limits = [
        ("padding_delay", delays.padding, EMLSR_DELAY_MAX),
        ("switch_delay", delays.transition, longest_move),
        ("medium_sync_delay", delays.medium_sync, MEDIUM_SYNC_MAX),
    ];
    for (key, delay, longest) in limits {
        let message = || format!("a delay of {delay} is too long");
        view.require(delay <= longest, key, message, &format!("at most {longest}"));
    }
    view.apply(true);
    delays
}

/// Every packet goes over whichever link is awake.
pub(super) fn over_any_link(view: &View<'_>, allocation: Allocation, tids: &[u8]) {
    let message = |what: &str| format!("{what} would wait for a link that sleeps");
    let help = "leave it out where one link at a time is awake";
    let is_late = matches!(allocation, Allocation::Shared | Allocation::Expected);
    view.require(is_late, "allocation", || message("packets that are put to links"), help);
    let is_everywhere = tids.iter().all(|tids| *tids == u8::MAX);
    view.require(is_everywhere, "tid_to_link", || message("packets of a TID"), help);
}

/// A table of modes by the names of the ends.
fn by_end(table: &Table, between: [usize; 2], names: &[String]) -> Result<[Mode; 2], Complaint> {
    let mut modes = [Mode::Str; 2];
    for (name, value) in entries(table) {
        let node = position(name, "node", names)?;
        let Some(side) = between.iter().position(|end| *end == node) else {
            return Err(Complaint::new(format!("`{name}` is no end of this trunk"), "name one of `between`"));
        };
        modes[side] = reader::choose(value, &MODES)?;
    }
    Ok(modes)
}

fn entries(table: &Table) -> impl Iterator<Item = (&str, &Value)> {
    table.entries.iter().map(|entry| (entry.key.as_str(), &entry.value))
}

fn is_access_point(node: &Node) -> bool {
    node.radios.iter().any(|radio| matches!(&radio.mac, Mac::Edca(config) if config.beacons))
}

/// The end that a single word is about: the other one than the access point, which sends beacons or has more trunks;
/// the second where there is no difference.
fn station(between: [usize; 2], nodes: &[Node], trunks: &[usize]) -> usize {
    let rank = |side: usize| {
        let node = between[side];
        (nodes.get(node).is_some_and(is_access_point), trunks.get(node).copied().unwrap_or(0))
    };
    usize::from(rank(0) >= rank(1))
}
