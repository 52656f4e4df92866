//! Clean-up: a box with suggestions. Each choice lists its sessions, marked, so that the user can look at them first. Also
//! the repair of damaged sessions: a box with their problems.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::app::command::{Command, NextStep};
use crate::app::flows::{Choice, Flow, cancel, hidden_note, marked_or_selected, trash_and_archive};
use crate::app::message::Work;
use crate::app::model::Model;
use crate::base::numbers::{bytes, count};
use crate::base::paths::shorten;
use crate::base::text::Tone;
use crate::catalog::SessionKey;
use crate::catalog::cleanup::{CleanRequest, CleanRule, CleanSuggestion, LeftoverFile, WEEKS};
use crate::catalog::doctor::known_of;
use crate::changes::change::RewritePurpose;
use crate::changes::repair::RepairWriter;
use crate::changes::{ExpectedSession, FileSnapshot, Request, SharedRewriter};
use crate::disk::session_file::Unreadable;
use crate::render::DocLine;
use crate::session::problem::Problem;
use crate::session::write::repair::KnownHeader;

/// Looks for sessions and files that are probably not needed.
pub(crate) fn open(model: &Model) -> Command {
    let request = CleanRequest::new(&model.catalog, CleanRule::ALL.to_vec(), (WEEKS, model.now));
    let search = Command::Task(Work::SuggestCleanup(Box::new(request)), NextStep::ChooseCleanup);
    Command::All(vec![search, Command::Notice(Tone::Dim, "looking for sessions to clean up; any key cancels".into())])
}

/// Asks which suggestion to show.
pub(crate) fn ask(suggestions: Vec<CleanSuggestion>) -> Command {
    if suggestions.is_empty() {
        return Command::Notice(Tone::Active, "no session to clean up".into());
    }
    let note = "Sessions with marks or labels, and those used today, are not suggested. A choice marks its sessions, and shows only \
                marked ones: then move them to the trash or the archive, or shrink them.";
    let lines = vec![DocLine::dim(note)];
    let choice = |(key, suggestion): (char, CleanSuggestion)| {
        let what = match suggestion.rule {
            CleanRule::Leftovers => count(suggestion.count(), "file", "files"),
            _ => count(suggestion.count(), "session", "sessions"),
        };
        let sentence = format!("{what}, {}: {}", bytes(suggestion.bytes), suggestion.rule.reason());
        let file = |file: &LeftoverFile| FileSnapshot { path: file.path.clone(), bytes: file.bytes, mtime: file.mtime };
        let then = match suggestion.rule {
            CleanRule::Leftovers => {
                Command::ChangeFiles(Request::Trash { files: suggestion.files.iter().map(file).collect() })
            }
            _ => Command::ShowMarked(suggestion.sessions),
        };
        Choice::new(key, suggestion.rule.title(), sentence, then)
    };
    let mut choices: Vec<_> = ('1'..).zip(suggestions).map(choice).collect();
    choices.push(cancel());
    Command::ask("Clean up", lines, choices)
}

/// Lists the files that could not be read.
///
/// # Errors
/// All files were read.
pub(crate) fn unreadable_files(model: &Model) -> Flow {
    let file = |file: &Unreadable| {
        let remedy = match (file.is_headless, file.is_missing) {
            (true, _) => "The session header is missing. To repair the file, run: pitree doctor --repair",
            (_, true) => "Check the directories in config.toml and the option --dir.",
            _ => "Check its owner and its mode.",
        };
        format!("{}\n  {}\n  {remedy}\n", shorten(&file.path.to_string_lossy(), &model.settings.home), file.reason)
    };
    let text: String = model.catalog.unreadable.iter().map(file).collect();
    if text.is_empty() { Err("all files were read") } else { Ok(Command::note("Unreadable files", text.trim_end())) }
}

/// The maximum number of listed problems.
const LISTED: usize = 8;

/// Asks whether to repair the damaged ones of the marked sessions, or else the selected session.
///
/// # Errors
/// No session is selected, or none has a problem that pitree can repair.
pub(crate) fn ask_to_repair(model: &Model) -> Flow {
    let catalog = &model.catalog;
    let mut sessions: Vec<SessionKey> = marked_or_selected(model)?;
    sessions.retain(|&key| {
        let problems = catalog.get(key).filter(|session| !session.header.is_newer()).map(|session| &session.problems);
        problems.is_some_and(|problems| problems.iter().any(Problem::is_damage))
    });
    if sessions.is_empty() {
        return Err("no problem known; `pitree doctor` checks each line");
    }
    let mut lines: Vec<DocLine> = hidden_note(model).into_iter().collect();
    let before = lines.len();
    for (&key, problem) in sessions.iter().flat_map(|key| catalog[*key].problems.iter().map(move |one| (key, one))) {
        let title = if sessions.len() > 1 { format!("{}: ", catalog[key].title()) } else { String::new() };
        lines.push(DocLine::warning(&model.short(&format!("{title}{problem}"))));
    }
    let more = (lines.len() - before).saturating_sub(LISTED);
    lines.truncate(before + LISTED);
    if more > 0 {
        lines.push(DocLine::dim(&format!("and {more} more")));
    }
    let note = "The repaired file replaces the original, which goes to the trash. Bytes without a place go to a file next to it.";
    lines.push(DocLine::dim(note));
    lines.extend(trash_and_archive::running_pi_warnings(model, &sessions, None));
    let files = count(sessions.len(), "session", "sessions");
    let repair = Command::ChangeFiles(repair_request(model, &sessions));
    let choices = vec![Choice::new('r', "Repair", files, repair), cancel()];
    Ok(Command::ask_about_files("Repair?", lines, choices))
}

fn repair_request(model: &Model, keys: &[SessionKey]) -> Request {
    let (mut sessions, mut known) = (Vec::new(), HashMap::<PathBuf, KnownHeader>::new());
    for &key in keys {
        let session = &model.catalog[key];
        let facts = known_of(session);
        // The change replaces the target of a link.
        known.insert(session.path.clone(), facts.clone());
        known.insert(session.real_path().clone(), facts);
        sessions.push(ExpectedSession::of(&session.facts()));
    }
    let by = SharedRewriter(Arc::new(RepairWriter { known }));
    Request::Rewrite { purpose: RewritePurpose::Repair, sessions, by }
}
