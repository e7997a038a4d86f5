//! The committed rows: they are what is computed now, and a formula that was tampered with is found by them or refused
//! when it is read.

use super::Empty;
use airbraid_campaign::reproduce::{Library, Origin, Reproduction, Row, Rows, Standing, committed};
use airbraid_campaign::store::{Build, Store};
use airbraid_campaign::{Recorded, Settings, simulate};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The paper whose rows are computed in the shortest time, by packets.
const PAPER: &str = "sanchez2006";
/// The paper with rows that are computed by the model of efficiency, and their prefixes.
const MODELLED: (&str, [&str; 2]) = ("kuang2004", ["appA", "bound"]);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn committed_rows(paper: &str) -> String {
    std::fs::read_to_string(root().join(format!("tests/rows/{paper}.quick.tsv"))).unwrap()
}

/// Computes the rows of the quick version, with runs from and into the store.
fn compute(library: &Library, paper: &str, only: &[String], store: &Path) -> Result<(Reproduction, Rows), String> {
    let mut reproduction = Reproduction::prepare_rows(library, paper, only, true)?;
    let (mut store, _) = Store::open(store, Build::this()).unwrap();
    reproduction.runs.recall(&store).unwrap();
    let stop = AtomicBool::new(false);
    let settings = Settings { jobs: 2, recorded: Recorded::default(), stop: &stop };
    reproduction.runs.work(&settings, Some(&mut store), &simulate, &|_, _| {}).unwrap();
    let rows = reproduction.conclude();
    Ok((reproduction, rows))
}

/// A formula for a formula, if there is such a mutant of it.
type Mutate = fn(&str, &str) -> Option<String>;

/// The first metric of a formula: where it is, its run and its name.
fn metric(of: &str) -> (std::ops::Range<usize>, &str, &str) {
    let colon = of.find(':').unwrap();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._*-{}".contains(c);
    let begin = of[..colon].rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
    let end = of[colon + 1..].find(|c| !is_part(c)).map_or(of.len(), |length| colon + 1 + length);
    (begin..end, &of[begin..colon], &of[colon + 1..end])
}

/// Whether it is a relation.
fn is_relation(of: &str) -> bool {
    of.contains(['<', '>'])
}

/// The committed value itself, so that no comparison of values can tell.
fn literal(of: &str, value: &str) -> Option<String> {
    (!is_relation(of) && !value.contains(' ')).then(|| value.to_owned())
}

fn wrong_sign(of: &str, _: &str) -> Option<String> {
    let (at, ..) = metric(of);
    Some(if is_relation(of) {
        format!("{}(-{}){}", &of[..at.start], &of[at.clone()], &of[at.end..])
    } else {
        format!("-({of})")
    })
    .filter(|mutant| !mutant.contains("course((-"))
}

fn swapped(of: &str, _: &str) -> Option<String> {
    if is_relation(of) {
        let other = |c| match c {
            '<' => '>',
            '>' => '<',
            c => c,
        };
        return Some(of.chars().map(other).collect());
    }
    let (left, right) = of.split_once(" / ")?;
    Some(format!("{right} / {left}"))
}

fn other_metric(of: &str, _: &str) -> Option<String> {
    let (at, run, name) = metric(of);
    let other = match name {
        "flow.ftp.goodput_bps" => "flow.ftp.ip_throughput_bps",
        "flow.download.goodput_bps" => "flow.download.ip_throughput_bps",
        "flow.ftp.out_of_order" => "flow.ftp.retransmits",
        "flow.ftp.retransmits" => "flow.ftp.out_of_order",
        "flow.ftp.retransmits_most" => "flow.ftp.timeouts",
        "flow.ftp.idle_longest_s" => "flow.ftp.delay_max_s",
        "flow.download.idle_longest_s" => "flow.download.delay_max_s",
        "total.completed" => "total.goodput_bps",
        "dcf.efficiency" => "mcmac.efficiency",
        _ if name.ends_with("chain_bound_bps") => "mcmac.throughput_bps",
        _ if name.ends_with("_s") => "mcmac.joint_cycle_s",
        _ if name.ends_with("efficiency") => "dcf.efficiency",
        _ => return None,
    };
    Some(format!("{}{run}:{other}{}", &of[..at.start], &of[at.end..]))
}

fn constant_factor(of: &str, _: &str) -> Option<String> {
    let (at, ..) = metric(of);
    if of[..at.start].ends_with("course(") {
        return None;
    }
    Some(format!("{}(1.1 * {}){}", &of[..at.start], &of[at.clone()], &of[at.end..]))
}

const KINDS: [(&str, Mutate); 5] = [
    ("a literal instead of a run", literal),
    ("a wrong sign", wrong_sign),
    ("swapped operands", swapped),
    ("another metric", other_metric),
    ("a constant factor", constant_factor),
];

/// The formulas of a paper's file, by row.
fn formulas(figures: &str) -> BTreeMap<String, String> {
    let table: toml::Table = figures.parse().unwrap();
    let rows = table["figure"].as_array().unwrap().iter().filter_map(|figure| figure.get("row")?.as_array()).flatten();
    let text = |row: &toml::Value, key: &str| row.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    rows.filter_map(|row| Some((text(row, "id")?, text(row, "of")?))).collect()
}

/// The committed values by row.
fn values(committed: &str) -> BTreeMap<String, String> {
    let rows = committed.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    rows.map(|cells| (cells[0].to_owned(), cells[6].to_owned())).collect()
}

/// Writes the paper's folder with one formula replaced.
fn tamper(dir: &Empty, paper: &str, figures: &str, (id, from, to): (&str, &str, &str)) {
    let entry = format!("{{ id = \"{id}\", of = \"{from}\"");
    assert_eq!(figures.matches(&entry).count(), 1, "{id}");
    let figures = figures.replace(&entry, &format!("{{ id = \"{id}\", of = \"{to}\""));
    dir.write(&format!("papers/{paper}/figures.toml"), &figures);
}

/// The number of mutants of each kind and of those that the reader, values or verdicts tell; and all that nothing
/// tells.
fn try_mutants(dir: &Empty, paper: &str, ids: &[String]) -> (BTreeMap<&'static str, [usize; 2]>, Vec<String>) {
    let figures = std::fs::read_to_string(root().join(format!("papers/{paper}/figures.toml"))).unwrap();
    let (before, text) = (formulas(&figures), committed_rows(paper));
    let values = values(&text);
    let library = Library::with(&dir.path().join("papers")).unwrap();
    let (mut counts, mut unseen) = (BTreeMap::new(), Vec::new());
    for (kind, mutate) in KINDS {
        let [tried, by_value] = counts.entry(kind).or_insert([0, 0]);
        for id in ids {
            let of = &before[id];
            let Some(mutant) = mutate(of, &values[id]).filter(|mutant| mutant != of) else { continue };
            *tried += 1;
            tamper(dir, paper, &figures, (id, of, &mutant));
            let Ok((reproduction, rows)) =
                compute(&library, paper, std::slice::from_ref(id), &dir.path().join("store"))
            else {
                *by_value += 1;
                continue;
            };
            let row = &rows.rows[0];
            let found = committed::compare(&text, &reproduction.paper, std::slice::from_ref(id), &rows).unwrap();
            let said = found.iter().any(|text| ["value", "verdict", "origin"].iter().any(|word| text.contains(word)));
            *by_value += usize::from(said || row.verdict == Standing::Missing);
            if found.is_empty() {
                unseen.push(format!("{id}, {kind}: {mutant}"));
            }
        }
    }
    (counts, unseen)
}

/// Every tenth of the rows that are scored and not written down, so that the test stays short.
fn scored(rows: &Rows) -> Vec<String> {
    let is_scored = |row: &&Row| row.verdict != Standing::Context && row.origin != Origin::Arithmetic;
    rows.rows.iter().filter(is_scored).step_by(10).map(|row| row.id.clone()).collect()
}

#[test]
fn the_rows_are_the_committed_ones_and_every_mutant_of_a_formula_is_refused() {
    let dir = Empty::new("committed");
    let modelled = MODELLED.1.map(str::to_owned);
    for (paper, only) in [(PAPER, &[][..]), (MODELLED.0, &modelled[..])] {
        let (reproduction, rows) = compute(&Library::embedded(), paper, only, &dir.path().join("store")).unwrap();
        let differences = committed::compare(&committed_rows(paper), &reproduction.paper, only, &rows).unwrap();
        assert!(
            differences.is_empty(),
            "{paper} differs from tests/rows; make rows-renew writes it:\n{differences:#?}"
        );
        let reference = format!("papers/{paper}/reference.toml");
        dir.write(&reference, &std::fs::read_to_string(root().join(&reference)).unwrap());
        let (counts, unseen) = try_mutants(&dir, paper, &scored(&rows));
        println!("{paper}, mutants and those that reader, value or verdict tell: {counts:?}");
        assert!(unseen.is_empty(), "{paper}: nobody sees\n{}", unseen.join("\n"));
        for (kind, [tried, by_value]) in counts {
            // The digest of the formula tells the rest: two metrics may be equal, and a tenth more may be within the
            // interval of two runs.
            assert!(tried > 0 || paper != PAPER, "{kind}: no mutant");
            assert!(by_value * 4 >= tried, "{paper}, {kind}: only {by_value} of {tried} by their value");
        }
    }
}
