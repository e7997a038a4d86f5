//! The limits of an uplink's use: bytes in a month, which survive a restart, and hours of the week. Both by this host's
//! clock and time zone.

use super::cause::Cause;
use super::replace::replace;
use super::site::Uplink;
use airbraid_units::{Duration, Instant};
use jiff::civil::{Date, DateTime};
use jiff::{ToSpan, ZonedDateTime};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Interval of the writes: a kill loses as much of the count.
const PAUSE: Duration = Duration::from_secs(60);
/// Longest file that is read \[byte\]: eight uplinks, and names of former ones.
const FILE_MAX: usize = 16_384;
/// The first day of the month that a day is in, where months begin on `first` (1 to 28).
fn month_of(today: Date, first: i8) -> Date {
    let begin = |date: Date| date.with().day(first).build().unwrap_or(date);
    if today.day() >= first { begin(today) } else { begin(today.saturating_sub(1.month())) }
}

/// The reason why an uplink is not used, for now.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rest {
    /// Its quota is spent; a month begins then.
    Spent(Date),
    OutsideHours,
}

/// The use of an uplink in its month, and whether it rests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    month: Option<Date>,
    /// Bytes of the month that other lives of the daemon have counted, and the count of this one when the month began.
    before: u64,
    began_at: u64,
    used: u64,
    rest: Option<Rest>,
}

impl Budget {
    /// The use of an uplink that earlier lives of the daemon have noted.
    pub fn of(noted: Option<&Noted>) -> Self {
        noted.map_or_else(Self::default, |noted| Self {
            month: Some(noted.month),
            before: noted.bytes,
            used: noted.bytes,
            ..Self::default()
        })
    }

    /// Bytes of this month.
    pub const fn used(&self) -> u64 {
        self.used
    }

    /// Why the uplink rests.
    pub fn cause(&self) -> Option<Cause> {
        self.rest.as_ref().map(|rest| match rest {
            Rest::Spent(until) => Cause::quota_spent(&until.to_string()),
            Rest::OutsideHours => Cause::outside_hours(),
        })
    }

    /// Looks at the time, and at the bytes that this life has counted. Returns whether the uplink begins or ends to
    /// rest, or its month to be another.
    pub fn look(&mut self, uplink: &Uplink, counted: u64, now: DateTime) -> bool {
        let month = month_of(now.date(), uplink.quota_day);
        let is_other = self.month.is_some_and(|known| known < month);
        if is_other {
            (self.before, self.began_at) = (0, counted);
        }
        // A clock that was set back does not bring a month again.
        self.month = Some(self.month.map_or(month, |known| known.max(month)));
        self.used = self.before + (counted - self.began_at.min(counted));
        let is_spent = uplink.quota.is_some_and(|quota| self.used >= quota.as_u64());
        let is_outside = !uplink.hours.is_empty() && !uplink.hours.iter().any(|hours| hours.contain(now));
        let next = self.month.map_or(month, |month| month.saturating_add(1.month()));
        let rest = if is_spent { Some(Rest::Spent(next)) } else { is_outside.then_some(Rest::OutsideHours) };
        let has_changed = is_other || rest.is_some() != self.rest.is_some();
        self.rest = rest;
        has_changed
    }
}

/// A month's use of an uplink, on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    month: Date,
    bytes: u64,
}

/// The file of the months.
#[derive(Debug, Default)]
pub struct Months {
    path: PathBuf,
    written: BTreeMap<String, Noted>,
    next: Instant,
}

impl Months {
    /// Reads the file. One that is damaged is told, and begins again.
    pub fn load(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap_or_default();
        let read = parse(&bytes);
        if let Some(error) = read.as_ref().err().filter(|_| !bytes.is_empty()) {
            tracing::warn!(path = %path.display(), error, "the use of the uplinks in this month is not known any more");
        }
        Self { path: path.to_path_buf(), written: read.unwrap_or_default(), next: Instant::ZERO }
    }

    pub fn of(&self, uplink: &str) -> Option<&Noted> {
        self.written.get(uplink)
    }

    /// Writes the use of uplinks that have a quota, if it is time; at the end (`now` is none) it waits for the disk.
    pub fn write<'a>(&mut self, now: Option<Instant>, uplinks: impl Iterator<Item = (&'a Uplink, &'a Budget)>) {
        if now.is_some_and(|now| now < self.next) {
            return;
        }
        let metered = uplinks.filter(|(uplink, _)| uplink.quota.is_some());
        let noted = metered.filter_map(|(uplink, budget)| {
            Some((uplink.name.clone(), Noted { month: budget.month?, bytes: budget.used }))
        });
        let noted: BTreeMap<String, Noted> = noted.collect();
        self.next = now.unwrap_or(Instant::ZERO) + PAUSE;
        if noted == self.written {
            return;
        }
        let (path, text) = (self.path.clone(), serde_json::to_string(&noted).unwrap_or_default());
        self.written = noted;
        let work = move || {
            if let Err(error) = replace(&path, text.as_bytes()) {
                tracing::warn!(path = %path.display(), %error, "the use of the uplinks cannot be written");
            }
        };
        match now {
            None => work(),
            // A slow disk stops nothing.
            Some(_) => drop(std::thread::Builder::new().name("months".to_owned()).spawn(work)),
        }
    }
}

/// Reads the bytes of the file.
///
/// # Errors
/// They are something else.
pub fn parse(bytes: &[u8]) -> Result<BTreeMap<String, Noted>, String> {
    if bytes.len() > FILE_MAX {
        return Err(format!("longer than {FILE_MAX} byte"));
    }
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

/// This host's date and time of day.
pub fn time_here() -> DateTime {
    ZonedDateTime::now().datetime()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::hours::Hours;
    use airbraid_units::Bytes;
    use jiff::civil::date;

    fn uplink(quota: Option<u64>, hours: &[&str]) -> Uplink {
        Uplink {
            quota: quota.map(Bytes::new),
            quota_day: 5,
            hours: hours.iter().map(|text| Hours::parse(text).unwrap()).collect(),
            ..Uplink::any()
        }
    }

    #[test]
    fn a_month_begins_on_its_day() {
        assert_eq!(month_of(date(2026, 11, 5), 5), date(2026, 11, 5));
        assert_eq!(month_of(date(2026, 11, 4), 5), date(2026, 10, 5));
        assert_eq!(month_of(date(2026, 1, 1), 28), date(2025, 12, 28));
        assert_eq!(month_of(date(2028, 3, 30), 28), date(2028, 3, 28));
    }

    #[test]
    fn a_quota_is_spent_until_the_next_month_whatever_restarts() {
        let uplink = uplink(Some(1_000), &[]);
        let mut budget = Budget::default();
        assert!(!budget.look(&uplink, 999, date(2026, 11, 10).at(12, 0, 0, 0)));
        assert!(budget.look(&uplink, 1_000, date(2026, 11, 10).at(12, 0, 1, 0)));
        assert_eq!(budget.cause().map(|cause| cause.word), Some("quota-spent"));
        let noted = Noted { month: date(2026, 11, 5), bytes: budget.used() };
        let mut again = Budget::of(Some(&noted));
        assert!(again.look(&uplink, 0, date(2026, 12, 4).at(23, 59, 59, 0)), "it rests from the first look on");
        assert!(again.look(&uplink, 7, date(2026, 12, 5).at(0, 0, 0, 0)), "a month begins");
        assert_eq!((again.used(), again.cause()), (0, None));
        assert!(!again.look(&uplink, 207, date(2026, 12, 5).at(0, 0, 1, 0)));
        assert_eq!(again.used(), 200);
        // A clock that is set back gives no second month.
        assert!(!again.look(&uplink, 307, date(2026, 11, 20).at(0, 0, 1, 0)));
        assert_eq!(again.used(), 300);
    }

    #[test]
    fn outside_its_hours_an_uplink_rests() {
        let uplink = uplink(None, &["08:00-12:00", "13:00-18:00"]);
        let mut budget = Budget::default();
        let mut look = |hour| budget.look(&uplink, 0, date(2026, 11, 10).at(hour, 30, 0, 0));
        assert_eq!([look(7), look(8), look(11), look(12), look(13)], [true, true, false, true, true]);
    }
}
