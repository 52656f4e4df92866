//! `pitree secrets scrub`: removes likely secrets from session files.

use parking_lot::Mutex;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::base::numbers::count;
use crate::base::text::clean;
use crate::catalog::scrub::{ScrubCounts, ScrubValues};
use crate::catalog::{Catalog, SessionKey, secrets};
use crate::changes::change::RewritePurpose;
use crate::changes::journal::JournalRecord;
use crate::changes::{ExpectedSession, Request, SharedRewriter};
use crate::cli::change::{Changer, CliStep, ConfirmedArgs};
use crate::cli::chosen_sessions::note_mirrored;
use crate::cli::{CommandContext, Exit, completions, output, resolve};
use crate::disk::files;
use crate::disk::kept_files::{KeptFile, TextRemoval, kept_files};
use crate::runtime::secret_rules::ChosenRules;
use crate::secrets::Rules;

/// Remove likely secrets from sessions and their families
///
/// Without SESSION, from all sessions. Lists every place with one of the values: sessions of the family, files in
/// pitree's trash, and other files of pitree. After a confirmation, the sessions are replaced by versions with marks such
/// as [github-token 1]; the originals move to the trash, and one `pitree undo` restores them. Sessions that a pi is using are refused. A removed value can have
/// been copied before: replace the key where it was issued. Rules cannot find every secret.
#[derive(Debug, clap::Args)]
pub(super) struct ScrubCommand {
    /// Session path, id, unique id prefix, or name
    #[arg(add = completions::sessions())]
    session: Option<OsString>,
    #[command(flatten)]
    confirmed: ConfirmedArgs,
}

impl ScrubCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = Changer::new(context, &self.confirmed.switches)?;
        let rules = ChosenRules::new(&context.config.redact)?.for_process();
        let mut catalog = context.absolute_catalog();
        let targets = self.targets(context, &mut catalog, rules)?;
        let mut kept = kept_files(&context.scanned);
        kept.retain(|file| catalog.key_of(&file.path).is_none());
        let paths: Vec<&Path> = targets.iter().map(|&key| &*catalog[key].path).collect();
        let is_of_target = |rest: &Path| self.session.is_none() || paths.iter().any(|path| is_rest_of(rest, path));
        let rests = kept.iter().filter(|file| file.removal == TextRemoval::Rest).map(|file| &*file.path);
        let values = ScrubValues::of(paths.iter().copied().chain(rests.filter(|rest| is_of_target(rest))), rules)?;
        if values.secrets.is_empty() {
            return output::nothing("no likely secret found; rules cannot find every secret");
        }
        for secret in &values.secrets {
            let entry = secret.entry.as_deref().map(|id| format!("  first in entry {id}")).unwrap_or_default();
            output::note(&clean(&format!("{}  {}…{entry}", secret.mark, secret.sample)));
        }
        let mut sessions = Vec::new();
        let (mut keys, mut seen) = (Vec::new(), HashSet::new());
        let families: BTreeSet<SessionKey> = targets.iter().flat_map(|&key| catalog.family(key)).collect();
        let mut mirrored = 0;
        for member in families {
            let path = &catalog[member].path;
            let ScrubCounts { lines, left } = values.count(path)?;
            if lines + left == 0 {
                continue;
            }
            if catalog[member].facts().is_mirrored() {
                mirrored += 1;
                continue;
            }
            let left = match left {
                0 => String::new(),
                left => format!("; {} cannot be changed: the header or data", count(left, "line", "lines")),
            };
            note!("{}: {}{left}", changer.short(path), count(lines, "line", "lines"));
            // A symbolic link and its target are one file.
            if lines > 0 && seen.insert(files::resolved(path)) {
                keys.push(member);
                sessions.push(ExpectedSession { path: path.clone(), id: catalog[member].header.id.clone() });
            }
        }
        note_mirrored(mirrored);
        let trashed = list_others(&values, &changer)?;
        kept.retain(|file| values.is_in(&file.path));
        for KeptFile { path, removal } in &kept {
            let advice =
                if let TextRemoval::Advice(advice) = removal { advice } else { "values are replaced; no undo" };
            output::note(&clean(&format!("in {}: {advice}", changer.short(path))));
        }
        let is_changed = |file: &KeptFile| !matches!(file.removal, TextRemoval::Advice(_));
        refuse_running(&catalog, &keys, &changer)?;
        if sessions.is_empty() && !kept.iter().any(is_changed) {
            return output::nothing("nothing can be changed");
        }
        if self.confirmed.asks()? {
            if !output::is_yes("Replace the values in these sessions?")? {
                return output::nothing("canceled; nothing was changed");
            }
            // A pi can have started meanwhile.
            refuse_running(&catalog, &keys, &changer)?;
        }
        let count = changer.changes.history()?.len();
        let values = Arc::new(Mutex::new(values));
        let by = SharedRewriter(values.clone());
        let made = changer.make(&Request::Rewrite { purpose: RewritePurpose::Scrub, sessions, by });
        if !self.confirmed.switches.dry_run {
            let values = values.lock();
            kept.iter().filter(|_| made.is_ok()).try_for_each(|file| values.replace_in(file))?;
            // The index forgets the values.
            drop(context.read_catalog());
            // The change was made, also if the journal cannot be read again.
            let history = changer.changes.history().unwrap_or_default();
            tell_rest(trashed, history.get(count..).unwrap_or_default());
        }
        let done = made?;
        changer.say(&done, CliStep::Make)
    }

    /// Returns the sessions whose secrets are removed: the named one, or all with secrets.
    fn targets(&self, context: &CommandContext, catalog: &mut Catalog, rules: &Rules) -> Result<Vec<SessionKey>> {
        if let Some(session) = &self.session {
            let key = resolve::key_of(catalog, &context.session(session)?)?;
            return Ok(vec![key]);
        }
        let here = catalog.keys().filter(|&key| !catalog[key].facts().is_mirrored());
        let files: Vec<PathBuf> = here.map(|key| catalog[key].path.clone()).collect();
        let (mut targets, mut failed) = (Vec::new(), None);
        secrets::each(&files, rules, |batch, done| {
            output::progress(&format!("{done} of {} files", files.len()));
            for (path, found) in batch {
                match found {
                    Ok(_) => targets.extend(catalog.key_of(&path)),
                    Err(error) => failed = Some(error),
                }
            }
            true
        });
        output::progress("");
        failed.map_or(Ok(targets), |error| bail!("cannot read {}: {}", error.path.display(), error.reason))
    }
}

/// Returns `true` for a file with damaged lines of a session.
fn is_rest_of(rest: &Path, session: &Path) -> bool {
    let after = rest.as_os_str().as_encoded_bytes().strip_prefix(session.as_os_str().as_encoded_bytes());
    after.is_some_and(|after| after.starts_with(b".rest"))
}

/// Tells what remains to be done: the trash has the values, and new keys are needed.
fn tell_rest(trashed: Vec<u64>, new: &[JournalRecord]) {
    output::note("Replace these keys where they were issued: they can have been copied.");
    let is_known = new.iter().all(|record| record.place().is_some());
    let new = new.iter().filter(|record| record.is_in_trash()).map(|record| record.number);
    let numbers: BTreeSet<u64> = trashed.into_iter().chain(new).collect();
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    if !numbers.is_empty() {
        note!("The trash still has the values: `pitree trash empty {}` deletes them permanently.", numbers.join(" "));
    }
    if !is_known {
        output::note("The system's trash has the originals with the values: empty it there.");
    }
}

/// Lists files in pitree's trash and names in its journal that contain a value. Returns the numbers of the changes with
/// such files.
fn list_others(values: &ScrubValues<'_>, changer: &Changer<'_>) -> Result<Vec<u64>> {
    let mut trashed = Vec::new();
    for record in changer.changes.history()? {
        let place: Option<PathBuf> = record.place().filter(|_| record.is_in_trash()).map(Into::into);
        if let Some(place) = place
            && values.count(&place).is_ok_and(|found| found.lines + found.left > 0)
        {
            trashed.push(record.number);
            note!("in the trash: change {}, {}", record.number, changer.short(record.change.path()));
        }
        if record.texts().any(|text| values.contains(text.as_bytes())) {
            note!("in the journal: a name or label of change {}", record.number);
        }
    }
    Ok(trashed)
}

/// Refuses sessions that a pi may be using: it would write its old lines again.
fn refuse_running(catalog: &Catalog, keys: &[SessionKey], changer: &Changer<'_>) -> Result<()> {
    match changer.tell_signs(catalog, keys) {
        true => bail!("a pi may be using a session; end it first"),
        false => Ok(()),
    }
}
