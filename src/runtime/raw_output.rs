//! Output for other programs: a path, a command, or the selection of a picker.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};

use anyhow::Result;

use crate::app::settings::{PickedEntry, PickerOutput, Settings};
use crate::base::safe_json::{PathFields, object, push_json_line};
use crate::base::text::clean;
use crate::disk::load::EntryReader;
use crate::disk::locate;
use crate::runtime::external;
use crate::session::entry::parse;
use crate::session::tree::resume::at;

/// Prints text on a line, unchanged except for unsafe characters on a terminal, which are replaced with a warning.
///
/// # Errors
/// The text cannot be written.
pub(crate) fn print(product: &OsStr) -> Result<()> {
    let mut out = io::stdout().lock();
    if !out.is_terminal() {
        out.write_all(product.as_encoded_bytes())?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    let text = product.to_string_lossy();
    let shown = clean(&text);
    writeln!(out, "{shown}")?;
    out.flush()?;
    if shown.as_ref() != product {
        let _ = writeln!(
            io::stderr(),
            "pitree: unprintable characters replaced; redirect to a pipe or file for the exact text"
        );
    }
    Ok(())
}

/// Prints the selection of a picker.
///
/// # Errors
/// The entry cannot be read, or the output cannot be written.
pub(super) fn print_choice(settings: &Settings, answer: &PickerOutput) -> Result<()> {
    let answer = match answer {
        PickerOutput::Path(path) => path.clone().into_os_string(),
        PickerOutput::Id(id) => id.into(),
        PickerOutput::Command(start) => {
            external::command_line_of(settings, start, locate::state_dir().as_deref()).into()
        }
        PickerOutput::Json(chosen) => return object(chosen),
    };
    print(&answer)
}

/// Prints the selection as JSON.
fn object(chosen: &PickedEntry) -> Result<()> {
    let PickedEntry { path, id, cwd, name, entry, draft } = chosen;
    let text = entry
        .as_ref()
        .map(|(tree, at)| EntryReader::open(path)?.line(&tree.nodes[*at as usize]).map(|line| parse::text(&line)));
    let text = text.transpose()?;
    let goes_back = entry.as_ref().is_some_and(|(tree, chosen)| at(tree, *chosen).returned_text_entry.is_some());
    let fields = object! {
        #[serde(flatten)] path: PathFields::from(&**path),
        id,
        cwd,
        name: name.as_deref(),
        entry: entry.as_ref().and_then(|(tree, at)| tree.nodes[*at as usize].id.as_deref()),
        is_leaf: entry.as_ref().is_none_or(|(tree, at)| tree.leaf == Some(*at)),
        draft: draft.clone().or_else(|| text.clone().filter(|_| goes_back)),
        text,
    };
    let mut line = Vec::new();
    push_json_line(&mut line, &fields)?;
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    Ok(out.flush()?)
}
