//! Opening the previewed item in a pager or an editor.

use super::commands;
use crate::app::card::{self, Room};
use crate::app::message::{Effect, EntryBody, Opener, TextCopy, Work};
use crate::app::model::{Model, NextStep};
use crate::app::panes::preview::PreviewSubject;
use crate::base::text::{Tone, spans_text};

/// Room in which a card is not shortened.
const ROOM: Room = Room { columns: 1000, rows: 1000 };

/// Opens the source text of an entry, or the card of a session or a project.
pub(super) fn open(model: &mut Model, with: Opener) {
    let tree = match model.preview.subject {
        PreviewSubject::Entry(entry) => model.tree.file(entry.session).cloned(),
        _ => None,
    };
    match (model.preview.subject, tree) {
        (PreviewSubject::Entry(entry), Some(tree)) => {
            let path = model.catalog[entry.session].path.clone();
            commands::start_errand(model, Work::Written(EntryBody { path, tree, at: entry.at }), NextStep::Open(with));
        }
        (
            subject @ (PreviewSubject::Session(_)
            | PreviewSubject::Project(_)
            | PreviewSubject::Run(_)
            | PreviewSubject::MissingParent(_)),
            _,
        ) => {
            let lines = card::of(model, subject, ROOM);
            let text = lines.iter().map(|line| spans_text(&line.spans) + "\n").collect();
            model.effects.push(Effect::Open(TextCopy { with, name: "card.txt".into(), text }));
        }
        (PreviewSubject::Nothing | PreviewSubject::Entry(_), _) => model.say(Tone::Dim, "nothing to open"),
    }
}

/// Opens the text of an entry, if still requested.
pub(super) fn take(model: &mut Model, ticket: u64, text: Result<String, String>) {
    let Some(NextStep::Open(with)) = model.end_errand(ticket) else { return };
    match text {
        Ok(text) => model.effects.push(Effect::Open(TextCopy { with, name: "entry.txt".into(), text })),
        Err(error) => model.say(Tone::Error, error),
    }
}
