//! Connections that end after any number of bytes: a mirror never shows half.

use std::fs;

use crate::common::effort::cuts;
use crate::common::home::{copy, repository};
use crate::machines::remote::{Remote, Way, has_rsync};

/// Returns numbers that are spread over a range.
fn spread(count: usize, most: u64) -> impl Iterator<Item = u64> {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    (0..count).map(move |_| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % most
    })
}

#[test]
fn a_cut_connection_leaves_whole_files() {
    if !has_rsync() {
        return;
    }
    for way in [Way::Pitree, Way::Command] {
        let remote = Remote::unknown();
        copy(&repository("fixtures/sessions"), &remote.there.sessions());
        if way == Way::Pitree {
            remote.install();
        }
        let home = remote.there.path().display();
        let script = format!("env -i PATH=/usr/bin:/bin HOME={home} \"$@\" | stdbuf -o0 head -c $(cat {home}/cut)\n");
        let program = remote.here.script("cuts", &script);
        let all = remote.there.path().join("cut");
        fs::write(&all, "99999999").unwrap();
        remote.ok(&["machine", "add", "box", &format!("command:{}", program.display())]);
        for cut in spread(cuts(10, 25), 400_000) {
            fs::write(&all, cut.to_string()).unwrap();
            let state = remote.sync(&[]);
            for (path, bytes) in remote.mirrored() {
                let there = fs::read(remote.there.sessions().join(&path)).unwrap();
                assert!(there.starts_with(&bytes), "{way:?} {cut} {path}: {state}");
                assert!(bytes.ends_with(b"\n") || bytes == there, "{way:?} {cut} {path}");
            }
            // Each time, some files are missing and some are shorter.
            let mut files = remote.mirrored();
            for (number, path) in std::mem::take(&mut files).into_keys().enumerate() {
                if number % 3 == 0 {
                    fs::remove_file(remote.mirror().join(path)).unwrap();
                }
            }
        }
        fs::write(&all, "99999999").unwrap();
        let state = remote.sync(&[]);
        assert!(state["error"].is_null(), "{state}");
        remote.check();
    }
}

/// A machine that sends something else than its files.
#[test]
fn a_hostile_machine_writes_nothing_outside_of_its_mirror() {
    if !has_rsync() {
        return;
    }
    let remote = Remote::unknown();
    let home = remote.there.path().display();
    let outside = remote.here.dir("outside");
    let list = remote.there.path().join("list");
    let evil = remote.there.dir("evil");
    fs::write(evil.join("a.jsonl"), "{}\n".repeat(10)).unwrap();
    fs::write(evil.join("never-asked.jsonl"), "{}\n").unwrap();
    std::os::unix::fs::symlink(&outside, evil.join("link")).unwrap();
    // It prints any list, and sends the files of another directory.
    let script = format!(
        "case \"$3\" in *pitree-list*) cat {home}/list; exit;; esac\ncd {home}/evil || exit\n\
         shift 4\nexec \"$@\"\n"
    );
    let program = remote.here.script("hostile", &script);
    let names = [
        "/etc/a.jsonl",
        "../../outside/a.jsonl",
        "./../outside/a.jsonl",
        "./a/../../../outside/b.jsonl",
        "./link/c.jsonl",
        "./con",
        "./a\u{1b}]0;x\u{7}.jsonl",
        "./a.jsonl",
        "./a.jsonl",
    ];
    let lines: String = names.iter().map(|name| format!("30 5 {name}\n")).collect();
    let listed = |dir: &str, end: &str| format!("pitree-list\nnow 1\nrsync rsync\ndir {dir}\n{lines}{end}");
    fs::write(&list, listed("/s", "pitree-end\n")).unwrap();
    remote.ok(&["machine", "add", "box", &format!("command:{}", program.display())]);
    let state = remote.sync(&[]);
    let mirrored: Vec<String> = remote.mirrored().into_keys().collect();
    assert!(mirrored.is_empty() || mirrored == ["a.jsonl"], "{mirrored:?}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert!(
        state["warnings"].as_array().unwrap().iter().chain([&state["error"]]).any(|text| !text.is_null()),
        "{state}"
    );
    for (dir, end) in
        [("", ""), ("relative", ""), ("/a/../../b", ""), (&format!("/{}", "x".repeat(4000)), ""), ("/s", "no end")]
    {
        let end = if end.is_empty() { "pitree-end\n" } else { end };
        fs::write(&list, listed(dir, end)).unwrap();
        let state = remote.sync(&[]);
        assert!(!state["error"].is_null(), "{dir:?}: {state}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn nothing_is_removed_after_an_incomplete_list() {
    if !has_rsync() {
        return;
    }
    let remote = Remote::unknown();
    let session = |number: usize| {
        remote.there.session(&crate::common::session::Session::new(&format!("s{number}")).asked("Hello", &["Hi"]))
    };
    let paths: Vec<_> = (0..10).map(session).collect();
    // `find` fails if a file exists, as it does for a directory that cannot be read.
    let home = remote.there.path().display();
    let find = remote.there.script("bin/find", &format!("/usr/bin/find \"$@\" || exit\n[ ! -e {home}/fails ]\n"));
    let path = format!("PATH={}:/usr/bin:/bin", find.parent().unwrap().display());
    let words = ["command:env", "-i", &path, &format!("HOME={home}")].map(String::from);
    let added = remote.run(&[&["machine", "add", "box"].map(String::from)[..], &words].concat());
    assert_eq!(added.code, 0, "{added:?}");
    assert_eq!((remote.sync(&[])["sessions"].as_u64(), remote.mirrored().len()), (Some(10), 10));
    fs::write(remote.there.path().join("fails"), "").unwrap();
    fs::remove_file(&paths[0]).unwrap();
    let state = remote.sync(&[]);
    assert_eq!((state["sessions"].as_u64(), state["gone"].as_u64()), (Some(10), Some(0)), "{state}");
    assert_eq!(state["warnings"].as_array().unwrap().len(), 1, "{state}");
    fs::remove_file(remote.there.path().join("fails")).unwrap();
    assert_eq!((remote.sync(&[])["sessions"].as_u64(), remote.mirrored().len()), (Some(9), 9));
    // A file that comes back is an ordinary one again.
    session(0);
    assert_eq!((remote.sync(&[])["sessions"].as_u64(), remote.mirrored().len()), (Some(10), 10));
    fs::remove_file(&paths[0]).unwrap();
    assert_eq!((remote.sync(&[])["sessions"].as_u64(), remote.mirrored().len()), (Some(9), 9));
}
