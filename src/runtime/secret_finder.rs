//! Searches of sessions for likely secrets, for queries that need them and for the card.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use crate::catalog::search::SearchedSession;
use crate::catalog::secrets::SecretCache;
use crate::config::RedactConfig;
use crate::runtime::chosen_rules::ChosenRules;
use crate::search::known_secrets::KnownSecrets;

/// Finds secrets, and keeps what it found and the rules.
#[derive(Debug, Default)]
pub struct SecretFinder {
    cache: SecretCache,
    /// The rules without and with values of the user, once they were needed.
    rules: HashMap<bool, Arc<ChosenRules>>,
}

impl SecretFinder {
    /// Returns the secrets of sessions. Searches new and changed sessions; `report` gets their number so far, and the
    /// number of all. Returns `None` if `report` returned `false`.
    ///
    /// # Errors
    /// A command for a value to redact failed.
    pub(crate) fn find(
        &mut self,
        sessions: &[SearchedSession],
        (config, index_dir): (&RedactConfig, Option<&Path>),
        report: impl FnMut(usize, usize) -> bool,
    ) -> Result<Option<KnownSecrets>> {
        let rules = self.rules(config, true)?;
        let paths: Vec<PathBuf> = sessions.iter().map(|session| session.digest.file_path()).collect();
        let found = self.cache.find(&paths, (&rules, index_dir), report);
        self.cache.save(&paths, &rules);
        Ok(found)
    }

    /// Counts the likely secrets of a session, without the values of the user. Returns `None` once it is not wanted. The
    /// next query writes the result.
    ///
    /// # Errors
    /// A regular expression of the configuration is invalid.
    pub(super) fn count(
        &mut self,
        path: PathBuf,
        (config, index_dir): (&RedactConfig, Option<&Path>),
        is_wanted: impl Fn() -> bool,
    ) -> Result<Option<usize>> {
        let rules = self.rules(config, false)?;
        let found = self.cache.find(&[path], (&rules, index_dir), |_, _| is_wanted());
        Ok(found.map(|found| found.0.values().map(Vec::len).sum()))
    }

    /// Returns the rules of the configuration. Commands for values of the user run only once.
    fn rules(&mut self, config: &RedactConfig, with_values: bool) -> Result<Arc<ChosenRules>> {
        if let Some(rules) = self.rules.get(&with_values) {
            return Ok(rules.clone());
        }
        let rules = if with_values { ChosenRules::new(config)? } else { ChosenRules::without_values(config)? };
        Ok(self.rules.entry(with_values).or_insert(Arc::new(rules)).clone())
    }
}
