//! The recent past: values of the links in four spans, and events with their causes.
//!
//! It is looked at once a second, beside the data path, and is bounded whatever the daemon does. With a file
//! (`[interface] page`) it survives the daemon; without one it is in memory only.

pub mod event;
mod file;
mod report;
mod series;
mod store;

pub use report::{HistoryReport, LinkHistory};
pub use series::Span;

use crate::daemon::status::{MemberReport, PeerReport, UplinkReport};
use airbraid_engine::trunk::bonding::MemberState;
use airbraid_units::{Duration, Instant};
use event::{Event, Watch};
use file::{LinkKey, MAGIC, Record};
use series::{Point, Sample, Series};
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use store::Store;

/// Largest number of links that are recorded: four peers with the eight uplinks that an end may have.
pub const LINKS_MAX: usize = 32;
/// Peers that are looked at in every second, the first of the file. The others have their turn, as many in a second.
pub const PEERS_LOOKED: usize = 32;
/// Largest number of events that are kept.
const EVENTS_MAX: usize = 256;
/// Largest number of them about one link: one that comes and goes all the time displaces no others.
const EVENTS_OF_LINK: usize = 32;
/// Longest time between two looks over which a rate is computed: a longer one is a gap.
const GAP: Duration = Duration::from_secs(3);
/// Length of what waits to be written at which events are not added to it any more; the file is written as a whole then
/// \[byte\].
const UNWRITTEN_MAX: usize = 64 << 10;
/// Time after which a link of which nothing was recorded gives its place away \[s\]: the longest span.
const FORGOTTEN: u32 = Span::Month.step() * Span::Month.steps() as u32;

/// A link that is recorded.
#[derive(Debug)]
struct RecordedLink {
    key: LinkKey,
    series: Series,
    /// Sent and received bytes at the last look, with its time.
    before: Option<(Instant, [u64; 2])>,
    /// Whether the file knows its number.
    is_in_file: bool,
}

/// The recent past.
#[derive(Debug, Default)]
pub struct History {
    /// By their numbers in the file.
    links: Vec<RecordedLink>,
    events: VecDeque<Event>,
    watch: Watch,
    /// Links of the last look for which there was no place.
    left_out: usize,
    /// The next of the peers that have their turn.
    pub turn: usize,
    store: Option<Store>,
    /// Records that are not in the file yet.
    unwritten: Vec<u8>,
}

impl History {
    /// Reads the file, if there is one, and goes on with it. A damaged one is told and costs what it has lost.
    pub fn begin(path: Option<&Path>, time_s: u32) -> Self {
        let mut history = Self::default();
        let mut lost = None;
        if let Some(path) = path {
            let (records, damage) = store::load(path);
            records.into_iter().for_each(|record| history.restore(record));
            lost = damage;
            history.store = Store::start(path);
        }
        if let Some(why) = lost {
            tracing::warn!("the history is damaged, and is written again without what is lost: {why}");
            history.tell(Event::new(time_s, "history-damaged", format!("a part of the history is lost: {why}")));
        }
        history.tell(Event::new(time_s, "started", "the daemon has started"));
        history
    }

    fn restore(&mut self, record: Record) {
        match record {
            Record::Link(number, key) if usize::from(number) == self.links.len() && self.links.len() < LINKS_MAX => {
                self.links.push(RecordedLink { key, series: Series::default(), before: None, is_in_file: false });
            }
            // A place that was given away.
            Record::Link(number, key) => {
                if let Some(link) = self.links.get_mut(usize::from(number)) {
                    *link = RecordedLink { key, series: Series::default(), before: None, is_in_file: false };
                }
            }
            Record::Point(number, span, time, point) => {
                if let Some(link) = self.links.get_mut(usize::from(number)) {
                    link.series.insert(span, time, point);
                }
            }
            Record::Event(event) => self.keep(event),
        }
    }

    fn keep(&mut self, event: Event) {
        let is_of_same = |other: &Event| event.link.is_some() && other.link == event.link && other.peer == event.peer;
        let of_link = self.events.iter().filter(|other| is_of_same(other)).count();
        let oldest = self.events.iter().position(|other| of_link >= EVENTS_OF_LINK && is_of_same(other));
        let is_full = self.events.len() >= EVENTS_MAX;
        if let Some(place) = oldest.or(is_full.then_some(0)) {
            self.events.remove(place);
        }
        self.events.push_back(event);
    }

    /// Adds an event.
    pub fn tell(&mut self, event: Event) {
        if self.store.is_some() && self.unwritten.len() < UNWRITTEN_MAX {
            Record::Event(event.clone()).emit(&mut self.unwritten);
        }
        self.keep(event);
    }

    /// Looks at the uplinks, before the peers.
    pub fn look_at_uplinks(&mut self, time_s: u32, reports: &[UplinkReport]) {
        let events = self.watch.look_at_uplinks(time_s, reports);
        events.into_iter().for_each(|event| self.tell(event));
        self.left_out = 0;
    }

    /// Looks at a peer; records the values of its links if it is one of the first.
    pub fn look_at_peer(&mut self, now: Instant, time_s: u32, report: &PeerReport, is_recorded: bool) {
        let events = self.watch.look_at_peer(time_s, report);
        events.into_iter().for_each(|event| self.tell(event));
        for member in report.members.iter().filter(|_| is_recorded) {
            let key = LinkKey { peer: report.name.clone(), uplink: member.uplink.clone(), link: member.name.clone() };
            match self.place(now, time_s, key) {
                Some(place) => self.record(now, time_s, place, member),
                None => self.left_out += 1,
            }
        }
    }

    /// Forgets the state of peers that are not in the daemon's file any more.
    pub fn keep_peers(&mut self, names: &BTreeSet<&str>) {
        self.watch.keep_peers(names);
    }

    /// The place of a link; `None` where all are taken.
    fn place(&mut self, now: Instant, time_s: u32, key: LinkKey) -> Option<usize> {
        let known = self.links.iter().position(|link| link.key == key);
        if known.is_some() {
            return known;
        }
        let link = RecordedLink { key, series: Series::default(), before: None, is_in_file: false };
        if self.links.len() < LINKS_MAX {
            self.links.push(link);
            return Some(self.links.len() - 1);
        }
        let is_old = |link: &RecordedLink| {
            let newest = link.series.newest().unwrap_or(0);
            let is_seen = link.before.is_some_and(|(seen, _)| now.saturating_since(seen) <= GAP);
            !is_seen && newest.saturating_add(FORGOTTEN) < time_s
        };
        let place = self.links.iter().position(is_old)?;
        self.links[place] = link;
        Some(place)
    }

    fn record(&mut self, now: Instant, time_s: u32, place: usize, member: &MemberReport) {
        let link = &mut self.links[place];
        let counts = [member.counts.sent_bytes.as_u64(), member.counts.received_bytes.as_u64()];
        let before = link.before.replace((now, counts));
        let Some((elapsed, earlier)) = before.map(|(since, earlier)| (now.saturating_since(since), earlier)) else {
            return;
        };
        if elapsed == Duration::ZERO || elapsed > GAP {
            return;
        }
        let elapsed = elapsed.as_secs_f64();
        // A link that is new counts from zero again.
        let bytes = |at: usize| counts[at].checked_sub(earlier[at]).unwrap_or(counts[at]);
        let rate = |at: usize| (bytes(at) as f64 * 8.0 / elapsed) as f32;
        let sample = sample(member, [rate(0), rate(1)]);
        let closed = link.series.add(time_s, &sample);
        if self.store.is_none() {
            return;
        }
        // The minute and the hour are written at the end only.
        for (span, time, point) in closed.into_iter().filter(|(span, ..)| is_written(*span)) {
            if !std::mem::replace(&mut link.is_in_file, true) {
                Record::Link(place as u8, link.key.clone()).emit(&mut self.unwritten);
            }
            Record::Point(place as u8, span, time, point).emit(&mut self.unwritten);
        }
    }

    /// Writes what is new to the file, if it is time.
    pub fn write(&mut self, now: Instant) {
        let Some(store) = &mut self.store else { return };
        if !store.is_due(now) {
            return;
        }
        let is_cut = self.unwritten.len() >= UNWRITTEN_MAX;
        let snapshot = if is_cut || store.is_full(self.unwritten.len()) { Some(self.snapshot()) } else { None };
        let unwritten = std::mem::take(&mut self.unwritten);
        if let Some(store) = &mut self.store {
            match snapshot {
                Some(snapshot) => store.replace(snapshot),
                None => store.append(unwritten),
            }
        }
    }

    /// Writes everything, and waits until it is on the disk.
    pub fn end(&mut self, time_s: u32) {
        self.tell(Event::new(time_s, "ended", "the daemon was ended"));
        let snapshot = self.snapshot();
        if let Some(store) = self.store.take() {
            store.end(snapshot);
        }
    }

    /// The whole file. Of the minute there is nothing in it: it is over when anybody reads it.
    fn snapshot(&mut self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for (number, link) in self.links.iter_mut().enumerate() {
            link.is_in_file = true;
            Record::Link(number as u8, link.key.clone()).emit(&mut bytes);
            for span in [Span::Hour, Span::Day, Span::Month] {
                for (time, point) in link.series.points(span) {
                    Record::Point(number as u8, span, time, point).emit(&mut bytes);
                }
            }
        }
        self.events.iter().for_each(|event| Record::Event(event.clone()).emit(&mut bytes));
        bytes
    }

    /// The values of a span, up to `time_s`, and the newest events.
    fn links(&self, time_s: u32, span: Span) -> Vec<LinkHistory> {
        let length = span.step() * span.steps() as u32;
        let is_in = |time: &u32| *time <= time_s && time.saturating_add(length) > time_s;
        let recorded = self.links.iter().map(|link| {
            let points = link.series.points(span).into_iter().filter(|(time, _)| is_in(time));
            let LinkKey { peer, uplink, link } = link.key.clone();
            LinkHistory { peer, uplink, link, points: points.map(|(time, point)| whole(time, &point)).collect() }
        });
        recorded.filter(|link| !link.points.is_empty()).collect()
    }
}

/// Whether the steps of a span are written as they are over: 300 s and more.
fn is_written(span: Span) -> bool {
    matches!(span, Span::Day | Span::Month)
}

/// A point as a report has it.
fn whole(time: u32, point: &Point) -> report::PointReport {
    let mut values = [None; 3 * series::VALUES];
    for (place, value) in values.iter_mut().zip(point.values.iter().flat_map(|range| range.whole())) {
        *place = value;
    }
    (time, values)
}

/// The values of a link in this second. A link that is down has rates, but no delay, loss or queue: those were of
/// before.
fn sample(member: &MemberReport, [sent, received]: [f32; 2]) -> Sample {
    let counts = &member.counts;
    let is_active = member.state == MemberState::Active.name();
    let rtt = counts.rtt.as_secs_f64() * 1e6;
    let is_measured = is_active && rtt > 0.0;
    let known = |value: f64, is_known: bool| if is_known { value as f32 } else { f32::NAN };
    [
        sent,
        received,
        known(rtt, is_measured),
        known(f64::from(counts.loss.0), is_active),
        known(counts.queue_delay.as_secs_f64() * 1e6, is_measured),
    ]
}

#[cfg(test)]
mod tests;
