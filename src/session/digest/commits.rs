//! The commits that shell commands of a session printed.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::javascript::utf16_prefix;
use crate::base::text::clean;
use crate::session::entry::{Entry, EntryId, Message, ToolCall};
use crate::session::json::Str;
use crate::session::links::{ById, EntryIndex, IdHash};
use crate::session::replay::commits::{GitUse, LENGTHS, SUBCOMMANDS, is_sha};

/// The maximum number of commits of a session: the output of commands can contain anything.
const MAX_COMMITS: usize = 1000;

/// The maximum length of a branch and of a title, in UTF-16 code units.
const UNITS: usize = 100;

/// A commit that a shell command printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestCommit {
    /// The entry with the output of the command.
    pub entry: EntryId,
    /// The index of the entry in the file.
    pub at: EntryIndex,
    /// The time of the entry, in milliseconds since 1970.
    pub time: Option<i64>,
    /// The abbreviated hash, of 7 to 40 hexadecimal digits.
    pub sha: Box<str>,
    /// The branch, if git printed it.
    pub branch: Option<Box<str>>,
    /// The start of the first line of the message.
    pub title: Box<str>,
}

/// The beginning of the hash of a commit, of 7 to 40 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitPrefix(Box<str>);

impl CommitPrefix {
    /// Parses a prefix. Returns `None` if it is too short.
    ///
    /// # Errors
    /// The text is no prefix of a hash.
    pub fn read(text: &str) -> Result<Option<Self>, String> {
        let sha = text.to_ascii_lowercase();
        match () {
            () if is_sha(&sha) => Ok(Some(Self(sha.into()))),
            () if sha.len() < *LENGTHS.start() && sha.bytes().all(|byte| byte.is_ascii_hexdigit()) => Ok(None),
            () => Err(format!("expected {} to {} hexadecimal digits", LENGTHS.start(), LENGTHS.end())),
        }
    }

    /// Returns the digits in lower case.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns `true` if an abbreviated hash can be that of the commit: git prints abbreviations of different lengths.
    pub fn is_of(&self, sha: &str) -> bool {
        sha.starts_with(&*self.0) || self.0.starts_with(sha)
    }

    /// Returns `true` if each commit with this prefix also has the other one.
    pub(crate) fn extends(&self, other: &Self) -> bool {
        self.0.starts_with(&*other.0)
    }
}

impl fmt::Display for CommitPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the commits that an entry printed; `commits` are those of its session.
pub fn commits_at(commits: &[DigestCommit], at: EntryIndex) -> &[DigestCommit] {
    let start = commits.partition_point(|commit| commit.at < at);
    let end = start + commits[start..].partition_point(|commit| commit.at == at);
    &commits[start..end]
}

/// Collects commits from the entries of a file, in file order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CommitCollector {
    /// The calls that can print commits and have no result yet.
    calls: ById<GitUse>,
    commits: Vec<DigestCommit>,
}

impl CommitCollector {
    /// Adds a call of an assistant.
    pub(crate) fn call(&mut self, call: &ToolCall<'_>) {
        if let Some(uses) = git_use(call).filter(|_| self.commits.len() < MAX_COMMITS) {
            self.calls.insert(IdHash::of(call.id), uses);
        }
    }

    /// Adds the result of a call in the entry `at`. The output of nested calls is a part of the result. A failed command
    /// can have committed before.
    pub(crate) fn answer(&mut self, at: EntryIndex, time: Option<i64>, entry: &Entry<'_>) {
        let Some(message) = &entry.message else { return };
        let called = match (self.calls.is_empty(), message.tool_call_id) {
            (false, Some(call)) => self.calls.remove(&IdHash::of(call)),
            _ => None,
        };
        let uses = called.or_else(|| message.nested_calls().find_map(|nested| git_use(&nested.call)));
        if let Some(uses) = uses {
            self.output(at, time, entry, (uses, &message.content.text("\n")));
        }
    }

    /// Adds a command of the user.
    pub(crate) fn command(&mut self, at: EntryIndex, time: Option<i64>, entry: &Entry<'_>) {
        let Some(Message { command: Some(command), output: Some(output), .. }) = &entry.message else { return };
        if let Some(uses) = script_use(*command) {
            self.output(at, time, entry, (uses, &output.text()));
        }
    }

    fn output(&mut self, at: EntryIndex, time: Option<i64>, entry: &Entry<'_>, (uses, output): (GitUse, &str)) {
        let room = MAX_COMMITS.saturating_sub(self.commits.len());
        let start = |text: &str| -> Box<str> { clean(utf16_prefix(text, UNITS)).into() };
        let id = || entry.id.map_or(EntryId::Place(at), |id| EntryId::Id(id.owned()));
        let commits = uses.commits(output).take(room).map(|commit| DigestCommit {
            entry: id(),
            at,
            time,
            sha: commit.sha.into(),
            branch: commit.branch.map(start),
            title: start(commit.title),
        });
        self.commits.extend(commits);
    }

    /// Returns the commits, in file order.
    pub(crate) fn finish(mut self) -> Vec<DigestCommit> {
        self.commits.shrink_to_fit();
        self.commits
    }
}

/// Returns the commands of a shell call that print commits.
fn git_use(call: &ToolCall<'_>) -> Option<GitUse> {
    call.script().and_then(script_use)
}

fn script_use(script: Str<'_>) -> Option<GitUse> {
    // Most commands are sorted out without decoding them; JSON does not escape letters.
    let mentions = |word: &str| memchr::memmem::find(script.raw(), word.as_bytes()).is_some();
    let may_print = mentions("git") && SUBCOMMANDS.iter().any(|word| mentions(word));
    may_print.then(|| GitUse::of(&script.text())).filter(|uses| uses.prints())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::session::entry::parse;

    fn collected(lines: &[serde_json::Value]) -> Vec<DigestCommit> {
        let mut all = CommitCollector::default();
        for (at, line) in (0..).zip(lines) {
            let line = line.to_string();
            let entry = parse::line(line.as_bytes()).unwrap().unwrap();
            let message = entry.message.as_ref().unwrap();
            match line.contains("bashExecution") {
                true => all.command(at, Some(7), &entry),
                false => {
                    message.content.tool_calls().for_each(|call| all.call(call));
                    all.answer(at, Some(7), &entry);
                }
            }
        }
        all.finish()
    }

    fn call(id: &str, command: &str) -> serde_json::Value {
        json!({"type": "message", "id": format!("{id}a"), "message": {"role": "assistant", "content": [
            {"type": "toolCall", "id": id, "name": "bash", "arguments": {"command": command}},
        ]}})
    }

    fn result(id: &str, output: &str) -> serde_json::Value {
        json!({"type": "message", "id": format!("{id}r"), "message": {"role": "toolResult", "toolCallId": id,
            "toolName": "bash", "isError": true, "content": [{"type": "text", "text": output}]}})
    }

    #[test]
    fn commits_come_from_results_of_commands_that_commit() {
        let nested = json!({"type": "message", "id": "n", "message": {"role": "toolResult", "toolCallId": "x",
            "toolName": "codemode", "content": [{"type": "text", "text": "[main 89abcde] C"}], "nestedCalls": {"calls": [
            {"name": "bash", "arguments": {"command": "git commit -m C"}, "status": "ok"}]}}});
        let user = json!({"type": "message", "id": "u", "message": {"role": "bashExecution",
            "command": "git commit -m D", "output": "[detached HEAD fedcba9] D\u{1b}[1m", "exitCode": 0}});
        let found = collected(&[
            call("1", "git commit -m A && false"),
            result("1", "[main 1a2b3c4] A"),
            call("2", "cat log"),
            result("2", "[main 1a2b3c5] B"),
            nested,
            user,
        ]);
        let entry = |id: &str| EntryId::Id(id.into());
        let of = |id: &str, at, sha: &str, branch: Option<&str>, title: &str| DigestCommit {
            entry: entry(id),
            at,
            time: Some(7),
            sha: sha.into(),
            branch: branch.map(Into::into),
            title: title.into(),
        };
        assert_eq!(
            found,
            [
                of("1r", 1, "1a2b3c4", Some("main"), "A"),
                of("n", 4, "89abcde", Some("main"), "C"),
                of("u", 5, "fedcba9", None, "D␛[1m"),
            ]
        );
        assert_eq!(commits_at(&found, 4).len(), 1);
        assert!(commits_at(&found, 2).is_empty() && commits_at(&found, 9).is_empty());
    }

    #[test]
    fn hostile_output_is_limited() {
        let line = format!("[main 1a2b3c4] {}\n", "\u{1f600}".repeat(500));
        let found = collected(&[call("1", "git commit"), result("1", &line.repeat(2 * MAX_COMMITS))]);
        assert_eq!(found.len(), MAX_COMMITS);
        assert!(found.iter().all(|commit| commit.title.encode_utf16().count() <= UNITS));
        assert!(collected(&[call("1", "git commit"), result("2", &line)]).is_empty(), "the result of another call");
    }

    #[test]
    fn prefixes_match_in_both_directions() {
        let prefix = |text: &str| CommitPrefix::read(text).unwrap().unwrap();
        assert!(prefix("1A2B3C4").is_of("1a2b3c4d") && prefix("1a2b3c4d5e").is_of("1a2b3c4"));
        assert!(!prefix("1a2b3c5").is_of("1a2b3c4"));
        assert!(prefix("1a2b3c4d").extends(&prefix("1a2b3c4")) && !prefix("1a2b3c4").extends(&prefix("1a2b3c4d")));
        assert_eq!(CommitPrefix::read("1a2b"), Ok(None));
        assert!(CommitPrefix::read("main").is_err() && CommitPrefix::read(&"a".repeat(41)).is_err());
    }
}
