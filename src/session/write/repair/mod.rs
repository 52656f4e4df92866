//! Repair of damaged session files: pi can open the result, and every byte of the file is in it or in the rest. Unchanged
//! lines keep their bytes. Without I/O.

mod complete;
mod known;
mod plan;
mod segments;

use std::iter;

use thiserror::Error;

use crate::session::entry::NEWEST;
use crate::session::write::migrate::migrate;
pub use crate::session::write::repair::known::KnownHeader;
pub use crate::session::write::repair::plan::RepairSteps;
use crate::session::write::repair::plan::{Plan, Planner};
use crate::session::write::repair::segments::{Segment, segments};

/// A repaired file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The content of the file.
    pub bytes: Vec<u8>,
    /// The bytes without a place in the file, and the previous values of changed fields, in lines.
    pub rest: Vec<u8>,
    /// The steps of the repair for people.
    pub steps: RepairSteps,
}

/// An error: the file cannot be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum Unrepairable {
    /// A newer format has unknown rules.
    #[error("it has format version {0}, which is newer than pitree {version} supports; update pitree", version = env!("CARGO_PKG_VERSION"))]
    Newer(f64),
    /// The file contains no entry.
    #[error("it contains no entry of a session")]
    NoSession,
}

/// The first pass over the lines of a file: collects its IDs and its damage.
#[derive(Debug, Default)]
pub struct Survey {
    planner: Planner,
    lines: u64,
}

impl Survey {
    /// Adds the next line, without its line break.
    pub fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        let split = segments(line);
        split.done.iter().for_each(|done| self.planner.step(self.lines, done));
        for part in &split.parts {
            if let Segment::Value(value) = part {
                self.planner.value(self.lines, value, split.done.is_some());
            }
        }
    }

    /// Plans the repair.
    ///
    /// # Errors
    /// The file cannot be repaired.
    pub fn plan(self, known: &KnownHeader, random: &mut dyn FnMut() -> u128) -> Result<Repair, Unrepairable> {
        if let Some(newer) = self.planner.version.filter(|version| *version > NEWEST) {
            return Err(Unrepairable::Newer(newer));
        }
        if self.planner.is_empty() {
            return Err(Unrepairable::NoSession);
        }
        let mut plan = self.planner.plan(known, random);
        let is_old = plan.version < NEWEST;
        if is_old {
            plan.steps.listed.insert(0, "converted to version 3".into());
        }
        Ok(Repair { plan, at: 0, lines: 0, is_old })
    }
}

/// The second pass over the lines of a file: writes the repaired lines.
#[derive(Debug)]
pub struct Repair {
    plan: Plan,
    /// The number of values so far.
    at: usize,
    /// The number of lines so far.
    lines: u64,
    /// `true` if the result must be [migrated](mod@crate::session::write::migrate).
    pub is_old: bool,
}

impl Repair {
    /// Returns the steps for people; none if the file stays as it is.
    pub fn steps(&self) -> &RepairSteps {
        &self.plan.steps
    }

    /// Appends a new header to the file, and the one that it replaces to the rest.
    pub fn start(&self, file: &mut Vec<u8>, rest: &mut Vec<u8>) {
        file.extend(self.plan.header.iter().flat_map(|header| header.iter().chain(iter::once(&b'\n'))));
        rest.extend_from_slice(&self.plan.rest);
    }

    /// Appends the repaired form of the next line to the file, and its bytes without a place to the rest.
    pub fn line(&mut self, line: &[u8], file: &mut Vec<u8>, rest: &mut Vec<u8>) {
        self.lines += 1;
        for part in segments(line).parts {
            match part {
                Segment::Value(value) => {
                    self.plan.write((self.at, self.lines), &value, (file, rest));
                    self.at += 1;
                }
                Segment::Rest(bytes) => {
                    rest.extend_from_slice(&bytes);
                    rest.push(b'\n');
                }
            }
        }
    }
}

/// Repairs a file in memory. NUL bytes are removed. A file of an old version is then migrated.
///
/// # Errors
/// The file cannot be repaired.
pub fn repair(file: &[u8], known: &KnownHeader, random: &mut dyn FnMut() -> u128) -> Result<Repaired, Unrepairable> {
    let lines = || file.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line));
    let mut survey = Survey::default();
    lines().for_each(|line| survey.line(line));
    let mut repair = survey.plan(known, random)?;
    let mut repaired = Repaired { steps: repair.steps().clone(), ..Repaired::default() };
    repair.start(&mut repaired.bytes, &mut repaired.rest);
    lines().for_each(|line| repair.line(line, &mut repaired.bytes, &mut repaired.rest));
    if repair.is_old
        && let Some(migrated) = migrate(&repaired.bytes, random)
    {
        repaired.bytes = migrated;
    }
    Ok(repaired)
}
