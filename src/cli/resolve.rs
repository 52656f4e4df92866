//! Which session or entry a word on the command line means: a path, an id, a label, an unambiguous start of an id, the
//! name of a session, or `.` for the newest one where one is.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, bail};

use crate::base::numbers::thousands;
use crate::catalog::current_dir::CurrentDir;
use crate::catalog::{Catalog, SessionKey};
use crate::cli::table::{TITLE, words};
use crate::cli::{CommandContext, now};
use crate::disk::locate::{self, Environment};
use crate::disk::scan;
use crate::disk::scan::{SessionFile, Unreadable};
use crate::session::digest::{Digest, SharedDigest};
use crate::session::lines::Header;
use crate::session::tree::{Index, Tree};

/// The least that a start of an entry's id must have, in characters: pi's ids have 8.
const LEAST: usize = 4;

/// As many sessions are named that a word may mean.
const NAMED: usize = 20;

/// The sessions by their ids: looked up once, however many words are ids.
pub(super) struct SessionResolver<'a> {
    chosen: &'a CommandContext,
    /// In the order of the ids.
    by_id: OnceCell<Vec<(String, PathBuf)>>,
    catalog: OnceCell<Catalog>,
}

impl<'a> SessionResolver<'a> {
    pub(super) fn new(chosen: &'a CommandContext) -> Self {
        Self { chosen, by_id: OnceCell::new(), catalog: OnceCell::new() }
    }

    /// The ids that start so, with their files.
    fn starting(&self, start: &str) -> &[(String, PathBuf)] {
        let all = self.by_id.get_or_init(|| {
            let scan = self.chosen.sources().scan();
            let headers = scan.headers().into_iter();
            let mut all: Vec<_> = headers.map(|(found, header)| (header.id, found.path.clone())).collect();
            all.sort_by(|(one, _), (other, _)| one.cmp(other));
            let _ = scan.keep(); // the next command tries again
            all
        });
        let from = &all[all.partition_point(|(id, _)| id.as_str() < start)..];
        &from[..from.partition_point(|(id, _)| id.starts_with(start))]
    }

    /// All of them, read: for names.
    fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| Catalog::read(self.chosen.sources(), now(), Path::to_path_buf))
    }

    /// The sessions of a name.
    fn named(&self, name: &str) -> Vec<(String, PathBuf)> {
        let catalog = self.catalog();
        let is_of_name = |key: &SessionKey| catalog[*key].name.as_deref() == Some(name.trim());
        catalog
            .keys()
            .filter(is_of_name)
            .map(|key| (catalog[key].header.id.clone(), catalog[key].path.clone()))
            .collect()
    }

    /// Returns the newest session of the current project.
    fn newest_here(&self) -> Result<PathBuf> {
        let CommandContext { files, home, .. } = self.chosen;
        let scan = self.chosen.sources().scan();
        let headers = scan.headers();
        let cwd = Environment::current().cwd;
        let mut here = CurrentDir::new(cwd.to_string_lossy().into_owned(), home.clone());
        here.find(headers.iter().map(|(_, header)| header.cwd.as_str()));
        // Only what a file says inside tells when somebody last spoke: of those that are here.
        let is_here = |(file, header): &(&SessionFile, Header)| file.owner.is_none() && here.is_project(&header.cwd);
        let those: Vec<SessionFile> = headers.into_iter().filter(is_here).map(|(file, _)| file.clone()).collect();
        let _ = scan.keep(); // the next command tries again
        let mut sessions = Vec::new();
        scan::read(*files, &those, home, |batch| {
            sessions.extend(batch.sessions);
            true
        });
        let none =
            || format!("no session found for {} or its project; run `pitree ls` to list all sessions", cwd.display());
        let newest = sessions.into_iter().max_by_key(|session: &SharedDigest| session.order_time());
        newest.map(|session| session.path.clone()).with_context(none)
    }

    /// The file that `word` means, from the root of the file system, as the journal and forks name it.
    ///
    /// # Errors
    /// There is no such session, or there are several.
    pub(super) fn file(&self, word: &OsStr) -> Result<PathBuf> {
        absolute(&named(word, self)?)
    }
}

/// The file that `word` means.
///
/// # Errors
/// There is no such session, or there are several.
pub(super) fn session(word: &OsStr, chosen: &CommandContext) -> Result<PathBuf> {
    named(word, &SessionResolver::new(chosen))
}

/// The session of the pi in which this command runs, as pi tells it.
fn this() -> Option<PathBuf> {
    Environment::current().session_file.map(PathBuf::from)
}

fn named(word: &OsStr, sessions: &SessionResolver<'_>) -> Result<PathBuf> {
    let none = || anyhow!("no session matches {word:?}; run `pitree ls` to list sessions");
    find(word, sessions)?.ok_or_else(none)
}

/// Returns `true` if a word names a session by its path.
fn is_path(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.contains(&(std::path::MAIN_SEPARATOR as u8)) || bytes.ends_with(b".jsonl") || Path::new(word).is_file()
}

/// The file that `word` means; `None` if no session has such an id or name. The file of a path need not exist.
///
/// # Errors
/// Several sessions match.
fn find(word: &OsStr, sessions: &SessionResolver<'_>) -> Result<Option<PathBuf>> {
    if is_path(word) {
        return Ok(Some(locate::expand(word, Path::new(&sessions.chosen.home))));
    }
    if word == "." {
        return this().map_or_else(|| sessions.newest_here(), Ok).map(Some);
    }
    // An id is text.
    let word = word.to_str().with_context(|| format!("no file or session named {word:?}"))?;
    let starting = if word.is_empty() { &[] } else { sessions.starting(word) };
    // Those that are no longer stand first.
    let exact = starting.partition_point(|(id, _)| id == word);
    let matches = if exact > 0 { &starting[..exact] } else { starting };
    let of_name = if matches.is_empty() && !word.is_empty() { sessions.named(word) } else { Vec::new() };
    match if matches.is_empty() { &of_name } else { matches } {
        [(_, path)] => Ok(Some(path.clone())),
        [] => Ok(None),
        several => {
            let glyphs = sessions.chosen.config.signs();
            let line = |(id, path): &(String, PathBuf)| {
                let title = digest(path).map(|session| words(session.title(), TITLE, glyphs));
                format!("\n{id}  {}  {}", title.unwrap_or_default(), path.display())
            };
            let list: String = several.iter().take(NAMED).map(line).collect();
            let more = several.len().saturating_sub(NAMED);
            let more = if more > 0 { format!("\nand {} more", thousands(more)) } else { String::new() };
            bail!("{word:?} matches {} sessions; give a longer id prefix or a path:{list}{more}", several.len())
        }
    }
}

/// A session file and the entry in it that the command line names.
#[derive(Debug)]
pub(super) struct SessionPlace {
    pub(super) path: PathBuf,
    /// The word for the entry, to be resolved with [`entry`] once the tree is read.
    pub(super) entry: Option<String>,
}

impl SessionPlace {
    /// Resolves `SESSION` with `ENTRY` as an argument of its own, or `SESSION@ENTRY`. The whole word is tried as a session
    /// first, then split at its last `@`.
    ///
    /// # Errors
    /// No session or several sessions match.
    pub(super) fn new(word: &OsStr, entry: Option<&str>, chosen: &CommandContext) -> Result<Self> {
        let sessions = SessionResolver::new(chosen);
        let found =
            |word: &OsStr| Ok::<_, Error>(find(word, &sessions)?.filter(|path| !is_path(word) || path.exists()));
        let whole = found(word)?;
        let parts = word.to_str().and_then(|word| word.rsplit_once('@'));
        if let (None, None, Some((session, entry))) = (&whole, entry, parts)
            && let Some(path) = found(OsStr::new(session))?
        {
            return Ok(Self { path, entry: Some(entry.into()) });
        }
        let path = whole.map_or_else(|| named(word, &sessions), Ok)?;
        Ok(Self { path, entry: entry.map(String::from) })
    }

    /// The same with the path from the root of the file system, for changes.
    ///
    /// # Errors
    /// As [`SessionPlace::new`].
    pub(super) fn to_change(word: &OsStr, entry: Option<&str>, chosen: &CommandContext) -> Result<Self> {
        let place = Self::new(word, entry, chosen)?;
        Ok(Self { path: absolute(&place.path)?, ..place })
    }
}

/// The file that `word` means, from the root of the file system, as the journal and forks name it.
///
/// # Errors
/// As [`session`].
pub(super) fn file(word: &OsStr, chosen: &CommandContext) -> Result<PathBuf> {
    SessionResolver::new(chosen).file(word)
}

/// The path from the root of the file system. A symbolic link stays one; `..` goes.
///
/// # Errors
/// There is no working directory.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).with_context(|| format!("cannot resolve the path {}", path.display()))?;
    if path.components().any(|part| part == Component::ParentDir)
        && let (Some(folder), Some(name)) = (path.parent(), path.file_name())
        && let Ok(folder) = folder.canonicalize()
    {
        return Ok(folder.join(name));
    }
    Ok(path)
}

/// As much of ids tells them apart, in characters; at least 8, as in git.
pub(super) fn shortest<'a>(ids: impl Iterator<Item = &'a str>) -> usize {
    let mut ids: Vec<&str> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    let shared = |pair: &[&str]| pair[0].chars().zip(pair[1].chars()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(|pair| shared(pair) + 1).max().unwrap_or(0).max(8)
}

/// The digest of a session file, as it is now.
///
/// # Errors
/// It cannot be read, is not there, or is no session.
pub(super) fn digest(path: &Path) -> Result<Digest> {
    match scan::again(path, None, "") {
        Ok(Some(digest)) => Ok(digest),
        Ok(None) if !path.is_file() => bail!("no such file: {}", path.display()),
        Ok(None) => bail!("{} is not a pi session", path.display()),
        Err(one) if one.is_headless => bail!("{} is {}", path.display(), one.reason),
        Err(Unreadable { path, reason, .. }) => bail!("cannot read {}: {reason}", path.display()),
    }
}

/// The entry that `word` means: an id, else the text of a label, else the start of an id.
///
/// # Errors
/// There is no such entry, or there are several; or the file is of version 1, where entries have no ids.
pub(super) fn entry(word: &str, tree: &Tree) -> Result<Index> {
    if tree.header.version < 2.0 {
        bail!(
            "entries in a version 1 session have no ids; select the entry in the browser (`pitree`), or open the session in pi once to convert it"
        );
    }
    if let Some(at) = tree.find(word) {
        return Ok(at);
    }
    let has_label = |at: &Index| tree.labels.get(at).is_some_and(|label| *label.text == *word);
    let starts = |at: &Index| tree.nodes[*at as usize].id.as_ref().is_some_and(|id| id.starts_with(word));
    let all = || 0..tree.nodes.len() as Index;
    let mut matches: Vec<Index> = all().filter(has_label).collect();
    if matches.is_empty() && word.chars().count() >= LEAST {
        matches = all().filter(starts).collect();
        // Of entries with the same id the last one counts, as in pi.
        matches.retain(|&at| tree.nodes[at as usize].id.as_deref().and_then(|id| tree.find(id)) == Some(at));
    }
    match &matches[..] {
        [at] => Ok(*at),
        [] => Err(anyhow!(
            "no entry matches {word:?}; give an id, an id prefix of at least {LEAST} characters, or a label (see `pitree tree --json`)"
        )),
        several => {
            let line = |&at: &Index| {
                let node = &tree.nodes[at as usize];
                format!("\n{}  {}", node.id.as_deref().unwrap_or("(no id)"), node.text)
            };
            let list: String = several.iter().map(line).collect();
            bail!("{word:?} matches {} entries; give a full id:{list}", several.len())
        }
    }
}
