//! The kinds of entries, determined once from the `type` of a line and the `role` of its message (pi 0.74.2, 0.87.1).
//! The text of a row (`row`), the searched texts (`text_fields`) and the text of an entry (`Entry::text`) match every kind,
//! so that the compiler reports them when a kind is added.

use crate::session::json::Str;

/// What an entry is.
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
    /// A message with the role `custom`, or `hookMessage` as it was called up to version 2: put in by an extension.
    CustomRole,
    /// A message with the role `compactionSummary` or `branchSummary`.
    SummaryRole,
    /// A message of any other role, of none, or an entry of that type without a message.
    OtherMessage,
    /// A message put in by an extension, as an entry of its own type.
    CustomMessage,
    /// The summary of what was compacted away.
    Compaction,
    /// The summary of a branch that was left.
    BranchSummary,
    /// A change of the model.
    ModelChange,
    /// A change of the thinking level.
    ThinkingLevel,
    /// State of an extension.
    Custom,
    /// A label set or cleared.
    Label,
    /// A name set or cleared.
    SessionInfo,
    /// What something outside the conversation cost.
    Usage,
    /// Another entry replaced or left out for the model.
    ContextEdit,
    /// A type that pitree does not know. So is a header's: it is no entry.
    #[default]
    Unknown,
}

impl EntryKind {
    /// The kind of an entry of this `type`; `role` is that of its message, empty if it has none.
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

    /// Whether pi's `/tree` hides it by default: settings, marks and the state of extensions (0.87.1).
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

    /// Whether the model sees the same before it and behind it. A context edit is bookkeeping, too, but takes away or
    /// replaces what stands before it: pi writes one behind each answer that was cut off at its length (1.5.2).
    pub(crate) fn is_nothing_to_the_model(self) -> bool {
        self.is_bookkeeping() && self != Self::ContextEdit
    }

    /// Whether it is one by whose time one finds one's way: a prompt, or where the conversation was summed up.
    pub(crate) fn is_milestone(self) -> bool {
        matches!(self, Self::User | Self::Compaction | Self::BranchSummary)
    }

    /// Whether it is what was done because of a prompt. Settings, marks and what extensions put in come at any time.
    pub(crate) fn is_work(self) -> bool {
        matches!(self, Self::Assistant | Self::ToolResult | Self::Bash | Self::Compaction)
    }

    /// Whether its text goes back to the user, who may send it again in other words, when pi is to go on from it: pi's
    /// `/tree` then goes on from its parent (0.87.1).
    pub(crate) fn goes_back_to_user(self) -> bool {
        matches!(self, Self::User | Self::CustomMessage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::entry::parse;

    #[test]
    fn is_read_off_type_and_role() {
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
