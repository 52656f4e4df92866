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
use crate::session::write::repair::plan::Planner;
use crate::session::write::repair::segments::{Segment, segments};

/// A repaired file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The content of the file.
    pub bytes: Vec<u8>,
    /// The bytes without a place in the file, and the previous values of changed fields, in lines.
    pub rest: Vec<u8>,
    /// The steps of the repair for people; can contain text from the file.
    pub steps: Vec<String>,
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

/// Repairs a file. NUL bytes are removed. A file of an old version is then migrated.
///
/// # Errors
/// The file cannot be repaired.
pub fn repair(file: &[u8], known: &KnownHeader, random: &mut dyn FnMut() -> u128) -> Result<Repaired, Unrepairable> {
    let mut planner = Planner::default();
    for (line, number) in lines(file).zip(1..) {
        let split = segments(line);
        split.done.iter().for_each(|done| planner.step(number, done));
        for part in &split.parts {
            if let Segment::Value(value) = part {
                planner.value(number, value, split.done.is_some());
            }
        }
    }
    if let Some(newer) = planner.version.filter(|version| *version > NEWEST) {
        return Err(Unrepairable::Newer(newer));
    }
    if planner.is_empty() {
        return Err(Unrepairable::NoSession);
    }
    let plan = planner.plan(known, random);
    let bytes = Vec::with_capacity(file.len() + 256);
    let mut repaired = Repaired { bytes, rest: plan.rest.clone(), ..Repaired::default() };
    repaired.bytes.extend(plan.header.iter().flat_map(|header| header.iter().chain(iter::once(&b'\n'))));
    let mut at = 0;
    for line in lines(file) {
        for part in segments(line).parts {
            match part {
                Segment::Value(value) => {
                    plan.write(at, &value, (&mut repaired.bytes, &mut repaired.rest));
                    at += 1;
                }
                Segment::Rest(rest) => {
                    repaired.rest.extend_from_slice(&rest);
                    repaired.rest.push(b'\n');
                }
            }
        }
    }
    repaired.steps = plan.steps;
    if let Some(migrated) = migrate(&repaired.bytes, random) {
        repaired.bytes = migrated;
        repaired.steps.push("converted to version 3".into());
    }
    Ok(repaired)
}

/// Returns the lines of a file without their line breaks.
fn lines(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    file.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}
