//! Saturated cells of 802.11a to 802.11be by closed forms, as `airbraid plan wifi` prints them: one access, one sender,
//! n stations by Bianchi and by random draws. Nothing is simulated.

mod options;

use options::Load;
pub use options::{AccessOptions, FrameOptions, RadioOptions};

use airbraid_sim::models::wifi::{
    Access, Cell, Countdown, Exchange, LoadedCell, Repair, Sender, Station, fixed_point, simulate, throughput_bps,
};
use airbraid_units::{Bytes, Duration};
use serde::Serialize;
use std::fmt::Write as _;

/// A saturated cell.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// MPDUs of the first PPDU of an access.
    pub mpdus: u64,
    pub psdu_bytes: u64,
    /// Exchanges of an access, and the packets that they carry.
    pub exchanges: u64,
    pub packets: u64,
    /// One PPDU of data.
    pub data_ns: u64,
    /// An access from its first frame to the last answer.
    pub access_ns: u64,
    /// Goodput of one sender of the first category that contends with nobody \[bit/s\].
    pub alone_bps: f64,
    /// `null` with several categories.
    pub bianchi: Option<Bianchi>,
    pub contention: Contention,
    /// `null` without a load.
    pub delay: Option<Delay>,
}

/// Delays of a packet by load, in closed form.
#[derive(Clone, Debug, Serialize)]
pub struct Delay {
    /// Probability that a transmission succeeds.
    pub success: f64,
    /// From the head of the queue to the answer \[s\].
    pub access_s: f64,
    /// With the time in the queue \[s\]; `null`: the queues are full.
    pub end_to_end_s: Option<f64>,
}

/// Bianchi's model.
#[derive(Clone, Debug, Serialize)]
pub struct Bianchi {
    /// Probability that a station sends in a slot.
    pub tau: f64,
    /// Probability that a transmission collides.
    pub collision: f64,
    pub goodput_bps: f64,
}

/// The same rules access by access, with random draws.
#[derive(Clone, Debug, Serialize)]
pub struct Contention {
    pub goodput_bps: f64,
    pub categories: Vec<CategoryReport>,
}

/// The stations of a category together.
#[derive(Clone, Debug, Serialize)]
pub struct CategoryReport {
    pub category: String,
    pub goodput_bps: f64,
    pub share: f64,
    /// Share of transmissions that are lost.
    pub failures: f64,
}

/// The options of a cell.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub radio: RadioOptions,
    pub frames: FrameOptions,
    pub access: AccessOptions,
}

impl Request {
    /// # Errors
    /// A message that names the wrong option, or the combination that the standard does not have and what is near.
    pub fn check(&self) -> Result<(), String> {
        self.frames.sender(&self.radio)?;
        self.access.time()?;
        self.access.load()?;
        if self.access.categories()?.is_empty() { Err("--categories: one at least".to_owned()) } else { Ok(()) }
    }
}

/// Computes the cell; `seed` is that of the draws.
///
/// # Errors
/// A message that names the wrong option, or the combination that the standard does not have and what is near.
pub fn compute(request: &Request, seed: u64) -> Result<Report, String> {
    let (sender, bits) = request.frames.sender(&request.radio)?;
    let categories = request.access.categories()?;
    let Some((_, first)) = categories.first() else { return Err("--categories: one at least".to_owned()) };
    let exchange = sender.exchange();
    let bianchi = match &categories[..] {
        [(_, access)] => Some(bianchi(&sender, &exchange, access, request.access.stations, bits)),
        _ => None,
    };
    let delay = request.access.load()?.map(|load| delay(&sender, &exchange, (first, &request.access), load, bits));
    Ok(Report {
        delay,
        mpdus: exchange.mpdus,
        psdu_bytes: exchange.psdu.as_u64(),
        exchanges: exchange.exchanges,
        packets: exchange.packets,
        data_ns: exchange.data.as_nanos(),
        access_ns: exchange.success.as_nanos(),
        alone_bps: sender.alone_bps(first, bits),
        bianchi,
        contention: contention(&sender, &exchange, (&categories, &request.access), bits, seed)?,
    })
}

fn bianchi(sender: &Sender, exchange: &Exchange, access: &Access, stations: u32, bits: u64) -> Bianchi {
    let point = fixed_point(access, stations);
    let aifs = access.aifs(&sender.phy);
    let success = ((exchange.packets * bits) as f64, exchange.success + aifs);
    let goodput_bps = throughput_bps(point, stations, sender.phy.slot, success, exchange.lost + aifs);
    Bianchi { tau: point.tau, collision: point.collision, goodput_bps }
}

/// The delays at a load \[bit/s\] of all stations together, or with full queues.
fn delay(
    sender: &Sender,
    exchange: &Exchange,
    (access, options): (&Access, &AccessOptions),
    load: Load,
    bits: u64,
) -> Delay {
    let (slot, aifs) = (sender.phy.slot, access.aifs(&sender.phy));
    // The model counts whole slots.
    let slots = |time: Duration| ((time + aifs).as_nanos() / slot.as_nanos()) as f64;
    let cell = LoadedCell {
        stations: options.stations,
        access: *access,
        success: slots(exchange.success),
        collision: slots(exchange.lost),
    };
    let packets_a_slot = |bps: f64| bps / (exchange.packets * bits) as f64 * slot.as_secs_f64();
    let rate = match load {
        Load::Saturated => None,
        Load::Rate(rate) => Some(packets_a_slot(rate.as_bps() as f64) / f64::from(options.links)),
    };
    let delays = cell.delays(rate);
    let end_to_end = (delays.end_to_end.is_finite()).then_some(delays.end_to_end * slot.as_secs_f64());
    Delay { success: delays.success, access_s: delays.access * slot.as_secs_f64(), end_to_end_s: end_to_end }
}

fn contention(
    sender: &Sender,
    exchange: &Exchange,
    (categories, options): (&[(&str, Access)], &AccessOptions),
    bits: u64,
    seed: u64,
) -> Result<Contention, String> {
    let (phy, each) = (&sender.phy, options.stations as usize);
    let repair = if options.block_ack_request { Repair::Request } else { Repair::Again };
    let station = |&(_, access): &(&str, Access)| {
        let station = Station { access, aifs: access.aifs(phy), exchange: *exchange, repair };
        std::iter::repeat_n(station, each)
    };
    // EIFS - DIFS: a SIFS and an ACK at the lowest rate (10.3.2.3.7).
    let extended = phy.sifs + phy.frame_time(phy.standard.rates()[0], Bytes::new(14));
    let cell = Cell {
        stations: categories.iter().flat_map(station).collect(),
        slot: phy.slot,
        turnaround: phy.turnaround,
        countdown: if options.dcf { Countdown::Dcf } else { Countdown::Edca },
        captures: options.capture,
        after_error: if options.eifs { extended } else { Duration::ZERO },
    };
    let time = options.time()?;
    let results = simulate(&cell, time, seed);
    let bps = |packets: u64| (packets * bits) as f64 / time.as_secs_f64();
    let total = bps(results.iter().map(|result| result.packets).sum());
    let category = |(of, (name, _)): (&[_], &(&str, Access))| {
        let sum = |count: fn(&airbraid_sim::models::wifi::StationResult) -> u64| of.iter().map(count).sum::<u64>();
        let goodput_bps = bps(sum(|result| result.packets));
        CategoryReport {
            category: (*name).to_owned(),
            goodput_bps,
            share: if total > 0.0 { goodput_bps / total } else { 0.0 },
            failures: sum(|result| result.failures) as f64 / sum(|result| result.attempts).max(1) as f64,
        }
    };
    let categories = results.chunks(each).zip(categories).map(category).collect();
    Ok(Contention { goodput_bps: total, categories })
}

/// The report as a table.
pub fn text(report: &Report, stations: u32) -> String {
    let mbps = |bps: f64| format!("{:.2} Mbit/s", bps / 1e6);
    let us = |ns: u64| format!("{:.1} us", ns as f64 / 1e3);
    let plural = |n: u64, one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
    let mut out = format!(
        "an access: {} of {} and {} byte in {}, {} with answers, {}\n",
        plural(report.exchanges, "PPDU"),
        plural(report.mpdus, "MPDU"),
        report.psdu_bytes,
        us(report.data_ns),
        us(report.access_ns),
        plural(report.packets, "packet"),
    );
    let _ = writeln!(out, "\n{:<34} {:>16}", "goodput", "");
    let mut row = |what: &str, bps: f64, note: &str| {
        let _ = writeln!(out, "{}", format!("{what:<34} {:>16}  {note}", mbps(bps)).trim_end());
    };
    row("one sender alone", report.alone_bps, "");
    let n = plural(u64::from(stations), "station");
    if let Some(bianchi) = &report.bianchi {
        row(&format!("{n}, Bianchi"), bianchi.goodput_bps, &format!("{:.1} % collide", 100.0 * bianchi.collision));
    }
    for category in &report.contention.categories {
        let (share, lost) = (100.0 * category.share, 100.0 * category.failures);
        let what = format!("{n} of {}, by draws", category.category);
        row(&what, category.goodput_bps, &format!("{share:.1} % of all, {lost:.1} % of transmissions lost"));
    }
    if let Some(delay) = &report.delay {
        let ms = |s: f64| format!("{:.3} ms", s * 1e3);
        let lost = 100.0 * (1.0 - delay.success);
        let _ = writeln!(out, "\n{:<34} {:>16}  {lost:.1} % collide", "access delay", ms(delay.access_s));
        let end_to_end = delay.end_to_end_s.map_or_else(|| "queues are full".to_owned(), ms);
        let _ = writeln!(out, "{:<34} {end_to_end:>16}", "end-to-end delay");
    }
    out
}
