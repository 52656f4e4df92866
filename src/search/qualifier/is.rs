//! `is:` Categories of sessions, one row each.

use std::fmt;

use crate::base::archive_paths;
use crate::search::candidate::Candidate;
use crate::session::problem::Problem;
use crate::session::tree::EntryFeature;

/// A row of the table.
///
/// The name, its meaning, the feature of the entries that put a session into the category, and the test.
type CategoryRow = (&'static str, &'static str, Option<EntryFeature>, fn(&Candidate<'_>) -> bool);

/// The category of sessions with likely secrets.
const SECRET: &str = "secret";

/// The category of sessions with lost work.
const LOST: &str = "lost";

/// The category of sessions with commits.
const COMMITTED: &str = "committed";

/// The category of sessions with forks.
const FORKED: &str = "forked";

/// The category of sessions with an active pi.
const LIVE: &str = "live";

/// The category of pinned sessions.
const PINNED: &str = "pinned";

/// The category of unread sessions.
const UNREAD: &str = "unread";

/// The categories in display order.
const CATEGORIES: &[CategoryRow] = &[
    ("named", "sessions with a name", None, |session| session.digest.name.is_some()),
    ("labeled", "sessions with labels", Some(EntryFeature::Label), |session| !session.digest.labels.is_empty()),
    // `Category::is_committed` tells that the entries come from the digest.
    (COMMITTED, "sessions whose commands printed a commit", None, |session| !session.digest.commits.is_empty()),
    // `Category::is_pinned` tells that this test needs more than the session.
    (PINNED, "pinned sessions", None, |_| false),
    // `Category::is_unread` tells that this test needs more than the session.
    (UNREAD, "sessions with messages that pitree has not shown yet", None, |_| false),
    (FORKED, "sessions with forks", None, |session| session.has_forks),
    ("fork", "sessions forked from another session", None, |session| session.digest.header.is_fork()),
    ("branched", "sessions with branches", Some(EntryFeature::BranchPoint), |session| session.digest.branch_points > 0),
    // A file with several branch ends has at least one abandoned branch.
    ("abandoned", "sessions with abandoned branches", Some(EntryFeature::AbandonedEnd), |session| {
        session.digest.leaves > 1
    }),
    // `Category::is_lost` tells that this test needs more than the session.
    (LOST, "sessions whose lines are in no file on the disk and no git ref", None, |_| false),
    (LIVE, "sessions that a running pi is probably using", None, |session| session.is_live),
    ("damaged", "sessions with damaged files", Some(EntryFeature::Problem), |session| {
        session.digest.problems.iter().any(Problem::is_damage)
    }),
    ("archived", "archived sessions", None, |session| archive_paths::is_archived(&session.digest.path)),
    ("imported", "imported sessions", None, |session| session.digest.header.imported.is_some()),
    // `Category::is_secret` tells that this test needs more than the session.
    (SECRET, "sessions with likely secrets", None, |_| false),
    ("newer", "sessions in a newer format", None, |session| session.digest.header.is_newer()),
    ("empty", "sessions without user messages", None, |session| session.digest.first_message.is_none()),
];

/// A category, as an index into the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Category(usize);

impl Category {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        // The spelling of earlier versions.
        let name = if text == "labelled" { "labeled" } else { text };
        let found = CATEGORIES.iter().position(|(known, ..)| *known == name).map(Self);
        found.ok_or_else(|| format!("unknown value is:{text} (known: {})", Self::names().join(", ")))
    }

    pub(super) fn names() -> Vec<&'static str> {
        CATEGORIES.iter().map(|(name, ..)| *name).collect()
    }

    /// Describes the category with a name.
    pub(super) fn means(name: &str) -> &'static str {
        CATEGORIES.iter().find(|(known, ..)| *known == name).map_or("", |(_, means, ..)| means)
    }

    /// Returns `true` if the category depends on what is known of secrets, which the scope of a query has.
    pub(super) fn is_secret(self) -> bool {
        CATEGORIES[self.0].0 == SECRET
    }

    /// Returns `true` if the category depends on what is known of lost work, which the scope of a query has.
    pub(super) fn is_lost(self) -> bool {
        CATEGORIES[self.0].0 == LOST
    }

    /// Returns `true` for sessions with commits, whose entries the digest has.
    pub(super) fn is_committed(self) -> bool {
        CATEGORIES[self.0].0 == COMMITTED
    }

    /// Returns `true` if the category depends on lasting marks, which the scope of a query has.
    pub(super) fn is_pinned(self) -> bool {
        CATEGORIES[self.0].0 == PINNED
    }

    /// Returns `true` if the category depends on the shown messages, which the scope of a query has.
    pub(super) fn is_unread(self) -> bool {
        CATEGORIES[self.0].0 == UNREAD
    }

    /// Returns `true` if the category depends on other sessions or on running pis.
    pub(super) fn needs_relations(self) -> bool {
        matches!(CATEGORIES[self.0].0, FORKED | LIVE)
    }

    /// Returns the test for sessions.
    pub(super) fn holds(self) -> fn(&Candidate<'_>) -> bool {
        CATEGORIES[self.0].3
    }

    /// Returns the feature of the entries that put a session into the category.
    pub(super) fn feature(self) -> Option<EntryFeature> {
        CATEGORIES[self.0].2
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CATEGORIES[self.0].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::test_sample::Sample;
    use crate::session::digest;
    use crate::session::entry::EntryId;

    #[test]
    fn categories_that_depend_on_relations_need_them() {
        for name in Category::names() {
            let query = format!("is:{name}");
            let (alone, related) = (Sample::default(), Sample { is_live: true, has_forks: true, ..Sample::default() });
            let needs = crate::search::query::Query::parse(&query).unwrap().needs_relations();
            assert_eq!(alone.is(&query) != related.is(&query), needs, "{query}");
        }
    }

    #[test]
    fn sessions_have_the_expected_categories() {
        let kinds = |session: &Sample| -> Vec<&str> {
            Category::names().into_iter().filter(|name| session.is(&format!("is:{name}"))).collect()
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
        assert_eq!(kinds(&session), ["named", "labeled", "forked", "fork", "branched", "abandoned", "live"]);
        let mut newer = Sample::default();
        (newer.digest.header.version, newer.digest.problems) = (4.0, vec![Problem::Newer(4.0)]);
        newer.digest.header.parent_id = Some("gone".into());
        assert_eq!(kinds(&newer), ["fork", "newer", "empty"]);
        newer.digest.problems.push(Problem::CutOff);
        assert_eq!(kinds(&newer), ["fork", "damaged", "newer", "empty"]);
        newer.digest.path = "/archive/s.jsonl.zst".into();
        assert_eq!(kinds(&newer), ["fork", "damaged", "archived", "newer", "empty"]);
    }

    #[test]
    fn unknown_categories_are_reported_with_the_known_ones() {
        assert!(Category::read("nmaed").is_err_and(|what| what.contains("is:nmaed") && what.contains("abandoned")));
        assert_eq!(Category::read("labeled"), Category::read("labelled"));
    }
}
