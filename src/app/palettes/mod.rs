//! What palettes list: [`actions`], the [`labels`] of all sessions, the sessions of a [`family`], the [`files`] that tools touched, what was changed in the
//! [`history`]. All but the last is known by the catalog, so that a list is there at once and follows the sessions.

pub mod actions;
pub mod family;
pub mod files;
pub mod history;
pub mod labels;

use crate::app::context::BrowserView;
use crate::app::layers::palette::{Palette, PaletteKind};

/// Lists anew what changed since a palette was filled.
pub(crate) fn follow(context: &BrowserView<'_>, palette: &mut Palette) {
    if palette.as_of != context.catalog.version() {
        fill(context, palette);
    }
}

/// Lists what there is now.
pub(crate) fn fill(context: &BrowserView<'_>, palette: &mut Palette) {
    palette.as_of = context.catalog.version();
    match &palette.kind {
        PaletteKind::Actions => {}
        PaletteKind::Labels => palette.list(labels::rows(context)),
        PaletteKind::Family => palette.list(family::rows(context)),
        PaletteKind::Trash => palette.list(history::trash(context)),
        PaletteKind::History => palette.list(history::history(context)),
        PaletteKind::Files(scope) => palette.list(files::rows(context, *scope)),
        PaletteKind::Touches { file, scope } => palette.list(files::touches(context, file, *scope)),
    }
}
