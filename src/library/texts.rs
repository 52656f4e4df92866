//! Reads what is searched of many session files: by all processors, in batches, in the order in which they are asked
//! for. Kept in memory, it is about as large as the conversations are.

use std::path::{Path, PathBuf};

use crate::disk::crew;
use crate::disk::crew::Worker;
use crate::disk::files::Files;
use crate::disk::lines;
use crate::disk::scan::Unreadable;
use crate::session::digest::searchable::{Builder, Searchable};

/// What was read since the last batch.
#[derive(Debug, Default)]
pub struct Batch {
    /// What is searched, with the file that it is of. Files that are no sessions are left out.
    pub texts: Vec<(PathBuf, Searchable)>,
    /// Files that could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Files dealt with so far, those that are no sessions included.
    pub done: usize,
}

/// Reads what is searched of the files and passes it on in batches, until all are done or `batch` returns false.
pub fn read<P: AsRef<Path> + Sync>(files: Files, paths: &[P], mut batch: impl FnMut(Batch) -> bool) {
    let work = |path: &P, worker: &mut Worker<'_>| {
        let path = path.as_ref();
        match searchable(files, path, worker) {
            Ok(found) => found.map(|found| Ok((path.to_path_buf(), found))),
            Err(error) => Some(Err(Unreadable { path: path.to_path_buf(), reason: error.to_string() })),
        }
    };
    crew::each(paths, work, |crew::Batch { results, done }| {
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

/// What is searched of one file; `None` if it is no session, or nobody waits for it any more.
fn searchable(files: Files, path: &Path, worker: &mut Worker<'_>) -> std::io::Result<Option<Searchable>> {
    let mut builder = Builder::default();
    let mut file = files.open(path)?;
    let mut buffer = std::mem::take(&mut worker.buffer);
    let read = lines::each(&mut file, 0, u64::MAX, &mut buffer, |_, line, _| {
        builder.line(line);
        !builder.is_refused() && !worker.is_stopped()
    });
    worker.buffer = buffer;
    read?;
    Ok(builder.finish().ok().filter(|_| !worker.is_stopped()))
}

#[cfg(test)]
mod tests {
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
            said.extend(batch.texts.into_iter().map(|(path, found)| (path, found.conversation.folded)));
            unreadable.extend(batch.unreadable.into_iter().map(|unreadable| unreadable.path));
            done = batch.done;
            true
        });
        said.sort();
        let mut wanted: Vec<_> = (0..20).map(|at| (path(&at.to_string()), format!("say {at}"))).collect();
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
