//! Splits the bytes of a line by kind. Thinking, tool calls and images are blocks of a message and count with their raw
//! JSON; the rest of the line belongs to the kind of the entry.

use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Block, Content, Entry};
use crate::session::json::{JsonReader, Result, Str, ValueKind};
use crate::session::space::kind::SpaceKind;

/// Calls `part` for each part of a line: its kind, the name of its tool or type, and its bytes. `bytes` is the length of
/// the line with its line break; the parts add up to it.
pub(super) fn each<'a>(
    line: &'a [u8],
    entry: &Entry<'a>,
    bytes: u64,
    mut part: impl FnMut(SpaceKind, Option<Str<'a>>, u64),
) {
    let mut rest = bytes;
    let contents = entry.message.iter().map(|message| &message.content).chain([&entry.content]);
    if contents.flat_map(Content::blocks).any(is_separate) {
        // The line was checked before.
        let _ = each_block(line, |kind, name, raw| {
            let len = (raw.len() as u64).min(rest);
            rest -= len;
            part(kind, name, len);
        });
    }
    let (kind, name) = of_entry(entry);
    part(kind, name, rest);
}

/// Returns `true` if a block has a kind of its own.
fn is_separate(block: &Block<'_>) -> bool {
    matches!(block, Block::Thinking(_) | Block::ToolCall(_) | Block::Image { .. })
}

/// Returns the kind of an entry without its separate blocks, and the name of its tool or type.
fn of_entry<'a>(entry: &Entry<'a>) -> (SpaceKind, Option<Str<'a>>) {
    let message = entry.message.as_ref();
    // Only the type is known of a line that is too long to be read.
    let kind = if entry.is_cut { EntryKind::of(entry.type_name, Str::default()) } else { entry.kind };
    match kind {
        EntryKind::User => (SpaceKind::Prompts, None),
        EntryKind::Assistant => (SpaceKind::Answers, None),
        EntryKind::ToolResult => (SpaceKind::ToolResults, message.and_then(|message| message.tool_name)),
        EntryKind::Bash => (SpaceKind::Commands, None),
        EntryKind::SystemRole => (SpaceKind::SystemMessages, None),
        EntryKind::CustomRole => (SpaceKind::Custom, message.and_then(|message| message.custom_type)),
        EntryKind::Custom | EntryKind::CustomMessage => (SpaceKind::Custom, entry.custom_type),
        EntryKind::SummaryRole | EntryKind::Compaction | EntryKind::BranchSummary => (SpaceKind::Summaries, None),
        EntryKind::OtherMessage
        | EntryKind::ModelChange
        | EntryKind::ThinkingLevel
        | EntryKind::Label
        | EntryKind::SessionInfo
        | EntryKind::Usage
        | EntryKind::ContextEdit
        | EntryKind::Unknown => (SpaceKind::Other, None),
    }
}

/// Calls `block` for each block with a kind of its own in the `content` of an entry or its message.
fn each_block<'a>(line: &'a [u8], mut block: impl FnMut(SpaceKind, Option<Str<'a>>, &'a [u8])) -> Result<()> {
    let mut r = JsonReader::new(line);
    r.each_field(|r, key| match r.kind()? {
        ValueKind::Object if key.is("message") => r.each_field(|r, key| match r.kind()? {
            ValueKind::Array if key.is("content") => content_blocks(r, &mut block),
            _ => r.skip().map(drop),
        }),
        ValueKind::Array if key.is("content") => content_blocks(r, &mut block),
        _ => r.skip().map(drop),
    })
}

fn content_blocks<'a>(
    r: &mut JsonReader<'a>,
    block: &mut impl FnMut(SpaceKind, Option<Str<'a>>, &'a [u8]),
) -> Result<()> {
    r.enter_array()?;
    let mut is_first = true;
    while r.next_item(std::mem::take(&mut is_first))? {
        let start = r.here();
        let (mut type_name, mut name) = (Str::default(), None);
        match r.kind()? {
            ValueKind::Object => r.each_field(|r, key| {
                match &*key.bytes() {
                    b"type" => type_name = r.opt_string()?.unwrap_or_default(),
                    b"name" => name = r.opt_string()?,
                    _ => drop(r.skip()?),
                }
                Ok(())
            })?,
            _ => drop(r.skip()?),
        }
        match &*type_name.bytes() {
            b"thinking" => block(SpaceKind::Thinking, None, r.since(start)),
            b"image" => block(SpaceKind::Images, None, r.since(start)),
            b"toolCall" => block(SpaceKind::ToolCalls, name, r.since(start)),
            _ => {}
        }
    }
    Ok(())
}
