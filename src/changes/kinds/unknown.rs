//! A change of a newer pitree: it is shown, and left to those who know it.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::changes::change::Unknown;
use crate::changes::engine::Engine;
use crate::changes::journal::{Record, Step};
use crate::changes::kinds::kind::Kind;

impl Unknown {
    fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

impl Kind for Unknown {
    fn path(&self) -> &Path {
        Path::new(self.text("path"))
    }

    fn describe(&self) -> String {
        format!("made by a newer pitree ({:?})", self.text("kind"))
    }

    fn again(&self, _: &mut Engine<'_>, record: &Record, _: Step) -> Result<()> {
        bail!("change {} was {}", record.number, self.describe());
    }

    fn happened(&self, _: &Record, _: Step) -> Option<bool> {
        None // nobody asks: only what is known is mended
    }
}
