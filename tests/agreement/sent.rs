//! What the model is sent when pi goes on at an entry, against the requests that the real pi 1.5.2 sent from there
//! (`fixtures/golden/sent.json`, made by `scripts/pi/conversations.mjs`; `scripts/pi/sent.mjs` makes many more).

use std::fs;
use std::path::{Path, PathBuf};

use pitree::disk::files::Files;
use pitree::disk::{load, prompt};
use pitree::session::entry::kind::EntryKind;
use pitree::session::links::Index;
use pitree::session::prompt::message::{Role, SentMessage};
use pitree::session::prompt::plan::{Plan, PlannedPart};
use pitree::session::tree::context::context;
use pitree::session::tree::{Tree, resume};
use serde_json::{Value, json};

use crate::common::home::repository;
use crate::world::golden;

/// A session.
struct Talk {
    tree: Tree,
    path: PathBuf,
}

impl Talk {
    fn open(path: &Path) -> Self {
        Self { tree: load::tree(Files::Disk, path, "").unwrap(), path: path.into() }
    }

    /// What is sent, as the golden files have it.
    fn sent(&self, at: Option<Index>) -> Vec<Value> {
        let plan = Plan::new(&self.tree, at);
        let mut sent = Vec::new();
        let take = |part: &PlannedPart, messages: Vec<SentMessage>| {
            if part.why().is_none() {
                sent.extend(messages.iter().filter(|message| message.role != Role::System).map(message));
            }
            Ok(true)
        };
        prompt::each((Files::Disk, &self.path), (&self.tree, &plan), take).unwrap();
        assert_eq!(sent.len(), plan.context.sent.len());
        sent
    }

    /// Compares what is sent at an entry when it is chosen in pi's `/tree`, which was somewhere else before.
    fn check(&self, id: &str, pi: &[Value]) {
        let chosen = self.tree.find(id).unwrap();
        let goes_back = matches!(self.tree.nodes[chosen as usize].kind, EntryKind::User | EntryKind::CustomMessage);
        let pitree = self.sent(if goes_back { self.tree.parent(chosen) } else { Some(chosen) });
        // Which call it is that pi answers itself, the entry says.
        let same = |(pitree, pi): (&Value, &Value)| {
            let is_stand_in = pitree["text"] == "No result provided" && pi["text"] == pitree["text"];
            pitree == pi || (is_stand_in && pitree["role"] == pi["role"])
        };
        let are_same = pitree.len() == pi.len() && pitree.iter().zip(pi).all(same);
        assert!(are_same, "at {id}\npitree: {:#}\npi: {:#}", json!(pitree), json!(pi));
    }
}

/// A message as `scripts/pi/lib/probe.mjs` shortens it.
fn message(message: &SentMessage) -> Value {
    let role = if message.role == Role::Tool { "tool" } else { message.role.name() };
    let text: String = message.text.chars().take(80).collect();
    let mut short = json!({ "role": role, "text": text });
    if !message.calls.is_empty() {
        short["calls"] = message.calls.iter().map(|call| json!(call.id)).collect();
    }
    if let Some(call) = &message.answers {
        short["call"] = json!(call);
    }
    short
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
    assert_eq!(talk.tree.nodes[leaf as usize].kind, EntryKind::ContextEdit);
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
