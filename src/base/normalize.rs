//! Text normalization for case-insensitive search: Unicode simple case folding in NFC. `É`, `é` and `e` with a combining
//! accent are equal. White space is unchanged.
//!
//! pi's session list compares with JavaScript's `toLowerCase` (1.6.0). Texts that are equal there are equal here. The only
//! difference: in pi, a decomposed `é` contains `e`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::char::{canonical_combining_class, decompose_canonical};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;

/// Normalizes and case-folds text.
pub fn fold(text: &str) -> String {
    let mut folded = String::new();
    fold_into(&mut folded, text);
    folded
}

/// Appends the folded text to `out`. Does not compose it with the text before it.
pub fn fold_into(out: &mut String, text: &str) {
    fold_with_capitals(out, text, |_| ());
}

/// Appends the folded text like [`fold_into`], and reports each byte offset in `out` at which the original has a capital.
pub(crate) fn fold_with_capitals(out: &mut String, text: &str, mut capital: impl FnMut(usize)) {
    const STEP: usize = 16; // most blocks of this size have no capitals
    let mut rest = text;
    out.reserve(text.len());
    while !rest.is_empty() {
        let ascii = ascii_len(rest.as_bytes());
        // The last ASCII letter may compose with the characters after it.
        let plain = if ascii == rest.len() { ascii } else { ascii.saturating_sub(1) };
        let start = out.len();
        for (block, bytes) in rest.as_bytes()[..plain].chunks(STEP).enumerate() {
            if bytes.iter().any(u8::is_ascii_uppercase) {
                let capitals = bytes.iter().enumerate().filter(|(_, byte)| byte.is_ascii_uppercase());
                capitals.for_each(|(at, _)| capital(start + block * STEP + at));
            }
        }
        out.push_str(&rest[..plain]);
        out[start..].make_ascii_lowercase();
        rest = &rest[plain..];
        let others = rest.bytes().skip(1).position(|b| b.is_ascii()).map_or(rest.len(), |at| at + 1);
        let (composing, after) = rest.split_at(others);
        if is_nfc_quick(composing.chars()) == IsNormalized::Yes {
            composing.chars().for_each(|c| push_folded(out, c, &mut capital));
        } else {
            each_letter(composing, |letter| push_letter(out, letter, &mut capital));
        }
        rest = after;
    }
}

/// Returns the length of the ASCII prefix.
fn ascii_len(bytes: &[u8]) -> usize {
    const STEP: usize = 64; // a block is tested with vector instructions
    let blocks = bytes.chunks_exact(STEP).take_while(|block| block.is_ascii()).count() * STEP;
    let rest = &bytes[blocks..];
    blocks + rest.iter().position(|b| !b.is_ascii()).unwrap_or(rest.len())
}

/// Appends a folded character with its combining marks. Some small letters have a composed form with a mark, but not
/// their capitals, for example `ẖ`.
fn push_letter(out: &mut String, letter: &[char], capital: &mut impl FnMut(usize)) {
    let start = out.len();
    letter.iter().for_each(|c| push_folded(out, *c, capital));
    if letter.len() > 1 && is_nfc_quick(out[start..].chars()) != IsNormalized::Yes {
        let composed: String = out[start..].nfc().collect();
        out.truncate(start);
        out.push_str(&composed);
    }
}

/// Returns a text in NFC in which the letters with combining marks are folded as in [`fold`], and the others are unchanged.
pub(crate) fn composed(text: &str) -> String {
    let mut composed = String::with_capacity(text.len());
    each_letter(text, |letter| match letter {
        [c] => composed.push(*c),
        _ => push_letter(&mut composed, letter, &mut |_| ()),
    });
    composed
}

/// Calls a function with each character of a text in NFC and its combining marks.
fn each_letter(text: &str, each: impl FnMut(&[char])) {
    let chars: Vec<char> = text.nfc().collect();
    chars.chunk_by(|_, next| canonical_combining_class(*next) != 0).for_each(each);
}

fn push_folded(out: &mut String, c: char, capital: &mut impl FnMut(usize)) {
    if c.is_uppercase() {
        capital(out.len());
    }
    // Simple case folding keeps this character, `toLowerCase` does not.
    if c == 'İ' {
        return out.push_str("i\u{307}");
    }
    out.push(fold_char(c));
}

/// Returns the capital of a folded letter, or the letter itself unless it has exactly one.
pub(crate) fn capital(folded: char) -> char {
    let mut capital = folded.to_uppercase();
    capital.next().filter(|_| capital.len() == 0).unwrap_or(folded)
}

/// Returns the simple case folding of a character.
pub(crate) fn fold_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    unicode_case_mapping::case_folded(c).and_then(|folded| char::from_u32(folded.get())).unwrap_or(c)
}

/// Returns a folded text without the accents of Latin letters, or `None` if it has none.
pub(crate) fn without_accents(folded: &str) -> Option<String> {
    accented(folded.as_bytes())?;
    Some(folded.chars().map(|c| base(c).unwrap_or(c)).collect())
}

/// Returns the place of the first byte that can begin a Latin letter with an accent, or a combining accent.
pub(crate) fn accented(bytes: &[u8]) -> Option<usize> {
    const STEP: usize = 64; // a block is tested with vector instructions
    let begins = |byte: &u8| matches!(byte, 0xc3..=0xc8 | 0xcc | 0xcd | 0xe1);
    let has_none = |block: &&[u8]| block.is_ascii() || !block.iter().fold(false, |is_in, byte| is_in | begins(byte));
    let blocks = bytes.chunks(STEP).take_while(has_none).count() * STEP;
    bytes.get(blocks..)?.iter().position(begins).map(|at| blocks + at)
}

/// Returns the ASCII letter of a Latin letter with accents.
fn base(c: char) -> Option<char> {
    if !matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') {
        return None;
    }
    let mut first = None;
    decompose_canonical(c, |part| first = first.or(Some(part)));
    first.filter(char::is_ascii_alphabetic)
}

/// Returns the folded letters that differ from an ASCII letter only by accents.
pub(crate) fn with_accents(letter: char) -> &'static str {
    static LETTERS: LazyLock<HashMap<char, String>> = LazyLock::new(|| {
        let mut letters = HashMap::<_, String>::new();
        for c in ('\u{c0}'..='\u{1eff}').filter(|c| fold_char(*c) == *c) {
            base(c).into_iter().for_each(|base| letters.entry(base).or_default().push(c));
        }
        letters
    });
    LETTERS.get(&letter).map_or("", String::as_str)
}

/// Folded text with a mapping to byte offsets in the original.
#[derive(Clone, Debug, Default)]
pub struct FoldedText {
    /// The folded text.
    pub text: String,
    /// The start of each grapheme cluster and of each run of ASCII. Empty if the whole text is ASCII, because all offsets
    /// are equal then.
    starts: Vec<Start>,
    len: usize,
}

/// The start of a grapheme cluster, or of a run of single-byte clusters.
#[derive(Clone, Copy, Debug)]
struct Start {
    folded: usize,
    original: usize,
    is_run: bool,
}

impl Start {
    /// Maps a folded offset to the original. Offsets inside a cluster map to its start.
    fn original(&self, folded: usize) -> usize {
        self.original + if self.is_run { folded - self.folded } else { 0 }
    }
}

impl FoldedText {
    /// Folds `original`.
    pub fn new(original: &str) -> Self {
        let mut folded = Self { len: original.len(), ..Self::default() };
        if original.is_ascii() {
            folded.text = original.to_ascii_lowercase();
            return folded;
        }
        let mut at = 0;
        while at < original.len() {
            let rest = &original[at..];
            let plain = ascii_len(rest.as_bytes());
            let plain = memchr::memchr(b'\r', &rest.as_bytes()[..plain]).unwrap_or(plain); // CR LF is one cluster
            // The last character may form a cluster with the next.
            let run = if plain == rest.len() { plain } else { plain.saturating_sub(1) };
            let start = Start { folded: folded.text.len(), original: at, is_run: run > 0 };
            let len = if run > 0 { run } else { rest.graphemes(true).next().map_or(rest.len(), str::len) };
            folded.starts.push(start);
            fold_into(&mut folded.text, &rest[..len]);
            at += len;
        }
        folded
    }

    /// Returns the byte range of the original for a range of the folded text, extended to whole grapheme clusters.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        let Range { start, end } = range;
        let end = end.max(start);
        if self.starts.is_empty() {
            return start.min(self.len)..end.min(self.len);
        }
        let before = |place: usize, is_in: bool| {
            let starts = |one: &Start| one.folded < place || is_in && one.folded == place;
            self.starts.partition_point(starts).checked_sub(1)
        };
        let first = before(start, true).map_or(0, |at| self.starts[at].original(start));
        // The range includes the cluster that contains its end.
        let after = before(end, false).map_or(first, |at| match self.starts[at] {
            run if run.is_run => run.original(end),
            _ => self.starts.get(at + 1).map_or(self.len, |next| next.original),
        });
        first.min(self.len)..after.min(self.len).max(first.min(self.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn folds_case_and_composes() {
        for (text, folded) in [
            ("Hello, World", "hello, world"),
            ("É e\u{301} E\u{301}", "é é é"),
            ("ΟΔΟΣ οδος", "οδοσ οδοσ"),
            ("Straße STRAẞE", "straße straße"),
            ("İstanbul", "i\u{307}stanbul"),
            ("漢字 한글", "漢字 한글"),
            ("\u{212a} \u{212b}", "k å"),
            ("H\u{331} ſ\u{323} Ϊ\u{301}", "ẖ ṣ ΐ"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
    }

    /// Comparisons as observed in the session picker of pi 1.6.0.
    #[test]
    fn differences_from_pi() {
        for (one, other) in
            [("maſt", "mast"), ("ς", "σ"), ("µ", "μ"), ("ϑ", "θ"), ("e\u{301}", "é"), ("\u{1100}\u{1161}", "가")]
        {
            assert_eq!(fold(one), fold(other));
            assert_ne!(one.to_lowercase(), other.to_lowercase());
        }
        for (one, other) in [("ß", "ss"), ("ﬁ", "fi"), ("ı", "i"), ("１", "1")] {
            assert_ne!(fold(one), fold(other));
        }
        assert!("e\u{301}".contains('e') && !fold("e\u{301}").contains('e'));
    }

    #[test]
    fn texts_with_equal_lower_case_are_equal() {
        for c in '\0'..=char::MAX {
            let lower: String = c.to_lowercase().collect();
            // What Unicode has added since the tables of the crate were made is left alone.
            if unicode_case_mapping::to_lowercase(c)[0] != 0 {
                assert_eq!(fold(&lower), fold(&c.to_string()), "{c:?} {:x}", c as u32);
            }
        }
    }

    #[test]
    fn ranges_map_back_to_whole_clusters() {
        let original = "ab E\u{301}É👩‍👩‍👧 x";
        let folded = FoldedText::new(original);
        assert_eq!(folded.text, "ab éé👩‍👩‍👧 x");
        let back = |part: &str| {
            let at = folded.text.find(part).unwrap();
            &original[folded.original(at..at + part.len())]
        };
        assert_eq!(back("é"), "E\u{301}");
        assert_eq!(back("éé"), "E\u{301}É");
        assert_eq!(back("👧 x"), "👩‍👩‍👧 x");
        assert_eq!(back("b "), "b ");
        assert_eq!(folded.original(2..2), 2..2);
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in "\\PC{0,20}|[HTſϱϵΙΥİs\u{301}\u{308}\u{313}\u{314}\u{323}\u{331}\u{345}ẛΐ]{0,20}") {
            let folded = fold(&text);
            prop_assert_eq!(fold(&folded), folded);
        }

        #[test]
        fn is_the_folding_of_the_composed_text(text in "[a-cEH\u{301}\u{323}\u{331}éÉ한\u{1100}\u{1161}\u{11a8}ſİ漢 ]{0,90}") {
            let mut simple = String::new();
            text.nfc().for_each(|c| push_folded(&mut simple, c, &mut |_| ()));
            prop_assert_eq!(fold(&text), simple.nfc().collect::<String>());
        }

        #[test]
        fn clusters_are_found_one_by_one(text in "[a-cE\u{301}éÉ한\u{1100}\u{1161}\u{11a8}\r\n👩\u{200d}İ ]{0,40}", from in 0usize..60, len in 0usize..9) {
            let folded = FoldedText::new(&text);
            let (mut start, mut starts) = (0, Vec::new());
            for (at, cluster) in text.grapheme_indices(true) {
                starts.push((start, at));
                start += fold(cluster).len();
            }
            let (from, to) = (from.min(start), (from + len).min(start));
            let first = starts.iter().rev().find(|(folded, _)| *folded <= from).map_or(0, |(_, at)| *at);
            let after = starts.iter().find(|(folded, _)| *folded >= to).map_or(text.len(), |(_, at)| *at);
            let wanted = if from == start { text.len()..text.len() } else { first..after.max(first) };
            if from < start {
                prop_assert_eq!(folded.original(from..to), wanted);
            }
        }

        #[test]
        fn clusters_fold_as_the_whole_does(text in "[a-cE\u{301}\u{323}éÉ한\u{1100}\u{1161}\u{11a8}\r\n👩\u{200d} ]{0,30}|\\PC{0,30}") {
            let folded = FoldedText::new(&text);
            prop_assert_eq!(&folded.text, &fold(&text));
            for (at, c) in folded.text.char_indices() {
                let back = folded.original(at..at + c.len_utf8());
                prop_assert!(fold(&text[back]).contains(c));
            }
        }
    }
}
