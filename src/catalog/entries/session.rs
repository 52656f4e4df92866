//! Reads a session file, and writes the records of its entries: a first pass collects likely secrets, a second pass
//! replaces them.

use std::borrow::Cow;
use std::io;

use crate::base::safe_json::{object, push_json_line};
use crate::catalog::entries::facts::{PreparedSession, SessionFields};
use crate::catalog::entries::record::EntryRecord;
use crate::catalog::files::FilePlaces;
use crate::catalog::stats::shared_paths::EntryPlace;
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

/// Receives lines. Returns `false` once they are no longer wanted.
pub(super) type LineReceiver<'a> = &'a mut dyn FnMut(Vec<u8>) -> bool;

impl<'a> SessionReader<'a> {
    /// Sends the lines of all entries.
    ///
    /// # Errors
    /// The file cannot be read, or changed meanwhile.
    pub(super) fn read(&mut self, send: LineReceiver<'_>) -> io::Result<()> {
        let redactor = self.redactor()?;
        self.write(redactor.as_ref(), send)
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

    /// Sends the lines of all entries.
    fn write(&mut self, redactor: Option<&Redactor<'_>>, send: LineReceiver<'_>) -> io::Result<()> {
        let (session, ids, places) = (self.session, self.ids, self.places);
        let fields = SessionFields::new(session, redactor);
        let (mut lines, mut is_wanted) = (Vec::new(), true);
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
                #[serde(flatten)] fields: &fields,
                #[serde(flatten)] entry: record,
            };
            if let Err(error) = push_json_line(&mut lines, &line) {
                failure = Some(io::Error::other(error));
                return false;
            }
            if lines.len() >= CHUNK {
                is_wanted = send(std::mem::take(&mut lines));
            }
            is_wanted
        })?;
        match failure {
            Some(failure) => return Err(failure),
            None if is_wanted && read != ids.len() as Index => return Err(changed()),
            None => {}
        }
        if is_wanted && !lines.is_empty() {
            send(lines);
        }
        Ok(())
    }

    /// Collects the secrets of the file. Returns `None` if there are none, or if secrets are kept.
    fn redactor(&mut self) -> io::Result<Option<Redactor<'a>>> {
        let Some(mut found) = self.session.rules.map(Redaction::new) else { return Ok(None) };
        [self.session.id, self.session.cwd, self.session.project].iter().for_each(|text| found.collect(text));
        let mut file = files::open(self.session.path)?;
        lines::each(&mut file, 0, u64::MAX, self.buffer, |line| {
            jsonl::each_text(line.bytes, &mut |key, text| found.collect_field(key, text));
            true
        })?;
        Ok((found.count() > 0).then(|| found.finish()))
    }
}

fn changed() -> io::Error {
    io::Error::other("the file changed while it was read; run it again")
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
