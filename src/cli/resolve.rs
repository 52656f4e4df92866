//! Resolves session and entry arguments: a path, an id, a label, a unique id prefix, a session name, or `.` for the
//! current session.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, bail};

use crate::base::numbers::thousands;
use crate::base::paths::windows_form;
use crate::base::{archive_paths, machine_paths, sort};
use crate::catalog::current_dir::CurrentDir;
use crate::catalog::{Catalog, SessionKey};
use crate::cli::table::{TITLE, words};
use crate::cli::{CommandContext, now};
use crate::disk::locate::{self, Environment};
use crate::disk::scan::{SessionFile, Unreadable};
use crate::disk::{load, scan};
use crate::search::qualifier;
use crate::session::digest::Digest;
use crate::session::digest::listed::SharedSession;
use crate::session::tree::{Index, Tree};

/// The minimum length of an entry id prefix; ids of pi have 8 characters.
const LEAST: usize = 4;

/// The maximum number of listed matches.
const NAMED: usize = 20;

impl CommandContext {
    /// Returns the ids with a prefix, with their files.
    fn starting(&self, start: &str) -> &[(String, PathBuf)] {
        let all = self.resolved.by_id.get_or_init(|| {
            let mut all: Vec<(String, PathBuf)> = Vec::new();
            if let Some(catalog) = self.resolved.catalog.get() {
                let facts = catalog.with_copies().map(|key| catalog[key].facts());
                all.extend(facts.map(|facts| (facts.id().into(), facts.path().join())));
            } else {
                let scan = self.sources().scan();
                scan.headers(|file, id, _| all.push((id.into(), file.path.clone())));
                self.keep(scan);
            }
            sort::by(&mut all, |(one, _), (other, _)| one.cmp(other));
            all
        });
        let from = &all[all.partition_point(|(id, _)| id.as_str() < start)..];
        &from[..from.partition_point(|(id, _)| id.starts_with(start))]
    }

    /// Returns `true` if a session of this machine has this id.
    pub(super) fn is_here(&self, id: &str) -> bool {
        self.starting(id).iter().any(|(found, path)| found == id && machine_paths::machine(path).is_none())
    }

    /// Returns the file that an ID means if files on several machines have it: that of this machine, or else the listed
    /// copy.
    fn preferred(&self, matches: &[(String, PathBuf)]) -> Option<PathBuf> {
        let [(id, _), others @ ..] = matches else { return None };
        if others.is_empty() || others.iter().any(|(other, _)| other != id) {
            return None;
        }
        let mut here = matches.iter().map(|(_, path)| path).filter(|path| machine_paths::machine(path).is_none());
        match (here.next(), here.next()) {
            (Some(path), None) => return Some(path.clone()),
            (Some(_), Some(_)) => return None,
            (None, _) => {}
        }
        let catalog = self.catalog();
        let keys = matches.iter().filter_map(|(_, path)| catalog.key_of(path));
        let listed: BTreeSet<SessionKey> = keys.map(|key| catalog.listed_copy(key)).collect();
        listed.first().filter(|_| listed.len() == 1).map(|&key| catalog[key].file_path())
    }

    /// Returns all sessions, which are read once.
    pub(super) fn catalog(&self) -> &Catalog {
        self.resolved.catalog.get_or_init(|| self.read_catalog())
    }

    /// Returns the sessions with a name.
    fn named(&self, name: &str) -> Vec<(String, PathBuf)> {
        let catalog = self.catalog();
        let is_of_name =
            |key: &SessionKey| catalog[*key].facts().is_named() && catalog[*key].name.as_deref() == Some(name.trim());
        catalog
            .keys()
            .filter(is_of_name)
            .map(|key| (catalog[key].header.id.clone(), catalog[key].path.clone()))
            .collect()
    }

    /// Returns the newest session of the current project.
    fn newest_here(&self) -> Result<PathBuf> {
        let home = &self.home;
        let scan = self.sources().scan();
        let cwd = Environment::current().cwd;
        let mut here = CurrentDir::new(cwd.to_string_lossy().into_owned(), home.clone());
        let mut dirs: BTreeSet<String> = BTreeSet::new();
        scan.headers(|_, _, cwd| {
            let cwd = windows_form(cwd);
            if !dirs.contains(&*cwd) {
                dirs.insert(cwd.into());
            }
        });
        here.find(dirs.iter());
        // The time of the last message is only in the file, so the files of this project are read.
        let mut those: Vec<SessionFile> = Vec::new();
        scan.headers(|file, _, cwd| {
            if file.owner.is_none()
                && machine_paths::machine(&file.path).is_none()
                && here.is_project(&windows_form(cwd))
            {
                those.push(file.clone());
            }
        });
        self.keep(scan);
        let mut sessions = Vec::new();
        scan::read(&those, home, |batch| {
            sessions.extend(batch.sessions);
            true
        });
        let none =
            || format!("no session found for {} or its project; run `pitree ls` to list all sessions", cwd.display());
        let newest = sessions.into_iter().max_by_key(|session: &SharedSession| session.order_time());
        newest.map(|session| session.path.clone()).with_context(none)
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

    /// Resolves `word` to a session file.
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

    /// Resolves `word` to an absolute path, as used in the journal and by forks.
    ///
    /// # Errors
    /// The errors of [`session`](Self::session).
    pub(super) fn file(&self, word: &OsStr) -> Result<PathBuf> {
        absolute(&self.session(word)?)
    }

    /// Returns the only session whose ID starts with a text according to the index and its file. Does not look at all
    /// files, so that it is fast; the file of another such session may have changed without its directory.
    fn recalled(&self, start: &str) -> Option<PathBuf> {
        let found = self.sources().recalled(&|facts| facts.id().starts_with(start))?;
        let [session] = &found[..] else { return None };
        let path = session.file_path();
        let header = load::header(&path)?;
        (header.id == session.facts().id()).then_some(path)
    }

    /// Resolves `word` to a session file, or returns `None` if no id or name matches. The file of a path need not exist.
    ///
    /// # Errors
    /// Several sessions match.
    fn find(&self, word: &OsStr) -> Result<Option<PathBuf>> {
        if is_path(word) {
            let path = locate::expand(word, Path::new(&self.home));
            let archived = || archive_paths::file_in(self.archive.as_deref()?, &absolute(&path).ok()?);
            // An archived session keeps its original path as a name.
            let archived = if path.is_file() { None } else { archived().filter(|path| path.is_file()) };
            return Ok(Some(archived.unwrap_or(path)));
        }
        if word == "." {
            // The session of the pi that runs this command comes first.
            let of_pi = Environment::current().session_file.map(PathBuf::from);
            return of_pi.map_or_else(|| self.newest_here(), Ok).map(Some);
        }
        // Ids are UTF-8.
        let word = word.to_str().with_context(|| format!("no file or session named {word:?}"))?;
        let is_first = self.resolved.by_id.get().is_none() && self.resolved.catalog.get().is_none();
        if let Some(path) =
            Some(word).filter(|word| is_first && word.len() >= ID_START).and_then(|word| self.recalled(word))
        {
            return Ok(Some(path));
        }
        let starting = if word.is_empty() { &[] } else { self.starting(word) };
        // Exact matches come first.
        let exact = starting.partition_point(|(id, _)| id == word);
        let matches = if exact > 0 { &starting[..exact] } else { starting };
        let of_name = if matches.is_empty() && !word.is_empty() { self.named(word) } else { Vec::new() };
        let matches = if matches.is_empty() { &of_name } else { matches };
        if let Some(path) = self.preferred(matches) {
            return Ok(Some(path));
        }
        match matches {
            [(_, path)] => Ok(Some(path.clone())),
            [] => Ok(None),
            several => {
                let line = |(id, path): &(String, PathBuf)| {
                    let title = digest(path).map(|session| words(session.title(), TITLE, self.config.signs()));
                    format!("\n{id}  {}  {}", title.unwrap_or_default(), path.display())
                };
                let list: String = several.iter().take(NAMED).map(line).collect();
                let more = several.len().saturating_sub(NAMED);
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

    /// Like [`place`](Self::place), with an absolute path for changes.
    ///
    /// # Errors
    /// The errors of [`place`](Self::place).
    pub(super) fn place_to_change(&self, word: &OsStr, entry: Option<&str>) -> Result<SessionPlace> {
        let place = self.place(word, entry)?;
        Ok(SessionPlace { path: absolute(&place.path)?, ..place })
    }

    /// Reads all sessions with absolute paths, to look up the file of an argument.
    pub(super) fn absolute_catalog(&self) -> Catalog {
        let place = |path: &Path| absolute(path).unwrap_or_else(|_| path.to_path_buf());
        self.report(Catalog::read_at(self.sources(), now(), place))
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
    pub(super) fn entry_in(&self, tree: &Tree) -> Result<Option<Index>> {
        self.entry.as_deref().map(|word| entry(word, tree)).transpose()
    }
}

/// Returns the key of a session, which can be outside of the session directories.
///
/// # Errors
/// The file is not a session.
pub(super) fn key_of(catalog: &mut Catalog, path: &Path) -> Result<SessionKey> {
    let path = absolute(path).unwrap_or_else(|_| path.to_path_buf());
    if catalog.key_of(&path).is_none() {
        catalog.update(vec![digest(&path)?], &[]);
    }
    catalog.key_of(&path).with_context(|| format!("{} is not a pi session", path.display()))
}

/// Makes a path absolute and removes `..`, without resolving symbolic links.
///
/// # Errors
/// There is no working directory.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).with_context(|| format!("cannot resolve the path {}", path.display()))?;
    if path.components().any(|part| part == Component::ParentDir)
        && let (Some(folder), Some(name)) = (path.parent(), path.file_name())
        && let Ok(folder) = dunce::canonicalize(folder)
    {
        return Ok(folder.join(name));
    }
    Ok(path)
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
    match scan::again(path, None, "") {
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
        // Of several entries with the same id, the last one counts, as in pi.
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
