//! Suggestions for a query without hits: hits in other texts, and the nearest query that has hits.

use std::collections::HashMap;
use std::sync::Arc;

use crate::base::normalize::fold;
use crate::base::typo;
use crate::catalog::search::{SearchedSession, Searcher};
use crate::search::matching::Tier;
use crate::search::qualifier::value::QueryScope;
use crate::search::query::Query;

/// The maximum size of texts that are searched for a correct spelling, in bytes.
const MAX_SPELLED: usize = 32 * 1024 * 1024;

/// The maximum number of query terms; longer queries get no suggestion.
const MAX_TERMS: usize = 8;

/// Hits of alternative searches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// Hits with `all:`.
    pub everything: usize,
    /// Sessions in which a tool touched a file with that name.
    pub files: usize,
    /// The number of files searched so far and in total; `None` when complete.
    pub progress: Option<(usize, usize)>,
    /// The nearest query with hits.
    pub nearest: Option<NearestQuery>,
}

/// A query with hits that differs little from one without hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestQuery {
    /// The query.
    pub query: String,
    /// The difference.
    pub difference: QueryDifference,
}

/// The difference of a [`NearestQuery`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryDifference {
    /// These terms are left out.
    Without(String),
    /// A word is spelled differently.
    Spelled,
}

/// The sessions to search, and a test that the search is canceled.
struct Sessions<'a, F> {
    all: &'a Arc<[SearchedSession]>,
    scope: &'a QueryScope,
    is_stale: &'a F,
}

impl Searcher {
    /// Runs the alternative searches and reports results until it is canceled.
    pub fn suggest(
        &self,
        sessions: &Arc<[SearchedSession]>,
        (query, scope): (&Query, &QueryScope),
        is_stale: impl Fn() -> bool + Sync,
        mut report: impl FnMut(Suggestions) -> bool,
    ) {
        let mut found = Suggestions::default();
        let by_file = query.as_files().and_then(|query| self.search_quietly(sessions, (&query, scope), &is_stale));
        found.files = by_file.map_or(0, |found| found.len());
        if query.everything {
            report(found);
            return;
        }
        let searched = Sessions { all: sessions, scope, is_stale: &is_stale };
        found.nearest = self.nearest(&searched, query);
        if query.words().is_empty() {
            report(found);
            return;
        }
        let everything = Query { everything: true, ..query.clone() };
        let all = sessions.len();
        found.progress = Some((0, all));
        self.search_everything(sessions, (&everything, scope), &is_stale, |more, done| {
            found.everything += more.len();
            found.progress = (done < all).then_some((done, all));
            report(found.clone())
        });
    }

    /// Returns the nearest query with hits: without one qualifier, with a corrected word, without all qualifiers, with
    /// both differences, or without one word.
    fn nearest<F: Fn() -> bool + Sync>(&self, sessions: &Sessions<'_, F>, query: &Query) -> Option<NearestQuery> {
        if query.terms.len() > MAX_TERMS {
            return None;
        }
        let without = |is_left_out: &dyn Fn(usize) -> bool| {
            let (shorter, left_out) = query.without(is_left_out);
            let difference = QueryDifference::Without(left_out.to_string());
            (!shorter.is_empty()).then_some((shorter, difference))
        };
        let places = 0..query.terms.len();
        let is_word = |at: usize| query.word_at(at).is_some();
        let single = |words: bool| {
            let places = places.clone().filter(move |&at| is_word(at) == words);
            places.filter_map(move |place| without(&|at| at == place))
        };
        let has_hits = |(candidate, _): &(Query, QueryDifference)| self.has_hits(sessions, candidate);
        let (query, difference) = single(false).find(has_hits).or_else(|| {
            let spelled = places.clone().filter_map(|place| {
                let word = self.respelled(sessions, query.word_at(place)?)?;
                Some((query.with_word(place, &word), QueryDifference::Spelled))
            });
            let spelled: Vec<_> = spelled.collect();
            let plain = |(query, difference): &(Query, QueryDifference)| {
                (query.without(|at| query.word_at(at).is_none()).0, difference.clone())
            };
            let both = spelled.iter().map(plain).collect::<Vec<_>>();
            let candidates = spelled.into_iter().chain(without(&|at| !is_word(at))).chain(both).chain(single(true));
            candidates.into_iter().find(has_hits)
        })?;
        Some(NearestQuery { query: query.to_string(), difference })
    }

    /// Returns `true` if a query finds a session literally.
    fn has_hits<F: Fn() -> bool + Sync>(&self, sessions: &Sessions<'_, F>, query: &Query) -> bool {
        let &Sessions { all, scope, is_stale } = sessions;
        let found = self.search_quietly(all, (query, scope), is_stale).unwrap_or_default();
        found.iter().any(|(_, found)| found.hit.tier < Tier::Fuzzy)
    }

    /// Returns the word in the sessions of which a word is probably a misspelling: the nearest, then the most frequent.
    fn respelled<F: Fn() -> bool + Sync>(&self, sessions: &Sessions<'_, F>, word: &str) -> Option<String> {
        let word = fold(word);
        let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
        let mut left = MAX_SPELLED;
        let mut take = |text: &str| {
            left = left.saturating_sub(text.len());
            for other in text.split(|c: char| !c.is_alphanumeric()) {
                match counts.get_mut(other) {
                    Some((_, count)) => *count += 1,
                    None => {
                        let distance = typo::spelling_distance(&word, other);
                        distance.map(|distance| counts.insert(other.into(), (distance, 1)));
                    }
                }
            }
            left > 0
        };
        for session in sessions.all.iter() {
            let (name, first) = (session.digest.name.as_deref().unwrap_or_default(), session.digest.title());
            let is_room = take(&fold(name)) && take(&fold(first));
            let is_room = is_room
                && self.with_texts(session, |texts| {
                    texts.is_none_or(|texts| take(texts.conversation.folded) && take(texts.summaries.folded))
                });
            if !is_room || (sessions.is_stale)() {
                break;
            }
        }
        let best = |(other, (distance, count)): &(String, (usize, usize))| {
            (std::cmp::Reverse(*distance), *count, std::cmp::Reverse(other.clone()))
        };
        counts.into_iter().max_by_key(best).map(|(other, _)| other).filter(|other| *other != word)
    }
}
