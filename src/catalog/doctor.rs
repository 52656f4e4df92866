//! Findings about session files: in each file, in parallel, and between files. What is known about a session without a
//! header comes from its path and the sessions next to it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf};
use std::time::Duration;
use std::{io, thread};

use crate::base::{sort, time};
use crate::catalog::Catalog;
use crate::catalog::parents::{ForkParent, parents};
use crate::catalog::session_results::read_files;
use crate::disk::lines::{self, CancelableReader};
use crate::disk::parallel::StopSignal;
use crate::disk::scan::{self, Unreadable};
use crate::disk::{files, locate};
use crate::session::digest::Digest;
use crate::session::digest::listed::SharedLazySession;
use crate::session::health::code::Code;
use crate::session::health::{Checkup, HealthFinding};
use crate::session::lines::Header;
use crate::session::links::IdHash;
use crate::session::problem::ConflictCopy;
use crate::session::write::repair::KnownHeader;

/// The time after which an incomplete last line is read again, because a pi may be writing it.
const AGAIN: Duration = Duration::from_secs(1);

/// The age in milliseconds up to which a pi may be writing a file.
const RECENT: i64 = 60_000;

/// A file to examine.
#[derive(Debug)]
pub(crate) struct ExaminedFile {
    pub(crate) path: PathBuf,
    /// The session, if it is one.
    pub(crate) session: Option<SharedLazySession>,
}

/// Examines files in parallel; `report` gets the number of files done until it returns `false`. Returns the findings of files
/// with some, and the files that could not be read. Needs memory for the longest line and the IDs of a file. `now` is in
/// milliseconds since 1970.
pub(crate) fn examine_files(
    files: &[ExaminedFile],
    now: i64,
    home: &str,
    report: impl FnMut(usize) -> bool,
) -> (BTreeMap<PathBuf, Vec<HealthFinding>>, Vec<Unreadable>) {
    let examine = |one: &ExaminedFile, buffer: &mut Vec<u8>, stop: StopSignal<'_>| {
        Ok((one.path.clone(), examine(one, now, home, buffer, stop)?))
    };
    let (found, unreadable) = read_files(files, |one| &one.path, examine, report);
    (found.into_iter().filter(|(_, found)| !found.is_empty()).collect(), unreadable)
}

fn examine(
    ExaminedFile { path, session }: &ExaminedFile,
    now: i64,
    home: &str,
    buffer: &mut Vec<u8>,
    stop: StopSignal<'_>,
) -> io::Result<Vec<HealthFinding>> {
    let mut checkup = read(path, buffer, stop)?;
    let is_recent = || scan::one(path, None).is_some_and(|file| now - file.version().1 < RECENT);
    if checkup.is_torn() && is_recent() {
        thread::sleep(AGAIN);
        checkup = read(path, buffer, stop)?;
    }
    let Some(mut found) = checkup.finish() else { return Ok(Vec::new()) };
    if files::is_writable_by_all(path) {
        found.push(HealthFinding::new(Code::WritableByOthers, None));
    }
    let differs = session.as_ref().is_some_and(|session| session.is_stored() && differs(session, home));
    found.extend(differs.then(|| HealthFinding::new(Code::IndexDiffers, None)));
    Ok(found)
}

fn read(path: &Path, buffer: &mut Vec<u8>, stop: StopSignal<'_>) -> io::Result<Checkup> {
    let mut checkup = Checkup::default();
    lines::each(&mut CancelableReader(files::open(path)?, || !stop()), 0, u64::MAX, buffer, |line| {
        checkup.line(&line);
        true
    })?;
    Ok(checkup)
}

/// Returns `true` if the digest in the index is not that of the file.
fn differs(session: &Digest, home: &str) -> bool {
    let Ok(Some(now)) = scan::reread(&session.path, session.owner.clone(), home) else { return false };
    let bytes = |digest: &Digest| postcard::to_allocvec(digest).unwrap_or_default();
    (now.bytes, now.mtime) == (session.bytes, session.mtime) && bytes(&now) != bytes(session)
}

impl Catalog {
    /// Returns the findings that concern several sessions: parents of forks, and session IDs.
    pub(crate) fn findings_between(&self) -> Vec<(PathBuf, HealthFinding)> {
        let sessions: Vec<&SharedLazySession> = self.with_copies().map(|key| &self[key]).collect();
        let path = |at: usize| sessions[at].file_path();
        let mut found = Vec::new();
        for (fork, parent) in parents(&sessions) {
            let named = sessions[fork].facts();
            if named.is_mirrored() {
                continue; // its parent need not be synchronized yet
            }
            let named = named.parent_session().or(named.parent_id()).unwrap_or_default();
            let detail = match parent {
                ForkParent::Present(_) => continue,
                ForkParent::Moved(parent) => format!("{named}; it is probably {}", path(parent).display()),
                ForkParent::Missing => named.into(),
            };
            found.push((path(fork), HealthFinding::new(Code::ForkParentMissing, Some(detail))));
        }
        let mut by_id: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, session) in sessions.iter().enumerate() {
            let facts = session.facts();
            // The target of a link is listed itself.
            if !facts.is_link() && !facts.is_mirrored() {
                by_id.entry(facts.id()).or_default().push(at);
            }
        }
        for (id, same) in by_id.into_iter().filter(|(_, same)| same.len() > 1) {
            let same: Vec<SameId> = same.into_iter().map(|at| SameId::new(sessions[at], id)).collect();
            for one in &same {
                let mut others = same.iter().filter(|other| one.is_copy_of(other));
                let original = others.clone().find(|other| other.copy.is_none());
                let (code, other) = match one.copy {
                    Some(_) => (Code::ConflictCopy, original.or_else(|| others.next())),
                    None => (Code::SharedSessionId, original), // its copies are reported
                };
                let kind = one.copy.map_or(String::new(), |copy| format!("{}; of ", copy.means()));
                let finding =
                    |other: &SameId| HealthFinding::new(code, Some(format!("{kind}{}", other.path.display())));
                found.extend(other.map(finding).map(|finding| (one.path.clone(), finding)));
            }
        }
        sort::by(&mut found, |(one, _), (other, _)| one.cmp(other));
        found
    }

    /// Returns what is known about the sessions in files besides their headers, in order.
    pub(crate) fn known_headers(&self, paths: &[PathBuf]) -> Vec<KnownHeader> {
        let dirs: HashSet<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
        let mut newest: HashMap<PathBuf, (i64, &str)> = HashMap::new();
        for session in self.keys().filter_map(|key| self.get(key)) {
            let facts = session.facts();
            let path = facts.path().join();
            if let Some(dir) = path.parent().filter(|dir| dirs.contains(dir)) {
                let newest = newest.entry(dir.into()).or_default();
                *newest = (*newest).max((facts.mtime(), facts.cwd()));
            }
        }
        let cwd = |path: &Path| newest.get(path.parent()?).map(|(_, cwd)| *cwd);
        paths.iter().map(|path| self.known_header(path, cwd(path))).collect()
    }

    /// Returns what is known about the session in a file; `beside` is the working directory of sessions next to it.
    fn known_header(&self, path: &Path, beside: Option<&str>) -> KnownHeader {
        if let Some(session) = self.key_of(path).and_then(|key| self.get(key)) {
            return known_of(session);
        }
        let cwds = match beside {
            Some(cwd) => vec![cwd.into()],
            None => {
                let dirs = locate::project_dirs(path.parent().unwrap_or(path), Path::new(MAIN_SEPARATOR_STR));
                dirs.into_iter().filter_map(|dir| dir.into_os_string().into_string().ok()).collect()
            }
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let (time, id) = name.split_once('_').unwrap_or(("", &name));
        let id = match is_id(id) {
            true => id.to_owned(),
            false => format!("{:016x}", IdHash::new(path.as_os_str().as_encoded_bytes()).value()),
        };
        let modified = || scan::one(path, None).map_or(0, |file| file.version().1);
        KnownHeader { id, cwds, time_ms: time_of(time).unwrap_or_else(modified) }
    }
}

/// A session whose ID another one has, too.
struct SameId {
    path: PathBuf,
    /// The path without symbolic links: a file can be in two session directories.
    real_path: PathBuf,
    created: Option<i64>,
    first_entry: Option<IdHash>,
    copy: Option<ConflictCopy>,
}

impl SameId {
    fn new(session: &SharedLazySession, id: &str) -> Self {
        let (path, digest) = (session.file_path(), session.uncached_digest());
        let (created, first_entry) = (digest.header.created, digest.entry_key(0));
        Self { real_path: digest.real_path().clone(), created, first_entry, copy: ConflictCopy::of(&path, id), path }
    }

    /// Returns `true` if both have common entries. Users can choose the same ID twice (pi 1.6.0).
    fn is_copy_of(&self, other: &Self) -> bool {
        let has_same_start = self.first_entry.is_some() && self.first_entry == other.first_entry;
        self.real_path != other.real_path && (self.created == other.created || has_same_start)
    }
}

/// Returns the facts of a session for its header.
pub(crate) fn known_of(session: &Digest) -> KnownHeader {
    let Header { id, cwd, created, .. } = &session.header;
    KnownHeader { id: id.clone(), cwds: vec![cwd.clone()], time_ms: created.unwrap_or(session.mtime) }
}

/// Returns `true` for an ID that pi accepts (1.6.0).
fn is_id(id: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = id.as_bytes();
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    is_end(bytes.first()) && is_end(bytes.last()) && bytes.iter().all(is_inside)
}

/// Returns the time in a file name of pi, in milliseconds since 1970.
fn time_of(name: &str) -> Option<i64> {
    let (date, clock) = name.split_once('T')?;
    let [hours, minutes, seconds, rest] = clock.splitn(4, '-').collect::<Vec<_>>().try_into().ok()?;
    time::parse(&format!("{date}T{hours}:{minutes}:{seconds}.{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_that_is_not_that_of_the_file_differs() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n").unwrap();
        let read = || scan::reread(&path, None, "").unwrap().unwrap();
        let stale = Digest { message_count: 7, ..read() };
        assert!(!differs(&read(), "") && differs(&stale, ""));
        // Another version of the file can differ.
        assert!(!differs(&Digest { bytes: 1, ..stale }, ""));
    }

    #[test]
    fn a_header_is_known_from_the_path() {
        let catalog = Catalog::of(Vec::new(), 0);
        let id = "0199f2c1-aaaa-7000-8000-000000000001";
        let path = format!("/s/--home-dev-app--/2026-01-05T09-00-00-000Z_{id}.jsonl");
        let known = KnownHeader { id: id.into(), cwds: vec!["/home/dev/app".into()], time_ms: 1_767_603_600_000 };
        assert_eq!(catalog.known_header(Path::new(&path), Some("/home/dev/app")), known);
        let known = catalog.known_header(Path::new("/s/my talk.jsonl"), None);
        assert!(is_id(&known.id) && known.cwds.is_empty(), "{known:?}");
    }
}
