//! Search patterns for folded text: a word, a phrase or a regular expression.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::base::javascript::is_js_space;
use crate::base::normalize::{accented, fold, with_accents};
use crate::base::sort;
use crate::search::pattern::{Pattern, SPACE, Undecided};
use crate::search::query::TermKind;
use crate::session::links::EntryIndex;
use crate::session::search_text::Passages;

/// The maximum number of texts of a session for which a pattern may backtrack too much. Each takes about 50 ms.
const MAX_UNDECIDED: usize = 8;

/// A search pattern.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a query has few of them")]
pub(crate) enum Needle {
    /// A folded text.
    Word(Finder<'static>),
    /// Folded words separated by any white space.
    Phrase {
        /// The words.
        words: Vec<String>,
        /// The words with white space between them.
        regex: regex::Regex,
    },
    /// Words that match in other spellings too: quotation marks in any style, and letters with accents if they have none.
    Similar {
        /// The spelling of the query.
        exact: Box<Self>,
        /// All spellings, compiled for the first text that needs them.
        spellings: LazyLock<Option<regex::Regex>, Box<dyn FnOnce() -> Option<regex::Regex> + Send>>,
        /// The parts between quotation marks and white space.
        parts: Vec<String>,
        /// `true` if there are quotation marks.
        is_quoted: bool,
    },
    /// A regular expression.
    Pattern(Pattern),
}

/// The number of bytes that are searched for a word, and then for accents.
const BLOCK: usize = 4096;

/// The styles of an apostrophe.
const APOSTROPHES: &str = "'\u{2019}\u{2018}\u{2bc}";
/// The styles of a quotation mark.
const QUOTES: &str = "\"\u{201c}\u{201d}";

/// Returns `true` for an apostrophe or a quotation mark of any style.
pub(crate) fn is_quote(c: char) -> bool {
    APOSTROPHES.contains(c) || QUOTES.contains(c)
}

impl Needle {
    /// Creates the pattern of a term, or `None` for a qualifier.
    pub(crate) fn of(what: &TermKind) -> Option<Self> {
        match what {
            TermKind::Word(text) | TermKind::Phrase(text) => Some(Self::exact(what)?.or_similar(text)),
            TermKind::Pattern(pattern) => Some(Self::Pattern(pattern.clone())),
            _ => None,
        }
    }

    /// Creates the pattern of a text in one spelling.
    pub(crate) fn plain(text: &str) -> Self {
        Self::Word(Finder::new(&fold(text)).into_owned())
    }

    /// Creates the pattern of a word or a phrase without other spellings, or `None` for others.
    fn exact(what: &TermKind) -> Option<Self> {
        match what {
            TermKind::Word(word) => Some(Self::plain(word)),
            TermKind::Phrase(phrase) => Self::exact_phrase(phrase),
            _ => None,
        }
    }

    /// Returns the pattern without other spellings.
    pub(crate) fn as_typed(&self) -> &Self {
        if let Self::Similar { exact, .. } = self { exact } else { self }
    }

    /// Returns `true` if the pattern also matches other spellings. `has_accents` is `true` for texts with accents.
    pub(crate) fn is_similar(&self, has_accents: bool) -> bool {
        matches!(self, Self::Similar { is_quoted, .. } if has_accents || *is_quoted)
    }

    /// Adds the other spellings of a text, if it has any.
    fn or_similar(self, text: &str) -> Self {
        let folded = fold(text);
        let has_accents = accented(folded.as_bytes()).is_some();
        let (mut regex, mut is_space, mut has_other) = (String::new(), false, false);
        for c in folded.chars() {
            let others = match c {
                _ if APOSTROPHES.contains(c) => APOSTROPHES,
                _ if QUOTES.contains(c) => QUOTES,
                _ if has_accents => "",
                _ => with_accents(c),
            };
            has_other |= !others.is_empty();
            match c {
                _ if !others.is_empty() => regex.extend(["[", c.encode_utf8(&mut [0; 4]), others, "]"]),
                _ if is_js_space(c) && is_space => {}
                _ if is_js_space(c) => regex.extend(["[", SPACE, "]+"]),
                _ => regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
            }
            is_space = is_js_space(c);
        }
        let is_between = |c: char| is_quote(c) || is_js_space(c);
        let parts = folded.split(is_between).filter(|part| !part.is_empty()).map(String::from).collect();
        if !has_other {
            return self;
        }
        let spellings = LazyLock::new(Box::new(move || regex::Regex::new(&regex).ok()) as Box<_>);
        Self::Similar { exact: Box::new(self), spellings, parts, is_quoted: folded.contains(is_quote) }
    }

    /// Creates the pattern of a text in which white space matches any white space. Returns `None` for an empty text.
    pub(crate) fn phrase(text: &str) -> Option<Self> {
        Some(Self::exact_phrase(text)?.or_similar(text))
    }

    fn exact_phrase(text: &str) -> Option<Self> {
        let last = text.split(is_js_space).count() - 1;
        let words = text.split(is_js_space).enumerate();
        // An empty word at either end requires white space there.
        let words = words.filter(|(at, word)| !word.is_empty() || *at == 0 || *at == last);
        let words: Vec<String> = words.map(|(_, word)| fold(word)).collect();
        match &words[..] {
            [word] => (!word.is_empty()).then(|| Self::Word(Finder::new(word).into_owned())),
            _ => {
                let escaped: Vec<String> = words.iter().map(|word| regex::escape(word)).collect();
                let regex = regex::Regex::new(&escaped.join(&format!("[{SPACE}]+"))).ok()?;
                Some(Self::Phrase { words, regex })
            }
        }
    }

    /// Returns a folded word that every matching text contains, or `None` if there is no such word.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(finder) => std::str::from_utf8(finder.needle()).ok(),
            Self::Phrase { words: parts, .. } | Self::Similar { parts, .. } => {
                parts.iter().max_by_key(|part| part.len()).map(String::as_str)
            }
            Self::Pattern(_) => None,
        }
    }

    /// Returns the folded words that every matching text contains, without those that are parts of a pattern.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let (word, words) = match self {
            Self::Word(_) => (self.word(), &[][..]),
            Self::Phrase { words, .. } | Self::Similar { parts: words, .. } => (None, &words[..]),
            Self::Pattern(_) => (None, &[][..]),
        };
        word.into_iter().chain(words.iter().map(String::as_str))
    }

    /// Returns the first match in a folded text.
    pub(crate) fn find(&self, folded: &str) -> Option<Range<usize>> {
        match self {
            Self::Word(finder) => finder.find(folded.as_bytes()).map(|start| start..start + finder.needle().len()),
            Self::Phrase { regex, .. } => regex.find(folded).map(|found| found.range()),
            Self::Similar { exact, spellings, is_quoted, .. } => {
                let find_from = |from: usize| match &**spellings {
                    Some(spellings) => spellings.find_at(folded, from).map(|found| found.range()),
                    None => exact.find(folded), // too long for a regular expression
                };
                match &**exact {
                    Self::Word(finder) if !is_quoted => find_with_accents(folded, finder, find_from),
                    _ => find_from(0),
                }
            }
            Self::Pattern(pattern) => pattern.find(folded),
        }
    }

    /// Returns the first match in joined texts. If a regular expression backtracks too much in all of them together, each
    /// text is searched separately.
    pub(crate) fn find_in(&self, passages: Passages<'_>) -> Option<Range<usize>> {
        let Self::Pattern(pattern) = self else { return self.find(passages.folded) };
        if let Ok(found) = pattern.try_find(passages.folded) {
            return found;
        }
        let (mut start, mut undecided) = (0, 0);
        for (_, text) in passages.each() {
            match pattern.try_find(text) {
                Ok(Some(found)) => return Some(start + found.start..start + found.end),
                Ok(None) => {}
                Err(Undecided) => undecided += 1,
            }
            if undecided == MAX_UNDECIDED {
                break;
            }
            start += text.len() + 1; // after the space
        }
        if undecided > 0 {
            pattern.set_undecided();
        }
        None
    }

    /// Iterates over the matches in a folded text that are not empty and do not overlap. A regular expression has no
    /// lookbehind across matches.
    pub(crate) fn find_iter<'a>(&'a self, folded: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.find(&folded[from..]).filter(|found| !found.is_empty())?;
            let found = from + found.start..from + found.end;
            from = found.end;
            Some(found)
        })
    }

    /// Calls a function with each entry whose text has a match, in file order. A match across two texts does not count.
    pub(crate) fn each_entry(&self, passages: Passages<'_>, mut each: impl FnMut(EntryIndex)) {
        if let Self::Pattern(pattern) = self {
            let found = passages.each().filter(|(_, text)| pattern.find(text).is_some());
            found.for_each(|(entry, _)| each(entry));
            return;
        }
        // Most texts have no match, so the search runs over all of them at once.
        let (mut from, mut place) = (0, 0);
        while let Some(found) = passages.folded.get(from..).and_then(|rest| self.find(rest)) {
            let (start, end) = (from + found.start, from + found.end);
            let Some((entry, text)) = passages.around_after(&mut place, start) else { break };
            if end <= text.end {
                each(entry);
                from = text.end + 1; // after the space
            } else {
                from = start + passages.folded[start..].chars().next().map_or(1, char::len_utf8);
            }
        }
    }

    /// Returns all matches in a folded text that are not empty and do not overlap.
    pub(crate) fn find_all(&self, folded: &str) -> Vec<Range<usize>> {
        match self {
            Self::Pattern(pattern) => pattern.find_all(folded),
            _ => self.find_iter(folded).collect(),
        }
    }
}

/// Returns the first place of a word without accents or of its spellings with accents. Most texts have no accents, and the
/// search for the word is faster than that for all spellings from a place on (`find_from`).
fn find_with_accents(
    folded: &str,
    word: &Finder<'_>,
    find_from: impl FnOnce(usize) -> Option<Range<usize>>,
) -> Option<Range<usize>> {
    let (bytes, len) = (folded.as_bytes(), word.needle().len());
    // Block by block, to search for neither far beyond the other.
    for start in (0..bytes.len()).step_by(BLOCK) {
        let end = bytes.len().min(start + BLOCK);
        let found = word.find(&bytes[start..bytes.len().min(end + len)]).map(|at| start + at);
        if let Some(accent) = accented(&bytes[start..found.unwrap_or(end)]) {
            // A match can begin before its first accent.
            return find_from(folded.floor_char_boundary((start + accent).saturating_sub(len)));
        }
        if let Some(at) = found {
            return Some(at..at + len);
        }
    }
    None
}

/// Sorts ranges and merges those that overlap or touch.
pub(crate) fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    sort::by_key(&mut ranges, |range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::query::Query;
    use crate::session::search_text::PassagesBuf;
    use proptest::prelude::*;

    fn phrase(text: &str) -> Needle {
        Needle::of(&TermKind::Phrase(text.into())).unwrap()
    }

    #[test]
    fn phrases_match_across_white_space() {
        let find = |needle: &str, text: &'static str| phrase(needle).find(text).map(|at| &text[at]);
        assert_eq!(find("Foo bar", "xfoo \n\t barx"), Some("foo \n\t bar"));
        assert_eq!(find("foo bar", "foobar"), None);
        assert_eq!(find("a bbb c", "a bbb x bbb c a\u{feff}bbb\u{a0}c"), Some("a\u{feff}bbb\u{a0}c"));
        assert_eq!(find("aa b", "aaa b"), Some("aa b"));
        assert_eq!(find("é x", "éé x"), Some("é x"));
        assert_eq!(find("one", "one"), Some("one"));
    }

    #[test]
    fn words_without_accents_match_with_accents() {
        let find = |query: &str, text: &str| {
            let text = fold(text);
            Needle::phrase(query)?.find(&text).map(|at| text[at].to_string())
        };
        for text in ["un Café.", "cafe\u{301} x", "cáfe", "cafe", "e\u{301} cafe"] {
            assert!(find("cafe", text).is_some() && find("CAFE", text).is_some(), "{text}");
        }
        assert_eq!(find("cafe noir", "a cafés café\n noir").as_deref(), Some("café\n noir"));
        assert_eq!(find("cafe", "é a cafe or a café").as_deref(), Some("cafe"));
        assert_eq!(find("cafe", "über ca fé, café").as_deref(), Some("café"));
        assert_eq!((find("café", "cafe"), find("cafe", "cafß"), find("cafeé", "caféé")), (None, None, None));
        let long = "cafe".repeat(20_000);
        assert_eq!(find(&long, &format!("é {long}")).as_deref(), Some(&*long));
        assert_eq!(find("tres d'ete", "Très d’Été").as_deref(), Some("très d’été"));
    }

    #[test]
    fn many_matches_take_linear_time() {
        // Otherwise, this would take hours.
        let count = |text: &str| Needle::phrase("cafe").unwrap().find_iter(&text.repeat(200_000)).count();
        assert_eq!(["cafe.", "café.", "cafe é"].map(count), [200_000; 3]);
        for len in BLOCK - 6..BLOCK + 2 {
            let found = |word: &str| {
                let text = format!("{}{word}", "x".repeat(len));
                Needle::phrase("cafe").unwrap().find(&text).map(|at| text[at].to_string())
            };
            assert_eq!(["cafe", "café", "çafe"].map(found), ["cafe", "café", "çafe"].map(|word| Some(word.into())));
        }
    }

    #[test]
    fn quotation_marks_match_in_any_style() {
        let find = |query: &str, text: &str| {
            let query = Query::parse(query).unwrap();
            let at = Needle::of(&query.terms[0].kind).unwrap().find(text)?;
            Some(text[at].to_string())
        };
        for text in ["don't", "don’t", "donʼt", "don‘t"] {
            assert_eq!(find("Don't", &format!("i {text}.")).as_deref(), Some(text));
            assert_eq!(find("don’t", text).as_deref(), Some(text));
        }
        assert_eq!(find("\"i don't\"", "i \n don’t").as_deref(), Some("i \n don’t"));
        assert_eq!(find("a\"b", "a”b").as_deref(), Some("a”b"));
        assert_eq!(find("a'b.", "a”b. a'bx a‘b."), Some("a‘b.".into()));
        assert_eq!(find("don't", "dont"), None);
    }

    proptest! {
        #[test]
        fn entries_with_a_match_are_those_whose_text_has_one(
            texts in proptest::collection::vec("[ab é]{0,5}", 0..6),
            query in "[abé]{1,2}|\"[ab]{0,2} [ab]{0,2}\"|re:a\\.\\?b|re:\\^b",
        ) {
            let mut passages = PassagesBuf::default();
            (0..).zip(&texts).for_each(|(entry, text)| passages.push(entry, text));
            let query = Query::parse(&query).unwrap();
            for needle in query.terms.iter().filter_map(|term| Needle::of(&term.kind)) {
                let mut found = Vec::new();
                needle.each_entry(passages.as_passages(), |entry| found.push(entry));
                let each = passages.as_passages().each().filter(|(_, text)| needle.find(text).is_some());
                prop_assert_eq!(found, each.map(|(entry, _)| entry).collect::<Vec<_>>());
            }
        }

        /// Same result as in pi, which searches the text with single spaces.
        #[test]
        fn phrases_are_found_as_in_normalized_text(words in "[ab]{1,3}( [ab]{1,2}){1,2}", text in "[ab \n]{0,30}") {
            let normal = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let found = phrase(&words).find(&text).map(|at| &text[at]);
            prop_assert_eq!(found.is_some(), normal.contains(&words));
            if let Some(found) = found {
                prop_assert_eq!(found.split_whitespace().collect::<Vec<_>>().join(" "), words);
            }
        }
    }
}
