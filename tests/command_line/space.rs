//! `pitree space`: sums, tables and JSON.

use std::fs;

use serde_json::Value;

use crate::command_line::pitree::{Pitree, samples};
use crate::common::session::Session;

fn number(object: &Value, field: &str) -> u64 {
    object[field].as_u64().unwrap_or_else(|| panic!("{field} of {object}"))
}

fn sum(list: &Value, field: &str) -> u64 {
    list.as_array().unwrap().iter().map(|one| number(one, field)).sum()
}

#[test]
fn kinds_sessions_and_projects_add_up_to_the_files() {
    let pitree = Pitree::new();
    let ls = pitree.objects(&["ls", "--json", "--subagents", "--dir", samples()]);
    let files: u64 = ls.iter().map(|session| fs::metadata(session["path"].as_str().unwrap()).unwrap().len()).sum();
    let objects = pitree.objects(&["space", "--json", "--dir", samples()]);
    let total = objects.last().unwrap();
    assert_eq!((&total["type"], number(total, "bytes")), (&"total".into(), files));
    for kind in ["session", "project"] {
        let lines = || objects.iter().filter(|line| line["type"] == kind);
        assert_eq!(lines().map(|line| number(line, "bytes")).sum::<u64>(), files, "{kind}");
        for field in ["bytes", "duplicateBytes", "outsideContextBytes"] {
            assert!(lines().all(|line| sum(&line["kinds"], field) == number(line, field)), "{kind} {field}");
            assert_eq!(lines().map(|line| number(line, field)).sum::<u64>(), number(total, field), "{kind} {field}");
        }
    }
    assert!(number(total, "duplicateBytes") > 0 && number(total, "outsideContextBytes") > 0);
    assert!(sum(&total["tools"], "bytes") < files && !total["types"].as_array().unwrap().is_empty());
    let largest = total["largest"].as_array().unwrap();
    assert!(largest.len() == 10 && largest.iter().all(|entry| entry["entryId"].is_string()));
    let (first, path) = (&largest[0], largest[0]["path"].as_str().unwrap());
    let file = fs::read_to_string(path).unwrap();
    let line = file.split_inclusive('\n').find(|line| line.contains(first["entryId"].as_str().unwrap())).unwrap();
    assert_eq!(number(first, "bytes"), line.len() as u64);
}

#[test]
fn tables_have_bars_and_the_largest_entries() {
    let pitree = Pitree::new();
    let long = "x".repeat(5000);
    let session = Session::new("0199f2c1").cwd("/work/app").user("u1", "Hello").assistant("a1", &long);
    pitree.write_session(&session.clone().custom("c1", "todo"));
    let table = pitree.print(&["space"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].ends_with(" kind") && lines[1].ends_with("████████████████  answers"), "{table}");
    assert!(table.contains("\nlargest entries\n") && table.contains("  0199f2c1@a1  answers  Hello\n"), "{table}");
    assert!(pitree.print(&["space", "--ascii"]).is_ascii());
    assert!(pitree.print(&["space", "--by", "project"]).contains("  /work/app\n"));
    pitree.write_session(&session.custom("c1", "todo\u{1b}[31m"));
    let types = pitree.print(&["space", "--by", "type"]);
    assert!(types.contains("  todo") && !types.contains('\u{1b}'), "{types}");
    assert!(pitree.print(&["space", "--by", "session"]).contains("  Hello\n"));
    let limited = pitree.run(&["space", "--limit", "1"]);
    assert!(limited.err.contains("1 of 4 rows"), "{}", limited.err);
    assert!(pitree.print(&["space", "--by", "entry"]).lines().next().unwrap().ends_with("@a1  answers  Hello"));
}

#[test]
fn queries_and_projects_narrow_the_sessions() {
    let pitree = Pitree::new();
    let sessions = |args: &[&str]| {
        let objects = pitree.objects(&[&["space", "--json", "--dir", samples()], args].concat());
        number(objects.last().unwrap(), "sessions")
    };
    let all = sessions(&[]);
    assert_eq!(sessions(&["01a1ceea"]), 1);
    assert!(sessions(&["--project", "/home/demo/code/webshop"]) < all && sessions(&["is:abandoned"]) < all);
    assert_eq!(pitree.run(&["space", "--dir", samples(), "nosuchword"]).code, 1);
    assert!(pitree.refuse(&["space", "--by", "year"]).contains("use one of kind, project"));
    assert!(pitree.refuse(&["space", "--json", "--by", "tool"]).contains("cannot be used with"));
}

#[test]
fn damaged_lines_are_counted() {
    let pitree = Pitree::new();
    let session = Session::new("a").user("u1", "Hello").raw("not json\n").assistant("a1", "Hi").raw("{\"torn");
    pitree.write_session(&session);
    let objects = pitree.objects(&["space", "--json"]);
    let kinds = objects.last().unwrap()["kinds"].as_array().unwrap();
    let damaged = kinds.iter().find(|kind| kind["name"] == "damaged").unwrap();
    assert_eq!((number(damaged, "bytes"), number(damaged, "count")), (9 + 6, 2));
}

#[test]
fn sessions_of_the_same_size_are_in_the_order_of_their_paths() {
    let pitree = Pitree::new();
    let ids: Vec<String> = (10..40).rev().map(|at| format!("s{at}")).collect();
    ids.iter().for_each(|id| drop(pitree.write_session(&Session::new(id).user("a", "hello"))));
    let objects = pitree.objects(&["space", "--json"]);
    let paths: Vec<&str> =
        objects.iter().filter(|line| line["type"] == "session").map(|line| line["path"].as_str().unwrap()).collect();
    assert!(paths.len() == ids.len() && paths.is_sorted(), "{paths:?}");
}
