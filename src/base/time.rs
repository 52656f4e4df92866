//! Timestamps of session files: ISO strings or milliseconds since 1970, parsed like JavaScript's `Date`.

use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

/// Parses an ISO 8601 (the format of pi) or RFC 2822 date to milliseconds since 1970. A date without a time zone is UTC.
pub fn parse(text: &str) -> Option<i64> {
    if let Some(ms) = parse_pi_format(text.as_bytes()) {
        return Some(ms);
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_millisecond());
    }
    let civil = text.parse::<civil::DateTime>().or_else(|_| text.parse::<civil::Date>().map(civil::DateTime::from));
    if let Ok(civil) = civil {
        return TimeZone::UTC.to_timestamp(civil).ok().map(|time| time.as_millisecond());
    }
    jiff::fmt::rfc2822::parse(text).ok().map(|time| time.timestamp().as_millisecond())
}

/// Parses `2026-01-24T16:22:26.831Z`, the format that pi writes. A fast path, because every line has a timestamp.
pub(crate) fn parse_pi_format(text: &[u8]) -> Option<i64> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let form = b"0000-00-00T00:00:00.000Z";
    let is_as = |(b, form): (&u8, &u8)| (b == form) | ((*form == b'0') & b.is_ascii_digit());
    // No early exit, so that the comparison is vectorized.
    if !text.iter().zip(form).fold(true, |all, pair| all & is_as(pair)) {
        return None;
    }
    let number = |range: std::ops::Range<usize>| text[range].iter().fold(0, |n, b| n * 10 + i64::from(b - b'0'));
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let (hour, minute, second) = (number(11..13), number(14..16), number(17..19));
    if !(1..=12).contains(&month) || !(1..=28).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None; // the slow path handles the last days of a month and invalid times
    }
    // Days since 1970 in the Gregorian calendar, with years that begin in March (Howard Hinnant's `days_from_civil`).
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let year = year.rem_euclid(400);
    let days = era * 146_097 + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + number(20..23))
}

/// Converts a number to the milliseconds of a JavaScript `Date`: an integer of at most 8.64e15.
pub(crate) fn from_number(ms: f64) -> Option<i64> {
    (ms.abs() <= 8.64e15).then_some(ms.trunc() as i64)
}

/// Formats a time like JavaScript's `toISOString`: `2026-01-24T16:22:26.831Z`. Returns `None` beyond the year 9999.
pub fn iso(ms: i64) -> Option<String> {
    if (0..=Timestamp::MAX.as_millisecond()).contains(&ms) {
        return String::from_utf8(to_pi_format(ms).into()).ok();
    }
    Timestamp::from_millisecond(ms).ok().map(|time| format!("{time:.3}"))
}

/// Formats a time from 1970 to 9999. A fast path, because lists have two times for each session.
fn to_pi_format(ms: i64) -> [u8; 24] {
    let (days, seconds) = (ms / 86_400_000, ms / 1000 % 86_400);
    // The date in the Gregorian calendar, with years that begin in March (Howard Hinnant's `civil_from_days`).
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let mut text = *b"0000-00-00T00:00:00.000Z";
    let mut put = |range: std::ops::Range<usize>, mut number: i64| {
        for digit in text[range].iter_mut().rev() {
            *digit += (number % 10) as u8;
            number /= 10;
        }
    };
    put(0..4, era * 400 + year);
    put(5..7, month);
    put(8..10, day);
    put(11..13, seconds / 3600);
    put(14..16, seconds / 60 % 60);
    put(17..19, seconds % 60);
    put(20..23, ms % 1000);
    text
}

/// Formats an age as in pi's session list (0.87.1): `now`, `5m`, `3h`, `2d`, `1w`, `3mo`, `1y`.
pub fn age(now: i64, then: i64) -> String {
    let minutes = now.saturating_sub(then) / 60_000;
    let (hours, days) = (minutes / 60, minutes / (24 * 60));
    match () {
        () if minutes < 1 => "now".into(),
        () if minutes < 60 => format!("{minutes}m"),
        () if hours < 24 => format!("{hours}h"),
        () if days < 7 => format!("{days}d"),
        () if days < 30 => format!("{}w", days / 7),
        () if days < 365 => format!("{}mo", days / 30),
        () => format!("{}y", days / 365),
    }
}

/// Formats a time for a list: `14:02` today, `Tue 14:02` within a week, `19 Nov` within eleven months, or `Nov 2025`.
pub fn when(now: i64, then: i64, zone: &TimeZone) -> String {
    let local = |ms| Some(Timestamp::from_millisecond(ms).ok()?.to_zoned_datetime(zone.clone()));
    let (Some(today), Some(time)) = (local(now), local(then)) else { return "?".into() };
    let days = now.saturating_sub(then) / (24 * 3_600_000);
    let form = match () {
        () if time.date() == today.date() => "%H:%M",
        () if then < now && days < 6 => "%a %H:%M",
        () if then < now && days < 330 => "%-d %b",
        () => "%b %Y",
    };
    time.strftime(form).to_string()
}

/// Formats the time since `since` for a sentence: `for 5m`, `since just now`.
pub(crate) fn duration_since(now: i64, since: i64) -> String {
    match age(now, since) {
        age if age == "now" => "since just now".into(),
        age => format!("for {age}"),
    }
}

/// Formats an age for a sentence: `just now`, `5m ago`.
pub(crate) fn ago(now: i64, then: i64) -> String {
    match age(now, then) {
        age if age == "now" => "just now".into(),
        age => format!("{age} ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn any_times_are_formatted(now in proptest::num::i64::ANY, then in proptest::num::i64::ANY) {
            for text in [age(now, then), when(now, then, &TimeZone::UTC), duration_since(now, then), ago(now, then)] {
                proptest::prop_assert!(!text.is_empty());
            }
            let _ = iso(then);
        }
    }

    #[test]
    fn parses_dates_of_session_files() {
        assert_eq!(parse("1970-01-01T00:00:01.234Z"), Some(1234));
        assert_eq!(parse("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(parse("1970-01-02"), Some(86_400_000));
        assert_eq!(parse("1970-01-01T00:00:05"), Some(5000));
        assert_eq!(parse("Thu, 01 Jan 1970 00:00:07 +0000"), Some(7000));
        assert_eq!(parse("yesterday"), None);
        assert_eq!(from_number(f64::INFINITY), None);
        assert_eq!(iso(1_769_271_746_831).as_deref(), Some("2026-01-24T16:22:26.831Z"));
        assert_eq!(iso(0).as_deref(), Some("1970-01-01T00:00:00.000Z"));
        assert_eq!(iso(-1).as_deref(), Some("1969-12-31T23:59:59.999Z"));
        let last = Timestamp::MAX.as_millisecond();
        assert!(iso(last).is_some_and(|text| text.starts_with("9999-12-30T22:00:00")) && iso(last + 1).is_none());
    }

    proptest::proptest! {
        #[test]
        fn the_short_cut_agrees_with_the_library(ms in -62_167_219_200_000i64..253_402_300_800_000) {
            let text = iso(ms).unwrap();
            proptest::prop_assert_eq!(parse(&text), Some(ms), "{}", text);
        }

        #[test]
        fn times_are_formatted_as_by_the_library(ms in 0..=Timestamp::MAX.as_millisecond()) {
            let formatted = format!("{:.3}", Timestamp::from_millisecond(ms).unwrap());
            proptest::prop_assert_eq!(String::from_utf8(to_pi_format(ms).into()).unwrap(), formatted);
        }
    }

    #[test]
    fn times_of_a_list_are_as_exact_as_they_are_near() {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let ms = |text: &str| parse(text).unwrap();
        let now = ms("2026-11-28T21:00:00Z"); // a Saturday
        for (then, said) in [
            ("2026-11-27T23:30:00Z", "00:30"),
            ("2026-11-24T13:02:00Z", "Tue 14:02"),
            ("2026-11-19T13:02:00Z", "19 Nov"),
            ("2026-02-01T13:02:00Z", "1 Feb"),
            ("2025-11-28T13:02:00Z", "Nov 2025"),
        ] {
            assert_eq!(when(now, ms(then), &zone), said);
        }
        assert_eq!(when(now, i64::MAX, &zone), "?");
    }

    #[test]
    fn ages_match_pi() {
        const HOUR: i64 = 3_600_000;
        for (then, said) in [
            (-59_999, "now"),
            (-60_000, "1m"),
            (-HOUR, "1h"),
            (-24 * HOUR, "1d"),
            (-7 * 24 * HOUR, "1w"),
            (-30 * 24 * HOUR, "1mo"),
            (-365 * 24 * HOUR, "1y"),
            (HOUR, "now"),
        ] {
            assert_eq!(age(0, then), said);
        }
        assert_eq!((ago(0, -59_999), ago(0, -HOUR)), ("just now".into(), "1h ago".into()));
    }
}
