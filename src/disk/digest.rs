//! Reads the digest of one session file in one pass, plus the lines whose rows precede their labels. If a long file has
//! grown, only the new bytes are parsed; the others are hashed.

use std::io::{self, Seek};
use std::path::Path;

use serde::Deserialize;

use crate::disk::fingerprint::{ContentHash, HashingReader, PrefixFingerprint};
use crate::disk::lines::{self, CancelableReader};
use crate::disk::{files, load};
use crate::session::digest::Digest;
use crate::session::digest::builder::DigestBuilder;
use crate::session::lines::NotASession;
use crate::session::search_text::SearchTextsBuf;

/// The data read from a session file.
#[derive(Debug)]
pub(crate) struct ScannedSession {
    /// The digest, without file system metadata.
    pub(crate) digest: Digest,
    /// The texts, if requested.
    pub(crate) texts: SearchTextsBuf,
    /// A serialized [`ResumeState`] to continue reading later; empty if that is impossible.
    pub(crate) state: Vec<u8>,
    /// The bytes read, if texts were requested.
    pub(crate) content: ContentHash,
}

/// The state at the end of reading, with the identity of the file. Excludes texts.
#[derive(Debug, Deserialize)]
pub(crate) struct ResumeState {
    pub(super) builder: DigestBuilder,
    pub(super) mark: PrefixFingerprint,
}

/// Additional data to read besides the digest.
#[derive(Debug, Default)]
pub(crate) struct ScanOptions {
    /// Read the texts.
    pub(crate) texts: bool,
    /// Return a state to continue reading later, or continue from an earlier state and its texts.
    pub(crate) state: bool,
    pub(crate) before: Option<(ResumeState, SearchTextsBuf)>,
}

/// Reads the digest of a file without file system metadata. Returns `None` if the file is not a session or `is_stopped`
/// returned `true`. In tool calls, paths below `home` start with `~`. `buffer` is reusable.
///
/// # Errors
/// The file cannot be read, starts with an entry, or has too many entries.
pub(crate) fn read(
    home: &str,
    path: &Path,
    mtime: i64,
    ScanOptions { texts, state, before }: ScanOptions,
    buffer: &mut Vec<u8>,
    is_stopped: &dyn Fn() -> bool,
) -> io::Result<Option<ScannedSession>> {
    let Some(mut file) = files::session(path)? else { return Ok(None) };
    let mut goes_on = None;
    if let Some((ResumeState { builder, mark }, texts)) = before
        && mark.place == builder.lines.place()
        && mark.holds(&mut file)
    {
        goes_on = Some(builder.with_texts(texts));
    }
    let mut builder = goes_on.unwrap_or_else(|| {
        let new = DigestBuilder::new(home);
        if texts { new.with_texts(SearchTextsBuf::default()) } else { new }
    });
    let start = builder.lines.place();
    file.rewind()?;
    let mut hashed = HashingReader::new(&mut file, texts);
    hashed.read_to(start)?;
    lines::each(&mut CancelableReader(&mut hashed, || !is_stopped()), start, u64::MAX, buffer, |line| {
        builder.line(line);
        !builder.lines.is_refused() && !is_stopped()
    })?;
    if is_stopped() {
        return Ok(None);
    }
    let content = hashed.content();
    let state = match state && builder.lines.last.is_none() {
        true => postcard::to_allocvec(&(&builder, PrefixFingerprint::new(&mut file, builder.lines.place())?))
            .unwrap_or_default(),
        false => Vec::new(),
    };
    let mut again = |offset| load::line_at(&mut file, offset).ok();
    match builder.finish_with_texts(mtime, &mut again) {
        Ok((digest, texts)) => Ok(Some(ScannedSession { digest, texts, state, content })),
        Err(NotASession::NoHeader) => Ok(None),
        Err(why @ (NotASession::Headless | NotASession::Titled | NotASession::TooMany)) => Err(io::Error::other(why)),
    }
}
