//! `is:` Categories of sessions, one row each.

use std::fmt;

use crate::search::candidate::Candidate;
use crate::search::qualifier::definition::{EntryScope, Qualifier, Test};
use crate::search::qualifier::value::QualifierValue;
use crate::search::scope::QueryScope;
use crate::session::problem::Problem;
use crate::session::tree::features::EntryFeature;

pub(crate) struct Is;

/// A row of the table.
struct IsRow {
    name: &'static str,
    means: &'static str,
    /// The feature of the entries that put a session into the category.
    entries: Option<EntryFeature>,
    holds: fn(&Candidate<'_>) -> bool,
}

const fn row(
    name: &'static str,
    means: &'static str,
    entries: Option<EntryFeature>,
    holds: fn(&Candidate<'_>) -> bool,
) -> IsRow {
    IsRow { name, means, entries, holds }
}

/// The categories in display order.
const KINDS: &[IsRow] = &[
    row("named", "sessions with a name", None, |session| session.digest.name.is_some()),
    row("labelled", "sessions with labels", Some(EntryFeature::Label), |session| !session.digest.labels.is_empty()),
    row("forked", "sessions from which others were forked", None, |session| session.has_forks),
    row("fork", "sessions that were forked from another one", None, |session| session.digest.header.is_fork()),
    row("branched", "sessions with branches", Some(EntryFeature::BranchPoint), |session| {
        session.digest.branch_points > 0
    }),
    // A file with several branch ends has at least one abandoned branch.
    row("abandoned", "sessions with branches that were left", Some(EntryFeature::AbandonedEnd), |session| {
        session.digest.leaves > 1
    }),
    row("live", "sessions in which a pi is at work", None, |session| session.is_live),
    row("damaged", "sessions that can't be read as a whole", Some(EntryFeature::Problem), |session| {
        session.digest.problems.iter().any(|problem| !matches!(problem, Problem::Newer(_)))
    }),
    row("newer", "sessions of a version that pitree doesn't know", None, |session| session.digest.header.is_newer()),
    row("empty", "sessions without messages of the user", None, |session| session.digest.first_message.is_none()),
];

/// A category, as an index into the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct IsKind(usize);

impl QualifierValue for IsKind {
    fn read(text: &str) -> Result<Option<Self>, String> {
        // The spelling of pi.
        let name = if text == "labeled" { "labelled" } else { text };
        let kind = KINDS.iter().position(|row| row.name == name).map(Self);
        kind.map(Some).ok_or_else(|| format!("unknown value is:{text} (known: {})", Self::forms().join(", ")))
    }

    fn forms() -> Vec<&'static str> {
        KINDS.iter().map(|row| row.name).collect()
    }

    fn choices() -> Vec<&'static str> {
        Self::forms()
    }
}

impl fmt::Display for IsKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KINDS[self.0].name)
    }
}

impl Qualifier for Is {
    type Value = IsKind;

    const NAME: &'static str = "is";
    const HELP: &'static str = "of a kind; abandoned ones have branches that were left";
    const EXAMPLE: &'static str = "is:abandoned";

    fn means(kind: &str) -> &'static str {
        KINDS.iter().find(|row| row.name == kind).map_or("", |row| row.means)
    }

    fn test(kind: &IsKind, _: &QueryScope) -> Test {
        let holds = KINDS[kind.0].holds;
        Box::new(move |session| holds(session).into())
    }

    fn scope(kind: &IsKind, _: &QueryScope) -> EntryScope {
        KINDS[kind.0].entries.map_or(EntryScope::Session, EntryScope::Tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::sample::Sample;
    use crate::session::digest;
    use crate::session::entry::EntryId;

    #[test]
    fn each_kind_is_told_from_the_others() {
        let kinds = |session: &Sample| -> Vec<&str> {
            IsKind::forms().into_iter().filter(|kind| session.is::<Is>(kind)).collect()
        };
        let mut session = Sample::default();
        assert_eq!(kinds(&session), ["empty"]);
        session.digest.first_message = Some("x".into());
        assert_eq!(kinds(&session), [""; 0]);
        (session.has_forks, session.is_live) = (true, true);
        session.digest.header.parent_session = Some("gone".into());
        assert_eq!(kinds(&session), ["forked", "fork", "live"]);
        let label =
            digest::DigestLabel { entry: EntryId::Place(0), at: 0, text: "x".into(), time: None, row: "".into() };
        (session.digest.name, session.digest.labels) = (Some("x".into()), vec![label]);
        (session.digest.branch_points, session.digest.leaves) = (1, 2);
        assert_eq!(kinds(&session), ["named", "labelled", "forked", "fork", "branched", "abandoned", "live"]);
        let mut newer = Sample::default();
        (newer.digest.header.version, newer.digest.problems) = (4.0, vec![Problem::Newer(4.0)]);
        newer.digest.header.parent_id = Some("gone".into());
        assert_eq!(kinds(&newer), ["fork", "newer", "empty"]);
        newer.digest.problems.push(Problem::CutOff);
        assert_eq!(kinds(&newer), ["fork", "damaged", "newer", "empty"]);
    }

    #[test]
    fn says_which_kinds_there_are() {
        assert!(IsKind::read("nmaed").is_err_and(|what| what.contains("is:nmaed") && what.contains("abandoned")));
        assert_eq!(IsKind::read("labeled"), IsKind::read("labelled"));
    }
}
