//! Fuzzy search for words without a literal match: their letters in order, starting at the beginning of a word, with
//! small gaps. The only user of the crate `fuzzy-matcher`, which scores the matches.

use crate::session::search_titles::capped;
use std::ops::Range;
use std::sync::LazyLock;

use fuzzy_matcher::FuzzyMatcher;
use fuzzy_matcher::skim::SkimMatcherV2;

/// The minimum number of letters in a word. Shorter words match nearly every text.
const MIN_LETTERS: usize = 3;
/// The maximum number of letters in a word.
const MAX_LETTERS: usize = 32;
/// The maximum distance to the next letter. More scattered letters are noise.
const MAX_GAP: u16 = 12;

/// Returns `true` if a folded word is long enough to match fuzzily.
pub(crate) fn is_long_enough(folded: &str) -> bool {
    folded.chars().nth(MIN_LETTERS - 1).is_some()
}

/// A shared matcher, which keeps buffers of one megabyte per thread.
static SKIM: LazyLock<SkimMatcherV2> = LazyLock::new(|| SkimMatcherV2::default().respect_case());

/// A word to search for.
#[derive(Debug)]
pub struct Fuzzy {
    word: String,
    letters: Vec<char>,
    /// The positions of each ASCII letter in the word, as bits.
    places: [u32; 128],
}

impl Fuzzy {
    /// Creates a search for a folded word. Returns `None` if the word is too short or too long to match fuzzily.
    pub fn new(folded: &str) -> Option<Self> {
        let letters: Vec<char> = folded.chars().take(MAX_LETTERS + 1).collect();
        if !(MIN_LETTERS..=MAX_LETTERS).contains(&letters.len()) {
            return None;
        }
        let mut places = [0; 128];
        for (place, letter) in letters.iter().enumerate() {
            if let Some(places) = places.get_mut(*letter as usize) {
                *places |= 1 << place;
            }
        }
        Some(Self { word: folded.into(), letters, places })
    }

    /// Searches the first 512 characters of a folded text. Returns the score, higher is better, and the byte range of the
    /// match.
    pub fn find(&self, folded: &str) -> Option<(i64, Range<usize>)> {
        let span = self.span(capped(folded))?;
        Some((SKIM.fuzzy_match(&folded[span.clone()], &self.word)?, span))
    }

    /// Returns the matched letters as ranges of the folded text.
    pub fn letters(&self, folded: &str) -> Vec<Range<usize>> {
        let Some(Range { start, end }) = self.span(capped(folded)) else { return Vec::new() };
        let span = &folded[start..end];
        let places = SKIM.fuzzy_indices(span, &self.word).map(|(_, places)| places).unwrap_or_default();
        let letter = |(at, (byte, c)): (usize, (usize, char))| {
            places.contains(&at).then(|| start + byte..start + byte + c.len_utf8())
        };
        span.char_indices().enumerate().filter_map(letter).collect()
    }

    /// Returns the shortest range of the text with the letters in order.
    fn span(&self, text: &str) -> Option<Range<usize>> {
        let first = *self.letters.first()?;
        // The first byte of a UTF-8 character never occurs inside another one.
        let starts = memchr::memchr_iter(*self.word.as_bytes().first()?, text.as_bytes());
        let is_start = |start: &usize| {
            let before = text.as_bytes()[..*start].last();
            let is_in_word = match before {
                Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
                Some(_) => text[..*start].chars().next_back().is_some_and(char::is_alphanumeric),
                None => false,
            };
            !is_in_word && text[*start..].starts_with(first)
        };
        let spans = starts.filter(is_start).filter_map(|start| Some(start..start + self.reach(&text[start..])?));
        spans.min_by_key(Range::len)
    }

    /// Returns the earliest end of the letters if they start at the beginning of the text.
    fn reach(&self, text: &str) -> Option<usize> {
        // The matched positions of the word as bits, and the last index in the text of each. Starting from the nearest
        // is best.
        let (mut reached, mut found, mut newest) = (1_u32, [0_u16; MAX_LETTERS], 0);
        for (at, (byte, c)) in (0_u16..).zip(text.char_indices()).skip(1) {
            if at - newest > MAX_GAP {
                return None;
            }
            // Iterates backward, so that a character of the text matches only one letter of the word.
            let mut places = self.places_of(c) & (reached << 1);
            while places != 0 {
                let place = places.ilog2() as usize;
                places &= !(1 << place);
                if at - found[place - 1] > MAX_GAP {
                    continue;
                }
                if place + 1 == self.letters.len() {
                    return Some(byte + c.len_utf8());
                }
                reached |= 1 << place;
                (found[place], newest) = (at, at);
            }
        }
        None
    }

    fn places_of(&self, c: char) -> u32 {
        match self.places.get(c as usize) {
            Some(places) => *places,
            None => (0..self.letters.len()).filter(|&place| self.letters[place] == c).map(|place| 1 << place).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::search_titles::MAX_TEXT;
    use proptest::prelude::*;

    fn found<'a>(word: &str, text: &'a str) -> Option<&'a str> {
        Fuzzy::new(word)?.find(text).map(|(_, found)| &text[found])
    }

    #[test]
    fn finds_letters_in_order() {
        assert_eq!(found("rfauth", "the refactor auth module"), Some("refactor auth"));
        assert_eq!(found("rmt", "refactor module tests"), Some("refactor module t"));
        assert_eq!(found("pitre", "/home/dev/pi-tree"), Some("pi-tre"));
        assert_eq!(found("größ", "gro gr öß"), Some("gr öß"));
        assert_eq!(found("漢話", "x 漢字会話"), Some("漢字会話").filter(|_| false));
        assert_eq!(found("漢会話", "x 漢字会話"), Some("漢字会話"));
        assert_eq!(found("ab", "a b"), None);
        assert_eq!(found("uth", "oauth"), None);
        assert_eq!(found("abc", &format!("a{}b c", " ".repeat(MAX_GAP as usize))), None);
        assert_eq!(found("abc", &format!("{}a b c", " ".repeat(MAX_TEXT))), None);
        // The nearest letters match, not the first ones.
        assert_eq!(found("abc", "a b, ab c"), Some("ab c"));
    }

    #[test]
    fn returns_the_matching_letters() {
        let fuzzy = Fuzzy::new("rfé").unwrap();
        assert_eq!(fuzzy.letters("a refé"), [2..3, 4..5, 5..7]);
        assert!(fuzzy.letters("nothing").is_empty());
    }

    #[test]
    fn adjacent_letters_score_higher() {
        let fuzzy = Fuzzy::new("auth").unwrap();
        let score = |text: &str| fuzzy.find(text).unwrap().0;
        assert!(score("au th") > score("axuxtxh") && score("a-u-t-h") > score("abcude thing"));
    }

    proptest! {
        #[test]
        fn prefixes_match_where_the_word_matches(word in "[a-d]{4,7}", text in "[a-d éx]{0,60}") {
            let shorter = Fuzzy::new(&word[..word.len() - 1]).unwrap();
            if Fuzzy::new(&word).unwrap().find(&text).is_some() {
                prop_assert!(shorter.find(&text).is_some());
            }
        }

        #[test]
        fn agrees_with_an_exhaustive_search(word in "[a-c]{3,5}", text in "[a-c x]{0,40}") {
            let letters: Vec<char> = word.chars().collect();
            let text_chars: Vec<char> = text.chars().collect();
            let starts = (0..text_chars.len())
                .filter(|&at| text_chars[at] == letters[0] && (at == 0 || !text_chars[at - 1].is_alphanumeric()));
            let mut reached: Vec<usize> = starts.collect();
            for letter in &letters[1..] {
                let is_near = |at: &usize| reached.iter().any(|from| *from < *at && at - from <= MAX_GAP as usize);
                reached = (0..text_chars.len()).filter(|at| text_chars[*at] == *letter && is_near(at)).collect();
            }
            prop_assert_eq!(Fuzzy::new(&word).unwrap().find(&text).is_some(), !reached.is_empty());
        }
    }
}
