//! `pitree search`: hits as text and as JSON, and exit codes.

use pitree::base::text::width;
use serde_json::Value;

use super::pitree::{Pitree, samples};
use crate::common::home::json_lines;
use crate::common::session::Session;

/// Returns the hits in the demo sessions.
fn search(args: &[&str]) -> Vec<Value> {
    page(args).0
}

/// Returns the hits in the demo sessions, and the last line.
fn page(args: &[&str]) -> (Vec<Value>, Value) {
    let mut lines = json_lines(&Pitree::new().print(&[&["search", "--dir", samples(), "--json"], args].concat()));
    let end = lines.pop().unwrap();
    assert!(end["type"] == "end" && lines.iter().all(|hit| hit["type"] == "hit"), "{lines:#?}");
    (lines, end)
}

#[test]
fn pages_together_contain_all_hits() {
    for query in ["jwt", "is:fork", "token", "rfctauth", "label:e", "label:e token", "token -jwt"] {
        let (all, end) = page(&[query]);
        assert_eq!(
            (&end["total"], &end["printed"], &end["next"]),
            (&all.len().into(), &all.len().into(), &Value::Null)
        );
        for size in [4, 1].map(|pages| all.len().div_ceil(pages)) {
            let (mut pages, mut next) = (Vec::new(), None::<String>);
            loop {
                let size = size.to_string();
                let after: Vec<&str> = next.iter().flat_map(|next| ["--after", next]).collect();
                let (hits, end) = page(&[&[query, "--limit", &size], &*after].concat());
                assert_eq!((&end["total"], &end["totalIsExact"]), (&all.len().into(), &true.into()), "{query}");
                pages.extend(hits);
                match end["next"].as_str() {
                    Some(more) => next = Some(more.into()),
                    None => break,
                }
            }
            assert_eq!(pages, all, "{query}, {size} at a time");
        }
    }
    let (all, _) = page(&["--all", "expires_at"]);
    let after = all[0]["hit"].as_str().unwrap();
    let (rest, end) = page(&["--all", "expires_at", "--after", after, "--limit", "2"]);
    assert_eq!(
        (&rest[..], &end["total"], &end["totalIsExact"]),
        (&all[1..3], &3.into(), &false.into()),
        "what is not looked at is not counted"
    );
    let outcome = Pitree::new().run(&["search", "--demo", "jwt", "--after", "nowhere"]);
    assert!(outcome.code == 2 && outcome.err.contains("omit --after"), "{}", outcome.err);
}

#[test]
fn hits_after_a_page_are_counted_in_some_sessions() {
    let pitree = Pitree::new();
    for number in 0..200 {
        let session = Session::new(&format!("s{number:03}")).at(number * 60);
        let session = session.user("1", "rarely said").assistant("2", "rarely answered");
        let name = match number {
            7 => Some("Rarely"), // ranks first
            0 | 199 => Some("Other"),
            _ => None,
        };
        pitree.write_session(&name.map_or(session.clone(), |name| session.name("3", name)));
    }
    let page = |query: &str, rest: &[&str]| {
        let mut hits = json_lines(&pitree.print(&[&["search", "--json", query], rest].concat()));
        let end = hits.pop().unwrap();
        (hits, end)
    };
    let total = |end: &Value| (end["total"].as_u64().unwrap(), end["totalIsExact"].as_bool().unwrap());
    let (all, end) = page("rarely", &["--limit", "1000"]);
    assert_eq!((all.len(), total(&end), &end["next"]), (399, (399, true), &Value::Null));
    assert_eq!((&all[0]["id"], &all[1]["id"], &all[398]["id"]), (&"s007".into(), &"s199".into(), &"s000".into()));
    let (some, end) = page("rarely", &["--limit", "5"]);
    assert!(some[..] == all[..5] && total(&end) == (5 + 256, false) && end["next"] == all[4]["hit"], "{end}");
    let (more, end) = page("rarely", &["--limit", "138", "--after", end["next"].as_str().unwrap()]);
    assert!(more[..] == all[5..143] && total(&end) == (399, true), "{end}");
    // The next hit is in the last session, after many without one.
    let (some, end) = page("rarely is:named", &["--limit", "3"]);
    assert_eq!((some.len(), total(&end), &end["next"]), (3, (5, true), &some[2]["hit"]));
    let (all, end) = page("rarely is:named", &["--limit", "5"]);
    assert_eq!((all.len(), total(&end), &end["next"]), (5, (5, true), &Value::Null));
    let err = pitree.run(&["search", "rarely", "--limit", "5"]).err;
    assert!(err.contains("5 hits of at least 261; continue with --after s198@"), "{err}");
}

#[test]
fn reports_sessions_in_which_a_pattern_backtracks_too_much() {
    let pitree = Pitree::new();
    let evil = "a".repeat(40);
    pitree.write_session(&Session::new("s1").user("1", &evil).assistant("2", "found in spite of it"));
    pitree.write_session(&Session::new("s2").user("1", &evil));
    for (pattern, hits, is_exact) in
        [("re:(?=x)x|(a|aa)+\\1!|in spite", 1, false), ("re:(?=f)found in", 1, true), ("re:(?=y)y", 0, true)]
    {
        let found = pitree.run(&["search", "--json", pattern]);
        let end = json_lines(&found.out).pop().unwrap();
        assert_eq!((&end["total"], &end["totalIsExact"]), (&hits.into(), &is_exact.into()), "{pattern}");
        assert_eq!(found.err.contains("some sessions were not fully searched"), !is_exact, "{}", found.err);
    }
    let listed = pitree.run(&["ls", "re:(?=x)x|(a|aa)+\\1!"]);
    assert!(listed.err.contains("the pattern backtracks too much"), "{}", listed.err);
}

#[test]
fn an_entry_with_several_hits_has_an_identifier_for_each() {
    let pitree = Pitree::new();
    let arguments = serde_json::json!({"path": "twice.txt"});
    let session = Session::new("s").user("1", "twice said").label("2", "1", "Twice").call("3", "read", &arguments);
    pitree.write_session(&session);
    for args in [&["twice"][..], &["--all", "twice"]] {
        let (mut names, mut next) = (Vec::new(), None::<String>);
        loop {
            let after: Vec<&str> = next.iter().flat_map(|next| ["--after", next]).collect();
            // With --all, the last page can be empty, which has another exit code.
            let hits = json_lines(&pitree.run(&[&["search", "--json", "--limit", "1"], args, &*after].concat()).out);
            let end = hits.last().unwrap();
            names.extend(hits.iter().filter_map(|hit| hit["hit"].as_str()).map(String::from));
            assert!(names.len() < 9, "{names:?}");
            match end["next"].as_str() {
                Some(more) => next = Some(more.into()),
                None => break,
            }
        }
        let different: std::collections::HashSet<&String> = names.iter().collect();
        assert!(names.len() > 1 && different.len() == names.len(), "{names:?}");
    }
}

#[test]
fn forks_are_known_to_a_query_for_them() {
    let pitree = Pitree::new();
    let parent = pitree.write_session(&Session::new("parent").user("1", "said"));
    pitree.write_session(&Session::new("fork").parent(&parent).user("1", "said"));
    for (query, id) in [("is:forked said", "parent"), ("said -is:forked", "fork")] {
        let ids: Vec<Value> = json_lines(&pitree.print(&["search", "--json", query]))
            .into_iter()
            .filter_map(|hit| hit.get("id").cloned())
            .collect();
        assert_eq!(ids, [id], "{query}");
    }
}

/// Returns the matching parts of an excerpt.
fn matched(hit: &Value) -> Vec<String> {
    let snippet: Vec<char> = hit["snippet"].as_str().unwrap().chars().collect();
    let part = |range: &Value| {
        let at = |end: usize| usize::try_from(range[end].as_u64().unwrap()).unwrap();
        snippet[at(0)..at(1)].iter().collect()
    };
    hit["ranges"].as_array().unwrap().iter().map(part).collect()
}

#[test]
fn rejects_queries_that_are_too_long() {
    let words = |count: usize| (0..count).map(|at| format!("w{at} ")).collect::<String>();
    let outcome = Pitree::new().run(&["search", "--demo", &words(2000)]);
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""));
    assert!(outcome.err.contains("query too long"), "{}", outcome.err);
}

#[test]
fn every_one_of_many_words_must_match() {
    for count in [65, 200] {
        let pitree = Pitree::new();
        let words = |count: usize| (0..count).map(|at| format!("w{at:03} ")).collect::<String>();
        pitree.write_session(&Session::new("s1").user("1", &words(count)));
        pitree.write_session(&Session::new("s2").user("1", &words(count - 1)));
        for args in [&["--json"][..], &["--json", "--all"]] {
            let hits = json_lines(&pitree.print(&[&["search", &words(count)], args].concat()));
            assert_eq!((hits.len(), &hits[0]["id"]), (2, &"s1".into()), "{args:?}: {hits:?}");
        }
    }
}

/// A session of one message.
fn said(id: &str, day: i64, text: &str) -> Session {
    Session::new(id).at(day * 86_400).user("1", text)
}

/// Returns the IDs of the sessions that a search finds, best first.
fn found(pitree: &Pitree, args: &[&str]) -> Vec<String> {
    let hits = json_lines(&pitree.run(&[&["search", "--json"], args].concat()).out);
    hits.iter().filter_map(|hit| hit["id"].as_str().map(String::from)).collect()
}

#[test]
fn words_without_accents_match_with_accents_after_those_without() {
    let pitree = Pitree::new();
    pitree.write_session(&said("plain", 1, "in the cafe"));
    pitree.write_session(&said("named", 2, "Hello").name("2", "Café"));
    pitree.write_session(&said("accent", 3, "un cafe\u{301} noir"));
    pitree.write_session(&said("none", 4, "face"));
    let ids = |args: &[&str]| found(&pitree, args);
    // Without and with the index.
    for _ in 0..2 {
        assert_eq!(ids(&["cafe"]), ["plain", "accent", "named"]);
        assert_eq!(ids(&["CAFÉ"]), ["named", "accent"]);
        assert_eq!(ids(&["\"cafe noir\""]), ["accent"]);
        assert_eq!(ids(&["noir", "afe"]), ["accent"]);
        let mut all = ids(&["--all", "cafe"]);
        all.sort();
        assert_eq!(all, ["accent", "named", "plain"]);
        pitree.run(&["ls"]); // fills the index
    }
}

#[test]
fn quotation_marks_match_in_any_style_after_the_same_style() {
    let pitree = Pitree::new();
    pitree.write_session(&said("same", 1, "I don't know"));
    pitree.write_session(&said("other", 2, "We don’t know").name("2", "“No” isn’t an answer"));
    pitree.run(&["ls"]); // fills the index
    let ids = |args: &[&str]| found(&pitree, args);
    assert_eq!(ids(&["Don't"]), ["same", "other"]);
    assert_eq!(ids(&["don’t know"]), ["other", "same"]);
    assert_eq!(ids(&["\"don't know\""]), ["same", "other"]);
    assert_eq!(ids(&["--all", "don't"]).len(), 2);
    assert_eq!(ids(&["isn't"]), ["other"]);
    assert_eq!(ids(&["know", "--", "-don't"]), [""; 0]);
}

#[test]
fn words_in_texts_rank_before_those_in_ids() {
    let pitree = Pitree::new();
    pitree.write_session(&said("01aa0089-aaaa", 1, "port 1024 is privileged"));
    pitree.write_session(&said("01aa0089-1024", 3, "open the port please"));
    pitree.write_session(&said("01aa0089-1024-c", 2, "1024 is the port"));
    let ids = |query: &str| found(&pitree, &[query]);
    assert_eq!(ids("port 1024"), ["01aa0089-aaaa", "01aa0089-1024-c", "01aa0089-1024"]);
    assert_eq!(ids("01aa0089-1"), ["01aa0089-1024", "01aa0089-1024-c"]);
}

#[test]
fn unknown_qualifiers_are_text_and_roles_select_entries() {
    let pitree = Pitree::new();
    let session = said("s", 1, "open localhost:3000").assistant("2", "pull nginx:latest, lable:x");
    pitree.write_session(&session.tool("3", "bash", &serde_json::json!({"command": "serve"}), "port:80"));
    let fields = |query: &str| {
        let found = pitree.run(&["search", "--json", query]);
        let hits = json_lines(&found.out);
        (hits.iter().filter_map(|hit| hit["field"].as_str().map(String::from)).collect::<Vec<_>>(), found.err)
    };
    for (query, found) in [
        ("localhost:3000", &["user"][..]),
        ("nginx:latest", &["assistant"]),
        ("role:user nginx:latest", &[]),
        ("from:me localhost", &["user"]),
        ("role:assistant localhost", &[]),
        ("role:tool port:80", &["tool"]),
        ("role:assistant all:serve", &["arguments"]),
    ] {
        assert_eq!(fields(query), (found.iter().map(ToString::to_string).collect(), String::new()), "{query}");
    }
    let (found, err) = fields("lable:x");
    assert_eq!(
        (&*found.concat(), &*err),
        ("assistant", "searching for the text lable:x; for the qualifier, write label:\n")
    );
}

#[test]
fn hits_have_an_entry_and_an_excerpt() {
    let hits = search(&["jwt"]);
    let names =
        "active cwd entryId field hit id modified name path project ranges schema snippet time title type worktree";
    let names = names.split(' ');
    for hit in &hits {
        assert!(hit.as_object().unwrap().keys().map(String::as_str).eq(names.clone()), "{hit}");
        let matched = matched(hit);
        assert!(!matched.is_empty() && matched.iter().all(|part| part.eq_ignore_ascii_case("jwt")), "{hit}");
        assert!(hit["snippet"].as_str().unwrap().chars().count() <= 120);
    }
    let has = |field: &str, active: bool| hits.iter().any(|hit| hit["field"] == field && hit["active"] == active);
    assert!(has("user", false) && has("assistant", true) && has("label", false), "{hits:#?}");
    let said = hits.iter().find(|hit| hit["field"] == "user").unwrap();
    assert!(said["snippet"].as_str().unwrap().starts_with("Use JWT, but do it properly"), "as it was typed: {said}");
    let session = said["id"].as_str().unwrap();
    let tree = Pitree::new().objects(&["tree", "--dir", samples(), "--json", session]);
    let entry = tree.iter().find(|entry| entry["id"] == said["entryId"]).unwrap();
    assert_eq!((&entry["role"], &entry["active"]), (&"user".into(), &false.into()));
}

#[test]
fn sessions_found_by_title_are_one_hit() {
    let hits = search(&["refactor", "auth"]);
    assert_eq!(
        (&hits[0]["field"], &hits[0]["entryId"], &hits[0]["active"]),
        (&"name".into(), &Value::Null, &Value::Null)
    );
    assert_eq!(matched(&hits[0]), ["Refactor", "auth"]);
    let fuzzy = search(&["rfctauth"]);
    assert_eq!((fuzzy.len(), &fuzzy[0]["snippet"]), (1, &"Refactor auth module".into()));
    let id = search(&["01a13a84"]);
    assert_eq!((id.len(), &id[0]["field"]), (1, &"id".into()));
    let forks = search(&["is:fork"]);
    assert!(forks.len() == 6 && forks.iter().all(|hit| hit["field"].is_null() && matched(hit).is_empty()));
    let files = search(&["edited:store.ts"]);
    assert!(!files.is_empty());
    assert!(files.iter().all(|hit| hit["field"] == "file" && hit["entryId"].is_string()), "{files:#?}");
}

#[test]
fn all_searches_tool_output() {
    let pitree = Pitree::new();
    assert_eq!(pitree.run(&["search", "--demo", "expires_at"]).code, 1);
    let hits = search(&["--all", "expires_at"]);
    assert_eq!(hits, search(&["all:expires_at"]));
    assert!(hits.iter().any(|hit| hit["field"] == "arguments") && matched(&hits[0])[0] == "expires_at", "{hits:#?}");
    let abandoned = search(&["--all", "expires_at", "is:abandoned"]);
    assert!(!abandoned.is_empty() && abandoned.len() < hits.len());
}

#[test]
fn limits_the_number_of_hits() {
    assert_eq!(search(&["the", "--limit", "7"]).len(), 7);
    let (few, all) = (search(&["all:the", "--limit", "7"]), search(&["all:the", "--limit", "100000"]));
    assert!(few == all[..7] && all.len() > 100, "those of the newest sessions, always the same");
    assert_eq!(search(&["all:e"]).len(), 100);
    assert_eq!(Pitree::new().run(&["search", "--demo", "the", "--limit", "0"]).code, 2);
}

#[test]
fn text_output_shows_the_position_of_a_hit() {
    let text = Pitree::new().print(&["search", "--demo", "use jwt"]);
    let hit = text.lines().position(|line| line.contains("  user       abandoned  Use JWT, but")).unwrap();
    let lines: Vec<&str> = text.lines().take(hit).collect();
    let session = lines.iter().rfind(|line| !line.starts_with(' ')).unwrap();
    assert!(session.starts_with("01a1ceea  Refactor auth module  webshop  ") && session.ends_with("  $0.63"), "{text}");
    let title = Pitree::new().print(&["search", "--demo", "refactor auth"]);
    assert_eq!(title.lines().filter(|line| line.contains("Refactor auth module")).count(), 1, "{title}");
    let labeled = Pitree::new().print(&["search", "--demo", "multi()"]);
    assert!(labeled.lines().all(|line| width(line) <= 160), "{labeled}");
    assert!(labeled.contains("  ededbc8c  assistant  [redis-works] It works."), "{labeled}");
}

#[test]
fn shows_invalid_queries_and_returns_an_exit_code_without_hits() {
    let pitree = Pitree::new();
    let wrong = pitree.run(&["search", "--demo", "é cost:much x"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""));
    let lines: Vec<&str> = wrong.err.lines().collect();
    assert!(lines[0].starts_with("pitree: ") && lines[0].contains("much"), "{}", wrong.err);
    assert_eq!(lines[1..], ["  é cost:much x", "    ^^^^^^^^^"]);
    for query in ["re:(", "role:me,you", "", "is:"] {
        let wrong = pitree.run(&["search", "--demo", query]);
        assert_eq!((wrong.code, wrong.out.as_str()), (2, ""), "{query}");
    }
    let none = pitree.run(&["search", "--demo", "qqqqqq"]);
    assert_eq!((none.code, none.out.as_str(), none.err.as_str()), (1, "", "no match in 41 sessions\n"));
    let none = pitree.run(&["search", "--demo", "--json", "qqqqqq"]);
    let end = "{\"schema\":1,\"type\":\"end\",\"printed\":0,\"total\":0,\"totalIsExact\":true,\"next\":null}\n";
    assert_eq!((none.code, none.out.as_str(), none.err.as_str()), (1, end, ""));
    assert_eq!(pitree.run(&["search", "--demo"]).code, 2);
    let wrong = pitree.run(&["--demo", "has:me"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""), "nor does the browser open with it");
    for args in [&["--demo", "jwt", "ls"][..], &["--demo", "--", "ls"]] {
        assert!(pitree.run(args).err.contains("requires a terminal"), "{args:?}: it is a search");
    }
    assert_eq!(pitree.run(&["search", "--demo", "--", "-zebra", "jwt"]).code, 0);
    let slip = pitree.run(&["--demo", "serach", "jwt"]);
    assert_eq!((slip.code, slip.out.as_str()), (2, ""));
    assert!(slip.err.starts_with("pitree: unknown command serach; did you mean search?\n"), "{}", slip.err);
    for (word, name) in [("treee", "tree"), ("undoo", "undo"), ("labls", "labels")] {
        let said = pitree.run(&["--demo", word]).err;
        assert!(
            said.contains(&format!("did you mean {name}?\n  to search for the word, run: pitree -- {word}")),
            "{said}"
        );
    }
    assert!(pitree.run(&["--demo", "--", "serach"]).err.contains("requires a terminal"));
}

#[test]
fn file_content_cannot_control_the_terminal() {
    let pitree = Pitree::new();
    pitree.fixture("control-characters");
    for args in [&["re:."][..], &["re:.", "--json"], &["--all", "e"], &["--all", "e", "--json"]] {
        let outcome = pitree.run(&[&["search"], args].concat());
        assert!(outcome.code == 0 && !outcome.out.is_empty(), "{args:?}: {}", outcome.err);
        assert!(
            !outcome.out.contains(|c| c != '\n' && pitree::base::text::is_unsafe(c)),
            "{args:?}: {:?}",
            outcome.out
        );
    }
    let outcome = pitree.run(&["search", "re:(\u{1b}[31m"]);
    assert!(!outcome.err.contains('\u{1b}'), "{:?}", outcome.err);
}

#[test]
fn finds_entries_without_ids() {
    let pitree = Pitree::new();
    pitree.fixture("v1-branched-from");
    let hits = pitree.objects(&["search", "--json", "re:."]);
    assert!(hits.iter().any(|hit| hit["field"] == "user" && hit["entryId"].is_null()), "{hits:#?}");
}
