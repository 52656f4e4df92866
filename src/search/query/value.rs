//! Values of qualifiers: dates and ages (`2026-05`, `2w`, `today`), and numbers to compare with (`>1.5M`).

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// Where and when a query is asked.
#[derive(Clone, Debug)]
pub struct Around {
    /// Now, in milliseconds since 1970.
    pub now_ms: i64,
    /// The home directory, for `~`.
    pub home: String,
    /// The zone in which days begin.
    pub zone: TimeZone,
}

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// The units of ages with their milliseconds, as long as those of the list's ages (`session::time::age`).
const UNITS: [(&str, i64); 6] =
    [("m", MINUTE), ("h", 60 * MINUTE), ("d", DAY), ("w", 7 * DAY), ("mo", 30 * DAY), ("y", 365 * DAY)];

/// A moment: the beginning of a day, a month or a year, or so long ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The beginning of today.
    Today,
    /// The beginning of yesterday.
    Yesterday,
    /// `2026-05-01`
    Day(Date),
    /// `2026-05`: its first day.
    Month(Date),
    /// `2026`: its first day.
    Year(Date),
    /// `2w`: how many, and the unit's place in the table.
    Ago(u32, usize),
}

impl When {
    /// Reads what stands behind `after:` and `before:`.
    ///
    /// # Errors
    /// It is none of them: says which there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let when = match text {
            "today" => Some(Self::Today),
            "yesterday" => Some(Self::Yesterday),
            _ => Self::ago(text).or_else(|| Self::date(text)),
        };
        when.ok_or_else(|| {
            format!("no date or age: {text}; use 2026-05-01, 2026-05, today, yesterday, or 5h, 3d, 2w, 6mo, 1y")
        })
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
        let date = |month: i16, day: i16| Date::new(number(0, 4)?, month.try_into().ok()?, day.try_into().ok()?).ok();
        match parts.len() {
            1 => Some(Self::Year(date(1, 1)?)),
            2 => Some(Self::Month(date(number(1, 2)?, 1)?)),
            3 => Some(Self::Day(date(number(1, 2)?, number(2, 2)?)?)),
            _ => None,
        }
    }

    /// The moment, in milliseconds since 1970.
    pub fn ms(self, around: &Around) -> i64 {
        let start = |date: Date| {
            // Days that the zone puts beyond the end of time are far away all the same.
            date.to_zoned(around.zone.clone()).map_or(i64::MAX, |time| time.timestamp().as_millisecond())
        };
        let now = Timestamp::from_millisecond(around.now_ms).unwrap_or_default();
        let today = now.to_zoned(around.zone.clone()).date();
        match self {
            Self::Today => start(today),
            Self::Yesterday => start(today.saturating_sub(1.day())),
            Self::Day(date) | Self::Month(date) | Self::Year(date) => start(date),
            Self::Ago(count, unit) => around.now_ms.saturating_sub(i64::from(count).saturating_mul(UNITS[unit].1)),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Today => f.write_str("today"),
            Self::Yesterday => f.write_str("yesterday"),
            Self::Day(date) => write!(f, "{:04}-{:02}-{:02}", date.year(), date.month(), date.day()),
            Self::Month(date) => write!(f, "{:04}-{:02}", date.year(), date.month()),
            Self::Year(date) => write!(f, "{:04}", date.year()),
            Self::Ago(count, unit) => write!(f, "{count}{}", UNITS[*unit].0),
        }
    }
}

/// How a number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `>=`, and what holds without a sign.
    AtLeast,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `<`
    Less,
    /// `=`
    Equal,
}

/// The signs. The longer ones come first, as the others begin them.
const SIGNS: [(&str, Order); 5] =
    [(">=", Order::AtLeast), ("<=", Order::AtMost), (">", Order::More), ("<", Order::Less), ("=", Order::Equal)];

/// What a number is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// How.
    pub order: Order,
    /// With which number: finite, not below zero.
    pub number: f64,
}

impl Bound {
    /// Reads a sign, if there is one, and a number with k, M or G behind it for thousands, or `$` before it. `None`
    /// while there is no number.
    ///
    /// # Errors
    /// It is no number: says what may stand here.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let signed = SIGNS.iter().find_map(|(sign, order)| Some((*order, text.strip_prefix(sign)?)));
        let (order, digits) = signed.unwrap_or((Order::AtLeast, text));
        let digits = digits.strip_prefix('$').unwrap_or(digits);
        if digits.is_empty() {
            return Ok(None);
        }
        let bound = number(digits).map(|number| Self { order, number });
        bound.map(Some).ok_or_else(|| format!("no number: {text}; use >1, >=1.5, <2k, <=1M, =3"))
    }

    /// Whether it holds for a number.
    pub fn holds(self, number: f64) -> bool {
        match self.order {
            Order::AtLeast => number >= self.number,
            Order::AtMost => number <= self.number,
            Order::More => number > self.number,
            Order::Less => number < self.number,
            Order::Equal => number == self.number,
        }
    }
}

fn number(text: &str) -> Option<f64> {
    let text = text.strip_suffix(['b', 'B']).unwrap_or(text);
    let (digits, factor) = match text.strip_suffix(|c: char| c.is_ascii_alphabetic()) {
        Some(digits) => match text.as_bytes().last()? {
            b'k' | b'K' => (digits, 1e3),
            b'm' | b'M' => (digits, 1e6),
            b'g' | b'G' => (digits, 1e9),
            _ => return None,
        },
        None => (text, 1.0),
    };
    // Not what else Rust takes for a number: signs, `1e9`, `inf`.
    let is_plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number = digits.parse::<f64>().ok().filter(|_| is_plain)? * factor;
    number.is_finite().then_some(number)
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = SIGNS.iter().find(|(_, order)| *order == self.order).map_or("", |(sign, _)| sign);
        write!(f, "{sign}{}", self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_moments() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        // 2026-05-10T00:30 in the zone.
        let around = Around { now_ms: 1_778_365_800_000, home: String::new(), zone };
        let ms = |text: &str| crate::base::time::iso(When::parse(text).unwrap().ms(&around)).unwrap();
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
            assert!(When::parse(text).is_err(), "{text}");
        }
        assert_eq!(When::parse("9999-12-31").unwrap().ms(&around).signum(), 1);
        assert!(When::parse("4294967295y").unwrap().ms(&around) < 0);
    }

    #[test]
    fn reads_numbers() {
        let bound = |text: &str| Bound::parse(text).unwrap().unwrap();
        assert_eq!(bound(">1.5M"), Bound { order: Order::More, number: 1.5e6 });
        assert_eq!(bound("500"), Bound { order: Order::AtLeast, number: 500.0 });
        assert_eq!(bound("<=$0.5"), Bound { order: Order::AtMost, number: 0.5 });
        assert_eq!(bound("=2KB"), Bound { order: Order::Equal, number: 2000.0 });
        assert_eq!((Bound::parse(">"), Bound::parse("")), (Ok(None), Ok(None)));
        for text in [">x", "1e9", "inf", "nan", "-1", "1.2.3", ">>1", "1T", "."] {
            assert!(Bound::parse(text).is_err(), "{text}");
        }
        let holds = |text: &str| [1.0, 2.0, 3.0].map(|number| bound(text).holds(number));
        assert_eq!(holds(">2"), [false, false, true]);
        assert_eq!(holds(">=2"), [false, true, true]);
        assert_eq!(holds("2"), [false, true, true]);
        assert_eq!(holds("<2"), [true, false, false]);
        assert_eq!(holds("<=2"), [true, true, false]);
        assert_eq!(holds("=2"), [false, true, false]);
    }
}
