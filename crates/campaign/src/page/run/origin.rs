//! The origin of a result: all that repeats it.

use super::super::skeleton::escape;
use crate::stored::Stored;
use std::fmt::Write as _;

/// Version, command, seeds, scenario and every resolved value.
pub fn origin(result: &Stored, page: &mut String) {
    let made = &result.made;
    page.push_str("<section id=\"made\">\n<h2>How it was made</h2>\n<dl class=\"facts\">\n");
    let mut fact = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(page, "<dt>{name}</dt><dd>{value}</dd>");
        }
    };
    fact("again", "<code>airbraid run DIR</code>, with the directory of this page: number for number the same");
    fact("command", &format!("<code>{}</code>", escape(&command(result))));
    fact("version", &escape(&format!("airbraid {}, commit {}, sources {}", made.version, made.commit, made.sources)));
    fact("seeds", &seeds(result));
    fact("runs", &runs(result));
    fact(
        "scenario",
        &format!("<code>{}</code>, SHA-256 <code>{}</code>", escape(&result.scenario), escape(&made.sha256)),
    );
    let settings: Vec<String> = made.settings.iter().map(|set| format!("<code>{}</code>", escape(set))).collect();
    fact("settings", &settings.join("<br>"));
    page.push_str("</dl>\n");
    for warning in &result.plan.warnings {
        let _ = writeln!(page, "<p class=\"small\">Note: {}</p>", escape(warning));
    }
    let _ = writeln!(
        page,
        "<details>\n<summary>The scenario</summary>\n<pre tabindex=\"0\"><code>{}</code></pre>\n</details>",
        escape(made.text.trim_end())
    );
    resolved(result, page);
    page.push_str("</section>\n");
}

/// Every value that the first cell was run with, with its origin.
fn resolved(result: &Stored, page: &mut String) {
    let of = if result.cells.len() > 1 { " of the first cell" } else { "" };
    let _ = writeln!(
        page,
        "<details>\n<summary>Every value{of}, and where it comes from</summary>\n<div class=\"wide\" tabindex=\"0\">\
         <table>\n<thead><tr><th scope=\"col\">key</th><th scope=\"col\">value</th><th scope=\"col\">from</th></tr></thead>\n\
         <tbody>"
    );
    for value in &result.plan.resolved() {
        let _ = writeln!(
            page,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
            escape(&value.key),
            escape(&value.value),
            escape(&value.from)
        );
    }
    page.push_str("</tbody>\n</table></div>\n</details>\n");
}

/// The command that made the result, as a shell reads it.
fn command(result: &Stored) -> String {
    let made = &result.made;
    let mut text = format!("{} {}", made.by, quoted(&result.scenario));
    made.settings.iter().for_each(|set| text.push_str(&format!(" --set {}", quoted(set))));
    made.plots.iter().for_each(|plot| text.push_str(&format!(" --plot {}", quoted(plot))));
    for (is_set, option) in [(made.pcap, " --pcap"), (made.timeline, " --timeline")] {
        text.push_str(if is_set { option } else { "" });
    }
    text + " --out DIR"
}

/// A word for a shell: within single quotes where a character could mean something to it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+%@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn seeds(result: &Stored) -> String {
    let seed = |run: &serde_json::Value| run.get("seed").and_then(serde_json::Value::as_u64);
    let runs = result.cells.first().map_or(&[][..], |cell| &cell.runs);
    match (runs.first().and_then(seed), runs.last().and_then(seed)) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(first), _) => first.to_string(),
        _ => String::new(),
    }
}

fn runs(result: &Stored) -> String {
    let (cells, all) = (result.cells.len(), result.run_count());
    let duration = result.plan.cells.first().map_or_else(String::new, |cell| {
        let warm_up = cell.spec.warm_up;
        let counted = if warm_up.is_zero() { String::new() } else { format!(", counted from {warm_up} on") };
        format!(" of {}{counted}", cell.spec.duration)
    });
    let several = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let cells = if cells > 1 { format!("{}, ", several(cells, "cell")) } else { String::new() };
    escape(&format!("{cells}{}{duration}", several(all, "run")))
}

/// The paragraphs of the first comment that stands on lines of its own, as most scenarios have one below their title.
pub fn opening_comment(scenario: &str) -> Vec<String> {
    let lines = scenario.lines().map(str::trim).skip_while(|line| !line.starts_with('#'));
    let mut paragraphs = vec![String::new()];
    for line in lines.take_while(|line| line.starts_with('#')) {
        let words = line.trim_start_matches('#').trim();
        match paragraphs.last_mut() {
            Some(last) if !words.is_empty() => {
                last.push_str(if last.is_empty() { "" } else { " " });
                last.push_str(words);
            }
            _ => paragraphs.push(String::new()),
        }
    }
    paragraphs.retain(|text| !text.is_empty());
    paragraphs
}
