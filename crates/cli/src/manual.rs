//! `airbraid man`: the manual pages, made of what `--help` prints.

use crate::command::Arguments;
use crate::print::{Ended, note};
use clap::CommandFactory;
use clap_mangen::Man;
use std::io;
use std::path::Path;

pub const EXAMPLES: &str = "\
Examples:
  airbraid man ~/.local/share/man/man1
  man airbraid-run
      a page each: airbraid.1, airbraid-run.1, airbraid-plan-airtime.1 and so on";

/// Writes a page for each command into `folder`.
pub fn write(folder: &Path) -> Result<(), Ended> {
    let failed = |path: &Path, error: io::Error| Ended::Failed(format!("{}: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let all = pages();
    for (name, text) in &all {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    note(&format!("written: {} pages in {}", all.len(), folder.display()));
    Ok(())
}

/// Every page: its file's name, and its text.
fn pages() -> Vec<(String, String)> {
    let mut root = Arguments::command().disable_help_subcommand(true);
    root.build();
    let mut open = vec![root];
    let mut pages = Vec::new();
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned());
        let has_others = command.get_subcommands().any(|inner| !inner.is_hide_set());
        let more = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        // It would be in the page as one paragraph.
        let man =
            Man::new(command.after_help("")).manual("airbraid").source(concat!("airbraid ", env!("CARGO_PKG_VERSION")));
        let mut text = Vec::new();
        // Bytes in memory take everything.
        let _ = render(&man, has_others, &more, &mut text);
        pages.push((man.get_filename(), String::from_utf8_lossy(&text).into_owned()));
    }
    pages.sort();
    pages
}

fn render(man: &Man, has_others: bool, more: &str, page: &mut Vec<u8>) -> io::Result<()> {
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    let (about, rest) = parts(more);
    page.extend(paragraphs(about).bytes());
    man.render_options_section(page)?;
    if has_others {
        man.render_subcommands_section(page)?;
    }
    page.extend(sections(rest).bytes());
    Ok(())
}

/// Text behind the options, divided into what describes the command and what begins with its examples.
fn parts(text: &str) -> (&str, &str) {
    let begin = ["Examples:", "Example:", "Exit status:"].iter().filter_map(|heading| text.find(heading)).min();
    text.split_at(begin.unwrap_or(text.len()))
}

/// Text as it stands, a paragraph behind each blank line; indented lines keep their breaks.
fn paragraphs(text: &str) -> String {
    let block = |block: &str| {
        let is_list = block.lines().any(|line| line.starts_with(' '));
        let lines: String = block.lines().map(|line| escaped(line) + "\n").collect();
        if is_list { format!(".PP\n.nf\n{lines}.fi\n") } else { format!(".PP\n{lines}") }
    };
    text.split("\n\n").filter(|text| !text.trim().is_empty()).map(block).collect()
}

/// Sections of the text that begins with the examples: each block is an example, the exit status, or a paragraph.
fn sections(text: &str) -> String {
    let mut page = String::new();
    for block in text.split("\n\n").filter(|text| !text.trim().is_empty()) {
        let block = block.trim_matches('\n');
        let headed = ["Examples:", "Example:"].iter().find_map(|heading| block.strip_prefix(heading));
        if let Some(first) = headed {
            page += ".SH EXAMPLES\n";
            page += &example(first.trim_start_matches('\n'));
        } else if let Some(status) = block.strip_prefix("Exit status:") {
            page += ".SH \"EXIT STATUS\"\n";
            page += &(escaped(status.trim()) + "\n");
        } else if block.starts_with(' ') {
            page += &example(block);
        } else {
            page += &paragraphs(block);
        }
    }
    page
}

/// Commands in bold, with what they do below them.
fn example(block: &str) -> String {
    let (mut page, mut goes_on) = (String::from(".PP\n"), false);
    for line in block.lines() {
        let is_command = goes_on || line.len() - line.trim_start().len() < 6;
        goes_on = is_command && line.ends_with(['\\', '|']);
        let text = escaped(line.strip_prefix("  ").unwrap_or(line).trim_end());
        page += &match is_command {
            true => format!(".nf\n\\fB{text}\\fR\n.fi\n"),
            false => format!(".RS 4\n{}\n.RE\n", text.trim_start()),
        };
    }
    // A run of lines is one paragraph.
    page.replace(".fi\n.nf\n", "").replace(".RE\n.RS 4\n", "")
}

/// A line for troff: no character of it is a command.
fn escaped(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}
