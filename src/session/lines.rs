//! Data collected from the lines of a session file for all purposes: whether it is a session, its header, the IDs and
//! offsets of its entries, the labels, and damage. Digests and trees are based on it. Parts of a file that were read
//! separately can be joined.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::session::entry::kind::EntryKind;
use crate::session::entry::parse::{self, StoredValue};
use crate::session::entry::row::is_silent;
use crate::session::entry::{Entry, NEWEST, RawTime};
use crate::session::json::value::Fields;
use crate::session::json::{self, JsonReader, Str, text_or_empty};
use crate::session::links::{ActivePath, EntryIds, EntryIndex, IdHash, ParentLinks};
use crate::session::marks::session_key;
use crate::session::problem::Problem;

/// The maximum length of a line in bytes, which limits memory use. An entry contains data sent to a model, and no
/// provider accepts requests of more than about 100 MB, including images.
pub const LONGEST: u64 = 256 * 1024 * 1024;

/// The number of bytes read of an overlong line. They contain the IDs of the entry.
pub const BEGINNING: usize = 64 * 1024;

/// The maximum number of entries of a file of any size, and the number of bytes for each further entry. An entry in
/// memory takes several times the space of the smallest lines. An entry by pi has a type, a time and mostly IDs: over
/// 100 bytes.
const ENTRIES: u64 = 20_000;
const BYTES_AN_ENTRY: u64 = 100;

/// A line of a session file.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The offset in the file, in bytes.
    pub offset: u64,
    /// The length in bytes, without the line break.
    pub len: u64,
    /// The bytes without the line break; of a line over [`LONGEST`], the first [`BEGINNING`] bytes.
    pub bytes: &'a [u8],
    /// `true` if a line break follows.
    pub ended: bool,
    /// The number of bytes between the line and the line break: see [`Line::parts`].
    pub behind: u64,
}

impl<'a> Line<'a> {
    /// Creates a complete line.
    pub fn new(offset: u64, bytes: &'a [u8], ended: bool) -> Self {
        Self { offset, len: bytes.len() as u64, bytes, ended, behind: 0 }
    }

    /// Returns the values of a line that is an array of objects with a `kind`, each as a separate line. Version 4 writes
    /// related records so (pi 0.87.1). Returns `None` for any other line.
    pub fn parts(&self) -> Option<Vec<Self>> {
        // An incomplete line is not an array yet.
        if !self.ended || self.bytes.first() != Some(&b'[') {
            return None;
        }
        let (mut r, mut parts) = (JsonReader::new(self.bytes), Vec::new());
        r.enter_array().ok()?;
        while r.next_item(parts.is_empty()).ok()? {
            let start = r.here();
            let bytes = r.skip().ok()?;
            Fields::new(bytes).get("kind")?;
            parts.push(Self::new(self.offset + start as u64, bytes, true));
        }
        r.end().ok()?;
        let last: &mut Self = parts.last_mut()?;
        last.behind = self.offset + self.len - last.offset - last.len;
        Some(parts)
    }

    /// Returns `true` if only the beginning of the line was read.
    pub fn is_cut(&self) -> bool {
        self.len > self.bytes.len() as u64
    }

    /// Parses the entry with [`parse::line`], or with [`parse::beginning`] if only the beginning was read.
    ///
    /// # Errors
    /// The line is not JSON.
    pub fn read(&self) -> json::Result<Option<Entry<'a>>> {
        if self.is_cut() { parse::beginning(self.bytes).map(Some) } else { parse::line(self.bytes) }
    }
}

/// The last line of a file without a line break, kept until it is complete: an owned [`Line`].
#[derive(Clone, Debug)]
pub struct PartialLine {
    offset: u64,
    len: u64,
    bytes: Box<[u8]>,
}

impl PartialLine {
    /// Copies a line without a line break.
    pub fn new(line: &Line<'_>) -> Self {
        Self { offset: line.offset, len: line.len, bytes: line.bytes.into() }
    }

    /// Returns the line.
    pub fn line(&self) -> Line<'_> {
        Line { offset: self.offset, len: self.len, bytes: &self.bytes, ended: false, behind: 0 }
    }

    /// Returns `true` if the line is not JSON: it may be incomplete.
    pub fn is_torn(&self) -> bool {
        self.line().read().is_err()
    }
}

/// The header of a session file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Header {
    /// `id`.
    pub id: String,
    /// `cwd`; empty if absent.
    pub cwd: String,
    /// `timestamp`, in milliseconds since 1970.
    pub created: Option<i64>,
    /// `true` if `timestamp` is a string: pi's list ignores other values (0.87.1).
    pub created_is_text: bool,
    /// `version`; 1 if absent.
    pub version: f64,
    /// `parentSession`, or `branchedFrom` of old files: the path of the parent session.
    pub parent_session: Option<String>,
    /// `parentSessionId` of version 4: the ID of the parent session.
    pub parent_id: Option<String>,
    /// `imported`, which pitree writes: when the session was imported, in milliseconds since 1970.
    pub imported: Option<i64>,
}

impl Header {
    /// Returns the key of the session for its marks: see [`session_key`].
    pub fn marks_key(&self) -> Cow<'_, str> {
        session_key(&self.id, self.created)
    }

    /// Returns `true` if the version is newer than the supported ones. The readable parts are shown, but the file is
    /// read-only for pitree.
    pub fn is_newer(&self) -> bool {
        self.version > NEWEST
    }

    /// Returns `true` if pi migrates the file when it opens it.
    pub fn is_old(&self) -> bool {
        self.version < NEWEST
    }

    /// Returns `true` if the session is a fork.
    pub fn is_fork(&self) -> bool {
        self.parent_session.is_some() || self.parent_id.is_some()
    }

    /// Returns `true` if an entry with this time was inherited from the parent: it is older than the header, which pi
    /// writes when it forks (1.6.0).
    pub fn inherits(&self, time: Option<i64>) -> bool {
        let forked = self.created.filter(|_| self.is_fork());
        forked.is_some_and(|forked| time.is_some_and(|time| time < forked))
    }

    /// Creates a header from its entry.
    pub fn new(entry: &Entry<'_>) -> Self {
        Self {
            id: text_or_empty(entry.id),
            cwd: text_or_empty(entry.cwd),
            created: entry.timestamp.and_then(RawTime::ms),
            created_is_text: matches!(entry.timestamp, Some(RawTime::Text(_))),
            version: entry.version.unwrap_or(1.0),
            parent_session: entry.parent_session.or(entry.branched_from).map(Str::owned),
            parent_id: entry.parent_session_id.map(Str::owned),
            imported: entry.imported.and_then(RawTime::ms),
        }
    }
}

/// An error: the file is not a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum NotASession {
    /// The first valid line is not a header: pi rejects the file.
    #[error("not a pi session: the first line is not a session header")]
    NoHeader,
    /// The first valid line is an entry. pi continues to write like this after its session file was deleted (1.6.0),
    /// and later rejects the file.
    #[error("not a pi session: no session header (pi writes such a file after its session file is removed)")]
    Headless,
    /// The first line is a title, as written by oh-my-pi, a program derived from pi: pi rejects the file.
    #[error("not a pi session: unsupported oh-my-pi format (title before the header)")]
    Titled,
    /// The file has more entries than pi could have written in its size.
    #[error("not a pi session: too many lines for the size of the file")]
    TooMany,
}

/// A label entry: it sets or clears the label of its target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelLine {
    target: IdHash,
    /// The ID of the target.
    pub(crate) target_id: Box<str>,
    /// The label; empty to clear it.
    pub text: Box<str>,
    /// The time of the entry, in milliseconds since 1970.
    pub time: Option<i64>,
}

/// Collects the data that all readers of a file need, line by line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LineCollector {
    /// The header, or the reason why the first valid line is none; `None` if there was no valid line yet.
    pub(crate) first: Option<Result<Header, NotASession>>,
    /// The number of entries before each header.
    pub(crate) headers: Vec<usize>,
    /// The last line while no line break follows it: it may be incomplete.
    #[serde(skip)]
    pub(crate) last: Option<PartialLine>,
    pub(crate) ids: Vec<EntryIds>,
    /// The offset of each entry, in bytes.
    pub(crate) offsets: Vec<u64>,
    /// `true` for each entry that is bookkeeping.
    bookkeeping: Vec<bool>,
    labels: Vec<LabelLine>,
    /// The last message of a user or an assistant.
    newest_message: Option<EntryIndex>,
    /// `true` if the last entry contains settings or extension state.
    ends_with_state: bool,
    /// The name that version 4 sets or clears.
    pub(crate) stored_name: Option<Option<String>>,
    /// The leaf that version 4 sets for its main branch; `None` is before the first entry.
    stored_leaf: Option<Option<IdHash>>,
    /// The number of invalid JSON lines, which pi skips, and the offset of the first.
    not_json: Option<(usize, u64)>,
    /// The number of overlong lines and the offset of the first.
    too_long: Option<(usize, u64)>,
    /// `true` if the last line is not JSON and has no line break.
    torn: bool,
    /// The total length of the lines.
    bytes: u64,
    /// The end of the last line in bytes.
    pub(crate) end: u64,
    /// `true` if a line break is at the end.
    pub(crate) ended: bool,
}

impl LineCollector {
    /// Returns `true` if the next line is complete. Otherwise keeps it as the last one.
    pub(crate) fn is_complete(&mut self, line: &Line<'_>) -> bool {
        self.last = (!line.ended).then(|| PartialLine::new(line));
        line.ended
    }

    /// Returns the offset to continue from when the file has grown: the partial last line, or the end.
    pub(crate) fn place(&self) -> u64 {
        self.last.as_ref().map_or(self.end, |last| last.line().offset)
    }

    /// Adds a line and its parsed entry. Returns a reference to the entry, because it is large to move, or `None` for a
    /// blank line, a header or invalid JSON.
    pub(crate) fn note<'e, 'a>(
        &mut self,
        line: &Line<'_>,
        read: &'e json::Result<Option<Entry<'a>>>,
    ) -> Option<&'e Entry<'a>> {
        (self.end, self.ended) = (line.offset + line.len + line.behind + u64::from(line.ended), line.ended);
        self.bytes += line.len + 1;
        let Ok(entry) = read else {
            match line.ended {
                true => self.not_json.get_or_insert((0, line.offset)).0 += 1,
                false => self.torn = true,
            }
            return None;
        };
        let Some(entry) = entry else {
            self.stored_value(line.bytes);
            return None;
        };
        if line.is_cut() {
            self.too_long.get_or_insert((0, line.offset)).0 += 1;
        }
        self.first.get_or_insert_with(|| match () {
            () if entry.starts_session() => Ok(Header::new(entry)),
            () if entry.kind != EntryKind::Unknown && entry.id_is_text && entry.timestamp.is_some() => {
                Err(NotASession::Headless)
            }
            () if entry.type_name.is("title") => Err(NotASession::Titled),
            () => Err(NotASession::NoHeader),
        });
        if entry.is_header() {
            self.headers.push(self.ids.len());
            return None;
        }
        if matches!(entry.kind, EntryKind::User | EntryKind::Assistant) && !is_silent(entry) {
            self.newest_message = Some(self.ids.len() as EntryIndex);
        }
        self.ends_with_state = entry.kind.is_state();
        self.ids.push(EntryIds { id: entry.id.map(IdHash::of), parent: entry.parent_id.map(IdHash::of) });
        self.offsets.push(line.offset);
        self.bookkeeping.push(entry.kind.is_bookkeeping());
        if entry.kind == EntryKind::Label
            && let Some(target) = entry.target_id
        {
            self.labels.push(LabelLine {
                target: IdHash::of(target),
                target_id: target.text().into(),
                text: entry.label.unwrap_or_default().text().into(),
                time: entry.timestamp.and_then(RawTime::ms),
            });
        }
        Some(entry)
    }

    /// Adds a value of version 4, if the line is one: the name, a label or the leaf (pi 0.87.1, `harness/session/values`).
    fn stored_value(&mut self, line: &[u8]) {
        let Some(StoredValue { namespace, key, value }) = parse::stored_value(line) else { return };
        let text = || value.map(Str::owned);
        match &*namespace.bytes() {
            b"pi.session.name" => self.stored_name = Some(text()),
            b"pi.branch.tip" if key.is("main") => self.stored_leaf = Some(value.map(IdHash::of)),
            b"pi.entry.label" => self.labels.push(LabelLine {
                target: IdHash::of(key),
                target_id: key.text().into(),
                text: text_or_empty(value).into(),
                time: None,
            }),
            _ => {}
        }
    }

    /// Appends the data of a later part of the file.
    pub(crate) fn add(&mut self, later: Self) {
        let before = self.ids.len() as EntryIndex;
        self.newest_message = later.newest_message.map(|at| before + at).or(self.newest_message);
        self.ends_with_state = if later.ids.is_empty() { self.ends_with_state } else { later.ends_with_state };
        self.first = self.first.take().or(later.first);
        self.headers.extend(later.headers.iter().map(|before| before + self.ids.len()));
        self.ids.extend(later.ids);
        self.offsets.extend(later.offsets);
        self.bookkeeping.extend(later.bookkeeping);
        self.labels.extend(later.labels);
        self.stored_name = later.stored_name.or(self.stored_name.take());
        self.stored_leaf = later.stored_leaf.or(self.stored_leaf);
        for (all, later) in [(&mut self.not_json, later.not_json), (&mut self.too_long, later.too_long)] {
            if let Some((lines, first)) = later {
                all.get_or_insert((0, first)).0 += lines;
            }
        }
        self.torn |= later.torn;
        self.bytes += later.bytes;
        self.last = later.last;
        if later.end > self.end {
            (self.end, self.ended) = (later.end, later.ended);
        }
    }

    /// Returns `true` if there was no valid line yet.
    pub(crate) fn is_blank(&self) -> bool {
        self.first.is_none()
    }

    /// Returns `true` if the file cannot be a session, whatever follows.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.first, Some(Err(_))) || self.is_crowded()
    }

    /// Returns `true` if there are too many entries for the size.
    pub(crate) fn is_crowded(&self) -> bool {
        self.ids.len() as u64 > ENTRIES + self.bytes / BYTES_AN_ENTRY
    }

    /// Returns the header of the session.
    ///
    /// # Errors
    /// The file is not a session, as far as it was read.
    pub(crate) fn session(&self) -> Result<&Header, NotASession> {
        match &self.first {
            _ if self.is_crowded() => Err(NotASession::TooMany),
            Some(first) => first.as_ref().map_err(|why| *why),
            None => Err(NotASession::NoHeader),
        }
    }

    /// Returns the header, if it was read.
    pub(crate) fn header(&self) -> Option<&Header> {
        self.first.as_ref()?.as_ref().ok()
    }

    /// Resolves the parents of the entries.
    pub(crate) fn parent_links(&self) -> ParentLinks {
        let mut links = ParentLinks::new(&self.ids, self.header().map_or(1.0, |header| header.version));
        match self.stored_leaf.filter(|_| self.header().is_some_and(Header::is_newer)) {
            Some(Some(id)) => links.leaf = links.find(id).or(links.leaf),
            Some(None) => links.leaf = None,
            None => {}
        }
        links
    }

    /// Returns `true` for each entry that is a stub: see [`ParentLinks::stubs`].
    pub(crate) fn stubs(&self, parent_links: &ParentLinks) -> Vec<bool> {
        parent_links.stubs(|at| self.bookkeeping[at as usize])
    }

    /// Returns the current labels by entry.
    pub(crate) fn labels(&self, parent_links: &ParentLinks) -> BTreeMap<EntryIndex, &LabelLine> {
        let mut set = BTreeMap::new();
        for label in &self.labels {
            let Some(target) = parent_links.find(label.target) else { continue };
            match label.text.is_empty() {
                false => set.insert(target, label),
                true => set.remove(&target),
            };
        }
        set
    }

    /// Returns the newest message if it is not on the active path, which ends with settings or extension state. A second
    /// pi that was killed leaves such a path, and pi resumes there (1.6.0).
    pub(crate) fn newer_message(&self, parent_links: &ParentLinks) -> Option<EntryIndex> {
        let newest = self.newest_message.filter(|_| self.ends_with_state);
        newest.filter(|&at| !ActivePath::new(parent_links).has(at))
    }

    /// Returns the problems of the lines and of the parent links.
    pub(crate) fn problems(&self, parent_links: &ParentLinks) -> Vec<Problem> {
        let newer = self.header().filter(|header| header.is_newer()).map(|header| Problem::Newer(header.version));
        let not_json = self.not_json.map(|(lines, first)| Problem::NotJson { lines, first });
        let too_long = self.too_long.map(|(lines, first)| Problem::TooLong { lines, first });
        let torn = self.torn.then_some(Problem::CutOff);
        [newer, not_json, too_long, torn].into_iter().flatten().chain(parent_links.problems()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_records_of_version_4() {
        let text = br#"[{"kind":"entry","id":"a","type":"custom"} , {"kind":"value","op":"set"} ] "#;
        let parts = Line::new(100, text, true).parts().unwrap();
        let stand = |part: &Line<'_>| &text[(part.offset - 100) as usize..][..part.len as usize] == part.bytes;
        assert!(parts.len() == 2 && parts.iter().all(stand));
        let mut lines = LineCollector::default();
        for part in &parts {
            lines.note(part, &part.read());
        }
        assert_eq!((lines.end, lines.ended), (100 + text.len() as u64 + 1, true));
        assert_eq!(lines.offsets, [101], "a value is no entry");
    }

    #[test]
    fn only_version_4_stores_its_leaf() {
        let leaf = |header: &str| {
            let value = r#"{"kind":"value","op":"set","seq":1,"namespace":"pi.branch.tip","key":"main","value":null}"#;
            let entry = r#"{"type":"custom","id":"a","parentId":null}"#;
            let (mut lines, mut offset) = (LineCollector::default(), 0);
            for text in [header, entry, value] {
                let line = Line::new(offset, text.as_bytes(), true);
                lines.note(&line, &line.read());
                offset += text.len() as u64 + 1;
            }
            lines.parent_links().leaf
        };
        assert_eq!(leaf(r#"{"type":"session","version":3,"id":"s"}"#), Some(0));
        assert_eq!(leaf(r#"{"v":4,"kind":"header","id":"s","storageVersion":1,"cwd":"/w"}"#), None);
    }

    #[test]
    fn keeps_any_other_array_as_one_line() {
        for other in [
            r#"[]"#,
            r#"[{"kind":"entry"},5]"#,
            r#"[{"type":"custom"}]"#,
            r#"[{"kind":"entry"}"#,
            r#"[{"kind":"entry"}] 1"#,
            "{}",
            "",
        ] {
            assert!(Line::new(0, other.as_bytes(), true).parts().is_none(), "{other}");
        }
        assert!(Line::new(0, br#"[{"kind":"entry"}]"#, false).parts().is_none(), "it may still be written to");
    }

    #[test]
    fn a_version_above_the_newest_is_newer() {
        for (line, version) in [
            (r#"{"type":"session","version":3,"id":"s"}"#, Some(3.0)),
            (r#"{"type":"session","version":"4","id":"s"}"#, Some(4.0)),
            (r#"{"v":4,"kind":"header","id":"s","parentSessionId":"p"}"#, Some(4.0)),
            (r#"{"kind":"header","id":"s","v":5.5}"#, Some(5.5)),
            (r#"{"v":3,"kind":"header","id":"s"}"#, None),
            (r#"{"kind":"header","id":"s"}"#, None),
            (r#"{"v":4,"kind":"header","id":5}"#, None),
            (r#"{"v":4,"kind":"entry","id":"s"}"#, None),
        ] {
            let mut lines = LineCollector::default();
            let line = Line::new(0, line.as_bytes(), true);
            lines.note(&line, &line.read());
            let header = lines.session().ok();
            assert_eq!(header.map(|header| header.version), version);
            let parent_links = lines.parent_links();
            let is_newer = header.is_some_and(Header::is_newer);
            assert_eq!((is_newer, lines.problems(&parent_links).len()), (version > Some(3.0), usize::from(is_newer)));
        }
    }
}
