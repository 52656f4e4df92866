//! What of one session file is searched as one types: the conversation, the summaries, the labels, and what tools and
//! models did, gathered line by line in one pass. Tool output is not kept here: it is most of a file, and is searched
//! where it lies.
//!
//! Places of entries, labels and the active path are those of [`crate::session::tree::Tree`].

use std::collections::{BTreeMap, BTreeSet};

use crate::base::fold::fold_into;
use crate::session::digest::summary::NotASession;
use crate::session::entry::call;
use crate::session::entry::call::Touch;
use crate::session::entry::kind::Kind;
use crate::session::entry::read;
use crate::session::entry::{Entry, Message, Stamp};
use crate::session::json::Str;
use crate::session::tree::active::Active;
use crate::session::tree::shape::{IdHash, Ids, Index, Shape};

/// What of one session file is searched.
#[derive(Debug, Default)]
pub struct Searchable {
    /// The directory that the session worked in; empty if its header has none.
    pub cwd: Box<str>,
    /// What user and assistant said: their text blocks, joined as pi's list joins them.
    pub conversation: Passages,
    /// The summaries of compactions and of branches.
    pub summaries: Passages,
    /// The labels that are set, with their entries, in file order.
    pub labels: Vec<(Index, Box<str>)>,
    /// Every call of a tool that read, wrote or edited a file, in file order.
    pub files: Vec<FileTouch>,
    /// The tools that were called, and how often.
    pub tools: BTreeMap<Box<str>, u32>,
    /// The models that answered.
    pub models: BTreeSet<Box<str>>,
    active: Active,
}

/// The texts of many entries as one, each of them folded (see [`crate::base::fold`]), with a space between them: as pi joins
/// them to search in (`allMessagesText`, 0.87.1). Texts without characters are left out.
#[derive(Debug, Default)]
pub struct Passages {
    /// The texts.
    pub folded: String,
    /// Where in them each text begins, in bytes, and of which entry it is.
    pub starts: Vec<(u32, Index)>,
}

/// A call of a tool that did something to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTouch {
    /// The file, as the model named it.
    pub path: Box<str>,
    /// What was done.
    pub touch: Touch,
    /// The assistant's entry with the call.
    pub entry: Index,
    /// When that was written, in milliseconds since 1970.
    pub time: Option<i64>,
}

impl Searchable {
    /// Whether the entry is on the path from the root to the leaf.
    pub fn is_active(&self, at: Index) -> bool {
        self.active.has(at)
    }
}

impl Passages {
    /// The entry whose text stands at a byte of the texts.
    pub fn entry_at(&self, byte: usize) -> Option<Index> {
        let behind = self.starts.partition_point(|(start, _)| *start as usize <= byte);
        self.starts.get(behind.checked_sub(1)?).map(|(_, entry)| *entry)
    }

    /// The texts, folded, with their entries.
    pub fn each(&self) -> impl Iterator<Item = (Index, &str)> {
        let ends = self.starts.iter().skip(1).map(|(next, _)| *next as usize - 1).chain([self.folded.len()]);
        self.starts.iter().zip(ends).map(|((start, entry), end)| (*entry, &self.folded[*start as usize..end]))
    }

    fn push(&mut self, entry: Index, text: &str) {
        let gap = usize::from(!self.folded.is_empty());
        // Of a conversation of 4 GB the rest can't be found.
        let Ok(start) = u32::try_from(self.folded.len() + gap) else { return };
        if text.is_empty() {
            return;
        }
        if gap > 0 {
            self.folded.push(' ');
        }
        self.starts.push((start, entry));
        fold_into(&mut self.folded, text);
    }

    fn shrink(&mut self) {
        self.folded.shrink_to_fit();
        self.starts.shrink_to_fit();
    }
}

/// Gathers what is searched from the lines of a file.
#[derive(Debug, Default)]
pub struct Builder {
    found: Searchable,
    version: Option<f64>,
    refused: bool,
    ids: Vec<Ids>,
    /// What the label entries set, or clear, on which targets.
    labels: Vec<(IdHash, Option<Box<str>>)>,
}

impl Builder {
    /// Takes the next line.
    pub fn line(&mut self, line: &[u8]) {
        let entry = match read::line(line) {
            Ok(Some(entry)) if !self.refused => entry,
            _ => return,
        };
        if self.version.is_none() {
            self.refused = !entry.starts_session();
            self.version = Some(entry.version.unwrap_or(1.0));
            self.found.cwd = entry.cwd.unwrap_or_default().text().into();
        }
        if !(self.refused || entry.is_header()) {
            self.entry(&entry);
        }
    }

    /// Whether no further line can make a session of it.
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        let at = self.ids.len() as Index;
        self.ids.push(Ids { id: entry.id.map(IdHash::of), parent: entry.parent_id.map(IdHash::of) });
        let message = entry.message.as_ref();
        match entry.kind {
            Kind::User => self.said(at, message),
            Kind::Assistant => {
                self.said(at, message);
                if let Some(message) = message {
                    self.note_use(at, entry, message);
                }
            }
            Kind::SummaryRole => self.summary(at, message.and_then(|message| message.summary)),
            Kind::Compaction | Kind::BranchSummary => self.summary(at, entry.summary),
            Kind::Label => {
                if let Some(target) = entry.target_id {
                    let label = entry.label.filter(|label| !label.is_empty());
                    self.labels.push((IdHash::of(target), label.map(|label| label.text().into())));
                }
            }
            Kind::ToolResult
            | Kind::Bash
            | Kind::SystemRole
            | Kind::CustomRole
            | Kind::OtherMessage
            | Kind::CustomMessage
            | Kind::ModelChange
            | Kind::ThinkingLevel
            | Kind::Custom
            | Kind::SessionInfo
            | Kind::Usage
            | Kind::ContextEdit
            | Kind::Unknown => {}
        }
    }

    fn said(&mut self, at: Index, message: Option<&Message<'_>>) {
        if let Some(message) = message {
            self.found.conversation.push(at, &message.content.text(" "));
        }
    }

    fn summary(&mut self, at: Index, summary: Option<Str<'_>>) {
        if let Some(summary) = summary {
            self.found.summaries.push(at, &summary.text());
        }
    }

    fn note_use(&mut self, at: Index, entry: &Entry<'_>, message: &Message<'_>) {
        for call in message.content.tool_calls() {
            let name = call.name.text();
            match self.found.tools.get_mut(&*name) {
                Some(calls) => *calls += 1,
                None => drop(self.found.tools.insert(name.into(), 1)),
            }
            if let Some((path, touch)) = call::touched(call) {
                let time = entry.timestamp.and_then(Stamp::ms);
                self.found.files.push(FileTouch { path: path.into(), touch, entry: at, time });
            }
        }
        if let Some(model) = message.model {
            let model = model.text();
            if !self.found.models.contains(&*model) {
                self.found.models.insert(model.into());
            }
        }
    }

    /// What was gathered.
    ///
    /// # Errors
    /// The first line that parses is not a header, or there is none.
    pub fn finish(mut self) -> Result<Searchable, NotASession> {
        let Some(version) = self.version.filter(|_| !self.refused) else { return Err(NotASession) };
        let shape = Shape::new(&self.ids, version);
        let mut labels = BTreeMap::new();
        for (target, label) in self.labels {
            let Some(target) = shape.find(target) else { continue };
            match label {
                Some(label) => labels.insert(target, label),
                None => labels.remove(&target),
            };
        }
        self.found.labels = labels.into_iter().collect();
        self.found.active = Active::new(&shape);
        self.found.conversation.shrink();
        self.found.summaries.shrink();
        self.found.files.shrink_to_fit();
        Ok(self.found)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::session::tree::{Part, Tree};

    fn searchable(lines: &[&[u8]]) -> Result<Searchable, NotASession> {
        let mut builder = Builder::default();
        lines.iter().for_each(|line| builder.line(line));
        builder.finish()
    }

    /// Both readings of the same lines.
    fn both(text: &[u8]) -> Option<(Searchable, Tree)> {
        let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
        let mut part = Part::new("");
        lines.iter().for_each(|line| part.line(0, line, true));
        match (searchable(&lines), Tree::build([part])) {
            (Ok(searchable), Ok(tree)) => Some((searchable, tree)),
            (Err(_), Err(_)) => None,
            (searchable, tree) => panic!("one of them is a session: {searchable:?}, {tree:?}"),
        }
    }

    fn agree(searchable: &Searchable, tree: &Tree) {
        for at in 0..tree.nodes.len() as Index {
            assert_eq!(searchable.is_active(at), tree.is_active(at), "entry {at}");
        }
        assert!(!searchable.is_active(tree.nodes.len() as Index));
        let mut labels: Vec<_> = tree.labels.iter().map(|(at, label)| (*at, label.text.clone())).collect();
        labels.sort();
        assert_eq!(searchable.labels, labels);
        let mut files: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for touched in &searchable.files {
            let uses = files.entry(touched.path.to_string()).or_default();
            let count = if touched.touch == Touch::Read { &mut uses.0 } else { &mut uses.1 };
            *count += 1;
            assert_eq!(tree.nodes[touched.entry as usize].kind, Kind::Assistant);
        }
        let tree_files: BTreeMap<_, _> =
            tree.files.iter().map(|(path, uses)| (path.clone(), (uses.reads, uses.changes))).collect();
        assert_eq!(files, tree_files);
        let models: BTreeSet<Box<str>> = tree.models.iter().map(|(model, _)| model.as_str().into()).collect();
        assert_eq!(searchable.models, models);
        for &(start, at) in &searchable.conversation.starts {
            let node = &tree.nodes[at as usize];
            assert!(matches!(node.kind, Kind::User | Kind::Assistant), "entry {at} is a {:?}", node.kind);
            assert!(searchable.conversation.folded.is_char_boundary(start as usize));
        }
        let said = (0..tree.nodes.len() as Index).filter(|&at| {
            let node = &tree.nodes[at as usize];
            node.kind == Kind::User && !node.text.is_empty()
        });
        let is_there = |at| searchable.conversation.starts.iter().any(|(_, entry)| *entry == at);
        assert_eq!(said.filter(|&at| !is_there(at)).collect::<Vec<_>>(), [0; 0]);
    }

    #[test]
    fn agrees_with_the_trees_of_all_fixtures() {
        let (mut folders, mut sessions) = (vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")], 0);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "jsonl")
                    && let Some((searchable, tree)) = both(&std::fs::read(&path).unwrap())
                {
                    agree(&searchable, &tree);
                    sessions += 1;
                }
            }
        }
        assert!(sessions > 50, "{sessions}");
    }

    #[test]
    fn texts_are_joined_as_pi_joins_them() {
        let found = searchable(&[
            br#"{"type":"session","version":3,"id":"s"}"#,
            br#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"Use JWT"}}"#,
            br#"{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[]}}"#,
            br#"{"type":"message","id":"3","parentId":"1","message":{"role":"toolResult","content":"nothing said"}}"#,
            br#"{"type":"compaction","id":"4","parentId":"1","summary":"All\nof it"}"#,
            br#"{"type":"message","id":"5","parentId":"4","message":{"role":"assistant","content":[{"type":"text","text":"A"},{"type":"thinking","thinking":"no"},{"type":"text","text":"\u00c9"}]}}"#,
        ])
        .unwrap();
        assert_eq!(found.conversation.folded, "use jwt a é");
        assert_eq!(found.conversation.starts, [(0, 0), (8, 4)]);
        let entries = [0, 6, 7, 8, 11].map(|byte| found.conversation.entry_at(byte));
        assert_eq!(entries, [Some(0), Some(0), Some(0), Some(4), Some(4)]);
        assert_eq!((&*found.summaries.folded, &found.summaries.starts[..]), ("all\nof it", &[(0, 3)][..]));
        assert_eq!(found.summaries.entry_at(3), Some(3));
        assert_eq!(Passages::default().entry_at(0), None);
    }

    #[test]
    fn what_tools_did_is_counted_and_placed() {
        let found = searchable(&[
            br#"{"type":"session","version":3,"id":"s"}"#,
            br#"{"type":"message","id":"1","timestamp":5,"message":{"role":"assistant","model":"m","content":[{"type":"toolCall","id":"a","name":"read","arguments":{"path":"a.rs"}},{"type":"toolCall","id":"b","name":"edit","arguments":{"file_path":"a.rs"}},{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls"}},{"type":"toolCall","id":"d","name":"read","arguments":{}}]}}"#,
        ])
        .unwrap();
        let touch = |touch| FileTouch { path: "a.rs".into(), touch, entry: 0, time: Some(5) };
        assert_eq!(found.files, [touch(Touch::Read), touch(Touch::Edit)]);
        let tools: Vec<(&str, u32)> = found.tools.iter().map(|(name, calls)| (&**name, *calls)).collect();
        assert_eq!(tools, [("bash", 1), ("edit", 1), ("read", 2)]);
        assert_eq!(found.models.iter().map(|model| &**model).collect::<Vec<_>>(), ["m"]);
    }

    proptest! {
        #[test]
        fn agrees_with_the_tree_of_any_file(
            version in 1u8..4,
            lines in proptest::collection::vec((0u8..5, 0u8..70, 0u8..70, "[a-c]?"), 0..80),
        ) {
            let mut text = format!("{{\"type\":\"session\",\"version\":{version},\"id\":\"s\"}}\n");
            for (kind, id, other, label) in lines {
                text += &match kind {
                    0 => format!(r#"{{"type":"label","id":"{id}","parentId":"{other}","targetId":"{other}","label":"{label}"}}"#),
                    1 => "{\"type\":\"session\",\"id\":\"again\"}".into(),
                    2 => "no JSON".into(),
                    _ => format!(r#"{{"type":"message","id":"{id}","parentId":"{other}","message":{{"role":"user","content":"{label}"}}}}"#),
                };
                text.push('\n');
            }
            let (searchable, tree) = both(text.as_bytes()).unwrap();
            agree(&searchable, &tree);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let header = br#"{"type":"session","id":"s"}"#;
            let _ = (searchable(&[&bytes]), searchable(&[header, &bytes]));
        }
    }
}
