//! `airbraid lab`.

use super::arguments::Lab;
use super::ended;
use crate::arguments::Over;
use crate::columns::columns;
use crate::input;
use crate::print::{Ended, json, note, out};
use airbraid_campaign::{Made, output};
use airbraid_live::lab::{self, CommandResult, LabCommand, LabOptions, LabResult};
use airbraid_sim::metric::Unit;
use airbraid_sim::result::FlowResult;
use airbraid_sim::scenario::spec::Spec;
use airbraid_units::{Duration, Quantity};
use std::fmt::Write as _;

/// Rows of the table by interval.
const ROWS_MAX: usize = 30;

/// Runs a scenario in real time and prints the result.
pub fn lab(arguments: &Lab) -> Result<(), Ended> {
    let Some(file) = &arguments.file else { return clean() };
    let over = Over {
        set: arguments.set.clone(),
        seed: arguments.seed.clone(),
        duration: arguments.duration.clone(),
        replications: None,
    };
    let scenario = input::input(file, &over)?.scenario;
    let plan = scenario.plan()?;
    let [cell] = &plan.cells[..] else {
        let message = "a lab runs one cell, and the scenario sweeps several: pin the swept keys by --set";
        return Err(Ended::Argument(message.to_owned()));
    };
    if let Some(dir) = &arguments.out {
        output::check_target(dir).map_err(|e| Ended::Argument(format!("--out {}: {e}", dir.display())))?;
    }
    let mut spec = cell.spec.clone();
    let options = options(arguments, &plan.file, &mut spec)?;
    let mut done = lab::lab(&spec, &options).map_err(ended)?;
    let made = Made { pcap: arguments.pcap, ..Made::of("airbraid lab", &scenario, &plan) };
    done.result.made = serde_json::to_value(made).unwrap_or_default();
    if let Some(dir) = &arguments.out {
        lab::write(dir, &done).map_err(|e| Ended::Failed(format!("--out {}: {e}", dir.display())))?;
        note(&format!("written: {}", dir.display()));
    }
    if arguments.json {
        json(&done.result)?;
    } else {
        out(&report(&done.result))?;
    }
    if done.result.commands.iter().all(CommandResult::is_fine) { Ok(()) } else { Err(Ended::Silent(1)) }
}

fn options<'a>(arguments: &Lab, file: &str, spec: &mut Spec) -> Result<LabOptions<'a>, Ended> {
    let wrong = |option: &str, value: &str, why: String| Ended::Argument(format!("{option} {value}: {why}"));
    let node = |option: &str, value: &str, name: &str| {
        let names: Vec<&str> = spec.nodes.iter().map(|node| node.name.as_str()).collect();
        let found = names.iter().position(|other| *other == name);
        found.ok_or_else(|| wrong(option, value, format!("there is no node `{name}`; allowed: {}", names.join(", "))))
    };
    let mut execs = Vec::new();
    for said in &arguments.exec {
        let Some((place, command)) = said.split_once('=').filter(|(_, command)| !command.trim().is_empty()) else {
            return Err(wrong("--exec", said, "write NODE=COMMAND, or NODE:PORT=COMMAND".to_owned()));
        };
        let (name, ready) = match place.split_once(':') {
            None => (place, None),
            Some((name, port)) => match port.trim().parse::<u16>() {
                Ok(port) if port > 0 => (name, Some(port)),
                _ => return Err(wrong("--exec", said, format!("`{}` is no port: 1 to 65535", port.trim()))),
            },
        };
        let node = node("--exec", said, name.trim())?;
        execs.push(LabCommand { node, command: command.to_owned(), start: Duration::ZERO, ready });
    }
    let shell = arguments.shell.as_deref().map(|name| node("--shell", name, name)).transpose()?;
    let max_lateness = Duration::parse(&arguments.max_lateness)
        .map_err(|error| wrong("--max-lateness", &arguments.max_lateness, error.to_string()))?;
    if !execs.is_empty() || shell.is_some() {
        spec.execs.clear();
    }
    let name = match arguments.name.as_deref() {
        Some(name) => lab::check_name(name).map(|()| name.to_owned()).map_err(|why| wrong("--name", name, why))?,
        None => lab::lab_name(file),
    };
    let quiet = arguments.json || shell.is_some();
    Ok(LabOptions {
        name,
        file: file.to_owned(),
        execs,
        shell,
        pcap: arguments.pcap,
        max_lateness,
        echo: (!quiet).then_some(&|node, line| {
            let _ = out(&format!("{node} | {line}\n"));
        }),
    })
}

fn clean() -> Result<(), Ended> {
    let said = lab::clean().map_err(ended)?;
    if said.is_empty() { out("nothing was left\n") } else { out(&(said.join("\n") + "\n")) }
}

/// The report for a person.
fn report(result: &LabResult) -> String {
    let mut text = format!("\n{}, seed {}, {:.1} s\n", result.title, result.seed, result.duration_s);
    if !result.commands.is_empty() {
        text.push_str(&columns(&commands(result)));
    }
    text.push('\n');
    text.push_str(&columns(&interfaces(result)));
    text.push('\n');
    text.push_str(&columns(&by_interval(result)));
    if !result.macs.is_empty() {
        text.push('\n');
        text.push_str(&columns(&macs(result)));
    }
    if !result.flows.is_empty() {
        text.push('\n');
        text.push_str(&columns(&flows(result)));
    }
    let drops: Vec<String> = result.drops.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
    let _ = writeln!(text, "\n  drops: {}", if drops.is_empty() { "none".to_owned() } else { drops.join(", ") });
    let late = result.lateness_s;
    let show = |seconds| Unit::Second.show(seconds);
    let [p50, p999, max] = [late.p50, late.p999, late.max].map(show);
    let _ = writeln!(text, "  events late by {p50} (median), {p999} (99.9 %), {max} (largest)");
    let unread: u64 = result.interfaces.iter().map(|interface| interface.device_drops).sum();
    if unread > 0 {
        let _ = writeln!(
            text,
            "  {unread} packets were lost before the lab read them (device drops): the hosts send faster than it reads"
        );
    }
    if !result.trusted {
        let limit = show(late.limit);
        let _ = writeln!(
            text,
            "  NOT TO BE TRUSTED: the clock was not kept, {p999} where {limit} is the limit; take a faster or idler machine, \
             or a smaller scenario"
        );
    }
    text
}

fn head(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn commands(result: &LabResult) -> Vec<Vec<String>> {
    let row = |command: &CommandResult| {
        let how = match (command.start_s, command.exit, command.signal) {
            (None, ..) if command.stderr.is_empty() => "never started".to_owned(),
            (None, ..) => command.stderr.clone(),
            _ if command.stopped => "stopped by the lab".to_owned(),
            (_, Some(exit), _) => format!("exit {exit}"),
            (_, _, signal) => format!("signal {}", signal.unwrap_or_default()),
        };
        let time = match (command.start_s, command.end_s) {
            (Some(start), Some(end)) => format!("{start:.1} to {end:.1} s"),
            _ => String::new(),
        };
        vec![command.node.clone(), how, time, command.command.clone()]
    };
    std::iter::once(head(&["command of", "ended", "from", "what"])).chain(result.commands.iter().map(row)).collect()
}

fn rate(bits_per_second: f64) -> String {
    Unit::BitPerSecond.show(bits_per_second)
}

fn time(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".to_owned(), |seconds| Unit::Second.show(seconds))
}

fn interfaces(result: &LabResult) -> Vec<Vec<String>> {
    let words = ["interface", "address", "sent", "received", "packets", "delay mean", "largest", "device drops"];
    let mut rows = vec![head(&words)];
    for interface in &result.interfaces {
        let mean = |bytes: u64| rate(bytes as f64 * 8.0 / result.duration_s.max(1e-9));
        rows.push(vec![
            format!("{}/{}", interface.node, interface.name),
            interface.address.clone(),
            mean(interface.sent_bytes),
            mean(interface.received_bytes),
            format!("{} / {}", interface.sent_packets, interface.received_packets),
            time(interface.delay_mean_s),
            time(interface.delay_max_s),
            interface.device_drops.to_string(),
        ]);
    }
    rows
}

/// Received rate and delay of each interface, by interval.
fn by_interval(result: &LabResult) -> Vec<Vec<String>> {
    let series = &result.series;
    let mut top = vec!["until".to_owned()];
    for interface in &result.interfaces {
        top.push(format!("to {}/{}", interface.node, interface.name));
        top.push("delay".to_owned());
    }
    if !result.macs.is_empty() {
        top.extend(head(&["frames", "retries"]));
    }
    let mut rows = vec![top];
    for (place, end) in series.end_s.iter().enumerate().take(ROWS_MAX) {
        let mut row = vec![format!("{end:.1} s")];
        for interface in &series.interfaces {
            row.push(rate(interface.received_bps[place]));
            row.push(time(interface.delay_mean_s[place]));
        }
        if !result.macs.is_empty() {
            row.push(series.macs.iter().map(|mac| mac.data_frames[place]).sum::<u64>().to_string());
            row.push(series.macs.iter().map(|mac| mac.retries[place]).sum::<u64>().to_string());
        }
        rows.push(row);
    }
    let left = series.end_s.len().saturating_sub(ROWS_MAX);
    if left > 0 {
        rows.push(vec![format!("and {left} more: --json")]);
    }
    rows
}

/// The flows that are simulated.
fn flows(result: &LabResult) -> Vec<Vec<String>> {
    let row = |flow: &FlowResult| vec![flow.name.clone(), flow.from.clone(), flow.to.clone(), rate(flow.goodput_bps)];
    std::iter::once(head(&["simulated flow", "from", "to", "goodput"])).chain(result.flows.iter().map(row)).collect()
}

fn macs(result: &LabResult) -> Vec<Vec<String>> {
    let words = ["radio", "data frames", "retries", "given up", "collisions", "channel errors", "airtime"];
    let mut rows = vec![head(&words)];
    for mac in &result.macs {
        let counts = [
            mac.counts.data_frames,
            mac.counts.retries,
            mac.counts.retry_limit_drops,
            mac.counts.collisions,
            mac.counts.channel_errors,
        ];
        let mut row = vec![format!("{}/{}", mac.node, mac.radio)];
        row.extend(counts.map(|count| count.to_string()));
        row.push(format!("{:.1} %", 100.0 * mac.airtime));
        rows.push(row);
    }
    rows
}
