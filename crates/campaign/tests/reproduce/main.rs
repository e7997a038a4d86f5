//! Reproductions end to end with invented papers and invented runs, and the store under them.

mod committed;
mod contract;
mod folder;
mod store;
mod verdicts;

use airbraid_campaign::Job;
use airbraid_sim::RunOutput;
use airbraid_sim::result::{FlowResult, FlowSeries, RunResult};
use std::path::{Path, PathBuf};

/// A directory of one test that is empty and goes away with it.
pub struct Empty(PathBuf);

impl Empty {
    pub fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("airbraid-reproduce-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
    /// Writes a file in it, and the directories on the way.
    pub fn write(&self, path: &str, text: &str) {
        let file = self.0.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
}

impl Drop for Empty {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A run whose goodput is the queue's length in Mbit/s and a bit for the seed.
pub fn invented(job: &Job<'_>) -> RunOutput {
    let dcf = job.spec.nodes[0].radios[0].mac.dcf().unwrap();
    let goodput_bps = f64::from(dcf.queue_limit) * 1e6 + job.seed as f64 * 1e3;
    let series = FlowSeries {
        interval_s: 1.0,
        goodput_bps: vec![goodput_bps / 3.0, goodput_bps, goodput_bps],
        ..FlowSeries::default()
    };
    let flow = FlowResult { name: "f".into(), transport: "tcp", goodput_bps, series, ..FlowResult::default() };
    let result = RunResult { seed: job.seed, duration_s: 3.0, events: 1, flows: vec![flow], ..RunResult::default() };
    RunOutput { result, files: Vec::new(), courses: None }
}

/// The scenario that the invented papers run.
pub const SCENARIO: &str = r#"
schema = 1
title = "invented"
question = "what?"
run = { duration = "3 s", seed = 7 }
node = [{ name = "a", position = ["0 m", "0 m"], radios = [1] }, { name = "b", position = ["9 m", "0 m"], radios = [1] }]
flow = [{ name = "f", from = "a", to = "b" }]
"#;

/// Its reference table: one row of each kind.
pub const REFERENCE: &str = r#"
[[result]]
id = "900.input"
paper = "900"
where = "section 1"
scenario = "set-up"
metric = "distance"
unit = "m"
value = 9
tol_rel = 0.0
kind = "exact"
source = "paper"
use = "input"

[[result]]
id = "900.fig1.five"
paper = "900"
where = "Fig. 1"
scenario = "queue of five"
metric = "goodput"
unit = "Mbps"
value = 5.0
tol_rel = 0.01
kind = "approx"
source = "paper"

[[result]]
id = "900.fig1.both"
paper = "900"
where = "Fig. 1"
scenario = "queues"
metric = "goodput"
unit = "Mbps"
value = [5, 3]
kind = "exact"
source = "paper"

[[result]]
id = "900.fig1.order"
paper = "900"
where = "Fig. 1"
scenario = "queues"
metric = "goodput"
unit = "-"
relation = "five > three"
kind = "ordering"
source = "paper"

[[result]]
id = "900.table1.nobody"
paper = "900"
where = "Table 1"
scenario = "unknown"
metric = "anything"
unit = "s"
value = 1.0
factor = 3.0
kind = "approx"
source = "paper"

[[result]]
id = "900.fig1.aside"
paper = "900"
where = "Fig. 1"
scenario = "queue of three"
metric = "goodput"
unit = "Mbps"
value = 9.0
tol_rel = 0.1
kind = "approx"
source = "paper"
use = "context"
"#;

/// The formulas of its rows.
pub const FIGURES: &str = r#"
schema = 1
[paper]
code = "900"
title = "Queues & their <lengths>"
authors = "N. Obody"
source = "Nowhere 1900"
[full]
set = ["run.replications=3"]
[quick]
set = ["run.replications=2"]
[[run]]
name = "q"
scenario = "queues.toml"
cells = [["five", "radio.queue=5"], ["three", "radio.queue=3"]]
[[run]]
name = "same"
scenario = "queues.toml"
set = ["radio.queue=5"]
[[calibration]]
what = "the queue, to the goodput of five"
runs = ["q.five"]
[[figure]]
id = "fig1"
where = "Figure 1"
title = "Goodput over the queue"
x = "queue"
y = "goodput"
unit = "Mbps"
line = [{ label = "ours", of = "q.*:flow.f.goodput_bps", x = [5, 3], paper = [[5, 5], [3, 3]] }]
row = [
  { id = "900.fig1.five", of = "same:flow.f.goodput_bps" },
  { id = "900.fig1.both", of = "q.*:flow.f.goodput_bps - 0.008e6" },
  { id = "900.fig1.order", of = "q.five:flow.f.goodput_bps > q.three:flow.f.goodput_bps", note = "as it must" },
  { id = "900.fig1.aside", of = "max(course(q.three:flow.f.goodput_bps, 1, 3))" },
]
"#;

/// The folder of the invented paper.
pub fn folder(name: &str) -> Empty {
    let dir = Empty::new(name);
    dir.write("papers/queues1900/reference.toml", REFERENCE);
    dir.write("papers/queues1900/figures.toml", FIGURES);
    dir.write("papers/queues1900/queues.toml", SCENARIO);
    dir
}
