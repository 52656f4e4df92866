//! Collection of the lines of a file, or of a part of it, for its tree.

use std::sync::Arc;

use crate::base::text::clean;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::{self, CallDescription};
use crate::session::entry::{Entry, equality, row};
use crate::session::json::value::Fields;
use crate::session::lines::{Line, LineCollector};
use crate::session::links::{ById, IdHash, Index};
use crate::session::tree::model_role::ModelSettings;
use crate::session::tree::node::{Node, NodeLink};

/// Collects the lines of a file, or of a part of it, for [`super::Tree::build`]. Collection can continue when the file
/// has grown.
#[derive(Clone, Debug, Default)]
pub struct TreeLines {
    home: String,
    pub(crate) lines: LineCollector,
    pub(super) nodes: Vec<Node>,
    /// The links between nodes besides parents.
    pub(super) links: Vec<(Index, NodeLink)>,
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
            contents.push(equality::hash(entry, line.bytes));
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
        self.links.extend(NodeLink::new(entry).map(|link| (self.nodes.len() as Index, link)));
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
        let before = self.nodes.len() as Index;
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
