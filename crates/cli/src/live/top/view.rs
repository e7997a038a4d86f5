//! The screen of `airbraid top`: a line about the daemon, links with their courses, events, and the keys.

use super::rows::{COLUMNS, NAMES, Row, rows};
use airbraid_live::daemon::{Event, HistoryReport, Span};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span as Piece};
use ratatui::widgets::Widget;

/// Width of the names and of the states \[characters\].
const NAME: usize = 14;
const STATE: usize = 7;
/// Least number of lines for events, with their head.
const EVENTS: u16 = 6;
/// Events in a frame that is printed.
const PRINTED_EVENTS: u16 = 10;
/// Eighths of a character's height.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const DIM: Style = Style::new().add_modifier(Modifier::DIM);
const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

/// The order of the rows: as in the file, or by a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    File,
    Name,
    Column(usize),
}

impl Sort {
    /// The next order.
    pub const fn next(self) -> Self {
        match self {
            Self::File => Self::Name,
            Self::Name => Self::Column(0),
            Self::Column(column) if column + 1 < COLUMNS => Self::Column(column + 1),
            Self::Column(_) => Self::File,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::File => "the file",
            Self::Name => "name",
            Self::Column(column) => NAMES[column],
        }
    }
}

/// The state of the screen.
#[derive(Debug)]
pub struct Screen {
    report: HistoryReport,
    /// Why there was no answer, if there was none.
    lost: Option<String>,
    /// The span that is wanted.
    pub span: Span,
    pub sort: Sort,
    pub is_reversed: bool,
    pub is_paused: bool,
    /// Rows that are scrolled by.
    pub scroll: usize,
}

impl Screen {
    /// The screen of a first report.
    pub const fn new(report: HistoryReport) -> Self {
        Self {
            report,
            lost: None,
            span: Span::Minute,
            sort: Sort::File,
            is_reversed: false,
            is_paused: false,
            scroll: 0,
        }
    }

    /// Takes a new report.
    pub fn update(&mut self, report: HistoryReport) {
        self.report = report;
        self.lost = None;
    }

    /// The daemon has not answered; what it said last stays.
    pub fn lose(&mut self, why: &str) {
        self.lost = Some(why.to_owned());
    }

    /// Whether another span is wanted than is shown.
    pub fn is_other_span(&self) -> bool {
        self.report.span != self.span.name()
    }

    /// Number of lines in which everything is seen, and some events.
    pub fn height(&self) -> u16 {
        let rows: usize = rows(&self.report).iter().map(lines_of).sum();
        let events = self.report.events.len().min(PRINTED_EVENTS.into());
        u16::try_from(2 + rows + 2 + events).unwrap_or(u16::MAX)
    }

    fn sorted(&self) -> Vec<Row> {
        let mut rows = rows(&self.report);
        match self.sort {
            Sort::File => rows.sort_by_key(|row| row.place),
            Sort::Name => rows.sort_by(|a, b| a.name.cmp(&b.name)),
            // The largest first, those without a value last.
            Sort::Column(column) => rows.sort_by(|a, b| {
                let of = |row: &Row| row.value(column).unwrap_or(-1.0);
                of(b).total_cmp(&of(a))
            }),
        }
        if self.is_reversed {
            rows.reverse();
        }
        rows
    }

    fn title(&self) -> Line<'static> {
        let status = &self.report.status;
        let members = status.peers.iter().flat_map(|peer| &peer.members);
        let (working, all) =
            members.fold((0, 0), |(working, all), member| (working + usize::from(member.state == "active"), all + 1));
        let queue: usize = status.peers.iter().map(|peer| peer.trunk.queue_len).sum();
        let about = format!(
            " {}, up {}, {working} of {all} links, queue {queue} packets, the last {}",
            status.interface,
            age(status.uptime_s),
            self.report.span
        );
        let mut pieces = vec![Piece::styled(status.name.clone(), BOLD)];
        if let Some(why) = &self.lost {
            pieces.push(Piece::styled(format!(" NO ANSWER: {why};"), Style::new().fg(Color::Red).bold()));
        } else if self.is_paused {
            pieces.push(Piece::styled(" PAUSED", Style::new().fg(Color::Yellow).bold()));
        }
        pieces.push(Piece::raw(about));
        Line::from(pieces)
    }

    fn keys(&self) -> Line<'static> {
        let text = format!("q quit  s sort ({})  o other way  p pause  1-4 span  up/down scroll", self.sort.name());
        Line::styled(text, DIM)
    }
}

/// Lines of a row: values, courses, and the cause.
const fn lines_of(row: &Row) -> usize {
    1 + row.has_course as usize + row.cause.is_some() as usize
}

impl Widget for &Screen {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let width = usize::from(area.width);
        let mut lines = vec![self.title(), head(width, self.sort, self.is_reversed)];
        let rows: Vec<Vec<Line<'_>>> = self.sorted().iter().map(|row| row_lines(row, width)).collect();
        let all: usize = rows.iter().map(Vec::len).sum();
        let place = usize::from(area.height.saturating_sub(3 + EVENTS)).max(2);
        // No further than that the last row is seen.
        let begin = self.scroll.min(rows.len().saturating_sub(1)).min(first_of_last(&rows, place));
        let (mut shown, mut left) = (Vec::new(), rows.len() - begin);
        for row in rows.into_iter().skip(begin) {
            let is_last = left == 1;
            if shown.len() + row.len() + usize::from(!is_last) > place && all > place {
                break;
            }
            shown.extend(row);
            left -= 1;
        }
        lines.extend(shown);
        if left > 0 {
            lines.push(Line::styled(format!("  ... {left} more, below"), DIM));
        }
        lines.push(Line::styled("events", BOLD));
        let time_s = self.report.time_s;
        let free = usize::from(area.height).saturating_sub(lines.len() + 1);
        lines.extend(self.report.events.iter().take(free).map(|event| event_line(event, time_s)));
        for (y, line) in lines.iter().take(usize::from(area.height.saturating_sub(1))).enumerate() {
            buffer.set_line(area.x, area.y + y as u16, line, area.width);
        }
        if area.height > 0 {
            buffer.set_line(area.x, area.y + area.height - 1, &self.keys(), area.width);
        }
    }
}

/// The first row with which all rows to the last fit.
fn first_of_last(rows: &[Vec<Line<'_>>], place: usize) -> usize {
    let mut free = place;
    let mut first = rows.len();
    for row in rows.iter().rev() {
        if row.len() > free {
            break;
        }
        free -= row.len();
        first -= 1;
    }
    first
}

/// Width of a column of values \[characters\].
fn column_width(width: usize) -> usize {
    (width.saturating_sub(NAME + STATE) / COLUMNS).clamp(9, 30)
}

fn head(width: usize, sort: Sort, is_reversed: bool) -> Line<'static> {
    let mark = if is_reversed { '^' } else { 'v' };
    let named = |name: &str, of: Sort| if sort == of { format!("{name} {mark}") } else { name.to_owned() };
    let mut text = format!("{:<NAME$}{:<STATE$}", named("link", Sort::Name), "state");
    let column = column_width(width);
    for (place, name) in NAMES.iter().enumerate() {
        text.push_str(&format!("{:>column$}", named(name, Sort::Column(place))));
    }
    Line::styled(text, Style::new().add_modifier(Modifier::REVERSED))
}

fn row_lines(row: &Row, width: usize) -> Vec<Line<'static>> {
    let column = column_width(width);
    let colour = match row.state.as_str() {
        "works" => Color::Green,
        "tried" | "no link" => Color::Yellow,
        _ => Color::Red,
    };
    let mut first = vec![
        Piece::styled(format!("{:<NAME$}", cut(&row.name, NAME - 1)), BOLD),
        Piece::styled(format!("{:<STATE$}", row.state), Style::new().fg(colour)),
    ];
    let mut lines = Vec::new();
    if let Some(courses) = &row.courses {
        let mut second = vec![Piece::raw(" ".repeat(NAME + STATE))];
        for (place, course) in courses.iter().enumerate() {
            first.push(Piece::raw(format!("{:>column$}", shown(place, row.value(place)))));
            let bars = bars(course, column - 1, least_top(place));
            second.push(Piece::styled(format!("{bars:>column$}"), Style::new().fg(Color::Cyan)));
        }
        lines.push(Line::from(first));
        if row.has_course {
            lines.push(Line::from(second));
        }
    } else {
        lines.push(Line::from(first));
    }
    if let Some(cause) = &row.cause {
        lines.push(Line::styled(format!("  {cause}"), Style::new().fg(Color::Yellow)));
    }
    lines
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['~']).collect()
}

/// The upper end of a column's scale, unless a value is above: a quiet link looks quiet.
const fn least_top(column: usize) -> f64 {
    match column {
        // 1 kbit/s.
        0 | 1 => 1e3,
        // 1 ms.
        2 | 5 => 1e3,
        // 1 % of the frames.
        3 => 1e4,
        // All.
        _ => 1.0,
    }
}

/// A course as bars, each the largest of its steps; a blank where nothing is known.
fn bars(course: &[Option<f64>], width: usize, least_top: f64) -> String {
    let top = course.iter().flatten().fold(least_top, |top, value| top.max(*value));
    let bar = |place: usize| {
        let of = |place: usize| place * course.len() / width.max(1);
        let steps = &course[of(place)..of(place + 1).max(of(place) + 1).min(course.len())];
        let most =
            steps.iter().flatten().fold(None, |most: Option<f64>, value| Some(most.map_or(*value, |m| m.max(*value))));
        most.map_or(' ', |value| BARS[((value / top * 8.0) as usize).min(7)])
    };
    if course.is_empty() { String::new() } else { (0..width).map(bar).collect() }
}

/// A value of a column for people.
fn shown(column: usize, value: Option<f64>) -> String {
    let Some(value) = value else { return "-".to_owned() };
    match column {
        0 | 1 => rate(value),
        3 => format!("{:.1} %", value / 1e4),
        4 => format!("{:.0} %", value * 100.0),
        _ => format!("{:.1} ms", value / 1e3),
    }
}

/// A rate with three digits: `12.3M`, in bit/s.
fn rate(bps: f64) -> String {
    let (value, unit) = match bps {
        ..1e3 => (bps, ""),
        ..1e6 => (bps / 1e3, "k"),
        ..1e9 => (bps / 1e6, "M"),
        _ => (bps / 1e9, "G"),
    };
    let digits = if unit.is_empty() || value >= 100.0 { 0 } else { 1 };
    format!("{value:.digits$} {unit}b/s")
}

/// A time since something, short.
fn age(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7_200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.0} h", seconds / 3_600.0),
        _ => format!("{:.0} d", seconds / 86_400.0),
    }
}

fn event_line(event: &Event, time_s: u32) -> Line<'static> {
    let ago = age(f64::from(time_s.saturating_sub(event.time_s)));
    let colour = match event.what.as_str() {
        "link-up" | "session-up" | "uplink-open" => Color::Green,
        "cause" | "link-moved" | "history-damaged" => Color::Yellow,
        "started" | "ended" | "reloaded" | "link-new" | "uplink-off" => Color::Reset,
        _ => Color::Red,
    };
    let of = event.peer.as_ref().filter(|_| event.link.is_some()).map_or_else(String::new, |peer| format!("{peer}: "));
    Line::from(vec![
        Piece::styled(format!("{ago:>8} ago  "), DIM),
        Piece::styled(format!("{:<13} ", event.what), Style::new().fg(colour)),
        Piece::raw(format!("{of}{}", event.text)),
    ])
}
