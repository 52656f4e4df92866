//! Items of the palettes: [`actions`], [`labels`], sessions of a [`family`], touched [`files`], and the change
//! [`history`]. All but the history come from the catalog: they appear at once and follow its changes.

pub mod actions;
pub mod family;
pub mod files;
pub mod history;
pub mod labels;

use crate::app::layers::palette::{Palette, PaletteKind};
use crate::app::model::Model;

/// Returns a palette with its title and rows.
pub(crate) fn palette(model: &Model, kind: PaletteKind) -> Palette {
    let title = match &kind {
        PaletteKind::Actions => "Commands".into(),
        PaletteKind::Labels => "Labels".into(),
        PaletteKind::Family => "Family".into(),
        PaletteKind::Trash => "Trash".into(),
        PaletteKind::History => "History".into(),
        PaletteKind::Files(scope) => files::title_of_files(model, *scope),
        PaletteKind::Touches { file, scope } => files::title_of_touches(model, file, *scope),
    };
    let mut palette = Palette::new(kind, title);
    fill(model, &mut palette);
    palette
}

/// Fills a palette with its current items.
pub(crate) fn fill(model: &Model, palette: &mut Palette) {
    palette.as_of = model.catalog.version();
    palette.list(match &palette.kind {
        PaletteKind::Actions => actions::rows(model),
        PaletteKind::Labels => labels::rows(model),
        PaletteKind::Family => family::rows(model),
        PaletteKind::Trash => history::trash(model),
        PaletteKind::History => history::history(model),
        PaletteKind::Files(scope) => files::rows(model, *scope),
        PaletteKind::Touches { file, scope } => files::touches(model, file, *scope),
    });
}
