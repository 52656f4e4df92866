//! Selects the entries of a session that match a query. A session matches if each term matches somewhere in it. Its matching
//! entries are those with the most matching terms. Excluded terms and terms about the whole session (`is:`, `in:`, `cost:`,
//! a word in the name) count for every entry. At least one term must match the entry itself.

use crate::search::byte_search::Probe;
use crate::search::candidate::{Candidate, EntryScope, MatchField, MatchPlace};
use crate::search::needle::Needle;
use crate::search::qualifier::value::QueryScope;
use crate::search::query::{Query, Term, TermKind};
use crate::session::entry::Entry;
use crate::session::links::EntryIndex;
use crate::session::search_text::{Passages, SearchTexts};
use crate::session::tree::{EntryFeature, Tree};

/// The terms of a query that can differ between entries.
pub struct QueryParts {
    words: Vec<Needle>,
    scopes: Vec<EntryScope>,
    /// The features of matching entries, for queries without other terms about entries.
    features: Vec<EntryFeature>,
    everything: bool,
}

/// The matching terms of each entry as a bit set. Terms after the first 63 share the last bit.
#[derive(Debug, Default)]
pub struct EntryMatches {
    entries: Vec<(EntryIndex, u64)>,
    /// The terms that match the whole session.
    session: u64,
}

/// An entry that matches a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchingEntry {
    /// The entry.
    pub at: EntryIndex,
    /// The number of terms that match the entry itself.
    pub own: u32,
}

impl QueryParts {
    /// Extracts the terms of a query.
    pub fn new(query: &Query, scope: &QueryScope) -> Self {
        let included = || query.terms.iter().filter(|term| !term.is_excluded);
        let scope = |term: &Term| match &term.kind {
            TermKind::Qualified(qualified) => Some(qualified.condition(scope).entries),
            _ => None,
        };
        let words: Vec<Needle> = included().filter_map(|term| Needle::of(&term.kind)).collect();
        let (mut scopes, mut features) = (Vec::new(), Vec::new());
        for scope in included().filter_map(scope) {
            match scope {
                EntryScope::Session => {}
                EntryScope::Tree(feature) => features.push(feature),
                EntryScope::Known(_) | EntryScope::Read(_) => scopes.push(scope),
            }
        }
        features.retain(|_| words.is_empty() && scopes.is_empty());
        Self { words, scopes, features, everything: query.everything }
    }

    /// Returns the feature of the entry to open for a session that matches as a whole.
    pub fn feature(&self) -> Option<EntryFeature> {
        self.features.first().copied()
    }

    /// Returns the entries of a tree with one of the features.
    pub fn match_tree(&self, tree: &Tree) -> Vec<EntryIndex> {
        let mut entries: Vec<EntryIndex> = self.features.iter().flat_map(|&feature| tree.featured(feature)).collect();
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    /// Returns `true` if all lines of a file must be read to find its matching entries.
    pub fn needs_lines(&self) -> bool {
        let is_read = |scope: &EntryScope| matches!(scope, EntryScope::Read(_));
        self.everything && !self.words.is_empty() || self.scopes.iter().any(is_read)
    }

    /// Returns probes of which every matching line contains at least one, undecoded. Returns `None` if any line can
    /// match.
    pub fn probes(&self) -> Option<Vec<Probe>> {
        let is_known = self.scopes.iter().all(|scope| !matches!(scope, EntryScope::Read(_)));
        is_known.then(|| self.words.iter().map(|word| Probe::new(word.word()?)).collect())?
    }

    /// Returns `true` if the cached data of a session is enough to find some of its entries.
    pub fn can_match_cached(&self) -> bool {
        let is_known = |scope: &EntryScope| matches!(scope, EntryScope::Known(_));
        !self.everything && !self.words.is_empty() || self.scopes.iter().any(is_known)
    }

    /// Returns `true` for a single word. Entries never match such a word fuzzily.
    pub fn is_single_word(&self) -> bool {
        self.words.len() == 1 && self.scopes.is_empty()
    }

    /// Returns `true` if one of the words is in a folded text.
    pub fn is_in(&self, folded: &str) -> bool {
        self.words.iter().any(|word| word.find(folded).is_some())
    }

    fn words_in(&self, folded: &str) -> u64 {
        let is_in = |(_, word): &(usize, &Needle)| word.find(folded).is_some();
        self.words.iter().enumerate().filter(is_in).fold(0, |bits, (at, _)| bits | bit(at))
    }

    fn bit(&self, scope: usize) -> u64 {
        bit(self.words.len() + scope)
    }

    /// Matches entries with the cached data of their session.
    pub fn match_cached(&self, session: &Candidate<'_>) -> EntryMatches {
        let mut matches = EntryMatches { session: self.words_in(session.titles.name), ..EntryMatches::default() };
        if !self.everything && !self.words.is_empty() {
            let SearchTexts { conversation, summaries } = session.texts.unwrap_or_default();
            for passages in [session.titles.labels, conversation, summaries] {
                for (at, word) in self.words.iter().enumerate() {
                    word.each_entry(passages, |entry| matches.add(entry, bit(at)));
                }
            }
        }
        for (at, scope) in self.scopes.iter().enumerate() {
            if let EntryScope::Known(entries) = scope {
                entries(session).into_iter().for_each(|entry| matches.add(entry, self.bit(at)));
            }
        }
        matches
    }

    /// Matches an entry with its line and its folded texts.
    pub fn match_line(&self, entry: &Entry<'_>, folded: &str, at: EntryIndex, matches: &mut EntryMatches) {
        let words = if self.everything { self.words_in(folded) } else { 0 };
        let holds = |(at, scope): (usize, &EntryScope)| match scope {
            EntryScope::Read(holds) if holds(entry) => self.bit(at),
            _ => 0,
        };
        matches.add(at, self.scopes.iter().enumerate().map(holds).fold(words, |bits, bit| bits | bit));
    }

    /// Returns the place of the first word in an entry.
    pub fn place(&self, session: &Candidate<'_>, entry: EntryIndex) -> Option<MatchPlace> {
        let texts = session.texts.unwrap_or_default();
        let of = |passages: Passages<'_>, field: MatchField| {
            let (start, text) = passages.of(entry)?;
            let at = self.words.iter().find_map(|word| word.find(text))?;
            Some(MatchPlace { field, entry: Some(entry), at: start + at.start..start + at.end })
        };
        of(texts.conversation, MatchField::Conversation)
            .or_else(|| of(texts.summaries, MatchField::Summary))
            .or_else(|| of(session.titles.labels, MatchField::Label))
    }
}

/// Returns the bit of a term.
fn bit(term: usize) -> u64 {
    1 << term.min(u64::BITS as usize - 1)
}

impl EntryMatches {
    fn add(&mut self, entry: EntryIndex, parts: u64) {
        if parts != 0 {
            self.entries.push((entry, parts));
        }
    }

    /// Returns the entries with the most matching terms, in file order.
    pub fn best(mut self) -> Vec<MatchingEntry> {
        self.entries.sort_unstable();
        self.entries.dedup_by(|(next, more), (entry, parts)| {
            let is_same = next == entry;
            *parts |= if is_same { *more } else { 0 };
            is_same
        });
        let all = |parts: u64| (parts | self.session).count_ones();
        let most = self.entries.iter().map(|&(_, parts)| all(parts)).max();
        let best = self.entries.iter().filter(|&&(_, parts)| Some(all(parts)) == most);
        best.map(|&(at, parts)| MatchingEntry { at, own: parts.count_ones() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::test_sample::{Sample, query_scope};
    use crate::session::lines::Line;
    use crate::session::search_text;

    const LINES: &[&str] = &[
        r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"Redis or Postgres?"}}"#,
        r#"{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","model":"sonnet","content":[{"type":"text","text":"Redis has an expiry"},{"type":"toolCall","id":"c","name":"edit","arguments":{"path":"store.ts"}}]}}"#,
        r#"{"type":"message","id":"3","parentId":"2","message":{"role":"toolResult","toolCallId":"c","toolName":"edit","content":[{"type":"text","text":"redis expiry"}]}}"#,
        r#"{"type":"message","id":"4","parentId":"3","message":{"role":"assistant","model":"opus","content":[{"type":"text","text":"the expiry slides"}]}}"#,
        r#"{"type":"label","id":"5","parentId":"4","targetId":"1","label":"expiry"}"#,
    ];

    fn entries(query: &str) -> Vec<EntryIndex> {
        let named = [LINES, &[r#"{"type":"session_info","id":"6","parentId":"5","name":"Key-value stores"}"#]].concat();
        let sample = Sample::of(&named);
        let mut texts = search_text::SearchTextBuilder::default();
        texts.line(Line::new(0, br#"{"type":"session","version":3,"id":"s"}"#, true));
        LINES.iter().for_each(|line| texts.line(Line::new(0, line.as_bytes(), true)));
        let texts = texts.take();
        let parts = QueryParts::new(&Query::parse(query).unwrap(), &query_scope());
        let mut found = parts.match_cached(&Candidate { texts: Some(texts.as_texts()), ..sample.candidate() });
        for (at, line) in (0..).zip(LINES) {
            let line = Line::new(0, line.as_bytes(), true);
            let folded = crate::base::normalize::fold(std::str::from_utf8(line.bytes).unwrap());
            parts.match_line(&line.read().unwrap().unwrap(), &folded, at, &mut found);
        }
        found.best().into_iter().map(|entry| entry.at).collect()
    }

    #[test]
    fn any_number_of_terms_is_counted() {
        let many: String = (0..200).map(|at| format!("w{at} ")).collect();
        assert_eq!(entries(&format!("redis {many}expiry")), [0, 1]);
        assert_eq!(entries(&format!("{many}slides model:opus")), [3]);
    }

    #[test]
    fn returns_the_entries_with_the_most_matching_terms() {
        for (query, found) in [
            ("expiry", &[0, 1, 3][..]),
            ("redis expiry", &[0, 1]),
            ("postgres slides", &[0, 3]),
            ("redis nowhere", &[0, 1]),
            ("expiry model:opus", &[3]),
            ("redis file:store.ts", &[0, 1, 2]),
            ("tool:edit", &[2]),
            ("all: redis expiry tool:edit", &[2]),
            ("label:expiry", &[0]),
            ("expiry -model:gpt is:branched", &[0, 1, 3]),
            ("is:branched", &[]),
            ("re:sl.des", &[3]),
            ("\"has an expiry\"", &[1]),
            ("\"postgres? redis\"", &[]),
            ("stores postgres", &[0]),
            ("stores redis expiry", &[0, 1]),
            ("value stores", &[]),
        ] {
            assert_eq!(entries(query), found, "{query}");
        }
    }
}
