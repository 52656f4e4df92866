//! The output of the picker.

use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;

use crate::app::message::{PickedEntry, PickerOutput};
use crate::app::startup::Startup;
use crate::base::safe_json::{PathFields, push_json_line};
use crate::disk::files::Files;
use crate::disk::load::Bodies;
use crate::disk::locate;
use crate::pi::launch;
use crate::runtime::raw_output;
use crate::session::entry::parse;
use crate::session::tree::resume::at;

/// Prints the selection.
///
/// # Errors
/// The entry cannot be read, or the output cannot be written.
pub(super) fn print(setting: &Startup, files: Files, answer: &PickerOutput) -> Result<()> {
    let answer = match answer {
        PickerOutput::Path(path) => path.clone().into_os_string(),
        PickerOutput::Id(id) => id.into(),
        PickerOutput::Command(start) => launch::line(&setting.config.pi, start, locate::state_dir().as_deref()).into(),
        PickerOutput::Json(chosen) => return object(chosen, files),
    };
    raw_output::print(&answer)
}

/// The selection as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PickedFields<'a> {
    #[serde(flatten)]
    path: PathFields,
    id: &'a str,
    cwd: &'a str,
    name: Option<&'a str>,
    entry: Option<&'a str>,
    is_leaf: bool,
    text: Option<String>,
    draft: Option<String>,
}

fn object(chosen: &PickedEntry, files: Files) -> Result<()> {
    let PickedEntry { path, id, cwd, name, entry, draft } = chosen;
    let text = entry
        .as_ref()
        .map(|(tree, at)| Bodies::open(files, path)?.line(&tree.nodes[*at as usize]).map(|line| parse::text(&line)));
    let text = text.transpose()?;
    let goes_back = entry.as_ref().is_some_and(|(tree, chosen)| at(tree, *chosen).text_of.is_some());
    let fields = PickedFields {
        path: (&**path).into(),
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
