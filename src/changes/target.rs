//! Files, sessions and changes as the user saw them, because a request does not change others, and what a request makes
//! of them: imports, moves, marks and names.

use std::path::PathBuf;

use serde_json::Value;

use crate::base::text::clean;
use crate::disk::locate::Located;
use crate::session::digest::Digest;
use crate::session::digest::facts::SessionFacts;
use crate::session::links::IdHash;
use crate::session::marks::Mark;

/// A session to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportRequest {
    /// The session file, without an incomplete last line.
    pub bytes: Vec<u8>,
    /// The directory of the new file; created if it is missing.
    pub into: PathBuf,
    /// The working directory of the new session.
    pub cwd: String,
    /// `true` to replace the ID of the session, because another session has it.
    pub new_id: bool,
}

/// A file as last read. If it has changed since, the user is asked again before it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSnapshot {
    /// The file.
    pub path: PathBuf,
    /// The length in bytes.
    pub bytes: u64,
    /// The modification time in milliseconds since 1970.
    pub mtime: i64,
}

impl FileSnapshot {
    /// Creates it from a session in the list.
    pub fn of(session: &Digest) -> Self {
        Self { path: session.path.clone(), bytes: session.bytes, mtime: session.mtime }
    }

    /// Creates it from the facts about a session, without loading the digest.
    pub(crate) fn listed(facts: &SessionFacts<'_>) -> Self {
        Self { path: facts.path().join(), bytes: facts.bytes(), mtime: facts.mtime() }
    }
}

/// A session file, and the id of the session that it contained when a request was prepared. Another session in the file
/// is not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedSession {
    /// The file.
    pub path: PathBuf,
    /// The id.
    pub id: String,
}

impl ExpectedSession {
    /// Creates it from a session in the list.
    pub fn of(facts: &SessionFacts<'_>) -> Self {
        Self { path: facts.path().join(), id: facts.id().into() }
    }
}

/// Sessions with their names.
pub(crate) type NamedSessions = Vec<(ExpectedSession, String)>;

/// Returns the lines of names to edit: an ID, a tab and a name.
pub(crate) fn names_to_edit(sessions: &[(ExpectedSession, String)]) -> String {
    let line = |(session, name): &(ExpectedSession, String)| format!("{}\t{name}\n", session.id);
    let lines: String = sessions.iter().map(line).collect();
    format!("# Edit the names after the tabs. Sessions without a line keep theirs.\n{lines}")
}

/// Returns the names that were changed in the lines. The given ones are those before.
///
/// # Errors
/// A line has another ID.
pub(crate) fn edited_names(text: &str, before: &[(ExpectedSession, String)]) -> Result<NamedSessions, String> {
    let (mut edited, mut rest) = (Vec::new(), before.iter().collect::<Vec<_>>());
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        // An editor can remove the tab of an unnamed session.
        let (id, name) = line.split_once('\t').map_or((line.trim(), ""), |(id, name)| (id, name.trim()));
        // Copies have the same ID.
        let Some(at) = rest.iter().position(|(session, _)| session.id == id) else {
            return Err(format!("not the ID of a listed session: {}; no session was renamed", clean(id)));
        };
        let (session, was) = rest.remove(at);
        if name != was {
            edited.push((session.clone(), name.to_owned()));
        }
    }
    Ok(edited)
}

/// A lasting mark to set or to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMark {
    /// The session, with its [key for marks](crate::session::marks::session_key) as its ID. The path is only for display,
    /// and can be empty.
    pub session: ExpectedSession,
    /// The mark.
    pub mark: Mark,
    /// The value; `None` removes the mark.
    pub value: Option<Value>,
}

/// A session to move to another working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionMove {
    /// The session.
    pub session: ExpectedSession,
    /// The new working directory.
    pub cwd: String,
    /// The current path of its parent session, if that moves too, before it.
    pub parent: Option<PathBuf>,
}

/// Sessions to move to another working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveRequest {
    /// The session directories, which define the new paths.
    pub located: Located,
    /// The sessions, parents before their forks.
    pub sessions: Vec<SessionMove>,
    /// Forks that stay, and the current path of the parent of each: their headers get the new path.
    pub relinked: Vec<(ExpectedSession, PathBuf)>,
}

impl MoveRequest {
    /// Returns the sessions whose files change.
    pub(crate) fn named(&self) -> impl Iterator<Item = &ExpectedSession> {
        self.sessions.iter().map(|one| &one.session).chain(self.relinked.iter().map(|(session, _)| session))
    }
}

/// The last change, made by another run of pitree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierChange {
    /// The group of changes made together.
    pub group: u64,
    /// The time in milliseconds since 1970.
    pub time: i64,
    /// A summary; can contain text from files.
    pub summary: String,
    /// Some of the sessions: their files, and their titles if known.
    pub sessions: Vec<(PathBuf, Option<String>)>,
    /// The number of further sessions.
    pub more: usize,
}

/// A session when a request was prepared: its id, and its entries up to then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionIdentity {
    id: String,
    entries: usize,
    last: Option<IdHash>,
}

impl SessionIdentity {
    /// Returns the identity of a session in the list.
    pub fn of(session: &Digest) -> Self {
        let entries = session.entry_count;
        Self { id: session.header.id.clone(), entries, last: last(session, entries) }
    }

    /// Returns `true` for this session, also with entries appended.
    pub(crate) fn fits(&self, session: &Digest) -> bool {
        session.header.id == self.id && last(session, self.entries) == self.last
    }
}

/// Returns the hash of the last of the first `entries` entries.
fn last(session: &Digest, entries: usize) -> Option<IdHash> {
    session.entry_key(entries.checked_sub(1)?.try_into().ok()?)
}
