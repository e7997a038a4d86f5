//! The daemon's file as OpenWrt writes configuration (UCI), and back. Both ways together change nothing of what a file
//! says.
//!
//! No key is named here but those whose texts may look like numbers. A table `[x]`, and each table of a list `[[x]]`,
//! is a section `config x`; a key is an `option`, a list of plain values a `list`. A key of an inner table has both
//! names with `__` between. A value for which UCI has no form is TOML behind `toml:`. The section `airbraid` has the
//! keys above all tables, and `enabled`, which is UCI's alone.

use airbraid_sim::scenario::Errors;
use airbraid_sim::scenario::document::{Context, Data, Document, Table, Value};
use std::fmt::Write as _;

/// Section of the keys above all tables.
const TOP: &str = "airbraid";
/// Begins a value that is TOML.
const RAW: &str = "toml:";
/// Separates the names of an inner table and its key.
const INNER: &str = "__";
/// Keys whose values are texts, whatever they look like.
const TEXTS: [&str; 9] = ["name", "device", "via", "introduces", "public_key", "private_key", "lan", "only", "peer"];

/// Writes a TOML text as UCI; `name` is its name in messages.
///
/// # Errors
/// It is not TOML.
pub fn from_toml(name: &str, toml: &str) -> Result<String, Errors> {
    let document = Document::parse(name, toml)?;
    let cx = Context::new(false);
    let top = document.top(&cx);
    let mut sections = format!("config {TOP} 'main'\n\toption enabled '1'\n");
    let mut rest = String::new();
    for entry in top.own_table().map(|table| &table.entries[..]).unwrap_or_default() {
        match &entry.value.data {
            Data::Table(table) => rest += &section(&entry.key, table),
            Data::List(items) if !items.is_empty() && items.iter().all(|item| matches!(item.data, Data::Table(_))) => {
                for item in items {
                    if let Data::Table(table) = &item.data {
                        rest += &section(&entry.key, table);
                    }
                }
            }
            _ => options(&entry.key, &entry.value, &mut sections),
        }
    }
    Ok(sections + &rest)
}

fn section(kind: &str, table: &Table) -> String {
    let mut text = format!("\nconfig {kind}\n");
    for entry in &table.entries {
        options(&entry.key, &entry.value, &mut text);
    }
    text
}

/// The options of a key, a line each.
fn options(key: &str, value: &Value, out: &mut String) {
    match &value.data {
        Data::Table(table)
            if !table.entries.is_empty() && table.entries.iter().all(|inner| can_join(key, &inner.key)) =>
        {
            table.entries.iter().for_each(|inner| options(&format!("{key}{INNER}{}", inner.key), &inner.value, out));
        }
        Data::List(items) if !items.is_empty() && items.iter().all(|item| plain(key, &item.data).is_some()) => {
            let words = items.iter().filter_map(|item| plain(key, &item.data));
            words.for_each(|word| out.push_str(&format!("\tlist {key} {}\n", quoted(&word))));
        }
        data => {
            let word = plain(key, data).unwrap_or_else(|| format!("{RAW}{}", inline(data)));
            let _ = writeln!(out, "\toption {key} {}", quoted(&word));
        }
    }
}

/// Whether a table's name and that of a key in it can be one option's, and be told apart again: UCI has letters, digits
/// and `_`, and a `_` beside the two between the names would belong to either.
fn can_join(outer: &str, inner: &str) -> bool {
    let is_plain = !inner.is_empty() && inner.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_plain && !inner.contains(INNER) && !inner.starts_with('_') && !outer.ends_with('_')
}

/// A value that is read from its bare text as what it is.
fn plain(key: &str, data: &Data) -> Option<String> {
    let word = match data {
        Data::Text(text) => text.clone(),
        Data::Integer(_) | Data::Float(_) | Data::Flag(_) => inline(data),
        _ => return None,
    };
    (!word.starts_with(RAW) && !word.contains(['\n', '\r', '\0']) && read(key, &word) == inline(data)).then_some(word)
}

/// A value of UCI as TOML.
fn read(key: &str, word: &str) -> String {
    let key = key.rsplit(INNER).next().unwrap_or(key);
    let is_number = || word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') && is_toml_number(word);
    match word.strip_prefix(RAW) {
        Some(raw) => raw.to_owned(),
        None if !TEXTS.contains(&key) && (matches!(word, "true" | "false") || is_number()) => word.to_owned(),
        None => inline(&Data::Text(word.to_owned())),
    }
}

/// Whether TOML takes the word for a number.
fn is_toml_number(word: &str) -> bool {
    let cx = Context::new(false);
    let document = Document::parse("", &format!("v = {word}"));
    document.is_ok_and(|document| {
        let top = document.top(&cx);
        let data = top.own_table().and_then(|table| table.get("v")).map(|value| &value.data);
        matches!(data, Some(Data::Integer(_) | Data::Float(_)))
    })
}

/// A value as TOML on one line.
fn inline(data: &Data) -> String {
    match data {
        Data::Text(text) => quoted_toml(text),
        Data::Integer(number) => number.to_string(),
        // With its point: it is read as the same kind.
        Data::Float(number) => format!("{number:?}"),
        Data::Flag(flag) => flag.to_string(),
        Data::Date(date) => date.clone(),
        Data::List(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(&item.data)).collect();
            format!("[{}]", items.join(", "))
        }
        Data::Table(table) => {
            let one = |entry: &airbraid_sim::scenario::document::Entry| {
                format!("{} = {}", toml_key(&entry.key), inline(&entry.value.data))
            };
            let entries: Vec<String> = table.entries.iter().map(one).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

fn toml_key(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { key.to_owned() } else { quoted_toml(key) }
}

fn quoted_toml(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// A word as UCI and a shell take it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// One section of a UCI text.
#[derive(Default)]
struct Section {
    kind: String,
    name: Option<String>,
    line: usize,
    /// Keys with their values; lists have several.
    options: Vec<(String, Vec<String>, bool)>,
}

/// Writes a UCI text as TOML.
///
/// # Errors
/// A line is not UCI: its number, and what is wrong.
pub fn to_toml(uci: &str) -> Result<String, String> {
    let sections = sections(uci)?;
    let mut head = String::new();
    let mut body = String::new();
    let mut has_schema = false;
    for section in &sections {
        if section.kind == TOP {
            for (key, values, is_list) in section.options.iter().filter(|(key, ..)| key != "enabled") {
                has_schema |= key == "schema";
                let _ = writeln!(head, "{} = {}", toml_key(key), joined(key, values, *is_list));
            }
            continue;
        }
        let is_one = sections.iter().filter(|other| other.kind == section.kind).count() == 1;
        body += &table(section, is_one && !LISTS.contains(&section.kind.as_str()));
    }
    let schema = if has_schema { "" } else { "schema = 1\n" };
    Ok(format!("{schema}{head}{body}"))
}

/// Tables that are lists even where there is one.
const LISTS: [&str; 3] = ["uplink", "peer", "service"];

fn table(section: &Section, is_one: bool) -> String {
    let kind = toml_key(&section.kind);
    let header = if is_one { format!("[{kind}]") } else { format!("[[{kind}]]") };
    let mut text = format!("\n{header} # line {} of UCI\n", section.line);
    let has_name = section.options.iter().any(|(key, ..)| key == "name");
    if let Some(name) = section.name.as_ref().filter(|_| !has_name && !is_one) {
        let _ = writeln!(text, "name = {}", quoted_toml(name));
    }
    let mut inner: Vec<(&str, Vec<String>)> = Vec::new();
    for (key, values, is_list) in &section.options {
        let value = joined(key, values, *is_list);
        match key.split_once(INNER) {
            // A table of a table of a table is written behind dots: an inline table has a key once.
            Some((outer, rest)) => {
                let path: Vec<String> = rest.split(INNER).map(toml_key).collect();
                let entry = format!("{} = {value}", path.join("."));
                match inner.iter_mut().find(|(other, _)| *other == outer) {
                    Some((_, entries)) => entries.push(entry),
                    None => inner.push((outer, vec![entry])),
                }
            }
            None => text.push_str(&format!("{} = {value}\n", toml_key(key))),
        }
    }
    for (outer, entries) in inner {
        let _ = writeln!(text, "{} = {{ {} }}", toml_key(outer), entries.join(", "));
    }
    text
}

fn joined(key: &str, values: &[String], is_list: bool) -> String {
    let words: Vec<String> = values.iter().map(|value| read(key, value)).collect();
    if is_list { format!("[{}]", words.join(", ")) } else { words.last().cloned().unwrap_or_default() }
}

fn sections(uci: &str) -> Result<Vec<Section>, String> {
    let mut sections: Vec<Section> = Vec::new();
    for (number, line) in uci.lines().enumerate().map(|(number, line)| (number + 1, line)) {
        let wrong = |why: &str| format!("line {number}: {why}: {}", line.trim());
        let words = words(line).map_err(wrong)?;
        let Some((first, rest)) = words.split_first() else { continue };
        match (first.as_str(), rest) {
            ("package", [_]) => {}
            ("config", [kind]) => {
                sections.push(Section { kind: kind.clone(), line: number, ..Section::default() });
            }
            ("config", [kind, name]) => {
                let name = Some(name.clone());
                sections.push(Section { kind: kind.clone(), name, line: number, ..Section::default() });
            }
            ("option" | "list", [key, value]) => {
                let section = sections.last_mut().ok_or_else(|| wrong("there is no `config` before"))?;
                let is_list = first == "list";
                match section.options.iter_mut().find(|(other, ..)| other == key) {
                    Some((_, values, was_list)) if is_list && *was_list => values.push(value.clone()),
                    // As libuci does: the last one counts.
                    Some(slot) => *slot = (key.clone(), vec![value.clone()], is_list),
                    None => section.options.push((key.clone(), vec![value.clone()], is_list)),
                }
            }
            _ => return Err(wrong("write config TYPE, option KEY 'VALUE', or list KEY 'VALUE'")),
        }
    }
    Ok(sections)
}

/// The words of a line, quotes taken off; a comment ends it.
fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                word.get_or_insert_default().push(letters.next().ok_or("nothing follows the backslash")?);
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
#[path = "uci_tests.rs"]
mod tests;
