//! The facts about a session in all of its records.

use std::borrow::Cow;
use std::path::Path;

use serde::Serialize;

use crate::base::safe_json::PathFields;
use crate::base::{machine_paths, paths};
use crate::secrets::{Redactor, Rules};
use crate::session::worktrees::Worktrees;

/// A session to read.
pub(super) struct PreparedSession<'a> {
    pub(super) path: &'a Path,
    pub(super) id: &'a str,
    pub(super) cwd: &'a str,
    pub(super) family: &'a str,
    pub(super) project: &'a str,
    pub(super) worktrees: &'a Worktrees,
    pub(super) home: &'a str,
    /// The time of the run.
    pub(super) run: &'a str,
    /// The rules of redaction; `None` to keep secrets.
    pub(super) rules: Option<&'a Rules>,
}

/// The facts about the session of a record.
#[derive(Serialize)]
pub(super) struct SessionFields<'a> {
    machine: Option<&'a str>,
    #[serde(flatten)]
    path: PathFields,
    session: Cow<'a, str>,
    family: Cow<'a, str>,
    project: Cow<'a, str>,
    run: &'a str,
}

/// Returns the path of a session on its machine, without likely secrets. It depends only on the path, because it
/// identifies the session.
fn masked(path: &Path, rules: Option<&Rules>) -> PathFields {
    let path_bytes = paths::non_utf8_base64(path);
    let there = machine_paths::remote_path(path);
    let path = there.as_deref().unwrap_or(path).to_string_lossy().into_owned();
    let (path, path_bytes) = match rules.map(|rules| rules.mask(&path)) {
        Some(Cow::Owned(path)) => (path, None),
        _ => (path, path_bytes),
    };
    PathFields { path, path_bytes, remote: None }
}

impl<'a> SessionFields<'a> {
    /// Creates the facts about a session, without likely secrets.
    pub(super) fn new(session: &'a PreparedSession<'a>, redactor: Option<&Redactor<'_>>) -> Self {
        let redacted = |text: &'a str| match redactor {
            Some(redactor) => Cow::Owned(redactor.apply(text).into_owned()),
            None => Cow::Borrowed(text),
        };
        let path = masked(session.path, session.rules);
        let [id, family, project] = [session.id, session.family, session.project].map(redacted);
        Self { machine: machine_paths::machine(session.path), path, session: id, family, project, run: session.run }
    }
}
