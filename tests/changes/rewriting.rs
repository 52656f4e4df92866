//! Session files that are replaced by versions without secrets.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use pitree::changes::{Refusal, Request, RewrittenFile};

use crate::world::{World, in_own_home, rename, seen, session, theirs};

/// Writes a session and returns its path, its text and the request that replaces a word in it.
fn scrubbed(world: &World, name: &str) -> (PathBuf, String, RewrittenFile) {
    let text = session(&[(0, 2), (0, 3)]);
    let path = world.write(name, &text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    let bytes = text.replace("\"cwd\":\"/", "\"cwd\":\"/scrubbed/").into_bytes();
    assert_ne!(bytes, text.as_bytes());
    (path.clone(), text, RewrittenFile { file: seen(&path), bytes })
}

#[test]
fn sessions_are_replaced_and_restored_by_one_undo() {
    in_own_home("rewriting::replaced");
}

#[test]
#[ignore = "run by sessions_are_replaced_and_restored_by_one_undo, in a home of its own"]
fn replaced() {
    let world = World::at_home();
    let files = ["a.jsonl", "b.jsonl"].map(|name| scrubbed(&world, name));
    let request = Request::Scrub { files: files.iter().map(|(_, _, new)| new.clone()).collect() };
    let facts = |path: &PathBuf| {
        let metadata = fs::metadata(path).unwrap();
        (metadata.permissions().mode(), metadata.modified().unwrap())
    };
    let before = files.each_ref().map(|(path, ..)| facts(path));
    assert_eq!(world.make(&request).unwrap().summary, "Removed secrets from 2 sessions");
    let texts = || files.each_ref().map(|(path, ..)| fs::read(path).unwrap());
    let [new, old] =
        [files.each_ref().map(|(.., new)| new.bytes.clone()), files.each_ref().map(|(_, old, _)| old.clone().into())];
    assert_eq!((texts(), files.each_ref().map(|(path, ..)| facts(path))), (new.clone(), before));
    assert_eq!(world.sessions().len(), 2, "nothing is left beside the files");
    assert_eq!(world.undo().unwrap().summary, "Restored 2 sessions with the secrets");
    assert_eq!((texts(), files.each_ref().map(|(path, ..)| facts(path))), (old, before));
    // An entry of pi in the original is not lost by redo.
    let grown = fs::read_to_string(&files[1].0).unwrap() + &theirs("p0", "e1");
    fs::write(&files[1].0, &grown).unwrap();
    let said = world.make(&Request::Redo).unwrap_err().to_string();
    assert!(said.contains("1 of 2") || said.contains("new entries"), "{said}");
    assert_eq!(fs::read_to_string(&files[1].0).unwrap(), grown);
    fs::write(&files[1].0, &files[1].1).unwrap();
    world.make(&Request::Redo).unwrap();
    assert_eq!(fs::read(&files[0].0).unwrap(), new[0]);
    // An entry of pi in the new version is not lost by undo.
    let mut grown = fs::read_to_string(&files[0].0).unwrap();
    grown.push_str(&theirs("p1", "e1"));
    fs::write(&files[0].0, &grown).unwrap();
    let said = world.undo().unwrap_err().to_string();
    assert!(said.contains("the session has new entries since it was replaced"), "{said}");
    assert_eq!(fs::read_to_string(&files[0].0).unwrap(), grown);
}

#[test]
fn a_session_that_changed_is_not_replaced() {
    let world = World::new();
    let (path, _, new) = scrubbed(&world, "a.jsonl");
    world.make(&rename(&path, "name")).unwrap();
    let before = fs::read(&path).unwrap();
    let error = world.make(&Request::Scrub { files: vec![new] }).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(Refusal::Changed { .. })), "{error:#}");
    assert_eq!(fs::read(&path).unwrap(), before);
}
