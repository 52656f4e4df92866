//! pi's estimate of the tokens of a message: one for four characters (`estimateTokens`, pi 0.87.1, 1.5.2).

use crate::session::entry::system_message::PromptSection;
use crate::session::entry::{Block, Content, Message};
use crate::session::json::Str;
use crate::session::json::value::{Fields, Value, items, stringify};

/// pi's estimate of an image in UTF-16 code units.
const IMAGE: u64 = 4800;

/// Converts UTF-16 code units to tokens.
pub(super) fn of_chars(chars: u64) -> u64 {
    chars.div_ceil(4)
}

/// Returns the UTF-16 code units of texts and images.
pub(super) fn chars(content: &Content<'_>) -> u64 {
    let images = content.blocks().iter().filter(|block| matches!(block, Block::Image { .. })).count();
    content.texts().map(Str::units).sum::<u64>() + IMAGE * images as u64
}

/// Returns the UTF-16 code units of an answer: its texts, thinking and tool names. pi counts an answer that is a string
/// as zero, unless a context edit set it.
pub(super) fn answer_chars(content: &Content<'_>, is_replaced: bool) -> u64 {
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
pub(super) fn used(line: &[u8], message: &Message<'_>) -> Option<f64> {
    if message.has_failed() || message.usage.is_none() {
        return None;
    }
    let message = Fields::new(line).get("message").and_then(Value::raw)?;
    let usage = Fields::new(Fields::new(message).get("usage").and_then(Value::raw)?);
    let number = |name| usage.get(name).and_then(Value::number);
    let parts = || Some(number("input")? + number("output")? + number("cacheRead")? + number("cacheWrite")?);
    number("totalTokens").filter(|total| *total != 0.0).or_else(parts).filter(|used| *used > 0.0)
}

/// Serializes JSON like JavaScript's `JSON.stringify`.
pub(super) fn json(raw: &[u8]) -> String {
    stringify(raw, usize::MAX / 8).0 // without a limit
}

/// The changes that a system message makes to the system prompt and the tools.
#[derive(Clone, Debug, Default)]
pub(super) struct SystemPart {
    /// The added tools.
    pub added: Vec<String>,
    /// The removed tools.
    pub removed: Vec<String>,
    /// The UTF-16 code units of the content.
    pub(super) content: u64,
    /// The UTF-16 code units of each section; `None` removes it.
    pub(super) sections: Vec<(String, Option<u64>)>,
    /// The UTF-16 code units of the JSON of each added tool.
    pub(super) tools: Vec<u64>,
    /// `true` if there is an array of added tools.
    has_tools: bool,
    /// `true` if the message has a time.
    pub(super) has_time: bool,
}

impl SystemPart {
    pub(super) fn new(message: &Message<'_>) -> Self {
        let name = |name: Str<'_>| name.text().into_owned();
        let section = |section: PromptSection<'_>| (section.name, section.text.map(|text| text.units()));
        let added = message.tools_added.filter(|raw| raw.first() == Some(&b'['));
        Self {
            added: message.tools_added().map(|tool| name(tool.name)).collect(),
            removed: message.tools_removed().map(|tool| name(tool.name)).collect(),
            content: chars(&message.content),
            sections: message.sections().map(section).collect(),
            tools: items(added.unwrap_or_default()).map(|tool| json(tool).encode_utf16().count() as u64).collect(),
            has_tools: added.is_some(),
            has_time: message.timestamp.is_some(),
        }
    }

    /// Returns pi's estimate in UTF-16 code units.
    pub(super) fn chars(&self) -> u64 {
        let sections = self.sections.iter().filter_map(|(_, units)| *units).sum::<u64>();
        let tools = if self.has_tools { list(self.tools.iter().copied()) } else { 0 };
        self.content + sections + tools
    }
}

/// Returns the length of a JSON array from the lengths of its values, including brackets and commas.
pub(super) fn list(lengths: impl Iterator<Item = u64>) -> u64 {
    let (count, sum) = lengths.fold((0u64, 0), |(count, sum), length| (count + 1, sum + length));
    2 + sum + count.saturating_sub(1)
}
