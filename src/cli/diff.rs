//! `pitree diff`: compares two sessions or entries of one family from where they diverge.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::sync::Arc;

use anyhow::{Result, bail};
use serde::Serialize;

use crate::app::panes::tree::row_text;
use crate::base::numbers::count;
use crate::base::text::{clean, clean_lines, spans_text};
use crate::base::time;
use crate::catalog::compare::{self, BranchEnd, CompareControl};
use crate::cli::output::{Output, PathFields, object};
use crate::cli::resolve::SessionPlace;
use crate::cli::table::{self, Column};
use crate::cli::{CommandContext, output, resolve};
use crate::disk::{files, load};
use crate::session::compare::description::{self, DescriptionPart, SIDES};
use crate::session::compare::files::{CommonFile, Difference};
use crate::session::compare::{Comparison, SideSummary};
use crate::session::digest::touched_files::FileUses;
use crate::session::tree::{Index, Tree};

/// The version of the JSON format. Increased when a field is removed or changes its meaning.
const FORM: u32 = 1;

/// The maximum width of a fact in columns.
const FACT: usize = 60;

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
    pub(super) fn run(&self, chosen: &CommandContext, out: &mut Output) -> Result<()> {
        let alone = |word: &OsStr| word.to_str().and_then(|word| word.strip_prefix('@')).map(String::from);
        // The place of a side, or the entry of `@ENTRY`.
        let side = |word: &OsStr| match alone(word) {
            Some(entry) => Ok(Err(entry)),
            None => SessionPlace::new(word, None, chosen).map(Ok),
        };
        let (a, b) = (side(&self.a)?, side(&self.b)?);
        let Ok(SessionPlace { path, .. }) = a.as_ref().or(b.as_ref()) else {
            bail!("@ENTRY refers to the session of the other side; give at least one side as SESSION or SESSION@ENTRY");
        };
        let path = path.clone();
        let beside = |entry| SessionPlace { entry: Some(entry), path: path.clone() };
        let (a, b) = (a.unwrap_or_else(beside), b.unwrap_or_else(beside));
        let one = end(a, chosen, None)?;
        let other = end(b, chosen, Some(&one))?;
        let reading = CompareControl { home: &chosen.home, is_wanted: &|| true };
        let comparison = compare::compare([&one, &other], reading)?;
        let ends = [&one, &other];
        if self.json {
            output::json(out, &comparison_object(&comparison, ends))?;
        } else {
            text(out, &comparison, ends, chosen)?;
        }
        Ok(())
    }
}

/// Resolves a side to the end of a branch: an entry, or the leaf of a session. A file used by both sides is read once.
fn end(
    SessionPlace { path, entry }: SessionPlace,
    chosen: &CommandContext,
    known: Option<&BranchEnd>,
) -> Result<BranchEnd> {
    let tree = match known.filter(|known| files::resolved(&known.path) == files::resolved(&path)) {
        Some(known) => known.tree.clone(),
        None => Arc::new(load::tree(&path, &chosen.home)?),
    };
    let at = match (entry, tree.leaf) {
        (Some(word), _) => resolve::entry(&word, &tree)?,
        (None, Some(leaf)) => leaf,
        (None, None) => bail!("{} has no entries to compare", path.display()),
    };
    Ok(BranchEnd { path, tree, at })
}

/// Returns the row of an entry as in pi's `/tree`.
fn row(tree: &Tree, at: Index, chosen: &CommandContext) -> String {
    spans_text(&row_text::pi_entry(tree, at, chosen.config.signs()))
}

fn text(out: &mut impl Write, comparison: &Comparison, ends: [&BranchEnd; 2], chosen: &CommandContext) -> Result<()> {
    let glyphs = chosen.config.signs();
    let columns = output::columns();
    let cut = |line: String| match columns {
        Some(columns) => glyphs.cut(&line, columns).into_owned(),
        None => line,
    };
    let shared = count(comparison.shared, "common entry", "common entries");
    let common = row(&ends[0].tree, comparison.common[0], chosen);
    writeln!(out, "{}", cut(format!("{shared}, ending at  {common}")))?;
    for (side, end) in ends.iter().enumerate() {
        let (id, last) = (clean(&end.tree.header.id).into_owned(), row(&end.tree, comparison.ends[side], chosen));
        let last = if comparison.sides[side].entries == 0 {
            "no entries of its own; ends at the common entry".into()
        } else {
            last
        };
        writeln!(out, "{}", cut(format!("{}  {id}  {last}", SIDES[side])))?;
    }
    writeln!(out)?;
    let facts = description::facts(comparison).into_iter().map(|(name, [a, b])| [name.into(), a, b]);
    let facts: Vec<[String; 3]> = [["".into(), "A".into(), "B".into()]].into_iter().chain(facts).collect();
    table::print(out, [Column::Whole, Column::Words(FACT), Column::Words(FACT)], &facts, glyphs)?;
    for (name, side) in SIDES.iter().zip(&comparison.sides) {
        list(out, &format!("Prompts of {name}"), &side.prompts)?;
        let more = side.prompt_count - side.prompts.len();
        if more > 0 {
            writeln!(out, "  and {} more", count(more, "prompt", "prompts"))?;
        }
    }
    for (name, side) in SIDES.iter().zip(&comparison.sides) {
        list(out, &format!("Tools of {name}"), &side.tools.iter().map(description::tool).collect::<Vec<_>>())?;
    }
    for (name, side) in SIDES.iter().zip(&comparison.sides) {
        list(out, &format!("Errors of {name}"), &side.failures.texts)?;
    }
    for (name, files) in SIDES.iter().zip(&comparison.files.only) {
        let files: Vec<String> =
            files.iter().map(|(path, uses)| format!("{path}  {}", description::uses(uses))).collect();
        list(out, &format!("Files only in {name}"), &files)?;
    }
    files_of_both(out, &comparison.files.both)?;
    for (name, side) in SIDES.iter().zip(&comparison.sides) {
        list(out, &format!("Last answer of {name}"), side.answer.as_slice())?;
    }
    Ok(())
}

/// Prints a heading and texts, if there are any.
fn list(out: &mut impl Write, title: &str, texts: &[String]) -> Result<()> {
    if texts.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    for text in texts {
        lines(out, text, "  ")?;
    }
    Ok(())
}

/// Prints the lines of a text, safe for a terminal.
fn lines(out: &mut impl Write, text: &str, indent: &str) -> Result<()> {
    for line in clean_lines(text.strip_suffix('\n').unwrap_or(text)) {
        writeln!(out, "{indent}{line}")?;
    }
    Ok(())
}

fn files_of_both(out: &mut impl Write, both: &[CommonFile]) -> Result<()> {
    if !both.is_empty() {
        writeln!(out, "\nFiles in both")?;
    }
    for CommonFile { path, uses, difference } in both {
        let [a, b] = [&uses[0], &uses[1]].map(description::uses);
        lines(out, &format!("{path}  A: {a}; B: {b}"), "  ")?;
        for said in difference.iter().flat_map(|difference| description::difference(difference, uses)) {
            match said {
                DescriptionPart::Words(text) => lines(out, &text, "    ")?,
                // In unified diff format.
                DescriptionPart::Lines(text) => lines(out, &text, "")?,
            }
        }
    }
    Ok(())
}

/// Returns the JSON form of a comparison.
fn comparison_object<'a>(comparison: &'a Comparison, ends: [&'a BranchEnd; 2]) -> impl Serialize {
    let node = &ends[0].tree.nodes[comparison.common[0] as usize];
    let [a, b] = [0, 1].map(|at| side_object(&comparison.sides[at], ends[at], comparison.ends[at]));
    let only = |files: &'a Vec<(String, FileUses)>| -> Vec<_> {
        files.iter().map(|(path, uses)| object! { path, #[serde(flatten)] uses }).collect()
    };
    let [only_a, only_b] = comparison.files.only.each_ref().map(only);
    let both: Vec<_> = comparison.files.both.iter().map(file_object).collect();
    object! {
        version: FORM,
        common: object! { entry_id: node.id.as_deref(), entries: comparison.shared, text: &*node.text },
        a,
        b,
        files: object! { only_a, only_b, both },
    }
}

fn side_object<'a>(side: &'a SideSummary, end: &'a BranchEnd, at: Index) -> impl Serialize {
    let usage = side.usage;
    let time = |ms: Option<i64>| ms.and_then(time::iso);
    let models = side.models.iter();
    let models = models.map(|(name, uses)| object! { name, answers: uses.answers, cost: output::number(uses.cost) });
    object! {
        #[serde(flatten)] path: PathFields::from(&*end.path),
        id: &end.tree.header.id,
        entry_id: end.tree.nodes[at as usize].id.as_deref(),
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
    }
}

/// Returns the JSON form of a file that both sides touched. `same` is null if only one side changed the file, or the
/// result is unknown; the changes of each side are only there if the whole text is not known on both.
fn file_object(both: &CommonFile) -> impl Serialize {
    let (same, diff, changes) = match &both.difference {
        None => (None, None, None),
        Some(Difference::None) => (Some(true), None, None),
        Some(Difference::Unified(diff)) => (Some(false), Some(diff), None),
        Some(Difference::TooLong(_)) => (Some(false), None, None),
        Some(Difference::Apart([a, b])) => (None, None, Some(object! { a: &a.changes, b: &b.changes })),
    };
    let [a, b] = &both.uses;
    let changes = changes.map(|changes| object! { changes });
    object! { path: &both.path, a, b, same, diff, #[serde(flatten)] changes }
}
