//! What is gathered of the lines of a session file whatever they are read for: whether it is a session, its header, the
//! ids and places of its entries, which labels were set, and what is damaged. Digests, trees and the marking of what is
//! active build on it; parts of a file that were read apart are joined.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::session::entry::kind::Kind;
use crate::session::entry::{Entry, Stamp};
use crate::session::json::{self, Str};
use crate::session::problem::Problem;
use crate::session::shape::{IdHash, Ids, Index, Shape};

/// The first line of a session file.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// `id`.
    pub id: String,
    /// `cwd`; empty if absent.
    pub cwd: String,
    /// `timestamp`, in milliseconds since 1970.
    pub created: Option<i64>,
    /// Whether `timestamp` is a string: pi's list takes no other one for the time of the session (0.87.1).
    pub created_is_text: bool,
    /// `version`; 1 if absent.
    pub version: f64,
    /// `parentSession`, or `branchedFrom` of old files: the path of the file that this one was forked from.
    pub parent_session: Option<String>,
}

impl Header {
    /// Takes the facts of a header line.
    pub fn new(entry: &Entry<'_>) -> Self {
        let text = |text: Str<'_>| text.text().into_owned();
        Self {
            id: entry.id.map(text).unwrap_or_default(),
            cwd: entry.cwd.map(text).unwrap_or_default(),
            created: entry.timestamp.and_then(Stamp::ms),
            created_is_text: matches!(entry.timestamp, Some(Stamp::Text(_))),
            version: entry.version.unwrap_or(1.0),
            parent_session: entry.parent_session.or(entry.branched_from).map(text),
        }
    }
}

/// The file is not a session: its first line that parses is not a header. pi refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotASession;

/// What a label entry says: its target gets a label, or loses the one that it has.
#[derive(Clone, Debug)]
pub(crate) struct LabelLine {
    target: IdHash,
    /// The id of the target.
    pub(crate) target_id: Box<str>,
    /// The label; empty clears.
    pub(crate) text: Box<str>,
    /// When that was, in milliseconds since 1970.
    pub(crate) time: Option<i64>,
}

/// Gathers what all readers of a file need, line by line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    first: First,
    /// How many entries stand before each header.
    headers: Vec<usize>,
    ids: Vec<Ids>,
    offsets: Vec<u64>,
    labels: Vec<LabelLine>,
    bad: BadLines,
    end: u64,
    ended: bool,
}

/// What the first line that parses is.
#[derive(Clone, Debug, Default)]
enum First {
    /// None was met so far.
    #[default]
    Unknown,
    /// A header.
    Header(Header),
    /// Something else.
    Other,
}

impl Lines {
    /// Takes the line at some bytes of the file, and what was read of it; `ended` says whether a line break follows it.
    /// Gives its entry, unless it has none: a blank line, a header, no JSON. (An entry is too large to be handed on.)
    pub(crate) fn note<'e, 'a>(
        &mut self,
        at: Range<u64>,
        ended: bool,
        read: &'e json::Result<Option<Entry<'a>>>,
    ) -> Option<&'e Entry<'a>> {
        (self.end, self.ended) = (at.end + u64::from(ended), ended);
        let Ok(entry) = read else {
            self.bad.note(at.start, ended);
            return None;
        };
        let entry = entry.as_ref()?;
        if self.is_blank() {
            let header = || First::Header(Header::new(entry));
            self.first = if entry.starts_session() { header() } else { First::Other };
        }
        if entry.is_header() {
            self.headers.push(self.ids.len());
            return None;
        }
        self.ids.push(Ids { id: entry.id.map(IdHash::of), parent: entry.parent_id.map(IdHash::of) });
        self.offsets.push(at.start);
        if entry.kind == Kind::Label
            && let Some(target) = entry.target_id
        {
            self.labels.push(LabelLine {
                target: IdHash::of(target),
                target_id: target.text().into(),
                text: entry.label.unwrap_or_default().text().into(),
                time: entry.timestamp.and_then(Stamp::ms),
            });
        }
        Some(entry)
    }

    /// Adds what was gathered of a later part of the file.
    pub(crate) fn add(&mut self, later: Self) {
        if self.is_blank() {
            self.first = later.first;
        }
        self.headers.extend(later.headers.iter().map(|before| before + self.ids.len()));
        self.ids.extend(later.ids);
        self.offsets.extend(later.offsets);
        self.labels.extend(later.labels);
        self.bad.add(later.bad);
        if later.end > self.end {
            (self.end, self.ended) = (later.end, later.ended);
        }
    }

    /// Whether no line that parses was met so far.
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self.first, First::Unknown)
    }

    /// Whether no further line can make a session of it.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.first, First::Other)
    }

    /// The header, if it was met.
    pub(crate) fn header(&self) -> Option<&Header> {
        match &self.first {
            First::Header(header) => Some(header),
            First::Unknown | First::Other => None,
        }
    }

    /// Where the line of each entry starts, in bytes.
    pub(crate) fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Where the last line ends, in bytes, and whether a line break stands there.
    pub(crate) fn end(&self) -> (u64, bool) {
        (self.end, self.ended)
    }

    /// Gives the header away.
    pub(crate) fn take_header(&mut self) -> Result<Header, NotASession> {
        match std::mem::take(&mut self.first) {
            First::Header(header) => Ok(header),
            First::Unknown | First::Other => Err(NotASession),
        }
    }

    /// How many entries stand before each header.
    pub(crate) fn headers(&self) -> &[usize] {
        &self.headers
    }

    /// Who is whose parent.
    pub(crate) fn shape(&self) -> Shape {
        Shape::new(&self.ids, self.header().map_or(1.0, |header| header.version))
    }

    /// The labels that are set, by the entries that have them.
    pub(crate) fn labels(&self, shape: &Shape) -> BTreeMap<Index, &LabelLine> {
        let mut set = BTreeMap::new();
        for label in &self.labels {
            let Some(target) = shape.find(label.target) else { continue };
            match label.text.is_empty() {
                false => set.insert(target, label),
                true => set.remove(&target),
            };
        }
        set
    }

    /// What is wrong with the lines, and with how they hang together.
    pub(crate) fn problems(&self, shape: &Shape) -> Vec<Problem> {
        self.bad.problems().chain(shape.problems()).collect()
    }
}

/// Lines that are not JSON: pi skips them.
#[derive(Clone, Copy, Debug, Default)]
struct BadLines {
    count: usize,
    first: u64,
    torn: bool,
}

impl BadLines {
    fn note(&mut self, offset: u64, ended: bool) {
        if !ended {
            self.torn = true;
            return;
        }
        if self.count == 0 {
            self.first = offset;
        }
        self.count += 1;
    }

    fn add(&mut self, later: Self) {
        if self.count == 0 {
            self.first = later.first;
        }
        self.count += later.count;
        self.torn |= later.torn;
    }

    fn problems(self) -> impl Iterator<Item = Problem> {
        let not_json = (self.count > 0).then_some(Problem::NotJson { lines: self.count, first: self.first });
        not_json.into_iter().chain(self.torn.then_some(Problem::CutOff))
    }
}
