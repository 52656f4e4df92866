//! One session: `pitree show` prints an entry with the entries around it, `pitree path` the path of the file, and
//! `pitree tree` the tree.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use crate::app::panes::tree::row_text;
use crate::app::panes::tree::rows::{RowItem, TreeRows, passes};
use crate::app::panes::tree::summaries;
use crate::base::javascript::utf16_prefix;
use crate::base::numbers::thousands;
use crate::base::text::{Span, Tone, clean, cut_spans, width};
use crate::base::time;
use crate::cli::output::{PathFields, RemoteFields, object};
use crate::cli::{CommandContext, Exit, completions, output, resolve};
use crate::config::Filter;
use crate::disk::load::EntryReader;
use crate::export::entry::{Body, document, related, source_text};
use crate::runtime::raw_output;
use crate::session::activity::Activity;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{RawTime, parse};
use crate::session::lines::Line;
use crate::session::tree::context::edits_in_force;
use crate::session::tree::{EntryIndex, Tree};

/// Show an entry with its neighbors, or a turn as text
///
/// Later entries are those on the branch to the leaf, or on the newest branch. Settings, labels and
/// names are skipped unless ENTRY is one of them. Prints the ids of the previous and next entries, for paging.
/// A turn or a stretch is printed as in the reader of the browser, with all of it unfolded.
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
    /// Show turn N of the branch to the leaf; 1 is the first prompt
    #[arg(long, value_name = "N", conflicts_with_all = ["entry", "from", "context"])]
    turn: Option<usize>,
    /// Show the entries from this one on
    #[arg(long, value_name = "ENTRY", conflicts_with_all = ["entry", "context"], add = completions::entries())]
    from: Option<String>,
    /// Show the entries up to this one
    #[arg(long, value_name = "ENTRY", requires = "from", add = completions::entries())]
    to: Option<String>,
    /// Truncate each entry to N characters
    #[arg(long, value_name = "N")]
    chars: Option<usize>,
    /// Print entries without truncation
    #[arg(long, conflicts_with = "chars", hide = true)]
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
        let asked = self.to.as_ref().or(self.from.as_ref()).or(self.entry.as_ref());
        let place = context.place(&self.session, asked.map(String::as_str))?;
        let (path, tree) = (&place.path, context.tree(&place.path)?);
        let asked = place.entry_in(&tree)?.or_else(|| last(&tree)).context("the session has no entries")?;
        let branch = tree.branch(asked);
        let edits = edits_in_force(&tree, branch.last().copied());
        let is_said = |at: &EntryIndex| *at == asked || !tree[*at].kind.is_bookkeeping();
        let way: Vec<EntryIndex> = branch.iter().copied().filter(is_said).collect();
        let at = way.iter().position(|&at| at == asked).unwrap_or_default();
        let (from, to) = match (self.turn, &self.from) {
            (Some(turn), _) => {
                let prompts: Vec<usize> = (0..way.len()).filter(|&at| tree.is_prompt(way[at])).collect();
                let Some(&from) = turn.checked_sub(1).and_then(|turn| prompts.get(turn)) else {
                    return output::nothing(&format!("no turn {turn}: the branch has {}", prompts.len()));
                };
                (from, prompts.get(turn).copied().unwrap_or(way.len()))
            }
            (None, Some(from)) => {
                let from = context.place(&self.session, Some(from))?.entry_in(&tree)?;
                let begin =
                    way.iter().position(|&at| Some(at) == from).filter(|begin| *begin <= at || self.to.is_none());
                let begin = begin.context("the entries of --from and --to are not on one branch, in this order")?;
                (begin, if self.to.is_some() { at + 1 } else { way.len() })
            }
            (None, None) => (at.saturating_sub(self.context), (at + self.context + 1).min(way.len())),
        };
        if !self.json && (self.turn.is_some() || self.from.is_some()) {
            return output::paged(|| print_text(&tree, &way[from..to], &edits, path)).map(|()| Exit::Done);
        }
        let mut reader = EntryReader::open(path)?;
        let on_branch: HashSet<EntryIndex> = branch.into_iter().collect();
        let shown = way[from..to].iter();
        let entries = shown.map(|&at| self.entry(&tree, at, at == asked, (&on_branch, &edits), &mut reader));
        let entries = entries.collect::<Result<Vec<_>>>()?;
        let name = name(&tree, &mut reader)?;
        let shown = ShownEntries {
            path: (&**path).into(),
            id: &tree.header.id,
            name: name.as_deref(),
            cwd: &tree.header.cwd,
            entries,
            previous: from.checked_sub(1).and_then(|before| tree.id(way[before])),
            next: way.get(to).and_then(|&behind| tree.id(behind)),
        };
        let printed = if self.json { output::json(&shown) } else { output::paged(|| shown.print()) };
        printed.map(|()| Exit::Done)
    }

    /// Formats an entry of a branch.
    fn entry<'a>(
        &self,
        tree: &'a Tree,
        at: EntryIndex,
        asked: bool,
        (on_branch, edits): (&HashSet<EntryIndex>, &Edits),
        reader: &mut EntryReader,
    ) -> Result<EntryFields<'a>> {
        let (body, others) = with_related(tree, at, edits, reader)?;
        let whole = source_text(tree, at, (&body, &others), &TimeZone::system());
        let entry = parse::line(&body.line).ok().flatten().unwrap_or_default();
        // The first line is shown as fields.
        let whole = whole.split_once("\n\n").map_or(&*whole, |(_, text)| text).trim_end();
        let end = self.chars.and_then(|chars| whole.char_indices().nth(chars));
        let text = end.map_or(whole, |(end, _)| &whole[..end]);
        let id = |at: EntryIndex| tree.id(at);
        Ok(EntryFields {
            id: id(at),
            parent_id: tree.parent(at).and_then(id),
            branches: tree.branches(at).filter(|at| !on_branch.contains(at)).filter_map(id).collect(),
            r#type: entry.type_name.text().into_owned(),
            role: entry.role().map(|role| role.text().into_owned()),
            time: tree[at].time.and_then(time::iso),
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
fn last(tree: &Tree) -> Option<EntryIndex> {
    let says = |at: &EntryIndex| !tree[*at].kind.is_bookkeeping();
    tree.to_root(tree.leaf).find(says).or(tree.leaf)
}

/// The context edits that are in force at the end of a branch.
type Edits = HashMap<EntryIndex, EntryIndex>;

/// Reads an entry, and the entries that are shown with it.
fn with_related(tree: &Tree, at: EntryIndex, edits: &Edits, reader: &mut EntryReader) -> Result<(Body, Vec<Body>)> {
    let mut line = |at: EntryIndex| reader.line(&tree[at]);
    let mut body = |at| anyhow::Ok(Body { line: line(at)?, edit: edits.get(&at).map(|&edit| line(edit)).transpose()? });
    Ok((body(at)?, related(tree, at).into_iter().map(body).collect::<Result<_>>()?))
}

/// Prints entries as in the reader, with all parts unfolded.
fn print_text(tree: &Tree, entries: &[EntryIndex], edits: &Edits, path: &Path) -> Result<()> {
    let mut reader = EntryReader::open(path)?;
    for (place, &at) in entries.iter().enumerate() {
        let (body, others) = with_related(tree, at, edits, &mut reader)?;
        let text = document(tree, at, (&body, &others), &TimeZone::system(), &|| Duration::ZERO);
        if place > 0 && !text.lines.is_empty() {
            output::line("")?;
        }
        text.lines.iter().try_for_each(|line| output::line(output::paint_all(&line.spans)))?;
    }
    Ok(())
}

/// Returns the session name: the last one set on any branch.
fn name(tree: &Tree, reader: &mut EntryReader) -> Result<Option<String>> {
    let Some(last) = tree.nodes.iter().rfind(|node| node.kind == EntryKind::SessionInfo) else { return Ok(None) };
    let line = reader.line(last)?;
    Ok(parse::line(&line).ok().flatten().and_then(|entry| entry.session_name()))
}

impl ShownEntries<'_> {
    fn print(&self) -> Result<()> {
        let name = self.name.map(|name| format!("  {}", clean(utf16_prefix(name, 200)))).unwrap_or_default();
        let (id, name) = (output::paint(Tone::Dim, &clean(self.id)), output::paint(Tone::Strong, &name));
        outln!("session {id}{name}  {}", clean(self.cwd))?;
        if let Some(previous) = self.previous {
            outln!("previous: {}", clean(previous))?;
        }
        for entry in &self.entries {
            let mut facts = vec![entry.role.clone().unwrap_or_else(|| entry.r#type.clone())];
            facts.extend(entry.id.map(String::from));
            facts.extend(entry.time.clone());
            facts.extend(entry.label.map(|label| format!("label {label}")));
            facts.extend((!entry.active).then(|| "abandoned".into()));
            facts.extend(entry.leaf.then(|| "leaf".into()));
            facts.extend((!entry.branches.is_empty()).then(|| format!("other branches: {}", entry.branches.join(" "))));
            let line = format!("{} {}", if entry.asked { ">>" } else { "--" }, clean(&facts.join("  ")));
            outln!("\n{}", output::paint(if entry.asked { Tone::Strong } else { Tone::Dim }, &line))?;
            output::lines(&entry.text, "")?;
            if let Some(whole) = entry.cut_from {
                outln!("[truncated; {} characters in total; use a larger --chars]", thousands(whole))?;
            }
        }
        if let Some(next) = self.next {
            outln!("\nnext: {}", clean(next))?;
        }
        Ok(())
    }
}

/// Print the path of a session's file
///
/// Of a mirrored session, prints the machine and the path there, and exits with 1: pi must not open the mirror.
#[derive(Debug, clap::Args)]
pub(super) struct PathCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command
    #[arg(add = completions::sessions())]
    session: OsString,
    /// Print a JSON object with the path, id and working directory
    #[arg(long)]
    json: bool,
}

impl PathCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        context.refuse_samples()?;
        let path = context.session(&self.session)?;
        let (header, remote) = (resolve::digest(&path)?.header, RemoteFields::of(&path));
        let exit = if remote.is_some() { Exit::Nothing } else { Exit::Done };
        if self.json {
            let path = remote.is_none().then(|| PathFields::from(&*path));
            let fields = object! {
                #[serde(flatten)] remote, #[serde(flatten)] path, id: header.id, cwd: header.cwd,
            };
            output::json(&fields)?;
        } else {
            let there = remote.map(|remote| format!("{}:{}", remote.machine, remote.remote_path).into());
            raw_output::print(&there.unwrap_or(path.into_os_string()))?;
        }
        Ok(exit)
    }
}

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
        let printed = if self.json { print_entries(&tree, &path) } else { self.print(&tree, context) };
        printed.map(|()| Exit::Done)
    }

    fn print(&self, tree: &Tree, context: &CommandContext) -> Result<()> {
        let filter = self.filter.unwrap_or_else(|| context.filter());
        let glyphs = context.config.glyphs();
        let rows = TreeRows::new(tree, |at| passes(tree, at, filter), [], &[]).layout();
        let (columns, dot) = (output::columns(), format!(" {} ", glyphs.dot));
        let turns: HashMap<EntryIndex, Activity> =
            if filter == Filter::Turns { summaries::turns(tree).into_iter().collect() } else { HashMap::new() };
        for row in 0..rows.list.len() {
            let RowItem::Entry(at) = rows.list[row].item else { continue };
            // The text follows the lines, because thousands of levels are possible.
            let lines = rows.prefix_width(row);
            let cut = lines.saturating_sub(columns.map_or(LINES, |columns| columns / 2));
            let mut line = vec![Span::dim(rows.lead(row, cut..lines, cut > 0, glyphs))];
            line.extend(row_text::pi_entry(tree, at, glyphs));
            let facts = turns.get(&at).map(|turn| turn.turn_facts(tree[at].time).join(&dot));
            let facts = facts.filter(|facts| !facts.is_empty()).map_or(String::new(), |facts| format!("  {facts}"));
            let facts = columns.map_or(Cow::Borrowed(&*facts), |columns| glyphs.cut(&facts, columns / 2));
            let mark = if rows.leaf == Some(row) { format!("  {} leaf", glyphs.leaf) } else { String::new() };
            let end = width(&facts) + width(&mark);
            if let Some(columns) = columns {
                line = cut_spans(&line, columns.saturating_sub(end), glyphs);
            }
            line.extend([Span::dim(facts), Span::new(Tone::Active, mark)]);
            output::line(output::paint_all(&line))?;
        }
        if tree.nodes.is_empty() {
            output::note("the session has no entries");
        } else if rows.list.is_empty() {
            note!("no entries match the filter {}", filter.name());
        }
        tree.problems.iter().for_each(|problem| output::error(&problem.to_string()));
        Ok(())
    }
}

/// Prints all entries as JSON Lines.
fn print_entries(tree: &Tree, path: &Path) -> Result<()> {
    let mut reader = EntryReader::open(path)?;
    let has_ids = tree.header.version >= 2.0;
    let mut depth = vec![0; tree.nodes.len()];
    for at in tree.preorder(false) {
        depth[at as usize] = tree.parent(at).map_or(0, |parent| depth[parent as usize] + 1);
        let node = &tree[at];
        let bytes = reader.known(node)?;
        let line = Line { len: node.len, ..Line::new(node.offset, &bytes, true) };
        let entry = line.read().ok().flatten().unwrap_or_default();
        let role = entry.role().map(|role| role.text().into_owned());
        output::json(&object! {
            id: tree.id(at),
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
        })?;
    }
    Ok(())
}
