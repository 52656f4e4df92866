//! Finds the lost work of a session: lines that it brought to a file, and that are in the exact state of the file at the end
//! of a branch. They are lost if the file has them neither in the working tree nor at the tip of a git ref.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::iter::successors;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Result, ensure};

use crate::base::paths::relative_to;
use crate::catalog::file_history::{FileVersion, touches};
use crate::disk::fingerprint::{self, hash};
use crate::disk::git::TipContents;
use crate::disk::load::{self, Bodies};
use crate::disk::{files, git};
use crate::search::lost_work::{LostFile, LostWork};
use crate::session::links::Index;
use crate::session::replay::state::{FileState, Files};
use crate::session::replay::{CommandEffects, Replay};
use crate::session::tree::node::Node;
use crate::session::tree::{EntryFeature, Tree};

/// The maximum numbers of branches and files of a session, and the maximum size of a file in bytes.
const MAX_BRANCHES: usize = 200;
const MAX_FILES: usize = 200;
const MAX_FILE: u64 = 2 << 20;

/// The minimum number of characters without spaces in a line, and the minimum number of lost lines of a branch.
const MIN_CHARACTERS: usize = 8;
const MIN_LINES: usize = 3;

/// The tips of the refs of repositories by root, read once each; `None` if git does not answer.
#[derive(Debug, Default)]
pub(super) struct KnownTips(Mutex<HashMap<PathBuf, Arc<OnceLock<Tips>>>>);

type Tips = Option<Arc<BTreeSet<String>>>;

/// The size and the time of a file; `None` if it is inaccessible.
pub(super) type FileStamp = Option<(u64, i64)>;

/// The result for a session, and the places that it was compared with.
#[derive(Debug, Default)]
pub(super) struct FoundLosses {
    pub(super) work: LostWork,
    /// The files in the working tree.
    pub(super) files: Vec<(String, FileStamp)>,
    /// The roots of the repositories.
    pub(super) roots: Vec<PathBuf>,
    /// `true` if git did not return a file, and may do so the next time.
    pub(super) is_uncertain: bool,
}

/// The environment of a comparison.
#[derive(Clone, Copy)]
pub(super) struct LossControl<'a> {
    pub(super) home: &'a str,
    pub(super) tips: &'a KnownTips,
    pub(super) is_wanted: &'a dyn Fn() -> bool,
}

impl KnownTips {
    fn of(&self, root: &Path) -> Tips {
        // Other repositories are not blocked while git runs.
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(root.into()).or_default().clone();
        known.get_or_init(|| git::tips(root).map(Arc::new)).clone()
    }

    /// Returns a hash of the tips of the refs of some repositories.
    pub(super) fn hash(&self, roots: &[PathBuf]) -> u64 {
        let of = |root: &PathBuf| match self.of(root) {
            Some(tips) => tips.iter().map(|tip| format!("{tip}\n")).collect::<String>() + ".",
            None => "?".into(),
        };
        hash(roots.iter().map(of).collect::<String>().as_bytes())
    }
}

/// Compares the files of a session at the ends of its branches. The working directory must exist.
///
/// # Errors
/// The session cannot be read, or the result is no longer wanted.
pub(super) fn find(path: &Path, control: LossControl<'_>) -> Result<FoundLosses> {
    let tree = load::tree(path, control.home)?;
    let mut ends = tree.featured(EntryFeature::AbandonedEnd);
    ends.extend(tree.leaf);
    ends.reverse();
    ends.truncate(MAX_BRANCHES);
    let states = final_states((path, &tree), &ends, control)?;
    let cwd = Path::new(&tree.header.cwd);
    let top = git::root(cwd).unwrap_or(cwd);
    let mut comparison = Comparison::new(path, &tree, control);
    let mut result = FoundLosses::default();
    let mut lost: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
    for (&end, files) in ends.iter().zip(&states) {
        let of_branch = comparison.branch(end, files, top)?;
        if !of_branch.is_empty() {
            result.work.ends.push(end);
        }
        for (file, lines) in of_branch {
            lost.entry(file).or_default().extend(lines);
        }
    }
    let file = |(path, lines): (&str, HashSet<&str>)| LostFile {
        name: relative_to(&tree.header.cwd, path, control.home).into_owned(),
        lines: lines.len(),
    };
    result.work.files = lost.into_iter().map(file).collect();
    result.work.files.sort_by_key(|file| std::cmp::Reverse(file.lines));
    result.is_uncertain = comparison.is_uncertain;
    result.files = comparison.on_disk.into_iter().map(|(path, (stamp, _))| (path.into(), stamp)).collect();
    result.roots = comparison.roots.into_iter().collect();
    Ok(result)
}

/// Returns the files at the ends of branches. Common parts of the branches are replayed once.
fn final_states((path, tree): (&Path, &Tree), ends: &[Index], control: LossControl<'_>) -> Result<Vec<Rc<Files>>> {
    let mut bodies = Bodies::open(path)?;
    let mut replay = Replay::new(tree, control.home, |node: &Node| {
        ensure!((control.is_wanted)(), "canceled");
        bodies.known(node)
    });
    let above = |end: Index| successors(Some(end), |&at| tree.parent(at));
    let (mut seen, mut shared) = (HashSet::new(), HashSet::new());
    for &end in ends {
        shared.extend(above(end).find(|&at| !seen.insert(at)));
    }
    let mut known: HashMap<Index, Rc<Files>> = HashMap::new();
    let mut states = Vec::with_capacity(ends.len());
    for &end in ends {
        let mut own: Vec<Index> = above(end).take_while(|at| !known.contains_key(at)).collect();
        own.reverse();
        let before = own.first().map_or(Some(end), |&first| tree.parent(first));
        let mut files = before.and_then(|before| known.get(&before)).cloned().unwrap_or_default();
        for part in own.split_inclusive(|at| shared.contains(at)) {
            files = replay.along(files, part)?;
            known.extend(part.last().filter(|last| shared.contains(last)).map(|&last| (last, files.clone())));
        }
        states.push(files);
    }
    Ok(states)
}

/// A comparison of the files of a session with those on the disk and in git.
struct Comparison<'a> {
    path: &'a Path,
    tree: &'a Tree,
    control: LossControl<'a>,
    /// The files on the disk, with their texts; `None` if they are unknown.
    on_disk: BTreeMap<&'a str, (FileStamp, Option<String>)>,
    /// The lines of states that are missing on the disk.
    missing: HashMap<*const FileState, HashSet<&'a str>>,
    /// The states of files on all branches.
    versions: HashMap<&'a str, Vec<FileVersion>>,
    effects: CommandEffects,
    /// The texts of files at the tips of refs; `None` if they are unknown.
    at_tips: HashMap<&'a str, Option<Vec<String>>>,
    roots: BTreeSet<PathBuf>,
    is_uncertain: bool,
}

impl<'a> Comparison<'a> {
    fn new(path: &'a Path, tree: &'a Tree, control: LossControl<'a>) -> Self {
        Self {
            path,
            tree,
            control,
            on_disk: BTreeMap::new(),
            missing: HashMap::new(),
            versions: HashMap::new(),
            effects: CommandEffects::new(),
            at_tips: HashMap::new(),
            roots: BTreeSet::new(),
            is_uncertain: false,
        }
    }

    /// Returns the lost lines of a branch by file; empty if there are too few. Files outside of `top` do not count.
    fn branch(&mut self, end: Index, files: &'a Files, top: &Path) -> Result<Vec<(&'a str, HashSet<&'a str>)>> {
        let is_compared = |path: &str, state: &FileState| {
            state.exact().is_some_and(|text| text.len() as u64 <= MAX_FILE) && Path::new(path).starts_with(top)
        };
        let mut compared: Vec<_> = files.iter().filter(|(path, state)| is_compared(path, state)).collect();
        // If there are many files, those that were only read are left out.
        compared.sort_by_key(|(_, state)| state.source.is_read());
        let (mut branch, mut lost) = (None, Vec::new());
        for (path, state) in compared {
            ensure!((self.control.is_wanted)(), "canceled");
            let mut lines = self.missing_on_disk(path, state);
            if lines.is_empty() {
                continue;
            }
            let branch = branch.get_or_insert_with(|| self.tree.path(end).into_iter().collect::<HashSet<Index>>());
            self.retain_brought(path, &mut lines, branch)?;
            lost.push((path.as_str(), lines));
        }
        if count(&lost) >= MIN_LINES {
            for (path, lines) in &mut lost {
                ensure!((self.control.is_wanted)(), "canceled");
                match self.at_tips(path) {
                    Some(texts) => texts.iter().for_each(|text| remove(lines, text)),
                    None => lines.clear(),
                }
            }
        }
        lost.retain(|(_, lines)| !lines.is_empty());
        Ok(if count(&lost) >= MIN_LINES { lost } else { Vec::new() })
    }

    fn missing_on_disk(&mut self, path: &'a str, state: &'a Arc<FileState>) -> HashSet<&'a str> {
        if let Some(known) = self.missing.get(&Arc::as_ptr(state)) {
            return known.clone();
        }
        let is_new = !self.on_disk.contains_key(path);
        let is_too_much = is_new && self.on_disk.len() >= MAX_FILES;
        if is_new && !is_too_much {
            self.on_disk.insert(path, (stamp(path), read(path)));
        }
        let mut lines = HashSet::new();
        if let (Some(text), Some((_, Some(now)))) = (state.exact(), self.on_disk.get(path)) {
            lines = counted(text);
            remove(&mut lines, now);
        }
        self.missing.insert(Arc::as_ptr(state), lines.clone());
        lines
    }

    /// Keeps the lines that entries of a branch brought, except those that a fork inherited.
    fn retain_brought(&mut self, path: &'a str, lines: &mut HashSet<&'a str>, branch: &HashSet<Index>) -> Result<()> {
        if !self.versions.contains_key(path) {
            let file = (path, self.control.home);
            let found = touches((self.path, self.tree), file, self.control.is_wanted, &mut self.effects)?;
            self.versions.insert(path, found);
        }
        let versions = self.versions.get(path).into_iter().flatten();
        let own = versions.filter(|version| branch.contains(&version.entry) && !self.tree.is_inherited(version.entry));
        *lines = own.flat_map(|version| version.brought_anywhere(lines)).collect();
        Ok(())
    }

    /// Returns the texts of a file at the tips of refs; none outside of a repository.
    fn at_tips(&mut self, path: &'a str) -> Option<&[String]> {
        if !self.at_tips.contains_key(path) {
            let root = Path::new(path).parent().and_then(git::root);
            self.roots.extend(root.map(PathBuf::from));
            let texts = match root {
                Some(root) => self.texts(root, path),
                None => Some(Vec::new()),
            };
            self.at_tips.insert(path, texts);
        }
        self.at_tips.get(path)?.as_deref()
    }

    fn texts(&mut self, root: &Path, path: &str) -> Option<Vec<String>> {
        let name = Path::new(path).strip_prefix(root).ok()?.to_str()?;
        let tips = self.control.tips.of(root)?;
        match git::contents(root, &tips, name) {
            TipContents::All(contents) => {
                Some(contents.iter().map(|content| String::from_utf8_lossy(content).into_owned()).collect())
            }
            TipContents::Unsuitable => None,
            TipContents::Unanswered => {
                self.is_uncertain = true;
                None
            }
        }
    }
}

fn count(lost: &[(&str, HashSet<&str>)]) -> usize {
    lost.iter().map(|(_, lines)| lines.len()).sum()
}

/// Returns the size and the time of a file.
pub(super) fn stamp(path: &str) -> FileStamp {
    fingerprint::FileVersion::of(Path::new(path)).ok().map(|version| (version.bytes, version.written))
}

/// Reads a file of the working tree; empty if it is missing. Returns `None` if its content is unknown.
fn read(path: &str) -> Option<String> {
    match files::read_small(Path::new(path), MAX_FILE) {
        Ok(bytes) => bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Some(String::new()),
        Err(_) => None,
    }
}

/// Returns the different lines of a text that are long enough, without spaces around them.
fn counted(text: &str) -> HashSet<&str> {
    let is_long = |line: &&str| line.chars().filter(|c| !c.is_whitespace()).nth(MIN_CHARACTERS - 1).is_some();
    text.lines().map(str::trim).filter(is_long).collect()
}

/// Removes the lines of another text.
fn remove(lines: &mut HashSet<&str>, text: &str) {
    for line in text.lines() {
        lines.remove(line.trim());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_lost_if_no_text_has_them() {
        let text = "fn main() {\n    let a = first();\n\tlet b = second();\r\n}\n  ok();  \nlet a = first();\n";
        let mut lines = counted(text);
        let sorted = |lines: &HashSet<&'static str>| {
            let mut all: Vec<&str> = lines.iter().copied().collect();
            all.sort_unstable();
            all
        };
        assert_eq!(sorted(&lines), ["fn main() {", "let a = first();", "let b = second();"], "at least 8 characters");
        remove(&mut lines, "        let b = second();\nlet a = first(); // moved\n");
        assert_eq!(sorted(&lines), ["fn main() {", "let a = first();"], "other indentation, another line");
        remove(&mut lines, "");
        assert_eq!(lines.len(), 2);
    }
}
