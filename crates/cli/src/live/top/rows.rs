//! The rows of `airbraid top`: a link each, with its values over a span, and a peer each that has none.

use airbraid_live::daemon::{HistoryReport, LinkHistory, MemberReport, PeerReport};

/// Columns of values.
pub const COLUMNS: usize = 6;
/// Their names.
pub const NAMES: [&str; COLUMNS] = ["sent", "received", "delay", "loss", "share", "queue"];
/// The places of the means in a point of a report: of sent, received, delay, loss and queue.
const MEANS: [usize; 5] = [1, 4, 7, 10, 13];

/// The course of a value, oldest first; `None` where nothing is known.
pub type Course = Vec<Option<f64>>;

/// A row.
#[derive(Debug)]
pub struct Row {
    /// Its place before it is sorted.
    pub place: usize,
    pub name: String,
    pub state: String,
    /// Why it does not work, a word and a sentence.
    pub cause: Option<String>,
    /// Sent and received \[bit/s\], delay \[us\], loss \[1e-6\], share, delay of its own queue \[us\]. None for a peer.
    pub courses: Option<[Course; COLUMNS]>,
    /// Whether anything is known of its past.
    pub has_course: bool,
}

impl Row {
    /// The present value of a column: that of the newest step, or of the one before.
    pub fn value(&self, column: usize) -> Option<f64> {
        let course = &self.courses.as_ref()?[column];
        course.iter().rev().take(2).find_map(|value| *value)
    }
}

/// The rows of a report, in the order of the daemon's file.
pub fn rows(report: &HistoryReport) -> Vec<Row> {
    let mut rows = Vec::new();
    for peer in &report.status.peers {
        let pasts: Vec<&LinkHistory> = report.links.iter().filter(|link| link.peer == peer.name).collect();
        let of = |link: &LinkHistory, member: &MemberReport| link.uplink == member.uplink && link.link == member.name;
        let links = peer.members.iter().map(|member| {
            let past = pasts.iter().find(|link| of(link, member));
            (member, past.map_or_else(empty, |past| courses(report, past)))
        });
        let mut links: Vec<(&MemberReport, [Course; COLUMNS])> = links.collect();
        fill_shares(&mut links);
        if !peer.up || links.is_empty() {
            rows.push(row_of_peer(peer));
        }
        rows.extend(links.into_iter().map(|(member, courses)| row_of_link(peer, member, courses)));
    }
    for (place, row) in rows.iter_mut().enumerate() {
        row.place = place;
    }
    rows
}

fn empty() -> [Course; COLUMNS] {
    Default::default()
}

/// The courses of a link, without its share.
fn courses(report: &HistoryReport, past: &LinkHistory) -> [Course; COLUMNS] {
    let mut courses: [Course; COLUMNS] = std::array::from_fn(|_| vec![None; report.steps]);
    let first = (report.time_s / report.step_s.max(1)) as usize + 1;
    for (time, values) in &past.points {
        let step = (time / report.step_s.max(1)) as usize;
        let Some(step) = (step + report.steps).checked_sub(first).filter(|step| *step < report.steps) else { continue };
        for (column, place) in [0, 1, 2, 3, 5].into_iter().zip(MEANS) {
            courses[column][step] = values[place].map(|value| value as f64);
        }
    }
    courses
}

/// Fills in what part of all that a peer's links carry, both ways, each has carried.
fn fill_shares(links: &mut [(&MemberReport, [Course; COLUMNS])]) {
    let steps = links.iter().map(|(_, courses)| courses[0].len()).max().unwrap_or(0);
    let carried = |courses: &[Course; COLUMNS], step: usize| {
        let of = |column: usize| courses[column].get(step).copied().flatten();
        Some(of(0)? + of(1)?)
    };
    for step in 0..steps {
        let each: Vec<Option<f64>> = links.iter().map(|(_, courses)| carried(courses, step)).collect();
        let all: f64 = each.iter().flatten().sum();
        for ((_, courses), own) in links.iter_mut().zip(each) {
            if let Some(share) = courses[4].get_mut(step) {
                *share = own.filter(|_| all > 0.0).map(|own| own / all);
            }
        }
    }
}

fn because(cause: Option<&String>, remedy: Option<&String>) -> Option<String> {
    cause.zip(remedy).map(|(cause, remedy)| format!("{cause}: {remedy}"))
}

fn row_of_peer(peer: &PeerReport) -> Row {
    let waits = || peer.waits_for.as_ref().map(|what| format!("waits for {what}"));
    Row {
        place: 0,
        name: peer.name.clone(),
        state: if peer.up { "no link" } else { "down" }.to_owned(),
        cause: because(peer.cause.as_ref(), peer.remedy.as_ref()).or_else(waits),
        courses: None,
        has_course: false,
    }
}

fn row_of_link(peer: &PeerReport, member: &MemberReport, courses: [Course; COLUMNS]) -> Row {
    let state = match member.state.as_str() {
        "active" => "works",
        "probing" => "tried",
        "suspected" => "down",
        "exhausted" => "spent",
        other => other,
    };
    let quota = || {
        let quota = member.quota_bytes?;
        (state == "spent").then(|| format!("its quota of {quota} byte is spent until its next month"))
    };
    Row {
        place: 0,
        name: format!("{}/{}", peer.name, member.name),
        state: state.to_owned(),
        cause: because(member.cause.as_ref(), member.remedy.as_ref()).or_else(quota),
        has_course: courses.iter().flatten().any(Option::is_some),
        courses: Some(courses),
    }
}
