//! The parts of an entry or a context edit that can be sent: see [`crate::session::tree::sent_messages`].

use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Block, Content, Entry};
use crate::session::links::IdHash;

/// The send state of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SendState {
    /// Not sent, as if it were missing.
    #[default]
    No,
    /// Failed or stopped: not sent, even with other contents.
    Failed,
    /// Empty: not sent, but later results no longer answer earlier calls.
    Empty,
    /// Sent.
    Yes,
}

impl SendState {
    pub(crate) fn of(entry: &Entry<'_>) -> Self {
        let message = entry.message.as_ref();
        let said = |content: Option<&Content<'_>>| {
            SendableContent::new(content.unwrap_or(&Content::Missing)).sending(entry.kind)
        };
        match entry.kind {
            EntryKind::Assistant if message.is_some_and(|message| message.has_failed()) => Self::Failed,
            EntryKind::User | EntryKind::Assistant | EntryKind::CustomRole => {
                said(message.map(|message| &message.content))
            }
            EntryKind::CustomMessage => said(Some(&entry.content)),
            EntryKind::Bash if message.is_some_and(|message| message.excluded) => Self::No,
            EntryKind::ToolResult
            | EntryKind::Bash
            | EntryKind::SummaryRole
            | EntryKind::Compaction
            | EntryKind::BranchSummary => Self::Yes,
            _ => Self::No,
        }
    }
}

/// The properties of contents that decide whether they are sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendableContent {
    /// The content is a string.
    is_text: bool,
    /// There are characters.
    has_characters: bool,
    /// There are characters other than white space.
    has_words: bool,
    /// There are blocks other than text.
    has_more: bool,
    has_calls: bool,
    /// The tool calls, if requested: see [`SendableContent::with_calls`].
    pub(super) calls: Box<[IdHash]>,
}

impl SendableContent {
    pub(crate) fn new(content: &Content<'_>) -> Self {
        let has_more = |block: &Block<'_>| !matches!(block, Block::Text(_));
        Self {
            is_text: matches!(content, Content::Text(_)),
            has_characters: content.texts().any(|text| !text.is_empty()),
            has_words: content.has_words(),
            has_more: content.blocks().iter().any(has_more),
            has_calls: content.tool_calls().next().is_some(),
            calls: Box::default(),
        }
    }

    /// Collects the properties and the tool calls.
    pub(crate) fn with_calls(content: &Content<'_>) -> Self {
        Self { calls: calls(content), ..Self::new(content) }
    }

    /// Returns the send state of an entry of this kind with these contents.
    pub(super) fn sending(&self, kind: EntryKind) -> SendState {
        let is_sent = match kind {
            EntryKind::Assistant => self.has_words || self.has_calls,
            EntryKind::User => self.is_text || self.has_characters || self.has_more,
            _ => self.has_characters || self.has_more,
        };
        if is_sent { SendState::Yes } else { SendState::Empty }
    }
}

/// Returns the IDs of the tool calls.
pub(crate) fn calls(content: &Content<'_>) -> Box<[IdHash]> {
    content.tool_calls().map(|call| IdHash::of(call.id)).collect()
}
