//! The card of a session: its first prompt, the part unique to a fork, and its end.

use std::fs;

use super::harness::Browser;
use crate::common::session::Session;

/// Returns the lines of the preview.
pub(crate) fn card(browser: &Browser) -> Vec<String> {
    let text = |line: &pitree::render::DocLine| line.spans.iter().map(|span| span.text.as_str()).collect();
    browser.model.reader.lines().into_iter().map(text).collect()
}

#[test]
fn a_card_starts_with_the_last_messages_and_ends_with_the_file() {
    let mut browser = Browser::demo(160, 48);
    let lines = card(&browser);
    assert_eq!(lines[0], "Flaky checkout test: a race in the total");
    assert_eq!(lines[1], "prompt      Then have a look at search, same approach");
    assert!(lines[2].starts_with("answer      240 of 240. The query key contains"), "{}", lines[2]);
    let place = |what: &str| lines.iter().position(|line| line.starts_with(what)).unwrap_or_else(|| panic!("{what}"));
    let order = ["answer", "cost", "size", "Files", "Labels", "Models", "id"].map(place);
    assert!(order.is_sorted(), "{order:?}");
    let file = lines.iter().find(|line| line.starts_with("file  ")).unwrap();
    assert!(file.ends_with("0eb1b9caa.jsonl") && !file.contains('…'), "{file}");
    browser.press("end");
    let session = browser.session().unwrap().clone();
    assert!(card(&browser).contains(&format!("id          {}", session.header.id)));
}

#[test]
fn a_card_counts_likely_secrets() {
    let key = format!("the key is {}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q");
    let dir = tempfile::tempdir().unwrap();
    let session =
        Session::new("one").user("u1", &key).assistant("a1", &key).user("u2", "Thanks").assistant("a2", "Sure");
    fs::write(dir.path().join("one.jsonl"), session.text()).unwrap();
    fs::write(dir.path().join("two.jsonl"), Session::new("two").user("u", "no key").text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 48);
    let secrets = |browser: &Browser| card(browser).into_iter().find(|line| line.starts_with("secrets"));
    browser.press("home");
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push((browser.selected(), secrets(&browser)));
        browser.press("j");
    }
    let of = |title: &str| seen.iter().find(|(name, _)| name.starts_with(title)).map(|(_, found)| found.as_deref());
    assert_eq!((of("the key is"), of("no key")), (Some(Some("secrets     2 likely secrets")), Some(None)), "{seen:?}");
    crate::browser::search::search(&mut browser, "secret:github");
    assert_eq!(crate::browser::search::hits(&browser), 1);
}

/// Sessions outside of git are compared with the working tree only.
#[test]
fn lost_work_is_found_at_the_end_of_its_branch() {
    let (dir, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text: String = (0..4).map(|line| format!("let lost = work({line});\n")).collect();
    let write = serde_json::json!({"path": "a.rs", "content": text});
    let session = Session::new("one").cwd(work.path()).user("u1", "Begin").tool("t", "write", &write, "ok");
    let session = session.assistant("end", "Written").under("u1").user("u2", "Another way").assistant("a2", "Sure");
    fs::write(dir.path().join("one.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 48);
    let lost = |browser: &Browser| card(browser).into_iter().skip_while(|line| line != "Lost work").nth(1);
    let known = Some("a.rs  4 lines".to_string());
    assert_eq!(lost(&browser), known, "without a query");
    crate::browser::search::search(&mut browser, "is:lost");
    assert_eq!(crate::browser::search::hits(&browser), 1);
    assert_eq!(lost(&browser), known, "a hit shows the lost files");
    browser.press("enter");
    assert_eq!(browser.model.tree.find.as_ref().unwrap().hits.len(), 1);
    assert!(card(&browser).contains(&"Written".to_string()), "{}", browser.screen());
    browser.press("esc esc esc");
    assert_eq!(lost(&browser), known, "{}", browser.screen());
    fs::write(work.path().join("a.rs"), text).unwrap();
    crate::browser::search::search(&mut browser, "is:lost");
    assert_eq!(crate::browser::search::hits(&browser), 0);
}

#[test]
fn long_texts_leave_room_for_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::new("long").user("u1", &"word ".repeat(200)).assistant("a1", &"x".repeat(3000));
    fs::write(dir.path().join("long.jsonl"), session.text()).unwrap();
    for (columns, rows) in [(40, 10), (80, 24), (100, 30), (160, 48)] {
        let mut browser = Browser::on(&[dir.path()], columns, rows);
        let area = |browser: &Browser| browser.model.area(pitree::keymap::KeyContext::Reader);
        if area(&browser).is_none() {
            browser.press("shift+tab");
        }
        let area = area(&browser).unwrap();
        let most = usize::from(area.body.height / 5).clamp(2, 8);
        for line in &browser.model.reader.lines()[1..3] {
            let mut wrapped = pitree::render::wrap::Wrapped::new(area.text().width.into());
            wrapped.all(std::slice::from_ref(*line));
            assert_eq!(wrapped.len(), most, "{columns}×{rows}", rows = browser.model.size.1);
        }
        assert!(card(&browser)[1..3].iter().all(|line| line.ends_with('…')));
    }
}

#[test]
fn a_project_card_is_as_detailed_as_a_session_card() {
    let dir = tempfile::tempdir().unwrap();
    let many = (0..1200).fold(Session::new("many"), |session, at| session.user(&format!("u{at}"), "on"));
    for (name, session) in [("many", many), ("few", Session::new("few").user("u", "hello"))] {
        fs::write(dir.path().join(format!("{name}.jsonl")), session.text()).unwrap();
    }
    let mut browser = Browser::on(&[dir.path()], 160, 48);
    browser.press("home");
    let lines = card(&browser);
    assert!(lines.contains(&"entries     1,201".into()), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("last active 2026-01-05 09:20 (")), "{lines:#?}");
}

#[test]
fn a_fork_card_starts_with_its_unique_messages() {
    let dir = tempfile::tempdir().unwrap();
    let parent = Session::new("parent").user("u1", "the question").assistant("a1", "the answer");
    let path = dir.path().join("parent.jsonl");
    fs::write(&path, parent.text()).unwrap();
    let entries = parent.text().split_once('\n').unwrap().1.to_string();
    let write = |name: &str, more: &str| {
        let header = Session::new(name).parent(&path).at(100).text();
        fs::write(dir.path().join(format!("{name}.jsonl")), format!("{header}{entries}{more}")).unwrap();
    };
    let card_of = |name: &str| {
        let mut browser = Browser::on(&[dir.path()], 160, 48);
        browser.press("home");
        while browser.session().is_none_or(|session| session.header.id != name) {
            browser.press("j");
        }
        card(&browser)
    };
    write("bare", "");
    let bare = card_of("bare");
    assert_eq!(bare[1], "no messages of its own yet; last in the parent:");
    assert_eq!(bare[2..4], ["prompt      the question", "answer      the answer"]);
    let own = Session::new("own").under("a1").at(200).user("u2", "and then?").text();
    write("own", own.split_once('\n').unwrap().1);
    let own = card_of("own");
    assert_eq!(own[1..3], ["prompt      and then?", "answer      none yet"]);
    let says = |what: &str| own.iter().any(|line| line.starts_with(what));
    assert!(says("cost        $0.00 unique · ") && says("entries     1 unique · 3 with inherited entries"), "{own:#?}");
}

#[test]
fn a_card_explains_the_symbols_of_its_row_and_shows_the_whole_path() {
    let dir = tempfile::tempdir().unwrap();
    let parent = Session::new("parent").costing(0.5).asked("question", &["one", "two"]).label("l1", "u1", "start");
    let path = dir.path().join("parent.jsonl");
    fs::write(&path, parent.text()).unwrap();
    let fork = parent.forked("fork", &path, 100).user("u9", "more").costing(0.25).assistant("a9", "done");
    fs::write(dir.path().join("fork.jsonl"), fork.text()).unwrap();
    let orphan = Session::new("orphan").cwd("/else").parent(std::path::Path::new("/gone.jsonl")).user("u", "alone");
    fs::write(dir.path().join("orphan.jsonl"), orphan.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 40);
    let mut last = |id: &str| {
        browser.press("home");
        while browser.session().is_none_or(|session| session.header.id != id) {
            browser.press("j");
        }
        let lines = card(&browser);
        let file = lines.iter().find(|line| line.starts_with("file  ")).unwrap();
        assert!(file.ends_with(&format!("{}/{id}.jsonl", dir.path().display())), "{file}");
        lines.last().unwrap().clone()
    };
    assert_eq!(last("parent"), "symbols     #1 1 label · ├2 2 branches · ⋎1 1 fork · ✗ working directory missing");
    let fork = last("fork");
    assert!(fork.starts_with("symbols     ⋎ fork · #1 1 label"), "{fork}");
    assert!(fork.contains(" · +$0.25 cost without inherited entries · ✗"), "{fork}");
    assert_eq!(last("orphan"), "symbols     ⋎? fork whose parent is missing · ✗ working directory missing");
}

#[test]
fn a_conflict_copy_is_marked() {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::new("0199f2c1").user("u1", "hello").assistant("a1", "hi");
    fs::write(dir.path().join("T_0199f2c1.jsonl"), session.text()).unwrap();
    fs::write(dir.path().join("T_0199f2c1 (1).jsonl"), session.user("u2", "more").text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 48);
    let rows: Vec<String> = browser.screen().lines().filter(|row| row.contains("hello")).map(String::from).collect();
    assert_eq!(rows.iter().filter(|row| row.contains('⚠')).count(), 1, "{rows:?}");
    browser.press("home");
    let mut found = 0;
    for _ in 0..3 {
        found += card(&browser).iter().filter(|line| line.contains("a copy with a number in its file name")).count();
        browser.press("j");
    }
    assert!(found > 0);
}
