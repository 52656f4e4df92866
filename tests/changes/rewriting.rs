//! Session files that are replaced by other versions of them.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use anyhow::{Result, bail};
use pitree::changes::change::RewritePurpose;
use pitree::changes::{ExpectedSession, Refusal, Request, SharedRewriter};
use pitree::disk::rewrite::{NewVersion, Rewriter, Rewritten};

use crate::changes::world::{World, in_own_home, session, theirs};

/// Replaces the start of the working directory.
pub(crate) struct OtherDir;

impl OtherDir {
    fn text(text: &str) -> String {
        text.replace("\"cwd\":\"/", "\"cwd\":\"/scrubbed/")
    }
}

impl Rewriter for OtherDir {
    fn write(&self, path: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten> {
        let old = fs::read_to_string(path)?;
        let new = Self::text(&old);
        out.write_all(new.as_bytes())?;
        Ok(Rewritten { is_changed: new != old, rest: Vec::new() })
    }
}

pub(crate) fn request(paths: &[&PathBuf], by: impl Rewriter + 'static) -> Request {
    let expected = |path: &&PathBuf| ExpectedSession { path: (*path).clone(), id: "s".into() };
    let sessions = paths.iter().map(expected).collect();
    Request::Rewrite { purpose: RewritePurpose::Scrub, sessions, by: SharedRewriter(Arc::new(by)) }
}

/// Writes a session and returns its path and its text.
fn written(world: &World, name: &str) -> (PathBuf, String) {
    let text = session(&[(0, 2), (0, 3)]);
    let path = world.write(name, &text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    assert_ne!(OtherDir::text(&text), text);
    (path, text)
}

#[test]
fn sessions_are_replaced_and_restored_by_one_undo() {
    in_own_home("rewriting::replaced");
}

#[test]
#[ignore = "run by sessions_are_replaced_and_restored_by_one_undo, in a home of its own"]
fn replaced() {
    let world = World::at_home();
    let files = ["a.jsonl", "b.jsonl"].map(|name| written(&world, name));
    let request = request(&[&files[0].0, &files[1].0], OtherDir);
    let facts = |path: &PathBuf| {
        let metadata = fs::metadata(path).unwrap();
        (metadata.permissions().mode(), metadata.modified().unwrap())
    };
    let before = files.each_ref().map(|(path, _)| facts(path));
    assert_eq!(world.make(&request).unwrap().summary, "Removed secrets from 2 sessions");
    let texts = || files.each_ref().map(|(path, _)| fs::read(path).unwrap());
    let old = files.each_ref().map(|(_, old)| old.clone().into_bytes());
    let new = files.each_ref().map(|(_, old)| OtherDir::text(old).into_bytes());
    assert_eq!((texts(), files.each_ref().map(|(path, _)| facts(path))), (new.clone(), before));
    assert_eq!(world.sessions().len(), 2, "nothing is left beside the files");
    assert_eq!(world.undo().unwrap().summary, "Restored 2 sessions with the secrets");
    assert_eq!((texts(), files.each_ref().map(|(path, _)| facts(path))), (old, before));
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

/// Returns the names of other files that belong to a session file.
fn beside(path: &Path) -> Vec<String> {
    let files = fs::read_dir(path.parent().unwrap()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let name = path.file_name().unwrap().to_str().unwrap();
    names.filter(|other| other != name && other.starts_with(name)).collect()
}

/// Appends an entry of a pi to the file while it writes the new version, some times.
struct BesidePi {
    times: AtomicUsize,
}

impl Rewriter for BesidePi {
    fn write(&self, path: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten> {
        let written = OtherDir.write(path, out)?;
        let left = self.times.load(Ordering::Relaxed);
        if left > 0 {
            self.times.store(left - 1, Ordering::Relaxed);
            let mut file = fs::File::options().append(true).open(path)?;
            file.write_all(theirs(&format!("p{left}"), "e1").as_bytes())?;
        }
        Ok(written)
    }
}

#[test]
fn a_file_that_grows_meanwhile_is_read_again() {
    in_own_home("rewriting::grows");
}

#[test]
#[ignore = "run by a_file_that_grows_meanwhile_is_read_again, in a home of its own"]
fn grows() {
    for (times, is_made) in [(0, true), (2, true), (3, false)] {
        let world = World::at_home();
        let (path, old) = written(&world, "a.jsonl");
        let made = world.make(&request(&[&path], BesidePi { times: AtomicUsize::new(times) }));
        let now = fs::read_to_string(&path).unwrap();
        let entries: String = (0..times).map(|at| theirs(&format!("p{}", times - at), "e1")).collect();
        if is_made {
            assert_eq!(now, OtherDir::text(&old) + &entries);
        } else {
            let error = made.unwrap_err().to_string();
            assert!(error.contains("is being written"), "{error}");
            assert_eq!(now, old + &entries);
        }
        assert_eq!(world.sessions().len(), 1);
        assert_eq!(beside(&path), [""; 0]);
    }
}

/// A version that fails its check.
struct Incomplete;

impl Rewriter for Incomplete {
    fn write(&self, _: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten> {
        out.write_all(b"incomplete")?;
        Ok(Rewritten { is_changed: true, rest: b"rest".to_vec() })
    }

    fn check(&self, path: &Path, new: &Path) -> Result<()> {
        assert!(path.exists() && new.exists());
        bail!("it is incomplete")
    }
}

#[test]
fn what_fails_its_check_replaces_nothing() {
    let world = World::new();
    let (path, old) = written(&world, "a.jsonl");
    let error = format!("{:#}", world.make(&request(&[&path], Incomplete)).unwrap_err());
    assert!(error.contains("it is incomplete"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), old);
    assert_eq!(beside(&path), [""; 0]);
    assert!(world.undo().unwrap().changes.is_empty(), "the change was dropped");
}

#[test]
fn another_session_is_not_replaced() {
    let world = World::new();
    let (path, old) = written(&world, "a.jsonl");
    let old = old.replacen("\"id\":\"s\"", "\"id\":\"other\"", 1);
    fs::write(&path, &old).unwrap();
    let error = world.make(&request(&[&path], OtherDir)).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(Refusal::Replaced { .. })), "{error:#}");
    assert_eq!(fs::read_to_string(&path).unwrap(), old);
    // Nothing to change.
    let (same, text) = written(&world, "b.jsonl");
    fs::write(&same, text.replace("\"cwd\"", "\"dir\"")).unwrap();
    assert_eq!(world.make(&request(&[&same], OtherDir)).unwrap().summary, "nothing to change");
}
