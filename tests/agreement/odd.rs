//! Files that pi cannot show are shown completely.

use crate::agreement::slow::{self, Reading};
use crate::agreement::world::World;

/// Files for which pi hangs, throws, or loses entries, with a word of the problem in `ls`.
const TROUBLE: [(&str, &str); 6] = [
    // `getTree` finds no root in a cycle; `getBranch` never ends.
    ("cycle", "cycle"),
    ("cycle-leaf", "cycle"),
    ("parent-is-itself-leaf", "cycle"),
    // `getTree` keeps the last entry with an ID.
    ("id-twice", "duplicate ID"),
    // `/tree` throws.
    ("content-odd", "/tree"),
    ("message-missing", "no content"),
];

#[test]
fn reports_what_pi_fails_at() {
    let listed = World::new().list();
    for (name, word) in TROUBLE {
        let problems = listed[&format!("sessions/--home-dev-odd--/{name}.jsonl")]["problems"].to_string();
        assert!(problems.contains(word), "{name}: {problems}");
    }
}

#[test]
fn sound_files_have_no_problems() {
    let listed = World::new().list();
    let sound: Vec<_> = listed.iter().filter(|(file, _)| file.contains("--home-dev-app--")).collect();
    assert!(sound.len() > 20, "{}", sound.len());
    for (file, session) in sound {
        // A newer version is reported for every such file.
        let told = usize::from(session["version"] == 9);
        assert_eq!(session["problems"].as_array().unwrap().len(), told, "{file}: {}", session["problems"]);
    }
}

#[test]
fn every_entry_is_in_the_tree_exactly_once() {
    let world = World::new();
    let mut seen = Vec::new();
    for file in world.files() {
        let Reading::Session(session) = slow::read(&world.root().join(&file)) else { continue };
        let has_ids = session.header["version"].as_f64().unwrap_or(1.0) >= 2.0;
        let tree = world.tree(&file);
        let mut shown: Vec<_> = tree.iter().map(|entry| slow::id(&entry["id"])).collect();
        let mut wanted: Vec<_> = session.entries.iter().map(|e| slow::id(&e["id"]).filter(|_| has_ids)).collect();
        shown.sort();
        wanted.sort();
        assert_eq!(shown, wanted, "{file}");
        assert_eq!(tree.iter().filter(|entry| entry["leaf"] == true).count(), usize::from(!tree.is_empty()), "{file}");
        seen.push(file);
    }
    for (name, _) in TROUBLE {
        assert!(seen.iter().any(|file| file.ends_with(&format!("/{name}.jsonl"))), "{name}");
    }
}

#[test]
fn the_active_path_leads_out_of_a_cycle() {
    let world = World::new();
    for (file, path) in [("cycle-leaf", 4), ("parent-is-itself-leaf", 2)] {
        let tree = world.tree(&format!("sessions/--home-dev-odd--/{file}.jsonl"));
        let active: Vec<_> = tree.iter().filter(|entry| entry["active"] == true).collect();
        assert_eq!(active.len(), path, "{file}");
        assert_eq!((&active[0]["depth"], &active[path - 1]["leaf"]), (&0.into(), &true.into()), "{file}");
    }
}
