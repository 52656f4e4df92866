//! A query held against sessions: which match, how well, and where. Literal matches come first; only a word that is
//! nowhere in a session literally may match it fuzzily. A session can be tried before its text was read: then there is
//! what its summary says.
//!
//! Fields and tiers are those of pi's picker (1.5.2), with labels and summaries added; as there, each field is matched
//! alone, and different words may match different fields.

use std::cmp::Reverse;
use std::ops::Range;

use super::facts::{Fact, Holds};
use super::fuzzy::{Fuzzy, capped};
use super::inside::merged;
use super::needle::Needle;
use super::query::{Query, What};
pub use super::value::Around;
use crate::fold::{Folded, fold};
use crate::session::searchable::{Passages, Searchable};
use crate::session::shape::Index;
use crate::session::summary::Summary;

/// What a list shows of a session, folded once, so that a key finds it fast.
#[derive(Clone, Debug, Default)]
pub struct Titles {
    /// The name; empty if there is none.
    pub name: Box<str>,
    /// The id in the header.
    pub id: Box<str>,
    /// The working directory.
    pub cwd: Box<str>,
    /// The beginning of the first message.
    pub first_message: Box<str>,
}

impl Titles {
    /// Folds what a summary says.
    pub fn new(summary: &Summary) -> Self {
        let folded = |text: &str| fold(text).into_boxed_str();
        Self {
            name: folded(summary.name.as_deref().unwrap_or_default()),
            id: folded(&summary.header.id),
            cwd: folded(&summary.header.cwd),
            first_message: folded(capped(summary.first_message.as_deref().unwrap_or_default())),
        }
    }
}

/// A session to try, with all that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// What a list shows of it.
    pub summary: &'a Summary,
    /// The same, folded.
    pub titles: &'a Titles,
    /// Its text, if that was read. Until then only its summary is searched, and what asks for more doesn't match.
    pub text: Option<&'a Searchable>,
    /// Whether a pi is at work in it.
    pub is_live: bool,
    /// Whether other sessions were forked from it.
    pub has_forks: bool,
    /// Whether it was forked from another one.
    pub is_fork: bool,
}

/// How directly something matched, the best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// In the name; also where no text was looked for.
    #[default]
    Name,
    /// In a label.
    Label,
    /// In the conversation, a summary, the id or the directory.
    Text,
    /// Only the letters, scattered.
    Fuzzy,
}

/// What can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The name.
    Name,
    /// A label.
    Label,
    /// What users and assistants said.
    Conversation,
    /// The first message, while the conversation was not read, or fuzzily.
    FirstMessage,
    /// A summary of a compaction or a branch.
    Summary,
    /// The id of the session.
    Id,
    /// The working directory.
    Cwd,
    /// A file that a tool touched.
    File,
}

/// Where something matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In what.
    pub field: Field,
    /// The entry, if it stands in one.
    pub entry: Option<Index>,
    /// The bytes of the folded text: of the label, of all passages of the session, of the title. Empty for a file.
    pub at: Range<usize>,
}

/// A session that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The least direct match of a word.
    pub tier: Tier,
    /// How well all words match within the tier: less is better.
    pub score: u32,
    /// Where to look: at the first word that matched in an entry, else at the first that matched.
    pub place: Option<Place>,
    /// When the session was last active, to order what matches equally well.
    pub time: i64,
}

impl Hit {
    /// What to sort by: the best first, then the newest.
    pub fn rank(&self) -> (Tier, u32, Reverse<i64>) {
        (self.tier, self.score, Reverse(self.time))
    }
}

/// What a tier weighs in a score, more than any difference within it.
const WEIGHT: u32 = 1000;

/// A text to look for, and whether it must not be there.
struct Text {
    is_excluded: bool,
    needle: Needle,
    /// For words.
    fuzzy: Option<Fuzzy>,
}

/// A query made ready to be held against many sessions.
pub struct Matcher {
    texts: Vec<Text>,
    facts: Vec<(bool, Fact)>,
}

/// How one word matched.
struct Match {
    tier: Tier,
    /// Less is better; below the weight of a tier.
    score: u32,
    place: Place,
}

impl Matcher {
    /// Makes a query ready.
    pub fn new(query: &Query, around: &Around) -> Self {
        let fact = |term: &super::query::Term| Some((term.is_excluded, Fact::of(&term.what, around)?));
        let mut facts: Vec<_> = query.terms.iter().filter_map(fact).collect();
        facts.sort_by_key(|(_, fact)| fact.needs_text());
        let text = |term: &super::query::Term| {
            let fuzzy = match &term.what {
                What::Word(word) if !term.is_excluded => Fuzzy::new(&fold(word)),
                _ => None,
            };
            Some(Text { is_excluded: term.is_excluded, needle: Needle::of(&term.what)?, fuzzy })
        };
        Self { texts: query.terms.iter().filter_map(text).collect(), facts }
    }

    /// Whether a session matches, and how.
    pub fn matches(&self, session: &Candidate<'_>) -> Option<Hit> {
        let mut hit = Hit { tier: Tier::Name, score: 0, place: None, time: session.summary.order_time() };
        let mut fact_place = None;
        for (is_excluded, fact) in &self.facts {
            match fact.holds(session) {
                Holds::At(place) if !is_excluded => fact_place = fact_place.or(place),
                Holds::No if *is_excluded => {}
                _ => return None,
            }
        }
        for text in &self.texts {
            let found = text.find(session);
            if text.is_excluded {
                if found.is_some() {
                    return None;
                }
                continue;
            }
            let found = found?;
            hit.tier = hit.tier.max(found.tier);
            hit.score += found.tier as u32 * WEIGHT + found.score;
            let is_better = found.place.entry.is_some() && !has_entry(&hit);
            if hit.place.is_none() || is_better {
                hit.place = Some(found.place);
            }
        }
        if fact_place.is_some() && !has_entry(&hit) {
            hit.place = fact_place;
        }
        Some(hit)
    }

    /// What to highlight in a text, in order, as byte ranges of whole grapheme clusters: what is looked for literally,
    /// and the letters of words that match only `fuzzily`.
    pub fn marks(&self, text: &str, fuzzily: bool) -> Vec<Range<usize>> {
        let folded = Folded::new(text);
        let mut marks = Vec::new();
        for wanted in self.texts.iter().filter(|text| !text.is_excluded) {
            let mut found = wanted.needle.find_all(&folded.text);
            if let Some(fuzzy) = wanted.fuzzy.as_ref().filter(|_| fuzzily && found.is_empty()) {
                found = fuzzy.letters(&folded.text);
            }
            marks.extend(found.into_iter().map(|range| folded.original(range)));
        }
        merged(marks)
    }
}

fn has_entry(hit: &Hit) -> bool {
    hit.place.as_ref().is_some_and(|place| place.entry.is_some())
}

impl Text {
    fn find(&self, session: &Candidate<'_>) -> Option<Match> {
        self.find_literally(session).or_else(|| self.find_fuzzily(session))
    }

    fn find_literally(&self, session: &Candidate<'_>) -> Option<Match> {
        let titles = session.titles;
        if let Some(at) = self.find_if_any(&titles.name) {
            return Some(Match {
                tier: Tier::Name,
                score: name_score(&titles.name, &at),
                place: title(Field::Name, at),
            });
        }
        let labels = session.text.map_or(&[][..], |text| &text.labels);
        for (entry, label) in labels {
            if let Some(at) = self.needle.find(&fold(label)) {
                let place = Place { field: Field::Label, entry: Some(*entry), at };
                return Some(Match { tier: Tier::Label, score: 0, place });
            }
        }
        let said = match session.text {
            Some(text) => {
                let said = self.needle.find(&text.conversation.folded);
                let summed_up = || self.find_if_any(&text.summaries.folded);
                said.map(|at| passage(Field::Conversation, &text.conversation, at))
                    .or_else(|| summed_up().map(|at| passage(Field::Summary, &text.summaries, at)))
            }
            None => self.find_if_any(&titles.first_message).map(|at| title(Field::FirstMessage, at)),
        };
        let place = said
            .or_else(|| self.needle.find(&titles.id).map(|at| title(Field::Id, at)))
            .or_else(|| self.needle.find(&titles.cwd).map(|at| title(Field::Cwd, at)))?;
        Some(Match { tier: Tier::Text, score: 0, place })
    }

    /// A name or a summary that isn't there matches nothing, not even a pattern of nothing. For pi an empty
    /// conversation, id or directory does.
    fn find_if_any(&self, folded: &str) -> Option<Range<usize>> {
        if folded.is_empty() { None } else { self.needle.find(folded) }
    }

    fn find_fuzzily(&self, session: &Candidate<'_>) -> Option<Match> {
        let fuzzy = self.fuzzy.as_ref()?;
        let titles = session.titles;
        let named =
            [(Field::Name, &titles.name), (Field::FirstMessage, &titles.first_message), (Field::Cwd, &titles.cwd)];
        let in_titles = named.into_iter().filter_map(|(field, text)| Some((fuzzy.find(text)?, field, None)));
        let labels = session.text.map_or(&[][..], |text| &text.labels);
        let in_labels =
            labels.iter().filter_map(|(at, label)| Some((fuzzy.find(&fold(label))?, Field::Label, Some(*at))));
        let (found, field, entry) = in_titles.chain(in_labels).max_by_key(|(found, ..)| found.score)?;
        let score = WEIGHT - 1 - found.score.clamp(0, i64::from(WEIGHT) - 1) as u32;
        Some(Match { tier: Tier::Fuzzy, score, place: Place { field, entry, at: found.start..found.end } })
    }
}

fn title(field: Field, at: Range<usize>) -> Place {
    Place { field, entry: None, at }
}

fn passage(field: Field, passages: &Passages, at: Range<usize>) -> Place {
    Place { field, entry: passages.entry_at(at.start), at }
}

/// A whole name before the beginning of one, that before the beginning of a word, that before all else.
fn name_score(name: &str, at: &Range<usize>) -> u32 {
    let starts_word = !name[..at.start].chars().next_back().is_some_and(char::is_alphanumeric);
    match at.start {
        0 if at.end == name.len() => 0,
        0 => 1,
        _ if starts_word => 2,
        _ => 3,
    }
}
