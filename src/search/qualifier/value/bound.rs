//! Numbers with comparison operators: `>1.5M`.

use std::fmt;

type Compare = fn(&f64, &f64) -> bool;

/// The comparison operators. Longer ones come first, because shorter ones are their prefixes.
const OPERATORS: [(&str, Compare); 5] =
    [(">=", f64::ge), ("<=", f64::le), (">", f64::gt), ("<", f64::lt), ("=", f64::eq)];

/// An example of each form.
pub(crate) const FORMS: &[&str] = &[">1", ">=1.5", "<2k", "<=1M", "=3"];

/// A comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    operator: &'static str,
    /// The number: finite and not negative.
    number: f64,
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
    /// Returns `true` if the comparison holds for a number.
    pub(crate) fn holds(self, number: f64) -> bool {
        OPERATORS.iter().any(|(operator, compare)| *operator == self.operator && compare(&number, &self.number))
    }

    /// Parses an optional operator and a number, with a suffix k, M or G or a prefix `$`. Returns `None` if the number
    /// is missing.
    pub(crate) fn read(text: &str) -> Result<Option<Self>, String> {
        let found = OPERATORS.iter().find_map(|(operator, _)| Some((*operator, text.strip_prefix(operator)?)));
        let (operator, digits) = found.unwrap_or((">=", text));
        let digits = digits.strip_prefix('$').unwrap_or(digits);
        if digits.is_empty() {
            return Ok(None);
        }
        let bound = number(digits).map(|number| Self { operator, number });
        bound.map(Some).ok_or_else(|| format!("not a number: {text}; use {}", FORMS.join(", ")))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.operator, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_numbers() {
        let bound = |text: &str| Bound::read(text).unwrap().unwrap();
        assert_eq!(bound(">1.5M"), Bound { operator: ">", number: 1.5e6 });
        assert_eq!(bound("500"), Bound { operator: ">=", number: 500.0 });
        assert_eq!(bound("<=$0.5"), Bound { operator: "<=", number: 0.5 });
        assert_eq!(bound("=2KB"), Bound { operator: "=", number: 2000.0 });
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
