//! The modes of multi-link devices: which radios each has for its links.

use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View};
use crate::scenario::schema::position;
use crate::scenario::spec::{Mac, Node};
use crate::scenario::tree::{Data, Table, Value};
use airbraid_mac::edca::Emlsr;
use airbraid_units::Duration;

/// The mode of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// A radio for each link.
    #[default]
    Str,
    /// One radio, which listens on all links.
    Emlsr,
}

const MODES: [(&str, Mode); 2] = [("str", Mode::Str), ("emlsr", Mode::Emlsr)];

/// The defaults of the delays: those for which ns-3's values are known.
const PADDING: Duration = Duration::from_micros(32);
const TRANSITION: Duration = Duration::from_micros(128);
/// MediumSyncDelay: aPPDUMaxTime (802.11be-2024, 35.3.16.8).
const MEDIUM_SYNC: Duration = Duration::from_micros(5_484);
/// Longest delay that makes sense: an exchange has no longer frame.
const DELAY_MAX: Duration = Duration::from_micros(5_484);

/// Reads the modes of the ends of a trunk. `trunks` is the number of trunks of devices at each node.
pub(super) fn read(view: &View<'_>, between: [usize; 2], nodes: &[Node], trunks: &[usize]) -> [Option<Emlsr>; 2] {
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
    let one_radio = modes.map(|mode| mode == Mode::Emlsr);
    let both = || "both ends have one radio".to_owned();
    view.require(one_radio != [true, true], "mode", both, "an access point has a radio for each link: leave it str");
    let delays = delays(view, one_radio != [false, false]);
    for side in (0..2).filter(|side| one_radio[*side]) {
        let message = || format!("`{}` is an access point", names[between[side]]);
        let is_access_point = nodes.get(between[side]).is_some_and(is_access_point);
        view.require(!is_access_point, "mode", message, "it has a radio for each link: str");
    }
    one_radio.map(|has_one| has_one.then_some(delays))
}

fn delays(view: &View<'_>, applies: bool) -> Emlsr {
    view.apply(applies);
    let delays = Emlsr {
        padding: view.quantity("padding_delay", PADDING, "EMLSR Padding Delay"),
        transition: view.quantity("switch_delay", TRANSITION, "EMLSR Transition Delay"),
        medium_sync: view.quantity("medium_sync_delay", MEDIUM_SYNC, "the longest PPDU"),
    };
    for (key, delay) in [("padding_delay", delays.padding), ("switch_delay", delays.transition)] {
        let message = || format!("a delay of {delay} is too long");
        view.require(delay <= DELAY_MAX, key, message, "the standard knows 0 to 256 us");
    }
    view.apply(true);
    delays
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

/// The end that a single word is about: the other one than the access point, which sends beacons or has more trunks; the
/// second where there is no difference.
fn station(between: [usize; 2], nodes: &[Node], trunks: &[usize]) -> usize {
    let rank = |side: usize| {
        let node = between[side];
        (nodes.get(node).is_some_and(is_access_point), trunks.get(node).copied().unwrap_or(0))
    };
    usize::from(rank(0) >= rank(1))
}
