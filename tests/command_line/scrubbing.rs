//! `pitree secrets scrub`: sessions without the values of secrets, and the places that still have them.

use std::fs;

use crate::common::session::Session;
use crate::pitree::Pitree;

/// A made-up token, written so that it is not one in this file.
fn token() -> String {
    format!("{}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q")
}

#[test]
fn values_are_replaced_in_the_family_and_undo_restores_them() {
    let pitree = Pitree::new();
    let first = Session::new("first").user("u1", &format!("use {}", token())).assistant("a1", "done");
    let parent = pitree.write_session(&first);
    let fork = pitree.write_session(&first.forked("second", &parent, 100).user("u2", "more"));
    let other = pitree.write_session(&Session::new("third").user("u1", "nothing"));
    let before = [&parent, &fork, &other].map(|path| fs::read(path).unwrap());
    let outcome = pitree.run(&["secrets", "scrub", "second", "--dry-run"]);
    assert!(outcome.out.contains("would"), "{}{}", outcome.out, outcome.err);
    assert_eq!([&parent, &fork, &other].map(|path| fs::read(path).unwrap()), before);
    assert!(pitree.run(&["secrets", "scrub", "second"]).err.contains("--yes"));
    pitree.run(&["rename", "third", &format!("key {}", token())]);
    let outcome = pitree.run(&["secrets", "scrub", "second", "--yes"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    for text in ["[github-token 1]  ghp_", "in the journal: a name or label of change 1", "trash empty 2 3"] {
        assert!(outcome.err.contains(text), "{text}: {}", outcome.err);
    }
    assert!(!(outcome.err + &outcome.out).contains(&token()));
    for path in [&parent, &fork] {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains("use [github-token 1]") && !text.contains(&token()), "{text}");
    }
    assert!(pitree.run(&["search", "--all", &token()]).out.lines().count() <= 1, "only the name of the other session");
    pitree.print(&["undo"]);
    assert_eq!([&parent, &fork].map(|path| fs::read(path).unwrap()), [before[0].clone(), before[1].clone()]);
}

#[test]
fn all_sessions_are_scrubbed_without_a_name() {
    let pitree = Pitree::new();
    let paths = ["one", "two"].map(|id| pitree.write_session(&Session::new(id).user("u1", &token())));
    pitree.write_session(&Session::new("three").user("u1", "nothing"));
    let outcome = pitree.run(&["secrets", "scrub", "--yes"]);
    assert!(outcome.code == 0 && outcome.err.contains("Replace these keys"), "{}", outcome.err);
    assert!(paths.iter().all(|path| !fs::read_to_string(path).unwrap().contains(&token())));
    let outcome = pitree.run(&["secrets", "scrub", "--yes"]);
    assert!(outcome.code == 1 && outcome.err.contains("no likely secret found"), "{}", outcome.err);
}

#[test]
fn a_session_that_was_just_written_is_refused() {
    let pitree = Pitree::new();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let now = pitree::base::time::iso(now.try_into().unwrap()).unwrap();
    let session = Session::new("live").user("u1", &token()).text();
    let last = session.lines().last().unwrap().replace("\"id\":\"u1\"", "\"id\":\"u2\"");
    let stamp = last.split("\"timestamp\":\"").nth(1).unwrap().split('"').next().unwrap();
    let text = format!("{session}{}\n", last.replace(stamp, &now)).into_bytes();
    let path = pitree.write("live.jsonl", "");
    fs::write(&path, &text).unwrap();
    let outcome = pitree.run(&["secrets", "scrub", "live", "--yes"]);
    assert!(outcome.code == 2 && outcome.err.contains("a pi may be using a session"), "{}", outcome.err);
    assert_eq!(fs::read(&path).unwrap(), text);
}
