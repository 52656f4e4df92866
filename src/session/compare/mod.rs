//! Compares two branches. A branch is the path from the root to an entry; the branch of a session ends at its leaf.
//! After the last shared entry, each branch has a summary: its messages, tool calls, files, costs and failures. This
//! module does no I/O: the caller reads the entries.

pub mod description;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use crate::base::javascript::{js_trim, utf16_prefix};
use crate::base::sort;
use crate::session::digest::details::{ModelUse, Models};
use crate::session::digest::touched_files::FileUses;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::{FileOperation, NestedCall, touched};
use crate::session::entry::{Entry, Message, Usage};
use crate::session::links::{ById, IdHash};
use crate::session::tree::model_role::EditCounts;
use crate::session::tree::node::{EntryOutcome, Node};
use crate::session::tree::{EntryIndex, Tree};

/// The path from the root to an entry.
#[derive(Clone, Copy, Debug)]
pub struct BranchPath<'a> {
    /// The tree of the file; the same one if both branches are in one file.
    pub tree: &'a Tree,
    /// The last entry.
    pub end: EntryIndex,
}

/// The point where two branches diverge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The shared entries from the root, in the tree of the first branch.
    pub shared: Vec<EntryIndex>,
    /// The last shared entry, in each tree.
    pub common: [EntryIndex; 2],
    /// The entries of each branch after it; empty if a branch ends there.
    pub own: [Vec<EntryIndex>; 2],
}

/// The comparison of two branches.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The last shared entry, in each tree.
    pub common: [EntryIndex; 2],
    /// The end of each branch in its tree: see [`Divergence::ends`].
    pub ends: [EntryIndex; 2],
    /// The number of shared entries.
    pub shared: usize,
    /// The summary of each branch after the last shared entry.
    pub sides: [SideSummary; 2],
}

impl<'a> BranchPath<'a> {
    /// Returns the entries without labels, from the root. Labels only refer to other entries. A fork does not have the
    /// labels of its parent: pi attaches the next entry to the one before them and writes new labels (1.6.0).
    fn entries(self) -> Vec<EntryIndex> {
        let mut path = self.tree.path(self.end);
        path.retain(|&at| self.tree.node(at).kind != EntryKind::Label);
        path
    }

    /// Returns the entries that another branch lacks, from the root. A copy with a new ID has the same time and text.
    pub(crate) fn without(self, other: Self) -> Vec<EntryIndex> {
        let keys = |branch: Self, at: EntryIndex| {
            let node = branch.tree.node(at);
            let content = node.time.map(|time| (time, node.kind, &*node.text, branch.tree.answers.get(&at)));
            (branch.entry_key(at), content)
        };
        let known = other.entries().into_iter().map(|at| keys(other, at));
        let (ids, contents): (HashSet<_>, HashSet<_>) = known.unzip();
        let lacks = |at: EntryIndex| {
            let (id, content) = keys(self, at);
            id.is_none() || !ids.contains(&id) && (content.is_none() || !contents.contains(&content))
        };
        let mut path = self.entries();
        path.retain(|&at| lacks(at));
        path
    }

    /// Returns a key that identifies an entry in all files of its family: forks keep IDs and times (pi 1.6.0). An entry
    /// without an ID, as in version 1, has no key.
    fn entry_key(self, at: EntryIndex) -> Option<(&'a str, Option<i64>)> {
        let node = self.tree.node(at);
        Some((node.id.as_deref()?, node.time))
    }
}

/// Returns the point where two branches diverge, or `None` if they share no entry.
pub fn diverge(branches: [BranchPath<'_>; 2]) -> Option<Divergence> {
    let [one, other] = branches;
    let paths = branches.map(BranchPath::entries);
    // The number of entries of each up to the last shared one.
    let (a, b) = if std::ptr::eq(one.tree, other.tree) {
        let shared = paths[0].iter().zip(&paths[1]).take_while(|(a, b)| a == b).count();
        (shared, shared)
    } else {
        let known = paths[1].iter().zip(1..).filter_map(|(&at, count)| Some((other.entry_key(at)?, count)));
        let known: HashMap<_, usize> = known.collect();
        let shared = |(at, entry): (usize, &EntryIndex)| Some((at + 1, *known.get(&one.entry_key(*entry)?)?));
        paths[0].iter().enumerate().rev().find_map(shared)?
    };
    let common = [*paths[0].get(a.checked_sub(1)?)?, *paths[1].get(b.checked_sub(1)?)?];
    let own = [paths[0][a..].to_vec(), paths[1][b..].to_vec()];
    let [mut shared, _] = paths;
    shared.truncate(a);
    Some(Divergence { shared, common, own })
}

impl Divergence {
    /// Returns the entry where each branch ends for the model. Names, settings and extension state may follow it;
    /// resuming there is equivalent.
    pub fn ends(&self, branches: [BranchPath<'_>; 2]) -> [EntryIndex; 2] {
        [0, 1].map(|side| {
            let (own, nodes) = (&self.own[side], &branches[side].tree.nodes);
            let says = |at: &&EntryIndex| !nodes[**at as usize].kind.is_invisible_to_the_model();
            own.iter().rfind(says).or(own.last()).copied().unwrap_or(self.common[side])
        })
    }
}

/// The maximum length of a prompt in UTF-16 code units.
const PROMPT: usize = 1_000;
/// The maximum length of the last answer in UTF-16 code units.
const ANSWER: usize = 8_000;
/// The maximum length of a failure in UTF-16 code units.
const FAILURE: usize = 300;

/// The maximum number of prompts and of failures whose texts are kept.
const MAX_TEXTS: usize = 500;

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
    /// The number of calls that the user stopped before they ran.
    #[serde(rename = "notRun")]
    pub not_run: usize,
    /// The texts of the first failures: the call and the first line of its result, or the error.
    pub texts: Vec<String>,
}

impl Failures {
    /// Returns the total number of failures, without calls that did not run.
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
    /// The uses of the files that tools touched, by name. Failed calls and commands do not count.
    pub files: BTreeMap<String, FileUses>,
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
    /// The context edits that are in force at the end.
    pub edits: EditCounts,
}

impl Comparison {
    /// Returns the files that only one branch touched, with their uses.
    pub fn only(&self, side: usize) -> impl Iterator<Item = (&String, &FileUses)> {
        let other = &self.sides[1 - side].files;
        self.sides[side].files.iter().filter(|(name, _)| !other.contains_key(*name))
    }

    /// Returns the files that both branches touched, with their uses by each.
    pub fn both(&self) -> impl Iterator<Item = (&String, [&FileUses; 2])> {
        let [a, b] = &self.sides;
        a.files.iter().filter_map(|(name, uses)| Some((name, [uses, b.files.get(name)?])))
    }
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
    /// The number of calls and of failed calls of each tool.
    tools: BTreeMap<String, (usize, usize)>,
    /// Converts a path of a call to the name that identifies the file on both sides.
    name: &'n dyn Fn(&str) -> String,
    /// The calls without a result so far.
    calls: ById<(String, FileOperation)>,
}

impl<'n> SideCollector<'n> {
    /// Creates an empty collector. `name` converts a path of a tool call to the name that identifies the file on both
    /// sides.
    pub fn new(name: &'n dyn Fn(&str) -> String) -> Self {
        Self {
            side: SideSummary::default(),
            models: Models::default(),
            tools: BTreeMap::new(),
            name,
            calls: ById::default(),
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
        if self.side.prompts.len() < MAX_TEXTS {
            let text = entry.text();
            // A prompt may consist of images only.
            let text = if js_trim(&text).is_empty() { "(no text)" } else { &*text };
            self.side.prompts.push(short(text, PROMPT));
        }
    }

    fn answer(&mut self, node: &Node, entry: &Entry<'_>, message: &Message<'_>) {
        for call in message.content.tool_calls() {
            if let Some((path, touch)) = touched(call) {
                self.calls.insert(IdHash::of(call.id), (path.into_owned(), touch));
            }
        }
        if let Some(model) = message.answered_by() {
            self.models.note(model, entry.cost());
        }
        if message.content.has_words() {
            self.side.answer = Some(short(&entry.text(), ANSWER));
        }
        let failed = match node.outcome {
            EntryOutcome::Fine | EntryOutcome::NotRun => return,
            EntryOutcome::Failed => {
                self.side.failures.answers += 1;
                "failed answer"
            }
            EntryOutcome::Aborted => {
                self.side.failures.aborted += 1;
                "aborted answer"
            }
        };
        let error = message.error_message.map(|error| error.text()).unwrap_or_default();
        self.failure(failed, &error);
    }

    fn result(&mut self, node: &Node, message: &Message<'_>) {
        let call = self.calls.remove(&IdHash::of(message.tool_call_id.unwrap_or_default()));
        if let Some((path, touch)) = call.filter(|_| !message.is_error) {
            self.file(&path, touch);
        }
        for NestedCall { call, is_unfinished, error } in message.nested_calls() {
            if let Some((path, touch)) = touched(&call).filter(|_| !is_unfinished && error.is_none()) {
                self.file(&path, touch);
            }
        }
        let name = message.tool_name.map(|name| name.text()).unwrap_or_default().into_owned();
        let (calls, failed) = self.tools.entry(name).or_default();
        *calls += 1;
        self.side.failures.not_run += usize::from(node.outcome == EntryOutcome::NotRun);
        if node.outcome == EntryOutcome::Failed {
            *failed += 1;
            self.side.failures.tools += 1;
            self.failure(&node.text, &message.content.text("\n"));
        }
    }

    /// Counts a use of a file.
    fn file(&mut self, path: &str, touch: FileOperation) {
        self.side.files.entry((self.name)(path)).or_default().add(touch);
    }

    /// Adds a failure: what failed, and the error.
    fn failure(&mut self, what: &str, error: &str) {
        if self.side.failures.texts.len() < MAX_TEXTS {
            let error = js_trim(error).lines().next().unwrap_or_default();
            let between = if error.is_empty() { "" } else { ": " };
            self.side.failures.texts.push(short(&format!("{what}{between}{error}"), FAILURE));
        }
    }

    /// Returns the summary.
    pub fn finish(self) -> SideSummary {
        let Self { mut side, models, tools, .. } = self;
        side.models = models.busiest_first();
        side.tools = tools.into_iter().map(|(name, (calls, failed))| ToolUse { name, calls, failed }).collect();
        sort::by_key(&mut side.tools, |tool| Reverse(tool.calls));
        side
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

    /// Returns an entry with a parent: a message, or a label if its ID begins with `l`.
    fn entry(id: &str, parent: &str, second: u8) -> String {
        let parent = if parent.is_empty() { "null".into() } else { format!("{parent:?}") };
        let rest = match id.strip_prefix('l') {
            Some(target) => format!(r#""type":"label","targetId":"{target}","label":"works""#),
            None => r#""type":"message","message":{"role":"user","content":"Hi"}"#.into(),
        };
        format!(r#"{{"id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:{second:02}Z",{rest}}}"#)
    }

    fn ids(tree: &Tree, entries: &[EntryIndex]) -> Vec<String> {
        entries.iter().map(|&at| tree.nodes[at as usize].id.as_deref().unwrap_or("?").into()).collect()
    }

    /// Returns the IDs of the last shared entry and of each branch after it.
    fn parted(a: (&Tree, &str), b: (&Tree, &str)) -> Option<[Vec<String>; 3]> {
        let way = |(tree, end): (_, &str)| BranchPath { tree, end: Tree::find(tree, end).unwrap() };
        let divergence = diverge([way(a), way(b)])?;
        assert_eq!(ids(a.0, &divergence.common[..1]), ids(b.0, &divergence.common[1..]));
        assert_eq!(divergence.shared.last(), Some(&divergence.common[0]));
        let [own_a, own_b] = &divergence.own;
        Some([ids(a.0, &divergence.common[..1]), ids(a.0, own_a), ids(b.0, own_b)])
    }

    fn is(common: &str, a: &[&str], b: &[&str]) -> Option<[Vec<String>; 3]> {
        Some([&[common], a, b].map(|ids| ids.iter().map(|id| id.to_string()).collect()))
    }

    #[test]
    fn branches_diverge_at_the_branch_point() {
        let entries = [entry("a", "", 1), entry("b", "a", 2), entry("c", "b", 3), entry("d", "b", 4)];
        let tree = tree(&entries);
        assert_eq!(parted((&tree, "c"), (&tree, "d")), is("b", &["c"], &["d"]));
        assert_eq!(parted((&tree, "d"), (&tree, "a")), is("a", &["b", "d"], &[]), "one leads on from the other");
        assert_eq!(parted((&tree, "c"), (&tree, "c")), is("c", &[], &[]));
    }

    #[test]
    fn ends_at_the_last_entry_that_the_model_sees() {
        let setting = |id: &str, parent: &str, kind: &str| {
            entry(id, parent, 9).replace(r#""type":"message""#, &format!(r#""type":"{kind}""#))
        };
        let entries = [
            entry("a", "", 1),
            entry("b", "a", 2),
            setting("c", "b", "custom"),
            setting("d", "c", "session_info"),
            setting("e", "a", "custom"),
            setting("f", "b", "context_edit"),
        ];
        let tree = tree(&entries);
        let ends = |a: &str, b: &str| {
            let branches = [a, b].map(|end| BranchPath { tree: &tree, end: tree.find(end).unwrap() });
            ids(&tree, &diverge(branches).unwrap().ends(branches))
        };
        assert_eq!(ends("d", "e"), ["b", "e"]);
        assert_eq!(ends("f", "a"), ["f", "a"], "what the model sees is another thing behind it");
    }

    #[test]
    fn several_roots_share_no_entries() {
        let tree = tree(&[entry("a", "", 1), entry("b", "a", 2), entry("c", "", 3)]);
        assert_eq!(parted((&tree, "b"), (&tree, "c")), None);
    }

    #[test]
    fn ignores_labels_between_entries() {
        let parent =
            [entry("a", "", 1), entry("la", "a", 2), entry("b", "la", 3), entry("c", "b", 4), entry("lb", "c", 5)];
        // As pi writes it: without the label, which is written again after the copied entries.
        let fork = [entry("a", "", 1), entry("b", "a", 3), entry("lx", "b", 8), entry("d", "lx", 9)];
        let (parent, fork) = (tree(&parent), tree(&fork));
        assert_eq!(parted((&parent, "c"), (&fork, "d")), is("b", &["c"], &["d"]));
        assert_eq!(parted((&parent, "lb"), (&fork, "lx")), is("b", &["c"], &[]));
        let branches = tree(&[entry("a", "", 1), entry("la", "a", 2), entry("b", "la", 3), entry("c", "la", 4)]);
        assert_eq!(parted((&branches, "b"), (&branches, "c")), is("a", &["b"], &["c"]));
        assert_eq!(parted((&branches, "b"), (&branches, "la")), is("a", &["b"], &[]));
    }

    #[test]
    fn same_id_at_different_times_is_not_shared() {
        let (one, other) = (tree(&[entry("a", "", 1)]), tree(&[entry("a", "", 2)]));
        assert_eq!(parted((&one, "a"), (&other, "a")), None);
    }

    #[test]
    fn without_ids_only_one_file_can_be_compared() {
        let lines = [1, 2].map(|second| {
            format!(
                r#"{{"type":"message","timestamp":"2026-01-01T00:00:0{second}Z","message":{{"role":"user","content":"Hi"}}}}"#
            )
        });
        let old = || {
            let mut part = crate::session::tree::TreeLines::new("");
            let header = r#"{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}"#;
            for (at, line) in [header].into_iter().chain(lines.iter().map(String::as_str)).enumerate() {
                part.line(crate::session::lines::Line::new(at as u64, line.as_bytes(), true));
            }
            Tree::build([part]).unwrap()
        };
        let (one, copy) = (old(), old());
        let branches = [1, 0].map(|end| BranchPath { tree: &one, end });
        let divergence = diverge(branches).unwrap();
        assert_eq!((divergence.common, divergence.own.clone()), ([0, 0], [vec![1], vec![]]));
        assert_eq!(divergence.ends(branches), [1, 0]);
        assert_eq!(diverge([BranchPath { tree: &one, end: 1 }, BranchPath { tree: &copy, end: 1 }]), None);
    }

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
        collector.finish()
    }

    #[test]
    fn counts_uses_of_files() {
        let call = |id: &str, name: &str, path: &str| {
            let call = format!(r#"{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{{"path":"{path}"}}}}"#);
            format!(r#""role":"assistant","content":[{call}]"#)
        };
        let result = |id: &str, rest: &str| format!(r#""role":"toolResult","toolCallId":"{id}"{rest}"#);
        let nested = r#","nestedCalls":{"calls":[{"id":"1","name":"edit","arguments":{"path":"b"},"status":"ok"},{"name":"write","arguments":{"path":"b"},"status":"error"},{"name":"write","arguments":{"path":"c"},"status":"unfinished"}]}"#;
        let side = side(&[
            &call("1", "edit", "a"),
            &result("1", ""),
            &call("2", "write", "a"),
            &result("2", ""),
            &call("3", "edit", "a"),
            &result("3", r#","isError":true"#),
            &call("4", "read", "a"),
            &result("4", ""),
            &call("5", "write", "d"),
            &call("6", "codemode", "e"),
            &result("6", nested),
        ]);
        let uses = |reads, writes, edits| FileUses { reads, writes, edits, commands: 0 };
        assert_eq!(side.files, [("a".into(), uses(1, 1, 1)), ("b".into(), uses(0, 0, 1))].into());
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
            r#""role":"toolResult","toolCallId":"d","toolName":"read","isError":true,"content":[{"type":"text","text":"Operation aborted"}]"#,
            r#""role":"assistant","stopReason":"aborted","content":[]"#,
        ]);
        let texts = ["[read: a]: gone", "failed answer: overloaded", "aborted answer"].map(String::from);
        assert_eq!(side.failures, Failures { tools: 1, answers: 1, aborted: 1, not_run: 1, texts: texts.into() });
    }

    #[test]
    fn shortens_long_texts_and_many_prompts() {
        let long = format!(r#""role":"user","content":"{}""#, "x".repeat(5_000));
        let side = side(&vec![&*long; MAX_TEXTS + 7]);
        assert_eq!((side.prompt_count, side.prompts.len()), (MAX_TEXTS + 7, MAX_TEXTS));
        assert!(side.prompts.iter().all(|prompt| prompt.ends_with('…') && prompt.chars().count() == PROMPT + 1));
    }
}
