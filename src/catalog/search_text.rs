//! Reads the texts of many session files in parallel, roughly in the given order.

use std::io;
use std::path::Path;

use crate::disk::files::Files;
use crate::disk::lines::{self, CancelableReader};
use crate::disk::parallel::{self, StopSignal};
use crate::disk::scan::Unreadable;
use crate::session::search_text::{SearchTextBuilder, SearchTexts, SearchTextsBuf};

/// The progress of reading.
#[derive(Debug, Default)]
pub struct TextProgress {
    /// The files that failed since the last batch.
    pub unreadable: Vec<Unreadable>,
    /// The number of files processed so far, including those that are not sessions.
    pub done: usize,
}

/// Reads the texts of files. `found` receives them on any thread, with the index of the file in `paths`. `report`
/// receives the progress until all are read or it returns `false`.
pub fn read<P: AsRef<Path> + Sync>(
    files: Files,
    paths: &[P],
    found: impl Fn(usize, SearchTexts<'_>) + Sync,
    mut report: impl FnMut(TextProgress) -> bool,
) {
    let items: Vec<(usize, &Path)> = paths.iter().map(AsRef::as_ref).enumerate().collect();
    let unreadable = |path: &Path, reason: String| Some(Unreadable::new(path, &reason));
    let work =
        |(at, path): &(usize, &Path), (builder, buffer): &mut (SearchTextBuilder, Vec<u8>), stop: StopSignal<'_>| {
            let read = texts(files, path, (builder, buffer), || stop.is_due());
            match read {
                Ok(read) => read.map(|texts| found(*at, texts)).and(None),
                Err(error) => unreadable(path, error.to_string()),
            }
        };
    let lost = |(_, path): &(usize, &Path), reason| unreadable(path, reason);
    parallel::each(&items, (work, lost), |parallel::ParallelBatch { results, done }| {
        report(TextProgress { unreadable: results, done })
    });
}

/// Reads the texts of one file. Returns `None` if it is not a session.
///
/// # Errors
/// The file cannot be read.
pub fn of(files: Files, path: &Path) -> io::Result<Option<SearchTextsBuf>> {
    let mut builder = SearchTextBuilder::default();
    let is_session = texts(files, path, (&mut builder, &mut Vec::new()), || false)?.is_some();
    Ok(is_session.then(|| builder.take()))
}

/// Reads the texts of one file with reusable buffers. Returns `None` if it is not a session or reading was canceled.
fn texts<'a>(
    files: Files,
    path: &Path,
    (builder, buffer): (&'a mut SearchTextBuilder, &mut Vec<u8>),
    is_stopped: impl Fn() -> bool,
) -> io::Result<Option<SearchTexts<'a>>> {
    builder.clear();
    let Some(file) = files.session(path)? else { return Ok(None) };
    lines::each(&mut CancelableReader(file, || !is_stopped()), 0, u64::MAX, buffer, |line| {
        builder.line(line);
        !builder.lines.is_refused() && !is_stopped()
    })?;
    Ok(if is_stopped() { None } else { builder.texts().ok() })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn reads_all_files_and_reports_failures() {
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
        let (said, mut unreadable, mut done) = (Mutex::new(Vec::new()), Vec::new(), 0);
        let found = |at, texts: SearchTexts<'_>| said.lock().unwrap().push((at, texts.conversation.folded.to_string()));
        read(Files::Disk, &paths, found, |batch| {
            unreadable.extend(batch.unreadable.into_iter().map(|unreadable| unreadable.path));
            done = batch.done;
            true
        });
        let mut said = said.into_inner().unwrap();
        said.sort();
        let mut wanted: Vec<_> = (0..20).map(|at| (at, format!("say {at}"))).collect();
        wanted.sort();
        assert_eq!((said, unreadable, done), (wanted, vec![path("gone")], 22));
    }

    #[test]
    fn stops_when_canceled() {
        let paths = vec![PathBuf::from("gone"); 10_000];
        let (mut batches, mut done) = (0, 0);
        read(
            Files::Disk,
            &paths,
            |_, _| {},
            |batch| {
                (batches, done) = (batches + 1, batch.done);
                false
            },
        );
        assert!(batches == 1 && done < paths.len(), "{batches} batches, {done} done");
    }
}
