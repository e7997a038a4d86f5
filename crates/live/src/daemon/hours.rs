//! Hours of the week, as the file has them.

use jiff::civil::{DateTime, Weekday};

const MINUTES: u16 = 24 * 60;
const DAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];

/// Hours of some days of the week; those that end before they begin end on the next day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hours {
    /// Days on which they begin, Monday first.
    days: [bool; 7],
    /// Minutes of the day.
    from: u16,
    until: u16,
}

impl Hours {
    /// Reads `Mon-Fri 08:00-18:00`, `Sat,Sun 22:00-06:00`, or `08:00-18:00` for every day.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refused = || format!("`{text}` are no hours");
        let (days, hours) = match text.trim().rsplit_once(' ') {
            Some((days, hours)) => (Self::days(days).ok_or_else(refused)?, hours),
            None => ([true; 7], text.trim()),
        };
        let (from, until) = hours.split_once('-').ok_or_else(refused)?;
        let from = minute(from).filter(|from| *from < MINUTES).ok_or_else(refused)?;
        let until = minute(until).filter(|until| *until != from).ok_or_else(refused)?;
        Ok(Self { days, from, until })
    }

    fn days(text: &str) -> Option<[bool; 7]> {
        let place = |day: &str| DAYS.iter().position(|(name, _)| name.eq_ignore_ascii_case(day.trim()));
        let mut days = [false; 7];
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (place(first)?, place(last)?);
            let count = (last + 7 - first) % 7;
            (0..=count).for_each(|step| days[(first + step) % 7] = true);
        }
        Some(days)
    }

    /// Whether a time is within.
    pub fn contain(&self, at: DateTime) -> bool {
        let today = usize::from(at.weekday().to_monday_zero_offset().unsigned_abs());
        let minute = u16::from(at.hour().unsigned_abs()) * 60 + u16::from(at.minute().unsigned_abs());
        if self.from < self.until {
            return self.days[today] && (self.from..self.until).contains(&minute);
        }
        let yesterday = (today + 6) % 7;
        self.days[today] && minute >= self.from || self.days[yesterday] && minute < self.until
    }
}

/// The minute of a day, `08:30`; `24:00` is its end.
fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.trim().split_once(':')?;
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    let all = hour.checked_mul(60)?.checked_add(minute)?;
    (minute < 60 && all <= MINUTES).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn hours_are_those_of_their_days_and_may_pass_midnight() {
        // 2026-11-27 is a Friday.
        let at = |day: i8, hour: i8, minute: i8| date(2026, 11, day).at(hour, minute, 0, 0);
        let work = Hours::parse("Mon-Fri 08:00-18:00").unwrap();
        assert!(work.contain(at(27, 8, 0)) && work.contain(at(27, 17, 59)));
        assert!(!work.contain(at(27, 7, 59)) && !work.contain(at(27, 18, 0)) && !work.contain(at(28, 12, 0)));
        let night = Hours::parse("fri,Sat 22:00-06:00").unwrap();
        assert!(night.contain(at(27, 23, 0)) && night.contain(at(28, 5, 59)) && night.contain(at(29, 5, 0)));
        assert!(!night.contain(at(27, 5, 0)) && !night.contain(at(28, 6, 0)) && !night.contain(at(29, 23, 0)));
        let over_the_week = Hours::parse("Sat-Mon 00:00-24:00").unwrap();
        assert!(over_the_week.contain(at(29, 12, 0)) && over_the_week.contain(at(30, 23, 59)));
        assert!(!over_the_week.contain(at(27, 12, 0)) && Hours::parse("00:00-24:00").unwrap().contain(at(27, 3, 3)));
        for wrong in ["", "8-18", "Mon 08:00", "Mon-Fry 08:00-18:00", "08:00-08:00", "08:60-09:00", "24:00-25:00"] {
            assert!(Hours::parse(wrong).is_err(), "{wrong}");
        }
    }
}
