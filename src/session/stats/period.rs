//! Periods of a calendar: a day, a week, a month, a year, or all time.

use jiff::civil::Date;
use jiff::{Span, ToSpan};

use crate::base::named::named;
use crate::session::stats::grouping::Calendar;

named! {
    /// The length of a period.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PeriodLength {
        /// A day.
        Day = "day",
        /// A week.
        Week = "week",
        /// A month.
        Month = "month",
        /// A year.
        Year = "year",
        /// All time.
        All = "all time",
    }
}

impl PeriodLength {
    /// Returns the next longer or shorter length.
    pub(crate) fn next(self, longer: bool) -> Option<Self> {
        let at = self as usize;
        Self::ALL.get(if longer { at + 1 } else { at.wrapping_sub(1) }).copied()
    }

    fn span(self) -> Option<Span> {
        Some(match self {
            Self::Day => 1.day(),
            Self::Week => 1.week(),
            Self::Month => 1.month(),
            Self::Year => 1.year(),
            Self::All => return None,
        })
    }
}

/// The period of a length that contains a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// The length.
    pub length: PeriodLength,
    /// The day.
    pub day: Date,
}

impl Period {
    /// Returns the first day, and the day after the last one. `None` for all time.
    pub fn days(self, calendar: &Calendar) -> Option<(Date, Date)> {
        let first = match self.length {
            PeriodLength::Day => self.day,
            PeriodLength::Week => calendar.week_of(self.day)?,
            PeriodLength::Month => self.day.first_of_month(),
            PeriodLength::Year => self.day.first_of_year(),
            PeriodLength::All => return None,
        };
        Some((first, first.checked_add(self.length.span()?).ok()?))
    }

    /// Returns the next or previous period.
    pub(crate) fn step(self, calendar: &Calendar, forward: bool) -> Option<Self> {
        let ((first, end), span) = (self.days(calendar)?, self.length.span()?);
        let day = if forward { Some(end) } else { first.checked_sub(span).ok() };
        Some(Self { day: day?, ..self })
    }

    /// Returns the days of the previous period to compare with. If the period is not over, only as many as have passed.
    pub fn days_before(self, calendar: &Calendar, today: Date) -> Option<(Date, Date)> {
        let (first, end) = self.days(calendar)?;
        let (first_before, end_before) = self.step(calendar, false)?.days(calendar)?;
        if !(first..end).contains(&today) {
            return Some((first_before, end_before));
        }
        let passed = first.until(today).ok()?.get_days().saturating_add(1);
        Some((first_before, first_before.checked_add(passed.days()).ok()?.min(end_before)))
    }

    /// Returns the beginning and the end in milliseconds since 1970.
    pub fn range(self, calendar: &Calendar) -> (Option<i64>, Option<i64>) {
        let start = |day: Date| Some(day.to_zoned_datetime(calendar.zone.clone()).ok()?.timestamp().as_millisecond());
        self.days(calendar).map_or((None, None), |(first, end)| (start(first), start(end)))
    }
}

/// Describes days in words, such as "1–25 Nov 2026".
pub fn days_in_words((first, end): (Date, Date)) -> String {
    let last = end.yesterday().unwrap_or(end);
    let whole = last.strftime("%-d %b %Y");
    match () {
        () if first == last => whole.to_string(),
        () if (first.year(), first.month()) == (last.year(), last.month()) => format!("{}–{whole}", first.day()),
        () if first.year() == last.year() => format!("{} – {whole}", first.strftime("%-d %b")),
        () => format!("{} – {whole}", first.strftime("%-d %b %Y")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::{Weekday, date};
    use jiff::tz::TimeZone;

    fn calendar() -> Calendar {
        Calendar { zone: TimeZone::UTC, week_start: Weekday::Monday }
    }

    #[test]
    fn periods_follow_the_calendar() {
        let of = |length| Period { length, day: date(2026, 11, 25) };
        let words = |length| of(length).days(&calendar()).map(days_in_words);
        assert_eq!(words(PeriodLength::Day).unwrap(), "25 Nov 2026");
        assert_eq!(words(PeriodLength::Week).unwrap(), "23–29 Nov 2026");
        assert_eq!(words(PeriodLength::Month).unwrap(), "1–30 Nov 2026");
        assert_eq!(words(PeriodLength::Year).unwrap(), "1 Jan – 31 Dec 2026");
        assert_eq!(words(PeriodLength::All), None);
        let before = of(PeriodLength::Week).step(&calendar(), false).unwrap();
        assert_eq!(days_in_words(before.days(&calendar()).unwrap()), "16–22 Nov 2026");
        assert_eq!(before.step(&calendar(), true).unwrap().days(&calendar()), of(PeriodLength::Week).days(&calendar()));
        let march = Period { length: PeriodLength::Month, day: date(2026, 3, 31) };
        assert_eq!(march.step(&calendar(), false).unwrap().days(&calendar()).unwrap().0, date(2026, 2, 1));
    }

    #[test]
    fn an_unfinished_period_is_compared_with_as_many_days() {
        let of = |length, today| Period { length, day: date(2026, 3, 31) }.days_before(&calendar(), today);
        let words = |length, today| days_in_words(of(length, today).unwrap());
        assert_eq!(words(PeriodLength::Month, date(2026, 3, 10)), "1–10 Feb 2026");
        assert_eq!(words(PeriodLength::Month, date(2026, 3, 31)), "1–28 Feb 2026");
        assert_eq!(words(PeriodLength::Month, date(2026, 5, 1)), "1–28 Feb 2026");
        assert_eq!(words(PeriodLength::Year, date(2026, 3, 31)), "1 Jan – 31 Mar 2025");
        assert_eq!(of(PeriodLength::All, date(2026, 3, 31)), None);
    }

    #[test]
    fn days_of_all_dates_have_an_end() {
        for day in [Date::MIN, Date::MAX, date(1970, 1, 1)] {
            for &length in PeriodLength::ALL {
                let period = Period { length, day };
                let _ = (period.step(&calendar(), true), period.step(&calendar(), false), period.range(&calendar()));
                let _ = period.days_before(&calendar(), day);
            }
        }
    }
}
