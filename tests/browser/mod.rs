//! The browser as a state machine: runs scripts of keys and checks the screen.

#[macro_use]
mod harness;

mod archiving;
mod card;
mod changes;
mod cleaning;
mod comparing;
mod context;
mod conversations;
mod deleting;
mod directories;
mod empty;
mod exporting;
mod family;
mod files;
mod finding;
mod history;
mod layers;
mod list;
mod live;
mod lost_work;
mod machines;
mod marks;
mod moving;
mod names;
mod palettes;
mod panes;
mod picker;
mod pis;
mod projects;
mod queries;
mod reader;
mod real_sessions;
mod resume;
mod rows;
mod scale;
mod screens;
mod search;
mod slimming;
mod space;
mod statistics;
mod subagents;
mod tickets;
mod titles;
mod unread;
mod welcome;
mod worktrees;

use crate::common::session::Session;
use harness::{Browser, shows};
use pitree::app::layers::Layer;
use pitree::app::message::{Effect, Msg, Reply};
use pitree::app::panes::reader::ReaderSubject;
use pitree::app::ticket::Ticket;
use pitree::catalog::current_dir::CurrentDir;
use pitree::config::{Filter, Sort};
use pitree::keymap::KeyContext;
use pitree::pi::launch::Start;

#[test]
fn the_newest_session_is_selected_and_its_tree_open_at_the_leaf() {
    let browser = Browser::demo(160, 40);
    assert!(browser.selected().starts_with("Flaky checkout test"));
    let tree = browser.model.tree.tree.as_ref().unwrap();
    assert_eq!(browser.model.tree.rows.nearest(tree, tree.leaf.unwrap()), browser.model.tree.cursor.at);
    assert!(matches!(browser.model.reader.subject, ReaderSubject::Session(_)));
}

#[test]
fn folding_goes_up_and_unfolding_goes_in() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j j");
    assert_eq!(browser.selected(), "Sessions in Redis");
    browser.press("h").press("h");
    assert_eq!(browser.selected(), "Refactor auth module", "folded, then to the parent");
    let rows = browser.model.sessions.rows.len();
    browser.press("h");
    assert!(browser.model.sessions.rows.len() < rows);
    browser.press("h");
    assert_eq!(browser.selected(), "/home/demo/code/webshop");
    browser.press("h l l");
    assert!(browser.selected().starts_with("Flaky"), "unfolded, then in");
    browser.press("l");
    assert_eq!(browser.model.focus, KeyContext::Tree);
}

#[test]
fn all_folds_at_once_and_back() {
    let mut browser = Browser::demo(160, 40);
    let rows = browser.model.sessions.rows.len();
    browser.press("v c");
    assert_eq!(browser.model.sessions.rows.len(), 4, "projects only");
    assert_eq!(browser.selected(), "/home/demo/code/webshop", "the project of the selected session");
    browser.press("v x");
    assert_eq!(browser.model.sessions.rows.len(), rows);
    browser.press("j l");
    let all = browser.model.tree.rows.list.len();
    browser.press("v c");
    let folded = browser.model.tree.rows.list.len();
    assert!(folded < all);
    assert!(browser.screen().contains("entries ·"), "a fold counts its hidden rows\n{}", browser.screen());
    browser.press("v x");
    assert_eq!(browser.model.tree.rows.list.len(), all);
}

#[test]
fn filters_change_the_rows_and_keep_the_place() {
    let mut browser = Browser::demo(160, 40);
    browser.press("l home j j");
    let selected = browser.selected();
    let rows = |browser: &Browser| browser.model.tree.rows.list.len();
    let default = rows(&browser);
    browser.press("ctrl+a");
    assert_eq!(browser.model.tree.filter, Filter::All);
    assert!(rows(&browser) > default);
    assert_eq!(browser.selected(), selected);
    browser.press("ctrl+a");
    assert_eq!(browser.model.tree.filter, Filter::Default, "the same key goes back");
    browser.press("ctrl+u");
    let tree = browser.model.tree.tree.clone().unwrap();
    assert!(rows(&browser) > 1);
    assert!(browser.model.tree.rows.list.iter().all(|row| match row.item {
        pitree::app::panes::tree::rows::RowItem::Entry(at) =>
            tree.nodes[at as usize].kind == pitree::session::entry::kind::EntryKind::User,
        pitree::app::panes::tree::rows::RowItem::Fork(_) => true,
        _ => false,
    }));
    for expected in ["labeled-only", "all", "outline", "turns", "default", "no-tools", "user-only"] {
        browser.press("ctrl+o");
        assert_eq!(browser.model.tree.filter.name(), expected);
    }
    browser.press("alt+o");
    assert_eq!(browser.model.tree.filter, Filter::NoTools);
}

#[test]
fn jumps_between_branch_points_and_segments() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j l home g b");
    let at = browser.model.tree.cursor.at;
    assert!(browser.model.tree.rows.list[at].children > 1);
    browser.press("ctrl+right");
    let start = browser.model.tree.cursor.at;
    assert_eq!(browser.model.tree.rows.list[start].parent, Some(at), "down to the start of the branch");
    browser.press("ctrl+left");
    assert!(browser.model.tree.rows.list[start].folded, "up folds first, as in pi");
    browser.press("alt+right");
    assert!(!browser.model.tree.rows.list[start].folded);
    browser.press("g B .");
    let tree = browser.model.tree.tree.clone().unwrap();
    assert!(browser.model.tree.selected_entry().is_some_and(|at| tree.is_tip(at)));
}

#[test]
fn a_fork_row_is_at_its_fork_point_and_opens_its_session() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j l");
    let forks = browser.model.tree.forks().to_vec();
    assert_eq!(forks.len(), 2);
    let row = (0..browser.model.tree.rows.list.len())
        .find(|&row| matches!(browser.model.tree.rows.list[row].item, pitree::app::panes::tree::rows::RowItem::Fork(_)))
        .unwrap();
    let parent = browser.model.tree.rows.list[row].parent.unwrap();
    let pitree::app::panes::tree::rows::RowItem::Entry(split) = browser.model.tree.rows.list[parent].item else {
        panic!()
    };
    assert!(forks.iter().any(|fork| fork.split == Some(split)));
    while browser.model.tree.cursor.at != row {
        browser.press(if browser.model.tree.cursor.at < row { "j" } else { "k" });
    }
    let title = browser.selected();
    browser.press("g o");
    assert_eq!(browser.model.focus, KeyContext::Tree);
    let session = browser.model.tree.session.unwrap();
    assert_eq!(browser.model.catalog[session].title(), title);
}

#[test]
fn esc_goes_back_pane_by_pane_and_never_out() {
    let mut browser = Browser::demo(80, 24);
    browser.press("l l");
    assert_eq!(browser.model.focus, KeyContext::Reader);
    for expected in [KeyContext::Tree, KeyContext::Sessions, KeyContext::Sessions] {
        browser.press("esc");
        assert_eq!(browser.model.focus, expected);
    }
    assert!(browser.wants.is_empty());
    browser.press("q");
    assert!(matches!(browser.wants[..], [Effect::Quit]));
}

#[test]
fn enter_resumes_a_session_or_its_leaf_and_folds_a_project() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/flat");
    let mut browser = Browser::on(&[&fixtures], 160, 40);
    browser.press("enter");
    let path = browser.session().unwrap().path.clone();
    assert!(matches!(&browser.wants[..], [Effect::Resume(Start { path: wanted, .. })] if *wanted == path));
    browser.press("l enter");
    assert_eq!(browser.wants.len(), 2, "the leaf");
    browser.press("home enter");
    assert_eq!(browser.wants.len(), 2, "at other entries only after a question");
    assert!(browser.screen().contains("Resume from this entry"), "{}", browser.screen());
    browser.press("esc").press("esc home enter");
    assert_eq!(browser.wants.len(), 2);
    assert!(browser.model.sessions.is_folded(0));
}

#[test]
fn the_first_run_is_calm() {
    let home = tempfile::tempdir().unwrap();
    let mut browser = Browser::at_home(home.path(), (100, 30));
    for text in ["No sessions yet.", "  ~/.pi/agent/sessions\n", "pi's default"] {
        shows(&browser, text);
    }
    assert!(!browser.screen().contains("unreadable"), "{}", browser.screen());
    for key in ["y", "ctrl+r", "ctrl+d"] {
        browser.press(key);
        assert_eq!(browser.footer(), "no session is selected", "{key}");
    }
    // A directory given by the user is handled differently.
    let missing = home.path().join("missing");
    let browser = Browser::on(&[missing.as_path()], 100, 30);
    shows(&browser, "⚠ 1 unreadable");
    shows(&browser, "No sessions here.");
}

#[test]
fn the_demo_shows_the_command_that_would_resume() {
    let mut browser = Browser::demo(100, 30);
    browser.press("enter");
    assert!(matches!(&browser.wants[..], [Effect::Resume(_)]), "the event loop does not start pi");
    browser.send(Msg::DemoResumed("pi --session s.jsonl".into()));
    shows(&browser, "The demo does not start pi.");
    shows(&browser, "pi --session s.jsonl");
    browser.press("j");
    assert!(!browser.has_note(), "a key closes the box");
    assert!(browser.selected().starts_with("Flaky"), "without another effect");
}

#[test]
fn sorting_names_and_paths() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j k j");
    let selected = browser.selected();
    let costs = |browser: &Browser| -> Vec<f64> {
        browser
            .model
            .sessions
            .rows
            .iter()
            .map(|row| match row {
                pitree::app::panes::sessions::SessionRow::Session { key, .. } => browser.model.catalog.own(*key).cost,
                row => panic!("flat orders have no {row:?}"),
            })
            .collect()
    };
    while browser.model.sessions.shows.sort != Sort::Cost {
        browser.press("ctrl+s");
        assert_eq!(browser.selected(), selected, "the selection stays");
    }
    assert!(costs(&browser).is_sorted_by(|a, b| a >= b));
    browser.press("ctrl+s ctrl+s");
    assert_eq!(browser.model.sessions.shows.sort, Sort::Threaded);
    let all = browser.model.sessions.rows.len();
    browser.press("ctrl+n");
    assert!(browser.model.sessions.rows.len() < all);
    browser.press("ctrl+n ctrl+p");
    assert!(browser.screen().contains("1970eb1b9caa.jsonl"), "{}", browser.screen());
}

#[test]
fn the_help_filters_as_one_types() {
    let mut browser = Browser::demo(100, 30);
    browser.press("? b r a n c h");
    assert!(browser.screen().contains("Next branch point"));
    assert!(!browser.screen().contains("Next sort order"));
    browser.press("esc");
    assert!(browser.model.layers.0.is_empty());
    assert!(browser.wants.is_empty(), "typing q in the help does not quit");
}

#[test]
fn the_mouse_selects_folds_and_scrolls() {
    let mut browser = Browser::demo(160, 20);
    browser.send(Msg::Click { column: 5, row: 3, double: false });
    assert!(browser.selected().starts_with("Flaky"));
    browser.send(Msg::Click { column: 5, row: 2, double: true });
    assert!(browser.model.sessions.is_folded(0));
    browser.press("l").press("j");
    browser.send(Msg::Click { column: 90, row: 5, double: false });
    assert_eq!(browser.model.focus, KeyContext::Tree);
    let (at, top) = (browser.model.tree.cursor.at, browser.model.tree.cursor.top);
    browser.send(Msg::Wheel { column: 90, row: 5, by: -3 });
    assert_eq!(browser.model.tree.cursor.top, top - 3);
    assert_eq!(browser.model.tree.cursor.at, at, "still visible, so still selected");
}

#[test]
fn late_replies_are_dropped() {
    let mut browser = Browser::demo(160, 40);
    let open = browser.model.tree.session;
    for reply in [
        Reply::Failed("a late reply".into()),
        Reply::Read(pitree::render::FoldedLines {
            lines: vec![pitree::render::DocLine::text("a late reply")],
            ..Default::default()
        }),
        Reply::Scanned { batch: Default::default(), gone: vec!["/home/demo/code/webshop".into()], held: None },
    ] {
        let (_, ticket) = Ticket::new(1);
        browser.send(Msg::Reply(ticket, reply));
    }
    assert_eq!(browser.model.tree.session, open);
    assert!(browser.model.tree.error.is_none());
    assert!(!browser.screen().contains("a late reply") && !browser.screen().contains('✗'));
}

#[test]
fn reloading_keeps_the_selection() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j j l home j j");
    let (selected, path) = (browser.selected(), browser.model.tree.session);
    browser.press("f5");
    assert_eq!((browser.selected(), browser.model.tree.session), (selected, path));
}

#[test]
fn the_preview_shows_a_call_with_its_result_and_scrolls_on_its_own() {
    let mut browser = Browser::demo(160, 40);
    browser.press("l ctrl+d v r home");
    while !browser.selected().starts_with("[edit") {
        browser.press("j");
    }
    let screen = browser.screen();
    assert!(screen.contains("[edit: src/"), "{screen}");
    assert!(screen.contains("Successfully replaced"), "{screen}");
    let top = browser.model.reader.top;
    browser.press("tab j");
    assert!(browser.model.reader.top > top, "the text goes on after the entry");
}

fn key(name: &str) -> Msg {
    Msg::Key(name.parse().unwrap())
}

#[test]
fn late_replies_about_another_session_are_dropped() {
    let mut browser = Browser::demo(160, 40);
    let replies = |browser: &Browser, effects: Vec<Effect>| -> Vec<Msg> {
        effects.into_iter().flat_map(|effect| browser.replies(effect)).collect()
    };
    let effects = browser.take(key("j"));
    let mut late = replies(&browser, effects);
    let opened = late.iter().position(|msg| matches!(msg, Msg::Reply(_, Reply::Opened(_)))).unwrap();
    let effects = browser.take(late.remove(opened));
    let late = replies(&browser, effects);
    assert!(late.iter().any(|msg| matches!(msg, Msg::Reply(_, Reply::ForkPoints(forks, _)) if !forks.is_empty())));
    browser.press("end");
    assert_eq!(browser.selected(), "Backups: the first restore test");
    late.into_iter().for_each(|msg| browser.send(msg));
    assert!(browser.model.tree.forks().is_empty(), "the forks of the session before");

    let effects = browser.take(key("up"));
    let late = replies(&browser, effects);
    browser.press("home");
    assert!(browser.model.sessions.selected_project().is_some());
    late.into_iter().for_each(|msg| browser.send(msg));
    assert!(browser.model.tree.tree.is_none(), "the tree of the session before");
}

/// Writes a session with a chain of user messages, `0` to `count - 1`, to its own file.
fn chain(path: &std::path::Path, id: &str, count: usize, parent: Option<&std::path::Path>) {
    let session = parent.iter().fold(Session::new(id), |session, parent| session.parent(parent));
    let say = |session: Session, at: usize| session.user(&at.to_string(), &format!("entry {at} of {id}"));
    std::fs::write(path, (0..count).fold(session, say).text()).unwrap();
}

#[test]
fn a_shortened_session_is_reread_with_its_forks() {
    let dir = tempfile::tempdir().unwrap();
    let (parent, fork) = (dir.path().join("parent.jsonl"), dir.path().join("fork.jsonl"));
    chain(&parent, "parent", 50, None);
    chain(&fork, "fork", 50, Some(&parent));
    let mut browser = Browser::on(&[dir.path()], 160, 40);
    while browser.session().is_none_or(|session| session.path != parent) {
        browser.press("j");
    }
    assert_eq!(browser.model.tree.forks().len(), 1);
    chain(&parent, "parent", 5, None);
    browser.press("f5");
    assert_eq!(browser.model.tree.tree.as_ref().unwrap().nodes.len(), 5);
    assert!(browser.screen().contains("entry 4 of parent"), "{}", browser.screen());
}

#[test]
fn a_changed_file_is_not_shown_as_another_session() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    chain(&path, "old", 199, None);
    let mut browser = Browser::on(&[dir.path()], 160, 40);
    browser.press("l");
    chain(&path, "another", 199, None);
    browser.press("home");
    assert!(browser.screen().contains("changed since"), "{}", browser.screen());
    browser.press("f5");
    assert!(!browser.screen().contains("changed since"), "{}", browser.screen());
    std::fs::write(&path, "no session any more\n").unwrap();
    browser.press("f5");
    assert!(browser.model.tree.tree.is_none(), "nothing to resume from");
}

#[test]
fn a_restored_project_directory_is_not_missing() {
    let dir = tempfile::tempdir().unwrap();
    chain(&dir.path().join("s.jsonl"), "s", 2, None);
    let mut browser = Browser::on(&[dir.path()], 160, 40);
    assert!(browser.screen().contains("nowhere ✗"));
    let text = std::fs::read_to_string(dir.path().join("s.jsonl")).unwrap();
    let here = text.replace("/nowhere", dir.path().to_str().unwrap());
    std::fs::write(dir.path().join("s.jsonl"), here).unwrap();
    browser.press("f5");
    assert!(!browser.screen().contains('✗'), "{}", browser.screen());
}

#[test]
fn directories_that_overlap_list_a_session_once() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("project");
    std::fs::create_dir(&folder).unwrap();
    chain(&folder.join("s.jsonl"), "s", 2, None);
    let browser = Browser::on(&[dir.path(), &folder], 160, 40);
    assert!(browser.screen().contains("1 session · 1 project · $0.00"), "{}", browser.screen());
}

#[test]
fn a_selected_fork_is_found_again() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j l");
    while browser.model.tree.selected_fork().is_none() {
        browser.press("j");
    }
    let title = browser.selected();
    browser.press("f5");
    assert_eq!(browser.selected(), title);
    browser.press("g o").press("esc k");
    while browser.session().is_none_or(|session| session.title() != "Refactor auth module") {
        browser.press("k");
    }
    browser.press("l");
    assert_eq!(browser.selected(), title);
}

#[test]
fn a_small_terminal_scrolls_the_help_and_a_message() {
    let mut browser = Browser::demo(40, 10);
    browser.press("? pagedown pagedown");
    assert_ne!(browser.palettes()[0].cursor.top, 0, "{}", browser.screen());
    browser.press("esc");
    browser
        .send(Msg::NotResumed(format!("To resume by hand:\ncd /{0} && pi --session /{0}\n\nthe end", "x".repeat(200))));
    assert!(browser.screen().contains("cd /xx"), "the command comes first\n{}", browser.screen());
    browser.press("down down down down down down down down down down down down down");
    assert!(browser.screen().contains("the end"), "{}", browser.screen());
    browser.press("j").press("x");
    assert!(!browser.has_note());
}

/// For any keys and any terminal size: no panic, and the selected row is visible.
#[test]
fn any_keys_at_any_size() {
    let config = proptest::prelude::ProptestConfig::with_cases(crate::common::effort::rounds(8, 24));
    let steps = proptest::collection::vec((0usize..92, 0u16..180, 0u16..50), 1..60);
    let tried = proptest::test_runner::TestRunner::new(config).run(&steps, |steps| {
        let keys = "m M o j k h l down up left right g G pageup pagedown - + tab shift+tab J K enter esc f5 ? x \
             backspace ctrl+s ctrl+n ctrl+p ctrl+g ctrl+o alt+o 1 2 3 4 5 6 ctrl+left ctrl+right { } . T = end \
             ctrl+r R L f ctrl+d delete space * u U y t c ctrl+w / n N ' : F $ < > v d a";
        let keys: Vec<&str> = keys.split(' ').collect();
        // Works on copies, because the keys may change the sessions.
        let copies = tempfile::tempdir().unwrap();
        crate::common::home::copy(&crate::common::home::repository("fixtures/sessions"), copies.path());
        let mut browser = Browser::on(&[copies.path()], 100, 30);
        for (what, column, row) in steps {
            match what {
                key if key < keys.len() => drop(browser.press(keys[key])),
                74..78 => browser.send(Msg::Resized(column + 1, row + 1)),
                78..84 => browser.send(Msg::Click { column, row, double: column % 2 == 0 }),
                84..86 => browser.send(Msg::Paste("漢 a\u{1b}[31m\n\u{202e}".repeat(usize::from(row)))),
                _ => browser.send(Msg::Wheel { column, row, by: if row % 2 == 0 { 3 } else { -3 } }),
            }
            // The terminal is resized between two frames, before the model receives its size.
            browser.buffer_of((column + 1, row + 1));
            let screen = browser.screen();
            proptest::prop_assert!(
                !screen.contains(|c: char| c != '\n' && pitree::base::text::is_unsafe(c)),
                "{}",
                screen
            );
            let model = &browser.model;
            for (place, cursor, len) in [
                (KeyContext::Sessions, model.sessions.cursor, model.sessions.rows.len()),
                (KeyContext::Tree, model.tree.cursor, model.tree.rows.list.len()),
            ] {
                proptest::prop_assert!(cursor.at < len.max(1));
                if let Some(area) = model.area(place) {
                    let height = usize::from(area.body.height);
                    proptest::prop_assert!(cursor.top <= cursor.at && cursor.at < cursor.top + height.max(1));
                }
            }
        }
        Ok(())
    });
    tried.unwrap();
}

#[test]
fn frames_of_any_size_are_drawn_before_the_model_knows_it() {
    let empty = tempfile::tempdir().unwrap();
    for mut browser in [Browser::demo(160, 40), Browser::on(&[empty.path()], 160, 40)] {
        for keys in "m esc ? esc g c esc g s esc g f esc : esc c esc u esc v e".split(' ') {
            browser.press(keys);
            for size in [(1, 1), (2, 2), (3, 1), (1, 9), (20, 5), (80, 2), (100, 30), (200, 60)] {
                browser.buffer_of(size);
            }
        }
    }
}

#[test]
fn tree_keys_work_in_any_pane_and_every_key_has_feedback() {
    let mut browser = Browser::demo(160, 12);
    let filter = |browser: &Browser| browser.model.tree.filter;
    assert_eq!(browser.model.focus, KeyContext::Sessions);
    browser.press("ctrl+u");
    assert_eq!((filter(&browser), browser.model.focus), (Filter::UserOnly, KeyContext::Sessions));
    browser.press("l l ctrl+t");
    assert_eq!((filter(&browser), browser.model.focus), (Filter::NoTools, KeyContext::Reader));
    browser.press("f7");
    assert!(browser.footer().contains("f7 is not bound in any pane"), "{}", browser.footer());
    browser.press("space");
    assert!(browser.footer().contains("space (mark) works in the Sessions pane"), "{}", browser.footer());
    // In the tree it works as in pi's /tree, also from the preview; in the session list it deletes.
    browser.press("esc ctrl+d");
    assert_eq!((filter(&browser), browser.model.focus), (Filter::Default, KeyContext::Tree));
    browser.press("ctrl+t tab ctrl+o ctrl+o alt+o");
    assert_eq!((filter(&browser), browser.model.focus), (Filter::UserOnly, KeyContext::Reader));
    browser.press("ctrl+u");
    browser.press("esc esc ctrl+d");
    assert!(browser.asks(), "{}", browser.screen());
}

#[test]
fn sessions_can_be_limited_to_the_current_directory() {
    let mut browser = Browser::demo(160, 40);
    let all = browser.model.sessions.totals.sessions;
    browser.press("v h");
    assert!(browser.screen().contains("no sessions in this project · v h: show all"), "{}", browser.screen());
    browser.press("v h");
    let home = pitree::disk::demo::HOME;
    browser.model.sessions.here = CurrentDir::new(format!("{home}/code/webshop/src"), home.into());
    browser.press("v h");
    let shown = browser.model.sessions.totals.sessions;
    assert!(shown > 1 && shown < all, "{shown} of {all}");
    assert_eq!(browser.model.sessions.totals.projects, 1);
    assert!(browser.footer().contains("showing sessions of this project only"), "{}", browser.footer());
    browser.press("v h");
    assert_eq!(browser.model.sessions.totals.sessions, all);
}

#[test]
fn every_item_of_a_menu_runs() {
    let opens = ["", "l", "l tab", "l c", "space j space ="];
    for (open, menu) in opens.into_iter().flat_map(|open| ["m", "g", "v"].map(|menu| (open, menu))) {
        let items = |browser: &Browser| match browser.model.layers.top() {
            Some(Layer::Menu(menu)) => menu.rows.clone(),
            _ => Vec::new(),
        };
        let world = changes::World::new();
        let mut browser = world.open(160, 48);
        browser.press(open).press(menu);
        let rows = items(&browser);
        for (at, (key, action)) in rows.iter().enumerate() {
            let world = changes::World::new();
            let mut browser = world.open(160, 48);
            browser.press(open).press(menu);
            assert_eq!(items(&browser).len(), rows.len(), "{open} {menu}");
            let below = browser.model.layers.0.len() - 1;
            if at % 2 == 0 {
                browser.press(&key.to_string()[2..]);
            } else {
                for _ in 0..at {
                    browser.press("down");
                }
                browser.press("enter");
            }
            let is_open = browser.model.layers.0.iter().any(|layer| matches!(layer, Layer::Menu(_)));
            assert!(!is_open, "{open} {menu} {action:?}");
            assert!(!browser.footer().contains("does nothing here"), "{open} {menu} {action:?}: {}", browser.footer());
            browser.screen();
            for _ in 0..4 {
                browser.press("esc");
            }
            assert!(browser.model.layers.0.len() <= below, "{open} {menu} {action:?}\n{}", browser.screen());
        }
    }
}
