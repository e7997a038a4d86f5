//! The table at the end of `docs/models/tunnel.md` holds every constant of the bond with its value, and nothing else.

use airbraid_tests::house::lines::{is_of_tests, split_tests};
use airbraid_tests::house::{sources, text};
use airbraid_tests::root;
use std::collections::BTreeMap;

/// The sources whose constants the table holds.
const SOURCES: &str = "crates/engine/src/trunk/bonding";
/// The page.
const PAGE: &str = "docs/models/tunnel.md";
/// The first row of the table.
const HEAD: &str = "| name | value | unit | file | source or derivation |";
/// Constructors of durations, with their units.
const DURATIONS: [(&str, &str); 4] =
    [("from_nanos", "ns"), ("from_micros", "us"), ("from_millis", "ms"), ("from_secs", "s")];

/// Value and unit of each constant, by file and name.
type Constants = BTreeMap<(String, String), (String, String)>;

/// The name in a line that begins a constant, and the rest behind it.
fn constant(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let behind = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let (name, rest) = behind.strip_prefix("const ")?.split_once(':')?;
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.chars().all(is_name).then_some((name, rest))
}

/// A value as the table has it: an expression in one line, or the number of a duration and its unit.
fn normal(expression: &str) -> (String, Option<&'static str>) {
    let words: Vec<&str> = expression.split_whitespace().collect();
    let line = words.join(" ").replace("[ ", "[").replace(", ]", "]");
    for (constructor, unit) in DURATIONS {
        let inside = line.strip_prefix("Duration::").and_then(|rest| rest.strip_prefix(constructor));
        if let Some(number) = inside.and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')')) {
            return (number.to_owned(), Some(unit));
        }
    }
    (line, None)
}

/// Adds the constants of one file.
fn collect(file: &str, source: &str, found: &mut Constants) {
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let Some((name, rest)) = constant(line) else { continue };
        let mut whole = rest.to_owned();
        while !whole.trim_end().ends_with(';') {
            whole.push(' ');
            whole.push_str(lines.next().expect("a constant ends"));
        }
        let (_, expression) = whole.split_once(" = ").expect("a constant has a value");
        let (value, unit) = normal(expression.trim().trim_end_matches(';'));
        found.insert((file.to_owned(), name.to_owned()), (value, unit.unwrap_or("").to_owned()));
    }
}

/// The constants of the sources, without those of tests.
fn of_sources() -> Constants {
    let folder = root().join(SOURCES);
    let mut found = Constants::new();
    for path in sources(&folder) {
        let file = path.strip_prefix(&folder).unwrap();
        if !is_of_tests(file) {
            collect(&file.to_string_lossy(), split_tests(&text(&path)).0, &mut found);
        }
    }
    found
}

/// The cells of a row, without their quotes.
fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_matches('|').split(" | ").map(|cell| cell.trim().trim_matches('`')).collect()
}

#[test]
fn the_table_of_the_bond_holds_each_constant_with_its_value() {
    let mut expected = of_sources();
    assert!(expected.len() > 100, "{} constants found in {SOURCES}", expected.len());
    let page = text(&root().join(PAGE));
    let (_, table) = page.split_once(HEAD).unwrap_or_else(|| panic!("{PAGE} lacks the table \"{HEAD}\""));
    let mut wrong = Vec::new();
    for row in table.lines().skip(2) {
        let cells = cells(row);
        let [name, value, unit, file, source] = cells[..] else {
            wrong.push(format!("not a row of five cells: {row}"));
            continue;
        };
        match expected.remove(&(file.to_owned(), name.to_owned())) {
            None => wrong.push(format!("{name} of {file} is no constant, or stands there twice")),
            Some((number, _)) if number != value => wrong.push(format!("{name} of {file} is {number}, not {value}")),
            Some((_, of_time)) if !of_time.is_empty() && of_time != unit => {
                wrong.push(format!("{name} of {file} is in {of_time}, not in {unit}"));
            }
            Some(_) if unit.is_empty() || source.is_empty() => wrong.push(format!("{name} of {file} lacks a cell")),
            Some(_) => {}
        }
    }
    wrong.extend(
        expected.iter().map(|((file, name), (value, unit))| format!("missing: {name} of {file}, {value} {unit}")),
    );
    assert!(wrong.is_empty(), "{PAGE}: {wrong:#?}");
}

#[test]
fn constants_are_found_in_all_their_forms() {
    let source = "const A: u32 = 1 << 2;\n    pub(super) const B_2: Duration = Duration::from_millis(1_500);\n\
                  pub const C: [u64; 3] = [\n    1, 2,\n    3,\n];\npub const fn new() -> Self {\nlet const_a: u8 = 1;\n";
    let mut found = Constants::new();
    collect("x.rs", source, &mut found);
    let shown: Vec<String> = found.iter().map(|((_, name), (value, unit))| format!("{name} {value} {unit}")).collect();
    assert_eq!(shown, ["A 1 << 2 ", "B_2 1_500 ms", "C [1, 2, 3] "]);
}
