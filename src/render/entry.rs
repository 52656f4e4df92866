//! An entry in full: what was said, thought and called, with what the tools answered, what it used, and when.

use crate::base::numbers;
use crate::base::text::{Span, Tone};
use crate::render::{DocLine, code, diff, markdown, plain};
use crate::session::entry::call::{self, NEARBY};
use crate::session::entry::kind::Kind;
use crate::session::entry::read;
use crate::session::entry::{Block, Content, Entry, Message, ToolCall};
use crate::session::json::Str;
use crate::session::json::data::{Fields, items, pretty};
use crate::session::tree::node::Outcome;
use crate::session::tree::{Index, Tree};

/// Lines around a change in a diff.
const CONTEXT: usize = 3;

/// The entries that are shown with one: an assistant's tool results, a result's call.
pub fn related(tree: &Tree, at: Index) -> Vec<Index> {
    let kind = |at: Index| tree.nodes[at as usize].kind;
    match kind(at) {
        Kind::ToolResult => std::iter::successors(tree.parent(at), |&at| tree.parent(at))
            .take(NEARBY)
            .find(|&at| kind(at) == Kind::Assistant)
            .into_iter()
            .collect(),
        Kind::Assistant => {
            let result = |at: Index| tree.children(at).iter().copied().find(|&child| kind(child) == Kind::ToolResult);
            std::iter::successors(result(at), |&at| result(at)).take(NEARBY).collect()
        }
        Kind::User
        | Kind::Bash
        | Kind::SystemRole
        | Kind::CustomRole
        | Kind::SummaryRole
        | Kind::OtherMessage
        | Kind::CustomMessage
        | Kind::Compaction
        | Kind::BranchSummary
        | Kind::ModelChange
        | Kind::ThinkingLevel
        | Kind::Custom
        | Kind::Label
        | Kind::SessionInfo
        | Kind::Usage
        | Kind::ContextEdit
        | Kind::Unknown => Vec::new(),
    }
}

/// Everything that is known of an entry. `line` is its line in the file, `related` those of [`related`].
pub fn document(tree: &Tree, at: Index, line: &[u8], related: &[Vec<u8>], zone: &jiff::tz::TimeZone) -> Vec<DocLine> {
    let parse = |line| read::line(line).ok().flatten().unwrap_or_default();
    let entry = parse(line);
    let others: Vec<Entry<'_>> = related.iter().map(|line| parse(line)).collect();
    let mut lines = head(tree, at, &entry, zone);
    lines.push(DocLine::default());
    body(&mut lines, tree, &entry, &others, line);
    while lines.last().is_some_and(|line| line.spans.is_empty()) {
        lines.pop();
    }
    lines
}

/// When and by whom it was written, what it used, how it is labelled.
fn head(tree: &Tree, at: Index, entry: &Entry<'_>, zone: &jiff::tz::TimeZone) -> Vec<DocLine> {
    let node = &tree.nodes[at as usize];
    let mut facts = Vec::new();
    if let Some(time) = node.time.and_then(|time| jiff::Timestamp::from_millisecond(time).ok()) {
        facts.push(time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string());
    }
    let message = entry.message.as_ref();
    facts.extend(message.and_then(|message| message.model).map(|model| model.text().into_owned()));
    if let Some(usage) = entry.used() {
        facts.push(format!("{} tokens", numbers::tokens(usage.tokens)));
        facts.push(numbers::dollars(usage.cost));
    }
    facts.extend(node.id.as_ref().map(|id| format!("id {id}")));
    let mut lines = vec![DocLine::new(Tone::Dim, &facts.join(" · "))];
    if let Some(label) = tree.labels.get(&at) {
        lines.push(DocLine::new(Tone::Label, &format!("[{}]", label.text)));
    }
    if node.outcome == Outcome::Aborted {
        lines.push(DocLine::new(Tone::Warning, "aborted"));
    }
    if let Some(error) = message.and_then(|message| message.error_message) {
        lines.extend(plain(Tone::Error, &error.text()));
    }
    lines
}

fn body(lines: &mut Vec<DocLine>, tree: &Tree, entry: &Entry<'_>, others: &[Entry<'_>], line: &[u8]) {
    let text = |text: Option<Str<'_>>| text.map_or(String::new(), |text| text.text().into_owned());
    let others: Vec<&Message<'_>> = others.iter().filter_map(|entry| entry.message.as_ref()).collect();
    let none = Message::default();
    let message = entry.message.as_ref().unwrap_or(&none);
    match entry.kind {
        Kind::User | Kind::Assistant => said(lines, message, &others),
        Kind::ToolResult => answer(lines, message, &others),
        Kind::Bash => bash(lines, message),
        Kind::OtherMessage if entry.message.is_none() => json(lines, line),
        Kind::SystemRole | Kind::CustomRole | Kind::SummaryRole | Kind::OtherMessage => {
            title(lines, Tone::Meta, &message.custom_type.unwrap_or(message.role).text());
            said(lines, message, &others);
        }
        Kind::CustomMessage => {
            title(lines, Tone::Meta, &text(entry.custom_type));
            content(lines, &entry.content, &[]);
        }
        Kind::Compaction => {
            let tokens = entry.tokens_before.map_or("?".into(), numbers::tokens);
            title(lines, Tone::Summary, &format!("compaction of {tokens} tokens"));
            if let Some(id) = entry.first_kept_id {
                kept(lines, tree, &id.text());
            }
            lines.extend(markdown::markdown(&text(entry.summary)));
        }
        Kind::BranchSummary => {
            title(lines, Tone::Summary, &format!("summary of the branch that ended at {}", text(entry.from_id)));
            lines.extend(markdown::markdown(&text(entry.summary)));
        }
        Kind::Label => {
            let label = text(entry.label);
            let what = if label.is_empty() { "label cleared on".into() } else { format!("label [{label}] set on") };
            title(lines, Tone::Label, &what);
            let target = text(entry.target_id);
            lines.push(DocLine::new(Tone::Text, &row(tree, &target).unwrap_or(target)));
        }
        Kind::SessionInfo => {
            let name = text(entry.name);
            title(lines, Tone::Label, if name.is_empty() { "name cleared" } else { "session named" });
            lines.extend(plain(Tone::Text, &name));
        }
        Kind::ModelChange => {
            title(lines, Tone::Meta, "model changed to");
            lines.push(DocLine::new(Tone::Text, &format!("{} {}", text(entry.provider), text(entry.model_id))));
        }
        Kind::ThinkingLevel => {
            title(lines, Tone::Meta, "thinking level changed to");
            lines.push(DocLine::new(Tone::Text, &text(entry.thinking_level)));
        }
        Kind::Custom => {
            title(lines, Tone::Meta, &text(entry.custom_type));
            json(lines, entry.data.unwrap_or_default());
        }
        Kind::Usage | Kind::ContextEdit | Kind::Unknown => json(lines, line),
    }
}

fn said(lines: &mut Vec<DocLine>, message: &Message<'_>, others: &[&Message<'_>]) {
    content(lines, &message.content, others);
    if let Some(summary) = message.summary {
        lines.extend(markdown::markdown(&summary.text()));
    }
}

/// A tool's answer, below its call.
fn answer(lines: &mut Vec<DocLine>, message: &Message<'_>, others: &[&Message<'_>]) {
    let id = message.tool_call_id.unwrap_or_default();
    match others.iter().find_map(|other| other.content.tool_call(id)) {
        Some(call) => tool(lines, call, Some(message)),
        None => {
            let name = message.tool_name.map_or("tool".into(), |name| name.text().into_owned());
            title(lines, Tone::Tool, &format!("result of {name}, whose call is not near"));
            result(lines, message, "");
        }
    }
}

fn bash(lines: &mut Vec<DocLine>, message: &Message<'_>) {
    let command = message.command.map_or(String::new(), |command| command.text().into_owned());
    title(lines, Tone::Tool, "run by the user");
    lines.extend(code::highlight("bash", &command).into_iter().map(DocLine::verbatim));
    lines.push(DocLine::default());
    lines.extend(plain(Tone::Text, &message.output.map_or(String::new(), |output| output.text().into_owned())));
    if let Some(code) = message.exit_code.filter(|&code| code != 0.0) {
        lines.push(DocLine::new(Tone::Error, &format!("exit code {code}")));
    }
    if message.excluded {
        lines.push(DocLine::new(Tone::Dim, "not shown to the model"));
    }
}

/// The blocks of a content; tool calls with their results among `others`.
fn content(lines: &mut Vec<DocLine>, content: &Content<'_>, others: &[&Message<'_>]) {
    let blocks = match content {
        Content::Missing | Content::Null => return lines.push(DocLine::new(Tone::Dim, "(no content)")),
        Content::Text(text) => return lines.extend(markdown::markdown(&text.text())),
        Content::Blocks(blocks) => blocks,
    };
    for block in blocks {
        match block {
            Block::Text(text) => lines.extend(markdown::markdown(&text.text())),
            Block::Thinking(thinking) => {
                title(lines, Tone::Dim, "thinking");
                let thinking = thinking.text();
                let said = plain(Tone::Thinking, thinking.trim());
                lines.extend(said.into_iter().map(|line| DocLine { verbatim: false, ..line }));
            }
            Block::ToolCall(call) => {
                let is_its = |other: &&&Message<'_>| other.tool_call_id.is_some_and(|id| call.id.is(&id.text()));
                tool(lines, call, others.iter().find(is_its).copied());
            }
            Block::Image { mime, bytes } => {
                lines.push(image(*mime, *bytes));
            }
            Block::Other { type_name, raw } => {
                title(lines, Tone::Meta, &type_name.text());
                json(lines, raw);
            }
            Block::Broken => lines.push(DocLine::new(Tone::Warning, "(a block that is no object)")),
        }
        lines.push(DocLine::default());
    }
}

/// A call and what the tool answered, if that is known.
fn tool(lines: &mut Vec<DocLine>, call: &ToolCall<'_>, answer: Option<&Message<'_>>) {
    title(lines, Tone::Tool, &call::describe(call, ""));
    let args = Fields::new(call.arguments);
    let text = |name: &str| args.get(name).map_or(String::new(), |value| value.text().into_owned());
    let path = text(if args.get("path").is_some() { "path" } else { "file_path" });
    let language = code::language_of(&path);
    match &*call.name.bytes() {
        b"bash" => {
            // The title has the start of the command only.
            let command = text("command");
            if command.len() > 50 || command.contains('\n') {
                lines.extend(code::highlight("bash", &command).into_iter().map(DocLine::verbatim));
            }
        }
        b"read" | b"ls" | b"grep" | b"find" => {}
        b"write" => lines.extend(code::highlight(language, &text("content")).into_iter().map(DocLine::verbatim)),
        b"edit" => {
            let done = answer.and_then(|answer| answer.diff);
            lines.extend(done.map_or_else(|| wanted_edit(&args), |done| diff::styled(&done.text())));
        }
        _ => json(lines, call.arguments),
    }
    if let Some(answer) = answer {
        // A file that was read is shown as what it is.
        result(lines, answer, if call.name.is("read") { language } else { "" });
    }
}

/// The change that a call asked for, where the answer does not say what was done.
fn wanted_edit(args: &Fields<'_>) -> Vec<DocLine> {
    let change = |args: &Fields<'_>| {
        let text = |name| args.get(name).map(|value| value.text().into_owned());
        Some(diff::between(&text("oldText")?, &text("newText")?, CONTEXT))
    };
    let mut lines = change(args).unwrap_or_default();
    if let Some(entry_edits) = args.get("edits").and_then(|edits| edits.raw()) {
        lines.extend(items(entry_edits).into_iter().filter_map(|edit| change(&Fields::new(edit))).flatten());
    }
    lines
}

fn result(lines: &mut Vec<DocLine>, answer: &Message<'_>, language: &str) {
    lines.push(DocLine::default());
    if answer.is_error {
        lines.push(DocLine::new(Tone::Error, "failed"));
    }
    let mut said = false;
    for text in answer.content.texts().map(Str::text) {
        said |= !text.is_empty();
        if answer.is_error {
            lines.extend(plain(Tone::Error, &text));
        } else if language.is_empty() {
            lines.extend(plain(Tone::Text, &text));
        } else {
            lines.extend(code::highlight(language, &text).into_iter().map(DocLine::verbatim));
        }
    }
    if let Content::Blocks(blocks) = &answer.content {
        for block in blocks {
            if let Block::Image { mime, bytes } = block {
                said = true;
                lines.push(image(*mime, *bytes));
            }
        }
    }
    if !said {
        lines.push(DocLine::new(Tone::Dim, "(no output)"));
    }
}

fn image(mime: Str<'_>, bytes: usize) -> DocLine {
    DocLine::new(Tone::Meta, &format!("[{} {}]", mime.text(), numbers::bytes(bytes as u64)))
}

fn title(lines: &mut Vec<DocLine>, tone: Tone, text: &str) {
    lines.push(DocLine::new(tone, text));
}

fn json(lines: &mut Vec<DocLine>, raw: &[u8]) {
    lines.extend(code::highlight("json", &pretty(raw)).into_iter().map(DocLine::verbatim));
}

/// From where on the entries before a compaction are kept.
fn kept(lines: &mut Vec<DocLine>, tree: &Tree, id: &str) {
    if let Some(row) = row(tree, id) {
        lines.push(DocLine::of(vec![Span::new(Tone::Dim, "kept from: "), Span::new(Tone::Text, row)]));
        lines.push(DocLine::default());
    }
}

/// The row text of the entry with an id.
fn row(tree: &Tree, id: &str) -> Option<String> {
    tree.find(id).map(|at| tree.nodes[at as usize].text.to_string())
}
