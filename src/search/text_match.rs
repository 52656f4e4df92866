//! What is looked for in one text at a time: in an entry, in a line, in a row of a list.

use std::ops::Range;

use crate::base::normalize::{FoldedText, fold};
use crate::search::byte_search::Probe;
use crate::search::fuzzy::Fuzzy;
use crate::search::needle::Needle;
use crate::search::query::{MOST_TERMS, Query, Term, TermKind};

/// Something to look for in texts.
#[derive(Default)]
pub struct Words {
    terms: Vec<Word>,
}

/// A text to look for, and whether it must not be there.
pub(crate) struct Word {
    pub(crate) is_excluded: bool,
    pub(crate) needle: Needle,
    /// Where the word may also match by its letters alone.
    pub(crate) fuzzy: Option<Fuzzy>,
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Words").field("terms", &self.terms.len()).finish_non_exhaustive()
    }
}

impl Word {
    /// What a term looks for as it is written; `None` if it is a qualifier.
    pub(crate) fn of(term: &Term) -> Option<Self> {
        Some(Self { is_excluded: term.is_excluded, needle: Needle::of(&term.what)?, fuzzy: None })
    }
}

impl Words {
    /// Words, phrases and a pattern, as in the search over sessions; all of them must be in a text.
    ///
    /// # Errors
    /// What is wrong, in one line: also a qualifier, which is about sessions.
    pub fn new(query: &str) -> Result<Self, String> {
        let query = Query::parse(query).map_err(|problem| problem.what)?;
        let term = |term: &Term| {
            const NOT_HERE: &str = "qualifiers are for the search over sessions; put it in quotes to search for it";
            Word::of(term).ok_or_else(|| NOT_HERE.to_string())
        };
        Ok(Self { terms: query.terms.iter().map(term).collect::<Result<_, _>>()? })
    }

    /// What a query over sessions looks for in texts.
    pub fn of(query: &Query) -> Self {
        Self { terms: query.terms.iter().filter_map(Word::of).collect() }
    }

    /// Words without any syntax; one that a text doesn't have literally may match it fuzzily. Equal ones count once, and
    /// only so many as a query may have.
    pub fn plain(text: &str) -> Self {
        let mut words: Vec<&str> = Vec::new();
        for word in text.split_whitespace() {
            if words.len() < MOST_TERMS && !words.contains(&word) {
                words.push(word);
            }
        }
        let term = |word: &str| {
            let needle = Needle::of(&TermKind::Word(word.into()))?;
            Some(Word { is_excluded: false, needle, fuzzy: Fuzzy::new(&fold(word)) })
        };
        Self { terms: words.into_iter().filter_map(term).collect() }
    }

    /// Whether nothing is looked for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Words that are in every text that matches literally, to be found in it before it is decoded.
    pub fn probes(&self) -> Vec<Probe> {
        let wanted = self.terms.iter().filter(|term| !term.is_excluded);
        wanted.filter_map(|term| Probe::new(term.needle.word()?)).collect()
    }

    /// Whether a folded text matches.
    pub fn is_in(&self, folded: &str) -> bool {
        self.score(folded).is_some()
    }

    /// Whether a folded text matches, and how well: more is better, and all words literally the best.
    pub(crate) fn score(&self, folded: &str) -> Option<i64> {
        let mut score = 0;
        for term in &self.terms {
            match (term.needle.find(folded), &term.fuzzy) {
                (found, _) if found.is_some() != term.is_excluded => {}
                // Whatever a fuzzy word scores, it is less than a literal one.
                (None, Some(fuzzy)) => score += fuzzy.find(folded)?.score.min(FUZZY) - FUZZY - 1,
                _ => return None,
            }
        }
        Some(score)
    }

    /// What to show as a match in a text, in order: whole grapheme clusters.
    pub fn marks(&self, text: &str) -> Vec<Range<usize>> {
        marks(&self.terms, text, true)
    }
}

/// What to show as a match in a text, in order: whole grapheme clusters of what is looked for literally, and the letters
/// of words that match only `fuzzily`.
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

/// More than a word scores fuzzily.
const FUZZY: i64 = 1_000_000;

/// Ranges in order, those that touch as one.
fn merged(mut marks: Vec<Range<usize>>) -> Vec<Range<usize>> {
    marks.sort_by_key(|mark| mark.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(marks.len());
    for mark in marks {
        match merged.last_mut().filter(|last| mark.start <= last.end) {
            Some(last) => last.end = last.end.max(mark.end),
            None => merged.push(mark),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_terms_must_be_there() {
        let is_in = |query: &str, text: &str| Words::new(query).unwrap().is_in(&fold(text));
        assert!(is_in("jwt Token", "The TOKEN is a JWT"));
        assert!(!is_in("jwt token", "a jwt"));
        assert!(is_in("\"a jwt\"", "a\n jwt") && !is_in("\"jwt a\"", "a jwt"));
        assert!(is_in("re:j.t", "a JWT") && is_in("-token jwt", "jwt") && !is_in("-token jwt", "jwt token"));
        assert!(Words::new(" ").unwrap().is_empty());
        assert!(!is_in("rfc", "r f c"), "nothing fuzzy in texts");
    }

    #[test]
    fn what_is_no_query_is_said() {
        assert!(Words::new("re:(").err().unwrap().contains("pattern"));
        assert!(Words::new("file:a.rs").err().unwrap().contains("qualifiers"));
        assert!(!Words::plain("file:a.rs \"").is_empty());
    }

    #[test]
    fn rows_match_literally_before_fuzzily() {
        let score = |query: &str, text: &str| Words::plain(query).score(&fold(text));
        assert_eq!(score("label entry", "Label the entry"), Some(0));
        assert!(score("lblentry", "label the entry").unwrap() < 0);
        assert!(score("label lblentry", "label the entry").unwrap() < 0);
        assert_eq!(score("label nothing", "Label the entry"), None);
    }

    #[test]
    fn marks_are_of_the_text_as_it_is() {
        let many: Vec<String> = (0..2000).map(|at| format!("w{at} w0")).collect();
        assert_eq!(Words::plain(&many.join(" ")).terms.len(), MOST_TERMS);
        assert_eq!(Words::plain("É b").marks("aÉb bé"), [1..4, 5..8]);
        assert_eq!(Words::new("re:x*").unwrap().marks("axxa xa"), [1..3, 5..6]);
    }
}
