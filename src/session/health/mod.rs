//! The health of a session file: findings with their lines, collected in one pass with memory for the longest line and
//! the IDs. [`code`] lists what can be found. The findings of one file agree with the
//! [`Problem`](crate::session::problem::Problem)s that its tree and digest report.

use std::collections::{BTreeMap, HashSet};

use crate::base::sort;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Entry, RawTime, parse};
use crate::session::health::code::{Code, Severity};
use crate::session::json::{JsonReader, Str, ValueKind};
use crate::session::lines::{Line, LineCollector, NotASession, PartialLine};
use crate::session::links::{EntryIndex, ParentLinks};

pub mod code;

/// The maximum number of findings of a code in a file that are listed with their lines.
const LISTED: usize = 20;

/// The length in bytes from which JavaScript cannot hold a line in one string, so that pi cannot open the file (1.6.0).
pub(crate) const TOO_LONG_FOR_PI: u64 = 512 * 1024 * 1024 - 24;

/// The time in milliseconds by which an entry can be older than the one before it: clocks are corrected.
const CLOCK: i64 = 1000;

/// Something unusual in a session file, or about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthFinding {
    /// The kind.
    pub code: Code,
    /// The line, counted from 1.
    pub line: Option<u64>,
    /// The ID of the entry, if it is known.
    pub entry: Option<String>,
    /// More about this case, such as the missing ID; can contain text from the file.
    pub detail: Option<String>,
    /// The number of further findings of this code in the file, which are not listed.
    pub more: usize,
}

impl HealthFinding {
    /// Creates a finding about the whole file.
    pub fn new(code: Code, detail: Option<String>) -> Self {
        Self { code, line: None, entry: None, detail, more: 0 }
    }

    /// Returns `true` if something is lost, misread or at risk.
    pub fn is_problem(&self) -> bool {
        self.code.severity() == Severity::Problem
    }

    /// Describes the finding on one line; can contain text from the file.
    pub fn text(&self) -> String {
        let mut text = String::from(self.code.means());
        text.extend(self.detail.iter().flat_map(|detail| [": ", detail]));
        if self.more > 0 {
            text += &format!(" (and {} more)", self.more);
        }
        text
    }
}

/// Collects findings from the lines of a file.
#[derive(Debug, Default)]
pub struct Checkup {
    lines: LineCollector,
    /// The start of the file, which shows its form.
    start: Vec<u8>,
    /// The number of lines so far.
    line: u64,
    /// The line and the ID of each entry.
    entries: Vec<(u64, Option<Box<str>>)>,
    /// The time of the last entry that is neither a label nor a name, in milliseconds since 1970.
    last_time: Option<i64>,
    /// `true` if a piece of a damaged line, or an entry, looks as pi writes it.
    is_of_pi: bool,
    /// `true` once a line is a header with an ID.
    has_header: bool,
    /// The first findings of each code.
    found: BTreeMap<Code, Vec<HealthFinding>>,
}

impl Checkup {
    /// Adds the next line of the file.
    pub fn line(&mut self, line: &Line<'_>) {
        if self.start.len() < START {
            self.start.extend(line.bytes.iter().take(START));
            self.start.push(b'\n');
        }
        if self.lines.is_complete(line) {
            self.take(line);
        }
    }

    /// Returns `true` if the last line has no line break and is not JSON: a pi may be writing it.
    pub fn is_torn(&self) -> bool {
        self.lines.last.as_ref().is_some_and(PartialLine::is_torn)
    }

    /// Returns the findings by line, or `None` if the file is not a session and does not look like a
    /// damaged one.
    pub fn finish(self) -> Option<Vec<HealthFinding>> {
        let form = if self.lines.header().is_none() { wrong_form(&self.start) } else { None };
        let Some((code, detail)) = form else { return self.findings() };
        let mut found = self.findings().unwrap_or_default();
        // They have the same reason.
        found.retain(|finding| finding.code != Code::HeaderMissing && finding.line != Some(1));
        found.push(HealthFinding::new(code, detail.map(Into::into)));
        Some(found)
    }

    fn findings(mut self) -> Option<Vec<HealthFinding>> {
        if let Some(last) = self.lines.last.take() {
            self.take(&last.line());
        }
        if matches!(self.lines.first, Some(Err(NotASession::Titled))) || self.lines.is_crowded() {
            return None;
        }
        let newer = self.lines.header().filter(|header| header.is_newer()).map(|header| header.version);
        let version = match self.lines.header() {
            Some(header) => header.version,
            None if !self.has_header && !self.is_of_pi => return None,
            None => {
                let code = if self.has_header { Code::HeaderNotFirst } else { Code::HeaderMissing };
                self.push(HealthFinding::new(code, None));
                3.0
            }
        };
        let links = ParentLinks::new(&self.lines.ids, version);
        self.add_links(&links, version);
        let mut found: Vec<HealthFinding> = self.found.into_values().flatten().collect();
        if let Some(version) = newer {
            // Several entries can be on one line.
            found.iter_mut().for_each(|finding| finding.line = None);
            found.push(HealthFinding::new(Code::NewerFormat, Some(format!("version {version}"))));
        }
        sort::by_key(&mut found, |finding| (finding.line, finding.code));
        Some(found)
    }

    fn take(&mut self, line: &Line<'_>) {
        self.line += 1;
        let read = line.read();
        if read.is_err() {
            self.damaged(line);
        } else if !line.is_cut() && std::str::from_utf8(line.bytes).is_err() {
            let id = read.as_ref().ok().and_then(Option::as_ref).and_then(id_of);
            self.add(Code::InvalidUtf8, id, None);
        }
        if let Ok(Some(entry)) = &read {
            let is_first = self.lines.is_blank();
            self.has_header |= entry.starts_session();
            self.is_of_pi |= is_of_pi(entry);
            if entry.is_header() && !is_first && self.lines.header().is_some() {
                self.add(Code::RepeatedHeader, None, None);
            }
            if line.is_cut() {
                let size = crate::base::numbers::bytes(line.len);
                let pi = if line.len > TOO_LONG_FOR_PI { "; pi cannot open the file" } else { "" };
                self.add(Code::LongLine, id_of(entry), Some(format!("{size}{pi}")));
            }
            if !entry.is_header() {
                self.entry(entry, line.is_cut());
            }
        }
        self.lines.note(line, &read);
    }

    /// Adds a line that is not JSON.
    fn damaged(&mut self, line: &Line<'_>) {
        let parts = pieces(line.bytes);
        let values = parts.iter().filter_map(|part| match part {
            Piece::Value(value) => parse::line(value).ok().flatten(),
            Piece::Torn(_) => None,
        });
        let mut first = None;
        let mut count = 0;
        for entry in values {
            first = first.or_else(|| id_of(&entry));
            count += 1;
            self.is_of_pi |= is_of_pi(&entry);
        }
        let is_nul = memchr::memchr(0, line.bytes).is_some();
        self.is_of_pi |= line.bytes.starts_with(b"{\"type\":\"session\"");
        match () {
            () if is_nul => self.add(Code::NulBytes, first, None),
            () if count > 0 && parts.len() > 1 => self.add(Code::GluedLines, first, None),
            () if !line.ended => self.add(Code::TornLine, None, None),
            () => self.add(Code::NotJson, None, None),
        }
    }

    fn entry(&mut self, entry: &Entry<'_>, is_cut: bool) {
        let id = id_of(entry);
        if let Some(message) = &entry.message {
            let is_talk = matches!(entry.kind, EntryKind::User | EntryKind::Assistant);
            if is_talk && message.content.breaks_pi_list() {
                self.add(Code::NoContent, id.clone(), None);
            }
            if entry.kind == EntryKind::Assistant && message.content.breaks_pi_tree() {
                self.add(Code::NoText, id.clone(), None);
            }
        } else if entry.kind == EntryKind::OtherMessage && !is_cut {
            self.add(Code::NoContent, id.clone(), None);
        }
        let time = entry.timestamp.and_then(RawTime::ms);
        // A fork ends with the labels of its parent, which keep their times.
        if let Some(time) = time.filter(|_| !matches!(entry.kind, EntryKind::Label | EntryKind::SessionInfo)) {
            if self.last_time.is_some_and(|last| time + CLOCK < last) {
                self.add(Code::TimeBackwards, id.clone(), None);
            }
            self.last_time = Some(time);
        }
        self.entries.push((self.line, id.map(Into::into)));
    }

    /// Adds what the parent links show.
    fn add_links(&mut self, links: &ParentLinks, version: f64) {
        let orphans = links.orphans.iter().map(|&at| (Code::MissingParent, at));
        let doubles = links.duplicates.iter().map(|&at| (Code::DuplicateId, at));
        let cycles = links.cycles.iter().map(|&at| (Code::Cycle, at));
        let mut all: Vec<(Code, EntryIndex)> = orphans.chain(doubles).chain(cycles).collect();
        if version >= 2.0 {
            all.extend(links.unnamed.iter().map(|&at| (Code::MissingId, at)));
            let stubs = self.lines.stubs(links);
            let damaged: HashSet<EntryIndex> = all.iter().map(|(_, at)| *at).collect();
            let roots = (0..links.parents.len() as EntryIndex).filter(|&at| links.parents[at as usize].is_none());
            let roots = roots.filter(|at| !stubs[*at as usize] && !damaged.contains(at));
            all.extend(roots.skip(1).map(|at| (Code::SeveralRoots, at)));
        }
        all.extend(self.lines.newer_message(links).map(|at| (Code::NewerMessage, at)));
        all.sort_unstable();
        for (code, at) in all {
            let (line, id) = &self.entries[at as usize];
            let entry = id.as_deref().map(String::from);
            self.push(HealthFinding { line: Some(*line), entry, ..HealthFinding::new(code, None) });
        }
    }

    fn add(&mut self, code: Code, entry: Option<String>, detail: Option<String>) {
        self.push(HealthFinding { line: Some(self.line), entry, ..HealthFinding::new(code, detail) });
    }

    /// Lists the first findings of each code, and counts the others.
    fn push(&mut self, finding: HealthFinding) {
        let same = self.found.entry(finding.code).or_default();
        match same.get_mut(LISTED - 1) {
            Some(last) => last.more += 1,
            None => same.push(finding),
        }
    }
}

fn id_of(entry: &Entry<'_>) -> Option<String> {
    entry.id.filter(|_| !entry.is_header()).map(Str::owned)
}

/// The number of bytes of a file that show its form: the header is within them.
pub const START: usize = 4096;

/// Returns what is wrong with the form of a session file, with details, from its start. Returns `None` if the form is right,
/// or the file is no session.
pub fn wrong_form(start: &[u8]) -> Option<(Code, Option<&'static str>)> {
    let text: Vec<u8> = start.iter().copied().filter(|byte| *byte != 0 && !byte.is_ascii_whitespace()).collect();
    memchr::memmem::find(&text, b"\"type\":\"session\"")?;
    let ends = || memchr::memchr2(b'\r', b'\n', start).map(|at| (&start[..at], start[at], start.get(at + 1)));
    let convert = |what: &'static str| Some((Code::NotJsonLines, Some(what)));
    match start {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{', 0, ..] | [0, b'{', ..] => {
            convert("it is UTF-16, which `iconv -f UTF-16 -t UTF-8` converts")
        }
        [0xef, 0xbb, 0xbf, ..] => Some((Code::ByteOrderMark, None)),
        _ if text.first() == Some(&b'[') => convert("it is one JSON array, which `jq -c '.[]'` converts"),
        _ => match ends()? {
            (line, ..) if line.trim_ascii() == b"{" => convert("its values have several lines; `jq -c .` joins them"),
            (_, b'\r', next) if next != Some(&b'\n') => Some((Code::CarriageReturns, None)),
            _ => None,
        },
    }
}

/// The maximum number of places at which an entry is searched. Each attempt can read the rest of the line.
const TRIES: usize = 1000;

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A complete JSON object, with the white space around it.
    Value(&'a [u8]),
    /// Bytes that are not.
    Torn(&'a [u8]),
}

/// Splits a line that is not JSON. The pieces contain all of its bytes.
pub fn pieces(line: &[u8]) -> Vec<Piece<'_>> {
    let (mut pieces, mut from, mut tries) = (Vec::new(), 0, TRIES);
    while from < line.len() {
        let rest = &line[from..];
        if let Some(value) = object(rest) {
            pieces.push(Piece::Value(value));
            from += value.len();
            continue;
        }
        let next = memchr::memmem::find_iter(&rest[1..], b"{\"type\":")
            .map(|at| at + 1)
            .filter(|at| is_known(&rest[*at..]))
            .take_while(|_| {
                let may_try = tries > 0;
                tries = tries.saturating_sub(1);
                may_try
            })
            .find(|at| starts_entry(&rest[*at..]))
            .unwrap_or(rest.len());
        pieces.push(Piece::Torn(&rest[..next]));
        from += next;
    }
    pieces
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns the object at the start of some bytes, with the white space around it.
fn object(bytes: &[u8]) -> Option<&[u8]> {
    let spaces = |from: usize| bytes[from..].iter().take_while(|byte| is_space(**byte)).count();
    let start = spaces(0);
    let mut reader = JsonReader::new(&bytes[start..]);
    let value = (reader.kind() == Ok(ValueKind::Object)).then(|| reader.skip().ok()).flatten()?;
    let end = start + value.len();
    Some(&bytes[..end + spaces(end)])
}

/// Returns `true` if an object starts with the type of an entry or a header. Blocks of messages have other types.
fn is_known(bytes: &[u8]) -> bool {
    let mut reader = JsonReader::new(bytes);
    let type_name = reader.enter_object().and_then(|()| reader.next_key(true)).and_then(|_| reader.string());
    type_name.is_ok_and(|name| name.is("session") || EntryKind::of(name, name) != EntryKind::Unknown)
}

/// Returns `true` if an entry or a header starts here, and it is the last value of the line or another object follows.
/// Data of extensions can contain entries, but they are in a list or an object.
fn starts_entry(bytes: &[u8]) -> bool {
    let Some(value) = object(bytes) else { return false };
    let behind = bytes[value.len()..].trim_ascii_start();
    matches!(behind.first(), None | Some(b'{'))
        && parse::line(value).is_ok_and(|entry| entry.is_some_and(|e| is_of_pi(&e)))
}

/// Returns `true` for an object as pi writes it: an entry with an ID and a time, or a header with an ID.
pub(crate) fn is_of_pi(entry: &Entry<'_>) -> bool {
    entry.id_is_text && (entry.is_header() || (entry.kind != EntryKind::Unknown && entry.timestamp.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_known_from_the_start() {
        let header = r#"{"type": "session", "version": 3, "id": "s"}"#;
        let entry = r#"{"type": "message", "id": "a"}"#;
        let of = |text: &str| wrong_form(text.as_bytes()).map_or("", |(code, detail)| detail.unwrap_or(code.means()));
        for right in ["\n", "\r\n"].map(|end| [header, end, entry, end].concat()) {
            assert_eq!(of(&right), "");
        }
        assert_eq!(of(header), "");
        assert!(of(&format!("\u{feff}{header}\n")).contains("byte order mark"));
        assert!(of(&format!("{header}\r{entry}\r")).contains("carriage returns"));
        assert!(of(&format!("[{header},\n{entry}]\n")).contains("one JSON array"));
        assert!(of(&header.replacen('{', "{\n  ", 1)).contains("several lines"));
        for bytes in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
            for text in [header.to_owned(), format!("\u{feff}{header}\r\n")] {
                let text: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
                assert!(wrong_form(&text).unwrap().1.unwrap().contains("it is UTF-16"));
            }
        }
        assert_eq!(of(&format!("[{entry}]")), "", "no session");
    }

    const ENTRY: &str = r#"{"type":"label","id":"1","timestamp":"t"}"#;

    fn split(line: &str) -> Vec<(bool, String)> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.into()).unwrap();
        let piece = |piece| match piece {
            Piece::Value(bytes) => (true, text(bytes)),
            Piece::Torn(bytes) => (false, text(bytes)),
        };
        pieces(line.as_bytes()).into_iter().map(piece).collect()
    }

    #[test]
    fn glued_objects_are_split() {
        assert_eq!(
            split(&format!("{ENTRY}{{\"a\":1}} {ENTRY}\r")),
            [(true, ENTRY.into()), (true, "{\"a\":1} ".into()), (true, format!("{ENTRY}\r"))]
        );
    }

    #[test]
    fn an_entry_after_a_torn_one_is_found() {
        let torn = r#"{"type":"message","id":"0","message":{"content":[{"type":"text","text":"a"},{"type":"te"#;
        assert_eq!(split(&format!("{torn}{ENTRY}")), [(false, torn.into()), (true, ENTRY.into())]);
        let spaced = format!(" {torn}  ");
        assert_eq!(split(&spaced), [(false, spaced.clone())]);
        let both = format!("{torn}{ENTRY}{torn}");
        assert_eq!(split(&both), [(false, torn.into()), (true, ENTRY.into()), (false, torn.into())]);
    }

    #[test]
    fn entries_in_data_are_not_split_off() {
        let torn = format!(r#"{{"type":"custom","id":"0","timestamp":"t","data":[{ENTRY},{ENTRY}]"#);
        assert_eq!(split(&torn), [(false, torn.clone())]);
    }
}
