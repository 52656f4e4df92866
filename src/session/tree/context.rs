//! The model context when pi resumes at an entry, as in pi's `buildSessionProjection` (0.87.1). Also the messages that
//! pi sends, as in `convertToLlm` and the providers of pi-ai (1.6.0). pi omits failed and stopped answers, `!!`
//! commands, empty messages and messages with unknown roles. It adds a result for each call without one. System messages
//! are sent separately and not counted.

use std::collections::{HashMap, HashSet};

use crate::session::entry::kind::EntryKind;
use crate::session::links::{EntryIndex, IdHash};
use crate::session::tree::Tree;
use crate::session::tree::model_role::{ContextRole, EditCounts, SendState, SendableContent};

/// The context of the model at an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelContext {
    /// The entries with messages, in the order of the messages: the compaction is first.
    pub entries: Vec<EntryIndex>,
    /// The number of messages returned by pi's `buildSessionContext`.
    pub messages: usize,
    /// The messages that pi sends.
    pub sent: Vec<Sent>,
    /// The provider and the ID of the last model that was set or answered.
    pub model: Option<(String, String)>,
    /// The last thinking level that was set, or else pi's default `off`.
    pub thinking_level: String,
    /// The compaction whose summary replaces the earlier entries.
    pub compaction: Option<EntryIndex>,
    /// The last context edit of each edited entry.
    pub edits: HashMap<EntryIndex, EntryIndex>,
}

/// Returns the context when pi resumes at an entry; `None` is an empty conversation.
pub fn context(tree: &Tree, at: Option<EntryIndex>) -> ModelContext {
    let path = at.map(|at| tree.path(at)).unwrap_or_default();
    let settings = path.iter().rev().map(|&at| tree.node(at).model_role.setting);
    let (model, thinking_level) = tree.settings.last(settings);
    let model = model.map(|(provider, model)| (provider.to_owned(), model.to_owned()));
    let thinking_level = thinking_level.unwrap_or("off").to_owned();
    let ContextEntries { compaction, entries, edits, .. } = context_entries(tree, &path);
    let messages = entries.iter().map(|&at| usize::from(tree.node(at).model_role.messages)).sum();
    let words = |edit: &EntryIndex| tree.edits.get(edit).and_then(|(_, words)| words.as_ref());
    let replaced = edits.iter().filter_map(|(&at, edit)| Some((at, words(edit)?))).collect();
    let sent = sent(tree, &entries, &replaced);
    ModelContext { entries, messages, sent, model, thinking_level, compaction, edits }
}

/// Returns the entries on which the context at an entry depends, in the order of their path: those with messages, the
/// edits of these, and the last model change, answer and thinking level, from which pi takes the settings (1.6.0).
pub(crate) fn dependencies(tree: &Tree, at: Option<EntryIndex>) -> Vec<EntryIndex> {
    let path = at.map(|at| tree.path(at)).unwrap_or_default();
    let ContextEntries { entries, edits, .. } = context_entries(tree, &path);
    let mut needed: HashSet<EntryIndex> = entries.into_iter().collect();
    for kind in [EntryKind::ModelChange, EntryKind::Assistant, EntryKind::ThinkingLevel] {
        needed.extend(path.iter().rfind(|&&at| tree.node(at).kind == kind));
    }
    let edits: Vec<EntryIndex> =
        edits.iter().filter(|(target, _)| needed.contains(target)).map(|(_, &edit)| edit).collect();
    needed.extend(edits);
    path.into_iter().filter(|at| needed.contains(at)).collect()
}

/// Returns the context edits that are in force after an entry, by the messages that they omit or replace.
pub fn edits_in_force(tree: &Tree, at: Option<EntryIndex>) -> HashMap<EntryIndex, EntryIndex> {
    if tree.edits.is_empty() {
        return HashMap::new();
    }
    let path = at.map(|at| tree.path(at)).unwrap_or_default();
    let ContextEntries { entries, omitted, mut edits, .. } = context_entries(tree, &path);
    let (entries, omitted): (HashSet<_>, HashSet<_>) = (entries.into_iter().collect(), omitted.into_iter().collect());
    edits.retain(|at, _| omitted.contains(at) || entries.contains(at) && can_be_replaced(tree.node(*at).kind));
    edits
}

/// Counts the context edits that are in force at the leaf. The replaced ones include those whose content an edit restored.
pub fn edit_counts(tree: &Tree) -> EditCounts {
    *tree.edit_counts.get_or_init(|| {
        let edits = edits_in_force(tree, tree.leaf);
        let omitted = edits.values().filter(|edit| tree.edit(**edit).is_some_and(|(_, omits)| omits)).count();
        EditCounts { omitted, replaced: edits.len() - omitted }
    })
}

/// The data of entries on which contexts depend.
pub(crate) trait ContextSource {
    /// Returns the role of an entry.
    fn role(&self, at: EntryIndex) -> ContextRole;

    /// Returns the first entry that a compaction keeps, if it is in the file.
    fn first_kept(&self, compaction: EntryIndex) -> Option<EntryIndex>;

    /// Returns the target of a context edit, and `true` if it omits the target.
    fn edit(&self, at: EntryIndex) -> Option<(EntryIndex, bool)>;
}

impl ContextSource for Tree {
    fn role(&self, at: EntryIndex) -> ContextRole {
        let node = &self.nodes[at as usize];
        ContextRole::new(node.kind, node.model_role.messages)
    }

    fn first_kept(&self, compaction: EntryIndex) -> Option<EntryIndex> {
        self.first_kept.get(&compaction).copied()
    }

    fn edit(&self, at: EntryIndex) -> Option<(EntryIndex, bool)> {
        self.edits.get(&at).map(|(target, words)| (*target, words.is_none()))
    }
}

/// The entries in a context: see [`ModelContext`].
pub(crate) struct ContextEntries {
    pub(crate) compaction: Option<EntryIndex>,
    pub(crate) entries: Vec<EntryIndex>,
    /// The entries that edits omit.
    pub(crate) omitted: Vec<EntryIndex>,
    pub(crate) edits: HashMap<EntryIndex, EntryIndex>,
}

/// Returns the entries in the context at the end of a path.
pub(crate) fn context_entries(source: &impl ContextSource, path: &[EntryIndex]) -> ContextEntries {
    let place = path.iter().rposition(|&at| source.role(at) == ContextRole::Compaction);
    let compaction = place.map(|place| path[place]);
    let mut seen: Vec<EntryIndex> = compaction.into_iter().collect();
    if let Some(place) = place {
        let first = source.first_kept(path[place]);
        // System messages are not kept.
        let is_kept = |at: &&EntryIndex| source.role(**at) != ContextRole::SystemMessage;
        seen.extend(path[..place].iter().skip_while(|at| first != Some(**at)).filter(is_kept));
    }
    seen.extend(&path[place.map_or(0, |place| place + 1)..]);
    // Only context edits in the context apply, and only the last one of each target.
    let edits: HashMap<EntryIndex, EntryIndex> =
        seen.iter().filter_map(|&edit| Some((source.edit(edit)?.0, edit))).collect();
    let is_omitted =
        |at: &EntryIndex| edits.get(at).and_then(|&edit| source.edit(edit)).is_some_and(|(_, omits)| omits);
    seen.retain(|at| match source.role(*at) {
        ContextRole::Nothing => false,
        ContextRole::Compaction => Some(*at) == compaction,
        ContextRole::Message | ContextRole::SystemMessage => true,
    });
    let (omitted, entries) = seen.into_iter().partition(is_omitted);
    ContextEntries { compaction, entries, omitted, edits }
}

/// A sent message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The message of an entry.
    Entry(EntryIndex),
    /// The result `No result provided` for a call of this entry.
    NoResult(EntryIndex),
}

/// Calls without a result so far.
#[derive(Default)]
struct OpenCalls<'a> {
    by: EntryIndex,
    calls: &'a [IdHash],
    answered: HashSet<IdHash>,
}

impl OpenCalls<'_> {
    /// Ends the calls: pi answers the remaining ones.
    fn close(&mut self, sent: &mut Vec<Sent>) {
        let unanswered = self.calls.iter().filter(|call| !self.answered.contains(call));
        sent.extend(unanswered.map(|_| Sent::NoResult(self.by)));
        *self = Self::default();
    }
}

/// Returns the messages sent for the entries of a context; `replaced` contains the new contents of edited ones.
fn sent(tree: &Tree, entries: &[EntryIndex], replaced: &HashMap<EntryIndex, &SendableContent>) -> Vec<Sent> {
    let mut sent = Vec::new();
    let mut open = OpenCalls::default();
    for &at in entries {
        let node = tree.node(at);
        let words = replaced.get(&at).filter(|_| can_be_replaced(node.kind));
        let sending = match (node.model_role.sending, words) {
            (SendState::Yes | SendState::Empty, Some(words)) if node.kind != EntryKind::ToolResult => {
                words.sending(node.kind)
            }
            (sending, _) => sending,
        };
        if sending == SendState::No {
            continue;
        }
        if node.kind == EntryKind::ToolResult {
            open.answered.extend(tree.answers.get(&at));
        } else {
            open.close(&mut sent);
        }
        if node.kind == EntryKind::Assistant && sending == SendState::Yes {
            let own = || tree.calls.get(&at).map_or(&[][..], |calls| calls);
            (open.by, open.calls) = (at, words.map_or_else(own, |words| &words.calls));
        }
        sent.extend((sending == SendState::Yes).then_some(Sent::Entry(at)));
    }
    open.close(&mut sent);
    sent
}

/// Returns `true` if a context edit can replace the contents of an entry (`projectContextEntry`, 1.6.0).
pub(crate) fn can_be_replaced(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::User
            | EntryKind::Assistant
            | EntryKind::ToolResult
            | EntryKind::CustomRole
            | EntryKind::CustomMessage
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::lines::Line;
    use crate::session::tree::TreeLines;

    /// Builds a tree from two parts of the lines, split before the line `cut`.
    fn tree(lines: &[&str], cut: usize) -> Tree {
        let part = |lines: &[&str]| {
            let mut part = TreeLines::new("");
            lines.iter().for_each(|line| part.line(Line::new(0, line.as_bytes(), true)));
            part
        };
        Tree::build([part(&lines[..cut]), part(&lines[cut..])]).unwrap()
    }

    #[test]
    fn parts_give_the_same_context_as_the_whole() {
        let lines = [
            r#"{"type":"session","id":"s"}"#,
            r#"{"type":"model_change","provider":"p","modelId":"one"}"#,
            r#"{"type":"thinking_level_change","thinkingLevel":"low"}"#,
            r#"{"type":"session","id":"t"}"#,
            r#"{"type":"message","message":{"role":"assistant","provider":"p","model":"two"}}"#,
            r#"{"type":"compaction","firstKeptEntryIndex":4}"#,
            r#"{"type":"model_change","provider":"p","modelId":"one"}"#,
            r#"{"type":"thinking_level_change","thinkingLevel":"high"}"#,
            r#"{"type":"message","message":{"role":"assistant","provider":"q","model":"two"}}"#,
        ];
        let context = |cut| context(&tree(&lines, cut), Some(6));
        assert_eq!(context(lines.len()).entries, [3, 2, 6]);
        assert_eq!(context(lines.len()).model, Some(("q".into(), "two".into())));
        assert_eq!(context(lines.len()).thinking_level, "high");
        for cut in 0..lines.len() {
            assert_eq!(context(cut), context(lines.len()), "cut before {cut}");
        }
    }

    #[test]
    fn dependencies_are_messages_with_their_edits_and_the_last_settings() {
        let mut lines = vec![r#"{"type":"session","version":3,"id":"s"}"#.to_owned()];
        let message = |role: &str| format!(r#""type":"message","message":{{"role":"{role}","content":"x"}}"#);
        let edit =
            |target: &str, to: &str| format!(r#""type":"context_edit","targetId":"{target}","replacement":{to}"#);
        let (words, setting) = (r#"{"content":"y"}"#, |kind: &str| format!(r#""type":"{kind}""#));
        let fields = [
            setting("thinking_level_change"), // 0: not the last one
            setting("thinking_level_change"),
            message("assistant"), // 2: summarized, but it has the last model of an answer
            message("user"),
            edit("2", "null"), // 4: before the kept entries, without effect
            setting("model_change"),
            message("system"), // 6: not kept
            message("user"),
            edit("3", words), // 8: the target is not in the context
            setting("compaction") + r#","firstKeptEntryId":"6""#,
            setting("label"),
            edit("7", "null"), // 11: superseded
            edit("7", words),
            message("user"),
            edit("13", "null"), // 14: omits the message, and neither is needed
            setting("session_info"),
        ];
        for (at, fields) in fields.iter().enumerate() {
            let parent = at.checked_sub(1).map_or("null".into(), |parent| format!("\"{parent}\""));
            lines.push(format!(r#"{{"id":"{at}","parentId":{parent},{fields}}}"#));
        }
        let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
        let tree = tree(&lines, lines.len());
        assert_eq!(dependencies(&tree, tree.leaf), [1, 2, 5, 7, 9, 12]);
        assert!(dependencies(&tree, None).is_empty());
        let in_force = |at| edits_in_force(&tree, at).into_iter().collect::<std::collections::BTreeMap<_, _>>();
        assert_eq!(in_force(tree.leaf), [(7, 12), (13, 14)].into());
        assert_eq!((in_force(Some(4)), in_force(Some(11))), ([(2, 4)].into(), [(7, 11)].into()));
        let counts = edit_counts(&tree);
        assert_eq!(counts, EditCounts { omitted: 1, replaced: 1 });
        assert_eq!(counts.text("replaced").as_deref(), Some("1 omitted, 1 replaced"));
    }

    #[test]
    fn before_the_first_entry_the_context_is_empty() {
        let empty = ModelContext { thinking_level: "off".into(), ..ModelContext::default() };
        assert_eq!(context(&tree(&[r#"{"type":"session","id":"s"}"#], 1), None), empty);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_needs_no_recursion() {
        let mut part = TreeLines::new("");
        part.line(Line::new(0, br#"{"type":"session","id":"s"}"#, true));
        for _ in 0..100_000 {
            part.line(Line::new(
                0,
                br#"{"type":"message","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"go on"}}"#,
                true,
            ));
        }
        let tree = Tree::build([part]).unwrap();
        assert_eq!(context(&tree, tree.leaf).messages, 100_000);
    }
}
