//! The lost work of sessions, searched for once in each version of a file. The results are stored next to the index, without
//! the lines. They are used while the files of the working tree and the tips of git's refs are unchanged.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::catalog::lost_lines::{self, FileStamp, FoundLostWork, KnownTips, LostWorkControl, stamp};
use crate::catalog::session_results::{FoundResult, SessionResults};
use crate::disk::parallel::StopSignal;
use crate::search::lost_work::{LostSessions, LostWork};
use crate::session::digest::facts::SessionFacts;

/// The format version. Increase it also when the comparison changes.
const FORM: u32 = 2;

/// The name of the file in the directory of the index.
const NAME: &str = "lost.work";

/// The result for a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ComparedSession {
    /// The files that it was compared with.
    files: Vec<(String, FileStamp)>,
    /// The roots of the repositories, and a hash of the tips of their refs.
    roots: (Vec<PathBuf>, u64),
    work: LostWork,
    /// `true` if it is compared again the next time.
    is_uncertain: bool,
}

/// The results for all sessions that were compared.
#[derive(Debug, Default)]
pub struct LostWorkCache(Option<SessionResults<ComparedSession>>);

/// A session file and its working directory.
pub type ComparedPaths = (PathBuf, String);

/// Returns the file and the working directory of a session; `None` for a session of another machine, whose working tree is
/// unknown.
pub(crate) fn compared_paths(facts: &SessionFacts<'_>) -> Option<ComparedPaths> {
    (!facts.is_mirrored()).then(|| (facts.path().join(), facts.cwd().to_owned()))
}

impl LostWorkCache {
    /// Returns the lost work of sessions. Compares sessions whose file, working tree or refs have changed; `report` gets
    /// their number so far, and the number of all sessions. Returns `None` if it returned `false`. Sessions without their
    /// working directory have no result. `cache` is the directory of the index, where the results are written.
    pub fn find(
        &mut self,
        sessions: &[ComparedPaths],
        (home, cache): (&str, Option<&Path>),
        report: impl FnMut(usize, usize) -> bool,
    ) -> Option<LostSessions> {
        let (results, tips) = (self.results(cache), KnownTips::default());
        let find = |session: &ComparedPaths, known: Option<&ComparedSession>, _: &mut Vec<u8>, stop: StopSignal<'_>| {
            compare(session, known, LostWorkControl { home, tips: &tips, is_wanted: &|| !stop() })
        };
        let found = results.update(sessions, |(path, _)| path, find, report).map(|found| {
            let lost = found.into_iter().filter(|(_, one)| !one.work.ends.is_empty());
            LostSessions(lost.map(|(path, one)| (path, one.work.clone())).collect())
        });
        results.save(sessions.iter().map(|(path, _)| path));
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
        let control = LostWorkControl { home, tips: &KnownTips::default(), is_wanted };
        let found = self.results(cache).update_one(&session.0, |known| compare(session, known, control));
        found.map(|found| found.work.clone()).unwrap_or_default()
    }

    fn results(&mut self, cache: Option<&Path>) -> &mut SessionResults<ComparedSession> {
        self.0.get_or_insert_with(|| SessionResults::read(cache.map(|cache| cache.join(NAME)), FORM, 0))
    }
}

/// Compares a session unless the known result is up to date. Returns `None` if it cannot be compared now.
fn compare(
    (path, cwd): &ComparedPaths,
    known: Option<&ComparedSession>,
    control: LostWorkControl<'_>,
) -> Option<FoundResult<ComparedSession>> {
    let dir = Path::new(cwd);
    if !dir.is_absolute() || !dir.is_dir() {
        return None;
    }
    let is_same = |(path, then): &(String, FileStamp)| stamp(path) == *then;
    let is_current = |known: &ComparedSession| {
        !known.is_uncertain && known.files.iter().all(is_same) && control.tips.hash(&known.roots.0) == known.roots.1
    };
    if known.is_some_and(is_current) {
        return Some(None);
    }
    // A session that cannot be read now is compared the next time.
    let FoundLostWork { work, files, roots, is_uncertain } = lost_lines::find(path, control).ok()?;
    let hash = control.tips.hash(&roots);
    Some(Some(ComparedSession { files, roots: (roots, hash), work, is_uncertain }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::catalog::session_results::key;
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
        let find = |losses: &mut LostWorkCache| {
            let found = losses.find(&sessions, ("/home", Some(&cache)), |_, _| true).unwrap();
            let work = found.0.get(&path).cloned();
            assert_eq!(losses.find_in(&sessions[0], ("/home", None), &|| true), work.clone().unwrap_or_default());
            work.map(|work| (work.ends, work.files))
        };
        let file = |lines: usize| vec![LostFile { name: "a.txt".into(), lines }];
        assert_eq!(find(&mut LostWorkCache::default()), Some((vec![4, 2], file(4))), "each line is counted once");
        // From the file, without reading the session.
        let mut losses = LostWorkCache::default();
        let kept = losses.results(Some(&cache));
        let bytes = fs::read(cache.join(NAME)).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("second line"));
        kept.results.get_mut(&key(&path)).unwrap().1.work.ends = vec![1];
        kept.is_changed = true;
        kept.save([&path].into_iter());
        assert_eq!(find(&mut LostWorkCache::default()), Some((vec![1], file(4))));
        // Other files on the disk, and another version of the session.
        fs::write(cwd.join("a.txt"), "\tthe first line\n").unwrap();
        assert_eq!(find(&mut LostWorkCache::default()), Some((vec![4], file(3))), "two lines are too few");
        fs::write(cwd.join("a.txt"), LINES).unwrap();
        assert_eq!(find(&mut LostWorkCache::default()), None);
        fs::remove_file(cwd.join("a.txt")).unwrap();
        fs::write(&path, session(&cwd, r#","timestamp":"2026-01-01T00:03:00Z","parentSession":"/p.jsonl""#)).unwrap();
        assert_eq!(find(&mut LostWorkCache::default()), Some((vec![4], file(4))), "the other branch is the parent's");
        // A directory that looks like a repository, and no directory.
        fs::write(cwd.join(".git"), "gitdir: /nowhere").unwrap();
        fs::write(cwd.join("a.txt"), "").unwrap();
        assert_eq!(find(&mut LostWorkCache::default()), None, "git does not answer");
        fs::remove_dir_all(&cwd).unwrap();
        let found = LostWorkCache::default().find(&sessions, ("/home", None), |_, _| true).unwrap();
        assert!(found.0.is_empty());
        assert!(LostWorkCache::default().find(&sessions, ("/home", None), |_, _| false).is_none());
    }
}
