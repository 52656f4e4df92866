//! Rows of the session list: how names, words and facts share the width.

use pitree::base::text::width;
use pitree::config::{Config, Sort};
use pitree::disk::locate::Located;

use crate::browser::harness::{Browser, shows};
use crate::common::session::Session;

/// Creates a parent with a name, labels and costs, and forks that inherit the name.
fn family(name: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let parent = Session::new("parent").user("u1", "the question").costing(0.5).assistant("a1", "the answer");
    let parent = parent.name("n1", name).label("l1", "u1", "start");
    let path = dir.path().join("parent.jsonl");
    std::fs::write(&path, parent.text()).unwrap();
    for (at, words) in ["What about refresh tokens?", "Try it with Redis", "Write the guide"].into_iter().enumerate() {
        let id = format!("fork{at}");
        let fork = parent.clone().forked(&id, &path, 1000 + at as i64).user(&id, words);
        std::fs::write(dir.path().join(format!("{id}.jsonl")), fork.text()).unwrap();
    }
    dir
}

/// Returns the rows of the list that contain a text, without the other panes.
fn rows(browser: &Browser, text: &str) -> Vec<String> {
    let screen = browser.screen();
    let body = browser.model.area(pitree::keymap::KeyContext::Sessions).unwrap().body;
    let row = |line: &str| line.chars().take(body.width.into()).collect::<String>();
    screen.lines().skip(2).take(body.height.into()).map(row).filter(|row| row.contains(text)).collect()
}

#[test]
fn columns_stand_still() {
    let dir = tempfile::tempdir().unwrap();
    let write = |session: Session| std::fs::write(dir.path().join(format!("{}.jsonl", session.id)), session.text());
    write(Session::new("other").user("u1", "in the same project").assistant("a1", "ok")).unwrap();
    for (at, letters) in [3, 30, 90].into_iter().enumerate() {
        let session = Session::new(&format!("named-{at}"))
            .at(100 + at as i64)
            .user("u1", "go")
            .costing(1.5)
            .assistant("a1", "ok");
        let session = session.name("n1", &"n".repeat(letters)).label("l1", "u1", "start");
        write(session).unwrap();
    }
    for columns in 80..=200 {
        let mut browser = Browser::on(&[dir.path()], columns, 30);
        for sort in 0..Sort::ALL.len() {
            let mut ends = Vec::new();
            for focus in 0..if columns < 100 { 1 } else { 3 } {
                let rows = rows(&browser, "nnn");
                assert_eq!(rows.len(), 3, "{columns}\n{}", browser.screen());
                for row in rows {
                    let cells: Vec<&str> = row.trim_end_matches(['▐', ' ']).rsplitn(4, ' ').collect();
                    assert_eq!(cells[..2], ["Jan", "5"], "{columns}\n{}", browser.screen());
                    let (title, cells) = row.split_once("$1.50").unwrap_or_else(|| panic!("{}", browser.screen()));
                    ends.push((width(title), width(cells.trim_end_matches(['▐', ' ']))));
                }
                if columns >= 100 && focus < 2 {
                    browser.press("tab");
                }
            }
            ends.dedup();
            assert_eq!(ends.len(), 1, "{columns} {sort}\n{}", browser.screen());
            browser.press(if columns < 100 { "ctrl+s" } else { "tab ctrl+s" });
        }
    }
}

#[test]
fn a_title_keeps_its_columns() {
    let dir = tempfile::tempdir().unwrap();
    for (id, prompt) in
        [("a", "a prompt of more than sixty characters, so that no list shows it as a whole"), ("b", "b")]
    {
        let session = Session::new(id).user(id, prompt).costing(1234.5).assistant("a1", "ok");
        std::fs::write(dir.path().join(format!("{id}.jsonl")), session.text()).unwrap();
    }
    for (columns, sorts) in [80, 100, 120, 160, 200].into_iter().flat_map(|columns| [(columns, 0), (columns, 1)]) {
        let mut browser = Browser::on(&[dir.path()], columns, 30);
        for _ in 0..sorts {
            browser.press("ctrl+s");
        }
        let row = &rows(&browser, "a prompt of")[0];
        assert!(row.contains("a prompt of more th"), "{columns}\n{}", browser.screen());
        assert!(row.contains("$1234.50") && row.contains("5 Jan"), "{columns}\n{}", browser.screen());
    }
}

#[test]
fn sorted_by_time_sessions_are_grouped_by_period() {
    let dir = tempfile::tempdir().unwrap();
    for (id, day) in [("a", 320), ("b", 319), ("c", 317), ("d", 56), ("e", -309)] {
        let text = Session::new(id).at(day * 24 * 3600).user("u1", &format!("prompt {id}")).text();
        std::fs::write(dir.path().join(format!("{id}.jsonl")), text).unwrap();
    }
    let config = Config::parse("sort = 'recent'", "config.toml").unwrap();
    let located = Located { dirs: vec![dir.path().into()], origin: "--dir".into(), ..Default::default() };
    let browser = Browser::new(&config, located, (80, 24));
    let screen = browser.screen();
    let list: Vec<String> = screen
        .lines()
        .skip(2)
        .take(10)
        .map(|row| row.trim_start_matches("• ").split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        list,
        [
            "Today",
            "prompt a",
            "Yesterday",
            "prompt b",
            "This week",
            "prompt c",
            "March",
            "prompt d",
            "March 2025",
            "prompt e"
        ],
        "{screen}"
    );
    let first = screen.lines().nth(3).unwrap();
    assert!(first.contains("nowhere") && first.contains("09:00"), "each row names its project\n{screen}");
}

#[test]
fn cells_show_no_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let session = Session::new("s").user("u1", &format!("use {token} please"));
    std::fs::write(dir.path().join("s.jsonl"), session.text()).unwrap();
    let browser = Browser::on(&[dir.path()], 80, 24);
    let row = &rows(&browser, "[redacted]")[0];
    assert!(!row.contains("ghp_"), "{row}");
}

#[test]
fn hits_show_no_part_of_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    // Behind the word, before it, and at the end of the excerpt.
    let gap = "and so on ".repeat(9);
    for (at, text) in
        [format!("plover {token}"), format!("{token} plover"), format!("plover {gap}{token}")].iter().enumerate()
    {
        let session =
            Session::new(&format!("s{at}")).user(&format!("u{at}"), "hello").assistant(&format!("a{at}"), text);
        std::fs::write(dir.path().join(format!("s{at}.jsonl")), session.text()).unwrap();
    }
    for scope in ["", "ctrl+x"] {
        let mut browser = Browser::on(&[dir.path()], 200, 60);
        browser.press("/").type_text("plover").press(scope);
        let hits = rows(&browser, "asst");
        assert_eq!(hits.len(), 3, "{hits:#?}");
        assert!(hits.iter().any(|row| row.contains("[redacted]")), "{hits:#?}");
        assert!(hits.iter().all(|row| !row.contains("ghp_") && !row.contains("a1B2")), "{hits:#?}");
    }
}

#[test]
fn forks_with_the_name_of_their_parent_show_their_own_words() {
    let dir = family("Refactor the auth module into a package");
    for (columns, rows) in [(80, 24), (100, 30), (120, 40), (200, 60)] {
        let browser = Browser::on(&[dir.path()], columns, rows);
        let rows = self::rows(&browser, "Ref");
        assert_eq!(rows.len(), 4, "{columns}\n{}", browser.screen());
        for words in ["What abou", "Try it wi", "Write the"] {
            assert_eq!(rows.iter().filter(|row| row.contains(words)).count(), 1, "{columns} {words}\n{rows:#?}");
        }
        assert!(rows.iter().all(|row| width(row) <= columns.into()));
    }
    let mut browser = Browser::on(&[dir.path()], 160, 48);
    browser.press("home j");
    shows(&browser, "fork        Refactor the auth module into a package  What about refresh tokens?");
}
