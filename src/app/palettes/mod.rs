//! What palettes list: [`actions`], the [`labels`] of all sessions, the [`files`] that tools touched. All of it is known
//! by the library, so that a list is there at once and follows the sessions.

pub mod actions;
pub mod files;
pub mod labels;

use crate::app::context::Context;
use crate::app::layers::palette::{Palette, PaletteKind};

/// Lists anew what changed since a palette was filled.
pub(crate) fn follow(context: &Context<'_>, palette: &mut Palette) {
    if palette.as_of == context.library.version() {
        return;
    }
    palette.as_of = context.library.version();
    match &palette.kind {
        PaletteKind::Actions => {}
        PaletteKind::Labels => palette.list(labels::rows(context)),
        PaletteKind::Files(scope) => palette.list(files::rows(context, *scope)),
        PaletteKind::Touches { file, scope } => palette.list(files::touches(context, file, *scope)),
    }
}
