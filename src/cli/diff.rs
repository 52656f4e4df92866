//! `pitree diff`: compares two sessions or entries of one family from where they diverge.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::app::panes::tree::row_text;
use crate::base::numbers::count;
use crate::base::text::{Tone, clean, spans_text};
use crate::base::time;
use crate::catalog::compare::{self, BranchEnd, ComparedBranches, FinalFile, final_files};
use crate::catalog::file_history::ReplayControl;
use crate::cli::output::{PathFields, object};
use crate::cli::resolve::SessionPlace;
use crate::cli::{CommandContext, Exit, output};
use crate::disk::files;
use crate::session::compare::SideSummary;
use crate::session::compare::description::{self, SIDES};
use crate::session::tree::{EntryIndex, Tree};

/// The version of the JSON format. Increased when a field is removed or changes its meaning.
const FORM: u32 = 1;

/// Compare two sessions, branches or entries from where they diverge
///
/// Each side is SESSION, SESSION@ENTRY or @ENTRY. SESSION is a path, an id, a unique id prefix, a name, or `.` for the
/// current session. ENTRY is an id, a unique id prefix or a label. SESSION alone compares up to its leaf; with ENTRY,
/// up to that entry. @ENTRY uses the session of the other side. A word that names a session is not split; otherwise the
/// last @ separates SESSION from ENTRY.
#[derive(Debug, clap::Args)]
pub(super) struct DiffCommand {
    /// First side: SESSION, SESSION@ENTRY or @ENTRY
    a: OsString,
    /// Second side, in the same form
    b: OsString,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

impl DiffCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let alone = |word: &OsStr| word.to_str().and_then(|word| word.strip_prefix('@')).map(String::from);
        // The place of a side, or the entry of `@ENTRY`.
        let side = |word: &OsStr| match alone(word) {
            Some(entry) => Ok(Err(entry)),
            None => context.place(word, None).map(Ok),
        };
        let (a, b) = (side(&self.a)?, side(&self.b)?);
        let Ok(SessionPlace { path, .. }) = a.as_ref().or(b.as_ref()) else {
            bail!("@ENTRY refers to the session of the other side; give at least one side as SESSION or SESSION@ENTRY");
        };
        let path = path.clone();
        let beside = |entry| SessionPlace { entry: Some(entry), path: path.clone() };
        let (a, b) = (a.unwrap_or_else(beside), b.unwrap_or_else(beside));
        let one = end(a, context, None)?;
        let other = end(b, context, Some(&one))?;
        let reading = ReplayControl { home: &context.home, is_wanted: &|| true };
        let comparison = compare::compare([&one, &other], reading)?;
        let compared = ComparedBranches { ends: [one, other], comparison };
        let files = final_files(&compared, reading)?;
        if self.json {
            output::json(&comparison_object(&compared, &files))?;
        } else {
            text(&compared, &files, context)?;
        }
        Ok(Exit::Done)
    }
}

/// Resolves a side to the end of a branch: an entry, or the leaf of a session. A file used by both sides is read once.
fn end(place: SessionPlace, context: &CommandContext, known: Option<&BranchEnd>) -> Result<BranchEnd> {
    let path = &place.path;
    let tree = match known.filter(|known| files::resolved(&known.path) == files::resolved(path)) {
        Some(known) => known.tree.clone(),
        None => Arc::new(context.tree(path)?),
    };
    let at = place.entry_in(&tree)?.or(tree.leaf);
    let at = at.with_context(|| format!("{} has no entries to compare", path.display()))?;
    Ok(BranchEnd { path: place.path, tree, at })
}

/// Returns the row of an entry as in pi's `/tree`.
fn row(tree: &Tree, at: EntryIndex, context: &CommandContext) -> String {
    spans_text(&row_text::pi_entry(tree, at, context.config.glyphs()))
}

fn text(
    ComparedBranches { ends, comparison }: &ComparedBranches,
    files: &[FinalFile],
    context: &CommandContext,
) -> Result<()> {
    let glyphs = context.config.glyphs();
    let columns = output::columns();
    let cut = |line: String| match columns {
        Some(columns) => glyphs.cut(&line, columns).into_owned(),
        None => line,
    };
    let shared = count(comparison.shared, "common entry", "common entries");
    let common = row(&ends[0].tree, comparison.common[0], context);
    output::line(cut(format!("{shared}, ending at  {common}")))?;
    for (side, end) in ends.iter().enumerate() {
        let (id, last) = (clean(&end.tree.header.id).into_owned(), row(&end.tree, comparison.ends[side], context));
        let last = if comparison.sides[side].entries == 0 {
            "no entries of its own; ends at the common entry".into()
        } else {
            last
        };
        output::line(cut(format!("{}  {id}  {last}", SIDES[side])))?;
    }
    output::line("")?;
    let facts = description::facts(comparison).into_iter().map(|(name, [a, b])| [name.into(), a, b]);
    let facts = [["".into(), "A".into(), "B".into()]].into_iter().chain(facts);
    context.table(" ~60 ~60", facts, "")?;
    for (name, side) in SIDES.iter().zip(&comparison.sides) {
        list(&format!("Prompts of {name}"), &side.prompts)?;
        let more = side.prompt_count - side.prompts.len();
        if more > 0 {
            outln!("  and {} more", count(more, "prompt", "prompts"))?;
        }
    }
    let sides = || SIDES.iter().zip(&comparison.sides);
    for (name, side) in sides() {
        list(&format!("Tools of {name}"), &side.tools.iter().map(description::tool).collect::<Vec<_>>())?;
    }
    sides().try_for_each(|(name, side)| list(&format!("Errors of {name}"), &side.failures.texts))?;
    let line = |path: &str, uses: String| format!("{path}  {uses}");
    for (side, name) in SIDES.iter().enumerate() {
        let only: Vec<String> = comparison.only(side).map(|(path, uses)| line(path, description::uses(uses))).collect();
        list(&format!("Files only in {name}"), &only)?;
    }
    let both: Vec<String> = comparison.both().map(|(path, uses)| line(path, description::uses_of_both(uses))).collect();
    list("Files in both", &both)?;
    let at_ends: Vec<String> = files.iter().map(|file| line(&file.name, file.facts())).collect();
    list("Files at the ends", &at_ends)?;
    for diff in files.iter().filter_map(|file| file.diff.as_deref()) {
        // In the format of `diff -u`.
        output::diff(diff)?;
    }
    sides().try_for_each(|(name, side)| list(&format!("Last answer of {name}"), side.answer.as_slice()))
}

/// Prints a heading and texts, if there are any.
fn list(title: &str, texts: &[String]) -> Result<()> {
    if texts.is_empty() {
        return Ok(());
    }
    outln!("\n{}", output::paint(Tone::Strong, title))?;
    for text in texts {
        output::lines(text.strip_suffix('\n').unwrap_or(text), "  ")?;
    }
    Ok(())
}

/// Returns the JSON form of a comparison.
fn comparison_object<'a>(
    ComparedBranches { ends, comparison }: &'a ComparedBranches,
    files: &'a [FinalFile],
) -> impl Serialize {
    let node = &ends[0].tree.nodes[comparison.common[0] as usize];
    let [a, b] = [0, 1].map(|at| side_object(&comparison.sides[at], &ends[at], comparison.ends[at]));
    let only = |side: usize| -> Vec<_> {
        comparison.only(side).map(|(path, uses)| object! { path, #[serde(flatten)] uses }).collect()
    };
    let [only_a, only_b] = [0, 1].map(only);
    let both: Vec<_> = comparison.both().map(|(path, [a, b])| object! { path, a, b }).collect();
    let at_ends: Vec<_> = files.iter().map(file_object).collect();
    object! {
        version: FORM,
        common: object! { entry_id: node.id.as_deref(), entries: comparison.shared, text: &*node.text },
        a,
        b,
        files: object! { only_a, only_b, both, at_ends },
    }
}

fn side_object<'a>(side: &'a SideSummary, end: &'a BranchEnd, at: EntryIndex) -> impl Serialize {
    let usage = side.usage;
    let time = |ms: Option<i64>| ms.and_then(time::iso);
    let models = side.models.iter();
    let models = models.map(|(name, uses)| object! { name, answers: uses.answers, cost: output::number(uses.cost) });
    object! {
        #[serde(flatten)] path: PathFields::from(&*end.path),
        id: &end.tree.header.id,
        entry_id: end.tree.id(at),
        entries: side.entries,
        messages: side.messages,
        prompts: &side.prompts,
        prompt_count: side.prompt_count,
        tools: &side.tools,
        models: models.collect::<Vec<_>>(),
        cost: output::number(usage.cost),
        tokens: object! {
            input: output::number(usage.input),
            output: output::number(usage.output),
            cache_read: output::number(usage.cache_read),
            cache_write: output::number(usage.cache_write),
            total: output::number(usage.tokens),
        },
        from: time(side.times.map(|(from, _)| from)),
        to: time(side.times.map(|(_, to)| to)),
        duration_ms: side.duration(),
        errors: &side.failures,
        last_answer: &side.answer,
        edits: &side.edits,
    }
}

/// Returns the JSON form of a file that differs at the ends.
fn file_object(file: &FinalFile) -> impl Serialize {
    let [a, b] = file.states.each_ref().map(|state| state.as_ref().map(|state| state.exactness().name()));
    let (added, removed) = file.lines.unzip();
    object! { path: &file.name, a, b, added, removed, diff: &file.diff }
}
