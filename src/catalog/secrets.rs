//! Secrets in session files and other files. JSON Lines such as session files are decoded line by line, and all strings
//! are searched except data of images and signatures of thinking. Files are processed in parallel.

use std::collections::HashMap;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use crate::catalog::session_results::{SessionResults, read_files};
use crate::disk::files;
use crate::disk::lines::{self, CancelableReader};
use crate::disk::parallel::StopSignal;
use crate::disk::scan::Unreadable;
use crate::search::known_secrets::{KnownSecret, KnownSecrets};
use crate::secrets::{RuleId, Rules, SecretMatch, sample};
use crate::session::json::value::{Fields, Value};
use crate::session::json::{Str, strings};

/// The most bytes of a file that is not a session.
const LARGEST: u64 = 256 * 1024 * 1024;

/// The number of first bytes that show the type of a file.
const HEAD: u64 = 64 * 1024;

/// Fields with random texts that are not secrets, except the ID of the entry itself.
const SKIPPED: [&str; 9] = [
    "thinkingSignature",
    "textSignature",
    "thoughtSignature",
    "signature",
    "encrypted_content",
    "id",
    "parentId",
    "toolCallId",
    "responseId",
];

/// A likely secret in a file. It does not contain the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSecret {
    /// The ID of the entry, if the line has one.
    pub entry_id: Option<String>,
    /// The field in a session file, such as `message.content[0].text`, or the line in another file, such as `line 3`.
    pub place: String,
    /// The rule.
    pub rule: RuleId,
    /// At most four characters of the value.
    pub sample: String,
}

/// Searches files in parallel; `report` gets the number of files done until it returns `false`. Returns the secrets of files
/// with some, and the files that could not be read.
pub fn in_files(
    paths: &[PathBuf],
    rules: &Rules,
    report: impl FnMut(usize) -> bool,
) -> (HashMap<PathBuf, Vec<FoundSecret>>, Vec<Unreadable>) {
    let search = |path: &PathBuf, buffer: &mut Vec<u8>, stop: StopSignal<'_>| {
        Ok((path.clone(), in_file(path, rules, buffer, stop)?))
    };
    let (found, unreadable) = read_files(paths, |path| path, search, report);
    (found.into_iter().filter(|(_, secrets)| !secrets.is_empty()).collect(), unreadable)
}

fn in_file(path: &Path, rules: &Rules, buffer: &mut Vec<u8>, stop: StopSignal<'_>) -> io::Result<Vec<FoundSecret>> {
    let mut file = files::open(path)?;
    let mut head = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut head)?;
    file.rewind()?;
    if !is_json_lines(&head) {
        return in_reader(&mut file, rules);
    }
    let mut found = Vec::new();
    lines::each(&mut CancelableReader(file, || !stop()), 0, u64::MAX, buffer, |line| {
        in_line(line.bytes, rules, &mut found);
        true
    })?;
    Ok(found)
}

/// Returns `true` if a file starts with a line that is a JSON object, as session files do.
fn is_json_lines(head: &[u8]) -> bool {
    let first = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    first.starts_with(b"{") && (first.len() as u64 == HEAD || strings::each(first, |_, _, _| ()).is_ok())
}

/// Returns the secrets of a text such as standard input. Binary data is not searched.
///
/// # Errors
/// The text cannot be read, or is too long.
pub fn in_reader(reader: &mut impl Read, rules: &Rules) -> io::Result<Vec<FoundSecret>> {
    let mut bytes = Vec::new();
    reader.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other("is larger than 256 MB"));
    }
    if bytes[..bytes.len().min(HEAD as usize)].contains(&0) {
        return Ok(Vec::new());
    }
    let text = String::from_utf8_lossy(&bytes);
    let (mut line, mut from) = (1, 0);
    let found = rules.find(&text).into_iter().map(|found| {
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[from..found.range.start]).count();
        from = found.range.start;
        FoundSecret::new(&text, found, format!("line {line}"))
    });
    Ok(found.collect())
}

impl FoundSecret {
    fn new(text: &str, found: SecretMatch, place: String) -> Self {
        let sample = sample(&text[found.range]);
        Self { entry_id: None, place, rule: found.rule, sample }
    }
}

/// Appends the secrets in the strings of a line. A line that is not JSON is searched as text.
fn in_line(line: &[u8], rules: &Rules, found: &mut Vec<FoundSecret>) {
    let start = found.len();
    let is_json = strings::each(line, |path, text, is_key| {
        let is_skipped = || path.key().is_some_and(is_skipped) && path.text() != "id";
        if !is_key && (is_skipped() || strings::is_image(text.raw())) {
            return;
        }
        let text = text.text();
        let findings = match path.name().filter(|_| !is_key) {
            Some(name) => rules.find_in_field(&name, &text),
            None => rules.find(&text),
        };
        found.extend(findings.into_iter().map(|finding| {
            // A key can be a secret.
            FoundSecret::new(&text, finding, rules.mask(&path.text()).into_owned())
        }));
    });
    if is_json.is_err() {
        found.truncate(start);
        let text = String::from_utf8_lossy(line);
        let findings = rules.find(&text).into_iter();
        found.extend(findings.map(|finding| FoundSecret::new(&text, finding, "damaged line".into())));
    } else if found.len() > start {
        let fields = Fields::new(line);
        let is_header = fields.get("type").and_then(Value::str).is_some_and(|kind| kind.is("session"));
        let id = fields.get("id").and_then(Value::str).filter(|_| !is_header);
        let id = id.map(|id| rules.mask(&id.text()).into_owned());
        found[start..].iter_mut().for_each(|secret| secret.entry_id.clone_from(&id));
    }
}

fn is_skipped(key: Str<'_>) -> bool {
    SKIPPED.iter().any(|skipped| key.is(skipped))
}

/// The format version. Increase it also when the search for secrets changes.
const FORM: u32 = 3;

/// The name of the file in the directory of the index.
const NAME: &str = "known.secrets";

/// The rules of the secrets of a session, and the IDs of the entries.
type SessionSecrets = Vec<(String, Option<String>)>;

/// The secrets of all files that were searched, by the fingerprint of the rules; 0 for rules with values of the user.
#[derive(Debug, Default)]
pub struct SecretCache(HashMap<u64, SessionResults<SessionSecrets>>);

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
        let results = self.0.entry(fingerprint).or_insert_with(|| SessionResults::read(place, FORM, fingerprint));
        let search = |path: &PathBuf, known: Option<&SessionSecrets>, buffer: &mut Vec<u8>, stop: StopSignal<'_>| {
            if known.is_some() {
                return Some(None);
            }
            // A file that cannot be read now is searched the next time.
            let found = in_file(path, rules, buffer, stop).ok().filter(|_| !stop())?;
            Some(Some(found.into_iter().map(|found| (found.rule.to_string(), found.entry_id)).collect()))
        };
        let found = results.update(paths, |path| path, search, report)?.into_iter();
        let secret =
            |(rule, entry): &(String, Option<String>)| KnownSecret { rule: rule.clone(), entry: entry.clone() };
        let known = found.filter(|(_, secrets)| !secrets.is_empty());
        Some(KnownSecrets(known.map(|(path, secrets)| (path, secrets.iter().map(secret).collect())).collect()))
    }

    /// Writes the results of searches since the last time, unless the rules have values of the user.
    pub fn save(&mut self, paths: &[PathBuf], rules: &Rules) {
        if let Some(results) = self.0.get_mut(&rules.fingerprint().unwrap_or_default()) {
            results.save(paths.iter());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_of_a_line_are_searched() {
        let token = format!("{}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q");
        let lines = [
            (format!(r#"{{"type":"session","id":"s","cwd":"/home/{token}"}}"#), None, "cwd"),
            (format!(r#"{{"type":"label","id":"l","label":"{token}"}}"#), Some("l"), "label"),
            (format!(r#"{{"type":"custom","id":"c","data":{{"a":["x","\n{token}"]}}}}"#), Some("c"), "data.a[1]"),
            (format!(r#"{{"type":"custom","id":"k","data":{{"{token}":1}}}}"#), Some("k"), "data.[github-token]"),
            (format!(r#"{{"type":"custom","id":"{token}","parentId":"{token}"}}"#), Some("[github-token]"), "id"),
            (format!("damaged {token}"), None, "damaged line"),
        ];
        for (line, id, place) in lines {
            let mut found = Vec::new();
            in_line(line.as_bytes(), Rules::built_in(), &mut found);
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!((found[0].entry_id.as_deref(), &*found[0].place, &*found[0].sample), (id, place, "ghp_"));
        }
    }

    #[test]
    fn images_and_signatures_are_skipped() {
        let token = format!("{}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q");
        let mut found = Vec::new();
        let image = format!("iVBORw0KGgo{}+{token}", "A".repeat(300));
        in_line(
            format!(r#"{{"data":"{image}","thinkingSignature":"{token}"}}"#).as_bytes(),
            Rules::built_in(),
            &mut found,
        );
        assert_eq!(found, []);
    }

    #[test]
    fn texts_have_lines() {
        let token = format!("{}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q");
        let find = |text: &str| in_reader(&mut text.as_bytes(), Rules::built_in()).unwrap();
        let found = find(&format!("a\n{token}\n\n{token}x"));
        assert_eq!(found.iter().map(|found| &*found.place).collect::<Vec<_>>(), ["line 2", "line 4"]);
        assert_eq!(find(&format!("\0{token}")), []);
    }
}

#[cfg(test)]
mod known_secrets_tests {
    use std::fs;

    use super::*;
    use crate::catalog::session_results::key;
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
            secrets.save(&paths, rules);
            let mut found: Vec<_> =
                known.0.into_iter().map(|(path, found)| (path.file_name().unwrap().to_owned(), found)).collect();
            found.sort_by(|one, other| one.0.cmp(&other.0));
            found
        };
        let secret = |rule: &str, entry: &str| KnownSecret { rule: rule.into(), entry: Some(entry.into()) };
        let github = secret("github-token", "1");
        assert_eq!(find(&mut SecretCache::default(), Rules::built_in()), [("a".into(), vec![github.clone()])]);
        // From the file, without reading the session.
        let fingerprint = Rules::built_in().fingerprint().unwrap();
        let mut kept: SessionResults<SessionSecrets> = SessionResults::read(Some(cache.join(NAME)), FORM, fingerprint);
        assert!(!format!("{kept:?}").contains(&token) && !kept.results.is_empty());
        kept.results.get_mut(&key(&path("b"))).unwrap().1.push(("kept".into(), None));
        kept.is_changed = true;
        kept.save(paths.iter());
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
            secrets.save(std::slice::from_ref(&path), &rules);
        }
        assert!(!cache.exists());
        assert!(secrets.find(std::slice::from_ref(&path), (&rules, None), |_, _| false).is_none());
    }
}
