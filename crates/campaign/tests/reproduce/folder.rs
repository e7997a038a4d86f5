//! A paper is a folder: its contents, its errors, and its rows.

use super::{Empty, FIGURES, folder, invented};
use airbraid_campaign::reproduce::{Library, Paper, Reproduction, Rows, Standing};
use airbraid_campaign::store::Build;
use airbraid_campaign::{Failure, Job, Recorded, Settings, output, page};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn library(dir: &Empty) -> Library {
    Library::with(&dir.path().join("papers")).unwrap()
}

fn work(reproduction: &mut Reproduction) -> (Rows, usize) {
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let settings = Settings { jobs: 2, recorded: Recorded::default(), stop: &stop };
    let runner = |job: &Job<'_>, _: &mut dyn FnMut(f64) -> bool| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(invented(job))
    };
    let came: Result<_, Failure> = reproduction.runs.work(&settings, None, &runner, &|_, _| {});
    assert_eq!(came.unwrap().failed, 0);
    (reproduction.conclude(), count.load(Ordering::Relaxed))
}

#[test]
fn a_paper_is_added_by_adding_a_folder() {
    let dir = folder("added");
    let library = library(&dir);
    let papers = library.papers();
    assert!(papers.contains(&"queues1900".to_owned()) && papers.contains(&"wang2005".to_owned()), "{papers:?}");
    let mut reproduction = Reproduction::prepare(&library, "queues1900", &[], false).unwrap();
    let (rows, runs) = work(&mut reproduction);
    // Two set-ups with three seeds; the third has the same scenario as one of them.
    assert_eq!(runs, 6);
    let json = serde_json::to_value(&rows).unwrap();
    assert_eq!(json["paper"], "queues1900");
    let ids: Vec<&str> = json["rows"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap()).collect();
    let expected = ["900.fig1.five", "900.fig1.both", "900.fig1.order", "900.table1.nobody", "900.fig1.aside"];
    assert_eq!(ids, expected, "every output row, in the order of the table, and no input");
    let row = |i: usize| &json["rows"][i];
    let keys: Vec<&String> = row(0).as_object().unwrap().keys().collect();
    let contract = ["id", "unit", "paper", "accept", "ours", "kind", "origin", "verdict", "scenario", "note"];
    assert_eq!(keys, contract);
    assert_eq!(row(0)["ours"].as_object().unwrap().keys().collect::<Vec<_>>(), ["mean", "std", "ci99", "n"]);
    let mean = row(0)["ours"]["mean"].as_f64().unwrap();
    assert!((mean - 5.008).abs() < 1e-12 && row(0)["ours"]["n"] == 3, "{mean}");
    assert_eq!((row(0)["origin"].as_str(), row(0)["verdict"].as_str()), (Some("calibrated"), Some("within")));
    assert_eq!((row(1)["paper"].to_string().as_str(), row(1)["verdict"].as_str()), ("[5,3]", Some("within")));
    assert_eq!(row(1)["ours"]["mean"].as_array().unwrap().len(), 2);
    assert_eq!((row(2)["paper"].is_null(), row(2)["ours"]["mean"].is_null()), (true, true));
    assert_eq!((row(2)["accept"].as_str(), row(2)["verdict"].as_str()), (Some("five > three"), Some("holds")));
    assert!(row(2)["note"].as_str().unwrap().contains(". as it must. Calibrated: "));
    assert_eq!((row(3)["verdict"].as_str(), row(3)["ours"]["mean"].is_null()), (Some("missing"), true));
    assert_eq!((row(4)["verdict"].as_str(), row(4)["origin"].as_str()), (Some("context"), Some("predicted")));
    assert_eq!(row(4)["scenario"], "queues.toml");
}

#[test]
fn the_short_version_and_a_selection_run_less() {
    let dir = folder("less");
    let library = library(&dir);
    let mut quick = Reproduction::prepare(&library, "queues1900", &[], true).unwrap();
    assert_eq!(work(&mut quick).1, 4);
    let mut one = Reproduction::prepare(&library, "queues1900", &["fig1.five".to_owned()], true).unwrap();
    let (rows, _) = work(&mut one);
    assert_eq!(rows.rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["900.fig1.five"]);
    for (id, count) in [("fig1", 4), ("900.fig1", 4), ("900", 5), ("table1", 1)] {
        let selected = Reproduction::prepare(&library, "queues1900", &[id.to_owned()], true).unwrap().conclude();
        assert_eq!(selected.rows.len(), count, "{id}");
    }
}

#[test]
fn seeds_are_counted_from_the_papers_first() {
    let dir = folder("seeds");
    let trials =
        "set = [\"radio.queue=5\", \"run.replications=1\"]\nwhole = true\neach = { key = \"run.seed\", seeds = 2 }";
    let figures = FIGURES
        .replacen("schema = 1", "schema = 1\nseed = 70", 1)
        .replacen("set = [\"radio.queue=5\"]", trials, 1)
        .replacen("\"same:flow", "\"same.2:flow", 1);
    dir.write("papers/queues1900/figures.toml", &figures);
    let library = library(&dir);
    // Five packets of queue and a bit for the seed: the second trial, and the mean of seeds 70 to 72 or 70 and 71.
    for (quick, trial, mean) in [(false, 5.071, 5.071), (true, 5.071, 5.0705)] {
        let mut reproduction = Reproduction::prepare(&library, "queues1900", &[], quick).unwrap();
        let json = serde_json::to_value(work(&mut reproduction).0).unwrap();
        let of = |value: &serde_json::Value| value.as_f64().unwrap();
        assert!((of(&json["rows"][0]["ours"]["mean"]) - trial).abs() < 1e-9, "{json}");
        assert!((of(&json["rows"][1]["ours"]["mean"][0]) + 0.008 - mean).abs() < 1e-9, "{json}");
    }
}

#[test]
fn a_run_that_fails_makes_its_rows_missing_and_no_others() {
    let dir = folder("fails");
    let mut reproduction = Reproduction::prepare(&library(&dir), "queues1900", &[], true).unwrap();
    let stop = AtomicBool::new(false);
    let settings = Settings { jobs: 1, recorded: Recorded::default(), stop: &stop };
    let runner = |job: &Job<'_>, _: &mut dyn FnMut(f64) -> bool| {
        let out = invented(job);
        if out.result.flows[0].goodput_bps < 4e6 { Err("it broke".to_owned()) } else { Ok(out) }
    };
    let came = reproduction.runs.work(&settings, None, &runner, &|_, _| {}).unwrap();
    assert_eq!((came.done, came.failed, came.left), (2, 2, 0));
    let rows = reproduction.conclude().rows;
    let verdicts: Vec<Standing> = rows.iter().map(|row| row.verdict).collect();
    let missing = Standing::Missing;
    assert_eq!(verdicts, [Standing::Within, missing, missing, missing, missing]);
    assert!(rows[1].note.contains("it broke"), "{}", rows[1].note);
}

#[test]
fn the_page_stands_alone_and_shows_everything() {
    let dir = folder("page");
    let mut reproduction = Reproduction::prepare(&library(&dir), "queues1900", &[], false).unwrap();
    let (rows, _) = work(&mut reproduction);
    let files = page::files(&reproduction, &rows, &Build::this());
    let target = dir.path().join("out");
    output::write_files(&target, &files).unwrap();
    output::write_files(&target, &files).unwrap();
    let page = std::fs::read_to_string(target.join("report.html")).unwrap();
    for part in [
        "Queues &amp; their &lt;lengths&gt;",
        "<svg",
        "class=\"pill within\"",
        "900.table1.nobody",
        "calibrated",
        "radio.queue=5",
    ] {
        assert!(page.contains(part), "{part} is not in the page");
    }
    for foreign in ["http://", "https://", "<script", "src=", "@import", "url("] {
        assert!(!page.contains(foreign), "the page needs something else: {foreign}");
    }
    assert_eq!(std::fs::read_to_string(target.join("rows.csv")).unwrap().lines().count(), 6);
}

#[test]
fn what_is_wrong_in_a_folder_is_said() {
    let cases = [
        ("\"same:flow", "\"sama:flow", "no run is called `sama`; did you mean `same`?"),
        (
            "900.fig1.five\", of",
            "900.fig1.fife\", of",
            "no output row is called `900.fig1.fife`; did you mean `900.fig1.five`?",
        ),
        ("q.five:flow.f.goodput_bps > q.three:flow.f.goodput_bps", "q.five:x", "an ordering takes a relation"),
        ("\"same:flow.f.goodput_bps\"", "\"1 > same:x\"", "a value takes a value"),
        ("runs = [\"q.five\"]", "runs = [\"q.fiv\"]", "no run is called `q.fiv`; did you mean `q.five`?"),
        ("runs = [\"q.five\"]", "settings = [[\"radio.queue=6\"]]", "no run has the settings [radio.queue=6]"),
        ("runs = [\"q.five\"]", "runs = [\"q.five\"]\nmetrics = [\"drops.*\"]", "no row follows from it"),
        ("max(course", "maxx(course", "`maxx` is no function"),
        ("title = \"Goodput", "titel = \"Goodput", "unknown field `titel`"),
        ("schema = 1", "schema = 2", "schema 2 is not known"),
        ("name = \"same\"", "name = \"q.five\"", "two runs are called `q.five`"),
        ("queues.toml\"\nset", "none.toml\"\nset", "papers/queues1900/none.toml: there is no such file"),
        ("queues.toml\"\nset", "../queues.toml\"\nset", "not a path within the library"),
    ];
    let dir = folder("wrong");
    for (from, to, said) in cases {
        assert!(FIGURES.contains(from), "{from}");
        dir.write("papers/queues1900/figures.toml", &FIGURES.replacen(from, to, 1));
        let wrong = Reproduction::prepare(&library(&dir), "queues1900", &[], false).unwrap_err();
        assert!(wrong.contains(said), "{wrong}\n  does not say\n{said}");
    }
}

#[test]
fn unknown_names_get_the_nearest() {
    let library = Library::embedded();
    let wrong = Reproduction::prepare(&library, "wang2004", &[], false).unwrap_err();
    assert!(wrong.contains("did you mean `wang2005`?"), "{wrong}");
    let wrong = Reproduction::prepare(&library, "wang2005", &["fig112".to_owned()], false).unwrap_err();
    assert!(wrong.contains("did you mean `fig12`?"), "{wrong}");
}

/// Every output row of every paper in the binary is computed by a formula whose runs resolve. The short versions are
/// computed whole, beside the committed rows.
#[test]
fn every_row_of_the_papers_is_covered() {
    let library = Library::embedded();
    for name in library.papers() {
        let paper = Paper::read(&library, &name).unwrap();
        let uncovered: Vec<&str> =
            paper.rows.iter().filter(|o| o.formula.is_none()).map(|o| o.row.id.as_str()).collect();
        assert!(uncovered.is_empty(), "{name}: {uncovered:?}");
        let reproduction = Reproduction::prepare(&library, &name, &[], false).unwrap();
        let wrong: Vec<String> = reproduction.runs.said().into_iter().filter_map(|said| said.wrong).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
    }
}

const MODELS: &str = r#"
schema = 1
[paper]
code = "901"
title = "Slots"
authors = "Nobody"
source = "1901"

[[run]]
name = "five"
scenario = "queues.toml"
set = ["run.replications=3", "radio.queue.limit=5"]

[[model]]
name = "two"
model = "slots"
with = { duty = ["1/2", "1/2"], slot = "10 ms" }
each = { key = "delay", from = 5, to = 15, step = 5, unit = "ms" }

[[figure]]
id = "fig1"
where = "Figure 1"
title = "Models"
line = [{ label = "rtt", of = "two.*:no_policy.ap1.rtt_s", x = [5, 10, 15] }]
row = [
  { id = "901.period", of = "two.5:period_s" },
  { id = "901.order", of = "two.15:no_policy.ap1.rtt_s > two.5:no_policy.ap1.rtt_s" },
]
"#;

const MODELS_REFERENCE: &str = r#"
[[result]]
id = "901.period"
paper = "901"
where = "Figure 1"
scenario = "two"
metric = "period"
unit = "ms"
value = 20.0
tol_rel = 0.0
kind = "exact"
source = "paper"

[[result]]
id = "901.order"
paper = "901"
where = "Figure 1"
scenario = "two"
metric = "round trip"
unit = "-"
relation = "a longer wire takes longer"
kind = "ordering"
source = "paper"
"#;

#[test]
fn rows_are_computed_by_models_without_a_run() {
    let dir = folder("models");
    dir.write("papers/slots1901/figures.toml", MODELS);
    dir.write("papers/slots1901/reference.toml", MODELS_REFERENCE);
    let mut reproduction = Reproduction::prepare(&library(&dir), "slots1901", &[], false).unwrap();
    let (rows, runs) = work(&mut reproduction);
    assert_eq!(runs, 0, "no row needs the run");
    let verdicts: Vec<Standing> = rows.rows.iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [Standing::Within, Standing::Holds]);
    assert_eq!(rows.rows[0].scenario, "model slots");
    let page = page::html(&reproduction, &rows, &Build::this());
    assert!(page.contains("delay = 5 to 15 by 5 ms") && page.contains("<circle"), "the model is said and drawn");
}

#[test]
fn a_model_that_is_told_nonsense_is_refused_before_any_work() {
    let dir = folder("nonsense");
    dir.write("papers/slots1901/reference.toml", MODELS_REFERENCE);
    for (from, to, said) in [
        ("two.5:period_s", "three.5:period_s", "no run is called `three.5`"),
        ("slot = \"10 ms\"", "slot = \"0 s\"", "must be longer than 0"),
        ("name = \"two\"", "name = \"five\"", "two runs are called `five`"),
        (", of = \"two.5:period_s\"", "", "row 901.period: neither a formula nor a note"),
    ] {
        dir.write("papers/slots1901/figures.toml", &MODELS.replace(from, to));
        let wrong = Reproduction::prepare(&library(&dir), "slots1901", &[], false).unwrap_err();
        assert!(wrong.contains(said), "{wrong}");
    }
}
