//! Saved UI state: a new browser restores the state of the previous one.

use crate::end_to_end::home::{Home, session};
use crate::end_to_end::terminal::{ENTER, ctrl};

#[test]
fn folds_sort_order_and_sizes_are_saved() {
    let home = Home::new();
    for (name, prompt) in [("one", "the first prompt"), ("two", "the second prompt")] {
        home.session(&session(name, home.path(), prompt));
    }
    let mut pitree = home.launch(&[]).size(130, 30).open();
    pitree.wait_for("the first prompt");
    pitree.send("\x1b[Hh");
    pitree.wait_for("⋯ 2");
    pitree.quit();
    let mut pitree = home.launch(&[]).size(130, 30).open();
    pitree.wait_for("⋯ 2");
    pitree.send("l");
    pitree.wait_for("the first prompt");
    pitree.send("/second");
    pitree.wait_for("1 session ");
    pitree.send(ENTER);
    pitree.wait_selected("the second prompt"); // in the tree
    pitree.quit();
    let mut pitree = home.launch(&[]).size(130, 30).open();
    pitree.wait_for("threaded");
    pitree.send(&ctrl('s'));
    pitree.wait_for("recent");
    pitree.quit();
    let mut pitree = home.launch(&[]).size(130, 30).open();
    pitree.wait_for("recent");
    pitree.wait_for("the first prompt");
    pitree.send("/\x1bp"); // alt+p
    pitree.wait_for("/second");
    pitree.send(&ctrl('c'));
    pitree.wait_end();
    // A changed setting overrides the saved state.
    home.write(".config/pitree/config.toml", "sort = \"name\"\n");
    let pitree = home.launch(&[]).size(130, 30).open();
    pitree.wait_for("Sessions  name");
    pitree.quit();
}

#[test]
fn the_query_history_merges_two_browsers() {
    let home = Home::new();
    for (name, prompt) in [("one", "the first prompt"), ("two", "the second prompt")] {
        home.session(&session(name, home.path(), prompt));
    }
    let browsers = [(); 2].map(|()| home.open(&[]));
    for (mut pitree, query) in browsers.into_iter().zip(["/first", "/second"]) {
        pitree.wait_for("the first prompt");
        pitree.send(query);
        pitree.wait_for("1 session ");
        pitree.send(ENTER);
        pitree.quit();
    }
    let mut pitree = home.open(&[]);
    pitree.wait_for("the first prompt");
    for query in ["/second", "/first"] {
        pitree.send(if query == "/second" { "/\x1bp" } else { "\x1bp" }); // alt+p
        pitree.wait_for(query);
    }
    pitree.send(&ctrl('c'));
    pitree.wait_end();
}

#[test]
fn an_invalid_file_is_reported_once() {
    for is_pipe in [false, true] {
        let home = Home::new();
        home.session(&session("one", home.path(), "the first prompt"));
        let path = home.write(".local/state/pitree/remembered.json", "");
        if is_pipe {
            std::fs::remove_file(&path).unwrap();
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        }
        let pitree = home.open(&[]);
        pitree.wait_for("the first prompt");
        pitree.wait_for("cannot restore the UI state");
        pitree.quit();
        let pitree = home.open(&[]);
        pitree.wait_for("the first prompt");
        assert!(!pitree.contents().contains("cannot restore"));
        pitree.quit();
    }
}

#[test]
fn the_first_start_with_sessions_welcomes_the_user_once() {
    let home = Home::new();
    let title = "Welcome to pitree";
    let pitree = home.launch_first(&[]).open();
    pitree.wait_for("No sessions");
    pitree.quit();
    home.session(&session("one", home.path(), "the first prompt"));
    for args in [&["first"][..], &["--print", "path"]] {
        let mut pitree = home.launch_first(args).open();
        pitree.wait_for("the first prompt");
        assert!(!pitree.contents().contains(title), "{args:?}");
        pitree.send(&ctrl('c'));
        pitree.wait_end();
    }
    let pitree = home.launch_first(&[]).env("PI_SESSION_FILE", "/s.jsonl").open();
    pitree.wait_for("the first prompt");
    pitree.wait_for("? help");
    pitree.quit();
    let pitree = home.launch_first(&[]).open();
    pitree.wait_for(title);
    drop(pitree); // it was recorded before it was shown
    let mut pitree = home.launch_first(&[]).open();
    pitree.wait_for("the first prompt");
    pitree.wait_for("? help");
    pitree.send(":welcome\r");
    pitree.wait_for(title);
    pitree.send("\x1b");
    pitree.wait_without(title);
    pitree.quit();
}
