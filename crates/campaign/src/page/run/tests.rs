use super::html;
use crate::report::Results;
use crate::stored::Stored;
use crate::{Made, Recorded, Settings, execute, output, simulate};
use airbraid_sim::scenario::Scenario;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A scenario whose every text is markup.
const HOSTILE: &str = r#"
schema = 1
title = "</title><script>alert(1)</script>"
question = "<img src=x onerror=alert(1)> & \"quoted\"?"
# <script>alert(2)</script> stands in a comment
[run]
duration = "1 s"
replications = 2
[radio]
standard = "802.11b"
[[node]]
name = "a"
position = ["0 m", "0 m"]
radios = [1]
[[node]]
name = "b"
position = ["50 m", "0 m"]
radios = [1]
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { tcp = "newreno" }
source = "greedy"
[expect]
"flow.f.goodput" = { min = "1 Mbit/s" }
"#;

/// Runs a scenario and writes its result into a directory of this test.
fn written(name: &str, text: &str) -> PathBuf {
    let scenario = Scenario::parse("dir/<b>.toml", text).unwrap();
    let plan = scenario.plan().unwrap();
    let recorded = Recorded { courses: true, ..Recorded::LIMITS };
    let settings = Settings { jobs: 2, recorded, stop: &AtomicBool::new(false) };
    let mut outcomes = execute(&plan, &settings, &simulate, &|_, _| {}).unwrap();
    let mut results = Results::new(&plan, &mut outcomes);
    results.made = Some(Made::of("airbraid run", &scenario, &plan));
    let dir = std::env::temp_dir().join(format!("airbraid-report-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    output::write(&dir, &results, &outcomes, &[]).unwrap();
    dir
}

fn read(dir: &Path) -> String {
    std::fs::read_to_string(dir.join(crate::files::REPORT)).unwrap()
}

#[test]
fn the_report_of_a_stored_result_is_the_one_that_was_written_with_it() {
    let dir = written("again", HOSTILE);
    let first = read(&dir);
    std::fs::remove_file(dir.join(crate::files::REPORT)).unwrap();
    output::report(&dir).unwrap();
    assert!(read(&dir) == first, "both reports have the same bytes");
    // A result of before there were samples has a report, too.
    std::fs::remove_file(dir.join("courses.json")).unwrap();
    let older = html(&Stored::read(&dir).unwrap());
    assert!(older.contains("Goodput") && !older.contains("Congestion window\""));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn text_of_a_scenario_stays_text() {
    let dir = written("hostile", HOSTILE);
    let page = read(&dir);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the title is there as text");
    assert!(page.contains("&lt;script&gt;alert(2)&lt;/script&gt;"), "the comment is there as text");
    assert!(!page.contains("<script>alert") && !page.contains("<img src=x"));
    // One block of data, one script of the page's own.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn the_page_has_question_answer_cause_verdict_and_origin() {
    let dir = written("parts", &HOSTILE.replace(['<', '>'], ""));
    let page = read(&dir);
    for part in
        ["quoted", "is limited by", ">holds<", "airbraid run DIR", "seed", "1 to 2", "\"Goodput\"", "One-way delay"]
    {
        assert!(page.contains(part), "{part} is not in the page");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn what_is_no_result_is_refused_with_what_to_do() {
    let dir = std::env::temp_dir().join(format!("airbraid-report-{}-none", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let refused = |dir: &Path| Stored::read(dir).unwrap_err();
    assert!(refused(&dir).contains("there is no summary.json in it"));
    assert!(refused(&dir.join("x")).contains("there is no such directory"));
    std::fs::write(dir.join("rows.json"), "{}").unwrap();
    assert!(refused(&dir).contains("the reproduction of a paper"));
    std::fs::write(dir.join("summary.json"), "{").unwrap();
    assert!(refused(&dir).contains("summary.json cannot be read"));
    std::fs::write(dir.join("summary.json"), "{\"cells\": []}").unwrap();
    assert!(refused(&dir).contains("does not say how it was made"));
    std::fs::remove_dir_all(&dir).unwrap();
}
