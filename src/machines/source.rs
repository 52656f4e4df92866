//! Sources of session files: a pitree on a machine, a shell there, or a directory of this machine.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::disk::files;
use crate::disk::fingerprint::ContentHash;
use crate::machines::link::LinkError;
use crate::machines::listing::{self, ListedFiles, RemoteFile};
use crate::machines::mirror::Mirror;
use crate::machines::state::Method;
use crate::machines::wire::RemotePi;

/// The session files of a machine.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The session directory.
    pub(super) dir: String,
    /// `true` if it exists.
    pub(super) has_dir: bool,
    /// The time there in milliseconds since 1970, if known.
    pub(super) now: Option<i64>,
    /// The running pis, if they are known.
    pub(super) pis: Vec<RemotePi>,
    /// The version of pitree there.
    pub(super) pitree: Option<String>,
    /// The path of pitree there.
    pub(super) program: Option<String>,
    /// The files.
    pub(super) files: Vec<RemoteFile>,
    /// The number of files that are left out because of their names.
    pub(super) refused: usize,
    /// `false` if a directory there cannot be read.
    pub(super) is_complete: bool,
}

/// A file to fetch.
#[derive(Clone, Debug)]
pub(super) struct FetchedFile {
    /// The file.
    pub(super) file: RemoteFile,
    /// The known content at its start.
    pub(super) known: ContentHash,
}

/// A function that takes the content of a file: its place in the request, the offset and the modification time.
pub(super) type TakeFile<'a> = &'a mut dyn FnMut(usize, (u64, i64), &mut dyn Read) -> Result<(), LinkError>;

/// A function that opens the mirror of a session directory, and returns its files.
pub(super) type OpenMirror<'a> = &'a mut dyn FnMut(&str) -> Result<Vec<RemoteFile>, LinkError>;

/// A source of session files.
pub(super) trait Source {
    /// Lists the files. Calls `open_mirror` once if the session directory exists.
    ///
    /// # Errors
    /// The machine cannot be reached, or its answer is not valid.
    fn list(&mut self, open_mirror: OpenMirror<'_>) -> Result<Listing, LinkError>;

    /// Fetches files for a mirror, or what was appended to them. Files that cannot be read are left out; the result is their number.
    ///
    /// # Errors
    /// The connection failed, or `take` did.
    fn fetch(&mut self, mirror: &Mirror, files: &[FetchedFile], take: TakeFile<'_>) -> Result<usize, LinkError>;

    /// Returns the way in which files are read.
    fn method(&self) -> Method;

    /// Returns the number of bytes received and sent.
    fn transferred(&self) -> u64;
}

/// Reads files below a directory of this machine. Returns the number of those that cannot be read.
///
/// # Errors
/// `take` failed.
pub(super) fn read_from(dir: &Path, files: &[FetchedFile], take: TakeFile<'_>) -> Result<usize, LinkError> {
    let mut unread = 0;
    for (at, FetchedFile { file, known }) in files.iter().enumerate() {
        match listing::opened_at(&listing::below(dir, &file.path), *known) {
            Ok((mut content, from, mtime)) => take(at, (from, mtime), &mut content)?,
            Err(_) => unread += 1,
        }
    }
    Ok(unread)
}

/// A directory of this machine.
pub(super) struct DirSource {
    dir: PathBuf,
}

impl DirSource {
    pub(super) fn new(dir: &Path) -> Self {
        // A directory that is named by a symbolic link has one mirror.
        Self { dir: files::resolved(dir) }
    }
}

impl Source for DirSource {
    fn list(&mut self, open_mirror: OpenMirror<'_>) -> Result<Listing, LinkError> {
        let dir = self.dir.to_string_lossy().into_owned();
        if !self.dir.is_dir() {
            return Ok(Listing { dir, ..Listing::default() });
        }
        open_mirror(&dir)?;
        let ListedFiles { files, refused, is_complete } = listing::list(&self.dir);
        Ok(Listing { dir, has_dir: true, files, refused, is_complete, ..Listing::default() })
    }

    fn fetch(&mut self, _: &Mirror, files: &[FetchedFile], take: TakeFile<'_>) -> Result<usize, LinkError> {
        read_from(&self.dir, files, take)
    }

    fn method(&self) -> Method {
        Method::Files
    }

    fn transferred(&self) -> u64 {
        0
    }
}
