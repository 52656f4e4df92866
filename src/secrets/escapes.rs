//! Escape sequences of a terminal: texts are searched without them, because colors can be around and inside a value.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Escape sequences, and colors that are written out, as in JSON in a text.
static SEQUENCES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let written = r"\\+(?:u001[bB]|x1[bB]|033|e)\[[0-9;]*[mK]";
    Regex::new(&format!(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[()][A-Z0-9])|{written}")).ok()
});

/// A text without the escape sequences of another text.
pub(super) struct Plain {
    pub text: String,
    /// The starts of the pieces between the sequences, in `text` and in the original text.
    pieces: Vec<(usize, usize)>,
}

impl Plain {
    /// Writes `between` in the place of each sequence. Returns `None` if there is none.
    pub(super) fn new(text: &str, between: &str) -> Option<Self> {
        memchr::memchr2(b'\x1b', b'\\', text.as_bytes())?; // most texts have neither
        let mut plain = Self { text: String::new(), pieces: vec![(0, 0)] };
        for sequence in SEQUENCES.as_ref()?.find_iter(text) {
            plain.text.push_str(&text[plain.end()..sequence.start()]);
            plain.text.push_str(between);
            plain.pieces.push((plain.text.len(), sequence.end()));
        }
        plain.text.push_str(&text[plain.end()..]);
        (plain.pieces.len() > 1).then_some(plain)
    }

    /// Returns the end of the last sequence.
    fn end(&self) -> usize {
        self.pieces.last().map_or(0, |(_, original)| *original)
    }

    /// Returns the place of a part of the text in the original text.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end - 1) + 1
    }

    fn place(&self, at: usize) -> usize {
        let next = self.pieces.partition_point(|(start, _)| *start <= at);
        let (start, original) = self.pieces[next - 1];
        original + at - start
    }
}

/// Returns a text without escape sequences.
pub(super) fn without(text: &str) -> String {
    Plain::new(text, "").map_or_else(|| text.to_owned(), |plain| plain.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_a_plain_text_have_originals() {
        let text = "a\x1b[01;31m\x1b[Kbä\x1b(B\x1b[mc\\\\u001b[0md";
        let plain = Plain::new(text, "").unwrap();
        assert_eq!(plain.text, "abäcd");
        let original = |range| &text[plain.original(&range)];
        assert_eq!(original(0..1), "a");
        assert_eq!(original(1..4), "bä");
        assert_eq!(original(0..5), "a\x1b[01;31m\x1b[Kbä\x1b(B\x1b[mc");
        assert_eq!(original(5..6), "d");
        assert_eq!(Plain::new(text, "|").unwrap().text, "a||bä||c|d");
        assert!(Plain::new("a[0m \\e[a", "").is_none());
        assert_eq!(without("a\x1b[1mb"), "ab");
    }
}
