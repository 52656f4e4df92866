//! A change made by a newer pitree: it is listed, but never modified.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::changes::change::UnknownChange;
use crate::changes::engine::Engine;
use crate::changes::journal::{ChangeStep, JournalRecord};
use crate::changes::kinds::kind::ChangeKind;

impl UnknownChange {
    fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

impl ChangeKind for UnknownChange {
    fn path(&self) -> &Path {
        Path::new(self.text("path"))
    }

    fn describe(&self) -> String {
        format!("made by a newer pitree ({:?})", self.text("kind"))
    }

    fn again(&self, _: &mut Engine<'_>, record: &JournalRecord, _: ChangeStep) -> Result<()> {
        bail!("change {} was {}", record.number, self.describe());
    }

    fn happened(&self, _: &JournalRecord, _: ChangeStep) -> Option<bool> {
        None // never called: only known changes are resolved
    }
}
