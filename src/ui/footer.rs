//! The line at the bottom: what is being typed, the outcome of the last action, or the keys that work here.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::flows::search::Search;
use crate::app::layers::Layer;
use crate::app::model::{Model, Pending};
use crate::app::widgets::line::LineEdit;
use crate::base::numbers::thousands;
use crate::base::text::{Span, Tone, spans_width, width};
use crate::keymap::{Action, Key, Place};
use crate::ui::pen::{Pen, cut};
use crate::ui::widgets::{typed, written_key};

/// The keys worth a place in the footer, the most wanted first.
fn wanted(place: Place) -> &'static [Action] {
    use Action as A;
    match place {
        Place::Sessions => &[
            A::Help,
            A::Confirm,
            A::Unfold,
            A::NextPane,
            A::Search,
            A::NextSort,
            A::Labels,
            A::Rename,
            A::Delete,
            A::Mark,
            A::Palette,
            A::Copy,
            A::Undo,
            A::NamedOnly,
            A::ShowPaths,
            A::ShowSubagents,
            A::FoldAll,
            A::UnfoldAll,
            A::Reload,
            A::Quit,
        ],
        Place::Tree => &[
            A::Help,
            A::Confirm,
            A::NextPane,
            A::Fold,
            A::Unfold,
            A::Find,
            A::NextFilter,
            A::Label,
            A::Fork,
            A::Palette,
            A::Labels,
            A::Files,
            A::Copy,
            A::Undo,
            A::NextBranchPoint,
            A::SegmentDown,
            A::GoToLeaf,
            A::LabelTimes,
            A::SharePreview,
            A::Zoom,
            A::Back,
            A::Quit,
        ],
        Place::Preview => &[
            A::Help,
            A::Down,
            A::Up,
            A::NextEntry,
            A::PreviousEntry,
            A::Back,
            A::Find,
            A::Wrap,
            A::Pager,
            A::Editor,
            A::Zoom,
            A::Confirm,
            A::PageDown,
            A::NextPane,
            A::Label,
            A::Copy,
            A::Quit,
        ],
        // Lines have words of their own.
        Place::Search | Place::Find | Place::Prompt => &[],
        Place::Palette => &[A::Accept, A::ListDown, A::ListUp, A::ListPageDown, A::Cancel, A::Help],
        Place::Labels => &[A::Accept, A::RenameLabel, A::ClearLabel, A::ListDown, A::ListUp, A::Cancel, A::Help],
        Place::Question => &[A::Confirm, A::Down, A::Up, A::Back, A::Help],
        Place::Note => &[A::Down, A::Up, A::Quit],
        Place::Help => &[A::Back, A::Down, A::Up, A::PageDown, A::Quit],
    }
}

/// What can be done with marked sessions.
const MARKED: &[Action] =
    &[Action::Help, Action::Delete, Action::Mark, Action::MarkAll, Action::Back, Action::Undo, Action::Quit];
/// What can be done with hits.
const HITS: &[Action] =
    &[Action::Help, Action::NextHit, Action::PreviousHit, Action::Back, Action::Find, Action::Confirm, Action::Quit];
/// What can be done without sessions.
const NOTHING: &[Action] = &[Action::Help, Action::Reload, Action::Undo, Action::Quit];

/// The columns that a line has at least: in front of it, and to have room for other things behind it.
const LEAST: (usize, usize) = (12, 30);

/// A line that is being typed: its end with the cursor is what must be seen, what stands aside if there is room.
fn line(frame: &mut Frame<'_>, area: Rect, (prompt, edit): (&str, &LineEdit), aside: Span, pen: &Pen<'_>) {
    let columns = usize::from(area.width);
    let prompt = format!(" {prompt}");
    let prompt = pen.glyphs().cut(&prompt, columns.saturating_sub(LEAST.0));
    let room = columns - width(&prompt);
    let aside = if aside.tone == Tone::Error || room >= LEAST.1 + width(&aside.text) { aside } else { Span::default() };
    let right = width(&aside.text).min(room / 2);
    let mut left = vec![Span::new(Tone::Accent, prompt)];
    left.extend(typed(edit, room - right - 1));
    pen.put_both(frame, area, &left, &cut(&[aside], right, pen.glyphs()));
}

/// The keys that end a line, in words.
fn ends(model: &Model, accepts: &str, cancels: &str) -> Span {
    let (accept, cancel) = (written_key(model, Action::Accept), written_key(model, Action::Cancel));
    Span::new(Tone::Dim, format!("  {accept} {accepts}, {cancel} {cancels} "))
}

/// How what is looked for may go on, or what is wrong with it.
fn find_aside(model: &Model) -> Span {
    let problem = match model.focus {
        Place::Preview => model.preview.problem(),
        _ => model.tree.find.as_ref().and_then(|find| find.problem.as_deref()),
    };
    match (problem, model.focus) {
        (Some(problem), _) => Span::clean(Tone::Error, &format!("  {problem} ")),
        (None, Place::Tree) => {
            let keeps = format!("keeps, {} hides the rest", written_key(model, Action::OnlyHits));
            ends(model, &keeps, "goes back")
        }
        (None, _) => ends(model, "keeps", "goes back"),
    }
}

/// How a search may go on, or what is wrong with it.
fn search_aside(model: &Model, search: &Search) -> Span {
    match (&search.query, &search.completion) {
        (Err(problem), _) => Span::clean(Tone::Error, &format!("  {problem} ")),
        _ if search.cycle.is_some() => {
            let (next, before) = (written_key(model, Action::Complete), written_key(model, Action::CompleteBack));
            Span::new(Tone::Dim, format!("  {next} next, {before} previous "))
        }
        (_, Some(completion)) => {
            let options = completion.options.iter().take(5).map(|option| &*option.text).collect::<Vec<_>>();
            Span::clean(Tone::Dim, &format!("  {}: {} ", written_key(model, Action::Complete), options.join("  ")))
        }
        _ => ends(model, "goes there", "clears"),
    }
}

/// The word for an action here and now.
fn word(model: &Model, action: Action) -> &'static str {
    match (model.layers.top(), action) {
        (Some(Layer::Question(question)), Action::Confirm) => question.word(),
        (Some(Layer::Question(_)), Action::Back) => "cancel",
        (Some(_), Action::Back) => "close",
        (Some(_), action) => action.word(),
        (None, Action::Confirm) if model.setting.picker.is_some() => "choose",
        (None, Action::NextPane) => match model.focus {
            Place::Sessions => "tree",
            Place::Tree => "preview",
            _ => "sessions",
        },
        (None, Action::Back) if is_searched(model) && (model.focus != Place::Tree || model.tree.has_own_find()) => {
            "end search"
        }
        (None, Action::Back) if !model.sessions.marks.is_empty() && model.focus == Place::Sessions => "unmark all",
        (None, action) => action.word(),
    }
}

/// How far a change is, or for whom it waits.
fn progress(model: &Model, pending: &Pending) -> String {
    let back = || written_key(model, Action::Back);
    match &pending.waits {
        Some(who) if pending.claim.is_stopped() => return format!("giving up waiting for {who}"),
        Some(who) => return format!("{} gives up; waiting for {who}", back()),
        None => {}
    }
    let Some((done, total)) = pending.progress else { return "working".into() };
    let how = match pending.claim.is_stopped() {
        _ if done == total => "reading them again".into(),
        true => "stopping".into(),
        false => format!("{} stops", back()),
    };
    format!("{} of {}, {how}", thousands(done), thousands(total))
}

/// Whether something is looked for in the pane.
fn is_searched(model: &Model) -> bool {
    match model.focus {
        Place::Tree => model.tree.find.is_some(),
        Place::Preview => model.preview.is_searched(),
        _ => false,
    }
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, pen: &Pen<'_>) {
    match model.layers.top() {
        Some(Layer::Prompt(prompt)) => {
            let aside = ends(model, "accepts", "cancels");
            return line(frame, area, (&prompt.question, &prompt.line), aside, pen);
        }
        Some(Layer::Find(find)) => return line(frame, area, ("/", find), find_aside(model), pen),
        _ => {}
    }
    let waits = model.changes.front().is_some_and(|pending| pending.waits.is_some());
    if let Some(notice) = model.notice.as_ref().filter(|_| !waits) {
        let undo = written_key(model, Action::Undo);
        let hint = if notice.can_undo { format!(" {} {undo} undoes ", pen.glyphs().dot) } else { String::new() };
        let hint = Span::new(Tone::Dim, hint);
        let room = usize::from(area.width).saturating_sub(width(&hint.text));
        let said = [Span::clean(notice.tone, &format!(" {}", notice.text))];
        let spans = [cut(&said, room, pen.glyphs()), vec![hint]].concat();
        return pen.put(frame, area, &spans);
    }
    if let (Some(Layer::Search), Some(search)) = (model.layers.top(), &model.search) {
        return line(frame, area, ("/", &search.line), search_aside(model, search), pen);
    }
    if let (Some(pending), true) = (model.changes.front(), model.layers.is_empty()) {
        return pen.put(frame, area, &[Span::clean(Tone::Dim, &format!(" {}", progress(model, pending)))]);
    }
    let mut spans = vec![Span::new(Tone::Text, " ")];
    let actions = match model.place() {
        _ if model.layers.is_empty() && super::empty::is_nothing_to_show(model) => NOTHING,
        Place::Sessions if !model.sessions.marks.is_empty() => MARKED,
        Place::Tree | Place::Preview if is_searched(model) => HITS,
        place => wanted(place),
    };
    for &action in actions {
        // Where text is typed, a key that types means nothing else.
        let works = |key: &&Key| !(model.place().takes_text() && key.typed().is_some());
        let Some(key) = model.setting.keymap.keys(action).iter().find(works) else { continue };
        let hint = [
            Span::new(Tone::Accent, key.symbol(pen.is_ascii())),
            Span::new(Tone::Dim, format!(" {}  ", word(model, action))),
        ];
        if spans_width(&spans) + spans_width(&hint) > usize::from(area.width) + 2 {
            break;
        }
        spans.extend(hint);
    }
    // The blanks behind the last one need no room.
    if let Some(last) = spans.last_mut() {
        last.text.truncate(last.text.trim_end().len());
    }
    pen.put(frame, area, &spans);
}
