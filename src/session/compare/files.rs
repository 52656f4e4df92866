//! What two ways did to files: which ones only one of them touched, and where both changed one, the difference of what
//! they wrote. What a file holds is known only as far as the calls of `write` and `edit` tell: after a whole text was
//! written, while the edits that followed fit into it. Commands may change files as well; that is not seen.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use similar::group_diff_ops;

use crate::base::diff::diff;
use crate::session::entry::nested_calls::NestedCall;
use crate::session::entry::tool_call::{Touch, touched};
use crate::session::entry::{Message, ToolCall};
use crate::session::json::value::{Fields, items};
use crate::session::links::{ById, IdHash};

/// As many bytes are kept of what a way wrote: beyond that the texts of files are not known.
const MOST: usize = 16 * 1024 * 1024;

/// The lines of a text up to which differences are looked for: the cost grows with the lines times the differences.
const MAX_LINES: usize = 5_000;

/// Unchanged lines around a difference.
const CONTEXT: usize = 3;

/// How often the tools of a way touched a file, without failing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileUses {
    /// Calls of `read`.
    pub reads: usize,
    /// Calls of `write`.
    pub writes: usize,
    /// Calls of `edit`.
    pub edits: usize,
}

impl FileUses {
    fn add(&mut self, touch: Touch) {
        match touch {
            Touch::Read => self.reads += 1,
            Touch::Write => self.writes += 1,
            Touch::Edit => self.edits += 1,
        }
    }

    /// Whether the file was changed.
    pub fn changes(&self) -> bool {
        self.writes + self.edits > 0
    }
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// A whole text was written.
    Write(String),
    /// Pieces were replaced: each old one, found once, by a new one.
    Edit(Vec<(String, String)>),
    /// A change that is not known: there is too much of it, or its call does not say.
    Unknown,
}

/// A file of one way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideFile {
    /// How often it was touched.
    pub uses: FileUses,
    /// How it was changed, from the last time on that a whole text was written.
    pub changes: Vec<FileChange>,
}

/// A file that both ways touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonFile {
    /// Its path.
    pub path: String,
    /// How often each touched it.
    pub uses: [FileUses; 2],
    /// How what they wrote differs, if both changed it.
    pub difference: Option<Difference>,
}

/// How what two ways wrote into a file differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Not at all: both left the same text.
    None,
    /// As a unified diff from the first to the second.
    Unified(String),
    /// The texts are known and too long to be held against each other: their lines.
    TooLong([usize; 2]),
    /// On a side the whole text isn't known.
    Apart([SeparateChanges; 2]),
}

/// What is known of a side where the whole text isn't on both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeparateChanges {
    /// Whether the whole text is known on this side.
    pub is_whole: bool,
    /// The changes from the last whole text on.
    pub changes: Vec<FileChange>,
}

/// The files of two ways, by their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedFiles {
    /// Those that only one way touched.
    pub only: [Vec<(String, FileUses)>; 2],
    /// Those that both touched.
    pub both: Vec<CommonFile>,
}

/// Gathers what tools did to files from the entries of a way, in their order.
pub struct FilesGatherer<'n> {
    /// Gives a file the name by which it is known on both sides.
    name: &'n dyn Fn(&str) -> String,
    files: BTreeMap<String, SideFile>,
    /// The calls without an answer so far.
    calls: ById<(String, Touch, Option<FileChange>)>,
    room: usize,
}

impl<'n> FilesGatherer<'n> {
    /// Nothing so far. `name` makes of a path, as a tool was given it, the one by which the file is known on both sides.
    pub fn new(name: &'n dyn Fn(&str) -> String) -> Self {
        Self { name, files: BTreeMap::new(), calls: ById::default(), room: MOST }
    }

    /// Takes the calls of an assistant's message.
    pub fn asked(&mut self, message: &Message<'_>) {
        for call in message.content.tool_calls() {
            if let Some(known) = self.call(call) {
                self.calls.insert(IdHash::of(call.id), known);
            }
        }
    }

    /// Takes the result of a call, with the calls that the tool made itself. What failed did nothing.
    pub fn answered(&mut self, message: &Message<'_>) {
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

    /// How a call changes its file.
    fn change(&mut self, touch: Touch, call: &ToolCall<'_>) -> Option<FileChange> {
        if touch == Touch::Read {
            return None;
        }
        let Some(room) = self.room.checked_sub(call.arguments.len()) else { return Some(FileChange::Unknown) };
        self.room = room;
        let args = Fields::new(call.arguments);
        let change = match touch {
            Touch::Read => None,
            Touch::Write => args.get("content").map(|content| FileChange::Write(content.text().into_owned())),
            Touch::Edit => edits(&args).map(FileChange::Edit),
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

    /// The files, by their paths.
    pub fn finish(self) -> BTreeMap<String, SideFile> {
        self.files
    }
}

/// The pieces that a call of `edit` replaces: `edits`, or one as it was called before (pi 0.74.2, 1.5.2).
fn edits(args: &Fields<'_>) -> Option<Vec<(String, String)>> {
    let pair = |args: &Fields<'_>| {
        let text = |name| Some(args.get(name)?.text().into_owned());
        Some((text("oldText")?, text("newText")?))
    };
    let list = args.get("edits").and_then(|edits| edits.raw()).unwrap_or_default();
    let listed: Option<Vec<_>> = items(list).map(|edit| pair(&Fields::new(edit))).collect();
    let all: Vec<_> = pair(args).into_iter().chain(listed?).collect();
    (!all.is_empty()).then_some(all)
}

impl FileChange {
    /// What becomes of a text, if that is known. The pieces of an edit are looked for in the text as it was, as pi does
    /// (1.5.2). pi also takes what is only similar; that is not done here.
    fn apply(&self, before: Option<String>) -> Option<String> {
        match self {
            Self::Write(text) => Some(text.clone()),
            Self::Unknown => None,
            Self::Edit(edits) => replaced(&before?, edits),
        }
    }
}

/// A text with pieces replaced; `None` if one of them is not found exactly once, or two overlap.
fn replaced(text: &str, edits: &[(String, String)]) -> Option<String> {
    // pi takes line ends apart and puts them back.
    if text.contains('\r') {
        return None;
    }
    let mut places = Vec::with_capacity(edits.len());
    for (old, new) in edits {
        let mut found = text.match_indices(old.as_str());
        let (start, _) = found.next().filter(|_| !old.is_empty())?;
        // One that overlaps the first is another one as well.
        let rest = &text[start + text[start..].chars().next().map_or(1, char::len_utf8)..];
        if rest.contains(old.as_str()) {
            return None;
        }
        places.push((start, start + old.len(), new));
    }
    places.sort_unstable_by_key(|&(start, ..)| start);
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (start, end, new) in places {
        out.push_str(text.get(from..start)?);
        out.push_str(new);
        from = end;
    }
    out.push_str(text.get(from..)?);
    Some(out)
}

/// The whole text of a file behind some changes, if it is known.
pub fn text(before: Option<String>, changes: &[FileChange]) -> Option<String> {
    changes.iter().fold(before, |text, change| change.apply(text))
}

impl ComparedFiles {
    /// Holds the files of two ways against each other. `before` has the whole texts that files had at the common point,
    /// as far as they are known; `goes_on` says whether somebody waits for the rest.
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
            let is_changed = uses.iter().all(FileUses::changes);
            let known = before.get(&path);
            let difference = is_changed.then(|| Difference::new(&path, [one.changes, other.changes], known));
            files.both.push(CommonFile { path, uses, difference });
        }
        files.only[1] = b.into_iter().map(|(path, file)| (path, file.uses)).collect();
        files
    }
}

impl Difference {
    /// Of what two ways made of a file, of which the whole text may be known `before`.
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
                let is_whole = texts.map(|text| text.is_some());
                let [a, b] = changes;
                Self::Apart([
                    SeparateChanges { is_whole: is_whole[0], changes: a },
                    SeparateChanges { is_whole: is_whole[1], changes: b },
                ])
            }
        }
    }
}

/// The difference of two texts of a file as `diff -u` says it.
fn unified(a: &str, b: &str, path: &str) -> String {
    let [old, new] = [a, b].map(whole_lines);
    let mut out = format!("--- a/{path}\n+++ b/{path}\n");
    for hunk in group_diff_ops(diff(&old, &new), CONTEXT) {
        let ([first, ..], [.., last]) = (&hunk[..], &hunk[..]) else { continue };
        let range = |first: Range<usize>, last: Range<usize>| match last.end - first.start {
            1 => format!("{}", first.start + 1),
            // No line is named by the one before it.
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

/// The lines of a text, with their ends.
fn whole_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

impl FileChange {
    /// The change in lines that begin with `-`, `+` or a space, as pi's `edit` reports them; `...` between pieces.
    pub fn lines(&self) -> String {
        match self {
            Self::Unknown => {
                "(what was changed isn't known: there is too much of it, or the call doesn't say)\n".into()
            }
            Self::Write(text) => piece("", text),
            Self::Edit(edits) => {
                let pieces: Vec<String> = edits.iter().map(|(old, new)| piece(old, new)).collect();
                pieces.join("...\n")
            }
        }
    }
}

/// How a piece became another one.
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
    // A piece ends anywhere: that the last line is whole on one side alone is no difference.
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

    /// The files of some messages.
    fn gathered(messages: &[&str]) -> BTreeMap<String, SideFile> {
        let name = |path: &str| path.to_uppercase();
        let mut gatherer = FilesGatherer::new(&name);
        for message in messages {
            let line = format!(r#"{{"type":"message","message":{{{message}}}}}"#);
            let entry = parse::line(line.as_bytes()).unwrap().unwrap();
            let message = entry.message.unwrap();
            if message.role.is("assistant") { gatherer.asked(&message) } else { gatherer.answered(&message) }
        }
        gatherer.finish()
    }

    fn call(id: &str, name: &str, arguments: &str) -> String {
        let call = format!(r#"{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{arguments}}}"#);
        format!(r#""role":"assistant","content":[{call}]"#)
    }

    #[test]
    fn what_was_done_is_gathered_from_answers() {
        let result = |id: &str, rest: &str| format!(r#""role":"toolResult","toolCallId":"{id}"{rest}"#);
        let nested = r#","nestedCalls":{"calls":[{"id":"1","name":"edit","arguments":{"path":"b","edits":[{"oldText":"1","newText":"2"}]},"status":"ok"},{"name":"write","arguments":{"path":"b","content":"x"},"status":"error"},{"name":"write","arguments":{"path":"c","content":"x"},"status":"unfinished"},{"name":"edit","arguments":{"path":"b"},"status":"ok"}]}"#;
        let files = gathered(&[
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
        let uses = |reads, writes, edits| FileUses { reads, writes, edits };
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
    fn of_very_much_the_texts_are_not_kept() {
        let long = format!(r#"{{"path":"a","content":"{}"}}"#, "x".repeat(MOST / 2));
        let wrote = |id: &str| [call(id, "write", &long), format!(r#""role":"toolResult","toolCallId":"{id}""#)];
        let messages = [wrote("1"), wrote("2")].concat();
        let files = gathered(&messages.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((files["A"].uses.writes, &files["A"].changes[..]), (2, &[FileChange::Unknown][..]));
    }

    #[test]
    fn edits_are_done_where_they_fit() {
        let done = |text: &str, pieces: &[(&str, &str)]| edit(pieces).apply(Some(text.into()));
        assert_eq!(done("a b c", &[("c", "C"), ("a", "b")]).as_deref(), Some("b b C"), "in the text as it was");
        assert_eq!(done("a b a", &[("a", "x")]), None, "twice");
        assert_eq!(done("aaa", &[("aa", "x")]), None, "twice, one over the other");
        assert_eq!(done("abc", &[("ab", "x"), ("bc", "y")]), None, "one over the other");
        assert_eq!(done("abc", &[("d", "x")]), None);
        assert_eq!(done("abc", &[("", "x")]), None);
        assert_eq!(done("a\r\nb", &[("b", "c")]), None, "pi knows of line ends");
        assert_eq!(done("é", &[("é", "e")]).as_deref(), Some("e"));
        assert_eq!(edit(&[("a", "b")]).apply(None), None);
    }

    #[test]
    fn a_text_is_known_again_when_it_is_written() {
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

    /// As GNU's `diff -u` has it.
    #[test]
    fn differences_are_hunks() {
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
    fn what_both_left_is_held_against_each_other() {
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
    fn changes_are_said_in_lines() {
        assert_eq!(edit(&[("a\nb", "a\nc"), ("x", "")]).lines(), " a\n-b\n+c\n...\n-x\n+\n");
        assert_eq!(edit(&[("a", "a\nb")]).lines(), " a\n+b\n");
        assert_eq!(write("a\nb\n").lines(), "+a\n+b\n");
    }
}
