//! The changed files of an exported branch, each with the difference from its first to its last state.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use anyhow::Result;

use crate::base::diff;
use crate::base::paths::relative_to;
use crate::export::document::{Part, ToolPart, one_line};
use crate::export::selection::{ReadBody, Selection};
use crate::session::links::EntryIndex;
use crate::session::replay::Replay;
use crate::session::replay::files::Files;
use crate::session::replay::state::{FileState, Source};
use crate::session::tree::node::Node;

/// A home directory that becomes `~` again: documents do not name that of the user.
const HOME: &str = "/~";

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
    // The text of each file before its first change, if it is known.
    let mut first: BTreeMap<String, Option<String>> = BTreeMap::new();
    for &at in &selection.entries {
        let before = files.clone();
        replay.step(&mut files, at)?;
        if Rc::ptr_eq(&before, &files) {
            continue;
        }
        let is_change = |state: &FileState| state.latest == at && !state.source.is_read();
        for (file, state) in files.iter().filter(|(_, state)| is_change(state)) {
            first.entry(file.clone()).or_insert_with(|| match before.get(file) {
                Some(before) => before.whole_or_removed().map(String::from),
                None => (state.source == Source::Write).then(String::new),
            });
        }
    }
    let difference = |(file, first): (String, Option<String>)| {
        let (first, last) = (first?, files.get(&file)?.whole_or_removed()?);
        let (added, removed) = diff::changed_lines(&first, last).filter(|lines| *lines != (0, 0))?;
        let name = one_line(&(selection.label)(&relative_to(&tree.header.cwd, &file, HOME)));
        // The title has the name already.
        let hunks = diff::unified(&first, last, &name).splitn(3, '\n').nth(2).unwrap_or_default().to_owned();
        let about = format!("+{added} −{removed}");
        let tool = ToolPart { name, about, parts: vec![Part::Diff(hunks)], ..ToolPart::default() };
        Some(Part::Tool(tool.into()))
    };
    Ok(first.into_iter().filter_map(difference).collect())
}
