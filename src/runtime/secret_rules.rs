//! The rules that find secrets, built-in and of the configuration; and searches of sessions for likely secrets, for queries
//! that need them and for the card.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};

use crate::catalog::search::SearchedSession;
use crate::catalog::secrets::SecretCache;
use crate::config::{RedactConfig, ValueSource};
use crate::disk::program;
use crate::search::known_secrets::KnownSecrets;
use crate::secrets::Rules;

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
        // Values of the user can need a password.
        let rules = if with_values { ChosenRules::new(config)? } else { ChosenRules::with(config, Vec::new())? };
        Ok(self.rules.entry(with_values).or_insert(Arc::new(rules)).clone())
    }
}

/// The built-in rules, or those with the user's.
#[derive(Debug)]
pub(crate) struct ChosenRules(Option<Rules>);

impl Deref for ChosenRules {
    type Target = Rules;

    fn deref(&self) -> &Rules {
        self.0.as_ref().unwrap_or_else(|| Rules::built_in())
    }
}

impl ChosenRules {
    /// Keeps the rules until the process ends, for changes that outlive their caller.
    pub(crate) fn for_process(self) -> &'static Rules {
        self.0.map_or_else(Rules::built_in, |rules| Box::leak(Box::new(rules)))
    }

    /// Returns the rules of a configuration. Reads the user's values from variables and commands.
    ///
    /// # Errors
    /// A command failed.
    pub(crate) fn new(config: &RedactConfig) -> Result<Self> {
        let limit = Duration::from_secs(config.seconds);
        let value = |source: &ValueSource| match source {
            ValueSource::Variable(name) => Ok(program::variable(name)),
            ValueSource::Command(command) => match command.split_first() {
                Some((program, arguments)) => program::read(program, arguments, limit).map(Some),
                None => Ok(None),
            },
        };
        let values = config.values.iter().map(value).collect::<Result<Vec<_>, _>>();
        let values = values.map_err(|error| anyhow!("{error}; check redact.values in config.toml"))?;
        Self::with(config, values.into_iter().flatten().filter(|value| !value.trim().is_empty()).collect())
    }

    fn with(config: &RedactConfig, values: Vec<String>) -> Result<Self> {
        config.own_rules(values).map(Self).map_err(anyhow::Error::msg)
    }
}
