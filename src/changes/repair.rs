//! Repair of damaged session files: the writer of their repaired versions.

use std::collections::HashMap;
use std::fs;
use std::io::{SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::changes::engine::random;
use crate::disk::files;
use crate::disk::lines;
use crate::disk::rewrite::{NewVersion, Rewriter, Rewritten};
use crate::session::health::code::Code;
use crate::session::health::{Checkup, Finding};
use crate::session::write::repair::{KnownHeader, Repaired, repair};

/// The time in which a pi completes a line.
const MOMENT: Duration = Duration::from_secs(1);

/// Writes repaired versions of files.
#[derive(Debug)]
pub struct RepairWriter {
    /// The known facts about the sessions, by the path of the file with symbolic links resolved.
    pub known: HashMap<PathBuf, KnownHeader>,
}

impl RepairWriter {
    /// Returns the repaired version of a file.
    ///
    /// # Errors
    /// The file cannot be read or repaired.
    pub fn repaired(&self, path: &Path) -> Result<Repaired> {
        let mut bytes = Vec::new();
        let mut file = files::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        file.read_to_end(&mut bytes).with_context(|| format!("cannot read {}", path.display()))?;
        let known = self.known.get(path).context("nothing is known about the session; run pitree doctor again")?;
        repair(&bytes, known, &mut random).map_err(|why| anyhow!("cannot repair {}: {why}", path.display()))
    }
}

/// Returns `true` if a file ends with a line break.
fn is_ended(path: &Path) -> Result<bool> {
    let mut last = [0];
    let mut file = files::open(path)?;
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

impl Rewriter for RepairWriter {
    fn write(&self, path: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten> {
        let Repaired { bytes, rest, steps } = self.repaired(path)?;
        let age = fs::metadata(path).and_then(|file| file.modified()).map(|time| time.elapsed().unwrap_or_default());
        if age.is_ok_and(|age| age < MOMENT) && !is_ended(path)? {
            bail!("{} is being written; try again when pi is idle", path.display());
        }
        out.needs((bytes.len() + rest.len()) as u64)?;
        out.write_all(&bytes)?;
        Ok(Rewritten { is_changed: !steps.is_empty(), rest })
    }

    fn check(&self, _path: &Path, new: &Path) -> Result<()> {
        let mut checkup = Checkup::default();
        lines::each(&mut files::open(new)?, 0, u64::MAX, &mut Vec::new(), |line| {
            checkup.line(&line);
            true
        })?;
        let found = checkup.finish().context("it is not a session")?;
        // pi reads lines that are too long for pitree.
        let problem = found.iter().find(|finding| finding.is_problem() && finding.code != Code::LongLine);
        ensure!(problem.is_none(), "it still has a problem: {}", problem.map(Finding::text).unwrap_or_default());
        Ok(())
    }
}
