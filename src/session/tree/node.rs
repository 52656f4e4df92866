//! A node of the tree: the position of its line in the file, its kind, and the text of its row. Contents stay in the
//! file and are read on demand.

use std::sync::Arc;

use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::CallDescription;
use crate::session::entry::{Entry, Message, RawTime, row, typed_prompt};
use crate::session::links::IdHash;
use crate::session::tree::model_role::{ContextEdit, FirstKept, ModelRole};
use crate::session::tree::sendable;

/// The status of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryStatus {
    /// Completed normally.
    #[default]
    Fine,
    /// Stopped by the user.
    Aborted,
    /// Ended with an error.
    Failed,
}

/// An entry of the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// The offset of the line, in bytes.
    pub offset: u64,
    /// The length of its line in bytes, without the line break.
    pub len: u64,
    /// The ID in the file; missing in version 1.
    pub id: Option<Arc<str>>,
    /// The kind.
    pub kind: EntryKind,
    /// The status.
    pub outcome: EntryStatus,
    /// `true` for an assistant message without text that pi hides (only tool calls).
    pub silent: bool,
    /// The text of the row: cleaned, on one line, without the name of the kind.
    pub text: Arc<str>,
    /// The start of the typed words of a user message that starts with a wrapper such as an expanded skill; cleaned, on
    /// one line.
    pub typed: Option<Arc<str>>,
    /// Milliseconds since 1970.
    pub time: Option<i64>,
    /// US dollars.
    pub cost: f64,
    /// The call of a tool result, if it is in the file.
    pub called: Option<Arc<CallDescription>>,
    pub(crate) model_role: ModelRole,
}

/// A link of a node to another one, besides its parent. Most nodes have none.
#[derive(Clone, Debug)]
pub(crate) enum NodeLink {
    /// The ID of the tool call of this result.
    Call(IdHash),
    /// The IDs of its tool calls.
    Calls(Box<[IdHash]>),
    /// The first entry kept by a compaction.
    Kept(FirstKept),
    /// The change to another entry for the model.
    Edit(ContextEdit),
}

impl Node {
    /// Creates a node from a line and the text of its row.
    pub(crate) fn new((offset, len): (u64, u64), entry: &Entry<'_>, text: Arc<str>) -> Self {
        Self {
            offset,
            len,
            id: entry.id.map(|id| id.text().into()),
            kind: entry.kind,
            outcome: entry.message.as_ref().map_or(EntryStatus::Fine, outcome),
            silent: row::is_silent(entry),
            text,
            typed: typed_prompt::typed(entry).map(|typed| typed_prompt::row(&typed, row::MESSAGE_UNITS).into()),
            time: entry.timestamp.and_then(RawTime::ms),
            cost: entry.cost(),
            called: None,
            model_role: ModelRole::new(entry),
        }
    }

    /// Returns the text of the row in the browser: a prompt without wrappers.
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
