//! The conditions of most qualifiers. The query scope has what is known of secrets, lost work, marks and worktrees.

use crate::base::machine_paths::{LOCAL_MACHINE, machine};
use crate::base::normalize::fold;
use crate::search::candidate::{Condition, EntryScope, MatchField, MatchPlace};
use crate::search::qualifier::value::{QueryScope, Text};
use crate::session::digest::commits::CommitPrefix;
use crate::session::entry::kind::EntryKind;
use crate::session::json::Str;
use crate::session::marks::Marks;
use crate::session::stats::entry_stats::{EntryStats, SessionStats};

/// Returns a test for names that contain a text.
fn contains(text: &Text) -> impl Fn(&str) -> bool + Clone + Send + Sync + use<> {
    let wanted = text.folded();
    move |name| fold(name).contains(&wanted)
}

/// `worktree:` The name or the branch of a git worktree.
pub(super) fn worktree(name: &Text, scope: &QueryScope) -> Condition {
    let (matches, worktrees) = (contains(name), scope.worktrees.clone());
    Condition::of_session(move |session| {
        let worktree = worktrees.of(&session.digest.header.cwd);
        let mut names = worktree.into_iter().flat_map(|tree| tree.branch.iter().chain([&tree.name]));
        names.any(|name| matches(name))
    })
}

/// `on:` The machines with a session, that of its file and those of its copies: by their whole names in any case.
pub(super) fn on(wanted: &Text, _: &QueryScope) -> Condition {
    let wanted = wanted.0.clone();
    Condition::of_session(move |session| {
        let is_named = |name: Option<&str>| name.unwrap_or(LOCAL_MACHINE).eq_ignore_ascii_case(&wanted);
        is_named(machine(&session.digest.path)) || session.copies.iter().any(|name| is_named(name.as_deref()))
    })
}

/// `label:` The labels of entries.
pub(super) fn label(label: &Text, _: &QueryScope) -> Condition {
    let wanted = label.folded();
    let entries = Condition::of_entries(None, {
        let wanted = wanted.clone();
        move |session| {
            let labels = session.titles.labels.each();
            labels.filter(|(_, label)| label.contains(&wanted)).map(|(entry, _)| entry).collect()
        }
    });
    let place = move |(entry, label): (_, &str)| {
        let at = label.find(&wanted)?;
        Some(MatchPlace { field: MatchField::Label, entry: Some(entry), at: at..at + wanted.len() })
    };
    Condition { test: Box::new(move |session| session.titles.labels.each().find_map(&place).into()), ..entries }
}

/// `commit:` and `is:committed`: the entries whose commands printed a matching commit, or any commit.
pub(super) fn commit(wanted: Option<CommitPrefix>) -> Condition {
    Condition::of_entries(None, move |session| {
        let commits = session.digest.commits.iter();
        let such = commits.filter(|commit| wanted.as_ref().is_none_or(|wanted| wanted.is_of(&commit.sha)));
        let mut entries: Vec<_> = such.map(|commit| commit.at).collect();
        entries.dedup();
        entries
    })
}

/// `tag:` The tags of a session. A leading `+` is optional.
pub(super) fn tag(wanted: &Text, scope: &QueryScope) -> Condition {
    let matches = contains(&Text(wanted.0.trim_start_matches('+').into()));
    marked(scope, move |marks, id| marks.tags(id).any(&matches))
}

/// `note:` The notes of a session and its entries.
pub(super) fn note(wanted: &Text, scope: &QueryScope) -> Condition {
    noted(Some(wanted), scope)
}

/// `note:` and `has:note`: a matching note, or any note.
pub(super) fn noted(wanted: Option<&Text>, scope: &QueryScope) -> Condition {
    let is_wanted = wanted.map(contains);
    let matches = move |note: &str| is_wanted.as_ref().is_none_or(|is_wanted| is_wanted(note));
    marked(scope, move |marks, id| {
        marks.note(id).is_some_and(&matches) || marks.entry_notes(id).any(|(_, note)| matches(note))
    })
}

/// Returns the condition on the marks of a session, by its key.
pub(super) fn marked(scope: &QueryScope, holds: impl Fn(&Marks, &str) -> bool + Send + Sync + 'static) -> Condition {
    let marks = scope.marks.clone();
    Condition::of_session(move |session| holds(&marks, &session.digest.header.marks_key()))
}

/// `is:unread` The sessions with messages that were not shown.
pub(super) fn unread(scope: &QueryScope) -> Condition {
    let seen = scope.last_seen.clone();
    Condition::of_session(move |session| seen.is_unread(|| session.digest.header.marks_key(), session.digest.modified))
}

/// `is:lost` The ends of the branches with lost work.
pub(super) fn lost(scope: &QueryScope) -> Condition {
    let known = scope.lost.clone();
    Condition::of_entries(None, move |session| {
        known.as_ref().map_or(Vec::new(), |known| known.ends(&session.digest.path).to_vec())
    })
}

/// `model:` The models that answered.
pub(super) fn model(model: &Text, _: &QueryScope) -> Condition {
    let matches = contains(model);
    let of_entry = matches.clone();
    let in_session = Condition::of_session(move |session| session.digest.details_once().model_names().any(&matches));
    in_session.with_entries(EntryScope::Read(Box::new(move |entry| {
        let answer = entry.message.as_ref().filter(|_| entry.kind == EntryKind::Assistant);
        let names = answer.into_iter().flat_map(|answer| [answer.model, answer.response_model]).flatten();
        names.into_iter().any(|name| of_entry(&name.text()))
    })))
}

/// `tool:` The tools that were called. A call counts at the entry of its result.
pub(super) fn tool(tool: &Text, _: &QueryScope) -> Condition {
    let matches = contains(tool);
    let of_entry = matches.clone();
    let in_session =
        Condition::of_session(move |session| session.digest.details_once().tools.keys().any(|tool| matches(tool)));
    in_session.with_entries(EntryScope::Read(Box::new(move |entry| {
        let result = entry.message.as_ref().filter(|_| entry.kind == EntryKind::ToolResult);
        let is_named = |name: Str<'_>| of_entry(&name.text());
        result.is_some_and(|result| {
            result.tool_name.is_some_and(is_named) || result.nested_calls().any(|nested| is_named(nested.call.name))
        })
    })))
}

/// `provider:` The providers of models that answered.
pub(super) fn provider(provider: &Text, _: &QueryScope) -> Condition {
    let matches = contains(provider);
    counted(move |stats, entry| stats.model_of(entry).is_some_and(|(provider, _)| matches(provider)))
}

/// `program:` The programs that shell commands ran first.
pub(super) fn program(program: &Text, _: &QueryScope) -> Condition {
    let matches = contains(program);
    counted(move |stats, entry| {
        let program = entry.program.and_then(|program| stats.programs.get(program as usize));
        program.is_some_and(|program| matches(program))
    })
}

/// Returns the condition on the statistics of entries.
pub(super) fn counted(matches: impl Fn(&SessionStats, &EntryStats) -> bool + Send + Sync + 'static) -> Condition {
    Condition::of_entries(None, move |session| {
        let stats = session.digest.stats();
        let entries = stats.entries();
        (0..).zip(&entries).filter(|(_, entry)| matches(&stats, entry)).map(|(at, _)| at).collect()
    })
}

/// `secret:` The likely secrets found by a matching rule.
pub(super) fn secret(rule: &Text, scope: &QueryScope) -> Condition {
    secrets(Some(rule), scope)
}

/// `secret:` and `is:secret`: the likely secrets found by a matching rule, or by any rule.
pub(super) fn secrets(rule: Option<&Text>, scope: &QueryScope) -> Condition {
    let matches = rule.map(contains);
    let is_wanted = move |name: &str| matches.as_ref().is_none_or(|matches| matches(name));
    let known = scope.secrets.clone();
    let entries = known.as_ref().map(|known| known.entries(&is_wanted)).unwrap_or_default();
    let in_session = Condition::of_session(move |session| {
        known.as_ref().is_some_and(|known| known.is_in(&session.digest.path, &is_wanted))
    });
    in_session
        .with_entries(EntryScope::Read(Box::new(move |entry| entry.id.is_some_and(|id| entries.contains(&*id.text())))))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::search::candidate::TestResult;
    use crate::search::known_secrets::{KnownSecret, KnownSecrets};
    use crate::search::lost_work::{LostSessions, LostWork};
    use crate::search::qualifier::named;
    use crate::search::qualifier::test_sample::{Sample, query_scope};
    use crate::session::entry::parse;
    use crate::session::marks::Mark;

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
            let EntryScope::Known(known) = commit(wanted).entries else { panic!("entries are known") };
            known(&session.candidate())
        };
        assert_eq!([entries(None), entries(Some("1a2b3c5")), entries(Some("fffffff"))], [vec![1], vec![1], vec![]]);
        assert!(!Sample::calling("bash", "x").is("is:committed"));
    }

    #[test]
    fn sessions_and_branch_ends_match() {
        let session = Sample::default();
        let work = LostWork { ends: vec![7, 3], files: Vec::new() };
        let known = LostSessions([(session.digest.path.clone(), work)].into());
        let scope = QueryScope { lost: Some(Arc::new(known)), ..query_scope() };
        assert_eq!((lost(&scope).test)(&session.candidate()), TestResult::At(None));
        let EntryScope::Known(ends) = lost(&scope).entries else { panic!("entries are known") };
        assert_eq!(ends(&session.candidate()), [7, 3]);
        assert_eq!((lost(&query_scope()).test)(&session.candidate()), TestResult::No);
    }

    #[test]
    fn sessions_match_by_their_marks() {
        let session = Sample::of(&[]);
        let (mut marks, id) = (Marks::default(), session.digest.header.marks_key().into_owned());
        let holds = |marks: &Marks, query: &str| {
            let (name, value) = query.split_once(':').unwrap();
            let here = QueryScope { marks: Arc::new(marks.clone()), ..query_scope() };
            let condition = named(name).unwrap().read(value).unwrap().unwrap().condition(&here);
            (condition.test)(&session.candidate()) != TestResult::No
        };
        let all = ["is:pinned", "tag:REL", "tag:+release", "has:tag", "has:note", "note:flaky"];
        assert!(all.iter().all(|query| !holds(&marks, query)));
        marks.set(&id, &Mark::EntryNote("e".into()).key(), Some("Flaky test".into()));
        assert_eq!(all.map(|query| holds(&marks, query)), [false, false, false, false, true, true]);
        marks.set(&id, &Mark::Tag("release".into()).key(), Some(true.into()));
        marks.set(&id, &Mark::Pin.key(), Some(true.into()));
        assert!(all.iter().all(|query| holds(&marks, query)));
        assert!(!holds(&marks, "tag:draft") && !holds(&marks, "note:x"));
    }

    #[test]
    fn sessions_and_copies_match_by_machine() {
        let mut session = Sample::default();
        let on = |session: &Sample| ["on:here", "on:BOX", "on:gpu", "on:bo"].map(|query| session.is(query));
        assert_eq!(on(&session), [true, false, false, false]);
        session.copies = vec![Some("gpu".into())];
        assert_eq!(on(&session), [true, false, true, false]);
        session.digest.path = "/data/machine-mirrors/box/%2Fs/--a--/a.jsonl".into();
        assert_eq!(on(&session), [false, true, true, false]);
        session.copies.push(None);
        assert_eq!(on(&session), [true; 3].into_iter().chain([false]).collect::<Vec<_>>()[..]);
    }

    #[test]
    fn sessions_and_entries_match_by_the_rule() {
        let session = Sample::default();
        let secret = KnownSecret { rule: "github-token".into(), entry: Some("e".into()) };
        let known = KnownSecrets([(session.digest.path.clone(), vec![secret])].into());
        let scope = QueryScope { secrets: Some(Arc::new(known)), ..query_scope() };
        for (rule, is_found) in [(None, true), (Some("GitHub"), true), (Some("aws"), false)] {
            let rule = rule.map(|rule| Text(rule.into()));
            let found = (secrets(rule.as_ref(), &scope).test)(&session.candidate());
            assert_eq!(found, if is_found { TestResult::At(None) } else { TestResult::No });
            let EntryScope::Read(has_secret) = secrets(rule.as_ref(), &scope).entries else {
                panic!("entries are read")
            };
            let entry = |id: &str| format!(r#"{{"type":"custom","id":"{id}","parentId":null,"customType":"x"}}"#);
            let is_in = |id: &str| has_secret(&parse::line(entry(id).as_bytes()).unwrap().unwrap());
            assert_eq!((is_in("e"), is_in("f")), (is_found, false));
        }
        assert_eq!((secrets(None, &query_scope()).test)(&session.candidate()), TestResult::No);
    }
}
