//! Opening the previewed item in a pager or an editor.

use ratatui::layout::Size;

use crate::app::card;
use crate::app::message::{Effect, Opener, TextCopy, Work};
use crate::app::model::{Model, NextStep};
use crate::app::panes::preview::PreviewSubject;
use crate::base::text::{Tone, spans_text};

/// Room in which a card is not shortened.
const ROOM: Size = Size::new(1000, 1000);

/// Opens the source text of an entry, or the card of a session or a project.
pub(super) fn open(model: &mut Model, with: Opener) {
    let body = match model.preview.subject {
        PreviewSubject::Entry(entry) => model.entry_body(entry),
        _ => None,
    };
    if let Some(body) = body {
        model.start_errand(Work::Written(body), NextStep::Open(with));
    } else if model.preview.subject.has_card() {
        let lines = card::of(model, model.preview.subject, ROOM);
        let text = lines.iter().map(|line| spans_text(&line.spans) + "\n").collect();
        model.effects.push(Effect::Open(TextCopy { with, name: "card.txt".into(), text }));
    } else {
        model.say(Tone::Dim, "nothing to open");
    }
}
