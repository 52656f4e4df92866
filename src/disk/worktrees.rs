//! Finds the linked worktrees of git repositories without starting git: reads `.git`, `commondir`, `gitdir` and `HEAD`
//! files. Worktrees that are gone are known from two places: earlier lookups, stored in `worktrees.json` in the state
//! directory, and git's own records of worktrees that were not pruned.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::paths::normalize;
use crate::disk::files::{self, read_small};
use crate::disk::state;
use crate::session::worktrees::{Worktree, Worktrees};

/// The maximum length of a path in bytes, and of a file with one.
const MAX_PATH: usize = 4096;

/// The maximum number of directories looked at above a working directory.
const MAX_ABOVE: usize = 64;

/// The maximum number of worktrees read from a repository.
const MAX_OF_REPOSITORY: usize = 1000;

/// The maximum number of recorded worktrees. Those that were not found for the longest time are removed first.
const MAX_RECORDED: usize = 5000;

/// The time after which the time in a record is updated, in milliseconds.
const RECORD_AGAIN: i64 = 30 * 24 * 60 * 60 * 1000;

/// A recorded worktree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RecordedWorktree {
    main: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// The time at which it was last found, in milliseconds since 1970.
    #[serde(default)]
    seen: i64,
    /// Fields of a newer pitree, preserved.
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// The content of the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Record {
    /// The worktrees by directory.
    #[serde(default)]
    trees: BTreeMap<String, RecordedWorktree>,
    /// Fields of a newer pitree, preserved.
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Record {
    /// Updates worktrees that were found, and limits their number. Returns `true` if anything changed.
    fn note<'a>(&mut self, found: impl Iterator<Item = &'a Worktree>, now: i64) -> bool {
        let mut is_changed = false;
        for Worktree { dir, main, name, branch } in found {
            let before = self.trees.get(dir);
            let is_same = |tree: &RecordedWorktree| (&tree.main, &tree.name, &tree.branch) == (main, name, branch);
            if before.is_some_and(|tree| is_same(tree) && now.saturating_sub(tree.seen) < RECORD_AGAIN) {
                continue;
            }
            let others = before.map(|tree| tree.others.clone()).unwrap_or_default();
            let tree =
                RecordedWorktree { main: main.clone(), name: name.clone(), branch: branch.clone(), seen: now, others };
            self.trees.insert(dir.clone(), tree);
            is_changed = true;
        }
        let excess = self.trees.len().saturating_sub(MAX_RECORDED);
        if excess > 0 {
            let mut by_age: Vec<(i64, String)> =
                self.trees.iter().map(|(dir, tree)| (tree.seen, dir.clone())).collect();
            by_age.sort_unstable();
            by_age[..excess].iter().for_each(|(_, dir)| _ = self.trees.remove(dir));
        }
        is_changed
    }
}

/// The nearest repository at or above a directory.
#[derive(Clone, Debug)]
enum Nearest {
    /// A linked worktree.
    Linked(Arc<Worktree>),
    /// No linked worktree. A recorded worktree counts if its path is longer than this.
    Other(usize),
}

/// Finds worktrees. It checks each directory once.
#[derive(Debug, Default)]
pub struct WorktreeFinder {
    /// The file of the record.
    path: Option<PathBuf>,
    record: Record,
    /// Worktrees in records, by directory.
    known: HashMap<String, Arc<Worktree>>,
    looked_at: HashMap<PathBuf, Nearest>,
    /// Working directories that exist.
    existing: HashSet<String>,
    /// Repositories, and `true` if their records were read.
    repositories: HashMap<PathBuf, bool>,
    found: Worktrees,
}

impl WorktreeFinder {
    /// Creates a finder with the record in the state directory. If worktrees are separate, each is a project of its own.
    pub(crate) fn new(state: Option<&Path>, are_separate: bool) -> Self {
        let path = state.map(|state| state.join("worktrees.json"));
        let record: Record = path.as_deref().and_then(|path| state::read(path).ok()).unwrap_or_default();
        let tree = |(dir, tree): (&String, &RecordedWorktree)| {
            let RecordedWorktree { main, name, branch, .. } = tree.clone();
            (dir.clone(), Arc::new(Worktree { dir: dir.clone(), main, name, branch }))
        };
        let known = record.trees.iter().map(tree).collect();
        Self { path, record, known, found: Worktrees::new(are_separate), ..Self::default() }
    }

    /// Looks at all directories again from now on. The worktrees found so far stay until then.
    pub(crate) fn restart(&mut self, state: Option<&Path>, are_separate: bool) {
        let before = std::mem::take(&mut self.found);
        *self = Self::new(state, are_separate);
        self.found.keep(before);
    }

    /// Returns the worktrees found so far.
    pub(crate) fn found(&self) -> &Worktrees {
        &self.found
    }

    /// Finds recorded worktrees without looking at the directories. Returns `true` if that changed the result.
    pub(crate) fn recall<'a>(&mut self, cwds: impl Iterator<Item = &'a str>) -> bool {
        let mut is_changed = false;
        if !self.known.is_empty() {
            for cwd in cwds {
                is_changed |= self.known(cwd, 0).is_some_and(|tree| self.found.insert(cwd, &tree));
            }
        }
        is_changed
    }

    /// Finds the worktrees of working directories. Returns `true` if that changed the result.
    pub(crate) fn find<'a>(&mut self, cwds: impl Iterator<Item = &'a str>) -> bool {
        let nearest: Vec<(&str, Nearest)> = cwds.map(|cwd| (cwd, self.nearest(cwd))).collect();
        if nearest.iter().any(|(cwd, nearest)| self.is_lost(cwd, nearest)) {
            self.read_records();
        }
        let mut is_changed = false;
        for (cwd, nearest) in nearest {
            let tree = match nearest {
                Nearest::Linked(tree) => Some(tree),
                Nearest::Other(than) => self.known(cwd, than),
            };
            is_changed |= match tree {
                Some(tree) => self.found.insert(cwd, &tree),
                None => self.found.remove(cwd),
            };
        }
        is_changed
    }

    /// Adds the worktrees that were found to the record, if there are new ones.
    ///
    /// # Errors
    /// The record cannot be written.
    pub(crate) fn keep(&mut self, now: i64) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        match self.record.note(self.found.all(), now) {
            true => state::update(path, |record: &mut Record| {
                record.note(self.found.all(), now);
            }),
            false => Ok(()),
        }
    }

    /// Returns the recorded worktree of a directory whose path is longer than a limit.
    fn known(&self, cwd: &str, longer_than: usize) -> Option<Arc<Worktree>> {
        let dirs = above(cwd).take_while(|dir| dir.as_os_str().len() > longer_than);
        dirs.filter_map(|dir| self.known.get(dir.to_str()?)).next().cloned()
    }

    /// Returns `true` if a directory is missing, and not recorded as a worktree.
    fn is_lost(&mut self, cwd: &str, nearest: &Nearest) -> bool {
        match nearest {
            Nearest::Other(than) if *than < cwd.len() && !self.existing.contains(cwd) => {
                let exists = Path::new(cwd).is_dir();
                if exists {
                    self.existing.insert(cwd.into());
                }
                !exists && self.known(cwd, *than).is_none()
            }
            _ => false,
        }
    }

    fn nearest(&mut self, cwd: &str) -> Nearest {
        let mut passed = Vec::new();
        let mut nearest = Nearest::Other(0);
        for dir in above(cwd) {
            let known = self.looked_at.get(dir).cloned();
            if let Some(found) = known.or_else(|| self.find_repository(dir)) {
                nearest = found;
                break;
            }
            passed.push(dir.to_path_buf());
        }
        self.looked_at.extend(passed.into_iter().map(|dir| (dir, nearest.clone())));
        nearest
    }

    /// Looks for a repository in a directory.
    fn find_repository(&mut self, dir: &Path) -> Option<Nearest> {
        let git = dir.join(".git");
        let own = dir.as_os_str().len();
        let metadata = fs::metadata(&git).ok()?;
        let nearest = if metadata.is_dir() {
            self.repositories.entry(git).or_default();
            Nearest::Other(own)
        } else {
            let admin = pointer(&git, dir);
            match admin.as_deref().and_then(|admin| linked(dir, admin)) {
                Some((common, tree)) => {
                    self.repositories.entry(common).or_default();
                    Nearest::Linked(Arc::new(tree))
                }
                None if admin.is_some_and(|admin| admin.is_dir()) => Nearest::Other(own), // a submodule
                None => Nearest::Other(own - 1),                                          // the repository is gone
            }
        };
        self.looked_at.insert(dir.to_path_buf(), nearest.clone());
        Some(nearest)
    }

    /// Reads the records that repositories have of their worktrees.
    fn read_records(&mut self) {
        for (common, is_read) in &mut self.repositories {
            if std::mem::replace(is_read, true) {
                continue;
            }
            for folder in files::children(&common.join("worktrees")).take(MAX_OF_REPOSITORY) {
                let dir = pointer(&folder.join("gitdir"), &folder);
                let tree = dir.as_deref().and_then(Path::parent).and_then(|dir| worktree(dir, &folder, common));
                if let Some(tree) = tree {
                    self.known.entry(tree.dir.clone()).or_insert(Arc::new(tree));
                }
            }
        }
    }
}

/// Iterates over an absolute path of bounded length and the directories above it.
fn above(cwd: &str) -> impl Iterator<Item = &Path> {
    let is_bounded = cwd.len() <= MAX_PATH && Path::new(cwd).is_absolute();
    Path::new(cwd).ancestors().take(if is_bounded { MAX_ABOVE } else { 0 })
}

/// Returns the linked worktree in a directory with the repository's directory for it, and the repository.
fn linked(dir: &Path, admin: &Path) -> Option<(PathBuf, Worktree)> {
    let common = pointer(&admin.join("commondir"), admin)?;
    let tree = worktree(dir, admin, &common)?;
    Some((common, tree))
}

/// Returns the worktree in a directory; the repository has `admin` for it.
fn worktree(dir: &Path, admin: &Path, common: &Path) -> Option<Worktree> {
    // A repository in a hidden directory, such as `.git` or `.bare`, belongs to the directory around it.
    let is_hidden = common.file_name()?.as_encoded_bytes().starts_with(b".");
    let main = if is_hidden { common.parent()? } else { common };
    let (of_dir, of_main) = (dir.file_name()?.to_str()?, main.file_name()?.to_str()?);
    let head = text(&admin.join("HEAD"));
    let branch = head.as_deref().and_then(|head| head.strip_prefix("ref: refs/heads/")).map(str::to_owned);
    let name = match of_dir == of_main {
        true => branch.clone().or_else(|| Some(admin.file_name()?.to_str()?.to_owned()))?,
        false => of_dir.to_owned(),
    };
    let [dir, main] = [dir, main].map(|path| path.to_str().map(str::to_owned));
    let (dir, main) = (dir?, main?);
    (dir != main).then_some(Worktree { dir, main, name, branch })
}

/// Reads a path from a file; a relative one starts at `base`.
fn pointer(file: &Path, base: &Path) -> Option<PathBuf> {
    let text = text(file)?;
    let path = text.strip_prefix("gitdir:").unwrap_or(&text).trim_start();
    (!path.is_empty()).then(|| normalize(&base.join(path)))
}

/// Reads a small file with one line; `None` for other files.
fn text(file: &Path) -> Option<String> {
    let text = String::from_utf8(read_small(file, MAX_PATH as u64).ok()??).ok()?;
    let line = text.trim_end_matches(['\n', '\r']);
    (!line.contains(['\n', '\0'])).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a main working tree `code/app`.
    struct Sample(tempfile::TempDir);

    impl Sample {
        fn new() -> Self {
            let sample = Self(tempfile::tempdir().unwrap());
            sample.write("code/app/.git/HEAD", "ref: refs/heads/main\n");
            sample
        }

        fn path(&self, path: &str) -> String {
            dunce::canonicalize(self.0.path()).unwrap().join(path).to_str().unwrap().to_owned()
        }

        fn write(&self, path: &str, text: impl AsRef<[u8]>) {
            let path = PathBuf::from(self.path(path));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        /// Adds a worktree like git 2.43.
        fn add(&self, dir: &str, (repository, admin): (&str, &str), branch: &str) {
            let admin = format!("{repository}/worktrees/{admin}");
            self.write(&format!("{dir}/.git"), format!("gitdir: {}\n", self.path(&admin)));
            self.write(&format!("{admin}/commondir"), "../..\n");
            self.write(&format!("{admin}/gitdir"), format!("{}/.git\n", self.path(dir)));
            self.write(&format!("{admin}/HEAD"), format!("ref: refs/heads/{branch}\n"));
        }

        fn finder(&self) -> WorktreeFinder {
            WorktreeFinder::new(Some(Path::new(&self.path("state"))), false)
        }

        /// Returns the project below the folder and the words of the worktree.
        fn place(&self, finder: &WorktreeFinder, dir: &str) -> (String, String) {
            let cwd = self.path(dir);
            let project = finder.found().project(&cwd).strip_prefix(&self.path("")).unwrap().to_owned();
            (project, finder.found().of(&cwd).map_or(String::new(), Worktree::words))
        }

        /// Looks at directories with a new finder, and writes the record.
        fn places<const N: usize>(&self, dirs: [&str; N]) -> [(String, String); N] {
            let mut finder = self.finder();
            let cwds = dirs.map(|dir| self.path(dir));
            finder.find(cwds.iter().map(String::as_str));
            finder.keep(1).unwrap();
            dirs.map(|dir| self.place(&finder, dir))
        }
    }

    fn place(project: &str, words: &str) -> (String, String) {
        (project.into(), words.into())
    }

    #[test]
    fn linked_worktrees_belong_to_the_main_working_tree() {
        let sample = Sample::new();
        sample.add("w/fix", ("code/app/.git", "fix"), "fix-42");
        sample.add("w/2/app", ("code/app/.git", "app1"), "two");
        sample.add("code/app/.worktrees/in", ("code/app/.git", "in"), "in");
        sample.write("code/app/lib/sub/.git", "gitdir: ../../.git/modules/sub\n");
        sample.write("code/app/.git/modules/sub/HEAD", "x");
        sample.write("bare/.git", "gitdir: ./.bare\n");
        sample.add("bare/one", ("bare/.bare", "one"), "b");
        sample.add("w/two", ("srv/app.git", "two"), "two");
        let found = sample.places([
            "code/app",
            "code/app/src",
            "w/fix",
            "w/fix/src/deep",
            "w/2/app",
            "code/app/.worktrees/in",
            "code/app/lib/sub",
            "bare",
            "bare/one",
            "w/two/x",
            "elsewhere",
        ]);
        assert_eq!(
            found,
            [
                place("code/app", ""),
                place("code/app/src", ""),
                place("code/app", "fix (fix-42)"),
                place("code/app/src/deep", "fix (fix-42)"),
                place("code/app", "two"),
                place("code/app", "in"),
                place("code/app/lib/sub", ""),
                place("bare", ""),
                place("bare", "one (b)"),
                place("srv/app.git/x", "two"),
                place("elsewhere", ""),
            ]
        );
    }

    #[test]
    fn removed_worktrees_are_remembered() {
        let sample = Sample::new();
        sample.add("w/fix", ("code/app/.git", "fix"), "fix");
        sample.add("code/app/.worktrees/in", ("code/app/.git", "in"), "in");
        let dirs = ["w/fix/src", "code/app/.worktrees/in", "code/app"];
        let before = sample.places(dirs);
        assert_eq!(before[0], place("code/app/src", "fix"));
        for gone in ["w/fix", "code/app/.worktrees/in", "code/app/.git/worktrees"] {
            fs::remove_dir_all(sample.path(gone)).unwrap();
        }
        assert_eq!(sample.places(dirs), before);
        let mut finder = sample.finder();
        let cwd = sample.path("w/fix/src");
        assert!(finder.recall([&*cwd].into_iter()) && !finder.find([&*cwd].into_iter()));
        // Leftover files do not change that, but a repository of its own does.
        sample.write("w/fix/target/x", "");
        assert_eq!(sample.places(dirs), before);
        sample.write("w/fix/.git/HEAD", "x");
        assert_eq!(sample.places(dirs)[0], place("w/fix/src", ""));
    }

    #[test]
    fn worktrees_that_git_did_not_prune_are_found() {
        let sample = Sample::new();
        sample.add("w/fix", ("code/app/.git", "fix"), "fix");
        fs::remove_dir_all(sample.path("w/fix")).unwrap();
        assert_eq!(sample.places(["w/fix/src", "code/app"])[0], place("code/app/src", "fix"));
    }

    #[test]
    fn the_record_is_limited_and_written_only_if_needed() {
        let tree = |at: usize| Worktree { dir: format!("/{at}"), main: "/m".into(), name: "n".into(), branch: None };
        let mut record = Record::default();
        assert!(record.note([&tree(0)].into_iter(), 5) && !record.note([&tree(0)].into_iter(), RECORD_AGAIN));
        assert!(record.note([&tree(0)].into_iter(), RECORD_AGAIN + 5));
        let all: Vec<Worktree> = (1..=MAX_RECORDED).map(tree).collect();
        assert!(record.note(all.iter(), 7));
        assert!(record.trees.len() == MAX_RECORDED && record.trees.contains_key("/0"));
    }

    #[test]
    fn a_repository_of_hostile_bytes_is_skipped() {
        let sample = Sample::new();
        let long = "x/".repeat(500_000);
        for (at, text) in [
            &b"gitdir: \xff\xfe\n"[..],
            b"gitdir: \0",
            b"gitdir:",
            b"",
            b"gitdir: .",
            b"gitdir: /\n",
            b"gitdir: ../../../../../../..",
            b"gitdir: a\nb\n",
            format!("gitdir: {long}").as_bytes(),
        ]
        .into_iter()
        .enumerate()
        {
            let dir = format!("hostile/{at}");
            sample.write(&format!("{dir}/.git"), text);
            assert_eq!(sample.places([&*dir])[0], place(&dir, ""), "{at}");
        }
        for common in ["/", "", ".", "/..", "\u{1b}[31m", "../../../../../../../.."] {
            sample.add("w/fix", ("code/app/.git", "fix"), "\u{1b}[31m");
            sample.write("code/app/.git/worktrees/fix/commondir", common);
            sample.write("code/app/.git/worktrees/fix/gitdir", common);
            sample.places(["w/fix", "code/app"]);
        }
        let mut finder = sample.finder();
        assert!(!finder.find(["relative", "", &*format!("/{long}"), "/", "\0"].into_iter()));
    }
}
