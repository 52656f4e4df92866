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
    pub(crate) fn ms(self, here: &QueryScope) -> i64 {
        let start = |date: Date| {
            // Days beyond the supported range become the largest time.
            date.to_zoned_datetime(here.zone.clone()).map_or(i64::MAX, |time| time.timestamp().as_millisecond())
        };
        let now = Timestamp::from_millisecond(here.now_ms).unwrap_or_default();
        let today = now.to_zoned_datetime(here.zone.clone()).date();
        match self {
            Self::Today => start(today),
            Self::Yesterday => start(today.saturating_sub(1.day())),
            Self::Date(date, _) => start(date),
            Self::Ago(count, unit) => here.now_ms.saturating_sub(i64::from(count).saturating_mul(UNITS[unit].1)),
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
    fn parses_dates_and_ages() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        // 2026-05-10T00:30 in the time zone.
        let here = QueryScope { now_ms: 1_778_365_800_000, home: String::new(), dir: String::new(), zone };
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
        assert_eq!(DateValue::read("9999-12-31").unwrap().ms(&here).signum(), 1);
        assert!(DateValue::read("4294967295y").unwrap().ms(&here) < 0);
    }
}
