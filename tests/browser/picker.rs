//! pitree as a picker: Enter prints the selection.

use pitree::app::message::{Effect, Msg, Reply};
use pitree::app::settings::{PickerFormat, PickerOutput};
use pitree::app::ticket::Ticket;
use pitree::disk::incremental::FileChanges;
use pitree::keymap::KeyContext;
use pitree::pi::launch::Start;

use super::changes::{World, to_entry};
use super::harness::Browser;

fn picker(world: &World, print: PickerFormat) -> Browser {
    let mut browser = world.open(160, 40);
    browser.pick(print);
    browser
}

fn answers(browser: &Browser) -> Vec<PickerOutput> {
    let answer = |effect: &Effect| match effect {
        Effect::Answer(answer) => answer.clone(),
        other => panic!("{other:?}"),
    };
    browser.wants.iter().map(answer).collect()
}

#[test]
fn prints_the_requested_format() {
    let world = World::new();
    for (print, keys, expected) in [
        (PickerFormat::Path, "enter", PickerOutput::Path(world.path("main"))),
        (PickerFormat::Path, "l home enter", PickerOutput::Path(world.path("main"))),
        (PickerFormat::Id, "enter", PickerOutput::Id("main".into())),
        (PickerFormat::Entry, "enter", PickerOutput::Id("a3".into())),
        (PickerFormat::Entry, "l home enter", PickerOutput::Id("u1".into())),
        (PickerFormat::Entry, "l home tab enter", PickerOutput::Id("u1".into())),
        (
            PickerFormat::Command,
            "enter",
            PickerOutput::Command(Start {
                path: world.path("main"),
                cwd: "/nowhere".into(),
                first: None,
                forks: false,
                entry: None,
            }),
        ),
    ] {
        let mut browser = picker(&world, print);
        assert!(browser.footer().contains("↵ choose"));
        browser.press(keys);
        assert_eq!(format!("{:?}", answers(&browser)), format!("{:?}", [expected]), "{print:?} {keys}");
    }
}

#[test]
fn enter_selects_the_hit_immediately() {
    let world = World::new();
    for (print, answer) in [(PickerFormat::Id, Some(PickerOutput::Id("main".into()))), (PickerFormat::Entry, None)] {
        let mut browser = picker(&world, print);
        browser.press("/ l e f t space i t enter");
        assert_eq!(format!("{:?}", answers(&browser).first()), format!("{:?}", answer.as_ref()));
    }
}

#[test]
fn a_command_at_another_entry_asks_and_moves_the_leaf_first() {
    let world = World::new();
    let mut browser = picker(&world, PickerFormat::Command);
    browser.press("l");
    to_entry(&mut browser, "left it is");
    browser.press("enter");
    assert!(browser.wants.is_empty() && browser.screen().contains("Resume from this entry"));
    browser.press("h");
    let command = PickerOutput::Command(Start {
        path: world.path("main"),
        cwd: "/nowhere".into(),
        first: None,
        forks: false,
        entry: None,
    });
    assert_eq!(format!("{:?}", answers(&browser)), format!("{:?}", [command]));
    assert!(world.text("main").lines().last().unwrap().contains("\"parentId\":\"a2\""));
}

#[test]
fn esc_quits_when_there_is_nothing_to_go_back_to() {
    let world = World::new();
    let mut browser = picker(&world, PickerFormat::Path);
    browser.press("l space");
    browser.press("esc esc").press("space esc");
    let is_marked = !(browser.model.sessions.marks.is_empty() && browser.model.marks.is_empty());
    assert!(browser.wants.is_empty() && !is_marked);
    browser.press("ctrl+r esc ?").press("esc");
    assert!(browser.wants.is_empty());
    browser.press("esc");
    assert!(matches!(browser.wants[..], [Effect::Quit]));
}

#[test]
fn a_project_is_still_folded() {
    let world = World::new();
    let mut browser = picker(&world, PickerFormat::Path);
    browser.press("home enter");
    assert!(browser.wants.is_empty() && browser.model.sessions.is_folded(0));
}

#[test]
fn json_contains_all_fields_of_the_selection() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.pick(PickerFormat::Json);
    browser.press("l");
    to_entry(&mut browser, "go left");
    browser.press("enter");
    let [PickerOutput::Json(chosen)] = &answers(&browser)[..] else { panic!("{:?}", browser.wants) };
    let (tree, at) = chosen.entry.as_ref().unwrap();
    assert_eq!((&chosen.path, &*chosen.id, &*chosen.cwd), (&world.path("main"), "main", "/nowhere"));
    assert_eq!((tree.nodes[*at as usize].id.as_deref(), &chosen.draft), (Some("u2"), &None));
}

#[test]
fn a_fork_is_printed_with_its_omitted_message() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.pick(PickerFormat::Json);
    let before = world.text("main");
    browser.press("l");
    to_entry(&mut browser, "go left");
    browser.press("m f");
    let [PickerOutput::Json(fork)] = &answers(&browser)[..] else { panic!("{:?}", browser.wants) };
    assert!(fork.entry.is_none() && browser.copied.is_empty());
    assert_eq!(fork.draft.as_deref(), Some("go left"));
    let text = std::fs::read_to_string(&fork.path).unwrap();
    assert!(text.contains(&format!("\"id\":\"{}\"", fork.id)) && !text.contains("go left"), "{text}");
    assert_eq!(world.text("main"), before);
}

#[test]
fn a_session_that_loads_later_is_opened() {
    let world = World::new();
    let twin = std::fs::read(world.path("twin")).unwrap();
    std::fs::remove_file(world.path("twin")).unwrap();
    let at = Some((world.path("twin"), Some("a2".into())));
    let mut browser = Browser::at(&[world.dir.path()], at, (160, 40));
    assert_ne!(browser.session().unwrap().path, world.path("twin"));
    std::fs::write(world.path("twin"), &twin).unwrap();
    let read = || vec![pitree::disk::scan::reread(&world.path("twin"), None, "").unwrap().unwrap()];
    let news = |read| Reply::FilesChanged {
        changes: FileChanges { read, ..FileChanges::default() },
        gone: Vec::new(),
        hold: None,
    };
    let (_claim, ticket) = Ticket::new(u64::MAX);
    browser.send(Msg::Reply(ticket.clone(), news(read())));
    assert_eq!(browser.session().unwrap().path, world.path("twin"));
    // A user who moved elsewhere meanwhile stays there.
    let at = Some((world.dir.path().join("later.jsonl"), None));
    let mut browser = Browser::at(&[world.dir.path()], at, (160, 40));
    browser.press("j");
    let before = browser.session().unwrap().path.clone();
    std::fs::write(world.dir.path().join("later.jsonl"), twin).unwrap();
    let later = pitree::disk::scan::reread(&world.dir.path().join("later.jsonl"), None, "").unwrap().unwrap();
    browser.send(Msg::Reply(ticket, news(vec![later])));
    assert_eq!(browser.session().unwrap().path, before);
}

#[test]
fn it_starts_at_an_entry_and_esc_goes_to_the_list_or_quits() {
    let world = World::new();
    let at = Some((world.path("twin"), Some("a2".into())));
    let mut browser = Browser::at(&[world.dir.path()], at, (160, 40));
    assert_eq!(browser.session().unwrap().path, world.path("twin"));
    let selected = browser.model.tree.selected_entry().unwrap();
    assert_eq!(browser.model.tree.own().unwrap().nodes[selected as usize].id.as_deref(), Some("a2"));
    browser.press("esc");
    assert_eq!(browser.model.focus, KeyContext::Sessions);
    browser.set(|setting| (setting.at, setting.picker) = (Some((world.path("twin"), None)), Some(PickerFormat::Id)));
    browser.press("tab esc");
    assert!(matches!(browser.wants[..], [Effect::Quit]), "{:?}", browser.wants);
}
