//! A session for the tests of qualifiers.

use crate::search::candidate::{Candidate, MachineName, TestResult};
use crate::search::qualifier::named;
use crate::search::qualifier::value::QueryScope;
use crate::session::digest::Digest;
use crate::session::digest::builder::DigestBuilder;
use crate::session::lines::Line;
use crate::session::search_titles::TitlesBuf;

/// A query scope 100 days after the beginning of 1970, in the home directory.
pub(crate) fn query_scope() -> QueryScope {
    QueryScope {
        now_ms: 100 * 86_400_000,
        home: "/home/Dev".into(),
        dir: "/home/Dev/code/app".into(),
        ..QueryScope::default()
    }
}

/// A configurable test session.
#[derive(Default)]
pub(crate) struct Sample {
    pub(super) digest: Digest,
    pub(super) titles: TitlesBuf,
    pub(super) is_live: bool,
    pub(super) has_forks: bool,
    pub(super) copies: Vec<MachineName>,
}

impl Sample {
    /// Creates a session in `/home/Dev/app` with these lines after its header.
    pub(crate) fn of(lines: &[&str]) -> Self {
        let mut builder = DigestBuilder::new("");
        builder.line(Line::new(0, br#"{"type":"session","version":3,"id":"s","cwd":"/home/Dev/app"}"#, true));
        lines.iter().for_each(|line| builder.line(Line::new(0, line.as_bytes(), true)));
        let digest = builder.finish(0, &mut |_| None).unwrap();
        Self { titles: TitlesBuf::new(&digest), digest, ..Self::default() }
    }

    /// Creates a session with a tool call in its second entry.
    pub(super) fn calling(tool: &str, path: &str) -> Self {
        let call = format!(r#"{{"type":"toolCall","id":"c","name":"{tool}","arguments":{{"path":"{path}"}}}}"#);
        Self::of(&[
            r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"x"}}"#,
            &format!(
                r#"{{"type":"message","id":"2","parentId":"1","message":{{"role":"assistant","model":"claude-Sonnet","content":[{call}]}}}}"#
            ),
        ])
    }

    pub(crate) fn candidate(&self) -> Candidate<'_> {
        let &Self { ref digest, ref titles, is_live, has_forks, ref copies } = self;
        Candidate { digest, titles: titles.as_titles(), texts: None, is_live, has_forks, copies }
    }

    /// Tests the session with a qualifier.
    pub(super) fn test(&self, qualifier: &str) -> TestResult {
        let (name, value) = qualifier.split_once(':').unwrap();
        (named(name).unwrap().read(value).unwrap().unwrap().condition(&query_scope()).test)(&self.candidate())
    }

    /// Returns `true` if the qualifier matches.
    pub(super) fn is(&self, qualifier: &str) -> bool {
        matches!(self.test(qualifier), TestResult::At(_))
    }
}
