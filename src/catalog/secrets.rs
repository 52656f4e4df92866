//! Secrets in session files and other files. JSON Lines such as session files are decoded line by line, and all strings
//! are searched except data of images and signatures of thinking. Files are processed in parallel.

use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use crate::disk::files;
use crate::disk::lines::{self, CancelableReader};
use crate::disk::parallel::{self, StopSignal};
use crate::disk::scan::Unreadable;
use crate::secrets::{Finding, RuleId, Rules, sample};
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

/// The secrets of a file, or the reason why it could not be read.
pub type FileSecrets = (PathBuf, Result<Vec<FoundSecret>, Unreadable>);

/// Searches files in parallel, and reports the results in batches until `report` returns `false`. The files of a batch are
/// in any order.
pub fn each(paths: &[PathBuf], rules: &Rules, mut report: impl FnMut(Vec<FileSecrets>, usize) -> bool) {
    let work = |path: &PathBuf, buffer: &mut Vec<u8>, stop: StopSignal<'_>| {
        let found = in_file(path, rules, buffer, stop).map_err(|error| Unreadable::new(path, &error));
        found.as_ref().map_or(true, |found| !found.is_empty()).then(|| (path.clone(), found))
    };
    let lost = |path: &PathBuf, reason: String| Some((path.clone(), Err(Unreadable::new(path, &reason))));
    parallel::each(paths, (work, lost), &mut report);
}

pub(super) fn in_file(
    path: &Path,
    rules: &Rules,
    buffer: &mut Vec<u8>,
    stop: StopSignal<'_>,
) -> io::Result<Vec<FoundSecret>> {
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
    fn new(text: &str, found: Finding, place: String) -> Self {
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
