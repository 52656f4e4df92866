//! Deleting: which sessions, the questions before it, and what is asked when it was not possible.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::app::change::{cancel, is_refused_in_demo};
use crate::app::edit::{Edit, Purpose};
use crate::app::message::After;
use crate::app::model::Model;
use crate::app::question::{Choice, Question, Then};
use crate::app::sessions::Row;
use crate::app::update::say;
use crate::base::numbers::{bytes, count};
use crate::base::text::Tone;
use crate::base::time;
use crate::changes::{Request, Seen};
use crate::keymap::Place;
use crate::render::DocLine;

/// What has to be typed before anything is deleted for good.
pub(super) const WORD: &str = "delete";
/// As many sessions are named.
const NAMED: usize = 4;

/// Asks whether to delete what is marked, else what is selected.
pub(super) fn ask(model: &mut Model) {
    if is_refused_in_demo(model) {
        return;
    }
    let pane = &model.sessions;
    let (marked, hidden) = pane.marked();
    let mut choices = Vec::new();
    let mut notes = Vec::new();
    let all = if model.focus == Place::Sessions && !marked.is_empty() {
        if hidden > 0 {
            let not = if hidden == 1 { "is" } else { "are" };
            notes.push(format!(
                "{} of the marked ones {not} not in the list now.",
                count(hidden, "session", "sessions")
            ));
        }
        choices.push(to_trash(model, 't', "trash", &marked));
        marked
    } else {
        match pane.selected_row() {
            Some(Row::Project(at)) if model.focus == Place::Sessions => {
                let sessions = with_subagents(model, &pane.projects[*at].sessions);
                choices.push(to_trash(model, 't', "trash", &sessions));
                sessions
            }
            Some(Row::Session { at, .. }) => {
                let (one, family) = (vec![*at], pane.family(*at));
                choices.push(to_trash(model, 't', if family.len() > 1 { "only this" } else { "trash" }, &one));
                if family.len() > 1 {
                    choices.push(to_trash(model, 'f', "the family", &family));
                }
                one
            }
            Some(Row::Project(_)) | None => return say(model, Tone::Warning, "choose a session".into()),
        }
    };
    choices.push(cancel());
    let lines = facts(model, &all, &notes);
    model.ask(Question::new("Move to the trash?", lines, choices));
}

/// Asks again about files of which some changed since they were listed.
pub(super) fn ask_again(model: &mut Model, files: &[Seen], changed: &[PathBuf]) {
    let asked: HashSet<&PathBuf> = files.iter().map(|file| &file.path).collect();
    let pane = &model.sessions;
    let sessions: Vec<usize> = (0..pane.all.len()).filter(|&at| asked.contains(&pane.all[at].path)).collect();
    if sessions.is_empty() {
        return say(model, Tone::Warning, "they are not there any more".into());
    }
    let what = count(changed.len(), "session", "sessions");
    let notes = [format!("{what} changed since this was asked, so nothing was removed. This is how it is now:")];
    let lines = facts(model, &sessions, &notes);
    let choices = vec![to_trash(model, 't', "trash", &sessions), cancel()];
    model.ask(Question::new("Move to the trash?", lines, choices));
}

/// Asks whether what the trash did not take shall be deleted for good.
pub(super) fn ask_for_good(model: &mut Model, reason: &str, left: Vec<Seen>) {
    let files = count(left.len(), "file", "files");
    let size = bytes(left.iter().map(|file| file.bytes).sum());
    let lines = vec![
        DocLine::new(Tone::Warning, &format!("The trash can't take it: {reason}")),
        DocLine::new(Tone::Text, &format!("Still there: {files}, {size}.")),
    ];
    let prompt = format!("type {WORD} ({files}): ");
    let edit = Edit::new(Purpose::Word { files: left }, prompt, "");
    let choices = vec![
        cancel(),
        Choice::new('d', "for good", "delete without the trash; there is no undo", Then::Type(Box::new(edit))),
    ];
    model.ask(Question::new("Not moved to the trash", lines, choices));
}

/// The choice that moves sessions to the trash. Where pi seems to be at work it is asked for again.
fn to_trash(model: &Model, key: char, word: &'static str, sessions: &[usize]) -> Choice {
    let pane = &model.sessions;
    let files = sessions.iter().map(|&at| Seen::of(&pane.all[at])).collect();
    let sentence = format!("{} to the trash", size(model, sessions));
    let trash = Then::Change(Request::Trash { files }, After::Rest);
    if !sessions.iter().any(|&at| pane.is_live(at)) {
        return Choice::new(key, word, sentence, trash);
    }
    let text = "A pi that loses its file goes on writing into a new one, which it can't open later. End it first, if there is one.";
    let sure = Choice::new('d', "delete", "move it to the trash all the same", trash);
    let lines = vec![DocLine::new(Tone::Warning, text)];
    let question = Question::new("A pi seems to be at work here", lines, vec![cancel(), sure]);
    Choice::new(key, word, sentence, Then::Ask(Box::new(question)))
}

/// A project's sessions, and those of their sub-agents, which may not be shown.
fn with_subagents(model: &Model, sessions: &[usize]) -> Vec<usize> {
    let pane = &model.sessions;
    let mut seen: HashSet<usize> = sessions.iter().copied().collect();
    let mut all = sessions.to_vec();
    for at in sessions.iter().flat_map(|&at| pane.family(at)) {
        if pane.all[at].owner.is_some() && seen.insert(at) {
            all.push(at);
        }
    }
    all
}

fn size(model: &Model, sessions: &[usize]) -> String {
    let total = sessions.iter().map(|&at| model.sessions.all[at].bytes).sum();
    format!("{}, {}", count(sessions.len(), "file", "files"), bytes(total))
}

/// What goes, and what that means.
fn facts(model: &Model, sessions: &[usize], notes: &[String]) -> Vec<DocLine> {
    let pane = &model.sessions;
    let going: HashSet<usize> = sessions.iter().copied().collect();
    let mut lines: Vec<DocLine> = notes.iter().map(|note| DocLine::new(Tone::Warning, note)).collect();
    lines.extend(named(model, sessions).map(|title| DocLine::new(Tone::Strong, &title)));
    let newest = sessions.iter().filter_map(|&at| pane.all[at].modified).max();
    let newest = newest.map_or(String::new(), |newest| format!(", last said {} ago", time::age(model.now, newest)));
    lines.push(DocLine::new(Tone::Text, &format!("{}{newest}", size(model, sessions))));
    if sessions.iter().any(|&at| pane.is_live(at)) {
        lines.push(DocLine::new(Tone::Warning, "A pi seems to be at work here."));
    }
    let links = sessions.iter().filter(|&&at| pane.all[at].is_link).count();
    if links > 0 {
        let text = format!("{}: what it points at stays.", count(links, "symbolic link goes", "symbolic links go"));
        lines.push(DocLine::new(Tone::Text, &text));
    }
    let orphans = sessions.iter().flat_map(|&at| pane.children(at)).filter(|at| !going.contains(at));
    let orphans: Vec<usize> = orphans.copied().collect();
    if !orphans.is_empty() {
        let text = count(orphans.len(), "session loses its parent:", "sessions lose their parent:");
        lines.push(DocLine::new(Tone::Text, &text));
        lines.extend(named(model, &orphans).map(|title| DocLine::new(Tone::Fork, &format!("  {title}"))));
    }
    lines
}

/// The titles of sessions, up to a few.
fn named(model: &Model, sessions: &[usize]) -> impl Iterator<Item = String> {
    let title = |&at: &usize| model.short(model.sessions.all[at].title());
    let more = sessions.len().saturating_sub(NAMED);
    let titles: Vec<String> = sessions.iter().take(NAMED).map(title).collect();
    titles.into_iter().chain((more > 0).then(|| format!("and {}", count(more, "more", "more"))))
}
