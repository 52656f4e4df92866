//! The menus and the help: the actions that apply, and the flows of those that have one.

use super::{context, prepared_boxes, titles};
use crate::app::flows::{Flow, cleanup, copy, directories, export, names_and_marks, resume, trash_and_archive};
use crate::app::layers::menu::MenuView;
use crate::app::model::Model;
use crate::app::{hints, palettes};
use crate::keymap::{Action, Group, Menu};

/// Returns the flow of an action that has one.
pub(super) fn flow_of(action: Action) -> Option<fn(&Model) -> Flow> {
    Some(match action {
        Action::Rename => names_and_marks::rename,
        Action::FindTitles => titles::open,
        Action::Label => names_and_marks::label,
        Action::Pin => names_and_marks::pin,
        Action::Tags => names_and_marks::tags,
        Action::Annotate => names_and_marks::note,
        Action::Fork => resume::fork,
        Action::Terminal => resume::go_to_terminal,
        Action::Context => context::open,
        Action::Repair => cleanup::ask_to_repair,
        Action::UnreadableFiles => cleanup::unreadable_files,
        Action::Slim => prepared_boxes::open_slimming,
        Action::Export => export::open,
        Action::Delete => trash_and_archive::ask_to_trash,
        Action::Archive => trash_and_archive::ask_to_archive,
        Action::Move => directories::ask_to_move,
        Action::Copy => copy::ask,
        _ => return None,
    })
}

/// Opens the help of the current place.
pub(super) fn open_help(model: &mut Model) {
    let over = model.key_context();
    model.layers.push(palettes::help(model, over));
}

/// Opens the menu of an action with the actions that apply.
pub(super) fn open_menu(model: &mut Model, opened_by: Action) {
    let menu = match opened_by {
        Action::MenuGoTo => Menu::GoTo,
        Action::MenuView => Menu::View,
        _ => Menu::Selection,
    };
    let place = model.key_context();
    let in_layer = !model.layers.0.is_empty();
    let applies = |action: Action| {
        let offers = hints::does_something(model, action);
        offers && (in_layer || flow_of(action).is_none_or(|flow| flow(model).is_ok()))
    };
    let keymap = &model.settings.config.keymap;
    let key = |action: Action| Some((*keymap.keys(action).iter().find(|key| key.menu == Some(menu))?, action));
    let works = Action::ALL.iter().copied().filter(|action| action.row().contexts.contains(&place));
    let (mut rows, others): (Vec<_>, Vec<_>) = works.filter_map(key).partition(|(_, action)| applies(*action));
    rows.sort_by_key(|(_, action)| action.row().group != Group::Changing); // stable
    model.layers.push(MenuView::new(menu, rows, others));
}
