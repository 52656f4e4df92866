//! Reads the digest of one session file: in one pass, and at its end once more the few lines whose rows stand before
//! their labels.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::disk::files::Files;
use crate::disk::lines::{self, Wanted};
use crate::session::digest::Digest;
use crate::session::digest::builder::Builder;
use crate::session::lines::{LONGEST, NotASession};

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
    /// It can't be read, begins with an entry, or has too many entries to be kept.
    pub(crate) fn file(
        &self,
        path: &Path,
        mtime: i64,
        buffer: &mut Vec<u8>,
        is_stopped: impl Fn() -> bool,
    ) -> io::Result<Option<Digest>> {
        let Some(mut file) = self.files.session(path)? else { return Ok(None) };
        let mut builder = Builder::new(self.home);
        lines::each(&mut Wanted(&mut file, || !is_stopped()), 0, u64::MAX, buffer, |line| {
            builder.line(line);
            !builder.is_refused() && !is_stopped()
        })?;
        if is_stopped() {
            return Ok(None);
        }
        let mut again = |offset| {
            let mut line = Vec::new();
            file.seek(SeekFrom::Start(offset)).ok()?;
            BufReader::new((&mut file).take(LONGEST)).read_until(b'\n', &mut line).ok()?;
            Some(line)
        };
        match builder.finish(mtime, &mut again) {
            Ok(digest) => Ok(Some(digest)),
            Err(NotASession::NoHeader) => Ok(None),
            Err(why @ (NotASession::Headless | NotASession::TooMany)) => Err(io::Error::other(why)),
        }
    }
}
