//! Parses a line of a session file into an [`Entry`] in one pass over its bytes. `entry` documents the fields, `json` the
//! accepted JSON.

use crate::base::javascript::is_js_space;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Block, Content, Entry, Message, NEWEST, RawTime, ToolCall, Usage};
use crate::session::json::edit::is_falsy;
use crate::session::json::value::{Fields, Value};
use crate::session::json::{JsonReader, NotJson, Result, Str, ValueKind as Json};

/// The maximum number of blocks parsed one by one; the remaining ones become one raw block. A parsed block takes
/// several times the memory of the smallest blocks.
const MAX_BLOCKS: usize = 10_000;

/// Returns the entry on a line, or an empty one.
pub fn entry(line: &[u8]) -> Entry<'_> {
    self::line(line).ok().flatten().unwrap_or_default()
}

/// Returns the text of the entry on a line, or an empty string.
pub fn text(line: &[u8]) -> String {
    entry(line).text()
}

/// Parses a line. Returns `None` for values that are not entries in pi (blank, `null`, `false`, `0`, `""`) and for
/// other records of version 4.
///
/// # Errors
/// The line is not JSON in JavaScript: pi skips it.
pub fn line(line: &[u8]) -> Result<Option<Entry<'_>>> {
    if is_blank(line) {
        return Ok(None);
    }
    // An entry is large, so it is built in place.
    let mut read = None;
    let entry = read.insert(Entry::default());
    let mut r = JsonReader::new(line);
    let is_entry = match r.kind()? {
        Json::Object => read_entry(&mut r, entry)?,
        Json::Null | Json::False => r.skip().map(|_| false)?,
        Json::Number => r.number()? != 0.0,
        Json::Str => !r.string()?.is_empty(),
        Json::Array | Json::True => r.skip().map(|_| true)?,
    };
    r.end()?;
    if !is_entry {
        read = None;
    }
    Ok(read)
}

/// Parses the beginning of an overlong line: the complete fields, without the kind of the entry.
///
/// # Errors
/// It is not the beginning of a JSON object.
pub fn beginning(start: &[u8]) -> Result<Entry<'_>> {
    let mut entry = Entry { is_cut: true, ..Entry::default() };
    let mut r = JsonReader::new(start);
    if r.kind()? != Json::Object {
        return Err(NotJson);
    }
    // The JSON is incomplete at the cut.
    let _ = read_fields(&mut r, &mut entry);
    Ok(entry)
}

/// Parses a separate message, such as the `systemMessage` of a compaction. Returns an empty message if it is invalid.
pub fn message(raw: &[u8]) -> Message<'_> {
    let mut message = None;
    // The JSON was checked before.
    let _ = read_message(&mut JsonReader::new(raw), &mut message);
    message.unwrap_or_default()
}

/// Parses the content of a context edit for its target: `content` of its `replacement`.
pub fn replacement(raw: &[u8]) -> Content<'_> {
    let mut content = Content::Missing;
    let mut r = JsonReader::new(raw);
    // The JSON was checked before; values other than objects have no content.
    let _ = object(&mut r, |r, key| {
        match key {
            b"content" => content = read_content(r)?,
            _ => drop(r.skip()?),
        }
        Ok(())
    });
    content
}

/// Returns the file named in the arguments of a tool call.
pub(super) fn path(arguments: &[u8]) -> Option<Value<'_>> {
    // The JSON was checked before; values other than objects name no file.
    read_arguments(&mut JsonReader::new(arguments)).ok()?.1
}

/// Returns `true` if a line consists of white space as defined by JavaScript's `trim`.
fn is_blank(line: &[u8]) -> bool {
    match line.trim_ascii_start().first() {
        None => true,
        Some(b'{') => false,
        Some(_) => String::from_utf8_lossy(line).chars().all(is_js_space),
    }
}

/// Calls `field` for each key of the next object. Skips any other value and returns `false`.
fn object<'a>(r: &mut JsonReader<'a>, mut field: impl FnMut(&mut JsonReader<'a>, &[u8]) -> Result<()>) -> Result<bool> {
    if r.kind()? != Json::Object {
        return r.skip().map(|_| false);
    }
    r.each_field(|r, key| field(r, &key.bytes()))?;
    Ok(true)
}

/// Parses the next object and returns `true` if it is an entry.
fn read_entry<'a>(r: &mut JsonReader<'a>, entry: &mut Entry<'a>) -> Result<bool> {
    let write = read_fields(r, entry)?;
    match write.kind.filter(|_| entry.type_name.is_empty()) {
        Some(kind) if kind.is("header") && write.version.is_some_and(|version| version > NEWEST) => {
            entry.type_name = Str::plain("session");
            (entry.version, entry.timestamp) = (write.version, write.created_at);
        }
        Some(kind) if NO_ENTRIES.iter().any(|no_entry| kind.is(no_entry)) => return Ok(false),
        _ => {}
    }
    entry.kind = EntryKind::of(entry.type_name, entry.message.as_ref().map(|message| message.role).unwrap_or_default());
    Ok(true)
}

/// A value that version 4 stores: the name of the session, a label, or the leaf (pi 0.87.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredValue<'a> {
    /// The kind of value, such as `pi.session.name`.
    pub namespace: Str<'a>,
    /// The key of the value, such as the entry of a label.
    pub key: Str<'a>,
    /// The value, if it is a text; `None` if it is deleted.
    pub value: Option<Str<'a>>,
}

/// Parses a stored value. Returns `None` for other lines.
pub fn stored_value(line: &[u8]) -> Option<StoredValue<'_>> {
    let fields = Some(line).filter(|line| line.first() == Some(&b'{')).map(Fields::new)?;
    let text = |key: &str| fields.get(key)?.str();
    text("kind").filter(|kind| kind.is("value"))?;
    Some(StoredValue { namespace: text("namespace")?, key: text("key")?, value: text("value") })
}

/// Records of version 4 that are not entries: usage, and values such as the session name.
const NO_ENTRIES: [&str; 3] = ["usage", "value", "list"];

/// Fields that identify the objects of version 4 (pi 0.87.1, `harness/session/jsonl`). Only entries have a `type`.
#[derive(Default)]
struct Version4Object<'a> {
    /// `kind`.
    kind: Option<Str<'a>>,
    /// `v` of a header.
    version: Option<f64>,
    /// `createdAt` of a header.
    created_at: Option<RawTime<'a>>,
}

fn read_fields<'a>(r: &mut JsonReader<'a>, e: &mut Entry<'a>) -> Result<Version4Object<'a>> {
    let mut write = Version4Object::default();
    object(r, |r, key| {
        match key {
            b"type" => e.type_name = r.opt_string()?.unwrap_or_default(),
            b"id" => {
                e.id_is_text = r.kind()? == Json::Str;
                e.id = read_id(r)?;
            }
            b"parentId" => e.parent_id = read_id(r)?,
            b"timestamp" => e.timestamp = read_stamp(r)?,
            b"message" => read_message(r, &mut e.message)?,
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
fn read_id<'a>(r: &mut JsonReader<'a>) -> Result<Option<Str<'a>>> {
    match r.kind()? {
        Json::Str => r.string().map(Some),
        Json::Number => Ok(std::str::from_utf8(r.skip()?).ok().map(Str::plain)),
        _ => r.skip().map(|_| None),
    }
}

/// pi compares versions as JavaScript does: `"3"` is also a number.
fn read_version(r: &mut JsonReader<'_>) -> Result<Option<f64>> {
    match r.kind()? {
        Json::Str => Ok(r.string()?.text().trim().parse().ok()),
        _ => r.opt_number(),
    }
}

fn read_stamp<'a>(r: &mut JsonReader<'a>) -> Result<Option<RawTime<'a>>> {
    Ok(match r.kind()? {
        Json::Str => Some(RawTime::Text(r.string()?)),
        Json::Number => Some(RawTime::Number(r.number()?)),
        _ => r.skip().map(|_| None)?,
    })
}

/// Parses a message in place, because it is large. On an error, the previous message remains.
fn read_message<'a>(r: &mut JsonReader<'a>, message: &mut Option<Message<'a>>) -> Result<()> {
    // A previous message is rare.
    let before = if message.is_some() { message.take() } else { None };
    let read = read_message_fields(r, message.insert(Message::default()));
    if read != Ok(true) {
        *message = before.filter(|_| read.is_err());
    }
    read.map(drop)
}

/// Returns `true` if the next value is an object.
fn read_message_fields<'a>(r: &mut JsonReader<'a>, m: &mut Message<'a>) -> Result<bool> {
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
            b"details" => read_details(r, m)?,
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
    })
}

/// Reads `details` of a tool result. Of repeated ones, the last counts.
fn read_details<'a>(r: &mut JsonReader<'a>, m: &mut Message<'a>) -> Result<()> {
    (m.diff, m.patch, m.unseen_by) = (None, None, None);
    object(r, |r, key| {
        match key {
            b"diff" => m.diff = r.opt_string()?,
            b"patch" => m.patch = r.opt_string()?,
            b"imageUnsupportedByModel" => m.unseen_by = r.opt_string()?,
            _ => drop(r.skip()?),
        }
        Ok(())
    })
    .map(drop)
}

fn read_content<'a>(r: &mut JsonReader<'a>) -> Result<Content<'a>> {
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

fn read_block<'a>(r: &mut JsonReader<'a>) -> Result<Block<'a>> {
    let (mut type_name, mut text, mut thinking, mut mime, mut data) = (Str::default(), None, None, None, None);
    let mut call = ToolCall::default();
    let mut is_odd = false;
    let start = r.here();
    let is_object = object(r, |r, key| {
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
        _ if !is_object => Block::Broken,
        b"text" if !is_odd => Block::Text(text.unwrap_or_default()),
        b"thinking" => Block::Thinking(thinking.unwrap_or_default()),
        b"toolCall" => Block::ToolCall(call),
        b"image" => {
            let bytes = data.map_or(0, |data: Str| data.raw().len() / 4 * 3);
            Block::Image { mime: mime.unwrap_or_default(), bytes, data: data.unwrap_or_default() }
        }
        _ => Block::Other { type_name, raw: r.since(start) },
    })
}

/// Returns the raw arguments of a tool call, and the file they name.
fn read_arguments<'a>(r: &mut JsonReader<'a>) -> Result<(&'a [u8], Option<Value<'a>>)> {
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

fn read_usage(r: &mut JsonReader<'_>) -> Result<Option<Usage>> {
    let (mut usage, mut total) = (Usage::default(), 0.0);
    let is_object = object(r, |r, key| {
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
    Ok(is_object.then_some(usage))
}

/// Returns the cost in US dollars, and `true` if the provider reported it.
fn read_cost(r: &mut JsonReader<'_>) -> Result<(f64, bool)> {
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
    let number = |(_, value): (_, Value<'_>)| std::str::from_utf8(value.raw()?).ok()?.parse::<f64>().ok();
    let sum = || Fields::new(r.since(start)).into_iter().filter_map(number).fold(0.0, |sum, part| sum + part);
    Ok((total.unwrap_or_else(sum), is_billed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_the_remaining_blocks_beyond_the_limit() {
        for (block, count) in [("{}", MAX_BLOCKS + 5), ("1", MAX_BLOCKS + 1), ("{}", MAX_BLOCKS)] {
            let blocks = vec![block; count].join(",");
            let text = format!(r#"{{"type":"message","message":{{"role":"user","content":[{blocks}]}},"id":"a"}}"#);
            let entry = line(text.as_bytes()).unwrap().unwrap();
            assert!(entry.id.unwrap().is("a"));
            let Content::Blocks(blocks) = entry.message.unwrap().content else { panic!("no blocks") };
            assert_eq!(blocks.len(), count.min(MAX_BLOCKS + 1));
            if let Some(Block::Other { type_name, raw }) = blocks.get(MAX_BLOCKS) {
                assert!(type_name.is("more blocks") && raw.starts_with(block.as_bytes()));
            }
        }
    }

    #[test]
    fn blank_lines_are_neither_entries_nor_damage() {
        for blank in ["", " \t\r", "\u{a0} \u{3000}", "\u{feff}", "\u{b}", "null", "0", "\"\""] {
            assert!(matches!(line(blank.as_bytes()), Ok(None)), "{blank:?}");
        }
        for bad in ["\u{a0}x", "\u{feff}{}", "\u{85}", "{"] {
            assert!(line(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }
}
