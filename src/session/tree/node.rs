//! The nodes of the tree: the positions of their lines in the file, their kinds, and the texts of their rows. Contents
//! stay in the file and are read on demand. [`TreeLines`] collects the nodes from the lines of a file, or of a part of it.

use std::ops::Range;
use std::sync::Arc;

use crate::base::text::clean;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::{self, CallDescription};
use crate::session::entry::{Entry, Message, RawTime, row, typed_prompt};
use crate::session::json::range_of;
use crate::session::json::value::Fields;
use crate::session::lines::{Line, LineCollector};
use crate::session::links::{ById, EntryIndex, IdHash};
use crate::session::tree::model_role::{ContextEdit, FirstKept, ModelRole, ModelSettings, calls};

/// The status of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryOutcome {
    /// Completed normally.
    #[default]
    Fine,
    /// Stopped by the user.
    Aborted,
    /// The result of a call that the user stopped before it ran.
    NotRun,
    /// Ended with an error.
    Failed,
}

/// An entry of the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// The offset of the line, in bytes.
    pub offset: u64,
    /// The length of its line in bytes, without the line break.
    pub len: u64,
    /// The ID in the file; missing in version 1.
    pub id: Option<Arc<str>>,
    /// The kind.
    pub kind: EntryKind,
    /// The status.
    pub outcome: EntryOutcome,
    /// `true` for an assistant message without text that pi hides (only tool calls).
    pub silent: bool,
    /// The text of the row: cleaned, on one line, without the name of the kind.
    pub text: Arc<str>,
    /// The start of the typed words of a user message that starts with a wrapper such as an expanded skill; cleaned, on
    /// one line.
    pub typed: Option<Arc<str>>,
    /// Milliseconds since 1970.
    pub time: Option<i64>,
    /// US dollars.
    pub cost: f64,
    /// The call of a tool result, if it is in the file.
    pub called: Option<Arc<CallDescription>>,
    pub(crate) model_role: ModelRole,
}

/// A link of a node to another one, besides its parent. Most nodes have none.
#[derive(Clone, Debug)]
pub(crate) enum NodeLink {
    /// The ID of the tool call of this result.
    Call(IdHash),
    /// The IDs of its tool calls.
    Calls(Box<[IdHash]>),
    /// The first entry kept by a compaction.
    Kept(FirstKept),
    /// The change to another entry for the model.
    Edit(ContextEdit),
}

impl Node {
    /// Creates a node from a line and the text of its row.
    pub(crate) fn new((offset, len): (u64, u64), entry: &Entry<'_>, text: Arc<str>) -> Self {
        Self {
            offset,
            len,
            id: entry.id.map(|id| id.text().into()),
            kind: entry.kind,
            outcome: entry.message.as_ref().map_or(EntryOutcome::Fine, outcome),
            silent: row::is_silent(entry),
            text,
            typed: typed_prompt::typed(entry).map(|typed| typed_prompt::row(&typed, row::MESSAGE_UNITS).into()),
            time: entry.timestamp.and_then(RawTime::ms),
            cost: entry.cost(),
            called: None,
            model_role: ModelRole::new(entry),
        }
    }

    /// Returns the text of the row in the browser: a prompt without wrappers.
    pub fn words(&self) -> &str {
        self.typed.as_deref().unwrap_or(&self.text)
    }
}

impl NodeLink {
    pub(crate) fn new(entry: &Entry<'_>) -> Option<Self> {
        match entry.kind {
            EntryKind::ToolResult => {
                let call = entry.message.as_ref().and_then(|message| message.tool_call_id);
                Some(Self::Call(IdHash::of(call.unwrap_or_default())))
            }
            EntryKind::Compaction => Some(Self::Kept(FirstKept::new(entry))),
            EntryKind::ContextEdit => ContextEdit::new(entry).map(Self::Edit),
            EntryKind::Assistant => {
                let calls = entry.message.as_ref().map(|message| calls(&message.content));
                calls.filter(|calls| !calls.is_empty()).map(Self::Calls)
            }
            _ => None,
        }
    }
}

fn outcome(message: &Message<'_>) -> EntryOutcome {
    let stop = message.stop_reason.unwrap_or_default();
    if stop.is("aborted") || message.cancelled {
        EntryOutcome::Aborted
    } else if message.never_ran() {
        EntryOutcome::NotRun
    } else if stop.is("error") || message.is_error || message.exit_code.is_some_and(|code| code != 0.0) {
        EntryOutcome::Failed
    } else {
        EntryOutcome::Fine
    }
}

/// Collects the lines of a file, or of a part of it, for [`super::Tree::build`]. Collection can continue when the file
/// has grown.
#[derive(Clone, Debug, Default)]
pub struct TreeLines {
    home: String,
    pub(crate) lines: LineCollector,
    pub(super) nodes: Vec<Node>,
    /// The links between nodes besides parents.
    pub(super) links: Vec<(EntryIndex, NodeLink)>,
    pub(super) calls: ById<CallRow>,
    pub(super) settings: ModelSettings,
    /// The hash of the contents of each entry, if requested.
    pub(super) contents: Option<Vec<IdHash>>,
    /// A buffer for the text of a row.
    row: String,
}

/// A tool call: its row as in pi, and its description.
#[derive(Clone, Debug)]
pub(super) struct CallRow {
    pub(super) row: Arc<str>,
    pub(super) called: Arc<CallDescription>,
}

impl TreeLines {
    /// Creates an empty part. In tool calls, `~` replaces `home` in paths.
    pub fn new(home: &str) -> Self {
        Self { home: home.into(), ..Self::default() }
    }

    /// Collects content hashes, too, which identify entries in other files of the family. Must be called before the
    /// first line.
    #[must_use]
    pub fn with_contents(self) -> Self {
        Self { contents: Some(Vec::new()), ..self }
    }

    /// Adds the next line of the file.
    pub fn line(&mut self, line: Line<'_>) {
        if self.lines.is_complete(&line) {
            self.take(line);
        }
    }

    /// Returns a copy without nodes; [`TreeLines::with_nodes`] restores them.
    #[must_use]
    pub(crate) fn without_nodes(&mut self) -> Self {
        let nodes = std::mem::take(&mut self.nodes);
        let copy = self.clone();
        self.nodes = nodes;
        copy
    }

    /// Restores the nodes from the tree that was built from these lines.
    #[must_use]
    pub(crate) fn with_nodes(self, nodes: &[Node]) -> Self {
        // The tree may have one more node, of a partial last line.
        Self { nodes: nodes[..self.lines.offsets.len()].to_vec(), ..self }
    }

    pub(super) fn take(&mut self, line: Line<'_>) {
        let read = line.read();
        let Some(entry) = self.lines.note(&line, &read) else { return };
        self.note_calls(entry);
        if let Some(contents) = &mut self.contents {
            contents.push(content_hash(entry, line.bytes));
        }
        // A call is nearly always before its result.
        let result = entry.message.as_ref().filter(|_| entry.kind == EntryKind::ToolResult);
        let call = result.and_then(|result| self.calls.get(&IdHash::of(result.tool_call_id.unwrap_or_default())));
        let text = match call {
            Some(call) => call.row.clone(),
            None => {
                self.row.clear();
                row::text_into(&mut self.row, entry);
                self.row.as_str().into()
            }
        };
        self.links.extend(NodeLink::new(entry).map(|link| (self.nodes.len() as EntryIndex, link)));
        let mut node = Node::new((line.offset, line.len), entry, text);
        node.model_role.setting = self.settings.note(entry);
        self.nodes.push(node);
    }

    fn note_calls(&mut self, entry: &Entry<'_>) {
        let Some(message) = entry.message.as_ref().filter(|_| entry.kind == EntryKind::Assistant) else { return };
        for tool in message.content.tool_calls() {
            let args = Fields::new(tool.arguments);
            let row = clean(&tool_call::describe(tool, &args, &self.home)).into();
            self.calls.insert(IdHash::of(tool.id), CallRow { row, called: CallDescription::new(tool, &args).into() });
        }
    }

    fn add(&mut self, mut later: Self) {
        if let Some(last) = self.lines.last.take() {
            // The partial line ends at the end of the file, or did so when it was read.
            if later.lines.place() == 0 {
                later.lines.last = Some(last);
            } else {
                self.take(last.line());
            }
        }
        let settings = self.settings.add(later.settings);
        for node in &mut later.nodes {
            node.model_role.setting = settings[usize::from(node.model_role.setting)];
        }
        let before = self.nodes.len() as EntryIndex;
        self.nodes.extend(later.nodes);
        self.links.extend(later.links.into_iter().map(|(at, link)| (before + at, link)));
        self.calls.extend(later.calls);
        if let (Some(contents), Some(later)) = (&mut self.contents, later.contents) {
            contents.extend(later);
        }
        self.lines.add(later.lines);
    }

    /// Joins the parts of a file in order.
    pub fn join(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        parts.for_each(|part| all.add(part));
        all
    }
}

/// Returns a hash of a line without the ID of the parent. Equal hashes mean equal contents. Equal contents may be
/// written differently; see [`is_same`](crate::session::family::is_same).
fn content_hash(entry: &Entry<'_>, line: &[u8]) -> IdHash {
    let parent = entry.parent_id.and_then(|id| {
        let Range { start, end } = range_of(id.raw(), line);
        Some((line.get(..start)?, line.get(end..)?))
    });
    match parent {
        Some((before, behind)) => IdHash::new(before).with(IdHash::new(behind)),
        None => IdHash::new(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::entry::parse;

    #[test]
    fn content_hashes_ignore_the_position_of_an_entry() {
        let hash_of = |parent: &str, text: &str| {
            let line = format!(
                r#"{{"type":"message","id":"a","parentId":"{parent}","message":{{"role":"user","content":"{text}"}}}}"#
            );
            content_hash(&parse::line(line.as_bytes()).unwrap().unwrap(), line.as_bytes())
        };
        assert_eq!(hash_of("b", "one"), hash_of("c", "one"));
        assert_ne!(hash_of("b", "one"), hash_of("b", "two"));
    }
}
