//! Measures a bond over all rates, delays, losses and changes, and prints Markdown tables with their worst rows.
//!
//! `make map` measures a sample of everything; `make map MAP="random --sets 300 --seeds 5"` all of one table. Runs are
//! kept in a run store (`out/map`), so that a call that was stopped goes on when it is repeated. Definitions:
//! `docs/measurements/map.md`.

mod alone;
mod bench;
mod cells;
mod draw;
mod member;
mod options;
mod random;
mod scene;
mod table;

use bench::{Bench, Task};
use clap::Parser;
use options::Common;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use table::Column;

/// Measures a bond over rates, delays, losses and changes
#[derive(Parser, Debug)]
struct Arguments {
    #[command(subcommand)]
    table: Table,
    /// Threads
    #[arg(long, global = true, default_value_t = 2)]
    jobs: usize,
    /// Seconds after which no row begins; rows that would take longer are left out
    #[arg(long, global = true)]
    budget: Option<u64>,
    /// Directory of the run store
    #[arg(long, global = true, default_value = "out/map")]
    store: PathBuf,
}

#[derive(clap::Subcommand, Debug)]
enum Table {
    /// One download over two members of all rates and delays
    Map(cells::Options),
    /// One download over random sets, beside an oracle
    Random(random::Options),
}

/// A table before it is measured.
struct Wanted<'a> {
    name: &'static str,
    common: &'a Common,
    columns: &'static [Column],
    /// Index of the column by which rows are the worst.
    by: usize,
    tasks: Vec<Task<'a>>,
}

impl Table {
    fn common(&mut self) -> &mut Common {
        match self {
            Self::Map(options) => &mut options.common,
            Self::Random(options) => &mut options.common,
        }
    }

    fn wanted(&self) -> Wanted<'_> {
        match self {
            Self::Map(options) => Wanted {
                name: "map",
                common: &options.common,
                columns: &cells::COLUMNS,
                by: 1,
                tasks: cells::tasks(options),
            },
            Self::Random(options) => Wanted {
                name: "random",
                common: &options.common,
                columns: &random::COLUMNS,
                by: 2,
                tasks: random::tasks(options),
            },
        }
    }
}

/// The number of today's draw: the days since 1970.
#[expect(clippy::disallowed_methods, reason = "the draw of a table, printed with it; no run sees the clock")]
fn today() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400)
}

/// Stops at the first Ctrl-C after the runs that are under way have ended, at the second at once.
fn stop_on_signal() -> &'static AtomicBool {
    static STOP: AtomicBool = AtomicBool::new(false);
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nstopping; finished runs are kept, once more ends at once");
    });
    &STOP
}

/// Measures and prints a table.
fn print(bench: &Bench, mut wanted: Wanted<'_>, command: &str) -> Result<(), String> {
    let only = &wanted.common.only;
    if !only.is_empty() {
        wanted.tasks.retain(|task| only.contains(&task.key));
    }
    let before = bench.spent();
    let Wanted { name, common, columns, by, tasks } = wanted;
    let (rows, left) = bench.measure(tasks)?;
    let spent = bench.spent();
    println!("## {name}\n");
    println!(
        "Draw {}, {} seeds, {} s of which the last {} count; {} rows, {left} left out (budget or stopped).",
        common.draw(),
        common.seeds,
        common.seconds,
        common.seconds - common.uncounted(),
        rows.len(),
    );
    println!(
        "{} runs, {} of them stored; {:.0} s of processor time, {:.2} us a packet.\n",
        spent.runs - before.runs,
        spent.stored - before.stored,
        spent.cpu_s - before.cpu_s,
        spent.packet_us(),
    );
    println!("{}", table::summary(columns, &rows));
    let count = if common.all { rows.len() } else { common.worst };
    println!("{}", table::worst(columns, &rows, by, count, command));
    Ok(())
}

/// The command line of `arguments` without what says which rows are printed.
fn command(arguments: impl IntoIterator<Item = String>, draw: u64) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--draw" | "--only" | "--budget" | "--jobs" | "--store" | "--worst" => drop(arguments.next()),
            "--all" => {}
            _ => words.push(word),
        }
    }
    format!("{} --draw {draw}", words.join(" "))
}

fn main() -> ExitCode {
    let Arguments { mut table, jobs, budget, store } = Arguments::parse();
    let draw = *table.common().draw.get_or_insert_with(today);
    let stop = stop_on_signal();
    let measured = Bench::open(&store, stop, jobs, budget.map(Duration::from_secs))
        .and_then(|bench| print(&bench, table.wanted(), &command(std::env::args().skip(1), draw)));
    match measured {
        Ok(()) if stop.load(Ordering::Relaxed) => ExitCode::from(130),
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
