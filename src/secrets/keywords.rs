//! Finds the keywords of rules in texts.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Match};

/// The number of bytes that are searched with the small automaton.
const FEW: u64 = 16 * 1024 * 1024;

/// Automata for keywords in any case. The small one takes 115 KB for the built-in rules, the fast one 1 MB and half the
/// time.
pub(super) struct KeywordFinder {
    small: Option<AhoCorasick>,
    fast: OnceLock<Option<AhoCorasick>>,
    keywords: Vec<String>,
    /// The number of bytes that were searched with the small automaton.
    searched: AtomicU64,
}

impl KeywordFinder {
    pub(super) fn new(keywords: Vec<String>) -> Self {
        let small = automaton(&keywords, AhoCorasickKind::ContiguousNFA);
        Self { small, fast: OnceLock::new(), keywords, searched: AtomicU64::new(0) }
    }

    /// Returns the keyword of a match.
    pub(super) fn keyword(&self, hit: &Match) -> &str {
        &self.keywords[hit.pattern().as_usize()]
    }

    /// Returns all matches in a text, also those that overlap.
    pub(super) fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Match> + 'a {
        self.automaton(text.len()).into_iter().flat_map(move |automaton| automaton.find_overlapping_iter(text))
    }

    fn automaton(&self, len: usize) -> Option<&AhoCorasick> {
        let fast = self.fast.get();
        if fast.is_none() && self.searched.fetch_add(len as u64, Ordering::Relaxed) < FEW {
            return self.small.as_ref();
        }
        self.fast.get_or_init(|| automaton(&self.keywords, AhoCorasickKind::DFA)).as_ref().or(self.small.as_ref())
    }
}

/// Builds an automaton for words in any case.
pub(super) fn automaton(words: &[String], kind: AhoCorasickKind) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(kind)).build(words).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_automata_find_the_same() {
        let finder = KeywordFinder::new(["token", "tok", "api_key", "key", "KEY"].map(String::from).into());
        let text = b"Token, API_KEY and tokens of keys";
        let found = || finder.find(text).map(|hit| (hit.pattern().as_usize(), hit.range())).collect::<Vec<_>>();
        let first = found();
        assert_eq!((first.len(), finder.fast.get().is_none()), (9, true));
        finder.searched.store(FEW, Ordering::Relaxed);
        assert_eq!((found(), finder.fast.get().is_some()), (first, true));
    }
}
