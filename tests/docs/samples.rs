//! The packed demo sessions: `assets/demo.bin` from `assets/demo`.

use std::fs;
use std::path::Path;

use crate::docs::root;

/// The compression level: the best one, because the file is rarely made.
const LEVEL: i32 = 19;

#[test]
fn the_demo_sessions_are_current() {
    let dir = root().join("assets/demo");
    let name = |path: &Path| path.strip_prefix(&dir).unwrap().to_str().unwrap().replace('\\', "/");
    let (mut samples, mut left) = (Vec::new(), vec![dir.clone()]);
    while let Some(path) = left.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => left.extend(entries.map(|entry| entry.unwrap().path())),
            Err(_) => samples.push((name(&path), fs::read(&path).unwrap())),
        }
    }
    samples.sort();
    assert!(samples.len() > 40);
    let wanted = postcard::to_allocvec(&samples).unwrap();
    let packed = zstd::encode_all(&*wanted, LEVEL).unwrap();
    // Versions of the library may compress differently.
    let is_same = |path: &Path| zstd::decode_all(&*fs::read(path).unwrap()).is_ok_and(|samples| samples == wanted);
    crate::docs::is_current_file("assets/demo.bin", &packed, is_same);
}
