//! Prints the measures of a source tree: `cargo run -p airbraid-tests --example house [ROOT]`.

use airbraid_tests::house::{imports, lines, sources, text};
use airbraid_tests::root;
use std::path::{Path, PathBuf};

fn main() {
    let root = std::env::args_os().nth(1).map_or_else(root, PathBuf::from);
    let mut crates: Vec<PathBuf> = match std::fs::read_dir(root.join("crates")) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect(),
        Err(error) => panic!("{}: {error}", root.display()),
    };
    crates.sort();
    print_lines(&crates);
    print_circles(&root, &crates);
    print_counts(&root.join("crates"));
}

fn print_lines(crates: &[PathBuf]) {
    println!("| crate | files | code | docs and comments | blank | tests |\n|---|---|---|---|---|---|");
    let mut sum = lines::Lines::default();
    for folder in crates {
        let lines::Lines { files, code, comments, blank, tests } = lines::count(folder);
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        println!("| {name} | {files} | {code} | {comments} | {blank} | {tests} |");
        sum.files += files;
        sum.code += code;
        sum.comments += comments;
        sum.blank += blank;
        sum.tests += tests;
    }
    println!("| all | {} | {} | {} | {} | {} |", sum.files, sum.code, sum.comments, sum.blank, sum.tests);
}

fn print_circles(root: &Path, crates: &[PathBuf]) {
    let circles: Vec<Vec<PathBuf>> = crates.iter().flat_map(|folder| imports::circles(&folder.join("src"))).collect();
    println!("\ncircles of imports between files: {}", circles.len());
    for circle in circles {
        let names: Vec<_> =
            circle.iter().map(|path| path.strip_prefix(root).unwrap_or(path).display().to_string()).collect();
        println!("  {}", names.join(" "));
    }
}

fn print_counts(crates: &Path) {
    let is_id = |line: &str| {
        let names = ["end", "radio", "node", "flow", "direction", "link", "trunk", "station", "neighbour", "tunnel"];
        names.iter().any(|name| {
            line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').any(|word| word == format!("{name}:"))
                && line.contains(&format!("{name}: u32"))
        })
    };
    let counts: [(&str, usize); 5] = [
        (
            "lines of documentation that begin with a clause (What, Who, Whose)",
            lines::all_matching(crates, lines::begins_with_a_clause).len(),
        ),
        ("lines over 120 columns", lines::all_matching(crates, lines::is_too_wide).len()),
        ("lines with a bare u32 as id", lines::all_matching(crates, is_id).len()),
        ("lines with `as usize]`", lines::all_matching(crates, |line| line.contains("as usize]")).len()),
        ("lines of documentation of at most three words", lines::all_matching(crates, is_short).len()),
    ];
    println!();
    for (name, count) in counts {
        println!("{name}: {count}");
    }
    let world: Vec<PathBuf> =
        sources(&crates.join("sim/src")).into_iter().filter(|path| text(path).lines().any(is_of_world)).collect();
    println!("files that implement World: {}", world.len());
}

fn is_short(line: &str) -> bool {
    line.trim_start()
        .strip_prefix("///")
        .is_some_and(|doc| (1..=3).contains(&doc.split_whitespace().count()) && doc.ends_with('.'))
}

fn is_of_world(line: &str) -> bool {
    line.starts_with("impl") && line.contains(" World<") && !line.contains(" for ")
}
