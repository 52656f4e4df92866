//! Repair of damaged session files: pi can open the result, and every byte of the file is in it or in the rest. Unchanged
//! lines keep their bytes. Without I/O.

mod fields;
mod plan;
mod segments;

use crate::session::entry::NEWEST;
pub use crate::session::write::repair::fields::{KnownHeader, Unrepairable};
pub use crate::session::write::repair::plan::RepairSteps;
use crate::session::write::repair::plan::{Plan, Planner};
use crate::session::write::repair::segments::LineJoiner;

/// The first pass over the lines of a file: collects its IDs and its damage.
#[derive(Debug, Default)]
pub struct Survey {
    planner: Planner,
    joiner: LineJoiner,
}

impl Survey {
    /// Adds the next line, without its line break.
    pub fn line(&mut self, line: &[u8]) {
        self.joiner.line(line, &mut |line, count| self.planner.line(line, count));
    }

    /// Plans the repair.
    ///
    /// # Errors
    /// The file cannot be repaired.
    pub fn plan(self, known: &KnownHeader, random: &mut dyn FnMut() -> u128) -> Result<Repair, Unrepairable> {
        let Self { mut planner, mut joiner } = self;
        joiner.finish(&mut |line, count| planner.line(line, count));
        let mut plan = planner.plan(known, random)?;
        let is_old = plan.version < NEWEST;
        if is_old {
            plan.steps.listed.insert(0, "converted to version 3".into());
        }
        Ok(Repair { plan, joiner, is_old })
    }
}

/// The second pass over the lines of a file: writes the repaired lines.
#[derive(Debug)]
pub struct Repair {
    plan: Plan,
    joiner: LineJoiner,
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
        file.extend_from_slice(&self.plan.header);
        rest.extend_from_slice(&self.plan.rest);
    }

    /// Appends the repaired form of the next line to the file, and its bytes without a place to the rest. An entry with raw
    /// line breaks follows with its last line.
    pub fn line(&mut self, line: &[u8], file: &mut Vec<u8>, rest: &mut Vec<u8>) {
        self.joiner.line(line, &mut |line, count| self.plan.line(line, count, file, rest));
    }

    /// Appends what is left after the last line.
    pub fn finish(&mut self, file: &mut Vec<u8>, rest: &mut Vec<u8>) {
        self.joiner.finish(&mut |line, count| self.plan.line(line, count, file, rest));
    }
}
