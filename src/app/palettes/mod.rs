//! What palettes list: [`actions`], the [`labels`] of all sessions, the sessions of a [`family`], the [`files`] that tools touched, what was changed in the
//! [`history`]. All but the last is known by the catalog, so that a list is there at once and follows the sessions.

pub mod actions;
pub mod family;
pub mod files;
pub mod history;
pub mod labels;

use crate::app::layers::palette::{Palette, PaletteKind};
use crate::app::model::Model;

/// Lists anew what changed since a palette was filled.
pub(crate) fn follow(model: &Model, palette: &mut Palette) {
    if palette.as_of != model.catalog.version() {
        fill(model, palette);
    }
}

/// Lists what there is now.
pub(crate) fn fill(model: &Model, palette: &mut Palette) {
    palette.as_of = model.catalog.version();
    match &palette.kind {
        PaletteKind::Actions => {}
        PaletteKind::Labels => palette.list(labels::rows(model)),
        PaletteKind::Family => palette.list(family::rows(model)),
        PaletteKind::Trash => palette.list(history::trash(model)),
        PaletteKind::History => palette.list(history::history(model)),
        PaletteKind::Files(scope) => palette.list(files::rows(model, *scope)),
        PaletteKind::Touches { file, scope } => palette.list(files::touches(model, file, *scope)),
    }
}
