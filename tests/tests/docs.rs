//! The documents: lines that fit, links and names of files that lead somewhere, lists that are complete.

use airbraid_tests::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Longest line of a document \[characters\]: rustfmt's width. Tables have none.
const WIDTH: usize = 120;
/// Folders that are built, not written.
const BUILT: [&str; 3] = ["target", "out", "node_modules"];

/// Files below `folder` whose names end in one of `endings`, sorted.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !BUILT.contains(&name.as_str()) {
            found.extend(files(&path, endings));
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A path as it stands in the tree, for messages.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The lines of a page outside its code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((number + 1, line))
    })
}

/// The anchor of a heading, as forges make it.
fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    words.chars().filter(kept).collect::<String>().replace(' ', "-")
}

/// The anchors of a page's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    prose(text).map(|(_, line)| line).filter(|line| line.starts_with('#')).map(anchor).collect()
}

/// The targets of the links in a text.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

#[test]
fn lines_fit() {
    let mut long = Vec::new();
    for page in files(&root(), &[".md"]) {
        let text = fs::read_to_string(&page).unwrap();
        for (number, line) in text.lines().enumerate() {
            if line.chars().count() > WIDTH && !line.trim_start().starts_with('|') {
                long.push(format!("{}:{}", shown(&page), number + 1));
            }
        }
    }
    assert!(long.is_empty(), "longer than {WIDTH} columns: {long:#?}");
}

#[test]
fn links_lead_somewhere() {
    let mut dead = Vec::new();
    for page in files(&root(), &[".md"]) {
        let text = fs::read_to_string(&page).unwrap();
        let words: String = prose(&text).map(|(_, line)| format!("{line}\n")).collect();
        for target in targets(&words).filter(|target| !target.contains("://") && !target.contains(' ')) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let other = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let is_there =
                other.exists() && (anchor.is_empty() || anchors(&fs::read_to_string(&other).unwrap()).contains(anchor));
            if !is_there {
                dead.push(format!("{}: {target}", shown(&page)));
            }
        }
    }
    assert!(dead.is_empty(), "dead links: {dead:#?}");
}

#[test]
fn pages_that_files_name_are_there() {
    let mut missing = Vec::new();
    for file in files(&root(), &[".rs", ".py", ".pyi", ".sh", ".toml", ".service", ".md", ".ipynb", "Makefile"]) {
        if file.ends_with("tests/tests/docs.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for rest in text.split("docs/").skip(1) {
            let end = rest.find(|letter: char| !(letter.is_alphanumeric() || "/_-.".contains(letter)));
            let Some((name, _)) = rest[..end.unwrap_or(rest.len())].split_once(".md") else { continue };
            if !root().join("docs").join(format!("{name}.md")).exists() {
                missing.push(format!("{}: docs/{name}.md", shown(&file)));
            }
        }
    }
    assert!(missing.is_empty(), "named, and not there: {missing:#?}");
}

/// The page says the name of every file of a folder.
fn names_all(page: &str, folder: &str, ending: &str) {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let index = root().join(page);
    for path in files(&root().join(folder), &[ending]).iter().filter(|path| **path != index) {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(text.contains(name), "{page} lacks {name}");
    }
}

#[test]
fn lists_are_complete() {
    names_all("docs/decisions/README.md", "docs/decisions", ".md");
    names_all("docs/README.md", "docs/models", ".md");
    names_all("docs/measurements/reproductions.md", "docs/measurements/reproductions", ".md");
    names_all("docs/guide/examples.md", "scenarios/examples", ".toml");
}

/// The text between quotes behind a key of a scenario's head.
fn said(scenario: &str, key: &str) -> String {
    let line = scenario.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    line.split('"').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn the_gallery_shows_each_example_with_its_question_and_picture() {
    let page = fs::read_to_string(root().join("docs/guide/examples.md")).unwrap();
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let examples = files(&root().join("scenarios/examples"), &[".toml"]);
    assert!(examples.len() >= 20, "{} examples", examples.len());
    for path in examples {
        let scenario = fs::read_to_string(&path).unwrap();
        let (title, question) = (said(&scenario, "title"), said(&scenario, "question"));
        let name = path.file_stem().unwrap().to_str().unwrap();
        let link = format!("[`{name}.toml`](../../scenarios/examples/{name}.toml): {question}");
        assert!(words.contains(&link), "docs/guide/examples.md lacks {link}");
        assert!(page.contains(&format!("### {title}\n")), "docs/guide/examples.md lacks the heading {title}");
        assert!(page.contains(&format!("![{title}](../pictures/examples/{name}.svg)")), "{name} is not drawn there");
        let picture = fs::read_to_string(root().join(format!("docs/pictures/examples/{name}.svg"))).unwrap();
        assert!(picture.contains(&title) && picture.len() < 30_000, "{name}.svg: `make picture` draws it again");
    }
    for path in files(&root().join("docs/pictures/examples"), &[".svg"]) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(root().join(format!("scenarios/examples/{name}.toml")).exists(), "{name}.svg has no scenario");
    }
}

#[test]
fn each_decision_has_a_number_of_its_own() {
    let mut seen = BTreeSet::new();
    for page in files(&root().join("docs/decisions"), &[".md"]).iter().filter(|page| !page.ends_with("README.md")) {
        let number = page.file_name().unwrap().to_string_lossy()[..4].to_owned();
        assert!(seen.insert(number), "{}: another decision has its number", shown(page));
    }
}

/// Folders below `folder`, relative to `from`.
fn folders(folder: &Path, from: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        found.push(path.strip_prefix(from).unwrap().display().to_string());
        found.extend(folders(&path, from));
    }
    found.sort();
    found
}

#[test]
fn the_map_names_every_folder() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut missing = Vec::new();
    for member in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = member.file_name().unwrap().to_str().unwrap().to_owned();
        let source = member.join("src");
        // A folder of tests alone is no room of the house.
        for folder in folders(&source, &source).into_iter().filter(|folder| !folder.ends_with("tests")) {
            if !map.contains(&format!("`{folder}/`")) && !map.contains(&format!("`{name}/src/{folder}/`")) {
                missing.push(format!("crates/{name}/src/{folder}"));
            }
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md lacks {missing:#?}");
}

#[test]
fn models_hold_no_laboratory_notes() {
    for page in files(&root().join("docs/models"), &[".md"]) {
        for (number, line) in fs::read_to_string(&page).unwrap().lines().enumerate() {
            let is_note = ["Tried", "medians of", "tried:"].iter().any(|word| line.contains(word));
            assert!(!is_note, "{}:{}: belongs into docs/measurements", shown(&page), number + 1);
        }
    }
}

#[test]
fn the_speed_in_the_readme_is_that_of_the_measurements() {
    let page = fs::read_to_string(root().join("docs/measurements/performance.md")).unwrap();
    let table = page.split("## Beside ns-2").nth(1).unwrap().split("\n#").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ("));
    let ratios: Vec<f64> = rows.map(|row| row.split('|').nth(4).unwrap().trim().parse().unwrap()).collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = ratios.iter().copied().fold(0.0, f64::max);
    let words = format!("{least:.1} to {greatest:.1} times as fast as ns-2");
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&words), "README.md lacks \"{words}\"");
}

/// Words in backquotes that look like the name of a file of ours.
fn names_of_files(text: &str) -> impl Iterator<Item = &str> {
    let is_file = |word: &&str| [".rs", ".py", ".sh"].iter().any(|ending| word.ends_with(ending));
    text.split('`').skip(1).step_by(2).filter(is_file).filter(|word| !word.contains([' ', '*', '{']))
}

#[test]
fn files_that_pages_name_are_there() {
    let all: Vec<String> =
        files(&root(), &[".rs", ".py", ".sh"]).iter().map(|path| format!("/{}", shown(path))).collect();
    let mut pages = files(&root().join("docs/models"), &[".md"]);
    pages.extend(["ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md"].map(|page| root().join(page)));
    let mut missing = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let words: String = prose(&text).map(|(_, line)| format!("{line}\n")).collect();
        for name in names_of_files(&words) {
            if !all.iter().any(|path| path.ends_with(&format!("/{name}"))) {
                missing.push(format!("{}: {name}", shown(&page)));
            }
        }
    }
    assert!(missing.is_empty(), "named, and not there: {missing:#?}");
}

/// Pages whose tables of numbers are measured, or are said not to be.
fn pages_with_claims() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> =
        ["README.md", "docs/validation.md", "docs/security.md"].map(|page| root().join(page)).into();
    for folder in ["docs/models", "docs/measurements", "docs/guide"] {
        pages.extend(files(&root().join(folder), &[".md"]));
    }
    // Both are generated: from `tests/rows`, and from what the claims' commands found.
    pages.retain(|page| !shown(page).contains("/rows/") && !page.ends_with("docs/measurements/claims.md"));
    pages
}

/// The sections of a page that have a table with a number in it, each as PAGE#ANCHOR.
fn sections_with_numbers(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).unwrap();
    let (mut found, mut section) = (BTreeSet::new(), String::new());
    for (_, line) in prose(&text) {
        if line.starts_with('#') {
            section = anchor(line);
        } else if line.starts_with('|') && line.contains(|letter: char| letter.is_ascii_digit()) {
            found.insert(format!("{}#{section}", shown(page)));
        }
    }
    found
}

#[test]
fn tables_of_numbers_have_a_command_or_a_source() {
    let list = fs::read_to_string(root().join("docs/measurements/claims.toml")).unwrap();
    let is_section = |word: &&str| word.contains(".md#") && !word.contains(char::is_whitespace);
    let named: BTreeSet<&str> = list.split('"').filter(is_section).collect();
    let there: BTreeSet<String> = pages_with_claims().iter().flat_map(|page| sections_with_numbers(page)).collect();
    let unclaimed: Vec<&String> = there.iter().filter(|section| !named.contains(section.as_str())).collect();
    assert!(unclaimed.is_empty(), "neither a claim nor context in docs/measurements/claims.toml: {unclaimed:#?}");
    let exists = |section: &&str| {
        let (page, heading) = section.split_once('#').unwrap();
        fs::read_to_string(root().join(page)).is_ok_and(|text| anchors(&text).contains(heading))
    };
    let gone: Vec<&str> = named.into_iter().filter(|section| !exists(section)).collect();
    assert!(gone.is_empty(), "claimed, and not there: {gone:#?}");
}

#[test]
fn seeds_of_papers_are_drawn_and_recorded() {
    let record = fs::read_to_string(root().join("docs/measurements/draws.tsv")).unwrap();
    for file in files(&root().join("papers"), &["figures.toml"]) {
        let paper = file.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&file).unwrap();
        let first = text.lines().find_map(|line| line.strip_prefix("seed ")).map(|rest| rest.replace(['=', ' '], ""));
        let Some(first) = first else { continue };
        let is_recorded = record.lines().any(|line| line.ends_with(&format!("\t{first}\t{paper}")));
        assert!(is_recorded, "{paper}: seed {first} is not in docs/measurements/draws.tsv (scripts/draw.py {paper})");
    }
}
