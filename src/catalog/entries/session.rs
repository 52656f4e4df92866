//! Reads a session file, and writes the records of its new entries: a first pass collects likely secrets, a second pass
//! replaces them.

use std::borrow::Cow;
use std::io;

use crate::base::safe_json::{object, push_json_line};
use crate::catalog::entries::facts::{PreparedSession, SessionFields};
use crate::catalog::entries::record::EntryRecord;
use crate::catalog::entries::state::PrintedSession;
use crate::catalog::files::FilePlaces;
use crate::catalog::stats::shared_paths::EntryPlace;
use crate::disk::fingerprint::{ContentHash, HashingReader, hash};
use crate::disk::{files, lines};
use crate::export::jsonl;
use crate::secrets::{Redaction, Redactor};
use crate::session::digest::details::identity;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Entry, RawTime};
use crate::session::lines::Line;
use crate::session::links::{ById, IdHash, Index};

/// The size in bytes from which lines are sent.
const CHUNK: usize = 1024 * 1024;

/// A reader of a session whose entries are known.
pub(super) struct SessionReader<'a> {
    pub(super) session: &'a PreparedSession<'a>,
    /// The keys and places of the entries.
    pub(super) ids: &'a [IdHash],
    pub(super) places: &'a [EntryPlace],
    pub(super) buffer: &'a mut Vec<u8>,
}

/// Receives lines and the number of entries in them. Returns `false` once they are no longer wanted.
pub(super) type LineReceiver<'a> = &'a mut dyn FnMut(Vec<u8>, usize) -> bool;

impl<'a> SessionReader<'a> {
    /// Sends the lines of entries that are not in `before`, or of all entries as a new generation if an earlier one
    /// changed.
    ///
    /// # Errors
    /// The file cannot be read, or changed meanwhile.
    pub(super) fn read(
        &mut self,
        before: Option<&PrintedSession>,
        generation: i64,
        send: LineReceiver<'_>,
    ) -> io::Result<PrintedSession> {
        // If the file changes after this, the next run prints it again.
        let (redactor, content) = self.first_pass()?;
        let secrets = redactor.as_ref().map_or(0, |redactor| redactor.secrets().count() as u32);
        let is_continued = |before: &&PrintedSession| {
            let (bytes, hash) = before.content;
            let is_same = || self.state(before.entries as usize) == Some(before.state);
            before.secrets == secrets && is_same() && ContentHash::of_parts(bytes, hash).is_in(self.session.path)
        };
        let continued = before.filter(is_continued);
        let from = continued.map(|before| before.entries);
        let generation = continued.map_or(generation, |before| before.generation);
        self.write((from, generation), redactor.as_ref(), send)?;
        let state = self.state(self.ids.len()).unwrap_or_default();
        let entries = self.ids.len() as u32;
        Ok(PrintedSession { inputs: 0, entries, content: content.parts(), state, secrets, generation })
    }

    /// Returns a hash of the first entries and their places. `None` if there are fewer.
    fn state(&self, count: usize) -> Option<u64> {
        let mut bytes = self.session.context.to_le_bytes().to_vec();
        for (id, place) in self.ids.get(..count)?.iter().zip(self.places) {
            bytes.extend(id.value().to_le_bytes());
            let flags = [place.is_own, place.is_abandoned, place.is_active];
            bytes.push(flags.iter().fold(0, |bits, flag| 2 * bits + u8::from(*flag)));
        }
        Some(hash(&bytes))
    }

    /// Calls `each` with the index, the line and the parsed line of each known entry, until it returns `false`.
    fn each_entry(&mut self, each: &mut dyn FnMut(Index, &Line<'_>, &Entry<'_>) -> bool) -> io::Result<Index> {
        let (mut at, most) = (0, self.ids.len() as Index);
        let mut file = files::open(self.session.path)?;
        lines::each(&mut file, 0, u64::MAX, self.buffer, |line| {
            if at >= most {
                return false;
            }
            let read = line.read();
            let Some(entry) = read.as_ref().ok().and_then(Option::as_ref).filter(|entry| !entry.is_header()) else {
                return true;
            };
            let goes_on = each(at, &line, entry);
            at += 1;
            goes_on
        })?;
        Ok(at)
    }

    /// Sends the lines from an entry on, or all lines of a new generation.
    fn write(
        &mut self,
        (from, generation): (Option<Index>, i64),
        redactor: Option<&Redactor<'_>>,
        send: LineReceiver<'_>,
    ) -> io::Result<()> {
        let (session, ids, places) = (self.session, self.ids, self.places);
        let fields = SessionFields::new(session, generation, redactor);
        let (mut lines, mut count, mut is_wanted) = (Vec::new(), 0, true);
        if from.is_none() {
            let removed = false;
            let line =
                object! { #[serde(rename = "type")] record: "session", #[serde(flatten)] fields: &fields, removed };
            push_json_line(&mut lines, &line).map_err(io::Error::other)?;
        }
        let files = FilePlaces { home: session.home, worktrees: session.worktrees };
        let mut calls = ById::<i64>::default();
        let mut failure = None;
        let read = self.each_entry(&mut |at, line, entry| {
            let time = entry.timestamp.and_then(RawTime::ms);
            if identity(entry, entry.id.map(IdHash::of), at, time, line.bytes) != ids[at as usize] {
                failure = Some(changed());
                return false;
            }
            let duration = duration(entry, time, &mut calls);
            if from.is_some_and(|from| at < from) {
                return true;
            }
            let changed = redactor.filter(|_| !line.is_cut()).map(|redactor| redacted(line.bytes, redactor));
            let line = changed.as_deref().map_or(*line, |bytes| Line::new(line.offset, bytes, true));
            let parsed = changed.is_some().then(|| line.read());
            let Some(entry) = parsed.as_ref().map_or(Some(entry), |read| read.as_ref().ok()?.as_ref()) else {
                failure = Some(io::Error::other("an entry without its secrets is not JSON"));
                return false;
            };
            let file = |path: &str| {
                let path = files.path(path, session.cwd);
                redactor.map_or(path.clone(), |redactor| redactor.apply(&path).into_owned())
            };
            let record = EntryRecord::new((at, places[at as usize], time), (entry, &line), duration, file);
            let line = object! {
                #[serde(rename = "type")] record: "entry",
                #[serde(flatten)] fields: &fields,
                #[serde(flatten)] entry: record,
            };
            if let Err(error) = push_json_line(&mut lines, &line) {
                failure = Some(io::Error::other(error));
                return false;
            }
            count += 1;
            if lines.len() >= CHUNK {
                is_wanted = send(std::mem::take(&mut lines), std::mem::take(&mut count));
            }
            is_wanted
        })?;
        match failure {
            Some(failure) => return Err(failure),
            None if is_wanted && read != ids.len() as Index => return Err(changed()),
            None => {}
        }
        if is_wanted && !lines.is_empty() {
            send(lines, count);
        }
        Ok(())
    }

    /// Hashes the file, and collects its secrets. Returns no redactor if there are none, or if secrets are kept.
    fn first_pass(&mut self) -> io::Result<(Option<Redactor<'a>>, ContentHash)> {
        let mut file = HashingReader::new(files::open(self.session.path)?, true);
        let mut found = self.session.rules.map(Redaction::new);
        if let Some(found) = &mut found {
            [self.session.id, self.session.cwd, self.session.project].iter().for_each(|text| found.collect(text));
            lines::each(&mut file, 0, u64::MAX, self.buffer, |line| {
                jsonl::each_text(line.bytes, &mut |key, text| found.collect_field(key, text));
                true
            })?;
        }
        file.read_to(u64::MAX)?;
        let found = found.filter(|found| found.count() > 0);
        Ok((found.map(Redaction::finish), file.content()))
    }
}

fn changed() -> io::Error {
    io::Error::other("the file changed while it was read; the next run prints it")
}

/// Returns the line of an entry without likely secrets.
fn redacted(line: &[u8], redactor: &Redactor<'_>) -> Vec<u8> {
    jsonl::replace_texts(line, &mut |key, text| match redactor.apply_field(key, text) {
        Cow::Owned(changed) => Some(changed),
        Cow::Borrowed(_) => None,
    })
}

/// Returns the time in milliseconds that the call of a result took: as recorded, or from the entry with the call to this
/// one. Adds the calls of the entry to `calls`.
fn duration(entry: &Entry<'_>, time: Option<i64>, calls: &mut ById<i64>) -> Option<f64> {
    let message = entry.message.as_ref()?;
    if entry.kind == EntryKind::Assistant {
        calls.extend(message.content.tool_calls().filter_map(|call| Some((IdHash::of(call.id), time?))));
        return message.duration_ms;
    }
    let called =
        (entry.kind == EntryKind::ToolResult).then(|| calls.remove(&IdHash::of(message.tool_call_id?))).flatten();
    let waited = || Some(time?.checked_sub(called?)? as f64).filter(|waited| *waited >= 0.0);
    message.duration_ms.or_else(waited)
}
