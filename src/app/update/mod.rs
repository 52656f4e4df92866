//! How the browser changes: a message comes in, the model changes, effects go out. Nothing else changes the model: panes,
//! layers and flows say what they want. `keys` takes what a person does, `replies` what comes of work, `news` what is new in the files, `act` does
//! actions, `carry` carries out commands, `opening` what other programs show, `comparing` what is compared, `searching`, its line `typing`, and `finding` see to what is looked for, and
//! after each message `settle` brings the rest in line.

mod actions;
mod commands;
mod comparison;
mod external_programs;
mod family;
mod file_changes;
mod find_in_session;
mod keys;
mod query_input;
mod replies;
mod search;
mod sync;

use crate::app::command::{Command, ResumePlan};
use crate::app::layers::Layer;
use crate::app::layers::note::Note;
use crate::app::message::{Effect, Msg};
use crate::app::model::{Model, bounded};
use crate::base::text::Tone;
pub(crate) use keys::WHEEL;
pub use keys::message;

/// Starts reading.
pub fn start(model: &mut Model) -> Vec<Effect> {
    actions::scan(model);
    let query = model.setting.query.clone();
    if !query.is_empty() {
        search::open(model, &query);
    }
    sync::settle(model);
    std::mem::take(&mut model.effects)
}

/// Takes a message.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Now(now) => {
            // It comes before each of the others, which bring the rest in line.
            model.now = now;
            if !search::is_due(model) {
                return Vec::new();
            }
        }
        // Nobody waits for it any more.
        Msg::Reply(ticket, _) if !ticket.is_wanted() => return Vec::new(),
        Msg::Reply(ticket, reply) => replies::take(model, ticket.number, reply),
        Msg::Key(key) => keys::press(model, key),
        Msg::Paste(text) => keys::paste(model, &text),
        Msg::Click { column, row, double } => keys::click(model, (column, row), double),
        Msg::Wheel { column, row, by } => keys::wheel(model, (column, row), by),
        Msg::Resized(columns, rows) => model.size = bounded((columns, rows)),
        Msg::Returned(failure) => actions::returned(model, failure),
        Msg::Shown(said) => said.into_iter().for_each(|said| model.say(Tone::Warning, said)),
        Msg::Gone(start) => commands::carry(model, Command::LookForMoved(ResumePlan::of(start))),
        Msg::NotResumed(text) => model.layers.push(Layer::Note(Note::new("pi was not started", text))),
    }
    sync::settle(model);
    std::mem::take(&mut model.effects)
}
