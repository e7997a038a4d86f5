//! `airbraid trace`.

use crate::arguments::Trace;
use crate::columns::columns;
use crate::print::{Ended, json, note, out};
use airbraid_campaign::output;
use airbraid_sim::killer::Event;
use airbraid_sim::killer::environment::{Environment, PACKET_BYTES, Rate, check, rates};
use airbraid_sim::killer::trace::{Summary, read, write};
use std::path::Path;
use std::sync::Arc;

/// Generates or reads a trace, and prints its rates.
pub fn trace(arguments: &Trace) -> Result<(), Ended> {
    let place = arguments.place.as_deref().and_then(Environment::named);
    let events = match (&arguments.read, place) {
        (Some(file), _) => from_file(file)?,
        (None, Some(place)) => place.trace(arguments.seed),
        (None, None) => return Err(Ended::Argument("name a place".to_owned())),
    };
    let found = Summary::of(&events, PACKET_BYTES);
    let rates = place.map_or_else(|| rates(None, &found), |place| check(place, &found));
    if let Some(file) = &arguments.out {
        let failed = |e| Ended::Argument(format!("--out {}: {e}", file.display()));
        output::write_file(file, &write(&events)).map_err(failed)?;
        note(&format!("written: {}", file.display()));
    }
    if arguments.json {
        let place = place.map(|place| place.name);
        json(&serde_json::json!({ "place": place, "packet_bytes": PACKET_BYTES, "rates": rates }))?;
    } else {
        out(&text(arguments, &rates))?;
    }
    if rates.iter().any(|rate| rate.holds == Some(false)) { Err(Ended::Silent(1)) } else { Ok(()) }
}

fn from_file(file: &Path) -> Result<Arc<[Event]>, Ended> {
    let refuse = |why: String| Ended::Argument(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|e| refuse(e.to_string()))?;
    Ok(read(&text).map_err(|wrong| refuse(wrong.to_string()))?.into())
}

fn text(arguments: &Trace, rates: &[Rate]) -> String {
    let of = match (&arguments.read, &arguments.place) {
        (Some(file), _) => file.display().to_string(),
        (None, place) => format!("{}, seed {}", place.as_deref().unwrap_or_default(), arguments.seed),
    };
    let mut rows = vec![["", "printed", "this trace", "deviation", ""].map(str::to_owned).to_vec()];
    rows.extend(rates.iter().map(|rate| {
        let deviation = match rate.printed {
            Some(printed) if printed > 0.0 => format!("{:+.1} %", 100.0 * (rate.found / printed - 1.0)),
            _ => String::new(),
        };
        let holds = match rate.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "",
        };
        vec![
            rate.name.to_owned(),
            rate.printed.map_or_else(|| "-".to_owned(), number),
            number(rate.found),
            deviation,
            holds.to_owned(),
        ]
    }));
    format!(
        "{of}: packets of {PACKET_BYTES} byte; lost of all, truncated of the rest, corrupted of the rest\n{}",
        columns(&rows)
    )
}

/// Counts as they are, shares with two or three digits.
fn number(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value >= 10.0 {
        format!("{value:.0}")
    } else if value >= 0.01 {
        format!("{value:.3}")
    } else {
        format!("{value:.2e}")
    }
}
