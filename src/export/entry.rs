//! An entry as lines for the reader, with parts that can be folded, or as source text: text, thinking, tool calls with
//! their results, usage and time.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::base::numbers;
use crate::base::text::{Span, Tone};
use crate::export::document::{BlockRole, Detail, Part, ToolPart};
use crate::export::markdown::image_address;
use crate::export::parts::{Builder, EditedEntry, NO_RESULT};
use crate::render::document::Document;
use crate::render::{DocLine, FoldedLines};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::NEARBY;
use crate::session::entry::{Block, Content, Entry, Message, parse};
use crate::session::tree::node::EntryOutcome;
use crate::session::tree::{EntryIndex, Tree};
use crate::session::write::context_edit::EditEffect;

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

/// The line of an entry, and that of the context edit that is in force for it.
#[derive(Debug)]
pub struct Body {
    /// The line of the entry.
    pub line: Vec<u8>,
    /// The line of the edit.
    pub edit: Option<Vec<u8>>,
}

impl Body {
    /// Parses the entry.
    pub(super) fn entry(&self) -> EditedEntry<'_> {
        let effect = self.edit.as_ref().and_then(|edit| EditEffect::new(&self.line, edit));
        (parse::entry(&self.line), effect)
    }
}

/// Renders an entry for the reader, without the calls that have results: those are entries of their own. `related` holds
/// the [`related`] entries. `clock` returns the time spent so far.
pub fn document(
    tree: &Tree,
    at: EntryIndex,
    (body, related): (&Body, &[Body]),
    zone: &jiff::tz::TimeZone,
    clock: &dyn Fn() -> Duration,
) -> FoldedLines {
    let mut lines = Document::new(clock);
    fill(&mut lines, (tree, at), (body, related), zone);
    lines.into_folded()
}

/// Returns the source text of an entry: Markdown, code and tabs unchanged, safe for a terminal.
pub fn source_text(
    tree: &Tree,
    at: EntryIndex,
    (body, related): (&Body, &[Body]),
    zone: &jiff::tz::TimeZone,
) -> String {
    let mut text = Document::raw(&|| Duration::ZERO);
    fill(&mut text, (tree, at), (body, related), zone);
    text.into_text().trim_end().to_owned() + "\n"
}

/// Renders the lines of an entry and of its [`related`] entries in the session file.
pub fn raw(body: &Body, related: &[Body], clock: &dyn Fn() -> Duration) -> Vec<DocLine> {
    let mut lines = Document::new(clock);
    for (at, body) in [body].into_iter().chain(related).enumerate() {
        if at > 0 {
            lines.push(DocLine::default());
        }
        lines.json(&body.line);
    }
    lines.into_folded().lines
}

fn fill(
    lines: &mut Document<'_>,
    (tree, at): (&Tree, EntryIndex),
    (body, related): (&Body, &[Body]),
    zone: &jiff::tz::TimeZone,
) {
    let edited = body.entry();
    let others: Vec<EditedEntry<'_>> = related.iter().map(Body::entry).collect();
    let mut builder = Builder::new(Detail::WHOLE, &others);
    builder.leaves_out_answered = !lines.is_raw();
    let (role, title) = builder.entry(&edited, &body.line);
    let (parts, _) = builder.finish();
    let (entry, _) = edited;
    let has_head = !matches!(role, BlockRole::Tool | BlockRole::Note) && !tree.node(at).silent;
    if lines.is_raw() || has_head {
        head(lines, (tree, at), &entry, role, zone);
    }
    if let Some(label) = tree.labels.get(&at) {
        lines.push(DocLine::new(Tone::Label, &format!("[{}]", label.text)));
    }
    if tree.node(at).outcome == EntryOutcome::Aborted {
        lines.push(DocLine::warning("aborted"));
    }
    if lines.is_raw() {
        lines.push(DocLine::default());
    }
    if !title.is_empty() {
        lines.title(role_tone(role), &title);
    }
    // The first entry that the compaction keeps.
    if let Some(kept) = entry.first_kept_id.and_then(|id| tree.find(&id.text())) {
        let kept = tree.node(kept).words().to_owned();
        lines.push(DocLine::of(vec![Span::dim("kept from: "), Span::text(kept)]));
    }
    self::parts(lines, &parts);
    if parts.is_empty()
        && title.is_empty()
        && entry.message.as_ref().is_none_or(|message| message.content.tool_calls().next().is_none())
    {
        lines.push(DocLine::dim("(no content)"));
    }
}

fn role_tone(role: BlockRole) -> Tone {
    match role {
        BlockRole::Prompt => Tone::User,
        BlockRole::Answer => Tone::Assistant,
        BlockRole::Tool => Tone::Tool,
        BlockRole::Summary => Tone::Summary,
        BlockRole::Message | BlockRole::Note => Tone::Meta,
    }
}

/// Renders who speaks, and the time, the model and the usage of an entry.
fn head(
    lines: &mut Document<'_>,
    (tree, at): (&Tree, EntryIndex),
    entry: &Entry<'_>,
    role: BlockRole,
    zone: &jiff::tz::TimeZone,
) {
    let node = tree.node(at);
    let mut facts = Vec::new();
    if let Some(time) = node.time.and_then(|time| jiff::Timestamp::from_millisecond(time).ok()) {
        facts.push(time.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string());
    }
    let message = entry.message.as_ref();
    facts.extend(message.and_then(model_name));
    if let Some(level) = message.and_then(|message| message.thinking_level) {
        facts.push(format!("thinking {}", level.text()));
    }
    facts.extend(message.and_then(|message| message.duration_ms).map(numbers::duration));
    if let Some(usage) = entry.used().filter(|usage| usage.tokens > 0.0 || lines.is_raw()) {
        facts.push(format!("{} tokens", numbers::tokens(usage.tokens)));
        let cost = numbers::dollars(usage.cost);
        facts.push(if usage.is_billed { format!("{cost} billed") } else { cost });
    }
    facts.extend(node.id.as_ref().filter(|_| lines.is_raw()).map(|id| format!("id {id}")));
    let who = match role {
        BlockRole::Prompt => "you  ",
        BlockRole::Answer => "pi  ",
        _ => "",
    };
    let who = Span::new(role_tone(role), if lines.is_raw() { "" } else { who });
    lines.push(DocLine::of(vec![who, Span::clean(Tone::Dim, &facts.join(" · "))]));
}

/// Returns the requested model, and the model that the provider reports if it differs.
fn model_name(message: &Message<'_>) -> Option<String> {
    let asked = message.model?.owned();
    let answered = message.response_model.map(|model| model.text()).filter(|answered| *answered != asked);
    Some(answered.map_or_else(|| asked.clone(), |answered| format!("{asked} as {answered}")))
}

fn parts(lines: &mut Document<'_>, parts: &[Part]) {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 && (lines.is_raw() || !(is_title(part) && is_title(&parts[at - 1]))) {
            lines.push(DocLine::default());
        }
        self::part(lines, part);
    }
}

/// Returns `true` for a part of one line while it is folded.
fn is_title(part: &Part) -> bool {
    matches!(part, Part::Tool(_) | Part::Folded { .. } | Part::Thinking(_) | Part::Note(_))
}

fn part(lines: &mut Document<'_>, part: &Part) {
    let title = |name: &str, text: &str| format!("{name}, {}", numbers::count(text.lines().count(), "line", "lines"));
    match part {
        Part::Markdown(text) => lines.markdown(text),
        Part::Thinking(text) => {
            let text = text.trim();
            lines.fold(DocLine::dim(&title("thinking", text)), false, |lines| lines.plain(Tone::Thinking, text, false));
        }
        Part::Folded { title: name, text } => {
            lines.fold(DocLine::dim(&title(name, text)), false, |lines| lines.plain(Tone::Dim, text, false));
        }
        Part::Code(language, text) => lines.code(language, text),
        Part::Plain(text) => lines.plain(Tone::Text, text, true),
        Part::Diff(text) => lines.diff(text),
        Part::Error(text) => lines.plain(Tone::Error, text, true),
        Part::Note(text) => lines.title(Tone::Warning, text),
        Part::Section(name, text) => {
            lines.title(Tone::Meta, name);
            lines.plain(Tone::Text, text, false);
        }
        Part::Tool(tool) => self::tool(lines, tool),
        Part::Image { mime, bytes, data } => {
            let pixels = pixels(data.as_bytes());
            let size = pixels.map_or(String::new(), |[width, height]| format!(" {width}×{height},"));
            let line = DocLine::new(Tone::Meta, &format!("[{mime}{size} {}]", numbers::bytes(*bytes as u64)));
            // Only what is Base64 goes to a terminal.
            let is_png = mime == "image/png" && image_address(mime, data).is_some();
            lines.image(line, pixels.unwrap_or([0; 2]), if is_png { data } else { "" });
        }
    }
}

/// Renders a call, folded unless it failed or changed a file.
fn tool(lines: &mut Document<'_>, tool: &ToolPart) {
    let separator = if tool.about.is_empty() { "" } else { ": " };
    let mut title = vec![Span::clean(Tone::Tool, &format!("[{}{separator}{}]", tool.name, tool.about))];
    if !tool.failed.is_empty() {
        title.insert(0, Span::new(Tone::Error, "failed "));
    }
    let is_answered = !matches!(tool.parts.last(), Some(Part::Note(note)) if note == NO_RESULT);
    title.extend((!tool.edited.is_empty()).then(|| Span::new(Tone::Warning, format!("  {}", tool.edited))));
    lines.fold(DocLine::of(title), is_answered && tool.is_open(), |lines| parts(lines, &tool.parts));
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
pub fn images(body: &Body, related: &[Body]) -> Vec<(&'static str, Vec<u8>)> {
    let mut images = Vec::new();
    for body in [body].into_iter().chain(related) {
        let entry = parse::entry(&body.line);
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
        let body = || Body { line: line.clone().into_bytes(), edit: None };
        assert_eq!(images(&body(), &[body()]), vec![("png", vec![0; 3]); 2]);
    }
}
