//! Dates and ages: `2026-05`, `2w`, `today`.

use std::fmt;

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};

use crate::search::qualifier::value::QueryScope;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// The units of ages in milliseconds, equal to those of the list ([`crate::base::time::age`]).
const UNITS: [(&str, i64); 6] =
    [("m", MINUTE), ("h", 60 * MINUTE), ("d", DAY), ("w", 7 * DAY), ("mo", 30 * DAY), ("y", 365 * DAY)];

/// An example of each form.
pub(crate) const FORMS: &[&str] =
    &["2026-05-01", "2026-05", "2026", "today", "yesterday", "5h", "3d", "2w", "6mo", "1y"];

/// The values to suggest.
pub(crate) const SUGGESTED: &[&str] = &["today", "yesterday", "1w", "1mo", "1y"];

/// A point in time: the beginning of a day, month or year, or an age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DateValue {
    /// The beginning of today.
    Today,
    /// The beginning of yesterday.
    Yesterday,
    /// `2026-05-01`, or the first day of `2026-05` or `2026`, and the length of the text.
    Date(Date, usize),
    /// `2w`: the number, and the index of the unit.
    Ago(u32, usize),
}

impl DateValue {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let date = match text {
            "today" => Some(Self::Today),
            "yesterday" => Some(Self::Yesterday),
            _ => Self::ago(text).or_else(|| Self::date(text)),
        };
        date.ok_or_else(|| format!("not a date or an age: {text}; use {}", FORMS.join(", ")))
    }

    fn ago(text: &str) -> Option<Self> {
        let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
        let unit = UNITS.iter().position(|(name, _)| *name == &text[unit_at..])?;
        Some(Self::Ago(text[..unit_at].parse().ok()?, unit))
    }

    fn date(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('-').collect();
        let number = |at: usize, digits: usize| {
            let part = parts.get(at).filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))?;
            part.parse::<i16>().ok()
        };
        let (month, day) = match parts.len() {
            1 => (1, 1),
            2 => (number(1, 2)?, 1),
            3 => (number(1, 2)?, number(2, 2)?),
            _ => return None,
        };
        let date = Date::new(number(0, 4)?, month.try_into().ok()?, day.try_into().ok()?);
        Some(Self::Date(date.ok()?, text.len()))
    }

    /// Returns the time in milliseconds since 1970.
    pub(crate) fn ms(self, scope: &QueryScope) -> i64 {
        match self {
            Self::Today => start(today(scope), scope),
            Self::Yesterday => start(today(scope).saturating_sub(1.day()), scope),
            Self::Date(date, _) => start(date, scope),
            Self::Ago(count, unit) => scope.now_ms.saturating_sub(i64::from(count).saturating_mul(UNITS[unit].1)),
        }
    }

    /// Returns the time at which the day, month or year ends, in milliseconds since 1970; of an age, now.
    fn end(self, scope: &QueryScope) -> i64 {
        match self {
            Self::Today => start(today(scope).saturating_add(1.day()), scope),
            Self::Yesterday => start(today(scope), scope),
            Self::Date(date, len) => {
                let next = match len {
                    4 => date.checked_add(1.year()),
                    7 => date.checked_add(1.month()),
                    _ => date.checked_add(1.day()),
                };
                next.map_or(i64::MAX, |next| start(next, scope))
            }
            Self::Ago(..) => i64::MAX,
        }
    }
}

/// Returns the beginning of a day. Days beyond the supported range become the largest time.
fn start(date: Date, scope: &QueryScope) -> i64 {
    date.to_zoned_datetime(scope.zone.clone()).map_or(i64::MAX, |time| time.timestamp().as_millisecond())
}

fn today(scope: &QueryScope) -> Date {
    let now = Timestamp::from_millisecond(scope.now_ms).unwrap_or_default();
    now.to_zoned_datetime(scope.zone.clone()).date()
}

/// A time span: a day, month, year or age, or from one to the end of another (`2026-05-01..2026-05-14`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateRange {
    from: DateValue,
    to: Option<DateValue>,
}

/// An example of each form of a time span.
pub(crate) const RANGE_FORMS: &[&str] =
    &["2026-05-01", "2026-05", "2026", "today", "yesterday", "2w", "2026-05..2026-07"];

impl DateRange {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        Ok(match text.split_once("..") {
            Some((from, to)) => Self { from: DateValue::read(from)?, to: Some(DateValue::read(to)?) },
            None => Self { from: DateValue::read(text)?, to: None },
        })
    }

    /// Returns its beginning and its end in milliseconds since 1970.
    pub(crate) fn ms(self, scope: &QueryScope) -> (i64, i64) {
        (self.from.ms(scope), self.to.unwrap_or(self.from).end(scope))
    }
}

impl fmt::Display for DateRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.to {
            Some(to) => write!(f, "{}..{to}", self.from),
            None => self.from.fmt(f),
        }
    }
}

impl fmt::Display for DateValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Today => f.write_str("today"),
            Self::Yesterday => f.write_str("yesterday"),
            Self::Date(date, len) => f.write_str(&date.to_string()[..*len]),
            Self::Ago(count, unit) => write!(f, "{count}{}", UNITS[*unit].0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    #[test]
    fn a_day_without_a_midnight_begins_at_its_first_hour() {
        // Clocks went from 00:00 to 01:00 in Cairo, and from 01:00 back to 00:00 in Havana. In years to come, systems differ.
        for (zone, now_ms, from, to) in [
            ("Africa/Cairo", 1_745_582_400_000, "2025-04-24T22:00:00.000Z", "2025-04-25T21:00:00.000Z"),
            ("America/Havana", 1_762_099_200_000, "2025-11-02T04:00:00.000Z", "2025-11-03T05:00:00.000Z"),
            ("Asia/Kolkata", 1_793_556_000_000, "2026-10-31T18:30:00.000Z", "2026-11-01T18:30:00.000Z"),
        ] {
            let here = QueryScope { now_ms, zone: TimeZone::get(zone).unwrap(), ..QueryScope::default() };
            let (begin, end) = DateRange::read("today").unwrap().ms(&here);
            let iso = |ms| crate::base::time::iso(ms).unwrap();
            assert_eq!((&*iso(begin), &*iso(end)), (from, to), "{zone}");
        }
    }

    #[test]
    fn parses_dates_and_ages() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        // 2026-05-10T00:30 in the time zone.
        let here = QueryScope { now_ms: 1_778_365_800_000, zone, ..QueryScope::default() };
        let ms = |text: &str| crate::base::time::iso(DateValue::read(text).unwrap().ms(&here)).unwrap();
        assert_eq!(ms("today"), "2026-05-09T22:00:00.000Z");
        assert_eq!(ms("yesterday"), "2026-05-08T22:00:00.000Z");
        assert_eq!(ms("2026-05-01"), "2026-04-30T22:00:00.000Z");
        assert_eq!(ms("2026-05"), "2026-04-30T22:00:00.000Z");
        assert_eq!(ms("2026"), "2025-12-31T22:00:00.000Z");
        assert_eq!(ms("30m"), "2026-05-09T22:00:00.000Z");
        assert_eq!(ms("5h"), "2026-05-09T17:30:00.000Z");
        assert_eq!(ms("2w"), "2026-04-25T22:30:00.000Z");
        assert_eq!(ms("1mo"), "2026-04-09T22:30:00.000Z");
        assert_eq!(ms("1y"), "2025-05-09T22:30:00.000Z");
        for text in ["2", "w", "2026-13", "2026-02-30", "2026-5", "-5d", "tomorrow", "99999999999d", "", "2026-05-01-"]
        {
            assert!(DateValue::read(text).is_err(), "{text}");
        }
        let ends = |text: &str| crate::base::time::iso(DateRange::read(text).unwrap().ms(&here).1).unwrap();
        assert_eq!([ends("today"), ends("yesterday")], ["2026-05-10T22:00:00.000Z", "2026-05-09T22:00:00.000Z"]);
        assert_eq!([ends("2026-02"), ends("2025")], ["2026-02-28T22:00:00.000Z", "2025-12-31T22:00:00.000Z"]);
        assert_eq!(ends("2026-01..2026-02-03"), "2026-02-03T22:00:00.000Z");
        assert_eq!(DateRange::read("2w..yesterday").unwrap().ms(&here).0, DateValue::read("2w").unwrap().ms(&here));
        assert!(["..", "2026..", "..2026", "2026..2027..2028"].iter().all(|text| DateRange::read(text).is_err()));
        assert_eq!(DateRange::read("9999-12-31").unwrap().ms(&here).1, i64::MAX);
        assert_eq!(DateValue::read("9999-12-31").unwrap().ms(&here).signum(), 1);
        assert!(DateValue::read("4294967295y").unwrap().ms(&here) < 0);
    }
}
