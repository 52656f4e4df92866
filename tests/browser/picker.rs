//! pitree as a picker: Enter answers.

use pitree::app::message::Answer;
use pitree::app::message::Effect;
use pitree::app::setting::Print;

use super::changes::{World, to_entry};
use super::harness::Browser;

fn picker(world: &World, print: Print) -> Browser {
    let mut browser = world.open(160, 40);
    browser.pick(print);
    browser
}

fn answers(browser: &Browser) -> Vec<Answer> {
    let answer = |effect: &Effect| match effect {
        Effect::Answer(answer) => answer.clone(),
        other => panic!("{other:?}"),
    };
    browser.wants.iter().map(answer).collect()
}

#[test]
fn answers_with_what_is_asked_for() {
    let world = World::new();
    for (print, keys, expected) in [
        (Print::Path, "enter", Answer::Path(world.path("main"))),
        (Print::Path, "l g enter", Answer::Path(world.path("main"))),
        (Print::Id, "enter", Answer::Id("main".into())),
        (Print::Entry, "enter", Answer::Id("a3".into())),
        (Print::Entry, "l g enter", Answer::Id("u1".into())),
        (Print::Entry, "l g tab enter", Answer::Id("u1".into())),
        (Print::Command, "enter", Answer::Command { path: world.path("main"), cwd: "/nowhere".into(), first: None }),
    ] {
        let mut browser = picker(&world, print);
        assert!(browser.footer().contains("↵ choose"));
        browser.press(keys);
        assert_eq!(answers(&browser), [expected], "{print:?} {keys}");
    }
}

#[test]
fn what_was_found_is_chosen_at_once() {
    let world = World::new();
    for (print, answer) in [(Print::Id, Some(Answer::Id("main".into()))), (Print::Entry, None)] {
        let mut browser = picker(&world, print);
        browser.press("/ l e f t space i t enter");
        assert_eq!(answers(&browser).first(), answer.as_ref());
    }
}

#[test]
fn a_command_for_another_entry_asks_and_changes_first() {
    let world = World::new();
    let mut browser = picker(&world, Print::Command);
    browser.press("l");
    to_entry(&mut browser, "left it is");
    browser.press("enter");
    assert!(browser.wants.is_empty() && browser.screen().contains("Resume from here"));
    browser.press("h");
    assert_eq!(answers(&browser), [Answer::Command { path: world.path("main"), cwd: "/nowhere".into(), first: None }]);
    assert!(world.text("main").lines().last().unwrap().contains("\"parentId\":\"a2\""));
}

#[test]
fn esc_leaves_where_there_is_nothing_to_step_back_from() {
    let world = World::new();
    let mut browser = picker(&world, Print::Path);
    browser.press("l space");
    browser.press("esc esc").press("space esc");
    let is_marked = !(browser.model.sessions.marks.is_empty() && browser.model.marks.is_empty());
    assert!(browser.wants.is_empty() && !is_marked);
    browser.press("R esc ?").press("esc");
    assert!(browser.wants.is_empty());
    browser.press("esc");
    assert!(matches!(browser.wants[..], [Effect::Quit]));
}

#[test]
fn a_project_is_still_folded() {
    let world = World::new();
    let mut browser = picker(&world, Print::Path);
    browser.press("g enter");
    assert!(browser.wants.is_empty() && browser.model.sessions.is_folded(0));
}
