//! Overrides of the file: `--set key=value` and the cells of a sweep, by dotted path.
//!
//! A path names tables by their keys and the elements of lists by their `name`: `trunk.air.policy.distributor`,
//! `node.sender.radios.ch1.power`. A path to something that is not in the file creates the tables on its way, but never
//! an element of a list; whether its last key means anything is for the schema to say.

use super::error::{Complaint, Problem};
use super::nearest::{nearest, suggestion};
use super::source::{Source, Span};
use super::tree::{Data, NAMED_LISTS, Table, Value, Via, parse};
use std::sync::Arc;

/// One `--set`: a path and its value.
#[derive(Clone, Debug)]
pub(crate) struct Override {
    pub path: String,
    pub path_place: Span,
    pub value: Value,
}

/// Reads `key=value` of `option`, which becomes source number `source`.
pub(crate) fn read(option: &str, argument: &str, source: usize) -> (Source, Result<Override, Problem>) {
    let text: Arc<str> = Arc::from(argument);
    let made = Source { name: option.to_owned(), text: Arc::clone(&text) };
    let whole = Span { source, start: 0, end: argument.len() };
    let Some((path, value)) = argument.split_once('=') else {
        let help = "write key=value, as in radio.rate=\"11 Mbit/s\"";
        return (made, Err(Problem::at(whole, Complaint::new("there is no `=` between key and value", help))));
    };
    let path_place = Span { source, start: 0, end: path.trim_end().len() };
    let lead = value.len() - value.trim_start().len();
    let place =
        Span { source, start: path.len() + 1 + lead, end: argument.trim_end().len().max(path.len() + 1 + lead) };
    let path = path.trim().to_owned();
    let result = read_value(value.trim(), place).map(|value| Override { path, path_place, value });
    (made, result)
}

/// A TOML value, or a bare word as a text.
fn read_value(text: &str, place: Span) -> Result<Value, Problem> {
    let whole = |data| Value { data, place, via: Via::Option };
    let document = format!("v = {text}");
    match parse(&document, place.source, Via::Option) {
        Ok(table) if table.entries.len() == 1 => match table.get("v").map(|v| v.data.clone()) {
            // Places inside refer to the text made above: all of them become that of the whole value.
            Some(mut data) => {
                replace(&mut data, place);
                Ok(whole(data))
            }
            None => Ok(whole(Data::Text(text.to_owned()))),
        },
        _ if text.starts_with(['[', '{', '"', '\'']) => {
            let help = "brackets and quotes must close; the shell takes quotes away: 'key=\"value\"'";
            Err(Problem::at(place, Complaint::new("the value is not TOML", help)))
        }
        _ => Ok(whole(Data::Text(text.to_owned()))),
    }
}

fn replace(data: &mut Data, place: Span) {
    let one = |value: &mut Value| {
        value.place = place;
        replace(&mut value.data, place);
    };
    match data {
        Data::List(items) => items.iter_mut().for_each(one),
        Data::Table(table) => table.entries.iter_mut().for_each(|e| {
            e.key_place = place;
            one(&mut e.value);
        }),
        _ => {}
    }
}

/// Sets `path` in `table` to `value`.
pub(crate) fn apply(table: &mut Table, path: &str, path_place: Span, value: &Value) -> Result<(), Problem> {
    let segments: Vec<&str> = path.split('.').collect();
    if segments.iter().any(|s| s.is_empty()) {
        let help = "a path is keys and names with points between: trunk.air.policy.distributor";
        return Err(Problem::at(path_place, Complaint::new(format!("`{path}` is not a path to a key"), help)));
    }
    descend(table, &segments, 0, path_place, value).map_err(|complaint| Problem::at(path_place, complaint))
}

fn descend(table: &mut Table, segments: &[&str], depth: usize, place: Span, value: &Value) -> Result<(), Complaint> {
    let key = segments[depth];
    let so_far = segments[..=depth].join(".");
    if depth + 1 == segments.len() {
        if depth == 0 && NAMED_LISTS.contains(&key) {
            let help = format!("name one of them and a key of it: {key}.NAME.KEY");
            return Err(Complaint::new(format!("`{key}` is a list of tables, not a value"), help));
        }
        table.set(key, place, value.clone());
        return Ok(());
    }
    if table.get(key).is_none() {
        if depth == 0 && NAMED_LISTS.contains(&key) {
            return Err(Complaint::new(
                format!("the scenario has no [[{key}]]"),
                format!("add a [[{key}]] to the file"),
            ));
        }
        let empty = Value { data: Data::Table(Table::default()), place, via: value.via };
        table.set(key, place, empty);
    }
    let Some(entry) = table.entries.iter_mut().find(|e| e.key == key) else { return Ok(()) };
    match &mut entry.value.data {
        Data::Table(inner) => descend(inner, segments, depth + 1, place, value),
        Data::List(items) => {
            let element = element(items, segments[depth + 1], &so_far)?;
            if depth + 2 == segments.len() {
                let path = segments.join(".");
                return Err(Complaint::new(
                    format!("`{path}` is a whole table"),
                    format!("name a key of it: {path}.KEY"),
                ));
            }
            descend(element, segments, depth + 2, place, value)
        }
        _ => {
            let help = format!("set `{so_far}` itself, to a table: {so_far}={{ ... }}");
            Err(Complaint::new(format!("`{so_far}` is {}, not a table", entry.value.show()), help))
        }
    }
}

/// The element of a list that has this name (or number, for lists without names).
fn element<'a>(items: &'a mut [Value], name: &str, so_far: &str) -> Result<&'a mut Table, Complaint> {
    let names: Vec<String> = items.iter().enumerate().map(|(i, item)| name_of(item, i)).collect();
    let Some(index) = names.iter().position(|n| n == name) else {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let first = names.first().filter(|_| nearest(name, &names).is_none());
        let path = first.map(|first| format!("; a path names it, as in {so_far}.{first}.KEY"));
        let help = suggestion(name, &names) + &path.unwrap_or_default();
        return Err(Complaint::new(format!("nothing in `{so_far}` is called `{name}`"), help));
    };
    let item = &mut items[index];
    if let Data::Integer(channel) = item.data {
        // The short form of a radio becomes its long form.
        let value = |data| Value { data, place: item.place, via: item.via };
        let mut table = Table::default();
        table.set("name", item.place, value(Data::Text(format!("ch{channel}"))));
        table.set("channel", item.place, value(Data::Integer(channel)));
        item.data = Data::Table(table);
    }
    match &mut item.data {
        Data::Table(table) => Ok(table),
        _ => Err(Complaint::bare(format!("`{so_far}.{name}` is not a table"))),
    }
}

fn name_of(item: &Value, index: usize) -> String {
    match &item.data {
        Data::Integer(channel) => format!("ch{channel}"),
        Data::Table(table) => match (table.get("name").map(|v| &v.data), table.get("channel").map(|v| &v.data)) {
            (Some(Data::Text(name)), _) => name.clone(),
            (_, Some(Data::Integer(channel))) => format!("ch{channel}"),
            _ => index.to_string(),
        },
        _ => index.to_string(),
    }
}
