//! The names of the files of `--out DIR` that others read.

/// The result of a run as the contract of `--json` has it.
pub const SUMMARY: &str = "summary.json";
/// The samples of the first replication of each cell.
pub const COURSES: &str = "courses.json";
/// The result of a reproduction as the contract of `--json` has it.
pub const ROWS: &str = "rows.json";
/// The page of a run or a reproduction.
pub const REPORT: &str = "report.html";
