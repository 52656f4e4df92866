//! `pitree clean`: suggests sessions that are probably not needed, and moves or slims the chosen ones.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde::Serialize;

use crate::base::numbers::{bytes, count, thousands};
use crate::catalog::cleanup::{CleanRequest, CleanRule, CleanSuggestion, LeftoverFile, WEEKS};
use crate::catalog::{Catalog, SessionKey};
use crate::changes::{FileSnapshot, Request};
use crate::cli::change::{ChangeArgs, Changer};
use crate::cli::output::{PathFields, object};
use crate::cli::table::Column;
use crate::cli::{CommandContext, Exit, now, output, resolve};
use crate::disk::locate;
use crate::runtime::cleanup_job;

/// Rule, count, bytes, reason.
const COLUMNS: [Column; 4] = [Column::Whole, Column::Number, Column::Number, Column::Words(80)];

/// Suggest sessions that are probably not needed, and clean them up
///
/// Lists the suggestions of each rule with their number and size. For each rule, asks whether to move the sessions to the
/// trash, or to slim them. Sessions with pins, tags, notes or labels are never suggested. Neither are archived and live
/// sessions, and those used within a day. `pitree undo` reverts each step.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  pitree clean                            list suggestions, and ask for each
  pitree clean --dry-run --json           print all suggestions with their sessions
  pitree clean --only empty --yes         move empty sessions to the trash
  pitree clean --only subagents --weeks 4  sessions of subagents older than four weeks")]
pub(super) struct CleanCommand {
    /// Only this rule (repeatable)
    #[arg(long, value_name = "RULE")]
    only: Vec<CleanRule>,
    /// Age of old sessions of subagents, in weeks
    #[arg(long, value_name = "N", default_value_t = WEEKS)]
    weeks: u32,
    /// Don't ask
    #[arg(long, requires = "only")]
    yes: bool,
    #[command(flatten)]
    switches: ChangeArgs,
}

impl ValueEnum for CleanRule {
    fn value_variants<'a>() -> &'a [Self] {
        Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.reason()))
    }
}

impl CleanCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = Changer::new(context, &self.switches)?;
        if !self.yes && !self.switches.dry_run {
            output::check_can_ask()?;
        }
        let mut catalog = context.absolute_catalog();
        catalog.set_marks(changer.changes.marks()?.into());
        let rules = if self.only.is_empty() { CleanRule::ALL.to_vec() } else { self.only.clone() };
        let request = CleanRequest::new(&catalog, rules, (self.weeks, now()));
        let state = locate::state_dir();
        let found = cleanup_job::suggest(&request, (&context.scanned, state.as_deref()), &|| true);
        let (suggestions, slimming) = found.unwrap_or_default();
        if self.switches.json && self.switches.dry_run {
            suggestions.iter().try_for_each(|suggestion| output::json(&fields(suggestion, &catalog)))?;
            return Ok(Exit::Done);
        }
        if suggestions.is_empty() {
            output::note("no session to clean up");
            return Ok(Exit::Done);
        }
        if !self.switches.json {
            let row = |suggestion: &CleanSuggestion| {
                let CleanSuggestion { rule, bytes: size, .. } = suggestion;
                [rule.name().into(), thousands(suggestion.count()), bytes(*size), rule.reason().into()]
            };
            context.table(COLUMNS, suggestions.iter().map(row), "")?;
        }
        if self.switches.dry_run {
            return Ok(Exit::Done);
        }
        let mut code = Exit::Done;
        for suggestion in &suggestions {
            if self.yes || is_wanted(suggestion)? {
                let request = match (suggestion.rule, &slimming) {
                    (CleanRule::Slim, Some(overview)) => overview.request(),
                    (CleanRule::Slim, None) => continue, // it has no sessions then
                    _ => trash(suggestion, &catalog)?,
                };
                code = changer.finish(&request)?;
            }
        }
        Ok(code)
    }
}

/// Asks whether to clean up.
fn is_wanted(suggestion: &CleanSuggestion) -> Result<bool> {
    let CleanSuggestion { rule, bytes: size, .. } = suggestion;
    let (one, many) = if *rule == CleanRule::Leftovers { ("file", "files") } else { ("session", "sessions") };
    let what = format!("{} ({}): {}", count(suggestion.count(), one, many), bytes(*size), rule.reason());
    let verb = if *rule == CleanRule::Slim { "Slim" } else { "Move to the trash" };
    output::is_yes(&format!("{verb} {what}?"))
}

/// Returns the request to move the suggested sessions or files to the trash.
fn trash(suggestion: &CleanSuggestion, catalog: &Catalog) -> Result<Request> {
    let session = |&key: &SessionKey| FileSnapshot::listed(&catalog[key].facts());
    let file = |file: &LeftoverFile| {
        let path: PathBuf = resolve::absolute(&file.path)?;
        Ok(FileSnapshot { path, bytes: file.bytes, mtime: file.mtime })
    };
    let mut files: Vec<FileSnapshot> = suggestion.sessions.iter().map(session).collect();
    files.extend(suggestion.files.iter().map(file).collect::<Result<Vec<_>>>()?);
    Ok(Request::Trash { files })
}

fn fields(suggestion: &CleanSuggestion, catalog: &Catalog) -> impl Serialize + use<> {
    let CleanSuggestion { rule, sessions, files, bytes } = suggestion;
    let session = |&key: &SessionKey| {
        let (session, facts) = (&catalog[key], catalog[key].facts());
        let path = PathFields::from(&*facts.path().join());
        let (id, title) = (facts.id().to_owned(), session.once().title().to_owned());
        object! { id, #[serde(flatten)] path, title, bytes: facts.bytes() }
    };
    object! {
        rule: rule.name(),
        count: suggestion.count(),
        bytes: *bytes,
        reason: rule.reason(),
        sessions: sessions.iter().map(session).collect::<Vec<_>>(),
        files: files.iter().map(|file| PathFields::from(&*file.path)).collect::<Vec<_>>(),
    }
}
