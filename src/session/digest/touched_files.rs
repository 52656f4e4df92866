//! The files that the tools and shell commands of a session read, wrote and edited, with times and the preceding messages.
//! The data is compact because lists keep it for all sessions.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::base::string_pool::StringPool;
use crate::session::digest::messages::MessageTexts;
use crate::session::entry::tool_call::{self, FileOperation};
use crate::session::entry::{Entry, ToolCall};
use crate::session::json::Str;
use crate::session::links::{ById, EntryIndex, IdHash, ParentLinks};
use crate::session::replay::changed_files;

/// The number of calls and commands on a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileUses {
    /// Calls of `read`.
    pub reads: usize,
    /// Calls of `write`.
    pub writes: usize,
    /// Calls of `edit`.
    pub edits: usize,
    /// Shell commands that write, remove or move the file. Comparisons of branches do not count them.
    #[serde(skip)]
    pub commands: usize,
}

impl FileUses {
    /// Counts a call.
    pub(crate) fn add(&mut self, touch: FileOperation) {
        match touch {
            FileOperation::Read => self.reads += 1,
            FileOperation::Write => self.writes += 1,
            FileOperation::Edit => self.edits += 1,
            FileOperation::Command => self.commands += 1,
        }
    }

    /// Returns the number of changes of the file.
    pub fn changes(&self) -> usize {
        self.writes + self.edits + self.commands
    }
}

/// The tool calls that touched a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedFiles {
    /// The distinct paths, as given by the model.
    pub paths: StringPool,
    /// The starts of the rows of the preceding messages.
    pub messages: StringPool,
    /// The calls, in file order.
    pub all: Vec<FileOperationCall>,
}

/// A tool call or command that touched a file. Its texts are indexes into [`TouchedFiles`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOperationCall {
    /// The index of the file in [`TouchedFiles::paths`]: the path as given by the model.
    pub path: u32,
    /// The index in [`TouchedFiles::messages`] of the start of the row of the last message above the entry; empty if there is
    /// none.
    pub message: u32,
    /// The entry of the tool result, or else of the call.
    pub entry: EntryIndex,
    /// The operation.
    pub operation: FileOperation,
    /// The time of that entry, in milliseconds since 1970.
    pub time: Option<i64>,
}

impl TouchedFiles {
    /// Returns the files with the number of their uses.
    pub(crate) fn uses(&self) -> impl Iterator<Item = (&str, FileUses)> {
        let mut uses = vec![FileUses::default(); self.paths.len()];
        for touch in &self.all {
            uses[touch.path as usize].add(touch.operation);
        }
        self.paths.iter().zip(uses)
    }
}

/// Collects tool calls from the entries of a file, in file order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TouchCollector {
    touches: TouchedFiles,
    paths: ById<u32>,
    /// The touches of each call.
    calls: ById<Range<usize>>,
}

impl TouchCollector {
    /// Adds a call of the entry `at` in a session with the working directory `cwd`.
    pub(crate) fn call(&mut self, at: EntryIndex, time: Option<i64>, call: &ToolCall<'_>, cwd: &str) {
        let start = self.touches.all.len();
        if let Some((path, touch)) = tool_call::touched(call) {
            self.touch(at, time, &path, touch);
        } else if let Some(script) =
            Some(call).filter(|call| may_change_files(call.arguments)).and_then(ToolCall::script)
        {
            self.script(at, time, &script.text(), cwd);
        }
        let touches = start..self.touches.all.len();
        if !touches.is_empty() {
            self.calls.insert(IdHash::of(call.id), touches);
        }
    }

    /// Adds a command of the user.
    pub(crate) fn command(&mut self, at: EntryIndex, time: Option<i64>, entry: &Entry<'_>, cwd: &str) {
        let command = entry.message.as_ref().and_then(|message| message.command);
        let command = command.filter(|command| may_change_files(command.raw()));
        command.into_iter().for_each(|command| self.script(at, time, &command.text(), cwd));
    }

    fn script(&mut self, at: EntryIndex, time: Option<i64>, script: &str, cwd: &str) {
        for path in changed_files(script, cwd) {
            self.touch(at, time, &path, FileOperation::Command);
        }
    }

    fn touch(&mut self, at: EntryIndex, time: Option<i64>, path: &str, touch: FileOperation) {
        let next = self.touches.paths.len() as u32;
        let number = *self.paths.entry(IdHash::new(path.as_bytes())).or_insert(next);
        if number == next {
            self.touches.paths.push(path);
        }
        self.touches.all.push(FileOperationCall { path: number, message: 0, entry: at, operation: touch, time });
    }

    /// Adds the result of a call in the entry `at`. Models repeat IDs; the result belongs to the last call.
    pub(crate) fn answer(&mut self, at: EntryIndex, time: Option<i64>, call: Option<Str<'_>>) {
        if self.calls.is_empty() {
            return;
        }
        let touches = self.calls.get(&IdHash::of(call.unwrap_or_default())).cloned();
        for touch in touches.and_then(|touches| self.touches.all.get_mut(touches)).into_iter().flatten() {
            (touch.entry, touch.time) = (at, time);
        }
    }

    /// Returns the touched files; `messages` contains the texts of the messages.
    pub(crate) fn finish(self, parent_links: &ParentLinks, messages: &MessageTexts) -> TouchedFiles {
        let mut touches = self.touches;
        if touches.all.is_empty() {
            return touches;
        }
        let mut above = NearestMessages { parent_links, messages, known: vec![UNKNOWN; parent_links.parents.len()] };
        let mut places = vec![None; messages.len() + 1];
        for touch in &mut touches.all {
            let number = above.number(touch.entry);
            let said = || number.checked_sub(FIRST).map_or("", |row| messages.text(row as usize));
            touch.message = *places[number as usize - 1].get_or_insert_with(|| touches.messages.push(said()));
        }
        touches.all.shrink_to_fit();
        touches.paths.shrink_to_fit();
        touches.messages.shrink_to_fit();
        touches
    }
}

/// Returns `true` if a shell command, in JSON, may write, remove or move a file in a form that pitree replays. Most commands
/// are sorted out without decoding them.
fn may_change_files(json: &[u8]) -> bool {
    let has = |part: &str| memchr::memmem::find(json, part.as_bytes()).is_some();
    (has("<<") && has("cat")) || ["rm ", "mv "].into_iter().any(has)
}

/// The preceding message of an entry is not computed yet.
const UNKNOWN: u32 = 0;
/// The entry has no preceding message.
const NOBODY: u32 = 1;
/// The number of the first message.
const FIRST: u32 = 2;

/// Finds the nearest message above entries. Each entry is visited once.
struct NearestMessages<'a> {
    parent_links: &'a ParentLinks,
    messages: &'a MessageTexts,
    /// The number of the nearest message of each entry, or one of the constants above.
    known: Vec<u32>,
}

impl NearestMessages<'_> {
    fn number(&mut self, of: EntryIndex) -> u32 {
        let Self { parent_links, messages, known } = self;
        let path = || parent_links.to_root(of);
        let number = |at: EntryIndex| match known[at as usize] {
            UNKNOWN => messages.row(at).map(|row| row as u32 + FIRST),
            known => Some(known),
        };
        let end = path().find(|&at| number(at).is_some());
        let found = end.and_then(number).unwrap_or(NOBODY);
        for passed in path().take_while(|&at| Some(at) != end).chain(end) {
            known[passed as usize] = found;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_touch_is_small() {
        assert!(size_of::<FileOperationCall>() <= 32);
    }
}
