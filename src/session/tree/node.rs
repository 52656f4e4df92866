//! One line as the tree keeps it: where it stands in the file, what kind it is, and the text of its row. Bodies stay
//! on disk and are read when looked at.

use std::sync::Arc;

use crate::session::entry::kind::Kind;
use crate::session::entry::tool_call::Called;
use crate::session::entry::{Entry, Message, Stamp, row, typed_prompt};
use crate::session::links::IdHash;
use crate::session::tree::model_role::{Edit, FirstKept, Sense};
use crate::session::tree::sendable;

/// How an entry ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
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
    pub kind: Kind,
    /// How it ended.
    pub outcome: Outcome,
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
    pub called: Option<Arc<Called>>,
    pub(crate) sense: Sense,
}

/// What ties a node to another one besides its parent; most have nothing.
#[derive(Clone, Debug)]
pub(crate) enum Link {
    /// The id of the tool call that this is the result of.
    Call(IdHash),
    /// The ids of the tool calls in it.
    Calls(Box<[IdHash]>),
    /// From where on a compaction keeps what stands before it.
    Kept(FirstKept),
    /// What this does to another entry for the model.
    Edit(Edit),
}

impl Node {
    /// From the line at a place and what its row says.
    pub(crate) fn new((offset, len): (u64, u64), entry: &Entry<'_>, text: Arc<str>) -> Self {
        Self {
            offset,
            len,
            id: entry.id.map(|id| id.text().into()),
            kind: entry.kind,
            outcome: entry.message.as_ref().map_or(Outcome::Fine, outcome),
            silent: row::is_silent(entry),
            text,
            typed: typed_prompt::typed(entry).map(|typed| typed_prompt::row(&typed, row::SAID).into()),
            time: entry.timestamp.and_then(Stamp::ms),
            cost: entry.cost(),
            called: None,
            sense: Sense::new(entry),
        }
    }

    /// The text of its row in the browser: without wrappers around a prompt.
    pub fn words(&self) -> &str {
        self.typed.as_deref().unwrap_or(&self.text)
    }
}

impl Link {
    pub(crate) fn new(entry: &Entry<'_>) -> Option<Self> {
        match entry.kind {
            Kind::ToolResult => {
                let call = entry.message.as_ref().and_then(|message| message.tool_call_id);
                Some(Self::Call(IdHash::of(call.unwrap_or_default())))
            }
            Kind::Compaction => Some(Self::Kept(FirstKept::new(entry))),
            Kind::ContextEdit => Edit::new(entry).map(Self::Edit),
            Kind::Assistant => {
                let calls = entry.message.as_ref().map(|message| sendable::calls(&message.content));
                calls.filter(|calls| !calls.is_empty()).map(Self::Calls)
            }
            Kind::User
            | Kind::Bash
            | Kind::SystemRole
            | Kind::CustomRole
            | Kind::SummaryRole
            | Kind::OtherMessage
            | Kind::CustomMessage
            | Kind::BranchSummary
            | Kind::ModelChange
            | Kind::ThinkingLevel
            | Kind::Custom
            | Kind::Label
            | Kind::SessionInfo
            | Kind::Usage
            | Kind::Unknown => None,
        }
    }
}

fn outcome(message: &Message<'_>) -> Outcome {
    let stop = message.stop_reason.unwrap_or_default();
    if stop.is("aborted") || message.cancelled {
        Outcome::Aborted
    } else if stop.is("error") || message.is_error || message.exit_code.is_some_and(|code| code != 0.0) {
        Outcome::Failed
    } else {
        Outcome::Fine
    }
}
