//! The parts of an entry in a document: its text, thinking, images, and tool calls with their results.

use crate::base::numbers;
use crate::base::text::spans_text;
use crate::export::document::{BlockRole, Detail, Part, ToolDetail, ToolPart, one_line};
use crate::render::{code, diff};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::CallDescription;
use crate::session::entry::{Block, Content, Entry, Message, ToolCall, parse, row, typed_prompt};
use crate::session::json::value::{Fields, items, readable};
use crate::session::json::{Str, text_or_empty};
use crate::session::write::context_edit::EditEffect;

/// The note of a call without a result.
pub(super) const NO_RESULT: &str = "no result";

/// The number of context lines around a change in a diff.
const CONTEXT: usize = 3;

/// An entry, and the effect of a context edit on it.
pub(crate) type EditedEntry<'a> = (Entry<'a>, Option<EditEffect>);

/// Builds the parts of one entry.
pub(crate) struct Builder<'a> {
    detail: Detail,
    /// The results that can belong to calls of the entry, and whether they do.
    answers: &'a [EditedEntry<'a>],
    is_used: Vec<bool>,
    /// `true` to leave out calls that have results, and to show a result with its call.
    pub(crate) leaves_out_answered: bool,
    parts: Vec<Part>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(detail: Detail, answers: &'a [EditedEntry<'a>]) -> Self {
        Self { detail, answers, is_used: vec![false; answers.len()], leaves_out_answered: false, parts: Vec::new() }
    }

    /// Returns the parts, and `true` for each used answer.
    pub(crate) fn finish(self) -> (Vec<Part>, Vec<bool>) {
        (self.parts, self.is_used)
    }

    /// Adds an entry. Returns its role and title. The title of a message is its beginning and thus empty here.
    pub(crate) fn entry(&mut self, edited: &EditedEntry<'_>, line: &[u8]) -> (BlockRole, String) {
        let (entry, edit) = edited;
        let none = Message::default();
        let message = entry.message.as_ref().unwrap_or(&none);
        let error = message.error_message.map(Str::owned);
        let done = match entry.kind {
            EntryKind::User => {
                self.content(&message.content);
                self.split_blocks();
                (BlockRole::Prompt, String::new())
            }
            EntryKind::Assistant => {
                self.content(&message.content);
                self.parts.extend(message.diagnostics().into_iter().map(Part::Note));
                (BlockRole::Answer, String::new())
            }
            EntryKind::ToolResult => {
                if self.detail.tools != ToolDetail::None {
                    let id = message.tool_call_id.unwrap_or_default();
                    let others = self.answers.iter().filter_map(|(entry, _)| entry.message.as_ref());
                    let part = match others.filter_map(|other| other.content.tool_call(id)).next() {
                        Some(call) => self.tool(call, Some(edited)),
                        None => {
                            let name = message.tool_name.map_or("tool".into(), |name| one_line(&name.text()));
                            let mut part = ToolPart { name, about: "result".into(), ..ToolPart::default() };
                            self.result(&mut part, edited, "");
                            part
                        }
                    };
                    self.push_tool(part);
                }
                (BlockRole::Tool, String::new())
            }
            EntryKind::Bash => {
                let command = text_or_empty(message.command);
                if command.len() > 80 || command.contains('\n') {
                    self.parts.push(Part::Code("bash".into(), command.clone()));
                }
                self.bash_output(message);
                (BlockRole::Prompt, format!("$ {}", one_line(&command)))
            }
            EntryKind::SystemRole => {
                self.system(message);
                (BlockRole::Message, "System message from pi".into())
            }
            EntryKind::OtherMessage if entry.message.is_none() => {
                self.json(line);
                (BlockRole::Message, "Message without content".into())
            }
            EntryKind::CustomRole | EntryKind::SummaryRole | EntryKind::OtherMessage => {
                self.content(&message.content);
                self.parts.extend(message.summary.map(|summary| Part::Markdown(summary.owned())));
                let role = if entry.kind == EntryKind::SummaryRole { BlockRole::Summary } else { BlockRole::Message };
                (role, one_line(&message.custom_type.unwrap_or(message.role).text()))
            }
            EntryKind::CustomMessage => {
                self.content(&entry.content);
                (BlockRole::Message, one_line(&text_or_empty(entry.custom_type)))
            }
            EntryKind::Compaction => {
                self.parts.push(Part::Markdown(text_or_empty(entry.summary)));
                if let Some(raw) = entry.system_message {
                    self.system(&parse::message(raw));
                }
                let tokens = entry.tokens_before.map(|tokens| format!(" of {} tokens", numbers::tokens(tokens)));
                (BlockRole::Summary, format!("Compaction{}", tokens.unwrap_or_default()))
            }
            EntryKind::BranchSummary => {
                self.parts.push(Part::Markdown(text_or_empty(entry.summary)));
                (BlockRole::Summary, "Summary of another branch".into())
            }
            EntryKind::ModelChange => {
                let model = format!("{}/{}", text_or_empty(entry.provider), text_or_empty(entry.model_id));
                (BlockRole::Note, format!("Model: {}", one_line(&model)))
            }
            EntryKind::ThinkingLevel => {
                (BlockRole::Note, format!("Thinking level: {}", one_line(&text_or_empty(entry.thinking_level))))
            }
            EntryKind::Custom => {
                if self.leaves_out_answered {
                    self.json(entry.data.unwrap_or_default());
                }
                (BlockRole::Note, format!("Extension data: {}", one_line(&text_or_empty(entry.custom_type))))
            }
            EntryKind::Label | EntryKind::SessionInfo | EntryKind::Usage => (BlockRole::Note, one_line(&entry.text())),
            EntryKind::ContextEdit => (BlockRole::Note, row::text(entry)),
            EntryKind::Unknown => {
                self.json(line);
                (BlockRole::Message, format!("Entry of type {}", one_line(&entry.type_name.text())))
            }
        };
        self.parts.extend(error.map(Part::Error));
        // Runs of calls stay together: their results have marks of their own.
        let last = self.parts.iter().rposition(|part| !part.is_in_run());
        if let Some((effect, last)) = edit.as_ref().zip(last) {
            self.parts.splice(last + 1..last + 1, replacement(effect));
            self.parts.insert(0, Part::Note(effect.text().into()));
        }
        done
    }

    /// Separates the blocks before a prompt, or removes the context of extensions.
    fn split_blocks(&mut self) {
        let Some(Part::Markdown(text)) = self.parts.first_mut() else { return };
        if !self.detail.blocks {
            *text = typed_prompt::without_context(text).to_owned();
            return;
        }
        let (blocks, rest) = typed_prompt::split(text);
        let folded = |(block, text): (typed_prompt::PromptBlock<'_>, &str)| Part::Folded {
            title: one_line(&block.title()),
            text: text.to_owned(),
        };
        let mut parts: Vec<Part> = blocks.into_iter().map(folded).collect();
        parts.extend((!rest.is_empty()).then(|| Part::Markdown(rest.to_owned())));
        self.parts.splice(..1, parts);
    }

    fn content(&mut self, content: &Content<'_>) {
        if let Content::Text(text) = content {
            self.markdown(*text);
        }
        for block in content.blocks() {
            match block {
                Block::Text(text) => self.markdown(*text),
                Block::Thinking(thinking) if self.detail.thinking && !thinking.text().trim().is_empty() => {
                    self.parts.push(Part::Thinking(thinking.owned()));
                }
                Block::Thinking(_) => {}
                Block::ToolCall(call) => self.call(call),
                Block::Image { mime, bytes, data } => self.parts.push(self.image(*mime, *bytes, *data)),
                Block::Other { raw, .. } => self.json(raw),
                Block::Broken => self.parts.push(Part::Note("invalid block".into())),
            }
        }
    }

    fn markdown(&mut self, text: Str<'_>) {
        let text = text.text();
        if !text.trim().is_empty() {
            self.parts.push(Part::Markdown(text.into_owned()));
        }
    }

    fn json(&mut self, raw: &[u8]) {
        self.parts.push(Part::Code("json".into(), readable(raw)));
    }

    fn image(&self, mime: Str<'_>, bytes: usize, data: Str<'_>) -> Part {
        let data = if self.detail.images { data.owned() } else { String::new() };
        Part::Image { mime: one_line(&mime.text()), bytes, data }
    }

    fn bash_output(&mut self, message: &Message<'_>) {
        let output = text_or_empty(message.output);
        if !output.trim().is_empty() && self.detail.tools == ToolDetail::Full {
            self.parts.push(Part::Plain(output));
        }
        if let Some(code) = message.exit_code.filter(|&code| code != 0.0) {
            self.parts.push(Part::Note(format!("exit code {code}")));
        }
        if message.excluded {
            self.parts.push(Part::Note("not sent to the model".into()));
        }
    }

    fn system(&mut self, message: &Message<'_>) {
        self.content(&message.content);
        let sections = message
            .sections()
            .map(|(name, text)| Part::Section(one_line(&name), text.map_or("removed".into(), Str::owned)));
        self.parts.extend(sections);
        let tools = message.tools_added().map(|(name, about)| (format!("Tool added: {}", name.text()), about));
        let tools =
            tools.chain(message.tools_removed().map(|(name, about)| (format!("Tool removed: {}", name.text()), about)));
        self.parts.extend(tools.map(|(name, about)| Part::Section(one_line(&name), about.owned())));
    }

    fn call(&mut self, call: &ToolCall<'_>) {
        if self.detail.tools == ToolDetail::None {
            return;
        }
        let mut ids = self.answers.iter().map(|(entry, _)| entry.message.as_ref().and_then(|it| it.tool_call_id));
        let place = ids.position(|id| id.is_some_and(|id| call.id.is(&id.text())));
        if self.leaves_out_answered && place.is_some() {
            return;
        }
        let answer = place.map(|place| {
            self.is_used[place] = true;
            &self.answers[place]
        });
        self.push_tool(self.tool(call, answer));
    }

    fn push_tool(&mut self, mut part: ToolPart) {
        if self.detail.tools != ToolDetail::Full {
            part.parts.clear();
        }
        self.parts.push(Part::Tool(part.into()));
    }

    /// Builds a tool call with its result and the calls that it made itself.
    fn tool(&self, call: &ToolCall<'_>, answer: Option<&EditedEntry<'_>>) -> ToolPart {
        let mut part = described(call);
        let message = answer.and_then(|(entry, _)| entry.message.as_ref());
        let language = arguments(call, message, &mut part);
        if let Some(answer) = answer {
            for nested in message.iter().flat_map(|message| message.nested_calls()) {
                let mut inner = described(&nested.call);
                arguments(&nested.call, None, &mut inner);
                inner.failed = nested.error.map(|_| "failed".into()).unwrap_or_default();
                inner.parts.extend(nested.error.map(|error| Part::Error(error.owned())));
                inner.parts.extend(nested.is_unfinished.then(|| Part::Note("unfinished".into())));
                part.parts.push(Part::Tool(inner.into()));
            }
            self.result(&mut part, answer, if call.name.is("read") { &language } else { "" });
        } else if self.leaves_out_answered {
            part.parts.push(Part::Note(NO_RESULT.into()));
        }
        part
    }

    fn result(&self, part: &mut ToolPart, (entry, edit): &EditedEntry<'_>, language: &str) {
        let Some(answer) = &entry.message else { return };
        part.edited = edit.as_ref().map_or("", EditEffect::text).into();
        part.failed = if answer.is_error && !answer.never_ran() { "failed".into() } else { String::new() };
        let before = part.parts.len();
        for text in answer.content.texts().map(Str::text).filter(|text| !text.trim().is_empty()) {
            part.parts.push(match () {
                () if answer.is_error => Part::Error(text.into_owned()),
                () if code::is_known(language) => Part::Code(language.into(), text.into_owned()),
                () => Part::Plain(text.into_owned()),
            });
        }
        for block in answer.content.blocks() {
            if let Block::Image { mime, bytes, data } = block {
                part.parts.push(self.image(*mime, *bytes, *data));
            }
        }
        if part.parts.len() == before {
            part.parts.push(Part::Note("no output".into()));
        }
        part.parts.extend(answer.unseen_note().map(Part::Note));
        part.parts.extend(edit.as_ref().and_then(replacement));
    }
}

/// Returns the content that pi sends instead.
fn replacement(effect: &EditEffect) -> Option<Part> {
    let EditEffect::Replaced(text) = effect else { return None };
    Some(Part::Folded { title: "sent instead".into(), text: text.clone() })
}

/// Describes a call on one line.
fn described(call: &ToolCall<'_>) -> ToolPart {
    let CallDescription { name, path, about } = CallDescription::new(call, &Fields::new(call.arguments));
    let separator = if path.is_empty() || about.is_empty() || about.starts_with(':') { "" } else { " " };
    let about = one_line(&format!("{path}{separator}{about}"));
    ToolPart { name: one_line(&name), about, ..ToolPart::default() }
}

/// Adds the arguments of a call, and returns the language of its file.
fn arguments(call: &ToolCall<'_>, answer: Option<&Message<'_>>, part: &mut ToolPart) -> String {
    let args = Fields::new(call.arguments);
    let path = args.text(if args.get("path").is_some() { "path" } else { "file_path" });
    let language = code::language_of(&path).to_owned();
    match &*call.name.bytes() {
        b"bash" => {
            let command = args.text("command");
            if command.len() > 80 || command.contains('\n') {
                part.parts.push(Part::Code("bash".into(), command));
            }
        }
        b"read" | b"ls" | b"grep" | b"find" => {}
        b"write" => part.parts.push(Part::Code(language.clone(), args.text("content"))),
        b"codemode" if args.get("code").is_some() => {
            part.parts.push(Part::Code("javascript".into(), args.text("code")));
        }
        b"edit" => match answer.and_then(|answer| answer.diff) {
            Some(done) => part.parts.push(Part::Diff(done.owned())),
            None => part.parts.extend(requested_edit(&args)),
        },
        _ if matches!(call.arguments, b"" | b"{}") => {}
        _ => part.parts.push(Part::Code("json".into(), readable(call.arguments))),
    }
    language
}

/// Returns the diff that an `edit` requested.
fn requested_edit(args: &Fields<'_>) -> Option<Part> {
    let mut lines = Vec::new();
    let mut change = |args: &Fields<'_>| {
        if let (Some(old), Some(new)) = (args.get("oldText"), args.get("newText")) {
            lines.extend(diff::between(&old.text(), &new.text(), CONTEXT).iter().map(|line| spans_text(&line.spans)));
        }
    };
    change(args);
    if let Some(edits) = args.raw("edits") {
        items(edits).for_each(|edit| change(&Fields::new(edit)));
    }
    (!lines.is_empty()).then(|| Part::Diff(lines.join("\n")))
}
