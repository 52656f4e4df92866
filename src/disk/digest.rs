//! Reads the digest of one session file: in one pass, and at its end once more the few lines whose rows stand before
//! their labels. When a long file has grown, only the new bytes are parsed; the others are hashed.

use std::io::{self, Seek};
use std::path::Path;

use serde::Deserialize;

use crate::disk::content::{ContentHash, HashingReader};
use crate::disk::files::Files;
use crate::disk::fingerprint::PrefixFingerprint;
use crate::disk::lines::{self, CancelableReader};
use crate::disk::load;
use crate::session::digest::Digest;
use crate::session::digest::builder::DigestBuilder;
use crate::session::lines::NotASession;
use crate::session::search_text::SearchTextsBuf;

/// How digests are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DigestReader<'a> {
    /// Where the files are.
    pub(crate) files: Files,
    /// In tool calls, paths below it start with `~`.
    pub(crate) home: &'a str,
}

/// What was read of a session.
#[derive(Debug)]
pub(crate) struct ScannedSession {
    /// The digest, without what the file system knows of it.
    pub(crate) digest: Digest,
    /// Its texts, if they were wanted.
    pub(crate) texts: SearchTextsBuf,
    /// With what reading can go on: a [`ResumeState`] as it is written; empty if it can't.
    pub(crate) state: Vec<u8>,
    /// The bytes that were read, if texts were wanted.
    pub(crate) content: ContentHash,
}

/// What reading stopped with, and how to tell the file again that was read. Its texts are not here.
#[derive(Debug, Deserialize)]
pub(crate) struct ResumeState {
    builder: DigestBuilder,
    mark: PrefixFingerprint,
}

/// What is wanted of a file beside its digest.
#[derive(Debug, Default)]
pub(crate) struct ScanOptions {
    /// Its texts.
    pub(crate) texts: bool,
    /// With what reading can go on; where it stopped if the file has grown since, with the texts until there.
    pub(crate) state: bool,
    pub(crate) before: Option<(ResumeState, SearchTextsBuf)>,
}

impl DigestReader<'_> {
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
        let read = self.session((path, mtime), ScanOptions::default(), buffer, is_stopped)?;
        Ok(read.map(|session| session.digest))
    }

    /// As [`DigestReader::file`], with what else is wanted of it.
    ///
    /// # Errors
    /// As [`DigestReader::file`].
    pub(crate) fn session(
        &self,
        (path, mtime): (&Path, i64),
        ScanOptions { texts, state, before }: ScanOptions,
        buffer: &mut Vec<u8>,
        is_stopped: impl Fn() -> bool,
    ) -> io::Result<Option<ScannedSession>> {
        let Some(mut file) = self.files.session(path)? else { return Ok(None) };
        let mut goes_on = None;
        if let Some((ResumeState { builder, mark }, texts)) = before
            && mark.place() == builder.place()
            && mark.holds(&mut file)
        {
            goes_on = Some(builder.with_texts(texts));
        }
        let mut builder = goes_on.unwrap_or_else(|| {
            let new = DigestBuilder::new(self.home);
            if texts { new.with_texts(SearchTextsBuf::default()) } else { new }
        });
        let start = builder.place();
        file.rewind()?;
        let mut hashed = HashingReader::new(&mut file, texts);
        hashed.read_to(start)?;
        lines::each(&mut CancelableReader(&mut hashed, || !is_stopped()), start, u64::MAX, buffer, |line| {
            builder.line(line);
            !builder.is_refused() && !is_stopped()
        })?;
        if is_stopped() {
            return Ok(None);
        }
        let content = hashed.content();
        let state = match state && builder.is_at_end() {
            true => postcard::to_allocvec(&(&builder, PrefixFingerprint::new(&mut file, builder.place())?))
                .unwrap_or_default(),
            false => Vec::new(),
        };
        let mut again = |offset| load::line_at(&mut file, offset).ok();
        match builder.finish_with_texts(mtime, &mut again) {
            Ok((digest, texts)) => Ok(Some(ScannedSession { digest, texts, state, content })),
            Err(NotASession::NoHeader) => Ok(None),
            Err(why @ (NotASession::Headless | NotASession::Titled | NotASession::TooMany)) => {
                Err(io::Error::other(why))
            }
        }
    }
}
