//! Appends one line to a session file, beside a pi that may be writing to it: the only way in which pitree ever changes
//! a file that is there. Old bytes stay as they are, whatever happens.
//!
//! pi takes no lock and holds no file open (0.74.2, 0.87.1), so a line of its own may come in between reading and
//! writing: then all is read again. What remains is the instant between the last look and the write, in which pi's
//! line would become a sibling of ours; no byte is lost by that.

use std::fs::{File, FileTimes, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::files::Files;
use super::load;
use crate::session::tree::Tree;

/// How often a file that keeps growing is read again before giving up.
const TRIES: usize = 20;

/// Appends the line that `build` makes of the file as it is now; none if it makes none. With `keep_time` the file keeps
/// its modification time, so that `pi -c` still takes the session that was used last. Returns whether a line was
/// appended.
///
/// # Errors
/// The file can't be read or written, is no session, or `build` refuses. It is then as it was.
pub fn line(path: &Path, keep_time: bool, mut build: impl FnMut(&Tree) -> Result<Option<String>>) -> Result<bool> {
    let open = || {
        let file = OpenOptions::new().append(true).open(path)?;
        file.lock()?; // against other pitrees; goes with the file
        Ok::<File, io::Error>(file)
    };
    let mut file = open().with_context(|| format!("can't write to {}", path.display()))?;
    for _ in 0..TRIES {
        let tree = load::tree(Files::Disk, path, "")?;
        let Some(line) = build(&tree)? else { return Ok(false) };
        let appended = append(&mut file, &tree, &line, keep_time);
        if appended.with_context(|| format!("can't append to {}; it is as it was", path.display()))? {
            return Ok(true);
        }
    }
    bail!("{} keeps growing: a pi is at work in it; try again when it rests", path.display())
}

/// Writes the line, unless the file is no longer what `tree` was read from: then returns false.
fn append(file: &mut File, tree: &Tree, line: &str, keep_time: bool) -> io::Result<bool> {
    let before = file.metadata()?;
    if before.len() != tree.end {
        return Ok(false);
    }
    // A torn line stays what it is: the new one stands on its own.
    let start = if tree.ended { "" } else { "\n" };
    let bytes = format!("{start}{line}\n").into_bytes();
    if let Err(error) = write_at_once(file, &bytes) {
        take_back(file, before.len(), bytes.len())?;
        return Err(error);
    }
    // If pi wrote as well, the time is rightly its own.
    if keep_time && file.metadata()?.len() == before.len() + bytes.len() as u64 {
        file.set_times(FileTimes::new().set_modified(before.modified()?))?;
    }
    file.sync_all()?;
    Ok(true)
}

/// One write of everything: a process that is killed leaves all of it or nothing, and nobody's line comes in between.
fn write_at_once(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    loop {
        match file.write(bytes) {
            Ok(count) if count == bytes.len() => return Ok(()),
            Ok(_) => {
                return Err(io::Error::new(io::ErrorKind::StorageFull, "only a part could be written (disk full?)"));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Cuts off what a failed write left behind, unless somebody else has written since.
fn take_back(file: &File, before: u64, written: usize) -> io::Result<()> {
    let now = file.metadata()?.len();
    if now > before && now < before + written as u64 { file.set_len(before) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

    fn session(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, format!("{HEADER}{text}")).unwrap();
        (dir, path)
    }

    fn entry(tree: &Tree, id: &str) -> String {
        let parent = tree.leaf.and_then(|leaf| tree.nodes[leaf as usize].id.clone());
        format!("{{\"type\":\"custom\",\"id\":{id:?},\"parentId\":{}}}", serde_json::to_string(&parent).unwrap())
    }

    #[test]
    fn a_line_stands_on_its_own_whatever_the_file_ends_with() {
        for (end, joint) in
            [("", ""), ("{\"id\":\"a\"}\n", ""), ("{\"id\":\"a\"}", "\n"), ("{\"id\":\"a", "\n"), ("\n\n", "")]
        {
            let (_dir, path) = session(end);
            assert!(line(&path, false, |tree| Ok(Some(entry(tree, "new")))).unwrap());
            let text = fs::read_to_string(&path).unwrap();
            let start = format!("{HEADER}{end}{joint}");
            assert!(
                text.starts_with(&start) && text.ends_with("}\n") && text[start.len()..].starts_with("{\"type\""),
                "{text}"
            );
            let tree = load::tree(Files::Disk, &path, "").unwrap();
            assert_eq!(tree.nodes.last().unwrap().id.as_deref(), Some("new"));
        }
    }

    #[test]
    fn the_time_stays_if_asked_and_nothing_changes_without_a_line() {
        let (_dir, path) = session("");
        let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        OpenOptions::new().append(true).open(&path).unwrap().set_modified(then).unwrap();
        line(&path, true, |tree| Ok(Some(entry(tree, "a")))).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), then);
        assert!(!line(&path, false, |_| Ok(None)).unwrap());
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), then);
        line(&path, false, |tree| Ok(Some(entry(tree, "b")))).unwrap();
        assert_ne!(fs::metadata(&path).unwrap().modified().unwrap(), then);
    }

    #[test]
    fn a_file_that_grew_is_read_again() {
        let (_dir, path) = session("");
        let mut grown = false;
        line(&path, false, |tree| {
            if !std::mem::replace(&mut grown, true) {
                let mut pi = OpenOptions::new().append(true).open(&path)?;
                writeln!(pi, "{}", entry(tree, "pi"))?;
            }
            Ok(Some(entry(tree, "ours")))
        })
        .unwrap();
        let tree = load::tree(Files::Disk, &path, "").unwrap();
        assert_eq!(tree.parent(1), Some(0), "ours follows pi's");
    }

    #[test]
    fn writers_side_by_side_lose_nothing() {
        let (_dir, path) = session("");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for at in 0..50 {
                        line(path, true, |tree| Ok(Some(entry(tree, &format!("{writer}-{at}"))))).unwrap();
                    }
                });
            }
        });
        let tree = load::tree(Files::Disk, &path, "").unwrap();
        assert_eq!((tree.nodes.len(), tree.path(tree.leaf.unwrap()).len()), (200, 200));
        assert_eq!(tree.problems, [""; 0]);
    }

    #[test]
    fn what_can_not_be_written_to_says_so() {
        let (_dir, path) = session("");
        let gone = path.with_file_name("gone.jsonl");
        let error = line(&gone, false, |_| Ok(None)).unwrap_err();
        assert!(format!("{error:#}").contains("gone.jsonl"));
        fs::write(&gone, "not a session\n").unwrap();
        assert!(line(&gone, false, |_| Ok(Some(String::new()))).is_err());
        assert_eq!(fs::read_to_string(&gone).unwrap(), "not a session\n");
    }
}
