//! The page of a run: one HTML file with the question, the answer, what limits each flow, verdicts, plots, a map,
//! tables, and how it was made.
//!
//! The answer stands in the page as text. The plots, the map and the tables of each cell are data that the page's
//! scripts draw. It shows what is stored and computes nothing but means for a picture: the same result gives the same
//! bytes.

mod answer;
mod course;
mod data;
mod map;
mod number;
mod origin;
mod tables;

use super::skeleton::{self, STYLE, Skeleton, escape};
use crate::drawing::{style, variables};
use crate::stored::Stored;
use std::fmt::Write as _;

const OWN_STYLE: &str = include_str!("run.css");
const SCRIPTS: [&str; 4] =
    [include_str!("numbers.js"), include_str!("charts.js"), include_str!("map.js"), include_str!("page.js")];

/// The page.
pub fn html(result: &Stored) -> String {
    let (drawings, colours) = (style(), variables());
    let title = &result.plan.title;
    let skeleton = Skeleton { title, styles: &[STYLE, &colours, OWN_STYLE, &drawings], scripts: &SCRIPTS };
    let mut page = skeleton.head();
    head(result, &mut page);
    page.push_str("<main>\n");
    answer::answer(result, &mut page);
    answer::limits(result, &mut page);
    answer::verdicts(result, &mut page);
    look(result, &mut page);
    origin::origin(result, &mut page);
    page.push_str("</main>\n");
    page.push_str(&skeleton::data("data", &data::data(result)));
    page + &skeleton.foot()
}

/// Title, question, and what the result is of.
fn head(result: &Stored, page: &mut String) {
    let plan = &result.plan;
    let _ = writeln!(page, "<header>\n<h1>{}</h1>", escape(&plan.title));
    if !plan.question.is_empty() {
        let _ = writeln!(page, "<p class=\"question\">{}</p>", escape(&plan.question));
    }
    for paragraph in origin::opening_comment(&result.made.text) {
        let _ = writeln!(page, "<p class=\"source\">{}</p>", escape(&paragraph));
    }
    let links = [
        ("answer", "Answer"),
        ("limits", "What limits each flow"),
        ("plots", "Plots"),
        ("map", "Map"),
        ("tables", "Tables"),
        ("made", "How it was made"),
    ];
    page.push_str("<nav aria-label=\"Parts of this page\">\n");
    for (id, name) in links {
        let _ = writeln!(page, "<a href=\"#{id}\">{name}</a>");
    }
    page.push_str("</nav>\n</header>\n");
}

/// The places that the scripts fill: plots, map, tables.
fn look(result: &Stored, page: &mut String) {
    page.push_str(
        "<noscript><p class=\"banner\">Plots, map and tables are drawn by this page\u{2019}s own scripts, which are \
         switched off here.</p></noscript>\n<div id=\"looked\" hidden>\n",
    );
    if result.cells.len() > 1 {
        page.push_str("<p id=\"cells\"><label for=\"cell\">Of the cell</label> <select id=\"cell\"></select></p>\n");
    }
    page.push_str(
        "<section id=\"plots\">\n<h2>Plots</h2>\n<p class=\"small\">Drag over a plot, pinch it, turn the wheel with \
         <kbd>Ctrl</kbd>, or press <kbd>+</kbd> <kbd>\u{2212}</kbd> <kbd>\u{2190}</kbd> <kbd>\u{2192}</kbd> on one to \
         change the time that all of them show; <kbd>0</kbd> or a double click shows the whole run. <kbd>Shift</kbd> \
         with an arrow moves the mark whose values are read.</p>\n<div id=\"charts\"></div>\n</section>\n\
         <section id=\"map\">\n<h2>Map</h2>\n<div id=\"plan\"></div>\n</section>\n\
         <section id=\"tables\">\n<h2>Tables</h2>\n<p class=\"small\">Means over the replications; columns in which \
         all is zero are left out. A heading sorts.</p>\n<div id=\"rows\"></div>\n</section>\n</div>\n",
    );
}

#[cfg(test)]
mod tests;
