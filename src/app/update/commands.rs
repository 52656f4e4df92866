//! Execution of commands.

use super::search;
use crate::app::command::{AfterChange, Command, ResumePlan};
use crate::app::flows::{context_view, delete, missing_directory, refusal};
use crate::app::layers::Layer;
use crate::app::layers::context::ContextTarget;
use crate::app::layers::note::Note;
use crate::app::message::{Clip, Effect, EntryBody, PickedEntry, PickerOutput, Work};
use crate::app::model::{Errand, Model, NextStep, PendingChange};
use crate::app::startup::PickerFormat;
use crate::base::text::{Tone, width};
use crate::catalog::{EntryRef, SessionKey};
use crate::changes::Request;
use crate::keymap::{Action, Place};
use crate::pi::launch::Start;

/// Executes a command.
pub(super) fn execute(model: &mut Model, command: Command) {
    match command {
        Command::All(commands) => commands.into_iter().for_each(|command| execute(model, command)),
        Command::Say(tone, text) => model.say(tone, text),
        Command::SayUndoable(text) => model.say_done(text),
        Command::ShowError(title, error) => show_error(model, title, error),
        Command::Show(layer) => open_layer(model, *layer),
        Command::ShowContext(place) => {
            let ContextTarget { path, tree, at, .. } = place.clone();
            model.seeing = Some(model.ask(Work::Context { path, tree, at }));
            let view = context_view::view(model, place);
            model.layers.push(Layer::Context(view));
        }
        Command::Focus(place) => model.focus = place,
        Command::Select(key) => {
            let here = model.jump_position();
            model.jumps.leave(here);
            model.sessions.select(key, &model.catalog, &model.setting.glyphs);
        }
        Command::GoTo(entry) => go_to(model, entry),
        Command::GoToId(session, entry) => {
            if select_session(model, session) {
                model.tree.go_to_id(session, entry);
            }
        }
        Command::ToggleFold if model.focus == Place::Sessions => {
            model.sessions.toggle(&model.catalog, &model.setting.glyphs);
        }
        Command::ToggleFold => drop(model.tree.toggle()),
        Command::GoToHit => drop(search::go_to_hit(model)),
        Command::Change(request, after) => queue_change(model, request, after),
        Command::ListPis => model.looking = Some(model.ask(Work::LookForPis)),
        Command::Trash(files) => {
            let command = delete::go(model, files);
            execute(model, command);
        }
        Command::RequestPi(pi, what) => start_errand(model, Work::TellPi(pi, what), NextStep::Report),
        Command::AskPi(session, tree, at) => {
            let claim = model.ask(Work::AskPi);
            model.asking_pi = Some((claim, Command::AskPi(session, tree, at)));
        }
        Command::Resume(next) => resume(model, next),
        Command::FindMovedDirectory(then) => {
            let work = missing_directory::look(model, &then.start);
            start_errand(model, work, NextStep::Resume(then));
        }
        Command::RememberDirectory { then, dir } => {
            let work = Work::Remember { gone: then.start.cwd.clone(), dir };
            start_errand(model, work, NextStep::Resume(then));
        }
        Command::Copy(clip) => start_errand(model, Work::Copy(clip), NextStep::Report),
        Command::CopyText(body) => start_errand(model, Work::Text(body), NextStep::Report),
        Command::Print(answer) => model.effects.push(Effect::Answer(answer)),
        Command::Quit => model.effects.push(Effect::Quit),
    }
}

/// Opens a layer. A prompt is for a change, which may not be possible.
fn open_layer(model: &mut Model, layer: Layer<Command>) {
    match (&layer, refusal(model)) {
        (Layer::Prompt(_), Some(why)) => model.say(Tone::Warning, why),
        _ => model.layers.push(layer),
    }
}

fn show_error(model: &mut Model, title: &str, error: String) {
    if width(&error) + 2 <= usize::from(model.size.0) && !error.contains('\n') {
        model.say(Tone::Error, error);
    } else {
        model.layers.push(Layer::Note(Note::new(title, error)));
    }
}

/// Goes to an entry of any session, even a hidden one, once its tree is open.
fn go_to(model: &mut Model, entry: EntryRef) {
    if model.tree.shown(entry).is_some() {
        model.jumps.leave(model.jump_position());
        model.focus = Place::Tree;
        model.tree.go_to_entry(entry);
    } else if select_session(model, entry.session) {
        model.tree.go_to_entry(entry);
    }
}

/// Selects a session in order to go to one of its entries. Returns `true` if it exists.
fn select_session(model: &mut Model, session: SessionKey) -> bool {
    let here = model.jump_position();
    let is_there = model.sessions.select(session, &model.catalog, &model.setting.glyphs);
    if is_there {
        model.jumps.leave(here);
        model.focus = Place::Tree;
    } else {
        let reload = model.setting.key(Action::Reload);
        model
            .say(Tone::Warning, format!("this session no longer exists {} {reload}: reload", model.setting.glyphs.dot));
    }
    is_there
}

/// Queues a change.
fn queue_change(model: &mut Model, request: Request, after: AfterChange) {
    if let Some(why) = refusal(model) {
        return model.say(Tone::Warning, why);
    }
    let claim = model.ask(Work::Change { request: request.clone(), now: model.now });
    if !model.changes.is_empty() {
        model.say(Tone::Dim, "waiting for the previous change");
    }
    model.changes.push_back(PendingChange { claim, request, after, progress: None, waits: None });
}

/// Starts background work with a next step.
pub(super) fn start_errand(model: &mut Model, work: Work, then: NextStep) {
    let claim = model.ask(work);
    model.errands.push(Errand { claim, then });
}

/// Does the next step of resuming in pi: reads the text to give back, makes the change, copies the text or starts pi.
fn resume(model: &mut Model, mut plan: ResumePlan) {
    if let Some((tree, at)) = plan.text_of.take() {
        let body = EntryBody { path: plan.start.path.clone(), tree, at };
        return start_errand(model, Work::Text(body), NextStep::Resume(plan));
    }
    if let Some(request) = plan.request.take() {
        return queue_change(model, request, AfterChange::Resume(Box::new(plan)));
    }
    // The JSON output of a picker contains the text.
    if model.setting.picker != Some(PickerFormat::Json)
        && let Some(text) = plan.text.take()
    {
        return start_errand(model, Work::Copy(Clip::Text(text)), NextStep::Resume(plan));
    }
    // pi starts only after all changes are made.
    if let Some(last) = model.changes.back_mut() {
        last.after = AfterChange::Resume(Box::new(plan));
        return model.say(Tone::Dim, "pi starts after the current change; press any key to cancel");
    }
    let ResumePlan { start, text, .. } = plan;
    model.effects.push(match model.setting.picker {
        Some(PickerFormat::Json) => Effect::Answer(PickerOutput::Json(Box::new(picked_fork(model, start, text)))),
        Some(_) => Effect::Answer(PickerOutput::Command(start)),
        None => Effect::Resume(start),
    });
}

/// Returns the picker's output for a new session: its leaf.
fn picked_fork(model: &Model, Start { path, cwd, .. }: Start, draft: Option<String>) -> PickedEntry {
    let session = model.catalog.key_of(&path).and_then(|key| model.catalog.get(key));
    let id = session.map_or(String::new(), |session| session.header.id.clone());
    let name = session.and_then(|session| session.name.as_deref()).map(String::from);
    PickedEntry { path, id, cwd, name, entry: None, draft }
}

/// Reads the tree of the selected session.
pub(super) fn read_tree(model: &mut Model) {
    model.tree.is_outdated = false;
    let session = model.tree.session.and_then(|key| model.catalog.get(key)).cloned();
    model.tree.opening = session.map(|session| model.ask(Work::Open { path: session.path.clone() }));
}
