//! Comparison of the search with pi's session picker (1.6.0; `scripts/pi/search.mjs`). Words, phrases and patterns find
//! the same sessions literally. Labels and summaries are excluded, because pi does not search them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use pitree::catalog::search_cache;
use pitree::disk::scan;
use pitree::search::candidate::{Candidate, MatchField};
use pitree::search::matching::{Matcher, Tier};
use pitree::search::qualifier::value::QueryScope;
use pitree::search::query::Query;
use pitree::session::digest::Digest;
use pitree::session::search_text::{PassagesBuf, SearchTextsBuf};
use pitree::session::search_titles::TitlesBuf;
use serde_json::Value;

use crate::agreement::world::{DIRS, World, assert_same, golden, short};

/// The sessions of the fixtures with their texts.
struct Sessions(BTreeMap<String, (Digest, SearchTextsBuf)>);

impl Sessions {
    fn read(world: &World) -> Self {
        let dirs: Vec<PathBuf> = DIRS.iter().map(|dir| world.root().join(dir)).collect();
        let found = scan::find(&dirs);
        let mut digests = BTreeMap::new();
        scan::read(&found.files, "/home/dev", |batch| {
            digests.extend(batch.sessions.into_iter().map(|session| (session.path.clone(), session)));
            true
        });
        let sessions = digests.into_iter().map(|(path, digest)| {
            let texts = search_cache::read_texts(&path).unwrap().unwrap();
            (short(&path, world.root()), ((*digest).clone(), texts))
        });
        Self(sessions.collect())
    }

    /// Removes the texts that pi does not search.
    fn limited_to_pi(mut self) -> Self {
        for (digest, texts) in self.0.values_mut() {
            digest.labels.clear();
            texts.summaries = PassagesBuf::default();
        }
        self
    }

    /// Returns the sessions found by a query, with tier and field.
    fn find(&self, query: &str) -> BTreeMap<&str, (Tier, Option<MatchField>)> {
        let query = Query::parse(query).unwrap();
        let here = QueryScope { home: "/home/dev".into(), ..QueryScope::default() };
        let matcher = Matcher::new(&query, &here);
        let found = self.0.iter().filter_map(|(path, (digest, texts))| {
            let titles = TitlesBuf::new(digest);
            let session = Candidate {
                digest,
                titles: titles.as_titles(),
                texts: Some(texts.as_texts()),
                is_live: false,
                has_forks: false,
                copies: &[],
            };
            let hit = matcher.matches(&session)?;
            Some((path.as_str(), (hit.tier, hit.place.map(|place| place.field))))
        });
        found.collect()
    }

    fn find_literally(&self, query: &str) -> BTreeSet<&str> {
        self.find(query)
            .into_iter()
            .filter(|(_, (tier, _))| !matches!(tier, Tier::Similar | Tier::Fuzzy))
            .map(|(path, _)| path)
            .collect()
    }
}

/// The intended differences, with their reasons.
const MEANT: &[&str] = &[
    // For pitree, the pattern is incomplete. pi finds nothing and reports an empty pattern.
    "re:: pitree takes it",
    // The file has these letters in decomposed form, and pi does not normalize.
    "é: only pitree finds sessions/--home-dev-app--/wide-text.jsonl",
    "É: only pitree finds sessions/--home-dev-app--/wide-text.jsonl",
    "ä: only pitree finds sessions/--home-dev-app--/wide-text.jsonl",
    "\"é ä\": only pitree finds sessions/--home-dev-app--/wide-text.jsonl",
    "re:\\u00e9|\\xE4: only pitree finds sessions/--home-dev-app--/wide-text.jsonl",
    "re:É|Ä: only pitree finds sessions/--home-dev-app--/wide-text.jsonl",
];

#[test]
fn finds_the_same_sessions_as_pi() {
    let world = World::new();
    let sessions = Sessions::read(&world).limited_to_pi();
    let list: Vec<Value> = serde_json::from_str(&golden("list.json")).unwrap();
    let in_both: BTreeSet<&str> = list
        .iter()
        .filter_map(|session| session["path"].as_str())
        .filter(|path| sessions.0.contains_key(*path))
        .collect();
    let queries: Vec<Value> = serde_json::from_str(&golden("search.json")).unwrap();
    let mut found = Vec::new();
    for answer in &queries {
        let query = answer["query"].as_str().unwrap();
        let (is_refused, pi_refuses) = (Query::parse(query).is_err(), !answer["error"].is_null());
        if is_refused || pi_refuses {
            let who = if is_refused { "pi" } else { "pitree" };
            found.extend((is_refused != pi_refuses).then(|| format!("{query}: {who} takes it")));
            continue;
        }
        let pi: BTreeSet<&str> = answer["literal"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let pitree = sessions.find_literally(query);
        let differ = pi.symmetric_difference(&pitree).filter(|path| in_both.contains(*path));
        found.extend(differ.map(|path| {
            let who = if pi.contains(path) { "pi" } else { "pitree" };
            format!("{query}: only {who} finds {path}")
        }));
    }
    assert_same(found, MEANT);
}

#[test]
fn also_finds_labels_and_summaries() {
    let world = World::new();
    let (all, pi) = (Sessions::read(&world), Sessions::read(&world).limited_to_pi());
    let queries: Vec<Value> = serde_json::from_str(&golden("search.json")).unwrap();
    for query in queries.iter().filter(|answer| answer["error"].is_null()) {
        let query = query["query"].as_str().unwrap();
        assert!(all.find_literally(query).is_superset(&pi.find_literally(query)), "{query}");
    }
    let added = |query: &str| {
        let known = pi.find_literally(query);
        let found = all.find(query).into_iter().filter(|(path, _)| !known.contains(path));
        found.map(|(path, (_, field))| (path.to_string(), field)).collect::<Vec<_>>()
    };
    let app = |name: &str| format!("sessions/--home-dev-app--/{name}.jsonl");
    assert_eq!(added("標籤"), [(app("wide-text"), Some(MatchField::Label))]);
    assert_eq!(added("\"## goal second\""), [(app("compaction"), Some(MatchField::Summary))]);
}
