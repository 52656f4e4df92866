//! Renders an entry with all its content: text, thinking, tool calls with their results, usage and time.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::base::numbers;
use crate::base::text::{Span, Tone};
use crate::render::document::Document;
use crate::render::{DocLine, code};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::{self, NEARBY};
use crate::session::entry::{Block, Content, Entry, Message, ToolCall, parse, typed_prompt};
use crate::session::json::value::{Fields, items};
use crate::session::json::{Str, text_or_empty};
use crate::session::tree::node::EntryOutcome;
use crate::session::tree::{EntryIndex, Tree};

/// The number of context lines around a change in a diff.
const CONTEXT: usize = 3;

/// Returns the entries that are shown with an entry: the tool results of an assistant message, or the call of a result.
pub fn related(tree: &Tree, at: EntryIndex) -> Vec<EntryIndex> {
    let kind = |at: EntryIndex| tree.node(at).kind;
    match kind(at) {
        EntryKind::ToolResult => tree
            .to_root(tree.parent(at))
            .take(NEARBY)
            .find(|&at| kind(at) == EntryKind::Assistant)
            .into_iter()
            .collect(),
        EntryKind::Assistant => {
            let result =
                |at: EntryIndex| tree.children(at).iter().copied().find(|&child| kind(child) == EntryKind::ToolResult);
            std::iter::successors(result(at), |&at| result(at)).take(NEARBY).collect()
        }
        _ => Vec::new(),
    }
}

/// Renders an entry. `line` is its line in the file, and `related` holds the lines of the [`related`] entries. `clock`
/// returns the time spent so far. `folds_blocks` shows a block before a prompt in one line.
pub fn document(
    tree: &Tree,
    at: EntryIndex,
    (line, related): (&[u8], &[Vec<u8>]),
    zone: &jiff::tz::TimeZone,
    clock: &dyn Fn() -> Duration,
    folds_blocks: bool,
) -> Vec<DocLine> {
    let mut lines = Document::new(clock);
    lines.folds_blocks = folds_blocks;
    fill(&mut lines, (tree, at), (line, related), zone);
    lines.into_lines()
}

/// Returns the source text of an entry: Markdown, code and tabs unchanged, safe for a terminal.
pub fn source_text(
    tree: &Tree,
    at: EntryIndex,
    (line, related): (&[u8], &[Vec<u8>]),
    zone: &jiff::tz::TimeZone,
) -> String {
    let mut text = Document::raw(&|| Duration::ZERO);
    fill(&mut text, (tree, at), (line, related), zone);
    text.into_text().trim_end().to_owned() + "\n"
}

/// Renders the lines of an entry and of its [`related`] entries in the session file.
pub fn raw(line: &[u8], related: &[Vec<u8>], clock: &dyn Fn() -> Duration) -> Vec<DocLine> {
    let mut lines = Document::new(clock);
    for (at, line) in [line].into_iter().chain(related.iter().map(Vec::as_slice)).enumerate() {
        if at > 0 {
            lines.push(DocLine::default());
        }
        lines.json(line);
    }
    lines.into_lines()
}

fn fill(
    lines: &mut Document<'_>,
    (tree, at): (&Tree, EntryIndex),
    (line, related): (&[u8], &[Vec<u8>]),
    zone: &jiff::tz::TimeZone,
) {
    let entry = parse::entry(line);
    let others: Vec<Entry<'_>> = related.iter().map(|line| parse::entry(line)).collect();
    head(lines, tree, at, &entry, zone);
    lines.push(DocLine::default());
    body(lines, tree, &entry, &others, line);
}

/// Renders the time, model, usage, id, label and error of an entry.
fn head(lines: &mut Document<'_>, tree: &Tree, at: EntryIndex, entry: &Entry<'_>, zone: &jiff::tz::TimeZone) {
    let node = tree.node(at);
    let mut facts = Vec::new();
    if let Some(time) = node.time.and_then(|time| jiff::Timestamp::from_millisecond(time).ok()) {
        facts.push(time.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string());
    }
    let message = entry.message.as_ref();
    facts.extend(message.and_then(model_name));
    if let Some(level) = message.and_then(|message| message.thinking_level) {
        facts.push(format!("thinking {}", level.text()));
    }
    facts.extend(message.and_then(|message| message.duration_ms).map(numbers::duration));
    if let Some(usage) = entry.used() {
        facts.push(format!("{} tokens", numbers::tokens(usage.tokens)));
        let cost = numbers::dollars(usage.cost);
        facts.push(if usage.is_billed { format!("{cost} billed") } else { cost });
    }
    facts.extend(node.id.as_ref().map(|id| format!("id {id}")));
    lines.title(Tone::Dim, &facts.join(" · "));
    if let Some(label) = tree.labels.get(&at) {
        lines.push(DocLine::new(Tone::Label, &format!("[{}]", label.text)));
    }
    if node.outcome == EntryOutcome::Aborted {
        lines.push(DocLine::new(Tone::Warning, "aborted"));
    }
    if let Some(message) = message {
        message.error_message.into_iter().for_each(|error| lines.plain(Tone::Error, &error.text(), false));
        message.diagnostics().iter().for_each(|text| lines.plain(Tone::Warning, text, false));
    }
}

/// Returns the requested model, and the model that the provider reports if it differs.
fn model_name(message: &Message<'_>) -> Option<String> {
    let asked = message.model?.owned();
    let answered = message.response_model.map(|model| model.text()).filter(|answered| *answered != asked);
    Some(answered.map_or_else(|| asked.clone(), |answered| format!("{asked} as {answered}")))
}

fn body(lines: &mut Document<'_>, tree: &Tree, entry: &Entry<'_>, others: &[Entry<'_>], line: &[u8]) {
    let others: Vec<&Message<'_>> = others.iter().filter_map(|entry| entry.message.as_ref()).collect();
    let none = Message::default();
    let message = entry.message.as_ref().unwrap_or(&none);
    match entry.kind {
        EntryKind::User if lines.folds_blocks => prompt(lines, message),
        EntryKind::User | EntryKind::Assistant => message_content(lines, message, &others),
        EntryKind::ToolResult => tool_result(lines, message, &others),
        EntryKind::Bash => bash(lines, message),
        EntryKind::OtherMessage if entry.message.is_none() => lines.json(line),
        EntryKind::SystemRole => system(lines, message),
        EntryKind::CustomRole | EntryKind::SummaryRole | EntryKind::OtherMessage => {
            lines.title(Tone::Meta, &message.custom_type.unwrap_or(message.role).text());
            message_content(lines, message, &others);
        }
        EntryKind::CustomMessage => {
            lines.title(Tone::Meta, &text_or_empty(entry.custom_type));
            content(lines, &entry.content, &[]);
        }
        EntryKind::Compaction => {
            let tokens = entry.tokens_before.map_or("?".into(), numbers::tokens);
            lines.title(Tone::Summary, &format!("compaction of {tokens} tokens"));
            // The first entry that the compaction keeps.
            if let Some(row) = entry.first_kept_id.and_then(|id| row(tree, &id.text())) {
                lines.push(DocLine::of(vec![Span::new(Tone::Dim, "kept from: "), Span::new(Tone::Text, row)]));
                lines.push(DocLine::default());
            }
            lines.markdown(&text_or_empty(entry.summary));
            if let Some(raw) = entry.system_message {
                lines.push(DocLine::default());
                system(lines, &parse::message(raw));
            }
        }
        EntryKind::BranchSummary => {
            lines
                .title(Tone::Summary, &format!("summary of the branch that ended at {}", text_or_empty(entry.from_id)));
            lines.markdown(&text_or_empty(entry.summary));
        }
        EntryKind::Label => {
            let label = text_or_empty(entry.label);
            let what = if label.is_empty() { "label cleared on".into() } else { format!("label [{label}] set on") };
            lines.title(Tone::Label, &what);
            let target = text_or_empty(entry.target_id);
            lines.push(DocLine::new(Tone::Text, &row(tree, &target).unwrap_or(target)));
        }
        EntryKind::SessionInfo => {
            let name = text_or_empty(entry.name);
            lines.title(Tone::Label, if name.is_empty() { "name cleared" } else { "session named" });
            lines.plain(Tone::Text, &name, false);
        }
        EntryKind::ModelChange => {
            lines.title(Tone::Meta, "model changed to");
            lines.push(DocLine::new(
                Tone::Text,
                &format!("{} {}", text_or_empty(entry.provider), text_or_empty(entry.model_id)),
            ));
        }
        EntryKind::ThinkingLevel => {
            lines.title(Tone::Meta, "thinking level changed to");
            lines.push(DocLine::new(Tone::Text, &text_or_empty(entry.thinking_level)));
        }
        EntryKind::Custom => {
            lines.title(Tone::Meta, &text_or_empty(entry.custom_type));
            lines.json(entry.data.unwrap_or_default());
        }
        EntryKind::Usage | EntryKind::ContextEdit | EntryKind::Unknown => lines.json(line),
    }
}

/// Renders a system message: its text, the prompt sections that it sets, and the tools that it adds or removes.
fn system(lines: &mut Document<'_>, message: &Message<'_>) {
    lines.title(Tone::Meta, "system message from pi");
    if message.content.texts().any(|text| !text.is_empty()) {
        content(lines, &message.content, &[]);
    }
    for (name, text) in message.sections() {
        match text {
            Some(text) => {
                lines.title(Tone::Meta, &name);
                lines.plain(Tone::Text, &text.text(), false);
            }
            None => lines.title(Tone::Meta, &format!("{name} removed")),
        }
        lines.push(DocLine::default());
    }
    for (name, description) in message.tools_added() {
        lines.title(Tone::Tool, &format!("tool added: {}", name.text()));
        lines.plain(Tone::Text, &description.text(), false);
        lines.push(DocLine::default());
    }
    for (name, _) in message.tools_removed() {
        lines.title(Tone::Tool, &format!("tool removed: {}", name.text()));
    }
}

/// Renders a prompt, with each block before it in one line.
fn prompt(lines: &mut Document<'_>, message: &Message<'_>) {
    let Some(text) = message.content.texts().next().map(Str::owned) else {
        return message_content(lines, message, &[]);
    };
    let (blocks, rest) = typed_prompt::split(&text);
    if blocks.is_empty() {
        return message_content(lines, message, &[]);
    }
    for (block, text) in blocks {
        lines.title(Tone::Dim, &block.title(text.lines().count()));
    }
    lines.push(DocLine::default());
    lines.markdown(rest);
    let blocks = message.content.blocks();
    let first = blocks.iter().position(|block| matches!(block, Block::Text(_)));
    for (_, other) in blocks.iter().enumerate().filter(|(at, _)| Some(*at) != first) {
        lines.push(DocLine::default());
        content_block(lines, other, &[]);
    }
}

fn message_content(lines: &mut Document<'_>, message: &Message<'_>, others: &[&Message<'_>]) {
    content(lines, &message.content, others);
    if let Some(summary) = message.summary {
        lines.markdown(&summary.text());
    }
}

/// Renders a tool result below its call.
fn tool_result(lines: &mut Document<'_>, message: &Message<'_>, others: &[&Message<'_>]) {
    let id = message.tool_call_id.unwrap_or_default();
    match others.iter().find_map(|other| other.content.tool_call(id)) {
        Some(call) => tool(lines, call, Some(message)),
        None => {
            let name = message.tool_name.map_or("tool".into(), Str::owned);
            lines.title(Tone::Tool, &format!("result of {name} (call not found nearby)"));
            result(lines, message, "");
        }
    }
}

fn bash(lines: &mut Document<'_>, message: &Message<'_>) {
    lines.title(Tone::Tool, "run by the user");
    lines.code("bash", &text_or_empty(message.command));
    lines.push(DocLine::default());
    lines.plain(Tone::Text, &text_or_empty(message.output), true);
    if let Some(code) = message.exit_code.filter(|&code| code != 0.0) {
        lines.push(DocLine::new(Tone::Error, &format!("exit code {code}")));
    }
    if message.excluded {
        lines.push(DocLine::new(Tone::Dim, "not sent to the model"));
    }
}

/// Renders content blocks. Tool calls are shown with their results from `others`.
fn content(lines: &mut Document<'_>, content: &Content<'_>, others: &[&Message<'_>]) {
    let blocks = match content {
        Content::Missing | Content::Null => return lines.push(DocLine::new(Tone::Dim, "(no content)")),
        Content::Text(text) => return lines.markdown(&text.text()),
        Content::Blocks(blocks) => blocks,
    };
    for block in blocks {
        content_block(lines, block, others);
        lines.push(DocLine::default());
    }
}

fn content_block(lines: &mut Document<'_>, block: &Block<'_>, others: &[&Message<'_>]) {
    match block {
        Block::Text(text) => lines.markdown(&text.text()),
        Block::Thinking(thinking) => {
            lines.title(Tone::Dim, "thinking");
            let thinking = thinking.text();
            lines.plain(Tone::Thinking, thinking.trim(), false);
        }
        Block::ToolCall(call) => {
            let is_its = |other: &&&Message<'_>| other.tool_call_id.is_some_and(|id| call.id.is(&id.text()));
            tool(lines, call, others.iter().find(is_its).copied());
        }
        Block::Image { mime, bytes, data } => {
            lines.push(image(*mime, *data, *bytes));
        }
        Block::Other { type_name, raw } => {
            lines.title(Tone::Meta, &type_name.text());
            lines.json(raw);
        }
        Block::Broken => lines.push(DocLine::new(Tone::Warning, "(invalid block: not an object)")),
    }
}

/// Renders a tool call, and its result if there is one.
fn tool(lines: &mut Document<'_>, call: &ToolCall<'_>, answer: Option<&Message<'_>>) {
    let args = Fields::new(call.arguments);
    lines.title(Tone::Tool, &tool_call::describe(call, &args, ""));
    let path = args.text(if args.get("path").is_some() { "path" } else { "file_path" });
    let language = code::language_of(&path);
    match &*call.name.bytes() {
        b"bash" => {
            // The title shows only the start of the command.
            let command = args.text("command");
            if command.len() > 50 || command.contains('\n') {
                lines.code("bash", &command);
            }
        }
        b"read" | b"ls" | b"grep" | b"find" => {}
        b"write" => lines.code(language, &args.text("content")),
        b"codemode" if args.get("code").is_some() => lines.code("javascript", &args.text("code")),
        b"edit" => {
            let done = answer.and_then(|answer| answer.diff);
            match done {
                Some(done) => lines.diff(&done.text()),
                None => requested_edit(lines, &args),
            }
        }
        _ => lines.json(call.arguments),
    }
    if let Some(answer) = answer {
        for nested in answer.nested_calls() {
            lines.push(DocLine::default());
            tool(lines, &nested.call, None);
            if let Some(error) = nested.error {
                lines.plain(Tone::Error, &error.text(), true);
            } else if nested.is_unfinished {
                lines.push(DocLine::new(Tone::Warning, "unfinished"));
            }
        }
        // The content of a read file is highlighted in its language.
        result(lines, answer, if call.name.is("read") { language } else { "" });
    }
}

/// Renders the edit that a call requested, for results without a diff.
fn requested_edit(lines: &mut Document<'_>, args: &Fields<'_>) {
    let mut change = |args: &Fields<'_>| {
        if let (Some(old), Some(new)) = (args.get("oldText"), args.get("newText")) {
            lines.change(&old.text(), &new.text(), CONTEXT);
        }
    };
    change(args);
    if let Some(edits) = args.raw("edits") {
        items(edits).for_each(|edit| change(&Fields::new(edit)));
    }
}

fn result(lines: &mut Document<'_>, answer: &Message<'_>, language: &str) {
    lines.push(DocLine::default());
    if answer.never_ran() {
        lines.push(DocLine::new(Tone::Warning, "not run"));
    } else if answer.is_error {
        lines.push(DocLine::new(Tone::Error, "failed"));
    }
    let mut has_output = false;
    for text in answer.content.texts().map(Str::text) {
        has_output |= !text.is_empty();
        if answer.is_error {
            lines.plain(Tone::Error, &text, true);
        } else if !code::is_known(language) {
            lines.plain(Tone::Text, &text, true);
        } else {
            lines.code(language, &text);
        }
    }
    if let Content::Blocks(blocks) = &answer.content {
        for block in blocks {
            if let Block::Image { mime, bytes, data } = block {
                has_output = true;
                lines.push(image(*mime, *data, *bytes));
            }
        }
    }
    answer.unseen_note().into_iter().for_each(|note| lines.push(DocLine::new(Tone::Warning, &note)));
    if !has_output {
        lines.push(DocLine::new(Tone::Dim, "(no output)"));
    }
}

/// Describes an image: its type, its size in pixels, if that is at the start of the data, and in bytes.
fn image(mime: Str<'_>, data: Str<'_>, bytes: usize) -> DocLine {
    let pixels = pixels(&data.bytes()).map_or(String::new(), |[width, height]| format!(" {width}×{height},"));
    DocLine::new(Tone::Meta, &format!("[{}{pixels} {}]", mime.text(), numbers::bytes(bytes as u64)))
}

/// The number of bytes in base64 in which the size of an image is searched.
const IMAGE_START: usize = 1 << 16;

/// Returns the width and the height of a PNG, GIF or JPEG image by the start of its data.
fn pixels(base64: &[u8]) -> Option<[usize; 2]> {
    let data = BASE64_STANDARD.decode(&base64[..base64.len().min(IMAGE_START) / 4 * 4]).ok()?;
    let number = |bytes: std::ops::Range<usize>| {
        Some(data.get(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    if data.starts_with(b"\x89PNG") {
        return Some([number(16..20)?, number(20..24)?]);
    }
    if data.starts_with(b"GIF8") {
        let little = |at: usize| Some(number(at..at + 1)? | number(at + 1..at + 2)? << 8);
        return Some([little(6)?, little(8)?]);
    }
    let mut at = 2;
    while data.starts_with(b"\xff\xd8") {
        match number(at..at + 2)? {
            0xffc4 | 0xffc8 | 0xffcc => {}
            0xffc0..=0xffcf => return Some([number(at + 7..at + 9)?, number(at + 5..at + 7)?]),
            _ => {}
        }
        at += 2 + number(at + 2..at + 4)?;
    }
    None
}

/// Returns the images of an entry and of its [`related`] entries that a viewer can show, with their file extensions.
pub fn images(line: &[u8], related: &[Vec<u8>]) -> Vec<(&'static str, Vec<u8>)> {
    let mut images = Vec::new();
    for line in [line].into_iter().chain(related.iter().map(Vec::as_slice)) {
        let entry = parse::entry(line);
        let Some(Content::Blocks(blocks)) = entry.message.as_ref().map(|message| &message.content) else { continue };
        for block in blocks {
            let Block::Image { mime, data, .. } = block else { continue };
            // The session must not choose another program by an extension.
            let known = ["png", "jpeg", "gif", "webp"];
            let extension = known.into_iter().find(|known| mime.text().strip_prefix("image/") == Some(known));
            images.extend(extension.zip(BASE64_STANDARD.decode(&*data.bytes()).ok()));
        }
    }
    images
}

/// Returns the row text of the entry with the given id.
fn row(tree: &Tree, id: &str) -> Option<String> {
    tree.find(id).map(|at| tree.node(at).words().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_image_is_at_its_start() {
        let size = |data: &[u8]| pixels(BASE64_STANDARD.encode(data).as_bytes());
        assert_eq!(size(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x03\x20\x08\x06"), Some([1024, 800]));
        assert_eq!(size(b"GIF89a\x40\x01\xf0\0\0\0"), Some([320, 240]));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04AB\xff\xc4\0\x02\xff\xc2\0\x0b\x08\x02\x58\x03\x20\x03";
        assert_eq!(size(jpeg), Some([800, 600]));
        for cut in 0..jpeg.len() {
            let _ = size(&jpeg[..cut]);
        }
        assert_eq!((size(b"GIF8"), size(b"\x89PNG"), size(b"RIFF"), pixels(b"?!")), (None, None, None, None));
    }

    #[test]
    fn only_known_images_are_opened() {
        let block = |mime: &str| format!(r#"{{"type":"image","mimeType":"{mime}","data":"AAAA"}}"#);
        let blocks =
            [block("image/png"), block("image/x-desktop"), block("text/html"), block("image/../a.png")].join(",");
        let line = format!(r#"{{"type":"message","id":"a","message":{{"role":"user","content":[{blocks}]}}}}"#);
        assert_eq!(images(line.as_bytes(), &[line.clone().into_bytes()]), vec![("png", vec![0; 3]); 2]);
    }
}
