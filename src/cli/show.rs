//! `pitree show`: prints an entry with the entries around it and their ids.

use std::collections::HashSet;
use std::ffi::OsString;
use std::iter::successors;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::base::javascript::utf16_prefix;
use crate::base::numbers::thousands;
use crate::base::text::{clean, clean_lines};
use crate::base::time;
use crate::cli::output::PathFields;
use crate::cli::{CommandContext, Exit, completions, output, resolve};
use crate::disk::load::Bodies;
use crate::render::entry::{related, source_text};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::parse;
use crate::session::tree::{Index, Tree};

/// Show an entry with the entries around it
///
/// Later entries are those on the branch to the leaf, or on the newest branch. Settings, labels and
/// names are skipped unless ENTRY is one of them. Prints the ids of the previous and next entries, for paging.
#[derive(Debug, clap::Args)]
pub(super) struct ShowCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command; SESSION@ENTRY names the entry as well
    #[arg(add = completions::sessions())]
    session: OsString,
    /// Entry id, unique id prefix, or label; defaults to the last message or summary of the active branch
    #[arg(add = completions::entries())]
    entry: Option<String>,
    /// Show N entries of context before and after
    #[arg(short = 'C', long, value_name = "N", default_value_t = 2)]
    context: usize,
    /// Truncate each entry to N characters
    #[arg(long, value_name = "N", default_value_t = 2000)]
    chars: usize,
    /// Print entries without truncation
    #[arg(long, conflicts_with = "chars")]
    full: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// A session with the shown entries.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownEntries<'a> {
    #[serde(flatten)]
    path: PathFields,
    id: &'a str,
    name: Option<&'a str>,
    cwd: &'a str,
    entries: Vec<EntryFields<'a>>,
    /// The entries before and after them on the same branch.
    previous: Option<&'a str>,
    next: Option<&'a str>,
}

/// The JSON form of an entry.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryFields<'a> {
    id: Option<&'a str>,
    parent_id: Option<&'a str>,
    /// The first entries of other branches.
    branches: Vec<&'a str>,
    r#type: String,
    role: Option<String>,
    time: Option<String>,
    label: Option<&'a str>,
    /// `true` for the requested entry.
    asked: bool,
    active: bool,
    leaf: bool,
    text: String,
    /// The length of the whole text in characters, if it was truncated.
    cut_from: Option<usize>,
}

impl ShowCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let place = context.place(&self.session, self.entry.as_deref())?;
        let (path, tree) = (&place.path, context.tree(&place.path)?);
        let asked = place.entry_in(&tree)?.or_else(|| last(&tree)).context("the session has no entries")?;
        let branch = branch(&tree, asked);
        let is_said = |at: &Index| *at == asked || !tree.nodes[*at as usize].kind.is_bookkeeping();
        let way: Vec<Index> = branch.iter().copied().filter(is_said).collect();
        let at = way.iter().position(|&at| at == asked).unwrap_or_default();
        let from = at.saturating_sub(self.context);
        let to = (at + self.context + 1).min(way.len());
        let id = |at: Index| tree.nodes[at as usize].id.as_deref();
        let mut bodies = Bodies::open(path)?;
        let on_branch: HashSet<Index> = branch.into_iter().collect();
        let shown = way[from..to].iter();
        let entries = shown.map(|&at| self.entry(&tree, at, at == asked, (&on_branch, &mut bodies)));
        let entries = entries.collect::<Result<Vec<_>>>()?;
        let name = name(&tree, &mut bodies)?;
        let shown = ShownEntries {
            path: (&*resolve::absolute(path)?).into(),
            id: &tree.header.id,
            name: name.as_deref(),
            cwd: &tree.header.cwd,
            entries,
            previous: from.checked_sub(1).and_then(|before| id(way[before])),
            next: way.get(to).and_then(|&behind| id(behind)),
        };
        match self.json {
            true => output::json(&shown)?,
            false => text(&shown)?,
        }
        Ok(Exit::Done)
    }

    /// Formats an entry of a branch.
    fn entry<'a>(
        &self,
        tree: &'a Tree,
        at: Index,
        asked: bool,
        (on_branch, bodies): (&HashSet<Index>, &mut Bodies),
    ) -> Result<EntryFields<'a>> {
        let node = &tree.nodes[at as usize];
        let line = bodies.line(node)?;
        let others: Result<Vec<Vec<u8>>> =
            related(tree, at).into_iter().map(|at| bodies.line(&tree.nodes[at as usize])).collect();
        let whole = source_text(tree, at, (&line, &others?), &jiff::tz::TimeZone::system());
        let entry = parse::entry(&line);
        // The first line is shown as fields.
        let whole = whole.split_once("\n\n").map_or(&*whole, |(_, text)| text).trim_end();
        let end = whole.char_indices().nth(self.chars).filter(|_| !self.full);
        let text = end.map_or(whole, |(end, _)| &whole[..end]);
        let id = |at: Index| tree.nodes[at as usize].id.as_deref();
        Ok(EntryFields {
            id: node.id.as_deref(),
            parent_id: tree.parent(at).and_then(id),
            branches: tree.branches(at).filter(|at| !on_branch.contains(at)).filter_map(id).collect(),
            r#type: entry.type_name.text().into_owned(),
            role: entry.role().map(|role| role.text().into_owned()),
            time: node.time.and_then(time::iso),
            label: tree.labels.get(&at).map(|label| &*label.text),
            asked,
            active: tree.is_active(at),
            leaf: tree.leaf == Some(at),
            cut_from: (text.len() < whole.len()).then(|| whole.chars().count()),
            text: text.to_owned(),
        })
    }
}

/// Returns the last message or summary before the leaf, or else the leaf.
fn last(tree: &Tree) -> Option<Index> {
    let says = |at: &Index| !tree.nodes[*at as usize].kind.is_bookkeeping();
    tree.to_root(tree.leaf).find(says).or(tree.leaf)
}

/// Returns the path to an entry, and its continuation: the branch that leads to the leaf, or else the newest branch.
fn branch(tree: &Tree, asked: Index) -> Vec<Index> {
    let behind = |&at: &Index| {
        let children = tree.children(at);
        children.iter().copied().find(|&child| tree.is_active(child)).or(children.iter().copied().max())
    };
    let mut branch = tree.path(asked);
    branch.extend(successors(Some(asked), behind).skip(1));
    branch
}

/// Returns the session name: the last one set on any branch.
fn name(tree: &Tree, bodies: &mut Bodies) -> Result<Option<String>> {
    let Some(last) = tree.nodes.iter().rfind(|node| node.kind == EntryKind::SessionInfo) else { return Ok(None) };
    let line = bodies.line(last)?;
    Ok(parse::line(&line).ok().flatten().and_then(|entry| entry.session_name()))
}

fn text(shown: &ShownEntries<'_>) -> Result<()> {
    let name = shown.name.map_or(String::new(), |name| format!("  {}", clean(utf16_prefix(name, 200))));
    outln!("session {}{name}  {}", clean(shown.id), clean(shown.cwd))?;
    if let Some(previous) = shown.previous {
        outln!("previous: {}", clean(previous))?;
    }
    for entry in &shown.entries {
        let mut facts = vec![entry.role.clone().unwrap_or_else(|| entry.r#type.clone())];
        facts.extend(entry.id.map(|id| id.to_owned()));
        facts.extend(entry.time.clone());
        facts.extend(entry.label.map(|label| format!("label {label}")));
        facts.extend((!entry.active).then(|| "abandoned".into()));
        facts.extend(entry.leaf.then(|| "leaf".into()));
        facts.extend((!entry.branches.is_empty()).then(|| format!("other branches: {}", entry.branches.join(" "))));
        outln!("\n{} {}", if entry.asked { ">>" } else { "--" }, clean(&facts.join("  ")))?;
        for line in clean_lines(&entry.text) {
            output::line(line)?;
        }
        if let Some(whole) = entry.cut_from {
            outln!("[truncated; {} characters in total; use --full to show all]", thousands(whole))?;
        }
    }
    if let Some(next) = shown.next {
        outln!("\nnext: {}", clean(next))?;
    }
    Ok(())
}
