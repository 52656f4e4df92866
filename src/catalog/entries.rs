//! The entries of sessions as a stream of records for databases: of all sessions, or of those that changed since a time.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::base::safe_json::{PathFields, number, object, push_json_line};
use crate::base::{machine_paths, paths, sort, time};
use crate::catalog::files::FilePlaces;
use crate::catalog::key::SessionKey;
use crate::catalog::stats::sessions::{EntryPlace, SharedPaths, StatsSessions};
use crate::disk::fingerprint::FileMetadata;
use crate::disk::scan::Unreadable;
use crate::disk::{files, lines, parallel};
use crate::export::jsonl;
use crate::secrets::{Rules, SecretCollector, SecretReplacer};
use crate::session::digest::details::identity;
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::SharedLazySession;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::text_fields::texts;
use crate::session::entry::tool_call::touched;
use crate::session::entry::{Entry, Message, RawTime, ToolCall};
use crate::session::json::Str;
use crate::session::lines::Line;
use crate::session::links::{ById, EntryIndex, IdHash};

/// The time in milliseconds by which the clocks of file systems can be behind.
const COARSE: i64 = 3000;

/// A request for entries.
pub(crate) struct EntriesRequest<'a> {
    /// The sessions, with their worktrees.
    pub(crate) sessions: &'a StatsSessions,
    /// The rules of redaction; `None` to keep secrets.
    pub(crate) rules: Option<&'a Rules>,
    /// The home directory, for `~` in paths.
    pub(crate) home: &'a str,
    /// The time in milliseconds since 1970 since which a file must have changed; `None` for all sessions.
    pub(crate) since: Option<i64>,
    /// The time at which the run started, before sessions were read.
    pub(crate) run: &'a str,
}

/// A session to read, with its file.
struct GroupMember<'a> {
    key: SessionKey,
    session: &'a SharedLazySession,
    path: PathBuf,
}

/// Lines of entries, or a file that could not be read.
type Lines = Result<Vec<u8>, Unreadable>;

impl EntriesRequest<'_> {
    /// Passes the lines of the entries to `write` until it returns `false`. Returns the files that could not be read.
    pub(crate) fn run(&self, mut write: impl FnMut(&[u8]) -> bool) -> Vec<Unreadable> {
        let mut groups: Vec<Vec<GroupMember<'_>>> =
            parallel::map(self.sessions.groups().collect::<Vec<_>>(), |group| self.changed(group));
        groups.retain(|group| !group.is_empty());
        // The order in which files were read varies.
        sort::by_cached_key(&mut groups, |group| {
            let facts = group.first()?.session.facts();
            Some((facts.created(), facts.path().join()))
        });
        let reader = |group: &Vec<GroupMember<'_>>, buffer: &mut Vec<u8>, send: &dyn Fn(Lines) -> bool| {
            self.read(group, buffer, send);
        };
        let lost = |group: &Vec<GroupMember<'_>>, reason: String| {
            Err(Unreadable::new(group.first().map_or(Path::new(""), |first| &first.path), &reason))
        };
        let mut unreadable = Vec::new();
        parallel::in_order(&groups, (reader, lost), |lines| match lines {
            Ok(lines) => write(&lines),
            Err(file) => {
                unreadable.push(file);
                true
            }
        });
        unreadable
    }

    /// Returns the sessions of a group that share entries, if one of them changed: the others contain facts about it.
    fn changed(&self, group: &[SessionKey]) -> Vec<GroupMember<'_>> {
        let member = |&key: &SessionKey| {
            let session = self.sessions.get(key)?;
            Some(GroupMember { key, session, path: session.file_path() })
        };
        let members: Vec<_> = group.iter().filter_map(member).collect();
        let has_changed = self.since.is_none_or(|since| members.iter().any(|one| has_changed(&one.path, since)));
        if has_changed { members } else { Vec::new() }
    }

    /// Reads the sessions of a group, and sends the lines of their entries.
    fn read(&self, group: &[GroupMember<'_>], buffer: &mut Vec<u8>, send: &dyn Fn(Lines) -> bool) {
        let mut shared = SharedPaths::new(group.iter().map(|member| member.session));
        for (number, GroupMember { key, session, path }) in group.iter().enumerate() {
            let places = shared.places(number);
            let Some(details) = shared.details(number).filter(|_| self.sessions.is_wanted(*key)) else { continue };
            let oldest = self.sessions.get(self.sessions.oldest(*key));
            let mut reader = SessionReader {
                request: self,
                path,
                facts: session.facts(),
                family: oldest.map_or("", |session| session.facts().id()),
                project: &self.sessions.project(session),
                ids: &details.entries.ids,
                places: &places,
                buffer,
            };
            if let Err(reason) = reader.read(&mut |lines| send(Ok(lines))) {
                send(Err(Unreadable::new(path, &reason)));
            }
        }
    }
}

/// Returns `true` if a file was written, or put at its path, since a time. Imports and mirrors keep older times of writing.
/// An inaccessible file counts as changed, so that its error is reported.
fn has_changed(path: &Path, since: i64) -> bool {
    let since = since.saturating_sub(COARSE).saturating_mul(1_000_000);
    FileMetadata::of(path).map_or(true, |version| version.written.max(version.changed) >= since)
}

/// The size in bytes from which lines are sent.
const CHUNK: usize = 1024 * 1024;

/// A reader of a session whose entries are known. A first pass collects likely secrets, a second pass replaces them.
struct SessionReader<'a> {
    request: &'a EntriesRequest<'a>,
    path: &'a Path,
    facts: SessionFacts<'a>,
    family: &'a str,
    project: &'a str,
    /// The keys and places of the entries.
    ids: &'a [IdHash],
    places: &'a [EntryPlace],
    buffer: &'a mut Vec<u8>,
}

impl<'a> SessionReader<'a> {
    /// Sends the lines of all entries until `send` returns `false`.
    ///
    /// # Errors
    /// The file cannot be read, or changed meanwhile.
    fn read(&mut self, send: &mut dyn FnMut(Vec<u8>) -> bool) -> io::Result<()> {
        let redactor = self.redactor()?;
        let redactor = redactor.as_ref();
        let (request, ids, places) = (self.request, self.ids, self.places);
        let redacted = |text: &str| redactor.map_or(text.into(), |redactor| redactor.apply(text).into_owned());
        let cwd = self.facts.cwd();
        let fields = object! {
            machine: machine_paths::machine(self.path),
            #[serde(flatten)] path: masked(self.path, request.rules),
            session: redacted(self.facts.id()),
            family: redacted(self.family),
            project: redacted(self.project),
            run: request.run,
        };
        let (mut lines, mut is_wanted) = (Vec::new(), true);
        let files = FilePlaces { home: request.home, worktrees: request.sessions.worktrees() };
        let mut calls = ById::<i64>::default();
        let mut failure = None;
        let (mut at, most) = (0, ids.len());
        let mut file = files::open(self.path)?;
        lines::each(&mut file, 0, u64::MAX, self.buffer, |line| {
            if at >= most {
                return false;
            }
            let read = line.read();
            let Some(entry) = read.as_ref().ok().and_then(Option::as_ref).filter(|entry| !entry.is_header()) else {
                return true;
            };
            let (index, place) = (at as EntryIndex, places[at]);
            let time = entry.timestamp.and_then(RawTime::ms);
            if identity(entry, entry.id.map(IdHash::of), index, time, line.bytes) != ids[at] {
                failure = Some(changed());
                return false;
            }
            at += 1;
            let duration = duration(entry, time, &mut calls);
            let changed = redactor.filter(|_| !line.is_cut()).map(|redactor| redacted_line(line.bytes, redactor));
            let line = changed.as_deref().map_or(line, |bytes| Line::new(line.offset, bytes, true));
            let parsed = changed.is_some().then(|| line.read());
            let Some(entry) = parsed.as_ref().map_or(Some(entry), |read| read.as_ref().ok()?.as_ref()) else {
                failure = Some(io::Error::other("an entry without its secrets is not JSON"));
                return false;
            };
            let entry = record((index, place, time), (entry, &line), duration, |path| redacted(&files.path(path, cwd)));
            if let Err(error) =
                push_json_line(&mut lines, &object! { #[serde(flatten)] fields: &fields, #[serde(flatten)] entry })
            {
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
            None if is_wanted && at != most => return Err(changed()),
            None => {}
        }
        if is_wanted && !lines.is_empty() {
            send(lines);
        }
        Ok(())
    }

    /// Collects the secrets of the file. Returns `None` if there are none, or if secrets are kept.
    fn redactor(&mut self) -> io::Result<Option<SecretReplacer<'a>>> {
        let Some(mut found) = self.request.rules.map(SecretCollector::new) else { return Ok(None) };
        [self.facts.id(), self.facts.cwd(), self.project].iter().for_each(|text| found.collect(text));
        let mut file = files::open(self.path)?;
        lines::each(&mut file, 0, u64::MAX, self.buffer, |line| {
            jsonl::each_text(line.bytes, &mut |key, text| found.collect_field(key, text));
            true
        })?;
        Ok((found.count() > 0).then(|| found.finish()))
    }
}

/// Returns the path of a session on its machine, without likely secrets. It depends only on the path, because it
/// identifies the session.
fn masked(path: &Path, rules: Option<&Rules>) -> PathFields {
    let path_bytes = paths::non_utf8_base64(path);
    let there = machine_paths::remote_path(path);
    let path = there.as_deref().unwrap_or(path).to_string_lossy().into_owned();
    let (path, path_bytes) = match rules.map(|rules| rules.mask(&path)) {
        Some(Cow::Owned(path)) => (path, None),
        _ => (path, path_bytes),
    };
    PathFields { path, path_bytes, remote: None }
}

fn changed() -> io::Error {
    io::Error::other("the file changed while it was read; run it again")
}

/// Returns the line of an entry without likely secrets.
fn redacted_line(line: &[u8], redactor: &SecretReplacer<'_>) -> Vec<u8> {
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

/// Returns the record of an entry: its index, place and time, the entry with its line, and the time its call took. `file`
/// resolves a path.
fn record<'a>(
    (index, place, time): (EntryIndex, EntryPlace, Option<i64>),
    (entry, line): (&Entry<'a>, &Line<'a>),
    duration: Option<f64>,
    file: impl Fn(&str) -> String,
) -> impl Serialize {
    let message = entry.message.as_ref();
    let text = |text: Option<Str<'a>>| text.map(Str::text);
    let result = message.filter(|_| entry.kind == EntryKind::ToolResult);
    let calls: Vec<ToolCall<'a>> = message.map_or_else(Vec::new, |message| calls(entry.kind, message));
    let files =
        calls.iter().filter_map(touched).map(|(path, touch)| object! { path: file(&path), touch: touch.name() });
    let used = entry.used();
    let tokens = used.map(|used| [used.input, used.output, used.cache_read, used.cache_write]);
    let part = |at: usize| tokens.and_then(|tokens| number(tokens[at]));
    object! {
        index,
        entry_id: text(entry.id),
        parent_id: text(entry.parent_id),
        time: time.and_then(time::iso),
        kind: entry.type_name.text(),
        role: text(entry.role()),
        provider: text(entry.provider()),
        model: text(entry.model()),
        text: if line.is_cut() { String::new() } else { all_texts(entry, line.bytes) },
        tools: calls.iter().map(|call| call.name.text()).collect::<Vec<_>>(),
        tool: text(result.and_then(|message| message.tool_name)),
        duration_ms: duration.and_then(number),
        failed: result.is_some_and(|message| message.is_error && !message.never_ran()),
        not_run: result.is_some_and(Message::never_ran),
        files: files.collect::<Vec<_>>(),
        input: part(0),
        output: part(1),
        cache_read: part(2),
        cache_write: part(3),
        tokens: tokens.and_then(|tokens| number(tokens.iter().sum())),
        cost: used.and_then(|used| number(used.cost)),
        own: place.is_own,
        active: place.is_active,
        abandoned: place.is_abandoned,
    }
}

/// Returns the tool calls of an answer, or those that a tool made itself.
fn calls<'a>(kind: EntryKind, message: &Message<'a>) -> Vec<ToolCall<'a>> {
    match kind {
        EntryKind::Assistant => message.content.tool_calls().copied().collect(),
        EntryKind::ToolResult => message.nested_calls().map(|nested| nested.call).collect(),
        _ => Vec::new(),
    }
}

/// Returns all texts of an entry, one after another.
fn all_texts<'a>(entry: &Entry<'a>, line: &'a [u8]) -> String {
    let mut all = String::new();
    texts(entry, line, &mut |_, text| {
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(&text.text());
    });
    all
}
