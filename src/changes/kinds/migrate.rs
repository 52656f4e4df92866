//! Migration of old session files to version 3, as pi rewrites them.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};

use crate::base::path_context::PathContext;
use crate::changes::change::{Change, ChangeStep, Migration};
use crate::changes::engine::{Engine, random};
use crate::changes::journal::JournalRecord;
use crate::changes::kinds::exchange::{self, Exchange};
use crate::changes::kinds::{is_used_since, must_exist, overtaken};
use crate::changes::request::{ChangeResult, Refusal};
use crate::disk::files::is_there;
use crate::disk::load::{self, Bodies, NewerFormat};
use crate::disk::rewrite::{NewVersion, Rewriter, Rewritten};
use crate::session::write::migrate;

/// Makes a change of a version 3 file. An older file is migrated first, if `allowed`.
///
/// # Errors
/// The file is older and migration is not allowed, or the change failed.
pub(crate) fn before<'a>(
    work: &mut Engine<'a>,
    (path, allowed): (&Path, bool),
    change: impl FnOnce(&mut Engine<'a>) -> Result<ChangeResult>,
) -> Result<ChangeResult> {
    let migrated = if_old(work, path, allowed)?;
    migrated.and_then(work.is_dry, || change(work))
}

/// Migrates a file to version 3 if it is older.
fn if_old(work: &mut Engine<'_>, path: &Path, allowed: bool) -> Result<ChangeResult> {
    let header = load::writable_header(path)?;
    if header.version >= 3.0 {
        return Ok(ChangeResult::default());
    }
    let version = header.version as u32;
    if !allowed {
        return Err(Refusal::Old { path: path.into(), version }.into());
    }
    // The file itself is migrated, not a symbolic link to it.
    let real = dunce::canonicalize(path).path_context("cannot find", path)?;
    let make = |bytes, old_bytes| Change::Migrate(Migration { path: real.clone(), bytes, old_bytes, version });
    let change = exchange::make(work, (&real, &Migrator), |content, old_bytes| make(content.bytes, old_bytes))?;
    let Some(change) = change else {
        bail!("cannot convert {} from version {version} to version 3", path.display());
    };
    Ok(ChangeResult::of(ChangeStep::Make, vec![change], 0))
}

/// Writes the migrated version of a file.
struct Migrator;

impl Rewriter for Migrator {
    fn write(&self, path: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten> {
        let old = Bodies::open(path)?.whole()?;
        let Some(migrated) = migrate::migrate(&old, &mut random) else { return Ok(Rewritten::default()) };
        out.needs(migrated.len() as u64)?;
        out.write_all(&migrated)?;
        Ok(Rewritten { is_changed: true, ..Rewritten::default() })
    }
}

impl Migration {
    pub(super) fn exchange(&self) -> Exchange<'_> {
        Exchange::new(&self.path, self.versions(), [self.old_bytes, self.bytes])
    }

    /// Undoes or redoes the migration.
    pub(super) fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        must_exist(&self.path)?;
        match load::writable_header(&self.path) {
            Err(error) if error.is::<NewerFormat>() => return overtaken(error.to_string()),
            header => drop(header?),
        }
        let tree = load::tree(&self.path, "")?;
        if is_used_since(&work.journal.records, &tree, step.ends(self.old_bytes, self.bytes).0) {
            return overtaken(format!("the session has new entries since it was converted: {}", self.path.display()));
        }
        self.exchange().again(work, (record, step), tree.end)
    }

    /// Returns `true` if a step was taken, or `None` if the file is inaccessible.
    pub(super) fn happened(&self, step: ChangeStep) -> Option<bool> {
        if !is_there(&self.path).ok()? {
            return Some(false);
        }
        let version = load::header(&self.path)?.version;
        Some((version >= 3.0) == (step != ChangeStep::Undo))
    }
}
