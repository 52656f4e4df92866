//! Finds the lost work of a session: lines that it brought to a file, and that are in the exact state of the file at the end
//! of a branch. They are lost if the file has them neither in the working tree nor at the tip of a git ref.

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use anyhow::{Result, ensure};

use crate::base::paths::relative_to;
use crate::base::sort;
use crate::catalog::file_history::{ReplayControl, each_version, files_at_ends};
use crate::disk::fingerprint::{self, hash};
use crate::disk::git::TipContents;
use crate::disk::{files, git, load};
use crate::search::lost_work::{LostFile, LostWork};
use crate::session::links::EntryIndex;
use crate::session::replay::CommandEffects;
use crate::session::replay::files::Files;
use crate::session::replay::state::FileState;
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
pub(super) struct FoundLostWork {
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
pub(super) struct LostWorkControl<'a> {
    pub(super) home: &'a str,
    pub(super) tips: &'a KnownTips,
    pub(super) is_wanted: &'a dyn Fn() -> bool,
}

impl KnownTips {
    fn of(&self, root: &Path) -> Tips {
        // Other repositories are not blocked while git runs.
        let known = self.0.lock().entry(root.into()).or_default().clone();
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
pub(super) fn find(path: &Path, control: LostWorkControl<'_>) -> Result<FoundLostWork> {
    let tree = load::tree(path, control.home)?;
    let mut ends = tree.featured(EntryFeature::AbandonedEnd);
    ends.extend(tree.leaf);
    ends.reverse();
    ends.truncate(MAX_BRANCHES);
    let replay = ReplayControl { home: control.home, is_wanted: control.is_wanted };
    let (states, mut effects) = files_at_ends((path, &tree), &ends, replay)?;
    let cwd = Path::new(&tree.header.cwd);
    let top = git::root(cwd).unwrap_or(cwd);
    let mut comparison = Comparison::new(control);
    let branches = states.iter().map(|files| comparison.missing_lines(files, top)).collect::<Result<Vec<_>>>()?;
    let brought = BroughtLines::find((path, &tree), &branches, control, &mut effects)?;
    let mut result = FoundLostWork::default();
    let mut lost: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
    for (&end, missing) in ends.iter().zip(branches) {
        let of_branch = comparison.lost(brought.on_branch(&tree, end, &missing))?;
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
    sort::by_key(&mut result.work.files, |file| std::cmp::Reverse(file.lines));
    result.is_uncertain = comparison.is_uncertain;
    result.files = comparison.on_disk.into_iter().map(|(path, (stamp, _))| (path.into(), stamp)).collect();
    result.roots = comparison.roots.into_iter().collect();
    Ok(result)
}

/// The lines of the files at the end of a branch that are missing on the disk.
type MissingLines<'a> = Vec<(&'a str, Rc<HashSet<&'a str>>)>;

/// The lines of files.
type FileLines<'a> = Vec<(&'a str, HashSet<&'a str>)>;

/// The lines that entries of a session brought to files.
#[derive(Default)]
struct BroughtLines<'a>(HashMap<&'a str, Vec<(EntryIndex, Vec<&'a str>)>>);

impl<'a> BroughtLines<'a> {
    /// Finds the entries that brought some lines, except those that a fork inherited. Replays the session once.
    fn find(
        (path, tree): (&Path, &Tree),
        branches: &[MissingLines<'a>],
        control: LostWorkControl<'_>,
        effects: &mut CommandEffects,
    ) -> Result<Self> {
        let mut wanted: HashMap<&str, HashSet<&str>> = HashMap::new();
        for (file, lines) in branches.iter().flatten() {
            wanted.entry(file).or_default().extend(lines.iter());
        }
        let mut brought = Self::default();
        if wanted.is_empty() {
            return Ok(brought);
        }
        let files = wanted.keys().map(|&file| file.to_owned()).collect();
        let control = ReplayControl { home: control.home, is_wanted: control.is_wanted };
        each_version((path, tree), &files, control, effects, &mut |file, version| {
            let Some((&file, lines)) = wanted.get_key_value(file).filter(|_| !tree.is_inherited(version.entry)) else {
                return;
            };
            let lines = version.brought_anywhere(lines);
            if !lines.is_empty() {
                brought.0.entry(file).or_default().push((version.entry, lines));
            }
        })?;
        Ok(brought)
    }

    /// Returns those of some lines that the entries of a branch brought.
    fn on_branch(&self, tree: &Tree, end: EntryIndex, missing: &MissingLines<'a>) -> FileLines<'a> {
        if missing.is_empty() {
            return Vec::new();
        }
        let branch: HashSet<EntryIndex> = tree.path(end).into_iter().collect();
        let of_file = |(file, missing): &(&'a str, Rc<HashSet<&'a str>>)| {
            let brought = self.0.get(file).into_iter().flatten().filter(|(entry, _)| branch.contains(entry));
            let lines = brought.flat_map(|(_, lines)| lines.iter().copied()).filter(|line| missing.contains(line));
            (*file, lines.collect())
        };
        missing.iter().map(of_file).collect()
    }
}

/// A comparison of the files of a session with those on the disk and in git.
struct Comparison<'a> {
    control: LostWorkControl<'a>,
    /// The files on the disk, with their texts; `None` if they are unknown.
    on_disk: BTreeMap<&'a str, (FileStamp, Option<String>)>,
    /// The lines of states that are missing on the disk.
    missing: HashMap<*const FileState, Rc<HashSet<&'a str>>>,
    /// The texts of files at the tips of refs; `None` if they are unknown.
    at_tips: HashMap<&'a str, Option<Vec<String>>>,
    roots: BTreeSet<PathBuf>,
    is_uncertain: bool,
}

impl<'a> Comparison<'a> {
    fn new(control: LostWorkControl<'a>) -> Self {
        Self {
            control,
            on_disk: BTreeMap::new(),
            missing: HashMap::new(),
            at_tips: HashMap::new(),
            roots: BTreeSet::new(),
            is_uncertain: false,
        }
    }

    /// Returns the lines of files that are missing on the disk. Files outside of `top` do not count.
    fn missing_lines(&mut self, files: &'a Files, top: &Path) -> Result<MissingLines<'a>> {
        let is_compared = |path: &str, state: &FileState| {
            state.exact().is_some_and(|text| text.len() as u64 <= MAX_FILE) && Path::new(path).starts_with(top)
        };
        let mut compared: Vec<_> = files.iter().filter(|(path, state)| is_compared(path, state)).collect();
        // If there are many files, those that were only read are left out.
        sort::by_key(&mut compared, |(_, state)| state.source.is_read());
        let mut missing = Vec::new();
        for (path, state) in compared {
            ensure!((self.control.is_wanted)(), "canceled");
            let lines = self.missing_on_disk(path, state);
            missing.extend((!lines.is_empty()).then_some((path.as_str(), lines)));
        }
        Ok(missing)
    }

    /// Removes the lines at the tips of refs; all lines of a branch if there are too few.
    fn lost(&mut self, mut lines: FileLines<'a>) -> Result<FileLines<'a>> {
        if count(&lines) >= MIN_LINES {
            for (path, lines) in &mut lines {
                ensure!((self.control.is_wanted)(), "canceled");
                match self.at_tips(path) {
                    Some(texts) => texts.iter().for_each(|text| remove(lines, text)),
                    None => lines.clear(),
                }
            }
        }
        lines.retain(|(_, lines)| !lines.is_empty());
        Ok(if count(&lines) >= MIN_LINES { lines } else { Vec::new() })
    }

    fn missing_on_disk(&mut self, path: &'a str, state: &'a Arc<FileState>) -> Rc<HashSet<&'a str>> {
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
        let lines = Rc::new(lines);
        self.missing.insert(Arc::as_ptr(state), lines.clone());
        lines
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
    fingerprint::FileMetadata::of(Path::new(path)).ok().map(|version| (version.bytes, version.written))
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
