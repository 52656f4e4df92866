//! `is:` Kinds of sessions: a row a kind.

use std::fmt;

use crate::search::candidate::Candidate;
use crate::search::here::HereAndNow;
use crate::search::qualifier::shape::{Qualifier, Test};
use crate::search::qualifier::value::Value;
use crate::session::problem::Problem;

pub(crate) struct Is;

/// What makes a session one of a kind.
type IsOne = fn(&Candidate<'_>) -> bool;

/// The kinds, in the order in which they are shown.
const KINDS: &[(&str, &str, IsOne)] = &[
    ("named", "sessions with a name", |session| session.digest.name.is_some()),
    ("labelled", "sessions with labels", |session| !session.digest.labels.is_empty()),
    ("forked", "sessions from which others were forked", |session| session.has_forks),
    ("fork", "sessions that were forked from another one", |session| session.digest.header.is_fork()),
    ("branched", "sessions with branches", |session| session.digest.branch_points > 0),
    // With more than one end at least one was left.
    ("abandoned", "sessions with branches that were left", |session| session.digest.leaves > 1),
    ("live", "sessions in which a pi is at work", |session| session.is_live),
    ("damaged", "sessions that can't be read as a whole", |session| {
        session.digest.problems.iter().any(|problem| !matches!(problem, Problem::Newer(_)))
    }),
    ("newer", "sessions of a version that pitree doesn't know", |session| session.digest.header.is_newer()),
    ("empty", "sessions in which nobody said anything", |session| session.digest.first_message.is_none()),
];

/// A kind, by its place in the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kind(usize);

impl Value for Kind {
    fn read(text: &str) -> Result<Option<Self>, String> {
        // pi spells it so.
        let name = if text == "labeled" { "labelled" } else { text };
        let kind = KINDS.iter().position(|(kind, ..)| *kind == name).map(Self);
        kind.map(Some).ok_or_else(|| format!("unknown value is:{text} (known: {})", Self::forms().join(", ")))
    }

    fn forms() -> Vec<&'static str> {
        KINDS.iter().map(|(name, ..)| *name).collect()
    }

    fn choices() -> Vec<&'static str> {
        Self::forms()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KINDS[self.0].0)
    }
}

impl Qualifier for Is {
    type Value = Kind;

    const NAME: &'static str = "is";
    const HELP: &'static str = "of a kind; abandoned ones have branches that were left";
    const EXAMPLE: &'static str = "is:abandoned";

    fn means(kind: &str) -> &'static str {
        KINDS.iter().find(|(name, ..)| *name == kind).map_or("", |(_, means, _)| *means)
    }

    fn test(kind: &Kind, _: &HereAndNow) -> Test {
        let (.., is_one) = KINDS[kind.0];
        Box::new(move |session| is_one(session).into())
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
            Kind::forms().into_iter().filter(|kind| session.is::<Is>(kind)).collect()
        };
        let mut session = Sample::default();
        assert_eq!(kinds(&session), ["empty"]);
        session.digest.first_message = Some("x".into());
        assert_eq!(kinds(&session), [""; 0]);
        (session.has_forks, session.is_live) = (true, true);
        session.digest.header.parent_session = Some("gone".into());
        assert_eq!(kinds(&session), ["forked", "fork", "live"]);
        let label = digest::Label { entry: EntryId::Place(0), at: 0, text: "x".into(), time: None, row: "".into() };
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
        assert!(Kind::read("nmaed").is_err_and(|what| what.contains("is:nmaed") && what.contains("abandoned")));
        assert_eq!(Kind::read("labeled"), Kind::read("labelled"));
    }
}
