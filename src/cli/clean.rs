//! `pitree clean` suggests sessions that are probably not needed, and moves or slims the chosen ones. `pitree slim` makes
//! session files smaller.

use std::collections::HashMap;
use std::ffi::OsString;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde::Serialize;

use crate::base::numbers::{bytes, count, thousands};
use crate::base::text::clean;
use crate::catalog::cleanup::{CleanRequest, CleanRule, CleanSuggestion, LeftoverFile, WEEKS};
use crate::catalog::{Catalog, SessionKey};
use crate::changes::slim::{PlannedSession, SlimOverview};
use crate::changes::{FileSnapshot, Request};
use crate::cli::change::{ChangeArgs, ChangePrinter, ConfirmedArgs};
use crate::cli::output::{self, PathFields, object};
use crate::cli::selection::{sessions_to_change, skip_mirrored};
use crate::cli::{CommandContext, Exit, completions, now};
use crate::disk::locate;
use crate::runtime::cleanup_job;
use crate::session::write::slim::{SlimRules, SlimSaving};

/// Suggest sessions that are probably not needed, and clean them up
///
/// Lists the suggestions of each rule with their number and size. For each rule, asks whether to move the sessions to the
/// trash, or to slim them. Sessions with pins, tags, notes or labels are never suggested. Neither are archived and live
/// sessions, and those used within a day. `pitree undo` reverts each step.
#[derive(Debug, clap::Args)]
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
    args: ChangeArgs,
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
        let changer = ChangePrinter::new(context, &self.args)?;
        if !self.yes && !self.args.dry_run {
            output::check_can_ask()?;
        }
        let mut catalog = context.read_catalog();
        catalog.set_marks(changer.changes.marks()?.into());
        let rules = if self.only.is_empty() { CleanRule::ALL.to_vec() } else { self.only.clone() };
        let request = CleanRequest::new(&catalog, rules, (self.weeks, now()));
        let state = locate::state_dir();
        let found = cleanup_job::suggest(&request, (&context.scanned, state.as_deref()), &|| true);
        let (suggestions, slimming) = found.unwrap_or_default();
        let ChangeArgs { json, dry_run, .. } = self.args;
        if !json || dry_run {
            let row = |suggestion: &CleanSuggestion| {
                let CleanSuggestion { rule, bytes: size, .. } = suggestion;
                [rule.name().into(), thousands(suggestion.count()), bytes(*size), rule.reason().into()]
            };
            let line = |suggestion| fields(suggestion, &catalog);
            context.list(
                json,
                &suggestions,
                line,
                ("rule sessions> size> reason~80", row),
                "no session to clean up",
            )?;
        } else if suggestions.is_empty() {
            output::note("no session to clean up");
        }
        if dry_run {
            return Ok(Exit::Done);
        }
        let mut code = Exit::Done;
        for suggestion in &suggestions {
            if self.yes || is_wanted(suggestion)? {
                let request = match (suggestion.rule, &slimming) {
                    (CleanRule::Slim, Some(overview)) => overview.request(),
                    (CleanRule::Slim, None) => continue, // it has no sessions then
                    _ => trash(suggestion, &catalog),
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
fn trash(suggestion: &CleanSuggestion, catalog: &Catalog) -> Request {
    let sessions = suggestion.sessions.iter().map(|&key| FileSnapshot::listed(&catalog[key].facts()));
    let file = |LeftoverFile { path, bytes, mtime }: &LeftoverFile| FileSnapshot {
        path: path.clone(),
        bytes: *bytes,
        mtime: *mtime,
    };
    Request::Trash { files: sessions.chain(suggestion.files.iter().map(file)).collect() }
}

fn fields(suggestion: &CleanSuggestion, catalog: &Catalog) -> impl Serialize + use<> {
    let CleanSuggestion { rule, sessions, files, bytes } = suggestion;
    let session = |&key: &SessionKey| {
        let (session, facts) = (&catalog[key], catalog[key].facts());
        let path = PathFields::from(&*facts.path().join());
        let (id, title) = (facts.id().to_owned(), session.uncached_digest().title().to_owned());
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

/// The maximum number of sessions that are listed before the question.
const LISTED: usize = 20;

/// Make session files smaller
///
/// By default, removes old snapshots of extensions: all but the last one on each path. It also removes the content of
/// tool results and images over 8 kB that no model receives, because no branch end and no label has them in its context.
/// Prompts, answers, thinking, summaries and tool calls stay. Entries that other sessions contain too do not change.
///
/// Shows what would be saved, asks, and compares all model contexts before a file is replaced. The originals move to the
/// trash, so nothing is free before `pitree trash empty`; `pitree undo` restores them.
#[derive(Debug, clap::Args)]
pub(super) struct SlimCommand {
    /// Sessions (path, id, or unique id prefix), or a query (see `pitree search --help`)
    #[arg(value_name = "SESSION|QUERY", required = true, add = completions::sessions())]
    words: Vec<OsString>,
    /// Keep all snapshots of extensions
    #[arg(long)]
    no_snapshots: bool,
    /// Keep all snapshots of this type (repeatable)
    #[arg(long = "keep-type", value_name = "TYPE")]
    kept_types: Vec<String>,
    /// Remove tool results and images over this size that no model receives, in kB
    #[arg(long, value_name = "KB", default_value_t = 8, value_parser = crate::cli::number)]
    outside: u64,
    /// Keep tool results and images that no model receives
    #[arg(long, conflicts_with = "outside")]
    no_outside: bool,
    /// Shorten tool results over this size in kB that a model receives, and remove such images: changes what the model
    /// sees
    #[arg(long, value_name = "KB", value_parser = crate::cli::number)]
    inside: Option<u64>,
    #[command(flatten)]
    confirmed: ConfirmedArgs,
}

impl SlimCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let args = &self.confirmed.args;
        let changer = ChangePrinter::new(context, args)?;
        let catalog = context.catalog();
        let mut keys = sessions_to_change(&self.words, false, catalog, context)?;
        skip_mirrored(catalog, &mut keys);
        let mut groups = HashMap::new();
        let target = |&key| (catalog[key].clone(), catalog.sharing_group(key, &mut groups));
        let targets: Vec<_> = keys.iter().map(target).collect();
        let progress = |done| output::progress_of(done, keys.len(), "sessions");
        let overview = cleanup_job::plan_slimming(&targets, self.rules(), progress).context("canceled")?;
        overview.failed.iter().for_each(|(_, reason)| output::error(reason));
        let (failed, total) = (!overview.failed.is_empty(), overview.total());
        let is_plan = args.json && args.dry_run;
        if is_plan {
            overview.planned.iter().try_for_each(print_json)?;
        }
        self.print_overview(&overview, &changer);
        if total == 0 {
            output::note("nothing to save with these rules");
            return Ok(if failed { Exit::Failed } else { Exit::Nothing });
        }
        if is_plan {
            return Ok(if failed { Exit::Failed } else { Exit::Done });
        }
        if self.confirmed.asks()? {
            let keys = overview.saving().filter_map(|planned| catalog.key_of(&planned.session.path));
            let keys: Vec<SessionKey> = keys.collect();
            let what = format!("{} by {}", count(overview.saving().count(), "session", "sessions"), bytes(total));
            if !changer.is_replacement_wanted(("Shrink", &what), &keys, catalog)? {
                return output::nothing("canceled; no session changed");
            }
        }
        let exit = changer.finish(&overview.request())?;
        ensure!(!failed, "some sessions were not slimmed; see above");
        Ok(exit)
    }

    fn rules(&self) -> SlimRules {
        SlimRules {
            snapshots: !self.no_snapshots,
            kept_types: self.kept_types.clone(),
            outside: (!self.no_outside).then(|| self.outside.saturating_mul(1024)),
            inside: self.inside.map(|limit| limit.saturating_mul(1024)),
        }
    }

    /// Prints what is saved: by rule, and by session if there are several.
    fn print_overview(&self, overview: &SlimOverview, changer: &ChangePrinter<'_>) {
        let [outside, inside, shared] = overview.sums();
        let print_saving = |what: &str, saving: SlimSaving, off: Option<&str>| {
            if saving.count > 0 {
                let off = off.map_or(String::new(), |off| format!("; kept, {off}"));
                let entries = count(saving.count, "entry", "entries");
                output::note(&clean(&format!("{what}: {} in {entries}{off}", bytes(saving.bytes))));
            }
        };
        for (name, saving, is_on) in overview.types() {
            print_saving(&format!("snapshots of {name}"), saving, (!is_on).then_some("by your choice"));
        }
        let off = self.no_outside.then_some("by your choice");
        print_saving("results and images that no model receives", outside, off);
        let off = self.inside.is_none().then_some("unless --inside is given");
        print_saving("results and images that a model receives", inside, off);
        print_saving("in entries that other sessions contain too", shared, Some("so that families stay as they are"));
        if overview.planned.len() > 1 {
            for PlannedSession { session, bytes: size, savings } in overview.saving().take(LISTED) {
                let path = changer.short(&session.path);
                note!("{path}: {} of {}", bytes(savings.total), bytes(*size));
            }
            let more = overview.saving().count().saturating_sub(LISTED);
            if more > 0 {
                note!("and {more} more");
            }
        }
    }
}

fn print_json(planned: &PlannedSession) -> Result<()> {
    let PlannedSession { session, bytes, savings, .. } = planned;
    let saving = |saving: &SlimSaving| object! { count: saving.count, bytes: saving.bytes };
    let snapshots: Vec<_> = savings
        .snapshots
        .iter()
        .map(|(name, saving, is_removed)| {
            object! { kind: name, count: saving.count, bytes: saving.bytes, removed: is_removed }
        })
        .collect();
    let line = object! {
        id: &session.id,
        #[serde(flatten)] path: PathFields::from(&*session.path),
        bytes,
        saved_bytes: savings.total,
        snapshots,
        outside_context: saving(&savings.outside),
        inside_context: saving(&savings.inside),
        shared: saving(&savings.shared),
    };
    output::json(&line)
}
