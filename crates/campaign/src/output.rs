//! The files of `--out DIR`: of a run `report.html`, `summary.json`, series as CSV, samples, `plot.svg`, timelines and
//! captures; of a reproduction the files of its page.
//!
//! All are written into a [`Scratch`] directory, which then takes the place of DIR.

use crate::files::{COURSES, SUMMARY};
pub use crate::files::{REPORT, ROWS};
use crate::page;
use crate::report::Results;
use crate::scratch::{Scratch, beside, cell_name, file_name};
use crate::stored::Stored;
use airbraid_sim::RunOutput;
use airbraid_sim::result::TrunkResult;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Error, ErrorKind, Result, Write as _};
use std::path::{Path, PathBuf};

/// The files that identify an older result.
const KNOWN: [&str; 2] = [SUMMARY, ROWS];

/// Refuses a DIR that could not be replaced: it exists and is neither empty nor an older result.
///
/// # Errors
/// Says what stands there instead.
pub fn check_target(dir: &Path) -> Result<()> {
    if dir.file_name().is_none() {
        return Err(Error::new(ErrorKind::InvalidInput, "name a directory to make, such as results/run1"));
    }
    match std::fs::symlink_metadata(dir) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
        Ok(m) if !m.is_dir() => Err(Error::new(ErrorKind::AlreadyExists, "there is a file of that name")),
        Ok(_) if KNOWN.iter().any(|name| dir.join(name).is_file()) => Ok(()),
        Ok(_) if std::fs::read_dir(dir)?.next().is_none() => Ok(()),
        Ok(_) => {
            let message = "the directory holds something else than a result of airbraid; name a new one";
            Err(Error::new(ErrorKind::AlreadyExists, message))
        }
    }
}

/// Writes everything to `dir`; `outcomes` has the runs by cell, `pictures` names and texts of drawings.
///
/// # Errors
/// The file system's error, or [`check_target`]; `dir` is then as it was.
pub fn write(dir: &Path, results: &Results, outcomes: &[Vec<RunOutput>], pictures: &[(String, String)]) -> Result<()> {
    check_target(dir)?;
    write_into(Scratch::new(dir)?, results, outcomes, pictures)
}

/// The same into a directory that has recordings already, which then takes its place.
///
/// # Errors
/// The file system's error.
pub fn write_into(
    scratch: Scratch,
    results: &Results,
    outcomes: &[Vec<RunOutput>],
    pictures: &[(String, String)],
) -> Result<()> {
    write_texts(scratch.path(), pictures)?;
    fill(scratch.path(), results, outcomes)?;
    if results.made.is_some() {
        report(scratch.path())?;
    }
    scratch.finish()
}

fn write_texts(dir: &Path, files: &[(String, String)]) -> Result<()> {
    files.iter().try_for_each(|(name, text)| std::fs::write(dir.join(name), text))
}

/// Writes files, names and texts, to `dir`.
///
/// # Errors
/// As [`write()`].
pub fn write_files(dir: &Path, files: &[(String, String)]) -> Result<()> {
    check_target(dir)?;
    let scratch = Scratch::new(dir)?;
    write_texts(scratch.path(), files)?;
    scratch.finish()
}

/// Writes one file: it is the old one or the new one, never a half.
///
/// # Errors
/// The file system's error; `file` is then as it was.
pub fn write_file(file: &Path, text: &str) -> Result<()> {
    if file.file_name().is_none() || file.is_dir() {
        return Err(Error::new(ErrorKind::InvalidInput, "name a file to write, such as plan.svg"));
    }
    let partial = beside(file, "partial");
    let written = std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, file));
    written.inspect_err(|_| {
        let _ = std::fs::remove_file(&partial);
    })
}

fn fill(dir: &Path, results: &Results, outcomes: &[Vec<RunOutput>]) -> Result<()> {
    write_summary(&dir.join(SUMMARY), results)?;
    std::fs::write(dir.join("flows.csv"), flows_csv(results))?;
    if results.cells.iter().flat_map(|c| &c.runs).flat_map(|run| &run.trunks).any(|trunk| trunk.radios().is_some()) {
        std::fs::write(dir.join("trunks.csv"), trunks_csv(results))?;
    }
    let courses: Vec<_> = outcomes.iter().map(|runs| runs.first().and_then(|run| run.courses.as_ref())).collect();
    if courses.iter().any(Option::is_some) {
        std::fs::write(dir.join(COURSES), serde_json::to_string(&courses)? + "\n")?;
    }
    for (number, runs) in outcomes.iter().enumerate() {
        let place = if outcomes.len() == 1 { dir.to_owned() } else { dir.join(cell_name(number)) };
        for run in runs {
            recordings(&place, run)?;
        }
    }
    Ok(())
}

/// Largest number of runs whose summary is laid out for a person; that of more is half as long without.
const LAID_OUT_MAX: usize = 100;

fn write_summary(file: &Path, results: &Results) -> Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    if results.cells.iter().map(|cell| cell.runs.len()).sum::<usize>() > LAID_OUT_MAX {
        serde_json::to_writer(&mut out, results)?;
    } else {
        serde_json::to_writer_pretty(&mut out, results)?;
    }
    out.write_all(b"\n")?;
    out.flush()
}

/// Writes the report of the result in `dir` into it, and gives its path.
///
/// # Errors
/// There is no result that can be shown, or the file system's error.
pub fn report(dir: &Path) -> Result<PathBuf> {
    let stored = Stored::read(dir).map_err(|why| Error::new(ErrorKind::InvalidData, why))?;
    let file = dir.join(REPORT);
    write_file(&file, &page::run::html(&stored))?;
    Ok(file)
}

fn recordings(place: &Path, run: &RunOutput) -> Result<()> {
    for file in &run.files {
        // Without bytes it is there already.
        if let Some(bytes) = &file.bytes {
            std::fs::create_dir_all(place)?;
            std::fs::write(place.join(file_name(&file.name)), bytes)?;
        }
    }
    Ok(())
}

// --- CSV: one value a line, swept keys as columns, units in the names
// -------------------------------------------------

fn flows_csv(results: &Results) -> String {
    let mut out = header(results, "flow,time_s,goodput_bps");
    for (number, cell) in results.cells.iter().enumerate() {
        let lead = lead(number, cell);
        for run in &cell.runs {
            for flow in &run.flows {
                for (i, goodput) in flow.series.goodput_bps.iter().enumerate() {
                    let time = (i + 1) as f64 * flow.series.interval_s;
                    let _ = writeln!(out, "{lead},{},{},{time},{goodput}", run.seed, field(&flow.name));
                }
            }
        }
    }
    out
}

fn trunks_csv(results: &Results) -> String {
    let mut out = header(results, "trunk,from,to,time_s,reorder_timer_s");
    for (number, cell) in results.cells.iter().enumerate() {
        let lead = lead(number, cell);
        for run in &cell.runs {
            for trunk in run.trunks.iter().filter_map(TrunkResult::radios) {
                let names = [&trunk.name, &trunk.from, &trunk.to].map(|n| field(n)).join(",");
                for (i, timer) in trunk.series.reorder_timer_s.iter().enumerate() {
                    let time = (i + 1) as f64 * trunk.series.interval_s;
                    let _ = writeln!(out, "{lead},{},{names},{time},{timer}", run.seed);
                }
            }
        }
    }
    out
}

fn header(results: &Results, columns: &str) -> String {
    let swept = results.cells.first().map(|cell| &cell.set[..]).unwrap_or_default();
    let swept: String = swept.iter().map(|(key, _)| format!("{},", field(key))).collect();
    format!("cell,{swept}seed,{columns}\n")
}

fn lead(number: usize, cell: &crate::report::CellResult) -> String {
    let values = cell.set.iter().map(|(_, value)| match value {
        serde_json::Value::String(text) => format!(",{}", field(text)),
        other => format!(",{}", field(&other.to_string())),
    });
    format!("{number}{}", values.collect::<String>())
}

/// A field of RFC 4180: quoted where it must be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
