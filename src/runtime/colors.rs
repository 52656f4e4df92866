//! The colors of the browser for lines that the command line prints.

use std::collections::HashMap;

use ratatui::backend::IntoCrossterm;

use crate::base::text::Tone;
use crate::config::{ColorOverride, Config, Palette};
use crate::runtime::terminal;
use crate::ui::theme;

/// The palette of the browser, and the colors of the user.
pub(crate) type Colors = (Palette, HashMap<Tone, ColorOverride>);

/// Returns the colors. Unlike the browser, does not ask the terminal for its background, which takes time.
pub(crate) fn configured(config: &Config) -> Colors {
    let palette = config.theme.palette().or_else(terminal::palette_of_environment);
    (palette.unwrap_or(Palette::Terminal), config.colors.clone())
}

/// Returns a text with the escape sequences of a tone.
pub(crate) fn paint(tone: Tone, text: &str, (palette, own): &Colors) -> String {
    theme::style_of(tone, Some(*palette), own).into_crossterm().apply(text).to_string()
}
