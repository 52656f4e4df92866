//! `pitree pick`: the messages of another branch in a fork.

use std::path::Path;

use serde_json::{Value, json};

use crate::command_line::pitree::Pitree;
use crate::common::session::Session;

/// A session with two branches after `a2`: one ends at `a4`, the other one, with two calls and a compaction, at the leaf.
fn session() -> Session {
    let calls = json!([
        { "type": "toolCall", "id": "call-one", "name": "bash", "arguments": {} },
        { "type": "toolCall", "id": "call-two", "name": "bash", "arguments": {} },
    ]);
    let usage = json!({ "input": 9, "totalTokens": 9, "cost": { "total": 0.5 } });
    let answer = format!("\"message\":{{\"role\":\"assistant\",\"content\":{calls},\"usage\":{usage}}}");
    Session::new("branches")
        .cwd("/w")
        .user("u1", "First")
        .assistant("a2", "Done")
        .user("u3", "Here")
        .assistant("a4", "And here")
        .under("a2")
        .user("u5", "There")
        .entry("a6", "message", answer)
        .result("r7", "one", "bash", "long")
        .result("r8", "two", "bash", "short")
        .entry("e9", "context_edit", "\"targetId\":\"r7\",\"replacement\":null")
        .entry("m0", "model_change", "\"provider\":\"p\",\"modelId\":\"m\"")
        .user("u11", "Then")
        .entry("c12", "compaction", "\"summary\":\"s\",\"firstKeptEntryId\":\"u11\",\"tokensBefore\":1")
}

/// Returns the entries of a file.
fn entries(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path.trim_end()).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns what each entry is: its text, its role or its type.
fn words(entries: &[Value]) -> Vec<String> {
    let word = |entry: &Value| {
        let message = &entry["message"];
        let text = message["content"].as_str().or(message["content"][0]["text"].as_str());
        text.or(message["role"].as_str()).or(entry["type"].as_str()).unwrap().to_owned()
    };
    entries.iter().map(word).collect()
}

#[test]
fn messages_of_a_branch_are_appended_to_a_fork_of_another_one() {
    let pitree = Pitree::new();
    let file = pitree.write_session(&session());
    let file = file.to_str().unwrap();
    let before = std::fs::read(file).unwrap();
    let run = pitree.run(&["pick", &format!("{file}@a4"), file]);
    assert!(run.code == 0 && run.err.contains("c12: it is the summary of a compaction"), "{}", run.err);
    assert!(run.err.contains("copied 5 messages"), "{}", run.err);
    let made = entries(&run.out);
    let wanted = ["First", "Done", "Here", "And here", "There", "assistant", "long", "short", "context_edit", "Then"];
    assert_eq!(words(&made), wanted);
    for pair in made.windows(2) {
        assert_eq!(pair[1]["parentId"], pair[0]["id"], "one branch");
    }
    assert!(!["u5", "a6", "r7", "u11"].iter().any(|id| made.iter().any(|entry| entry["id"] == *id)), "new IDs");
    assert_eq!(made[8]["targetId"], made[6]["id"], "the edit is of the copy");
    assert_eq!(made[5]["message"]["usage"]["cost"]["total"], 0, "copies cost nothing");
    let header: Value =
        serde_json::from_str(std::fs::read_to_string(run.out.trim()).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(header["parentSession"], file);
    for (onto, from) in [(run.out.trim(), file), (file, run.out.trim())] {
        let again = pitree.run(&["pick", onto, from]);
        assert!(again.err.contains("no message is only on this branch") || onto == file, "{onto}: {}", again.err);
        assert!(
            onto != file || again.err.contains("copied 2 messages"),
            "only those of the other branch: {}",
            again.err
        );
    }
    pitree.run(&["undo"]);
    assert_eq!(std::fs::read(file).unwrap(), before, "the sources stay as they are");
    pitree.run(&["undo"]);
    assert!(!Path::new(run.out.trim()).exists());
}

#[test]
fn a_range_takes_calls_with_their_results() {
    let pitree = Pitree::new();
    let file = pitree.write_session(&session());
    let file = file.to_str().unwrap();
    let onto = format!("{file}@a4");
    let picked = |range: &str| {
        let run = pitree.run(&["pick", &onto, &format!("{file}@{range}")]);
        assert_eq!(run.code, 0, "{range}: {}", run.err);
        words(&entries(&run.out)[4..])
    };
    let call = ["assistant", "long", "short", "context_edit"];
    assert_eq!([picked("r8"), picked("a6"), picked("a6..r7")], [call; 3], "of parallel calls all");
    assert_eq!(picked("r8..")[4..], ["Then"]);
    // Also on a branch that does not lead to the leaf.
    let abandoned = pitree.write_session(&session().under("a2").user("z1", "Now here"));
    let run = pitree.run(&["pick", &format!("{}@a4", abandoned.display()), &format!("{}@..r7", abandoned.display())]);
    assert_eq!(words(&entries(&run.out)[4..])[1..4], call[..3], "{}", run.err);
    assert_eq!(picked("..u5"), ["There"]);
    let refused = [
        ("u1", "no message is only on this branch"),
        ("u11..u5", "ends before it begins"),
        ("u3..u5", "not on one branch"),
    ];
    for (range, reason) in refused {
        let run = pitree.run(&["pick", &onto, &format!("{file}@{range}")]);
        assert!(run.code == 2 && run.err.contains(reason) && run.out.is_empty(), "{range}: {}", run.err);
    }
}

#[test]
fn entries_that_cannot_be_copied_are_named() {
    let pitree = Pitree::new();
    let number = r#"{"type":"message","id":7,"parentId":"u1","message":{"role":"user","content":"A number"}}"#;
    let ends_in_number = pitree.write_session(&Session::new("ends").user("u1", "First").raw(number));
    let other = pitree.write_session(
        &Session::new("other")
            .user("v1", "Other")
            .raw("{\"type\":\"message\",\"parentId\":\"v1\",\"message\":{\"role\":\"user\",\"content\":\"No ID\"}}"),
    );
    let (ends, other) = (ends_in_number.to_str().unwrap(), other.to_str().unwrap());
    let refused = pitree.run(&["pick", ends, other]);
    assert!(refused.code == 2 && refused.err.contains("no valid ID"), "{}", refused.err);
    let copied = pitree.run(&["pick", &format!("{other}@v1"), ends]);
    assert_eq!(words(&entries(&copied.out))[1..], ["First", "A number"], "{}", copied.err);
    let old = pitree.write_session(&Session::new("old").version(1).asked("one", &["two"]));
    let refused = pitree.run(&["pick", ends, old.to_str().unwrap()]);
    assert!(refused.code == 2 && refused.err.contains("old format"), "{}", refused.err);
}
