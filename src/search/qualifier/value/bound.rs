//! Numbers with comparison operators: `>1.5M`.

use std::fmt;

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// `>=`, and the default.
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

/// The operators. Longer ones come first, because shorter ones are their prefixes.
const SIGNS: [(&str, Comparison); 5] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::More),
    ("<", Comparison::Less),
    ("=", Comparison::Equal),
];

/// An example of each form.
pub(crate) const FORMS: &[&str] = &[">1", ">=1.5", "<2k", "<=1M", "=3"];

/// A comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    /// The operator.
    pub(crate) order: Comparison,
    /// The number: finite and not negative.
    pub(crate) number: f64,
}

impl Bound {
    /// Returns `true` if the comparison holds for a number.
    pub(crate) fn holds(self, number: f64) -> bool {
        match self.order {
            Comparison::AtLeast => number >= self.number,
            Comparison::AtMost => number <= self.number,
            Comparison::More => number > self.number,
            Comparison::Less => number < self.number,
            Comparison::Equal => number == self.number,
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
    // Rejects other forms that Rust parses: signs, `1e9`, `inf`.
    let is_plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number = digits.parse::<f64>().ok().filter(|_| is_plain)? * factor;
    number.is_finite().then_some(number)
}

impl Bound {
    /// Parses an optional operator and a number, with a suffix k, M or G or a prefix `$`. Returns `None` if the number
    /// is missing.
    pub(crate) fn read(text: &str) -> Result<Option<Self>, String> {
        let signed = SIGNS.iter().find_map(|(sign, order)| Some((*order, text.strip_prefix(sign)?)));
        let (order, digits) = signed.unwrap_or((Comparison::AtLeast, text));
        let digits = digits.strip_prefix('$').unwrap_or(digits);
        if digits.is_empty() {
            return Ok(None);
        }
        let bound = number(digits).map(|number| Self { order, number });
        bound.map(Some).ok_or_else(|| format!("no number: {text}; use {}", FORMS.join(", ")))
    }
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
    fn reads_numbers() {
        let bound = |text: &str| Bound::read(text).unwrap().unwrap();
        assert_eq!(bound(">1.5M"), Bound { order: Comparison::More, number: 1.5e6 });
        assert_eq!(bound("500"), Bound { order: Comparison::AtLeast, number: 500.0 });
        assert_eq!(bound("<=$0.5"), Bound { order: Comparison::AtMost, number: 0.5 });
        assert_eq!(bound("=2KB"), Bound { order: Comparison::Equal, number: 2000.0 });
        assert_eq!((Bound::read(">"), Bound::read("")), (Ok(None), Ok(None)));
        for text in [">x", "1e9", "inf", "nan", "-1", "1.2.3", ">>1", "1T", "."] {
            assert!(Bound::read(text).is_err(), "{text}");
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
