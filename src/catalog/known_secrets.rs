//! The likely secrets of sessions, searched for once in each version of a file. They are kept next to the index, without
//! their values, as long as the rules are the same.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::catalog::secrets::{self, FoundSecret};
use crate::catalog::session_results::{forget_others, key, read, version, write};
use crate::disk::parallel::{self, StopSignal};
use crate::search::known_secrets::{KnownSecret, KnownSecrets};
use crate::secrets::Rules;

/// The format version. Increase it also when the search for secrets changes.
const FORM: u32 = 2;

/// The name of the file in the directory of the index.
const NAME: &str = "known.secrets";

/// The secrets of a version of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SearchedFile {
    version: u64,
    /// The rules, and the IDs of the entries.
    secrets: Vec<(String, Option<String>)>,
}

/// The searched files, by the hash of the path.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    form: u32,
    /// The fingerprint of the rules.
    rules: u64,
    files: HashMap<u64, SearchedFile>,
    /// `true` if it differs from its file.
    #[serde(skip)]
    is_changed: bool,
}

/// The secrets of all files that were searched, by the fingerprint of the rules; 0 for rules with values of the user.
#[derive(Debug, Default)]
pub struct SecretCache(HashMap<u64, Content>);

impl SecretCache {
    /// Returns the secrets of sessions. Searches files that are new or have changed; `report` gets their number so far,
    /// and the number of all sessions. Returns `None` if it returned `false`. `cache` is the directory of the index, where
    /// [`save`](Self::save) writes the results.
    pub fn find(
        &mut self,
        paths: &[PathBuf],
        (rules, cache): (&Rules, Option<&Path>),
        report: impl FnMut(usize, usize) -> bool,
    ) -> Option<KnownSecrets> {
        // Rules with values of the user are not written anywhere, not even as a hash.
        let place = cache.filter(|_| rules.fingerprint().is_some()).map(|cache| cache.join(NAME));
        let fingerprint = rules.fingerprint().unwrap_or_default();
        let content = self.0.entry(fingerprint).or_insert_with(|| {
            let read = place
                .as_deref()
                .and_then(read::<Content>)
                .filter(|kept| (kept.form, kept.rules) == (FORM, fingerprint));
            read.unwrap_or_else(|| Content { form: FORM, rules: fingerprint, ..Content::default() })
        });
        content.search(paths, rules, report).then(|| content.known(paths))
    }

    /// Writes the results of searches since the last time, unless the rules have values of the user.
    pub fn save(&mut self, paths: &[PathBuf], (rules, cache): (&Rules, Option<&Path>)) {
        let (Some(fingerprint), Some(cache)) = (rules.fingerprint(), cache) else { return };
        if let Some(content) = self.0.get_mut(&fingerprint).filter(|content| content.is_changed) {
            forget_others(&mut content.files, paths.iter());
            // If it cannot be written, the files are searched again.
            content.is_changed = write(&cache.join(NAME), content).is_err();
        }
    }
}

impl Content {
    /// Searches files that are new or have changed. Returns `false` if `report` did.
    fn search(&mut self, paths: &[PathBuf], rules: &Rules, mut report: impl FnMut(usize, usize) -> bool) -> bool {
        let files = &self.files;
        let work = |path: &PathBuf, buffer: &mut Vec<u8>, stop: StopSignal<'_>| {
            let version = version(path)?;
            let key = key(path);
            if files.get(&key).is_some_and(|known| known.version == version) {
                return None;
            }
            // A file that cannot be read now is searched the next time.
            let found = secrets::in_file(path, rules, buffer, stop).ok().filter(|_| !stop())?;
            let secret = |found: FoundSecret| (found.rule.to_string(), found.entry_id);
            Some((key, SearchedFile { version, secrets: found.into_iter().map(secret).collect() }))
        };
        let (mut is_complete, mut new) = (true, Vec::new());
        parallel::each(paths, (work, |_: &PathBuf, _| None), |batch, done| {
            new.extend(batch);
            is_complete = report(done, paths.len());
            is_complete
        });
        self.is_changed |= !new.is_empty();
        self.files.extend(new);
        is_complete
    }

    fn known(&self, paths: &[PathBuf]) -> KnownSecrets {
        let known = paths.iter().filter_map(|path| {
            let found = self.files.get(&key(path)).filter(|found| !found.secrets.is_empty())?;
            let secret =
                |(rule, entry): &(String, Option<String>)| KnownSecret { rule: rule.clone(), entry: entry.clone() };
            Some((path.clone(), found.secrets.iter().map(secret).collect()))
        });
        KnownSecrets(known.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::secrets::CustomRules;

    #[test]
    fn files_are_searched_once_in_each_version() {
        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path().join("cache");
        let path = |name: &str| dir.path().join(name);
        let token = format!("{}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q");
        let line = |id: &str, text: &str| format!("{{\"type\":\"custom\",\"id\":\"{id}\",\"data\":\"{text}\"}}\n");
        let header = "{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/\"}\n";
        fs::write(path("a"), header.to_owned() + &line("1", &token)).unwrap();
        fs::write(path("b"), header.to_owned() + &line("1", "nothing")).unwrap();
        let paths = [path("a"), path("b"), path("gone")];
        let find = |secrets: &mut SecretCache, rules: &Rules| {
            let known = secrets.find(&paths, (rules, Some(&cache)), |_, _| true).unwrap();
            secrets.save(&paths, (rules, Some(&cache)));
            let mut found: Vec<_> =
                known.0.into_iter().map(|(path, found)| (path.file_name().unwrap().to_owned(), found)).collect();
            found.sort_by(|one, other| one.0.cmp(&other.0));
            found
        };
        let secret = |rule: &str, entry: &str| KnownSecret { rule: rule.into(), entry: Some(entry.into()) };
        let github = secret("github-token", "1");
        assert_eq!(find(&mut SecretCache::default(), Rules::built_in()), [("a".into(), vec![github.clone()])]);
        // From the file, without reading the session.
        let kept: Content = read(&cache.join(NAME)).unwrap();
        assert!(!format!("{kept:?}").contains(&token));
        let mut marked = kept;
        marked.files.get_mut(&key(&path("b"))).unwrap().secrets.push(("kept".into(), None));
        write(&cache.join(NAME), &marked).unwrap();
        let found = find(&mut SecretCache::default(), Rules::built_in());
        assert_eq!(found[1], ("b".into(), vec![KnownSecret { rule: "kept".into(), entry: None }]));
        // A new version, and other rules.
        fs::write(path("b"), header.to_owned() + &line("2", &token)).unwrap();
        let both = [("a".into(), vec![github]), ("b".into(), vec![secret("github-token", "2")])];
        assert_eq!(find(&mut SecretCache::default(), Rules::built_in()), both);
        let own = CustomRules { rules: vec![("own".into(), "nothing".into(), Vec::new())], ..CustomRules::default() };
        let before = fs::read(cache.join(NAME)).unwrap();
        assert_eq!(find(&mut SecretCache::default(), &Rules::with(own).unwrap()).len(), 2);
        assert_ne!(fs::read(cache.join(NAME)).unwrap(), before);
    }

    #[test]
    fn values_of_the_user_leave_no_trace() {
        let dir = tempfile::tempdir().unwrap();
        let (cache, path) = (dir.path().join("cache"), dir.path().join("a"));
        fs::write(&path, "{\"type\":\"session\",\"id\":\"s\"}\n{\"id\":\"1\",\"data\":\"it is Tr0ub4dor&3\"}\n")
            .unwrap();
        let rules = Rules::with(CustomRules { values: vec!["Tr0ub4dor&3".into()], ..CustomRules::default() }).unwrap();
        let mut secrets = SecretCache::default();
        for _ in 0..2 {
            let known = secrets.find(std::slice::from_ref(&path), (&rules, Some(&cache)), |_, _| true).unwrap();
            assert_eq!(known.0[&path].len(), 1);
            secrets.save(std::slice::from_ref(&path), (&rules, Some(&cache)));
        }
        assert!(!cache.exists());
        assert!(secrets.find(std::slice::from_ref(&path), (&rules, None), |_, _| false).is_none());
    }
}
