//! Tables of the reference pages, made of the declarations: text between two markers of a Markdown file.

use super::{Declared, FAMILIES};
use std::fmt::Write as _;

/// Begins what is generated.
pub const BEGIN: &str = "<!-- generated: begin -->\n";
/// Ends it.
pub const END: &str = "<!-- generated: end -->\n";

/// Returns `page` with `text` between its markers; none if it has none.
pub fn renew(page: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{text}{END}{after}"))
}

/// Returns a table for each family of a run's metrics.
pub fn table() -> String {
    let mut text = String::new();
    for family in &FAMILIES {
        let _ = write!(text, "\n### `{}`: {}\n\n", family.path(), family.of);
        text.push_str("| `[expect]` | JSON, columns | unit | description |\n|---|---|---|---|\n");
        text.push_str(&rows(&(family.declared)(), |declared| format!("`{}` | `{}`", declared.name(), declared.key)));
    }
    text.push('\n');
    text
}

/// Returns a row for each metric: what `names` says, unit, description.
pub fn rows(all: &[&Declared], names: impl Fn(&Declared) -> String) -> String {
    let row = |declared: &&Declared| {
        format!("| {} | {} | {} |\n", names(declared), declared.unit.word(), declared.text().replace('|', "\\|"))
    };
    all.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::{renew, table};
    use std::path::Path;

    #[test]
    fn the_reference_has_every_metric_of_a_run() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/metrics.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let now = renew(&page, &table()).expect("the page has both markers");
        if std::env::var_os("AIRBRAID_RENEW").is_some() {
            std::fs::write(&path, now).unwrap();
        } else {
            assert!(page == now, "docs/reference/metrics.md is old: `make reference` renews it");
        }
    }
}
