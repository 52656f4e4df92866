//! Reads the digest of one session file: in one pass, and at its end once more the few lines whose rows stand before
//! their labels.

use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use crate::disk::files::Files;
use crate::disk::lines;
use crate::session::digest::Digest;
use crate::session::digest::builder::Builder;

/// How digests are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    /// Where the files are.
    pub(crate) files: Files,
    /// In tool calls, paths below it start with `~`.
    pub(crate) home: &'a str,
}

impl Reading<'_> {
    /// The digest of a file, without what the file system knows of it; `None` if it is no session, or `is_stopped` says
    /// that nobody waits for it any more. `buffer` is to read into, and to be used again.
    ///
    /// # Errors
    /// It can't be read.
    pub(crate) fn file(
        &self,
        path: &Path,
        mtime: i64,
        buffer: &mut Vec<u8>,
        is_stopped: impl Fn() -> bool,
    ) -> io::Result<Option<Digest>> {
        let mut builder = Builder::new(self.home);
        let mut file = self.files.open(path)?;
        lines::each(&mut file, 0, u64::MAX, buffer, |offset, line, ended| {
            builder.line(offset, line, ended);
            !builder.is_refused() && !is_stopped()
        })?;
        if is_stopped() {
            return Ok(None);
        }
        let mut again = |offset| {
            let mut line = Vec::new();
            file.seek(SeekFrom::Start(offset)).ok()?;
            BufReader::new(&mut file).read_until(b'\n', &mut line).ok()?;
            Some(line)
        };
        Ok(builder.finish(mtime, &mut again).ok())
    }
}
