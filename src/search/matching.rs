//! Matches a query with sessions: which sessions match, how well, and where. Literal matches rank first, and a word
//! matches fuzzily only if the session has no literal match. Sessions can be matched before their texts are loaded,
//! with the data of their digests.
//!
//! Fields and tiers are those of pi's picker (1.6.0), plus labels and summaries. As in pi, each field is matched
//! separately, and different words can match different fields.

use std::cmp::Reverse;
use std::ops::Range;

use crate::base::normalize::fold;
use crate::base::sort;
use crate::search::candidate::{Candidate, MatchField, MatchPlace, Test, TestResult};
use crate::search::fuzzy::Fuzzy;
use crate::search::needle::Needle;
use crate::search::qualifier::value::QueryScope;
use crate::search::query::{Query, Term, TermKind};
use crate::search::text_match::{Word, marks};
use crate::session::digest::Digest;
use crate::session::links::EntryIndex;
use crate::session::search_text::{Passages, SearchTexts};
use crate::session::search_titles::SearchTitles;
use crate::session::stats::entry_stats::{EntryRole, EntryStats};
use crate::session::trigrams;

/// The directness of a match, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// In the name; also for queries without text.
    #[default]
    Name,
    /// In a label.
    Label,
    /// In the conversation or a summary, or at the start of the id.
    Text,
    /// With other quotation marks or accents.
    Similar,
    /// Only in the directory or elsewhere in the id.
    Place,
    /// Fuzzy match of the letters.
    Fuzzy,
}

/// A matching session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The least direct match of a word.
    pub tier: Tier,
    /// The score of all words within the tier; lower is better.
    pub score: u32,
    /// The place to open: the first match in an entry, or else the first match.
    pub place: Option<MatchPlace>,
    /// The time of the last activity, to order equal matches.
    pub time: i64,
}

impl Match {
    /// Returns `true` if the query has several words, which are not adjacent.
    pub(crate) fn is_apart(&self) -> bool {
        self.score >= APART
    }

    /// Returns the sort key: best first, then most recent.
    pub fn rank(&self) -> (Tier, u32, Reverse<i64>) {
        (self.tier, self.score, Reverse(self.time))
    }
}

/// The weight of a tier in a score, larger than any difference within a tier.
const WEIGHT: u32 = 1000;

/// A part of the score of sessions in which the words are not adjacent, larger than those of all words of a query.
pub(crate) const APART: u32 = 1 << 24;

/// A compiled query.
pub struct Matcher {
    texts: Vec<Word>,
    tests: Vec<(bool, Test)>,
    /// The words with a space between them, if there are several.
    adjacent: Option<Needle>,
    /// The roles of the entries in which words match; empty for all.
    roles: Vec<EntryRole>,
}

/// The minimum length in bytes of the beginning of an id in a query.
const MIN_ID: usize = 6;

/// The minimum length in bytes of words that rank lower in an id. Many ids contain a shorter one.
const MIN_IN_ID: usize = 3;

/// The match of one word.
struct TermMatch {
    tier: Tier,
    /// The score below the weight of a tier; lower is better.
    score: u32,
    place: MatchPlace,
}

impl std::fmt::Debug for Matcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matcher").field("texts", &self.texts.len()).field("tests", &self.tests.len()).finish()
    }
}

impl Matcher {
    /// Compiles a query.
    pub fn new(query: &Query, scope: &QueryScope) -> Self {
        let test = |term: &Term| match &term.kind {
            TermKind::Qualified(qualified) => Some((term.is_excluded, qualified.condition(scope).test)),
            _ => None,
        };
        let text = |term: &Term| {
            let fuzzy = match &term.kind {
                TermKind::Word(word) if !term.is_excluded => Fuzzy::new(&fold(word)),
                _ => None,
            };
            Some(Word { fuzzy, ..Word::of(term)? })
        };
        let words = query.words();
        Self {
            texts: query.terms.iter().filter_map(text).collect(),
            tests: query.terms.iter().filter_map(test).collect(),
            adjacent: Some(words).filter(|words| words.len() > 1).map(|words| Needle::plain(&words.join(" "))),
            roles: query.roles(),
        }
    }

    /// Compiles a query without fuzzy matches.
    pub(crate) fn literal(query: &Query, scope: &QueryScope) -> Self {
        let mut matcher = Self::new(query, scope);
        matcher.texts.iter_mut().for_each(|text| text.fuzzy = None);
        matcher
    }

    /// Returns `true` if the query searches texts.
    pub(crate) fn has_texts(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Returns the keys (see [`trigrams`]) of the texts and titles of every literally matching session; with
    /// `fuzzily`, of every matching session. Returns no keys if all sessions can match.
    pub(crate) fn keys(&self, fuzzily: bool) -> Vec<u16> {
        let is_certain = |word: &&Word| !(word.is_excluded || fuzzily && word.fuzzy.is_some());
        trigrams::keys(self.texts.iter().filter(is_certain).flat_map(|word| word.needle.words()))
    }

    /// Returns the keys of the texts of every session in which the words are adjacent, if there are several words.
    pub(crate) fn keys_of_adjacent(&self) -> Option<Vec<u16>> {
        Some(trigrams::keys(self.adjacent.as_ref()?.words()))
    }

    /// Returns `true` if sessions can match fuzzily.
    pub(crate) fn is_fuzzy(&self) -> bool {
        self.roles.is_empty() && self.texts.iter().any(|word| word.fuzzy.is_some())
    }

    /// Returns a test for entries whose role the query selects.
    fn is_of_role(&self, digest: &Digest) -> impl Fn(EntryIndex) -> bool + use<> {
        let is_wanted = |entry: EntryStats| self.roles.contains(&entry.role);
        let wanted: Option<Vec<bool>> =
            (!self.roles.is_empty()).then(|| digest.stats().entries().into_iter().map(is_wanted).collect());
        move |at| wanted.as_ref().is_none_or(|wanted| wanted.get(at as usize) == Some(&true))
    }

    /// Matches a session.
    pub fn matches(&self, session: &Candidate<'_>) -> Option<Match> {
        let mut hit = Match { tier: Tier::Name, score: 0, place: None, time: 0 };
        let mut qualified_place = None;
        for (is_excluded, test) in &self.tests {
            match test(session) {
                TestResult::At(place) if !is_excluded => qualified_place = qualified_place.or(place),
                TestResult::No if *is_excluded => {}
                _ => return None,
            }
        }
        let is_of_role = self.is_of_role(session.digest);
        for text in &self.texts {
            if text.is_excluded {
                if text.find(session).is_some() {
                    return None;
                }
                continue;
            }
            let found = if self.roles.is_empty() { text.find(session) } else { text.find_among(session, &is_of_role) };
            let found = found?;
            (hit.tier, hit.score) = (hit.tier.max(found.tier), hit.score + score(found.tier, found.score));
            let is_better = found.place.entry.is_some() && !has_entry(&hit);
            if hit.place.is_none() || is_better {
                hit.place = Some(found.place);
            }
        }
        if qualified_place.is_some() && !has_entry(&hit) {
            hit.place = qualified_place;
        }
        let SearchTexts { conversation, summaries } = session.texts.unwrap_or_default();
        let is_in_texts = |words: &Needle| [conversation, summaries].iter().any(|it| words.find(it.folded).is_some());
        let is_apart = |words: &Needle| words.find_in_headings(session.titles).is_none() && !is_in_texts(words);
        hit.score += if self.adjacent.as_ref().is_some_and(is_apart) { APART } else { 0 };
        hit.time = session.digest.order_time();
        Some(hit)
    }

    /// Returns the tier and the score of a session with these titles if all words match literally: only its name and
    /// its labels change them, except if [`Matcher::ranks_by_texts`].
    pub(crate) fn literal_rank(&self, titles: SearchTitles<'_>) -> (Tier, u32) {
        let in_headings = |needle: &Needle| needle.find_in_headings(titles);
        let is_apart = self.adjacent.as_ref().is_some_and(|words| in_headings(words).is_none());
        let wanted = self.texts.iter().filter(|text| !text.is_excluded);
        wanted.fold((Tier::Name, if is_apart { APART } else { 0 }), |(tier, sum), text| {
            let found = in_headings(&text.needle).filter(|_| self.roles.is_empty());
            let found = found.map_or((Tier::Text, 0), |found| (found.tier, found.score));
            (tier.max(found.0), sum + score(found.0, found.1))
        })
    }

    /// Returns `true` if the tier of a session with this folded id and directory depends on its texts, which may have
    /// accents.
    pub(crate) fn ranks_by_texts(&self, id: &str, cwd: &str, has_accents: bool) -> bool {
        let is_low = |needle: &Needle| needle.ranks_low_in_dir(cwd) || needle.ranks_low_in(id);
        let depends = |needle: &Needle| needle.is_similar(has_accents) || is_low(needle);
        self.texts.iter().any(|text| !text.is_excluded && depends(&text.needle))
    }

    /// Returns the entries with matches and the matched fields. Entries with the most matching terms come first, then
    /// those in which the words are adjacent, then file order.
    pub fn entries(&self, digest: &Digest, texts: SearchTexts<'_>) -> Vec<(EntryIndex, MatchField)> {
        let wanted = || self.texts.iter().filter(|text| !text.is_excluded).map(|text| &text.needle);
        let count = |folded: &str| wanted().filter(|needle| needle.find(folded).is_some()).count();
        let (is_of_role, mut adjacent) = (self.is_of_role(digest), Vec::new());
        let labels = digest.labels.iter().map(|label| (count(&fold(&label.text)), label.at, MatchField::Label));
        let mut found: Vec<_> = labels.filter(|(count, ..)| *count > 0 && self.roles.is_empty()).collect();
        let said = [(texts.conversation, MatchField::Conversation), (texts.summaries, MatchField::Summary)];
        for (passages, field) in said {
            let mut entries: Vec<EntryIndex> = Vec::new();
            wanted().for_each(|needle| needle.each_entry(passages, |entry| entries.push(entry)));
            self.adjacent.iter().for_each(|words| words.each_entry(passages, |entry| adjacent.push(entry)));
            entries.retain(|&entry| is_of_role(entry));
            entries.sort_unstable();
            found.extend(entries.chunk_by(EntryIndex::eq).map(|same| (same.len(), same[0], field)));
        }
        adjacent.sort_unstable();
        sort::by_key(&mut found, |&(count, entry, _)| (Reverse(count), adjacent.binary_search(&entry).is_err(), entry));
        found.into_iter().map(|(_, entry, field)| (entry, field)).collect()
    }

    /// Returns the byte ranges to highlight in a text, sorted and extended to whole grapheme clusters: literal matches,
    /// and the letters of words that match only `fuzzily`.
    pub fn marks(&self, text: &str, fuzzily: bool) -> Vec<Range<usize>> {
        marks(&self.texts, text, fuzzily)
    }
}

/// Returns the part of a word in the score of a session.
fn score(tier: Tier, score: u32) -> u32 {
    tier as u32 * WEIGHT + score
}

fn has_entry(hit: &Match) -> bool {
    hit.place.as_ref().is_some_and(|place| place.entry.is_some())
}

impl Word {
    fn find(&self, session: &Candidate<'_>) -> Option<TermMatch> {
        let found = self.needle.find_literally(session).map(|found| match &self.needle {
            Needle::Similar { exact, .. } => {
                let similar = TermMatch { tier: found.tier.max(Tier::Similar), score: 0, ..found };
                exact.find_literally(session).filter(|exact| exact.tier <= similar.tier).unwrap_or(similar)
            }
            _ => found,
        });
        found.or_else(|| self.find_fuzzily(session))
    }

    /// Finds a literal match in the messages of some entries.
    fn find_among(&self, session: &Candidate<'_>, is_wanted: impl Fn(EntryIndex) -> bool) -> Option<TermMatch> {
        let (conversation, mut entry) = (session.texts?.conversation, None);
        self.needle.each_entry(conversation, |at| entry = entry.or_else(|| is_wanted(at).then_some(at)));
        let (start, text) = conversation.of(entry?)?;
        let at = self.needle.find(text)?;
        Some(TermMatch {
            tier: Tier::Text,
            score: 0,
            place: passage(MatchField::Conversation, conversation, start + at.start..start + at.end),
        })
    }

    fn find_fuzzily(&self, session: &Candidate<'_>) -> Option<TermMatch> {
        let fuzzy = self.fuzzy.as_ref()?;
        let titles = session.titles;
        let named = [
            (MatchField::Name, titles.name),
            (MatchField::FirstMessage, titles.first_message),
            (MatchField::Cwd, titles.cwd),
        ];
        let in_titles = named.into_iter().filter_map(|(field, text)| Some((fuzzy.find(text)?, field, None)));
        let in_labels = titles.labels.each();
        let in_labels =
            in_labels.filter_map(|(entry, label)| Some((fuzzy.find(label)?, MatchField::Label, Some(entry))));
        let ((score, at), field, entry) = in_titles.chain(in_labels).max_by_key(|((score, _), ..)| *score)?;
        let score = WEIGHT - 1 - score.clamp(0, i64::from(WEIGHT) - 1) as u32;
        Some(TermMatch { tier: Tier::Fuzzy, score, place: MatchPlace { field, entry, at } })
    }
}

impl Needle {
    /// Finds a literal match in the name or in a label.
    fn find_in_headings(&self, titles: SearchTitles<'_>) -> Option<TermMatch> {
        if let Some(at) = self.find_if_any(titles.name) {
            return Some(TermMatch {
                tier: Tier::Name,
                score: name_score(titles.name, &at),
                place: title(MatchField::Name, at),
            });
        }
        for (entry, label) in titles.labels.each() {
            if let Some(at) = self.find(label) {
                let place = MatchPlace { field: MatchField::Label, entry: Some(entry), at };
                return Some(TermMatch { tier: Tier::Label, score: 0, place });
            }
        }
        None
    }

    fn find_literally(&self, session: &Candidate<'_>) -> Option<TermMatch> {
        let titles = session.titles;
        if let Some(found) = self.find_in_headings(titles) {
            return Some(found);
        }
        let said = match session.texts {
            Some(SearchTexts { conversation, summaries }) => {
                let said = self.find_in(conversation);
                let summed_up = || if summaries.folded.is_empty() { None } else { self.find_in(summaries) };
                said.map(|at| passage(MatchField::Conversation, conversation, at))
                    .or_else(|| summed_up().map(|at| passage(MatchField::Summary, summaries, at)))
            }
            None => self.find_if_any(titles.first_message).map(|at| title(MatchField::FirstMessage, at)),
        };
        let in_id = self.find(titles.id).map(|at| title(MatchField::Id, at));
        let is_low = self.ranks_low_in(titles.id);
        let in_cwd = || self.find(titles.cwd).map(|at| title(MatchField::Cwd, at));
        let is_said = said.is_some();
        let place = said.or_else(|| in_id.clone().filter(|_| !is_low)).or_else(in_cwd).or_else(|| in_id.clone())?;
        let is_low = match place.field {
            _ if is_said => false,
            MatchField::Cwd => self.ranks_low_in_dir(titles.cwd),
            _ => is_low,
        };
        Some(TermMatch { tier: if is_low { Tier::Place } else { Tier::Text }, score: 0, place })
    }

    /// Returns `true` if the word is in a directory, and long enough to be rare there.
    fn ranks_low_in_dir(&self, cwd: &str) -> bool {
        self.word().is_none_or(|word| word.len() >= MIN_IN_ID) && self.find(cwd).is_some()
    }

    /// Returns `true` if the word is in an id, but is not the beginning of an id in a query.
    fn ranks_low_in(&self, id: &str) -> bool {
        let Self::Word(finder) = self.as_typed() else { return false };
        let word = finder.needle();
        let is_hex = || word.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
        match finder.find(id.as_bytes()) {
            Some(0) => word.len() < id.len() && !(word.len() >= MIN_ID && is_hex()) && word.len() >= MIN_IN_ID,
            found => found.is_some() && word.len() >= MIN_IN_ID,
        }
    }

    /// A missing name or summary never matches, not even an empty pattern. In pi, an empty conversation, id or
    /// directory can match.
    fn find_if_any(&self, folded: &str) -> Option<Range<usize>> {
        if folded.is_empty() { None } else { self.find(folded) }
    }
}

fn title(field: MatchField, at: Range<usize>) -> MatchPlace {
    MatchPlace { field, entry: None, at }
}

fn passage(field: MatchField, passages: Passages<'_>, at: Range<usize>) -> MatchPlace {
    MatchPlace { field, entry: passages.around(at.start).map(|(entry, _)| entry), at }
}

/// Ranks a match in a name: the whole name, then a prefix, then the start of a word, then other places.
fn name_score(name: &str, at: &Range<usize>) -> u32 {
    let starts_word = !name[..at.start].chars().next_back().is_some_and(char::is_alphanumeric);
    match at.start {
        0 if at.end == name.len() => 0,
        0 => 1,
        _ if starts_word => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::digest::builder::DigestBuilder;
    use crate::session::lines::Line;
    use crate::session::search_text::{self, SearchTextsBuf};
    use crate::session::search_titles::TitlesBuf;
    use proptest::prelude::*;

    const DAY: i64 = 86_400_000;

    fn query_scope() -> QueryScope {
        QueryScope { now_ms: 100 * DAY, home: "/home/dev".into(), ..QueryScope::default() }
    }

    fn matcher(query: &str) -> Matcher {
        Matcher::new(&Query::parse(query).unwrap(), &query_scope())
    }

    /// A session with what is searched of it.
    struct Session {
        digest: Digest,
        titles: TitlesBuf,
        texts: SearchTextsBuf,
        is_live: bool,
    }

    impl Session {
        fn new(name: &str, first_message: &str, lines: &[&str]) -> Self {
            let (mut builder, mut texts) = (DigestBuilder::new(""), search_text::SearchTextBuilder::default());
            let header = r#"{"type":"session","version":3,"id":"0195a001-abc","cwd":"/home/dev/App"}"#;
            for line in [header].iter().chain(lines) {
                builder.line(Line::new(0, line.as_bytes(), true));
                texts.line(Line::new(0, line.as_bytes(), true));
            }
            let digest = builder.finish(0, &mut |_| None).unwrap();
            let some = |text: &str| (!text.is_empty()).then(|| text.to_string());
            let (name, first_message, modified) = (some(name), some(first_message), Some(90 * DAY));
            let digest = Digest { name, first_message, modified, ..digest };
            Self { titles: TitlesBuf::new(&digest), digest, texts: texts.take(), is_live: false }
        }

        fn try_with(&self, query: &str, texts: Option<SearchTexts<'_>>) -> Option<Match> {
            let &Self { ref digest, ref titles, is_live, .. } = self;
            let titles = titles.as_titles();
            matcher(query).matches(&Candidate { digest, titles, texts, is_live, has_forks: false, copies: &[] })
        }

        fn hit(&self, query: &str) -> Option<Match> {
            self.try_with(query, Some(self.texts.as_texts()))
        }

        /// Returns the tier and the place of a hit.
        fn at(&self, query: &str) -> Option<(Tier, MatchField, Option<EntryIndex>)> {
            let hit = self.hit(query)?;
            hit.place.map(|place| (hit.tier, place.field, place.entry))
        }
    }

    fn session() -> Session {
        Session::new(
            "Login Größe",
            "Refactor the auth module",
            &[
                r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"Refactor the auth module"}}"#,
                r#"{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"JWT  works,\nfinally"},{"type":"toolCall","id":"c","name":"edit","arguments":{"path":"src/auth.rs"}},{"type":"toolCall","id":"d","name":"read","arguments":{"path":"doc.md"}}]}}"#,
                r#"{"type":"label","id":"3","parentId":"2","targetId":"2","label":"Before it broke"}"#,
                r#"{"type":"compaction","id":"4","parentId":"3","summary":"All about cookies"}"#,
            ],
        )
    }

    #[test]
    fn finds_words_in_all_fields() {
        let session = session();
        for (query, at) in [
            ("login", (Tier::Name, MatchField::Name, None)),
            ("gro\u{308}ße", (Tier::Name, MatchField::Name, None)),
            ("BROKE", (Tier::Label, MatchField::Label, Some(1))),
            ("auth", (Tier::Text, MatchField::Conversation, Some(0))),
            ("jwt", (Tier::Text, MatchField::Conversation, Some(1))),
            (r#""jwt works, finally""#, (Tier::Text, MatchField::Conversation, Some(1))),
            (r#""module jwt""#, (Tier::Text, MatchField::Conversation, Some(0))),
            ("re:W[O]RKS.", (Tier::Text, MatchField::Conversation, Some(1))),
            ("cookies", (Tier::Text, MatchField::Summary, Some(3))),
            ("0195a0", (Tier::Text, MatchField::Id, None)),
            ("195a", (Tier::Place, MatchField::Id, None)),
            ("dev/app", (Tier::Place, MatchField::Cwd, None)),
            ("rfauth", (Tier::Fuzzy, MatchField::FirstMessage, None)),
            ("lgn", (Tier::Fuzzy, MatchField::Name, None)),
            ("bfr", (Tier::Fuzzy, MatchField::Label, Some(1))),
            // The least direct word determines the tier, and a place in an entry is preferred.
            ("login jwt", (Tier::Text, MatchField::Conversation, Some(1))),
            ("login rfauth", (Tier::Fuzzy, MatchField::Name, None)),
            ("login label:broke", (Tier::Name, MatchField::Label, Some(1))),
            ("file:auth", (Tier::Name, MatchField::File, Some(1))),
        ] {
            assert_eq!(session.at(query), Some(at), "{query}");
        }
        let Some(Match { place: Some(MatchPlace { at, .. }), .. }) = session.hit("works") else { panic!("not found") };
        assert_eq!(&session.texts.as_texts().conversation.folded[at], "works");
        for query in ["login nowhere", "xyz", r#""rfauth""#, r#""works jwt""#, "re:cookies$x"] {
            assert_eq!(session.at(query), None, "{query}");
        }
    }

    #[test]
    fn evaluates_qualifiers_and_exclusions() {
        let mut session = session();
        session.is_live = true;
        session.digest.cost = 1.5;
        session.digest.bytes = 2_000_000;
        session.digest.entry_count = 4;
        for query in [
            "",
            "in:~/app",
            "file:src/auth.rs",
            "edited:auth",
            "edited:src/ file:doc.md",
            "label:before",
            "model:sonnet",
            "tool:edit",
            "is:named is:labelled is:live",
            "after:2w before:1d",
            "after:1970-04-01",
            "cost:>1 size:>1M entries:<=4",
            "-is:fork -is:forked -is:branched -is:abandoned -is:damaged -is:empty",
            "in: -label:",
            "-nowhere",
            "-rfauth",
            "-\"works jwt\"",
            "-tool:bash -model:gpt -label:x -file:x -in:/x",
        ] {
            assert!(session.hit(query).is_some(), "{query}");
        }
        for query in [
            "in:/app",
            "file:main.rs",
            "edited:doc.md",
            "label:x",
            "model:gpt",
            "tool:bash",
            "is:fork",
            "is:empty",
            "before:2w",
            "after:1d",
            "cost:>2",
            "-login",
            "-auth login",
            "-\"jwt works\"",
            "-label:before",
            "-file:auth",
            "-is:live",
            "-in:app",
        ] {
            assert!(session.hit(query).is_none(), "{query}");
        }
    }

    #[test]
    fn searches_the_digest_until_texts_are_loaded() {
        let session = session();
        let first = |query: &str| session.try_with(query, None);
        assert_eq!(
            first("refactor").and_then(|hit| hit.place).map(|place| place.field),
            Some(MatchField::FirstMessage)
        );
        assert!(first("login app is:labelled after:2w").is_some() && first("rfauth").is_some());
        for query in ["broke", "label:broke", "file:auth", "-file:x", "tool:edit", "-model:gpt"] {
            assert!(first(query).is_some(), "{query}");
        }
        assert!(first("jwt").is_none());
    }

    #[test]
    fn ranks_better_matches_first() {
        let [whole, begins, word, inside, label, said, scattered] = [
            Session::new("auth", "", &[]),
            Session::new("auth module", "", &[]),
            Session::new("the auth", "", &[]),
            Session::new("oauth", "", &[]),
            Session::new(
                "",
                "",
                &[
                    r#"{"type":"message","id":"1","message":{"role":"user","content":"x"}}"#,
                    r#"{"type":"label","id":"2","parentId":"1","targetId":"1","label":"auth"}"#,
                ],
            ),
            Session::new("", "", &[r#"{"type":"message","id":"1","message":{"role":"user","content":"auth"}}"#]),
            Session::new("a unit with", "", &[]),
        ];
        let order = [whole, begins, word, inside, label, said, scattered];
        let ranks: Vec<_> = order.iter().map(|session| session.hit("auth").unwrap().rank()).collect();
        assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]), "{ranks:?}");
        let mut newer = Session::new("oauth", "", &[]);
        newer.digest.modified = Some(95 * DAY);
        assert!(newer.hit("auth").unwrap().rank() < ranks[3]);
    }

    #[test]
    fn adjacent_words_rank_first_and_words_in_the_directory_last() {
        let said = |text: &str| {
            let line = format!(r#"{{"type":"message","id":"1","message":{{"role":"user","content":"{text}"}}}}"#);
            Session::new("", "", &[&line])
        };
        let rank = |session: &Session, query: &str| session.hit(query).unwrap().rank();
        assert!(rank(&said("a token refresh"), "token refresh") < rank(&said("refresh the token"), "token refresh"));
        assert!(rank(&said("the ápp"), "app") < rank(&said("x"), "app"), "each session is in ~/App");
        let apart = session();
        let entries = |query: &str| matcher(query).entries(&apart.digest, apart.texts.as_texts());
        assert_eq!(entries("the auth").first().unwrap().0, 0);
        let order: Vec<EntryIndex> = {
            let both = Session::new(
                "",
                "",
                &[
                    r#"{"type":"message","id":"1","message":{"role":"user","content":"refresh the token"}}"#,
                    r#"{"type":"message","id":"2","parentId":"1","message":{"role":"user","content":"token refresh"}}"#,
                ],
            );
            let found = matcher("token refresh").entries(&both.digest, both.texts.as_texts());
            found.into_iter().map(|(entry, _)| entry).collect()
        };
        assert_eq!(order, [1, 0]);
    }

    #[test]
    fn words_match_in_messages_of_a_role() {
        let session = session();
        for (query, at) in [
            ("role:user auth", Some((Tier::Text, MatchField::Conversation, Some(0)))),
            ("from:me module", Some((Tier::Text, MatchField::Conversation, Some(0)))),
            ("role:assistant jwt", Some((Tier::Text, MatchField::Conversation, Some(1)))),
            ("role:user role:assistant jwt", Some((Tier::Text, MatchField::Conversation, Some(1)))),
            ("role:user jwt", None),
            ("role:assistant auth", None),
            ("role:user login", None),
            ("role:user rfauth", None),
            ("role:user broke", None),
        ] {
            assert_eq!(session.at(query), at, "{query}");
        }
        let entries = matcher("role:assistant works finally the").entries(&session.digest, session.texts.as_texts());
        assert_eq!(entries, [(1, MatchField::Conversation)]);
        assert!(session.hit("role:tool").is_none() && session.hit("-role:tool role:user").is_some());
    }

    #[test]
    fn marks_all_matches() {
        let marks = |query: &str, text: &'static str| -> Vec<&str> {
            matcher(query).marks(text, true).into_iter().map(|mark| &text[mark]).collect()
        };
        assert_eq!(marks("auth é", "Auth, oAUTH e\u{301}t"), ["Auth", "AUTH", "e\u{301}"]);
        assert_eq!(marks("foo oob", "a foobar"), ["foob"]);
        assert_eq!(marks(r#""a b""#, "a \n b ab"), ["a \n b"]);
        assert_eq!(marks(r"re:\bx*", "ax x xx"), ["x", "xx"]);
        assert_eq!(marks("rfa", "refactor"), ["r", "fa"]);
        assert_eq!(marks("-auth in:x is:fork", "auth in x"), [""; 0]);
        assert!(matcher("rfa").marks("refactor", false).is_empty());
    }

    proptest! {
        /// A narrower query never finds more than the earlier query.
        #[test]
        fn narrower_queries_find_a_subset(
            (earlier, later) in "(-?[ab]{1,3}|\"[ab ]{1,4}\"|is:named|in:a|-?label:[ab]{1,2})( -?[ab]{1,3}| \"[ab]{1,3} [ab]\")?".prop_flat_map(|query| {
                let longer = query.clone();
                (Just(query), "[ab\" -]{0,4}".prop_map(move |more| longer.clone() + &more))
            }),
            name in "[ab ]{0,8}", said in "[ab ]{0,12}", label in "[abB]{0,4}",
        ) {
            let session = Session::new(&name, &said, &[
                &format!(r#"{{"type":"message","id":"1","message":{{"role":"user","content":"{said}"}}}}"#),
                &format!(r#"{{"type":"label","id":"2","parentId":"1","targetId":"1","label":"{label}"}}"#),
            ]);
            let wide = Query::parse(&earlier).unwrap();
            let Ok(narrow) = Query::parse(&later) else { return Ok(()) };
            for texts in [None, Some(session.texts.as_texts())] {
                if narrow.narrows(&wide) && session.try_with(&later, texts).is_some() {
                    prop_assert!(session.try_with(&earlier, texts).is_some(), "{} in {}", later, earlier);
                }
            }
        }
    }
}
