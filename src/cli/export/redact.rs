//! Redaction of an export: secrets and personal data, collected in a first pass and replaced in a second.

use std::borrow::Cow;

use crate::base::numbers::{count, thousands};
use crate::disk::{locate, machine};
use crate::export::jsonl;
use crate::export::personal::{KnownPersonalData, PersonalData, PersonalReplacer};
use crate::secrets::{Redaction, Redactor, Rules};

/// The second pass.
pub(super) struct Redact<'a> {
    /// `None` without redaction.
    secrets: Option<Redactor<'a>>,
    personal: PersonalReplacer,
}

/// The first pass.
pub(super) struct Collector<'a> {
    secrets: Option<Redaction<'a>>,
    personal: PersonalReplacer,
}

impl<'a> Collector<'a> {
    /// Starts with the IDs and working directories of the sessions. Without `groups`, nothing is redacted.
    pub(super) fn new(ids: &[String], cwds: Vec<String>, groups: Option<&[PersonalData]>, rules: &'a Rules) -> Self {
        let mut secrets = groups.map(|_| Redaction::new(rules));
        secrets.iter_mut().for_each(|secrets| cwds.iter().chain(ids).for_each(|text| secrets.collect(text)));
        let known = KnownPersonalData {
            home: locate::home().to_string_lossy().into_owned(),
            cwds,
            user: machine::user_name(),
            host: machine::host_name(),
        };
        Self { secrets, personal: PersonalReplacer::new(groups.unwrap_or_default(), &known) }
    }

    /// Collects the secrets in the line of an entry.
    pub(super) fn line(&mut self, line: &[u8]) {
        let Some(secrets) = &mut self.secrets else { return };
        jsonl::each_text(line, &mut |key, text| match key {
            "" => secrets.collect(text),
            key => secrets.collect_field(key, text),
        });
    }

    /// Ends the first pass.
    pub(super) fn finish(self) -> Redact<'a> {
        Redact { secrets: self.secrets.map(Redaction::finish), personal: self.personal }
    }
}

impl Redact<'_> {
    /// Redacts the value of a field; `key` can be empty.
    fn field<'t>(&self, key: &str, text: &'t str) -> Cow<'t, str> {
        let Some(secrets) = &self.secrets else { return Cow::Borrowed(text) };
        let text = if key.is_empty() { secrets.apply(text) } else { secrets.apply_field(key, text) };
        match self.personal.apply(&text) {
            Cow::Owned(changed) => Cow::Owned(changed),
            Cow::Borrowed(_) => text,
        }
    }

    /// Redacts a text.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.field("", text)
    }

    /// Redacts all texts in the line of an entry.
    pub(super) fn line(&self, line: &[u8]) -> Vec<u8> {
        if self.secrets.is_none() {
            return line.to_vec();
        }
        jsonl::replace_texts(line, &mut |key, text| match self.field(key, text) {
            Cow::Owned(changed) => Some(changed),
            Cow::Borrowed(_) => None,
        })
    }

    /// Returns what was replaced so far, for the end of an export.
    pub(super) fn note(&self) -> String {
        let Some(secrets) = &self.secrets else {
            return "Redaction was off: the export can contain secrets.".into();
        };
        let found: Vec<(String, usize, u64)> =
            secrets.counts().map(|(rule, values, places)| (rule.as_str().to_owned(), values, places)).collect();
        let values = found.iter().map(|(_, values, _)| values).sum::<usize>();
        let places = found.iter().map(|(.., places)| places).sum::<u64>();
        let kinds: Vec<String> = found.iter().map(|(rule, values, _)| format!("{values} {rule}")).collect();
        let mut note = match values {
            0 => "Redaction found no likely secrets.".to_owned(),
            _ => format!(
                "Redaction replaced {} in {} ({}).",
                count(values, "likely secret", "likely secrets"),
                count(places as usize, "place", "places"),
                kinds.join(", ")
            ),
        };
        let personal = self.personal.counts();
        if !personal.is_empty() {
            let kinds = personal.iter().map(|(kind, places)| format!("{} × {kind}", thousands(*places as usize)));
            note += &format!(" Personal data replaced: {}.", kinds.collect::<Vec<_>>().join(", "));
        }
        note + " Rules cannot find every secret, and images are not checked: read the export before you share it."
    }
}
