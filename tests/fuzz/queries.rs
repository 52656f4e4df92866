//! Queries: parsed or rejected with the position of the error, completed at any position, and matched against sessions.

use std::sync::OnceLock;

use pitree::search::candidate::Candidate;
use pitree::search::matching::Matcher;
use pitree::search::qualifier::value::{QueryScope, ValueList, ValueLists};
use pitree::search::query::Query;
use pitree::search::query::complete::complete;
use pitree::session::digest::Digest;
use pitree::session::search_text;
use pitree::session::search_titles::TitlesBuf;

use crate::fuzz::{seeds, sessions};

/// Maximum size of a query in bytes; people type less.
const LONGEST: usize = 2000;

/// A session to match.
struct Known {
    digest: Digest,
    titles: TitlesBuf,
    texts: search_text::SearchTextBuilder,
}

/// Returns some of the seeds as sessions.
fn known() -> &'static [Known] {
    static KNOWN: OnceLock<Vec<Known>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let known = |file: Vec<u8>| {
            let digest = sessions::digest(&file)?;
            let mut builder = search_text::SearchTextBuilder::default();
            sessions::lines(&file).for_each(|line| builder.line(line));
            Some(Known { titles: TitlesBuf::new(&digest), texts: builder, digest })
        };
        seeds::sessions().into_iter().filter(|file| file.len() < 20_000).filter_map(known).step_by(4).collect()
    })
}

/// Parses a query, completes it and runs it.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(&data[..data.len().min(LONGEST)]);
    let here = QueryScope { now_ms: 1_795_248_000_000, home: "/home/demo".into(), ..QueryScope::default() };
    match Query::parse(&text) {
        Ok(query) => {
            let matcher = Matcher::new(&query, &here);
            for Known { digest, titles, texts } in known() {
                let texts = texts.texts().expect("texts of a session");
                let titles = titles.as_titles();
                let session =
                    Candidate { digest, titles, texts: Some(texts), is_live: false, has_forks: true, copies: &[] };
                if matcher.matches(&session).is_some() {
                    assert!(matcher.entries(digest, texts).iter().all(|(at, _)| (*at as usize) < digest.entry_count));
                }
                let marks = matcher.marks(digest.title(), true);
                assert!(marks.iter().all(|range| digest.title().get(range.clone()).is_some()), "{marks:?}");
            }
        }
        Err(problem) => {
            assert!(text.get(problem.at.clone()).is_some() && !problem.message.is_empty(), "{problem:?} in {text:?}");
        }
    }
    let files = ["/a b".to_string(), "~/é".into(), "//x".into()];
    let lists = ValueLists { files: files.to_vec(), ..ValueLists::default() };
    let values = ValueList { dirs: &files, tags: &[], worktrees: &[], machines: &[], lists: &lists };
    for cursor in (0..=text.len() + 2).step_by(1 + text.len() / 40) {
        let Some(completion) = complete(&text, cursor, values) else { continue };
        for option in completion.options.iter().take(4) {
            let mut done = text.clone().into_owned();
            done.replace_range(completion.at.clone(), &option.text);
            let _ = Query::parse(&done);
        }
    }
}
