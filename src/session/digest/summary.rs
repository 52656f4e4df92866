//! What a list shows of a session, gathered line by line in one pass, as pi's `SessionManager.listAll` gathers it
//! (0.74.2, 0.87.1), and what a list of pitree shows beyond that: branches, labels, cost, damage.
//!
//! Two differences, on purpose: a session in which some `content` is null, which pi's list leaves out, is shown, and a
//! carriage return alone ends no line, as it doesn't for pi's tree either.

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::js::js_trim;

use crate::session::entry;
use crate::session::entry::kind::Kind;
use crate::session::entry::read;
use crate::session::entry::{Entry, Stamp};
use crate::session::tree::shape::{ById, IdHash, Ids, Shape};

/// The first line of a session file.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// `id`.
    pub id: String,
    /// `cwd`; empty if absent.
    pub cwd: String,
    /// `timestamp`, in milliseconds since 1970.
    pub created: Option<i64>,
    /// `version`; 1 if absent.
    pub version: f64,
    /// `parentSession`, or `branchedFrom` of old files: the path of the file that this one was forked from.
    pub parent_session: Option<String>,
}

impl Header {
    /// Takes the facts of a header line.
    pub fn new(entry: &Entry<'_>) -> Self {
        let text = |text: crate::session::json::Str<'_>| text.text().into_owned();
        Self {
            id: entry.id.map(text).unwrap_or_default(),
            cwd: entry.cwd.map(text).unwrap_or_default(),
            created: entry.timestamp.and_then(Stamp::ms),
            version: entry.version.unwrap_or(1.0),
            parent_session: entry.parent_session.or(entry.branched_from).map(text),
        }
    }
}

/// What a list shows of a session.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The file.
    pub path: PathBuf,
    /// The file with symbolic links resolved, if that differs.
    pub real_path: Option<PathBuf>,
    /// Whether the file itself is a symbolic link.
    pub is_link: bool,
    /// The file that this one was forked from, symbolic links resolved if it exists.
    pub parent_path: Option<PathBuf>,
    /// The session whose sub-agent wrote this file, if the file lies deeper than pi's list looks.
    pub owner: Option<Owner>,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// When the file was last written, in milliseconds since 1970.
    pub mtime: i64,
    /// Its first line.
    pub header: Header,
    /// The last name given; `None` if there is none or it was cleared.
    pub name: Option<String>,
    /// The first user message with text.
    pub first_message: Option<String>,
    /// `message` entries.
    pub message_count: usize,
    /// All entries; the header is none.
    pub entry_count: usize,
    /// The newest user or assistant message, else the header's time, else the file's, in milliseconds since 1970.
    /// `None` if the newest is no date (pi shows an invalid one).
    pub modified: Option<i64>,
    /// Entries with more than one child.
    pub branch_points: usize,
    /// Entries without children.
    pub leaves: usize,
    /// Labelled entries.
    pub labels: usize,
    /// US dollars.
    pub cost: f64,
    /// Tokens, in and out, cached ones included.
    pub tokens: f64,
    /// What is wrong with the file, in words.
    pub problems: Vec<String>,
}

/// Where a sub-agent's session belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The session file beside whose folder it was found, if there is one.
    pub path: Option<PathBuf>,
}

/// A summary as it is shared between the list and what is drawn of it.
pub type Shared = Arc<Summary>;

impl Summary {
    /// The name, or the first message, or pi's words for none; without white space around.
    pub fn title(&self) -> &str {
        let title = self.name.as_deref().or(self.first_message.as_deref()).unwrap_or_default().trim();
        if title.is_empty() { NO_MESSAGES } else { title }
    }

    /// The path that other files name this one by.
    pub fn real_path(&self) -> &PathBuf {
        self.real_path.as_ref().unwrap_or(&self.path)
    }

    /// The time to order by: sessions whose time is no date come last.
    pub fn order_time(&self) -> i64 {
        self.modified.unwrap_or(i64::MIN)
    }
}

/// What pi shows where no user message has text.
pub const NO_MESSAGES: &str = "(no messages)";

/// Lines that are not JSON: pi skips them.
#[derive(Clone, Copy, Debug, Default)]
pub struct BadLines {
    count: usize,
    first: u64,
    torn: bool,
}

impl BadLines {
    /// Takes note of one that starts at `offset`; `ended` says whether a line break follows.
    pub fn note(&mut self, offset: u64, ended: bool) {
        if !ended {
            self.torn = true;
            return;
        }
        if self.count == 0 {
            self.first = offset;
        }
        self.count += 1;
    }

    /// Adds those of a later part of the file.
    pub fn add(&mut self, later: Self) {
        if self.count == 0 {
            self.first = later.first;
        }
        self.count += later.count;
        self.torn |= later.torn;
    }

    /// What is wrong, in words.
    pub fn problems(self) -> impl Iterator<Item = String> {
        let lines = match self.count {
            0 => None,
            1 => Some(format!("1 line is not JSON and is skipped (at byte {})", self.first)),
            count => Some(format!("{count} lines are not JSON and are skipped (the first at byte {})", self.first)),
        };
        let torn = self.torn.then(|| "the last line is cut off".to_string());
        lines.into_iter().chain(torn)
    }
}

/// The file is not a session: its first line that parses is not a header. pi refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotASession;

/// Gathers a summary from the lines of a file.
#[derive(Debug, Default)]
pub struct Builder {
    summary: Summary,
    has_header: bool,
    refused: bool,
    activity: Option<f64>,
    /// The header's time if it is a string: pi takes no other one for `modified`.
    header_time: Option<i64>,
    ids: Vec<Ids>,
    labels: ById<bool>,
    bad: BadLines,
    hidden_in_pi: bool,
    undrawn_in_pi: bool,
}

impl Builder {
    /// Takes the line that starts at `offset`; `ended` says whether a line break follows it.
    pub fn line(&mut self, offset: u64, line: &[u8], ended: bool) {
        if self.refused {
            return;
        }
        let entry = match read::line(line) {
            Ok(Some(entry)) => entry,
            Ok(None) => return,
            Err(_) => return self.bad.note(offset, ended),
        };
        if !self.has_header {
            self.has_header = entry.starts_session();
            self.refused = !self.has_header;
            self.summary.header = Header::new(&entry);
            if matches!(entry.timestamp, Some(Stamp::Text(_))) {
                self.header_time = self.summary.header.created;
            }
            return;
        }
        if !entry.is_header() {
            self.entry(&entry);
        }
    }

    /// Whether no further line can make a session of it.
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    /// Whether the header was met.
    pub fn has_header(&self) -> bool {
        self.has_header
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        self.summary.entry_count += 1;
        self.ids.push(Ids { id: entry.id.map(IdHash::of), parent: entry.parent_id.map(IdHash::of) });
        if let Some(usage) = entry.used() {
            self.summary.cost += usage.cost;
            self.summary.tokens += usage.tokens;
        }
        match entry.kind {
            Kind::User
            | Kind::Assistant
            | Kind::ToolResult
            | Kind::Bash
            | Kind::SystemRole
            | Kind::CustomRole
            | Kind::SummaryRole
            | Kind::OtherMessage => self.message(entry),
            Kind::SessionInfo => {
                let name = entry.name.map(|name| js_trim(&name.text()).to_string());
                self.summary.name = name.filter(|name| !name.is_empty());
            }
            Kind::Label => {
                if let Some(target) = entry.target_id {
                    self.labels.insert(IdHash::of(target), entry.label.is_some_and(|label| !label.is_empty()));
                }
            }
            Kind::CustomMessage
            | Kind::Compaction
            | Kind::BranchSummary
            | Kind::ModelChange
            | Kind::ThinkingLevel
            | Kind::Custom
            | Kind::Usage
            | Kind::ContextEdit
            | Kind::Unknown => {}
        }
    }

    fn message(&mut self, entry: &Entry<'_>) {
        self.summary.message_count += 1;
        let Some(message) = &entry.message else {
            self.hidden_in_pi = true;
            return;
        };
        let is_user = entry.kind == Kind::User;
        if !(is_user || entry.kind == Kind::Assistant) || matches!(message.content, entry::Content::Missing) {
            return;
        }
        let time = match message.timestamp {
            Some(Stamp::Number(ms)) => Some(ms),
            _ => entry.timestamp.and_then(Stamp::ms).map(|ms| ms as f64),
        };
        if let Some(time) = time {
            self.activity = Some(self.activity.unwrap_or(0.0).max(time));
        }
        self.hidden_in_pi |= message.content.breaks_pi_list();
        self.undrawn_in_pi |= !is_user && message.content.breaks_pi_tree();
        if is_user && self.summary.first_message.is_none() {
            let text = message.content.text(" ");
            self.summary.first_message = (!text.is_empty()).then_some(text);
        }
    }

    /// The summary. `path`, `bytes` and what else the file system knows is left to the caller.
    ///
    /// # Errors
    /// The first line that parses is not a header, or there is none.
    pub fn finish(mut self, mtime: i64) -> Result<Summary, NotASession> {
        if !self.has_header {
            return Err(NotASession);
        }
        let mut summary = self.summary;
        let shape = Shape::new(&self.ids, summary.header.version);
        let counts = shape.child_counts();
        summary.branch_points = counts.iter().filter(|&&children| children > 1).count();
        summary.leaves = counts.iter().filter(|&&children| children == 0).count();
        self.labels.retain(|target, is_set| *is_set && shape.find(*target).is_some());
        summary.labels = self.labels.len();
        summary.mtime = mtime;
        summary.modified = match self.activity.filter(|&time| time > 0.0) {
            Some(time) => crate::base::time::from_number(time),
            None => Some(self.header_time.unwrap_or(mtime)),
        };
        summary.problems.extend(self.bad.problems());
        summary.problems.extend(shape.problems());
        if self.hidden_in_pi {
            summary.problems.push("a message has no content, so pi's own list leaves this session out".into());
        }
        if self.undrawn_in_pi {
            summary.problems.push("a text block holds no text, so pi's own /tree fails".into());
        }
        Ok(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(lines: &[&str]) -> Result<Summary, NotASession> {
        let mut builder = Builder::default();
        for line in lines {
            builder.line(0, line.as_bytes(), true);
        }
        builder.finish(5)
    }

    #[test]
    fn a_header_has_a_string_for_an_id() {
        assert!(summary(&[r#"{"type":"session","id":"42"}"#]).is_ok());
        for header in [r#"{"type":"session","id":42}"#, r#"{"type":"session"}"#, r#"{"type":"message","id":"42"}"#] {
            assert_eq!(summary(&[header]).err(), Some(NotASession), "{header}");
        }
    }

    #[test]
    fn only_a_header_time_that_is_a_string_counts_as_modified() {
        let text = summary(&[r#"{"type":"session","id":"a","timestamp":"1970-01-01T00:00:01Z"}"#]).unwrap();
        assert_eq!((text.header.created, text.modified), (Some(1000), Some(1000)));
        let number = summary(&[r#"{"type":"session","id":"a","timestamp":1000}"#]).unwrap();
        assert_eq!((number.header.created, number.modified), (Some(1000), Some(5)));
    }

    #[test]
    fn says_what_pi_fails_at() {
        let problems = |role: &str, content: &str| {
            let message = format!(
                r#"{{"type":"message","id":"1","parentId":null,"message":{{"role":"{role}","content":{content}}}}}"#
            );
            summary(&[r#"{"type":"session","version":3,"id":"a"}"#, &message]).unwrap().problems.join("; ")
        };
        assert!(problems("user", "null").contains("pi's own list"));
        assert!(problems("assistant", r#"[{"type":"text","text":5}]"#).contains("pi's own /tree"));
        assert_eq!(problems("user", r#"[{"type":"text","text":5}]"#), "");
        assert_eq!(problems("assistant", r#"[{"type":"text"},{"type":"text","text":null}]"#), "");
        assert_eq!(problems("toolResult", "null"), "");
    }
}
