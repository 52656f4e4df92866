//! Connections that end after any number of bytes: a mirror never shows half.

use std::fs;

use crate::common::effort::cuts;
use crate::common::home::{copy, repository};
use crate::remote::{Remote, Way};

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
    for way in [Way::Pitree, Way::Tar] {
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
