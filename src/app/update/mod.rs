//! Changes of the model. A message comes in, the model changes, effects go out. Only this module changes the model.
//!
//! `keys` handles user input, `replies` results of background work. `actions` does actions, `commands` executes commands. The
//! other files handle their features. After each message `sync` updates dependent state.

mod actions;
mod attention;
mod commands;
mod comparison;
mod context;
mod family;
mod files;
mod keys;
mod menus;
mod prepared_boxes;
mod reader;
mod replies;
mod search;
mod session_facts;
mod stats;
mod sync;
mod titles;
mod unread;

use crate::app::flows::{self, names_and_marks};
use crate::app::layers::dialogs::MessageBox;
use crate::app::message::{Effect, Msg, Work};
use crate::app::model::Model;
use crate::app::panes::layout::bounded;
pub(crate) use keys::WHEEL;
pub use keys::message;

/// Starts reading the sessions.
pub fn start(model: &mut Model) -> Vec<Effect> {
    model.ask_until_next(Work::ReadMarks);
    model.ask_until_next(Work::ReadLastSeen(model.now));
    actions::scan(model);
    replies::ask_machines(model, Work::FollowMachines);
    let query = model.settings.query.clone();
    if !query.is_empty() {
        search::open(model, &query);
    }
    sync::sync(model);
    std::mem::take(&mut model.effects)
}

/// Handles a message.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let is_input = matches!(msg, Msg::Key(_) | Msg::Paste(_) | Msg::Click { .. } | Msg::Wheel { .. });
    if is_input {
        unread::note_before_input(model);
    }
    match msg {
        Msg::Now(now) => {
            // It precedes each other message, after which the dependent state is updated.
            model.now = now;
            unread::write_if_due(model);
            attention::notify_if_due(model);
            if !search::is_due(model) {
                return std::mem::take(&mut model.effects);
            }
        }
        // The work was canceled.
        Msg::Reply(ticket, _) if !ticket.is_wanted() => return Vec::new(),
        Msg::Reply(ticket, reply) => replies::on_reply(model, ticket.number, reply),
        Msg::Key(key) => keys::press(model, key),
        Msg::Paste(text) => keys::paste(model, &text),
        Msg::Click { column, row, double } => keys::click(model, (column, row), double),
        Msg::Wheel { column, row, by } => keys::wheel(model, (column, row), by),
        Msg::Resized(columns, rows) => model.size = bounded((columns, rows)),
        Msg::Returned(failure) => actions::returned(model, failure),
        Msg::Edited(text) => context::on_edited(model, &text),
        Msg::Names(text) => model.execute(names_and_marks::take_names(model, text.as_deref())),
        Msg::Shown(message) => message.into_iter().for_each(|message| model.warn(message)),
        Msg::Welcome => model.layers.push(flows::welcome::note(model)),
        Msg::DemoResumed(line) => {
            let text = format!("The demo does not start pi. With your own sessions, pitree would run:\n{line}");
            model.layers.push(MessageBox::new("Resume in pi", text));
        }
        Msg::NotResumed(text) => model.layers.push(MessageBox::new("Cannot start pi", text)),
    }
    sync::sync(model);
    if is_input {
        unread::note_after_input(model);
    }
    std::mem::take(&mut model.effects)
}
