//! The summary of a branch after the point of divergence, from its entries in order. Texts are raw and shortened; the
//! caller escapes them.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::base::javascript::{js_trim, utf16_prefix};
use crate::session::compare::files::{FilesCollector, SideFile};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Entry, Message, Usage};
use crate::session::models::{ModelUse, Models};
use crate::session::tree::node::{EntryStatus, Node};

/// The maximum length of a prompt in UTF-16 code units.
const PROMPT: usize = 1_000;
/// The maximum length of the last answer in UTF-16 code units.
const ANSWER: usize = 8_000;
/// The maximum length of a failure in UTF-16 code units.
const FAILURE: usize = 300;

/// The maximum number of prompts and of failures whose texts are kept.
const MOST: usize = 500;

/// The number of calls of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolUse {
    /// The name.
    pub name: String,
    /// The number of calls with a result.
    pub calls: usize,
    /// The number of failed calls.
    pub failed: usize,
}

/// The failures of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failures {
    /// The number of failed tool calls.
    pub tools: usize,
    /// The number of answers that ended with an error.
    pub answers: usize,
    /// The number of answers that were stopped.
    pub aborted: usize,
    /// The texts of the first failures: the call and the first line of its result, or the error.
    pub texts: Vec<String>,
}

impl Failures {
    /// Returns the total number of failures.
    pub fn count(&self) -> usize {
        self.tools + self.answers + self.aborted
    }
}

/// The summary of a branch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideSummary {
    /// The number of entries without labels.
    pub entries: usize,
    /// The number of messages.
    pub messages: usize,
    /// The number of prompts.
    pub prompt_count: usize,
    /// The first prompts.
    pub prompts: Vec<String>,
    /// The tools, by number of calls.
    pub tools: Vec<ToolUse>,
    /// The models, by number of answers.
    pub models: Vec<(Box<str>, ModelUse)>,
    /// Tokens and US dollars.
    pub usage: Usage,
    /// The times of the first and the last entry, in milliseconds since 1970.
    pub times: Option<(i64, i64)>,
    /// The failures.
    pub failures: Failures,
    /// The last answer with text.
    pub answer: Option<String>,
}

impl SideSummary {
    /// Returns the time from the first to the last entry, in milliseconds.
    pub fn duration(&self) -> Option<i64> {
        self.times.map(|(first, last)| last - first)
    }
}

/// Collects the summary of a branch from its entries in order.
pub struct SideCollector<'n> {
    side: SideSummary,
    models: Models,
    /// The index of each tool in the summary.
    tools: HashMap<String, usize>,
    files: FilesCollector<'n>,
}

impl<'n> SideCollector<'n> {
    /// Creates an empty collector; `name` as in [`FilesCollector::new`].
    pub fn new(name: &'n dyn Fn(&str) -> String) -> Self {
        Self {
            side: SideSummary::default(),
            models: Models::default(),
            tools: HashMap::new(),
            files: FilesCollector::new(name),
        }
    }

    /// Adds the next entry: its node and its contents.
    pub fn entry(&mut self, node: &Node, entry: &Entry<'_>) {
        let side = &mut self.side;
        side.entries += 1;
        side.messages += usize::from(entry.type_name.is("message"));
        if let Some(time) = node.time {
            side.times = Some(side.times.map_or((time, time), |(from, to)| (from.min(time), to.max(time))));
        }
        if let Some(used) = entry.used() {
            let Usage { input, output, cache_read, cache_write, tokens, cost, .. } = used;
            side.usage.input += input;
            side.usage.output += output;
            side.usage.cache_read += cache_read;
            side.usage.cache_write += cache_write;
            side.usage.tokens += tokens;
            side.usage.cost += cost;
        }
        let Some(message) = &entry.message else { return };
        match node.kind {
            EntryKind::User => self.prompt(entry),
            EntryKind::Assistant => self.answer(node, entry, message),
            EntryKind::ToolResult => self.result(node, message),
            _ => {}
        }
    }

    fn prompt(&mut self, entry: &Entry<'_>) {
        self.side.prompt_count += 1;
        if self.side.prompts.len() < MOST {
            let text = entry.text();
            // A prompt may consist of images only.
            let text = if js_trim(&text).is_empty() { "(no text)" } else { &*text };
            self.side.prompts.push(short(text, PROMPT));
        }
    }

    fn answer(&mut self, node: &Node, entry: &Entry<'_>, message: &Message<'_>) {
        self.files.add_calls(message);
        if let Some(model) = message.model {
            self.models.note(model, entry.cost());
        }
        if message.content.has_words() {
            self.side.answer = Some(short(&entry.text(), ANSWER));
        }
        let failed = match node.outcome {
            EntryStatus::Fine => return,
            EntryStatus::Failed => {
                self.side.failures.answers += 1;
                "failed answer"
            }
            EntryStatus::Aborted => {
                self.side.failures.aborted += 1;
                "aborted answer"
            }
        };
        let error = message.error_message.map(|error| error.text()).unwrap_or_default();
        self.failure(failed, &error);
    }

    fn result(&mut self, node: &Node, message: &Message<'_>) {
        self.files.add_result(message);
        let name = message.tool_name.map(|name| name.text()).unwrap_or_default().into_owned();
        let tools = &mut self.side.tools;
        let place = *self.tools.entry(name).or_insert_with_key(|name| {
            tools.push(ToolUse { name: name.clone(), calls: 0, failed: 0 });
            tools.len() - 1
        });
        let failed = usize::from(node.outcome == EntryStatus::Failed);
        tools[place].calls += 1;
        tools[place].failed += failed;
        if failed > 0 {
            self.side.failures.tools += 1;
            self.failure(&node.text, &message.content.text("\n"));
        }
    }

    /// Adds a failure: what failed, and the error.
    fn failure(&mut self, what: &str, error: &str) {
        if self.side.failures.texts.len() < MOST {
            let error = js_trim(error).lines().next().unwrap_or_default();
            let between = if error.is_empty() { "" } else { ": " };
            self.side.failures.texts.push(short(&format!("{what}{between}{error}"), FAILURE));
        }
    }

    /// Returns the summary and the files by path.
    pub fn finish(self) -> (SideSummary, BTreeMap<String, SideFile>) {
        let Self { mut side, models, files, .. } = self;
        side.models = models.busiest_first();
        side.tools.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
        (side, files.files)
    }
}

/// Trims and shortens a text; `…` marks the cut.
fn short(text: &str, units: usize) -> String {
    let text = js_trim(text);
    let start = utf16_prefix(text, units);
    format!("{start}{}", if start.len() < text.len() { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::entry::parse;
    use crate::session::tree::tests::tree;

    /// Returns the summary of messages with an interval of one second.
    fn side(messages: &[&str]) -> SideSummary {
        let line = |(at, message): (usize, &&str)| {
            let parent = at.checked_sub(1).map_or("null".into(), |at| format!("\"{at}\""));
            let time = format!("2026-01-01T00:00:{at:02}Z");
            format!(
                r#"{{"type":"message","id":"{at}","parentId":{parent},"timestamp":"{time}","message":{{{message}}}}}"#
            )
        };
        let lines: Vec<String> = messages.iter().enumerate().map(line).collect();
        let (tree, name) = (tree(&lines), |path: &str| path.to_string());
        let mut collector = SideCollector::new(&name);
        for (node, line) in tree.nodes.iter().zip(&lines) {
            collector.entry(node, &parse::line(line.as_bytes()).unwrap().unwrap());
        }
        collector.finish().0
    }

    #[test]
    fn sums_messages_tool_calls_and_costs() {
        let usage = r#""usage":{"input":100,"output":20,"cacheRead":5,"cacheWrite":1,"cost":{"total":0.5}}"#;
        let call = r#"{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls"}}"#;
        let side = side(&[
            r#""role":"user","content":" Look \n""#,
            &format!(r#""role":"assistant","model":"m","content":[{{"type":"text","text":"I look."}},{call}],{usage}"#),
            r#""role":"toolResult","toolCallId":"c","toolName":"bash","content":[{"type":"text","text":"a"}]"#,
            &format!(r#""role":"assistant","model":"m","content":[],{usage}"#),
            r#""role":"user","content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]"#,
        ]);
        assert_eq!((side.entries, side.messages, side.duration()), (5, 5, Some(4000)));
        assert_eq!((side.prompt_count, &side.prompts[..]), (2, &["Look", "(no text)"].map(String::from)[..]));
        assert_eq!(side.tools, [ToolUse { name: "bash".into(), calls: 1, failed: 0 }]);
        assert_eq!(side.answer.as_deref(), Some("I look."), "the last one with words");
        let Usage { input, output, cache_read, cache_write, tokens, cost, .. } = side.usage;
        assert_eq!([input, output, cache_read, cache_write, tokens, cost], [200.0, 40.0, 10.0, 2.0, 252.0, 1.0]);
        assert_eq!((&*side.models[0].0, side.models[0].1.answers), ("m", 2));
        assert_eq!(side.failures, Failures::default());
    }

    #[test]
    fn counts_and_describes_failures() {
        let side = side(&[
            r#""role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"c","name":"read","arguments":{"path":"a"}}]"#,
            r#""role":"toolResult","toolCallId":"c","toolName":"read","isError":true,"content":[{"type":"text","text":"gone\nfor good"}]"#,
            r#""role":"assistant","stopReason":"error","errorMessage":"overloaded","content":[]"#,
            r#""role":"assistant","stopReason":"aborted","content":[]"#,
        ]);
        let texts = ["[read: a]: gone", "failed answer: overloaded", "aborted answer"].map(String::from);
        assert_eq!(side.failures, Failures { tools: 1, answers: 1, aborted: 1, texts: texts.into() });
    }

    #[test]
    fn shortens_long_texts_and_many_prompts() {
        let long = format!(r#""role":"user","content":"{}""#, "x".repeat(5_000));
        let side = side(&vec![&*long; MOST + 7]);
        assert_eq!((side.prompt_count, side.prompts.len()), (MOST + 7, MOST));
        assert!(side.prompts.iter().all(|prompt| prompt.ends_with('…') && prompt.chars().count() == PROMPT + 1));
    }
}
