//! An entry and its fields.

#![allow(dead_code, reason = "what is read is only written out")]

use super::json::{Kind as Json, NotJson, Reader, Result, Str, Value, is_falsy, numbers};

/// The newest supported version of pi's format (pi 1.6.0).
const NEWEST: f64 = 3.0;

/// The fields of a line. The last one of repeated keys is used, as in JavaScript.
#[derive(Debug, Default)]
pub(crate) struct Entry<'a> {
    kind: Kind,
    type_name: Str<'a>,
    id: Option<Str<'a>>,
    id_is_text: bool,
    parent_id: Option<Str<'a>>,
    timestamp: Option<Stamp<'a>>,
    message: Option<Message<'a>>,
    content: Content<'a>,
    usage: Option<Usage>,
    name: Option<Str<'a>>,
    target_id: Option<Str<'a>>,
    label: Option<Str<'a>>,
    summary: Option<Str<'a>>,
    tokens_before: Option<f64>,
    first_kept_id: Option<Str<'a>>,
    first_kept_index: Option<f64>,
    system_message: Option<&'a [u8]>,
    from_id: Option<Str<'a>>,
    custom_type: Option<Str<'a>>,
    provider: Option<Str<'a>>,
    model_id: Option<Str<'a>>,
    thinking_level: Option<Str<'a>>,
    replacement: Option<&'a [u8]>,
    data: Option<&'a [u8]>,
    version: Option<f64>,
    cwd: Option<Str<'a>>,
    parent_session: Option<Str<'a>>,
    parent_session_id: Option<Str<'a>>,
    branched_from: Option<Str<'a>>,
    imported: Option<Stamp<'a>>,
    is_cut: bool,
}

/// A timestamp as written in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stamp<'a> {
    Text(Str<'a>),
    Number(f64),
}

/// `message` of a `message` entry.
#[derive(Debug, Default)]
pub(crate) struct Message<'a> {
    role: Str<'a>,
    content: Content<'a>,
    timestamp: Option<Stamp<'a>>,
    usage: Option<Usage>,
    provider: Option<Str<'a>>,
    model: Option<Str<'a>>,
    response_model: Option<Str<'a>>,
    thinking_level: Option<Str<'a>>,
    duration_ms: Option<f64>,
    stop_reason: Option<Str<'a>>,
    error_message: Option<Str<'a>>,
    tool_call_id: Option<Str<'a>>,
    tool_name: Option<Str<'a>>,
    is_error: bool,
    nested_calls: Option<&'a [u8]>,
    sections: Option<&'a [u8]>,
    tools_added: Option<&'a [u8]>,
    tools_removed: Option<&'a [u8]>,
    diff: Option<Str<'a>>,
    patch: Option<Str<'a>>,
    unseen_by: Option<Str<'a>>,
    diagnostics: Option<&'a [u8]>,
    command: Option<Str<'a>>,
    output: Option<Str<'a>>,
    exit_code: Option<f64>,
    cancelled: bool,
    excluded: bool,
    custom_type: Option<Str<'a>>,
    summary: Option<Str<'a>>,
}

/// `content` of a message.
#[derive(Debug, Default)]
pub(crate) enum Content<'a> {
    #[default]
    Missing,
    Null,
    Text(Str<'a>),
    Blocks(Vec<Block<'a>>),
}

/// A block of a message.
#[derive(Debug)]
pub(crate) enum Block<'a> {
    Text(Str<'a>),
    Thinking(Str<'a>),
    ToolCall(ToolCall<'a>),
    Image { mime: Str<'a>, bytes: usize, data: Str<'a> },
    Other { type_name: Str<'a>, raw: &'a [u8] },
    Broken,
}

/// A tool call of an assistant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ToolCall<'a> {
    id: Str<'a>,
    name: Str<'a>,
    arguments: &'a [u8],
    path: Option<Value<'a>>,
}

/// The usage of an entry. Missing numbers are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
    long_cache_write: f64,
    tokens: f64,
    cost: f64,
    is_billed: bool,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    User,
    Assistant,
    ToolResult,
    Bash,
    SystemRole,
    CustomRole,
    SummaryRole,
    OtherMessage,
    CustomMessage,
    Compaction,
    BranchSummary,
    ModelChange,
    ThinkingLevel,
    Custom,
    Label,
    SessionInfo,
    Usage,
    ContextEdit,
    #[default]
    Unknown,
}

impl Kind {
    fn of(type_name: Str<'_>, role: Str<'_>) -> Self {
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
}

/// The maximum number of blocks parsed one by one; the remaining ones become one raw block.
const MAX_BLOCKS: usize = 10_000;

/// Parses a line. Returns `None` for values that are not entries in pi (blank, `null`, `false`, `0`, `""`) and for
/// other records of version 4.
///
/// # Errors
/// The line is not JSON in JavaScript: pi skips it.
pub(crate) fn line(line: &[u8]) -> Result<Option<Entry<'_>>> {
    if is_blank(line) {
        return Ok(None);
    }
    let mut r = Reader::new(line);
    let entry = match r.kind()? {
        Json::Object => read_entry(&mut r)?,
        Json::Null | Json::False => r.skip().map(|_| None)?,
        Json::Number => (r.number()? != 0.0).then(Entry::default),
        Json::Str => (!r.string()?.is_empty()).then(Entry::default),
        Json::Array | Json::True => r.skip().map(|_| Some(Entry::default()))?,
    };
    r.end()?;
    Ok(entry)
}

/// Parses the beginning of an overlong line: the complete fields, without the kind of the entry.
///
/// # Errors
/// It is not the beginning of a JSON object.
pub(crate) fn beginning(start: &[u8]) -> Result<Entry<'_>> {
    let mut entry = Entry { is_cut: true, ..Entry::default() };
    let mut r = Reader::new(start);
    if r.kind()? != Json::Object {
        return Err(NotJson);
    }
    // The JSON is incomplete at the cut.
    let _ = read_fields(&mut r, &mut entry);
    Ok(entry)
}

/// Returns `true` if a line consists of white space as defined by JavaScript's `trim`.
fn is_blank(line: &[u8]) -> bool {
    match line.trim_ascii_start().first() {
        None => true,
        Some(b'{') => false,
        Some(_) => String::from_utf8_lossy(line).chars().all(is_js_space),
    }
}

/// Calls `field` for each key of the next object.
fn object<'a>(r: &mut Reader<'a>, mut field: impl FnMut(&mut Reader<'a>, &[u8]) -> Result<()>) -> Result<()> {
    r.enter_object()?;
    let mut first = true;
    while let Some(key) = r.next_key(first)? {
        field(r, &key.bytes())?;
        first = false;
    }
    Ok(())
}

fn read_entry<'a>(r: &mut Reader<'a>) -> Result<Option<Entry<'a>>> {
    let mut entry = Entry::default();
    let write = read_fields(r, &mut entry)?;
    match write.kind.filter(|_| entry.type_name.is_empty()) {
        Some(kind) if kind.is("header") && write.version.is_some_and(|version| version > NEWEST) => {
            entry.type_name = Str::plain("session");
            (entry.version, entry.timestamp) = (write.version, write.created_at);
        }
        Some(kind) if NO_ENTRIES.iter().any(|no_entry| kind.is(no_entry)) => return Ok(None),
        _ => {}
    }
    entry.kind = Kind::of(entry.type_name, entry.message.as_ref().map(|message| message.role).unwrap_or_default());
    Ok(Some(entry))
}

/// Records of version 4 that are not entries: usage, and values such as the session name.
const NO_ENTRIES: [&str; 3] = ["usage", "value", "list"];

/// Fields that identify the objects of version 4 (pi 0.87.1, `harness/session/jsonl`). Only entries have a `type`.
#[derive(Default)]
struct Write<'a> {
    /// `kind`.
    kind: Option<Str<'a>>,
    /// `v` of a header.
    version: Option<f64>,
    /// `createdAt` of a header.
    created_at: Option<Stamp<'a>>,
}

fn read_fields<'a>(r: &mut Reader<'a>, e: &mut Entry<'a>) -> Result<Write<'a>> {
    let mut write = Write::default();
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
            b"firstKeptEntryIndex" => e.first_kept_index = r.opt_number()?,
            b"systemMessage" => e.system_message = Some(r.skip()?).filter(|raw| !is_falsy(Some(raw))),
            b"fromId" => e.from_id = read_id(r)?,
            b"customType" => e.custom_type = r.opt_string()?,
            b"provider" => e.provider = r.opt_string()?,
            b"modelId" | b"model" => e.model_id = r.opt_string()?,
            b"thinkingLevel" => e.thinking_level = r.opt_string()?,
            b"replacement" => {
                let is_null = r.kind()? == Json::Null;
                e.replacement = Some(r.skip()?).filter(|_| !is_null);
            }
            b"data" | b"details" => e.data = Some(r.skip()?),
            b"version" => e.version = read_version(r)?,
            b"cwd" => e.cwd = r.opt_string()?,
            b"parentSession" | b"legacyParentSessionPath" => e.parent_session = r.opt_string()?,
            b"parentSessionId" => e.parent_session_id = r.opt_string()?,
            b"imported" => e.imported = read_stamp(r)?,
            b"branchedFrom" => e.branched_from = r.opt_string()?,
            b"kind" => write.kind = r.opt_string()?,
            b"v" => write.version = r.opt_number()?,
            b"createdAt" => write.created_at = read_stamp(r)?,
            _ => drop(r.skip()?),
        }
        Ok(())
    })?;
    Ok(write)
}

/// pi writes IDs as strings. A number keeps its spelling, as JavaScript compares it.
fn read_id<'a>(r: &mut Reader<'a>) -> Result<Option<Str<'a>>> {
    match r.kind()? {
        Json::Str => r.string().map(Some),
        Json::Number => Ok(std::str::from_utf8(r.skip()?).ok().map(Str::plain)),
        _ => r.skip().map(|_| None),
    }
}

/// pi compares versions as JavaScript does: `"3"` is also a number.
fn read_version(r: &mut Reader<'_>) -> Result<Option<f64>> {
    match r.kind()? {
        Json::Str => Ok(r.string()?.text().trim().parse().ok()),
        _ => r.opt_number(),
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
            b"responseModel" => m.response_model = r.opt_string()?,
            b"thinkingLevel" => m.thinking_level = r.opt_string()?,
            b"durationMs" => m.duration_ms = r.opt_number()?,
            b"stopReason" => m.stop_reason = r.opt_string()?,
            b"errorMessage" => m.error_message = r.opt_string()?,
            b"toolCallId" => m.tool_call_id = r.opt_string()?,
            b"toolName" => m.tool_name = r.opt_string()?,
            b"nestedCalls" => m.nested_calls = Some(r.skip()?),
            b"sections" => m.sections = Some(r.skip()?),
            b"toolsAdded" => m.tools_added = Some(r.skip()?),
            b"toolsRemoved" => m.tools_removed = Some(r.skip()?),
            b"isError" => m.is_error = r.opt_bool()? == Some(true),
            b"details" => (m.diff, m.patch, m.unseen_by) = read_details(r)?,
            b"diagnostics" => m.diagnostics = Some(r.skip()?),
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

type Details<'a> = (Option<Str<'a>>, Option<Str<'a>>, Option<Str<'a>>);

fn read_details<'a>(r: &mut Reader<'a>) -> Result<Details<'a>> {
    let mut details = Details::default();
    if r.kind()? != Json::Object {
        return r.skip().map(|_| details);
    }
    object(r, |r, key| {
        match key {
            b"diff" => details.0 = r.opt_string()?,
            b"patch" => details.1 = r.opt_string()?,
            b"imageUnsupportedByModel" => details.2 = r.opt_string()?,
            _ => drop(r.skip()?),
        }
        Ok(())
    })?;
    Ok(details)
}

fn read_content<'a>(r: &mut Reader<'a>) -> Result<Content<'a>> {
    match r.kind()? {
        Json::Str => r.string().map(Content::Text),
        Json::Array => {
            let mut blocks = Vec::new();
            r.enter_array()?;
            while r.next_item(blocks.is_empty())? {
                if blocks.len() == MAX_BLOCKS {
                    let start = r.here();
                    r.skip()?;
                    while r.next_item(false)? {
                        r.skip()?;
                    }
                    blocks.push(Block::Other { type_name: Str::plain("more blocks"), raw: r.since(start) });
                    break;
                }
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
            b"arguments" => (call.arguments, call.path) = read_arguments(r)?,
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
            Block::Image { mime: mime.unwrap_or_default(), bytes, data: data.unwrap_or_default() }
        }
        _ => Block::Other { type_name, raw: r.since(start) },
    })
}

/// Returns the raw arguments of a tool call, and the file they name.
fn read_arguments<'a>(r: &mut Reader<'a>) -> Result<(&'a [u8], Option<Value<'a>>)> {
    if r.kind()? != Json::Object {
        return Ok((r.skip()?, None));
    }
    let start = r.here();
    let (mut path, mut file_path) = (None, None);
    object(r, |r, key| {
        match key {
            b"path" => path = Some(Value::read(r)?),
            b"file_path" => file_path = Some(Value::read(r)?),
            _ => drop(r.skip()?),
        }
        Ok(())
    })?;
    Ok((r.since(start), path.or(file_path)))
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
            b"cacheWrite1h" => usage.long_cache_write = r.opt_number()?.unwrap_or(0.0),
            b"totalTokens" => total = r.opt_number()?.unwrap_or(0.0),
            b"cost" => (usage.cost, usage.is_billed) = read_cost(r)?,
            _ => drop(r.skip()?),
        }
        Ok(())
    })?;
    let parts = usage.input + usage.output + usage.cache_read + usage.cache_write;
    usage.tokens = if parts > 0.0 { parts } else { total };
    Ok(Some(usage))
}

/// Returns the cost in US dollars, and `true` if the provider reported it.
fn read_cost(r: &mut Reader<'_>) -> Result<(f64, bool)> {
    if r.kind()? != Json::Object {
        return Ok((r.opt_number()?.unwrap_or(0.0), false));
    }
    let start = r.here();
    let (mut total, mut is_billed) = (None, false);
    object(r, |r, key| {
        match key {
            b"total" => total = r.opt_number()?,
            b"totalFromProvider" => is_billed = r.opt_bool()? == Some(true),
            _ => drop(r.skip()?),
        }
        Ok(())
    })?;
    let sum = || numbers(r.since(start)).into_iter().fold(0.0, |sum, part| sum + part);
    Ok((total.unwrap_or_else(sum), is_billed))
}

/// Returns `true` for white space removed by JavaScript's `trim`.
fn is_js_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}
