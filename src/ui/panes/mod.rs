//! Draws the visible panes.

mod hits;
mod name;
mod preview;
mod project;
mod row;
mod session;
mod sessions;
mod tree;

use ratatui::Frame;

use crate::app::model::Model;
use crate::app::panes::layout::Layout;
use crate::ui::paint::Painter;

pub(super) fn draw(frame: &mut Frame<'_>, layout: &Layout, model: &Model, pen: &Painter<'_>) {
    if let Some(area) = layout.sessions {
        sessions::draw(frame, area, model, pen);
    }
    if let Some(area) = layout.tree {
        tree::draw(frame, area, model, pen);
    }
    if let Some(area) = layout.preview {
        preview::draw(frame, area, model, pen);
    }
}
