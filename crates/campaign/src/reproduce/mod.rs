//! Reproductions of papers: runs and models, the computation of each row of the reference table from them, its verdict,
//! and the page that shows it.
//!
//! A paper is a folder of data; nothing here knows any paper. The steps are those of [`Reproduction`]: prepare, recall
//! what the store has, work, conclude. Nothing is printed here.

pub mod committed;
pub mod evaluate;
pub mod formula;
pub mod judge;
pub mod library;
pub mod models;
pub mod paper;
pub mod reference;
pub mod rows;
pub mod runs;

pub use judge::Ours;
pub use library::Library;
pub use paper::{Origin, Paper};
pub use reference::Standing;
pub use rows::{Row, Rows};
pub use runs::{CacheHits, RunRecord, Runs, WorkSummary};

use formula::Needs;

/// A paper with the selected rows and their runs.
#[derive(Debug)]
pub struct Reproduction {
    pub paper: Paper,
    /// Its runs: recall them from a store, then let them work.
    pub runs: Runs,
    /// The selection; empty: everything.
    pub only: Vec<String>,
    /// Whether it is the short version.
    pub quick: bool,
}

impl Reproduction {
    /// Reads the paper and resolves the runs that `only` needs.
    ///
    /// # Errors
    /// There is no such paper, figure or row, with the nearest name; or the paper's folder is wrong.
    pub fn prepare(library: &Library, name: &str, only: &[String], quick: bool) -> Result<Self, String> {
        Self::resolve(library, name, (only, true), quick)
    }

    /// As [`prepare`](Self::prepare), without the runs that only figures need.
    ///
    /// # Errors
    /// As there.
    pub fn prepare_rows(library: &Library, name: &str, only: &[String], quick: bool) -> Result<Self, String> {
        Self::resolve(library, name, (only, false), quick)
    }

    fn resolve(
        library: &Library,
        name: &str,
        (only, has_figures): (&[String], bool),
        quick: bool,
    ) -> Result<Self, String> {
        let paper = Paper::read(library, name)?;
        paper.check_only(only)?;
        let mut needs = Needs::default();
        for (i, output) in paper.rows.iter().enumerate() {
            if paper.selects(only, i) {
                output.formulas().for_each(|formula| needs.extend(formula.needs()));
            }
        }
        for (i, figure) in paper.figures.iter().enumerate() {
            if has_figures && shows(&paper, only, i) {
                needs.extend(figure.plot.needs());
            }
        }
        let runs = Runs::resolve(&paper, library, &needs, quick)?;
        Ok(Self { paper, runs, only: only.to_vec(), quick })
    }

    /// The rows, when the work is done.
    pub fn conclude(&mut self) -> Rows {
        self.runs.gather();
        Rows::of(&self.paper, &self.only, &self.runs)
    }

    /// Whether figure number `index` is shown.
    pub fn shows(&self, index: usize) -> bool {
        shows(&self.paper, &self.only, index)
    }
}

/// A figure is shown if it is selected, or one of its rows.
fn shows(paper: &Paper, only: &[String], index: usize) -> bool {
    let named = only.iter().any(|id| *id == paper.figures[index].id);
    let of_row = |(i, output): (usize, &paper::Output)| output.figure == Some(index) && paper.selects(only, i);
    only.is_empty() || named || paper.rows.iter().enumerate().any(of_row)
}
