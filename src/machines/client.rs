//! The client of a pitree on a machine.

use std::collections::HashSet;
use std::io::{self, BufReader, Read, Write};
use std::time::Duration;

use crate::machines::link::{LIST_LIMIT, Link, LinkError, MISSING};
use crate::machines::listing::{self, MOST_FILES, RemoteFile};
use crate::machines::mirror::Mirror;
use crate::machines::source::{FetchedFile, Listing, OpenMirror, Source, TakeFile};
use crate::machines::state::Method;
use crate::machines::transport::{Transport, dir_word};
use crate::machines::wire::{self, Answer, Ask, ChangeOutcome, Frame, PROTOCOL, RemoteChange, ServerFacts, WantedFile};

/// The number of files in a request, so that its message is short.
const FILES_AT_ONCE: usize = 2000;

/// The time limit of a change.
const CHANGE_LIMIT: Duration = Duration::from_secs(30);

/// The line of a script that does not find pitree.
const NOT_FOUND: &str = "pitree-not-found";

/// The names of pitree: in the directories of the PATH, and where it is often installed.
const PLACES: &str = r#"pitree "$HOME/.cargo/bin/pitree" "$HOME/.local/bin/pitree" "$HOME/.nix-profile/bin/pitree" /usr/local/bin/pitree"#;

/// A connection to a pitree.
pub(super) struct Client {
    link: Link,
    /// Facts about the other end.
    pub(super) facts: ServerFacts,
}

impl Client {
    /// Connects to the pitree on a machine.
    ///
    /// # Errors
    /// The machine cannot be reached, or has no pitree with the same protocol; then `is_missing` is set.
    pub(super) fn connect(transport: Transport<'_>) -> Result<Self, LinkError> {
        let run = script(transport.address.dir(), "serve --stdio");
        let mut link = Link::run(transport, &run)?;
        let facts = greet(&mut link).map_err(|error| {
            let mut failure = link.explain(&error);
            // A shell that knows no `command -v`, an older pitree, or another program of that name.
            let is_other = matches!(link.code(), Some(2 | MISSING | 126 | 127));
            let kinds = [io::ErrorKind::InvalidData, io::ErrorKind::NotFound];
            failure.is_missing |= is_other || kinds.contains(&error.kind());
            failure
        })?;
        if facts.protocol != PROTOCOL {
            let reason = format!("pitree {} there does not fit; update both", facts.pitree);
            return Err(LinkError { is_missing: true, ..LinkError::new(reason) });
        }
        link.end_within(None);
        Ok(Self { link, facts })
    }

    /// Makes a change. Repeating it with the same ID after a lost connection changes nothing twice.
    ///
    /// # Errors
    /// The connection failed; the change may have been made.
    pub(super) fn change(&mut self, id: &str, change: RemoteChange) -> Result<ChangeOutcome, LinkError> {
        self.link.wait_at_most(CHANGE_LIMIT);
        self.ask(&Ask::Change { id: id.into(), change })?;
        match self.answer()? {
            Answer::Changed(outcome) => Ok(outcome),
            _ => Err(unexpected()),
        }
    }

    fn ask(&mut self, ask: &Ask) -> Result<(), LinkError> {
        let mut bytes = Vec::new();
        wire::send(&mut bytes, ask)
            .and_then(|()| self.link.write_all(&bytes))
            .map_err(|error| self.link.explain(&error))
    }

    fn frame(&mut self) -> Result<Frame<Answer>, LinkError> {
        let frame = wire::receive(&mut self.link);
        let frame = frame.and_then(|frame| frame.ok_or_else(|| io::ErrorKind::UnexpectedEof.into()));
        frame.map_err(|error| self.link.explain(&error))
    }

    fn answer(&mut self) -> Result<Answer, LinkError> {
        match self.frame()? {
            Frame::Message(answer) => Ok(answer),
            Frame::Bytes(_) => Err(unexpected()),
        }
    }

    /// Returns the files of a machine whose files differ from `held`.
    fn differing(&mut self, held: Vec<RemoteFile>) -> Result<(Vec<RemoteFile>, usize, bool), LinkError> {
        let digests = listing::digests(&held);
        self.ask(&Ask::List(digests.iter().map(|(folder, digest)| (folder.clone(), *digest)).collect()))?;
        let (mut files, mut refused) = (Vec::new(), 0);
        let (folders, is_complete) = loop {
            match self.answer()? {
                Answer::Files(more) if !more.is_empty() => {
                    let count = more.len();
                    files.extend(more.into_iter().filter(RemoteFile::is_safe));
                    refused += count;
                    if refused > MOST_FILES {
                        return Err(LinkError::new("too many files"));
                    }
                }
                Answer::Listed { folders, is_complete } => break (folders, is_complete),
                _ => return Err(unexpected()),
            }
        };
        refused -= files.len();
        // The other directories are as in the mirror.
        let differing: HashSet<String> = files.iter().map(|file| file.folder().to_owned()).collect();
        let same: HashSet<String> = folders.into_iter().filter(|folder| !differing.contains(folder)).collect();
        files.extend(held.into_iter().filter(|file| same.contains(file.folder())));
        Ok((files, refused, is_complete))
    }
}

/// Returns the script that runs pitree on a machine.
fn script(dir: Option<&str>, command: &str) -> String {
    let dir = dir.map_or(String::new(), |dir| format!("--dir {} ", dir_word(dir)));
    format!(
        r#"for p in {PLACES}; do if command -v "$p" >/dev/null 2>&1; then exec "$p" {dir}{command}; fi; done; echo {NOT_FOUND}; exit {MISSING}"#
    )
}

/// Reads the greeting, after lines that the shell prints, and the first answer.
fn greet(link: &mut Link) -> io::Result<ServerFacts> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidData, "no answer of pitree");
    if link.skip_to(&[wire::GREETING, NOT_FOUND])? == NOT_FOUND {
        return Err(io::Error::new(io::ErrorKind::NotFound, "pitree is not installed there"));
    }
    match wire::receive(link)? {
        Some(Frame::Message(Answer::Hello(facts))) => Ok(facts),
        _ => Err(invalid()),
    }
}

fn unexpected() -> LinkError {
    LinkError::new("pitree there sent an unexpected answer; update both")
}

impl Source for Client {
    fn list(&mut self, open_mirror: OpenMirror<'_>) -> Result<Listing, LinkError> {
        let ServerFacts { pitree, program, dir, has_dir, now, pis, .. } = self.facts.clone();
        let mut listing = Listing {
            dir,
            has_dir,
            now: Some(now),
            // A broken pitree there can send any number.
            pis: pis.into_iter().filter(|pi| pi.cost.is_finite()).collect(),
            pitree: Some(pitree),
            program: Some(program),
            ..Listing::default()
        };
        if !has_dir {
            return Ok(listing);
        }
        let held = open_mirror(&listing.dir)?;
        self.link.end_within(Some(LIST_LIMIT));
        self.ask(&Ask::Compare(listing::digest(&listing::digests(&held))))?;
        match self.answer()? {
            Answer::Same => (listing.files, listing.is_complete) = (held, true),
            Answer::Differs => (listing.files, listing.refused, listing.is_complete) = self.differing(held)?,
            _ => return Err(unexpected()),
        }
        self.link.end_within(None);
        Ok(listing)
    }

    fn fetch(&mut self, _: &Mirror, files: &[FetchedFile], take: TakeFile<'_>) -> Result<usize, LinkError> {
        let mut unread = 0;
        for (number, some) in files.chunks(FILES_AT_ONCE).enumerate() {
            let wanted = some.iter().map(|FetchedFile { file, known }| {
                let (known, hash) = known.parts();
                WantedFile { path: file.path.clone(), known, hash }
            });
            self.ask(&Ask::Fetch(wanted.collect()))?;
            let mut sent = HashSet::new();
            loop {
                match self.answer()? {
                    Answer::File { at, from, mtime } => {
                        let file = some.get(at as usize).ok_or_else(unexpected)?;
                        if !sent.insert(at) || (from != 0 && from != file.known.parts().0) {
                            return Err(unexpected());
                        }
                        let mut content =
                            BufReader::new(FileReader { client: self, piece: Vec::new(), at: 0, state: Ok(false) });
                        take(number * FILES_AT_ONCE + at as usize, (from, mtime), &mut content)?;
                        content.into_inner().state?;
                    }
                    Answer::NoFile { .. } => unread += 1,
                    Answer::Fetched => break,
                    _ => return Err(unexpected()),
                }
            }
        }
        Ok(unread)
    }

    fn method(&self) -> Method {
        Method::Pitree
    }

    fn transferred(&self) -> u64 {
        self.link.transferred
    }
}

/// A reader of the pieces of a file.
struct FileReader<'a> {
    client: &'a mut Client,
    piece: Vec<u8>,
    at: usize,
    /// `Ok(true)` after the end.
    state: Result<bool, LinkError>,
}

impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            if self.state.as_ref().map_or(true, |is_end| *is_end) {
                return Ok(0);
            }
            match self.client.frame() {
                Ok(Frame::Bytes(piece)) => (self.piece, self.at) = (piece, 0),
                Ok(Frame::Message(Answer::FileEnd)) => self.state = Ok(true),
                Ok(Frame::Message(_)) => self.state = Err(unexpected()),
                Err(error) => self.state = Err(error),
            }
            if let Err(error) = &self.state {
                return Err(io::Error::other(error.clone()));
            }
        }
        let count = buffer.len().min(self.piece.len() - self.at);
        buffer[..count].copy_from_slice(&self.piece[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
