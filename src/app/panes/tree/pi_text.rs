//! What the row of an entry says in `pitree tree`, in spans, word for word as in pi's `/tree`; and what a fold hides.

use crate::base::numbers::{count, nonzero_dollars};
use crate::base::text::{Glyphs, Span, Tone};
use crate::base::time;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::node::{EntryStatus, Node};
use crate::session::tree::{Index, SubtreeStats, Tree};

/// What stands in front of what an entry says: whether it is on the active path, or flagged, and its label.
pub(super) fn marks(tree: &Tree, at: Index, glyphs: &Glyphs) -> Vec<Span> {
    let mut spans = Vec::new();
    if tree.is_active(at) {
        spans.push(Span::new(Tone::Active, format!("{} ", glyphs.active)));
    }
    if tree.is_flagged(at) {
        spans.push(Span::new(Tone::Warning, format!("{} ", glyphs.warning)));
    }
    if let Some(label) = tree.labels.get(&at) {
        spans.push(Span::clean(Tone::Label, &format!("[{}] ", label.text)));
    }
    spans
}

/// The text of an entry's row behind the lines: marks, label, and what it says.
pub fn entry(tree: &Tree, at: Index, glyphs: &Glyphs) -> Vec<Span> {
    let node = &tree.nodes[at as usize];
    let mut spans = marks(tree, at, glyphs);
    let (word, tone) = match node.kind {
        EntryKind::User => ("user: ", Tone::User),
        EntryKind::Assistant => ("assistant: ", Tone::Assistant),
        EntryKind::Bash => ("[bash]: ", Tone::Tool),
        EntryKind::BranchSummary => ("[branch summary]: ", Tone::Summary),
        EntryKind::Compaction => ("", Tone::Summary),
        EntryKind::ToolResult => ("", Tone::Tool),
        EntryKind::SystemRole
        | EntryKind::CustomRole
        | EntryKind::SummaryRole
        | EntryKind::OtherMessage
        | EntryKind::CustomMessage => ("", Tone::Text),
        _ => ("", Tone::Meta),
    };
    if !word.is_empty() {
        spans.push(Span::new(tone, word));
    }
    spans.push(Span::new(said(node, tone), &*node.text));
    spans
}

/// The tone of what an entry says, where the word for its kind has a tone.
pub(super) fn said(node: &Node, word: Tone) -> Tone {
    match (node.kind, node.outcome) {
        (EntryKind::Assistant, EntryStatus::Aborted) => Tone::Warning,
        (_, EntryStatus::Failed) => Tone::Error,
        (EntryKind::User | EntryKind::Assistant | EntryKind::BranchSummary, _) => Tone::Text,
        _ => word,
    }
}

/// What a fold hides: `37 entries`, `2 branches`, `1 fork`, `$1.20`, `3d`. `below` counts the folded entry as well.
pub fn hidden(below: SubtreeStats, forks: usize, now: i64) -> Vec<String> {
    let mut facts = vec![count(below.entries as usize - 1, "entry", "entries")];
    facts.extend((below.leaves > 1).then(|| count(below.leaves as usize, "branch", "branches")));
    facts.extend((forks > 0).then(|| count(forks, "fork", "forks")));
    facts.extend(nonzero_dollars(below.cost));
    facts.extend(below.latest.map(|latest| time::age(now, latest)));
    facts
}
