//! The files of a session at an entry, from the calls of tools on the path to it: whole texts of `write`, edits, the lines
//! that `read` returned, attached files, and a few shell commands. A [`state::FileState`] is exact only if every byte is
//! known. Other commands, except a few that change no files, make known states doubtful until a `read` confirms them.
//!
//! [`Replay`] reads the lines of entries on demand, and only those that can concern the wanted files.

mod commands;
pub(crate) mod commits;
mod edit;
pub mod files;
pub mod lines;
pub(crate) mod places;
mod programs;
mod read;
mod script;
mod shell;
pub mod state;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::base::paths::full_path;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::{FileOperation, NEARBY, NestedCall, path_in, touched};
use crate::session::entry::{Block, Message, ToolCall, parse};
use crate::session::json::value::Fields;
use crate::session::json::{Str, text_or_empty};
use crate::session::links::{EntryIndex, IdHash};
use crate::session::replay::edit::Edit;
pub use crate::session::replay::files::Files;
use crate::session::replay::files::{EntryFiles, below, file_name};
use crate::session::replay::programs::Effect;
use crate::session::replay::read::{ReadPart, attached};
pub(crate) use crate::session::replay::shell::changed_files;
use crate::session::replay::shell::reports_error;
use crate::session::replay::state::{Doubt, Source};
use crate::session::tree::Tree;
use crate::session::tree::node::Node;

/// The maximum length of a path in the description of a call.
const SHORT_PATH: usize = 300;

/// The results of commands that change no file certainly: `true` if they may have changed a known one.
pub type CommandEffects = HashMap<EntryIndex, bool>;

/// Reads the line of an entry.
type LineReader<'t, E> = Box<dyn FnMut(&Node) -> Result<Vec<u8>, E> + 't>;

/// Replays the entries of a session. `E` is the error of a line that cannot be read.
pub struct Replay<'t, E> {
    tree: &'t Tree,
    home: &'t str,
    read: LineReader<'t, E>,
    /// The files to replay; `None` for all.
    wanted: Option<BTreeSet<String>>,
    /// The last entry with calls and its line: the results of one message follow each other.
    calls: Option<(EntryIndex, Vec<u8>)>,
    /// The results of commands that have at most an effect on known files.
    commands: CommandEffects,
}

impl<'t, E> Replay<'t, E> {
    /// Creates a replay of all files of a session. `home` is the home directory, for `~`; `read` returns the line of an entry.
    pub fn new(tree: &'t Tree, home: &'t str, read: impl FnMut(&Node) -> Result<Vec<u8>, E> + 't) -> Self {
        Self { tree, home, read: Box::new(read), wanted: None, calls: None, commands: CommandEffects::new() }
    }

    /// Takes the effects of commands that an earlier replay of the tree has found, so that fewer lines are read.
    pub fn with_effects(self, commands: CommandEffects) -> Self {
        Self { commands, ..self }
    }

    /// Returns the effects of commands, as far as they were read.
    pub fn into_effects(self) -> CommandEffects {
        self.commands
    }

    /// Limits the replay to files, and other files that their states can depend on.
    ///
    /// # Errors
    /// An entry cannot be read.
    pub fn only(mut self, paths: impl IntoIterator<Item = String>) -> Result<Self, E> {
        let mut wanted: BTreeSet<String> = paths.into_iter().collect();
        let moves = self.moves()?;
        let mut called = None;
        for (from, to) in moves.iter().rev() {
            // The target can be a directory.
            let inside = format!("{to}/{}", file_name(from));
            let sources = |path: &String| {
                let rests = [below(path, &inside), below(path, to)].into_iter().flatten();
                rests.map(|rest| format!("{from}{rest}")).collect::<Vec<_>>()
            };
            let moved: Vec<String> = wanted.iter().flat_map(sources).collect();
            if moved.is_empty() {
                continue;
            }
            if !file_name(to).contains('.') {
                // The target may be a directory, and any file below it shows that, also one that a command created.
                return Ok(self);
            }
            wanted.extend(moved);
            // Known files show whether it is one.
            let paths: &BTreeSet<String> = called.get_or_insert_with(|| {
                let called = self.tree.nodes.iter().filter_map(|node| node.called.as_ref());
                called.map(|called| self.full_path(&called.path)).collect()
            });
            wanted.extend(paths.iter().filter(|path| below(path, to).is_some()).cloned());
        }
        self.wanted = Some(wanted);
        Ok(self)
    }

    /// Returns the sources and targets of moves and copies by commands, in file order.
    fn moves(&mut self) -> Result<Vec<(String, String)>, E> {
        let moves = |text: &str| ["mv ", "cp "].iter().any(|program| text.contains(program));
        let mut found = Vec::new();
        for at in 0..self.tree.nodes.len() as EntryIndex {
            let node = self.tree.node(at);
            // Rows and descriptions are cut, but a move is usually short.
            let command = match &node.called {
                Some(called) if &*called.name == "bash" && moves(&called.about) => {
                    self.arguments(at)?.map(|arguments| script(&arguments))
                }
                None if node.kind == EntryKind::Bash && moves(&node.text) => {
                    let line = (self.read)(node)?;
                    let entry = parse::entry(&line);
                    entry.message.and_then(|message| message.command).map(Str::owned)
                }
                _ => continue,
            };
            let Some(script) = command else { continue };
            found.extend(self.effects(&script, false).into_iter().filter_map(|effect| match effect {
                Effect::Move(from, to) | Effect::Copy(from, to) => Some((from, to)),
                _ => None,
            }));
        }
        Ok(found)
    }

    /// Returns the files after an entry.
    ///
    /// # Errors
    /// An entry cannot be read.
    pub fn at(&mut self, at: EntryIndex) -> Result<Files, E> {
        let path = self.tree.path(at);
        self.along(Rc::default(), &path).map(Rc::unwrap_or_clone)
    }

    /// Applies consecutive entries to the files before them.
    ///
    /// # Errors
    /// An entry cannot be read.
    pub fn along(&mut self, mut files: Rc<Files>, entries: &[EntryIndex]) -> Result<Rc<Files>, E> {
        for &at in entries {
            self.step(&mut files, at)?;
        }
        if let Some(&last) = entries.last() {
            self.unanswered_at_end(&mut files, last)?;
        }
        Ok(files)
    }

    /// Passes each entry to `visit`, with the files before and after it, which are the same object if it touches no file.
    /// Parents come before their children. Only states of branch points are kept, until all of their branches are replayed.
    ///
    /// # Errors
    /// An entry cannot be read.
    pub fn each(&mut self, mut visit: impl FnMut(EntryIndex, &Rc<Files>, &Rc<Files>)) -> Result<(), E> {
        let mut waiting: Vec<(EntryIndex, Rc<Files>)> =
            self.tree.roots.iter().rev().map(|&root| (root, Rc::default())).collect();
        while let Some((at, before)) = waiting.pop() {
            let mut files = before.clone();
            self.step(&mut files, at)?;
            self.unanswered_at_end(&mut files, at)?;
            visit(at, &before, &files);
            waiting.extend(self.tree.children(at).iter().rev().map(|&child| (child, files.clone())));
        }
        Ok(())
    }

    /// Applies an entry to the files of its parent.
    ///
    /// # Errors
    /// An entry cannot be read.
    pub fn step(&mut self, files: &mut Rc<Files>, at: EntryIndex) -> Result<(), E> {
        let node = self.tree.node(at);
        if matches!(node.kind, EntryKind::User | EntryKind::Assistant) {
            self.unanswered(files, at, self.tree.parent(at))?;
        }
        match node.kind {
            EntryKind::ToolResult => self.result(files, at),
            EntryKind::Bash => {
                let line = (self.read)(node)?;
                let entry = parse::entry(&line);
                let Some(message) = &entry.message else { return Ok(()) };
                let has_failed = message.cancelled || message.exit_code.is_none_or(|code| code != 0.0);
                self.command(files, at, &text_or_empty(message.command), has_failed, &text_or_empty(message.output));
                Ok(())
            }
            EntryKind::User if node.text.contains("<file name=") => {
                let line = (self.read)(node)?;
                let entry = parse::entry(&line);
                for (path, content) in attached(&entry.text()) {
                    self.file(files, &path, at, |touched, path| {
                        touched.set(path, content, Source::Attached);
                        touched.doubt(path, Doubt::Attachment);
                    });
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Marks the files of calls at the end of a branch that have no result: they may still run.
    fn unanswered_at_end(&mut self, files: &mut Rc<Files>, at: EntryIndex) -> Result<(), E> {
        if self.tree.children(at).is_empty() { self.unanswered(files, at, Some(at)) } else { Ok(()) }
    }

    /// Marks the files of calls that have no result on the path from an entry up: pi was stopped while they ran.
    fn unanswered(&mut self, files: &mut Rc<Files>, at: EntryIndex, from: Option<EntryIndex>) -> Result<(), E> {
        let mut answered = Vec::new();
        let above = self.tree.to_root(from).take(NEARBY);
        let mut calling = None;
        for before in above {
            match self.tree.node(before).kind {
                EntryKind::Assistant => calling = Some(before),
                EntryKind::User => {}
                _ => {
                    answered.extend(self.tree.answers.get(&before));
                    continue;
                }
            }
            break;
        }
        let Some(calling) = calling else { return Ok(()) };
        let Some(calls) = self.tree.calls.get(&calling) else { return Ok(()) };
        if calls.iter().all(|call| answered.contains(&call)) {
            return Ok(());
        }
        let line = (self.read)(self.tree.node(calling))?;
        let entry = parse::entry(&line);
        let calls = entry.message.iter().flat_map(|message| message.content.tool_calls());
        for call in calls.filter(|call| !answered.contains(&&IdHash::of(call.id))) {
            if call.name.is("bash") {
                self.command(files, at, &script(call.arguments), true, "");
            } else if let Some((path, _)) = touched(call).filter(|(_, touch)| *touch != FileOperation::Read) {
                self.file(files, &path, at, |touched, path| touched.doubt(path, Doubt::Stopped));
            }
        }
        Ok(())
    }

    /// Applies the result of a call.
    fn result(&mut self, files: &mut Rc<Files>, at: EntryIndex) -> Result<(), E> {
        let node = self.tree.node(at);
        let name = node.called.as_ref().map_or("", |called| &*called.name);
        match name {
            "grep" | "find" | "ls" => return Ok(()),
            "read" | "write" | "edit"
                if node.called.as_ref().is_some_and(|called| self.is_other_file(&called.path)) =>
            {
                return Ok(());
            }
            _ => {}
        }
        if name == "bash" {
            let may_doubt = files.has_certain();
            if self.commands.get(&at).is_some_and(|&doubts| !doubts || !may_doubt) {
                return Ok(());
            }
            let Some(arguments) = self.arguments(at)? else { return Ok(()) };
            let script = script(&arguments);
            let effects = self.effects(&script, false);
            if effects.is_empty() {
                self.commands.insert(at, false);
                return Ok(());
            }
            if effects.iter().all(Effect::is_doubt) {
                self.commands.insert(at, true);
                if !may_doubt {
                    return Ok(());
                }
            }
            let line = (self.read)(node)?;
            let entry = parse::entry(&line);
            let Some(message) = &entry.message else { return Ok(()) };
            let output = message.content.text("\n");
            match message.is_error || reports_error(&output) {
                true => self.command(files, at, &script, true, &output),
                false => self.apply(files, at, effects, &output),
            }
            return Ok(());
        }
        let arguments = self.arguments(at)?.unwrap_or_default();
        let line = (self.read)(node)?;
        let entry = parse::entry(&line);
        let Some(message) = &entry.message else { return Ok(()) };
        match FileOperation::of(name) {
            Some(touch) => self.call(files, at, touch, &arguments, message),
            None => self.other_tool(files, at, &arguments, message),
        }
        Ok(())
    }

    /// Applies a call of `read`, `write` or `edit`.
    fn call(
        &self,
        files: &mut Rc<Files>,
        at: EntryIndex,
        touch: FileOperation,
        arguments: &[u8],
        message: &Message<'_>,
    ) {
        let Some(path) = path_in(arguments) else { return };
        let fields = Fields::new(arguments);
        let result = message.content.text("\n");
        self.file(files, &path, at, |touched, path| {
            if message.is_error {
                if touch != FileOperation::Read && result.to_lowercase().contains("abort") {
                    touched.doubt(path, Doubt::Stopped);
                }
                return;
            }
            match touch {
                FileOperation::Write => touched.write(path, &fields),
                FileOperation::Edit => {
                    let (patch, diff) = (message.patch.map(Str::text), message.diff.map(Str::text));
                    let edit = Edit::new(&fields, patch.as_deref(), diff.as_deref());
                    touched.state(path, Source::NoText, |state, at| state.edit(&edit, at));
                }
                FileOperation::Read => {
                    let has_image = message.content.blocks().iter().any(|block| !matches!(block, Block::Text(_)));
                    let has_text = message.content.texts().next().is_some();
                    let part = ReadPart::new(&fields, &result).filter(|_| has_text && !has_image);
                    touched.state(path, Source::Binary, |state, at| match part {
                        Some(part) => state.read(&part, at),
                        None => state.forget(Source::Binary, at),
                    });
                }
                FileOperation::Command => {} // no tool
            }
        });
    }

    /// Applies the nested calls of a tool, or else the files that the tool mentions.
    fn other_tool(&self, files: &mut Rc<Files>, at: EntryIndex, arguments: &[u8], message: &Message<'_>) {
        let mut has_nested = false;
        for NestedCall { call, is_unfinished, error } in message.nested_calls() {
            has_nested = true;
            let name = call.name.text();
            let fields = Fields::new(call.arguments);
            if name == "bash" {
                self.command(files, at, &script(call.arguments), is_unfinished || error.is_some(), "");
                continue;
            }
            let Some((path, touch)) = touched(&call) else { continue };
            self.file(files, &path, at, |touched, path| match touch {
                FileOperation::Read => touched.state(path, Source::NoText, |state, at| state.latest = at),
                _ if is_unfinished => touched.doubt(path, Doubt::Stopped),
                _ if error.is_some() => {}
                FileOperation::Write => touched.write(path, &fields),
                FileOperation::Edit => {
                    let edit = Edit::new(&fields, None, None);
                    touched.state(path, Source::NoText, |state, at| state.edit(&edit, at));
                }
                FileOperation::Command => {} // no tool
            });
        }
        if has_nested {
            return;
        }
        let name = message.tool_name.unwrap_or_default().text().to_lowercase();
        let is_agent = name.contains("agent") || name.contains("task");
        // The letter of an escape is not a part of a name.
        let arguments = String::from_utf8_lossy(arguments).replace("\\n", "\n").replace("\\t", "\t");
        let output = message.content.text("\n");
        EntryFiles::doubt_all(files, at, Doubt::Tool, |files| match is_agent {
            true => files.certain().cloned().collect(),
            false => [files.mentioned(&arguments), files.mentioned(&output)].concat(),
        });
    }

    /// Returns `true` if a path in the description of a call is certainly not wanted.
    fn is_other_file(&self, path: &str) -> bool {
        let is_plain = |path: &str| path.len() < SHORT_PATH && path.bytes().all(|byte| byte.is_ascii_graphic());
        let Some(wanted) = &self.wanted else { return false };
        wanted.iter().all(|path| is_plain(path)) && is_plain(path) && !wanted.contains(&self.full_path(path))
    }

    /// Reads the arguments of the call of a result.
    fn arguments(&mut self, result: EntryIndex) -> Result<Option<Vec<u8>>, E> {
        let Some(&id) = self.tree.answers.get(&result) else { return Ok(None) };
        let above = self.tree.to_root(self.tree.parent(result)).take(NEARBY);
        let has_call = |at: &EntryIndex| self.tree.calls.get(at).is_some_and(|calls| calls.contains(&id));
        let Some(at) = above.into_iter().find(has_call) else { return Ok(None) };
        if self.calls.as_ref().is_none_or(|(known, _)| *known != at) {
            self.calls = Some((at, (self.read)(self.tree.node(at))?));
        }
        let Some((_, line)) = &self.calls else { return Ok(None) };
        let entry = parse::entry(line);
        let Some(message) = &entry.message else { return Ok(None) };
        let has_id = |call: &&ToolCall<'_>| IdHash::of(call.id) == id;
        let call = message.content.tool_calls().filter(has_id).last();
        Ok(call.map(|call| call.arguments.to_vec()))
    }
}

impl<E> Replay<'_, E> {
    /// Returns the changes of files by a script.
    fn effects(&self, script: &str, has_failed: bool) -> Vec<Effect> {
        shell::effects(script, has_failed, &self.tree.header.cwd, self.home)
    }

    /// Applies a change to a file, if it is wanted.
    fn file(&self, files: &mut Rc<Files>, path: &str, at: EntryIndex, change: impl FnOnce(&mut EntryFiles<'_>, &str)) {
        let path = self.full_path(path);
        if self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&path)) {
            change(&mut EntryFiles { files: Rc::make_mut(files), at }, &path);
        }
    }

    fn full_path(&self, path: &str) -> String {
        session_path(path, &self.tree.header.cwd, self.home)
    }
}

/// Returns the absolute path of a file as a session names it. pi removes an `@` at the start.
pub fn session_path(path: &str, cwd: &str, home: &str) -> String {
    full_path(path.strip_prefix('@').unwrap_or(path), cwd, home)
}

/// Returns the script of a call of `bash`.
fn script(arguments: &[u8]) -> String {
    Fields::new(arguments).text("command")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::session::replay::state::{Content, Exactness, FileState};
    use crate::session::tree::tests::tree;
    use serde_json::{Value, json};

    /// A session in `/w` as lines. The parent of an entry is the one before it.
    #[derive(Clone, Default)]
    struct Lines(Vec<String>);

    impl Lines {
        fn message(mut self, message: &Value) -> Self {
            let at = self.0.len();
            let parent = at.checked_sub(1).map(|before| format!("e{before}"));
            let time = format!("2026-01-01T00:00:{:02}Z", at % 60);
            self.0.push(json!({"type": "message", "id": format!("e{at}"), "parentId": parent, "timestamp": time, "message": message}).to_string());
            self
        }

        fn user(self, text: &str) -> Self {
            self.message(&json!({"role": "user", "content": text}))
        }

        fn call(self, name: &str, arguments: &Value) -> Self {
            let id = format!("c{}", self.0.len());
            self.message(&json!({"role": "assistant", "content": [{"type": "toolCall", "id": id, "name": name, "arguments": arguments}]}))
        }

        fn answer(self, text: &str, is_error: bool) -> Self {
            let id = format!("c{}", self.0.len() - 1);
            self.message(&json!({"role": "toolResult", "toolCallId": id, "content": [{"type": "text", "text": text}], "isError": is_error}))
        }

        fn write(self, path: &str, content: &str) -> Self {
            self.call("write", &json!({"path": path, "content": content})).answer("Successfully wrote", false)
        }

        fn edit(self, path: &str, old: &str, new: &str) -> Self {
            self.call("edit", &json!({"path": path, "oldText": old, "newText": new}))
                .answer("Successfully replaced", false)
        }

        fn read(self, path: &str, content: &str) -> Self {
            self.call("read", &json!({"path": path})).answer(content, false)
        }

        fn bash(self, command: &str, output: &str) -> Self {
            self.call("bash", &json!({"command": command})).answer(output, false)
        }

        /// Returns the states at the last entry: exactness, text, and number of changes from outside.
        fn states(&self) -> BTreeMap<String, (Exactness, String, usize)> {
            let tree = tree(&self.0);
            let last = tree.nodes.len() as EntryIndex - 1;
            let lines = &self.0;
            let read = |node: &Node| Ok::<_, ()>(lines[node.offset as usize - 1].clone().into_bytes());
            let files = Replay::new(&tree, "/h", read).at(last).unwrap();
            let text = |state: &FileState| match &state.content {
                Content::Exact(text) => text.to_string(),
                Content::Partial(known) => known.with_gaps(),
                Content::Unknown | Content::Removed => String::new(),
            };
            let all: BTreeMap<_, _> = files
                .iter()
                .map(|(path, state)| (path.clone(), (state.exactness(), text(state), state.outside.len())))
                .collect();
            for (path, state) in files.iter() {
                let mut only = Replay::new(&tree, "/h", read).only([path.clone()]).unwrap();
                assert_eq!(only.at(last).unwrap().get(path), Some(state), "alone, the state is the same");
                let again = Replay::new(&tree, "/h", read).only([path.clone()]).unwrap();
                let again = again.with_effects(only.into_effects()).at(last).unwrap();
                assert_eq!(again.get(path), Some(state), "with known effects, the state is the same");
            }
            all
        }

        #[track_caller]
        fn has(&self, path: &str, exactness: Exactness, text: &str) -> &Self {
            let states = self.states();
            let (found, content, _) = states.get(path).unwrap_or_else(|| panic!("{states:?}"));
            assert_eq!((*found, content.as_str()), (exactness, text));
            self
        }
    }

    #[test]
    fn writes_and_edits_are_exact() {
        let lines = Lines::default().user("go").write("src/../a.txt", "one\r\ntwo").edit("./a.txt", "two", "2");
        lines.has("/a.txt", Exactness::Exact, "one\r\n2");
    }

    #[test]
    fn failed_calls_change_nothing() {
        let lines =
            Lines::default().write("a", "x").call("edit", &json!({"path": "a", "oldText": "x", "newText": "y"}));
        lines.clone().answer("Could not find the exact text", true).has("/a", Exactness::Exact, "x");
        lines.clone().answer("Operation aborted", true).has("/a", Exactness::Possible, "x");
        lines.user("pi was killed").has("/a", Exactness::Possible, "x");
    }

    #[test]
    fn reads_confirm_and_contradict() {
        let lines = Lines::default().write("a", "x\n").bash("python3 a", "");
        lines.has("/a", Exactness::Possible, "x\n");
        lines.clone().read("a", "x\n").has("/a", Exactness::Exact, "x\n");
        let changed = lines.read("a", "z\n");
        assert_eq!(changed.states()["/a"], (Exactness::Exact, "z\n".into(), 0), "the command changed it");
        assert_eq!(
            changed.read("a", "q").states()["/a"],
            (Exactness::Exact, "q".into(), 1),
            "another program changed it"
        );
    }

    #[test]
    fn parts_become_a_whole() {
        let part = |lines: Lines, offset: usize, text: &str| {
            lines.call("read", &json!({"path": "a", "offset": offset, "limit": 2})).answer(text, false)
        };
        let first = part(Lines::default(), 1, "a\nb\n\n[2 more lines in file. Use offset=3 to continue.]");
        first.has("/a", Exactness::Partial, "a\nb\n[2 unknown lines]");
        part(first.clone(), 3, "c\n").has("/a", Exactness::Exact, "a\nb\nc\n");
        first.edit("a", "b", "b1\nb2").has("/a", Exactness::Partial, "a\nb1\nb2\n[2 unknown lines]");
    }

    #[test]
    fn commands_write_move_and_remove() {
        let lines = Lines::default().bash("cat > a.sh <<'EOF'\nls $x\nEOF", "").bash("mv a.sh b.sh", "");
        lines.has("/b.sh", Exactness::Exact, "ls $x\n").has("/a.sh", Exactness::Removed, "");
        lines.bash("rm b.sh", "").has("/b.sh", Exactness::Removed, "");
        let unknown = Lines::default().bash("rm a.txt && mv b.txt c.txt", "").bash("rm -rf d", "");
        unknown.has("/a.txt", Exactness::Removed, "").has("/b.txt", Exactness::Removed, "");
        unknown.has("/c.txt", Exactness::Unknown, "");
        assert!(!unknown.states().contains_key("/d"), "it may be a directory");
    }

    #[test]
    fn copies_have_the_content_of_their_source() {
        let lines = Lines::default().write("a.txt", "a").write("dir/x", "x");
        lines.clone().bash("cp a.txt b.txt", "").has("/b.txt", Exactness::Exact, "a").has(
            "/a.txt",
            Exactness::Exact,
            "a",
        );
        lines.clone().bash("cp a.txt dir", "").has("/dir/a.txt", Exactness::Exact, "a");
        lines.clone().bash("cp a.txt other", "").has("/other", Exactness::Possible, "a");
        lines.bash("cp unknown.txt a.txt", "").has("/a.txt", Exactness::Possible, "a").has(
            "/dir/x",
            Exactness::Exact,
            "x",
        );
        Lines::default().write("a.txt", "a").bash("./gen", "").bash("cp a.txt b.txt", "").has(
            "/b.txt",
            Exactness::Possible,
            "a",
        );
    }

    #[test]
    fn a_move_into_a_directory_does_not_depend_on_the_wanted_files() {
        let lines = Lines::default().write("a.txt", "a").bash("cat > dir/x <<'E'\nx\nE", "").bash("mv a.txt dir", "");
        lines.has("/dir/a.txt", Exactness::Exact, "a").has("/dir/x", Exactness::Exact, "x\n");
        let own = json!({"role": "bashExecution", "command": "mv a.txt b.txt", "output": "", "exitCode": 0});
        Lines::default().write("a.txt", "a").message(&own).has("/b.txt", Exactness::Exact, "a");
    }

    #[test]
    fn removed_files_can_be_created_again() {
        let lines = Lines::default().write("a.txt", "a").bash("rm a.txt", "");
        lines.has("/a.txt", Exactness::Removed, "");
        lines.clone().bash("./gen > a.txt", "").has("/a.txt", Exactness::Unknown, "");
        lines.bash("cp b.txt a.txt", "").has("/a.txt", Exactness::Unknown, "");
    }

    #[test]
    fn commands_that_are_not_read_only_make_all_files_doubtful() {
        let lines = Lines::default().write("a.rs", "a").write("b.rs", "b").bash("cargo test && git status", "a.rs");
        lines.has("/a.rs", Exactness::Exact, "a");
        lines.clone().bash("sed -i s/x/y/ a.rs", "").has("/a.rs", Exactness::Possible, "a").has(
            "/b.rs",
            Exactness::Exact,
            "b",
        );
        lines.clone().bash("git checkout -- a.rs", "").has("/a.rs", Exactness::Possible, "a").has(
            "/b.rs",
            Exactness::Exact,
            "b",
        );
        lines.clone().bash("./gen a.rs", "").has("/a.rs", Exactness::Possible, "a").has(
            "/b.rs",
            Exactness::Possible,
            "b",
        );
        lines.clone().bash("git commit -m x", "[main 1a2b3c4] x").has("/b.rs", Exactness::Exact, "b");
        lines.clone().bash("git commit -m x", "hook: reformatted 1 file").has("/b.rs", Exactness::Possible, "b");
        lines.clone().bash("npm run check", "Fixed 2 files.").has("/b.rs", Exactness::Possible, "b");
        lines.bash("git stash", "").has("/b.rs", Exactness::Possible, "b");
    }

    #[test]
    fn attached_files_and_nested_calls_are_replayed() {
        let text = "<file name=\"/w/n.md\">\n# N\n\n</file>\nSee it";
        Lines::default().user(text).has("/w/n.md", Exactness::Possible, "# N\n");
        let nested = json!({"calls": [
            {"id": "1", "name": "write", "arguments": {"path": "a", "content": "x"}, "status": "ok"},
            {"id": "2", "name": "edit", "arguments": {"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}, "status": "ok"},
            {"id": "3", "name": "write", "arguments": {"path": "a", "content": "no"}, "status": "error"},
        ]});
        let lines = Lines::default().call("codemode", &json!({"code": "1"}));
        lines.message(&json!({"role": "toolResult", "toolCallId": "c0", "content": [], "nestedCalls": nested})).has(
            "/a",
            Exactness::Exact,
            "y",
        );
    }

    #[test]
    fn images_and_removed_text_are_unknown() {
        Lines::default().read("a.png", "Read image file [image/png]").has("/a.png", Exactness::Unknown, "");
        Lines::default().write("a", "[pitree slim: removed 2 kB of output]").has("/a", Exactness::Unknown, "");
        Lines::default().edit("a", "x", "y").has("/a", Exactness::Unknown, "");
    }

    proptest::proptest! {
        #[test]
        fn an_exact_state_is_the_file(steps in proptest::collection::vec((0usize..6, "[ab\n]{0,4}", "[abc\n]{0,3}"), 1..16)) {
            let (mut lines, mut file): (Lines, Option<String>) = Default::default();
            for (kind, one, other) in steps {
                lines = match (kind, &file) {
                    (0, _) => {
                        file = Some(one.clone());
                        lines.write("f", &one)
                    }
                    (1 | 2, Some(text)) if !one.is_empty() && text.matches(&*one).count() == 1 && edit::replaced(text, &[(one.clone(), other.clone())]).is_some() => {
                        let after = text.replacen(&*one, &other, 1);
                        file = Some(after);
                        lines.edit("f", &one, &other)
                    }
                    (3, Some(text)) => lines.read("f", text),
                    (4, Some(_)) => {
                        file = Some(other.clone());
                        lines.bash("python3 change.py f", "")
                    }
                    _ => lines.call("edit", &json!({"path": "f", "oldText": one, "newText": other})).answer("Could not find", true),
                };
            }
            let states = lines.states();
            if let Some((Exactness::Exact, text, _)) = states.get("/f") {
                proptest::prop_assert_eq!(Some(text), file.as_ref());
            }
        }
    }
}
