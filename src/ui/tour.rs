//! Draws the box of the tour over the panes and the views that fill the screen, below dialogs.

use ratatui::Frame;

use crate::app::flows::tour;
use crate::app::model::Model;
use crate::ui::paint::Painter;
use crate::ui::widgets::{framed, rows};

pub(super) fn draw(frame: &mut Frame<'_>, model: &Model, pen: &Painter<'_>) {
    if let Some(tour) = tour::tour_box(model) {
        let inner = framed(frame, pen, tour.area, &tour.title, &tour.foot);
        rows(frame, pen, inner, &tour.text, 0);
    }
}
