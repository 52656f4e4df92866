//! One line as the tree keeps it: where it stands in the file, what kind it is, and the text of its row. Bodies stay
//! on disk and are read when looked at.

use std::sync::Arc;

use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::CallDescription;
use crate::session::entry::{Entry, Message, RawTime, row, typed_prompt};
use crate::session::links::IdHash;
use crate::session::tree::model_role::{ContextEdit, FirstKept, ModelRole};
use crate::session::tree::sendable;

/// How an entry ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryStatus {
    /// As it should.
    #[default]
    Fine,
    /// Stopped by the user.
    Aborted,
    /// With an error.
    Failed,
}

/// An entry of the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where its line starts in the file, in bytes.
    pub offset: u64,
    /// The length of its line in bytes, without the line break.
    pub len: u64,
    /// Its id in the file; absent in v1.
    pub id: Option<Arc<str>>,
    /// What it is.
    pub kind: EntryKind,
    /// How it ended.
    pub outcome: EntryStatus,
    /// An assistant without text that pi hides (only tool calls).
    pub silent: bool,
    /// The text of its row: clean, on one line, without the word for its kind.
    pub text: Arc<str>,
    /// The start of the words typed in a user message that starts with a wrapper such as an expanded skill; clean, on one
    /// line.
    pub typed: Option<Arc<str>>,
    /// Milliseconds since 1970.
    pub time: Option<i64>,
    /// US dollars.
    pub cost: f64,
    /// The call that it is the result of, if that is in the file.
    pub called: Option<Arc<CallDescription>>,
    pub(crate) model_role: ModelRole,
}

/// What ties a node to another one besides its parent; most have nothing.
#[derive(Clone, Debug)]
pub(crate) enum NodeLink {
    /// The id of the tool call that this is the result of.
    Call(IdHash),
    /// The ids of the tool calls in it.
    Calls(Box<[IdHash]>),
    /// From where on a compaction keeps what stands before it.
    Kept(FirstKept),
    /// What this does to another entry for the model.
    Edit(ContextEdit),
}

impl Node {
    /// From the line at a place and what its row says.
    pub(crate) fn new((offset, len): (u64, u64), entry: &Entry<'_>, text: Arc<str>) -> Self {
        Self {
            offset,
            len,
            id: entry.id.map(|id| id.text().into()),
            kind: entry.kind,
            outcome: entry.message.as_ref().map_or(EntryStatus::Fine, outcome),
            silent: row::is_silent(entry),
            text,
            typed: typed_prompt::typed(entry).map(|typed| typed_prompt::row(&typed, row::SAID).into()),
            time: entry.timestamp.and_then(RawTime::ms),
            cost: entry.cost(),
            called: None,
            model_role: ModelRole::new(entry),
        }
    }

    /// The text of its row in the browser: without wrappers around a prompt.
    pub fn words(&self) -> &str {
        self.typed.as_deref().unwrap_or(&self.text)
    }
}

impl NodeLink {
    pub(crate) fn new(entry: &Entry<'_>) -> Option<Self> {
        match entry.kind {
            EntryKind::ToolResult => {
                let call = entry.message.as_ref().and_then(|message| message.tool_call_id);
                Some(Self::Call(IdHash::of(call.unwrap_or_default())))
            }
            EntryKind::Compaction => Some(Self::Kept(FirstKept::new(entry))),
            EntryKind::ContextEdit => ContextEdit::new(entry).map(Self::Edit),
            EntryKind::Assistant => {
                let calls = entry.message.as_ref().map(|message| sendable::calls(&message.content));
                calls.filter(|calls| !calls.is_empty()).map(Self::Calls)
            }
            _ => None,
        }
    }
}

fn outcome(message: &Message<'_>) -> EntryStatus {
    let stop = message.stop_reason.unwrap_or_default();
    if stop.is("aborted") || message.cancelled {
        EntryStatus::Aborted
    } else if stop.is("error") || message.is_error || message.exit_code.is_some_and(|code| code != 0.0) {
        EntryStatus::Failed
    } else {
        EntryStatus::Fine
    }
}
