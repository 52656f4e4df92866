//! Lists, searches, statistics and commands over mirrored sessions.

use std::fs;

use serde_json::json;

use crate::common::home::{long_ago, set_modified};
use crate::common::session::Session;
use crate::machines::world::World;

/// Creates a session with two turns.
fn talk(id: &str, cwd: &str) -> Session {
    let answer = |session: Session, at: u8| {
        session.user(&format!("{id}u{at}"), &format!("{id} prompt {at}")).assistant(&format!("{id}a{at}"), "Done.")
    };
    answer(answer(Session::new(id).cwd(cwd).costing(1.0), 1), 2)
}

/// Writes a session here and on two machines, one that is here and on both, and one that differs.
fn sample() -> World {
    let world = World::new();
    world.here(&talk("local-1", "/code/app"));
    world.on("box", &talk("boxed-1", "/code/app"));
    world.on("gpu", &talk("gpued-1", "/srv/model"));
    let shared = talk("shared-1", "/code/app");
    world.here(&shared.clone().user("s3", "a third prompt"));
    world.on("box", &shared.clone().user("s3", "a third prompt"));
    world.on("gpu", &shared);
    let split = talk("split-1", "/code/app");
    world.here(&split.clone().user("h3", "continued here"));
    world.on("box", &split.user("b3", "continued on box"));
    world
}

#[test]
fn lists_have_each_session_once_with_its_machines() {
    let world = sample();
    let table = world.print(&["ls"], 0);
    assert_eq!(table.lines().count(), 6, "{table}");
    for part in ["@box boxed-1 prompt", "@gpu gpued-1 prompt", "@box @gpu shared-1 prompt", "@box split-1 prompt"] {
        assert!(table.contains(part), "{part}\n{table}");
    }
    let all = world.objects(&["ls", "--json"]);
    let one = |id: &str| all.iter().find(|line| line["id"] == id).unwrap();
    let boxed = one("boxed-1");
    assert_eq!((&boxed["machine"], &boxed["remotePath"]), (&json!("box"), &json!(World::remote("boxed-1"))));
    let local = one("local-1").as_object().unwrap();
    assert!(!["machine", "remotePath", "copies"].iter().any(|name| local.contains_key(*name)), "{local:?}");
    let copies: Vec<_> =
        one("shared-1")["copies"].as_array().unwrap().iter().map(|copy| (&copy["machine"], &copy["older"])).collect();
    assert_eq!(copies, [(&json!("box"), &json!(false)), (&json!("gpu"), &json!(true))]);
    // Each entry is counted once, although two files differ.
    let own = |field: &str| all.iter().map(|line| line[field].as_f64().unwrap()).sum::<f64>();
    assert_eq!((own("ownEntries"), own("ownCost")), (3.0 * 4.0 + 5.0 + 6.0, 10.0));
}

#[test]
fn a_directory_of_its_own_has_no_mirrors() {
    let world = sample();
    let sessions = world.home.sessions();
    let all = world.objects(&["--dir", sessions.to_str().unwrap(), "ls", "--json"]);
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|line| line.get("machine").is_none() && line.get("copies").is_none()));
}

#[test]
fn the_qualifier_selects_machines() {
    let world = sample();
    let ids = |query: &[&str]| world.fields(&[&["ls", "--json"], query].concat(), "id");
    assert_eq!(ids(&["on:here"]), ["local-1", "shared-1", "split-1"]);
    assert_eq!(ids(&["on:box"]), ["boxed-1", "shared-1", "split-1"]);
    assert_eq!(ids(&["on:GPU"]), ["gpued-1", "shared-1"]);
    assert_eq!(ids(&["--", "on:box", "-on:here"]), ["boxed-1", "split-1"]);
    world.print(&["ls", "on:other"], 1);
    let hits = world.objects(&["search", "--json", "prompt", "on:box"]);
    let of = |id: &str| hits.iter().find(|hit| hit["id"] == id).unwrap();
    assert_eq!((&of("boxed-1")["machine"], of("shared-1").get("machine")), (&json!("box"), None));
    assert_eq!(hits.last().unwrap()["total"], hits.len() - 1);
}

#[test]
fn statistics_count_each_machine() {
    let world = sample();
    let rows = world.objects(&["stats", "--by", "machine", "--json"]);
    let row = |row: &serde_json::Value| (row["machine"].as_str().unwrap_or("total").to_owned(), row["cost"].as_f64());
    let rows: Vec<_> = rows.iter().map(row).collect();
    let expected = [("here", 6.0), ("box", 2.0), ("gpu", 2.0), ("total", 10.0)];
    assert_eq!(rows, expected.map(|(machine, cost)| (machine.to_owned(), Some(cost))));
    assert_eq!(world.objects(&["stats", "--json", "shared-1"]).last().unwrap()["sessions"], 1);
}

#[test]
fn paths_of_mirrored_sessions_are_no_files_for_pi() {
    let world = sample();
    assert_eq!(world.print(&["path", "boxed"], 1), format!("box:{}\n", World::remote("boxed-1")));
    let printed = world.print(&["path", "--json", "boxed-1"], 1);
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let expected = json!({"schema": 1, "machine": "box", "remotePath": World::remote("boxed-1"), "id": "boxed-1", "cwd": "/code/app"});
    assert_eq!(printed, expected);
    // The file of this machine is preferred.
    for id in ["shared-1", "split"] {
        assert!(world.print(&["path", id], 0).contains(".pi/agent/sessions/--project--"));
    }
    // Of several mirrors, the longest copy counts.
    world.on("gpu", &talk("boxed-1", "/code/app").user("b3", "more"));
    assert!(world.print(&["path", "boxed-1"], 1).starts_with("gpu:"));
    let dot = world.run(&["path", "."]);
    assert_eq!(dot.code, 2, "{}", dot.out);
}

#[test]
fn entries_of_a_shorter_local_copy_are_those_of_the_listed_copy() {
    let world = World::new();
    world.here(&Session::new("grown-1").user("g1", "here"));
    world.on("box", &Session::new("grown-1").user("g1", "here").user("g2", "on box"));
    let lines = world.objects(&["entries", "grown-1"]);
    assert_eq!(lines.len(), 2, "{lines:?}");
}

#[test]
fn differing_copies_are_one_family() {
    let world = sample();
    let family = world.print(&["export", "split-1", "--family", "-f", "md", "-o", "-"], 0);
    assert!(family.contains("continued here") && family.contains("continued on box"), "{family}");
    assert_eq!(family.matches("split-1 prompt 2").count(), 1, "{family}");
    let all = world.objects(&["ls", "--json", "on:box", "continued"]);
    let parent = all.iter().find(|line| line["id"] == "split-1" && line["machine"] == "box").unwrap();
    assert!(parent["parent"]["path"].as_str().unwrap().contains(".pi/agent"), "{parent}");
}

#[test]
fn shared_labels_are_listed_in_the_session_of_this_machine() {
    let world = World::new();
    let labeled = talk("split-1", "/code/app").label("l1", "split-1u1", "here");
    world.here(&labeled.clone().user("h3", "continued here"));
    world.on("box", &labeled.user("b3", "continued on box"));
    let labels = world.objects(&["labels", "--json"]);
    assert_eq!(labels.len(), 1, "{labels:?}");
    assert!(labels[0]["path"].as_str().unwrap().contains(".pi/agent"), "{labels:?}");
}

#[test]
fn commands_that_read_work_on_mirrored_sessions() {
    let world = World::new();
    let cwd = world.home.dir("code/app");
    world.here(&Session::new("local-1"));
    let session = Session::new("remote-1").cwd(&cwd).user("u1", "Write it");
    let write = json!({"path": "a.txt", "content": "one\n"});
    let session = session.call("c1", "write", &write).result("r1", "c1", "write", "ok").assistant("a1", "Done.");
    world.on("box", &session);
    let fork = session.forked("fork-1", World::remote("remote-1").as_ref(), 60).user("f1", "in the fork");
    world.on("box", &fork);
    for args in [
        &["tree", "remote-1"][..],
        &["show", "remote-1"],
        &["context", "remote-1"],
        &["export", "remote-1", "-f", "md", "-o", "-"],
        &["files", "remote-1"],
        &["file", "a.txt", "--at", "remote-1"],
        &["log", cwd.join("a.txt").to_str().unwrap()],
        &["diff", "remote-1", "fork-1"],
    ] {
        let outcome = world.run(args);
        assert!([0, 3].contains(&outcome.code) && !outcome.out.is_empty(), "{args:?}: {outcome:?}");
    }
    let parent = &world.objects(&["ls", "--json", "is:fork"])[0]["parent"];
    assert_eq!(parent["state"], "present");
    let disk = world.run(&["file", "a.txt", "--at", "remote-1", "--diff", "disk"]);
    assert!(disk.code == 2 && disk.err.contains("cannot read"), "{disk:?}");
    world.home.write("code/app/a.txt", "two\n");
    assert!(world.print(&["file", "a.txt", "--at", "remote-1", "--diff", "disk"], 0).contains("+two"));
}

#[test]
fn changes_of_many_sessions_skip_other_machines() {
    let world = World::new();
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let secret = |id: &str| Session::new(id).user("u1", &format!("use {key}")).assistant("a1", "Done.");
    world.here(&secret("local-1"));
    let mirrored = world.on("box", &secret("boxed-1"));
    // Nothing but a header: `clean` suggests it here.
    world.here(&Session::new("empty-1"));
    let empty = world.on("box", &Session::new("empty-2"));
    for file in world.home.files().keys() {
        set_modified(&world.home.path().join(file), long_ago());
    }
    for args in [
        &["archive", "use", "--yes", "--dry-run"][..],
        &["slim", "use", "--yes", "--dry-run"],
        &["move", "use", "--to", ".", "--yes", "--dry-run"],
        &["secrets", "scrub", "boxed-1", "--yes", "--dry-run"],
    ] {
        let outcome = world.run(args);
        assert!(outcome.err.contains("skipped 1 session of another machine"), "{args:?}: {outcome:?}");
        assert!(!outcome.out.contains("boxed"), "{args:?}: {outcome:?}");
    }
    let archived = world.run(&["archive", "boxed-1", "--yes"]);
    assert_eq!(archived.code, 1, "{archived:?}");
    let suggested = world.objects(&["clean", "--dry-run", "--json"]);
    let paths = serde_json::to_string(&suggested).unwrap();
    assert!(paths.contains("empty-1") && !paths.contains("empty-2"), "{paths}");
    let text = fs::read_to_string(&mirrored).unwrap();
    fs::write(&mirrored, format!("{text}{{\"type\":\"mess")).unwrap();
    let doctor = world.run(&["doctor", "--repair", "--yes"]);
    assert!(doctor.err.contains("skipped 1 session of another machine"), "{doctor:?}");
    assert!(fs::read_to_string(&mirrored).unwrap().ends_with("mess") && empty.exists());
}

#[test]
fn all_sessions_can_be_on_other_machines() {
    let world = World::new();
    assert_eq!(world.run(&["ls"]).code, 2);
    world.on("box", &talk("boxed-1", "/code/app"));
    assert_eq!(world.fields(&["ls", "--json"], "machine"), ["box"]);
    assert!(!world.home.sessions().exists());
}

/// Sessions outside of git are compared with the working tree only.
#[test]
fn work_on_other_machines_is_not_lost_here() {
    let world = World::new();
    let cwd = world.home.dir("code/app");
    let text: String = (0..4).map(|line| format!("let lost = work({line});\n")).collect();
    let write = json!({"path": "a.rs", "content": text});
    let session = |id: &str| Session::new(id).cwd(&cwd).user("u1", "Begin").tool("t", "write", &write, "ok");
    world.here(&session("local-1"));
    world.on("box", &session("boxed-1").under("u1").user("u2", "Another way"));
    assert_eq!(world.fields(&["ls", "--json", "is:lost"], "id"), ["local-1"]);
}
