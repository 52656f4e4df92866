//! How two lists of lines differ.

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};

/// What leads from the old lines to the new ones. Only this one algorithm of the crate, and for one type: each is large.
pub(crate) fn diff(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut found, old, 0..old.len(), new, 0..new.len());
    found.into_inner().into_inner().into_ops()
}
