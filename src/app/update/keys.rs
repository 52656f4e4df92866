//! Keys, pasted text and the mouse. The layer on top gets the input first; what it passes on goes to the focused pane. In
//! the input line of a search over all sessions, keys that insert no text act on the list, as in pi's session picker.

use crossterm::event::KeyCode;

use super::actions::{act, act_elsewhere};
use super::menus::{open_help, open_menu};
use super::{comparison, context, family, files, reader, search, stats};
use crate::app::command::{Command, NextStep};
use crate::app::flows::{copy, names_and_marks, resume};
use crate::app::hints::hints;
use crate::app::layers::Layer;
use crate::app::layers::dialogs::Question;
use crate::app::layers::screen::{ChoiceAction, LayerResult};
use crate::app::message::{Effect, Msg, Work};
use crate::app::model::{Model, PendingTask};
use crate::app::palettes;
use crate::changes::Request;
use crate::keymap::{Action, Key, KeyContext};

/// Rows that a turn of the wheel scrolls.
pub(crate) const WHEEL: isize = 3;

/// Handles a key press.
pub(super) fn press(model: &mut Model, key: Key) {
    cancel_pending(model);
    let place = model.key_context();
    let action = model.settings.config.keymap.resolve(place, key);
    if press_saved(model, key) {
        return;
    }
    match model.layers.press(key, action, model.size) {
        LayerResult::Pass if model.layers.has(KeyContext::Search) => press_in_query(model, (key, action)),
        LayerResult::Pass => {
            search::keep_selection(model);
            match action {
                // A repeated character key would type into the input line.
                Some(Action::Up) if key.typed().is_none() && search::return_to_line(model) => {}
                Some(action) => act(model, action),
                None => act_elsewhere(model, key),
            }
        }
        LayerResult::Stay if action.is_none() && model.notice.is_none() && is_command(place, key) => {
            let panes = KeyContext::PANES.iter();
            let action = panes.filter_map(|&place| model.settings.config.keymap.resolve(place, key)).next();
            let word = action.map_or(String::new(), |action| format!(" ({})", action.row().word));
            model.hint(format!("{key}{word} does nothing here"));
        }
        answer => on_layer_result(model, answer),
    }
}

/// Returns `true` if a key inserts no text and selects no choice.
fn is_command(place: KeyContext, key: Key) -> bool {
    key.typed().is_none() || !(place.takes_text() || place == KeyContext::Question)
}

/// Returns the message for the first of several keys, and the number of keys in it. Characters for an input line form
/// one message, so that a long text is searched for once.
pub fn message(model: &Model, keys: &[Key]) -> Option<(Msg, usize)> {
    let place = model.key_context();
    let typed = keys
        .iter()
        .take_while(|&&key| place.takes_text() && model.settings.config.keymap.resolve(place, key).is_none());
    let text: String = typed.map_while(|key| key.typed()).collect();
    match text.chars().count() {
        0 | 1 => keys.first().map(|&key| (Msg::Key(key), 1)),
        count => Some((Msg::Paste(text), count)),
    }
}

/// Handles pasted text.
pub(super) fn paste(model: &mut Model, text: &str) {
    cancel_pending(model);
    match model.layers.paste(text) {
        LayerResult::Pass => paste_in_query(model, text),
        answer => on_layer_result(model, answer),
    }
}

/// Handles a mouse press.
pub(super) fn click(model: &mut Model, (column, row): (u16, u16), double: bool) {
    if row + 1 == model.size.1 {
        // A click on a key hint acts like its key.
        let at = usize::from(column);
        if let Some(hint) = hints(model).into_iter().find(|hint| (hint.column..hint.end()).contains(&at)) {
            return press(model, hint.key);
        }
    }
    if row == 0 && column > model.size.0 / 2 && model.layers.0.is_empty() && !model.catalog.unreadable.is_empty() {
        return act(model, Action::UnreadableFiles);
    }
    cancel_pending(model);
    let is_over = !matches!(model.layers.key_context(), None | Some(KeyContext::Search));
    if std::mem::replace(&mut model.clicked_layer, is_over) && double && !is_over {
        return; // the first click closed what the second one is meant for as well
    }
    match model.layers.click((column, row), model.size) {
        LayerResult::Pass => click_pane(model, (column, row), double),
        answer => on_layer_result(model, answer),
    }
}

/// Handles a turn of the mouse wheel.
pub(super) fn wheel(model: &mut Model, (column, row): (u16, u16), by: isize) {
    model.sessions.touched = true;
    if !matches!(model.layers.wheel(by, model.size), LayerResult::Pass) {
        return;
    }
    let Some((place, area)) = model.layout().and_then(|layout| layout.at(column, row)) else { return };
    let height = usize::from(area.body.height);
    match place {
        KeyContext::Sessions => {
            search::keep_selection(model);
            model.sessions.scroll(by);
        }
        KeyContext::Tree => {
            model.tree.await_nothing();
            model.tree.cursor.scroll(by, model.tree.rows.list.len(), height);
        }
        _ => reader::scroll(model, by),
    }
}

/// Cancels pending work that would move the user elsewhere after this input.
fn cancel_pending(model: &mut Model) {
    model.clear_notice();
    model.to_open = None;
    model.sessions.touched = true;
    model.tree.await_nothing();
    if !model.layers.has(KeyContext::Find) && model.focus != KeyContext::Sessions {
        model.tree.stop_following();
    }
    let dropped: Vec<PendingTask> =
        model.pending_tasks.extract_if(.., |task| !matches!(task.then, NextStep::Nothing)).collect();
    let waits = dropped.iter().any(|task| matches!(task.then, NextStep::Resume(_) | NextStep::AskToResume(_)));
    if dropped.iter().any(|task| matches!(task.then, NextStep::Open(_))) {
        model.warn("opening canceled by a key press");
    }
    let waiting = model.changes.iter_mut().filter(|pending| matches!(pending.then, NextStep::Resume(_)));
    let waiting = waiting.map(|pending| {
        pending.then = NextStep::Nothing;
        // A change that only prepares resuming is canceled if it has not started.
        let request = match &pending.request {
            Request::IfSame { then, .. } => then,
            request => request,
        };
        if matches!(
            request,
            Request::MoveLeaf { .. } | Request::Fork { .. } | Request::EditContext { .. } | Request::Pick { .. }
        ) {
            pending.claim.stop();
        }
    });
    if waiting.count() > 0 || waits {
        model.warn("resuming canceled by a key press");
    }
}

/// Handles the result of the layer on top.
fn on_layer_result(model: &mut Model, answer: LayerResult) {
    let choice = match (&answer, model.layers.top_as::<Question<Command>>()) {
        (&LayerResult::Choice(at), Some(question)) => question.choices.get(at).cloned(),
        _ => None,
    };
    let closes = match &answer {
        LayerResult::Submit(purpose, _) => !purpose.is_directory(),
        LayerResult::Choice(_) => choice.as_ref().is_none_or(|choice| !choice.stays),
        LayerResult::Close | LayerResult::KeepSearch | LayerResult::CancelSearch => true,
        _ => false,
    };
    if closes {
        // The texts of input lines are kept for the next time.
        match model.layers.0.pop() {
            Some(Layer::Prompt(prompt)) => {
                let text = prompt.line.value().to_owned();
                model.kept.prompt = matches!(answer, LayerResult::Close).then_some((prompt.purpose, text));
            }
            Some(Layer::Find(line)) => model.kept.find = line.0.value().to_owned(),
            _ => {}
        }
    }
    match answer {
        LayerResult::Stay | LayerResult::Close | LayerResult::Pass => {}
        LayerResult::CloseLists => model.layers.close_palettes(),
        LayerResult::Choice(_) => {
            choice.and_then(|choice| choice.then).into_iter().for_each(|command| model.execute(command));
        }
        LayerResult::SearchText(text) if files::filter(model, &text) => {}
        LayerResult::KeepSearch if model.layers.has(KeyContext::Files) => {}
        LayerResult::CancelSearch if files::filter(model, "") => {}
        LayerResult::SearchText(text) => search::find_words(model, &text),
        LayerResult::KeepSearch => search::keep_find(model),
        LayerResult::CancelSearch => search::cancel_find(model),
        LayerResult::CompleteDir(typed) => model.start_task(Work::CompleteDir(typed), NextStep::Complete),
        LayerResult::Submit(purpose, text) => model.execute(names_and_marks::accept(model, purpose, text)),
        LayerResult::Choose(choice) => choose(model, choice),
        LayerResult::Act(action) => act_in_layer(model, action),
    }
}

/// Does an action that the topmost layer returned.
fn act_in_layer(model: &mut Model, action: Action) {
    match (action, model.layers.key_context()) {
        (Action::Quit, _) => model.effects.push(Effect::Quit),
        (Action::Suspend, _) => model.effects.push(Effect::Suspend),
        (Action::Help, _) => open_help(model),
        (Action::MenuSelection | Action::MenuGoTo | Action::MenuView, _) => open_menu(model, action),
        (_, Some(KeyContext::Compare)) => comparison::act(model, action),
        (_, Some(KeyContext::Context)) => context::act(model, action),
        (_, Some(KeyContext::Stats)) => stats::act(model, action),
        (_, Some(KeyContext::Files)) => files::act(model, action),
        (_, Some(KeyContext::FileText)) => files::act_on_text(model, action),
        (Action::OnlyHits, _) if !model.layers.has(KeyContext::Files) && model.focus == KeyContext::Tree => {
            model.tree.toggle_only_hits();
        }
        (Action::CopyPath, _) => model.execute(copy::path_of(model, model.layers.selected_choice())),
        (Action::RenameLabel, _) => model.execute(palettes::change_label(model, model.layers.selected_choice())),
        _ => {}
    }
}

/// Does the action of the chosen row of a palette.
fn choose(model: &mut Model, choice: ChoiceAction) {
    match choice {
        ChoiceAction::Act(action) => {
            model.layers.close_palettes();
            let places = action.row().contexts;
            if model.layers.key_context().is_some_and(|place| places.contains(&place)) {
                let answer = model.layers.run(action, model.size);
                return on_layer_result(model, answer);
            }
            if !places.contains(&model.focus)
                && let Some(&place) = KeyContext::PANES.iter().find(|place| places.contains(place))
            {
                model.focus = place;
            }
            act(model, action);
        }
        ChoiceAction::Search(query) => {
            model.layers.close_palettes();
            search::open(model, &query);
        }
        ChoiceAction::Project(key) => close_and_carry(model, Command::SelectProject(key)),
        ChoiceAction::Entry(entry) => close_and_carry(model, Command::GoTo(entry)),
        ChoiceAction::Restore(number) => {
            close_and_carry(model, Command::Change(Request::Undo { number: Some(number) }, NextStep::Select));
        }
        ChoiceAction::Undo(group) => {
            close_and_carry(model, Command::Change(Request::UndoGroup { group }, NextStep::Select));
        }
        ChoiceAction::ToggleMember(session) => family::toggle_member(model, session),
        ChoiceAction::Explain(why) => model.hint(why),
    }
}

fn close_and_carry(model: &mut Model, command: Command) {
    model.layers.close_palettes();
    model.execute(command);
}

fn click_pane(model: &mut Model, (column, row): (u16, u16), double: bool) {
    if let Some(search) = &mut model.search {
        search.choose();
        model.layers.close(KeyContext::Search);
    }
    let Some((place, area)) = model.layout().and_then(|layout| layout.at(column, row)) else { return };
    model.focus = place;
    let Some(line) = row.checked_sub(area.body.y).map(usize::from) else { return };
    let (cursor, len, line) = match place {
        KeyContext::Sessions => {
            let pane = &model.sessions;
            let line = pane.cursor.seen(pane.rows.len(), line, |row| pane.rows[row].lines()).len();
            (&mut model.sessions.cursor, model.sessions.rows.len(), line)
        }
        KeyContext::Tree => (&mut model.tree.cursor, model.tree.rows.list.len(), line),
        _ => {
            let target = model.reader.click(line);
            let _ = reader::open(model, target);
            return;
        }
    };
    let at = cursor.top + line;
    if at >= len {
        return;
    }
    cursor.at = at;
    let (column, columns) = (usize::from(column - area.body.x), usize::from(area.body.width.saturating_sub(1)));
    match place {
        KeyContext::Sessions if model.sessions.is_fold_symbol(at, column) => {
            model.sessions.toggle(&model.catalog);
        }
        KeyContext::Tree if model.tree.is_fold_symbol(at, column, columns) => drop(model.tree.toggle()),
        _ if double => model.execute(resume::confirm(model)),
        _ => {}
    }
}

/// Handles a key and its action.
fn press_in_query(model: &mut Model, (key, action): (Key, Option<Action>)) {
    let Some(search) = &mut model.search else { return };
    // At the end of the line, Delete acts on the list.
    let deletes = key.code == KeyCode::Delete && !search.line.is_at_end();
    let erases = key.code == KeyCode::Backspace && !search.line.value().is_empty();
    let action = action.map(|action| match action {
        Action::Delete if deletes => Action::DeleteForward,
        Action::Delete if erases => Action::DeleteWordBack,
        action => action,
    });
    match action {
        Some(action @ (Action::Complete | Action::CompleteBack)) => {
            if search.complete(action == Action::Complete) {
                search::changed(model);
            }
        }
        Some(action @ (Action::PreviousQuery | Action::NextQuery)) => {
            search::recall(model, action == Action::NextQuery);
        }
        Some(Action::Accept) => enter(model),
        Some(Action::Down) => search::go_to_results(model),
        Some(Action::Cancel) => search::close(model),
        Some(action) if action.row().contexts.contains(&KeyContext::Sessions) => {
            search.choose();
            act(model, action);
        }
        action if search.line.press(key, action) => search::changed(model),
        _ => search.note_completion(&model.values),
    }
}

/// Inserts pasted text.
fn paste_in_query(model: &mut Model, text: &str) {
    if let Some(search) = model.search.as_mut().filter(|_| model.layers.has(KeyContext::Search)) {
        search.line.paste(text);
        search::changed(model);
    }
}

/// Runs the saved query of a key, unless the key has another meaning. Returns `true` if it did.
fn press_saved(model: &mut Model, key: Key) -> bool {
    let is_free = match model.layers.key_context() {
        None => true,
        Some(KeyContext::Search) => matches!(key.code, KeyCode::F(_)),
        Some(_) => false,
    };
    let saved = model.settings.config.queries.iter().find(|saved| is_free && saved.key == Some(key));
    let Some(query) = saved.map(|saved| saved.query.clone()) else { return false };
    search::open(model, &query);
    true
}

/// Closes the input line and goes to the selected hit.
fn enter(model: &mut Model) {
    let Some(search) = &mut model.search else { return };
    search.choose();
    if search.line.value().trim().is_empty() {
        return search::close(model);
    }
    if search::adopt_nearest(model) {
        return;
    }
    let Some(search) = &mut model.search else { return };
    search.from_line = true;
    search::add_to_history(model);
    model.layers.close(KeyContext::Search);
    if resume::wants_session(model) {
        if let Some(command) = resume::picked(model) {
            model.execute(command);
        }
    } else {
        search::go_to_hit(model);
    }
}
