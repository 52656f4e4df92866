//! Text of an entry's row in `pitree tree`, as spans, identical to pi's `/tree`; and the facts about a fold.

use crate::base::numbers::{count, nonzero_dollars};
use crate::base::text::{Glyphs, Span, Tone};
use crate::base::time;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::node::{EntryStatus, Node};
use crate::session::tree::{Index, SubtreeStats, Tree};

/// Returns the prefix of an entry's text: active path mark, damage flag and label.
pub(super) fn marks(tree: &Tree, at: Index, glyphs: &Glyphs) -> Vec<Span> {
    let mut spans = Vec::new();
    if tree.is_active(at) {
        spans.push(Span::new(Tone::Active, format!("{} ", glyphs.active)));
    }
    if tree.flagged.contains(&at) {
        spans.push(Span::new(Tone::Warning, format!("{} ", glyphs.warning)));
    }
    if let Some(label) = tree.labels.get(&at) {
        spans.push(Span::clean(Tone::Label, &format!("[{}] ", label.text)));
    }
    spans
}

/// Returns the text of an entry's row after the tree lines: prefix and content.
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
    spans.push(Span::new(content_tone(node, tone), &*node.text));
    spans
}

/// Returns the tone of an entry's content; `word` is the tone of the word for its kind.
pub(super) fn content_tone(node: &Node, word: Tone) -> Tone {
    match (node.kind, node.outcome) {
        (EntryKind::Assistant, EntryStatus::Aborted) => Tone::Warning,
        (_, EntryStatus::Failed) => Tone::Error,
        (EntryKind::User | EntryKind::Assistant | EntryKind::BranchSummary, _) => Tone::Text,
        _ => word,
    }
}

/// Lists the facts about a fold: `37 entries`, `2 branches`, `1 fork`, `$1.20`, `3d`. `below` includes the folded
/// entry.
pub fn hidden(below: SubtreeStats, forks: usize, now: i64) -> Vec<String> {
    let mut facts = vec![count(below.entries as usize - 1, "entry", "entries")];
    facts.extend((below.leaves > 1).then(|| count(below.leaves as usize, "branch", "branches")));
    facts.extend((forks > 0).then(|| count(forks, "fork", "forks")));
    facts.extend(nonzero_dollars(below.cost));
    facts.extend(below.latest.map(|latest| time::age(now, latest)));
    facts
}
