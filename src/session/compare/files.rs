//! The files of two branches: files that only one branch touched, and the differences of files that both changed. The
//! contents of a file are known only from calls of `write` and `edit`: after a whole text was written, as long as the
//! following edits fit. Commands may also change files; these changes are not detected.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Serialize, Serializer};
use similar::group_diff_ops;

use crate::base::diff::diff;
use crate::base::safe_json::object;
use crate::session::digest::touched_files::FileUses;
use crate::session::entry::tool_call::{NestedCall, Touch, touched};
use crate::session::entry::{Message, ToolCall};
use crate::session::json::value::Fields;
use crate::session::links::{ById, IdHash};
use crate::session::replay::edit::{pieces as pieces_of, replaced};

/// The maximum number of bytes kept of what a branch wrote. Beyond it, the texts of files are unknown.
const MOST: usize = 16 * 1024 * 1024;

/// The maximum number of lines to compare. The cost grows with the number of lines times the number of differences.
const MAX_LINES: usize = 5_000;

/// The number of unchanged lines around a difference.
const CONTEXT: usize = 3;

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// Writes a whole text.
    Write(String),
    /// Replaces pieces: each old text, which occurs once, by a new one.
    #[serde(serialize_with = "pieces")]
    Edit(Vec<(String, String)>),
    /// An unknown change: it is too large, or the call has no text.
    #[serde(serialize_with = "is_so")]
    Unknown,
}

fn pieces<S: Serializer>(pieces: &[(String, String)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(pieces.iter().map(|(old, new)| object! { old, new }))
}

fn is_so<S: Serializer>(to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bool(true)
}

/// A file of one branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideFile {
    /// The number of uses.
    pub uses: FileUses,
    /// The changes since a whole text was last written.
    pub changes: Vec<FileChange>,
}

/// A file that both branches touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonFile {
    /// The path.
    pub path: String,
    /// The uses by each branch.
    pub uses: [FileUses; 2],
    /// The difference of the results, if both changed the file.
    pub difference: Option<Difference>,
}

/// The difference of a file between two branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The texts are equal.
    None,
    /// A unified diff from the first to the second text.
    Unified(String),
    /// The texts are known but too long to compare; their line counts.
    TooLong([usize; 2]),
    /// The whole text is unknown on at least one side.
    Apart([SeparateChanges; 2]),
}

/// The known changes of one side if the whole text is not known on both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeparateChanges {
    /// `true` if the whole text is known on this side.
    pub is_whole: bool,
    /// The changes since the last whole text.
    pub changes: Vec<FileChange>,
}

/// The files of two branches, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedFiles {
    /// Files that only one branch touched.
    pub only: [Vec<(String, FileUses)>; 2],
    /// Files that both branches touched.
    pub both: Vec<CommonFile>,
}

/// Collects the file changes of tools from the entries of a branch, in order.
pub struct FilesCollector<'n> {
    /// Returns the name that identifies a file on both sides.
    name: &'n dyn Fn(&str) -> String,
    /// The files by path.
    pub files: BTreeMap<String, SideFile>,
    /// The calls without a result so far.
    calls: ById<(String, Touch, Option<FileChange>)>,
    room: usize,
}

impl<'n> FilesCollector<'n> {
    /// Creates an empty collector. `name` converts a path of a tool call to the name that identifies the file on both
    /// sides.
    pub fn new(name: &'n dyn Fn(&str) -> String) -> Self {
        Self { name, files: BTreeMap::new(), calls: ById::default(), room: MOST }
    }

    /// Adds the calls of an assistant message.
    pub fn add_calls(&mut self, message: &Message<'_>) {
        for call in message.content.tool_calls() {
            if let Some(known) = self.call(call) {
                self.calls.insert(IdHash::of(call.id), known);
            }
        }
    }

    /// Adds the result of a call and the nested calls of the tool. Failed calls have no effect.
    pub fn add_result(&mut self, message: &Message<'_>) {
        let call = self.calls.remove(&IdHash::of(message.tool_call_id.unwrap_or_default()));
        if let Some(call) = call.filter(|_| !message.is_error) {
            self.done(call);
        }
        for NestedCall { call, is_unfinished, error } in message.nested_calls() {
            if let Some(call) = self.call(&call).filter(|_| !is_unfinished && error.is_none()) {
                self.done(call);
            }
        }
    }

    fn call(&mut self, call: &ToolCall<'_>) -> Option<(String, Touch, Option<FileChange>)> {
        let (path, touch) = touched(call)?;
        Some(((self.name)(&path), touch, self.change(touch, call)))
    }

    /// Returns the change that a call makes to its file.
    fn change(&mut self, touch: Touch, call: &ToolCall<'_>) -> Option<FileChange> {
        if touch == Touch::Read {
            return None;
        }
        let Some(room) = self.room.checked_sub(call.arguments.len()) else { return Some(FileChange::Unknown) };
        self.room = room;
        let args = Fields::new(call.arguments);
        let change = match touch {
            Touch::Write => args.get("content").map(|content| FileChange::Write(content.text().into_owned())),
            _ => pieces_of(&args).map(FileChange::Edit),
        };
        Some(change.unwrap_or(FileChange::Unknown))
    }

    fn done(&mut self, (path, touch, change): (String, Touch, Option<FileChange>)) {
        let file = self.files.entry(path).or_default();
        file.uses.add(touch);
        if touch == Touch::Write {
            file.changes.clear();
        }
        file.changes.extend(change);
    }
}

/// Returns the whole text of a file after some changes, if it is known.
pub fn text(before: Option<String>, changes: &[FileChange]) -> Option<String> {
    changes.iter().fold(before, |text, change| match change {
        FileChange::Write(text) => Some(text.clone()),
        FileChange::Unknown => None,
        FileChange::Edit(edits) => replaced(&text?, edits),
    })
}

impl ComparedFiles {
    /// Compares the files of two branches. `before` contains the known texts at the point of divergence. The comparison
    /// stops when `goes_on` returns `false`.
    pub fn new(
        [a, mut b]: [BTreeMap<String, SideFile>; 2],
        before: &BTreeMap<String, String>,
        goes_on: impl Fn() -> bool,
    ) -> Self {
        let mut files = Self::default();
        for (path, one) in a {
            if !goes_on() {
                break;
            }
            let Some(other) = b.remove(&path) else {
                files.only[0].push((path, one.uses));
                continue;
            };
            let uses = [one.uses, other.uses];
            let is_changed = uses.iter().all(|uses| uses.changes() > 0);
            let known = before.get(&path);
            let difference = is_changed.then(|| Difference::new(&path, [one.changes, other.changes], known));
            files.both.push(CommonFile { path, uses, difference });
        }
        files.only[1] = b.into_iter().map(|(path, file)| (path, file.uses)).collect();
        files
    }
}

impl Difference {
    /// Compares the changes of two branches to a file. `before` is its text before them, if it is known.
    fn new(path: &str, changes: [Vec<FileChange>; 2], before: Option<&String>) -> Self {
        let texts = [0, 1].map(|side| text(before.cloned(), &changes[side]));
        match texts {
            [Some(a), Some(b)] if a == b => Self::None,
            [Some(a), Some(b)] => {
                let lines = [&a, &b].map(|text| text.lines().count());
                if lines.iter().any(|&lines| lines > MAX_LINES) {
                    return Self::TooLong(lines);
                }
                Self::Unified(unified(&a, &b, path))
            }
            texts => {
                let mut is_whole = texts.iter().map(Option::is_some);
                let side = |changes| SeparateChanges { is_whole: is_whole.next() == Some(true), changes };
                Self::Apart(changes.map(side))
            }
        }
    }
}

/// Returns the difference of two texts in the format of `diff -u`.
pub(crate) fn unified(a: &str, b: &str, path: &str) -> String {
    let [old, new] = [a, b].map(whole_lines);
    let mut out = format!("--- a/{path}\n+++ b/{path}\n");
    for hunk in group_diff_ops(diff(&old, &new), CONTEXT) {
        let ([first, ..], [.., last]) = (&hunk[..], &hunk[..]) else { continue };
        let range = |first: Range<usize>, last: Range<usize>| match last.end - first.start {
            1 => format!("{}", first.start + 1),
            // An empty range is identified by the line before it.
            0 => format!("{},0", first.start),
            lines => format!("{},{lines}", first.start + 1),
        };
        let before = range(first.old_range(), last.old_range());
        let after = range(first.new_range(), last.new_range());
        out += &format!("@@ -{before} +{after} @@\n");
        for change in hunk.iter().flat_map(|op| op.iter_changes(&old[..], &new[..])) {
            out += &format!("{}{}", change.tag(), change.value());
            if !change.value().ends_with('\n') {
                out += "\n\\ No newline at end of file\n";
            }
        }
    }
    out
}

/// Returns the lines of a text with their line endings.
fn whole_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

impl FileChange {
    /// Returns the change as lines that begin with `-`, `+` or a space, like pi's `edit`, with `...` between pieces.
    pub fn lines(&self) -> String {
        match self {
            Self::Unknown => "(unknown change: too large, or missing in the call)\n".into(),
            Self::Write(text) => piece("", text),
            Self::Edit(edits) => {
                let pieces: Vec<String> = edits.iter().map(|(old, new)| piece(old, new)).collect();
                pieces.join("...\n")
            }
        }
    }
}

/// Returns the change of a piece as lines.
fn piece(old: &str, new: &str) -> String {
    let mark = |mark: char, text: &str, out: &mut String| {
        for line in text.lines() {
            out.push(mark);
            out.push_str(line);
            out.push('\n');
        }
    };
    let mut out = String::with_capacity(old.len() + new.len() + 64);
    if old.is_empty() || [old, new].iter().any(|text| text.lines().count() > MAX_LINES) {
        mark('-', old, &mut out);
        mark('+', new, &mut out);
        return out;
    }
    // A piece can end within a line, so a line break on one side only is no difference.
    let [old, new] = [old, new].map(|text| format!("{}\n", text.strip_suffix('\n').unwrap_or(text)));
    let [old, new] = [&*old, &*new].map(whole_lines);
    for change in diff(&old, &new).iter().flat_map(|op| op.iter_changes(&old[..], &new[..])) {
        mark(change.tag().to_string().chars().next().unwrap_or(' '), change.value(), &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::entry::parse;

    fn edit(pieces: &[(&str, &str)]) -> FileChange {
        FileChange::Edit(pieces.iter().map(|(old, new)| (old.to_string(), new.to_string())).collect())
    }

    fn write(text: &str) -> FileChange {
        FileChange::Write(text.into())
    }

    /// Returns the files of some messages.
    fn collected(messages: &[&str]) -> BTreeMap<String, SideFile> {
        let name = |path: &str| path.to_uppercase();
        let mut collector = FilesCollector::new(&name);
        for message in messages {
            let line = format!(r#"{{"type":"message","message":{{{message}}}}}"#);
            let entry = parse::line(line.as_bytes()).unwrap().unwrap();
            let message = entry.message.unwrap();
            if message.role.is("assistant") { collector.add_calls(&message) } else { collector.add_result(&message) }
        }
        collector.files
    }

    fn call(id: &str, name: &str, arguments: &str) -> String {
        let call = format!(r#"{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{arguments}}}"#);
        format!(r#""role":"assistant","content":[{call}]"#)
    }

    #[test]
    fn collects_changes_from_tool_results() {
        let result = |id: &str, rest: &str| format!(r#""role":"toolResult","toolCallId":"{id}"{rest}"#);
        let nested = r#","nestedCalls":{"calls":[{"id":"1","name":"edit","arguments":{"path":"b","edits":[{"oldText":"1","newText":"2"}]},"status":"ok"},{"name":"write","arguments":{"path":"b","content":"x"},"status":"error"},{"name":"write","arguments":{"path":"c","content":"x"},"status":"unfinished"},{"name":"edit","arguments":{"path":"b"},"status":"ok"}]}"#;
        let files = collected(&[
            &call("1", "edit", r#"{"path":"a","oldText":"x","newText":"y"}"#),
            &result("1", ""),
            &call("2", "write", r#"{"file_path":"a","content":"new"}"#),
            &result("2", ""),
            &call("3", "edit", r#"{"path":"a","edits":[{"oldText":"n","newText":"m"}]}"#),
            &result("3", r#","isError":true"#),
            &call("4", "read", r#"{"path":"a"}"#),
            &result("4", ""),
            &call("5", "write", r#"{"path":"d","content":"never answered"}"#),
            &call("6", "codemode", "{}"),
            &result("6", nested),
        ]);
        let uses = |reads, writes, edits| FileUses { reads, writes, edits, commands: 0 };
        assert_eq!(files.keys().collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!(
            files["A"],
            SideFile { uses: uses(1, 1, 1), changes: vec![write("new")] },
            "from the last whole text on"
        );
        let changes = vec![edit(&[("1", "2")]), FileChange::Unknown];
        assert_eq!(files["B"], SideFile { uses: uses(0, 0, 2), changes });
    }

    #[test]
    fn drops_contents_beyond_the_limit() {
        let long = format!(r#"{{"path":"a","content":"{}"}}"#, "x".repeat(MOST / 2));
        let wrote = |id: &str| [call(id, "write", &long), format!(r#""role":"toolResult","toolCallId":"{id}""#)];
        let messages = [wrote("1"), wrote("2")].concat();
        let files = collected(&messages.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((files["A"].uses.writes, &files["A"].changes[..]), (2, &[FileChange::Unknown][..]));
    }

    #[test]
    fn applies_edits_that_match() {
        let done = |text: &str, pieces: &[(&str, &str)]| super::text(Some(text.into()), &[edit(pieces)]);
        assert_eq!(done("a b c", &[("c", "C"), ("a", "b")]).as_deref(), Some("b b C"), "in the text as it was");
        assert_eq!(done("a b a", &[("a", "x")]), None, "twice");
        assert_eq!(done("aaa", &[("aa", "x")]), None, "overlapping matches");
        assert_eq!(done("abc", &[("ab", "x"), ("bc", "y")]), None, "overlapping edits");
        assert_eq!(done("abc", &[("d", "x")]), None);
        assert_eq!(done("abc", &[("", "x")]), None);
        assert_eq!(done("a\r\nb", &[("b", "c")]), Some("a\r\nc".into()), "line endings are kept");
        assert_eq!(done("é", &[("é", "e")]).as_deref(), Some("e"));
        assert_eq!(super::text(None, &[edit(&[("a", "b")])]), None);
    }

    #[test]
    fn contents_are_known_again_after_a_write() {
        let changes = [write("one"), edit(&[("two", "2")]), write("three"), edit(&[("thr", "f"), ("ee", "our")])];
        assert_eq!(text(None, &changes[..1]).as_deref(), Some("one"));
        assert_eq!(text(None, &changes[..2]), None);
        assert_eq!(text(None, &changes).as_deref(), Some("four"));
        assert_eq!(text(Some("two".into()), &changes[1..2]).as_deref(), Some("2"));
        assert_eq!(text(Some("two".into()), &[FileChange::Unknown]), None);
    }

    fn file(changes: &[FileChange]) -> BTreeMap<String, SideFile> {
        let uses = FileUses { edits: changes.len(), reads: 1, ..FileUses::default() };
        [("f".to_string(), SideFile { uses, changes: changes.to_vec() })].into()
    }

    fn difference(a: &[FileChange], b: &[FileChange], before: Option<&str>) -> Option<Difference> {
        let before = before.iter().map(|text| ("f".into(), text.to_string())).collect();
        ComparedFiles::new([file(a), file(b)], &before, || true).both.remove(0).difference
    }

    /// Matches GNU `diff -u`.
    #[test]
    fn formats_differences_as_hunks() {
        let numbers = |from: usize, to: usize| (from..=to).map(|n| format!("{n}\n")).collect::<String>();
        let old = numbers(1, 20);
        let new = format!("zero\n{}{}20", numbers(1, 12), numbers(14, 19));
        let first = "@@ -1,3 +1,4 @@\n+zero\n 1\n 2\n 3\n";
        let second = "@@ -10,11 +11,10 @@\n 10\n 11\n 12\n-13\n 14\n 15\n 16\n 17\n 18\n 19\n";
        let last = "-20\n+20\n\\ No newline at end of file\n";
        assert_eq!(unified(&old, &new, "f"), format!("--- a/f\n+++ b/f\n{first}{second}{last}"));
        assert_eq!(unified("", "a\n", "f"), "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
    }

    #[test]
    fn compares_the_results_of_both_sides() {
        let whole = [write("1\n2\n3\n")];
        assert_eq!(difference(&whole, &[], None), None, "only one changed it");
        assert_eq!(difference(&whole, &whole, None), Some(Difference::None));
        let edited = [edit(&[("2", "two")])];
        assert_eq!(difference(&edited, &edited, Some("2")), Some(Difference::None));
        let unified = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
        assert_eq!(difference(&whole, &edited, Some("1\n2\n3\n")), Some(Difference::Unified(unified.into())));
        let long = [write(&"x\n".repeat(MAX_LINES + 1))];
        assert_eq!(difference(&long, &whole, None), Some(Difference::TooLong([MAX_LINES + 1, 3])));
        let apart = |is_whole, changes: &[FileChange]| SeparateChanges { is_whole, changes: changes.to_vec() };
        let wanted = Difference::Apart([apart(true, &whole), apart(false, &edited)]);
        assert_eq!(difference(&whole, &edited, None), Some(wanted));
    }

    #[test]
    fn formats_changes_as_lines() {
        assert_eq!(edit(&[("a\nb", "a\nc"), ("x", "")]).lines(), " a\n-b\n+c\n...\n-x\n+\n");
        assert_eq!(edit(&[("a", "a\nb")]).lines(), " a\n+b\n");
        assert_eq!(write("a\nb\n").lines(), "+a\n+b\n");
    }
}
