//! Repair of a file in memory.

use pitree::session::write::migrate::migrate;
use pitree::session::write::repair::{KnownHeader, RepairSteps, Survey, Unrepairable};

/// A repaired file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repaired {
    /// The content of the file.
    pub(crate) bytes: Vec<u8>,
    /// The bytes without a place in the file, and the previous values of changed fields, in lines.
    pub(crate) rest: Vec<u8>,
    /// The steps of the repair for people.
    pub(crate) steps: RepairSteps,
}

/// Repairs a file in memory. NUL bytes are removed. A file of an old version is then migrated.
pub(crate) fn repair(
    file: &[u8],
    known: &KnownHeader,
    random: &mut dyn FnMut() -> u128,
) -> Result<Repaired, Unrepairable> {
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
