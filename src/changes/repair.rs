//! Repair of damaged session files: the writer of their repaired versions.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::base::path_context::PathContext;
use crate::disk::fingerprint::hash;
use crate::disk::rewrite::{self, NewVersion, Rewriter, Rewritten};
use crate::disk::{files, lines};
use crate::session::health::code::Code;
use crate::session::health::{Checkup, HealthFinding};
use crate::session::write::migrate::migrate;
use crate::session::write::repair::{KnownHeader, RepairSteps, Survey};

/// The time in which a pi completes a line.
const MOMENT: Duration = Duration::from_secs(1);

/// Writes repaired versions of files.
#[derive(Debug)]
pub struct RepairWriter {
    /// The known facts about the sessions, by the path of the file with symbolic links resolved.
    pub known: HashMap<PathBuf, KnownHeader>,
}

/// The result of a repair besides the repaired version.
#[derive(Debug, Default)]
pub struct RepairResult {
    /// The steps for people; none if the file stays as it is.
    pub steps: RepairSteps,
    /// The bytes without a place in the repaired version.
    pub rest: Vec<u8>,
}

impl RepairWriter {
    /// Repairs a file without writing it.
    ///
    /// # Errors
    /// The file cannot be read or repaired.
    pub fn preview(&self, path: &Path) -> Result<RepairResult> {
        self.repair(path, &mut io::sink())
    }

    /// Writes the repaired version of a file. Needs memory for the longest line, the IDs and the rest, or for the whole file
    /// if it has an old version.
    fn repair(&self, path: &Path, out: &mut dyn Write) -> Result<RepairResult> {
        let known = self.known.get(path).context("nothing is known about the session; run pitree doctor again")?;
        let mut survey = Survey::default();
        rewrite::each_line(path, |_, line, _| {
            survey.line(line);
            Ok(())
        })?;
        // The new IDs depend only on the path and their order, so that a preview shows those that are written.
        let mut count = 0_u64;
        let mut next = || {
            count += 1;
            let seed = [path.as_os_str().as_encoded_bytes(), &count.to_ne_bytes()].concat();
            u128::from(hash(&seed)) << 64 | u128::from(hash(&[&seed[..], b"+"].concat()))
        };
        let repair = survey.plan(known, &mut next);
        let mut repair = repair.path_context("cannot repair", path)?;
        let mut result = RepairResult { steps: repair.steps().clone(), rest: Vec::new() };
        let mut bytes = Vec::new();
        repair.start(&mut bytes, &mut result.rest);
        rewrite::each_line(path, |_, line, _| {
            repair.line(line, &mut bytes, &mut result.rest);
            if !repair.is_old {
                out.write_all(&bytes).path_context("cannot write the new version of", path)?;
                bytes.clear();
            }
            Ok(())
        })?;
        repair.finish(&mut bytes, &mut result.rest);
        let migrated = if repair.is_old { migrate(&bytes, &mut next) } else { None };
        out.write_all(migrated.as_deref().unwrap_or(&bytes))?;
        Ok(result)
    }
}

/// Returns `true` if a file is empty or ends with a line break.
fn is_ended(path: &Path) -> Result<bool> {
    if files::len(path)? == 0 {
        return Ok(true);
    }
    let mut last = [0];
    let mut file = files::open(path)?;
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

impl Rewriter for RepairWriter {
    fn write(&self, path: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten> {
        let age = fs::metadata(path).and_then(|file| file.modified()).map(|time| time.elapsed().unwrap_or_default());
        if age.is_ok_and(|age| age < MOMENT) && !is_ended(path)? {
            bail!("{} is being written; try again when pi is idle", path.display());
        }
        out.needs(files::len(path)?)?;
        let RepairResult { steps, rest } = self.repair(path, out)?;
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
        ensure!(problem.is_none(), "it still has a problem: {}", problem.map(HealthFinding::text).unwrap_or_default());
        Ok(())
    }
}
