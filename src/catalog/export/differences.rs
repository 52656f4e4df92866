//! The changed files of an exported branch, each with the difference from its first to its last state.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Result;

use crate::base::diff;
use crate::base::paths::relative_to;
use crate::export::document::{Part, ToolPart, one_line};
use crate::export::selection::{ReadBody, Selection};
use crate::session::links::EntryIndex;
use crate::session::replay::Replay;
use crate::session::replay::files::Files;
use crate::session::replay::state::{Content, FileState, Source};
use crate::session::tree::node::Node;

/// A home directory that becomes `~` again: documents do not name that of the user.
const HOME: &str = "/~";

/// Returns the text of a state, if every byte was known.
fn text(state: &FileState) -> Option<&str> {
    if state.content == Content::Removed { Some("") } else { state.whole() }
}

/// Returns the differences of the files that the entries of a branch changed, as folds titled with their names. A file
/// that was never read before it was written begins empty. Files that are not wholly known are omitted. Replays the lines
/// that `read` returns: those of redacted lines have no secrets.
///
/// # Errors
/// An entry cannot be read.
pub(crate) fn differences(selection: &Selection<'_>, read: ReadBody<'_>) -> Result<Vec<Part>> {
    let tree = selection.tree;
    let places: HashMap<u64, EntryIndex> = tree.nodes.iter().zip(0..).map(|(node, at)| (node.offset, at)).collect();
    let mut replay = Replay::new(tree, HOME, |node: &Node| read(places[&node.offset]));
    let mut files: Rc<Files> = Rc::default();
    let mut first: BTreeMap<String, Option<Arc<FileState>>> = BTreeMap::new();
    for &(at, _) in &selection.entries {
        let before = files.clone();
        replay.step(&mut files, at)?;
        if Rc::ptr_eq(&before, &files) {
            continue;
        }
        let is_change = |state: &FileState| state.latest == at && !state.source.is_read();
        for (file, state) in files.iter().filter(|(_, state)| is_change(state)) {
            let is_begun = before.contains_key(file) || state.source == Source::Write;
            if is_begun && !first.contains_key(file) {
                first.insert(file.clone(), before.get(file).cloned());
            }
        }
    }
    let difference = |(file, first): (String, Option<Arc<FileState>>)| {
        let last = files.get(&file)?;
        let (first, last) = (first.as_deref().map_or(Some(""), text)?, text(last)?);
        let (added, removed) = diff::changed_lines(first, last).filter(|lines| *lines != (0, 0))?;
        let name = one_line(&(selection.label)(&relative_to(&tree.header.cwd, &file, HOME)));
        // The title has the name already.
        let hunks = diff::unified(first, last, &name).splitn(3, '\n').nth(2).unwrap_or_default().to_owned();
        let about = format!("+{added} −{removed}");
        Some(Part::Tool(ToolPart { name, about, failed: String::new(), parts: vec![Part::Diff(hunks)] }))
    };
    Ok(first.into_iter().filter_map(difference).collect())
}
