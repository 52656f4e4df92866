//! The categories of sessions: the values of `is:` and `has:`, one row each.

use std::fmt;

use crate::base::archive_paths;
use crate::search::candidate::{Candidate, Condition, EntryScope};
use crate::search::qualifier::conditions;
use crate::search::qualifier::value::{Needs, QueryScope};
use crate::session::marks::Marks;
use crate::session::problem::Problem;
use crate::session::stats::entry_stats::EntryRole;
use crate::session::tree::EntryFeature;

/// A row of a table.
pub(super) struct CategoryRow {
    name: &'static str,
    /// The meaning.
    means: &'static str,
    needs: Needs,
    condition: CategoryCondition,
}

/// The condition of a category.
enum CategoryCondition {
    /// A test of the session.
    Session(fn(&Candidate<'_>) -> bool),
    /// A test of the session, and the feature of the entries that put it into the category.
    Feature(EntryFeature, fn(&Candidate<'_>) -> bool),
    /// A condition that needs more than the session.
    Scope(fn(&QueryScope) -> Condition),
    /// The entries of a role.
    Role(EntryRole),
}

use CategoryCondition::{Feature, Role, Scope, Session};

const fn row(name: &'static str, means: &'static str, needs: Needs, condition: CategoryCondition) -> CategoryRow {
    CategoryRow { name, means, needs, condition }
}

/// The categories of `is:` in display order.
pub(super) static IS: &[CategoryRow] = &[
    row("named", "sessions with a name", Needs::NOTHING, Session(|session| session.digest.name.is_some())),
    row(
        "labeled",
        "sessions with labels",
        Needs::NOTHING,
        Feature(EntryFeature::Label, |session| !session.digest.labels.is_empty()),
    ),
    row("committed", "sessions whose commands printed a commit", Needs::NOTHING, Scope(|_| conditions::commit(None))),
    row("pinned", "pinned sessions", Needs::MARKS, Scope(|here| conditions::marked(here, Marks::is_pinned))),
    row("unread", "sessions with messages that pitree has not shown yet", Needs::LAST_SEEN, Scope(conditions::unread)),
    row("forked", "sessions with forks", Needs::RELATIONS, Session(|session| session.has_forks)),
    row(
        "fork",
        "sessions forked from another session",
        Needs::NOTHING,
        Session(|session| session.digest.header.is_fork()),
    ),
    row(
        "branched",
        "sessions with branches",
        Needs::NOTHING,
        Feature(EntryFeature::BranchPoint, |session| session.digest.branch_points > 0),
    ),
    // A file with several branch ends has at least one abandoned branch.
    row(
        "abandoned",
        "sessions with abandoned branches",
        Needs::NOTHING,
        Feature(EntryFeature::AbandonedEnd, |session| session.digest.leaves > 1),
    ),
    row(
        "lost",
        "sessions whose lines are in no file on the disk and no git ref",
        Needs::LOST_WORK,
        Scope(conditions::lost),
    ),
    row("live", "sessions that a running pi is probably using", Needs::RELATIONS, Session(|session| session.is_live)),
    row(
        "damaged",
        "sessions with damaged files",
        Needs::NOTHING,
        Feature(EntryFeature::Problem, |session| session.digest.problems.iter().any(Problem::is_damage)),
    ),
    row(
        "archived",
        "archived sessions",
        Needs::NOTHING,
        Session(|session| archive_paths::is_archived(&session.digest.path)),
    ),
    row("imported", "imported sessions", Needs::NOTHING, Session(|session| session.digest.header.imported.is_some())),
    row("secret", "sessions with likely secrets", Needs::SECRETS, Scope(|here| conditions::secrets(None, here))),
    row("newer", "sessions in a newer format", Needs::NOTHING, Session(|session| session.digest.header.is_newer())),
    row(
        "empty",
        "sessions without user messages",
        Needs::NOTHING,
        Session(|session| session.digest.first_message.is_none()),
    ),
];

/// The kinds of marks of `has:` in display order.
pub(super) static HAS: &[CategoryRow] = &[
    row("note", "sessions with a note, also on an entry", Needs::MARKS, Scope(|here| conditions::noted(None, here))),
    row(
        "tag",
        "sessions with a tag",
        Needs::MARKS,
        Scope(|here| conditions::marked(here, |marks, session| marks.tags(session).next().is_some())),
    ),
];

/// The roles of `role:` in display order.
pub(super) static ROLES: &[CategoryRow] = &[
    row("user", "messages of the user", Needs::NOTHING, Role(EntryRole::Prompt)),
    row("assistant", "messages of an assistant", Needs::NOTHING, Role(EntryRole::Answer)),
    row("tool", "results of tools", Needs::NOTHING, Role(EntryRole::Result)),
];

/// A category.
#[derive(Clone, Copy)]
pub(crate) struct Category(&'static CategoryRow);

impl Category {
    /// Reads a value of a qualifier.
    pub(super) fn read(qualifier: &str, table: &'static [CategoryRow], text: &str) -> Result<Self, String> {
        // The spelling of earlier versions, and `from:me`.
        let name = match text {
            "labelled" => "labeled",
            "me" => "user",
            _ => text,
        };
        let found = table.iter().find(|row| row.name == name).map(Self);
        found.ok_or_else(|| format!("unknown value {qualifier}:{text} (known: {})", names(table).join(", ")))
    }

    /// Returns the needs of the condition.
    pub(super) fn needs(self) -> Needs {
        self.0.needs
    }

    /// Compiles the category.
    pub(super) fn condition(self, scope: &QueryScope) -> Condition {
        match self.0.condition {
            Session(holds) => Condition::of_session(holds),
            Feature(feature, holds) => Condition::of_session(holds).with_entries(EntryScope::Tree(feature)),
            Scope(condition) => condition(scope),
            Role(role) => conditions::counted(move |_, entry| entry.role == role),
        }
    }

    /// Returns the role, if the category is one.
    pub(super) fn role(self) -> Option<EntryRole> {
        if let Role(role) = self.0.condition { Some(role) } else { None }
    }
}

/// Returns the names of categories.
pub(super) fn names(table: &'static [CategoryRow]) -> Vec<&'static str> {
    table.iter().map(|row| row.name).collect()
}

/// Describes the category with a name.
pub(super) fn means(table: &'static [CategoryRow], name: &str) -> &'static str {
    table.iter().find(|row| row.name == name).map_or("", |row| row.means)
}

impl PartialEq for Category {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl fmt::Debug for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::test_sample::Sample;
    use crate::search::query::Query;
    use crate::session::digest;
    use crate::session::entry::EntryId;

    #[test]
    fn categories_that_depend_on_relations_need_them() {
        for CategoryRow { name, .. } in IS {
            let query = format!("is:{name}");
            let (alone, related) = (Sample::default(), Sample { is_live: true, has_forks: true, ..Sample::default() });
            let needs = Query::parse(&query).unwrap().needs(Needs::RELATIONS);
            assert_eq!(alone.is(&query) != related.is(&query), needs, "{query}");
        }
    }

    #[test]
    fn sessions_have_the_expected_categories() {
        let kinds = |session: &Sample| -> Vec<&str> {
            names(IS).into_iter().filter(|name| session.is(&format!("is:{name}"))).collect()
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
        let read = |value: &str| Category::read("is", IS, value);
        assert!(read("nmaed").is_err_and(|what| what.contains("is:nmaed") && what.contains("abandoned")));
        assert_eq!(read("labeled"), read("labelled"));
    }
}
