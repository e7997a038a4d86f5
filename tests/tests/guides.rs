//! The commands of the guides: those of "I want ..." are run in their order, the words of all others are checked.

use airbraid_tests::{binary, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A command of a page.
struct Typed {
    /// Line of the page.
    line: usize,
    /// Whether it stands behind `#`, the prompt of root, or begins with `sudo`.
    is_roots: bool,
    text: String,
}

/// The commands in the console blocks of a page, continued lines joined.
fn commands(page: &str) -> Vec<Typed> {
    let (mut found, mut is_console, mut goes_on) = (Vec::<Typed>::new(), false, false);
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            (is_console, goes_on) = (line == "```console", false);
            continue;
        }
        let typed = ["$ ", "# "].iter().find_map(|prompt| line.strip_prefix(prompt));
        match (typed, found.last_mut().filter(|_| goes_on)) {
            _ if !is_console => continue,
            (_, Some(last)) => last.text = format!("{}{line}", last.text.trim_end_matches('\\')),
            (Some(text), None) => {
                let is_roots = line.starts_with('#') || text.starts_with("sudo ");
                found.push(Typed { line: number + 1, is_roots, text: text.trim_start_matches("sudo ").to_owned() });
            }
            // Output of a command.
            (None, None) => continue,
        }
        goes_on = line.ends_with('\\');
    }
    found
}

/// A folder for the commands: the scenarios beside them, and the command on the path.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("airbraid-guides-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("bin")).unwrap();
        std::os::unix::fs::symlink(root().join("scenarios"), folder.join("scenarios")).unwrap();
        std::os::unix::fs::symlink(binary(), folder.join("bin/airbraid")).unwrap();
        Self(folder)
    }

    fn shell(&self, text: &str) -> Output {
        let path = format!("{}:{}", self.0.join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("bash");
        shell.args(["-c", text]).current_dir(&self.0).env("PATH", path).env("HOME", &self.0);
        shell.output().unwrap()
    }

    /// Parses a command without running it: an option that there is not stops it, and is all that is wrong.
    fn parse(&self, text: &str) -> Result<(), String> {
        let words =
            ["  #", " > ", " < ", " || "].iter().fold(text, |words, end| words.split(end).next().unwrap_or(words));
        let done = self.shell(&format!("{words} --no-such-option"));
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let is_all = said.contains("unexpected argument '--no-such-option'");
        if done.status.code() == Some(2) && is_all { Ok(()) } else { Err(said) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn page(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn what_somebody_wants_is_what_the_commands_do() {
    let page = page(&root().join("docs/guide/i-want.md"));
    let place = Place::new("run");
    let mut ran = 0;
    for Typed { line, is_roots, text } in commands(&page) {
        // `make test` checks all scenarios beside this.
        if is_roots || text.starts_with("airbraid check scenarios/") {
            place.parse(&text).unwrap_or_else(|said| panic!("i-want.md:{line}: {text}\n{said}"));
            continue;
        }
        let done = place.shell(&text);
        let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(done.status.success(), "i-want.md:{line}: {text}\n{said}");
        // A file with other values than its own need not hold what it expects.
        assert!(text.contains("--set") || !said.contains("BROKEN"), "i-want.md:{line}: {text}\n{said}");
        ran += 1;
    }
    assert!(ran > 30, "only {ran} commands were run: is the page read as it is written?");
    // What the page says is there afterwards.
    for file in quoted(&page).filter(|word| word.contains('/') && !word.starts_with('/')) {
        let is_written = [".html", ".csv", ".pcapng"].iter().any(|ending| file.ends_with(ending));
        let is_there = place.0.join(file).exists();
        // That of the whole paper is not made here.
        assert!(!is_written || is_there || file.starts_with("wang2005-report/"), "i-want.md: there is no {file}");
    }
}

/// The words in backquotes.
fn quoted(page: &str) -> impl Iterator<Item = &str> {
    page.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

#[test]
fn every_wish_has_something_to_type() {
    let page = page(&root().join("docs/guide/i-want.md"));
    let wishes: Vec<&str> = page.split("\n## ").skip(1).collect();
    assert!(wishes.len() >= 15, "{} wishes", wishes.len());
    for wish in wishes {
        let heading = wish.lines().next().unwrap_or_default();
        assert!(heading.starts_with("... "), "{heading}");
        assert!(wish.contains("```console\n") || wish.contains("```python\n"), "{heading}: nothing to type");
    }
}

#[test]
fn the_commands_of_all_pages_are_words_that_the_command_knows() {
    let place = Place::new("parse");
    let folders = ["docs/guide", "docs/reference"].map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.push(root().join("README.md"));
    pages.sort();
    let mut parsed = 0;
    for path in pages {
        for Typed { line, text, .. } in
            commands(&page(&path)).iter().filter(|typed| typed.text.starts_with("airbraid "))
        {
            if let Err(said) = place.parse(text) {
                panic!("{}:{line}: {text}\n{said}", path.display());
            }
            parsed += 1;
        }
    }
    assert!(parsed > 40, "only {parsed} commands were found");
}
