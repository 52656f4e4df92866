//! Moves of sessions to the trash and to the archive and back, permanent deletion, and missing sessions that have forks.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::app::command::{Command, NextStep};
use crate::app::flows::{Choice, Flow, ListTarget, cancel, hidden_note, list_target, without_mirrored};
use crate::app::layers::screen::PromptPurpose;
use crate::app::model::Model;
use crate::app::title::title_of_message;
use crate::base::numbers::{bytes, count};
use crate::base::paths::{shorten, split_name};
use crate::base::text::{Tone, clean};
use crate::base::time;
use crate::catalog::SessionKey;
use crate::catalog::parents::{MissingParent, MissingParentKey, id_in_name};
use crate::changes::history::HistoryEntry;
use crate::changes::{FileSnapshot, Request};
use crate::pi::warnings::LOSES;
use crate::render::DocLine;

/// The word that confirms a permanent deletion.
pub(crate) const WORD: &str = "delete";
/// Maximum number of listed sessions.
const MAX_LISTED: usize = 4;

/// Asks whether to move the marked sessions, or else the selected one, to the trash.
///
/// # Errors
/// No session is selected.
pub fn ask_to_trash(model: &Model) -> Flow {
    let (catalog, mut choices) = (&model.catalog, Vec::new());
    let (mut note, mut project) = (None, None);
    let all = match list_target(model)? {
        ListTarget::Marked(marked) => {
            note = hidden_note(model);
            choices.push(to_trash(model, 't', "Move to trash", &marked));
            marked
        }
        ListTarget::Project(listed) => {
            let sessions = catalog.with_subagents(&listed.sessions);
            project = Some(named_project(model, &listed.cwd));
            choices.push(to_trash(model, 't', "Move to trash", &sessions));
            sessions
        }
        ListTarget::Session(key) => {
            let (one, family) = (vec![key], catalog.families().family(key));
            let word = if family.len() > 1 { "This session" } else { "Move to trash" };
            choices.push(to_trash(model, 't', word, &one));
            if family.len() > 1 {
                choices.push(to_trash(model, 'f', "Whole family", &family));
            }
            one
        }
    };
    choices.push(cancel());
    let lines = project.into_iter().chain(facts(model, &all, note)).collect();
    Ok(Command::ask_about_files("Move to trash?", lines, choices))
}

/// Asks again because some files changed.
pub(crate) fn ask_to_trash_again(model: &Model, files: &[FileSnapshot], changed: &[PathBuf]) -> Command {
    let sessions = sessions_of(model, files);
    if sessions.is_empty() {
        return Command::warn("these sessions no longer exist");
    }
    let what = count(changed.len(), "session", "sessions");
    let note = DocLine::warning(&format!("{what} changed since it was read; no files were moved. Current state:"));
    let lines = facts(model, &sessions, Some(note));
    let choices = vec![to_trash(model, 't', "Move to trash", &sessions), cancel()];
    Command::ask("Move to trash?", lines, choices)
}

/// Returns the sessions that still have some files.
fn sessions_of(model: &Model, files: &[FileSnapshot]) -> Vec<SessionKey> {
    let known = files.iter().filter_map(|file| model.catalog.key_of(&file.path));
    known.filter(|&key| model.catalog.has(key)).collect()
}

/// Asks whether to permanently delete the files that could not be moved to the trash.
pub(crate) fn ask_to_delete_permanently(reason: &str, left: Vec<FileSnapshot>) -> Command {
    let files = count(left.len(), "file", "files");
    let size = bytes(left.iter().map(|file| file.bytes).sum());
    let lines = vec![
        DocLine::warning(&format!("Moving to the trash failed: {reason}")),
        DocLine::text(&format!("Still in place: {files}, {size}.")),
    ];
    let prompt = format!("Type \"{WORD}\" to delete {files} permanently: ");
    let prompt = Command::prompt(PromptPurpose::Word(left), prompt, "");
    let choices = vec![cancel(), Choice::new('d', "Delete permanently", "bypass the trash; cannot be undone", prompt)];
    Command::ask("Cannot move to trash", lines, choices)
}

/// Returns the choice that moves sessions to the trash.
fn to_trash(model: &Model, key: char, word: &'static str, sessions: &[SessionKey]) -> Choice {
    let files = sessions.iter().map(|&key| FileSnapshot::listed(&model.catalog[key].facts())).collect();
    Choice::new(key, word, size(model, sessions), Command::ChangeFiles(Request::Trash { files }))
}

/// Moves or replaces files. Asks again if a pi may be using one of them.
pub(crate) fn change_files(model: &Model, request: Request) -> Command {
    let sessions: Vec<SessionKey> =
        request.paths().into_iter().filter_map(|path| model.catalog.key_of(&path)).collect();
    let selects = matches!(request, Request::Archive { .. } | Request::Move(_));
    let after = if selects { NextStep::Select } else { NextStep::Nothing };
    let (text, word, sentence) = match &request {
        Request::Rewrite { .. } => (
            "A running pi can write removed entries again.",
            "Replace anyway",
            "lines that pi writes meanwhile are kept",
        ),
        _ => (LOSES, "Move anyway", "a running pi would lose its session file"),
    };
    let change = Command::Change(request, after);
    if model.catalog.running_pi_evidence(&sessions, model.now, &model.settings.home).is_empty() {
        return change;
    }
    let lines = running_pi_warnings(model, &sessions, Some(text));
    let sure = Choice::new('d', word, sentence, change);
    Command::ask(at_work(model, &sessions), lines, vec![cancel(), sure])
}

/// Returns the title of a question with [`running_pi_warnings`]: a pi reports that it has a session open, or a guess.
pub(crate) fn at_work(model: &Model, sessions: &[SessionKey]) -> &'static str {
    let is_reported = |&key: &SessionKey| model.catalog.live(key).is_some_and(|live| live.reported().is_some());
    let pis = |key: &SessionKey| model.catalog.live(*key).map_or(0, |live| live.all().len());
    match sessions {
        [only] if pis(only) > 1 => "This session is open in several running pi processes",
        [only] if is_reported(only) => "This session is open in a running pi",
        several if several.iter().any(is_reported) => "One of these sessions is open in a running pi",
        _ => "A pi may be running here",
    }
}

/// Lists signs of running pi processes in some sessions, up to a limit, and what follows from them.
pub(crate) fn running_pi_warnings(model: &Model, sessions: &[SessionKey], text: Option<&str>) -> Vec<DocLine> {
    let signs = model.catalog.running_pi_evidence(sessions, model.now, &model.settings.home);
    let signs = first_of(signs.iter().map(|sign| format!("{sign}.")));
    let lines = signs.map(|sign| DocLine::warning(&sign));
    lines.chain(text.map(DocLine::text)).collect()
}

/// Returns the first of some texts, and the number of the others.
fn first_of(texts: impl ExactSizeIterator<Item = String>) -> impl Iterator<Item = String> {
    let more = texts.len().saturating_sub(MAX_LISTED);
    texts.take(MAX_LISTED).chain((more > 0).then(|| format!("and {}", count(more, "more", "more"))))
}

/// Returns a line with a project's name and parent directory.
fn named_project(model: &Model, cwd: &str) -> DocLine {
    let path = shorten(cwd, &model.settings.home);
    let message = match split_name(&path) {
        (_, "") => "sessions without a directory".into(),
        ("", name) => format!("project {name}"),
        (dir, name) => format!("project {name} ({dir})"),
    };
    DocLine::new(Tone::Strong, &message)
}

/// Returns the number of some sessions and the size of their files.
pub(crate) fn size(model: &Model, sessions: &[SessionKey]) -> String {
    let total = sessions.iter().map(|&key| model.catalog[key].facts().bytes()).sum();
    format!("{}, {}", count(sessions.len(), "file", "files"), bytes(total))
}

/// Returns lines with the titles of some sessions, up to a limit.
pub(crate) fn titles(model: &Model, sessions: &[SessionKey]) -> Vec<DocLine> {
    let titles = sessions.iter().map(|&key| model.short_title(key));
    first_of(titles).map(|title| DocLine::new(Tone::Strong, &title)).collect()
}

/// Describes the sessions and the effects of moving them.
fn facts(model: &Model, sessions: &[SessionKey], note: Option<DocLine>) -> Vec<DocLine> {
    let catalog = &model.catalog;
    let going: HashSet<SessionKey> = sessions.iter().copied().collect();
    let named = |keys: &[SessionKey]| first_of(keys.iter().map(|&key| model.short_title(key))).collect::<Vec<_>>();
    let mut lines: Vec<DocLine> = note.into_iter().collect();
    lines.extend(titles(model, sessions));
    let newest = sessions.iter().filter_map(|&key| catalog[key].facts().modified()).max();
    let newest = newest.map_or(String::new(), |newest| format!(", last active {}", time::ago(model.now, newest)));
    lines.push(DocLine::text(&format!("{}{newest}", size(model, sessions))));
    lines.extend(running_pi_warnings(model, sessions, None));
    let links = sessions.iter().filter(|&&key| catalog[key].is_link).count();
    if links > 0 {
        let stays = if links == 1 { "its target stays" } else { "their targets stay" };
        let text = format!("{}: {stays}.", count(links, "symbolic link", "symbolic links"));
        lines.push(DocLine::text(&text));
    }
    let orphans = sessions.iter().flat_map(|&key| catalog.families().forks(key)).filter(|key| !going.contains(key));
    let orphans: Vec<SessionKey> = orphans.copied().collect();
    if !orphans.is_empty() {
        let text = count(orphans.len(), "session loses its parent:", "sessions lose their parent:");
        lines.push(DocLine::text(&text));
        lines.extend(named(&orphans).iter().map(|title| DocLine::new(Tone::Fork, &format!("  {title}"))));
    }
    lines
}

/// The consequence of a move to the archive.
const UNLISTED: &str = "pi's /resume will not list them. pitree still lists, searches and shows them.";

/// Asks whether to archive the marked sessions, the selected one or those of a project, or to bring archived ones back.
///
/// # Errors
/// No session is selected.
pub fn ask_to_archive(model: &Model) -> Flow {
    let catalog = &model.catalog;
    let hidden = hidden_note(model);
    let (chosen, family) = match list_target(model)? {
        ListTarget::Marked(marked) => (marked, Vec::new()),
        ListTarget::Project(project) => (project.sessions.clone(), Vec::new()),
        ListTarget::Session(key) => (vec![key], catalog.families().family(key)),
    };
    let is_archived = |key: &SessionKey| catalog[*key].facts().is_archived();
    let is_link = |key: &SessionKey| catalog[*key].facts().is_link();
    let mut all = without_mirrored(model, catalog.with_subagents(&chosen))?;
    let family: Vec<SessionKey> = family.into_iter().filter(|&key| !catalog[key].facts().is_mirrored()).collect();
    all.retain(|key| !is_link(key));
    if all.is_empty() {
        return Err("this is a symbolic link; archive its target instead");
    }
    let (archived, others): (Vec<SessionKey>, Vec<SessionKey>) = all.iter().partition(|key| is_archived(key));
    let (of_family, rest): (Vec<SessionKey>, Vec<SessionKey>) =
        family.iter().filter(|key| !is_link(key)).partition(|key| is_archived(key));
    let mut choices = Vec::new();
    if !others.is_empty() {
        choices.push(to_archive(model, 'a', "Move to archive", &others));
    }
    if !others.is_empty() && rest.len() > others.len() {
        choices.push(to_archive(model, 'f', "Archive whole family", &rest));
    }
    if !archived.is_empty() {
        choices.push(to_bring_back(model, 'b', "Bring back", &archived));
    }
    if !archived.is_empty() && of_family.len() > archived.len() {
        choices.push(to_bring_back(model, 'w', "Bring whole family back", &of_family));
    }
    choices.push(cancel());
    let mut lines = titles(model, &chosen);
    lines.extend(hidden);
    if !others.is_empty() {
        lines.push(DocLine::text(UNLISTED));
        lines.extend(running_pi_warnings(model, &others, None));
    }
    let title = if others.is_empty() { "Bring back from the archive?" } else { "Move to the archive?" };
    Ok(Command::ask_about_files(title, lines, choices))
}

/// Asks again because some files changed.
pub(crate) fn ask_to_archive_again(model: &Model, files: &[FileSnapshot]) -> Command {
    let sessions = sessions_of(model, files);
    if sessions.is_empty() {
        return Command::warn("these sessions no longer exist");
    }
    let mut lines = titles(model, &sessions);
    lines.push(DocLine::warning("Sessions changed since they were read; no files were moved."));
    lines.extend(running_pi_warnings(model, &sessions, None));
    let choices = vec![to_archive(model, 'a', "Move to archive", &sessions), cancel()];
    Command::ask("Move to the archive?", lines, choices)
}

fn to_archive(model: &Model, key: char, word: &'static str, sessions: &[SessionKey]) -> Choice {
    let files = sessions.iter().map(|&key| FileSnapshot::listed(&model.catalog[key].facts())).collect();
    Choice::new(key, word, size(model, sessions), Command::ChangeFiles(Request::Archive { files }))
}

fn to_bring_back(model: &Model, key: char, word: &'static str, sessions: &[SessionKey]) -> Choice {
    let files = sessions.iter().map(|&key| model.catalog[key].file_path()).collect();
    let change = Command::Change(Request::Unarchive { files }, NextStep::Select);
    Choice::new(key, word, size(model, sessions), change)
}

/// Asks whether to bring archived sessions back before a change of them.
pub(crate) fn ask_to_bring_back(model: &Model, paths: &[PathBuf], request: Request, after: NextStep) -> Command {
    let sessions: Vec<SessionKey> = paths.iter().filter_map(|path| model.catalog.key_of(path)).collect();
    let mut lines = titles(model, &sessions);
    if let [session] = sessions[..] {
        let original = model.catalog[session].real_path().to_string_lossy();
        let text = format!("The file returns to {}.", shorten(&original, &model.settings.home));
        lines.push(DocLine::text(&text));
    }
    let title = if paths.len() == 1 { "This session is archived" } else { "These sessions are archived" };
    let what = "bring back from the archive, then apply the change";
    let change = Command::Change(request.after_unarchive(), after);
    Command::ask(title, lines, vec![Choice::new('b', "Bring back and continue", what, change), cancel()])
}

/// Restores it from the trash if possible.
pub(crate) fn restore_missing(model: &Model, key: MissingParentKey) -> Command {
    let Some(parent) = model.catalog.missing_parent(key) else { return Command::nothing() };
    match missing_in_trash(model, parent) {
        Some(past) => Command::Change(Request::Undo { number: Some(past.record.number) }, NextStep::Select),
        None => {
            let path = shorten(&parent.path.to_string_lossy(), &model.settings.home).into_owned();
            Command::warn(format!("not in pitree's trash: {}", clean(&path)))
        }
    }
}

/// Returns the change that moved it to the trash.
pub(crate) fn missing_in_trash<'a>(model: &'a Model, parent: &MissingParent) -> Option<&'a HistoryEntry> {
    let is_removed_parent = |entry: &&HistoryEntry| {
        entry.record.is_away() && !entry.is_emptied && is_same(entry.record.change.path(), &parent.path)
    };
    model.history().iter().find(is_removed_parent)
}

/// Returns `true` if two paths are of the same session file: equal paths, or equal names in pi's format if a path
/// contains a symbolic link.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other || (id_in_name(one).is_some() && one.file_name() == other.file_name())
}

/// Returns the title: the first message, which its forks inherited.
pub fn missing_title(model: &Model, parent: &MissingParent) -> String {
    let first = parent.forks.first().and_then(|&fork| model.catalog.get(fork)?.typed_message().map(str::to_owned));
    title_of_message(first.as_deref().unwrap_or("(no messages)").trim(), &model.settings)
}
