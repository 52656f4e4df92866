//! The rules that find secrets: the built-in ones, and those of the configuration.

use std::ops::Deref;
use std::time::Duration;

use anyhow::{Result, anyhow};

use crate::config::{RedactConfig, ValueSource};
use crate::disk::program;
use crate::secrets::Rules;

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

    /// Returns the rules of a configuration without the user's values, which can need a password.
    ///
    /// # Errors
    /// A regular expression is invalid.
    pub(crate) fn without_values(config: &RedactConfig) -> Result<Self> {
        Self::with(config, Vec::new())
    }

    fn with(config: &RedactConfig, values: Vec<String>) -> Result<Self> {
        if values.is_empty() && config.rules.is_empty() && config.allow.is_empty() {
            return Ok(Self(None));
        }
        Rules::with(config.custom_rules(values)).map(|rules| Self(Some(rules))).map_err(anyhow::Error::msg)
    }
}
