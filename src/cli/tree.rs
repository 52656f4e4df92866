//! `pitree tree`: prints the tree of a session as text, or all entries as JSON.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::app::panes::tree::row_text;
use crate::app::panes::tree::rows::{RowItem, TreeRows, passes};
use crate::base::text::{spans_text, width};
use crate::cli::output::object;
use crate::cli::{CommandContext, Exit, completions, output};
use crate::config::Filter;
use crate::disk::load::Bodies;
use crate::session::entry::RawTime;
use crate::session::lines::Line;
use crate::session::tree::Tree;

/// The maximum width of tree lines without a terminal.
const LINES: usize = 240;

/// Show the tree of one session
#[derive(Debug, clap::Args)]
pub(super) struct TreeCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command
    #[arg(add = completions::sessions())]
    session: OsString,
    /// Which entries to show
    #[arg(long, value_name = "MODE")]
    filter: Option<Filter>,
    /// Print every entry of the file as JSON Lines
    #[arg(long, conflicts_with = "filter")]
    json: bool,
}

impl TreeCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let path = context.session(&self.session)?;
        let tree = context.tree(&path)?;
        if self.json {
            json(&tree, &path)?;
        } else {
            text(&tree, self.filter.unwrap_or_else(|| context.filter()), context)?;
        }
        Ok(Exit::Done)
    }
}

fn text(tree: &Tree, filter: Filter, context: &CommandContext) -> Result<()> {
    let glyphs = context.config.signs();
    let rows = TreeRows::new(tree, |at| passes(tree, at, filter), [], &[]).place();
    let columns = output::columns();
    for row in 0..rows.list.len() {
        let RowItem::Entry(at) = rows.list[row].item else { continue };
        // The text follows the lines, because thousands of levels are possible.
        let lines = rows.prefix_width(row);
        let cut = lines.saturating_sub(columns.map_or(LINES, |columns| columns / 2));
        let line = rows.lead(row, cut..lines, cut > 0, glyphs) + &spans_text(&row_text::pi_entry(tree, at, glyphs));
        let mark = if rows.leaf == Some(row) { format!("  {} leaf", glyphs.leaf) } else { String::new() };
        let line =
            columns.map_or(Cow::Borrowed(&*line), |columns| glyphs.cut(&line, columns - width(&mark).min(columns)));
        outln!("{line}{mark}")?;
    }
    if tree.nodes.is_empty() {
        output::note("the session has no entries");
    } else if rows.list.is_empty() {
        note!("no entries match the filter {}", filter.name());
    }
    for problem in &tree.problems {
        output::error(&problem.to_string());
    }
    Ok(())
}

fn json(tree: &Tree, path: &Path) -> Result<()> {
    let mut bodies = Bodies::open(path)?;
    let has_ids = tree.header.version >= 2.0;
    let mut depth = vec![0; tree.nodes.len()];
    for at in tree.preorder(false) {
        depth[at as usize] = tree.parent(at).map_or(0, |parent| depth[parent as usize] + 1);
        let node = &tree.nodes[at as usize];
        let bytes = bodies.known(node)?;
        let line = Line { len: node.len, ..Line::new(node.offset, &bytes, true) };
        let entry = line.read().ok().flatten().unwrap_or_default();
        let role = entry.role().map(|role| role.text().into_owned());
        let entry_line = object! {
            id: node.id.as_deref(),
            parent_id: entry.parent_id.filter(|_| has_ids).map(|id| id.text().into_owned()),
            depth: depth[at as usize],
            r#type: Some(entry.type_name.text().into_owned()).filter(|name| !name.is_empty()),
            // pi renames this role in old files.
            role: role.map(|role| if role == "hookMessage" { "custom".into() } else { role }),
            // As in the file.
            timestamp: match entry.timestamp {
                None => Value::Null,
                Some(RawTime::Text(text)) => text.text().into(),
                Some(RawTime::Number(number)) => output::number(number).into(),
            },
            label: tree.labels.get(&at).map(|label| &*label.text),
            active: tree.is_active(at),
            leaf: tree.leaf == Some(at),
            text: if entry.is_cut { node.text.to_string() } else { entry.text() },
        };
        output::json(&entry_line)?;
    }
    Ok(())
}
