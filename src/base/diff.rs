//! Line diffs.

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};

/// Returns the edits that turn the old lines into the new ones. Uses one algorithm of `similar` for one type, because each
/// instance adds much code.
pub(crate) fn diff(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut found, old, 0..old.len(), new, 0..new.len());
    found.into_inner().into_inner().into_ops()
}
