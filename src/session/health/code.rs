//! The codes of findings: one table for the command, its JSON and the documentation.

use serde::Serialize;

use crate::base::named::named;

named! {
/// The kind of a finding. The names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// The first valid line is not a header, and no other line is one.
    HeaderMissing = "header-missing",
    /// The file is not JSON Lines in UTF-8.
    NotJsonLines = "not-json-lines",
    /// The file begins with a byte order mark.
    ByteOrderMark = "byte-order-mark",
    /// The lines end with carriage returns only.
    CarriageReturns = "carriage-returns",
    /// The header is after other lines.
    HeaderNotFirst = "header-not-first",
    /// The last line is incomplete.
    TornLine = "torn-line",
    /// An entry shares its line with other entries or bytes.
    GluedLines = "glued-lines",
    /// A line contains NUL bytes.
    NulBytes = "nul-bytes",
    /// A line is not JSON for another reason.
    NotJson = "not-json",
    /// A line is too long to read.
    LongLine = "long-line",
    /// A value is not an entry with an ID.
    MissingId = "missing-id",
    /// An entry repeats the ID of an earlier one.
    DuplicateId = "duplicate-id",
    /// The parent of an entry is not in the file.
    MissingParent = "missing-parent",
    /// An entry is its own ancestor.
    Cycle = "cycle",
    /// A message has no content.
    NoContent = "no-content",
    /// A text block has no text.
    NoText = "no-text",
    /// The parent of a fork is missing.
    ForkParentMissing = "fork-parent-missing",
    /// Other users can write to the file.
    WritableByOthers = "writable-by-others",
    /// Two files have the same session ID.
    SharedSessionId = "shared-session-id",
    /// A copy of another session, as synchronization programs make.
    ConflictCopy = "conflict-copy",
    /// The index disagrees with the file.
    IndexDiffers = "index-differs",
    /// The format is newer than the supported ones.
    NewerFormat = "newer-format",
    /// A line has bytes that are not UTF-8.
    InvalidUtf8 = "invalid-utf8",
    /// Another header is after the first one.
    RepeatedHeader = "repeated-header",
    /// The file has several conversations without a common entry.
    SeveralRoots = "several-roots",
    /// An entry is older than the one before it.
    TimeBackwards = "time-backwards",
    /// The newest message is not on the active path, which ends with settings or extension state.
    NewerMessage = "newer-message",
    /// A file of an interrupted operation.
    Leftover = "leftover",
    /// A file of an interrupted operation of which the session file is missing.
    OrphanDraft = "orphan-draft",
}
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is lost, misread or at risk.
    Problem,
    /// Unusual, but pi reads everything.
    Note,
}

impl Code {
    /// Returns the severity.
    pub fn severity(self) -> Severity {
        match self {
            Self::NewerFormat | Self::InvalidUtf8 | Self::RepeatedHeader | Self::SeveralRoots => Severity::Note,
            Self::TimeBackwards | Self::NewerMessage | Self::Leftover => Severity::Note,
            // A fork is complete without its parent.
            Self::ForkParentMissing => Severity::Note,
            _ => Severity::Problem,
        }
    }

    /// Describes a finding.
    pub fn means(self) -> &'static str {
        match self {
            Self::HeaderMissing => "the session header is missing; pi rejects the file",
            Self::NotJsonLines => "the file is not JSON Lines in UTF-8; pi rejects it",
            Self::ByteOrderMark => "the file begins with a byte order mark; pi rejects it",
            Self::CarriageReturns => "the lines end with carriage returns only; pi rejects the file",
            Self::HeaderNotFirst => "the session header is not the first line; pi rejects the file",
            Self::TornLine => "the last line is incomplete; pi skips it",
            Self::GluedLines => "the entry shares its line with other bytes; pi skips the whole line",
            Self::NulBytes => "the line contains NUL bytes, as after a system crash; pi skips it",
            Self::NotJson => "the line is not JSON; pi skips it",
            Self::LongLine => "the line is too long to read",
            Self::MissingId => "the line is not an entry with an ID; pi loses the entries after it",
            Self::DuplicateId => "the entry has the ID of an earlier one, which pi no longer finds",
            Self::MissingParent => "the parent of the entry is not in the file; the model does not see what was before",
            Self::Cycle => "the entry is its own ancestor; pi hangs on it",
            Self::NoContent => "the message has no content; pi's session list omits this session",
            Self::NoText => "a text block has no text; pi's /tree fails",
            Self::ForkParentMissing => "the parent of the fork is missing",
            Self::WritableByOthers => "other users can write to the file",
            Self::SharedSessionId => "another file has the same session ID",
            Self::ConflictCopy => "the file copies another session",
            Self::IndexDiffers => "the index disagrees with the file",
            Self::NewerFormat => "the format is newer than this pitree supports; treated as read-only",
            Self::InvalidUtf8 => "the line has bytes that are not UTF-8; pi shows them as U+FFFD",
            Self::RepeatedHeader => "another session header; pi ignores it",
            Self::SeveralRoots => "another conversation starts here, without a common entry",
            Self::TimeBackwards => "the entry is older than the one before it",
            Self::NewerMessage => {
                "the newest message is on another branch: settings or extension state follow elsewhere"
            }
            Self::Leftover => "left over from an interrupted operation",
            Self::OrphanDraft => "left over from an interrupted operation; the session file is missing",
        }
    }

    /// Returns `true` if the finding can disappear when a file is rewritten.
    pub fn can_be_repaired(self) -> bool {
        match self {
            Self::WritableByOthers | Self::SharedSessionId | Self::ConflictCopy => false,
            Self::IndexDiffers | Self::OrphanDraft | Self::NotJsonLines => false,
            _ => self.severity() == Severity::Problem,
        }
    }
}
