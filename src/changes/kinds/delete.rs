//! Permanent deletion. It is not recorded in the journal, because it cannot be undone.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::base::numbers::{count, thousands};
use crate::changes::engine::Engine;
use crate::changes::kinds::preconditions::unchanged;
use crate::changes::request::FileSnapshot;
use crate::changes::result::ChangeResult;

pub(crate) fn make(work: &mut Engine<'_>, files: &[FileSnapshot]) -> Result<ChangeResult> {
    let there = unchanged(files)?;
    let said = |done| format!("permanently deleted {}", count(done, "session", "sessions"));
    if work.is_dry {
        return Ok(ChangeResult::nothing(&said(there.len())));
    }
    for (done, file) in there.iter().enumerate() {
        let left = there.len() - done;
        if work.is_stopped(done, there.len()) {
            return Ok(ChangeResult::nothing(&said(done)).stopped(left));
        }
        let deleted = fs::remove_file(&file.path).with_context(|| format!("cannot delete {}", file.path.display()));
        match deleted {
            Err(error) if done > 0 => bail!("{}; {} remaining: {error:#}", said(done), thousands(left)),
            deleted => deleted?,
        }
    }
    Ok(ChangeResult::nothing(&said(there.len())))
}
