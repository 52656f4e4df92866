//! Loads session files: the tree at once, and the bodies of entries on demand.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use thiserror::Error;

use crate::base::path_context::PathContext;
use crate::base::{archive_paths, numbers};
use crate::disk::files::{self, Readable};
use crate::disk::fingerprint::PrefixFingerprint;
use crate::disk::{lines, parallel};
use crate::session::json::JsonReader;
use crate::session::lines::{BEGINNING, Header, LONGEST, NotASession};
use crate::session::tree::node::Node;
use crate::session::tree::{Tree, TreeLines};

/// The size in bytes below which a second thread costs more than it saves.
const WORTH_SPLITTING: u64 = 4 * 1024 * 1024;

/// The size in bytes from which the end of a file is shown before the rest is loaded, because loading takes noticeably
/// long.
const LARGE: u64 = 8 * 1024 * 1024;

/// The number of bytes at the end that are shown first.
const END: u64 = 1024 * 1024;

/// Reads a session file and builds its tree; large files are parsed in parallel. In tool calls, paths below `home`
/// start with `~`.
///
/// # Errors
/// The file cannot be read, or is not a session.
pub fn tree(path: &Path, home: &str) -> Result<Tree> {
    tied(path, LoadRequest::new(path, home).whole()?)
}

/// A request to load a session file, which can be canceled.
#[derive(Clone, Copy)]
pub struct LoadRequest<'a> {
    /// The path.
    pub path: &'a Path,
    /// The home directory; in tool calls, paths below it start with `~`.
    pub home: &'a str,
    /// Returns `true` while the result is still wanted.
    pub is_wanted: &'a (dyn Fn() -> bool + Sync),
    /// `true` to hash the content of entries, so that they can be recognized in other files.
    pub notes_contents: bool,
}

fn tied(path: &Path, part: TreeLines) -> Result<Tree> {
    Tree::build([part]).map_err(|why| anyhow!("{} is {why}", path.display()))
}

impl<'a> LoadRequest<'a> {
    /// Creates a request that cannot be canceled.
    pub fn new(path: &'a Path, home: &'a str) -> Self {
        Self { path, home, is_wanted: &|| true, notes_contents: false }
    }

    /// Reads all lines of a file that may be a session.
    fn whole(self) -> Result<TreeLines> {
        let Self { path, .. } = self;
        let is_session = files::session(path).path_context("cannot read", path)?.is_some();
        ensure!(is_session, "{} is {}", path.display(), NotASession::NoHeader);
        let part = self.parts().path_context("cannot read", path)?;
        ensure!((self.is_wanted)(), "loading {} was canceled", path.display());
        Ok(part)
    }

    /// Loads the tree of the file without an incomplete last line.
    ///
    /// # Errors
    /// The errors of [`tree`], and an error if the request was canceled.
    pub fn tree(self) -> Result<Tree> {
        let mut part = self.whole()?;
        part.lines.last.take_if(|last| last.is_torn());
        tied(self.path, part)
    }

    fn parts(self) -> io::Result<TreeLines> {
        let bytes = files::len(self.path)?;
        let count = if bytes < WORTH_SPLITTING { 1 } else { parallel::threads() as u64 };
        let parts: io::Result<Vec<TreeLines>> = thread::scope(|scope| {
            let readers: Vec<_> = (0..count)
                .map(|at| {
                    // The last part extends to the end of the file, which may have grown.
                    let end = if at + 1 == count { u64::MAX } else { bytes * (at + 1) / count };
                    scope.spawn(move || self.part(bytes * at / count..end))
                })
                .collect();
            let died = |_| io::Error::other("the reader stopped");
            readers.into_iter().map(|reader| reader.join().map_err(died)?).collect()
        });
        parts.map(TreeLines::join)
    }

    /// Reads the lines that start in a range of the file.
    fn part(self, range: std::ops::Range<u64>) -> io::Result<TreeLines> {
        let part = TreeLines::new(self.home);
        let mut part = if self.notes_contents { part.with_contents() } else { part };
        let mut file = files::open(self.path)?;
        let mut start = range.start;
        if start > 0 {
            // The line at `start` belongs to the previous part, unless a line break directly precedes it.
            start = file.seek(SeekFrom::Start(start - 1))?;
            start += BufReader::new(&mut file).skip_until(b'\n')? as u64;
        }
        file.seek(SeekFrom::Start(start))?;
        lines::each(&mut file, start, range.end, &mut Vec::new(), |line| {
            part.line(line);
            !part.lines.is_crowded() && (self.is_wanted)()
        })?;
        Ok(part)
    }
}

/// The most recently opened file. When it is opened again, only new bytes are read.
#[derive(Debug, Default)]
pub struct OpenFile {
    last: Option<OpenFileState>,
    /// Trees that are still displayed. Keeping them here avoids waiting for a large tree to be freed, which takes
    /// longer than a frame.
    shown: Vec<Arc<Tree>>,
}

#[derive(Debug)]
struct OpenFileState {
    path: PathBuf,
    /// The lines without the nodes.
    part: TreeLines,
    /// The tree, which has the nodes.
    tree: Arc<Tree>,
    mark: PrefixFingerprint,
}

impl OpenFile {
    /// Returns `true` if this file was opened last.
    pub fn is(&self, path: &Path) -> bool {
        self.last.as_ref().is_some_and(|kept| kept.path == path)
    }

    /// Loads the tree of a session file. Ignores an invalid last line if it `may_go_on`.
    ///
    /// # Errors
    /// The errors of [`tree`], and an error if the request was canceled.
    pub fn tree(&mut self, reading: LoadRequest<'_>, may_go_on: bool) -> Result<Arc<Tree>> {
        let LoadRequest { path, .. } = reading;
        let kept = self.last.take().filter(|kept| kept.path == path);
        self.shown.retain(|tree| Arc::strong_count(tree) > 1);
        let mut part = match kept.and_then(|kept| grown(kept).ok().flatten()) {
            Some(part) => part,
            None => reading.whole()?,
        };
        let mark = files::open(path).and_then(|mut file| PrefixFingerprint::new(&mut file, part.lines.place()));
        let kept = part.without_nodes();
        part.lines.last.take_if(|last| may_go_on && last.is_torn());
        let tree = Arc::new(tied(path, part)?);
        self.shown.push(tree.clone());
        self.last = mark.ok().map(|mark| OpenFileState { path: path.into(), part: kept, tree: tree.clone(), mark });
        Ok(tree)
    }
}

/// Returns the lines of a file that was opened before, with its new lines, or `None` if the file was replaced.
fn grown(OpenFileState { path, mut part, tree, mark }: OpenFileState) -> io::Result<Option<TreeLines>> {
    let mut file = files::open(&path)?;
    if !mark.holds(&mut file) {
        return Ok(None);
    }
    part.lines.last = None;
    part = part.with_nodes(&tree.nodes);
    let start = file.seek(SeekFrom::Start(mark.place))?;
    lines::each(&mut file, start, u64::MAX, &mut Vec::new(), |line| {
        part.line(line);
        !part.lines.is_crowded()
    })?;
    Ok(Some(part))
}

/// The file has an unknown version: pitree does not write to it or create files from it.
#[derive(Debug, Error)]
#[error(
    "{} has format version {version}, which is newer than pitree {} supports, so it is read-only; change it in pi or update pitree",
    .path.display(),
    env!("CARGO_PKG_VERSION")
)]
pub struct NewerFormat {
    path: PathBuf,
    version: f64,
}

impl NewerFormat {
    /// Creates it for a file with this version.
    pub(crate) fn new(path: &Path, version: f64) -> Self {
        Self { path: path.into(), version }
    }
}

/// Loads the tree of a session file to be changed or forked. All such operations start here.
///
/// # Errors
/// The errors of [`tree`], and [`NewerFormat`] if the version is unknown; or the session is archived.
pub fn writable(path: &Path) -> Result<Tree> {
    must_be_unpacked(path)?;
    let tree = tree(path, "")?;
    match tree.header.version {
        version if tree.header.is_newer() => Err(NewerFormat::new(path, version).into()),
        _ => Ok(tree),
    }
}

/// Reads the header of a session file to be changed, without its entries.
///
/// # Errors
/// As for [`writable`].
pub(crate) fn writable_header(path: &Path) -> Result<Header> {
    must_be_unpacked(path)?;
    match header(path) {
        Some(header) if header.is_newer() => Err(NewerFormat::new(path, header.version).into()),
        Some(header) => Ok(header),
        None => Ok(writable(path)?.header), // reports the reason
    }
}

fn must_be_unpacked(path: &Path) -> Result<()> {
    let is_archived = archive_paths::is_archived(path);
    ensure!(!is_archived, "{} is archived; bring it back first with `pitree archive --restore`", path.display());
    Ok(())
}

/// Reads the header of a session file.
pub(crate) fn header(path: &Path) -> Option<Header> {
    header_with(path, &mut Vec::new())
}

/// Reads the header of a session file with a reusable buffer.
pub(crate) fn header_with(path: &Path, buffer: &mut Vec<u8>) -> Option<Header> {
    let mut session = files::session(path).ok()??;
    lines::head(&mut session, buffer).ok()?.header().cloned()
}

/// Reads the first valid line of a session file, which is its header.
pub(crate) fn header_line(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut header) = (files::open(path)?, Vec::new());
    lines::each(&mut file, 0, u64::MAX, &mut Vec::new(), |line| {
        header = line.bytes.to_vec();
        !matches!(line.read(), Ok(Some(_)))
    })?;
    Ok(header)
}

/// Builds a tree of the last lines of a large file, which is fast. Returns `None` if the file is not large, or the
/// lines form no tree. In tool calls, paths below `home` start with `~`.
pub fn end(path: &Path, home: &str) -> Option<Tree> {
    let bytes = files::len(path).ok().filter(|&bytes| bytes > LARGE)?;
    let mut header = TreeLines::new(home);
    let mut file = files::session(path).ok()??;
    lines::each(&mut file, 0, u64::MAX, &mut Vec::new(), |line| {
        header.line(line);
        header.lines.is_blank()
    })
    .ok()?;
    let end = LoadRequest::new(path, home).part(bytes - END..u64::MAX).ok()?;
    Tree::of_end([header, end]).ok()
}

/// Maps the trees of many files with `take` in parallel, and reports results in batches until all are done or `batch`
/// returns `false`. The last batch is marked. `take` receives no tree if a file is not a session or cannot be read.
pub fn many<R: Send>(
    paths: &[PathBuf],
    home: &str,
    take: impl Fn(&PathBuf, Option<Tree>) -> R + Sync,
    mut batch: impl FnMut(Vec<R>, bool) -> bool,
) {
    let work = |path: &PathBuf, (): &mut (), _: parallel::StopSignal<'_>| Some(take(path, tree(path, home).ok()));
    let lost = |path: &PathBuf, _| Some(take(path, None));
    parallel::each(paths, (work, lost), |results, done| batch(results, done == paths.len()));
}

/// Reads the entry at an offset.
///
/// # Errors
/// Reading failed.
pub(crate) fn line_at(file: &mut Box<dyn Readable>, offset: u64) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    BufReader::new(file.take(LONGEST)).read_until(b'\n', &mut line)?;
    // In a line with a list of entries, only the first one belongs to this entry.
    let mut reader = JsonReader::new(&line);
    if reader.skip().is_ok() {
        let end = reader.place();
        line.truncate(end);
    }
    Ok(line)
}

/// A reader for the bodies of a file's entries.
pub struct EntryReader {
    file: Box<dyn Readable>,
    path: PathBuf,
}

impl EntryReader {
    /// Opens the file.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let file = files::open(path).path_context("cannot read", path)?;
        Ok(Self { file, path: path.into() })
    }

    /// Reads the current line of an entry.
    ///
    /// # Errors
    /// The file cannot be read there because it was truncated, or the line is too long.
    pub fn line(&mut self, node: &Node) -> Result<Vec<u8>> {
        let (size, path) = (numbers::bytes(node.len), self.path.display());
        ensure!(node.len <= LONGEST, "too long to read: {size} at byte {} of {path}", node.offset);
        self.known(node)
    }

    /// Reads the part of an entry's line that was read for its tree: only the beginning of an overlong line.
    ///
    /// # Errors
    /// The file cannot be read there because it was truncated.
    pub(crate) fn known(&mut self, node: &Node) -> Result<Vec<u8>> {
        let len = if node.len > LONGEST { BEGINNING } else { usize::try_from(node.len)? };
        let mut bytes = vec![0; len];
        let read = self.file.seek(SeekFrom::Start(node.offset)).and_then(|_| self.file.read_exact(&mut bytes));
        read.with_context(|| format!("cannot read {}: it changed since it was opened", self.path.display()))?;
        Ok(bytes)
    }

    /// Reads the current line of the entry at an offset.
    ///
    /// # Errors
    /// The file cannot be read there.
    pub(crate) fn line_at(&mut self, offset: u64) -> Result<Vec<u8>> {
        line_at(&mut self.file, offset).path_context("cannot read", &self.path)
    }

    /// Reads the whole file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn whole(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.read_to_end(&mut bytes));
        read.path_context("cannot read", &self.path)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_large_file_is_the_end_of_its_tree() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
        let filler = "x".repeat(4000);
        for n in 0..5000 {
            text += &format!(
                "{{\"type\":\"message\",\"id\":\"{n}\",\"parentId\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":\"{n} {filler}\"}}}}\n",
                n - 1
            );
        }
        std::fs::write(&path, &text).unwrap();
        let (whole, end) = (tree(&path, "").unwrap(), super::end(&path, "").unwrap());
        let id = |tree: &Tree| tree.leaf.and_then(|leaf| tree.nodes[leaf as usize].id.clone());
        assert_eq!(id(&end), id(&whole));
        assert!(end.is_partial && end.problems.is_empty() && end.roots.len() == 1);
        assert!((100..300).contains(&end.nodes.len()), "{}", end.nodes.len());
        std::fs::write(&path, "small").unwrap();
        assert!(super::end(&path, "").is_none());
    }

    #[test]
    fn what_was_opened_goes_when_something_else_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let mut opened = OpenFile::default();
        let mut open = |name: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n").unwrap();
            opened.tree(LoadRequest::new(&path, ""), false).unwrap()
        };
        let first = open("a");
        let weak = Arc::downgrade(&first);
        let second = open("b");
        drop(first);
        assert_eq!(weak.strong_count(), 1, "who shows it is not the last one");
        drop((second, open("c")));
        assert_eq!(weak.strong_count(), 0);
    }

    /// Nodes are taken from the previous tree, which already has calls, edits and settings.
    #[test]
    fn a_tree_that_grew_is_that_of_the_whole_file() {
        let said = |id: &str, parent: &str, rest: &str| {
            format!(r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{{rest}}}}}"#) + "\n"
        };
        let call = |path: &str| {
            format!(
                r#""role":"assistant","model":"{path}","content":[{{"type":"toolCall","id":"c","name":"read","arguments":{{"path":"{path}","limit":5}}}}]"#
            )
        };
        let answer = r#""role":"toolResult","toolCallId":"c","toolName":"read","content":"x""#;
        let text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n")
            + &said("a", "", answer)
            + &said("b", "a", &call("one"))
            + &said("c", "b", answer)
            + "{\"type\":\"compaction\",\"id\":\"d\",\"parentId\":\"c\",\"firstKeptEntryId\":\"c\"}\nno JSON\n"
            + "{\"type\":\"context_edit\",\"id\":\"e\",\"parentId\":\"d\",\"targetId\":\"f\",\"replacement\":{\"content\":\"y\"}}\n"
            + &said("f", "e", &call("two"))
            + &said("g", "f", answer);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let shown = |tree: &Tree| {
            let (mut calls, mut answers) = (Vec::from_iter(&tree.calls), Vec::from_iter(&tree.answers));
            calls.sort_by_key(|(at, _)| *at);
            answers.sort_by_key(|(at, _)| *at);
            format!("{:?}", (&tree.nodes, calls, answers, &tree.first_kept, &tree.edits, &tree.problems, tree.end))
        };
        let first = text.find('\n').unwrap() + 1;
        for may_go_on in [false, true] {
            let mut opened = OpenFile::default();
            for end in (first..text.len()).step_by(9).chain([text.len()]) {
                std::fs::write(&path, &text[..end]).unwrap();
                let reading = LoadRequest::new(&path, "");
                let grown = opened.tree(reading, may_go_on).unwrap();
                let fresh = OpenFile::default().tree(reading, may_go_on).unwrap();
                assert_eq!(shown(&grown), shown(&fresh), "{}", &text[..end]);
            }
        }
    }

    #[test]
    fn what_nobody_waits_for_is_not_read_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let entry = "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n";
        std::fs::write(
            &path,
            String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n") + &entry.repeat(1000),
        )
        .unwrap();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let is_wanted = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 10;
        let mut opened = OpenFile::default();
        let reading = LoadRequest { is_wanted: &is_wanted, ..LoadRequest::new(&path, "") };
        assert!(opened.tree(reading, false).is_err() && !opened.is(&path));
        assert!(asked.into_inner() < 20);
        assert_eq!(opened.tree(LoadRequest::new(&path, ""), false).unwrap().nodes.len(), 1000);
    }

    #[test]
    fn parts_give_the_same_tree_as_the_whole() {
        let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
        for n in 0..50 {
            let filler = "x".repeat(n * 7 % 40);
            text += &format!(
                "{{\"type\":\"message\",\"id\":\"{n}\",\"parentId\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":\"{n} {filler}\"}}}}\n",
                n / 2
            );
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, &text).unwrap();
        let part = |range| LoadRequest::new(&path, "").part(range).unwrap();
        let whole = Tree::build([part(0..u64::MAX)]).unwrap();
        let len = text.len() as u64;
        // Lines have different lengths, so that every position in a line is covered.
        for cut in (0..=len).step_by(5) {
            let tree = Tree::build([0..cut, cut..u64::MAX].map(part)).unwrap();
            assert_eq!(tree.nodes.len(), 50, "cut at {cut}");
            assert!(
                tree.nodes.iter().zip(&whole.nodes).all(|(a, b)| a.text == b.text && a.offset == b.offset),
                "cut at {cut}"
            );
        }
    }
}
