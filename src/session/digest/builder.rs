//! Collects a digest from the lines of a file in one pass. It can stop anywhere and continue when the file has grown.

use serde::{Deserialize, Serialize};

use crate::base::javascript::{js_trim, utf16_prefix};
use crate::base::text::clean;
use crate::base::time;
use crate::session::digest::commits::CommitCollector;
use crate::session::digest::details::{Details, EntryKeys, LazyDetails, Models, identity};
use crate::session::digest::messages::MessageTexts;
use crate::session::digest::touched_files::TouchCollector;
use crate::session::digest::{Digest, DigestLabel};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::{self, NEARBY};
use crate::session::entry::{Content, Entry, EntryId, Message, RawTime, ToolCall, parse, row, typed_prompt};
use crate::session::json::value::Fields;
use crate::session::lines::{LabelLine, Line, LineCollector, NotASession};
use crate::session::links::{ActivePath, EntryIndex, ParentLinks};
use crate::session::problem::Problem;
use crate::session::search_text::SearchTextsBuf;
use crate::session::stats::entry_stats::StatsCollector;

/// Length limit of a fork's first own message and of typed words, in UTF-16 code units.
const OWN_MESSAGE: usize = 300;

/// The approximate maximum length of the first message in a digest, in bytes: the message may be a pasted file.
pub(super) const FIRST_MESSAGE: usize = 2000;

/// Reads the line at an offset again, if it can: for rows of labeled entries, which come before their labels.
pub type RereadLine<'a> = dyn FnMut(u64) -> Option<Vec<u8>> + 'a;

/// Collects a digest from the lines of a file. It is serialized without its texts and without a partial last line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DigestBuilder {
    home: Box<str>,
    pub(crate) lines: LineCollector,
    /// The search texts, if they are collected.
    #[serde(skip)]
    texts: Option<SearchTextsBuf>,
    digest: Digest,
    details: Details,
    /// The time of the newest message of a user or an assistant.
    activity: Option<f64>,
    models: Models,
    entries: EntryKeys,
    /// The entries that are labels.
    label_lines: Vec<EntryIndex>,
    touches: TouchCollector,
    commits: CommitCollector,
    stats: StatsCollector,
    messages: MessageTexts,
    is_hidden_in_pi: bool,
    is_undrawn_in_pi: bool,
}

impl DigestBuilder {
    /// Creates an empty digest. In tool calls, `~` replaces `home` in paths.
    pub fn new(home: &str) -> Self {
        Self { home: home.into(), ..Self::default() }
    }

    /// Collects the search texts, too; `before` contains the texts of earlier lines.
    pub(crate) fn with_texts(self, before: SearchTextsBuf) -> Self {
        Self { texts: Some(before), ..self }
    }

    /// Adds the next line of the file.
    pub fn line(&mut self, line: Line<'_>) {
        if self.lines.is_complete(&line) {
            self.take(line);
        }
    }

    /// Returns the digest. The caller sets `path`, `bytes` and other file system data. `mtime` is the modification time
    /// of the file, in milliseconds since 1970.
    ///
    /// # Errors
    /// The file is not a session.
    pub fn finish(self, mtime: i64, reread: &mut RereadLine<'_>) -> Result<Digest, NotASession> {
        self.finish_with_texts(mtime, reread).map(|(digest, _)| digest)
    }

    /// Returns the digest and the search texts, which are empty if they were not collected.
    ///
    /// # Errors
    /// The errors of [`DigestBuilder::finish`].
    pub(crate) fn finish_with_texts(
        mut self,
        mtime: i64,
        reread: &mut RereadLine<'_>,
    ) -> Result<(Digest, SearchTextsBuf), NotASession> {
        if let Some(last) = self.lines.last.take() {
            self.take(last.line());
        }
        let header = self.lines.session()?.clone();
        let parent_links = self.lines.parent_links();
        let labels = self.labels(&parent_links, reread);
        let mut digest = self.digest;
        let mut details = self.details;
        let may_repeat = header.version < 2.0 || !parent_links.duplicates.is_empty() || self.label_lines.len() > 1;
        details.prompts = self.messages.prompts().collect();
        let (all, repeated) = self.entries.finish(may_repeat, &details.prompts);
        digest.all = all;
        let is_label = |at: EntryIndex| self.label_lines.binary_search(&at).is_ok();
        let is_root = |at: &EntryIndex| parent_links.parents[*at as usize].is_none_or(is_label);
        let roots = (0..parent_links.parents.len() as EntryIndex).filter(is_root);
        digest.roots = roots.map(|at| self.entries.ids[at as usize]).collect();
        let stubs = self.lines.stubs(&parent_links);
        for (children, is_stub) in parent_links.child_counts(&stubs).into_iter().zip(stubs) {
            digest.branch_points += usize::from(children > 1);
            digest.leaves += usize::from(children == 0 && !is_stub);
        }
        if let Some(name) = self.lines.stored_name.take().filter(|_| header.is_newer()) {
            digest.name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        }
        digest.mtime = mtime;
        digest.modified = match self.activity.filter(|&time| time > 0.0) {
            Some(activity) => time::from_number(activity),
            None => Some(header.created.filter(|_| header.created_is_text).unwrap_or(mtime)),
        };
        digest.problems = self.lines.problems(&parent_links);
        digest.problems.extend(self.is_hidden_in_pi.then_some(Problem::NoContent));
        digest.problems.extend(self.is_undrawn_in_pi.then_some(Problem::NoText));
        digest.labels = labels;
        digest.commits = self.commits.finish();
        if let Some(first) = digest.first_message.take_if(|first| first.len() > FIRST_MESSAGE) {
            digest.first_message = Some(first[..first.ceil_char_boundary(FIRST_MESSAGE)].into());
            details.first_message = Some(first);
        }
        details.newer_message = self.lines.newer_message(&parent_links);
        details.offsets = self.lines.offsets.into();
        details.entries = self.entries;
        (details.last_prompt, details.last_answer) = self.messages.last(&parent_links);
        details.touches = self.touches.finish(&parent_links, &self.messages);
        details.models = self.models.busiest_first();
        details.active = ActivePath::new(&parent_links);
        digest.header = header;
        let words = |at: EntryIndex| self.messages.row(at).map_or("", |row| self.messages.text(row));
        let stats = self.stats.finish((&parent_links, details.active.clone(), repeated), words);
        digest.details = LazyDetails::new(details, stats);
        Ok((digest, self.texts.unwrap_or_default()))
    }

    fn take(&mut self, line: Line<'_>) {
        if self.lines.is_refused() {
            return;
        }
        let read = line.read();
        if let Some(entry) = self.lines.note(&line, &read)
            && !self.lines.is_refused()
        {
            self.entry(entry, line.bytes);
        }
    }

    fn entry(&mut self, entry: &Entry<'_>, line: &[u8]) {
        let at = self.digest.entry_count as EntryIndex;
        if let Some(texts) = &mut self.texts {
            texts.take(at, entry);
        }
        self.digest.entry_count += 1;
        let time = entry.timestamp.and_then(RawTime::ms);
        let (cost, tokens) = entry.used().map_or((0.0, 0.0), |usage| (usage.cost, usage.tokens));
        self.digest.cost += cost;
        self.digest.tokens += tokens;
        let is_label = entry.kind == EntryKind::Label; // pi rewrites the labels of a fork
        let inherits = !is_label && self.lines.header().is_some_and(|header| header.inherits(time));
        self.entries.push(
            identity(entry, self.lines.ids.last().and_then(|ids| ids.id), at, time, line),
            cost,
            tokens,
            inherits,
        );
        self.stats.push(at, time, entry);
        self.digest.message_count += usize::from(entry.type_name.is("message"));
        if !matches!(entry.kind, EntryKind::Label | EntryKind::SessionInfo | EntryKind::ContextEdit) {
            self.digest.written = time;
        }
        match entry.kind {
            EntryKind::User => self.add_message(at, time, entry),
            EntryKind::Assistant => {
                self.add_message(at, time, entry);
                self.add_answer(at, time, entry);
            }
            EntryKind::ToolResult => {
                let call = entry.message.as_ref().and_then(|message| message.tool_call_id);
                self.touches.answer(at, time, call);
                self.commits.answer(at, time, entry);
                for nested in entry.message.iter().flat_map(Message::nested_calls) {
                    self.add_call(at, time, &nested.call);
                }
            }
            EntryKind::Bash => {
                self.commits.command(at, time, entry);
                let cwd = self.lines.header().map_or("", |header| &header.cwd);
                self.touches.command(at, time, entry, cwd);
            }
            EntryKind::OtherMessage => self.is_hidden_in_pi |= entry.message.is_none(),
            EntryKind::SessionInfo => {
                self.digest.name = entry.session_name();
            }
            // `LineCollector` collects the contents of labels.
            EntryKind::Label => self.label_lines.push(at),
            _ => {}
        }
    }

    /// Adds a message of a user or an assistant with the time of its entry.
    fn add_message(&mut self, at: EntryIndex, written: Option<i64>, entry: &Entry<'_>) {
        let Some(message) = &entry.message else { return };
        if !row::is_silent(entry) {
            self.messages.push(at, entry);
        }
        if matches!(message.content, Content::Missing) {
            return;
        }
        let time = match message.timestamp {
            Some(RawTime::Number(ms)) => Some(ms),
            _ => written.map(|ms| ms as f64),
        };
        if let Some(time) = time {
            self.activity = Some(self.activity.unwrap_or(0.0).max(time));
        }
        self.is_hidden_in_pi |= message.content.breaks_pi_list();
        if entry.kind == EntryKind::Assistant {
            self.is_undrawn_in_pi |= message.content.breaks_pi_tree();
        } else {
            // The entry was written after the file was forked.
            let is_own = self.lines.header().is_some_and(|header| header.is_fork() && !header.inherits(written));
            let wants_own = self.digest.own_message.is_none() && is_own;
            if self.digest.first_message.is_none() || wants_own {
                let text = Some(message.content.text(" ")).filter(|text| !text.is_empty());
                let typed = typed_prompt::typed(entry);
                let short = |text: &str| utf16_prefix(text, OWN_MESSAGE).to_owned();
                if wants_own {
                    let own = typed.as_deref().or(text.as_deref()).map(js_trim).filter(|text| !text.is_empty());
                    self.digest.own_message = own.map(short);
                }
                if self.digest.first_message.is_none() {
                    self.digest.first_message = text;
                    self.digest.typed = typed.as_deref().map(short);
                }
            }
        }
    }

    /// Adds the tool calls and the model of an assistant message.
    fn add_answer(&mut self, at: EntryIndex, time: Option<i64>, entry: &Entry<'_>) {
        let Some(message) = &entry.message else { return };
        for call in message.content.tool_calls() {
            self.add_call(at, time, call);
            self.commits.call(call);
        }
        let Some(answered) = message.answered_by() else { return };
        self.models.note(answered, entry.cost());
        if let Some(requested) = message.model.map(|model| model.text())
            && !answered.is(&requested)
            && !self.details.requested_models.contains(&*requested)
        {
            self.details.requested_models.insert(requested.into());
        }
    }

    /// Adds a tool call.
    fn add_call(&mut self, at: EntryIndex, time: Option<i64>, call: &ToolCall<'_>) {
        let name = call.name.text();
        match self.details.tools.get_mut(&*name) {
            Some(calls) => *calls += 1,
            None => drop(self.details.tools.insert(name.into(), 1)),
        }
        let cwd = self.lines.header().map_or("", |header| &header.cwd);
        self.touches.call(at, time, call, cwd);
    }

    fn labels(&self, parent_links: &ParentLinks, reread: &mut RereadLine<'_>) -> Vec<DigestLabel> {
        let label = |(at, set): (EntryIndex, &LabelLine)| DigestLabel {
            entry: EntryId::Id(set.target_id.clone().into()),
            at,
            text: set.text.clone(),
            time: set.time,
            row: self.row(at, parent_links, reread).unwrap_or_default().into(),
        };
        self.lines.labels(parent_links).into_iter().map(label).collect()
    }

    /// Returns the row of an entry from its line. The row of a tool result is its call.
    fn row(&self, at: EntryIndex, parent_links: &ParentLinks, reread: &mut RereadLine<'_>) -> Option<String> {
        let mut line = |at: EntryIndex| reread(*self.lines.offsets.get(at as usize)?);
        let own = line(at)?;
        let entry = parse::line(&own).ok()??;
        let row = || {
            Some(
                typed_prompt::typed(&entry)
                    .map_or_else(|| row::text(&entry), |typed| typed_prompt::row(&typed, row::MESSAGE_UNITS)),
            )
        };
        let answer = entry.message.as_ref().filter(|_| entry.kind == EntryKind::ToolResult);
        let Some(call) = answer.and_then(|answer| answer.tool_call_id) else { return row() };
        let parent = |&at: &EntryIndex| parent_links.parents[at as usize];
        for at in std::iter::successors(parent(&at), parent).take(NEARBY) {
            let line = line(at)?;
            let Ok(Some(above)) = parse::line(&line) else { break };
            if above.kind == EntryKind::Assistant {
                let said = above.message.as_ref().and_then(|message| message.content.tool_call(call));
                return said.map_or_else(row, |said| {
                    let row = tool_call::describe(said, &Fields::new(said.arguments), &self.home);
                    Some(clean(&row).into_owned())
                });
            }
        }
        row()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::base::javascript::utf16_prefix;
    use crate::session::digest::touched_files::FileOperationCall;
    use crate::session::entry::tool_call::FileOperation;
    use crate::session::search_text;
    use crate::session::tree::{Tree, TreeLines};

    /// Returns the lines of a file.
    fn lines(text: &[u8]) -> impl Iterator<Item = Line<'_>> {
        let mut offset = 0;
        text.split_inclusive(|&b| b == b'\n').map(move |line| {
            let (start, ended) = (offset, line.ends_with(b"\n"));
            offset += line.len() as u64;
            Line::new(start, line.strip_suffix(b"\n").unwrap_or(line), ended)
        })
    }

    /// Reads lines of a text again.
    fn reread(text: &[u8]) -> impl FnMut(u64) -> Option<Vec<u8>> {
        move |offset| text.get(offset as usize..)?.split(|&b| b == b'\n').next().map(<[u8]>::to_vec)
    }

    fn builder() -> DigestBuilder {
        DigestBuilder::new("/home/me")
    }

    fn digest(text: &[u8]) -> Result<Digest, NotASession> {
        let mut builder = builder();
        lines(text).for_each(|line| builder.line(line));
        builder.finish(5, &mut reread(text))
    }

    fn of(lines: &[&str]) -> Digest {
        digest(lines.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes()).unwrap()
    }

    /// Returns the digest and the tree of a file.
    fn both(text: &[u8]) -> Option<(Digest, Tree)> {
        let mut part = TreeLines::new("/home/me");
        lines(text).for_each(|line| part.line(line));
        match (digest(text), Tree::build([part])) {
            (Ok(digest), Ok(tree)) => Some((digest, tree)),
            (Err(_), Err(_)) => None,
            (digest, tree) => panic!("one of them is a session: {digest:?}, {tree:?}"),
        }
    }

    fn agree(digest: &Digest, tree: &Tree) {
        for at in 0..tree.nodes.len() as EntryIndex {
            assert_eq!(digest.is_active(at), tree.is_active(at), "entry {at}");
        }
        assert!(!digest.is_active(tree.nodes.len() as EntryIndex));
        let mut labels: Vec<_> = tree.labels.iter().collect();
        labels.sort_by_key(|(at, _)| **at);
        let labels = labels.into_iter().map(|(&at, label)| DigestLabel {
            entry: EntryId::of(tree, at),
            at,
            text: label.text.clone(),
            time: label.time,
            row: tree.nodes[at as usize].words().into(),
        });
        assert_eq!(digest.labels, labels.collect::<Vec<_>>());
        for touched in &digest.details().touches.all {
            assert_eq!(touched.time, tree.nodes[touched.entry as usize].time);
            let says = |at: &EntryIndex| {
                let node = &tree.nodes[*at as usize];
                node.kind == EntryKind::User || (node.kind == EntryKind::Assistant && !node.silent)
            };
            let mut above = tree.to_root(touched.entry);
            let said = above.find(says).map_or("", |at| tree.nodes[at as usize].words());
            assert_eq!(digest.details().touches.messages.get(touched.message), js_trim(utf16_prefix(said, 100)));
        }
        let has_text = |at: &EntryIndex| !tree.nodes[*at as usize].text.is_empty();
        let is = |kind: EntryKind| move |at: &EntryIndex| tree.nodes[*at as usize].kind == kind && has_text(at);
        assert_eq!(digest.details().newer_message, tree.newer_message);
        let to_root = || tree.to_root(tree.leaf);
        let prompt = to_root().find(is(EntryKind::User));
        let since = to_root().take_while(|&at| Some(at) != prompt);
        let answer = since.filter(is(EntryKind::Assistant)).find(|&at| !tree.nodes[at as usize].silent);
        for (last, at) in [(&digest.details().last_prompt, prompt), (&digest.details().last_answer, answer)] {
            assert_eq!(last.as_ref().map(|last| last.at), at);
            let texts = last.as_ref().map(|last| {
                (
                    js_trim(utf16_prefix(&last.text().0, 100)).to_owned(),
                    js_trim(utf16_prefix(tree.nodes[last.at as usize].words(), 100)),
                )
            });
            assert!(texts.as_ref().is_none_or(|(kept, row)| kept == row), "{texts:?}");
        }
        let paths: BTreeSet<&str> = digest.details().touches.paths.iter().collect();
        assert_eq!(paths.len(), digest.details().touches.paths.len(), "each path once");
        let of_tree = |problem: &&Problem| !matches!(problem, Problem::NoContent | Problem::NoText);
        assert_eq!(digest.problems.iter().filter(of_tree).copied().collect::<Vec<_>>(), tree.problems);
        let facts = (digest.entry_count, digest.branch_points, digest.leaves, digest.cost);
        let leaves: u32 = tree.roots.iter().map(|&root| tree.below(root).leaves).sum();
        assert_eq!(digest.details().entries.ids.len(), digest.entry_count);
        assert!(digest.all.cost == digest.cost || digest.all.entries < digest.entry_count);
        assert_eq!(facts, (tree.nodes.len(), tree.branch_points(), leaves as usize, tree.cost()));
        let is_end = |at: &EntryIndex| !tree.is_stub(*at) && tree.branches(*at).next().is_none();
        assert_eq!((0..tree.nodes.len() as EntryIndex).filter(is_end).count(), digest.leaves);
    }

    /// The search texts belong to entries of the tree.
    fn texts_agree(text: &[u8], tree: &Tree) {
        let mut builder = search_text::SearchTextBuilder::default();
        lines(text).for_each(|line| builder.line(line));
        let conversation = builder.texts().unwrap().conversation;
        for (at, _) in conversation.each() {
            let node = &tree.nodes[at as usize];
            assert!(matches!(node.kind, EntryKind::User | EntryKind::Assistant), "entry {at} is a {:?}", node.kind);
        }
        let said: Vec<EntryIndex> = (0..tree.nodes.len() as EntryIndex)
            .filter(|&at| tree.nodes[at as usize].kind == EntryKind::User && !tree.nodes[at as usize].text.is_empty())
            .collect();
        let is_there = |at| conversation.starts.binary_search_by_key(&at, |(_, entry)| *entry).is_ok();
        assert_eq!(said.into_iter().filter(|&at| !is_there(at)).collect::<Vec<_>>(), [0; 0]);
    }

    /// Returns the digest of a file that is cut at a byte and read in two parts, with a snapshot between them.
    fn in_two_goes(text: &[u8], cut: usize) -> Result<Digest, NotASession> {
        let mut builder = builder();
        lines(&text[..cut]).for_each(|line| builder.line(line));
        let between = builder.clone().finish(5, &mut reread(&text[..cut]));
        assert_eq!(format!("{between:?}"), format!("{:?}", digest(&text[..cut])));
        let place = builder.lines.place();
        let rest = lines(&text[place as usize..]);
        rest.for_each(|line| builder.line(Line { offset: place + line.offset, ..line }));
        builder.finish(5, &mut reread(text))
    }

    #[test]
    fn lines_that_pitree_appends_are_no_sign_of_a_pi() {
        let session = of(&[
            r#"{"type":"session","version":3,"id":"s"}"#,
            r#"{"type":"message","id":"a","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"x"}}"#,
            r#"{"type":"label","id":"b","parentId":"a","timestamp":"2026-01-02T00:00:00.000Z","targetId":"a"}"#,
            r#"{"type":"context_edit","id":"c","parentId":"b","timestamp":"2026-01-03T00:00:00.000Z","targetId":"a","replacement":null}"#,
        ]);
        assert_eq!(session.written, Some(1_767_225_600_000), "the time of the message");
    }

    #[test]
    fn matches_the_trees_of_all_fixtures() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (mut folders, mut sessions) = (vec![root.join("fixtures"), root.join("assets")], 0);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "jsonl")
                    && let text = std::fs::read(&path).unwrap()
                    && let Some((digest, tree)) = both(&text)
                {
                    agree(&digest, &tree);
                    texts_agree(&text, &tree);
                    sessions += 1;
                }
            }
        }
        assert!(sessions > 50, "{sessions}");
    }

    #[test]
    fn counts_tool_calls_and_locates_them() {
        let found = of(&[
            r#"{"type":"session","version":3,"id":"s"}"#,
            r#"{"type":"message","id":"0","message":{"role":"user","content":"Mend it"}}"#,
            r#"{"type":"message","id":"1","parentId":"0","timestamp":5,"message":{"role":"assistant","model":"m","content":[{"type":"toolCall","id":"a","name":"read","arguments":{"path":"a.rs"}},{"type":"toolCall","id":"b","name":"edit","arguments":{"file_path":"a.rs"}},{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls"}},{"type":"toolCall","id":"d","name":"read","arguments":{}}]}}"#,
            r#"{"type":"message","id":"2","parentId":"1","timestamp":7,"message":{"role":"toolResult","toolCallId":"b"}}"#,
        ]);
        let touches = &found.details().touches;
        let (path, said) = (
            |it: &FileOperationCall| touches.paths.get(it.path),
            |it: &FileOperationCall| touches.messages.get(it.message),
        );
        let touches: Vec<_> =
            touches.all.iter().map(|it| (path(it), it.operation, it.entry, it.time, said(it))).collect();
        assert_eq!(
            touches,
            [
                ("a.rs", FileOperation::Read, 1, Some(5), "Mend it"),
                ("a.rs", FileOperation::Edit, 2, Some(7), "Mend it")
            ]
        );
        let tools: Vec<(&str, u32)> = found.details().tools.iter().map(|(name, calls)| (&**name, *calls)).collect();
        assert_eq!(tools, [("bash", 1), ("edit", 1), ("read", 2)]);
        assert_eq!(
            found.details().models.iter().map(|(model, uses)| (&**model, uses.answers)).collect::<Vec<_>>(),
            [("m", 1)]
        );
    }

    #[test]
    fn last_messages_are_on_the_active_path() {
        let said = |id: &str, parent: &str, role: &str, text: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"{role}","content":"{text}"}}}}"#
            )
        };
        let header = || r#"{"type":"session","version":3,"id":"s"}"#.to_string();
        let last = |lines: &[String]| {
            let found = of(&std::iter::once(&header()).chain(lines).map(String::as_str).collect::<Vec<_>>());
            (
                found.details().last_prompt.as_ref().map(|said| said.text().0),
                found.details().last_answer.as_ref().map(|said| said.text().0),
            )
        };
        let (a, b) = (said("a", "", "user", "one"), said("b", "a", "assistant", "two"));
        let (c, d) = (said("c", "b", "user", "three"), said("d", "c", "assistant", "four"));
        let both = |prompt: &str, answer: &str| (Some(prompt.into()), Some(answer.into()));
        assert_eq!(last(&[a.clone(), b.clone(), c.clone(), d]), both("three", "four"));
        let moved = r#"{"type":"label","id":"l","parentId":"b","targetId":"b"}"#.to_string();
        assert_eq!(last(&[a.clone(), b.clone(), c.clone(), moved]), both("one", "two"), "the leaf was moved back");
        assert_eq!(last(&[a, b, c]), (Some("three".into()), None), "the answer before is to another prompt");
        assert_eq!(last(&[]), (None, None));
        let long = last(&[said("a", "", "user", &"x".repeat(5000))]);
        assert_eq!(long.0.map(|text| text.len()), Some(400));
    }

    #[test]
    fn a_result_belongs_to_the_call_before_it() {
        let call = |id: &str, path: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"call_0","name":"read","arguments":{{"path":"{path}"}}}}]}}}}"#
            )
        };
        let answer = |id: &str| {
            format!(r#"{{"type":"message","id":"{id}","message":{{"role":"toolResult","toolCallId":"call_0"}}}}"#)
        };
        let header = r#"{"type":"session","version":3,"id":"s"}"#.to_string();
        let lines = [header, answer("a"), call("b", "one"), answer("c"), call("d", "two"), call("e", "three")];
        let found = of(&lines.each_ref().map(String::as_str));
        let touches = &found.details().touches;
        let path = |touched: &FileOperationCall| touches.paths.get(touched.path);
        let touches: Vec<_> = touches.all.iter().map(|touched| (path(touched), touched.entry)).collect();
        assert_eq!(touches, [("one", 2), ("two", 3), ("three", 4)]);
    }

    #[test]
    fn a_label_has_the_row_of_its_entry() {
        let found = of(&[
            r#"{"type":"session","version":3,"id":"s"}"#,
            r#"{"type":"message","id":"u","message":{"role":"user","content":" Go\non "}}"#,
            r#"{"type":"message","id":"a","parentId":"u","message":{"role":"assistant","content":[{"type":"toolCall","id":"x","name":"ls"},{"type":"toolCall","id":"y","name":"read","arguments":{"path":"/home/me/a.rs"}}]}}"#,
            r#"{"type":"message","id":"x","parentId":"a","message":{"role":"toolResult","toolCallId":"x","toolName":"ls"}}"#,
            r#"{"type":"message","id":"y","parentId":"x","message":{"role":"toolResult","toolCallId":"y","toolName":"read"}}"#,
            r#"{"type":"message","id":"z","parentId":"y","message":{"role":"toolResult","toolCallId":"z","toolName":"odd"}}"#,
            r#"{"type":"label","id":"1","targetId":"y","label":"old"}"#,
            r#"{"type":"label","id":"2","timestamp":8,"targetId":"y","label":"read"}"#,
            r#"{"type":"label","id":"3","targetId":"u","label":"begin"}"#,
            r#"{"type":"label","id":"4","targetId":"a","label":"calls"}"#,
            r#"{"type":"label","id":"5","targetId":"z","label":"odd"}"#,
            r#"{"type":"label","id":"6","targetId":"x","label":"gone"}"#,
            r#"{"type":"label","id":"7","targetId":"x"}"#,
        ]);
        let labels: Vec<_> = found.labels.iter().map(|it| (&*it.text, it.at, &*it.row, it.time)).collect();
        assert_eq!(
            labels,
            [
                ("begin", 0, "Go on", None),
                ("calls", 1, "(no content)", None),
                ("read", 3, "[read: ~/a.rs]", Some(8)),
                ("odd", 4, "[odd]", None),
            ]
        );
        assert_eq!(found.labels[0].entry, EntryId::Id("u".into()));
    }

    #[test]
    fn a_header_needs_a_string_id() {
        assert!(digest(br#"{"type":"session","id":"42"}"#).is_ok());
        for header in [r#"{"type":"session","id":42}"#, r#"{"type":"session"}"#, r#"{"type":"message","id":"42"}"#] {
            assert_eq!(digest(header.as_bytes()).err(), Some(NotASession::NoHeader), "{header}");
        }
    }

    #[test]
    fn only_a_string_header_time_counts_as_modified() {
        let text = of(&[r#"{"type":"session","id":"a","timestamp":"1970-01-01T00:00:01Z"}"#]);
        assert_eq!((text.header.created, text.modified), (Some(1000), Some(1000)));
        let number = of(&[r#"{"type":"session","id":"a","timestamp":1000}"#]);
        assert_eq!((number.header.created, number.modified), (Some(1000), Some(5)));
    }

    #[test]
    fn a_blank_message_is_not_a_fork_title() {
        let said = |text: &str, second: u8| {
            format!(
                r#"{{"type":"message","id":"{second}","parentId":null,"timestamp":"2026-01-05T09:00:0{second}Z","message":{{"role":"user","content":"{text}"}}}}"#
            )
        };
        let header =
            r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:03Z","parentSession":"/p"}"#;
        let lines = [header.to_string(), said("the parent's", 1), said(" \\n", 4), said("its own", 5)];
        let title = |lines: &[String]| of(&lines.iter().map(String::as_str).collect::<Vec<_>>()).title().to_string();
        assert_eq!((title(&lines).as_str(), title(&lines[..3]).as_str()), ("its own", "the parent's"));
    }

    #[test]
    fn a_name_or_label_set_while_pi_runs_is_no_branch() {
        let entry = |kind: &str, id: &str, parent: &str| {
            format!(
                r#"{{"type":"{kind}","id":"{id}","parentId":"{parent}","message":{{"role":"user","content":"x"}}}}"#
            )
        };
        let header = || r#"{"type":"session","version":3,"id":"s"}"#.to_string();
        let found = |entries: &[(&str, &str, &str)]| {
            let lines: Vec<String> = [header()]
                .into_iter()
                .chain(entries.iter().map(|(kind, id, parent)| entry(kind, id, parent)))
                .collect();
            let (digest, tree) = both(lines.join("\n").as_bytes()).unwrap();
            agree(&digest, &tree);
            (digest.branch_points, digest.leaves)
        };
        let (a, b) = (("message", "a", ""), ("message", "b", "a"));
        let (name, label) = (("session_info", "n", "a"), ("label", "l", "n"));
        assert_eq!(found(&[a, name, label, b]), (0, 1));
        assert_eq!(found(&[a, b, name, label]), (1, 2), "it holds the leaf: the other branch was left");
        assert_eq!(found(&[a, name, ("message", "c", "n"), b]), (1, 2), "pi went on there");
        assert_eq!(found(&[a, name, ("custom", "x", "n"), ("model_change", "m", "a"), b]), (0, 1));
        assert_eq!(found(&[("label", "l", ""), a, b]), (0, 1), "a stub may be a root");
        assert_eq!(found(&[("label", "l", ""), ("session_info", "n", "l")]), (0, 1));
        assert_eq!(found(&[a, b, ("message", "c", "a"), ("label", "l", "b"), ("message", "d", "c")]), (1, 2));
        assert_eq!(found(&[]), (0, 0));
    }

    #[test]
    fn reports_what_pi_fails_at() {
        let problems = |role: &str, content: &str| {
            let message = format!(
                r#"{{"type":"message","id":"1","parentId":null,"message":{{"role":"{role}","content":{content}}}}}"#
            );
            let problems = of(&[r#"{"type":"session","version":3,"id":"a"}"#, &message]).problems;
            problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ")
        };
        assert!(problems("user", "null").contains("pi's session list"));
        assert!(problems("assistant", r#"[{"type":"text","text":5}]"#).contains("pi's /tree"));
        assert_eq!(problems("user", r#"[{"type":"text","text":5}]"#), "");
        assert_eq!(problems("assistant", r#"[{"type":"text"},{"type":"text","text":null}]"#), "");
        assert_eq!(problems("toolResult", "null"), "");
    }

    #[test]
    fn a_partial_line_is_read_once_complete() {
        let text = b"{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n{\"type\":\"session_info\",\"name\":\"one\"}\n";
        for cut in 0..text.len() {
            assert_eq!(format!("{:?}", in_two_goes(text, cut)), format!("{:?}", digest(text)), "cut at {cut}");
        }
        let torn = digest(&text[..60]).unwrap();
        assert_eq!((torn.problems, torn.name), (vec![Problem::CutOff], None));
    }

    #[test]
    fn a_long_chain_takes_linear_time() {
        let mut text = String::from("{\"type\":\"session\",\"id\":\"s\"}\n");
        for _ in 0..100_000 {
            text += r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"read","arguments":{"path":"p"}}]}}"#;
            text.push('\n');
        }
        let found = digest(text.as_bytes()).unwrap();
        assert_eq!((found.details().touches.all.len(), found.details().touches.messages.len()), (100_000, 1));
    }

    /// A file of random relevant lines, including invalid ones.
    fn any_file() -> impl Strategy<Value = String> {
        let line = (0u8..9, 0u8..20, 0u8..20, "[a-c]?", any::<bool>());
        (1u8..4, proptest::collection::vec(line, 0..60)).prop_map(|(version, lines)| {
            let mut text = format!("{{\"type\":\"session\",\"version\":{version},\"id\":\"s\"}}\n");
            for (kind, id, other, word, flag) in lines {
                let head = format!(r#""id":"{id}","parentId":"{other}","timestamp":{id}"#);
                text += &match kind {
                    0 => format!(r#"{{"type":"label",{head},"targetId":"{other}","label":"{word}"}}"#),
                    1 => "{\"type\":\"session\",\"id\":\"reread\"}".into(),
                    2 => "no JSON".into(),
                    3 => format!(r#"{{"type":"session_info",{head},"name":"{word}"}}"#),
                    4 => format!(r#"{{"type":"compaction",{head},"summary":"{word}"}}"#),
                    5 | 6 => {
                        let tool = if flag { "read" } else { "bash" };
                        format!(
                            r#"{{"type":"message",{head},"message":{{"role":"assistant","model":"{word}","content":[{{"type":"text","text":"{word}"}},{{"type":"toolCall","id":"{other}","name":"{tool}","arguments":{{"path":"{word}"}}}}]}}}}"#
                        )
                    }
                    7 => format!(r#"{{"type":"message",{head},"message":{{"role":"user","content":"{word}"}}}}"#),
                    _ => format!(
                        r#"{{"type":"message",{head},"message":{{"role":"toolResult","toolCallId":"{other}","toolName":"{word}"}}}}"#
                    ),
                };
                text.push('\n');
            }
            text
        })
    }

    proptest! {
        #[test]
        fn matches_the_tree_of_any_file(text in any_file()) {
            let (mut digest, tree) = both(text.as_bytes()).unwrap();
            // The tree finds the call of a result anywhere; the digest only above it.
            for label in &mut digest.labels {
                let node = &tree.nodes[label.at as usize];
                if node.kind == EntryKind::ToolResult {
                    label.row = node.words().into();
                }
            }
            agree(&digest, &tree);
            texts_agree(text.as_bytes(), &tree);
        }

        #[test]
        fn reading_in_two_parts_gives_the_same_digest(text in any_file(), cut in any::<prop::sample::Index>()) {
            let cut = cut.index(text.len() + 1);
            prop_assert_eq!(format!("{:?}", in_two_goes(text.as_bytes(), cut)), format!("{:?}", digest(text.as_bytes())));
        }

        #[test]
        fn any_bytes_are_read_or_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut text = b"{\"type\":\"session\",\"id\":\"s\"}\n".to_vec();
            let _ = digest(&bytes);
            text.extend(bytes);
            prop_assert!(digest(&text).is_ok());
        }
    }
}
