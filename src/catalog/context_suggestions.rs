//! Suggests edits of the model context: contents that the model hardly needs any more, and likely secrets.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;

use crate::catalog::context_edits::{ContextEditor, EditWish, WantedEdit, first_of_turns, is_editable};
use crate::export::jsonl::replace_texts;
use crate::secrets::Rules;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::{CallDescription, FileOperation};
use crate::session::prompt::plan::Plan;
use crate::session::tree::node::{EntryOutcome, Node};
use crate::session::tree::{EntryIndex, Tree};
use crate::session::write::context_edit::{original, without_images};

/// The minimum size in bytes of outputs to shorten.
const LARGE: u64 = 10_000;

/// The lines that stay at each end of a large output.
pub const KEPT_LINES: usize = 10;

/// Returns the suggested edits of the context after an entry. They concern results that a later read of the same file
/// replaced, and outputs over 10 kB before the last two turns. They also concern failed attempts that succeeded later,
/// images before the last turn, and likely secrets.
///
/// # Errors
/// The session cannot be read.
pub fn suggestions(path: &Path, tree: &Tree, at: EntryIndex, rules: &Rules) -> Result<Vec<WantedEdit>> {
    let plan = Plan::new(tree, Some(at));
    let sent: Vec<EntryIndex> = plan.sent().map(|part| part.at).collect();
    let [last_turn, last_two_turns] = [1, 2].map(|turns| first_of_turns(tree, &sent, turns));
    // The last places of calls that succeeded.
    let mut last_fine: HashMap<String, usize> = HashMap::new();
    for (place, &at) in sent.iter().enumerate() {
        let node = tree.node(at);
        let called = called(node).filter(|_| node.outcome == EntryOutcome::Fine);
        last_fine.extend(called.map(|called| (key(called), place)));
    }
    let is_repeated =
        |called: &CallDescription, place: usize| last_fine.get(&key(called)).is_some_and(|&last| last > place);
    let mut source = ContextEditor::new(path, tree, &plan)?;
    let mut wanted = Vec::new();
    for (place, &at) in sent.iter().enumerate() {
        let node = tree.node(at);
        if !is_editable(node.kind) || node.kind == EntryKind::Assistant {
            continue;
        }
        let is_old = place < last_turn;
        let called = called(node);
        if is_old && node.outcome == EntryOutcome::Failed && called.is_some_and(|call| is_repeated(call, place)) {
            wanted.push(WantedEdit { at, wish: EditWish::Omit });
            continue;
        }
        let before = source.content(at)?;
        let content = if is_old { without_images(&before) } else { None }.unwrap_or_else(|| before.clone());
        let content = without_secrets(&content, node.kind, rules);
        if content != before {
            wanted.push(WantedEdit { at, wish: EditWish::Content(content) });
        }
        let is_read_again =
            called.is_some_and(|call| call.touch() == Some(FileOperation::Read) && is_repeated(call, place));
        let is_large = node.kind == EntryKind::ToolResult && node.len > LARGE && place < last_two_turns;
        let lines = if is_read_again { Some(0) } else { is_large.then_some(KEPT_LINES) };
        wanted.extend(lines.map(|lines| WantedEdit { at, wish: EditWish::Shorten(lines) }));
    }
    Ok(wanted)
}

/// Returns the call of a result.
fn called(node: &Node) -> Option<&CallDescription> {
    node.called.as_deref().filter(|_| node.kind == EntryKind::ToolResult)
}

/// Returns what identifies equal calls.
fn key(called: &CallDescription) -> String {
    format!("{}\0{}\0{}", called.name, called.path, called.about)
}

/// Returns the content with the names of rules in place of likely secrets.
fn without_secrets(content: &[u8], kind: EntryKind, rules: &Rules) -> Vec<u8> {
    let line =
        [br#"{"type":"message","content":"#, content, br#","message":{"role":"user","content":"#, content, b"}}"];
    let mut mask = |_: &str, text: &str| match rules.mask(text) {
        Cow::Owned(masked) => Some(masked),
        Cow::Borrowed(_) => None,
    };
    original(&replace_texts(&line.concat(), &mut mask), kind)
}
