//! Which sessions and entries have likely secrets, for `is:secret` and `secret:`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A likely secret in a session, without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSecret {
    /// The name of the rule.
    pub rule: String,
    /// The ID of the entry; `None` in the header and in damaged lines.
    pub entry: Option<String>,
}

/// The likely secrets of sessions by file; sessions without secrets are not contained.
#[derive(Debug, Default)]
pub struct KnownSecrets(pub HashMap<PathBuf, Vec<KnownSecret>>);

impl KnownSecrets {
    /// Returns `true` if a rule that `is_wanted` found a secret in a session.
    pub(crate) fn is_in(&self, path: &Path, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.0.get(path).is_some_and(|secrets| secrets.iter().any(|secret| is_wanted(&secret.rule)))
    }

    /// Returns the IDs of all entries with secrets found by a rule that `is_wanted`.
    pub(crate) fn entries(&self, is_wanted: impl Fn(&str) -> bool) -> HashSet<String> {
        let wanted = self.0.values().flatten().filter(|secret| is_wanted(&secret.rule));
        wanted.filter_map(|secret| secret.entry.clone()).collect()
    }
}
