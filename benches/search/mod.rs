//! Benchmarks of session searches: the time per key in the query, and searches in texts that are not in memory.

use std::path::Path;
use std::sync::Arc;

use divan::{Bencher, black_box};
use pitree::base::normalize::{fold, fold_into};
use pitree::catalog::Catalog;
use pitree::catalog::grep::{self, HitOrder};
use pitree::catalog::search::{SearchedSession, Searcher};
use pitree::disk::scan;
use pitree::search::qualifier::value::QueryScope;
use pitree::search::query::Query;
use pitree::session::digest::Digest;

use crate::corpus::{self, Random};

/// Measures one key: matches all sessions against a query, after another query that shares no results with it. Sorts
/// the hits and finds their entries.
fn key(bencher: Bencher, searcher: &Searcher, sessions: &Arc<[SearchedSession]>, query: &str) {
    let here = QueryScope { home: "/home/dev".into(), ..QueryScope::default() };
    let [query, other] = [query, "is:damaged"].map(|query| Query::parse(query).unwrap());
    let search = |query: &Query| {
        let hits = searcher.search(sessions, (query, &here), || false).unwrap();
        searcher.assign_entries(sessions, (query, &here), hits, || false).unwrap()
    };
    bencher.with_inputs(|| search(&other)).bench_local_values(|_| search(black_box(&query)));
}

/// Searches 10,000 sessions whose texts are not loaded: a frequent word, letters of two words, unmatched letters,
/// several words, qualifiers. Many first messages are long, some as long as the searched prefix.
#[divan::bench(args = ["token", "rftok", "sesmodl", "zqxj", "aut prs slw", "in:~/code after:1970", "re:par(s|z)er.*slow"])]
fn key_in_10000_sessions(bencher: Bencher, query: &str) {
    let mut random = Random::new(3);
    let session = |at: usize| {
        let mut digest = Digest { modified: Some(at as i64), path: format!("{at}.jsonl").into(), ..Digest::default() };
        digest.header.id = format!("{at:08x}-0000-7000-8000-000000000000");
        digest.header.cwd = format!("/home/dev/code/project-{:02}", random.below(37));
        digest.name = at.is_multiple_of(3).then(|| corpus::words(&mut random, 4));
        let words = 5 + random.below(80);
        digest.first_message = Some(corpus::words(&mut random, words));
        digest
    };
    let mut catalog = Catalog::default();
    catalog.add((0..10_000usize).map(session).collect());
    key(bencher, &Searcher::default(), &catalog.searched_sessions(), query);
}

/// Runs the same searches in the conversations of 1 GB.
#[divan::bench(args = ["token", "rftok", "zqxj", "\"query slow cache\"", "re:par(s|z)er.*slow", r"re:(\w+) \1 (?=slow)"], sample_count = 20)]
fn key_in_conversations_of_1_gb(bencher: Bencher, query: &str) {
    let (searcher, sessions) = (Searcher::default(), sessions_of_1_gb());
    searcher.read(&sessions, |_, _| true);
    key(bencher, &searcher, &sessions, query);
}

fn sessions_of_1_gb() -> Arc<[SearchedSession]> {
    let dirs = [crate::many(2000, 1_000_000_000)];
    let catalog = Catalog::read(scan::ScanSources { dirs: &dirs, home: "/home/dev", cache: None }, 0);
    assert_eq!(catalog.len(), 2000);
    catalog.searched_sessions()
}

/// Measures the cached texts of 1 GB.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn texts_of_1_gb(bencher: Bencher) {
    let sessions = sessions_of_1_gb();
    bencher.bench(|| {
        let searcher = Searcher::default();
        searcher.read(&sessions, |_, _| true);
        searcher
    });
}

/// Searches tool output and the full text of 1 GB. Some words have no match: the first resembles text in every line, the second has
/// other letters, the third is in field names.
///
/// Other words are in every session; for these the search returns as many hits as a person reads.
#[divan::bench(args = ["kubernetes", "context", "привет", "message", "token", "漢字", "auth größe"], sample_count = 5, sample_size = 1)]
fn everything_in_1_gb(bencher: Bencher, words: &str) {
    let found = scan::find(&[crate::many(2000, 1_000_000_000)]);
    let paths: Vec<&Path> = found.files.iter().map(|file| file.path.as_path()).collect();
    let words: Vec<String> = words.split(' ').map(String::from).collect();
    bencher.bench(|| {
        let mut hits = 0;
        grep::each(
            &paths,
            (&words, &[]),
            (50, HitOrder::Found),
            || false,
            |batch| {
                hits += batch.hits.len();
                hits < 2000
            },
        );
    });
}

/// Measures the time until the first hits.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn first_hits_in_everything(bencher: Bencher) {
    let found = scan::find(&[crate::many(2000, 1_000_000_000)]);
    let paths: Vec<&Path> = found.files.iter().map(|file| file.path.as_path()).collect();
    let words = ["token".to_string()];
    bencher.bench(|| {
        grep::each(&paths, (&words, &[]), (50, HitOrder::Found), || false, |batch| batch.hits.is_empty());
    });
}

/// 1 MB of plain text, and of text with other letters in every line.
#[divan::bench(args = ["The quick brown fox. ", "Die größten Füchse — 漢字. "])]
fn fold_1_mb(bencher: Bencher, text: &str) {
    let text = text.repeat(1_000_000 / text.len());
    assert_eq!(fold(&text).chars().count(), text.chars().count());
    let mut out = String::new();
    bencher.bench_local(|| {
        out.clear();
        fold_into(&mut out, black_box(&text));
    });
}
