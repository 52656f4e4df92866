//! Builds session files as pi 0.87.1 writes them. The parent of an entry is the previous one by default.

use std::fmt::{Display, Write};
use std::path::Path;

use serde_json::{Value, json};

/// 2026-01-05T09:00:00Z, in seconds since 1970.
pub(crate) const START: i64 = 1_767_603_600;

/// A builder of a session. Its entries have an interval of one second.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) id: String,
    /// In version 1, entries have no IDs.
    version: u8,
    cwd: String,
    parent: Option<String>,
    /// The times of the header and of the last entry, in seconds since 1970.
    times: (i64, i64),
    lines: String,
    leaf: Option<String>,
    /// The cost of each answer in US dollars.
    cost: f64,
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

impl Session {
    /// Creates an old session of version 3 in a missing directory.
    pub(crate) fn new(id: &str) -> Self {
        let id = id.into();
        Self {
            id,
            version: 3,
            cwd: "/nowhere".into(),
            parent: None,
            times: (START, START),
            lines: String::new(),
            leaf: None,
            cost: 0.0,
        }
    }

    pub(crate) fn version(self, version: u8) -> Self {
        Self { version, ..self }
    }

    pub(crate) fn cwd(self, cwd: impl AsRef<Path>) -> Self {
        Self { cwd: cwd.as_ref().to_str().unwrap().into(), ..self }
    }

    /// Sets the parent session.
    pub(crate) fn parent(self, parent: &Path) -> Self {
        Self { parent: Some(parent.to_str().unwrap().into()), ..self }
    }

    /// Sets the time in seconds after the start time of test sessions.
    pub(crate) fn at(self, seconds: i64) -> Self {
        Self { times: (START + seconds, START + seconds), ..self }
    }

    /// Adds seconds before the next entry.
    pub(crate) fn later(self, seconds: i64) -> Self {
        Self { times: (self.times.0, self.times.1 + seconds), ..self }
    }

    /// Sets the cost of the following answers in US dollars.
    pub(crate) fn costing(self, cost: f64) -> Self {
        Self { cost, ..self }
    }

    /// Returns a fork with all entries, as pi writes it; the following entries are its own.
    pub(crate) fn forked(self, id: &str, parent: &Path, at: i64) -> Self {
        Self { id: id.into(), ..self.parent(parent).at(at) }
    }

    /// Sets the parent of the next entry.
    pub(crate) fn under(self, id: &str) -> Self {
        Self { leaf: Some(id.into()), ..self }
    }

    /// Makes the next entry a root.
    pub(crate) fn at_root(self) -> Self {
        Self { leaf: None, ..self }
    }

    pub(crate) fn user(self, id: &str, text: &str) -> Self {
        self.said(id, "user", text)
    }

    pub(crate) fn assistant(self, id: &str, text: &str) -> Self {
        self.said(id, "assistant", text)
    }

    /// Adds a prompt, `u1`, and answers from `a2` on as separate branches.
    pub(crate) fn asked(self, prompt: &str, answers: &[&str]) -> Self {
        let asked = self.user("u1", prompt);
        (2..).zip(answers).fold(asked, |session, (at, answer)| session.under("u1").assistant(&format!("a{at}"), answer))
    }

    /// Adds a message with any role and text.
    pub(crate) fn said(self, id: &str, role: &str, text: &str) -> Self {
        let block = format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text));
        self.message(id, role, "", block)
    }

    /// Adds a tool call.
    pub(crate) fn call(self, id: &str, tool: &str, arguments: &Value) -> Self {
        let call = json!({"type": "toolCall", "id": format!("call-{id}"), "name": tool, "arguments": arguments});
        self.message(id, "assistant", "", call)
    }

    /// Adds the result of the call in an entry.
    pub(crate) fn result(self, id: &str, call: &str, tool: &str, text: &str) -> Self {
        self.returned(id, (call, false), tool, text)
    }

    /// Adds the error of a call.
    pub(crate) fn failure(self, id: &str, call: &str, tool: &str, text: &str) -> Self {
        self.returned(id, (call, true), tool, text)
    }

    fn returned(self, id: &str, (call, is_error): (&str, bool), tool: &str, text: &str) -> Self {
        let error = if is_error { "\"isError\":true," } else { "" };
        let call = quoted(&format!("call-{call}"));
        let of = format!("\"toolCallId\":{call},\"toolName\":{},{error}", quoted(tool));
        self.message(id, "toolResult", &of, json!({"type": "text", "text": text}))
    }

    /// Adds a tool call and its result.
    pub(crate) fn tool(self, id: &str, tool: &str, arguments: &Value, text: &str) -> Self {
        self.call(id, tool, arguments).result(&format!("{id}r"), id, tool, text)
    }

    /// Adds a label; an empty one clears the label.
    pub(crate) fn label(self, id: &str, target: &str, label: &str) -> Self {
        let rest = format!("\"targetId\":{},\"label\":{}", quoted(target), quoted(label));
        self.entry(id, "label", rest)
    }

    pub(crate) fn name(self, id: &str, name: &str) -> Self {
        self.entry(id, "session_info", format_args!("\"name\":{}", quoted(name)))
    }

    pub(crate) fn compaction(self, id: &str, summary: &str, first_kept: &str) -> Self {
        let (summary, first) = (quoted(summary), quoted(first_kept));
        self.entry(
            id,
            "compaction",
            format_args!("\"summary\":{summary},\"firstKeptEntryId\":{first},\"tokensBefore\":7"),
        )
    }

    /// Adds a context edit; `replacement` is JSON.
    pub(crate) fn edit(self, id: &str, target: &str, replacement: &str) -> Self {
        self.entry(id, "context_edit", format!("\"targetId\":\"{target}\",\"replacement\":{replacement}"))
    }

    pub(crate) fn custom(self, id: &str, custom_type: &str) -> Self {
        self.entry(id, "custom", format_args!("\"customType\":{}", quoted(custom_type)))
    }

    /// Adds raw text, such as an incomplete line.
    pub(crate) fn raw(mut self, text: &str) -> Self {
        self.lines += text;
        self
    }

    fn message(self, id: &str, role: &str, more: &str, block: impl Display) -> Self {
        let ms = (self.times.1 + 1) * 1000;
        let usage = match role {
            "assistant" if self.cost > 0.0 => {
                let (cost, tokens) = (self.cost, (self.cost * 300_000.0).round());
                format!("\"usage\":{{\"input\":{tokens},\"totalTokens\":{tokens},\"cost\":{{\"total\":{cost}}}}},")
            }
            _ => String::new(),
        };
        let role = quoted(role);
        self.entry(
            id,
            "message",
            format_args!("\"message\":{{\"role\":{role},{more}{usage}\"content\":[{block}],\"timestamp\":{ms}}}"),
        )
    }

    /// Adds an entry with its own fields as JSON without the braces.
    pub(crate) fn entry(mut self, id: &str, kind: &str, rest: impl Display) -> Self {
        self.times.1 += 1;
        let time = time(self.times.1);
        let parent = self.leaf.as_deref().map_or("null".into(), quoted);
        let ids =
            if self.version == 1 { String::new() } else { format!("\"id\":{},\"parentId\":{parent},", quoted(id)) };
        writeln!(self.lines, "{{\"type\":{},{ids}\"timestamp\":\"{time}\",{rest}}}", quoted(kind)).unwrap();
        self.under(id)
    }

    /// Returns the entries without the header, to append them to a file.
    pub(crate) fn lines(&self) -> &str {
        &self.lines
    }

    /// Returns the contents of the file.
    pub(crate) fn text(&self) -> String {
        let version = if self.version == 1 { String::new() } else { format!("\"version\":{},", self.version) };
        let parent =
            self.parent.as_deref().map_or(String::new(), |path| format!(",\"parentSession\":{}", quoted(path)));
        let (id, cwd, time) = (quoted(&self.id), quoted(&self.cwd), time(self.times.0));
        format!(
            "{{\"type\":\"session\",{version}\"id\":{id},\"timestamp\":\"{time}\",\"cwd\":{cwd}{parent}}}\n{}",
            self.lines
        )
    }
}

fn time(seconds: i64) -> String {
    format!("{:.3}", jiff::Timestamp::from_second(seconds).unwrap())
}
