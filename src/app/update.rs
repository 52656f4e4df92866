//! How the browser changes: a message comes in, the model changes, effects go out.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyModifiers};

use crate::app::edit;
use crate::app::edit::Purpose;
use crate::app::help::Help;
use crate::app::message::{After, Effect, Msg};
use crate::app::model::{Asking, Message, Model, Notice};
use crate::app::preview::Subject;
use crate::app::question::Then;
use crate::app::resume;
use crate::app::resume::confirm;
use crate::app::sessions::Progress;
use crate::app::settle::{open, settle};
use crate::app::{change, copy, delete, find, labels, mark, name, outline, palette, search};
use crate::base::text::{Span, Tone};
use crate::changes::Request;
use crate::config::Filter;
use crate::keymap::{Action, Key, Place};
use crate::render::DocLine;

/// Rows that a turn of the wheel scrolls.
pub const WHEEL: isize = 3;

/// Starts reading.
pub fn start(model: &mut Model) -> Vec<Effect> {
    let mut effects = vec![scan(model)];
    let query = model.setting.query.clone();
    if !query.is_empty() {
        search::open(model, &query, &mut effects);
    }
    settle(model, &mut effects);
    effects
}

/// Takes a message.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let mut effects = Vec::new();
    if matches!(msg, Msg::Key(_) | Msg::Paste(_) | Msg::Click { .. } | Msg::Wheel { .. }) {
        model.sessions.touched = true;
        model.tree.await_nothing();
        find::stop_following(model);
    }
    match msg {
        Msg::Key(key) => press(model, key, &mut effects),
        Msg::Paste(text) => {
            if let Some(Asking::Line(edit)) = &mut model.asking {
                edit.paste(&text);
                if edit.purpose == Purpose::Query {
                    let query = edit.value().to_string();
                    find::typed(model, &query, &mut effects);
                }
            } else if !model.palettes.is_empty() {
                palette::paste(model, &text);
            } else if model.asking.is_none() && model.search.as_ref().is_some_and(|search| search.typing) {
                search::paste(model, &text, &mut effects);
            }
        }
        Msg::Click { column, row, double } => click(model, (column, row), double, &mut effects),
        Msg::Wheel { column, row, by } => wheel(model, (column, row), by),
        Msg::Resized(columns, rows) => model.size = (columns, rows),
        Msg::Now(now) => {
            // It comes before each of the others, which bring the rest in line.
            model.now = now;
            return effects;
        }
        Msg::NotResumed(text) => {
            model.message = Some(Message::new("pi was not started", text));
        }
        Msg::Values(values) => search::take_values(model, values),
        Msg::TextsRead { done, total } => search::take_read(model, done, total, &mut effects),
        Msg::SessionsFound { search, hits, more, progress } if search == model.requests.search => {
            search::take_hits(model, hits, more, progress);
        }
        Msg::Changed(changed) => change::take(model, *changed, &mut effects),
        Msg::Listed { list, found, done } => palette::take_spots(model, list, (found, done)),
        Msg::Text { text, then } => copy::take_text(model, text, then, &mut effects),
        Msg::Copied { text, done, then } => copy::take_copied(model, &text, (done, then), &mut effects),
        reply => take_reply(model, reply, &mut effects),
    }
    settle(model, &mut effects);
    effects
}

fn scan(model: &mut Model) -> Effect {
    model.requests.scan += 1;
    model.scanned.clear();
    model.changed.clear();
    model.sessions.gone.clear();
    model.sessions.progress = Progress::default();
    Effect::Scan { scan: model.requests.scan }
}

fn take_reply(model: &mut Model, reply: Msg, effects: &mut Vec<Effect>) {
    let glyphs = model.setting.glyphs;
    let requests = model.requests;
    match reply {
        Msg::Found { scan, total, unreadable } if scan == requests.scan => {
            model.sessions.unreadable = unreadable;
            model.sessions.progress.total = Some(total);
        }
        Msg::Scanned { scan, mut batch, gone } if scan == requests.scan => {
            batch.sessions.retain(|session| !model.changed.contains(&session.path));
            model.scanned.extend(batch.sessions.iter().map(|session| session.path.clone()));
            model.sessions.progress.done = batch.done;
            model.sessions.unreadable.extend(batch.unreadable);
            model.sessions.gone.extend(gone);
            model.sessions.add(batch.sessions.into_iter().map(Arc::new).collect());
            model.sessions.rebuild(glyphs);
            model.sessions.note_live(model.now);
        }
        Msg::ScanDone { scan } if scan == requests.scan => {
            model.sessions.progress.finished = true;
            model.sessions.keep_only(&model.scanned);
            model.sessions.rebuild(glyphs);
            model.sessions.note_live(model.now);
            labels::refresh(model, effects);
        }
        Msg::Live(dirs) => {
            model.sessions.live_dirs = dirs;
            model.sessions.note_live(model.now);
        }
        Msg::Opened { open, tree } if open == requests.open => match tree {
            // Who has seen all of it does not want to see less for a moment.
            Ok(tree) if tree.is_partial && model.tree.tree.is_some() => {}
            Ok(tree) => {
                model.tree.show(tree);
                model.asked_forks.clear();
                model.requests.split += 1; // what is found of the tree that was is of no use
                // What the card or the preview says of the session is known only now.
                model.preview.subject = Subject::Nothing;
            }
            Err(error) => model.tree.fail(error),
        },
        Msg::Hits { find, hits, first_last } if find == requests.find => find::take(model, hits, first_last),
        Msg::Split { split, forks } if split == requests.split => model.tree.set_forks(forks),
        Msg::Read { read, doc } if read == requests.read => {
            let error =
                |text: String| vec![DocLine { spans: vec![Span::clean(Tone::Error, &text)], ..DocLine::default() }];
            model.preview.show(doc.unwrap_or_else(error));
        }
        _ => {} // a late reply to a request that nobody waits for
    }
}

fn press(model: &mut Model, key: Key, effects: &mut Vec<Effect>) {
    model.notice = None;
    let action = model.setting.keymap.resolve(model.focus, key);
    if model.help.is_some() {
        return press_in_help(model, key, action, effects);
    }
    if let Some(message) = &mut model.message {
        let sheet = message.sheet(model.size);
        let by = match action {
            Some(Action::Up) => -1,
            Some(Action::Down) => 1,
            _ => 0,
        };
        if by != 0 && sheet.scrolls() {
            message.top = sheet.scrolled(message.top, by);
            return;
        }
        model.message = None;
        if action != Some(Action::Quit) {
            return;
        }
    }
    if let Some(asking) = model.asking.take() {
        return press_asked(model, asking, (key, action), effects);
    }
    if !model.palettes.is_empty() {
        return palette::press(model, key, effects);
    }
    if search::press_saved(model, key, effects) {
        return;
    }
    if model.search.as_ref().is_some_and(|search| search.typing) {
        return search::press(model, (key, action), effects);
    }
    search::stay(model);
    if let Some(action) = action {
        act(model, action, effects);
    }
}

/// Something is asked: all keys are for that.
fn press_asked(model: &mut Model, mut asking: Asking, (key, action): (Key, Option<Action>), effects: &mut Vec<Effect>) {
    match &mut asking {
        Asking::Line(edit) => match edit.press(key) {
            edit::Pressed::Accepted => name::accept(model, edit, effects),
            edit::Pressed::Cancelled if edit.purpose == Purpose::Query => find::give_up(model),
            edit::Pressed::Cancelled => {}
            edit::Pressed::Editing => {
                if edit.purpose == Purpose::Query {
                    match key.code() {
                        KeyCode::Tab => find::toggle_only_hits(model),
                        _ => find::typed(model, edit.value(), effects),
                    }
                }
                model.asking = Some(asking);
            }
        },
        Asking::Question(question) => match question.press(key, action, model.size) {
            Some(then) => choose(model, then, effects),
            None => model.asking = Some(asking),
        },
    }
}

/// Does what a choice leads to.
fn choose(model: &mut Model, then: Then, effects: &mut Vec<Effect>) {
    match then {
        Then::Cancel => {}
        Then::Change(request, after) => change::want(model, request, after, effects),
        Then::Ask(question) => model.ask(*question),
        Then::Type(edit) => model.edit(*edit),
        Then::GoOn(go_on) => resume::go_on(model, go_on, effects),
        Then::Copy(what) => copy::copy(what, effects),
    }
}

/// In the help letters are typed, so only keys that type nothing keep their meaning.
fn press_in_help(model: &mut Model, key: Key, action: Option<Action>, effects: &mut Vec<Effect>) {
    let setting = &model.setting;
    let Some(help) = &mut model.help else { return };
    let page = isize::try_from(model.size.1 / 2).unwrap_or(1);
    match (key.code(), action) {
        (KeyCode::Char(c), _) if !key.modifiers().intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
            help.query.push(c);
            help.top = 0;
        }
        (KeyCode::Backspace, _) => {
            help.query.pop();
            help.top = 0;
        }
        (_, Some(Action::Up)) => help.scroll(-1, setting, model.size),
        (_, Some(Action::Down)) => help.scroll(1, setting, model.size),
        (_, Some(Action::PageUp)) => help.scroll(-page, setting, model.size),
        (_, Some(Action::PageDown)) => help.scroll(page, setting, model.size),
        (_, Some(Action::First)) => help.top = 0,
        (_, Some(Action::Last)) => help.scroll(isize::MAX, setting, model.size),
        (_, Some(Action::Quit)) => effects.push(Effect::Quit),
        (_, Some(Action::Suspend)) => effects.push(Effect::Suspend),
        (_, Some(Action::Back)) if !help.query.is_empty() => help.query.clear(),
        (_, Some(Action::Back | Action::Help | Action::Confirm)) => model.help = None,
        _ => {}
    }
}

pub(super) fn act(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    let glyphs = model.setting.glyphs;
    let page = isize::try_from(model.height(model.focus).saturating_sub(1).max(1)).unwrap_or(1);
    match action {
        Action::Quit => effects.push(Effect::Quit),
        Action::Suspend => effects.push(Effect::Suspend),
        Action::Find => find::open(model),
        Action::NextHit | Action::PreviousHit => find::next(model, action == Action::NextHit),
        Action::Palette => palette::actions(model),
        Action::Labels => labels::open(model, effects),
        Action::Files => outline::open(model, effects),
        Action::Help => model.help = Some(Help::default()),
        Action::Reload => reload(model, effects),
        Action::Up => go(model, -1),
        Action::Down => go(model, 1),
        Action::PageUp => go(model, -page),
        Action::PageDown => go(model, page),
        Action::First => go(model, isize::MIN),
        Action::Last => go(model, isize::MAX),
        Action::PreviewUp => model.preview.scroll(-1),
        Action::PreviewDown => model.preview.scroll(1),
        Action::NextPane => turn(model, 1),
        Action::PreviousPane => turn(model, Place::ALL.len() - 1),
        Action::Back => back(model, effects),
        Action::Fold => fold(model),
        Action::Unfold => unfold(model),
        Action::FoldAll | Action::UnfoldAll => match model.focus {
            Place::Sessions => model.sessions.fold_all(action == Action::FoldAll, glyphs),
            Place::Tree | Place::Preview => model.tree.fold_all(action == Action::FoldAll),
        },
        Action::Confirm => confirm(model, effects),
        Action::Rename => name::rename(model),
        Action::Label => name::label(model),
        Action::Delete => delete::ask(model),
        Action::Mark => mark::toggle(model),
        Action::MarkAll => mark::toggle_all(model),
        Action::Undo => change::want(model, Request::Undo { number: None }, After::Show, effects),
        Action::Redo => change::want(model, Request::Redo, After::Show, effects),
        Action::Fork => name::fork(model, effects),
        Action::Copy => copy::ask(model),
        Action::Search => search::open(model, "", effects),
        Action::SearchEverything => search::toggle_everything(model, effects),
        Action::NextSort if model.sessions.answer.is_some() => {
            model.sessions.next_order();
            model.sessions.rebuild(glyphs);
        }
        Action::NextSort => {
            model.sessions.sort = model.sessions.sort.next();
            model.sessions.rebuild(glyphs);
            say(model, Tone::Dim, format!("sorted by {}", model.sessions.sort.name()));
        }
        Action::NamedOnly => {
            model.sessions.named_only = !model.sessions.named_only;
            model.sessions.rebuild(glyphs);
            let what = if model.sessions.named_only { "only sessions with a name" } else { "all sessions" };
            say(model, Tone::Dim, what.into());
        }
        Action::ShowPaths => model.sessions.show_paths = !model.sessions.show_paths,
        Action::ShowSubagents => {
            model.sessions.show_subagents = !model.sessions.show_subagents;
            model.sessions.rebuild(glyphs);
            let what = if model.sessions.show_subagents {
                "sub-agents' sessions shown"
            } else {
                "sub-agents' sessions hidden"
            };
            say(model, Tone::Dim, what.into());
        }
        Action::NextFilter => model.tree.set_filter(model.tree.filter.next()),
        Action::PreviousFilter => model.tree.set_filter(model.tree.filter.previous()),
        Action::FilterDefault => model.tree.set_filter(Filter::Default),
        Action::FilterNoTools => toggle_filter(model, Filter::NoTools),
        Action::FilterUserOnly => toggle_filter(model, Filter::UserOnly),
        Action::FilterLabeledOnly => toggle_filter(model, Filter::LabeledOnly),
        Action::FilterAll => toggle_filter(model, Filter::All),
        Action::FilterOutline => toggle_filter(model, Filter::Outline),
        Action::SegmentUp => model.tree.segment_up(),
        Action::SegmentDown => model.tree.segment_down(),
        Action::PreviousBranchPoint | Action::NextBranchPoint => {
            if !model.tree.branch_point(action == Action::NextBranchPoint) {
                say(model, Tone::Dim, "no branch point that way".into());
            }
        }
        Action::GoToLeaf => {
            if let Some(leaf) = model.tree.tree.as_ref().and_then(|tree| tree.leaf) {
                model.tree.select(leaf);
            }
        }
        Action::LabelTimes => model.tree.label_times = !model.tree.label_times,
    }
}

/// Says something in the footer.
pub(super) fn say(model: &mut Model, tone: Tone, text: String) {
    model.notice = Some(Notice { tone, text });
}

fn reload(model: &mut Model, effects: &mut Vec<Effect>) {
    effects.push(scan(model));
    if let Some(path) = model.tree.path.clone() {
        effects.push(open(model, path));
    }
    say(model, Tone::Dim, "reading again".into());
}

fn go(model: &mut Model, by: isize) {
    match model.focus {
        Place::Sessions => model.sessions.cursor.go(by, model.sessions.rows.len()),
        Place::Tree => model.tree.cursor.go(by, model.tree.rows.list.len()),
        Place::Preview if by == isize::MAX => model.preview.to_end(),
        Place::Preview => model.preview.scroll(by),
    }
}

fn turn(model: &mut Model, by: usize) {
    let at = Place::ALL.iter().position(|&place| place == model.focus).unwrap_or_default();
    model.focus = Place::ALL[(at + by) % Place::ALL.len()];
}

/// One step back: the search, the marks, or a pane. At the first one there is nothing to leave: quitting is another key, but for a
/// picker.
fn back(model: &mut Model, effects: &mut Vec<Effect>) {
    if find::end(model) {
        return;
    }
    match model.focus {
        Place::Preview => model.focus = Place::Tree,
        Place::Tree => model.focus = Place::Sessions,
        Place::Sessions if !model.sessions.marks.is_empty() => model.sessions.marks.clear(),
        Place::Sessions if model.search.is_some() => search::close(model),
        Place::Sessions => effects.extend(model.setting.picker.map(|_| Effect::Quit)),
    }
}

fn fold(model: &mut Model) {
    match model.focus {
        Place::Sessions => drop(model.sessions.fold(model.setting.glyphs)), // there is no pane to go back to
        Place::Tree if model.tree.fold_or_up() => {}
        Place::Tree => model.focus = Place::Sessions,
        Place::Preview => model.focus = Place::Tree,
    }
}

fn unfold(model: &mut Model) {
    let glyphs = model.setting.glyphs;
    match model.focus {
        Place::Sessions if model.sessions.unfold(glyphs) => {}
        Place::Sessions if model.sessions.selected_project().is_some() => go(model, 1),
        Place::Sessions => model.focus = Place::Tree,
        Place::Tree if model.tree.unfold_or_in() => {}
        Place::Tree if model.tree.selected_fork().is_some() => go_to_fork(model),
        Place::Tree => model.focus = Place::Preview,
        Place::Preview => {}
    }
}

/// Goes to the session of the selected fork.
pub(super) fn go_to_fork(model: &mut Model) {
    let Some(path) = model.tree.selected_fork().map(|fork| fork.session.path.clone()) else { return };
    model.sessions.select(&path, model.setting.glyphs);
}

fn toggle_filter(model: &mut Model, filter: Filter) {
    model.tree.set_filter(if model.tree.filter == filter { Filter::Default } else { filter });
}

fn click(model: &mut Model, (column, row): (u16, u16), double: bool, effects: &mut Vec<Effect>) {
    model.notice = None;
    if let Some(search) = &mut model.search {
        (search.chosen, search.typing) = (true, false);
    }
    if model.help.take().is_some() || model.message.take().is_some() {
        return;
    }
    match &model.asking {
        Some(Asking::Line(_)) => return, // what was typed is not thrown away by accident
        Some(Asking::Question(_)) => return model.asking = None,
        None if !model.palettes.is_empty() => return palette::click(model, (column, row), double, effects),
        None => {}
    }
    let Some((place, area)) = model.layout().and_then(|layout| layout.at(column, row)) else { return };
    model.focus = place;
    let Some(line) = row.checked_sub(area.body.y).map(usize::from) else { return };
    let (cursor, len) = match place {
        Place::Sessions => (&mut model.sessions.cursor, model.sessions.rows.len()),
        Place::Tree => (&mut model.tree.cursor, model.tree.rows.list.len()),
        Place::Preview => return,
    };
    if cursor.top + line < len {
        cursor.at = cursor.top + line;
        if double {
            confirm(model, effects);
        }
    }
}

fn wheel(model: &mut Model, (column, row): (u16, u16), by: isize) {
    if let Some(help) = &mut model.help {
        return help.scroll(by, &model.setting, model.size);
    }
    match &mut model.asking {
        Some(Asking::Question(question)) => return question.scroll(by, model.size),
        Some(Asking::Line(_)) => return,
        None if !model.palettes.is_empty() => return palette::wheel(model, by),
        None => {}
    }
    let Some((place, area)) = model.layout().and_then(|layout| layout.at(column, row)) else { return };
    let height = usize::from(area.body.height);
    match place {
        Place::Sessions => model.sessions.cursor.scroll(by, model.sessions.rows.len(), height),
        Place::Tree => model.tree.cursor.scroll(by, model.tree.rows.list.len(), height),
        Place::Preview => model.preview.scroll(by),
    }
}
