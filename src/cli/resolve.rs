//! Resolves session and entry arguments: a path, an id, a label, a unique id prefix, a session name, or `.` for the
//! current session.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail};

use crate::base::numbers::thousands;
use crate::base::paths::windows_form;
use crate::base::{archive_paths, sort};
use crate::catalog::current_dir::CurrentDir;
use crate::catalog::{Catalog, SessionKey};
use crate::cli::CommandContext;
use crate::cli::command_context::absolute;
use crate::cli::table::{TITLE, words};
use crate::disk::load;
use crate::disk::locate::{self, Environment};
use crate::disk::scan::{self, Unreadable};
use crate::search::qualifier;
use crate::session::digest::Digest;
use crate::session::tree::{EntryIndex, Tree};

/// The minimum length of an entry id prefix; ids of pi have 8 characters.
const MIN_PREFIX: usize = 4;

/// The maximum number of listed matches.
const MAX_LISTED: usize = 20;

impl CommandContext {
    /// Returns the sessions whose ID starts with a text, in the order of their IDs and paths.
    fn starting(&self, start: &str) -> Vec<SessionKey> {
        let catalog = self.catalog();
        let facts = |key: SessionKey| catalog[key].facts();
        let mut found: Vec<SessionKey> =
            catalog.with_copies().filter(|&key| facts(key).id().starts_with(start)).collect();
        sort::by(&mut found, |&a, &b| {
            facts(a).id().cmp(facts(b).id()).then_with(|| facts(a).path().compare(facts(b).path()))
        });
        found
    }

    /// Returns `true` if a session of this machine has this id.
    pub(super) fn is_here(&self, id: &str) -> bool {
        let facts = |key: SessionKey| self.catalog()[key].facts();
        self.starting(id).into_iter().any(|key| facts(key).id() == id && !facts(key).is_mirrored())
    }

    /// Returns the session that an ID means if files on several machines have it: that of this machine, or else the listed
    /// copy.
    fn preferred(&self, matches: &[SessionKey]) -> Option<SessionKey> {
        let catalog = self.catalog();
        let id = |key: SessionKey| catalog[key].facts().id();
        let [first, others @ ..] = matches else { return None };
        if others.is_empty() || others.iter().any(|&other| id(other) != id(*first)) {
            return None;
        }
        let mut here = matches.iter().filter(|key| !catalog[**key].facts().is_mirrored());
        if let Some(&key) = here.next() {
            return here.next().is_none().then_some(key);
        }
        let listed: BTreeSet<SessionKey> = matches.iter().map(|&key| catalog.listed_copy(key)).collect();
        listed.first().filter(|_| listed.len() == 1).copied()
    }

    /// Returns the newest session of the current project.
    fn newest_here(&self) -> Result<PathBuf> {
        let (catalog, cwd) = (self.catalog(), Environment::current().cwd);
        let mut here = CurrentDir::new(cwd.to_string_lossy().into_owned(), self.home.clone());
        here.find(catalog.dirs.iter().map(|dir| windows_form(dir)));
        let is_here = |key: &SessionKey| {
            let facts = catalog[*key].facts();
            !facts.is_subagent() && !facts.is_mirrored() && here.is_project(&windows_form(facts.cwd()))
        };
        let mut sessions: Vec<SessionKey> = catalog.with_copies().filter(is_here).collect();
        catalog.sort_newest_first(&mut sessions);
        sessions.first().map(|&key| catalog[key].file_path()).with_context(|| {
            format!("no session found for {} or its project; run `pitree ls` to list all sessions", cwd.display())
        })
    }

    /// Returns `true` if a word names sessions by a path or by the start of an id. Words of a title and qualifiers, such as
    /// `in:~/app`, do not.
    pub(super) fn is_session(&self, word: &OsStr) -> bool {
        let is_id = |word: &str| word.len() >= ID_START && !self.starting(word).is_empty();
        let name = word.to_str().and_then(|word| word.trim_start_matches('-').split_once(':'));
        let is_qualifier = name.is_some_and(|(name, _)| qualifier::named(name).is_some());
        (is_path(word) && (!is_qualifier || Path::new(word).exists()))
            || word == "."
            || word.to_str().is_some_and(is_id)
    }

    /// Resolves `word` to the absolute path of a session file.
    ///
    /// # Errors
    /// No session or several sessions match.
    pub(super) fn session(&self, word: &OsStr) -> Result<PathBuf> {
        if let Some(path) = self.find(word)? {
            return Ok(path);
        }
        if let Some((session, entry)) = word.to_str().and_then(|word| word.rsplit_once('@'))
            && self.find(OsStr::new(session))?.is_some()
        {
            bail!("only a session can be given here; omit @{entry}");
        }
        bail!("no session matches {word:?}; run `pitree ls` to list sessions")
    }

    /// Returns the only session whose ID starts with a text according to the index and its file. Does not look at all
    /// files, so that it is fast; the file of another such session may have changed without its directory.
    fn recalled(&self, start: &str) -> Option<PathBuf> {
        let found = self.sources().recalled(&|facts| facts.id().starts_with(start))?;
        let [session] = &found[..] else { return None };
        let path = session.file_path();
        (load::header(&path)?.id == session.facts().id()).then_some(path)
    }

    /// Resolves `word` to the absolute path of a session file, or returns `None` if no id or name matches. A path of a missing
    /// file is returned as typed.
    ///
    /// # Errors
    /// Several sessions match.
    fn find(&self, word: &OsStr) -> Result<Option<PathBuf>> {
        if is_path(word) {
            let typed = locate::expand(word, Path::new(&self.home));
            let path = absolute(&typed)?;
            if path.exists() {
                return Ok(Some(path));
            }
            // An archived session keeps its original path as a name.
            let archived = self.archive.as_deref().and_then(|dir| archive_paths::file_in(dir, &path));
            return Ok(Some(archived.filter(|path| path.is_file()).unwrap_or(typed)));
        }
        if word == "." {
            // The session of the pi that runs this command comes first.
            let of_pi = Environment::current().session_file;
            return of_pi.map_or_else(|| self.newest_here(), |path| absolute(Path::new(&path))).map(Some);
        }
        // Ids are UTF-8.
        let word = word.to_str().with_context(|| format!("no file or session named {word:?}"))?;
        if word.is_empty() {
            return Ok(None);
        }
        if !self.has_catalog()
            && word.len() >= ID_START
            && let Some(path) = self.recalled(word)
        {
            return Ok(Some(path));
        }
        let catalog = self.catalog();
        let mut matches = self.starting(word);
        // Exact matches come first.
        let exact = matches.iter().take_while(|key| catalog[**key].facts().id() == word).count();
        if exact > 0 {
            matches.truncate(exact);
        }
        if matches.is_empty() {
            let is_named = |key: &SessionKey| {
                catalog[*key].facts().is_named() && catalog[*key].name.as_deref() == Some(word.trim())
            };
            matches = catalog.keys().filter(is_named).collect();
        }
        let path = |key: SessionKey| catalog[key].file_path();
        match (self.preferred(&matches), &matches[..]) {
            (Some(key), _) | (None, &[key]) => Ok(Some(path(key))),
            (None, []) => Ok(None),
            (None, several) => {
                let line = |&key: &SessionKey| {
                    let session = catalog[key].uncached_digest();
                    let title = words(session.title(), TITLE, self.config.glyphs());
                    format!("\n{}  {title}  {}", session.header.id, path(key).display())
                };
                let list: String = several.iter().take(MAX_LISTED).map(line).collect();
                let more = several.len().saturating_sub(MAX_LISTED);
                let more = if more > 0 { format!("\nand {} more", thousands(more)) } else { String::new() };
                bail!("{word:?} matches {} sessions; give a longer id prefix or a path:{list}{more}", several.len())
            }
        }
    }

    /// Resolves `SESSION` with `ENTRY` as an argument of its own, or `SESSION@ENTRY`. The whole word is tried as a session
    /// first, then split at its last `@`.
    ///
    /// # Errors
    /// No session or several sessions match.
    pub(super) fn place(&self, word: &OsStr, entry: Option<&str>) -> Result<SessionPlace> {
        let found = |word: &OsStr| Ok::<_, Error>(self.find(word)?.filter(|path| !is_path(word) || path.exists()));
        let whole = found(word)?;
        let parts = word.to_str().and_then(|word| word.rsplit_once('@'));
        if let (None, None, Some((session, entry))) = (&whole, entry, parts)
            && let Some(path) = found(OsStr::new(session))?
        {
            return Ok(SessionPlace { path, entry: Some(entry.into()) });
        }
        let path = whole.map_or_else(|| self.session(word), Ok)?;
        Ok(SessionPlace { path, entry: entry.map(String::from) })
    }
}

/// The minimum length of the start of an id where words of a query are allowed too.
const ID_START: usize = 6;

/// Returns `true` if a word names a session by its path.
fn is_path(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.contains(&(std::path::MAIN_SEPARATOR as u8)) || bytes.ends_with(b".jsonl") || Path::new(word).is_file()
}

/// A session file and an optional entry from the command line.
#[derive(Debug)]
pub(super) struct SessionPlace {
    pub(super) path: PathBuf,
    /// The entry argument.
    pub(super) entry: Option<String>,
}

impl SessionPlace {
    /// Resolves the entry in the tree of the session.
    ///
    /// # Errors
    /// The errors of [`entry`].
    pub(super) fn entry_in(&self, tree: &Tree) -> Result<Option<EntryIndex>> {
        self.entry.as_deref().map(|word| entry(word, tree)).transpose()
    }
}

/// Returns the key of a session, which can be outside of the session directories.
///
/// # Errors
/// The file is not a session.
pub(super) fn key_of(catalog: &mut Catalog, path: &Path) -> Result<SessionKey> {
    if catalog.key_of(path).is_none() {
        catalog.update(vec![digest(path)?], &[]);
    }
    catalog.key_of(path).with_context(|| format!("{} is not a pi session", path.display()))
}

/// Returns the shortest unique length of ids in characters, at least 8 as in git.
pub(super) fn shortest<'a>(ids: impl Iterator<Item = &'a str>) -> usize {
    let mut ids: Vec<&str> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    let shared = |pair: &[&str]| pair[0].chars().zip(pair[1].chars()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(|pair| shared(pair) + 1).max().unwrap_or(0).max(8)
}

/// Reads the current digest of a session file.
///
/// # Errors
/// The file is missing, cannot be read, or is not a session.
pub(super) fn digest(path: &Path) -> Result<Digest> {
    match scan::reread(path, None, "") {
        Ok(Some(digest)) => Ok(digest),
        Ok(None) if !path.is_file() => bail!("no such file: {}", path.display()),
        Ok(None) => bail!("{} is not a pi session", path.display()),
        Err(one) if one.is_headless => bail!("{} is {}", path.display(), one.reason),
        Err(Unreadable { path, reason, .. }) => bail!("cannot read {}: {reason}", path.display()),
    }
}

/// Resolves `word` to an entry: by id, label, or id prefix.
///
/// # Errors
/// No entry or several entries match, or the file has version 1, whose entries have no ids.
pub(super) fn entry(word: &str, tree: &Tree) -> Result<EntryIndex> {
    if tree.header.version < 2.0 {
        bail!(
            "entries in a version 1 session have no ids; select the entry in the browser (`pitree`), or open the session in pi once to convert it"
        );
    }
    if let Some(at) = tree.find(word) {
        return Ok(at);
    }
    let has_label = |at: &EntryIndex| tree.labels.get(at).is_some_and(|label| *label.text == *word);
    let starts = |at: &EntryIndex| tree[*at].id.as_ref().is_some_and(|id| id.starts_with(word));
    let all = || 0..tree.nodes.len() as EntryIndex;
    let mut matches: Vec<EntryIndex> = all().filter(has_label).collect();
    if matches.is_empty() && word.chars().count() >= MIN_PREFIX {
        matches = all().filter(starts).collect();
        // Of several entries with the same id, the last one counts, as in pi.
        matches.retain(|&at| tree.id(at).and_then(|id| tree.find(id)) == Some(at));
    }
    match &matches[..] {
        [at] => Ok(*at),
        [] => bail!(
            "no entry matches {word:?}; give an id, an id prefix of at least {MIN_PREFIX} characters, or a label (see `pitree tree --json`)"
        ),
        several => {
            let line = |&at: &EntryIndex| {
                let node = &tree[at];
                format!("\n{}  {}", node.id.as_deref().unwrap_or("(no id)"), node.text)
            };
            let list: String = several.iter().map(line).collect();
            bail!("{word:?} matches {} entries; give a full id:{list}", several.len())
        }
    }
}
