//! The lost work of sessions, searched for once in each version of a file. The results are stored next to the index, without
//! the lines. They are used while the files of the working tree and the tips of git's refs are unchanged.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::catalog::lost_lines::{self, FileStamp, FoundLosses, KnownTips, LossControl, stamp};
use crate::catalog::session_results::{forget_others, key, read, version, write};
use crate::disk::parallel::{self, StopSignal};
use crate::search::lost_work::{LostSessions, LostWork};
use crate::session::digest::facts::SessionFacts;

/// The format version. Increase it also when the comparison changes.
const FORM: u32 = 1;

/// The name of the file in the directory of the index.
const NAME: &str = "lost.work";

/// The result for a version of a session file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ComparedSession {
    version: u64,
    /// The files that it was compared with.
    files: Vec<(String, FileStamp)>,
    /// The roots of the repositories, and a hash of the tips of their refs.
    roots: (Vec<PathBuf>, u64),
    work: LostWork,
}

/// The compared sessions, by the hash of the path.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    form: u32,
    sessions: HashMap<u64, ComparedSession>,
    /// `true` if it differs from its file.
    #[serde(skip)]
    is_changed: bool,
}

/// The result for a session, which is `new` unless it was known.
struct Compared {
    path: PathBuf,
    new: Option<ComparedSession>,
    work: LostWork,
}

/// The results for all sessions that were compared.
#[derive(Debug, Default)]
pub struct LossCache(Option<Content>);

/// A session file and its working directory.
pub type ComparedPaths = (PathBuf, String);

/// Returns the file and the working directory of a session; `None` for a session of another machine, whose working tree is
/// unknown.
pub(crate) fn compared_paths(facts: &SessionFacts<'_>) -> Option<ComparedPaths> {
    (!facts.is_mirrored()).then(|| (facts.path().join(), facts.cwd().to_owned()))
}

impl LossCache {
    /// Returns the lost work of sessions. Compares sessions whose file, working tree or refs have changed; `report` gets
    /// their number so far, and the number of all sessions. Returns `None` if it returned `false`. Sessions without their
    /// working directory have no result. `cache` is the directory of the index, where the results are written.
    pub fn find(
        &mut self,
        sessions: &[ComparedPaths],
        (home, cache): (&str, Option<&Path>),
        report: impl FnMut(usize, usize) -> bool,
    ) -> Option<LostSessions> {
        let content = self.content(cache);
        let found = content.find(sessions, home, report);
        forget_others(&mut content.sessions, sessions.iter().map(|(path, _)| path));
        if let Some(cache) = cache.filter(|_| content.is_changed) {
            // If it cannot be written, the sessions are compared again.
            content.is_changed = write(&cache.join(NAME), content).is_err();
        }
        found
    }

    /// Returns the lost work of a session; empty if it has none, or cannot be compared now. Compares it if its file, working
    /// tree or refs have changed. `cache` is the directory of the index.
    pub fn find_in(
        &mut self,
        session: &ComparedPaths,
        (home, cache): (&str, Option<&Path>),
        is_wanted: &dyn Fn() -> bool,
    ) -> LostWork {
        let content = self.content(cache);
        let found = content.compare(session, LossControl { home, tips: &KnownTips::default(), is_wanted });
        found.map(|found| content.take(found).1).unwrap_or_default()
    }

    fn content(&mut self, cache: Option<&Path>) -> &mut Content {
        self.0.get_or_insert_with(|| {
            let kept = cache.and_then(|cache| read::<Content>(&cache.join(NAME))).filter(|kept| kept.form == FORM);
            kept.unwrap_or_else(|| Content { form: FORM, ..Content::default() })
        })
    }
}

impl Content {
    /// Compares sessions without a result that is up to date. Returns `None` if `report` returned `false`.
    fn find(
        &mut self,
        sessions: &[ComparedPaths],
        home: &str,
        mut report: impl FnMut(usize, usize) -> bool,
    ) -> Option<LostSessions> {
        let (content, tips) = (&*self, KnownTips::default());
        let work = |session: &ComparedPaths, _: &mut (), stop: StopSignal<'_>| {
            content.compare(session, LossControl { home, tips: &tips, is_wanted: &|| !stop() })
        };
        let (mut is_complete, mut all) = (true, Vec::new());
        parallel::each(sessions, (work, |_: &ComparedPaths, _| None), |batch, done| {
            all.extend(batch);
            is_complete = report(done, sessions.len());
            is_complete
        });
        let all = all.into_iter().map(|found| self.take(found)).filter(|(_, work)| !work.ends.is_empty());
        let lost = LostSessions(all.collect());
        is_complete.then_some(lost)
    }

    /// Returns the result for a session: the known one, if it is up to date.
    fn compare(&self, (path, cwd): &ComparedPaths, control: LossControl<'_>) -> Option<Compared> {
        let dir = Path::new(cwd);
        let version = version(path).filter(|_| dir.is_absolute() && dir.is_dir())?;
        if let Some(known) = self.sessions.get(&key(path)).filter(|known| known.is_current(version, control.tips)) {
            return Some(Compared { path: path.clone(), new: None, work: known.work.clone() });
        }
        // A session that cannot be read now is compared the next time.
        let FoundLosses { work, files, roots, is_uncertain } = lost_lines::find(path, control).ok()?;
        let hash = control.tips.hash(&roots);
        let new = ComparedSession { version, files, roots: (roots, hash), work: work.clone() };
        Some(Compared { path: path.clone(), new: Some(new).filter(|_| !is_uncertain), work })
    }

    /// Adds a result, and returns the path and the lost work.
    fn take(&mut self, Compared { path, new, work }: Compared) -> (PathBuf, LostWork) {
        self.is_changed |= new.is_some();
        self.sessions.extend(new.map(|new| (key(&path), new)));
        (path, work)
    }
}

impl ComparedSession {
    fn is_current(&self, version: u64, tips: &KnownTips) -> bool {
        let is_same = |(path, then): &(String, FileStamp)| stamp(path) == *then;
        self.version == version && self.files.iter().all(is_same) && tips.hash(&self.roots.0) == self.roots.1
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::search::lost_work::LostFile;
    use crate::session::digest::Digest;

    const LINES: &str = "the first line\nthe second line\nthe third line\n";

    /// Returns the lines of a session that writes a file on two branches. In a fork, only the second branch is new.
    fn session(cwd: &Path, header: &str) -> String {
        let message = |id: &str, parent: &str, minute: u8, message: String| {
            let time = format!("2026-01-01T00:0{minute}:00Z");
            format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"{time}","message":{message}}}"#)
        };
        let write = |call: &str, text: &str| {
            let arguments = serde_json::json!({"path": "a.txt", "content": text});
            format!(
                r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"{call}","name":"write","arguments":{arguments}}}]}}"#
            )
        };
        let result = |call: &str| {
            format!(
                r#"{{"role":"toolResult","toolCallId":"{call}","toolName":"write","content":[{{"type":"text","text":"ok"}}]}}"#
            )
        };
        let lines = [
            format!(r#"{{"type":"session","version":3,"id":"s","cwd":{:?}{header}}}"#, cwd.to_str().unwrap()),
            message("1", "null", 1, r#"{"role":"user","content":"Begin"}"#.into()),
            message("2", "\"1\"", 2, write("c", LINES)),
            message("3", "\"2\"", 2, result("c")),
            message("4", "\"1\"", 4, write("d", &format!("{LINES}a fourth line\n"))),
            message("5", "\"4\"", 4, result("d")),
        ];
        lines.join("\n") + "\n"
    }

    #[test]
    fn sessions_of_other_machines_are_not_compared() {
        let mut session = Digest { path: "/s/a.jsonl".into(), ..Digest::default() };
        session.header.cwd = "/code".into();
        assert_eq!(compared_paths(&session.facts()), Some(("/s/a.jsonl".into(), "/code".into())));
        session.path = "/data/machine-mirrors/box/%2Fs/a.jsonl".into();
        assert_eq!(compared_paths(&session.facts()), None);
    }

    #[test]
    fn sessions_are_compared_once_in_each_version() {
        let dir = tempfile::tempdir().unwrap();
        let [cache, cwd, path] = ["cache", "cwd", "s.jsonl"].map(|name| dir.path().join(name));
        fs::create_dir(&cwd).unwrap();
        fs::write(&path, session(&cwd, "")).unwrap();
        let sessions = [(path.clone(), cwd.to_str().unwrap().to_owned())];
        let find = |losses: &mut LossCache| {
            let found = losses.find(&sessions, ("/home", Some(&cache)), |_, _| true).unwrap();
            let work = found.0.get(&path).cloned();
            assert_eq!(losses.find_in(&sessions[0], ("/home", None), &|| true), work.clone().unwrap_or_default());
            work.map(|work| (work.ends, work.files))
        };
        let file = |lines: usize| vec![LostFile { name: "a.txt".into(), lines }];
        assert_eq!(find(&mut LossCache::default()), Some((vec![4, 2], file(4))), "each line is counted once");
        // From the file, without reading the session.
        let mut kept: Content = read(&cache.join(NAME)).unwrap();
        let bytes = fs::read(cache.join(NAME)).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("second line"));
        kept.sessions.get_mut(&key(&path)).unwrap().work.ends = vec![1];
        write(&cache.join(NAME), &kept).unwrap();
        assert_eq!(find(&mut LossCache::default()), Some((vec![1], file(4))));
        // Other files on the disk, and another version of the session.
        fs::write(cwd.join("a.txt"), "\tthe first line\n").unwrap();
        assert_eq!(find(&mut LossCache::default()), Some((vec![4], file(3))), "two lines are too few");
        fs::write(cwd.join("a.txt"), LINES).unwrap();
        assert_eq!(find(&mut LossCache::default()), None);
        fs::remove_file(cwd.join("a.txt")).unwrap();
        fs::write(&path, session(&cwd, r#","timestamp":"2026-01-01T00:03:00Z","parentSession":"/p.jsonl""#)).unwrap();
        assert_eq!(find(&mut LossCache::default()), Some((vec![4], file(4))), "the other branch is the parent's");
        // A directory that looks like a repository, and no directory.
        fs::write(cwd.join(".git"), "gitdir: /nowhere").unwrap();
        fs::write(cwd.join("a.txt"), "").unwrap();
        assert_eq!(find(&mut LossCache::default()), None, "git does not answer");
        fs::remove_dir_all(&cwd).unwrap();
        let found = LossCache::default().find(&sessions, ("/home", None), |_, _| true).unwrap();
        assert!(found.0.is_empty());
        assert!(LossCache::default().find(&sessions, ("/home", None), |_, _| false).is_none());
    }
}
