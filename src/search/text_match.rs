//! Matches a query with a single text: an entry, a line or a row of a list.

use std::ops::Range;

use crate::base::normalize::{FoldedText, fold};
use crate::search::byte_search::Probe;
use crate::search::fuzzy::Fuzzy;
use crate::search::needle::{Needle, merged};
use crate::search::query::{Query, Term, TermKind};

/// The maximum number of distinct words without syntax. Text pasted by mistake has more.
const MAX_WORDS: usize = 64;

/// A set of search terms.
#[derive(Debug, Default)]
pub struct Words {
    terms: Vec<Word>,
}

/// A search term; it can be excluded.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) is_excluded: bool,
    pub(crate) needle: Needle,
    /// The fuzzy form of the word, if allowed.
    pub(crate) fuzzy: Option<Fuzzy>,
}

impl Word {
    /// Converts a term, or returns `None` for a qualifier.
    pub(crate) fn of(term: &Term) -> Option<Self> {
        Some(Self { is_excluded: term.is_excluded, needle: Needle::of(&term.kind)?, fuzzy: None })
    }
}

impl Words {
    /// Parses words, phrases and a pattern as in the search over sessions. A text must match all of them.
    ///
    /// # Errors
    /// The problem in one line. Qualifiers are errors, because they are about sessions.
    pub fn new(query: &str) -> Result<Self, String> {
        let query = Query::parse(query).map_err(|problem| problem.message)?;
        let term = |term: &Term| {
            const UNSUPPORTED: &str =
                "qualifiers only work in the search over sessions; quote it to search for the text";
            Word::of(term).ok_or_else(|| UNSUPPORTED.to_string())
        };
        Ok(Self { terms: query.terms.iter().map(term).collect::<Result<_, _>>()? })
    }

    /// Returns the text terms of a query over sessions.
    pub fn of(query: &Query) -> Self {
        Self { terms: query.terms.iter().filter_map(Word::of).collect() }
    }

    /// Splits text into words without any syntax. A word without a literal match can match fuzzily. Duplicates are
    /// removed, and the number of words is limited.
    pub fn plain(text: &str) -> Self {
        let mut words: Vec<&str> = Vec::new();
        for word in text.split_whitespace() {
            if words.len() < MAX_WORDS && !words.contains(&word) {
                words.push(word);
            }
        }
        let term = |word: &str| {
            let needle = Needle::of(&TermKind::Word(word.into()))?;
            Some(Word { is_excluded: false, needle, fuzzy: Fuzzy::new(&fold(word)) })
        };
        Self { terms: words.into_iter().filter_map(term).collect() }
    }

    /// Returns `true` if there are no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns probes for the words that every literal match contains, to test lines before decoding.
    pub fn probes(&self) -> Vec<Probe> {
        let wanted = self.terms.iter().filter(|term| !term.is_excluded);
        wanted.filter_map(|term| Probe::new(term.needle.word()?)).collect()
    }

    /// Returns `true` if a folded text matches.
    pub fn is_in(&self, folded: &str) -> bool {
        self.score(folded).is_some()
    }

    /// Scores a folded text, or returns `None` if it does not match. Higher is better, and literal matches of all words
    /// are best.
    pub(crate) fn score(&self, folded: &str) -> Option<i64> {
        let mut score = 0;
        for term in &self.terms {
            match (term.needle.find(folded), &term.fuzzy) {
                (found, _) if found.is_some() != term.is_excluded => {}
                // A fuzzy match scores less than any literal match.
                (None, Some(fuzzy)) => score += fuzzy.find(folded)?.0.min(MAX_FUZZY_SCORE) - MAX_FUZZY_SCORE - 1,
                _ => return None,
            }
        }
        Some(score)
    }

    /// Returns the byte ranges to highlight in a text, sorted and extended to whole grapheme clusters.
    pub fn marks(&self, text: &str) -> Vec<Range<usize>> {
        marks(&self.terms, text, true)
    }
}

/// Returns the byte ranges to highlight in a text, sorted and extended to whole grapheme clusters: literal matches, and
/// the letters of words that match only `fuzzily`.
pub(crate) fn marks(terms: &[Word], text: &str, fuzzily: bool) -> Vec<Range<usize>> {
    let folded = FoldedText::new(text);
    let mut marks = Vec::new();
    for term in terms.iter().filter(|term| !term.is_excluded) {
        let mut found = term.needle.find_all(&folded.text);
        if let Some(fuzzy) = term.fuzzy.as_ref().filter(|_| fuzzily && found.is_empty()) {
            found = fuzzy.letters(&folded.text);
        }
        marks.extend(found.into_iter().map(|range| folded.original(range)));
    }
    merged(marks)
}

/// More than any fuzzy score.
const MAX_FUZZY_SCORE: i64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_terms_must_match() {
        let is_in = |query: &str, text: &str| Words::new(query).unwrap().is_in(&fold(text));
        assert!(is_in("jwt Token", "The TOKEN is a JWT"));
        assert!(!is_in("jwt token", "a jwt"));
        assert!(is_in("\"a jwt\"", "a\n jwt") && !is_in("\"jwt a\"", "a jwt"));
        assert!(is_in("re:j.t", "a JWT") && is_in("-token jwt", "jwt") && !is_in("-token jwt", "jwt token"));
        assert!(Words::new(" ").unwrap().is_empty());
        assert!(!is_in("rfc", "r f c"), "nothing fuzzy in texts");
    }

    #[test]
    fn reports_invalid_queries() {
        assert!(Words::new("re:(").err().unwrap().contains("pattern"));
        assert!(Words::new("file:a.rs").err().unwrap().contains("qualifiers"));
        assert!(!Words::plain("file:a.rs \"").is_empty());
    }

    #[test]
    fn literal_matches_score_above_fuzzy_ones() {
        let score = |query: &str, text: &str| Words::plain(query).score(&fold(text));
        assert_eq!(score("label entry", "Label the entry"), Some(0));
        assert!(score("lblentry", "label the entry").unwrap() < 0);
        assert!(score("label lblentry", "label the entry").unwrap() < 0);
        assert_eq!(score("label nothing", "Label the entry"), None);
    }

    #[test]
    fn marks_refer_to_the_original_text() {
        let many: Vec<String> = (0..2000).map(|at| format!("w{at} w0")).collect();
        assert_eq!(Words::plain(&many.join(" ")).terms.len(), MAX_WORDS);
        assert_eq!(Words::plain("É b").marks("aÉb bé"), [1..4, 5..8]);
        assert_eq!(Words::new("re:x*").unwrap().marks("axxa xa"), [1..3, 5..6]);
    }
}
