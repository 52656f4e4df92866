//! `pitree doctor`: finds damaged session files and repairs them.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use clap::ValueHint;

use crate::base::machine_paths;
use crate::base::numbers::count;
use crate::catalog::Catalog;
use crate::catalog::doctor::{self, ExaminedFile};
use crate::changes::change::RewritePurpose;
use crate::changes::repair::RepairWriter;
use crate::changes::{Changes, ExpectedSession, Request, SharedRewriter};
use crate::cli::change::{ChangeArgs, ChangePrinter};
use crate::cli::command_context::absolute;
use crate::cli::output::{self, PathFields, object};
use crate::cli::selection::{self, ProjectArg, note_mirrored};
use crate::cli::{CommandContext, Exit, completions, now};
use crate::disk::leftovers::{drafts_of_others, leftovers};
use crate::disk::scan::{self, Unreadable};
use crate::disk::trash::Trash;
use crate::disk::{files, load, locate, relocations};
use crate::session::health::HealthFinding;
use crate::session::health::code::Code;
use crate::session::write::repair::{RepairSteps, Unrepairable};

/// Check session files for damage, and repair them
///
/// Lists problems with their files and lines: data is lost, misread or at risk. With --notes, also lists unusual but
/// harmless properties. Without QUERY, checks all session files, the index and leftovers of interrupted operations.
///
/// With --repair, replaces damaged files by repaired ones that pi can open, after a confirmation. The originals move to the
/// trash, and `pitree undo` restores them. Bytes without a place in the repaired file go to NAME.jsonl.rest next to it.
/// Files of an old format are converted to version 3; files of a newer one stay as they are.
///
/// The exit code is 3 if there are problems, or 2 if a file cannot be read.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorCommand {
    /// Files, sessions (path, id, or unique id prefix), or a query (see `pitree search --help`)
    #[arg(value_name = "QUERY|FILE", add = completions::sessions())]
    words: Vec<OsString>,
    #[command(flatten)]
    project: ProjectArg,
    /// List notes too: unusual but harmless properties
    #[arg(long)]
    notes: bool,
    /// Repair the files with problems
    #[arg(long)]
    repair: bool,
    /// Working directory for a session without one
    #[arg(long, value_name = "DIR", requires = "repair", value_hint = ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    /// Don't ask
    #[arg(long, requires = "repair")]
    yes: bool,
    /// Print what a repair would change without changing anything
    #[arg(long, requires = "repair")]
    dry_run: bool,
    /// Print each finding, and each change, as a line of JSON
    #[arg(long)]
    json: bool,
    /// Seconds to wait for a locked file
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = crate::cli::number)]
    wait: u64,
}

/// The maximum number of files whose repairs are listed.
const LISTED: usize = 20;

/// The findings by file.
type Found = BTreeMap<PathBuf, Vec<HealthFinding>>;

impl DoctorCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let switches = ChangeArgs { dry_run: self.dry_run, json: self.json, wait: self.wait };
        let changer = self.repair.then(|| ChangePrinter::new(context, &switches)).transpose()?;
        let mut unreadable = Vec::new();
        let (files, is_all) = self.files(context, &mut unreadable)?;
        let progress = |done| output::progress_of(done, files.len(), "files");
        let (mut found, failed) = doctor::examine_files(&files, now(), &context.home, progress);
        unreadable.extend(failed);
        let examined: HashSet<&Path> = files.iter().map(|file| &*file.path).collect();
        let between = if files.iter().any(|file| file.session.is_some()) {
            context.catalog().findings_between()
        } else {
            Vec::new()
        };
        for (path, finding) in between.into_iter().filter(|(path, _)| examined.contains(&**path)) {
            found.entry(path).or_default().push(finding);
        }
        if is_all {
            let own = leftovers(&context.scanned, locate::state_dir().as_deref()).into_iter().map(|path| (path, false));
            for (path, is_orphan) in own.chain(drafts_of_others(&context.scanned)) {
                let code = if is_orphan { Code::OrphanDraft } else { Code::Leftover };
                found.entry(path).or_default().push(HealthFinding::new(code, None));
            }
        }
        add_history(&mut found, is_all);
        self.print(&found, context)?;
        print_count(&found, files.len(), self.notes || self.json);
        // Damaged files without a header are findings.
        unreadable.retain(|one| !one.is_headless && !found.contains_key(&one.path));
        let is_complete = unreadable.is_empty();
        let end = output::end_with_details(unreadable, usize::MAX)?;
        let can_be_repaired =
            |(_, found): &(&PathBuf, &Vec<HealthFinding>)| found.iter().any(|one| one.code.can_be_repaired());
        let damaged = found.iter().filter(can_be_repaired).map(|(path, _)| path.clone());
        let (mirrored, damaged): (Vec<PathBuf>, Vec<PathBuf>) =
            damaged.partition(|path| machine_paths::is_mirrored(path));
        note_mirrored(if self.repair { mirrored.len() } else { 0 });
        let has_problems = found.values().flatten().any(HealthFinding::is_problem);
        let code = match changer {
            Some(changer) if !damaged.is_empty() => self.mend(&damaged, &changer)?,
            _ if has_problems => Exit::Over,
            _ => end,
        };
        Ok(if is_complete { code } else { end })
    }

    /// Returns the files to examine, and `true` if they are all.
    fn files(&self, context: &CommandContext, unreadable: &mut Vec<Unreadable>) -> Result<(Vec<ExaminedFile>, bool)> {
        if self.words.is_empty() && self.project.dir.is_none() {
            let all = scan::find(&context.scanned);
            unreadable.extend(all.unreadable);
            let catalog = context.catalog();
            unreadable.extend(catalog.unreadable.iter().cloned());
            // The target of a link is listed itself, or belongs to another directory.
            let files = all.files.into_iter().filter(|file| !file.is_link).map(|file| file.path);
            return Ok((files.map(|path| examined(catalog, path)).collect(), true));
        }
        let paths = selection::files(&self.words, &self.project, context, unreadable)?.into_iter();
        let files = match self.words.iter().all(selection::is_file) && !self.words.is_empty() {
            true => paths.map(|path| ExaminedFile { path, session: None }).collect(),
            false => paths.map(|path| examined(context.catalog(), path)).collect(),
        };
        Ok((files, false))
    }

    fn print(&self, found: &Found, context: &CommandContext) -> Result<()> {
        let is_listed = |(_, finding): &(&PathBuf, &HealthFinding)| self.json || self.notes || finding.is_problem();
        let findings = found.iter().flat_map(|(path, findings)| findings.iter().map(move |finding| (path, finding)));
        let findings: Vec<(&PathBuf, &HealthFinding)> = findings.filter(is_listed).collect();
        let line = |&(path, finding): &(&PathBuf, &HealthFinding)| {
            object! {
                #[serde(flatten)] path: PathFields::from(&**path),
                severity: finding.code.severity(),
                code: finding.code.name(),
                line: finding.line,
                entry_id: finding.entry.clone(),
                detail: finding.detail.clone(),
                more: finding.more,
                text: finding.text(),
            }
        };
        let row = |&(path, finding): &(&PathBuf, &HealthFinding)| {
            [
                context.short(path),
                finding.line.map(|line| line.to_string()).unwrap_or_default(),
                finding.code.name().into(),
                finding.entry.clone().unwrap_or_default(),
                finding.text(),
            ]
        };
        context.list(self.json, &findings, line, ("file/ line> problem entry description~300", row), "")
    }

    /// Repairs files.
    fn mend(&self, damaged: &[PathBuf], changer: &ChangePrinter<'_>) -> Result<Exit> {
        let catalog = changer.context.catalog();
        // The change replaces the target of a link.
        let real_paths = damaged.iter().map(|path| files::resolved(path));
        let mut writer = RepairWriter { known: real_paths.zip(catalog.known_headers(damaged)).collect() };
        let cwd = self.cwd.as_ref().map(|cwd| relocations::directory(&absolute(cwd)?)).transpose()?;
        let (mut sessions, mut keys, mut failed, mut told) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (done, path) in damaged.iter().enumerate() {
            let (real, short) = (files::resolved(path), changer.short(path));
            let mut preview = writer.preview(&real);
            if preview.as_ref().is_err_and(|error| matches!(error.downcast_ref(), Some(Unrepairable::NoDirectory)))
                && let Some(known) = writer.known.get_mut(&real)
                && let Some(cwd) = self.directory(cwd.as_deref(), &short, &known.cwds)?
            {
                known.cwds = vec![cwd];
                preview = writer.preview(&real);
            }
            match preview {
                Ok(result) if result.steps.is_empty() => continue,
                Ok(result) if told < LISTED || self.dry_run => {
                    told += 1;
                    print_steps(&short, &result.steps, result.rest.len());
                }
                Ok(_) => output::progress(&format!("{done} of {} files", damaged.len())),
                Err(error) => {
                    failed.push(error);
                    continue;
                }
            }
            keys.extend(catalog.key_of(path).filter(|&key| catalog.has(key)));
            let id = load::header(path).map(|header| header.id).unwrap_or_default();
            sessions.push(ExpectedSession { path: path.clone(), id });
        }
        if sessions.len() > told {
            output::progress("");
            note!("and {}", count(sessions.len() - told, "more file", "more files"));
        }
        failed.iter().for_each(|error| output::error(&format!("{error:#}")));
        if sessions.is_empty() {
            return Ok(if failed.is_empty() { Exit::Over } else { Exit::Failed });
        }
        if !self.yes && !self.dry_run {
            output::check_can_ask()?;
            let files = count(sessions.len(), "file", "files");
            let question = ("Replace", &*format!("{files} by repaired ones"));
            if !changer.is_replacement_wanted(question, &keys, catalog)? {
                return output::nothing("canceled; no file changed");
            }
        }
        let by = SharedRewriter(Arc::new(writer));
        let code = changer.finish(&Request::Rewrite { purpose: RewritePurpose::Repair, sessions, by })?;
        Ok(if failed.is_empty() { code } else { Exit::Failed })
    }

    /// Returns the working directory for a session without one: `cwd`, or the answer of the user. `None` if none was given.
    fn directory(&self, cwd: Option<&str>, path: &str, choices: &[String]) -> Result<Option<String>> {
        if cwd.is_some() || self.yes || !output::can_ask() {
            return Ok(cwd.map(String::from));
        }
        note!("{path} has no working directory. These can be its directory:");
        choices.iter().zip(1..).for_each(|(choice, number)| note!("  {number} {choice}"));
        let answer = output::ask("Number or directory (empty: skip this file):")?;
        let number = answer.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
        match number {
            Some(choice) => Ok(Some(choice.clone())),
            None if answer.is_empty() => Ok(None),
            None => relocations::directory(Path::new(&answer)).map(Some),
        }
    }
}

fn examined(catalog: &Catalog, path: PathBuf) -> ExaminedFile {
    let session = catalog.key_of(&path).and_then(|key| catalog.get(key)).cloned();
    ExaminedFile { path, session }
}

/// Adds what the journal has: missing parents in the trash, and interrupted changes if all files are examined.
fn add_history(found: &mut Found, is_all: bool) {
    let is_missing = |finding: &HealthFinding| finding.code == Code::ForkParentMissing;
    let Some(state_dir) = locate::state_dir().filter(|_| is_all || found.values().flatten().any(is_missing)) else {
        return;
    };
    let history = Changes::new(state_dir, Trash::default()).history().unwrap_or_default();
    let missing = found.values_mut().flatten().filter(|finding| is_missing(finding));
    for detail in missing.filter_map(|finding| finding.detail.as_mut()) {
        let is_parent = |path: &Path| path.to_string_lossy() == **detail;
        if let Some(record) = history.iter().rev().find(|record| record.is_away() && is_parent(record.change.path())) {
            *detail += &format!("; it is in the trash: run `pitree trash restore {}`", record.number);
        }
    }
    for record in history.iter().filter(|record| is_all && record.interrupted_step().is_some()) {
        let detail = format!("change {} was interrupted; the next change completes or reverts it", record.number);
        let finding = HealthFinding::new(Code::Leftover, Some(detail));
        found.entry(record.change.path().into()).or_default().push(finding);
    }
}

/// Prints the number of findings.
fn print_count(found: &Found, files: usize, has_notes: bool) {
    let all = || found.values().flatten();
    let problems: usize = all().filter(|finding| finding.is_problem()).map(|finding| finding.more + 1).sum();
    let notes: usize = all().filter(|finding| !finding.is_problem()).map(|finding| finding.more + 1).sum();
    let damaged = found.values().filter(|findings| findings.iter().any(HealthFinding::is_problem)).count();
    let all_files = count(files, "file", "files");
    let first = match problems {
        0 => format!("no problem in {all_files}"),
        _ if damaged > files => {
            format!("{} in {}", count(problems, "problem", "problems"), count(damaged, "file", "files"))
        }
        _ => format!("{} in {damaged} of {all_files}", count(problems, "problem", "problems")),
    };
    let advice = if has_notes || notes == 0 { "" } else { "; list them with --notes" };
    let notes = if notes == 0 { String::new() } else { format!(", {}", count(notes, "note", "notes")) };
    note!("{first}{notes}{advice}");
}

/// Prints what a repair does to a file.
fn print_steps(path: &str, steps: &RepairSteps, rest: usize) {
    note!("{path}:");
    steps.listed.iter().for_each(|step| note!("  {step}"));
    if steps.more > 0 {
        note!("  and {} more", steps.more);
    }
    if rest > 0 {
        note!("  {} to {path}.rest", count(rest, "byte", "bytes"));
    }
}
