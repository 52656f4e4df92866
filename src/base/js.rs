//! What JavaScript, in which pi is written, takes for white space. What it takes for false stands with the JSON that it
//! is asked of.

/// `text` without white space around, as JavaScript's `trim`.
pub(crate) fn js_trim(text: &str) -> &str {
    text.trim_matches(is_js_space)
}

/// What JavaScript's `trim` takes away: unlike Rust's also U+FEFF, and not U+0085.
pub(crate) fn is_js_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r') || (c > '\x7f' && c != '\u{85}' && (c.is_whitespace() || c == '\u{feff}'))
}

/// The first `units` UTF-16 code units of `text`, as JavaScript's `slice(0, units)`; a character is not split.
pub fn cut(text: &str, units: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.len_utf16();
        if used > units {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trims_and_cuts_as_javascript_does() {
        assert_eq!(js_trim("\u{feff} \t\u{a0}a\u{85}\u{2028}"), "a\u{85}");
        assert_eq!((cut("a👩b", 2), cut("a👩b", 3), cut("ab", 9)), ("a", "a👩", "ab"));
    }
}
