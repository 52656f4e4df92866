//! Lasting marks: random sequences with undo and redo, several writers, and changes of many sessions.

use std::collections::BTreeMap;
use std::thread;

use pitree::changes::journal::ChangeState;
use pitree::changes::{ChangeResult, Changes, ExpectedSession, NewMark, Refusal, Request, to_the_end};
use pitree::disk::trash::Trash;
use pitree::session::entry::EntryId;
use pitree::session::marks::Mark;
use proptest::prelude::*;

use crate::changes::world::{NOW, World, in_own_home, session, tree};
use crate::common::effort::rounds;

#[derive(Clone, Debug)]
enum Step {
    Set(Vec<(u8, Mark, Option<&'static str>)>),
    Undo,
    Redo,
}

fn step() -> impl Strategy<Value = Step> {
    let mark = prop_oneof![
        Just(Mark::Pin),
        Just(Mark::Note),
        (0..2_u8).prop_map(|tag| Mark::Tag(tag.to_string())),
        (0..2_u8).prop_map(|entry| Mark::EntryNote(entry.to_string())),
    ];
    let value = prop_oneof![Just(None), Just(Some("a")), Just(Some("b"))];
    prop_oneof![
        3 => prop::collection::vec((0..3_u8, mark, value), 0..4).prop_map(Step::Set),
        2 => Just(Step::Undo),
        1 => Just(Step::Redo),
    ]
}

fn new(session: &str, mark: Mark, value: Option<&str>) -> NewMark {
    let session = ExpectedSession { path: "/s.jsonl".into(), id: session.into() };
    NewMark { session, mark, value: value.map(Into::into) }
}

fn make(changes: &Changes, marks: Vec<NewMark>) -> anyhow::Result<ChangeResult> {
    changes.make(&Request::Mark { marks }, NOW, &mut to_the_end)
}

fn sets(changes: &Changes) -> BTreeMap<String, BTreeMap<String, serde_json::Value>> {
    changes.marks().unwrap().sessions
}

proptest! {
    #![proptest_config({
        let mut config = ProptestConfig::with_cases(rounds(20, 200));
        config.failure_persistence = None;
        config
    })]
    #[test]
    fn every_sequence_of_marks_can_be_undone(steps in prop::collection::vec(step(), 1..12)) {
        let world = World::new();
        let (mut done, mut undone) = (vec![sets(&world.changes)], Vec::new());
        for step in steps {
            let made = match &step {
                Step::Set(marks) => {
                    let marks = marks.iter().map(|(session, mark, value)| new(&session.to_string(), mark.clone(), *value)).collect();
                    make(&world.changes, marks)
                }
                Step::Undo => world.undo(),
                Step::Redo => world.make(&Request::Redo),
            };
            let is_made = !made.unwrap().changes.is_empty();
            let now = sets(&world.changes);
            match step {
                Step::Set(_) if is_made => {
                    done.push(now);
                    undone.clear();
                }
                Step::Set(_) => prop_assert_eq!(Some(&now), done.last()),
                Step::Undo => {
                    prop_assert_eq!(is_made, done.len() > 1);
                    if is_made {
                        undone.extend(done.pop());
                    }
                    prop_assert_eq!(Some(&now), done.last());
                }
                Step::Redo => {
                    prop_assert_eq!(is_made, !undone.is_empty());
                    done.extend(undone.pop());
                    prop_assert_eq!(Some(&now), done.last());
                }
            }
        }
    }
}

#[test]
fn several_writers_lose_nothing() {
    let world = World::new();
    thread::scope(|scope| {
        for writer in 0..4 {
            let dir = &world.dir;
            scope.spawn(move || {
                // Each writer has its own journal, as on another machine, and the same marks.
                let state = dir.join(format!("state{}", writer % 2));
                let changes = Changes::new(state, Trash::default()).with_marks_in(&dir.join("data"));
                for tag in 0..8 {
                    make(&changes, vec![new("s", Mark::Tag(format!("{writer}-{tag}")), Some("x"))]).unwrap();
                }
                changes.make(&Request::Undo { number: None }, NOW, &mut to_the_end).unwrap();
            });
        }
    });
    let changes = Changes::new(world.dir.join("state"), Trash::default()).with_marks_in(&world.dir.join("data"));
    // Writers with the same journal can undo each other's change, but each undoes one.
    assert_eq!(changes.marks().unwrap().tags("s").count(), 4 * 7);
}

#[test]
fn marks_changed_by_another_pitree_are_not_undone() {
    let world = World::new();
    let other = Changes::new(world.dir.join("other"), Trash::default()).with_marks_in(&world.dir.join("state"));
    make(&world.changes, vec![new("s", Mark::Note, Some("ours")), new("s", Mark::Pin, Some("x"))]).unwrap();
    make(&other, vec![new("s", Mark::Note, Some("theirs")), new("s", Mark::Tag("t".into()), Some("x"))]).unwrap();
    let error = world.undo().unwrap_err();
    assert!(format!("{error:#}").contains("the note has changed"), "{error:#}");
    let marks = world.changes.marks().unwrap();
    assert_eq!((marks.note("s"), marks.is_pinned("s"), marks.tags("s").count()), (Some("theirs"), false, 1));
    let states: Vec<ChangeState> = world.changes.history().unwrap().iter().map(|record| record.state).collect();
    assert_eq!(states, [ChangeState::TargetChanged, ChangeState::Undone]);
    make(&world.changes, vec![new("s", Mark::Tag("t".into()), None)]).unwrap();
    make(&other, vec![new("s", Mark::Tag("t".into()), Some("y"))]).unwrap();
    let error = world.undo().unwrap_err();
    assert!(
        matches!(error.downcast_ref(), Some(Refusal::TargetChanged { reason }) if reason.contains("tag +t")),
        "{error:#}"
    );
}

#[test]
fn marks_of_many_sessions_are_written_at_once() {
    let world = World::new();
    let marks =
        |value| (0..2000).map(|session: i32| new(&session.to_string(), Mark::Tag("all".into()), value)).collect();
    assert_eq!(make(&world.changes, marks(Some("x"))).unwrap().summary, "Changed 2,000 marks");
    assert_eq!(make(&world.changes, marks(Some("x"))).unwrap().changes.len(), 0);
    assert_eq!(world.undo().unwrap().summary, "Restored 2,000 marks");
    assert!(sets(&world.changes).is_empty());
    assert_eq!(world.make(&Request::Redo).unwrap().summary, "Changed 2,000 marks again");
    assert_eq!(sets(&world.changes).len(), 2000);
}

#[test]
fn forks_get_the_tags_of_their_parents_by_a_setting() {
    in_own_home("marks::forks");
}

#[test]
#[ignore = "run by forks_get_the_tags_of_their_parents_by_a_setting, in a home of its own"]
fn forks() {
    let world = World::at_home();
    let path = world.write("s.jsonl", session(&[(0, 4), (0, 3)]));
    let fork = |changes: &Changes| {
        let at = Some(EntryId::Id("e1".into()));
        let done =
            changes.make(&Request::Fork { path: path.clone(), at, migrate: false }, NOW, &mut to_the_end).unwrap();
        let id = tree(done.made.as_ref().unwrap()).header.id;
        (changes.marks().unwrap().tags(&id).map(String::from).collect::<Vec<_>>(), done.changes.len())
    };
    let tags = ["a", "b"].map(|tag| new("s", Mark::Tag(tag.into()), Some("x")));
    make(&world.changes, [&tags[..], &[new("s", Mark::Pin, Some("x"))]].concat()).unwrap();
    assert_eq!(fork(&world.changes), (Vec::new(), 1));
    world.undo().unwrap();
    let inheriting = world.changes.clone().forks_inherit_tags(true);
    assert_eq!(fork(&inheriting), (vec!["a".into(), "b".into()], 3));
    assert_eq!(sets(&world.changes).len(), 2);
    assert_eq!(world.undo().unwrap().changes.len(), 3);
    assert_eq!((sets(&world.changes).len(), world.sessions().len()), (1, 1));
    assert_eq!(world.make(&Request::Redo).unwrap().changes.len(), 3);
    assert_eq!((sets(&world.changes).len(), world.sessions().len()), (2, 2));
}

#[test]
fn a_dry_run_changes_no_marks() {
    let world = World::new();
    make(&world.changes, vec![new("s", Mark::Pin, Some("x"))]).unwrap();
    let dry = world.changes.clone().dry_run();
    assert_eq!(make(&dry, vec![new("t", Mark::Pin, Some("x"))]).unwrap().changes.len(), 1);
    assert_eq!(dry.make(&Request::Undo { number: None }, NOW, &mut to_the_end).unwrap().changes.len(), 1);
    assert_eq!(sets(&world.changes).len(), 1);
}
