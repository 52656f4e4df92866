//! The context of the model when pi resumes at an entry, as in pi's `buildSessionProjection` (0.87.1).

use std::collections::HashMap;

use crate::session::entry::kind::EntryKind;
use crate::session::links::Index;
use crate::session::tree::Tree;
use crate::session::tree::model_role::ModelSetting;
use crate::session::tree::sent_messages;
use crate::session::tree::sent_messages::Sent;

/// The context of the model at an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelContext {
    /// The entries with messages, in the order of the messages: the compaction is first.
    pub entries: Vec<Index>,
    /// The number of messages returned by pi's `buildSessionContext`.
    pub messages: usize,
    /// The messages that pi sends.
    pub sent: Vec<Sent>,
    /// The provider and the ID of the last model that was set or answered.
    pub model: Option<(String, String)>,
    /// The last thinking level that was set, or else pi's default `off`.
    pub thinking_level: String,
    /// The compaction whose summary replaces the earlier entries.
    pub compaction: Option<Index>,
    /// The last context edit of each edited entry.
    pub edits: HashMap<Index, Index>,
}

/// Returns the context when pi resumes at an entry; `None` is an empty conversation.
pub fn context(tree: &Tree, at: Option<Index>) -> ModelContext {
    let path = at.map(|at| tree.path(at)).unwrap_or_default();
    let mut context = ModelContext { thinking_level: "off".into(), ..ModelContext::default() };
    let kind = |at: Index| tree.nodes[at as usize].kind;
    let mut is_set = (false, false);
    for &at in path.iter().rev() {
        match tree.settings.get(tree.nodes[at as usize].model_role.setting) {
            Some(ModelSetting::Model(provider, model)) if !is_set.0 => {
                context.model = Some((provider.clone(), model.clone()));
                is_set.0 = true;
            }
            Some(ModelSetting::Thinking(level)) if !is_set.1 => {
                context.thinking_level.clone_from(level);
                is_set.1 = true;
            }
            _ => {}
        }
    }
    let compaction = path.iter().rposition(|&at| kind(at) == EntryKind::Compaction);
    context.compaction = compaction.map(|place| path[place]);
    let mut seen: Vec<Index> = context.compaction.into_iter().collect();
    if let Some(place) = compaction {
        let first = tree.first_kept.get(&path[place]);
        // System messages are not kept.
        let is_kept = |at: &&Index| tree.nodes[**at as usize].kind != EntryKind::SystemRole;
        seen.extend(path[..place].iter().skip_while(|at| first != Some(*at)).filter(is_kept));
    }
    seen.extend(&path[compaction.map_or(0, |place| place + 1)..]);
    // Only context edits in the context apply, and only the last one of each target.
    context.edits = seen.iter().filter_map(|&edit| Some((tree.edits.get(&edit)?.0, edit))).collect();
    let words = |edit: &Index| tree.edits.get(edit).and_then(|(_, words)| words.as_ref());
    for at in seen {
        let is_older_compaction = kind(at) == EntryKind::Compaction && Some(at) != context.compaction;
        let messages = tree.nodes[at as usize].model_role.messages;
        let is_omitted = context.edits.get(&at).is_some_and(|edit| words(edit).is_none());
        if messages > 0 && !is_older_compaction && !is_omitted {
            context.entries.push(at);
            context.messages += usize::from(messages);
        }
    }
    let replaced = context.edits.iter().filter_map(|(&at, edit)| Some((at, words(edit)?))).collect();
    context.sent = sent_messages::sent(tree, &context.entries, &replaced);
    context
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
