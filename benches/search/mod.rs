//! How long a key in the query takes, and what is searched beyond what is kept in memory.

use std::path::Path;

use divan::{Bencher, black_box};
use pitree::base::fold::{fold, fold_into};
use pitree::disk::files::Files;
use pitree::disk::scan;
use pitree::library::Library;
use pitree::library::grep;
use pitree::library::grep::Wanted;
use pitree::library::search::Searcher;
use pitree::library::texts;
use pitree::search::candidate::{Candidate, TitlesBuf};
use pitree::search::here::HereAndNow;
use pitree::search::matching::{Match, Matcher};
use pitree::search::query::Query;
use pitree::session::digest::Digest;
use pitree::session::texts::TextsBuf;

use crate::corpus::{self, Random};

/// Sessions with all that is known of them.
struct Sessions(Vec<(Digest, TitlesBuf, Option<TextsBuf>)>);

impl Sessions {
    /// 10,000 without their texts. First messages are long, some of them as much as is looked at.
    fn digests() -> Self {
        let mut random = Random::new(3);
        let session = |at: usize| {
            let mut digest = Digest { modified: Some(at as i64), ..Digest::default() };
            digest.header.id = format!("{at:08x}-0000-7000-8000-000000000000");
            digest.header.cwd = format!("/home/dev/code/project-{:02}", random.below(37));
            digest.name = at.is_multiple_of(3).then(|| corpus::words(&mut random, 4));
            let words = 5 + random.below(80);
            digest.first_message = Some(corpus::words(&mut random, words));
            (TitlesBuf::new(&digest), digest)
        };
        Self((0..10_000usize).map(session).map(|(titles, digest)| (digest, titles, None)).collect())
    }

    /// Those of 1 GB in 2,000 files, with their texts.
    fn texts() -> Self {
        let found = scan::find(Files::Disk, &[crate::many(2000, 1_000_000_000)]);
        let mut digests = Vec::new();
        scan::read(Files::Disk, &found.files, "/home/dev", |batch| {
            digests.extend(batch.sessions);
            true
        });
        let with_texts = |digest: Digest| {
            let texts = texts::of(Files::Disk, &digest.path).unwrap();
            (TitlesBuf::new(&digest), texts, digest)
        };
        let sessions = digests.into_iter().map(with_texts);
        Self(sessions.map(|(titles, texts, digest)| (digest, titles, texts)).collect())
    }

    /// What a key does: all sessions tried, the hits in order.
    fn find(&self, query: &str) -> Vec<Match> {
        let here = HereAndNow { now_ms: 0, home: "/home/dev".into(), zone: jiff::tz::TimeZone::UTC };
        let matcher = Matcher::new(&Query::parse(query).unwrap(), &here);
        let candidates = self.0.iter().map(|(digest, titles, texts)| Candidate {
            digest,
            titles: titles.as_titles(),
            texts: texts.as_ref().map(TextsBuf::as_texts),
            is_live: false,
            has_forks: false,
        });
        let mut hits: Vec<Match> = candidates.filter_map(|session| matcher.matches(&session)).collect();
        hits.sort_by_key(Match::rank);
        hits
    }
}

/// A word that is in many, letters of two words, letters that are nowhere, several words, qualifiers.
#[divan::bench(args = ["token", "rftok", "sesmodl", "zqxj", "aut prs slw", "in:~/code after:1970", "re:par(s|z)er.*slow"])]
fn key_in_10000_sessions(bencher: Bencher, query: &str) {
    let sessions = Sessions::digests();
    bencher.bench_local(|| sessions.find(black_box(query)));
}

/// The same in the conversations of 1 GB.
#[divan::bench(args = ["token", "rftok", "zqxj", "\"query slow cache\"", "re:par(s|z)er.*slow", r"re:(\w+) \1 (?=slow)"], sample_count = 20)]
fn key_in_conversations_of_1_gb(bencher: Bencher, query: &str) {
    let sessions = Sessions::texts();
    bencher.bench_local(|| sessions.find(black_box(query)));
}

/// What is kept in memory of 1 GB.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn texts_of_1_gb(bencher: Bencher) {
    let dirs = [crate::many(2000, 1_000_000_000)];
    let library = Library::read((Files::Disk, &dirs, "/home/dev"), 0, Path::to_path_buf);
    let sessions = library.sought();
    assert_eq!(sessions.len(), 2000);
    bencher.bench(|| {
        let searcher = Searcher::default();
        searcher.read(Files::Disk, &sessions, |_, _| true);
        searcher
    });
}

/// Tool output and all of 1 GB: words that are nowhere (one like what stands in every line, one of other letters, one in
/// the names of fields), and some that are in every session, of which as many hits are given as a person looks at.
#[divan::bench(args = ["kubernetes", "context", "привет", "message", "token", "漢字", "auth größe"], sample_count = 5, sample_size = 1)]
fn everything_in_1_gb(bencher: Bencher, words: &str) {
    let found = scan::find(Files::Disk, &[crate::many(2000, 1_000_000_000)]);
    let words: Vec<String> = words.split(' ').map(String::from).collect();
    bencher.bench(|| grep::each(Files::Disk, &found.files, Wanted::new(&words), || false, |_| true));
}

/// Until the first hits are there.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn first_hits_in_everything(bencher: Bencher) {
    let found = scan::find(Files::Disk, &[crate::many(2000, 1_000_000_000)]);
    let words = ["token".to_string()];
    bencher.bench(|| {
        grep::each(Files::Disk, &found.files, Wanted::new(&words), || false, |batch| batch.hits.is_empty());
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
