//! Sweeps and replications over cores: from a plan to results, their statistics, files and plots.
//!
//! A run is a value and knows nothing of threads; here they are put onto a pool, one run a task, and their results into
//! the order of the plan, whatever order they finished in. Nothing here decides what a run computes.

pub mod airtime;
mod beside;
mod drawing;
pub mod earlier;
pub mod efficiency;
pub mod execute;
pub mod files;
pub mod made;
pub mod map;
pub mod output;
pub mod page;
pub mod plot;
pub mod report;
pub mod reproduce;
pub mod saturation;
pub mod scratch;
pub mod slots;
pub mod statistics;
pub mod store;
pub mod stored;
pub mod verdict;

pub use earlier::Earlier;
pub use execute::{Done, Failure, Job, Recorded, Runner, Settings, execute, execute_until_stopped, simulate};
pub use made::Made;
pub use report::{CellResult, Results};
pub use stored::Stored;
pub use verdict::{Verdict, judge, judge_by};
