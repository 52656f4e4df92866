//! The records of entries, in the form that is printed.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Number;

use crate::base::safe_json::number;
use crate::base::time;
use crate::catalog::stats::shared_paths::EntryPlace;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::text_fields::texts;
use crate::session::entry::tool_call::{Touch, touched};
use crate::session::entry::{Entry, Message, ToolCall};
use crate::session::json::Str;
use crate::session::lines::Line;
use crate::session::links::Index;

/// A file that a tool call of an entry touched.
#[derive(Serialize)]
struct RecordedFile {
    path: String,
    touch: &'static str,
}

/// The facts about an entry.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EntryRecord<'a> {
    index: Index,
    entry_id: Option<Cow<'a, str>>,
    parent_id: Option<Cow<'a, str>>,
    time: Option<String>,
    kind: Cow<'a, str>,
    role: Option<Cow<'a, str>>,
    provider: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    text: String,
    tools: Vec<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    duration_ms: Option<Number>,
    failed: bool,
    not_run: bool,
    files: Vec<RecordedFile>,
    input: Option<Number>,
    output: Option<Number>,
    cache_read: Option<Number>,
    cache_write: Option<Number>,
    tokens: Option<Number>,
    cost: Option<Number>,
    own: bool,
    active: bool,
    abandoned: bool,
}

impl<'a> EntryRecord<'a> {
    /// Creates the record of an entry: its index, place and time, the entry with its line, and the time its call took.
    /// `file` resolves a path.
    pub(super) fn new(
        (index, place, time): (Index, EntryPlace, Option<i64>),
        (entry, line): (&Entry<'a>, &Line<'a>),
        duration: Option<f64>,
        file: impl Fn(&str) -> String,
    ) -> Self {
        let message = entry.message.as_ref();
        let text = |text: Option<Str<'a>>| text.map(Str::text);
        let result = message.filter(|_| entry.kind == EntryKind::ToolResult);
        let calls: Vec<ToolCall<'a>> = message.map_or_else(Vec::new, |message| calls(entry.kind, message));
        let touches = calls.iter().filter_map(touched);
        let used = entry.used();
        let tokens = used.map(|used| [used.input, used.output, used.cache_read, used.cache_write]);
        let sum = tokens.map(|tokens| tokens.iter().sum::<f64>());
        let part = |at: usize| tokens.and_then(|tokens| number(tokens[at]));
        Self {
            index,
            entry_id: text(entry.id),
            parent_id: text(entry.parent_id),
            time: time.and_then(time::iso),
            kind: entry.type_name.text(),
            role: text(entry.role()),
            provider: text(entry.provider()),
            model: text(entry.model()),
            text: if line.is_cut() { String::new() } else { all_texts(entry, line.bytes) },
            tools: calls.iter().map(|call| call.name.text()).collect(),
            tool: text(result.and_then(|message| message.tool_name)),
            duration_ms: duration.and_then(number),
            failed: result.is_some_and(|message| message.is_error && !message.never_ran()),
            not_run: result.is_some_and(Message::never_ran),
            files: touches.map(|(path, touch)| RecordedFile { path: file(&path), touch: Touch::name(touch) }).collect(),
            input: part(0),
            output: part(1),
            cache_read: part(2),
            cache_write: part(3),
            tokens: sum.and_then(number),
            cost: used.and_then(|used| number(used.cost)),
            own: place.is_own,
            active: place.is_active,
            abandoned: place.is_abandoned,
        }
    }
}

/// Returns the tool calls of an answer, or those that a tool made itself.
fn calls<'a>(kind: EntryKind, message: &Message<'a>) -> Vec<ToolCall<'a>> {
    match kind {
        EntryKind::Assistant => message.content.tool_calls().copied().collect(),
        EntryKind::ToolResult => message.nested_calls().map(|nested| nested.call).collect(),
        _ => Vec::new(),
    }
}

/// Returns all texts of an entry, one after another.
fn all_texts<'a>(entry: &Entry<'a>, line: &'a [u8]) -> String {
    let mut all = String::new();
    texts(entry, line, &mut |_, text| {
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(&text.text());
    });
    all
}
