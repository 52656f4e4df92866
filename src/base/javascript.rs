//! JavaScript semantics that pi depends on: white space, string slices, and conversion between numbers and text.

/// Trims white space like JavaScript's `trim`.
pub(crate) fn js_trim(text: &str) -> &str {
    text.trim_matches(is_js_space)
}

/// Returns `true` for the white space of JavaScript's `trim`: unlike in Rust, U+FEFF is included and U+0085 is not.
pub(crate) fn is_js_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r') || (c > '\x7f' && c != '\u{85}' && (c.is_whitespace() || c == '\u{feff}'))
}

/// Returns the first `units` UTF-16 code units of `text`, like JavaScript's `slice(0, units)`, but never splits a character.
pub fn utf16_prefix(text: &str, units: usize) -> &str {
    if text.len() <= units {
        return text; // no character has more units than bytes
    }
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.len_utf16();
        if used > units {
            return &text[..at];
        }
    }
    text
}

/// Formats a number like JavaScript's `String`.
pub(crate) fn number(number: f64) -> String {
    match number.abs() {
        0.0 => "0".into(),
        f64::INFINITY => if number > 0.0 { "Infinity" } else { "-Infinity" }.into(),
        ..1e15 if number.fract() == 0.0 => (number as i64).to_string(),
        1e-6..1e21 => number.to_string(),
        abs if abs >= 1.0 => format!("{number:e}").replace('e', "e+"),
        _ => format!("{number:e}"), // or not a number
    }
}

/// Parses text like JavaScript's `Number`. Returns `None` for empty text and for results that are not finite.
pub(crate) fn to_number(text: &str) -> Option<f64> {
    let text = js_trim(text);
    let digits = |radix: u32| {
        let digits = text[2..].chars().map(|c| c.to_digit(radix).map(f64::from));
        digits.reduce(|all, digit| Some(all? * f64::from(radix) + digit?)).flatten()
    };
    let number = match text.get(..2) {
        Some("0x" | "0X") => digits(16),
        Some("0o" | "0O") => digits(8),
        Some("0b" | "0B") => digits(2),
        // Rust also parses `inf` and `nan`.
        _ if text.contains(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E')) => None,
        _ => text.parse().ok(),
    };
    number.filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of Node 22.
    #[test]
    fn numbers_match_javascript() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (1e3, "1000"),
            (-1.5, "-1.5"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-1.5e300, "-1.5e+300"),
            (123_456_789_012_345_678_901_234_567_890.0, "1.2345678901234568e+29"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (5e-324, "5e-324"),
            (9_007_199_254_740_993.0, "9007199254740992"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(value), text);
        }
        for (text, value) in [
            ("7", Some(7.0)),
            (" 12\n", Some(12.0)),
            ("-1", Some(-1.0)),
            ("+1e3", Some(1000.0)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("0x10", Some(16.0)),
            ("0B11", Some(3.0)),
            ("0o17", Some(15.0)),
            ("", None),
            (" ", None),
            ("0x", None),
            ("0xg", None),
            ("-0x1", None),
            ("1_0", None),
            ("1,5", None),
            ("Infinity", None),
            ("inf", None),
            ("NaN", None),
            ("1e999", None),
            ("é", None),
        ] {
            assert_eq!(to_number(text), value, "{text:?}");
        }
    }

    #[test]
    fn trim_and_slice_match_javascript() {
        assert_eq!(js_trim("\u{feff} \t\u{a0}a\u{85}\u{2028}"), "a\u{85}");
        assert_eq!((utf16_prefix("a👩b", 2), utf16_prefix("a👩b", 3), utf16_prefix("ab", 9)), ("a", "a👩", "ab"));
    }
}
