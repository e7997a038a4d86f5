//! The parts of the page, from its head to its foot.

use super::{deviation, escape, figures, is_miss, ours, unit};
use crate::reproduce::{Reproduction, Row, Rows, Standing};
use crate::store::Build;
use std::fmt::Write as _;

/// Title, runs, verdicts, contents.
pub fn head(reproduction: &Reproduction, rows: &Rows, build: &Build, page: &mut String) {
    let paper = &reproduction.paper;
    let about = &paper.about;
    let _ = writeln!(page, "<header>\n<h1>{}</h1>", escape(&about.title));
    let _ = writeln!(page, "<p class=\"source\">{}. {}.</p>", escape(&about.authors), escape(&about.source));
    let _ = writeln!(
        page,
        "<p class=\"source\">Reproduced by <code>{}</code>, airbraid {}, commit {}, sources {}.</p>",
        escape(&command(reproduction)),
        env!("CARGO_PKG_VERSION"),
        escape(build.commit()),
        build.short()
    );
    if reproduction.quick {
        let said = escape(&paper.quick.join(", "));
        let _ = writeln!(
            page,
            "<p class=\"banner\"><b>A first answer.</b> Short runs and few replications (<code>{said}</code>), except where the course of a whole run is the result. \
            Verdicts may change; <code>airbraid reproduce {}</code> without <code>--quick</code> is the reproduction.</p>",
            escape(&paper.name)
        );
    }
    page.push_str("<ul class=\"chips\">\n");
    for (origin, verdict, n) in rows.counts() {
        let origin = origin.map_or_else(String::new, |origin| format!(" {}", origin.name()));
        let _ = writeln!(page, "<li class=\"{0}\"><b>{n}</b>{0}{origin}</li>", verdict.name());
    }
    page.push_str("</ul>\n");
    page.push_str(
        "<p class=\"small\">within / off: the value against the tolerance of the reference table. holds / broken: orderings, \
         on the means. open: a reading that the paper leaves free decides, or one run. context: shown, not scored. \
         predicted, calibrated and arithmetic are counted apart. Ours is the mean over the replications \u{b1} half of its 99 % confidence interval; plots show \
         the same as bands or bars from four replications on, two replications as rings, and the paper\u{2019}s values dashed or as diamonds.</p>\n",
    );
    for text in &about.text {
        let _ = writeln!(page, "<p>{}</p>", escape(text));
    }
    page.push_str("<nav>\n");
    for (i, figure) in paper.figures.iter().enumerate().filter(|(i, _)| reproduction.shows(*i)) {
        let misses = rows.rows.iter().filter(|row| row.figure == Some(i) && is_miss(row)).count();
        let misses = if misses > 0 { format!(" <span class=\"pill off\">{misses}</span>") } else { String::new() };
        let _ = writeln!(
            page,
            "<a href=\"#{}\">{}: {}{misses}</a>",
            escape(&figure.id),
            escape(&figure.place),
            escape(&figure.title)
        );
    }
    page.push_str("<a href=\"#off\">What is off, and why</a>\n<a href=\"#runs\">What was run</a>\n</nav>\n</header>\n");
}

/// The command that makes this page.
pub fn command(reproduction: &Reproduction) -> String {
    let mut text = format!("airbraid reproduce {}", reproduction.paper.name);
    if reproduction.quick {
        text.push_str(" --quick");
    }
    for id in &reproduction.only {
        let _ = write!(text, " --only {id}");
    }
    text
}

/// Each figure with its plot and its rows, then rows that have none.
pub fn figures(reproduction: &Reproduction, rows: &Rows, page: &mut String) {
    for (i, figure) in reproduction.paper.figures.iter().enumerate() {
        if !reproduction.shows(i) {
            continue;
        }
        let _ = writeln!(
            page,
            "<section class=\"figure\" id=\"{}\">\n<h2>{}<small>{}</small></h2>",
            escape(&figure.id),
            escape(&figure.title),
            escape(&figure.place)
        );
        if !figure.text.is_empty() {
            let _ = writeln!(page, "<p>{}</p>", escape(&figure.text));
        }
        if let Some((svg, wrong)) = figures::draw(figure, &reproduction.runs) {
            let _ = writeln!(page, "<figure>{svg}</figure>");
            for why in wrong {
                let _ = writeln!(page, "<p class=\"small\">Not drawn: {}</p>", escape(&why));
            }
        }
        let own: Vec<&Row> = rows.rows.iter().filter(|row| row.figure == Some(i)).collect();
        table(reproduction, &own, page);
        page.push_str("</section>\n");
    }
    let rest: Vec<&Row> = rows.rows.iter().filter(|row| row.figure.is_none()).collect();
    if !rest.is_empty() {
        page.push_str("<section>\n<h2>Rows without a figure</h2>\n");
        table(reproduction, &rest, page);
        page.push_str("</section>\n");
    }
}

fn table(reproduction: &Reproduction, rows: &[&Row], page: &mut String) {
    if rows.is_empty() {
        return;
    }
    page.push_str(
        "<div class=\"wide\"><table>\n<thead><tr><th>row</th><th>paper</th><th>ours</th><th class=\"n\">deviation</th>\
         <th>verdict</th><th>origin</th></tr></thead>\n<tbody>\n",
    );
    for row in rows {
        let reference = &reproduction.paper.rows[row.output].row;
        let bare = row.id.strip_prefix(&reproduction.paper.about.code).unwrap_or(&row.id).trim_start_matches('.');
        let unit = match unit(&row.unit) {
            "-" | "ratio" => String::new(),
            unit => format!(" {unit}"),
        };
        let found = if row.paper.is_null() {
            row.note.split(". ").next().unwrap_or_default().to_owned()
        } else {
            ours(&row.ours) + &unit
        };
        let found = if row.verdict == Standing::Missing { "\u{2013}".to_owned() } else { found };
        let pill = row.verdict.name();
        let _ = writeln!(
            page,
            "<tr><td class=\"name\"><b>{}</b><span>{}, {}</span></td><td>{}</td><td>{}</td><td class=\"n\">{}</td>\
             <td><span class=\"pill {pill}\">{pill}</span></td><td>{}</td></tr>",
            escape(bare),
            escape(&reference.scenario),
            escape(&reference.metric),
            escape(&accept(row, &reference.shown(), &unit)),
            escape(&found),
            escape(&deviation(row)),
            row.origin.name()
        );
    }
    page.push_str("</tbody>\n</table></div>\n");
}

/// The acceptance of a row, with the unit behind the value: `15.0 Mbit/s +- 10 %`.
fn accept(row: &Row, value: &str, unit: &str) -> String {
    match row.accept.strip_prefix(value) {
        Some(rest) if !row.paper.is_null() => format!("{value}{unit}{}", rest.replace("+-", "\u{b1}")),
        _ => row.accept.clone(),
    }
}

/// Rows that are off, broken, missing or context, with the reasons.
pub fn misses(reproduction: &Reproduction, rows: &Rows, page: &mut String) {
    page.push_str("<section id=\"off\">\n<h2>What is off, and why</h2>\n");
    for text in &reproduction.paper.about.off {
        let _ = writeln!(page, "<p>{}</p>", escape(text));
    }
    let misses: Vec<&Row> = rows.rows.iter().filter(|row| is_miss(row)).collect();
    if misses.is_empty() {
        page.push_str("<p>Nothing is.</p>\n");
    }
    list(reproduction, &misses, page);
    let context: Vec<&Row> = rows.rows.iter().filter(|row| row.verdict == Standing::Context).collect();
    if !context.is_empty() {
        page.push_str("<h3>Shown, not scored</h3>\n");
        list(reproduction, &context, page);
    }
    page.push_str("</section>\n");
}

fn list(reproduction: &Reproduction, rows: &[&Row], page: &mut String) {
    page.push_str("<dl class=\"misses\">\n");
    for row in rows {
        let verdict = row.verdict.name();
        let unit = unit(&row.unit);
        let reference = &reproduction.paper.rows[row.output].row;
        let value = if row.paper.is_null() {
            String::new()
        } else {
            format!(": {} {}, paper {} ({})", ours(&row.ours), unit, reference.shown(), deviation(row))
        };
        let _ = writeln!(
            page,
            "<dt><b>{}</b>{} <span class=\"pill {verdict}\">{verdict}</span></dt>",
            escape(&row.id),
            escape(&value)
        );
        let note = if row.note.is_empty() { "Not explained." } else { &row.note };
        let _ = writeln!(page, "<dd>{}</dd>", escape(note));
    }
    page.push_str("</dl>\n");
}

/// Every run with its scenario, hash and seeds.
pub fn runs(reproduction: &Reproduction, build: &Build, page: &mut String) {
    let said = reproduction.runs.said();
    let _ = writeln!(
        page,
        "<section id=\"runs\">\n<h2>What was run</h2>\n<p>{} set-ups, {} runs (set-ups that are the same are run once). Replication k runs on \
         the first seed + k; all set-ups have the same seeds. The same sources, scenario and seed give the same numbers to \
         the last digit: commit {}, sources {}.</p>",
        said.len(),
        reproduction.runs.total(),
        escape(build.commit()),
        build.short()
    );
    page.push_str("<div class=\"wide\"><table>\n<thead><tr><th>run</th><th>scenario</th><th>hash</th><th class=\"n\">time</th><th>seeds</th></tr></thead>\n<tbody>\n");
    for run in said {
        let seeds = match (run.seeds.first(), run.seeds.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
            (Some(first), _) => first.to_string(),
            _ => String::new(),
        };
        let set: String = run.set.iter().map(|set| format!("<br><code>--set {}</code>", escape(&quote(set)))).collect();
        let wrong = run.wrong.map(|why| format!("<br>{}", escape(&why))).unwrap_or_default();
        let _ = writeln!(
            page,
            "<tr><td><b>{}</b></td><td><code>{}</code>{set}{wrong}</td><td><code>{}</code></td><td class=\"n\">{} s</td><td>{seeds}</td></tr>",
            escape(&run.name),
            escape(&run.scenario),
            run.hash,
            run.duration_s
        );
    }
    page.push_str("</tbody>\n</table></div>\n");
    models(reproduction, page);
    page.push_str("</section>\n");
}

/// Every model with its parameters.
fn models(reproduction: &Reproduction, page: &mut String) {
    let models = &reproduction.paper.models;
    if models.is_empty() {
        return;
    }
    page.push_str(
        "<h3>What was computed by models</h3>\n<div class=\"wide\"><table>\n<thead><tr><th>name</th><th>model</th><th>told</th>\
         <th>cells</th></tr></thead>\n<tbody>\n",
    );
    for entry in models {
        let told: Vec<String> = entry.with.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let cells = entry.each.as_ref().map(|each| each.said()).unwrap_or_default();
        let _ = writeln!(
            page,
            "<tr><td><b>{}</b></td><td>{}</td><td><code>{}</code></td><td>{}</td></tr>",
            escape(&entry.name),
            escape(&entry.model),
            escape(&told.join(", ")),
            escape(&cells)
        );
    }
    page.push_str("</tbody>\n</table></div>\n");
}

/// Quotes a text for a shell.
fn quote(text: &str) -> String {
    if text.contains(['"', ' ', '[', '{']) { format!("'{text}'") } else { text.to_owned() }
}
