//! The kinds of entries, determined once from the `type` of a line and the `role` of its message (pi 0.74.2, 0.87.1).
//! The text of a row (`row`), the searched texts (`text_fields`) and the text of an entry (`Entry::text`) match every
//! kind. Therefore the compiler reports them when a kind is added.

use crate::session::json::Str;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A user's message.
    User,
    /// An assistant's message.
    Assistant,
    /// The result of a tool call.
    ToolResult,
    /// A command run by the user.
    Bash,
    /// A message with the role `system`.
    SystemRole,
    /// A message of an extension with the role `custom`, or `hookMessage` up to version 2.
    CustomRole,
    /// A message with the role `compactionSummary` or `branchSummary`.
    SummaryRole,
    /// A message with another role or none, or a `message` entry without a message.
    OtherMessage,
    /// A message of an extension as an entry of its own type.
    CustomMessage,
    /// The summary of compacted entries.
    Compaction,
    /// The summary of an abandoned branch.
    BranchSummary,
    /// A change of the model.
    ModelChange,
    /// A change of the thinking level.
    ThinkingLevel,
    /// The state of an extension.
    Custom,
    /// A label set or cleared.
    Label,
    /// A name set or cleared.
    SessionInfo,
    /// The cost of something outside the conversation.
    Usage,
    /// A replacement or omission of another entry for the model.
    ContextEdit,
    /// An unknown type, or a header, which is not an entry.
    #[default]
    Unknown,
}

impl EntryKind {
    /// Returns the kind for a `type` and the `role` of the message, which is empty if there is none.
    pub(crate) fn of(type_name: Str<'_>, role: Str<'_>) -> Self {
        match &*type_name.bytes() {
            b"message" => match &*role.bytes() {
                b"user" => Self::User,
                b"assistant" => Self::Assistant,
                b"toolResult" => Self::ToolResult,
                b"bashExecution" => Self::Bash,
                b"system" => Self::SystemRole,
                b"custom" | b"hookMessage" => Self::CustomRole,
                b"compactionSummary" | b"branchSummary" => Self::SummaryRole,
                _ => Self::OtherMessage,
            },
            b"custom_message" => Self::CustomMessage,
            b"compaction" => Self::Compaction,
            b"branch_summary" => Self::BranchSummary,
            b"model_change" => Self::ModelChange,
            b"thinking_level_change" => Self::ThinkingLevel,
            b"custom" => Self::Custom,
            b"label" => Self::Label,
            b"session_info" => Self::SessionInfo,
            b"usage" => Self::Usage,
            b"context_edit" => Self::ContextEdit,
            _ => Self::Unknown,
        }
    }

    /// Returns `true` if pi's `/tree` hides the entry by default: settings, labels, names and extension state (0.87.1).
    pub(crate) fn is_bookkeeping(self) -> bool {
        matches!(
            self,
            Self::ModelChange
                | Self::ThinkingLevel
                | Self::Custom
                | Self::Label
                | Self::SessionInfo
                | Self::Usage
                | Self::ContextEdit
        )
    }

    /// Returns `true` for settings and extension state: as the last entry of a file, it need not be where the user was.
    pub(crate) fn is_state(self) -> bool {
        self.is_bookkeeping() && !matches!(self, Self::Label | Self::SessionInfo)
    }

    /// Returns `true` if the entry does not change the context of the model. A context edit is bookkeeping, but it
    /// replaces or omits earlier entries. pi writes one after each answer that reached its length limit (1.6.0).
    pub(crate) fn is_invisible_to_the_model(self) -> bool {
        self.is_bookkeeping() && self != Self::ContextEdit
    }

    /// Returns `true` if pi resumes after the entry as before it: it is invisible to the model, and does not change the
    /// model or the thinking level. pi resumes with those of the path (0.87.1, 1.6.0).
    pub(crate) fn is_neutral(self) -> bool {
        self.is_invisible_to_the_model() && !matches!(self, Self::ModelChange | Self::ThinkingLevel)
    }

    /// Returns `true` if the time of the entry helps with orientation: a prompt or a summary.
    pub(crate) fn is_milestone(self) -> bool {
        matches!(self, Self::User | Self::Compaction | Self::BranchSummary)
    }

    /// Returns `true` if the entry is a response to a prompt. Settings, labels and extension messages can occur at any
    /// time.
    pub(crate) fn is_work(self) -> bool {
        matches!(self, Self::Assistant | Self::ToolResult | Self::Bash | Self::Compaction)
    }

    /// Returns `true` if pi returns the text of the entry to the user for editing when it resumes there. pi's `/tree`
    /// then continues from the parent of the entry (0.87.1).
    pub(crate) fn returns_to_user(self) -> bool {
        matches!(self, Self::User | Self::CustomMessage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::entry::parse;

    #[test]
    fn depends_on_type_and_role() {
        for (line, kind) in [
            (r#"{"type":"message","message":{"role":"user"}}"#, EntryKind::User),
            (r#"{"message":{"role":"\u0075ser"},"type":"mess\u0061ge"}"#, EntryKind::User),
            (r#"{"type":"message","message":{"role":"hookMessage"}}"#, EntryKind::CustomRole),
            (r#"{"type":"message","message":{"role":"User"}}"#, EntryKind::OtherMessage),
            (r#"{"type":"message","message":{"role":5}}"#, EntryKind::OtherMessage),
            (r#"{"type":"message","message":null}"#, EntryKind::OtherMessage),
            (r#"{"type":"message"}"#, EntryKind::OtherMessage),
            (r#"{"type":"compaction","message":{"role":"user"}}"#, EntryKind::Compaction),
            (r#"{"type":"session","id":"s"}"#, EntryKind::Unknown),
            (r#"{"message":{"role":"user"}}"#, EntryKind::Unknown),
            ("[]", EntryKind::Unknown),
        ] {
            assert_eq!(parse::line(line.as_bytes()).unwrap().unwrap().kind, kind, "{line}");
        }
    }
}
