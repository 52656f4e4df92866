//! The conditions of `commit:` and `is:committed`.

use crate::search::candidate::{EntryScope, Test};
use crate::session::digest::commits::{CommitPrefix, DigestCommit};

/// Returns the test for sessions with a matching commit, or any commit.
pub(super) fn test(wanted: Option<&CommitPrefix>) -> Test {
    let is_such = by(wanted);
    Box::new(move |session| session.digest.commits.iter().any(&is_such).into())
}

/// Returns the entries whose commands made such commits.
pub(super) fn scope(wanted: Option<&CommitPrefix>) -> EntryScope {
    let is_such = by(wanted);
    EntryScope::Known(Box::new(move |session| {
        let such = session.digest.commits.iter().filter(|commit| is_such(commit));
        let mut entries: Vec<_> = such.map(|commit| commit.at).collect();
        entries.dedup();
        entries
    }))
}

fn by(wanted: Option<&CommitPrefix>) -> impl Fn(&DigestCommit) -> bool + Send + Sync + use<> {
    let wanted = wanted.cloned();
    move |commit| wanted.as_ref().is_none_or(|wanted| wanted.is_of(&commit.sha))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::test_sample::Sample;

    #[test]
    fn sessions_and_entries_match_by_their_commits() {
        let session = Sample::of(&[
            r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"x"}}"#,
            r#"{"type":"message","id":"2","parentId":"1","message":{"role":"bashExecution","command":"git commit -m a; git commit -m b","output":"[main 1a2b3c4] a\n[main 1a2b3c5] b","exitCode":0}}"#,
        ]);
        for (query, is_found) in
            [("commit:1a2b3c4", true), ("commit:1A2B3C5D6E", true), ("commit:1a2b3c6", false), ("is:committed", true)]
        {
            assert_eq!(session.is(query), is_found, "{query}");
        }
        let entries = |wanted: Option<&str>| {
            let wanted = wanted.and_then(|text| CommitPrefix::read(text).unwrap());
            let EntryScope::Known(known) = scope(wanted.as_ref()) else { panic!("entries are known") };
            known(&session.candidate())
        };
        assert_eq!([entries(None), entries(Some("1a2b3c5")), entries(Some("fffffff"))], [vec![1], vec![1], vec![]]);
        assert!(!Sample::calling("bash", "x").is("is:committed"));
    }
}
