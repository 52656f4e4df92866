//! A line of a session file, borrowed and parsed leniently: known fields in any order, and entries of unknown types.
//! The module `tree` builds a tree from lines; `digest` summarizes a session without its tree. Based on pi 0.74.2 and
//! 0.87.1.

pub mod kind;
pub mod parse;
pub(crate) mod row;
pub mod text_fields;
pub mod tool_call;
pub(crate) mod typed_prompt;

use crate::base::javascript::{is_js_space, js_trim};
use crate::base::numbers::count;
use crate::base::time;
use crate::session::entry::kind::EntryKind;
use crate::session::json::value::{Fields, Value, items};
use crate::session::json::{Str, text_or_empty};
use crate::session::links::EntryIndex;

/// The newest supported version of pi's format (pi 1.6.0).
pub(crate) const NEWEST: f64 = 3.0;

/// An identifier of an entry that stays valid while its file grows and changes.
#[derive(serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq, Eq)]
pub enum EntryId {
    /// The ID.
    Id(String),
    /// The index among the entries: files of version 1 have no IDs.
    Place(EntryIndex),
}

/// The fields of a line. The last one of repeated keys is used, as in JavaScript.
#[derive(Debug, Default)]
pub struct Entry<'a> {
    /// The kind, from the type and the role of the message.
    pub kind: EntryKind,
    /// `type`; empty if absent or not a string.
    pub type_name: Str<'a>,
    /// `id`. A number keeps its spelling.
    pub id: Option<Str<'a>>,
    /// `true` if `id` is a string.
    pub id_is_text: bool,
    /// `parentId`.
    pub parent_id: Option<Str<'a>>,
    /// `timestamp`.
    pub timestamp: Option<RawTime<'a>>,
    /// `message` of a `message` entry.
    pub message: Option<Message<'a>>,
    /// `content` of a `custom_message`.
    pub content: Content<'a>,
    /// `usage` of a compaction, branch summary or `usage` entry.
    pub usage: Option<Usage>,
    /// `name` of a `session_info`.
    pub name: Option<Str<'a>>,
    /// `targetId` of a `label` or `context_edit`.
    pub target_id: Option<Str<'a>>,
    /// `label` of a `label`.
    pub label: Option<Str<'a>>,
    /// `summary` of a compaction or branch summary.
    pub summary: Option<Str<'a>>,
    /// `tokensBefore` of a compaction.
    pub tokens_before: Option<f64>,
    /// `firstKeptEntryId` of a compaction.
    pub first_kept_id: Option<Str<'a>>,
    /// `firstKeptEntryIndex` of a compaction of version 1: an index into the values of the file; the header is 0.
    pub first_kept_index: Option<f64>,
    /// Raw `systemMessage` of a compaction, unless it is falsy in JavaScript.
    pub system_message: Option<&'a [u8]>,
    /// `fromId` of a branch summary.
    pub from_id: Option<Str<'a>>,
    /// `customType` of a `custom` or `custom_message`.
    pub custom_type: Option<Str<'a>>,
    /// `provider` of a model change, a `usage` entry or a version 1 header.
    pub provider: Option<Str<'a>>,
    /// `modelId` of a model change, `model` of a `usage` entry.
    pub model_id: Option<Str<'a>>,
    /// `thinkingLevel` of a thinking level change.
    pub thinking_level: Option<Str<'a>>,
    /// Raw `replacement` of a `context_edit`, if it is present and not null.
    pub replacement: Option<&'a [u8]>,
    /// Raw `data` of a `custom` entry, or `details` of any other entry.
    pub data: Option<&'a [u8]>,
    /// `version` of a header.
    pub version: Option<f64>,
    /// `cwd` of a header.
    pub cwd: Option<Str<'a>>,
    /// `parentSession` of a header.
    pub parent_session: Option<Str<'a>>,
    /// `parentSessionId` of a header of version 4.
    pub parent_session_id: Option<Str<'a>>,
    /// `branchedFrom` of an old header.
    pub branched_from: Option<Str<'a>>,
    /// `imported` of a header written by pitree.
    pub imported: Option<RawTime<'a>>,
    /// `true` if only the beginning of the line was read: see [`parse::beginning`].
    pub is_cut: bool,
}

/// A timestamp as written in the file.
#[derive(Clone, Copy, Debug)]
pub enum RawTime<'a> {
    /// An ISO string, usually.
    Text(Str<'a>),
    /// Milliseconds since 1970.
    Number(f64),
}

impl RawTime<'_> {
    /// Returns milliseconds since 1970, if the time is valid.
    pub fn ms(self) -> Option<i64> {
        match self {
            Self::Text(text) => time::parse_pi_format(text.raw()).or_else(|| time::parse(&text.text())),
            Self::Number(ms) => time::from_number(ms),
        }
    }
}

/// `message` of a `message` entry.
#[derive(Debug, Default)]
pub struct Message<'a> {
    /// `role`; empty if absent or not a string.
    pub role: Str<'a>,
    /// `content`.
    pub content: Content<'a>,
    /// `timestamp`.
    pub timestamp: Option<RawTime<'a>>,
    /// `usage`.
    pub usage: Option<Usage>,
    /// `provider` of an assistant.
    pub provider: Option<Str<'a>>,
    /// `model` of an assistant.
    pub model: Option<Str<'a>>,
    /// `responseModel` of an assistant: the model reported by the provider.
    pub response_model: Option<Str<'a>>,
    /// `thinkingLevel` of an assistant.
    pub thinking_level: Option<Str<'a>>,
    /// `durationMs` of an assistant or a tool result.
    pub duration_ms: Option<f64>,
    /// `stopReason` of an assistant.
    pub stop_reason: Option<Str<'a>>,
    /// `errorMessage` of an assistant.
    pub error_message: Option<Str<'a>>,
    /// `toolCallId` of a tool result.
    pub tool_call_id: Option<Str<'a>>,
    /// `toolName` of a tool result.
    pub tool_name: Option<Str<'a>>,
    /// `isError` of a tool result.
    pub is_error: bool,
    /// Raw `nestedCalls` of a tool result.
    pub nested_calls: Option<&'a [u8]>,
    /// Raw `sections` of a system message.
    pub sections: Option<&'a [u8]>,
    /// Raw `toolsAdded` of a system message.
    pub tools_added: Option<&'a [u8]>,
    /// Raw `toolsRemoved` of a system message.
    pub tools_removed: Option<&'a [u8]>,
    /// `details.diff` of a tool result.
    pub diff: Option<Str<'a>>,
    /// `details.patch` of a tool result: a unified diff.
    pub patch: Option<Str<'a>>,
    /// `details.imageUnsupportedByModel` of a tool result: the ID of the model that got a placeholder instead of the images
    /// (pi 1.6.0).
    pub unseen_by: Option<Str<'a>>,
    /// Raw `diagnostics` of an assistant.
    pub diagnostics: Option<&'a [u8]>,
    /// `command` of a bash execution.
    pub command: Option<Str<'a>>,
    /// `output` of a bash execution.
    pub output: Option<Str<'a>>,
    /// `exitCode` of a bash execution.
    pub exit_code: Option<f64>,
    /// `cancelled` of a bash execution.
    pub cancelled: bool,
    /// `excludeFromContext` of a bash execution.
    pub excluded: bool,
    /// `customType` of a custom message.
    pub custom_type: Option<Str<'a>>,
    /// `summary` of a summary message.
    pub summary: Option<Str<'a>>,
}

/// `content` of a message.
#[derive(Debug, Default)]
pub enum Content<'a> {
    /// The key is missing.
    #[default]
    Missing,
    /// `null`, or a value that is neither a string nor an array.
    Null,
    /// A string.
    Text(Str<'a>),
    /// An array of blocks.
    Blocks(Vec<Block<'a>>),
}

/// A block of a message.
#[derive(Debug)]
pub enum Block<'a> {
    /// `text`
    Text(Str<'a>),
    /// `thinking`
    Thinking(Str<'a>),
    /// `toolCall`
    ToolCall(ToolCall<'a>),
    /// `image`
    Image {
        /// `mimeType`, such as `image/png`.
        mime: Str<'a>,
        /// The decoded size in bytes.
        bytes: usize,
        /// The data in base64.
        data: Str<'a>,
    },
    /// A block of an unknown type, or a text block without a string.
    Other {
        /// Its `type`.
        type_name: Str<'a>,
        /// The raw block.
        raw: &'a [u8],
    },
    /// A value that is not an object (`null`, a number…): pi omits a session with such a block from its list.
    Broken,
}

/// A tool call of an assistant.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolCall<'a> {
    /// `id`, which the result refers to.
    pub id: Str<'a>,
    /// `name` of the tool.
    pub name: Str<'a>,
    /// Raw `arguments`; empty if absent.
    pub arguments: &'a [u8],
    /// `path` or `file_path` of the arguments: the file of the call.
    pub path: Option<Value<'a>>,
}

impl<'a> ToolCall<'a> {
    /// Returns the script of a `bash` call.
    pub(crate) fn script(&self) -> Option<Str<'a>> {
        if self.name.is("bash") { Fields::new(self.arguments).str("command") } else { None }
    }
}

/// The usage of an entry. Missing numbers are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Tokens sent.
    pub input: f64,
    /// Tokens received.
    pub output: f64,
    /// Tokens read from the cache.
    pub cache_read: f64,
    /// Tokens written to the cache.
    pub cache_write: f64,
    /// `cacheWrite1h`: the part of these for one hour, which costs more.
    pub long_cache_write: f64,
    /// The total: the sum as in pi's session statistics, or `totalTokens` if the parts are missing.
    pub tokens: f64,
    /// US dollars: `cost.total`, or the sum of its parts.
    pub cost: f64,
    /// `cost.totalFromProvider`: `true` if the provider reported the cost, `false` if pi estimated it.
    pub is_billed: bool,
}

impl<'a> Entry<'a> {
    /// Returns `true` if the line is a session header.
    pub(crate) fn is_header(&self) -> bool {
        self.type_name.is("session")
    }

    /// Returns `true` if a file that starts with this line is a session: the line is a header with a string as its ID.
    pub(crate) fn starts_session(&self) -> bool {
        self.is_header() && self.id_is_text
    }

    /// Returns `message.role` if it is not empty.
    pub fn role(&self) -> Option<Str<'a>> {
        self.message.as_ref().map(|message| message.role).filter(|role| !role.is_empty())
    }

    /// Returns the provider of the model that the entry used or sets.
    pub(crate) fn provider(&self) -> Option<Str<'a>> {
        self.message.as_ref().and_then(|message| message.provider).or(self.provider)
    }

    /// Returns the model that the entry used, as pi's statistics (`/session`, 1.6.0), or sets.
    pub(crate) fn model(&self) -> Option<Str<'a>> {
        self.message.as_ref().and_then(Message::answered_by).or(self.model_id)
    }

    /// Returns the usage as counted by pi's session statistics (0.87.1): of assistant messages, tool results,
    /// compactions, branch summaries and `usage` entries.
    pub fn used(&self) -> Option<Usage> {
        match self.kind {
            EntryKind::Assistant | EntryKind::ToolResult => self.message.as_ref()?.usage,
            EntryKind::Compaction | EntryKind::BranchSummary | EntryKind::Usage => self.usage,
            _ => None,
        }
    }

    /// Returns the cost in US dollars.
    pub fn cost(&self) -> f64 {
        self.used().map_or(0.0, |usage| usage.cost)
    }

    /// Returns the session name set by the entry, trimmed as in pi (1.6.0), or `None` if the entry clears the name.
    pub(crate) fn session_name(&self) -> Option<String> {
        self.name.map(|name| js_trim(&name.text()).to_owned()).filter(|name| !name.is_empty())
    }

    /// Returns the whole text of the entry: the message, summary, command, or new value.
    pub fn text(&self) -> String {
        let message = self.message.as_ref();
        match self.kind {
            EntryKind::User
            | EntryKind::Assistant
            | EntryKind::ToolResult
            | EntryKind::SystemRole
            | EntryKind::CustomRole
            | EntryKind::SummaryRole
            | EntryKind::OtherMessage => message.map_or(String::new(), |message| message.content.text("")),
            EntryKind::Bash => text_or_empty(message.and_then(|message| message.command)),
            EntryKind::CustomMessage => self.content.text(""),
            EntryKind::Compaction | EntryKind::BranchSummary => text_or_empty(self.summary),
            EntryKind::SessionInfo => text_or_empty(self.name),
            EntryKind::Label => text_or_empty(self.label),
            EntryKind::ModelChange => text_or_empty(self.model_id),
            EntryKind::ThinkingLevel => text_or_empty(self.thinking_level),
            EntryKind::Custom | EntryKind::Usage | EntryKind::ContextEdit | EntryKind::Unknown => String::new(),
        }
    }
}

impl<'a> Message<'a> {
    /// Returns the model that answered: the one that the provider reports, or else the requested one.
    pub(crate) fn answered_by(&self) -> Option<Str<'a>> {
        self.response_model.or(self.model)
    }

    /// Returns `true` for the result of a call that did not run, because the user stopped it before: of a call that ran,
    /// pi records the duration (1.6.0).
    pub(crate) fn never_ran(&self) -> bool {
        let mut texts = self.content.texts();
        self.is_error
            && self.duration_ms.is_none()
            && texts.next().is_some_and(|text| text.is("Operation aborted"))
            && texts.next().is_none()
    }

    /// Describes that the model got a placeholder instead of the images of a tool result, in pi's words (1.6.0).
    pub(crate) fn unseen_note(&self) -> Option<String> {
        let model = self.unseen_by?;
        Some(format!("{} does not support images; it saw a placeholder instead", model.text()))
    }

    /// Describes `diagnostics` of an assistant, with pi's words for dropped reasoning (1.6.0): `OpenAI dropped 2 reasoning
    /// items: prefix_mismatch`. Others are a type with an error or a reason.
    pub(crate) fn diagnostics(&self) -> Vec<String> {
        items(self.diagnostics.unwrap_or_default()).map(diagnostic).filter(|text| !text.is_empty()).collect()
    }

    /// Returns `true` if the answer of an assistant failed or was stopped.
    pub(crate) fn has_failed(&self) -> bool {
        self.stop_reason.is_some_and(|stop| stop.is("error") || stop.is("aborted"))
    }

    /// Returns `sections` of a system message in file order: the name and the text of each. A section replaces or removes
    /// (`None`) a section of the prompt with the same name (pi 0.86 and newer).
    pub fn sections(&self) -> impl Iterator<Item = (String, Option<Str<'a>>)> {
        let sections = Fields::new(self.sections.unwrap_or_default()).into_iter();
        sections.map(|(name, text)| (String::from_utf8_lossy(&name).into_owned(), text.str()))
    }

    /// Returns `toolsAdded`: the name of each tool and its description for the model.
    pub fn tools_added(&self) -> impl Iterator<Item = (Str<'a>, Str<'a>)> {
        tools(self.tools_added)
    }

    /// Returns `toolsRemoved` like [`Message::tools_added`]; the descriptions are empty.
    pub fn tools_removed(&self) -> impl Iterator<Item = (Str<'a>, Str<'a>)> {
        tools(self.tools_removed)
    }
}

/// The diagnostics that list reasoning that a provider withheld from the model: the type, the provider, the type of what it
/// dropped, and words for it.
const DROPPED: [(&str, &str, &str, [&str; 2]); 2] = [
    ("anthropic_input_transformations", "Anthropic", "thinking_dropped", ["thinking block", "thinking blocks"]),
    ("openai_input_transformations", "OpenAI", "reasoning", ["reasoning item", "reasoning items"]),
];

fn diagnostic(raw: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(raw).unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
    let (kind, details) = (text(&value["type"]), &value["details"]);
    if let Some((_, provider, dropped, [one, many])) = DROPPED.iter().find(|(known, ..)| *known == kind) {
        let (mut number, mut reasons) = (0, Vec::new());
        for change in details["transformations"].as_array().into_iter().flatten() {
            if change["type"] == *dropped {
                number += 1;
                reasons.extend(Some(text(&change["reason"])).filter(|new| !new.is_empty() && !reasons.contains(new)));
            }
        }
        if number > 0 {
            let colon = if reasons.is_empty() { "" } else { ": " };
            return format!("{provider} dropped {}{colon}{}", count(number, one, many), reasons.join(", "));
        }
    }
    let why = [&value["error"]["message"], &details["reason"]].map(text).into_iter().find(|why| !why.is_empty());
    why.map_or(kind.clone(), |why| format!("{kind}: {why}"))
}

fn tools(raw: Option<&[u8]>) -> impl Iterator<Item = (Str<'_>, Str<'_>)> {
    items(raw.unwrap_or_default()).map(|raw| {
        let fields = Fields::new(raw);
        (fields.str("name").unwrap_or_default(), fields.str("description").unwrap_or_default())
    })
}

impl<'a> Content<'a> {
    /// Returns the blocks; none if the content is not an array.
    pub(crate) fn blocks(&self) -> &[Block<'a>] {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Missing | Self::Null | Self::Text(_) => &[],
        }
    }

    /// Returns the texts: the string, or the text blocks.
    pub fn texts(&self) -> impl Iterator<Item = Str<'a>> {
        let text = if let Self::Text(text) = self { Some(*text) } else { None };
        text.into_iter().chain(self.blocks().iter().filter_map(|block| match block {
            Block::Text(text) => Some(*text),
            _ => None,
        }))
    }

    /// Returns `true` if the texts contain more than white space.
    pub(crate) fn has_words(&self) -> bool {
        self.texts().any(|text| text.chars().any(|c| !is_js_space(c)))
    }

    /// Returns the joined texts with `between` between them.
    pub fn text(&self, between: &str) -> String {
        self.texts().map(Str::text).collect::<Vec<_>>().join(between)
    }

    /// Returns the call with the given ID.
    pub(crate) fn tool_call(&self, id: Str<'_>) -> Option<&ToolCall<'a>> {
        let id = id.text();
        self.tool_calls().find(|call| call.id.is(&id))
    }

    /// Returns the tool calls.
    pub(crate) fn tool_calls(&self) -> impl Iterator<Item = &ToolCall<'a>> {
        self.blocks().iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Returns `true` if pi's list omits a session with this content of a user or assistant message (0.87.1).
    pub(crate) fn breaks_pi_list(&self) -> bool {
        matches!(self, Self::Null) || self.blocks().iter().any(|block| matches!(block, Block::Broken))
    }

    /// Returns `true` if pi's `/tree` fails for this content of an assistant message (0.87.1).
    pub(crate) fn breaks_pi_tree(&self) -> bool {
        let is_odd_text = |block: &Block<'_>| matches!(block, Block::Other { type_name, .. } if type_name.is("text"));
        self.blocks().iter().any(is_odd_text)
    }
}
