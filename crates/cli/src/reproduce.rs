//! `airbraid reproduce`.

use crate::arguments::Reproduce;
use crate::columns::wrapped;
use crate::interrupt;
use crate::print::{Ended, INTERRUPTED, json, note, out};
use crate::progress::Progress;
use crate::table;
use airbraid_campaign::reproduce::{Library, Paper, Reproduction, Rows, Standing, WorkSummary, committed};
use airbraid_campaign::store::{self, Build, Store};
use airbraid_campaign::{Recorded, Settings, output, page, simulate};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Reproduces a paper and prints its rows.
pub fn reproduce(arguments: &Reproduce) -> Result<(), Ended> {
    let library = match &arguments.papers {
        Some(dir) => Library::with(dir).map_err(Ended::Argument)?,
        None => Library::embedded(),
    };
    let Some(paper) = &arguments.paper else { return list(&library) };
    let prepare = if arguments.rows.is_some() { Reproduction::prepare_rows } else { Reproduction::prepare };
    let prepared = prepare(&library, paper, &arguments.only, arguments.quick);
    let mut reproduction = prepared.map_err(Ended::Argument)?;
    // Before hours of work, not after them.
    let committed =
        arguments.rows.as_deref().map(|dir| find_committed(dir, &reproduction, arguments.renew)).transpose()?;
    let dir = target(arguments, paper)?;
    let mut store = open(arguments)?;
    let came = work(&mut reproduction, &mut store, arguments)?;
    let rows = reproduction.conclude();
    if let Some(dir) = dir {
        let files = page::files(&reproduction, &rows, &Build::this());
        output::write_files(&dir, &files).map_err(|e| Ended::Failed(format!("--out {}: {e}", dir.display())))?;
        note(&format!("written: {}", dir.join("report.html").display()));
    }
    if let (Some(committed), 0) = (committed, came.failed) {
        return committed_rows(&committed, &reproduction, &rows, arguments.renew);
    }
    if arguments.json {
        json(&rows)?;
    } else {
        out(&table::reproduction(&reproduction, &rows))?;
    }
    let missing = rows.rows.iter().any(|row| row.verdict == Standing::Missing);
    match came.failed {
        0 if missing => Err(Ended::Failed("some rows could not be computed; their notes say why".to_owned())),
        0 => Ok(()),
        n => Err(Ended::Failed(format!("{n} runs failed; the notes of their rows say why"))),
    }
}

/// Prints the papers that there are.
fn list(library: &Library) -> Result<(), Ended> {
    let about = |name: &String| {
        let paper = Paper::read(library, name).map_err(Ended::Argument)?;
        let lines = [paper.about.title, format!("{}, {}", paper.about.authors, paper.about.source)];
        let told: String = lines.iter().map(|line| wrapped(&format!("      {line}"), "      ")).collect();
        Ok(format!("  {name}\n{told}"))
    };
    let papers: Vec<String> = library.papers().iter().map(about).collect::<Result<_, Ended>>()?;
    out(&format!("{}\n`airbraid reproduce NAME --quick` is a first answer.\n", papers.concat()))
}

/// A file of committed rows, and its text if there is one.
struct Committed {
    file: PathBuf,
    text: Option<String>,
}

/// Finds the rows of a paper in a directory; only if they are renewed there may be none.
fn find_committed(dir: &Path, reproduction: &Reproduction, is_renewed: bool) -> Result<Committed, Ended> {
    let version = if reproduction.quick { "quick" } else { "full" };
    let file = dir.join(format!("{}.{version}.tsv", reproduction.paper.name));
    match std::fs::read_to_string(&file) {
        Ok(text) => Ok(Committed { file, text: Some(text) }),
        Err(e) if is_renewed && e.kind() == ErrorKind::NotFound => Ok(Committed { file, text: None }),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            Err(Ended::Argument(format!("--rows: {} is not there; --renew writes it", file.display())))
        }
        Err(e) => Err(Ended::Argument(format!("--rows: {}: {e}", file.display()))),
    }
}

/// Compares the rows with the committed ones, or writes them there.
fn committed_rows(
    Committed { file, text }: &Committed,
    reproduction: &Reproduction,
    rows: &Rows,
    is_renewed: bool,
) -> Result<(), Ended> {
    let failed = |e: &dyn std::fmt::Display| Ended::Failed(format!("{}: {e}", file.display()));
    let Some(text) = text.as_deref().filter(|_| !is_renewed) else {
        let text = committed::write(text.as_deref(), &reproduction.paper, rows).map_err(|e| failed(&e))?;
        file.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|e| failed(&e))?;
        std::fs::write(file, text).map_err(|e| failed(&e))?;
        return out(&format!("{}: {} rows written\n", file.display(), rows.rows.len()));
    };
    let differences =
        committed::compare(text, &reproduction.paper, &reproduction.only, rows).map_err(|e| failed(&e))?;
    if differences.is_empty() {
        return out(&format!("{}: {} rows are where they were\n", file.display(), rows.rows.len()));
    }
    let count = differences.len();
    out(&format!("{}\n", differences.join("\n")))?;
    Err(failed(&format!("{count} rows were moved; if that is meant, --renew writes the file again")))
}

/// Where the report goes: `--out`, or beside the reader unless it reads JSON.
fn target(arguments: &Reproduce, paper: &str) -> Result<Option<PathBuf>, Ended> {
    let dir = match &arguments.out {
        None if arguments.json || arguments.rows.is_some() => return Ok(None),
        None => PathBuf::from(format!("{paper}-report")),
        Some(dir) => dir.clone(),
    };
    output::check_target(&dir).map_err(|e| Ended::Argument(format!("--out {}: {e}", dir.display())))?;
    Ok(Some(dir))
}

fn open(arguments: &Reproduce) -> Result<Option<Store>, Ended> {
    if arguments.no_store {
        return Ok(None);
    }
    let Some(dir) = arguments.store.clone().or_else(store::default_dir) else {
        note("no run store: neither XDG_CACHE_HOME nor HOME is set; --store DIR names one");
        return Ok(None);
    };
    let (store, said) = Store::open(&dir, Build::this())
        .map_err(|e| Ended::Argument(format!("{e}; options: --store DIR, --no-store")))?;
    if let Some(said) = said {
        note(&format!("warning: {said}"));
    }
    Ok(Some(store))
}

/// Recalls and runs under a progress bar.
fn work(
    reproduction: &mut Reproduction,
    store: &mut Option<Store>,
    arguments: &Reproduce,
) -> Result<WorkSummary, Ended> {
    let stop = interrupt::flag();
    let mut found = 0;
    if let Some(store) = store {
        let recalled = reproduction.runs.recall(store).map_err(|e| Ended::Failed(e.to_string()))?;
        found = recalled.found;
        if recalled.damaged > 0 {
            let n = recalled.damaged;
            note(&format!(
                "warning: {n} results in {} do not fit their checksums; they are computed again",
                store.path().display()
            ));
        }
    }
    let total = reproduction.runs.total();
    if found > 0 {
        note(&format!("{found} of {total} runs are in the store"));
    }
    let progress = Progress::new(reproduction.runs.waiting());
    let settings = Settings { jobs: arguments.jobs.map_or(0, usize::from), recorded: Recorded::default(), stop: &stop };
    let came = reproduction.runs.work(&settings, store.as_mut(), &simulate, &|run, share| progress.report(run, share));
    progress.finish();
    let came = came.map_err(|failure| Ended::Failed(failure.to_string()))?;
    if let Some(unkept) = &came.unkept {
        note(&format!("warning: results are no longer kept: {unkept}"));
    }
    if came.left == 0 {
        return Ok(came);
    }
    let done = total - came.left;
    note(&match store {
        Some(store) if came.unkept.is_none() => {
            format!(
                "stopped: {done} of {total} runs are kept in {}; the same command goes on from there",
                store.path().display()
            )
        }
        _ => format!("stopped: {done} of {total} runs were done, and nothing is kept without a store"),
    });
    Err(Ended::Silent(INTERRUPTED))
}
