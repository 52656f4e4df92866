//! The states of one file in sessions for the browser: rows of its states, and its content at an entry. The last replays
//! are cached, so that neighboring states appear at once.

use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Weak};

use anyhow::{Result, bail, ensure};

use crate::base::sort;
use crate::catalog::file_history::{FileRevision, ReplayControl, each_version, prompt};
use crate::catalog::files::FilePlaces;
use crate::catalog::{EntryRef, SessionKey};
use crate::disk::load::{self, EntryReader};
use crate::session::digest::listed::SharedLazySession;
use crate::session::entry::kind::EntryKind;
use crate::session::lines::Line;
use crate::session::links::EntryIndex;
use crate::session::replay::state::{Content, Exactness, FileState};
use crate::session::replay::{CommandEffects, Replay};
use crate::session::tree::Tree;
use crate::session::tree::node::Node;
use crate::session::worktrees::Worktrees;

/// The maximum size in bytes of the texts in the cache, and the maximum number of replays.
const MAX_CACHED: (usize, usize) = (64 * 1024 * 1024, 16);

/// A file at an entry of a session.
#[derive(Clone, Debug)]
pub struct FileAt {
    /// The session file.
    pub session: PathBuf,
    /// Its tree.
    pub tree: Arc<Tree>,
    /// The entry.
    pub entry: EntryIndex,
    /// The absolute path of the file.
    pub file: String,
}

impl PartialEq for FileAt {
    fn eq(&self, other: &Self) -> bool {
        (&self.session, self.entry, &self.file) == (&other.session, other.entry, &other.file)
    }
}

impl Eq for FileAt {}

/// A state to compare.
#[derive(Clone, Debug)]
pub enum StateSource {
    /// The file after an entry.
    After(FileAt),
    /// The file before an entry.
    Before(FileAt),
    /// A known state; `None` for a file that does not exist.
    Known(Option<Arc<FileState>>),
    /// The file on the disk.
    Disk,
}

/// A form in which a file is shown.
#[derive(Clone, Debug)]
pub enum FileForm {
    /// The content after an entry.
    Content(FileAt),
    /// The difference between two states.
    Difference([StateSource; 2]),
}

/// A file to show.
#[derive(Clone, Debug)]
pub struct FileTextRequest {
    /// The absolute path of the file.
    pub file: String,
    /// The form.
    pub form: FileForm,
}

/// The content at a state to write to a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWrite {
    /// The state.
    pub at: FileAt,
    /// The path of the new file, as typed.
    pub to: String,
    /// `true` to replace a file there.
    pub replaces: bool,
}

/// A state of a file in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRow {
    /// The entry that touched the file.
    pub entry: EntryRef,
    /// The path of the file in the session; another one in each worktree.
    pub file: Arc<str>,
    /// The time of the entry, in milliseconds since 1970.
    pub time: Option<i64>,
    /// The name of the tool, or a word for a file that the user attached.
    pub touch: String,
    /// The degree to which the state is known.
    pub exactness: Exactness,
    /// The numbers of added and removed lines, if they are known.
    pub lines: Option<(usize, usize)>,
    /// The prompt before the entry: the text of its row.
    pub prompt: Arc<str>,
    /// `true` if the entry is on an abandoned branch.
    pub is_abandoned: bool,
}

/// A session in which to replay a file.
#[derive(Clone, Debug)]
pub struct ReplayedSession {
    /// Its key.
    pub key: SessionKey,
    /// The session.
    pub session: SharedLazySession,
    /// Its tree, if it is loaded.
    pub tree: Option<Arc<Tree>>,
}

/// Sessions in which to replay a file.
#[derive(Clone, Debug)]
pub struct StatesRequest {
    /// The path of the file as listed.
    pub file: String,
    /// The sessions; others than those that touched the file are skipped.
    pub sessions: Vec<ReplayedSession>,
    /// The worktrees in which the file has other paths.
    pub worktrees: Arc<Worktrees>,
}

/// All states of a file in a session.
#[derive(Debug)]
pub struct FileStates {
    session: PathBuf,
    tree: Arc<Tree>,
    file: String,
    /// The states after the entries that touched the file, in file order.
    touches: Vec<FileRevision>,
}

/// The last replays.
#[derive(Debug, Default)]
pub struct StatesCache {
    /// The replays, the last used one last.
    replays: Mutex<Vec<Arc<FileStates>>>,
    /// The effects of commands in the tree that was replayed last.
    effects: Mutex<(Weak<Tree>, CommandEffects)>,
}

impl StatesCache {
    /// Returns all states of a file in a session.
    ///
    /// # Errors
    /// The session cannot be read, it was rewritten, or the result is no longer wanted.
    pub fn states(
        &self,
        session: &Path,
        tree: &Arc<Tree>,
        file: &str,
        control: ReplayControl<'_>,
    ) -> Result<Arc<FileStates>> {
        if let Some(found) = self.find(tree, file) {
            return Ok(found);
        }
        must_be_unchanged(session, tree)?;
        let mut effects = self.take_effects(tree);
        let mut touches = Vec::new();
        let wanted = [file.to_owned()].into();
        let replayed =
            each_version((session, tree), &wanted, control, &mut effects, &mut |_, version| touches.push(version));
        *self.effects.lock() = (Arc::downgrade(tree), effects);
        replayed?;
        sort::by_key(&mut touches, |version| version.entry);
        let states = Arc::new(FileStates { session: session.into(), tree: tree.clone(), file: file.into(), touches });
        self.keep(&states);
        Ok(states)
    }

    /// Returns the known effects of commands in a tree.
    fn take_effects(&self, tree: &Arc<Tree>) -> CommandEffects {
        let mut effects = self.effects.lock();
        let (of, known) = std::mem::take(&mut *effects);
        if std::ptr::eq(of.as_ptr(), Arc::as_ptr(tree)) { known } else { CommandEffects::new() }
    }

    fn find(&self, tree: &Arc<Tree>, file: &str) -> Option<Arc<FileStates>> {
        let mut replays = self.replays.lock();
        let at = replays.iter().position(|kept| Arc::ptr_eq(&kept.tree, tree) && kept.file == file)?;
        let found = replays.remove(at);
        replays.push(found.clone());
        Some(found)
    }

    /// Adds a replay and removes the oldest ones above the limits, and those of an older tree of the session.
    fn keep(&self, states: &Arc<FileStates>) {
        let (bytes, count) = MAX_CACHED;
        if states.bytes() > bytes {
            return;
        }
        let mut replays = self.replays.lock();
        replays.retain(|kept| kept.session != states.session || Arc::ptr_eq(&kept.tree, &states.tree));
        replays.push(states.clone());
        let mut left = bytes;
        let fits = |kept: &&Arc<FileStates>| {
            let rest = left.checked_sub(kept.bytes());
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        let fitting = replays.iter().rev().take(count).take_while(fits).count();
        let last = replays.len() - fitting;
        replays.drain(..last);
    }
}

/// Checks that the file of a session still has the lines of its tree. pi rewrites old files when it opens them.
fn must_be_unchanged(session: &Path, tree: &Tree) -> Result<()> {
    let Some(last) = tree.nodes.last() else { return Ok(()) };
    let bytes = EntryReader::open(session)?.known(last)?;
    let line = Line { len: last.len, ..Line::new(last.offset, &bytes, true) };
    let entry = line.read().ok().flatten().unwrap_or_default();
    let is_same_entry = last.id.as_deref().is_none_or(|id| entry.id.is_some_and(|now| now.is(id)));
    ensure!(is_same_entry, "{} changed since it was opened; reload to see it as it is now", session.display());
    Ok(())
}

impl FileStates {
    /// Returns the approximate size of the texts in bytes. States with the same text share it.
    fn bytes(&self) -> usize {
        let size = |version: &FileRevision| match &version.state.content {
            Content::Exact(_) if !version.is_new() => 0,
            Content::Exact(text) => text.len(),
            Content::Partial(known) => known.lines.values().map(|line| line.len() + size_of::<Arc<str>>()).sum(),
            Content::Unknown | Content::Removed => 0,
        };
        self.touches.iter().map(|version| size(version) + size_of::<FileState>()).sum()
    }

    /// Returns the state after an entry: that of the last entry up to it which touched the file.
    pub fn at(&self, entry: EntryIndex) -> Option<&Arc<FileState>> {
        self.touch_at(entry).map(|version| &version.state)
    }

    /// Returns the state before an entry.
    pub fn before(&self, entry: EntryIndex) -> Option<&Arc<FileState>> {
        self.at(self.tree.parent(entry)?)
    }

    fn touch_at(&self, entry: EntryIndex) -> Option<&FileRevision> {
        self.tree
            .to_root(entry)
            .find_map(|at| self.touches.binary_search_by_key(&at, |version| version.entry).ok())
            .map(|found| &self.touches[found])
    }

    /// Returns a row for each entry that touched the file and `is_listed`, in file order.
    pub fn rows(&self, session: SessionKey, mut is_listed: impl FnMut(EntryIndex) -> bool) -> Vec<StateRow> {
        let file: Arc<str> = (&*self.file).into();
        let row = |version: &FileRevision| {
            let node = &self.tree[version.entry];
            let prompt = prompt(&self.tree, version.entry).map(|at| &self.tree[at]);
            StateRow {
                entry: EntryRef { session, at: version.entry },
                file: file.clone(),
                time: node.time,
                touch: touch(node),
                exactness: version.state.exactness(),
                lines: version.changed_lines().filter(|lines| *lines != (0, 0)),
                prompt: prompt.map_or_else(|| "".into(), |node| node.words().into()),
                is_abandoned: !self.tree.is_active(version.entry),
            }
        };
        self.touches.iter().filter(|version| is_listed(version.entry)).map(row).collect()
    }
}

/// Returns the name of the tool of an entry.
fn touch(node: &Node) -> String {
    match (&node.called, node.kind) {
        (Some(called), _) => called.name.to_string(),
        (None, EntryKind::Bash) => "bash".into(),
        (None, EntryKind::User) => "attached".into(),
        (None, _) => "stopped".into(),
    }
}

/// Replays a file in sessions, oldest first. Passes the rows and the tree of each session to `reply` until it returns
/// `false`. Entries that forks inherited are listed once, for the oldest session.
///
/// # Errors
/// A session cannot be read, and the others were passed; or the result is no longer wanted.
pub fn list(
    cache: &StatesCache,
    StatesRequest { file, mut sessions, worktrees }: StatesRequest,
    control: ReplayControl<'_>,
    mut reply: impl FnMut(SessionKey, Vec<StateRow>, Arc<Tree>) -> bool,
) -> Result<()> {
    sort::by(&mut sessions, |a, b| a.session.facts().compare_age(&b.session.facts()));
    let places = FilePlaces { home: control.home, worktrees: &worktrees };
    let mut known = HashSet::new();
    let mut problem = None;
    for ReplayedSession { key, session, tree } in sessions {
        ensure!((control.is_wanted)(), "canceled");
        let Some(file) = places.own_path(&file, &session) else { continue };
        let states = || {
            let tree = tree.map_or_else(|| load::tree(&session.path, control.home).map(Arc::new), Ok)?;
            cache.states(&session.path, &tree, &file, control)
        };
        let states = match states() {
            Ok(states) => states,
            Err(error) if !(control.is_wanted)() => return Err(error),
            Err(error) => {
                problem.get_or_insert(error);
                continue;
            }
        };
        let rows = states.rows(key, |at| session.entry_key(at).is_none_or(|key| known.insert(key)));
        if !rows.is_empty() && !reply(key, rows, states.tree.clone()) {
            break;
        }
    }
    problem.map_or(Ok(()), Err)
}

/// Returns the files that entries changed, each with the first and the last entry that changed it.
///
/// # Errors
/// An entry cannot be read.
pub fn changed_files(
    (session, tree): (&Path, &Tree),
    entries: &[EntryIndex],
    home: &str,
) -> Result<Vec<(String, EntryIndex, EntryIndex)>> {
    let mut reader = EntryReader::open(session)?;
    let mut replay = Replay::new(tree, home, |node| reader.known(node));
    let mut changed: Vec<(String, EntryIndex, EntryIndex)> = Vec::new();
    for &at in entries {
        // Without the files before, only those appear that the entry itself changes.
        let mut files = Rc::default();
        replay.step(&mut files, at)?;
        for (path, _) in files.iter().filter(|(_, state)| !state.source.is_read()) {
            match changed.iter_mut().find(|(known, ..)| known == path) {
                Some((.., last)) => *last = at,
                None => changed.push((path.clone(), at, at)),
            }
        }
    }
    Ok(changed)
}

/// Returns the text of a state for a comparison: lines for the gaps of a partial one, and nothing for a missing file.
///
/// # Errors
/// The content is unknown.
pub fn text_for_comparison(state: Option<&FileState>) -> Result<Cow<'_, str>> {
    Ok(match state.map(|state| (&state.content, state)) {
        None | Some((Content::Removed, _)) => Cow::Borrowed(""),
        Some((Content::Exact(text), _)) => Cow::Borrowed(text),
        Some((Content::Partial(known), _)) => Cow::Owned(known.with_gaps()),
        Some((Content::Unknown, state)) => bail!("the content is unknown: {}", state.reason()),
    })
}

/// The result of writing a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// The file was written to this path.
    New(PathBuf),
    /// There is a file at this path or programs run from it, and the user has not agreed to write it.
    Taken(PathBuf),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::replay::state::Source;

    fn states(tree: &Arc<Tree>, file: &str, bytes: usize) -> Arc<FileStates> {
        let state = FileState {
            content: Content::Exact("x".repeat(bytes).into()),
            source: Source::Write,
            doubt: None,
            entries: vec![0],
            outside: Vec::new(),
            latest: 0,
        };
        let touches = vec![FileRevision { entry: 0, state: state.into(), before: None }];
        Arc::new(FileStates { session: "s".into(), tree: tree.clone(), file: file.into(), touches })
    }

    #[test]
    fn the_cache_keeps_the_last_replays_within_its_limits() {
        let (cache, tree) = (StatesCache::default(), Arc::new(Tree::default()));
        let has = |file: &str| cache.find(&tree, file).is_some();
        for number in 0..20 {
            cache.keep(&states(&tree, &number.to_string(), 10));
        }
        assert!(!has("3") && has("4") && has("19"));
        cache.keep(&states(&tree, "large", MAX_CACHED.0 - 10_000));
        assert!(has("19") && has("large"), "both fit");
        cache.keep(&states(&tree, "other", 20_000));
        assert!(has("other") && !has("large") && !has("19"), "only the last one fits");
        cache.keep(&states(&tree, "too large", MAX_CACHED.0 + 1));
        assert!(!has("too large") && has("other"));
        let new = Arc::new(Tree::default());
        cache.keep(&states(&new, "other", 1));
        assert!(!has("other") && cache.find(&new, "other").is_some(), "the session has grown");
    }
}
