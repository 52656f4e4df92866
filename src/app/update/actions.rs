//! Actions in the panes.

use ratatui::layout::Size;

use super::menus::{flow_of, open_help, open_menu};
use super::{comparison, family, files, reader, replies, search, stats, unread};
use crate::app::command::{Command, NextStep};
use crate::app::external::{Opener, TextCopy};
use crate::app::flows::{self, resume};
use crate::app::hints::{does_something, reader_target};
use crate::app::histories::JumpPosition;
use crate::app::layers::dialogs::MessageBox;
use crate::app::layers::palette::PaletteKind;
use crate::app::layers::screen::{movement, neighbor};
use crate::app::message::{Effect, Work};
use crate::app::model::{Model, PendingChange, ScanState};
use crate::app::panes::reader::{EntryForm, ReaderSubject};
use crate::app::panes::tree::rows::RowItem;
use crate::app::{card, palettes};
use crate::base::numbers::{count, thousands};
use crate::base::text::{clean_text, spans_text};
use crate::changes::Request;
use crate::config::{Filter, Sort};
use crate::keymap::{Action, Group, Key, KeyContext};

/// Maximum number of recent actions in the command palette.
const MAX_RECENT: usize = 5;

/// Room in which a card is not shortened.
const ROOM: Size = Size::new(1000, 1000);

pub(super) fn act(model: &mut Model, action: Action) {
    if palettes::is_listed(action) {
        model.recent.retain(|&other| other != action);
        model.recent.insert(0, action);
        model.recent.truncate(MAX_RECENT);
    }
    if let Some(flow) = flow_of(action) {
        return model.execute(flow(model).unwrap_or_else(Command::warn));
    }
    let page = if model.focus == KeyContext::Sessions { model.sessions.page() } else { model.height(model.focus) };
    let page = page.saturating_sub(1).max(1);
    match action {
        Action::Quit => model.effects.push(Effect::Quit),
        Action::Suspend => model.effects.push(Effect::Suspend),
        Action::Help => open_help(model),
        Action::Welcome => model.layers.push(flows::welcome::note(model)),
        Action::Find => search::open_find(model),
        Action::NextHit | Action::PreviousHit => search::next_hit(model, action == Action::NextHit),
        Action::JumpBack | Action::JumpForward => jump(model, action == Action::JumpForward),
        Action::Palette => open_palette(model, PaletteKind::Actions),
        Action::MenuSelection | Action::MenuGoTo | Action::MenuView => open_menu(model, action),
        Action::Labels => open_palette(model, PaletteKind::Labels),
        Action::Projects => open_palette(model, PaletteKind::Projects),
        Action::Files => files::open(model),
        Action::NextForm => next_form(model),
        Action::Pager => open_program(model, Opener::Pager),
        Action::Editor => open_program(model, Opener::Editor),
        Action::Compare | Action::Pick => comparison::open(model, action == Action::Pick),
        Action::Stats | Action::Space => stats::open(model, action == Action::Space),
        Action::Machines => {
            let text = model.machines.in_words(model.now);
            model.layers.push(MessageBox::new("Other machines", clean_text(&text)));
        }
        Action::Reload => reload(model),
        Action::ReaderUp => reader::scroll(model, -1),
        Action::ReaderDown => reader::scroll(model, 1),
        Action::Wrap => {
            let is_wrapped = model.reader.toggle_wrap();
            let not = "not wrapping long lines; scroll with left and right";
            model.hint(if is_wrapped { "wrapping long lines" } else { not });
        }
        Action::NextPane => turn(model, 1),
        Action::PreviousPane => turn(model, KeyContext::PANES.len() - 1),
        Action::Zoom => model.pane_sizes.zoomed = !model.pane_sizes.zoomed,
        Action::Larger | Action::Smaller => resize(model, action == Action::Larger),
        Action::ShowReader => show_reader(model),
        Action::NextPrompt | Action::PreviousPrompt => {
            let forward = action == Action::NextPrompt;
            let is_reader = model.focus == KeyContext::Reader;
            let found = if is_reader { model.reader.prompt(forward, model.now) } else { model.tree.prompt(forward) };
            if found {
                reader::follow(model);
            } else {
                model.hint(format!("no prompt {}", if action == Action::NextPrompt { "below" } else { "above" }));
            }
        }
        Action::NextEntry | Action::PreviousEntry if model.focus == KeyContext::Reader && is_conversation(model) => {
            if model.reader.next_target(action == Action::NextEntry) {
                reader::follow(model);
            }
        }
        Action::NextEntry => step(model, 1),
        Action::PreviousEntry => step(model, -1),
        Action::Back => back(model),
        Action::Fold => fold(model),
        Action::Unfold => unfold(model),
        Action::FoldAll | Action::UnfoldAll => {
            let fold = action == Action::FoldAll;
            match model.focus {
                KeyContext::Sessions => model.sessions.fold_all(fold, &model.catalog),
                KeyContext::Reader => model.reader.fold_all(fold),
                _ => model.tree.fold_all(fold),
            }
        }
        Action::Confirm => {
            if !reader::open(model, reader_target(model)) {
                model.execute(resume::confirm(model));
            }
        }
        Action::MarkRead => unread::mark_read(model),
        Action::CleanUp => model.execute(flows::cleanup::open(model)),
        Action::Undo => model.execute(Command::Change(Request::UndoLast { confirmed_group: None }, NextStep::Select)),
        Action::Trash => open_history(model, PaletteKind::Trash),
        Action::History => open_history(model, PaletteKind::History),
        Action::Redo => model.execute(Command::Change(Request::Redo, NextStep::Select)),
        Action::Mark => comparison::mark(model),
        Action::MarkAll => mark_all(model),
        Action::Search => search::open(model, ""),
        Action::SearchEverything => search::toggle_everything(model),
        Action::NextSort | Action::WaitingFirst | Action::NamedOnly | Action::HereOnly => change_list(model, action),
        Action::ShowSubagents | Action::MarkedOnly | Action::ShowArchived => change_list(model, action),
        Action::ShowPaths => model.sessions.show_paths = !model.sessions.show_paths,
        Action::NextFilter => model.tree.set_filter(model.tree.filter.next()),
        Action::PreviousFilter => model.tree.set_filter(model.tree.filter.previous()),
        Action::ToolRuns => {
            model.tree.toggle_runs();
            let shown = if model.tree.collapses_runs { "run of tool calls in one" } else { "tool call in its own" };
            model.hint(format!("showing each {shown} row"));
        }
        Action::SegmentUp => model.tree.segment_up(),
        Action::SegmentDown => model.tree.segment_down(),
        Action::PreviousBranchPoint | Action::NextBranchPoint => {
            if !model.tree.branch_point(action == Action::NextBranchPoint) {
                let way = if action == Action::NextBranchPoint { "below" } else { "above" };
                model.hint(format!("no branch point {way}"));
            }
        }
        Action::GoToLeaf => model.tree.go_to_leaf(),
        Action::Follow => {
            let follows = model.tree.toggle_follow();
            model.hint(if follows { "following the leaf" } else { "no longer following" });
        }
        Action::Family => family::toggle(model),
        Action::FamilyFiles => {
            if model.tree.session.is_some() {
                open_palette(model, PaletteKind::Family);
            }
        }
        Action::GoOver => family::go_over(model),
        Action::LabelTimes => model.tree.label_times = !model.tree.label_times,
        Action::FilterDefault | Action::FilterNoTools | Action::FilterUserOnly => toggle_filter(model, action),
        Action::FilterLabeledOnly | Action::FilterAll => toggle_filter(model, action),
        Action::FilterOutline | Action::FilterTurns => toggle_filter(model, action),
        Action::Up | Action::Down | Action::PageUp | Action::PageDown | Action::First | Action::Last => {
            movement(action, page).into_iter().for_each(|by| go(model, by));
        }
        // These have a flow.
        Action::Rename | Action::Label | Action::Pin | Action::Tags | Action::Annotate | Action::Fork => {}
        Action::Context | Action::Repair | Action::UnreadableFiles | Action::Slim | Action::Export => {}
        Action::Delete | Action::Archive | Action::Move | Action::Copy | Action::Terminal | Action::FindTitles => {}
        // Layers handle these actions.
        Action::MarkUp | Action::MarkDown | Action::MarkTurn | Action::MarkTool | Action::SuggestEdits => {}
        Action::OmitMessage | Action::ShortenMessage | Action::ReplaceMessage | Action::RestoreMessage => {}
        Action::ResumeHere | Action::SideA | Action::SideB | Action::FileDifference | Action::GoToCommon => {}
        Action::NextGrouping | Action::PreviousGrouping | Action::NextColumn => {}
        Action::PreviousPeriod | Action::NextPeriod | Action::LongerPeriod | Action::ShorterPeriod => {}
        Action::ShowContent | Action::DiffState | Action::DiffDisk | Action::WriteFile | Action::AllSessions => {}
        Action::Accept | Action::Cancel | Action::Close | Action::Complete | Action::CompleteBack => {}
        Action::ListUp | Action::ListDown | Action::ListPageUp | Action::ListPageDown => {}
        Action::CopyPath | Action::RenameLabel | Action::OnlyHits => {}
        Action::PreviousQuery | Action::NextQuery => {}
        Action::CharLeft | Action::CharRight | Action::WordLeft | Action::WordRight => {}
        Action::LineStart | Action::LineEnd | Action::DeleteBack | Action::DeleteForward => {}
        Action::DeleteWordBack | Action::DeleteWordForward | Action::DeleteToStart => {}
        Action::DeleteToEnd | Action::Yank => {}
    }
}

/// Shows the filter of an action named `filter-NAME`, or the default one if it is shown already.
fn toggle_filter(model: &mut Model, action: Action) {
    let filter = action.row().name.strip_prefix("filter-").and_then(|name| name.parse().ok());
    let shown = filter.filter(|&filter| filter != model.tree.filter);
    model.tree.set_filter(shown.unwrap_or(Filter::Default));
}

pub(super) fn open_palette(model: &mut Model, kind: PaletteKind) {
    model.layers.push(palettes::palette(model, kind));
}

/// Opens the trash or the history and reads the journal again.
fn open_history(model: &mut Model, kind: PaletteKind) {
    family::read_history(model);
    open_palette(model, kind);
}

/// Handles a key that is not bound in the focused pane. Tree filters and folds work from any pane; for other keys, a
/// message names the pane.
pub(super) fn act_elsewhere(model: &mut Model, key: Key) {
    let keymap = &model.settings.config.keymap;
    let others = KeyContext::PANES.iter().filter(|place| **place != model.focus);
    let found = others.filter_map(|&place| Some((place, keymap.resolve(place, key)?))).next();
    match found {
        Some((_, action)) if action.row().group == Group::Tree => act(model, action),
        Some((place, action)) => {
            model.hint(format!("{key} ({}) works in the {} pane", action.row().word, place.name()));
        }
        None => {
            let (help, dot) = (model.settings.key(Action::Help), &model.settings.glyphs.dot);
            model.hint(format!("{key} is not bound in any pane {dot} {help}: help"));
        }
    }
}

/// Reads all sessions again.
pub(super) fn scan(model: &mut Model) {
    model.catalog.begin_reading();
    let claim = Some(model.ask_or(Work::Scan { is_first: model.catalog.is_empty() }, |model, _, error| {
        model.scan.claim = None;
        model.catalog.progress.finished = true;
        model.show_failure(error);
    }));
    model.scan = ScanState { claim, changed: Default::default() };
}

fn reload(model: &mut Model) {
    scan(model);
    replies::ask_machines(model, Work::SyncMachines);
    model.read_tree();
    model.hint("reloading sessions");
}

/// Reads all sessions again after pi exited.
pub(super) fn returned(model: &mut Model, failure: Option<String>) {
    reload(model);
    match failure {
        Some(failure) => model.warn(failure),
        None => model.hint("pi exited; reloading sessions"),
    }
}

/// Opens the source text of the entry in the reader, or the card of its session or project.
fn open_program(model: &mut Model, with: Opener) {
    let subject = model.reader.subject;
    if let ReaderSubject::Entry(entry) = subject
        && let Some(body) = model.entry_location(entry)
    {
        model.start_task(Work::ReadSource(body, with), NextStep::Open(with));
    } else if subject.has_card() {
        let lines = card::of(model, subject, ROOM);
        let text = lines.iter().map(|line| spans_text(&line.spans) + "\n").collect();
        model.effects.push(Effect::Open(TextCopy { with, name: "card.txt".into(), text }));
    } else {
        model.hint("nothing to open");
    }
}

fn go(model: &mut Model, by: isize) {
    match model.focus {
        KeyContext::Sessions => model.sessions.cursor.go(by, model.sessions.rows.len()),
        KeyContext::Tree => model.tree.cursor.go(by, model.tree.rows.list.len()),
        _ => reader::scroll(model, by),
    }
}

fn resize(model: &mut Model, larger: bool) {
    let is_zoomed = std::mem::take(&mut model.pane_sizes.zoomed);
    if !model.pane_sizes.resize(model.screen(), larger) && !is_zoomed {
        let end = if larger { "maximum" } else { "minimum" };
        model.hint(format!("pane is already at its {end} size"));
    }
}

fn show_reader(model: &mut Model) {
    let shown = model.pane_sizes.toggle_reader();
    if shown && model.layout().is_some_and(|layout| layout.reader.is_none()) {
        model.hint("terminal too low for the reader");
    }
}

/// Shows entries in the next form in the reader.
fn next_form(model: &mut Model) {
    model.entry_form = neighbor(EntryForm::ALL, model.entry_form, true);
    reader::turn_again(model);
    model.hint(format!("the reader shows {}", model.entry_form.name()));
}

/// Returns `true` if the reader shows the entries of a branch.
fn is_conversation(model: &Model) -> bool {
    matches!(model.reader.subject, ReaderSubject::Entry(_)) && model.entry_form == EntryForm::Entry
}

/// Selects another entry without leaving the pane; in the list and in a session's card, another session.
fn step(model: &mut Model, by: isize) {
    let is_of_list = match model.focus {
        KeyContext::Sessions => true,
        KeyContext::Tree => false,
        _ => {
            matches!(
                model.reader.subject,
                ReaderSubject::Session(_) | ReaderSubject::Project(_) | ReaderSubject::MissingParent(_)
            ) && !matches!(model.tree.selected_item(), Some(RowItem::Inherited | RowItem::Fork(_)))
        }
    };
    if is_of_list {
        model.sessions.cursor.go(by, model.sessions.rows.len());
    } else {
        model.tree.cursor.go(by, model.tree.rows.list.len());
    }
    // The reader shows the new selection.
    model.reader.turn_to(ReaderSubject::Nothing, model.now);
    model.reader.is_of_list = is_of_list;
}

/// Goes to the previous or next position in the jump history.
fn jump(model: &mut Model, forward: bool) {
    let is_there =
        |jump_position: &JumpPosition| jump_position.session.is_none_or(|session| model.catalog.has(session));
    let here = model.jump_position();
    let Some(jump_position) = std::iter::from_fn(|| model.jumps.next(here, forward)).find(is_there) else {
        let text = if forward { "at the newest jump" } else { "at the oldest jump" };
        return model.hint(text);
    };
    if let Some(session) = jump_position.session.filter(|&session| model.sessions.selected_session() != Some(session)) {
        model.sessions.select(session, &model.catalog);
    }
    if let Some(entry) = jump_position.entry {
        model.tree.go_to_entry(entry);
    }
    model.focus = jump_position.focus;
}

fn turn(model: &mut Model, by: usize) {
    let at = KeyContext::PANES.iter().position(|&place| place == model.focus).unwrap_or_default();
    model.focus = KeyContext::PANES[(at + by) % KeyContext::PANES.len()];
}

/// Marks all listed sessions, or unmarks them. During a search, the footer shows what can be done with marks.
fn mark_all(model: &mut Model) {
    let folded = model.sessions.toggle_all_marks();
    let marked = count(model.sessions.marks.len(), "session marked", "sessions marked");
    let is_typing = model.layers.has(KeyContext::Search) && !model.sessions.marks.is_empty();
    let (key, dot) = (|action| model.settings.key_in_line(action), &model.settings.glyphs.dot);
    let text = match folded {
        0 if is_typing => {
            format!("{marked} {dot} {}: move to trash {dot} {}: results", key(Action::Delete), key(Action::Down))
        }
        0 => marked,
        folded => {
            let (folded, unfold) = (thousands(folded), model.settings.key(Action::UnfoldAll));
            format!("{marked}; {folded} in folded rows not marked {dot} {unfold}: unfold all")
        }
    };
    model.hint(text);
}

/// Changes the order or the filter of the sessions.
fn change_list(model: &mut Model, action: Action) {
    if action == Action::MarkedOnly && !does_something(model, action) {
        return model.hint("no session is marked");
    }
    let is_searched = model.sessions.hits.is_some();
    let shows = &mut model.sessions.shows;
    let toggled = |option: &mut bool, on: &str, off: &str| {
        *option = !*option;
        Some(if *option { on } else { off }.into())
    };
    let message = match action {
        Action::NextSort if is_searched => {
            model.sessions.next_order();
            None
        }
        Action::NextSort => {
            shows.sort = shows.sort.next();
            if shows.sort == Sort::Tags && !model.catalog.marks().has_tags() {
                shows.sort = shows.sort.next();
            }
            Some(format!("sorted by {}", shows.sort.name()))
        }
        Action::WaitingFirst => {
            let before = std::mem::replace(&mut model.sessions.sort_before, shows.sort);
            shows.sort = if shows.sort == Sort::Live { before } else { Sort::Live };
            Some(format!("sorted by {}", shows.sort.name()))
        }
        Action::NamedOnly => toggled(&mut shows.named_only, "showing named sessions only", "showing all sessions"),
        Action::HereOnly => {
            toggled(&mut shows.here_only, "showing sessions of this project only", "showing all sessions")
        }
        Action::MarkedOnly => toggled(&mut shows.marked_only, "showing marked sessions only", "showing all sessions"),
        Action::ShowArchived => {
            toggled(&mut shows.unarchived_only, "hiding archived sessions", "showing archived sessions")
        }
        _ => toggled(&mut shows.subagents, "showing subagent sessions", "hiding subagent sessions"),
    };
    match action {
        Action::NextSort | Action::WaitingFirst => model.sessions.reorder(&model.catalog),
        _ => model.rebuild_list(),
    }
    if let Some(message) = message {
        model.hint(message);
    }
}

/// Goes back one step: stops a slow change, ends a search, clears marks or leaves the pane. In the first pane, only a
/// picker quits.
fn back(model: &mut Model) {
    let is_slow = |pending: &&PendingChange| pending.progress.is_some() || pending.waits.is_some();
    if let Some(pending) = model.changes.iter().find(is_slow)
        && !pending.claim.is_stopped()
    {
        return pending.claim.stop();
    }
    if search::end_find(model) {
        return;
    }
    let is_first_pane = model.focus == KeyContext::Sessions && model.sessions.marks.is_empty();
    if is_first_pane && (files::go_back(model) || stats::go_back(model)) {
        return;
    }
    match model.focus {
        KeyContext::Tree if !model.marks.is_empty() => model.marks.clear(),
        // A picker that was opened at a session begins in the tree.
        KeyContext::Tree if model.settings.at.is_some() && model.settings.picker.is_some() => {
            model.effects.push(Effect::Quit);
        }
        KeyContext::Tree => search::go_back(model),
        KeyContext::Sessions if !model.sessions.marks.is_empty() => {
            model.sessions.marks.clear();
            if std::mem::take(&mut model.sessions.shows.marked_only) {
                model.rebuild_list();
            }
        }
        KeyContext::Sessions if model.search.is_some() => search::close(model),
        KeyContext::Sessions => model.effects.extend(model.settings.picker.map(|_| Effect::Quit)),
        _ => model.focus = KeyContext::Tree,
    }
}

fn fold(model: &mut Model) {
    match model.focus {
        // There is no pane to the left.
        KeyContext::Sessions => drop(model.sessions.fold(&model.catalog)),
        KeyContext::Tree if model.tree.fold_or_up() => {}
        KeyContext::Tree => model.focus = KeyContext::Sessions,
        _ if model.reader.scroll_sideways(false) => {}
        _ => model.focus = KeyContext::Tree,
    }
}

fn unfold(model: &mut Model) {
    match model.focus {
        KeyContext::Sessions if model.sessions.unfold(&model.catalog) => {}
        KeyContext::Sessions if model.sessions.selected_session().is_none() => go(model, 1),
        KeyContext::Sessions => model.focus = KeyContext::Tree,
        KeyContext::Tree if model.tree.unfold_or_in() => {}
        KeyContext::Tree => match model.tree.selected_fork().map(|fork| fork.key) {
            Some(_) if model.tree.selected_fork().is_some_and(|fork| fork.is_open) => {
                model.hint("this fork has no entries of its own yet");
            }
            Some(fork) => drop(model.sessions.select(fork, &model.catalog)),
            None => model.focus = KeyContext::Reader,
        },
        _ => drop(model.reader.scroll_sideways(true)),
    }
}
