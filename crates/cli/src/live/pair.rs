//! `airbraid pair` and `unpair`: questions to a person, and the result.

use super::arguments::{Pair, Unpair};
use super::{daemon, ended};
use crate::columns::columns;
use crate::interrupt;
use crate::print::{Ended, note, out};
use airbraid_live::LabError;
use airbraid_live::daemon::pair::{
    Candidate, Hands, JoinOptions, Joined, LINE_MAX, OfferOptions, Speed, Ticket, candidates, join, offer, own_address,
    unpair as undo,
};
use airbraid_live::daemon::site::Prefix;
use airbraid_sim::metric::Unit;
use std::io::{BufRead, IsTerminal, Read};
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;
use zeroize::Zeroizing;

/// Longest answer to a question \[byte\].
const ANSWER_MAX: u64 = 1_024;

pub fn pair(arguments: &Pair) -> Result<(), Ended> {
    if !nix::unistd::geteuid().is_root() {
        return Err(Ended::Failed("only root may make a tunnel: run it by sudo".to_owned()));
    }
    if arguments.join { join_other(arguments) } else { offer_line(arguments) }
}

/// Undoes a pairing.
pub fn unpair(arguments: &Unpair) -> Result<(), Ended> {
    let flag = interrupt::flag();
    let said = undo(&arguments.folder, &arguments.name, &hands(&|| flag.load(Ordering::Relaxed), &|_| {}));
    out(&format!("{}\n", said.map_err(ended)?))
}

/// The parts of pairing that are this command's.
fn hands<'a>(is_over: &'a dyn Fn() -> bool, say: &'a dyn Fn(&str)) -> Hands<'a> {
    Hands { up: &up, down: &down, is_over, say }
}

fn up(file: &Path) -> Result<(), LabError> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    daemon::in_background(file, &name).map_err(|ended| failed(ended, &format!("{name} does not start")))
}

fn down(name: &str) -> Result<(), LabError> {
    daemon::end(name).map_err(|ended| failed(ended, &format!("{name} does not end")))
}

fn failed(ended: Ended, otherwise: &str) -> LabError {
    match ended {
        Ended::Argument(message) => LabError::Input(message),
        Ended::Failed(message) => LabError::Failed(message),
        _ => LabError::Failed(otherwise.to_owned()),
    }
}

/// Prints a line and waits for the other end.
fn offer_line(arguments: &Pair) -> Result<(), Ended> {
    let asks = !arguments.yes && std::io::stdin().is_terminal();
    let address = match (&arguments.address, own_address()) {
        (Some(address), _) => address.clone(),
        (None, Some(own)) if asks => {
            asked("Name or address at which the other machine reaches this one", &own.to_string())?
        }
        (None, Some(own)) if is_public(own) => own.to_string(),
        (None, own) => {
            let own =
                own.map_or_else(|| "has no route outside".to_owned(), |own| format!("is {own} in its own network"));
            return Err(Ended::Argument(format!(
                "this host {own}: say by --address where the other machine reaches it"
            )));
        }
    };
    let is_fine =
        !address.is_empty() && address.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':'));
    if !is_fine {
        return Err(Ended::Argument(format!("--address {address}: write a name or an address, without a port")));
    }
    let flag = interrupt::flag();
    let said = |line: &str| drop(out(&format!("{line}\n")));
    let name = offer(&OfferOptions {
        folder: &arguments.folder,
        name: arguments.name.as_deref().unwrap_or("hub"),
        address: &address,
        port: arguments.port,
        valid: Duration::from_secs(arguments.valid.into()),
        hands: hands(&|| flag.load(Ordering::Relaxed), &said),
    });
    let name = name.map_err(ended)?;
    let own = arguments.name.as_deref().unwrap_or("hub");
    out(&format!(
        "paired with {name}: `airbraid status {own}` shows it, `airbraid unpair {name}` undoes it.\n\
         After a restart of this machine: systemctl enable airbraid@{own}\n"
    ))
}

/// Whether the Internet reaches an address, as far as the address says.
fn is_public(address: IpAddr) -> bool {
    match address {
        // RFC 1918, RFC 3927, and RFC 6598: 100.64.0.0/10.
        IpAddr::V4(at) => {
            let is_shared = at.octets()[0] == 100 && at.octets()[1] >> 6 == 1;
            !(at.is_private() || at.is_link_local() || at.is_loopback() || is_shared)
        }
        IpAddr::V6(at) => !at.is_unique_local() && !at.is_loopback(),
    }
}

/// Reads the line, asks what is open, and pairs.
fn join_other(arguments: &Pair) -> Result<(), Ended> {
    let asks = !arguments.yes && std::io::stdin().is_terminal();
    if std::io::stdin().is_terminal() {
        note("Paste the line of the other machine:");
    }
    let ticket = Ticket::parse(&read_line(LINE_MAX as u64 + 2)?).map_err(Ended::Argument)?;
    let known = candidates().map_err(ended)?;
    let uplinks = uplinks(arguments, &known, asks)?;
    let networks = networks(arguments, asks)?;
    let lan = lan(arguments, &known, &uplinks, asks)?;
    let name = arguments.name.clone().unwrap_or_else(host_name);
    let flag = interrupt::flag();
    let joined = join(&JoinOptions {
        folder: &arguments.folder,
        name: &name,
        ticket: &ticket,
        uplinks,
        networks,
        except: arguments.except.clone(),
        lan,
        test: Duration::from_secs_f64(arguments.test),
        patience: Duration::from_secs_f64(arguments.wait),
        hands: hands(&|| flag.load(Ordering::Relaxed), &|line| note(line)),
    });
    let joined = joined.map_err(ended)?;
    if arguments.json {
        let text = serde_json::to_string(&joined).map_err(|error| Ended::Failed(error.to_string()))?;
        return out(&(text + "\n"));
    }
    out(&report(&joined))
}

fn uplinks(arguments: &Pair, known: &[Candidate], asks: bool) -> Result<Vec<String>, Ended> {
    if !arguments.uplink.is_empty() {
        return Ok(arguments.uplink.clone());
    }
    let ways: Vec<String> = known.iter().filter(|one| one.is_way_out).map(|one| one.device.clone()).collect();
    let found = if asks { chosen("Uplinks", known, &ways)? } else { ways };
    if found.is_empty() {
        let help = "name the devices by --uplink";
        return Err(Ended::Argument(format!("this host has no default route that says what its uplinks are: {help}")));
    }
    Ok(found)
}

fn networks(arguments: &Pair, asks: bool) -> Result<Option<Vec<Prefix>>, Ended> {
    if !arguments.network.is_empty() {
        return Ok(Some(arguments.network.clone()));
    }
    let text =
        if asks { asked("Traffic that goes through the tunnel: all, or networks", "all")? } else { "all".to_owned() };
    if text == "all" {
        return Ok(None);
    }
    let parsed = words(&text).map(Prefix::parse).collect::<Result<Vec<_>, _>>();
    parsed.map(Some).map_err(Ended::Argument)
}

fn lan(arguments: &Pair, known: &[Candidate], uplinks: &[String], asks: bool) -> Result<Vec<String>, Ended> {
    let others: Vec<Candidate> = known.iter().filter(|one| !uplinks.contains(&one.device)).cloned().collect();
    if !arguments.lan.is_empty() || !asks || others.is_empty() {
        return Ok(arguments.lan.clone());
    }
    chosen("Devices whose hosts use the tunnel, too", &others, &[])
}

/// Lets a person choose devices.
fn chosen(what: &str, known: &[Candidate], default: &[String]) -> Result<Vec<String>, Ended> {
    for one in known {
        let networks: Vec<String> = one.networks.iter().map(Prefix::to_string).collect();
        note(&format!(
            "  {:<15} {}{}",
            one.device,
            networks.join(", "),
            if one.is_way_out { ", a default route" } else { "" }
        ));
    }
    let default = if default.is_empty() { "none".to_owned() } else { default.join(" ") };
    let text = asked(what, &default)?;
    if text == "none" {
        return Ok(Vec::new());
    }
    let names: Vec<String> = words(&text).map(str::to_owned).collect();
    match names.iter().find(|name| !known.iter().any(|one| one.device == **name)) {
        Some(name) => Err(Ended::Argument(format!("there is no device `{name}` with an address here"))),
        None => Ok(names),
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',']).filter(|word| !word.is_empty())
}

/// Asks a person; an empty answer is the default.
fn asked(question: &str, default: &str) -> Result<String, Ended> {
    note(&format!("{question} [{default}]:"));
    let answer = read_line(ANSWER_MAX)?;
    let answer = answer.trim();
    Ok(if answer.is_empty() { default.to_owned() } else { answer.to_owned() })
}

fn read_line(most: u64) -> Result<Zeroizing<String>, Ended> {
    let mut line = Zeroizing::new(String::new());
    let read = std::io::stdin().lock().take(most).read_line(&mut line);
    read.map_err(|error| Ended::Failed(format!("standard input: {error}")))?;
    Ok(line)
}

/// This host's name, as far as an end can be called so.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let label = name.trim().split('.').next().unwrap_or_default();
    let fine: String = label.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(32).collect();
    let fine = fine.trim_start_matches('-');
    if fine.is_empty() { "office".to_owned() } else { fine.to_owned() }
}

fn report(joined: &Joined) -> String {
    let head = ["uplink", "round trip", "down", "up"].map(str::to_owned).to_vec();
    let row = |name: &str, speed: &Speed| {
        let rate = |bps: f64| if bps > 0.0 { Unit::BitPerSecond.show(bps) } else { "-".to_owned() };
        vec![name.to_owned(), Unit::Second.show(speed.rtt_s), rate(speed.down_bps), rate(speed.up_bps)]
    };
    let silent = |name: &str| vec![name.to_owned(), "does not answer".to_owned(), "-".to_owned(), "-".to_owned()];
    let uplinks = joined
        .uplinks
        .iter()
        .map(|one| one.speed.as_ref().map_or_else(|| silent(&one.name), |speed| row(&one.name, speed)));
    let together = joined.together.iter().map(|speed| row("all together", speed));
    let mut text = columns(&std::iter::once(head).chain(uplinks).chain(together).collect::<Vec<_>>());
    for one in &joined.uplinks {
        if let Some(remedy) = &one.remedy {
            text.push_str(&format!("{}: {remedy}; it is used as soon as it works\n", one.name));
        }
    }
    let name = &joined.name;
    text + &format!(
        "paired with {}: {} is up. `airbraid status {name}` shows it, `airbraid unpair {name}` undoes it.\n\
         After a restart of this machine: systemctl enable airbraid@{name}\n",
        joined.peer,
        joined.file.display()
    )
}
