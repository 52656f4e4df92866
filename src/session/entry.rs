//! One line of a session file, borrowed and tolerant: the fields that pitree knows, whatever their order, types it
//! does not know included. How lines make a tree is said in `tree`, what a list shows of them in `summary`.
//! Facts read off pi 0.74.2 and 0.87.1.

use super::data::Fields;
use super::json::{Kind as Json, Reader, Result, Str};
use super::time;

/// The fields of one line. Where a key stands twice, the last one counts, as in JavaScript.
#[derive(Debug, Default)]
pub struct Entry<'a> {
    /// `type`; empty if absent or not a string.
    pub type_name: Str<'a>,
    /// `id`. A number is kept as it is written.
    pub id: Option<Str<'a>>,
    /// Whether `id` is a string.
    pub id_is_text: bool,
    /// `parentId`.
    pub parent_id: Option<Str<'a>>,
    /// `timestamp`.
    pub timestamp: Option<Stamp<'a>>,
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
    /// `fromId` of a branch summary.
    pub from_id: Option<Str<'a>>,
    /// `customType` of a `custom` or `custom_message`.
    pub custom_type: Option<Str<'a>>,
    /// `provider` of a model change, of a `usage` entry, of a v1 header.
    pub provider: Option<Str<'a>>,
    /// `modelId` of a model change, `model` of a `usage` entry.
    pub model_id: Option<Str<'a>>,
    /// `thinkingLevel` of a thinking level change.
    pub thinking_level: Option<Str<'a>>,
    /// `note` of a `usage` entry.
    pub note: Option<Str<'a>>,
    /// Whether `replacement` of a `context_edit` is there and not null.
    pub replaces: bool,
    /// `data` of a `custom` entry, or `details` of any other, as it stands in the file.
    pub data: Option<&'a [u8]>,
    /// `version` of a header.
    pub version: Option<f64>,
    /// `cwd` of a header.
    pub cwd: Option<Str<'a>>,
    /// `parentSession` of a header.
    pub parent_session: Option<Str<'a>>,
    /// `branchedFrom` of an old header.
    pub branched_from: Option<Str<'a>>,
}

/// A time as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub enum Stamp<'a> {
    /// An ISO string, usually.
    Text(Str<'a>),
    /// Milliseconds since 1970.
    Number(f64),
}

impl Stamp<'_> {
    /// Milliseconds since 1970, if it is a time.
    pub fn ms(self) -> Option<i64> {
        match self {
            Self::Text(text) => time::parse(&text.text()),
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
    pub timestamp: Option<Stamp<'a>>,
    /// `usage`.
    pub usage: Option<Usage>,
    /// `provider` of an assistant.
    pub provider: Option<Str<'a>>,
    /// `model` of an assistant.
    pub model: Option<Str<'a>>,
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
    /// `details.diff` of a tool result.
    pub diff: Option<Str<'a>>,
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
    /// There is no such key.
    #[default]
    Missing,
    /// `null`, or something else that is neither text nor a list.
    Null,
    /// A string.
    Text(Str<'a>),
    /// A list of blocks.
    Blocks(Vec<Block<'a>>),
}

/// One block of a message's content.
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
    },
    /// A block of a type that pitree does not know, or a text block whose text is none.
    Other {
        /// Its `type`.
        type_name: Str<'a>,
        /// The block as it stands in the file.
        raw: &'a [u8],
    },
    /// Not an object (`null`, a number…): pi drops a session with such a block from its list.
    Broken,
}

/// A call of a tool by an assistant.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolCall<'a> {
    /// `id`, which the result names.
    pub id: Str<'a>,
    /// `name` of the tool.
    pub name: Str<'a>,
    /// `arguments` as they stand in the file; empty if absent.
    pub arguments: &'a [u8],
}

/// What an entry used. Absent numbers are 0.
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
    /// All of them: their sum as in pi's session statistics, or `totalTokens` if the parts are missing.
    pub tokens: f64,
    /// US dollars: `cost.total`, or the sum of its parts.
    pub cost: f64,
}

/// Reads one line. `None`: nothing that pi takes for an entry (blank, `null`, `false`, `0`, `""`).
///
/// # Errors
/// The line is not JSON as JavaScript reads it: pi skips it.
pub fn parse(line: &[u8]) -> Result<Option<Entry<'_>>> {
    if is_blank(line) {
        return Ok(None);
    }
    let mut r = Reader::new(line);
    let entry = match r.kind()? {
        Json::Object => Some(read_entry(&mut r)?),
        Json::Null | Json::False => r.skip().map(|_| None)?,
        Json::Number => (r.number()? != 0.0).then(Entry::default),
        Json::Str => (!r.string()?.is_empty()).then(Entry::default),
        Json::Array | Json::True => r.skip().map(|_| Some(Entry::default()))?,
    };
    r.end()?;
    Ok(entry)
}

/// Whether a line is white space, as JavaScript's `trim` sees it.
fn is_blank(line: &[u8]) -> bool {
    match line.trim_ascii_start().first() {
        None => true,
        Some(b'{') => false,
        Some(_) => String::from_utf8_lossy(line).chars().all(is_js_space),
    }
}

/// Goes through the keys of the object that comes next.
fn object<'a>(r: &mut Reader<'a>, mut field: impl FnMut(&mut Reader<'a>, &[u8]) -> Result<()>) -> Result<()> {
    r.enter_object()?;
    let mut first = true;
    while let Some(key) = r.next_key(first)? {
        field(r, &key.bytes())?;
        first = false;
    }
    Ok(())
}

fn read_entry<'a>(r: &mut Reader<'a>) -> Result<Entry<'a>> {
    let mut e = Entry::default();
    object(r, |r, key| {
        match key {
            b"type" => e.type_name = r.opt_string()?.unwrap_or_default(),
            b"id" => {
                e.id_is_text = r.kind()? == Json::Str;
                e.id = read_id(r)?;
            }
            b"parentId" => e.parent_id = read_id(r)?,
            b"timestamp" => e.timestamp = read_stamp(r)?,
            b"message" => e.message = read_message(r)?,
            b"content" => e.content = read_content(r)?,
            b"usage" => e.usage = read_usage(r)?,
            b"name" => e.name = r.opt_string()?,
            b"targetId" => e.target_id = read_id(r)?,
            b"label" => e.label = r.opt_string()?,
            b"summary" => e.summary = r.opt_string()?,
            b"tokensBefore" => e.tokens_before = r.opt_number()?,
            b"firstKeptEntryId" => e.first_kept_id = read_id(r)?,
            b"fromId" => e.from_id = read_id(r)?,
            b"customType" => e.custom_type = r.opt_string()?,
            b"provider" => e.provider = r.opt_string()?,
            b"modelId" | b"model" => e.model_id = r.opt_string()?,
            b"thinkingLevel" => e.thinking_level = r.opt_string()?,
            b"note" => e.note = r.opt_string()?,
            b"replacement" => {
                e.replaces = r.kind()? != Json::Null;
                r.skip()?;
            }
            b"data" | b"details" => e.data = Some(r.skip()?),
            b"version" => e.version = r.opt_number()?,
            b"cwd" => e.cwd = r.opt_string()?,
            b"parentSession" => e.parent_session = r.opt_string()?,
            b"branchedFrom" => e.branched_from = r.opt_string()?,
            _ => drop(r.skip()?),
        }
        Ok(())
    })?;
    Ok(e)
}

/// pi writes ids as strings; a number is taken as it is written, as JavaScript would compare it.
fn read_id<'a>(r: &mut Reader<'a>) -> Result<Option<Str<'a>>> {
    match r.kind()? {
        Json::Str => r.string().map(Some),
        Json::Number => Ok(std::str::from_utf8(r.skip()?).ok().map(Str::plain)),
        _ => r.skip().map(|_| None),
    }
}

fn read_stamp<'a>(r: &mut Reader<'a>) -> Result<Option<Stamp<'a>>> {
    Ok(match r.kind()? {
        Json::Str => Some(Stamp::Text(r.string()?)),
        Json::Number => Some(Stamp::Number(r.number()?)),
        _ => r.skip().map(|_| None)?,
    })
}

fn read_message<'a>(r: &mut Reader<'a>) -> Result<Option<Message<'a>>> {
    if r.kind()? != Json::Object {
        return r.skip().map(|_| None);
    }
    let mut m = Message::default();
    object(r, |r, key| {
        match key {
            b"role" => m.role = r.opt_string()?.unwrap_or_default(),
            b"content" => m.content = read_content(r)?,
            b"timestamp" => m.timestamp = read_stamp(r)?,
            b"usage" => m.usage = read_usage(r)?,
            b"provider" => m.provider = r.opt_string()?,
            b"model" => m.model = r.opt_string()?,
            b"stopReason" => m.stop_reason = r.opt_string()?,
            b"errorMessage" => m.error_message = r.opt_string()?,
            b"toolCallId" => m.tool_call_id = r.opt_string()?,
            b"toolName" => m.tool_name = r.opt_string()?,
            b"isError" => m.is_error = r.opt_bool()? == Some(true),
            b"details" => m.diff = read_diff(r)?,
            b"command" => m.command = r.opt_string()?,
            b"output" => m.output = r.opt_string()?,
            b"exitCode" => m.exit_code = r.opt_number()?,
            b"cancelled" => m.cancelled = r.opt_bool()? == Some(true),
            b"excludeFromContext" => m.excluded = r.opt_bool()? == Some(true),
            b"customType" => m.custom_type = r.opt_string()?,
            b"summary" => m.summary = r.opt_string()?,
            _ => drop(r.skip()?),
        }
        Ok(())
    })?;
    Ok(Some(m))
}

fn read_diff<'a>(r: &mut Reader<'a>) -> Result<Option<Str<'a>>> {
    let mut diff = None;
    if r.kind()? != Json::Object {
        return r.skip().map(|_| None);
    }
    object(r, |r, key| {
        match key {
            b"diff" => diff = r.opt_string()?,
            _ => drop(r.skip()?),
        }
        Ok(())
    })?;
    Ok(diff)
}

fn read_content<'a>(r: &mut Reader<'a>) -> Result<Content<'a>> {
    match r.kind()? {
        Json::Str => r.string().map(Content::Text),
        Json::Array => {
            let mut blocks = Vec::new();
            r.enter_array()?;
            while r.next_item(blocks.is_empty())? {
                blocks.push(read_block(r)?);
            }
            Ok(Content::Blocks(blocks))
        }
        _ => r.skip().map(|_| Content::Null),
    }
}

fn read_block<'a>(r: &mut Reader<'a>) -> Result<Block<'a>> {
    if r.kind()? != Json::Object {
        return r.skip().map(|_| Block::Broken);
    }
    let (mut type_name, mut text, mut thinking, mut mime, mut data) = (Str::default(), None, None, None, None);
    let mut call = ToolCall::default();
    let mut is_odd = false;
    let start = r.here();
    object(r, |r, key| {
        match key {
            b"type" => type_name = r.opt_string()?.unwrap_or_default(),
            b"text" => {
                is_odd = !matches!(r.kind()?, Json::Str | Json::Null);
                text = r.opt_string()?;
            }
            b"thinking" => thinking = r.opt_string()?,
            b"id" => call.id = r.opt_string()?.unwrap_or_default(),
            b"name" => call.name = r.opt_string()?.unwrap_or_default(),
            b"arguments" => call.arguments = r.skip()?,
            b"mimeType" => mime = r.opt_string()?,
            b"data" => data = r.opt_string()?,
            _ => drop(r.skip()?),
        }
        Ok(())
    })?;
    Ok(match &*type_name.bytes() {
        b"text" if !is_odd => Block::Text(text.unwrap_or_default()),
        b"thinking" => Block::Thinking(thinking.unwrap_or_default()),
        b"toolCall" => Block::ToolCall(call),
        b"image" => {
            let bytes = data.map_or(0, |data: Str| data.raw_len() / 4 * 3);
            Block::Image { mime: mime.unwrap_or_default(), bytes }
        }
        _ => Block::Other { type_name, raw: r.since(start) },
    })
}

fn read_usage(r: &mut Reader<'_>) -> Result<Option<Usage>> {
    if r.kind()? != Json::Object {
        return r.skip().map(|_| None);
    }
    let (mut usage, mut total) = (Usage::default(), 0.0);
    object(r, |r, key| {
        match key {
            b"input" => usage.input = r.opt_number()?.unwrap_or(0.0),
            b"output" => usage.output = r.opt_number()?.unwrap_or(0.0),
            b"cacheRead" => usage.cache_read = r.opt_number()?.unwrap_or(0.0),
            b"cacheWrite" => usage.cache_write = r.opt_number()?.unwrap_or(0.0),
            b"totalTokens" => total = r.opt_number()?.unwrap_or(0.0),
            b"cost" => usage.cost = read_cost(r)?,
            _ => drop(r.skip()?),
        }
        Ok(())
    })?;
    let parts = usage.input + usage.output + usage.cache_read + usage.cache_write;
    usage.tokens = if parts > 0.0 { parts } else { total };
    Ok(Some(usage))
}

fn read_cost(r: &mut Reader<'_>) -> Result<f64> {
    if r.kind()? != Json::Object {
        return Ok(r.opt_number()?.unwrap_or(0.0));
    }
    let start = r.here();
    let mut total = None;
    object(r, |r, key| {
        match key {
            b"total" => total = r.opt_number()?,
            _ => drop(r.skip()?),
        }
        Ok(())
    })?;
    Ok(total.unwrap_or_else(|| Fields::new(r.since(start)).numbers().sum()))
}

impl<'a> Entry<'a> {
    /// Whether the line is a header of a session.
    pub fn is_header(&self) -> bool {
        self.type_name.is("session")
    }

    /// Whether a file that starts with this line is a session: it is a header with a string for an id.
    pub fn starts_session(&self) -> bool {
        self.is_header() && self.id_is_text
    }

    /// `message.role`, or nothing.
    pub fn role(&self) -> Option<Str<'a>> {
        self.message.as_ref().map(|message| message.role).filter(|role| !role.is_empty())
    }
}

impl<'a> Content<'a> {
    /// The texts: the string, or the text blocks.
    pub fn texts(&self) -> impl Iterator<Item = Str<'a>> {
        let (text, blocks) = match self {
            Self::Text(text) => (Some(*text), &[][..]),
            Self::Blocks(blocks) => (None, &blocks[..]),
            Self::Missing | Self::Null => (None, &[][..]),
        };
        text.into_iter().chain(blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(*text),
            _ => None,
        }))
    }

    /// The texts as one, with `between` between the blocks.
    pub fn text(&self, between: &str) -> String {
        let mut out = String::new();
        for (i, text) in self.texts().enumerate() {
            if i > 0 {
                out.push_str(between);
            }
            out.push_str(&text.text());
        }
        out
    }

    /// The tool calls.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall<'a>> {
        let blocks = match self {
            Self::Blocks(blocks) => &blocks[..],
            _ => &[],
        };
        blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Whether pi's list throws the session away for this content of a user or assistant message (0.87.1).
    pub fn breaks_pi_list(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Blocks(blocks) => blocks.iter().any(|block| matches!(block, Block::Broken)),
            Self::Missing | Self::Text(_) => false,
        }
    }

    /// Whether pi's `/tree` throws at this content of an assistant (0.87.1).
    pub fn breaks_pi_tree(&self) -> bool {
        let is_odd_text = |block: &Block<'_>| matches!(block, Block::Other { type_name, .. } if type_name.is("text"));
        matches!(self, Self::Blocks(blocks) if blocks.iter().any(is_odd_text))
    }
}

/// `text` without white space around, as JavaScript's `trim`.
pub fn js_trim(text: &str) -> &str {
    text.trim_matches(is_js_space)
}

/// What JavaScript's `trim` takes away: unlike Rust's also U+FEFF, and not U+0085.
pub fn is_js_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r') || (c > '\x7f' && c != '\u{85}' && (c.is_whitespace() || c == '\u{feff}'))
}

impl Entry<'_> {
    /// What the entry used, as pi's session statistics count it (0.87.1): assistants, tool results, compactions,
    /// branch summaries and `usage` entries.
    pub fn used(&self) -> Option<Usage> {
        match &*self.type_name.bytes() {
            b"message" => {
                let message = self.message.as_ref()?;
                message.usage.filter(|_| message.role.is("assistant") || message.role.is("toolResult"))
            }
            b"compaction" | b"branch_summary" | b"usage" => self.usage,
            _ => None,
        }
    }

    /// US dollars that the entry cost.
    pub fn cost(&self) -> f64 {
        self.used().map_or(0.0, |usage| usage.cost)
    }

    /// All the text of the entry: what was said, summarised, run, or set.
    pub fn text(&self) -> String {
        let text = |text: Option<Str<'_>>| text.map_or(String::new(), |text| text.text().into_owned());
        match &*self.type_name.bytes() {
            b"message" => self.message.as_ref().map_or(String::new(), |message| match &*message.role.bytes() {
                b"bashExecution" => text(message.command),
                _ => message.content.text(""),
            }),
            b"custom_message" => self.content.text(""),
            b"compaction" | b"branch_summary" => text(self.summary),
            b"session_info" => text(self.name),
            b"label" => text(self.label),
            b"model_change" => text(self.model_id),
            b"thinking_level_change" => text(self.thinking_level),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_are_no_entries_and_no_damage() {
        for blank in ["", " \t\r", "\u{a0} \u{3000}", "\u{feff}", "\u{b}", "null", "0", "\"\""] {
            assert!(matches!(parse(blank.as_bytes()), Ok(None)), "{blank:?}");
        }
        for bad in ["\u{a0}x", "\u{feff}{}", "\u{85}", "{"] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }
}
