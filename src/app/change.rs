//! Changes: handing them on, and taking how they went.

use std::path::PathBuf;

use crate::app::message::{After, Changed, Effect, Failure};
use crate::app::model::Model;
use crate::app::question::{Choice, Question, Then};
use crate::app::resume;
use crate::app::resume::GoOn;
use crate::app::settle::open;
use crate::app::update::say;
use crate::app::{delete, labels, update};
use crate::base::text::{Tone, width};
use crate::changes::journal::Change;
use crate::changes::{Done, Refusal, Request};
use crate::render::DocLine;
use crate::session::digest::summary::Summary;

/// Wants a change made.
pub(super) fn want(model: &mut Model, request: Request, after: After, effects: &mut Vec<Effect>) {
    if is_refused_in_demo(model) {
        return;
    }
    say(model, Tone::Dim, "working".into());
    effects.push(Effect::Change { request, now: model.now, after });
}

/// Whether nothing can be changed; says so.
pub(super) fn is_refused_in_demo(model: &mut Model) -> bool {
    if model.setting.demo {
        say(model, Tone::Warning, "these are sample sessions: nothing can be changed".into());
    }
    model.setting.demo
}

/// Takes how a change went.
pub(super) fn take(model: &mut Model, changed: Changed, effects: &mut Vec<Effect>) {
    let Changed { request, result, read, gone, after } = changed;
    let new = take_files(model, read, &gone, effects);
    match result {
        Ok(done) => take_done(model, done, (new, after), effects),
        Err(Failure::Refused(refusal)) => take_refusal(model, refusal, request, after),
        Err(Failure::Failed(error)) => model.complain("Not done", error),
    }
}

/// Brings the list up to date with the files that were touched; gives the first session that is new in it. The open
/// tree is read again if it is one of them.
fn take_files(model: &mut Model, read: Vec<Summary>, gone: &[PathBuf], effects: &mut Vec<Effect>) -> Option<PathBuf> {
    // What a scan under way read of them before does not count.
    model.changed.extend(read.iter().map(|session| session.path.clone()).chain(gone.iter().cloned()));
    model.scanned.extend(read.iter().map(|session| session.path.clone()));
    model.scanned.retain(|path| !gone.contains(path));
    let known = |model: &Model, path: &PathBuf| model.sessions.all.iter().any(|session| &session.path == path);
    let new = read.iter().map(|session| &session.path).find(|path| !known(model, path)).cloned();
    let is_open = |session: &Summary| model.tree.path.as_ref() == Some(&session.path);
    if let Some(path) = read.iter().find(|session| is_open(session)).map(|session| session.path.clone()) {
        effects.push(open(model, path));
    }
    let touched: Vec<PathBuf> = read.iter().map(|session| session.path.clone()).collect();
    if !read.is_empty() || !gone.is_empty() {
        model.sessions.remove(gone);
        model.sessions.add_again(read);
        model.sessions.rebuild(model.setting.glyphs);
        model.sessions.note_live(model.now);
        labels::follow(model, &touched, effects);
    }
    new
}

/// What was done; of a session other than the selected one, with its title.
fn said(model: &Model, done: &Done) -> String {
    let mut paths: Vec<_> = done.changes.iter().map(Change::path).collect();
    paths.dedup();
    let [path] = paths[..] else { return done.said.clone() };
    let is_selected = model.sessions.selected_session().is_some_and(|session| session.path == path);
    let session = model.sessions.all.iter().find(|session| session.path == path);
    match session.filter(|_| !is_selected) {
        Some(session) => format!("{} {} {}", done.said, model.setting.glyphs.dot, model.short(session.title())),
        None => done.said.clone(),
    }
}

fn take_done(model: &mut Model, done: Done, (new, after): (Option<PathBuf>, After), effects: &mut Vec<Effect>) {
    let said = said(model, &done);
    say(model, Tone::Active, said);
    match after {
        After::Rest => {}
        After::Show => {
            if let Some(path) = new.or(done.made) {
                model.sessions.select(&path, model.setting.glyphs);
            }
        }
        After::GoOn(go_on) => {
            let path = done.made.unwrap_or(go_on.path);
            resume::go_on(model, GoOn { path, ..go_on }, effects);
        }
    }
}

/// Asks what can be asked.
fn take_refusal(model: &mut Model, refusal: Refusal, request: Request, after: After) {
    model.notice = None;
    match (refusal, request) {
        (Refusal::Old { version, .. }, request) => {
            let Some(request) = migrating(request) else { return };
            let text = format!(
                "The session is of version {version}. pi brings it into the form of version 3 when it opens it, and would lose this. pitree can do the same first: the original goes to the trash, and undo brings it back."
            );
            let choice = Choice::new(
                'b',
                "bring up to date",
                "write the form of version 3, then go on",
                Then::Change(request, after),
            );
            model.ask(Question::new("An old session", vec![DocLine::new(Tone::Text, &text)], vec![choice, cancel()]));
        }
        (Refusal::Changed { paths }, Request::Trash { files } | Request::Delete { files }) => {
            delete::ask_again(model, &files, &paths);
        }
        (Refusal::NoTrash { reason, left }, _) => delete::ask_for_good(model, &reason, left),
        (refusal, _) => model.complain("Not done", refusal.to_string()),
    }
}

/// The same request, with leave to migrate.
fn migrating(request: Request) -> Option<Request> {
    match request {
        Request::Label { path, target, label, .. } => Some(Request::Label { path, target, label, migrate: true }),
        Request::MoveLeaf { path, to, .. } => Some(Request::MoveLeaf { path, to, migrate: true }),
        _ => None,
    }
}

/// Leaves everything as it is.
pub(super) fn cancel() -> Choice {
    Choice::new('n', "cancel", "leave everything as it is", Then::Cancel)
}

impl Model {
    /// Says what went wrong: in the footer if it fits, else in a box.
    pub(super) fn complain(&mut self, title: &str, error: String) {
        if width(&error) + 2 <= usize::from(self.size.0) && !error.contains('\n') {
            update::say(self, Tone::Error, error);
        } else {
            self.message = Some(crate::app::model::Message::new(title, error));
        }
    }
}
