//! Replacement of session files by other versions of them: without secrets, slimmed, or repaired. A [`Rewriter`] writes
//! each new version next to its file; the original moves to the trash.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::base::path_context::PathContext;
use crate::changes::change::{Change, ChangeStep, Rewrite, RewritePurpose};
use crate::changes::engine::Engine;
use crate::changes::journal::JournalRecord;
use crate::changes::kinds::exchange::{self, Exchange};
use crate::changes::kinds::{each_file, migrate, must_exist, overtaken};
use crate::changes::request::{ChangeResult, Refusal};
use crate::changes::target::ExpectedSession;
use crate::disk::files::is_there;
use crate::disk::fingerprint::ContentHash;
use crate::disk::load::{self, NewerFormat};
use crate::disk::rewrite::Rewriter;

/// Replaces files by new versions. A failure of one does not stop the others.
///
/// # Errors
/// A file is missing, has another session or a newer version; or the exchange failed.
pub(crate) fn make(
    work: &mut Engine<'_>,
    purpose: RewritePurpose,
    sessions: &[ExpectedSession],
    by: &dyn Rewriter,
) -> Result<ChangeResult> {
    if let [session] = sessions {
        let changes = one(work, purpose, session, by)?;
        return Ok(match changes.is_empty() {
            true => ChangeResult::nothing("nothing to change"),
            false => ChangeResult::of(ChangeStep::Make, changes, 0),
        });
    }
    let paths: Vec<&Path> = sessions.iter().map(|session| &*session.path).collect();
    each_file(work, &paths, |work, at| one(work, purpose, &sessions[at], by))
}

/// Checks that a file still has the session, in a version that pitree can write.
///
/// # Errors
/// A file is missing, has another session or a newer version.
pub(super) fn check(ExpectedSession { path, id }: &ExpectedSession) -> Result<()> {
    let header = load::header(path);
    if header.as_ref().map_or("", |header| &header.id) != id {
        must_exist(path)?;
        return Err(Refusal::Replaced { path: path.clone() }.into());
    }
    match header.filter(|header| header.is_newer()) {
        Some(header) => Err(NewerFormat::new(path, header.version).into()),
        None => Ok(()),
    }
}

/// Replaces a file by its new version. Returns the changes.
///
/// # Errors
/// Those of [`check`], or the exchange failed.
pub(super) fn one(
    work: &mut Engine<'_>,
    purpose: RewritePurpose,
    session: &ExpectedSession,
    by: &dyn Rewriter,
) -> Result<Vec<Change>> {
    check(session)?;
    let path = &session.path;
    // The file itself is replaced, not a symbolic link to it.
    let real = dunce::canonicalize(path).path_context("cannot find", path)?;
    let rewrite = |work: &mut Engine<'_>| {
        let change = |content: ContentHash, old_bytes| {
            let (bytes, hash) = content.parts();
            let hash = if bytes == 0 { String::new() } else { format!("{hash:016x}") };
            Change::Rewrite(Rewrite { path: real.clone(), purpose, bytes, old_bytes, hash })
        };
        exchange::make(work, (&real, by), change)
    };
    if purpose.needs_current_version() {
        let done = migrate::before(work, (path, true), |work| {
            let change = rewrite(work)?.into_iter().collect();
            Ok(ChangeResult::of(ChangeStep::Make, change, 0))
        });
        return done.map(|done| done.changes);
    }
    Ok(rewrite(work)?.into_iter().collect())
}

impl RewritePurpose {
    /// Returns `true` if an old file must be converted to version 3 first. A repair converts it itself, because a
    /// conversion drops damaged lines.
    fn needs_current_version(self) -> bool {
        self == Self::Slim
    }

    /// Describes the purpose in a few words.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Scrub => "remove secrets",
            Self::Slim => "slim",
            Self::Repair => "repair",
            Self::Move => "set the working directory",
            Self::Relink => "link to the moved parent session",
        }
    }

    /// Returns a message for a step with these sessions.
    pub(super) fn summary(self, step: ChangeStep, sessions: &str) -> String {
        let done = match self {
            Self::Scrub => format!("Removed secrets from {sessions}"),
            Self::Slim => format!("Slimmed {sessions}"),
            Self::Repair => format!("Repaired {sessions}"),
            Self::Move => format!("Moved {sessions}"),
            Self::Relink => format!("Linked {sessions} to the moved parent"),
        };
        match (step, self) {
            (ChangeStep::Make, _) => done,
            (ChangeStep::Redo, _) => done + " again",
            (ChangeStep::Undo, Self::Move) => format!("Moved {sessions} back"),
            (ChangeStep::Undo, Self::Relink) => format!("Restored the parent link of {sessions}"),
            (ChangeStep::Undo, Self::Scrub) => format!("Restored {sessions} with the secrets"),
            (ChangeStep::Undo, _) => format!("Restored the original of {sessions}"),
        }
    }
}

impl Rewrite {
    pub(super) fn exchange(&self) -> Exchange<'_> {
        Exchange::new(&self.path, self.versions(), [self.old_bytes, self.bytes])
    }

    /// Undoes or redoes the replacement.
    pub(super) fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        must_exist(&self.path)?;
        // Lines of pi or pitree in this version would be lost in the other one.
        let bytes = if step == ChangeStep::Undo { self.bytes } else { self.old_bytes };
        let now = fs::metadata(&self.path).path_context("cannot access", &self.path)?;
        if now.len() != bytes {
            return overtaken(format!("the session has new entries since it was replaced: {}", self.path.display()));
        }
        self.exchange().again(work, (record, step), bytes)
    }

    /// Returns `true` if a step was taken, or `None` if the file is inaccessible.
    pub(super) fn happened(&self, step: ChangeStep) -> Option<bool> {
        if !is_there(&self.path).ok()? {
            return Some(false);
        }
        // Without a hash, the new version was not complete.
        let Ok(hash) = u64::from_str_radix(&self.hash, 16) else { return Some(false) };
        let is_new = ContentHash::of_parts(self.bytes, hash).is_in(&self.path);
        // The original can start with all of the new version.
        let is_old = self.bytes != self.old_bytes && fs::metadata(&self.path).ok()?.len() == self.old_bytes;
        Some((is_new && !is_old) == (step != ChangeStep::Undo))
    }
}
