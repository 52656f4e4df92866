//! `pitree show`, the current session, and the skill that explains both.

use serde_json::{Value, json};

use super::pitree::Pitree;

/// Returns the output of `show` for the fixture `branches`.
fn show(pitree: &Pitree, args: &[&str]) -> Value {
    pitree.objects(&[&["show", "branches", "--json"], args].concat()).remove(0)
}

fn ids(shown: &Value) -> Vec<&str> {
    shown["entries"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect()
}

#[test]
fn an_entry_is_shown_with_context_and_neighbor_ids() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    // The entry is on an abandoned branch, which continues on its own.
    let shown = show(&pitree, &["u3", "-C", "1"]);
    assert_eq!(ids(&shown), ["a2", "u3", "a3"], "labels are passed over");
    assert_eq!((&shown["previous"], &shown["next"]), (&json!("u2"), &Value::Null));
    let asked = &shown["entries"][1];
    assert_eq!((&asked["asked"], &asked["active"], &asked["role"]), (&json!(true), &json!(false), &json!("user")));
    assert_eq!(asked["text"], "Add refresh tokens");
    assert_eq!(shown["entries"][0]["branches"], json!(["u4"]), "the other way on from there");
    // Follows the IDs through the entire branch.
    let (mut seen, mut next) = (Vec::new(), Some("u1".to_owned()));
    while let Some(id) = next {
        let shown = show(&pitree, &[&id, "-C", "0"]);
        assert_eq!(ids(&shown), [id]);
        next = shown["next"].as_str().map(str::to_owned);
        seen.push(ids(&shown)[0].to_owned());
    }
    assert_eq!(seen, ["u1", "a1", "u6", "a6", "u8", "a8"]);
    assert_eq!(ids(&show(&pitree, &["-C", "0"])), ["a8"], "without an entry the end");
    let label = show(&pitree, &["l1", "-C", "0"]);
    assert_eq!(
        (ids(&label), &label["entries"][0]["type"]),
        (vec!["l1"], &json!("label")),
        "what is asked for is shown"
    );
}

#[test]
fn texts_are_truncated_to_the_requested_size() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    let cut = &show(&pitree, &["u3", "-C", "0", "--chars", "3"])["entries"][0];
    assert_eq!((&cut["text"], &cut["cutFrom"]), (&json!("Add"), &json!("Add refresh tokens".len())));
    let text = pitree.print(&["show", "branches", "u3", "-C", "0", "--chars", "3"]);
    assert!(text.contains("\nAdd\n[truncated; 18 characters in total; use a larger --chars]"), "{text}");
    assert!(text.contains(">> user  u3  ") && text.contains("  abandoned"), "{text}");
    assert!(pitree.print(&["show", "branches", "u3", "-C", "0", "--full"]).contains("Add refresh tokens"));
    assert_eq!(pitree.run(&["show", "branches", "nowhere"]).code, 2);
}

#[test]
fn a_dot_means_the_session_of_the_surrounding_pi() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    pitree.fixture("images");
    let pitree = pitree.variable("PI_SESSION_FILE", path.to_str().unwrap());
    assert_eq!(pitree.print(&["path", "."]).trim_end(), path.to_str().unwrap());
    assert!(pitree.print(&["show", "."]).contains("Better"));
    let here = pitree.objects(&["search", "--json", "--here", "re:."]);
    assert!(!here.is_empty() && here.iter().all(|hit| hit["path"] == path.to_str().unwrap()), "{here:#?}");
    let elsewhere = pitree.variable("PI_SESSION_FILE", "/nowhere/s.jsonl");
    let outcome = elsewhere.run(&["search", "--here", "x"]);
    assert!(
        outcome.code == 2 && outcome.err.contains("/nowhere/s.jsonl is not among the searched sessions"),
        "{}",
        outcome.err
    );
}

#[test]
fn lists_can_be_limited_by_a_query() {
    let pitree = Pitree::new();
    let titles = |args: &[&str]| {
        let lines = pitree.objects(&[&["ls", "--demo", "--json"], args].concat());
        lines.iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = titles(&[]);
    let forks = titles(&["is:fork"]);
    assert!(!forks.is_empty() && forks.len() < all.len() && forks.iter().all(|id| all.contains(id)));
    assert_eq!(titles(&["is:fork", "--limit", "2"]), forks[..2]);
    assert!(!titles(&["all:expires_at"]).is_empty());
    let none = pitree.run(&["ls", "--demo", "qqqqqq"]);
    assert_eq!((none.code, none.err.as_str()), (1, "no match in 41 sessions\n"));
    assert_eq!(pitree.run(&["ls", "--demo", "has:me"]).code, 2);
}

#[test]
fn the_skill_names_existing_commands() {
    let pitree = Pitree::new();
    let skill = pitree.print(&["skill"]);
    assert!(skill.starts_with("---\nname: pitree\ndescription: "), "{skill}");
    for line in skill.lines().filter_map(|line| line.strip_prefix("    pitree ")) {
        let command = line.split(' ').next().unwrap();
        let help = pitree.print(&[command, "--help"]);
        for option in line.split('#').next().unwrap().split(' ').filter(|word| word.starts_with('-')) {
            assert!(help.contains(option), "pitree {command} has no {option}");
        }
    }
}

#[test]
fn a_turn_and_a_stretch_are_printed_as_text() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    let turn = |number: &str| pitree.run(&["show", "branches", "--turn", number]);
    let (first, second) = (turn("1"), turn("2"));
    assert!(first.out.starts_with("you  ") && first.out.contains("\npi  "), "{}", first.out);
    assert_ne!(first.out, second.out);
    let none = turn("99");
    assert!(none.code == 1 && none.out.is_empty() && none.err.contains("no turn 99: the branch has"), "{}", none.err);
    assert_eq!(turn("0").code, 1);
    let stretch = pitree.print(&["show", "branches", "--from", "u1"]);
    assert!(stretch.starts_with(&first.out) && stretch.contains(second.out.trim_end()), "{stretch}");
    let part = &pitree.objects(&["show", "branches", "--from", "u1", "--to", "a1", "--json"])[0];
    assert_eq!(ids(part), ["u1", "a1"]);
    assert_eq!(pitree.run(&["show", "branches", "--from", "a1", "--to", "u1"]).code, 2);
}
