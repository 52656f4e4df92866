//! The messages that pi sends for an entry (`convertToLlm` of pi 1.6.0, and the conversions of its providers), and pi's
//! estimate of their tokens: one for four characters (`estimateTokens`, pi 0.87.1, 1.6.0).

use serde::Serialize;

use crate::base::javascript;
use crate::base::named::named;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Block, Content, Entry, Message, ToolCall, parse};
use crate::session::json::Str;
use crate::session::json::value::{Fields, Value, items, stringify};

/// pi's result for a call without a result.
pub const NO_RESULT: &str = "No result provided";

/// pi's placeholder for images of a result, for models without images (1.6.0).
const NO_IMAGES: &str = "(tool image omitted: model does not support images)";

/// pi's text for a result with images only.
const ONLY_IMAGES: &str = "(see attached image)";

/// pi's wrapper around the summary of a compaction.
const COMPACTION: [&str; 2] = [
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
    "\n</summary>",
];

/// pi's wrapper around the summary of a branch.
const BRANCH: [&str; 2] =
    ["The following is a summary of a branch that this conversation came back from:\n\n<summary>\n", "</summary>"];

named! {
    /// The role of a message for the model.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Role {
        /// The system.
        System = "system",
        /// The user, including messages that pi sends as the user.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// A tool.
        Tool = "toolResult",
    }
}

named! {
    /// The source of a message.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MessageSource {
        /// A message of the conversation, or a command run by the user.
        Message = "message",
        /// The summary of a compaction.
        Compaction = "compaction",
        /// The summary of a branch.
        BranchSummary = "branch_summary",
        /// A message of an extension.
        CustomMessage = "custom_message",
        /// The system prompt and the tools.
        System = "system",
    }
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SentCall {
    /// The ID.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as JSON.
    pub arguments: String,
}

/// A message for the model.
#[derive(Clone, Debug)]
pub struct SentMessage {
    /// The role.
    pub role: Role,
    /// The source.
    pub from: MessageSource,
    /// The text.
    pub text: String,
    /// The tool calls.
    pub calls: Vec<SentCall>,
    /// The ID of the call that it answers.
    pub answers: Option<String>,
    /// The number of images.
    pub images: usize,
    /// pi's estimate of the tokens (`estimateTokens`).
    pub tokens: u64,
    /// The tokens reported by the provider for the message and everything before it, if pi uses them.
    pub(super) used: Option<f64>,
    /// The changes of a system message.
    pub(super) system: Option<SystemPart>,
}

impl SentMessage {
    fn new(kind: EntryKind, text: String, chars: u64) -> Self {
        let (role, from, tokens) = (role(kind), from(kind), of_chars(chars));
        Self { role, from, text, calls: Vec::new(), answers: None, images: 0, tokens, used: None, system: None }
    }

    /// Replaces the images of a result by pi's placeholder. pi counts them all the same.
    pub(crate) fn replace_images(&mut self) {
        if std::mem::take(&mut self.images) > 0 {
            self.text = [&*self.text, NO_IMAGES].join("\n").trim_start_matches(&[ONLY_IMAGES, "\n"].concat()).into();
        }
    }

    /// Returns pi's result for a call without a result. pi adds it when it sends, and does not count it.
    pub fn no_result() -> Self {
        Self::new(EntryKind::ToolResult, NO_RESULT.into(), NO_RESULT.len() as u64)
    }

    /// Returns the messages of an entry. `len` is the length of the line in the file. `edit` is the line of the context
    /// edit that replaces its contents. `cut` replaces the text of an overlong line.
    pub fn of(entry: &Entry<'_>, (line, len): (&[u8], u64), edit: Option<&[u8]>, cut: &str) -> Vec<Self> {
        let replacement = edit.and_then(|edit| parse::line(edit).ok().flatten()?.replacement.map(parse::replacement));
        let said = Message::default();
        let message = entry.message.as_ref().unwrap_or(&said);
        let own = if entry.kind == EntryKind::CustomMessage { &entry.content } else { &message.content };
        let content = replacement.as_ref().unwrap_or(own);
        match entry.kind {
            _ if entry.is_cut => vec![Self::new(entry.kind, cut.into(), len)],
            EntryKind::User | EntryKind::CustomRole | EntryKind::CustomMessage => vec![Self::said(entry.kind, content)],
            EntryKind::ToolResult => vec![Self::result(message, content)],
            EntryKind::Assistant => {
                let is_replaced = replacement.is_some();
                vec![Self { used: used(line, message), ..Self::answer(content, is_replaced) }]
            }
            EntryKind::Bash => vec![bash(message, line)],
            EntryKind::SystemRole => vec![Self::system(message)],
            EntryKind::SummaryRole => {
                let is_branch = message.role.is("branchSummary");
                let kind = if is_branch { EntryKind::BranchSummary } else { EntryKind::Compaction };
                vec![summary(message.summary, kind)]
            }
            EntryKind::BranchSummary => vec![summary(entry.summary, entry.kind)],
            EntryKind::Compaction => {
                let system = entry.system_message.map(|raw| Self::system(&parse::message(raw)));
                system.into_iter().chain([summary(entry.summary, entry.kind)]).collect()
            }
            // pi's estimate is zero.
            EntryKind::OtherMessage => vec![Self::new(entry.kind, content.text("\n"), 0)],
            _ => Vec::new(),
        }
    }

    fn said(kind: EntryKind, content: &Content<'_>) -> Self {
        Self { images: images(content), ..Self::new(kind, content.text("\n"), chars(content)) }
    }

    fn result(message: &Message<'_>, content: &Content<'_>) -> Self {
        let (said, images) = (content.text("\n"), images(content));
        let text = match () {
            () if content.has_words() => said,
            () if images > 0 => ONLY_IMAGES.into(),
            () => "(no tool output)".into(),
        };
        let answers = message.tool_call_id.map(Str::owned);
        Self { images, answers, ..Self::new(EntryKind::ToolResult, text, chars(content)) }
    }

    fn answer(content: &Content<'_>, is_replaced: bool) -> Self {
        let call = |call: &ToolCall<'_>| SentCall {
            id: call.id.owned(),
            name: call.name.owned(),
            arguments: json(call.arguments),
        };
        let calls: Vec<SentCall> = content.tool_calls().map(call).collect();
        let arguments = calls.iter().map(|call| call.arguments.encode_utf16().count() as u64).sum::<u64>();
        let chars = answer_chars(content, is_replaced) + arguments;
        Self { calls, ..Self::new(EntryKind::Assistant, content.text(""), chars) }
    }

    fn system(message: &Message<'_>) -> Self {
        let part = SystemPart::new(message);
        let mut texts = vec![message.content.text("\n")];
        texts.extend(message.sections().filter_map(|(_, text)| Some(text?.owned())));
        texts.retain(|text| !text.is_empty());
        let chars = part.chars();
        Self { system: Some(part), ..Self::new(EntryKind::SystemRole, texts.join("\n\n"), chars) }
    }
}

/// Returns the role of messages of a kind.
pub(crate) fn role(kind: EntryKind) -> Role {
    match kind {
        EntryKind::Assistant => Role::Assistant,
        EntryKind::ToolResult => Role::Tool,
        EntryKind::SystemRole => Role::System,
        _ => Role::User,
    }
}

/// Returns the source of messages of a kind.
pub(crate) fn from(kind: EntryKind) -> MessageSource {
    match kind {
        EntryKind::SystemRole => MessageSource::System,
        EntryKind::CustomRole | EntryKind::CustomMessage => MessageSource::CustomMessage,
        EntryKind::Compaction | EntryKind::SummaryRole => MessageSource::Compaction,
        EntryKind::BranchSummary => MessageSource::BranchSummary,
        _ => MessageSource::Message,
    }
}

fn summary(summary: Option<Str<'_>>, kind: EntryKind) -> SentMessage {
    let summary = summary.unwrap_or_default();
    let [before, behind] = if kind == EntryKind::Compaction { COMPACTION } else { BRANCH };
    SentMessage::new(kind, format!("{before}{}{behind}", summary.text()), summary.units())
}

/// Formats a command run by the user, like pi's `bashExecutionToText`.
fn bash(message: &Message<'_>, line: &[u8]) -> SentMessage {
    let (command, output) = (message.command.unwrap_or_default(), message.output.unwrap_or_default());
    let mut text = format!("Ran `{}`\n", command.text());
    match output.is_empty() {
        true => text += "(no output)",
        false => text += &format!("```\n{}\n```", output.text()),
    }
    match message.exit_code {
        _ if message.cancelled => text += "\n\n(command cancelled)",
        Some(code) if code != 0.0 => text += &format!("\n\nCommand exited with code {}", javascript::number(code)),
        _ => {}
    }
    let fields = Fields::new(Fields::new(line).raw("message").unwrap_or_default());
    let is_set = |name| fields.get(name).is_some_and(|value| !value.is_falsy());
    if is_set("truncated") && is_set("fullOutputPath") {
        let path = fields.text("fullOutputPath");
        text += &format!("\n\n[Output truncated. Full output: {path}]");
    }
    SentMessage::new(EntryKind::Bash, text, command.units() + output.units())
}

fn images(content: &Content<'_>) -> usize {
    content.blocks().iter().filter(|block| matches!(block, Block::Image { .. })).count()
}

/// pi's estimate of an image in UTF-16 code units.
const IMAGE: u64 = 4800;

/// Converts UTF-16 code units to tokens.
pub(super) fn of_chars(chars: u64) -> u64 {
    chars.div_ceil(4)
}

/// Returns the UTF-16 code units of texts and images.
fn chars(content: &Content<'_>) -> u64 {
    content.texts().map(Str::units).sum::<u64>() + IMAGE * images(content) as u64
}

/// Returns the UTF-16 code units of an answer: its texts, thinking and tool names. pi counts an answer that is a string
/// as zero, unless a context edit set it.
fn answer_chars(content: &Content<'_>, is_replaced: bool) -> u64 {
    let units = |block: &Block<'_>| match block {
        Block::Text(text) | Block::Thinking(text) => text.units(),
        Block::ToolCall(call) => call.name.units(),
        Block::Image { .. } | Block::Other { .. } | Block::Broken => 0,
    };
    match content {
        Content::Text(text) if is_replaced => text.units(),
        _ => content.blocks().iter().map(units).sum(),
    }
}

/// Returns the tokens reported for an answer and everything before it, if pi uses them. The value is `totalTokens` or
/// the sum of its parts, of an answer that did not fail.
fn used(line: &[u8], message: &Message<'_>) -> Option<f64> {
    if message.has_failed() || message.usage.is_none() {
        return None;
    }
    let usage = Fields::new(Fields::new(Fields::new(line).raw("message")?).raw("usage")?);
    let number = |name| usage.get(name).and_then(Value::number);
    let parts = || Some(number("input")? + number("output")? + number("cacheRead")? + number("cacheWrite")?);
    number("totalTokens").filter(|total| *total != 0.0).or_else(parts).filter(|used| *used > 0.0)
}

/// Serializes JSON like JavaScript's `JSON.stringify`.
fn json(raw: &[u8]) -> String {
    stringify(raw, usize::MAX / 8).0 // without a limit
}

/// The changes that a system message makes to the system prompt and the tools.
#[derive(Clone, Debug, Default)]
pub(super) struct SystemPart {
    /// The added tools with the UTF-16 code units of their JSON.
    pub(super) added: Vec<(String, u64)>,
    /// The removed tools.
    pub(super) removed: Vec<String>,
    /// The UTF-16 code units of the content.
    pub(super) content: u64,
    /// The UTF-16 code units of each section; `None` removes it.
    pub(super) sections: Vec<(String, Option<u64>)>,
    /// `true` if there is an array of added tools.
    has_tools: bool,
    /// `true` if the message has a time.
    pub(super) has_time: bool,
}

impl SystemPart {
    fn new(message: &Message<'_>) -> Self {
        let added = message.tools_added.filter(|raw| raw.first() == Some(&b'['));
        let lengths = items(added.unwrap_or_default()).map(|tool| json(tool).encode_utf16().count() as u64);
        Self {
            added: message.tools_added().map(|(tool, _)| tool.owned()).zip(lengths).collect(),
            removed: message.tools_removed().map(|(tool, _)| tool.owned()).collect(),
            content: chars(&message.content),
            sections: message.sections().map(|(name, text)| (name, text.map(Str::units))).collect(),
            has_tools: added.is_some(),
            has_time: message.timestamp.is_some(),
        }
    }

    /// Returns pi's estimate in UTF-16 code units.
    fn chars(&self) -> u64 {
        let sections = self.sections.iter().filter_map(|(_, units)| *units).sum::<u64>();
        let tools = if self.has_tools { list(self.added.iter().map(|(_, length)| *length)) } else { 0 };
        self.content + sections + tools
    }
}

/// Returns the length of a JSON array from the lengths of its values, including brackets and commas.
pub(super) fn list(lengths: impl Iterator<Item = u64>) -> u64 {
    let (count, sum) = lengths.fold((0u64, 0), |(count, sum), length| (count + 1, sum + length));
    2 + sum + count.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str, edit: Option<&str>) -> SentMessage {
        let entry = parse::line(line.as_bytes()).unwrap().unwrap();
        SentMessage::of(&entry, (line.as_bytes(), line.len() as u64), edit.map(str::as_bytes), "").pop().unwrap()
    }

    fn bash(rest: &str) -> String {
        let line = r#"{"type":"message","message":{"role":"bashExecution","command":"make","output":"#;
        of(&format!("{line}{rest}}}}}"), None).text
    }

    #[test]
    fn formats_a_command_as_pi_does() {
        assert_eq!(bash(r#""ok","exitCode":0"#), "Ran `make`\n```\nok\n```");
        assert_eq!(bash(r#""","exitCode":2"#), "Ran `make`\n(no output)\n\nCommand exited with code 2");
        assert_eq!(bash(r#""","exitCode":2,"cancelled":true"#), "Ran `make`\n(no output)\n\n(command cancelled)");
        let cut = bash(r#""x","truncated":true,"fullOutputPath":"/tmp/all""#);
        assert_eq!(cut, "Ran `make`\n```\nx\n```\n\n[Output truncated. Full output: /tmp/all]");
        assert_eq!(bash(r#""x","truncated":true"#), "Ran `make`\n```\nx\n```");
    }

    #[test]
    fn a_result_without_text_gets_pis_placeholder() {
        let result = |content: &str| {
            let line = r#"{"type":"message","message":{"role":"toolResult","toolCallId":"c","content":"#;
            of(&format!("{line}{content}}}}}"), None)
        };
        let said = |content: &str| (result(content).text, result(content).tokens);
        assert_eq!(said(r#"[{"type":"text","text":" \n"}]"#), ("(no tool output)".into(), 1));
        assert_eq!(
            said(r#"[{"type":"image","data":"","mimeType":"image/png"}]"#),
            ("(see attached image)".into(), 1200)
        );
        assert_eq!(said(r#"[{"type":"text","text":"a"},{"type":"text","text":"😀"}]"#), ("a\n😀".into(), 1));
        assert_eq!(result("[]").answers.as_deref(), Some("c"));
    }

    #[test]
    fn a_string_answer_counts_only_if_an_edit_set_it() {
        let line = r#"{"type":"message","message":{"role":"assistant","content":"12345"}}"#;
        assert_eq!((of(line, None).text.as_str(), of(line, None).tokens), ("12345", 0));
        let edit = r#"{"type":"context_edit","targetId":"a","replacement":{"content":"123456789"}}"#;
        assert_eq!((of(line, Some(edit)).text.as_str(), of(line, Some(edit)).tokens), ("123456789", 3));
    }
}
