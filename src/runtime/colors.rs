//! The colors of the browser for lines that the command line prints.

use std::collections::HashMap;

use ratatui::backend::IntoCrossterm;

use crate::base::text::Tone;
use crate::config::{ColorOverride, Config, Palette};
use crate::runtime::terminal;
use crate::ui::theme;

/// The palette of the browser, with the colors of the user.
#[derive(Debug)]
pub(crate) struct Colors {
    palette: Palette,
    own: HashMap<Tone, ColorOverride>,
}

impl Colors {
    /// Chooses the palette. Unlike the browser, does not ask the terminal for its background, which takes time.
    pub(crate) fn new(config: &Config) -> Self {
        let palette = config.theme.palette().or_else(terminal::palette_of_environment);
        Self { palette: palette.unwrap_or(Palette::Terminal), own: config.colors.clone() }
    }

    /// Returns a text with the escape sequences of a tone.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        theme::style_of(tone, Some(self.palette), &self.own).into_crossterm().apply(text).to_string()
    }
}
