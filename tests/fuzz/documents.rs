//! Entries in full: every row fits the width and contains no control characters.

use std::time::Instant;

use pitree::base::text::{is_unsafe, width};
use pitree::export::entry::{Body, document, related};
use pitree::render::DocLine;
use pitree::render::wrap::Wrapped;
use pitree::session::tree::context::edits_in_force;
use pitree::session::tree::{EntryIndex, Tree};
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

use crate::fuzz::sessions;

/// Maximum number of entries shown per file.
const SHOWN: usize = 30;

/// Shows entries. The first byte selects the type of the rest: a session, or text that becomes a message. The second
/// byte sets the width.
pub(crate) fn run(data: &[u8]) {
    let [kind, columns, rest @ ..] = data else { return };
    let made;
    let file = if kind % 2 == 0 {
        rest
    } else {
        made = message(kind / 2, &String::from_utf8_lossy(rest));
        &made[..]
    };
    let Some(tree) = sessions::tree(file, &[]) else { return };
    let by = (tree.nodes.len() / SHOWN).max(1);
    for at in (0..tree.nodes.len()).step_by(by) {
        shown(&entry(&tree, file, at as EntryIndex), usize::from(*columns));
    }
}

/// Creates a session with one message of a given type.
fn message(kind: u8, text: &str) -> Vec<u8> {
    let half = text.floor_char_boundary(text.len() / 2);
    let call = |name: &str, arguments: Value| {
        json!({"role": "assistant", "content": [
        {"type": "toolCall", "id": "c", "name": name, "arguments": arguments}]})
    };
    let message = match kind % 8 {
        0 => json!({"role": "assistant", "content": [{"type": "text", "text": text}]}),
        1 => json!({"role": "user", "content": text}),
        2 => json!({"role": "assistant", "content": [{"type": "thinking", "thinking": text}]}),
        3 => call("edit", json!({"path": "a.rs", "oldText": text[..half], "newText": text[half..]})),
        4 => call(
            "write",
            json!({"path": format!("a.{}", &text[..text.floor_char_boundary(half.min(3))]), "content": text}),
        ),
        5 => call("bash", json!({"command": text})),
        6 => {
            json!({"role": "toolResult", "toolCallId": "c", "toolName": "read", "content": [{"type": "text", "text": text}],
            "details": {"diff": text}})
        }
        _ => json!({"role": "bashExecution", "command": text, "output": text, "exitCode": 1}),
    };
    let entry = json!({"type": "message", "id": "u1", "parentId": null, "message": message});
    format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/\"}}\n{entry}\n").into_bytes()
}

fn entry(tree: &Tree, file: &[u8], at: EntryIndex) -> Vec<DocLine> {
    let line = |at: EntryIndex| {
        let node = &tree.nodes[at as usize];
        file[node.offset as usize..(node.offset + node.len) as usize].to_vec()
    };
    let edits = edits_in_force(tree, tree.leaf);
    let body = |at| Body { line: line(at), edit: edits.get(&at).map(|&edit| line(edit)) };
    let others: Vec<Body> = related(tree, at).into_iter().map(body).collect();
    let begun = Instant::now();
    document(tree, at, (&body(at), &others), &jiff::tz::TimeZone::UTC, &|| begun.elapsed()).lines
}

fn shown(lines: &[DocLine], columns: usize) {
    let mut wrapped = Wrapped::new(columns);
    wrapped.all(lines);
    assert!(wrapped.complete(lines));
    for index in 0..wrapped.len() {
        let row: String = wrapped.row(lines, index).iter().map(|(text, _)| text.as_ref()).collect();
        assert!(!row.contains(is_unsafe), "{row:?}");
        let fits = row.graphemes(true).map(width).sum::<usize>() <= columns.max(1);
        let lead = wrapped.shown(lines, index).map_or(0, |shown| shown.lead);
        assert!(fits || row[lead..].graphemes(true).count() == 1, "{row:?} in {columns}");
    }
}
