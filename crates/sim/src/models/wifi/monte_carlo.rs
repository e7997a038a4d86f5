//! A cell of saturated stations, access by access: whose counter ends first sends, whoever ends with it collides.
//!
//! No medium and no frames: the time between two accesses is arithmetic on counters. Stations hear each other at once,
//! and one frame alone is never lost.

use super::exchange::{Access, Exchange};
use airbraid_engine::Stream;
use airbraid_units::Duration;

/// The rule by which a counter that is interrupted has gone down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Countdown {
    /// Once for each idle slot (10.3.4.3).
    Dcf,
    /// Once at the end of the AIFS and once for each idle slot (10.23.2.4).
    Edca,
}

/// The answer to a lost block acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The A-MPDU is sent again.
    Again,
    /// A block acknowledgement request first.
    Request,
}

/// A saturated station.
#[derive(Clone, Copy, Debug)]
pub struct Station {
    pub access: Access,
    pub aifs: Duration,
    pub exchange: Exchange,
    pub repair: Repair,
}

/// A cell.
#[derive(Clone, Debug)]
pub struct Cell {
    pub stations: Vec<Station>,
    pub slot: Duration,
    /// Two transmissions that begin within this time collide: who is committed does not hear the other.
    pub turnaround: Duration,
    pub countdown: Countdown,
    /// Whether each frame of a collision arrives, because every receiver is far nearer to its sender than to others.
    pub captures: bool,
    /// The time that those who heard a collision wait longer than their AIFS: EIFS - DIFS (10.3.2.3.7), or nothing.
    pub after_error: Duration,
}

/// The account of one station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationResult {
    /// Packets that arrived.
    pub packets: u64,
    /// Transmissions, requests included, and those that were lost.
    pub attempts: u64,
    pub failures: u64,
}

#[derive(Clone, Copy)]
struct Contender {
    counter: u32,
    failures: u32,
    /// End of the AIFS in which it counts next, after the end of the last busy time.
    counts_from: Duration,
    owes_request: bool,
}

/// The accounts of `time` in the cell.
pub fn simulate(cell: &Cell, time: Duration, seed: u64) -> Vec<StationResult> {
    let mut streams: Vec<Stream> =
        (0..cell.stations.len()).map(|i| Stream::new(seed, i as u64, "wifi.model")).collect();
    let mut results = vec![StationResult::default(); cell.stations.len()];
    let mut draw = |i: usize, failures: u32| streams[i].up_to(cell.stations[i].access.window(failures));
    let mut contenders: Vec<Contender> = (cell.stations.iter().enumerate())
        .map(|(i, station)| {
            let (counter, failures) = (draw(i, 0), 0);
            Contender { counter, failures, counts_from: station.aifs, owes_request: false }
        })
        .collect();
    let mut now = Duration::ZERO;
    while now < time {
        let begins = |contender: &Contender| contender.counts_from + cell.slot * u64::from(contender.counter);
        let Some(first) = contenders.iter().map(begins).min() else { break };
        let is_sender = |contender: &Contender| begins(contender) < first + cell.turnaround;
        let senders: Vec<usize> = (0..contenders.len()).filter(|&i| is_sender(&contenders[i])).collect();
        for (i, contender) in contenders.iter_mut().enumerate() {
            if !senders.contains(&i) {
                contender.counter -= decrements(cell, contender, first);
            }
        }
        let busy = if let [only] = senders[..] {
            succeed(cell, only, &mut contenders, &mut results)
        } else {
            collide(cell, &senders, first, &mut contenders, &mut results)
        };
        for &i in &senders {
            contenders[i].counter = draw(i, contenders[i].failures);
        }
        now += first + busy;
    }
    results
}

/// Decrements of a counter that another's transmission interrupts at `at`.
fn decrements(cell: &Cell, contender: &Contender, at: Duration) -> u32 {
    if at < contender.counts_from {
        return 0;
    }
    let idle = ((at - contender.counts_from).as_nanos() / cell.slot.as_nanos()) as u32;
    let counted = if cell.countdown == Countdown::Edca { idle + 1 } else { idle };
    counted.min(contender.counter)
}

/// The time of an access without another's, which succeeds.
fn succeed(cell: &Cell, i: usize, contenders: &mut [Contender], results: &mut [StationResult]) -> Duration {
    let exchange = &cell.stations[i].exchange;
    results[i].attempts += 1;
    contenders[i].failures = 0;
    for (contender, station) in contenders.iter_mut().zip(&cell.stations) {
        contender.counts_from = station.aifs;
    }
    if std::mem::take(&mut contenders[i].owes_request) {
        return exchange.request_success;
    }
    results[i].packets += exchange.packets;
    exchange.success
}

/// The time of an access of several, which are all lost, unless every receiver has the stronger signal.
fn collide(
    cell: &Cell,
    senders: &[usize],
    first: Duration,
    contenders: &mut [Contender],
    results: &mut [StationResult],
) -> Duration {
    if cell.captures {
        return senders.iter().map(|&i| succeed(cell, i, contenders, results)).max().unwrap_or(first);
    }
    let end_of = |i: usize, contender: &Contender| {
        let exchange = &cell.stations[i].exchange;
        let begin = contender.counts_from + cell.slot * u64::from(contender.counter);
        begin + if contender.owes_request { exchange.request } else { exchange.lost }
    };
    let end = senders.iter().map(|&i| end_of(i, &contenders[i])).max().unwrap_or(first);
    for (i, station) in cell.stations.iter().enumerate() {
        let contender = &mut contenders[i];
        if !senders.contains(&i) {
            contender.counts_from = cell.after_error + station.aifs;
            continue;
        }
        results[i].attempts += 1;
        results[i].failures += 1;
        let given_up = end_of(i, contender) + station.exchange.timeout;
        contender.counts_from = given_up.saturating_sub(end) + station.aifs;
        contender.failures = station.access.after_failure(contender.failures);
        contender.owes_request |= station.repair == Repair::Request;
    }
    end - first
}
