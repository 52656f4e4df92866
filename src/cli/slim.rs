//! `pitree slim`: makes session files smaller.

use std::collections::HashMap;
use std::ffi::OsString;

use anyhow::{Result, bail};

use crate::base::numbers::{bytes, count};
use crate::base::text::clean;
use crate::catalog::SessionKey;
use crate::changes::slim::{PlannedSession, SlimOverview};
use crate::cli::change::{Changer, ConfirmedArgs};
use crate::cli::chosen_sessions::{sessions_to_change, skip_mirrored};
use crate::cli::output::{self, PathFields, object};
use crate::cli::{CommandContext, Exit, completions};
use crate::runtime::cleanup_job;
use crate::session::write::slim::{SlimRules, SlimSaving};

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
#[command(after_help = crate::cli::exit::help("Examples:
  pitree slim 01a1ceea --dry-run     show what would be saved
  pitree slim 'size:>50M'            slim the sessions that match a query
  pitree slim 01a1ceea --keep-type todo-state --outside 64
  pitree slim 01a1ceea --inside 256  also shorten results over 256 kB that the model sees"))]
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
        let switches = &self.confirmed.switches;
        let changer = Changer::new(context, switches)?;
        let catalog = context.catalog();
        let mut keys = sessions_to_change(&self.words, false, catalog, context)?;
        skip_mirrored(catalog, &mut keys);
        let mut groups = HashMap::new();
        let target = |&key| (catalog[key].clone(), catalog.sharing_group(key, &mut groups));
        let targets: Vec<_> = keys.iter().map(target).collect();
        let overview = cleanup_job::plan_slimming(&targets, self.rules(), |done| {
            output::progress(&format!("{done} of {}", count(keys.len(), "session", "sessions")));
            true
        });
        output::progress("");
        let Some(overview) = overview else { bail!("canceled") };
        overview.failed.iter().for_each(|(_, reason)| output::error(reason));
        let (failed, total) = (!overview.failed.is_empty(), overview.total());
        let is_plan = switches.json && switches.dry_run;
        if is_plan {
            overview.planned.iter().try_for_each(print_json)?;
        }
        self.tell(&overview, &changer);
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
        let code = changer.finish(&overview.request())?;
        if failed {
            bail!("some sessions were not slimmed; see above");
        }
        Ok(code)
    }

    fn rules(&self) -> SlimRules {
        SlimRules {
            snapshots: !self.no_snapshots,
            kept_types: self.kept_types.clone(),
            outside: (!self.no_outside).then(|| self.outside.saturating_mul(1024)),
            inside: self.inside.map(|limit| limit.saturating_mul(1024)),
        }
    }

    /// Tells what is saved: by rule, and by session if there are several.
    fn tell(&self, overview: &SlimOverview, changer: &Changer<'_>) {
        let [outside, inside, shared] = overview.sums();
        let tell = |what: &str, saving: SlimSaving, off: Option<&str>| {
            if saving.count > 0 {
                let off = off.map_or(String::new(), |off| format!("; kept, {off}"));
                output::note(&clean(&format!(
                    "{what}: {} in {}{off}",
                    bytes(saving.bytes),
                    count(saving.count, "entry", "entries")
                )));
            }
        };
        for (name, saving, is_on) in overview.types() {
            tell(&format!("snapshots of {name}"), saving, (!is_on).then_some("by your choice"));
        }
        let off = self.no_outside.then_some("by your choice");
        tell("results and images that no model receives", outside, off);
        let off = self.inside.is_none().then_some("unless --inside is given");
        tell("results and images that a model receives", inside, off);
        tell("in entries that other sessions contain too", shared, Some("so that families stay as they are"));
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
