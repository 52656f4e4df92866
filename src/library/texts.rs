//! Reads the texts of many session files: by all processors, in batches, in the order in which they are asked
//! for. Kept in memory, it is about as large as the conversations are.

use std::io;
use std::path::Path;

use crate::disk::crew;
use crate::disk::crew::Worker;
use crate::disk::digest::Reading;
use crate::disk::files::Files;
use crate::disk::scan::Unreadable;
use crate::session::digest::builder::Wants;
use crate::session::digest::texts::Texts;

/// What was read since the last batch.
#[derive(Debug, Default)]
pub struct Batch {
    /// The texts, with the place of their file among those asked for. Files that are no sessions are left out.
    pub texts: Vec<(usize, Texts)>,
    /// Files that could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Files dealt with so far, those that are no sessions included.
    pub done: usize,
}

/// Reads the texts of the files and passes it on in batches, until all are done or `batch` returns false.
pub fn read<P: AsRef<Path> + Sync>(files: Files, paths: &[P], mut batch: impl FnMut(Batch) -> bool) {
    let items: Vec<(usize, &Path)> = paths.iter().map(AsRef::as_ref).enumerate().collect();
    let unreadable = |path: &Path, reason: String| Unreadable { path: path.to_path_buf(), reason };
    let work = |(at, path): &(usize, &Path), worker: &mut Worker<'_>| {
        let mut buffer = std::mem::take(&mut worker.buffer);
        let read = texts(files, path, &mut buffer, || worker.is_stopped());
        worker.buffer = buffer;
        match read {
            Ok(found) => found.map(|found| Ok((*at, found))),
            Err(error) => Some(Err(unreadable(path, error.to_string()))),
        }
    };
    let lost = |(_, path): &(usize, &Path), reason| Some(Err(unreadable(path, reason)));
    crew::each(&items, (work, lost), |crew::Batch { results, done }| {
        let mut read = Batch { done, ..Batch::default() };
        for result in results {
            match result {
                Ok(found) => read.texts.push(found),
                Err(unreadable) => read.unreadable.push(unreadable),
            }
        }
        batch(read)
    });
}

/// The texts of one file, as it is now; `None` if it is no session.
///
/// # Errors
/// It can't be read.
pub fn of(files: Files, path: &Path) -> io::Result<Option<Texts>> {
    texts(files, path, &mut Vec::new(), || false)
}

/// The texts of one file; `None` if it is no session, or nobody waits for it any more.
fn texts(files: Files, path: &Path, buffer: &mut Vec<u8>, is_stopped: impl Fn() -> bool) -> io::Result<Option<Texts>> {
    let reading = Reading { files, home: "", wants: Wants { texts: true } };
    let digest = reading.file(path, 0, buffer, is_stopped)?;
    Ok(digest.and_then(|digest| digest.texts))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn reads_all_files_and_says_which_it_could_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for at in 0..20 {
            let message = format!(r#"{{"type":"message","id":"a","message":{{"role":"user","content":"Say {at}"}}}}"#);
            let text = format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{message}\n");
            std::fs::write(path(&at.to_string()), text).unwrap();
        }
        std::fs::write(path("other"), "{}\n").unwrap();
        let paths: Vec<PathBuf> =
            (0..20).map(|at| path(&at.to_string())).chain([path("other"), path("gone")]).collect();
        let (mut said, mut unreadable, mut done) = (Vec::new(), Vec::new(), 0);
        read(Files::Disk, &paths, |batch| {
            said.extend(batch.texts.into_iter().map(|(at, found)| (at, found.conversation.folded)));
            unreadable.extend(batch.unreadable.into_iter().map(|unreadable| unreadable.path));
            done = batch.done;
            true
        });
        said.sort();
        let mut wanted: Vec<_> = (0..20).map(|at| (at, format!("say {at}"))).collect();
        wanted.sort();
        assert_eq!((said, unreadable, done), (wanted, vec![path("gone")], 22));
    }

    #[test]
    fn stops_when_nobody_waits_any_more() {
        let paths = vec![PathBuf::from("gone"); 10_000];
        let (mut batches, mut done) = (0, 0);
        read(Files::Disk, &paths, |batch| {
            (batches, done) = (batches + 1, batch.done);
            false
        });
        assert!(batches == 1 && done < paths.len(), "{batches} batches, {done} done");
    }
}
