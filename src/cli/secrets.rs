//! `pitree secrets`: lists likely secrets in sessions, files or standard input, without their values. `pitree secrets scrub`
//! removes them from session files.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use parking_lot::Mutex;

use crate::base::javascript::utf16_prefix;
use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::base::text::clean;
use crate::base::typo;
use crate::catalog::scrub::{ScrubCounts, ScrubValues};
use crate::catalog::secrets::{self, FoundSecret};
use crate::catalog::{Catalog, SessionKey};
use crate::changes::change::RewritePurpose;
use crate::changes::journal::JournalRecord;
use crate::changes::{ExpectedSession, Request, SharedRewriter};
use crate::cli::change::{ChangePrinter, CliStep, ConfirmedArgs};
use crate::cli::output::{self, PathFields, object};
use crate::cli::selection::{ProjectArg, note_mirrored};
use crate::cli::{CommandContext, Exit, completions, resolve, selection};
use crate::disk::files;
use crate::disk::kept_files::{KeptFile, TextRemoval, kept_files};
use crate::runtime::secret_rules::ChosenRules;
use crate::secrets::Rules;

/// List likely secrets, such as keys, tokens and passwords
///
/// Searches prompts, answers, thinking, tool calls and their results, custom entries, labels, names and directories, but
/// not images. The output never contains a value, only its first characters: at most four. Rules cannot find every
/// secret. The exit code is 3 if something is found, so that the command can check files before a commit.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct SecretsCommand {
    #[command(subcommand)]
    what: Option<SecretsAction>,
    /// Files, sessions (path, id, or unique id prefix), `-` for standard input, or a query (see `pitree search --help`)
    #[arg(value_name = "QUERY|FILE", add = completions::sessions())]
    words: Vec<OsString>,
    /// Use only this rule (repeatable)
    #[arg(long = "rule", value_name = "ID")]
    rules: Vec<String>,
    /// List the rules instead
    #[arg(long, conflicts_with_all = ["words", "rules", "project", "json"])]
    list: bool,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum SecretsAction {
    Scrub(ScrubCommand),
}

/// A file with likely secrets.
struct SearchedFile {
    path: PathFields,
    /// The ID of its session.
    id: Option<String>,
    /// The title of its session, without likely secrets.
    title: String,
    secrets: Vec<FoundSecret>,
}

impl SecretsCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        if let Some(SecretsAction::Scrub(command)) = &self.what {
            return command.run(context);
        }
        let rules = ChosenRules::new(&context.config.redact)?;
        if self.list {
            let rows = rules.all().map(|(id, description)| [id.to_string(), description.to_string()]);
            context.table("rule finds~100", rows, "")?;
            return Ok(Exit::Done);
        }
        self.check_rules(&rules)?;
        let (mut unreadable, mut found, mut searched) = (Vec::new(), Vec::new(), 1);
        if self.words.iter().any(|word| word == "-") {
            ensure!(self.words.len() == 1, "- cannot be used with other files");
            let input = secrets::in_reader(&mut io::stdin().lock(), &rules).context("cannot read standard input")?;
            found.push((None, input));
        } else {
            let files = selection::files(&self.words, &self.project, context, &mut unreadable)?;
            searched = files.len();
            let progress = |done| output::progress_of(done, searched, "files");
            let (mut all, failed) = secrets::in_files(&files, &rules, progress);
            unreadable.extend(failed);
            found.extend(files.into_iter().filter_map(|path| all.remove(&path).map(|found| (Some(path), found))));
        }
        let is_wanted =
            |secret: &FoundSecret| self.rules.is_empty() || self.rules.iter().any(|rule| rule == secret.rule.as_str());
        found.iter_mut().for_each(|(_, secrets)| secrets.retain(is_wanted));
        found.retain(|(_, secrets)| !secrets.is_empty());
        let found: Vec<SearchedFile> =
            found.into_iter().map(|(path, secrets)| SearchedFile::new(path.as_deref(), secrets, &rules)).collect();
        self.print(&found, context)?;
        let total: usize = found.iter().map(|file| file.secrets.len()).sum();
        let result = match total {
            0 => format!("no likely secret in {}", count(searched, "file", "files")),
            _ => format!(
                "{} in {}",
                count(total, "likely secret", "likely secrets"),
                count(found.len(), "file", "files")
            ),
        };
        note!("{result}; rules cannot find every secret");
        let end = output::end_with_details(unreadable, usize::MAX)?;
        Ok(if total > 0 { Exit::Over } else { end })
    }

    /// Returns an error for the name of a rule that does not exist.
    fn check_rules(&self, rules: &Rules) -> Result<()> {
        let known = || rules.all().map(|(id, _)| id.as_str());
        let Some(rule) = self.rules.iter().find(|rule| !known().any(|id| id == *rule)) else { return Ok(()) };
        let similar = typo::nearest(rule, known());
        let advice = similar.map_or("list the rules with --list".into(), |id| format!("did you mean {id}?"));
        bail!("no such rule: {rule}; {advice}")
    }

    fn print(&self, found: &[SearchedFile], context: &CommandContext) -> Result<()> {
        let ids = resolve::shortest(found.iter().filter_map(|file| file.id.as_deref()));
        let mut rows = Vec::new();
        for SearchedFile { path, id, title, secrets } in found {
            for FoundSecret { entry_id, place, rule, sample } in secrets {
                if self.json {
                    let rule = rule.as_str();
                    output::json(&object! { id, #[serde(flatten)] path, entry_id, rule, place, sample })?;
                    continue;
                }
                rows.push([
                    match id {
                        Some(id) => utf16_prefix(id, ids).into(),
                        None => shorten(&path.path, &context.home).into(),
                    },
                    title.clone(),
                    entry_id.clone().unwrap_or_default(),
                    rule.to_string(),
                    format!("{sample}…"),
                    place.clone(),
                ]);
            }
        }
        context.table("session/ title~40 entry rule sample place~100", rows, "")
    }
}

impl SearchedFile {
    /// Looks up the session of a file; `path` is `None` for standard input.
    fn new(path: Option<&Path>, secrets: Vec<FoundSecret>, rules: &Rules) -> Self {
        let session = path.and_then(|path| resolve::digest(path).ok());
        let title = session.as_ref().map(|session| rules.mask(session.title()).into_owned()).unwrap_or_default();
        Self {
            path: PathFields::from(path.unwrap_or(Path::new("-"))),
            id: session.map(|session| session.header.id),
            title,
            secrets,
        }
    }
}

/// Remove likely secrets from sessions and their families
///
/// Without SESSION, from all sessions. Lists every place with one of the values: sessions of the family, files in
/// pitree's trash, and other files of pitree. After a confirmation, the sessions are replaced by versions with marks such
/// as [github-token 1]; the originals move to the trash, and one `pitree undo` restores them. Sessions that a pi is using are refused. A removed value can have
/// been copied before: replace the key where it was issued. Rules cannot find every secret.
#[derive(Debug, clap::Args)]
struct ScrubCommand {
    /// Session path, id, unique id prefix, or name
    #[arg(add = completions::sessions())]
    session: Option<OsString>,
    #[command(flatten)]
    confirmed: ConfirmedArgs,
}

impl ScrubCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.confirmed.args)?;
        let rules = ChosenRules::new(&context.config.redact)?.for_process();
        let mut catalog = context.read_catalog();
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
        let (mut sessions, mut keys, mut seen, mut mirrored) = (Vec::new(), Vec::new(), HashSet::new(), 0);
        let families: BTreeSet<SessionKey> = targets.iter().flat_map(|&key| catalog.family(key)).collect();
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
        if !self.confirmed.args.dry_run {
            let values = values.lock();
            kept.iter().filter(|_| made.is_ok()).try_for_each(|file| values.replace_in(file))?;
            // The index forgets the values.
            drop(context.read_catalog());
            // The change was made, also if the journal cannot be read again.
            let history = changer.changes.history().unwrap_or_default();
            print_rest(trashed, history.get(count..).unwrap_or_default());
        }
        let done = made?;
        changer.print_result(&done, CliStep::Make)
    }

    /// Returns the sessions whose secrets are removed: the named one, or all with secrets.
    fn targets(&self, context: &CommandContext, catalog: &mut Catalog, rules: &Rules) -> Result<Vec<SessionKey>> {
        if let Some(session) = &self.session {
            let key = resolve::key_of(catalog, &context.session(session)?)?;
            return Ok(vec![key]);
        }
        let here = catalog.keys().filter(|&key| !catalog[key].facts().is_mirrored());
        let files: Vec<PathBuf> = here.map(|key| catalog[key].path.clone()).collect();
        let progress = |done| output::progress_of(done, files.len(), "files");
        let (found, unreadable) = secrets::in_files(&files, rules, progress);
        if let Some(error) = unreadable.first() {
            bail!("cannot read {}: {}", error.path.display(), error.reason);
        }
        Ok(files.iter().filter(|path| found.contains_key(*path)).filter_map(|path| catalog.key_of(path)).collect())
    }
}

/// Returns `true` for a file with damaged lines of a session.
fn is_rest_of(rest: &Path, session: &Path) -> bool {
    let after = rest.as_os_str().as_encoded_bytes().strip_prefix(session.as_os_str().as_encoded_bytes());
    after.is_some_and(|after| after.starts_with(b".rest"))
}

/// Tells what remains to be done: the trash has the values, and new keys are needed.
fn print_rest(trashed: Vec<u64>, new: &[JournalRecord]) {
    output::note("Replace these keys where they were issued: they can have been copied.");
    let is_known = new.iter().all(|record| record.trash_path().is_some());
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
fn list_others(values: &ScrubValues<'_>, changer: &ChangePrinter<'_>) -> Result<Vec<u64>> {
    let mut trashed = Vec::new();
    for record in changer.changes.history()? {
        let place: Option<PathBuf> = record.trash_path().filter(|_| record.is_in_trash()).map(Into::into);
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
fn refuse_running(catalog: &Catalog, keys: &[SessionKey], changer: &ChangePrinter<'_>) -> Result<()> {
    match changer.print_pi_evidence(catalog, keys) {
        true => bail!("a pi may be using a session; end it first"),
        false => Ok(()),
    }
}
