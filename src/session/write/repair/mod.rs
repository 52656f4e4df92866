//! Repair of damaged session files: pi can open the result, and every byte of the file is in it or in the rest. Unchanged
//! lines keep their bytes. Without I/O.

mod complete;
mod content;
mod known;
mod plan;
mod segments;

use std::borrow::Cow;
use std::iter;

use crate::session::entry::NEWEST;
use crate::session::write::migrate::migrate;
pub use crate::session::write::repair::known::{KnownHeader, Unrepairable};
pub use crate::session::write::repair::plan::RepairSteps;
use crate::session::write::repair::plan::{Plan, Planner};
use crate::session::write::repair::segments::{LineJoiner, Segment, segments};

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

/// The first pass over the lines of a file: collects its IDs and its damage.
#[derive(Debug, Default)]
pub struct Survey {
    planner: Planner,
    joiner: LineJoiner,
    lines: u64,
}

impl Survey {
    /// Adds the next line, without its line break.
    pub fn line(&mut self, line: &[u8]) {
        let Self { planner, joiner, lines } = self;
        joiner.line(line, &mut |line, count| add(planner, lines, line, count));
    }

    /// Plans the repair.
    ///
    /// # Errors
    /// The file cannot be repaired.
    pub fn plan(mut self, known: &KnownHeader, random: &mut dyn FnMut() -> u128) -> Result<Repair, Unrepairable> {
        let Self { planner, joiner, lines } = &mut self;
        joiner.finish(&mut |line, count| add(planner, lines, line, count));
        if let Some(newer) = self.planner.version.filter(|version| *version > NEWEST) {
            return Err(Unrepairable::Newer(newer));
        }
        if self.planner.is_empty() {
            return Err(Unrepairable::NoSession);
        }
        let mut plan = self.planner.plan(known, random)?;
        let is_old = plan.version < NEWEST;
        if is_old {
            plan.steps.listed.insert(0, "converted to version 3".into());
        }
        Ok(Repair { plan, joiner: LineJoiner::default(), at: 0, lines: 0, is_old })
    }
}

/// Adds a line, or an entry with this number of lines, to a plan after `lines` other lines.
fn add(planner: &mut Planner, lines: &mut u64, line: &[u8], count: u64) {
    let first = *lines + 1;
    *lines += count;
    let split = segments(line);
    let done = if count > 1 { Some("joined the lines of an entry with raw line breaks") } else { split.done };
    done.iter().for_each(|done| planner.step(first, done));
    for part in &split.parts {
        match part {
            Segment::Value(value) => planner.value(first, value, (done.is_some(), false)),
            Segment::Completed { value, .. } => planner.value(first, value, (true, true)),
            Segment::Rest(_) => {}
        }
    }
}

/// The second pass over the lines of a file: writes the repaired lines.
#[derive(Debug)]
pub struct Repair {
    plan: Plan,
    joiner: LineJoiner,
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

    /// Appends the repaired form of the next line to the file, and its bytes without a place to the rest. An entry with raw
    /// line breaks follows with its last line.
    pub fn line(&mut self, line: &[u8], file: &mut Vec<u8>, rest: &mut Vec<u8>) {
        let mut joiner = std::mem::take(&mut self.joiner);
        joiner.line(line, &mut |line, count| self.write(line, count, file, rest));
        self.joiner = joiner;
    }

    /// Appends what is left after the last line.
    pub fn finish(&mut self, file: &mut Vec<u8>, rest: &mut Vec<u8>) {
        std::mem::take(&mut self.joiner).finish(&mut |line, count| self.write(line, count, file, rest));
    }

    fn write(&mut self, line: &[u8], count: u64, file: &mut Vec<u8>, rest: &mut Vec<u8>) {
        let first = self.lines + 1;
        self.lines += count;
        for part in segments(line).parts {
            let at = (self.at, first);
            let left: Cow<'_, [u8]> = match part {
                Segment::Value(value) => {
                    self.at += 1;
                    self.plan.write(at, &value, (file, rest));
                    continue;
                }
                Segment::Completed { value, torn, used } => {
                    self.at += 1;
                    // Without the completed entry, all of its bytes go to the rest.
                    let is_dropped = self.plan.is_dropped(at.0);
                    if !is_dropped {
                        self.plan.write(at, &value, (file, rest));
                    }
                    torn[if is_dropped { 0 } else { used }..].to_vec().into()
                }
                Segment::Rest(bytes) => bytes,
            };
            if !left.is_empty() {
                rest.extend_from_slice(&left);
                rest.push(b'\n');
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
    repair.finish(&mut repaired.bytes, &mut repaired.rest);
    if repair.is_old
        && let Some(migrated) = migrate(&repaired.bytes, random)
    {
        repaired.bytes = migrated;
    }
    Ok(repaired)
}
