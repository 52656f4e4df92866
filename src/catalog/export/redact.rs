//! Redaction of an export: secrets and personal data, collected in a first pass and replaced in a second.

use std::borrow::Cow;

use crate::base::numbers::{count, thousands};
use crate::disk::{locate, machine};
use crate::export::jsonl;
use crate::export::personal::{KnownPersonalData, PersonalData, PersonalReplacer};
use crate::secrets::{Rules, SecretCollector, SecretReplacer};

/// The second pass.
pub(crate) struct ExportRedactor<'a> {
    /// `None` without redaction.
    secrets: Option<SecretReplacer<'a>>,
    personal: PersonalReplacer,
    /// The entry with the first occurrence of each secret.
    entries: Vec<Option<String>>,
}

/// The first pass.
pub(crate) struct ExportCollector<'a> {
    secrets: Option<SecretCollector<'a>>,
    personal: PersonalReplacer,
    /// The entry with the first occurrence of each secret.
    entries: Vec<Option<String>>,
}

/// A secret in an export, without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSecret {
    /// The mark that replaces it, such as `[github-token 1]`.
    pub mark: String,
    /// At most four characters of it.
    pub sample: String,
    /// The ID of the entry in which it occurs first.
    pub entry: Option<String>,
}

impl<'a> ExportCollector<'a> {
    /// Starts with the IDs and working directories of the sessions. Without `groups`, nothing is redacted.
    pub(crate) fn new(ids: &[String], cwds: Vec<String>, groups: Option<&[PersonalData]>, rules: &'a Rules) -> Self {
        let mut secrets = groups.map(|_| SecretCollector::new(rules));
        secrets.iter_mut().for_each(|secrets| cwds.iter().chain(ids).for_each(|text| secrets.collect(text)));
        let known = KnownPersonalData {
            home: locate::home().to_string_lossy().into_owned(),
            cwds,
            user: machine::user_name(),
            host: machine::host_name(),
        };
        let personal = PersonalReplacer::new(groups.unwrap_or_default(), &known);
        let entries = vec![None; secrets.as_ref().map_or(0, SecretCollector::count)];
        Self { secrets, personal, entries }
    }

    /// Collects the secrets in the line of an entry with this ID.
    pub(crate) fn line(&mut self, line: &[u8], id: Option<&str>) {
        let Some(secrets) = &mut self.secrets else { return };
        jsonl::each_text(line, &mut |key, text| secrets.collect_field(key, text));
        if secrets.count() > self.entries.len() {
            self.entries.resize(secrets.count(), id.map(|id| secrets.mask(id).into_owned()));
        }
    }

    /// Collects the secrets in a text.
    pub(crate) fn text(&mut self, text: &str) {
        let Some(secrets) = &mut self.secrets else { return };
        secrets.collect(text);
        self.entries.resize(secrets.count(), None);
    }

    /// Ends the first pass.
    pub(crate) fn finish(self) -> ExportRedactor<'a> {
        ExportRedactor {
            secrets: self.secrets.map(SecretCollector::finish),
            personal: self.personal,
            entries: self.entries,
        }
    }
}

impl ExportRedactor<'_> {
    /// Returns the secrets that are replaced.
    pub(crate) fn found(&self) -> Vec<ListedSecret> {
        let found = self.secrets.iter().flat_map(SecretReplacer::secrets).zip(&self.entries);
        let listed = found.map(|(secret, entry)| ListedSecret {
            mark: secret.mark().into(),
            sample: secret.sample().into(),
            entry: entry.clone(),
        });
        listed.collect()
    }

    /// Keeps some of the secrets.
    pub(crate) fn keep<'s>(&mut self, kept: impl Iterator<Item = &'s ListedSecret>) {
        if let Some(secrets) = &mut self.secrets {
            kept.for_each(|secret| _ = secrets.keep(&secret.mark));
        }
    }

    /// Redacts the value of a field; `key` can be empty.
    fn field<'t>(&self, key: &str, text: &'t str) -> Cow<'t, str> {
        let Some(secrets) = &self.secrets else { return Cow::Borrowed(text) };
        let text = secrets.apply_field(key, text);
        match self.personal.apply(&text) {
            Cow::Owned(changed) => Cow::Owned(changed),
            Cow::Borrowed(_) => text,
        }
    }

    /// Redacts a text.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.field("", text)
    }

    /// Redacts all texts in the line of an entry.
    pub(crate) fn line(&self, line: &[u8]) -> Vec<u8> {
        if self.secrets.is_none() {
            return line.to_vec();
        }
        jsonl::replace_texts(line, &mut |key, text| match self.field(key, text) {
            Cow::Owned(changed) => Some(changed),
            Cow::Borrowed(_) => None,
        })
    }

    /// Returns what was replaced so far, for the end of an export.
    pub(crate) fn note(&self) -> String {
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
