//! Rows of the tree that summarize: runs of tools, turns, inherited entries of a fork, and the leaf.

use pitree::app::message::Effect;
use pitree::app::model::Model;
use pitree::app::panes::reader::ReaderSubject;
use pitree::app::panes::tree::rows::RowItem;
use pitree::config::Filter;
use pitree::keymap::KeyContext;

use crate::browser::harness::{Browser, shows};
use crate::common::session::Session;

snapshot!(runs_at_80, (80, 24), "l home");
snapshot!(turns, (120, 30), "l v t home");
snapshot!(a_fork_begins_with_what_it_inherited, (100, 24), "j j j l");
snapshot!(inherited_unfolded, (100, 40), "j j j l home l");

fn items(browser: &Browser) -> Vec<RowItem> {
    browser.model.tree.rows.list.iter().map(|row| row.item).collect()
}

/// Selects the first row that matches.
fn go_to(browser: &mut Browser, wanted: impl Fn(RowItem) -> bool) {
    let row = items(browser).into_iter().position(wanted).unwrap();
    browser.press("home");
    for _ in 0..row {
        browser.press("j");
    }
}

fn is_run(item: RowItem) -> bool {
    matches!(item, RowItem::Run(_))
}

#[test]
fn a_run_of_tools_is_one_foldable_row() {
    let mut browser = Browser::demo(160, 40);
    browser.press("l");
    go_to(&mut browser, is_run);
    let before = items(&browser);
    let run = browser.model.tree.rows.runs[0].clone();
    assert!(matches!(browser.model.reader.subject, ReaderSubject::Entry(_)));
    assert_eq!(browser.model.tree.selected_entry(), Some(run.last()), "actions on the run apply to its last entry");
    browser.press("l");
    assert_eq!(items(&browser).len(), before.len() + run.entries.len());
    assert!(is_run(items(&browser)[browser.model.tree.cursor.at]), "the selection stays");
    browser.press("j h");
    assert_eq!(items(&browser), before, "folding a tool folds its run");
    browser.press("v r");
    assert!(!items(&browser).into_iter().any(is_run));
    browser.press("v r");
    assert_eq!(items(&browser), before);
}

#[test]
fn jumping_to_a_tool_unfolds_its_run() {
    let mut browser = Browser::demo(160, 40);
    browser.press("l");
    let run = browser.model.tree.rows.runs[0].clone();
    browser.model.tree.select(run.first());
    assert_eq!(browser.model.tree.selected_item(), Some(RowItem::Entry(run.first())));
    // A label or a search hit takes an entry out of its run.
    let mut browser = Browser::demo(160, 40);
    browser.press("l /").type_text("voucher").press("enter");
    let find = browser.model.tree.find.as_ref().unwrap();
    let hit = |at| find.number(at).is_some();
    assert!(browser.model.tree.rows.runs.iter().all(|run| !run.entries.iter().any(|&at| hit(at))));
}

#[test]
fn rows_of_every_filter_hold_each_entry_once() {
    let mut browser = Browser::demo(160, 40);
    for _ in 0..16 {
        browser.press("j l ctrl+d v x home");
        let rows =
            |browser: &Browser| items(browser).into_iter().filter(|item| matches!(item, RowItem::Entry(_))).count();
        let mut reported = rows(&browser);
        let runs = &browser.model.tree.rows.runs;
        reported += runs.iter().map(|run| run.entries.len()).sum::<usize>();
        if items(&browser)[0] == RowItem::Inherited {
            browser.press("l");
            reported = rows(&browser) + browser.model.tree.rows.runs.iter().map(|run| run.entries.len()).sum::<usize>();
        }
        assert_eq!(reported, browser.model.tree.rows.entries);
        browser.press("h h h esc");
        browser.model.focus = KeyContext::Sessions;
    }
}

#[test]
fn inherited_entries_of_a_fork_are_folded_into_one_row() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j j j l home");
    assert_eq!(browser.selected(), "");
    assert_eq!(browser.model.tree.selected_item(), Some(RowItem::Inherited));
    shows(&browser, "forked from \"Sessions in Redis\" here · 12 unique · $0.12");
    assert!(matches!(browser.model.reader.subject, ReaderSubject::Session(_)), "the card of the parent");
    let folded = items(&browser).len();
    browser.press("enter");
    assert!(items(&browser).len() > folded + 5);
    assert_eq!(browser.model.tree.selected_item(), Some(RowItem::Inherited), "it is at the start of the fork");
    let tree = browser.model.tree.tree.clone().unwrap();
    let begins = browser.model.tree.cursor.at;
    for (row, one) in browser.model.tree.rows.list.iter().enumerate() {
        if let RowItem::Entry(at) = one.item {
            assert_eq!(tree.is_inherited(at), row < begins);
        }
    }
    browser.press("h");
    assert_eq!(items(&browser).len(), folded);
    // Jumping to an entry of the run makes it visible.
    browser.model.tree.select(0);
    assert_ne!(browser.model.tree.selected_item(), Some(RowItem::Inherited));
}

#[test]
fn filters_keep_the_visible_part_of_a_fork() {
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("gone.jsonl");
    let inherited = Session::new("x").user("u", "the question").assistant("a", "the answer").text();
    let (_, inherited) = inherited.split_once('\n').unwrap();
    let header = Session::new("fork").parent(&gone).at(100).text();
    let own = r#"{"type":"thinking_level_change","id":"t","parentId":"a","timestamp":"2026-01-05T10:00:00.000Z","thinkingLevel":"off"}"#;
    std::fs::write(dir.path().join("a.jsonl"), format!("{header}{inherited}{own}\n")).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 30);
    browser.press("l");
    shows(&browser, "forked here from a missing session · 1 added since");
    for filter in ["1", "5", "1"] {
        browser.press(filter);
        shows(&browser, "user  the question");
    }
}

#[test]
fn the_position_of_the_leaf_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::new("hidden").user("u", "a prompt").assistant("a", "an answer").assistant("b", "another");
    std::fs::write(dir.path().join("a.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 30);
    browser.press("l");
    shows(&browser, "← leaf");
    browser.press("ctrl+u");
    assert_eq!(browser.model.tree.filter, Filter::UserOnly);
    shows(&browser, "leaf, 2 entries below");
    assert!(!browser.screen().contains("← leaf"));
    // If only entries outside the context follow, the entry is marked as the leaf.
    let session = session.name("c", "named");
    std::fs::write(dir.path().join("a.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 30);
    browser.press("l");
    shows(&browser, "← leaf");
    // The leaf can be above all visible entries.
    let session = session.at_root().name("d", "again");
    std::fs::write(dir.path().join("a.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 30);
    browser.press("l home");
    shows(&browser, "← leaf: pi resumes before the first message");
    assert_eq!(browser.model.tree.selected_item(), Some(RowItem::Start));
    browser.press("enter");
    assert!(matches!(browser.wants[..], [Effect::Resume(_)]), "pi resumes there");
}

#[test]
fn the_row_of_a_fork_counts_what_its_card_and_its_own_tree_count() {
    let mut browser = Browser::demo(220, 60);
    browser.press("home");
    let select = |browser: &mut Browser, key| {
        let Model { sessions, catalog, focus, .. } = &mut browser.model;
        sessions.select(key, catalog);
        *focus = KeyContext::Tree;
        browser.press("home");
    };
    let families = browser.model.catalog.families();
    let forks = browser.model.catalog.keys().filter_map(|key| Some((key, families.parent(key)?)));
    let forks: Vec<_> = forks.filter(|&(key, _)| browser.model.catalog[key].owner.is_none()).collect();
    assert!(forks.len() >= 4);
    for (fork, parent) in forks {
        select(&mut browser, parent);
        let place = browser.model.tree.forks().iter().position(|of| of.key == fork).unwrap();
        go_to(&mut browser, |item| item == RowItem::Fork(place));
        let cursor = browser.model.tree.cursor;
        let line = usize::from(browser.model.area(KeyContext::Tree).unwrap().body.y) + cursor.at - cursor.top;
        let screen = browser.screen();
        let row = screen.lines().nth(line).unwrap();
        let own = row.split('+').find_map(|text| text.split_once(" entries · ")).unwrap().0.to_string();
        shows(&browser, &format!("{own} unique · "));
        select(&mut browser, fork);
        shows(&browser, &format!(" here · {own} unique"));
    }
}

#[test]
fn a_turn_ends_with_its_last_tool() {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::new("turns").user("u", "a prompt").later(6).assistant("a", "an answer").later(2600);
    let level = "\"thinkingLevel\":\"high\"";
    let session = session.entry("t", "thinking_level_change", level).user("v", "unanswered").name("n", "named");
    std::fs::write(dir.path().join("a.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 30);
    browser.press("l v t");
    shows(&browser, "7.0 s");
    assert!(!browser.screen().contains(" min"), "{}", browser.screen());
}

#[test]
fn entries_before_the_fork_point_belong_to_the_parent() {
    use pitree::disk::load;
    use pitree::session::entry::kind::EntryKind;
    use pitree::session::family;
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    let mut forks = 0;
    for browser in [Browser::demo(120, 40), Browser::on(&[fixtures.as_path()], 120, 40)] {
        let catalog = &browser.model.catalog;
        for key in catalog.keys() {
            let Some(parent) = catalog.families().parent(key).filter(|_| catalog[key].owner.is_none()) else {
                continue;
            };
            let tree = |key| load::tree(&catalog[key].path, "").unwrap();
            let (digest, parent, fork) = (&catalog[parent], tree(parent), tree(key));
            let mut bodies = load::EntryReader::open(&catalog[key].path).unwrap();
            let line = |offset| {
                let node = fork.nodes.iter().find(|node| node.offset == offset).unwrap();
                bodies.line(node).ok()
            };
            let split = family::ForkPointIndex::new(&parent, digest).fork_point(&catalog[key], &mut { line });
            assert_eq!(split, family::fork_point(&parent, &fork));
            let Some(split) = split else { continue };
            // Its labels are copied after it.
            let is_label = |at: &u32| fork.nodes[*at as usize].kind == EntryKind::Label;
            let last = fork.path(fork.inherited().unwrap()).into_iter().rfind(|at| !is_label(at)).unwrap();
            assert_eq!(fork.nodes[last as usize].id, parent.nodes[split as usize].id, "{:?}", catalog[key].path);
            forks += 1;
        }
    }
    assert!(forks >= 4, "{forks}");
}

#[test]
fn an_unnamed_fork_is_titled_by_its_first_own_message() {
    let browser = Browser::demo(160, 40);
    let unnamed = |key: &_| browser.model.catalog[*key].name.is_none() && browser.model.catalog[*key].header.is_fork();
    let fork = browser.model.catalog.keys().find(unnamed).unwrap();
    let digest = &browser.model.catalog[fork];
    assert_ne!(digest.title(), digest.first_message.as_deref().unwrap());
    assert_eq!(digest.title(), digest.own_message.as_deref().unwrap());
}

#[test]
fn the_project_of_the_working_directory_is_at_the_top_with_its_newest_session_selected() {
    let dir = tempfile::tempdir().unwrap();
    let write = |session: Session| {
        let path = dir.path().join(format!("{}.jsonl", session.id));
        std::fs::write(&path, session.text()).unwrap();
        path
    };
    for at in 0..60 {
        // Every third project has only one session and no header.
        for copy in 0..if at % 3 == 0 { 1 } else { 2 } {
            let session = Session::new(&format!("s{at}-{copy}")).cwd(format!("/code/p{at:02}")).at(at * 100);
            write(session.user("u1", &format!("prompt {copy} of {at}")));
        }
    }
    let root = Session::new("root").cwd("/code/here").at(2510).user("u1", "the older one");
    let path = write(root.clone());
    write(root.forked("fork", &path, 2550).user("u2", "goes on").name("n1", "the newest one"));
    let top = |browser: &Browser| browser.screen().lines().nth(2).unwrap().to_string();
    for (here, header, selected) in [
        ("/code/here/src", "▾ here", "the newest one"),
        ("/code/p30", "p30", "prompt 0 of 30"),
        ("/code/p31", "▾ p31", "prompt 0 of 31"),
    ] {
        let browser = Browser::started_in(here, dir.path(), (100, 24));
        assert!(top(&browser).contains(header), "{here}\n{}", browser.screen());
        assert_eq!(browser.selected(), selected, "{}", browser.screen());
    }
    let elsewhere = Browser::started_in("/code", dir.path(), (100, 24));
    assert!(top(&elsewhere).contains("p59"), "{}", elsewhere.screen());
}

#[test]
fn prompts_are_shown_as_typed_and_previewed_in_full() {
    let dir = tempfile::tempdir().unwrap();
    let skill = "<skill name=\"review\" location=\"/s/SKILL.md\">\n# How to review\n</skill>\n\nthe last commit";
    let file = "<file name=\"/w/auth.ts\">\nexport {}\n</file>\nWhy does it fail?";
    let session = Session::new("wrapped").user("u1", skill).assistant("a1", "Done").user("u2", file);
    std::fs::write(dir.path().join("wrapped.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 48);
    assert_eq!(browser.session().unwrap().title(), "/skill:review the last commit");
    shows(&browser, "prompt      Why does it fail?");
    shows(&browser, "user  /skill:review the last commit");
    shows(&browser, "user  Why does it fail?");
    assert!(!browser.screen().contains("<skill"), "{}", browser.screen());
    browser.press("l home");
    shows(&browser, "▸ /skill:review, 3 lines");
    assert!(!browser.screen().contains("How to review"), "{}", browser.screen());
    browser.press("v e");
    shows(&browser, "How to review");
}

#[test]
fn calls_of_custom_tools_show_their_task() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = serde_json::json!({"agent": "scout", "mode": 1, "task": "Find the tests"});
    let session = Session::new("custom").user("u1", "go").tool("c1", "subagent", &arguments, "found");
    std::fs::write(dir.path().join("custom.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 48);
    browser.press("l v r");
    shows(&browser, "[subagent: Find the tests]");
}

#[test]
fn a_turn_opens_in_place() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j l v t home j");
    let before = items(&browser);
    browser.press("l");
    let opened = items(&browser);
    assert!(opened.len() > before.len() && opened[..=1] == before[..=1], "{}", browser.screen());
    browser.press("j j h");
    assert_eq!((items(&browser), browser.model.tree.cursor.at), (before, 1));
}
