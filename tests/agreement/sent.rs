//! What the model is sent when pi goes on at an entry, against the requests that the real pi 1.5.2 sent from there
//! (`fixtures/golden/sent.json`, made by `scripts/pi/conversations.mjs`; `scripts/pi/sent.mjs` makes many more).

use std::fs;
use std::path::Path;

use pitree::session::entry::kind::Kind;
use pitree::session::shape::Index;
use pitree::session::tree::context::{Context, context};
use pitree::session::tree::sent::Sent;
use pitree::session::tree::{Tree, resume};
use serde_json::{Value, json};

use crate::changes::tree;
use crate::common::home::repository;
use crate::world::golden;

/// A session, with its lines as values.
struct Talk {
    tree: Tree,
    lines: Vec<Value>,
}

impl Talk {
    fn open(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { tree: tree(text.as_bytes()).unwrap(), lines }
    }

    /// What is sent, as the golden files have it.
    fn sent(&self, at: Option<Index>) -> Vec<Value> {
        let context = context(&self.tree, at);
        let message = |sent: &Sent| match *sent {
            Sent::Entry(entry) => self.message(entry, self.words(entry, at, &context)),
            Sent::NoResult(_) => json!({ "role": "tool", "text": "No result provided" }),
        };
        context.sent.iter().map(message).collect()
    }

    /// What an entry says instead, if it does.
    fn words(&self, entry: Index, at: Option<Index>, context: &Context) -> Option<&Value> {
        let path = self.tree.path(at?);
        let compaction = context.compaction.map_or(&Value::Null, |at| &self.lines[at as usize]["firstKeptEntryId"]);
        let from = path.iter().position(|&at| self.lines[at as usize]["id"] == *compaction).unwrap_or(0);
        let mut lines = path[from..].iter().map(|&at| &self.lines[at as usize]);
        let id = &self.lines[entry as usize]["id"];
        let edit = lines.rfind(|line| line["type"] == "context_edit" && line["targetId"] == *id)?;
        Some(&edit["replacement"]["content"])
    }

    fn message(&self, at: Index, words: Option<&Value>) -> Value {
        let line = &self.lines[at as usize];
        let message = &line["message"];
        let content = words.unwrap_or(&message["content"]);
        let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let text = |between: &str| content.as_str().map_or_else(|| texts.join(between), str::to_string);
        let start = |text: String| text.chars().take(80).collect::<String>();
        let summary = |before: &str| json!({ "role": "user", "text": start(before.to_string()) });
        match (line["type"].as_str().unwrap(), message["role"].as_str().unwrap_or_default()) {
            ("message", "user") => json!({ "role": "user", "text": start(text("\n")) }),
            ("message", "assistant") => {
                let mut said = json!({ "role": "assistant", "text": start(text("")) });
                let calls: Vec<_> = blocks.iter().filter(|block| block["type"] == "toolCall").collect();
                if !calls.is_empty() {
                    said["calls"] = calls.iter().map(|call| call["id"].clone()).collect();
                }
                said
            }
            ("message", "toolResult") => {
                let text = text("\n");
                let text = if text.trim().is_empty() { "(no tool output)".into() } else { text };
                json!({ "role": "tool", "text": start(text), "call": message["toolCallId"] })
            }
            ("message", "bashExecution") => {
                let (command, output) = (message["command"].as_str().unwrap(), message["output"].as_str().unwrap());
                json!({ "role": "user", "text": start(format!("Ran `{command}`\n```\n{output}\n```")) })
            }
            ("custom_message", _) => json!({ "role": "user", "text": line["content"] }),
            ("compaction", _) => {
                summary("The conversation history before this point was compacted into the following summary:")
            }
            ("branch_summary", _) => summary("The following is a summary of a branch that this conversation came back"),
            other => panic!("{other:?} is not sent"),
        }
    }

    /// Compares what is sent at an entry when it is chosen in pi's `/tree`, which was somewhere else before.
    fn check(&self, id: &str, pi: &[Value]) {
        let chosen = self.tree.find(id).unwrap();
        let goes_back = matches!(self.tree.nodes[chosen as usize].kind, Kind::User | Kind::CustomMessage);
        let pitree = self.sent(if goes_back { self.tree.parent(chosen) } else { Some(chosen) });
        // pi's summaries and stand-ins have more to them than their beginning.
        let same = |pitree: &Value, pi: &Value| {
            let (ours, theirs) = (pitree["text"].as_str().unwrap(), pi["text"].as_str().unwrap());
            let is_stand_in = ours == "No result provided" && theirs == ours;
            let is_summary = ours.starts_with("The ") && ours.len() > 70;
            let text = ours == theirs || (is_summary && theirs.starts_with(&ours[..70]));
            text && pitree["role"] == pi["role"]
                && (is_stand_in || (pitree["calls"] == pi["calls"] && pitree["call"] == pi["call"]))
        };
        let are_same = pitree.len() == pi.len() && pitree.iter().zip(pi).all(|(pitree, pi)| same(pitree, pi));
        assert!(are_same, "at {id}\npitree: {:#}\npi: {:#}", json!(pitree), json!(pi));
    }
}

/// Compares all places of a file that says what was sent; gives how many there are.
fn check_all(sent: &str, folder: &Path) -> usize {
    let files: Value = serde_json::from_str(sent).unwrap();
    let mut places = 0;
    for (file, found) in files.as_object().unwrap() {
        let talk = Talk::open(&folder.join(file));
        for (id, pi) in found.as_object().unwrap() {
            talk.check(id, pi.as_array().unwrap());
            places += 1;
        }
    }
    places
}

#[test]
fn the_model_is_sent_what_pi_sends() {
    let places = check_all(&golden("sent.json"), &repository("fixtures"));
    assert!(places > 100, "{places}");
}

#[test]
fn before_and_behind_a_context_edit_are_two_places() {
    let talk = Talk::open(&repository("fixtures/sessions/--home-dev-talk--/talk-cut-off-last.jsonl"));
    let leaf = talk.tree.leaf.unwrap();
    assert_eq!(talk.tree.nodes[leaf as usize].kind, Kind::ContextEdit);
    let answer = talk.tree.parent(leaf).unwrap();
    let (here, there) = (resume::at(&talk.tree, leaf), resume::at(&talk.tree, answer));
    assert_eq!((here.is_here, there.is_here, there.at), (true, false, Some(answer)));
    let counts = [leaf, answer].map(|at| context(&talk.tree, Some(at)).sent.len());
    assert_eq!(counts, [3, 4]);
}

#[test]
#[ignore = "for scripts/pi/run sent, which sets PITREE_TALKS"]
fn talks_are_sent_as_said() {
    let folder = std::path::PathBuf::from(std::env::var_os("PITREE_TALKS").unwrap());
    let places = check_all(&fs::read_to_string(folder.join("sent.json")).unwrap(), &folder);
    assert!(places > 300, "{places}");
}
