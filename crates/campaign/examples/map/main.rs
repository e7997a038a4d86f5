//! Measures a bond over all rates, delays, losses and changes, and prints Markdown tables with their worst rows.
//!
//! `make map` measures a sample of everything; `make map MAP="random --sets 300 --seeds 5"` all of one table. Runs are
//! kept in a run store (`out/map`), so that a call that was stopped goes on when it is repeated. Definitions:
//! `docs/measurements/map.md`.

mod alone;
mod bench;
mod cells;
mod change;
mod draw;
mod many;
mod member;
mod options;
mod random;
mod rates;
mod scene;
mod short;
mod stream;
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
#[command(name = "map")]
struct Arguments {
    #[command(subcommand)]
    table: Table,
    /// Threads
    #[arg(long, global = true, default_value_t = 2)]
    jobs: usize,
    /// Seconds after which no row begins; rows that would take longer are left out
    #[arg(long, global = true)]
    budget: Option<u64>,
    /// Measure the bond alone: no best member, no oracle, no ideal link
    #[arg(long, global = true)]
    bond_only: bool,
    /// Directory of the run store
    #[arg(long, global = true, default_value = "out/map")]
    store: PathBuf,
}

#[derive(clap::Subcommand, Debug)]
enum Table {
    /// A sample of all tables but streams
    Sample(Sample),
    /// One download over two members of all rates and delays
    Map(cells::Options),
    /// One download over random sets, beside an oracle
    Random(random::Options),
    /// A download and a ping over members that change
    Change(change::Options),
    /// Many downloads and uploads over random sets: their sum, and how even they are
    Many(many::Options),
    /// Short transfers, alone and beside a download
    Short(short::Options),
    /// Datagrams at half of the members' rates over random sets
    Stream(stream::Options),
    /// Measured rates of members: when they are known, and for how many bytes
    Rates(rates::Options),
}

#[derive(clap::Args, Debug)]
struct Sample {
    /// Number of the draw of all tables. Default: another each day
    #[arg(long)]
    draw: Option<u64>,
}

/// The tables of a sample, each with its part of the budget in percent.
const SAMPLE: [(u32, &str); 8] = [
    (20, "map --cells 60 --rates-up-to 100"),
    (15, "map --cells 12 --cc cubic --seconds 30"),
    (10, "map --cells 16 --cc cubic --rates-up-to 100 --loss 0.1%,1%,burst5% --lossy-member drawn"),
    (15, "random --sets 12"),
    (10, "many --sets 6 --rates-up-to 60"),
    (10, "change --pairs 3"),
    (10, "short --sets 8 --rates-up-to 300"),
    (10, "rates --members 10"),
];

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
    fn draw(&mut self) -> &mut Option<u64> {
        match self {
            Self::Sample(options) => &mut options.draw,
            Self::Map(options) => &mut options.base.common.draw,
            Self::Random(options) => &mut options.base.common.draw,
            Self::Change(options) => &mut options.base.common.draw,
            Self::Many(options) => &mut options.base.common.draw,
            Self::Short(options) => &mut options.base.common.draw,
            Self::Stream(options) => &mut options.base.common.draw,
            Self::Rates(options) => &mut options.common.draw,
        }
    }

    /// The table; `None` for a sample of all.
    fn wanted(&self) -> Option<Wanted<'_>> {
        let (name, common, columns, by, tasks): (_, _, &[Column], _, _) = match self {
            Self::Sample(_) => return None,
            Self::Map(options) => ("map", &options.base.common, &cells::COLUMNS, 2, cells::tasks(options)),
            Self::Random(options) => ("random", &options.base.common, &random::COLUMNS, 2, random::tasks(options)),
            Self::Change(options) => ("change", &options.base.common, &change::COLUMNS, 0, change::tasks(options)),
            Self::Many(options) => ("many", &options.base.common, &many::COLUMNS, 1, many::tasks(options)),
            Self::Short(options) => ("short", &options.base.common, &short::COLUMNS, 0, short::tasks(options)),
            Self::Stream(options) => ("stream", &options.base.common, &stream::COLUMNS, 1, stream::tasks(options)),
            Self::Rates(options) => ("rates", &options.common, &rates::COLUMNS, 0, rates::tasks(options)),
        };
        Some(Wanted { name, common, columns, by, tasks })
    }
}

/// The number of today's draw: the days since 1970.
#[expect(clippy::disallowed_methods, reason = "the draw of a table, printed with it; no run sees the clock")]
fn today() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400)
}

/// Stops at the first Ctrl-C, at the second at once.
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
///
/// # Errors
/// The first message of a run that failed.
fn print(bench: &Bench, mut wanted: Wanted<'_>, command: &str) -> Result<(), String> {
    let only = &wanted.common.only;
    if !only.is_empty() {
        if let Some(key) = only.iter().find(|key| wanted.tasks.iter().all(|task| task.key != **key)) {
            return Err(format!("there is no row {key} with these options"));
        }
        wanted.tasks.retain(|task| only.contains(&task.key));
    }
    let before = bench.spent();
    let Wanted { name, common, columns, by, tasks } = wanted;
    let (rows, left) = bench.measure(tasks)?;
    let spent = bench.spent();
    println!("## {name}\n\n`{command}`\n");
    println!(
        "{} rows, mean of {} seeds; {left} rows left out (budget or stopped). {} runs, {} of them stored; {:.0} s of \
         processor time, {:.2} us for each packet that the links could carry.\n",
        rows.len(),
        common.seeds().len(),
        spent.runs - before.runs,
        spent.stored - before.stored,
        spent.cpu_s - before.cpu_s,
        spent.packet_us(),
    );
    println!("{}", table::summary(columns, &rows));
    let by = common.by.unwrap_or(by).min(columns.len() - 1);
    let count = if common.all { rows.len() } else { common.worst };
    println!("{}", table::worst(columns, &rows, by, count, command));
    Ok(())
}

/// The command line of `arguments` without what says which rows are measured and printed.
fn command(arguments: impl IntoIterator<Item = String>, draw: u64) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(word) = arguments.next() {
        let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        match name {
            "--draw" | "--only" | "--budget" | "--jobs" | "--store" | "--worst" | "--by" => {
                // The value is the next word unless it is in this one.
                if value.is_none() {
                    arguments.next();
                }
            }
            "--all" => {}
            _ => words.push(word),
        }
    }
    format!("{} --draw {draw}", words.join(" "))
}

/// Measures and prints the tables of a sample.
fn print_sample(bench: &mut Bench, draw: u64, budget: Option<u64>) -> Result<(), String> {
    for (part, text) in SAMPLE {
        let command = format!("{text} --draw {draw}");
        let words = ["map"].into_iter().chain(command.split(' '));
        let table = Arguments::try_parse_from(words).map_err(|error| error.to_string())?.table;
        bench.begin_budget(budget.map(|seconds| Duration::from_secs(seconds) * part / 100));
        if let Some(wanted) = table.wanted() {
            print(bench, wanted, &command)?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let Arguments { mut table, jobs, budget, bond_only, store } = Arguments::parse();
    let draw = *table.draw().get_or_insert_with(today);
    let stop = stop_on_signal();
    let measured = Bench::open(&store, stop, jobs).and_then(|mut bench| {
        bench.has_standards = !bond_only;
        bench.begin_budget(budget.map(Duration::from_secs));
        match table.wanted() {
            Some(wanted) => print(&bench, wanted, &command(std::env::args().skip(1), draw)),
            None => print_sample(&mut bench, draw, budget),
        }
    });
    match measured {
        Ok(()) if stop.load(Ordering::Relaxed) => ExitCode::from(130),
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_has_tables_that_exist_and_shares_its_budget_out() {
        for (_, text) in SAMPLE {
            let table = Arguments::try_parse_from(["map"].into_iter().chain(text.split(' '))).unwrap().table;
            assert!(table.wanted().is_some_and(|wanted| !wanted.tasks.is_empty()), "{text}");
        }
        assert_eq!(SAMPLE.iter().map(|(part, _)| part).sum::<u32>(), 100);
    }

    #[test]
    fn a_row_is_repeated_with_its_draw() {
        let words = "map --cells 60 --budget 9 --draw=3 --all --cc bbr".split(' ').map(str::to_owned);
        assert_eq!(command(words, 3), "map --cells 60 --cc bbr --draw 3");
    }
}
