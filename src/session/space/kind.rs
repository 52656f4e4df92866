//! The kinds of content that take space in a session file.

use crate::base::named::named;

named! {
    /// A kind of content. Each byte of a file belongs to one kind.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum SpaceKind {
        /// Messages of the user, without images.
        Prompts = "prompts",
        /// Answers without thinking, tool calls and images.
        Answers = "answers",
        /// Thinking with its signatures.
        Thinking = "thinking",
        /// Tool calls with their arguments.
        ToolCalls = "toolCalls",
        /// Results of tools, without images.
        ToolResults = "toolResults",
        /// Images in messages of any kind.
        Images = "images",
        /// Shell commands of the user with their output.
        Commands = "commands",
        /// System messages: prompts and descriptions of tools.
        SystemMessages = "systemMessages",
        /// Entries and messages of extensions.
        Custom = "custom",
        /// Compactions and branch summaries.
        Summaries = "summaries",
        /// The header, settings, labels, names and entries of unknown types.
        Other = "other",
        /// Lines that are not JSON.
        Damaged = "damaged",
    }
}

impl SpaceKind {
    /// Returns the name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::ToolCalls => "tool calls",
            Self::ToolResults => "tool results",
            Self::Commands => "user commands",
            Self::SystemMessages => "system messages",
            Self::Custom => "extension entries",
            Self::Other => "settings and other",
            kind => kind.name(),
        }
    }

    /// Returns `true` if the names of its groups are tools.
    pub fn is_of_tool(self) -> bool {
        matches!(self, Self::ToolCalls | Self::ToolResults)
    }
}
