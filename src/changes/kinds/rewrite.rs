//! Replacement of session files by other versions of them, such as one without secrets.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::base::numbers::count;
use crate::changes::change::{Change, ChangeStep, Rewrite};
use crate::changes::engine::Engine;
use crate::changes::journal::JournalRecord;
use crate::changes::kinds::exchange::{Exchange, NewContent};
use crate::changes::kinds::trash::unchanged;
use crate::changes::kinds::{must_exist, overtaken};
use crate::changes::request::{ChangeResult, FileSnapshot, PartialFailure, RewrittenFile};
use crate::disk::files::is_there;
use crate::disk::fingerprint::{ContentHash, hash};
use crate::disk::load;

/// Replaces files by versions without secrets.
///
/// # Errors
/// A file is missing, has changed since it was read, or has a newer version; or the exchange failed.
pub(crate) fn scrub(work: &mut Engine<'_>, files: &[RewrittenFile]) -> Result<ChangeResult> {
    let snapshots: Vec<FileSnapshot> = files.iter().map(|one| one.file.clone()).collect();
    ensure!(unchanged(&snapshots)?.len() == files.len(), "a session is missing; read the sessions again");
    let mut rewrites = Vec::new();
    for one in files {
        load::writable(&one.file.path)?;
        let path = &one.file.path;
        // The file itself is replaced, not a symbolic link to it.
        let path = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
        let hash = format!("{:016x}", hash(&one.bytes));
        rewrites.push(Rewrite { path, bytes: one.bytes.len() as u64, old_bytes: one.file.bytes, hash });
    }
    let mut changes: Vec<Change> = rewrites.iter().cloned().map(Change::Scrub).collect();
    for (done, (rewrite, one)) in rewrites.iter().zip(files).enumerate() {
        let left = files.len() - done;
        if work.is_stopped(done, files.len()) {
            changes.truncate(done);
            return Ok(ChangeResult::of(ChangeStep::Make, changes, left));
        }
        let new = NewContent { bytes: &one.bytes, old_len: one.file.bytes };
        match rewrite.exchange().make(work, &changes[done], &new) {
            Err(error) if done > 0 => {
                let made = count(done, "session", "sessions");
                let summary = format!("removed secrets from {made}, {left} remaining: {error:#}");
                changes.truncate(done);
                return Err(PartialFailure { changes, summary }.into());
            }
            made => made?,
        }
    }
    Ok(ChangeResult::of(ChangeStep::Make, changes, 0))
}

impl Rewrite {
    pub(super) fn exchange(&self) -> Exchange<'_> {
        Exchange::new(&self.path, self.versions())
    }

    /// Undoes or redoes the replacement.
    pub(super) fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        must_exist(&self.path)?;
        // Lines of pi or pitree in this version would be lost in the other one.
        let bytes = if step == ChangeStep::Undo { self.bytes } else { self.old_bytes };
        let now = fs::metadata(&self.path).with_context(|| format!("cannot access {}", self.path.display()))?;
        if now.len() != bytes {
            return overtaken(format!("the session has new entries since it was replaced: {}", self.path.display()));
        }
        self.exchange().again(work, record, step)
    }

    /// Returns `true` if a step was taken, or `None` if the file is inaccessible.
    pub(super) fn happened(&self, step: ChangeStep) -> Option<bool> {
        if !is_there(&self.path).ok()? {
            return Some(false);
        }
        let hash = u64::from_str_radix(&self.hash, 16).ok()?;
        let is_new = ContentHash::of_parts(self.bytes, hash).is_in(&self.path);
        Some(is_new == (step != ChangeStep::Undo))
    }
}
