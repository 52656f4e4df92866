//! The server on a machine: lists session files, sends them or what was appended, and makes changes. It ends with its
//! input.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::changes::Changes;
use crate::disk::fingerprint::ContentHash;
use crate::disk::program;
use crate::machines::changes;
use crate::machines::listing::{self, ListedFiles, RemoteFile};
use crate::machines::wire::{self, Answer, Ask, Frame, RemotePi, ServerFacts, WantedFile};
use crate::pi::status::PiStatus;

/// The number of files in a message.
const FILES_AT_ONCE: usize = 1000;

/// A server.
pub(crate) struct Server {
    /// The session directory.
    pub(crate) dir: PathBuf,
    /// The interface for changes; `None` without a home directory.
    pub(crate) changes: Option<Changes>,
    /// The running pis that report their state.
    pub(crate) pis: Vec<PiStatus>,
    /// Returns the current time in milliseconds since 1970.
    pub(crate) now: fn() -> i64,
}

impl Server {
    /// Answers requests until the end of the input.
    ///
    /// # Errors
    /// A request is not valid, or the output cannot be written.
    pub(crate) fn run(&self, mut from: impl Read, to: impl Write) -> Result<()> {
        let mut to = BufWriter::with_capacity(wire::PIECE, to);
        writeln!(to, "{}", wire::GREETING)?;
        wire::send(&mut to, &Answer::Hello(self.facts()))?;
        to.flush()?;
        let mut listed: Option<ListedFiles> = None;
        while let Some(frame) = wire::receive(&mut from).context("a request is not valid")? {
            let Frame::Message(ask) = frame else { anyhow::bail!("unexpected bytes of a file") };
            let is_compared = matches!(ask, Ask::Compare(_) | Ask::List(_));
            let files = listed
                .get_or_insert_with(|| if is_compared { listing::list(&self.dir) } else { ListedFiles::default() });
            match ask {
                Ask::Compare(digest) => {
                    let is_same = files.is_complete && listing::digest(&listing::digests(&files.files)) == digest;
                    wire::send(&mut to, if is_same { &Answer::Same } else { &Answer::Differs })?;
                }
                Ask::List(known) => list(files, &known, &mut to)?,
                Ask::Fetch(wanted) => self.fetch(&wanted, &mut to)?,
                Ask::Change { id, change } => {
                    let outcome = changes::carry_out(self.changes.as_ref(), (&id, &change), (self.now)());
                    wire::send(&mut to, &Answer::Changed(outcome))?;
                }
            }
            if !is_compared {
                listed = None;
            }
            to.flush()?;
        }
        Ok(())
    }

    fn facts(&self) -> ServerFacts {
        let pi = |pi: &PiStatus| RemotePi {
            session: pi.session.to_string_lossy().into_owned(),
            state: pi.state,
            since: pi.since,
            pid: pi.pid,
            model: pi.model.clone(),
            cost: pi.cost,
        };
        ServerFacts {
            protocol: wire::PROTOCOL,
            pitree: env!("CARGO_PKG_VERSION").into(),
            program: program::this().map_or_else(|_| "pitree".into(), |path| path.to_string_lossy().into_owned()),
            dir: self.dir.to_string_lossy().into_owned(),
            has_dir: self.dir.is_dir(),
            now: (self.now)(),
            pis: self.pis.iter().map(pi).collect(),
        }
    }

    fn fetch(&self, wanted: &[WantedFile], to: &mut impl Write) -> Result<()> {
        for (at, file) in (0..).zip(wanted) {
            match self.open(file) {
                Ok((mut content, from, mtime)) => {
                    wire::send(to, &Answer::File { at, from, mtime })?;
                    send_content(&mut content, to)?;
                    wire::send(to, &Answer::FileEnd)?;
                }
                Err(error) => wire::send(to, &Answer::NoFile { at, reason: error.to_string() })?,
            }
        }
        Ok(wire::send(to, &Answer::Fetched)?)
    }

    /// Opens a file at the end of its known content, or at its start if it does not start with that. Returns the offset
    /// and the modification time.
    fn open(&self, wanted: &WantedFile) -> io::Result<(io::Take<File>, u64, i64)> {
        if !listing::is_safe(&wanted.path) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a session file"));
        }
        let path = listing::below(&self.dir, &wanted.path);
        listing::opened_at(&path, ContentHash::of_parts(wanted.known, wanted.hash))
    }
}

fn list(
    ListedFiles { files, is_complete, .. }: &ListedFiles,
    known: &[(String, u64)],
    to: &mut impl Write,
) -> Result<()> {
    let digests = listing::digests(files);
    let known: HashMap<&str, u64> = known.iter().map(|(folder, digest)| (&**folder, *digest)).collect();
    let is_known = |folder: &str| known.get(folder) == digests.get(folder);
    let differing: HashSet<&str> = digests.keys().map(String::as_str).filter(|folder| !is_known(folder)).collect();
    let differing: Vec<RemoteFile> = files.iter().filter(|file| differing.contains(file.folder())).cloned().collect();
    for files in differing.chunks(FILES_AT_ONCE) {
        wire::send(to, &Answer::Files(files.to_vec()))?;
    }
    let (folders, is_complete) = (digests.into_keys().collect(), *is_complete);
    Ok(wire::send(to, &Answer::Listed { folders, is_complete })?)
}

fn send_content(content: &mut impl Read, to: &mut impl Write) -> Result<()> {
    let mut piece = vec![0; wire::PIECE];
    loop {
        match content.read(&mut piece)? {
            0 => return Ok(()),
            count => wire::send_bytes(to, &piece[..count])?,
        }
    }
}
