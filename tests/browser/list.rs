//! Rows of the session list: how names, words and facts share the width.

use pitree::base::text::width;

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
    let columns = browser.model.area(pitree::keymap::KeyContext::Sessions).unwrap().body.width;
    let row = |line: &str| line.chars().take(columns.into()).collect::<String>();
    screen.lines().skip(2).map(row).filter(|row| row.contains(text)).collect()
}

#[test]
fn facts_are_shortened_before_names() {
    let dir = tempfile::tempdir().unwrap();
    let write = |session: Session| std::fs::write(dir.path().join(format!("{}.jsonl", session.id)), session.text());
    write(Session::new("other").user("u1", "in the same project")).unwrap();
    for (letters, shown) in [(20, "#1       4   $0.50"), (30, "#1   $0.50"), (36, "$0.50"), (44, "")] {
        let name = "n".repeat(letters);
        let session = Session::new("named").user("u1", "go").costing(0.5).assistant("a1", "ok").name("n1", &name);
        write(session.label("l1", "u1", "start")).unwrap();
        let browser = Browser::on(&[dir.path()], 120, 30);
        let rows = rows(&browser, &name);
        let facts = rows[0].split_once(&name).unwrap().1.trim_end().strip_suffix("10mo").unwrap();
        assert_eq!(facts.trim(), shown, "{letters}");
    }
}

#[test]
fn a_name_gets_most_of_a_row() {
    let dir = family(&"n".repeat(200));
    for (columns, rows) in [(40, 10), (80, 24), (100, 30), (120, 40), (160, 48), (200, 60)] {
        let browser = Browser::on(&[dir.path()], columns, rows);
        let list = usize::from(browser.model.area(pitree::keymap::KeyContext::Sessions).unwrap().body.width);
        let named = self::rows(&browser, "nnn");
        let letters = named[0].matches('n').count();
        assert!(letters * 10 >= list * 6, "{columns}: {letters} of {list}\n{}", browser.screen());
    }
}

#[test]
fn forks_with_the_name_of_their_parent_show_their_own_words() {
    let dir = family("Refactor the auth module into a package");
    for (columns, rows) in [(80, 24), (100, 30), (120, 40), (200, 60)] {
        let browser = Browser::on(&[dir.path()], columns, rows);
        let rows = self::rows(&browser, "Refactor");
        assert_eq!(rows.len(), 4, "{columns}\n{}", browser.screen());
        for words in ["What abou", "Try it wi", "Write the"] {
            assert_eq!(rows.iter().filter(|row| row.contains(words)).count(), 1, "{columns} {words}\n{rows:#?}");
        }
        assert!(rows.iter().all(|row| width(row) <= columns.into()));
    }
    let mut browser = Browser::on(&[dir.path()], 160, 48);
    browser.press("g j");
    shows(&browser, "fork        Refactor the auth module into a package  What about refresh tokens?");
}
