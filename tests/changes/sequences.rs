//! Random trees and random sequences of changes. The history of a file consists of byte prefixes, written values are
//! read back, and undoing everything restores the earlier state.

use std::fs;
use std::path::{Path, PathBuf};

use pitree::changes::journal::ChangeState;
use pitree::changes::{Change, Refusal, Request};
use pitree::session::entry::EntryId;
use proptest::prelude::*;

use crate::changes::world::{View, World, id, in_own_home, rename, session, tree};
use crate::common::effort::rounds;
use crate::common::session::Session;

#[derive(Clone, Debug)]
enum Step {
    Rename(String),
    Label(usize, String),
    Leaf(Option<usize>),
    Fork(Option<usize>),
    Trash,
    Undo,
    Redo,
    /// A line of another program without its line break, as a killed pi leaves it.
    Tear,
}

fn step() -> impl Strategy<Value = Step> {
    let text = "[a-c\n\\PC]{0,6}";
    prop_oneof![
        2 => text.prop_map(Step::Rename),
        3 => (any::<usize>(), text).prop_map(|(at, label)| Step::Label(at, label)),
        3 => proptest::option::weighted(0.9, any::<usize>()).prop_map(Step::Leaf),
        1 => proptest::option::weighted(0.9, any::<usize>()).prop_map(Step::Fork),
        1 => Just(Step::Trash),
        3 => Just(Step::Undo),
        2 => Just(Step::Redo),
        1 => Just(Step::Tear),
    ]
}

#[test]
fn every_sequence_of_changes_can_be_undone() {
    in_own_home("sequences::random_sequences");
}

#[test]
#[ignore = "run by every_sequence_of_changes_can_be_undone, in a home of its own"]
fn random_sequences() {
    let mut config = ProptestConfig::with_cases(rounds(20, 150));
    config.failure_persistence = None;
    let trees = proptest::collection::vec((0usize..3, 0u8..12), 1..14);
    let steps = proptest::collection::vec(step(), 1..14);
    proptest!(config, |(shape in trees, steps in steps, ended in any::<bool>())| {
        let world = World::at_home();
        let text = session(&shape);
        let path = world.write("s.jsonl", if ended { &text } else { text.trim_end() });
        let before = View::of(&path);
        let mut history = History::default();
        for step in &steps {
            let was = path.exists().then(|| View::of(&path));
            take(&world, &path, step, was.as_ref());
            history.check(&world);
        }
        let after = path.exists().then(|| View::of(&path));
        let mut undone = 0;
        while !world.undo().unwrap().changes.is_empty() {
            undone += 1;
            history.check(&world);
        }
        prop_assert_eq!(&View::of(&path), &before);
        prop_assert_eq!(world.sessions().len(), 1, "forks are in the trash");
        // Redo everything that was in effect, including changes undone during the sequence.
        let mut redone = 0;
        while !world.make(&Request::Redo).unwrap().changes.is_empty() {
            redone += 1;
            history.check(&world);
        }
        let was_undone_before = steps.iter().any(|step| matches!(step, Step::Undo));
        prop_assert!(redone == undone || (redone > undone && was_undone_before), "{redone} of {undone}");
        if redone == undone {
            prop_assert_eq!(path.exists().then(|| View::of(&path)), after);
        }
    });
}

/// Takes a step and checks its reported result.
fn take(world: &World, path: &Path, step: &Step, was: Option<&View>) {
    let (request, entry) = match (step, was) {
        (Step::Undo, _) => (Request::Undo { number: None }, None),
        (Step::Redo, _) => (Request::Redo, None),
        (_, None) => return, // it is in the trash
        (Step::Rename(name), _) => (rename(path, name), None),
        (Step::Trash, _) => return assert_eq!(world.trash(path).unwrap().changes.len(), 1),
        (Step::Tear, _) => {
            let mut bytes = fs::read(path).unwrap();
            bytes.extend(if bytes.ends_with(b"\n") { "{\"type\":\"mess" } else { "\n{\"ty" }.as_bytes());
            return fs::write(path, bytes).unwrap();
        }
        (Step::Label(at, _) | Step::Leaf(Some(at)) | Step::Fork(Some(at)), _) => {
            let tree = tree(path);
            let entry = id(&tree, (at % tree.nodes.len()) as u32);
            let target = EntryId::Id(entry.clone());
            let path = path.to_path_buf();
            let request = match step {
                Step::Label(_, label) => Request::Label { path, target, label: label.clone(), migrate: false },
                Step::Leaf(_) => Request::MoveLeaf { path, to: Some(target), migrate: false },
                _ => Request::Fork { path, at: Some(target), migrate: false },
            };
            (request, Some(entry))
        }
        (Step::Leaf(None), _) => (Request::MoveLeaf { path: path.into(), to: None, migrate: false }, None),
        (Step::Fork(None), _) => (Request::Fork { path: path.into(), at: None, migrate: false }, None),
    };
    let done = match world.make(&request) {
        Ok(done) => done,
        // Other programs write incomplete lines, so a step may fail only on those.
        Err(error) => panic!("{step:?}: {error:#}"),
    };
    // A run of line breaks becomes one space, as in pi; spaces beside it stay.
    let clean = |text: &str| {
        let mut chars: Vec<_> = text.chars().collect();
        chars.dedup_by(|a, b| (*a, *b) == ('\n', '\n'));
        String::from_iter(chars).replace('\n', " ").trim().to_string()
    };
    match (step, was) {
        (Step::Rename(name), Some(was)) if !name.contains(char::is_control) => {
            let now = View::of(path);
            assert_eq!(now.name, Some(clean(name)).filter(|name| !name.is_empty()));
            assert_eq!((&now.labels, &now.conversation), (&was.labels, &was.conversation));
        }
        (Step::Label(_, label), Some(was)) => {
            let (now, entry) = (View::of(path), entry.unwrap());
            let (mut others, mut others_were) = (now.labels.clone(), was.labels.clone());
            assert_eq!(others.remove(&entry), Some(clean(label)).filter(|label| !label.is_empty()));
            others_were.remove(&entry);
            assert_eq!((others, now.name, now.conversation), (others_were, was.name.clone(), was.conversation.clone()));
        }
        (Step::Leaf(_), Some(was)) => {
            let now = View::of(path);
            assert_eq!((&now.name, &now.labels), (&was.name, &was.labels));
            let tree = tree(path);
            match entry {
                Some(entry) => assert!(tree.is_tip(tree.find(&entry).unwrap())),
                None => assert_eq!(now.conversation, [""; 0]),
            }
        }
        (Step::Fork(_), Some(was)) => {
            assert_eq!(&View::of(path), was, "the source stays as it is");
            let fork = tree(&done.made.unwrap());
            let kind = |at: u32| tree(path).nodes[at as usize].kind;
            let wanted = entry.map_or(Vec::new(), |entry| {
                let tree = tree(path);
                let path = tree.path(tree.find(&entry).unwrap());
                path.into_iter()
                    .filter(|&at| kind(at) != pitree::session::entry::kind::EntryKind::Label)
                    .map(|at| id(&tree, at))
                    .collect()
            });
            let labels = fork.label_entries().count();
            assert_eq!(fork.nodes.len(), wanted.len() + labels);
            assert!(wanted.iter().all(|id| fork.find(id).is_some()) && fork.problems.is_empty());
        }
        _ => {}
    }
}

/// The previous bytes of each session file.
#[derive(Default)]
struct History(std::collections::HashMap<PathBuf, Vec<u8>>);

impl History {
    /// Checks that the earlier content is a prefix of the current content of each file, including files restored from
    /// the trash.
    fn check(&mut self, world: &World) {
        for path in world.sessions() {
            let now = fs::read(&path).unwrap();
            let before = self.0.entry(path.clone()).or_default();
            assert!(now.starts_with(before), "{}", path.display());
            *before = now;
        }
        let history = world.changes.history().unwrap();
        let trashes = || history.iter().filter(|record| matches!(record.change, Change::Trash { .. }));
        for record in trashes() {
            let path = record.change.path();
            let is_away = trashes().any(|other| other.change.path() == path && other.state == ChangeState::Done);
            assert_eq!(path.exists(), !is_away, "{record:?}");
        }
    }
}

#[test]
fn changes_overwritten_by_other_programs_are_not_undone() {
    let world = World::new();
    let path = world.write("s.jsonl", session(&[(0, 4), (0, 3), (0, 4), (0, 3)]));
    world.make(&rename(&path, "ours")).unwrap();
    world.make(&Request::MoveLeaf { path: path.clone(), to: Some(EntryId::Id("e1".into())), migrate: false }).unwrap();
    let mut text = fs::read_to_string(&path).unwrap();
    let leaf = {
        let tree = tree(&path);
        id(&tree, tree.leaf.unwrap())
    };
    text += Session::new("s").under(&leaf).name("pi", "pi's").user("pi2", "on").lines();
    fs::write(&path, &text).unwrap();
    for reason in ["the session has new entries", "the name has changed to \"pi's\""] {
        let error = world.undo().unwrap_err();
        let refusal = error.downcast_ref::<Refusal>();
        assert!(
            matches!(refusal, Some(Refusal::TargetChanged { reason: said }) if said.starts_with(reason)),
            "{error:#}"
        );
    }
    assert_eq!(world.undo().unwrap().summary, "nothing to undo", "they were passed over");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}
